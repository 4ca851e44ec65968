//! A search on its way: start by start, each polished, until one is good enough.

use std::ops::ControlFlow;
use std::time::Instant;

use super::detours::{detour, roundabout};
use super::neighbourhood::{GoOn, Neighbourhood, Observer, Polished, Searchable};
use super::search::{Escalate, Search};
use crate::driver::{Attempt, Certificate, Event, Options, Outcome, Quality, Run, Stages, Start, Status, Stop, Trace};
use crate::error::Error;
use crate::loss::Loss;
use crate::method::{Method, Move};
use crate::objective::{Cost, Evaluated, Objective};
use crate::operator::LinearOperator;
use crate::space::Point;

/// Objectives that differ by less than this share are the same.
const SAME: f64 = 1e-6;
/// An answer that is proven to be this near to the best, relative to f, is the best.
const PROVEN: f64 = 1e-6;
/// A method that moves on from a polished point is polished again, so often at most.
const ROUNDS: usize = 10;

/// A search on its way.
pub(super) struct Seeker<'a, 'g, A: LinearOperator, L, S, M: Method<A, L, S>> {
    f: &'a Objective<A, L>,
    set: &'a S,
    method: &'a M,
    options: Options,
    search: &'a Search,
    hood: Box<dyn Neighbourhood<A::Point> + 'a>,
    observer: &'g mut Observer<'g, A::Point>,
    /// Asked within long moves.
    go_on: Option<&'g mut GoOn<'g>>,
    /// The run that the start at zero goes on with.
    first: Option<Run<'a, A, L, S, M>>,
    clock: Instant,
    cost: Cost,
    /// What that run had spent before the search began.
    earlier: Cost,
    earlier_seconds: f64,
    /// Seconds that the observer took.
    observed: f64,
    trace: Trace,
    attempts: Vec<Attempt>,
    best: Option<Found<A::Point>>,
    /// Where other starts led, as far as ways by other sizes begin there too.
    others: Vec<Found<A::Point>>,
    /// Whether the first start was good as it was, and others would cost something.
    untroubled: bool,
    /// Whether two starts led to the same answer.
    agreed: bool,
    /// Why the search ended before its time.
    cut: Option<Status>,
}

/// Where a start led.
struct Found<P> {
    x: Evaluated<P>,
    status: Status,
    exchanges: usize,
    quality: Option<Quality>,
    certificate: Option<Certificate>,
}

impl<'a, 'g, A, L, S, M> Seeker<'a, 'g, A, L, S, M>
where
    A: LinearOperator,
    L: Loss,
    S: Searchable<A, L>,
    M: Method<A, L, S>,
{
    pub fn new(
        f: &'a Objective<A, L>,
        set: &'a S,
        method: &'a M,
        options: Options,
        search: &'a Search,
        observer: &'g mut Observer<'g, A::Point>,
    ) -> Self {
        let mut hood = set.neighbourhood(f);
        if hood.affords_starts() {
            hood.expect_starts();
        }
        Self {
            f,
            set,
            method,
            options,
            search,
            hood,
            observer,
            go_on: None,
            first: None,
            clock: Instant::now(),
            cost: f.cost(),
            earlier: Cost::default(),
            earlier_seconds: 0.0,
            observed: 0.0,
            trace: Trace::new(),
            attempts: Vec::new(),
            best: None,
            others: Vec::new(),
            untroubled: false,
            agreed: false,
            cut: None,
        }
    }

    /// The same, where a run takes the place of the start at zero.
    pub fn from(
        run: Run<'a, A, L, S, M>,
        search: &'a Search,
        observer: &'g mut Observer<'g, A::Point>,
        go_on: &'g mut GoOn<'g>,
    ) -> Self {
        let (f, set, method, options) = run.problem();
        let mut seeker = Self::new(f, set, method, options, search, observer);
        seeker.go_on = Some(go_on);
        seeker.trace = run.trace().to_vec();
        (seeker.earlier, seeker.earlier_seconds) = run.spent();
        seeker.first = Some(run);
        seeker
    }

    /// Start by start, until one is good enough.
    pub fn search(mut self) -> Result<Outcome<A::Point>, Error> {
        let given = self.first.is_some().then_some(Start::Thresholded);
        let others = self.search.starts.iter().copied().filter(|&start| Some(start) != given && start != Start::Detour);
        let starts: Vec<Start> = given.into_iter().chain(others).collect();
        for start in starts {
            let Some(found) = self.attempt(start)? else { continue };
            if self.settle(start, found) || self.is_capped() {
                break;
            }
        }
        if self.attempts.is_empty()
            && let Some(found) = self.attempt(Start::Thresholded)?
        {
            self.settle(Start::Thresholded, found);
        }
        self.detours()?;
        Ok(self.outcome())
    }

    /// From a start to the end of its road; `None` where the structure has no such start.
    fn attempt(&mut self, start: Start) -> Result<Option<Found<A::Point>>, Error> {
        let zero = A::Point::zero(self.set.domain());
        let stages = self.options.stages.clone();
        match start {
            Start::Thresholded => self.road(zero, stages).map(Some),
            Start::Grown => match self.grown() {
                Some(grown) => self.onward(grown).map(Some),
                None => self.road(zero, Stages::growing(self.set.atoms())).map(Some),
            },
            Start::Lasso => match self.within(|hood, go_on| hood.lasso(go_on)) {
                Some(x) => self.road(x, Stages::direct()).map(Some),
                None => Ok(None),
            },
            // From where the others have led: see `detours`.
            Start::Detour => Ok(None),
        }
    }

    /// On from the best answer by way of other sizes, and from others that are at hand.
    fn detours(&mut self) -> Result<(), Error> {
        let wanted = self.search.exchanges && self.search.starts.contains(&Start::Detour) && !self.untroubled;
        let Some(best) = self.best.take() else { return Ok(()) };
        let first = self.f.value(&best.x);
        let mut best = if wanted { self.by_other_sizes(best)? } else { best };
        for other in std::mem::take(&mut self.others) {
            if !wanted || self.cut.is_some() || self.is_enough(&best.x) || is_proven(&best) {
                break;
            }
            let other = self.by_other_sizes(other)?;
            best = if self.f.value(&other.x) < self.f.value(&best.x) { other } else { best };
        }
        let objective = self.f.value(&best.x);
        if objective < first {
            let (exchanges, status) = (best.exchanges, best.status);
            self.attempts.push(Attempt { start: Start::Detour, objective, exchanges, status });
            let asked = self.search.quality && self.may_go_on();
            best.certificate = if asked { self.hood.certify(&best.x) } else { None };
        }
        self.best = Some(best);
        Ok(())
    }

    /// On from an answer by way of other sizes, as long as that improves it.
    fn by_other_sizes(&mut self, mut best: Found<A::Point>) -> Result<Found<A::Point>, Error> {
        let (atoms, mut exchanges) = (self.set.atoms(), 0);
        let small = self.hood.is_small() && !(self.agreed && self.hood.has_dear_columns());
        let hard = small || self.hood.is_hard() || self.search.escalate == Escalate::WhenStuck;
        for round in 0..ROUNDS {
            if self.cut.is_some() || self.is_enough(&best.x) || is_proven(&best) {
                break;
            }
            let f = self.f;
            let next = self.within(|hood, go_on| {
                let far = if hard && round == 0 { roundabout(f, hood, &best.x, atoms, go_on) } else { None };
                far.or_else(|| detour(f, hood, &best.x, atoms, go_on))
            });
            let Some(next) = next else { break };
            best = self.onward(next)?;
            exchanges += best.exchanges;
            best.exchanges = exchanges;
        }
        Ok(best)
    }

    /// A model grown by exchanges, as far as the caps let it; `None` where that cannot be had or is not
    /// wanted.
    fn grown(&mut self) -> Option<Polished<A::Point>> {
        if !self.search.exchanges {
            return None;
        }
        self.within(|hood, go_on| hood.grow_to_k(go_on))
    }

    /// A long move, which is asked about the caps and the caller's wish on its way.
    fn within<T>(&mut self, work: impl FnOnce(&mut dyn Neighbourhood<A::Point>, &mut GoOn<'_>) -> T) -> T {
        let (spent, elapsed) = (self.spent(), self.seconds());
        let (before, clock) = (self.f.cost(), Instant::now());
        let Self { f, hood, trace, options, go_on, cut, .. } = self;
        work(hood.as_mut(), &mut |done| {
            let reads = spent.plus(f.cost().since(before)).reads(f.operator().n_outputs());
            let seconds = elapsed + clock.elapsed().as_secs_f64();
            let wish = go_on.as_mut().is_some_and(|go_on| go_on(done).is_break()).then_some(Status::Stopped);
            *cut = cut.or(wish).or(options.stop.reached(trace.len(), reads, seconds));
            if cut.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
    }

    /// A run of the method, and what exchanges make of its end.
    fn road(&mut self, x: A::Point, stages: Stages) -> Result<Found<A::Point>, Error> {
        let (x, status) = self.run(x, stages)?;
        if !self.search.exchanges || self.cut.is_some() || self.is_enough(&x) {
            return Ok(Found { x, status, exchanges: 0, quality: None, certificate: None });
        }
        let polished = self.within(|hood, go_on| hood.polish(x, go_on));
        let found = self.onward(polished)?;
        Ok(Found { status: if found.exchanges == 0 { status } else { found.status }, ..found })
    }

    /// From a polished point on: where the method still moves, it is followed and polished again.
    fn onward(&mut self, mut polished: Polished<A::Point>) -> Result<Found<A::Point>, Error> {
        let (mut exchanges, mut status) = (polished.exchanges, Status::Converged);
        self.tell(&polished);
        for _ in 0..ROUNDS {
            let tolerance = self.options.stop.tolerance;
            let moves = polished.quality.stationarity > tolerance && polished.exchanges > 0;
            if !moves || self.cut.is_some() || self.is_enough(&polished.x) {
                break;
            }
            let before = self.f.value(&polished.x);
            let (x, ended) = self.run(polished.x.point().clone(), Stages::direct())?;
            if !(self.f.value(&x) < before) {
                break;
            }
            status = ended;
            if self.cut.is_some() {
                return Ok(Found { x, status, exchanges, quality: None, certificate: None });
            }
            polished = self.within(|hood, go_on| hood.polish(x, go_on));
            exchanges += polished.exchanges;
            self.tell(&polished);
        }
        Ok(Found { x: polished.x, status, exchanges, quality: Some(polished.quality), certificate: None })
    }

    /// The method from x to its end.
    fn run(&mut self, x: A::Point, stages: Stages) -> Result<(Evaluated<A::Point>, Status), Error> {
        let options = Options { stop: self.remaining(), stages, ..self.options.clone() };
        let mut run = match self.first.take() {
            Some(run) => run,
            None => Run::starting_at(self.f, self.set, self.method, options, x)?,
        };
        while !run.is_done() {
            let event = run.step();
            let event = Event { iteration: self.trace.len() + 1, ..self.stamped(event) };
            self.trace.push(event);
            if observe(self.observer, &mut self.observed, &event, run.iterate()) {
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
    fn tell(&mut self, polished: &Polished<A::Point>) {
        if polished.exchanges == 0 {
            return;
        }
        let event = self.stamped(Event {
            iteration: self.trace.len() + 1,
            atoms: self.set.atoms(),
            objective: self.f.value(&polished.x),
            gap: None,
            change: 0.0,
            entered: polished.exchanges,
            step: 0.0,
            momentum: 0.0,
            kind: Move::Exchanged,
            passes: 0,
            reads: 0.0,
            columns: 0,
            seconds: 0.0,
        });
        self.trace.push(event);
        if observe(self.observer, &mut self.observed, &event, polished.x.point()) {
            self.cut = Some(Status::Stopped);
        } else {
            self.is_capped();
        }
    }

    /// Whether neither the caps that were met nor the clock nor the caller want an end: none of them waits for a
    /// certificate, which may take longer than the search.
    fn may_go_on(&mut self) -> bool {
        let (moves, seconds) = (self.trace.len(), self.seconds());
        let wish = self.go_on.as_mut().is_some_and(|go_on| go_on(moves).is_break()).then_some(Status::Stopped);
        self.cut = self.cut.or(wish).or(self.options.stop.reached(0, 0.0, seconds));
        self.cut.is_none()
    }

    /// Looks at the caps: whether the search has to end.
    fn is_capped(&mut self) -> bool {
        let reached = self.options.stop.reached(self.trace.len(), self.reads(), self.seconds());
        self.cut = self.cut.or(reached);
        self.cut.is_some()
    }

    /// Whether nothing, or nothing but noise, is left to gain.
    fn is_enough(&self, x: &Evaluated<A::Point>) -> bool {
        let (here, lower) = (self.f.value(x), self.f.lower_bound());
        let zero = self.f.value(&self.f.at(A::Point::zero(self.set.domain())));
        let noise = self.search.noise.map_or(0.0, |sigma| 0.5 * sigma * sigma * x.image().len() as f64);
        here.is_finite() && here - lower <= (self.f.perfect() * (zero.max(here) - lower)).max(noise)
    }

    /// Takes note of where a start led. Whether the search can end.
    fn settle(&mut self, start: Start, mut found: Found<A::Point>) -> bool {
        let objective = self.f.value(&found.x);
        let attempt = Attempt { start, objective, exchanges: found.exchanges, status: found.status };
        let least = self.best.as_ref().map_or(f64::INFINITY, |best| self.f.value(&best.x));
        let agree = !self.attempts.is_empty() && self.is_same(objective, least);
        // A small problem pays for other starts, unless the answer leaves no doubt.
        let small = self.hood.affords_starts() && !self.hood.stands_out();
        let untroubled = self.attempts.is_empty() && found.exchanges == 0 && !small;
        let easy = self.search.escalate == Escalate::WhenHard && !small && !self.hood.is_hard();
        self.untroubled |= untroubled;
        self.agreed |= agree;
        let done = agree || untroubled || easy || self.cut.is_some();
        let enough = done || self.is_enough(&found.x) || !self.search.exchanges;
        self.attempts.push(attempt);
        let beaten = if objective < least {
            let asked = self.search.quality && self.may_go_on();
            found.certificate = if asked { self.hood.certify(&found.x) } else { None };
            self.best.replace(found)
        } else {
            Some(found)
        };
        // On a quadratic, models of all sizes around take part in the ways from the best: one beginning is enough.
        let beaten = beaten.filter(|beaten| !self.f.loss().is_quadratic() && !self.is_known(self.f.value(&beaten.x)));
        self.others.extend(beaten);
        enough || self.best.as_ref().is_some_and(is_proven)
    }

    /// Whether a start has led to this objective.
    fn is_known(&self, objective: f64) -> bool {
        self.best.iter().chain(&self.others).any(|found| self.is_same(objective, self.f.value(&found.x)))
    }

    fn is_same(&self, objective: f64, other: f64) -> bool {
        (objective - other).abs() <= SAME * (other - self.f.lower_bound())
    }

    fn outcome(mut self) -> Outcome<A::Point> {
        let zero = A::Point::zero(self.set.domain());
        // No attempt led to a finite objective.
        let none =
            Found { x: self.f.at(zero), status: Status::Diverged, exchanges: 0, quality: None, certificate: None };
        let best = self.best.take().unwrap_or(none);
        let seconds = self.seconds();
        let quality = match best.quality {
            Some(quality) => Some(quality),
            None if self.search.quality => Some(self.hood.judge(&best.x)),
            None => None,
        };
        let quality = quality.map(|quality| Quality { certificate: best.certificate, ..quality });
        let (Cost { passes, columns, .. }, reads) = (self.spent(), self.reads());
        Outcome {
            status: self.cut.unwrap_or(best.status).unless_separated(self.f, &best.x),
            iterations: self.trace.len(),
            passes,
            reads,
            columns,
            seconds,
            objective: self.f.value(&best.x),
            quality: quality.filter(|_| self.search.quality),
            attempts: self.attempts,
            trace: self.trace,
            point: best.x.into_point(),
        }
    }
}

/// Whether nothing better can be found.
fn is_proven<P>(found: &Found<P>) -> bool {
    found.certificate.is_some_and(|certificate| certificate.gap <= PROVEN)
}

/// Calls the observer, off the clock. Whether it wants to stop.
fn observe<P>(observer: &mut Observer<'_, P>, observed: &mut f64, event: &Event, x: &P) -> bool {
    let clock = Instant::now();
    let stop = observer(event, x).is_break();
    *observed += clock.elapsed().as_secs_f64();
    stop
}
