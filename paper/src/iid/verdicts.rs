//! What the paper claims of `iid`, beside what was measured.

use katoms::select::{Sign, phase_transition_k};

use super::costs::{Costs, Ratio, one_digit, percent};
use super::runs::{Field, Run};
use super::{PAPER_COLUMNS, PAPER_OVERSHOT, PAPER_ROWS, Results};
use crate::{Agreement, Contestant, Error, Verdict};

/// How far from a published ratio a measured one may lie and still agree: it has two digits, and is one draw.
const NEAR: f64 = 0.15;
/// A measured ratio below this share of a published lower bound misses it by far.
const FAR: f64 = 2.0 / 3.0;
/// Seconds that differ by less than this share are the same: the rest is noise.
const NOISE: f64 = 0.1;
/// An answer this close, relative to its norm, is right.
const RIGHT: f64 = 1e-3;

/// What was found, in a few sentences.
pub(super) fn lead(results: &Results, costs: &Costs) -> String {
    let run = |contestant, field| results.run(contestant, field);
    let mut said = vec![published_end(run(Contestant::Iht, Field::Exact), run(Contestant::AccIht, Field::Exact))];
    for (which, ratio) in [("exact", costs.momentum_at_k), ("overshot", costs.momentum_overshot)] {
        let Some(ratio) = ratio else { continue };
        said.push(format!(
            "At the {which} k, IHT takes {} times the passes of AccIHT, {} times the iterations, to {:e} of f(0).",
            one_digit(ratio.passes),
            one_digit(ratio.iterations),
            ratio.level
        ));
    }
    if let Some(ratio) = costs.corrected {
        let (times, who) = if ratio.passes >= 1.0 {
            (ratio.passes, "AccIHT as the paper sets it needs fewer passes than corrective Frank–Wolfe")
        } else {
            (1.0 / ratio.passes, "corrective Frank–Wolfe needs fewer passes than AccIHT as the paper sets it")
        };
        said.push(format!("To {:e} of f(0), {who}, by a factor of {}.", ratio.level, one_digit(times)));
    }
    let ours = [Field::Exact, Field::Overshot].map(|field| run(Contestant::Katoms, field));
    if let [Some(exact), Some(overshot)] = ours {
        said.push(ours_ends(exact, overshot));
    }
    said.join(" ")
}

/// How the paper's settings end at the exact k.
fn published_end(iht: Option<&Run>, acc: Option<&Run>) -> String {
    let (Some(iht), Some(acc)) = (iht, acc) else { return String::new() };
    let passes = |r: &Run| r.last().map_or(0, |m| m.passes);
    let wrong: Vec<String> = [iht, acc]
        .iter()
        .filter(|r| !r.found)
        .map(|r| format!("{} (after {} passes, relative error {:.1e})", r.race.contestant.label(), passes(r), r.error))
        .collect();
    if wrong.is_empty() {
        format!(
            "With the step 1/λ_max both find the planted support at the exact k, in {} (IHT) and {} (AccIHT) passes in \
             all.",
            passes(iht),
            passes(acc)
        )
    } else {
        format!("With the step 1/λ_max the planted support is missed at the exact k by {}.", wrong.join(" and "))
    }
}

fn ours_ends(exact: &Run, overshot: &Run) -> String {
    let passes = |r: &Run| r.last().map_or(0, |m| m.passes);
    match (exact.found, overshot.found) {
        (true, true) => format!(
            "With a line search and a refit, as katoms does it, {} passes suffice at the exact k and {} at the overshot \
             one.",
            passes(exact),
            passes(overshot)
        ),
        (true, false) => format!("With a line search and a refit {} passes suffice at the exact k.", passes(exact)),
        (false, true) => {
            format!("With a line search and a refit {} passes suffice at the overshot k.", passes(overshot))
        }
        (false, false) => "With a line search and a refit a single run finds it at neither k.".into(),
    }
}

/// One for each claim.
pub(super) fn verdicts(results: &Results, costs: &Costs) -> Result<Vec<Verdict>, Error> {
    let acc = |field| results.run(Contestant::AccIht, field);
    // Where AccIHT reaches no level at all, a ratio says nothing, yet Frank–Wolfe is the faster.
    let frank_wolfe_run = results.run(Contestant::FrankWolfe, Field::Corrected);
    let reached = frank_wolfe_run.and_then(|r| results.config.levels.iter().rev().find(|&&l| r.reaches(l).is_some()));
    let alone = reached.filter(|_| costs.corrected.is_none());
    Ok(vec![
        Verdict {
            claim: "With the exact k, AccIHT is 1.2 times as fast as IHT".into(),
            published: "1.2".into(),
            measured: in_words(costs.momentum_at_k, "IHT", "AccIHT"),
            agreement: tempered(near(costs.momentum_at_k, 1.2), acc(Field::Exact)),
            why: ending(results, Field::Exact),
        },
        Verdict {
            claim: "With an overshot k, IHT takes over twice as long".into(),
            published: "> 2".into(),
            measured: in_words(costs.momentum_overshot, "IHT", "AccIHT"),
            agreement: tempered(at_least(costs.momentum_overshot, 2.0), acc(Field::Overshot)),
            why: ending(results, Field::Overshot),
        },
        Verdict {
            claim: "AccIHT is at least 10 times as fast as Frank–Wolfe with corrective steps".into(),
            published: "≥ 10".into(),
            measured: alone.map_or_else(
                || in_words(costs.corrected, "Frank–Wolfe", "AccIHT"),
                |level| format!("Frank–Wolfe reaches {level:e} of f(0), AccIHT no level"),
            ),
            agreement: if alone.is_some() { Agreement::Differs } else { at_least(costs.corrected, 10.0) },
            why: frank_wolfe(results, costs),
        },
        support(costs),
        overshot(results),
        transition()?,
    ])
}

/// "IHT takes 1.3 times the passes of AccIHT (…)", and whether the seconds say the same.
fn in_words(ratio: Option<Ratio>, slow: &str, fast: &str) -> String {
    ratio.map_or("no level that both reach".into(), |r| {
        format!(
            "{slow} takes {} times the passes of {fast} to {:e} of f(0), {} times the seconds, {} times the \
             iterations{}",
            one_digit(r.passes),
            r.level,
            one_digit(r.seconds),
            one_digit(r.iterations),
            beside(r)
        )
    })
}

/// Whether passes and seconds lie on different sides of 1.
fn at_odds(ratio: Ratio) -> bool {
    (ratio.passes > 1.0) != (ratio.seconds > 1.0)
}

/// The same, by more than noise.
fn contradicted(ratio: Ratio) -> bool {
    at_odds(ratio) && (ratio.seconds - 1.0).abs() > NOISE
}

/// What is to be said where seconds and passes are at odds.
fn beside(ratio: Ratio) -> String {
    if contradicted(ratio) {
        " (the seconds contradict the passes)".into()
    } else if at_odds(ratio) {
        format!(" (seconds within {:.0} % of each other: noise)", 100.0 * NOISE)
    } else {
        String::new()
    }
}

/// Whether passes bear out a ratio, and seconds do not contradict them.
fn near(ratio: Option<Ratio>, published: f64) -> Agreement {
    match ratio {
        None => Agreement::Open,
        Some(r) if contradicted(r) => Agreement::Partly,
        Some(r) if (r.passes - published).abs() <= NEAR => Agreement::Agrees,
        Some(r) if r.passes > 1.0 => Agreement::Partly,
        Some(_) => Agreement::Differs,
    }
}

/// Whether passes bear out a lower bound on a ratio, and seconds do not contradict them. A bound that both miss by far
/// is not borne out, even in part.
fn at_least(ratio: Option<Ratio>, published: f64) -> Agreement {
    match ratio {
        None => Agreement::Open,
        Some(r) if r.passes >= published && !contradicted(r) => Agreement::Agrees,
        Some(r) if r.passes >= FAR * published => Agreement::Partly,
        Some(r) if contradicted(r) && r.seconds >= FAR * published => Agreement::Partly,
        Some(_) => Agreement::Differs,
    }
}

/// A speed-up on the way to a wrong answer agrees in part only.
fn tempered(agreement: Agreement, run: Option<&Run>) -> Agreement {
    match agreement {
        Agreement::Agrees if run.is_none_or(|r| !(r.error <= RIGHT)) => Agreement::Partly,
        other => other,
    }
}

/// Where the paper's two runs of a field end.
fn ending(results: &Results, field: Field) -> String {
    let ends = [Contestant::Iht, Contestant::AccIht].into_iter().filter_map(|c| results.run(c, field)).map(|r| {
        let share = r.shares.last().copied().unwrap_or(0.0);
        format!(
            "{} ends at {:.0e} of f(0) with {} of the support",
            r.race.contestant.label(),
            r.gap(),
            if r.found { "all".into() } else { format!("{:.0} %", (100.0 * share).floor()) },
        )
    });
    let tau = results.config.momentum;
    let limit = if tau < 1.0 {
        format!(
            " Where progress is slow the gradient hardly changes, so that momentum lengthens the step to 1/(1 − τ) = {:.2} \
             times: what τ = {tau} can save in iterations.",
            1.0 / (1.0 - tau)
        )
    } else {
        String::new()
    };
    format!("{}. λ_max takes {} passes of both.{limit}", ends.collect::<Vec<_>>().join("; "), results.prepared)
}

fn frank_wolfe(results: &Results, costs: &Costs) -> String {
    let inside = results.norm < results.config.radius;
    let corrected = if costs.corrected.is_none_or(|r| r.passes < 10.0) && inside {
        "The planted vector lies inside of the ball; corrective steps then make Frank–Wolfe a matching pursuit of about one \
         pass an entry, and 1/λ_max makes AccIHT slow."
    } else {
        "AccIHT takes many entries at once, Frank–Wolfe one a pass."
    };
    let plain = costs.uncorrected.map_or(" Without correction they reach no level in common.".into(), |r| {
        format!(
            " Without correction Frank–Wolfe takes {} times the passes of AccIHT to {:e} of f(0), the deepest level that \
             both reach.",
            one_digit(r.passes),
            r.level
        )
    });
    let ours = costs.ours_over_corrected.map_or(String::new(), |r| {
        format!(" Corrective Frank–Wolfe takes {} times the passes of katoms.", one_digit(r.passes))
    });
    format!("{corrected}{plain}{ours}")
}

fn support(costs: &Costs) -> Verdict {
    let both = [costs.support_at_k, costs.support_overshot];
    let said = |name: &str, ratio: Option<Ratio>| match ratio {
        Some(r) => format!(
            "{name}: IHT takes {} times the passes and {} times the seconds to {}{}",
            one_digit(r.passes),
            one_digit(r.seconds),
            percent(r.level),
            beside(r)
        ),
        None => format!("{name}: no share that both find"),
    };
    let sooner = both.iter().flatten().filter(|r| r.passes > 1.0).count();
    // A whole support at both sparsities is what the claim is about; less of it is less of a proof.
    let whole = both.iter().flatten().all(|r| r.level == 1.0);
    let doubtful = both.iter().flatten().any(|r| contradicted(*r));
    let agreement = match (both.iter().flatten().count(), sooner) {
        (0, _) => Agreement::Open,
        (2, 2) if whole && !doubtful => Agreement::Agrees,
        (_, 0) if !doubtful => Agreement::Differs,
        _ => Agreement::Partly,
    };
    Verdict {
        claim: "AccIHT finds the support sooner than IHT".into(),
        published: "much sooner".into(),
        measured: format!("{}; {}", said("exact k", both[0]), said("overshot k", both[1])),
        agreement,
        why: "Passes include λ_max, which both need alike.".into(),
    }
}

fn overshot(results: &Results) -> Verdict {
    let end = |contestant| results.run(contestant, Field::Overshot).map(|r| (r.found, r.error));
    let said = |name: &str, end: Option<(bool, f64)>| {
        end.map_or(String::new(), |(found, error)| {
            format!("{name}: relative error {error:.1e}, support {}", if found { "found" } else { "not found" })
        })
    };
    let (acc, ours) = (end(Contestant::AccIht), end(Contestant::Katoms));
    let right = |end: Option<(bool, f64)>| end.is_some_and(|(found, error)| found && error <= RIGHT);
    Verdict {
        claim: "An overshot k leads to the right answer".into(),
        published: "yes".into(),
        measured: format!("{}; {}", said("AccIHT", acc), said("katoms", ours)),
        agreement: match (right(acc), right(ours)) {
            (true, _) => Agreement::Agrees,
            (false, true) => Agreement::Partly,
            (false, false) => Agreement::Differs,
        },
        why: match (right(acc), right(ours)) {
            (true, _) => "Also with the paper's step.".into(),
            (false, true) => format!(
                "Not with the step 1/λ_max in {} iterations; with a line search and a refit it does.",
                results.config.iterations
            ),
            (false, false) => "Neither does here.".into(),
        },
    }
}

fn transition() -> Result<Verdict, Error> {
    let allowed = phase_transition_k(PAPER_ROWS, PAPER_COLUMNS, Sign::Any)?;
    Ok(Verdict {
        claim: format!("The ℓ1 phase transition gives k̂ = {PAPER_OVERSHOT} at {PAPER_ROWS} × {PAPER_COLUMNS}"),
        published: PAPER_OVERSHOT.to_string(),
        measured: allowed.to_string(),
        agreement: if allowed == PAPER_OVERSHOT { Agreement::Agrees } else { Agreement::Differs },
        why: "ρ(δ) = max over z of [1 − (2/δ)h(z)]/[1 + z² − 2h(z)] with h(z) = (1+z²)Φ(−z) − zφ(z), δ = m/n, k̂ = ρ·m."
            .into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(passes: f64) -> Option<Ratio> {
        Some(Ratio { level: 1e-3, passes, seconds: passes, iterations: passes })
    }

    #[test]
    fn agreement_follows_the_passes() {
        use Agreement::{Agrees, Differs, Open, Partly};
        let exact = [ratio(1.3), ratio(1.6), ratio(0.9), None].map(|r| near(r, 1.2));
        assert_eq!(exact, [Agrees, Partly, Differs, Open]);
        let bound = [ratio(10.0), ratio(7.0), ratio(3.0), ratio(0.2), None].map(|r| at_least(r, 10.0));
        assert_eq!(bound, [Agrees, Partly, Differs, Differs, Open]);
        assert_eq!(at_least(ratio(1.28), 2.0), Differs);
        assert_eq!(tempered(Agrees, None), Partly);
        assert_eq!(tempered(Differs, None), Differs);
    }

    /// A claim about time is not borne out where the clock says the opposite.
    #[test]
    fn seconds_can_contradict_passes() {
        let timed = |passes, seconds| Some(Ratio { seconds, ..ratio(passes).unwrap() });
        assert_eq!(near(timed(1.2, 0.8), 1.2), Agreement::Partly);
        assert_eq!(near(timed(1.2, 0.95), 1.2), Agreement::Agrees);
        assert_eq!(at_least(timed(12.0, 0.5), 10.0), Agreement::Partly);
        assert_eq!(at_least(timed(0.5, 12.0), 10.0), Agreement::Partly);
        assert_eq!(at_least(timed(0.5, 1.5), 10.0), Agreement::Differs);
        assert!(in_words(timed(1.2, 0.8), "a", "b").contains("contradict"));
        assert!(in_words(timed(1.2, 0.95), "a", "b").contains("noise"));
        assert!(!in_words(timed(1.2, 1.1), "a", "b").contains("seconds c"));
    }

    #[test]
    fn the_published_sparsity_is_not_that_of_the_threshold() {
        let verdict = transition().unwrap();
        assert_eq!((verdict.measured.as_str(), verdict.agreement), ("1074", Agreement::Differs));
    }
}
