//! Predictions beside the truth.

use super::super::Regression;
use super::super::axis::Axis;
use super::super::chart::{Chart, Key, Shape, Spot};
use super::super::diagnostics::{Bin, Roc};
use super::super::number::{counted, percent, short};
use super::super::svg::Tone;
use super::square;

/// So many points at most: more hide each other.
const POINTS: usize = 1000;

/// Observed against predicted.
pub(in super::super) fn scatter(regression: &Regression, width: f64) -> Option<String> {
    let rows = regression.observed.iter().zip(&regression.predicted);
    let sound: Vec<(f64, f64)> = rows.map(|(o, p)| (*p, *o)).filter(|(p, o)| p.is_finite() && o.is_finite()).collect();
    let every = sound.len().div_ceil(POINTS).max(1);
    let points: Vec<(f64, f64)> = sound.iter().copied().step_by(every).collect();
    let values = || points.iter().flat_map(|p| [p.0, p.1]);
    let x = Axis::linear("predicted", values())?;
    let y = Axis::linear("observed", values())?;
    let (low, high) = (x.low(), x.high());
    let mut chart = Chart::new("Observed against predicted values", square(width), x, y);
    chart.line(Tone::Guide, &[(low, low), (high, high)]);
    let spot =
        |&(p, o): &(f64, f64)| Spot { x: p, y: o, title: format!("observed {}, predicted {}", short(o), short(p)) };
    chart.points(Tone::Model, Shape::Speck, &points.iter().map(spot).collect::<Vec<_>>());
    let what = if every > 1 { format!("every {every}th row") } else { counted(points.len(), "row") };
    chart.explain(Tone::Model, Key::Point(Shape::Speck), &what);
    chart.explain(Tone::Guide, Key::Line, "observed = predicted");
    Some(chart.finish())
}

/// The share of positives found against the share of false alarms.
pub(in super::super) fn roc(roc: &Roc, width: f64) -> Option<String> {
    let x = Axis::shares("false alarms: negative rows called positive")?;
    let y = Axis::shares("found: positive rows called positive")?;
    let mut chart = Chart::new(&format!("ROC curve, area {:.3}", roc.auc), square(width), x, y);
    chart.line(Tone::Guide, &[(0.0, 0.0), (1.0, 1.0)]);
    let mut line: Vec<(f64, f64)> = roc.points.iter().map(|p| (p.false_positives, p.true_positives)).collect();
    // What falls into the same pixel is one point. The last stays, so the curve ends in its corner.
    let pixel = |v: f64| (v * 1000.0).round();
    line.dedup_by_key(|p| (pixel(p.0), pixel(p.1)));
    line.push((1.0, 1.0));
    chart.bold_line(Tone::Model, &line);
    chart.explain(Tone::Model, Key::Line, &format!("the model, AUC {:.3}", roc.auc));
    chart.explain(Tone::Guide, Key::Line, "by chance");
    Some(chart.finish())
}

/// The share of positives among rows of about the same probability, with a 95 % interval.
pub(in super::super) fn calibration(bins: &[Bin], width: f64) -> Option<String> {
    let x = Axis::shares("predicted probability")?;
    let y = Axis::shares("observed share")?;
    let mut chart = Chart::new("Calibration: observed share against predicted probability", square(width), x, y);
    chart.line(Tone::Guide, &[(0.0, 0.0), (1.0, 1.0)]);
    let bars: Vec<_> = bins.iter().map(|b| (b.predicted, wilson(b).0, wilson(b).1)).collect();
    chart.whiskers(Tone::Model, &bars);
    chart.line(Tone::Model, &bins.iter().map(|b| (b.predicted, b.observed)).collect::<Vec<_>>());
    let title = |b: &Bin| {
        format!("{}: predicted {}, observed {}", counted(b.count, "row"), percent(b.predicted), percent(b.observed))
    };
    let spots = bins.iter().map(|b| Spot { x: b.predicted, y: b.observed, title: title(b) });
    chart.points(Tone::Model, Shape::Disc, &spots.collect::<Vec<_>>());
    chart.explain(Tone::Model, Key::Point(Shape::Disc), "rows of a tenth, 95 % interval");
    chart.explain(Tone::Guide, Key::Line, "as it should be");
    Some(chart.finish())
}

/// Wilson's interval for a share, at 95 %: it stays within 0 and 1, and has a width where all rows agree.
fn wilson(bin: &Bin) -> (f64, f64) {
    const Z: f64 = 1.959_963_984_540_054;
    let (n, p) = (bin.count as f64, bin.observed);
    let scale = 1.0 + Z * Z / n;
    let centre = (p + Z * Z / (2.0 * n)) / scale;
    let half = Z / scale * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).max(0.0).sqrt();
    ((centre - half).max(0.0), (centre + half).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_from_the_literature() {
        // 9 of 10: 0.596 to 0.982.
        let bin = Bin { lower: 0.9, upper: 1.0, count: 10, predicted: 0.95, observed: 0.9 };
        let (low, high) = wilson(&bin);
        assert!((low - 0.596).abs() < 5e-4 && (high - 0.982).abs() < 5e-4, "{low} {high}");
    }

    #[test]
    fn many_rows_are_thinned() {
        let observed: Vec<f64> = (0..25_000).map(f64::from).collect();
        let regression = Regression { predicted: observed.clone(), observed, ..Regression::default() };
        let svg = scatter(&regression, 400.0).unwrap();
        // One more is in the legend.
        assert_eq!(svg.matches("\"speck").count(), 1001);
        assert!(svg.contains("every 25th row"));
    }
}
