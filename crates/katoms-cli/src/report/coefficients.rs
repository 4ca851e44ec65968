//! The atoms of a model, with what they do.

use serde::Serialize;

/// The coefficients of a model.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Coefficients {
    /// In any order: the page sorts them by magnitude.
    pub rows: Vec<Coefficient>,
    /// What is predicted where all features are zero, on the original scale.
    pub intercept: Option<f64>,
    /// The number of half-samples behind the shares, where there are any.
    pub half_samples: Option<usize>,
    /// What the coefficients change, where that is not the prediction itself.
    pub scale: Option<Scale>,
}

/// What coefficients change.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Scale {
    /// "the log-odds of “yes”".
    pub on: String,
    /// What the exponential of a coefficient is: "odds ratio".
    pub ratio: Option<String>,
    /// What is multiplied by it: "the odds of “yes” are".
    pub multiplied: String,
}

/// One coefficient.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Coefficient {
    /// The name of the feature.
    pub name: String,
    /// The group it entered with.
    pub group: Option<String>,
    /// On the original scale.
    pub value: f64,
    /// The change of the prediction when the feature rises by one standard deviation.
    pub standardised: Option<f64>,
    /// How often half-samples chose it, 0 to 1.
    pub chosen_share: Option<f64>,
    /// Features that could stand in its place.
    pub rivals: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    /// All effects are known for one standard deviation of the feature, so they compare with each other.
    Standardised,
    /// As the model file has them.
    Original,
}

impl Coefficients {
    pub(super) fn unit(&self) -> Unit {
        let all = self.rows.iter().all(|row| row.standardised.is_some());
        if all { Unit::Standardised } else { Unit::Original }
    }

    /// The largest effect first; equal ones by their place. What is not a number comes last.
    pub(super) fn sorted(&self) -> Vec<&Coefficient> {
        let unit = self.unit();
        let magnitude = |row: &Coefficient| {
            let size = row.effect(unit).abs();
            if size.is_nan() { -1.0 } else { size }
        };
        let mut rows: Vec<&Coefficient> = self.rows.iter().collect();
        rows.sort_by(|a, b| magnitude(b).total_cmp(&magnitude(a)));
        rows
    }
}

impl Coefficient {
    pub(super) fn effect(&self, unit: Unit) -> f64 {
        match unit {
            Unit::Standardised => self.standardised.unwrap_or(self.value),
            Unit::Original => self.value,
        }
    }
}
