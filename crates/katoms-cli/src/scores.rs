//! How well linear predictions agree with what was observed.

use katoms_estimate::Measure;
use katoms_io::Loss;
use serde::Serialize;

use crate::judged::Judged;
use crate::report::diagnostics::{confusion, r_squared, residuals, share_below};
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
    Means { deviance_explained: Option<f64>, rmse: f64, mean_absolute_error: f64 },
    Quantile { pinball_loss_explained: Option<f64>, share_below: f64, mean_absolute_error: f64 },
    TwoClasses { auc: Option<f64>, accuracy: f64, log_loss: f64 },
    Classes { accuracy: f64, log_loss: f64 },
    Times { c_index: Option<f64> },
}

impl Scores {
    /// `None` where no row can be scored.
    pub fn new(loss: Loss, rows: &Judged) -> Option<Self> {
        let of = match loss {
            Loss::Logistic => {
                let both = rows.two_classes()?;
                Kind::TwoClasses {
                    auc: rows.measure(Measure::Auc),
                    accuracy: confusion(&both.labels, &both.probabilities, 0.5)?.accuracy()?,
                    log_loss: rows.log_loss()?,
                }
            }
            Loss::Multinomial | Loss::Ordinal => {
                Kind::Classes { accuracy: rows.classes()?.accuracy()?, log_loss: rows.log_loss()? }
            }
            Loss::Cox => Kind::Times { c_index: rows.measure(Measure::Concordance) },
            _ => Self::of_numbers(loss, rows)?,
        };
        Some(Self { rows: rows.rows(), of })
    }

    fn of_numbers(loss: Loss, rows: &Judged) -> Option<Kind> {
        let both = rows.numbers()?;
        let residuals = residuals(&both.observed, &both.predicted, &both.weights)?;
        let (rmse, mean_absolute_error) = (residuals.root_mean_square, residuals.mean_absolute_error);
        Some(match loss {
            Loss::Squares | Loss::Huber => {
                let r_squared = r_squared(&both.observed, &both.predicted, &both.weights);
                Kind::Numbers { r_squared, rmse, mean_absolute_error }
            }
            Loss::Quantile => {
                let share_below = share_below(&both.observed, &both.predicted, &both.weights)?;
                Kind::Quantile { pinball_loss_explained: rows.explained(), share_below, mean_absolute_error }
            }
            _ => Kind::Means { deviance_explained: rows.explained(), rmse, mean_absolute_error },
        })
    }

    /// The first of them: `R² 0.9898`, `AUC 0.9310`.
    pub fn first(&self) -> String {
        let (name, value) = match self.of {
            Kind::Numbers { r_squared, .. } => ("R²", r_squared),
            Kind::Means { deviance_explained: share, .. } | Kind::Quantile { pinball_loss_explained: share, .. } => {
                ("D²", share)
            }
            Kind::TwoClasses { auc, .. } => ("AUC", auc),
            Kind::Classes { accuracy, .. } => return format!("accuracy {:.1} %", 100.0 * accuracy),
            Kind::Times { c_index } => ("C-index", c_index),
        };
        value.map_or_else(|| format!("no {name}"), |value| format!("{name} {value:.4}"))
    }

    /// `R² 0.9898, RMSE 12.13, mean absolute error 9.512`.
    pub fn in_words(&self) -> String {
        let others = match self.of {
            Kind::Numbers { rmse, mean_absolute_error, .. } | Kind::Means { rmse, mean_absolute_error, .. } => {
                format!("RMSE {}, mean absolute error {}", number(rmse), number(mean_absolute_error))
            }
            Kind::Quantile { share_below, mean_absolute_error, .. } => format!(
                "{:.1} % of rows below the prediction, mean absolute error {}",
                100.0 * share_below,
                number(mean_absolute_error)
            ),
            Kind::TwoClasses { accuracy, log_loss, .. } => {
                format!("accuracy {:.1} %, log loss {}", 100.0 * accuracy, number(log_loss))
            }
            Kind::Classes { log_loss, .. } => format!("log loss {}", number(log_loss)),
            Kind::Times { .. } => return self.first(),
        };
        match self.first() {
            none if none.starts_with("no ") => others,
            first => format!("{first}, {others}"),
        }
    }
}
