//! Counts that vary more than Poisson's: (y + θ)·ln(eᶻ + θ) − y·z, with z the logarithm of the mean.

use super::Loss;
use super::rows::{Family, Observed, RowLoss, times_log};
use crate::error::{Error, check_option, check_values};

/// The family of counts whose variance is μ + μ²/θ.
#[derive(Debug, Clone, Copy)]
pub struct NegativeBinomialFamily {
    theta: f64,
}

/// Half the (weighted) deviance of counts of variance μ + α·μ², with z = ln μ, for a given dispersion α = 1/θ.
///
/// ```
/// use katoms::loss::{Loss, NegativeBinomial};
/// let loss = NegativeBinomial::new(vec![0.0, 3.0], 0.5)?;
/// assert!(loss.value(&[-40.0, 3.0_f64.ln()]) < 1e-15);
/// # Ok::<(), katoms::Error>(())
/// ```
pub type NegativeBinomial = RowLoss<NegativeBinomialFamily>;

impl NegativeBinomial {
    /// The loss of these counts at this dispersion: Poisson's as it goes to 0.
    ///
    /// # Errors
    /// When there are no counts, one is negative or not finite, or the dispersion is not finite and above 0.
    pub fn new(counts: impl Into<Vec<f64>>, dispersion: f64) -> Result<Self, Error> {
        let right = "it must be finite and above 0; for a dispersion of 0 take Poisson's loss";
        check_option("dispersion", dispersion, right, |v| v > 0.0 && (1.0 / v).is_normal() && v.is_finite())?;
        Self::of(NegativeBinomialFamily { theta: 1.0 / dispersion }, counts)
    }

    /// α: the variance is μ + α·μ².
    pub fn dispersion(&self) -> f64 {
        1.0 / self.family().theta
    }

    /// The same counts at another dispersion.
    ///
    /// # Errors
    /// When the dispersion is not finite and above 0.
    pub fn with_dispersion(&self, dispersion: f64) -> Result<Self, Error> {
        let family = *Self::new(vec![1.0], dispersion)?.family();
        Ok(self.clone().with_family(family))
    }

    /// The dispersion at which counts are the likeliest, where their means have the logarithms z; not below
    /// [`LEAST_DISPERSION`](Self::LEAST_DISPERSION), where they vary no more than Poisson's.
    ///
    /// ```
    /// use katoms::loss::NegativeBinomial;
    /// let loss = NegativeBinomial::new(vec![0.0, 0.0, 1.0, 9.0, 0.0, 14.0], 1.0)?;
    /// assert!(loss.likeliest_dispersion(&[4.0_f64.ln(); 6]) > 2.0);
    /// # Ok::<(), katoms::Error>(())
    /// ```
    pub fn likeliest_dispersion(&self, z: &[f64]) -> f64 {
        let deviance = |log: f64| match self.with_dispersion(log.exp()) {
            Ok(loss) => loss.deviance(loss.value(z)),
            Err(_) => f64::INFINITY,
        };
        let (least, most) = (Self::LEAST_DISPERSION.ln(), -Self::LEAST_DISPERSION.ln());
        least_on(least, most, deviance).exp()
    }

    /// The least dispersion that is told from none.
    pub const LEAST_DISPERSION: f64 = 1e-6;
}

/// Where a function that falls and then rises is the least, by golden sections.
fn least_on(mut low: f64, mut high: f64, f: impl Fn(f64) -> f64) -> f64 {
    let ratio = 0.5 * (5.0_f64.sqrt() - 1.0);
    let inner = |low: f64, high: f64| [high - ratio * (high - low), low + ratio * (high - low)];
    let [mut a, mut b] = inner(low, high);
    let (mut at_a, mut at_b) = (f(a), f(b));
    while high - low > 1e-9 {
        if at_a <= at_b {
            (high, b, at_b) = (b, a, at_a);
            a = inner(low, high)[0];
            at_a = f(a);
        } else {
            (low, a, at_a) = (a, b, at_b);
            b = inner(low, high)[1];
            at_b = f(b);
        }
    }
    low + 0.5 * (high - low)
}

impl NegativeBinomialFamily {
    /// eᶻ/(eᶻ + θ).
    fn share(self, z: f64) -> f64 {
        1.0 / (1.0 + (self.theta.ln() - z).exp())
    }

    /// The log-likelihood of a count at its best mean, the count itself.
    fn saturated(self, y: f64) -> f64 {
        let theta = self.theta;
        let ratio = times_log(y) + times_log(theta) - times_log(y + theta);
        libm::lgamma(y + theta) - libm::lgamma(theta) - libm::lgamma(y + 1.0) + ratio
    }
}

impl Family for NegativeBinomialFamily {
    fn check(&self, target: &[f64]) -> Result<(), Error> {
        check_values("target", target, "a count must be at least 0", |v| v >= 0.0)
    }
    fn value(&self, y: f64, z: f64) -> f64 {
        let (sum, mean) = (y + self.theta, z.exp());
        // (y + θ)·ln((μ + θ)/(y + θ)), and where μ is no number, from its logarithm
        let first = if z < 300.0 {
            sum * ((mean - y) / sum).ln_1p()
        } else {
            sum * (z + (self.theta * (-z).exp()).ln_1p() - sum.ln())
        };
        let second = if y == 0.0 { 0.0 } else { y * (z - y.ln()) };
        (first - second).max(0.0)
    }
    fn slope(&self, y: f64, z: f64) -> f64 {
        let share = self.share(z);
        // θ·(μ − y)/(μ + θ)
        self.theta * share - y * (1.0 - share)
    }
    fn curvature(&self, y: f64, z: f64) -> f64 {
        let share = self.share(z);
        (y + self.theta) * share * (1.0 - share)
    }
    fn curvature_bound(&self, y: f64) -> f64 {
        0.25 * (y + self.theta)
    }
    fn has_far_minima(&self) -> bool {
        true
    }
    fn separates(&self, y: f64, z: f64) -> bool {
        y == 0.0 && z < 0.0
    }
    /// The share p of the mean at which the slope is a, (y + θ)·p − y, and minus the entropy of p.
    fn conjugate(&self, y: f64, a: f64) -> f64 {
        let sum = y + self.theta;
        let share = (a + y) / sum;
        if !(0.0..=1.0).contains(&share) {
            return f64::INFINITY;
        }
        let entropy = times_log(share) + times_log(1.0 - share);
        // a·z − φ at z = ln θ + ln p − ln(1 − p), where φ lacks −(y + θ)·ln(y + θ) + y·ln y
        let constant = times_log(y) - times_log(sum);
        (a + y) * self.theta.ln() + sum * (entropy - self.theta.ln()) - constant
    }
    /// With all that depends on the dispersion, so that models of several dispersions can be compared.
    fn deviance(&self, target: &Observed<'_>, value: f64) -> f64 {
        2.0 * (value - target.sum(|y| self.saturated(y)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::{Poisson, contract};

    #[test]
    fn keeps_the_contract() {
        for dispersion in [0.05, 1.0, 8.0] {
            let loss = NegativeBinomial::new(vec![0.0, 3.0, 1.0, 40.0], dispersion).unwrap();
            contract::check(&loss);
            contract::check_subset(&loss);
            let loss = loss.weighted(vec![2.0, 0.0, 0.3, 1.0]).unwrap().offset(vec![0.1, -1.0, 2.0, 0.0]).unwrap();
            contract::check(&loss);
            contract::check_subset(&loss);
        }
    }

    #[test]
    fn without_dispersion_it_is_poissons() {
        let (counts, z) = (vec![0.0, 3.0, 1.0, 7.0], [0.3, 1.2, -0.4, 2.0]);
        let (poisson, near) = (Poisson::new(counts.clone()).unwrap(), NegativeBinomial::new(counts, 1e-9).unwrap());
        assert!((poisson.value(&z) - near.value(&z)).abs() < 1e-6);
    }

    /// −2·log-likelihood, summed up by its definition.
    #[test]
    fn the_deviance_is_that_of_the_counts() {
        let (counts, z, dispersion) = ([0.0_f64, 3.0, 1.0, 7.0], [0.3_f64, 1.2, -0.4, 2.0], 0.7);
        let theta: f64 = 1.0 / dispersion;
        let one = |(y, z): (&f64, &f64)| {
            let (mean, choose) = (z.exp(), libm::lgamma(y + theta) - libm::lgamma(theta) - libm::lgamma(y + 1.0));
            choose + theta * (theta / (theta + mean)).ln() + y * (mean / (theta + mean)).ln()
        };
        let expected: f64 = -2.0 * counts.iter().zip(&z).map(one).sum::<f64>();
        let loss = NegativeBinomial::new(counts, dispersion).unwrap();
        assert!((loss.deviance(loss.value(&z)) - expected).abs() < 1e-12);
        assert!((loss.dispersion() - dispersion).abs() < 1e-15);
    }

    /// The slope of the likelihood by the dispersion is 0 there; counts of less variance than Poisson's have the least.
    #[test]
    fn the_likeliest_dispersion_is_the_best_of_its_neighbours() {
        let loss = NegativeBinomial::new(vec![0.0, 3.0, 1.0, 12.0, 0.0, 7.0], 1.0).unwrap();
        let z = [1.0, 1.2, 0.4, 2.0, 0.3, 1.0];
        let best = loss.likeliest_dispersion(&z);
        let deviance = |dispersion: f64| {
            let loss = loss.with_dispersion(dispersion).unwrap();
            loss.deviance(loss.value(&z))
        };
        assert!(deviance(best) < deviance(best * 1.01) && deviance(best) < deviance(best / 1.01), "{best}");
        let even = NegativeBinomial::new(vec![3.0; 5], 1.0).unwrap();
        assert!(even.likeliest_dispersion(&[3.0_f64.ln(); 5]) < 2.0 * NegativeBinomial::LEAST_DISPERSION);
    }

    #[test]
    fn bad_counts_and_dispersions_are_named() {
        assert!(NegativeBinomial::new(vec![1.0, -2.0], 1.0).is_err());
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let error = NegativeBinomial::new(vec![1.0], bad).unwrap_err().to_string();
            assert!(error.contains("dispersion") && error.contains("above 0"), "{error}");
        }
    }
}
