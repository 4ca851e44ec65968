//! `paper/tumour.toml`.

use katoms::driver::{Options, Stop};
use serde::Deserialize;

use super::simulated::Simulation;
use crate::Error;

/// The most splits.
const MOST_SPLITS: usize = 1000;
/// The most values of a grid.
const MOST_VALUES: usize = 100;
/// The largest ridge and radius; the least ridge is one over it.
const LARGEST: f64 = 1e9;
/// The most iterations of all splits' timed runs: each leaves a mark.
const MOST_MARKS: usize = 4_000_000;

/// What is run.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Config {
    pub seed: u64,
    /// Random stratified splits into a training and a test part.
    pub splits: usize,
    /// The share of the tumours that are trained on.
    pub training: f64,
    /// Folds of the training part.
    pub folds: usize,
    /// λ of ½λ‖x‖².
    pub ridges: Vec<f64>,
    /// Numbers of groups, for those who choose groups.
    pub groups: Vec<usize>,
    /// Radii of the ℓ1 ball, for Frank–Wolfe.
    pub radii: Vec<f64>,
    /// τ.
    pub momentum: f64,
    /// Whether the log-odds of the classes among the training tumours are added to every prediction.
    pub intercept: bool,
    /// Converged: the objective is, for good, within this share of its whole descent.
    pub accuracy: f64,
    /// When a fit of the cross-validation ends.
    pub tuning: Effort,
    /// When a timed run ends.
    pub timed: Effort,
    /// The cohort where none is given.
    pub simulated: Simulation,
}

/// How long a run goes on.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Effort {
    /// At most so many iterations.
    pub iterations: usize,
    /// Less where ‖x⁺ − x‖ ≤ this·‖x⁺‖. Frank–Wolfe ends by its proven gap, a share of f(0): this one in the
    /// cross-validation, a tenth of the accuracy in timed runs.
    pub tolerance: f64,
}

impl Effort {
    /// The same for the driver, with the gap at which Frank–Wolfe ends.
    fn options(self, gap: f64) -> Options {
        let Self { iterations, tolerance } = self;
        Options { stop: Stop { tolerance, gap, iterations, ..Stop::default() }, ..Options::default() }
    }
}

impl Config {
    /// For a fit of the cross-validation.
    pub fn tuning_options(&self) -> Options {
        self.tuning.options(self.tuning.tolerance)
    }

    /// For a timed run. A gap of a tenth of the accuracy tells where the accuracy was reached.
    pub fn timed_options(&self) -> Options {
        self.timed.options(0.1 * self.accuracy)
    }

    /// Whether it can be run.
    pub fn check(&self) -> Result<(), Error> {
        let bad = |why: &str| Err(crate::Experiment::Tumour.bad_config(why));
        if !(2..=MOST_SPLITS).contains(&self.splits) {
            return bad(&format!("`splits` must be at least 2, for a deviation, and at most {MOST_SPLITS}"));
        }
        if !(0.2..=0.8).contains(&self.training) {
            return bad("`training` must lie between 0.2 and 0.8");
        }
        // 20 tumours of a class, a fifth of them trained on: 4 folds still have one each.
        if !(2..=10).contains(&self.folds) {
            return bad("`folds` must lie between 2 and 10");
        }
        let few = |count: usize| (1..=MOST_VALUES).contains(&count);
        if !few(self.ridges.len()) || self.ridges.iter().any(|ridge| !(1.0 / LARGEST..=LARGEST).contains(ridge)) {
            return bad(&format!(
                "`ridges` must be 1 to {MOST_VALUES} numbers from {:e} to {LARGEST:e}: without a ridge, classes of few \
                 tumours can be separated",
                1.0 / LARGEST
            ));
        }
        if !few(self.groups.len()) || self.groups.contains(&0) || !self.groups.is_sorted() {
            return bad(&format!("`groups` must be 1 to {MOST_VALUES} numbers of at least 1, and rise"));
        }
        let positive = |&radius: &f64| radius > 0.0 && radius <= LARGEST;
        if !few(self.radii.len()) || !self.radii.iter().all(positive) || !self.radii.is_sorted() {
            return bad(&format!("`radii` must be 1 to {MOST_VALUES} numbers above 0 and up to {LARGEST:e}, and rise"));
        }
        if !(0.0..1.0).contains(&self.momentum) {
            return bad("`momentum` must be at least 0 and below 1");
        }
        if !(self.accuracy > 0.0 && self.accuracy < 0.5) {
            return bad("`accuracy` must lie between 0 and 0.5");
        }
        for effort in [self.tuning, self.timed] {
            if effort.iterations == 0 || !(0.0..1.0).contains(&effort.tolerance) {
                return bad("`tuning` and `timed` need at least 1 iteration and a tolerance of at least 0, below 1");
            }
        }
        if self.timed.iterations.max(self.tuning.iterations) > MOST_MARKS / self.splits {
            return bad(&format!(
                "`tuning` and `timed` may have {} iterations for {} splits: {MOST_MARKS} in all",
                MOST_MARKS / self.splits,
                self.splits
            ));
        }
        self.simulated.check()
    }
}
