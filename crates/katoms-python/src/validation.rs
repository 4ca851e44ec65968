//! Sizes and ridges on rows held out.

use katoms::Error;
use katoms::select::{Choice, FoldModel, Folds, Score};
use katoms_estimate::{Features, Product, WithProducts, drawn_folds};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::answer;
use crate::design::Matrix;
use crate::ended::Ended;
use crate::error::raised;
use crate::features::{Problem, pairs, tell_end, worked, worked_by_folds};
use crate::job::Work;

/// Adds the functions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(cross_validate, module)?)?;
    module.add_function(wrap_pyfunction!(folds, module)?)?;
    module.add_function(wrap_pyfunction!(train, module)?)?;
    module.add_function(wrap_pyfunction!(compare, module)?)
}

/// Rows held out: labels of folds, or how many, drawn with a seed.
#[derive(FromPyObject)]
pub enum Held {
    /// (how many folds, seed): random, and by classes where there are some. A tuple, which a list of labels is not.
    Drawn(usize, u64),
    /// The fold of each row.
    Labels(Vec<usize>),
}

impl Held {
    fn folds(self, problem: &Problem<'_>) -> PyResult<Folds> {
        let folds = match self {
            Self::Labels(labels) => Folds::given(labels),
            Self::Drawn(count, seed) => {
                let loss = problem.response.loss(&Ended::default())?;
                drawn_folds(loss.loss(), problem.response.rows()?, count, seed)
            }
        };
        folds.map_err(raised)
    }
}

/// The fold of each row.
#[pyfunction]
fn folds<'py>(py: Python<'py>, problem: Problem<'py>, held: Held) -> PyResult<Bound<'py, PyArray1<i64>>> {
    Ok(answer::indices(py, held.folds(&problem)?.labels()))
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
    let folds = held.folds(&problem)?;
    let heredity = problem.heredity()?;
    let asked = (&design, &problem, &work);
    let ((found, models, products), ended) = worked_by_folds(py, asked, Some(&folds), |features, own, listener| {
        let (folds, tried, ridges) = (own.unwrap_or(&folds), sizes.as_deref(), Some(&ridges[..]));
        let WithProducts { found, products } = match heredity {
            Some(heredity) => features.with_interactions(heredity)?.cross_validate(tried, ridges, folds, listener)?,
            None => {
                let found = features.cross_validate(tried, ridges, folds, listener)?;
                WithProducts { found, products: Vec::new() }
            }
        };
        let judged = |score: &Score| -> Result<Vec<Judged>, Error> {
            let of_fold = |(fold, model): (usize, &FoldModel)| {
                Judged::new((features, &products), model.clone(), &folds.training(fold))
            };
            score.models.iter().enumerate().map(of_fold).collect()
        };
        let models = found.scores.iter().map(judged).collect::<Result<Vec<_>, _>>()?;
        Ok((found, models, products))
    })?;
    let tried = found.scores.iter().zip(&found.models).zip(models).map(|((score, whole), models)| {
        let told = choice_told(py, score.choice)?;
        told.set_item("losses", PyArray1::from_slice(py, &score.folds))?;
        let whole = FoldModel { coefficients: whole.coefficients.clone(), intercepts: whole.intercepts.clone() };
        told.set_item("model", Judged { model: whole, thresholds: None }.told(py))?;
        told.set_item("fold_models", models.iter().map(|model| model.told(py)).collect::<Vec<_>>())?;
        Ok(told)
    });
    let told = PyDict::new(py);
    told.set_item("tried", tried.collect::<PyResult<Vec<_>>>()?)?;
    told.set_item("fold_of_row", answer::indices(py, folds.labels()))?;
    told.set_item("products", pairs(&products))?;
    tell_end(&told, &ended)?;
    Ok(told)
}

/// A size and a ridge.
fn choice_told(py: Python<'_>, choice: Choice) -> PyResult<Bound<'_, PyDict>> {
    let told = PyDict::new(py);
    told.set_item("support_size", choice.atoms)?;
    told.set_item("l2", choice.ridge)?;
    Ok(told)
}

/// (indices, values, intercepts, thresholds).
type Model<'py> = (
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
    Option<Bound<'py, PyArray1<f64>>>,
);

/// A model that judges rows, with what a prediction of classes in an order needs.
struct Judged {
    model: FoldModel,
    thresholds: Option<Vec<f64>>,
}

impl Judged {
    fn new(
        (features, products): (&Features<'_>, &[Product]),
        model: FoldModel,
        training: &[usize],
    ) -> Result<Self, Error> {
        let thresholds = features.thresholds_with(products, &model.coefficients, &model.intercepts, training)?;
        Ok(Self { model, thresholds })
    }

    fn told<'py>(&self, py: Python<'py>) -> Model<'py> {
        let (indices, values) = answer::sparse(py, &self.model.coefficients);
        let thresholds = self.thresholds.as_ref().map(|values| PyArray1::from_slice(py, values));
        (indices, values, PyArray1::from_slice(py, &self.model.intercepts), thresholds)
    }
}

/// The models of every size and ridge on some rows, judged on others.
#[pyfunction]
fn train<'py>(
    py: Python<'py>,
    design: Matrix<'py>,
    problem: Problem<'py>,
    work: Work,
    sizes: Vec<usize>,
    ridges: Vec<f64>,
    rows: (Vec<usize>, Vec<usize>),
) -> PyResult<Bound<'py, PyDict>> {
    let heredity = problem.heredity()?;
    let ((found, models, products), ended) = worked(py, (&design, &problem, &work), |features, listener| {
        let asked = (&rows.0[..], &rows.1[..]);
        let WithProducts { found, products } = match heredity {
            Some(heredity) => features.with_interactions(heredity)?.train(&sizes, &ridges, asked, listener)?,
            None => {
                let found = features.train(&sizes, &ridges, asked, listener)?;
                WithProducts { found, products: Vec::new() }
            }
        };
        let judged = found.models.iter().map(|model| Judged::new((features, &products), model.clone(), &rows.0));
        let models = judged.collect::<Result<Vec<_>, _>>()?;
        Ok((found, models, products))
    })?;
    let tried = found.choices.iter().zip(&models).zip(&found.losses).map(|((&choice, model), loss)| {
        let told = choice_told(py, choice)?;
        told.set_item("loss", loss)?;
        told.set_item("model", model.told(py))?;
        Ok(told)
    });
    let told = PyDict::new(py);
    told.set_item("products", pairs(&products))?;
    told.set_item("tried", tried.collect::<PyResult<Vec<_>>>()?)?;
    tell_end(&told, &ended)?;
    Ok(told)
}

/// How choices of a size and a ridge compare, by their losses fold by fold: the means, their standard errors, the place
/// of the least mean, and that of the smallest size within one standard error of it.
#[pyfunction]
fn compare<'py>(
    py: Python<'py>,
    choices: Vec<(usize, f64)>,
    folds: Vec<Vec<f64>>,
) -> (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>, usize, usize) {
    let score = |((atoms, ridge), folds)| Score::new(Choice { atoms, ridge, shrinkage: 0.0 }, folds, Vec::new());
    let scores: Vec<Score> = choices.into_iter().zip(folds).map(score).collect();
    let (means, errors) = (scores.iter().map(|s| s.mean), scores.iter().map(|s| s.error));
    let (means, errors) = (PyArray1::from_iter(py, means), PyArray1::from_iter(py, errors));
    (means, errors, Score::least(&scores), Score::within_one_error(&scores))
}
