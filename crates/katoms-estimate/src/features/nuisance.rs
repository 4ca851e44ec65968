//! What a model has besides its coefficients and intercept, and how the part of it that the loss depends on is estimated.

use std::borrow::Cow;

use katoms::Error;
use katoms::loss::{AnyLoss, Baseline, Split};
use katoms::search::Effort;
use katoms::select::Criterion;
use katoms::space::SparseVec;

use super::{Estimate, Features, FitOptions, PathModels, Product, predictions};
use crate::budget::Budget;
use crate::response::usual_smoothing;
use crate::scale::{estimated_at, parameter};
use crate::watch::{Unsaved, Unwatched, Watch};

/// When the estimate of a parameter no longer changes, as a share of it, and after how many models it is left as it is.
const SETTLED: f64 = 1e-9;
const ROUNDS: usize = 50;
/// The step from a smoothing to the next wider one.
const WIDER: f64 = 10.0;
/// How often a model is searched for anew with the parameter of the last one.
const SEARCHES: usize = 4;

/// Parameters of a model that are no coefficients.
#[derive(Debug, Clone, PartialEq)]
pub enum Nuisance {
    /// There are none.
    None,
    /// α: counts of mean μ have the variance μ + αμ².
    Dispersion(f64),
    /// From where on residuals are large.
    Delta(f64),
    /// The width over which the loss of a quantile is smoothed.
    Smoothing(f64),
    /// The log-odds of a class of at most c are the c-th of these less the linear prediction.
    Thresholds(Vec<f64>),
    /// The hazard of rows whose linear prediction is 0, stratum by stratum.
    Baseline(Vec<Baseline>),
}

impl Nuisance {
    pub(super) fn at(loss: &AnyLoss, predictions: &[f64]) -> Self {
        match loss {
            AnyLoss::NegativeBinomial(loss) => Self::Dispersion(loss.dispersion()),
            AnyLoss::Huber(loss) => Self::Delta(loss.delta()),
            AnyLoss::Quantile(loss) => Self::Smoothing(loss.smoothing()),
            AnyLoss::Ordinal(loss) => Self::Thresholds(loss.thresholds(predictions)),
            AnyLoss::Cox(loss) => Self::Baseline(loss.baseline(predictions)),
            _ => Self::None,
        }
    }
}

impl Features<'_> {
    /// The same with the parameter of the loss at a model that EBIC chooses; the same where nothing is estimated. Models of
    /// several sizes are compared by one loss.
    pub(super) fn settled(&self) -> Result<Cow<'_, Self>, Error> {
        if !self.estimated {
            return Ok(Cow::Borrowed(self));
        }
        let mut settled = Self { estimated: false, ..self.clone() };
        for _ in 0..2 {
            let path = settled.path(None, Criterion::EBIC, &mut Unwatched)?;
            let chosen = PathModels::criterion("EBIC").map_or(0, |which| path.best[which]);
            if let Some((coefficients, intercepts)) = path.model(chosen) {
                settled.loss = estimated_at(&self.loss, &predictions(self.design, &coefficients, &intercepts))?;
            }
        }
        Ok(Cow::Owned(settled))
    }

    /// The thresholds between classes in an order that a model of some rows has; `None` for other losses.
    ///
    /// # Errors
    /// When a row is outside.
    pub fn thresholds(
        &self,
        coefficients: &SparseVec,
        intercepts: &[f64],
        rows: &[usize],
    ) -> Result<Option<Vec<f64>>, Error> {
        let AnyLoss::Ordinal(loss) = &self.loss else { return Ok(None) };
        let all = self.predictions(coefficients, intercepts);
        let own: Vec<f64> = rows.iter().map(|&row| all[row]).collect();
        Ok(Some(loss.subset(rows)?.thresholds(&own)))
    }

    /// The same of a model whose last coefficients are those of products.
    ///
    /// # Errors
    /// When a row is outside, or a product is no number.
    pub fn thresholds_with(
        &self,
        products: &[Product],
        coefficients: &SparseVec,
        intercepts: &[f64],
        rows: &[usize],
    ) -> Result<Option<Vec<f64>>, Error> {
        if products.is_empty() || !matches!(self.loss, AnyLoss::Ordinal(_)) {
            return self.thresholds(coefficients, intercepts, rows);
        }
        let design = Product::beside(products, self.design.clone())?;
        Features { design: &design, ..self.clone() }.thresholds(coefficients, intercepts, rows)
    }

    /// The model of k atoms at whose predictions the parameter of the loss is the best, and which is the best at that
    /// parameter: both in turn until neither changes.
    pub(super) fn fit_estimated(&self, k: usize, how: &FitOptions, watch: &mut dyn Watch) -> Result<Estimate, Error> {
        let budget = Budget::new(&how.stop)?;
        let mut now = Self { estimated: false, ..self.clone() };
        let mut found = now.fit(k, how, watch)?;
        let mut work = Work::of(&found);
        let watch = &mut Unsaved::new(watch);
        // Without a method by name, models of the same atoms settle the parameter before the search goes on.
        let has_methods = self.bounds.is_none() && self.inside.is_none() && self.parents.is_none();
        let searches = if how.method.is_none() && has_methods { SEARCHES } else { 0 };
        for search in 0..=searches {
            for _ in 0..ROUNDS {
                let linear = self.predictions(found.coefficients(), &found.intercepts);
                let loss = estimated_at(&now.loss, &linear)?;
                let (new, old) = (parameter(&loss).unwrap_or(1.0), parameter(&now.loss).unwrap_or(1.0));
                if (new - old).abs() <= SETTLED * old || watch.stopped {
                    break;
                }
                now.loss = loss;
                let mut again = after(&found, how, &budget);
                if searches > 0 {
                    (again.method, again.effort) = (Some("accelerated-iht".into()), Effort::Default);
                }
                found = work.with(now.fit(k, &again, watch)?);
            }
            if search == searches || watch.stopped {
                break;
            }
            let again = work.with(now.fit(k, &after(&found, how, &budget), watch)?);
            let same = again.chosen == found.chosen;
            found = again;
            if same {
                break;
            }
        }
        Ok(work.total(found))
    }
}

impl Features<'_> {
    /// The model of k atoms. Of a quantile that is smoothed over little, Newton's method does not find its way from afar: the
    /// models of wider smoothings, up to the usual one, lead there.
    pub(super) fn fit_narrowing(&self, k: usize, how: &FitOptions, watch: &mut dyn Watch) -> Result<Estimate, Error> {
        let leads = how.start.is_none() && how.resume.is_none() && how.method.is_none();
        let wider = if leads { self.widened()? } else { Vec::new() };
        let Some(widest) = wider.first() else { return self.searched_for(k, how, watch) };
        let (budget, watch) = (Budget::new(&how.stop)?, &mut Unsaved::new(watch));
        let mut found = widest.searched_for(k, how, watch)?;
        let mut work = Work::of(&found);
        for one in wider[1..].iter().chain([self]) {
            if watch.stopped {
                break;
            }
            found = work.with(one.searched_for(k, &after(&found, how, &budget), watch)?);
        }
        Ok(work.total(found))
    }

    /// The same smoothed over more, each ten times as much as the next. The widest comes first.
    fn widened(&self) -> Result<Vec<Self>, Error> {
        let AnyLoss::Quantile(loss) = &self.loss else { return Ok(Vec::new()) };
        let (usual, mut width) = (usual_smoothing(loss.target(), loss.weights()), loss.smoothing());
        let mut wider = Vec::new();
        while WIDER * width <= usual {
            width *= WIDER;
            wider.push(Self { loss: loss.with_smoothing(width)?.into(), ..self.clone() });
        }
        wider.reverse();
        Ok(wider)
    }
}

/// A fit that goes on from a model.
pub(super) fn after(found: &Estimate, how: &FitOptions, budget: &Budget) -> FitOptions {
    let start = Some((found.coefficients().clone(), found.intercepts.clone()));
    FitOptions { start, resume: None, stop: budget.left(how.stop, 0.0), ..how.clone() }
}

/// What all fits took together.
pub(super) struct Work {
    iterations: usize,
    passes: usize,
    reads: f64,
    columns: usize,
    seconds: f64,
}

impl Work {
    pub fn of(found: &Estimate) -> Self {
        let one = &found.outcome;
        let (iterations, passes, reads) = (one.iterations, one.passes, one.reads);
        Self { iterations, passes, reads, columns: one.columns, seconds: one.seconds }
    }

    pub fn with(&mut self, found: Estimate) -> Estimate {
        self.iterations += found.outcome.iterations;
        self.passes += found.outcome.passes;
        self.reads += found.outcome.reads;
        self.columns += found.outcome.columns;
        self.seconds += found.outcome.seconds;
        found
    }

    pub fn total(self, mut found: Estimate) -> Estimate {
        let one = &mut found.outcome;
        (one.iterations, one.passes, one.reads) = (self.iterations, self.passes, self.reads);
        (one.columns, one.seconds) = (self.columns, self.seconds);
        found
    }
}
