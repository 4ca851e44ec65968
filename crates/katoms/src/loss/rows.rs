//! Σ wᵢ·φ(zᵢ + oᵢ; yᵢ): losses that are a sum over the rows, with weights and an offset.

use std::fmt::Debug;

use super::weights::Weights;
use super::{Loss, Split};
use crate::error::{Error, check_indices, check_length, check_values};

/// The loss of one row: half the deviance φ(z; y) of a prediction z from a target y, which is 0 at the best z and nowhere
/// below, and its first and second derivatives in z.
pub trait Family: Debug + Clone + Send + Sync {
    /// Refuses a target that the family does not have.
    ///
    /// # Errors
    /// Names the first such value and its row.
    fn check(&self, target: &[f64]) -> Result<(), Error>;
    /// φ(z; y).
    fn value(&self, y: f64, z: f64) -> f64;
    /// ∂φ/∂z.
    fn slope(&self, y: f64, z: f64) -> f64;
    /// ∂²φ/∂z².
    fn curvature(&self, y: f64, z: f64) -> f64;
    /// The largest that `curvature` can be; +∞ where it has no bound.
    fn curvature_bound(&self, y: f64) -> f64;
    /// sup over z of a·z − φ(z; y), +∞ where there is no largest.
    fn conjugate(&self, y: f64, a: f64) -> f64;
    /// Whether φ(t·z; y) falls for ever as t grows. As it stands here, it does not.
    fn separates(&self, y: f64, z: f64) -> bool {
        let _ = (y, z);
        false
    }
    /// Whether φ may fall for ever, towards a value that it never has. As it stands here, it does not.
    fn has_far_minima(&self) -> bool {
        false
    }
    /// −2·log-likelihood, up to a constant, of targets of this total weight whose weighted losses have this sum.
    fn deviance(&self, target: &Observed<'_>, value: f64) -> f64 {
        let _ = target;
        2.0 * value
    }
}

/// Targets with their weights.
#[derive(Debug, Clone, Copy)]
pub struct Observed<'a> {
    target: &'a [f64],
    weights: &'a Weights,
}

impl Observed<'_> {
    /// How many [observations](Loss::observations) they are.
    pub fn count(&self) -> f64 {
        self.weights.observations(self.target.len()) as f64
    }

    /// Σ wᵢ.
    pub fn total_weight(&self) -> f64 {
        self.sum(|_| 1.0)
    }

    /// Σ wᵢ·g(yᵢ).
    pub fn sum(&self, g: impl Fn(f64) -> f64) -> f64 {
        self.target.iter().enumerate().map(|(i, &y)| self.weights.at(i) * g(y)).sum()
    }
}

/// A [family](Family) on the rows of a target.
#[derive(Debug, Clone)]
pub struct RowLoss<F> {
    family: F,
    target: Vec<f64>,
    weights: Weights,
    offset: Option<Vec<f64>>,
}

impl<F: Family> RowLoss<F> {
    /// The loss of this family against this target.
    ///
    /// # Errors
    /// When the target is empty, or has a value that the family does not have.
    pub fn of(family: F, target: impl Into<Vec<f64>>) -> Result<Self, Error> {
        let target = target.into();
        if target.is_empty() {
            return Err(Error::Empty { what: "the target" });
        }
        check_values("target", &target, "every value must be finite", f64::is_finite)?;
        family.check(&target)?;
        Ok(Self { family, target, weights: Weights::default(), offset: None })
    }

    /// The same with sample weights.
    ///
    /// # Errors
    /// When their number is wrong, one is negative or not finite, or all are zero.
    pub fn weighted(self, weights: impl Into<Vec<f64>>) -> Result<Self, Error> {
        let weights = Weights::new(weights.into(), self.target.len())?;
        Ok(Self { weights, ..self })
    }

    /// The same with a known part of each prediction, which is added to it: for a log link, the logarithm of the exposure.
    ///
    /// # Errors
    /// When their number is wrong, or one is not finite.
    pub fn offset(self, offset: impl Into<Vec<f64>>) -> Result<Self, Error> {
        let offset = offset.into();
        check_length("the offset", offset.len(), self.target.len(), "one value for each observation")?;
        check_values("offset", &offset, "every value must be finite", f64::is_finite)?;
        Ok(Self { offset: Some(offset), ..self })
    }

    pub(super) fn with_family(self, family: F) -> Self {
        Self { family, ..self }
    }

    /// The known part of each prediction.
    pub fn known(&self) -> Option<&[f64]> {
        self.offset.as_deref()
    }

    /// The family.
    pub fn family(&self) -> &F {
        &self.family
    }

    /// The target.
    pub fn target(&self) -> &[f64] {
        &self.target
    }

    fn offset_at(&self, i: usize) -> f64 {
        self.offset.as_ref().map_or(0.0, |offset| offset[i])
    }

    /// Each out = wᵢ·g(yᵢ, zᵢ + oᵢ).
    fn fill(&self, z: &[f64], out: &mut [f64], g: impl Fn(f64, f64) -> f64) {
        for (i, out) in out.iter_mut().enumerate() {
            *out = self.weights.at(i) * g(self.target[i], z[i] + self.offset_at(i));
        }
    }
}

impl<F: Family> Loss for RowLoss<F> {
    fn n_outputs(&self) -> usize {
        self.target.len()
    }
    fn value(&self, z: &[f64]) -> f64 {
        let one = |i: usize| self.weights.at(i) * self.family.value(self.target[i], z[i] + self.offset_at(i));
        (0..self.target.len()).map(one).sum()
    }
    fn gradient(&self, z: &[f64], r: &mut [f64]) {
        self.fill(z, r, |y, z| self.family.slope(y, z));
    }
    fn curvature(&self, z: &[f64], h: &mut [f64]) {
        self.fill(z, h, |y, z| self.family.curvature(y, z));
    }
    fn curvature_bound(&self) -> f64 {
        let rows = (0..self.target.len()).filter(|&i| self.weights.at(i) > 0.0);
        rows.map(|i| self.weights.at(i) * self.family.curvature_bound(self.target[i])).fold(0.0, f64::max)
    }
    fn observations(&self) -> usize {
        self.weights.observations(self.target.len())
    }
    fn is_quadratic(&self) -> bool {
        false
    }
    /// Σ wᵢ·φ*(aᵢ/wᵢ) − aᵀo.
    fn conjugate(&self, a: &[f64]) -> Option<f64> {
        let one = |(i, &a): (usize, &f64)| match self.weights.at(i) {
            0.0 if a == 0.0 => 0.0,
            0.0 => f64::INFINITY,
            w => w * self.family.conjugate(self.target[i], a / w) - a * self.offset_at(i),
        };
        Some(a.iter().enumerate().map(one).sum())
    }
    /// Whether it does so in every row that has a weight: counts that are all zero have no best mean.
    fn separates(&self, z: &[f64]) -> bool {
        (0..z.len()).all(|i| self.weights.at(i) == 0.0 || self.family.separates(self.target[i], z[i]))
    }
    fn has_far_minima(&self) -> bool {
        self.family.has_far_minima()
    }
    fn deviance(&self, value: f64) -> f64 {
        self.family.deviance(&Observed { target: &self.target, weights: &self.weights }, value)
    }
}

impl<F: Family> Split for RowLoss<F> {
    fn subset(&self, rows: &[usize]) -> Result<Self, Error> {
        check_indices("row", rows, self.target.len())?;
        let pick = |all: &[f64]| -> Vec<f64> { rows.iter().map(|&i| all[i]).collect() };
        let part = Self::of(self.family.clone(), pick(&self.target))?;
        Ok(Self { weights: self.weights.subset(rows)?, offset: self.offset.as_deref().map(pick), ..part })
    }
    fn weights(&self) -> Option<&[f64]> {
        self.weights.given()
    }
}

/// Exponents beyond this are continued by the second-order expansion there, so that sums and squares stay numbers: e³⁰⁰ is
/// 10¹³⁰, and no mean of anything.
const LARGEST_EXPONENT: f64 = 300.0;

/// eᶻ, and its first and second derivatives as it is continued beyond [`LARGEST_EXPONENT`].
pub(super) fn exponential(z: f64) -> [f64; 3] {
    if z <= LARGEST_EXPONENT {
        return [z.exp(); 3];
    }
    let (top, beyond) = (LARGEST_EXPONENT.exp(), z - LARGEST_EXPONENT);
    [top * (1.0 + beyond + 0.5 * beyond * beyond), top * (1.0 + beyond), top]
}

/// eᵈ − 1 − d, which is at least 0, without cancellation near 0.
pub(super) fn exponential_above_tangent(d: f64) -> f64 {
    if d.abs() < 1e-3 {
        return d * d * (0.5 + d * (1.0 / 6.0 + d * (1.0 / 24.0 + d / 120.0)));
    }
    exponential(d)[0] - 1.0 - d
}

/// p·ln p, 0 at 0.
pub(super) fn times_log(p: f64) -> f64 {
    if p == 0.0 { 0.0 } else { p * p.ln() }
}
