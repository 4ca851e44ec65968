//! What is asked of a model, and what is told of it.

use katoms::Status;
use katoms::driver::{Outcome, Stop};
use katoms::search::Effort;
use katoms::select::Criterion;
use katoms::space::SparseVec;

use super::Nuisance;

/// How one model is looked for.
#[derive(Debug, Clone, Default)]
pub struct FitOptions {
    /// A single run of this method and nothing after it. It may be one for k atoms, for an ℓ1 penalty (`lasso`, `fista`,
    /// `twist`) or for an ℓ1 ball (`frank-wolfe` and its kin); of the last two, coefficients are shrunken. Default: accelerated IHT, and a search from its end.
    pub method: Option<String>,
    /// λ of λ·Σ|xⱼ|, x on the scale of the fit, for a method with a penalty. Unless given, the least λ of the Lasso's path
    /// at which at most k features are in; with it, k plays no part.
    pub penalty: Option<f64>,
    /// The same bound on Σ|xⱼ| for a method over a ball. Unless given, that of the Lasso's model of at most k features.
    pub radius: Option<f64>,
    /// How hard that search tries. A method by name runs alone.
    pub effort: Effort,
    /// When it ends. While a single run goes on, the watch keeps the time, so that the run can be saved before it is
    /// stopped.
    pub stop: Stop,
    /// A saved state to go on from.
    pub resume: Option<Vec<u8>>,
    /// Coefficients and intercepts, in the units of the data, at which the first run begins: those of another model of
    /// the same features. The search goes on as ever. Where models have no intercept, the start's is left out.
    pub start: Option<(SparseVec, Vec<f64>)>,
}

/// One model, in the units of the data.
#[derive(Debug, Clone)]
pub struct Estimate {
    /// The fit; its point has the coefficients.
    pub outcome: Outcome<SparseVec>,
    /// The constants of the predictions, one for each output.
    pub intercepts: Vec<f64>,
    /// What a standard deviation of each feature does: its coefficient times that.
    pub standardized: SparseVec,
    /// The atoms that were chosen, without those that are always in.
    pub chosen: Vec<usize>,
    /// The loss alone, without the ridge.
    pub loss: f64,
    /// The loss of the best constant.
    pub null_loss: f64,
    /// What it has besides.
    pub nuisance: Nuisance,
}

impl Estimate {
    /// The constant of the predictions of a single output.
    pub fn intercept(&self) -> f64 {
        self.intercepts.first().copied().unwrap_or(0.0)
    }

    /// The coefficients.
    pub fn coefficients(&self) -> &SparseVec {
        &self.outcome.point
    }
}

/// Models of rising sizes, with what criteria say of them.
#[derive(Debug, Clone)]
pub struct PathModels {
    /// One for each size.
    pub models: Vec<PathModel>,
    /// The model without atoms, whether 0 is among the sizes or not: what a model must beat.
    pub null: PathModel,
    /// Whether all sizes are there.
    pub complete: bool,
    /// Passes over the data in all.
    pub passes: usize,
    /// Seconds of work.
    pub seconds: f64,
    /// The loss of the best constant.
    pub null_loss: f64,
    /// The best size by each criterion, in the order of [`PathModels::CRITERIA`].
    pub best: Vec<usize>,
}

impl PathModels {
    /// The criteria, by name.
    pub const CRITERIA: [(&'static str, Criterion); 4] =
        [("AIC", Criterion::Aic), ("BIC", Criterion::Bic), ("EBIC", Criterion::EBIC), ("GIC", Criterion::Gic)];

    /// The place of a criterion of this name, in any case of letters.
    pub fn criterion(name: &str) -> Option<usize> {
        Self::CRITERIA.iter().position(|(one, _)| one.eq_ignore_ascii_case(name))
    }

    /// Coefficients and intercept of a size: where a fit of it may start.
    pub fn model(&self, k: usize) -> Option<(SparseVec, Vec<f64>)> {
        let model = self.models.iter().find(|model| model.atoms == k)?;
        Some((model.coefficients.clone(), model.intercepts.clone()))
    }

    /// The sizes that were tried.
    pub fn sizes(&self) -> Vec<usize> {
        self.models.iter().map(|model| model.atoms).collect()
    }
}

/// The model of one size.
#[derive(Debug, Clone)]
pub struct PathModel {
    /// Its number of atoms.
    pub atoms: usize,
    /// Which.
    pub chosen: Vec<usize>,
    /// The coefficients, in the units of the data.
    pub coefficients: SparseVec,
    /// What a standard deviation of each feature does.
    pub standardized: SparseVec,
    /// The constants of the predictions, one for each output.
    pub intercepts: Vec<f64>,
    /// What was minimised, ridge included.
    pub objective: f64,
    /// The loss alone.
    pub loss: f64,
    /// The criteria, in the order of [`PathModels::CRITERIA`].
    pub criteria: [f64; 4],
    /// How the work on it ended.
    pub status: Status,
}
