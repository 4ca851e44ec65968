//! The pages of a column of a Parquet file.

use std::borrow::Cow;

use super::compression::unpacked;
use super::encoding::{differences, joined, plain_words, runs, words_behind_lengths, words_with_prefixes};
use super::schema::{Leaf, physical};
use super::thrift::Struct;
use crate::allocation::{Budget, ask};
use crate::format::columnar::{Gathered, Kind, Meaning, Refused, there};
use crate::format::words::Words;

/// What a page takes at the least, so that many empty ones take something.
const PAGE: u64 = 64;
/// 1 January 1970 in the count of days that INT96 has.
const JULIAN_1970: i64 = 2_440_588;

mod encoding {
    pub(super) const PLAIN: i64 = 0;
    pub(super) const PLAIN_DICTIONARY: i64 = 2;
    pub(super) const RLE: i64 = 3;
    pub(super) const BIT_PACKED: i64 = 4;
    pub(super) const DELTA_BINARY_PACKED: i64 = 5;
    pub(super) const DELTA_LENGTH_BYTE_ARRAY: i64 = 6;
    pub(super) const DELTA_BYTE_ARRAY: i64 = 7;
    pub(super) const RLE_DICTIONARY: i64 = 8;
    pub(super) const BYTE_STREAM_SPLIT: i64 = 9;
}

/// A column of a group of rows.
pub(super) struct Chunk<'a> {
    pub(super) leaf: Leaf,
    pub(super) codec: i64,
    pub(super) budget: &'a mut Budget,
}

/// Values that are there, one behind the other.
enum Decoded {
    Numbers(Vec<f64>),
    /// Places of words in the order of coming.
    Codes(Vec<u32>),
}

/// Values of a page before they are decoded.
struct Encoded<'p> {
    encoding: i64,
    bytes: &'p [u8],
    count: usize,
}

impl Chunk<'_> {
    /// Reads these pages into a column.
    pub(super) fn read(mut self, mut rest: &[u8], column: &mut Gathered) -> Result<(), Refused> {
        let mut dictionary = None;
        while !rest.is_empty() {
            let (header, after) = there(Struct::read(rest))?;
            let (page, after) = there(header.count(3).and_then(|packed| after.split_at_checked(packed)))?;
            rest = after;
            let size = there(header.count(2))?;
            let details = [5, 7, 8].into_iter().find_map(|id| header.structure(id));
            let count = details.and_then(|details| details.count(1)).unwrap_or(0);
            let taken = (size.max(page.len()) as u64).max((count as u64).saturating_mul(8)).max(PAGE);
            self.budget.take(taken).map_err(Refused::too_large)?;
            // the page, which values are there, and these
            ask(taken.saturating_mul(3)).map_err(Refused::too_large)?;
            match (header.integer(1), details) {
                (Some(0), Some(details)) => {
                    let unpacked = unpacked(self.codec, page, size)?;
                    let (levels, bytes) = there(self.levels(&unpacked, count, details))?;
                    let encoded = (there(details.integer(2))?, bytes);
                    self.push(column, encoded, levels, count, &dictionary)?;
                }
                (Some(2), Some(_)) => {
                    // a value of a dictionary takes a byte at the least
                    there((count <= size).then_some(()))?;
                    let unpacked = unpacked(self.codec, page, size)?;
                    let values = Encoded { encoding: encoding::PLAIN, bytes: &unpacked, count };
                    dictionary = Some(there(self.decoded(&values, &None, &mut column.words))?);
                }
                (Some(3), Some(details)) => {
                    let [repeated, defined] = [6, 5].map(|id| details.count(id).unwrap_or(0));
                    let (levels, values) =
                        there(repeated.checked_add(defined).and_then(|length| page.split_at_checked(length)))?;
                    let size = there(size.checked_sub(levels.len()))?;
                    let is_packed = details.bool(7) != Some(false) && !values.is_empty();
                    let unpacked = if is_packed { unpacked(self.codec, values, size)? } else { values.into() };
                    let runs = || runs(&levels[repeated..], 1, count);
                    let levels = if self.leaf.is_optional { Some(there(runs())?) } else { None };
                    let encoded = (there(details.integer(4))?, &unpacked[..]);
                    self.push(column, encoded, levels, count, &dictionary)?;
                }
                (Some(1), _) => {}
                _ => return Err(Refused::contradiction()),
            }
        }
        Ok(())
    }

    /// Which values of a page of the first version are there, and the bytes of these.
    fn levels<'p>(&self, bytes: &'p [u8], count: usize, details: &Struct<'_>) -> Option<(Option<Vec<u32>>, &'p [u8])> {
        if !self.leaf.is_optional {
            return Some((None, bytes));
        }
        if details.integer(3)? == encoding::BIT_PACKED {
            let (bits, rest) = bytes.split_at_checked(count.div_ceil(8))?;
            let levels = (0..count).map(|at| u32::from(bits[at / 8] >> (7 - at % 8) & 1));
            return Some((Some(levels.collect()), rest));
        }
        let (levels, rest) = behind_length(bytes)?;
        Some((Some(runs(levels, 1, count)?), rest))
    }

    /// One more page of rows.
    fn push(
        &mut self,
        column: &mut Gathered,
        (encoding, bytes): (i64, &[u8]),
        levels: Option<Vec<u32>>,
        rows: usize,
        dictionary: &Option<Decoded>,
    ) -> Result<(), Refused> {
        column.reserve(rows)?;
        let is_there = |row: usize| levels.as_ref().is_none_or(|levels| levels[row] > 0);
        if column.kind == Kind::Null {
            column.numbers.extend((0..rows).map(|_| f64::NAN));
            return Ok(());
        }
        let count = levels.as_ref().map_or(rows, |levels| levels.iter().filter(|&&level| level > 0).count());
        let encoded = Encoded { encoding, bytes, count };
        match there(self.decoded(&encoded, dictionary, &mut column.words))? {
            Decoded::Numbers(numbers) if numbers.len() == count => {
                let mut next = numbers.into_iter();
                let one = |row| if is_there(row) { next.next().unwrap_or(f64::NAN) } else { f64::NAN };
                column.numbers.extend((0..rows).map(one));
            }
            Decoded::Codes(codes) if codes.len() == count => {
                let mut next = codes.into_iter();
                column.words.codes.extend((0..rows).map(|row| if is_there(row) { next.next() } else { None }));
            }
            _ => return Err(Refused::contradiction()),
        }
        Ok(())
    }

    /// Values as they are encoded; `None` where the bytes are not those of so many.
    fn decoded(&mut self, values: &Encoded<'_>, dictionary: &Option<Decoded>, words: &mut Words) -> Option<Decoded> {
        let Encoded { encoding, bytes, count } = *values;
        let is_text = self.leaf.kind == Kind::Text;
        if count == 0 {
            return Some(if is_text { Decoded::Codes(Vec::new()) } else { Decoded::Numbers(Vec::new()) });
        }
        if [encoding::PLAIN_DICTIONARY, encoding::RLE_DICTIONARY].contains(&encoding) {
            let (&bits, bytes) = bytes.split_first()?;
            let places = runs(bytes, bits, count)?;
            let places = places.iter().map(|&place| place as usize);
            return Some(match dictionary.as_ref()? {
                Decoded::Numbers(known) => {
                    Decoded::Numbers(places.map(|at| known.get(at).copied()).collect::<Option<_>>()?)
                }
                Decoded::Codes(known) => {
                    Decoded::Codes(places.map(|at| known.get(at).copied()).collect::<Option<_>>()?)
                }
            });
        }
        if is_text {
            let found = self.words(values)?;
            let code = |word: Cow<'_, [u8]>| Some(words.code(std::str::from_utf8(&word).ok()?));
            return found.into_iter().map(code).collect::<Option<_>>().map(Decoded::Codes);
        }
        let mut numbers = Vec::new();
        numbers.try_reserve(count).ok()?;
        match (self.leaf.kind, encoding) {
            (Kind::Bool, encoding::PLAIN) => {
                let bits = bytes.get(..count.div_ceil(8))?;
                numbers.extend((0..count).map(|at| f64::from(bits[at / 8] >> (at % 8) & 1)));
            }
            (Kind::Bool, encoding::RLE) => {
                numbers.extend(runs(behind_length(bytes)?.0, 1, count)?.into_iter().map(f64::from));
            }
            (Kind::Integer { width, signed, meaning }, encoding::DELTA_BINARY_PACKED) => {
                let one = |value: i64| match (width, signed) {
                    (4, true) => meaning.number(i128::from(value as i32)),
                    (4, false) => f64::from(value as u32),
                    (_, true) => meaning.number(i128::from(value)),
                    (_, false) => value as u64 as f64,
                };
                numbers.extend(differences(bytes, count)?.0.into_iter().map(one));
            }
            (_, encoding::PLAIN | encoding::BYTE_STREAM_SPLIT) if self.leaf.width > 0 => {
                let bytes = bytes.get(..count.checked_mul(self.leaf.width)?)?;
                match encoding {
                    encoding::PLAIN => self.leaf.push_numbers(bytes, &mut numbers),
                    _ => self.leaf.push_numbers(&joined(bytes, self.leaf.width), &mut numbers),
                }
            }
            _ => self.words(values)?.iter().for_each(|word| self.leaf.push_numbers(word, &mut numbers)),
        }
        Some(Decoded::Numbers(numbers))
    }

    fn words<'p>(&mut self, values: &Encoded<'p>) -> Option<Vec<Cow<'p, [u8]>>> {
        let Encoded { encoding, bytes, count } = *values;
        let whole = |words: Vec<&'p [u8]>| words.into_iter().map(Cow::Borrowed).collect();
        match encoding {
            encoding::PLAIN => plain_words(bytes, count).map(whole),
            encoding::DELTA_LENGTH_BYTE_ARRAY => words_behind_lengths(bytes, count).map(whole),
            encoding::DELTA_BYTE_ARRAY => {
                let mut take = |length: usize| self.budget.take(length as u64).ok();
                let words = words_with_prefixes(bytes, count, &mut take)?;
                Some(words.into_iter().map(Cow::Owned).collect())
            }
            _ => None,
        }
    }
}

impl Leaf {
    /// Appends the numbers of values that lie one behind the other.
    fn push_numbers(&self, bytes: &[u8], out: &mut Vec<f64>) {
        match (self.physical, self.kind) {
            (physical::INT96, _) => {
                let (values, _) = bytes.as_chunks::<12>();
                let one = |value: &[u8; 12]| {
                    let [a, b, c] = [0, 4, 8].map(|at| u32::from_le_bytes([0, 1, 2, 3].map(|i| value[at + i])));
                    let (day, nanoseconds) = (i64::from(c) - JULIAN_1970, u64::from(b) << 32 | u64::from(a));
                    day as f64 + nanoseconds as f64 / 86_400e9
                };
                out.extend(values.iter().map(one));
            }
            (physical::BYTE_ARRAY | physical::FIXED, Kind::Integer { meaning: meaning @ Meaning::Decimal(_), .. }) => {
                // the high end first; of a variable length these bytes are one number
                let width = if self.width == 0 { bytes.len() } else { self.width };
                let one = |value: &[u8]| {
                    let sign = if value.first().is_some_and(|&byte| byte > 0x7f) { -1 } else { 0 };
                    meaning.number(value.iter().fold(sign, |number: i128, &byte| number << 8 | i128::from(byte)))
                };
                out.extend(bytes.chunks_exact(width.max(1)).map(one));
            }
            (_, kind) => kind.push_numbers(bytes, out),
        }
    }
}

/// Bytes with their length in front, and what follows them.
fn behind_length(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    rest.split_at_checked(u32::from_le_bytes(*length) as usize)
}
