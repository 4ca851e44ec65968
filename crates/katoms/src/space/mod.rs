//! Where the unknowns live: points made of few atoms, and the subspaces they span.
//!
//! | structure | point | support | search space | gradient (covector) |
//! |---|---|---|---|---|
//! | k-sparse, groups | [`SparseVec`] | [`IndexSet`] | [`IndexSet`] | `Vec<f64>` |
//! | rank at most k | [`LowRank`] | [`Span`] | [`TangentSpace`] | [`MatrixCovector`] |
//!
//! The support of a point is what a refit optimises over; the search space (T in Algorithm 1)
//! is where a gradient step may move. For vectors both are index sets. For matrices the
//! support is {U·M·Vᵀ}, and a step moves along the tangent space {U·Aᵀ + B·Vᵀ}.

mod basis;
mod index_set;
mod low_rank;
mod matrix_covector;
mod pattern;
mod span;
mod sparse_vec;

use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use index_set::IndexSet;
pub use low_rank::LowRank;
pub use matrix_covector::{Entrywise, MatrixCovector};
pub use pattern::{DeviceEntries, Pattern};
pub use span::{Span, TangentSpace};
pub use sparse_vec::SparseVec;

/// A point that is a combination of few atoms, stored as such.
pub trait Point: Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static {
    /// The space's size: n, or (rows, columns).
    type Domain: Copy + PartialEq + Debug + Send + Sync;
    /// What the atoms of a point span.
    type Support: Subspace<Self>;
    /// Where a gradient step may move: T in line 1 of Algorithm 1.
    type Search: Clone + Debug + Send + Sync;

    /// The point without atoms.
    fn zero(domain: Self::Domain) -> Self;
    /// The space it lives in.
    fn domain(&self) -> Self::Domain;
    /// The span of its atoms.
    fn support(&self) -> Self::Support;
    /// The dimension of the support, without building it.
    fn support_size(&self) -> usize;
    /// a·x + b·y. A coefficient of exactly 0 leaves that point's atoms out.
    fn combine(a: f64, x: &Self, b: f64, y: &Self) -> Self;
    /// Σ a·x over the terms (a, x); 0 where there are none. A coefficient of exactly 0 leaves that point's
    /// atoms out.
    fn sum(domain: Self::Domain, terms: &[(f64, &Self)]) -> Self;
    /// ⟨self, other⟩.
    fn dot(&self, other: &Self) -> f64;
    /// √⟨self, self⟩.
    fn norm(&self) -> f64;
    /// ‖self − other‖.
    fn distance(&self, other: &Self) -> f64 {
        Self::combine(1.0, self, -1.0, other).norm()
    }
    /// The orthogonal projection onto the support of some point.
    fn on(&self, t: &Self::Support) -> Self;
}

/// A linear subspace with an orthonormal basis: what a refit optimises over.
pub trait Subspace<P>: Clone + Debug + PartialEq + Send + Sync {
    /// Its dimension.
    fn dimension(&self) -> usize;
    /// The basis vector number `i`.
    fn basis(&self, i: usize) -> P;
    /// The point with these coordinates.
    fn point(&self, coordinates: &[f64]) -> P;
    /// The coordinates of the point's projection.
    fn coordinates(&self, x: &P) -> Vec<f64>;
    /// How many atoms of `self` are not in `before`.
    fn entered_since(&self, before: &Self) -> usize;
    /// For each basis vector its number in another basis, where it is one of those; `None` where bases share no vectors.
    fn places_in(&self, other: &Self) -> Option<Vec<Option<usize>>> {
        let _ = other;
        None
    }
}

/// A gradient: a linear function on the space, seen only through its restrictions.
pub trait Covector<P: Point>: Clone + Debug + Send + Sync + 'static {
    /// The restriction to a search space, which is itself a small point.
    fn on(&self, t: &P::Search) -> P;
    /// self += a·⟨x, ·⟩.
    fn add(&mut self, a: f64, x: &P);
    /// self += a·other, for a covector of the same operator.
    fn add_covector(&mut self, a: f64, other: &Self);
}
