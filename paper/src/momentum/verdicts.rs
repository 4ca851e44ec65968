//! What the paper says of momentum, beside what was measured.

use super::Measured;
use super::findings::{Findings, by_magnitude, caption_xi, converging_within, digits, ends, limits};
use super::trial::{Label, STRAIGHT, Trial};
use crate::{Agreement, Verdict};

/// What the caption of the paper's figure says.
const PUBLISHED_XI: f64 = 0.94;
const PUBLISHED_ALPHA: f64 = 0.64;
const PUBLISHED_BETA: f64 = 1.78;
/// Two digits agree within this.
const TWO_DIGITS: f64 = 0.005;
/// A chance below this is none: nobody draws so often.
const NO_CHANCE: f64 = 1e-6;
/// A factor is another's where their logarithms differ by no more than this share.
const SAME_FACTOR: f64 = 0.05;

fn agrees(yes: bool) -> Agreement {
    if yes { Agreement::Agrees } else { Agreement::Differs }
}

/// Whether α and β have the published digits.
fn has_the_published_curvature(found: &Measured) -> bool {
    (found.of_k.alpha() - PUBLISHED_ALPHA).abs() <= TWO_DIGITS
        && (found.of_k.beta() - PUBLISHED_BETA).abs() <= TWO_DIGITS
}

/// All verdicts.
pub(super) fn verdicts(found: &Measured, findings: &Findings<'_>) -> Vec<Verdict> {
    vec![
        leaves(found, findings, 0),
        leaves(found, findings, 1),
        ripples(findings),
        linear(found, findings),
        faster(found, findings),
        range(found, findings),
        Verdict {
            claim: "ξ = 1 − α/β".into(),
            published: format!("{PUBLISHED_XI}"),
            measured: format!("1 − α/β = {:.2}; 2(κ−1)/(κ+1) = {:.2}", caption_xi(found), found.of_k.xi()),
            agreement: if has_the_published_curvature(found) {
                agrees((caption_xi(found) - PUBLISHED_XI).abs() <= TWO_DIGITS)
            } else {
                Agreement::Open
            },
            why: if !has_the_published_curvature(found) {
                "This toy has another curvature than the published one.".into()
            } else if (found.of_k.xi() - PUBLISHED_XI).abs() <= 2.0 * TWO_DIGITS {
                "The published value is that of the lemma, 2(κ−1)/(κ+1), not that of the caption's formula.".into()
            } else {
                "Neither formula gives the published value here.".into()
            },
        },
        drawn(found),
    ]
}

/// What happens beyond the lower (0) or the upper (1) end.
fn leaves(found: &Measured, findings: &Findings<'_>, at: usize) -> Verdict {
    let (side, rest) = [("negative", "up to"), ("large", "from")][at];
    let (all, first) = (findings.divergent[at], findings.beyond[at]);
    let on_this_side = |t: &&Trial| if at == 0 { t.tau < 0.0 } else { t.tau > 0.0 };
    let wander: Vec<&Trial> = found.grid.iter().filter(on_this_side).filter(|t| t.label == Label::Wanders).collect();
    let wandering = if wander.is_empty() {
        String::new()
    } else if wander.iter().all(|t| t.changes_late()) {
        format!(
            "{} τ on this side wander: hard thresholding keeps the iterates bounded, on supports that still change at the end of the run. ",
            wander.len()
        )
    } else {
        format!("{} τ on this side wander: they neither converge nor come to rest, nor do they grow. ", wander.len())
    };
    Verdict {
        claim: format!("Diverges for τ too {side}"),
        published: "yes".into(),
        measured: match (all.map(|tau| digits(tau, 2)), first.map(|t| (digits(t.tau, 2), t.label.name()))) {
            (Some(all), Some((tau, does))) => {
                format!("every τ {rest} {all}; the first that does not converge, {tau}, {does}")
            }
            (Some(all), None) => format!("every τ {rest} {all}"),
            (None, Some((tau, does))) => format!("not at the end of the grid; {tau} {does}"),
            (None, None) => "every τ on this side converges".into(),
        },
        agreement: match (all, first) {
            (Some(_), _) => Agreement::Agrees,
            (None, Some(_)) => Agreement::Partly,
            (None, None) => Agreement::Differs,
        },
        why: format!("{wandering}{}", limits(found, findings)),
    }
}

/// Whether the gap ripples at the ends.
fn ripples(findings: &Findings<'_>) -> Verdict {
    let count = |at: usize, label: Label| findings.ends[at].iter().filter(|t| t.label == label).count();
    let end = |at: usize, name: &str| {
        let (all, uneven) = (findings.ends[at].len(), count(at, Label::Uneven));
        let uneven = if uneven > 0 { format!(", {uneven} uneven") } else { String::new() };
        format!("{} of {all} at the {name} end{uneven}", count(at, Label::Ripples))
    };
    // An end that lies beyond the grid is not seen.
    let seen = findings.range.is_some() && findings.beyond.iter().all(Option::is_some);
    Verdict {
        claim: "The gap ripples near both ends of the range".into(),
        published: "yes".into(),
        measured: match findings.range {
            None => "plain IHT does not converge: there is no range around 0".into(),
            Some(_) if !seen => "the range goes on beyond the grid".into(),
            Some(_) => format!("{}; {}", end(0, "lower"), end(1, "upper")),
        },
        agreement: match [0, 1].map(|at| count(at, Label::Ripples)) {
            _ if !seen => Agreement::Open,
            [0, 0] => Agreement::Differs,
            [0, _] | [_, 0] => Agreement::Partly,
            _ => Agreement::Agrees,
        },
        why: "Ripples come from a pair of complex roots, or from two errors that alternate. At τ = −1 an error with ρ > 0 \
              has the roots ±√ρ: the gap then falls every other move, in steps, and does not rise."
            .into(),
    }
}

/// Whether convergence is linear between the ends.
fn linear(found: &Measured, findings: &Findings<'_>) -> Verdict {
    let inside = || findings.between.iter();
    let of = |label: Label| inside().filter(|t| t.label == label).count();
    let plain = &found.plain;
    let local = found.local.rate(0.0).ln();
    let local = if (plain.rate.ln() - local).abs() <= SAME_FACTOR * local.abs() {
        "The factor of plain IHT is that of linear algebra on the planted support."
    } else {
        "The factor of plain IHT is not that of linear algebra on the planted support."
    };
    Verdict {
        claim: "Fast linear convergence between, plain IHT at τ = 0 among it".into(),
        published: "yes".into(),
        measured: format!(
            "between the ends {} of {} τ linear, {} uneven, {} with ripples; τ = 0: {}, factor {:.3} a move, R² {:.3}",
            of(Label::Linear),
            findings.between.len(),
            of(Label::Uneven),
            of(Label::Ripples),
            plain.label.name(),
            plain.rate,
            plain.straight
        ),
        agreement: match plain.label {
            Label::Linear if inside().all(|t| t.label == Label::Linear) => Agreement::Agrees,
            Label::Linear => Agreement::Partly,
            _ => Agreement::Differs,
        },
        why: format!(
            "Linear: an R² of at least {STRAIGHT}. {local}{}",
            if of(Label::Uneven) + of(Label::Ripples) > 0 {
                " What is uneven or ripples converges all the same, with a factor of its own."
            } else {
                ""
            }
        ),
    }
}

/// Whether the published range is one.
fn range(found: &Measured, findings: &Findings<'_>) -> Verdict {
    let published = found.of_k.published_momentum();
    let held = |range| {
        let (converge, all) = converging_within(found, range);
        format!("{converge} of {all} τ of the grid in there converge")
    };
    let magnitude = by_magnitude(found.of_k.xi());
    let this = match published {
        Some(range) => format!("Here it is not: {}.", held(range)),
        None => format!(
            "By its magnitude, |1 − φ√ξ|/(φ√ξ), it would be |τ| ≤ {magnitude:.2}: {}.",
            held((-magnitude, magnitude))
        ),
    };
    let others = found.plain_share().map_or_else(String::new, |share| {
        format!(" Plain IHT converges on {:.0} % of the other toys, drawn in the same way.", 100.0 * share)
    });
    Verdict {
        claim: "It converges for |τ| ≤ (1 − φ√ξ)/(φ√ξ), which the figure shades".into(),
        published: "a range around 0".into(),
        measured: format!(
            "published range: {}; exact: {}; measured: {}",
            ends(published),
            ends(found.of_k.exact_momentum()),
            ends(findings.range)
        ),
        agreement: agrees(published.is_some_and(|range| {
            let (converge, all) = converging_within(found, range);
            converge == all
        })),
        why: format!(
            "The range is empty unless ξ < 1/φ² ≈ 0.382. {this} The exact range solves ξ(|1+τ| + |τ|) < 1; it is sufficient, \
             not necessary, and its ξ must be that of 3k columns.{others}"
        ),
    }
}

/// Whether a Gaussian draw is like the published one.
fn drawn(found: &Measured) -> Verdict {
    let same = has_the_published_curvature(found);
    let silent = "The paper does not say how its draw came about, and may have looked at some supports only.";
    Verdict {
        claim: "A Gaussian draw has this curvature over all supports of k columns".into(),
        published: format!("α ≈ {PUBLISHED_ALPHA}, β ≈ {PUBLISHED_BETA}"),
        measured: format!(
            "α = {:.3}, β = {:.3}; {}",
            found.of_k.alpha(),
            found.of_k.beta(),
            found.chance.map_or_else(
                || "one plain draw".into(),
                |chance| format!("chance of a plain draw with all pairs in the window {chance:.0e}").replace('-', "−")
            )
        ),
        agreement: match found.chance {
            _ if !same => Agreement::Differs,
            Some(chance) if chance < NO_CHANCE => Agreement::Partly,
            _ => Agreement::Agrees,
        },
        why: match found.chance {
            Some(chance) if chance < NO_CHANCE => format!(
                "All pairs of columns must be nearly orthogonal and of like norm, which plain draws are not. So the toy is \
                 drawn given that they are. {silent}"
            ),
            Some(_) => format!("The toy is drawn given that all pairs of its columns lie in the window. {silent}"),
            None => format!("The toy is a plain draw of its seed. {silent}"),
        },
    }
}

/// Whether momentum is faster than none.
fn faster(found: &Measured, findings: &Findings<'_>) -> Verdict {
    // The paper's own constant, as far as it converges here.
    let quarter = found.panels.iter().flatten().find(|t| t.tau == 0.25 && t.label.converges());
    let quarter = quarter.filter(|_| findings.speed_up.is_some()).map(|t| t.rate.ln() / found.plain.rate.ln());
    let told = quarter.map_or_else(String::new, |gain| format!("; τ = ¼: {gain:.2} ×"));
    let local = found.local.best().map_or_else(String::new, |(tau, gain)| {
        format!("; by linear algebra the best τ = {}: {gain:.2} ×", digits(tau, 3))
    });
    Verdict {
        claim: "Momentum is faster than plain IHT".into(),
        published: "yes".into(),
        measured: match (findings.best, findings.speed_up) {
            (Some(best), Some(gain)) => {
                format!("best τ = {}: {gain:.2} × the digits a move{told}{local}", digits(best.tau, 2))
            }
            _ => "plain IHT does not converge".into(),
        },
        agreement: match (findings.speed_up, quarter) {
            (_, Some(gain)) if gain > 1.0 => Agreement::Agrees,
            (Some(gain), _) if gain > 1.0 => Agreement::Partly,
            (Some(_), _) => Agreement::Differs,
            (None, _) => Agreement::Open,
        },
        why: found.local.help(),
    }
}
