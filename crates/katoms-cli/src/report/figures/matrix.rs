//! The spectrum of a completed matrix, and the error at each rank.

use super::super::Completion;
use katoms_charts::axis::Axis;
use katoms_charts::chart::{Chart, Shape, Size, Spot};
use katoms_charts::number::short;
use katoms_charts::svg::Tone;

fn size(width: f64) -> Size {
    Size { width, height: 220.0 }
}

pub(in super::super) fn singular_values(completion: &Completion, width: f64) -> Option<String> {
    let values: Vec<f64> = completion.singular_values.iter().copied().filter(|v| v.is_finite()).collect();
    let [first, .., last] = &values[..] else { return None };
    let x = Axis::integers("index", (1..=values.len()).map(|i| i as f64))?;
    let zero = if *last > 0.0 && first / last > 20.0 { None } else { Some(0.0) };
    let y = Axis::log_where_wide("singular value", &values.iter().copied().chain(zero).collect::<Vec<_>>())?;
    let mut chart = Chart::new("Singular values of the completed matrix", size(width), x, y);
    let points: Vec<(f64, f64)> = values.iter().enumerate().map(|(i, v)| ((i + 1) as f64, *v)).collect();
    chart.line(Tone::Model, &points);
    let spot = |&(i, v): &(f64, f64)| Spot { x: i, y: v, title: format!("index {i}: {}", short(v)) };
    chart.points(Tone::Model, Shape::Disc, &points.iter().map(spot).collect::<Vec<_>>());
    Some(chart.finish())
}

pub(in super::super) fn rank_errors(completion: &Completion, width: f64) -> Option<String> {
    let ranks: Vec<_> = completion.ranks.iter().filter(|r| r.error.is_finite()).collect();
    if ranks.len() < 2 {
        return None;
    }
    let x = Axis::integers("rank", ranks.iter().map(|r| r.rank as f64))?;
    let title = format!("{} on entries held out", completion.measure);
    let y = Axis::linear(&title, ranks.iter().map(|r| r.error))?;
    let mut chart = Chart::new(&title, size(width), x, y);
    chart.line(Tone::Model, &ranks.iter().map(|r| (r.rank as f64, r.error)).collect::<Vec<_>>());
    let title = |rank: usize, error: f64| format!("rank {rank}: {}", short(error));
    let spots = ranks.iter().map(|r| Spot { x: r.rank as f64, y: r.error, title: title(r.rank, r.error) });
    chart.points(Tone::Model, Shape::Disc, &spots.collect::<Vec<_>>());
    if let Some(rank) = completion.chosen_rank {
        chart.place(Tone::Chosen, rank as f64, &format!("rank {rank}, chosen"));
    }
    Some(chart.finish())
}
