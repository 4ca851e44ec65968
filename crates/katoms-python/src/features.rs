//! k features or groups that predict a target: a model, a path, a validation, predictions.

use katoms::Error;
use katoms::loss::{AnyLoss, LeastSquares, Logistic};
use katoms::operator::{AnyDesign, FirstRead, LinearOperator};
use katoms::select::{Bounds, Criterion, Folds, Preparation};
use katoms::set::{AnyAtoms, KSparse};
use katoms::space::SparseVec;
use katoms_cli::words;
use katoms_estimate::{Edge, Features, How, Trail};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::answer;
use crate::design::Matrix;
use crate::error::raised;
use crate::job::{self, Ended, Work};
use crate::listener::Listener;
use crate::pool::on_threads;

/// Adds the functions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(fit, module)?)?;
    module.add_function(wrap_pyfunction!(path, module)?)?;
    module.add_function(wrap_pyfunction!(cross_validate, module)?)?;
    module.add_function(wrap_pyfunction!(check, module)?)?;
    module.add_function(wrap_pyfunction!(predict, module)?)?;
    module.add_function(wrap_pyfunction!(probabilities, module)?)?;
    module.add_function(wrap_pyfunction!(log_probabilities, module)?)?;
    module.add_function(wrap_pyfunction!(r_squared, module)?)?;
    module.add_function(wrap_pyfunction!(accuracy, module)?)
}

/// What is to be predicted, from which atoms, and how the columns are prepared.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Problem<'py> {
    loss: String,
    target: PyReadonlyArray1<'py, f64>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    groups: Option<Vec<Vec<usize>>>,
    always: Vec<usize>,
    /// The least and the largest coefficients.
    bounds: Option<(PyReadonlyArray1<'py, f64>, PyReadonlyArray1<'py, f64>)>,
    l2: f64,
    standardize: bool,
    fit_intercept: bool,
}

impl Problem<'_> {
    fn loss(&self) -> PyResult<AnyLoss> {
        let target = self.target.as_slice()?.to_vec();
        let weights = weights_of(self.weights.as_ref())?.map(<[f64]>::to_vec);
        let made: Result<AnyLoss, Error> = match (self.loss.as_str(), weights) {
            ("logistic", None) => Logistic::new(target).map(AnyLoss::from),
            ("logistic", Some(weights)) => Logistic::new(target).and_then(|l| l.weighted(weights)).map(AnyLoss::from),
            (_, None) => LeastSquares::new(target).map(AnyLoss::from),
            (_, Some(weights)) => LeastSquares::new(target).and_then(|l| l.weighted(weights)).map(AnyLoss::from),
        };
        made.map_err(raised)
    }

    fn atoms(&self, dim: usize) -> Result<AnyAtoms, Error> {
        match &self.groups {
            Some(members) => AnyAtoms::groups(1, dim, members.clone()),
            None => KSparse::new(1, dim).map(AnyAtoms::Coordinates),
        }
    }

    fn bounds(&self) -> PyResult<Option<Bounds>> {
        let Some((lower, upper)) = &self.bounds else { return Ok(None) };
        Bounds::new(lower.as_slice()?, upper.as_slice()?).map(Some).map_err(raised)
    }

    fn preparation(&self) -> Preparation {
        Preparation { standardize: self.standardize, intercept: self.fit_intercept, ridge: self.l2 }
    }
}

/// A job on features.
fn worked<T: Send>(
    py: Python<'_>,
    (design, problem, work): (&Matrix<'_>, &Problem<'_>, &Work),
    job: impl FnOnce(&Features<'_>, &mut Listener) -> Result<T, Error> + Send,
) -> PyResult<(T, Option<PyErr>)> {
    let ended = Ended::default();
    let view = design.view(&ended)?;
    let (loss, atoms) = (problem.loss()?, problem.atoms(view.shape().1).map_err(raised)?);
    let (always, preparation, bounds) = (problem.always.clone(), problem.preparation(), problem.bounds()?);
    job::worked(py, work, &ended, |listener| {
        let design = view.design(Some(&FirstRead::of(&loss, preparation.intercept)))?;
        let mut features = Features::new(&design, loss, atoms, always, preparation)?;
        if let Some(bounds) = bounds {
            features = features.with_bounds(bounds)?;
        }
        job(&features, listener)
    })
}

/// What one model is asked for.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Asked<'py> {
    support_size: usize,
    method: Option<String>,
    /// Coefficients and intercept to begin with.
    start: Option<(PyReadonlyArray1<'py, f64>, f64)>,
}

impl Asked<'_> {
    fn start(&self) -> PyResult<Option<(SparseVec, f64)>> {
        let Some((coef, intercept)) = &self.start else { return Ok(None) };
        Ok(Some((SparseVec::from_dense(coef.as_slice()?), *intercept)))
    }
}

/// The model of k atoms.
#[pyfunction]
fn fit<'py>(
    py: Python<'py>,
    design: Matrix<'py>,
    problem: Problem<'py>,
    work: Work,
    asked: Asked<'py>,
) -> PyResult<Bound<'py, PyDict>> {
    let (k, start) = (asked.support_size, asked.start()?);
    let how = How { method: asked.method, start, stop: work.stop(), resume: None };
    let (found, ended) = worked(py, (&design, &problem, &work), |features, listener| features.fit(k, &how, listener))?;
    let told = PyDict::new(py);
    told.set_item("coef", answer::dense(py, &found.coefficients))?;
    told.set_item("intercept", found.intercept)?;
    told.set_item("support", answer::indices(py, found.coefficients.indices()))?;
    told.set_item("standardized", answer::dense(py, &found.standardized))?;
    told.set_item("chosen", answer::indices(py, &found.chosen))?;
    told.set_item("status", answer::status(found.status))?;
    told.set_item("iterations", found.iterations)?;
    told.set_item("passes", found.passes)?;
    told.set_item("reads", found.reads)?;
    told.set_item("columns", found.columns)?;
    told.set_item("seconds", found.seconds)?;
    told.set_item("objective", found.objective)?;
    told.set_item("loss", found.loss)?;
    told.set_item("null_loss", found.null_loss)?;
    let quality =
        found.quality.as_ref().map(|q| answer::quality(py, q, &found.attempts, &work.names, "x")).transpose()?;
    told.set_item("quality", quality)?;
    told.set_item("trace", answer::trace(py, &found.trace)?)?;
    told.set_item("ended_by", ended)?;
    Ok(told)
}

/// A model of each size, and what the criteria say. Without sizes, those that this criterion asks for.
#[pyfunction]
#[pyo3(signature = (design, problem, work, sizes, criterion))]
fn path<'py>(
    py: Python<'py>,
    design: Matrix<'py>,
    problem: Problem<'py>,
    work: Work,
    sizes: Option<Vec<usize>>,
    criterion: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let named = |(name, _): &&(&str, Criterion)| name.eq_ignore_ascii_case(criterion);
    let (_, criterion) = *Trail::CRITERIA.iter().find(named).unwrap_or(&Trail::CRITERIA[2]);
    let ((found, edges), ended) = worked(py, (&design, &problem, &work), |features, listener| {
        let trail = features.path(sizes.as_deref(), criterion, listener)?;
        let edges: Vec<_> = trail.best.iter().map(|&k| features.edge_of_criterion(&trail.sizes(), k)).collect();
        Ok((trail, edges))
    })?;
    let models = found.models.iter().map(|model| {
        let told = PyDict::new(py);
        told.set_item("support_size", model.atoms)?;
        told.set_item("chosen", answer::indices(py, &model.chosen))?;
        told.set_item("support", answer::indices(py, model.coefficients.indices()))?;
        told.set_item("coef", answer::dense(py, &model.coefficients))?;
        told.set_item("standardized", answer::dense(py, &model.standardized))?;
        told.set_item("intercept", model.intercept)?;
        told.set_item("objective", model.objective)?;
        told.set_item("loss", model.loss)?;
        told.set_item("status", answer::status(model.status))?;
        for ((name, _), value) in Trail::CRITERIA.iter().zip(model.criteria) {
            told.set_item(name.to_lowercase(), value)?;
        }
        Ok(told)
    });
    let told = PyDict::new(py);
    told.set_item("models", models.collect::<PyResult<Vec<_>>>()?)?;
    let best = PyDict::new(py);
    for ((name, _), size) in Trail::CRITERIA.iter().zip(&found.best) {
        best.set_item(name.to_lowercase(), size)?;
    }
    told.set_item("best", best)?;
    let at_edge = PyDict::new(py);
    for ((name, _), edge) in Trail::CRITERIA.iter().zip(&edges) {
        let said = edge.map(|edge| at_the_edge(&format!("{name} prefers"), &edge));
        at_edge.set_item(name.to_lowercase(), said)?;
    }
    told.set_item("edge", at_edge)?;
    told.set_item("complete", found.complete)?;
    told.set_item("passes", found.passes)?;
    told.set_item("seconds", found.seconds)?;
    told.set_item("null_loss", found.null_loss)?;
    told.set_item("ended_by", ended)?;
    Ok(told)
}

/// That a choice is the largest size that was tried, in the words of this package.
fn at_the_edge(what: &str, edge: &Edge) -> String {
    let range = format!("support_size=range(0, {})", edge.further + 1);
    words::edge(what, edge, &range, "an estimator with CV in its name")
}

/// Rows held out: labels of folds, or how many, drawn with a seed.
#[derive(FromPyObject)]
pub enum Held {
    /// (how many folds, seed): random, and by classes where there are some. A tuple, which a list of labels is not.
    Drawn(usize, u64),
    /// The fold of each row.
    Labels(Vec<usize>),
}

/// Every size and ridge on rows held out. Without sizes, those up to where the held-out loss falls no more.
#[pyfunction]
#[pyo3(signature = (design, problem, work, sizes, ridges, held))]
fn cross_validate<'py>(
    py: Python<'py>,
    design: Matrix<'py>,
    problem: Problem<'py>,
    work: Work,
    sizes: Option<Vec<usize>>,
    ridges: Vec<f64>,
    held: Held,
) -> PyResult<Bound<'py, PyDict>> {
    let target = problem.target.as_slice()?;
    let folds = match held {
        Held::Labels(labels) => Folds::given(labels),
        Held::Drawn(count, seed) if problem.loss == "logistic" => Folds::stratified(target, count, seed),
        Held::Drawn(count, seed) => Folds::random(target.len(), count, seed),
    };
    let folds = folds.map_err(raised)?;
    let ((found, edge), ended) = worked(py, (&design, &problem, &work), |features, listener| {
        let found = features.cross_validate(sizes.as_deref(), &ridges, &folds, listener)?;
        let min = (!found.scores.is_empty()).then(|| found.min());
        let edge = min.and_then(|min| {
            let alike = found.scores.iter().filter(|score| score.choice.ridge == min.ridge);
            features.edge(&alike.map(|score| score.choice.atoms).collect::<Vec<_>>(), min.atoms)
        });
        Ok((found, edge))
    })?;
    let scores = found.scores.iter().zip(&found.models).map(|(score, model)| {
        let told = PyDict::new(py);
        told.set_item("support_size", score.choice.atoms)?;
        told.set_item("l2", score.choice.ridge)?;
        told.set_item("folds", PyArray1::from_slice(py, &score.folds))?;
        told.set_item("mean", score.mean)?;
        told.set_item("error", score.error)?;
        told.set_item("coef", answer::dense(py, &model.coefficients))?;
        told.set_item("intercept", model.intercept)?;
        told.set_item("loss", model.loss)?;
        Ok(told)
    });
    let told = PyDict::new(py);
    told.set_item("scores", scores.collect::<PyResult<Vec<_>>>()?)?;
    if !found.scores.is_empty() {
        for (name, choice) in [("min", found.min()), ("1se", found.one_se())] {
            told.set_item(name, (choice.atoms, choice.ridge))?;
        }
    }
    told.set_item("edge", edge.map(|edge| at_the_edge("the least held-out loss is at", &edge)))?;
    told.set_item("fold_of_row", answer::indices(py, folds.labels()))?;
    told.set_item("complete", found.complete)?;
    told.set_item("passes", found.passes)?;
    told.set_item("seconds", found.seconds)?;
    told.set_item("ended_by", ended)?;
    Ok(told)
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
            let design = view.design(None)?;
            let mut out = vec![0.0; design.n_outputs()];
            design.apply(&coefficients, &mut out);
            out.iter_mut().for_each(|z| *z += intercept);
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
        out[row]
    };
    let parts = coefficients.entries().map(|(column, coefficient)| (column, value(column), coefficient));
    let size = |&(_, value, coefficient): &(usize, f64, f64)| (value * coefficient).abs();
    let largest = parts.max_by(|a, b| size(a).total_cmp(&size(b)));
    let (column, value, coefficient) = largest.unwrap_or((0, f64::NAN, f64::NAN));
    Error::Prediction { row, column, value, coefficient }
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

fn weights_of<'a>(weights: Option<&'a PyReadonlyArray1<'_, f64>>) -> PyResult<Option<&'a [f64]>> {
    Ok(weights.map(|weights| weights.as_slice()).transpose()?)
}

fn check_length(what: &'static str, found: usize, expected: usize) -> PyResult<()> {
    if found == expected {
        return Ok(());
    }
    Err(raised(Error::Length { what, found, expected, why: "one for each row or column of the design" }))
}
