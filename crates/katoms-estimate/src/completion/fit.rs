//! One fit of a given rank under a given ridge.

use katoms::driver::{Event, Run, Stages, Status};
use katoms::linalg;
use katoms::loss::LeastSquares;
use katoms::method::RankMethod;
use katoms::operator::{Entries, LinearOperator};
use katoms::set::Rank;
use katoms::space::LowRank;
use katoms::{Error, Objective, Options, Outcome, Stop};

use super::{Effects, Observed};
use crate::watch::{Phase, Progress, Watch};

pub(super) type Squares = Objective<Entries, LeastSquares>;

pub(super) struct Problem {
    entries: Entries,
    target: Vec<f64>,
}

impl Problem {
    pub fn new(observed: &Observed, effects: &Effects) -> Result<Self, Error> {
        let target = linalg::combine(1.0, observed.values(), -1.0, &effects.on(observed));
        Ok(Self { entries: observed.entries()?, target })
    }

    pub fn objective(&self, ridge: f64) -> Result<Squares, Error> {
        Objective::new(self.entries.clone(), LeastSquares::new(self.target.clone())?)?.ridge(ridge)
    }

    /// The root of the mean squared error on these entries.
    ///
    /// # Errors
    /// When a device fails.
    pub fn rmse(&self, x: &LowRank) -> Result<f64, Error> {
        let mut z = vec![0.0; self.target.len()];
        self.entries.apply(x, &mut z);
        let error = linalg::norm(&linalg::combine(1.0, &z, -1.0, &self.target)) / (z.len() as f64).sqrt();
        self.entries.failure().map_or(Ok(error), Err)
    }
}

pub(super) struct Fitting<'a> {
    pub f: &'a Squares,
    pub method: &'a RankMethod,
    pub stop: Stop,
    /// Settled when f falls by less than this share within [`WINDOW`] moves.
    pub settled: f64,
    pub phase: Phase,
    pub done: usize,
    pub of: usize,
}

pub(super) enum Begin<'a> {
    /// At nothing: the rank grows in stages.
    Zero,
    /// At a point that has grown already.
    Grown(LowRank),
    /// Where the driver saved one that began `grown` or not.
    Saved { state: &'a [u8], grown: bool },
}

impl Begin<'_> {
    pub fn is_grown(&self) -> bool {
        matches!(self, Self::Grown(_) | Self::Saved { grown: true, .. })
    }
}

/// Moves over which a fall of f is measured.
const WINDOW: usize = 10;

/// Whether f has nearly ceased to fall. Noisy entries leave a long valley in which the point still wanders and f
/// does not; where they are exact, f falls by a share in every move.
fn has_settled(trace: &[Event], rank: usize, share: f64) -> bool {
    let Some([first, .., last]) = trace.last_chunk::<WINDOW>() else { return false };
    // the difference itself: an objective that rises has not settled
    first.atoms == rank && (first.objective - last.objective).abs() < share * last.objective
}

pub(super) type Seal<'a> = &'a dyn Fn(Vec<u8>, f64) -> Result<Vec<u8>, Error>;

impl Fitting<'_> {
    /// Fits this rank. With a seal it is the answer itself, which can be saved and is told how good it is.
    pub fn run(
        &self,
        rank: usize,
        begin: Begin<'_>,
        watch: &mut dyn Watch,
        seal: Option<Seal<'_>>,
    ) -> Result<Outcome<LowRank>, Error> {
        let outcome = self.run_there(rank, begin, watch, seal);
        // What a device did not compute is not a number.
        self.f.operator().failure().map_or(outcome, Err)
    }

    fn run_there(
        &self,
        rank: usize,
        begin: Begin<'_>,
        watch: &mut dyn Watch,
        seal: Option<Seal<'_>>,
    ) -> Result<Outcome<LowRank>, Error> {
        let set = Rank::new(rank, self.f.operator().domain())?;
        let stages = if begin.is_grown() { Stages::direct() } else { Stages::growing(rank) };
        let options = Options { stop: self.stop, stages, ..Options::default() };
        let mut run = match begin {
            Begin::Zero => Run::new(self.f, &set, self.method, options)?,
            Begin::Grown(x) => Run::starting_at(self.f, &set, self.method, options, x)?,
            Begin::Saved { state, .. } => Run::resume(self.f, &set, self.method, options, state)?,
        };
        // A run that was saved after its last move has settled already.
        let mut settled = has_settled(run.trace(), rank, self.settled);
        while !run.is_done() && !settled {
            let event = run.step();
            // Nothing is saved of what a device did not compute.
            if let Some(error) = self.f.operator().failure() {
                return Err(error);
            }
            settled = !run.is_done() && has_settled(run.trace(), rank, self.settled);
            let (phase, done, of) = (self.phase, self.done, self.of);
            let (ended, can_save) = (run.is_done() || settled, seal.is_some());
            let answer = watch.tell(&Progress { phase, done, of, event: &event, ended, can_save });
            if let Some(seal) = seal
                && answer.saves()
            {
                watch.keep(&seal(run.save()?, event.seconds)?);
            }
            if answer.stops() && !settled {
                run.stop();
            }
        }
        let outcome = if seal.is_some() { run.outcome() } else { run.outcome_unchecked() };
        let status = if settled { Status::Converged } else { outcome.status };
        Ok(Outcome { status, ..outcome })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use katoms::method::Move;

    /// A trace of these values of f, at rank 2.
    fn trace(objective: impl Fn(usize) -> f64) -> Vec<Event> {
        let event = |iteration: usize| Event {
            iteration,
            atoms: 2,
            objective: objective(iteration),
            gap: None,
            change: 0.1,
            entered: 0,
            step: 1.0,
            momentum: 0.0,
            kind: Move::Moved,
            passes: iteration,
            reads: iteration as f64,
            columns: 0,
            seconds: 0.0,
        };
        (1..=WINDOW).map(event).collect()
    }

    #[test]
    fn only_what_stands_has_settled() {
        let falling = trace(|i| 10.0 - i as f64 / 10.0);
        let standing = trace(|i| 10.0 - i as f64 * 1e-9);
        let rising = trace(|i| 10.0 + i as f64);
        let settled = |trace: &[Event]| has_settled(trace, 2, 1e-6);
        assert!(settled(&standing) && !settled(&falling) && !settled(&rising));
        assert!(!has_settled(&standing, 3, 1e-6) && !settled(&standing[1..]));
    }
}
