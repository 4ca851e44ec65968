//! Columns of a table → columns of a design: numbers as they are, categories as indicators.

use std::collections::BTreeMap;

use super::frame::{Body, Frame};
use super::matching::{expected_pieces, note_unseen};
use super::{Ask, Expected, Feature, Missing};
use crate::error::Error;
use crate::names::{Names, counted, listed};
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
    distinct.sort_by(f64::total_cmp);
    distinct.dedup();
    let code = |v: &f64| distinct.binary_search_by(|d| d.total_cmp(&(v + 0.0))).ok().map(|c| c as u32);
    let codes = numbers.iter().map(code).collect();
    *values = Values::Words { levels: distinct.iter().map(f64::to_string).collect(), codes };
}

fn number(frame: &Frame, column: usize) -> Piece {
    let name = frame.name(column).to_owned();
    Piece { feature: Feature { column: name.clone(), name, level: None }, column, part: Part::Numbers }
}

fn indicator(column_name: &str, column: usize, level: &str, part: Part) -> Piece {
    let feature =
        Feature { name: format!("{column_name}={level}"), column: column_name.into(), level: Some(level.into()) };
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
    /// The columns, made or found; there is at least one.
    pub(super) fn pieces(&self, notes: &mut Vec<String>) -> Result<Pieces, Error> {
        let made = match self.expected {
            Some(expected) => expected_pieces(self.frame, expected, self.columns)?,
            None => self.made(notes)?,
        };
        if made.pieces.is_empty() && self.expected.is_none() {
            let path = self.frame.path.display();
            return Err(Error::Request(format!("{path}: no column is left to make a model of")));
        }
        if self.expected.is_some() {
            note_unseen(self.frame, &made, self.rows, notes);
        }
        Ok(made)
    }

    /// What takes the place of missing values, where means do.
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
        made.pieces.iter().zip(sums).map(|(piece, sum)| self.mean(piece, sum)).collect::<Result<_, _>>().map(Some)
    }

    /// The mean of a piece, of its sum and how many values it has.
    ///
    /// # Errors
    /// When it has none, or they add up to no number.
    fn mean(&self, piece: &Piece, (sum, n): (f64, usize)) -> Result<f64, Error> {
        let (path, name) = (self.frame.path.display(), self.frame.name(piece.column));
        if n > 0 && sum.is_finite() {
            return Ok(sum / n as f64);
        }
        if n > 0 {
            return Err(Error::Request(format!(
                "{path}: the values of column \"{name}\" add up to no number in double precision, so there is no mean; \
                 multiply it by 1e-10, or leave rows without it out (--missing drop)"
            )));
        }
        Err(Error::Request(format!(
            "{path}: column \"{name}\" has no value at all, so no mean; leave it out (--drop {name})"
        )))
    }

    fn made(&self, notes: &mut Vec<String>) -> Result<Pieces, Error> {
        let mut made = Pieces { pieces: Vec::with_capacity(self.columns.len()), levels: BTreeMap::new() };
        let (mut categorical, mut constant) = (Vec::new(), Vec::new());
        for &column in self.columns {
            let name = self.frame.name(column);
            let words = match &self.frame.body {
                Body::Columns(all) => all.get(column),
                Body::Numbers(_) => None,
            };
            let Some(Values::Words { levels, codes }) = words else {
                made.pieces.push(number(self.frame, column));
                continue;
            };
            let found = present(levels, codes, self.rows);
            self.check_levels(column, &found)?;
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
        Ok(made)
    }

    /// Refuses what is most likely an identifier.
    fn check_levels(&self, column: usize, found: &[(&str, Option<u32>)]) -> Result<(), Error> {
        let (name, n, rows) = (self.frame.name(column), found.len(), self.rows.len());
        let meant = || Names::new(self.frame.names.iter().map(String::as_str));
        let many = n > MANY_LEVELS || (2 * n > rows && n > FEW_LEVELS);
        if !many || self.ask.categorical.iter().any(|c| meant().find(c) == Some(column)) {
            return Ok(());
        }
        let numbers = found.iter().filter(|(level, _)| level.parse::<f64>().is_ok()).count();
        let first_word = found.iter().find(|(level, _)| level.parse::<f64>().is_err());
        let hint = match first_word {
            Some((word, _)) if numbers * 2 > n => format!("most are numbers, but \"{word}\" is not"),
            _ => "most likely an identifier".into(),
        };
        Err(Error::Content {
            path: self.frame.path.clone(),
            place: format!(", column {} ({name})", column + 1),
            problem: format!(
                "{n} different words in {}: {hint}; leave it out (--drop {name}), or say that it holds categories \
                 (--categorical {name})",
                counted(rows, "row")
            ),
        })
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
