//! Step sizes: a rule returns a number and does not know the loop.

use serde::{Deserialize, Serialize};

use super::smooth::Smooth;
use crate::error::{Error, check_option};
use crate::linalg::{self, Matrix};
use crate::loss::Loss;
use crate::objective::{Evaluated, Objective};
use crate::operator::LinearOperator;
use crate::space::{Covector, Point};

/// Lanczos rounds for λ_max, and the relative change that ends them.
const LANCZOS_ROUNDS: usize = 80;
const LANCZOS_TOLERANCE: f64 = 1e-7;
/// Differences of f below this share are rounding.
const ROUNDING: f64 = 1e-14;

/// How far to go along the restricted gradient.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Step {
    /// Always this.
    Fixed(f64),
    /// 1/λ_max of the Hessian's bound, by Lanczos' power iteration: two passes a round, before the run.
    /// Far too short for wide data; the paper uses it.
    InverseLipschitz,
    /// 2/(α+β), from known restricted curvatures.
    TwoOverSum {
        /// The least curvature along 3k atoms.
        alpha: f64,
        /// The largest curvature along 3k atoms.
        beta: f64,
    },
    /// ‖∇_T f‖² / ⟨∇_T f, ∇²f·∇_T f⟩: exact along the restricted gradient for least squares.
    #[default]
    LineSearch,
    /// Halves an optimistic step until the quadratic model lies above f.
    Backtracking,
}

impl Step {
    pub(super) fn check(&self, loss: &dyn Loss) -> Result<(), Error> {
        let positive = |v: f64| v.is_finite() && v > 0.0;
        match *self {
            Self::Fixed(mu) => check_option("step", mu, "it must be finite and above 0", positive),
            Self::TwoOverSum { alpha, beta } => {
                check_option("alpha", alpha, "it must be finite and at least 0", |v| v.is_finite() && v >= 0.0)?;
                check_option("beta", beta, "it must be finite and above 0", positive)
            }
            Self::InverseLipschitz => check_bounded(loss, "a step of 1/L"),
            Self::LineSearch | Self::Backtracking => Ok(()),
        }
    }

    /// What is computed once, before the run: the step, where it does not change.
    pub(super) fn prepare<P: Point, G: Covector<P>>(&self, f: &dyn Smooth<P, G>) -> StepMemory {
        let constant = match *self {
            Self::Fixed(mu) => mu,
            Self::TwoOverSum { alpha, beta } => 2.0 / (alpha + beta),
            Self::InverseLipschitz => match curvature_bound(f) {
                // An operator of zeros: no step changes anything.
                0.0 => 0.0,
                beta => 1.0 / beta,
            },
            Self::LineSearch | Self::Backtracking => f64::NAN,
        };
        StepMemory { constant, last: None }
    }

    /// μ at u along g_t = ∇_T f(u). O(m).
    pub(super) fn size<P: Point, G: Covector<P>>(
        &self,
        f: &dyn Smooth<P, G>,
        u: &Evaluated<P>,
        g_t: &Evaluated<P>,
        memory: &mut StepMemory,
    ) -> f64 {
        let mu = match self {
            Self::Fixed(_) | Self::TwoOverSum { .. } | Self::InverseLipschitz => memory.constant,
            Self::LineSearch => line_search(f, u, g_t),
            // A step may grow again: twice the last one is tried first.
            Self::Backtracking => backtracking(f, u, g_t, memory.last.map(|mu| 2.0 * mu)),
        };
        memory.last = Some(mu).filter(|mu| *mu > 0.0);
        mu
    }
}

/// What a step rule remembers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepMemory {
    constant: f64,
    last: Option<f64>,
}

/// ‖g‖²/⟨g, ∇²f·g⟩, or 0 where the gradient vanishes.
pub(crate) fn line_search<P: Point, G: Covector<P>>(f: &dyn Smooth<P, G>, u: &Evaluated<P>, g_t: &Evaluated<P>) -> f64 {
    let norm = g_t.point().norm();
    let (square, curvature) = (norm.powi(2), f.curvature_along(u, g_t));
    if square.is_normal() && curvature.is_normal() && curvature > 0.0 {
        return square / curvature;
    }
    if !(norm > 0.0 && norm.is_finite()) {
        return 0.0;
    }
    // Squares of such a gradient leave the range of numbers; those of its direction do not.
    let direction = Evaluated::combine(1.0 / norm, g_t, 0.0, g_t);
    let curvature = f.curvature_along(u, &direction);
    if curvature > 0.0 { 1.0 / curvature } else { 0.0 }
}

/// The first μ among guess, guess/2, … for which f(u − μg) ≤ f(u) − μ/2·‖g‖².
fn backtracking<P: Point, G: Covector<P>>(
    f: &dyn Smooth<P, G>,
    u: &Evaluated<P>,
    g_t: &Evaluated<P>,
    guess: Option<f64>,
) -> f64 {
    let here = f.value(u);
    let square = g_t.point().norm().powi(2);
    let mut mu = guess.unwrap_or_else(|| 4.0 * line_search(f, u, g_t));
    for _ in 0..60 {
        let there = f.value(&Evaluated::combine(1.0, u, -mu, g_t));
        // On a quadratic the line search's own step is a tie, which rounding must not decide.
        if there <= here - 0.5 * mu * square + ROUNDING * (here - f.lower_bound()) {
            break;
        }
        mu *= 0.5;
    }
    mu
}

/// Refuses a loss whose curvature has no bound.
pub(super) fn check_bounded(loss: &dyn Loss, method: &'static str) -> Result<(), Error> {
    if loss.curvature_bound() < f64::INFINITY {
        return Ok(());
    }
    Err(Error::Unsuitable { method, needs: "a loss whose second derivative has a bound; the default step needs none" })
}

/// The Hessian's largest eigenvalue: λ_max(AᵀA) times the loss's largest curvature, plus the ridge.
///
/// Lanczos: the products of a power iteration, of which none is forgotten. On a wide Gaussian design,
/// whose eigenvalues crowd at the edge, a power iteration creeps up and stands still too low; the Ritz
/// value comes from below too, but gets there. Two passes a round.
pub fn largest_curvature<A: LinearOperator, L: Loss>(f: &Objective<A, L>) -> f64 {
    curvature_bound(f)
}

pub(super) fn curvature_bound<P: Point, G: Covector<P>>(f: &dyn Smooth<P, G>) -> f64 {
    // AAᵀ has the same λ_max as AᵀA, and its vectors are dense for every structure.
    let mut q: Vec<f64> = (0..f.n_outputs()).map(|i| 1.0 + (i as f64 * 0.754_877).fract()).collect();
    let length = linalg::norm(&q);
    q.iter_mut().for_each(|v| *v /= length);
    let (mut basis, mut diagonal, mut off) = (Vec::new(), Vec::new(), Vec::new());
    let mut ritz = 0.0;
    for _ in 0..LANCZOS_ROUNDS {
        let mut w = f.gram_times(&q);
        diagonal.push(linalg::dot(&w, &q));
        basis.push(q);
        // Twice against all earlier vectors: rounding would bring the found directions back.
        for v in basis.iter().chain(&basis) {
            let along = linalg::dot(&w, v);
            w = linalg::combine(1.0, &w, -along, v);
        }
        let before = std::mem::replace(&mut ritz, largest_ritz_value(&diagonal, &off));
        let rest = linalg::norm(&w);
        if (ritz - before).abs() <= LANCZOS_TOLERANCE * ritz || !(rest > f64::EPSILON * ritz) {
            break;
        }
        q = w.iter().map(|v| v / rest).collect();
        off.push(rest);
    }
    f.loss().curvature_bound() * ritz + f.ridge_weight()
}

/// The largest eigenvalue of the tridiagonal matrix that Lanczos builds.
fn largest_ritz_value(diagonal: &[f64], off: &[f64]) -> f64 {
    let n = diagonal.len();
    let tridiagonal = Matrix::from_fn(n, n, |i, j| match i.abs_diff(j) {
        0 => diagonal[i],
        1 => off[i.min(j)],
        _ => 0.0,
    });
    tridiagonal.symmetric_eigen().map_or(f64::NAN, |(values, _)| values[0])
}
