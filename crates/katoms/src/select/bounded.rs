//! k atoms within bounds: the best answer, and the path over k.
//!
//! > minimise f(x) subject to at most k atoms and lower ≤ x ≤ upper
//!
//! A model grows atom by atom, and the [search](crate::search) goes on from there: its models are minima over their atoms
//! within the bounds. The answer without bounds is looked at as well: where they do not bind, it is the answer.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::time::Instant;

use super::Bounds;
use super::path::{Model, Path, null_and_rest};
use crate::driver::{Attempt, Event, Options, Outcome, Quality, Run, Start, Status, check};
use crate::error::Error;
use crate::loss::Loss;
use crate::method::Method;
use crate::objective::Objective;
use crate::operator::LinearOperator;
use crate::search::{Explore, GoOn, Grow, Improved, Observer, SETTLED, Search, best_from, explore_within, search_with};
use crate::set::CoordinateSet;
use crate::space::{Point, SparseVec};

/// The best model of k atoms within bounds, from a start where there is one. `go_on` is asked between moves, with their
/// number, and within long ones. An iteration is an atom more, or the search that follows.
///
/// # Errors
/// When set, bounds, start and operator live in different spaces, an option makes no sense, or the design has no columns
/// to be had one by one.
pub(crate) fn search_within_bounds<A, L, S>(
    f: &Objective<A, L>,
    set: &S,
    (bounds, start, options): (&Bounds, Option<SparseVec>, Options),
    observer: &mut Observer<'_, SparseVec>,
    go_on: &mut GoOn<'_>,
) -> Result<Outcome<SparseVec>, Error>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
    S: CoordinateSet,
{
    let (started, start) = (start.is_some(), start.unwrap_or_else(|| SparseVec::zero(set.domain())));
    check(f, set, &options, &start)?;
    let mut explore = explore_within(f, set, bounds)?;
    let method = Grow { bounds };
    let run = Run::starting_at(f, set, &method, options, start)?;
    let mut found = watched(run, explore.as_mut(), &Search::default(), observer, go_on)?;
    let stationarity = found.quality.as_ref().map_or(0.0, |quality| quality.stationarity);
    found.status = ended(found.status, bounds.let_grow(&found.point), stationarity);
    if started && found.attempts.len() == 1 {
        let (objective, status) = (found.objective, found.status);
        found.attempts.push(Attempt { start: Start::WorkingSet, objective, exchanges: 0, status });
    }
    Ok(found)
}

/// A search whose caller is asked before it begins, after every move, and within long ones.
pub(super) fn watched<'a, A, L, S, M>(
    mut run: Run<'a, A, L, S, M>,
    explore: &mut (dyn Explore<SparseVec> + 'a),
    search: &Search,
    observer: &mut Observer<'_, SparseVec>,
    go_on: &mut GoOn<'_>,
) -> Result<Outcome<SparseVec>, Error>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
    S: CoordinateSet,
    M: Method<A, L, S>,
{
    if go_on(0).is_break() {
        run.stop();
    }
    let go_on = RefCell::new(go_on);
    let mut observe = |event: &Event, x: &SparseVec| match observer(event, x) {
        ControlFlow::Continue(()) => (go_on.borrow_mut())(event.iteration),
        stopped => stopped,
    };
    search_with(run, explore, search, &mut observe, &mut |done| (go_on.borrow_mut())(done))
}

/// What is said of a search within bounds that ended so. Where they keep a model that separates classes from growing,
/// there is a best one.
fn ended(status: Status, grows: bool, stationarity: f64) -> Status {
    match status {
        Status::Separated if grows => Status::Separated,
        Status::Separated | Status::Converged if stationarity > SETTLED => Status::Stalled,
        Status::Separated => Status::Converged,
        other => other,
    }
}

/// A model of each of the `sizes` within bounds, each looked for from the one before. A model has fewer atoms than
/// its size where the bounds leave no others that lower f. The observer hears how many models are there, and may stop the
/// work: what is there then remains.
///
/// # Errors
/// When no size is given, sizes do not rise or are out of range, set, bounds and operator live in different spaces, or the
/// design has no columns to be had one by one.
pub(crate) fn path_within_bounds<A, L, S>(
    f: &Objective<A, L>,
    set: &S,
    bounds: &Bounds,
    sizes: &[usize],
    go_on: &mut GoOn<'_>,
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
    let mut growing = Growing::new(f, largest, bounds)?;
    let zero = f.loss().value(f.at(SparseVec::zero(largest.domain())).image()) - f.lower_bound();
    let mut models: Vec<Model<SparseVec>> = Vec::new();
    for &atoms in sizes {
        let (Improved { x, quality, .. }, status) = growing.model(atoms)?;
        let loss = f.loss().value(x.image());
        models.push(Model {
            atoms,
            parameters: growing.explore.parameters(x.point()),
            objective: f.value(&x),
            loss,
            deviance: f.loss().deviance(loss.max(f.lower_bound() + f.perfect() * zero)),
            status,
            quality,
            point: x.into_point(),
        });
        if go_on(models.len()).is_break() {
            break;
        }
    }
    let cost = f.cost().since(before);
    Ok(Path {
        complete: models.len() == sizes.len(),
        models,
        passes: cost.passes,
        columns: cost.columns,
        seconds: clock.elapsed().as_secs_f64(),
        samples: f.loss().observations(),
        candidates: growing.explore.candidates(),
    })
}

/// Models within bounds of rising sizes.
pub(super) struct Growing<'a, A: LinearOperator, L, S> {
    f: &'a Objective<A, L>,
    set: &'a S,
    bounds: &'a Bounds,
    explore: Box<dyn Explore<SparseVec> + 'a>,
    last: SparseVec,
}

impl<'a, A, L, S> Growing<'a, A, L, S>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
    S: CoordinateSet,
{
    /// `set` has as many atoms as the largest.
    ///
    /// # Errors
    /// As [`path_within_bounds`].
    pub fn new(f: &'a Objective<A, L>, set: &'a S, bounds: &'a Bounds) -> Result<Self, Error> {
        let last = SparseVec::zero(set.domain());
        Ok(Self { f, set, bounds, explore: explore_within(f, set, bounds)?, last })
    }

    /// The model of a size, from the one before, and how the search for it ended.
    ///
    /// # Errors
    /// When the size is out of range.
    pub fn model(&mut self, atoms: usize) -> Result<(Improved<SparseVec>, Status), Error> {
        if atoms == 0 {
            let quality = Quality::stationary(0.0);
            return Ok((Improved { x: self.explore.null(), exchanges: 0, quality }, Status::Converged));
        }
        let (set, method) = (self.set.with_atoms(atoms)?, Grow { bounds: self.bounds });
        let run = Run::starting_at(self.f, &set, &method, Options::default(), self.last.clone())?;
        let (found, status) = best_from(run, self.explore.as_mut())?;
        self.last = found.x.point().clone();
        let grows = self.bounds.let_grow(&self.last);
        let status = ended(status.unless_separated(self.f, &found.x), grows, found.quality.stationarity);
        Ok((found, status))
    }
}
