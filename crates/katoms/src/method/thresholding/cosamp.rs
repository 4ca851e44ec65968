//! Compressive sampling matching pursuit: D. Needell and J. Tropp, "CoSaMP: iterative signal recovery from
//! incomplete and inaccurate samples", Appl. Comput. Harmon. Anal. 26 (2009).
//!
//! minimise f(x) subject to x being made of at most k coordinates or groups.
//!
//! | paper | code | |
//! |---|---|---|
//! | a | `walk.here()` | the iterate |
//! | y = Φ*v | `g` | the proxy, up to its sign |
//! | Ω = supp(y₂ₖ), T = Ω ∪ supp(a) | `t` | at most 3k atoms |
//! | b | `b` | the minimum of f on T |
//! | bₖ | `set.project` | |
//!
//! The paper prunes b and goes on. In noise that walk often settles at a point that fits worse than an earlier one,
//! since b was optimal for other atoms. Therefore the default refits what is kept; [`Cosamp::published`] does not.
//!
//! f may rise and the walk may cycle: the paper's guarantee needs a restricted isometry of 4k atoms, and none is
//! checked. Therefore the answer is the best point of the walk, and a walk that comes back to where it was ends as
//! stalled. With fewer than 3k rows the least squares on T are not determined: those of least norm are
//! taken. For losses other than least squares this is [`Grasp`](super::Grasp) with a full minimisation.
//!
//! One pass an iteration. Columns: three times the at most 3k of T for the refit, and 4k for what is kept.

use super::candidates::candidates;
use super::walk::Walk;
use crate::error::Error;
use crate::loss::Loss;
use crate::method::{Method, Progress, Refit, refit_on};
use crate::objective::{Evaluated, Objective};
use crate::operator::LinearOperator;
use crate::set::Expand;
use crate::space::{Point, SparseVec};

/// CoSaMP.
///
/// ```
/// use std::ops::ControlFlow;
/// use katoms::driver::{Options, solve};
/// use katoms::{Objective, loss::LeastSquares, method::Cosamp, operator::Dense, set::KSparse};
/// let design = Dense::column_major(&[1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 3.0], 3, 3)?;
/// let f = Objective::new(&design, LeastSquares::new(vec![1.0, 4.0, 0.5])?)?;
/// let set = KSparse::new(2, 3)?;
/// let outcome = solve(&f, &set, &Cosamp::default(), Options::for_set(&set), |_, _| ControlFlow::Continue(()))?;
/// assert_eq!(outcome.point.indices(), [0, 1]);
/// # Ok::<(), katoms::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cosamp {
    /// When f is minimised over the k atoms that are kept. Default: in every iteration.
    pub refit: Refit,
}

impl Default for Cosamp {
    fn default() -> Self {
        Self { refit: Refit::EveryIteration }
    }
}

impl Cosamp {
    /// As published: what is kept is not refitted.
    pub fn published() -> Self {
        Self { refit: Refit::Never }
    }
}

/// The k atoms of b, optimised if so chosen.
pub(super) fn pruned<A, L, S>(
    f: &Objective<A, L>,
    set: &S,
    b: Evaluated<SparseVec>,
    refit: Refit,
) -> Evaluated<SparseVec>
where
    A: LinearOperator<Point = SparseVec>,
    L: Loss,
    S: Expand<A::Covector, Point = SparseVec>,
{
    let a = set.project(b.into_point());
    let support = a.support();
    match refit {
        Refit::EveryIteration => refit_on(f, f.at(a), &support),
        Refit::Never | Refit::AtEnd => f.at(a),
    }
}

impl<A, L, S> Method<A, L, S> for Cosamp
where
    A: LinearOperator<Point = SparseVec>,
    L: Loss,
    S: Expand<A::Covector, Point = SparseVec>,
{
    type State = Walk<SparseVec>;

    fn start(&self, f: &Objective<A, L>, set: &S, x0: SparseVec) -> Result<Self::State, Error> {
        Ok(Walk::starting_at(f, f.at(set.project(x0))))
    }

    fn query<'s>(&self, walk: &'s Self::State) -> &'s Evaluated<SparseVec> {
        walk.here()
    }

    fn iterate<'s>(&self, walk: &'s Self::State) -> &'s Evaluated<SparseVec> {
        walk.best()
    }

    fn advance(&self, f: &Objective<A, L>, set: &S, walk: &mut Self::State, g: &A::Covector) -> Progress {
        let t = candidates::<A, S>(set, walk.here(), g, 2 * set.atoms()); // identify, merge: T ← supp(y₂ₖ) ∪ supp(a)
        let b = refit_on(f, walk.here().clone(), &t); //                     estimate: b on T
        let next = pruned(f, set, b, self.refit); //                         prune: a ← bₖ
        walk.go(f, next) //                                                  update: the next gradient is there
    }

    fn finish(&self, f: &Objective<A, L>, walk: &mut Self::State) {
        if self.refit == Refit::AtEnd {
            walk.refit(f);
        }
    }

    fn restart(&self, walk: &mut Self::State) {
        walk.restart();
    }
}
