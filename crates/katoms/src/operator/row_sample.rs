//! A coarse copy of some of the rows: what a partial pass reads.
//!
//! A few runs of rows, spread over all of them (real data are often sorted). Each value is one byte: its
//! distance from the mean of its column, in steps of a hundred and twenty-seventh of the largest. That tells a product
//! with a residual to two digits, while the rows that are left out cost it more than one. The copy takes a sixteenth of
//! the memory of data in single precision, half of that in double, and a pass over it reads as little.

// Loops over indices run along several arrays at once, and their lengths are constants.
#![allow(clippy::needless_range_loop)]

use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};
use serde::{Deserialize, Serialize};

use super::Sample;
use crate::linalg::Bytes;
use crate::linalg::kernels::{self, CODES, Real};
use crate::linalg::parallel;

/// Runs of rows in which the sample lies: many short ones are dear to read, and few see little of sorted data.
const RUNS: usize = 4;
/// One row in this many is in it.
const EVERY: usize = 4;
/// Rows that a sample must have: with fewer an estimate is noise.
const LEAST: usize = 96;
/// Columns that are coded together, so that a row-major design is read in runs.
const COLUMNS: usize = 64;
/// Columns that are worth a second thread after they were multiplied.
const SHARE: usize = 1 << 14;
/// Values that are coded at a time.
const LANES: usize = 16;
/// The largest code.
const LARGEST: f32 = 127.0;
/// 1.5·2²³: a small number on top of it is rounded to a whole one, which stands in the last bits.
const WHOLE: f32 = 12_582_912.0;

/// Which rows a sample has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SampledRows {
    /// Rows that are in it, or not, together.
    block: usize,
    /// The rows of the data.
    rows: usize,
    /// Bytes of a value of the data: a code has one.
    bytes: usize,
}

impl SampledRows {
    /// Some of these rows, whose values take this many bytes each. `None` where they would be too few to say much.
    pub(super) fn of(rows: usize, bytes: usize) -> Option<Self> {
        let even = rows / (RUNS * EVERY);
        // Whole lanes, where that changes little.
        let block = if even < 2 * LANES { even.max(1) } else { (even + LANES / 2) / LANES * LANES };
        let sampled = Self { block, rows, bytes };
        (sampled.count() >= LEAST).then_some(sampled)
    }

    /// Whether a row is in it.
    pub fn contains(self, row: usize) -> bool {
        (row / self.block).is_multiple_of(EVERY)
    }

    /// How its rows lie, with room for codes.
    pub(super) fn sample(self) -> Sample {
        let count = self.count();
        Sample { block: self.block, every: EVERY, count, length: count.next_multiple_of(CODES) }
    }

    /// The number of rows in it.
    pub fn count(self) -> usize {
        let period = self.block * EVERY;
        self.rows / period * self.block + (self.rows % period).min(self.block)
    }

    /// What a pass over the copy reads, in rows of the data.
    pub fn cost(self) -> usize {
        self.count().div_ceil(self.bytes)
    }

    /// What a column holds in these rows.
    pub(super) fn pick<T: Real>(self, column: &[T], out: &mut [f32]) {
        let picked = self.runs().flat_map(|run| &column[run]);
        out.iter_mut().zip(picked).for_each(|(out, x)| *out = x.to_f32());
    }

    /// The rows in it, run after run.
    pub(super) fn runs(self) -> impl Iterator<Item = Range<usize>> {
        (0..self.rows).step_by(self.block * EVERY).map(move |first| first..(first + self.block).min(self.rows))
    }
}

/// The copy: a byte with a sign for each value, column after column.
#[derive(Debug)]
pub(super) struct RowSample {
    which: SampledRows,
    /// Codes of a column, with zeros behind them up to a multiple of [`CODES`].
    length: usize,
    codes: Bytes,
    centres: Vec<f64>,
    /// What a step is worth, for each column.
    steps: Vec<f32>,
}

/// The columns of a copy that one thread fills.
pub(super) struct SamplePart<'a> {
    which: SampledRows,
    length: usize,
    codes: &'a mut [u8],
    centres: &'a mut [f64],
    steps: &'a mut [f32],
}

impl SamplePart<'_> {
    /// Fills it from its columns, which follow each other. Each has a centre: distances from its mean are the shortest,
    /// and their codes the finest.
    pub fn fill<T: Real>(&mut self, columns: &[T], centres: &[f64]) {
        let runs: Vec<Range<usize>> = self.which.runs().collect();
        self.fill_runs(columns, &runs, centres);
    }

    /// [`Self::fill`] from these runs of each column.
    fn fill_runs<T: Real>(&mut self, columns: &[T], runs: &[Range<usize>], centres: &[f64]) {
        let (arch, mut distances) = (Arch::new(), vec![0.0; self.length]);
        let rows = columns.len() / centres.len().max(1);
        for (j, codes) in self.codes.chunks_mut(self.length).enumerate() {
            let (column, centre) = (&columns[j * rows..][..rows], centres[j] as f32);
            self.steps[j] = arch.dispatch(Coded { column, runs, centre, distances: &mut distances, codes });
            self.centres[j] = centre.into();
        }
    }
}

impl RowSample {
    /// The sample of a design with this many columns, to be filled in parts.
    pub fn unfilled(which: SampledRows, columns: usize) -> Self {
        let length = which.count().next_multiple_of(CODES);
        Self {
            which,
            length,
            codes: Bytes::zeroed(length * columns),
            centres: vec![0.0; columns],
            steps: vec![0.0; columns],
        }
    }

    /// Its columns, so many at a time.
    pub fn parts(&mut self, width: usize) -> impl Iterator<Item = SamplePart<'_>> {
        let (which, length) = (self.which, self.length);
        let codes = self.codes.chunks_mut(width * length);
        let all = codes.zip(self.centres.chunks_mut(width)).zip(self.steps.chunks_mut(width));
        all.map(move |((codes, centres), steps)| SamplePart { which, length, codes, centres, steps })
    }

    /// The sample of a design with this many columns. `read(first, out)` fills in what the columns from `first` on
    /// hold in the rows of the sample, column after column, as many as there is room for.
    pub fn new(which: SampledRows, columns: usize, read: impl Fn(usize, &mut [f32]) + Sync) -> Self {
        let (mut sample, rows) = (Self::unfilled(which, columns), which.count());
        let mut parts: Vec<SamplePart<'_>> = sample.parts(COLUMNS).collect();
        parallel::each_mut(&mut parts, &|at, part| {
            let mut values = vec![0.0_f32; rows * part.steps.len()];
            read(at * COLUMNS, &mut values);
            let mean = |column: &[f32]| column.iter().map(|&x| f64::from(x)).sum::<f64>() / rows as f64;
            let centres: Vec<f64> = values.chunks(rows).map(mean).collect();
            part.fill_runs(&values, std::slice::from_ref(&(0..rows)), &centres);
        });
        sample
    }

    /// out ≈ Aᵀ·r, for an r that is zero outside of the sample.
    pub fn adjoint(&self, r: &[f64], out: &mut [f64]) {
        let (whole, unit, total) = whole_numbers(self.which, self.length, r);
        kernels::code_products(&self.codes, &whole, out);
        parallel::chunks_mut(out, SHARE, &|chunk, out| {
            let first = chunk * SHARE;
            for ((out, &step), &centre) in out.iter_mut().zip(&self.steps[first..]).zip(&self.centres[first..]) {
                let product = unit * f64::from(step) * *out + centre * total;
                // A column that single precision cannot hold is no candidate.
                *out = if product.is_finite() { product } else { 0.0 };
            }
        });
    }
}

/// A residual on the rows of a sample in whole numbers, as large as their sums allow, with zeros up to a length; what one is
/// worth, and the sum of the residual.
pub(super) fn whole_numbers(which: SampledRows, length: usize, r: &[f64]) -> (Vec<i16>, f64, f64) {
    let kept: Vec<f64> = which.runs().flatten().map(|i| r[i]).collect();
    let size = kept.iter().fold(0.0_f64, |most, r| most.max(r.abs()));
    let factor = f64::from(kernels::largest_factor(length));
    let inverse = if size > 0.0 && size.is_finite() { factor / size } else { 0.0 };
    let mut whole: Vec<i16> = kept.iter().map(|r| (r * inverse).round() as i16).collect();
    whole.resize(length, 0);
    (whole, size / factor, kept.iter().sum())
}

/// A column becomes codes of its distances from the centre; what a step is worth.
struct Coded<'a, T> {
    column: &'a [T],
    /// Where its values are.
    runs: &'a [Range<usize>],
    centre: f32,
    /// Room for the distances, with zeros behind them.
    distances: &'a mut [f32],
    codes: &'a mut [u8],
}

impl<T: Real> WithSimd for Coded<'_, T> {
    type Output = f32;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> f32 {
        let (mut rest, mut most, mut most_last) = (&mut *self.distances, [0.0_f32; LANES], 0.0);
        for run in self.runs {
            let (to, after) = rest.split_at_mut(run.len());
            let (to, last_to) = to.as_chunks_mut::<LANES>();
            let (from, last_from) = self.column[run.clone()].as_chunks::<LANES>();
            for (to, from) in to.iter_mut().zip(from) {
                let mut distance = T::singles::<S>(from); // in a register: `to` might lie on `from` for all that the compiler knows
                for l in 0..LANES {
                    distance[l] -= self.centre;
                }
                for l in 0..LANES {
                    most[l] = larger(distance[l].abs(), most[l]);
                }
                *to = distance;
            }
            for (to, from) in last_to.iter_mut().zip(last_from) {
                *to = from.to_f32() - self.centre;
                most_last = larger(to.abs(), most_last);
            }
            rest = after;
        }
        let mut most = std::hint::black_box(most); // as below
        for half in [8, 4, 2, 1] {
            for l in 0..half {
                most[l] = larger(most[l], most[l + half]);
            }
        }
        let largest = larger(most[0], most_last);
        let inverse = if largest > 0.0 { LARGEST / largest } else { 0.0 };
        for (code, distance) in self.codes.iter_mut().zip(&*self.distances) {
            *code = (distance * inverse + WHOLE).to_bits() as u8;
        }
        largest / LARGEST
    }
}

/// The larger of two, in one instruction. Neither is NaN.
#[inline(always)]
fn larger(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values that no step divides, of columns with very different centres and sizes.
    fn value(i: usize, j: usize) -> f32 {
        let size = 10.0_f32.powi(j as i32 % 7 - 3);
        size * ((i * 37 + j * 101) as f32 * 0.7).sin() + 100.0 * size * (j % 3) as f32
    }

    #[test]
    fn products_are_right_to_two_digits() {
        for (rows, bytes) in [(1000, 4), (1003, 4), (517, 8), (400, 4)] {
            let which = SampledRows::of(rows, bytes).unwrap();
            let columns = 131;
            let read = |first: usize, out: &mut [f32]| {
                for (j, column) in out.chunks_mut(which.count()).enumerate() {
                    column.iter_mut().zip(which.runs().flatten()).for_each(|(v, i)| *v = value(i, first + j));
                }
            };
            let sample = RowSample::new(which, columns, read);
            let r: Vec<f64> =
                (0..rows).map(|i| if which.contains(i) { 1e9 * (i as f64 * 1.3).cos() } else { 0.0 }).collect();
            assert_eq!((0..rows).filter(|&i| which.contains(i)).count(), which.count());
            assert!(which.cost() * 15 <= rows, "{} of {rows}", which.cost());
            let mut out = vec![f64::NAN; columns];
            sample.adjoint(&r, &mut out);
            let length = crate::linalg::norm(&r);
            for (j, out) in out.iter().enumerate() {
                let exact: f64 = (0..rows).map(|i| f64::from(value(i, j)) * r[i]).sum();
                let spread = 10.0_f64.powi(j as i32 % 7 - 3) * length;
                assert!((out - exact).abs() < 0.02 * spread, "{rows} rows, column {j}: {out} for {exact}");
            }
        }
    }

    #[test]
    fn few_rows_are_no_sample_and_a_constant_column_is_its_centre() {
        assert_eq!(SampledRows::of(300, 4), None);
        let which = SampledRows::of(400, 4).unwrap();
        let sample = RowSample::new(which, 1, |_, out| out.fill(3.0));
        let r: Vec<f64> = (0..400).map(|i| f64::from(u8::from(which.contains(i)))).collect();
        let mut out = vec![0.0];
        sample.adjoint(&r, &mut out);
        assert!((out[0] - 3.0 * which.count() as f64).abs() < 1e-3);
    }
}
