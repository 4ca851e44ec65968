//! A search on its way: the run of the method, the search from its end, the statement about the answer; caps, clock and
//! observer.

use std::ops::ControlFlow;
use std::time::Instant;

use super::explore::{Explore, GoOn, Improved, Observer, Searchable};
use super::{Effort, Search};
use crate::driver::{Attempt, Certificate, Event, Options, Outcome, Quality, Run, Stages, Start, Status, Stop, Trace};
use crate::error::Error;
use crate::loss::Loss;
use crate::method::{Method, Move};
use crate::objective::{Cost, Evaluated, Objective};
use crate::operator::LinearOperator;
use crate::space::Point;

/// A method that still moves from where a search has ended is followed and the search goes on, so often at most.
const ROUNDS: usize = 3;

/// A search on its way.
pub(super) struct Session<'a, 's, A: LinearOperator, L, S, M: Method<A, L, S>> {
    f: &'a Objective<A, L>,
    set: &'a S,
    method: &'a M,
    options: Options,
    search: &'s Search,
    explore: &'s mut (dyn Explore<A::Point> + 'a),
    observer: &'s mut Observer<'s, A::Point>,
    /// Asked within long moves.
    go_on: &'s mut GoOn<'s>,
    run: Option<Run<'a, A, L, S, M>>,
    clock: Instant,
    cost: Cost,
    /// What the run had spent before the search began.
    earlier: Cost,
    earlier_seconds: f64,
    /// Seconds that the observer took.
    observed: f64,
    trace: Trace,
    attempts: Vec<Attempt>,
    /// Why the search ended before its time.
    cut: Option<Status>,
}

/// Where the search stands.
struct Found<P> {
    x: Evaluated<P>,
    status: Status,
    quality: Option<Quality>,
}

impl<'a, 's, A, L, S, M> Session<'a, 's, A, L, S, M>
where
    A: LinearOperator,
    L: Loss,
    S: Searchable<A, L>,
    M: Method<A, L, S>,
{
    pub fn new(
        run: Run<'a, A, L, S, M>,
        explore: &'s mut (dyn Explore<A::Point> + 'a),
        search: &'s Search,
        observer: &'s mut Observer<'s, A::Point>,
        go_on: &'s mut GoOn<'s>,
    ) -> Self {
        let (f, set, method, options) = run.problem();
        let (earlier, earlier_seconds) = run.spent();
        Self {
            f,
            set,
            method,
            options,
            search,
            explore,
            observer,
            go_on,
            trace: run.trace().to_vec(),
            run: Some(run),
            clock: Instant::now(),
            cost: f.cost(),
            earlier,
            earlier_seconds,
            observed: 0.0,
            attempts: Vec::new(),
            cut: None,
        }
    }

    /// The method's run, and on from its end, with a certificate where that is asked for.
    pub fn search(mut self) -> Result<Outcome<A::Point>, Error> {
        let found = self.found()?;
        let certificate = if self.search.quality && self.may_go_on() { self.explore.certify(&found.x) } else { None };
        Ok(self.outcome(found, certificate))
    }

    /// The answer alone, and how the search ended.
    pub fn answer(mut self) -> Result<(Improved<A::Point>, Status), Error> {
        let Found { x, status, quality } = self.found()?;
        let quality = quality.unwrap_or_else(|| self.explore.judge(&x, self.set.atoms()));
        Ok((Improved { x, exchanges: 0, quality }, self.cut.unwrap_or(status)))
    }

    fn found(&mut self) -> Result<Found<A::Point>, Error> {
        let (x, status) = self.run(A::Point::zero(self.set.domain()), self.options.stages.clone())?;
        self.attempts.push(Attempt { start: Start::Method, objective: self.f.value(&x), exchanges: 0, status });
        let mut found = Found { x, status, quality: None };
        if self.search.effort != Effort::Quick && self.cut.is_none() && !self.is_enough(&found.x) {
            found = self.improved(found)?;
        }
        Ok(found)
    }

    /// The search from where the method ended. Where the method still moves from its end, it is followed.
    fn improved(&mut self, start: Found<A::Point>) -> Result<Found<A::Point>, Error> {
        let (mut found, mut exchanges) = (start, 0);
        for _ in 0..ROUNDS {
            let (k, effort) = (self.set.atoms(), self.search.effort);
            let x = found.x.clone();
            let improved = self.within(|explore, go_on| explore.improve(x, k, effort, go_on));
            exchanges += improved.exchanges;
            self.tell(&improved);
            let status = if improved.exchanges > 0 { Status::Converged } else { found.status };
            let moves = improved.quality.stationarity > self.options.stop.tolerance && improved.exchanges > 0;
            found = Found { x: improved.x, status, quality: Some(improved.quality) };
            if !moves || self.cut.is_some() || self.is_enough(&found.x) {
                break;
            }
            let before = self.f.value(&found.x);
            let (x, status) = self.run(found.x.point().clone(), Stages::direct())?;
            if !(self.f.value(&x) < before) {
                break;
            }
            found = Found { x, status, quality: None };
        }
        let (objective, status) = (self.f.value(&found.x), found.status);
        if exchanges > 0 {
            self.attempts.push(Attempt { start: Start::WorkingSet, objective, exchanges, status });
        }
        Ok(found)
    }

    /// A long move, which is asked about the caps and the caller's wish on its way.
    fn within<T>(&mut self, work: impl FnOnce(&mut dyn Explore<A::Point>, &mut GoOn<'_>) -> T) -> T {
        let (spent, elapsed) = (self.spent(), self.seconds());
        let (before, clock) = (self.f.cost(), Instant::now());
        let Self { f, explore, trace, options, go_on, cut, .. } = self;
        work(&mut **explore, &mut |done| {
            let reads = spent.plus(f.cost().since(before)).reads(f.operator().n_outputs());
            let seconds = elapsed + clock.elapsed().as_secs_f64();
            let wish = go_on(done).is_break().then_some(Status::Stopped);
            *cut = cut.or(wish).or(options.stop.reached(trace.len(), reads, seconds));
            if cut.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
    }

    /// The method from x to its end.
    fn run(&mut self, x: A::Point, stages: Stages) -> Result<(Evaluated<A::Point>, Status), Error> {
        let options = Options { stop: self.remaining(), stages, ..self.options.clone() };
        let mut run = match self.run.take() {
            Some(run) => run,
            None => Run::starting_at(self.f, self.set, self.method, options, x)?,
        };
        while !run.is_done() {
            let event = run.step();
            let event = Event { iteration: self.trace.len() + 1, ..self.stamped(event) };
            self.trace.push(event);
            if self.observe(&event, run.iterate()) {
                self.cut = Some(Status::Stopped);
                run.stop();
            }
        }
        let (x, status) = (run.evaluated().clone(), run.outcome_unchecked().status);
        if matches!(status, Status::IterationCap | Status::PassCap | Status::TimeLimit | Status::Stopped) {
            self.cut = Some(status);
        }
        Ok((x, status))
    }

    /// What is left of the caps.
    fn remaining(&self) -> Stop {
        let stop = self.options.stop;
        let spent = self.reads() as usize;
        Stop {
            iterations: stop.iterations.saturating_sub(self.trace.len()).max(1),
            passes: stop.passes.map(|most| most.saturating_sub(spent).max(1)),
            seconds: stop.seconds.map(|most| (most - self.seconds()).max(f64::MIN_POSITIVE)),
            ..stop
        }
    }

    fn spent(&self) -> Cost {
        self.earlier.plus(self.f.cost().since(self.cost))
    }

    fn reads(&self) -> f64 {
        self.spent().reads(self.f.operator().n_outputs())
    }

    fn seconds(&self) -> f64 {
        self.earlier_seconds + self.clock.elapsed().as_secs_f64() - self.observed
    }

    /// An event with the cost of the whole search.
    fn stamped(&self, event: Event) -> Event {
        let Cost { passes, columns, .. } = self.spent();
        Event { passes, reads: self.reads(), columns, seconds: self.seconds(), ..event }
    }

    /// Tells the observer of exchanges, and looks at the caps.
    fn tell(&mut self, improved: &Improved<A::Point>) {
        if improved.exchanges == 0 {
            return;
        }
        let event = self.stamped(Event {
            iteration: self.trace.len() + 1,
            atoms: self.set.atoms(),
            objective: self.f.value(&improved.x),
            gap: None,
            change: 0.0,
            entered: improved.exchanges,
            step: 0.0,
            momentum: 0.0,
            kind: Move::Exchanged,
            passes: 0,
            reads: 0.0,
            columns: 0,
            seconds: 0.0,
        });
        self.trace.push(event);
        if self.observe(&event, improved.x.point()) {
            self.cut = Some(Status::Stopped);
        }
        let reached = self.options.stop.reached(self.trace.len(), self.reads(), self.seconds());
        self.cut = self.cut.or(reached);
    }

    /// Calls the observer, off the clock. Whether it wants to stop.
    fn observe(&mut self, event: &Event, x: &A::Point) -> bool {
        let clock = Instant::now();
        let stop = (self.observer)(event, x).is_break();
        self.observed += clock.elapsed().as_secs_f64();
        stop
    }

    /// Whether neither the caps that were met nor the clock nor the caller want an end: none of them waits for a
    /// certificate, which may take longer than the search.
    fn may_go_on(&mut self) -> bool {
        let (moves, seconds) = (self.trace.len(), self.seconds());
        let wish = (self.go_on)(moves).is_break().then_some(Status::Stopped);
        self.cut = self.cut.or(wish).or(self.options.stop.reached(0, 0.0, seconds));
        self.cut.is_none()
    }

    /// Whether nothing, or nothing but noise, is left to gain.
    fn is_enough(&self, x: &Evaluated<A::Point>) -> bool {
        let (here, lower) = (self.f.value(x), self.f.lower_bound());
        let zero = self.f.value(&self.f.at(A::Point::zero(self.set.domain())));
        let noise = self.search.noise.map_or(0.0, |sigma| 0.5 * sigma * sigma * x.image().len() as f64);
        here.is_finite() && here - lower <= (self.f.perfect() * (zero.max(here) - lower)).max(noise)
    }

    fn outcome(self, found: Found<A::Point>, certificate: Option<Certificate>) -> Outcome<A::Point> {
        let seconds = self.seconds();
        let asked = self.search.quality;
        let quality = found.quality.or_else(|| asked.then(|| self.explore.judge(&found.x, self.set.atoms())));
        let quality = quality.filter(|_| asked).map(|quality| Quality { certificate, ..quality });
        let (Cost { passes, columns, .. }, reads) = (self.spent(), self.reads());
        Outcome {
            status: self.cut.unwrap_or(found.status).unless_separated(self.f, &found.x),
            iterations: self.trace.len(),
            passes,
            reads,
            columns,
            seconds,
            objective: self.f.value(&found.x),
            quality,
            attempts: self.attempts,
            trace: self.trace,
            point: found.x.into_point(),
        }
    }
}
