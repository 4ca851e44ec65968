//! Φᵀr of a column-major design for many residuals in single precision: twice the speed of double, to compare many
//! candidates whose best are then computed again.
//!
//! Row i is added to lane i mod 16 of its column. Every [`CHUNK`] rows the lanes are added to the sum in `f64`. As in
//! double precision, the bits of a result depend on its column and its residual alone.

use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};

use super::Real;
use super::columns::task_width;
use super::streams::{GROUP, STEP, for_each_part, prefetch_step, shape};

/// Partial sums of a column: one AVX-512 register of `f32`, or two of AVX2.
const LANES: usize = 16;
/// Rows of a group of columns that stay in L1.
const STRIP: usize = 512;
/// Rows that are added in single precision.
const CHUNK: usize = 4 * STRIP;
/// Groups of columns that are multiplied by a strip of the residuals while it is in L2.
const BESIDE: usize = 4;
/// Columns of a tile.
const WIDE: usize = 4;

type Lanes = [f32; LANES];

/// [`super::adjoint_columns_block`] with values, residuals and products in single precision.
///
/// The error is about 10⁻⁶ of Σᵢ |data\[i + j·rows\]·r\[i\]|. O(mnq) for q residuals, one read of the data from memory;
/// parallel over blocks of columns.
///
/// # Panics
/// As [`super::adjoint_columns_block`].
pub fn adjoint_columns_block_single<T: Real>(data: &[T], rs: &[&[f64]], outs: &mut [&mut [f64]]) {
    let Some((rows, _)) = shape(data, rs, outs) else { return };
    let residuals = Residuals::new(rs, rows);
    let arch = Arch::new();
    for_each_part(outs, task_width::<T>(rows), |first, outs| {
        arch.dispatch(Singles { data: &data[first * rows..], rows, residuals: residuals.lanes(), outs });
    });
}

/// The residuals as the strips meet them.
struct Residuals {
    values: Vec<f32>,
    /// The first value: a vector never lies across two cache lines.
    start: usize,
}

impl Residuals {
    /// Strip after strip of the rows, and in each residual after residual, filled up to whole lanes.
    fn new(rs: &[&[f64]], rows: usize) -> Self {
        let mut values = vec![0.0; rs.len() * rows.next_multiple_of(LANES) + LANES - 1];
        let start = values.as_ptr().align_offset(size_of::<Lanes>()).min(LANES - 1);
        let mut rest = &mut values[start..];
        for strip in (0..rows).step_by(STRIP) {
            let length = STRIP.min(rows - strip);
            for r in rs {
                let (filled, after) = rest.split_at_mut(length.next_multiple_of(LANES));
                filled.iter_mut().zip(&r[strip..strip + length]).for_each(|(x, &r)| *x = r as f32);
                rest = after;
            }
        }
        Self { values, start }
    }

    fn lanes(&self) -> &[Lanes] {
        self.values[self.start..].as_chunks().0
    }
}

/// The leading columns of column-major `data`, as many as each of `outs` is long.
struct Singles<'a, 'b, T> {
    data: &'a [T],
    rows: usize,
    residuals: &'a [Lanes],
    outs: &'a mut [&'b mut [f64]],
}

/// A strip of a group of columns.
#[repr(align(64))]
struct Strip([[Lanes; STRIP / LANES]; GROUP]);

impl<T: Real> WithSimd for Singles<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        self.outs.iter_mut().for_each(|out| out.fill(0.0));
        let groups = self.outs[0].len().div_ceil(GROUP);
        let mut strip = Strip([[[0.0; LANES]; STRIP / LANES]; GROUP]);
        let mut sums = vec![[[0.0; LANES]; GROUP]; BESIDE.min(groups) * self.outs.len()];
        for first in (0..groups).step_by(BESIDE) {
            self.groups(simd, &mut strip, &mut sums, first..groups.min(first + BESIDE));
        }
    }
}

impl<T: Real> Singles<'_, '_, T> {
    /// Some groups of columns against every residual.
    #[inline(always)]
    fn groups<S: Simd>(&mut self, simd: S, strip: &mut Strip, sums: &mut [[Lanes; GROUP]], groups: Range<usize>) {
        let count = self.outs.len();
        let mut rest = self.residuals;
        for start in (0..self.rows).step_by(STRIP) {
            let length = STRIP.min(self.rows - start);
            if start.is_multiple_of(CHUNK) {
                sums.fill([[0.0; LANES]; GROUP]);
            }
            let (rs, after) = rest.split_at(count * length.div_ceil(LANES));
            rest = after;
            for (group, sums) in groups.clone().zip(sums.chunks_mut(count)) {
                self.load(strip, group, start..start + length);
                multiply(simd, strip, rs, sums);
            }
            if (start + STRIP).is_multiple_of(CHUNK) || start + STRIP >= self.rows {
                for (group, sums) in groups.clone().zip(sums.chunks(count)) {
                    for (sums, out) in sums.iter().zip(&mut *self.outs) {
                        for (lanes, out) in sums.iter().zip(&mut out[group * GROUP..]) {
                            *out += lanes.iter().map(|&x| f64::from(x)).sum::<f64>();
                        }
                    }
                }
            }
        }
    }

    /// Fills the strip with rows of a group; the last group may lack columns, whose sums are not used.
    #[inline(always)]
    fn load(&self, strip: &mut Strip, group: usize, rows: Range<usize>) {
        let columns = GROUP.min(self.outs[0].len() - group * GROUP);
        for c in 0..columns {
            let column = &self.data[(group * GROUP + c) * self.rows..][..self.rows];
            let (x, ends) = column[rows.clone()].as_chunks::<STEP>();
            for (lanes, x) in strip.0[c].iter_mut().zip(x) {
                prefetch_step(std::ptr::from_ref(x).wrapping_add(STRIP / STEP));
                for l in 0..LANES {
                    lanes[l] = x[l].to_f64() as f32;
                }
            }
            if !ends.is_empty() {
                let last = &mut strip.0[c][x.len()];
                *last = [0.0; LANES];
                last.iter_mut().zip(ends).for_each(|(lane, x)| *lane = x.to_f64() as f32);
            }
        }
    }
}

/// `sums[q][c]` += the products of column c of the strip with residual q.
#[inline(always)]
fn multiply<S: Simd>(simd: S, strip: &Strip, rs: &[Lanes], sums: &mut [[Lanes; GROUP]]) {
    let blocks = rs.len() / sums.len();
    let mut q = 0;
    // As many sums as there are registers for.
    if size_of::<S::f32s>() == size_of::<Lanes>() {
        while q + 6 <= sums.len() {
            tiles::<S, 6>(simd, strip, &rs[q * blocks..], &mut sums[q..q + 6], blocks);
            q += 6;
        }
    }
    while q + 2 <= sums.len() {
        tiles::<S, 2>(simd, strip, &rs[q * blocks..], &mut sums[q..q + 2], blocks);
        q += 2;
    }
    if q < sums.len() {
        tiles::<S, 1>(simd, strip, &rs[q * blocks..], &mut sums[q..q + 1], blocks);
    }
}

/// `Q` residuals with all columns of the strip.
#[inline(always)]
fn tiles<S: Simd, const Q: usize>(simd: S, strip: &Strip, rs: &[Lanes], sums: &mut [[Lanes; GROUP]], blocks: usize) {
    let parts = size_of::<Lanes>() / size_of::<S::f32s>();
    let vectors = blocks * parts;
    let mut r: [&[S::f32s]; Q] = [&[]; Q];
    for q in 0..Q {
        r[q] = &S::as_simd_f32s(rs[q * blocks..][..blocks].as_flattened()).0[..vectors];
    }
    for first in (0..GROUP).step_by(WIDE) {
        let mut x: [&[S::f32s]; WIDE] = [&[]; WIDE];
        for c in 0..WIDE {
            x[c] = &S::as_simd_f32s(strip.0[first + c].as_flattened()).0[..vectors];
        }
        for part in 0..parts {
            let mut tile = [[simd.splat_f32s(0.0); WIDE]; Q];
            for q in 0..Q {
                for c in 0..WIDE {
                    tile[q][c] = S::as_simd_f32s(&sums[q][first + c]).0[part];
                }
            }
            let mut v = part;
            while v < vectors {
                for q in 0..Q {
                    for c in 0..WIDE {
                        tile[q][c] = simd.mul_add_e_f32s(x[c][v], r[q][v], tile[q][c]);
                    }
                }
                v += parts;
            }
            for q in 0..Q {
                for c in 0..WIDE {
                    S::as_mut_simd_f32s(&mut sums[q][first + c]).0[part] = tile[q][c];
                }
            }
        }
    }
}
