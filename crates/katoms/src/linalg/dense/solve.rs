//! Small symmetric systems: Cholesky, and a least-norm answer where Cholesky fails.

use super::Matrix;
use super::cholesky::Cholesky;
use crate::linalg::parallel;

/// Below this share of the largest eigenvalue a direction counts as missing.
const RANK_TOLERANCE: f64 = 1e-12;

/// Solves G·x = b for a symmetric positive semidefinite G. O(n³).
///
/// Duplicated or constant columns make a Gram matrix singular; then the answer is the one of
/// least norm, so that duplicates share the weight and nothing blows up. G is brought to a diagonal of
/// ones first: the scale of a column decides nothing.
///
/// # Panics
/// When `b` is not as long as G is wide.
pub fn solve_symmetric(g: &Matrix, b: &[f64]) -> Vec<f64> {
    SymmetricSystem::new(g).solve(b)
}

/// The same for many b, which share the factorisation.
pub(crate) struct SymmetricSystem {
    scales: Vec<f64>,
    factors: Factors,
}

enum Factors {
    Cholesky(Cholesky),
    /// G itself, with a diagonal of ones, where a pivot says that the columns are dependent.
    Whole(Matrix),
}

impl SymmetricSystem {
    pub(crate) fn new(g: &Matrix) -> Self {
        let scale = |j: usize| if g.at(j, j) > 0.0 { 1.0 / g.at(j, j).sqrt() } else { 1.0 };
        let scales: Vec<f64> = (0..g.columns()).map(scale).collect();
        let unit = || {
            let mut unit = Matrix::zeros(g.rows(), g.columns());
            parallel::columns_mut(unit.data_mut(), g.rows(), &|j, column| {
                let pairs = g.column(j).iter().zip(&scales);
                column.iter_mut().zip(pairs).for_each(|(unit, (v, scale))| *unit = scale * v * scales[j]);
            });
            unit
        };
        // Of columns of zeros the diagonal is 0, and no pivot is above that.
        let sound = |cholesky: &Cholesky| cholesky.pivots().all(|pivot| pivot.powi(2) > RANK_TOLERANCE);
        let cholesky = Cholesky::new(unit()).filter(sound);
        let factors = cholesky.map_or_else(|| Factors::Whole(unit()), Factors::Cholesky);
        Self { scales, factors }
    }

    /// O(n²), or O(n³) where the columns are dependent.
    pub(crate) fn solve(&self, b: &[f64]) -> Vec<f64> {
        assert_eq!(b.len(), self.scales.len(), "as many values as G is wide");
        let right: Vec<f64> = b.iter().zip(&self.scales).map(|(b, s)| b * s).collect();
        let x = match &self.factors {
            Factors::Cholesky(cholesky) => cholesky.solve(&right),
            Factors::Whole(unit) => least_norm(unit, right),
        };
        x.iter().zip(&self.scales).map(|(x, s)| x * s).collect()
    }
}

/// G⁻¹ of a symmetric positive definite G; `None` where a pivot falls below this share of its diagonal
/// entry: the columns are dependent. O(n³).
pub fn inverse_symmetric(g: &Matrix, dependent: f64) -> Option<Matrix> {
    let least: Vec<f64> = (0..g.columns()).map(|j| dependent * g.at(j, j)).collect();
    sound_cholesky(g.clone(), &least).map(|cholesky| cholesky.inverse())
}

/// The factor of G; `None` where the square of a pivot is not above what is the least for its column, which means a dependent
/// one.
pub(crate) fn sound_cholesky(g: Matrix, least: &[f64]) -> Option<Cholesky> {
    let sound = |cholesky: &Cholesky| cholesky.pivots().zip(least).all(|(pivot, least)| pivot.powi(2) > *least);
    Cholesky::new(g).filter(sound)
}

fn least_norm(g: &Matrix, b: Vec<f64>) -> Vec<f64> {
    let n = g.columns();
    let Some((values, vectors)) = g.symmetric_eigen() else {
        return vec![0.0; n];
    };
    let cut = RANK_TOLERANCE * values.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    let mut along = vectors.transposed_times(&Matrix::from_columns(n, 1, b));
    for (c, value) in along.column_mut(0).iter_mut().zip(values) {
        *c = if value > cut { *c / value } else { 0.0 };
    }
    vectors.times(&along).data().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solves_a_regular_system() {
        let g = Matrix::from_columns(2, 2, vec![4.0, 1.0, 1.0, 3.0]);
        let x = solve_symmetric(&g, &[1.0, 2.0]);
        assert!((4.0 * x[0] + x[1] - 1.0).abs() < 1e-14);
        assert!((x[0] + 3.0 * x[1] - 2.0).abs() < 1e-14);
    }

    #[test]
    fn duplicated_columns_share_the_weight() {
        let g = Matrix::from_columns(2, 2, vec![1.0; 4]);
        let x = solve_symmetric(&g, &[2.0, 2.0]);
        assert!((x[0] - 1.0).abs() < 1e-12 && (x[1] - 1.0).abs() < 1e-12, "{x:?}");
    }

    #[test]
    fn the_scale_of_a_column_decides_nothing() {
        // columns: a duplicated pair, and one of size 1e-8
        let g = Matrix::from_columns(3, 3, vec![1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1e-16]);
        let x = solve_symmetric(&g, &[2.0, 2.0, 3e-8]);
        assert!((x[2] / 3e8 - 1.0).abs() < 1e-10, "{x:?}");
    }

    #[test]
    fn a_zero_column_gets_no_weight() {
        let g = Matrix::from_columns(2, 2, vec![2.0, 0.0, 0.0, 0.0]);
        let x = solve_symmetric(&g, &[4.0, 0.0]);
        assert!((x[0] - 2.0).abs() < 1e-13);
        assert_eq!(x[1], 0.0);
    }
}
