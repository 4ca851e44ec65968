//! Text tables: CSV, TSV and the like.
//!
//! A column of which every cell is a number or missing holds numbers. One whose cells share another way of writing
//! numbers, or dates, holds these (`text_column.rs`, `resolve.rs`); any other holds words. What is most likely not meant goes
//! into the table's problems, all of it. Blank lines count for nothing.
//!
//! The text is in memory and read at most three times: once for plain numbers, which go straight to their columns, once
//! more for the columns that have something else, where there are any, and for all others where those have a decimal
//! comma.

mod cell;
mod columns;
mod date;
mod number;
mod odd_rows;
mod opening;
mod pivot;
mod plain;
mod resolve;
pub(crate) mod sniff;
pub(crate) mod text;
mod text_column;

use std::io::Read;
use std::path::Path;

use crate::error::Error;
use crate::source::ReadOptions;
use crate::table::Table;

/// The table that a text holds. Its problems are for its user to look at.
pub(crate) fn read_table(path: &Path, text: &mut dyn Read, options: &ReadOptions) -> Result<Table, Error> {
    let mut bytes = Vec::new();
    text.read_to_end(&mut bytes).map_err(|error| Error::System { path: path.into(), what: "cannot be read", error })?;
    let mut bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes);
    opening::check_text(path, bytes)?;
    let rest;
    if !options.skip_lines.is_empty() {
        rest = opening::without_lines(bytes, |line| options.skip_lines.iter().any(|range| range.contains(&line)));
        bytes = &rest;
    }
    let (text, notes) = opening::open(path, bytes, options)?;
    columns::Reading::new(&text, options)?.into_table(notes)
}

#[cfg(test)]
mod tests;
