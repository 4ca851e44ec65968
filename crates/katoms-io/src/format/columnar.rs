//! Columns of Parquet and Arrow files: what their values are, and how they come together from many parts.

use std::path::Path;

use super::words::{Words, sorted};
use crate::allocation::reserve;
use crate::column_format::{ColumnFormat, DateFormat};
use crate::day::Day;
use crate::error::{Error, bad, bad_at};
use crate::problem::short;
use crate::table::{Column, Table, Values};

/// What the values of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Nothing but missing values.
    Null,
    Bool,
    /// Whole numbers of so many bytes.
    Integer {
        width: usize,
        signed: bool,
        meaning: Meaning,
    },
    Float {
        width: usize,
    },
    Text,
}

/// What a whole number stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    Itself,
    /// A decimal number with so many digits behind the point.
    Decimal(i32),
    /// A time since 1 January 1970, of which so many units are a day.
    Time(i64),
}

impl Meaning {
    pub(super) const DAYS: Self = Self::Time(1);
    pub(super) const SECONDS: Self = Self::Time(86_400);
    pub(super) const MILLISECONDS: Self = Self::Time(86_400_000);
    pub(super) const MICROSECONDS: Self = Self::Time(86_400_000_000);
    pub(super) const NANOSECONDS: Self = Self::Time(86_400_000_000_000);

    pub(super) fn number(self, value: i128) -> f64 {
        match self {
            Self::Itself => value as f64,
            Self::Decimal(scale) => value as f64 / 10_f64.powi(scale),
            Self::Time(units) => {
                let value = value as i64;
                value.div_euclid(units) as f64 + value.rem_euclid(units) as f64 / units as f64
            }
        }
    }
}

impl Kind {
    /// Whole numbers with a sign.
    pub(super) fn integer(width: usize, meaning: Meaning) -> Self {
        Self::Integer { width, signed: true, meaning }
    }

    /// Appends the numbers of these bytes, which lie one behind the other with their low end first.
    pub(super) fn push_numbers(self, bytes: &[u8], out: &mut Vec<f64>) {
        macro_rules! each {
            ($kind:ty, $number:expr) => {{
                let (values, _) = bytes.as_chunks::<{ size_of::<$kind>() }>();
                out.extend(values.iter().map(|&value| $number(<$kind>::from_le_bytes(value))));
            }};
        }
        match self {
            Self::Integer { width, signed, meaning: Meaning::Itself } => match (width, signed) {
                (1, true) => each!(i8, f64::from),
                (1, false) => each!(u8, f64::from),
                (2, true) => each!(i16, f64::from),
                (2, false) => each!(u16, f64::from),
                (4, true) => each!(i32, f64::from),
                (4, false) => each!(u32, f64::from),
                (8, true) => each!(i64, |v| v as f64),
                _ => each!(u64, |v| v as f64),
            },
            Self::Integer { width, meaning, .. } => match width {
                4 => each!(i32, |v| meaning.number(i128::from(v))),
                8 => each!(i64, |v| meaning.number(i128::from(v))),
                _ => each!(i128, |v| meaning.number(v)),
            },
            Self::Float { width: 2 } => each!(katoms::operator::f16, f64::from),
            Self::Float { width: 4 } => each!(f32, f64::from),
            Self::Float { .. } => each!(f64, f64::from),
            Self::Null | Self::Bool | Self::Text => {}
        }
    }

    fn is_time(self) -> bool {
        matches!(self, Self::Integer { meaning: Meaning::Time(_), .. })
    }
}

/// A column that is put together.
pub(super) struct Gathered {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) numbers: Vec<f64>,
    pub(super) words: Words,
}

impl Gathered {
    /// Nothing yet of a column of this kind, which may be one that is not read: what it holds then.
    pub(super) fn new(path: &Path, place: usize, name: &str, kind: Result<Kind, String>) -> Result<Self, Error> {
        let kind = kind.map_err(|what| {
            let problem =
                format!("the column holds {}, neither numbers nor words: leave it out of the file", short(&what));
            bad_at(path, format!(", column {} ({})", place + 1, short(name)), problem)
        })?;
        Ok(Self { name: name.into(), kind, numbers: Vec::new(), words: Words::default() })
    }

    /// Room for so many rows more.
    pub(super) fn reserve(&mut self, rows: usize) -> Result<(), Refused> {
        let reserved = match self.kind {
            Kind::Text => reserve(&mut self.words.codes, rows),
            _ => reserve(&mut self.numbers, rows),
        };
        reserved.map_err(|problem| Refused::TooLarge(problem.to_string()))
    }

    /// A column of the same kind of which nothing is read.
    pub(super) fn empty(&self) -> Self {
        Self { name: String::new(), kind: self.kind, numbers: Vec::new(), words: Words::default() }
    }

    /// Appends words by their rows: `None` where one is missing, `Some(None)` where it is not within the bytes.
    pub(super) fn push_words<'w>(
        &mut self,
        rows: usize,
        word: &dyn Fn(usize) -> Option<Option<&'w [u8]>>,
    ) -> Result<(), Refused> {
        for row in 0..rows {
            let code = match word(row) {
                None => None,
                Some(word) => Some(self.words.code(there(word.and_then(|word| std::str::from_utf8(word).ok()))?)),
            };
            self.words.codes.push(code);
        }
        Ok(())
    }

    pub(super) fn rows(&self) -> usize {
        if self.kind == Kind::Text { self.words.codes.len() } else { self.numbers.len() }
    }

    /// The column; how its dates are counted, as days since the first.
    fn finished(mut self) -> (Column, Option<ColumnFormat>) {
        let mut format = None;
        let values = match self.kind {
            Kind::Text => {
                let words = self.words.in_order();
                sorted(words, &self.words.codes, |_| false)
            }
            kind => {
                let known = self.numbers.iter().copied().filter(|v| kind.is_time() && !v.is_nan());
                let first = known.fold(f64::INFINITY, f64::min).floor();
                if let Some(origin) = Day::from_number(first as i64) {
                    self.numbers.iter_mut().for_each(|v| *v -= first);
                    format = Some(ColumnFormat::Dates(DateFormat { origin, order: None }));
                }
                Values::Numbers(self.numbers)
            }
        };
        (Column { name: self.name, values }, format)
    }
}

/// The table of columns that are complete.
pub(super) fn table(path: &Path, columns: Vec<Gathered>, rows: usize) -> Result<Table, Error> {
    if columns.is_empty() {
        return Err(bad(path, "the table has no columns"));
    }
    let (columns, formats): (Vec<Column>, Vec<_>) = columns.into_iter().map(Gathered::finished).unzip();
    let formats = columns.iter().zip(formats).filter_map(|(column, format)| Some((column.name.clone(), format?)));
    let formats = formats.collect();
    Ok(Table { formats, ..Table::new(columns, rows) })
}

/// Why a file is not read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// It is damaged: what is wrong.
    Damaged(String),
    /// Too much is asked for, in words.
    TooLarge(String),
}

/// Its parts do not go together.
pub(super) const CONTRADICTION: &str = "its parts contradict each other";

impl Refused {
    pub(super) fn contradiction() -> Self {
        Self::Damaged(CONTRADICTION.into())
    }

    pub(super) fn too_large(problem: impl Into<String>) -> Self {
        Self::TooLarge(problem.into())
    }

    pub(super) fn error(self, path: &Path) -> Error {
        match self {
            Self::Damaged(what) => {
                bad(path, format!("the file ends too early or is damaged ({what}); copy or write it again"))
            }
            Self::TooLarge(problem) => bad(path, problem),
        }
    }
}

/// What is there, or the file contradicts itself.
pub(super) fn there<T>(value: Option<T>) -> Result<T, Refused> {
    value.ok_or_else(Refused::contradiction)
}
