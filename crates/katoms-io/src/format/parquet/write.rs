//! Columns as a Parquet file: one group of rows, pages packed with gzip.

use std::collections::HashSet;
use std::io::Write;

use flate2::write::GzEncoder;

use super::schema::{MAGIC, physical};
use super::thrift::{Writer, kind, push_varint};
use crate::error::Error;
use crate::table::{Column, Values};

/// The rows of a page.
const ROWS: usize = 1 << 16;
const RLE: i64 = 3;
const GZIP: i64 = 2;

/// The bytes of a Parquet file of these columns. What is missing becomes a null.
///
/// # Errors
/// When the columns differ in length, or two have one name.
pub fn write_parquet(columns: &[Column]) -> Result<Vec<u8>, Error> {
    let refused = |error: String| Err(Error::Request(format!("the columns cannot be written as Parquet: {error}")));
    let rows = columns.first().map_or(0, |column| column.values.len());
    let mut names = HashSet::new();
    for column in columns {
        let (name, found) = (&column.name, column.values.len());
        if found != rows {
            return refused(format!("column {name} has {found} rows, and {} has {rows}", columns[0].name));
        }
        if !names.insert(name) {
            return refused(format!("two columns are called {name}"));
        }
    }
    let mut bytes = MAGIC.to_vec();
    let chunks: Vec<Vec<u8>> = columns.iter().map(|column| push_chunk(&mut bytes, column)).collect();
    let length = bytes.len() as i64;
    let group = Writer::default().list(1, kind::STRUCT, &chunks).integer(2, kind::I64, length).integer(
        3,
        kind::I64,
        rows as i64,
    );
    let root = Writer::default().binary(4, b"schema").integer(5, kind::I32, columns.len() as i64).finished();
    let elements: Vec<Vec<u8>> = [root].into_iter().chain(columns.iter().map(element)).collect();
    let footer = Writer::default()
        .integer(1, kind::I32, 1)
        .list(2, kind::STRUCT, &elements)
        .integer(3, kind::I64, rows as i64)
        .list(4, kind::STRUCT, &[group.finished()])
        .binary(6, b"katoms")
        .finished();
    bytes.extend_from_slice(&footer);
    bytes.extend_from_slice(&(footer.len() as u32).to_le_bytes());
    bytes.extend_from_slice(MAGIC);
    Ok(bytes)
}

fn physical_type(values: &Values) -> i64 {
    if matches!(values, Values::Numbers(_)) { physical::DOUBLE } else { physical::BYTE_ARRAY }
}

/// What the schema says of a column.
fn element(column: &Column) -> Vec<u8> {
    let element = Writer::default().integer(1, kind::I32, physical_type(&column.values)).integer(3, kind::I32, 1);
    let element = element.binary(4, column.name.as_bytes());
    match column.values {
        Values::Numbers(_) => element.finished(),
        Values::Words { .. } => {
            let string = Writer::default().structure(1, Writer::default());
            element.integer(6, kind::I32, 0).structure(10, string).finished()
        }
    }
}

/// Writes the pages of a column; what the footer says of them.
fn push_chunk(bytes: &mut Vec<u8>, column: &Column) -> Vec<u8> {
    let (start, mut unpacked) = (bytes.len(), 0);
    let encoding = match &column.values {
        Values::Numbers(_) => 0,
        Values::Words { levels, .. } => {
            let word = |level: &String| [&(level.len() as u32).to_le_bytes(), level.as_bytes()].concat();
            let words = levels.iter().map(word).collect::<Vec<_>>().concat();
            let header = Writer::default().integer(1, kind::I32, levels.len() as i64).integer(2, kind::I32, 0);
            unpacked += push_page(bytes, (2, 7, header), &words);
            8
        }
    };
    let first = bytes.len();
    for start in (0..column.values.len()).step_by(ROWS) {
        let (rows, page) = page(&column.values, start);
        let header = Writer::default().integer(1, kind::I32, rows as i64).integer(2, kind::I32, encoding);
        let header = header.integer(3, kind::I32, RLE).integer(4, kind::I32, RLE);
        unpacked += push_page(bytes, (0, 5, header), &page);
    }
    let integer = |value: i64| {
        let mut bytes = Vec::new();
        push_varint((value << 1) as u64, &mut bytes);
        bytes
    };
    let mut name = Vec::new();
    push_varint(column.name.len() as u64, &mut name);
    name.extend_from_slice(column.name.as_bytes());
    let metadata = Writer::default()
        .integer(1, kind::I32, physical_type(&column.values))
        .list(2, kind::I32, &[integer(0), integer(RLE), integer(8)])
        .list(3, kind::BINARY, &[name])
        .integer(4, kind::I32, GZIP)
        .integer(5, kind::I64, column.values.len() as i64)
        .integer(6, kind::I64, unpacked)
        .integer(7, kind::I64, (bytes.len() - start) as i64)
        .integer(9, kind::I64, first as i64);
    let metadata = if first > start { metadata.integer(11, kind::I64, start as i64) } else { metadata };
    Writer::default().integer(2, kind::I64, start as i64).structure(3, metadata).finished()
}

/// Some rows: which are there, then their values.
fn page(values: &Values, start: usize) -> (usize, Vec<u8>) {
    let (are_there, values): (Vec<u32>, Vec<u8>) = match values {
        Values::Numbers(numbers) => {
            let part = &numbers[start..numbers.len().min(start + ROWS)];
            let known = part.iter().filter(|v| !v.is_nan()).flat_map(|v| v.to_le_bytes());
            (part.iter().map(|v| u32::from(!v.is_nan())).collect(), known.collect())
        }
        Values::Words { levels, codes } => {
            let part = &codes[start..codes.len().min(start + ROWS)];
            let bits = usize::BITS - levels.len().saturating_sub(1).leading_zeros();
            let known: Vec<u32> = part.iter().flatten().copied().collect();
            (
                part.iter().map(|code| u32::from(code.is_some())).collect(),
                [vec![bits as u8], packed(&known, bits)].concat(),
            )
        }
    };
    let levels = packed(&are_there, 1);
    (are_there.len(), [&(levels.len() as u32).to_le_bytes(), &levels[..], &values].concat())
}

/// Numbers of so many bits each, one behind the other in one run.
fn packed(numbers: &[u32], bits: u32) -> Vec<u8> {
    let (mut bytes, groups) = (Vec::new(), numbers.len().div_ceil(8));
    push_varint((groups as u64) << 1 | 1, &mut bytes);
    let end = bytes.len() + groups * bits as usize;
    let (mut word, mut filled) = (0_u64, 0);
    for &number in numbers {
        word |= u64::from(number) << filled;
        filled += bits;
        while filled >= 8 {
            bytes.push(word as u8);
            (word, filled) = (word >> 8, filled - 8);
        }
    }
    bytes.push(word as u8);
    bytes.resize(end, 0);
    bytes
}

/// Writes a page of this type, whose header has this in the field of this number; its bytes before they were packed.
fn push_page(bytes: &mut Vec<u8>, (page_type, field, header): (i64, u8, Writer), page: &[u8]) -> i64 {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::default());
    // writing to memory cannot fail
    let packed = encoder.write_all(page).and_then(|()| encoder.finish()).unwrap_or_default();
    let header = Writer::default()
        .integer(1, kind::I32, page_type)
        .integer(2, kind::I32, page.len() as i64)
        .integer(3, kind::I32, packed.len() as i64)
        .structure(field, header)
        .finished();
    bytes.extend_from_slice(&header);
    bytes.extend_from_slice(&packed);
    (header.len() + page.len()) as i64
}
