//! The settings of `phase`.

use serde::{Deserialize, Serialize};

use crate::{Error, Experiment, Request, config};

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

    /// Whether they are shares, rising, at least two.
    fn are_shares(self) -> bool {
        self.from > 0.0 && self.from < self.to && self.to < 1.0 && self.steps >= 2
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
        let config: Self = config::settings(Experiment::Phase, request)?;
        let share = |v: f64| v > 0.0 && v < 1.0;
        let shares = "must rise in at least 2 steps, between 0 and 1";
        let rules = [
            (config.undersampling.are_shares(), format!("`undersampling` {shares}")),
            (config.density.are_shares(), format!("`density` {shares}")),
            (
                (config.undersampling.from * config.columns as f64).round() >= 2.0,
                "`columns` must be so many that the smallest `undersampling` leaves 2 rows".into(),
            ),
            (
                config.columns <= 20_000,
                "`columns` must be at most 20000: every cell draws designs of that width".into(),
            ),
            (config.draws >= 1, "`draws` must be at least 1".into()),
            (share(config.recovered), "`recovered` must lie between 0 and 1".into()),
            (config.momentum.is_finite(), "`momentum` must be a number".into()),
            (config.iterations >= 1, "`iterations` must be at least 1".into()),
            (
                share(config.lasso.smallest) && config.lasso.count >= 2,
                "`lasso` must have a `smallest` between 0 and 1 and a `count` of at least 2".into(),
            ),
        ];
        match rules.into_iter().find(|(holds, _)| !holds) {
            Some((_, why)) => Err(Error::Config { experiment: "phase", why }),
            None => Ok(config),
        }
    }

    /// Rows and entries of the cell at (m/n, k/m).
    pub fn sizes(&self, undersampling: f64, density: f64) -> (usize, usize) {
        let rows = ((undersampling * self.columns as f64).round() as usize).max(1);
        (rows, ((density * rows as f64).round() as usize).clamp(1, rows))
    }
}
