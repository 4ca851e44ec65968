//! Riemannian conjugate gradients (LRGeomCG): Algorithm 1 of Vandereycken, "Low-rank matrix completion
//! by Riemannian optimization" (SIAM Journal on Optimization, 2013).
//!
//! minimise f(X) subject to rank X ≤ k, moving on the manifold ℳ of the matrices of rank k.
//!
//! | paper | code | |
//! |---|---|---|
//! | X_i, X_{i+1} | `x`, `x_next` | iterates U·Σ·Vᵀ of rank k |
//! | T_X ℳ | `t` | the tangent space {U·Aᵀ + B·Vᵀ} at X |
//! | ξ_i = P_T(∇f(X_i)) | `xi` | the Riemannian gradient, of rank 2k |
//! | 𝒯(ξ_{i−1}), 𝒯(η_{i−1}) | | transport: what came before, projected onto the tangent space |
//! | η_i, β_i | `eta`, `beta` | the search direction, of rank 2k, and Polak–Ribière's weight |
//! | t_i | `step` | the first step tried |
//! | R_X | `set.project` | the retraction: the nearest matrix of rank k |
//!
//! A tangent vector M is known by M·V and Mᵀ·U. In these the transport and η = −ξ + β·𝒯(η) are sums of
//! thin matrices, so that nothing grows beyond rank 2k.
//!
//! Where we differ. The paper is about completion by least squares; here t_i is −⟨∇f, η⟩/⟨η, ∇²f·η⟩,
//! which is the paper's formula for least squares, on entries or on any linear map, and a Newton step
//! along the line for other losses. The paper asks for a start of rank k; here a point of lower rank,
//! such as zero, is first filled up with the leading singular pairs of the gradient outside of it, so
//! that zero leads to a spectral step, and the rank can grow in [stages](crate::driver::Stages).
//! A direction along which no step descends is replaced by −ξ once, as in the author's program.

use serde::{Deserialize, Serialize};

use super::smooth::{Algorithm, AtomSet, OnMatrices};
use super::{Move, Progress, relative_change};
use crate::error::{Error, check_option};
use crate::linalg::Multiply;
use crate::objective::Evaluated;
use crate::space::{Covector, LowRank, MatrixCovector, Point, TangentSpace};

/// Halvings of a step before a direction is given up.
const HALVINGS: usize = 30;

/// LRGeomCG with its constants. One pass an iteration; O((p+q)k² + k³) and two products with points of
/// rank at most 2k besides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RiemannianCg {
    /// The least cosine between η and −ξ; below it the direction is −ξ again. Default 0.1. With 1 the
    /// method is steepest descent.
    pub least_cosine: f64,
    /// Armijo's share of the promised decrease that a step must bring. Default 1e-4.
    pub decrease: f64,
}

impl Default for RiemannianCg {
    fn default() -> Self {
        Self { least_cosine: 0.1, decrease: 1e-4 }
    }
}

/// Where the method stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RiemannianCgState {
    x: Evaluated<LowRank>,
    objective: f64,
    last: Option<LastMove>,
}

/// What the next direction is conjugate to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct LastMove {
    xi: LowRank,
    eta: LowRank,
}

impl RiemannianCgState {
    /// ξ and η of the last move, at the point before it. `None` before the first and after a restart.
    pub fn last_move(&self) -> Option<(&LowRank, &LowRank)> {
        self.last.as_ref().map(|last| (&last.xi, &last.eta))
    }
}

/// ξ and what projects onto its tangent space.
struct Tangent<'a> {
    t: &'a TangentSpace,
    g: &'a MatrixCovector,
    xi: LowRank,
}

impl Tangent<'_> {
    /// −ξ.
    fn steepest(&self) -> LowRank {
        LowRank::combine(-1.0, &self.xi, 0.0, &self.xi)
    }

    /// −ξ + β·𝒯(η).
    fn conjugate(&self, beta: f64, eta: &LowRank) -> LowRank {
        let (u, v) = (self.t.left(), self.t.right());
        let along_v = eta.times(&v).scaled(beta).plus(-1.0, &self.g.times(&v));
        let along_u = eta.transposed_times(&u).scaled(beta).plus(-1.0, &self.g.transposed_times(&u));
        self.t.project(&along_v, &along_u)
    }
}

impl RiemannianCg {
    /// Algorithm 4: the conjugate direction by Polak–Ribière, where it is one of descent.
    fn direction(&self, tangent: &Tangent<'_>, last: Option<&LastMove>) -> LowRank {
        let Some(last) = last else { return tangent.steepest() };
        let (xi, square) = (&tangent.xi, tangent.xi.norm().powi(2));
        // 1–3: ⟨ξ, 𝒯(ξ_{i−1})⟩ = ⟨ξ, ξ_{i−1}⟩: ξ is in the tangent space already
        let beta = ((square - xi.dot(&last.xi)) / last.xi.norm().powi(2)).max(0.0);
        if !(beta > 0.0) || !beta.is_finite() {
            return tangent.steepest();
        }
        let eta = tangent.conjugate(beta, &last.eta);
        // 4–5: back to the gradient when the angle is too large
        let cosine = -eta.dot(xi) / (eta.norm() * xi.norm());
        if cosine >= self.least_cosine { eta } else { tangent.steepest() }
    }

    /// Lines 4 and 5: the first of the steps t, t/2, … along η that Armijo accepts.
    fn descend(
        &self,
        f: &OnMatrices<'_>,
        set: &dyn AtomSet<LowRank, MatrixCovector>,
        state: &RiemannianCgState,
        eta: &LowRank,
    ) -> Result<(Evaluated<LowRank>, f64), Stuck> {
        let along = f.at(eta.clone());
        let (slope, curvature) = (f.slope(&state.x, &along), f.curvature_along(&state.x, &along));
        if !(slope < 0.0) || !(curvature > 0.0) {
            // Flat, or no descent: nothing says that x is stationary.
            return Err(Stuck { kind: Move::Stalled, change: f64::INFINITY });
        }
        let mut step = -slope / curvature; //                                                      4: t_i
        let mut longest = None;
        for _ in 0..HALVINGS {
            let moved = LowRank::combine(1.0, state.x.point(), step, eta);
            let x_next = f.at(set.project(moved)); //                                         5: R_X(t·η)
            if f.value(&x_next) <= state.objective + self.decrease * step * slope && x_next != state.x {
                return Ok((x_next, step));
            }
            if x_next == state.x && longest.is_none() {
                return Err(Stuck { kind: Move::Fixed, change: 0.0 });
            }
            longest.get_or_insert_with(|| relative_change(x_next.point(), state.x.point()));
            step *= 0.5;
        }
        Err(Stuck { kind: Move::Stalled, change: longest.unwrap_or(0.0) })
    }
}

/// Why no step descends, and how far the longest one would have moved.
struct Stuck {
    kind: Move,
    change: f64,
}

impl Algorithm<LowRank, MatrixCovector> for RiemannianCg {
    type State = RiemannianCgState;
    type Subject = dyn AtomSet<LowRank, MatrixCovector>;

    fn start(&self, f: &OnMatrices<'_>, set: &Self::Subject, x0: LowRank) -> Result<Self::State, Error> {
        let cosine = |v: f64| v > 0.0 && v <= 1.0;
        check_option("least_cosine", self.least_cosine, "it must be above 0 and at most 1", cosine)?;
        check_option("decrease", self.decrease, "it must be above 0 and below 0.5", |v| v > 0.0 && v < 0.5)?;
        let x = f.at(set.project(x0));
        let objective = f.value(&x);
        Ok(RiemannianCgState { x, objective, last: None })
    }

    fn query<'s>(&self, state: &'s Self::State) -> &'s Evaluated<LowRank> {
        &state.x
    }

    fn advance(
        &self,
        f: &OnMatrices<'_>,
        set: &Self::Subject,
        state: &mut Self::State,
        g: &MatrixCovector,
    ) -> Progress {
        let t = set.expand(g, &state.x.point().support()); //                       T_X ℳ, filled up to rank k
        let tangent = Tangent { t: &t, g, xi: g.on(&t) }; //                        1: ξ_i
        if tangent.xi.norm() == 0.0 {
            return Progress::still(state.objective, Move::Fixed); //                2
        }
        let last = state.last.take();
        let mut eta = self.direction(&tangent, last.as_ref()); //                   3: η_i
        let mut found = self.descend(f, set, state, &eta); //                       4, 5
        if found.is_err() && last.is_some() {
            eta = tangent.steepest();
            found = self.descend(f, set, state, &eta);
        }
        let (x_next, step) = match found {
            Ok(found) => found,
            Err(Stuck { kind, change }) => return Progress { change, ..Progress::still(state.objective, kind) },
        };
        let objective = f.value(&x_next);
        let progress = Progress { step, ..Progress::moved(objective, x_next.point(), state.x.point()) };
        let last = Some(LastMove { xi: tangent.xi, eta });
        *state = RiemannianCgState { x: x_next, objective, last };
        progress
    }

    fn restart(&self, state: &mut Self::State) {
        state.last = None;
    }
}
