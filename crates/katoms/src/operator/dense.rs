//! Dense designs: numbers of any storage, either order, owned or borrowed.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use super::first_read::{FirstRead, Known};
use super::magnitude::{are_moderate, extremes, no_room};
use super::parts::part_major;
use super::{ColumnMoments, ColumnSize, LinearOperator, Moments, Parts, RowSample, SampledRows, is_its_own_base};
use crate::error::{Error, check_length};
use crate::linalg::kernels::{self, Real};
use crate::linalg::parallel;
use crate::linalg::{Matrix, times_power_of_two};
use crate::space::{IndexSet, SparseVec};

/// Entries of work below which a second thread costs more than it brings.
pub(super) const PARALLEL_WORK: usize = 1 << 18;
/// Entries of a design from which on partial passes pay, and columns for each row: on a narrow design the first full pass
/// finds nearly every atom.
const SAMPLED_WORK: usize = 1 << 23;
const SAMPLED_WIDTH: usize = 4;

/// Columns that are brought together for a product with many residuals.
const GATHERED: usize = 128;
/// Of them, those that one thread copies at a time.
const COPIED: usize = 16;

/// The order in which the entries of a matrix follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Column after column (Fortran, R, Julia): the faster one here.
    ColumnMajor,
    /// Row after row (C, NumPy's default).
    RowMajor,
}

/// A dense design matrix. Borrowed data are not copied.
///
/// Its numbers are double or single precision, halves ([`f16`](crate::operator::f16)) or whole numbers of one byte. They are
/// widened as they are read: storage is a matter of memory, and the answer is that to the numbers stored.
///
/// ```
/// use katoms::operator::{Dense, LinearOperator};
/// let data = [1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0];
/// let a = Dense::column_major(&data, 2, 3)?;      // columns (1,2), (3,4), (5,6)
/// let mut g = a.new_covector();
/// a.adjoint(&[1.0, -1.0], &mut g);
/// assert_eq!(g, [-1.0, -1.0, -1.0]);
/// # Ok::<(), katoms::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Dense<'a, T: Real> {
    data: Cow<'a, [T]>,
    rows: usize,
    columns: usize,
    /// The columns of the whole design, where this is a block of it.
    all_columns: usize,
    layout: Layout,
    /// A coarse copy of some rows, made by the first read or when it is first asked for.
    sample: OnceLock<Arc<RowSample>>,
    /// What the first read told.
    known: Option<Known>,
    /// Whether it was asked.
    asked: bool,
    /// Columns whose squares leave the range of double precision.
    extremes: Vec<ColumnSize>,
}

impl<'a, T: Real> Dense<'a, T> {
    /// A matrix whose columns follow each other. Reads the data once, to find NaN and ∞.
    ///
    /// # Errors
    /// When it is empty, its length is not rows·columns, or a value is not finite.
    pub fn column_major(data: impl Into<Cow<'a, [T]>>, rows: usize, columns: usize) -> Result<Self, Error> {
        Self::with_layout(data, rows, columns, Layout::ColumnMajor, None)
    }

    /// A matrix whose rows follow each other. Reads the data once, to find NaN and ∞.
    ///
    /// # Errors
    /// As [`Dense::column_major`].
    pub fn row_major(data: impl Into<Cow<'a, [T]>>, rows: usize, columns: usize) -> Result<Self, Error> {
        Self::with_layout(data, rows, columns, Layout::RowMajor, None)
    }

    /// A matrix of either order. Reads the data once, to find NaN and ∞; with a [`FirstRead`] the same read tells what
    /// the fit asks first (of rows that follow each other, two reads).
    ///
    /// # Errors
    /// As [`Dense::column_major`], or when the first read is for another number of rows.
    pub fn with_layout(
        data: impl Into<Cow<'a, [T]>>,
        rows: usize,
        columns: usize,
        layout: Layout,
        first: Option<&FirstRead>,
    ) -> Result<Self, Error> {
        let data = data.into();
        if rows == 0 || columns == 0 {
            return Err(Error::Empty { what: "the design matrix" });
        }
        let expected = rows.saturating_mul(columns);
        check_length("design matrix", data.len(), expected, "rows times columns")?;
        let mut a = Self {
            data,
            rows,
            columns,
            all_columns: first.map_or(columns, |first| first.all_columns(columns)),
            layout,
            sample: OnceLock::new(),
            known: None,
            asked: first.is_some(),
            extremes: Vec::new(),
        };
        if let Some(first) = first {
            check_length("target", first.rows(), rows, "one value for each row of the design")?;
            a.read_for(first);
        }
        let sizes = a.looked_at();
        let finite = sizes.iter().all(|(_, size)| size.is_finite());
        if (!finite || (T::as_doubles(&a.data).is_none() && a.known.is_none()))
            && let Some(at) = kernels::first_not_finite(&a.data)
        {
            let (row, column) = a.place(at);
            return Err(Error::NotFinite { what: "design matrix", row, column, value: a.data[at].to_f64() });
        }
        a.extremes = extremes(sizes);
        Ok(a)
    }

    /// The sizes of all columns that may hold more than moderate or finite numbers. What the first read told spares a look
    /// at most columns; only double precision has such numbers.
    fn looked_at(&self) -> Vec<(usize, f64)> {
        let Some(data) = T::as_doubles(&self.data) else { return Vec::new() };
        match &self.known {
            Some(known) => {
                let size = |j: usize| match self.layout {
                    Layout::ColumnMajor => kernels::largest(&data[j * self.rows..][..self.rows]),
                    Layout::RowMajor => kernels::largest_every(data, j, self.columns),
                };
                let doubtful = known.doubtful();
                parallel::map(doubtful.len(), &|at| (doubtful[at], size(doubtful[at])))
            }
            None if are_moderate(data) => Vec::new(),
            None => self.sizes().into_iter().enumerate().collect(),
        }
    }

    /// The largest magnitude in each column. One read of the data.
    pub(super) fn sizes(&self) -> Vec<f64> {
        match (T::as_doubles(&self.data), self.layout) {
            (Some(data), Layout::ColumnMajor) => kernels::largest_columns(data, self.rows),
            (Some(data), Layout::RowMajor) => kernels::largest_rows(data, self.columns),
            (None, _) => {
                let mut sizes = vec![0.0_f64; self.columns];
                for (at, v) in self.data.iter().enumerate() {
                    let size = &mut sizes[self.place(at).1];
                    *size = size.max(v.to_f64().abs());
                }
                sizes
            }
        }
    }

    /// A copy in double precision in which column j is 2^`exponents[j]` times what it is; read for a fit as this one was,
    /// so that both give the same bits.
    pub(super) fn scaled(&self, exponents: &[i32], first: &FirstRead) -> Result<Dense<'static, f64>, Error> {
        let mut data = Vec::new();
        data.try_reserve_exact(self.data.len()).map_err(|_| no_room(&self.extremes))?;
        let value = |(at, v): (usize, &T)| times_power_of_two(v.to_f64(), exponents[self.place(at).1]);
        data.extend(self.data.iter().enumerate().map(value));
        Dense::with_layout(data, self.rows, self.columns, self.layout, Some(first).filter(|_| self.asked))
    }

    /// Answers what is asked; leaves it where the answers do not show that all values are finite.
    fn read_for(&mut self, first: &FirstRead) {
        let (known, sample) = match self.layout {
            Layout::ColumnMajor => Known::of_columns(&self.data, self.columns, first, self.sampled_rows()),
            Layout::RowMajor => (Known::of_rows(&self.data, self.columns, first), None),
        };
        if known.is_finite() {
            self.known = Some(known);
            self.sample = sample.map_or_else(OnceLock::new, |sample| Arc::new(sample).into());
        }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The order of the entries.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Copies of some rows: what they hold in the first column, then in the second.
    pub(super) fn copy_rows(&self, rows: &[usize], out: &mut [f64]) {
        match self.layout {
            Layout::ColumnMajor => {
                for (column, out) in self.data.chunks(self.rows).zip(out.chunks_mut(rows.len())) {
                    out.iter_mut().zip(rows).for_each(|(out, &i)| *out = column[i].to_f64());
                }
            }
            Layout::RowMajor => {
                for (at, &i) in rows.iter().enumerate() {
                    let row = &self.data[i * self.columns..][..self.columns];
                    row.iter().enumerate().for_each(|(j, v)| out[j * rows.len() + at] = v.to_f64());
                }
            }
        }
    }

    /// (row, column) of a position in the data.
    fn place(&self, at: usize) -> (usize, usize) {
        match self.layout {
            Layout::ColumnMajor => (at % self.rows, at / self.rows),
            Layout::RowMajor => (at / self.columns, at % self.columns),
        }
    }

    fn sample(&self) -> Option<&RowSample> {
        let which = self.sampled_rows()?;
        let count = which.count();
        let read = |first: usize, out: &mut [f32]| match self.layout {
            Layout::ColumnMajor => {
                for (j, out) in out.chunks_mut(count).enumerate() {
                    which.pick(&self.data[(first + j) * self.rows..][..self.rows], out);
                }
            }
            Layout::RowMajor => {
                let width = out.len() / count;
                for (at, row) in which.runs().flatten().enumerate() {
                    let values = &self.data[row * self.columns + first..][..width];
                    values.iter().enumerate().for_each(|(j, v)| out[j * count + at] = v.to_f32());
                }
            }
        };
        Some(self.sample.get_or_init(|| Arc::new(RowSample::new(which, self.columns, read))))
    }

    /// Copies of some columns. O(m) for each, parallel.
    fn gathered(&self, columns: &[usize]) -> Matrix {
        let mut data = vec![0.0; self.rows * columns.len()];
        let copy = |columns: &[usize], out: &mut [f64]| match self.layout {
            Layout::ColumnMajor => {
                for (&j, out) in columns.iter().zip(out.chunks_mut(self.rows)) {
                    out.iter_mut().zip(&self.data[j * self.rows..]).for_each(|(out, x)| *out = x.to_f64());
                }
            }
            Layout::RowMajor => {
                for (i, row) in self.data.chunks(self.columns).enumerate() {
                    columns.iter().enumerate().for_each(|(c, &j)| out[c * self.rows + i] = row[j].to_f64());
                }
            }
        };
        if data.len() < PARALLEL_WORK {
            copy(columns, &mut data);
        } else {
            parallel::chunks_mut(&mut data, COPIED * self.rows, &|chunk, out| {
                copy(&columns[chunk * COPIED..][..out.len() / self.rows], out);
            });
        }
        Matrix::from_columns(self.rows, columns.len(), data)
    }
}

/// The rows of which partial passes read a sample, where they pay, for numbers of this type.
pub(super) fn sampled_rows<T>(rows: usize, columns: usize) -> Option<SampledRows> {
    sampled_rows_of(rows, columns, size_of::<T>())
}

/// The same for numbers of so many bytes.
pub(super) fn sampled_rows_of(rows: usize, columns: usize, bytes: usize) -> Option<SampledRows> {
    let pays = rows * columns >= SAMPLED_WORK && columns >= SAMPLED_WIDTH * rows;
    if pays { SampledRows::of(rows, bytes) } else { None }
}

/// [`LinearOperator::adjoint_block_on`]: some columns at a time are brought together and multiplied as matrices.
pub(super) fn gathered_products(
    rs: &[&[f64]],
    t: &IndexSet,
    rows: usize,
    gathered: &(dyn Fn(&[usize]) -> Matrix + Sync),
) -> Vec<SparseVec> {
    let residuals = Matrix::from_columns(rows, rs.len(), rs.concat());
    let product = |some: &[usize]| gathered(some).transposed_times(&residuals);
    let chunks: Vec<&[usize]> = t.indices().chunks(GATHERED).collect();
    let products: Vec<Matrix> = if rows * t.indices().len() * rs.len() < PARALLEL_WORK {
        chunks.into_iter().map(product).collect()
    } else {
        parallel::map(chunks.len(), &|at| product(chunks[at]))
    };
    let values = |q: usize| products.iter().flat_map(|product| product.column(q)).copied().collect();
    (0..rs.len()).map(|q| SparseVec::sorted(t.dim(), t.indices().to_vec(), values(q))).collect()
}

impl<T: Real> LinearOperator for Dense<'_, T> {
    type Point = SparseVec;
    type Covector = Vec<f64>;
    is_its_own_base!();

    fn domain(&self) -> usize {
        self.columns
    }
    fn n_outputs(&self) -> usize {
        self.rows
    }
    fn new_covector(&self) -> Vec<f64> {
        vec![0.0; self.columns]
    }
    fn apply(&self, x: &SparseVec, out: &mut [f64]) {
        let x = (x.indices(), x.values());
        match self.layout {
            Layout::ColumnMajor => kernels::apply_columns(&self.data, x, out),
            Layout::RowMajor => kernels::apply_rows(&self.data, self.columns, x, out),
        }
    }
    fn apply_covector(&self, g: &Vec<f64>, out: &mut [f64]) {
        self.apply(&SparseVec::full(g), out);
    }
    fn adjoint(&self, r: &[f64], out: &mut Vec<f64>) {
        out.resize(self.columns, 0.0);
        if let Some(pass) = self.known.as_ref().and_then(|known| known.pass(r)) {
            return out.copy_from_slice(pass);
        }
        match self.layout {
            Layout::ColumnMajor => kernels::adjoint_columns(&self.data, r, out),
            Layout::RowMajor => kernels::adjoint_rows(&self.data, r, out),
        }
    }
    fn rounding(&self) -> f64 {
        T::ROUNDING
    }
    fn extremes(&self) -> &[ColumnSize] {
        &self.extremes
    }
    fn sampled_rows(&self) -> Option<SampledRows> {
        sampled_rows::<T>(self.rows, self.all_columns)
    }
    fn adjoint_sampled(&self, r: &[f64], out: &mut Vec<f64>) {
        match self.sample() {
            Some(sample) => {
                out.resize(self.columns, 0.0);
                sample.adjoint(r, out);
            }
            None => self.adjoint(r, out),
        }
    }
    fn adjoint_block(&self, rs: &[&[f64]], out: &mut [Vec<f64>]) {
        if let ([r], [out]) = (rs, &mut *out) {
            return self.adjoint(r, out); // which may be known
        }
        out.iter_mut().for_each(|g| g.resize(self.columns, 0.0));
        let mut out: Vec<&mut [f64]> = out.iter_mut().map(Vec::as_mut_slice).collect();
        match self.layout {
            Layout::ColumnMajor => kernels::adjoint_columns_block(&self.data, rs, &mut out),
            Layout::RowMajor => kernels::adjoint_rows_block(&self.data, rs, &mut out),
        }
    }
    fn adjoint_parts(&self, parts: &Parts, rs: &[&[f64]], out: &mut [Vec<Vec<f64>>]) {
        let mut out = part_major(out, parts.count(), self.columns);
        match self.layout {
            Layout::ColumnMajor => kernels::adjoint_columns_parts(&self.data, parts.sorted(), rs, &mut out),
            Layout::RowMajor => kernels::adjoint_rows_parts(&self.data, parts.sorted(), rs, &mut out),
        }
    }
    fn squared_norms(&self, weights: &[&[f64]], centres: Option<&[f64]>) -> Option<Vec<Vec<f64>>> {
        if let Some(squared_norms) = self.known.as_ref().and_then(|known| known.squared_norms(weights, centres)) {
            return Some(squared_norms);
        }
        let centres = centres.map_or_else(|| Cow::Owned(self.new_covector()), Cow::Borrowed);
        let mut squared_norms = vec![self.new_covector(); weights.len()];
        let mut out: Vec<&mut [f64]> = squared_norms.iter_mut().map(Vec::as_mut_slice).collect();
        match self.layout {
            Layout::ColumnMajor => kernels::squared_norms_columns(&self.data, weights, &centres, &mut out),
            Layout::RowMajor => kernels::squared_norms_rows(&self.data, weights, &centres, &mut out),
        }
        Some(squared_norms)
    }
    fn knows_squared_norms(&self, weights: &[f64]) -> bool {
        self.known.as_ref().is_some_and(|known| known.moments(weights).is_some())
    }
    fn adjoint_block_on(&self, rs: &[&[f64]], t: &IndexSet) -> Vec<SparseVec> {
        gathered_products(rs, t, self.rows, &|some| self.gathered(some))
    }
    fn adjoint_on(&self, r: &[f64], t: &IndexSet) -> SparseVec {
        let (picked, mut values) = (t.indices(), vec![0.0; t.indices().len()]);
        match self.layout {
            Layout::ColumnMajor => kernels::adjoint_picked_columns(&self.data, r, picked, &mut values),
            Layout::RowMajor => kernels::adjoint_picked_rows(&self.data, r, (picked, self.columns), &mut values),
        }
        SparseVec::sorted(t.dim(), picked.to_vec(), values)
    }
}

impl<T: Real> ColumnMoments for Dense<'_, T> {
    fn moments(&self, weights: &[f64]) -> Moments {
        if let Some(moments) = self.known.as_ref().and_then(|known| known.moments(weights)) {
            return moments.clone();
        }
        let (mut means, mut variances) = (self.new_covector(), self.new_covector());
        match self.layout {
            Layout::ColumnMajor => kernels::moments_columns(&self.data, weights, &mut means, &mut variances),
            Layout::RowMajor => kernels::moments_rows(&self.data, weights, &mut means, &mut variances),
        }
        Moments { means, variances }
    }
}
