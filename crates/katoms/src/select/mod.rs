//! The best answer, and which k: starts, swaps, the whole path, cross-validation, stability, and how
//! good an answer is.

mod certificate;
mod criteria;
mod cross_validation;
mod exact;
mod folds;
mod gram;
mod growth;
mod lasso;
mod neighbourhood;
mod part_gram;
mod path;
mod phase_transition;
mod quadratic;
mod sample;
mod search;
mod shrinkage;
mod stability;
mod swaps;
mod sweep;
mod tableau;

pub use certificate::{Certify, certify};
pub use criteria::{Criterion, ModelSize};
pub use cross_validation::{Choice, CrossValidation, Fitted, Score, Validated, cross_validate};
pub use folds::Folds;
pub use neighbourhood::{GoOn, Neighbourhood, Polished, Searchable};
pub use path::{Model, Path, path};
pub use phase_transition::{Sign, phase_transition_k, weak_threshold};
pub use quadratic::Quadratic;
pub use sample::{Preparation, Sample};
pub use search::{Escalate, Search, search};
pub use stability::{Selected, Stability, stability};
