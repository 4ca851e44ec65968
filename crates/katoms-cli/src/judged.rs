//! Rows, what was observed of them, and what a model predicts of them.

use std::ops::Range;

use katoms::Error;
use katoms::loss::{AnyLoss, Loss as _, Split};
use katoms::select::{Folds, Score};
use katoms_estimate::score::{self, Linear};
use katoms_estimate::{Features, Measure, explained, log_probability};
use katoms_io::Loss;

use crate::report::{Classes, Predictions, Probabilities, Risks};

/// Rows, what was observed of them, and what is predicted.
#[derive(Debug, Clone)]
pub struct Judged {
    /// The loss of these rows.
    loss: AnyLoss,
    linear: Vec<f64>,
    /// Of classes, row by row.
    probabilities: Vec<Vec<f64>>,
    /// Rows that one model predicts.
    parts: Vec<Range<usize>>,
}

/// Linear predictions of some rows by one model.
struct Part {
    rows: Vec<usize>,
    linear: Vec<f64>,
    thresholds: Option<Vec<f64>>,
}

impl Judged {
    /// All rows of a loss, predicted by one model.
    pub fn new(loss: AnyLoss, linear: Vec<f64>, thresholds: Option<Vec<f64>>) -> Result<Self, Error> {
        let rows = loss.n_rows();
        Self::of(&loss, vec![Part { rows: (0..rows).collect(), linear, thresholds }])
    }

    /// Rows held out, each predicted by a model that has not seen it.
    pub fn held_out(loss: &AnyLoss, features: &Features<'_>, score: &Score, folds: &Folds) -> Result<Self, Error> {
        let part = |(fold, model): (usize, &katoms::select::FoldModel)| {
            let intercepts = &model.intercepts;
            let all = features.predictions(&model.coefficients, intercepts);
            let (rows, count) = (folds.held_out(fold), all.len() / intercepts.len());
            let linear = (0..intercepts.len()).flat_map(|output| rows.iter().map(move |row| output * count + row));
            let linear = linear.map(|place| all[place]).collect();
            let thresholds = features.thresholds(&model.coefficients, intercepts, &folds.training(fold))?;
            Ok(Part { rows, linear, thresholds })
        };
        let parts = score.models.iter().take(folds.count()).enumerate().map(part);
        Self::of(loss, parts.collect::<Result<_, Error>>()?)
    }

    fn of(loss: &AnyLoss, parts: Vec<Part>) -> Result<Self, Error> {
        let rows: Vec<usize> = parts.iter().flat_map(|part| part.rows.iter().copied()).collect();
        let whole = loss.subset(&rows)?;
        let outputs = parts.first().map_or(1, |part| part.linear.len() / part.rows.len().max(1));
        let (mut linear, mut ranges, mut probabilities) = (Vec::new(), Vec::new(), Vec::new());
        for output in 0..outputs {
            linear.extend(parts.iter().flat_map(|part| part.of_output(output)));
        }
        let mut start = 0;
        for part in &parts {
            let one = Linear { values: &part.linear, thresholds: part.thresholds.as_deref() };
            probabilities.extend(score::probabilities(&loss.subset(&part.rows)?, one).unwrap_or_default());
            ranges.push(start..start + part.rows.len());
            start += part.rows.len();
        }
        Ok(Self { loss: whole, linear, probabilities, parts: ranges })
    }

    pub fn rows(&self) -> usize {
        self.loss.n_outputs() / self.loss.outputs_per_row()
    }

    /// A measure of all rows; of times the mean over those that are predicted together.
    pub fn measure(&self, measure: Measure) -> Option<f64> {
        let all = |loss: &AnyLoss, values: &[f64]| measure.of(loss, Linear { values, thresholds: None });
        if measure != Measure::Concordance {
            return all(&self.loss, &self.linear);
        }
        let of = |rows: &Range<usize>| {
            let part = self.loss.subset(&rows.clone().collect::<Vec<_>>()).ok()?;
            all(&part, &self.linear[rows.clone()])
        };
        let found: Vec<f64> = self.parts.iter().filter_map(of).collect();
        (!found.is_empty()).then(|| found.iter().sum::<f64>() / found.len() as f64)
    }

    /// D².
    pub fn explained(&self) -> Option<f64> {
        Some(explained(&self.loss, &self.linear)).filter(|share| share.is_finite())
    }

    fn weights(&self) -> Vec<f64> {
        self.loss.weights().map(<[f64]>::to_vec).unwrap_or_default()
    }

    /// Numbers beside what is predicted.
    pub fn numbers(&self) -> Option<Predictions> {
        let observed = score::target(&self.loss)?.to_vec();
        Some(Predictions { observed, predicted: score::means(&self.loss, &self.linear), weights: self.weights() })
    }

    /// The probabilities of the second of two classes.
    pub fn two_classes(&self) -> Option<Probabilities> {
        let labels = self.loss.classes()?.iter().map(|&class| class == 1.0).collect();
        let probabilities = self.probabilities.iter().map(|row| row[1]).collect();
        Some(Probabilities { labels, probabilities, weights: self.weights() })
    }

    /// The probabilities of all classes.
    pub fn classes(&self) -> Option<Classes> {
        let labels = self.loss.classes()?.iter().map(|&class| class as usize).collect();
        Some(Classes { labels, probabilities: self.probabilities.clone(), weights: self.weights() })
    }

    /// The mean of −ln p of the class that a row has.
    pub fn log_loss(&self) -> Option<f64> {
        let labels = self.loss.classes()?;
        let weight = |i: usize| self.loss.weights().map_or(1.0, |weights| weights[i]);
        let log = |i: usize| match &self.loss {
            AnyLoss::Logistic(_) if labels[i] == 1.0 => log_probability(self.linear[i]),
            AnyLoss::Logistic(_) => log_probability(-self.linear[i]),
            _ => self.probabilities[i][labels[i] as usize].ln(),
        };
        let all: f64 = (0..labels.len()).map(|i| weight(i) * -log(i)).sum();
        Some(all / (0..labels.len()).map(weight).sum::<f64>())
    }

    /// Times by thirds of the risk, among rows that are predicted together.
    pub fn risks(&self) -> Option<Risks> {
        let AnyLoss::Cox(cox) = &self.loss else { return None };
        let mut thirds = vec![0; self.rows()];
        for rows in &self.parts {
            let mut order: Vec<usize> = rows.clone().collect();
            order.sort_by(|&a, &b| self.linear[a].total_cmp(&self.linear[b]));
            order.iter().enumerate().for_each(|(place, &row)| thirds[row] = 3 * place / order.len());
        }
        Some(Risks {
            times: cox.times().to_vec(),
            events: cox.events().iter().map(|&event| event == 1.0).collect(),
            thirds,
            weights: self.weights(),
            concordance: self.measure(Measure::Concordance),
        })
    }
}

impl Part {
    fn of_output(&self, output: usize) -> impl Iterator<Item = f64> + '_ {
        let rows = self.rows.len();
        self.linear[output * rows..(output + 1) * rows].iter().copied()
    }
}

/// What a held-out score is called, and how it is told: lower is better inside.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Told {
    /// `MSE`, `log loss`, `AUC`.
    pub name: &'static str,
    /// In words, for a report.
    pub words: &'static str,
    /// What it is multiplied by.
    pub unit: f64,
    /// Whether its root is told too.
    pub has_root: bool,
    pub measure: Measure,
}

impl Told {
    /// Of so many outputs of a row.
    pub fn new(loss: Loss, measure: Measure, outputs: usize) -> Self {
        let (name, words, unit) = match (measure, loss) {
            // The loss is half the mean squared error, summed over the responses of a row, and half the deviance.
            (Measure::Deviance, Loss::Squares) => ("MSE", "mean squared error", 2.0 / outputs as f64),
            (Measure::Deviance, Loss::Huber) => ("Huber loss", "mean Huber loss", 1.0),
            (Measure::Deviance, Loss::Quantile) => ("pinball loss", "mean pinball loss", 1.0),
            (Measure::Deviance, Loss::Cox) => ("partial deviance", "partial-likelihood deviance of a row", 2.0),
            (Measure::Deviance, loss) if loss.has_classes() => ("log loss", "log loss", 1.0),
            (Measure::Deviance, _) => ("deviance", "mean deviance", 2.0),
            (Measure::Auc, _) => ("AUC", "AUC", -1.0),
            (Measure::Misclassification, _) => ("misclassification", "share of rows misclassified", 1.0),
            (Measure::Brier, _) => ("Brier score", "Brier score", 1.0),
            (Measure::Mse, _) => ("MSE", "mean squared error", 1.0),
            (Measure::Rmse, _) => ("RMSE", "root mean squared error", 1.0),
            (Measure::Mae, _) => ("MAE", "mean absolute error", 1.0),
            (Measure::Concordance, _) => ("C-index", "C-index", -1.0),
        };
        let has_root = (measure, loss) == (Measure::Deviance, Loss::Squares) || measure == Measure::Mse;
        Self { name, words, unit, has_root, measure }
    }

    pub fn mean(&self, score: f64) -> f64 {
        self.unit * score
    }

    pub fn error(&self, error: f64) -> f64 {
        self.unit.abs() * error
    }

    /// `least held-out loss`, `largest held-out AUC`.
    pub fn chosen(&self) -> String {
        match self.measure {
            Measure::Deviance => "least held-out loss".into(),
            measure if measure.is_better_when_larger() => format!("largest held-out {}", self.name),
            _ => format!("least held-out {}", self.name),
        }
    }
}
