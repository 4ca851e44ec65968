//! The numbers of a design, as the file has them or copied from its columns.

use std::sync::OnceLock;

use katoms::linalg::kernels::Real;
use katoms::operator::{AnyDesign, Csc, FirstRead, Layout, Storage as StoredIn, f16};

use super::checksum::{Digest, mixed};
use super::packed::{Packed, Selection};
use crate::error::Error;
use crate::on_numbers;
use crate::parallel;
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

    /// The numbers, where all are stored.
    pub(super) fn dense(&self) -> Option<&Array> {
        match &self.held {
            Held::Dense(array) => Some(array),
            Held::Sparse(_) | Held::Genotypes(_) => None,
        }
    }

    /// The same of a sparse matrix.
    pub(super) fn sparse(&self) -> Option<&Sparse> {
        match &self.held {
            Held::Sparse(sparse) => Some(sparse),
            Held::Dense(_) | Held::Genotypes(_) => None,
        }
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
    pub(super) fn each(&self, column: usize, see: &mut dyn FnMut(usize, f64)) {
        match &self.held {
            Held::Dense(array) => array.column(column).into_iter().enumerate().for_each(|(row, value)| see(row, value)),
            Held::Sparse(sparse) => {
                let (rows, values) = entries(sparse, column);
                rows.iter().zip(values).for_each(|(&row, &value)| see(row as usize, value));
            }
            Held::Genotypes(packed) => packed.each(column, see),
        }
    }

    /// Column, row and value of every stored entry that is not 0, in the order in which they lie.
    pub(super) fn each_stored(&self, see: &mut dyn FnMut(usize, usize, f64)) {
        let mut line = Vec::new();
        for at in 0..self.lines() {
            match &self.held {
                Held::Dense(array) => {
                    fill_line(array, at, &mut line);
                    for (place, &value) in line.iter().enumerate().filter(|(_, value)| **value != 0.0) {
                        let (row, column) = row_and_column(array.layout, at, place);
                        see(column, row, value);
                    }
                }
                _ => self.each(at, &mut |row, value| {
                    if value != 0.0 {
                        see(at, row, value);
                    }
                }),
            }
        }
    }

    /// Whether all is finite, and the sum of a checksum: one read, the first time.
    pub(super) fn digest(&self) -> Digest {
        *self.digest.get_or_init(|| {
            let (lines, (rows, columns)) = (self.lines(), self.shape());
            let together = (TOGETHER * lines).div_ceil((rows * columns).max(1)).max(1);
            let some = |block: usize| {
                let (mut digest, mut line) = (Digest::default(), Vec::new());
                for at in block * together..((block + 1) * together).min(lines) {
                    match &self.held {
                        Held::Dense(array) => {
                            fill_line(array, at, &mut line);
                            for (place, &value) in line.iter().enumerate().filter(|(_, value)| **value != 0.0) {
                                digest.see(rows, row_and_column(array.layout, at, place), value);
                            }
                        }
                        Held::Sparse(sparse) => {
                            let (places, values) = entries(sparse, at);
                            for (&row, &value) in places.iter().zip(values).filter(|(_, value)| **value != 0.0) {
                                digest.see(rows, (row as usize, at), value);
                            }
                        }
                        Held::Genotypes(packed) => packed.add_to(&mut digest, at),
                    }
                }
                digest
            };
            parallel::gather(lines.div_ceil(together), &some).into_iter().fold(Digest::default(), Digest::and)
        })
    }

    /// The checksum of the design and of vectors beside it, as 16 hexadecimal digits.
    pub(super) fn checksum(&self, vectors: &[&[f64]]) -> String {
        let (rows, columns) = self.shape();
        let mut sum = mixed(rows as u64, columns as u64).wrapping_add(self.digest().sum);
        for (vector, which) in vectors.iter().zip([2_u64, 4, 6, 1, 3, 5, 7].map(|which| which << 61)) {
            for (row, value) in vector.iter().enumerate() {
                sum = sum.wrapping_add(mixed(which | row as u64, value.to_bits()));
            }
        }
        format!("{sum:016x}")
    }

    /// The lines in which the entries lie: rows of a matrix that goes row by row, otherwise columns.
    fn lines(&self) -> usize {
        match &self.held {
            Held::Dense(array) if array.layout == Layout::RowMajor => array.rows,
            _ => self.shape().1,
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
        self.each_stored(&mut |column, row, value| {
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
        self.each(column, &mut |row, value| {
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
            self.each(column, &mut |row, value| {
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

/// The rows and the values of the entries of a column.
fn entries(sparse: &Sparse, column: usize) -> (&[u32], &[f64]) {
    let bounds = sparse.starts.get(column).zip(sparse.starts.get(column + 1));
    let range = bounds.map_or(0..0, |(&from, &to)| from..to);
    let (rows, values) = (sparse.indices.get(range.clone()), sparse.values.get(range));
    (rows.unwrap_or_default(), values.unwrap_or_default())
}

/// The numbers of a line of a dense matrix.
fn fill_line(array: &Array, line: usize, out: &mut Vec<f64>) {
    let length = match array.layout {
        Layout::ColumnMajor => array.rows,
        Layout::RowMajor => array.columns,
    };
    out.clear();
    on_numbers!(&array.numbers, v => {
        let values = v.get(line * length..(line + 1) * length).unwrap_or_default();
        out.extend(values.iter().map(|value| Real::to_f64(*value)));
    });
}

fn row_and_column(layout: Layout, line: usize, place: usize) -> (usize, usize) {
    match layout {
        Layout::ColumnMajor => (place, line),
        Layout::RowMajor => (line, place),
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
