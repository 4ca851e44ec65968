//! The runs of a [cross-validation](CrossValidation): fits on all training sets, and their scores on the rows held out.

use std::ops::ControlFlow;
use std::time::Instant;

use super::cross_validation::{CrossValidation, weight};
use super::fold_fits::{Fit, Problem};
use super::folds::Folds;
use super::path::null_and_rest;
use super::scores::{Choice, Fitted, FoldModel, Score, Validated, predictions};
use crate::error::{Error, check_length};
use crate::linalg::{keep_freed_memory, parallel};
use crate::loss::Split;
use crate::objective::check_magnitudes;
use crate::operator::{ColumnMoments, LinearOperator};
use crate::search::GoOn;
use crate::set::CoordinateSet;
use crate::space::SparseVec;

/// Predictions that are made at a time: 128 MiB.
const PREDICTED: usize = 1 << 24;

impl CrossValidation {
    /// The same with somebody who is asked now and then whether to go on, with the number of sizes that are done in every
    /// fold, of each ridge where there are bounds. After a break those that are done remain: at least one.
    pub fn poll<'a>(&'a self, poll: &'a mut GoOn<'a>) -> Polled<'a> {
        Polled { options: self, poll }
    }
}

/// A cross-validation that may be stopped: [`CrossValidation::poll`].
#[must_use = "nothing is validated until it is run"]
pub struct Polled<'a> {
    options: &'a CrossValidation,
    poll: &'a mut GoOn<'a>,
}

/// Validates every size and ridge on every fold. Rows are held out with all of their outputs, and the coordinates of the set
/// are those of [`Preparation::set`](super::Preparation::set).
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
/// assert!((model.intercept() - 7.0).abs() < 0.1);
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
    options.poll(&mut |_| ControlFlow::Continue(())).run(design, loss, set, folds)
}

impl Polled<'_> {
    /// Validates every size and ridge on every fold.
    ///
    /// # Errors
    /// As [`cross_validate`].
    pub fn run<A, L, S>(self, design: &A, loss: &L, set: &S, folds: &Folds) -> Result<Validated, Error>
    where
        A: LinearOperator<Point = SparseVec, Covector = Vec<f64>> + ColumnMoments,
        L: Split,
        S: CoordinateSet,
    {
        let Self { options, poll } = self;
        let clock = Instant::now();
        options.check()?;
        keep_freed_memory();
        let rows = design.n_outputs();
        let coordinates = design.domain() * loss.outputs_per_row();
        check_length("target", loss.n_rows(), rows, "one value for each row of the design")?;
        check_length("folds", folds.labels().len(), rows, "one label for each row of the design")?;
        check_length("coordinates of the set", set.domain(), coordinates, "one for each column of the design")?;
        let (null, rest) = null_and_rest(&options.sizes)?;
        rest.iter().try_for_each(|&k| set.with_atoms(k).map(|_| ()))?;
        check_magnitudes(design, loss)?;
        let sides = Sides::new(loss, folds)?;
        let intercept = options.intercept && !loss.ignores_constants();
        let searched = CrossValidation { sizes: rest.to_vec(), intercept, ..options.clone() };
        let problem = Problem { design, loss, set, folds, options: &searched };
        let nulls = problem.null_fits()?;
        let (fits, passes, complete) =
            if rest.is_empty() { (Vec::new(), 0, true) } else { problem.fits(null, poll)? };
        let judged = |fits: Vec<Fit>| {
            let losses = sides.losses(design, loss, &fits);
            fits.into_iter().zip(losses).collect::<Vec<_>>()
        };
        let (nulls, fits) = (judged(nulls), judged(fits));
        let find = |fits: &[(Fit, f64)], choice, fold| {
            fits.iter().find(|(fit, _)| fit.choice == choice && fit.left_out == fold).cloned()
        };
        let scored = |fits: &[(Fit, f64)], choice| {
            let held_out = (0..folds.count()).filter_map(|fold| find(fits, choice, Some(fold)));
            let model = |fit: Fit| FoldModel { coefficients: fit.coefficients, intercepts: fit.intercepts };
            let (models, losses) = held_out.map(|(fit, loss)| (model(fit), loss)).unzip();
            Score::new(choice, losses, models)
        };
        let mut scores = Vec::new();
        let mut models = Vec::new();
        for choice in options.choices() {
            let fits = if choice.atoms == 0 { &nulls } else { &fits };
            let Some((Fit { coefficients, intercepts, .. }, loss)) = find(fits, choice, None) else { continue };
            scores.push(scored(fits, choice));
            models.push(Fitted { coefficients, intercepts, choice, loss });
        }
        let none = Choice { atoms: 0, ridge: options.ridges[0], shrinkage: options.shrinkages[0] };
        let null = scored(&nulls, none);
        Ok(Validated { scores, null, models, complete, passes, seconds: clock.elapsed().as_secs_f64() })
    }
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

    /// The loss of each model: the mean on the rows that its fold holds out, or that of all rows.
    fn losses<A>(&self, design: &A, loss: &L, fits: &[Fit]) -> Vec<f64>
    where
        A: LinearOperator<Point = SparseVec>,
    {
        let rows = design.n_outputs();
        let of = |fit: &Fit, all: &[f64]| {
            let Some((held_out, own)) = fit.left_out.map(|fold| &self.held_out[fold]) else { return loss.value(all) };
            let of_output = |all: &[f64]| held_out.iter().map(|&i| all[i]).collect::<Vec<f64>>();
            own.value(&all.chunks(rows).flat_map(of_output).collect::<Vec<f64>>()) / weight(own)
        };
        let several = |fits: &[Fit]| {
            let models: Vec<_> = fits.iter().map(|fit| (&fit.coefficients, &fit.intercepts[..])).collect();
            let all = predictions(design, &models);
            parallel::map(fits.len(), &|at| of(&fits[at], &all[at]))
        };
        fits.chunks((PREDICTED / rows.max(1)).max(1)).flat_map(several).collect()
    }
}
