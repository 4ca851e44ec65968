//! Hard thresholding pursuit: S. Foucart, "Hard thresholding pursuit: an algorithm for compressive sensing",
//! SIAM J. Numer. Anal. 49 (2011).
//!
//! minimise f(x) subject to x being made of at most k atoms.
//!
//! | paper | code | |
//! |---|---|---|
//! | xⁿ | `walk.here()` | the iterate: the minimum on its support |
//! | μ | `mu` | the step; 1 in HTP^1, a line search in the normalised variant |
//! | Sⁿ⁺¹ | `support` | of the k largest of xⁿ − μ∇f(xⁿ) |
//!
//! The paper's two lines: (HTP1) the support of Π_k(x − μ∇f(x)); (HTP2) the minimum of f on it. When the
//! support stays, x is a fixed point. Otherwise the walk may cycle (it cannot where μ‖Φ‖² < 1): then the run
//! ends as stalled, with the best point that it saw.
//!
//! A step of 1 suits columns of norm 1. [`HardThresholdingPursuit::normalised`] needs no scale: its step is
//! the line search along the k strongest atoms outside, as the gradient vanishes on the support.
//!
//! One pass an iteration. Columns: at most 2k for the step, k for the thresholded point and 3k for the refit.

use serde::{Deserialize, Serialize};

use super::walk::Walk;
use crate::error::Error;
use crate::loss::Loss;
use crate::method::refit::{Refitted, refit};
use crate::method::step::StepMemory;
use crate::method::{Method, Move, Progress, Refit, Step};
use crate::objective::{Evaluated, Objective};
use crate::operator::LinearOperator;
use crate::set::Expand;
use crate::space::{Covector, Point};

/// Hard thresholding pursuit.
///
/// ```
/// use std::ops::ControlFlow;
/// use katoms::driver::{Options, solve};
/// use katoms::{Objective, loss::LeastSquares, method::HardThresholdingPursuit, operator::Dense, set::KSparse};
/// let design = Dense::column_major(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.6, 0.8], 3, 3)?;
/// let f = Objective::new(&design, LeastSquares::new(vec![0.0, 0.6, 0.8])?)?;
/// let set = KSparse::new(1, 3)?;
/// let method = HardThresholdingPursuit::default();
/// let outcome = solve(&f, &set, &method, Options::for_set(&set), |_, _| ControlFlow::Continue(()))?;
/// assert_eq!(outcome.point.indices(), [2]);
/// # Ok::<(), katoms::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HardThresholdingPursuit {
    /// How far the step goes. Default: 1, the paper's.
    pub step: Step,
}

impl Default for HardThresholdingPursuit {
    fn default() -> Self {
        Self { step: Step::Fixed(1.0) }
    }
}

impl HardThresholdingPursuit {
    /// The normalised variant, whatever the scale of the columns.
    pub fn normalised() -> Self {
        Self { step: Step::LineSearch }
    }
}

/// Where a pursuit stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "P: Point")]
pub struct PursuitState<P> {
    walk: Walk<P>,
    /// Whether the walk stands at the minimum over its support.
    optimised: bool,
    step: StepMemory,
}

impl<P: Point> PursuitState<P> {
    pub(super) fn walk(&self) -> &Walk<P> {
        &self.walk
    }

    pub(super) fn walk_mut(&mut self) -> &mut Walk<P> {
        &mut self.walk
    }

    /// Back to the answer.
    pub(super) fn restart(&mut self) {
        self.walk.restart();
        self.optimised = false;
    }
}

/// A step along the gradient, a projection, and what is done on the new support.
#[derive(Clone, Copy)]
pub(super) struct Pursuit {
    pub step: Step,
    pub refit: Refit,
}

impl Pursuit {
    pub(super) fn start<A, L, S>(
        self,
        f: &Objective<A, L>,
        set: &S,
        x0: A::Point,
    ) -> Result<PursuitState<A::Point>, Error>
    where
        A: LinearOperator,
        L: Loss,
        S: Expand<A::Covector, Point = A::Point>,
    {
        self.step.check()?;
        let Refitted { point, settled: optimised } = self.on_support(f, set.project(x0), None);
        Ok(PursuitState { walk: Walk::starting_at(f, point), optimised, step: self.step.prepare(f) })
    }

    pub(super) fn advance<A, L, S>(
        self,
        f: &Objective<A, L>,
        set: &S,
        state: &mut PursuitState<A::Point>,
        g: &A::Covector,
    ) -> Progress
    where
        A: LinearOperator,
        L: Loss,
        S: Expand<A::Covector, Point = A::Point>,
    {
        let x = state.walk.here();
        let g_t = f.at(g.on(&set.expand(g, &x.point().support())));
        if g_t.point().norm() == 0.0 {
            return state.walk.still(Move::Fixed);
        }
        let mu = self.step.size(f, x, &g_t, &mut state.step);
        if mu == 0.0 {
            // f is flat along its own gradient: nothing says that x is stationary.
            return Progress { change: f64::INFINITY, ..state.walk.still(Move::Stalled) };
        }
        let v = A::Point::combine(1.0, x.point(), -mu, g_t.point()); //  HTP1: Π_k(x − μ∇f(x))
        let optimum = state.optimised.then_some(x);
        let next = self.on_support(f, set.project(v), optimum); //       HTP2: the minimum on its support
        state.optimised = next.settled;
        Progress { step: mu, ..state.walk.go(f, next.point) }
    }

    /// The minimum on the support of a point; `optimum` where that has the same support.
    fn on_support<A: LinearOperator, L: Loss>(
        self,
        f: &Objective<A, L>,
        projected: A::Point,
        optimum: Option<&Evaluated<A::Point>>,
    ) -> Refitted<A::Point> {
        if self.refit != Refit::EveryIteration {
            return Refitted { point: f.at(projected), settled: false };
        }
        let support = projected.support();
        match optimum.filter(|x| x.point().support() == support) {
            Some(x) => Refitted { point: x.clone(), settled: true },
            None => refit(f, f.at(projected), &support),
        }
    }
}

impl HardThresholdingPursuit {
    fn parts(&self) -> Pursuit {
        Pursuit { step: self.step, refit: Refit::EveryIteration }
    }
}

impl<A, L, S> Method<A, L, S> for HardThresholdingPursuit
where
    A: LinearOperator,
    L: Loss,
    S: Expand<A::Covector, Point = A::Point>,
{
    type State = PursuitState<A::Point>;

    fn start(&self, f: &Objective<A, L>, set: &S, x0: A::Point) -> Result<Self::State, Error> {
        self.parts().start(f, set, x0)
    }

    fn query<'s>(&self, state: &'s Self::State) -> &'s Evaluated<A::Point> {
        state.walk.here()
    }

    fn iterate<'s>(&self, state: &'s Self::State) -> &'s Evaluated<A::Point> {
        state.walk.best()
    }

    fn advance(&self, f: &Objective<A, L>, set: &S, state: &mut Self::State, g: &A::Covector) -> Progress {
        self.parts().advance(f, set, state, g)
    }

    fn restart(&self, state: &mut Self::State) {
        state.restart();
    }
}
