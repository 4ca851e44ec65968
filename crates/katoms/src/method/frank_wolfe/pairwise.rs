//! Pairwise Frank–Wolfe: Algorithm 2 of Lacoste-Julien and Jaggi, "On the Global Linear Convergence of
//! Frank-Wolfe Optimization Variants" (2015), after Mitchell, Demyanov and Malozemov, "Finding the point of
//! a polyhedron closest to the origin" (1974).
//!
//! minimise f(x) subject to x ∈ conv(𝒜). The symbols, the start and the cost are those of
//! [away-steps Frank–Wolfe](super::AwayFrankWolfe), except that lines 6 to 10 move weight from the worst
//! atom straight to the new one: no other weight changes.
//!
//! | paper | code | |
//! |---|---|---|
//! | d_t^PFW | `Direction::Pairwise` | s_t − v_t |
//! | γ_max | `longest` | α_{v_t} |

use super::correction::Correction;
use super::state::{Direction, FrankWolfeState};
use crate::error::Error;
use crate::loss::Loss;
use crate::method::{Method, Progress};
use crate::objective::{Evaluated, Objective};
use crate::operator::LinearOperator;
use crate::set::LinearMinimize;

/// Pairwise Frank–Wolfe: weight moves from the worst atom to the best one. Linear convergence on polytopes,
/// such as the ℓ1 ball, where f is strongly convex or f(x) = ℓ(A·x) with a strongly convex ℓ, in the
/// iterations that are no swaps (Lacoste-Julien and Jaggi, Theorem 1 and its extension). Iterates stay sparse.
///
/// ```
/// use katoms::driver::{Options, solve};
/// use katoms::method::PairwiseFrankWolfe;
/// use katoms::{Objective, Status, loss::LeastSquares, operator::Dense, set::GroupBall};
/// # use std::ops::ControlFlow;
/// let design = Dense::column_major(&[1.0, 0.0, 0.0, 1.0], 2, 2)?;
/// let f = Objective::new(&design, LeastSquares::new(vec![3.0, 4.0])?)?;
/// let ball = GroupBall::new(1.0, 2, vec![vec![0, 1], vec![1]])?;
/// let method = PairwiseFrankWolfe::default();
/// let outcome = solve(&f, &ball, &method, Options::default(), |_, _| ControlFlow::Continue(()))?;
/// assert_eq!(outcome.status, Status::Converged);
/// assert!((outcome.point.value_at(1) - 0.8).abs() < 1e-12);
/// # Ok::<(), katoms::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PairwiseFrankWolfe {
    /// Whether f is minimised over the hull of the atoms after a step. Default: never.
    pub correction: Correction,
}

impl<A, L, S> Method<A, L, S> for PairwiseFrankWolfe
where
    A: LinearOperator,
    L: Loss,
    S: LinearMinimize<A::Covector, Point = A::Point>,
{
    type State = FrankWolfeState<A::Point>;

    fn start(&self, f: &Objective<A, L>, set: &S, x0: A::Point) -> Result<Self::State, Error> {
        self.correction.check()?;
        Ok(FrankWolfeState::new(f, set, x0)) //                              1: 𝒮 and its weights
    }

    fn query<'s>(&self, state: &'s Self::State) -> &'s Evaluated<A::Point> {
        &state.x
    }

    fn iterate<'s>(&self, state: &'s Self::State) -> &'s Evaluated<A::Point> {
        &state.x
    }

    fn advance(&self, f: &Objective<A, L>, set: &S, state: &mut Self::State, g: &A::Covector) -> Progress {
        let s = state.vertex(f, set, g); //                                  3: s_t := LMO(∇f(x))
        let (from, _) = state.worst_atom(f); //                              4: v_t, the worst atom of 𝒮
        let gap = -f.slope(&state.x, &Evaluated::combine(-1.0, &state.x, 1.0, &s));
        if !(gap > 0.0) {
            return state.without_slope(gap); //                              5: the gap is 0
        }
        state.prove(gap);
        let to = state.active.admit(s);
        let direction = Direction::Pairwise { from, to }; //                 6–10: d := s − v, γ_max := α_v
        state.follow(f, direction, self.correction, gap) //                  11–13: line search, x, α and 𝒮
    }
}
