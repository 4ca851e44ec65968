//! Who converges sooner.

use super::super::published::{published, published_ratio};
use super::super::summary::{Pair, Summary};
use super::FRANK_WOLFE;
use crate::{Agreement, Contestant, Verdict};

/// How far below a published ratio ours may lie.
const SLACK: f64 = 0.9;
/// The least ratio that is called a gain.
const GAIN: f64 = 1.05;

/// How much sooner AccIHT has converged than IHT: each in its own setting, as the paper times them, then in one.
pub(super) fn acceleration(summary: &Summary, momentum: f64) -> Option<Verdict> {
    let own = summary.pair(Contestant::Iht, Contestant::AccIht, false)?;
    let same = summary.pair(Contestant::Iht, Contestant::AccIht, true)?;
    let factor = published_ratio(Contestant::Iht, Contestant::AccIht)?;
    let theory = 1.0 / (1.0 - momentum);
    Some(Verdict {
        claim: "AccIHT converges sooner than IHT".into(),
        published: format!("{factor:.2}× in seconds, each with its own best setting, one split"),
        measured: format!("in passes: {} each with its own setting; {} in one setting", own.told(), same.told()),
        agreement: judged(&[(own, factor), (same, factor)]),
        why: format!(
            "Each with its own best setting, as the paper times them: {}. The settings differ then, and a larger ridge alone \
             converges sooner. In one setting: {}. Where progress is slow, a constant momentum τ is a step of 1/(1 − τ) \
             times the length, and τ = {momentum} can save no more than a factor of {theory:.2}. {}{}",
            own.told(),
            same.told(),
            if !same.is_judged() {
                "Too few runs converged to see it.".into()
            } else if (same.iterations / theory - 1.0).abs() < 0.1 {
                format!("The iterations show just that: {:.2}×.", same.iterations)
            } else {
                format!("The iterations show {:.2}×.", same.iterations)
            },
            if factor > theory { " The published ratio is more than momentum alone can give there." } else { "" },
        ),
    })
}

/// How much sooner AccIHT has converged than the Frank–Wolfe methods.
pub(super) fn frank_wolfe(summary: &Summary) -> Option<Verdict> {
    let pair = |who| Some((summary.pair(who, Contestant::AccIht, false)?, published_ratio(who, Contestant::AccIht)?));
    let pairs: Vec<(&Pair, f64)> = FRANK_WOLFE.into_iter().map(pair).collect::<Option<_>>()?;
    let factors: Vec<String> = pairs.iter().map(|(_, factor)| format!("{factor:.1}×")).collect();
    let told: Vec<String> = pairs.iter().map(|(pair, _)| pair.told()).collect();
    Some(Verdict {
        claim: "AccIHT converges sooner than Frank–Wolfe, plain, with away and with pairwise steps".into(),
        published: format!("{} in seconds", factors.join(", ")),
        measured: format!("in passes: {}; the two have different yardsticks of convergence", told.join(", ")),
        agreement: judged(&pairs),
        why: format!(
            "A Frank–Wolfe step moves one gene, and each method has its own problem: a ball of the chosen radius, groups of \
             the chosen number. Nor is convergence one thing: a run on the ball is held against the proven minimum over the \
             ball, a run on groups against the minimum over the genes that it ended with, which asks less. {}",
            convergence(summary, &[FRANK_WOLFE.as_slice(), &[Contestant::AccIht]].concat()),
        ),
    })
}

/// Whether away and pairwise steps are the quicker Frank–Wolfe methods, and err as plain steps do.
pub(super) fn away_steps(summary: &Summary) -> Option<Verdict> {
    let [plain, away, pairwise] = FRANK_WOLFE;
    let pair = |other| Some((summary.pair(plain, other, false)?, published_ratio(plain, other)?));
    let pairs = [pair(away)?, pair(pairwise)?];
    let quicker = pairs.iter().filter(|(pair, _)| pair.is_slower_by(GAIN)).count();
    let alike = pairs.iter().filter(|(pair, _)| pair.error.is_nought(summary.tested_per_trained)).count();
    let unknown = pairs.iter().any(|(pair, _)| !pair.is_judged() || (pair.at_least && pair.passes < GAIN));
    let [p, a, w] = [published(plain)?, published(away)?, published(pairwise)?];
    let apart = |pair: &Pair| {
        let error = pair.error.error_of_mean(summary.tested_per_trained);
        format!("{:+.1} ± {:.1}", pair.error.mean * summary.tested as f64, error * summary.tested as f64)
    };
    Some(Verdict {
        claim: "Away and pairwise steps converge sooner than plain Frank–Wolfe, at the same error".into(),
        published: format!(
            "{:.2}× and {:.2}× in seconds; errors of {:.4}, {:.4} and {:.4}",
            pairs[0].1, pairs[1].1, p.error, a.error, w.error
        ),
        measured: format!(
            "in passes: {} and {}; plain steps err on {} and {} tumours more (± the mean's error)",
            pairs[0].0.told(),
            pairs[1].0.told(),
            apart(pairs[0].0),
            apart(pairs[1].0)
        ),
        agreement: match (quicker, alike) {
            (2, 2) => Agreement::Agrees,
            (0, _) if unknown => Agreement::Open,
            (0, _) => Agreement::Differs,
            _ => Agreement::Partly,
        },
        why: format!(
            "The three minimise one convex function over one ball, where with a ridge the minimum is unique: equal errors say \
             only that all are near it. {} {}",
            match alike {
                2 => "Both differences of errors are within the error of their means.",
                1 => "One difference of errors is within the error of its mean, the other is not.",
                _ => "Both differences of errors are more than the error of their means.",
            },
            convergence(summary, &FRANK_WOLFE),
        ),
    })
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

/// On how many splits these converged, and what that does to ratios.
fn convergence(summary: &Summary, who: &[Contestant]) -> String {
    let standings: Vec<_> = who.iter().filter_map(|&one| summary.of(one)).collect();
    if standings.iter().all(|s| s.converged == s.error.of) {
        return "All runs of these methods converged.".into();
    }
    let told: Vec<String> =
        standings.iter().map(|s| format!("{} {} of {}", s.contestant.label(), s.converged, s.error.of)).collect();
    format!(
        "Runs that converged: {}. Splits on which the quicker one did not converge have no ratio; where only the other did \
         not, the ratio is too small.",
        told.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::super::samples::{pair, summary};
    use super::*;

    /// IHT / AccIHT each in its own setting, and in one.
    fn accelerated(own: f64, same: f64, change: impl Fn(&mut Pair)) -> Verdict {
        let mut pairs = [own, same].map(|passes| pair(Contestant::Iht, Contestant::AccIht, passes));
        pairs[1].same_setting = true;
        pairs.iter_mut().for_each(change);
        acceleration(&summary(pairs.into()), 0.25).unwrap()
    }

    #[test]
    fn a_gain_in_one_setting_alone_is_agreement_in_part() {
        assert_eq!(accelerated(1.5, 1.5, |_| ()).agreement, Agreement::Agrees);
        assert_eq!(accelerated(0.9, 1.5, |_| ()).agreement, Agreement::Partly);
        assert_eq!(accelerated(1.33, 1.33, |_| ()).agreement, Agreement::Partly);
        assert_eq!(accelerated(0.9, 1.01, |_| ()).agreement, Agreement::Differs);
        assert!(accelerated(0.9, 1.33, |_| ()).why.contains("no more than a factor of 1.33"));
    }

    #[test]
    fn splits_that_cannot_be_judged_are_told_and_hinder_agreement() {
        let few = accelerated(1.5, 1.5, |pair| pair.judged = 4);
        assert_eq!(few.agreement, Agreement::Open);
        assert!(few.measured.contains("over 4 of 10 splits"), "{}", few.measured);
        assert_eq!(accelerated(1.5, 1.5, |pair| (pair.judged, pair.against) = (9, 1)).agreement, Agreement::Partly);
        assert_eq!(accelerated(1.0, 1.0, |pair| pair.at_least = true).agreement, Agreement::Open);
        let none = accelerated(f64::NAN, f64::NAN, |pair| pair.judged = 0);
        assert!(none.agreement == Agreement::Open && !format!("{none:?}").contains("NaN"), "{none:?}");
    }

    #[test]
    fn all_runs_converged_only_where_all_did() {
        let pairs = || FRANK_WOLFE.map(|who| pair(who, Contestant::AccIht, 2.0)).into();
        let mut summary = summary(pairs());
        assert!(frank_wolfe(&summary).unwrap().why.contains("All runs of these methods converged"));
        // No pair tells of the split on which only AccIHT did not converge.
        summary.standings.iter_mut().filter(|s| s.contestant == Contestant::AccIht).for_each(|s| s.converged = 9);
        let why = frank_wolfe(&summary).unwrap().why;
        assert!(!why.contains("All runs") && why.contains("AccIHT (paper) 9 of 10"), "{why}");
    }

    #[test]
    fn away_steps_must_err_alike() {
        let judged = |passes: f64, tumours: f64| {
            let mut pairs = [pair(FRANK_WOLFE[0], FRANK_WOLFE[1], passes), pair(FRANK_WOLFE[0], FRANK_WOLFE[2], 2.0)];
            pairs[0].error.mean = tumours / 177.0;
            away_steps(&summary(pairs.into())).unwrap().agreement
        };
        assert_eq!(judged(2.0, 0.0), Agreement::Agrees);
        assert_eq!(judged(2.0, 1.0), Agreement::Partly);
        assert_eq!(judged(0.9, 0.0), Agreement::Partly);
    }
}
