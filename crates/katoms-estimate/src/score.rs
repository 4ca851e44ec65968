//! How well linear predictions of some rows do, by measures that people choose models with.

use std::borrow::Cow;

use katoms::Error;
use katoms::loss::{AnyLoss, Logistic, Loss, Multinomial, Ordinal, Split};
use katoms::select::{Folds, Score, Validated};

use crate::features::Features;
use crate::measure::{accuracy, concordance};

/// A measure of predictions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Measure {
    /// The mean loss of a row: what a fit minimises.
    #[default]
    Deviance,
    /// The area below the ROC curve of two classes.
    Auc,
    /// The share of rows whose class is not the most probable one.
    Misclassification,
    /// The mean squared error of the probability of the second of two classes; of more, summed over the classes.
    Brier,
    /// The mean squared error.
    Mse,
    /// Its root.
    Rmse,
    /// The mean absolute error.
    Mae,
    /// Harrell's C.
    Concordance,
}

/// Linear predictions of rows, those of the first output of each row first, and for classes in an order their thresholds.
#[derive(Debug, Clone, Copy)]
pub struct Linear<'a> {
    /// The predictions, without an offset.
    pub values: &'a [f64],
    /// What lies between the classes.
    pub thresholds: Option<&'a [f64]>,
}

impl Measure {
    /// Every measure, and its name.
    pub const NAMES: [(&'static str, Self); 8] = [
        ("deviance", Self::Deviance),
        ("auc", Self::Auc),
        ("misclassification", Self::Misclassification),
        ("brier", Self::Brier),
        ("mse", Self::Mse),
        ("rmse", Self::Rmse),
        ("mae", Self::Mae),
        ("c-index", Self::Concordance),
    ];

    /// The measure of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(one, _)| *one == name).map(|(_, measure)| *measure)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, one)| *one == self).map_or("", |(name, _)| name)
    }

    /// Whether larger is better.
    pub fn is_better_when_larger(self) -> bool {
        matches!(self, Self::Auc | Self::Concordance)
    }

    /// Whether predictions of this loss can be judged by it.
    ///
    /// # Errors
    /// When they cannot; the error says what goes with the loss.
    pub fn check(self, loss: &AnyLoss) -> Result<(), Error> {
        let (suits, needs) = match loss {
            _ if self == Self::Deviance => return Ok(()),
            AnyLoss::Logistic(_) => (
                matches!(self, Self::Auc | Self::Misclassification | Self::Brier),
                "deviance, auc, misclassification or brier for two classes",
            ),
            AnyLoss::Multinomial(_) | AnyLoss::Ordinal(_) => (
                matches!(self, Self::Misclassification | Self::Brier),
                "deviance, misclassification or brier for more than two classes",
            ),
            AnyLoss::Cox(_) => (self == Self::Concordance, "deviance or c-index for survival"),
            _ => (matches!(self, Self::Mse | Self::Rmse | Self::Mae), "deviance, mse, rmse or mae for numbers"),
        };
        if suits { Ok(()) } else { Err(Error::Unsuitable { method: "this score", needs }) }
    }

    /// The measure of predictions of the rows of a loss. `None` where there is nothing to compare: one class only, no two
    /// rows of which one had its event first.
    pub fn of(self, loss: &AnyLoss, linear: Linear<'_>) -> Option<f64> {
        let weights = loss.weights();
        let rows = loss.n_rows();
        let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
        let total: f64 = (0..rows).map(weight).sum();
        let mean = |of: &dyn Fn(usize) -> f64| (0..rows).map(|i| weight(i) * of(i)).sum::<f64>() / total;
        let label = |i: usize| loss.classes().map_or(0, |classes| classes[i] as usize);
        match self {
            Self::Deviance => Some(loss.value(&contrasts(loss, linear.values)) / total),
            Self::Auc => {
                let labels: Vec<bool> = loss.classes()?.iter().map(|&class| class == 1.0).collect();
                auc(&labels, linear.values, weights)
            }
            Self::Misclassification => {
                let found = probabilities(loss, linear)?;
                let right = (0..rows).map(|i| most_probable(&found[i]) == label(i));
                Some(1.0 - accuracy(right.collect::<Vec<_>>(), weights))
            }
            Self::Brier => {
                let found = probabilities(loss, linear)?;
                // Of two classes both errors are the same, and one is counted.
                let share = if found.first().is_some_and(|row| row.len() == 2) { 0.5 } else { 1.0 };
                let error = |i: usize, class: usize, p: f64| (p - f64::from(u8::from(label(i) == class))).powi(2);
                let row = |i: usize| found[i].iter().enumerate().map(|(class, &p)| error(i, class, p)).sum::<f64>();
                Some(share * mean(&row))
            }
            Self::Mse | Self::Rmse | Self::Mae => {
                let (target, found) = (target(loss)?, means(loss, linear.values));
                let outputs = loss.outputs_per_row();
                let over = |of: &dyn Fn(f64) -> f64| {
                    let one = |at: usize| of(target[at] - found[at]);
                    mean(&|i| (0..outputs).map(|output| one(output * rows + i)).sum::<f64>() / outputs as f64)
                };
                Some(match self {
                    Self::Mse => over(&|residual| residual * residual),
                    Self::Rmse => over(&|residual| residual * residual).sqrt(),
                    _ => over(&f64::abs),
                })
            }
            Self::Concordance => {
                let AnyLoss::Cox(cox) = loss else { return None };
                let events: Vec<bool> = cox.events().iter().map(|&event| event == 1.0).collect();
                concordance(cox.times(), &events, linear.values, weights)
            }
        }
    }
}

impl Features<'_> {
    /// The same cross-validation by another measure, in each fold of its own rows. Less is better: of a measure of which more
    /// is better the opposite is taken. `loss` is that of all rows, in the units of the data.
    ///
    /// # Errors
    /// When the measure does not go with the loss, or a fold has nothing to compare.
    pub fn judged_by(
        &self,
        measure: Measure,
        loss: &AnyLoss,
        found: Validated,
        folds: &Folds,
    ) -> Result<Validated, Error> {
        measure.check(loss)?;
        if measure == Measure::Deviance {
            return Ok(found);
        }
        let again = |score: &Score| self.score_by(measure, loss, score, folds);
        let scores = found.scores.iter().map(again).collect::<Result<_, _>>()?;
        Ok(Validated { null: again(&found.null)?, scores, ..found })
    }

    fn score_by(&self, measure: Measure, loss: &AnyLoss, score: &Score, folds: &Folds) -> Result<Score, Error> {
        let sign = if measure.is_better_when_larger() { -1.0 } else { 1.0 };
        let mut values = Vec::with_capacity(score.models.len());
        for (fold, model) in score.models.iter().enumerate() {
            let (rows, intercepts) = (folds.held_out(fold), &model.intercepts);
            let all = self.predictions(&model.coefficients, intercepts);
            let count = all.len() / intercepts.len();
            let own: Vec<f64> = (0..intercepts.len())
                .flat_map(|q| rows.iter().map(move |row| q * count + row))
                .map(|at| all[at])
                .collect();
            let thresholds = self.thresholds(&model.coefficients, intercepts, &folds.training(fold))?;
            let linear = Linear { values: &own, thresholds: thresholds.as_deref() };
            let value = measure.of(&loss.subset(&rows)?, linear).ok_or(NOTHING_TO_COMPARE)?;
            values.push(sign * value);
        }
        Ok(Score::new(score.choice, values, score.models.clone()))
    }
}

const NOTHING_TO_COMPARE: Error = Error::Unsuitable {
    method: "this score",
    needs: "rows of both classes in every fold, or two rows of which one had its event first; take fewer folds",
};

/// What several draws of folds tell together: their scores side by side, of the choices that all of them have. `None` where
/// there is no draw.
pub fn together(draws: Vec<Validated>) -> Option<Validated> {
    let mut draws = draws.into_iter();
    let mut all = draws.next()?;
    for one in draws {
        let joined = |a: &Score, b: &Score| {
            Score::new(a.choice, [&a.folds[..], &b.folds].concat(), [&a.models[..], &b.models].concat())
        };
        let both = |score: &Score| one.scores.iter().find(|other| other.choice == score.choice);
        let kept: Vec<bool> = all.scores.iter().map(|score| both(score).is_some()).collect();
        all.scores = all.scores.iter().filter_map(|score| Some(joined(score, both(score)?))).collect();
        let mut is_kept = kept.into_iter();
        all.models.retain(|_| is_kept.next().unwrap_or(false));
        all.null = joined(&all.null, &one.null);
        (all.passes, all.seconds) = (all.passes + one.passes, all.seconds + one.seconds);
        all.complete &= one.complete;
    }
    Some(all)
}

/// What the loss of many classes takes in place of a score for each class.
fn contrasts<'z>(loss: &AnyLoss, values: &'z [f64]) -> Cow<'z, [f64]> {
    let rows = loss.n_rows();
    if values.len() == loss.n_outputs() {
        return Cow::Borrowed(values);
    }
    let of_row = |i: usize| values[i..].iter().copied().step_by(rows).collect::<Vec<f64>>();
    let found: Vec<Vec<f64>> = (0..rows).map(|i| Multinomial::contrasts(&of_row(i))).collect();
    Cow::Owned((0..loss.outputs_per_row()).flat_map(|c| found.iter().map(move |row| row[c])).collect())
}

/// The numbers that a loss compares predictions with; `None` for classes and times.
pub fn target(loss: &AnyLoss) -> Option<&[f64]> {
    Some(match loss {
        AnyLoss::Squares(loss) => loss.target(),
        AnyLoss::Huber(loss) => loss.target(),
        AnyLoss::Quantile(loss) => loss.target(),
        AnyLoss::Poisson(loss) => loss.target(),
        AnyLoss::Gamma(loss) => loss.target(),
        AnyLoss::NegativeBinomial(loss) => loss.target(),
        _ => return None,
    })
}

/// What linear predictions predict: with the offset of the loss, and for a log link the mean. Of least squares, whose offset is
/// part of the target, as they are.
pub fn means(loss: &AnyLoss, linear: &[f64]) -> Vec<f64> {
    let (known, is_log) = match loss {
        AnyLoss::Huber(loss) => (loss.known(), false),
        AnyLoss::Quantile(loss) => (loss.known(), false),
        AnyLoss::Poisson(loss) => (loss.known(), true),
        AnyLoss::Gamma(loss) => (loss.known(), true),
        AnyLoss::NegativeBinomial(loss) => (loss.known(), true),
        _ => (None, false),
    };
    let one = |(i, z): (usize, &f64)| {
        let z = z + known.map_or(0.0, |known| known[i]);
        if is_log { z.exp() } else { z }
    };
    linear.iter().enumerate().map(one).collect()
}

/// The probabilities of the classes of a loss, row by row; `None` where it has none.
pub fn probabilities(loss: &AnyLoss, linear: Linear<'_>) -> Option<Vec<Vec<f64>>> {
    let classes = match loss {
        AnyLoss::Logistic(_) => 2,
        AnyLoss::Multinomial(loss) => loss.class_count(),
        AnyLoss::Ordinal(loss) => loss.class_count(),
        _ => return None,
    };
    Some(class_probabilities(linear, loss.classes().map_or(0, <[f64]>::len), classes))
}

/// The probabilities of so many classes in so many rows: from thresholds, from the log-odds of the second of two, or from scores:
/// one for each class, or their contrasts.
pub fn class_probabilities(linear: Linear<'_>, rows: usize, classes: usize) -> Vec<Vec<f64>> {
    let Linear { values, thresholds } = linear;
    let outputs = values.len() / rows.max(1);
    let row = |i: usize| match thresholds {
        Some(thresholds) => Ordinal::probabilities(thresholds, values[i]),
        None if classes == 2 && outputs == 1 => [-values[i], values[i]].map(Logistic::probability).to_vec(),
        None => {
            let scores: Vec<f64> = (0..outputs).map(|output| values[output * rows + i]).collect();
            if outputs < classes { Multinomial::probabilities(&scores) } else { in_proportion(scores) }
        }
    };
    (0..rows).map(row).collect()
}

fn in_proportion(scores: Vec<f64>) -> Vec<f64> {
    let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum = scores.iter().map(|score| (score - most).exp()).sum::<f64>().ln() + most;
    scores.iter().map(|score| (score - sum).exp()).collect()
}

/// The place of the largest probability; of equal ones the first.
pub fn most_probable(probabilities: &[f64]) -> usize {
    (0..probabilities.len()).reduce(|a, b| if probabilities[b] > probabilities[a] { b } else { a }).unwrap_or(0)
}

/// The area below the ROC curve: the chance that a positive row has a larger value than a negative one, where a tie counts
/// a half. `None` where one of both has no row. O(n log n).
///
/// ```
/// use katoms_estimate::auc;
/// assert_eq!(auc(&[true, false, true], &[0.9, 0.5, 0.5], None), Some(0.75));
/// ```
pub fn auc(labels: &[bool], values: &[f64], weights: Option<&[f64]>) -> Option<f64> {
    let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
    let mut order: Vec<usize> = (0..labels.len()).collect();
    order.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
    let (mut above, mut below, mut area) = (0.0, 0.0, 0.0);
    // Rows of equal value enter together: half of their pairs count.
    for tied in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let sum = |positive: bool| tied.iter().filter(|&&i| labels[i] == positive).map(|&i| weight(i)).sum::<f64>();
        let (hits, misses) = (sum(true), sum(false));
        area += misses * (above + 0.5 * hits);
        above += hits;
        below += misses;
    }
    (above > 0.0 && below > 0.0).then(|| area / (above * below))
}

#[cfg(test)]
mod tests {
    use super::*;
    use katoms::loss::{Cox, Poisson, Quantile};

    fn of(measure: Measure, loss: &AnyLoss, values: &[f64]) -> f64 {
        measure.of(loss, Linear { values, thresholds: None }).unwrap()
    }

    #[test]
    fn measures_of_two_classes() {
        let loss = AnyLoss::from(Logistic::new(vec![0.0, 0.0, 1.0, 1.0]).unwrap());
        let odds = [-1.0, 0.5, 0.5, 2.0];
        assert_eq!(of(Measure::Auc, &loss, &odds), 3.5 / 4.0);
        assert_eq!(of(Measure::Misclassification, &loss, &odds), 0.25);
        let p = odds.map(Logistic::probability);
        let brier = (p[0].powi(2) + p[1].powi(2) + (1.0 - p[2]).powi(2) + (1.0 - p[3]).powi(2)) / 4.0;
        assert!((of(Measure::Brier, &loss, &odds) - brier).abs() < 1e-15);
        assert!((of(Measure::Deviance, &loss, &odds) - loss.value(&odds) / 4.0).abs() < 1e-15);
        let weighted = AnyLoss::from(Logistic::new(vec![0.0, 1.0]).unwrap().weighted(vec![3.0, 1.0]).unwrap());
        assert_eq!(of(Measure::Misclassification, &weighted, &[1.0, 1.0]), 0.75);
        assert!(Measure::Mse.check(&loss).is_err() && Measure::Auc.check(&loss).is_ok());
    }

    #[test]
    fn measures_of_numbers_counts_and_times() {
        let offset = vec![0.0, 2.0_f64.ln()];
        let counts = AnyLoss::from(Poisson::new(vec![1.0, 5.0]).unwrap().offset(offset).unwrap());
        assert!((of(Measure::Mae, &counts, &[0.0, 0.0]) - 1.5).abs() < 1e-14);
        assert!((of(Measure::Mse, &counts, &[0.0, 0.0]) - 4.5).abs() < 1e-14);
        assert!((of(Measure::Rmse, &counts, &[0.0, 0.0]) - 4.5_f64.sqrt()).abs() < 1e-14);
        let quantile = AnyLoss::from(Quantile::new(vec![1.0, 3.0], 0.5, 0.1).unwrap());
        assert_eq!(of(Measure::Mae, &quantile, &[1.0, 1.0]), 1.0);
        let times = AnyLoss::from(Cox::new(vec![1.0, 2.0, 3.0], vec![true, true, false]).unwrap());
        assert_eq!(of(Measure::Concordance, &times, &[3.0, 1.0, 2.0]), 2.0 / 3.0);
        assert!(Measure::Auc.check(&times).is_err() && Measure::Auc.check(&counts).is_err());
        assert_eq!(Measure::Concordance.of(&counts, Linear { values: &[0.0, 0.0], thresholds: None }), None);
    }

    #[test]
    fn probabilities_of_more_classes() {
        let ordinal = AnyLoss::from(Ordinal::new(vec![0, 1, 2], 3).unwrap());
        let linear = Linear { values: &[-3.0, 0.0, 3.0], thresholds: Some(&[-1.0, 1.0]) };
        let found = probabilities(&ordinal, linear).unwrap();
        assert!(found.iter().enumerate().all(|(class, row)| most_probable(row) == class));
        assert_eq!(Measure::Misclassification.of(&ordinal, linear), Some(0.0));
        let scores = [1.0, 2.0, 0.0, 0.5, -1.0, -2.5];
        let direct = class_probabilities(Linear { values: &scores, thresholds: None }, 2, 3);
        let sum: f64 = [1.0_f64, 0.0, -1.0].iter().map(|v| v.exp()).sum();
        assert!((direct[0][1] - 1.0 / sum).abs() < 1e-15 && (direct[1].iter().sum::<f64>() - 1.0).abs() < 1e-15);
        let loss = AnyLoss::from(Multinomial::new(vec![0, 2], 3).unwrap());
        let linear = Linear { values: &scores, thresholds: None };
        let log_loss = -(direct[0][0].ln() + direct[1][2].ln()) / 2.0;
        assert!((Measure::Deviance.of(&loss, linear).unwrap() - log_loss).abs() < 1e-14);
        let contrasts = contrasts(&loss, &scores);
        assert_eq!(contrasts.len(), 4);
        let again = class_probabilities(Linear { values: &contrasts, thresholds: None }, 2, 3);
        assert!(again.iter().flatten().zip(direct.iter().flatten()).all(|(a, b)| (a - b).abs() < 1e-15));
    }

    #[test]
    fn measures_have_names() {
        for (name, measure) in Measure::NAMES {
            assert_eq!((Measure::named(name), measure.name()), (Some(measure), name));
        }
        assert_eq!(Measure::named("f1"), None);
    }
}
