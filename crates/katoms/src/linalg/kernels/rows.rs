//! Φᵀr of a row-major design.

use pulp::{Arch, Simd, WithSimd};

use super::Real;
use super::streams::{GROUP, STEP, STRIP, Strip, blocks, fma, for_each_part, parts_shape, prefetch, shape};

/// Columns in one task, at most: their sums stay in L2.
pub(super) const ROW_TASK: usize = 4096;

/// Φᵀr of a row-major design: out\[j\] = Σᵢ data\[i·columns + j\]·r\[i\].
///
/// O(mn), one read of the data; parallel over blocks of columns, so that the order of each sum is
/// fixed.
///
/// # Panics
/// If `data` does not hold `r.len()` rows of `out.len()` columns.
pub fn adjoint_rows<T: Real>(data: &[T], r: &[f64], out: &mut [f64]) {
    let outs = &mut [out];
    adjoint_rows_block(data, &[r], outs);
}

/// [`adjoint_rows`] for several residuals: `outs[q]` has the bits of `rs[q]` alone.
///
/// O(mnq) for q residuals, but one read of the data from memory; parallel over blocks of columns.
///
/// # Panics
/// As [`adjoint_rows`], for each pair; or if `rs` and `outs` differ in length.
pub fn adjoint_rows_block<T: Real>(data: &[T], rs: &[&[f64]], outs: &mut [&mut [f64]]) {
    let Some((_, columns)) = shape(data, rs, outs) else { return };
    let arch = Arch::new();
    for_each_part(outs, task_width(columns), &|first, outs| {
        let data = data.get(first..).unwrap_or(&[]); // no rows, no data
        arch.dispatch(Rows { data, columns, picked: None, centres: None, rs, outs });
    });
}

/// [`adjoint_rows_block`] part by part: `outs[p·rs.len() + q]` is that of the rows
/// `order[starts[p]..starts[p + 1]]` and of `rs[q]`.
///
/// O(mnq), one read of the data; parallel over blocks of columns.
pub(crate) fn adjoint_rows_parts<T: Real>(
    data: &[T],
    (order, starts): (&[usize], &[usize]),
    rs: &[&[f64]],
    outs: &mut [&mut [f64]],
) {
    let Some((_, columns)) = parts_shape(data, (order, starts), rs, outs) else { return };
    let arch = Arch::new();
    for_each_part(outs, task_width(columns), &|first, outs| {
        let data = data.get(first..).unwrap_or(&[]);
        for (part, outs) in starts.windows(2).zip(outs.chunks_mut(rs.len())) {
            let picked = Some(&order[part[0]..part[1]]);
            arch.dispatch(Rows { data, columns, picked, centres: None, rs, outs });
        }
    });
}

/// `outs[q][j]` = Σᵢ weights\[q\]\[i\]·(data\[i·columns + j\] − centres\[j\])², row-major.
///
/// O(mnq), one read of the data; parallel over blocks of columns.
pub(crate) fn squared_norms_rows<T: Real>(data: &[T], weights: &[&[f64]], centres: &[f64], outs: &mut [&mut [f64]]) {
    let Some((_, columns)) = shape(data, weights, outs) else { return };
    assert_eq!(centres.len(), columns, "a centre for each column");
    let arch = Arch::new();
    for_each_part(outs, task_width(columns), &|first, outs| {
        let data = data.get(first..).unwrap_or(&[]);
        arch.dispatch(Rows { data, columns, picked: None, centres: Some(&centres[first..]), rs: weights, outs });
    });
}

/// Equal tasks, four or a multiple: wide ones read faster, but a last small one leaves threads idle.
pub(super) fn task_width(columns: usize) -> usize {
    let tasks = columns.div_ceil(ROW_TASK).next_multiple_of(4).max(4);
    columns.div_ceil(tasks).next_multiple_of(STEP).max(STRIP)
}

/// The leading columns of row-major `data`, as many as each of `outs` is long; its rows are
/// `columns` apart.
pub(super) struct Rows<'a, 'b, T> {
    pub(super) data: &'a [T],
    pub(super) columns: usize,
    /// These rows only, in this order.
    pub(super) picked: Option<&'a [usize]>,
    /// Squared distances from these instead of the values.
    pub(super) centres: Option<&'a [f64]>,
    pub(super) rs: &'a [&'a [f64]],
    pub(super) outs: &'a mut [&'b mut [f64]],
}

impl<T: Real> Rows<'_, '_, T> {
    /// Adds `R` rows, from the `i`-th, to every result.
    #[inline(always)]
    fn group<S: Simd, const R: usize>(&mut self, strip: &mut Strip<R>, i: usize) {
        let width = self.outs[0].len();
        let (mut places, mut rows): ([usize; R], [&[T]; R]) = ([0; R], [&[]; R]);
        for s in 0..R {
            places[s] = self.picked.map_or(i + s, |picked| picked[i + s]);
            rows[s] = &self.data[places[s] * self.columns..][..width];
        }
        if let ([r], [out], None) = (self.rs, &mut *self.outs, self.centres) {
            return add_far::<S, T, R>(&rows, &values(r, &places), out);
        }
        for start in (0..width).step_by(STRIP) {
            let length = STRIP.min(width - start);
            strip.load::<S, T>(&rows, start);
            if let Some(centres) = self.centres {
                let centres = &centres[start..][..length];
                for s in 0..R {
                    for (x, centre) in strip.0[s].iter_mut().zip(centres) {
                        *x = (*x - centre) * (*x - centre);
                    }
                }
            }
            let mut rows: [&[f64]; R] = [&[]; R];
            for s in 0..R {
                rows[s] = &strip.0[s][..length];
            }
            for (r, out) in self.rs.iter().zip(&mut *self.outs) {
                let out = &mut out[start..][..length];
                add_near::<S, f64, R>(&rows, &values(r, &places), out);
            }
        }
    }
}

impl<T: Real> WithSimd for Rows<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, _: S) {
        self.outs.iter_mut().for_each(|out| out.fill(0.0));
        let rows = self.picked.map_or(self.rs[0].len(), <[usize]>::len);
        let grouped = rows - rows % GROUP;
        let (mut strip, mut single) = (Strip::new(), Strip::new());
        for i in (0..grouped).step_by(GROUP) {
            self.group::<S, GROUP>(&mut strip, i);
        }
        for i in grouped..rows {
            self.group::<S, 1>(&mut single, i);
        }
    }
}

/// What a residual holds at some places.
#[inline(always)]
fn values<const R: usize>(r: &[f64], places: &[usize; R]) -> [f64; R] {
    let mut values = [0.0; R];
    for s in 0..R {
        values[s] = r[places[s]];
    }
    values
}

/// out += Σ over the rows: row·r, row after row. The rows are in cache.
#[inline(always)]
fn add_near<S: Simd, T: Real, const R: usize>(rows: &[&[T]; R], r: &[f64; R], out: &mut [f64]) {
    let mut x = *rows;
    for s in 0..R {
        x[s] = &rows[s][..out.len()];
    }
    for (j, sum) in out.iter_mut().enumerate() {
        for s in 0..R {
            *sum = fma::<S>(x[s][j].to_f64(), r[s], *sum);
        }
    }
}

/// [`add_near`], the rows in memory.
#[inline(always)]
fn add_far<S: Simd, T: Real, const R: usize>(rows: &[&[T]; R], r: &[f64; R], out: &mut [f64]) {
    let (sums, rest) = out.as_chunks_mut::<STEP>();
    let x = blocks(rows, sums.len());
    for (b, sums) in sums.iter_mut().enumerate() {
        let mut sum = *sums; // in registers: a prefetch counts as a write to any memory
        for s in 0..R {
            prefetch(x[s].as_ptr().wrapping_add(b));
            let x = T::doubles::<S>(&x[s][b]);
            for l in 0..STEP {
                sum[l] = fma::<S>(x[l], r[s], sum[l]);
            }
        }
        *sums = sum;
    }
    let mut ends: [&[T]; R] = [&[]; R];
    for s in 0..R {
        ends[s] = rows[s].as_chunks::<STEP>().1;
    }
    add_near::<S, T, R>(&ends, r, rest);
}
