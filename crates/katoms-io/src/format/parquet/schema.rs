//! The columns of a Parquet file, and how they are stored.

use super::thrift::Struct;
use crate::format::columnar::{Kind, Meaning};

/// What a file starts and ends with.
pub(super) const MAGIC: &[u8] = b"PAR1";

/// The types in which values are stored.
pub(super) mod physical {
    pub(in super::super) const BOOLEAN: i64 = 0;
    pub(in super::super) const INT32: i64 = 1;
    pub(in super::super) const INT64: i64 = 2;
    pub(in super::super) const INT96: i64 = 3;
    pub(in super::super) const FLOAT: i64 = 4;
    pub(in super::super) const DOUBLE: i64 = 5;
    pub(in super::super) const BYTE_ARRAY: i64 = 6;
    pub(in super::super) const FIXED: i64 = 7;
}

/// How a column is stored.
#[derive(Debug, Clone, Copy)]
pub(super) struct Leaf {
    pub(super) physical: i64,
    pub(super) kind: Kind,
    /// The bytes of a value, where all have as many.
    pub(super) width: usize,
    pub(super) is_optional: bool,
}

/// The columns of a schema, which has what is within a nested one behind it.
pub(super) fn top_level<'s, 'b>(elements: &[&'s Struct<'b>]) -> Option<Vec<&'s Struct<'b>>> {
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

/// How a column is stored; what it holds, if it is not read.
pub(super) fn leaf(element: &Struct<'_>) -> Result<Leaf, String> {
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
