//! The models without atoms in a cross-validation: an intercept where there is one, and the columns that are always in.
//!
//! No atom is looked for, so nothing but the columns that are always in is read.

use super::Bounds;
use super::cross_validation::weight;
use super::fold_fits::{Fit, Problem};
use super::sample::{Preparation, Sample};
use super::scores::Choice;
use crate::error::Error;
use crate::loss::{Split, best_constant};
use crate::objective::Objective;
use crate::operator::{ColumnMoments, Dense, LinearOperator};
use crate::search::null_model;
use crate::set::CoordinateSet;
use crate::space::{IndexSet, SparseVec, Subspace};

impl<A, L, S> Problem<'_, A, L, S>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>> + ColumnMoments,
    L: Split,
    S: CoordinateSet,
{
    /// The model without atoms of every training set and of all rows, under every ridge.
    pub(super) fn null_fits(&self) -> Result<Vec<Fit>, Error> {
        let kept = self.set.kept();
        let columns = self.columns(&kept);
        let mut fits = Vec::new();
        for left_out in [None].into_iter().chain((0..self.folds.count()).map(Some)) {
            let all = (0..self.design.n_outputs()).collect();
            let rows = left_out.map_or(all, |fold| self.folds.training(fold));
            for &ridge in &self.options.ridges {
                let (values, intercept) = self.null_fit(&kept, &columns, rows.clone(), ridge)?;
                let coefficients = SparseVec::new(self.design.domain(), kept.indices().to_vec(), values)?;
                let choices = self.options.shrinkages.iter();
                fits.extend(choices.map(|&shrinkage| Fit {
                    left_out,
                    choice: Choice { atoms: 0, ridge, shrinkage },
                    coefficients: coefficients.clone(),
                    intercept,
                }));
            }
        }
        Ok(fits)
    }

    /// Some columns of the design, one after the other. O(m) each.
    fn columns(&self, which: &IndexSet) -> Vec<f64> {
        let rows = self.design.n_outputs();
        let mut columns = vec![0.0; rows * which.dimension()];
        for (place, column) in columns.chunks_mut(rows.max(1)).enumerate() {
            self.design.apply(&which.basis(place), column);
        }
        columns
    }

    /// The coefficients of the columns that are always in, fitted to these rows, and the intercept.
    fn null_fit(
        &self,
        kept: &IndexSet,
        columns: &[f64],
        rows: Vec<usize>,
        ridge: f64,
    ) -> Result<(Vec<f64>, f64), Error> {
        let training = self.loss.subset(&rows)?;
        if kept.dimension() == 0 {
            let constant = if self.options.intercept { best_constant(&training) } else { 0.0 };
            return Ok((Vec::new(), constant));
        }
        let share = ridge * weight(&training) / weight(self.loss);
        let preparation = Preparation { ridge: share, ..self.options.preparation(0.0) };
        let design = Dense::column_major(columns, self.design.n_outputs(), kept.dimension())?;
        let f = preparation.objective(&design, self.loss, rows)?;
        let bounds = self.options.bounds.as_ref().map(|bounds| bounds.of(kept.indices()));
        let (coefficients, intercept) = f.operator().to_original(&minimum(&f, bounds.as_ref())?);
        let values = (0..kept.dimension()).map(|j| coefficients.value_at(j));
        // Units there and back may cost a last bit.
        let within = |(j, v): (usize, f64)| bounds.as_ref().map_or(v, |bounds| bounds.clamped(j, v));
        Ok((values.enumerate().map(within).collect(), intercept))
    }
}

/// The minimum of f over all coordinates, within bounds in the units of the design.
fn minimum<A, L>(f: &Objective<Sample<'_, A>, L>, bounds: Option<&Bounds>) -> Result<SparseVec, Error>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Split,
{
    let dim = f.operator().domain();
    let bounds = bounds.map(|bounds| f.operator().scaled_bounds(bounds)).transpose()?;
    Ok(null_model(f, &IndexSet::new(dim, (0..dim).collect()), bounds.as_ref()).into_point())
}
