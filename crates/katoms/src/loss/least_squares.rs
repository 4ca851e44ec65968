//! ½·Σ wᵢ·(yᵢ − zᵢ)².

use super::weights::Weights;
use super::{Loss, Split};
use crate::error::{Error, check_indices, check_values};

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

    /// The target.
    pub fn target(&self) -> &[f64] {
        &self.target
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
    fn observations(&self) -> usize {
        self.weights.observations(self.target.len())
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
    /// m·ln(2·value/m): normal noise of unknown variance over the m [observations](Loss::observations): of variance
    /// σ²/wᵢ where weights are precisions, all of which may be scaled for a constant; repeated where they are counts.
    /// −∞ at a perfect fit.
    fn deviance(&self, value: f64) -> f64 {
        let m = self.observations() as f64;
        m * (2.0 * value / m).ln()
    }
}

impl Split for LeastSquares {
    fn subset(&self, rows: &[usize]) -> Result<Self, Error> {
        check_indices("row", rows, self.target.len())?;
        let target: Vec<f64> = rows.iter().map(|&i| self.target[i]).collect();
        Ok(Self { weights: self.weights.subset(rows)?, ..Self::new(target)? })
    }
    fn weights(&self) -> Option<&[f64]> {
        self.weights.given()
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
    fn the_deviance_is_that_of_normal_noise() {
        // RSS = 8 over four observations: variance 2
        let loss = LeastSquares::new(vec![2.0, -2.0, 0.0, 0.0]).unwrap();
        let value = loss.value(&[0.0; 4]);
        assert!((loss.deviance(value) - 4.0 * 2.0_f64.ln()).abs() < 1e-14);
        assert_eq!(loss.deviance(0.0), f64::NEG_INFINITY);
        // a weight of zero is an observation that is not there
        let fewer = LeastSquares::new(vec![2.0, -2.0]).unwrap();
        let masked = loss.clone().weighted(vec![1.0, 1.0, 0.0, 0.0]).unwrap();
        assert_eq!(masked.deviance(3.0), fewer.deviance(3.0));
        // weights in another unit: differences between models stay
        let (light, heavy) = (loss.clone().weighted([0.1, 0.2, 0.3, 0.4]), loss.weighted([2.5, 5.0, 7.5, 10.0]));
        let gain = |loss: LeastSquares| {
            loss.deviance(loss.value(&[0.0; 4])) - loss.deviance(loss.value(&[1.0, -1.0, 0.5, 0.0]))
        };
        assert!((gain(light.unwrap()) - gain(heavy.unwrap())).abs() < 1e-13);
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

    #[test]
    fn rows_and_their_weights_make_a_loss() {
        let loss = LeastSquares::new(vec![1.0, -2.0, 0.5]).unwrap();
        contract::check_subset(&loss);
        contract::check_subset(&loss.clone().weighted(vec![2.0, 0.0, 0.3]).unwrap());
        assert_eq!(loss.subset(&[0, 3]).unwrap_err(), Error::Index { what: "row", position: 1, index: 3, bound: 3 });
        assert_eq!(loss.subset(&[]).unwrap_err(), Error::Empty { what: "the target" });
        let error = loss.weighted(vec![2.0, 0.0, 0.3]).unwrap().subset(&[1, 1]).unwrap_err();
        let right = "among the rows of a sample at least one weight must be above zero";
        assert_eq!(error, Error::Value { what: "list of sample weights", index: 1, value: 0.0, right });
    }
}
