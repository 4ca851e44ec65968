//! What the paper says of momentum, beside what was measured.

use super::findings::{AT_THE_ENDS, Findings, caption_xi, ends, limits};
use super::trial::Label;
use super::{GOLDEN, Measured};
use crate::{Agreement, Verdict};

/// What the caption of the paper's figure says.
const PUBLISHED_XI: f64 = 0.94;

fn agrees(yes: bool) -> Agreement {
    if yes { Agreement::Agrees } else { Agreement::Differs }
}

/// All verdicts.
pub(super) fn verdicts(found: &Measured, findings: &Findings<'_>) -> Vec<Verdict> {
    let leaves = |at: usize, side: &str, rest: &str| Verdict {
        claim: format!("Diverges for τ too {side}"),
        published: "yes".into(),
        measured: match (findings.divergent[at], findings.beyond[at]) {
            (Some(all), Some(first)) => {
                format!(
                    "every τ {rest} {all:.2}; the first that does not converge, {:.2}, {}",
                    first.tau,
                    first.label.name()
                )
            }
            (Some(all), None) => format!("every τ {rest} {all:.2}"),
            (None, Some(first)) => format!("not at the end of the grid; {:.2} {}", first.tau, first.label.name()),
            (None, None) => "every τ on this side converges".into(),
        },
        agreement: match (findings.divergent[at], findings.beyond[at]) {
            (Some(_), _) => Agreement::Agrees,
            (None, Some(_)) => Agreement::Partly,
            (None, None) => Agreement::Differs,
        },
        why: format!(
            "Between convergence and divergence lie momenta that wander: hard thresholding keeps the iterates bounded, on \
             changing supports. {}",
            limits(found, findings)
        ),
    };
    let [lower, upper] = findings.ripples;
    let linear = found.grid.iter().filter(|t| t.label == Label::Linear).count();
    let straight = found.plain.label == Label::Linear && linear > 1;
    vec![
        leaves(0, "negative", "up to"),
        leaves(1, "large", "from"),
        Verdict {
            claim: "The gap ripples near both ends of the range".into(),
            published: "yes".into(),
            measured: format!("{lower} of {AT_THE_ENDS} at the lower end, {upper} of {AT_THE_ENDS} at the upper"),
            agreement: match (lower, upper) {
                (0, 0) => Agreement::Differs,
                (0, _) | (_, 0) => Agreement::Partly,
                _ => Agreement::Agrees,
            },
            why: "A real root near −1 flips the sign of the error without making the gap rise; ripples come from a pair of \
                  complex roots, or from two errors that alternate."
                .into(),
        },
        Verdict {
            claim: "Fast linear convergence between, plain IHT at τ = 0 among it".into(),
            published: "yes".into(),
            measured: format!(
                "{linear} of {} τ linear; τ = 0: {}, factor {:.3} a move, R² {:.3}",
                found.grid.len(),
                found.plain.label.name(),
                found.plain.rate,
                found.plain.straight
            ),
            agreement: agrees(straight),
            why: "The factor is that of linear algebra on the planted support, reached as soon as the support is.".into(),
        },
        faster(found, findings),
        Verdict {
            claim: "It converges for |τ| ≤ (1 − φ√ξ)/(φ√ξ), which the figure shades".into(),
            published: "a range around 0".into(),
            measured: format!(
                "published range: {}; exact: {}; measured: {}",
                ends(found.of_k.published_momentum()),
                ends(found.of_k.exact_momentum()),
                ends(findings.range)
            ),
            agreement: agrees(found.of_k.published_momentum().is_some()),
            why: format!(
                "The range is empty unless ξ < 1/φ² ≈ 0.382. By its magnitude, |1 − φ√ξ|/(φ√ξ), it would be |τ| ≤ {:.2}. \
                 The exact range solves ξ(|1+τ| + |τ|) < 1; it is sufficient, not necessary, and its ξ must be that of 3k \
                 columns.{}",
                (1.0 - GOLDEN * found.of_k.xi().sqrt()).abs() / (GOLDEN * found.of_k.xi().sqrt()),
                found.shares.iter().find(|s| s.tau >= 0.0).map_or_else(String::new, |s| format!(
                    " With the same curvature over k columns plain IHT converges on {:.0} % of other toys.",
                    100.0 * s.share
                ))
            ),
        },
        Verdict {
            claim: "ξ = 1 − α/β".into(),
            published: format!("{PUBLISHED_XI}"),
            measured: format!("1 − α/β = {:.2}; 2(κ−1)/(κ+1) = {:.2}", caption_xi(found), found.of_k.xi()),
            agreement: agrees((caption_xi(found) - PUBLISHED_XI).abs() <= 0.005),
            why: "The published value is that of the lemma, 2(κ−1)/(κ+1), not that of the caption's formula.".into(),
        },
        Verdict {
            claim: "A Gaussian draw has this curvature over all supports of k columns".into(),
            published: "α ≈ 0.64, β ≈ 1.78".into(),
            measured: format!(
                "α = {:.3}, β = {:.3}; chance of such a draw {:.0e}",
                found.of_k.alpha(),
                found.of_k.beta(),
                found.chance
            ),
            agreement: if found.chance < 1e-6 { Agreement::Partly } else { Agreement::Agrees },
            why: "All pairs must be nearly orthogonal and of like norm. So the toy is drawn given that they are; the \
                  paper does not say how its draw came about, and may have looked at some supports only."
                .into(),
        },
    ]
}

/// Whether momentum is faster than none.
fn faster(found: &Measured, findings: &Findings<'_>) -> Verdict {
    // The paper's own constant, as far as it converges here.
    let quarter = found.panels.iter().flatten().find(|t| t.tau == 0.25 && t.label.converges());
    let quarter = quarter.filter(|_| findings.speed_up.is_some()).map(|t| t.rate.ln() / found.plain.rate.ln());
    let told = quarter.map_or_else(String::new, |gain| format!("; τ = ¼: {gain:.2} ×"));
    Verdict {
        claim: "Momentum is faster than plain IHT".into(),
        published: "yes".into(),
        measured: match (findings.best, findings.speed_up) {
            (Some(best), Some(gain)) => format!("best τ = {:.2}: {gain:.2} × the digits a move{told}", best.tau),
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
