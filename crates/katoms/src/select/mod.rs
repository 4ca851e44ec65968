//! The best answer, how good it is, which k, and how sure that is.
//!
//! | question | function | answer |
//! |---|---|---|
//! | What are the best k atoms? | [`fit`](crate::fit), or [`search`] with options | [`Outcome`](crate::Outcome) |
//! | The same, with coefficients that may not leave their bounds? | [`search_within_bounds`], [`path_within_bounds`] | the same |
//! | How good are they? | the same | [`Quality`](crate::driver::Quality) |
//! | How far from the best at most? | [`certify`]; with a ridge the search does it | [`Certificate`] |
//! | What is the model of each size? | [`path`](path()) | [`Path`] |
//! | Which size, by a criterion? | [`Path::best`] with a [`Criterion`] | [`Model`] |
//! | Which size and ridge, by held-out rows? | [`cross_validate`] on [`Folds`] | [`Validated`] |
//! | How many atoms can the data carry? | [`phase_transition_k`] | a number |
//! | Which atoms would other data choose? | [`stability`](stability()) | [`Selected`] |
//! | What are the minima of the Lasso, for falling λ? | [`lasso_path`](lasso_path()) | [`LassoPath`] |
//! | How are rows standardised, with an intercept? | [`Preparation`] | an objective and its set |
//!
//! Everything works on any [`CoordinateSet`](crate::set::CoordinateSet); a search and a path also on
//! matrices of a [`Rank`](crate::set::Rank). What is exact for least squares is a picture for other losses:
//! exchanges are ranked on the second-order picture of f around a point, and by how much they lower f at least; the
//! best of either are tried on f itself.
//!
//! Below the surface, f is a [`Quadratic`] of which some columns are known. One pass brings many columns,
//! and what is computed from them reads the data no more: every exchange of two atoms, growth atom by
//! atom, the Lasso path. For a structure of your own that is no set of coordinates, [`Searchable`]
//! and [`Neighbourhood`] are what a search asks for.
//!
//! [`Certificate`]: crate::driver::Certificate

mod bounded;
mod bounded_climber;
mod bounded_estimates;
mod bounded_folds;
mod bounded_moves;
mod bounded_refit;
mod bounds;
mod box_minimum;
mod certificate;
mod criteria;
mod cross_validation;
mod detours;
mod exact;
mod excerpt;
mod folds;
mod gram;
mod growth;
mod ladder;
mod lasso;
mod lasso_models;
mod lasso_path;
mod listing;
mod neighbourhood;
mod nuclear_path;
mod null_fits;
mod part_gram;
mod path;
mod phase_transition;
mod picture;
mod products;
mod pursuit;
mod quadratic;
mod sample;
mod search;
mod seeker;
mod short_gram;
mod short_list;
mod short_picture;
mod shrinkage;
mod stability;
mod swaps;
mod sweep;
mod tableau;
mod training_paths;
mod tried;

pub use bounded::{Bounded, path_within_bounds, search_within_bounds};
pub use bounds::Bounds;
pub use certificate::{Certify, certify};
pub use criteria::{Criterion, ModelSize};
pub use cross_validation::{
    Choice, CrossValidation, Fitted, FoldModel, Score, Validated, cross_validate, cross_validate_while,
};
pub use folds::Folds;
pub use lasso_path::{LassoPath, LassoPathOptions, LassoPoint, lasso_path};
pub use neighbourhood::{GoOn, Neighbourhood, Polished, Searchable};
pub use nuclear_path::{NuclearFit, NuclearPath, soft_impute_path};
pub use path::{Model, Path, path, plain_path};
pub use phase_transition::{Sign, phase_transition_k, weak_threshold};
pub use quadratic::Quadratic;
pub use sample::{Preparation, Sample};
pub use search::{Escalate, Search, search, search_from};
pub use stability::{Selected, Stability, stability};
