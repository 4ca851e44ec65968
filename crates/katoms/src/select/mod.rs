//! The best answer, and which k: starts, swaps, the whole path, cross-validation, stability, and how
//! good an answer is.

mod criteria;
mod exact;
mod gram;
mod growth;
mod lasso;
mod neighbourhood;
mod path;
mod phase_transition;
mod quadratic;
mod search;
mod swaps;
mod sweep;
mod tableau;

pub use criteria::{Criterion, ModelSize};
pub use neighbourhood::{GoOn, Neighbourhood, Polished, Searchable};
pub use path::{Model, Path, path};
pub use phase_transition::{Sign, phase_transition_k, weak_threshold};
pub use quadratic::Quadratic;
pub use search::{Search, search};
