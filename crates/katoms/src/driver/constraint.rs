//! What the driver asks of whatever a fit is subject to: a set of k atoms, a ball, a penalty.

use super::{Quality, stationarity};
use crate::error::Error;
use crate::loss::Loss;
use crate::objective::{Evaluated, Objective};
use crate::operator::{DomainOf, LinearOperator};
use crate::set::{Exchange, Expand};

/// What x is subject to while f is minimised. Every set that counts atoms is one, by `Expand` and
/// `Exchange`; balls and penalties are too.
pub trait Constraint<A: LinearOperator, L>: Clone + Send + Sync {
    /// The space it lives in.
    fn space(&self) -> DomainOf<A>;
    /// The most atoms that a point can have.
    fn most_atoms(&self) -> usize;
    /// The same with another number of atoms: a stage of a run.
    ///
    /// # Errors
    /// When that number is out of range, or atoms are not counted.
    fn with_most_atoms(&self, k: usize) -> Result<Self, Error>;
    /// What x pays on top of f; 0 where x only has to lie in a set.
    fn penalty(&self, x: &A::Point) -> f64 {
        let _ = x;
        0.0
    }
    /// How far x is from where it would stay, where g = ∇f(x); 0 at an optimal point.
    fn stationarity(&self, f: &Objective<A, L>, x: &Evaluated<A::Point>, g: &A::Covector) -> f64;
    /// How good x is, where g = ∇f(x). May cost a pass.
    fn quality(&self, f: &Objective<A, L>, x: &Evaluated<A::Point>, g: &A::Covector) -> Quality;
}

impl<A, L, S> Constraint<A, L> for S
where
    A: LinearOperator,
    L: Loss,
    S: Expand<A::Covector, Point = A::Point> + Exchange<A::Covector>,
{
    fn space(&self) -> DomainOf<A> {
        self.domain()
    }
    fn most_atoms(&self) -> usize {
        self.atoms()
    }
    fn with_most_atoms(&self, k: usize) -> Result<Self, Error> {
        self.with_atoms(k)
    }
    fn stationarity(&self, f: &Objective<A, L>, x: &Evaluated<A::Point>, g: &A::Covector) -> f64 {
        stationarity(f, self, x, g)
    }
    fn quality(&self, f: &Objective<A, L>, x: &Evaluated<A::Point>, g: &A::Covector) -> Quality {
        Quality::of(f, self, x, g)
    }
}
