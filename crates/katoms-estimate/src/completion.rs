//! A matrix of rank k from some of its entries: ratings, pictures with holes, tables with blanks.
//!
//! > minimise ½·Σ (value − effects − Xᵢⱼ)² + ½λ‖X‖² over the entries that were seen, subject to rank X ≤ k
//!
//! The effects (a mean, and what each row and each column has of its own) are fitted first. Where there are several
//! ranks or ridges, some entries are held out to choose; then all entries are fitted.
//!
//! Where columns are features, each in a unit of its own, they are scaled, and a [factor analysis](features) takes the
//! place of the ridge.

mod effects;
mod features;
mod fit;
mod held_out;
mod model;
mod new_row;
mod observed;
mod options;
mod saved;
mod trials;

use katoms::driver::{Quality, Status, Trace};
use katoms::space::{LowRank, Point};
use katoms::{Error, Outcome};

pub use effects::{Centring, Effects};
pub use features::{FactorModel, RowPrior};
pub use model::{Bounds, CompletedMatrix, RowModel, reserved};
pub use observed::Observed;
pub use options::{Clip, Columns, Completion, Rule};
pub use trials::Trial;

use crate::budget::Budget;
use crate::resumed::contained_if_resumed;
use crate::units::Units;
use crate::watch::{Phase, Watch};
use fit::{Begin, Fitting, Problem};
use saved::{Asked, Chosen, Saved};
use trials::Trials;

/// The share of the time that the choice may take; the last fit starts where it ended.
const TRIAL_SHARE: f64 = 0.6;

/// A completed matrix, how it was chosen and how the fit went.
#[derive(Debug, Clone)]
pub struct Completed {
    /// The matrix: factors, effects, predictions.
    pub matrix: CompletedMatrix,
    /// Its rank: what was given, or chosen.
    pub rank: usize,
    /// Its λ.
    pub ridge: f64,
    /// What was taken off first.
    pub centring: Centring,
    /// What is known of a row's factors before anything is seen of it.
    pub row_prior: RowPrior,
    /// Every choice that was tried, in order; empty where there was no choice.
    pub trials: Vec<Trial>,
    /// How many choices there were at most; fewer are tried where larger ranks or weaker ridges do not pay.
    pub most_trials: usize,
    /// The root of the mean squared error on all observed entries; where columns are features, in standard deviations
    /// of the columns, as all errors are.
    pub seen_rmse: f64,
    /// The same on what was held out, of the trial that was taken. The final fit knows those entries.
    pub held_out_rmse: Option<f64>,
    /// Whether the job did all that it was asked to. If not, it was stopped or the time was up, and the matrix is
    /// the best so far; without a final fit it knows nothing of the held-out entries.
    pub complete: bool,
    /// Whether the final fit, to all entries, was reached.
    pub refitted: bool,
    /// How the last fit ended.
    pub status: Status,
    /// How good its point is; `None` for a trial.
    pub quality: Option<Quality>,
    /// Moves of the last fit.
    pub iterations: usize,
    /// Passes over the data, those of the trials included.
    pub passes: usize,
    /// Seconds of the fits, those of the trials included.
    pub seconds: f64,
    /// Every move of the last fit; empty where it was a trial.
    pub trace: Trace,
    /// Entries that were merged into another one at the same place.
    pub repeated: usize,
}

impl Completed {
    /// The trial with the least error on what was held out.
    pub fn least(&self) -> Option<&Trial> {
        trials::choose(&self.trials, Rule::Least).map(|t| &self.trials[t])
    }

    fn original(mut self, units: &Units) -> Self {
        self.matrix = self.matrix.original(units);
        self.trials.iter_mut().for_each(|trial| *trial = trial.original(units));
        self.seen_rmse = units.level(self.seen_rmse);
        self.held_out_rmse = self.held_out_rmse.map(|error| units.level(error));
        self.quality = self.quality.map(|quality| units.quality(quality));
        self.trace.iter_mut().for_each(|event| *event = units.event(event));
        self
    }

    /// The trial of the smallest rank whose error is within one standard error of the least.
    pub fn one_standard_error(&self) -> Option<&Trial> {
        trials::choose(&self.trials, Rule::OneStandardError).map(|t| &self.trials[t])
    }
}

/// Completes a matrix. `resume` are bytes that [`Watch::keep`] was given by the same job on the same data: it goes on
/// with the final fit, by the same moves, and a time limit counts anew.
///
/// # Errors
/// When an option makes no sense for the data, nothing can be held out, the saved state is damaged or another job's, or a
/// sum of squares of the values is no number in double precision.
///
/// ```
/// use katoms_estimate::{Completion, Observed, Unwatched, complete};
/// // (i+1)·(j+1), of which (2, 2) was not seen
/// let (rows, columns) = ([0, 0, 0, 1, 1, 1, 2, 2], [0, 1, 2, 0, 1, 2, 0, 1]);
/// let seen = Observed::new((3, 3), &rows, &columns, &[1.0, 2.0, 3.0, 2.0, 4.0, 6.0, 3.0, 6.0])?;
/// let completed = complete(&seen, &Completion::exact(1), None, &mut Unwatched)?;
/// assert!((completed.matrix.predict(&[2], &[2])?[0] - 9.0).abs() < 1e-4);
/// # Ok::<(), katoms::Error>(())
/// ```
pub fn complete(
    observed: &Observed,
    how: &Completion,
    resume: Option<&[u8]>,
    watch: &mut dyn Watch,
) -> Result<Completed, Error> {
    contained_if_resumed(resume, || complete_in_units(observed, how, resume, watch))
}

fn complete_in_units(
    observed: &Observed,
    how: &Completion,
    resume: Option<&[u8]>,
    watch: &mut dyn Watch,
) -> Result<Completed, Error> {
    how.check(observed.shape())?;
    // Features are scaled column by column.
    let units = match how.columns {
        Columns::Alike => Units::of_values(observed.values(), "the list of observed values")?,
        Columns::Features => Units::default(),
    };
    if units == Units::default() {
        return completed(observed, how, resume, watch);
    }
    let how = &Completion { clip: how.clip.scaled(&units), ..how.clone() };
    let watch = &mut units.watched_by(watch);
    completed(&observed.scaled(&units), how, resume, watch).map(|found| found.original(&units))
}

fn completed(
    observed: &Observed,
    how: &Completion,
    resume: Option<&[u8]>,
    watch: &mut dyn Watch,
) -> Result<Completed, Error> {
    let budget = Budget::new(&how.stop)?;
    let saved = resume.map(Saved::from_bytes).transpose()?;
    if let Some(saved) = &saved {
        saved.asked.check(&Asked::of(how))?;
    }
    if how.columns == Columns::Features {
        if observed.is_on_device() {
            let message = "columns that are features, each in a unit of its own, are completed on the CPU; take them all to be in \
                           one unit, or leave the device out";
            return Err(Error::Device { message: message.into() });
        }
        return features::complete(observed, how, saved, budget, watch);
    }
    let given = Chosen::given(how.ranks[0], how.ridges[0], how.centring, RowPrior::Ridge);
    let (chosen, begin) = match &saved {
        Some(saved) => {
            let begin = Begin::Saved { state: &saved.state, grown: saved.chosen.grown };
            (saved.chosen.clone(), begin)
        }
        None if how.has_choice() => {
            let tried = trials::run(observed, how, budget.share(TRIAL_SHARE), watch)?;
            if tried.cut == Some(Status::Stopped) {
                return Ok(without_refit(observed, how, tried, given));
            }
            let (chosen, best) = tried.chosen(how.rule, Chosen { grown: true, ..given });
            (chosen, Begin::Grown(best.map_or_else(|| LowRank::zero(observed.shape()), |best| best.0)))
        }
        None => (given, Begin::Zero),
    };
    // A time limit counts anew, though the driver's clock goes on from where it was saved.
    let stop = budget.left(how.stop, saved.as_ref().map_or(0.0, |saved| saved.seconds));
    refit(observed, &Completion { stop, ..how.clone() }, chosen, begin, watch)
}

/// The best trial as the answer: the job was stopped before the last fit.
fn without_refit(observed: &Observed, how: &Completion, tried: Trials<trials::Point>, given: Chosen) -> Completed {
    let (least, status) = (tried.least(), tried.cut.unwrap_or(Status::Stopped));
    let (chosen, best) = tried.chosen(Rule::Least, given);
    let none = || (LowRank::zero(observed.shape()), Effects::fit(observed, Centring::Mean));
    let (point, effects) = best.unwrap_or_else(none);
    let matrix = CompletedMatrix::new(&point, effects, chosen.ridge, how.clip, observed);
    let seen_rmse = least.map_or(f64::NAN, |trial| trial.seen_rmse);
    let iterations = least.map_or(0, |trial| trial.iterations);
    let fit = LastFit { iterations, ..LastFit::ended(status) };
    Completed { complete: false, refitted: false, ..fit.completed((matrix, seen_rmse), chosen, Rule::Least, observed) }
}

/// How the last fit went.
struct LastFit {
    status: Status,
    quality: Option<Quality>,
    iterations: usize,
    passes: usize,
    seconds: f64,
    trace: Trace,
}

impl LastFit {
    fn ended(status: Status) -> Self {
        Self { status, quality: None, iterations: 0, passes: 0, seconds: 0.0, trace: Trace::new() }
    }

    /// The answer, whose matrix has this error on what was seen.
    fn completed(
        self,
        (matrix, seen_rmse): (CompletedMatrix, f64),
        chosen: Chosen,
        rule: Rule,
        observed: &Observed,
    ) -> Completed {
        let Self { status, quality, iterations, passes, seconds, trace } = self;
        Completed {
            matrix,
            rank: chosen.rank,
            ridge: chosen.ridge,
            centring: chosen.centring,
            row_prior: chosen.row_prior,
            held_out_rmse: trials::choose(&chosen.trials, rule).map(|t| chosen.trials[t].held_out_rmse),
            trials: chosen.trials,
            most_trials: chosen.most,
            seen_rmse,
            complete: chosen.whole && !matches!(status, Status::Stopped | Status::TimeLimit),
            refitted: true,
            status,
            quality,
            iterations,
            passes: passes + chosen.passes,
            seconds: seconds + chosen.seconds,
            trace,
            repeated: observed.repeated(),
        }
    }
}

fn refit(
    observed: &Observed,
    how: &Completion,
    chosen: Chosen,
    begin: Begin<'_>,
    watch: &mut dyn Watch,
) -> Result<Completed, Error> {
    let effects = Effects::fit(observed, chosen.centring);
    let problem = Problem::new(observed, &effects)?;
    let f = problem.objective(chosen.ridge)?;
    let done = chosen.trials.len();
    let phase = Phase::Final { atoms: chosen.rank };
    let fitting =
        Fitting { f: &f, method: &how.method, stop: how.stop, settled: how.settled, phase, done, of: done + 1 };
    let asked = Asked::of(how);
    let seal = |state, seconds| Saved::to_bytes(&asked, &chosen, state, seconds);
    let outcome = fitting.run(chosen.rank, begin, watch, Some(&seal))?;
    let Outcome { point, status, iterations, passes, seconds, quality, trace, .. } = outcome;
    let matrix = CompletedMatrix::new(&point, effects, chosen.ridge, how.clip, observed);
    let fit = LastFit { status, quality, iterations, passes, seconds, trace };
    Ok(fit.completed((matrix, problem.rmse(&point)?), chosen, how.rule, observed))
}
