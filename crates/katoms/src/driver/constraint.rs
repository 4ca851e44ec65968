//! What the driver asks of whatever a fit is subject to: a set of k atoms, a ball, a penalty.

use std::fmt::Debug;

use super::{Certificate, Quality, stationarity};
use crate::error::Error;
use crate::loss::Loss;
use crate::method::duality;
use crate::objective::{Evaluated, Objective};
use crate::operator::{DomainOf, LinearOperator, SupportOf};
use crate::penalty::{GroupLasso, L1, Nuclear, Penalty};
use crate::set::{Exchange, Expand};
use crate::space::{Covector, LowRank, MatrixCovector, Point, SparseVec};

/// What x is subject to while f is minimised. Every set that counts atoms is one, by `Expand` and
/// `Exchange`; balls and penalties are too.
pub trait Constraint<A: LinearOperator, L>: Clone + Debug + Send + Sync {
    /// The space it lives in.
    fn space(&self) -> DomainOf<A>;
    /// The most atoms that a point can have.
    fn most_atoms(&self) -> usize;
    /// The same with another number of atoms: a stage of a run.
    ///
    /// # Errors
    /// When that number is out of range, or atoms are not counted.
    fn with_most_atoms(&self, k: usize) -> Result<Self, Error>;
    /// The atoms that are strongest in g outside of a support, `times` as many as the set has, and the support; `None`
    /// where atoms are not counted or there are not so many.
    fn candidates(&self, g: &A::Covector, u: &SupportOf<A>, times: usize) -> Option<SupportOf<A>> {
        let _ = (g, u, times);
        None
    }
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
    fn candidates(&self, g: &A::Covector, u: &SupportOf<A>, times: usize) -> Option<SupportOf<A>> {
        let more = self.with_atoms(self.atoms().checked_mul(times)?).ok()?;
        Some(g.on(&more.expand(g, u)).support())
    }
    fn stationarity(&self, f: &Objective<A, L>, x: &Evaluated<A::Point>, g: &A::Covector) -> f64 {
        stationarity(f, self, x, g)
    }
    fn quality(&self, f: &Objective<A, L>, x: &Evaluated<A::Point>, g: &A::Covector) -> Quality {
        Quality::of(f, self, x, g)
    }
}

/// A certificate for a point at which the objective is `objective` and cannot go below `lower_bound`.
pub(super) fn certified(objective: f64, lower_bound: f64) -> Certificate {
    let above = objective - lower_bound;
    let gap = if above > 0.0 { above / objective.abs().max(f64::MIN_POSITIVE) } else { 0.0 };
    Certificate { lower_bound, gap, passes: 0 }
}

/// The duality gap of a penalised objective, as a share of the objective at zero. NaN without a proof.
fn penalised_stationarity<A, L, P>(f: &Objective<A, L>, penalty: &P, x: &Evaluated<A::Point>, g: &A::Covector) -> f64
where
    A: LinearOperator,
    L: Loss,
    P: Penalty<A::Covector, Point = A::Point>,
{
    let here = f.value(x) + penalty.value(x.point());
    let zero = f.value(&f.at(A::Point::zero(penalty.domain()))) - f.lower_bound();
    match duality::lower_bound(f, penalty, x, g) {
        Some(bound) if here > bound => (here - bound) / zero.max(f64::MIN_POSITIVE),
        Some(_) => 0.0,
        None => f64::NAN,
    }
}

/// The lines that penalties share: their quality is a duality gap.
macro_rules! pays {
    ($penalty:ty, $point:ty, $covector:ty) => {
        impl<A, L> Constraint<A, L> for $penalty
        where
            A: LinearOperator<Point = $point, Covector = $covector>,
            L: Loss,
        {
            fn space(&self) -> DomainOf<A> {
                self.domain()
            }
            fn most_atoms(&self) -> usize {
                self.atoms()
            }
            fn with_most_atoms(&self, atoms: usize) -> Result<Self, Error> {
                Err(Error::Uncounted { what: "a penalty", atoms })
            }
            fn penalty(&self, x: &$point) -> f64 {
                self.value(x)
            }
            fn stationarity(&self, f: &Objective<A, L>, x: &Evaluated<$point>, g: &$covector) -> f64 {
                penalised_stationarity(f, self, x, g)
            }
            fn quality(&self, f: &Objective<A, L>, x: &Evaluated<$point>, g: &$covector) -> Quality {
                let here = f.value(x) + self.value(x.point());
                let certificate = duality::lower_bound(f, self, x, g).map(|bound| certified(here, bound));
                Quality { certificate, ..Quality::stationary(penalised_stationarity(f, self, x, g)) }
            }
        }
    };
}

pays!(L1, SparseVec, Vec<f64>);
pays!(GroupLasso, SparseVec, Vec<f64>);
pays!(Nuclear, LowRank, MatrixCovector);
