//! Figures, tables and verdicts of `momentum`, from what was measured.

use katoms::theory::Conditioning;
use serde_json::json;

use super::trial::{Label, Trial};
use super::{Config, Measured};
use crate::figure::{Axis, Body, Chart, Curve, Figure, Ink, Panel, Place, Shade, Stroke};
use crate::{Agreement, Contestant, Experiment, Section, Table, Verdict};

/// (1+√5)/2.
const GOLDEN: f64 = 1.618_033_988_749_895;
/// So many converging momenta at each end of the range are looked at for ripples.
const AT_THE_ENDS: usize = 2;
/// What the caption of the paper's figure says.
const PUBLISHED_XI: f64 = 0.94;

/// What the momenta of the grid show.
struct Findings<'a> {
    /// The least and the largest that converge, where all between do; widest such range around 0.
    range: Option<(f64, f64)>,
    below: Option<&'a Trial>,
    above: Option<&'a Trial>,
    /// How many of those next to the lower and to the upper end ripple.
    ripples: [usize; 2],
    best: &'a Trial,
}

impl<'a> Findings<'a> {
    fn new(found: &'a Measured) -> Self {
        let grid = &found.grid;
        let zero = grid.iter().position(|t| t.tau >= 0.0).unwrap_or(0);
        let converges = |at: &usize| grid[*at].label.converges();
        let low = (0..=zero).rev().take_while(converges).last();
        let high = (zero..grid.len()).take_while(converges).last();
        let range = low.zip(high);
        let inside = range.map_or(&grid[..0], |(low, high)| &grid[low..=high]);
        let rippling = |trials: &mut dyn Iterator<Item = &Trial>| {
            trials.take(AT_THE_ENDS).filter(|t| t.label == Label::Ripples).count()
        };
        let best = inside.iter().chain([&found.plain]).min_by(|a, b| a.rate.total_cmp(&b.rate));
        Self {
            range: range.map(|(low, high)| (grid[low].tau, grid[high].tau)),
            below: low.and_then(|at| grid.get(at.wrapping_sub(1))),
            above: high.and_then(|at| grid.get(at + 1)),
            ripples: [rippling(&mut inside.iter()), rippling(&mut inside.iter().rev())],
            best: best.unwrap_or(&found.plain),
        }
    }
}

/// The section.
pub(super) fn section(config: &Config, found: &Measured) -> Section {
    let findings = Findings::new(found);
    let mut section = Section::new(Experiment::Momentum, "Which momentum converges");
    section.lead = lead(found, &findings);
    section.setup = setup(config, found);
    section.figures = vec![panels(config, found), ranges(config, found, &findings)];
    section.tables = vec![curvatures(found), labels(found)];
    section.verdicts = verdicts(found, &findings);
    section.notes = notes(config, found);
    numbers(&mut section, found, &findings);
    section.record = record(found, &findings);
    section
}

fn lead(found: &Measured, findings: &Findings<'_>) -> String {
    let range = match findings.range {
        Some((low, high)) => format!("Every τ from {low:.2} to {high:.2} reaches the planted vector"),
        None => "Plain IHT does not reach the planted vector, so that no range of τ around 0 does".into(),
    };
    let ends = match (findings.below, findings.above) {
        (Some(below), Some(above)) => {
            format!("; the next below {} and the next above {}.", below.label.name(), above.label.name())
        }
        _ => ".".into(),
    };
    let (low, high) = found.local.range();
    let theory = match found.of_k.exact_momentum() {
        Some((from, to)) => format!("the exact one for the same ξ goes from {from:.2} to {to:.2}"),
        None => "the exact one is empty too".into(),
    };
    let published = match found.of_k.published_momentum() {
        Some((from, to)) => format!("The published range goes from {from:.2} to {to:.2}, {theory}."),
        None => format!("The published range is empty at this ξ = {:.2}; {theory}.", found.of_k.xi()),
    };
    format!(
        "{range}{ends} {published} Once the support is found, linear algebra gives {low:.2} to {high:.2} for this draw. \
         {}",
        gain(found, findings)
    )
}

/// How much the best momentum gains over none.
fn gain(found: &Measured, findings: &Findings<'_>) -> String {
    let best = findings.best;
    if best.tau == 0.0 || !(speed_up(found, findings) > 1.0) {
        return "No momentum is faster than none here.".into();
    }
    format!(
        "The fastest, τ = {:.2}, needs {:.2} times fewer moves for each digit than plain IHT.",
        best.tau,
        speed_up(found, findings)
    )
}

/// Digits a move at the best momentum, over digits a move without.
fn speed_up(found: &Measured, findings: &Findings<'_>) -> f64 {
    findings.best.rate.ln() / found.plain.rate.ln()
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
                "converged: a gap of {:.0e} of the start on the planted support within {} moves; ripples: the gap rises \
                 in {} % of the moves or more; diverges: ends above the start; stalls: rests elsewhere; wanders: none of \
                 these",
                config.converged,
                config.iterations,
                100.0 * config.ripples
            ),
        ),
    ]
}

/// f − f* against the iteration, in three panels.
fn panels(config: &Config, found: &Measured) -> Figure {
    let mut taus: Vec<f64> = found.panels.iter().flatten().map(|t| t.tau).filter(|tau| *tau != 0.0).collect();
    taus.sort_by(f64::total_cmp);
    taus.dedup();
    // By rank, so that neighbours differ; the two hues meet at 0.
    let ink = |tau: f64| {
        let side = |t: &&f64| (**t < 0.0) == (tau < 0.0);
        let rank = taus.iter().filter(side).filter(|t| t.abs() <= tau.abs()).count();
        let scaled = rank as f64 / taus.iter().filter(side).count().max(1) as f64;
        if tau == 0.0 { Ink::Of(Contestant::Iht) } else { Ink::Scale(scaled.copysign(tau)) }
    };
    let start = found.plain.gaps[0];
    let curve = |trial: &Trial| {
        let shown = trial.gaps.iter().take(config.shown + 1).enumerate();
        let points = shown.map(|(i, gap)| (i as f64, *gap)).collect();
        let name = if trial.tau == 0.0 { "τ = 0, plain IHT".into() } else { format!("τ = {}", trial.tau) };
        let stroke = match trial.label {
            Label::Linear => Stroke::Solid,
            Label::Ripples => Stroke::Dashed,
            Label::Stalls | Label::Wanders | Label::Diverges => Stroke::Dotted,
        };
        Curve::new(format!("{name}: {}", trial.label.name()), ink(trial.tau), points).stroked(stroke)
    };
    let panel = |title: &str, trials: &[Trial]| Panel {
        title: title.into(),
        body: Body::Chart(Chart {
            x: Axis::linear("iteration").between(0.0, config.shown as f64),
            y: Axis::log("f(x) − f(x*)").between(1e-20 * start, 1e6 * start),
            curves: trials.iter().map(curve).collect(),
            shades: vec![],
            places: vec![],
        }),
    };
    let [left, middle, right] = &found.panels;
    let count = |trials: &[Trial]| {
        let of = |label: &Label| trials.iter().filter(|t| t.label == *label).count();
        let told = Label::ALL.iter().filter(|l| of(l) > 0).map(|l| format!("{} × {}", of(l), l.name()));
        told.collect::<Vec<_>>().join(", ")
    };
    Figure {
        name: "momentum".into(),
        title: "The gap against the iteration, by momentum".into(),
        caption: format!(
            "Solid: converges; dashed: converges with ripples; dotted: does not converge. Left: {}. Middle: {}. Right: \
             {}. The labels are measured, not seen.",
            count(left),
            count(middle),
            count(right)
        ),
        columns: 3,
        panels: vec![
            panel("Negative momentum", left),
            panel("Around plain IHT", middle),
            panel("Positive momentum", right),
        ],
    }
}

/// The ranges of the theory, as far as they are not empty.
fn shades(of_k: &Conditioning) -> Vec<Shade> {
    let shade = |range: Option<(f64, f64)>, label: &str, ink| {
        range.map(|(from, to)| Shade { from, to, label: label.into(), ink })
    };
    let exact = shade(of_k.exact_momentum(), "exact range", Ink::Guide);
    let published = shade(of_k.published_momentum(), "published range", Ink::Of(Contestant::AccIht));
    [exact, published].into_iter().flatten().collect()
}

/// Rates over τ, and how many toys converge.
fn ranges(config: &Config, found: &Measured, findings: &Findings<'_>) -> Figure {
    let (low, high) = found.local.range();
    let places = vec![
        Place { x: low, label: format!("linear algebra: {low:.2}") },
        Place { x: high, label: format!("{high:.2}") },
    ];
    let mut curves = vec![Curve::new(
        "linear algebra on the planted support",
        Ink::Guide,
        found.grid.iter().map(|t| (t.tau, found.local.rate(t.tau))).collect(),
    )];
    let inks = [Contestant::Katoms, Contestant::LineSearch, Contestant::Lasso, Contestant::FrankWolfe];
    let inks = inks.into_iter().chain([Contestant::AccIht]);
    for (label, ink) in Label::ALL.into_iter().zip(inks) {
        let points: Vec<(f64, f64)> =
            found.grid.iter().filter(|t| t.label == label && t.rate.is_finite()).map(|t| (t.tau, t.rate)).collect();
        if !points.is_empty() {
            curves.push(Curve::new(label.name(), Ink::Of(ink), points).stroked(Stroke::Points));
        }
    }
    let tau = || Axis::linear("momentum τ").between(config.tau.from, config.tau.to);
    let shades = shades(&found.of_k);
    let rates = Chart {
        x: tau(),
        y: Axis::log("factor of the gap in one iteration"),
        curves,
        shades: shades.clone(),
        places: places.clone(),
    };
    let share = |pick: fn(&super::Share) -> f64| found.shares.iter().map(|s| (s.tau, pick(s))).collect();
    let shares = Chart {
        x: tau(),
        y: Axis::linear("share of toys").between(0.0, 1.05),
        curves: vec![
            Curve::new("τ within the range of linear algebra", Ink::Guide, share(|s| s.expected)),
            Curve::new("converges", Ink::Of(Contestant::Katoms), share(|s| s.share)),
        ],
        shades,
        places: vec![],
    };
    let mut panels = vec![Panel { title: "This toy: the measured rate".into(), body: Body::Chart(rates) }];
    if config.toys > 0 {
        panels.push(Panel { title: format!("{} other toys", config.toys), body: Body::Chart(shares) });
    }
    Figure {
        name: "momentum-range".into(),
        title: "The momenta that converge, measured and allowed".into(),
        caption: range_caption(config, found, findings),
        columns: panels.len(),
        panels,
    }
}

fn range_caption(config: &Config, found: &Measured, findings: &Findings<'_>) -> String {
    let xi = found.of_k.xi();
    let exact = match found.of_k.exact_momentum() {
        Some((from, to)) => format!("Shaded: the exact range at ξ = {xi:.2}, {from:.2} to {to:.2}."),
        None => format!("The exact range is empty at ξ = {xi:.2}: nothing is shaded."),
    };
    let published = match found.of_k.published_momentum() {
        Some((from, to)) => format!("The published range goes from {from:.2} to {to:.2}."),
        None => format!(
            "The published range is empty: φ√ξ = {:.2} is not below 1. The same with 1 − α/β = {:.2} for ξ, as the paper's \
             caption has it: {}.",
            GOLDEN * xi.sqrt(),
            caption_xi(found),
            if GOLDEN * caption_xi(found).sqrt() < 1.0 { "not empty" } else { "empty too" }
        ),
    };
    let measured = match findings.range {
        Some((low, high)) => format!("Measured: {low:.2} to {high:.2}, with the ends at the two lines."),
        None => "Measured: no range around 0 converges.".into(),
    };
    let others = match found.shares.iter().find(|s| s.tau >= 0.0) {
        Some(at_zero) if config.toys > 0 => format!(
            " Right: without momentum {:.0} % of other toys converge; the others come to rest on a wrong support.",
            100.0 * at_zero.share
        ),
        _ => String::new(),
    };
    format!("{exact} {published} {measured}{others}")
}

/// What the paper's caption takes for ξ.
fn caption_xi(found: &Measured) -> f64 {
    1.0 - found.of_k.alpha() / found.of_k.beta()
}

fn ends(range: Option<(f64, f64)>) -> String {
    range.map_or_else(|| "empty".into(), |(low, high)| format!("{low:.3} to {high:.3}"))
}

fn curvatures(found: &Measured) -> Table {
    let row = |c: &super::Curvature| {
        let of = |pick: &dyn Fn(&Conditioning) -> String| c.known.as_ref().map_or_else(|| "–".into(), pick);
        vec![
            c.size.into(),
            format!("{:.4}", c.alpha),
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

fn agrees(yes: bool) -> Agreement {
    if yes { Agreement::Agrees } else { Agreement::Differs }
}

fn verdicts(found: &Measured, findings: &Findings<'_>) -> Vec<Verdict> {
    let leaves = |trial: Option<&Trial>, side: &str| Verdict {
        claim: format!("Diverges for τ too {side}"),
        published: "yes".into(),
        measured: trial.map_or_else(
            || "every τ of the grid on this side converges".into(),
            |t| format!("from τ = {:.2} on: {}", t.tau, t.label.name()),
        ),
        agreement: match trial.map(|t| t.label) {
            Some(Label::Diverges | Label::Wanders) => Agreement::Agrees,
            Some(_) => Agreement::Partly,
            None => Agreement::Differs,
        },
        why: "The recursion on the planted support leaves the unit circle there; hard thresholding may then keep the \
              iterates bounded, on changing supports."
            .into(),
    };
    let [lower, upper] = findings.ripples;
    let linear = found.grid.iter().filter(|t| t.label == Label::Linear).count();
    let straight = found.plain.label == Label::Linear && linear > 1;
    let faster = speed_up(found, findings);
    vec![
        leaves(findings.below, "negative"),
        leaves(findings.above, "large"),
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
        Verdict {
            claim: "Momentum is faster than plain IHT".into(),
            published: "yes".into(),
            measured: format!(
                "best τ = {:.2}: {faster:.2} × the digits a move; τ = ¼: {:.2} ×",
                findings.best.tau,
                found.local.rate(0.25).ln() / found.plain.rate.ln()
            ),
            agreement: if found.local.rate(0.25) < found.plain.rate {
                Agreement::Agrees
            } else if faster > 1.0 {
                Agreement::Partly
            } else {
                Agreement::Differs
            },
            why: "With the step 2/(α+β) errors of either sign are left, and momentum helps the one it hurts the other by. \
                  With a shorter step, as 1/β, all are positive."
                .into(),
        },
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
                 The exact range solves ξ(|1+τ| + |τ|) < 1; it is sufficient, not necessary.",
                (1.0 - GOLDEN * found.of_k.xi().sqrt()).abs() / (GOLDEN * found.of_k.xi().sqrt())
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

fn notes(config: &Config, found: &Measured) -> Vec<String> {
    let mut notes = Vec::new();
    if config.within.is_some() {
        notes.push(format!(
            "A plain draw has a curvature within the window with a chance of about {:.0e} (estimated by \
             splitting), so no scan of seeds finds one. The toys are therefore drawn given the window, by the same splitting; \
             the seed is the first whose α and β have the published digits.",
            found.chance
        ));
    }
    let of_3k = &found.curvatures[2];
    notes.push(format!(
        "The theory asks for the curvature over 3k columns. Here that is α = {:.1e}, β = {:.2}: {}. What the paper and this \
         section take, k columns, is what its caption says.",
        of_3k.alpha,
        of_3k.beta,
        match of_3k.known.and_then(|c| c.exact_momentum()) {
            Some((low, high)) => format!("the exact range is {low:.3} to {high:.3}"),
            None => "no momentum is covered, not even τ = 0".into(),
        }
    ));
    notes.push(
        "Linear algebra: on a fixed support the error along an eigenvector of eigenvalue λ obeys e⁺ = ρ((1+τ)e − τe₋), \
         ρ = 1 − μλ. Both roots of z² − ρ(1+τ)z + ρτ lie in the unit circle where |ρτ| < 1 and |ρ(1+τ)| < 1 + ρτ. The \
         exact range of the theory is the same with ξ in place of |ρ|, for either sign; ξ is twice the largest |ρ|."
            .into(),
    );
    notes
}

fn numbers(section: &mut Section, found: &Measured, findings: &Findings<'_>) {
    let (low, high) = findings.range.unwrap_or((0.0, 0.0));
    let (from, to) = found.local.range();
    let count = |label: Label| found.grid.iter().filter(|t| t.label == label).count() as f64;
    let all = found.grid.len() as f64;
    for (name, value) in [
        ("alpha", found.of_k.alpha()),
        ("beta", found.of_k.beta()),
        ("xi", found.of_k.xi()),
        ("least tau that converges, less linear algebra's", low - from),
        ("largest tau that converges, less linear algebra's", high - to),
        ("rate of plain IHT", found.plain.rate),
        ("speed-up of the best tau", speed_up(found, findings)),
        ("share of tau that diverge or wander", (count(Label::Diverges) + count(Label::Wanders)) / all),
        ("share of tau that ripple", count(Label::Ripples) / all),
        ("share of tau that are linear", count(Label::Linear) / all),
        ("published range is empty", f64::from(u8::from(found.of_k.published_momentum().is_none()))),
        ("log10 of the chance of the draw", found.chance.max(f64::MIN_POSITIVE).log10()),
    ] {
        section.numbers.insert(name.into(), value);
    }
}

fn record(found: &Measured, findings: &Findings<'_>) -> serde_json::Value {
    let shares: Vec<_> =
        found.shares.iter().map(|s| json!({ "tau": s.tau, "converges": s.share, "expected": s.expected })).collect();
    let curvatures: Vec<_> =
        found.curvatures.iter().map(|c| json!({ "columns": c.size, "alpha": c.alpha, "beta": c.beta })).collect();
    let grid: Vec<_> = found
        .grid
        .iter()
        .map(|t| json!({ "tau": t.tau, "label": t.label, "rate": t.rate, "straight": t.straight, "rises": t.rises }))
        .collect();
    json!({
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
