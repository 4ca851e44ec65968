//! What becomes of a column of text: its values, how they were read, and what is wrong with it.

use std::collections::BTreeMap;

use super::number::WrittenNumber;
use super::text_column::{Kind, Reading, TextColumn};
use crate::column_format::{ColumnFormat, DateFormat, DateOrder, Decimal, NumberFormat, currency_code};
use crate::day::Day;
use crate::format::words;
use crate::names::counted;
use crate::problem::{Problem, quoted, shell_word};
use crate::table::Values;

/// The words that a message names.
const NAMED: usize = 5;

/// Which of the two ways of writing a column has, and who says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// Its cells, or others of the file.
    Found(usize),
    /// A person: every cell must agree.
    Given(usize),
    /// Nobody: the word that may be either.
    Open(usize),
}

/// What became of a column.
#[derive(Debug)]
pub(super) struct Resolved {
    pub(super) values: Values,
    pub(super) format: Option<ColumnFormat>,
    pub(super) problems: Vec<Problem>,
    /// The only row that has something else than the others, and what.
    pub(super) only_slip: Option<(usize, String)>,
}

impl Resolved {
    /// A column about which there is nothing to tell.
    pub(super) fn of(values: Values) -> Self {
        Self { values, format: None, problems: Vec::new(), only_slip: None }
    }
}

/// A column and where it is.
pub(super) struct Place<'p> {
    pub(super) column: usize,
    pub(super) name: &'p str,
    pub(super) lines: &'p [u64],
}

impl Place<'_> {
    fn at(&self, row: usize) -> String {
        let line = self.lines.get(row).copied().unwrap_or_default();
        format!("line {line}, column {} ({})", self.column + 1, self.name)
    }

    fn problem(&self, row: usize, problem: String) -> Problem {
        Problem::of_column(self.column, self.at(row), problem)
    }
}

/// The column as words; what is missing in any column is missing.
pub(super) fn as_words(text: TextColumn) -> Values {
    let is_missing = |code: usize| matches!(text.readings.get(code), Some(Reading::Missing));
    words::sorted(text.words, &text.codes, is_missing)
}

/// The column as what it holds.
pub(super) fn resolve(text: TextColumn, way: Way, place: &Place<'_>) -> Resolved {
    if text.kind == Kind::Words {
        return Resolved::of(as_words(text));
    }
    let chosen = match way {
        Way::Found(way) | Way::Given(way) => way,
        Way::Open(_) => 0,
    };
    let column = Column { text: &text, way, chosen, place };
    let slips = column.slips();
    let only_slip = match slips.as_slice() {
        &[code] if text.counts.get(code) == Some(&1) => {
            text.first_rows.get(code).copied().zip(text.words.get(code).cloned())
        }
        _ => None,
    };
    let problems = [column.open(), column.slip_problem(&slips), column.mixed()].into_iter().flatten().collect();
    let numbers: Vec<f64> = text.readings.iter().map(|r| r.values(text.kind)[chosen].unwrap_or(f64::NAN)).collect();
    let (format, origin) = match text.kind {
        Kind::Dates => column.date_format(&numbers),
        _ => (column.number_format(), 0.0),
    };
    let number = |code: &Option<u32>| code.and_then(|code| numbers.get(code as usize)).map_or(f64::NAN, |v| v - origin);
    Resolved { values: Values::Numbers(text.codes.iter().map(number).collect()), format, problems, only_slip }
}

/// A column of numbers or dates, and the way that was chosen.
struct Column<'c> {
    text: &'c TextColumn,
    way: Way,
    chosen: usize,
    place: &'c Place<'c>,
}

impl Column<'_> {
    fn row_of(&self, code: usize) -> usize {
        self.text.first_rows.get(code).copied().unwrap_or_default()
    }

    fn word(&self, code: usize) -> &str {
        self.text.words.get(code).map_or("", String::as_str)
    }

    /// The words that cannot be read, in the order of their rows.
    fn slips(&self) -> Vec<usize> {
        let is_missing = |reading: &Reading| matches!(reading, Reading::Missing | Reading::MissingNumber);
        let bad = self.text.each().filter(|(_, _, reading)| !is_missing(reading));
        bad.filter(|(_, _, r)| r.values(self.text.kind)[self.chosen].is_none()).map(|(code, ..)| code).collect()
    }

    /// Numbers or dates, in the way that was chosen where that matters to one of these words.
    fn noun(&self, slips: &[usize]) -> String {
        let other = 1 - self.chosen;
        let matters =
            |&code: &usize| self.text.readings.get(code).is_some_and(|r| r.values(self.text.kind)[other].is_some());
        let how = match (self.text.kind, self.chosen, slips.iter().any(matters)) {
            (_, _, false) => "",
            (Kind::Dates, 0, true) => " with the day first",
            (Kind::Dates, _, true) => " with the month first",
            (_, 0, true) => " with a decimal point",
            (_, _, true) => " with a decimal comma",
        };
        format!("{}{how}", if self.text.kind == Kind::Dates { "dates" } else { "numbers" })
    }

    /// Words among numbers or dates.
    fn slip_problem(&self, slips: &[usize]) -> Option<Problem> {
        let row = self.row_of(*slips.first()?);
        let count = |code: usize| self.text.counts.get(code).copied().unwrap_or_default();
        let named = |&code: &usize| match count(code) {
            1 => quoted(self.word(code)),
            n => format!("{} ({n} times)", quoted(self.word(code))),
        };
        let list: Vec<String> = slips.iter().take(NAMED).map(named).collect();
        let more = slips.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {} more", counted(more, "other word")) } else { String::new() };
        let cells: usize = slips.iter().map(|&code| count(code)).sum();
        let readable: usize = self
            .text
            .each()
            .filter(|(_, _, r)| r.values(self.text.kind)[self.chosen].is_some())
            .map(|(_, n, _)| n)
            .sum();
        let among = match readable {
            1 => format!("1 {}", self.noun(slips).replacen("numbers", "number", 1).replacen("dates", "date", 1)),
            n => format!("{n} {}", self.noun(slips)),
        };
        let given = if matches!(self.way, Way::Given(_)) { ", as was said" } else { "" };
        let it = if cells == 1 { "it" } else { "them" };
        let markers: Vec<&str> = slips.iter().take(NAMED).map(|&code| self.word(code)).collect();
        let (markers, name) = (shell_word(&markers.join(",")), shell_word(self.place.name));
        Some(self.place.problem(
            row,
            format!(
                "{}{more} among {among}{given}; correct {it}, or say --na-values {markers} (missing) or --categorical \
                 {name} (categories)",
                list.join(", ")
            ),
        ))
    }

    /// A cell that may be one of two things, where nothing decides.
    fn open(&self) -> Option<Problem> {
        let Way::Open(code) = self.way else { return None };
        let values = self.text.readings.get(code)?.values(self.text.kind);
        let [Some(first), Some(second)] = values else { return None };
        let word = quoted(self.word(code));
        let problem = match self.text.kind {
            Kind::Dates => {
                let day = |days: f64| Day::from_number(days.floor() as i64).map(|d| d.to_string()).unwrap_or_default();
                let (dmy, mdy) = (day(first), day(second));
                format!("{word} may be {dmy} or {mdy}, and no cell decides; say --date-order dmy or --date-order mdy")
            }
            _ => format!(
                "{word} may be {first} or {second}, and no cell decides; say --decimal . or --decimal , for the \
                 decimal mark"
            ),
        };
        Some(self.place.problem(self.row_of(code), problem))
    }

    /// Cells that do not go together.
    fn mixed(&self) -> Option<Problem> {
        // 0 is 0 with a mark and without
        let number = |reading: &Reading, is_marked: fn(&WrittenNumber) -> bool| match reading {
            Reading::Number(n) if n.values[self.chosen].is_some_and(|v| v != 0.0) => Some(is_marked(n)),
            _ => None,
        };
        let offset = |reading: &Reading| match reading {
            Reading::Date(date) => Some(date.has_offset),
            _ => None,
        };
        if self.text.kind == Kind::Dates {
            return self.unlike(offset, ["an offset from UTC", "time", "2024-01-31T17:30Z"]);
        }
        let percents = || self.unlike(|r| number(r, |n| n.is_percent), ["a percent sign", "number", "12 %"]);
        let times = || self.unlike(|r| number(r, |n| n.is_time), ["a colon", "number", "10:30"]);
        self.mixed_currencies().or_else(percents).or_else(times)
    }

    /// Cells of which some have a mark and some have not.
    fn unlike(&self, has: impl Fn(&Reading) -> Option<bool>, [mark, noun, such]: [&str; 3]) -> Option<Problem> {
        let [(with, n_with), (without, n_without)] = self.parted(has)?;
        let (odd, verb) = if n_with >= n_without { (without, "lacks") } else { (with, "has") };
        let (word, cells) = (quoted(self.word(odd)), counted(n_with, noun));
        let problem = format!(
            "{word} {verb} {mark}; {cells} with one and {n_without} without: write all cells alike, such as {such}"
        );
        Some(self.place.problem(self.row_of(odd), problem))
    }

    /// The first words and the counts of cells that have something and of those that have not.
    fn parted(&self, has: impl Fn(&Reading) -> Option<bool>) -> Option<[(usize, usize); 2]> {
        let mut sides: [Option<(usize, usize)>; 2] = [None; 2];
        for (code, count, reading) in self.text.each() {
            if let Some(has) = has(reading) {
                let side = sides.get_mut(usize::from(!has))?;
                *side = Some(side.map_or((code, count), |(first, n)| (first, n + count)));
            }
        }
        sides[0].zip(sides[1]).map(|(a, b)| [a, b])
    }

    fn mixed_currencies(&self) -> Option<Problem> {
        fn currency(reading: &Reading) -> Option<&str> {
            match reading {
                Reading::Number(number) => number.currency.as_deref().map(currency_code),
                _ => None,
            }
        }
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for (_, count, reading) in self.text.each() {
            currency(reading).into_iter().for_each(|sign| *counts.entry(sign).or_default() += count);
        }
        let (usual, _) = counts.iter().max_by_key(|(_, count)| **count)?;
        let odd = self.text.each().find(|(_, _, reading)| currency(reading).is_some_and(|sign| sign != *usual));
        let (code, ..) = odd?;
        let (word, usual) = (quoted(self.word(code)), quoted(usual));
        let problem = format!("{word} is in another currency than others, which are in {usual}; convert them to one");
        Some(self.place.problem(self.row_of(code), problem))
    }

    /// How the numbers were read, where they are not plain.
    fn number_format(&self) -> Option<ColumnFormat> {
        let mut format = NumberFormat::default();
        for (_, _, reading) in self.text.each() {
            let Reading::Number(number) = reading else { continue };
            let is_plain = number.is_plain && (self.chosen == 0 || number.values[0] == number.values[1]);
            if is_plain || number.values[self.chosen].is_none() {
                continue;
            }
            if self.chosen == 1 && number.values[0] != number.values[1] {
                format.decimal = Decimal::Comma;
            }
            format.thousands |= number.has_groups[self.chosen];
            format.percent |= number.is_percent;
            format.time |= number.is_time;
            format.parentheses |= number.in_parentheses;
            format.currency = format.currency.or_else(|| number.currency.clone());
        }
        (format != NumberFormat::default()).then_some(ColumnFormat::Numbers(format))
    }

    /// How the dates were read, and the day that they are counted from: the earliest.
    fn date_format(&self, days: &[f64]) -> (Option<ColumnFormat>, f64) {
        let first = days.iter().copied().filter(|v| !v.is_nan()).fold(f64::INFINITY, f64::min).floor();
        let Some(origin) = Day::from_number(first as i64) else { return (None, 0.0) };
        let differ = |r: &Reading| r.values(Kind::Dates)[0] != r.values(Kind::Dates)[1];
        let orders = [DateOrder::Dmy, DateOrder::Mdy];
        let order = self.text.readings.iter().any(differ).then(|| orders.get(self.chosen).copied()).flatten();
        (Some(ColumnFormat::Dates(DateFormat { origin, order })), first)
    }
}
