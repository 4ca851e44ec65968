//! Means of counts and amounts, and survival.

use super::super::diagnostics::Tenth;
use super::super::outcomes::RiskGroup;
use super::{landscape, square};
use katoms_charts::axis::Axis;
use katoms_charts::chart::{Chart, Key, Shape, Spot};
use katoms_charts::number::{counted, percent, short};
use katoms_charts::svg::Tone;

/// The mean of what was observed against that of what is predicted, in ten groups, with two standard errors.
pub(in super::super) fn tenths(tenths: &[Tenth], width: f64) -> Option<String> {
    let bars: Vec<(f64, f64, f64)> =
        tenths.iter().map(|t| (t.predicted, t.observed - 2.0 * t.error, t.observed + 2.0 * t.error)).collect();
    if bars.iter().any(|bar| !(bar.0.is_finite() && bar.1.is_finite() && bar.2.is_finite())) {
        return None;
    }
    let values = || bars.iter().flat_map(|bar| [bar.0, bar.1.max(0.0), bar.2]);
    let x = Axis::linear("mean predicted", bars.iter().map(|bar| bar.0))?;
    let y = Axis::linear("mean observed", values())?;
    let ends = [x.low(), x.high()].map(|at| (at, at));
    let mut chart = Chart::new("Calibration: mean observed against mean predicted", square(width), x, y);
    chart.line(Tone::Guide, &ends);
    chart.whiskers(Tone::Model, &bars);
    let title = |t: &Tenth| {
        format!("{}: predicted {}, observed {}", counted(t.count, "row"), short(t.predicted), short(t.observed))
    };
    let spots = tenths.iter().map(|t| Spot { x: t.predicted, y: t.observed, title: title(t) });
    chart.points(Tone::Model, Shape::Disc, &spots.collect::<Vec<_>>());
    chart.explain(Tone::Model, Key::Point(Shape::Disc), "a tenth of the rows, ± two standard errors");
    chart.explain(Tone::Guide, Key::Line, "calibrated");
    Some(chart.finish())
}

/// The share without an event over time, of three groups of risk (Kaplan and Meier).
pub(in super::super) fn survival(groups: &[RiskGroup], target: &str, width: f64) -> Option<String> {
    let x = Axis::linear(target, groups.iter().flat_map(|group| group.curve.iter().map(|point| point.0)))?;
    let y = Axis::shares("without the event")?;
    let mut chart = Chart::new("Kaplan-Meier curves by thirds of predicted risk", landscape(width), x, y);
    for (group, tone) in groups.iter().zip([Tone::Model, Tone::Other, Tone::Lowering]) {
        let mut steps = Vec::with_capacity(2 * group.curve.len());
        for pair in group.curve.windows(2) {
            steps.extend([pair[0], (pair[1].0, pair[0].1)]);
        }
        steps.extend(group.curve.last());
        chart.bold_line(tone, &steps);
        let events = counted(group.events, "event");
        let last = group.curve.last().map_or(1.0, |point| point.1);
        let text =
            format!("{} risk: {}, {events}, {} at the end", group.name, counted(group.rows, "row"), percent(last));
        chart.explain(tone, Key::Line, &text);
    }
    Some(chart.finish())
}
