//! The best answer, and which k: starts, swaps, the whole path, cross-validation, stability, and how
//! good an answer is.

mod folds;
mod quadratic;
mod sample;
mod stability;

pub use folds::Folds;
pub use quadratic::Quadratic;
pub use sample::{Preparation, Sample};
pub use stability::{Selected, Stability, stability};
