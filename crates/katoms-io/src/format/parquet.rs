//! Parquet: columns of numbers, truth values, words and dates. What a file promises is held against its bytes before any
//! memory is asked for.

mod compression;
mod encoding;
mod page;
mod schema;
mod thrift;
mod write;

use std::path::Path;

use base64::prelude::{BASE64_STANDARD, Engine};

pub use self::write::write_parquet;
use super::arrow;
use super::columnar::{Gathered, Refused, table, there};
use crate::allocation::{Budget, MaxUnpacked};
use crate::error::Error;
use crate::table::Table;
use page::Chunk;
use schema::{Leaf, MAGIC, leaf, top_level};
use thrift::Struct;

/// The table of a Parquet file.
///
/// # Errors
/// When the file is cut off or damaged, unpacks to more than the limit, or a column holds what is neither numbers nor
/// words.
pub fn read_parquet(path: &Path, bytes: &[u8], limit: MaxUnpacked) -> Result<Table, Error> {
    let refused = |refused: Refused| refused.error(path);
    let footer = there(footer(bytes)).map_err(refused)?;
    let elements = there(footer.structures(2)).map_err(refused)?;
    let hidden = hidden(&footer);
    let (mut leaves, mut columns) = (Vec::new(), Vec::new());
    for (place, element) in there(top_level(&elements)).map_err(refused)?.into_iter().enumerate() {
        let name = String::from_utf8_lossy(element.binary(4).unwrap_or_default());
        let leaf = match hidden.iter().find(|(hidden, _)| *hidden == name) {
            Some((_, what)) => Err(what.clone()),
            None => leaf(element),
        };
        columns.push(Gathered::new(path, place, &name, leaf.clone().map(|leaf| leaf.kind))?);
        leaves.extend(leaf);
    }
    let rows = read_rows(bytes, &footer, &leaves, &mut columns, limit).map_err(refused)?;
    table(path, columns, rows)
}

/// What stands at the end of a file.
fn footer(bytes: &[u8]) -> Option<Struct<'_>> {
    let (rest, length) = bytes.strip_suffix(MAGIC)?.split_last_chunk::<4>()?;
    let length = u32::from_le_bytes(*length) as usize;
    Some(Struct::read(rest.get(rest.len().checked_sub(length)?..)?)?.0)
}

/// Columns that are no numbers though they look so here: what Arrow has kept of its types says it.
fn hidden(footer: &Struct<'_>) -> Vec<(String, String)> {
    let pairs = footer.structures(5).unwrap_or_default();
    let schema = pairs.iter().find(|pair| pair.binary(1) == Some(b"ARROW:schema")).and_then(|pair| pair.binary(2));
    let schema = schema.and_then(|text| BASE64_STANDARD.decode(text).ok());
    let kinds = schema.and_then(|bytes| arrow::kinds(&bytes)).unwrap_or_default();
    kinds.into_iter().filter_map(|(name, kind)| Some((name, kind.err()?))).collect()
}

/// Reads the rows of all groups into the columns; how many there are.
fn read_rows(
    bytes: &[u8],
    footer: &Struct<'_>,
    leaves: &[Leaf],
    columns: &mut [Gathered],
    limit: MaxUnpacked,
) -> Result<usize, Refused> {
    let mut budget = Budget::new(limit);
    let mut rows = 0_usize;
    for group in there(footer.structures(4))? {
        rows = there(group.count(3).and_then(|more| rows.checked_add(more)))?;
        let chunks = there(group.structures(1).filter(|chunks| chunks.len() == leaves.len()))?;
        for ((chunk, leaf), column) in chunks.iter().zip(leaves).zip(columns.iter_mut()) {
            let metadata = there(chunk.structure(3).filter(|chunk| chunk.integer(1) == Some(leaf.physical)))?;
            let chunk = Chunk { leaf: *leaf, codec: there(metadata.integer(4))?, budget: &mut budget };
            chunk.read(there(pages(bytes, metadata))?, column)?;
            there((column.rows() == rows).then_some(()))?;
        }
    }
    Ok(rows)
}

/// The bytes of the pages of a column.
fn pages<'b>(bytes: &'b [u8], metadata: &Struct<'_>) -> Option<&'b [u8]> {
    let start = metadata.count(11).filter(|&start| start > 0).or(metadata.count(9))?;
    bytes.get(start..start.checked_add(metadata.count(7)?)?)
}
