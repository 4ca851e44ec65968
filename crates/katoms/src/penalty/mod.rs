//! Penalties: one per file. What a point pays on top of f, convex, in place of a bound on its atoms.
//!
//! A penalty knows points and covectors, never operators, losses or data. The squared norm is no
//! penalty: it is smooth, and the objective's [ridge](crate::Objective::ridge). The elastic net is
//! [`L1`] with a ridge.

mod group;
mod l1;
mod nuclear;

use std::fmt::Debug;

use crate::space::Point;

pub use group::GroupLasso;
pub(crate) use group::shrink;
pub use l1::L1;
pub use nuclear::Nuclear;

/// h(x) ≥ 0: a norm of x times a weight.
pub trait Penalty<G>: Debug + Send + Sync + 'static {
    /// What pays.
    type Point: Point;
    /// The space it lives in.
    fn domain(&self) -> <Self::Point as Point>::Domain;
    /// The number of its atoms, of which a point may have all.
    fn atoms(&self) -> usize;
    /// h(x). O(stored entries).
    fn value(&self, x: &Self::Point) -> f64;
    /// argmin over y of h(y) + ‖y − (x − μ·g)‖²/(2μ): a step along the gradient g, then the proximal map.
    fn step(&self, x: &Self::Point, g: &G, mu: f64) -> Self::Point;
    /// h°(g) = sup ⟨g, x⟩/h(x). Zero minimises h + ⟨g, ·⟩ where this is at most 1.
    fn polar(&self, g: &G) -> f64;
    /// What pays nothing, as an intercept does. There a gradient must vanish before h° says anything, so methods
    /// minimise over it in every move.
    fn free(&self) -> Option<<Self::Point as Point>::Support> {
        None
    }
}
