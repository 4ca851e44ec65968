//! Means over the draws, their errors, and who is better or equal, draw by draw.

use super::draw::Scores;
use super::field::{Entrant, FIELD};

/// A difference within so many standard errors is none.
pub(super) const ERRORS: f64 = 2.0;
/// Differences below this are rounding.
const ROUNDING: f64 = 1e-9;

/// A measure; more is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Measure {
    Auc,
    Test,
    Likelihood,
}

impl Measure {
    pub const ALL: [Self; 3] = [Self::Auc, Self::Test, Self::Likelihood];

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auc => "support AUC",
            Self::Test => "test R²",
            Self::Likelihood => "training log-likelihood",
        }
    }

    pub fn of(self, scores: &Scores) -> f64 {
        match self {
            Self::Auc => scores.auc,
            Self::Test => scores.test,
            Self::Likelihood => scores.likelihood,
        }
    }
}

/// A mean and its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Mean {
    pub value: f64,
    pub error: f64,
}

impl Mean {
    pub fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        let count = values.clone().count() as f64;
        let value = values.clone().sum::<f64>() / count;
        let square: f64 = values.map(|v| (v - value).powi(2)).sum();
        Self { value, error: (square / (count - 1.0) / count).sqrt() }
    }

    /// Whether a difference with this mean is not clearly below zero.
    fn is_not_below_zero(self) -> bool {
        self.value >= -(ERRORS * self.error).max(ROUNDING)
    }
}

/// All scores: by draw, level and entrant.
pub(super) struct Measured {
    pub levels: Vec<usize>,
    draws: Vec<Vec<Vec<Scores>>>,
}

impl Measured {
    pub fn new(levels: Vec<usize>, draws: Vec<Vec<Vec<Scores>>>) -> Self {
        Self { levels, draws }
    }

    pub fn draws(&self) -> usize {
        self.draws.len()
    }

    /// The mean of something over the draws, at a level and for an entrant, by their places.
    pub fn mean(&self, level: usize, entrant: usize, pick: impl Fn(&Scores) -> f64 + Copy) -> Mean {
        Mean::of(self.draws.iter().map(|draw| pick(&draw[level][entrant])))
    }

    /// How far one is above another, draw by draw.
    pub fn difference(&self, level: usize, one: usize, other: usize, measure: Measure) -> Mean {
        let difference = |draw: &Vec<Vec<Scores>>| measure.of(&draw[level][one]) - measure.of(&draw[level][other]);
        Mean::of(self.draws.iter().map(difference))
    }

    /// Whether one is better than another or equal, within the scatter of their differences.
    pub fn better_or_equal(&self, level: usize, one: usize, other: usize, measure: Measure) -> bool {
        self.difference(level, one, other, measure).is_not_below_zero()
    }

    /// The same over many levels, rivals and measures.
    pub fn tally(&self, one: usize, levels: &[usize], rivals: &[usize], measures: &[Measure]) -> Tally {
        let mut tally = Tally { won: 0, of: 0 };
        for (&level, &rival) in levels.iter().flat_map(|level| rivals.iter().map(move |rival| (level, rival))) {
            for &measure in measures {
                tally.of += 1;
                tally.won += usize::from(self.better_or_equal(level, one, rival, measure));
            }
        }
        tally
    }
}

/// In how many comparisons one was better or equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tally {
    pub won: usize,
    pub of: usize,
}

impl Tally {
    pub fn share(self) -> f64 {
        self.won as f64 / self.of.max(1) as f64
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} of {}", self.won, self.of)
    }
}

/// Places in [`FIELD`] of those who meet a condition.
pub(super) fn places(condition: impl Fn(&Entrant) -> bool) -> Vec<usize> {
    (0..FIELD.len()).filter(|&at| condition(&FIELD[at])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(auc: f64) -> Scores {
        Scores { auc, test: 0.0, likelihood: 0.0, passes: 1.0 }
    }

    /// One level, two entrants.
    fn pairs(pairs: &[(f64, f64)]) -> Measured {
        Measured::new(vec![1], pairs.iter().map(|(a, b)| vec![vec![score(*a), score(*b)]]).collect())
    }

    #[test]
    fn a_difference_counts_beyond_its_scatter() {
        // The first is behind by 0.01 in every draw, though draws differ by far more.
        let behind = pairs(&[(0.1, 0.11), (0.5, 0.511), (0.9, 0.91)]);
        assert!(!behind.better_or_equal(0, 0, 1, Measure::Auc));
        assert!(behind.better_or_equal(0, 1, 0, Measure::Auc));
        // Ahead once, behind once: equal either way.
        let even = pairs(&[(0.5, 0.6), (0.6, 0.5), (0.5, 0.51)]);
        assert!(even.better_or_equal(0, 0, 1, Measure::Auc) && even.better_or_equal(0, 1, 0, Measure::Auc));
        assert_eq!(even.tally(0, &[0], &[1], &Measure::ALL), Tally { won: 3, of: 3 });
    }

    #[test]
    fn the_error_of_a_mean_is_the_textbook_one() {
        let mean = Mean::of([1.0, 2.0, 3.0, 4.0].into_iter());
        assert_eq!(mean.value, 2.5);
        assert!((mean.error - (5.0_f64 / 3.0 / 4.0).sqrt()).abs() < 1e-15);
    }
}
