//! The columns that a model expects, found in a file.

use std::collections::HashMap;

use super::Expected;
use super::columns::{MISSING_LEVEL, Part, Piece, Pieces};
use super::frame::{Body, Frame};
use crate::error::Error;
use crate::names::{counted, listed};
use crate::table::Values;

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
            // the indicators of a column lack it together
            None if absent.contains(&feature.column.as_str()) => {}
            None => absent.push(feature.column.as_str()),
        }
    }
    if absent.is_empty() {
        return Ok(places);
    }
    let (path, n) = (frame.path.display(), counted(absent.len(), "column"));
    let (list, all) = (absent.join(", "), listed(frame.names.iter().map(String::as_str)));
    Err(Error::Request(format!("{path} lacks {n} that the model needs: {list}. There are: {all}")))
}

/// The place of a column that has the name of its place: 6 for x7.
pub(crate) fn unnamed_place(name: &str) -> Option<usize> {
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
            (Some(level), Some(Values::Numbers(_))) if level == MISSING_LEVEL => Part::Level(None),
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
