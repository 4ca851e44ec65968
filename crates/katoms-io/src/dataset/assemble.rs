//! From a source to a data set, step by step.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::columns::{self, Design, MISSING_LEVEL, Part, Pieces};
use super::frame::{Body, Frame, Opened};
use super::known::{Columns, Known, Role};
use super::packed::Selection;
use super::rows::{Kept, Scan};
use super::storage::Storage;
use super::target::Vector;
use super::types::{Ask, Dataset, Expected, Feature, Group, Review, Target};
use super::{alleles, expected, responses};
use crate::column_format::{self, ColumnFormat};
use crate::error::Error;
use crate::groups;
use crate::names::Names;
use crate::problem::Problem;
use crate::source::Source;
use crate::table::Values;

impl Dataset {
    /// The data set that is asked for.
    ///
    /// # Errors
    /// When the file cannot give what is asked for; the error says what it has, and all that is wrong with its data.
    pub fn new(source: Source, ask: &Ask) -> Result<Self, Error> {
        assemble(source, ask, None)
    }

    /// The data set that a model predicts for: its features, found by their names. Other columns count for nothing.
    /// Where columns have no names they are found by their places, and their number must be that of the fit's file.
    /// A level that the fit did not see is none of the model's levels, and a note counts the rows.
    ///
    /// # Errors
    /// When a column is absent, or a value is not what the model expects.
    pub fn matching(source: Source, expected: &Expected, ask: &Ask) -> Result<Self, Error> {
        assemble(source, ask, Some(expected))
    }

    /// All that [`Dataset::new`] would refuse in the data, and what it would tell.
    ///
    /// # Errors
    /// When the file cannot give what is asked for, whatever its data are.
    pub fn review(source: Source, ask: &Ask) -> Result<Review, Error> {
        review(source, ask)
    }
}

/// A source with all that is wrong with it, and what becomes of it otherwise.
struct Prepared {
    frame: Frame,
    /// Columns that the file has in every model.
    always: Vec<String>,
    used: Vec<usize>,
    rows: Vec<usize>,
    made: Pieces,
    target: Option<Target>,
    weights: Option<Vec<f64>>,
    known: Known,
    formats: BTreeMap<String, ColumnFormat>,
    misses_values: bool,
    notes: Vec<String>,
    warnings: Vec<String>,
    problems: Vec<Problem>,
}

/// The data set that is asked for, or the one that a model expects.
fn assemble(source: Source, ask: &Ask, expected: Option<&Expected>) -> Result<Dataset, Error> {
    let Prepared {
        frame,
        always,
        used,
        rows,
        made,
        target,
        weights,
        known,
        formats,
        misses_values,
        mut notes,
        warnings,
        problems,
    } = prepare(source, ask, expected)?;
    if !problems.is_empty() {
        return Err(Error::Problems { path: frame.path, problems });
    }
    let design = Design { frame: &frame, columns: &used, rows: &rows, ask, expected };
    let means = design.means(&made)?;
    let features: Vec<Feature> = made.pieces.iter().map(|p| p.feature.clone()).collect();
    check_names(&frame, &features)?;
    // a covariate may be the weights, or was left out
    let of_file = always.iter().filter(|name| features.iter().any(|f| f.column == **name));
    let always = places_of(&frame, &features, &ask.always.iter().chain(of_file).collect::<Vec<_>>())?;
    let groups = if expected.is_none() { grouped(&features, &made.levels, ask, &mut notes)? } else { None };
    let (unnamed_columns, file_rows) = ((!frame.is_named).then_some(frame.names.len()), frame.rows);
    let storage = fill(frame, &made, &rows, means.as_deref().filter(|_| misses_values));
    let levels = made.levels;
    Ok(Dataset {
        features,
        target,
        weights,
        known,
        groups,
        always,
        rows,
        file_rows,
        notes,
        warnings,
        means,
        levels,
        formats,
        unnamed_columns,
        products: Vec::new(),
        storage,
    })
}

/// What a fit would say to a source.
fn review(source: Source, ask: &Ask) -> Result<Review, Error> {
    let Prepared { used: columns, problems, mut notes, formats, .. } = prepare(source, ask, None)?;
    let of_formats = format_notes(&formats);
    notes.retain(|note| !of_formats.contains(note));
    Ok(Review { columns, problems, notes })
}

/// Looks at everything that a fit needs, and goes on where something is wrong.
fn prepare(source: Source, ask: &Ask, expected: Option<&Expected>) -> Result<Prepared, Error> {
    let Chosen { mut frame, always, used, targets, weights, mut known } = choose(source, ask, expected)?;
    let beside = targets.iter().chain(&weights).filter_map(|v| v.column);
    let asked: BTreeSet<usize> = used.iter().copied().chain(beside).chain(known.places()).collect();
    let (mut notes, mut problems) = (std::mem::take(&mut frame.notes), std::mem::take(&mut frame.problems));
    problems.retain(|p| p.column.is_none_or(|column| asked.contains(&column)));
    let unsound: BTreeSet<usize> = problems.iter().filter_map(|p| p.column).collect();
    let is_sound = |column: usize| !unsound.contains(&column);
    let sound: Vec<usize> = used.iter().copied().filter(|&column| is_sound(column)).collect();
    let is_one = targets.len() < 2;
    let forgets = |v: Vector| if v.column.is_none_or(is_sound) { v } else { v.forgotten() };
    let targets: Vec<Vector> = match is_one {
        true => targets.into_iter().filter(|v| v.column.is_none_or(is_sound)).collect(),
        false => targets.into_iter().map(forgets).collect(),
    };
    let weights = weights.filter(|v| v.column.is_none_or(is_sound));
    known.0.retain(|(_, v)| v.column.is_none_or(is_sound));
    if expected.is_some() {
        leave_out_target(&mut problems, &used, &mut notes);
    }
    let read = asked.iter().map(|&column| frame.name(column));
    let formats: BTreeMap<String, ColumnFormat> =
        read.filter_map(|name| Some((name.to_owned(), frame.formats.get(name)?.clone()))).collect();
    notes.extend(format_notes(&formats));
    let columns: Vec<usize> = sound.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
    let scan = Scan::new(&frame, &columns, &mut problems);
    // a model predicts also where the target is missing
    let beside = targets.iter().filter(|_| expected.is_none()).chain(&weights).collect();
    let needed = known.0.iter().filter(|(role, _)| expected.is_none() || *role != Role::Event);
    let needed = needed.map(|(role, vector)| (*role, vector)).collect();
    let kept = Kept { frame: &frame, columns: &columns, scan: &scan, beside, known: needed, ask };
    let rows = kept.rows(&mut notes, &mut problems)?;
    let wanted = if expected.is_some() { &used } else { &sound };
    let design = Design { frame: &frame, columns: wanted, rows: &rows, ask, expected };
    let made = match expected {
        Some(expected) => expected::pieces(&design, expected, &mut notes, &mut problems),
        None => design.made(&mut notes, &mut problems),
    };
    if made.pieces.is_empty() && expected.is_none() && problems.is_empty() {
        return Err(Error::Request(format!("{}: no column is left to make a model of", frame.path.display())));
    }
    let mut warnings = Vec::new();
    let mut targets = targets;
    let target = match (is_one, expected) {
        (true, Some(expected)) => {
            let classes = expected.classes.as_deref();
            Ok(targets.pop().and_then(|target| target.into_observed(&rows, classes, &mut notes)))
        }
        (true, None) => targets.pop().map(|v| v.into_target(&frame, &rows, ask, &mut warnings)).transpose(),
        (false, Some(expected)) => Ok(responses::several_observed(targets, &rows, expected, &mut notes)),
        (false, None) => responses::several(targets, &frame, &rows).map(Some),
    };
    let weights = weights.map(|v| v.into_weights(&frame, &rows)).transpose();
    let (mut target, weights) = (collected(target, &frame, &mut problems)?, collected(weights, &frame, &mut problems)?);
    if let (Some(_), Some(target)) = (expected, &mut target) {
        known.leave_out_unknown_events(&rows, &mut target.values);
    }
    let times = target.as_ref().map(|target| &target.values[..]).filter(|_| expected.is_none());
    let known = known.into_known((&frame, &rows), times, &mut notes).map(Some);
    let known = collected(known, &frame, &mut problems)?.unwrap_or_default();
    let misses_values = scan.found_any();
    Ok(Prepared {
        always,
        used,
        rows,
        made,
        target,
        weights,
        known,
        formats,
        misses_values,
        notes,
        warnings,
        problems,
        frame,
    })
}

/// How columns were read.
fn format_notes(formats: &BTreeMap<String, ColumnFormat>) -> Vec<String> {
    column_format::notes(formats.iter().map(|(name, format)| (name.as_str(), format)))
}

/// A frame, and what of it is asked for.
struct Chosen {
    frame: Frame,
    always: Vec<String>,
    used: Vec<usize>,
    targets: Vec<Vector>,
    weights: Option<Vector>,
    known: Columns,
}

fn choose(source: Source, ask: &Ask, expected: Option<&Expected>) -> Result<Chosen, Error> {
    let mut opened = Opened::new(source, ask)?;
    expected.map_or(Ok(()), |expected| expected::rebase(&mut opened.frame, expected))?;
    let targets = match expected {
        Some(expected) => responses::expected_targets(&mut opened, ask, expected)?,
        None => Vector::targets(&mut opened, ask)?,
    };
    expected.map_or_else(|| responses::check_several(&targets, ask), |_| Ok(()))?;
    let weights = Vector::weights(&mut opened, ask)?;
    let known = match expected {
        Some(expected) => Columns::expected(&mut opened, expected),
        None => Columns::asked(&mut opened, ask)?,
    };
    let (mut frame, always) = (opened.frame, opened.always);
    let used = match expected {
        Some(expected) => {
            let places = expected::matched(&frame, expected)?;
            alleles::orient(&mut frame, expected, places)?
        }
        None => {
            let beside = targets.iter().chain(&weights).filter_map(|v| v.column);
            used_columns(&frame, ask, beside.chain(known.places()).collect())?
        }
    };
    make_categorical(&mut frame, ask, expected.map(|e| (e, used.as_slice())))?;
    Ok(Chosen { frame, always, used, targets, weights, known })
}

/// What is wrong with the target of a model that predicts is no problem: nothing is scored, and a note says why.
fn leave_out_target(problems: &mut Vec<Problem>, used: &[usize], notes: &mut Vec<String>) {
    let is_used = |p: &Problem| p.column.is_none_or(|column| used.contains(&column));
    for Problem { place, problem, .. } in problems.iter().filter(|p| !is_used(p)) {
        notes.push(format!("the target is not used for scores: {place}: {problem}"));
    }
    problems.retain(is_used);
}

/// What is wrong with a value of the file goes to the other problems.
fn collected<T>(
    found: Result<Option<T>, Error>,
    frame: &Frame,
    problems: &mut Vec<Problem>,
) -> Result<Option<T>, Error> {
    match found {
        Err(Error::Problems { path, problems: more }) if path == frame.path => {
            problems.extend(more);
            Ok(None)
        }
        // An error about the whole target comes second: values that are wrong may be its cause.
        Err(_) if !problems.is_empty() => Ok(None),
        other => other,
    }
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
fn used_columns(frame: &Frame, ask: &Ask, taken: Vec<usize>) -> Result<Vec<usize>, Error> {
    let names = Names::new(frame.names.iter().map(String::as_str));
    let mut is_used = vec![true; frame.names.len()];
    let mut gone = taken;
    for list in &ask.drop {
        gone.extend(names.require_list(list, &frame.context("--drop"))?);
    }
    for column in gone {
        is_used.get_mut(column).into_iter().for_each(|u| *u = false);
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
    for list in &ask.categorical {
        chosen.extend(names.require_list(list, &frame.context("--categorical"))?);
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
            let Some(values) = all.get_mut(column) else { continue };
            match frame.names.get(column).and_then(|name| frame.formats.remove(name)) {
                Some(ColumnFormat::Dates(dates)) => columns::into_date_words(values, dates.origin),
                _ => columns::into_words(values),
            }
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
fn places_of(frame: &Frame, features: &[Feature], lists: &[&String]) -> Result<Vec<usize>, Error> {
    let names = Names::new(frame.names.iter().map(String::as_str));
    let mut always = Vec::new();
    for &list in lists {
        let is_feature = features.iter().any(|f| f.name == *list);
        let wanted = if is_feature { vec![list.as_str()] } else { names.split(list) };
        for name in wanted {
            let found: Vec<usize> = match features.iter().position(|f| f.name == name) {
                Some(place) => vec![place],
                None => {
                    let column = frame.name(names.require(name, &frame.context("--always"))?);
                    (0..features.len()).filter(|&i| features.get(i).is_some_and(|f| f.column == column)).collect()
                }
            };
            if found.is_empty() {
                let path = frame.path.display();
                return Err(Error::Request(format!(
                    "{path}: column \"{name}\" (--always) is the target or a constant, or was left out"
                )));
            }
            always.extend(found);
        }
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
    Ok((!levels.is_empty()).then(|| groups::by_column(features)))
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
