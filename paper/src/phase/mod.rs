//! `phase`: beyond the paper; how often each method recovers a planted vector, over (m/n, k/m).
//!
//! Donoho and Tanner's curve says where ℓ1 minimisation stops to recover, as n grows. The maps show where the others do.

mod fits;

use anyhow::Result;
use katoms::select::{Sign, weak_threshold};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::figure::{Axis, Body, Curve, Ink, Map, Panel, Stroke};
use crate::{Contestant, Experiment, Progress, Request, Section, Table};
use fits::{METHODS, Trial, trial};

/// Half of the draws: where a method is said to stop recovering.
const HALF: f64 = 0.5;
/// Points of the curve.
const POINTS: usize = 120;
/// The most draws in all cells.
const MOST_PROBLEMS: usize = 1_000_000;

/// `paper/phase.toml` says what each is.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Config {
    seed: u64,
    columns: usize,
    undersampling: Steps,
    density: Steps,
    draws: usize,
    recovered: f64,
    momentum: f64,
    iterations: usize,
    lasso: Descent,
}

/// How far the Lasso is followed.
#[derive(Debug, Clone, Copy, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Descent {
    /// The last λ over the largest.
    smallest: f64,
    count: usize,
}

/// Evenly spaced values.
#[derive(Debug, Clone, Copy, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Steps {
    from: f64,
    to: f64,
    steps: usize,
}

impl Steps {
    fn values(self) -> Vec<f64> {
        let Self { from, to, steps } = self;
        (0..steps).map(|i| from + (to - from) * i as f64 / (steps - 1) as f64).collect()
    }

    /// Where the cells around the values begin and end.
    fn edges(self) -> (f64, f64) {
        let half = 0.5 * (self.to - self.from) / (self.steps - 1) as f64;
        (self.from - half, self.to + half)
    }
}

impl Config {
    fn check(&self) -> Result<()> {
        let cells = self.undersampling.steps * self.density.steps;
        let rows = (self.undersampling.from * self.columns as f64).round();
        Experiment::Phase.check([
            (self.undersampling.from < self.undersampling.to, "`undersampling` must rise"),
            (self.density.from < self.density.to, "`density` must rise"),
            (rows >= 2.0, "`columns` must be so many that the smallest `undersampling` leaves 2 rows"),
            (cells * self.draws <= MOST_PROBLEMS, "`draws` must come to at most a million in all cells"),
        ])
    }

    /// Rows and entries of the cell at (m/n, k/m).
    fn sizes(&self, undersampling: f64, density: f64) -> (usize, usize) {
        let rows = ((undersampling * self.columns as f64).round() as usize).max(1);
        (rows, ((density * rows as f64).round() as usize).clamp(1, rows))
    }
}

/// What a method recovered.
#[derive(Debug, Serialize)]
struct Mapped {
    contestant: Contestant,
    /// shares[row][column]: of the draws, by k/m and m/n.
    shares: Vec<Vec<f64>>,
    /// The k/m up to which half the draws are recovered throughout, for each m/n.
    half: Vec<f64>,
    /// The mean share.
    area: f64,
    /// Passes over the data in the mean.
    passes: f64,
}

pub fn run(request: &Request, progress: &Progress) -> Result<Section> {
    let config: Config = Experiment::Phase.settings(request)?;
    config.check()?;
    let (xs, ys) = (config.undersampling.values(), config.density.values());
    let cells: Vec<(f64, f64)> = ys.iter().flat_map(|&y| xs.iter().map(move |&x| (x, y))).collect();
    let problems = cells.len() * config.draws;
    progress.expect(problems);
    let one = |at: usize| {
        let (x, y) = cells[at / config.draws];
        let done = trial(&config, config.sizes(x, y), config.seed.wrapping_add(at as u64), progress)?;
        progress.done("problems").map(|()| done)
    };
    // Each problem is one task: a fit on so few entries has no use for a second thread.
    let trials = (0..problems).into_par_iter().with_max_len(1).map(one).collect::<Result<Vec<_>>>()?;
    section(&config, &xs, &ys, &trials)
}

fn mapped(config: &Config, xs: &[f64], ys: &[f64], trials: &[Vec<Trial>]) -> Vec<Mapped> {
    let count = trials.len() as f64;
    let map = |(method, contestant): (usize, Contestant)| {
        let hits: Vec<f64> = trials.iter().map(|t| f64::from(u8::from(t[method].recovered))).collect();
        let shares: Vec<f64> = hits.chunks(config.draws).map(|h| h.iter().sum::<f64>() / config.draws as f64).collect();
        let shares: Vec<Vec<f64>> = shares.chunks(xs.len()).map(<[f64]>::to_vec).collect();
        let column = |at: usize| shares.iter().map(|row| row[at]).collect::<Vec<f64>>();
        Mapped {
            contestant,
            half: (0..xs.len()).map(|at| half_way(ys, &column(at))).collect(),
            area: hits.iter().sum::<f64>() / count,
            passes: trials.iter().map(|t| t[method].passes as f64).sum::<f64>() / count,
            shares,
        }
    };
    METHODS.into_iter().enumerate().map(map).collect()
}

/// The largest k/m such that all rows up to it have a share of one half at least: the first crossing from below, between
/// two rows by a straight line. Shares of few draws need not fall with k/m; what rises again beyond does not count. At
/// k/m = 0 the share is 1; where no row is below one half, the last row's k/m.
fn half_way(ys: &[f64], shares: &[f64]) -> f64 {
    let Some(below) = shares.iter().position(|&s| s < HALF) else { return ys.last().copied().unwrap_or(0.0) };
    let (from, share) = if below == 0 { (0.0, 1.0) } else { (ys[below - 1], shares[below - 1]) };
    from + (ys[below] - from) * (share - HALF) / (share - shares[below])
}

fn section(config: &Config, xs: &[f64], ys: &[f64], trials: &[Vec<Trial>]) -> Result<Section> {
    let maps = mapped(config, xs, ys, trials);
    let threshold = xs.iter().map(|&x| weak_threshold(x, Sign::Any)).collect::<Result<Vec<f64>, _>>()?;
    let (low, high) = config.density.edges();
    let covered = threshold.iter().map(|rho| ((rho - low) / (high - low)).clamp(0.0, 1.0)).sum::<f64>();
    let covered = covered / threshold.len() as f64;
    // The plan has IHT first, then AccIHT.
    let alone = |a: usize, b: usize| trials.iter().filter(|t| t[a].recovered && !t[b].recovered).count();
    let (only_iht, only_acc_iht) = (alone(0, 1), alone(1, 0));
    let mut ranked: Vec<&Mapped> = maps.iter().collect();
    ranked.sort_by(|a, b| b.area.total_cmp(&a.area));
    let percent = |m: &&Mapped| format!("{} {:.0} %", m.contestant.label(), 100.0 * m.area);
    let areas = ranked.iter().map(percent).collect::<Vec<_>>().join("; ");

    let mut section = Section::new(Experiment::Phase)?;
    section.lead = format!(
        "Of all draws are recovered: {areas}. The Donoho–Tanner curve of ℓ1 minimisation covers {:.0} % of the map. With the \
         step 1/λ_max AccIHT alone recovers {only_acc_iht} draws, IHT alone {only_iht}.",
        100.0 * covered,
    );
    let Config { columns, draws, recovered, .. } = config;
    section.set_up([
        ("Designs", format!("m × {columns}, independent N(0, 1/m) entries, a new one for each draw")),
        ("Planted vectors", "k normal entries, norm 1; no noise".into()),
        ("Cells", format!("{} × {}, {draws} draws each, the same for all methods", xs.len(), ys.len())),
        ("Recovered", format!("‖x − x*‖ ≤ {recovered:e}·‖x*‖")),
    ]);
    let (maps_drawn, halves) = panels(config, &maps, xs, ys)?;
    section.draw("", 4, maps_drawn)?;
    section.draw("-half", 1, vec![halves])?;
    section.tables.push(table(&ranked, &threshold, covered));
    section.count(maps.iter().map(|m| (format!("area of {}", m.contestant.label()), m.area)));
    section.count([("area of the l1 curve", covered)]);
    section.record = json!({
        "config": config, "undersampling": xs, "density": ys, "weak_threshold": threshold,
        "area_below_threshold": covered, "maps": maps, "only_acc_iht": only_acc_iht, "only_iht": only_iht,
    });
    Ok(section)
}

fn table(ranked: &[&Mapped], threshold: &[f64], covered: f64) -> Table {
    let columns = threshold.len();
    let mean = |values: &[f64]| format!("{:.3}", values.iter().sum::<f64>() / columns as f64);
    let row = |map: &&Mapped| {
        let above = map.half.iter().zip(threshold).filter(|(half, rho)| half > rho).count();
        vec![
            map.contestant.label().into(),
            format!("{:.3}", map.area),
            format!("{:.2}", map.area / covered),
            mean(&map.half),
            format!("{above} of {columns}"),
            format!("{:.0}", map.passes),
        ]
    };
    let curve = ["ℓ1 curve", &format!("{covered:.3}"), "1.00", &mean(threshold), "–", "–"].map(String::from);
    let headings = [
        "method",
        "area recovered",
        "over the ℓ1 curve's",
        "k/m to which half are recovered, mean",
        "m/n at which it is above the curve",
        "passes, mean",
    ];
    Table::new("How much of the map is recovered", headings, ranked.iter().map(row).chain([curve.into()]))
}

/// One map a method, and up to where half the draws are recovered.
fn panels(config: &Config, maps: &[Mapped], xs: &[f64], ys: &[f64]) -> Result<(Vec<Panel>, Panel)> {
    let ((left, right), (low, high)) = (config.undersampling.edges(), config.density.edges());
    let x = Axis::linear("m/n").between(left.max(0.0), right.min(1.0));
    let y = Axis::linear("k/m").between(low.max(0.0), high.min(1.0));
    let (from, to) = (left.max(1e-3), right.min(1.0 - 1e-3));
    let deltas = (0..=POINTS).map(|i| from + (to - from) * i as f64 / POINTS as f64);
    let threshold = deltas.map(|d| weak_threshold(d, Sign::Any).map(|rho| (d, rho))).collect::<Result<_, _>>()?;
    let curve = Curve::new("Donoho–Tanner curve of ℓ1 minimisation", Ink::Guide, threshold);
    let map = |map: &Mapped| Panel {
        title: format!("{}: {:.0} %", map.contestant.label(), 100.0 * map.area),
        body: Body::Map(Map {
            x: x.clone(),
            y: y.clone(),
            xs: xs.into(),
            ys: ys.into(),
            values: map.shares.clone(),
            meaning: "share of draws recovered".into(),
            curves: vec![curve.clone()],
        }),
    };
    let half = |map: &Mapped| Curve::of(map.contestant, xs.iter().copied().zip(map.half.iter().copied()).collect());
    let halves = [curve.clone().stroked(Stroke::Dashed)].into_iter().chain(maps.iter().map(half)).collect();
    let up = Axis::linear("k/m up to which half the draws are recovered").between(0.0, 1.0);
    Ok((maps.iter().map(map).collect(), Panel::chart("By m/n", x.clone(), up, halves)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_is_where_the_line_between_two_rows_crosses() {
        for (shares, half) in [
            ([1.0, 0.75, 0.25], 0.25),
            ([1.0, 1.0, 1.0], 0.3),
            ([0.0, 0.0, 0.0], 0.05),
            ([0.5, 0.0, 0.0], 0.1),
            // A share that rises again does not move the first crossing.
            ([1.0, 0.0, 0.75], 0.15),
            ([0.0, 1.0, 1.0], 0.05),
        ] {
            assert!((half_way(&[0.1, 0.2, 0.3], &shares) - half).abs() < 1e-12, "{shares:?}");
        }
    }

    /// Few rows for many entries: nobody can; many rows for one entry: everybody does.
    #[test]
    fn the_ends_of_the_map_are_known() {
        let lines = [
            "columns = 40",
            "undersampling = { from = 0.1, to = 0.9, steps = 2 }",
            "density = { from = 0.03, to = 0.9, steps = 2 }",
            "draws = 3",
            "iterations = 500",
        ];
        let request = crate::experiment::tests::changed(Experiment::Phase, &lines);
        let section = run(&request, &Progress::hidden()).unwrap();
        let maps = section.record["maps"].as_array().unwrap();
        assert_eq!(maps.len(), METHODS.len());
        for map in maps {
            let share = |row: usize, column: usize| map["shares"][row][column].as_f64().unwrap();
            assert_eq!((share(0, 1), share(1, 0)), (1.0, 0.0), "{}", map["contestant"]);
        }
    }
}
