//! What a model predicts, and how good that is.

use katoms::Error;
use katoms::loss::{LeastSquares, Logistic};
use katoms::operator::{AnyDesign, LinearOperator};
use katoms::space::SparseVec;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::answer;
use crate::design::{Holes, Matrix};
use crate::ended::Ended;
use crate::error::raised;
use crate::pool::on_threads;

/// Adds the functions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(missing, module)?)?;
    module.add_function(wrap_pyfunction!(check, module)?)?;
    module.add_function(wrap_pyfunction!(predict, module)?)?;
    module.add_function(wrap_pyfunction!(probabilities, module)?)?;
    module.add_function(wrap_pyfunction!(log_probabilities, module)?)?;
    module.add_function(wrap_pyfunction!(r_squared, module)?)?;
    module.add_function(wrap_pyfunction!(accuracy, module)?)
}

/// Whether a matrix can be read: its arrays agree, and every value is finite.
#[pyfunction]
fn check(py: Python<'_>, design: Matrix<'_>) -> PyResult<()> {
    let view = design.view(&Ended::default())?;
    py.detach(|| on_threads(None, || view.design(None).map(|_| ())))?.map_err(raised)
}

/// intercept + X·coefficients, one for each row; refused where one is no number. Reads only the columns that the model has.
#[pyfunction]
fn predict<'py>(
    py: Python<'py>,
    design: Matrix<'py>,
    coef: PyReadonlyArray1<'py, f64>,
    intercept: f64,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let ended = Ended::default();
    let view = design.view(&ended)?;
    let coefficients = SparseVec::from_dense(coef.as_slice()?);
    check_length("list of coefficients", coefficients.dim(), view.shape().1)?;
    let predicted = py.detach(|| {
        on_threads(None, || {
            let mut out = vec![intercept; view.shape().0];
            view.predict(&coefficients, &mut out)?;
            // Reads all of it, and finds what is not finite.
            let design = view.design(None)?;
            match out.iter().position(|z| !z.is_finite()) {
                Some(row) if !ended.is_ended() => Err(overflow(&design, &coefficients, row)),
                _ => Ok(out),
            }
        })
    })?;
    if let Some(error) = ended.take() {
        return Err(error);
    }
    Ok(PyArray1::from_vec(py, predicted.map_err(raised)?))
}

/// A prediction that is no number: the part of it that is the largest.
fn overflow(design: &AnyDesign<'_>, coefficients: &SparseVec, row: usize) -> Error {
    let value = |column: usize| {
        let mut out = vec![0.0; design.n_outputs()];
        if let Ok(unit) = SparseVec::new(design.domain(), vec![column], vec![1.0]) {
            design.apply(&unit, &mut out);
        }
        out.get(row).copied().unwrap_or(f64::NAN)
    };
    let parts = coefficients.entries().map(|(column, coefficient)| (column, value(column), coefficient));
    let size = |&(_, value, coefficient): &(usize, f64, f64)| (value * coefficient).abs();
    let largest = parts.max_by(|a, b| size(a).total_cmp(&size(b)));
    let (column, value, coefficient) = largest.unwrap_or((0, f64::NAN, f64::NAN));
    Error::Prediction { row, column, value, coefficient }
}

/// Of each column: how many values are missing, the first row that lacks one, and the mean of the others.
type Lacking<'py> = (Bound<'py, PyArray1<i64>>, Vec<Option<usize>>, Bound<'py, PyArray1<f64>>);

/// What each column lacks in some rows, or in all.
#[pyfunction]
fn missing<'py>(py: Python<'py>, design: Matrix<'py>, rows: Option<Vec<usize>>) -> PyResult<Lacking<'py>> {
    let view = design.view(&Ended::default())?;
    let rows = rows.unwrap_or_else(|| (0..view.shape().0).collect());
    let holes = py.detach(|| view.holes(&rows));
    let counts: Vec<usize> = holes.iter().map(|holes| holes.count).collect();
    let means = PyArray1::from_iter(py, holes.iter().map(Holes::mean));
    Ok((answer::indices(py, &counts), holes.iter().map(|holes| holes.first).collect(), means))
}

/// The probabilities of both classes at each linear prediction, row by row.
#[pyfunction]
fn probabilities<'py>(py: Python<'py>, linear: PyReadonlyArray1<'py, f64>) -> PyResult<Bound<'py, PyArray1<f64>>> {
    both(py, &linear, Logistic::probability)
}

/// Their logarithms.
#[pyfunction]
fn log_probabilities<'py>(py: Python<'py>, linear: PyReadonlyArray1<'py, f64>) -> PyResult<Bound<'py, PyArray1<f64>>> {
    both(py, &linear, katoms_estimate::log_probability)
}

/// A number for both classes: the first is the second at the opposite prediction.
fn both<'py>(
    py: Python<'py>,
    linear: &PyReadonlyArray1<'py, f64>,
    of: impl Fn(f64) -> f64,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let pairs: Vec<f64> = linear.as_slice()?.iter().flat_map(|&z| [of(-z), of(z)]).collect();
    Ok(PyArray1::from_vec(py, pairs))
}

/// R² of predictions.
#[pyfunction]
fn r_squared(
    target: PyReadonlyArray1<'_, f64>,
    predicted: PyReadonlyArray1<'_, f64>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
) -> PyResult<f64> {
    let (predicted, weights) = (predicted.as_slice()?, weights_of(weights.as_ref())?);
    let target = target.as_slice()?;
    check_length("target", target.len(), predicted.len())?;
    // The loss says what is wrong with a target or with weights.
    let checked = LeastSquares::new(target).and_then(|loss| match weights {
        Some(weights) => loss.weighted(weights),
        None => Ok(loss),
    });
    checked.map_err(raised)?;
    Ok(katoms_estimate::r_squared(target, predicted, weights))
}

/// The weighted share of what is right.
#[pyfunction]
fn accuracy(right: PyReadonlyArray1<'_, bool>, weights: Option<PyReadonlyArray1<'_, f64>>) -> PyResult<f64> {
    let (right, weights) = (right.as_slice()?, weights_of(weights.as_ref())?);
    if let Some(weights) = weights {
        LeastSquares::new(vec![0.0; right.len()]).and_then(|loss| loss.weighted(weights)).map_err(raised)?;
    }
    Ok(katoms_estimate::accuracy(right.iter().copied(), weights))
}

pub fn weights_of<'a>(weights: Option<&'a PyReadonlyArray1<'_, f64>>) -> PyResult<Option<&'a [f64]>> {
    Ok(weights.map(|weights| weights.as_slice()).transpose()?)
}

fn check_length(what: &'static str, found: usize, expected: usize) -> PyResult<()> {
    if found == expected {
        return Ok(());
    }
    Err(raised(Error::Length { what, found, expected, why: "one for each row or column of the design" }))
}
