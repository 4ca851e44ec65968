//! What multiplies: designs, observed entries, linear maps — and the views on them.
//!
//! An operator knows two products, A·x and Aᵀ·r. Only [`LinearOperator::adjoint`] reads all of the
//! data; everything else touches the columns of a small point.
//!
//! A *view* (standardised columns, a subset of rows, an intercept, …) never copies the data. It
//! changes a residual before the pass and the gradient after it. Therefore many views of the
//! same data can share one pass: [`adjoint_many`].

mod any;
mod beside;
mod counted;
mod csc;
mod dct;
mod dense;
mod distributed;
mod entries;
mod first_read;
mod genotypes;
mod interactions;
mod intercept;
#[cfg(any(feature = "ndarray", feature = "faer"))]
mod interop;
mod latent;
mod magnitude;
mod matrix_free;
mod matrix_map;
mod moments;
mod on_device;
mod parts;
mod per_output;
mod row_sample;
mod row_weights;
mod rows;
mod standardized;

use std::borrow::Cow;

use crate::linalg::kernels::axpy;
use crate::linalg::{Matrix, parallel};
use crate::space::{Covector, IndexSet, LowRank, MatrixCovector, Point, SparseVec, Subspace};

pub use any::{AnyDesign, Storage};
pub use beside::Beside;
pub use counted::{Counted, Counts};
pub use csc::{Csc, SparseIndex};
pub use dct::subsampled_dct;
pub use dense::{Dense, Layout};
pub use distributed::{Blocks, Condensed, Distributed, Grid, READ, Worker, Workers};
pub use entries::Entries;
pub use first_read::FirstRead;
pub use genotypes::{GenotypeCounts, Genotypes};
/// Numbers in half precision, as `half` has them.
pub use half::f16;
pub use interactions::Interactions;
pub use intercept::WithIntercept;
pub use latent::LatentCopies;
pub use magnitude::ColumnSize;
pub(crate) use magnitude::check_columns;
pub use matrix_free::MatrixFree;
pub use matrix_map::MatrixMap;
pub(crate) use moments::is_constant;
pub use moments::{ColumnMoments, Moments};
pub use on_device::{Device, OnDevice, Sample, SampledResidual};
pub use parts::Parts;
pub use per_output::PerOutput;
pub(crate) use per_output::of_output;
use row_sample::RowSample;
pub use row_sample::SampledRows;
pub use row_weights::RowWeights;
pub use rows::Rows;
pub use standardized::Standardized;

/// The domain of an operator's points.
pub type DomainOf<A> = <<A as LinearOperator>::Point as Point>::Domain;
/// The supports of an operator's points.
pub type SupportOf<A> = <<A as LinearOperator>::Point as Point>::Support;

/// A linear map from a space of points to vectors of predictions.
pub trait LinearOperator: Sync {
    /// What it multiplies.
    type Point: Point;
    /// What its adjoint gives.
    type Covector: Covector<Self::Point>;
    /// The operator that does the passes: itself, or what a view looks at.
    type Base: LinearOperator<Covector = Self::Covector>;

    /// The size of the space it acts on.
    fn domain(&self) -> DomainOf<Self>;
    /// The number of predictions.
    fn n_outputs(&self) -> usize;
    /// A covector of zeros, to be filled by [`LinearOperator::adjoint`].
    fn new_covector(&self) -> Self::Covector;
    /// out = A·x. Touches only x's columns.
    fn apply(&self, x: &Self::Point, out: &mut [f64]);
    /// out = Aᵀ·r: the one full pass over the data. Whatever `out` holds is replaced, its length
    /// included.
    fn adjoint(&self, r: &[f64], out: &mut Self::Covector);
    /// Brings the columns of a support near where they are far away: many in one round trip. What is asked of them next, one
    /// by one, costs none then.
    fn fetch(&self, t: &SupportOf<Self>) {
        let _ = t;
    }
    /// Copies of the columns of a support, one after the other.
    fn copy_columns(&self, t: &SupportOf<Self>, out: &mut [f64]) {
        self.fetch(t);
        parallel::chunks_mut(out, self.n_outputs().max(1), &|i, column| self.apply(&t.basis(i), column));
    }
    /// Aᵀ·r restricted to a support. Touches only its columns.
    fn adjoint_on(&self, r: &[f64], t: &SupportOf<Self>) -> Self::Point;
    /// The same for many residuals. Touches each of the columns once.
    fn adjoint_block_on(&self, rs: &[&[f64]], t: &SupportOf<Self>) -> Vec<Self::Point> {
        rs.iter().map(|r| self.adjoint_on(r, t)).collect()
    }
    /// A_leftᵀ·diag(h)·A_right for the columns of two supports, where that is quicker than from copies of the columns, as
    /// it is where few of their entries are stored. `None` where it is not.
    fn products(&self, h: &[f64], left: &SupportOf<Self>, right: &SupportOf<Self>) -> Option<Matrix> {
        let _ = (h, left, right);
        None
    }
    /// Whether [`LinearOperator::products`] gives those of any columns. A search asks it for them then, and has no copies.
    fn gives_all_products(&self) -> bool {
        false
    }
    /// The same pass for many residuals. Each result has the bits that `adjoint` would give.
    fn adjoint_block(&self, rs: &[&[f64]], out: &mut [Self::Covector]) {
        for (r, out) in rs.iter().zip(out) {
            self.adjoint(r, out);
        }
    }
    /// The same pass part by part of the rows: `out[q][p]` = A_pᵀ·r_p, where the rows outside of part
    /// p count nothing and r is `rs[q]`. Whatever `out[q]` holds is replaced, its length included.
    /// There are as many labels as predictions. With a single part it has the bits of `adjoint_block`.
    fn adjoint_parts(&self, parts: &Parts, rs: &[&[f64]], out: &mut [Vec<Self::Covector>]) {
        parts::adjoint_masked(self, parts, rs, out);
    }
    /// Σᵢ wᵢ·(aᵢⱼ − cⱼ)² for every column j and every weighting w, in one read of the data; without
    /// centres, c = 0. `None` where columns are not cheap. The weights are finite and not negative.
    ///
    /// Centring before squaring keeps the digits that Σ w·a² − c²·Σ w would lose.
    fn squared_norms(&self, weights: &[&[f64]], centres: Option<&[f64]>) -> Option<Vec<Vec<f64>>> {
        let _ = (weights, centres);
        None
    }
    /// Whether [`LinearOperator::squared_norms`] under this weighting is known and costs no read. Asked of the base.
    fn knows_squared_norms(&self, weights: &[f64]) -> bool {
        let _ = weights;
        false
    }
    /// out = A·g for a covector g, as a power iteration needs it. A full read of the data.
    fn apply_covector(&self, g: &Self::Covector, out: &mut [f64]);
    /// How many outputs have coefficients of their own on the same columns: each column is zero on the rows of the others.
    fn outputs(&self) -> usize {
        1
    }
    /// The column and the output that a coordinate belongs to.
    fn column_of(&self, j: usize) -> (usize, usize) {
        (j, 0)
    }
    /// Whether `apply` costs little for a point of one atom. If not, a refit works by
    /// conjugate gradients, which needs no single columns.
    fn has_cheap_columns(&self) -> bool {
        true
    }

    /// The rows of which there is a coarse copy for partial passes; `None` where there is none, or the data are so small
    /// that it would not pay. See [`Partial`](crate::driver::Partial).
    fn sampled_rows(&self) -> Option<SampledRows> {
        None
    }
    /// out ≈ Aᵀ·r from that copy, to about two digits of what each column has on these rows; r is zero outside of them.
    fn adjoint_sampled(&self, r: &[f64], out: &mut Self::Covector) {
        self.adjoint(r, out);
    }

    /// The same for many residuals.
    fn adjoint_sampled_block(&self, rs: &[&[f64]], out: &mut [Self::Covector]) {
        for (r, out) in rs.iter().zip(out) {
            self.adjoint_sampled(r, out);
        }
    }

    /// The relative rounding of the stored values: what lies below it says nothing about the data. Asked of the base.
    fn rounding(&self) -> f64 {
        f64::EPSILON
    }

    /// The columns whose squares leave the range of double precision, rising; [`Objective::new`](crate::Objective::new)
    /// refuses them. Asked of the base.
    fn extremes(&self) -> &[ColumnSize] {
        &[]
    }

    /// The operator that does the passes.
    fn base(&self) -> &Self::Base;
    /// The residual that the base's adjoint takes.
    fn before_pass<'r>(&self, r: &'r [f64]) -> Cow<'r, [f64]> {
        Cow::Borrowed(r)
    }
    /// Turns the base's Aᵀ·`before_pass(r)` into this view's Aᵀ·r.
    fn after_pass(&self, r: &[f64], g: &mut Self::Covector) {
        let _ = (r, g);
    }
    /// The residuals that the base's adjoint takes: one, but for a view of several [outputs](Self::outputs).
    fn residuals_of_pass<'r>(&self, r: &'r [f64]) -> Vec<Cow<'r, [f64]>> {
        vec![self.before_pass(r)]
    }
    /// Turns what the base's adjoint gives for these residuals into this view's Aᵀ·r.
    fn joined_after_pass(&self, r: &[f64], parts: Vec<Self::Covector>) -> Self::Covector {
        let mut g = parts.into_iter().next().unwrap_or_else(|| self.new_covector());
        self.after_pass(r, &mut g);
        g
    }
}

/// Numbers that copies of columns may take for [`apply_many`]: 128 MiB.
const COPIED: usize = 1 << 24;

/// A·x for each x. Their columns are copied once, where there is room: one look at a design far away, and not one for each x.
pub(crate) fn apply_many<A: LinearOperator<Point = SparseVec>>(a: &A, xs: &[SparseVec]) -> Vec<Vec<f64>> {
    let outputs = a.n_outputs();
    let columns = IndexSet::new(a.domain(), xs.iter().flat_map(|x| x.indices()).copied().collect());
    if columns.indices().len().saturating_mul(outputs) > COPIED {
        let one = |x: &SparseVec| {
            let mut out = vec![0.0; outputs];
            a.apply(x, &mut out);
            out
        };
        return xs.iter().map(one).collect();
    }
    let mut copies = vec![0.0; columns.indices().len() * outputs];
    a.copy_columns(&columns, &mut copies);
    parallel::map(xs.len(), &|at| {
        let (mut out, mut rest) = (vec![0.0; outputs], 0);
        for (j, v) in xs[at].entries() {
            rest += columns.indices()[rest..].partition_point(|&i| i < j);
            axpy(v, &copies[rest * outputs..][..outputs], &mut out);
        }
        out
    })
}

/// One pass over the base for one residual of each view: `out[i]` = `operators[i]`ᵀ·`rs[i]`.
///
/// All views must look at the same base; the caller has checked it.
pub fn adjoint_many<A: LinearOperator>(operators: &[&A], rs: &[&[f64]], out: &mut [A::Covector]) {
    let Some(first) = operators.first() else { return };
    if operators.iter().any(|a| a.outputs() > 1) {
        return adjoint_many_outputs(operators, rs, out);
    }
    let pulled: Vec<Cow<'_, [f64]>> = operators.iter().zip(rs).map(|(a, r)| a.before_pass(r)).collect();
    let pulled: Vec<&[f64]> = pulled.iter().map(AsRef::as_ref).collect();
    first.base().adjoint_block(&pulled, out);
    parallel::each_mut(&mut out[..operators.len()], &|at, g| operators[at].after_pass(rs[at], g));
}

/// The same for views of several outputs.
fn adjoint_many_outputs<A: LinearOperator>(operators: &[&A], rs: &[&[f64]], out: &mut [A::Covector]) {
    let pulled: Vec<Vec<Cow<'_, [f64]>>> = operators.iter().zip(rs).map(|(a, r)| a.residuals_of_pass(r)).collect();
    let residuals: Vec<&[f64]> = pulled.iter().flatten().map(AsRef::as_ref).collect();
    let Some(base) = operators.first().map(|a| a.base()) else { return };
    let mut parts: Vec<A::Covector> = residuals.iter().map(|_| base.new_covector()).collect();
    base.adjoint_block(&residuals, &mut parts);
    let mut parts = parts.into_iter();
    for (((a, r), pulled), g) in operators.iter().zip(rs).zip(&pulled).zip(out) {
        *g = a.joined_after_pass(r, parts.by_ref().take(pulled.len()).collect());
    }
}

/// out += A·x for the multiple x of a point that a ridge has added to a gradient.
fn add_low_rank_part<A: LinearOperator<Point = LowRank>>(a: &A, g: &MatrixCovector, out: &mut [f64]) {
    if let Some(x) = g.low_rank() {
        let mut part = vec![0.0; out.len()];
        a.apply(x, &mut part);
        out.iter_mut().zip(part).for_each(|(o, p)| *o += p);
    }
}

/// The lines that an operator without a base of its own shares with its kind.
macro_rules! is_its_own_base {
    () => {
        type Base = Self;
        fn base(&self) -> &Self {
            self
        }
    };
}
use is_its_own_base;

/// The lines that the views share: their passes are the base's, also for many residuals at once.
macro_rules! passes_through_base {
    () => {
        type Base = A::Base;
        fn base(&self) -> &A::Base {
            self.inner.base()
        }
        fn adjoint(&self, r: &[f64], out: &mut Self::Covector) {
            crate::operator::adjoint_many(&[self], &[r], std::slice::from_mut(out));
        }
        fn adjoint_block(&self, rs: &[&[f64]], out: &mut [Self::Covector]) {
            crate::operator::adjoint_many(&vec![self; rs.len()], rs, out);
        }
        fn outputs(&self) -> usize {
            self.inner.outputs()
        }
        fn has_cheap_columns(&self) -> bool {
            self.inner.has_cheap_columns()
        }
        fn adjoint_sampled(&self, r: &[f64], out: &mut Self::Covector) {
            self.base().adjoint_sampled(&self.before_pass(r), out);
            self.after_pass(r, out);
        }
        fn adjoint_sampled_block(&self, rs: &[&[f64]], out: &mut [Self::Covector]) {
            let before: Vec<_> = rs.iter().map(|r| self.before_pass(r)).collect();
            self.base().adjoint_sampled_block(&before.iter().map(AsRef::as_ref).collect::<Vec<_>>(), out);
            rs.iter().zip(out).for_each(|(r, out)| self.after_pass(r, out));
        }
    };
}
use passes_through_base;

/// Every method of an operator, forwarded: `$on!(self, a => call)` makes the call on what stands behind it.
macro_rules! forwards_every_call {
    ($on:ident) => {
        fn domain(&self) -> crate::operator::DomainOf<Self> {
            $on!(self, a => a.domain())
        }
        fn n_outputs(&self) -> usize {
            $on!(self, a => a.n_outputs())
        }
        fn new_covector(&self) -> Self::Covector {
            $on!(self, a => a.new_covector())
        }
        fn apply(&self, x: &Self::Point, out: &mut [f64]) {
            $on!(self, a => a.apply(x, out))
        }
        fn adjoint(&self, r: &[f64], out: &mut Self::Covector) {
            $on!(self, a => a.adjoint(r, out))
        }
        fn fetch(&self, t: &crate::operator::SupportOf<Self>) {
            $on!(self, a => a.fetch(t))
        }
        fn copy_columns(&self, t: &crate::operator::SupportOf<Self>, out: &mut [f64]) {
            $on!(self, a => a.copy_columns(t, out))
        }
        fn adjoint_on(&self, r: &[f64], t: &crate::operator::SupportOf<Self>) -> Self::Point {
            $on!(self, a => a.adjoint_on(r, t))
        }
        fn adjoint_block_on(&self, rs: &[&[f64]], t: &crate::operator::SupportOf<Self>) -> Vec<Self::Point> {
            $on!(self, a => a.adjoint_block_on(rs, t))
        }
        fn products(
            &self,
            h: &[f64],
            left: &crate::operator::SupportOf<Self>,
            right: &crate::operator::SupportOf<Self>,
        ) -> Option<crate::linalg::Matrix> {
            $on!(self, a => a.products(h, left, right))
        }
        fn gives_all_products(&self) -> bool {
            $on!(self, a => a.gives_all_products())
        }
        fn adjoint_block(&self, rs: &[&[f64]], out: &mut [Self::Covector]) {
            $on!(self, a => a.adjoint_block(rs, out))
        }
        fn adjoint_parts(&self, parts: &crate::operator::Parts, rs: &[&[f64]], out: &mut [Vec<Self::Covector>]) {
            $on!(self, a => a.adjoint_parts(parts, rs, out))
        }
        fn squared_norms(&self, weights: &[&[f64]], centres: Option<&[f64]>) -> Option<Vec<Vec<f64>>> {
            $on!(self, a => a.squared_norms(weights, centres))
        }
        fn knows_squared_norms(&self, weights: &[f64]) -> bool {
            $on!(self, a => a.knows_squared_norms(weights))
        }
        fn apply_covector(&self, g: &Self::Covector, out: &mut [f64]) {
            $on!(self, a => a.apply_covector(g, out))
        }
        fn outputs(&self) -> usize {
            $on!(self, a => a.outputs())
        }
        fn column_of(&self, j: usize) -> (usize, usize) {
            $on!(self, a => a.column_of(j))
        }
        fn has_cheap_columns(&self) -> bool {
            $on!(self, a => a.has_cheap_columns())
        }
        fn sampled_rows(&self) -> Option<crate::operator::SampledRows> {
            $on!(self, a => a.sampled_rows())
        }
        fn adjoint_sampled(&self, r: &[f64], out: &mut Self::Covector) {
            $on!(self, a => a.adjoint_sampled(r, out))
        }
        fn adjoint_sampled_block(&self, rs: &[&[f64]], out: &mut [Self::Covector]) {
            $on!(self, a => a.adjoint_sampled_block(rs, out))
        }
        fn rounding(&self) -> f64 {
            $on!(self, a => a.rounding())
        }
        fn extremes(&self) -> &[crate::operator::ColumnSize] {
            $on!(self, a => a.extremes())
        }
    };
}
use forwards_every_call;

macro_rules! on_referent {
    ($reference:expr, $a:ident => $call:expr) => {{
        let $a = &**$reference;
        $call
    }};
}

impl<A: LinearOperator> LinearOperator for &A {
    type Point = A::Point;
    type Covector = A::Covector;
    type Base = A::Base;
    forwards_every_call!(on_referent);

    fn base(&self) -> &A::Base {
        (**self).base()
    }
    fn before_pass<'r>(&self, r: &'r [f64]) -> Cow<'r, [f64]> {
        (**self).before_pass(r)
    }
    fn after_pass(&self, r: &[f64], g: &mut A::Covector) {
        (**self).after_pass(r, g);
    }
    fn residuals_of_pass<'r>(&self, r: &'r [f64]) -> Vec<Cow<'r, [f64]>> {
        (**self).residuals_of_pass(r)
    }
    fn joined_after_pass(&self, r: &[f64], parts: Vec<A::Covector>) -> A::Covector {
        (**self).joined_after_pass(r, parts)
    }
}
