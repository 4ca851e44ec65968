//! The section of `momentum`, from what was measured.

use anyhow::Result;
use katoms::theory::Conditioning;
use serde_json::json;

use super::trial::{Label, Trial};
use super::{Config, Curvature, GOLDEN, Measured, Share};
use crate::figure::{Axis, Body, Chart, Curve, Ink, Panel, Place, Shade, Stroke};
use crate::{Agreement, Contestant, Experiment, Section, Table};

/// So many converging momenta at each end of the range are looked at for ripples.
const AT_THE_ENDS: usize = 2;
/// What the caption of the paper's figure says, to two digits.
const PUBLISHED_XI: f64 = 0.94;
const PUBLISHED_ALPHA: f64 = 0.64;
const PUBLISHED_BETA: f64 = 1.78;
const TWO_DIGITS: f64 = 0.005;
/// A chance below this is none: nobody draws so often.
const NO_CHANCE: f64 = 1e-6;
/// Where each label lies on the scale: the calm ones dark, what ripples and diverges ever more orange.
const LABELS: [f64; 6] = [0.0, 0.4, 0.7, -0.5, -1.0, 1.0];

/// What the momenta of the grid show.
struct Findings<'a> {
    /// The least and the largest τ around 0 that converge, as all between do; `None` where plain IHT does not.
    range: Option<(f64, f64)>,
    /// The first beyond either end that does not converge.
    beyond: [Option<&'a Trial>; 2],
    /// From either end of the grid: the last τ up to which all diverge.
    divergent: [Option<f64>; 2],
    /// Those of the range.
    inside: &'a [Trial],
    /// The best rate among those that converge, and its digits a move over those without momentum.
    best: Option<(&'a Trial, f64)>,
}

impl<'a> Findings<'a> {
    fn new(found: &'a Measured) -> Self {
        let grid = &found.grid;
        let zero = grid.iter().position(|t| t.tau >= 0.0).unwrap_or(0);
        let converges = |at: &usize| grid[*at].label.converges();
        let fails = |at: &usize| !converges(at);
        let low = (0..=zero).rev().take_while(converges).last();
        let high = (zero..grid.len()).take_while(converges).last();
        let range = low.zip(high);
        let diverging = |trials: &mut dyn Iterator<Item = &Trial>| {
            trials.take_while(|t| t.label == Label::Diverges).last().map(|t| t.tau)
        };
        let rated = |t: &&Trial| t.label.converges() && t.rate.is_finite();
        let best = grid.iter().filter(rated).min_by(|a, b| a.rate.total_cmp(&b.rate));
        let plain = Some(&found.plain).filter(rated);
        Self {
            range: range.map(|(low, high)| (grid[low].tau, grid[high].tau)),
            beyond: [(0..=zero).rev().find(fails), (zero..grid.len()).find(fails)].map(|at| at.map(|at| &grid[at])),
            divergent: [diverging(&mut grid.iter()), diverging(&mut grid.iter().rev())],
            inside: range.map_or(&grid[..0], |(low, high)| &grid[low..=high]),
            best: best.zip(plain).map(|(best, plain)| (best, best.rate.ln() / plain.rate.ln())),
        }
    }
}

/// What the published range would be by its magnitude, |1 − φ√ξ|/(φ√ξ), whether it is empty or not.
fn by_magnitude(xi: f64) -> f64 {
    let radius = GOLDEN * xi.sqrt();
    (1.0 - radius).abs() / radius
}

/// From where to where, or that it is empty.
fn ends(range: Option<(f64, f64)>) -> String {
    range.map_or_else(|| "empty".into(), |(low, high)| format!("{} to {}", digits(low, 3), digits(high, 3)))
}

/// A number with so many decimal places and a minus sign that is one.
fn digits(value: f64, places: usize) -> String {
    let text = format!("{value:.places$}");
    let zero = text.chars().all(|c| "-0.".contains(c));
    let text = if zero { text.trim_start_matches('-').to_owned() } else { text };
    text.replace('-', "−").replace("inf", "∞")
}

/// A small number in powers of ten.
fn tiny(value: f64, places: usize) -> String {
    format!("{value:.places$e}").replace('-', "−")
}

pub fn section(config: &Config, found: &Measured) -> Result<Section> {
    let findings = Findings::new(found);
    let (low, high) = found.local.range();
    let mut section = Section::new(Experiment::Momentum)?;
    section.lead = format!(
        "The τ of the grid that reach the planted vector, around 0: {}. The published range at ξ = {:.2}: {}; the exact one: \
         {}. Once the support is found, linear algebra allows {}.",
        ends(findings.range),
        found.of_k.xi(),
        ends(found.of_k.published_momentum()),
        ends(found.of_k.exact_momentum()),
        ends(Some((low, high))),
    );
    set_up(&mut section, config, found);
    section.draw("", 3, panels(config, found))?;
    let ranges = ranges(config, found);
    section.draw("-range", ranges.len(), ranges)?;
    section.tables = tables(found);
    section.judge(verdicts(found, &findings))?;
    let share = |labels: &[Label]| {
        found.grid.iter().filter(|t| labels.contains(&t.label)).count() as f64 / found.grid.len() as f64
    };
    section.count([
        ("alpha", found.of_k.alpha()),
        ("beta", found.of_k.beta()),
        ("xi", found.of_k.xi()),
        ("least tau that converges", findings.range.map_or(f64::NAN, |r| r.0)),
        ("largest tau that converges", findings.range.map_or(f64::NAN, |r| r.1)),
        ("rate of plain IHT", found.plain.rate),
        ("speed-up of the best tau by linear algebra", found.local.best().map_or(f64::NAN, |best| best.1)),
        ("share of tau that diverge or wander", share(&[Label::Diverges, Label::Wanders])),
        ("share of tau that ripple", share(&[Label::Ripples])),
        ("share of tau that are uneven", share(&[Label::Uneven])),
        ("share of tau that are linear", share(&[Label::Linear])),
        ("published range is empty", f64::from(u8::from(found.of_k.published_momentum().is_none()))),
        ("log10 of the chance of the draw", found.chance.map_or(f64::NAN, f64::log10)),
    ]);
    section.record = json!({
        "design": found.toy.rows(),
        "planted": found.toy.truth.to_dense(),
        "curvature": found.curvatures.iter().map(|c| (c.size, c.alpha, c.beta)).collect::<Vec<_>>(),
        "step": found.of_k.step(),
        "measured_range": findings.range,
        "published_range": found.of_k.published_momentum(),
        "exact_range": found.of_k.exact_momentum(),
        "linear_algebra_range": (low, high),
        "panels": found.panels,
        "grid": found.grid.iter().map(|t| Trial { gaps: Vec::new(), ..t.clone() }).collect::<Vec<_>>(),
        "other_toys": found.shares,
        "chance": found.chance,
    });
    Ok(section)
}

fn set_up(section: &mut Section, config: &Config, found: &Measured) {
    let given = config.within.map_or(String::new(), |w| {
        format!(", given that the eigenvalues of every pair of columns lie from {} to {}", w.alpha, w.beta)
    });
    let Config { rows, columns, seed, .. } = config;
    section.set_up([
        ("Design", format!("{rows} × {columns}, entries N(0, 1/{rows}){given}; seed {seed}")),
        ("Planted", format!("{} normal values at random places, norm 1; no noise", config.k)),
        ("Step", format!("2/(α+β) = {:.4}, α and β over all supports of k columns", found.of_k.step())),
        (
            "Runs",
            format!(
                "{} moves; converged at {:e} of the start's gap, ripples from {} % of the moves",
                config.iterations,
                config.converged,
                100.0 * config.ripples
            ),
        ),
    ]);
}

fn tables(found: &Measured) -> Vec<Table> {
    let curvature = |c: &Curvature| {
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
    let label = |t: &Trial| {
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
    vec![
        Table::new(
            "Curvature over all supports of a size, and the momenta that the theory allows",
            ["columns", "α", "β", "κ", "ξ", "published range", "exact range"],
            found.curvatures.iter().map(curvature),
        ),
        Table::new(
            "What each momentum does",
            ["τ", "label", "factor of the gap", "by linear algebra", "R²", "rises", "moves to 1e-6", "planted support"],
            found.panels.iter().flatten().map(label),
        ),
    ]
}

fn verdicts(found: &Measured, findings: &Findings<'_>) -> [(String, Agreement); 8] {
    let (alpha, beta, xi) = (found.of_k.alpha(), found.of_k.beta(), found.of_k.xi());
    let caption_xi = 1.0 - alpha / beta;
    let as_published = (alpha - PUBLISHED_ALPHA).abs() <= TWO_DIGITS && (beta - PUBLISHED_BETA).abs() <= TWO_DIGITS;
    let chance = found.chance.map_or("one plain draw".into(), |chance| {
        format!("chance of a plain draw with all pairs in the window {}", tiny(chance, 0))
    });
    [
        leaves(found, findings, 0),
        leaves(found, findings, 1),
        ripples(findings),
        linear(found, findings),
        faster(found, findings),
        range(found, findings),
        (
            format!("1 − α/β = {caption_xi:.2}; 2(κ−1)/(κ+1) = {xi:.2}"),
            if as_published { Agreement::of((caption_xi - PUBLISHED_XI).abs() <= TWO_DIGITS) } else { Agreement::Open },
        ),
        (
            format!("α = {alpha:.3}, β = {beta:.3}; {chance}"),
            match found.chance {
                _ if !as_published => Agreement::Differs,
                Some(chance) if chance < NO_CHANCE => Agreement::Partly,
                _ => Agreement::Agrees,
            },
        ),
    ]
}

/// What happens beyond the lower (0) or the upper (1) end.
fn leaves(found: &Measured, findings: &Findings<'_>, at: usize) -> (String, Agreement) {
    let (all, first) = (findings.divergent[at], findings.beyond[at]);
    let wander = |t: &&Trial| t.label == Label::Wanders && (t.tau < 0.0) == (at == 0);
    let rest = ["up to", "from"][at];
    let every = all.map_or("not at the end of the grid".into(), |tau| format!("every τ {rest} {}", digits(tau, 2)));
    let next = first.map_or("none".into(), |t| {
        let support = if t.changes_late() { "still changes" } else { "has settled" };
        format!("{}, {}, whose support {support} at the end", digits(t.tau, 2), t.label.name())
    });
    let wander = found.grid.iter().filter(wander).count();
    let agreement = match (all, first) {
        (Some(_), _) => Agreement::Agrees,
        (None, Some(_)) => Agreement::Partly,
        (None, None) => Agreement::Differs,
    };
    (format!("{every}; the first that does not converge: {next}; {wander} wander"), agreement)
}

/// Whether the gap ripples at the ends.
fn ripples(findings: &Findings<'_>) -> (String, Agreement) {
    let rippling = |t: &&Trial| t.label == Label::Ripples;
    let lower = findings.inside.iter().take(AT_THE_ENDS).filter(rippling).count();
    let upper = findings.inside.iter().rev().take(AT_THE_ENDS).filter(rippling).count();
    let all = AT_THE_ENDS.min(findings.inside.len());
    // An end that lies beyond the grid is not seen.
    let seen = findings.range.is_some() && findings.beyond.iter().all(Option::is_some);
    let agreement = match [lower, upper] {
        _ if !seen => Agreement::Open,
        [0, 0] => Agreement::Differs,
        [0, _] | [_, 0] => Agreement::Partly,
        _ => Agreement::Agrees,
    };
    (format!("{lower} of {all} at the lower end; {upper} of {all} at the upper end"), agreement)
}

/// Whether convergence is linear between the ends.
fn linear(found: &Measured, findings: &Findings<'_>) -> (String, Agreement) {
    let inside = findings.inside;
    let between = inside.get(AT_THE_ENDS..inside.len().saturating_sub(AT_THE_ENDS)).unwrap_or_default();
    let of = |label: Label| between.iter().filter(|t| t.label == label).count();
    let plain = &found.plain;
    let measured = format!(
        "between the ends {} of {} τ linear, {} uneven, {} with ripples; τ = 0: {}, factor {:.3} a move ({:.3} by linear \
         algebra), R² {:.3}",
        of(Label::Linear),
        between.len(),
        of(Label::Uneven),
        of(Label::Ripples),
        plain.label.name(),
        plain.rate,
        found.local.rate(0.0),
        plain.straight
    );
    let agreement = match plain.label {
        Label::Linear if of(Label::Linear) == between.len() => Agreement::Agrees,
        Label::Linear => Agreement::Partly,
        _ => Agreement::Differs,
    };
    (measured, agreement)
}

/// Whether momentum is faster than none.
fn faster(found: &Measured, findings: &Findings<'_>) -> (String, Agreement) {
    // The paper's own constant, as far as it converges here.
    let quarter = found.panels.iter().flatten().find(|t| t.tau == 0.25 && t.label.converges());
    let quarter = quarter.filter(|_| findings.best.is_some()).map(|t| t.rate.ln() / found.plain.rate.ln());
    let gain = |name: &str, gain: Option<(f64, f64)>| {
        gain.map(|(tau, gain)| format!("{name} τ = {}: {gain:.2} × the digits a move", digits(tau, 3)))
    };
    let measured = [
        gain("best", findings.best.map(|(best, gain)| (best.tau, gain))),
        gain("the paper's", quarter.map(|gain| (0.25, gain))),
        gain("best by linear algebra", found.local.best()),
    ];
    let agreement = match (findings.best.map(|best| best.1), quarter) {
        (_, Some(gain)) if gain > 1.0 => Agreement::Agrees,
        (Some(gain), _) if gain > 1.0 => Agreement::Partly,
        (Some(_), _) => Agreement::Differs,
        (None, _) => Agreement::Open,
    };
    let [least, largest] = found.local.rho.map(|rho| digits(rho, 3));
    let measured = measured.into_iter().flatten().collect::<Vec<_>>().join("; ");
    (format!("{measured}; ρ from {largest} to {least}"), agreement)
}

/// Whether the published range is one.
fn range(found: &Measured, findings: &Findings<'_>) -> (String, Agreement) {
    let published = found.of_k.published_momentum();
    let magnitude = by_magnitude(found.of_k.xi());
    let inside = |low: f64, high: f64| found.grid.iter().filter(move |t| (low..=high).contains(&t.tau));
    let (low, high) = published.unwrap_or((-magnitude, magnitude));
    let converge = inside(low, high).filter(|t| t.label.converges()).count();
    let all = inside(low, high).count();
    let others = found
        .plain_share()
        .map_or(String::new(), |share| format!("; plain IHT converges on {:.0} % of the other toys", 100.0 * share));
    let measured = format!(
        "published range: {}; exact: {}; measured: {}; {converge} of {all} τ with |τ| ≤ {magnitude:.2}, the published range by \
         its magnitude, converge{others}",
        ends(published),
        ends(found.of_k.exact_momentum()),
        ends(findings.range)
    );
    (measured, Agreement::of(published.is_some() && converge == all))
}

/// f − f* against the iteration, in three panels.
fn panels(config: &Config, found: &Measured) -> Vec<Panel> {
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
        let points = finite(trial.gaps.iter().take(config.shown + 1).enumerate().map(|(i, gap)| (i as f64, *gap)));
        let plain = if trial.tau == 0.0 { ", plain IHT" } else { "" };
        let name = format!("τ = {}{plain}: {}", trial.tau, trial.label.name()).replace('-', "−");
        let stroke = match trial.label {
            Label::Linear => Stroke::Solid,
            Label::Uneven | Label::Ripples => Stroke::Dashed,
            Label::Stalls | Label::Wanders | Label::Diverges => Stroke::Dotted,
        };
        Curve::new(name, ink(trial.tau), points).stroked(stroke)
    };
    let panel = |(title, trials): (&str, &Vec<Trial>)| {
        let x = Axis::linear("iteration").between(0.0, config.shown as f64);
        let y = Axis::log("f(x) − f(x*)").between(1e-20 * start, 1e6 * start);
        Panel::chart(title, x, y, trials.iter().map(curve).collect())
    };
    let titles = ["Negative momentum", "Around plain IHT", "Positive momentum"];
    titles.into_iter().zip(&found.panels).map(panel).collect()
}

/// The points that have a place.
fn finite(points: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
    points.filter(|(_, y)| y.is_finite()).collect()
}

/// The ranges of the theory, as far as they lie on the grid. Where the published one is empty: what it would be by its
/// magnitude.
fn shades(config: &Config, of_k: &Conditioning) -> Vec<Shade> {
    let shade = |(from, to): (f64, f64), label: &str, ink| {
        let (from, to) = (from.max(config.tau.from), to.min(config.tau.to));
        (from < to).then(|| Shade { from, to, label: label.into(), ink })
    };
    let exact = of_k.exact_momentum().and_then(|range| shade(range, "exact range", Ink::Guide));
    let magnitude = by_magnitude(of_k.xi());
    let published = match of_k.published_momentum() {
        Some(range) => shade(range, "published range", Ink::Scale(0.5)),
        None => shade((-magnitude, magnitude), "published, by magnitude", Ink::Scale(0.5)),
    };
    [exact, published].into_iter().flatten().collect()
}

/// Rates over τ, and how many toys converge.
fn ranges(config: &Config, found: &Measured) -> Vec<Panel> {
    let (low, high) = found.local.range();
    let on_the_grid = |x: &f64| (config.tau.from..=config.tau.to).contains(x);
    let place = |x| Place { x, label: format!("linear algebra: {}", digits(x, 2)) };
    let allowed = finite(found.grid.iter().map(|t| (t.tau, found.local.rate(t.tau))));
    let mut curves = vec![Curve::new("linear algebra on the planted support", Ink::Guide, allowed)];
    for (label, shade) in Label::ALL.into_iter().zip(LABELS) {
        let points = finite(found.grid.iter().filter(|t| t.label == label).map(|t| (t.tau, t.rate)));
        if !points.is_empty() {
            curves.push(Curve::new(label.name(), Ink::Scale(shade), points).stroked(Stroke::Points));
        }
    }
    let panel = |title: String, y, curves, places| {
        let x = Axis::linear("momentum τ").between(config.tau.from, config.tau.to);
        Panel { title, body: Body::Chart(Chart { x, y, curves, shades: shades(config, &found.of_k), places }) }
    };
    let places = [low, high].into_iter().filter(on_the_grid).map(place).collect();
    let rate = Axis::log("factor of the gap in one iteration");
    let mut panels = vec![panel("This toy: the measured rate".into(), rate, curves, places)];
    if config.toys > 0 {
        let share = |pick: fn(&Share) -> f64| found.shares.iter().map(|s| (s.tau, pick(s))).collect();
        let curves = vec![
            Curve::new("τ within the range of linear algebra", Ink::Guide, share(|s| s.expected)),
            Curve::new("converges", Ink::Scale(0.0), share(|s| s.converges)),
        ];
        let shares = Axis::linear("share of toys").between(0.0, 1.05);
        panels.push(panel(format!("{} other toys", config.toys), shares, curves, vec![]));
    }
    panels
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Request;

    #[test]
    fn digits_have_a_minus_sign_and_zero_has_none() {
        let words = [digits(-1.005, 1), digits(-0.001, 2), digits(0.25, 2), digits(f64::NEG_INFINITY, 2)];
        assert_eq!(words, ["−1.0", "0.00", "0.25", "−∞"]);
        // At the published ξ = 0.94 the formula gives −0.36.
        assert!((by_magnitude(0.94) - 0.3625).abs() < 1e-3);
    }

    /// The published range is seen, whether it is empty or not, and no shade leaves the grid.
    #[test]
    fn the_published_range_is_always_shaded() {
        let config: Config = Experiment::Momentum.settings(&Request::default()).unwrap();
        let labels = |alpha, beta| {
            let found = shades(&config, &Conditioning::new(alpha, beta).unwrap());
            assert!(found.iter().all(|s| s.from >= config.tau.from && s.to <= config.tau.to));
            found.into_iter().map(|s| s.label).collect::<Vec<_>>()
        };
        assert_eq!(labels(0.64, 1.78).last().unwrap(), "published, by magnitude");
        assert_eq!(labels(1.0, 1.4).last().unwrap(), "published range");
        assert_eq!(labels(1.0, 1.0).len(), 2);
    }
}
