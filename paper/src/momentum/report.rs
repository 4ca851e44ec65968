//! The section of `momentum`, from what was measured.

use katoms::theory::Conditioning;
use serde_json::json;

use super::findings::{Findings, ends, gain, limits, span};
use super::trial::{Label, STRAIGHT, Trial};
use super::{Config, Curvature, Measured, figures, verdicts};
use crate::{Experiment, Section, Table};

/// A draw of this chance is found by no scan of seeds.
const RARE: f64 = 1e-9;

/// The section.
pub(super) fn section(config: &Config, found: &Measured) -> Section {
    let findings = Findings::new(found);
    let mut section = Section::new(Experiment::Momentum, "Which momentum converges");
    section.lead = lead(found, &findings);
    section.setup = setup(config, found);
    section.figures = vec![figures::panels(config, found), figures::ranges(config, found, &findings)];
    section.tables = vec![curvatures(found), labels(found)];
    section.verdicts = verdicts::verdicts(found, &findings);
    section.notes = notes(config, found);
    numbers(&mut section, found, &findings);
    section.record = record(found, &findings);
    section
}

fn lead(found: &Measured, findings: &Findings<'_>) -> String {
    let range = match findings.range {
        Some(range) => format!("Every τ of the grid from {} reaches the planted vector", span(range, 2)),
        None => "Plain IHT does not reach the planted vector, so that no range of τ around 0 does".into(),
    };
    let ends = match findings.beyond {
        [Some(below), Some(above)] if findings.range.is_some() => {
            format!("; the next below {} and the next above {}.", below.label.name(), above.label.name())
        }
        _ => ".".into(),
    };
    let theory = match found.of_k.exact_momentum() {
        Some(range) => format!("the exact one for the same ξ goes from {}", span(range, 2)),
        None => "the exact one is empty too".into(),
    };
    let published = match found.of_k.published_momentum() {
        Some(range) => format!("The published range goes from {}, {theory}.", span(range, 2)),
        None => format!("The published range is empty at this ξ = {:.2}; {theory}.", found.of_k.xi()),
    };
    format!("{range}{ends} {published} {} {}", limits(found, findings), gain(findings))
}

fn setup(config: &Config, found: &Measured) -> Vec<(String, String)> {
    let drawn = match config.within {
        Some(w) => format!(
            "entries N(0, 1/{}), given that the eigenvalues of every pair of columns lie from {} to {}",
            config.rows, w.alpha, w.beta
        ),
        None => format!("entries N(0, 1/{})", config.rows),
    };
    vec![
        ("Design".into(), format!("{} × {}, {drawn}; seed {}", config.rows, config.columns, config.seed)),
        ("Planted".into(), format!("{} normal values at random places, norm 1; no noise", config.k)),
        ("Step".into(), format!("2/(α+β) = {:.4}, α and β over all supports of k columns", found.of_k.step())),
        (
            "Labels".into(),
            format!(
                "converged: a gap of {} of the start on the planted support within {} moves, called ripples \
                 where it rises at least twice and in {} % of the moves or more, linear where a line through its logarithm \
                 has R² ≥ {STRAIGHT}, else uneven (all by gaps above 1e−12 of the start); diverges: ends above the start; stalls: rests elsewhere; wanders: none of \
                 these",
                format!("{:.0e}", config.converged).replace('-', "−"),
                config.iterations,
                100.0 * config.ripples
            ),
        ),
    ]
}

fn curvatures(found: &Measured) -> Table {
    let row = |c: &Curvature| {
        let of = |pick: &dyn Fn(&Conditioning) -> String| c.known.as_ref().map_or_else(|| "–".into(), pick);
        vec![
            c.size.into(),
            if c.alpha < 1e-3 { format!("{:.1e}", c.alpha) } else { format!("{:.4}", c.alpha) },
            format!("{:.4}", c.beta),
            of(&|c| format!("{:.2}", c.kappa())),
            of(&|c| format!("{:.4}", c.xi())),
            of(&|c| ends(c.published_momentum())),
            of(&|c| ends(c.exact_momentum())),
        ]
    };
    Table {
        title: "Curvature over all supports of a size, and the momenta that the theory allows".into(),
        headings: ["columns", "α", "β", "κ", "ξ", "published range", "exact range"].map(Into::into).into(),
        rows: found.curvatures.iter().map(row).collect(),
    }
}

fn labels(found: &Measured) -> Table {
    let row = |t: &Trial| {
        let rate = |v: f64| if v.is_finite() { format!("{v:.3}") } else { "–".into() };
        vec![
            format!("{:.2}", t.tau),
            t.label.name().into(),
            rate(t.rate),
            rate(found.local.rate(t.tau)),
            rate(t.straight),
            format!("{:.0} %", 100.0 * t.rises),
            t.moves.map_or_else(|| "–".into(), |m| m.to_string()),
            if t.support { "yes" } else { "no" }.into(),
        ]
    };
    let headings =
        ["τ", "label", "factor of the gap", "by linear algebra", "R²", "rises", "moves to 1e-6", "planted support"];
    Table {
        title: "What each momentum does".into(),
        headings: headings.map(Into::into).into(),
        rows: found.panels.iter().flatten().map(row).collect(),
    }
}

fn notes(config: &Config, found: &Measured) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(chance) = found.chance {
        notes.push(format!(
            "A plain draw has every pair of its columns within the window with a chance of about {} (estimated by \
             splitting){}. The toys are therefore drawn given the window, approximately, by the same splitting.",
            format!("{chance:.0e}").replace('-', "−"),
            if chance < RARE { ", so no scan of seeds finds one" } else { "" },
        ));
    }
    if config.has_the_built_in_toy() {
        notes.push(format!(
            "The seed, {}, was selected: the first from 0 on with which α and β over all pairs of columns have the published \
             digits and plain IHT converges. That these two hold is therefore no finding.",
            config.seed
        ));
    }
    let of_3k = &found.curvatures[2];
    notes.push(format!(
        "The theory asks for the curvature over 3k columns. Here that is α = {}, β = {:.2}: {}. What the paper and this \
         section take, k columns, is what its caption says.",
        format!("{:.1e}", of_3k.alpha).replace('-', "−"),
        of_3k.beta,
        match of_3k.known.and_then(|c| c.exact_momentum()) {
            Some(range) => format!("the exact range is {}", span(range, 3)),
            None => "no momentum is covered, not even τ = 0".into(),
        }
    ));
    notes.push(
        "Linear algebra: on a fixed support the error along an eigenvector of eigenvalue λ obeys e⁺ = ρ((1+τ)e − τe₋), \
         ρ = 1 − μλ. Both roots of z² − ρ(1+τ)z + ρτ lie in the unit circle where |ρτ| < 1 and |ρ(1+τ)| < 1 + ρτ. The \
         exact range of the theory is the same with ξ in place of |ρ|, for either sign; ξ is twice the largest |ρ| of any k columns."
            .into(),
    );
    notes
}

fn numbers(section: &mut Section, found: &Measured, findings: &Findings<'_>) {
    let share = |labels: &[Label]| {
        let count = found.grid.iter().filter(|t| labels.contains(&t.label)).count();
        Some(count as f64 / found.grid.len() as f64)
    };
    let told = [
        ("alpha", Some(found.of_k.alpha())),
        ("beta", Some(found.of_k.beta())),
        ("xi", Some(found.of_k.xi())),
        ("least tau that converges", findings.range.map(|r| r.0)),
        ("largest tau that converges", findings.range.map(|r| r.1)),
        ("rate of plain IHT", Some(found.plain.rate)),
        ("speed-up of the best tau by linear algebra", found.local.best().map(|best| best.1)),
        ("share of tau that diverge or wander", share(&[Label::Diverges, Label::Wanders])),
        ("share of tau that ripple", share(&[Label::Ripples])),
        ("share of tau that are uneven", share(&[Label::Uneven])),
        ("share of tau that are linear", share(&[Label::Linear])),
        ("published range is empty", Some(f64::from(u8::from(found.of_k.published_momentum().is_none())))),
        ("log10 of the chance of the draw", found.chance.map(f64::log10)),
    ];
    // What is not there, or not a number, is not told.
    let told = told.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value.filter(|v| v.is_finite())?)));
    section.numbers.extend(told);
}

fn record(found: &Measured, findings: &Findings<'_>) -> serde_json::Value {
    let shares: Vec<_> =
        found.shares.iter().map(|s| json!({ "tau": s.tau, "converges": s.share, "expected": s.expected })).collect();
    let curvatures: Vec<_> =
        found.curvatures.iter().map(|c| json!({ "columns": c.size, "alpha": c.alpha, "beta": c.beta })).collect();
    let grid: Vec<_> = found
        .grid
        .iter()
        .map(|t| json!({ "tau": t.tau, "label": t.label, "rate": t.rate, "straight": t.straight, "rises": t.rises, "settled": t.settled }))
        .collect();
    json!({
        "design": found.toy.rows(),
        "planted": found.toy.truth.to_dense(),
        "curvature": curvatures,
        "step": found.of_k.step(),
        "measured_range": findings.range,
        "published_range": found.of_k.published_momentum(),
        "exact_range": found.of_k.exact_momentum(),
        "linear_algebra_range": found.local.range(),
        "panels": found.panels,
        "grid": grid,
        "other_toys": shares,
        "chance": found.chance,
    })
}
