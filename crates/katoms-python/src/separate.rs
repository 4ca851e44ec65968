//! Several responses, each with features of its own.

use katoms::select::{Choice, Score};
use katoms::space::SparseVec;
use katoms_estimate::{EachResponse, FitOptions, ResponseSizes, Rule, choice_of_each, words};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::answer;
use crate::design::Matrix;
use crate::device::failure;
use crate::ended::Ended;
use crate::features::{Problem, effort_of, estimate_told, tell_end};
use crate::job::{self, Work};

/// Adds the functions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(fit_each, module)?)?;
    module.add_function(wrap_pyfunction!(compare_each, module)?)
}

/// What the models of several responses are asked for.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Asked<'py> {
    /// So many atoms in all, or
    total: Option<usize>,
    /// so many for each response.
    sizes: Vec<usize>,
    method: Option<String>,
    effort: String,
    /// Coefficients and intercepts of all responses to begin with.
    start: Option<(PyReadonlyArray1<'py, f64>, Vec<f64>)>,
    /// What the responses are called.
    responses: Vec<String>,
    /// What atoms are: features or groups.
    atoms: String,
}

/// The models of several responses that share no features: so many atoms in all, or for each of them.
#[pyfunction]
fn fit_each<'py>(
    py: Python<'py>,
    design: Matrix<'py>,
    problem: Problem<'py>,
    work: Work,
    asked: Asked<'py>,
) -> PyResult<Bound<'py, PyDict>> {
    let effort = effort_of(&asked.effort)?;
    let start = match &asked.start {
        Some((coef, intercepts)) => Some((SparseVec::from_dense(coef.as_slice()?), intercepts.clone())),
        None => None,
    };
    let sizes = match asked.total {
        Some(total) => ResponseSizes::Total(total),
        None => ResponseSizes::Each(asked.sizes),
    };
    let how = FitOptions { method: asked.method, effort, start, stop: work.stop(), ..FitOptions::default() };
    let ended = Ended::default();
    let view = design.view(&ended)?;
    let (loss, maker) = (problem.response.loss(&ended)?, problem.maker(view.shape().1)?);
    let (found, error) = job::worked(py, &work, &ended, |listener| {
        let design = view.design(None)?;
        let each = EachResponse::new(loss, |loss| maker.features(&design, loss));
        let done = each.and_then(|each| each.fit(&sizes, &how, listener));
        failure(&design).map_or(done, Err)
    })?;
    error.into_iter().for_each(|error| ended.keep(error));
    let told = estimate_told(py, &found.whole, &ended)?;
    let name = |atom: usize| work.names.get(atom).cloned().unwrap_or_else(|| format!("x{atom}"));
    let quality = found.whole.outcome.quality.as_ref();
    let quality = quality.map(|quality| answer::quality(py, quality, &[], &work.names, "x")).transpose()?;
    if let Some(quality) = &quality {
        quality.set_item("sentences", words::each_response(&found, (&asked.responses, &asked.atoms), name))?;
    }
    told.set_item("quality", quality)?;
    told.set_item("sizes", answer::indices(py, &found.sizes))?;
    told.set_item("products", Vec::<Vec<[usize; 2]>>::new())?;
    told.set_item("names", &work.names)?;
    tell_end(&told, &ended)?;
    Ok(told)
}

/// The choice for each response among (size, ridge) and the losses of each fold, under one ridge for all: that of least loss,
/// and the smallest within one standard error of it. The mean losses and their standard errors come with them.
#[pyfunction]
#[allow(clippy::type_complexity)] // what Python gets
fn compare_each<'py>(
    py: Python<'py>,
    choices: Vec<Vec<(usize, f64)>>,
    folds: Vec<Vec<Vec<f64>>>,
) -> (Vec<Bound<'py, PyArray1<f64>>>, Vec<Bound<'py, PyArray1<f64>>>, Vec<usize>, Vec<usize>) {
    let score = |((atoms, ridge), folds)| Score::new(Choice { atoms, ridge, shrinkage: 0.0 }, folds, Vec::new());
    let of_response = |(choices, folds): (Vec<(usize, f64)>, Vec<Vec<f64>>)| -> Vec<Score> {
        choices.into_iter().zip(folds).map(score).collect()
    };
    let all: Vec<Vec<Score>> = choices.into_iter().zip(folds).map(of_response).collect();
    let told =
        |of: fn(&Score) -> f64| all.iter().map(|scores| PyArray1::from_iter(py, scores.iter().map(of))).collect();
    let (means, errors) = (told(|score| score.mean), told(|score| score.error));
    (means, errors, choice_of_each(&all, Rule::Least), choice_of_each(&all, Rule::OneStandardError))
}
