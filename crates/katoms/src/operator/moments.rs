//! Means and variances of columns: what standardising needs.

/// Weighted mean and variance of each column.
#[derive(Debug, Clone, PartialEq)]
pub struct Moments {
    /// Σ wᵢ·xᵢⱼ / Σ wᵢ.
    pub means: Vec<f64>,
    /// Σ wᵢ·(xᵢⱼ − meanⱼ)² / Σ wᵢ.
    pub variances: Vec<f64>,
}

/// Mean and variance from an estimate of the mean and the average deviation and squared deviation
/// from it. The estimate's rounding grows with the number of rows; without the correction (Chan,
/// Golub and LeVeque 1983) a long constant column would seem to vary.
pub(super) fn corrected(mean: f64, deviation: f64, square: f64) -> (f64, f64) {
    (mean + deviation, (square - deviation * deviation).max(0.0))
}

/// Whether a column with these moments is constant: rounding leaves it a variance of about (ε·mean)².
pub(crate) fn is_constant(mean: f64, variance: f64) -> bool {
    variance <= (1e-14 * mean).powi(2)
}

/// Operators whose columns have moments. One read of the data, or two.
pub trait ColumnMoments {
    /// The moments under the given row weights, which are not negative and not all zero.
    fn moments(&self, weights: &[f64]) -> Moments;
}

impl<A: ColumnMoments> ColumnMoments for &A {
    fn moments(&self, weights: &[f64]) -> Moments {
        (**self).moments(weights)
    }
}
