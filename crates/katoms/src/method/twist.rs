//! Two-step iterative shrinkage/thresholding, TwIST, and its monotone variant.
//!
//! minimise F(x) = f(x) + h(x), f convex and smooth, h a penalty with a proximal map.
//!
//! Bioucas-Dias and Figueiredo, "A new TwIST: two-step iterative shrinkage/thresholding algorithms for image
//! restoration" (2007), and the authors' program, TwIST_v2.
//!
//! | paper | code | |
//! |---|---|---|
//! | x_{t−1}, x_t, x_{t+1} | `before`, `x`, `x_next` | iterates |
//! | Γ_λ(x_t) | `shrunk` | the step of plain IST |
//! | α, β | `alpha`, `beta` | weights of the two steps |
//! | ξ₁ (κ = ξ₁/ξ_m) | `lambda_1` | the least eigenvalue to reckon with, where the largest is ξ_m = 1 |
//! | ρ̂ | `rho` | (1 − √κ)/(1 + √κ), the rate |
//! | 1/max_svd | `mu` | step: A is scaled by √μ so that its norm is at most 1 |
//!
//! Where this differs from the paper:
//!
//! * The paper asks for ‖A‖ ≤ 1. The authors' program doubles a guess of the norm when F rises. Here μ
//!   starts optimistic, and a move that shows a curvature above 1/μ is refused and cuts μ. When μ is too long,
//!   the two-step iteration turns towards the largest eigenvector, so this finds the norm.
//! * As in the authors' program, what is zero in Γ(x_t) is set to zero in the past of the two-step: the
//!   iterates stay sparse.
//! * The loss need not be least squares: f enters by its gradient. The rate is proven for a quadratic without
//!   penalty and observed elsewhere; the fall-back on IST makes the monotone variant converge.
//!
//! An iteration costs one pass, and an image of each point that is tried: one where the two-step is taken,
//! another where it is not.

use serde::{Deserialize, Serialize};

use super::proximal::{at, curvature_along, descend, first_length, gap_above, shortened, stalled, value};
use super::smooth::{Algorithm, Smooth};
use super::{Move, Progress, ProximalStep, Safeguard, duality};
use crate::error::{Error, check_option};
use crate::objective::Evaluated;
use crate::penalty::Penalty;
use crate::space::{Covector, Point};

/// A rise of F by less than this share is rounding.
const ROUNDING: f64 = 1e-14;

/// TwIST with its parts, for any penalty and loss.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Twist {
    /// ξ₁, the least eigenvalue of AᵀA as a share of the largest. The authors: 1e-4 for severely
    /// ill-conditioned problems, 1e-2 for mildly ill-conditioned ones, 1 for unitary operators. Default 1e-4.
    pub lambda_1: f64,
    /// How far a step goes. Default: backtracking.
    pub step: ProximalStep,
    /// Whether F must not rise: then a two-step that raises it is replaced by a step of IST. Default: it must not.
    pub safeguard: Safeguard,
}

impl Default for Twist {
    fn default() -> Self {
        Self { lambda_1: 1e-4, step: ProximalStep::Backtracking, safeguard: Safeguard::Descent }
    }
}

impl Twist {
    /// α = ρ̂² + 1 and β = 2α/(ξ₁ + ξ_m) with ξ_m = 1.
    fn weights(&self) -> (f64, f64) {
        let root = self.lambda_1.sqrt();
        let rho = (1.0 - root) / (1.0 + root);
        let alpha = rho * rho + 1.0;
        (alpha, 2.0 * alpha / (self.lambda_1 + 1.0))
    }

    /// The two-step, if there is a past and it passes; it may cut μ.
    fn two_step<P: Point, G: Covector<P>>(
        &self,
        f: &dyn Smooth<P, G>,
        penalty: &dyn Penalty<G, Point = P>,
        state: &TwistState<P>,
        g: &G,
        mu: &mut f64,
    ) -> Option<(Evaluated<P>, f64)> {
        let (before, (alpha, beta)) = (state.before.as_ref()?, self.weights());
        let shrunk = penalty.step(state.x.point(), g, *mu);
        let kept = shrunk.support();
        let past = P::combine(1.0 - alpha, &before.on(&kept), alpha - beta, &state.x.point().on(&kept));
        let x_next = P::combine(1.0, &past, beta, &shrunk); // (1−α)x_{t−1} + (α−β)x_t + βΓ(x_t)
        let x_next = at(f, penalty, x_next);
        let d = Evaluated::combine(1.0, &x_next, -1.0, &state.x);
        let curvature = curvature_along(f, penalty, (&state.x, &x_next), &d);
        if !self.step.admits(*mu, curvature) {
            *mu = shortened(*mu, curvature);
            return None;
        }
        let objective = value(f, penalty, &x_next);
        (!self.rises(objective, state.objective)).then_some((x_next, objective))
    }

    /// Whether F must not rise and does, by more than rounding: near the minimum F is flat long before x is there.
    fn rises(&self, objective: f64, before: f64) -> bool {
        self.safeguard == Safeguard::Descent && !(objective <= before + ROUNDING * before.abs())
    }
}

/// Where TwIST stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "P: Point")]
pub struct TwistState<P> {
    x: Evaluated<P>,
    /// x_{t−1}; none at the start.
    before: Option<P>,
    objective: f64,
    /// The best lower bound on F so far.
    bound: f64,
    /// The step; unknown before the first gradient.
    mu: Option<f64>,
}

impl<P: Point, G: Covector<P>> Algorithm<P, G> for Twist {
    type State = TwistState<P>;
    type Subject = dyn Penalty<G, Point = P>;

    fn start(&self, f: &dyn Smooth<P, G>, penalty: &Self::Subject, x0: P) -> Result<Self::State, Error> {
        self.step.check(f.loss())?;
        check_option("lambda_1", self.lambda_1, "it must be above 0 and at most 1", |v| v > 0.0 && v <= 1.0)?;
        let x = at(f, penalty, x0);
        let objective = value(f, penalty, &x);
        Ok(TwistState { x, before: None, objective, bound: f64::NEG_INFINITY, mu: self.step.prepare(f) })
    }

    fn query<'s>(&self, state: &'s Self::State) -> &'s Evaluated<P> {
        &state.x
    }

    fn advance(&self, f: &dyn Smooth<P, G>, penalty: &Self::Subject, state: &mut Self::State, g: &G) -> Progress {
        if let Some(bound) = duality::lower_bound(f, penalty, &state.x, g) {
            state.bound = state.bound.max(bound);
        }
        let mut mu = state.mu.unwrap_or_else(|| first_length(f, penalty, &state.x, g));
        let (x_next, objective) = match self.two_step(f, penalty, state, g, &mut mu) {
            Some(taken) => taken,
            None => {
                let gap = gap_above(state.bound, state.objective);
                let Some(taken) = descend(f, penalty, self.step, (&state.x, g), mu) else {
                    return stalled(state.objective, gap, mu);
                };
                mu = taken.mu;
                let objective = value(f, penalty, &taken.x_next); //                x_{t+1} = Γ(x_t)
                if taken.d.point().norm() == 0.0 {
                    return Progress { gap, step: mu, ..Progress::still(objective, Move::Fixed) };
                }
                if self.rises(objective, state.objective) {
                    // A step that was tested descends: this one was given, and is too long.
                    return stalled(state.objective, gap, mu);
                }
                (taken.x_next, objective)
            }
        };
        let progress = Progress::moved(objective, x_next.point(), state.x.point());
        let before = std::mem::replace(&mut state.x, x_next).into_point();
        (state.before, state.objective, state.mu) = (Some(before), objective, Some(mu));
        Progress { gap: gap_above(state.bound, objective), step: mu, ..progress }
    }

    fn restart(&self, state: &mut Self::State) {
        state.before = None;
    }
}
