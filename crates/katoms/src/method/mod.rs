//! Methods: one algorithm per file, and their small parts (step, momentum, refit).
//!
//! Every method of this family asks for one gradient and moves. So a method is two answers:
//! *where do you want the gradient?* ([`Method::query`]) and *here it is: move*
//! ([`Method::advance`]). The [driver](crate::driver) does everything else.

mod accelerated_iht;
mod any;
mod bfgd;
mod block_descent;
pub(crate) mod duality;
mod fista;
mod frank_wolfe;
mod greedy;
mod lasso;
mod momentum;
mod proximal;
mod refit;
mod riemannian_cg;
mod smooth;
mod soft_impute;
mod step;
pub mod table;
mod thresholding;
mod twist;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::Error;
use crate::objective::{Evaluated, Objective};
use crate::operator::LinearOperator;
use crate::space::{Point, Subspace};

pub use accelerated_iht::{AcceleratedIht, IhtState, Safeguard};
pub use any::{AtomMethod, AtomState, L1Method, L1State, RankMethod, RankState};
pub use bfgd::{Bfgd, BfgdState, FactorStep};
pub use block_descent::{BlockDescent, BlockDescentState};
pub use fista::{Fista, FistaState, Restart};
pub use frank_wolfe::{Correction, FrankWolfe, FrankWolfeRule, FrankWolfeState};
pub use greedy::Greedy::{self, ForwardRegression, Oblivious, Omp};
pub use greedy::{Foba, FobaState, GreedyState};
pub use lasso::{Lasso, LassoPath, LassoPathOptions, LassoPoint, LassoState, lasso_path};
pub use momentum::{Momentum, MomentumMemory};
pub use proximal::ProximalStep;
pub(crate) use refit::refit_below;
pub use refit::{Refit, refit_on};
pub use riemannian_cg::{RiemannianCg, RiemannianCgState};
pub use soft_impute::{NuclearFit, NuclearPath, SoftImpute, SoftImputeState, soft_impute_path};
pub(crate) use step::line_search;
pub use step::{Step, largest_curvature};
pub use thresholding::{
    Acceleration, AlpsState, AlpsVersion, Cgiht, CgihtState, Cosamp, EcmeDore, EcmeState, Frame,
    HardThresholdingPursuit, MatrixAlps, NihtState, NormalisedIht, PursuitState, RestrictedEstimate, SubspacePursuit,
    SubspaceState, SupportRestart, Walk,
};
pub use twist::{Twist, TwistState};

/// What one move did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// What is minimised, at the new iterate: f, and a penalty where there is one.
    pub objective: f64,
    /// A bound on how far the objective is from its minimum, where the method has one.
    pub gap: Option<f64>,
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

impl Progress {
    /// A move from x to x⁺, without what only the method knows: a step, a momentum, a gap.
    pub fn moved<P: Point>(objective: f64, x_next: &P, x: &P) -> Self {
        Self::moved_by(x_next.distance(x), objective, x_next, x)
    }

    /// The same, of this length.
    pub(crate) fn moved_by<P: Point>(length: f64, objective: f64, x_next: &P, x: &P) -> Self {
        let change = relative(length, x_next);
        let entered = x_next.support().entered_since(&x.support());
        Self { change, entered, ..Self::still(objective, Move::Moved) }
    }

    /// No move at all.
    pub fn still(objective: f64, kind: Move) -> Self {
        Self { objective, gap: None, change: 0.0, entered: 0, step: 0.0, momentum: 0.0, kind }
    }
}

/// ‖x⁺ − x‖ / ‖x⁺‖.
fn relative_change<P: Point>(x_next: &P, x: &P) -> f64 {
    relative(x_next.distance(x), x_next)
}

fn relative<P: Point>(length: f64, x_next: &P) -> f64 {
    if length == 0.0 { 0.0 } else { length / x_next.norm() }
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
    /// Atoms came or went, and more may: the size of the change says nothing about the end.
    Grown,
    /// The method moved, and its own rule says that this was the last move: it has all its atoms, say.
    Completed,
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
    /// The end of a run: what is done once. The answer may change.
    fn finish(&self, f: &Objective<A, L>, state: &mut Self::State) {
        let _ = (f, state);
    }
    /// Tells methods apart whose states look alike: a saved state is refused by another method.
    fn label(&self) -> &'static str {
        std::any::type_name::<Self>()
    }
    /// Whether a gradient that is exact on promising atoms and zero elsewhere serves a move. So it does where every move
    /// lowers f whatever atoms it is shown, and a run ends where no atom brings a descent.
    fn takes_candidates(&self) -> bool {
        false
    }
    /// Forgets the momentum: the next query is the iterate.
    fn restart(&self, state: &mut Self::State) {
        let _ = state;
    }
}
