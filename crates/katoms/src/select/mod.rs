//! The best answer, and which k: starts, swaps, the whole path, cross-validation, stability, and how
//! good an answer is.

#[allow(dead_code)] // its tests are its only callers yet
mod lasso;
mod quadratic;

pub use quadratic::Quadratic;
