//! The settings of `phase`.

use serde::{Deserialize, Serialize};

use crate::{Error, Experiment, Request};

/// More values than these on an axis cannot be told apart on a map.
const MOST_STEPS: usize = 100;
/// A design with more columns takes more than a hundred megabytes for each thread.
const MOST_COLUMNS: usize = 4000;
/// The most draws for a cell.
const MOST_DRAWS: usize = 1000;
/// The most draws for all cells together: each of them is kept until the end.
const MOST_PROBLEMS: usize = 1_000_000;
/// The most iterations of a run, and the most λ of the Lasso.
const MOST_ITERATIONS: usize = 1_000_000;
const MOST_LAMBDAS: usize = 1000;

/// What is run.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Config {
    pub seed: u64,
    pub columns: usize,
    /// m/n.
    pub undersampling: Steps,
    /// k/m.
    pub density: Steps,
    pub draws: usize,
    /// The largest relative error of a recovery.
    pub recovered: f64,
    /// τ of the paper.
    pub momentum: f64,
    pub iterations: usize,
    pub lasso: Descent,
}

/// Evenly spaced values.
#[derive(Debug, Clone, Copy, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Steps {
    from: f64,
    to: f64,
    steps: usize,
}

impl Steps {
    pub fn values(self) -> Vec<f64> {
        let Self { from, to, steps } = self;
        (0..steps).map(|i| from + (to - from) * i as f64 / (steps - 1) as f64).collect()
    }

    /// Where the cells around the values begin and end.
    pub fn edges(self) -> (f64, f64) {
        let half = 0.5 * (self.to - self.from) / (self.steps - 1) as f64;
        (self.from - half, self.to + half)
    }

    /// Whether they are shares, rising, at least two and not too many.
    fn are_shares(self) -> bool {
        self.from > 0.0 && self.from < self.to && self.to < 1.0 && (2..=MOST_STEPS).contains(&self.steps)
    }
}

/// How far the Lasso is followed.
#[derive(Debug, Clone, Copy, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Descent {
    /// The last λ over the largest.
    pub smallest: f64,
    pub count: usize,
}

impl Config {
    /// The settings of a request, if they can be run.
    pub fn of(request: &Request) -> Result<Self, Error> {
        let config: Self = Experiment::Phase.settings(request)?;
        let share = |v: f64| v > 0.0 && v < 1.0;
        let shares = format!("must rise in 2 to {MOST_STEPS} steps, between 0 and 1");
        let cells = config.undersampling.steps.saturating_mul(config.density.steps);
        let rules = [
            (config.undersampling.are_shares(), format!("`undersampling` {shares}")),
            (config.density.are_shares(), format!("`density` {shares}")),
            (
                (config.undersampling.from * config.columns as f64).round() >= 2.0,
                "`columns` must be so many that the smallest `undersampling` leaves 2 rows".into(),
            ),
            (
                config.columns <= MOST_COLUMNS,
                format!("`columns` must be at most {MOST_COLUMNS}: every cell draws designs of that width"),
            ),
            (
                (1..=MOST_DRAWS).contains(&config.draws) && cells.saturating_mul(config.draws) <= MOST_PROBLEMS,
                format!(
                    "`draws` must lie between 1 and {MOST_DRAWS}, and come to at most {MOST_PROBLEMS} in all cells"
                ),
            ),
            (share(config.recovered), "`recovered` must lie between 0 and 1".into()),
            (config.momentum.is_finite(), "`momentum` must be a number".into()),
            (
                (1..=MOST_ITERATIONS).contains(&config.iterations),
                format!("`iterations` must lie between 1 and {MOST_ITERATIONS}"),
            ),
            (
                share(config.lasso.smallest) && (2..=MOST_LAMBDAS).contains(&config.lasso.count),
                format!("`lasso` must have a `smallest` between 0 and 1 and a `count` from 2 to {MOST_LAMBDAS}"),
            ),
        ];
        match rules.into_iter().find(|(holds, _)| !holds) {
            Some((_, why)) => Err(Experiment::Phase.bad_config(&why)),
            None => Ok(config),
        }
    }

    /// Rows and entries of the cell at (m/n, k/m).
    pub fn sizes(&self, undersampling: f64, density: f64) -> (usize, usize) {
        let rows = ((undersampling * self.columns as f64).round() as usize).max(1);
        (rows, ((density * rows as f64).round() as usize).clamp(1, rows))
    }
}
