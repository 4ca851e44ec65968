//! One self-contained HTML file about a fit.
//!
//! A command fills a [`Report`]; [`Report::to_html`] makes the page. Every part is optional, and an absent one leaves
//! no hole. The page needs no network, no fonts and no script: charts are drawn as SVG in colours that follow the
//! reader's light or dark theme, and all that they show is in tables too.
//!
//! ```
//! use katoms_cli::report::{Fact, Report};
//!
//! let report = Report {
//!     title: "1 of 3 features predicts price".into(),
//!     answer: "The area alone explains 81 % of the price.".into(),
//!     certainty: vec![Fact::new("Status", "converged")],
//!     ..Report::default()
//! };
//! assert!(report.to_html().contains("<h1>1 of 3 features predicts price</h1>"));
//! ```

mod bars;
mod coefficients;
pub mod diagnostics;
mod entry;
mod figures;
mod outcomes;
mod page;
mod parts;
mod predictions;
mod responses;
mod tables;

pub use coefficients::{Coefficient, Coefficients, Scale};
pub use outcomes::{Classes, ManyClasses, Risks, Survival};
pub use responses::{Response, Responses};

use serde::Serialize;

/// What a page tells.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Report {
    /// The headline: "10 of 500 features predict price".
    pub title: String,
    /// The answer in a sentence or two.
    pub answer: String,
    /// The command line that made it, as it would be typed again.
    pub command: String,
    /// The version of the program.
    pub version: String,
    /// What a reader must know before all else: "not converged: stopped at the time limit".
    pub warnings: Vec<String>,
    /// What was asked: data, target, loss, k, options.
    pub question: Vec<Fact>,
    /// What was found, and how sure it is: status, objective, exchanges compared, certificate.
    pub certainty: Vec<Fact>,
    /// The atoms of the model.
    pub coefficients: Option<Coefficients>,
    /// How the objective fell.
    pub convergence: Option<Convergence>,
    /// A model of each size.
    pub path: Option<Path>,
    /// The error on rows held out, for each size.
    pub cross_validation: Option<CrossValidation>,
    /// Predictions of numbers beside the truth.
    pub regression: Option<Regression>,
    /// Predictions of several responses beside the truth.
    pub responses: Option<Responses>,
    /// Predicted probabilities beside the truth.
    pub classification: Option<Classification>,
    /// Predicted probabilities of more than two classes beside the truth.
    pub many_classes: Option<ManyClasses>,
    /// Predicted risks beside times.
    pub survival: Option<Survival>,
    /// A matrix that was filled in.
    pub completion: Option<Completion>,
    /// What identifies the data: a hash, the number of rows and columns.
    pub fingerprint: Option<String>,
}

impl Report {
    /// The page. The same report gives the same bytes.
    pub fn to_html(&self) -> String {
        page::render(self)
    }
}

/// A label and what there is to say. The element that holds the value has the id `asked-label` or `answer-label`,
/// in small letters with hyphens: "Chosen by" is `asked-chosen-by`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Fact {
    /// "Objective".
    pub label: String,
    /// "12.34".
    pub value: String,
}

impl Fact {
    /// A label and its value.
    pub fn new(label: impl Into<String>, value: impl Into<String>) -> Self {
        Self { label: label.into(), value: value.into() }
    }
}

/// How the objective fell, move by move.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Convergence {
    /// In the order in which they were made.
    pub moves: Vec<Step>,
    /// Passes over the data in all, those after the last move too, which say how good its end is. Default: up to the last
    /// move.
    pub passes: Option<f64>,
}

/// One move.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Step {
    /// Passes over the data so far.
    pub passes: f64,
    /// The objective after it.
    pub objective: f64,
    /// How far the objective is at most from its minimum, where that was proven.
    pub gap: Option<f64>,
    /// What kind of move it was, if not a plain one: "exchange", "restart". Few kinds; each gets a mark of its own.
    pub label: Option<String>,
}

/// A model of each size.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Path {
    /// By rising k.
    pub sizes: Vec<PathSize>,
    /// The size that was chosen.
    pub chosen: Option<usize>,
    /// What chose it: "EBIC". A criterion of that name is drawn boldly.
    pub chosen_by: Option<String>,
    /// What `explained` is: "R²", "deviance explained".
    pub explained_name: String,
}

/// One size of a path.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct PathSize {
    /// The number of atoms.
    pub k: usize,
    /// The loss.
    pub loss: f64,
    /// The share of the variance or deviance that is explained, 0 to 1.
    pub explained: Option<f64>,
    /// Akaike's criterion.
    pub aic: Option<f64>,
    /// The Bayesian criterion.
    pub bic: Option<f64>,
    /// The extended Bayesian criterion.
    pub ebic: Option<f64>,
    /// The generalised criterion.
    pub gic: Option<f64>,
    /// The names of the atoms chosen at this size.
    pub features: Vec<String>,
}

/// The error on rows held out, for each size.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct CrossValidation {
    /// What the error is: "mean squared error".
    pub measure: String,
    /// The number of folds.
    pub folds: usize,
    /// By rising k, under the chosen ridge.
    pub sizes: Vec<HeldOutError>,
    /// The chosen ridge.
    pub ridge: f64,
    /// The best size under each ridge, where several were tried.
    pub ridges: Vec<RidgeError>,
    /// The model without features: what the others must beat.
    pub null: Option<HeldOutError>,
    /// The size of least error.
    pub k_min: usize,
    /// The smallest size within one standard error of the least.
    pub k_1se: usize,
    /// The size that was fitted in the end.
    pub chosen: Option<usize>,
    /// What a reader should know of how it was done.
    pub remark: String,
    /// Whether more of the measure is better, as of AUC.
    pub larger_is_better: bool,
}

impl CrossValidation {
    fn best_word(&self) -> &'static str {
        match (self.larger_is_better, self.measure.as_str()) {
            (true, "AUC") => "largest AUC",
            (true, _) => "largest",
            (false, _) => "least error",
        }
    }

    fn with_null(&self) -> Vec<HeldOutError> {
        let absent = self.null.filter(|null| self.sizes.iter().all(|size| size.k != null.k));
        absent.into_iter().chain(self.sizes.iter().copied()).collect()
    }
}

/// The error at one size.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct HeldOutError {
    /// The number of atoms.
    pub k: usize,
    /// The mean over the folds.
    pub mean: f64,
    /// The standard error of that mean.
    pub error: f64,
    /// The same as a root mean squared error, where it is a mean squared error.
    pub rmse: Option<f64>,
}

/// The least error under one ridge.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct RidgeError {
    /// The ridge.
    pub ridge: f64,
    /// The size with the least error, and that error.
    pub best: HeldOutError,
}

/// Predictions of numbers beside the truth. Charts show rows held out where there are some.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Regression {
    /// The name of the target.
    pub target: String,
    /// What is predicted of it.
    pub kind: RegressionKind,
    /// The share of the deviance, of a quantile of the pinball loss, that is explained: of rows held out, and of the fit.
    pub explained: [Option<f64>; 2],
    /// Rows that the fit behind a prediction has not seen.
    #[serde(skip)]
    pub held_out: Option<Predictions>,
    /// Rows of the fit: the page says that new ones will be predicted less well.
    #[serde(skip)]
    pub fitted: Option<Predictions>,
}

/// What is predicted of a number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RegressionKind {
    /// The number itself.
    #[default]
    Number,
    /// Its mean, of a count or an amount.
    Mean,
    /// A quantile.
    Quantile(f64),
}

/// Numbers beside the truth, row by row.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Predictions {
    /// The truth.
    pub observed: Vec<f64>,
    /// What the model says.
    pub predicted: Vec<f64>,
    /// The weights of the rows; empty when all weigh the same.
    pub weights: Vec<f64>,
}

/// Predicted probabilities beside the truth. Charts show rows held out where there are some.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Classification {
    /// The name of the target.
    pub target: String,
    /// The class of probability 1: "yes", "malignant".
    pub positive: String,
    /// The other class.
    pub negative: String,
    /// Rows that the fit behind a prediction has not seen.
    #[serde(skip)]
    pub held_out: Option<Probabilities>,
    /// Rows of the fit.
    #[serde(skip)]
    pub fitted: Option<Probabilities>,
}

/// Probabilities beside the truth, row by row.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Probabilities {
    /// Whether a row is of the positive class.
    pub labels: Vec<bool>,
    /// The probability of the positive class.
    pub probabilities: Vec<f64>,
    /// The weights of the rows; empty when all weigh the same.
    pub weights: Vec<f64>,
}

/// A matrix that was filled in.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Completion {
    /// Pictures, side by side: the original, what was seen, what was completed.
    pub pictures: Vec<Picture>,
    /// The singular values of the answer, largest first.
    pub singular_values: Vec<f64>,
    /// The error on entries held out, for each rank that was tried.
    pub ranks: Vec<RankError>,
    /// The rank that was chosen.
    pub chosen_rank: Option<usize>,
    /// What the error is: "root mean squared error".
    pub measure: String,
}

/// A picture and what it shows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Picture {
    /// "35 % of the pixels, as seen".
    pub caption: String,
    /// The bytes of a PNG file.
    #[serde(skip)]
    pub png: Vec<u8>,
}

/// The error on entries held out, at one rank.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct RankError {
    /// The rank.
    pub rank: usize,
    /// The error.
    pub error: f64,
}
