//! When a run ends.

use super::{Event, Status};
use crate::error::{Error, check_option, check_range};
use crate::method::Move;

/// An objective this many times its start has left for good.
const DIVERGED: f64 = 1e12;

/// Stop rules; whichever holds first ends the run. All are relative: scaling the data changes nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stop {
    /// Converged when ‖x⁺ − x‖ ≤ tolerance·‖x⁺‖: the paper's rule. Default 1e-6.
    pub tolerance: f64,
    /// Converged when the method proves that the objective is this close to its minimum, relative to the
    /// objective at the start. Where a method tells a gap, that decides, and `tolerance` does not. Default 1e-6.
    pub gap: f64,
    /// Converged when the [stationarity residual](super::stationarity) of the iterate is at most
    /// this. Under momentum that costs a second pass an iteration. Default: not used.
    pub stationarity: Option<f64>,
    /// Converged when f is this close to its lower bound, relative to f at the start: nothing
    /// is left to gain. Default: what [`Objective::perfect`](crate::Objective::perfect) says of the data.
    pub perfect: Option<f64>,
    /// The most iterations. Default 1000.
    pub iterations: usize,
    /// The most passes over the data, a partial one by its share, looked at between moves: what a move or the
    /// statement of quality costs may come on top. In a search the exchanges after a run are one move, and so is the
    /// path of the Lasso. Default: no limit.
    pub passes: Option<usize>,
    /// The most seconds. Default: no limit.
    pub seconds: Option<f64>,
}

impl Default for Stop {
    fn default() -> Self {
        Self {
            tolerance: 1e-6,
            gap: 1e-6,
            stationarity: None,
            perfect: None,
            iterations: 1000,
            passes: None,
            seconds: None,
        }
    }
}

impl Stop {
    pub(super) fn check(&self) -> Result<(), Error> {
        let share = |v: f64| (0.0..1.0).contains(&v);
        check_option("tolerance", self.tolerance, "it must be at least 0 and below 1", share)?;
        check_option("stationarity", self.stationarity.unwrap_or(0.0), "it must be at least 0 and below 1", share)?;
        check_option("gap", self.gap, "it must be at least 0 and below 1", share)?;
        check_option("perfect", self.perfect.unwrap_or(0.0), "it must be at least 0 and below 1", share)?;
        check_option("seconds", self.seconds.unwrap_or(1.0), "it must be above 0", |v| v > 0.0)?;
        check_range("the cap on passes", self.passes.unwrap_or(1), 1, usize::MAX)?;
        check_range("the cap on iterations", self.iterations, 1, usize::MAX)
    }

    /// How the run ends after this event, if it does. `gap` is f − lower bound, now and at the start.
    pub(super) fn verdict(&self, event: &Event, gap: f64, start_gap: f64, perfect: f64) -> Option<Status> {
        if !gap.is_finite() || gap > DIVERGED * start_gap.max(f64::MIN_POSITIVE) {
            return Some(Status::Diverged);
        }
        if gap <= self.perfect.unwrap_or(perfect) * start_gap || self.settled(event, start_gap) {
            return Some(Status::Converged);
        }
        if event.kind == Move::Stalled {
            return Some(Status::Stalled);
        }
        self.exhausted(event)
    }

    fn settled(&self, event: &Event, start_gap: f64) -> bool {
        match (event.kind, event.gap) {
            (Move::Fixed | Move::Completed, _) => true,
            (Move::Restarted | Move::Exchanged | Move::Grown, _) => false,
            (_, Some(proven)) => proven <= self.gap * start_gap,
            // A stalled step that would hardly move is rounding at the end of the road.
            (Move::Moved | Move::Stalled, None) => event.change <= self.tolerance,
        }
    }

    fn exhausted(&self, event: &Event) -> Option<Status> {
        self.reached(event.iteration, event.reads, event.seconds)
    }

    /// The cap that was reached, if one was.
    pub(crate) fn reached(&self, iterations: usize, reads: f64, seconds: f64) -> Option<Status> {
        if iterations >= self.iterations {
            Some(Status::IterationCap)
        } else if self.passes.is_some_and(|cap| reads >= cap as f64) {
            Some(Status::PassCap)
        } else if self.seconds.is_some_and(|limit| seconds >= limit) {
            Some(Status::TimeLimit)
        } else {
            None
        }
    }
}
