//! From a source to a data set, step by step.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::columns::{self, Design, MISSING_LEVEL, Part, Pieces};
use super::frame::{Body, Frame, Opened};
use super::rows::{Kept, Scan};
use super::storage::{Selection, Storage};
use super::target::Vector;
use super::{Ask, Dataset, Expected, Feature, Group, matching};
use crate::error::Error;
use crate::groups;
use crate::names::Names;
use crate::table::Values;

/// The data set that is asked for, or the one that a model expects.
pub(super) fn assemble(source: crate::Source, ask: &Ask, expected: Option<&Expected>) -> Result<Dataset, Error> {
    let mut opened = Opened::new(source, ask)?;
    let target = match expected {
        Some(expected) => Vector::expected_target(&mut opened, ask, expected)?,
        None => Vector::target(&mut opened, ask)?,
    };
    let weights = Vector::weights(&mut opened, ask)?;
    let mut frame = opened.frame;
    let used = match expected {
        Some(expected) => matching::matched(&frame, expected)?,
        None => used_columns(&frame, ask, [&target, &weights].map(|v| v.as_ref().and_then(|v| v.column)))?,
    };
    make_categorical(&mut frame, ask, expected.map(|e| (e, used.as_slice())))?;
    let scanned: Vec<usize> = used.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
    let scan = Scan::new(&frame, &scanned)?;
    let mut notes = Vec::new();
    // a model predicts also where the target is missing
    let beside = [target.as_ref().filter(|_| expected.is_none()), weights.as_ref()];
    let rows = Kept { frame: &frame, columns: &scanned, scan: &scan, beside, ask }.rows(&mut notes)?;
    let design = Design { frame: &frame, columns: &used, rows: &rows, ask, expected };
    let made = design.pieces(&mut notes)?;
    let means = design.means(&made)?;
    let target = match (target, expected) {
        (Some(target), Some(expected)) => target.into_observed(&rows, expected.classes.as_ref(), &mut notes),
        (target, _) => target.map(|v| v.into_target(&frame, &rows, ask)).transpose()?,
    };
    let weights = weights.map(|v| v.into_weights(&frame, &rows)).transpose()?;
    let features: Vec<Feature> = made.pieces.iter().map(|p| p.feature.clone()).collect();
    check_names(&frame, &features)?;
    let always = places_of(&frame, &features, ask)?;
    let groups = if expected.is_none() { grouped(&features, &made.levels, ask, &mut notes)? } else { None };
    let (unnamed_columns, file_rows) = ((!frame.is_named).then_some(frame.names.len()), frame.rows);
    let storage = fill(frame, &made, &rows, means.as_deref().filter(|_| scan.found_any()));
    let levels = made.levels;
    Ok(Dataset {
        features,
        target,
        weights,
        groups,
        always,
        rows,
        file_rows,
        notes,
        means,
        levels,
        unnamed_columns,
        storage,
    })
}

/// Refuses a column that is called like an indicator of another one.
fn check_names(frame: &Frame, features: &[Feature]) -> Result<(), Error> {
    let mut seen = HashSet::new();
    match features.iter().find(|f| !seen.insert(f.name.as_str())) {
        None => Ok(()),
        Some(Feature { name, .. }) => {
            let path = frame.path.display();
            Err(Error::Request(format!("{path}: column and indicator are both called \"{name}\"; rename the column")))
        }
    }
}

/// The columns that models may have.
fn used_columns(frame: &Frame, ask: &Ask, taken: [Option<usize>; 2]) -> Result<Vec<usize>, Error> {
    let names = Names::new(frame.names.iter().map(String::as_str));
    let mut is_used = vec![true; frame.names.len()];
    let dropped = ask.drop.iter().map(|name| names.require(name, &frame.context("--drop")));
    for column in dropped.chain(taken.into_iter().flatten().map(Ok)) {
        is_used.get_mut(column?).iter_mut().for_each(|u| **u = false);
    }
    let used: Vec<usize> = (0..is_used.len()).filter(|&j| is_used[j]).collect();
    if used.is_empty() {
        let path = frame.path.display();
        let problem = format!("{path}: no column is left to make a model of, besides target, weights and --drop");
        return Err(Error::Request(problem));
    }
    Ok(used)
}

/// Turns columns of numbers into words where they are said to be categories, or a model takes them as such; the
/// model's features come with their places.
fn make_categorical(frame: &mut Frame, ask: &Ask, expected: Option<(&Expected, &[usize])>) -> Result<(), Error> {
    let names = Names::new(frame.names.iter().map(String::as_str));
    let mut chosen = Vec::new();
    for name in &ask.categorical {
        chosen.push(names.require(name, &frame.context("--categorical"))?);
    }
    let of_model = expected.iter().flat_map(|(expected, places)| expected.features.iter().zip(*places));
    let is_category = |feature: &Feature| feature.level.is_some() && !is_hole(feature, expected);
    chosen.extend(of_model.clone().filter(|(feature, _)| is_category(feature)).map(|(_, &place)| place));
    if chosen.is_empty() && !of_model.into_iter().any(|(feature, _)| is_hole(feature, expected)) {
        return Ok(());
    }
    if let Body::Numbers(storage) = &frame.body {
        let columns = (0..frame.names.len()).map(|j| Values::Numbers(storage.column(j))).collect();
        frame.body = Body::Columns(columns);
    }
    if let Body::Columns(all) = &mut frame.body {
        for column in chosen {
            all.get_mut(column).into_iter().for_each(columns::into_words);
        }
    }
    Ok(())
}

/// Whether a feature says where the numbers of a column are missing.
fn is_hole(feature: &Feature, expected: Option<(&Expected, &[usize])>) -> bool {
    let is_numeric = expected.is_some_and(|(expected, _)| !expected.levels.contains_key(&feature.column));
    is_numeric && feature.level.as_deref() == Some(MISSING_LEVEL)
}

/// The features that every model has.
fn places_of(frame: &Frame, features: &[Feature], ask: &Ask) -> Result<Vec<usize>, Error> {
    let mut always = Vec::new();
    for name in &ask.always {
        let by_name = features.iter().position(|f| f.name == *name).map(|place| vec![place]);
        let found = match by_name {
            Some(places) => places,
            None => {
                let names = Names::new(frame.names.iter().map(String::as_str));
                let column = frame.name(names.require(name, &frame.context("--always"))?);
                let of_column = features.iter().enumerate().filter(|(_, f)| f.column == column);
                of_column.map(|(place, _)| place).collect()
            }
        };
        if found.is_empty() {
            let path = frame.path.display();
            let problem = format!("{path}: column \"{name}\" (--always) is the target or a constant, or was left out");
            return Err(Error::Request(problem));
        }
        always.extend(found);
    }
    always.sort_unstable();
    always.dedup();
    Ok(always)
}

/// The groups: those of a file, or one for each column where some are categorical.
fn grouped(
    features: &[Feature],
    levels: &BTreeMap<String, Vec<String>>,
    ask: &Ask,
    notes: &mut Vec<String>,
) -> Result<Option<Vec<Group>>, Error> {
    if let Some(path) = &ask.groups {
        let read = groups::read_groups(path, features, ask.unknown_members)?;
        notes.extend(read.notes);
        return Ok(Some(read.groups));
    }
    Ok((!levels.is_empty()).then(|| by_column(features)))
}

/// One group for each column.
fn by_column(features: &[Feature]) -> Vec<Group> {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut groups: Vec<Group> = Vec::new();
    for (i, feature) in features.iter().enumerate() {
        let place = *places.entry(&feature.column).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(group) => group.members.push(i),
            None => groups.push(Group { name: feature.column.clone(), members: vec![i] }),
        }
    }
    groups
}

/// The numbers of the design.
fn fill(frame: Frame, made: &Pieces, rows: &[usize], means: Option<&[f64]>) -> Storage {
    let all = match frame.body {
        Body::Columns(all) => all,
        Body::Numbers(storage) => {
            let columns: Vec<usize> = made.pieces.iter().map(|p| p.column).collect();
            return storage.selected(&Selection { rows, columns: &columns, means });
        }
    };
    let mut numbers = Vec::with_capacity(rows.len() * made.pieces.len());
    for (j, piece) in made.pieces.iter().enumerate() {
        let mean = means.and_then(|m| m.get(j)).copied().unwrap_or(f64::NAN);
        match (all.get(piece.column), piece.part) {
            (Some(Values::Numbers(column)), Part::Level(None)) => {
                let kept = rows.iter().filter_map(|&row| column.get(row));
                numbers.extend(kept.map(|v| f64::from(u8::from(v.is_nan()))));
            }
            (Some(Values::Numbers(column)), _) => {
                let kept = rows.iter().filter_map(|&row| column.get(row));
                numbers.extend(kept.map(|&v| if v.is_nan() { mean } else { v }));
            }
            (Some(Values::Words { codes, .. }), Part::Level(level)) => {
                numbers.extend(rows.iter().map(|&row| f64::from(u8::from(codes.get(row) == Some(&level)))));
            }
            _ => numbers.extend(rows.iter().map(|_| 0.0)),
        }
    }
    Storage::of_columns(numbers, rows.len(), made.pieces.len())
}
