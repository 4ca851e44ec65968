//! Double over-relaxation: K. Qiu and A. Dogandžić, "Double overrelaxation thresholding methods for sparse
//! signal reconstruction" (2010), on the steps of normalised IHT, as in T. Blumensath, "Accelerated iterative
//! hard thresholding", Signal Process. 92 (2012).
//!
//! minimise f(x) subject to x being made of at most k atoms.
//!
//! | paper | code | |
//! |---|---|---|
//! | s⁽ᵖ⁾, s⁽ᵖ⁻¹⁾ | `x`, `before` | the last two iterates |
//! | s̄ | `bar` | after a thresholding step |
//! | α₁, z̄ | `alpha_1`, `z` | the best point on the line from s⁽ᵖ⁾ through s̄ |
//! | α₂, z̃ | `alpha_2`, `z` | the best point on the line from s⁽ᵖ⁻¹⁾ through z̄ |
//! | s̃ | `tilde` | z̃, thresholded |
//!
//! s̃ is taken only where it is better than s̄, so f never rises. Qiu and Dogandžić step with (ΦΦᵀ)⁻¹, which is
//! [`EcmeDore`](super::EcmeDore); Blumensath keeps the gradient and normalised IHT's step, as here. The line
//! searches are closed forms for least squares and damped Newton for other losses.
//!
//! One pass an iteration. Columns: those of [`NormalisedIht`], and k for s̃. The line searches cost O(m).

use serde::{Deserialize, Serialize};

use super::NormalisedIht;
use super::normalised::Taken;
use crate::error::Error;
use crate::method::Progress;
use crate::method::momentum::minimizer_along;
use crate::method::smooth::{Algorithm, AtomSet, Smooth};
use crate::objective::Evaluated;
use crate::space::{Covector, Point};

/// Accelerated IHT by double over-relaxation.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct DoubleOverrelaxation {
    /// The thresholding step.
    pub base: NormalisedIht,
}

/// Where double over-relaxation stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "P: Point")]
pub struct DoreState<P> {
    x: Evaluated<P>,
    before: Evaluated<P>,
}

impl<P: Point, G: Covector<P>> Algorithm<P, G> for DoubleOverrelaxation {
    type State = DoreState<P>;
    type Subject = dyn AtomSet<P, G>;

    fn start(&self, f: &dyn Smooth<P, G>, set: &Self::Subject, x0: P) -> Result<Self::State, Error> {
        self.base.check()?;
        let x = f.at(set.project(x0));
        Ok(DoreState { before: x.clone(), x })
    }

    fn query<'s>(&self, state: &'s Self::State) -> &'s Evaluated<P> {
        &state.x
    }

    fn advance(&self, f: &dyn Smooth<P, G>, set: &Self::Subject, state: &mut Self::State, g: &G) -> Progress {
        let Taken { x_next: bar, objective: of_bar, mu, .. } = match self.base.step_from(f, set, &state.x, g) {
            Ok(taken) => taken, //                                             step 1: s̄
            Err(still) => return still,
        };
        let d = Evaluated::combine(1.0, &bar, -1.0, &state.x);
        let alpha_1 = minimizer_along(f, &bar, &d);
        let z = Evaluated::combine(1.0, &bar, alpha_1, &d); //                 step 2: z̄ = s̄ + α₁(s̄ − s)
        let d = Evaluated::combine(1.0, &z, -1.0, &state.before);
        let alpha_2 = minimizer_along(f, &z, &d);
        let z = Evaluated::combine(1.0, &z, alpha_2, &d); //                   step 3: z̃ = z̄ + α₂(z̄ − s⁻)
        let tilde = f.at(set.project(z.into_point())); //                      step 4: s̃
        let of_tilde = f.value(&tilde);
        let (x_next, objective, momentum) = match of_tilde < of_bar {
            true => (tilde, of_tilde, alpha_1), //                             step 5: the better one
            false => (bar, of_bar, 0.0),
        };
        let moved = Progress::moved(objective, x_next.point(), state.x.point());
        state.before = std::mem::replace(&mut state.x, x_next);
        Progress { step: mu, momentum, ..moved }
    }

    fn restart(&self, state: &mut Self::State) {
        state.before = state.x.clone();
    }
}
