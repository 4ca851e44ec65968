//! Φᵀr where many residuals are zero: their rows are not read.
//!
//! Of a row-major design this saves what it skips. Of a column-major one it saves less, the more the shorter the
//! runs of rows: memory is fetched ahead, beyond the end of each run, and in whole cache lines. Runs of 128 rows or
//! more are best, and their number, not their length, is what a pass over a small share costs.

use pulp::{Simd, WithSimd};

use super::Real;
use super::columns::{LANES, add_rows, sum_lanes};
use super::streams::{GROUP, STEP, fma, prefetch_step};

/// Rows that are skipped together where their residuals are all zero: those from a multiple of this on.
pub const SKIPPED_ROWS: usize = STEP;
/// Of all rows, the share that must be skipped: less costs more than it saves.
const WORTH: f64 = 1.0 / 3.0;
/// Steps between the one in use and the one asked for.
const AHEAD: usize = 16;

/// The rows whose residuals are not zero; `None` if skipping the others does not pay.
pub(super) fn live_rows(r: &[f64]) -> Option<Vec<usize>> {
    let zeros = r.iter().filter(|&&x| x == 0.0).count();
    pays(zeros, r.len()).then(|| (0..r.len()).filter(|&i| r[i] != 0.0).collect())
}

fn pays(skipped: usize, rows: usize) -> bool {
    skipped > 0 && skipped as f64 >= WORTH * rows as f64
}

/// The steps of rows in which some residual is not zero.
pub(super) struct LiveSteps<'a> {
    steps: Vec<Step>,
    /// The residuals after the last whole step, unless they are zero.
    rest: &'a [f64],
    rows: usize,
}

struct Step {
    number: usize,
    /// Where the values are that will be used [`AHEAD`] steps later, maybe in a later column.
    ahead: usize,
    r: [f64; STEP],
}

impl<'a> LiveSteps<'a> {
    /// `None` if skipping does not pay.
    pub(super) fn new(r: &'a [f64]) -> Option<Self> {
        let (whole, rest) = r.as_chunks::<STEP>();
        let is_live = |r: &[f64]| r.iter().any(|&x| x != 0.0);
        let live: Vec<usize> = (0..whole.len()).filter(|&s| is_live(&whole[s])).collect();
        if !pays((whole.len() - live.len()) * STEP, r.len()) {
            return None;
        }
        let ahead = |k: usize| (k / live.len()) * r.len() + live[k % live.len()] * STEP;
        let step = |(k, &number): (usize, &usize)| Step { number, ahead: ahead(k + AHEAD), r: whole[number] };
        let steps = live.iter().enumerate().map(step).collect();
        Some(Self { steps, rest: if is_live(rest) { rest } else { &[] }, rows: r.len() })
    }
}

/// The leading columns of column-major `data`, as many as `out` is long.
pub(super) struct LiveColumns<'a, T> {
    pub(super) data: &'a [T],
    pub(super) live: &'a LiveSteps<'a>,
    pub(super) out: &'a mut [f64],
}

impl<T: Real> LiveColumns<'_, T> {
    /// `C` columns, from `first` in steps of `stride`.
    #[inline(always)]
    fn group<S: Simd, const C: usize>(&mut self, first: usize, stride: usize) {
        let rows = self.live.rows;
        let mut columns: [&[[T; STEP]]; C] = [&[]; C];
        let mut ends: [&[T]; C] = [&[]; C];
        for c in 0..C {
            (columns[c], ends[c]) = self.data[(first + c * stride) * rows..][..rows].as_chunks();
        }
        let mut sums = [[0.0; LANES]; C];
        for step in &self.live.steps {
            for c in 0..C {
                prefetch_step(columns[c].as_ptr().cast::<T>().wrapping_add(step.ahead).cast::<[T; STEP]>());
                let x = &columns[c][step.number];
                for half in [0, LANES] {
                    for l in 0..LANES {
                        sums[c][l] = fma::<S>(x[half + l].to_f64(), step.r[half + l], sums[c][l]);
                    }
                }
            }
        }
        if !self.live.rest.is_empty() {
            sums = add_rows::<S, T, C>(sums, &ends, self.live.rest);
        }
        for c in 0..C {
            self.out[first + c * stride] = sum_lanes(sums[c]);
        }
    }
}

impl<T: Real> WithSimd for LiveColumns<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, _: S) {
        // Streams as in `Columns`.
        let columns = self.out.len();
        let stride = columns / GROUP;
        for first in 0..stride {
            self.group::<S, GROUP>(first, stride);
        }
        for first in stride * GROUP..columns {
            self.group::<S, 1>(first, 1);
        }
    }
}
