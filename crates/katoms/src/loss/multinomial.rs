//! Many classes: ln Σ e^(classes) − that of the class itself.

use super::curvature::Hessian;
use super::rows::times_log;
use super::weights::Weights;
use super::{Loss, Split, checked_labels};
use crate::error::{Error, check_indices};

/// Up to so many classes the Hessian of each row is written out.
const WRITTEN_OUT: usize = 9;

/// The (weighted) negative log-likelihood of K classes, each with a score of its own.
///
/// Only differences of scores matter, so that there are K − 1 predictions for a row: the scores are [`Multinomial::scores`] of
/// them, which add up to zero. The map is orthonormal, so that a ridge on coefficients is the same ridge on the coefficients
/// of the K scores, and at two classes the loss is the logistic one with z divided by √2. The predictions of all rows for the first
/// of the K − 1 come first, then those for the second.
///
/// ```
/// use katoms::loss::{Loss, Multinomial};
/// let loss = Multinomial::new(vec![0, 2, 1, 0], 3)?;
/// assert_eq!(loss.n_outputs(), 8);
/// assert!((loss.value(&[0.0; 8]) - 4.0 * 3.0_f64.ln()).abs() < 1e-14);
/// # Ok::<(), katoms::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Multinomial {
    labels: Vec<f64>,
    classes: usize,
    weights: Weights,
}

impl Multinomial {
    /// The loss of these labels, each below the number of classes.
    ///
    /// # Errors
    /// When there are no labels, there are fewer than two classes, or a label is not below their number.
    pub fn new(labels: impl Into<Vec<usize>>, classes: usize) -> Result<Self, Error> {
        let labels = checked_labels(labels.into(), classes)?;
        Ok(Self { labels, classes, weights: Weights::default() })
    }

    /// The same with sample weights.
    ///
    /// # Errors
    /// When their number is wrong, one is negative or not finite, or all are zero.
    pub fn weighted(self, weights: impl Into<Vec<f64>>) -> Result<Self, Error> {
        let weights = Weights::new(weights.into(), self.labels.len())?;
        Ok(Self { weights, ..self })
    }

    /// The number of classes.
    pub fn class_count(&self) -> usize {
        self.classes
    }

    /// The scores of K classes, which add up to zero, of K − 1 predictions: their product with an orthonormal matrix of
    /// contrasts, each of which compares a class with the mean of those before it.
    pub fn scores(predictions: &[f64]) -> Vec<f64> {
        let mut scores = vec![0.0; predictions.len() + 1];
        fill_scores(|j| predictions[j], &sizes(scores.len()), &mut scores);
        scores
    }

    /// The K − 1 predictions that have these scores, up to a constant that all classes share.
    pub fn contrasts(scores: &[f64]) -> Vec<f64> {
        contrasts(scores, &sizes(scores.len())).collect()
    }

    /// The probabilities of K classes at K − 1 predictions.
    pub fn probabilities(predictions: &[f64]) -> Vec<f64> {
        let mut scores = Self::scores(predictions);
        to_probabilities(&mut scores);
        scores
    }

    /// Tells the scores of every row, in a buffer that may be changed, and the sizes of the contrasts.
    fn for_each_row(&self, z: &[f64], mut tell: impl FnMut(usize, &mut [f64], &[f64])) {
        let (mut scores, sizes, rows) = (vec![0.0; self.classes], sizes(self.classes), self.rows());
        for i in 0..rows {
            fill_scores(|j| z[j * rows + i], &sizes, &mut scores);
            tell(i, &mut scores, &sizes);
        }
    }

    /// The same with probabilities.
    fn for_each_probabilities(&self, z: &[f64], mut tell: impl FnMut(usize, &mut [f64], &[f64])) {
        self.for_each_row(z, |i, scores, sizes| {
            to_probabilities(scores);
            tell(i, scores, sizes);
        });
    }

    /// The blocks of ∇²ℓ(z), each a diagonal: those of the first output with all, then those of the second.
    ///
    /// Contrast c compares class c + 1 with the mean of those before it. With its mean μ_c and its size s_c, the block of c and
    /// an earlier b is (s_c − μ_c)·μ_b, since b is the same number times s_c on all classes where it is not zero. All
    /// differences of probabilities from 1 are sums of others, so that nothing is lost of what is nearly certain.
    fn blocks(&self, z: &[f64]) -> Vec<f64> {
        let (rows, outputs) = (self.rows(), self.classes - 1);
        let mut blocks = vec![0.0; rows * outputs * outputs];
        let mut means = vec![0.0; outputs];
        self.for_each_probabilities(z, |i, p, sizes| {
            let (weight, mut before) = (self.weights.at(i), 0.0);
            for (c, size) in sizes.iter().enumerate() {
                before += p[c];
                let (own, behind, times) = (p[c + 1], p[c + 2..].iter().sum::<f64>(), (c + 1) as f64);
                means[c] = size * (before - times * own);
                let rest = weight * size * ((own + behind) + times * own);
                let spread =
                    before * (own + behind) + times * times * own * (before + behind) + 2.0 * times * before * own;
                blocks[(c * outputs + c) * rows + i] = weight * size * size * spread;
                for (b, mean) in means[..c].iter().enumerate() {
                    blocks[(c * outputs + b) * rows + i] = rest * mean;
                    blocks[(b * outputs + c) * rows + i] = rest * mean;
                }
            }
        });
        blocks
    }

    fn rows(&self) -> usize {
        self.labels.len()
    }

    /// The predictions of a row.
    fn row(&self, z: &[f64], i: usize) -> Vec<f64> {
        (0..self.classes - 1).map(|j| z[j * self.rows() + i]).collect()
    }

    fn label(&self, i: usize) -> usize {
        self.labels[i] as usize
    }
}

/// The sizes of the contrasts of K classes: 1/√((j + 1)(j + 2)) that of the j-th.
fn sizes(classes: usize) -> Vec<f64> {
    (1..classes).map(|j| 1.0 / ((j * (j + 1)) as f64).sqrt()).collect()
}

/// The scores of K − 1 predictions.
#[inline]
fn fill_scores(prediction: impl Fn(usize) -> f64, sizes: &[f64], scores: &mut [f64]) {
    let mut later = 0.0;
    for j in (0..sizes.len()).rev() {
        let part = prediction(j) * sizes[j];
        scores[j + 1] = later - (j + 1) as f64 * part;
        later += part;
    }
    scores[0] = later;
}

/// The transposed contrasts of K numbers.
fn contrasts(scores: &[f64], sizes: &[f64]) -> impl Iterator<Item = f64> {
    let mut before = 0.0;
    sizes.iter().enumerate().map(move |(j, size)| {
        before += scores[j];
        size * (before - (j + 1) as f64 * scores[j + 1])
    })
}

fn to_probabilities(scores: &mut [f64]) {
    let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    scores.iter_mut().for_each(|score| *score = (*score - most).exp());
    let sum: f64 = scores.iter().sum();
    scores.iter_mut().for_each(|score| *score /= sum);
}

/// (diag(p) − ppᵀ)·v.
fn times_covariance(p: &[f64], v: &mut [f64]) {
    let mean: f64 = p.iter().zip(&*v).map(|(p, v)| p * v).sum();
    v.iter_mut().zip(p).for_each(|(v, p)| *v = p * (*v - mean));
}

impl Loss for Multinomial {
    fn n_outputs(&self) -> usize {
        self.rows() * (self.classes - 1)
    }
    fn outputs_per_row(&self) -> usize {
        self.classes - 1
    }
    fn value(&self, z: &[f64]) -> f64 {
        let mut value = 0.0;
        self.for_each_row(z, |i, scores, _| {
            let label = self.label(i);
            let ahead = scores.iter().enumerate().filter(|&(c, _)| c != label).map(|(_, score)| score - scores[label]);
            let most = ahead.clone().fold(0.0, f64::max);
            // ln(1 + Σ e^ahead), without losing what is nearly certain
            let rest = ahead.map(|d| (d - most).exp()).sum::<f64>();
            let own = if most == 0.0 { rest.ln_1p() } else { most + ((-most).exp() + rest).ln() };
            value += self.weights.at(i) * own;
        });
        value
    }
    fn gradient(&self, z: &[f64], r: &mut [f64]) {
        self.for_each_probabilities(z, |i, slopes, sizes| {
            // p − 1, without losing what is nearly certain
            let label = self.label(i);
            slopes[label] = -slopes.iter().enumerate().filter(|&(c, _)| c != label).map(|(_, p)| p).sum::<f64>();
            contrasts(slopes, sizes).enumerate().for_each(|(j, v)| r[j * self.rows() + i] = self.weights.at(i) * v);
        });
    }
    /// 2·max p(1 − p): the largest row sum of magnitudes of diag(p) − ppᵀ, which no eigenvalue exceeds (Gershgorin).
    fn curvature(&self, z: &[f64], h: &mut [f64]) {
        self.for_each_probabilities(z, |i, p, _| {
            let most = p.iter().map(|p| 2.0 * p * (1.0 - p)).fold(0.0, f64::max);
            (0..self.classes - 1).for_each(|j| h[j * self.rows() + i] = self.weights.at(i) * most);
        });
    }
    fn hessian(&self, z: &[f64]) -> Option<Hessian> {
        if self.classes <= WRITTEN_OUT {
            return Some(Hessian::ByRows(self.blocks(z)));
        }
        let (loss, rows) = (self.clone(), self.rows());
        let mut p = Vec::with_capacity(rows * self.classes);
        self.for_each_probabilities(z, |_, own, _| p.extend_from_slice(own));
        Some(Hessian::Product(Box::new(move |d| {
            let mut out = vec![0.0; d.len()];
            loss.for_each_row(d, |i, v, sizes| {
                times_covariance(&p[i * loss.classes..][..loss.classes], v);
                contrasts(v, sizes).enumerate().for_each(|(j, v)| out[j * rows + i] = loss.weights.at(i) * v);
            });
            out
        })))
    }
    /// 2·p(1 − p) ≤ ½ (Böhning 1992).
    fn curvature_bound(&self) -> f64 {
        0.5 * self.weights.largest()
    }
    fn is_quadratic(&self) -> bool {
        false
    }
    fn observations(&self) -> usize {
        self.weights.observations(self.rows())
    }
    /// Minus the weighted entropy of the probabilities that the slopes a stand for.
    fn conjugate(&self, a: &[f64]) -> Option<f64> {
        let one = |i: usize| {
            let (weight, slopes) = (self.weights.at(i), self.row(a, i));
            if weight == 0.0 {
                return if slopes.iter().all(|&a| a == 0.0) { 0.0 } else { f64::INFINITY };
            }
            let mut p: Vec<f64> = Self::scores(&slopes).iter().map(|v| v / weight).collect();
            p[self.label(i)] += 1.0;
            // A probability of 0 may come out a little below.
            let term = |p: f64| if p < -1e-12 { f64::INFINITY } else { times_log(p.max(0.0)) };
            weight * p.into_iter().map(term).sum::<f64>()
        };
        Some((0..self.rows()).map(one).sum())
    }
    fn has_far_minima(&self) -> bool {
        true
    }
    /// Whether every row that has a weight is surest of its class.
    fn separates(&self, z: &[f64]) -> bool {
        (0..self.rows()).all(|i| {
            let (scores, label) = (Self::scores(&self.row(z, i)), self.label(i));
            self.weights.at(i) == 0.0 || (0..self.classes).all(|c| c == label || scores[c] < scores[label])
        })
    }
}

impl Split for Multinomial {
    fn subset(&self, rows: &[usize]) -> Result<Self, Error> {
        check_indices("row", rows, self.rows())?;
        let labels: Vec<usize> = rows.iter().map(|&i| self.label(i)).collect();
        Ok(Self { weights: self.weights.subset(rows)?, ..Self::new(labels, self.classes)? })
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
    use crate::linalg::dot;
    use crate::loss::{Logistic, contract};

    #[test]
    fn keeps_the_contract() {
        for classes in [2, 3, 5, WRITTEN_OUT + 1] {
            let loss = Multinomial::new(vec![0, 1, 1, 0, classes - 1], classes).unwrap();
            for loss in [loss.clone(), loss.weighted(vec![2.0, 0.0, 0.3, 1.0, 1.0]).unwrap()] {
                contract::check(&loss);
                contract::check_subset(&loss);
            }
        }
    }

    #[test]
    fn the_contrasts_are_orthonormal_and_add_up_to_zero() {
        let columns: Vec<Vec<f64>> = (0..4)
            .map(|j| Multinomial::scores(&(0..4).map(|i| f64::from(u8::from(i == j))).collect::<Vec<f64>>()))
            .collect();
        for (i, a) in columns.iter().enumerate() {
            assert!(a.iter().sum::<f64>().abs() < 1e-15);
            for (j, b) in columns.iter().enumerate() {
                assert!((dot(a, b) - f64::from(u8::from(i == j))).abs() < 1e-15);
            }
        }
        let scores = [0.3, -1.0, 2.0, 0.0, 0.7];
        let pulled: Vec<f64> = contrasts(&scores, &sizes(5)).collect();
        columns.iter().zip(&pulled).for_each(|(column, v)| assert!((dot(column, &scores) - v).abs() < 1e-15));
    }

    #[test]
    fn two_classes_are_the_logistic_loss() {
        let (labels, z) = ([0, 1, 1, 0], [0.3, -1.2, 2.0, 0.5]);
        let loss = Multinomial::new(labels, 2).unwrap();
        let logistic = Logistic::new(labels.map(|label| label as f64)).unwrap();
        // the score of class 1 less that of class 0
        let odds = z.map(|z| -std::f64::consts::SQRT_2 * z);
        assert!((loss.value(&z) - logistic.value(&odds)).abs() < 1e-14);
    }

    #[test]
    fn subsets_and_bad_labels() {
        let loss = Multinomial::new(vec![0, 2, 1, 0], 3).unwrap();
        let part = loss.subset(&[3, 1]).unwrap();
        assert_eq!((part.n_outputs(), part.outputs_per_row(), part.observations()), (4, 2, 2));
        assert_eq!(Split::classes(&part), Some(&[0.0, 2.0][..]));
        assert!(Multinomial::new(vec![0, 3], 3).is_err() && Multinomial::new(vec![0], 1).is_err());
        assert!(loss.separates(&[1.0, 0.0, -1.0, 1.0, 0.5, -1.0, 0.5, 0.5]));
    }
}
