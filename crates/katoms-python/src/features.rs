//! k features or groups that predict a target: a model, a path.

use katoms::Error;
use katoms::operator::{AnyDesign, FirstRead};
use katoms::search::Effort;
use katoms::select::{Bounds, Folds, Preparation};
use katoms::set::{AnyAtoms, KSparse};
use katoms::space::SparseVec;
use katoms_estimate::{
    Edge, Estimate, Features, FitOptions, Heredity, JobLoss, PathModels, Product, WithProducts, condensed, words,
};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::answer;
use crate::design::Matrix;
use crate::device::failure;
use crate::ended::Ended;
use crate::error::{invalid, raised};
use crate::job::{self, Work};
use crate::listener::Listener;
use crate::response::Observed;

/// Adds the functions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(fit, module)?)?;
    module.add_function(wrap_pyfunction!(path, module)?)?;
    module.add_function(wrap_pyfunction!(sizes_after, module)?)?;
    module.add_function(wrap_pyfunction!(sizes_between, module)?)?;
    module.add_function(wrap_pyfunction!(ridges, module)?)?;
    module.add_function(wrap_pyfunction!(edge, module)?)
}

/// What is to be predicted, from which atoms, and how the columns are prepared.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Problem<'py> {
    #[pyo3(item("response"))]
    pub response: Observed<'py>,
    groups: Option<Vec<Vec<usize>>>,
    /// The most features inside a group.
    inside: Option<usize>,
    /// "strong" or "weak" where products of features may come in.
    interactions: Option<String>,
    always: Vec<usize>,
    /// The least and the largest coefficients.
    bounds: Option<(PyReadonlyArray1<'py, f64>, PyReadonlyArray1<'py, f64>)>,
    l2: f64,
    standardize: bool,
    fit_intercept: bool,
}

/// What makes a problem of a design and a loss.
pub struct Maker {
    atoms: AnyAtoms,
    always: Vec<usize>,
    pub preparation: Preparation,
    bounds: Option<Bounds>,
    inside: Option<usize>,
}

impl Maker {
    pub fn features<'a>(&self, design: &'a AnyDesign<'a>, loss: JobLoss) -> Result<Features<'a>, Error> {
        let (atoms, always) = (self.atoms.clone(), self.always.clone());
        let mut features = Features::new(design, loss, atoms, always, self.preparation)?;
        if let Some(bounds) = &self.bounds {
            features = features.with_bounds(bounds.clone())?;
        }
        if let Some(most) = self.inside {
            features = features.with_most_inside(most)?;
        }
        Ok(features)
    }
}

impl Problem<'_> {
    pub fn maker(&self, columns: usize) -> PyResult<Maker> {
        Ok(Maker {
            atoms: self.atoms(columns).map_err(raised)?,
            always: self.always.clone(),
            preparation: self.preparation(),
            bounds: self.bounds()?,
            inside: self.inside,
        })
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

    /// What products of features need beside them, where they may come in.
    pub fn heredity(&self) -> PyResult<Option<Heredity>> {
        match self.interactions.as_deref() {
            None => Ok(None),
            Some("strong") => Ok(Some(Heredity::Strong)),
            Some("weak") => Ok(Some(Heredity::Weak)),
            Some(other) => Err(invalid(format!("interactions is {other:?}; it must be 'strong', 'weak' or None"))),
        }
    }

    /// What atoms are called, those of products behind the others; `names` are empty where features have none.
    fn names_with(&self, names: &[String], columns: usize, products: &[Product]) -> Vec<String> {
        if products.is_empty() {
            return names.to_vec();
        }
        let atoms = self.groups.as_ref().map_or(columns, Vec::len);
        let name = |atom: usize| names.get(atom).cloned().unwrap_or_else(|| format!("x{atom}"));
        let of_column = |j: usize| {
            let group = |groups: &Vec<Vec<usize>>| groups.iter().position(|members| members.contains(&j));
            self.groups.as_ref().map_or(Some(j), group).map_or_else(|| format!("x{j}"), name)
        };
        let of_product = |product: &Product| match product.factors.first() {
            Some(&[i, j]) => format!("{}:{}", of_column(i), of_column(j)),
            None => String::new(),
        };
        (0..atoms).map(name).chain(products.iter().map(of_product)).collect()
    }

    fn preparation(&self) -> Preparation {
        Preparation { standardize: self.standardize, intercept: self.fit_intercept, ridge: self.l2 }
    }
}

/// A job on features.
pub fn worked<T: Send>(
    py: Python<'_>,
    asked: (&Matrix<'_>, &Problem<'_>, &Work),
    job: impl FnOnce(&Features<'_>, &mut Listener) -> Result<T, Error> + Send,
) -> PyResult<(T, Ended)> {
    worked_by_folds(py, asked, None, |features, _, listener| job(features, listener))
}

/// The same with rows held out by these folds; the job hears of the folds of its features' rows.
pub fn worked_by_folds<T: Send>(
    py: Python<'_>,
    (design, problem, work): (&Matrix<'_>, &Problem<'_>, &Work),
    folds: Option<&Folds>,
    job: impl FnOnce(&Features<'_>, Option<&Folds>, &mut Listener) -> Result<T, Error> + Send,
) -> PyResult<(T, Ended)> {
    let ended = Ended::default();
    let view = design.view(&ended)?;
    let (loss, maker) = (problem.response.loss(&ended)?, problem.maker(view.shape().1)?);
    // Products of columns are not to be had of rows that stand for others.
    let whole_rows = problem.interactions.is_some();
    let (found, error) = job::worked(py, work, &ended, |listener| {
        let elsewhere = view.elsewhere().filter(|_| !whole_rows);
        let few = elsewhere.map(|elsewhere| condensed(elsewhere, &loss, folds)).transpose()?;
        if let Some((design, loss, folds)) = few.flatten() {
            return job(&maker.features(&design, loss)?, folds.as_ref(), listener);
        }
        let design = view.design(Some(&FirstRead::of(loss.loss(), maker.preparation.intercept)))?;
        let done = maker.features(&design, loss).and_then(|features| job(&features, folds, listener));
        failure(&design).map_or(done, Err)
    })?;
    error.into_iter().for_each(|error| ended.keep(error));
    Ok((found, ended))
}

/// What ended a job from outside: `ended_by`, an exception, and `cut`, the status of work that was cut short.
pub fn tell_end(told: &Bound<'_, PyDict>, ended: &Ended) -> PyResult<()> {
    told.set_item("cut", ended.cut().map(answer::status))?;
    told.set_item("ended_by", ended.take())
}

/// What one model is asked for.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Asked<'py> {
    support_size: usize,
    method: Option<String>,
    effort: String,
    /// Coefficients and intercepts to begin with.
    start: Option<(PyReadonlyArray1<'py, f64>, Vec<f64>)>,
    /// The products that these coefficients have: no others come in.
    products: Option<Vec<Vec<[usize; 2]>>>,
}

impl Asked<'_> {
    fn start(&self) -> PyResult<Option<(SparseVec, Vec<f64>)>> {
        let Some((coef, intercepts)) = &self.start else { return Ok(None) };
        Ok(Some((SparseVec::from_dense(coef.as_slice()?), intercepts.clone())))
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
    let effort = effort_of(&asked.effort)?;
    let how = FitOptions { method: asked.method, effort, start, stop: work.stop(), ..FitOptions::default() };
    let heredity = problem.heredity()?;
    let given =
        asked.products.map(|products| products.into_iter().map(|factors| Product { factors }).collect::<Vec<_>>());
    let (found, ended) = worked(py, (&design, &problem, &work), |features, listener| match (heredity, given) {
        (None, _) => features.fit(k, &how, listener).map(|found| WithProducts { found, products: Vec::new() }),
        (Some(heredity), None) => features.with_interactions(heredity)?.fit(k, &how, listener),
        (Some(heredity), Some(products)) => {
            let found = features.with_interactions(heredity)?.fit_among(&products, k, &how, listener)?;
            Ok(WithProducts { found, products })
        }
    })?;
    let WithProducts { found, products } = found;
    let names = problem.names_with(&work.names, design.view(&ended)?.shape().1, &products);
    let told = estimate_told(py, &found, &ended)?;
    told.set_item("products", pairs(&products))?;
    told.set_item("names", &names)?;
    let quality = found
        .outcome
        .quality
        .as_ref()
        .map(|q| answer::quality(py, q, &found.outcome.attempts, &names, "x"))
        .transpose()?;
    told.set_item("quality", quality)?;
    tell_end(&told, &ended)?;
    Ok(told)
}

/// How hard a search tries.
pub fn effort_of(name: &str) -> PyResult<Effort> {
    Effort::named(name).ok_or_else(|| {
        let right = "it must be \"quick\", \"default\", \"thorough\", or a number above 0";
        invalid(format!("effort is {name}; {right}"))
    })
}

/// A model, and how it was found.
pub fn estimate_told<'py>(py: Python<'py>, found: &Estimate, ended: &Ended) -> PyResult<Bound<'py, PyDict>> {
    let told = PyDict::new(py);
    told.set_item("coef", answer::dense(py, found.coefficients()))?;
    told.set_item("intercepts", PyArray1::from_slice(py, &found.intercepts))?;
    told.set_item("standardized", answer::dense(py, &found.standardized))?;
    told.set_item("chosen", answer::indices(py, &found.chosen))?;
    told.set_item("status", answer::status(ended.status(found.outcome.status)))?;
    told.set_item("iterations", found.outcome.iterations)?;
    told.set_item("passes", found.outcome.passes)?;
    told.set_item("reads", found.outcome.reads)?;
    told.set_item("columns", found.outcome.columns)?;
    told.set_item("seconds", found.outcome.seconds)?;
    told.set_item("objective", found.outcome.objective)?;
    told.set_item("loss", found.loss)?;
    told.set_item("null_loss", found.null_loss)?;
    told.set_item("nuisance", answer::nuisance(py, &found.nuisance)?)?;
    told.set_item("trace", answer::trace(py, &found.outcome.trace)?)?;
    Ok(told)
}

/// The pairs of columns of each product.
pub fn pairs(products: &[Product]) -> Vec<Vec<[usize; 2]>> {
    products.iter().map(|product| product.factors.clone()).collect()
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
    let which = PathModels::criterion(criterion).ok_or_else(|| invalid(format!("ic_type: there is no {criterion}")))?;
    let (_, criterion) = PathModels::CRITERIA[which];
    let heredity = problem.heredity()?;
    let ((found, edges, products), ended) = worked(py, (&design, &problem, &work), |features, listener| {
        let Some(heredity) = heredity else {
            let path = features.path(sizes.as_deref(), criterion, listener)?;
            let edges: Vec<_> = path.best.iter().map(|&k| features.edge_of_criterion(&path.sizes(), k)).collect();
            return Ok((path, edges, Vec::new()));
        };
        let crossed = features.with_interactions(heredity)?;
        let WithProducts { found, products } = crossed.path(sizes.as_deref(), criterion, listener)?;
        let edges = found.best.iter().map(|&k| crossed.edge_of_criterion(&found.sizes(), k)).collect();
        Ok((found, edges, products))
    })?;
    let models = found.models.iter().map(|model| {
        let told = PyDict::new(py);
        told.set_item("support_size", model.atoms)?;
        told.set_item("chosen", answer::indices(py, &model.chosen))?;
        told.set_item("coef", answer::sparse(py, &model.coefficients))?;
        told.set_item("standardized", answer::sparse(py, &model.standardized))?;
        told.set_item("intercepts", PyArray1::from_slice(py, &model.intercepts))?;
        told.set_item("objective", model.objective)?;
        told.set_item("loss", model.loss)?;
        told.set_item("status", answer::status(model.status))?;
        for ((name, _), value) in PathModels::CRITERIA.iter().zip(model.criteria) {
            told.set_item(name.to_lowercase(), value)?;
        }
        Ok(told)
    });
    let told = PyDict::new(py);
    told.set_item("models", models.collect::<PyResult<Vec<_>>>()?)?;
    told.set_item("products", pairs(&products))?;
    let best = PyDict::new(py);
    for ((name, _), size) in PathModels::CRITERIA.iter().zip(&found.best) {
        best.set_item(name.to_lowercase(), size)?;
    }
    told.set_item("best", best)?;
    let at_edge = PyDict::new(py);
    for (((name, _), edge), &chosen) in PathModels::CRITERIA.iter().zip(&edges).zip(&found.best) {
        let said = at_the_edge(&format!("{name} prefers"), *edge, &found.sizes(), chosen);
        at_edge.set_item(name.to_lowercase(), said)?;
    }
    told.set_item("edge", at_edge)?;
    told.set_item("complete", found.complete)?;
    told.set_item("passes", found.passes)?;
    told.set_item("seconds", found.seconds)?;
    told.set_item("null_loss", found.null_loss)?;
    tell_end(&told, &ended)?;
    Ok(told)
}

/// That a choice is the largest size that was tried, or the smallest, in the words of this package.
fn at_the_edge(what: &str, edge: Option<Edge>, sizes: &[usize], chosen: usize) -> Option<String> {
    let range = |last: usize| format!("support_size=range(0, {})", last + 1);
    words::edge(what, edge, (sizes, chosen), range, "an estimator with CV in its name")
}

/// That a size chosen on rows held out is the largest of these and the data carry more, or the smallest and above 0; `None`
/// where neither is so.
#[pyfunction]
fn edge(
    py: Python<'_>,
    design: Matrix<'_>,
    problem: Problem<'_>,
    work: Work,
    sizes: Vec<usize>,
    chosen: usize,
    what: &str,
) -> PyResult<Option<String>> {
    let (edge, _) = worked(py, (&design, &problem, &work), |features, _| Ok(features.edge(&sizes, chosen)))?;
    Ok(at_the_edge(what, edge, &sizes, chosen))
}

/// The sizes that training sets of so many rows are tried with where nobody says; after others, of which the largest and
/// the chosen one are given, those that follow. `None`: there are no more to try.
#[pyfunction]
#[pyo3(signature = (design, problem, work, rows, before))]
fn sizes_after(
    py: Python<'_>,
    design: Matrix<'_>,
    problem: Problem<'_>,
    work: Work,
    rows: usize,
    before: Option<(usize, usize)>,
) -> PyResult<Option<Vec<usize>>> {
    let asked = (&design, &problem, &work);
    worked(py, asked, |features, _| Ok(features.sizes_after(features.carried_by(rows), before))).map(|done| done.0)
}

/// Sizes between a choice among rising ones and its neighbours, after those up to the lower one; empty: there are none.
#[pyfunction]
fn sizes_between(sizes: Vec<usize>, chosen: usize) -> Vec<usize> {
    katoms_estimate::sizes_between(&sizes, chosen)
}

/// The ridges that are tried where nobody says.
#[pyfunction]
fn ridges(py: Python<'_>, design: Matrix<'_>, problem: Problem<'_>, work: Work) -> PyResult<Vec<f64>> {
    worked(py, (&design, &problem, &work), |features, _| Ok(features.ridges())).map(|done| done.0)
}
