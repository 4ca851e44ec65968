//! Predictions of several responses beside the truth.

use serde::Serialize;

use super::Predictions;
use super::diagnostics::{r_squared, residuals};
use super::figures::{self, Figure, Place};
use super::tables::{self, Table};
use katoms_charts::number::{counted, fixed, short};

/// Responses whose predictions are drawn, one chart for each.
const DRAWN: usize = 8;

/// Several responses. What is shown is of rows held out where there are some.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Responses {
    /// Each of them.
    pub responses: Vec<Response>,
    /// The mean of R² over the responses: of rows held out, and of those of the fit.
    pub r_squared: [Option<f64>; 2],
}

/// A response.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Response {
    /// Its name.
    pub name: String,
    /// The atoms of its own, where responses share none.
    pub k: Option<usize>,
    /// The constant of its predictions.
    pub intercept: Option<f64>,
    /// R² of rows held out, and of those of the fit.
    pub r_squared: [Option<f64>; 2],
    /// The root mean squared error of both.
    pub rmse: [Option<f64>; 2],
    /// Rows held out.
    #[serde(skip)]
    pub held_out: Option<Predictions>,
    /// Rows of the fit.
    #[serde(skip)]
    pub fitted: Option<Predictions>,
}

impl Response {
    /// A response with rows held out, and those of the fit.
    pub fn new(name: String, intercept: Option<f64>, rows: [Option<Predictions>; 2]) -> Self {
        let of = |rows: &Option<Predictions>| {
            let Predictions { observed, predicted, weights } = rows.as_ref()?;
            Some((r_squared(observed, predicted, weights), residuals(observed, predicted, weights)?.root_mean_square))
        };
        let both = [of(&rows[0]), of(&rows[1])];
        let [held_out, fitted] = rows;
        let (r_squared, rmse) = (both.map(|one| one.and_then(|one| one.0)), both.map(|one| one.map(|one| one.1)));
        Self { name, k: None, intercept, r_squared, rmse, held_out, fitted }
    }

    fn shown(&self) -> Option<&Predictions> {
        self.held_out.as_ref().or(self.fitted.as_ref())
    }
}

impl Responses {
    /// These responses.
    pub fn new(responses: Vec<Response>) -> Self {
        let mean = |which: usize| {
            let all: Vec<f64> = responses.iter().filter_map(|one| one.r_squared[which]).collect();
            (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
        };
        let r_squared = [mean(0), mean(1)];
        Self { responses, r_squared }
    }
}

#[derive(Debug, Serialize)]
pub(super) struct ResponsesPart {
    count: usize,
    rows: String,
    is_held_out: bool,
    r_squared: Option<String>,
    r_squared_fitted: Option<String>,
    table: Table,
    scatters: Vec<Scatter>,
    more: Option<String>,
}

#[derive(Debug, Serialize)]
struct Scatter {
    name: String,
    figure: Figure,
}

/// R² with as many digits as a person reads.
pub(super) fn share(value: f64) -> String {
    if value > -100.0 { fixed(value, 4) } else { short(value) }
}

impl ResponsesPart {
    pub(super) fn new(part: &Responses) -> Option<Self> {
        let rows = part.responses.first()?.shown()?.observed.len();
        let is_held_out = part.responses.iter().any(|one| one.held_out.is_some());
        let scatter = |one: &Response| {
            let rows = one.shown()?;
            let figure = Figure::new(Place::Half, |width| figures::scatter(rows, width))?;
            Some(Scatter { name: one.name.clone(), figure })
        };
        let [held_out, fitted] = part.r_squared.map(|mean| mean.map(share));
        let more = part.responses.len().saturating_sub(DRAWN);
        Some(Self {
            count: part.responses.len(),
            rows: counted(rows, "row"),
            is_held_out,
            r_squared_fitted: fitted.clone().filter(|_| is_held_out),
            r_squared: held_out.or(fitted),
            table: tables::responses(&part.responses),
            scatters: part.responses.iter().take(DRAWN).filter_map(scatter).collect(),
            more: (more > 0).then(|| counted(more, "more target")),
        })
    }
}
