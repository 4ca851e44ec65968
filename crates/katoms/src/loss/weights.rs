//! Sample weights: absent, or one for each row.

use crate::error::{Error, check_length, check_values};

/// Weights of the observations; absent weights are ones.
#[derive(Debug, Clone, Default)]
pub(super) struct Weights(Option<Vec<f64>>);

impl Weights {
    pub fn new(weights: Vec<f64>, rows: usize) -> Result<Self, Error> {
        check_length("sample weights", weights.len(), rows, "one for each observation")?;
        let admissible = |w: f64| w.is_finite() && w >= 0.0;
        check_values("list of sample weights", &weights, "every weight must be finite and at least 0", admissible)?;
        if weights.iter().all(|&w| w == 0.0) {
            let right = "at least one weight must be above zero";
            return Err(Error::Value { what: "list of sample weights", index: 0, value: 0.0, right });
        }
        Ok(Self(Some(weights)))
    }

    /// The weights of these rows, which are inside.
    pub fn subset(&self, rows: &[usize]) -> Result<Self, Error> {
        let Some(all) = &self.0 else { return Ok(Self(None)) };
        let picked: Vec<f64> = rows.iter().map(|&i| all[i]).collect();
        if let (Some(&index), true) = (rows.first(), picked.iter().all(|&w| w == 0.0)) {
            let right = "among the rows of a sample at least one weight must be above zero";
            return Err(Error::Value { what: "list of sample weights", index, value: 0.0, right });
        }
        Ok(Self(Some(picked)))
    }

    pub fn given(&self) -> Option<&[f64]> {
        self.0.as_deref()
    }

    pub fn at(&self, i: usize) -> f64 {
        self.0.as_ref().map_or(1.0, |w| w[i])
    }

    /// Each number times the weight of its row.
    pub fn scale(&self, rows: &mut [f64]) {
        for (row, weight) in rows.iter_mut().zip(self.0.iter().flatten()) {
            *row *= weight;
        }
    }

    /// How many observations they stand for, of `rows` rows. Whole numbers are counts: a row of weight 2 is two rows.
    /// Others are precisions, whose unit means nothing: each row that has any weight is one observation. So are numbers so
    /// large that double precision has nothing but whole ones there.
    pub fn observations(&self, rows: usize) -> usize {
        let Some(weights) = &self.0 else { return rows };
        let total: f64 = weights.iter().sum();
        if total * f64::EPSILON < 2.0 && weights.iter().all(|w| w.fract() == 0.0) {
            return total as usize;
        }
        weights.iter().filter(|w| **w > 0.0).count()
    }

    pub fn largest(&self) -> f64 {
        self.0.as_ref().map_or(1.0, |w| w.iter().fold(0.0, |m, &v| m.max(v)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_weights_are_counts_and_others_are_precisions() {
        let observations = |weights: &[f64]| Weights::new(weights.to_vec(), weights.len()).unwrap().observations(4);
        assert_eq!(Weights::default().observations(4), 4);
        assert_eq!(observations(&[2.0, 0.0, 3.0, 1.0]), 6);
        assert_eq!(observations(&[1.0, 0.0, 1.0, 1.0]), 3);
        assert_eq!(observations(&[2.0, 0.0, 3.5, 1.0]), 3);
        assert_eq!(observations(&[20.0, 0.0, 35.5, 10.0]), 3);
        assert_eq!(observations(&[1e300, 0.0, 2e300, 1e300]), 3);
    }
}
