//! Positive amounts whose deviation grows with their mean: z + y·e⁻ᶻ, with z the logarithm of the mean.

use super::rows::{Family, Observed, RowLoss, exponential, exponential_above_tangent, times_log};
use crate::error::{Error, check_values};

/// Above this shape Stirling's series has all digits.
const LARGE_SHAPE: f64 = 1e3;

/// The family of positive amounts whose variance is the square of their mean, divided by a shape.
#[derive(Debug, Clone, Copy)]
pub struct GammaFamily;

/// Half the (weighted) deviance of positive amounts, with z the logarithm of their mean.
///
/// ```
/// use katoms::loss::{Gamma, Loss};
/// let costs = Gamma::new(vec![100.0, 250.0])?;
/// assert!(costs.value(&[100.0_f64.ln(), 250.0_f64.ln()]) == 0.0);
/// # Ok::<(), katoms::Error>(())
/// ```
pub type Gamma = RowLoss<GammaFamily>;

impl Gamma {
    /// The loss of these amounts.
    ///
    /// # Errors
    /// When there are none, or one is not finite and above 0.
    pub fn new(amounts: impl Into<Vec<f64>>) -> Result<Self, Error> {
        Self::of(GammaFamily, amounts)
    }
}

impl Family for GammaFamily {
    fn check(&self, target: &[f64]) -> Result<(), Error> {
        check_values("target", target, "an amount must be above 0", |v| v > 0.0)
    }
    fn value(&self, y: f64, z: f64) -> f64 {
        exponential_above_tangent(y.ln() - z)
    }
    fn slope(&self, y: f64, z: f64) -> f64 {
        1.0 - exponential(y.ln() - z)[1]
    }
    fn curvature(&self, y: f64, z: f64) -> f64 {
        exponential(y.ln() - z)[2]
    }
    fn curvature_bound(&self, _: f64) -> f64 {
        f64::INFINITY
    }
    fn conjugate(&self, y: f64, a: f64) -> f64 {
        if a > 1.0 { f64::INFINITY } else { a * y.ln() + times_log(1.0 - a) + a }
    }
    /// That of the most likely shape ν: ln ν − ψ(ν) is the mean loss.
    fn deviance(&self, target: &Observed<'_>, value: f64) -> f64 {
        2.0 * target.count() * profile(value / target.total_weight())
    }
}

/// The least over ν of ν·d + ln Γ(ν) − ν·ln ν + ν: minus the log-likelihood of an amount whose loss is d, up to what depends
/// on the amount alone. −∞ at 0.
fn profile(d: f64) -> f64 {
    if d <= 0.0 {
        return f64::NEG_INFINITY;
    }
    // ln ν − ψ(ν) lies between 1/(2ν) and 1/ν and falls, so that Newton's steps on ln ν from below are safe.
    let mut log_shape = -(2.0 * d).ln();
    for _ in 0..60 {
        let shape = log_shape.exp();
        let step = (excess(shape) - d) / excess_slope(shape);
        log_shape -= step;
        if step.abs() <= 1e-15 * (1.0 + log_shape.abs()) {
            break;
        }
    }
    let shape = log_shape.exp();
    shape * d + stirling(shape)
}

/// ln Γ(ν) − ν·ln ν + ν.
fn stirling(shape: f64) -> f64 {
    if shape < LARGE_SHAPE {
        return libm::lgamma(shape) - shape * shape.ln() + shape;
    }
    0.5 * (std::f64::consts::TAU / shape).ln() + 1.0 / (12.0 * shape)
}

/// ln ν − ψ(ν): the recurrence ψ(ν) = ψ(ν + 1) − 1/ν, and the asymptotic series.
fn excess(shape: f64) -> f64 {
    let (mut sum, mut v) = (0.0, shape);
    while v < 16.0 {
        sum += 1.0 / v;
        v += 1.0;
    }
    let s = 1.0 / (v * v);
    let series = 0.5 / v + s * (1.0 / 12.0 - s * (1.0 / 120.0 - s * (1.0 / 252.0 - s * (1.0 / 240.0 - s / 132.0))));
    series + sum + if v == shape { 0.0 } else { shape.ln() - v.ln() }
}

/// The derivative of [`excess`] by ln ν: 1 − ν·ψ′(ν).
fn excess_slope(shape: f64) -> f64 {
    if shape > LARGE_SHAPE {
        return -0.5 / shape - 1.0 / (6.0 * shape * shape);
    }
    let (mut sum, mut v) = (0.0, shape);
    while v < 16.0 {
        sum += 1.0 / (v * v);
        v += 1.0;
    }
    let s = 1.0 / (v * v);
    let trigamma = 1.0 / v + 0.5 * s + s / v * (1.0 / 6.0 - s * (1.0 / 30.0 - s * (1.0 / 42.0 - s / 30.0)));
    1.0 - shape * (trigamma + sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::{Loss, contract};

    #[test]
    fn keeps_the_contract() {
        let loss = Gamma::new(vec![0.1, 3.0, 1.0, 40.0]).unwrap();
        contract::check(&loss);
        contract::check_subset(&loss);
        let loss = loss.weighted(vec![2.0, 0.0, 0.3, 1.0]).unwrap().offset(vec![0.1, -1.0, 2.0, 0.0]).unwrap();
        contract::check(&loss);
        contract::check_subset(&loss);
    }

    /// −2·log-likelihood at the best shape, found by trying many.
    #[test]
    fn the_deviance_is_that_of_the_most_likely_shape() {
        let (amounts, z) = ([0.5, 3.0, 1.0, 7.0, 2.0], [0.3, 1.2, -0.4, 2.0, 0.0]);
        let log_likelihood = |shape: f64, z: &[f64]| -> f64 {
            let one = |(y, z): (&f64, &f64)| {
                shape * (shape * y).ln() - shape * z - shape * y * (-z).exp() - libm::lgamma(shape) - y.ln()
            };
            amounts.iter().zip(z).map(one).sum()
        };
        let best = |z: &[f64]| {
            let shapes = (1..40_000).map(|i| 1e-3 * f64::from(i));
            shapes.map(|shape| log_likelihood(shape, z)).fold(f64::NEG_INFINITY, f64::max)
        };
        let loss = Gamma::new(amounts).unwrap();
        let deviance = |z: &[f64]| loss.deviance(loss.value(z));
        let other = [0.0, 1.0, 0.0, 1.8, 0.6];
        assert!((deviance(&z) - deviance(&other) + 2.0 * (best(&z) - best(&other))).abs() < 1e-5);
        assert_eq!(loss.deviance(0.0), f64::NEG_INFINITY);
    }

    #[test]
    fn digamma_has_its_known_values() {
        let euler = 0.577_215_664_901_532_9;
        assert!((excess(1.0) - euler).abs() < 1e-14);
        assert!((excess(0.5) - (0.5_f64.ln() + euler + 4.0_f64.ln())).abs() < 1e-13);
        assert!((excess_slope(1.0) - (1.0 - std::f64::consts::PI.powi(2) / 6.0)).abs() < 1e-12);
        for shape in [1e-3, 0.2, 3.0, 9.99, 10.0, 500.0, 2e3] {
            let e = 1e-5;
            let slope = (excess(shape * (1.0 + e)) - excess(shape * (1.0 - e))) / (2.0 * e);
            assert!((slope / excess_slope(shape) - 1.0).abs() < 1e-5, "{shape}");
        }
    }

    #[test]
    fn amounts_that_are_not_above_zero_are_named() {
        for bad in [0.0, -1.0] {
            let error = Gamma::new(vec![1.0, bad]).unwrap_err().to_string();
            assert!(error.contains("an amount must be above 0"), "{error}");
        }
    }
}
