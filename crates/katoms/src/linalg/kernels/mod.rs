//! The one full pass over a dense design, Φᵀr, at the speed of the memory.
//!
//! Storage is any [`Real`]; every product and every sum is taken in `f64`. The bits of a result do not depend on how its
//! numbers are stored.
//!
//! The bits of a result depend on its column and its residual alone, never on the number of
//! threads, the neighbouring columns or the other residuals of a block:
//!
//! - column-major, row i is added to lane i mod 8 of its column, in the order of the rows, and
//!   the eight lanes are added in a fixed order;
//! - row-major, the rows are added one by one, in order.
//!
//! By parts of the rows, each part is a design of its own in this; but column-major, a part starts
//! again at lane 0 every `strips::CHUNK` rows of the design.
//!
//! Lanes are part of the definition, not of the machine: all machines with a fused multiply-add
//! give the same bits, whatever their vector width. The loops are plain Rust over `[f64; 8]`,
//! compiled for each instruction set by [`pulp::Arch::dispatch`]. What is dispatched is a
//! `WithSimd` with `#[inline(always)]`, and its hot loops are `for` loops: a closure may stay a
//! function of its own, and that is SSE2.

// Loops over indices run along several arrays at once, and their lengths are constants.
#![allow(clippy::needless_range_loop)]

mod codes;
mod columns;
mod gather;
mod genotypes;
mod largest;
mod log_odds;
mod moments;
mod picked;
mod real;
mod rows;
mod streams;
mod strips;
#[cfg(test)]
mod tests;
mod tiles;

use crate::linalg::parallel;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use pulp::{Arch, Simd, WithSimd};

pub(crate) use codes::{CODES, code_products, largest_factor};
pub use columns::adjoint_columns;
use columns::{LANES, sum_lanes};
pub(crate) use gather::{PaddedRows, add_rows, dots};
pub(crate) use genotypes::{IN_BYTE, Meaning, Packed, Residuals, count_codes, decode_genotypes, genotype_sums};
pub(crate) use largest::{all_within, largest, largest_columns, largest_every, largest_rows};
pub(crate) use log_odds::{log_loss, log_loss_curvatures, log_loss_slopes};
pub(crate) use moments::{READS, mean_and_variance, moments_columns, moments_rows, survey_columns};
pub(crate) use picked::{adjoint_picked_columns, adjoint_picked_rows, apply_columns, apply_rows};
pub use real::Real;
pub use rows::{adjoint_rows, adjoint_rows_block};
pub(crate) use rows::{adjoint_rows_parts, squared_norms_rows};
pub(crate) use streams::for_each_part;
use streams::{GROUP, STEP, blocks, fma, prefetch};
pub use strips::adjoint_columns_block;
pub(crate) use strips::{adjoint_columns_parts, squared_norms_columns};
pub(crate) use tiles::fused;

/// Bytes of a column-major design, or of values to check, in one task.
const TASK_BYTES: usize = 1 << 21;

/// Σᵢ column\[i\]·r\[i\]: the same bits as the column's entry of [`adjoint_columns`].
///
/// O(m), on the calling thread.
///
/// # Panics
/// If the lengths differ.
pub fn dot<T: Real>(column: &[T], r: &[f64]) -> f64 {
    assert_eq!(column.len(), r.len(), "column and residual differ");
    Arch::new().dispatch(Dot { column, r })
}

struct Dot<'a, T> {
    column: &'a [T],
    r: &'a [f64],
}

impl<T: Real> WithSimd for Dot<'_, T> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> f64 {
        let [sums] = columns::add_rows::<S, T, 1>([[0.0; LANES]], &[self.column], self.r);
        sum_lanes(sums)
    }
}

/// out\[i\] += a·column\[i\]. O(m), on the calling thread.
///
/// # Panics
/// If the lengths differ.
pub fn axpy<T: Real>(a: f64, column: &[T], out: &mut [f64]) {
    assert_eq!(column.len(), out.len(), "column and out differ");
    Arch::new().dispatch(Axpy { a, column, out });
}

struct Axpy<'a, T> {
    a: f64,
    column: &'a [T],
    out: &'a mut [f64],
}

impl<T: Real> WithSimd for Axpy<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (y, &x) in self.out.iter_mut().zip(self.column) {
            *y = fma::<S>(self.a, x.to_f64(), *y);
        }
    }
}

/// The position of the first value that is NaN or infinite.
///
/// O(mn), one read of the data, or less if there is such a value, none of whole numbers; parallel.
pub fn first_not_finite<T: Real>(data: &[T]) -> Option<usize> {
    if T::ALWAYS_FINITE {
        return None;
    }
    let arch = Arch::new();
    let length = TASK_BYTES / size_of::<T>();
    let finite = |part: &[T]| arch.dispatch(AllFinite(part));
    let first = AtomicUsize::new(usize::MAX);
    parallel::each(data.len().div_ceil(length), &|task| {
        let part = &data[task * length..];
        if task < first.load(Relaxed) && !finite(&part[..part.len().min(length)]) {
            first.fetch_min(task, Relaxed);
        }
    });
    let start = Some(first.into_inner()).filter(|&task| task < usize::MAX)? * length;
    let within = data[start..].iter().position(|x| !x.finite())?;
    Some(start + within)
}

struct AllFinite<'a, T>(&'a [T]);

impl<T: Real> WithSimd for AllFinite<'_, T> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> bool {
        // Eight streams, as in `Columns`. What is finite is nothing times zero, else it is NaN.
        let length = self.0.len() / GROUP;
        let mut streams: [&[T]; GROUP] = [&[]; GROUP];
        for c in 0..GROUP {
            streams[c] = &self.0[c * length..][..length];
        }
        let x = blocks(&streams, length / STEP);
        let mut sums = [[0.0; LANES]; GROUP];
        for b in 0..length / STEP {
            for c in 0..GROUP {
                prefetch(x[c].as_ptr().wrapping_add(b));
                let x = T::doubles::<S>(&x[c][b]);
                for half in [0, LANES] {
                    for l in 0..LANES {
                        sums[c][l] = fma::<S>(x[half + l], 0.0, sums[c][l]);
                    }
                }
            }
        }
        let ends = streams.iter().flat_map(|stream| stream.as_chunks::<STEP>().1);
        sums == [[0.0; LANES]; GROUP] && ends.chain(&self.0[GROUP * length..]).all(|x| x.finite())
    }
}
