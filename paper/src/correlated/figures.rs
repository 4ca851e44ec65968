//! Figures of `correlated`: means by sparsity level, and differences, in which methods that are nearly alike part.

use super::Config;
use super::comparison::{ERRORS, Mean, Measure};
use super::field::{Entrant, FIELD};
use super::report::View;
use crate::Contestant;
use crate::figure::{Axis, Body, Chart, Curve, Figure, Ink, Panel, Place, Stroke};

/// Standard errors on either side of a mean: 95 % of the normal distribution.
const BAND: f64 = 1.96;
/// Those whose differences would hide the others'.
const FAR_OFF: [Contestant; 2] = [Contestant::Lasso, Contestant::Oblivious];

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
    let panel = |measure: Measure| {
        let shown = |(_, e): &(usize, &Entrant)| {
            e.contestant != Contestant::AccIht && (e.refitted || !FAR_OFF.contains(&e.contestant))
        };
        let curve = |(at, entrant): (usize, &Entrant)| {
            curve(view, entrant, ERRORS, |level| view.found.difference(level, at, theirs, measure))
        };
        let zero = view.found.levels.iter().map(|&k| (k as f64, 0.0)).collect();
        let zero = Curve::new(Contestant::AccIht.label(), Ink::Of(Contestant::AccIht), zero);
        let curves = FIELD.iter().enumerate().filter(shown).map(curve).chain([zero]).collect();
        panel(config, measure, Axis::linear(format!("{}, less AccIHT's", measure.name())), curves)
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
             Oblivious selection and the Lasso without refit are far below and left out. katoms, search is clearly above \
             at {} of {levels} levels in the support, {} in prediction, {} in the fit.",
            view.found.draws(),
            above(Measure::Auc),
            above(Measure::Test),
            above(Measure::Likelihood),
        ),
        columns: 3,
        panels: Measure::ALL.map(panel).into(),
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
