//! `correlated`: neighbouring columns alike, with noise: the support, the prediction and the fit by sparsity level.

mod fits;

use anyhow::Result;
use rayon::prelude::*;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::figure::{Axis, Body, Chart, Curve, Ink, Panel, Place, Stroke};
use crate::{Agreement, Contestant, Experiment, Progress, Request, Section, Table};
use fits::{FIELD, MEASURES, REFITTED, RIVALS, Scores, label};

/// A difference within so many standard errors is none, and one below this is rounding.
const ERRORS: f64 = 2.0;
const ROUNDING: f64 = 1e-9;
/// Standard errors on either side of a mean: 95 % of the normal distribution.
const BAND: f64 = 1.96;
/// "Almost everywhere": this share of the comparisons and more; below the second not even in part.
const ALMOST: f64 = 0.9;
const MOSTLY: f64 = 0.6;
/// The paper's momentum.
const PUBLISHED_MOMENTUM: f64 = 0.25;
/// The places of those whose differences may hide the others': panels are fitted to the rest, and these are cut at the border.
const FAR_OFF: [usize; 2] = [1, 2];
/// Whose comparisons are shown.
const SHOWN: [Contestant; 4] = [Contestant::AccIht, Contestant::Katoms, Contestant::Staged, Contestant::Search];

/// `paper/correlated.toml` says what each is.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    seed: u64,
    draws: u64,
    rows: usize,
    columns: usize,
    correlation: f64,
    k: usize,
    snr: f64,
    levels: Vec<usize>,
    momentum: f64,
    tolerance: f64,
    iterations: usize,
    penalties: usize,
}

impl Config {
    fn check(&self) -> Result<()> {
        let most = self.columns.min(self.rows / 2).saturating_sub(1);
        let rising = self.levels.is_sorted_by(|a, b| a < b) && self.levels.contains(&self.k);
        Experiment::Correlated.check([
            (self.rows.is_multiple_of(2), "`rows` must be even".into()),
            (self.rows * self.columns <= 200_000_000, "`rows` times `columns` must be at most 200 million".into()),
            (rising, format!("`levels` must rise, and `k` = {} must be among them", self.k)),
            (
                self.levels.iter().all(|level| (1..=most).contains(level)),
                format!("`levels` must lie from 1 to {most}: below the columns, and below the rows of one half"),
            ),
        ])
    }
}

pub fn run(request: &Request, progress: &Progress) -> Result<Section> {
    let config: Config = Experiment::Correlated.settings(request)?;
    config.check()?;
    progress.expect(config.draws as usize);
    let one = |draw: u64| {
        let scores = fits::fit_all(&config, config.seed.wrapping_add(draw), progress)?;
        progress.done("draws").map(|()| scores)
    };
    let draws = (0..config.draws).into_par_iter().map(one).collect::<Result<Vec<_>>>()?;
    section(&config, &Measured { draws })
}

/// A mean and its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Mean {
    value: f64,
    error: f64,
}

impl Mean {
    fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        let count = values.clone().count() as f64;
        let value = values.clone().sum::<f64>() / count;
        let square: f64 = values.map(|v| (v - value).powi(2)).sum();
        Self { value, error: (square / (count - 1.0) / count).sqrt() }
    }
}

/// All scores: by draw, level and place in the field.
struct Measured {
    draws: Vec<Vec<Vec<Scores>>>,
}

/// The place of a contestant in the field.
fn place(contestant: Contestant) -> usize {
    FIELD.iter().position(|&c| c == contestant).unwrap_or(0)
}

impl Measured {
    fn levels(&self) -> usize {
        self.draws[0].len()
    }

    fn mean(&self, level: usize, place: usize, measure: usize) -> Mean {
        Mean::of(self.draws.iter().map(|draw| draw[level][place][measure]))
    }

    /// How far one is above another, draw by draw.
    fn difference(&self, level: usize, one: usize, other: usize, measure: usize) -> Mean {
        Mean::of(self.draws.iter().map(|draw| draw[level][one][measure] - draw[level][other][measure]))
    }

    /// In how many comparisons one is better or equal, within the scatter of the differences, and of how many.
    fn tally(&self, one: usize, levels: &[usize], rivals: &[usize], measures: &[usize]) -> (usize, usize) {
        let mut tally = (0, 0);
        for (&level, &rival) in levels.iter().flat_map(|level| rivals.iter().map(move |rival| (level, rival))) {
            for &measure in measures {
                let difference = self.difference(level, one, rival, measure);
                tally.0 += usize::from(difference.value >= -(ERRORS * difference.error).max(ROUNDING));
                tally.1 += 1;
            }
        }
        tally
    }

    /// One against the paper's rivals at all levels, by some measures.
    fn against_rivals(&self, one: usize, measures: &[usize]) -> (usize, usize) {
        self.tally(one, &self.all_levels(), &RIVALS, measures)
    }

    fn all_levels(&self) -> Vec<usize> {
        (0..self.levels()).collect()
    }

    /// "20 of 24: support AUC 8 of 8, …".
    fn words(&self, one: usize) -> String {
        let by = [0, 1, 2].map(|m| format!("{} {}", MEASURES[m].0, of(self.against_rivals(one, &[m]))));
        format!("{}: {}", of(self.against_rivals(one, &[0, 1, 2])), by.join(", "))
    }
}

/// "20 of 24".
fn of((won, all): (usize, usize)) -> String {
    format!("{won} of {all}")
}

fn section(config: &Config, found: &Measured) -> Result<Section> {
    use Contestant::{AccIht, Forward, Katoms, Lasso, Search};
    let at_k = config.levels.iter().position(|k| *k == config.k).unwrap_or(0);
    let all = |c| found.against_rivals(place(c), &[0, 1, 2]);
    let at_true_k = |c, measure| found.mean(at_k, place(c), measure).value;
    let mut section = Section::new(Experiment::Correlated)?;
    section.lead = format!(
        "AccIHT with τ = {} is better than the paper's four rivals or equal in {} comparisons over levels and measures; katoms \
         in {}, its search in {}.",
        config.momentum,
        of(all(AccIht)),
        of(all(Katoms)),
        of(all(Search)),
    );
    section.set_up([
        (
            "Design",
            format!(
                "{} × {}, AR(1) with correlation {} between neighbouring columns, columns of norm 1; half of the rows are \
                 fitted, the other half tests",
                config.rows, config.columns, config.correlation
            ),
        ),
        (
            "Planted",
            format!("{} normal values at random places, norm 1; signal-to-noise ratio {} (of variances)", config.k, config.snr),
        ),
        ("Draws", format!("{}, seeds from {} on", config.draws, config.seed)),
        ("AccIHT (paper)", format!("step 1/λ_max, τ = {}, no refit; IHT (paper) the same with τ = 0", config.momentum)),
        (
            "Lasso",
            format!(
                "a path of {} penalties; the least one that leaves at most k columns, with its own, shrunken values; dashed: \
                 refitted by least squares",
                config.penalties
            ),
        ),
    ]);
    let (means, differences) = panels(config, found);
    section.draw("", 3, means)?;
    section.draw("-differences", 3, differences)?;
    section.tables = tables(config, found, at_k);
    section.judge([verdict(config, found)])?;
    let ours = found.words(place(Search));
    section.notes.push(format!("Beyond the paper: katoms, search is better than its four rivals or equal in {ours}."));
    section.count([AccIht, Katoms, Search, Lasso, Forward].map(|c| (format!("AUC of {}", c.label()), at_true_k(c, 0))));
    section.count([AccIht, Search, Lasso].map(|c| (format!("test R² of {}", c.label()), at_true_k(c, 1))));
    section.count([AccIht, Search].map(|c| {
        let (won, of) = all(c);
        (format!("share in which {} is better or equal", c.label()), won as f64 / of as f64)
    }));
    section.count([("log-likelihood of katoms, search, less AccIHT's", at_true_k(Search, 2) - at_true_k(AccIht, 2))]);
    section.record = record(config, found);
    Ok(section)
}

fn record(config: &Config, found: &Measured) -> Value {
    let of = |place: usize, measure: usize| -> Vec<Value> {
        let means = (0..found.levels()).map(|level| found.mean(level, place, measure));
        means.map(|m| json!({ "mean": m.value, "standard_error": m.error })).collect()
    };
    let method = |at: usize| {
        let by = json!({ "auc": of(at, 0), "test_r2": of(at, 1), "log_likelihood": of(at, 2), "passes": of(at, 3) });
        (label(at), by)
    };
    let methods: Map<String, Value> = (0..FIELD.len()).map(method).collect();
    json!({ "levels": config.levels, "draws": found.draws.len(), "methods": methods })
}

fn tables(config: &Config, found: &Measured, at_k: usize) -> Vec<Table> {
    let at_true_k = |at: usize| {
        let cell = |measure: usize, digits: usize| {
            let mean = found.mean(at_k, at, measure);
            format!("{:.digits$} ± {:.digits$}", mean.value, mean.error)
        };
        let passes = format!("{:.0}", found.mean(at_k, at, 3).value);
        vec![label(at), cell(0, 4), cell(1, 4), cell(2, 1), passes]
    };
    // At how many levels it is better than another or equal, by measure.
    let against = |rival: usize| {
        let cell = |one: usize| {
            let by = [0, 1, 2].map(|m| found.tally(one, &found.all_levels(), &[rival], &[m]).0.to_string());
            if one == rival { String::new() } else { by.join(" / ") }
        };
        [vec![label(rival)], SHOWN.map(|c| cell(place(c))).into()].concat()
    };
    let by_level = |level: usize| {
        let cell = |c| of(found.tally(place(c), &[level], &RIVALS, &[0, 1, 2]));
        [vec![config.levels[level].to_string()], SHOWN.map(cell).into()].concat()
    };
    let headed = |first: &str| [vec![first.to_owned()], SHOWN.map(|c| c.label().to_owned()).into()].concat();
    vec![
        Table::new(
            &format!("At the true k = {}: mean ± standard error", config.k),
            ["method", MEASURES[0].0, MEASURES[1].0, MEASURES[2].0, "passes"],
            (0..FIELD.len()).map(at_true_k),
        ),
        Table::new(
            &format!(
                "Levels, of {}, at which it is better than the one in the row or equal: support / prediction / fit",
                found.levels()
            ),
            headed("than"),
            (0..FIELD.len()).map(against),
        ),
        Table::new(
            "Comparisons with the paper's four rivals in which it is better or equal, by level",
            headed("k"),
            (0..found.levels()).map(by_level),
        ),
    ]
}

fn verdict(config: &Config, found: &Measured) -> (String, Agreement) {
    let one = place(Contestant::AccIht);
    let (won, all) = found.against_rivals(one, &[0, 1, 2]);
    let agreement = match won as f64 / all as f64 {
        // What the paper says, it says of its own momentum.
        _ if config.momentum != PUBLISHED_MOMENTUM => Agreement::Open,
        share if share >= ALMOST => Agreement::Agrees,
        share if share >= MOSTLY => Agreement::Partly,
        _ => Agreement::Differs,
    };
    (found.words(one), agreement)
}

/// Means by sparsity level, and paired differences from AccIHT as the paper sets it, in which methods that are nearly alike
/// part.
fn panels(config: &Config, found: &Measured) -> (Vec<Panel>, Vec<Panel>) {
    let theirs = place(Contestant::AccIht);
    let means = [0, 1, 2].map(|measure| {
        let of = |at: usize| curve(config, at, BAND, |level| found.mean(level, at, measure));
        panel(config, measure, Axis::linear(MEASURES[measure].0), (0..FIELD.len()).map(of).collect())
    });
    let differences = [0, 1, 2].map(|measure| {
        let of = |at: usize| curve(config, at, ERRORS, |level| found.difference(level, at, theirs, measure));
        let others = (0..FIELD.len()).filter(|at| *at != theirs);
        let near: Vec<Curve> = others.clone().filter(|at| !FAR_OFF.contains(at)).map(of).collect();
        let zero = Curve::of(Contestant::AccIht, config.levels.iter().map(|&k| (k as f64, 0.0)).collect());
        let axis = Axis::linear(format!("{}, less AccIHT's", MEASURES[measure].0));
        let axis = fitting(&near).into_iter().fold(axis, |axis, (low, high)| axis.between(low, high));
        panel(config, measure, axis, others.map(of).chain([zero]).collect())
    });
    (means.into(), differences.into())
}

/// From where to where zero and these curves lie, bands and a margin included; `None` where that is a point.
fn fitting(curves: &[Curve]) -> Option<(f64, f64)> {
    let ends = curves.iter().flat_map(|c| &c.band).flat_map(|(_, low, high)| [*low, *high]);
    let fold = |(least, most): (f64, f64), v: f64| (least.min(v), most.max(v));
    let (least, most) = ends.filter(|v| v.is_finite()).fold((0.0, 0.0), fold);
    let margin = 0.05 * (most - least);
    (margin > 0.0).then_some((least - margin, most + margin))
}

/// A line over the levels, with so many standard errors on either side.
fn curve(config: &Config, at: usize, errors: f64, mean: impl Fn(usize) -> Mean) -> Curve {
    let means: Vec<(f64, Mean)> = config.levels.iter().enumerate().map(|(at, &k)| (k as f64, mean(at))).collect();
    let band = means.iter().map(|(k, m)| (*k, m.value - errors * m.error, m.value + errors * m.error)).collect();
    let points = means.iter().map(|(k, m)| (*k, m.value)).collect();
    let stroke = if at == REFITTED { Stroke::Dashed } else { Stroke::Solid };
    Curve::new(label(at), Ink::Of(FIELD[at]), points).banded(band).stroked(stroke)
}

fn panel(config: &Config, measure: usize, y: Axis, curves: Vec<Curve>) -> Panel {
    let places = vec![Place { x: config.k as f64, label: "true k".into() }];
    let chart = Chart { x: Axis::linear("sparsity level k"), y, curves, shades: vec![], places };
    Panel { title: MEASURES[measure].1.into(), body: Body::Chart(chart) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::tests::changed;

    fn tiny(lines: &[&str]) -> Section {
        let base = ["rows = 160", "columns = 30", "k = 5", "levels = [3, 5]"];
        run(&changed(Experiment::Correlated, &[&base, lines].concat()), &Progress::hidden()).unwrap()
    }

    /// With hardly any noise and independent columns everybody but the oblivious finds the planted support.
    #[test]
    fn without_noise_the_support_is_found() {
        let section = tiny(&["snr = 1e8", "correlation = 0.0"]);
        for name in ["AUC of AccIHT (paper)", "AUC of katoms", "AUC of katoms, search"] {
            assert!(section.numbers[name] > 1.0 - 1e-9, "{name}: {}", section.numbers[name]);
        }
    }

    /// AccIHT has the momentum of the config: with none it is IHT.
    #[test]
    fn the_momentum_is_that_of_the_config() {
        let of = |section: &Section, c: Contestant| section.record["methods"][c.label()].clone();
        let (none, some) = (tiny(&["momentum = 0.0"]), tiny(&[]));
        assert_eq!(of(&none, Contestant::AccIht), of(&none, Contestant::Iht));
        assert_ne!(of(&some, Contestant::AccIht), of(&some, Contestant::Iht));
        assert_eq!(none.verdicts[0].agreement, Agreement::Open);
    }

    #[test]
    fn a_difference_counts_beyond_its_scatter() {
        let tally = |pairs: &[(f64, f64)], one: usize, other: usize| {
            let score = |auc| [auc, 0.0, 0.0, 1.0];
            let draws = pairs.iter().map(|(a, b)| vec![vec![score(*a), score(*b)]]).collect();
            Measured { draws }.tally(one, &[0], &[other], &[0]).0
        };
        // The first is behind by 0.01 in every draw, though draws differ by far more.
        let behind = [(0.1, 0.11), (0.5, 0.511), (0.9, 0.91)];
        assert_eq!((tally(&behind, 0, 1), tally(&behind, 1, 0)), (0, 1));
        // Ahead once, behind once: equal either way.
        let even = [(0.5, 0.6), (0.6, 0.5), (0.5, 0.51)];
        assert_eq!((tally(&even, 0, 1), tally(&even, 1, 0)), (1, 1));
        let mean = Mean::of([1.0, 2.0, 3.0, 4.0].into_iter());
        assert!(mean.value == 2.5 && (mean.error - (5.0_f64 / 3.0 / 4.0).sqrt()).abs() < 1e-15);
    }
}
