//! The columns that a model expects, found in a file.

use std::collections::HashMap;

use super::columns::{Design, MISSING_LEVEL, Part, Piece, Pieces};
use super::frame::{Body, Frame};
use super::types::Expected;
use crate::column_format::{ColumnFormat, DateFormat, NumberFormat, currency_code};
use crate::error::Error;
use crate::names::{counted, listed};
use crate::problem::{Problem, quoted};
use crate::table::Values;

/// The columns of the frame that a model's features come from, one for each feature.
pub(super) fn matched(frame: &Frame, expected: &Expected) -> Result<Vec<usize>, Error> {
    let shift = unnamed_shift(frame, expected)?;
    let names: HashMap<&str, usize> = frame.names.iter().enumerate().map(|(i, name)| (name.as_str(), i)).collect();
    let (mut places, mut absent) = (Vec::new(), Vec::new());
    for feature in &expected.features {
        let place = match &shift {
            Some(targets) => unnamed_place(&feature.column).map(|place| moved_up(place, targets)),
            // `plink --recode A` writes tables whose columns are called like the features of its genotypes
            None => names.get(feature.column.as_str()).or_else(|| names.get(feature.name.as_str())).copied(),
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

/// The place of a column in a file that lacks the targets at these places.
pub(crate) fn moved_up(place: usize, targets: &[usize]) -> usize {
    place - targets.iter().filter(|&&target| target < place).count()
}

/// Where columns have no names: the places of the targets that the model's file had and this one lacks.
fn unnamed_shift(frame: &Frame, expected: &Expected) -> Result<Option<Vec<usize>>, Error> {
    let Some(wanted) = expected.unnamed_columns.filter(|_| !frame.is_named) else { return Ok(None) };
    let found = frame.names.len();
    if found == wanted {
        return Ok(None);
    }
    let targets = match &expected.responses[..] {
        [] => expected.target.iter().map(|name| unnamed_place(name)).collect::<Option<Vec<usize>>>(),
        several => several.iter().map(|name| unnamed_place(name)).collect(),
    };
    match targets {
        Some(places) if !places.is_empty() && found + places.len() == wanted => Ok(Some(places)),
        _ => {
            let path = frame.path.display();
            let columns = counted(found, "column");
            let problem =
                format!("{path} has {columns} without names; the model was made from {wanted}, and needs as many");
            Err(Error::Request(problem))
        }
    }
}

/// Counts dates from the day that the model counts them from.
pub(super) fn rebase(frame: &mut Frame, expected: &Expected) -> Result<(), Error> {
    let shift = unnamed_shift(frame, expected)?;
    for (name, format) in &expected.formats {
        let ColumnFormat::Dates(DateFormat { origin, .. }) = format else { continue };
        let place = match &shift {
            Some(targets) => unnamed_place(name).map(|place| moved_up(place, targets)),
            None => frame.names.iter().position(|n| n == name),
        };
        let Some((place, here)) = place.and_then(|place| Some((place, frame.names.get(place)?))) else { continue };
        if let Some(ColumnFormat::Dates(found)) = frame.formats.get_mut(here)
            && let Body::Columns(all) = &mut frame.body
            && let Some(Values::Numbers(days)) = all.get_mut(place)
        {
            let earlier = (found.origin.number() - origin.number()) as f64;
            days.iter_mut().for_each(|day| *day += earlier);
            found.origin = *origin;
        }
    }
    Ok(())
}

/// The columns of a design for a model; what does not hold what the model expects is a problem.
pub(super) fn pieces(
    design: &Design<'_>,
    expected: &Expected,
    notes: &mut Vec<String>,
    problems: &mut Vec<Problem>,
) -> Pieces {
    let frame = design.frame;
    let mut pieces = Vec::with_capacity(design.columns.len());
    for (feature, &column) in expected.features.iter().zip(design.columns) {
        let part = match (&feature.level, frame.values(column)) {
            (Some(level), Some(Values::Words { levels, .. })) => match levels.iter().position(|l| l == level) {
                Some(code) => Part::Level(Some(code as u32)),
                None if level == MISSING_LEVEL => Part::Level(None),
                None => Part::Nowhere,
            },
            (Some(level), Some(Values::Numbers(_))) if level == MISSING_LEVEL => Part::Level(None),
            _ => Part::Numbers,
        };
        if feature.level.is_none() {
            problems.extend(other_than_expected(frame, expected.formats.get(&feature.column), column));
        }
        pieces.push(Piece { feature: feature.clone(), column, part });
    }
    let made = Pieces { pieces, levels: expected.levels.clone() };
    note_unseen(frame, &made, design.rows, notes);
    note_other_marks(frame, expected, &made, notes);
    made
}

/// What is wrong with a column of which the model knows numbers or dates.
fn other_than_expected(frame: &Frame, format: Option<&ColumnFormat>, column: usize) -> Option<Problem> {
    let values = frame.values(column)?;
    let wanted = match format {
        Some(ColumnFormat::Dates(DateFormat { origin, .. })) => format!("dates (it counts the days since {origin})"),
        _ => "numbers".into(),
    };
    let needs = format!("but the model needs {wanted} in this column");
    let wants_dates = matches!(format, Some(ColumnFormat::Dates(_)));
    match values {
        Values::Words { codes, .. } => {
            let mut words = (0..codes.len()).filter_map(|row| Some((row, values.word(row)?)));
            let (row, word) = words.find(|(_, word)| word.parse::<f64>().is_err()).unwrap_or_default();
            Some(frame.problem_at(row, column, format!("{}, {needs}", quoted(word))))
        }
        Values::Numbers(numbers) => {
            let row = numbers.iter().position(|v| !v.is_nan())?;
            let has_dates = matches!(frame.formats.get(frame.name(column)), Some(ColumnFormat::Dates(_)));
            let found = if has_dates { "a date" } else { "a number" };
            (has_dates != wants_dates).then(|| frame.problem_at(row, column, format!("{found}, {needs}")))
        }
    }
}

/// What a person should know where numbers are written in another way than those that the model was fitted to.
fn note_other_marks(frame: &Frame, expected: &Expected, made: &Pieces, notes: &mut Vec<String>) {
    for piece in made.pieces.iter().filter(|piece| piece.feature.level.is_none()) {
        let of = |format: Option<&ColumnFormat>| match format {
            Some(ColumnFormat::Numbers(format)) => format.clone(),
            _ => NumberFormat::default(),
        };
        let (name, column) = (&piece.feature.column, frame.name(piece.column));
        let (before, here) = (of(expected.formats.get(name)), of(frame.formats.get(column)));
        for (had, has, mark) in [(before.percent, here.percent, "percent sign"), (before.time, here.time, "colon")] {
            let article = |has: bool| if has { "a" } else { "no" };
            if had != has {
                let (had, has) = (article(had), article(has));
                notes.push(format!(
                    "{name} has {has} {mark}, and had {had} {mark} in the fit's data: the numbers are taken as they stand"
                ));
            }
        }
        if let (Some(before), Some(here)) = (before.currency, here.currency)
            && currency_code(&before) != currency_code(&here)
        {
            let (before, here) = (quoted(&before), quoted(&here));
            notes.push(format!("{name} is in {here}, and was in {before} in the fit's data: nothing is converted"));
        }
    }
}

/// How many rows have a level that the fit did not see, column by column.
fn note_unseen(frame: &Frame, made: &Pieces, rows: &[usize], notes: &mut Vec<String>) {
    for (name, seen) in &made.levels {
        let column = made.pieces.iter().find(|p| p.feature.column == *name).map(|p| p.column);
        let Some(Values::Words { levels, codes }) = column.and_then(|c| frame.values(c)) else { continue };
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
