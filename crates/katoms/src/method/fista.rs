//! The fast iterative shrinkage-thresholding algorithm with adaptive restarts.
//!
//! minimise F(x) = f(x) + h(x), f convex and smooth, h a penalty with a proximal map.
//!
//! Beck and Teboulle, "A fast iterative shrinkage-thresholding algorithm for linear inverse problems" (2009).
//! O'Donoghue and Candès, "Adaptive restart for accelerated gradient schemes" (2015).
//!
//! | paper | code | |
//! |---|---|---|
//! | x_{k−1}, x_k | `x`, `x_next` | iterates |
//! | y_k | `u` | the extrapolated point, where the gradient is taken |
//! | ∇f(y_k) | `g` | the gradient that the driver brings: the one pass |
//! | 1/L_k | `mu` | step |
//! | p_L(y) | `penalty.step` | prox of h/L at y − ∇f(y)/L |
//! | t_k | `t` | 1 at the start and after a restart |
//! | (t_k − 1)/t_{k+1} | `tau` | momentum |
//!
//! Where this differs from the papers:
//!
//! * Backtracking starts from an optimistic step and cuts a step that is too long to what the curvature just
//!   seen allows. Between two restarts the step never grows, as the proof needs it. At a restart, where t = 1 and
//!   nothing is remembered, it may: to the longest that all moves since the last restart would have allowed.
//! * The gradient at y_k gives a lower bound on min F without another pass. Therefore every move reports a proven
//!   gap, F(x_k) less the best bound so far, and the run ends by it.
//!
//! An iteration costs one pass, and an image of x_k for each trial of the step: one apart from a few iterations,
//! two in the first. An image reads the columns of x_k's support, all columns at worst.

use serde::{Deserialize, Serialize};

use super::proximal::{Taken, at, descend, first_length, gap_above, settled, stalled, value};
use super::smooth::{Algorithm, Smooth};
use super::{Move, Progress, ProximalStep, duality};
use crate::error::Error;
use crate::objective::Evaluated;
use crate::penalty::Penalty;
use crate::space::{Covector, Point};

/// At a restart a step grows by this factor at most.
const GROWTH: f64 = 10.0;

/// When momentum is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Restart {
    /// Never, as in the first paper.
    Never,
    /// When F rises.
    Objective,
    /// When the momentum leads uphill: ⟨y_k − x_k, x_k − x_{k−1}⟩ > 0. It does not suffer from rounding in F.
    #[default]
    Gradient,
}

/// FISTA with its parts, for any penalty and loss.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Fista {
    /// How far a step goes. Default: backtracking.
    pub step: ProximalStep,
    /// When momentum is dropped. Default: by the gradient scheme.
    pub restart: Restart,
}

/// Where FISTA stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "P: Point")]
pub struct FistaState<P> {
    x: Evaluated<P>,
    u: Evaluated<P>,
    objective: f64,
    /// The best lower bound on F so far.
    bound: f64,
    t: f64,
    /// The step; unknown before the first gradient.
    mu: Option<f64>,
    /// The longest step that every move since the last restart would have allowed.
    allowed: f64,
}

impl<P: Point> FistaState<P> {
    /// Back to the iterate, without momentum.
    fn restart(&mut self) {
        self.u = self.x.clone();
        self.t = 1.0;
    }

    /// y_{k+1} = x_k + τ(x_k − x_{k−1}) and τ, where x_k − x_{k−1} is `moved`.
    fn extrapolated(&mut self, moved: &Evaluated<P>) -> (Evaluated<P>, f64) {
        let t_next = 0.5 * (1.0 + (1.0 + 4.0 * self.t * self.t).sqrt()); // t_{k+1}
        let tau = (self.t - 1.0) / t_next;
        self.t = t_next;
        (Evaluated::combine(1.0, &self.x, tau, moved), tau)
    }
}

impl<P: Point, G: Covector<P>> Algorithm<P, G> for Fista {
    type State = FistaState<P>;
    type Subject = dyn Penalty<G, Point = P>;

    fn start(&self, f: &dyn Smooth<P, G>, penalty: &Self::Subject, x0: P) -> Result<Self::State, Error> {
        self.step.check(f.loss())?;
        let x = at(f, penalty, x0);
        let (u, objective) = (x.clone(), value(f, penalty, &x));
        let mu = self.step.prepare(f);
        Ok(FistaState { x, u, objective, bound: f64::NEG_INFINITY, t: 1.0, mu, allowed: f64::INFINITY })
    }

    fn query<'s>(&self, state: &'s Self::State) -> &'s Evaluated<P> {
        &state.u
    }

    fn iterate<'s>(&self, state: &'s Self::State) -> &'s Evaluated<P> {
        &state.x
    }

    fn advance(&self, f: &dyn Smooth<P, G>, penalty: &Self::Subject, state: &mut Self::State, g: &G) -> Progress {
        if let Some(bound) = duality::lower_bound(f, penalty, &state.u, g) {
            state.bound = state.bound.max(bound);
        }
        let mu = state.mu.unwrap_or_else(|| first_length(f, penalty, &state.u, g));
        let Some(taken) = descend(f, penalty, self.step, (&state.u, g), mu) else {
            return stalled(state.objective, gap_above(state.bound, state.objective), mu);
        };
        let Taken { x_next, d, mu, allowed } = taken; //                          x_k = p_L(y_k)
        let objective = value(f, penalty, &x_next);
        let moved = Evaluated::combine(1.0, &x_next, -1.0, &state.x);
        let uphill = match self.restart {
            Restart::Never => false,
            Restart::Objective => objective > state.objective,
            Restart::Gradient => d.point().dot(moved.point()) < 0.0,
        };
        let still = moved.point().norm() == 0.0;
        let kind = match (still, state.u == state.x) {
            (true, true) => Move::Fixed, // a proximal step from x leads to x: the minimum
            (true, false) => Move::Restarted,
            (false, _) => Move::Moved,
        };
        let progress = Progress::moved(objective, x_next.point(), state.x.point());
        (state.x, state.objective) = (x_next, objective);
        (state.mu, state.allowed) = (Some(mu), state.allowed.min(allowed));
        let tau = if uphill || still {
            state.restart();
            self.regrow(state, mu);
            0.0
        } else {
            let (u, tau) = state.extrapolated(&moved);
            state.u = if tau > 0.0 { settled(f, penalty, u) } else { u };
            tau
        };
        Progress { gap: gap_above(state.bound, objective), step: mu, momentum: tau, kind, ..progress }
    }

    fn restart(&self, state: &mut Self::State) {
        state.restart();
    }
}

impl Fista {
    /// A longer step, where all moves since the last restart would have allowed it.
    fn regrow<P>(&self, state: &mut FistaState<P>, mu: f64) {
        if self.step == ProximalStep::Backtracking {
            state.mu = Some(state.allowed.clamp(mu, GROWTH * mu));
            state.allowed = f64::INFINITY;
        }
    }
}
