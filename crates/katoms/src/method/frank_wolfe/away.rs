//! Away-steps Frank–Wolfe: Guélat and Marcotte, "Some comments on Wolfe's 'away step'" (1986), as Algorithm 1
//! of Lacoste-Julien and Jaggi, "On the Global Linear Convergence of Frank-Wolfe Optimization Variants" (2015).
//!
//! minimise f(x) subject to x ∈ conv(𝒜).
//!
//! | paper | code | |
//! |---|---|---|
//! | x⁽ᵗ⁾ | `state.x` | the iterate |
//! | 𝒮⁽ᵗ⁾, α_v | `state.active` | the atoms that make up x, and their weights |
//! | ∇f(x⁽ᵗ⁾) | `g` | the gradient that the driver brings: the one pass |
//! | s_t | `s` | the atom that minimises ⟨∇f(x), ·⟩ over 𝒜 |
//! | v_t | `v` | the atom that maximises it over 𝒮 |
//! | g_t^FW, g_t^A | `gap`, `away_gap` | ⟨∇f(x), x − s⟩ and ⟨∇f(x), v − x⟩ |
//! | γ_t, γ_max | `gamma`, `longest` | the step and the longest one that leaves no weight negative |
//!
//! Where we differ. The paper starts at an atom. Here x0 is zero, or wherever the caller says, as a
//! combination of vertices and of zero. Zero then counts as an atom until a step drops it; the theory asks for a
//! finite set of atoms, and one more is still finite. A start that would raise f is not needed.
//! An optional [`Correction`] minimises f over the hull of 𝒮 and the new atom after the step.
//!
//! An iteration is one pass, the columns of one vertex (none where it is in 𝒮 already) and O(m·|𝒮|) for the
//! images of the atoms, which are kept.

use super::correction::Correction;
use super::state::{Direction, FrankWolfeState};
use crate::error::Error;
use crate::loss::Loss;
use crate::method::{Method, Progress};
use crate::objective::{Evaluated, Objective};
use crate::operator::LinearOperator;
use crate::set::LinearMinimize;

/// Away-steps Frank–Wolfe: it may also move away from the worst atom. Linear convergence on polytopes, such
/// as the ℓ1 ball, where f is strongly convex or f(x) = ℓ(A·x) with a strongly convex ℓ (Lacoste-Julien and
/// Jaggi, Theorem 1 and its extension). On sets with round faces the plain method's rate is what is proven.
///
/// ```
/// use katoms::driver::{Options, solve};
/// use katoms::method::{AwayFrankWolfe, Correction};
/// use katoms::{Objective, Status, loss::LeastSquares, operator::Dense, set::L1Ball};
/// # use std::ops::ControlFlow;
/// let design = Dense::column_major(&[1.0, 0.0, 0.0, 1.0], 2, 2)?;
/// let f = Objective::new(&design, LeastSquares::new(vec![3.0, 2.5])?)?;
/// let ball = L1Ball::new(1.0, 2)?;
/// for correction in [Correction::Never, Correction::full()] {
///     let method = AwayFrankWolfe { correction };
///     let outcome = solve(&f, &ball, &method, Options::default(), |_, _| ControlFlow::Continue(()))?;
///     assert_eq!(outcome.status, Status::Converged);
///     assert!((outcome.point.value_at(0) - 0.75).abs() < 1e-6);
/// }
/// # Ok::<(), katoms::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct AwayFrankWolfe {
    /// Whether f is minimised over the hull of the atoms after a step. Default: never.
    pub correction: Correction,
}

impl<A, L, S> Method<A, L, S> for AwayFrankWolfe
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
        let (v, away_gap) = state.worst_atom(f); //                          4: v_t, the worst atom of 𝒮
        let gap = -f.slope(&state.x, &Evaluated::combine(-1.0, &state.x, 1.0, &s));
        if !(gap > 0.0) {
            return state.without_slope(gap); //                              5: the gap is 0
        }
        state.prove(gap);
        let s = state.active.admit(s);
        let direction = if gap >= away_gap {
            Direction::Toward(s) //                                          7: d := s − x, γ_max := 1
        } else {
            Direction::Away(v) //                                            9: d := x − v, γ_max := α_v/(1 − α_v)
        };
        state.follow(f, direction, self.correction, gap) //                  11–13: line search, x, α and 𝒮
    }
}
