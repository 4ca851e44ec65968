//! Counts what a fit reads: passes and columns.

use std::collections::BTreeSet;
use std::sync::Mutex;

use super::{ColumnMoments, DomainOf, LinearOperator, Moments, Parts, SampledRows, SupportOf, is_its_own_base};
use crate::linalg::Matrix;
use crate::space::SparseVec;

/// What was read so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// Full passes; a block of residuals is one pass.
    pub passes: usize,
    /// What partial passes have read, in rows of the data.
    pub rows: usize,
    /// Columns read outside of passes, each as often as it was read.
    pub columns: usize,
    /// The different columns among them.
    pub distinct: BTreeSet<usize>,
}

/// A view that counts. Put it directly around the data: views above it share its passes.
#[derive(Debug)]
pub struct Counted<A> {
    inner: A,
    counts: Mutex<Counts>,
}

impl<A> Counted<A> {
    /// Counts from zero.
    pub fn new(inner: A) -> Self {
        Self { inner, counts: Mutex::default() }
    }

    /// The counts since the last call, which are set back to zero.
    pub fn take(&self) -> Counts {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn count_columns(&self, columns: &[usize]) {
        let mut counts = self.lock();
        counts.columns += columns.len();
        counts.distinct.extend(columns);
    }
}

impl<A: LinearOperator<Point = SparseVec>> LinearOperator for Counted<A> {
    type Point = SparseVec;
    type Covector = A::Covector;
    is_its_own_base!();

    fn domain(&self) -> DomainOf<A> {
        self.inner.domain()
    }
    fn n_outputs(&self) -> usize {
        self.inner.n_outputs()
    }
    fn new_covector(&self) -> A::Covector {
        self.inner.new_covector()
    }
    fn apply(&self, x: &SparseVec, out: &mut [f64]) {
        self.count_columns(x.indices());
        self.inner.apply(x, out);
    }
    /// Counted as a pass.
    fn apply_covector(&self, g: &A::Covector, out: &mut [f64]) {
        self.lock().passes += 1;
        self.inner.apply_covector(g, out);
    }
    fn adjoint(&self, r: &[f64], out: &mut A::Covector) {
        self.lock().passes += 1;
        self.inner.adjoint(r, out);
    }
    fn fetch(&self, t: &SupportOf<A>) {
        self.inner.fetch(t);
    }
    fn adjoint_on(&self, r: &[f64], t: &SupportOf<A>) -> SparseVec {
        self.count_columns(t.indices());
        self.inner.adjoint_on(r, t)
    }
    fn adjoint_block_on(&self, rs: &[&[f64]], t: &SupportOf<A>) -> Vec<SparseVec> {
        self.count_columns(t.indices());
        self.inner.adjoint_block_on(rs, t)
    }
    fn gives_all_products(&self) -> bool {
        self.inner.gives_all_products()
    }
    fn products(&self, h: &[f64], left: &SupportOf<A>, right: &SupportOf<A>) -> Option<Matrix> {
        let products = self.inner.products(h, left, right)?;
        self.count_columns(left.union(right).indices());
        Some(products)
    }
    fn adjoint_block(&self, rs: &[&[f64]], out: &mut [A::Covector]) {
        self.lock().passes += 1;
        self.inner.adjoint_block(rs, out);
    }
    fn adjoint_parts(&self, parts: &Parts, rs: &[&[f64]], out: &mut [Vec<A::Covector>]) {
        self.lock().passes += 1;
        self.inner.adjoint_parts(parts, rs, out);
    }
    /// Counted as a pass, if there is an answer.
    fn squared_norms(&self, weights: &[&[f64]], centres: Option<&[f64]>) -> Option<Vec<Vec<f64>>> {
        let squared_norms = self.inner.squared_norms(weights, centres)?;
        self.lock().passes += 1;
        Some(squared_norms)
    }
    fn has_cheap_columns(&self) -> bool {
        self.inner.has_cheap_columns()
    }
    fn sampled_rows(&self) -> Option<SampledRows> {
        self.inner.sampled_rows()
    }
    /// Counted by its rows.
    fn adjoint_sampled(&self, r: &[f64], out: &mut A::Covector) {
        self.lock().rows += self.inner.sampled_rows().map_or(0, SampledRows::cost);
        self.inner.adjoint_sampled(r, out);
    }
}

impl<A: LinearOperator<Point = SparseVec> + ColumnMoments> ColumnMoments for Counted<A> {
    /// Counted as two passes.
    fn moments(&self, weights: &[f64]) -> Moments {
        self.lock().passes += 2;
        self.inner.moments(weights)
    }
}
