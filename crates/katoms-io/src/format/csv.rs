//! Text tables.

use std::io::Read;
use std::path::Path;

use crate::error::Error;
use crate::source::ReadOptions;
use crate::table::Table;

/// The table that a text holds.
///
/// # Errors
/// When the text cannot be read as a table.
pub fn read_table(path: &Path, text: impl Read, options: &ReadOptions) -> Result<Table, Error> {
    let _ = (path, text, options);
    todo!()
}
