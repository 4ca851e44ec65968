//! Hard thresholding pursuit: S. Foucart, "Hard thresholding pursuit: an algorithm for compressive sensing",
//! SIAM J. Numer. Anal. 49 (2011), and for any smooth convex loss X.-T. Yuan, P. Li and T. Zhang, "Gradient hard thresholding
//! pursuit", ICML 2014 and J. Mach. Learn. Res. 18 (2018).
//!
//! minimise f(x) subject to x being made of at most k atoms.
//!
//! | HTP | GraHTP | code | |
//! |---|---|---|---|
//! | xⁿ | w⁽ᵗ⁾ | `walk.here()` | the iterate: the minimum on its support |
//! | μ | η | `mu` | the step; 1 in HTP^1, a line search in the normalised variant |
//! | Sⁿ⁺¹ | F⁽ᵗ⁾ | `support` | of the k largest of xⁿ − μ∇f(xⁿ) |
//! | HTP2 | S3 | `refit` | debiasing: the minimum of f there, by Newton's method |
//!
//! When the support stays, x is a fixed point. Otherwise the walk may cycle (it cannot where μ‖Φ‖² < 1): then the run
//! ends as stalled, with the best point that it saw.
//!
//! A step of 1 suits columns of norm 1. [`HardThresholdingPursuit::normalised`] needs no scale: its step is
//! the line search along the k strongest atoms outside, as the gradient vanishes on the support. The theory of GraHTP wants
//! a step below 1/β along 2k atoms. That is rarely known, so [`HardThresholdingPursuit::gradient`] looks for one: it halves a
//! step until the quadratic model of that step lies above f, and tries twice the last one first. FGraHTP
//! ([`HardThresholdingPursuit::fast`]) leaves the refit out and goes on from the k largest entries.
//!
//! One pass an iteration. Columns: at most 2k for the step, k for the thresholded point and 3k for the refit.

use serde::{Deserialize, Serialize};

use super::walk::Walk;
use crate::error::Error;
use crate::method::refit::{Refitted, refit};
use crate::method::smooth::{Algorithm, AtomSet, Smooth};
use crate::method::step::StepMemory;
use crate::method::{Move, Progress, Refit, Step};
use crate::objective::Evaluated;
use crate::space::{Covector, Point};

/// Hard thresholding pursuit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HardThresholdingPursuit {
    /// How far the step goes. Default: 1, the paper's.
    pub step: Step,
    /// When f is minimised over the support. Default: in every iteration.
    pub refit: Refit,
}

impl Default for HardThresholdingPursuit {
    fn default() -> Self {
        Self { step: Step::Fixed(1.0), refit: Refit::EveryIteration }
    }
}

impl HardThresholdingPursuit {
    /// The normalised variant, whatever the scale of the columns.
    pub fn normalised() -> Self {
        Self { step: Step::LineSearch, ..Self::default() }
    }

    /// GraHTP: any loss, a step by backtracking.
    pub fn gradient() -> Self {
        Self { step: Step::Backtracking, ..Self::default() }
    }

    /// FGraHTP: no debiasing on the way, and so nothing but gradient steps.
    pub fn fast() -> Self {
        Self { refit: Refit::Never, ..Self::gradient() }
    }

    /// The minimum on the support of a point; `optimum` where that has the same support.
    fn on_support<P: Point, G: Covector<P>>(
        &self,
        f: &dyn Smooth<P, G>,
        projected: P,
        optimum: Option<&Evaluated<P>>,
    ) -> Refitted<P> {
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

/// Where a pursuit stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "P: Point")]
pub struct PursuitState<P> {
    walk: Walk<P>,
    /// Whether the walk stands at the minimum over its support.
    optimised: bool,
    step: StepMemory,
}

impl<P: Point, G: Covector<P>> Algorithm<P, G> for HardThresholdingPursuit {
    type State = PursuitState<P>;
    type Subject = dyn AtomSet<P, G>;

    fn start(&self, f: &dyn Smooth<P, G>, set: &Self::Subject, x0: P) -> Result<Self::State, Error> {
        self.step.check(f.loss())?;
        let Refitted { point, settled: optimised } = self.on_support(f, set.project(x0), None);
        Ok(PursuitState { walk: Walk::starting_at(f, point), optimised, step: self.step.prepare(f) })
    }

    fn query<'s>(&self, state: &'s Self::State) -> &'s Evaluated<P> {
        state.walk.here()
    }

    fn iterate<'s>(&self, state: &'s Self::State) -> &'s Evaluated<P> {
        state.walk.best()
    }

    fn advance(&self, f: &dyn Smooth<P, G>, set: &Self::Subject, state: &mut Self::State, g: &G) -> Progress {
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
        let v = P::combine(1.0, x.point(), -mu, g_t.point()); //          HTP1, S1 and S2: Π_k(x − μ∇f(x))
        let optimum = state.optimised.then_some(x);
        let next = self.on_support(f, set.project(v), optimum); //        HTP2, S3: the minimum on its support
        state.optimised = next.settled;
        Progress { step: mu, ..state.walk.go(f, next.point) }
    }

    fn finish(&self, f: &dyn Smooth<P, G>, state: &mut Self::State) {
        if self.refit == Refit::AtEnd {
            state.walk.refit(f);
        }
    }

    fn restart(&self, state: &mut Self::State) {
        state.walk.restart();
        state.optimised = false;
    }
}
