//! Fast iterative hard thresholding: K. Wei, "Fast iterative hard thresholding for compressed sensing", IEEE
//! Signal Process. Lett. 22 (2015).
//!
//! minimise f(x) subject to x being made of at most k atoms.
//!
//! | paper | code | |
//! |---|---|---|
//! | x_l | `x` | the iterate |
//! | v_l, τ_l | `u`, `tau` | the best point on the line through the last two iterates |
//! | μ_l | `mu` | the best step along ∇f(v_l) on the support of v_l |
//! | H_k | `set.project` | |
//!
//! The momentum is used only while f falls. A step from v that raises f is undone, the next gradient is
//! taken at x, and the step from there is that of [`NormalisedIht`], which lowers f. The paper has no such
//! test. For other losses τ comes from damped Newton.
//!
//! One pass an iteration, one more for each step undone. Columns: at most 2k for the step and k for x⁺.

use serde::{Deserialize, Serialize};

use super::NormalisedIht;
use super::normalised::{Taken, restricted, step_length};
use crate::error::Error;
use crate::method::momentum::minimizer_along;
use crate::method::smooth::{Algorithm, AtomSet, Smooth};
use crate::method::{Move, Progress, relative_change};
use crate::objective::Evaluated;
use crate::space::{Covector, Point};

/// Fast IHT.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct FastIht {
    /// The step where there is no momentum.
    pub base: NormalisedIht,
}

/// Where fast IHT stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "P: Point")]
pub struct FastState<P> {
    x: Evaluated<P>,
    u: Evaluated<P>,
    objective: f64,
    extrapolated: bool,
}

impl FastIht {
    /// The step from the extrapolated point; how far it would move where it raises f.
    fn step<P: Point, G: Covector<P>>(
        &self,
        f: &dyn Smooth<P, G>,
        set: &dyn AtomSet<P, G>,
        state: &FastState<P>,
        g: &G,
    ) -> Result<Taken<P>, Progress> {
        if !state.extrapolated {
            return self.base.step_from(f, set, &state.x, g);
        }
        let g = restricted(set, state.u.point(), g);
        let mu = step_length(f, &state.u, &g);
        let x_next = f.at(set.project(P::combine(1.0, state.u.point(), -mu, &g.g_t)));
        let objective = f.value(&x_next);
        if objective < state.objective {
            return Ok(Taken { x_next, objective, mu, g_t: g.g_t });
        }
        let change = relative_change(x_next.point(), state.x.point());
        Err(Progress { change, step: mu, ..Progress::still(state.objective, Move::Restarted) })
    }
}

impl<P: Point, G: Covector<P>> Algorithm<P, G> for FastIht {
    type State = FastState<P>;
    type Subject = dyn AtomSet<P, G>;

    fn start(&self, f: &dyn Smooth<P, G>, set: &Self::Subject, x0: P) -> Result<Self::State, Error> {
        self.base.check()?;
        let x = f.at(set.project(x0));
        let objective = f.value(&x);
        Ok(FastState { u: x.clone(), x, objective, extrapolated: false })
    }

    fn query<'s>(&self, state: &'s Self::State) -> &'s Evaluated<P> {
        &state.u
    }

    fn iterate<'s>(&self, state: &'s Self::State) -> &'s Evaluated<P> {
        &state.x
    }

    fn advance(&self, f: &dyn Smooth<P, G>, set: &Self::Subject, state: &mut Self::State, g: &G) -> Progress {
        let Taken { x_next, objective, mu, .. } = match self.step(f, set, state, g) {
            Ok(taken) => taken,
            Err(still) => {
                state.restart();
                return still;
            }
        };
        let moved = Evaluated::combine(1.0, &x_next, -1.0, &state.x);
        let tau = minimizer_along(f, &x_next, &moved); // τ = argmin f(x⁺ + τ(x⁺ − x))
        let progress = Progress::moved(objective, x_next.point(), state.x.point());
        state.u = Evaluated::combine(1.0, &x_next, tau, &moved);
        (state.x, state.objective, state.extrapolated) = (x_next, objective, tau != 0.0);
        Progress { step: mu, momentum: tau, ..progress }
    }

    fn restart(&self, state: &mut Self::State) {
        state.restart();
    }
}

impl<P: Point> FastState<P> {
    /// Back to the iterate, without momentum.
    fn restart(&mut self) {
        self.u = self.x.clone();
        self.extrapolated = false;
    }
}
