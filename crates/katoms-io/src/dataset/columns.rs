//! Columns of a table → columns of a design: numbers as they are, categories as indicators.

use std::collections::{BTreeMap, BTreeSet};

use super::frame::{Body, Frame};
use super::types::{Ask, Expected, Feature, Missing};
use crate::day::Day;
use crate::error::Error;
use crate::names::{Names, counted, listed};
use crate::problem::{Problem, quoted, shell_word};
use crate::table::Values;

/// A column with more levels than this is most likely an identifier.
const MANY_LEVELS: usize = 100;
/// A column with no more levels than this is not taken for one, however short the table.
const FEW_LEVELS: usize = 3;
/// The level of a missing word.
pub(super) const MISSING_LEVEL: &str = "(missing)";

/// A column of the design.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    pub(super) feature: Feature,
    /// The column of the frame.
    pub(super) column: usize,
    pub(super) part: Part,
}

/// What of a column it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Numbers,
    /// 1 where the column has this level; `None`: where it is missing.
    Level(Option<u32>),
    /// A level that no row has.
    Nowhere,
}

/// The columns of a design.
pub(super) struct Pieces {
    pub(super) pieces: Vec<Piece>,
    pub(super) levels: BTreeMap<String, Vec<String>>,
}

/// Turns numbers that are categories into words.
pub(super) fn into_words(values: &mut Values) {
    let Values::Numbers(numbers) = values else { return };
    let mut distinct: Vec<f64> = numbers.iter().map(|v| v + 0.0).filter(|v| !v.is_nan()).collect();
    distinct.sort_unstable_by(f64::total_cmp);
    distinct.dedup();
    let code = |v: &f64| distinct.binary_search_by(|d| d.total_cmp(&(v + 0.0))).ok().map(|c| c as u32);
    let codes = numbers.iter().map(code).collect();
    *values = Values::Words { levels: distinct.iter().map(f64::to_string).collect(), codes };
}

/// Turns days since an origin that are categories into words: `2024-01-31`, with a time `2024-01-31 17:30:00`.
pub(super) fn into_date_words(values: &mut Values, origin: Day) {
    let Values::Numbers(days) = values else { return };
    let text = |days: f64| {
        let seconds = ((days - days.floor()) * 86_400.0).round() as i64;
        let day = Day::from_number(origin.number() + days.floor() as i64).map(|d| d.to_string()).unwrap_or_default();
        match seconds {
            0 => day,
            s => format!("{day} {:02}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60),
        }
    };
    let texts: Vec<Option<String>> = days.iter().map(|&v| (!v.is_nan()).then(|| text(v))).collect();
    let levels: BTreeSet<&String> = texts.iter().flatten().collect();
    let places: BTreeMap<&String, u32> = levels.iter().copied().zip(0..).collect();
    let codes = texts.iter().map(|t| t.as_ref().and_then(|t| places.get(t).copied())).collect();
    *values = Values::Words { levels: levels.into_iter().cloned().collect(), codes };
}

fn number(frame: &Frame, column: usize) -> Piece {
    let (name, column_name) = (frame.name(column), frame.name(column).to_owned());
    let name = frame.alleles.get(column).map_or_else(|| name.to_owned(), |[counted, _]| format!("{name}_{counted}"));
    Piece {
        feature: Feature { column: column_name, name, level: None, factors: Vec::new() },
        column,
        part: Part::Numbers,
    }
}

fn indicator(column_name: &str, column: usize, level: &str, part: Part) -> Piece {
    let feature = Feature {
        name: format!("{column_name}={level}"),
        column: column_name.into(),
        level: Some(level.into()),
        factors: Vec::new(),
    };
    Piece { feature, column, part }
}

/// The columns of a design for a fit.
pub(super) struct Design<'d> {
    pub(super) frame: &'d Frame,
    pub(super) columns: &'d [usize],
    pub(super) rows: &'d [usize],
    pub(super) ask: &'d Ask,
    /// What a model expects; `None` for a fit.
    pub(super) expected: Option<&'d Expected>,
}

impl Design<'_> {
    /// What takes the place of missing values, where means do.
    ///
    pub(super) fn means(&self, made: &Pieces) -> Result<Option<Vec<f64>>, Error> {
        if self.ask.missing != Missing::Mean {
            return Ok(None);
        }
        if let Some(means) = self.expected.and_then(|e| e.means.as_ref()) {
            return Ok(Some(means.clone()));
        }
        let sums: Vec<(f64, usize)> = match &self.frame.body {
            Body::Columns(all) => made.pieces.iter().map(|piece| sum(all, piece, self.rows)).collect(),
            Body::Numbers(storage) => {
                let sums = storage.sums(self.rows);
                made.pieces.iter().map(|piece| sums.get(piece.column).copied().unwrap_or_default()).collect()
            }
        };
        // A variant without genotypes is a constant like any other.
        let is_variant = |piece: &Piece| self.frame.alleles.get(piece.column).is_some();
        let mut empty: Vec<&str> = (made.pieces.iter().zip(&sums))
            .filter(|(piece, (_, n))| *n == 0 && !is_variant(piece))
            .map(|(piece, _)| self.frame.name(piece.column))
            .collect();
        empty.dedup();
        if !empty.is_empty() {
            let (path, columns) = (self.frame.path.display(), counted(empty.len(), "column"));
            let (list, names) = (listed(empty.iter().copied()), shell_word(&empty.join(",")));
            return Err(Error::Request(format!(
                "{path}: {columns} without any value, so without a mean: {list}; leave out what is empty (--drop {names})"
            )));
        }
        made.pieces.iter().zip(sums).map(|(piece, sum)| self.mean(piece, sum)).collect::<Result<_, _>>().map(Some)
    }

    /// The mean of a piece, of its sum and how many values it has.
    ///
    fn mean(&self, piece: &Piece, (sum, n): (f64, usize)) -> Result<f64, Error> {
        if sum.is_finite() {
            return Ok(sum / n.max(1) as f64);
        }
        let (path, name) = (self.frame.path.display(), self.frame.name(piece.column));
        Err(Error::Request(format!(
            "{path}: the values of column \"{name}\" add up to no number in double precision, so there is no mean; \
             multiply it by 1e-10, or leave rows without it out (--missing drop)"
        )))
    }

    /// The columns for a fit.
    pub(super) fn made(&self, notes: &mut Vec<String>, problems: &mut Vec<Problem>) -> Pieces {
        let mut made = Pieces { pieces: Vec::with_capacity(self.columns.len()), levels: BTreeMap::new() };
        let (mut categorical, mut constant) = (Vec::new(), Vec::new());
        for &column in self.columns {
            let name = self.frame.name(column);
            let Some(Values::Words { levels, codes }) = self.frame.values(column) else {
                made.pieces.push(number(self.frame, column));
                continue;
            };
            let found = present(levels, codes, self.rows);
            if let Some(problem) = self.too_many_levels(column, &found) {
                problems.push(problem);
                continue;
            }
            let Some(((reference, _), others)) = found.split_first().filter(|(_, others)| !others.is_empty()) else {
                constant.push(name);
                continue;
            };
            categorical.push(format!("{name} ({}, against {reference})", counted(found.len(), "level")));
            made.levels.insert(name.into(), found.iter().map(|(level, _)| (*level).into()).collect());
            made.pieces.extend(others.iter().map(|(level, code)| indicator(name, column, level, Part::Level(*code))));
        }
        if !categorical.is_empty() {
            let list = listed(categorical.iter().map(String::as_str));
            notes.push(format!("indicators for {}: {list}", counted(categorical.len(), "categorical column")));
        }
        if !constant.is_empty() {
            let list = listed(constant.iter().copied());
            notes.push(format!("{} of a single word left out: {list}", counted(constant.len(), "column")));
        }
        made
    }

    /// What is most likely an identifier, or numbers in a way of writing that is not known.
    fn too_many_levels(&self, column: usize, found: &[(&str, Option<u32>)]) -> Option<Problem> {
        let (n, rows) = (found.len(), self.rows.len());
        let names = Names::new(self.frame.names.iter().map(String::as_str));
        let many = n > MANY_LEVELS || (2 * n > rows && n > FEW_LEVELS);
        if !many || self.ask.categorical.iter().any(|list| names.find_list(list).contains(&column)) {
            return None;
        }
        let (name, words) =
            (shell_word(self.frame.name(column)), format!("{n} different words in {}", counted(rows, "row")));
        let is_numeric = |level: &&str| level.starts_with(|c: char| c.is_ascii_digit());
        let mut numeric = found.iter().map(|(level, _)| *level).filter(is_numeric);
        let problem = if let Some(level) = numeric.next()
            && 2 * (1 + numeric.count()) > n
        {
            format!(
                "{words}, such as {}: numbers in a form that is not known? Write plain numbers (a unit belongs in the \
                 header); if they are categories, say --categorical {name}, if they name the rows, --drop {name}",
                quoted(level)
            )
        } else {
            format!(
                "{words}: most likely an identifier; leave it out (--drop {name}), or say that it holds categories \
                 (--categorical {name})"
            )
        };
        Some(self.frame.problem(column, problem))
    }
}

/// The levels that some rows have, sorted, a missing one last.
fn present<'l>(levels: &'l [String], codes: &[Option<u32>], rows: &[usize]) -> Vec<(&'l str, Option<u32>)> {
    let mut is_present = vec![false; levels.len()];
    let mut is_missing = false;
    for code in rows.iter().filter_map(|&row| codes.get(row)) {
        match code {
            Some(code) => is_present.get_mut(*code as usize).iter_mut().for_each(|p| **p = true),
            None => is_missing = true,
        }
    }
    let all = levels.iter().zip(is_present).enumerate().filter(|(_, (_, p))| *p);
    let mut found: Vec<_> = all.map(|(code, (level, _))| (level.as_str(), Some(code as u32))).collect();
    if is_missing {
        found.push((MISSING_LEVEL, None));
    }
    found
}

/// The sum of a piece over some rows, of what is not missing, and how many values that are.
fn sum(all: &[Values], piece: &Piece, rows: &[usize]) -> (f64, usize) {
    let (mut sum, mut n) = (0.0, 0_usize);
    let mut add = |v: f64| {
        if !v.is_nan() {
            sum += v;
            n += 1;
        }
    };
    match (all.get(piece.column), piece.part) {
        (Some(Values::Numbers(numbers)), _) => rows.iter().filter_map(|&r| numbers.get(r)).for_each(|&v| add(v)),
        (Some(Values::Words { codes, .. }), Part::Level(level)) => {
            rows.iter().filter_map(|&r| codes.get(r)).for_each(|&c| add(f64::from(u8::from(c == level))));
        }
        _ => add(0.0),
    }
    (sum, n)
}
