//! The model file: what a fit leaves behind, as JSON.
//!
//! | field | what it holds |
//! |---|---|
//! | `schema` | the version of this table: 2 where `formats` or `na_values` hold something, which a program of schema 1 does not know, else 1 |
//! | `katoms` | the version of the program that wrote it |
//! | `command` | the command line that made it |
//! | `loss` | `squares` or `logistic` |
//! | `k` | the atoms that were asked for |
//! | `target` | `name`; `classes`: the names of class 0 and class 1, or null; `class_type`, where it is known what the names stand for: `text`, `integer`, `float` or `bool` |
//! | `intercept` | the prediction where every feature is 0 |
//! | `coefficients` | a list of: `name` of the feature, `column` of the file, `level` (for an indicator, else null; `(missing)` stands for a value that is missing), `value` on the scale of the file, `standardized` (for columns of mean 0 and deviation 1), `mean` (what takes the place of a missing value, or null) |
//! | `atoms` | the names of the chosen atoms: features, or groups |
//! | `levels` | for each categorical column of the model its levels; the first is the one that the others are compared with |
//! | `formats` | for each column of the model, and the target, that holds no plain numbers how it was read: `numbers` with `decimal` (`.` or `,`), `thousands`, `currency`, `percent`, `parentheses` and `time`, or `dates` with `origin` (the day that is 0) and `order` (`dmy`, `mdy` or null) |
//! | `na_values` | what stood for missing values besides the usual |
//! | `unnamed_columns` | how many columns the file had, where they have no names, else null; they are called x1, x2, … |
//! | `standardize` | whether the columns were standardised for the fit |
//! | `ridge` | the weight of the ridge |
//! | `missing` | what was done about missing values: `refuse`, `mean` or `drop` |
//! | `method` | the method's name |
//! | `status` | how the fit ended |
//! | `objective` | the value that was minimised |
//! | `quality` | how good the fit is, or null: `stationarity`, `exchanges_compared`, `exhaustive`, `improvable`, `rivals` (`inside`, `outside`, `rise`), `gap` (proven, or null) |
//! | `data` | `rows`, `columns` and `checksum` of what the fit saw; Python, which keeps no data, leaves the checksum empty |
//!
//! The linear predictor of a row is `intercept` + Σ `value`·x, added up in the order of the list; an indicator's x is
//! 1 where the column has the level. For `squares` it is the prediction, for `logistic` the log-odds of class 1. Every
//! number keeps its bits through the file.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::column_format::{ColumnFormat, NumberFormat};
use crate::dataset::expected::unnamed_place;
use crate::dataset::{Ask, Dataset, Expected, Feature, Fingerprint, Missing};
use crate::error::{Error, place_and_problem};
use crate::problem::short;
use crate::source::{ReadOptions, Source};

/// The newest version of the file that this program reads and writes.
pub const SCHEMA: u32 = 2;

/// What a fit leaves behind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Model {
    /// The version of the file.
    pub schema: u32,
    /// The version of the program that wrote it.
    pub katoms: String,
    /// The command line that made it.
    pub command: String,
    /// What was minimised.
    pub loss: Loss,
    /// The atoms that were asked for.
    pub k: usize,
    /// What it predicts.
    pub target: ModelTarget,
    /// The prediction where every feature is 0.
    pub intercept: f64,
    /// The features and their weights.
    pub coefficients: Vec<Coefficient>,
    /// The names of the chosen atoms.
    pub atoms: Vec<String>,
    /// The levels of each categorical column of the model, the reference level first.
    pub levels: BTreeMap<String, Vec<String>>,
    /// How columns were read that hold no plain numbers.
    #[serde(default)]
    pub formats: BTreeMap<String, ColumnFormat>,
    /// What stood for missing values besides the usual: lists that commas separate.
    #[serde(default)]
    pub na_values: Vec<String>,
    /// The number of columns of the file, where they have no names.
    pub unnamed_columns: Option<usize>,
    /// Whether the columns were standardised for the fit.
    pub standardize: bool,
    /// The weight of the ridge.
    pub ridge: f64,
    /// What was done about missing values.
    pub missing: Missing,
    /// The method's name.
    pub method: String,
    /// How the fit ended.
    pub status: String,
    /// The value that was minimised.
    pub objective: f64,
    /// How good the fit is, where that was asked.
    pub quality: Option<Quality>,
    /// What tells the data from others.
    pub data: Fingerprint,
}

/// What was minimised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Loss {
    /// Numbers: least squares
    Squares,
    /// Two classes: logistic regression
    Logistic,
}

/// What a model predicts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelTarget {
    /// Its name.
    pub name: String,
    /// The names of class 0 and class 1.
    pub classes: Option<[String; 2]>,
    /// What these names stand for, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class_type: Option<ClassType>,
}

/// What the names of classes stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClassType {
    /// Themselves.
    Text,
    /// Whole numbers.
    Integer,
    /// Numbers.
    Float,
    /// True and false.
    Bool,
}

/// A feature and its weight.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Coefficient {
    /// The feature.
    #[serde(flatten)]
    pub feature: Feature,
    /// On the scale of the file.
    pub value: f64,
    /// For columns of mean 0 and deviation 1.
    pub standardized: f64,
    /// What takes the place of a missing value.
    pub mean: Option<f64>,
}

impl Coefficient {
    /// The weight of the feature at a place of the design; `None` where there is no such place.
    pub fn new(data: &Dataset, place: usize, value: f64, standardized: f64) -> Option<Self> {
        let feature = data.features.get(place)?.clone();
        let mean = data.means.as_ref().and_then(|m| m.get(place)).copied();
        Some(Self { feature, value, standardized, mean })
    }
}

/// How good a fit is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Quality {
    /// How far the longest descending step moves, relative to the point; 0 at a fixed point, null where no step could
    /// be judged.
    pub stationarity: Option<f64>,
    /// The exchanges of one atom that were compared.
    pub exchanges_compared: usize,
    /// Whether these are all that there are.
    pub exhaustive: bool,
    /// Whether one of them improves the fit.
    pub improvable: bool,
    /// Atoms that could nearly as well stand in the place of others.
    pub rivals: Vec<Rival>,
    /// The number of all models of this size, where this one is proven to be the best of them.
    #[serde(default)]
    pub proven: Option<f64>,
    /// No model of this size is better by more than this share, where that is proven.
    pub gap: Option<f64>,
}

/// An atom of the model and one that could stand in its place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rival {
    /// The atom of the model.
    pub inside: String,
    /// The other one.
    pub outside: String,
    /// How much the objective rises by the exchange.
    pub rise: f64,
}

impl Model {
    /// The version of a file with these fields. A program that knows nothing of them would predict something else.
    pub fn schema_for(formats: &BTreeMap<String, ColumnFormat>, na_values: &[String]) -> u32 {
        if formats.is_empty() && na_values.is_empty() { 1 } else { SCHEMA }
    }

    /// The file's text.
    ///
    /// # Errors
    /// When a number is not finite: JSON has no such numbers.
    pub fn to_json(&self) -> Result<String, Error> {
        self.check().map_err(|problem| Error::Request(format!("this model cannot be written: {problem}")))?;
        let text = serde_json::to_string_pretty(self);
        text.map(|t| t + "\n").map_err(|error| Error::Request(format!("this model cannot be written: {error}")))
    }

    /// A model from the bytes of a file.
    ///
    /// # Errors
    /// When they are damaged, lack something, or are of a newer version; the error says where and what.
    pub fn from_json(path: &Path, bytes: &[u8]) -> Result<Self, Error> {
        /// What every version has.
        #[derive(Deserialize)]
        struct Version {
            schema: Option<u32>,
        }
        let content = |place: String, problem: String| Error::Content { path: path.into(), place, problem };
        let damaged = |error: serde_json::Error| {
            let (place, problem) = place_and_problem(&error);
            content(place, format!("not a model of katoms: {problem}"))
        };
        match serde_json::from_slice::<Version>(bytes).map_err(damaged)?.schema {
            None => return Err(content(String::new(), "not a model of katoms: it has no field `schema`".into())),
            Some(schema) if schema > SCHEMA => {
                let problem = format!(
                    "written by a newer katoms (schema {schema}; this one reads up to {SCHEMA}): update katoms"
                );
                return Err(content(String::new(), problem));
            }
            Some(0) => return Err(content(String::new(), "not a model of katoms: schema 0; they count from 1".into())),
            Some(_) => {}
        }
        let model: Self = serde_json::from_slice(bytes).map_err(damaged)?;
        model.check().map_err(|problem| content(String::new(), format!("not a model of katoms: {problem}")))?;
        Ok(model)
    }

    /// What no model may be without.
    fn check(&self) -> Result<(), String> {
        let quality = self.quality.iter();
        let of_quality = quality.clone().flat_map(|q| [q.stationarity, q.gap]).flatten();
        let of_rivals = quality.flat_map(|q| &q.rivals).map(|r| r.rise);
        let single = [("intercept", self.intercept), ("ridge", self.ridge), ("objective", self.objective)];
        let of_fields = single.into_iter().chain(of_quality.chain(of_rivals).map(|v| ("quality", v)));
        if let Some((name, value)) = of_fields.into_iter().find(|(_, v)| !v.is_finite()) {
            return Err(format!("`{name}` is {value}; it must be finite"));
        }
        let mut names = std::collections::HashSet::new();
        for c in &self.coefficients {
            let numbers = [Some(c.value), Some(c.standardized), c.mean];
            if let Some(value) = numbers.into_iter().flatten().find(|v| !v.is_finite()) {
                return Err(format!("the coefficient of \"{}\" is {value}; it must be finite", short(&c.feature.name)));
            }
            if !names.insert(&c.feature.name) {
                return Err(format!("feature \"{}\" is there twice", short(&c.feature.name)));
            }
        }
        match (self.loss, &self.target.classes) {
            (Loss::Logistic, None) => Err("`loss` is logistic and `target` has no `classes`".into()),
            (Loss::Squares, Some(_)) => Err("`loss` is squares and `target` has `classes`".into()),
            _ => Ok(()),
        }
    }

    /// What it expects of the data that it predicts for.
    pub fn expected(&self) -> Expected {
        let means: Option<Vec<f64>> = self.coefficients.iter().map(|c| c.mean).collect();
        Expected {
            features: self.coefficients.iter().map(|c| c.feature.clone()).collect(),
            means: means.filter(|_| self.missing == Missing::Mean),
            levels: self.levels.clone(),
            formats: self.formats.clone(),
            unnamed_columns: self.unnamed_columns,
            target: Some(self.target.name.clone()),
            classes: self.target.classes.clone(),
        }
    }

    /// Tells a reader which columns hold categories, how the others were read by the fit, and what stood for missing
    /// values. `columns` is the number
    /// of columns of a file whose columns have no names: where it lacks the target, those behind it move up.
    pub fn tell_reader(&self, options: &mut ReadOptions, columns: Option<usize>) {
        let target = match (self.unnamed_columns, columns) {
            (Some(had), Some(columns)) if columns + 1 == had => unnamed_place(&self.target.name),
            _ => None,
        };
        let moved = |name: &String| match (target, unnamed_place(name)) {
            (Some(target), Some(place)) if place > target => format!("x{place}"),
            _ => name.clone(),
        };
        options.categorical.extend(self.levels.keys().map(moved));
        // numbers that the fit has read as they are
        let numbers = self.coefficients.iter().map(|c| &c.feature).filter(|feature| feature.level.is_none());
        let plain = ColumnFormat::Numbers(NumberFormat::default());
        options.formats.extend(numbers.map(|feature| (moved(&feature.column), plain.clone())));
        options.formats.extend(self.formats.iter().map(|(name, format)| (moved(name), format.clone())));
        options.na_values_of_model.clone_from(&self.na_values);
    }

    /// The data that it predicts for: its features, found by name.
    ///
    /// # Errors
    /// As [`Dataset::matching`].
    pub fn dataset(&self, source: Source, ask: &Ask) -> Result<Dataset, Error> {
        Dataset::matching(source, &self.expected(), ask)
    }

    /// The linear predictor of each row: the prediction, or for classes the log-odds of class 1. The order of the
    /// sums is fixed, so that the same model and data give the same bits.
    ///
    /// # Errors
    /// When the data lack a feature, or a prediction is no number in double precision.
    pub fn predict(&self, data: &Dataset) -> Result<Vec<f64>, Error> {
        let mut predictions = vec![self.intercept; data.rows.len()];
        let places: HashMap<&str, usize> =
            data.features.iter().enumerate().map(|(place, f)| (f.name.as_str(), place)).collect();
        for coefficient in &self.coefficients {
            let name = &coefficient.feature.name;
            let Some(&place) = places.get(name.as_str()) else {
                return Err(Error::Request(format!("the data lack \"{}\", which the model needs", short(name))));
            };
            data.add_column(place, coefficient.value, &mut predictions);
        }
        match predictions.iter().position(|prediction| !prediction.is_finite()) {
            Some(row) => Err(self.overflow(data, &places, row)),
            None => Ok(predictions),
        }
    }

    /// A prediction that is no number: the part of it that is the largest.
    fn overflow(&self, data: &Dataset, places: &HashMap<&str, usize>, row: usize) -> Error {
        let value = |coefficient: &Coefficient| {
            let mut column = vec![0.0; data.rows.len()];
            if let Some(&place) = places.get(coefficient.feature.name.as_str()) {
                data.add_column(place, 1.0, &mut column);
            }
            column[row]
        };
        let size = |coefficient: &&Coefficient| (coefficient.value * value(coefficient)).abs();
        let largest = self.coefficients.iter().max_by(|a, b| size(a).total_cmp(&size(b)));
        let part = largest.map_or_else(String::new, |coefficient| {
            let (name, weight, value) = (&coefficient.feature.name, coefficient.value, value(coefficient));
            format!(": \"{name}\" is {value:e} there, and its coefficient in the model is {weight:e}")
        });
        let row = data.rows.get(row).map_or(row, |&row| row + 1);
        Error::Request(format!(
            "the prediction of row {row} of the data (counted from 1) is no number in double precision{part}; are the \
             data in the units of the fit?"
        ))
    }

    /// The columns that its coefficients multiply, one after the other.
    pub fn design(&self, data: &Dataset) -> Vec<f64> {
        let mut design = vec![0.0; data.rows.len() * self.coefficients.len()];
        let columns = design.chunks_mut(data.rows.len().max(1));
        for (coefficient, column) in self.coefficients.iter().zip(columns) {
            let place = data.features.iter().position(|feature| feature.name == coefficient.feature.name);
            place.into_iter().for_each(|place| data.add_column(place, 1.0, column));
        }
        design
    }

    /// The probability of class 1 in each row; `None` where there are no classes.
    ///
    /// # Errors
    /// As [`Model::predict`].
    pub fn probability(&self, data: &Dataset) -> Result<Option<Vec<f64>>, Error> {
        match self.loss {
            Loss::Squares => Ok(None),
            Loss::Logistic => {
                let odds = self.predict(data)?;
                Ok(Some(odds.into_iter().map(katoms::loss::Logistic::probability).collect()))
            }
        }
    }
}

#[cfg(test)]
mod tests;
