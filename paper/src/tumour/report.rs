//! Figure, tables and words of a cohort.

use super::Config;
use super::cohort::Cohort;
use super::contest::{Contest, Trial};
use super::summary::{FIELD, Pair, Spread, Standing, Summary, TESTED, published, published_ratio};
use crate::figure::{Axis, Curve, Ink, Panel, Stroke};
use crate::race::Mark;
use crate::{Contestant, Section, Table};

/// The least gap that is drawn.
const FLOOR: f64 = 1e-4;
/// How far a mean's bar reaches to both sides, as a factor of passes.
const BAR: f64 = 1.6;

/// The figure of a cohort: errors against passes, and the objective's gap on the first split.
pub fn panels(contests: &[Contest], summary: &Summary) -> Vec<Panel> {
    let passes = |trial: &Trial| trial.cost().passes.max(1) as f64;
    let (mut curves, mut bars) = (Vec::new(), Vec::new());
    for who in FIELD {
        let trials = contests.iter().filter_map(|contest| contest.of(who));
        let mut points: Vec<(f64, f64)> = trials.map(|trial| (passes(trial), trial.error())).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mean = |of: fn(&(f64, f64)) -> f64| Spread::new(&points.iter().map(of).collect::<Vec<_>>()).mean;
        let (error, middle) = (mean(|point| point.1), mean(|point| point.0.ln()).exp());
        bars.push(Curve::of(who, [middle / BAR, middle * BAR].map(|x| (x, error)).to_vec()));
        // The bar is in the legend.
        curves.push(Curve { label: String::new(), ..Curve::of(who, points).stroked(Stroke::Points) });
    }
    curves.extend(bars);
    let widest = contests.iter().flat_map(|c| &c.trials).map(passes).fold(1.0, f64::max) * 1.5;
    let guess = vec![(0.6, summary.guess), (widest, summary.guess)];
    curves.push(Curve::new("majority class", Ink::Guide, guess).stroked(Stroke::Dashed));
    let gap = |by: &str, x: fn(&Mark) -> f64| {
        let y = Axis::log("(f − its end) / descent").between(0.7 * FLOOR, 1.5);
        let curves = FIELD.iter().filter_map(|&who| contests.first()?.of(who)).map(|trial| line(trial, x)).collect();
        Panel::chart(format!("First split, by {by}"), Axis::log(by), y, curves)
    };
    let errors = Axis::log("passes to convergence").between(0.6, widest);
    vec![
        Panel::chart("Test error", errors, Axis::linear("test error"), curves),
        gap("passes", |mark| mark.passes as f64),
        gap("seconds", |mark| mark.seconds),
    ]
}

/// The gap of a run. Where it has reached the floor it ends.
fn line(trial: &Trial, x: fn(&Mark) -> f64) -> Curve {
    let mut points: Vec<(f64, f64)> = Vec::new();
    for (mark, gap) in trial.gaps().skip(1).filter(|(_, gap)| gap.is_finite()) {
        points.push((x(mark), gap.max(FLOOR)));
        if gap <= FLOOR {
            break;
        }
    }
    // Who arrives at once has no line to be seen.
    let one = points.len() == 1;
    let curve = Curve::of(trial.contestant, points);
    if one { Curve { label: String::new(), ..curve.stroked(Stroke::Points) } } else { curve }
}

/// The paper's table, with ours, and the methods compared split by split.
pub fn tables(cohort: &Cohort, summary: &Summary) -> [Table; 2] {
    let splits = summary.splits;
    let plus_minus = |s: &Spread, digits: usize| format!("{:.digits$} ± {:.digits$}", s.mean, s.deviation);
    // Two digits that count.
    let brief = |seconds: f64| if seconds >= 1.0 { format!("{seconds:.1}") } else { format!("{seconds:.3}") };
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "–".into());
    let row = |s: &Standing| {
        let more = if s.converged < splits { "≥ " } else { "" };
        let (setting, times) = s.usual;
        let on_groups = matches!(s.contestant, Contestant::Iht | Contestant::AccIht | Contestant::Katoms);
        let size = if on_groups { "groups" } else { "radius" };
        let paper = published(s.contestant);
        vec![
            s.contestant.label().into(),
            plus_minus(&s.error, 4),
            plus_minus(&s.auc, 3),
            format!("{more}{}", plus_minus(&s.passes, 0)),
            format!("{more}{} ± {}", brief(s.seconds.mean), brief(s.seconds.deviation)),
            format!("{} of {splits}", s.converged),
            format!("{:.0}", s.genes.mean),
            format!("ridge {}, {size} {} ({times}×)", setting.ridge, setting.size),
            or_dash(paper.map(|p| format!("{:.4}", p.0))),
            or_dash(paper.map(|p| format!("{:.2}", p.1))),
        ]
    };
    let mut guess = vec!["majority class".into(), format!("{:.4}", summary.guess), "0.500".into()];
    guess.resize(10, "–".into());
    let one = 1.0 / summary.tested as f64;
    let compared = |pair: &Pair| {
        let setting = if pair.same_setting { ", in one setting" } else { "" };
        let more = if pair.at_least { "≥ " } else { "" };
        // Where the other never converged there is none.
        let ratio = |v: f64| if v.is_finite() { format!("{more}{v:.2}") } else { "–".into() };
        let paper = published(pair.one).zip(published(pair.other)).filter(|_| !pair.same_setting);
        let seconds = paper.and(published_ratio(pair.one, pair.other));
        vec![
            format!("{} / {}{setting}", pair.one.label(), pair.other.label()),
            ratio(pair.passes),
            ratio(pair.iterations),
            ratio(pair.seconds),
            format!("{} of {}", pair.judged, pair.of),
            or_dash(seconds.map(|ratio| format!("{ratio:.2}"))),
            format!("{:+.1} ± {:.1}", pair.error.mean / one, pair.error.deviation / one),
            or_dash(paper.map(|(one, other)| format!("{:+.0}", (one.0 - other.0) * TESTED))),
        ]
    };
    let title = cohort.title();
    [
        Table::new(
            &format!(
                "{title}: mean ± deviation over {splits} splits; converged: Frank–Wolfe by the minimum over the ball, the others \
                 by that over the genes they ended with"
            ),
            [
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
            ],
            summary.standings.iter().map(row).chain([guess]),
        ),
        Table::new(
            &format!(
                "{title}: split by split; ratios over the splits on which the second converged (one tumour of {} is {one:.4})",
                summary.tested
            ),
            [
                "compared",
                "passes, ratio",
                "iterations, ratio",
                "seconds, ratio",
                "over splits",
                "paper: seconds, ratio",
                "tumours more in error",
                "paper: tumours",
            ],
            summary.pairs.iter().map(compared),
        ),
    ]
}

/// What was found on a cohort.
pub fn lead(cohort: &Cohort, summary: &Summary) -> String {
    let errors: Vec<f64> = summary.of_the_paper().map(|s| s.error.mean).collect();
    let least = errors.iter().copied().fold(f64::INFINITY, f64::min);
    let most = errors.iter().copied().fold(0.0, f64::max);
    let tumours = |share: f64| share * summary.tested as f64;
    let pair = |one, same| summary.pair(one, Contestant::AccIht, same).map_or("no ratio".into(), Pair::words);
    format!(
        "{}: the paper's five methods err on {least:.3} to {most:.3} of the test tumours. That is {:.1} tumours apart, where \
         another split moves each by {:.1}. Always naming the larger class errs on {:.3}; {} of the five err less. In passes IHT \
         takes {} of AccIHT in one setting, pairwise Frank–Wolfe, which has another yardstick, {}.",
        cohort.title(),
        tumours(most - least),
        tumours(summary.scatter),
        summary.guess,
        errors.iter().filter(|&&error| error < summary.guess).count(),
        pair(Contestant::Iht, true),
        pair(Contestant::PairwiseFrankWolfe, false),
    )
}

/// What a cohort is.
pub fn set_up(cohort: &Cohort, summary: &Summary) -> (String, String) {
    let members: usize = cohort.groups.iter().map(Vec::len).sum();
    let (all, kept) = (cohort.genes_in_all, cohort.genes.len());
    let label = if cohort.simulated { "Cohort (simulated)".into() } else { format!("Cohort {}", cohort.name) };
    let what = format!(
        "{} tumours ({} of the smaller class) × {all} genes; {} groups hold {kept} of them in {members} memberships, a gene is in \
         {:.1} groups on average; {} tumours to train on, {} to test",
        cohort.tumours(),
        cohort.positives(),
        cohort.groups.len(),
        members as f64 / kept as f64,
        cohort.tumours() - summary.tested,
        summary.tested,
    );
    (label, what)
}

/// What was run on all cohorts.
pub fn common(section: &mut Section, config: &Config) {
    let listed = |values: &[f64]| values.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let groups: Vec<f64> = config.groups.iter().map(|&k| k as f64).collect();
    section.setup.extend(
        [
            ("Splits", format!("{}, at random, classes in proportion; {} folds", config.splits, config.folds)),
            ("Ridge", listed(&config.ridges)),
            ("Groups (IHT)", listed(&groups)),
            ("Radius of the ℓ1 ball (Frank–Wolfe)", listed(&config.radii)),
            ("IHT, AccIHT", format!("step 1/λ_max, τ = 0 and {}, greedy projection, no refit", config.momentum)),
            (
                "End of a run",
                format!(
                    "{} iterations or a change of {:e} in the cross-validation, {} or {:e} in timed runs; converged: {:e} of the \
                     descent left",
                    config.tuning.iterations,
                    config.tuning.tolerance,
                    config.timed.iterations,
                    config.timed.tolerance,
                    config.accuracy
                ),
            ),
        ]
        .map(|(label, value)| (label.to_owned(), value)),
    );
}

/// What does not depend on the machine. No ratio to Frank–Wolfe: the last digit of a sum decides which of its settings is
/// chosen, and that the passes.
pub fn numbers(summary: &Summary) -> Vec<(String, f64)> {
    let of = |who, value: fn(&Standing) -> f64| summary.of(who).map_or(f64::NAN, value);
    let field = [("IHT", Contestant::Iht), ("AccIHT", Contestant::AccIht), ("katoms", Contestant::Katoms)];
    let each = field.into_iter().flat_map(|(name, who)| {
        let converged = of(who, |s| s.converged as f64 / s.error.of as f64);
        [(format!("AUC of {name}"), of(who, |s| s.auc.mean)), (format!("share of {name} that converged"), converged)]
    });
    let pair = summary.pair(Contestant::Iht, Contestant::AccIht, true);
    let others = [
        ("error of guessing", summary.guess),
        ("error of IHT", of(Contestant::Iht, |s| s.error.mean)),
        ("AUC of pairwise Frank-Wolfe", of(Contestant::PairwiseFrankWolfe, |s| s.auc.mean)),
        ("passes of katoms", of(Contestant::Katoms, |s| s.passes.mean)),
        ("iterations of IHT / AccIHT in one setting", pair.map_or(f64::NAN, |pair| pair.iterations)),
    ];
    each.chain(others.map(|(name, value)| (name.to_owned(), value))).collect()
}
