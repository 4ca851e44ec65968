//! What the paper's table says, held against a cohort.

use super::summary::{Pair, Spread, Summary, published_ratio};
use crate::{Agreement, Contestant};

/// The Frank–Wolfe methods, in the order of the paper's table, and those who choose groups.
const FRANK_WOLFE: [Contestant; 3] =
    [Contestant::FrankWolfe, Contestant::AwayFrankWolfe, Contestant::PairwiseFrankWolfe];
const ON_GROUPS: [Contestant; 2] = [Contestant::Iht, Contestant::AccIht];
/// How far below a published ratio ours may lie.
const SLACK: f64 = 0.9;
/// The least ratio that is called a gain.
const GAIN: f64 = 1.05;

/// The verdicts on a cohort, in the order of the claims.
pub fn verdicts(summary: &Summary) -> Option<[(String, Agreement); 5]> {
    Some([
        ranking(summary)?,
        competitive(summary)?,
        acceleration(summary)?,
        frank_wolfe(summary)?,
        away_steps(summary)?,
    ])
}

/// Whether both IHT and AccIHT err less than each of the Frank–Wolfe methods.
fn ranking(summary: &Summary) -> Option<(String, Agreement)> {
    let pairs = FRANK_WOLFE.iter().flat_map(|&wolfe| ON_GROUPS.map(|other| summary.pair(wolfe, other, false)));
    let differences: Vec<Spread> = pairs.map(|pair| pair.map(|pair| pair.error)).collect::<Option<_>>()?;
    let clear = |d: &&Spread| d.is_clear(summary.tested_per_trained);
    let more = differences.iter().filter(clear).filter(|d| d.mean > 0.0).count();
    let fewer = differences.iter().filter(clear).count() - more;
    let errors = summary.of_the_paper().map(|s| format!("{} {:.4}", s.contestant.label(), s.error.mean));
    let measured = format!(
        "{} (± {:.4} over {} splits); of {} differences {more} are beyond chance for IHT or AccIHT, {fewer} against them",
        errors.collect::<Vec<_>>().join(", "),
        summary.scatter,
        summary.splits,
        differences.len(),
    );
    let agreement = match (more, fewer) {
        (0, 0) => Agreement::Open,
        (0, _) => Agreement::Differs,
        (more, _) if more == differences.len() => Agreement::Agrees,
        _ => Agreement::Partly,
    };
    Some((measured, agreement))
}

/// Whether IHT and AccIHT err less than who always names the larger class.
fn competitive(summary: &Summary) -> Option<(String, Agreement)> {
    let ratio = summary.tested_per_trained;
    let both = [summary.of(ON_GROUPS[0])?, summary.of(ON_GROUPS[1])?];
    let differences = both.map(|s| s.error.less(summary.guess));
    let below = differences.iter().filter(|d| d.mean < 0.0 && d.is_clear(ratio)).count();
    let ordered = both.iter().filter(|s| s.auc.mean > 0.5 && s.auc.less(0.5).is_clear(ratio)).count();
    let measured = format!(
        "IHT {:.4}, AccIHT {:.4} (AUC {:.2}, {:.2}; clearly above 0.5 for {ordered}); larger class: {:.4}; least of the paper's \
         methods {:.4}",
        both[0].error.mean,
        both[1].error.mean,
        both[0].auc.mean,
        both[1].auc.mean,
        summary.guess,
        summary.of_the_paper().map(|s| s.error.mean).fold(f64::INFINITY, f64::min),
    );
    let agreement = match below {
        2 => Agreement::Agrees,
        1 => Agreement::Partly,
        _ if differences.iter().all(|d| d.mean >= 0.0) => Agreement::Differs,
        _ => Agreement::Open,
    };
    Some((measured, agreement))
}

/// How much sooner AccIHT has converged than IHT: each in its own setting, as the paper times them, then in one.
fn acceleration(summary: &Summary) -> Option<(String, Agreement)> {
    let own = summary.pair(Contestant::Iht, Contestant::AccIht, false)?;
    let same = summary.pair(Contestant::Iht, Contestant::AccIht, true)?;
    let factor = published_ratio(Contestant::Iht, Contestant::AccIht)?;
    let measured = format!("in passes: {} each with its own setting; {} in one setting", own.words(), same.words());
    Some((measured, judged(&[(own, factor), (same, factor)])))
}

/// How much sooner AccIHT has converged than the Frank–Wolfe methods.
fn frank_wolfe(summary: &Summary) -> Option<(String, Agreement)> {
    let pair = |who| Some((summary.pair(who, Contestant::AccIht, false)?, published_ratio(who, Contestant::AccIht)?));
    let pairs: Vec<(&Pair, f64)> = FRANK_WOLFE.into_iter().map(pair).collect::<Option<_>>()?;
    let words: Vec<String> = pairs.iter().map(|(pair, _)| pair.words()).collect();
    Some((format!("in passes: {}", words.join(", ")), judged(&pairs)))
}

/// Whether away and pairwise steps are the quicker Frank–Wolfe methods, and err as plain steps do.
fn away_steps(summary: &Summary) -> Option<(String, Agreement)> {
    let [plain, away, pairwise] = FRANK_WOLFE;
    let pairs = [summary.pair(plain, away, false)?, summary.pair(plain, pairwise, false)?];
    let quicker = pairs.iter().filter(|pair| pair.is_slower_by(GAIN)).count();
    let error = |pair: &Pair| pair.error.error_of_mean(summary.tested_per_trained);
    let alike = pairs.iter().filter(|pair| pair.error.mean.abs() <= error(pair)).count();
    let unknown = pairs.iter().any(|pair| !pair.is_judged() || (pair.at_least && pair.passes < GAIN));
    let tumours = summary.tested as f64;
    let apart = |pair: &Pair| format!("{:+.1} ± {:.1}", pair.error.mean * tumours, error(pair) * tumours);
    let measured = format!(
        "in passes: {} and {}; plain steps err on {} and {} tumours more (± the mean's error)",
        pairs[0].words(),
        pairs[1].words(),
        apart(pairs[0]),
        apart(pairs[1])
    );
    let agreement = match (quicker, alike) {
        (2, 2) => Agreement::Agrees,
        (0, _) if unknown => Agreement::Open,
        (0, _) => Agreement::Differs,
        _ => Agreement::Partly,
    };
    Some((measured, agreement))
}

/// Pairs with their published ratios. All must come near to theirs to agree, one must show a gain to agree in part.
fn judged(pairs: &[(&Pair, f64)]) -> Agreement {
    if pairs.iter().any(|(pair, _)| !pair.is_judged()) {
        Agreement::Open
    } else if pairs.iter().all(|(pair, factor)| pair.is_slower_by(SLACK * factor)) {
        Agreement::Agrees
    } else if pairs.iter().any(|(pair, _)| pair.passes > GAIN) {
        Agreement::Partly
    } else if pairs.iter().any(|(pair, _)| pair.at_least) {
        // These ratios are too small by what nobody knows.
        Agreement::Open
    } else {
        Agreement::Differs
    }
}

#[cfg(test)]
mod tests {
    use super::super::contest::Setting;
    use super::super::summary::{FIELD, Standing};
    use super::*;

    /// The same value on all of ten splits.
    fn flat(mean: f64) -> Spread {
        Spread { mean, deviation: 0.0, of: 10 }
    }

    /// Ten splits on all of which both converged, at one error.
    fn pair(one: Contestant, other: Contestant, passes: f64) -> Pair {
        let (iterations, seconds, error) = (passes, passes, flat(0.0));
        let (judged, of, against) = (10, 10, 0);
        Pair {
            one,
            other,
            same_setting: false,
            passes,
            iterations,
            seconds,
            judged,
            of,
            against,
            error,
            at_least: false,
        }
    }

    /// Ten splits with an error of 0.2 and an AUC of 0.7 throughout, where guessing errs on 0.3.
    fn summary(pairs: Vec<Pair>) -> Summary {
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
        let standings = FIELD.into_iter().map(standing).collect();
        Summary { splits: 10, tested: 177, tested_per_trained: 1.5, guess: 0.3, standings, pairs, scatter: 0.0 }
    }

    #[test]
    fn a_ranking_needs_both_against_all_three() {
        for (tumours, judged) in [
            ([1.0; 6], Agreement::Agrees),
            ([1.0, 1.0, 1.0, 1.0, 1.0, 0.0], Agreement::Partly),
            ([1.0, -1.0, 1.0, -1.0, 1.0, -1.0], Agreement::Partly),
            ([0.0; 6], Agreement::Open),
            ([0.0, -1.0, 0.0, 0.0, 0.0, 0.0], Agreement::Differs),
        ] {
            let one = |(i, error): (usize, f64)| Pair {
                error: flat(error / 177.0),
                ..pair(FRANK_WOLFE[i / 2], ON_GROUPS[i % 2], 1.0)
            };
            let pairs = tumours.into_iter().enumerate().map(one).collect();
            assert_eq!(ranking(&summary(pairs)).unwrap().1, judged, "{tumours:?}");
        }
    }

    #[test]
    fn results_are_held_against_guessing() {
        for (errors, judged) in
            [([0.2, 0.2], Agreement::Agrees), ([0.2, 0.35], Agreement::Partly), ([0.3, 0.35], Agreement::Differs)]
        {
            let mut summary = summary(Vec::new());
            for (who, error) in ON_GROUPS.into_iter().zip(errors) {
                summary.standings.iter_mut().filter(|s| s.contestant == who).for_each(|s| s.error = flat(error));
            }
            assert_eq!(competitive(&summary).unwrap().1, judged);
        }
    }

    /// IHT / AccIHT each in its own setting, and in one.
    #[test]
    fn a_gain_is_held_against_the_published_one() {
        type Change = fn(&mut Pair);
        let none: Change = |_| ();
        let cases: [(f64, f64, Change, Agreement); 8] = [
            (1.5, 1.5, none, Agreement::Agrees),
            (0.9, 1.5, none, Agreement::Partly),
            (1.33, 1.33, none, Agreement::Partly),
            (0.9, 1.01, none, Agreement::Differs),
            (1.5, 1.5, |pair| pair.judged = 4, Agreement::Open),
            (1.5, 1.5, |pair| (pair.judged, pair.against) = (9, 1), Agreement::Partly),
            (1.0, 1.0, |pair| pair.at_least = true, Agreement::Open),
            (f64::NAN, f64::NAN, |pair| pair.judged = 0, Agreement::Open),
        ];
        for (own, same, change, judged) in cases {
            let mut pairs = [own, same].map(|passes| pair(Contestant::Iht, Contestant::AccIht, passes));
            pairs[1].same_setting = true;
            pairs.iter_mut().for_each(change);
            let (measured, agreement) = acceleration(&summary(pairs.into())).unwrap();
            assert!(agreement == judged && !measured.contains("NaN"), "{measured}");
        }
    }

    #[test]
    fn away_steps_must_err_alike() {
        for (passes, tumours, judged) in
            [(2.0, 0.0, Agreement::Agrees), (2.0, 1.0, Agreement::Partly), (0.9, 0.0, Agreement::Partly)]
        {
            let mut pairs = [pair(FRANK_WOLFE[0], FRANK_WOLFE[1], passes), pair(FRANK_WOLFE[0], FRANK_WOLFE[2], 2.0)];
            pairs[0].error.mean = tumours / 177.0;
            assert_eq!(away_steps(&summary(pairs.into())).unwrap().1, judged);
        }
    }
}
