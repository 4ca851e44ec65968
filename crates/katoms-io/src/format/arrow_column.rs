//! A column of Arrow, gathered from its parts.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Decimal128Type, Float16Type, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, TimeUnit};

use crate::allocation::reserve;
use crate::column_format::{ColumnFormat, DateFormat};
use crate::day::Day;
use crate::table::Values;

const SECONDS_A_DAY: i64 = 86_400;

/// What was gathered of a column.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    numbers: Vec<f64>,
    /// Whether the numbers are days since 1 January 1970.
    are_days: bool,
    /// Each word with its place in the order of coming.
    words: BTreeMap<String, u32>,
    codes: Vec<Option<u32>>,
    /// The dictionary of the last part, and what its values are here: most parts share one.
    dictionary: Option<(ArrayRef, Once)>,
}

/// Values that are kept once.
#[derive(Debug)]
enum Once {
    Numbers(Vec<f64>),
    Codes(Vec<Option<u32>>),
}

/// Whether a column of this type becomes numbers; others become words.
fn is_number(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => is_number(values),
        DataType::Null | DataType::Boolean | DataType::Decimal128(..) => true,
        DataType::Date32 | DataType::Date64 | DataType::Timestamp(..) => true,
        other => other.is_integer() || other.is_floating(),
    }
}

/// Whether a column of this type is numbers or words, or a dictionary of such.
pub(crate) fn is_flat(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => !matches!(**values, DataType::Dictionary(..)) && is_flat(values),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        other => is_number(other),
    }
}

impl Gathered {
    /// One more part. Nulls are missing values, truth values 0 and 1.
    ///
    /// # Errors
    /// When there is no memory for it, or its type is not [flat](is_flat).
    pub(crate) fn push(&mut self, part: &ArrayRef) -> Result<(), String> {
        if is_number(part.data_type()) {
            reserve(&mut self.numbers, part.len())?;
        } else {
            reserve(&mut self.codes, part.len())?;
        }
        macro_rules! numbers {
            ($kind:ty, $to:expr) => {{
                let to: fn(<$kind as ArrowPrimitiveType>::Native) -> f64 = $to;
                self.numbers.extend(part.as_primitive::<$kind>().iter().map(|v| v.map_or(f64::NAN, to)))
            }};
        }
        match part.data_type() {
            DataType::Int8 => numbers!(Int8Type, f64::from),
            DataType::Int16 => numbers!(Int16Type, f64::from),
            DataType::Int32 => numbers!(Int32Type, f64::from),
            DataType::Int64 => numbers!(Int64Type, |v| v as f64),
            DataType::UInt8 => numbers!(UInt8Type, f64::from),
            DataType::UInt16 => numbers!(UInt16Type, f64::from),
            DataType::UInt32 => numbers!(UInt32Type, f64::from),
            DataType::UInt64 => numbers!(UInt64Type, |v| v as f64),
            DataType::Float16 => numbers!(Float16Type, f64::from),
            DataType::Float32 => numbers!(Float32Type, f64::from),
            DataType::Float64 => numbers!(Float64Type, |v| v),
            DataType::Decimal128(_, scale) => {
                let unit = 10_f64.powi(i32::from(*scale));
                let one = |v: Option<i128>| v.map_or(f64::NAN, |v| v as f64 / unit);
                self.numbers.extend(part.as_primitive::<Decimal128Type>().iter().map(one));
            }
            DataType::Boolean => {
                let one = |v: Option<bool>| v.map_or(f64::NAN, |v| f64::from(u8::from(v)));
                self.numbers.extend(part.as_boolean().iter().map(one));
            }
            DataType::Null => self.numbers.extend((0..part.len()).map(|_| f64::NAN)),
            DataType::Date32 => self.push_days::<Date32Type>(part, 1),
            DataType::Date64 => self.push_days::<Date64Type>(part, SECONDS_A_DAY * 1000),
            DataType::Timestamp(unit, _) => match unit {
                TimeUnit::Second => self.push_days::<TimestampSecondType>(part, SECONDS_A_DAY),
                TimeUnit::Millisecond => self.push_days::<TimestampMillisecondType>(part, SECONDS_A_DAY * 1000),
                TimeUnit::Microsecond => self.push_days::<TimestampMicrosecondType>(part, SECONDS_A_DAY * 1_000_000),
                TimeUnit::Nanosecond => self.push_days::<TimestampNanosecondType>(part, SECONDS_A_DAY * 1_000_000_000),
            },
            DataType::Dictionary(..) => return self.push_dictionary(part),
            _ => return self.push_words(part),
        }
        Ok(())
    }

    fn push_words(&mut self, part: &ArrayRef) -> Result<(), String> {
        match part.data_type() {
            DataType::Utf8 => part.as_string::<i32>().iter().for_each(|word| self.push_word(word)),
            DataType::LargeUtf8 => part.as_string::<i64>().iter().for_each(|word| self.push_word(word)),
            DataType::Utf8View => part.as_string_view().iter().for_each(|word| self.push_word(word)),
            other => return Err(other.to_string()),
        }
        Ok(())
    }

    fn push_word(&mut self, word: Option<&str>) {
        let code = word.map(|word| self.code(word));
        self.codes.push(code);
    }

    /// The place of a word in the order of coming.
    fn code(&mut self, word: &str) -> u32 {
        self.words.get(word).copied().unwrap_or_else(|| {
            let code = self.words.len() as u32;
            self.words.insert(word.into(), code);
            code
        })
    }

    /// Dates and times, of which so many units are a day.
    fn push_days<T: ArrowPrimitiveType>(&mut self, part: &ArrayRef, units: i64)
    where
        i64: From<T::Native>,
    {
        self.are_days = true;
        let day = |value: i64| value.div_euclid(units) as f64 + value.rem_euclid(units) as f64 / units as f64;
        self.numbers.extend(part.as_primitive::<T>().iter().map(|v| v.map_or(f64::NAN, |v| day(v.into()))));
    }

    /// Words or numbers that are kept once, and places among them.
    fn push_dictionary(&mut self, part: &ArrayRef) -> Result<(), String> {
        let dictionary = part.as_any_dictionary();
        let once = self.once(dictionary.values())?;
        // keys cannot be asked for where there is nothing they could stand for: all are nulls
        let keys = if dictionary.values().is_empty() { Vec::new() } else { dictionary.normalized_keys() };
        // the keys of nulls mean nothing
        let keys = (0..part.len()).map(|row| if part.is_null(row) { None } else { keys.get(row).copied() });
        match &once {
            Once::Numbers(numbers) => {
                let number = |key: Option<usize>| key.and_then(|key| numbers.get(key)).copied().unwrap_or(f64::NAN);
                self.numbers.extend(keys.map(number));
            }
            Once::Codes(codes) => {
                self.codes.extend(keys.map(|key| key.and_then(|key| codes.get(key)).copied().flatten()));
            }
        }
        self.dictionary = Some((Arc::clone(dictionary.values()), once));
        Ok(())
    }

    /// Days since the first of the column, where it holds dates; how they are counted.
    pub(crate) fn count_days(&mut self) -> Option<ColumnFormat> {
        let known = self.numbers.iter().copied().filter(|v| self.are_days && !v.is_nan());
        let first = known.fold(f64::INFINITY, f64::min).floor();
        let origin = Day::from_number(first as i64)?;
        self.numbers.iter_mut().for_each(|v| *v -= first);
        Some(ColumnFormat::Dates(DateFormat { origin, order: None }))
    }

    /// What the values of a dictionary are here.
    fn once(&mut self, values: &ArrayRef) -> Result<Once, String> {
        match self.dictionary.take() {
            Some((last, once)) if last.to_data().ptr_eq(&values.to_data()) => return Ok(once),
            _ => {}
        }
        let mut alone = Self::default();
        alone.push(values)?;
        self.are_days |= alone.are_days;
        if is_number(values.data_type()) {
            return Ok(Once::Numbers(alone.numbers));
        }
        let levels: BTreeMap<u32, String> = alone.words.into_iter().map(|(word, code)| (code, word)).collect();
        let here: Vec<u32> = levels.values().map(|word| self.code(word)).collect();
        let codes = alone.codes.into_iter().map(|code| code.and_then(|code| here.get(code as usize).copied()));
        Ok(Once::Codes(codes.collect()))
    }

    /// What was gathered, words sorted.
    pub(crate) fn values(self) -> Values {
        if self.codes.is_empty() {
            return Values::Numbers(self.numbers);
        }
        let mut sorted = vec![0; self.words.len()];
        let mut levels = Vec::with_capacity(self.words.len());
        for (place, (word, came)) in self.words.into_iter().enumerate() {
            sorted[came as usize] = place as u32;
            levels.push(word);
        }
        Values::Words { levels, codes: self.codes.iter().map(|code| code.map(|code| sorted[code as usize])).collect() }
    }
}
