//! The whole path over k: one model for each number of atoms.
//!
//! Where a fit is a small matter, each size gets the fit that [`Fit::run`](crate::Fit::run) makes of it: the model of
//! a size is the same, asked for alone or as part of a path. Where it is not, the models of all sizes grow on one working
//! set from passes that they share (least squares), or from size to size, each warm-started from the one before.

use std::time::Instant;

use super::criteria::{Criterion, ModelSize};
use crate::driver::{Options, Quality, Run, Stages, Status, check_domain, lockstep_of_sizes};
use crate::error::{Error, check_range};
use crate::loss::Loss;
use crate::method::AcceleratedIht;
use crate::objective::Objective;
use crate::operator::LinearOperator;
use crate::search::{Explore, GoOn, Improved, Searchable, best_from};
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

/// A model of each of the `sizes`. `go_on` hears how many models are there after each step.
///
/// # Errors
/// When no size is given, sizes do not rise or are out of range, or the set and the operator live in different spaces.
pub(crate) fn path<A, L, S>(
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
    assembled(f, set, sizes, go_on, Fits::WhereSmall)
}

/// The same from shared passes alone, as a training set of a cross-validation gets it.
///
/// # Errors
/// As a [path](crate::Fit::path).
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
    assembled(f, set, sizes, go_on, Fits::Shared)
}

/// Which models are fits of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fits {
    WhereSmall,
    Shared,
}

/// The models of all sizes.
fn assembled<A, L, S>(
    f: &Objective<A, L>,
    set: &S,
    sizes: &[usize],
    go_on: &mut GoOn<'_>,
    fits: Fits,
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
    let mut explore = largest.explore(f);
    let models = if sets.is_empty() {
        Vec::new()
    } else {
        let before = usize::from(null);
        looked_for(f, &sets, explore.as_mut(), fits, &mut |done| go_on(done + before))?
    };
    let empty = || Improved { x: explore.null(), exchanges: 0, quality: Quality::stationary(0.0) };
    let models = null.then(|| (empty(), Status::Converged)).into_iter().chain(models);
    let zero = f.at(A::Point::zero(set.domain()));
    let floor = f.lower_bound() + f.perfect() * (f.loss().value(zero.image()) - f.lower_bound());
    let model = |((improved, status), atoms): ((Improved<A::Point>, Status), usize)| {
        let Improved { x, quality, .. } = improved;
        let status = status.unless_separated(f, &x);
        let loss = f.loss().value(x.image());
        let parameters = explore.parameters(x.point());
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
        candidates: explore.candidates(),
    })
}

/// Models, and how the search that led to each ended.
type Ended<P> = Vec<(Improved<P>, Status)>;

/// The models of these sets, whose sizes rise from 1 on: fits of their own as far as these are a small matter, and then
/// from shared passes, or from size to size.
fn looked_for<'a, A, L, S>(
    f: &'a Objective<A, L>,
    sets: &'a [S],
    explore: &mut (dyn Explore<A::Point> + 'a),
    fits: Fits,
    go_on: &mut GoOn<'_>,
) -> Result<Ended<A::Point>, Error>
where
    A: LinearOperator,
    L: Loss,
    S: Searchable<A, L>,
{
    let small = sets.iter().take_while(|set| fits == Fits::WhereSmall && explore.is_small(set.atoms())).count();
    let (each, rest) = sets.split_at(small);
    let mut models: Ended<A::Point> = Vec::new();
    if !fitted(f, each, explore, &mut models, go_on)? || rest.is_empty() {
        return Ok(models);
    }
    let sizes: Vec<usize> = rest.iter().map(ConstraintSet::atoms).collect();
    if let Some(shared) = explore.sizes(&sizes, &mut |done| go_on(small + done)) {
        models.extend(shared.into_iter().map(|model| (model, Status::Converged)));
        return Ok(models);
    }
    for set in rest {
        let before = models.last().map(|(model, _)| model.x.point().clone());
        models.push(warm_started(f, set, before)?);
        if go_on(models.len()).is_break() {
            break;
        }
    }
    Ok(models)
}

/// The fit of each size; the runs of the method share their passes. Where one is worse than the smaller model before it,
/// another one from there. Whether nobody has stopped the work.
fn fitted<'a, A, L, S>(
    f: &'a Objective<A, L>,
    sets: &'a [S],
    explore: &mut (dyn Explore<A::Point> + 'a),
    models: &mut Ended<A::Point>,
    go_on: &mut GoOn<'_>,
) -> Result<bool, Error>
where
    A: LinearOperator,
    L: Loss,
    S: Searchable<A, L>,
{
    let Some(first) = sets.first() else { return Ok(true) };
    let method = AcceleratedIht::for_structure(first.structure());
    let run = |set: &'a S| Run::new(f, set, &method, Options::for_set(set));
    let mut runs = sets.iter().map(run).collect::<Result<Vec<_>, _>>()?;
    lockstep_of_sizes(&mut runs);
    for (run, set) in runs.into_iter().zip(sets) {
        let mut fit = best_from(run, explore)?;
        if let Some((before, _)) = models.last().filter(|(before, _)| f.value(&before.x) < f.value(&fit.0.x)) {
            fit = warm_started(f, set, Some(before.x.point().clone()))?;
        }
        models.push(fit);
        if go_on(models.len()).is_break() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The fit of one size from the model of another.
fn warm_started<A, L, S>(
    f: &Objective<A, L>,
    set: &S,
    start: Option<A::Point>,
) -> Result<(Improved<A::Point>, Status), Error>
where
    A: LinearOperator,
    L: Loss,
    S: Searchable<A, L>,
{
    let method = AcceleratedIht::for_structure(set.structure());
    let run = match start {
        Some(x) => Run::starting_at(f, set, &method, Options { stages: Stages::direct(), ..Options::for_set(set) }, x),
        None => Run::new(f, set, &method, Options::for_set(set)),
    };
    best_from(run?, set.explore(f).as_mut())
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
