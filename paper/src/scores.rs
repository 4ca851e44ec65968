//! How good a sparse model is.

use katoms::linalg::{self, kernels};
use katoms::space::SparseVec;

/// The area under the ROC curve: the share of pairs of a positive and another in which the positive has the larger value;
/// ties count one half. NaN when all or none are positive.
pub fn auc(values: &[f64], positive: impl Fn(usize) -> bool) -> f64 {
    let of = |wanted: bool| {
        let mut of: Vec<f64> = (0..values.len()).filter(|&i| positive(i) == wanted).map(|i| values[i]).collect();
        of.sort_by(f64::total_cmp);
        of
    };
    let (inside, outside) = (of(true), of(false));
    let wins = |v: &f64| {
        let below = outside.partition_point(|o| o < v);
        let not_above = outside.partition_point(|o| o <= v);
        0.5 * (below + not_above) as f64
    };
    inside.iter().map(wins).sum::<f64>() / (inside.len() * outside.len()) as f64
}

/// The same of coordinates ranked by their magnitude, where the planted ones are to stand in front.
pub fn support_auc(found: &SparseVec, truth: &SparseVec) -> f64 {
    let sizes: Vec<f64> = found.to_dense().iter().map(|v| v.abs()).collect();
    auc(&sizes, |i| truth.value_at(i) != 0.0)
}

/// ‖y − Xβ‖² on a column-major design.
pub fn square_error(design: &[f64], y: &[f64], beta: &SparseVec) -> f64 {
    let mut residual = y.to_vec();
    beta.entries().for_each(|(j, c)| kernels::axpy(-c, &design[j * y.len()..][..y.len()], &mut residual));
    linalg::dot(&residual, &residual)
}

/// 1 − ‖y − Xβ‖²/‖y − mean‖² on a column-major design.
pub fn r_squared(design: &[f64], y: &[f64], beta: &SparseVec) -> f64 {
    let mean = y.iter().sum::<f64>() / y.len() as f64;
    let spread: f64 = y.iter().map(|v| (v - mean).powi(2)).sum();
    1.0 - square_error(design, y, beta) / spread
}

/// The logarithm of the likelihood of y under normal noise, whose variance is the most likely one.
pub fn log_likelihood(design: &[f64], y: &[f64], beta: &SparseVec) -> f64 {
    let count = y.len() as f64;
    let variance = square_error(design, y, beta) / count;
    -0.5 * count * ((2.0 * std::f64::consts::PI * variance).ln() + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_area_counts_pairs() {
        let truth = SparseVec::from_dense(&[1.0, 1.0, 0.0, 0.0]);
        let auc = |found: &[f64]| support_auc(&SparseVec::from_dense(found), &truth);
        assert_eq!(auc(&[-3.0, 2.0, 1.0, 0.0]), 1.0);
        assert_eq!(auc(&[0.0; 4]), 0.5);
        assert_eq!(auc(&[2.0, 0.0, 1.0, 0.0]), 0.625);
    }

    #[test]
    fn r_squared_is_one_for_an_exact_fit_and_zero_for_the_mean() {
        let (design, y) = ([1.0, 2.0, 3.0, 1.0, 1.0, 1.0], [2.0, 4.0, 6.0]);
        assert_eq!(r_squared(&design, &y, &SparseVec::from_dense(&[2.0, 0.0])), 1.0);
        assert_eq!(r_squared(&design, &y, &SparseVec::from_dense(&[0.0, 4.0])), 0.0);
    }

    /// Against the density of the normal distribution, row by row.
    #[test]
    fn the_likelihood_is_the_product_of_the_densities() {
        let (design, y) = ([1.0, 2.0, 3.0], [1.0, 2.5, 2.0]);
        let beta = SparseVec::from_dense(&[0.8]);
        let errors: Vec<f64> = y.iter().zip(&design).map(|(y, x)| y - 0.8 * x).collect();
        let variance = errors.iter().map(|e| e * e).sum::<f64>() / 3.0;
        let density = |e: &f64| (-0.5 * e * e / variance).exp() / (2.0 * std::f64::consts::PI * variance).sqrt();
        let expected: f64 = errors.iter().map(|e| density(e).ln()).sum();
        assert!((log_likelihood(&design, &y, &beta) - expected).abs() < 1e-12);
    }
}
