//! Sample weights: absent, or one for each row.

use crate::error::{Error, check_length, check_values};

/// Weights of the observations; absent weights are ones.
#[derive(Debug, Clone, Default)]
pub(super) struct Weights(Option<Vec<f64>>);

impl Weights {
    pub fn new(weights: Vec<f64>, rows: usize) -> Result<Self, Error> {
        check_length("sample weights", weights.len(), rows, "one for each observation")?;
        let admissible = |w: f64| w.is_finite() && w >= 0.0;
        check_values("sample weights", &weights, "every weight must be finite and at least 0", admissible)?;
        if weights.iter().all(|&w| w == 0.0) {
            let right = "at least one must be above 0";
            return Err(Error::Value { what: "sample weights", index: 0, value: 0.0, right });
        }
        Ok(Self(Some(weights)))
    }

    /// The weights of these rows, which are inside.
    pub fn subset(&self, rows: &[usize]) -> Result<Self, Error> {
        let Some(all) = &self.0 else { return Ok(Self(None)) };
        let picked: Vec<f64> = rows.iter().map(|&i| all[i]).collect();
        if let (Some(&index), true) = (rows.first(), picked.iter().all(|&w| w == 0.0)) {
            let right = "among the rows of a sample at least one must be above 0";
            return Err(Error::Value { what: "sample weights", index, value: 0.0, right });
        }
        Ok(Self(Some(picked)))
    }

    pub fn given(&self) -> Option<&[f64]> {
        self.0.as_deref()
    }

    pub fn at(&self, i: usize) -> f64 {
        self.0.as_ref().map_or(1.0, |w| w[i])
    }

    pub fn largest(&self) -> f64 {
        self.0.as_ref().map_or(1.0, |w| w.iter().fold(0.0, |m, &v| m.max(v)))
    }
}
