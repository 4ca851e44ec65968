//! A completed matrix as an object of Python: predictions, rows that come later, and a state that can be pickled.

use katoms::Error;
use katoms::linalg::Matrix;
use katoms_estimate::{
    Bounds, Centring, CompletedMatrix as Completed, Effects, FactorModel, Observed, RowModel, reserved,
};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use rayon::prelude::*;

use crate::answer;
use crate::error::raised;
use crate::pool::on_threads;
use crate::seen::Seen;

/// mean + row effect + column effect + scale of the column·(left·diag(singular values)·rightᵀ), kept within bounds.
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
    scales: PyReadonlyArray1<'py, f64>,
    ridge: f64,
    factor_model: Option<FactorState<'py>>,
    bounds: BoundsState<'py>,
    empty_rows: Vec<usize>,
    empty_columns: Vec<usize>,
    fallback: Option<f64>,
}

/// A factor analysis in a pickle.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct FactorState<'py> {
    loadings: PyReadonlyArray2<'py, f64>,
    noise: PyReadonlyArray1<'py, f64>,
    centres: Option<PyReadonlyArray2<'py, f64>>,
    spread: Option<PyReadonlyArray2<'py, f64>>,
}

/// Two numbers, or two for each column.
#[derive(FromPyObject)]
pub enum BoundsState<'py> {
    /// For all.
    All(f64, f64),
    /// Lower and upper ones.
    Columns(PyReadonlyArray1<'py, f64>, PyReadonlyArray1<'py, f64>),
}

impl FactorState<'_> {
    fn model(&self) -> PyResult<FactorModel> {
        let centres = self.centres.as_ref().zip(self.spread.as_ref()).map(|(c, spread)| (matrix(c), matrix(spread)));
        FactorModel::new(matrix(&self.loadings), self.noise.as_slice()?.to_vec(), centres).map_err(raised)
    }
}

impl BoundsState<'_> {
    fn bounds(&self) -> PyResult<Bounds> {
        Ok(match self {
            Self::All(low, high) => Bounds::All(*low, *high),
            Self::Columns(low, high) => {
                Bounds::Columns(low.as_slice()?.iter().copied().zip(high.as_slice()?.iter().copied()).collect())
            }
        })
    }
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
            "columns" => Centring::Columns,
            _ => Centring::Effects,
        };
        let (rows, columns) = (state.row_effects.as_slice()?.to_vec(), state.column_effects.as_slice()?.to_vec());
        let (singular_values, scales) = (state.singular_values.as_slice()?.to_vec(), state.scales.as_slice()?.to_vec());
        let bounds = state.bounds.bounds()?;
        let bounded = if let Bounds::Columns(each) = &bounds { each.len() } else { columns.len() };
        let model = state.factor_model.as_ref().map(FactorState::model).transpose()?;
        let loaded = model.as_ref().map_or(columns.len(), |model| model.loadings.rows());
        for (what, found, expected, why) in [
            ("row effects", rows.len(), left.rows(), "one for each row of the left factor"),
            ("column effects", columns.len(), right.rows(), "one for each row of the right factor"),
            ("scales", scales.len(), right.rows(), "one for each row of the right factor"),
            ("bounds", bounded, right.rows(), "two for each row of the right factor"),
            ("loadings", loaded, right.rows(), "one for each row of the right factor"),
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
            scales,
            row_model: model.map_or(RowModel::Ridge(state.ridge), |model| RowModel::Factors(Box::new(model))),
            bounds,
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
        told.set_item("scales", PyArray1::from_slice(py, &of.scales))?;
        match &of.row_model {
            RowModel::Ridge(ridge) => {
                told.set_item("ridge", ridge)?;
                told.set_item("factor_model", py.None())?;
            }
            RowModel::Factors(model) => {
                told.set_item("ridge", 0.0)?;
                told.set_item("factor_model", factor_model(py, model)?)?;
            }
        }
        match &of.bounds {
            Bounds::All(low, high) => told.set_item("bounds", (low, high))?,
            Bounds::Columns(each) => {
                let (low, high) = (each.iter().map(|b| b.0), each.iter().map(|b| b.1));
                told.set_item("bounds", (PyArray1::from_iter(py, low), PyArray1::from_iter(py, high)))?;
            }
        }
        told.set_item("empty_rows", answer::indices(py, &of.empty_rows))?;
        told.set_item("empty_columns", answer::indices(py, &of.empty_columns))?;
        told.set_item("fallback", of.fallback)?;
        Ok(told)
    }

    /// How it is pickled and copied.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyType>, (Bound<'py, PyDict>,))> {
        Ok((py.get_type::<Self>(), (self.state(py)?,)))
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

/// What a centring is called in Python.
pub fn centring_name(centring: Centring) -> &'static str {
    match centring {
        Centring::None => "none",
        Centring::Mean => "mean",
        Centring::Columns => "columns",
        Centring::Effects => "effects",
        Centring::Chosen => "auto",
    }
}

/// A factor analysis, as a dictionary.
fn factor_model<'py>(py: Python<'py>, model: &FactorModel) -> PyResult<Bound<'py, PyDict>> {
    let told = PyDict::new(py);
    told.set_item("loadings", array(py, &model.loadings)?)?;
    told.set_item("noise", PyArray1::from_slice(py, &model.noise))?;
    let centres = model.centres();
    told.set_item("centres", centres.map(|(centres, _)| array(py, centres)).transpose()?)?;
    told.set_item("spread", centres.map(|(_, spread)| array(py, spread)).transpose()?)?;
    Ok(told)
}

fn matrix(array: &PyReadonlyArray2<'_, f64>) -> Matrix {
    let values = array.as_array();
    Matrix::from_fn(array.shape()[0], array.shape()[1], |i, j| values[[i, j]])
}

fn array<'py>(py: Python<'py>, matrix: &Matrix) -> PyResult<Array<'py>> {
    let rows = |i| (0..matrix.columns()).map(move |j| matrix.at(i, j));
    PyArray1::from_iter(py, (0..matrix.rows()).flat_map(rows)).reshape([matrix.rows(), matrix.columns()])
}
