//! Squares near the target and absolute values far from it: outliers pull no harder than δ.

use super::rows::{Family, Observed, RowLoss};
use crate::error::{Error, check_option};

/// The family of Huber's loss with this δ.
#[derive(Debug, Clone, Copy)]
pub struct HuberFamily {
    delta: f64,
}

/// Huber's loss: ½r² of residuals |r| ≤ δ, and δ·|r| − ½δ² of larger ones.
///
/// ```
/// use katoms::loss::{Huber, Loss};
/// let loss = Huber::new(vec![0.0, 0.0], 1.0)?;
/// assert_eq!(loss.value(&[0.5, 10.0]), 0.125 + 9.5);
/// # Ok::<(), katoms::Error>(())
/// ```
pub type Huber = RowLoss<HuberFamily>;

impl Huber {
    /// The loss against this target.
    ///
    /// # Errors
    /// When the target is empty, a value is not finite, or δ is not finite and above 0.
    pub fn new(target: impl Into<Vec<f64>>, delta: f64) -> Result<Self, Error> {
        check_option("delta", delta, "it must be finite and above 0", |v| v > 0.0 && v.is_finite())?;
        Self::of(HuberFamily { delta }, target)
    }

    /// The same with another δ.
    ///
    /// # Errors
    /// When δ is not finite and above 0.
    pub fn with_delta(&self, delta: f64) -> Result<Self, Error> {
        let family = *Self::new(vec![0.0], delta)?.family();
        Ok(self.clone().with_family(family))
    }

    /// δ: larger residuals are outliers.
    pub fn delta(&self) -> f64 {
        self.family().delta
    }
}

impl Family for HuberFamily {
    fn check(&self, _: &[f64]) -> Result<(), Error> {
        Ok(())
    }
    fn value(&self, y: f64, z: f64) -> f64 {
        let r = (z - y).abs();
        if r <= self.delta { 0.5 * r * r } else { self.delta * (r - 0.5 * self.delta) }
    }
    fn slope(&self, y: f64, z: f64) -> f64 {
        (z - y).clamp(-self.delta, self.delta)
    }
    fn curvature(&self, y: f64, z: f64) -> f64 {
        if (z - y).abs() <= self.delta { 1.0 } else { 0.0 }
    }
    fn curvature_bound(&self, _: f64) -> f64 {
        1.0
    }
    fn conjugate(&self, y: f64, a: f64) -> f64 {
        if a.abs() <= self.delta { 0.5 * a * a + a * y } else { f64::INFINITY }
    }
    /// m·ln(2·value/m), that of least squares where no residual is large.
    fn deviance(&self, target: &Observed<'_>, value: f64) -> f64 {
        let m = target.count();
        m * (2.0 * value / m).ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::{LeastSquares, Loss, contract};

    #[test]
    fn keeps_the_contract() {
        for delta in [1.3, 100.0] {
            let loss = Huber::new(vec![1.0, -2.0, 0.5, 3.0], delta).unwrap();
            contract::check(&loss);
            contract::check_subset(&loss);
            contract::check(
                &loss.weighted(vec![2.0, 0.0, 0.3, 1.0]).unwrap().offset(vec![0.1, -1.0, 2.0, 0.0]).unwrap(),
            );
        }
    }

    #[test]
    fn without_outliers_it_is_least_squares() {
        let (target, z) = (vec![1.0, -2.0, 0.5], [0.3, -1.2, 0.4]);
        let (squares, huber) = (LeastSquares::new(target.clone()).unwrap(), Huber::new(target, 10.0).unwrap());
        assert_eq!(squares.value(&z), huber.value(&z));
        assert_eq!(squares.deviance(0.7), huber.deviance(0.7));
        assert!(Huber::new(vec![1.0], 0.0).is_err() && Huber::new(vec![1.0], f64::NAN).is_err());
    }
}
