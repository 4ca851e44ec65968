//! What is taken off a matrix before the low-rank part: a mean, and what rows and columns have of their own.

use serde::{Deserialize, Serialize};

use super::Observed;

/// How many observations a row's or a column's effect is pulled towards zero by: an effect of n observations keeps
/// n/(n + 5). Measured on ratings: 1 to 5 are alike, 10 and more are worse.
const PULL: f64 = 5.0;
/// Sweeps over rows and columns, and the change relative to the spread at which they end.
const SWEEPS: usize = 100;
const SETTLED: f64 = 1e-10;

/// What is taken off before the low-rank part is fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Centring {
    /// Nothing: the matrix is itself of low rank, to the last digit.
    None,
    /// The mean of all.
    Mean,
    /// The mean of each column: where columns are features.
    Columns,
    /// The mean, and an effect of each row and of each column: who rates high, what is rated high.
    Effects,
    /// The effects, or nothing and the weakest ridge: whichever is better on what was held out.
    Chosen,
}

/// mean + row effect + column effect.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Effects {
    /// Which of them there are.
    pub centring: Centring,
    /// The mean; 0 without centring.
    pub mean: f64,
    /// Of each row; zeros unless asked for.
    pub rows: Vec<f64>,
    /// Of each column.
    pub columns: Vec<f64>,
}

impl Effects {
    pub(super) fn fit(observed: &Observed, centring: Centring) -> Self {
        let (p, q) = observed.shape();
        let n = observed.values().len() as f64;
        let mean = observed.values().iter().map(|v| v / n).sum();
        let still = |mean| Self { centring, mean, rows: vec![0.0; p], columns: vec![0.0; q] };
        match centring {
            Centring::None => still(0.0),
            Centring::Mean => still(mean),
            Centring::Columns => {
                let (_, counts) = observed.counts();
                let places = observed.columns().iter().zip(observed.values());
                let mut all = still(mean);
                places.for_each(|(&j, v)| all.columns[j] += (v - mean) / counts[j] as f64);
                all
            }
            Centring::Effects | Centring::Chosen => still(mean).swept(observed),
        }
    }

    /// The minimum of Σ(value − mean − r − c)² + PULL·(Σr² + Σc²), side by side in turns.
    fn swept(mut self, observed: &Observed) -> Self {
        let (row_counts, column_counts) = observed.counts();
        let spread = observed.values().iter().map(|v| (v - self.mean).abs()).fold(0.0, f64::max);
        for _ in 0..SWEEPS {
            let columns = pulled(observed.columns(), &column_counts, |e| {
                observed.values()[e] - self.mean - self.rows[observed.rows()[e]]
            });
            let rows = pulled(observed.rows(), &row_counts, |e| {
                observed.values()[e] - self.mean - columns[observed.columns()[e]]
            });
            let change = rows.iter().zip(&self.rows).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            (self.rows, self.columns) = (rows, columns);
            if change <= SETTLED * spread {
                break;
            }
        }
        self
    }

    /// What a row of its own has, from its values at some columns: as for the rows of a fit, the columns given.
    pub(super) fn of_row(&self, columns: &[usize], values: &[f64]) -> f64 {
        match self.centring {
            Centring::None | Centring::Mean | Centring::Columns => 0.0,
            Centring::Effects | Centring::Chosen => {
                let left = |e: usize| values[e] - self.mean - self.columns[columns[e]];
                pulled(&vec![0; values.len()], &[values.len()], left)[0]
            }
        }
    }

    pub(super) fn at(&self, row: usize, column: usize) -> f64 {
        self.mean + self.rows[row] + self.columns[column]
    }

    pub(super) fn on(&self, observed: &Observed) -> Vec<f64> {
        observed.rows().iter().zip(observed.columns()).map(|(&i, &j)| self.at(i, j)).collect()
    }
}

/// Sums of `left` over the lines, each divided by its count and the pull.
fn pulled(lines: &[usize], counts: &[usize], left: impl Fn(usize) -> f64) -> Vec<f64> {
    let mut sums = vec![0.0; counts.len()];
    lines.iter().enumerate().for_each(|(e, &line)| sums[line] += left(e));
    sums.iter().zip(counts).map(|(sum, &count)| sum / (count as f64 + PULL)).collect()
}
