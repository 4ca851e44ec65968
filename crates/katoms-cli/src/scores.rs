//! How well linear predictions agree with what was observed.

use katoms::loss::Logistic;
use katoms_estimate::log_probability;
use katoms_io::Loss;
use serde::Serialize;

use crate::report::diagnostics::{auc, confusion, r_squared, residuals};
use crate::report::{Predictions, Probabilities};
use crate::terminal::number;

/// The scores of some rows.
#[derive(Debug, Serialize)]
pub struct Scores {
    pub rows: usize,
    #[serde(flatten)]
    of: Kind,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Kind {
    Numbers { r_squared: Option<f64>, rmse: f64, mean_absolute_error: f64 },
    Classes { auc: Option<f64>, accuracy: f64, log_loss: f64 },
}

impl Scores {
    /// `None` where no row can be scored.
    pub fn new(loss: Loss, rows: &Predictions) -> Option<Self> {
        let Predictions { observed, predicted, weights } = rows;
        let of = match loss {
            Loss::Squares => {
                let residuals = residuals(observed, predicted, weights)?;
                Kind::Numbers {
                    r_squared: r_squared(observed, predicted, weights),
                    rmse: residuals.root_mean_square,
                    mean_absolute_error: residuals.mean_absolute_error,
                }
            }
            Loss::Logistic => {
                let Probabilities { labels, probabilities, .. } = probabilities(rows.clone());
                Kind::Classes {
                    auc: auc(&labels, &probabilities, weights),
                    accuracy: confusion(&labels, &probabilities, 0.5)?.accuracy()?,
                    log_loss: log_loss(rows),
                }
            }
        };
        Some(Self { rows: observed.len(), of })
    }

    /// The first of them: `R² 0.9898`, `AUC 0.9310`.
    pub fn first(&self) -> String {
        let (name, value) = match self.of {
            Kind::Numbers { r_squared, .. } => ("R²", r_squared),
            Kind::Classes { auc, .. } => ("AUC", auc),
        };
        value.map_or_else(|| format!("no {name}"), |value| format!("{name} {value:.4}"))
    }

    /// `R² 0.9898, RMSE 12.13, mean absolute error 9.512`.
    pub fn in_words(&self) -> String {
        let others = match self.of {
            Kind::Numbers { rmse, mean_absolute_error, .. } => {
                format!("RMSE {}, mean absolute error {}", number(rmse), number(mean_absolute_error))
            }
            Kind::Classes { accuracy, log_loss, .. } => {
                format!("accuracy {:.1} %, log loss {}", 100.0 * accuracy, number(log_loss))
            }
        };
        match self.first() {
            none if none.starts_with("no ") => others,
            first => format!("{first}, {others}"),
        }
    }
}

/// The same rows with probabilities in place of log-odds.
pub fn probabilities(rows: Predictions) -> Probabilities {
    Probabilities {
        labels: rows.observed.iter().map(|&y| y == 1.0).collect(),
        probabilities: rows.predicted.into_iter().map(Logistic::probability).collect(),
        weights: rows.weights,
    }
}

/// The weighted mean of −log p of the class that a row has, from log-odds.
fn log_loss(rows: &Predictions) -> f64 {
    let weight = |i: usize| rows.weights.get(i).copied().unwrap_or(1.0);
    let loss = |(i, (&y, &z)): (usize, (&f64, &f64))| weight(i) * -log_probability(if y == 1.0 { z } else { -z });
    let all: f64 = rows.observed.iter().zip(&rows.predicted).enumerate().map(loss).sum();
    all / (0..rows.observed.len()).map(weight).sum::<f64>()
}
