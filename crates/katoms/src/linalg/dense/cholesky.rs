//! The Cholesky factorisation G = L·Lᵀ, in blocks whose updates are products of matrices.

use std::ops::Range;

use super::Matrix;
use super::product::{View, add_product};
use crate::linalg::kernels;

/// Columns of a block, and of the blocks in it.
const BLOCK: usize = 48;
const NARROW: usize = 8;

/// The lower triangular L of a symmetric positive definite matrix.
#[derive(Debug, Clone)]
pub(crate) struct Cholesky {
    l: Matrix,
}

impl Cholesky {
    /// Of the lower half of G; `None` where a pivot is not positive. O(n³/3).
    pub fn new(g: &Matrix) -> Option<Self> {
        let (n, mut l) = (g.columns(), g.clone());
        for first in (0..n).step_by(BLOCK) {
            let end = (first + BLOCK).min(n);
            for narrow in (first..end).step_by(NARROW) {
                let last = (narrow + NARROW).min(end);
                (narrow..last).try_for_each(|j| settle(&mut l, narrow, j))?;
                update(&mut l, narrow..last, last..end);
            }
            update(&mut l, first..end, end..n);
        }
        Some(Self { l })
    }

    /// The diagonal of L.
    pub fn pivots(&self) -> impl Iterator<Item = f64> {
        (0..self.l.columns()).map(|j| self.l.at(j, j))
    }

    /// G⁻¹·b. O(n²).
    pub fn solve(&self, b: &[f64]) -> Vec<f64> {
        let mut x = b.to_vec();
        for j in 0..x.len() {
            let (head, tail) = x.split_at_mut(j + 1);
            let column = &self.l.column(j)[j..];
            head[j] /= column[0];
            kernels::axpy(-head[j], &column[1..], tail);
        }
        for j in (0..x.len()).rev() {
            let (head, tail) = x.split_at_mut(j + 1);
            let column = &self.l.column(j)[j..];
            head[j] = (head[j] - kernels::dot(&column[1..], tail)) / column[0];
        }
        x
    }

    /// L⁻¹. O(n³/3).
    pub fn inverse_factor(&self) -> Matrix {
        let n = self.l.columns();
        let mut x = Matrix::zeros(n, n);
        for first in (0..n).step_by(BLOCK) {
            let end = (first + BLOCK).min(n);
            // The rows above are done: their share in these rows, then a triangle of the block's own.
            let (height, mut share) = (end - first, vec![0.0; (end - first) * first]);
            let left = View { data: &self.l.data()[first..], rows: height, columns: first, down: 1, across: n };
            let above = View { data: x.data(), rows: first, columns: first, down: 1, across: n };
            add_product(-1.0, left, above, &mut share, height);
            let mut own = Matrix::identity(height);
            for j in 0..height {
                for i in j..height {
                    let (head, tail) = own.column_mut(j).split_at_mut(i + 1);
                    let column = &self.l.column(first + i)[first + i..end];
                    head[i] /= column[0];
                    kernels::axpy(-head[i], &column[1..], tail);
                }
                x.column_mut(first + j)[first..end].copy_from_slice(own.column(j));
            }
            own.times_into(&Matrix::from_columns(height, first, share), &mut x.data_mut()[first..], n);
        }
        x
    }

    /// G⁻¹. O(n³).
    pub fn inverse(&self) -> Matrix {
        let factor = self.inverse_factor();
        factor.symmetric_product(&factor)
    }
}

/// Column j of L, out of which those before `first` are taken already; `None` where its pivot is not positive.
fn settle(l: &mut Matrix, first: usize, j: usize) -> Option<()> {
    let n = l.columns();
    let (before, rest) = l.data_mut().split_at_mut(j * n);
    let (above, column) = rest[..n].split_at_mut(j);
    for earlier in before[first * n..].chunks_exact(n) {
        kernels::axpy(-earlier[j], &earlier[j..], column);
    }
    if !(column[0] > 0.0) {
        return None;
    }
    let pivot = column[0].sqrt();
    column.iter_mut().for_each(|v| *v /= pivot);
    above.fill(0.0);
    Some(())
}

/// Takes some columns of L out of others behind them, of which the lower half counts.
fn update(l: &mut Matrix, done: Range<usize>, rest: Range<usize>) {
    let n = l.columns();
    let (before, behind) = l.data_mut().split_at_mut(rest.start * n);
    let before = &before[done.start * n..];
    for column in rest.clone().step_by(BLOCK) {
        let width = BLOCK.min(rest.end - column);
        let below = View { data: &before[column..], rows: n - column, columns: done.len(), down: 1, across: n };
        let own = View { rows: width, ..below };
        add_product(-1.0, below, own.transposed(), &mut behind[(column - rest.start) * n + column..], n);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_inverses_and_solutions_are_right_at_every_size() {
        for n in [1, 2, 7, 47, 48, 49, 150] {
            let a = Matrix::from_fn(n + 3, n, |i, j| ((i * 37 + j * 101) as f64 * 0.7).sin());
            let g = a.transposed_times(&a).plus(0.1, &Matrix::identity(n));
            let cholesky = Cholesky::new(&g).unwrap();
            let identity = Matrix::identity(n);
            assert!(cholesky.l.times_transposed(&cholesky.l).plus(-1.0, &g).norm() < 1e-12 * g.norm());
            assert!(cholesky.inverse_factor().times(&cholesky.l).plus(-1.0, &identity).norm() < 1e-10 * n as f64);
            assert!(cholesky.inverse().times(&g).plus(-1.0, &identity).norm() < 1e-9 * n as f64);
            let b: Vec<f64> = (0..n).map(|i| (i as f64).cos()).collect();
            let x = cholesky.solve(&b);
            let error = g.times(&Matrix::from_columns(n, 1, x)).plus(-1.0, &Matrix::from_columns(n, 1, b));
            assert!(error.norm() < 1e-10, "{n}: {}", error.norm());
        }
        assert!(Cholesky::new(&Matrix::from_columns(2, 2, vec![1.0, 2.0, 2.0, 1.0])).is_none());
        assert!(Cholesky::new(&Matrix::from_columns(1, 1, vec![f64::NAN])).is_none());
    }
}
