//! What is asked of a file, and the data set that answers.

use std::collections::BTreeMap;
use std::path::PathBuf;

use katoms::loss::Split;
use katoms::operator::{AnyDesign, Beside, Dense, FirstRead};
use serde::{Deserialize, Serialize};

use super::known::Known;
use super::storage::Storage;
use crate::column_format::ColumnFormat;
use crate::error::Error;
use crate::model::Loss;
use crate::problem::Problem;
use crate::source::{Array, Sparse};

/// What is done about missing values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Missing {
    /// Say where they are
    #[default]
    Refuse,
    /// The mean of the column; for categories a level of its own
    Mean,
    /// Leave such rows out
    Drop,
}

/// What is done about members of groups that the data do not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum UnknownMembers {
    /// Say which they are
    #[default]
    Refuse,
    /// Leave them out
    Skip,
}

/// What is asked of a file.
#[derive(Debug, Clone, Default)]
pub struct Ask {
    /// The file, for messages.
    pub path: PathBuf,
    /// The column or array to predict, or several that commas separate. `None` where the file has labels of its own
    /// (svmlight), or for prediction.
    pub target: Option<String>,
    /// A file of its own that holds the target, in place of a column.
    pub target_file: Option<PathBuf>,
    /// What the target is: numbers, counts, classes, times.
    pub loss: Loss,
    /// The classes of an ordinal target, the lowest first, where these are words.
    pub order: Vec<String>,
    /// The column of row weights.
    pub weights: Option<String>,
    /// Other columns that are no features.
    pub rows: RowColumns,
    /// The column that says which rows are held out together.
    pub folds: Option<String>,
    /// Columns that every model has. Here and below: names, numbers from 1, or lists of them that commas separate.
    pub always: Vec<String>,
    /// Columns that no model has (identifiers).
    pub drop: Vec<String>,
    /// Columns that hold categories, also where they look like numbers or like identifiers.
    pub categorical: Vec<String>,
    /// A file of groups.
    pub groups: Option<PathBuf>,
    /// What is done about members of groups that the data do not have.
    pub unknown_members: UnknownMembers,
    /// What is done about missing values.
    pub missing: Missing,
}

/// Columns that are no features: what is known of rows besides the target and a weight.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowColumns {
    /// Whether the event happened at the time that is the target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// The stratum: rows of the same one have the same baseline hazard.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strata: Option<String>,
    /// From when on a row was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<String>,
    /// A known part of the linear prediction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<String>,
    /// How long or how much a row was exposed: the mean is in proportion to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exposure: Option<String>,
}

/// A column of the design.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Feature {
    /// Its name: the column's, or `column=level` for an indicator.
    pub name: String,
    /// The column of the file that it comes from.
    pub column: String,
    /// The level that an indicator stands for.
    pub level: Option<String>,
    /// Of a product of two features: these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub factors: Vec<Feature>,
}

impl Feature {
    /// The product of two.
    pub fn product(left: &Self, right: &Self) -> Self {
        let name = format!("{}:{}", left.name, right.name);
        Self { column: name.clone(), name, level: None, factors: vec![left.clone(), right.clone()] }
    }

    /// Those that columns of a file hold: itself, or of a product its factors.
    pub fn parts(&self) -> &[Self] {
        if self.factors.is_empty() { std::slice::from_ref(self) } else { &self.factors }
    }

    /// Whether it is made of a column.
    pub fn is_of(&self, column: &str) -> bool {
        self.parts().iter().any(|part| part.column == column)
    }
}

/// Features that enter or leave together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// The places of its features in the design, rising.
    pub members: Vec<usize>,
}

/// What is predicted.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// Its name; of several responses all of their names.
    pub name: String,
    /// Its values; for classes their numbers, from 0. Of several responses those of the first for all rows, then those of
    /// the second.
    pub values: Vec<f64>,
    /// The names of the classes.
    pub classes: Option<Vec<String>>,
    /// The names of several responses; empty where there is one.
    pub responses: Vec<String>,
}

/// What tells a data set from another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    /// The rows that the fit saw.
    pub rows: usize,
    /// The columns of the design.
    pub columns: usize,
    /// A checksum of design, target, weights and what else is known of rows.
    pub checksum: String,
}

/// What a model expects of the data that it predicts for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Expected {
    /// The columns of the design, in this order.
    pub features: Vec<Feature>,
    /// What takes the place of a missing value of each feature under [`Missing::Mean`]: the means that the fit saw.
    /// `None`: the means of the new data.
    pub means: Option<Vec<f64>>,
    /// The levels of each categorical column that the fit saw.
    pub levels: BTreeMap<String, Vec<String>>,
    /// How the fit read columns that hold no plain numbers.
    pub formats: BTreeMap<String, ColumnFormat>,
    /// The number of columns of a file whose columns have no names.
    pub unnamed_columns: Option<usize>,
    /// The target's name: predictions are scored where the file has it.
    pub target: Option<String>,
    /// The names of several responses, which are then looked for in the target's place.
    pub responses: Vec<String>,
    /// The names of the classes, for data that have the target.
    pub classes: Option<Vec<String>>,
    /// Other columns that are no features: those that the file has are read.
    pub rows: RowColumns,
}

/// What a fit would say to a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Review {
    /// The columns that it would use, counted from 0.
    pub columns: Vec<usize>,
    /// What it would refuse.
    pub problems: Vec<Problem>,
    /// What it would tell, but for how columns were read, which the table has.
    pub notes: Vec<String>,
}

/// A data set, ready for a fit.
#[derive(Debug)]
pub struct Dataset {
    /// One for each column of the design.
    pub features: Vec<Feature>,
    /// What is predicted; `None` where nothing was asked for. Of data that a model predicts for: what was observed, NaN
    /// where it is not known.
    pub target: Option<Target>,
    /// The weight of each row.
    pub weights: Option<Vec<f64>>,
    /// What else is known of the rows.
    pub known: Known,
    /// The groups, where there are any: those of the file of groups, one for each categorical column, and one for
    /// each other feature. `None` where every feature stands for itself.
    pub groups: Option<Vec<Group>>,
    /// The places of the features that every model has, rising.
    pub always: Vec<usize>,
    /// The rows of the file that the fit sees, rising, counted from 0.
    pub rows: Vec<usize>,
    /// The number of rows of the file.
    pub file_rows: usize,
    /// What was done that a person should know: "3 rows with missing values were left out".
    pub notes: Vec<String>,
    /// What a person must know before all else: "class b has one row only".
    pub warnings: Vec<String>,
    /// The mean of each feature, where means take the place of missing values.
    pub means: Option<Vec<f64>>,
    /// The levels of each categorical column, the reference level first.
    pub levels: BTreeMap<String, Vec<String>>,
    /// How columns were read that hold no plain numbers, the target's among them.
    pub formats: BTreeMap<String, ColumnFormat>,
    /// The number of columns of the file, where they have no names.
    pub unnamed_columns: Option<usize>,
    /// The factors of the last features, which are products of others.
    pub(super) products: Vec<[usize; 2]>,
    pub(super) storage: Storage,
}

impl Dataset {
    /// The design; borrows the numbers, copies nothing.
    ///
    /// # Errors
    /// When a value, or a product of two, is not finite.
    pub fn design(&self) -> Result<AnyDesign<'_>, Error> {
        self.with_products(self.storage.design(None)?)
    }

    /// The same for a fit to this loss: one read tells what it asks first.
    ///
    /// # Errors
    /// When a value is not finite, or the loss is about another number of rows.
    pub fn design_for(&self, loss: &impl Split, intercept: bool) -> Result<AnyDesign<'_>, Error> {
        self.with_products(self.storage.design(Some(&FirstRead::of(loss, intercept)))?)
    }

    /// The numbers of the design, where all are stored and there is nothing beside them.
    pub fn dense(&self) -> Option<&Array> {
        self.storage.dense().filter(|_| self.products.is_empty())
    }

    /// The same of a sparse one.
    pub fn sparse(&self) -> Option<&Sparse> {
        self.storage.sparse().filter(|_| self.products.is_empty())
    }

    /// Products of features join the design, behind its columns: of each, the pairs of columns of two features, or of two
    /// groups.
    pub fn add_products(&mut self, products: &[Vec<[usize; 2]>]) {
        for factors in products {
            let first = self.features.len();
            for &[i, j] in factors {
                self.features.push(Feature::product(&self.features[i], &self.features[j]));
                self.products.push([i, j]);
            }
            if let (Some(groups), Some(&[i, j])) = (&mut self.groups, factors.first()) {
                let of = |column: usize| {
                    let group = groups.iter().find(|group| group.members.contains(&column));
                    group.map_or(&self.features[column].name, |group| &group.name).clone()
                };
                let name = format!("{}:{}", of(i), of(j));
                groups.push(Group { name, members: (first..self.features.len()).collect() });
            }
        }
    }

    fn with_products<'a>(&self, design: AnyDesign<'a>) -> Result<AnyDesign<'a>, Error> {
        if self.products.is_empty() {
            return Ok(design);
        }
        let (rows, mut columns) = (self.rows.len(), Vec::new());
        for (place, [i, j]) in (self.storage.shape().1..).zip(&self.products) {
            let from = columns.len();
            columns.resize(from + rows, 0.0);
            self.add_column(place, 1.0, columns.get_mut(from..).unwrap_or_default());
            if columns.iter().skip(from).any(|v| !v.is_finite()) {
                let (left, right) = (&self.features[*i].name, &self.features[*j].name);
                return Err(Error::Request(format!(
                    "the product of {left} and {right} is no number in double precision; divide one of them by a power of ten"
                )));
            }
        }
        let beside = Dense::column_major(columns, rows, self.products.len())?;
        Ok(Beside::new(design, beside)?.into())
    }

    /// What tells this data set from another. The same data give the same, however they are stored.
    pub fn fingerprint(&self) -> Fingerprint {
        let parts = [self.target.as_ref().map(|t| &t.values), self.weights.as_ref()];
        let known = self.known.numbers();
        let vectors: Vec<&[f64]> = parts
            .into_iter()
            .chain(known.iter().map(Option::as_ref))
            .map(|v| v.map_or(&[][..], Vec::as_slice))
            .collect();
        Fingerprint {
            rows: self.rows.len(),
            columns: self.storage.shape().1,
            checksum: self.storage.checksum(&vectors),
        }
    }

    /// out += factor·(column `j` of the design), row by row.
    pub(crate) fn add_column(&self, j: usize, factor: f64, out: &mut [f64]) {
        let product = j.checked_sub(self.storage.shape().1).and_then(|at| self.products.get(at));
        if let Some(&[left, right]) = product {
            let of = |column: usize| {
                let mut values = vec![0.0; out.len()];
                self.add_column(column, 1.0, &mut values);
                values
            };
            let (left, right) = (of(left), of(right));
            return out.iter_mut().zip(left).zip(right).for_each(|((o, a), b)| *o += factor * (a * b));
        }
        self.storage.each(j, &mut |row, value| {
            if let Some(o) = out.get_mut(row) {
                *o += factor * value;
            }
        });
    }
}
