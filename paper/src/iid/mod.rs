//! `iid`: a wide Gaussian design without noise; what it costs each method to find the planted vector.
//!
//! The paper's settings come first, as it has them: the step 1/λ_max(ΦᵀΦ), whose cost is part of every run that uses it,
//! τ = ¼, and Frank–Wolfe on the ℓ1 ball with fully corrective steps. Then Algorithm 1 with a restricted line search, with
//! the closed-form τ, and as katoms runs it.

mod costs;
mod figures;
mod problem;
mod runs;
mod verdicts;

use std::collections::BTreeMap;

use katoms::select::{Sign, phase_transition_k};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{Contestant, Error, Experiment, Progress, Request, Section, Table};
use costs::{Costs, one_digit};
use problem::Problem;
use runs::{Field, Run};

/// The paper's size, for what it says about k̂.
const PAPER_ROWS: usize = 7500;
const PAPER_COLUMNS: usize = 200_000;
const PAPER_OVERSHOT: usize = 2441;

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Config {
    seed: u64,
    rows: usize,
    columns: usize,
    /// Entries of the planted vector.
    k: usize,
    /// The sparsity that is asked for when k is overshot.
    overshot: usize,
    /// τ of the paper.
    momentum: f64,
    /// λ of the ℓ1 ball.
    radius: f64,
    /// Shares of f(0) at which costs are read off, falling.
    levels: Vec<f64>,
    /// A run ends when f is below this share of f(0).
    floor: f64,
    iterations: usize,
    /// The cap of Frank–Wolfe without correction.
    uncorrected: usize,
}

impl Config {
    /// The settings of a request, if they can be run.
    fn of(request: &Request) -> Result<Self, Error> {
        let config: Self = Experiment::Iid.settings(request)?;
        let share = |v: f64| v > 0.0 && v < 1.0;
        let rules = [
            (config.k >= 1 && config.k <= config.rows, "`k` must lie between 1 and `rows`"),
            (
                config.overshot >= config.k && config.overshot <= config.columns,
                "`overshot` must lie between `k` and `columns`",
            ),
            (config.k <= config.columns, "`k` must be at most `columns`"),
            (config.radius.is_finite() && config.radius > 0.0, "`radius` must be above 0"),
            (config.momentum.is_finite(), "`momentum` must be a number"),
            (share(config.floor), "`floor` must lie between 0 and 1"),
            (config.iterations >= 1 && config.uncorrected >= 1, "`iterations` and `uncorrected` must be at least 1"),
            (
                !config.levels.is_empty()
                    && config.levels.iter().all(|&l| share(l) && l >= config.floor)
                    && config.levels.is_sorted_by(|a, b| a > b),
                "`levels` must fall, from below 1 to `floor` at least",
            ),
        ];
        match rules.iter().find(|(holds, _)| !holds) {
            Some((_, why)) => Err(Experiment::Iid.bad_config(why)),
            None => Ok(config),
        }
    }
}

/// What was run, and what it showed.
struct Results {
    config: Config,
    runs: Vec<Run>,
    /// λ_max(ΦᵀΦ).
    largest: f64,
    /// Passes that λ_max took.
    prepared: usize,
    /// Where the ℓ1 norm of the planted vector lies, beside the radius of the ball.
    norm: f64,
}

impl Results {
    /// The run of a contestant in a field.
    fn run(&self, contestant: Contestant, field: Field) -> Option<&Run> {
        self.runs.iter().find(|r| r.race.contestant == contestant && r.field == field)
    }
}

/// Runs it.
pub fn run(request: &Request, progress: &Progress) -> Result<Section, Error> {
    let config = Config::of(request)?;
    progress.expect(2 + runs::PLAN.len());
    let problem = Problem::draw(&config, progress)?;
    progress.done("the design")?;
    let (largest, preparation) = problem::largest_eigenvalue(&problem.f, progress)?;
    progress.done("the largest eigenvalue")?;
    let mut finished = Vec::new();
    for &(contestant, field) in &runs::PLAN {
        finished.push(runs::run(contestant, field, &problem, &config, (largest, preparation), progress)?);
        progress.done(contestant.label())?;
    }
    let norm = problem.truth.values().iter().map(|v| v.abs()).sum();
    section(&Results { config, runs: finished, largest, prepared: preparation.passes, norm })
}

fn section(results: &Results) -> Result<Section, Error> {
    let Results { config, runs, largest, prepared, norm } = results;
    let costs = Costs::new(results);
    let edge = (1.0 + (config.columns as f64 / config.rows as f64).sqrt()).powi(2);
    let mut section = Section::new(Experiment::Iid, "A wide Gaussian design without noise");
    section.lead = verdicts::lead(results, &costs);
    section.setup = vec![
        ("Design".into(), format!("{} × {}, independent N(0, 1/m) entries in f32", config.rows, config.columns)),
        ("Planted vector".into(), format!("{} normal entries, norm 1, ℓ1 norm {norm:.1}; no noise", config.k)),
        ("k".into(), format!("{} (exact), {} (overshot)", config.k, config.overshot)),
        ("Step of the paper".into(), format!("1/λ_max = 1/{largest:.2}; {prepared} passes, part of every run with it")),
        ("ℓ1 ball".into(), format!("λ = {}", config.radius)),
        ("End of a run".into(), format!("f ≤ {:e}·f(0), or {} iterations", config.floor, config.iterations)),
    ];
    section.figures = figures::figures(results);
    section.tables = vec![runs_table(results), costs.table()];
    section.verdicts = verdicts::verdicts(results, &costs)?;
    section.notes = notes(results, edge)?;
    section.numbers = numbers(results, &costs, edge)?;
    section.record = json!({
        "config": config,
        "largest_eigenvalue": largest,
        "eigenvalue_passes": prepared,
        "l1_norm": norm,
        "runs": runs,
    });
    Ok(section)
}

/// A level that a run does not reach has no number.
fn numbers(results: &Results, costs: &Costs, edge: f64) -> Result<BTreeMap<String, f64>, Error> {
    let passes =
        |contestant, field| results.run(contestant, field).and_then(|r| r.reaches(1e-6)).map(|m| m.passes as f64);
    let ours = results.runs.iter().filter(|r| r.race.contestant == Contestant::Katoms);
    let found = ours.filter(|r| r.found).count();
    let allowed = phase_transition_k(PAPER_ROWS, PAPER_COLUMNS, Sign::Any)?;
    let all = [
        ("passes of katoms to 1e-6 at k", passes(Contestant::Katoms, Field::Exact)),
        ("passes of katoms to 1e-6 at overshot k", passes(Contestant::Katoms, Field::Overshot)),
        ("passes of the closed form to 1e-6 at k", passes(Contestant::ClosedForm, Field::Exact)),
        ("passes of corrected FW to 1e-6", passes(Contestant::FrankWolfe, Field::Corrected)),
        ("largest eigenvalue over its limit", Some(results.largest / edge)),
        ("iterations of IHT over AccIHT at k", costs.momentum_at_k.map(|s| s.iterations)),
        ("iterations of IHT over AccIHT at overshot k", costs.momentum_overshot.map(|s| s.iterations)),
        ("passes of corrected FW over AccIHT", costs.corrected.map(|s| s.passes)),
        ("runs of katoms that find the support", Some(found as f64)),
        ("phase-transition k at the paper's size", Some(allowed as f64)),
    ];
    Ok(all.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect())
}

fn runs_table(results: &Results) -> Table {
    let levels = &results.config.levels;
    let timed = &levels[levels.len().saturating_sub(2)..];
    let mut headings: Vec<String> = ["method", "setting"].map(Into::into).into();
    headings.extend(levels.iter().map(|l| format!("passes to {l:e}")));
    headings.extend(timed.iter().map(|l| format!("seconds to {l:e}")));
    headings.extend(["support found", "relative error", "end"].map(Into::into));
    let row = |run: &Run| {
        let mut cells = vec![run.race.contestant.label().into(), run.race.setting.clone()];
        cells.extend(levels.iter().map(|&l| run.reaches(l).map_or("–".into(), |m| m.passes.to_string())));
        cells.extend(timed.iter().map(|&l| run.reaches(l).map_or("–".into(), |m| format!("{:.3}", m.seconds))));
        let share = run.shares.last().copied().unwrap_or(0.0);
        cells.extend([
            if run.found { "yes".into() } else { format!("{:.0} %", (100.0 * share).floor()) },
            format!("{:.1e}", run.error),
            run.ended(),
        ]);
        cells
    };
    let title = "Costs to a share of f(0), those of the step included".into();
    Table { title, headings, rows: results.runs.iter().map(row).collect() }
}

fn notes(results: &Results, edge: f64) -> Result<Vec<String>, Error> {
    let Results { config, largest, norm, .. } = results;
    let here = phase_transition_k(config.rows, config.columns, Sign::Any)?;
    let (any, positive) = (
        phase_transition_k(PAPER_ROWS, PAPER_COLUMNS, Sign::Any)?,
        phase_transition_k(PAPER_ROWS, PAPER_COLUMNS, Sign::Nonnegative)?,
    );
    // How many times the step of the line search is that of the paper.
    let short = results.run(Contestant::LineSearch, Field::Exact).map_or(f64::NAN, |r| r.step * largest);
    Ok(vec![
        format!(
            "k̂ = {PAPER_OVERSHOT} is not what the Donoho–Tanner weak threshold gives at {PAPER_ROWS} × \
             {PAPER_COLUMNS}: that is {any}, or {positive} for nonnegative entries. Here, at {} × {}, it is {here}; {} \
             was used.",
            config.rows, config.columns, config.overshot,
        ),
        format!(
            "λ_max is {largest:.2}, near (1 + √(n/m))² = {edge:.2}: it belongs to directions of all n columns. Along the \
             columns of a step the line search measures a curvature of {} (median), and takes steps {} times as long.",
            one_digit(largest / short),
            one_digit(short),
        ),
        format!(
            "The planted vector has an ℓ1 norm of {norm:.1}, the ball a radius of {}. {}",
            config.radius,
            if *norm < config.radius {
                "It lies inside of the ball, so that the constraint does not shrink it: with fully corrective steps \
                 Frank–Wolfe adds one column a pass and refits, as orthogonal matching pursuit does, as long as no \
                 coefficient changes its sign."
            } else {
                "It lies outside of the ball, so that Frank–Wolfe cannot reach it."
            },
        ),
        "λ_max is computed once, by Lanczos; its passes and seconds are added to every run that uses it. The step of a \
         restricted line search needs no preparation."
            .into(),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scale;

    fn small() -> Request {
        Request { scale: Scale::Small, ..Request::default() }
    }

    #[test]
    fn what_cannot_be_run_is_refused_and_said() {
        let refused = |change: &str| {
            let base = Experiment::Iid.template();
            let key = change.split(' ').next().unwrap_or_default();
            let kept: Vec<&str> = base.lines().take_while(|l| !l.starts_with('[')).collect();
            let kept: Vec<&str> = kept.into_iter().filter(|l| !l.starts_with(&format!("{key} ="))).collect();
            let config = Some(format!("{}\n{change}\n", kept.join("\n")));
            Config::of(&Request { config, ..Request::default() }).map(|_| ()).unwrap_err().to_string()
        };
        assert!(refused("k = 0").contains("`k` must"));
        assert!(refused("k = 751").contains("`k` must"));
        assert!(refused("overshot = 49").contains("`overshot`"));
        assert!(refused("columns = 100").contains("`overshot`"));
        assert!(refused("levels = [1e-3, 1e-2]").contains("`levels`"));
        assert!(refused("levels = []").contains("`levels`"));
        assert!(refused("radius = nan").contains("`radius`"));
        assert!(refused("floor = 0.0").contains("`floor`"));
        assert!(refused("iterations = 0").contains("`iterations`"));
        assert!(refused("rowz = 3").contains("`rowz`"));
    }

    #[test]
    fn numbers_are_the_same_at_any_thread_count() {
        let numbers = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut request = small();
            let text = Experiment::Iid.template();
            request.config = Some(text.replace("iterations = 1500", "iterations = 40"));
            pool.install(|| run(&request, &Progress::hidden())).unwrap().numbers
        };
        let (one, three) = (numbers(1), numbers(3));
        assert!(one.iter().zip(&three).all(|(a, b)| a.0 == b.0 && a.1.to_bits() == b.1.to_bits()), "{one:?} {three:?}");
    }
}
