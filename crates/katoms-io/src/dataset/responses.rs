//! Several responses for each row: the columns that are asked for, and what a model of them finds in a file.

use super::frame::{Frame, Opened};
use super::target::Vector;
use super::types::{Ask, Expected, Target};
use crate::error::Error;
use crate::model::Loss;
use crate::names::{Names, counted};
use crate::table::Values;

/// The names that a title has room for.
const NAMED: usize = 4;

/// What several responses are called together: `a, b, c`, or their number.
fn called_together(names: &[String]) -> String {
    if names.len() <= NAMED { names.join(", ") } else { format!("{} responses", names.len()) }
}

impl Vector {
    /// The columns or arrays of a name, or of a list of names.
    pub(super) fn listed(opened: &mut Opened, list: &str) -> Result<Vec<Self>, Error> {
        let arrays = opened.arrays.iter().map(|(name, _)| name.as_str());
        let names = Names::new(arrays.chain(opened.frame.names.iter().map(String::as_str)));
        let wanted = names.several(list).unwrap_or_else(|| vec![list]);
        wanted.into_iter().map(|name| Self::named(opened, name, "--target")).collect()
    }

    /// A response of which no value is known.
    fn unknown(name: &str, frame: &Frame) -> Self {
        let values = Values::Numbers(vec![f64::NAN; frame.rows]);
        Self { name: name.into(), values, column: None, own: None, path: frame.path.clone() }
    }

    /// The same without its values.
    pub(super) fn forgotten(self) -> Self {
        Self { values: Values::Numbers(vec![f64::NAN; self.values.len()]), ..self }
    }
}

/// What was asked for fits together: several responses are numbers, each of them once.
pub(super) fn check_several(targets: &[Vector], ask: &Ask) -> Result<(), Error> {
    if targets.len() < 2 {
        return Ok(());
    }
    let path = ask.path.display();
    let twice = (0..targets.len()).find(|&at| targets[..at].iter().any(|one| one.name == targets[at].name));
    if let Some(at) = twice {
        let name = &targets[at].name;
        return Err(Error::Request(format!("{path}: the target \"{name}\" is given twice; give each column once")));
    }
    let count = targets.len();
    if ask.loss != Loss::Squares {
        return Err(Error::Request(format!(
            "{path}: {count} targets are given, and several are fitted by least squares; leave --loss and its options \
             out, or give one --target"
        )));
    }
    let (offset, exposure) = (ask.rows.offset.as_ref(), ask.rows.exposure.as_ref());
    if let Some(option) = offset.map(|_| "--offset").or(exposure.map(|_| "--exposure")) {
        return Err(Error::Request(format!(
            "{path}: {option} goes with one target, and {count} are given; leave it out, or keep the column in every \
             model with --always"
        )));
    }
    Ok(())
}

/// The responses of a model, to score predictions on, in its order: those that are asked for, or else those of their names
/// that the file has. Empty where it has none.
pub(super) fn expected_targets(opened: &mut Opened, ask: &Ask, expected: &Expected) -> Result<Vec<Vector>, Error> {
    let wanted = &expected.responses;
    if ask.target.is_some() || ask.target_file.is_some() {
        let found = Vector::targets(opened, ask)?;
        let (expects, given) = (wanted.len().max(1), found.len());
        if given != expects {
            let order = if expects > 1 { format!(", in this order: {}", wanted.join(", ")) } else { String::new() };
            return Err(Error::Request(format!(
                "{}: --target names {}, and the model predicts {}{order}",
                ask.path.display(),
                counted(given, "column"),
                counted(expects, "target"),
            )));
        }
        return Ok(found);
    }
    if wanted.is_empty() {
        return Ok(Vector::expected_target(opened, ask, expected)?.into_iter().collect());
    }
    let mut found = Vec::with_capacity(wanted.len());
    for name in wanted {
        let there = opened.has(name, expected).then(|| Vector::named(opened, name, "--target").ok()).flatten();
        found.push(there.filter(|v| v.values.len() == opened.frame.rows));
    }
    if found.iter().all(Option::is_none) {
        return Ok(Vec::new());
    }
    let frame = &opened.frame;
    let one = |(vector, name): (Option<Vector>, &String)| vector.unwrap_or_else(|| Vector::unknown(name, frame));
    Ok(found.into_iter().zip(wanted).map(one).collect())
}

/// Several responses of some rows.
pub(super) fn several(targets: Vec<Vector>, frame: &Frame, rows: &[usize]) -> Result<Target, Error> {
    let wanted = "several targets are fitted by least squares, and each must be a column of finite numbers; for classes \
                  give one --target";
    let mut values = Vec::with_capacity(targets.len() * rows.len());
    for target in &targets {
        values.extend(target.numbers(frame, rows, wanted)?);
    }
    Ok(together(targets.into_iter().map(|target| target.name).collect(), values))
}

/// What was observed of several responses in some rows: NaN where it is not known. Nothing where it is known of none.
pub(super) fn several_observed(
    targets: Vec<Vector>,
    rows: &[usize],
    expected: &Expected,
    notes: &mut Vec<String>,
) -> Option<Target> {
    let mut values = Vec::with_capacity(targets.len() * rows.len());
    for target in targets {
        match target.into_observed(rows, None, notes) {
            Some(observed) => values.extend(observed.values),
            None => values.extend(rows.iter().map(|_| f64::NAN)),
        }
    }
    let known = values.iter().any(|v| !v.is_nan());
    known.then(|| together(expected.responses.clone(), values))
}

fn together(responses: Vec<String>, values: Vec<f64>) -> Target {
    Target { name: called_together(&responses), values, classes: None, responses }
}
