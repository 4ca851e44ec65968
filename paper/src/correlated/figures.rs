//! Figures of `correlated`: means by sparsity level, and differences, in which methods that are nearly alike part.

use super::Config;
use super::comparison::{ERRORS, Mean, Measure};
use super::field::{Entrant, FIELD};
use super::report::View;
use crate::Contestant;
use crate::figure::{Axis, Body, Chart, Curve, Figure, Ink, Panel, Place, Stroke};

/// Standard errors on either side of a mean: 95 % of the normal distribution.
const BAND: f64 = 1.96;
/// Those whose differences may hide the others': panels are fitted to the rest, and these are cut at the border.
const FAR_OFF: [Contestant; 2] = [Contestant::Lasso, Contestant::Oblivious];

/// Above and below what a panel is fitted to, as a share of it.
const MARGIN: f64 = 0.05;

/// Three panels over the sparsity level.
pub(super) fn means(config: &Config, view: &View<'_>) -> Figure {
    let panel = |measure: Measure| {
        let curve = |(at, entrant): (usize, &Entrant)| {
            curve(view, entrant, BAND, |level| view.found.mean(level, at, |s| measure.of(s)))
        };
        let curves = FIELD.iter().enumerate().map(curve).collect();
        panel(config, measure, Axis::linear(measure.name()), curves)
    };
    let by = |measure| view.by(Contestant::AccIht, measure);
    Figure {
        name: "correlated".into(),
        title: "Support, prediction and fit by sparsity level".into(),
        caption: format!(
            "Means over {} draws; bands are 95 % intervals of the mean. AccIHT (paper) is better than the paper's four \
             rivals or equal, level by level, in {} comparisons of the support, {} of the prediction, {} of the fit.",
            view.found.draws(),
            by(Measure::Auc),
            by(Measure::Test),
            by(Measure::Likelihood),
        ),
        columns: 3,
        panels: Measure::ALL.map(panel).into(),
    }
}

/// How far each is above AccIHT as the paper sets it, draw by draw.
pub(super) fn differences(config: &Config, view: &View<'_>) -> Figure {
    let theirs = View::place(Contestant::AccIht);
    let others = || FIELD.iter().enumerate().filter(|(at, _)| *at != theirs);
    let curves = |measure: Measure| -> Vec<(Entrant, Curve)> {
        let of = |at: usize| move |level: usize| view.found.difference(level, at, theirs, measure);
        others().map(|(at, entrant)| (*entrant, curve(view, entrant, ERRORS, of(at)))).collect()
    };
    let drawn = Measure::ALL.map(|measure| (measure, curves(measure)));
    let cut = cut(&drawn);
    let panel = |(measure, curves): (Measure, Vec<(Entrant, Curve)>)| {
        let axis = Axis::linear(format!("{}, less AccIHT's", measure.name()));
        let axis = match fitting(&curves) {
            Some((low, high)) => axis.between(low, high),
            None => axis,
        };
        let zero = view.found.levels.iter().map(|&k| (k as f64, 0.0)).collect();
        let zero = Curve::new(Contestant::AccIht.label(), Ink::Of(Contestant::AccIht), zero);
        panel(config, measure, axis, curves.into_iter().map(|(_, curve)| curve).chain([zero]).collect())
    };
    let above = |measure: Measure| {
        let search = View::place(Contestant::Search);
        let clear = |&&level: &&usize| {
            let difference = view.found.difference(level, search, theirs, measure);
            difference.value > ERRORS * difference.error
        };
        view.all_levels.iter().filter(clear).count()
    };
    let levels = view.all_levels.len();
    Figure {
        name: "correlated-differences".into(),
        title: "The same, as differences from AccIHT (paper)".into(),
        caption: format!(
            "Paired differences over the same {} draws, with {ERRORS} standard errors on either side; above zero is better. \
             {cut}katoms, search is clearly above at {} of {levels} levels in the support, {} in prediction, {} in the fit.",
            view.found.draws(),
            above(Measure::Auc),
            above(Measure::Test),
            above(Measure::Likelihood),
        ),
        columns: 3,
        panels: drawn.map(panel).into(),
    }
}

/// From where to where zero and all but those far off lie, bands and a margin included; `None` where that is a point.
fn fitting(curves: &[(Entrant, Curve)]) -> Option<(f64, f64)> {
    let near = |(entrant, _): &&(Entrant, Curve)| entrant.refitted || !FAR_OFF.contains(&entrant.contestant);
    let ends = curves.iter().filter(near).flat_map(|(_, c)| &c.band).flat_map(|(_, low, high)| [*low, *high]);
    let fold = |(least, most): (f64, f64), v: f64| (least.min(v), most.max(v));
    let (least, most) = ends.filter(|v| v.is_finite()).fold((0.0, 0.0), fold);
    let margin = MARGIN * (most - least);
    (margin > 0.0).then_some((least - margin, most + margin))
}

/// Whose curves leave their panels, and which; with a blank behind it, or nothing.
fn cut(drawn: &[(Measure, Vec<(Entrant, Curve)>)]) -> String {
    let mut told: Vec<(String, Vec<&str>)> = Vec::new();
    for (measure, curves) in drawn {
        let Some((low, high)) = fitting(curves) else { continue };
        let leaves = |curve: &Curve| curve.points.iter().any(|(_, y)| !(low..=high).contains(y));
        for (entrant, _) in curves.iter().filter(|(_, curve)| leaves(curve)) {
            let (label, panel) = (entrant.label(), in_words(*measure));
            match told.iter_mut().find(|(of, _)| *of == label) {
                Some((_, panels)) => panels.push(panel),
                None => told.push((label, vec![panel])),
            }
        }
    }
    let told: Vec<String> = told.iter().map(|(label, panels)| format!("{label} ({})", panels.join(", "))).collect();
    if told.is_empty() {
        return String::new();
    }
    format!("Where they leave the panel, curves are cut at its border: {}. ", told.join("; "))
}

/// What a panel is about.
fn in_words(measure: Measure) -> &'static str {
    match measure {
        Measure::Auc => "the support",
        Measure::Test => "the prediction",
        Measure::Likelihood => "the fit",
    }
}

/// An entrant's line over the levels, with so many standard errors on either side.
fn curve(view: &View<'_>, entrant: &Entrant, errors: f64, mean: impl Fn(usize) -> Mean) -> Curve {
    let means: Vec<(f64, Mean)> = view.all_levels.iter().map(|&at| (view.found.levels[at] as f64, mean(at))).collect();
    let band = means.iter().map(|(k, m)| (*k, m.value - errors * m.error, m.value + errors * m.error)).collect();
    let points = means.iter().map(|(k, m)| (*k, m.value)).collect();
    let stroke = if entrant.refitted { Stroke::Dashed } else { Stroke::Solid };
    Curve::new(entrant.label(), Ink::Of(entrant.contestant), points).banded(band).stroked(stroke)
}

fn panel(config: &Config, measure: Measure, y: Axis, curves: Vec<Curve>) -> Panel {
    let title = match measure {
        Measure::Auc => "The support",
        Measure::Test => "The prediction",
        Measure::Likelihood => "The fit",
    };
    let places = vec![Place { x: config.k as f64, label: "true k".into() }];
    let chart = Chart { x: Axis::linear("sparsity level k"), y, curves, shades: vec![], places };
    Panel { title: title.into(), body: Body::Chart(chart) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A curve with a narrow band.
    fn at(entrant: Entrant, values: [f64; 2]) -> (Entrant, Curve) {
        let points = [(1.0, values[0]), (2.0, values[1])];
        let band = points.map(|(x, y)| (x, y - 0.1, y + 0.1)).into();
        (entrant, Curve::new(entrant.label(), Ink::Guide, points.into()).banded(band))
    }

    /// The Lasso below the panel at one level and inside at the other: its curve is cut, and the caption says so.
    #[test]
    fn those_far_off_are_cut_and_told_only_where_they_leave() {
        let [lasso, oblivious, near] = [FIELD[1], FIELD[2], FIELD[3]];
        let curves = |lowest: f64| vec![at(near, [-0.9, 0.9]), at(lasso, [lowest, 0.5]), at(oblivious, [0.0, 0.0])];
        let (low, high) = fitting(&curves(-9.0)).expect("a range");
        assert!((low + 1.1).abs() < 1e-12 && (high - 1.1).abs() < 1e-12);
        let told = cut(&[(Measure::Auc, curves(-9.0)), (Measure::Test, curves(0.0))]);
        assert!(told.contains("Lasso (the support).") && !told.contains("blivious"), "{told}");
        assert_eq!(cut(&[(Measure::Auc, curves(0.0))]), "");
        assert_eq!(fitting(&[]), None);
    }
}
