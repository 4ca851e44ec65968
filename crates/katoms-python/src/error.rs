//! Errors as the exceptions of `katoms.exceptions`, in the words of the Python package.

use katoms::Error;
use pyo3::exceptions::PyMemoryError;
use pyo3::{PyErr, import_exception};

import_exception!(katoms.exceptions, DeviceError);
import_exception!(katoms.exceptions, InvalidInputError);
import_exception!(katoms.exceptions, NumericalError);

/// What the library says, and what that is called in Python. The first that fit are taken, from the top.
const WORDS: [(&str, &str); 22] = [
    ("option ridge is", "l2 is"),
    ("option tolerance is", "tol is"),
    ("option seconds is", "time_limit is"),
    ("option ", ""),
    ("k is ", "support_size is "),
    ("the rank is ", "rank is "),
    ("the number of folds is", "cv is"),
    ("the cap on iterations is", "max_iter is"),
    ("the list of ridges", "l2"),
    ("the list of ranks", "rank"),
    ("one ridge", "one l2"),
    ("a ridge", "an l2"),
    ("target has length", "y has length"),
    ("the target holds", "y holds"),
    ("the labels holds", "y holds"),
    ("the target", "y"),
    ("the list of sample weights", "sample_weight"),
    ("sample weights", "sample_weight"),
    ("the design matrix", "X"),
    ("the design", "X"),
    ("sparse design", "sparse X"),
    ("NormalisedIht", "method='dore'"),
];

/// The exception of an error.
pub fn raised(error: Error) -> PyErr {
    let message = in_python(&error.to_string());
    match error {
        Error::Device { .. } => DeviceError::new_err(message),
        Error::Memory { .. } => PyMemoryError::new_err(message),
        Error::Magnitude { .. } | Error::Coefficient { .. } | Error::Prediction { .. } => {
            NumericalError::new_err(message)
        }
        _ => InvalidInputError::new_err(message),
    }
}

/// The exception of what is wrong with a file or with what is asked of it.
pub fn invalid(error: impl ToString) -> PyErr {
    InvalidInputError::new_err(without_options(error.to_string()))
}

/// A message with what Python calls parameters and data. A phrase is one where a word begins.
fn in_python(message: &str) -> String {
    let mut said = String::with_capacity(message.len());
    let mut rest = message;
    while let Some(next) = rest.chars().next() {
        let begins = !said.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        match WORDS.iter().find(|(phrase, _)| begins && rest.starts_with(phrase)) {
            Some((phrase, word)) => {
                said += word;
                rest = &rest[phrase.len()..];
            }
            None => {
                said.push(next);
                rest = &rest[next.len_utf8()..];
            }
        }
    }
    said
}

/// A message without the options of the program that it names in brackets.
fn without_options(mut message: String) -> String {
    while let Some(start) = message.find(" (--") {
        let Some(length) = message[start..].find(')') else { break };
        message.replace_range(start..=start + length, "");
    }
    message
}
