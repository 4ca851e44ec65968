//! Cross-validation of k, and of a ridge: every fold and every k from shared passes.
//!
//! The paths of all training sets and ridges grow side by side within one working set of atoms, and the passes that let others
//! in serve all of them. Every training set is centred and scaled with its own moments, so nothing of a held-out row reaches
//! the model that is judged on it.

use std::ops::ControlFlow;
use std::time::Instant;

use super::Bounds;
use super::fold_fits::{Fit, Problem};
use super::folds::Folds;
use super::path::null_and_rest;
use super::sample::Preparation;
use super::scores::{Choice, Fitted, FoldModel, Score, Validated, predictions};
use crate::error::{Error, check_length, check_option};
use crate::loss::Split;
use crate::objective::check_magnitudes;
use crate::operator::{ColumnMoments, LinearOperator};
use crate::search::GoOn;
use crate::set::CoordinateSet;
use crate::space::SparseVec;

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

    /// The same with somebody who is asked now and then whether to go on, with the number of sizes that are done in every
    /// fold, of each ridge where there are bounds. After a break those that are done remain: at least one.
    pub fn poll<'a>(&'a self, poll: &'a mut GoOn<'a>) -> Polled<'a> {
        Polled { options: self, poll }
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

/// A cross-validation that may be stopped: [`CrossValidation::poll`].
#[must_use = "nothing is validated until it is run"]
pub struct Polled<'a> {
    options: &'a CrossValidation,
    poll: &'a mut GoOn<'a>,
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
        let (fits, passes, complete) =
            if rest.is_empty() { (Vec::new(), 0, true) } else { problem.fits(null, poll)? };
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
}

/// What the rows of a loss weigh together.
pub(super) fn weight<L: Split>(loss: &L) -> f64 {
    loss.weights().map_or(loss.n_outputs() as f64, |weights| weights.iter().sum())
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
