//! One format per file. Each turns bytes into what they hold, or says which place is wrong and what would be right.

use std::path::Path;

use crate::error::Error;

pub mod arrow;
mod columnar;
pub(crate) mod csv;
pub mod csv_writer;
pub mod matrix_market;
pub mod npy;
mod npy_header;
pub mod npz;
pub mod parquet;
pub mod picture;
mod pivot;
pub(crate) mod plink;
pub(crate) mod plink_table;
pub(crate) mod sniff;
pub mod svmlight;
pub mod triplets;
mod words;

/// An error about the whole of a file.
pub(crate) fn bad(path: &Path, problem: impl Into<String>) -> Error {
    bad_at(path, String::new(), problem)
}

/// An error about a place in a file: `, line 7`.
pub(crate) fn bad_at(path: &Path, place: String, problem: impl Into<String>) -> Error {
    Error::Content { path: path.into(), place, problem: problem.into() }
}
