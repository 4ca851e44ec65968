//! What is wrong with a file, in words that a person can act on.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::problem::{Problem, message, short_sentence};

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
        error: io::Error,
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

/// An error about the whole of a file.
pub(crate) fn bad(path: &Path, problem: impl Into<String>) -> Error {
    bad_at(path, String::new(), problem)
}

/// An error about a place in a file: `, line 7`.
pub(crate) fn bad_at(path: &Path, place: String, problem: impl Into<String>) -> Error {
    Error::Content { path: path.into(), place, problem: problem.into() }
}

/// Where JSON is wrong, `, line 7, column 3`, and what the parser says.
pub(crate) fn place_and_problem(error: &serde_json::Error) -> (String, String) {
    let (line, column, text) = (error.line(), error.column(), error.to_string());
    let problem = text.rsplit_once(" at line ").map_or(text.as_str(), |(problem, _)| problem);
    let place = if line == 0 { String::new() } else { format!(", line {line}, column {column}") };
    (place, short_sentence(problem).into_owned())
}

/// What the system said, in words.
pub(crate) fn unreadable(path: &Path, error: io::Error) -> Error {
    match error.kind() {
        ErrorKind::NotFound => bad(path, missing(path)),
        ErrorKind::PermissionDenied => bad(path, "there is no permission to read this file"),
        ErrorKind::OutOfMemory => {
            bad(path, "there is not enough memory to read it: close other programs, or raise the memory limit")
        }
        // a decoder has said what is wrong with the data
        ErrorKind::UnexpectedEof | ErrorKind::InvalidData | ErrorKind::Unsupported => bad(path, error.to_string()),
        _ => Error::System { path: path.into(), what: "cannot be read", error },
    }
}

/// That there is no such file, and which one may be meant.
fn missing(path: &Path) -> String {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        return format!("there is no such file, nor a folder {}", folder.display());
    }
    let wanted = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let names = fs::read_dir(folder).into_iter().flatten().flatten();
    let names =
        names.filter(|entry| entry.path().is_file()).map(|entry| entry.file_name().to_string_lossy().into_owned());
    let close = names.map(|name| (strsim::damerau_levenshtein(&wanted, &name.to_lowercase()), name));
    // a third of the letters may differ; of names as near, the first in the alphabet
    let nearest = close.filter(|(distance, _)| *distance <= wanted.chars().count().div_ceil(3)).min();
    match nearest {
        Some((_, name)) => format!("there is no such file; there is {}", folder.join(name).display()),
        None => "there is no such file".into(),
    }
}
