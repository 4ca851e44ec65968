//! How the objective fell, and what each size brings.

use super::super::axis::Axis;
use super::super::chart::{Chart, Key, Shape, Spot};
use super::super::number::{counted, percent, short};
use super::super::svg::Tone;
use super::super::{Convergence, CrossValidation, Path, PathSize, Step};
use super::landscape;

/// What an objective may differ by from rounding alone.
const ROUNDING: f64 = 1e-14;

/// Marks of kinds of moves; a seventh kind shares the last.
const MARKS: [Shape; 4] = [Shape::Diamond, Shape::Triangle, Shape::Cross, Shape::Ring];

/// The objective above its lowest value, by its logarithm, against passes.
pub(in super::super) fn convergence(convergence: &Convergence, width: f64) -> Option<String> {
    let moves: Vec<&Step> = convergence.moves.iter().filter(|m| m.objective.is_finite()).collect();
    if moves.len() < 2 {
        return None;
    }
    let lowest = moves.iter().map(|m| m.objective).fold(f64::INFINITY, f64::min);
    let above = |m: &Step| {
        let above = m.objective - lowest;
        if above > ROUNDING * lowest.abs() { above } else { 0.0 }
    };
    let proven = |m: &Step| m.gap.filter(|&gap| gap > 0.0);
    let values = moves.iter().flat_map(|m| [above(m), proven(m).unwrap_or(0.0)]);
    let y = Axis::log("objective, above the lowest reached", values)?;
    let x = Axis::integers("passes over the data", moves.iter().map(|m| m.passes))?;
    let floor = y.low();
    let height = |m: &Step| if above(m) > 0.0 { above(m) } else { floor };
    let label = format!("The objective over {}", counted(moves.len(), "move"));
    let mut chart = Chart::new(&label, landscape(width), x, y);
    let line: Vec<(f64, f64)> = moves.iter().map(|m| (m.passes, height(m))).collect();
    chart.line(Tone::Model, &line);
    chart.explain(Tone::Model, Key::Line, "objective (at the foot: the lowest reached)");
    let gaps: Vec<(f64, f64)> = moves.iter().filter_map(|m| Some((m.passes, proven(m)?))).collect();
    if gaps.len() > 1 {
        chart.line(Tone::Other, &gaps);
        chart.explain(Tone::Other, Key::Line, "proven distance from the minimum");
    }
    mark_kinds(&mut chart, &moves, &height);
    Some(chart.finish())
}

/// A mark for each kind of move. Plain ones get a disc where they are few.
fn mark_kinds(chart: &mut Chart, moves: &[&Step], height: &dyn Fn(&Step) -> f64) {
    let mut kinds: Vec<&str> = vec![];
    for kind in moves.iter().filter_map(|m| m.label.as_deref()) {
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    let spots = |wanted: Option<&str>| -> Vec<Spot> {
        let chosen = moves.iter().filter(|m| m.label.as_deref() == wanted);
        let title = |m: &Step| format!("{}: {} after {}", wanted.unwrap_or("move"), short(m.objective), m.passes);
        chosen.map(|m| Spot { x: m.passes, y: height(m), title: title(m) }).collect()
    };
    if moves.len() <= 150 {
        chart.points(Tone::Model, Shape::Disc, &spots(None));
    }
    for (place, kind) in kinds.iter().enumerate() {
        let shape = MARKS[place.min(MARKS.len() - 1)];
        chart.points(Tone::Chosen, shape, &spots(Some(kind)));
        chart.explain(Tone::Chosen, Key::Point(shape), kind);
    }
}

/// Each criterion above its least value, against k; the loss where there are no criteria.
pub(in super::super) fn criteria(path: &Path, width: f64) -> Option<String> {
    type Read = fn(&PathSize) -> Option<f64>;
    let all: [(&str, Tone, Read); 4] = [
        ("AIC", Tone::Aic, |s| s.aic),
        ("BIC", Tone::Bic, |s| s.bic),
        ("EBIC", Tone::Ebic, |s| s.ebic),
        ("GIC", Tone::Gic, |s| s.gic),
    ];
    let curve = |read: Read| -> Vec<(f64, f64)> {
        path.sizes.iter().filter_map(|s| Some((s.k as f64, read(s).filter(|v| v.is_finite())?))).collect()
    };
    let shifted = |points: Vec<(f64, f64)>| -> Vec<(f64, f64)> {
        let least = points.iter().map(|p| p.1).fold(f64::INFINITY, f64::min);
        points.into_iter().map(|(k, v)| (k, v - least)).collect()
    };
    let curves = all.iter().map(|(name, tone, read)| (*name, *tone, shifted(curve(*read))));
    let mut curves: Vec<_> = curves.filter(|c| c.2.len() > 1).collect();
    let title = if curves.is_empty() {
        curves.push(("loss", Tone::Model, curve(|s| Some(s.loss))));
        "loss"
    } else {
        "criterion, above its least value"
    };
    let x = Axis::integers("atoms k", curves.iter().flat_map(|c| &c.2).map(|p| p.0))?;
    let y = Axis::linear(title, curves.iter().flat_map(|c| &c.2).map(|p| p.1))?;
    let mut chart = Chart::new("What each size costs", landscape(width), x, y);
    let bold = path.chosen_by.as_deref().map(str::to_uppercase);
    for (name, tone, points) in &curves {
        if bold.as_deref() == Some(*name) {
            chart.bold_line(*tone, points);
        } else {
            chart.line(*tone, points);
        }
        let spot = |&(k, v): &(f64, f64)| Spot { x: k, y: v, title: format!("{name} at k = {k}: {}", short(v)) };
        if points.len() <= 60 {
            chart.points(*tone, Shape::Speck, &points.iter().map(spot).collect::<Vec<_>>());
        }
        if curves.len() > 1 {
            chart.explain(*tone, Key::Line, name);
        }
    }
    mark_chosen(&mut chart, path);
    Some(chart.finish())
}

/// The share explained, against k.
pub(in super::super) fn explained(path: &Path, width: f64) -> Option<String> {
    let shares = path.sizes.iter().filter_map(|s| Some((s.k as f64, s.explained.filter(|v| v.is_finite())?)));
    let points: Vec<(f64, f64)> = shares.collect();
    if points.len() < 2 {
        return None;
    }
    let name = if path.explained_name.is_empty() { "explained" } else { &path.explained_name };
    let x = Axis::integers("atoms k", points.iter().map(|p| p.0))?;
    let y = Axis::linear(name, points.iter().map(|p| p.1).chain([1.0]))?;
    let mut chart = Chart::new(&format!("{name} at each size"), landscape(width), x, y);
    chart.line(Tone::Model, &points);
    let spot = |&(k, v): &(f64, f64)| Spot { x: k, y: v, title: format!("k = {k}: {}", percent(v)) };
    chart.points(Tone::Model, Shape::Speck, &points.iter().map(spot).collect::<Vec<_>>());
    mark_chosen(&mut chart, path);
    Some(chart.finish())
}

fn mark_chosen(chart: &mut Chart, path: &Path) {
    if let Some(k) = path.chosen {
        let by = path.chosen_by.as_ref().map(|by| format!(" by {by}")).unwrap_or_default();
        chart.place(Tone::Chosen, k as f64, &format!("k = {k}, chosen{by}"));
    }
}

/// The error on rows held out, with one standard error up and down.
pub(in super::super) fn cross_validation(validation: &CrossValidation, width: f64) -> Option<String> {
    let sizes: Vec<_> = validation.sizes.iter().filter(|s| s.mean.is_finite() && s.error.is_finite()).collect();
    let ks = || sizes.iter().map(|s| s.k as f64);
    let x = Axis::integers("atoms k", ks())?;
    let y = Axis::linear(&validation.measure, sizes.iter().flat_map(|s| [s.mean - s.error, s.mean + s.error]))?;
    let label = format!("{} on rows held out, at each size", validation.measure);
    let mut chart = Chart::new(&label, landscape(width), x, y);
    let bars: Vec<_> = sizes.iter().map(|s| (s.k as f64, s.mean - s.error, s.mean + s.error)).collect();
    chart.band(Tone::Model, &bars);
    if bars.len() <= 60 {
        chart.whiskers(Tone::Model, &bars);
    }
    chart.line(Tone::Model, &sizes.iter().map(|s| (s.k as f64, s.mean)).collect::<Vec<_>>());
    let title = |k: usize, mean: f64, error: f64| format!("k = {k}: {} ± {}", short(mean), short(error));
    let spots = sizes.iter().map(|s| Spot { x: s.k as f64, y: s.mean, title: title(s.k, s.mean, s.error) });
    chart.points(Tone::Model, Shape::Disc, &spots.collect::<Vec<_>>());
    chart.explain(Tone::Model, Key::Line, &format!("mean of {}", counted(validation.folds, "fold")));
    chart.explain(Tone::Model, Key::Band, "± one standard error");
    let tone = |k| if validation.chosen.unwrap_or(validation.k_min) == k { Tone::Chosen } else { Tone::Other };
    let (least, smaller) = (validation.k_min, validation.k_1se);
    let all = if least == smaller {
        vec![(least, format!("k_min = k_1se = {least}: least error"))]
    } else {
        vec![
            (least, format!("k_min = {least}: least error")),
            (smaller, format!("k_1se = {smaller}: within one error")),
        ]
    };
    for (k, text) in all {
        chart.place(tone(k), k as f64, &text);
    }
    Some(chart.finish())
}
