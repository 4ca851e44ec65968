//! Which rank, and which distribution of a row's factors: each is fitted to a part of the entries and judged on the
//! rest, in standard deviations of the columns.

use katoms::driver::Status;
use katoms::linalg::parallel;
use katoms::{Error, Stop};

use super::super::held_out::Split;
use super::super::trials::{SETTLED, TOLERANCE, Trial, Trials, passed_over};
use super::super::{Centring, Completion, Observed};
use super::em::{Parameters, RowEvidence};
use super::fit::{Fitting, State};
use super::rows::{Prior, RowPrior};
use super::table::{Scaling, Table};
use crate::budget::Budget;
use crate::watch::{Phase, Watch};

/// Small tables are split repeatedly, until so many entries were held out in all or so many splits were made. A choice
/// on fewer is chance: of 30 × 8 with 40 % missing, one split of 14 entries costs 8 % of the error.
const ENOUGH_HELD_OUT: usize = 1000;
const MOST_SPLITS: usize = 10;
/// Mean squared errors below this, a hundredth of a standard deviation squared, are alike: the noise's prior leaves so
/// much of a table that is exact.
const RESOLUTION: f64 = 1e-4;

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
) -> Result<Trials<Parameters>, Error> {
    let parts = splits(scaled, how)?;
    let ranks = how.coarse_ranks();
    let tried = Trials::new(parts.len() * how.ranks.len());
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
    tried: Trials<Parameters>,
}

#[derive(Default)]
struct Errors {
    held_out: Vec<f64>,
    seen: Vec<f64>,
}

impl Trying<'_> {
    fn refine(&mut self, tried: &[usize]) -> Result<(), Error> {
        let Some(best) = self.tried.least() else { return Ok(()) };
        let (smaller, larger) = passed_over(&self.how.ranks, tried, best.rank);
        for rank in smaller.into_iter().chain(larger) {
            if self.tried.cut.is_some() {
                break;
            }
            self.attempt(rank)?;
        }
        Ok(())
    }

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
        let judged = |(&row_prior, errors): (&RowPrior, &Errors)| {
            let choice = (rank, 0.0, Centring::Columns, row_prior);
            let seen_rmse = (errors.seen.iter().sum::<f64>() / errors.seen.len() as f64).sqrt();
            let trial = Trial::judged(&errors.held_out, choice, (iterations, status));
            Trial { resolution: RESOLUTION, seen_rmse, ..trial }
        };
        let judged: Vec<Trial> = kinds.iter().zip(&errors).map(judged).collect();
        if let Some(first) = first {
            self.tried.add(&judged, first);
        }
        Ok(judged.iter().map(Trial::resolved_mse).fold(f64::INFINITY, f64::min))
    }
}

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
