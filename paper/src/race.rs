//! One run of a method, recorded: how far it was after so many iterations, passes and seconds; and two runs compared.

use std::time::Instant;

use anyhow::Result;
use katoms::driver::{Constraint, Event, Options, Outcome, Run, Stop};
use katoms::loss::Loss;
use katoms::method::{AcceleratedIht, Method, Momentum, Refit, Safeguard, Step};
use katoms::operator::LinearOperator;
use katoms::space::Point;
use katoms::{Objective, Status};
use serde::Serialize;

use crate::{Agreement, Contestant, Progress};

/// Where a run stood after a move. What prepared the run is included.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Mark {
    pub iteration: usize,
    /// Full passes over the data so far.
    pub passes: usize,
    pub seconds: f64,
    pub objective: f64,
}

/// What a run cost before its first move: the largest eigenvalue for a step, say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Preparation {
    pub passes: usize,
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
    pub contestant: Contestant,
    /// In which setting, where one contestant runs in several: "k = 2441".
    pub setting: String,
    /// Every move; the first is the start.
    pub marks: Vec<Mark>,
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
    pub contestant: Contestant,
    /// Empty where there is one only.
    pub setting: String,
    pub options: Options,
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
) -> Result<(Race, Outcome<A::Point>)>
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

/// Algorithm 1 as the paper sets it: a constant momentum, and nothing else.
pub fn published(step: Step, tau: f64) -> AcceleratedIht {
    AcceleratedIht { step, momentum: Momentum::Constant(tau), refit: Refit::Never, safeguard: Safeguard::Off }
}

/// Stop rules for a race: only a cap and a perfect fit end it, so that curves can be compared.
pub fn to_the_end(iterations: usize, perfect: f64) -> Stop {
    Stop { tolerance: 0.0, gap: 0.0, perfect: Some(perfect), iterations, ..Stop::default() }
}

/// How far from a published ratio a measured one may lie and still agree: it has two digits, and is one draw.
const NEAR: f64 = 0.15;
/// A measured ratio below this share of a published lower bound misses it by far.
const FAR: f64 = 2.0 / 3.0;
/// Seconds that differ by less than this share are the same: the rest is noise.
const NOISE: f64 = 0.1;

/// What a slower run costs over what a faster one does, where both have come equally far.
#[derive(Debug, Clone, Copy)]
pub struct Ratio {
    /// How far.
    pub level: f64,
    pub passes: f64,
    pub seconds: f64,
    pub iterations: f64,
}

impl Ratio {
    /// At the first of the levels that both reach.
    pub fn at_first(
        levels: impl IntoIterator<Item = f64>,
        fast: impl Fn(f64) -> Option<Mark>,
        slow: impl Fn(f64) -> Option<Mark>,
    ) -> Option<Self> {
        levels.into_iter().find_map(|level| {
            let (fast, slow) = (fast(level)?, slow(level)?);
            Some(Self {
                level,
                passes: slow.passes as f64 / fast.passes.max(1) as f64,
                seconds: slow.seconds / fast.seconds.max(f64::MIN_POSITIVE),
                iterations: slow.iteration as f64 / fast.iteration.max(1) as f64,
            })
        })
    }

    /// Whether passes and seconds lie on different sides of 1, by more than noise.
    pub fn is_contradicted(self) -> bool {
        (self.passes > 1.0) != (self.seconds > 1.0) && (self.seconds - 1.0).abs() > NOISE
    }

    /// Whether passes bear out a ratio, and seconds do not contradict them.
    pub fn near(self, published: f64) -> Agreement {
        match self.passes {
            _ if self.is_contradicted() => Agreement::Partly,
            passes if (passes - published).abs() <= NEAR => Agreement::Agrees,
            passes if passes > 1.0 => Agreement::Partly,
            _ => Agreement::Differs,
        }
    }

    /// Whether passes bear out a lower bound on a ratio, and seconds do not contradict them. A bound that both miss by far
    /// is not borne out, even in part.
    pub fn at_least(self, published: f64) -> Agreement {
        let contradicted = self.is_contradicted();
        let some = self.passes >= FAR * published || contradicted && self.seconds >= FAR * published;
        match some {
            _ if self.passes >= published && !contradicted => Agreement::Agrees,
            true => Agreement::Partly,
            false => Agreement::Differs,
        }
    }

    /// "1.30 times the passes, 1.21 the seconds, 1.33 the iterations".
    pub fn words(self) -> String {
        let [passes, seconds, iterations] = [self.passes, self.seconds, self.iterations].map(short);
        let beside = if self.is_contradicted() { " (the seconds contradict the passes)" } else { "" };
        format!("{passes} times the passes, {seconds} the seconds, {iterations} the iterations{beside}")
    }
}

/// A ratio as it is read: 1.27, 12.4, 385.
pub fn short(ratio: f64) -> String {
    let digits = if ratio < 9.995 { 2 } else { usize::from(ratio < 99.95) };
    format!("{ratio:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_runs_are_compared_at_the_first_level_that_both_reach() {
        let mark = |passes| Some(Mark { iteration: passes, passes, seconds: 1.0, objective: 0.0 });
        let fast = |level: f64| mark(if level < 1e-3 { 20 } else { 10 });
        let slow = |level: f64| if level < 1e-3 { None } else { mark(30) };
        let ratio = Ratio::at_first([1e-6, 1e-3, 1e-1], fast, slow).unwrap();
        assert_eq!((ratio.level, ratio.passes), (1e-3, 3.0));
        assert!(Ratio::at_first([1e-6], fast, slow).is_none());
        assert_eq!([1.274, 9.996, 12.44, 384.6].map(short), ["1.27", "10.0", "12.4", "385"]);
    }

    /// Passes decide; a claim about time is not borne out where the clock says the opposite.
    #[test]
    fn seconds_can_contradict_passes() {
        use Agreement::{Agrees, Differs, Partly};
        let timed = |passes, seconds| Ratio { level: 1e-3, passes, seconds, iterations: passes };
        for (passes, seconds, near) in
            [(1.3, 1.3, Agrees), (1.6, 1.6, Partly), (0.9, 0.9, Differs), (1.2, 0.8, Partly), (1.2, 0.95, Agrees)]
        {
            assert_eq!(timed(passes, seconds).near(1.2), near, "{passes} {seconds}");
        }
        for (passes, seconds, bound) in [
            (10.0, 10.0, Agrees),
            (7.0, 7.0, Partly),
            (3.0, 3.0, Differs),
            (12.0, 0.5, Partly),
            (0.5, 12.0, Partly),
            (0.5, 1.5, Differs),
        ] {
            assert_eq!(timed(passes, seconds).at_least(10.0), bound, "{passes} {seconds}");
        }
        assert!(timed(1.2, 0.8).words().contains("contradict") && !timed(1.2, 0.95).words().contains("contradict"));
    }
}
