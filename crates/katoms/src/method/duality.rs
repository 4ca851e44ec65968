//! A lower bound on a penalised objective from any point: Fenchel's.
//!
//! F(x) = ℓ(Ax) + ½ρ‖x‖² + h(x). For every θ and w with h°(Aᵀθ + w) ≤ 1
//!
//! > min F ≥ −ℓ*(θ) − ‖w‖²/(2ρ).
//!
//! With r = ∇ℓ(Ax), the choice θ = s·r, w = s·ρx has Aᵀθ + w = s·∇f(x), so that s = min(1, 1/h°(∇f(x)))
//! will do. At the minimum s is 1 and the bound is F(x). No pass beyond the gradient's.

use crate::loss::Loss;
use crate::objective::{Evaluated, Objective};
use crate::operator::LinearOperator;
use crate::penalty::Penalty;

/// A number that F does not go below, where g = ∇f(x). `None` where the loss does not know its conjugate.
pub(crate) fn lower_bound<A, L, P>(
    f: &Objective<A, L>,
    penalty: &P,
    x: &Evaluated<A::Point>,
    g: &A::Covector,
) -> Option<f64>
where
    A: LinearOperator,
    L: Loss,
    P: Penalty<A::Covector, Point = A::Point>,
{
    let polar = penalty.polar(g);
    let s = if polar > 1.0 { 1.0 / polar } else { 1.0 };
    let theta: Vec<f64> = f.residual(x).iter().map(|r| s * r).collect();
    let ridge = f.value(x) - f.loss().value(x.image());
    let bound = -f.loss().conjugate(&theta)? - s * s * ridge;
    // Far from the minimum the loss itself may know better.
    Some(if bound > f.lower_bound() { bound } else { f.lower_bound() })
}
