//! Which rank and which ridge: each is fitted to a part of the entries and judged on the rest.
//!
//! The strongest ridge comes first: its fits are quick, and where the values are noisy the weak ones, whose fits are
//! slow, are never reached. A rank starts from the rank below; the first of a chain starts from the same rank under the
//! ridge before. Ranks that were passed over are tried last, where they lie beside the best, and under its ridge.

use katoms::driver::Status;
use katoms::space::{LowRank, Point};
use katoms::{Error, Stop};
use serde::{Deserialize, Serialize};

use super::fit::{Begin, Fitting, Problem};
use super::held_out::Split;
use super::model::Bounds;
use super::{Centring, Completion, Effects, Observed, RowPrior, Rule};
use crate::budget::Budget;
use crate::units::Units;
use crate::watch::{Phase, Watch};

/// Where a trial ends: what is left moves no third digit of an error.
const TOLERANCE: f64 = 1e-4;
const SETTLED: f64 = 1e-4;

/// How well a choice did on what was held out.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// The rank.
    pub rank: usize,
    /// λ.
    pub ridge: f64,
    /// What was taken off: one of the two where that was to be chosen.
    pub centring: Centring,
    /// What was known of a row's factors.
    pub row_prior: RowPrior,
    /// The root of the mean squared error on what was held out.
    pub held_out_rmse: f64,
    /// Its square.
    pub held_out_mse: f64,
    /// The standard error of that square, from the spread over the held-out entries.
    pub standard_error: f64,
    /// What the tolerance of a trial leaves of that square even where the choice is exact: below it, errors are alike.
    pub resolution: f64,
    /// The root of the mean squared error on what was fitted, without bounds.
    pub seen_rmse: f64,
    /// Moves of the fit.
    pub iterations: usize,
    /// How the fit ended.
    pub status: Status,
}

impl Trial {
    /// The same in the units of the data.
    pub(super) fn original(&self, units: &Units) -> Self {
        Self {
            held_out_rmse: units.level(self.held_out_rmse),
            held_out_mse: units.mean_loss(self.held_out_mse),
            standard_error: units.mean_loss(self.standard_error),
            resolution: units.mean_loss(self.resolution),
            seen_rmse: units.level(self.seen_rmse),
            ..*self
        }
    }

    /// The square as far as a trial can tell it.
    fn resolved_mse(&self) -> f64 {
        self.held_out_mse.max(self.resolution)
    }
}

/// All trials, and what came of them.
pub(super) struct Trials {
    pub all: Vec<Trial>,
    /// The best point so far, by the rule of least error, with the effects of what it was fitted to.
    pub best: LowRank,
    pub effects: Effects,
    /// Why they ended before their time, where they did.
    pub cut: Option<Status>,
    /// How many there were to try at most.
    pub most: usize,
    pub passes: usize,
    pub seconds: f64,
}

/// Errors that differ by this share are equal: fits end where their moves change about as much.
const TIE: f64 = 1e-5;

/// The index of the trial that a rule takes; of equal ones that of the smallest rank.
pub(super) fn choose(trials: &[Trial], rule: Rule) -> Option<usize> {
    let least = |of: &mut dyn Iterator<Item = usize>| {
        let key = |t: usize| (trials[t].resolved_mse(), trials[t].rank, t);
        of.min_by(|&a, &b| {
            let (a, b) = (key(a), key(b));
            a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2)))
        })
    };
    let best = least(&mut (0..trials.len()))?;
    let bound = match rule {
        Rule::Least => trials[best].resolved_mse() * (1.0 + TIE),
        Rule::OneStandardError => trials[best].resolved_mse() + trials[best].standard_error,
    };
    let within = |&t: &usize| trials[t].resolved_mse() <= bound;
    let rank = (0..trials.len()).filter(within).map(|t| trials[t].rank).min()?;
    least(&mut (0..trials.len()).filter(|&t| trials[t].rank == rank))
}

/// Tries what there is to choose from.
pub(super) fn run(
    observed: &Observed,
    how: &Completion,
    budget: Budget,
    watch: &mut dyn Watch,
) -> Result<Trials, Error> {
    let split = Split::new(observed, how.held_out, how.seed, how.tied)?;
    let chains = how.chains();
    let ranks = how.coarse_ranks();
    let passed_over = how.ranks.len() - ranks.len();
    let of = chains.iter().map(|(_, ridges)| ranks.len() * ridges.len()).sum::<usize>() + passed_over + 1;
    let clip = how.clip.bounds(&split.seen, how.columns);
    let none = Effects::fit(&split.seen, Centring::Mean);
    let zero = LowRank::zero(observed.shape());
    let trials =
        Trials { all: Vec::new(), best: zero, effects: none, cut: None, most: of - 1, passes: 0, seconds: 0.0 };
    let mut chain = Chain { how, split: &split, ranks, clip, budget, of, watch, trials };
    for (centring, ridges) in chains {
        chain.follow_all(&Centred::new(&split.seen, centring)?, &ridges)?;
        if chain.trials.cut.is_some() {
            return Ok(chain.trials);
        }
    }
    chain.refine()?;
    Ok(chain.trials)
}

/// What is fitted after a centring.
struct Centred {
    effects: Effects,
    problem: Problem,
}

impl Centred {
    fn new(seen: &Observed, centring: Centring) -> Result<Self, Error> {
        let effects = Effects::fit(seen, centring);
        Ok(Self { problem: Problem::new(seen, &effects)?, effects })
    }
}

/// The trials on their way.
struct Chain<'a> {
    how: &'a Completion,
    split: &'a Split,
    ranks: Vec<usize>,
    clip: Bounds,
    budget: Budget,
    of: usize,
    watch: &'a mut dyn Watch,
    trials: Trials,
}

impl Chain<'_> {
    /// All ridges, for as long as a weaker one is better.
    fn follow_all(&mut self, centred: &Centred, ridges: &[f64]) -> Result<(), Error> {
        let (mut start, mut least) = (None, f64::INFINITY);
        for &ridge in ridges {
            let (first, error) = self.follow(centred, ridge, start)?;
            if self.trials.cut.is_some() || error > least {
                break;
            }
            (start, least) = (first, error);
        }
        Ok(())
    }

    /// All ranks under one ridge, for as long as they pay. The point of the first rank, and the least error.
    fn follow(
        &mut self,
        centred: &Centred,
        ridge: f64,
        mut start: Option<LowRank>,
    ) -> Result<(Option<LowRank>, f64), Error> {
        let (mut first, mut least, mut worse) = (None, f64::INFINITY, 0);
        for rank in self.ranks.clone() {
            let x = self.attempt(centred, rank, ridge, start.take())?;
            let error = self.trials.all.last().map_or(f64::INFINITY, Trial::resolved_mse);
            worse = if error < least { 0 } else { worse + 1 };
            least = least.min(error);
            first.get_or_insert_with(|| x.clone());
            start = Some(x);
            if self.trials.cut.is_some() || worse >= self.how.patience {
                break;
            }
        }
        Ok((first, least))
    }

    /// The ranks that were passed over on both sides of the best, from the best towards its neighbours, for as long
    /// as they are better.
    fn refine(&mut self) -> Result<(), Error> {
        let Some(best) = choose(&self.trials.all, Rule::Least).map(|t| self.trials.all[t]) else { return Ok(()) };
        let below = self.ranks.iter().rev().find(|&&rank| rank < best.rank).copied().unwrap_or(0);
        let above = self.ranks.iter().find(|&&rank| rank > best.rank).copied().unwrap_or(best.rank);
        let between = |low: usize, high: usize| {
            self.how.ranks.iter().copied().filter(move |&rank| low < rank && rank < high).collect::<Vec<_>>()
        };
        let (larger, mut smaller) = (between(best.rank, above), between(below, best.rank));
        smaller.reverse();
        if larger.is_empty() && smaller.is_empty() {
            return Ok(());
        }
        let centred = Centred::new(&self.split.seen, best.centring)?;
        let start = self.trials.best.clone();
        for side in [larger, smaller] {
            let (mut x, mut least) = (start.clone(), best.resolved_mse());
            for rank in side {
                x = self.attempt(&centred, rank, best.ridge, Some(x))?;
                let error = self.trials.all.last().map_or(f64::INFINITY, Trial::resolved_mse);
                if self.trials.cut.is_some() {
                    return Ok(());
                }
                if error > least {
                    break;
                }
                least = error;
            }
        }
        Ok(())
    }

    /// One fit, judged.
    fn attempt(
        &mut self,
        centred: &Centred,
        rank: usize,
        ridge: f64,
        start: Option<LowRank>,
    ) -> Result<LowRank, Error> {
        let f = centred.problem.objective(ridge)?;
        let stop = Stop { tolerance: self.how.stop.tolerance.max(TOLERANCE), ..self.budget.left(self.how.stop, 0.0) };
        let done = self.trials.all.len();
        let phase = Phase::Trial { atoms: rank, ridge };
        let fitting = Fitting {
            f: &f,
            method: &self.how.method,
            stop,
            settled: self.how.settled.max(SETTLED),
            phase,
            done,
            of: self.of,
        };
        let outcome = fitting.run(rank, start.map_or(Begin::Zero, Begin::Grown), &mut *self.watch, None)?;
        let error = self.split.error(&outcome.point, &centred.effects, &self.clip);
        self.trials.cut = matches!(outcome.status, Status::Stopped | Status::TimeLimit).then_some(outcome.status);
        self.trials.passes += outcome.passes;
        self.trials.seconds += outcome.seconds;
        self.trials.all.push(Trial {
            rank,
            ridge,
            centring: centred.effects.centring,
            row_prior: RowPrior::Ridge,
            held_out_rmse: error.mean.sqrt(),
            held_out_mse: error.mean,
            standard_error: error.standard_error,
            resolution: error.scale * TOLERANCE * TOLERANCE,
            seen_rmse: centred.problem.rmse(&outcome.point),
            iterations: outcome.iterations,
            status: outcome.status,
        });
        if choose(&self.trials.all, Rule::Least) == Some(done) {
            self.trials.best = outcome.point.clone();
            self.trials.effects = centred.effects.clone();
        }
        Ok(outcome.point)
    }
}
