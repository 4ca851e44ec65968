//! The figures of `iid`: f and the support against passes and seconds.

use super::Results;
use super::runs::{Field, Run};
use crate::Contestant;
use crate::figure::{Axis, Curve, Panel, Stroke};
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

/// The runs of the methods that are given a sparsity.
fn given(results: &Results, field: Field) -> Vec<&Run> {
    THRESHOLDING.into_iter().filter_map(|c| results.run(c, field)).collect()
}

/// f against passes and seconds.
pub fn gaps(results: &Results) -> Vec<Panel> {
    let config = &results.config;
    let on_balls = |r: &&Run| matches!(r.field, Field::Corrected | Field::Uncorrected);
    let beside = [Contestant::AccIht, Contestant::Katoms].into_iter().filter_map(|c| results.run(c, Field::Exact));
    let balls: Vec<&Run> = results.runs.iter().filter(on_balls).chain(beside).collect();
    let lowest = BELOW_FLOOR * config.floor;
    let gap = |title: String, runs: &[&Run]| {
        [("passes", PASSES), ("seconds", SECONDS)].map(|(by, across)| {
            let curves = curves(runs, across, |run, at| (run.race.marks[at].objective / run.start).max(lowest));
            let y = Axis::log("(f − f*) / f(0)").between(lowest, 10.0);
            Panel::chart(format!("{title}, by {by}"), Axis::log(across.0), y, curves)
        })
    };
    let rows = [
        gap(format!("k = {}, exact", config.k), &given(results, Field::Exact)),
        gap(format!("k̂ = {}, overshot", config.overshot), &given(results, Field::Overshot)),
        gap(format!("Frank–Wolfe on the ℓ1 ball of {}", config.radius), &balls),
    ];
    rows.concat()
}

/// The support against passes.
pub fn supports(results: &Results) -> Vec<Panel> {
    let corrected = results.runs.iter().filter(|r| r.field == Field::Corrected);
    let exact: Vec<&Run> = given(results, Field::Exact).into_iter().chain(corrected).collect();
    let support = |title: String, runs: &[&Run]| {
        let curves = curves(runs, PASSES, |run, at| run.shares.get(at).copied().unwrap_or(0.0));
        let y = Axis::linear("share of the planted support").between(0.0, 1.05);
        Panel::chart(title, Axis::log(PASSES.0), y, curves)
    };
    vec![
        support(format!("k = {} and the ℓ1 ball", results.config.k), &exact),
        support(format!("k̂ = {}", results.config.overshot), &given(results, Field::Overshot)),
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
