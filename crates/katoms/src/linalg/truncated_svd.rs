//! The leading singular pairs of a matrix that can only be multiplied.
//!
//! Randomised subspace iteration (Halko, Martinsson, Tropp 2011): a random block is multiplied
//! by M and Mᵀ in turn until its singular values stand still. The matrix is never formed.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal};

use super::Matrix;

/// More directions than asked for: the wanted ones then settle in a few products.
const OVERSAMPLING: usize = 8;

/// A matrix known only by its products.
pub trait Multiply {
    /// (rows, columns).
    fn shape(&self) -> (usize, usize);
    /// M·b.
    fn times(&self, b: &Matrix) -> Matrix;
    /// Mᵀ·b.
    fn transposed_times(&self, b: &Matrix) -> Matrix;
}

impl Multiply for Matrix {
    fn shape(&self) -> (usize, usize) {
        (self.rows(), self.columns())
    }
    fn times(&self, b: &Matrix) -> Matrix {
        Matrix::times(self, b)
    }
    fn transposed_times(&self, b: &Matrix) -> Matrix {
        Matrix::transposed_times(self, b)
    }
}

/// M ≈ left·diag(values)·rightᵀ, with orthonormal columns and falling values.
#[derive(Debug, Clone)]
pub struct TruncatedSvd {
    /// Left singular vectors.
    pub left: Matrix,
    /// Singular values, falling.
    pub values: Vec<f64>,
    /// Right singular vectors.
    pub right: Matrix,
}

/// The `rank` leading singular pairs of `m`, to a relative `tolerance` of each value or after
/// `max_rounds` rounds. A round costs one product with `m` and one with its transpose, each
/// with rank + 8 columns. The random start is the same every time.
pub fn truncated_svd(m: &impl Multiply, rank: usize, tolerance: f64, max_rounds: usize) -> TruncatedSvd {
    let (rows, columns) = m.shape();
    let rank = rank.min(rows).min(columns);
    let width = (rank + OVERSAMPLING).min(rows).min(columns);
    let mut right = random_block(columns, width);
    let mut before: Vec<f64> = Vec::new();
    for round in 1..=max_rounds.max(1) {
        let left = m.times(&right).orthonormalized();
        let image = m.transposed_times(&left);
        let Some((u, values, v)) = image.svd() else { break };
        // image = u·values·vᵀ, so M ≈ left·imageᵀ = (left·v)·values·uᵀ
        if round >= max_rounds || settled(&before, &values, rank, tolerance) {
            return TruncatedSvd {
                left: left.times(&v).leading_columns(rank),
                values: values[..rank].to_vec(),
                right: u.leading_columns(rank),
            };
        }
        right = u;
        before = values;
    }
    // Only reached when a product is not finite: nothing can be said about its directions.
    TruncatedSvd { left: Matrix::zeros(rows, 0), values: Vec::new(), right: Matrix::zeros(columns, 0) }
}

fn settled(before: &[f64], now: &[f64], rank: usize, tolerance: f64) -> bool {
    !before.is_empty() && (0..rank).all(|i| (now[i] - before[i]).abs() <= tolerance * now[i] + f64::EPSILON * now[0])
}

pub(super) fn random_block(rows: usize, columns: usize) -> Matrix {
    let mut rng = ChaCha8Rng::seed_from_u64(0x6b61_746f_6d73);
    let data = (0..rows * columns).map(|_| StandardNormal.sample(&mut rng)).collect();
    Matrix::from_columns(rows, columns, data)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_spectrum(rows: usize, columns: usize, values: &[f64]) -> Matrix {
        let mut u = random_block(rows, values.len()).orthonormalized();
        let v = random_block(columns, values.len() + 1).orthonormalized();
        u.scale_columns(values);
        u.times_transposed(&v.leading_columns(values.len()))
    }

    #[test]
    fn finds_the_leading_pairs() {
        let values: Vec<f64> = (0..30).map(|i| 0.7_f64.powi(i)).collect();
        let m = with_spectrum(60, 45, &values);
        let svd = truncated_svd(&m, 10, 1e-13, 100);
        for (found, true_value) in svd.values.iter().zip(&values) {
            assert!((found - true_value).abs() < 1e-11 * true_value, "{found} {true_value}");
        }
        let mut left = svd.left.clone();
        left.scale_columns(&svd.values);
        let (mut u, s, v) = m.svd().unwrap();
        u.scale_columns(&s);
        let best = u.leading_columns(10).times_transposed(&v.leading_columns(10));
        assert!(left.times_transposed(&svd.right).plus(-1.0, &best).norm() < 1e-5);
    }

    #[test]
    fn a_matrix_smaller_than_the_rank() {
        let m = with_spectrum(3, 5, &[2.0, 1.0]);
        let svd = truncated_svd(&m, 7, 1e-12, 50);
        assert_eq!(svd.values.len(), 3);
        assert!((svd.values[0] - 2.0).abs() < 1e-12);
    }
}
