//! The pinball loss of a quantile, smoothed.

use super::Logistic;
use super::rows::{Family, Observed, RowLoss, times_log};
use crate::error::{Error, check_option};

/// The family of a quantile and its smoothing.
#[derive(Debug, Clone, Copy)]
pub struct QuantileFamily {
    quantile: f64,
    smoothing: f64,
}

/// The pinball loss of the quantile τ of a target, smoothed over a width s: τ·u + s·ln(1 + e^(−u/s)) of u = y − z, less its
/// least value. It is the pinball loss averaged over a logistic distribution of width s around u (convolution smoothing: He,
/// Pan, Tan and Zhou, "Smoothed quantile regression with large-scale inference", 2023), nowhere off by more than s·ln 2, and
/// its slope is that of the pinball loss but for |u| of a few s.
///
/// ```
/// use katoms::loss::{Loss, Quantile};
/// let upper = Quantile::new(vec![0.0], 0.9, 0.01)?;
/// // a unit too low costs nine times as much as a unit too high
/// assert!((upper.value(&[-1.0]) - 0.9).abs() < 0.01 && (upper.value(&[1.0]) - 0.1).abs() < 0.01);
/// # Ok::<(), katoms::Error>(())
/// ```
pub type Quantile = RowLoss<QuantileFamily>;

impl Quantile {
    /// The loss of this quantile of the target, with this smoothing in the unit of the target.
    ///
    /// # Errors
    /// When the target is empty, a value is not finite, the quantile is not between 0 and 1, or the smoothing is not finite
    /// and above 0.
    pub fn new(target: impl Into<Vec<f64>>, quantile: f64, smoothing: f64) -> Result<Self, Error> {
        check_option("quantile", quantile, "it must lie between 0 and 1", |v| v > 0.0 && v < 1.0)?;
        check_option("smoothing", smoothing, "it must be finite and above 0", |v| v > 0.0 && v.is_finite())?;
        Self::of(QuantileFamily { quantile, smoothing }, target)
    }

    /// The same with another smoothing.
    ///
    /// # Errors
    /// When it is not finite and above 0.
    pub fn with_smoothing(&self, smoothing: f64) -> Result<Self, Error> {
        check_option("smoothing", smoothing, "it must be finite and above 0", |v| v > 0.0 && v.is_finite())?;
        Ok(self.clone().with_family(QuantileFamily { smoothing, ..*self.family() }))
    }

    /// τ.
    pub fn quantile(&self) -> f64 {
        self.family().quantile
    }

    /// The width over which the loss is smoothed, in the unit of the target.
    pub fn smoothing(&self) -> f64 {
        self.family().smoothing
    }
}

impl QuantileFamily {
    /// The least value before it is taken off.
    fn least(self) -> f64 {
        -self.smoothing * (times_log(self.quantile) + times_log(1.0 - self.quantile))
    }
}

impl Family for QuantileFamily {
    fn check(&self, _: &[f64]) -> Result<(), Error> {
        Ok(())
    }
    fn value(&self, y: f64, z: f64) -> f64 {
        let v = (z - y) / self.smoothing;
        let soft = v.max(0.0) + (-v.abs()).exp().ln_1p();
        (self.smoothing * (soft - self.quantile * v) - self.least()).max(0.0)
    }
    fn slope(&self, y: f64, z: f64) -> f64 {
        Logistic::probability((z - y) / self.smoothing) - self.quantile
    }
    fn curvature(&self, y: f64, z: f64) -> f64 {
        let above = Logistic::probability(-(z - y).abs() / self.smoothing);
        above * (1.0 - above) / self.smoothing
    }
    fn curvature_bound(&self, _: f64) -> f64 {
        0.25 / self.smoothing
    }
    fn conjugate(&self, y: f64, a: f64) -> f64 {
        let above = a + self.quantile;
        if !(0.0..=1.0).contains(&above) {
            return f64::INFINITY;
        }
        a * y + self.smoothing * (times_log(above) + times_log(1.0 - above)) + self.least()
    }
    /// 2m·ln(value/m): asymmetric Laplace noise of unknown scale.
    fn deviance(&self, target: &Observed<'_>, value: f64) -> f64 {
        let m = target.count();
        2.0 * m * (value / m).ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::{Loss, contract};

    #[test]
    fn keeps_the_contract() {
        for (quantile, smoothing) in [(0.5, 1.0), (0.9, 0.3), (0.05, 2.0)] {
            let loss = Quantile::new(vec![1.0, -2.0, 0.5, 3.0], quantile, smoothing).unwrap();
            contract::check(&loss);
            contract::check_subset(&loss);
            contract::check(
                &loss.weighted(vec![2.0, 0.0, 0.3, 1.0]).unwrap().offset(vec![0.1, -1.0, 2.0, 0.0]).unwrap(),
            );
        }
    }

    #[test]
    fn it_is_near_the_pinball_loss() {
        for (quantile, smoothing) in [(0.5, 0.1), (0.9, 0.3)] {
            let loss = Quantile::new(vec![0.0], quantile, smoothing).unwrap();
            for z in [-3.0, -0.1, 0.0, 0.2, 5.0_f64] {
                let pinball = if z < 0.0 { -quantile * z } else { (1.0 - quantile) * z };
                assert!((loss.value(&[z]) - pinball).abs() <= smoothing * 2.0_f64.ln() + 1e-15, "{z}");
            }
        }
        assert!(Quantile::new(vec![1.0], 1.0, 0.1).is_err() && Quantile::new(vec![1.0], 0.5, 0.0).is_err());
    }
}
