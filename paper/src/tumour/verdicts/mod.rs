//! What the paper's table says, held against a cohort.

mod errors;
mod speed;

use super::cohort::Cohort;
use super::summary::Summary;
use crate::{Contestant, Verdict};

/// The Frank–Wolfe methods, in the order of the paper's table.
const FRANK_WOLFE: [Contestant; 3] =
    [Contestant::FrankWolfe, Contestant::AwayFrankWolfe, Contestant::PairwiseFrankWolfe];

/// The verdicts on a cohort; `label` begins each claim where there are several cohorts.
pub(super) fn verdicts(cohort: &Cohort, summary: &Summary, momentum: f64, label: &str) -> Vec<Verdict> {
    let all = [
        errors::ranking(summary),
        errors::competitive(cohort, summary),
        speed::acceleration(summary, momentum),
        speed::frank_wolfe(summary),
        speed::away_steps(summary),
    ];
    let labelled = |verdict: Verdict| Verdict { claim: format!("{label}{}", verdict.claim), ..verdict };
    all.into_iter().flatten().map(labelled).collect()
}

/// Summaries made by hand.
#[cfg(test)]
mod samples {
    use super::super::contest::Setting;
    use super::super::summary::{FIELD, Pair, Spread, Standing, Summary};
    use crate::Contestant;

    /// The same value on all of ten splits.
    pub fn flat(mean: f64) -> Spread {
        Spread { mean, deviation: 0.0, of: 10 }
    }

    /// Ten splits on all of which both converged, at one error.
    pub fn pair(one: Contestant, other: Contestant, passes: f64) -> Pair {
        Pair {
            one,
            other,
            same_setting: false,
            passes,
            iterations: passes,
            seconds: passes,
            judged: 10,
            of: 10,
            against: 0,
            error: flat(0.0),
            at_least: false,
        }
    }

    /// Ten splits with an error of 0.2 and an AUC of 0.7 throughout, where guessing errs on 0.3.
    pub fn summary(pairs: Vec<Pair>) -> Summary {
        let standing = |contestant| Standing {
            contestant,
            error: flat(0.2),
            auc: flat(0.7),
            passes: flat(10.0),
            seconds: flat(1.0),
            genes: flat(5.0),
            converged: 10,
            usual: (Setting { ridge: 1.0, size: 2.0 }, 10),
        };
        Summary {
            splits: 10,
            tested: 177,
            tested_per_trained: 1.5,
            guess: 0.3,
            standings: FIELD.into_iter().map(standing).collect(),
            pairs,
            scatter: 0.0,
        }
    }
}
