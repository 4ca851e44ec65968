//! The best answer, and which k: starts, swaps, the whole path, cross-validation, stability, and how
//! good an answer is.

mod criteria;
mod phase_transition;
mod quadratic;

pub use criteria::{Criterion, ModelSize};
pub use phase_transition::{Sign, phase_transition_k, weak_threshold};
pub use quadratic::Quadratic;
