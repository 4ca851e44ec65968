//! `phase`: beyond the paper; how often each method recovers a planted vector, over (m/n, k/m).
//!
//! Donoho and Tanner's curve tells where ℓ1 minimisation stops to recover, as n grows. The maps show where the others do.

mod figures;
mod fits;
mod settings;

use std::cmp::Ordering;
use std::collections::BTreeMap;

use katoms::select::{Sign, weak_threshold};
use rayon::prelude::*;
use serde::Serialize;
use serde_json::json;

use crate::{Contestant, Error, Experiment, Progress, Request, Section, Table};
use fits::{METHODS, Trial, trial};
use settings::Config;

/// Half of the draws: where a method is said to stop recovering.
const HALF: f64 = 0.5;

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

/// Everything that was measured.
struct Results {
    config: Config,
    /// m/n.
    xs: Vec<f64>,
    /// k/m.
    ys: Vec<f64>,
    maps: Vec<Mapped>,
    /// ρ of the weak threshold, for each m/n.
    threshold: Vec<f64>,
    /// The area that it covers of the map.
    covered: f64,
    /// Draws that AccIHT alone recovers, and IHT alone.
    only: (usize, usize),
}

impl Results {
    /// The map of a contestant.
    fn of(&self, contestant: Contestant) -> Option<&Mapped> {
        self.maps.iter().find(|m| m.contestant == contestant)
    }
}

/// Runs it.
pub fn run(request: &Request, progress: &Progress) -> Result<Section, Error> {
    let config = Config::of(request)?;
    let (xs, ys) = (config.undersampling.values(), config.density.values());
    let cells: Vec<(f64, f64)> = ys.iter().flat_map(|&y| xs.iter().map(move |&x| (x, y))).collect();
    let problems = cells.len() * config.draws;
    progress.expect(problems);
    let one = |at: usize| -> Result<[Trial; METHODS.len()], Error> {
        let (x, y) = cells[at / config.draws];
        let done = trial(&config, config.sizes(x, y), config.seed.wrapping_add(at as u64), progress)?;
        progress.done("problems")?;
        Ok(done)
    };
    // Each problem is one task: a fit on so few entries has no use for a second thread.
    let trials: Vec<[Trial; METHODS.len()]> =
        (0..problems).into_par_iter().with_max_len(1).map(one).collect::<Result<_, Error>>()?;
    section(&gathered(config, xs, ys, &trials)?)
}

fn gathered(config: Config, xs: Vec<f64>, ys: Vec<f64>, trials: &[[Trial; METHODS.len()]]) -> Result<Results, Error> {
    let count = trials.len() as f64;
    let map = |(method, contestant): (usize, Contestant)| {
        let hits: Vec<f64> = trials.iter().map(|t| f64::from(u8::from(t[method].recovered))).collect();
        let shares: Vec<f64> = hits.chunks(config.draws).map(|h| h.iter().sum::<f64>() / config.draws as f64).collect();
        let shares: Vec<Vec<f64>> = shares.chunks(xs.len()).map(<[f64]>::to_vec).collect();
        let column = |at: usize| shares.iter().map(|row| row[at]).collect::<Vec<f64>>();
        Mapped {
            contestant,
            half: (0..xs.len()).map(|at| half_way(&ys, &column(at))).collect(),
            area: hits.iter().sum::<f64>() / count,
            passes: trials.iter().map(|t| t[method].passes as f64).sum::<f64>() / count,
            shares,
        }
    };
    let maps: Vec<Mapped> = METHODS.into_iter().enumerate().map(map).collect();
    let threshold = xs.iter().map(|&x| weak_threshold(x, Sign::Any)).collect::<Result<Vec<f64>, _>>()?;
    let (low, high) = config.density.edges();
    let covered = threshold.iter().map(|rho| ((rho - low) / (high - low)).clamp(0.0, 1.0)).sum::<f64>();
    let covered = covered / threshold.len() as f64;
    let place = |contestant| METHODS.iter().position(|&m| m == contestant).unwrap_or(0);
    let (acc, iht) = (place(Contestant::AccIht), place(Contestant::Iht));
    let alone = |a: usize, b: usize| trials.iter().filter(|t| t[a].recovered && !t[b].recovered).count();
    let only = (alone(acc, iht), alone(iht, acc));
    Ok(Results { config, xs, ys, maps, threshold, covered, only })
}

/// The largest k/m such that all rows up to it have a share of one half at least: the first crossing from below, between
/// two rows by a straight line. Shares of few draws need not fall with k/m; what rises again beyond does not count. At
/// k/m = 0 the share is 1; where no row is below one half, the last row's k/m.
fn half_way(ys: &[f64], shares: &[f64]) -> f64 {
    let Some(below) = shares.iter().position(|&s| s < HALF) else { return ys.last().copied().unwrap_or(0.0) };
    let (from, share) = if below == 0 { (0.0, 1.0) } else { (ys[below - 1], shares[below - 1]) };
    from + (ys[below] - from) * (share - HALF) / (share - shares[below])
}

fn section(results: &Results) -> Result<Section, Error> {
    let Results { config, xs, ys, maps, threshold, covered, .. } = results;
    let mut section = Section::new(Experiment::Phase, "Where each method recovers");
    section.lead = lead(results);
    let Config { columns, draws, recovered, .. } = config;
    section.setup = vec![
        ("Designs".into(), format!("m × {columns}, independent N(0, 1/m) entries, a new one for each draw")),
        ("Planted vectors".into(), "k normal entries, norm 1; no noise".into()),
        ("Cells".into(), format!("{} × {}, {draws} draws each, the same for all methods", xs.len(), ys.len())),
        ("Recovered".into(), format!("‖x − x*‖ ≤ {recovered:e}·‖x*‖")),
    ];
    section.figures = figures::figures(results)?;
    section.tables.push(table(results));
    section.notes = notes(config);
    section.numbers = numbers(results);
    section.record = json!({
        "config": config,
        "undersampling": xs,
        "density": ys,
        "weak_threshold": threshold,
        "area_below_threshold": covered,
        "maps": maps,
        "only_acc_iht": results.only.0,
        "only_iht": results.only.1,
    });
    Ok(section)
}

/// The maps, the largest area first.
fn ranked(results: &Results) -> Vec<&Mapped> {
    let mut maps: Vec<&Mapped> = results.maps.iter().collect();
    maps.sort_by(|a, b| b.area.total_cmp(&a.area));
    maps
}

/// In how many columns the half-way point lies above the threshold.
fn above(map: &Mapped, threshold: &[f64]) -> usize {
    map.half.iter().zip(threshold).filter(|(half, rho)| half > rho).count()
}

fn lead(results: &Results) -> String {
    let maps = ranked(results);
    let [first, second, ..] = maps[..] else { return String::new() };
    let percent = |area: f64| format!("{:.0} %", 100.0 * area);
    let most = if first.area > second.area {
        format!(
            "{} recovers the most: {} of all draws; next comes {} with {}.",
            first.contestant.label(),
            percent(first.area),
            second.contestant.label(),
            percent(second.area)
        )
    } else {
        format!(
            "{} and {} recover the most, {} of all draws each.",
            first.contestant.label(),
            second.contestant.label(),
            percent(first.area)
        )
    };
    let columns = results.xs.len();
    let beyond = above(first, &results.threshold);
    let curve = format!(
        "The Donoho–Tanner curve of ℓ1 minimisation covers {} of the map; {} goes beyond it at {beyond} of {columns} m/n.",
        percent(results.covered),
        first.contestant.label(),
    );
    let below = maps.iter().filter(|m| m.area < results.covered);
    let below: Vec<&str> = below.map(|m| m.contestant.label()).collect();
    let below = if below.is_empty() {
        "No method covers less than the curve.".into()
    } else {
        format!("Less than the curve cover: {}.", below.join("; "))
    };
    format!("{most} {curve} {below} {}", momentum(results))
}

/// What momentum changes, with the paper's step.
fn momentum(results: &Results) -> String {
    let area = |contestant| results.of(contestant).map_or(0.0, |m| m.area);
    let (acc, iht) = (area(Contestant::AccIht), area(Contestant::Iht));
    let (acc_only, iht_only) = results.only;
    let said = match acc.total_cmp(&iht) {
        Ordering::Greater => "AccIHT recovers more than IHT",
        Ordering::Less => "AccIHT recovers less than IHT",
        Ordering::Equal => "AccIHT recovers as much as IHT",
    };
    format!(
        "With the step 1/λ_max {said}: {acc:.3} of the map against {iht:.3}; AccIHT alone recovers {acc_only} draws, IHT \
         alone {iht_only}."
    )
}

fn table(results: &Results) -> Table {
    let columns = results.xs.len();
    let row = |map: &&Mapped| {
        let half = map.half.iter().sum::<f64>() / columns as f64;
        vec![
            map.contestant.label().into(),
            format!("{:.3}", map.area),
            format!("{:.2}", map.area / results.covered),
            format!("{half:.3}"),
            format!("{} of {columns}", above(map, &results.threshold)),
            format!("{:.0}", map.passes),
        ]
    };
    let mut rows: Vec<Vec<String>> = ranked(results).iter().map(row).collect();
    let curve = results.threshold.iter().sum::<f64>() / columns as f64;
    let covered = format!("{:.3}", results.covered);
    rows.push(vec!["ℓ1 curve".into(), covered, "1.00".into(), format!("{curve:.3}"), "–".into(), "–".into()]);
    let headings = [
        "method",
        "area recovered",
        "over the ℓ1 curve's",
        "k/m to which half are recovered, mean",
        "m/n at which it is above the curve",
        "passes, mean",
    ];
    Table { title: "How much of the map is recovered".into(), headings: headings.map(Into::into).into(), rows }
}

fn notes(config: &Config) -> Vec<String> {
    vec![
        "The curve is the weak threshold for n → ∞; at a finite n the change is gradual, and a method for ℓ1 follows it \
         with a band."
            .into(),
        format!(
            "The Lasso is followed to {:e} of its largest λ, near basis pursuit; its k largest entries are then refitted. \
             OMP, CoSaMP (with refits), katoms and the Lasso are given k.",
            config.lasso.smallest
        ),
        "The planted entries are normal, of different sizes, on which greedy methods and thresholding rely. Entries of \
         equal size would give other maps."
            .into(),
        "No cell is skipped: every method runs on every draw.".into(),
    ]
}

fn numbers(results: &Results) -> BTreeMap<String, f64> {
    let areas = results.maps.iter().map(|m| (format!("area of {}", m.contestant.label()), m.area));
    let curve = ("area of the l1 curve".to_owned(), results.covered);
    areas.chain([curve]).collect()
}

#[cfg(test)]
mod tests;
