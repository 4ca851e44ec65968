//! The model file: what a fit leaves behind, as JSON.
//!
//! | field | what it holds |
//! |---|---|
//! | `schema` | the version of this table: 4 where a coefficient has `factors`; 3 where there is one of `intercepts`, `parameters`, `thresholds`, `baseline` and `row_columns`, or a loss other than `squares` and `logistic`; 2 where `formats` or `na_values` hold something; else 1. A program of an older schema would predict something else |
//! | `katoms` | the version of the program that wrote it |
//! | `command` | the command line that made it |
//! | `loss` | `squares`, `logistic`, `huber`, `quantile`, `poisson`, `gamma`, `negative-binomial`, `multinomial`, `ordinal` or `cox` |
//! | `k` | the atoms that were asked for |
//! | `k_each` | where each of several responses has atoms of its own, the number of those of each, else absent; `k` is then their sum |
//! | `target` | `name` (for `cox`: of the times); `responses`: the name of each of several responses, or absent; `classes`: the names of the classes, or null; `class_type`, where it is known what the names stand for: `text`, `integer`, `float` or `bool` |
//! | `intercept` | the prediction where every feature is 0; of several outputs that of the first |
//! | `intercepts` | of several outputs (a score for each of more than two classes, or several responses) that of each; else absent |
//! | `coefficients` | a list of: `name` of the feature, `column` of the file, `level` (for an indicator, else null; `(missing)` stands for a value that is missing), `value` on the scale of the file, `standardized` (for columns of mean 0 and deviation 1), `mean` (what takes the place of a missing value, or null); of several outputs `values` and `standardized_values`, one for each, of which `value` and `standardized` are the first; of a product of two features `factors`, each with `name`, `column` and `level`, and `factor_means`, what takes the place of their missing values |
//! | `parameters` | what the loss has besides, or absent: `quantile`, `smoothing`, `delta`, `dispersion`, `ties` (`efron` or `breslow`) |
//! | `thresholds` | for `ordinal`, else absent: the log-odds of at most class c are the c-th of them less the linear predictor |
//! | `baseline` | for `cox`, else absent: a list of `stratum` (or null), `times` and `hazards`, the cumulative hazard from each time on where the linear predictor is 0 |
//! | `stratum_type` | what the names of strata stand for, as `class_type`, or absent |
//! | `row_columns` | columns that are no features, or absent: `event`, `strata`, `entry`, `offset`, `exposure` |
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
//! 1 where the column has the level; an offset and the logarithm of an exposure are added. For `squares`, `huber` and
//! `quantile` it is the prediction, for `poisson`, `gamma` and `negative-binomial` its logarithm, for `logistic` the log-odds
//! of class 1, for `multinomial` the score of a class (probabilities are in proportion to their exponentials), for `cox` the
//! log hazard ratio. Every number keeps its bits through the file.

mod parts;

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::column_format::{ColumnFormat, NumberFormat};
use crate::dataset::expected::{moved_up, unnamed_place};
use crate::dataset::{Ask, Dataset, Expected, Feature, Fingerprint, Missing, RowColumns};
use crate::error::{Error, place_and_problem};
use crate::problem::short;
use crate::source::{ReadOptions, Source};

pub use parts::{Baseline, ClassType, Coefficient, Loss, ModelTarget, Parameters, Quality, Rival};

use parts::has_none;

/// The newest version of the file that this program reads and writes.
pub const SCHEMA: u32 = 4;

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
    /// Where each of several responses has atoms of its own, the number of each one's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub k_each: Vec<usize>,
    /// What it predicts.
    pub target: ModelTarget,
    /// The prediction where every feature is 0; of several outputs that of the first.
    pub intercept: f64,
    /// Of several outputs, that of each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub intercepts: Vec<f64>,
    /// The features and their weights.
    pub coefficients: Vec<Coefficient>,
    /// What the loss has besides.
    #[serde(default, skip_serializing_if = "Parameters::is_empty")]
    pub parameters: Parameters,
    /// Of classes in an order, what lies between them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub thresholds: Vec<f64>,
    /// The hazards where the linear predictor is 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub baseline: Vec<Baseline>,
    /// What the names of strata stand for, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stratum_type: Option<ClassType>,
    /// Columns that are no features.
    #[serde(default, skip_serializing_if = "has_none")]
    pub row_columns: RowColumns,
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

impl Model {
    /// The same with the version of a file that has its fields: a program that knows nothing of them would predict something
    /// else.
    pub fn with_schema(self) -> Self {
        let is_plain = matches!(self.loss, Loss::Squares | Loss::Logistic) && self.intercepts.is_empty();
        let schema = match () {
            () if self.coefficients.iter().any(|c| !c.feature.factors.is_empty()) => 4,
            () if !is_plain || !has_none(&self.row_columns) => 3,
            () if !self.formats.is_empty() || !self.na_values.is_empty() => 2,
            () => 1,
        };
        Self { schema, ..self }
    }

    /// The number of linear predictors of a row.
    pub fn outputs(&self) -> usize {
        self.intercepts.len().max(1)
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
        let of_parameters = self.parameters.numbers().into_iter().filter_map(|(name, value)| Some((name, value?)));
        let hazards = self.baseline.iter().flat_map(|one| one.times.iter().chain(&one.hazards));
        let lists = self.intercepts.iter().map(|&v| ("intercepts", v));
        let lists = lists.chain(self.thresholds.iter().map(|&v| ("thresholds", v)));
        let lists = lists.chain(hazards.map(|&v| ("baseline", v)));
        let of_fields = single.into_iter().chain(of_quality.chain(of_rivals).map(|v| ("quality", v)));
        let mut of_fields = of_fields.chain(of_parameters).chain(lists);
        if let Some((name, value)) = of_fields.find(|(_, v)| !v.is_finite()) {
            return Err(format!("`{name}` is {value}; it must be finite"));
        }
        let mut names = std::collections::HashSet::new();
        for c in &self.coefficients {
            let name = short(&c.feature.name);
            let lists = c.values.iter().chain(&c.standardized_values).copied();
            let numbers = [Some(c.value), Some(c.standardized), c.mean].into_iter().flatten().chain(lists);
            if let Some(value) = numbers.into_iter().find(|v| !v.is_finite()) {
                return Err(format!("the coefficient of \"{name}\" is {value}; it must be finite"));
            }
            let (found, wanted) = (c.values.len(), self.intercepts.len());
            if found != wanted || c.standardized_values.len() != wanted {
                return Err(format!("\"{name}\" has {found} `values`; there are {wanted} `intercepts`"));
            }
            let (factors, means) = (c.feature.factors.len(), c.factor_means.len());
            if ![0, 2].contains(&factors) || c.feature.factors.iter().any(|factor| !factor.factors.is_empty()) {
                return Err(format!("\"{name}\" has {factors} `factors`; a product has two features"));
            }
            if means > 0 && (means != factors || c.factor_means.iter().any(|mean| !mean.is_finite())) {
                return Err(format!("\"{name}\" has `factor_means` that are not those of its {factors} factors"));
            }
            if !names.insert(&c.feature.name) {
                return Err(format!("feature \"{name}\" is there twice"));
            }
        }
        self.check_shapes()
    }

    /// Whether classes, thresholds and hazards are those of the loss.
    fn check_shapes(&self) -> Result<(), String> {
        let (loss, outputs) = (self.loss, self.outputs());
        let name = serde_json::to_value(loss).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default();
        let classes = self.target.classes.as_ref().map(Vec::len);
        match (loss, classes) {
            (_, None) if loss.has_classes() => return Err(format!("`loss` is {name} and `target` has no `classes`")),
            (_, Some(_)) if !loss.has_classes() => return Err(format!("`loss` is {name} and `target` has `classes`")),
            (Loss::Logistic, Some(n)) if n != 2 => {
                return Err(format!("`loss` is {name}, and there are {n} `classes`"));
            }
            (Loss::Ordinal, Some(n)) if self.thresholds.len() + 1 != n => {
                return Err(format!("there are {n} `classes` and {} `thresholds`", self.thresholds.len()));
            }
            (Loss::Multinomial, Some(n)) if outputs != n => {
                return Err(format!("there are {n} `classes` and {outputs} `intercepts`"));
            }
            _ => {}
        }
        let responses = self.target.responses.len();
        if responses > 0 && (loss != Loss::Squares || responses != outputs) {
            return Err(format!("there are {responses} `responses` and {outputs} `intercepts`, and `loss` is {name}"));
        }
        let sizes = self.k_each.len();
        if sizes > 0 && sizes != outputs {
            return Err(format!("there are {sizes} sizes in `k_each` and {outputs} `intercepts`"));
        }
        if outputs > 1 && !matches!(loss, Loss::Multinomial | Loss::Squares) {
            return Err(format!("`loss` is {name}, and there are several `intercepts`"));
        }
        match self.baseline.iter().find(|one| one.times.len() != one.hazards.len()) {
            Some(one) => Err(format!("`baseline` has {} `times` and {} `hazards`", one.times.len(), one.hazards.len())),
            None => Ok(()),
        }
    }

    /// What it expects of the data that it predicts for.
    pub fn expected(&self) -> Expected {
        let (mut features, mut means): (Vec<Feature>, Vec<Option<f64>>) = (Vec::new(), Vec::new());
        for c in &self.coefficients {
            for (at, part) in c.feature.parts().iter().enumerate() {
                if !features.iter().any(|feature| feature.name == part.name) {
                    features.push(part.clone());
                    means.push(if c.feature.factors.is_empty() { c.mean } else { c.factor_means.get(at).copied() });
                }
            }
        }
        let means: Option<Vec<f64>> = means.into_iter().collect();
        Expected {
            features,
            means: means.filter(|_| self.missing == Missing::Mean),
            levels: self.levels.clone(),
            formats: self.formats.clone(),
            unnamed_columns: self.unnamed_columns,
            target: Some(self.target.name.clone()),
            responses: self.target.responses.clone(),
            classes: self.target.classes.clone(),
            rows: self.row_columns.clone(),
        }
    }

    /// Tells a reader which columns hold categories, how the others were read by the fit, and what stood for missing
    /// values. `columns` is the number
    /// of columns of a file whose columns have no names: where it lacks the target, those behind it move up.
    pub fn tell_reader(&self, options: &mut ReadOptions, columns: Option<usize>) {
        let names = match &self.target.responses[..] {
            [] => std::slice::from_ref(&self.target.name),
            several => several,
        };
        let targets: Option<Vec<usize>> = names.iter().map(|name| unnamed_place(name)).collect();
        let targets = match (self.unnamed_columns, columns, targets) {
            (Some(had), Some(columns), Some(targets)) if columns + targets.len() == had => targets,
            _ => Vec::new(),
        };
        let moved = |name: &String| match unnamed_place(name) {
            Some(place) if !targets.is_empty() => format!("x{}", moved_up(place, &targets) + 1),
            _ => name.clone(),
        };
        options.categorical.extend(self.levels.keys().map(moved));
        // numbers that the fit has read as they are
        let numbers =
            self.coefficients.iter().flat_map(|c| c.feature.parts()).filter(|feature| feature.level.is_none());
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
        Ok(self.with_products(Dataset::matching(source, &self.expected(), ask)?))
    }

    /// Data that hold the features of the model, with the products that it has of them.
    pub fn with_products(&self, mut data: Dataset) -> Dataset {
        let place = |data: &Dataset, name: &str| data.features.iter().position(|feature| feature.name == name);
        for feature in self.coefficients.iter().map(|c| &c.feature) {
            if let [left, right] = &feature.factors[..]
                && let (Some(i), Some(j)) = (place(&data, &left.name), place(&data, &right.name))
            {
                data.add_products(&[vec![[i, j]]]);
            }
        }
        data
    }

    /// The linear predictor of each row, without an offset; of several outputs that of all rows for the first, then for the
    /// second. The order of the sums is fixed, so that the same model and data give the same bits.
    ///
    /// # Errors
    /// When the data lack a feature, or a prediction is no number in double precision.
    pub fn predict(&self, data: &Dataset) -> Result<Vec<f64>, Error> {
        let rows = data.rows.len();
        let mut predictions = vec![self.intercept; rows * self.outputs()];
        for (part, &intercept) in predictions.chunks_mut(rows.max(1)).zip(&self.intercepts) {
            part.fill(intercept);
        }
        let places: HashMap<&str, usize> =
            data.features.iter().enumerate().map(|(place, f)| (f.name.as_str(), place)).collect();
        for coefficient in &self.coefficients {
            let name = &coefficient.feature.name;
            let Some(&place) = places.get(name.as_str()) else {
                return Err(Error::Request(format!("the data lack \"{}\", which the model needs", short(name))));
            };
            for (output, part) in predictions.chunks_mut(rows.max(1)).enumerate() {
                data.add_column(place, coefficient.of_output(output), part);
            }
        }
        match predictions.iter().position(|prediction| !prediction.is_finite()) {
            Some(at) => Err(self.overflow(data, &places, (at % rows, at / rows))),
            None => Ok(predictions),
        }
    }

    /// A prediction that is no number: the part of it that is the largest.
    fn overflow(&self, data: &Dataset, places: &HashMap<&str, usize>, (row, output): (usize, usize)) -> Error {
        let value = |coefficient: &Coefficient| {
            let mut column = vec![0.0; data.rows.len()];
            if let Some(&place) = places.get(coefficient.feature.name.as_str()) {
                data.add_column(place, 1.0, &mut column);
            }
            column[row]
        };
        let size = |coefficient: &&Coefficient| (coefficient.of_output(output) * value(coefficient)).abs();
        let largest = self.coefficients.iter().max_by(|a, b| size(a).total_cmp(&size(b)));
        let part = largest.map_or_else(String::new, |coefficient| {
            let (name, weight, value) = (&coefficient.feature.name, coefficient.of_output(output), value(coefficient));
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
}

#[cfg(test)]
mod tests;
