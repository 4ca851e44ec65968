//! A completed matrix as an object of Python: predictions, rows that come later, and pickles.

use katoms::Error;
use katoms::linalg::Matrix;
use katoms_estimate::{Bounds, CompletedMatrix as Completed, Observed, RowModel, reserved};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyType};
use rayon::prelude::*;

use crate::error::raised;
use crate::pool::on_threads;
use crate::seen::Seen;

/// mean + row effect + column effect + scale of the column·(left·diag(singular values)·rightᵀ), kept within bounds.
#[pyclass(module = "katoms._katoms", frozen)]
pub struct CompletedMatrix(pub Completed);

#[pymethods]
impl CompletedMatrix {
    /// From a pickle.
    #[new]
    fn new(bytes: &[u8]) -> PyResult<Self> {
        Completed::from_bytes(bytes).map(Self).map_err(raised)
    }

    /// How it is pickled and copied.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyType>, (Bound<'py, PyBytes>,))> {
        let bytes = self.0.to_bytes().map_err(raised)?;
        Ok((py.get_type::<Self>(), (PyBytes::new(py, &bytes),)))
    }

    /// What an estimator tells of it, as a dictionary.
    fn parts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (told, of) = (PyDict::new(py), &self.0);
        told.set_item("singular_values", PyArray1::from_slice(py, &of.singular_values))?;
        told.set_item("mean", of.effects.mean)?;
        told.set_item("row_effects", PyArray1::from_slice(py, &of.effects.rows))?;
        told.set_item("column_effects", PyArray1::from_slice(py, &of.effects.columns))?;
        told.set_item("scales", PyArray1::from_slice(py, &of.scales))?;
        let noise = match &of.row_model {
            RowModel::Ridge(_) => None,
            RowModel::Factors(model) => Some(PyArray1::from_slice(py, &model.noise)),
        };
        told.set_item("noise", noise)?;
        match &of.bounds {
            Bounds::All(low, high) => told.set_item("bounds", (low, high))?,
            Bounds::Columns(each) => {
                let (low, high) = (each.iter().map(|b| b.0), each.iter().map(|b| b.1));
                told.set_item("bounds", (PyArray1::from_iter(py, low), PyArray1::from_iter(py, high)))?;
            }
        }
        Ok(told)
    }

    /// left·diag(singular values), and right in units of the columns.
    fn factors<'py>(&self, py: Python<'py>) -> PyResult<(Array<'py>, Array<'py>)> {
        let mut left = self.0.left.clone();
        left.scale_columns(&self.0.singular_values);
        let right = Matrix::from_fn(self.0.right.rows(), self.0.right.columns(), |j, a| {
            self.0.scales[j] * self.0.right.at(j, a)
        });
        Ok((array(py, &left)?, array(py, &right)?))
    }

    /// The predictions at some places.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        rows: PyReadonlyArray1<'py, usize>,
        columns: PyReadonlyArray1<'py, usize>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let (rows, columns) = (rows.as_slice()?, columns.as_slice()?);
        let predicted = py.detach(|| self.0.predict(rows, columns)).map_err(raised)?;
        Ok(PyArray1::from_vec(py, predicted))
    }

    /// All predictions.
    fn to_dense<'py>(&self, py: Python<'py>) -> PyResult<Array<'py>> {
        let (rows, columns) = self.0.shape();
        let dense = py.detach(|| self.0.to_dense()).map_err(raised)?;
        PyArray1::from_vec(py, dense).reshape([rows, columns])
    }

    /// The predictions of other rows, from what was seen of them.
    fn predict_rows<'py>(&self, py: Python<'py>, seen: Seen<'py>, n_jobs: Option<usize>) -> Rows<'py> {
        let (shape, seen) = seen.if_any()?;
        self.rows(py, shape, seen.as_ref(), n_jobs)
    }

    /// Other rows: what was seen of them, and predictions elsewhere.
    fn fill_rows<'py>(&self, py: Python<'py>, seen: Seen<'py>, n_jobs: Option<usize>) -> Rows<'py> {
        let (shape, seen) = seen.if_any()?;
        let filled = self.rows(py, shape, seen.as_ref(), n_jobs)?;
        if let Some(seen) = &seen {
            let mut values = filled.readwrite();
            let mut values = values.as_array_mut();
            let kept = seen.rows().iter().zip(seen.columns()).zip(seen.values());
            kept.for_each(|((&row, &column), &value)| values[[row, column]] = value);
        }
        Ok(filled)
    }
}

/// A matrix of Python's.
type Array<'py> = Bound<'py, PyArray2<f64>>;
/// One row for each that was asked for.
type Rows<'py> = PyResult<Array<'py>>;

impl CompletedMatrix {
    fn rows<'py>(
        &self,
        py: Python<'py>,
        shape: (usize, usize),
        seen: Option<&Observed>,
        n_jobs: Option<usize>,
    ) -> Rows<'py> {
        if shape.1 != self.0.shape().1 {
            let (found, expected, why) = (shape.1, self.0.shape().1, "the columns of the matrix");
            return Err(raised(Error::Length { what: "row", found, expected, why }));
        }
        let one = |row: usize| match seen {
            None => self.0.complete_row(&[], &[]),
            Some(seen) => {
                // entries lie row by row
                let (start, end) =
                    (seen.rows().partition_point(|&r| r < row), seen.rows().partition_point(|&r| r <= row));
                self.0.complete_row(&seen.columns()[start..end], &seen.values()[start..end])
            }
        };
        let mut dense = reserved(shape.0, shape.1).map_err(raised)?;
        dense.resize(shape.0 * shape.1, 0.0);
        let lines = dense.par_chunks_mut(shape.1.max(1)).enumerate();
        let fill = |(row, line): (usize, &mut [f64])| one(row).map(|predicted| line.copy_from_slice(&predicted));
        py.detach(|| on_threads(n_jobs, || lines.try_for_each(fill)))?.map_err(raised)?;
        PyArray1::from_vec(py, dense).reshape([shape.0, shape.1])
    }
}

fn array<'py>(py: Python<'py>, matrix: &Matrix) -> PyResult<Array<'py>> {
    let rows = |i| (0..matrix.columns()).map(move |j| matrix.at(i, j));
    PyArray1::from_iter(py, (0..matrix.rows()).flat_map(rows)).reshape([matrix.rows(), matrix.columns()])
}
