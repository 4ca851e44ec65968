//! The figures of `iid`: f and the support against passes and seconds.

use super::Results;
use super::runs::{Field, Run};
use crate::Contestant;
use crate::figure::{Axis, Curve, Figure, Panel, Stroke};
use crate::race::Mark;

/// Points of a curve that lie closer than this, as a ratio on a log axis, are one.
const NEAR: f64 = 1.004;
/// What is below the floor of a run is drawn at its tenth.
const BELOW_FLOOR: f64 = 0.1;

/// What stands on the x axis: its title, and its value.
type Across = (&'static str, fn(&Mark) -> f64);
const PASSES: Across = ("passes over the data", |mark| mark.passes as f64);
const SECONDS: Across = ("seconds", |mark| mark.seconds);

/// The contestants that are given a sparsity, in drawing order.
const THRESHOLDING: [Contestant; 5] =
    [Contestant::Iht, Contestant::AccIht, Contestant::LineSearch, Contestant::ClosedForm, Contestant::Katoms];

pub fn figures(results: &Results) -> Vec<Figure> {
    let config = &results.config;
    let given = |field| THRESHOLDING.into_iter().filter_map(|c| results.run(c, field)).collect::<Vec<_>>();
    let (exact, overshot) = (given(Field::Exact), given(Field::Overshot));
    let on_balls = |r: &&Run| matches!(r.field, Field::Corrected | Field::Uncorrected);
    let beside = [Contestant::AccIht, Contestant::Katoms].into_iter().filter_map(|c| results.run(c, Field::Exact));
    let balls: Vec<&Run> = results.runs.iter().filter(on_balls).chain(beside).collect();
    let corrected = results.runs.iter().filter(|r| r.field == Field::Corrected);
    let with_balls: Vec<&Run> = exact.iter().copied().chain(corrected).collect();
    let lowest = BELOW_FLOOR * config.floor;
    let gap = |title: &str, runs: &[&Run]| {
        [("passes", PASSES), ("seconds", SECONDS)].map(|(by, across)| {
            let curves = curves(runs, across, |run, at| (run.race.marks[at].objective / run.start).max(lowest));
            let y = Axis::log("(f − f*) / f(0)").between(lowest, 10.0);
            Panel::chart(format!("{title}, by {by}"), Axis::log(across.0), y, curves)
        })
    };
    let support = |title: String, runs: &[&Run]| {
        let curves = curves(runs, PASSES, |run, at| run.shares.get(at).copied().unwrap_or(0.0));
        let y = Axis::linear("share of the planted support").between(0.0, 1.05);
        Panel::chart(title, Axis::log(PASSES.0), y, curves)
    };
    let gaps = [
        gap(&format!("k = {}, exact", config.k), &exact),
        gap(&format!("k̂ = {}, overshot", config.overshot), &overshot),
        gap(&format!("Frank–Wolfe on the ℓ1 ball of {}", config.radius), &balls),
    ];
    let supports = [
        support(format!("k = {} and the ℓ1 ball", config.k), &with_balls),
        support(format!("k̂ = {}", config.overshot), &overshot),
    ];
    let gap_caption = format!(
        "f as a share of f(0). The flat beginning of the paper's runs is λ_max ({} passes). When each run reaches which level \
         is in the table of costs.",
        results.prepared
    );
    let support_caption = "The share of the planted entries that the iterate has.";
    vec![
        Figure::new("iid", "How fast f falls", gap_caption, 2, gaps.concat()),
        Figure::new("iid-support", "How fast the support is found", support_caption.into(), 2, supports.into()),
    ]
}

/// One curve a run. What was spent before the first move is a flat line at the start's value.
fn curves(runs: &[&Run], (_, across): Across, value: impl Fn(&Run, usize) -> f64) -> Vec<Curve> {
    let positive = runs.iter().flat_map(|r| &r.race.marks).map(across).filter(|x| *x > 0.0);
    let left = positive.fold(f64::INFINITY, f64::min);
    let curve = |run: &&Run| {
        let points = run.race.marks.iter().enumerate().map(|(at, mark)| (across(mark).max(left), value(run, at)));
        let start = points.clone().next().map(|(_, y)| (left, y));
        let points = start.into_iter().chain(points).filter(|(x, y)| x.is_finite() && y.is_finite());
        let mut curve = Curve::of(run.race.contestant, thinned(points.collect()));
        if run.field == Field::Uncorrected {
            curve.label += ", not corrective";
            curve.stroke = Stroke::Dashed;
        }
        curve
    };
    runs.iter().map(curve).collect()
}

/// Without the points that a log axis cannot tell apart. First and last stay.
fn thinned(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let mut kept: Vec<(f64, f64)> = Vec::new();
    let last = points.len().saturating_sub(1);
    for (at, point) in points.into_iter().enumerate() {
        if at == last || kept.last().is_none_or(|k| point.0 >= NEAR * k.0) {
            kept.push(point);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_the_ends_and_what_can_be_told_apart() {
        let points: Vec<(f64, f64)> = (1..=1000).map(|i| (i as f64, 1.0 / i as f64)).collect();
        let kept = thinned(points.clone());
        assert_eq!((kept.first(), kept.last()), (points.first(), points.last()));
        assert!(kept.len() < 700 && kept.windows(2).all(|w| w[1].0 > w[0].0));
        assert_eq!(kept[..200], points[..200]);
        assert!(thinned(Vec::new()).is_empty());
    }
}
