//! Which rank and which ridge: each is fitted to a part of the entries and judged on the rest.
//!
//! The strongest ridge comes first: its fits are quick, and where the values are noisy the weak ones, whose fits are
//! slow, are never reached. A rank starts from the rank below; the first of a chain starts from the same rank under the
//! ridge before. Ranks that were passed over are tried last, where they lie beside the best, and under its ridge.

use katoms::driver::Status;
use katoms::space::LowRank;
use katoms::{Error, Stop};
use serde::{Deserialize, Serialize};

use super::fit::{Begin, Fitting, Problem};
use super::held_out::Split;
use super::model::Bounds;
use super::saved::Chosen;
use super::{Centring, Completion, Effects, Observed, RowPrior, Rule};
use crate::budget::Budget;
use crate::units::Units;
use crate::watch::{Phase, Watch};

/// Where a trial ends: what is left moves no third digit of an error.
pub(super) const TOLERANCE: f64 = 1e-4;
pub(super) const SETTLED: f64 = 1e-4;

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
    /// A choice whose predictions of held-out entries have these squared errors.
    pub(super) fn judged(squares: &[f64], choice: (usize, f64, Centring, RowPrior), fit: (usize, Status)) -> Self {
        let n = squares.len() as f64;
        let mean = squares.iter().sum::<f64>() / n;
        let variance = squares.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let ((rank, ridge, centring, row_prior), (iterations, status)) = (choice, fit);
        Self {
            rank,
            ridge,
            centring,
            row_prior,
            held_out_rmse: mean.sqrt(),
            held_out_mse: mean,
            standard_error: (variance / n).sqrt(),
            resolution: 0.0,
            seen_rmse: f64::NAN,
            iterations,
            status,
        }
    }

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

    pub(super) fn resolved_mse(&self) -> f64 {
        self.held_out_mse.max(self.resolution)
    }
}

/// All trials, and what the best of them has: its parameters, and what goes with them.
pub(super) struct Trials<P> {
    pub all: Vec<Trial>,
    pub best: Option<P>,
    /// Why they ended early, where they did.
    pub cut: Option<Status>,
    /// How many there were to try at most.
    pub most: usize,
    pub passes: usize,
    pub seconds: f64,
}

impl<P> Trials<P> {
    pub fn new(most: usize) -> Self {
        Self { all: Vec::new(), best: None, cut: None, most, passes: 0, seconds: 0.0 }
    }

    /// The trial with the least error.
    pub fn least(&self) -> Option<Trial> {
        choose(&self.all, Rule::Least).map(|t| self.all[t])
    }

    /// Adds trials of the same parameters, which are kept where one of these is the best so far.
    pub fn add(&mut self, trials: &[Trial], of: P) {
        let before = self.all.len();
        self.all.extend_from_slice(trials);
        if choose(&self.all, Rule::Least).is_some_and(|t| t >= before) {
            self.best = Some(of);
        }
    }

    /// What a rule takes, and the parameters of the best; without a trial, what was given.
    pub fn chosen(self, rule: Rule, given: Chosen) -> (Chosen, Option<P>) {
        let Self { all: trials, best, cut, most, passes, seconds } = self;
        let taken = match choose(&trials, rule).map(|t| trials[t]) {
            Some(Trial { rank, ridge, centring, row_prior, .. }) => {
                Chosen { rank, ridge, centring, row_prior, ..given }
            }
            None => given,
        };
        (Chosen { trials, whole: cut.is_none(), most, passes, seconds, ..taken }, best)
    }
}

/// Among all ranks, those that were passed over beside the best of the tried ones: smaller ones, and larger ones.
pub(super) fn passed_over(all: &[usize], tried: &[usize], best: usize) -> (Vec<usize>, Vec<usize>) {
    let below = tried.iter().rev().find(|&&rank| rank < best).copied().unwrap_or(0);
    let above = tried.iter().find(|&&rank| rank > best).copied().unwrap_or(best);
    let between = |low: usize, high: usize| all.iter().copied().filter(|&r| low < r && r < high).collect();
    (between(below, best), between(best, above))
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

/// The best point so far, with the effects of what it was fitted to.
pub(super) type Point = (LowRank, Effects);

pub(super) fn run(
    observed: &Observed,
    how: &Completion,
    budget: Budget,
    watch: &mut dyn Watch,
) -> Result<Trials<Point>, Error> {
    let split = Split::new(observed, how.held_out, how.seed, how.tied)?;
    let (chains, ranks) = (how.chains(), how.coarse_ranks());
    let extra = how.ranks.len() - ranks.len();
    let trials = Trials::new(chains.iter().map(|(_, ridges)| ranks.len() * ridges.len()).sum::<usize>() + extra);
    let clip = how.clip.bounds(&split.seen, how.columns);
    let mut chain = Chain { how, split: &split, ranks, clip, budget, watch, trials };
    for (centring, ridges) in chains {
        chain.follow_all(&Centred::new(&split.seen, centring)?, &ridges)?;
        if chain.trials.cut.is_some() {
            return Ok(chain.trials);
        }
    }
    chain.refine()?;
    Ok(chain.trials)
}

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

struct Chain<'a> {
    how: &'a Completion,
    split: &'a Split,
    ranks: Vec<usize>,
    clip: Bounds,
    budget: Budget,
    watch: &'a mut dyn Watch,
    trials: Trials<Point>,
}

impl Chain<'_> {
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
        let Some(best) = self.trials.least() else { return Ok(()) };
        let (mut smaller, larger) = passed_over(&self.how.ranks, &self.ranks, best.rank);
        smaller.reverse();
        let Some((start, _)) = self.trials.best.clone().filter(|_| !smaller.is_empty() || !larger.is_empty()) else {
            return Ok(());
        };
        let centred = Centred::new(&self.split.seen, best.centring)?;
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

    fn attempt(
        &mut self,
        centred: &Centred,
        rank: usize,
        ridge: f64,
        start: Option<LowRank>,
    ) -> Result<LowRank, Error> {
        let f = centred.problem.objective(ridge)?;
        let stop = Stop { tolerance: self.how.stop.tolerance.max(TOLERANCE), ..self.budget.left(self.how.stop, 0.0) };
        let (settled, phase) = (self.how.settled.max(SETTLED), Phase::Trial { atoms: rank, ridge });
        let (done, of) = (self.trials.all.len(), self.trials.most + 1);
        let fitting = Fitting { f: &f, method: &self.how.method, stop, settled, phase, done, of };
        let outcome = fitting.run(rank, start.map_or(Begin::Zero, Begin::Grown), &mut *self.watch, None)?;
        let (squares, scale) = self.split.squares(&outcome.point, &centred.effects, &self.clip);
        self.trials.cut = matches!(outcome.status, Status::Stopped | Status::TimeLimit).then_some(outcome.status);
        self.trials.passes += outcome.passes;
        self.trials.seconds += outcome.seconds;
        let choice = (rank, ridge, centred.effects.centring, RowPrior::Ridge);
        let judged = Trial::judged(&squares, choice, (outcome.iterations, outcome.status));
        let (resolution, seen_rmse) = (scale * TOLERANCE * TOLERANCE, centred.problem.rmse(&outcome.point)?);
        let point = (outcome.point.clone(), centred.effects.clone());
        self.trials.add(&[Trial { resolution, seen_rmse, ..judged }], point);
        Ok(outcome.point)
    }
}
