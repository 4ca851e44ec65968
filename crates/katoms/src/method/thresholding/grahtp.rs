//! Gradient hard thresholding pursuit: X.-T. Yuan, P. Li and T. Zhang, "Gradient hard thresholding pursuit",
//! ICML 2014 and J. Mach. Learn. Res. 18 (2018).
//!
//! minimise f(x) subject to x being made of at most k atoms, for any smooth convex loss.
//!
//! | paper | code | |
//! |---|---|---|
//! | w⁽ᵗ⁾ | `walk.here()` | the iterate |
//! | η | `step` | the step size |
//! | w̃⁽ᵗ⁾ = w⁽ᵗ⁻¹⁾ − η∇f(w⁽ᵗ⁻¹⁾) | | (S1) a gradient step |
//! | F⁽ᵗ⁾ | `support` | (S2) of its k largest entries |
//! | argmin f on F⁽ᵗ⁾ | `refit` | (S3) debiasing: by Newton's method here |
//!
//! GraHTP debiases in every iteration. FGraHTP ([`GraHtp::fast`]) leaves (S3) out and goes on from the k largest
//! entries of w̃. The theory wants a step below 1/β along 2k atoms. That is rarely known, so the default looks for
//! one: it halves a step until the quadratic model of that step lies above f, and tries twice the last one
//! first. On least squares, with the same step, GraHTP is [`HardThresholdingPursuit`](super::HardThresholdingPursuit).
//! A walk that cycles ends as stalled, with the best point that it saw.
//!
//! One pass an iteration. Columns: at most 2k for the step and k for the thresholded point. Newton's method reads
//! the k columns of the support once, and k more for each of its steps.

use super::pursuit::{Pursuit, PursuitState};
use crate::error::Error;
use crate::loss::Loss;
use crate::method::{Method, Progress, Refit, Step};
use crate::objective::{Evaluated, Objective};
use crate::operator::LinearOperator;
use crate::set::Expand;

/// Gradient hard thresholding pursuit.
///
/// ```
/// use std::ops::ControlFlow;
/// use katoms::driver::{Options, solve};
/// use katoms::{Objective, loss::Logistic, method::GraHtp, operator::Dense, set::KSparse};
/// let design = Dense::column_major(&[-2.0, 1.0, -1.0, 2.0, 0.3, -0.2, 0.1, 0.2], 4, 2)?;
/// let f = Objective::new(&design, Logistic::new(vec![0.0, 0.0, 1.0, 1.0])?)?;
/// let set = KSparse::new(1, 2)?;
/// let outcome = solve(&f, &set, &GraHtp::default(), Options::for_set(&set), |_, _| ControlFlow::Continue(()))?;
/// assert_eq!(outcome.point.indices(), [0]);
/// # Ok::<(), katoms::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GraHtp {
    /// η. Default: by backtracking.
    pub step: Step,
    /// When f is minimised over the support. Default: in every iteration.
    pub refit: Refit,
}

impl Default for GraHtp {
    fn default() -> Self {
        Self { step: Step::Backtracking, refit: Refit::EveryIteration }
    }
}

impl GraHtp {
    /// FGraHTP: no debiasing on the way, and so nothing but gradient steps.
    pub fn fast() -> Self {
        Self { refit: Refit::Never, ..Self::default() }
    }

    fn parts(&self) -> Pursuit {
        Pursuit { step: self.step, refit: self.refit }
    }
}

impl<A, L, S> Method<A, L, S> for GraHtp
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
        state.walk().here()
    }

    fn iterate<'s>(&self, state: &'s Self::State) -> &'s Evaluated<A::Point> {
        state.walk().best()
    }

    fn advance(&self, f: &Objective<A, L>, set: &S, state: &mut Self::State, g: &A::Covector) -> Progress {
        self.parts().advance(f, set, state, g) // S1 to S3
    }

    fn finish(&self, f: &Objective<A, L>, state: &mut Self::State) {
        if self.refit == Refit::AtEnd {
            state.walk_mut().refit(f);
        }
    }

    fn restart(&self, state: &mut Self::State) {
        state.restart();
    }
}
