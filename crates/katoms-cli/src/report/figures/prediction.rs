//! Predictions beside the truth.

use super::super::Predictions;
use super::super::diagnostics::{Bin, Roc};
use super::square;
use katoms_charts::axis::Axis;
use katoms_charts::chart::{Chart, Key, Shape, Spot};
use katoms_charts::number::{counted, percent, short};
use katoms_charts::svg::Tone;

/// So many points at most: more hide each other.
const POINTS: usize = 1000;

/// So many rows at most, evenly picked, of those whose numbers are finite: (predicted, observed).
fn thinned(rows: &Predictions) -> (Vec<(f64, f64)>, String) {
    let pairs = rows.observed.iter().zip(&rows.predicted).map(|(o, p)| (*p, *o));
    let sound: Vec<(f64, f64)> = pairs.filter(|(p, o)| p.is_finite() && o.is_finite() && (o - p).is_finite()).collect();
    let every = sound.len().div_ceil(POINTS).max(1);
    let points: Vec<(f64, f64)> = sound.iter().copied().step_by(every).collect();
    let what = if every > 1 { format!("every {every}th row") } else { counted(points.len(), "row") };
    (points, what)
}

pub(in super::super) fn scatter(rows: &Predictions, width: f64) -> Option<String> {
    let (points, what) = thinned(rows);
    let values = || points.iter().flat_map(|p| [p.0, p.1]);
    let x = Axis::linear("predicted", values())?;
    let y = Axis::linear("observed", values())?;
    let (low, high) = (x.low(), x.high());
    let mut chart = Chart::new("Observed against predicted values", square(width), x, y);
    chart.line(Tone::Guide, &[(low, low), (high, high)]);
    let spot =
        |&(p, o): &(f64, f64)| Spot { x: p, y: o, title: format!("observed {}, predicted {}", short(o), short(p)) };
    chart.points(Tone::Model, Shape::Speck, &points.iter().map(spot).collect::<Vec<_>>());
    chart.explain(Tone::Model, Key::Point(Shape::Speck), &what);
    chart.explain(Tone::Guide, Key::Line, "observed = predicted");
    Some(chart.finish())
}

/// Residuals against predictions: a good model leaves no pattern.
pub(in super::super) fn residuals(rows: &Predictions, width: f64) -> Option<String> {
    let (points, what) = thinned(rows);
    let x = Axis::linear("predicted", points.iter().map(|p| p.0))?;
    let y = Axis::linear("residual: observed − predicted", points.iter().map(|p| p.1 - p.0).chain([0.0]))?;
    let ends = [(x.low(), 0.0), (x.high(), 0.0)];
    let mut chart = Chart::new("Residuals against predicted values", square(width), x, y);
    chart.line(Tone::Guide, &ends);
    let spot = |&(p, o): &(f64, f64)| Spot {
        x: p,
        y: o - p,
        title: format!("residual {}, predicted {}", short(o - p), short(p)),
    };
    chart.points(Tone::Model, Shape::Speck, &points.iter().map(spot).collect::<Vec<_>>());
    chart.explain(Tone::Model, Key::Point(Shape::Speck), &what);
    Some(chart.finish())
}

/// Sorted residuals against the quantiles of a normal distribution: on the line where they are normal.
pub(in super::super) fn normal_quantiles(rows: &Predictions, width: f64) -> Option<String> {
    let (points, what) = thinned(rows);
    let mut left: Vec<f64> = points.iter().map(|p| p.1 - p.0).collect();
    if left.len() < 3 {
        return None;
    }
    left.sort_by(f64::total_cmp);
    let count = left.len() as f64;
    let pairs: Vec<(f64, f64)> =
        left.iter().enumerate().map(|(i, &r)| (normal_quantile((i as f64 + 0.5) / count), r)).collect();
    let x = Axis::linear("normal quantile", pairs.iter().map(|p| p.0))?;
    let y = Axis::linear("residual: observed − predicted", left.iter().copied())?;
    let mean = left.iter().map(|r| r / count).sum::<f64>();
    let deviation = left.iter().map(|r| (r - mean).powi(2) / count).sum::<f64>().sqrt();
    let ends = [x.low(), x.high()].map(|z| (z, mean + deviation * z));
    let mut chart = Chart::new("Normal quantile plot of the residuals", square(width), x, y);
    chart.line(Tone::Guide, &ends);
    let spot = |&(z, r): &(f64, f64)| Spot { x: z, y: r, title: format!("residual {}", short(r)) };
    chart.points(Tone::Model, Shape::Speck, &pairs.iter().map(spot).collect::<Vec<_>>());
    chart.explain(Tone::Model, Key::Point(Shape::Speck), &what);
    chart.explain(Tone::Guide, Key::Line, "normal");
    Some(chart.finish())
}

/// The number that a standard normal one is below with this probability, to 5e-4 (Abramowitz and Stegun, 26.2.23).
fn normal_quantile(probability: f64) -> f64 {
    let tail = probability.min(1.0 - probability);
    let t = (-2.0 * tail.ln()).sqrt();
    let above = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let below = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    (t - above / below).copysign(probability - 0.5)
}

/// Sensitivity against the false positive rate: of rows held out where there are some, and of the rows of the fit.
pub(in super::super) fn roc(held_out: Option<&Roc>, fitted: Option<&Roc>, width: f64) -> Option<String> {
    let first = held_out.or(fitted)?;
    let x = Axis::shares("false positive rate (1 − specificity)")?;
    let y = Axis::shares("sensitivity (true positive rate)")?;
    let mut chart = Chart::new(&format!("ROC curve, area {:.3}", first.auc), square(width), x, y);
    chart.line(Tone::Guide, &[(0.0, 0.0), (1.0, 1.0)]);
    if let (Some(held_out), Some(fitted)) = (held_out, fitted) {
        chart.line(Tone::Other, &curve(fitted));
        chart.bold_line(Tone::Model, &curve(held_out));
        chart.explain(Tone::Model, Key::Line, &format!("rows held out, AUC {:.3}", held_out.auc));
        chart.explain(Tone::Other, Key::Line, &format!("rows of the fit, AUC {:.3}", fitted.auc));
    } else {
        chart.bold_line(Tone::Model, &curve(first));
        chart.explain(Tone::Model, Key::Line, &format!("the model, AUC {:.3}", first.auc));
    }
    chart.explain(Tone::Guide, Key::Line, "by chance");
    Some(chart.finish())
}

fn curve(roc: &Roc) -> Vec<(f64, f64)> {
    let mut line: Vec<(f64, f64)> = roc.points.iter().map(|p| (p.false_positives, p.true_positives)).collect();
    // What falls into the same pixel is one point. The last stays, so the curve ends in its corner.
    let pixel = |v: f64| (v * 1000.0).round();
    line.dedup_by_key(|p| (pixel(p.0), pixel(p.1)));
    line.push((1.0, 1.0));
    line
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
    chart.explain(Tone::Model, Key::Point(Shape::Disc), "rows of a tenth of the range, 95 % interval");
    chart.explain(Tone::Guide, Key::Line, "calibrated");
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
    fn normal_quantiles_are_those_of_tables() {
        for (probability, quantile) in [(0.5, 0.0), (0.8413, 1.0), (0.025, -1.96), (0.995, 2.576), (0.001, -3.090)] {
            assert!((normal_quantile(probability) - quantile).abs() < 6e-4, "{probability}");
        }
    }

    #[test]
    fn many_rows_are_thinned() {
        let observed: Vec<f64> = (0..25_000).map(f64::from).collect();
        let rows = Predictions { predicted: observed.clone(), observed, weights: vec![] };
        let svg = scatter(&rows, 400.0).unwrap();
        // One more is in the legend.
        assert_eq!(svg.matches("\"speck").count(), 1001);
        assert!(svg.contains("every 25th row"));
    }
}
