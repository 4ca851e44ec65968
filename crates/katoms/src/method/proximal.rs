//! What the proximal methods share: how long a step is, and whether a quadratic model lies above f there.
//!
//! A step x⁺ = prox(u − μ·∇f(u)) descends when f lies below its model at x⁺,
//!
//! > f(x⁺) ≤ f(u) + ⟨∇f(u), x⁺ − u⟩ + ‖x⁺ − u‖²/(2μ),
//!
//! that is, when the curvature of f along x⁺ − u is at most 1/μ. Every μ ≤ 1/λ_max does, but far longer ones
//! usually do. A step that does not is cut to what the curvature just seen allows, not halved: the second
//! trial nearly always passes. Each trial multiplies its point out once, as its support has changed.
//!
//! What the penalty leaves free is no part of all this: f stands for its minimum over the free part, which is
//! convex and smooth in the rest, no more curved than f, and has the same gradient. Every point is brought to
//! that minimum when it is multiplied out. That reads the free columns only, and makes the lower bound of
//! [`duality`](super::duality) one.

use super::refit::refit;
use super::smooth::Smooth;
use super::step::{check_bounded, curvature_bound};
use super::{Move, Progress};
use crate::error::{Error, check_option};
use crate::linalg;
use crate::loss::Loss;
use crate::objective::Evaluated;
use crate::penalty::Penalty;
use crate::space::{Covector, Point};

/// Trials before a step is given up; the curvature of a loss that is what it says ends them early.
const TRIALS: usize = 60;
/// A step that was too long is cut to this share of what the curvature along it allows.
const SHORTER: f64 = 0.9;
/// A curvature above 1/μ by less than this share is rounding.
const SLACK: f64 = 1e-10;
/// Below this share of its terms a difference of values of f is mostly rounding.
const CANCELS: f64 = 1e-8;

/// How far a proximal step goes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum ProximalStep {
    /// From an optimistic start, cut whenever the quadratic model does not lie above f. No pass of its own.
    #[default]
    Backtracking,
    /// 1/λ_max of the Hessian's bound, by Lanczos: two passes a round, before the run. Far too short for wide
    /// data.
    InverseLipschitz,
    /// Always this.
    Fixed(f64),
}

impl ProximalStep {
    pub(super) fn check(&self, loss: &dyn Loss) -> Result<(), Error> {
        let positive = |v: f64| v.is_finite() && v > 0.0;
        match *self {
            Self::Fixed(mu) => check_option("step", mu, "it must be finite and above 0", positive),
            Self::InverseLipschitz => check_bounded(loss, "a step of 1/L"),
            Self::Backtracking => Ok(()),
        }
    }

    /// The step, where it is known before the first gradient. On an operator of zeros every step is short
    /// enough, and the first gradient gives one.
    pub(super) fn prepare<P: Point, G: Covector<P>>(&self, f: &dyn Smooth<P, G>) -> Option<f64> {
        match *self {
            Self::Fixed(mu) => Some(mu),
            Self::InverseLipschitz => Some(1.0 / curvature_bound(f)).filter(|mu| mu.is_finite()),
            Self::Backtracking => None,
        }
    }

    /// Whether a move along which f has this curvature may be made with the step μ.
    pub(super) fn admits(&self, mu: f64, curvature: f64) -> bool {
        *self != Self::Backtracking || mu * curvature <= 1.0 + SLACK
    }
}

/// A step that was taken.
pub(super) struct Taken<P> {
    pub x_next: Evaluated<P>,
    /// x⁺ − u.
    pub d: Evaluated<P>,
    pub mu: f64,
    /// The longest step that the curvature along d would have allowed.
    pub allowed: f64,
}

/// x⁺ = prox(u − μ·g) for the first of a falling sequence of steps that is short enough. `None` where none is.
/// An image for each trial.
pub(super) fn descend<P: Point, G: Covector<P>>(
    f: &dyn Smooth<P, G>,
    penalty: &dyn Penalty<G, Point = P>,
    step: ProximalStep,
    (u, g): (&Evaluated<P>, &G),
    mut mu: f64,
) -> Option<Taken<P>> {
    for _ in 0..TRIALS {
        let x_next = at(f, penalty, penalty.step(u.point(), g, mu));
        let d = Evaluated::combine(1.0, &x_next, -1.0, u);
        let curvature = curvature_along(f, penalty, (u, &x_next), &d);
        if step.admits(mu, curvature) {
            return Some(Taken { x_next, d, mu, allowed: 1.0 / curvature });
        }
        mu = shortened(mu, curvature);
    }
    None
}

/// x with its image, at the minimum over what is free.
pub(super) fn at<P: Point, G: Covector<P>>(
    f: &dyn Smooth<P, G>,
    penalty: &dyn Penalty<G, Point = P>,
    x: P,
) -> Evaluated<P> {
    settled(f, penalty, f.at(x))
}

/// x, at the minimum over what is free. Touches only free columns.
pub(super) fn settled<P: Point, G: Covector<P>>(
    f: &dyn Smooth<P, G>,
    penalty: &dyn Penalty<G, Point = P>,
    x: Evaluated<P>,
) -> Evaluated<P> {
    match penalty.free() {
        Some(free) => refit(f, x, &free).point,
        None => x,
    }
}

/// F(x) = f(x) + h(x). O(m).
pub(super) fn value<P: Point, G: Covector<P>>(
    f: &dyn Smooth<P, G>,
    penalty: &dyn Penalty<G, Point = P>,
    x: &Evaluated<P>,
) -> f64 {
    f.value(x) + penalty.value(x.point())
}

/// How far an objective is at most from its minimum; none without a bound.
pub(super) fn gap_above(bound: f64, objective: f64) -> Option<f64> {
    bound.is_finite().then(|| (objective - bound).max(0.0))
}

/// No step is short enough: the loss is not what it says. That is no convergence, however little moved.
pub(super) fn stalled(objective: f64, gap: Option<f64>, mu: f64) -> Progress {
    Progress { change: f64::INFINITY, gap, step: mu, ..Progress::still(objective, Move::Stalled) }
}

/// What becomes of a step that met this curvature.
pub(super) fn shortened(mu: f64, curvature: f64) -> f64 {
    if curvature.is_finite() { SHORTER / curvature } else { 0.1 * mu }
}

/// 2·(f(x) − f(u) − ⟨∇f(u), d⟩)/‖d‖² for d = x − u, from the images alone; what is free does not count as length.
/// 0 where d is. O(m).
pub(super) fn curvature_along<P: Point, G: Covector<P>>(
    f: &dyn Smooth<P, G>,
    penalty: &dyn Penalty<G, Point = P>,
    (u, x): (&Evaluated<P>, &Evaluated<P>),
    d: &Evaluated<P>,
) -> f64 {
    let free = penalty.free().map_or(0.0, |free| d.point().on(&free).norm().powi(2));
    let square = d.point().norm().powi(2) - free;
    if !(square > f64::EPSILON * free) {
        return 0.0;
    }
    if f.loss().is_quadratic() {
        return f.curvature_along(u, d) / square;
    }
    let (here, slope) = (f.value(u), f.slope(u, d));
    let above = f.value(x) - here - slope;
    if above.is_nan() || above > CANCELS * (here.abs() + slope.abs()) {
        return 2.0 * above / square;
    }
    // ∫ (1 − s)·⟨d, ∇²f(u + s·d)·d⟩ ds with a Hessian that changes evenly: nothing cancels.
    2.0 * (f.curvature_along(u, d) / 3.0 + f.curvature_along(x, d) / 6.0) / square
}

/// A step to begin with, optimistic: 1/curvature along u or, where u pays nothing, along the step that leaves it.
/// That one costs an image.
pub(super) fn first_length<P: Point, G: Covector<P>>(
    f: &dyn Smooth<P, G>,
    penalty: &dyn Penalty<G, Point = P>,
    u: &Evaluated<P>,
    g: &G,
) -> f64 {
    let leaving;
    let along = if penalty.value(u.point()) > 0.0 {
        u
    } else {
        // h is homogeneous: the direction in which a step leaves it is the same for every length.
        leaving = f.at(penalty.step(&P::zero(penalty.domain()), g, 1.0));
        &leaving
    };
    let square = along.point().norm().powi(2);
    let curvature = f.curvature_along(u, along);
    let bound = f.loss().curvature_scale(u.image()) * linalg::dot(along.image(), along.image());
    // A saturated loss has no curvature at u, but some elsewhere.
    let curvature = if curvature > 0.0 { curvature } else { bound };
    let price = penalty.value(along.point());
    match square {
        0.0 => 1.0,
        square if curvature > 0.0 => square / curvature,
        // No curvature at all: as long as it takes to bring such a point to zero.
        square if price > 0.0 => square / price,
        _ => 1.0,
    }
}
