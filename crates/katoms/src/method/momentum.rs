//! Momentum: a rule returns τ and does not know the loop.

use serde::{Deserialize, Serialize};

use super::smooth::Smooth;
use crate::error::{Error, check_option};
use crate::loss::Loss;
use crate::objective::{Evaluated, Objective};
use crate::operator::LinearOperator;
use crate::space::{Covector, Point};

/// One-dimensional Newton steps for a loss that is not quadratic.
const NEWTON_STEPS: usize = 20;

/// τ in u⁺ = x⁺ + τ·(x⁺ − x).
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Momentum {
    /// Always this. The paper uses ¼; 0 is plain IHT.
    Constant(f64),
    /// argmin over τ of f(x⁺ + τ·(x⁺ − x)): a formula for least squares, Newton otherwise. O(m).
    ClosedForm,
    /// This, but 0 when f(u⁺) would exceed f(x⁺).
    Monotone(f64),
    /// Nesterov's sequence, which starts again whenever f rises (O'Donoghue and Candès).
    Nesterov,
}

/// What a momentum rule remembers: Nesterov's t.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MomentumMemory {
    t: f64,
}

impl Default for MomentumMemory {
    fn default() -> Self {
        Self { t: 1.0 }
    }
}

impl Momentum {
    pub(super) fn check(&self) -> Result<(), Error> {
        match *self {
            Self::Constant(tau) | Self::Monotone(tau) => {
                check_option("momentum", tau, "it must be finite", f64::is_finite)
            }
            Self::ClosedForm | Self::Nesterov => Ok(()),
        }
    }

    /// τ after a move by `moved` = x⁺ − x to x⁺ = `next`. O(m).
    pub fn weight<A: LinearOperator, L: Loss>(
        &self,
        f: &Objective<A, L>,
        next: &Evaluated<A::Point>,
        moved: &Evaluated<A::Point>,
        memory: &mut MomentumMemory,
    ) -> f64 {
        self.tau(f, next, moved, memory)
    }

    pub(super) fn tau<P: Point, G: Covector<P>>(
        &self,
        f: &dyn Smooth<P, G>,
        next: &Evaluated<P>,
        moved: &Evaluated<P>,
        memory: &mut MomentumMemory,
    ) -> f64 {
        let along = |tau: f64| f.value(&Evaluated::combine(1.0, next, tau, moved));
        match *self {
            Self::Constant(tau) => tau,
            Self::ClosedForm => minimizer_along(f, next, moved),
            Self::Monotone(tau) if along(tau) <= f.value(next) => tau,
            Self::Monotone(_) => 0.0,
            Self::Nesterov => {
                if f.value(next) > along(-1.0) {
                    *memory = MomentumMemory::default();
                }
                let t = 0.5 * (1.0 + (1.0 + 4.0 * memory.t * memory.t).sqrt());
                let tau = (memory.t - 1.0) / t;
                memory.t = t;
                tau
            }
        }
    }
}

/// argmin over t of f(x + t·d). Exact for least squares; damped Newton otherwise. O(m).
pub(super) fn minimizer_along<P: Point, G: Covector<P>>(
    f: &dyn Smooth<P, G>,
    x: &Evaluated<P>,
    d: &Evaluated<P>,
) -> f64 {
    let newton = |at: &Evaluated<P>| {
        let (slope, curvature) = (f.slope(at, d), f.curvature_along(at, d));
        // A direction without curvature: d is zero, or f is flat along it.
        (curvature > 0.0 && slope.is_finite()).then(|| -slope / curvature)
    };
    if f.loss().is_quadratic() {
        return newton(x).unwrap_or(0.0);
    }
    let (mut t, mut here) = (0.0, f.value(x));
    for _ in 0..NEWTON_STEPS {
        let Some(mut step) = newton(&Evaluated::combine(1.0, x, t, d)) else { return t };
        let mut there = f.value(&Evaluated::combine(1.0, x, t + step, d));
        while there > here && step.abs() > 1e-12 {
            step *= 0.5;
            there = f.value(&Evaluated::combine(1.0, x, t + step, d));
        }
        if there >= here || step.abs() <= 1e-10 * (1.0 + t.abs()) {
            return if there < here { t + step } else { t };
        }
        (t, here) = (t + step, there);
    }
    t
}
