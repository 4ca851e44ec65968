//! `momentum`: which constant momentum converges, ripples or diverges on a toy whose curvature is known.

mod local;
mod report;
mod toy;
mod trial;

use anyhow::Result;
use katoms::theory::Conditioning;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use self::local::Local;
use self::toy::{Shape, Toy, Window};
use self::trial::{Rules, Trial};
use crate::{Experiment, Progress, Request, Section};

/// φ = (1+√5)/2.
const GOLDEN: f64 = 1.618_033_988_749_895;

/// `paper/momentum.toml` says what each is.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    seed: u64,
    rows: usize,
    columns: usize,
    k: usize,
    within: Option<Window>,
    left: Vec<f64>,
    middle: Vec<f64>,
    right: Vec<f64>,
    shown: usize,
    tau: Grid,
    iterations: usize,
    converged: f64,
    ripples: f64,
    toys: u64,
    stride: usize,
    proposals: usize,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Grid {
    from: f64,
    to: f64,
    steps: usize,
}

impl Grid {
    /// Evenly spaced, and plain IHT among them.
    fn values(&self) -> Vec<f64> {
        let value = |i: usize| self.from + (self.to - self.from) * i as f64 / self.steps as f64;
        let mut values: Vec<f64> = (0..=self.steps).map(value).chain([0.0]).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        values
    }
}

impl Config {
    fn check(&self) -> Result<()> {
        let window = self.within.is_none_or(|w| w.alpha < w.beta);
        let panels = !self.left.is_empty() && !self.right.is_empty();
        Experiment::Momentum.check([
            ((1..=self.columns / 3).contains(&self.k), "`k` must be 1 to a third of `columns`"),
            (window, "`within` must have alpha < beta"),
            (panels, "`left` and `right` must each hold at least one τ"),
            (self.middle.contains(&0.0), "`middle` must hold 0.0, plain IHT"),
            (self.stride <= self.tau.steps, "`stride` must be at most the steps of `tau`"),
        ])
    }

    fn shape(&self) -> Shape {
        Shape { rows: self.rows, columns: self.columns, k: self.k, within: self.within, proposals: self.proposals }
    }

    fn rules(&self) -> Rules {
        Rules { iterations: self.iterations, converged: self.converged, ripples: self.ripples }
    }
}

/// Curvature over all supports of one size, and what the theory makes of it.
struct Curvature {
    /// In words: "k".
    size: &'static str,
    /// `None` where α = 0.
    known: Option<Conditioning>,
    alpha: f64,
    beta: f64,
}

/// For how many of the other toys a momentum converges.
#[derive(Serialize)]
struct Share {
    tau: f64,
    converges: f64,
    /// Of those whose local range it lies in.
    expected: f64,
}

/// All that was measured.
struct Measured {
    toy: Toy,
    /// Over supports of k, 2k and 3k columns.
    curvatures: Vec<Curvature>,
    /// That over k, by which step and ranges are chosen.
    of_k: Conditioning,
    local: Local,
    panels: [Vec<Trial>; 3],
    grid: Vec<Trial>,
    plain: Trial,
    /// Empty without other toys.
    shares: Vec<Share>,
    /// That every pair of columns of a plain draw lies in the window; `None` without one.
    chance: Option<f64>,
}

impl Measured {
    /// The share of the other toys on which plain IHT converges.
    fn plain_share(&self) -> Option<f64> {
        self.shares.iter().find(|s| s.tau == 0.0).map(|s| s.converges)
    }
}

pub fn run(request: &Request, progress: &Progress) -> Result<Section> {
    let config: Config = Experiment::Momentum.settings(request)?;
    config.check()?;
    report::section(&config, &measure(&config, progress)?)
}

fn measure(config: &Config, progress: &Progress) -> Result<Measured> {
    let grid = config.tau.values();
    let panels = [&config.left, &config.middle, &config.right];
    let single = grid.len() + panels.iter().map(|taus| taus.len()).sum::<usize>() + 1;
    progress.expect(single + config.toys as usize);
    let toy = Toy::draw(config.shape(), config.seed, progress)?;
    let curvature = |(size, columns): (&'static str, usize)| {
        let found = toy.curvature(columns)?;
        Ok(Curvature { size, known: found.conditioning().ok(), alpha: found.alpha, beta: found.beta })
    };
    let sizes = [("k", config.k), ("2k", 2 * config.k), ("3k", 3 * config.k)];
    let curvatures = sizes.into_iter().map(curvature).collect::<Result<Vec<_>>>()?;
    let Some(of_k) = curvatures[0].known else {
        let why = "two columns of this draw are the same: another `seed`, or more `rows`";
        return Err(Experiment::Momentum.bad_config(why));
    };
    let trial = |&tau: &f64| {
        let trial = Trial::run(&toy, of_k.step(), tau, config.rules(), progress)?;
        progress.done("one toy")?;
        Ok(trial)
    };
    let trials = |taus: &[f64]| taus.par_iter().map(trial).collect::<Result<Vec<Trial>>>();
    let panels = [trials(panels[0])?, trials(panels[1])?, trials(panels[2])?];
    let (grid, plain) = (trials(&grid)?, trial(&0.0)?);
    let (shares, mut chances) = others(config, progress)?;
    chances.extend(&toy.chances);
    let chance = config.within.map(|_| chances.iter().sum::<f64>() / chances.len() as f64);
    let local = Local::new(toy.planted_curvature()?, of_k.step());
    Ok(Measured { toy, curvatures, of_k, local, panels, grid, plain, shares, chance })
}

/// What was seen on another toy.
struct Other {
    /// For each momentum: whether it converges, and whether the local range holds it.
    seen: Vec<(bool, bool)>,
    chances: Vec<f64>,
}

/// Other toys of the same kind: how many of them converge, by momentum, and the chances of their draws.
fn others(config: &Config, progress: &Progress) -> Result<(Vec<Share>, Vec<f64>)> {
    if config.toys == 0 {
        return Ok((Vec::new(), Vec::new()));
    }
    // Plain IHT is always among them.
    let taken = |(at, tau): &(usize, f64)| at % config.stride == 0 || *tau == 0.0;
    let taus: Vec<f64> = config.tau.values().into_iter().enumerate().filter(taken).map(|(_, tau)| tau).collect();
    let one = |toy: u64| -> Result<Other> {
        let seed = config.seed.wrapping_add(1 + toy);
        let toy = Toy::draw(config.shape(), seed, progress)?;
        let chances = toy.chances.clone();
        let Ok(of_k) = toy.curvature(config.k)?.conditioning() else {
            progress.done("other toys")?;
            return Ok(Other { seen: vec![(false, false); taus.len()], chances });
        };
        let (low, high) = Local::new(toy.planted_curvature()?, of_k.step()).range();
        let run = |&tau: &f64| {
            let trial = Trial::run(&toy, of_k.step(), tau, config.rules(), progress)?;
            Ok((trial.label.converges(), tau > low && tau < high))
        };
        let seen = taus.iter().map(run).collect::<Result<Vec<_>>>()?;
        progress.done("other toys")?;
        Ok(Other { seen, chances })
    };
    let found = (0..config.toys).into_par_iter().map(one).collect::<Result<Vec<_>>>()?;
    let share = |count: usize| count as f64 / config.toys as f64;
    let of = |(at, &tau): (usize, &f64)| Share {
        tau,
        converges: share(found.iter().filter(|toy| toy.seen[at].0).count()),
        expected: share(found.iter().filter(|toy| toy.seen[at].1).count()),
    };
    let shares = taus.iter().enumerate().map(of).collect();
    Ok((shares, found.iter().flat_map(|toy| toy.chances.clone()).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::tests::changed;

    /// Far from the ends of the linear range the measured rate is the one of linear algebra, and the momenta that
    /// converge are those in it.
    #[test]
    fn the_measured_rates_are_those_of_the_recursion() -> Result<()> {
        let config: Config = Experiment::Momentum.settings(&changed(Experiment::Momentum, &[]))?;
        let found = measure(&config, &Progress::hidden())?;
        let (low, high) = found.local.range();
        for trial in found.grid.iter().filter(|t| t.label.converges()) {
            assert!(trial.tau > low && trial.tau < high, "τ = {}", trial.tau);
            let (rate, expected) = (trial.rate.ln(), found.local.rate(trial.tau).ln());
            assert!((rate / expected - 1.0).abs() < 0.25, "τ = {}: {rate} {expected}", trial.tau);
        }
        Ok(())
    }

    #[test]
    fn a_window_that_no_draw_meets_is_refused() {
        let narrow = ["within = { alpha = 0.9999, beta = 1.0001 }", "proposals = 1000"];
        let error = run(&changed(Experiment::Momentum, &narrow), &Progress::hidden()).unwrap_err().to_string();
        assert!(error.contains("`within`"), "{error}");
    }
}
