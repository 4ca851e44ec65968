//! ECME thresholding with double over-relaxation: K. Qiu and A. Dogandžić, "ECME thresholding methods for sparse signal
//! reconstruction" (2010) and "Sparse signal reconstruction via ECME hard thresholding", IEEE Trans. Signal
//! Process. 60 (2012).
//!
//! minimise ½(y − Φx)ᵀ(ΦΦᵀ)⁻¹(y − Φx) subject to x being made of at most k atoms.
//!
//! | paper | code | |
//! |---|---|---|
//! | s⁽ᵖ⁾, s⁽ᵖ⁻¹⁾ | `x`, `before` | the last two iterates |
//! | y − Hs, (HHᵀ)⁻¹(y − Hs) | `residual`, `solved` | of each of them |
//! | s̄ = T_r(s + Hᵀ(HHᵀ)⁻¹(y − Hs)) | `bar` | the ECME step: it needs no step size |
//! | α₁, α₂, z̃ | `over_relaxed` | two line searches |
//! | s̃ | `tilde` | z̃, thresholded |
//!
//! The rows are decorrelated: what falls in every iteration is that weighted sum of squares, not f. Both are zero
//! at the same points. On correlated *columns* this helps little; on rows of unequal scale it does.
//!
//! How (ΦΦᵀ)⁻¹ is applied is the price of the method: [`Frame`] has three ways. An iteration needs it twice, and costs two
//! passes beside that: the driver's, which is not used, and the direction. On a tight frame it costs the driver's alone.
//!
//! It serves least squares without ridge; with weights the residual is the unweighted one.

use serde::{Deserialize, Serialize};

use super::frame::{Frame, Inverse};
use crate::error::Error;
use crate::linalg;
use crate::method::smooth::{Algorithm, AtomSet, Smooth};
use crate::method::{Move, Progress, relative_change};
use crate::objective::Evaluated;
use crate::space::{Covector, Point};

/// ECME hard thresholding, over-relaxed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EcmeDore {
    /// How (ΦΦᵀ)⁻¹ is applied. Default: by conjugate residuals, to 1e-8.
    pub frame: Frame,
}

impl Default for EcmeDore {
    fn default() -> Self {
        Self { frame: Frame::General { tolerance: 1e-8 } }
    }
}

/// Where ECME thresholding stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "P: Point")]
pub struct EcmeState<P> {
    x: Seen<P>,
    before: Seen<P>,
    inverse: Inverse,
}

/// A point with y − Φx and (ΦΦᵀ)⁻¹(y − Φx). All three are affine in x.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "P: Point")]
struct Seen<P> {
    x: Evaluated<P>,
    residual: Vec<f64>,
    solved: Vec<f64>,
}

impl<P: Point> Seen<P> {
    /// The weighted sum of squares.
    fn objective(&self) -> f64 {
        0.5 * linalg::dot(&self.residual, &self.solved)
    }

    /// The best point on the line from `from` through this one.
    fn over_relaxed(&self, from: &Self) -> Self {
        let d = linalg::combine(1.0, &self.solved, -1.0, &from.solved);
        let curvature = linalg::dot(&d, &linalg::combine(1.0, &self.residual, -1.0, &from.residual));
        let alpha = if curvature > 0.0 { -linalg::dot(&d, &self.residual) / curvature } else { 0.0 };
        Self {
            x: Evaluated::combine(1.0 + alpha, &self.x, -alpha, &from.x),
            residual: linalg::combine(1.0 + alpha, &self.residual, -alpha, &from.residual),
            solved: linalg::combine(1.0 + alpha, &self.solved, -alpha, &from.solved),
        }
    }
}

/// A point with its residual and what the inverse makes of it.
fn see<P: Point, G: Covector<P>>(f: &dyn Smooth<P, G>, x: Evaluated<P>, inverse: &Inverse) -> Seen<P> {
    let unweighted = |(g, h): (&f64, &f64)| if *h > 0.0 { -g / h } else { 0.0 };
    let residual: Vec<f64> = f.residual(&x).iter().zip(f.curvature(&x).bound()).map(unweighted).collect();
    let solved = inverse.times(f, &residual);
    Seen { x, residual, solved }
}

impl EcmeDore {
    fn check<P: Point, G: Covector<P>>(f: &dyn Smooth<P, G>) -> Result<(), Error> {
        // A row that counts nothing would still be a row of Φ.
        let counts = |x: &Evaluated<P>| f.curvature(x).bound().iter().all(|h| *h > 0.0);
        let zero = || f.at(P::zero(f.domain()));
        if f.loss().is_quadratic() && f.ridge_weight() == 0.0 && counts(&zero()) {
            return Ok(());
        }
        Err(Error::Unsuitable {
            method: "ECME thresholding",
            needs: "least squares without a ridge and without rows of weight 0; NormalisedIht serves every loss",
        })
    }

    /// Φᵀ(ΦΦᵀ)⁻¹(y − Φx) with the opposite sign. No pass where that is a multiple of ∇f, which `g` holds.
    fn direction<P: Point, G: Covector<P>>(f: &dyn Smooth<P, G>, state: &EcmeState<P>, g: &G) -> (G, f64) {
        let h = f.curvature(&state.x.x);
        let h = h.bound();
        if let Inverse::Scale(scale) = state.inverse
            && h.iter().all(|v| *v == h[0] && *v > 0.0)
        {
            return (g.clone(), scale / h[0]);
        }
        (f.adjoint_block(&[&state.x.solved]).swap_remove(0), -1.0)
    }
}

impl<P: Point, G: Covector<P>> Algorithm<P, G> for EcmeDore {
    type State = EcmeState<P>;
    type Subject = dyn AtomSet<P, G>;

    fn start(&self, f: &dyn Smooth<P, G>, set: &Self::Subject, x0: P) -> Result<Self::State, Error> {
        Self::check(f)?;
        let inverse = self.frame.inverse(f)?;
        let x = see(f, f.at(set.project(x0)), &inverse);
        Ok(EcmeState { before: x.clone(), x, inverse })
    }

    fn query<'s>(&self, state: &'s Self::State) -> &'s Evaluated<P> {
        &state.x.x
    }

    fn advance(&self, f: &dyn Smooth<P, G>, set: &Self::Subject, state: &mut Self::State, g: &G) -> Progress {
        let x = &state.x;
        let (direction, length) = Self::direction(f, state, g);
        let d_t = direction.on(&set.expand(&direction, &x.x.point().support()));
        let v = P::combine(1.0, x.x.point(), -length, &d_t);
        let bar = see(f, f.at(set.project(v)), &state.inverse); //                step 1: s̄
        if bar.x.point() == x.x.point() {
            return Progress::still(f.value(&x.x), Move::Fixed);
        }
        let z = bar.over_relaxed(x).over_relaxed(&state.before); //                  steps 2 and 3: z̃
        let tilde = see(f, f.at(set.project(z.x.into_point())), &state.inverse); //step 4: s̃
        let next = if tilde.objective() < bar.objective() { tilde } else { bar }; // step 5: the better one
        let moved = Progress { step: length.abs(), ..Progress::moved(f.value(&next.x), next.x.point(), x.x.point()) };
        if !(next.objective() <= x.objective()) {
            let change = relative_change(next.x.point(), x.x.point());
            return Progress { change, ..Progress::still(f.value(&x.x), Move::Stalled) };
        }
        state.before = std::mem::replace(&mut state.x, next);
        moved
    }

    fn restart(&self, state: &mut Self::State) {
        state.before = state.x.clone();
    }
}
