//! The moments of the columns of many samples at once.

use crate::error::{Error, check_indices};
use crate::loss::Split;
use crate::operator::{ColumnMoments, LinearOperator, Moments, is_constant};
use crate::space::SparseVec;

/// What each row of the design weighs in each sample.
pub(super) fn weightings<L: Split>(all: usize, losses: &[L], rows: &[Vec<usize>]) -> Result<Vec<Vec<f64>>, Error> {
    let one = |(loss, rows): (&L, &Vec<usize>)| {
        check_indices("row", rows, all)?;
        let mut weights = vec![0.0; all];
        for (place, &row) in rows.iter().enumerate() {
            weights[row] += loss.weights().map_or(1.0, |weights| weights[place]);
        }
        Ok(weights)
    };
    losses.iter().zip(rows).map(one).collect()
}

/// A variance that is a smaller share of the squared distance to the centre has lost too many digits.
const LOST: f64 = 1e-6;
/// The share of a squared norm that is rounding.
const ROUNDING: f64 = 1e-13;

/// The moments under many weightings in four reads; `None` for a weighting whose variances lose digits,
/// because it is far from the others. `None` for all where columns are not cheap.
///
/// With c the mean of all, Σw(a − c)² is that of the mean and of the spread about it: mean and spread of
/// a weighting are near those of all, so little cancels.
pub(super) fn moments_of_all<A>(design: &A, weightings: &[Vec<f64>]) -> Option<Vec<Option<Moments>>>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>> + ColumnMoments,
{
    let together: Vec<f64> = (0..design.n_outputs()).map(|i| weightings.iter().map(|w| w[i]).sum()).collect();
    let all = design.moments(&together);
    let views: Vec<&[f64]> = weightings.iter().map(Vec::as_slice).collect();
    let squared_norms = design.squared_norms(&views, Some(&all.means))?;
    let mut sums = vec![design.new_covector(); views.len()];
    design.adjoint_block(&views, &mut sums);
    let one = |((weights, squared_norms), sums): ((&Vec<f64>, Vec<f64>), Vec<f64>)| {
        let total: f64 = weights.iter().sum();
        let column = |j: usize| {
            let (centre, mean) = (all.means[j], sums[j] / total);
            let apart = (mean - centre).powi(2);
            let variance = squared_norms[j] / total - apart;
            if is_constant(centre, all.variances[j]) {
                Some((centre, 0.0))
            } else if variance > LOST * apart {
                Some((mean, variance))
            } else {
                // A column of zeros: what is rare is often not there.
                (sums[j] == 0.0 && variance <= ROUNDING * apart).then_some((0.0, 0.0))
            }
        };
        let (means, variances) = (0..sums.len()).map(column).collect::<Option<Vec<_>>>()?.into_iter().unzip();
        Some(Moments { means, variances })
    };
    Some(weightings.iter().zip(squared_norms).zip(sums).map(one).collect())
}
