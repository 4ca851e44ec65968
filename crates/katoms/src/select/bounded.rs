//! k atoms within bounds: the best answer, and the path over k.
//!
//! > minimise f(x) subject to at most k atoms and lower ≤ x ≤ upper
//!
//! A model grows atom by atom and is polished by exchanges, at k/10, 2k/10, …, k atoms. After each move it is the minimum
//! over its atoms within the bounds; atoms that the bounds bring to 0 make room for others. It ends where no move that
//! was compared lowers f. The answer without bounds is a second beginning: where bounds do not bind, it is the answer.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::time::Instant;

use super::Bounds;
use super::bounded_climber::{Climber, Reached};
use super::bounded_moves::Model;
use super::path::{self, Path, null_and_rest};
#[cfg(doc)]
use crate::driver::Quality;
use crate::driver::{Event, Options, Outcome, Run, Start, Status, Stop, Trace, check};
use crate::error::Error;
use crate::loss::Loss;
use crate::method::{AcceleratedIht, Move};
use crate::objective::{Cost, Objective};
use crate::operator::LinearOperator;
use crate::search::{GoOn, Observer, Search, search_from};
use crate::set::CoordinateSet;
use crate::space::{IndexSet, Point, SparseVec, Subspace};

/// Sizes at which a model that grows to k atoms is polished.
const STAGES: usize = 10;

/// How a model within bounds is looked for.
///
/// ```
/// use katoms::select::{Bounded, Bounds, search_within_bounds};
/// use katoms::{Objective, loss::LeastSquares, operator::Dense, set::KSparse, simulate};
/// use std::ops::ControlFlow::Continue;
/// let x = simulate::gaussian(50, 20, 1);
/// let y: Vec<f64> = (0..50).map(|i| 3.0 * x[i] - 5.0 * x[50 + i] + 2.0 * x[100 + i]).collect();
/// let f = Objective::new(Dense::column_major(&x, 50, 20)?, LeastSquares::new(y)?)?;
/// let how = Bounded::new(Bounds::nonnegative(20)?);
/// let outcome = search_within_bounds(&f, &KSparse::new(2, 20)?, &how, |_, _| Continue(()), &mut |_| Continue(()))?;
/// assert_eq!(outcome.point.indices(), [0, 2]); // the second may not be negative
/// # Ok::<(), katoms::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Bounded {
    /// The bounds, one pair for each coordinate of the operator; an intercept has none that bind.
    pub bounds: Bounds,
    /// When it ends. A model counts as found when no slope within the bounds is left on its atoms, so of these rules only
    /// the caps matter. An iteration is an atom more, or an exchange.
    pub stop: Stop,
    /// A point to begin with, before a model is grown from nothing; the better end is the answer. Default: none.
    pub start: Option<SparseVec>,
}

impl Bounded {
    /// These bounds, with every default.
    pub fn new(bounds: Bounds) -> Self {
        Self { bounds, stop: Stop::default(), start: None }
    }
}

/// The best model of k atoms within bounds that a search finds. The observer sees every move and may stop the search,
/// which then gives the best answer so far; `go_on` is asked between moves, with their number. The
/// [stationarity](Quality::stationarity) of the answer is what its atoms miss of the conditions of Karush, Kuhn and Tucker.
///
/// # Errors
/// When set, bounds, start and operator live in different spaces, an option makes no sense, or the design has no columns
/// to be had one by one.
pub fn search_within_bounds<A, L, S>(
    f: &Objective<A, L>,
    set: &S,
    how: &Bounded,
    mut observer: impl FnMut(&Event, &SparseVec) -> ControlFlow<()>,
    go_on: &mut GoOn<'_>,
) -> Result<Outcome<SparseVec>, Error>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
    S: CoordinateSet,
{
    let zero = SparseVec::zero(set.domain());
    let start = how.start.as_ref().unwrap_or(&zero);
    check(f, set, &Options { stop: how.stop, ..Options::default() }, start)?;
    let mut climber = Climber::new(f, set, &how.bounds)?;
    let mut log = Log::new(f, how.stop, &mut observer, go_on);
    let mut best: Option<Reached> = None;
    let mut attempts = Vec::new();
    let k = set.atoms();
    if let Some(x) = without_bounds(f, set, how.stop, &mut log)? {
        climber.rival(k, set, x);
    }
    if how.start.is_some() {
        climber.begin_at(set, start);
        let reached = climber.climb(k, &mut |made| log.hear(made, k));
        attempts.push(climber.attempt(Start::Method, &reached));
        best = Some(reached);
        climber.begin();
    }
    let mut sizes: Vec<usize> = (1..=STAGES).map(|stage| (k * stage).div_ceil(STAGES)).collect();
    sizes.dedup();
    let mut grown = None;
    for size in sizes {
        if log.cut.is_none() || (grown.is_none() && best.is_none()) {
            grown = Some(climber.climb(size, &mut |made| log.hear(made, size)));
        }
    }
    attempts.extend(grown.as_ref().map(|grown| climber.attempt(Start::WorkingSet, grown)));
    let less = |a: Reached, b: Reached| if b.model.value < a.model.value { b } else { a };
    // A climb always ends somewhere, at zero if it was stopped at once.
    let best = [best, grown].into_iter().flatten().reduce(less).ok_or(Error::Empty { what: "the list of starts" })?;
    let (cost, seconds) = (log.spent(), log.seconds());
    Ok(Outcome {
        status: log.cut.unwrap_or(climber.status(&best)),
        iterations: log.trace.len(),
        passes: cost.passes,
        reads: cost.reads(f.operator().n_outputs()),
        columns: cost.columns,
        seconds,
        objective: best.model.value,
        quality: Some(climber.quality(&best)),
        attempts,
        trace: log.trace,
        point: best.model.x.into_point(),
    })
}

/// The answer without bounds, which is where a climb begins as well; `None` where the search has to end before.
fn without_bounds<A, L, S>(
    f: &Objective<A, L>,
    set: &S,
    stop: Stop,
    log: &mut Log<'_, '_, '_, A, L>,
) -> Result<Option<SparseVec>, Error>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
    S: CoordinateSet,
{
    let method = AcceleratedIht::for_structure(set.structure());
    let how = Search { quality: false, ..Search::default() };
    let run = Run::new(f, set, &method, Options { stop, ..Options::for_set(set) })?;
    // Points outside of the bounds are no answers, so their moves are not told.
    let (log, atoms) = (RefCell::new(log), set.atoms());
    let asked = || log.borrow_mut().hear(None, atoms);
    let found = search_from(run, &how, |_, _| asked(), &mut |_| asked())?;
    let whole = log.borrow().cut.is_none();
    Ok(whole.then_some(found.point))
}

/// A model of each of the `sizes` within bounds, each grown from the one before and polished. A model has fewer atoms than
/// its size where the bounds leave no others that lower f. The observer hears how many models are there, and may stop the
/// work: what is there then remains.
///
/// # Errors
/// When no size is given, sizes do not rise or are out of range, set, bounds and operator live in different spaces, or the
/// design has no columns to be had one by one.
pub fn path_within_bounds<A, L, S>(
    f: &Objective<A, L>,
    set: &S,
    bounds: &Bounds,
    sizes: &[usize],
    mut go_on: impl FnMut(usize) -> ControlFlow<()>,
) -> Result<Path<SparseVec>, Error>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
    S: CoordinateSet,
{
    let (_, rest) = null_and_rest(sizes)?;
    let sets = rest.iter().map(|&k| set.with_atoms(k)).collect::<Result<Vec<_>, _>>()?;
    let (clock, before) = (Instant::now(), f.cost());
    let largest = sets.last().unwrap_or(set);
    check(f, largest, &Options::default(), &SparseVec::zero(largest.domain()))?;
    let mut climber = Climber::new(f, largest, bounds)?;
    // What is found without bounds is another beginning.
    for model in path::plain_path(f, largest, sizes, &mut |_| go_on(0))?.models {
        climber.rival(model.atoms, largest, model.point);
    }
    let mut models: Vec<path::Model<SparseVec>> = Vec::new();
    for &atoms in sizes {
        let done = models.len();
        // The first model is always there: without one there is nothing to tell.
        let reached = climber.climb(atoms, &mut |_| if done > 0 { go_on(done) } else { ControlFlow::Continue(()) });
        if !reached.whole {
            break;
        }
        models.push(climber.told(&reached, atoms));
        if go_on(models.len()).is_break() {
            break;
        }
    }
    let cost = f.cost();
    Ok(Path {
        complete: models.len() == sizes.len(),
        models,
        passes: cost.passes - before.passes,
        columns: cost.columns - before.columns,
        seconds: clock.elapsed().as_secs_f64(),
        samples: f.loss().observations(),
        candidates: climber.candidates(),
    })
}

/// What a search has done so far, and whether it has to end.
struct Log<'a, 'g, 'o, A: LinearOperator, L> {
    f: &'a Objective<A, L>,
    stop: Stop,
    observer: &'g mut Observer<'g, SparseVec>,
    go_on: &'g mut GoOn<'o>,
    before: Cost,
    clock: Instant,
    /// Seconds that the observer took.
    observed: f64,
    trace: Trace,
    last: SparseVec,
    cut: Option<Status>,
}

impl<'a, 'g, 'o, A, L> Log<'a, 'g, 'o, A, L>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
{
    fn new(
        f: &'a Objective<A, L>,
        stop: Stop,
        observer: &'g mut Observer<'g, SparseVec>,
        go_on: &'g mut GoOn<'o>,
    ) -> Self {
        let (before, clock) = (f.cost(), Instant::now());
        let last = SparseVec::zero(f.operator().domain());
        Self { f, stop, observer, go_on, before, clock, observed: 0.0, trace: Trace::new(), last, cut: None }
    }

    fn spent(&self) -> Cost {
        self.f.cost().since(self.before)
    }

    fn reads(&self) -> f64 {
        self.spent().reads(self.f.operator().n_outputs())
    }

    fn seconds(&self) -> f64 {
        self.clock.elapsed().as_secs_f64() - self.observed
    }

    fn hear(&mut self, made: Option<(Move, &Model)>, atoms: usize) -> ControlFlow<()> {
        let begun = Instant::now();
        let wish = match made {
            Some((kind, model)) => {
                let event = self.event(kind, model, atoms);
                self.trace.push(event);
                self.last = model.x.point().clone();
                (self.observer)(&event, model.x.point())
            }
            None => (self.go_on)(self.trace.len()),
        };
        self.observed += begun.elapsed().as_secs_f64();
        let wish = wish.is_break().then_some(Status::Stopped);
        let reached = self.stop.reached(self.trace.len(), self.reads(), self.seconds());
        self.cut = self.cut.or(wish).or(reached);
        if self.cut.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn event(&self, kind: Move, model: &Model, atoms: usize) -> Event {
        let x = model.x.point();
        let (before, support): (IndexSet, IndexSet) = (self.last.support(), x.support());
        let (norm, moved) = (x.norm(), x.distance(&self.last));
        let Cost { passes, columns, .. } = self.spent();
        Event {
            iteration: self.trace.len() + 1,
            atoms,
            objective: model.value,
            gap: None,
            change: if moved == 0.0 { 0.0 } else { moved / norm },
            entered: support.entered_since(&before),
            step: 0.0,
            momentum: 0.0,
            kind,
            passes,
            reads: self.reads(),
            columns,
            seconds: self.seconds(),
        }
    }
}
