//! One run of a method, recorded: how far it was after so many iterations, passes and seconds.

use std::time::Instant;

use katoms::driver::{Constraint, Event, Options, Outcome, Run, Stop};
use katoms::loss::Loss;
use katoms::method::Method;
use katoms::operator::LinearOperator;
use katoms::space::Point;
use katoms::{Objective, Status};
use serde::Serialize;

use crate::{Contestant, Error, Progress};

/// Where a run stood after a move.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Mark {
    /// Moves so far.
    pub iteration: usize,
    /// Full passes over the data so far, those that prepared the run included.
    pub passes: usize,
    /// Seconds of work so far, those that prepared the run included.
    pub seconds: f64,
    /// The objective.
    pub objective: f64,
}

/// What a run cost before its first move: the largest eigenvalue for a step, say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Preparation {
    /// Full passes over the data.
    pub passes: usize,
    /// Seconds.
    pub seconds: f64,
}

/// Does what a run needs before its first move, and says what it cost.
pub fn prepare<A: LinearOperator, L: Loss, T>(f: &Objective<A, L>, work: impl FnOnce() -> T) -> (T, Preparation) {
    let (clock, before) = (Instant::now(), f.cost());
    let done = work();
    let passes = f.cost().passes - before.passes;
    (done, Preparation { passes, seconds: clock.elapsed().as_secs_f64() })
}

/// A recorded run.
#[derive(Debug, Clone, Serialize)]
pub struct Race {
    /// Who ran.
    pub contestant: Contestant,
    /// In which setting, where one contestant runs in several: "k = 2441".
    pub setting: String,
    /// Every move; the first is the start.
    pub marks: Vec<Mark>,
    /// How it ended.
    pub status: Status,
}

impl Race {
    /// The first mark from which on the objective stays at or below this.
    pub fn reaches(&self, objective: f64) -> Option<&Mark> {
        let last_above = self.marks.iter().rposition(|m| !(m.objective <= objective));
        self.marks.get(last_above.map_or(0, |at| at + 1))
    }
}

/// Who runs, and under which rules.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Who.
    pub contestant: Contestant,
    /// In which setting; empty where there is one only.
    pub setting: String,
    /// When it ends, and how k grows.
    pub options: Options,
    /// What it cost before its first move.
    pub preparation: Preparation,
}

/// Runs a method and records it. `look` sees each iterate, off the clock.
pub fn race<A, L, S, M>(
    entry: Entry,
    f: &Objective<A, L>,
    set: &S,
    method: &M,
    progress: &Progress,
    mut look: impl FnMut(&Event, &A::Point),
) -> Result<(Race, Outcome<A::Point>), Error>
where
    A: LinearOperator,
    L: Loss,
    S: Constraint<A, L>,
    M: Method<A, L, S>,
{
    let start = f.value(&f.at(A::Point::zero(set.space())));
    let Entry { contestant, setting, options, preparation: Preparation { passes, seconds } } = entry;
    let mut marks = vec![Mark { iteration: 0, passes, seconds, objective: start }];
    let mut run = Run::new(f, set, method, options)?;
    while !run.is_done() {
        let event = run.step();
        look(&event, run.iterate());
        marks.push(Mark {
            iteration: event.iteration,
            passes: passes + event.passes,
            seconds: seconds + event.seconds,
            objective: event.objective,
        });
        progress.at(contestant.label())?;
    }
    // A statement of quality would cost passes and refits that nobody asks for here.
    let outcome = run.outcome_unchecked();
    Ok((Race { contestant, setting, marks, status: outcome.status }, outcome))
}

/// Stop rules for a race: only a cap and a perfect fit end it, so that curves can be compared.
pub fn to_the_end(iterations: usize, perfect: f64) -> Stop {
    Stop { tolerance: 0.0, gap: 0.0, perfect: Some(perfect), iterations, ..Stop::default() }
}
