//! Magnitudes of values: whether all lie within bounds, and the largest in each column of a design.
//!
//! Without its sign a number in double precision orders as the whole number of its bits does, with ∞ above all finite
//! numbers and NaN above ∞. So what is found is finite only where every value is.

use pulp::{Arch, Simd, WithSimd};

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use super::TASK_BYTES;
use super::columns::{LANES, task_width};
use super::streams::{GROUP, STEP, blocks, prefetch};
use crate::linalg::parallel;

/// All but the sign of a number in double precision.
const MAGNITUDE: i64 = i64::MAX;

/// Whether the magnitude of every value is 0 or from `least` to `most`, so that all of them are finite.
///
/// O(mn), one read of the data; parallel.
pub(crate) fn all_within(data: &[f64], least: f64, most: f64) -> bool {
    let (arch, bounds) = (Arch::new(), [least, most].map(|bound| bound.to_bits() as i64));
    let length = TASK_BYTES / size_of::<f64>();
    let within = AtomicBool::new(true);
    parallel::each(data.len().div_ceil(length), &|task| {
        let part = &data[task * length..];
        let part = &part[..part.len().min(length)];
        if within.load(Relaxed) && !arch.dispatch(AllWithin { part, bounds }) {
            within.store(false, Relaxed);
        }
    });
    within.into_inner()
}

struct AllWithin<'a> {
    part: &'a [f64],
    bounds: [i64; 2],
}

impl AllWithin<'_> {
    /// All bits where x lies outside, none where it does not.
    #[inline(always)]
    fn outside(x: f64, [least, most]: [i64; 2]) -> i64 {
        let bits = x.to_bits() as i64 & MAGNITUDE;
        -i64::from((bits > most) | ((bits < least) & (bits != 0)))
    }
}

impl WithSimd for AllWithin<'_> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> bool {
        // Eight streams, as in `Columns`.
        let (length, bounds) = (self.part.len() / GROUP, self.bounds);
        let mut streams: [&[f64]; GROUP] = [&[]; GROUP];
        for c in 0..GROUP {
            streams[c] = &self.part[c * length..][..length];
        }
        let x = blocks(&streams, length / STEP);
        let mut outside = [0_i64; LANES];
        for b in 0..length / STEP {
            for c in 0..GROUP {
                prefetch(x[c].as_ptr().wrapping_add(b));
                for half in [0, LANES] {
                    for l in 0..LANES {
                        outside[l] |= Self::outside(x[c][b][half + l], bounds);
                    }
                }
            }
        }
        let ends = streams.iter().flat_map(|stream| stream.as_chunks::<STEP>().1);
        let rest = ends.chain(&self.part[GROUP * length..]);
        outside == [0; LANES] && rest.fold(0, |all, &x| all | Self::outside(x, bounds)) == 0
    }
}

/// The largest magnitude of some values; NaN or ∞ where one of them is. O(m), on the calling thread.
pub(crate) fn largest(values: &[f64]) -> f64 {
    Arch::new().dispatch(Largest(values))
}

/// The same of every `step`-th value from `first` on: of a column of a row-major design.
pub(crate) fn largest_every(data: &[f64], first: usize, step: usize) -> f64 {
    data.iter().skip(first).step_by(step).fold(0.0, |most, &x| larger(most, x))
}

/// The same of each column of a column-major design with this many rows.
///
/// O(mn), one read of the data; parallel over blocks of columns.
pub(crate) fn largest_columns(data: &[f64], rows: usize) -> Vec<f64> {
    let (rows, width) = (rows.max(1), task_width::<f64>(rows));
    let mut sizes = vec![0.0; data.len() / rows];
    parallel::chunks_mut(&mut sizes, width, &|chunk, sizes| {
        let columns = data[chunk * width * rows..].chunks(rows);
        sizes.iter_mut().zip(columns).for_each(|(size, column)| *size = largest(column));
    });
    sizes
}

/// The same of a row-major design with this many columns.
///
/// O(mn), one read of the data; parallel over blocks of columns.
pub(crate) fn largest_rows(data: &[f64], columns: usize) -> Vec<f64> {
    let (arch, width) = (Arch::new(), super::rows::task_width(columns));
    let mut largest = vec![0.0; columns];
    parallel::chunks_mut(&mut largest, width, &|part, out| {
        for row in data.chunks(columns.max(1)) {
            let row = &row[part * width..][..out.len()];
            arch.dispatch(LargerOf { out: &mut *out, row });
        }
    });
    largest
}

/// The magnitude of x, where it is above `most`.
#[inline(always)]
fn larger(most: f64, x: f64) -> f64 {
    let (a, b) = (most.to_bits() as i64, x.to_bits() as i64 & MAGNITUDE);
    f64::from_bits(if b > a { b } else { a } as u64)
}

struct Largest<'a>(&'a [f64]);

impl WithSimd for Largest<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> f64 {
        let (blocks, rest) = self.0.as_chunks::<LANES>();
        let mut most = [0.0; LANES];
        for block in blocks {
            for l in 0..LANES {
                most[l] = larger(most[l], block[l]);
            }
        }
        most.iter().chain(rest).fold(0.0, |most, &x| larger(most, x))
    }
}

/// Each of `out` becomes the larger of itself and the magnitude beside it.
struct LargerOf<'a> {
    out: &'a mut [f64],
    row: &'a [f64],
}

impl WithSimd for LargerOf<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (out, &x) in self.out.iter_mut().zip(self.row) {
            *out = larger(*out, x);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::{generator, normals};

    #[test]
    fn columns_have_the_magnitudes_that_a_plain_loop_finds() {
        for (rows, columns) in [(1, 1), (3, 5), (17, 40), (700, 9)] {
            let mut data = normals(rows * columns, &mut generator(rows as u64, 0));
            data[rows * columns / 2] = -1e300;
            let by_rows: Vec<f64> = (0..rows * columns).map(|at| data[at % columns * rows + at / columns]).collect();
            let plain: Vec<f64> =
                data.chunks(rows).map(|column| column.iter().fold(0.0, |most, x| x.abs().max(most))).collect();
            assert_eq!(largest_columns(&data, rows), plain);
            assert_eq!(largest_rows(&by_rows, columns), plain);
            assert_eq!(largest_every(&by_rows, columns - 1, columns), plain[columns - 1]);
        }
    }

    #[test]
    fn a_value_outside_is_found_wherever_it_is() {
        let (least, most) = (1e-60, 1e60);
        for length in [1, 7, 128, 130, 300] {
            let mut data: Vec<f64> = (0..length).map(|i| [1.0, -1e60, 1e-60, 0.0, -0.0, 7e5][i % 6]).collect();
            assert!(all_within(&data, least, most));
            for at in 0..length {
                for wrong in [1.1e60, -1e300, 0.9e-60, -5e-324, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                    let right = std::mem::replace(&mut data[at], wrong);
                    assert!(!all_within(&data, least, most), "{wrong} at {at} of {length}");
                    data[at] = right;
                }
            }
        }
        let mut long = vec![1.0; 3 * TASK_BYTES / size_of::<f64>() + 5];
        for at in [0, long.len() / 2, long.len() - 1] {
            long[at] = 1e61;
            assert!(!all_within(&long, least, most));
            long[at] = 1.0;
        }
        assert!(all_within(&long, least, most));
    }

    #[test]
    fn what_is_not_finite_is_the_largest() {
        for wrong in [f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for at in 0..20 {
                let mut data = vec![f64::MAX; 20];
                data[at] = wrong;
                assert!(!largest(&data).is_finite());
                let found = largest_rows(&data, 20);
                assert!((0..20).all(|j| found[j].is_finite() == (j != at)));
            }
        }
    }
}
