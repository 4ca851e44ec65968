//! Gradient support pursuit: S. Bahmani, B. Raj and P. Boufounos, "Greedy sparsity-constrained optimization",
//! J. Mach. Learn. Res. 14 (2013).
//!
//! minimise f(x) subject to x being made of at most k coordinates or groups, for any smooth loss.
//!
//! | paper | code | |
//! |---|---|---|
//! | x̂ | `walk.here()` | the iterate |
//! | z = ∇f(x̂) | `g` | |
//! | Z = supp(z₂ₖ), T = Z ∪ supp(x̂) | `t` | at most 3k atoms |
//! | b | `b` | f minimised on T, or a step towards that |
//! | bₖ | `set.project` | |
//!
//! It is CoSaMP for a general loss; on least squares, with the defaults, it is [`Cosamp`](super::Cosamp). The paper
//! gives three ways to b: the minimum, a restricted Newton step and a restricted gradient step. Here a Newton
//! step is halved until f does not rise, and a gradient step has the length of the line search. The default is its
//! variant with debiasing; `refit: Refit::Never` is the plain one. As in CoSaMP f may rise: the answer is the best
//! point of the walk, and a walk that cycles ends as stalled.
//!
//! On separable classes f has no minimum on T; the refit's cap on Newton steps, or a ridge, keeps b finite. The paper
//! adds a ridge.
//!
//! One pass an iteration. Columns: the at most 3k of T once, and again for each Newton step.

use super::candidates::candidates;
use super::cosamp::pruned;
use super::walk::Walk;
use crate::error::Error;
use crate::loss::Loss;
use crate::method::refit::newton_steps;
use crate::method::{Method, Progress, Refit, line_search, refit_on};
use crate::objective::{Evaluated, Objective};
use crate::operator::LinearOperator;
use crate::set::Expand;
use crate::space::{Covector, IndexSet, SparseVec};

/// What is done on the merged support.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RestrictedEstimate {
    /// f is minimised.
    #[default]
    Minimum,
    /// One Newton step.
    Newton,
    /// One gradient step.
    Gradient,
}

/// Gradient support pursuit.
///
/// ```
/// use std::ops::ControlFlow;
/// use katoms::driver::{Options, solve};
/// use katoms::{Objective, loss::Logistic, method::Grasp, operator::Dense, set::KSparse};
/// let design = Dense::column_major(&[-2.0, 1.0, -1.0, 2.0, 1.0, 2.0, 2.0, 1.0], 4, 2)?;
/// let f = Objective::new(&design, Logistic::new(vec![0.0, 0.0, 1.0, 1.0])?)?.ridge(0.1)?;
/// let set = KSparse::new(1, 2)?;
/// let outcome = solve(&f, &set, &Grasp::default(), Options::for_set(&set), |_, _| ControlFlow::Continue(()))?;
/// assert_eq!(outcome.point.indices(), [0]);
/// # Ok::<(), katoms::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grasp {
    /// How b is found. Default: the minimum.
    pub estimate: RestrictedEstimate,
    /// When f is minimised over the k atoms that are kept. Default: in every iteration, the paper's debiasing.
    pub refit: Refit,
}

impl Default for Grasp {
    fn default() -> Self {
        Self { estimate: RestrictedEstimate::Minimum, refit: Refit::EveryIteration }
    }
}

impl Grasp {
    /// b on T.
    fn estimate<A, L>(
        &self,
        f: &Objective<A, L>,
        x: &Evaluated<SparseVec>,
        g: &A::Covector,
        t: &IndexSet,
    ) -> Evaluated<SparseVec>
    where
        A: LinearOperator<Point = SparseVec>,
        L: Loss,
    {
        match self.estimate {
            RestrictedEstimate::Minimum => refit_on(f, x.clone(), t),
            RestrictedEstimate::Newton => newton_steps(f, x.clone(), t, 1).point,
            RestrictedEstimate::Gradient => {
                let g_t = f.at(g.on(t));
                Evaluated::combine(1.0, x, -line_search(f, x, &g_t), &g_t)
            }
        }
    }
}

impl<A, L, S> Method<A, L, S> for Grasp
where
    A: LinearOperator<Point = SparseVec>,
    L: Loss,
    S: Expand<A::Covector, Point = SparseVec>,
{
    type State = Walk<SparseVec>;

    fn start(&self, f: &Objective<A, L>, set: &S, x0: SparseVec) -> Result<Self::State, Error> {
        Ok(Walk::starting_at(f, f.at(set.project(x0))))
    }

    fn query<'s>(&self, walk: &'s Self::State) -> &'s Evaluated<SparseVec> {
        walk.here()
    }

    fn iterate<'s>(&self, walk: &'s Self::State) -> &'s Evaluated<SparseVec> {
        walk.best()
    }

    fn advance(&self, f: &Objective<A, L>, set: &S, walk: &mut Self::State, g: &A::Covector) -> Progress {
        let t = candidates::<A, S>(set, walk.here(), g, 2 * set.atoms()); // 1 to 3: Z, T
        let b = self.estimate(f, walk.here(), g, &t); //                     4: b on T
        let next = pruned(f, set, b, self.refit); //                         5: x̂ ← bₖ
        walk.go(f, next)
    }

    fn finish(&self, f: &Objective<A, L>, walk: &mut Self::State) {
        if self.refit == Refit::AtEnd {
            walk.refit(f);
        }
    }

    fn restart(&self, walk: &mut Self::State) {
        walk.restart();
    }
}
