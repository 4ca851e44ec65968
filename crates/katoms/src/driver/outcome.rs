//! What a run gives back.

use serde::{Deserialize, Serialize};

use super::recession::falls_for_ever;
use super::{Quality, Trace};
use crate::loss::Loss;
use crate::objective::{Evaluated, Objective};
use crate::operator::LinearOperator;

/// How a run ended. Only [`Status::Converged`] is success.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Status {
    /// A convergence rule held.
    Converged,
    /// The cap on iterations was reached first.
    IterationCap,
    /// The cap on passes was reached first.
    PassCap,
    /// The time limit was reached first.
    TimeLimit,
    /// No step lowers f any more, though a step would still move: the objective is at odds with its
    /// gradient, by rounding or by a loss that is not what it says.
    Stalled,
    /// The observer stopped the run.
    Stopped,
    /// f left all bounds: the step or the momentum is too large.
    Diverged,
    /// The model separates classes, or tells some rows without an error, and there is no ridge: larger coefficients always fit
    /// better, so no finite ones are the best.
    Separated,
}

impl Status {
    /// What is said of a search over atoms that ended so at x: where x separates all classes, or some of the rows, nothing
    /// converges.
    pub(crate) fn unless_separated<A: LinearOperator, L: Loss>(
        self,
        f: &Objective<A, L>,
        x: &Evaluated<A::Point>,
    ) -> Self {
        if self == Self::Converged && (f.is_separated_by(x) || falls_for_ever(f, x)) { Self::Separated } else { self }
    }
}

/// What a model comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Start {
    /// The run of the method, from zero or from the point that was given.
    Method,
    /// The search on a working set of atoms that follows it.
    WorkingSet,
}

/// What one part of a search led to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Attempt {
    /// Which part.
    pub start: Start,
    /// f at its end.
    pub objective: f64,
    /// Atoms that came in for others.
    pub exchanges: usize,
    /// How its last run ended.
    pub status: Status,
}

/// The answer, how it was reached and how good it is.
#[derive(Debug, Clone)]
pub struct Outcome<P> {
    /// The point: at most k atoms.
    pub point: P,
    /// How the run ended.
    pub status: Status,
    /// The number of moves.
    pub iterations: usize,
    /// Full passes over the data, those of the quality statement included.
    pub passes: usize,
    /// Reads of the data: full passes, and [partial](super::Partial) ones by their share of the rows.
    pub reads: f64,
    /// Columns touched outside of passes.
    pub columns: usize,
    /// Seconds of work, without the observers'. A single run's are without the quality statement's.
    pub seconds: f64,
    /// What is minimised, at the point: f, and a penalty where there is one.
    pub objective: f64,
    /// How good the point is; `None` when that was not asked for.
    pub quality: Option<Quality>,
    /// The parts of a search, in order; empty for a single run.
    pub attempts: Vec<Attempt>,
    /// Every move.
    pub trace: Trace,
}
