//! Subspace pursuit: W. Dai and O. Milenkovic, "Subspace pursuit for compressive sensing signal reconstruction",
//! IEEE Trans. Inf. Theory 55 (2009).
//!
//! minimise f(x) subject to x being made of at most k coordinates or groups.
//!
//! | paper | code | |
//! |---|---|---|
//! | T^ℓ | `x.point().support()` | the support |
//! | y_r | −`f.residual(x)` | the residual; `g` is −Φ*y_r |
//! | T̃^ℓ | `t` | T^{ℓ−1} and the k atoms strongest in Φ*y_r |
//! | x_p | `wide` | the minimum of f on T̃ |
//!
//! It is [`Cosamp`](super::Cosamp) with k candidates in place of 2k, and a refit on the k that are kept. It ends, as
//! in the paper, when f does not fall: at a fixed point where the support stays, stalled otherwise. So f falls
//! throughout. The loss may be any; the paper's is least squares.
//!
//! One pass an iteration. Columns: three times the at most 2k of T̃ for the refit, and 4k for what is kept.

use serde::{Deserialize, Serialize};

use super::candidates::candidates;
use super::cosamp::pruned;
use crate::error::Error;
use crate::loss::Loss;
use crate::method::{Method, Move, Progress, Refit, refit_on, relative_change};
use crate::objective::{Evaluated, Objective};
use crate::operator::LinearOperator;
use crate::set::Expand;
use crate::space::{Point, SparseVec};

/// Subspace pursuit. It has no options.
///
/// ```
/// use std::ops::ControlFlow;
/// use katoms::driver::{Options, solve};
/// use katoms::{Objective, loss::LeastSquares, method::SubspacePursuit, operator::Dense, set::KSparse};
/// let design = Dense::column_major(&[1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 3.0], 3, 3)?;
/// let f = Objective::new(&design, LeastSquares::new(vec![1.0, 4.0, 0.5])?)?;
/// let set = KSparse::new(2, 3)?;
/// let outcome = solve(&f, &set, &SubspacePursuit, Options::for_set(&set), |_, _| ControlFlow::Continue(()))?;
/// assert_eq!(outcome.point.indices(), [0, 1]);
/// # Ok::<(), katoms::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SubspacePursuit;

/// Where subspace pursuit stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SubspaceState {
    x: Evaluated<SparseVec>,
    objective: f64,
}

impl<A, L, S> Method<A, L, S> for SubspacePursuit
where
    A: LinearOperator<Point = SparseVec>,
    L: Loss,
    S: Expand<A::Covector, Point = SparseVec>,
{
    type State = SubspaceState;

    fn start(&self, f: &Objective<A, L>, set: &S, x0: SparseVec) -> Result<Self::State, Error> {
        let x0 = set.project(x0);
        let support = x0.support();
        let x = refit_on(f, f.at(x0), &support);
        let objective = f.value(&x);
        Ok(SubspaceState { x, objective })
    }

    fn query<'s>(&self, state: &'s Self::State) -> &'s Evaluated<SparseVec> {
        &state.x
    }

    fn iterate<'s>(&self, state: &'s Self::State) -> &'s Evaluated<SparseVec> {
        &state.x
    }

    fn advance(&self, f: &Objective<A, L>, set: &S, state: &mut Self::State, g: &A::Covector) -> Progress {
        let x = &state.x;
        let t = candidates::<A, S>(set, x, g, set.atoms()); //           1: T̃ ← T ∪ {k strongest in Φ*y_r}
        let wide = refit_on(f, x.clone(), &t); //                        2: x_p on T̃
        let x_next = pruned(f, set, wide, Refit::EveryIteration); //     3, 4: T ← the k largest of x_p, refitted
        let objective = f.value(&x_next);
        if objective < state.objective {
            let moved = Progress::moved(objective, x_next.point(), x.point());
            *state = SubspaceState { x: x_next, objective };
            return moved;
        }
        let stays = x_next.point().support() == x.point().support(); //  5: the residual does not fall
        let kind = if stays { Move::Fixed } else { Move::Stalled };
        let change = if stays { 0.0 } else { relative_change(x_next.point(), x.point()) };
        Progress { change, ..Progress::still(state.objective, kind) }
    }
}
