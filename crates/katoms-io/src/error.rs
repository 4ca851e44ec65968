//! What is wrong with a file, in words that a person can act on.

use std::borrow::Cow;
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

/// The characters of a value that a message shows.
const SHOWN: usize = 60;
/// Those of what another crate says, which may have values in it.
const SAID: usize = 300;

/// A value of a file as a message shows it, in one line: the first characters, and how many there are where there are
/// more.
pub(crate) fn short(value: &str) -> Cow<'_, str> {
    cut(value, SHOWN)
}

/// The same for what another crate says.
pub(crate) fn short_sentence(sentence: &str) -> Cow<'_, str> {
    cut(sentence, SAID)
}

fn cut(value: &str, most: usize) -> Cow<'_, str> {
    let (start, more) = match value.char_indices().nth(most) {
        None if !value.contains(char::is_control) => return value.into(),
        None => (value, String::new()),
        Some((end, _)) => (&value[..end], format!("… ({} characters)", value.chars().count())),
    };
    let mut shown = String::new();
    for c in start.chars() {
        if c.is_control() { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    (shown + &more).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_values_are_cut_between_characters() {
        assert_eq!(short("a value"), "a value");
        assert_eq!(short("two\nlines\u{1b}"), "two\\nlines\\u{1b}");
        assert_eq!(short(&"ä".repeat(60)), "ä".repeat(60));
        assert_eq!(short(&"ä".repeat(76_000)), format!("{}… (76000 characters)", "ä".repeat(60)));
    }
}
