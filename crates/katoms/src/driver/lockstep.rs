//! Many fits, one pass: their residuals become one block.

use std::ops::ControlFlow;
use std::time::Instant;

use super::{Constraint, Run};
use crate::error::Error;
use crate::loss::Loss;
use crate::method::Method;
use crate::operator::{LinearOperator, adjoint_many};

/// Runs all fits to their ends. In each round the fits that still run share one pass over the data
/// that all of them look at; each makes the same moves as it would alone with full passes.
///
/// Every fit needs an objective of its own (folds have different rows, responses different
/// targets), over views of one operator.
///
/// # Errors
/// When the fits do not look at the same data, or two share an objective.
pub fn lockstep<A, L, S, M>(runs: &mut [Run<'_, A, L, S, M>]) -> Result<(), Error>
where
    A: LinearOperator,
    L: Loss,
    S: Constraint<A, L>,
    M: Method<A, L, S>,
{
    lockstep_while(runs, |_| ControlFlow::Continue(()))
}

/// The same, asking after each round whether to go on, with the number of fits that have ended. A break stops those
/// that still run where they stand.
pub(crate) fn lockstep_while<A, L, S, M>(
    runs: &mut [Run<'_, A, L, S, M>],
    mut go_on: impl FnMut(usize) -> ControlFlow<()>,
) -> Result<(), Error>
where
    A: LinearOperator,
    L: Loss,
    S: Constraint<A, L>,
    M: Method<A, L, S>,
{
    if let Some((first, others)) = runs.split_first() {
        let base = first.f.operator().base();
        if let Some(at) = others.iter().position(|run| !std::ptr::eq(run.f.operator().base(), base)) {
            return Err(Error::Lockstep { fit: at + 1 });
        }
    }
    // An objective counts its passes: two fits that share one would count each other's.
    for fit in 1..runs.len() {
        if runs[..fit].iter().any(|run| std::ptr::eq(run.f, runs[fit].f)) {
            return Err(Error::SharedObjective { fit });
        }
    }
    while round(runs, |_| true) {
        if go_on(runs.iter().filter(|run| run.is_done()).count()).is_break() {
            runs.iter_mut().for_each(Run::stop);
        }
    }
    Ok(())
}

/// The same for fits of different sizes on one objective, which counts every pass once.
pub(crate) fn lockstep_of_sizes<A, L, S, M>(runs: &mut [Run<'_, A, L, S, M>])
where
    A: LinearOperator,
    L: Loss,
    S: Constraint<A, L>,
    M: Method<A, L, S>,
{
    while round(runs, |at| at == 0) {}
}

/// One pass for all fits that still run, and a move of each; false where none runs. The pass is counted by those for whose
/// place `counts` says so.
fn round<A, L, S, M>(runs: &mut [Run<'_, A, L, S, M>], counts: impl Fn(usize) -> bool) -> bool
where
    A: LinearOperator,
    L: Loss,
    S: Constraint<A, L>,
    M: Method<A, L, S>,
{
    let mut active: Vec<&mut Run<'_, A, L, S, M>> = runs.iter_mut().filter(|run| !run.is_done()).collect();
    if active.is_empty() {
        return false;
    }
    let clock = Instant::now();
    let residuals: Vec<Vec<f64>> = active.iter().map(|run| run.f.residual(run.query())).collect();
    let views: Vec<&[f64]> = residuals.iter().map(Vec::as_slice).collect();
    let operators: Vec<&A> = active.iter().map(|run| run.f.operator()).collect();
    let mut gradients: Vec<A::Covector> = operators.iter().map(|a| a.base().new_covector()).collect();
    adjoint_many(&operators, &views, &mut gradients);
    let pass = clock.elapsed();
    for (at, ((run, g), residual)) in active.iter_mut().zip(&mut gradients).zip(&residuals).enumerate() {
        let before = run.f.cost();
        if counts(at) {
            run.f.count_pass();
        }
        run.f.remember_first(residual, g);
        run.f.add_ridge(run.query().point(), g);
        run.advance(g, before, pass);
    }
    true
}
