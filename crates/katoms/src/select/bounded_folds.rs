//! Cross-validation within bounds: a path for each training set, all of them size by size.
//!
//! Each training set has its own centres, scales and bounds on its own scale, so nothing of a held-out row reaches the
//! model that is judged on it.

use super::Bounds;
use super::bounded::Growing;
use super::cross_validation::weight;
use super::fold_fits::{Fit, Fits, Problem};
use super::sample::{Preparation, Sample};
use super::scores::Choice;
use crate::error::{Error, check_option};
use crate::loss::Split;
use crate::operator::{ColumnMoments, LinearOperator};
use crate::search::GoOn;
use crate::set::CoordinateSet;
use crate::space::SparseVec;

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
        let sides: Vec<Option<usize>> = [None].into_iter().chain((0..folds.count()).map(Some)).collect();
        let losses = sides.iter().map(|&out| loss.subset(&rows(out))).collect::<Result<Vec<_>, _>>()?;
        let (samples, reads) = preparation.samples(design, &losses, sides.iter().map(|&out| rows(out)).collect())?;
        let scaled =
            samples.iter().map(|sample| Sample::scaled_bounds(sample, bounds)).collect::<Result<Vec<_>, _>>()?;
        let most = options.sizes.last().copied().unwrap_or(1);
        let set = preparation.set(&set.with_atoms(most)?, loss)?;
        let mut fits: Fits = (Vec::new(), reads, true);
        for (at, &ridge) in options.ridges.iter().enumerate() {
            let objective = |(sample, loss): (_, &L)| {
                let share = ridge * weight(loss) / weight(&losses[0]);
                let loss = loss.subset(&(0..loss.n_rows()).collect::<Vec<_>>())?;
                Preparation { ridge: share, ..preparation }.objective_on(sample, design.domain(), loss)
            };
            let objectives = samples.iter().zip(&losses).map(objective).collect::<Result<Vec<_>, Error>>()?;
            let paths = objectives.iter().zip(&scaled).map(|(f, bounds)| Growing::new(f, &set, bounds));
            let mut paths = paths.collect::<Result<Vec<_>, Error>>()?;
            // Size by size, so that a size that is there is there for all training sets.
            for (place, &atoms) in options.sizes.iter().enumerate() {
                for ((path, sample), &left_out) in paths.iter_mut().zip(&samples).zip(&sides) {
                    let (coefficients, intercepts) = sample.to_original(path.model(atoms)?.0.x.point());
                    let choice = Choice { atoms, ridge, shrinkage: 0.0 };
                    // Units there and back may cost a last bit.
                    fits.0.push(Fit { left_out, choice, coefficients: bounds.nearest(&coefficients), intercepts });
                }
                let done = at * options.sizes.len() + place + 1;
                if go_on(done).is_break() && done < options.ridges.len() * options.sizes.len() {
                    fits.2 = false;
                    break;
                }
            }
            fits.1 += objectives.iter().map(|f| f.cost().passes).sum::<usize>();
            if !fits.2 {
                break;
            }
        }
        Ok(fits)
    }
}
