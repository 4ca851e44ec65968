//! A completed matrix as an object of Python: predictions, rows that come later, and a state that can be pickled.

use katoms::Error;
use katoms::linalg::Matrix;
use katoms_estimate::{Centring, CompletedMatrix as Completed, Effects, Observed};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use rayon::prelude::*;

use crate::answer;
use crate::completion::centring_name;
use crate::error::raised;
use crate::pool::on_threads;
use crate::seen::Seen;

/// mean + row effect + column effect + left·diag(singular values)·rightᵀ, kept within bounds.
#[pyclass(module = "katoms._katoms", frozen)]
pub struct CompletedMatrix(pub Completed);

/// What a pickle holds.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct State<'py> {
    left: PyReadonlyArray2<'py, f64>,
    singular_values: PyReadonlyArray1<'py, f64>,
    right: PyReadonlyArray2<'py, f64>,
    centring: String,
    mean: f64,
    row_effects: PyReadonlyArray1<'py, f64>,
    column_effects: PyReadonlyArray1<'py, f64>,
    ridge: f64,
    bounds: (f64, f64),
    empty_rows: Vec<usize>,
    empty_columns: Vec<usize>,
    fallback: Option<f64>,
}

#[pymethods]
impl CompletedMatrix {
    /// From a state.
    #[new]
    fn new(state: State<'_>) -> PyResult<Self> {
        let (left, right) = (matrix(&state.left), matrix(&state.right));
        let centring = match state.centring.as_str() {
            "none" => Centring::None,
            "mean" => Centring::Mean,
            _ => Centring::Effects,
        };
        let (rows, columns) = (state.row_effects.as_slice()?.to_vec(), state.column_effects.as_slice()?.to_vec());
        let singular_values = state.singular_values.as_slice()?.to_vec();
        for (what, found, expected, why) in [
            ("row effects", rows.len(), left.rows(), "one for each row of the left factor"),
            ("column effects", columns.len(), right.rows(), "one for each row of the right factor"),
            ("left factor", left.columns(), singular_values.len(), "a column for each singular value"),
            ("right factor", right.columns(), singular_values.len(), "a column for each singular value"),
        ] {
            if found != expected {
                return Err(raised(Error::Length { what, found, expected, why }));
            }
        }
        Ok(Self(Completed {
            effects: Effects { centring, mean: state.mean, rows, columns },
            left,
            singular_values,
            right,
            ridge: state.ridge,
            bounds: state.bounds,
            empty_rows: state.empty_rows,
            empty_columns: state.empty_columns,
            fallback: state.fallback,
        }))
    }

    /// All that there is, as a dictionary.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (told, of) = (PyDict::new(py), &self.0);
        told.set_item("left", array(py, &of.left)?)?;
        told.set_item("singular_values", PyArray1::from_slice(py, &of.singular_values))?;
        told.set_item("right", array(py, &of.right)?)?;
        told.set_item("centring", centring_name(of.effects.centring))?;
        told.set_item("mean", of.effects.mean)?;
        told.set_item("row_effects", PyArray1::from_slice(py, &of.effects.rows))?;
        told.set_item("column_effects", PyArray1::from_slice(py, &of.effects.columns))?;
        told.set_item("ridge", of.ridge)?;
        told.set_item("bounds", of.bounds)?;
        told.set_item("empty_rows", answer::indices(py, &of.empty_rows))?;
        told.set_item("empty_columns", answer::indices(py, &of.empty_columns))?;
        told.set_item("fallback", of.fallback)?;
        Ok(told)
    }

    /// How it is pickled and copied.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyType>, (Bound<'py, PyDict>,))> {
        Ok((py.get_type::<Self>(), (self.state(py)?,)))
    }

    /// left·diag(singular values), and right.
    fn factors<'py>(&self, py: Python<'py>) -> PyResult<(Array<'py>, Array<'py>)> {
        let mut left = self.0.left.clone();
        left.scale_columns(&self.0.singular_values);
        Ok((array(py, &left)?, array(py, &self.0.right)?))
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
        PyArray1::from_vec(py, py.detach(|| self.0.to_dense())).reshape([rows, columns])
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
        let done: Result<Vec<Vec<f64>>, Error> =
            py.detach(|| on_threads(n_jobs, || (0..shape.0).into_par_iter().map(one).collect()))?;
        PyArray1::from_vec(py, done.map_err(raised)?.concat()).reshape([shape.0, shape.1])
    }
}

fn matrix(array: &PyReadonlyArray2<'_, f64>) -> Matrix {
    let values = array.as_array();
    Matrix::from_fn(array.shape()[0], array.shape()[1], |i, j| values[[i, j]])
}

fn array<'py>(py: Python<'py>, matrix: &Matrix) -> PyResult<Array<'py>> {
    let rows = |i| (0..matrix.columns()).map(move |j| matrix.at(i, j));
    PyArray1::from_iter(py, (0..matrix.rows()).flat_map(rows)).reshape([matrix.rows(), matrix.columns()])
}
