//! A matrix of rank k from some of its entries.

use katoms::Error;
use katoms::method::RankMethod;
use katoms_estimate::{Centring, Clip, Completed, Completion, Rule, Trial};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::answer;
use crate::completed_matrix::CompletedMatrix;
use crate::device::opened;
use crate::ended::Ended;
use crate::error::raised;
use crate::job::{self, Work};
use crate::seen::Seen;

/// Adds what there is to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<CompletedMatrix>()?;
    module.add_function(wrap_pyfunction!(complete, module)?)
}

/// What predictions are kept within.
#[derive(FromPyObject)]
enum Bounds {
    /// From the first to the second.
    Range(f64, f64),
    /// `"seen"`: from the least to the largest value that was seen; `"off"`: nothing.
    Named(String),
}

/// What is wanted: `None` of ranks and ridges stands for the defaults.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Asked {
    /// `None`: unless it looks like ratings.
    scale: Option<bool>,
    ranks: Option<Vec<usize>>,
    ridges: Option<Vec<f64>>,
    centring: String,
    clip: Bounds,
    method: Option<String>,
    held_out: f64,
    rule: String,
    patience: usize,
    seed: u64,
    /// The number of a card, where the products of the entries are computed on one.
    card: Option<usize>,
}

impl Asked {
    fn how(&self, seen: &katoms_estimate::Observed, work: &Work) -> Result<Completion, Error> {
        let scale = self.scale.unwrap_or_else(|| !seen.looks_like_ratings());
        let ranks = match (&self.ranks, scale) {
            (Some(ranks), _) => ranks.clone(),
            (None, true) => Completion::feature_ranks(seen.shape()).collect(),
            (None, false) => Completion::ranks_for(seen).collect(),
        };
        let mut how = if scale { Completion::features(ranks) } else { Completion::new(ranks) };
        if let Some(ridges) = &self.ridges {
            how.ridges.clone_from(ridges);
        }
        if let Some(name) = &self.method {
            how.method = RankMethod::named(name)?;
        }
        how.centring = match self.centring.as_str() {
            "none" => Centring::None,
            "mean" => Centring::Mean,
            "effects" => Centring::Effects,
            _ => Centring::Chosen,
        };
        how.clip = match &self.clip {
            Bounds::Range(low, high) => Clip::Range(*low, *high),
            Bounds::Named(name) if name == "off" => Clip::Off,
            Bounds::Named(_) => Clip::Seen,
        };
        how.rule = if self.rule == "1se" { Rule::OneStandardError } else { Rule::Least };
        (how.held_out, how.patience, how.seed, how.stop) = (self.held_out, self.patience, self.seed, work.stop());
        Ok(how)
    }
}

/// Completes a matrix. Where nothing can be held out, the simplest of what was to be tried, and `"held_out"` says so.
#[pyfunction]
fn complete<'py>(py: Python<'py>, seen: Seen<'py>, asked: Asked, work: Work) -> PyResult<Bound<'py, PyDict>> {
    let cuda = asked.card.map(|ordinal| opened(py, ordinal)).transpose()?;
    let observed = seen.observed()?;
    let how = asked.how(&observed, &work).map_err(raised)?;
    let observed = match cuda {
        Some(cuda) => observed.on(move |pattern| katoms_cuda::entries(&cuda, pattern)),
        None => observed,
    };
    let ended = Ended::default();
    let ((found, held_out), error) =
        job::worked(py, &work, &ended, |listener| match katoms_estimate::complete(&observed, &how, None, listener) {
            Err(Error::FewRows { .. }) => {
                katoms_estimate::complete(&observed, &how.simplest(), None, listener).map(|found| (found, false))
            }
            done => done.map(|found| (found, true)),
        })?;
    let told = outcome(py, &found, &work)?;
    told.set_item("held_out", held_out)?;
    told.set_item("seen", observed.values().len())?;
    told.set_item("matrix", CompletedMatrix(found.matrix))?;
    told.set_item("status", answer::status(ended.status(found.status)))?;
    told.set_item("ended_by", error)?;
    Ok(told)
}

/// All but the matrix.
fn outcome<'py>(py: Python<'py>, found: &Completed, work: &Work) -> PyResult<Bound<'py, PyDict>> {
    let told = PyDict::new(py);
    told.set_item("rank", found.rank)?;
    told.set_item("l2", found.ridge)?;
    told.set_item("centring", centring_name(found.centring))?;
    told.set_item("row_prior", found.row_prior.name())?;
    told.set_item("trials", found.trials.iter().map(|trial| tried(py, trial)).collect::<PyResult<Vec<_>>>()?)?;
    told.set_item("rank_min", found.least().map(|trial| trial.rank))?;
    told.set_item("rank_1se", found.one_standard_error().map(|trial| trial.rank))?;
    told.set_item("rmse", found.seen_rmse)?;
    told.set_item("held_out_rmse", found.held_out_rmse)?;
    told.set_item("complete", found.complete)?;
    told.set_item("refitted", found.refitted)?;
    told.set_item("iterations", found.iterations)?;
    told.set_item("passes", found.passes)?;
    told.set_item("seconds", found.seconds)?;
    told.set_item("repeated", found.repeated)?;
    let quality =
        found.quality.as_ref().map(|quality| answer::quality(py, quality, &[], &work.names, "")).transpose()?;
    told.set_item("quality", quality)?;
    told.set_item("trace", answer::trace(py, &found.trace)?)?;
    Ok(told)
}

fn tried<'py>(py: Python<'py>, trial: &Trial) -> PyResult<Bound<'py, PyDict>> {
    let told = PyDict::new(py);
    told.set_item("rank", trial.rank)?;
    told.set_item("l2", trial.ridge)?;
    told.set_item("centring", centring_name(trial.centring))?;
    told.set_item("row_prior", trial.row_prior.name())?;
    told.set_item("held_out_rmse", trial.held_out_rmse)?;
    told.set_item("held_out_mse", trial.held_out_mse)?;
    told.set_item("standard_error", trial.standard_error)?;
    told.set_item("seen_rmse", trial.seen_rmse)?;
    told.set_item("iterations", trial.iterations)?;
    told.set_item("status", answer::status(trial.status))?;
    Ok(told)
}

/// What a centring is called in Python.
fn centring_name(centring: Centring) -> &'static str {
    match centring {
        Centring::None => "none",
        Centring::Mean => "mean",
        Centring::Columns => "columns",
        Centring::Effects => "effects",
        Centring::Chosen => "auto",
    }
}
