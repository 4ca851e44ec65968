//! Products of dense matrices, each on one thread: tiles of the result stay in registers, and the factors are copied into
//! panels in the order in which the tiles read them.
//!
//! The order in which an entry's terms are added depends on the shapes alone.

// Loops over indices run along several arrays at once, and their lengths are constants.
#![allow(clippy::needless_range_loop)]

use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};

use crate::linalg::kernels::axpy;

/// A matrix as it lies in memory: entry (i, j) is `data[i·down + j·across]`.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub data: &'a [f64],
    pub rows: usize,
    pub columns: usize,
    pub down: usize,
    pub across: usize,
}

impl<'a> View<'a> {
    /// Column-major entries with no gap between the columns.
    pub fn new(data: &'a [f64], rows: usize, columns: usize) -> Self {
        Self { data, rows, columns, down: 1, across: rows }
    }

    pub fn transposed(self) -> Self {
        Self { rows: self.columns, columns: self.rows, down: self.across, across: self.down, ..self }
    }

    fn at(&self, i: usize, j: usize) -> f64 {
        self.data[i * self.down + j * self.across]
    }
}

/// Terms of a sum that are added before the next panels are read: both panels stay in the cache.
const DEPTH: usize = 256;
/// Vectors of a tile, one below the other.
const TALL: usize = 3;
/// Columns of a tile at most.
const WIDE: usize = 8;
/// Rows whose panels stay in L2.
const ROWS: usize = 240;
/// Entries of a column that are added up before the next column is read.
const RUN: usize = 1 << 10;
/// Multiplications below which panels cost more than they bring.
const SMALL: usize = 1 << 10;
/// Rows or columns up to which this is so at any length of the others.
const THIN: usize = 6;
/// The same where both factors can be read along the terms of an entry.
const NARROW: usize = 64;

/// out += factor·a·b, where column j of `out` begins at `j·stride`. O(rows·depth·columns).
pub(crate) fn add_product(factor: f64, a: View<'_>, b: View<'_>, out: &mut [f64], stride: usize) {
    assert_eq!(a.columns, b.rows, "factors fit together");
    if a.rows == 0 || b.columns == 0 || a.columns == 0 {
        return;
    }
    let (rows, depth, columns) = (a.rows, a.columns, b.columns);
    let small = rows * depth * columns <= SMALL;
    if a.down == 1 && (small || rows > THIN && depth.min(columns) <= THIN) {
        return add_columns(factor, a, b, out, stride);
    }
    let product = Product { factor, a, b, out, stride };
    if a.across == 1 && b.down == 1 && (small || rows.min(columns) <= NARROW) {
        return Arch::new().dispatch(Dots(product));
    }
    Arch::new().dispatch(product);
}

/// The product where `a` lies by columns: each column of the result is a sum of these.
fn add_columns(factor: f64, a: View<'_>, b: View<'_>, out: &mut [f64], stride: usize) {
    for top in (0..a.rows).step_by(RUN) {
        let rows = top..(top + RUN).min(a.rows);
        for j in 0..b.columns {
            let out = &mut out[j * stride..][rows.clone()];
            (0..a.columns).for_each(|l| axpy(factor * b.at(l, j), &a.data[l * a.across..][rows.clone()], out));
        }
    }
}

struct Product<'a> {
    factor: f64,
    a: View<'a>,
    b: View<'a>,
    out: &'a mut [f64],
    stride: usize,
}

impl WithSimd for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        // 32 registers hold the sums of 3 x 8 vectors, 16 those of 3 x 4.
        if size_of::<S::f64s>() == 64 { self.tiled::<S, WIDE>(simd) } else { self.tiled::<S, { WIDE / 2 }>(simd) }
    }
}

impl Product<'_> {
    #[inline(always)]
    fn tiled<S: Simd, const W: usize>(mut self, simd: S) {
        let (rows, columns) = (self.a.rows, self.b.columns);
        let tall = TALL * S::F64_LANES;
        let block = (ROWS / tall).max(1) * tall;
        let (mut left, mut right) = (Vec::new(), Vec::new());
        let mut sums = [0.0; WIDE * TALL * 8];
        for first in (0..self.a.columns).step_by(DEPTH) {
            let depth = DEPTH.min(self.a.columns - first);
            pack(self.b.transposed(), 0..columns, first..first + depth, W, self.factor, &mut right);
            for top in (0..rows).step_by(block) {
                let bottom = (top + block).min(rows);
                pack(self.a, top..bottom, first..first + depth, tall, 1.0, &mut left);
                for (q, b) in right.chunks_exact(W * depth).enumerate() {
                    for (p, a) in left.chunks_exact(tall * depth).enumerate() {
                        tile::<S, W>(simd, a, b, &mut sums[..W * tall]);
                        self.store(&sums, tall, (top + p * tall, bottom), (q * W, columns));
                    }
                }
            }
        }
    }

    /// Adds a tile to the result, as far as it lies inside.
    #[inline(always)]
    fn store(&mut self, sums: &[f64], tall: usize, (top, bottom): (usize, usize), (first, end): (usize, usize)) {
        for (j, sums) in (first..end).zip(sums.chunks_exact(tall)) {
            let out = &mut self.out[j * self.stride..][top..bottom];
            out.iter_mut().zip(sums).for_each(|(out, sum)| *out += sum);
        }
    }
}

/// The product where `a` lies by rows and `b` by columns: each entry is a dot product, and a few of them are taken together.
struct Dots<'a>(Product<'a>);

impl WithSimd for Dots<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        // As many sums as the registers hold beside what they are made of.
        if size_of::<S::f64s>() == 64 { self.tiled::<S, 4>(simd) } else { self.tiled::<S, 2>(simd) }
    }
}

impl Dots<'_> {
    #[inline(always)]
    fn tiled<S: Simd, const R: usize>(mut self, simd: S) {
        let (rows, columns) = (self.0.a.rows, self.0.b.columns);
        for first in (0..self.0.a.columns).step_by(RUN) {
            let terms = first..(first + RUN).min(self.0.a.columns);
            let mut q = 0;
            while q < columns {
                let wide = if columns - q < 4 { 1 } else { 4 };
                let mut p = 0;
                while p < rows {
                    let tall = if rows - p < R { 1 } else { R };
                    match (tall, wide) {
                        (1, 1) => self.add::<S, 1, 1>(simd, p, q, &terms),
                        (1, _) => self.add::<S, 1, 4>(simd, p, q, &terms),
                        (_, 1) => self.add::<S, R, 1>(simd, p, q, &terms),
                        _ => self.add::<S, R, 4>(simd, p, q, &terms),
                    }
                    p += tall;
                }
                q += wide;
            }
        }
    }

    /// Adds some terms of the entries of R rows from p on and C columns from q on.
    #[inline(always)]
    fn add<S: Simd, const R: usize, const C: usize>(&mut self, simd: S, p: usize, q: usize, terms: &Range<usize>) {
        let Product { factor, a, b, out, stride } = &mut self.0;
        let (mut left, mut right) = ([&a.data[..0]; R], [&b.data[..0]; C]);
        for r in 0..R {
            left[r] = &a.data[(p + r) * a.down..][terms.clone()];
        }
        for c in 0..C {
            right[c] = &b.data[(q + c) * b.across..][terms.clone()];
        }
        let mut sums = [[0.0; C]; R];
        dots(simd, left, right, &mut sums);
        for c in 0..C {
            for r in 0..R {
                out[(q + c) * *stride + p + r] += *factor * sums[r][c];
            }
        }
    }
}

/// The dot products of each of some vectors with each of some others, all of one length. Plain loops over arrays: what a
/// closure captures does not stay in registers.
#[inline(always)]
fn dots<S: Simd, const R: usize, const C: usize>(simd: S, a: [&[f64]; R], b: [&[f64]; C], out: &mut [[f64; C]; R]) {
    let length = a[0].len();
    let whole = length / S::F64_LANES;
    let (mut left, mut right) = ([S::as_simd_f64s(a[0]).0; R], [S::as_simd_f64s(b[0]).0; C]);
    for r in 0..R {
        left[r] = &S::as_simd_f64s(a[r]).0[..whole];
    }
    for c in 0..C {
        right[c] = &S::as_simd_f64s(b[c]).0[..whole];
    }
    let mut sums = [[simd.splat_f64s(0.0); C]; R];
    for l in 0..whole {
        let mut column = [simd.splat_f64s(0.0); C];
        for c in 0..C {
            column[c] = right[c][l];
        }
        for r in 0..R {
            let row = left[r][l];
            for c in 0..C {
                sums[r][c] = crate::linalg::kernels::fused(simd, row, column[c], sums[r][c]);
            }
        }
    }
    for r in 0..R {
        for c in 0..C {
            out[r][c] = simd.reduce_sum_f64s(sums[r][c]);
        }
    }
    for l in whole * S::F64_LANES..length {
        for r in 0..R {
            for c in 0..C {
                out[r][c] += a[r][l] * b[c][l];
            }
        }
    }
}

/// Rows of a matrix as panels of `height` of them, column after column; the last panel is filled up with zeros.
#[inline(always)]
fn pack(m: View<'_>, rows: Range<usize>, columns: Range<usize>, height: usize, factor: f64, out: &mut Vec<f64>) {
    out.clear();
    out.resize(rows.len().div_ceil(height) * height * columns.len(), 0.0);
    for (top, panel) in rows.clone().step_by(height).zip(out.chunks_exact_mut(height * columns.len())) {
        let inside = height.min(rows.end - top);
        if m.down == 1 {
            for (l, out) in columns.clone().zip(panel.chunks_exact_mut(height)) {
                let from = &m.data[top + l * m.across..][..inside];
                out.iter_mut().zip(from).for_each(|(out, x)| *out = factor * x);
            }
        } else {
            // A few columns at a time, so that what is written stays in L1.
            for (block, out) in panel.chunks_mut(8 * height).enumerate() {
                let (first, some) = (columns.start + 8 * block, out.len() / height);
                for i in 0..inside {
                    let from = &m.data[(top + i) * m.down + first * m.across..];
                    if let (1, Some(from)) = (m.across, from.first_chunk::<8>().filter(|_| some == 8)) {
                        for l in 0..8 {
                            out[l * height + i] = factor * from[l];
                        }
                    } else {
                        (0..some).for_each(|l| out[l * height + i] = factor * from[l * m.across]);
                    }
                }
            }
        }
    }
}

/// The product of two panels, written to `out` column after column.
#[inline(always)]
fn tile<S: Simd, const W: usize>(simd: S, a: &[f64], b: &[f64], out: &mut [f64]) {
    let mut sums = [[simd.splat_f64s(0.0); TALL]; W];
    let a = S::as_simd_f64s(a).0.as_chunks::<TALL>().0;
    let b = b.as_chunks::<W>().0;
    for (a, b) in a.iter().zip(b) {
        for c in 0..W {
            let x = simd.splat_f64s(b[c]);
            for v in 0..TALL {
                sums[c][v] = crate::linalg::kernels::fused(simd, a[v], x, sums[c][v]);
            }
        }
    }
    // Only here do the sums leave their registers.
    let out = S::as_mut_simd_f64s(out).0.as_chunks_mut::<TALL>().0;
    for c in 0..W {
        for v in 0..TALL {
            out[c][v] = sums[c][v];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_every_shape_are_those_of_the_definition() {
        let number = |i: usize| ((i * 7919 + 13) % 1009) as f64 / 512.0 - 1.0;
        for (m, k, n) in [
            (1, 1, 1),
            (3, 5, 2),
            (24, 256, 8),
            (25, 257, 9),
            (61, 300, 17),
            (500, 20, 33),
            (7, 1000, 260),
            (3000, 2, 5),
            (2, 3000, 90),
            (90, 3, 80),
            (20, 720, 20),
            (21, 515, 90),
        ] {
            let (a, b): (Vec<f64>, Vec<f64>) =
                ((0..m * k).map(number).collect(), (0..k * n).map(|i| number(i + 5)).collect());
            let at: Vec<f64> = (0..m * k).map(|i| a[i / k + i % k * m]).collect();
            let bt: Vec<f64> = (0..k * n).map(|i| b[i / n + i % n * k]).collect();
            let (a, at) = (View::new(&a, m, k), View::new(&at, k, m).transposed());
            let (b, bt) = (View::new(&b, k, n), View::new(&bt, n, k).transposed());
            for (a, b) in [(a, b), (at, b), (a, bt), (at, bt)] {
                let mut out = vec![1.0; (m + 2) * n];
                add_product(-2.0, a, b, &mut out, m + 2);
                for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
                    let exact = 1.0 - 2.0 * (0..k).map(|l| a.at(i, l) * b.at(l, j)).sum::<f64>();
                    assert!((out[i + j * (m + 2)] - exact).abs() < 1e-11, "{m}x{k}x{n}: ({i}, {j})");
                }
                assert!((0..n).all(|j| out[m + j * (m + 2)] == 1.0), "what lies between columns is left alone");
            }
        }
    }
}
