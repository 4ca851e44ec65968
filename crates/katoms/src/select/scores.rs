//! How choices do on rows that their models have not seen, and which one is taken.

use super::folds::Folds;
use crate::linalg::{exponent_of_two, times_power_of_two};
use crate::operator::{LinearOperator, apply_many, of_output};
use crate::space::SparseVec;

/// A held-out loss below this share of the largest is rounding.
const PERFECT: f64 = 1e-20;

/// A number of atoms, a ridge and a shrinkage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice {
    /// The number of atoms.
    pub atoms: usize,
    /// The ridge.
    pub ridge: f64,
    /// How strongly weak atoms are pulled towards zero.
    pub shrinkage: f64,
}

/// How a choice does on rows that its models have not seen.
#[derive(Debug, Clone, PartialEq)]
pub struct Score {
    /// What was validated.
    pub choice: Choice,
    /// The mean held-out loss of a row, for each fold: half the mean squared error, summed over the responses of a row, or
    /// the mean negative log-likelihood.
    pub folds: Vec<f64>,
    /// Their mean.
    pub mean: f64,
    /// The standard error of the mean.
    pub error: f64,
    /// The model of each fold's training rows, in the order of `folds`.
    pub models: Vec<FoldModel>,
}

/// A model of all rows but those of a fold, in the units of the design.
#[derive(Debug, Clone, PartialEq)]
pub struct FoldModel {
    /// Its coefficients.
    pub coefficients: SparseVec,
    /// The constant of the predictions of each output.
    pub intercepts: Vec<f64>,
}

impl FoldModel {
    /// The constant of the predictions of the first output, most often the only one.
    pub fn intercept(&self) -> f64 {
        self.intercepts[0]
    }
}

impl Score {
    /// The score of a choice whose models have these losses, fold by fold.
    pub fn new(choice: Choice, folds: Vec<f64>, models: Vec<FoldModel>) -> Self {
        let count = folds.len() as f64;
        let mean = folds.iter().sum::<f64>() / count;
        // Fourth powers of residuals: those of losses of about 1 are numbers.
        let unit = exponent_of_two(mean).unwrap_or(0);
        let square: f64 = folds.iter().map(|v| times_power_of_two(v - mean, -unit).powi(2)).sum();
        let error = times_power_of_two((square / (count - 1.0) / count).sqrt(), unit);
        // Losses that are all the same differ by rounding.
        let error = if error <= 4.0 * f64::EPSILON * mean.abs() { 0.0 } else { error };
        Self { choice, folds, mean, error, models }
    }

    /// The place of the score that is least; of equals the one with the fewest atoms.
    pub fn least(scores: &[Self]) -> usize {
        // Losses of perfect predictions are rounding: they are all the same.
        let perfect = PERFECT * scores.iter().fold(0.0, |most: f64, score| most.max(score.mean));
        let mean = |score: &Self| if (0.0..perfect).contains(&score.mean) { perfect } else { score.mean };
        let better = |a: usize, b: usize| {
            let (old, new) = (&scores[a], &scores[b]);
            let fewer = mean(new) == mean(old) && new.choice.atoms < old.choice.atoms;
            let replaces = mean(new) < mean(old) || fewer || (old.mean.is_nan() && !new.mean.is_nan());
            if replaces { b } else { a }
        };
        (0..scores.len()).reduce(better).unwrap_or(0)
    }

    /// The place of the smallest model, under the ridge and the shrinkage of the best one, whose score is within a
    /// standard error of the best.
    pub fn within_one_error(scores: &[Self]) -> usize {
        let least = Self::least(scores);
        let near = |score: &Self, best: &Self| {
            Choice { atoms: best.choice.atoms, ..score.choice } == best.choice && score.mean <= best.mean + best.error
        };
        let candidates = (0..scores.len()).filter(|&at| near(&scores[at], &scores[least]));
        candidates.min_by_key(|&at| scores[at].choice.atoms).unwrap_or(least)
    }

    /// Predictions for rows by models that have not seen them: (row, the linear prediction of each output), fold by fold.
    /// Reads the columns of the models.
    pub fn held_out<A>(&self, design: &A, folds: &Folds) -> Vec<(usize, Vec<f64>)>
    where
        A: LinearOperator<Point = SparseVec>,
    {
        let models: Vec<_> = self.models.iter().map(|model| (&model.coefficients, &model.intercepts[..])).collect();
        let of = |(fold, all): (usize, Vec<f64>)| {
            let rows = design.n_outputs();
            let of_row = move |row: usize| (row, all[row..].iter().copied().step_by(rows).collect());
            folds.held_out(fold).into_iter().map(of_row)
        };
        predictions(design, &models).into_iter().enumerate().flat_map(of).collect()
    }
}

/// A model of all rows, in the units of the design.
#[derive(Debug, Clone)]
pub struct Fitted {
    /// Its coefficients.
    pub coefficients: SparseVec,
    /// The constant of the predictions of each output.
    pub intercepts: Vec<f64>,
    /// Its size and ridge.
    pub choice: Choice,
    /// The loss on all rows.
    pub loss: f64,
}

impl Fitted {
    /// The constant of the predictions of the first output, most often the only one.
    pub fn intercept(&self) -> f64 {
        self.intercepts[0]
    }
}

/// What a cross-validation tells.
#[derive(Debug, Clone)]
pub struct Validated {
    /// Ridge by ridge, size by size.
    pub scores: Vec<Score>,
    /// The model without atoms, whether 0 is among the sizes or not: what a model must beat. Of several ridges, which
    /// matter to what is always in alone, the first.
    pub null: Score,
    /// The models of all rows, in the same order.
    pub models: Vec<Fitted>,
    /// Whether everything that was asked for is there: not when the observer stopped the work.
    pub complete: bool,
    /// Passes over the data.
    pub passes: usize,
    /// Seconds of work.
    pub seconds: f64,
}

impl Validated {
    /// The choice with the least held-out loss; of equals the one with the fewest atoms.
    ///
    /// # Panics
    /// If there is no score.
    pub fn min(&self) -> Choice {
        self.scores[Score::least(&self.scores)].choice
    }

    /// The fewest atoms whose held-out loss is within one standard error of the least, with the ridge of
    /// the least.
    ///
    /// # Panics
    /// If there is no score.
    pub fn one_se(&self) -> Choice {
        self.scores[Score::within_one_error(&self.scores)].choice
    }

    /// The sizes that were tried, rising.
    pub fn sizes(&self) -> Vec<usize> {
        let all: std::collections::BTreeSet<usize> = self.scores.iter().map(|score| score.choice.atoms).collect();
        all.into_iter().collect()
    }

    /// The best score of each ridge, by rising ridges.
    pub fn best_of_ridges(&self) -> Vec<&Score> {
        let mut best: Vec<&Score> = Vec::new();
        for score in &self.scores {
            match best.iter_mut().find(|one| one.choice.ridge == score.choice.ridge) {
                Some(one) if score.mean < one.mean => *one = score,
                Some(_) => {}
                None => best.push(score),
            }
        }
        best.sort_by(|a, b| a.choice.ridge.total_cmp(&b.choice.ridge));
        best
    }

    /// The same with what was found for other sizes under some of its ridges; of a choice that both have tried, this remains.
    #[must_use]
    pub fn with(mut self, other: Self) -> Self {
        for (score, model) in other.scores.into_iter().zip(other.models) {
            let choice = score.choice;
            let same = |one: &Score| Choice { atoms: 0, ..one.choice } == Choice { atoms: 0, ..choice };
            let mut of_ridge = self.scores.iter().enumerate().filter(|(_, one)| same(one));
            let after = of_ridge.clone().find(|(_, one)| one.choice.atoms >= choice.atoms).map(|(at, _)| at);
            let at = after.or_else(|| of_ridge.next_back().map(|(at, _)| at + 1)).unwrap_or(self.scores.len());
            if self.scores.get(at).is_none_or(|one| one.choice != choice) {
                self.scores.insert(at, score);
                self.models.insert(at, model);
            }
        }
        self.complete &= other.complete;
        self.passes += other.passes;
        self.seconds += other.seconds;
        self
    }

    /// How a choice does.
    pub fn score(&self, choice: Choice) -> Option<&Score> {
        self.scores.iter().find(|score| score.choice == choice)
    }

    /// The model of all rows at a choice.
    pub fn model(&self, choice: Choice) -> Option<&Fitted> {
        self.models.iter().find(|model| model.choice == choice)
    }
}

/// The predictions of models for all rows, output by output: of each its coefficients and intercepts.
pub(super) fn predictions<A>(design: &A, models: &[(&SparseVec, &[f64])]) -> Vec<Vec<f64>>
where
    A: LinearOperator<Point = SparseVec>,
{
    let of_outputs = |&(x, intercepts): &(&SparseVec, &[f64])| {
        (0..intercepts.len()).map(|c| of_output(x, c, design.domain())).collect::<Vec<_>>()
    };
    let mut images = apply_many(design, &models.iter().flat_map(of_outputs).collect::<Vec<_>>()).into_iter();
    let mut of_model = |intercepts: &[f64]| {
        let shifted = intercepts.iter().zip(images.by_ref()).map(|(intercept, mut image)| {
            image.iter_mut().for_each(|z| *z += intercept);
            image
        });
        shifted.collect::<Vec<_>>().concat()
    };
    models.iter().map(|(_, intercepts)| of_model(intercepts)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::Point;

    fn validated(choices: &[(usize, f64, f64)]) -> Validated {
        let choice = |&(atoms, ridge, _): &(usize, f64, f64)| Choice { atoms, ridge, shrinkage: 0.0 };
        let score = |one: &(usize, f64, f64)| Score::new(choice(one), vec![one.2; 2], Vec::new());
        let model = |one: &(usize, f64, f64)| Fitted {
            coefficients: SparseVec::zero(3),
            intercepts: vec![one.2],
            choice: choice(one),
            loss: one.2,
        };
        Validated {
            scores: choices.iter().map(score).collect(),
            null: Score::new(choice(&(0, 0.0, 9.0)), vec![9.0; 2], Vec::new()),
            models: choices.iter().map(model).collect(),
            complete: true,
            passes: 3,
            seconds: 0.5,
        }
    }

    #[test]
    fn finer_sizes_come_between_the_others_of_their_ridge() {
        let coarse = [(1, 0.0, 5.0), (4, 0.0, 4.0), (8, 0.0, 6.0), (1, 2.0, 5.0), (4, 2.0, 3.0), (8, 2.0, 3.5)];
        let fine = [(1, 2.0, 7.0), (3, 2.0, 3.2), (5, 2.0, 2.5), (9, 2.0, 4.0)];
        let both = validated(&coarse).with(validated(&fine));
        let order: Vec<(usize, f64, f64)> =
            both.scores.iter().map(|s| (s.choice.atoms, s.choice.ridge, s.mean)).collect();
        let expected = [
            (1, 0.0, 5.0),
            (4, 0.0, 4.0),
            (8, 0.0, 6.0),
            (1, 2.0, 5.0), // what was there remains
            (3, 2.0, 3.2),
            (4, 2.0, 3.0),
            (5, 2.0, 2.5),
            (8, 2.0, 3.5),
            (9, 2.0, 4.0),
        ];
        assert_eq!(order, expected);
        assert!(both.scores.iter().zip(&both.models).all(|(s, m)| s.choice == m.choice && s.mean == m.loss));
        assert_eq!((both.min().atoms, both.sizes(), both.passes), (5, vec![1, 3, 4, 5, 8, 9], 6));
        let best: Vec<(f64, usize)> = both.best_of_ridges().iter().map(|s| (s.choice.ridge, s.choice.atoms)).collect();
        assert_eq!(best, [(0.0, 4), (2.0, 5)]);
    }
}
