//! Products of rows that are picked out of two thin factors.

use pulp::{Arch, Simd, WithSimd};

use super::columns::{LANES, sum_lanes};
use super::streams::{GROUP, fma};
use crate::linalg::Matrix;
use crate::linalg::parallel;

/// Rows that one thread fills at a time.
const SHARED_ROWS: usize = 16;

/// The rows of a matrix one after the other, each filled up with zeros to whole lanes.
pub(crate) struct PaddedRows {
    rows: usize,
    blocks: usize,
    data: Vec<[f64; LANES]>,
}

impl PaddedRows {
    pub(crate) fn zeros(rows: usize, columns: usize) -> Self {
        let blocks = columns.div_ceil(LANES).max(1);
        Self { rows, blocks, data: vec![[0.0; LANES]; rows * blocks] }
    }

    pub(crate) fn new(m: &Matrix) -> Self {
        let mut padded = Self::zeros(m.rows(), m.columns());
        for j in 0..m.columns() {
            for (row, &x) in padded.data.chunks_exact_mut(padded.blocks).zip(m.column(j)) {
                row[j / LANES][j % LANES] = x;
            }
        }
        padded
    }

    /// The matrix of the first `columns` columns.
    pub(crate) fn matrix(&self, columns: usize) -> Matrix {
        Matrix::from_fn(self.rows, columns, |i, j| self.data[i * self.blocks + j / LANES][j % LANES])
    }

    #[inline(always)]
    fn row(&self, i: u32) -> &[[f64; LANES]] {
        &self.data[i as usize * self.blocks..][..self.blocks]
    }

    /// Every row, to write into, in parallel: `fill(row, out)`.
    pub(crate) fn fill(&mut self, fill: &(dyn Fn(usize, &mut [[f64; LANES]]) + Sync)) {
        let blocks = self.blocks;
        parallel::chunks_mut(self.data.as_mut_slice(), SHARED_ROWS * blocks.max(1), &|chunk, out| {
            let rows = out.chunks_mut(blocks.max(1)).enumerate();
            rows.for_each(|(row, out)| fill(chunk * SHARED_ROWS + row, out));
        });
    }
}

/// out\[e\] = the dot product of row i of `a` and row j of `b`, where (i, j) is `pairs[e]`.
///
/// O(columns) for each pair, on the calling thread; the bits are those of [`super::dot`].
pub(crate) fn dots(a: &PaddedRows, b: &PaddedRows, pairs: &[(u32, u32)], out: &mut [f64]) {
    assert_eq!(a.blocks, b.blocks, "factors differ in their columns");
    Arch::new().dispatch(Dots { a, b, pairs, out });
}

/// out += Σ value·(row j of `b`) over the terms (j, value), one after the other.
///
/// O(columns) for each term, on the calling thread.
pub(crate) fn add_rows(b: &PaddedRows, terms: &[(u32, f64)], out: &mut [[f64; LANES]]) {
    Arch::new().dispatch(AddRows { b, terms, out });
}

struct Dots<'a> {
    a: &'a PaddedRows,
    b: &'a PaddedRows,
    pairs: &'a [(u32, u32)],
    out: &'a mut [f64],
}

impl WithSimd for Dots<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (out, &(i, j)) in self.out.iter_mut().zip(self.pairs) {
            let mut sums = [0.0; LANES];
            for (x, y) in self.a.row(i).iter().zip(self.b.row(j)) {
                for l in 0..LANES {
                    sums[l] = fma::<S>(x[l], y[l], sums[l]);
                }
            }
            *out = sum_lanes(sums);
        }
    }
}

struct AddRows<'a> {
    b: &'a PaddedRows,
    terms: &'a [(u32, f64)],
    out: &'a mut [[f64; LANES]],
}

impl AddRows<'_> {
    /// `R` terms at once: the sums are read and written once for all of them.
    #[inline(always)]
    fn group<S: Simd, const R: usize>(&mut self, terms: &[(u32, f64); R]) {
        let mut rows: [&[[f64; LANES]]; R] = [&[]; R];
        for s in 0..R {
            rows[s] = &self.b.row(terms[s].0)[..self.out.len()];
        }
        for (b, out) in self.out.iter_mut().enumerate() {
            let mut sums = *out;
            for s in 0..R {
                for l in 0..LANES {
                    sums[l] = fma::<S>(rows[s][b][l], terms[s].1, sums[l]);
                }
            }
            *out = sums;
        }
    }
}

impl WithSimd for AddRows<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, _: S) {
        let (groups, rest) = self.terms.as_chunks::<GROUP>();
        for group in groups {
            self.group::<S, GROUP>(group);
        }
        for &term in rest {
            self.group::<S, 1>(&[term]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::kernels::{axpy, dot};

    #[test]
    fn picked_products_have_the_bits_of_dot_and_axpy() {
        for columns in [0, 1, 7, 8, 9, 60] {
            let m = Matrix::from_fn(19, columns, |i, j| ((i * 31 + j * 17) as f64).sin());
            let (padded, rows) = (PaddedRows::new(&m), m.transposed());
            let pairs: Vec<(u32, u32)> = (0..19).map(|i| (i, i * 7 % 19)).collect();
            let terms: Vec<(u32, f64)> = pairs.iter().map(|&(i, j)| (j, f64::from(i).cos())).collect();
            let mut products = vec![f64::NAN; pairs.len()];
            dots(&padded, &padded, &pairs, &mut products);
            let mut sums = PaddedRows::zeros(1, columns);
            add_rows(&padded, &terms, &mut sums.data);
            let mut expected = vec![0.0; columns];
            for e in 0..pairs.len() {
                let (i, j) = (pairs[e].0 as usize, pairs[e].1 as usize);
                assert_eq!(products[e], dot(rows.column(i), rows.column(j)), "{columns} columns");
                axpy(terms[e].1, rows.column(j), &mut expected);
            }
            assert_eq!(sums.matrix(columns).data(), expected);
            assert_eq!(padded.matrix(columns), m);
        }
    }
}
