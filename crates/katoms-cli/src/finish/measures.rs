//! How well a model predicts: rows that its fit has not seen first, then those of the fit.

use katoms::loss::Logistic;
use katoms_io::Loss;
use serde_json::{Value, json};

use super::Finished;
use crate::report::diagnostics;
use crate::report::{Predictions, Probabilities};

impl Finished<'_> {
    /// The rows of the fit: numbers, and what is predicted.
    pub(super) fn fitted_numbers(&self) -> Option<Predictions> {
        let predicted = self.predictions();
        self.numbers(predicted.into_iter().enumerate())
    }

    /// Rows held out, predicted by models that have not seen them.
    pub(super) fn held_out_numbers(&self) -> Option<Predictions> {
        let choosing = self.validated.as_ref()?;
        self.numbers(choosing.held_out.iter().copied())
    }

    /// The truth beside what is predicted of some rows, with their weights.
    fn numbers(&self, rows: impl Iterator<Item = (usize, f64)>) -> Option<Predictions> {
        let target = self.loaded.dataset.target.as_ref()?;
        let (rows, predicted): (Vec<usize>, Vec<f64>) = rows.unzip();
        let of = |all: &[f64]| rows.iter().filter_map(|&row| all.get(row).copied()).collect::<Vec<f64>>();
        let weights = self.loaded.dataset.weights.as_deref().map(of).unwrap_or_default();
        Some(Predictions { observed: of(&target.values), predicted, weights })
    }

    /// The same for classes.
    pub(super) fn probabilities(numbers: Predictions) -> Probabilities {
        Probabilities {
            labels: numbers.observed.iter().map(|&y| y == 1.0).collect(),
            probabilities: numbers.predicted.into_iter().map(Logistic::probability).collect(),
            weights: numbers.weights,
        }
    }

    /// How well the model fits, in a few words.
    pub fn fit_in_words(&self) -> String {
        let held_out = self.held_out_numbers().map(|rows| format!("{} on rows held out; ", self.in_words(rows)));
        let fitted = self.fitted_numbers().map(|rows| self.in_words(rows));
        let mut fitted = fitted.unwrap_or_else(|| "no R²".into());
        if let (Loss::Logistic, Some(share)) = (self.loaded.loss, self.explained()) {
            fitted += &format!(", {:.1} % of the deviance explained", 100.0 * share);
        }
        format!("{}{fitted} on the rows of the fit", held_out.unwrap_or_default())
    }

    fn in_words(&self, rows: Predictions) -> String {
        let said = |name: &str, value: Option<f64>| value.map(|value| format!("{name} {value:.4}"));
        match self.loaded.loss {
            Loss::Squares => {
                let Predictions { observed, predicted, weights } = &rows;
                said("R²", diagnostics::r_squared(observed, predicted, weights)).unwrap_or_else(|| "no R²".into())
            }
            Loss::Logistic => {
                let Probabilities { labels, probabilities, weights } = Self::probabilities(rows);
                said("AUC", diagnostics::auc(&labels, &probabilities, &weights)).unwrap_or_else(|| "no AUC".into())
            }
        }
    }

    /// The same for machines.
    pub(super) fn on_fitted_rows(&self) -> Option<Value> {
        self.fitted_numbers().map(|rows| self.measured(rows))
    }

    /// The same for machines, on rows held out.
    pub(super) fn on_held_out_rows(&self) -> Option<Value> {
        self.held_out_numbers().map(|rows| self.measured(rows))
    }

    fn measured(&self, rows: Predictions) -> Value {
        match self.loaded.loss {
            Loss::Squares => {
                let Predictions { observed, predicted, weights } = &rows;
                let residuals = diagnostics::residuals(observed, predicted, weights);
                json!({
                    "r_squared": diagnostics::r_squared(observed, predicted, weights),
                    "rmse": residuals.map(|residuals| residuals.root_mean_square),
                    "mean_absolute_error": residuals.map(|residuals| residuals.mean_absolute_error),
                })
            }
            Loss::Logistic => {
                let log_loss = log_loss(&rows);
                let Probabilities { labels, probabilities, weights } = Self::probabilities(rows);
                json!({ "auc": diagnostics::auc(&labels, &probabilities, &weights), "log_loss": log_loss })
            }
        }
    }
}

/// The weighted mean of −log p of the class that a row has, from log-odds.
fn log_loss(rows: &Predictions) -> f64 {
    let weight = |i: usize| rows.weights.get(i).copied().unwrap_or(1.0);
    let loss = |(i, (&y, &z)): (usize, (&f64, &f64))| {
        weight(i) * -katoms_estimate::log_probability(if y == 1.0 { z } else { -z })
    };
    let all: f64 = rows.observed.iter().zip(&rows.predicted).enumerate().map(loss).sum();
    all / (0..rows.observed.len()).map(weight).sum::<f64>()
}
