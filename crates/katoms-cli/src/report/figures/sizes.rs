//! How the objective fell, and what each size brings.

use super::super::{Convergence, CrossValidation, HeldOutError, Path, PathSize, Step};
use super::landscape;
use katoms_charts::axis::Axis;
use katoms_charts::chart::{Chart, Key, Shape, Spot};
use katoms_charts::number::{counted, percent, short};
use katoms_charts::svg::Tone;

/// Marks of kinds of moves; a fifth kind shares the last.
const MARKS: [Shape; 4] = [Shape::Diamond, Shape::Triangle, Shape::Cross, Shape::Ring];

pub(in super::super) fn convergence(convergence: &Convergence, width: f64) -> Option<String> {
    let moves: Vec<&Step> = convergence.moves.iter().filter(|m| m.objective.is_finite()).collect();
    if moves.len() < 2 {
        return None;
    }
    let proven = |m: &Step| m.gap.filter(|gap| gap.is_finite()).map(|gap| m.objective - gap);
    let values: Vec<f64> = moves.iter().flat_map(|m| [Some(m.objective), proven(m)]).flatten().collect();
    let y = Axis::log_where_wide("objective", &values)?;
    let end = convergence.passes.filter(|passes| passes.is_finite());
    let x = Axis::integers("passes over the data", moves.iter().map(|m| m.passes).chain(end))?;
    let label = format!("The objective over {}", counted(moves.len(), "move"));
    let mut chart = Chart::new(&label, landscape(width), x, y);
    let line: Vec<(f64, f64)> = moves.iter().map(|m| (m.passes, m.objective)).collect();
    chart.line(Tone::Model, &line);
    chart.explain(Tone::Model, Key::Line, "objective");
    let lowest = moves.iter().map(|m| m.objective).fold(f64::INFINITY, f64::min);
    if let (Some(last), Some(end)) = (moves.last(), end.filter(|&end| moves.last().is_some_and(|m| end > m.passes))) {
        chart.line(Tone::Guide, &[(last.passes, lowest), (end, lowest)]);
        chart.explain(Tone::Guide, Key::Line, "passes that found nothing lower");
    }
    let bounds: Vec<(f64, f64)> = moves.iter().filter_map(|m| Some((m.passes, proven(m)?))).collect();
    if bounds.len() > 1 {
        chart.line(Tone::Other, &bounds);
        chart.explain(Tone::Other, Key::Line, "proven: not lower than this");
    }
    mark_kinds(&mut chart, &moves);
    Some(chart.finish())
}

fn mark_kinds(chart: &mut Chart, moves: &[&Step]) {
    let mut kinds: Vec<&str> = vec![];
    for kind in moves.iter().filter_map(|m| m.label.as_deref()) {
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    let spots = |wanted: Option<&str>| -> Vec<Spot> {
        let chosen = moves.iter().filter(|m| m.label.as_deref() == wanted);
        let title = |m: &Step| format!("{}: {} after {}", wanted.unwrap_or("move"), short(m.objective), m.passes);
        chosen.map(|m| Spot { x: m.passes, y: m.objective, title: title(m) }).collect()
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

type Curve = (&'static str, Tone, Vec<(f64, f64)>);

fn criterion_curves(path: &Path) -> Vec<Curve> {
    type Read = fn(&PathSize) -> Option<f64>;
    let all: [(&str, Tone, Read); 4] = [
        ("AIC", Tone::Aic, |s| s.aic),
        ("BIC", Tone::Bic, |s| s.bic),
        ("EBIC", Tone::Ebic, |s| s.ebic),
        ("GIC", Tone::Gic, |s| s.gic),
    ];
    let shifted = |read: Read| {
        let points = curve(path, read);
        let least = points.iter().map(|p| p.1).fold(f64::INFINITY, f64::min);
        points.into_iter().map(|(k, v)| (k, v - least)).collect()
    };
    let curves = all.map(|(name, tone, read)| (name, tone, shifted(read)));
    curves.into_iter().filter(|c: &Curve| c.2.len() > 1).collect()
}

fn curve(path: &Path, read: impl Fn(&PathSize) -> Option<f64>) -> Vec<(f64, f64)> {
    path.sizes.iter().filter_map(|s| Some((s.k as f64, read(s).filter(|v| v.is_finite())?))).collect()
}

/// Each criterion above its least value, against k; the loss where there are no criteria.
pub(in super::super) fn criteria(path: &Path, width: f64) -> Option<String> {
    let mut curves = criterion_curves(path);
    let y = if curves.is_empty() {
        let loss = curve(path, |s| Some(s.loss));
        let axis = Axis::linear("loss", loss.iter().map(|p| p.1));
        curves.push(("loss", Tone::Model, loss));
        axis?
    } else {
        Axis::differences("criterion, above its least value", curves.iter().flat_map(|c| &c.2).map(|p| p.1))?
    };
    if curves.iter().all(|c| c.2.len() < 2) {
        return None;
    }
    let x = Axis::integers("atoms k", curves.iter().flat_map(|c| &c.2).map(|p| p.0))?;
    let mut chart = Chart::new("What each size costs", landscape(width), x, y);
    for (name, tone, points) in &curves {
        if path.chosen_by.as_ref().is_some_and(|by| by.eq_ignore_ascii_case(name)) {
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

pub(in super::super) fn explained(path: &Path, width: f64) -> Option<String> {
    let points = curve(path, |s| s.explained);
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

pub(in super::super) fn cross_validation(validation: &CrossValidation, width: f64) -> Option<String> {
    let sound = |s: &HeldOutError| s.mean.is_finite() && s.error.is_finite();
    let sizes: Vec<HeldOutError> = validation.with_null().into_iter().filter(sound).collect();
    if sizes.len() < 2 {
        return None;
    }
    let x = Axis::integers("atoms k", sizes.iter().map(|s| s.k as f64))?;
    let values: Vec<f64> = sizes.iter().flat_map(|s| [s.mean - s.error, s.mean + s.error]).collect();
    let y = Axis::log_where_wide(&validation.measure, &values)?;
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
    if let Some(null) = validation.null.filter(|null| null.mean.is_finite()) {
        let ends = [0, sizes.iter().map(|s| s.k).max().unwrap_or(0)].map(|k| (k as f64, null.mean));
        chart.line(Tone::Guide, &ends);
        chart.explain(Tone::Guide, Key::Line, &format!("no features: {}", short(null.mean)));
    }
    let tone = |k| if validation.chosen.unwrap_or(validation.k_min) == k { Tone::Chosen } else { Tone::Other };
    let (least, smaller, best) = (validation.k_min, validation.k_1se, validation.best_word());
    let all = if least == smaller {
        vec![(least, format!("k_min = k_1se = {least}: {best}"))]
    } else {
        vec![(least, format!("k_min = {least}: {best}")), (smaller, format!("k_1se = {smaller}: within 1 SE"))]
    };
    for (k, text) in all {
        chart.place(tone(k), k as f64, &text);
    }
    Some(chart.finish())
}
