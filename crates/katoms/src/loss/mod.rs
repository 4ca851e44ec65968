//! Losses: one per file. A loss sees predictions, never features.

mod any;
mod constant;
mod cox;
mod curvature;
mod custom;
mod gamma;
mod huber;
mod least_squares;
mod logistic;
mod multinomial;
mod negative_binomial;
mod ordinal;
mod poisson;
mod quantile;
mod rows;
mod weights;

use std::fmt::Debug;

use crate::error::{Error, check_range, check_values};
use crate::linalg;

pub use any::AnyLoss;
pub use constant::{best_constant, best_constants};
pub use cox::{Baseline, Cox, Ties};
pub use curvature::{Curvature, Hessian, HessianProduct};
pub use custom::{Custom, RowFunctions};
pub use gamma::{Gamma, GammaFamily};
pub use huber::{Huber, HuberFamily};
pub use least_squares::LeastSquares;
pub use logistic::Logistic;
pub use multinomial::Multinomial;
pub use negative_binomial::{NegativeBinomial, NegativeBinomialFamily};
pub use ordinal::Ordinal;
pub use poisson::{Poisson, PoissonFamily};
pub use quantile::{Quantile, QuantileFamily};
pub use rows::{Family, Observed, RowLoss};

/// ℓ(z), convex and smooth, on a vector of predictions: most often a sum over the rows. Every method is O(m).
pub trait Loss: Debug + Sync {
    /// The number of predictions it wants.
    fn n_outputs(&self) -> usize;
    /// How many of them belong to one row of the data: those of the first of each row come first, then those of the second.
    fn outputs_per_row(&self) -> usize {
        1
    }
    /// The number of rows of the data.
    fn n_rows(&self) -> usize {
        self.n_outputs() / self.outputs_per_row()
    }
    /// ℓ(z).
    fn value(&self, z: &[f64]) -> f64;
    /// r = ∇ℓ(z).
    fn gradient(&self, z: &[f64], r: &mut [f64]);
    /// h = ∇²ℓ(z) where that is diagonal; where predictions depend on each other, a diagonal that it is nowhere above, and
    /// [`hessian`](Self::hessian) has ∇²ℓ(z) itself. Step sizes and Newton refits use it.
    fn curvature(&self, z: &[f64], h: &mut [f64]);
    /// ∇²ℓ(z) where it is not diagonal. As it stands here, it is: the loss is a sum over the predictions.
    fn hessian(&self, z: &[f64]) -> Option<Hessian> {
        let _ = z;
        None
    }
    /// ⟨∇ℓ(z), d⟩.
    fn slope(&self, z: &[f64], d: &[f64]) -> f64 {
        let mut r = vec![0.0; z.len()];
        self.gradient(z, &mut r);
        linalg::dot(&r, d)
    }
    /// ⟨d, ∇²ℓ(z)·d⟩.
    fn curvature_along(&self, z: &[f64], d: &[f64]) -> f64 {
        let mut h = vec![0.0; z.len()];
        self.curvature(z, &mut h);
        Curvature::new(h, self.hessian(z)).between(d, d)
    }
    /// The largest entry that `curvature` can have anywhere; +∞ where there is none.
    fn curvature_bound(&self) -> f64;
    /// The largest curvature to reckon with at z: its bound, or the largest there is at z where it has none.
    fn curvature_scale(&self, z: &[f64]) -> f64 {
        let bound = self.curvature_bound();
        if bound < f64::INFINITY {
            return bound;
        }
        let mut h = vec![0.0; z.len()];
        self.curvature(z, &mut h);
        h.into_iter().fold(0.0, f64::max)
    }
    /// Whether the curvature is the same everywhere, so that a Newton step is exact.
    fn is_quadratic(&self) -> bool;
    /// A number that ℓ never goes below.
    fn lower_bound(&self) -> f64 {
        0.0
    }
    /// ℓ*(a) = sup over z of aᵀz − ℓ(z), +∞ where there is no largest: what a proof of optimality needs.
    /// `None` where it is not known.
    fn conjugate(&self, a: &[f64]) -> Option<f64> {
        let _ = a;
        None
    }
    /// How many observations it speaks of: what criteria weigh the size of a model against. Weights that are all whole
    /// numbers are counts, so that a row of weight 2 is that row twice; of other weights, whose unit means nothing, the
    /// positive ones count one each. As it stands here, the rows that have a curvature at 0. O(m).
    fn observations(&self) -> usize {
        let (rows, outputs) = (self.n_rows(), self.n_outputs());
        let mut h = vec![0.0; outputs];
        self.curvature(&vec![0.0; outputs], &mut h);
        // A row without weight has no curvature either.
        (0..rows).filter(|i| h[*i..].iter().step_by(rows).any(|h| *h > 0.0)).count()
    }
    /// −2·log-likelihood up to a constant that does not depend on the model, at a loss of `value`. It
    /// rises with the loss. As it stands here, the loss is the negative log-likelihood.
    fn deviance(&self, value: f64) -> f64 {
        2.0 * value
    }
    /// Whether a constant that is added to all predictions changes nothing, so that there is no intercept. As it stands
    /// here, it does.
    fn ignores_constants(&self) -> bool {
        false
    }
    /// Whether ℓ(t·z) falls towards its lower bound for ever as t grows: z separates two classes completely. Without a
    /// ridge no finite coefficients are then the best. As it stands here, no predictions do.
    fn separates(&self, z: &[f64]) -> bool {
        let _ = z;
        false
    }
    /// Whether the loss may fall for ever, towards a value that it never has, as some predictions grow: the logarithms of means
    /// or odds. As it stands here, it does not.
    fn has_far_minima(&self) -> bool {
        false
    }
}

/// Labels of this many classes as numbers.
fn checked_labels(labels: Vec<usize>, classes: usize) -> Result<Vec<f64>, Error> {
    let labels: Vec<f64> = labels.into_iter().map(|label| label as f64).collect();
    if labels.is_empty() {
        return Err(Error::Empty { what: "the labels" });
    }
    check_range("the number of classes", classes, 2, u32::MAX as usize)?;
    check_values("labels", &labels, "every label must be below the number of classes", |v| v < classes as f64)?;
    Ok(labels)
}

/// A loss that can be asked about some of its rows alone: folds, half-samples, bootstraps. Rows are those of the data, each
/// with all of its [outputs](Loss::outputs_per_row).
///
/// ```
/// use katoms::loss::{LeastSquares, Loss, Split};
/// let loss = LeastSquares::new(vec![1.0, 2.0, 4.0])?.weighted(vec![1.0, 1.0, 2.0])?;
/// let part = loss.subset(&[2, 0])?;
/// assert_eq!(part.value(&[4.0, 0.0]), 0.5);
/// assert_eq!(part.weights(), Some(&[2.0, 1.0][..]));
/// # Ok::<(), katoms::Error>(())
/// ```
pub trait Split: Loss + Sized {
    /// The same loss on these rows, in this order; a row may come repeatedly. Weights follow. O(rows).
    ///
    /// # Errors
    /// When there is no row, one is outside, or all of them have weight 0.
    fn subset(&self, rows: &[usize]) -> Result<Self, Error>;
    /// The weight of each row of the data, where they differ: what columns are centred and scaled with. O(1).
    fn weights(&self) -> Option<&[f64]> {
        None
    }
    /// The class of each row, where the loss tells classes apart: a split should spread them. O(1).
    fn classes(&self) -> Option<&[f64]> {
        None
    }
}

impl<L: Loss> Loss for &L {
    fn n_outputs(&self) -> usize {
        (**self).n_outputs()
    }
    fn outputs_per_row(&self) -> usize {
        (**self).outputs_per_row()
    }
    fn value(&self, z: &[f64]) -> f64 {
        (**self).value(z)
    }
    fn gradient(&self, z: &[f64], r: &mut [f64]) {
        (**self).gradient(z, r);
    }
    fn curvature(&self, z: &[f64], h: &mut [f64]) {
        (**self).curvature(z, h);
    }
    fn hessian(&self, z: &[f64]) -> Option<Hessian> {
        (**self).hessian(z)
    }
    fn curvature_bound(&self) -> f64 {
        (**self).curvature_bound()
    }
    fn curvature_scale(&self, z: &[f64]) -> f64 {
        (**self).curvature_scale(z)
    }
    fn is_quadratic(&self) -> bool {
        (**self).is_quadratic()
    }
    fn lower_bound(&self) -> f64 {
        (**self).lower_bound()
    }
    fn conjugate(&self, a: &[f64]) -> Option<f64> {
        (**self).conjugate(a)
    }
    fn observations(&self) -> usize {
        (**self).observations()
    }
    fn deviance(&self, value: f64) -> f64 {
        (**self).deviance(value)
    }
    fn ignores_constants(&self) -> bool {
        (**self).ignores_constants()
    }
    fn separates(&self, z: &[f64]) -> bool {
        (**self).separates(z)
    }
    fn has_far_minima(&self) -> bool {
        (**self).has_far_minima()
    }
}

#[cfg(test)]
pub(crate) mod contract {
    //! What every loss must satisfy.
    use super::{Curvature, Loss, Split};

    /// Gradient and curvature against central differences, a deviance that rises, finiteness far out, and
    /// the conjugate.
    pub fn check(loss: &impl Loss) {
        let m = loss.n_outputs();
        let z: Vec<f64> = (0..m).map(|i| (i as f64 * 0.7).sin() * 2.0).collect();
        let (mut r, mut h) = (vec![0.0; m], vec![0.0; m]);
        loss.gradient(&z, &mut r);
        loss.curvature(&z, &mut h);
        let hessian = Curvature::new(h.clone(), loss.hessian(&z));
        for i in 0..m {
            let shifted = |d: f64| {
                let mut z = z.clone();
                z[i] += d;
                z
            };
            let slope = (loss.value(&shifted(1e-5)) - loss.value(&shifted(-1e-5))) / 2e-5;
            assert!((slope - r[i]).abs() < 1e-6 * (1.0 + r[i].abs()), "slope {i}: {slope} {}", r[i]);
            let (mut up, mut down) = (vec![0.0; m], vec![0.0; m]);
            loss.gradient(&shifted(1e-5), &mut up);
            loss.gradient(&shifted(-1e-5), &mut down);
            let unit: Vec<f64> = (0..m).map(|j| f64::from(u8::from(i == j))).collect();
            let column = hessian.times(&unit);
            for j in 0..m {
                let curvature = (up[j] - down[j]) / 2e-5;
                let close = (curvature - column[j]).abs() < 1e-6 * (1.0 + column[j].abs());
                assert!(close, "curvature {i} {j}: {curvature} {}", column[j]);
            }
            assert!(h[i] <= loss.curvature_bound() * (1.0 + 1e-15));
        }
        check_bound(&hessian);
        let d: Vec<f64> = (0..m).map(|i| (i as f64 * 1.3).cos()).collect();
        let near = |a: f64, b: f64| assert!((a - b).abs() <= 1e-12 * (1.0 + b.abs()), "{a} {b}");
        near(loss.slope(&z, &d), crate::linalg::dot(&r, &d));
        near(loss.curvature_along(&z, &d), hessian.between(&d, &d));
        let ladder = [1e-20, 1e-3, 1.0, 1e3].map(|above| loss.deviance(loss.lower_bound() + above));
        assert!(ladder.iter().all(|d| d.is_finite()) && ladder.is_sorted_by(|a, b| a < b), "{ladder:?}");
        assert_eq!(Loss::deviance(&loss, 0.7), loss.deviance(0.7));
        assert_eq!(Loss::observations(&loss), loss.observations());
        for far in [-1e3, 1e3] {
            let z = vec![far; m];
            loss.gradient(&z, &mut r);
            loss.curvature(&z, &mut h);
            assert!(loss.value(&z).is_finite() && loss.value(&z) >= loss.lower_bound());
            assert!(r.iter().chain(&h).all(|v| v.is_finite()));
        }
        check_conjugate(loss, &z);
    }

    /// The Hessian is positive semidefinite, and nowhere above the diagonal that bounds it.
    fn check_bound(hessian: &Curvature) {
        let m = hessian.bound().len();
        for draw in 0..20 {
            let d: Vec<f64> = (0..m).map(|i| ((i * i + 7 * draw) as f64 * 1.3).sin()).collect();
            let curvature = hessian.between(&d, &d);
            let bound: f64 = hessian.bound().iter().zip(&d).map(|(h, d)| h * d * d).sum();
            assert!(-1e-12 * bound <= curvature && curvature <= bound * (1.0 + 1e-12), "{curvature} {bound}");
        }
    }

    /// aᵀz ≤ ℓ(z) + ℓ*(a), with equality at a = ∇ℓ(z) and nowhere far from it.
    fn check_conjugate(loss: &impl Loss, z: &[f64]) {
        let gradient = |z: &[f64]| {
            let mut r = vec![0.0; z.len()];
            loss.gradient(z, &mut r);
            r
        };
        let a = gradient(z);
        let Some(conjugate) = loss.conjugate(&a) else { return };
        for scale in [-3.0, 0.0, 0.5, 1.0, 40.0] {
            let other: Vec<f64> = z.iter().map(|v| scale * v).collect();
            let slack = loss.value(&other) + conjugate - crate::linalg::dot(&a, &other);
            let size = 1.0 + conjugate.abs() + loss.value(&other);
            assert!(slack >= -1e-12 * size, "{scale}: {slack}");
            assert!((slack < 1e-12 * size) == (scale == 1.0), "{scale}: {slack}");
        }
    }

    /// Row by row, a subset has the values, gradients and curvatures of the whole.
    pub fn check_subset(loss: &impl Split) {
        let (m, outputs) = (loss.n_rows(), loss.outputs_per_row());
        let z: Vec<f64> = (0..loss.n_outputs()).map(|i| (i as f64 * 0.7).sin() * 2.0).collect();
        let derivatives = |loss: &dyn Loss, z: &[f64]| {
            let (mut r, mut h) = (z.to_vec(), z.to_vec());
            loss.gradient(z, &mut r);
            loss.curvature(z, &mut h);
            [r, h]
        };
        let rows: Vec<usize> = (0..m).rev().chain([0]).collect();
        let of_rows = |all: &[f64], rows: &[usize]| rows.iter().map(|&i| all[i]).collect::<Vec<f64>>();
        let picked = |all: &[f64]| of_rows(all, &rows);
        let of_outputs = |all: &[f64]| all.chunks(m).flat_map(picked).collect::<Vec<f64>>();
        let part = loss.subset(&rows).unwrap();
        assert_eq!((part.n_outputs(), part.outputs_per_row()), ((m + 1) * outputs, outputs));
        assert_eq!(derivatives(&part, &of_outputs(&z)), derivatives(loss, &z).map(|all| of_outputs(&all)));
        assert_eq!(part.weights().map(<[f64]>::to_vec), loss.weights().map(picked));
        assert_eq!(part.classes().map(<[f64]>::to_vec), loss.classes().map(picked));
        let first: Vec<f64> = z.chunks(m).flat_map(|z| of_rows(z, &[0])).collect();
        let whole = loss.value(&z) + loss.subset(&[0]).unwrap().value(&first);
        assert!((part.value(&of_outputs(&z)) - whole).abs() < 1e-12 * whole);
    }
}
