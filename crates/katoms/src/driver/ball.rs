//! Balls as constraints: how good a point is, by its Frank–Wolfe gap.
//!
//! f is convex, so f(x) − ⟨∇f(x), x − s⟩ with the vertex s that minimises ⟨∇f(x), ·⟩ is a number that f does
//! not go below on the set (Jaggi, "Revisiting Frank-Wolfe", 2013). No pass beyond the gradient's.

use super::constraint::certified;
use super::{Constraint, Quality};
use crate::error::Error;
use crate::loss::Loss;
use crate::objective::{Evaluated, Objective};
use crate::operator::{DomainOf, LinearOperator};
use crate::set::{GroupBall, L1Ball, LinearMinimize, NuclearBall};
use crate::space::{LowRank, MatrixCovector, Point, SparseVec};

/// ⟨∇f(x), x − s⟩ with the vertex s that minimises ⟨∇f(x), ·⟩ over the set, where g = ∇f(x). Touches only
/// the columns of s.
pub fn frank_wolfe_gap<A, L, S>(f: &Objective<A, L>, set: &S, x: &Evaluated<A::Point>, g: &A::Covector) -> f64
where
    A: LinearOperator,
    L: Loss,
    S: LinearMinimize<A::Covector, Point = A::Point>,
{
    let s = f.at(set.argmin(g));
    -f.slope(x, &Evaluated::combine(-1.0, x, 1.0, &s))
}

/// A gap as a share of what there was to gain at zero.
fn relative<A: LinearOperator, L: Loss>(f: &Objective<A, L>, x: &Evaluated<A::Point>, gap: f64) -> f64 {
    let most = f.value(&f.at(A::Point::zero(x.point().domain()))) - f.lower_bound();
    if gap <= 0.0 { 0.0 } else { gap / most.max(f64::MIN_POSITIVE) }
}

fn quality<A: LinearOperator, L: Loss>(f: &Objective<A, L>, x: &Evaluated<A::Point>, gap: f64) -> Quality {
    let here = f.value(x);
    let certificate = Some(certified(here, (here - gap.max(0.0)).max(f.lower_bound())));
    Quality { certificate, ..Quality::stationary(relative(f, x, gap)) }
}

macro_rules! is_a_ball {
    ($set:ty, $point:ty, $covector:ty, $name:literal, $most:expr) => {
        impl<A, L> Constraint<A, L> for $set
        where
            A: LinearOperator<Point = $point, Covector = $covector>,
            L: Loss,
        {
            fn space(&self) -> DomainOf<A> {
                LinearMinimize::domain(self)
            }
            fn most_atoms(&self) -> usize {
                $most(self)
            }
            fn with_most_atoms(&self, atoms: usize) -> Result<Self, Error> {
                Err(Error::Uncounted { what: $name, atoms })
            }
            /// The Frank–Wolfe gap as a share of f(0).
            fn stationarity(&self, f: &Objective<A, L>, x: &Evaluated<$point>, g: &$covector) -> f64 {
                relative(f, x, frank_wolfe_gap(f, self, x, g))
            }
            /// With a certificate. No pass.
            fn quality(&self, f: &Objective<A, L>, x: &Evaluated<$point>, g: &$covector) -> Quality {
                quality(f, x, frank_wolfe_gap(f, self, x, g))
            }
        }
    };
}

is_a_ball!(L1Ball, SparseVec, Vec<f64>, "an l1 ball", |ball: &L1Ball| ball.dim());
is_a_ball!(GroupBall, SparseVec, Vec<f64>, "a group ball", |ball: &GroupBall| ball.members().len());
is_a_ball!(NuclearBall, LowRank, MatrixCovector, "a nuclear ball", |ball: &NuclearBall| {
    ball.shape().0.min(ball.shape().1)
});
