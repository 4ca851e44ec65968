//! The runs of `iid`: who, with which sparsity or ball, under which rules.

use katoms::Status;
use katoms::driver::{Options, Outcome};
use katoms::method::{AcceleratedIht, Correction, FrankWolfe, Momentum, Refit, Safeguard, Step};
use katoms::set::{ConstraintSet, KSparse, L1Ball};
use katoms::space::{Point, SparseVec};
use serde::Serialize;

use super::Config;
use super::problem::Problem;
use crate::race::{Entry, Mark, Preparation, Race, race, to_the_end};
use crate::{Contestant, Error, Progress};

/// What a method is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Field {
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
pub(super) const PLAN: [(Contestant, Field); 14] = [
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
pub(super) struct Run {
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

    /// The last mark.
    pub fn last(&self) -> Option<&Mark> {
        self.race.marks.last()
    }

    /// f at the end, as a share of f(0).
    pub fn gap(&self) -> f64 {
        self.last().map_or(f64::NAN, |m| m.objective / self.start)
    }

    /// How it ended, in words.
    pub fn ended(&self) -> String {
        match self.race.status {
            Status::Converged => "converged".into(),
            Status::IterationCap => format!("cap, f at {:.0e}", self.gap()),
            Status::Diverged => "diverged".into(),
            Status::Stalled => format!("stalled, f at {:.0e}", self.gap()),
            Status::PassCap | Status::TimeLimit | Status::Stopped | Status::Separated => "stopped".into(),
        }
    }
}

/// Runs one of the plan, given λ_max and what it cost.
pub(super) fn run(
    contestant: Contestant,
    field: Field,
    problem: &Problem,
    config: &Config,
    (largest, preparation): (f64, Preparation),
    progress: &Progress<'_>,
) -> Result<Run, Error> {
    let setting = match field {
        Field::Exact => format!("k = {}", config.k),
        Field::Overshot => format!("k̂ = {}", config.overshot),
        Field::Corrected => format!("ℓ1 ball {}, corrective", config.radius),
        Field::Uncorrected => format!("ℓ1 ball {}", config.radius),
    };
    let iterations = if field == Field::Uncorrected { config.uncorrected } else { config.iterations };
    let as_published = matches!(contestant, Contestant::Iht | Contestant::AccIht);
    let entry = Entry {
        contestant,
        setting,
        options: Options { stop: to_the_end(iterations, config.floor), ..Options::default() },
        preparation: if as_published { preparation } else { Preparation::default() },
    };
    let (mut shares, mut steps) = (vec![0.0], Vec::new());
    let look = |event: &katoms::driver::Event, x: &SparseVec| {
        shares.push(problem.share_found(x));
        steps.push(event.step);
    };
    let correction = if field == Field::Corrected { Correction::full() } else { Correction::Never };
    let (race, outcome) = match contestant {
        Contestant::FrankWolfe | Contestant::PairwiseFrankWolfe => {
            let ball = L1Ball::new(config.radius, config.columns)?;
            if contestant == Contestant::FrankWolfe {
                let method = FrankWolfe { correction, ..FrankWolfe::default() };
                race(entry, &problem.f, &ball, &method, progress, look)?
            } else {
                race(entry, &problem.f, &ball, &FrankWolfe { correction, ..FrankWolfe::pairwise() }, progress, look)?
            }
        }
        _ => {
            let k = if field == Field::Overshot { config.overshot } else { config.k };
            let set = KSparse::new(k, config.columns)?;
            let method = thresholding(contestant, config.momentum, largest, &set);
            race(entry, &problem.f, &set, &method, progress, look)?
        }
    };
    Ok(finished(race, field, problem, shares, steps, &outcome))
}

/// Algorithm 1 as the contestant sets it.
fn thresholding(contestant: Contestant, tau: f64, largest: f64, set: &KSparse) -> AcceleratedIht {
    let ours = AcceleratedIht::for_structure(set.structure());
    let published = |tau| AcceleratedIht {
        step: Step::Fixed(1.0 / largest),
        momentum: Momentum::Constant(tau),
        refit: Refit::Never,
        safeguard: Safeguard::Off,
    };
    match contestant {
        Contestant::Iht => published(0.0),
        Contestant::AccIht => published(tau),
        Contestant::LineSearch => AcceleratedIht { momentum: Momentum::Constant(tau), refit: Refit::Never, ..ours },
        Contestant::ClosedForm => AcceleratedIht { momentum: Momentum::ClosedForm, refit: Refit::Never, ..ours },
        _ => ours,
    }
}

fn finished(
    race: Race,
    field: Field,
    problem: &Problem,
    shares: Vec<f64>,
    mut steps: Vec<f64>,
    outcome: &Outcome<SparseVec>,
) -> Run {
    steps.sort_by(f64::total_cmp);
    Run {
        race,
        field,
        start: problem.start,
        shares,
        found: problem.share_found(&outcome.point) == 1.0,
        error: outcome.point.distance(&problem.truth) / problem.truth.norm(),
        step: steps.get(steps.len() / 2).copied().unwrap_or(f64::NAN),
    }
}
