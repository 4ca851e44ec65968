//! Some of the rows: folds, half-samples, bootstraps.

use std::borrow::Cow;

use super::parts::adjoint_masked;
use super::{ColumnMoments, DomainOf, LinearOperator, Moments, Parts, SampledRows, SupportOf, passes_through_base};
use crate::error::{Error, check_indices, check_range};

/// The predictions at the given rows, in the given order; a row may come repeatedly.
///
/// A residual on the subset is a residual on all rows with zeros elsewhere, so subsets of the
/// same data share their passes.
#[derive(Debug, Clone)]
pub struct Rows<A> {
    inner: A,
    rows: Vec<usize>,
}

impl<A: LinearOperator> Rows<A> {
    /// A view of these rows.
    ///
    /// # Errors
    /// When no row is given or one is outside.
    pub fn new(inner: A, rows: Vec<usize>) -> Result<Self, Error> {
        check_range("the number of rows", rows.len(), 1, usize::MAX)?;
        check_indices("row", &rows, inner.n_outputs())?;
        Ok(Self { inner, rows })
    }

    /// The rows, in order.
    pub fn rows(&self) -> &[usize] {
        &self.rows
    }

    fn pick(&self, all: &[f64], out: &mut [f64]) {
        out.iter_mut().zip(&self.rows).for_each(|(o, &i)| *o = all[i]);
    }

    /// The parts as the inner rows see them, or `None` where a row that comes repeatedly is in two.
    /// A row that does not come has no residual: its part does not matter.
    fn inner_parts(&self, parts: &Parts) -> Option<Parts> {
        let mut labels = vec![usize::MAX; self.inner.n_outputs()];
        for (&i, &part) in self.rows.iter().zip(parts.labels()) {
            if labels[i] != usize::MAX && labels[i] != part {
                return None;
            }
            labels[i] = part;
        }
        labels.iter_mut().filter(|part| **part == usize::MAX).for_each(|part| *part = 0);
        Parts::new(labels, parts.count()).ok()
    }

    fn scattered(&self, r: &[f64]) -> Vec<f64> {
        let mut all = vec![0.0; self.inner.n_outputs()];
        for (&i, v) in self.rows.iter().zip(r) {
            all[i] += v;
        }
        all
    }
}

impl<A: LinearOperator> LinearOperator for Rows<A> {
    type Point = A::Point;
    type Covector = A::Covector;
    passes_through_base!();
    /// Where all rows are there in order; a sample of some of them may be no sample of these.
    fn sampled_rows(&self) -> Option<SampledRows> {
        let all = self.rows.iter().copied().eq(0..self.inner.n_outputs());
        self.inner.sampled_rows().filter(|_| all)
    }

    fn domain(&self) -> DomainOf<A> {
        self.inner.domain()
    }
    fn n_outputs(&self) -> usize {
        self.rows.len()
    }
    fn new_covector(&self) -> A::Covector {
        self.inner.new_covector()
    }
    /// Computes every row of the inner operator's prediction, then picks.
    fn apply(&self, x: &A::Point, out: &mut [f64]) {
        let mut all = vec![0.0; self.inner.n_outputs()];
        self.inner.apply(x, &mut all);
        self.pick(&all, out);
    }
    fn apply_covector(&self, g: &A::Covector, out: &mut [f64]) {
        let mut all = vec![0.0; self.inner.n_outputs()];
        self.inner.apply_covector(g, &mut all);
        self.pick(&all, out);
    }
    fn adjoint_on(&self, r: &[f64], t: &SupportOf<A>) -> A::Point {
        self.inner.adjoint_on(&self.scattered(r), t)
    }
    fn adjoint_parts(&self, parts: &Parts, rs: &[&[f64]], out: &mut [Vec<A::Covector>]) {
        let Some(inner) = self.inner_parts(parts) else { return adjoint_masked(self, parts, rs, out) };
        let scattered: Vec<Vec<f64>> = rs.iter().map(|r| self.scattered(r)).collect();
        let scattered: Vec<&[f64]> = scattered.iter().map(Vec::as_slice).collect();
        self.inner.adjoint_parts(&inner, &scattered, out);
    }
    fn energies(&self, weights: &[&[f64]], centres: Option<&[f64]>) -> Option<Vec<Vec<f64>>> {
        let scattered: Vec<Vec<f64>> = weights.iter().map(|w| self.scattered(w)).collect();
        let scattered: Vec<&[f64]> = scattered.iter().map(Vec::as_slice).collect();
        self.inner.energies(&scattered, centres)
    }
    fn before_pass<'r>(&self, r: &'r [f64]) -> Cow<'r, [f64]> {
        let all = self.scattered(r);
        Cow::Owned(self.inner.before_pass(&all).into_owned())
    }
    fn after_pass(&self, r: &[f64], g: &mut A::Covector) {
        self.inner.after_pass(&self.scattered(r), g);
    }
}

impl<A: LinearOperator + ColumnMoments> ColumnMoments for Rows<A> {
    fn moments(&self, weights: &[f64]) -> Moments {
        self.inner.moments(&self.scattered(weights))
    }
}
