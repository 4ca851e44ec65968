//! Jobs on many rows that live with workers, as jobs on few.

use std::sync::Arc;

use katoms::Error;
use katoms::loss::AnyLoss;
use katoms::operator::{AnyDesign, Condensed, Grid, Workers};
use katoms::select::Folds;

use crate::response::JobLoss;

/// A design and a loss of few rows that say of every model what all rows say, and the folds of these rows where there are
/// some. `None` where the loss is no single sum of squares, or rows are not many beside the columns: then workers are asked
/// for products as the job goes on. Products of columns, and rows one by one, are not to be had of them.
///
/// # Errors
/// When the workers fail, a value is not finite, or the rows of a fold have no weight.
pub fn condensed(
    (grid, workers): (&Grid, &Arc<dyn Workers>),
    loss: &JobLoss,
    folds: Option<&Folds>,
) -> Result<Option<(AnyDesign<'static>, JobLoss, Option<Folds>)>, Error> {
    let AnyLoss::Squares(squares) = loss.loss() else { return Ok(None) };
    let Some(few) = Condensed::new(grid, workers, squares, folds.map(Folds::labels))? else { return Ok(None) };
    let folds = folds.map(|_| Folds::given(few.labels)).transpose()?;
    Ok(Some((few.design.into(), AnyLoss::from(few.loss).into(), folds)))
}
