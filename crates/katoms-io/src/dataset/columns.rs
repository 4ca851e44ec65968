//! Columns of a table → columns of a design: numbers as they are, categories as indicators.

use std::collections::{BTreeMap, HashMap};

use super::frame::{Body, Frame};
use super::rows::Scan;
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
}

impl Design<'_> {
    pub(super) fn pieces(&self, notes: &mut Vec<String>) -> Result<Pieces, Error> {
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

/// The columns of the frame that a model's features come from, one for each feature.
///
/// # Errors
/// When some are absent; all of them are named.
pub(super) fn matched(frame: &Frame, expected: &Expected) -> Result<Vec<usize>, Error> {
    let shift = unnamed_shift(frame, expected)?;
    let names: HashMap<&str, usize> = frame.names.iter().enumerate().map(|(i, name)| (name.as_str(), i)).collect();
    let (mut places, mut absent) = (Vec::new(), Vec::new());
    for feature in &expected.features {
        let place = match shift {
            Some(target) => unnamed_place(&feature.column).map(|p| p - usize::from(p > target)),
            None => names.get(feature.column.as_str()).copied(),
        };
        match place {
            Some(place) => places.push(place),
            None => absent.push(feature.column.as_str()),
        }
    }
    absent.dedup();
    if absent.is_empty() {
        return Ok(places);
    }
    let (path, n) = (frame.path.display(), counted(absent.len(), "column"));
    let (list, all) = (absent.join(", "), listed(frame.names.iter().map(String::as_str)));
    Err(Error::Request(format!("{path} lacks {n} that the model needs: {list}. There are: {all}")))
}

/// The place of a column that has the name of its place: 6 for x7.
fn unnamed_place(name: &str) -> Option<usize> {
    name.strip_prefix('x').and_then(|n| n.parse::<usize>().ok()).and_then(|n| n.checked_sub(1))
}

/// Where columns have no names: the place of the target that the model's file had and this one lacks.
fn unnamed_shift(frame: &Frame, expected: &Expected) -> Result<Option<usize>, Error> {
    let Some(wanted) = expected.unnamed_columns.filter(|_| !frame.is_named) else { return Ok(None) };
    let found = frame.names.len();
    if found == wanted {
        return Ok(None);
    }
    match expected.target.as_deref().and_then(unnamed_place) {
        Some(place) if found + 1 == wanted => Ok(Some(place)),
        _ => {
            let path = frame.path.display();
            let columns = counted(found, "column");
            let problem =
                format!("{path} has {columns} without names; the model was made from {wanted}, and needs as many");
            Err(Error::Request(problem))
        }
    }
}

/// The columns of a design for a model.
pub(super) fn expected_pieces(frame: &Frame, expected: &Expected, columns: &[usize]) -> Result<Pieces, Error> {
    let mut pieces = Vec::with_capacity(columns.len());
    for (feature, &column) in expected.features.iter().zip(columns) {
        let values = match &frame.body {
            Body::Columns(all) => all.get(column),
            Body::Numbers(_) => None,
        };
        let part = match (&feature.level, values) {
            (Some(level), Some(Values::Words { levels, .. })) => match levels.iter().position(|l| l == level) {
                Some(code) => Part::Level(Some(code as u32)),
                None if level == MISSING_LEVEL => Part::Level(None),
                None => Part::Nowhere,
            },
            (None, Some(Values::Words { levels, codes })) => {
                let is_word = |code: &Option<u32>| {
                    code.and_then(|c| levels.get(c as usize)).filter(|w| w.parse::<f64>().is_err())
                };
                let first = codes.iter().enumerate().find_map(|(row, code)| is_word(code).map(|word| (row, word)));
                let (row, word) = first.map_or((0, ""), |(row, word)| (row, word.as_str()));
                return Err(frame.error(
                    row,
                    column,
                    format!("\"{word}\", but the model needs numbers in this column"),
                ));
            }
            _ => Part::Numbers,
        };
        pieces.push(Piece { feature: feature.clone(), column, part });
    }
    Ok(Pieces { pieces, levels: expected.levels.clone() })
}

/// How many rows have a level that the fit did not see, column by column.
pub(super) fn note_unseen(frame: &Frame, made: &Pieces, rows: &[usize], notes: &mut Vec<String>) {
    for (name, seen) in &made.levels {
        let column = made.pieces.iter().find(|p| p.feature.column == *name).map(|p| p.column);
        let values = match &frame.body {
            Body::Columns(all) => column.and_then(|c| all.get(c)),
            Body::Numbers(_) => None,
        };
        let Some(Values::Words { levels, codes }) = values else { continue };
        let is_new = |code: &Option<u32>| match code.and_then(|c| levels.get(c as usize)) {
            Some(level) => !seen.contains(level),
            None => !seen.iter().any(|s| s == MISSING_LEVEL),
        };
        let new: Vec<&Option<u32>> = rows.iter().filter_map(|&r| codes.get(r)).filter(|c| is_new(c)).collect();
        if let Some(first) = new.first() {
            let level = first.and_then(|c| levels.get(c as usize)).map_or(MISSING_LEVEL, String::as_str);
            let rows = counted(new.len(), "row");
            notes.push(format!("{rows} with a level of {name} that the fit did not see, the first \"{level}\": taken as none of the model's levels"));
        }
    }
}

/// The mean of each piece over some rows, of what is not missing.
///
/// # Errors
/// When a column has no value at all.
pub(super) fn means(frame: &Frame, pieces: &[Piece], rows: &[usize]) -> Result<Vec<f64>, Error> {
    pieces.iter().map(|piece| mean(frame, piece, rows)).collect()
}

fn mean(frame: &Frame, piece: &Piece, rows: &[usize]) -> Result<f64, Error> {
    let (mut sum, mut n) = (0.0, 0_usize);
    let mut add = |v: f64| {
        if !v.is_nan() {
            sum += v;
            n += 1;
        }
    };
    match &frame.body {
        Body::Columns(all) => match (all.get(piece.column), piece.part) {
            (Some(Values::Numbers(numbers)), _) => rows.iter().filter_map(|&r| numbers.get(r)).for_each(|&v| add(v)),
            (Some(Values::Words { codes, .. }), Part::Level(level)) => {
                rows.iter().filter_map(|&r| codes.get(r)).for_each(|&c| add(f64::from(u8::from(c == level))));
            }
            _ => add(0.0),
        },
        Body::Numbers(storage) => {
            let values = storage.column(piece.column);
            rows.iter().filter_map(|&r| values.get(r)).for_each(|&v| add(v));
        }
    }
    if n > 0 {
        return Ok(sum / n as f64);
    }
    let (path, name) = (frame.path.display(), frame.name(piece.column));
    Err(Error::Request(format!(
        "{path}: column \"{name}\" has no value at all, so no mean; leave it out (--drop {name})"
    )))
}

/// Whether a word can be missing without a loss: it is then a level of its own.
pub(super) fn replaces(scan: &Scan, missing: Missing) -> bool {
    missing == Missing::Mean && scan.counts.iter().any(|&n| n > 0)
}
