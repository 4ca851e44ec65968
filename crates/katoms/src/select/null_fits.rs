//! The models without atoms in a cross-validation: an intercept where there is one, and the columns that are always in.
//!
//! No atom is looked for, so nothing but the columns that are always in is read.

use super::Bounds;
use super::cross_validation::weight;
use super::fold_fits::{Fit, Problem};
use super::sample::{Preparation, Sample};
use super::scores::Choice;
use crate::error::Error;
use crate::loss::{Split, best_constants};
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
        let kept = Kept::new(self.design, self.set.kept());
        let mut fits = Vec::new();
        for left_out in [None].into_iter().chain((0..self.folds.count()).map(Some)) {
            let all = (0..self.design.n_outputs()).collect();
            let rows = left_out.map_or(all, |fold| self.folds.training(fold));
            for &ridge in &self.options.ridges {
                let (values, intercepts) = self.null_fit(&kept, rows.clone(), ridge)?;
                let coefficients = SparseVec::new(kept.coordinates.dim(), kept.coordinates.indices().to_vec(), values)?;
                let choices = self.options.shrinkages.iter();
                fits.extend(choices.map(|&shrinkage| Fit {
                    left_out,
                    choice: Choice { atoms: 0, ridge, shrinkage },
                    coefficients: coefficients.clone(),
                    intercepts: intercepts.clone(),
                }));
            }
        }
        Ok(fits)
    }

    /// The coefficients of what is always in, fitted to these rows, and the intercept of each output.
    fn null_fit(&self, kept: &Kept, rows: Vec<usize>, ridge: f64) -> Result<(Vec<f64>, Vec<f64>), Error> {
        let training = self.loss.subset(&rows)?;
        if kept.coordinates.dimension() == 0 {
            let constants = if self.options.intercept { best_constants(&training) } else { vec![0.0; self.outputs()] };
            return Ok((Vec::new(), constants));
        }
        let share = ridge * weight(&training) / weight(self.loss);
        let preparation = Preparation { ridge: share, ..self.options.preparation(0.0) };
        let design = Dense::column_major(&kept.values, self.design.n_outputs(), kept.columns.dimension())?;
        let f = preparation.objective(&design, self.loss, rows)?;
        let bounds = self.options.bounds.as_ref().map(|bounds| bounds.of(&kept.all(self.outputs())));
        let (coefficients, intercepts) = f.operator().to_original(&minimum(&f, &kept.places(), bounds.as_ref())?);
        // Units there and back may cost a last bit.
        let within = |j: usize, v: f64| bounds.as_ref().map_or(v, |bounds| bounds.clamped(j, v));
        Ok((kept.places().into_iter().map(|j| within(j, coefficients.value_at(j))).collect(), intercepts))
    }
}

/// What is always in: coordinates, and the columns that they belong to.
struct Kept {
    coordinates: IndexSet,
    columns: IndexSet,
    /// The columns, one after the other.
    values: Vec<f64>,
}

impl Kept {
    /// Reads the columns. O(m) each.
    fn new<A: LinearOperator<Point = SparseVec>>(design: &A, coordinates: IndexSet) -> Self {
        let (m, n) = (design.n_outputs(), design.domain());
        let columns = IndexSet::new(n, coordinates.indices().iter().map(|j| j % n).collect());
        let mut values = vec![0.0; m * columns.dimension()];
        design.fetch(&columns);
        for (place, column) in values.chunks_mut(m.max(1)).enumerate() {
            design.apply(&columns.basis(place), column);
        }
        Self { coordinates, columns, values }
    }

    /// The coordinates of these columns for all outputs, in order.
    fn all(&self, outputs: usize) -> Vec<usize> {
        (0..outputs).flat_map(|c| self.columns.indices().iter().map(move |j| c * self.columns.dim() + j)).collect()
    }

    /// The places of what is always in among them.
    fn places(&self) -> Vec<usize> {
        let (n, width) = (self.columns.dim(), self.columns.dimension());
        let place = |j: &usize| j / n * width + self.columns.indices().partition_point(|column| *column < j % n);
        self.coordinates.indices().iter().map(place).collect()
    }
}

/// The minimum of f over some coordinates and the intercepts, within bounds in the units of the design.
fn minimum<A, L>(
    f: &Objective<Sample<'_, A>, L>,
    coordinates: &[usize],
    bounds: Option<&Bounds>,
) -> Result<SparseVec, Error>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Split,
{
    let coefficients = f.operator().coefficients();
    let support = coordinates.iter().copied().chain(coefficients..f.operator().domain()).collect();
    let bounds = bounds.map(|bounds| f.operator().scaled_bounds(bounds)).transpose()?;
    Ok(null_model(f, &IndexSet::new(f.operator().domain(), support), bounds.as_ref()).into_point())
}
