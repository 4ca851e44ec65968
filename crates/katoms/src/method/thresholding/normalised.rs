//! Normalised iterative hard thresholding: T. Blumensath and M. Davies, "Normalized iterative hard
//! thresholding: guaranteed stability and performance", IEEE J. Sel. Topics Signal Process. 4 (2010), and two accelerations:
//!
//! - double over-relaxation: K. Qiu and A. Dogandžić, "Double overrelaxation thresholding methods for sparse signal
//!   reconstruction" (2010), on these steps as in T. Blumensath, "Accelerated iterative hard thresholding", Signal Process. 92
//!   (2012). Qiu and Dogandžić step with (ΦΦᵀ)⁻¹, which is [`EcmeDore`](super::EcmeDore);
//! - fast IHT: K. Wei, "Fast iterative hard thresholding for compressed sensing", IEEE Signal Process. Lett. 22 (2015).
//!
//! minimise f(x) subject to x being made of at most k atoms.
//!
//! | paper | code | |
//! |---|---|---|
//! | xⁿ, xⁿ⁺¹ | `x`, `x_next` | iterates of at most k atoms |
//! | −g, −g_Γ | `g`, `g_gamma` | the gradient, and on Γ |
//! | Γⁿ | `gamma` | the support of x; at the start that of Π_k(∇f) |
//! | μ, ω | `mu`, `omega` | the step, and what it may be when the support changes |
//! | c, κ | `c`, `kappa` | how far below ω, how fast a step shrinks |
//! | s⁽ᵖ⁻¹⁾ | `other` | over-relaxation: the iterate before |
//! | s̄, z̄ and z̃, s̃ | `bar`, `z`, `tilde` | after a step; the best points on two lines through it; z̃, thresholded |
//! | v_l, τ_l | `other`, `tau` | fast IHT: the best point on the line through the last two iterates |
//!
//! μ = ‖g_Γ‖²/‖Φg_Γ‖² is exact while the support stays. When it changes, the step must stay below
//! ω = (1−c)‖x⁺−x‖²/‖Φ(x⁺−x)‖², or it is divided by κ(1−c) until it does: then f falls. s̃ is taken only where it is better
//! than s̄. A step from v that raises f is undone, and the next gradient is taken at x; the paper has no such test.
//!
//! Where this goes beyond the papers:
//! - Other losses. For least squares ½‖Φd‖² is f(x+d) − f(x) − ⟨∇f(x), d⟩, so that is what μ is tested with; a
//!   step that keeps the support must not raise f. For least squares both are the paper's. Line searches are damped Newton.
//! - Matrices. Γ is the tangent space at x, as far as a step turns the spaces; the support never quite
//!   stays, so every step is tested. Tanner and Wei (2013) take the column space alone and do not test.
//! - Where x is the minimum on Γ, g_Γ = 0 leaves μ open; then the atoms outside decide it.
//!
//! One pass an iteration, one more for each step undone, and k columns for each of: the step, every x⁺ that is tried, s̃.

use serde::{Deserialize, Serialize};

use crate::error::{Error, check_option};
use crate::method::momentum::minimizer_along;
use crate::method::smooth::{Algorithm, AtomSet, Smooth};
use crate::method::{Move, Progress, line_search, relative_change};
use crate::objective::Evaluated;
use crate::set::Structure;
use crate::space::{Covector, Point};

/// A step shrunk this often goes nowhere.
const SHRINKINGS: usize = 60;
/// Differences of f below this share are rounding.
const ROUNDING: f64 = 1e-14;

/// What is added to the step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Acceleration {
    /// Nothing.
    #[default]
    None,
    /// Double over-relaxation: two line searches through earlier iterates, after the step.
    Overrelaxation,
    /// Fast IHT: a line search that extrapolates before the step.
    Extrapolation,
}

/// Normalised IHT.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NormalisedIht {
    /// A step that changes the support stays this share below what lowers f. Default 0.01.
    pub c: f64,
    /// A step that is too long is divided by κ(1−c). Above 1/(1−c). Default 2.
    pub kappa: f64,
    /// What is added to it. Default: nothing.
    pub acceleration: Acceleration,
}

impl Default for NormalisedIht {
    fn default() -> Self {
        Self { c: 0.01, kappa: 2.0, acceleration: Acceleration::None }
    }
}

/// Where normalised IHT stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "P: Point")]
pub struct NihtState<P> {
    x: Evaluated<P>,
    objective: f64,
    /// The iterate before, or the extrapolated point; none without acceleration, and where it is x.
    other: Option<Evaluated<P>>,
}

/// A step that was taken, and the restricted gradient that it went along.
pub(super) struct Taken<P> {
    pub x_next: Evaluated<P>,
    pub objective: f64,
    pub mu: f64,
    pub g_t: P,
}

/// The gradient where a step may move, and on Γ, where its length is measured.
pub(super) struct Restricted<P> {
    pub g_t: P,
    pub g_gamma: P,
}

impl<P: Point> Restricted<P> {
    /// Γ at u: its support, at a point without atoms that of the restricted gradient.
    pub(super) fn gamma(&self, u: &P) -> P::Support {
        if u.support_size() == 0 { self.g_gamma.support() } else { u.support() }
    }
}

/// ∇f on T and on Γ, the support of u: all of T at a point without atoms, and for matrices.
pub(super) fn restricted<P: Point, G: Covector<P>>(set: &dyn AtomSet<P, G>, u: &P, g: &G) -> Restricted<P> {
    let support = u.support();
    let g_t = g.on(&set.expand(g, &support));
    let g_gamma =
        if u.support_size() == 0 || set.structure() == Structure::RankOne { g_t.clone() } else { g_t.on(&support) };
    Restricted { g_t, g_gamma }
}

/// ‖g_Γ‖²/‖Φg_Γ‖²; where g vanishes on Γ, the same on T. 0 where there is no such length.
pub(super) fn step_length<P: Point, G: Covector<P>>(f: &dyn Smooth<P, G>, u: &Evaluated<P>, g: &Restricted<P>) -> f64 {
    match line_search(f, u, &f.at(g.g_gamma.clone())) {
        0.0 => line_search(f, u, &f.at(g.g_t.clone())),
        mu => mu,
    }
}

impl NormalisedIht {
    /// Accelerated by double over-relaxation (DORE).
    pub fn overrelaxed() -> Self {
        Self { acceleration: Acceleration::Overrelaxation, ..Self::default() }
    }

    /// Fast IHT.
    pub fn fast() -> Self {
        Self { acceleration: Acceleration::Extrapolation, ..Self::default() }
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        check_option("c", self.c, "it must lie between 0 and 1", |c| c > 0.0 && c < 1.0)?;
        let above = 1.0 / (1.0 - self.c);
        check_option("kappa", self.kappa, "it must be finite and above 1/(1-c)", |k| k.is_finite() && k > above)
    }

    /// One iteration from x, or why there is none.
    pub(super) fn step_from<P: Point, G: Covector<P>>(
        &self,
        f: &dyn Smooth<P, G>,
        set: &dyn AtomSet<P, G>,
        x: &Evaluated<P>,
        g: &G,
    ) -> Result<Taken<P>, Progress> {
        self.step_along(f, set, x, restricted(set, x.point(), g))
    }

    /// One iteration from x, from its restricted gradient.
    pub(super) fn step_along<P: Point, G: Covector<P>>(
        &self,
        f: &dyn Smooth<P, G>,
        set: &dyn AtomSet<P, G>,
        x: &Evaluated<P>,
        g: Restricted<P>,
    ) -> Result<Taken<P>, Progress> {
        let here = f.value(x);
        if g.g_t.norm() == 0.0 {
            return Err(Progress::still(here, Move::Fixed));
        }
        let mut mu = step_length(f, x, &g);
        if mu == 0.0 {
            // f is flat along its own gradient: nothing says that x is stationary.
            return Err(Progress { change: f64::INFINITY, ..Progress::still(here, Move::Stalled) });
        }
        let mut longest = 0.0;
        for _ in 0..SHRINKINGS {
            let v = P::combine(1.0, x.point(), -mu, &g.g_t);
            let x_next = f.at(set.project(v));
            if x_next.point() == x.point() {
                return Err(Progress { step: mu, ..Progress::still(here, Move::Fixed) });
            }
            longest = f64::max(longest, relative_change(x_next.point(), x.point()));
            let objective = f.value(&x_next);
            if objective <= here && self.admits(f, x, &x_next, &g.g_gamma, mu) {
                return Ok(Taken { x_next, objective, mu, g_t: g.g_t });
            }
            mu /= self.kappa * (1.0 - self.c);
        }
        Err(Progress { change: longest, step: mu, ..Progress::still(here, Move::Stalled) })
    }

    /// Whether the support stays, or the step is at most ω.
    fn admits<P: Point, G: Covector<P>>(
        &self,
        f: &dyn Smooth<P, G>,
        x: &Evaluated<P>,
        x_next: &Evaluated<P>,
        g_gamma: &P,
        mu: f64,
    ) -> bool {
        if x_next.point().support() == g_gamma.support() {
            return true;
        }
        let d = Evaluated::combine(1.0, x_next, -1.0, x);
        let allowed = (1.0 - self.c) * d.point().norm().powi(2);
        if f.loss().is_quadratic() {
            return mu * f.curvature_along(x, &d) <= allowed;
        }
        let here = f.value(x);
        let above_tangent = f.value(x_next) - here - f.slope(x, &d);
        2.0 * mu * above_tangent <= allowed + mu * ROUNDING * (here - f.lower_bound())
    }

    /// The step from the extrapolated point u; how far it would move where it raises f.
    fn step_beyond<P: Point, G: Covector<P>>(
        f: &dyn Smooth<P, G>,
        set: &dyn AtomSet<P, G>,
        state: &NihtState<P>,
        (u, g): (&Evaluated<P>, &G),
    ) -> Result<Taken<P>, Progress> {
        let g = restricted(set, u.point(), g);
        let mu = step_length(f, u, &g);
        let x_next = f.at(set.project(P::combine(1.0, u.point(), -mu, &g.g_t)));
        let objective = f.value(&x_next);
        if objective < state.objective {
            return Ok(Taken { x_next, objective, mu, g_t: g.g_t });
        }
        let change = relative_change(x_next.point(), state.x.point());
        Err(Progress { change, step: mu, ..Progress::still(state.objective, Move::Restarted) })
    }

    /// The better one of s̄ and s̃, f there, and the weight of the first line search.
    fn overrelax<P: Point, G: Covector<P>>(
        f: &dyn Smooth<P, G>,
        set: &dyn AtomSet<P, G>,
        state: &NihtState<P>,
        (bar, of_bar): (Evaluated<P>, f64),
    ) -> (Evaluated<P>, f64, f64) {
        let d = Evaluated::combine(1.0, &bar, -1.0, &state.x);
        let alpha_1 = minimizer_along(f, &bar, &d);
        let z = Evaluated::combine(1.0, &bar, alpha_1, &d); //                 z̄ = s̄ + α₁(s̄ − s)
        let d = Evaluated::combine(1.0, &z, -1.0, state.other.as_ref().unwrap_or(&state.x));
        let alpha_2 = minimizer_along(f, &z, &d);
        let z = Evaluated::combine(1.0, &z, alpha_2, &d); //                   z̃ = z̄ + α₂(z̄ − s⁻)
        let tilde = f.at(set.project(z.into_point())); //                      s̃
        let of_tilde = f.value(&tilde);
        if of_tilde < of_bar { (tilde, of_tilde, alpha_1) } else { (bar, of_bar, 0.0) }
    }
}

impl<P: Point, G: Covector<P>> Algorithm<P, G> for NormalisedIht {
    type State = NihtState<P>;
    type Subject = dyn AtomSet<P, G>;

    fn start(&self, f: &dyn Smooth<P, G>, set: &Self::Subject, x0: P) -> Result<Self::State, Error> {
        self.check()?;
        let x = f.at(set.project(x0));
        Ok(NihtState { objective: f.value(&x), x, other: None })
    }

    fn query<'s>(&self, state: &'s Self::State) -> &'s Evaluated<P> {
        match (self.acceleration, &state.other) {
            (Acceleration::Extrapolation, Some(u)) => u,
            _ => &state.x,
        }
    }

    fn iterate<'s>(&self, state: &'s Self::State) -> &'s Evaluated<P> {
        &state.x
    }

    fn advance(&self, f: &dyn Smooth<P, G>, set: &Self::Subject, state: &mut Self::State, g: &G) -> Progress {
        let stepped = match (self.acceleration, &state.other) {
            (Acceleration::Extrapolation, Some(u)) => Self::step_beyond(f, set, state, (u, g)),
            _ => self.step_from(f, set, &state.x, g),
        };
        let Taken { x_next, objective, mu, .. } = match stepped {
            Ok(taken) => taken,
            Err(still) if self.acceleration == Acceleration::Extrapolation => {
                state.other = None;
                return still;
            }
            Err(still) => return still,
        };
        let (x_next, objective, momentum) = match self.acceleration {
            Acceleration::Overrelaxation => Self::overrelax(f, set, state, (x_next, objective)),
            Acceleration::Extrapolation => {
                let moved = Evaluated::combine(1.0, &x_next, -1.0, &state.x);
                let tau = minimizer_along(f, &x_next, &moved); // τ = argmin f(x⁺ + τ(x⁺ − x))
                state.other = (tau != 0.0).then(|| Evaluated::combine(1.0, &x_next, tau, &moved));
                (x_next, objective, tau)
            }
            Acceleration::None => (x_next, objective, 0.0),
        };
        let moved = Progress::moved(objective, x_next.point(), state.x.point());
        let before = std::mem::replace(&mut state.x, x_next);
        state.objective = objective;
        if self.acceleration == Acceleration::Overrelaxation {
            state.other = Some(before);
        }
        Progress { step: mu, momentum, ..moved }
    }

    fn restart(&self, state: &mut Self::State) {
        state.other = None;
    }

    fn label(&self) -> &'static str {
        match self.acceleration {
            Acceleration::None => "NormalisedIht",
            Acceleration::Overrelaxation => "DoubleOverrelaxation",
            Acceleration::Extrapolation => "FastIht",
        }
    }
}
