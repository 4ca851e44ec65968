//! What a model predicts, and how good that is.

use katoms::Error;
use katoms::loss::{LeastSquares, Logistic, Ordinal, Split};
use katoms::operator::{AnyDesign, LinearOperator};
use katoms::space::SparseVec;
use katoms_estimate::{Linear, Measure, Product};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::answer;
use crate::design::{Holes, Matrix};
use crate::device::failure;
use crate::ended::Ended;
use crate::error::{invalid, raised};
use crate::pool::on_threads;
use crate::response::Observed;

/// Adds the functions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(missing, module)?)?;
    module.add_function(wrap_pyfunction!(check, module)?)?;
    module.add_function(wrap_pyfunction!(predict, module)?)?;
    module.add_function(wrap_pyfunction!(probabilities, module)?)?;
    module.add_function(wrap_pyfunction!(log_probabilities, module)?)?;
    module.add_function(wrap_pyfunction!(r_squared, module)?)?;
    module.add_function(wrap_pyfunction!(explained, module)?)?;
    module.add_function(wrap_pyfunction!(concordance, module)?)?;
    module.add_function(wrap_pyfunction!(measured, module)?)?;
    module.add_function(wrap_pyfunction!(accuracy, module)?)
}

/// Whether a matrix can be read: its arrays agree, and every value is finite.
#[pyfunction]
fn check(py: Python<'_>, design: Matrix<'_>) -> PyResult<()> {
    let view = design.view(&Ended::default())?;
    py.detach(|| on_threads(None, || view.design(None).map(|_| ())))?.map_err(raised)
}

/// intercept + X·coefficients, one for each row; the last coefficients are those of products of two columns; of several outputs, those of the first, then those of the second. Refused where one is no number. Reads only the columns that the model has.
#[pyfunction]
fn predict<'py>(
    py: Python<'py>,
    design: Matrix<'py>,
    coef: PyReadonlyArray1<'py, f64>,
    intercepts: Vec<f64>,
    products: Vec<[usize; 2]>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let ended = Ended::default();
    let view = design.view(&ended)?;
    let (rows, columns) = view.shape();
    let coef = coef.as_slice()?;
    let all = columns + products.len();
    check_length("list of coefficients", coef.len(), all * intercepts.len())?;
    let split = |own: &[f64]| (SparseVec::from_dense(&own[..columns]), own[columns..].to_vec());
    let (outputs, of_products): (Vec<SparseVec>, Vec<Vec<f64>>) = coef.chunks(all.max(1)).map(split).unzip();
    let predicted = py.detach(|| {
        on_threads(None, || {
            let mut all = vec![0.0; rows * outputs.len()];
            for ((coefficients, intercept), out) in outputs.iter().zip(&intercepts).zip(all.chunks_mut(rows.max(1))) {
                out.fill(*intercept);
                view.predict(coefficients, out)?;
            }
            // Reads all of it, and finds what is not finite.
            let design = view.design(None)?;
            if !products.is_empty() {
                let multiplied = Product::columns(&[Product { factors: products }], &design)?;
                for (own, out) in of_products.iter().zip(all.chunks_mut(rows.max(1))) {
                    for (coefficient, column) in own.iter().zip(multiplied.chunks(rows.max(1))) {
                        out.iter_mut().zip(column).for_each(|(z, v)| *z += coefficient * v);
                    }
                }
            }
            if let Some(error) = failure(&design) {
                return Err(error);
            }
            match all.iter().position(|z| !z.is_finite()) {
                Some(at) if !ended.is_ended() => Err(overflow(&design, &outputs[at / rows], at % rows)),
                _ => Ok(all),
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

/// The probabilities of the classes at each linear prediction, row by row: of two classes at their log-odds, of more at their
/// scores, of classes in an order at one score beside thresholds.
#[pyfunction]
fn probabilities<'py>(
    py: Python<'py>,
    linear: PyReadonlyArray1<'py, f64>,
    classes: usize,
    thresholds: Option<Vec<f64>>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let linear = linear.as_slice()?;
    let all = match thresholds {
        Some(thresholds) => linear.iter().flat_map(|&z| Ordinal::probabilities(&thresholds, z)).collect(),
        None => of_scores(linear, classes, Logistic::probability, f64::exp),
    };
    Ok(PyArray1::from_vec(py, all))
}

/// Their logarithms.
#[pyfunction]
fn log_probabilities<'py>(
    py: Python<'py>,
    linear: PyReadonlyArray1<'py, f64>,
    classes: usize,
    thresholds: Option<Vec<f64>>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let linear = linear.as_slice()?;
    let all = match thresholds {
        Some(thresholds) => linear.iter().flat_map(|&z| Ordinal::probabilities(&thresholds, z)).map(f64::ln).collect(),
        None => of_scores(linear, classes, katoms_estimate::log_probability, |log| log),
    };
    Ok(PyArray1::from_vec(py, all))
}

/// A number for each class: of two from the log-odds, of which the first has the opposite; of more from the logarithm of its
/// probability.
fn of_scores(linear: &[f64], classes: usize, of_odds: impl Fn(f64) -> f64, of_log: impl Fn(f64) -> f64) -> Vec<f64> {
    if classes == 2 {
        return linear.iter().flat_map(|&z| [of_odds(-z), of_odds(z)]).collect();
    }
    let row = |scores: &[f64]| {
        let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum = scores.iter().map(|score| (score - most).exp()).sum::<f64>().ln() + most;
        scores.iter().map(|score| of_log(score - sum)).collect::<Vec<f64>>()
    };
    linear.chunks(classes).flat_map(row).collect()
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

/// D² of linear predictions of a response.
#[pyfunction]
fn explained(response: Observed<'_>, linear: PyReadonlyArray1<'_, f64>) -> PyResult<f64> {
    let ended = Ended::default();
    let (loss, linear) = (response.loss(&ended)?, linear.as_slice()?);
    check_length("target", response.rows()?, linear.len())?;
    let share = katoms_estimate::explained(loss.loss(), linear);
    ended.take().map_or(Ok(share), Err)
}

/// What a measure says of linear predictions of some rows of a response, without an offset; `None` where it cannot judge them.
#[pyfunction]
#[pyo3(signature = (name, response, rows, linear, thresholds))]
fn measured(
    name: &str,
    response: Observed<'_>,
    rows: Vec<usize>,
    linear: PyReadonlyArray1<'_, f64>,
    thresholds: Option<PyReadonlyArray1<'_, f64>>,
) -> PyResult<Option<f64>> {
    let measure = Measure::named(name).ok_or_else(|| invalid(format!("there is no measure {name:?}")))?;
    let (ended, thresholds) = (Ended::default(), weights_of(thresholds.as_ref())?);
    let loss = response.loss(&ended)?;
    measure.check(loss.loss()).map_err(raised)?;
    let judged = loss.loss().subset(&rows).map_err(raised)?;
    Ok(measure.of(&judged, Linear { values: linear.as_slice()?, thresholds }))
}

/// Harrell's C of risks; `None` where no pair of rows can be compared.
#[pyfunction]
fn concordance(
    times: PyReadonlyArray1<'_, f64>,
    events: PyReadonlyArray1<'_, bool>,
    risks: PyReadonlyArray1<'_, f64>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
) -> PyResult<Option<f64>> {
    let (times, events, risks) = (times.as_slice()?, events.as_slice()?, risks.as_slice()?);
    let weights = weights_of(weights.as_ref())?;
    for length in [events.len(), risks.len()].into_iter().chain(weights.map(<[f64]>::len)) {
        check_length("list of events, risks or weights", length, times.len())?;
    }
    Ok(katoms_estimate::concordance(times, events, risks, weights))
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
