//! The figures of `iid`: f and the support against passes and seconds.

use super::Results;
use super::runs::{Field, Run};
use crate::Contestant;
use crate::figure::{Axis, Body, Chart, Curve, Figure, Panel, Stroke};
use crate::race::Mark;

/// Points of a curve that lie closer than this, as a ratio on a log axis, are one.
const NEAR: f64 = 1.004;
/// What is below the floor of a run is drawn at its tenth.
const BELOW_FLOOR: f64 = 0.1;

/// What stands on the x axis.
#[derive(Clone, Copy)]
enum Across {
    Passes,
    Seconds,
}

impl Across {
    fn of(self, mark: &Mark) -> f64 {
        match self {
            Self::Passes => mark.passes as f64,
            Self::Seconds => mark.seconds,
        }
    }

    fn axis(self) -> Axis {
        Axis::log(match self {
            Self::Passes => "passes over the data",
            Self::Seconds => "seconds",
        })
    }

    fn words(self) -> &'static str {
        match self {
            Self::Passes => "by passes",
            Self::Seconds => "by seconds",
        }
    }
}

/// The contestants that are given a sparsity, in drawing order.
const THRESHOLDING: [Contestant; 5] =
    [Contestant::Iht, Contestant::AccIht, Contestant::LineSearch, Contestant::ClosedForm, Contestant::Katoms];

pub(super) fn figures(results: &Results) -> Vec<Figure> {
    let given = |field| THRESHOLDING.into_iter().filter_map(move |c| results.run(c, field));
    let exact: Vec<&Run> = given(Field::Exact).collect();
    let overshot: Vec<&Run> = given(Field::Overshot).collect();
    let balls = results.runs.iter().filter(|r| matches!(r.field, Field::Corrected | Field::Uncorrected));
    let beside = [Contestant::AccIht, Contestant::Katoms].into_iter().filter_map(|c| results.run(c, Field::Exact));
    let balls: Vec<&Run> = balls.chain(beside).collect();
    let corrected = balls.iter().filter(|r| r.field != Field::Uncorrected).copied();
    let config = &results.config;
    let rows = [
        (format!("k = {}, exact", config.k), &exact),
        (format!("k̂ = {}, overshot", config.overshot), &overshot),
        (format!("Frank–Wolfe on the ℓ1 ball of {}", config.radius), &balls),
    ];
    let gaps = rows.iter().flat_map(|(title, runs)| {
        [Across::Passes, Across::Seconds].map(|across| Panel {
            title: format!("{title}, {}", across.words()),
            body: Body::Chart(gap_chart(runs, across, config.floor)),
        })
    });
    let supports = [
        (format!("k = {} and the ℓ1 ball", config.k), merged(&exact, corrected)),
        (format!("k̂ = {}", config.overshot), overshot.clone()),
    ];
    vec![
        Figure {
            name: "iid".into(),
            title: "How fast f falls".into(),
            caption: gap_caption(results, &balls),
            columns: 2,
            panels: gaps.collect(),
        },
        Figure {
            name: "iid-support".into(),
            title: "How fast the support is found".into(),
            caption: support_caption(results),
            columns: 2,
            panels: supports
                .into_iter()
                .map(|(title, runs)| Panel { title, body: Body::Chart(support_chart(&runs)) })
                .collect(),
        },
    ]
}

/// The runs of both, each once.
fn merged<'a>(first: &[&'a Run], second: impl Iterator<Item = &'a Run>) -> Vec<&'a Run> {
    let fresh = second.filter(|run| !first.iter().any(|known| std::ptr::eq(*known, *run)));
    first.iter().copied().chain(fresh.collect::<Vec<_>>()).collect()
}

fn gap_chart(runs: &[&Run], across: Across, floor: f64) -> Chart {
    let lowest = BELOW_FLOOR * floor;
    let value = |run: &Run, mark: &Mark, _: usize| (mark.objective / run.start).max(lowest);
    let curves = curves(runs, across, value);
    Chart {
        x: across.axis(),
        y: Axis::log("(f − f*) / f(0)").between(lowest, 10.0),
        curves,
        shades: Vec::new(),
        places: Vec::new(),
    }
}

fn support_chart(runs: &[&Run]) -> Chart {
    let curves = curves(runs, Across::Passes, |run, _, at| run.shares.get(at).copied().unwrap_or(0.0));
    Chart {
        x: Across::Passes.axis(),
        y: Axis::linear("share of the planted support").between(0.0, 1.05),
        curves,
        shades: Vec::new(),
        places: Vec::new(),
    }
}

/// One curve a run. What was spent before the first move is a flat line at the start's value.
fn curves(runs: &[&Run], across: Across, value: impl Fn(&Run, &Mark, usize) -> f64) -> Vec<Curve> {
    let positive = runs.iter().flat_map(|r| &r.race.marks).map(|m| across.of(m)).filter(|x| *x > 0.0);
    let left = positive.fold(f64::INFINITY, f64::min);
    let curve = |run: &&Run| {
        let points = run.race.marks.iter().enumerate();
        let points = points.map(|(at, mark)| (across.of(mark).max(left), value(run, mark, at)));
        let start = points.clone().next().map(|(_, y)| (left, y));
        let points = start.into_iter().chain(points).filter(|(x, y)| x.is_finite() && y.is_finite());
        let stroke = if run.field == Field::Uncorrected { Stroke::Dashed } else { Stroke::Solid };
        let contestant = run.race.contestant;
        let mut curve = Curve::of(contestant, thinned(points.collect())).stroked(stroke);
        if run.field == Field::Uncorrected {
            curve.label += ", not corrective";
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

/// "katoms after 6 passes", or that it does not.
fn reached(run: Option<&Run>, level: f64) -> String {
    let Some(run) = run else { return String::new() };
    let name = run.race.contestant.label();
    match run.reaches(level) {
        Some(mark) => format!("{name} after {} passes", mark.passes),
        None => format!("{name} not in {} passes", run.last().map_or(0, |m| m.passes)),
    }
}

fn gap_caption(results: &Results, balls: &[&Run]) -> String {
    let deepest = results.config.levels.last().copied().unwrap_or(1e-6);
    let all = |field| {
        let said: Vec<String> = THRESHOLDING.iter().map(|&c| reached(results.run(c, field), deepest)).collect();
        said.join("; ")
    };
    let corrected = balls.iter().filter(|r| r.field == Field::Corrected);
    let corrected: Vec<String> = corrected.map(|r| reached(Some(r), deepest)).collect();
    format!(
        "f as a share of f(0). The flat beginning of the paper's runs is λ_max ({} passes). Down to {deepest:e} at the exact \
         k: {}. At the overshot k: {}. On the ball, with corrective steps: {}.",
        results.prepared,
        all(Field::Exact),
        all(Field::Overshot),
        corrected.join("; "),
    )
}

fn support_caption(results: &Results) -> String {
    let found = |field| {
        let said = THRESHOLDING.iter().filter_map(|&c| results.run(c, field)).map(|run| {
            let name = run.race.contestant.label();
            match run.finds(1.0) {
                Some(mark) => format!("{name} from pass {} on", mark.passes),
                None => {
                    let share = run.shares.last().copied().unwrap_or(0.0);
                    format!("{name} ends at {:.0} %", (100.0 * share).floor())
                }
            }
        });
        said.collect::<Vec<String>>().join("; ")
    };
    format!(
        "The share of the planted entries that the iterate has. All of them, at the exact k: {}. At the overshot k: {}.",
        found(Field::Exact),
        found(Field::Overshot)
    )
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
