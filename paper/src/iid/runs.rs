//! The problem of `iid`, and its runs: who, with which sparsity or ball, under which rules.

use anyhow::Result;
use katoms::driver::{Event, Options};
use katoms::loss::LeastSquares;
use katoms::method::{AcceleratedIht, Correction, FrankWolfe, Momentum, Refit, Step};
use katoms::operator::{Dense, LinearOperator};
use katoms::set::{ConstraintSet, KSparse, L1Ball};
use katoms::space::{Point, SparseVec};
use katoms::{Objective, Status, simulate};
use serde::Serialize;

use super::Config;
use crate::race::{Entry, Mark, Preparation, Race, published, race, to_the_end};
use crate::{Contestant, Experiment, Progress};

/// Entries that are drawn between two looks at Ctrl-C: a fraction of a second.
const BLOCK: usize = 1 << 24;

/// A planted problem without noise.
pub struct Problem {
    /// f(x) = ½‖b − Φx‖².
    pub f: Objective<Dense<'static, f32>, LeastSquares>,
    /// x*.
    pub truth: SparseVec,
    /// f(0): what there is to gain, as f(x*) = 0.
    pub start: f64,
}

impl Problem {
    /// Draws it. The design is held once, in f32.
    pub fn draw(config: &Config, progress: &Progress) -> Result<Self> {
        let &Config { rows, columns, k, seed, .. } = config;
        let design = Dense::column_major(drawn(rows, columns, seed, progress)?, rows, columns)?;
        let truth = simulate::sparse_signal(columns, k, seed);
        let mut target = vec![0.0; rows];
        design.apply(&truth, &mut target);
        let f = Objective::new(design, LeastSquares::new(target)?)?;
        let start = f.value(&f.at(SparseVec::zero(columns)));
        Ok(Self { f, truth, start })
    }

    /// The share of the planted entries that x has too.
    fn share_found(&self, x: &SparseVec) -> f64 {
        let found = self.truth.indices().iter().filter(|&&i| x.value_at(i) != 0.0).count();
        found as f64 / self.truth.indices().len() as f64
    }
}

/// The entries of the design.
fn drawn(rows: usize, columns: usize, seed: u64, progress: &Progress) -> Result<Vec<f32>> {
    let mut data: Vec<f32> = Vec::new();
    let room = rows.checked_mul(columns).and_then(|entries| data.try_reserve_exact(entries).ok());
    if room.is_none() {
        let gigabytes = 4.0 * rows as f64 * columns as f64 / 1e9;
        return Err(Experiment::Iid.bad_config(&format!(
            "a design of {rows} × {columns} takes {gigabytes:.1} GB of memory, which cannot be had; fewer `rows` or \
             `columns` take less"
        )));
    }
    let block = (BLOCK / rows).max(1);
    for first in (0..columns).step_by(block) {
        progress.at("drawing the design")?;
        let from = data.len();
        data.resize(from + rows * block.min(columns - first), 0.0);
        simulate::gaussian_columns_f32(&mut data[from..], rows, first, seed);
    }
    Ok(data)
}

/// What a method is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Field {
    /// The sparsity of the planted vector.
    Exact,
    /// A larger one.
    Overshot,
    /// The ℓ1 ball, with fully corrective steps.
    Corrected,
    /// The ℓ1 ball, without.
    Uncorrected,
}

/// Who runs, in this order: the paper's settings first.
pub const PLAN: [(Contestant, Field); 14] = [
    (Contestant::Iht, Field::Exact),
    (Contestant::AccIht, Field::Exact),
    (Contestant::Iht, Field::Overshot),
    (Contestant::AccIht, Field::Overshot),
    (Contestant::FrankWolfe, Field::Corrected),
    (Contestant::PairwiseFrankWolfe, Field::Corrected),
    (Contestant::FrankWolfe, Field::Uncorrected),
    (Contestant::PairwiseFrankWolfe, Field::Uncorrected),
    (Contestant::LineSearch, Field::Exact),
    (Contestant::ClosedForm, Field::Exact),
    (Contestant::Katoms, Field::Exact),
    (Contestant::LineSearch, Field::Overshot),
    (Contestant::ClosedForm, Field::Overshot),
    (Contestant::Katoms, Field::Overshot),
];

/// A run, and what it found.
#[derive(Debug, Serialize)]
pub struct Run {
    #[serde(flatten)]
    pub race: Race,
    pub field: Field,
    /// f(0).
    pub start: f64,
    /// The share of the planted entries in each iterate.
    pub shares: Vec<f64>,
    /// Whether the answer has all of them.
    pub found: bool,
    /// ‖x − x*‖/‖x*‖ of the answer.
    pub error: f64,
    /// The median step size.
    pub step: f64,
}

impl Run {
    /// Where f came down to this share of f(0) for good.
    pub fn reaches(&self, share: f64) -> Option<&Mark> {
        self.race.reaches(share * self.start)
    }

    /// Where the share of planted entries rose to this for good.
    pub fn finds(&self, share: f64) -> Option<&Mark> {
        let last_below = self.shares.iter().rposition(|&s| s < share);
        self.race.marks.get(last_below.map_or(0, |at| at + 1))
    }

    /// How much of the support it has in the end: "yes", "87 %".
    pub fn support(&self) -> String {
        let share = self.shares.last().copied().unwrap_or(0.0);
        if self.found { "yes".into() } else { format!("{:.0} %", (100.0 * share).floor()) }
    }

    /// How it ended, in words.
    pub fn ended(&self) -> String {
        let gap = self.race.marks.last().map_or(f64::NAN, |m| m.objective / self.start);
        match self.race.status {
            Status::Converged => "converged".into(),
            Status::IterationCap => format!("cap, f at {gap:.0e}"),
            Status::Diverged => "diverged".into(),
            Status::Stalled => format!("stalled, f at {gap:.0e}"),
            Status::PassCap | Status::TimeLimit | Status::Stopped | Status::Separated => "stopped".into(),
        }
    }
}

/// Runs one of the plan, given λ_max and what it cost.
pub fn run(
    (contestant, field): (Contestant, Field),
    problem: &Problem,
    config: &Config,
    (largest, preparation): (f64, Preparation),
    progress: &Progress,
) -> Result<Run> {
    let as_published = matches!(contestant, Contestant::Iht | Contestant::AccIht);
    let iterations = if field == Field::Uncorrected { config.uncorrected } else { config.iterations };
    let entry = Entry {
        contestant,
        setting: match field {
            Field::Exact => format!("k = {}", config.k),
            Field::Overshot => format!("k̂ = {}", config.overshot),
            Field::Corrected => format!("ℓ1 ball {}, corrective", config.radius),
            Field::Uncorrected => format!("ℓ1 ball {}", config.radius),
        },
        options: Options { stop: to_the_end(iterations, config.floor), ..Options::default() },
        preparation: if as_published { preparation } else { Preparation::default() },
    };
    let (mut shares, mut steps) = (vec![0.0], Vec::new());
    let look = |event: &Event, x: &SparseVec| {
        shares.push(problem.share_found(x));
        steps.push(event.step);
    };
    let (f, ball) = (&problem.f, L1Ball::new(config.radius, config.columns)?);
    let correction = if field == Field::Corrected { Correction::full() } else { Correction::Never };
    let (race, outcome) = match contestant {
        Contestant::FrankWolfe => {
            race(entry, f, &ball, &FrankWolfe { correction, ..FrankWolfe::default() }, progress, look)?
        }
        Contestant::PairwiseFrankWolfe => {
            race(entry, f, &ball, &FrankWolfe { correction, ..FrankWolfe::pairwise() }, progress, look)?
        }
        _ => {
            let k = if field == Field::Overshot { config.overshot } else { config.k };
            let set = KSparse::new(k, config.columns)?;
            race(entry, f, &set, &thresholding(contestant, config.momentum, largest, &set), progress, look)?
        }
    };
    steps.sort_by(f64::total_cmp);
    Ok(Run {
        race,
        field,
        start: problem.start,
        shares,
        found: problem.share_found(&outcome.point) == 1.0,
        error: outcome.point.distance(&problem.truth) / problem.truth.norm(),
        step: steps.get(steps.len() / 2).copied().unwrap_or(f64::NAN),
    })
}

/// Algorithm 1 as the contestant sets it.
fn thresholding(contestant: Contestant, tau: f64, largest: f64, set: &KSparse) -> AcceleratedIht {
    let ours = AcceleratedIht::for_structure(set.structure());
    match contestant {
        Contestant::Iht => published(Step::Fixed(1.0 / largest), 0.0),
        Contestant::AccIht => published(Step::Fixed(1.0 / largest), tau),
        Contestant::LineSearch => AcceleratedIht { momentum: Momentum::Constant(tau), refit: Refit::Never, ..ours },
        Contestant::ClosedForm => AcceleratedIht { momentum: Momentum::ClosedForm, refit: Refit::Never, ..ours },
        _ => ours,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::tests::changed;

    #[test]
    fn the_planted_vector_has_no_residual() {
        let config: Config = Experiment::Iid.settings(&changed(Experiment::Iid, &["rows = 60"])).unwrap();
        let problem = Problem::draw(&config, &Progress::hidden()).unwrap();
        let at = problem.f.at(problem.truth.clone());
        assert!(problem.f.value(&at) < 1e-28 && problem.start > 0.1);
        assert_eq!(problem.share_found(&problem.truth), 1.0);
        let huge = Config { rows: usize::MAX / 8, columns: 1000, ..config };
        let why = Problem::draw(&huge, &Progress::hidden()).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(why.contains("GB of memory"), "{why}");
    }
}
