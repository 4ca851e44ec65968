//! The figures of `momentum`.

use katoms::theory::Conditioning;

use super::findings::{Findings, by_magnitude, caption_xi, converging_within, digits, span};
use super::trial::{Label, Trial};
use super::{Config, GOLDEN, Measured, Share};
use crate::Contestant;
use crate::figure::{Axis, Body, Chart, Curve, Figure, Ink, Panel, Place, Shade, Stroke};

/// f − f* against the iteration, in three panels.
pub(super) fn panels(config: &Config, found: &Measured) -> Figure {
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
        let points = finite(shown.map(|(i, gap)| (i as f64, *gap)));
        let name = if trial.tau == 0.0 {
            "τ = 0, plain IHT".into()
        } else {
            format!("τ = {}", trial.tau).replace('-', "−")
        };
        let stroke = match trial.label {
            Label::Linear => Stroke::Solid,
            Label::Uneven | Label::Ripples => Stroke::Dashed,
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
            "Solid: converges along a line; dashed: unevenly or with ripples; dotted: does not converge. Left: {}. Middle: {}. Right: \
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

/// Where each label lies on the scale: the calm ones dark, what ripples and diverges ever more orange.
const LABELS: [f64; 6] = [0.0, 0.4, 0.7, -0.5, -1.0, 1.0];

/// Rates over τ, and how many toys converge.
pub(super) fn ranges(config: &Config, found: &Measured, findings: &Findings<'_>) -> Figure {
    let (low, high) = found.local.range();
    let places: Vec<Place> = [low, high]
        .into_iter()
        .filter(|x| (config.tau.from..=config.tau.to).contains(x))
        .map(|x| Place { x, label: format!("linear algebra: {}", digits(x, 2)) })
        .collect();
    let mut curves = vec![Curve::new(
        "linear algebra on the planted support",
        Ink::Guide,
        finite(found.grid.iter().map(|t| (t.tau, found.local.rate(t.tau)))),
    )];
    for (label, shade) in Label::ALL.into_iter().zip(LABELS) {
        let points: Vec<(f64, f64)> = finite(found.grid.iter().filter(|t| t.label == label).map(|t| (t.tau, t.rate)));
        if !points.is_empty() {
            curves.push(Curve::new(label.name(), Ink::Scale(shade), points).stroked(Stroke::Points));
        }
    }
    let tau = || Axis::linear("momentum τ").between(config.tau.from, config.tau.to);
    let shades = shades(config, &found.of_k);
    let rates =
        Chart { x: tau(), y: Axis::log("factor of the gap in one iteration"), curves, shades: shades.clone(), places };
    let share = |pick: fn(&Share) -> f64| found.shares.iter().map(|s| (s.tau, pick(s))).collect();
    let shares = Chart {
        x: tau(),
        y: Axis::linear("share of toys").between(0.0, 1.05),
        curves: vec![
            Curve::new("τ within the range of linear algebra", Ink::Guide, share(|s| s.expected)),
            Curve::new("converges", Ink::Scale(0.0), share(|s| s.share)),
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
        Some(range) => format!("Shaded: the exact range at ξ = {xi:.2}, {}.", span(range, 2)),
        None => format!("The exact range is empty at ξ = {xi:.2}."),
    };
    let published = match found.of_k.published_momentum() {
        Some(range) => format!("Shaded as well: the published range, {}.", span(range, 2)),
        None => {
            let magnitude = by_magnitude(xi);
            let (converge, all) = converging_within(found, (-magnitude, magnitude));
            format!(
                "The published range is empty: φ√ξ = {:.2} is not below 1. With 1 − α/β = {:.2} for ξ, as the paper's \
                 caption has it, it is {}. Shaded is what the formula gives by its magnitude, |τ| ≤ {magnitude:.2}: {converge} \
                 of {all} τ in there converge.",
                GOLDEN * xi.sqrt(),
                caption_xi(found),
                if GOLDEN * caption_xi(found).sqrt() < 1.0 { "not empty" } else { "empty too" }
            )
        }
    };
    let measured = match findings.range {
        Some(range) => format!("Measured: {}.", span(range, 2)),
        None => "Measured: no range around 0 converges.".into(),
    };
    let others = found.plain_share().map_or_else(String::new, |share| {
        format!(
            " Right: without momentum {:.0} % of {} other toys, drawn in the same way, converge.",
            100.0 * share,
            config.toys
        )
    });
    format!("{exact} {published} {measured}{others}")
}

#[cfg(test)]
mod tests {
    use katoms::theory::TheoryError;

    use super::*;
    use crate::{Error, Request};

    /// The published range is seen, whether it is empty or not, and no shade leaves the grid.
    #[test]
    fn the_published_range_is_always_shaded() -> Result<(), Error> {
        let config: Config = crate::Experiment::Momentum.settings(&Request::default())?;
        let shaded = |alpha: f64, beta: f64| -> Result<Vec<Shade>, TheoryError> {
            Ok(shades(&config, &Conditioning::new(alpha, beta)?))
        };
        let of = |found: &[Shade], label: &str| found.iter().any(|s| s.label == label);
        let (empty, not, every) = (shaded(0.64, 1.78), shaded(1.0, 1.4), shaded(1.0, 1.0));
        let [empty, not, every] = [empty, not, every].map(|found| found.expect("curvature"));
        assert!(of(&empty, "published, by magnitude") && !of(&empty, "published range"));
        assert!(of(&not, "published range") && !of(&not, "published, by magnitude"));
        assert!(every.iter().all(|s| s.from == config.tau.from && s.to == config.tau.to));
        Ok(())
    }
}
