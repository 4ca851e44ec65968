//! The part of a page that sets predictions beside the truth: rows held out first, those of the fit beside them.

use serde::Serialize;

use super::diagnostics::{self, Bin, Confusion, Residuals, Roc, Tenth};
use super::figures::{self, Figure, Place};
use super::tables::{self, Measure, Table};
use super::{Classification, Predictions, Probabilities, Regression, RegressionKind};
use katoms_charts::number::{counted, fixed, percent, short};

#[derive(Debug, Default, Serialize)]
pub(super) struct Measured {
    pub r_squared: Option<f64>,
    /// The share of the deviance, or of the pinball loss of a quantile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explained: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share_below: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenths: Option<Vec<Tenth>>,
    pub residuals: Option<Residuals>,
    pub auc: Option<f64>,
    pub calibration: Option<Vec<Bin>>,
    pub confusion: Option<Confusion>,
    #[serde(skip)]
    pub roc: Option<Roc>,
}

impl Measured {
    pub(super) fn numbers(rows: &Predictions, kind: RegressionKind, explained: Option<f64>) -> Self {
        let Predictions { observed, predicted, weights } = rows;
        let measured = Self { residuals: diagnostics::residuals(observed, predicted, weights), ..Self::default() };
        match kind {
            RegressionKind::Number => {
                Self { r_squared: diagnostics::r_squared(observed, predicted, weights), ..measured }
            }
            RegressionKind::Mean => {
                Self { explained, tenths: diagnostics::tenths(observed, predicted, weights), ..measured }
            }
            RegressionKind::Quantile(_) => {
                Self { explained, share_below: diagnostics::share_below(observed, predicted, weights), ..measured }
            }
        }
    }

    pub(super) fn classes(rows: &Probabilities) -> Self {
        let Probabilities { labels, probabilities, weights } = rows;
        let roc = diagnostics::roc(labels, probabilities, weights);
        Self {
            auc: roc.as_ref().map(|roc| roc.auc),
            calibration: diagnostics::calibration(labels, probabilities, weights),
            confusion: diagnostics::confusion(labels, probabilities, 0.5),
            roc,
            ..Self::default()
        }
    }
}

#[derive(Debug, Default, Serialize)]
pub(super) struct Both {
    pub held_out: Option<Measured>,
    pub fitted: Option<Measured>,
}

impl Both {
    fn first(&self) -> Option<&Measured> {
        self.held_out.as_ref().or(self.fitted.as_ref())
    }

    fn measure(&self, name: &'static str, of: impl Fn(&Measured) -> Option<String>) -> Measure {
        (name, self.held_out.as_ref().and_then(&of), self.fitted.as_ref().and_then(&of))
    }
}

#[derive(Debug, Serialize)]
pub(super) struct RegressionPart {
    target: String,
    rows: String,
    is_held_out: bool,
    /// R² or D², and what it is a share of.
    r_squared: Option<String>,
    r_squared_fitted: Option<String>,
    name: &'static str,
    quantile: Option<String>,
    tenths: Option<Figure>,
    groups: Option<Table>,
    scatter: Option<Figure>,
    residuals: Option<Figure>,
    quantiles: Option<Figure>,
    measures: Table,
}

impl RegressionPart {
    pub(super) fn new(regression: &Regression, both: &Both) -> Option<Self> {
        let shown = regression.held_out.as_ref().or(regression.fitted.as_ref())?;
        let half = |draw: fn(&Predictions, f64) -> Option<String>| Figure::new(Place::Half, |width| draw(shown, width));
        let is_held_out = regression.held_out.is_some();
        let groups = both.first().and_then(|m| m.tenths.as_deref());
        let is_mean = regression.kind == RegressionKind::Mean;
        Some(Self {
            target: regression.target.clone(),
            rows: counted(shown.observed.len(), "row"),
            is_held_out,
            name: if regression.kind == RegressionKind::Number { "R²" } else { "D²" },
            quantile: match regression.kind {
                RegressionKind::Quantile(quantile) => Some(percent(quantile)),
                _ => None,
            },
            tenths: groups.and_then(|groups| Figure::new(Place::Half, |width| figures::tenths(groups, width))),
            groups: groups.map(tables::tenths),
            r_squared: both.first().and_then(r_squared),
            r_squared_fitted: both.fitted.as_ref().filter(|_| is_held_out).and_then(r_squared),
            scatter: half(figures::scatter),
            residuals: half(figures::residuals),
            quantiles: if is_mean { None } else { half(figures::normal_quantiles) },
            measures: tables::measures(&residual_measures(both)),
        })
    }
}

fn r_squared(measured: &Measured) -> Option<String> {
    measured.r_squared.or(measured.explained).map(|share| if share > -100.0 { fixed(share, 4) } else { short(share) })
}

fn residual_measures(both: &Both) -> Vec<Measure> {
    let of = |name, say: fn(&Residuals) -> String| both.measure(name, move |m| m.residuals.as_ref().map(say));
    let all = [
        both.measure("R²", |m| r_squared(m).filter(|_| m.r_squared.is_some())),
        both.measure("D²", |m| r_squared(m).filter(|_| m.r_squared.is_none())),
        both.measure("Share of rows below the prediction", |m| m.share_below.map(percent)),
        of("Root mean squared error", |r| short(r.root_mean_square)),
        of("Mean absolute error", |r| short(r.mean_absolute_error)),
        of("Median residual", |r| short(r.quantiles[2])),
        of("Interquartile range", |r| format!("{} to {}", short(r.quantiles[1]), short(r.quantiles[3]))),
        of("Range", |r| format!("{} to {}", short(r.quantiles[0]), short(r.quantiles[4]))),
    ];
    all.into_iter().filter(|m| m.1.is_some() || m.2.is_some()).collect()
}

#[derive(Debug, Serialize)]
pub(super) struct ClassificationPart {
    target: String,
    positive: String,
    negative: String,
    rows: String,
    is_held_out: bool,
    auc: Option<String>,
    auc_fitted: Option<String>,
    roc: Option<Figure>,
    calibration: Option<Figure>,
    bins: Option<Table>,
    confusion: Option<Confusion>,
    measures: Table,
}

impl ClassificationPart {
    pub(super) fn new(classes: &Classification, both: &Both) -> Option<Self> {
        let shown = classes.held_out.as_ref().or(classes.fitted.as_ref())?;
        let is_held_out = classes.held_out.is_some();
        let auc = |measured: &Measured| measured.auc.map(|auc| fixed(auc, 4));
        let curve = |measured: &'_ Option<Measured>| measured.as_ref().and_then(|m| m.roc.clone());
        let (held_out, fitted) = (curve(&both.held_out), curve(&both.fitted));
        let bins = both.first().and_then(|m| m.calibration.as_deref());
        Some(Self {
            target: classes.target.clone(),
            positive: classes.positive.clone(),
            negative: classes.negative.clone(),
            rows: counted(shown.labels.len(), "row"),
            is_held_out,
            auc: both.first().and_then(auc),
            auc_fitted: both.fitted.as_ref().filter(|_| is_held_out).and_then(auc),
            roc: Figure::new(Place::Half, |width| figures::roc(held_out.as_ref(), fitted.as_ref(), width)),
            calibration: bins.and_then(|bins| Figure::new(Place::Half, |width| figures::calibration(bins, width))),
            bins: bins.map(tables::calibration),
            confusion: both.first().and_then(|m| m.confusion),
            measures: tables::measures(&class_measures(both)),
        })
    }
}

fn class_measures(both: &Both) -> Vec<Measure> {
    let of = |name, share: fn(&Confusion) -> Option<f64>| {
        both.measure(name, move |m| m.confusion.as_ref().and_then(share).map(percent))
    };
    let all = [
        both.measure("AUC", |m| m.auc.map(|auc| fixed(auc, 4))),
        of("Accuracy", Confusion::accuracy),
        of("Accuracy of always naming the larger class", Confusion::baseline),
        of("Sensitivity (recall)", Confusion::sensitivity),
        of("Specificity", Confusion::specificity),
        of("Precision", Confusion::precision),
    ];
    all.into_iter().filter(|m| m.1.is_some() || m.2.is_some()).collect()
}
