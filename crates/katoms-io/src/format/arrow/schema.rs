//! The columns of an Arrow file.

use super::flatbuffer::Table as Flat;
use crate::format::columnar::{Kind, Meaning, Refused, there};

/// A column as the schema has it.
pub(super) struct Field {
    pub(super) name: String,
    /// What its values are; in words, if they are not read.
    pub(super) kind: Result<Kind, String>,
    pub(super) layout: Layout,
    /// Where values are kept once: the number of that dictionary, and what places in it are.
    pub(super) dictionary: Option<(i64, Kind)>,
}

/// How values lie in the buffers behind the one that says which are there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// No buffers, nor one for that.
    None,
    Bits,
    Numbers,
    /// Words one behind the other, and where each ends as numbers of so many bytes.
    Words(usize),
    /// Words where 16 bytes each say, in any number of buffers.
    Views,
}

pub(super) fn fields(schema: Flat<'_>) -> Result<Vec<Field>, Refused> {
    if schema.integer::<2>(0) != 0 {
        return Err(Refused::Damaged("its numbers have their high end first".into()));
    }
    there(schema.tables(1))?.into_iter().map(|field| there(self::field(field))).collect()
}

fn field(field: Flat<'_>) -> Option<Field> {
    let (kind, layout) = kind(field.integer::<1>(2), field.table(3)?);
    let dictionary = field.table(4).map(|dictionary| {
        let places = dictionary.table(1).map(|places| self::kind(2, places).0);
        (dictionary.integer::<8>(0), places.and_then(Result::ok).unwrap_or(Kind::integer(4, Meaning::Itself)))
    });
    Some(Field { name: field.text(0).unwrap_or_default().into(), kind, layout, dictionary })
}

/// What values of a type are, and how they lie.
fn kind(number: i64, details: Flat<'_>) -> (Result<Kind, String>, Layout) {
    let whole = |width: usize, meaning: Meaning| (Ok(Kind::integer(width, meaning)), Layout::Numbers);
    let bytes = |bits: i64| usize::try_from(bits / 8).ok().filter(|width| [1, 2, 4, 8].contains(width));
    let refused = |what: &str| (Err(what.to_owned()), Layout::None);
    match number {
        1 => (Ok(Kind::Null), Layout::None),
        2 => match bytes(details.integer::<4>(0)) {
            Some(width) => {
                let signed = details.integer::<1>(1) != 0;
                (Ok(Kind::Integer { width, signed, meaning: Meaning::Itself }), Layout::Numbers)
            }
            None => refused("whole numbers of an unknown size"),
        },
        3 => match details.integer::<2>(0) {
            precision @ 0..=2 => (Ok(Kind::Float { width: 2 << precision }), Layout::Numbers),
            _ => refused("numbers of an unknown precision"),
        },
        5 => (Ok(Kind::Text), Layout::Words(4)),
        6 => (Ok(Kind::Bool), Layout::Bits),
        7 => {
            let width = if details.has(2) { details.integer::<4>(2) / 8 } else { 16 };
            match (width, i32::try_from(details.integer::<4>(1))) {
                (4 | 8 | 16, Ok(scale)) => whole(width as usize, Meaning::Decimal(scale)),
                _ => refused("decimal numbers of more than 38 digits"),
            }
        }
        8 if details.has(0) && details.integer::<2>(0) == 0 => whole(4, Meaning::DAYS),
        8 if !details.has(0) || details.integer::<2>(0) == 1 => whole(8, Meaning::MILLISECONDS),
        10 => match details.integer::<2>(0) {
            0 => whole(8, Meaning::SECONDS),
            1 => whole(8, Meaning::MILLISECONDS),
            2 => whole(8, Meaning::MICROSECONDS),
            _ => whole(8, Meaning::NANOSECONDS),
        },
        20 => (Ok(Kind::Text), Layout::Words(8)),
        24 => (Ok(Kind::Text), Layout::Views),
        4 | 15 | 19 | 23 => refused("bytes"),
        9 => refused("times of day"),
        11 | 18 => refused("spans of time"),
        12 | 16 | 21 | 25 | 26 => refused("lists"),
        13 | 14 | 17 => refused("structs, unions or maps"),
        _ => refused("values of an unknown type"),
    }
}
