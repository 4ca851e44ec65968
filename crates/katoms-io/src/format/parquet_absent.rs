//! Stands for Parquet and Arrow in a build without them.

use std::path::Path;

use super::bad;
use crate::allocation::MaxUnpacked;
use crate::error::Error;
use crate::table::{Column, Table};

/// Says how to read a Parquet file.
///
/// # Errors
/// Always.
pub fn read_parquet(path: &Path, _: Vec<u8>, _: MaxUnpacked) -> Result<Table, Error> {
    Err(bad(path, advice("this is a Parquet file")))
}

/// Says how to read an Arrow file.
///
/// # Errors
/// Always.
pub fn read_arrow(path: &Path, _: Vec<u8>, _: MaxUnpacked) -> Result<Table, Error> {
    Err(bad(path, advice("this is an Arrow file")))
}

/// Says how to write a Parquet file.
///
/// # Errors
/// Always.
pub fn write_parquet(_: &[Column]) -> Result<Vec<u8>, Error> {
    Err(Error::Request(advice("a Parquet file was asked for")))
}

fn advice(what: &str) -> String {
    format!(
        "{what}, and this katoms was built without Parquet and Arrow: build it with `cargo install --path \
         crates/katoms-cli --features parquet`, or use CSV"
    )
}
