//! What an outcome looks like in Python: dictionaries of numbers, names and arrays.

use katoms::Status;
use katoms::driver::{Attempt, Quality, Trace};
use katoms::loss::Baseline;
use katoms::space::SparseVec;
use katoms_estimate::{Nuisance, words};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::listener::moved;

/// All entries, as an array.
pub fn dense<'py>(py: Python<'py>, x: &SparseVec) -> Bound<'py, PyArray1<f64>> {
    PyArray1::from_vec(py, x.to_dense())
}

/// Indices and values of the entries that are not 0.
pub type Sparse<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>);

/// What is not 0 of a vector: of many models, all entries would be too many.
pub fn sparse<'py>(py: Python<'py>, x: &SparseVec) -> Sparse<'py> {
    (indices(py, x.indices()), PyArray1::from_iter(py, x.entries().map(|(_, value)| value)))
}

/// Indices, as an array that NumPy indexes with.
pub fn indices<'py>(py: Python<'py>, of: &[usize]) -> Bound<'py, PyArray1<i64>> {
    PyArray1::from_iter(py, of.iter().map(|&i| i as i64))
}

/// Which models stopped short is one word, as in the program's files.
pub fn status(status: Status) -> &'static str {
    words::status_name(status)
}

/// How good a model is: the numbers, and the sentences that the program prints.
pub fn quality<'py>(
    py: Python<'py>,
    quality: &Quality,
    attempts: &[Attempt],
    names: &[String],
    unnamed: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let told = PyDict::new(py);
    let name = |atom: usize| names.get(atom).cloned().unwrap_or_else(|| format!("{unnamed}{atom}"));
    told.set_item("stationarity", quality.stationarity)?;
    told.set_item("exchange_gain", quality.exchange_gain)?;
    told.set_item("exchanges_compared", quality.exchanges_compared)?;
    told.set_item("exhaustive", quality.exhaustive)?;
    let ties: Vec<(usize, usize, f64)> = quality.near_ties.iter().map(|t| (t.inside, t.outside, t.rise)).collect();
    told.set_item("near_ties", ties)?;
    told.set_item("proven", quality.proven)?;
    told.set_item("lower_bound", quality.certificate.as_ref().map(|c| c.lower_bound))?;
    told.set_item("gap", quality.certificate.as_ref().map(|c| c.gap))?;
    told.set_item("sentences", words::quality(quality, attempts, name))?;
    Ok(told)
}

/// What a model has besides coefficients, by name; nothing where there is nothing.
pub fn nuisance<'py>(py: Python<'py>, of: &Nuisance) -> PyResult<Bound<'py, PyDict>> {
    let told = PyDict::new(py);
    match of {
        Nuisance::None => {}
        Nuisance::Dispersion(value) => told.set_item("dispersion", value)?,
        Nuisance::Delta(value) => told.set_item("delta", value)?,
        Nuisance::Smoothing(value) => told.set_item("smoothing", value)?,
        Nuisance::Thresholds(values) => told.set_item("thresholds", PyArray1::from_slice(py, values))?,
        Nuisance::Baseline(strata) => {
            let one = |of: &Baseline| {
                (of.stratum, PyArray1::from_slice(py, &of.times), PyArray1::from_slice(py, &of.hazards))
            };
            told.set_item("baseline", strata.iter().map(one).collect::<Vec<_>>())?;
        }
    }
    Ok(told)
}

/// Every move, as a list of dictionaries.
pub fn trace<'py>(py: Python<'py>, trace: &Trace) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let one = |event| {
        let told = PyDict::new(py);
        moved(&told, event)?;
        Ok(told)
    };
    trace.iter().map(one).collect()
}
