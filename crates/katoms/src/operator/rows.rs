//! Some of the rows: folds, half-samples, bootstraps.

use std::borrow::Cow;

use super::parts::adjoint_masked;
use super::{ColumnMoments, DomainOf, LinearOperator, Moments, Parts, SampledRows, SupportOf, passes_through_base};
use crate::error::{Error, check_indices, check_range};
use crate::linalg::Matrix;

/// The predictions at the given rows, in the given order; a row may come repeatedly.
///
/// A residual on the subset is a residual on all rows with zeros elsewhere, so subsets of the
/// same data share their passes.
#[derive(Debug, Clone)]
pub struct Rows<A> {
    inner: A,
    rows: Vec<usize>,
    /// Whether these are all rows, in order: then nothing is picked and nothing scattered.
    all: bool,
}

impl<A: LinearOperator> Rows<A> {
    /// A view of these rows.
    ///
    /// # Errors
    /// When no row is given or one is outside.
    pub fn new(inner: A, rows: Vec<usize>) -> Result<Self, Error> {
        check_range("the number of rows", rows.len(), 1, usize::MAX)?;
        check_indices("row", &rows, inner.n_outputs())?;
        let all = rows.len() == inner.n_outputs() && rows.iter().enumerate().all(|(at, &row)| at == row);
        Ok(Self { inner, rows, all })
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

    fn scattered<'r>(&self, r: &'r [f64]) -> Cow<'r, [f64]> {
        if self.all {
            return Cow::Borrowed(r);
        }
        let mut all = vec![0.0; self.inner.n_outputs()];
        for (&i, v) in self.rows.iter().zip(r) {
            all[i] += v;
        }
        Cow::Owned(all)
    }

    /// A call with all residuals on the inner rows.
    fn with_scattered<T>(&self, rs: &[&[f64]], call: impl FnOnce(&[&[f64]]) -> T) -> T {
        let scattered: Vec<Cow<'_, [f64]>> = rs.iter().map(|r| self.scattered(r)).collect();
        let scattered: Vec<&[f64]> = scattered.iter().map(AsRef::as_ref).collect();
        call(&scattered)
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
        if self.all {
            return self.inner.apply(x, out);
        }
        let mut all = vec![0.0; self.inner.n_outputs()];
        self.inner.apply(x, &mut all);
        self.pick(&all, out);
    }
    fn apply_covector(&self, g: &A::Covector, out: &mut [f64]) {
        if self.all {
            return self.inner.apply_covector(g, out);
        }
        let mut all = vec![0.0; self.inner.n_outputs()];
        self.inner.apply_covector(g, &mut all);
        self.pick(&all, out);
    }
    fn fetch(&self, t: &SupportOf<A>) {
        self.inner.fetch(t);
    }
    fn adjoint_on(&self, r: &[f64], t: &SupportOf<A>) -> A::Point {
        self.inner.adjoint_on(&self.scattered(r), t)
    }
    fn adjoint_block_on(&self, rs: &[&[f64]], t: &SupportOf<A>) -> Vec<A::Point> {
        self.with_scattered(rs, |rs| self.inner.adjoint_block_on(rs, t))
    }
    fn gives_all_products(&self) -> bool {
        self.inner.gives_all_products()
    }
    fn products(&self, h: &[f64], left: &SupportOf<A>, right: &SupportOf<A>) -> Option<Matrix> {
        self.inner.products(&self.scattered(h), left, right)
    }
    fn adjoint_parts(&self, parts: &Parts, rs: &[&[f64]], out: &mut [Vec<A::Covector>]) {
        let Some(inner) = self.inner_parts(parts) else { return adjoint_masked(self, parts, rs, out) };
        self.with_scattered(rs, |rs| self.inner.adjoint_parts(&inner, rs, out));
    }
    fn squared_norms(&self, weights: &[&[f64]], centres: Option<&[f64]>) -> Option<Vec<Vec<f64>>> {
        self.with_scattered(weights, |weights| self.inner.squared_norms(weights, centres))
    }
    fn before_pass<'r>(&self, r: &'r [f64]) -> Cow<'r, [f64]> {
        match self.scattered(r) {
            Cow::Borrowed(all) => self.inner.before_pass(all),
            Cow::Owned(all) => Cow::Owned(self.inner.before_pass(&all).into_owned()),
        }
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
