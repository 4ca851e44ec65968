//! The Cholesky factorisation G = L·Lᵀ, in blocks whose updates are products of matrices, which threads share. The order of
//! its sums does not depend on their number.

use std::ops::Range;

use super::Matrix;
use super::product::{View, add_product};
use crate::linalg::{kernels, parallel};

/// Columns of a block, and of the blocks in it.
const BLOCK: usize = 48;
const NARROW: usize = 8;
/// Rows and columns of a tile.
const TILE: usize = 32;
/// Multiplications below which a second thread costs more than it brings.
const PARALLEL_WORK: usize = 1 << 19;

/// The lower triangular L of a symmetric positive definite matrix.
#[derive(Debug, Clone)]
pub(crate) struct Cholesky {
    l: Matrix,
}

impl Cholesky {
    /// Of the lower half of G; `None` where a pivot is not positive. O(n³/3).
    pub fn new(mut l: Matrix) -> Option<Self> {
        let n = l.columns();
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

    /// L⁻¹. O(n³/6).
    pub fn inverse_factor(&self) -> Matrix {
        let n = self.l.columns();
        let mut x = Matrix::zeros(n, n);
        if n == 0 {
            return x;
        }
        let corners: Vec<Matrix> = parallel::map(n.div_ceil(BLOCK), &|block| self.inverse_corner(block * BLOCK));
        // Columns are a matter of their own: below the corner, rows after rows.
        let one = |block: usize, columns: &mut [f64]| {
            let (left, width) = (block * BLOCK, columns.len() / n);
            for (first, corner) in (left..n).step_by(BLOCK).zip(&corners[block..]) {
                let rows = corner.rows();
                if first == left {
                    columns.chunks_mut(n).enumerate().for_each(|(j, column)| {
                        column[left..][..rows].copy_from_slice(corner.column(j));
                    });
                    continue;
                }
                let mut share = vec![0.0; rows * width];
                let done = first - left;
                let own = View { data: &self.l.data()[left * n + first..], rows, columns: done, down: 1, across: n };
                let above = View { data: &columns[left..], rows: done, columns: width, down: 1, across: n };
                add_product(-1.0, own, above, &mut share, rows);
                corner.times_into(&Matrix::from_columns(rows, width, share), &mut columns[first..], n);
            }
        };
        shared(n * n * n / 6, x.data_mut(), BLOCK * n, &one);
        x
    }

    /// The inverse of the corner of L at the diagonal that begins at a column.
    fn inverse_corner(&self, first: usize) -> Matrix {
        let end = (first + BLOCK).min(self.l.columns());
        let mut own = Matrix::identity(end - first);
        for j in 0..own.columns() {
            for i in j..own.columns() {
                let (head, tail) = own.column_mut(j).split_at_mut(i + 1);
                let column = &self.l.column(first + i)[first + i..end];
                head[i] /= column[0];
                kernels::axpy(-head[i], &column[1..], tail);
            }
        }
        own
    }

    /// G⁻¹. O(n³/2).
    pub fn inverse(&self) -> Matrix {
        let (factor, n) = (self.inverse_factor(), self.l.columns());
        let mut inverse = Matrix::zeros(n, n);
        // The upper half: a column of the factor is zero above the diagonal.
        let one = |block: usize, columns: &mut [f64]| {
            let (first, width) = (block * BLOCK, columns.len() / n);
            let (rows, data) = (n - first, &factor.data()[first..]);
            let left = View { data, rows, columns: first + width, down: 1, across: n };
            let right = View { data: &data[first * n..], rows, columns: width, down: 1, across: n };
            add_product(1.0, left.transposed(), right, columns, n);
        };
        if n > 0 {
            shared(n * n * n / 6, inverse.data_mut(), BLOCK * n, &one);
        }
        mirror(inverse.data_mut(), n);
        inverse
    }
}

/// Makes the lower half that of the upper one, in tiles that stay in the first cache.
fn mirror(a: &mut [f64], n: usize) {
    for left in (0..n).step_by(TILE) {
        for first in (left..n).step_by(TILE) {
            for j in left..n.min(left + TILE) {
                for i in (first..n.min(first + TILE)).filter(|&i| i > j) {
                    a[i + j * n] = a[j + i * n];
                }
            }
        }
    }
}

/// Calls `work(i, chunk)` for each chunk of so many values: on all threads where so many multiplications are worth it.
fn shared(multiplications: usize, values: &mut [f64], length: usize, work: &(dyn Fn(usize, &mut [f64]) + Sync)) {
    if multiplications < PARALLEL_WORK {
        values.chunks_mut(length).enumerate().for_each(|(at, chunk)| work(at, chunk));
    } else {
        parallel::chunks_mut(values, length, work);
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
    let one = |block: usize, columns: &mut [f64]| {
        let column = rest.start + block * BLOCK;
        let below = View { data: &before[column..], rows: n - column, columns: done.len(), down: 1, across: n };
        let own = View { rows: columns.len() / n, ..below };
        add_product(-1.0, below, own.transposed(), &mut columns[column..], n);
    };
    shared((n - done.start) * rest.len() * done.len() / 2, &mut behind[..rest.len() * n], BLOCK * n, &one);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_inverses_and_solutions_are_right_at_every_size() {
        for n in [1, 2, 7, 47, 48, 49, 150, 260] {
            let a = Matrix::from_fn(n + 3, n, |i, j| ((i * 37 + j * 101) as f64 * 0.7).sin());
            let g = a.transposed_times(&a).plus(0.1, &Matrix::identity(n));
            let cholesky = Cholesky::new(g.clone()).unwrap();
            let identity = Matrix::identity(n);
            assert!(cholesky.l.times_transposed(&cholesky.l).plus(-1.0, &g).norm() < 1e-12 * g.norm());
            assert!(cholesky.inverse_factor().times(&cholesky.l).plus(-1.0, &identity).norm() < 1e-10 * n as f64);
            assert!(cholesky.inverse().times(&g).plus(-1.0, &identity).norm() < 1e-9 * n as f64);
            let b: Vec<f64> = (0..n).map(|i| (i as f64).cos()).collect();
            let x = cholesky.solve(&b);
            let error = g.times(&Matrix::from_columns(n, 1, x)).plus(-1.0, &Matrix::from_columns(n, 1, b));
            assert!(error.norm() < 1e-10, "{n}: {}", error.norm());
        }
        let empty = Matrix::zeros(0, 0);
        assert_eq!(Cholesky::new(empty.clone()).unwrap().inverse(), empty);
        assert!(Cholesky::new(Matrix::from_columns(2, 2, vec![1.0, 2.0, 2.0, 1.0])).is_none());
        assert!(Cholesky::new(Matrix::from_columns(1, 1, vec![f64::NAN])).is_none());
    }

    #[test]
    fn the_bits_do_not_depend_on_the_number_of_threads() {
        let a = Matrix::from_fn(300, 260, |i, j| ((i * 37 + j * 101) as f64 * 0.7).sin());
        let g = a.transposed_times(&a).plus(0.1, &Matrix::identity(260));
        let inverse = || Cholesky::new(g.clone()).unwrap().inverse();
        let with = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(inverse);
        assert_eq!(with(1), with(3));
        assert_eq!(with(1), with(1).transposed());
    }
}
