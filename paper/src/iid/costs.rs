//! How many times as much one run costs as another.

use super::Results;
use super::runs::{Field, Run};
use crate::race::Mark;
use crate::{Contestant, Table};

/// Shares of the planted support at which two runs are compared, falling.
const SHARES: [f64; 3] = [1.0, 0.9, 0.5];

/// What a slower run costs over what a faster one does, where both have come equally far.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ratio {
    /// How far: a share of f(0), or of the support.
    pub level: f64,
    /// Ratio of passes, those of the step included.
    pub passes: f64,
    /// Ratio of seconds.
    pub seconds: f64,
    /// Ratio of iterations.
    pub iterations: f64,
}

impl Ratio {
    /// At the first of the levels that both reach.
    fn at_first(
        levels: impl IntoIterator<Item = f64>,
        fast: impl Fn(f64) -> Option<Mark>,
        slow: impl Fn(f64) -> Option<Mark>,
    ) -> Option<Self> {
        levels.into_iter().find_map(|level| {
            let (fast, slow) = (fast(level)?, slow(level)?);
            Some(Self {
                level,
                passes: slow.passes as f64 / fast.passes.max(1) as f64,
                seconds: slow.seconds / fast.seconds.max(f64::MIN_POSITIVE),
                iterations: slow.iteration as f64 / fast.iteration.max(1) as f64,
            })
        })
    }

    /// At the deepest level of f that both reach.
    fn of_objective(fast: Option<&Run>, slow: Option<&Run>, levels: &[f64]) -> Option<Self> {
        let (fast, slow) = (fast?, slow?);
        Self::at_first(levels.iter().rev().copied(), |l| fast.reaches(l).copied(), |l| slow.reaches(l).copied())
    }

    /// At the largest share of the support that both find.
    fn of_support(fast: Option<&Run>, slow: Option<&Run>) -> Option<Self> {
        let (fast, slow) = (fast?, slow?);
        Self::at_first(SHARES, |s| fast.finds(s).copied(), |s| slow.finds(s).copied())
    }
}

/// The comparisons of the paper, and ours.
pub(super) struct Costs {
    /// IHT over AccIHT at the exact k.
    pub momentum_at_k: Option<Ratio>,
    /// The same at the overshot k.
    pub momentum_overshot: Option<Ratio>,
    /// The faster of Frank–Wolfe and its pairwise variant, fully corrective, over AccIHT.
    pub corrected: Option<Ratio>,
    /// The same without correction.
    pub uncorrected: Option<Ratio>,
    /// IHT over AccIHT, until the support is found, at the exact k.
    pub support_at_k: Option<Ratio>,
    /// The same at the overshot k.
    pub support_overshot: Option<Ratio>,
    /// AccIHT as the paper sets it over katoms, at the exact k.
    pub ours_at_k: Option<Ratio>,
    /// The same at the overshot k.
    pub ours_overshot: Option<Ratio>,
    /// The faster corrected Frank–Wolfe over katoms.
    pub ours_over_corrected: Option<Ratio>,
}

impl Costs {
    /// From the runs.
    pub fn new(results: &Results) -> Self {
        let levels = &results.config.levels;
        let run = |contestant, field| results.run(contestant, field);
        let against = |slow, fast, field| Ratio::of_objective(run(fast, field), run(slow, field), levels);
        let support = |field| Ratio::of_support(run(Contestant::AccIht, field), run(Contestant::Iht, field));
        let frank_wolfe = |fast, field| {
            let fast = run(fast, Field::Exact);
            let both = [Contestant::FrankWolfe, Contestant::PairwiseFrankWolfe];
            let ratios = both.into_iter().filter_map(|c| Ratio::of_objective(fast, run(c, field), levels));
            // The deepest level counts first, then the better of the two.
            ratios.min_by(|a, b| a.level.total_cmp(&b.level).then(a.passes.total_cmp(&b.passes)))
        };
        Self {
            momentum_at_k: against(Contestant::Iht, Contestant::AccIht, Field::Exact),
            momentum_overshot: against(Contestant::Iht, Contestant::AccIht, Field::Overshot),
            corrected: frank_wolfe(Contestant::AccIht, Field::Corrected),
            uncorrected: frank_wolfe(Contestant::AccIht, Field::Uncorrected),
            support_at_k: support(Field::Exact),
            support_overshot: support(Field::Overshot),
            ours_at_k: against(Contestant::AccIht, Contestant::Katoms, Field::Exact),
            ours_overshot: against(Contestant::AccIht, Contestant::Katoms, Field::Overshot),
            ours_over_corrected: frank_wolfe(Contestant::Katoms, Field::Corrected),
        }
    }

    /// All of them, in words.
    pub fn table(&self) -> Table {
        let rows = [
            ("IHT / AccIHT, exact k", "1.2", self.momentum_at_k, "f"),
            ("IHT / AccIHT, overshot k", "> 2", self.momentum_overshot, "f"),
            ("FW, corrective / AccIHT", "≥ 10", self.corrected, "f"),
            ("FW, not corrective / AccIHT", "", self.uncorrected, "f"),
            ("IHT / AccIHT, exact k", "much later", self.support_at_k, "support"),
            ("IHT / AccIHT, overshot k", "much later", self.support_overshot, "support"),
            ("AccIHT / katoms, exact k", "", self.ours_at_k, "f"),
            ("AccIHT / katoms, overshot k", "", self.ours_overshot, "f"),
            ("FW, corrective / katoms", "", self.ours_over_corrected, "f"),
        ];
        let row = |(what, paper, ratio, of): (&str, &str, Option<Ratio>, &str)| match ratio {
            Some(r) => {
                let until = if of == "f" { format!("f = {:e}·f(0)", r.level) } else { percent(r.level) };
                let ratios = [r.passes, r.seconds, r.iterations].map(one_digit);
                [vec![what.to_owned(), until], ratios.to_vec(), vec![paper.to_owned()]].concat()
            }
            None => [what, "nothing both reach", "–", "–", "–", paper].map(Into::into).into(),
        };
        Table {
            title: "Speed-ups: what the first costs over what the second does".into(),
            headings: ["runs", "until", "passes", "seconds", "iterations", "paper"].map(Into::into).into(),
            rows: rows.into_iter().map(row).collect(),
        }
    }
}

/// "90 % of the support".
pub(super) fn percent(share: f64) -> String {
    if share == 1.0 { "the whole support".into() } else { format!("{:.0} % of the support", 100.0 * share) }
}

/// A ratio as it is read: 1.27, 12.4, 385.
pub(super) fn one_digit(ratio: f64) -> String {
    if ratio < 9.995 {
        format!("{ratio:.2}")
    } else if ratio < 99.95 {
        format!("{ratio:.1}")
    } else {
        format!("{ratio:.0}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_runs_are_compared_at_the_deepest_level_that_both_reach() {
        let mark = |passes| Some(Mark { iteration: passes, passes, seconds: 1.0, objective: 0.0 });
        let fast = |level: f64| mark(if level < 1e-3 { 20 } else { 10 });
        let slow = |level: f64| if level < 1e-3 { None } else { mark(30) };
        let ratio = Ratio::at_first([1e-6, 1e-3, 1e-1], fast, slow).unwrap();
        assert_eq!((ratio.level, ratio.passes), (1e-3, 3.0));
        assert!(Ratio::at_first([1e-6], fast, slow).is_none());
    }

    #[test]
    fn ratios_keep_three_digits() {
        assert_eq!([1.274, 9.996, 12.44, 384.6].map(one_digit), ["1.27", "10.0", "12.4", "385"]);
        assert_eq!((percent(1.0), percent(0.9)), ("the whole support".into(), "90 % of the support".into()));
    }
}
