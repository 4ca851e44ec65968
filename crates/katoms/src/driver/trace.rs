//! What happened, move by move.

use serde::{Deserialize, Serialize};

use crate::method::Move;

/// One move of a run, as an observer and the trace see it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// The number of moves so far, this one included.
    pub iteration: usize,
    /// The number of atoms that were allowed: it grows with the stages.
    pub atoms: usize,
    /// What is minimised, at the new iterate: f, and a penalty where there is one.
    pub objective: f64,
    /// How far the objective is at most from its minimum, where the method proves it.
    pub gap: Option<f64>,
    /// ‖x⁺ − x‖ / ‖x⁺‖.
    pub change: f64,
    /// Atoms of x⁺ that were not in x.
    pub entered: usize,
    /// The step size μ.
    pub step: f64,
    /// The momentum τ.
    pub momentum: f64,
    /// How the move went.
    pub kind: Move,
    /// Full passes over the data so far.
    pub passes: usize,
    /// Reads of the data so far: full passes, and partial ones by their share of the rows.
    pub reads: f64,
    /// Columns touched outside of passes so far.
    pub columns: usize,
    /// Seconds of work so far; observers are off the clock.
    pub seconds: f64,
}

/// All events of a run, in order.
pub type Trace = Vec<Event>;
