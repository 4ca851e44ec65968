//! Methods: one algorithm per file, and their small parts (step, momentum, refit).
//!
//! Every method of this family asks for one gradient and moves. So a method is two answers:
//! *where do you want the gradient?* ([`Method::query`]) and *here it is: move*
//! ([`Method::advance`]). The [driver](crate::driver) does everything else.

mod accelerated_iht;
mod momentum;
mod refit;
mod step;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::Error;
use crate::objective::{Evaluated, Objective};
use crate::operator::LinearOperator;

pub use accelerated_iht::{AcceleratedIht, IhtState, Safeguard};
pub use momentum::{Momentum, MomentumMemory};
pub use refit::{Refit, refit_on};
pub(crate) use step::line_search;
pub use step::{Step, largest_curvature};

/// What one move did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// f at the new iterate.
    pub objective: f64,
    /// ‖x⁺ − x‖ / ‖x⁺‖.
    pub change: f64,
    /// Atoms of x⁺ that were not in x.
    pub entered: usize,
    /// The step size μ.
    pub step: f64,
    /// The momentum τ that leads to the next query.
    pub momentum: f64,
    /// How the move went.
    pub kind: Move,
}

/// How a move went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, serde::Deserialize)]
pub enum Move {
    /// The method moved on.
    Moved,
    /// No descent from the extrapolated point: the method returned to its iterate without momentum.
    Restarted,
    /// A step leads back to the iterate: it is a fixed point of the safeguarded method.
    Fixed,
    /// Atoms were exchanged for better ones, outside of the method.
    Exchanged,
    /// No step length brings a descent. `change` says how far the longest one would have moved.
    Stalled,
}

/// An algorithm in the form "give me a gradient here, and I move".
pub trait Method<A: LinearOperator, L, S>: Sync {
    /// Everything that changes from move to move; it can be saved.
    type State: Clone + Serialize + DeserializeOwned + Send;

    /// Checks the options and prepares the state at x0.
    ///
    /// # Errors
    /// When an option makes no sense.
    fn start(&self, f: &Objective<A, L>, set: &S, x0: A::Point) -> Result<Self::State, Error>;
    /// Where the gradient is wanted.
    fn query<'s>(&self, state: &'s Self::State) -> &'s Evaluated<A::Point>;
    /// Moves, given the gradient at the query.
    fn advance(&self, f: &Objective<A, L>, set: &S, state: &mut Self::State, g: &A::Covector) -> Progress;
    /// The answer so far.
    fn iterate<'s>(&self, state: &'s Self::State) -> &'s Evaluated<A::Point>;
    /// The end of a run, or of a stage of it: what is done once. The answer may change.
    fn finish(&self, f: &Objective<A, L>, state: &mut Self::State);
    /// Forgets the momentum: the next query is the iterate.
    fn restart(&self, state: &mut Self::State);
}
