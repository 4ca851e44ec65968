//! The questions around the search for the best atoms: which k, how sure, within bounds.
//!
//! | question | function | answer |
//! |---|---|---|
//! | What are the best k atoms, and how good are they? | [`Fit::run`](crate::Fit::run) | [`Outcome`](crate::Outcome) |
//! | The same, with coefficients that may not leave their bounds? | [`Fit::bounds`](crate::Fit::bounds) | the same |
//! | How far from the best at most? | [`certify`](crate::search::certify); with a ridge the search does it | [`Certificate`] |
//! | What is the model of each size? | [`Fit::path`](crate::Fit::path) | [`Path`] |
//! | Which size, by a criterion? | [`Path::best`] with a [`Criterion`] | [`Model`] |
//! | Which size and ridge, by held-out rows? | [`cross_validate`] on [`Folds`] | [`Validated`] |
//! | How many atoms can the data carry? | [`phase_transition_k`] | a number |
//! | Which atoms would other data choose? | [`stability`](stability()) | [`Selected`] |
//! | How are rows standardised, with an intercept? | [`Preparation`] | an objective and its set |
//!
//! [`Certificate`]: crate::driver::Certificate

mod bounded;
mod bounded_folds;
mod criteria;
mod cross_validation;
mod fold_fits;
mod folds;
mod hereditary;
mod listing;
mod moments;
mod newton_paths;
mod null_fits;
mod part_gram;
mod path;
mod phase_transition;
mod products;
mod sample;
mod scores;
mod shrinkage;
mod stability;
mod training_paths;
mod trainings;
mod validate;

pub use crate::search::bounds::Bounds;
pub(crate) use bounded::{path_within_bounds, search_within_bounds};
pub use criteria::{Criterion, ModelSize};
pub use cross_validation::CrossValidation;
pub use folds::Folds;
pub(crate) use hereditary::search_with_heredity;
pub(crate) use path::path;
pub use path::{Model, Path, plain_path};
pub use phase_transition::{Sign, phase_transition_k, weak_threshold};
pub use sample::{Preparation, Sample};
pub use scores::{Choice, Fitted, FoldModel, Score, Validated};
pub use stability::{Selected, Stability, stability};
pub use validate::{Polled, cross_validate};
