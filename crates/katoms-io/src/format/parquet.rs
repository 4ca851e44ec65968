//! Parquet: columns of numbers, truth values, words and dates. What a file promises is held against its bytes before any
//! memory is asked for.

mod encoding;
mod page;
mod thrift;
mod write;

use std::path::Path;

use base64::prelude::{BASE64_STANDARD, Engine};

pub use self::write::write_parquet;
use super::arrow;
use super::columnar::{Gathered, Kind, Meaning, Refused, table, there};
use crate::allocation::{Budget, MaxUnpacked};
use crate::error::Error;
use crate::table::Table;
use page::Chunk;
use thrift::Struct;

/// What a file starts and ends with.
const MAGIC: &[u8] = b"PAR1";

/// The types in which values are stored.
mod physical {
    pub(super) const BOOLEAN: i64 = 0;
    pub(super) const INT32: i64 = 1;
    pub(super) const INT64: i64 = 2;
    pub(super) const INT96: i64 = 3;
    pub(super) const FLOAT: i64 = 4;
    pub(super) const DOUBLE: i64 = 5;
    pub(super) const BYTE_ARRAY: i64 = 6;
    pub(super) const FIXED: i64 = 7;
}

/// How a column is stored.
#[derive(Debug, Clone, Copy)]
struct Leaf {
    physical: i64,
    kind: Kind,
    /// The bytes of a value, where all have as many.
    width: usize,
    is_optional: bool,
}

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

/// The columns of a schema, which has what is within a nested one behind it.
fn top_level<'s, 'b>(elements: &[&'s Struct<'b>]) -> Option<Vec<&'s Struct<'b>>> {
    let (root, mut rest) = elements.split_first()?;
    let mut columns = Vec::new();
    for _ in 0..root.count(5)? {
        columns.push(*rest.first()?);
        let mut left = 1;
        while left > 0 {
            let (element, behind) = rest.split_first()?;
            left = usize::checked_add(left - 1, element.count(5).unwrap_or(0))?;
            rest = behind;
        }
    }
    rest.is_empty().then_some(columns)
}

/// Columns that are no numbers though they look so here: what Arrow has kept of its types says it.
fn hidden(footer: &Struct<'_>) -> Vec<(String, String)> {
    let pairs = footer.structures(5).unwrap_or_default();
    let schema = pairs.iter().find(|pair| pair.binary(1) == Some(b"ARROW:schema")).and_then(|pair| pair.binary(2));
    let schema = schema.and_then(|text| BASE64_STANDARD.decode(text).ok());
    let kinds = schema.and_then(|bytes| arrow::kinds(&bytes)).unwrap_or_default();
    kinds.into_iter().filter_map(|(name, kind)| Some((name, kind.err()?))).collect()
}

/// How a column is stored; what it holds, if it is not read.
fn leaf(element: &Struct<'_>) -> Result<Leaf, String> {
    const REPEATED: i64 = 2;
    let (Some(physical), 0, repetition) = (element.integer(1), element.count(5).unwrap_or(0), element.integer(3))
    else {
        return Err("lists, maps or structs".into());
    };
    if repetition == Some(REPEATED) {
        return Err("lists".into());
    }
    let fixed = element.count(2).filter(|&width| (1..=1 << 16).contains(&width));
    let width = match physical {
        physical::INT32 | physical::FLOAT => 4,
        physical::INT64 | physical::DOUBLE => 8,
        physical::INT96 => 12,
        physical::FIXED => fixed.ok_or("values without a size")?,
        _ => 0,
    };
    Ok(Leaf { physical, kind: kind(element, physical, width)?, width, is_optional: repetition == Some(1) })
}

/// What the values of a column are; in words where they are not read.
fn kind(element: &Struct<'_>, physical: i64, width: usize) -> Result<Kind, String> {
    let (logical, details) = element.structure(10).and_then(Struct::choice).unzip();
    let is = |new: i64, old: &[i64]| match logical {
        Some(logical) => logical == new,
        None => element.integer(6).is_some_and(|converted| old.contains(&converted)),
    };
    let is_whole = [physical::INT32, physical::INT64].contains(&physical);
    let is_bytes = [physical::BYTE_ARRAY, physical::FIXED].contains(&physical);
    if is(5, &[5]) && (is_whole || is_bytes && width <= size_of::<i128>()) {
        let scale = details.and_then(|details| details.integer(1)).or(element.integer(7)).unwrap_or(0);
        return Ok(Kind::integer(width, Meaning::Decimal(i32::try_from(scale).map_err(|_| "decimals")?)));
    }
    Ok(match physical {
        physical::BOOLEAN => Kind::Bool,
        physical::INT32 | physical::INT64 if is(11, &[]) => Kind::Null,
        physical::INT32 | physical::INT64 if is(7, &[7, 8]) => return Err("times of day".into()),
        physical::INT32 if is(6, &[6]) => Kind::integer(width, Meaning::DAYS),
        physical::INT64 if is(8, &[9, 10]) => {
            let unit = details.and_then(|details| details.structure(2)?.choice()).map(|(unit, _)| unit);
            Kind::integer(
                width,
                match (unit, element.integer(6)) {
                    (Some(1), _) | (None, Some(9)) => Meaning::MILLISECONDS,
                    (Some(2), _) | (None, _) => Meaning::MICROSECONDS,
                    _ => Meaning::NANOSECONDS,
                },
            )
        }
        physical::INT32 | physical::INT64 => {
            let unsigned = details.filter(|_| logical == Some(10)).and_then(|details| details.bool(2)) == Some(false);
            Kind::Integer { width, signed: !unsigned && !is(0, &[11, 12, 13, 14]), meaning: Meaning::Itself }
        }
        physical::INT96 => Kind::integer(width, Meaning::NANOSECONDS),
        physical::FLOAT | physical::DOUBLE => Kind::Float { width },
        physical::BYTE_ARRAY if is(1, &[0]) || is(4, &[4]) || is(12, &[19]) => Kind::Text,
        physical::FIXED if is(15, &[]) && width == 2 => Kind::Float { width },
        _ => return Err("bytes".into()),
    })
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
    let mut rows = 0;
    for group in there(footer.structures(4))? {
        rows += there(group.count(3))?;
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
