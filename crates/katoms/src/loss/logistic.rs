//! Σ wᵢ·(log(1 + exp zᵢ) − yᵢ·zᵢ), labels 0 and 1.

use super::weights::Weights;
use super::{Loss, Split};
use crate::error::{Error, check_indices, check_values};
use crate::linalg::kernels::{log_loss, log_loss_curvatures, log_loss_slopes};

/// The (weighted) negative log-likelihood of labels 0 and 1, with z the log-odds of a 1.
#[derive(Debug, Clone)]
pub struct Logistic {
    labels: Vec<f64>,
    weights: Weights,
}

impl Logistic {
    /// The loss of these labels.
    ///
    /// # Errors
    /// When there are none or one is neither 0 nor 1.
    ///
    /// ```
    /// use katoms::loss::{Logistic, Loss};
    /// let loss = Logistic::new(vec![0.0, 1.0])?;
    /// assert!((loss.value(&[0.0, 0.0]) - 2.0 * 2.0_f64.ln()).abs() < 1e-15);
    /// # Ok::<(), katoms::Error>(())
    /// ```
    pub fn new(labels: impl Into<Vec<f64>>) -> Result<Self, Error> {
        let labels = labels.into();
        if labels.is_empty() {
            return Err(Error::Empty { what: "the labels" });
        }
        check_values("labels", &labels, "every label must be 0 or 1", |v| v == 0.0 || v == 1.0)?;
        Ok(Self { labels, weights: Weights::default() })
    }

    /// The same with sample weights.
    ///
    /// # Errors
    /// When their number is wrong, one is negative or not finite, or all are zero.
    pub fn weighted(self, weights: impl Into<Vec<f64>>) -> Result<Self, Error> {
        let weights = Weights::new(weights.into(), self.labels.len())?;
        Ok(Self { weights, ..self })
    }

    /// The probability of a 1 at log-odds z, for any z.
    pub fn probability(z: f64) -> f64 {
        // exp only of numbers ≤ 0, so that it cannot overflow
        let e = (-z.abs()).exp();
        if z >= 0.0 { 1.0 / (1.0 + e) } else { e / (1.0 + e) }
    }
}

impl Loss for Logistic {
    fn n_outputs(&self) -> usize {
        self.labels.len()
    }
    fn value(&self, z: &[f64]) -> f64 {
        log_loss(z, &self.labels, self.weights.given())
    }
    fn gradient(&self, z: &[f64], r: &mut [f64]) {
        log_loss_slopes(z, &self.labels, r);
        self.weights.scale(r);
    }
    fn curvature(&self, z: &[f64], h: &mut [f64]) {
        log_loss_curvatures(z, h);
        self.weights.scale(h);
    }
    fn curvature_bound(&self) -> f64 {
        0.25 * self.weights.largest()
    }
    fn observations(&self) -> usize {
        self.weights.observations(self.labels.len())
    }
    fn is_quadratic(&self) -> bool {
        false
    }
    /// Minus the weighted entropy of the probabilities of the wrong label that the slopes a stand for.
    fn conjugate(&self, a: &[f64]) -> Option<f64> {
        let one = |(i, (y, a)): (usize, (&f64, &f64))| {
            let (slope, weight) = (if *y == 1.0 { -a } else { *a }, self.weights.at(i));
            if !(0.0..=weight).contains(&slope) {
                return f64::INFINITY;
            }
            let wrong = if weight > 0.0 { slope / weight } else { 0.0 };
            weight * (times_log(wrong, wrong.ln()) + times_log(1.0 - wrong, (-wrong).ln_1p()))
        };
        Some(self.labels.iter().zip(a).enumerate().map(one).sum())
    }
    /// Twice the loss, which is the negative log-likelihood itself.
    fn deviance(&self, value: f64) -> f64 {
        2.0 * value
    }
    fn has_far_minima(&self) -> bool {
        true
    }
    /// Whether every row that has a weight is on the side of its class.
    fn separates(&self, z: &[f64]) -> bool {
        let right = |(i, (&label, &z)): (usize, (&f64, &f64))| {
            self.weights.at(i) == 0.0 || if label == 1.0 { z > 0.0 } else { z < 0.0 }
        };
        self.labels.iter().zip(z).enumerate().all(right)
    }
}

/// p·log p, 0 at 0.
fn times_log(p: f64, log: f64) -> f64 {
    if p == 0.0 { 0.0 } else { p * log }
}

impl Split for Logistic {
    fn subset(&self, rows: &[usize]) -> Result<Self, Error> {
        check_indices("row", rows, self.labels.len())?;
        let labels: Vec<f64> = rows.iter().map(|&i| self.labels[i]).collect();
        Ok(Self { weights: self.weights.subset(rows)?, ..Self::new(labels)? })
    }
    fn weights(&self) -> Option<&[f64]> {
        self.weights.given()
    }
    fn classes(&self) -> Option<&[f64]> {
        Some(&self.labels)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::contract;

    #[test]
    fn keeps_the_contract() {
        let loss = Logistic::new(vec![1.0, 0.0, 1.0, 0.0]).unwrap();
        contract::check(&loss);
        contract::check(&loss.weighted(vec![2.0, 0.0, 0.3, 1.0]).unwrap());
    }

    #[test]
    fn the_deviance_is_that_of_coin_tosses() {
        let loss = Logistic::new(vec![1.0, 0.0, 1.0]).unwrap();
        let z = [0.3, -1.2, 2.0];
        let likelihood = Logistic::probability(0.3) * (1.0 - Logistic::probability(-1.2)) * Logistic::probability(2.0);
        assert!((loss.deviance(loss.value(&z)) + 2.0 * likelihood.ln()).abs() < 1e-14);
    }

    #[test]
    fn classes_are_separated_where_every_row_with_a_weight_is_on_its_side() {
        let loss = Logistic::new(vec![1.0, 0.0, 1.0]).unwrap();
        assert!(loss.separates(&[0.1, -3.0, 2.0]));
        assert!(!loss.separates(&[0.1, -3.0, 0.0]) && !loss.separates(&[0.1, 0.3, 2.0]));
        assert!(loss.weighted(vec![1.0, 0.0, 1.0]).unwrap().separates(&[0.1, 0.3, 2.0]));
    }

    #[test]
    fn rows_and_their_weights_make_a_loss() {
        let loss = Logistic::new(vec![1.0, 0.0, 1.0, 0.0]).unwrap();
        contract::check_subset(&loss);
        contract::check_subset(&loss.clone().weighted(vec![2.0, 0.0, 0.3, 1.0]).unwrap());
        assert_eq!(loss.subset(&[2, 3]).unwrap().classes(), Some(&[1.0, 0.0][..]));
        assert_eq!(loss.subset(&[4]).unwrap_err(), Error::Index { what: "row", position: 0, index: 4, bound: 4 });
        assert_eq!(loss.subset(&[]).unwrap_err(), Error::Empty { what: "the labels" });
        assert!(loss.weighted(vec![2.0, 0.0, 0.3, 1.0]).unwrap().subset(&[1]).is_err());
    }

    #[test]
    fn a_label_that_is_no_label_is_named() {
        let error = Logistic::new(vec![0.0, 2.0]).unwrap_err();
        assert_eq!(error, Error::Value { what: "labels", index: 1, value: 2.0, right: "every label must be 0 or 1" });
    }
}
