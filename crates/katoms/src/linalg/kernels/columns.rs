//! Φᵀr of a column-major design.

use pulp::{Arch, Simd, WithSimd};

use super::streams::{GROUP, STEP, blocks, fma, for_each_part, places, prefetch, shape};
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
    let outs = &mut [out];
    let Some((rows, _)) = shape(data, &[r], outs) else { return };
    let arch = Arch::new();
    for_each_part(outs, task_width::<T>(rows), &|first, outs| {
        let data = &data[first * rows..];
        arch.dispatch(Columns { data, r, out: &mut *outs[0] });
    });
}

/// Columns in one task, about [`TASK_BYTES`] of them.
pub(super) fn task_width<T>(rows: usize) -> usize {
    let bytes = rows.max(1) * size_of::<T>();
    (TASK_BYTES / bytes).next_multiple_of(GROUP).max(GROUP)
}

/// The leading columns of column-major `data`, as many as `out` is long.
pub(super) struct Columns<'a, T> {
    pub(super) data: &'a [T],
    pub(super) r: &'a [f64],
    pub(super) out: &'a mut [f64],
}

impl<T: Real> Columns<'_, T> {
    /// A group of columns, from `first` in steps of `stride`.
    #[inline(always)]
    fn group<S: Simd>(&mut self, first: usize, stride: usize) {
        let (rows, places): (usize, [usize; GROUP]) = (self.r.len(), places(first, stride, self.out.len()));
        let mut columns: [&[T]; GROUP] = [&[]; GROUP];
        for c in 0..GROUP {
            columns[c] = &self.data[places[c] * rows..][..rows];
        }
        let sums = add_rows::<S, T, GROUP>([[0.0; LANES]; GROUP], &columns, self.r);
        for c in 0..GROUP {
            self.out[places[c]] = sum_lanes(sums[c]);
        }
    }
}

impl<T: Real> WithSimd for Columns<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, _: S) {
        // Column c of a group is `stride` columns after the one before it, and the next group is
        // the next column of each: eight streams that do not end with their columns.
        let columns = self.out.len();
        let stride = columns / GROUP;
        for first in 0..stride {
            self.group::<S>(first, stride);
        }
        if stride * GROUP < columns {
            self.group::<S>(stride * GROUP, 1);
        }
    }
}

/// Adds the whole blocks of rows to the lanes of each column. The columns are in memory.
#[inline(always)]
fn add_blocks<S: Simd, T: Real, const C: usize>(
    mut sums: [[f64; LANES]; C],
    columns: &[&[T]; C],
    r: &[f64],
) -> [[f64; LANES]; C] {
    let r = r.as_chunks::<STEP>().0;
    let x = blocks(columns, r.len());
    for (b, &r) in r.iter().enumerate() {
        for c in 0..C {
            prefetch(x[c].as_ptr().wrapping_add(b));
            let x = T::doubles::<S>(&x[c][b]);
            for half in [0, LANES] {
                for l in 0..LANES {
                    sums[c][l] = fma::<S>(x[half + l], r[half + l], sums[c][l]);
                }
            }
        }
    }
    sums
}

/// Adds rows to the lanes of each column, the first of them to lane 0.
#[inline(always)]
pub(super) fn add_rows<S: Simd, T: Real, const C: usize>(
    sums: [[f64; LANES]; C],
    columns: &[&[T]; C],
    r: &[f64],
) -> [[f64; LANES]; C] {
    let sums = add_blocks::<S, T, C>(sums, columns, r);
    add_last_rows::<S, T, C>(sums, columns, r.as_chunks::<STEP>().1)
}

/// Adds the rows after the whole blocks: `r` is the residual there.
#[inline(always)]
pub(super) fn add_last_rows<S: Simd, T: Real, const C: usize>(
    mut sums: [[f64; LANES]; C],
    columns: &[&[T]; C],
    r: &[f64],
) -> [[f64; LANES]; C] {
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
