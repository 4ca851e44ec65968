//! Compressed sparse columns: three slices, borrowed or owned. Rows are converted once.

use std::borrow::Cow;
use std::fmt::Debug;

use super::magnitude::{are_moderate, extremes, no_room};
use super::moments::corrected;
use super::parts::part_major;
use super::{ColumnMoments, ColumnSize, LinearOperator, Moments, Parts, is_its_own_base};
use crate::error::{Error, check_length, check_range};
use crate::linalg::kernels::{self, Real};
use crate::linalg::parallel;
use crate::linalg::{Matrix, times_power_of_two};
use crate::space::{IndexSet, SparseVec};

/// Columns that one thread takes at a time.
const COLUMN_CHUNK: usize = 256;

/// Columns of which more than this share is stored are multiplied faster as dense ones.
const FEW: f64 = 0.125;
/// Multiplications below which a second thread costs more than it brings.
const PARALLEL_WORK: usize = 1 << 16;

/// An integer that sparse matrices are indexed with: SciPy has i32 and i64, others u32 and usize.
pub trait SparseIndex: Copy + Send + Sync + Debug + 'static {
    /// The index, or a huge one where it is negative.
    fn get(self) -> usize;
    /// The index as this type; the caller has checked that it fits.
    fn from_usize(i: usize) -> Self;
}

macro_rules! sparse_index {
    ($($t:ty),*) => {$(
        impl SparseIndex for $t {
            fn get(self) -> usize {
                usize::try_from(self).unwrap_or(usize::MAX)
            }
            fn from_usize(i: usize) -> Self {
                i as $t
            }
        }
    )*};
}
sparse_index!(u32, u64, usize, i32, i64);

/// A sparse design matrix, column after column.
///
/// ```
/// use katoms::operator::{Csc, LinearOperator};
/// // [[1, 0], [0, 3], [2, 0]]
/// let a = Csc::new(3, 2, &[0_usize, 2, 3][..], &[0_u32, 2, 1][..], &[1.0, 2.0, 3.0][..])?;
/// let mut g = a.new_covector();
/// a.adjoint(&[1.0, 1.0, 1.0], &mut g);
/// assert_eq!(g, [3.0, 3.0]);
/// # Ok::<(), katoms::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Csc<'a, T: Real, I: SparseIndex, P: SparseIndex = usize> {
    rows: usize,
    columns: usize,
    starts: Cow<'a, [P]>,
    indices: Cow<'a, [I]>,
    values: Cow<'a, [T]>,
    /// Columns whose squares leave the range of double precision.
    extremes: Vec<ColumnSize>,
}

impl<'a, T: Real, I: SparseIndex, P: SparseIndex> Csc<'a, T, I, P> {
    /// A matrix from SciPy's `indptr`, `indices` and `data` of a CSC matrix, not copied.
    /// Row indices within a column may come in any order; equal ones add up.
    ///
    /// # Errors
    /// When the arrays contradict each other or a value is not finite.
    pub fn new(
        rows: usize,
        columns: usize,
        starts: impl Into<Cow<'a, [P]>>,
        indices: impl Into<Cow<'a, [I]>>,
        values: impl Into<Cow<'a, [T]>>,
    ) -> Result<Self, Error> {
        let (starts, indices, values) = (starts.into(), indices.into(), values.into());
        let mut a = Self { rows, columns, starts, indices, values, extremes: Vec::new() };
        check_compressed("columns", (columns, rows), &a.starts, &a.indices, a.values.len())?;
        let moderate = T::as_doubles(&a.values).is_some_and(are_moderate);
        if !moderate && let Some(at) = kernels::first_not_finite(&a.values) {
            let column = a.starts.partition_point(|s| s.get() <= at) - 1;
            let (row, value) = (a.indices[at].get(), a.values[at].to_f64());
            return Err(Error::NotFinite { what: "design matrix", row, column, value });
        }
        if !moderate && T::as_doubles(&a.values).is_some() {
            a.extremes = extremes(a.sizes().into_iter().enumerate());
        }
        Ok(a)
    }

    /// The largest magnitude in each column. One read of the values.
    pub(super) fn sizes(&self) -> Vec<f64> {
        let one = |j: usize| -> f64 {
            let values = &self.values[self.starts[j].get()..self.starts[j + 1].get()];
            let plain = || values.iter().fold(0.0_f64, |most, v| most.max(v.to_f64().abs()));
            T::as_doubles(values).map_or_else(plain, kernels::largest)
        };
        let mut sizes = vec![0.0; self.columns];
        parallel::chunks_mut(&mut sizes, COLUMN_CHUNK, &|chunk, sizes| {
            sizes.iter_mut().enumerate().for_each(|(j, size)| *size = one(chunk * COLUMN_CHUNK + j));
        });
        sizes
    }

    /// A copy in double precision in which column j is 2^`exponents[j]` times what it is.
    pub(super) fn scaled(&self, exponents: &[i32]) -> Result<Csc<'static, f64, I, P>, Error> {
        let (mut indices, mut values) = (Vec::new(), Vec::new());
        let room = indices.try_reserve_exact(self.indices.len()).and(values.try_reserve_exact(self.values.len()));
        room.map_err(|_| no_room(&self.extremes))?;
        indices.extend_from_slice(&self.indices);
        for (j, &exponent) in exponents.iter().enumerate() {
            let column = &self.values[self.starts[j].get()..self.starts[j + 1].get()];
            values.extend(column.iter().map(|v| times_power_of_two(v.to_f64(), exponent)));
        }
        Csc::new(self.rows, self.columns, self.starts.to_vec(), indices, values)
    }

    /// The number of stored entries.
    pub fn stored(&self) -> usize {
        self.values.len()
    }

    fn column(&self, j: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.starts[j].get()..self.starts[j + 1].get();
        self.indices[range.clone()].iter().zip(&self.values[range]).map(|(i, v)| (i.get(), v.to_f64()))
    }

    /// The column in the order of its rows, equal ones added up.
    fn merged_column(&self, j: usize) -> Vec<(usize, f64)> {
        let mut entries: Vec<(usize, f64)> = self.column(j).collect();
        if entries.is_sorted_by(|a, b| a.0 < b.0) {
            return entries;
        }
        entries.sort_by_key(|e| e.0);
        entries.dedup_by(|next, kept| {
            let equal = next.0 == kept.0;
            kept.1 += if equal { next.1 } else { 0.0 };
            equal
        });
        entries
    }

    /// Where columns begin, and the rows and values of their entries, in the order of the rows and each row once.
    pub fn in_order(&self) -> (Vec<i64>, Vec<u32>, Vec<f64>) {
        let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for j in 0..self.columns {
            for (row, value) in self.merged_column(j) {
                indices.push(row as u32);
                values.push(value);
            }
            starts.push(values.len() as i64);
        }
        (starts, indices, values)
    }

    /// The number of entries that are stored of some columns.
    fn stored_of(&self, columns: &[usize]) -> usize {
        columns.iter().map(|&j| self.starts[j + 1].get() - self.starts[j].get()).sum()
    }

    /// The products of every column with all residuals: `out[p·rs.len() + q]` are those of the rows of part p with `rs[q]`.
    fn side_by_side(&self, part: impl Fn(usize) -> usize + Sync, rs: &[&[f64]], out: &mut [&mut [f64]]) {
        if out.is_empty() {
            return;
        }
        let count = rs.len();
        // All residuals of a row lie together, as a row's entries meet them.
        let rows: Vec<f64> = (0..self.rows).flat_map(|i| rs.iter().map(move |r| r[i])).collect();
        kernels::for_each_part(out, COLUMN_CHUNK, &|first, out| {
            let mut sums = vec![0.0; out.len()];
            for j in 0..out[0].len() {
                sums.fill(-0.0); // what an iterator's sum starts from: it has the bits of the adjoint
                for (i, v) in self.column(first + j) {
                    let r = &rows[i * count..][..count];
                    let sums = &mut sums[part(i) * count..][..count];
                    sums.iter_mut().zip(r).for_each(|(sum, r)| *sum += v * r);
                }
                out.iter_mut().zip(&sums).for_each(|(out, sum)| out[j] = *sum);
            }
        });
    }

    fn column_dot(&self, j: usize, r: &[f64]) -> f64 {
        self.column(j).map(|(i, v)| v * r[i]).sum()
    }
}

impl<T: Real, I: SparseIndex> Csc<'static, T, I, usize> {
    /// A matrix from the three arrays of compressed sparse *rows*, converted once. O(stored).
    ///
    /// # Errors
    /// As [`Csc::new`].
    pub fn from_rows<P: SparseIndex>(
        rows: usize,
        columns: usize,
        starts: &[P],
        indices: &[I],
        values: &[T],
    ) -> Result<Self, Error> {
        check_compressed("rows", (rows, columns), starts, indices, values.len())?;
        if let Some(at) = kernels::first_not_finite(values) {
            let row = starts.partition_point(|s| s.get() <= at) - 1;
            let (column, value) = (indices[at].get(), values[at].to_f64());
            return Err(Error::NotFinite { what: "design matrix", row, column, value });
        }
        let mut column_starts = vec![0; columns + 1];
        indices.iter().for_each(|j| column_starts[j.get() + 1] += 1);
        (0..columns).for_each(|j| column_starts[j + 1] += column_starts[j]);
        let mut next = column_starts.clone();
        let (mut row_indices, mut moved) = (indices.to_vec(), values.to_vec());
        for i in 0..rows {
            for e in starts[i].get()..starts[i + 1].get() {
                let at = &mut next[indices[e].get()];
                (row_indices[*at], moved[*at]) = (I::from_usize(i), values[e]);
                *at += 1;
            }
        }
        Csc::new(rows, columns, column_starts, row_indices, moved)
    }
}

/// `lines` are columns or rows, `across` is the number of the other kind.
fn check_compressed<I: SparseIndex, P: SparseIndex>(
    what: &'static str,
    (lines, across): (usize, usize),
    starts: &[P],
    indices: &[I],
    stored: usize,
) -> Result<(), Error> {
    if lines == 0 || across == 0 {
        return Err(Error::Empty { what: "the design matrix" });
    }
    check_length("starts", starts.len(), lines.saturating_add(1), "one for each line, and the end")?;
    check_length("indices", indices.len(), stored, "one for each value")?;
    if starts[0].get() != 0 {
        return Err(Error::Compressed { what, position: 0, right: "the first start must be 0" });
    }
    if let Some(at) = starts.windows(2).position(|w| w[1].get() < w[0].get()) {
        return Err(Error::Compressed { what, position: at + 1, right: "starts must not fall" });
    }
    check_range("the last start", starts[lines].get(), stored, stored)?;
    match indices.iter().position(|i| i.get() >= across) {
        Some(position) => {
            let what = if what == "columns" { "row index" } else { "column index" };
            Err(Error::Index { what, position, index: indices[position].get(), bound: across })
        }
        None => Ok(()),
    }
}

impl<T: Real, I: SparseIndex, P: SparseIndex> LinearOperator for Csc<'_, T, I, P> {
    type Point = SparseVec;
    type Covector = Vec<f64>;
    is_its_own_base!();

    fn domain(&self) -> usize {
        self.columns
    }
    fn extremes(&self) -> &[ColumnSize] {
        &self.extremes
    }
    fn n_outputs(&self) -> usize {
        self.rows
    }
    fn new_covector(&self) -> Vec<f64> {
        vec![0.0; self.columns]
    }
    fn apply(&self, x: &SparseVec, out: &mut [f64]) {
        out.fill(0.0);
        for (j, a) in x.entries() {
            self.column(j).for_each(|(i, v)| out[i] += a * v);
        }
    }
    fn apply_covector(&self, g: &Vec<f64>, out: &mut [f64]) {
        self.apply(&SparseVec::full(g), out);
    }
    fn adjoint(&self, r: &[f64], out: &mut Vec<f64>) {
        out.resize(self.columns, 0.0);
        parallel::chunks_mut(out, COLUMN_CHUNK, &|chunk, out| {
            for (j, o) in out.iter_mut().enumerate() {
                *o = self.column_dot(chunk * COLUMN_CHUNK + j, r);
            }
        });
    }
    /// Reads each column once for all residuals.
    fn adjoint_block(&self, rs: &[&[f64]], out: &mut [Vec<f64>]) {
        if let ([r], [out]) = (rs, &mut *out) {
            return self.adjoint(r, out);
        }
        out.iter_mut().for_each(|out| out.resize(self.columns, 0.0));
        let mut out: Vec<&mut [f64]> = out.iter_mut().map(Vec::as_mut_slice).collect();
        self.side_by_side(|_| 0, rs, &mut out);
    }
    /// Reads each column once: every entry goes to the part of its row.
    fn adjoint_parts(&self, parts: &Parts, rs: &[&[f64]], out: &mut [Vec<Vec<f64>>]) {
        let mut out = part_major(out, parts.count(), self.columns);
        self.side_by_side(|i| parts.labels()[i], rs, &mut out);
    }
    fn squared_norms(&self, weights: &[&[f64]], centres: Option<&[f64]>) -> Option<Vec<Vec<f64>>> {
        let mut squared_norms = vec![self.new_covector(); weights.len()];
        let mut out: Vec<&mut [f64]> = squared_norms.iter_mut().map(Vec::as_mut_slice).collect();
        if out.is_empty() {
            return Some(squared_norms);
        }
        let totals: Vec<f64> = weights.iter().map(|w| w.iter().sum()).collect();
        kernels::for_each_part(&mut out, COLUMN_CHUNK, &|first, out| {
            for j in 0..out[0].len() {
                let centre = centres.map_or(0.0, |c| c[first + j]);
                let column = self.merged_column(first + j);
                for ((out, w), total) in out.iter_mut().zip(weights).zip(&totals) {
                    let (mut squared_norm, mut stored) = (0.0, 0.0);
                    for &(i, v) in &column {
                        squared_norm += w[i] * (v - centre).powi(2);
                        stored += w[i];
                    }
                    // As in the moments: what is not stored is a zero.
                    out[j] = squared_norm + (total - stored).max(0.0) * centre.powi(2);
                }
            }
        });
        Some(squared_norms)
    }
    /// A column on the right, times h, is laid out along the rows once; every column on the left looks up its rows. Of a
    /// symmetric block only one half is computed.
    fn products(&self, h: &[f64], left: &IndexSet, right: &IndexSet) -> Option<Matrix> {
        let (stored, symmetric) = (self.stored_of(left.indices()), left == right);
        let (left, right) = (left.indices(), right.indices());
        let all = self.rows as f64 * (left.len() + right.len()) as f64;
        if (stored + self.stored_of(right)) as f64 > FEW * all {
            return None;
        }
        let column = |laid: &mut Vec<f64>, b: usize| -> Vec<f64> {
            self.column(right[b]).for_each(|(i, v)| laid[i] += h[i] * v);
            let met = if symmetric { &left[..=b] } else { left };
            let products = met.iter().map(|&j| self.column_dot(j, laid)).collect();
            self.column(right[b]).for_each(|(i, _)| laid[i] = 0.0);
            products
        };
        let width = if stored * right.len() < PARALLEL_WORK { right.len() } else { 8 };
        let mut products: Vec<Vec<f64>> = vec![Vec::new(); right.len()];
        parallel::chunks_mut(&mut products, width.max(1), &|chunk, products| {
            let mut laid = vec![0.0; self.rows];
            products.iter_mut().enumerate().for_each(|(b, out)| *out = column(&mut laid, chunk * width + b));
        });
        let entry = |a: usize, b: usize| if a < products[b].len() { products[b][a] } else { products[a][b] };
        Some(Matrix::from_fn(left.len(), right.len(), entry))
    }
    fn adjoint_on(&self, r: &[f64], t: &IndexSet) -> SparseVec {
        let values = t.indices().iter().map(|&j| self.column_dot(j, r)).collect();
        SparseVec::sorted(t.dim(), t.indices().to_vec(), values)
    }
}

impl<T: Real, I: SparseIndex, P: SparseIndex> ColumnMoments for Csc<'_, T, I, P> {
    fn moments(&self, weights: &[f64]) -> Moments {
        let total: f64 = weights.iter().sum();
        let one = |j: usize| {
            let mean = self.column_dot(j, weights) / total;
            let (mut deviation, mut square, mut stored) = (0.0, 0.0, 0.0);
            for (i, v) in self.merged_column(j) {
                deviation += weights[i] * (v - mean);
                square += weights[i] * (v - mean).powi(2);
                stored += weights[i];
            }
            // Entries that are not stored are zeros: they stand mean away from the mean. In the
            // order of the rows, the weights of a full column add up to exactly the total.
            let absent = (total - stored).max(0.0);
            corrected(mean, (deviation - absent * mean) / total, (square + absent * mean * mean) / total)
        };
        let mut both = vec![(0.0, 0.0); self.columns];
        parallel::chunks_mut(&mut both, COLUMN_CHUNK, &|chunk, both| {
            both.iter_mut().enumerate().for_each(|(j, both)| *both = one(chunk * COLUMN_CHUNK + j));
        });
        let (means, variances) = both.into_iter().unzip();
        Moments { means, variances }
    }
}
