//! The parts of a model file.

use serde::{Deserialize, Serialize};

use crate::dataset::{Feature, RowColumns};

/// What was minimised.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Loss {
    /// Numbers: least squares
    #[default]
    #[cfg_attr(feature = "clap", value(alias = "squared-error"))]
    Squares,
    /// Two classes: logistic regression
    Logistic,
    /// Numbers with outliers: squares, and beyond a bound in proportion
    Huber,
    /// A quantile of numbers, such as the median
    Quantile,
    /// Counts
    Poisson,
    /// Amounts above 0, whose deviation grows with their mean
    Gamma,
    /// Counts that vary more than Poisson's
    NegativeBinomial,
    /// More than two classes
    Multinomial,
    /// Classes in an order
    Ordinal,
    /// Times until an event: proportional hazards
    Cox,
}

impl Loss {
    /// Whether it tells classes apart.
    pub fn has_classes(self) -> bool {
        matches!(self, Self::Logistic | Self::Multinomial | Self::Ordinal)
    }

    /// Whether the logarithm of the mean is linear in the features.
    pub fn has_log_link(self) -> bool {
        matches!(self, Self::Poisson | Self::Gamma | Self::NegativeBinomial)
    }
}

/// What a loss has besides the target.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Parameters {
    /// The quantile that is predicted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantile: Option<f64>,
    /// The width over which its loss is smoothed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smoothing: Option<f64>,
    /// From where on residuals are large.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delta: Option<f64>,
    /// α of the variance μ + αμ² of counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dispersion: Option<f64>,
    /// How events at the same time are dealt with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ties: Option<String>,
}

impl Parameters {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn numbers(&self) -> [(&'static str, Option<f64>); 4] {
        let Self { quantile, smoothing, delta, dispersion, .. } = *self;
        [("quantile", quantile), ("smoothing", smoothing), ("delta", delta), ("dispersion", dispersion)]
    }
}

pub(super) fn has_none(rows: &RowColumns) -> bool {
    *rows == RowColumns::default()
}

/// The hazard of rows of a stratum whose linear predictor is 0.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    /// The stratum, where there are some.
    pub stratum: Option<String>,
    /// The times of events, rising.
    pub times: Vec<f64>,
    /// The cumulative hazard from each of them on.
    pub hazards: Vec<f64>,
}

/// What a model predicts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelTarget {
    /// Its name.
    pub name: String,
    /// The names of the classes.
    pub classes: Option<Vec<String>>,
    /// What these names stand for, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class_type: Option<ClassType>,
    /// The names of several responses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub responses: Vec<String>,
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
    /// Of a product: what takes the place of a missing value of each factor.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub factor_means: Vec<f64>,
    /// Of several outputs, the weight for each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<f64>,
    /// The same for columns of mean 0 and deviation 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub standardized_values: Vec<f64>,
}

impl Coefficient {
    /// A feature with its weight for each output, on the scale of the file and for standardised columns.
    pub fn new(feature: Feature, mean: Option<f64>, values: Vec<f64>, standardized: Vec<f64>) -> Self {
        let first = |of: &[f64]| of.first().copied().unwrap_or(0.0);
        let several = |of: Vec<f64>| if of.len() > 1 { of } else { Vec::new() };
        let (value, standardized_value) = (first(&values), first(&standardized));
        let (values, standardized_values) = (several(values), several(standardized));
        Self {
            feature,
            value,
            standardized: standardized_value,
            mean,
            factor_means: Vec::new(),
            values,
            standardized_values,
        }
    }

    /// Its weight for an output.
    pub fn of_output(&self, output: usize) -> f64 {
        self.values.get(output).copied().unwrap_or(self.value)
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
