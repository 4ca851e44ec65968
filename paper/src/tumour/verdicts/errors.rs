//! Who names the classes best.

use super::super::cohort::Cohort;
use super::super::published::{POSITIVES, TESTED, TUMOURS, published};
use super::super::summary::{Spread, Summary};
use super::FRANK_WOLFE;
use crate::{Agreement, Contestant, Verdict};

/// Those who choose groups.
const ON_GROUPS: [Contestant; 2] = [Contestant::Iht, Contestant::AccIht];

/// Whether both IHT and AccIHT err less than each of the Frank–Wolfe methods.
pub(super) fn ranking(summary: &Summary) -> Option<Verdict> {
    let pairs = FRANK_WOLFE.iter().flat_map(|&wolfe| ON_GROUPS.map(|other| summary.pair(wolfe, other, false)));
    let differences: Vec<Spread> = pairs.map(|pair| pair.map(|pair| pair.error)).collect::<Option<_>>()?;
    let clear = |d: &&Spread| d.is_clear(summary.tested_per_trained);
    let more = differences.iter().filter(clear).filter(|d| d.mean > 0.0).count();
    let fewer = differences.iter().filter(clear).count() - more;
    let one = 1.0 / summary.tested as f64;
    let told = |who: Contestant| summary.of(who).map_or_else(|| "–".into(), |s| format!("{:.4}", s.error.mean));
    let [iht, accelerated, wolfe] = [Contestant::Iht, Contestant::AccIht, Contestant::FrankWolfe].map(published);
    let (iht, accelerated, wolfe) = (iht?, accelerated?, wolfe?);
    let least = differences.iter().map(|d| d.mean).fold(f64::INFINITY, f64::min) / one;
    let most = differences.iter().map(|d| d.mean).fold(f64::NEG_INFINITY, f64::max) / one;
    Some(Verdict {
        claim: "IHT and AccIHT err less than each of the Frank–Wolfe methods".into(),
        published: format!("IHT {:.4}, AccIHT {:.4}, Frank–Wolfe {:.4}", iht.error, accelerated.error, wolfe.error),
        measured: format!(
            "IHT {}, AccIHT {}; Frank–Wolfe {}, away {}, pairwise {} (± {:.4} over splits)",
            told(Contestant::Iht),
            told(Contestant::AccIht),
            told(FRANK_WOLFE[0]),
            told(FRANK_WOLFE[1]),
            told(FRANK_WOLFE[2]),
            summary.scatter,
        ),
        agreement: match (more, fewer) {
            (0, 0) => Agreement::Open,
            (0, _) => Agreement::Differs,
            (more, _) if more == differences.len() => Agreement::Agrees,
            _ => Agreement::Partly,
        },
        why: format!(
            "The published errors are {}, {} and {} of {TESTED} tumours, from one split. Here one tumour is {one:.4}, and \
             another split of the same tumours moves an error by {:.1} tumours: {} Split by split, the Frank–Wolfe methods \
             err on {least:+.1} to {most:+.1} tumours more than IHT or AccIHT, on the mean of {} splits. Of these {} \
             differences, {} beyond chance.",
            iht.wrong(),
            accelerated.wrong(),
            wolfe.wrong(),
            summary.scatter / one,
            if wolfe.error - iht.error < summary.scatter {
                "more than the published differences, so that one split cannot tell the methods apart."
            } else {
                "less than the published difference of IHT and Frank–Wolfe."
            },
            summary.splits,
            differences.len(),
            match (more, fewer) {
                (0, 0) => "none is".into(),
                (more, 0) => format!("{more} {} for IHT or AccIHT", if more == 1 { "is" } else { "are" }),
                (0, fewer) => format!("{fewer} {} for Frank–Wolfe", if fewer == 1 { "is" } else { "are" }),
                (more, fewer) => format!("{more} for IHT or AccIHT and {fewer} for Frank–Wolfe are"),
            },
        ),
    })
}

/// Whether IHT and AccIHT err less than who always names the larger class.
pub(super) fn competitive(cohort: &Cohort, summary: &Summary) -> Option<Verdict> {
    let ratio = summary.tested_per_trained;
    let [plain, accelerated] = ON_GROUPS.map(|who| summary.of(who));
    let both = [plain?, accelerated?];
    let differences = both.map(|s| s.error.less(summary.guess));
    let below = differences.iter().filter(|d| d.mean < 0.0 && d.is_clear(ratio)).count();
    let at_best_equal = differences.iter().all(|d| d.mean >= 0.0);
    let ordered = both.iter().filter(|s| s.auc.mean > 0.5 && s.auc.less(0.5).is_clear(ratio)).count();
    let least = summary.of_the_paper().map(|s| s.error.mean).fold(f64::INFINITY, f64::min);
    let lower = summary.of_the_paper().filter(|s| s.error.mean < summary.guess).count();
    let rows = || Contestant::ALL.into_iter().filter_map(published).map(|row| row.error);
    let (low, high) = (rows().fold(f64::INFINITY, f64::min), rows().fold(0.0, f64::max));
    let guess = POSITIVES / TUMOURS;
    Some(Verdict {
        claim:
            "With overlapping groups, for which there is no exact projection, IHT and AccIHT still give competitive \
                results (held here against always naming the larger class)"
                .into(),
        published: format!("errors of {low:.4} to {high:.4}; always naming the larger class: {guess:.4}"),
        measured: format!(
            "IHT {:.4}, AccIHT {:.4} (AUC {:.2}, {:.2}); larger class: {:.4}; least of the paper's methods {least:.4}",
            both[0].error.mean, both[1].error.mean, both[0].auc.mean, both[1].auc.mean, summary.guess
        ),
        agreement: match below {
            2 => Agreement::Agrees,
            1 => Agreement::Partly,
            _ if at_best_equal => Agreement::Differs,
            _ => Agreement::Open,
        },
        why: format!(
            "{POSITIVES} of the paper's {TUMOURS} tumours are of the smaller class, so that naming the other one always errs \
             on {guess:.4}: {}. Here ({} of {}) the mean errors of {} of the paper's five methods are below that, and {} \
             beyond chance. {}",
            if guess < low { "less than any published error" } else { "not less than all published errors" },
            cohort.positives(),
            cohort.tumours(),
            if lower == 0 { "none".into() } else { lower.to_string() },
            match below {
                2 => "those of IHT and AccIHT are",
                1 => "that of one of IHT and AccIHT is",
                _ => "neither that of IHT nor that of AccIHT is",
            },
            match (below, ordered) {
                (2, _) => "The error is a fair measure here.",
                (_, 2) =>
                    "The error hides what was learnt; the order of the tumours (AUC) shows it, clearly above 0.5.",
                _ => "The order of the tumours (AUC) is not clearly above 0.5 for both either.",
            },
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::super::samples::{flat, pair, summary};
    use super::*;

    /// Six differences in tumours: of each Frank–Wolfe method to IHT and to AccIHT.
    fn ranked(tumours: [f64; 6]) -> Verdict {
        let mut pairs = Vec::new();
        for (i, error) in tumours.into_iter().enumerate() {
            let mut pair = pair(FRANK_WOLFE[i / 2], ON_GROUPS[i % 2], 1.0);
            pair.error = flat(error / 177.0);
            pairs.push(pair);
        }
        ranking(&summary(pairs)).unwrap()
    }

    #[test]
    fn a_ranking_needs_both_against_all_three() {
        assert_eq!(ranked([1.0; 6]).agreement, Agreement::Agrees);
        assert_eq!(ranked([1.0, 1.0, 1.0, 1.0, 1.0, 0.0]).agreement, Agreement::Partly);
        assert_eq!(ranked([1.0, -1.0, 1.0, -1.0, 1.0, -1.0]).agreement, Agreement::Partly);
        assert_eq!(ranked([0.0; 6]).agreement, Agreement::Open);
        assert_eq!(ranked([0.0, -1.0, 0.0, 0.0, 0.0, 0.0]).agreement, Agreement::Differs);
    }

    #[test]
    fn results_are_held_against_guessing() {
        let cohort = Cohort::new("c".into(), true, vec![vec![0.0; 2]], vec![0.0, 1.0], &[vec![0]]);
        let judged = |errors: [f64; 2], auc: f64| {
            let mut summary = summary(Vec::new());
            for (who, error) in ON_GROUPS.into_iter().zip(errors) {
                let standing = summary.standings.iter_mut().find(|s| s.contestant == who).unwrap();
                (standing.error, standing.auc) = (flat(error), flat(auc));
            }
            competitive(&cohort, &summary).unwrap()
        };
        assert_eq!(judged([0.2, 0.2], 0.7).agreement, Agreement::Agrees);
        assert_eq!(judged([0.2, 0.35], 0.7).agreement, Agreement::Partly);
        assert_eq!(judged([0.3, 0.35], 0.7).agreement, Agreement::Differs);
        assert!(judged([0.3, 0.35], 0.7).why.contains("AUC) shows it"));
        assert!(judged([0.3, 0.35], 0.5).why.contains("not clearly above 0.5"));
    }
}
