//! Figures and tables of a cohort.

use super::cohort::Cohort;
use super::contest::{Contest, Trial};
use super::published::{published, published_ratio};
use super::summary::{FIELD, Pair, Spread, Standing, Summary};
use crate::figure::{Axis, Body, Chart, Curve, Figure, Ink, Panel, Stroke};
use crate::{Contestant, Table};

/// The least gap that is drawn.
const FLOOR: f64 = 1e-4;
/// How far a mean's bar reaches to both sides, as a factor of passes.
const BAR: f64 = 1.6;

/// The figure of a cohort: errors against passes, and the objective's gap on the first split.
pub(super) fn figure(name: String, cohort: &Cohort, contests: &[Contest], summary: &Summary, accuracy: f64) -> Figure {
    let passes = |trial: &Trial| trial.cost().passes.max(1) as f64;
    let (mut curves, mut bars) = (Vec::new(), Vec::new());
    for who in FIELD {
        let trials: Vec<&Trial> = contests.iter().filter_map(|contest| contest.of(who)).collect();
        let mut points: Vec<(f64, f64)> = trials.iter().map(|trial| (passes(trial), trial.error())).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        if points.is_empty() {
            continue;
        }
        let mean = |values: Vec<f64>| Spread::new(&values).mean;
        let error = mean(points.iter().map(|point| point.1).collect());
        let middle = mean(points.iter().map(|point| point.0.ln()).collect()).exp();
        bars.push(Curve::of(who, [middle / BAR, middle * BAR].map(|x| (x, error)).to_vec()));
        // The bar is in the legend.
        curves.push(Curve { label: String::new(), ..Curve::of(who, points).stroked(Stroke::Points) });
    }
    curves.extend(bars);
    let widest = contests.iter().flat_map(|c| &c.trials).map(passes).fold(1.0, f64::max) * 1.5;
    let guess = vec![(0.6, summary.guess), (widest, summary.guess)];
    curves.push(Curve::new("always the larger class", Ink::Guide, guess).stroked(Stroke::Dashed));
    let errors = Chart {
        x: Axis::log("passes to convergence").between(0.6, widest),
        y: Axis::linear("test error"),
        curves,
        shades: Vec::new(),
        places: Vec::new(),
    };
    let gap = |title: &str, x: fn(&crate::race::Mark) -> f64| Chart {
        x: Axis::log(title),
        y: Axis::log("(f − its end) / descent").between(0.7 * FLOOR, 1.5),
        curves: FIELD.iter().filter_map(|&who| contests.first()?.of(who)).map(|trial| line(trial, x)).collect(),
        shades: Vec::new(),
        places: Vec::new(),
    };
    let panel = |title: &str, chart| Panel { title: title.into(), body: Body::Chart(chart) };
    Figure {
        name,
        title: format!("{}: {}", cohort.title(), "test error and convergence"),
        caption: caption(cohort, summary, accuracy),
        columns: 3,
        panels: vec![
            panel("Test error", errors),
            panel("First split, by passes", gap("passes", |mark| mark.passes as f64)),
            panel("First split, by seconds", gap("seconds", |mark| mark.seconds)),
        ],
    }
}

/// The gap of a run. Where it has reached the floor it ends.
fn line(trial: &Trial, x: fn(&crate::race::Mark) -> f64) -> Curve {
    let mut points: Vec<(f64, f64)> = Vec::new();
    for (mark, gap) in trial.gaps().skip(1).filter(|(_, gap)| gap.is_finite()) {
        points.push((x(mark), gap.max(FLOOR)));
        if gap <= FLOOR {
            break;
        }
    }
    // Who arrives at once has no line to be seen.
    let stroke = if points.len() == 1 { Stroke::Points } else { Stroke::Solid };
    let label = if points.len() == 1 { String::new() } else { trial.contestant.label().into() };
    Curve { label, ..Curve::of(trial.contestant, points).stroked(stroke) }
}

fn caption(cohort: &Cohort, summary: &Summary, accuracy: f64) -> String {
    let splits = summary.splits;
    let below = summary.standings.iter().filter(|s| s.error.mean < summary.guess).count();
    // Where a run did not converge, its passes are too few.
    let converged = summary.standings.iter().filter(|s| s.converged == summary.splits);
    let quickest = converged.min_by(|a, b| a.passes.mean.total_cmp(&b.passes.mean));
    format!(
        "{}Left: a point is a split, a bar the mean over {splits} splits; another split moves an error by {:.1} of {} tumours on \
         average. {} of {} methods err less on average than the dashed line, which always names the larger class. {} Centre \
         and right: how far the objective is from where it is heading (the minimum over the ball for Frank–Wolfe, over the \
         genes it ended with for the others); converged means {accuracy:e} of the way left.",
        if cohort.simulated { "Simulated, not measured. " } else { "" },
        summary.scatter * summary.tested as f64,
        summary.tested,
        if below == 0 { "None".into() } else { below.to_string() },
        summary.standings.len(),
        quickest.map_or_else(String::new, |s| {
            let passes = if s.passes.mean.round() == 1.0 { "pass" } else { "passes" };
            format!(
                "Of those who converged on all splits, {} needs the fewest passes: {:.0} {passes} on average.",
                s.contestant.label(),
                s.passes.mean
            )
        }),
    )
}

/// The paper's table, with ours.
pub(super) fn results(cohort: &Cohort, summary: &Summary) -> Table {
    let splits = summary.splits;
    let plus_minus = |s: &Spread, digits: usize| format!("{:.digits$} ± {:.digits$}", s.mean, s.deviation);
    let seconds = |s: &Spread| format!("{} ± {}", brief(s.mean), brief(s.deviation));
    let row = |s: &Standing| {
        let more = if s.converged < splits { "≥ " } else { "" };
        let (setting, times) = s.usual;
        let ball = published(s.contestant).is_some() && !is_on_groups(s.contestant);
        let paper = published(s.contestant);
        vec![
            s.contestant.label().into(),
            plus_minus(&s.error, 4),
            plus_minus(&s.auc, 3),
            format!("{more}{}", plus_minus(&s.passes, 0)),
            format!("{more}{}", seconds(&s.seconds)),
            format!("{} of {splits}", s.converged),
            format!("{:.0}", s.genes.mean),
            format!("ridge {}, {} {} ({times}×)", setting.ridge, if ball { "radius" } else { "groups" }, setting.size),
            paper.map_or_else(|| "–".into(), |p| format!("{:.4}", p.error)),
            paper.map_or_else(|| "–".into(), |p| format!("{:.2}", p.seconds)),
        ]
    };
    let mut rows: Vec<Vec<String>> = summary.standings.iter().map(row).collect();
    let mut guess = vec!["always the larger class".into(), format!("{:.4}", summary.guess), "0.500".into()];
    guess.resize(10, "–".into());
    rows.push(guess);
    let headings = [
        "method",
        "test error",
        "AUC",
        "passes",
        "seconds",
        "converged",
        "genes",
        "chosen most often",
        "paper: error",
        "paper: seconds",
    ];
    Table {
        title: format!(
            "{}: mean ± deviation over {splits} splits; converged: Frank–Wolfe by the minimum over the ball, the others by \
             that over the genes they ended with",
            cohort.title()
        ),
        headings: headings.map(Into::into).into(),
        rows,
    }
}

fn is_on_groups(contestant: Contestant) -> bool {
    matches!(contestant, Contestant::Iht | Contestant::AccIht | Contestant::Katoms)
}

/// Two digits that count.
fn brief(seconds: f64) -> String {
    if seconds >= 1.0 { format!("{seconds:.1}") } else { format!("{seconds:.3}") }
}

/// Split by split.
pub(super) fn comparisons(cohort: &Cohort, summary: &Summary) -> Table {
    let one = 1.0 / summary.tested as f64;
    let row = |pair: &Pair| {
        let setting = if pair.same_setting { ", in one setting" } else { "" };
        let more = if pair.at_least { "≥ " } else { "" };
        // Where the other never converged there is none.
        let ratio = |v: f64| if v.is_finite() { format!("{more}{v:.2}") } else { "–".into() };
        let seconds = published_ratio(pair.one, pair.other).filter(|_| !pair.same_setting);
        let paper = published(pair.one).zip(published(pair.other)).filter(|_| !pair.same_setting);
        vec![
            format!("{} / {}{setting}", pair.one.label(), pair.other.label()),
            ratio(pair.passes),
            ratio(pair.iterations),
            ratio(pair.seconds),
            format!("{} of {}", pair.judged, pair.of),
            seconds.map_or_else(|| "–".into(), |ratio| format!("{ratio:.2}")),
            format!("{:+.1} ± {:.1}", pair.error.mean / one, pair.error.deviation / one),
            paper.map_or_else(|| "–".into(), |(one, other)| format!("{:+.0}", one.wrong() - other.wrong())),
        ]
    };
    let headings = [
        "compared",
        "passes, ratio",
        "iterations, ratio",
        "seconds, ratio",
        "over splits",
        "paper: seconds, ratio",
        "tumours more in error",
        "paper: tumours",
    ];
    Table {
        title: format!(
            "{}: split by split; ratios over the splits on which the second converged (one tumour of {} is {one:.4})",
            cohort.title(),
            summary.tested
        ),
        headings: headings.map(Into::into).into(),
        rows: summary.pairs.iter().map(row).collect(),
    }
}
