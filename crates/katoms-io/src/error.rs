//! What is wrong with a file, in words that a person can act on.

use std::path::PathBuf;

use crate::problem::{Problem, message};

/// What is wrong, where, and what would be right.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refuses.
    #[error("{}: {what}: {error}", path.display())]
    System {
        /// The file.
        path: PathBuf,
        /// What was tried.
        what: &'static str,
        /// What the system says.
        error: std::io::Error,
    },
    /// A place in a file that cannot be read as it stands.
    #[error("{}{place}: {problem}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// `, line 7, column 3 (age)`, or nothing.
        place: String,
        /// What stands there and what would be right.
        problem: String,
    },
    /// All that is wrong with the data of a file.
    #[error("{}", message(path, problems))]
    Problems {
        /// The file.
        path: PathBuf,
        /// What is wrong, in the order of the columns.
        problems: Vec<Problem>,
    },
    /// A request that the data cannot meet.
    #[error("{0}")]
    Request(String),
    /// What the library says of the numbers.
    #[error(transparent)]
    Library(#[from] katoms::Error),
}
