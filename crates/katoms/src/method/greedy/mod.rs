//! Greedy methods: a model that grows atom by atom, on sets of coordinates or groups.
//!
//! | method | chooses the atom that | takes atoms back |
//! |---|---|---|
//! | [`Oblivious`] | brings most on its own; all k at once | no |
//! | [`Omp`] | brings most while the other coefficients stay | no |
//! | [`ForwardRegression`] | brings most after a refit | no |
//! | [`Foba`] | brings most after a refit | those that have become cheap |
//!
//! Each model is the minimum of f over its atoms. What is brought is measured in f, so the scale of a
//! column or of the target decides nothing, and weights of groups play no part. What a set always keeps (an
//! intercept) is in the model from the start and counts for nothing; the ridge counts as one more row for
//! each coordinate. A start with atoms is a model to grow from.
//!
//! A run ends with the status `Converged` when the method's own rule ends it: all k atoms are there, or
//! no other atom lowers f.

mod factor;
mod foba;
mod forward_regression;
mod frame;
mod model;
mod oblivious;
mod omp;
mod residualised;
mod rooms;

pub use foba::{Foba, FobaState};
pub use forward_regression::{ForwardRegression, ForwardState};
pub use oblivious::Oblivious;
pub use omp::{GreedyState, Omp};

/// A column whose squared distance from the chosen ones is this share of its squared norm is one of them.
const DEPENDENT: f64 = 1e-9;
/// An atom that promises less than this share of f(0) promises rounding.
const ROUNDING: f64 = 1e-24;
/// The same where f is minimised by Newton's method, which stops before.
const ROUNDING_OF_NEWTON: f64 = 1e-13;
