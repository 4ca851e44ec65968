//! Cross-validation of k, and of a ridge: every fold and every k from shared passes.
//!
//! For least squares the paths of all training sets grow side by side among one list of atoms, whose products are known
//! part by part of the rows: what one of them asks for is there for all. Other losses run a fit for each fold,
//! ridge and k in [lockstep](crate::driver::lockstep): each pass serves all of them. Every training set is centred and scaled
//! with its own moments, so nothing of a held-out row reaches the model that is judged on it.

use std::ops::ControlFlow;
use std::time::Instant;

use super::Bounds;
use super::folds::Folds;
use super::part_gram::{PartGram, Setting, Trainings};
use super::path::null_and_rest;
use super::sample::{Preparation, Sample};
use super::shrinkage::shrunk;
use super::training_paths::{Paths, TrainingPaths, affordable};
use crate::driver::{Options, Run, lockstep_while};
use crate::error::{Error, check_length, check_option};
use crate::linalg::{exponent_of_two, times_power_of_two};
use crate::loss::Split;
use crate::method::AcceleratedIht;
use crate::objective::{Objective, check_magnitudes};
use crate::operator::{ColumnMoments, LinearOperator, Parts};
use crate::search::GoOn;
use crate::set::{Always, CoordinateSet};
use crate::space::SparseVec;

/// A held-out loss below this share of the largest is rounding.
const PERFECT: f64 = 1e-20;

/// What is validated, and how the data are prepared.
#[derive(Debug, Clone, PartialEq)]
pub struct CrossValidation {
    /// Numbers of atoms, rising. 0 is the model of what is always in, an intercept say.
    pub sizes: Vec<usize>,
    /// Ridges on the standardised scale, for all rows; a training set gets its share. Default: 0 alone.
    pub ridges: Vec<f64>,
    /// How strongly weak atoms of a chosen model are pulled towards zero: a coefficient of t standard
    /// errors keeps about t²/(t² + c). For least squares. Default: 0 alone, which is not at all. It pays
    /// where k may be larger than the number of atoms that matter; 4, 9 and 16 are good to try.
    pub shrinkages: Vec<f64>,
    /// Whether columns are scaled to variance 1 in each training set; to a mean square of 1 without an intercept.
    /// Default: they are.
    pub standardize: bool,
    /// Whether a model has an intercept. Default: it has.
    pub intercept: bool,
    /// Bounds on the coefficients, in the units of the design. Default: none.
    pub bounds: Option<Bounds>,
}

impl CrossValidation {
    /// These numbers of atoms, with every default.
    pub fn new(sizes: impl IntoIterator<Item = usize>) -> Self {
        Self {
            sizes: sizes.into_iter().collect(),
            ridges: vec![0.0],
            shrinkages: vec![0.0],
            standardize: true,
            intercept: true,
            bounds: None,
        }
    }

    fn check(&self) -> Result<(), Error> {
        null_and_rest(&self.sizes)?;
        for (what, list) in [("ridge", &self.ridges), ("shrinkage", &self.shrinkages)] {
            if list.is_empty() {
                let what = if what == "ridge" { "the list of ridges" } else { "the list of shrinkages" };
                return Err(Error::Empty { what });
            }
            let admissible = |v: f64| v.is_finite() && v >= 0.0;
            list.iter().try_for_each(|&v| check_option(what, v, "it must be finite and at least 0", admissible))?;
        }
        Ok(())
    }

    /// Everything that is validated: ridge by ridge, shrinkage by shrinkage, size by size.
    fn choices(&self) -> impl Iterator<Item = Choice> + '_ {
        self.ridges.iter().flat_map(move |&ridge| {
            self.shrinkages
                .iter()
                .flat_map(move |&shrinkage| self.sizes.iter().map(move |&atoms| Choice { atoms, ridge, shrinkage }))
        })
    }

    pub(super) fn preparation(&self, ridge: f64) -> Preparation {
        Preparation { standardize: self.standardize, intercept: self.intercept, ridge }
    }
}

/// A number of atoms, a ridge and a shrinkage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice {
    /// The number of atoms.
    pub atoms: usize,
    /// The ridge.
    pub ridge: f64,
    /// How strongly weak atoms are pulled towards zero.
    pub shrinkage: f64,
}

/// How a choice does on rows that its models have not seen.
#[derive(Debug, Clone, PartialEq)]
pub struct Score {
    /// What was validated.
    pub choice: Choice,
    /// The mean held-out loss of each fold: half the mean squared error, or the mean negative
    /// log-likelihood.
    pub folds: Vec<f64>,
    /// Their mean.
    pub mean: f64,
    /// The standard error of the mean.
    pub error: f64,
    /// The model of each fold's training rows, in the order of `folds`.
    pub models: Vec<FoldModel>,
}

/// A model of all rows but those of a fold, in the units of the design.
#[derive(Debug, Clone, PartialEq)]
pub struct FoldModel {
    /// Its coefficients.
    pub coefficients: SparseVec,
    /// The constant of its predictions.
    pub intercept: f64,
}

impl Score {
    /// The score of a choice whose models have these losses, fold by fold.
    pub fn new(choice: Choice, folds: Vec<f64>, models: Vec<FoldModel>) -> Self {
        let count = folds.len() as f64;
        let mean = folds.iter().sum::<f64>() / count;
        // Fourth powers of residuals: those of losses of about 1 are numbers.
        let unit = exponent_of_two(mean).unwrap_or(0);
        let square: f64 = folds.iter().map(|v| times_power_of_two(v - mean, -unit).powi(2)).sum();
        let error = times_power_of_two((square / (count - 1.0) / count).sqrt(), unit);
        // Losses that are all the same differ by rounding.
        let error = if error <= 4.0 * f64::EPSILON * mean.abs() { 0.0 } else { error };
        Self { choice, folds, mean, error, models }
    }

    /// The place of the score that is least; of equals the one with the fewest atoms.
    pub fn least(scores: &[Self]) -> usize {
        // Losses of perfect predictions are rounding: they are all the same.
        let perfect = PERFECT * scores.iter().fold(0.0, |most: f64, score| most.max(score.mean));
        let mean = |score: &Self| if (0.0..perfect).contains(&score.mean) { perfect } else { score.mean };
        let better = |a: usize, b: usize| {
            let (old, new) = (&scores[a], &scores[b]);
            let fewer = mean(new) == mean(old) && new.choice.atoms < old.choice.atoms;
            let replaces = mean(new) < mean(old) || fewer || (old.mean.is_nan() && !new.mean.is_nan());
            if replaces { b } else { a }
        };
        (0..scores.len()).reduce(better).unwrap_or(0)
    }

    /// The place of the smallest model, under the ridge and the shrinkage of the best one, whose score is within a
    /// standard error of the best.
    pub fn within_one_error(scores: &[Self]) -> usize {
        let least = Self::least(scores);
        let near = |score: &Self, best: &Self| {
            Choice { atoms: best.choice.atoms, ..score.choice } == best.choice && score.mean <= best.mean + best.error
        };
        let candidates = (0..scores.len()).filter(|&at| near(&scores[at], &scores[least]));
        candidates.min_by_key(|&at| scores[at].choice.atoms).unwrap_or(least)
    }

    /// Predictions for rows by models that have not seen them: (row, linear prediction), fold by fold. Reads the columns
    /// of the models.
    pub fn held_out<A>(&self, design: &A, folds: &Folds) -> Vec<(usize, f64)>
    where
        A: LinearOperator<Point = SparseVec>,
    {
        let of = |(fold, model): (usize, &FoldModel)| {
            let all = predictions(design, &model.coefficients, model.intercept);
            folds.held_out(fold).into_iter().map(move |row| (row, all[row]))
        };
        self.models.iter().enumerate().flat_map(of).collect()
    }
}

/// A model of all rows, in the units of the design.
#[derive(Debug, Clone)]
pub struct Fitted {
    /// Its coefficients.
    pub coefficients: SparseVec,
    /// The constant of its predictions.
    pub intercept: f64,
    /// Its size and ridge.
    pub choice: Choice,
    /// The loss on all rows.
    pub loss: f64,
}

/// What a cross-validation tells.
#[derive(Debug, Clone)]
pub struct Validated {
    /// Ridge by ridge, size by size.
    pub scores: Vec<Score>,
    /// The model without atoms, whether 0 is among the sizes or not: what a model must beat. Of several ridges, which
    /// matter to what is always in alone, the first.
    pub null: Score,
    /// The models of all rows, in the same order.
    pub models: Vec<Fitted>,
    /// Whether everything that was asked for is there: not when the observer stopped the work.
    pub complete: bool,
    /// Passes over the data.
    pub passes: usize,
    /// Seconds of work.
    pub seconds: f64,
}

impl Validated {
    /// The choice with the least held-out loss; of equals the one with the fewest atoms.
    ///
    /// # Panics
    /// If there is no score.
    pub fn min(&self) -> Choice {
        self.scores[Score::least(&self.scores)].choice
    }

    /// The fewest atoms whose held-out loss is within one standard error of the least, with the ridge of
    /// the least.
    ///
    /// # Panics
    /// If there is no score.
    pub fn one_se(&self) -> Choice {
        self.scores[Score::within_one_error(&self.scores)].choice
    }

    /// How a choice does.
    pub fn score(&self, choice: Choice) -> Option<&Score> {
        self.scores.iter().find(|score| score.choice == choice)
    }

    /// The model of all rows at a choice.
    pub fn model(&self, choice: Choice) -> Option<&Fitted> {
        self.models.iter().find(|model| model.choice == choice)
    }
}

/// Validates every size and ridge on every fold.
///
/// # Errors
/// When a size is out of range, a ridge is negative, or the design, the target, the set and the folds do
/// not fit together.
///
/// ```
/// use katoms::{loss::LeastSquares, operator::Dense, set::KSparse, simulate};
/// use katoms::select::{CrossValidation, Folds, cross_validate};
/// let design = simulate::gaussian(200, 40, 1);
/// let y: Vec<f64> = (0..200).map(|i| 7.0 + 3.0 * design[i] - 2.0 * design[200 + i]).collect();
/// let loss = LeastSquares::new(simulate::noisy(&y, 0.1, 1))?;
/// let design = Dense::column_major(&design, 200, 40)?;
/// let folds = Folds::random(200, 5, 0)?;
/// let validated = cross_validate(&design, &loss, &KSparse::new(1, 40)?, &folds, &CrossValidation::new(1..=6))?;
/// let model = validated.model(validated.one_se()).ok_or("every choice has a model")?;
/// assert_eq!(model.coefficients.indices(), [0, 1]);
/// assert!((model.intercept - 7.0).abs() < 0.1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn cross_validate<A, L, S>(
    design: &A,
    loss: &L,
    set: &S,
    folds: &Folds,
    options: &CrossValidation,
) -> Result<Validated, Error>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>> + ColumnMoments,
    L: Split,
    S: CoordinateSet,
{
    cross_validate_while(design, loss, set, folds, options, &mut |_| ControlFlow::Continue(()))
}

/// The same, asking now and then whether to go on. For least squares it hears how far the sizes are done in every
/// fold, and after a break those that are done remain: at least one. For other losses it hears how many fits have ended, and after a
/// break all of them are judged where they stand.
///
/// # Errors
/// As [`cross_validate`].
pub fn cross_validate_while<A, L, S>(
    design: &A,
    loss: &L,
    set: &S,
    folds: &Folds,
    options: &CrossValidation,
    go_on: &mut GoOn<'_>,
) -> Result<Validated, Error>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>> + ColumnMoments,
    L: Split,
    S: CoordinateSet,
{
    let clock = Instant::now();
    options.check()?;
    let rows = design.n_outputs();
    check_length("target", loss.n_outputs(), rows, "one value for each row of the design")?;
    check_length("folds", folds.labels().len(), rows, "one label for each row of the design")?;
    check_length("coordinates of the set", set.domain(), design.domain(), "one for each column of the design")?;
    let (null, rest) = null_and_rest(&options.sizes)?;
    rest.iter().try_for_each(|&k| set.with_atoms(k).map(|_| ()))?;
    check_magnitudes(design, loss)?;
    let sides = Sides::new(loss, folds)?;
    let searched = CrossValidation { sizes: rest.to_vec(), ..options.clone() };
    let problem = Problem { design, loss, set, folds, options: &searched };
    let nulls = problem.null_fits()?;
    let (fits, passes, complete) = if rest.is_empty() { (Vec::new(), 0, true) } else { problem.fits(null, go_on)? };
    let find =
        |fits: &[Fit], choice, fold| fits.iter().find(|fit| fit.choice == choice && fit.left_out == fold).cloned();
    let scored = |fits: &[Fit], choice| {
        let held_out = (0..folds.count()).filter_map(|fold| find(fits, choice, Some(fold)));
        sides.score(design, choice, held_out.collect())
    };
    let mut scores = Vec::new();
    let mut models = Vec::new();
    for choice in options.choices() {
        let fits = if choice.atoms == 0 { &nulls } else { &fits };
        let Some(Fit { coefficients, intercept, .. }) = find(fits, choice, None) else { continue };
        scores.push(scored(fits, choice));
        let loss = loss.value(&predictions(design, &coefficients, intercept));
        models.push(Fitted { coefficients, intercept, choice, loss });
    }
    let none = Choice { atoms: 0, ridge: options.ridges[0], shrinkage: options.shrinkages[0] };
    let null = scored(&nulls, none);
    Ok(Validated { scores, null, models, complete, passes, seconds: clock.elapsed().as_secs_f64() })
}

/// What the rows of a loss weigh together.
pub(super) fn weight<L: Split>(loss: &L) -> f64 {
    loss.weights().map_or(loss.n_outputs() as f64, |weights| weights.iter().sum())
}

fn predictions<A>(design: &A, coefficients: &SparseVec, intercept: f64) -> Vec<f64>
where
    A: LinearOperator<Point = SparseVec>,
{
    let mut out = vec![0.0; design.n_outputs()];
    design.apply(coefficients, &mut out);
    out.iter_mut().for_each(|z| *z += intercept);
    out
}

/// The fit of a training set, in the units of the design.
#[derive(Debug, Clone)]
pub(super) struct Fit {
    pub left_out: Option<usize>,
    pub choice: Choice,
    pub coefficients: SparseVec,
    pub intercept: f64,
}

/// The rows that each fold holds out, with their loss.
struct Sides<L> {
    held_out: Vec<(Vec<usize>, L)>,
}

impl<L: Split> Sides<L> {
    fn new(loss: &L, folds: &Folds) -> Result<Self, Error> {
        let one = |fold| {
            let rows = folds.held_out(fold);
            loss.subset(&rows).map(|loss| (rows, loss))
        };
        Ok(Self { held_out: (0..folds.count()).map(one).collect::<Result<_, _>>()? })
    }

    /// How the models of a choice, one for each fold, do on the rows that their folds hold out.
    fn score<A: LinearOperator<Point = SparseVec>>(&self, design: &A, choice: Choice, fits: Vec<Fit>) -> Score {
        let folds: Vec<f64> = fits.iter().enumerate().map(|(fold, fit)| self.loss(design, fit, fold)).collect();
        let model = |fit: Fit| FoldModel { coefficients: fit.coefficients, intercept: fit.intercept };
        Score::new(choice, folds, fits.into_iter().map(model).collect())
    }

    /// The mean loss on the rows that a fold holds out.
    fn loss<A: LinearOperator<Point = SparseVec>>(&self, design: &A, fit: &Fit, fold: usize) -> f64 {
        let (rows, loss) = &self.held_out[fold];
        let all = predictions(design, &fit.coefficients, fit.intercept);
        let predicted: Vec<f64> = rows.iter().map(|&i| all[i]).collect();
        loss.value(&predicted) / weight(loss)
    }
}

/// Fits, passes, and whether nothing is missing.
pub(super) type Fits = (Vec<Fit>, usize, bool);

/// One of the fits that run in lockstep.
struct Task<'a, A, L, S>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
{
    f: Objective<&'a Sample<'a, A>, L>,
    set: &'a Always<S>,
    sample: &'a Sample<'a, A>,
    left_out: Option<usize>,
    choice: Choice,
}

/// Everything that a cross-validation is about.
pub(super) struct Problem<'a, A, L, S> {
    pub design: &'a A,
    pub loss: &'a L,
    pub set: &'a S,
    pub folds: &'a Folds,
    pub options: &'a CrossValidation,
}

impl<A, L, S> Problem<'_, A, L, S>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>> + ColumnMoments,
    L: Split,
    S: CoordinateSet,
{
    /// The models of all sizes, of which there is at least one; `null` says that one more is done already.
    fn fits(&self, null: bool, go_on: &mut GoOn<'_>) -> Result<Fits, Error> {
        let before = usize::from(null);
        let mut sizes = |done: usize| go_on(done + before);
        let by_paths = match &self.options.bounds {
            Some(bounds) => Some(self.within(bounds, &mut sizes)?),
            None if self.loss.is_quadratic() => self.by_quadratics(&mut sizes)?,
            None => None,
        };
        match by_paths {
            Some(found) => Ok(found),
            None if self.options.shrinkages != [0.0] => {
                let right = "it must be 0 alone: this loss, or a design this large, has no shrinkage";
                Err(Error::Option { name: "shrinkage", value: self.options.shrinkages[0], right })
            }
            None => {
                let before = before * self.options.ridges.len() * (self.folds.count() + 1);
                self.by_runs(&mut |ended| go_on(ended + before))
            }
        }
    }

    /// Every training set's path among one list of atoms. `None` where that cannot be had.
    fn by_quadratics(&self, go_on: &mut GoOn<'_>) -> Result<Option<Fits>, Error> {
        let Self { design, loss, set, folds, options } = *self;
        let preparation = options.preparation(0.0);
        let parts = Parts::new(folds.labels().to_vec(), folds.count())?;
        let (atoms, kept) = (set.candidates(), set.kept());
        let extent = (design.n_outputs(), folds.count() + 1);
        if !design.has_cheap_columns() || !affordable(&atoms, &kept, &options.sizes, extent) {
            return Ok(None);
        }
        let Some(mut gram) = PartGram::new(design, loss, parts, &preparation)? else { return Ok(None) };
        let sides: Vec<Option<usize>> = [None].into_iter().chain((0..folds.count()).map(Some)).collect();
        let pairs = options.ridges.iter().flat_map(|&ridge| sides.iter().map(move |&left_out| (ridge, left_out)));
        let settings: Vec<Setting> = pairs.map(|(ridge, out)| Setting::new(&gram, out, &preparation, ridge)).collect();
        let trainings = Trainings { gram: &mut gram, loss, settings: &settings };
        let paths = TrainingPaths::new(trainings, &atoms, &kept, &options.sizes);
        let Paths { models, list, among, complete } = paths.grow(go_on);
        let mut fits = Vec::new();
        for ((path, training), s) in models.iter().zip(&among).zip(&settings) {
            for (model, &atoms) in path.iter().zip(&options.sizes) {
                for &shrinkage in &options.shrinkages {
                    let variance = 2.0 * model.objective / s.moments.weight;
                    let pulled = || shrunk(training, &model.point, &list.kept, variance, shrinkage);
                    let point = if shrinkage > 0.0 { pulled() } else { model.point.clone() };
                    let point = list.outside(&point, design.domain());
                    let (coefficients, intercept) = gram.to_original(&s.moments, &point);
                    let choice = Choice { atoms, ridge: s.ridge, shrinkage };
                    fits.push(Fit { left_out: s.left_out, choice, coefficients, intercept });
                }
            }
        }
        Ok(Some((fits, gram.passes, complete)))
    }

    /// A run for each fold, ridge and size, all in lockstep.
    fn by_runs(&self, go_on: &mut GoOn<'_>) -> Result<Fits, Error> {
        let Self { design, loss, set, folds, options } = *self;
        let preparation = options.preparation(0.0);
        let all: Vec<usize> = (0..design.n_outputs()).collect();
        let rows = |left_out: Option<usize>| left_out.map_or_else(|| all.clone(), |fold| folds.training(fold));
        let sides: Vec<Option<usize>> = [None].into_iter().chain((0..folds.count()).map(Some)).collect();
        let losses = sides.iter().map(|&out| loss.subset(&rows(out))).collect::<Result<Vec<_>, _>>()?;
        let (samples, reads) = preparation.samples(design, &losses, sides.iter().map(|&out| rows(out)).collect())?;
        let sets: Vec<Always<S>> =
            options.sizes.iter().map(|&k| preparation.set(&set.with_atoms(k)?)).collect::<Result<_, _>>()?;
        let method = AcceleratedIht::for_structure(set.structure());
        let mut tasks = Vec::new();
        for &ridge in &options.ridges {
            for ((sample, loss), &left_out) in samples.iter().zip(&losses).zip(&sides) {
                let share = ridge * weight(loss) / weight(&losses[0]);
                let everything: Vec<usize> = (0..sample.n_outputs()).collect();
                for (set, &atoms) in sets.iter().zip(&options.sizes) {
                    let preparation = Preparation { ridge: share, ..preparation };
                    let f = preparation.objective_on(sample, design.domain(), loss.subset(&everything)?)?;
                    tasks.push(Task { f, set, sample, left_out, choice: Choice { atoms, ridge, shrinkage: 0.0 } });
                }
            }
        }
        let mut runs = tasks
            .iter()
            .map(|task| Run::new(&task.f, task.set, &method, Options::for_set(task.set)))
            .collect::<Result<Vec<_>, _>>()?;
        let mut complete = true;
        lockstep_while(&mut runs, |ended| {
            let said = go_on(ended);
            complete &= said.is_continue();
            said
        })?;
        let points: Vec<SparseVec> = runs.iter().map(|run| run.iterate().clone()).collect();
        let passes = runs.iter().map(|run| run.trace().len()).max().unwrap_or(0);
        drop(runs);
        let fits = tasks.iter().zip(points).map(|(task, x)| {
            let (coefficients, intercept) = task.sample.to_original(&x);
            Fit { left_out: task.left_out, choice: task.choice, coefficients, intercept }
        });
        Ok((fits.collect(), passes + reads, complete))
    }
}
