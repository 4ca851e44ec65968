//! Cross-validation within bounds: a path for each training set, all of them size by size.
//!
//! Each training set has its own centres, scales and bounds on its own scale, so nothing of a held-out row reaches the
//! model that is judged on it.

use super::Bounds;
use super::bounded_climber::Climber;
use super::cross_validation::weight;
use super::fold_fits::{Fit, Fits, Problem};
use super::path::plain_path;
use super::sample::{Preparation, Sample};
use super::scores::Choice;
use crate::error::{Error, check_option};
use crate::loss::Split;
use crate::objective::Objective;
use crate::operator::{ColumnMoments, LinearOperator};
use crate::search::GoOn;
use crate::set::{Always, CoordinateSet};
use crate::space::SparseVec;

/// The rows that a fold leaves, made ready: the sample, its loss, its bounds.
struct Side<'a, A, L> {
    left_out: Option<usize>,
    sample: &'a Sample<'a, A>,
    loss: &'a L,
    bounds: Bounds,
}

impl<'a, A, L> Side<'a, A, L>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>> + ColumnMoments,
    L: Split,
{
    fn objective(&self, preparation: &Preparation) -> Result<Objective<&'a Sample<'a, A>, L>, Error> {
        let everything: Vec<usize> = (0..self.sample.n_outputs()).collect();
        let columns = self.sample.domain() - usize::from(preparation.intercept);
        preparation.objective_on(self.sample, columns, self.loss.subset(&everything)?)
    }
}

impl<A, L, S> Problem<'_, A, L, S>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>> + ColumnMoments,
    L: Split,
    S: CoordinateSet,
{
    /// Every training set's path within the bounds, which are in the units of the design.
    pub(super) fn within(&self, bounds: &Bounds, go_on: &mut GoOn<'_>) -> Result<Fits, Error> {
        let Self { design, loss, set, folds, options } = *self;
        for &shrinkage in &options.shrinkages {
            check_option("shrinkage", shrinkage, "it must be 0 alone, where there are bounds", |v| v == 0.0)?;
        }
        let preparation = options.preparation(0.0);
        let all: Vec<usize> = (0..design.n_outputs()).collect();
        let rows = |left_out: Option<usize>| left_out.map_or_else(|| all.clone(), |fold| folds.training(fold));
        let out: Vec<Option<usize>> = [None].into_iter().chain((0..folds.count()).map(Some)).collect();
        let losses = out.iter().map(|&out| loss.subset(&rows(out))).collect::<Result<Vec<_>, _>>()?;
        let (samples, reads) = preparation.samples(design, &losses, out.iter().map(|&out| rows(out)).collect())?;
        let side = |((&left_out, sample), loss)| {
            Ok(Side { left_out, sample, loss, bounds: Sample::scaled_bounds(sample, bounds)? })
        };
        let sides: Vec<Side<'_, A, L>> =
            out.iter().zip(&samples).zip(&losses).map(side).collect::<Result<_, Error>>()?;
        let most = options.sizes.last().copied().unwrap_or(1);
        let set = preparation.set(&set.with_atoms(most)?)?;
        let mut fits: Fits = (Vec::new(), reads, true);
        for (at, &ridge) in options.ridges.iter().enumerate() {
            let share = |side: &Side<'_, A, L>| ridge * weight(side.loss) / weight(&losses[0]);
            let objective = |side| Side::objective(side, &Preparation { ridge: share(side), ..preparation });
            let objectives = sides.iter().map(objective).collect::<Result<Vec<_>, Error>>()?;
            let paths = Paths { sides: &sides, objectives: &objectives, set: &set, bounds, ridge };
            fits.2 &= paths.walk(&options.sizes, at * options.sizes.len(), &mut fits.0, go_on)?;
            fits.1 += objectives.iter().map(|f| f.cost().passes).sum::<usize>();
            if !fits.2 {
                break;
            }
        }
        Ok(fits)
    }
}

/// The paths of all training sets under one ridge.
struct Paths<'a, A, L, S>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
{
    sides: &'a [Side<'a, A, L>],
    objectives: &'a [Objective<&'a Sample<'a, A>, L>],
    set: &'a Always<S>,
    bounds: &'a Bounds,
    ridge: f64,
}

impl<A, L, S> Paths<'_, A, L, S>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>> + ColumnMoments,
    L: Split,
    S: CoordinateSet,
{
    /// Size by size, so that a size that is there is there for all training sets. Whether it came to the end.
    fn walk(&self, sizes: &[usize], before: usize, fits: &mut Vec<Fit>, go_on: &mut GoOn<'_>) -> Result<bool, Error> {
        let both = self.sides.iter().zip(self.objectives);
        let mut climbers =
            both.map(|(side, f)| Climber::new(f, self.set, &side.bounds)).collect::<Result<Vec<_>, Error>>()?;
        for (climber, f) in climbers.iter_mut().zip(self.objectives) {
            // What is found without bounds is another beginning.
            for model in plain_path(f, self.set, sizes, &mut |_| go_on(before))?.models {
                climber.rival(model.atoms, self.set, model.point);
            }
        }
        for (place, &atoms) in sizes.iter().enumerate() {
            let done = before + place;
            let mut found = Vec::new();
            for (climber, side) in climbers.iter_mut().zip(self.sides) {
                // The first size is always there: without one there is nothing to tell.
                let reached = climber
                    .climb(atoms, &mut |_| if done > 0 { go_on(done) } else { std::ops::ControlFlow::Continue(()) });
                if !reached.whole {
                    return Ok(false);
                }
                let (coefficients, intercept) = side.sample.to_original(reached.model.x.point());
                let choice = Choice { atoms, ridge: self.ridge, shrinkage: 0.0 };
                // Units there and back may cost a last bit.
                let coefficients = self.bounds.nearest(&coefficients);
                found.push(Fit { left_out: side.left_out, choice, coefficients, intercept });
            }
            fits.extend(found);
            if go_on(done + 1).is_break() {
                return Ok(place + 1 == sizes.len());
            }
        }
        Ok(true)
    }
}
