//! ½·Σ wᵢ·(yᵢ − zᵢ)².

use super::Loss;
use super::weights::Weights;
use crate::error::{Error, check_values};

/// Half the (weighted) sum of squared residuals: ½‖b − z‖².
#[derive(Debug, Clone)]
pub struct LeastSquares {
    target: Vec<f64>,
    weights: Weights,
}

impl LeastSquares {
    /// The loss against this target.
    ///
    /// # Errors
    /// When the target is empty or a value is not finite.
    ///
    /// ```
    /// use katoms::loss::{LeastSquares, Loss};
    /// let loss = LeastSquares::new(vec![1.0, 2.0])?;
    /// assert_eq!(loss.value(&[1.0, 0.0]), 2.0);
    /// # Ok::<(), katoms::Error>(())
    /// ```
    pub fn new(target: impl Into<Vec<f64>>) -> Result<Self, Error> {
        let target = target.into();
        if target.is_empty() {
            return Err(Error::Empty { what: "the target" });
        }
        check_values("target", &target, "every value must be finite", f64::is_finite)?;
        Ok(Self { target, weights: Weights::default() })
    }

    /// The same with sample weights.
    ///
    /// # Errors
    /// When their number is wrong, one is negative or not finite, or all are zero.
    pub fn weighted(self, weights: impl Into<Vec<f64>>) -> Result<Self, Error> {
        let weights = Weights::new(weights.into(), self.target.len())?;
        Ok(Self { weights, ..self })
    }
}

impl Loss for LeastSquares {
    fn n_outputs(&self) -> usize {
        self.target.len()
    }
    fn value(&self, z: &[f64]) -> f64 {
        let square = |(i, (y, z)): (usize, (&f64, &f64))| self.weights.at(i) * (z - y).powi(2);
        0.5 * self.target.iter().zip(z).enumerate().map(square).sum::<f64>()
    }
    fn gradient(&self, z: &[f64], r: &mut [f64]) {
        for (i, r) in r.iter_mut().enumerate() {
            *r = self.weights.at(i) * (z[i] - self.target[i]);
        }
    }
    fn curvature(&self, _: &[f64], h: &mut [f64]) {
        h.iter_mut().enumerate().for_each(|(i, h)| *h = self.weights.at(i));
    }
    fn curvature_bound(&self) -> f64 {
        self.weights.largest()
    }
    fn is_quadratic(&self) -> bool {
        true
    }
    /// aᵀy + ½·Σ aᵢ²/wᵢ.
    fn conjugate(&self, a: &[f64]) -> Option<f64> {
        let one = |(i, (y, a)): (usize, (&f64, &f64))| {
            // 0/0 for a row that weighs nothing: it asks for a = 0 and gives 0
            if *a == 0.0 { 0.0 } else { a * y + 0.5 * a * a / self.weights.at(i) }
        };
        Some(self.target.iter().zip(a).enumerate().map(one).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::contract;

    #[test]
    fn keeps_the_contract() {
        let loss = LeastSquares::new(vec![1.0, -2.0, 0.5]).unwrap();
        contract::check(&loss);
        contract::check(&loss.weighted(vec![2.0, 0.0, 0.3]).unwrap());
    }

    #[test]
    fn bad_targets_and_weights_are_named() {
        let right = "every value must be finite";
        let error = LeastSquares::new(vec![1.0, f64::INFINITY]).unwrap_err();
        assert_eq!(error, Error::Value { what: "target", index: 1, value: f64::INFINITY, right });
        assert!(LeastSquares::new(Vec::new()).is_err());
        let loss = LeastSquares::new(vec![1.0, 2.0]).unwrap();
        assert!(loss.clone().weighted(vec![1.0]).is_err());
        assert!(loss.clone().weighted(vec![1.0, -1.0]).is_err());
        assert!(loss.weighted(vec![0.0, 0.0]).is_err());
    }
}
