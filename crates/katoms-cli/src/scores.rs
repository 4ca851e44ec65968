//! How well linear predictions agree with what was observed.

use katoms_estimate::Measure;
use katoms_io::Loss;
use serde::Serialize;

use crate::judged::Judged;
use crate::report::Predictions;
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
    Numbers {
        r_squared: Option<f64>,
        rmse: f64,
        mean_absolute_error: f64,
    },
    Means {
        deviance_explained: Option<f64>,
        rmse: f64,
        mean_absolute_error: f64,
    },
    Quantile {
        pinball_loss_explained: Option<f64>,
        share_below: f64,
        mean_absolute_error: f64,
    },
    TwoClasses {
        auc: Option<f64>,
        accuracy: f64,
        log_loss: f64,
    },
    Classes {
        accuracy: f64,
        log_loss: f64,
    },
    Times {
        c_index: Option<f64>,
    },
    /// Means over the responses, and each of them.
    Responses {
        r_squared: Option<f64>,
        rmse: f64,
        mean_absolute_error: f64,
        responses: Vec<OfResponse>,
    },
}

/// The scores of a response.
#[derive(Debug, Serialize)]
pub struct OfResponse {
    name: String,
    rows: usize,
    r_squared: Option<f64>,
    rmse: f64,
    mean_absolute_error: f64,
}

/// The responses that a line names one by one.
const NAMED: usize = 4;

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

    /// Of several responses, each with its name; of rows that are known. `None` where none is.
    pub fn of_responses(rows: usize, each: Vec<(String, Predictions)>) -> Option<Self> {
        let one = |(name, rows): (String, Predictions)| {
            let Predictions { observed, predicted, weights } = rows;
            let residuals = residuals(&observed, &predicted, &weights)?;
            let (rmse, mean_absolute_error) = (residuals.root_mean_square, residuals.mean_absolute_error);
            let r_squared = r_squared(&observed, &predicted, &weights);
            Some(OfResponse { name, rows: observed.len(), r_squared, rmse, mean_absolute_error })
        };
        let responses: Vec<OfResponse> = each.into_iter().filter_map(one).collect();
        let mean = |of: &mut dyn Iterator<Item = f64>| {
            let all: Vec<f64> = of.collect();
            (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
        };
        let r_squared = mean(&mut responses.iter().filter_map(|one| one.r_squared));
        let rmse = mean(&mut responses.iter().map(|one| one.rmse.powi(2)))?.sqrt();
        let mean_absolute_error = mean(&mut responses.iter().map(|one| one.mean_absolute_error))?;
        Some(Self { rows, of: Kind::Responses { r_squared, rmse, mean_absolute_error, responses } })
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
            Kind::Responses { r_squared: Some(mean), ref responses, .. } => {
                return format!("R² {mean:.4} ({})", of_each(responses));
            }
            Kind::Responses { r_squared: None, .. } => ("R²", None),
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
            Kind::Numbers { rmse, mean_absolute_error, .. }
            | Kind::Means { rmse, mean_absolute_error, .. }
            | Kind::Responses { rmse, mean_absolute_error, .. } => {
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

/// `a 0.9712, b 0.9356`, or of many the least and the largest.
fn of_each(responses: &[OfResponse]) -> String {
    let known = || responses.iter().filter_map(|one| one.r_squared);
    if responses.len() > NAMED {
        let (least, most) = known().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
        return format!("{least:.4} to {most:.4} over {} targets", responses.len());
    }
    let said = |one: &OfResponse| match one.r_squared {
        Some(share) => format!("{} {share:.4}", one.name),
        None => format!("no R² of {}", one.name),
    };
    responses.iter().map(said).collect::<Vec<_>>().join(", ")
}
