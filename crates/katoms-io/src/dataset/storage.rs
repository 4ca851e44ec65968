//! The numbers of a design, as the file has them or copied from its columns.

use katoms::operator::{AnyDesign, Csc, Dense, Layout};

use crate::error::Error;
use crate::source::{Array, Numbers, Sparse, View};

/// The numbers of a design.
#[derive(Debug)]
pub(super) enum Storage {
    Dense(Array),
    Sparse(Sparse),
}

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
        Self::Dense(Array { numbers: Numbers::F64(numbers), rows, columns, layout, is_vector: false })
    }

    pub(super) fn design(&self) -> Result<AnyDesign<'_>, Error> {
        Ok(match self {
            Self::Dense(array) => match (array.numbers.as_slice(), array.layout) {
                (View::F32(v), Layout::ColumnMajor) => Dense::column_major(v, array.rows, array.columns)?.into(),
                (View::F32(v), Layout::RowMajor) => Dense::row_major(v, array.rows, array.columns)?.into(),
                (View::F64(v), Layout::ColumnMajor) => Dense::column_major(v, array.rows, array.columns)?.into(),
                (View::F64(v), Layout::RowMajor) => Dense::row_major(v, array.rows, array.columns)?.into(),
            },
            Self::Sparse(s) => Csc::new(s.rows, s.columns, &s.starts[..], &s.indices[..], &s.values[..])?.into(),
        })
    }

    /// (rows, columns).
    pub(super) fn shape(&self) -> (usize, usize) {
        match self {
            Self::Dense(array) => (array.rows, array.columns),
            Self::Sparse(sparse) => (sparse.rows, sparse.columns),
        }
    }

    /// Row and value of the entries of a column; of a sparse one those that are stored.
    pub(super) fn each(&self, column: usize, mut see: impl FnMut(usize, f64)) {
        match self {
            Self::Dense(array) => {
                let (start, step) = match array.layout {
                    Layout::ColumnMajor => (column.saturating_mul(array.rows), 1),
                    Layout::RowMajor => (column, array.columns.max(1)),
                };
                match array.numbers.as_slice() {
                    View::F32(v) => strided(v, start, step).take(array.rows).for_each(|(i, v)| see(i, f64::from(v))),
                    View::F64(v) => strided(v, start, step).take(array.rows).for_each(|(i, v)| see(i, v)),
                }
            }
            Self::Sparse(sparse) => {
                let bounds = sparse.starts.get(column).zip(sparse.starts.get(column + 1));
                let range = bounds.map_or(0..0, |(&from, &to)| from..to);
                let rows = sparse.indices.get(range.clone()).unwrap_or_default();
                let values = sparse.values.get(range).unwrap_or_default();
                rows.iter().zip(values).for_each(|(&row, &value)| see(row as usize, value));
            }
        }
    }

    /// Column, row and value of every stored entry that is not 0, in the order in which they lie.
    pub(super) fn each_stored(&self, mut see: impl FnMut(usize, usize, f64)) {
        match self {
            Self::Dense(array) => {
                let place = |at: usize| match array.layout {
                    Layout::ColumnMajor => (at / array.rows, at % array.rows),
                    Layout::RowMajor => (at % array.columns, at / array.columns),
                };
                let mut see = |(at, value): (usize, f64)| {
                    if value != 0.0 {
                        let (column, row) = place(at);
                        see(column, row, value);
                    }
                };
                match array.numbers.as_slice() {
                    View::F32(v) => v.iter().map(|&v| f64::from(v)).enumerate().for_each(&mut see),
                    View::F64(v) => v.iter().copied().enumerate().for_each(&mut see),
                }
            }
            Self::Sparse(sparse) => (0..sparse.columns).for_each(|column| {
                self.each(column, |row, value| {
                    if value != 0.0 {
                        see(column, row, value);
                    }
                });
            }),
        }
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
        match &self {
            Self::Dense(array) => {
                let numbers = match array.numbers.as_slice() {
                    View::F32(_) => Numbers::F32(self.gathered(selection, |v| v as f32)),
                    View::F64(_) => Numbers::F64(self.gathered(selection, |v| v)),
                };
                let (rows, columns) = (selection.rows.len(), selection.columns.len());
                Self::Dense(Array { numbers, rows, columns, layout: Layout::ColumnMajor, is_vector: false })
            }
            Self::Sparse(_) => self.gathered_sparse(selection),
        }
    }

    /// The part, column after column.
    fn gathered<T>(&self, selection: &Selection<'_>, convert: impl Fn(f64) -> T) -> Vec<T> {
        let mut gathered = Vec::with_capacity(selection.rows.len() * selection.columns.len());
        for (j, &column) in selection.columns.iter().enumerate() {
            let values = self.column(column);
            let mean = mean_of(selection, j);
            let kept = selection.rows.iter().filter_map(|&row| values.get(row));
            gathered.extend(kept.map(|&v| convert(if v.is_nan() { mean } else { v })));
        }
        gathered
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
        Self::Sparse(Sparse { rows, columns, starts, indices, values, labels: None })
    }
}

fn mean_of(selection: &Selection<'_>, column: usize) -> f64 {
    selection.means.and_then(|m| m.get(column)).copied().unwrap_or(f64::NAN)
}

fn strided<T: Copy>(values: &[T], start: usize, step: usize) -> impl Iterator<Item = (usize, T)> + '_ {
    values.get(start..).unwrap_or_default().iter().step_by(step).copied().enumerate()
}
