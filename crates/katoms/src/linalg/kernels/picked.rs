//! Products with some columns of a design, wherever they are: each asks for the next ones while it reads.
//!
//! The bits do not depend on the number of threads: where sums are taken along the columns, each of them is taken on
//! one thread, and where they are taken across, the columns are added one by one, in the order of the indices.

use pulp::{Arch, Simd, WithSimd};

use super::Real;
use super::columns::{LANES, adjoint_columns, sum_lanes};
use super::streams::{GROUP, STEP, blocks, fma, places, prefetch_line, prefetch_step};
use crate::linalg::parallel;

/// Entries of work below which a second thread costs more than it brings.
const PARALLEL_WORK: usize = 1 << 16;
/// Rows of a task at most: their sums stay in L1.
const TASK_ROWS: usize = 2048;
/// Steps between the one in use and the one asked for.
const AHEAD: usize = 16;

/// Places of a task, of so many: an equal number for each thread, all of them where the `work` is small.
fn share(places: usize, work: usize, at_most: usize) -> usize {
    if work < PARALLEL_WORK {
        return places.max(1);
    }
    let threads = rayon::current_num_threads();
    let tasks = places.div_ceil(at_most).next_multiple_of(threads);
    places.div_ceil(tasks).next_multiple_of(STEP)
}

/// out = Σ value·column over the picked columns of a column-major design, one after the other.
///
/// O(mk) for k columns, one read of them; parallel over blocks of rows.
pub(crate) fn apply_columns<T: Real>(data: &[T], (picked, values): (&[usize], &[f64]), out: &mut [f64]) {
    out.fill(0.0);
    let (arch, rows) = (Arch::new(), out.len());
    let length = share(rows, rows * picked.len(), TASK_ROWS);
    let task = |task: usize, out: &mut [f64]| {
        let places = Places { data, columns: picked, rows, first_row: task * length, length: out.len() };
        arch.dispatch(Apply { places, values, out });
    };
    parallel::chunks_mut(out, length, &task);
}

/// The entries of Φᵀr of the picked columns of a column-major design: the bits are those of [`super::dot`].
///
/// O(mk) for k columns, one read of them; parallel over the columns.
pub(crate) fn adjoint_picked_columns<T: Real>(data: &[T], r: &[f64], picked: &[usize], out: &mut [f64]) {
    let (arch, rows) = (Arch::new(), r.len());
    let width = share(picked.len(), rows * picked.len(), TASK_ROWS);
    parallel::chunks_mut(out, width, &|task, out| {
        let columns = &picked[task * width..][..out.len()];
        let places = Places { data, columns, rows, first_row: 0, length: rows };
        arch.dispatch(Dots { places, r, out });
    });
}

/// [`apply_columns`] of a row-major design: the entries of each row are added one by one, or, where all columns are
/// picked, as by [`super::dot`].
pub(crate) fn apply_rows<T: Real>(data: &[T], columns: usize, x: (&[usize], &[f64]), out: &mut [f64]) {
    if x.0.len() == columns {
        return adjoint_columns(data, x.1, out); // the rows are the columns of the transpose
    }
    let (arch, rows) = (Arch::new(), out.len());
    let length = share(rows, rows * x.0.len(), TASK_ROWS);
    let task = |task: usize, out: &mut [f64]| {
        arch.dispatch(ApplyRows { data: &data[task * length * columns..], columns, x, out });
    };
    parallel::chunks_mut(out, length, &task);
}

/// [`adjoint_picked_columns`] of a row-major design: the bits are those of [`super::adjoint_rows`].
pub(crate) fn adjoint_picked_rows<T: Real>(
    data: &[T],
    r: &[f64],
    (picked, columns): (&[usize], usize),
    out: &mut [f64],
) {
    let arch = Arch::new();
    let width = share(picked.len(), r.len() * picked.len(), TASK_ROWS);
    parallel::chunks_mut(out, width, &|task, out| {
        let picked = &picked[task * width..][..out.len()];
        arch.dispatch(AdjointRows { data, columns, picked, r, out });
    });
}

/// Rows `first_row..first_row + length` of some columns.
struct Places<'a, T> {
    data: &'a [T],
    columns: &'a [usize],
    rows: usize,
    first_row: usize,
    length: usize,
}

impl<'a, T> Places<'a, T> {
    /// `C` columns from the `k`-th picked one on; behind the last it is the last again.
    #[inline(always)]
    fn streams<const C: usize>(&self, k: usize) -> [&'a [T]; C] {
        let mut streams: [&[T]; C] = [&[]; C];
        let places: [usize; C] = places(k, 1, self.columns.len());
        for c in 0..C {
            streams[c] = &self.data[self.columns[places[c]] * self.rows + self.first_row..][..self.length];
        }
        streams
    }

    /// Where the columns begin that follow those of a group; the last ones, if none follow.
    #[inline(always)]
    fn next<const C: usize>(&self, k: usize) -> [*const [T; STEP]; C] {
        let mut next = [std::ptr::null(); C];
        for c in 0..C {
            let column = self.columns[(k + C + c).min(self.columns.len() - 1)];
            next[c] = self.data.as_ptr().wrapping_add(column * self.rows + self.first_row).cast();
        }
        next
    }
}

struct Apply<'a, T> {
    places: Places<'a, T>,
    values: &'a [f64],
    out: &'a mut [f64],
}

impl<T: Real> Apply<'_, T> {
    #[inline(always)]
    fn group<S: Simd, const C: usize>(&mut self, k: usize) {
        let (columns, next) = (self.places.streams::<C>(k), self.places.next::<C>(k));
        let mut v = [0.0; C];
        v.copy_from_slice(&self.values[k..k + C]);
        let (sums, rest) = self.out.as_chunks_mut::<STEP>();
        let x = blocks(&columns, sums.len());
        for (b, sums) in sums.iter_mut().enumerate() {
            let mut sum = *sums; // in registers: a prefetch counts as a write to any memory
            for c in 0..C {
                prefetch_step(next[c].wrapping_add(b));
                let x = T::doubles::<S>(&x[c][b]);
                for l in 0..STEP {
                    sum[l] = fma::<S>(v[c], x[l], sum[l]);
                }
            }
            *sums = sum;
        }
        for c in 0..C {
            for (sum, x) in rest.iter_mut().zip(columns[c].as_chunks::<STEP>().1) {
                *sum = fma::<S>(v[c], x.to_f64(), *sum);
            }
        }
    }
}

impl<T: Real> WithSimd for Apply<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, _: S) {
        let columns = self.values.len();
        let grouped = columns - columns % GROUP;
        for k in (0..grouped).step_by(GROUP) {
            self.group::<S, GROUP>(k);
        }
        for k in grouped..columns {
            self.group::<S, 1>(k);
        }
    }
}

struct Dots<'a, T> {
    places: Places<'a, T>,
    r: &'a [f64],
    out: &'a mut [f64],
}

impl<T: Real> Dots<'_, T> {
    #[inline(always)]
    fn group<S: Simd>(&mut self, k: usize) {
        const C: usize = GROUP;
        let (columns, next) = (self.places.streams::<C>(k), self.places.next::<C>(k));
        let (r, r_rest) = self.r.as_chunks::<STEP>();
        let x = blocks(&columns, r.len());
        let mut own = next;
        for c in 0..C {
            own[c] = x[c].as_ptr();
        }
        let mut sums = [[0.0; LANES]; C];
        for (b, &r_step) in r.iter().enumerate() {
            let (ahead, at) = if b + AHEAD < r.len() { (&own, b + AHEAD) } else { (&next, b + AHEAD - r.len()) };
            for c in 0..C {
                prefetch_step(ahead[c].wrapping_add(at));
                let x = T::doubles::<S>(&x[c][b]);
                for half in [0, LANES] {
                    for l in 0..LANES {
                        sums[c][l] = fma::<S>(x[half + l], r_step[half + l], sums[c][l]);
                    }
                }
            }
        }
        for c in 0..C {
            for (x, r) in columns[c].as_chunks::<STEP>().1.chunks(LANES).zip(r_rest.chunks(LANES)) {
                for ((sum, x), &r) in sums[c].iter_mut().zip(x).zip(r) {
                    *sum = fma::<S>(x.to_f64(), r, *sum);
                }
            }
            if let Some(out) = self.out.get_mut(k + c) {
                *out = sum_lanes(sums[c]);
            }
        }
    }
}

impl<T: Real> WithSimd for Dots<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, _: S) {
        for k in (0..self.out.len()).step_by(GROUP) {
            self.group::<S>(k);
        }
    }
}

/// The leading rows of row-major `data`, as many as `out` is long.
struct ApplyRows<'a, T> {
    data: &'a [T],
    columns: usize,
    x: (&'a [usize], &'a [f64]),
    out: &'a mut [f64],
}

impl<T: Real> ApplyRows<'_, T> {
    /// `R` rows from the `i`-th on, side by side.
    #[inline(always)]
    fn group<S: Simd, const R: usize>(&mut self, i: usize) {
        let mut rows: [&[T]; R] = [&[]; R];
        for s in 0..R {
            rows[s] = &self.data[(i + s) * self.columns..][..self.columns];
        }
        let mut sums = [0.0; R];
        for (&j, &v) in self.x.0.iter().zip(self.x.1) {
            for s in 0..R {
                prefetch_line(rows[s].as_ptr().wrapping_add(R * self.columns + j));
                sums[s] = fma::<S>(v, rows[s][j].to_f64(), sums[s]);
            }
        }
        self.out[i..i + R].copy_from_slice(&sums);
    }
}

impl<T: Real> WithSimd for ApplyRows<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, _: S) {
        let rows = self.out.len();
        let grouped = rows - rows % GROUP;
        for i in (0..grouped).step_by(GROUP) {
            self.group::<S, GROUP>(i);
        }
        for i in grouped..rows {
            self.group::<S, 1>(i);
        }
    }
}

struct AdjointRows<'a, T> {
    data: &'a [T],
    columns: usize,
    picked: &'a [usize],
    r: &'a [f64],
    out: &'a mut [f64],
}

impl<T: Real> WithSimd for AdjointRows<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        self.out.fill(0.0);
        for (row, &r) in self.data.chunks(self.columns).zip(self.r) {
            for (sum, &j) in self.out.iter_mut().zip(self.picked) {
                prefetch_line(row.as_ptr().wrapping_add(GROUP * self.columns + j));
                *sum = fma::<S>(row[j].to_f64(), r, *sum);
            }
        }
    }
}
