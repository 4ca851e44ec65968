//! A lower bound on a penalised objective from any point: Fenchel's.
//!
//! F(x) = ℓ(Ax) + ½ρ‖x‖² + h(x). For every θ and w with h°(Aᵀθ + w) ≤ 1
//!
//! > min F ≥ −ℓ*(θ) − ‖w‖²/(2ρ).
//!
//! With r = ∇ℓ(Ax), the choice θ = s·r, w = s·ρx has Aᵀθ + w = s·∇f(x), so that s = min(1, 1/h°(∇f(x)))
//! will do. At the minimum s is 1 and the bound is F(x). No pass beyond the gradient's.
//!
//! What is free of the penalty must have no gradient at all, so that there the point must be the minimum of f:
//! then what is left of the gradient is rounding, and counts as none.

use super::smooth::Smooth;
use crate::linalg::norm;
use crate::objective::Evaluated;
use crate::penalty::Penalty;
use crate::space::{Covector, Point, Subspace};

/// A gradient along a column that is below this share of the column's norm times the residual's is rounding.
const VANISHES: f64 = 1e-10;

/// A number that F does not go below, where g = ∇f(x). `None` where the loss does not know its conjugate.
pub(crate) fn lower_bound<P: Point, G: Covector<P>>(
    f: &dyn Smooth<P, G>,
    penalty: &dyn Penalty<G, Point = P>,
    x: &Evaluated<P>,
    g: &G,
) -> Option<f64> {
    if penalty.free().is_some_and(|free| !is_minimum_on(f, x, &free)) {
        return Some(f.lower_bound());
    }
    let polar = penalty.polar(g);
    let s = if polar <= 1.0 { 1.0 } else { 1.0 / polar };
    let theta: Vec<f64> = f.residual(x).iter().map(|r| s * r).collect();
    let ridge = f.value(x) - f.loss().value(x.image());
    let bound = -f.loss().conjugate(&theta)? - s * s * ridge;
    // Far from the minimum the loss itself may know better.
    Some(if bound > f.lower_bound() { bound } else { f.lower_bound() })
}

/// Whether f has no slope along a few coordinates, up to rounding. Touches their columns.
fn is_minimum_on<P: Point, G: Covector<P>>(f: &dyn Smooth<P, G>, x: &Evaluated<P>, t: &P::Support) -> bool {
    let slopes = t.coordinates(&f.gradient_on(x, t));
    let (residual, ridge) = (norm(&f.residual(x)), f.ridge_weight() * x.point().norm());
    slopes.iter().enumerate().all(|(i, slope)| {
        let most = norm(f.at(t.basis(i)).image()) * residual + ridge;
        slope.abs() <= VANISHES * most
    })
}
