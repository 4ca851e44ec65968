//! Fully corrective steps: the minimum of f over the hull of the atoms found so far.
//!
//! Lacoste-Julien and Jaggi (2015), Algorithms 3 and 4, with another solver of the small problem. With weights
//! w on the simplex it is min f(Σ wᵢ·atomᵢ): Newton's method, whose quadratic model is minimised over the
//! simplex by an active-set method. For least squares one step is exact. Only the images of the atoms are
//! touched: no pass, no column.

use super::active_set::{ActiveSet, normalised};
use super::line_search::{descends, step_along};
use super::simplex;
use crate::error::{Error, check_option};
use crate::linalg::dot;
use crate::loss::Loss;
use crate::objective::{Evaluated, Objective};
use crate::operator::LinearOperator;

/// Newton steps. For a quadratic the first is exact, and the next iteration's wins back what rounding took.
const NEWTON_STEPS: usize = 20;
const QUADRATIC_STEPS: usize = 1;

/// Whether f is minimised over the hull of the atoms after a step.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Correction {
    /// It is not.
    #[default]
    Never,
    /// In every iteration.
    Full {
        /// Until the gap within the hull is at most this share of the gap within the set. For least squares
        /// the minimum is exact in any case.
        tolerance: f64,
    },
}

impl Correction {
    /// In every iteration, to a hundredth of the gap within the set.
    pub fn full() -> Self {
        Self::Full { tolerance: 0.01 }
    }

    pub(super) fn check(self) -> Result<(), Error> {
        let Self::Full { tolerance } = self else { return Ok(()) };
        let share = |v: f64| (0.0..1.0).contains(&v);
        check_option("the tolerance of the correction", tolerance, "it must be at least 0 and below 1", share)
    }
}

/// Moves the weights to the minimum over the hull, until the gap there is at most `enough`, and gives the
/// point. O(m·atoms + atoms³) a step for least squares; O(m·atoms²) otherwise.
pub(super) fn correct<A: LinearOperator, L: Loss>(
    f: &Objective<A, L>,
    active: &mut ActiveSet<A::Point>,
    enough: f64,
) -> Evaluated<A::Point> {
    let domain = f.operator().domain();
    let mut x = active.combined(domain, &active.weights);
    let mut here = f.value(&x);
    for _ in 0..if f.loss().is_quadratic() { QUADRATIC_STEPS } else { NEWTON_STEPS } {
        let slopes = f.slopes(&x, &active.atoms);
        let least = slopes.iter().fold(f64::INFINITY, |m, s| m.min(*s));
        if !(dot(&slopes, &active.weights) - least > enough) {
            break;
        }
        let q = active.hessian(f, &x);
        let mut weights = normalised(simplex::minimizer(&q, &slopes, &active.weights));
        let mut next = active.combined(domain, &weights);
        if !descends(f.value(&next), here) {
            let gamma = step_along(f, &x, &Evaluated::combine(-1.0, &x, 1.0, &next), 1.0);
            let between = weights.iter().zip(&active.weights).map(|(v, w)| w + gamma * (v - w));
            weights = normalised(between.collect());
            next = active.combined(domain, &weights);
        }
        let there = f.value(&next);
        if !descends(there, here) {
            break;
        }
        active.weights = weights;
        (x, here) = (next, there);
    }
    x
}
