//! The whole path over k: one model for each number of atoms.
//!
//! For least squares on coordinates or groups a model grows atom by atom and is polished by exchanges
//! at each size; then a model that grows as OMP's does is heard, on a hard problem the Lasso, and models of
//! neighbouring sizes improve each other, up and down. All of it works on columns of the Gram matrix that all sizes
//! share: a pass brings a dozen of them. Other losses and structures run the method from size to size, warm-started.

use std::ops::ControlFlow;
use std::time::Instant;

use super::criteria::{Criterion, ModelSize};
use super::detours::Whole;
use super::ladder::Ladder;
use super::neighbourhood::{GoOn, Neighbourhood, Polished, Searchable};
use crate::driver::{Options, Quality, Run, Stages, Status, check_domain};
use crate::error::{Error, check_range};
use crate::loss::Loss;
use crate::method::AcceleratedIht;
use crate::objective::Objective;
use crate::operator::LinearOperator;
use crate::set::ConstraintSet;
use crate::space::Point;

/// The model of one size.
#[derive(Debug, Clone)]
pub struct Model<P> {
    /// Its number of atoms.
    pub atoms: usize,
    /// Its fitted numbers, those of what is always selected included.
    pub parameters: usize,
    /// The point.
    pub point: P,
    /// f there.
    pub objective: f64,
    /// The loss there, without the ridge.
    pub loss: f64,
    /// −2·log-likelihood, up to a constant that all models share.
    pub deviance: f64,
    /// How the run that led here ended.
    pub status: Status,
    /// How good it is.
    pub quality: Quality,
}

/// Models of rising sizes.
#[derive(Debug, Clone)]
pub struct Path<P> {
    /// One for each size, rising.
    pub models: Vec<Model<P>>,
    /// Whether all sizes are there: not when the observer stopped the work.
    pub complete: bool,
    /// Full passes over the data in all.
    pub passes: usize,
    /// Columns touched outside of passes.
    pub columns: usize,
    /// Seconds of work.
    pub seconds: f64,
    /// The number of [observations](Loss::observations).
    pub samples: usize,
    /// The number of atoms to choose from.
    pub candidates: usize,
}

impl<P> Path<P> {
    /// The model with this many atoms.
    pub fn model(&self, atoms: usize) -> Option<&Model<P>> {
        self.models.iter().find(|model| model.atoms == atoms)
    }

    /// A criterion for each model. `candidates` is the original number of atoms, where some were thrown
    /// out before: they were looked at, too.
    ///
    /// # Errors
    /// When a model has more atoms than there were candidates, or the criterion's own option makes no
    /// sense.
    pub fn criterion(&self, criterion: Criterion, candidates: Option<usize>) -> Result<Vec<f64>, Error> {
        let candidates = candidates.unwrap_or(self.candidates);
        let size = |model: &Model<P>| {
            let (parameters, atoms) = (model.parameters, model.atoms);
            ModelSize { parameters, atoms, candidates, samples: self.samples }
        };
        self.models.iter().map(|model| criterion.value(model.deviance, size(model))).collect()
    }

    /// The model that a criterion prefers; of equals the smaller one.
    ///
    /// # Errors
    /// As [`Path::criterion`], or when the path is empty.
    pub fn best(&self, criterion: Criterion, candidates: Option<usize>) -> Result<&Model<P>, Error> {
        let values = self.criterion(criterion, candidates)?;
        let best = (0..values.len()).reduce(|a, b| if values[b] < values[a] { b } else { a });
        best.map(|at| &self.models[at]).ok_or(Error::Empty { what: "the path" })
    }
}

/// A model of each of the `sizes`, each with exactly that many atoms where the data has so many that
/// matter. The model of size 0 is what is always in, an intercept say, and nothing else. The observer hears how many models are there after each step, and may stop the work: what is
/// there then remains.
///
/// # Errors
/// When no size is given, sizes do not rise or are out of range, or the set and the operator live in
/// different spaces.
///
/// ```
/// use katoms::{Objective, loss::LeastSquares, operator::Dense, set::KSparse, simulate};
/// use katoms::select::{Criterion, path};
/// use std::ops::ControlFlow;
/// let design = simulate::gaussian(50, 30, 1);
/// let y: Vec<f64> = (0..50).map(|i| 3.0 * design[i] - 2.0 * design[50 + i]).collect();
/// let y = simulate::noisy(&y, 0.1, 1);
/// let f = Objective::new(Dense::column_major(&design, 50, 30)?, LeastSquares::new(y)?)?;
/// let path = path(&f, &KSparse::new(1, 30)?, 0..=8, |_| ControlFlow::Continue(()))?;
/// let best = path.best(Criterion::EBIC, None)?;
/// assert_eq!(best.point.indices(), [0, 1]);
/// # Ok::<(), katoms::Error>(())
/// ```
pub fn path<A, L, S>(
    f: &Objective<A, L>,
    set: &S,
    sizes: impl IntoIterator<Item = usize>,
    mut go_on: impl FnMut(usize) -> ControlFlow<()>,
) -> Result<Path<A::Point>, Error>
where
    A: LinearOperator,
    L: Loss,
    S: Searchable<A, L>,
{
    let sizes: Vec<usize> = sizes.into_iter().collect();
    assembled(f, set, &sizes, &mut go_on, true)
}

/// The same without a second look at the models: what a training set of a cross-validation gets.
///
/// # Errors
/// As [`path`].
pub fn plain_path<A, L, S>(
    f: &Objective<A, L>,
    set: &S,
    sizes: &[usize],
    go_on: &mut GoOn<'_>,
) -> Result<Path<A::Point>, Error>
where
    A: LinearOperator,
    L: Loss,
    S: Searchable<A, L>,
{
    assembled(f, set, sizes, go_on, false)
}

/// The models of all sizes; with a second look, each improved by its neighbours.
fn assembled<A, L, S>(
    f: &Objective<A, L>,
    set: &S,
    sizes: &[usize],
    go_on: &mut GoOn<'_>,
    second_look: bool,
) -> Result<Path<A::Point>, Error>
where
    A: LinearOperator,
    L: Loss,
    S: Searchable<A, L>,
{
    let asked = sizes.len();
    let (null, sizes) = null_and_rest(sizes)?;
    // Every size is checked before the work begins.
    let sets = sizes.iter().map(|&k| set.with_atoms(k)).collect::<Result<Vec<_>, _>>()?;
    let (clock, before) = (Instant::now(), f.cost());
    let largest = sets.last().unwrap_or(set);
    check_domain(f, largest)?;
    let mut hood = largest.neighbourhood(f);
    let models = if sets.is_empty() {
        Vec::new()
    } else {
        let before = usize::from(null);
        looked_for(f, &sets, hood.as_mut(), second_look, &mut |done| go_on(done + before))?
    };
    let empty = || Polished { x: hood.null(), exchanges: 0, quality: Quality::stationary(0.0) };
    let models = null.then(|| (empty(), Status::Converged)).into_iter().chain(models);
    let zero = f.at(A::Point::zero(set.domain()));
    let floor = f.lower_bound() + f.perfect() * (f.loss().value(zero.image()) - f.lower_bound());
    let model = |((polished, status), atoms): ((Polished<A::Point>, Status), usize)| {
        let Polished { x, quality, .. } = polished;
        let status = status.unless_separated(f, &x);
        let loss = f.loss().value(x.image());
        let parameters = hood.parameters(x.point());
        let (objective, deviance) = (f.value(&x), f.loss().deviance(loss.max(floor)));
        Model { atoms, parameters, point: x.into_point(), objective, loss, deviance, status, quality }
    };
    let atoms = null.then_some(0).into_iter().chain(sizes.iter().copied());
    let models: Vec<Model<A::Point>> = models.zip(atoms).map(model).collect();
    let cost = f.cost();
    Ok(Path {
        complete: models.len() == asked,
        models,
        passes: cost.passes - before.passes,
        columns: cost.columns - before.columns,
        seconds: clock.elapsed().as_secs_f64(),
        samples: f.loss().observations(),
        candidates: hood.candidates(),
    })
}

/// The models of these sets, whose sizes rise from 1 on, in the neighbourhood of the last.
fn looked_for<A, L, S>(
    f: &Objective<A, L>,
    sets: &[S],
    hood: &mut dyn Neighbourhood<A::Point>,
    second_look: bool,
    go_on: &mut GoOn<'_>,
) -> Result<Ended<A::Point>, Error>
where
    A: LinearOperator,
    L: Loss,
    S: Searchable<A, L>,
{
    let sizes: Vec<usize> = sets.iter().map(ConstraintSet::atoms).collect();
    let mut stopped = false;
    let mut first = |done: usize| {
        let flow = go_on(done);
        stopped |= flow.is_break();
        flow
    };
    let lasso = second_look && (hood.is_small() || hood.is_hard());
    // What the Lasso tells makes up for the way back, which only a small problem can pay for as well.
    let grown = hood.grow(&sizes, !lasso || hood.is_small(), &mut first);
    let grown = grown.map(|models| models.into_iter().map(|m| (m, Status::Converged)).collect());
    let models: Ended<A::Point> = match grown {
        Some(models) => models,
        None => stepped(f, sets, &mut first)?,
    };
    if second_look && models.len() == sizes.len() && !stopped {
        return Ok(climbed(f, &sizes, hood, models, lasso, &mut |_| go_on(sizes.len())));
    }
    Ok(models)
}

/// Models, and how the run that led to each ended.
type Ended<P> = Vec<(Polished<P>, Status)>;

/// The models, each improved by the Lasso's where that is heard, and by those of neighbouring sizes.
fn climbed<A: LinearOperator, L: Loss>(
    f: &Objective<A, L>,
    sizes: &[usize],
    hood: &mut dyn Neighbourhood<A::Point>,
    models: Ended<A::Point>,
    lasso: bool,
    go_on: &mut GoOn<'_>,
) -> Ended<A::Point> {
    let (models, statuses): (Vec<_>, Vec<Status>) = models.into_iter().unzip();
    let before: Vec<f64> = models.iter().map(|model| f.value(&model.x)).collect();
    let mut ladder = Ladder::new(Whole { f, hood }, sizes.to_vec(), models.into_iter().map(Some).collect());
    if lasso {
        ladder.hear_the_lasso(go_on);
    }
    ladder.settle(go_on);
    let ended = |((model, status), before): ((Polished<A::Point>, Status), f64)| {
        // What exchanges and a refit have found is a minimum over its atoms.
        let status = if f.value(&model.x) < before { Status::Converged } else { status };
        (model, status)
    };
    ladder.rungs.into_iter().flatten().zip(statuses).zip(before).map(ended).collect()
}

/// From size to size by the method, each warm-started from the one before.
fn stepped<A, L, S>(f: &Objective<A, L>, sets: &[S], go_on: &mut GoOn<'_>) -> Result<Ended<A::Point>, Error>
where
    A: LinearOperator,
    L: Loss,
    S: Searchable<A, L>,
{
    let mut models: Ended<A::Point> = Vec::new();
    for set in sets {
        let method = AcceleratedIht::for_structure(set.structure());
        let (x, stages) = match models.last() {
            Some((polished, _)) => (polished.x.point().clone(), Stages::direct()),
            None => (A::Point::zero(set.domain()), Stages::for_set(set)),
        };
        let options = Options { stages, ..Options::for_set(set) };
        let mut run = Run::starting_at(f, set, &method, options, x)?;
        while !run.is_done() {
            run.step();
        }
        let outcome = run.outcome_unchecked();
        let polished = set.neighbourhood(f).polish(f.at(outcome.point), &mut |_| ControlFlow::Continue(()));
        models.push((polished, outcome.status));
        if go_on(models.len()).is_break() {
            break;
        }
    }
    Ok(models)
}

/// Whether 0 is among rising sizes, and the others: the model without atoms is not looked for.
pub(super) fn null_and_rest(sizes: &[usize]) -> Result<(bool, &[usize]), Error> {
    if sizes.is_empty() {
        return Err(Error::Empty { what: "the list of sizes" });
    }
    for pair in sizes.windows(2) {
        check_range("a size of the path", pair[1], pair[0] + 1, usize::MAX)?;
    }
    Ok(match sizes {
        [0, rest @ ..] => (true, rest),
        _ => (false, sizes),
    })
}
