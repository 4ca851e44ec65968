//! Frank–Wolfe: Frank and Wolfe, "An algorithm for quadratic programming" (1956), as Algorithm 1 of Jaggi,
//! "Revisiting Frank-Wolfe: Projection-Free Sparse Convex Optimization" (2013).
//!
//! minimise f(x) subject to x ∈ 𝒟, a convex set known by its vertices.
//!
//! | paper | code | |
//! |---|---|---|
//! | x⁽ᵏ⁾ | `state.x` | the iterate |
//! | ∇f(x⁽ᵏ⁾) | `g` | the gradient that the driver brings: the one pass |
//! | s | `s` | the vertex that minimises ⟨∇f(x), ·⟩ over 𝒟 |
//! | γ | `gamma` | the step, 2/(k+2) or the best one |
//! | g(x) | `gap` | ⟨∇f(x), x − s⟩, at least f(x) − f* |
//! | k | `state.t` | moves so far |
//!
//! Where we differ. The default step is the line search (Algorithm 3), which costs O(m) here. The start is zero,
//! or wherever the caller says, not a vertex. With a [`Correction`] it is the fully-corrective variant (Algorithm
//! 4): f is minimised over the hull of the atoms found so far; on matrices, over nonnegative weights of the
//! rank-one atoms found.
//!
//! An iteration is one pass and the columns of one vertex. Without correction no atoms are kept, and the rank of
//! a matrix grows by one an iteration until it is full; directions are dropped only below rounding.

use super::correction::Correction;
use super::line_search::step_along;
use super::state::{Direction, FrankWolfeState};
use crate::error::Error;
use crate::loss::Loss;
use crate::method::{Method, Progress};
use crate::objective::{Evaluated, Objective};
use crate::operator::LinearOperator;
use crate::set::LinearMinimize;

/// How far a step goes toward the vertex.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FrankWolfeStep {
    /// argmin over γ in [0, 1] of f(x + γ·(s − x)).
    #[default]
    LineSearch,
    /// 2/(k+2): needs no value of f, and f may rise.
    Diminishing,
}

/// Frank–Wolfe. f(x) − f* ≤ 2·C_f/(k+2) after k moves (Jaggi, Theorem 1).
///
/// ```
/// use katoms::driver::{Options, solve};
/// use katoms::method::FrankWolfe;
/// use katoms::{Objective, Status, loss::LeastSquares, operator::Dense, set::L1Ball};
/// # use std::ops::ControlFlow;
/// let design = Dense::column_major(&[1.0, 0.0, 0.0, 1.0], 2, 2)?;
/// let f = Objective::new(&design, LeastSquares::new(vec![3.0, 0.0])?)?;
/// let ball = L1Ball::new(1.0, 2)?;
/// let outcome = solve(&f, &ball, &FrankWolfe::default(), Options::default(), |_, _| ControlFlow::Continue(()))?;
/// assert_eq!((outcome.status, outcome.point.to_dense()), (Status::Converged, vec![1.0, 0.0]));
/// # Ok::<(), katoms::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct FrankWolfe {
    /// How far a step goes. Default: line search.
    pub step: FrankWolfeStep,
    /// Whether f is minimised over the atoms found so far. Default: never.
    pub correction: Correction,
}

impl<A, L, S> Method<A, L, S> for FrankWolfe
where
    A: LinearOperator,
    L: Loss,
    S: LinearMinimize<A::Covector, Point = A::Point>,
{
    type State = FrankWolfeState<A::Point>;

    fn start(&self, f: &Objective<A, L>, set: &S, x0: A::Point) -> Result<Self::State, Error> {
        self.correction.check()?;
        let mut state = FrankWolfeState::new(f, set, x0);
        if self.correction == Correction::Never {
            state.forget_atoms();
        }
        Ok(state)
    }

    fn query<'s>(&self, state: &'s Self::State) -> &'s Evaluated<A::Point> {
        &state.x
    }

    fn iterate<'s>(&self, state: &'s Self::State) -> &'s Evaluated<A::Point> {
        &state.x
    }

    fn advance(&self, f: &Objective<A, L>, set: &S, state: &mut Self::State, g: &A::Covector) -> Progress {
        let s = state.vertex(f, set, g); //                            s := argmin over 𝒟 of ⟨·, ∇f(x)⟩
        let d = Evaluated::combine(-1.0, &state.x, 1.0, &s);
        let gap = -f.slope(&state.x, &d);
        if !(gap > 0.0) {
            return state.without_slope(gap);
        }
        state.prove(gap);
        let gamma = match self.step {
            FrankWolfeStep::LineSearch => step_along(f, &state.x, &d, 1.0),
            FrankWolfeStep::Diminishing => 2.0 / (state.t as f64 + 2.0), // γ := 2/(k+2)
        };
        if self.correction != Correction::Never {
            let s = state.active.admit(s);
            return state.step(f, Direction::Toward(s), gamma, self.correction, gap);
        }
        // x := (1 − γ)·x + γ·s; a full step is s itself, without zeros where x was.
        let next = if gamma < 1.0 { Evaluated::combine(1.0, &state.x, gamma, &d) } else { s };
        match self.step {
            FrankWolfeStep::LineSearch => state.arrive(f, next, gamma),
            FrankWolfeStep::Diminishing => {
                let objective = f.value(&next);
                state.move_to(next, objective, gamma)
            }
        }
    }
}
