//! The best answer, and which k: starts, swaps, the whole path, cross-validation, stability, and how
//! good an answer is.

mod certificate;
mod quadratic;

pub use certificate::{Certificate, Certify, certify};
pub use quadratic::Quadratic;
