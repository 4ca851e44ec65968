//! A table whose columns are features, each in a unit of its own.
//!
//! Columns are scaled, and the matrix of rank k is the one of a [factor analysis](em): each column has a noise of its
//! own, and the factors of a row are drawn to what is usual, the more the less was seen of it.

mod em;
pub(super) mod factor_model;
mod fit;
mod packed;
mod rows;
mod table;
mod trials;

use katoms::Error;
use katoms::driver::{Status, Trace};
use katoms::linalg::Matrix;
use katoms::linalg::parallel;

pub use factor_model::FactorModel;
pub use rows::RowPrior;
pub(super) use table::Scaling;

use super::model::RowModel;
use super::saved::{Asked, Chosen, Saved};
use super::trials::Trials;
use super::{Centring, Completed, CompletedMatrix, Completion, Effects, LastFit, Observed, Rule, TRIAL_SHARE};
use crate::budget::Budget;
use crate::watch::{Phase, Watch};
use em::Parameters;
use fit::{Fitting, State};
use table::Table;
use trials::{prior_of, rows_evidence};

pub(super) fn complete(
    observed: &Observed,
    how: &Completion,
    resume: Option<Saved>,
    budget: Budget,
    watch: &mut dyn Watch,
) -> Result<Completed, Error> {
    let scaling = Scaling::of(observed)?;
    let scaled = scaling.apply(observed);
    let table = Table::new(&scaled);
    let given = |row_prior| Chosen::given(how.ranks[0], 0.0, Centring::Columns, row_prior);
    let whole = Whole { observed, scaling, table, how };
    let (chosen, saved) = match resume {
        Some(saved) => (saved.chosen, Some((saved.state, saved.seconds))),
        None if how.has_choice() => {
            let tried = trials::run((&scaled, &whole.scaling), how, budget.share(TRIAL_SHARE), watch)?;
            if tried.cut == Some(Status::Stopped) {
                return Ok(without_refit(&whole, tried, given(RowPrior::Normal)));
            }
            (tried.chosen(how.rule, given(RowPrior::Normal)).0, None)
        }
        None => (given(how.row_prior), None),
    };
    let (mut state, earlier) = match saved {
        Some((bytes, seconds)) => (State::resume(&whole.table, &bytes)?, seconds),
        None => (State::start(&whole.table, chosen.rank), 0.0),
    };
    let done = chosen.trials.len();
    let (stop, phase) = (budget.left(how.stop, earlier), Phase::Final { atoms: chosen.rank });
    let fitting = Fitting { table: &whole.table, stop, settled: how.settled, phase, done, of: done + 1 };
    let asked = Asked::of(how);
    let seal = |state, seconds| Saved::to_bytes(&asked, &chosen, state, seconds);
    let status = fitting.run(&mut state, watch, Some(&seal))?;
    Ok(whole.completed(&state.parameters, chosen, how.rule, (status, state.trace)))
}

struct Whole<'a> {
    observed: &'a Observed,
    scaling: Scaling,
    table: Table,
    how: &'a Completion,
}

impl Whole<'_> {
    fn completed(
        &self,
        parameters: &Parameters,
        chosen: Chosen,
        rule: Rule,
        (status, trace): (Status, Trace),
    ) -> Completed {
        let (iterations, seconds) = (trace.len(), trace.last().map_or(0.0, |event| event.seconds));
        let fit = LastFit { iterations, passes: iterations, seconds, trace, ..LastFit::ended(status) };
        fit.completed(self.matrix(parameters, chosen.row_prior), chosen, rule, self.observed)
    }

    fn matrix(&self, parameters: &Parameters, kind: RowPrior) -> (CompletedMatrix, f64) {
        let evidence = rows_evidence(&self.table, parameters);
        let prior = prior_of(kind, parameters.rank, &evidence);
        let factors: Vec<Vec<f64>> = parallel::map(evidence.len(), &|row| prior.factors(&evidence[row]));
        let Scaling { centres, scales } = &self.scaling;
        let (n, rank) = (self.table.shape.0, parameters.rank);
        let (left, singular_values, right) =
            singular(&Matrix::from_fn(n, rank, |i, a| factors[i][a]), &parameters.matrix());
        let level = |j: usize| centres[j] + scales[j] * parameters.mean[j];
        let columns = (0..centres.len()).map(level).collect();
        let (row_counts, _) = self.observed.counts();
        let matrix = CompletedMatrix {
            effects: Effects { centring: Centring::Columns, mean: 0.0, rows: vec![0.0; n], columns },
            left,
            singular_values,
            right,
            scales: scales.clone(),
            row_model: RowModel::Factors(Box::new(FactorModel {
                loadings: parameters.matrix(),
                noise: parameters.noise.clone(),
                prior,
            })),
            bounds: self.how.clip.bounds(self.observed, self.how.columns),
            empty_rows: (0..n).filter(|&i| row_counts[i] == 0).collect(),
            empty_columns: Vec::new(),
            fallback: None,
        };
        let square = |i: usize| -> f64 {
            let off = |(j, value): (usize, f64)| (parameters.predicted(j, &factors[i]) - value).powi(2);
            self.table.rows.seen(i).map(off).sum()
        };
        let rmse = ((0..n).map(square).sum::<f64>() / self.table.seen as f64).sqrt();
        (matrix, rmse)
    }
}

/// left·rightᵀ = u·diag(values)·vᵀ.
fn singular(left: &Matrix, right: &Matrix) -> (Matrix, Vec<f64>, Matrix) {
    if left.columns() == 0 {
        return (left.clone(), Vec::new(), right.clone());
    }
    let (q1, q2) = (left.orthonormalized(), right.orthonormalized());
    let core = q1.transposed_times(left).times_transposed(&q2.transposed_times(right));
    match core.svd() {
        Some((u, values, v)) => (q1.times(&u), values, q2.times(&v)),
        None => (left.clone(), vec![1.0; left.columns()], right.clone()),
    }
}

/// The best trial as the answer: the job was stopped before the last fit.
fn without_refit(whole: &Whole<'_>, tried: Trials<Parameters>, given: Chosen) -> Completed {
    let (least, status) = (tried.least(), tried.cut.unwrap_or(Status::Stopped));
    let (chosen, best) = tried.chosen(Rule::Least, given);
    let parameters = best.unwrap_or_else(|| Parameters::start(&whole.table, 0));
    let answer = whole.completed(&parameters, chosen, Rule::Least, (status, Trace::new()));
    let iterations = least.map_or(0, |trial| trial.iterations);
    Completed { refitted: false, complete: false, iterations, ..answer }
}
