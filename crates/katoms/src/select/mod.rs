//! The best answer, and which k: starts, swaps, the whole path, cross-validation, stability, and how
//! good an answer is.

mod quadratic;

pub use quadratic::Quadratic;
