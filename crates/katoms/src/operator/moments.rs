//! Means and variances of columns: what standardising needs.

/// Weighted mean and variance of each column.
#[derive(Debug, Clone, PartialEq)]
pub struct Moments {
    /// Σ wᵢ·xᵢⱼ / Σ wᵢ.
    pub means: Vec<f64>,
    /// Σ wᵢ·(xᵢⱼ − meanⱼ)² / Σ wᵢ.
    pub variances: Vec<f64>,
}

/// Operators whose columns have moments. Two reads of the data.
pub trait ColumnMoments {
    /// The moments under the given row weights, which are not negative and not all zero.
    fn moments(&self, weights: &[f64]) -> Moments;
}

impl<A: ColumnMoments> ColumnMoments for &A {
    fn moments(&self, weights: &[f64]) -> Moments {
        (**self).moments(weights)
    }
}
