//! Frank–Wolfe methods, also called conditional gradients: no projection, one vertex an iteration.
//!
//! minimise f(x) subject to x ∈ conv(𝒜), where a vertex that minimises ⟨∇f(x), ·⟩ is cheap to find.
//!
//! * [`FrankWolfe`]: Frank and Wolfe, "An algorithm for quadratic programming" (1956); Jaggi, "Revisiting
//!   Frank-Wolfe: Projection-Free Sparse Convex Optimization" (2013).
//! * [`AwayFrankWolfe`] and [`PairwiseFrankWolfe`]: Guélat and Marcotte, "Some comments on Wolfe's 'away
//!   step'" (1986); Lacoste-Julien and Jaggi, "On the Global Linear Convergence of Frank-Wolfe Optimization
//!   Variants" (2015).
//!
//! What the three share is here: the line search, the atoms that the iterate is made of, the correction
//! (minimising f over the hull of these atoms), and the state.
//!
//! The gap ⟨∇f(x), x − s⟩ bounds f(x) − f*. A move reports the bound for the point that it *arrives* at: f
//! there minus the largest f(x) − gap so far. It is never larger than the gap at the point that was left.

mod active_set;
mod away;
mod correction;
mod line_search;
mod pairwise;
mod plain;
mod simplex;
mod state;

pub use away::AwayFrankWolfe;
pub use correction::Correction;
pub use pairwise::PairwiseFrankWolfe;
pub use plain::{FrankWolfe, FrankWolfeStep};
pub use state::FrankWolfeState;
