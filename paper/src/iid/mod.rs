//! `iid`: a wide Gaussian design without noise; what it costs each method to find the planted vector.
//!
//! The paper's settings come first, as it has them: the step 1/λ_max(ΦᵀΦ), whose cost is part of every run that uses it,
//! τ = ¼, and Frank–Wolfe on the ℓ1 ball with fully corrective steps. Then Algorithm 1 with a restricted line search, with
//! the closed-form τ, and as katoms runs it.

mod figures;
mod runs;

use anyhow::Result;
use katoms::method::largest_curvature;
use katoms::select::{Sign, phase_transition_k};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::race::{Ratio, prepare, short};
use crate::{Agreement, Contestant, Experiment, Progress, Request, Section, Table};
use runs::{Field, Problem, Run};

/// The paper's size, for what it says about k̂.
const PAPER_ROWS: usize = 7500;
const PAPER_COLUMNS: usize = 200_000;
const PAPER_OVERSHOT: usize = 2441;
/// An answer this close, relative to its norm, is right.
const RIGHT: f64 = 1e-3;
/// Shares of the planted support at which two runs are compared, falling.
const SHARES: [f64; 3] = [1.0, 0.9, 0.5];

/// `paper/iid.toml` says what each is.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Config {
    seed: u64,
    rows: usize,
    columns: usize,
    k: usize,
    overshot: usize,
    momentum: f64,
    radius: f64,
    levels: Vec<f64>,
    floor: f64,
    iterations: usize,
    uncorrected: usize,
}

impl Config {
    fn check(&self) -> Result<()> {
        let falling = self.levels.is_sorted_by(|a, b| a > b) && self.levels.last().is_some_and(|&l| l >= self.floor);
        Experiment::Iid.check([
            (self.k >= 1 && self.k <= self.rows.min(self.columns), "`k` must lie between 1 and `rows` and `columns`"),
            ((self.k..=self.columns).contains(&self.overshot), "`overshot` must lie between `k` and `columns`"),
            (falling, "`levels` must fall, to `floor` at least"),
        ])
    }
}

/// What was run, and what it showed.
struct Results {
    config: Config,
    runs: Vec<Run>,
    /// λ_max(ΦᵀΦ), and the passes that it took.
    largest: f64,
    prepared: usize,
    /// The ℓ1 norm of the planted vector, beside the radius of the ball.
    norm: f64,
}

impl Results {
    fn run(&self, contestant: Contestant, field: Field) -> Option<&Run> {
        self.runs.iter().find(|r| r.race.contestant == contestant && r.field == field)
    }

    /// What one run costs over another at the deepest level of f that both reach.
    fn ratio(&self, slow: Option<&Run>, fast: Option<&Run>) -> Option<Ratio> {
        let (slow, fast, levels) = (slow?, fast?, self.config.levels.iter().rev().copied());
        Ratio::at_first(levels, |l| fast.reaches(l).copied(), |l| slow.reaches(l).copied())
    }

    /// The same for two methods in one field.
    fn against(&self, slow: Contestant, fast: Contestant, field: Field) -> Option<Ratio> {
        self.ratio(self.run(slow, field), self.run(fast, field))
    }

    /// The faster of Frank–Wolfe and its pairwise variant over a method at the exact k: the deepest level counts first.
    fn frank_wolfe(&self, fast: Contestant, field: Field) -> Option<Ratio> {
        let both = [Contestant::FrankWolfe, Contestant::PairwiseFrankWolfe].map(|slow| self.run(slow, field));
        let ratios = both.into_iter().filter_map(|slow| self.ratio(slow, self.run(fast, Field::Exact)));
        ratios.min_by(|a, b| a.level.total_cmp(&b.level).then(a.passes.total_cmp(&b.passes)))
    }

    /// IHT over AccIHT at the largest share of the support that both find.
    fn support(&self, field: Field) -> Option<Ratio> {
        let (fast, slow) = (self.run(Contestant::AccIht, field)?, self.run(Contestant::Iht, field)?);
        Ratio::at_first(SHARES, |s| fast.finds(s).copied(), |s| slow.finds(s).copied())
    }
}

pub fn run(request: &Request, progress: &Progress) -> Result<Section> {
    let config: Config = Experiment::Iid.settings(request)?;
    config.check()?;
    progress.expect(2 + runs::PLAN.len());
    let problem = Problem::draw(&config, progress)?;
    progress.done("the largest eigenvalue")?;
    let (largest, preparation) = prepare(&problem.f, || largest_curvature(&problem.f));
    progress.done("runs")?;
    let one = |plan| {
        let run = runs::run(plan, &problem, &config, (largest, preparation), progress)?;
        progress.done("runs").map(|()| run)
    };
    let finished = runs::PLAN.into_iter().map(one).collect::<Result<_>>()?;
    let norm = problem.truth.values().iter().map(|v| v.abs()).sum();
    section(&Results { runs: finished, largest, prepared: preparation.passes, norm, config })
}

fn section(results: &Results) -> Result<Section> {
    use Contestant::{AccIht, ClosedForm, FrankWolfe, Iht, Katoms, LineSearch};
    let Results { config, runs, largest, prepared, norm } = results;
    let edge = (1.0 + (config.columns as f64 / config.rows as f64).sqrt()).powi(2);
    let allowed = |sign| phase_transition_k(PAPER_ROWS, PAPER_COLUMNS, sign);
    let passes = |c, field| results.run(c, field).and_then(|r| r.reaches(1e-6)).map_or(f64::NAN, |m| m.passes as f64);
    let iterations = |field| results.against(Iht, AccIht, field).map_or(f64::NAN, |r| r.iterations);
    let corrected = results.frank_wolfe(AccIht, Field::Corrected).map_or(f64::NAN, |r| r.passes);
    let found = runs.iter().filter(|r| r.race.contestant == Katoms && r.found).count();

    let mut section = Section::new(Experiment::Iid)?;
    section.lead = format!(
        "IHT takes {:.2} times the iterations of AccIHT at the exact k and {:.2} times at the overshot one. Corrective \
         Frank–Wolfe takes {corrected:.2} times the passes of AccIHT as the paper sets it. With a line search and refits, as \
         katoms does it, {:.0} passes suffice at the exact k and {:.0} at the overshot one.",
        iterations(Field::Exact),
        iterations(Field::Overshot),
        passes(Katoms, Field::Exact),
        passes(Katoms, Field::Overshot),
    );
    section.set_up([
        ("Design", format!("{} × {}, independent N(0, 1/m) entries in f32", config.rows, config.columns)),
        ("Planted vector", format!("{} normal entries, norm 1, ℓ1 norm {norm:.1}; no noise", config.k)),
        ("k", format!("{} (exact), {} (overshot)", config.k, config.overshot)),
        ("Step of the paper", format!("1/λ_max = 1/{largest:.2}; {prepared} passes, part of every run with it")),
        ("ℓ1 ball", format!("λ = {}", config.radius)),
        ("End of a run", format!("f ≤ {:e}·f(0), or {} iterations", config.floor, config.iterations)),
    ]);
    section.draw("", 2, figures::gaps(results))?;
    section.draw("-support", 2, figures::supports(results))?;
    let costs = results.costs();
    section.tables = vec![runs_table(results), costs_table(&costs)];
    section.judge(verdicts(results, &costs, allowed(Sign::Any)?))?;
    let longer = results.run(LineSearch, Field::Exact).map_or(f64::NAN, |r| r.step * largest);
    section.notes.push(format!(
        "The median step of the line search is {} times that of the paper. The Donoho–Tanner weak threshold gives {} at \
         {PAPER_ROWS} × {PAPER_COLUMNS}, or {} for nonnegative entries, and {} at {} × {}.",
        short(longer),
        allowed(Sign::Any)?,
        allowed(Sign::Nonnegative)?,
        phase_transition_k(config.rows, config.columns, Sign::Any)?,
        config.rows,
        config.columns,
    ));
    section.count([
        ("passes of katoms to 1e-6 at k", passes(Katoms, Field::Exact)),
        ("passes of katoms to 1e-6 at overshot k", passes(Katoms, Field::Overshot)),
        ("passes of the closed form to 1e-6 at k", passes(ClosedForm, Field::Exact)),
        ("passes of corrected FW to 1e-6", passes(FrankWolfe, Field::Corrected)),
        ("largest eigenvalue over its limit", largest / edge),
        ("iterations of IHT over AccIHT at k", iterations(Field::Exact)),
        ("iterations of IHT over AccIHT at overshot k", iterations(Field::Overshot)),
        ("passes of corrected FW over AccIHT", corrected),
        ("runs of katoms that find the support", found as f64),
        ("phase-transition k at the paper's size", allowed(Sign::Any)? as f64),
    ]);
    section.record = json!({
        "config": config, "largest_eigenvalue": largest, "eigenvalue_passes": prepared, "l1_norm": norm, "runs": runs,
    });
    Ok(section)
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
        cells.extend([run.support(), format!("{:.1e}", run.error), run.ended()]);
        cells
    };
    Table::new("Costs to a share of f(0), those of the step included", headings, results.runs.iter().map(row))
}

/// The comparisons of the paper, and ours: what the first costs over what the second does.
struct Cost {
    runs: &'static str,
    ratio: Option<Ratio>,
    until: fn(f64) -> String,
    paper: &'static str,
}

impl Results {
    fn costs(&self) -> [Cost; 9] {
        use Contestant::{AccIht, Iht, Katoms};
        let of_f = |level: f64| format!("f = {level:e}·f(0)");
        let [exact, overshot] = [Field::Exact, Field::Overshot];
        let cost = |runs, ratio, paper| Cost { runs, ratio, until: of_f, paper };
        let support = |runs, field| Cost { runs, ratio: self.support(field), until: percent, paper: "much later" };
        [
            cost("IHT / AccIHT, exact k", self.against(Iht, AccIht, exact), "1.2"),
            cost("IHT / AccIHT, overshot k", self.against(Iht, AccIht, overshot), "> 2"),
            cost("FW, corrective / AccIHT", self.frank_wolfe(AccIht, Field::Corrected), "≥ 10"),
            cost("FW, not corrective / AccIHT", self.frank_wolfe(AccIht, Field::Uncorrected), ""),
            support("IHT / AccIHT, exact k", exact),
            support("IHT / AccIHT, overshot k", overshot),
            cost("AccIHT / katoms, exact k", self.against(AccIht, Katoms, exact), ""),
            cost("AccIHT / katoms, overshot k", self.against(AccIht, Katoms, overshot), ""),
            cost("FW, corrective / katoms", self.frank_wolfe(Katoms, Field::Corrected), ""),
        ]
    }
}

impl Cost {
    fn words(&self) -> String {
        let ratio = |r: Ratio| format!("{} to {}", r.words(), (self.until)(r.level));
        format!("{}: {}", self.runs, self.ratio.map_or("nothing that both reach".into(), ratio))
    }

    fn row(&self) -> Vec<String> {
        let none = || ["nothing both reach", "–", "–", "–"].map(String::from);
        let cells = |r: Ratio| [(self.until)(r.level), short(r.passes), short(r.seconds), short(r.iterations)];
        [&[self.runs.to_owned()], &self.ratio.map_or_else(none, cells)[..], &[self.paper.to_owned()]].concat()
    }
}

fn costs_table(costs: &[Cost]) -> Table {
    let headings = ["runs", "until", "passes", "seconds", "iterations", "paper"];
    let title = "Speed-ups: what the first costs over what the second does";
    Table::new(title, headings, costs.iter().map(Cost::row))
}

/// "90 % of the support".
fn percent(share: f64) -> String {
    if share == 1.0 { "the whole support".into() } else { format!("{:.0} % of the support", 100.0 * share) }
}

/// One for each claim.
fn verdicts(results: &Results, costs: &[Cost; 9], allowed: usize) -> [(String, Agreement); 6] {
    use Contestant::{AccIht, FrankWolfe, Katoms};
    let [exact, overshot, corrected, plain, support, support_overshot, ..] = costs;
    let judged = |cost: &Cost, judge: fn(Ratio) -> Agreement| cost.ratio.map_or(Agreement::Open, judge);
    // A speed-up on the way to a wrong answer agrees in part only.
    let tempered = |field, agreement| match results.run(AccIht, field) {
        Some(run) if run.error <= RIGHT => agreement,
        _ if agreement == Agreement::Agrees => Agreement::Partly,
        _ => agreement,
    };
    // Where AccIHT reaches no level at all, a ratio says nothing, yet Frank–Wolfe is the faster.
    let reaches = |r: &Run| results.config.levels.iter().any(|&l| r.reaches(l).is_some());
    let alone = corrected.ratio.is_none() && results.run(FrankWolfe, Field::Corrected).is_some_and(reaches);
    let right = |c| results.run(c, Field::Overshot).is_some_and(|r| r.found && r.error <= RIGHT);
    let error = |c| results.run(c, Field::Overshot).map_or(f64::NAN, |r| r.error);
    [
        (exact.words(), tempered(Field::Exact, judged(exact, |r| r.near(1.2)))),
        (overshot.words(), tempered(Field::Overshot, judged(overshot, |r| r.at_least(2.0)))),
        (
            format!("{}; {}", corrected.words(), plain.words()),
            if alone { Agreement::Differs } else { judged(corrected, |r| r.at_least(10.0)) },
        ),
        (
            format!("{}; {}", support.words(), support_overshot.words()),
            sooner(&[support.ratio, support_overshot.ratio]),
        ),
        (
            format!("relative error of AccIHT {:.1e}, of katoms {:.1e}", error(AccIht), error(Katoms)),
            match (right(AccIht), right(Katoms)) {
                (true, _) => Agreement::Agrees,
                (false, true) => Agreement::Partly,
                (false, false) => Agreement::Differs,
            },
        ),
        (allowed.to_string(), Agreement::of(allowed == PAPER_OVERSHOT)),
    ]
}

/// Whether AccIHT finds the support sooner. The whole support at both sparsities is what the claim is about; less of it is
/// less of a proof.
fn sooner(both: &[Option<Ratio>; 2]) -> Agreement {
    let ratios: Vec<Ratio> = both.iter().copied().flatten().collect();
    let faster = ratios.iter().filter(|r| r.passes > 1.0).count();
    let whole = ratios.iter().all(|r| r.level == 1.0);
    let doubtful = ratios.iter().any(|r| r.is_contradicted());
    match (ratios.len(), faster) {
        (0, _) => Agreement::Open,
        (2, 2) if whole && !doubtful => Agreement::Agrees,
        (_, 0) if !doubtful => Agreement::Differs,
        _ => Agreement::Partly,
    }
}
