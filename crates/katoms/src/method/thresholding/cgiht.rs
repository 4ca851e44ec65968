//! Conjugate gradient iterative hard thresholding: J. Blanchard, J. Tanner and K. Wei, "CGIHT: conjugate gradient
//! iterative hard thresholding for compressed sensing and matrix completion", Inf. Inference 4 (2015).
//!
//! minimise f(x) subject to x being made of at most k atoms: coordinates, groups or rank-one matrices.
//!
//! | paper | code | |
//! |---|---|---|
//! | x_j, T_j | `x`, `support` | the iterate and its support |
//! | r_j = A*(y − A·x_j) | −`g` | the residual's image |
//! | Proj_T(r) | −`g_gamma` | on the support; for matrices on the tangent space |
//! | p_j, p_{j−1} | −`d`, `p` | search directions |
//! | β_j, α_j | `beta`, `alpha` | orthogonalisation weight, step |
//!
//! Algorithm 1 takes β from the images of r and p on the current support, without restarts. Algorithm 2 restarts
//! (β = 0) when the support changes, and otherwise takes β = ‖Proj r_j‖²/‖Proj r_{j−1}‖².
//!
//! Where this differs from the paper:
//! - Of a direction p only the part where the last step could move is kept: the support and the k strongest
//!   atoms outside. So a state is small. The part on the support, which alone decides α and β, loses nothing
//!   but the tail of older directions.
//! - A conjugate step that raises f is replaced by the step of [`NormalisedIht`] from the same gradient, and so is a
//!   step with β = 0. So f never rises, and the first step is normalised IHT's. The paper has no test of f.
//! - For matrices Proj is onto the tangent space, where the paper takes the column space. "The support stays" means
//!   that no direction enters, as [`Subspace::entered_since`](crate::space::Subspace::entered_since) counts them.
//! - For other losses the products of images are those of the Hessian at x.
//!
//! One pass an iteration. Columns: at most k for each of Proj r, Proj p, x⁺. The trace shows β as the momentum.

use serde::{Deserialize, Serialize};

use super::NormalisedIht;
use super::normalised::{Taken, restricted};
use crate::error::Error;
use crate::method::Progress;
use crate::method::smooth::{Algorithm, AtomSet, Smooth};
use crate::objective::Evaluated;
use crate::set::Structure;
use crate::space::{Covector, Point, Subspace};

/// What a change of the support does to the search direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SupportRestart {
    /// Nothing: Algorithm 1.
    #[default]
    Never,
    /// The direction starts again from the gradient: Algorithm 2.
    OnChange,
}

/// Conjugate gradient IHT.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Cgiht {
    /// Whether a new support restarts the directions. Default: never, Algorithm 1.
    pub restart: SupportRestart,
    /// The step without a direction of the past.
    pub base: NormalisedIht,
}

impl Cgiht {
    /// Algorithm 2.
    pub fn restarted() -> Self {
        Self { restart: SupportRestart::OnChange, ..Self::default() }
    }
}

/// Where conjugate gradient IHT stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "P: Point")]
pub struct CgihtState<P> {
    x: Evaluated<P>,
    objective: f64,
    past: Option<Past<P>>,
}

/// What the last step leaves behind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "P: Point")]
struct Past<P> {
    /// p_{j−1}, where the step could move.
    p: P,
    /// ‖Proj r_{j−1}‖².
    square: f64,
    /// Whether that step kept the support.
    stayed: bool,
}

/// A step and its β.
struct Step<P> {
    taken: Taken<P>,
    beta: f64,
}

impl Cgiht {
    /// A step along r + β·p from x, where that lowers f. `g_gamma` is −Proj r.
    fn conjugate<P: Point, G: Covector<P>>(
        &self,
        f: &dyn Smooth<P, G>,
        set: &dyn AtomSet<P, G>,
        state: &CgihtState<P>,
        (g, g_gamma): (&G, &P),
    ) -> Option<Step<P>> {
        let (x, past) = (&state.x, state.past.as_ref()?);
        if self.restart == SupportRestart::OnChange && !past.stayed {
            return None;
        }
        let g_gamma = f.at(g_gamma.clone());
        let p_gamma = f.at(projected(f, set, x.point(), &past.p));
        let beta = self.beta(f, x, &g_gamma, &p_gamma, past.square); //    2: β
        if !(beta != 0.0 && beta.is_finite()) {
            return None;
        }
        let mut d = g.clone();
        d.add(-beta, &past.p); //                                          3: −p = −r − β·p₋
        let d_gamma = Evaluated::combine(1.0, &g_gamma, -beta, &p_gamma);
        let curvature = f.curvature_along(x, &d_gamma);
        let alpha = g_gamma.point().dot(d_gamma.point()) / curvature; //        4: α
        if !(curvature > 0.0 && alpha > 0.0 && alpha.is_finite()) {
            return None;
        }
        let g_t = d.on(&set.expand(&d, &x.point().support()));
        let v = P::combine(1.0, x.point(), -alpha, &g_t);
        let x_next = f.at(set.project(v)); //                              5, 6: x⁺ = Π_k(x + α·p)
        let objective = f.value(&x_next);
        (objective < state.objective).then_some(Step { taken: Taken { x_next, objective, mu: alpha, g_t }, beta })
    }

    fn beta<P: Point, G: Covector<P>>(
        &self,
        f: &dyn Smooth<P, G>,
        x: &Evaluated<P>,
        g_gamma: &Evaluated<P>,
        p_gamma: &Evaluated<P>,
        square: f64,
    ) -> f64 {
        match self.restart {
            // −⟨A·r, A·p⟩/‖A·p‖² with r = −g
            SupportRestart::Never => f.bend_between(x, g_gamma, p_gamma) / f.curvature_along(x, p_gamma),
            SupportRestart::OnChange => g_gamma.point().norm().powi(2) / square,
        }
    }
}

/// p on the support of x; for matrices on the tangent space there.
fn projected<P: Point, G: Covector<P>>(f: &dyn Smooth<P, G>, set: &dyn AtomSet<P, G>, x: &P, p: &P) -> P {
    match set.structure() {
        Structure::Coordinates => p.on(&x.support()),
        Structure::RankOne => {
            let mut covector = f.new_covector();
            covector.add(1.0, p);
            covector.on(&set.expand(&covector, &x.support()))
        }
    }
}

impl<P: Point, G: Covector<P>> Algorithm<P, G> for Cgiht {
    type State = CgihtState<P>;
    type Subject = dyn AtomSet<P, G>;

    fn start(&self, f: &dyn Smooth<P, G>, set: &Self::Subject, x0: P) -> Result<Self::State, Error> {
        self.base.check()?;
        let x = f.at(set.project(x0));
        let objective = f.value(&x);
        Ok(CgihtState { x, objective, past: None })
    }

    fn query<'s>(&self, state: &'s Self::State) -> &'s Evaluated<P> {
        &state.x
    }

    fn advance(&self, f: &dyn Smooth<P, G>, set: &Self::Subject, state: &mut Self::State, g: &G) -> Progress {
        let along = restricted(set, state.x.point(), g);
        let (gamma, square) = (along.gamma(state.x.point()), along.g_gamma.norm().powi(2));
        let step = match self.conjugate(f, set, state, (g, &along.g_gamma)) {
            Some(step) => step,
            None => match self.base.step_along(f, set, &state.x, along) {
                Ok(taken) => Step { taken, beta: 0.0 },
                Err(still) => {
                    state.past = None;
                    return still;
                }
            },
        };
        let Step { taken: Taken { x_next, objective, mu, g_t }, beta } = step;
        let progress = Progress::moved(objective, x_next.point(), state.x.point());
        let stayed = x_next.point().support().entered_since(&gamma) == 0;
        let p = P::combine(-1.0, &g_t, 0.0, &g_t);
        *state = CgihtState { x: x_next, objective, past: Some(Past { p, square, stayed }) };
        Progress { step: mu, momentum: beta, ..progress }
    }

    fn restart(&self, state: &mut Self::State) {
        state.past = None;
    }
}
