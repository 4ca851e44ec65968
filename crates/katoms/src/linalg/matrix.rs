//! A dense column-major matrix that can be saved, with its products done by faer.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par, Side};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::registers::cleared;

/// Columns of a symmetric product that are computed together.
const BLOCK: usize = 32;
/// Multiplications below which a second thread costs more than it brings.
const PARALLEL_WORK: usize = 1 << 22;

/// A dense matrix in column-major order: factors, bases and small cores.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Matrix {
    rows: usize,
    columns: usize,
    data: Vec<f64>,
}

impl Matrix {
    /// The zero matrix.
    pub fn zeros(rows: usize, columns: usize) -> Self {
        Self { rows, columns, data: vec![0.0; rows * columns] }
    }

    /// The entries `f(row, column)`.
    pub fn from_fn(rows: usize, columns: usize, f: impl Fn(usize, usize) -> f64) -> Self {
        let data = (0..columns).flat_map(|j| (0..rows).map(move |i| (i, j))).map(|(i, j)| f(i, j));
        Self { rows, columns, data: data.collect() }
    }

    /// A matrix around its column-major entries.
    ///
    /// # Panics
    /// When `data` does not hold `rows·columns` values.
    pub fn from_columns(rows: usize, columns: usize, data: Vec<f64>) -> Self {
        assert_eq!(data.len(), rows * columns, "a {rows}x{columns} matrix needs that many values");
        Self { rows, columns, data }
    }

    pub(crate) fn from_faer(m: MatRef<'_, f64>) -> Self {
        let mut out = Self::zeros(m.nrows(), m.ncols());
        out.faer_mut().copy_from(m);
        out
    }

    pub(crate) fn faer(&self) -> MatRef<'_, f64> {
        MatRef::from_column_major_slice(&self.data, self.rows, self.columns)
    }

    pub(crate) fn faer_mut(&mut self) -> MatMut<'_, f64> {
        MatMut::from_column_major_slice_mut(&mut self.data, self.rows, self.columns)
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The entries, column by column.
    pub fn data(&self) -> &[f64] {
        &self.data
    }

    /// The same, without the matrix. O(1).
    pub fn into_data(self) -> Vec<f64> {
        self.data
    }

    /// One column.
    pub fn column(&self, j: usize) -> &[f64] {
        &self.data[j * self.rows..(j + 1) * self.rows]
    }

    /// One column, to write into.
    pub fn column_mut(&mut self, j: usize) -> &mut [f64] {
        &mut self.data[j * self.rows..(j + 1) * self.rows]
    }

    /// One more column.
    ///
    /// # Panics
    /// When it does not have as many values as there are rows.
    pub fn push_column(&mut self, values: impl Iterator<Item = f64>) {
        self.data.extend(values);
        self.columns += 1;
        assert_eq!(self.data.len(), self.rows * self.columns, "a column has as many values as there are rows");
    }

    /// One entry.
    pub fn at(&self, i: usize, j: usize) -> f64 {
        self.data[i + j * self.rows]
    }

    /// The first `count` columns.
    pub fn leading_columns(&self, count: usize) -> Self {
        Self::from_columns(self.rows, count, self.data[..count * self.rows].to_vec())
    }

    /// The block of `rows × columns` entries whose upper left corner is `(row, column)`.
    pub fn block(&self, row: usize, column: usize, rows: usize, columns: usize) -> Self {
        Self::from_fn(rows, columns, |i, j| self.at(row + i, column + j))
    }

    /// self·b. O(rows·columns·b.columns).
    pub fn times(&self, b: &Self) -> Self {
        product(self.faer(), b.faer())
    }

    /// self·b, written into `out`: column c begins at `c·stride`.
    pub(crate) fn times_into(&self, b: &Self, out: &mut [f64], stride: usize) {
        let out = MatMut::from_column_major_slice_with_stride_mut(out, self.rows, b.columns, stride);
        cleared(|| matmul(out, Accum::Replace, self.faer(), b.faer(), 1.0, Par::Seq));
    }

    /// selfᵀ·b.
    pub fn transposed_times(&self, b: &Self) -> Self {
        product(self.faer().transpose(), b.faer())
    }

    /// selfᵀ times some of its own columns.
    pub fn transposed_times_columns(&self, columns: std::ops::Range<usize>) -> Self {
        product(self.faer().transpose(), self.faer().subcols(columns.start, columns.len()))
    }

    /// selfᵀ·b where that is known to be symmetric: half of it is computed, in blocks of columns that threads share.
    /// The order of its sums does not depend on their number. O(rows·columns²/2).
    pub fn symmetric_product(&self, b: &Self) -> Self {
        let size = self.columns;
        let block = |first: usize| {
            let end = (first + BLOCK).min(size);
            let (left, right) = (self.faer().subcols(0, end), b.faer().subcols(first, end - first));
            (first, product(left.transpose(), right))
        };
        let firsts = (0..size).step_by(BLOCK);
        let blocks: Vec<(usize, Self)> = if self.rows * size * size < PARALLEL_WORK {
            firsts.map(block).collect()
        } else {
            firsts.collect::<Vec<usize>>().into_par_iter().map(block).collect()
        };
        let mut out = Self::zeros(size, size);
        for (first, block) in blocks {
            for j in 0..block.columns {
                let column = &block.column(j)[..=first + j];
                out.column_mut(first + j)[..column.len()].copy_from_slice(column);
                column.iter().enumerate().for_each(|(i, v)| out.data[i * size + first + j] = *v);
            }
        }
        out
    }

    /// self·bᵀ.
    pub fn times_transposed(&self, b: &Self) -> Self {
        product(self.faer(), b.faer().transpose())
    }

    /// selfᵀ.
    pub fn transposed(&self) -> Self {
        Self::from_faer(self.faer().transpose())
    }

    /// self + a·b.
    pub fn plus(&self, a: f64, b: &Self) -> Self {
        let data = self.data.iter().zip(&b.data).map(|(x, y)| x + a * y).collect();
        Self { data, ..*self }
    }

    /// a·self.
    pub fn scaled(&self, a: f64) -> Self {
        Self { data: self.data.iter().map(|x| a * x).collect(), ..*self }
    }

    /// [self b], side by side.
    pub fn beside(&self, b: &Self) -> Self {
        assert_eq!(self.rows, b.rows, "matrices side by side have as many rows");
        let data = [self.data.as_slice(), &b.data].concat();
        Self { rows: self.rows, columns: self.columns + b.columns, data }
    }

    /// Multiplies column j by `factors[j]`.
    pub fn scale_columns(&mut self, factors: &[f64]) {
        for (j, &factor) in factors.iter().enumerate() {
            self.column_mut(j).iter_mut().for_each(|v| *v *= factor);
        }
    }

    /// The Frobenius norm.
    pub fn norm(&self) -> f64 {
        super::norm(&self.data)
    }

    /// The sum of products of the entries.
    pub fn dot(&self, b: &Self) -> f64 {
        super::dot(&self.data, &b.data)
    }

    /// An orthonormal basis of the column space (thin Householder QR). O(rows·columns²).
    pub fn orthonormalized(&self) -> Self {
        Self::from_faer(cleared(|| self.faer().qr().compute_thin_Q()).as_ref())
    }

    /// Eigenvalues of a symmetric matrix in falling order, and their vectors; `None` when it fails on
    /// values that are not finite. O(n³).
    pub fn symmetric_eigen(&self) -> Option<(Vec<f64>, Self)> {
        let eigen = cleared(|| self.faer().self_adjoint_eigen(Side::Lower)).ok()?;
        let values = eigen.S().column_vector().iter().rev().copied().collect();
        Some((values, Self::from_faer(eigen.U().reverse_cols())))
    }

    /// Thin SVD as (U, singular values in falling order, V); `None` when it fails on values
    /// that are not finite.
    pub fn svd(&self) -> Option<(Self, Vec<f64>, Self)> {
        if self.rows == 0 || self.columns == 0 {
            return Some((Self::zeros(self.rows, 0), Vec::new(), Self::zeros(self.columns, 0)));
        }
        let svd = cleared(|| self.faer().thin_svd()).ok()?;
        let values = svd.S().column_vector().iter().copied().collect();
        Some((Self::from_faer(svd.U()), values, Self::from_faer(svd.V())))
    }
}

/// a·b on one thread: the order of its sums must not depend on the number of threads.
fn product(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Matrix {
    let mut out = Matrix::zeros(a.nrows(), b.ncols());
    cleared(|| matmul(out.faer_mut(), Accum::Replace, a, b, 1.0, Par::Seq));
    out
}

impl From<&Mat<f64>> for Matrix {
    fn from(m: &Mat<f64>) -> Self {
        Self::from_faer(m.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_agree_with_their_definition() {
        let a = Matrix::from_fn(4, 3, |i, j| (i * 3 + j) as f64 - 5.0);
        let b = Matrix::from_fn(3, 2, |i, j| (i + 2 * j) as f64);
        let naive = Matrix::from_fn(4, 2, |i, j| (0..3).map(|l| a.at(i, l) * b.at(l, j)).sum());
        assert_eq!(a.times(&b), naive);
        assert_eq!(a.transposed().transposed_times(&b), naive);
        assert_eq!(a.times_transposed(&b.transposed()), naive);
        let mut among_others = vec![0.5; 10];
        a.times_into(&b, &mut among_others, 6);
        assert_eq!(among_others, [naive.column(0), &[0.5; 2], naive.column(1)].concat());
    }

    #[test]
    fn a_symmetric_product_is_the_product_and_has_the_same_bits_at_any_number_of_threads() {
        for (rows, columns) in [(7, 3), (9, 32), (40, 33), (300, 150)] {
            let a = Matrix::from_fn(rows, columns, |i, j| ((i * 31 + j * 17) % 23) as f64 / 7.0 - 1.0);
            let symmetric = a.symmetric_product(&a);
            assert!(symmetric.plus(-1.0, &a.transposed_times(&a)).norm() < 1e-10 * symmetric.norm());
            assert_eq!(symmetric, symmetric.transposed());
            let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
            assert_eq!(alone.install(|| a.symmetric_product(&a)), symmetric);
        }
        assert_eq!(Matrix::zeros(4, 0).symmetric_product(&Matrix::zeros(4, 0)), Matrix::zeros(0, 0));
    }

    #[test]
    fn svd_rebuilds_the_matrix() {
        let a = Matrix::from_fn(5, 3, |i, j| ((i * 7 + j * 3) % 5) as f64 - 1.5);
        let (mut u, s, v) = a.svd().unwrap();
        assert!(s.windows(2).all(|w| w[0] >= w[1]));
        u.scale_columns(&s);
        assert!(u.times_transposed(&v).plus(-1.0, &a).norm() < 1e-13);
    }
}
