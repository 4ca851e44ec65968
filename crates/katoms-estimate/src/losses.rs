//! The losses that a job may have.

use katoms::Error;
use katoms::loss::{AnyLoss, LeastSquares, Logistic};

/// Least squares, of weighted rows where there are weights.
///
/// # Errors
/// When a value is not finite, or weights do not fit the target.
pub fn squares(target: Vec<f64>, weights: Option<Vec<f64>>) -> Result<AnyLoss, Error> {
    let loss = LeastSquares::new(target)?;
    Ok(match weights {
        Some(weights) => loss.weighted(weights)?.into(),
        None => loss.into(),
    })
}

/// The logistic loss of classes 0 and 1, of weighted rows where there are weights.
///
/// # Errors
/// When there are other classes, or weights do not fit the target.
pub fn logistic(target: Vec<f64>, weights: Option<Vec<f64>>) -> Result<AnyLoss, Error> {
    let loss = Logistic::new(target)?;
    Ok(match weights {
        Some(weights) => loss.weighted(weights)?.into(),
        None => loss.into(),
    })
}
