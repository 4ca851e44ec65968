//! A column of text, looked at as a whole: numbers in some way of writing, dates, or words.

use super::cell::{self, Named};
use super::date::{self, WrittenDate};
use super::number::{self, WrittenNumber};
use crate::format::words::Words;

/// Of the cells of a column of numbers, one in this many may be a slip. A single one always may.
const SLIPS: usize = 10;
/// A column that is mostly numbers, and of more different ones than these, is no list of categories such as 0, 1, 2,
/// 3+: its words are slips or stand for missing values, however many there are. A scale from 0 to 10 has fewer.
const FEW_NUMBERS: usize = 12;

/// What a word may be.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Reading {
    /// Missing in any column.
    Missing,
    /// Missing in a column of numbers or dates, a word elsewhere.
    MissingNumber,
    Number(WrittenNumber),
    Date(WrittenDate),
    Text,
}

impl Reading {
    fn of(word: &str, named: &Named) -> Self {
        let bytes = word.as_bytes();
        if cell::is_missing(bytes) || named.has(bytes) {
            return Self::Missing;
        }
        if cell::is_missing_number(bytes) {
            return Self::MissingNumber;
        }
        let number = number::written(word).map(Self::Number);
        number.or_else(|| date::written(word).map(Self::Date)).unwrap_or(Self::Text)
    }

    /// What it is in a column of this kind, if the first or if the second of two ways is the column's.
    pub(super) fn values(&self, kind: Kind) -> [Option<f64>; 2] {
        match (self, kind) {
            (Self::Number(number), Kind::Numbers) => number.values,
            (Self::Date(date), Kind::Dates) => date.days,
            _ => [None; 2],
        }
    }
}

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The two ways: a decimal point, a decimal comma.
    Numbers,
    /// The two ways: the day first, the month first.
    Dates,
    Words,
}

/// What the cells of a column say about which of two ways of writing it has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Evidence {
    /// The cells that can be read in this way only.
    pub(super) only: [usize; 2],
    /// The first word that is something else in either way. A plain number is such a word only among others that make
    /// thousands likely.
    pub(super) open: Option<usize>,
}

impl Evidence {
    /// The way that most of those cells say that can be read in one way only.
    pub(super) fn way(&self) -> Option<usize> {
        match self.only {
            [0, 0] => None,
            [first, second] => Some(usize::from(second > first)),
        }
    }
}

/// A column of text.
#[derive(Debug)]
pub(super) struct TextColumn {
    pub(super) words: Vec<String>,
    /// For each row its word; `None` where the cell is empty.
    pub(super) codes: Vec<Option<u32>>,
    pub(super) first_rows: Vec<usize>,
    /// How many rows have each word.
    pub(super) counts: Vec<usize>,
    pub(super) readings: Vec<Reading>,
    pub(super) kind: Kind,
}

impl TextColumn {
    pub(super) fn new(mut words: Words, rows: usize, named: &Named) -> Self {
        let texts = words.in_order();
        let Words { mut codes, first_rows, .. } = words;
        codes.truncate(rows);
        let mut counts = vec![0; texts.len()];
        for code in codes.iter().flatten() {
            counts.get_mut(*code as usize).into_iter().for_each(|count| *count += 1);
        }
        let readings: Vec<Reading> = texts.iter().map(|word| Reading::of(word, named)).collect();
        let mut column = Self { words: texts, codes, first_rows, counts, readings, kind: Kind::Words };
        column.kind = column.natural_kind();
        column
    }

    /// Each word by its code: how many rows have it, and what it may be.
    pub(super) fn each(&self) -> impl Iterator<Item = (usize, usize, &Reading)> {
        self.counts.iter().zip(&self.readings).enumerate().map(|(code, (&count, reading))| (code, count, reading))
    }

    /// Numbers or dates where all cells are, or so many that the others are slips.
    fn natural_kind(&self) -> Kind {
        // cells and different words of each kind
        let [mut numbers, mut dates, mut texts] = [[0, 0]; 3];
        for (_, count, reading) in self.each() {
            let [cells, different] = match reading {
                Reading::Number(_) => &mut numbers,
                Reading::Date(_) => &mut dates,
                Reading::Text => &mut texts,
                Reading::Missing | Reading::MissingNumber => continue,
            };
            *cells += count;
            *different += 1;
        }
        let (kind, [readable, different]) =
            if numbers[0] >= dates[0] { (Kind::Numbers, numbers) } else { (Kind::Dates, dates) };
        let [present, words] = [0, 1].map(|i| numbers[i] + dates[i] + texts[i]);
        let others = present - readable;
        let are_slips = others <= (present / SLIPS).max(1) && readable >= 2;
        let is_mostly = different > FEW_NUMBERS && (2 * readable > present || 2 * different > words);
        if readable > 0 && (others == 0 || are_slips || is_mostly) { kind } else { Kind::Words }
    }

    pub(super) fn evidence(&self) -> Evidence {
        let mut evidence = Evidence::default();
        // plain numbers that may have thousands in them (1.234), and those that are below a thousand either way (950)
        let (mut with_point, mut below) = (None, Some(0));
        for (code, count, reading) in self.each() {
            let is_plain = matches!(reading, Reading::Number(number) if number.is_plain);
            match reading.values(self.kind) {
                [Some(_), None] => evidence.only[0] += count,
                [None, Some(_)] => evidence.only[1] += count,
                [Some(first), Some(second)] if first != second => {
                    (if is_plain { &mut with_point } else { &mut evidence.open }).get_or_insert(code);
                }
                [Some(number), _] if number.abs() >= 1000.0 => below = None,
                [Some(number), _] if number != 0.0 => below = below.map(|n| n + count),
                _ => {}
            }
        }
        // Who writes all decimals writes 950.000, and who writes none that are 0 has others than three somewhere.
        evidence.open = evidence.open.or(with_point.filter(|_| below.is_some_and(|n| n > 0)));
        evidence
    }
}

/// Whether plain numbers may have thousands in them: some are 1.234, some 950, none is 1.2345, 0.123 or 1950.
pub(super) fn may_have_thousands(numbers: &[f64]) -> bool {
    let [mut with_point, mut below] = [false; 2];
    for number in numbers.iter().map(|v| v.abs()).filter(|&v| v > 0.0) {
        let thousands = number * 1000.0;
        let has_three_decimals = (thousands - thousands.round()).abs() <= 1e-9 * thousands;
        if !(1.0..1000.0).contains(&number) || !has_three_decimals {
            return false;
        }
        *(if number.fract() == 0.0 { &mut below } else { &mut with_point }) = true;
    }
    with_point && below
}
