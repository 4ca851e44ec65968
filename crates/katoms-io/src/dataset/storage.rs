//! The numbers of a design, as the file has them or copied from its columns.

use std::sync::OnceLock;

use katoms::linalg::kernels::Real;
use katoms::operator::{AnyDesign, Csc, FirstRead, Layout, Storage as StoredIn, f16};
use rayon::prelude::*;

use super::checksum::Digest;
use super::genotypes::Packed;
use crate::error::Error;
use crate::on_numbers;
use crate::source::{Array, Numbers, Sparse};

/// The numbers of a design.
#[derive(Debug)]
pub(super) struct Storage {
    pub(super) held: Held,
    /// What one read has told.
    digest: OnceLock<Digest>,
}

/// How they are held.
#[derive(Debug)]
pub(super) enum Held {
    Dense(Array),
    Sparse(Sparse),
    Genotypes(Packed),
}

impl From<Held> for Storage {
    fn from(held: Held) -> Self {
        Self { held, digest: OnceLock::new() }
    }
}

/// Lines of a dense matrix, or columns of a sparse one, that a thread takes together: so many entries at least.
const TOGETHER: usize = 1 << 16;

/// Which rows and columns are copied, and what stands where a number is missing.
pub(super) struct Selection<'s> {
    pub(super) rows: &'s [usize],
    pub(super) columns: &'s [usize],
    /// For each of these columns.
    pub(super) means: Option<&'s [f64]>,
}

impl Storage {
    /// A design of columns that follow each other.
    pub(super) fn of_columns(numbers: Vec<f64>, rows: usize, columns: usize) -> Self {
        let layout = Layout::ColumnMajor;
        Held::Dense(Array { numbers: Numbers::F64(numbers.into()), rows, columns, layout, is_vector: false }).into()
    }

    pub(super) fn design(&self, first: Option<&FirstRead>) -> Result<AnyDesign<'_>, Error> {
        Ok(match &self.held {
            Held::Dense(Array { numbers, rows, columns, layout, .. }) => {
                on_numbers!(numbers, v => StoredIn::design(v, (*rows, *columns), *layout, first)?)
            }
            Held::Sparse(s) => Csc::new(s.rows, s.columns, &s.starts[..], &s.indices[..], &s.values[..])?.into(),
            Held::Genotypes(packed) => packed.design(first)?,
        })
    }

    /// (rows, columns).
    pub(super) fn shape(&self) -> (usize, usize) {
        match &self.held {
            Held::Dense(array) => (array.rows, array.columns),
            Held::Sparse(sparse) => (sparse.rows, sparse.columns),
            Held::Genotypes(packed) => packed.shape(),
        }
    }

    /// Row and value of the entries of a column; of a sparse one those that are stored.
    pub(super) fn each(&self, column: usize, mut see: impl FnMut(usize, f64)) {
        match &self.held {
            Held::Dense(array) => {
                let (start, step) = match array.layout {
                    Layout::ColumnMajor => (column.saturating_mul(array.rows), 1),
                    Layout::RowMajor => (column, array.columns.max(1)),
                };
                on_numbers!(&array.numbers, v => strided(v, start, step).take(array.rows).for_each(|(i, v)| see(i, v)));
            }
            Held::Sparse(sparse) => {
                let bounds = sparse.starts.get(column).zip(sparse.starts.get(column + 1));
                let range = bounds.map_or(0..0, |(&from, &to)| from..to);
                let rows = sparse.indices.get(range.clone()).unwrap_or_default();
                let values = sparse.values.get(range).unwrap_or_default();
                rows.iter().zip(values).for_each(|(&row, &value)| see(row as usize, value));
            }
            Held::Genotypes(packed) => packed.each(column, see),
        }
    }

    /// Column, row and value of every stored entry that is not 0, in the order in which they lie.
    pub(super) fn each_stored(&self, mut see: impl FnMut(usize, usize, f64)) {
        (0..self.lines()).for_each(|line| self.each_in_line(line, &mut see));
    }

    /// Whether all is finite, and the sum of a checksum: one read, the first time.
    pub(super) fn digest(&self) -> Digest {
        *self.digest.get_or_init(|| {
            let (lines, (rows, columns)) = (self.lines(), self.shape());
            let together = (TOGETHER * lines).div_ceil((rows * columns).max(1)).max(1);
            let some = |block: usize| {
                let mut digest = Digest::default();
                for line in block * together..((block + 1) * together).min(lines) {
                    match &self.held {
                        Held::Genotypes(packed) => packed.add_to(&mut digest, line),
                        _ => self.each_in_line(line, &mut |column, row, value| digest.see(rows, (row, column), value)),
                    }
                }
                digest
            };
            (0..lines.div_ceil(together)).into_par_iter().map(some).reduce(Digest::default, Digest::and)
        })
    }

    /// The lines in which the entries lie: rows of a matrix that goes row by row, otherwise columns.
    fn lines(&self) -> usize {
        match &self.held {
            Held::Dense(array) if array.layout == Layout::RowMajor => array.rows,
            _ => self.shape().1,
        }
    }

    /// Column, row and value of the entries of a line that are not 0.
    fn each_in_line(&self, line: usize, see: &mut impl FnMut(usize, usize, f64)) {
        match &self.held {
            Held::Dense(array) => on_numbers!(&array.numbers, v => each_dense(v, array, line, see)),
            Held::Sparse(_) | Held::Genotypes(_) => self.each(line, |row, value| {
                if value != 0.0 {
                    see(line, row, value);
                }
            }),
        }
    }

    /// For each column the sum over some rows of what is not missing, and how many values that are; in one pass.
    pub(super) fn sums(&self, rows: &[usize]) -> Vec<(f64, usize)> {
        if let Held::Genotypes(packed) = &self.held {
            return packed.sums(rows);
        }
        let (all, columns) = self.shape();
        let mut is_kept = vec![false; all];
        rows.iter().for_each(|&row| is_kept.get_mut(row).into_iter().for_each(|kept| *kept = true));
        let mut sums = vec![(0.0, rows.len()); columns];
        self.each_stored(|column, row, value| {
            if let (Some(true), Some((sum, n))) = (is_kept.get(row), sums.get_mut(column)) {
                if value.is_nan() {
                    *n = n.saturating_sub(1);
                } else {
                    *sum += value;
                }
            }
        });
        sums
    }

    /// A column, zeros included.
    pub(super) fn column(&self, column: usize) -> Vec<f64> {
        let mut values = vec![0.0; self.shape().0];
        self.each(column, |row, value| {
            if let Some(v) = values.get_mut(row) {
                *v += value;
            }
        });
        values
    }

    /// A part of the design; itself where that is all of it and nothing is replaced.
    pub(super) fn selected(self, selection: &Selection<'_>) -> Self {
        let (rows, columns) = self.shape();
        let all_columns = selection.columns.iter().copied().eq(0..columns);
        if selection.rows.len() == rows && all_columns && selection.means.is_none() {
            return self;
        }
        match self.held {
            Held::Dense(ref array) => {
                let numbers = match &array.numbers {
                    Numbers::I8(v) => Numbers::I8(gathered(v, array, selection, |mean| mean as i8).into()),
                    Numbers::U8(v) => Numbers::U8(gathered(v, array, selection, |mean| mean as u8).into()),
                    Numbers::F16(v) => Numbers::F16(gathered(v, array, selection, f16::from_f64).into()),
                    Numbers::F32(v) => Numbers::F32(gathered(v, array, selection, |mean| mean as f32).into()),
                    Numbers::F64(v) => Numbers::F64(gathered(v, array, selection, |mean| mean).into()),
                };
                let (rows, columns) = (selection.rows.len(), selection.columns.len());
                Held::Dense(Array { numbers, rows, columns, layout: Layout::ColumnMajor, is_vector: false }).into()
            }
            Held::Sparse(_) => self.gathered_sparse(selection),
            Held::Genotypes(packed) => Held::Genotypes(packed.into_selected(selection)).into(),
        }
    }

    fn gathered_sparse(&self, selection: &Selection<'_>) -> Self {
        let mut places = vec![None; self.shape().0];
        for (new, &old) in selection.rows.iter().enumerate() {
            if let Some(place) = places.get_mut(old) {
                *place = Some(new as u32);
            }
        }
        let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for (j, &column) in selection.columns.iter().enumerate() {
            let mean = mean_of(selection, j);
            self.each(column, |row, value| {
                if let Some(&Some(row)) = places.get(row) {
                    indices.push(row);
                    values.push(if value.is_nan() { mean } else { value });
                }
            });
            starts.push(values.len());
        }
        let (rows, columns) = (selection.rows.len(), selection.columns.len());
        Held::Sparse(Sparse { rows, columns, starts, indices, values, labels: None }).into()
    }
}

/// The entries of a line of a dense matrix that are not 0.
fn each_dense<T: Real>(values: &[T], array: &Array, line: usize, see: &mut impl FnMut(usize, usize, f64)) {
    let length = match array.layout {
        Layout::ColumnMajor => array.rows,
        Layout::RowMajor => array.columns,
    };
    let values = values.get(line * length..(line + 1) * length).unwrap_or_default();
    for (place, &value) in values.iter().enumerate() {
        let value = value.to_f64();
        if value != 0.0 {
            match array.layout {
                Layout::ColumnMajor => see(line, place, value),
                Layout::RowMajor => see(place, line, value),
            }
        }
    }
}

/// Rows that are copied together: large files are read from front to back, and what is written lies in runs.
const BLOCK: usize = 64;

/// A part of a dense matrix, column after column. `convert` brings a mean to the precision of the numbers; whole ones are
/// never missing.
fn gathered<T: Real>(values: &[T], array: &Array, selection: &Selection<'_>, convert: impl Fn(f64) -> T) -> Vec<T> {
    let n = selection.rows.len();
    let mut gathered = vec![T::default(); n * selection.columns.len()];
    // whole columns where these follow each other, blocks of rows where rows do
    let (block, to_row, to_column) = match array.layout {
        Layout::ColumnMajor => (n, 1, array.rows),
        Layout::RowMajor => (BLOCK, array.columns, 1),
    };
    for (b, rows) in selection.rows.chunks(block.max(1)).enumerate() {
        for (j, &column) in selection.columns.iter().enumerate() {
            let mean = mean_of(selection, j);
            let run = gathered.get_mut(j * n + b * block..).unwrap_or_default();
            for (out, &row) in run.iter_mut().zip(rows) {
                let value = values.get(row * to_row + column * to_column).copied().unwrap_or_default();
                *out = if value.to_f64().is_nan() { convert(mean) } else { value };
            }
        }
    }
    gathered
}

fn mean_of(selection: &Selection<'_>, column: usize) -> f64 {
    selection.means.and_then(|m| m.get(column)).copied().unwrap_or(f64::NAN)
}

fn strided<T: Real>(values: &[T], start: usize, step: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
    values.get(start..).unwrap_or_default().iter().step_by(step).map(|v| v.to_f64()).enumerate()
}
