//! One fit of a given rank, told move by move.

use std::time::Instant;

use katoms::driver::{Event, Status, Trace};
use katoms::linalg::norm;
use katoms::method::Move;
use katoms::{Error, Stop};
use serde::{Deserialize, Serialize};

use super::super::fit::Seal;
use super::em::{Parameters, expect, maximise};
use super::table::Table;
use crate::watch::{Phase, Progress, Watch};

/// Moves over which a fall of the objective is measured.
const WINDOW: usize = 10;

/// Where a fit stands; with its table it is all that it needs to go on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct State {
    pub parameters: Parameters,
    pub trace: Trace,
    table: u64,
}

impl State {
    pub fn start(table: &Table, rank: usize) -> Self {
        Self { parameters: Parameters::start(table, rank), trace: Trace::new(), table: table.fingerprint() }
    }

    /// From bytes that were saved on the same table.
    pub fn resume(table: &Table, bytes: &[u8]) -> Result<Self, Error> {
        let refused = |reason: &str| Error::Checkpoint { reason: reason.into() };
        let state: Self = postcard::from_bytes(bytes).map_err(|_| refused("its bytes are damaged"))?;
        let (q, rank) = (table.shape.1, state.parameters.rank);
        let Parameters { mean, loadings, noise, .. } = &state.parameters;
        if state.table != table.fingerprint()
            || [mean.len(), noise.len()] != [q; 2]
            || Some(loadings.len()) != q.checked_mul(rank)
        {
            return Err(refused("it was saved for other data"));
        }
        Ok(state)
    }

    fn seconds(&self) -> f64 {
        self.trace.last().map_or(0.0, |event| event.seconds)
    }
}

/// A fit and its place in the job.
pub struct Fitting<'a> {
    pub table: &'a Table,
    pub stop: Stop,
    /// Converged when the objective, per entry, falls by less than this in [`WINDOW`] moves.
    pub settled: f64,
    pub phase: Phase,
    pub done: usize,
    pub of: usize,
}

impl Fitting<'_> {
    /// Moves until a rule says stop. With a seal it can be saved.
    pub fn run(&self, state: &mut State, watch: &mut dyn Watch, seal: Option<Seal<'_>>) -> Result<Status, Error> {
        let mut expected = expect(self.table, &state.parameters);
        let mut status = self.ended(state);
        while status.is_none() {
            let (clock, before) = (Instant::now(), state.seconds());
            let next = maximise(self.table, expected);
            expected = expect(self.table, &next);
            if !expected.objective.is_finite() {
                return Ok(Status::Diverged);
            }
            let iteration = state.trace.len() + 1;
            let event = Event {
                iteration,
                atoms: next.rank,
                objective: expected.objective,
                gap: None,
                change: change(&state.parameters, &next),
                entered: 0,
                step: 1.0,
                momentum: 0.0,
                kind: Move::Moved,
                passes: iteration,
                reads: iteration as f64,
                columns: 0,
                seconds: before + clock.elapsed().as_secs_f64(),
            };
            state.trace.push(event);
            state.parameters = next;
            status = self.ended(state);
            status = self.tell(state, &event, status, watch, seal)?;
        }
        Ok(status.unwrap_or(Status::Converged))
    }

    /// Says how it goes; whoever watches may save and stop.
    fn tell(
        &self,
        state: &State,
        event: &Event,
        status: Option<Status>,
        watch: &mut dyn Watch,
        seal: Option<Seal<'_>>,
    ) -> Result<Option<Status>, Error> {
        let (phase, done, of, ended, can_save) = (self.phase, self.done, self.of, status.is_some(), seal.is_some());
        let answer = watch.tell(&Progress { phase, done, of, event, ended, can_save });
        if let Some(seal) = seal
            && answer.saves()
        {
            let bytes = postcard::to_stdvec(state)
                .map_err(|e| Error::Checkpoint { reason: format!("it could not be encoded ({e})") })?;
            watch.keep(&seal(bytes, event.seconds)?);
        }
        Ok(status.or(answer.stops().then_some(Status::Stopped)))
    }

    fn ended(&self, state: &State) -> Option<Status> {
        let last = state.trace.last()?;
        let settled = state.trace.last_chunk::<WINDOW>().is_some_and(|[first, .., last]| {
            // an objective that rises has not settled
            (first.objective - last.objective).abs() < self.settled
        });
        if last.change <= self.stop.tolerance || settled {
            return Some(Status::Converged);
        }
        if last.iteration >= self.stop.iterations {
            return Some(Status::IterationCap);
        }
        if self.stop.passes.is_some_and(|most| last.passes >= most) {
            return Some(Status::PassCap);
        }
        self.stop.seconds.is_some_and(|most| last.seconds >= most).then_some(Status::TimeLimit)
    }
}

/// How far means and loadings moved, relative to the standard deviations that the model gives the columns.
fn change(before: &Parameters, after: &Parameters) -> f64 {
    let moved = |a: &[f64], b: &[f64]| norm(&katoms::linalg::combine(1.0, a, -1.0, b));
    let size = norm(&after.loadings).hypot(after.noise.iter().sum::<f64>().sqrt());
    moved(&after.loadings, &before.loadings).hypot(moved(&after.mean, &before.mean)) / size
}
