//! The library's greedy methods, with the models on their way.

use katoms::driver::{Options, Run};
use katoms::loss::LeastSquares;
use katoms::method::{Foba, ForwardRegression, Method, Omp};
use katoms::operator::Dense;
use katoms::set::KSparse;
use katoms::{Error, Objective, Stop};

use super::{Data, Model, PERFECT};

type Design<'a> = Dense<'a, f64>;

/// Orthogonal matching pursuit: one model for each k = 1, 2, …; k passes.
///
/// # Errors
/// When `k_max` is 0 or above the number of columns.
pub fn omp(data: &Data<'_>, k_max: usize) -> Result<Vec<Model>, Error> {
    path(data, k_max, &Omp)
}

/// Forward regression, or orthogonal least squares: one model for each k = 1, 2, …; k passes.
///
/// # Errors
/// As [`omp`].
pub fn forward_regression(data: &Data<'_>, k_max: usize) -> Result<Vec<Model>, Error> {
    path(data, k_max, &ForwardRegression)
}

/// FoBa with Zhang's share of ½, grown up to `most` atoms: its best model of at most k.
///
/// # Errors
/// As [`omp`], and when `most` is below k.
pub fn foba(data: &Data<'_>, k: usize, most: usize) -> Result<Model, Error> {
    let path = path(data, k, &Foba { most: Some(most), ..Foba::default() })?;
    Ok(path.into_iter().next_back().unwrap_or_else(|| data.refit(Vec::new(), 1).0))
}

/// The answers of a method, move by move.
fn path<M>(data: &Data<'_>, k: usize, method: &M) -> Result<Vec<Model>, Error>
where
    M: for<'a> Method<&'a Design<'a>, LeastSquares, KSparse>,
{
    let design = Dense::column_major(data.design, data.rows, data.columns())?;
    follow(&design, data, &KSparse::new(k, data.columns())?, method)
}

fn follow<'a, M>(design: &'a Design<'a>, data: &Data<'_>, set: &KSparse, method: &M) -> Result<Vec<Model>, Error>
where
    M: Method<&'a Design<'a>, LeastSquares, KSparse>,
{
    let f = Objective::new(design, LeastSquares::new(data.y.to_vec())?)?;
    let stop = Stop { perfect: Some(PERFECT), iterations: usize::MAX, ..Stop::default() };
    let mut run = Run::new(&f, set, method, Options { stop, ..Options::default() })?;
    let mut models = Vec::new();
    while !run.is_done() {
        let event = run.step();
        let (support, coefficients) = run.iterate().entries().unzip();
        // The norms of the columns are the data's own here: their pass does not count.
        models.push(Model { support, coefficients, objective: event.objective, passes: event.passes - 1 });
    }
    models.dedup_by(|next, before| next.support == before.support);
    Ok(models)
}
