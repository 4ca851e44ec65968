//! What is predicted, and the weights of the rows: found, checked, and for classes numbered.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::frame::{Frame, Opened};
use super::types::{Ask, Expected, Target};
use crate::error::Error;
use crate::model::Loss;
use crate::names::{Names, counted, listed};
use crate::source::{Array, ReadOptions, Source};
use crate::table::Values;

/// A vector beside the design, one value for each row of the file.
pub(super) struct Vector {
    pub(super) name: String,
    pub(super) values: Values,
    /// Where it is in the design's file, if there.
    pub(super) column: Option<usize>,
    /// A file of its own, and the column there.
    pub(super) own: Option<(Rc<Frame>, usize)>,
    pub(super) path: PathBuf,
}

impl Vector {
    /// The targets that are asked for: one, or several responses.
    pub(super) fn targets(opened: &mut Opened, ask: &Ask) -> Result<Vec<Self>, Error> {
        let found = match (&ask.target_file, &ask.target) {
            (Some(file), _) => Self::of_file(file, ask)?,
            (None, Some(list)) => Self::listed(opened, list)?,
            (None, None) => opened.labels.take().map(|labels| Self::of_labels(labels, ask)).into_iter().collect(),
        };
        found.into_iter().map(|v| v.of_length(&opened.frame)).collect()
    }

    /// The target of a model, to score predictions on: the one that is asked for, or where the file has one of the
    /// model's name that one.
    pub(super) fn expected_target(opened: &mut Opened, ask: &Ask, expected: &Expected) -> Result<Option<Self>, Error> {
        let Some(name) = &expected.target else { return Ok(None) };
        let is_there = opened.has(name, expected);
        let found = match opened.labels.take() {
            _ if is_there => Self::named(opened, name, "--target").ok(),
            Some(labels) if *name == labels.0 => Some(Self::of_labels(labels, ask)),
            _ => None,
        };
        Ok(found.filter(|v| v.values.len() == opened.frame.rows))
    }

    /// The labels of an svmlight file, or the phenotype of genotypes.
    fn of_labels((name, values): (String, Values), ask: &Ask) -> Self {
        Self { name, values, column: None, own: None, path: ask.path.clone() }
    }

    /// The weights that are asked for.
    pub(super) fn weights(opened: &mut Opened, ask: &Ask) -> Result<Option<Self>, Error> {
        let found = ask.weights.as_ref().map(|name| Self::named(opened, name, "--weights")?.of_length(&opened.frame));
        found.transpose()
    }

    /// An array of that name, or a column.
    pub(super) fn named(opened: &mut Opened, name: &str, role: &str) -> Result<Self, Error> {
        let path = opened.frame.path.clone();
        if let Some(at) = opened.arrays.iter().position(|(n, _)| n == name) {
            let values = single_column(&opened.arrays[at].1).ok_or_else(|| {
                Error::Request(format!("{}: array \"{name}\" ({role}) is a matrix; a vector is wanted", path.display()))
            })?;
            return Ok(Self { name: name.into(), values: Values::Numbers(values), column: None, own: None, path });
        }
        let arrays = opened.arrays.iter().map(|(n, _)| n.as_str());
        let n_arrays = opened.arrays.len();
        let column = match Names::new(opened.frame.names.iter().map(String::as_str)).find(name) {
            Some(column) => column,
            None => {
                let names = Names::new(arrays.chain(opened.frame.names.iter().map(String::as_str)));
                names.require(name, &opened.frame.context(role))?.saturating_sub(n_arrays)
            }
        };
        let values = opened.frame.column(column);
        Ok(Self { name: opened.frame.name(column).into(), values, column: Some(column), own: None, path })
    }

    /// The only column of a file, or those of the target's name or names.
    fn of_file(file: &Path, ask: &Ask) -> Result<Vec<Self>, Error> {
        let source = crate::read(file, &ReadOptions::default())?;
        let inner = Ask { path: file.into(), ..Ask::default() };
        let source = match source {
            Source::Arrays { mut arrays, sparse: None } => {
                let named = ask.target.as_ref().and_then(|t| arrays.iter().position(|(name, _)| name == t));
                match named.or_else(|| (arrays.len() == 1).then_some(0)) {
                    Some(place) => Source::Array(arrays.swap_remove(place).1),
                    None => {
                        let list = listed(arrays.iter().map(|(name, _)| name.as_str()));
                        let path = file.display();
                        return Err(Error::Request(format!(
                            "{path}: name the target's array (--target); there are: {list}"
                        )));
                    }
                }
            }
            other => other,
        };
        let frame = Opened::new(source, &inner)?.frame;
        let names = Names::new(frame.names.iter().map(String::as_str));
        if let Some(several) = ask.target.as_ref().and_then(|list| names.several(list)) {
            let place = |name: &str| names.require(name, &frame.context("--target"));
            let places: Vec<usize> = several.into_iter().map(place).collect::<Result<_, _>>()?;
            let frame = Rc::new(frame);
            let one = |column: usize| {
                let (name, values) = (frame.name(column).into(), frame.column(column));
                Self { name, values, column: None, own: Some((Rc::clone(&frame), column)), path: file.into() }
            };
            return Ok(places.into_iter().map(one).collect());
        }
        let named = ask.target.as_ref().and_then(|t| names.find(t));
        let column = match (named, frame.names.len()) {
            (Some(column), _) => column,
            (None, 1) => 0,
            (None, n) => {
                let (path, list) = (file.display(), listed(frame.names.iter().map(String::as_str)));
                return Err(Error::Request(format!(
                    "{path} has {n} columns; name the target's (--target), or several as FILE:1,2; there are: {list}"
                )));
            }
        };
        let (values, name) = (frame.column(column), ask.target.clone());
        let name = name.unwrap_or_else(|| if frame.is_named { frame.name(column).into() } else { "target".into() });
        Ok(vec![Self { name, values, column: None, own: Some((Rc::new(frame), column)), path: file.into() }])
    }

    pub(super) fn of_length(self, frame: &Frame) -> Result<Self, Error> {
        let n = self.values.len();
        if n == frame.rows {
            return Ok(self);
        }
        let (path, name, design) = (self.path.display(), &self.name, frame.path.display());
        let rows = counted(frame.rows, "row");
        Err(Error::Request(format!(
            "{path}: \"{name}\" has {}, {design} has {rows}; one each is wanted",
            counted(n, "value")
        )))
    }

    /// An error about the value of a row.
    pub(super) fn error(&self, frame: &Frame, row: usize, problem: String) -> Error {
        match (&self.own, self.column) {
            (Some((own, column)), _) => own.error(row, *column, problem),
            (None, Some(column)) => frame.error(row, column, problem),
            (None, None) => {
                let place = format!(", {}, value {}", self.name, row + 1);
                Error::Content { path: self.path.clone(), place, problem }
            }
        }
    }

    /// Whether the value of a row is missing.
    pub(super) fn is_missing(&self, row: usize) -> bool {
        match &self.values {
            Values::Numbers(numbers) => numbers.get(row).is_none_or(|v| v.is_nan()),
            words => words.word(row).is_none(),
        }
    }

    /// The numbers of some rows, each of them admissible.
    pub(super) fn numbers_where(
        &self,
        frame: &Frame,
        rows: &[usize],
        wanted: &str,
        is_right: impl Fn(f64) -> bool,
    ) -> Result<Vec<f64>, Error> {
        let numbers = self.numbers(frame, rows, wanted)?;
        match rows.iter().zip(&numbers).find(|(_, v)| !is_right(**v)) {
            Some((&row, v)) => Err(self.error(frame, row, format!("{v}, but {wanted}"))),
            None => Ok(numbers),
        }
    }

    /// The numbers of some rows.
    pub(super) fn numbers(&self, frame: &Frame, rows: &[usize], wanted: &str) -> Result<Vec<f64>, Error> {
        match &self.values {
            Values::Numbers(numbers) => {
                let finite = |&row: &usize| match numbers.get(row) {
                    Some(v) if v.is_finite() => Ok(*v),
                    v => Err(self.error(frame, row, format!("{}, but {wanted}", v.copied().unwrap_or(f64::NAN)))),
                };
                rows.iter().map(finite).collect()
            }
            words => {
                let found = || rows.iter().filter_map(|&row| Some((row, words.word(row)?)));
                let first = found().find(|(_, word)| word.parse::<f64>().is_err()).or_else(|| found().next());
                let (row, word) = first.unwrap_or_default();
                Err(self.error(frame, row, format!("\"{word}\", but {wanted}")))
            }
        }
    }

    /// The target of some rows.
    pub(super) fn into_target(
        self,
        frame: &Frame,
        rows: &[usize],
        ask: &Ask,
        warnings: &mut Vec<String>,
    ) -> Result<Target, Error> {
        if !ask.loss.has_classes() {
            let (wanted, is_right) = wanted(ask.loss);
            let values = self.numbers_where(frame, rows, wanted, is_right)?;
            if matches!(ask.loss, Loss::Poisson | Loss::NegativeBinomial) && values.iter().all(|&v| v == 0.0) {
                let (path, name) = (self.path.display(), &self.name);
                let problem = format!("{path}: \"{name}\" is 0 in every row, so there is nothing to explain");
                return Err(Error::Request(problem));
            }
            return Ok(Target { name: self.name, values, classes: None, responses: Vec::new() });
        }
        let found = self.classes(frame, rows)?;
        let found = match ask.loss {
            Loss::Ordinal => self.ordered(frame, rows, found, &ask.order)?,
            Loss::Logistic => self.two(frame, found)?,
            _ => self.some(found)?,
        };
        self.check_classes(&found, rows.len())?;
        let mut values = vec![0.0; rows.len()];
        for (code, (name, members)) in found.iter().enumerate() {
            members.iter().for_each(|&i| values[i] = code as f64);
            if let &[only] = &members[..] {
                let place = self.place(frame, rows[only]);
                warnings.push(format!(
                    "class {name} of {} has one row only ({place}): what is said of it rests on that row; join it with \
                     another class, or leave the row out",
                    self.name
                ));
            }
        }
        let classes = found.into_iter().map(|(name, _)| name).collect();
        Ok(Target { name: self.name, values, classes: Some(classes), responses: Vec::new() })
    }

    /// Refuses classes that are names of rows, or numbers: more than half of the rows have a class of their own.
    fn check_classes(&self, found: &[(String, Vec<usize>)], rows: usize) -> Result<(), Error> {
        let alone = found.iter().filter(|(_, members)| members.len() == 1).count();
        if found.len() <= 2 || 2 * alone <= rows {
            return Ok(());
        }
        let right = match &self.values {
            Values::Numbers(_) => "to predict numbers: --loss squares",
            _ => "is it a name of the rows?",
        };
        Err(Error::Request(format!(
            "{}: \"{}\" has {} classes in {}, and more than half of the rows have a class of their own; {right}",
            self.path.display(),
            self.name,
            found.len(),
            counted(rows, "row")
        )))
    }

    /// Where a row is, in the words of the program: `line 7`, or `row 6` where a file has no lines.
    fn place(&self, frame: &Frame, row: usize) -> String {
        match (&self.own, self.column) {
            (Some((own, _)), _) => own.row_place(row),
            (None, Some(_)) => frame.row_place(row),
            (None, None) => format!("value {}", row + 1),
        }
    }

    /// What was observed of a model's target in some rows: NaN where it is missing, or none of the model's classes.
    /// Nothing where it is not known in any row; the notes say why.
    pub(super) fn into_observed(
        self,
        rows: &[usize],
        classes: Option<&[String]>,
        notes: &mut Vec<String>,
    ) -> Option<Target> {
        let code = |word: &str| classes.and_then(|classes| classes.iter().position(|class| class == word));
        let of_word = |word: &str| code(word).map_or(f64::NAN, |code| code as f64);
        let value = |&row: &usize| match (&self.values, classes) {
            (Values::Numbers(numbers), None) => numbers.get(row).copied().filter(|v| v.is_finite()).unwrap_or(f64::NAN),
            (Values::Numbers(numbers), Some(_)) => {
                numbers.get(row).map_or(f64::NAN, |v| of_word(&(v + 0.0).to_string()))
            }
            (words, _) => words.word(row).map_or(f64::NAN, of_word),
        };
        let values: Vec<f64> = rows.iter().map(value).collect();
        let unknown = rows.iter().zip(&values).filter(|(row, v)| v.is_nan() && !self.is_missing(**row)).count();
        if unknown > 0 {
            let wanted = classes.map_or_else(|| "a number".into(), one_of);
            let (rows, name) = (counted(unknown, "row"), &self.name);
            notes.push(format!("{rows} in which {name} is not {wanted}: predicted, and not scored"));
        }
        let known = values.iter().any(|v| !v.is_nan());
        let classes = classes.map(<[String]>::to_vec);
        known.then(|| Target { name: self.name, values, classes, responses: Vec::new() })
    }

    /// The weights of some rows.
    pub(super) fn into_weights(self, frame: &Frame, rows: &[usize]) -> Result<Vec<f64>, Error> {
        let wanted = "a weight is a finite number, 0 or more";
        let weights = self.numbers_where(frame, rows, wanted, |v| v >= 0.0)?;
        if weights.iter().all(|&v| v == 0.0) {
            let (path, name) = (self.path.display(), &self.name);
            return Err(Error::Request(format!("{path}: every weight (\"{name}\") is 0; at least one must be more")));
        }
        Ok(weights)
    }
}

/// What a number must be for a loss.
fn wanted(loss: Loss) -> (&'static str, fn(f64) -> bool) {
    let any: fn(f64) -> bool = |_| true;
    match loss {
        Loss::Poisson | Loss::NegativeBinomial => {
            ("a count is a number, 0 or more (for any numbers: --loss squares)", |v| v >= 0.0)
        }
        Loss::Gamma => ("an amount is a number above 0 (for counts, which may be 0: --loss poisson)", |v| v > 0.0),
        Loss::Cox => {
            ("a time is a number above 0; give such a row a small time, such as half a day, or leave it out", |v| {
                v > 0.0
            })
        }
        Loss::Squares => ("squares need a target of finite numbers (for two classes: --loss logistic)", any),
        _ => ("this loss needs a target of finite numbers", any),
    }
}

/// `a or b`, `a, b or c`.
fn one_of(classes: &[String]) -> String {
    match classes {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", listed(first.iter().map(String::as_str))),
        _ => classes.concat(),
    }
}

/// The values of a vector, or of a matrix of one column or one row.
fn single_column(array: &Array) -> Option<Vec<f64>> {
    (array.columns == 1 || array.rows == 1).then(|| array.numbers.to_f64())
}
