//! One fit, from its start to its outcome.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use super::partial::{CANDIDATES, Reference};
use super::{Constraint, Event, Outcome, Partial, Stages, Status, Stop, Trace};
use crate::error::Error;
use crate::loss::Loss;
use crate::method::{Method, Move, Progress};
use crate::objective::{Cost, Evaluated, Objective};
use crate::operator::{LinearOperator, SampledRows};
use crate::set::ConstraintSet;
use crate::space::{Covector, Point};

/// How a run is driven. Checked once, before it starts.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// When it ends.
    pub stop: Stop,
    /// How k grows.
    pub stages: Stages,
    /// Whether gradients may be partial passes.
    pub partial: Partial,
}

impl Options {
    /// The defaults for a set of k atoms.
    pub fn for_set(set: &impl ConstraintSet) -> Self {
        Self { stop: Stop::default(), stages: Stages::for_set(set), partial: Partial::WhereItPays }
    }
}

/// Without stages and without partial passes: the defaults where atoms are not counted, for balls and penalties.
impl Default for Options {
    fn default() -> Self {
        Self { stop: Stop::default(), stages: Stages::direct(), partial: Partial::Never }
    }
}

/// A running fit. [`Run::step`] moves it; [`Run::outcome`] ends it.
///
/// ```
/// use katoms::driver::{Options, Run};
/// use katoms::{Objective, loss::LeastSquares, method::AcceleratedIht, operator::Dense, set::*};
/// let design = Dense::column_major(&[1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 3.0], 3, 3)?;
/// let f = Objective::new(&design, LeastSquares::new(vec![1.0, 4.0, 0.0])?)?;
/// let set = KSparse::new(2, 3)?;
/// let method = AcceleratedIht::for_structure(set.structure());
/// let mut run = Run::new(&f, &set, &method, Options::for_set(&set))?;
/// while !run.is_done() {
///     let event = run.step();
///     assert!(event.objective <= 8.5);
/// }
/// assert_eq!(run.outcome().point.indices(), [0, 1]);
/// # Ok::<(), katoms::Error>(())
/// ```
pub struct Run<'a, A: LinearOperator, L, S, M: Method<A, L, S>> {
    pub(super) f: &'a Objective<A, L>,
    pub(super) target: &'a S,
    pub(super) method: &'a M,
    pub(super) options: Options,
    /// The set of the current stage.
    pub(super) set: S,
    pub(super) progress: RunState<M::State>,
    /// The last gradient, whose memory the next one takes.
    gradient: Option<A::Covector>,
    /// The rows that partial passes read, where they pay.
    sampled: Option<SampledRows>,
    /// The last full pass, from which they go out; kept wherever columns are cheap.
    reference: Option<Reference<A::Covector>>,
}

/// What changes while a run goes on: all that a checkpoint holds.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
#[serde(bound = "T: serde::Serialize + serde::de::DeserializeOwned")]
pub(super) struct RunState<T> {
    pub state: T,
    pub stage: usize,
    pub iterations_in_stage: usize,
    pub trace: Trace,
    pub status: Option<Status>,
    pub start_gap: f64,
    /// The residual of the last full pass, where partial ones go out from it.
    pub reference: Option<Vec<f64>>,
    /// The residual of the first pass, with which what comes after the run begins as well.
    pub first: Option<Vec<f64>>,
    pub cost: Cost,
    pub seconds: f64,
}

impl<'a, A, L, S, M> Run<'a, A, L, S, M>
where
    A: LinearOperator,
    L: Loss,
    S: Constraint<A, L>,
    M: Method<A, L, S>,
{
    /// A run from zero.
    ///
    /// # Errors
    /// When the set and the operator live in different spaces, or an option makes no sense.
    pub fn new(f: &'a Objective<A, L>, set: &'a S, method: &'a M, options: Options) -> Result<Self, Error> {
        Self::starting_at(f, set, method, options, A::Point::zero(set.space()))
    }

    /// A run from a given point, which is projected first.
    ///
    /// # Errors
    /// As [`Run::new`].
    pub fn starting_at(
        f: &'a Objective<A, L>,
        target: &'a S,
        method: &'a M,
        options: Options,
        x0: A::Point,
    ) -> Result<Self, Error> {
        let clock = Instant::now();
        check(f, target, &options, &x0)?;
        let before = f.cost();
        let set = stage_set::<A, L, S>(target, &options.stages, 0)?;
        let state = method.start(f, &set, x0)?;
        let start_gap = value(f, &set, method.iterate(&state)) - f.lower_bound();
        let progress = RunState {
            state,
            stage: 0,
            iterations_in_stage: 0,
            trace: Trace::new(),
            status: None,
            start_gap,
            reference: None,
            first: None,
            cost: f.cost().since(before),
            seconds: clock.elapsed().as_secs_f64(),
        };
        Self::standing(f, target, method, options, progress)
    }

    /// A run that stands where `progress` says.
    pub(super) fn standing(
        f: &'a Objective<A, L>,
        target: &'a S,
        method: &'a M,
        options: Options,
        progress: RunState<M::State>,
    ) -> Result<Self, Error> {
        let set = stage_set::<A, L, S>(target, &options.stages, progress.stage)?;
        let wanted = options.partial == Partial::WhereItPays && method.takes_candidates();
        let sampled = f.operator().sampled_rows().filter(|_| wanted);
        // A resumed run makes the same moves: it goes out from the same full pass.
        let reference = progress.reference.clone().filter(|_| sampled.is_some()).map(|residual| {
            let mut pass = f.operator().new_covector();
            f.operator().adjoint(&residual, &mut pass);
            Reference::new(residual, pass)
        });
        if let Some(residual) = &progress.first {
            let mut pass = f.operator().new_covector();
            f.operator().adjoint(residual, &mut pass);
            f.remember_first(residual, &pass);
        }
        Ok(Self { f, target, method, options, set, progress, gradient: None, sampled, reference })
    }

    /// Other stop rules from here on, such as a limit for what comes after the run.
    pub fn ending_by(self, stop: Stop) -> Self {
        Self { options: Options { stop, ..self.options }, ..self }
    }

    /// What it minimises.
    pub fn objective_function(&self) -> &'a Objective<A, L> {
        self.f
    }

    /// The set that the answer lies in.
    pub fn set(&self) -> &'a S {
        self.target
    }

    /// What the run is about.
    pub(crate) fn problem(&self) -> (&'a Objective<A, L>, &'a S, &'a M, Options) {
        (self.f, self.target, self.method, self.options.clone())
    }

    /// What it has cost so far, and the seconds of work.
    pub(crate) fn spent(&self) -> (Cost, f64) {
        (self.progress.cost, self.progress.seconds)
    }

    /// Whether the run has ended.
    pub fn is_done(&self) -> bool {
        self.progress.status.is_some()
    }

    /// The answer so far.
    pub fn iterate(&self) -> &A::Point {
        self.method.iterate(&self.progress.state).point()
    }

    /// The same with its image.
    pub(crate) fn evaluated(&self) -> &Evaluated<A::Point> {
        self.method.iterate(&self.progress.state)
    }

    /// What is minimised, at the answer so far.
    pub(super) fn objective(&self) -> f64 {
        value(self.f, &self.set, self.method.iterate(&self.progress.state))
    }

    /// Every move so far.
    pub fn trace(&self) -> &[Event] {
        &self.progress.trace
    }

    /// One gradient, one move.
    pub fn step(&mut self) -> Event {
        // Entering the thread pool once a move is cheap; once for each product it is not.
        rayon::scope(|_| self.step_inside())
    }

    fn step_inside(&mut self) -> Event {
        let clock = Instant::now();
        let before = self.f.cost();
        if let Some(moved) = self.search() {
            return self.take_note(moved, before, clock.elapsed());
        }
        let mut gradient = self.gradient.take().unwrap_or_else(|| self.f.operator().new_covector());
        self.full_pass(&mut gradient);
        let event = self.advance(&gradient, before, clock.elapsed());
        self.gradient = Some(gradient);
        event
    }

    /// A move by a partial pass; `None` where that brings none, or there was no full pass yet.
    fn search(&mut self) -> Option<Progress> {
        let (sampled, reference) = (self.sampled?, self.reference.as_ref()?);
        let u = self.query();
        let estimate = reference.estimates(self.f, std::slice::from_ref(u), sampled).pop()?;
        let candidates = self.set.candidates(&estimate, &u.point().support(), CANDIDATES)?;
        let mut g = self.f.operator().new_covector();
        g.add(1.0, &self.f.gradient_on(u, &candidates));
        let before = self.progress.state.clone();
        let moved = self.method.advance(self.f, &self.set, &mut self.progress.state, &g);
        if moved.kind == Move::Moved && moved.change > self.options.stop.tolerance {
            return Some(moved);
        }
        // A full pass decides: what a part of the rows led to is not in the trace.
        self.progress.state = before;
        None
    }

    /// The gradient at the query by a full pass, from which partial ones go out.
    fn full_pass(&mut self, gradient: &mut A::Covector) {
        let residual = self.f.residual(self.query());
        self.f.operator().adjoint(&residual, gradient);
        self.f.count_pass();
        if let Some(sampled) = self.sampled {
            if self.reference.is_none() {
                self.f.count_rows(sampled.count()); // the sample is made once
            }
            self.progress.reference = Some(residual.clone());
        }
        if self.f.operator().has_cheap_columns() {
            if self.progress.first.is_none() {
                self.f.remember_first(&residual, gradient);
                self.progress.first = Some(residual.clone());
            }
            self.reference = Some(Reference::new(residual, gradient.clone()));
        }
        self.f.add_ridge(self.query().point(), gradient);
    }

    /// Ends the run as the observer wishes.
    pub fn stop(&mut self) {
        if !self.is_done() {
            self.end(Status::Stopped);
        }
    }

    fn end(&mut self, status: Status) {
        let (clock, before) = (Instant::now(), self.f.cost());
        self.method.finish(self.f, &mut self.progress.state);
        self.book(before, clock.elapsed());
        self.progress.status = Some(status);
        if let Some((residual, pass)) = self.reference.take().map(Reference::into_parts) {
            self.f.remember(residual, pass);
        }
    }

    /// Adds what was spent since `before`.
    fn book(&mut self, before: Cost, time: Duration) {
        self.progress.cost = self.progress.cost.plus(self.f.cost().since(before));
        self.progress.seconds += time.as_secs_f64();
    }

    pub(super) fn query(&self) -> &Evaluated<A::Point> {
        self.method.query(&self.progress.state)
    }

    /// A move with the gradient at the query, whoever computed it in the time `spent`, since the
    /// cost was `before`.
    pub(super) fn advance(&mut self, g: &A::Covector, before: Cost, spent: Duration) -> Event {
        let clock = Instant::now();
        let moved = if self.is_stationary(g) {
            Progress::still(self.objective(), Move::Fixed)
        } else {
            self.method.advance(self.f, &self.set, &mut self.progress.state, g)
        };
        self.take_note(moved, before, spent + clock.elapsed())
    }

    /// Books a move and applies the rules.
    fn take_note(&mut self, moved: Progress, before: Cost, spent: Duration) -> Event {
        self.book(before, spent);
        let event = self.event(moved);
        self.progress.trace.push(event);
        self.progress.iterations_in_stage += 1;
        self.judge(&event);
        event
    }

    /// Whether the iterate meets the stationarity rule, where there is one. The gradient at the query
    /// serves when the query is the iterate; under momentum the rule costs a pass of its own.
    fn is_stationary(&self, g: &A::Covector) -> bool {
        let Some(bound) = self.options.stop.stationarity else { return false };
        let x = self.method.iterate(&self.progress.state);
        if self.query() == x {
            return self.set.stationarity(self.f, x, g) <= bound;
        }
        let mut own = self.f.operator().new_covector();
        self.f.gradient(x, &mut own);
        self.set.stationarity(self.f, x, &own) <= bound
    }

    fn event(&self, moved: Progress) -> Event {
        let Progress { objective, gap, change, entered, step, momentum, kind } = moved;
        let Cost { passes, columns, .. } = self.progress.cost;
        let reads = self.progress.cost.reads(self.f.operator().n_outputs());
        let (iteration, atoms) = (self.progress.trace.len() + 1, self.set.most_atoms());
        let seconds = self.progress.seconds;
        Event {
            iteration,
            atoms,
            objective,
            gap,
            change,
            entered,
            step,
            momentum,
            kind,
            passes,
            reads,
            columns,
            seconds,
        }
    }

    /// Ends the run or the stage, if the rules say so.
    fn judge(&mut self, event: &Event) {
        let gap = event.objective - self.f.lower_bound();
        let verdict = self.options.stop.verdict(event, gap, self.progress.start_gap, self.f.perfect());
        let last_stage = self.progress.stage == self.options.stages.before.len();
        let perfect = gap <= self.options.stop.perfect.unwrap_or(self.f.perfect()) * self.progress.start_gap;
        match verdict {
            Some(Status::Converged | Status::Stalled) if !last_stage && !perfect => self.next_stage(),
            Some(status) => self.end(status),
            None if !last_stage && self.stage_is_over(event) => self.next_stage(),
            None => {}
        }
    }

    fn stage_is_over(&self, event: &Event) -> bool {
        let stages = &self.options.stages;
        let lower = self.f.lower_bound();
        let earlier = self.progress.trace.iter().rev().nth(1).map_or(f64::INFINITY, |e| e.objective - lower);
        let slow = event.objective - lower > (1.0 - stages.decrease) * earlier;
        self.progress.iterations_in_stage >= stages.iterations || (self.progress.iterations_in_stage > 1 && slow)
    }

    fn next_stage(&mut self) {
        self.progress.stage += 1;
        self.progress.iterations_in_stage = 0;
        // The stages were checked before the run; an out-of-range one cannot appear here.
        if let Ok(set) = stage_set::<A, L, S>(self.target, &self.options.stages, self.progress.stage) {
            self.set = set;
        }
        self.method.restart(&mut self.progress.state);
    }

    /// The outcome without a statement of quality, and without its pass.
    pub fn outcome_unchecked(mut self) -> Outcome<A::Point> {
        self.stop();
        let status = self.progress.status.unwrap_or(Status::Stopped);
        let x = self.method.iterate(&self.progress.state);
        Outcome {
            status,
            iterations: self.progress.trace.len(),
            passes: self.progress.cost.passes,
            reads: self.progress.cost.reads(self.f.operator().n_outputs()),
            columns: self.progress.cost.columns,
            seconds: self.progress.seconds,
            objective: self.objective(),
            quality: None,
            attempts: Vec::new(),
            point: x.point().clone(),
            trace: self.progress.trace,
        }
    }

    /// The outcome, with a statement of quality that costs up to two more passes; up to one for balls and penalties.
    pub fn outcome(mut self) -> Outcome<A::Point> {
        self.stop();
        let before = self.f.cost();
        let x = self.method.iterate(&self.progress.state);
        let mut g = self.f.operator().new_covector();
        self.f.gradient(x, &mut g);
        let quality = self.target.quality(self.f, x, &g);
        self.progress.cost = self.progress.cost.plus(self.f.cost().since(before));
        Outcome { quality: Some(quality), ..self.outcome_unchecked() }
    }
}

/// Runs a method to its end. The observer sees every move and may stop the run; its time is off
/// the clock.
///
/// # Errors
/// As [`Run::new`].
pub fn solve<A, L, S, M>(
    f: &Objective<A, L>,
    set: &S,
    method: &M,
    options: Options,
    mut observer: impl FnMut(&Event, &A::Point) -> ControlFlow<()>,
) -> Result<Outcome<A::Point>, Error>
where
    A: LinearOperator,
    L: Loss,
    S: Constraint<A, L>,
    M: Method<A, L, S>,
{
    let mut run = Run::new(f, set, method, options)?;
    while !run.is_done() {
        let event = run.step();
        if observer(&event, run.iterate()).is_break() {
            run.stop();
        }
    }
    Ok(run.outcome())
}

pub(crate) fn check<A, L, S>(f: &Objective<A, L>, set: &S, options: &Options, x: &A::Point) -> Result<(), Error>
where
    A: LinearOperator,
    L: Loss,
    S: Constraint<A, L>,
{
    check_domain(f, set)?;
    let (operator, point) = (f.operator().domain(), x.domain());
    if point != operator {
        return Err(Error::Domain { operator: format!("{operator:?}"), set: format!("{point:?}") });
    }
    options.stop.check()?;
    options.stages.check(set.most_atoms())
}

/// Whether a set lives in the space that the operator acts on.
pub(crate) fn check_domain<A, L, S>(f: &Objective<A, L>, set: &S) -> Result<(), Error>
where
    A: LinearOperator,
    L: Loss,
    S: Constraint<A, L>,
{
    let (operator, set) = (f.operator().domain(), set.space());
    if set == operator {
        return Ok(());
    }
    Err(Error::Domain { operator: format!("{operator:?}"), set: format!("{set:?}") })
}

fn stage_set<A, L, S>(target: &S, stages: &Stages, stage: usize) -> Result<S, Error>
where
    A: LinearOperator,
    S: Constraint<A, L>,
{
    stages.before.get(stage).map_or_else(|| Ok(target.clone()), |&k| target.with_most_atoms(k))
}

/// What is minimised: f, and what x pays on top.
fn value<A: LinearOperator, L: Loss, S: Constraint<A, L>>(
    f: &Objective<A, L>,
    set: &S,
    x: &Evaluated<A::Point>,
) -> f64 {
    f.value(x) + set.penalty(x.point())
}
