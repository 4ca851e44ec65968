//! The models of all training sets of a cross-validation.

use super::cross_validation::{CrossValidation, weight};
use super::folds::Folds;
use super::newton_paths::{Grown, NewtonPaths};
use super::part_gram::PartGram;
use super::sample::{Preparation, Sample};
use super::scores::Choice;
use super::shrinkage::shrunk;
use super::training_paths::{Paths, TrainingPaths, affordable};
use super::trainings::{Setting, Trainings};
use crate::driver::{Options, Outcome, Run, Status, lockstep_while};
use crate::error::Error;
use crate::linalg::parallel;
use crate::loss::Split;
use crate::method::AcceleratedIht;
use crate::objective::Objective;
use crate::operator::{ColumnMoments, LinearOperator, Parts, adjoint_many};
use crate::search::{self, GoOn};
use crate::set::{Always, CoordinateSet};
use crate::space::SparseVec;

/// The fit of a training set, in the units of the design.
#[derive(Debug, Clone)]
pub(super) struct Fit {
    pub left_out: Option<usize>,
    pub choice: Choice,
    pub coefficients: SparseVec,
    /// One for each output.
    pub intercepts: Vec<f64>,
}

/// Fits, passes, and whether nothing is missing.
pub(super) type Fits = (Vec<Fit>, usize, bool);

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
    pub fn fits(&self, null: bool, go_on: &mut GoOn<'_>) -> Result<Fits, Error> {
        let before = usize::from(null);
        let mut sizes = |done: usize| go_on(done + before);
        let by_paths = match &self.options.bounds {
            Some(bounds) => Some(self.within(bounds, &mut sizes)?),
            None if self.loss.is_quadratic() && self.outputs() == 1 => self.by_quadratics(&mut sizes)?,
            None => None,
        };
        match by_paths {
            Some(found) => Ok(found),
            None if self.options.shrinkages != [0.0] => {
                let right = "it must be 0 alone: this loss, several responses or a design this large have no shrinkage";
                Err(Error::Option { name: "shrinkage", value: self.options.shrinkages[0], right })
            }
            None => self.by_samples(&mut sizes),
        }
    }

    /// The outputs of a row.
    pub(super) fn outputs(&self) -> usize {
        self.loss.outputs_per_row()
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
        let setting = |at: usize| {
            let (ridge, left_out) = (options.ridges[at / sides.len()], sides[at % sides.len()]);
            Setting::new(&gram, left_out, &preparation, ridge)
        };
        let settings: Vec<Setting> = parallel::map(options.ridges.len() * sides.len(), &setting);
        let trainings = Trainings { gram: &mut gram, loss, settings: &settings };
        let paths = TrainingPaths::new(trainings, &atoms, &kept, &options.sizes);
        let Paths { models, list, among, complete } = paths.grow(go_on);
        let fits_of = |at: usize| {
            let ((path, training), s) = ((&models[at], &among[at]), &settings[at]);
            let mut fits = Vec::new();
            for (model, &atoms) in path.iter().zip(&options.sizes) {
                for &shrinkage in &options.shrinkages {
                    let variance = 2.0 * model.objective / s.moments.weight;
                    let pulled = || shrunk(training, &model.point, &list.kept, variance, shrinkage);
                    let point = if shrinkage > 0.0 { pulled() } else { model.point.clone() };
                    let point = list.outside(&point, design.domain());
                    let (coefficients, intercept) = gram.to_original(&s.moments, &point);
                    let choice = Choice { atoms, ridge: s.ridge, shrinkage };
                    fits.push(Fit { left_out: s.left_out, choice, coefficients, intercepts: vec![intercept] });
                }
            }
            fits
        };
        let fits = parallel::map(settings.len(), &fits_of).concat();
        Ok(Some((fits, gram.passes, complete)))
    }

    /// The same where every training set is a view of the design.
    fn by_samples(&self, go_on: &mut GoOn<'_>) -> Result<Fits, Error> {
        let Self { design, loss, folds, options, .. } = *self;
        let preparation = options.preparation(0.0);
        let all: Vec<usize> = (0..design.n_outputs()).collect();
        let rows = |left_out: Option<usize>| left_out.map_or_else(|| all.clone(), |fold| folds.training(fold));
        let sides: Vec<Option<usize>> = [None].into_iter().chain((0..folds.count()).map(Some)).collect();
        let losses = sides.iter().map(|&out| loss.subset(&rows(out))).collect::<Result<Vec<_>, _>>()?;
        let (samples, reads) = preparation.samples(design, &losses, sides.iter().map(|&out| rows(out)).collect())?;
        let sampled = Sampled { problem: self, preparation, samples: &samples, losses: &losses };
        let (models, passes, complete) = match sampled.by_newton(go_on)? {
            Some(found) => found,
            None => sampled.by_runs(go_on)?,
        };
        let mut fits = Vec::new();
        for (at, path) in models.into_iter().enumerate() {
            let (side, ridge) = (at / options.ridges.len(), options.ridges[at % options.ridges.len()]);
            for (x, &atoms) in path.iter().zip(&options.sizes) {
                let (coefficients, intercepts) = samples[side].to_original(x);
                let choice = Choice { atoms, ridge, shrinkage: 0.0 };
                fits.push(Fit { left_out: sides[side], choice, coefficients, intercepts });
            }
        }
        Ok((fits, passes + reads, complete))
    }
}

/// The training sets of a cross-validation.
struct Sampled<'p, 'a, A, L, S> {
    problem: &'p Problem<'a, A, L, S>,
    preparation: Preparation,
    samples: &'p [Sample<'p, A>],
    losses: &'p [L],
}

/// Models by training set and ridge, and by size; passes; and whether nothing is missing.
type Models = (Vec<Vec<SparseVec>>, usize, bool);

impl<'p, A, L, S> Sampled<'p, '_, A, L, S>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>> + ColumnMoments,
    L: Split,
    S: CoordinateSet,
{
    /// The objectives of a training set, under each ridge.
    fn objectives(&self, side: usize) -> Result<Vec<Objective<&'p Sample<'p, A>, L>>, Error> {
        let (sample, loss) = (&self.samples[side], &self.losses[side]);
        let everything: Vec<usize> = (0..loss.n_rows()).collect();
        let one = |&ridge: &f64| {
            let ridge = ridge * weight(loss) / weight(&self.losses[0]);
            let preparation = Preparation { ridge, ..self.preparation };
            preparation.objective_on(sample, self.problem.design.domain(), loss.subset(&everything)?)
        };
        self.problem.options.ridges.iter().map(one).collect()
    }

    /// Paths within a working set. `None` where that cannot be had.
    fn by_newton(&self, go_on: &mut GoOn<'_>) -> Result<Option<Models>, Error> {
        let Problem { design, set, options, .. } = *self.problem;
        let prepared = self.preparation.set(set, self.problem.loss)?;
        let (atoms, kept) = (prepared.candidates(), prepared.kept());
        let extent = (self.problem.loss.n_outputs() * self.samples.len(), 0);
        if !design.has_cheap_columns() || !affordable(&atoms, &kept, &options.sizes, extent) {
            return Ok(None);
        }
        let mut spreads = vec![1.0; kept.dim()];
        let mut passes = 0;
        if !self.preparation.standardize {
            let moments = design.moments(&vec![1.0; design.n_outputs()]);
            let square = |mean: f64| if self.preparation.intercept { 0.0 } else { mean * mean };
            let both = moments.variances.iter().zip(&moments.means);
            let squares: Vec<f64> = both.map(|(variance, &mean)| variance + square(mean)).collect();
            let of_outputs = squares.repeat(self.problem.outputs());
            spreads.iter_mut().zip(of_outputs).for_each(|(spread, square)| *spread = square);
            passes += 2;
        }
        let pass = |residuals: &[(usize, Vec<f64>)]| {
            let views: Vec<&[f64]> = residuals.iter().map(|(_, r)| r.as_slice()).collect();
            let operators: Vec<&Sample<'_, A>> = residuals.iter().map(|(at, _)| &self.samples[*at]).collect();
            let mut out: Vec<Vec<f64>> = residuals.iter().map(|_| design.base().new_covector()).collect();
            adjoint_many(&operators, &views, &mut out);
            out
        };
        let sides = 0..self.samples.len();
        let objectives = sides.map(|side| self.objectives(side)).collect::<Result<Vec<_>, _>>()?;
        let mut trainings: Vec<Vec<&dyn search::Problem>> = Vec::new();
        for under in &objectives {
            trainings.push(under.iter().map(|f| f as &dyn search::Problem).collect());
        }
        let paths = NewtonPaths {
            trainings,
            atoms: &atoms,
            kept: &kept,
            sizes: &options.sizes,
            spreads: &spreads,
            pass: &pass,
        };
        let Grown { models, passes: more, complete } = paths.grow(go_on);
        Ok(Some((models, passes + more, complete)))
    }

    /// A run for each objective and size, all in lockstep. After a break the sizes remain of which all runs have ended, and the
    /// first one where it stands.
    fn by_runs(&self, go_on: &mut GoOn<'_>) -> Result<Models, Error> {
        let Problem { set, loss, options, .. } = *self.problem;
        let sets: Vec<Always<S>> =
            options.sizes.iter().map(|&k| self.preparation.set(&set.with_atoms(k)?, loss)).collect::<Result<_, _>>()?;
        let method = AcceleratedIht::for_structure(set.structure());
        let mut tasks = Vec::new();
        for side in 0..self.samples.len() {
            // Every run counts the passes of an objective of its own.
            let of_sizes = sets.iter().map(|_| self.objectives(side)).collect::<Result<Vec<_>, _>>()?;
            let mut of_sizes: Vec<_> = of_sizes.into_iter().map(Vec::into_iter).collect();
            for _ in &options.ridges {
                tasks.extend(of_sizes.iter_mut().zip(&sets).filter_map(|(fs, set)| Some((fs.next()?, set))));
            }
        }
        let both = tasks.iter().map(|(f, set)| (f, *set));
        let runs = both.map(|(f, set)| Run::new(f, set, &method, Options::for_set(set)));
        let mut runs = runs.collect::<Result<Vec<_>, _>>()?;
        let (mut complete, paths) = (true, tasks.len() / sets.len());
        lockstep_while(&mut runs, |ended| {
            let said = go_on(ended / paths);
            complete &= said.is_continue();
            said
        })?;
        let passes = runs.iter().map(|run| run.trace().len()).max().unwrap_or(0);
        let ended: Vec<Outcome<SparseVec>> = runs.into_iter().map(Run::outcome_unchecked).collect();
        let stands = |size: &usize| ended.chunks(sets.len()).all(|path| path[*size].status != Status::Stopped);
        let done = (0..sets.len()).take_while(stands).count().max(1);
        let points = |path: &[Outcome<SparseVec>]| path[..done].iter().map(|one| one.point.clone()).collect();
        Ok((ended.chunks(sets.len()).map(points).collect(), passes, complete))
    }
}
