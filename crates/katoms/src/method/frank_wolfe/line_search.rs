//! The line search of Frank–Wolfe methods: the best step on a segment, and whether a step descends.

use crate::loss::Loss;
use crate::objective::{Evaluated, Objective};
use crate::operator::LinearOperator;

/// Newton and bisection steps for a loss that is not quadratic.
const STEPS: usize = 60;
/// A slope this small, relative to the one at the start, is the minimum.
const FLAT: f64 = 1e-12;
/// Differences of f below this share are rounding. A step along a slope of −gap lowers f by about gap²/C: at
/// a relative gap of 1e-8 that no longer shows in f, though the gap still falls.
const ROUNDING: f64 = 1e-14;

/// Whether f did not rise from `before` to `now`, up to rounding.
pub(super) fn descends(now: f64, before: f64) -> bool {
    now <= before + ROUNDING * before.abs()
}

/// argmin over γ in [0, most] of f(x + γ·d); 0 where f does not fall along d. A formula for least squares,
/// otherwise Newton's method within a bracket that is halved where Newton leaves it. O(m) a step.
pub(super) fn step_along<A: LinearOperator, L: Loss>(
    f: &Objective<A, L>,
    x: &Evaluated<A::Point>,
    d: &Evaluated<A::Point>,
    most: f64,
) -> f64 {
    let start = f.slope(x, d);
    if !(start < 0.0) {
        return 0.0;
    }
    if f.loss().is_quadratic() {
        let bend = f.bend(x, d);
        return if bend > 0.0 { (-start / bend).min(most) } else { most };
    }
    let at = |gamma: f64| Evaluated::combine(1.0, x, gamma, d);
    if f.slope(&at(most), d) <= 0.0 {
        return most;
    }
    let (mut low, mut high, mut gamma) = (0.0, most, 0.0);
    let mut here = x.clone();
    let mut slope = start;
    for _ in 0..STEPS {
        let newton = gamma - slope / f.bend(&here, d);
        gamma = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
        here = at(gamma);
        slope = f.slope(&here, d);
        if slope.abs() <= FLAT * start.abs() || high - low <= f64::EPSILON * high {
            break;
        }
        if slope < 0.0 {
            low = gamma;
        } else {
            high = gamma;
        }
    }
    gamma
}
