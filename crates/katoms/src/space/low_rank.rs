//! A matrix of low rank, kept in factors.

use serde::{Deserialize, Serialize};

use super::basis::{extended, join, padded};
use super::{Point, Span, TangentSpace};
use crate::error::{Error, check_length};
use crate::linalg::{Matrix, Multiply};

/// The least σ_k²/σ_1² for which singular vectors are taken from a Gram matrix: they are then good to
/// ten digits.
const GRAM_SPREAD: f64 = 1e-6;

/// left·core·rightᵀ, where `left` and `right` have orthonormal columns. Never densified.
///
/// Norms are norms of the small core: going through orthonormal bases avoids the cancellation
/// that Gram matrices of the factors suffer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LowRank {
    left: Matrix,
    core: Matrix,
    right: Matrix,
}

impl LowRank {
    /// left·rightᵀ, from factors with as many columns each.
    ///
    /// # Errors
    /// When the factors have different numbers of columns.
    ///
    /// ```
    /// use katoms::linalg::Matrix;
    /// use katoms::space::{LowRank, Point};
    /// let (p, q) = (Matrix::from_fn(4, 1, |i, _| i as f64), Matrix::from_fn(3, 1, |_, _| 2.0));
    /// let x = LowRank::from_factors(&p, &q)?;
    /// assert!((x.entry(3, 2) - 6.0).abs() < 1e-12);
    /// # Ok::<(), katoms::Error>(())
    /// ```
    pub fn from_factors(left: &Matrix, right: &Matrix) -> Result<Self, Error> {
        check_length("right factor", right.columns(), left.columns(), "as many columns as the left factor")?;
        let (u, v) = (extended(&empty(left.rows()), left), extended(&empty(right.rows()), right));
        let core = u.transposed_times(left).times_transposed(&v.transposed_times(right));
        Ok(Self { left: u, core, right: v })
    }

    /// left·core·rightᵀ, where both bases are orthonormal already.
    pub(crate) fn from_bases(left: Matrix, core: Matrix, right: Matrix) -> Self {
        debug_assert_eq!((left.columns(), right.columns()), (core.rows(), core.columns()));
        Self { left, core, right }
    }

    /// The orthonormal basis of the columns.
    pub fn left(&self) -> &Matrix {
        &self.left
    }

    /// The coefficients between the bases.
    pub fn core(&self) -> &Matrix {
        &self.core
    }

    /// The orthonormal basis of the rows.
    pub fn right(&self) -> &Matrix {
        &self.right
    }

    /// The larger of the two bases' sizes: an upper bound on the rank.
    pub fn rank_bound(&self) -> usize {
        self.core.rows().max(self.core.columns())
    }

    /// Singular values in falling order. O(rank³).
    pub fn singular_values(&self) -> Vec<f64> {
        self.core.svd().map_or(Vec::new(), |(_, values, _)| values)
    }

    /// One entry. O(rank²).
    pub fn entry(&self, i: usize, j: usize) -> f64 {
        let row = |b: &Matrix, i: usize| (0..b.columns()).map(|c| b.at(i, c)).collect::<Vec<_>>();
        let (l, r) = (row(&self.left, i), row(&self.right, j));
        (0..r.len()).map(|b| r[b] * crate::linalg::dot(self.core.column(b), &l)).sum()
    }

    /// The best approximation of rank at most `rank`: a small factorisation of the core.
    /// O((p+q)·rank² + rank³).
    pub fn truncated(&self, rank: usize) -> Self {
        let kept = self.leading_by_gram(rank).or_else(|| self.leading_by_svd(rank));
        let Some((u, core, v)) = kept else { return self.clone() };
        let (left, right) = rayon::join(|| self.left.times(&u), || self.right.times(&v));
        Self { left, core, right }
    }

    /// The leading part u·core·vᵀ of the core by its SVD.
    fn leading_by_svd(&self, rank: usize) -> Option<(Matrix, Matrix, Matrix)> {
        let (u, values, v) = self.core.svd()?;
        let kept = rank.min(values.iter().take_while(|&&s| s > f64::EPSILON * values[0]).count());
        let diagonal = |i: usize, j: usize| if i == j { values[i] } else { 0.0 };
        Some((u.leading_columns(kept), Matrix::from_fn(kept, kept, diagonal), v.leading_columns(kept)))
    }

    /// The same by the eigenvectors of coreᵀ·core, at half the price. Squaring costs accuracy where
    /// the singular values spread; `None` there, and where the core is not much larger than wanted.
    fn leading_by_gram(&self, rank: usize) -> Option<(Matrix, Matrix, Matrix)> {
        if rank == 0 || 2 * rank > self.core.columns() || rank > self.core.rows() {
            return None;
        }
        let gram = self.core.transposed_times(&self.core);
        let (values, vectors) = gram.symmetric_eigen()?;
        if !(values[rank - 1] > GRAM_SPREAD * values[0]) {
            return None;
        }
        let v = vectors.leading_columns(rank);
        let image = self.core.times(&v);
        let u = image.orthonormalized();
        let core = u.transposed_times(&image);
        Some((u, core, v))
    }
}

fn empty(rows: usize) -> Matrix {
    Matrix::zeros(rows, 0)
}

/// Products from the right to the left: nothing larger than the factors appears.
impl Multiply for LowRank {
    fn shape(&self) -> (usize, usize) {
        self.domain()
    }
    fn times(&self, b: &Matrix) -> Matrix {
        self.left.times(&self.core.times(&self.right.transposed_times(b)))
    }
    fn transposed_times(&self, b: &Matrix) -> Matrix {
        self.right.times(&self.core.transposed_times(&self.left.transposed_times(b)))
    }
}

impl Point for LowRank {
    type Domain = (usize, usize);
    type Support = Span;
    type Search = TangentSpace;

    fn zero((rows, columns): (usize, usize)) -> Self {
        Self { left: empty(rows), core: Matrix::zeros(0, 0), right: empty(columns) }
    }
    fn domain(&self) -> (usize, usize) {
        (self.left.rows(), self.right.rows())
    }
    fn support(&self) -> Span {
        Span::new(self.left.clone(), self.right.clone())
    }
    fn support_size(&self) -> usize {
        self.left.columns() * self.right.columns()
    }
    fn combine(a: f64, x: &Self, b: f64, y: &Self) -> Self {
        if b == 0.0 {
            return Self { core: x.core.scaled(a), ..x.clone() };
        }
        if a == 0.0 {
            return Self { core: y.core.scaled(b), ..y.clone() };
        }
        let (left, right) = rayon::join(|| join(&x.left, &y.left), || join(&x.right, &y.right));
        let of_y = right.embed(&left.embed(&y.core).transposed()).transposed();
        let core = padded(&x.core, of_y.rows(), of_y.columns()).scaled(a).plus(b, &of_y);
        Self { left: left.basis, core, right: right.basis }
    }
    /// One orthonormal basis for all terms on each side. O((p+q)·rank²), where the rank is the sum of all.
    fn sum((rows, columns): (usize, usize), terms: &[(f64, &Self)]) -> Self {
        let kept: Vec<_> = terms.iter().filter(|(a, x)| *a != 0.0 && x.core.norm() > 0.0).collect();
        let side = |rows: usize, of: fn(&Self) -> &Matrix| {
            let all = kept.iter().flat_map(|(_, x)| of(x).data()).copied().collect::<Vec<f64>>();
            let all = Matrix::from_columns(rows, all.len() / rows.max(1), all);
            let basis = extended(&empty(rows), &all);
            (basis.transposed_times(&all), basis)
        };
        let ((l, left), (r, right)) = rayon::join(|| side(rows, Self::left), || side(columns, Self::right));
        let mut core = Matrix::zeros(left.columns(), right.columns());
        let (mut i, mut j) = (0, 0);
        for (a, x) in kept {
            let (height, width) = (x.core.rows(), x.core.columns());
            let part = l.block(0, i, l.rows(), height).times(&x.core);
            core = core.plus(*a, &part.times_transposed(&r.block(0, j, r.rows(), width)));
            (i, j) = (i + height, j + width);
        }
        Self { left, core, right }
    }
    fn dot(&self, other: &Self) -> f64 {
        let (l, r) = (self.left.transposed_times(&other.left), self.right.transposed_times(&other.right));
        self.core.dot(&l.times(&other.core).times_transposed(&r))
    }
    fn norm(&self) -> f64 {
        self.core.norm()
    }
    fn on(&self, t: &Span) -> Self {
        let (l, r) = (t.left().transposed_times(&self.left), t.right().transposed_times(&self.right));
        Self { left: t.left().clone(), core: l.times(&self.core).times_transposed(&r), right: t.right().clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(rows: usize, columns: usize, rank: usize, seed: usize) -> LowRank {
        let f = |i: usize, j: usize, s: usize| ((i * 13 + j * 29 + s * 5 + 3) % 17) as f64 - 8.0;
        let left = Matrix::from_fn(rows, rank, |i, j| f(i, j, seed));
        let right = Matrix::from_fn(columns, rank, |i, j| f(i, j, seed + 4));
        LowRank::from_factors(&left, &right).unwrap()
    }

    fn dense(x: &LowRank) -> Matrix {
        x.left.times(&x.core).times_transposed(&x.right)
    }

    #[test]
    fn arithmetic_agrees_with_dense_matrices() {
        let (x, y) = (sample(9, 7, 2, 0), sample(9, 7, 3, 1));
        let sum = LowRank::combine(2.0, &x, -0.5, &y);
        let naive = dense(&x).scaled(2.0).plus(-0.5, &dense(&y));
        assert!(dense(&sum).plus(-1.0, &naive).norm() < 1e-11 * naive.norm());
        assert!((sum.norm() - naive.norm()).abs() < 1e-11 * naive.norm());
        let same = LowRank::sum((9, 7), &[(2.0, &x), (0.0, &x), (-0.5, &y)]);
        assert!(dense(&same).plus(-1.0, &naive).norm() < 1e-11 * naive.norm());
        assert_eq!(LowRank::sum((9, 7), &[(0.0, &x)]).rank_bound(), 0);
        assert!((x.dot(&y) - dense(&x).dot(&dense(&y))).abs() < 1e-10 * x.norm() * y.norm());
        assert!((x.entry(4, 3) - dense(&x).at(4, 3)).abs() < 1e-11);
    }

    #[test]
    fn the_distance_of_close_points_does_not_cancel() {
        let x = sample(30, 20, 3, 0);
        let y = LowRank::combine(1.0, &x, 1e-9, &sample(30, 20, 3, 2));
        let expected = 1e-9 * sample(30, 20, 3, 2).norm();
        assert!((x.distance(&y) / expected - 1.0).abs() < 1e-3, "{} {expected}", x.distance(&y));
        assert_eq!(x.distance(&x), 0.0);
    }
}
