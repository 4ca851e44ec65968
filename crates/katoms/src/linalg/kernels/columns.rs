//! Φᵀr of a column-major design.

use pulp::{Arch, Simd, WithSimd};

use super::streams::{GROUP, STEP, STRIP, Strip, blocks, fma, for_each_part, prefetch, shape};
use super::{Real, TASK_BYTES};

/// Partial sums of a column: one AVX-512 register of `f64`, or two of AVX2.
pub(super) const LANES: usize = 8;

/// Φᵀr of a column-major design: out\[j\] = Σᵢ data\[i + j·rows\]·r\[i\].
///
/// O(mn), one read of the data; parallel over blocks of columns.
///
/// # Panics
/// If `data` does not hold `r.len()` rows of `out.len()` columns.
pub fn adjoint_columns<T: Real>(data: &[T], r: &[f64], out: &mut [f64]) {
    adjoint_columns_block(data, &[r], &mut [out]);
}

/// [`adjoint_columns`] for several residuals: `outs[q]` has the bits of `rs[q]` alone.
///
/// O(mnq) for q residuals, but one read of the data from memory; parallel over blocks of columns.
///
/// # Panics
/// As [`adjoint_columns`], for each pair; or if `rs` and `outs` differ in length.
pub fn adjoint_columns_block<T: Real>(data: &[T], rs: &[&[f64]], outs: &mut [&mut [f64]]) {
    let Some((rows, _)) = shape(data, rs, outs) else { return };
    let arch = Arch::new();
    let bytes = rows.max(1) * size_of::<T>();
    let width = (TASK_BYTES / bytes).next_multiple_of(GROUP).max(GROUP);
    for_each_part(outs, width, |first, outs| {
        let data = &data[first * rows..];
        arch.dispatch(Columns { data, rs, outs });
    });
}

/// The leading columns of column-major `data`, as many as each of `outs` is long.
pub(super) struct Columns<'a, 'b, T> {
    pub(super) data: &'a [T],
    pub(super) rs: &'a [&'a [f64]],
    pub(super) outs: &'a mut [&'b mut [f64]],
}

impl<T: Real> Columns<'_, '_, T> {
    /// `C` columns, from `first` in steps of `stride`, against every residual.
    #[inline(always)]
    fn group<S: Simd, const C: usize>(&mut self, strip: &mut Strip<C>, first: usize, stride: usize) {
        let rows = self.rs[0].len();
        let mut columns: [&[T]; C] = [&[]; C];
        for c in 0..C {
            columns[c] = &self.data[(first + c * stride) * rows..][..rows];
        }
        let zero = [[0.0; LANES]; C];
        if let ([r], [out]) = (self.rs, &mut *self.outs) {
            let sums = add_rows::<S, T, C, true>(zero, &columns, r);
            for c in 0..C {
                out[first + c * stride] = sum_lanes(sums[c]);
            }
            return;
        }
        let mut sums = vec![zero; self.rs.len()];
        for start in (0..rows).step_by(STRIP) {
            let columns = strip.load(&columns, start);
            for (sums, r) in sums.iter_mut().zip(self.rs) {
                let r = &r[start..][..columns[0].len()];
                *sums = add_rows::<S, f64, C, false>(*sums, &columns, r);
            }
        }
        for (sums, out) in sums.iter().zip(&mut *self.outs) {
            for c in 0..C {
                out[first + c * stride] = sum_lanes(sums[c]);
            }
        }
    }
}

impl<T: Real> WithSimd for Columns<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, _: S) {
        // Column c of a group is `stride` columns after the one before it, and the next group is
        // the next column of each: eight streams that do not end with their columns.
        let columns = self.outs[0].len();
        let stride = columns / GROUP;
        let (mut strip, mut single) = Strip::both();
        for first in 0..stride {
            self.group::<S, GROUP>(&mut strip, first, stride);
        }
        for first in stride * GROUP..columns {
            self.group::<S, 1>(&mut single, first, 1);
        }
    }
}

/// Adds the whole blocks of rows to the lanes of each column. `FAR`: the columns are in memory.
#[inline(always)]
fn add_blocks<S: Simd, T: Real, const C: usize, const FAR: bool>(
    mut sums: [[f64; LANES]; C],
    columns: &[&[T]; C],
    r: &[f64],
) -> [[f64; LANES]; C] {
    let r = r.as_chunks::<STEP>().0;
    let x = blocks(columns, r.len());
    for (b, &r) in r.iter().enumerate() {
        for c in 0..C {
            if FAR {
                prefetch(x[c].as_ptr().wrapping_add(b));
            }
            for half in [0, LANES] {
                for l in 0..LANES {
                    sums[c][l] = fma::<S>(x[c][b][half + l].to_f64(), r[half + l], sums[c][l]);
                }
            }
        }
    }
    sums
}

/// Adds rows to the lanes of each column, the first of them to lane 0.
#[inline(always)]
pub(super) fn add_rows<S: Simd, T: Real, const C: usize, const FAR: bool>(
    sums: [[f64; LANES]; C],
    columns: &[&[T]; C],
    r: &[f64],
) -> [[f64; LANES]; C] {
    let mut sums = add_blocks::<S, T, C, FAR>(sums, columns, r);
    let r = r.as_chunks::<STEP>().1;
    for (sums, column) in sums.iter_mut().zip(columns) {
        let x = column.as_chunks::<STEP>().1;
        for (x, r) in x.chunks(LANES).zip(r.chunks(LANES)) {
            for ((sum, &x), &r) in sums.iter_mut().zip(x).zip(r) {
                *sum = fma::<S>(x.to_f64(), r, *sum);
            }
        }
    }
    sums
}

/// The sum of a column from its partial sums, in halves.
#[inline(always)]
pub(super) fn sum_lanes(lanes: [f64; LANES]) -> f64 {
    // Hidden from the compiler, which else takes the whole column in pairs because this sum ends in pairs.
    let l = std::hint::black_box(lanes);
    ((l[0] + l[4]) + (l[2] + l[6])) + ((l[1] + l[5]) + (l[3] + l[7]))
}
