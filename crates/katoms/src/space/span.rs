//! The subspaces of matrices: what a low-rank point spans, and where a step from it may move.

use super::basis::{extended, extends};
use super::{LowRank, Point, Subspace};
use crate::linalg::Matrix;

/// {U·M·Vᵀ}: what the atoms of a low-rank matrix span.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    left: Matrix,
    right: Matrix,
}

/// {U·Aᵀ + B·Vᵀ}: the tangent space of the matrices of rank k at a point whose spaces are U and V.
///
/// U and V are the leading directions of larger bases, those of the extrapolated point. The
/// restricted gradient extends these bases, so that adding it to that point factors nothing.
#[derive(Debug, Clone)]
pub struct TangentSpace {
    bases: Span,
    leading: usize,
}

impl Span {
    /// The span of two orthonormal bases.
    pub(super) fn new(left: Matrix, right: Matrix) -> Self {
        Self { left, right }
    }

    /// The basis of the column space.
    pub fn left(&self) -> &Matrix {
        &self.left
    }

    /// The basis of the row space.
    pub fn right(&self) -> &Matrix {
        &self.right
    }

    /// The span of the `count` leading directions on each side. In a combination a·x + b·y these
    /// are the directions of x.
    pub fn leading(&self, count: usize) -> Self {
        let first = |basis: &Matrix| basis.leading_columns(count.min(basis.columns()));
        Self { left: first(&self.left), right: first(&self.right) }
    }

    /// The tangent space at a point whose spaces are the `leading` directions of this span.
    pub fn tangent(&self, leading: usize) -> TangentSpace {
        TangentSpace { bases: self.clone(), leading }
    }

    /// The span of this and of further left and right directions.
    pub fn extended(&self, left: &Matrix, right: &Matrix) -> Self {
        let (left, right) = rayon::join(|| extended(&self.left, left), || extended(&self.right, right));
        Self { left, right }
    }
}

impl TangentSpace {
    /// U.
    pub fn left(&self) -> Matrix {
        self.bases.leading(self.leading).left
    }

    /// V.
    pub fn right(&self) -> Matrix {
        self.bases.leading(self.leading).right
    }

    /// The projection U·UᵀM + M·VVᵀ − U·UᵀM·VVᵀ of a matrix M given by `mv` = M·V and
    /// `mtu` = Mᵀ·U.
    pub(crate) fn project(&self, mv: &Matrix, mtu: &Matrix) -> LowRank {
        let Span { left, right } = self.bases.extended(mv, mtu);
        let (by_columns, by_rows) = rayon::join(|| left.transposed_times(mv), || right.transposed_times(mtu));
        // The columns of the core that belong to V are M·V, its rows that belong to U are UᵀM, and
        // what lies outside both is zero: that is the tangent space.
        let core = Matrix::from_fn(left.columns(), right.columns(), |i, j| match (i, j) {
            (i, j) if j < by_columns.columns() => by_columns.at(i, j),
            (i, j) if i < by_rows.columns() => by_rows.at(j, i),
            _ => 0.0,
        });
        LowRank::from_bases(left, core, right)
    }
}

impl Subspace<LowRank> for Span {
    fn dimension(&self) -> usize {
        self.left.columns() * self.right.columns()
    }
    fn basis(&self, i: usize) -> LowRank {
        let mut coordinates = vec![0.0; self.dimension()];
        coordinates[i] = 1.0;
        self.point(&coordinates)
    }
    fn point(&self, coordinates: &[f64]) -> LowRank {
        let core = Matrix::from_columns(self.left.columns(), self.right.columns(), coordinates.to_vec());
        LowRank::from_bases(self.left.clone(), core, self.right.clone())
    }
    fn coordinates(&self, x: &LowRank) -> Vec<f64> {
        x.on(self).core().data().to_vec()
    }
    /// The number of column directions that were not there before, each weighted by the square
    /// of the sine of its angle, rounded.
    fn entered_since(&self, before: &Self) -> usize {
        if extends(&self.left, &before.left) {
            return self.left.columns() - before.left.columns();
        }
        let inside = before.left.transposed_times(&self.left).norm().powi(2);
        (self.left.columns() as f64 - inside).max(0.0).round() as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tangent_projection_is_the_formula() {
        let some = |rows: usize, columns: usize, seed: usize| {
            Matrix::from_fn(rows, columns, |i, j| ((i * 13 + j * 29 + seed * 5 + 3) % 17) as f64 - 8.0)
        };
        let (x, m) = (LowRank::from_factors(&some(8, 2, 0), &some(6, 2, 4)).unwrap(), some(8, 6, 3));
        let (u, v) = (x.left(), x.right());
        let found = x.support().tangent(2).project(&m.times(v), &m.transposed_times(u));
        let dense = found.left().times(found.core()).times_transposed(found.right());
        let uum = u.times(&u.transposed_times(&m));
        let mvv = m.times(v).times_transposed(v);
        let uumvv = u.times(&u.transposed_times(&mvv));
        let formula = uum.plus(1.0, &mvv).plus(-1.0, &uumvv);
        assert!(dense.plus(-1.0, &formula).norm() < 1e-11 * m.norm());
    }
}
