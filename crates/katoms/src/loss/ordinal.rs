//! Classes in an order: proportional odds.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use super::curvature::Hessian;
use super::weights::Weights;
use super::{Logistic, Loss, Split, checked_labels};
use crate::error::{Error, check_indices};
use crate::linalg::{Matrix, dot, solve_symmetric};

/// Newton steps on the thresholds; a few are enough, and halvings of one.
const STEPS: usize = 100;
const HALVINGS: i32 = 60;

/// The (weighted) negative log-likelihood of K classes in an order, by proportional odds: the log-odds of a class of at most c
/// are θ_c − z. The thresholds θ are those of the least loss at z, found inside, so that they are no coefficients and take the
/// place of an intercept.
///
/// ```
/// use katoms::loss::{Loss, Ordinal};
/// let loss = Ordinal::new(vec![0, 1, 2, 1], 3)?;
/// // without predictions, a quarter, a half and a quarter
/// assert!((loss.value(&[0.0; 4]) - (2.0 * 4.0_f64.ln() + 2.0 * 2.0_f64.ln())).abs() < 1e-14);
/// # Ok::<(), katoms::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Ordinal {
    labels: Vec<f64>,
    classes: usize,
    weights: Weights,
    /// The class of each row among those that rows with a weight have.
    places: Arc<Vec<usize>>,
    present: Vec<usize>,
    /// The last predictions, of which all is known.
    last: Arc<Mutex<Option<Arc<Least>>>>,
}

impl Ordinal {
    /// The loss of these labels, each below the number of classes.
    ///
    /// # Errors
    /// When there are no labels, there are fewer than two classes, a label is not below their number, or all are the same.
    pub fn new(labels: impl Into<Vec<usize>>, classes: usize) -> Result<Self, Error> {
        let labels = checked_labels(labels.into(), classes)?;
        Self {
            labels,
            classes,
            weights: Weights::default(),
            places: Arc::default(),
            present: Vec::new(),
            last: Arc::default(),
        }
        .placed()
    }

    /// The same with sample weights.
    ///
    /// # Errors
    /// When their number is wrong, one is negative or not finite, or only rows of one class have one.
    pub fn weighted(self, weights: impl Into<Vec<f64>>) -> Result<Self, Error> {
        let weights = Weights::new(weights.into(), self.labels.len())?;
        Self { weights, ..self }.placed()
    }

    fn placed(mut self) -> Result<Self, Error> {
        let weighted = (0..self.labels.len()).filter(|&i| self.weights.at(i) > 0.0);
        let present: BTreeSet<usize> = weighted.map(|i| self.labels[i] as usize).collect();
        self.present = present.into_iter().collect();
        if self.present.len() < 2 {
            let right = "rows of at least two classes must have a weight";
            return Err(Error::Value { what: "labels", index: 0, value: self.labels[0], right });
        }
        let place = |label: &f64| self.present.partition_point(|&c| c < *label as usize).min(self.present.len() - 1);
        self.places = Arc::new(self.labels.iter().map(place).collect());
        self.last = Arc::default();
        Ok(self)
    }

    /// The number of classes.
    pub fn class_count(&self) -> usize {
        self.classes
    }

    /// The K − 1 thresholds of the least loss at these predictions, rising. A class that no row has lies between two that are
    /// the same, and one beyond all of them at infinity.
    pub fn thresholds(&self, z: &[f64]) -> Vec<f64> {
        let least = self.least(z);
        let found = &least.thresholds;
        let one = |c: usize| match self.present.partition_point(|&p| p <= c) {
            0 => f64::NEG_INFINITY,
            at => found.get(at - 1).copied().unwrap_or(f64::INFINITY),
        };
        (0..self.classes - 1).map(one).collect()
    }

    /// The probabilities of the classes at a prediction.
    pub fn probabilities(thresholds: &[f64], z: f64) -> Vec<f64> {
        let at = |c: usize| thresholds.get(c).map_or(f64::INFINITY, |t| t - z);
        let below = |c: usize| if c == 0 { f64::NEG_INFINITY } else { at(c - 1) };
        (0..=thresholds.len()).map(|c| between(below(c), at(c))).collect()
    }

    /// The loss at these thresholds between the classes that are present, and its derivatives by them.
    fn at(&self, z: &[f64], thresholds: &[f64]) -> Fitted {
        let t = thresholds.len();
        let mut fitted = Fitted { value: 0.0, slopes: vec![0.0; t], curvatures: Matrix::zeros(t, t) };
        let mut counts = vec![0.0; t + 1];
        let (mut curvatures, mut logarithms) = (vec![0.0; t], Logarithms::default());
        for (i, (&z, &place)) in z.iter().zip(self.places.iter()).enumerate() {
            let weight = self.weights.at(i);
            counts[place] += weight;
            if let Some(threshold) = thresholds.get(place) {
                let p = logarithms.add_soft_plus(weight, z - threshold);
                fitted.slopes[place] -= weight * p;
                curvatures[place] += weight * p * (1.0 - p);
            }
            if place > 0 {
                let p = logarithms.add_soft_plus(weight, thresholds[place - 1] - z);
                fitted.slopes[place - 1] += weight * p;
                curvatures[place - 1] += weight * p * (1.0 - p);
            }
        }
        fitted.value = logarithms.sum();
        (0..t).for_each(|c| fitted.curvatures.column_mut(c)[c] = curvatures[c]);
        for place in 1..t {
            // A class between two thresholds has −ln(1 − e^(−gap)) beside what its rows have.
            let (gap, weight) = (thresholds[place] - thresholds[place - 1], counts[place]);
            let (slope, curvature) = (1.0 / gap.exp_m1(), 1.0 / (gap.exp_m1() * -(-gap).exp_m1()));
            fitted.value -= weight * (-(-gap).exp_m1()).ln();
            fitted.slopes[place] -= weight * slope;
            fitted.slopes[place - 1] += weight * slope;
            fitted.curvatures.column_mut(place)[place] += weight * curvature;
            fitted.curvatures.column_mut(place - 1)[place - 1] += weight * curvature;
            fitted.curvatures.column_mut(place)[place - 1] -= weight * curvature;
            fitted.curvatures.column_mut(place - 1)[place] -= weight * curvature;
        }
        fitted
    }

    /// The derivatives at the thresholds of the least loss.
    fn local(&self, z: &[f64]) -> Local {
        let least = self.least(z);
        let (thresholds, m) = (&least.thresholds, z.len());
        let (mut slopes, mut upper, mut lower) = (vec![0.0; m], vec![0.0; m], vec![0.0; m]);
        for (i, (&z, &place)) in z.iter().zip(self.places.iter()).enumerate() {
            let weight = self.weights.at(i);
            if let Some(threshold) = thresholds.get(place) {
                let p = Logistic::probability(z - threshold);
                (upper[i], slopes[i]) = (weight * p * (1.0 - p), weight * p);
            }
            if place > 0 {
                let p = Logistic::probability(thresholds[place - 1] - z);
                lower[i] = weight * p * (1.0 - p);
                slopes[i] -= weight * p;
            }
        }
        Local { thresholds: least.fitted.curvatures.clone(), slopes, upper, lower }
    }

    /// The thresholds of the least loss, between the classes that are present. A point is asked about several times, for its
    /// value and for its derivatives: the last answer is kept.
    fn least(&self, z: &[f64]) -> Arc<Least> {
        if let Ok(last) = self.last.try_lock()
            && let Some(last) = last.as_ref().filter(|last| last.z == z)
        {
            return Arc::clone(last);
        }
        let (thresholds, fitted) = self.searched(z);
        let found = Arc::new(Least { z: z.to_vec(), thresholds, fitted });
        if let Ok(mut last) = self.last.try_lock() {
            *last = Some(Arc::clone(&found));
        }
        found
    }

    /// Damped Newton's steps.
    fn searched(&self, z: &[f64]) -> (Vec<f64>, Fitted) {
        let total: f64 = (0..z.len()).map(|i| self.weights.at(i)).sum();
        let mean = (0..z.len()).map(|i| self.weights.at(i) * z[i]).sum::<f64>() / total;
        let mut counts = vec![0.0; self.present.len()];
        self.places.iter().enumerate().for_each(|(i, &place)| counts[place] += self.weights.at(i));
        let mut below = 0.0;
        let start = |count: &f64| {
            below += count;
            mean + (below / (total - below)).ln()
        };
        let mut thresholds: Vec<f64> = counts[..counts.len() - 1].iter().map(start).collect();
        let mut here = self.at(z, &thresholds);
        for _ in 0..STEPS {
            let step = solve_symmetric(&here.curvatures, &here.slopes);
            let predicted = 0.5 * dot(&step, &here.slopes);
            let moved = |share: f64| -> Vec<f64> { thresholds.iter().zip(&step).map(|(t, s)| t - share * s).collect() };
            let next = (0..HALVINGS).map(|halvings| moved(0.5_f64.powi(halvings))).find_map(|next| {
                let there = next.is_sorted_by(|a, b| a < b).then(|| self.at(z, &next))?;
                (there.value <= here.value).then_some((next, there))
            });
            let Some((next, there)) = next else { break };
            let last = !(predicted > 1e-30 * here.value) || next == thresholds;
            (thresholds, here) = (next, there);
            if last {
                break;
            }
        }
        (thresholds, here)
    }
}

/// The thresholds of the least loss at some predictions.
#[derive(Debug)]
struct Least {
    z: Vec<f64>,
    thresholds: Vec<f64>,
    fitted: Fitted,
}

/// A loss at some thresholds, and its derivatives by them.
#[derive(Debug)]
struct Fitted {
    value: f64,
    slopes: Vec<f64>,
    curvatures: Matrix,
}

/// The second derivatives by the thresholds, and derivatives by the predictions.
struct Local {
    thresholds: Matrix,
    slopes: Vec<f64>,
    /// Minus the mixed second ones: with the threshold above the class of each row, and with that below. Their sum is the
    /// second derivative by the prediction.
    upper: Vec<f64>,
    lower: Vec<f64>,
}

/// A weighted sum of ln(1 + eˣ), with one logarithm for many terms of weight 1: that of their product.
struct Logarithms {
    sum: f64,
    product: f64,
}

impl Default for Logarithms {
    fn default() -> Self {
        Self { sum: 0.0, product: 1.0 }
    }
}

impl Logarithms {
    /// Below this eˣ is lost beside 1.
    const SMALL: f64 = 1e-6;
    const LARGE: f64 = 1e300;

    /// Adds w·ln(1 + eˣ); the derivative of ln(1 + eˣ).
    fn add_soft_plus(&mut self, weight: f64, x: f64) -> f64 {
        let e = (-x.abs()).exp();
        self.sum += weight * x.max(0.0);
        if weight == 1.0 && e > Self::SMALL {
            self.product *= 1.0 + e;
            if self.product > Self::LARGE {
                self.sum += self.product.ln();
                self.product = 1.0;
            }
        } else {
            self.sum += weight * e.ln_1p();
        }
        if x >= 0.0 { 1.0 / (1.0 + e) } else { e / (1.0 + e) }
    }

    fn sum(&self) -> f64 {
        self.sum + self.product.ln()
    }
}

/// σ(b) − σ(a) for a < b, without cancellation.
fn between(a: f64, b: f64) -> f64 {
    Logistic::probability(b) * Logistic::probability(-a) * -(a - b).exp_m1()
}

impl Loss for Ordinal {
    fn n_outputs(&self) -> usize {
        self.labels.len()
    }
    fn value(&self, z: &[f64]) -> f64 {
        self.least(z).fitted.value
    }
    fn gradient(&self, z: &[f64], r: &mut [f64]) {
        r.copy_from_slice(&self.local(z).slopes);
    }
    /// At thresholds that stay where they are: where they follow, it is less.
    fn curvature(&self, z: &[f64], h: &mut [f64]) {
        let local = self.local(z);
        h.iter_mut().zip(local.upper.iter().zip(&local.lower)).for_each(|(h, (upper, lower))| *h = upper + lower);
    }
    fn hessian(&self, z: &[f64]) -> Option<Hessian> {
        let (local, places) = (self.local(z), Arc::clone(&self.places));
        Some(Hessian::Product(Box::new(move |d| {
            let mut along = vec![0.0; local.thresholds.columns()];
            for (i, &place) in places.iter().enumerate() {
                if place < along.len() {
                    along[place] += local.upper[i] * d[i];
                }
                if place > 0 {
                    along[place - 1] += local.lower[i] * d[i];
                }
            }
            let moved = solve_symmetric(&local.thresholds, &along);
            let one = |(i, &place): (usize, &usize)| {
                let above = moved.get(place).map_or(0.0, |t| local.upper[i] * t);
                let below = if place > 0 { local.lower[i] * moved[place - 1] } else { 0.0 };
                (local.upper[i] + local.lower[i]) * d[i] - above - below
            };
            places.iter().enumerate().map(one).collect()
        })))
    }
    fn curvature_bound(&self) -> f64 {
        0.5 * self.weights.largest()
    }
    fn is_quadratic(&self) -> bool {
        false
    }
    fn observations(&self) -> usize {
        self.weights.observations(self.labels.len())
    }
    fn ignores_constants(&self) -> bool {
        true
    }
    fn has_far_minima(&self) -> bool {
        true
    }
    /// Whether the predictions of every class lie above those of the class below.
    fn separates(&self, z: &[f64]) -> bool {
        let mut ends = vec![(f64::INFINITY, f64::NEG_INFINITY); self.present.len()];
        for (i, (&z, &place)) in z.iter().zip(self.places.iter()).enumerate() {
            if self.weights.at(i) > 0.0 {
                ends[place] = (ends[place].0.min(z), ends[place].1.max(z));
            }
        }
        ends.windows(2).all(|pair| pair[0].1 < pair[1].0)
    }
}

impl Split for Ordinal {
    fn subset(&self, rows: &[usize]) -> Result<Self, Error> {
        check_indices("row", rows, self.labels.len())?;
        let labels = rows.iter().map(|&i| self.labels[i]).collect();
        Self { labels, weights: self.weights.subset(rows)?, ..self.clone() }.placed()
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

    const LABELS: [usize; 7] = [0, 1, 2, 1, 2, 0, 1];

    #[test]
    fn keeps_the_contract() {
        let loss = Ordinal::new(LABELS, 3).unwrap();
        contract::check(&loss);
        contract::check(&loss.weighted([1.0, 2.0, 0.5, 0.0, 1.0, 1.0, 1.0]).unwrap());
        contract::check(&Ordinal::new([0, 3, 1, 3, 0], 5).unwrap());
        contract::check(&Ordinal::new([0, 1, 1, 0], 2).unwrap());
    }

    #[test]
    fn thresholds_have_the_least_loss_and_probabilities_are_those_of_the_classes() {
        let loss = Ordinal::new(LABELS, 3).unwrap();
        let z: Vec<f64> = (0..7).map(|i| (f64::from(i) * 0.7).sin() * 2.0).collect();
        let thresholds = loss.thresholds(&z);
        let likelihood = |thresholds: &[f64]| -> f64 {
            (0..7).map(|i| -Ordinal::probabilities(thresholds, z[i])[LABELS[i]].ln()).sum()
        };
        assert!((likelihood(&thresholds) - loss.value(&z)).abs() < 1e-12);
        for (a, b) in [(0.01, 0.0), (0.0, 0.01), (-0.01, 0.01)] {
            assert!(likelihood(&[thresholds[0] + a, thresholds[1] + b]) > loss.value(&z));
        }
        assert!((Ordinal::probabilities(&thresholds, 0.3).iter().sum::<f64>() - 1.0).abs() < 1e-15);
        // a prediction that is the same for all changes nothing
        let shifted: Vec<f64> = z.iter().map(|z| z + 5.0).collect();
        assert!((loss.value(&shifted) - loss.value(&z)).abs() < 1e-12);
    }

    #[test]
    fn classes_that_no_row_has_take_no_part() {
        let (five, three) = (Ordinal::new([1, 3, 2, 3, 1], 5).unwrap(), Ordinal::new([0, 2, 1, 2, 0], 3).unwrap());
        let z = [0.3, 1.0, -0.5, 0.2, 0.1];
        assert_eq!(five.value(&z), three.value(&z));
        let (all, some) = (five.thresholds(&z), three.thresholds(&z));
        assert_eq!(all, [f64::NEG_INFINITY, some[0], some[1], f64::INFINITY]);
        assert!(five.subset(&[0, 4]).unwrap_err().to_string().contains("two classes"));
        assert!(five.separates(&[0.0, 2.0, 1.0, 2.5, 0.1]) && !five.separates(&[0.0, 2.0, 1.0, 0.5, 0.1]));
        assert!(Ordinal::new([0, 0], 2).is_err() && Ordinal::new([0, 2], 2).is_err());
    }
}
