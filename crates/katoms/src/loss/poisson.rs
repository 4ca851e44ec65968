//! Counts: eᶻ − y·z, with z the logarithm of the mean.

use super::rows::{Family, RowLoss, exponential, exponential_above_tangent, times_log};
use crate::error::{Error, check_values};

/// The family of counts whose variance is their mean.
#[derive(Debug, Clone, Copy)]
pub struct PoissonFamily;

/// Half the (weighted) deviance of counts, with z the logarithm of their mean.
///
/// ```
/// use katoms::loss::{Loss, Poisson};
/// // two events in one year, none in half a year
/// let loss = Poisson::new(vec![2.0, 0.0])?.offset(vec![0.0, 0.5_f64.ln()])?;
/// assert!((loss.value(&[2.0_f64.ln(), 0.0]) - 0.5).abs() < 1e-15);
/// # Ok::<(), katoms::Error>(())
/// ```
pub type Poisson = RowLoss<PoissonFamily>;

impl Poisson {
    /// The loss of these counts.
    ///
    /// # Errors
    /// When there are none, or one is negative or not finite.
    pub fn new(counts: impl Into<Vec<f64>>) -> Result<Self, Error> {
        Self::of(PoissonFamily, counts)
    }
}

impl Family for PoissonFamily {
    fn check(&self, target: &[f64]) -> Result<(), Error> {
        check_values("target", target, "a count must be at least 0", |v| v >= 0.0)
    }
    fn value(&self, y: f64, z: f64) -> f64 {
        if y == 0.0 { exponential(z)[0] } else { y * exponential_above_tangent(z - y.ln()) }
    }
    fn slope(&self, y: f64, z: f64) -> f64 {
        if y == 0.0 { exponential(z)[1] } else { y * (exponential(z - y.ln())[1] - 1.0) }
    }
    fn curvature(&self, y: f64, z: f64) -> f64 {
        if y == 0.0 { exponential(z)[2] } else { y * exponential(z - y.ln())[2] }
    }
    fn curvature_bound(&self, _: f64) -> f64 {
        f64::INFINITY
    }
    fn has_far_minima(&self) -> bool {
        true
    }
    fn separates(&self, y: f64, z: f64) -> bool {
        y == 0.0 && z < 0.0
    }
    fn conjugate(&self, y: f64, a: f64) -> f64 {
        let mean = a + y;
        if mean < 0.0 { f64::INFINITY } else { times_log(mean) - a - times_log(y) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::{Loss, contract};

    #[test]
    fn keeps_the_contract() {
        let loss = Poisson::new(vec![0.0, 3.0, 1.0, 40.0]).unwrap();
        contract::check(&loss);
        contract::check_subset(&loss);
        let loss = loss.weighted(vec![2.0, 0.0, 0.3, 1.0]).unwrap().offset(vec![0.1, -1.0, 2.0, 0.0]).unwrap();
        contract::check(&loss);
        contract::check_subset(&loss);
    }

    /// Twice the loss is −2·log-likelihood less that of the saturated model.
    #[test]
    fn the_deviance_is_that_of_poisson_counts() {
        let (counts, z) = ([0.0, 3.0, 1.0, 7.0], [0.3, 1.2, -0.4, 2.0]);
        let log_likelihood = |means: &[f64]| -> f64 {
            let one = |(y, mean): (&f64, &f64)| times_log_of(*y, *mean) - mean - libm::lgamma(y + 1.0);
            counts.iter().zip(means).map(one).sum()
        };
        let means = z.map(f64::exp);
        let expected = 2.0 * (log_likelihood(&counts) - log_likelihood(&means));
        let loss = Poisson::new(counts).unwrap();
        assert!((loss.deviance(loss.value(&z)) - expected).abs() < 1e-12);
    }

    #[test]
    fn negative_counts_are_named() {
        let error = Poisson::new(vec![1.0, -2.0]).unwrap_err().to_string();
        assert!(error.contains("a count must be at least 0") && error.contains("-2"), "{error}");
        assert!(Poisson::new(vec![1.0]).unwrap().offset(vec![0.0, 0.0]).is_err());
        // all zero: the mean falls for ever
        assert!(Poisson::new(vec![0.0, 0.0]).unwrap().separates(&[-1.0, -0.1]));
        assert!(!Poisson::new(vec![0.0, 1.0]).unwrap().separates(&[-1.0, -0.1]));
    }

    fn times_log_of(y: f64, mean: f64) -> f64 {
        if y == 0.0 { 0.0 } else { y * mean.ln() }
    }
}
