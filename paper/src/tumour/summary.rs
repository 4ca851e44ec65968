//! All splits of a cohort in a few numbers.

use serde::Serialize;

use super::contest::{Contest, Setting, Trial};
use crate::Contestant;

/// Who takes part, in the order of the paper's table, and ours.
pub const FIELD: [Contestant; 6] = [
    Contestant::FrankWolfe,
    Contestant::AwayFrankWolfe,
    Contestant::PairwiseFrankWolfe,
    Contestant::Iht,
    Contestant::AccIht,
    Contestant::Katoms,
];

/// Tumours in the paper's test part.
pub const TESTED: f64 = 177.0;

/// A row of the paper's table: the share of the test tumours whose class was not named, a multiple of 1/177, and seconds to
/// convergence, each method with its own best setting.
pub fn published(contestant: Contestant) -> Option<(f64, f64)> {
    Some(match contestant {
        Contestant::FrankWolfe => (52.0 / TESTED, 58.45),
        Contestant::AwayFrankWolfe => (52.0 / TESTED, 40.34),
        Contestant::PairwiseFrankWolfe => (52.0 / TESTED, 38.22),
        Contestant::Iht => (50.0 / TESTED, 5.24),
        Contestant::AccIht => (51.0 / TESTED, 3.45),
        _ => return None,
    })
}

/// Seconds of the one / seconds of the other.
pub fn published_ratio(one: Contestant, other: Contestant) -> Option<f64> {
    Some(published(one)?.1 / published(other)?.1)
}

/// A mean and a deviation over splits.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    pub mean: f64,
    /// Of one split, not of the mean.
    pub deviation: f64,
    pub of: usize,
}

impl Spread {
    pub fn new(values: &[f64]) -> Self {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
        Self { mean, deviation: (squares / f64::max(count - 1.0, 1.0)).sqrt(), of: values.len() }
    }

    /// The same, held against a constant.
    pub fn less(self, constant: f64) -> Self {
        Self { mean: self.mean - constant, ..self }
    }

    /// The deviation of the mean. Splits of the same tumours share most of them: Nadeau and Bengio ("Inference for the
    /// generalization error", 2003) add tested/trained to 1/splits.
    pub fn error_of_mean(&self, tested_per_trained: f64) -> f64 {
        self.deviation * (1.0 / self.of as f64 + tested_per_trained).sqrt()
    }

    /// Whether the mean is further from zero than twice its own deviation.
    pub fn is_clear(&self, tested_per_trained: f64) -> bool {
        self.mean.abs() > 2.0 * self.error_of_mean(tested_per_trained)
    }
}

/// A contestant over all splits.
#[derive(Debug, Clone, Serialize)]
pub struct Standing {
    pub contestant: Contestant,
    pub error: Spread,
    pub auc: Spread,
    pub passes: Spread,
    pub seconds: Spread,
    pub genes: Spread,
    /// Splits on which it converged.
    pub converged: usize,
    /// The setting chosen most often, and how often.
    pub usual: (Setting, usize),
}

/// Two contestants, split by split.
#[derive(Debug, Clone, Serialize)]
pub struct Pair {
    /// The one that is measured, and the one it is held against.
    pub one: Contestant,
    pub other: Contestant,
    /// Whether both had the setting that the other's cross-validation chose.
    pub same_setting: bool,
    /// Geometric mean of passes of the one / passes of the other, where the other converged.
    pub passes: f64,
    /// The same of iterations.
    pub iterations: f64,
    /// The same of seconds.
    pub seconds: f64,
    /// Splits on which the other converged: only these have a ratio.
    pub judged: usize,
    /// All splits.
    pub of: usize,
    /// Splits without a ratio on which the one did converge: they speak against the other.
    pub against: usize,
    /// Error of the one − error of the other.
    pub error: Spread,
    /// Whether the one did not converge on some of these, so that the ratios are too small.
    pub at_least: bool,
}

impl Pair {
    fn new(same_setting: bool, trials: &[(&Trial, &Trial)]) -> Option<Self> {
        let (one, other) = trials.first().map(|(one, other)| (one.contestant, other.contestant))?;
        let judged: Vec<_> = trials.iter().filter(|(_, other)| other.converged.is_some()).collect();
        let against = trials.iter().filter(|(one, other)| one.converged.is_some() && other.converged.is_none()).count();
        let ratio = |cost: fn(&Trial) -> f64| {
            let logs = judged.iter().map(|(a, b)| (cost(a) / cost(b)).ln());
            (logs.sum::<f64>() / judged.len() as f64).exp()
        };
        let errors: Vec<f64> = trials.iter().map(|(a, b)| a.error() - b.error()).collect();
        Some(Self {
            one,
            other,
            same_setting,
            passes: ratio(|trial| trial.cost().passes.max(1) as f64),
            iterations: ratio(|trial| trial.cost().iteration.max(1) as f64),
            seconds: ratio(|trial| trial.cost().seconds.max(1e-9)),
            judged: judged.len(),
            of: trials.len(),
            against,
            error: Spread::new(&errors),
            at_least: judged.iter().any(|(one, _)| one.converged.is_none()),
        })
    }

    /// Whether the ratios can be judged: on half of the splits there is one.
    pub fn is_judged(&self) -> bool {
        self.judged > 0 && 2 * self.judged >= self.of && self.passes.is_finite()
    }

    /// Whether the other takes fewer passes, by this factor and on whatever splits can tell.
    pub fn is_slower_by(&self, factor: f64) -> bool {
        self.is_judged() && self.against == 0 && self.passes >= factor
    }

    /// The ratio of passes, and on how many splits it rests.
    pub fn words(&self) -> String {
        if self.judged == 0 {
            return format!("no ratio ({} converged on none of {} splits)", self.other.label(), self.of);
        }
        let more = if self.at_least { "≥ " } else { "" };
        let against = match self.against {
            0 => String::new(),
            count => format!("; on {count} only {} converged", self.one.label()),
        };
        format!("{more}{:.2}× (over {} of {} splits{against})", self.passes, self.judged, self.of)
    }
}

/// A cohort's splits.
#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    pub splits: usize,
    /// Tumours of a test part.
    pub tested: usize,
    /// Tumours of a test part / tumours of a training part.
    pub tested_per_trained: f64,
    /// The error of always naming the larger class.
    pub guess: f64,
    pub standings: Vec<Standing>,
    pub pairs: Vec<Pair>,
    /// The mean over contestants of the paper of the deviation of their errors.
    pub scatter: f64,
}

impl Summary {
    /// The splits of a cohort of so many tumours.
    pub fn new(contests: &[Contest], tumours: usize) -> Self {
        let standings: Vec<Standing> = FIELD.iter().filter_map(|&who| standing(contests, who)).collect();
        let guess = Spread::new(&contests.iter().map(|contest| contest.guess).collect::<Vec<f64>>()).mean;
        let tested = contests.first().and_then(|c| c.trials.first()).map_or(0, |trial| trial.tested);
        let pair = |one, other| {
            let trials: Vec<_> = contests.iter().filter_map(|c| c.of(one).zip(c.of(other))).collect();
            Pair::new(one != Contestant::Katoms && other == Contestant::Katoms, &trials)
        };
        let same: Vec<_> =
            contests.iter().filter_map(|c| c.of(Contestant::AccIht).map(|other| (&c.plain_at_same, other))).collect();
        let pairs = [
            pair(Contestant::Iht, Contestant::AccIht),
            Pair::new(true, &same),
            pair(Contestant::FrankWolfe, Contestant::AccIht),
            pair(Contestant::AwayFrankWolfe, Contestant::AccIht),
            pair(Contestant::PairwiseFrankWolfe, Contestant::AccIht),
            pair(Contestant::FrankWolfe, Contestant::Iht),
            pair(Contestant::AwayFrankWolfe, Contestant::Iht),
            pair(Contestant::PairwiseFrankWolfe, Contestant::Iht),
            pair(Contestant::FrankWolfe, Contestant::AwayFrankWolfe),
            pair(Contestant::FrankWolfe, Contestant::PairwiseFrankWolfe),
            pair(Contestant::AccIht, Contestant::Katoms),
        ];
        let errors: Vec<f64> =
            standings.iter().filter(|s| published(s.contestant).is_some()).map(|s| s.error.deviation).collect();
        let scatter = errors.iter().sum::<f64>() / errors.len() as f64;
        Self {
            splits: contests.len(),
            tested,
            tested_per_trained: tested as f64 / (tumours - tested) as f64,
            guess,
            standings,
            pairs: pairs.into_iter().flatten().collect(),
            scatter,
        }
    }

    /// The standings of the paper's methods.
    pub fn of_the_paper(&self) -> impl Iterator<Item = &Standing> {
        self.standings.iter().filter(|standing| published(standing.contestant).is_some())
    }

    /// The standing of a contestant.
    pub fn of(&self, contestant: Contestant) -> Option<&Standing> {
        self.standings.iter().find(|standing| standing.contestant == contestant)
    }

    /// One contestant against another, each in its own setting or both in the other's.
    pub fn pair(&self, one: Contestant, other: Contestant, same_setting: bool) -> Option<&Pair> {
        self.pairs.iter().find(|p| (p.one, p.other, p.same_setting) == (one, other, same_setting))
    }
}

fn standing(contests: &[Contest], contestant: Contestant) -> Option<Standing> {
    let trials: Vec<&Trial> = contests.iter().filter_map(|contest| contest.of(contestant)).collect();
    let spread = |value: fn(&Trial) -> f64| Spread::new(&trials.iter().map(|t| value(t)).collect::<Vec<f64>>());
    let often = |setting: &Setting| trials.iter().filter(|trial| trial.setting == *setting).count();
    // Of settings chosen equally often, the first split's.
    let usual = trials.iter().rev().map(|trial| (trial.setting, often(&trial.setting))).max_by_key(|usual| usual.1)?;
    Some(Standing {
        contestant,
        error: spread(Trial::error),
        auc: spread(|trial| trial.auc),
        passes: spread(|trial| trial.cost().passes as f64),
        seconds: spread(|trial| trial.cost().seconds),
        genes: spread(|trial| trial.genes as f64),
        converged: trials.iter().filter(|trial| trial.converged.is_some()).count(),
        usual,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_is_the_deviation_of_one_split() {
        let spread = Spread::new(&[1.0, 2.0, 3.0, 6.0]);
        assert_eq!(spread.mean, 3.0);
        assert!((spread.deviation - (14.0_f64 / 3.0).sqrt()).abs() < 1e-15);
        assert!(spread.is_clear(0.0) && !spread.is_clear(1.5));
    }
}
