//! Columns whose squares leave the range of double precision.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use super::Moments;
use crate::error::Error;
use crate::linalg::kernels::all_within;
use crate::linalg::{exponent_of_two, times_power_of_two};

/// Magnitudes with which a fit computes, as exponents of two: 1e-60 to 1e60. A step needs fourth powers of the columns,
/// and these times the square of a target are still numbers.
const EXPONENTS: RangeInclusive<i32> = -200..=200;

/// The largest magnitude in a column.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ColumnSize {
    /// The column, counted from 0.
    pub column: usize,
    /// The largest magnitude in it.
    pub size: f64,
}

impl ColumnSize {
    /// Whether a fit can compute with such a column. One of zeros is as good as any.
    pub fn is_moderate(&self) -> bool {
        self.size == 0.0 || is_moderate(self.size)
    }
}

/// Whether sums of squares and of fourth powers of such numbers are numbers.
pub(super) fn is_moderate(size: f64) -> bool {
    exponent_of_two(size).is_some_and(|e| EXPONENTS.contains(&e))
}

/// Whether all values are moderate or 0. One read of them, the fastest there is.
pub(super) fn are_moderate(values: &[f64]) -> bool {
    let [least, most] = [*EXPONENTS.start(), *EXPONENTS.end() + 1].map(|e| times_power_of_two(1.0, e));
    all_within(values, least, most.next_down())
}

/// The columns that are not moderate.
pub(super) fn extremes(sizes: impl IntoIterator<Item = (usize, f64)>) -> Vec<ColumnSize> {
    let all = sizes.into_iter().map(|(column, size)| ColumnSize { column, size });
    all.filter(|column| !column.is_moderate()).collect()
}

/// The columns that are perhaps not moderate, by their moments: what overflowed or underflowed shows as a root mean square
/// far from 1, or as none.
pub(super) fn doubtful(moments: &Moments) -> Vec<usize> {
    let size = |j: usize| moments.means[j].hypot(moments.variances[j].sqrt());
    // For nearly all columns the square of it says enough.
    let [least, most] = [*EXPONENTS.start(), *EXPONENTS.end()].map(|e| times_power_of_two(1.0, 2 * e));
    let is_plain = |j: usize| (2.0 * least..most).contains(&(moments.means[j].powi(2) + moments.variances[j]));
    (0..moments.means.len()).filter(|&j| !is_plain(j) && !is_moderate(size(j))).collect()
}

/// Refuses a column that is not moderate.
pub(crate) fn check_columns(extremes: &[ColumnSize]) -> Result<(), Error> {
    let right = "squares of such numbers cannot be added up in double precision; multiply the column by a power of two";
    extremes.first().map_or(Ok(()), |first| Err(refused(first, right)))
}

/// A copy of the design, each column times a power of two, for which there is no room.
pub(super) fn no_room(extremes: &[ColumnSize]) -> Error {
    let right = "it would be multiplied by a power of two in a copy of the design, for which there is no memory; \
                 multiply it beforehand";
    refused(extremes.first().unwrap_or(&ColumnSize { column: 0, size: f64::NAN }), right)
}

/// A design that is not here to be copied.
pub(super) fn elsewhere(extremes: &[ColumnSize]) -> Error {
    let right = "squares of such numbers cannot be added up in double precision, and columns that live with workers or on \
                 a device are not multiplied for a fit; multiply the column by a power of two beforehand";
    refused(extremes.first().unwrap_or(&ColumnSize { column: 0, size: f64::NAN }), right)
}

fn refused(column: &ColumnSize, right: &str) -> Error {
    Error::column_magnitude(column.column, column.size, right.into())
}
