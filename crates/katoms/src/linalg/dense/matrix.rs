//! A dense column-major matrix that can be saved.

use pulp::{Arch, Simd, WithSimd};
use serde::{Deserialize, Serialize};

use super::product::{View, add_product};
use super::{orthonormal, qr, spectrum};
use crate::linalg::{self, parallel};

/// Columns of a symmetric product that are computed together.
const BLOCK: usize = 96;
/// Multiplications below which a second thread costs more than it brings.
const PARALLEL_WORK: usize = 1 << 22;
/// Rows, or terms of a sum, up to which a product is made, or a matrix copied, as a whole; those of a part at least, and parts
/// at most: each part of a sum is as large as the result.
const LONG: usize = 4096;
const PART: usize = 1024;
const PARTS: usize = 16;

/// A dense matrix in column-major order: factors, bases and small cores.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
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
        let mut data = Vec::with_capacity(rows * columns);
        (0..columns).for_each(|j| data.extend((0..rows).map(|i| f(i, j))));
        Self { rows, columns, data }
    }

    /// A matrix around its column-major entries.
    ///
    /// # Panics
    /// When `data` does not hold `rows·columns` values.
    pub fn from_columns(rows: usize, columns: usize, data: Vec<f64>) -> Self {
        assert_eq!(data.len(), rows * columns, "a {rows}x{columns} matrix needs that many values");
        Self { rows, columns, data }
    }

    /// The identity.
    pub fn identity(size: usize) -> Self {
        Self::from_fn(size, size, |i, j| f64::from(u8::from(i == j)))
    }

    pub(crate) fn view(&self) -> View<'_> {
        View::new(&self.data, self.rows, self.columns)
    }

    /// Some columns, which follow each other.
    fn some(&self, columns: std::ops::Range<usize>) -> View<'_> {
        View::new(&self.data[columns.start * self.rows..columns.end * self.rows], self.rows, columns.len())
    }

    /// The entries, to write into.
    pub(crate) fn data_mut(&mut self) -> &mut [f64] {
        &mut self.data
    }

    /// As many entries, on all cores where columns are long: see [`LONG`].
    fn filled(&self, fill: &(dyn Fn(usize, &mut [f64]) + Sync)) -> Vec<f64> {
        if self.rows > LONG {
            return parallel::filled(self.data.len(), fill);
        }
        let mut data = vec![0.0; self.data.len()];
        fill(0, &mut data);
        data
    }

    /// A copy of some of the entries, likewise.
    fn copied(&self, entries: &[f64]) -> Vec<f64> {
        if self.rows > LONG { parallel::copied(entries) } else { entries.to_vec() }
    }

    /// These columns, in this order.
    pub(super) fn columns_at(&self, order: &[usize]) -> Self {
        let data = order.iter().flat_map(|&j| self.column(j)).copied().collect();
        Self::from_columns(self.rows, order.len(), data)
    }

    /// Columns p < q become cosine·p − sine·q and sine·p + cosine·q.
    pub(super) fn rotate(&mut self, p: usize, q: usize, cosine: f64, sine: f64) {
        let (head, tail) = self.data.split_at_mut(q * self.rows);
        let (x, y) = (&mut head[p * self.rows..][..self.rows], &mut tail[..self.rows]);
        Arch::new().dispatch(Rotation { x, y, cosine, sine });
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
        Self::from_columns(self.rows, count, self.copied(&self.data[..count * self.rows]))
    }

    /// The block of `rows × columns` entries whose upper left corner is `(row, column)`.
    pub fn block(&self, row: usize, column: usize, rows: usize, columns: usize) -> Self {
        Self::from_fn(rows, columns, |i, j| self.at(row + i, column + j))
    }

    /// self·b. O(rows·columns·b.columns).
    pub fn times(&self, b: &Self) -> Self {
        product(self.view(), b.view())
    }

    /// self·b, written into `out`: column c begins at `c·stride`.
    pub(crate) fn times_into(&self, b: &Self, out: &mut [f64], stride: usize) {
        out.chunks_mut(stride).take(b.columns).for_each(|column| column[..self.rows].fill(0.0));
        add_product(1.0, self.view(), b.view(), out, stride);
    }

    /// selfᵀ·b.
    pub fn transposed_times(&self, b: &Self) -> Self {
        product(self.view().transposed(), b.view())
    }

    /// selfᵀ times some of its own columns.
    pub fn transposed_times_columns(&self, columns: std::ops::Range<usize>) -> Self {
        product(self.view().transposed(), self.some(columns))
    }

    /// selfᵀ·b where that is known to be symmetric: half of it is computed, in blocks of columns that threads share.
    /// The order of its sums does not depend on their number. O(rows·columns²/2).
    pub fn symmetric_product(&self, b: &Self) -> Self {
        let size = self.columns;
        let block = |first: usize| {
            let end = (first + BLOCK).min(size);
            (first, product(self.some(0..end).transposed(), b.some(first..end)))
        };
        let firsts = (0..size).step_by(BLOCK);
        let blocks: Vec<(usize, Self)> = if self.rows * size * size < PARALLEL_WORK {
            firsts.map(block).collect()
        } else {
            parallel::map(firsts.len(), &|at| block(at * BLOCK))
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
        product(self.view(), b.view().transposed())
    }

    /// selfᵀ.
    pub fn transposed(&self) -> Self {
        Self::from_fn(self.columns, self.rows, |i, j| self.at(j, i))
    }

    /// self + a·b.
    pub fn plus(&self, a: f64, b: &Self) -> Self {
        let sum = |first: usize, out: &mut [f64]| {
            let pairs = self.data[first..].iter().zip(&b.data[first..]);
            out.iter_mut().zip(pairs).for_each(|(out, (x, y))| *out = x + a * y);
        };
        Self { data: self.filled(&sum), ..*self }
    }

    /// a·self.
    pub fn scaled(&self, a: f64) -> Self {
        let scale = |first: usize, out: &mut [f64]| {
            out.iter_mut().zip(&self.data[first..]).for_each(|(out, x)| *out = a * x);
        };
        Self { data: self.filled(&scale), ..*self }
    }

    /// [self b], side by side.
    pub fn beside(&self, b: &Self) -> Self {
        assert_eq!(self.rows, b.rows, "matrices side by side have as many rows");
        let both = [&self.data[..], &b.data];
        let data = if self.rows > LONG { parallel::joined(&both) } else { both.concat() };
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
        linalg::norm(&self.data)
    }

    /// The sum of products of the entries.
    pub fn dot(&self, b: &Self) -> f64 {
        linalg::dot(&self.data, &b.data)
    }

    /// An orthonormal basis of the column space. O(rows·columns²).
    pub fn orthonormalized(&self) -> Self {
        orthonormal::basis(self).unwrap_or_else(|| qr::thin_qr(self).0)
    }

    /// Eigenvalues of a symmetric matrix in falling order, and their vectors; `None` when it fails on
    /// values that are not finite. O(n³).
    pub fn symmetric_eigen(&self) -> Option<(Vec<f64>, Self)> {
        spectrum::symmetric_eigen(self)
    }

    /// Thin SVD as (U, singular values in falling order, V); `None` when it fails on values
    /// that are not finite.
    pub fn svd(&self) -> Option<(Self, Vec<f64>, Self)> {
        spectrum::svd(self)
    }
}

impl Clone for Matrix {
    fn clone(&self) -> Self {
        Self { data: self.copied(&self.data), ..*self }
    }
}

struct Rotation<'a> {
    x: &'a mut [f64],
    y: &'a mut [f64],
    cosine: f64,
    sine: f64,
}

impl WithSimd for Rotation<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let (c, s) = (self.cosine, self.sine);
        for (x, y) in self.x.iter_mut().zip(self.y) {
            (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
        }
    }
}

/// a·b. Where that is much work, long columns and long sums are taken in parts: the order of the sums depends on the shapes
/// alone.
fn product(a: View<'_>, b: View<'_>) -> Matrix {
    let alone = |a: View<'_>, b: View<'_>| {
        let mut out = Matrix::zeros(a.rows, b.columns);
        add_product(1.0, a, b, &mut out.data, a.rows);
        out
    };
    if a.rows * a.columns * b.columns < PARALLEL_WORK || a.rows.max(a.columns) <= LONG {
        return alone(a, b);
    }
    let each = |length: usize| PART.max(length.div_ceil(PARTS));
    let parts = |length: usize, part: &(dyn Fn(usize, usize) -> Matrix + Sync)| {
        let each = each(length);
        parallel::map(length.div_ceil(each), &|at| part(at * each, length.min((at + 1) * each)))
    };
    if a.columns > a.rows {
        let parts = parts(a.columns, &|first, end| {
            let left = View { data: &a.data[first * a.across..], columns: end - first, ..a };
            alone(left, View { data: &b.data[first * b.down..], rows: end - first, ..b })
        });
        return parts.iter().skip(1).fold(parts[0].clone(), |sum, part| sum.plus(1.0, part));
    }
    let parts = parts(a.rows, &|first, end| alone(View { data: &a.data[first * a.down..], rows: end - first, ..a }, b));
    let mut out = Matrix::zeros(a.rows, b.columns);
    parallel::chunks_mut(&mut out.data, a.rows, &|j, column| {
        column.chunks_mut(each(a.rows)).zip(&parts).for_each(|(column, part)| column.copy_from_slice(part.column(j)));
    });
    out
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

    /// Long ones are made in parts, which have the same bits at any number of threads.
    #[test]
    fn long_products_agree_with_those_of_their_parts() {
        let some = |rows: usize, columns: usize, seed: usize| {
            Matrix::from_fn(rows, columns, |i, j| ((i * 31 + j * 17 + seed * 7) % 23) as f64 / 7.0 - 1.5)
        };
        let length = PART * PARTS + 1500;
        let (long, small, other) = (some(length, 30, 0), some(30, 40, 1), some(length, 33, 2));
        let all = || (long.times(&small), long.transposed_times(&other), small.transposed_times(&long.transposed()));
        let (tall, gram, wide) = all();
        let naive = |i: usize, j: usize| (0..30).map(|l| long.at(i, l) * small.at(l, j)).sum::<f64>();
        assert!(tall.plus(-1.0, &Matrix::from_fn(length, 40, naive)).norm() < 1e-13 * tall.norm());
        let naive = |i: usize, j: usize| (0..length).map(|l| long.at(l, i) * other.at(l, j)).sum::<f64>();
        assert!(gram.plus(-1.0, &Matrix::from_fn(30, 33, naive)).norm() < 1e-12 * gram.norm());
        assert!(wide.plus(-1.0, &tall.transposed()).norm() < 1e-13 * tall.norm());
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        assert_eq!(alone.install(all), (tall, gram, wide));
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
}
