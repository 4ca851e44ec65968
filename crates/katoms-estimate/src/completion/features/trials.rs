//! Which rank, and which distribution of a row's factors: each is fitted to a part of the entries and judged on the
//! rest, in standard deviations of the columns.

use katoms::driver::Status;
use katoms::linalg::parallel;
use katoms::{Error, Stop};

use super::super::held_out::Split;
use super::super::trials::{Trial, choose};
use super::super::{Centring, Completion, Observed, Rule};
use super::em::{Parameters, RowEvidence};
use super::fit::{Fitting, State};
use super::rows::{Prior, RowPrior};
use super::table::{Scaling, Table};
use crate::budget::Budget;
use crate::watch::{Phase, Watch};

/// Where a trial ends: what is left moves no third digit of an error.
const TOLERANCE: f64 = 1e-4;
const SETTLED: f64 = 1e-4;
/// Small tables are split repeatedly, until so many entries were held out in all or so many splits were made. A choice
/// on fewer is chance: of 30 × 8 with 40 % missing, one split of 14 entries costs 8 % of the error.
const ENOUGH_HELD_OUT: usize = 1000;
const MOST_SPLITS: usize = 10;
/// Mean squared errors below this, a hundredth of a standard deviation squared, are alike: the noise's prior leaves so
/// much of a table that is exact.
const RESOLUTION: f64 = 1e-4;

/// All trials, and what came of them.
pub struct Tried {
    pub all: Vec<Trial>,
    /// The parameters of the best one, fitted to the first split.
    pub best: Option<Parameters>,
    pub cut: Option<Status>,
    pub most: usize,
    pub passes: usize,
    pub seconds: f64,
}

/// The splits that a choice is made on.
fn splits(scaled: &Observed, how: &Completion) -> Result<Vec<Part>, Error> {
    let first = Split::new(scaled, how.held_out, how.seed, 1)?;
    let count = ENOUGH_HELD_OUT.div_ceil(first.held.values().len()).clamp(1, MOST_SPLITS);
    let mut parts = vec![Part::new(first)];
    for more in 1..count as u64 {
        parts.push(Part::new(Split::new(scaled, how.held_out, how.seed.wrapping_add(more), 1)?));
    }
    Ok(parts)
}

struct Part {
    split: Split,
    table: Table,
}

impl Part {
    fn new(split: Split) -> Self {
        Self { table: Table::new(&split.seen), split }
    }
}

/// Tries what there is to choose from.
pub fn run(
    (scaled, scaling): (&Observed, &Scaling),
    how: &Completion,
    budget: Budget,
    watch: &mut dyn Watch,
) -> Result<Tried, Error> {
    let parts = splits(scaled, how)?;
    let ranks = how.coarse_ranks();
    let passed_over = how.ranks.len() - ranks.len();
    let of = parts.len() * (ranks.len() + passed_over) + 1;
    let tried = Tried { all: Vec::new(), best: None, cut: None, most: of - 1, passes: 0, seconds: 0.0 };
    let mut trying = Trying { how, scaling, parts, budget, watch, done: 0, tried };
    let (mut least, mut worse) = (f64::INFINITY, 0);
    for &rank in &ranks {
        let error = trying.attempt(rank)?;
        worse = if error < least { 0 } else { worse + 1 };
        least = least.min(error);
        if trying.tried.cut.is_some() || worse >= how.patience {
            break;
        }
    }
    trying.refine(&ranks)?;
    Ok(trying.tried)
}

struct Trying<'a> {
    how: &'a Completion,
    scaling: &'a Scaling,
    parts: Vec<Part>,
    budget: Budget,
    watch: &'a mut dyn Watch,
    done: usize,
    tried: Tried,
}

/// Squared errors of one distribution over all splits.
#[derive(Default)]
struct Errors {
    held_out: Vec<f64>,
    seen: Vec<f64>,
}

impl Trying<'_> {
    /// The ranks that were passed over beside the best.
    fn refine(&mut self, tried: &[usize]) -> Result<(), Error> {
        let Some(best) = choose(&self.tried.all, Rule::Least).map(|t| self.tried.all[t].rank) else { return Ok(()) };
        let below = tried.iter().rev().find(|&&rank| rank < best).copied().unwrap_or(0);
        let above = tried.iter().find(|&&rank| rank > best).copied().unwrap_or(best);
        for &rank in self.how.ranks.iter().filter(|&&rank| below < rank && rank < above && rank != best) {
            if self.tried.cut.is_some() {
                break;
            }
            self.attempt(rank)?;
        }
        Ok(())
    }

    /// One rank on all splits, judged. The least error of its distributions.
    fn attempt(&mut self, rank: usize) -> Result<f64, Error> {
        let kinds: &[RowPrior] = match self.how.row_prior {
            RowPrior::Chosen if rank > 0 => &[RowPrior::Normal, RowPrior::Rows],
            RowPrior::Rows if rank > 0 => &[RowPrior::Rows],
            _ => &[RowPrior::Normal],
        };
        let mut errors: Vec<Errors> = kinds.iter().map(|_| Errors::default()).collect();
        let (mut first, mut iterations, mut status) = (None, 0, Status::Converged);
        for part in &self.parts {
            let stop = self.budget.left(self.how.stop, 0.0);
            let stop = Stop { tolerance: stop.tolerance.max(TOLERANCE), ..stop };
            let settled = self.how.settled.max(SETTLED);
            let phase = Phase::Trial { atoms: rank, ridge: 0.0 };
            let of = self.tried.most + 1;
            let fitting = Fitting { table: &part.table, stop, settled, phase, done: self.done, of };
            let mut state = State::start(&part.table, rank);
            status = fitting.run(&mut state, &mut *self.watch, None)?;
            self.done += 1;
            self.tried.passes += state.trace.len();
            self.tried.seconds += state.trace.last().map_or(0.0, |event| event.seconds);
            iterations = iterations.max(state.trace.len());
            judge(part, &state.parameters, (self.how, self.scaling), kinds, &mut errors);
            first.get_or_insert(state.parameters);
            if matches!(status, Status::Stopped | Status::TimeLimit) {
                self.tried.cut = Some(status);
                break;
            }
        }
        for (&row_prior, errors) in kinds.iter().zip(&errors) {
            self.tried.all.push(trial(rank, row_prior, errors, (iterations, status)));
        }
        let new = self.tried.all.len() - kinds.len();
        if choose(&self.tried.all, Rule::Least).is_some_and(|t| t >= new) {
            self.tried.best = first;
        }
        let least = self.tried.all[new..].iter().map(|trial| trial.held_out_mse.max(trial.resolution));
        Ok(least.fold(f64::INFINITY, f64::min))
    }
}

/// How far predictions are off, under each distribution.
fn judge(
    part: &Part,
    parameters: &Parameters,
    (how, scaling): (&Completion, &Scaling),
    kinds: &[RowPrior],
    errors: &mut [Errors],
) {
    let evidence = rows_evidence(&part.table, parameters);
    let bounds = how.clip.scaled_bounds(&part.split.seen, scaling);
    let square = |factors: &[Vec<f64>], observed: &Observed| -> Vec<f64> {
        let places = observed.rows().iter().zip(observed.columns()).zip(observed.values());
        let predicted = |i: usize, j: usize| bounds.within(j, parameters.predicted(j, &factors[i]));
        places.map(|((&i, &j), v)| (predicted(i, j) - v).powi(2)).collect()
    };
    for (kind, errors) in kinds.iter().zip(errors) {
        let prior = prior_of(*kind, parameters.rank, &evidence);
        let factors: Vec<Vec<f64>> = parallel::map(evidence.len(), &|row| prior.factors(&evidence[row]));
        errors.held_out.extend(square(&factors, &part.split.held));
        errors.seen.extend(square(&factors, &part.split.seen));
    }
}

/// What each row of a table says of its factors.
pub fn rows_evidence(table: &Table, parameters: &Parameters) -> Vec<RowEvidence> {
    let information = parameters.information();
    parallel::map(table.shape.0, &|row| parameters.evidence(&information, &table.rows, row))
}

/// The distribution of the factors.
pub fn prior_of(kind: RowPrior, rank: usize, evidence: &[RowEvidence]) -> Prior {
    if kind == RowPrior::Rows { Prior::of_rows(rank, evidence) } else { Prior::normal(rank) }
}

fn trial(rank: usize, row_prior: RowPrior, errors: &Errors, (iterations, status): (usize, Status)) -> Trial {
    let n = errors.held_out.len() as f64;
    let mean = errors.held_out.iter().sum::<f64>() / n;
    let variance = errors.held_out.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / (n - 1.0);
    Trial {
        rank,
        ridge: 0.0,
        centring: Centring::Columns,
        row_prior,
        held_out_rmse: mean.sqrt(),
        held_out_mse: mean,
        standard_error: (variance / n).sqrt(),
        resolution: RESOLUTION,
        seen_rmse: (errors.seen.iter().sum::<f64>() / errors.seen.len() as f64).sqrt(),
        iterations,
        status,
    }
}
