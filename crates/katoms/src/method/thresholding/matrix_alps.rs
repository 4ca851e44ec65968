//! Matrix ALPS: A. Kyrillidis and V. Cevher, "Matrix recipes for hard thresholding methods", J. Math. Imaging Vis.
//! 48 (2014).
//!
//! minimise f(X) subject to rank X ≤ k.
//!
//! | paper | code | |
//! |---|---|---|
//! | X(i), Q(i) | `walk.here()`, `u` | the iterate, and with memory |
//! | D_i, S_i | `t` | k leading directions of the gradient outside, joined to those of X or Q |
//! | μ_i, V(i) | `mu`, `v` | the best step along ∇f on S |
//! | W(i) = P_k(V(i)) | `w` | |
//! | ξ_i | `xi` | Matrix ALPS I: the best step along ∇f(W) on W's column space |
//! | τ_i | `tau` | Matrix ALPS II: the best extrapolation |
//!
//! Matrix ALPS I has no memory and takes a second gradient at W, which it follows within the column space: the
//! paper's cheap debiasing. Matrix ALPS II has memory and takes one gradient, at Q.
//!
//! S is here the tangent space at X and D ([`RankSearch::LeadingPairs`]), which holds the paper's span; whatever the
//! set's own search is, this one is used. So Matrix ALPS II is [`AcceleratedIht`](crate::method::AcceleratedIht)
//! with line search and closed-form momentum, without safeguard, on that search. Neither version is monotone. The
//! answer is the best point of the walk.
//!
//! One pass an iteration for II, two for I.

use serde::{Deserialize, Serialize};

use super::walk::Walk;
use crate::error::Error;
use crate::linalg::Multiply;
use crate::method::momentum::minimizer_along;
use crate::method::smooth::{Algorithm, OnMatrices};
use crate::method::{Move, Progress, line_search};
use crate::objective::Evaluated;
use crate::set::{ConstraintSet, Expand, Rank, RankSearch};
use crate::space::{Covector, LowRank, MatrixCovector, Point};

/// Which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AlpsVersion {
    /// A second gradient step on the column space of W, no memory.
    One,
    /// Memory: the last two iterates are extrapolated.
    #[default]
    Two,
}

/// Matrix ALPS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MatrixAlps {
    /// Default: II.
    pub version: AlpsVersion,
}

/// Where Matrix ALPS stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AlpsState {
    walk: Walk<LowRank>,
    u: Evaluated<LowRank>,
}

impl MatrixAlps {
    /// Lines 6 and 7 of Matrix ALPS I: the best step from W along ∇f(W) on W's column space. A pass.
    fn debiased(f: &OnMatrices<'_>, set: &Rank, w: Evaluated<LowRank>) -> Result<Evaluated<LowRank>, Error> {
        let g = f.gradient(&w);
        let u = w.point().left();
        let g_w = f.at(LowRank::from_factors(u, &g.transposed_times(u))?); // U·Uᵀ∇f(W)
        let xi = line_search(f, &w, &g_w);
        let x_next = LowRank::combine(1.0, w.point(), -xi, g_w.point());
        Ok(f.at(set.project(x_next))) // of rank k already: this drops the idle directions
    }
}

impl Algorithm<LowRank, MatrixCovector> for MatrixAlps {
    type State = AlpsState;
    type Subject = Rank;

    fn start(&self, f: &OnMatrices<'_>, set: &Rank, x0: LowRank) -> Result<Self::State, Error> {
        let x = f.at(set.project(x0));
        Ok(AlpsState { u: x.clone(), walk: Walk::starting_at(f, x) })
    }

    fn query<'s>(&self, state: &'s Self::State) -> &'s Evaluated<LowRank> {
        &state.u
    }

    fn iterate<'s>(&self, state: &'s Self::State) -> &'s Evaluated<LowRank> {
        state.walk.best()
    }

    fn advance(&self, f: &OnMatrices<'_>, set: &Rank, state: &mut Self::State, g: &MatrixCovector) -> Progress {
        let search = set.clone().searching(RankSearch::LeadingPairs);
        let t = search.expand(g, &state.u.point().support()); //             1, 2: S ← D ∪ X
        let g_t = f.at(g.on(&t));
        if g_t.point().norm() == 0.0 {
            // Stationary is Q; of X that says nothing.
            if state.u != *state.walk.here() {
                state.u = state.walk.here().clone();
                return state.walk.still(Move::Restarted);
            }
            return state.walk.still(Move::Fixed);
        }
        let mu = line_search(f, &state.u, &g_t); //                          3: μ
        let v = LowRank::combine(1.0, state.u.point(), -mu, g_t.point()); // 4: V
        let w = f.at(set.project(v)); //                                     5: W ← P_k(V)
        let (x_next, tau) = match self.version {
            AlpsVersion::One => (Self::debiased(f, set, w.clone()).unwrap_or(w), 0.0),
            AlpsVersion::Two => {
                let moved = Evaluated::combine(1.0, &w, -1.0, state.walk.here());
                let tau = minimizer_along(f, &w, &moved);
                (w, tau)
            }
        };
        let moved = Evaluated::combine(1.0, &x_next, -1.0, state.walk.here());
        state.u = Evaluated::combine(1.0, &x_next, tau, &moved); //          II: Q ← X⁺ + τ(X⁺ − X)
        Progress { step: mu, momentum: tau, ..state.walk.go(f, x_next) }
    }

    fn restart(&self, state: &mut Self::State) {
        state.walk.restart();
        state.u = state.walk.here().clone();
    }
}
