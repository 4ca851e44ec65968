//! What was found, in a few sentences.

use super::cohort::Cohort;
use super::summary::{Pair, Summary};
use crate::Contestant;

/// What was found on a cohort.
pub(super) fn lead(cohort: &Cohort, summary: &Summary) -> String {
    let errors: Vec<f64> = summary.of_the_paper().map(|s| s.error.mean).collect();
    let least = errors.iter().copied().fold(f64::INFINITY, f64::min);
    let most = errors.iter().copied().fold(0.0, f64::max);
    let below = errors.iter().filter(|&&error| error < summary.guess).count();
    let apart = (most - least) * summary.tested as f64;
    let scatter = summary.scatter * summary.tested as f64;
    format!(
        "{}: the paper's five methods err on {least:.3} to {most:.3} of the test tumours. That is {apart:.1} tumours apart, \
         where another split moves each by {scatter:.1}: {}. Always naming the larger class errs on {:.3}; {} of the five \
         {} less. {} {}",
        cohort.title(),
        if apart < scatter { "one split does not rank them" } else { "more than one split would hide" },
        summary.guess,
        match below {
            0 => "none".into(),
            all if all == errors.len() => "all".into(),
            some => some.to_string(),
        },
        if below <= 1 { "errs" } else { "err" },
        momentum_told(summary.pair(Contestant::Iht, Contestant::AccIht, true)),
        frank_wolfe_told(summary.pair(Contestant::PairwiseFrankWolfe, Contestant::AccIht, false)),
    )
}

/// What momentum saves or costs; `pair` is IHT / AccIHT in one setting.
fn momentum_told(pair: Option<&Pair>) -> String {
    let Some(pair) = pair.filter(|pair| pair.judged > 0 && pair.passes.is_finite()) else {
        return "AccIHT converged on no split, so that nothing is known of what momentum saves.".into();
    };
    let share = 100.0 * (1.0 / pair.passes - 1.0);
    let told = if share.abs() < 0.5 {
        "Momentum neither saves nor costs passes".into()
    } else if share < 0.0 {
        format!("Momentum saves {}{:.0} % of IHT's passes", if pair.at_least { "at least " } else { "" }, -share)
    } else {
        format!("Momentum costs {}{share:.0} % more passes than IHT", if pair.at_least { "at most " } else { "" })
    };
    format!("{told} in one setting (over {} of {} splits).", pair.judged, pair.of)
}

/// What Frank–Wolfe needs beside AccIHT; `pair` is pairwise Frank–Wolfe / AccIHT.
fn frank_wolfe_told(pair: Option<&Pair>) -> String {
    match pair.filter(|pair| pair.judged > 0 && pair.passes.is_finite()) {
        Some(pair) => format!(
            "Pairwise Frank–Wolfe, which has another yardstick, needs {}{:.2} times the passes of AccIHT (over {} of {} \
             splits).",
            if pair.at_least { "at least " } else { "" },
            pair.passes,
            pair.judged,
            pair.of
        ),
        None => "There is no split on which AccIHT's passes can be held against Frank–Wolfe's.".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::summary::Spread;
    use super::*;

    #[test]
    fn savings_and_costs_are_told_apart() {
        let pair = |passes: f64, judged: usize| Pair {
            one: Contestant::Iht,
            other: Contestant::AccIht,
            same_setting: true,
            passes,
            iterations: passes,
            seconds: passes,
            judged,
            of: 4,
            against: 0,
            error: Spread::new(&[0.0, 0.0]),
            at_least: false,
        };
        let told = |passes: f64, judged: usize| momentum_told(Some(&pair(passes, judged)));
        assert_eq!(told(1.25, 3), "Momentum saves 20 % of IHT's passes in one setting (over 3 of 4 splits).");
        assert!(told(0.8, 4).starts_with("Momentum costs 25 % more passes"));
        assert!(told(1.0, 4).starts_with("Momentum neither saves nor costs"));
        assert!(told(f64::NAN, 0).contains("converged on no split") && !frank_wolfe_told(None).contains("NaN"));
    }
}
