//! A model with what the chosen columns leave of every other one: exact gains.
//!
//! | | code | |
//! |---|---|---|
//! | q | `pending` | a direction that came to the chosen columns' span, or left it |
//! | Φᵀq | `products` | |
//! | ‖P⊥φ_j‖² | `schur` | falls by (φ_jᵀq)² when q comes, rises by it when q goes |
//!
//! The residual falls by (qᵀe)·q when q comes. So two successive gradients hold Φᵀq: g⁺ − g = (qᵀe)·Φᵀq,
//! and no pass is made for it. Where qᵀe is too small for that, or several directions changed, one pass
//! brings all of their products.
//!
//! The curvature of a loss that is not quadratic changes with x. There everything is measured afresh at
//! each model, which is two more passes: the gain is the second-order one, as in a score test.

use serde::{Deserialize, Serialize};

use super::frame::{Direction, Frame};
use super::model::{Model, Problem};
use super::schur::Schur;

/// (qᵀe)² above this share of ‖e‖² at x = 0 leaves enough digits to a difference of gradients.
const TELLING: f64 = 1e-10;

/// Where a greedy method stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GreedyState {
    pub(super) model: Model,
    pub(super) schur: Schur,
    /// What the Schur complements do not know yet.
    pending: Vec<Direction>,
    /// ∇f before the last move; empty before the first.
    gradient: Vec<f64>,
}

impl GreedyState {
    /// The minimum over these atoms, and the norms of the columns there: they stay. One pass.
    pub(super) fn with_norms(problem: &Problem<'_>, chosen: Vec<usize>) -> Self {
        let (model, _) = Model::start(problem, chosen);
        let schur = Schur::of_norms(problem, problem.f.curvature(&model.x).bound());
        Self { model, schur, pending: Vec::new(), gradient: Vec::new() }
    }

    /// The same, to be kept up with the model. One pass; one more at the first move if there are atoms or something is kept.
    pub(super) fn residualised(problem: &Problem<'_>, chosen: Vec<usize>) -> Self {
        let (model, pending) = Model::start(problem, chosen);
        let schur = Schur::exact(problem, problem.f.curvature(&model.x).bound());
        Self { model, schur, pending, gradient: Vec::new() }
    }

    /// How much f falls by each atom after a refit, where g = ∇f at the model; −∞ for what cannot come.
    pub(super) fn gains(&mut self, problem: &Problem<'_>, g: &[f64]) -> Vec<f64> {
        let f = problem.f;
        let mut pending = std::mem::take(&mut self.pending);
        if !f.loss().is_quadratic() {
            if !self.gradient.is_empty() {
                self.schur = Schur::exact(problem, f.curvature(&self.model.x).bound());
            }
            pending = Frame::around(f, &self.model.x).1;
        }
        let all = match pending.as_slice() {
            [one] if self.is_telling(problem, one) => {
                vec![self.gradient.iter().zip(g).map(|(before, after)| (after - before) / one.share).collect()]
            }
            _ => products(problem, &pending),
        };
        for (direction, p) in pending.iter().zip(&all) {
            self.schur.update(&problem.atoms, p, direction.sign);
        }
        self.gradient = g.to_vec();
        self.schur.gains(problem, g, &self.model)
    }

    /// Lets in the atom of the largest gain; false when none brings anything.
    pub(super) fn grow(&mut self, problem: &Problem<'_>, gains: Vec<f64>) -> bool {
        let came = self.model.grow(problem, gains, self.schur.least());
        came.map(|directions| self.pending.extend(directions)).is_some()
    }

    /// Takes an atom out.
    pub(super) fn leave(&mut self, problem: &Problem<'_>, atom: usize) {
        self.pending.extend(self.model.leave(problem, atom));
    }

    fn is_telling(&self, problem: &Problem<'_>, direction: &Direction) -> bool {
        let known = problem.f.loss().is_quadratic() && !self.gradient.is_empty();
        known && direction.share.powi(2) > 2.0 * TELLING * problem.scale()
    }
}

/// Φᵀq of each direction, in one pass. A coordinate inside is orthogonal to it; that the product of the
/// tops alone says otherwise is the ridge.
fn products(problem: &Problem<'_>, directions: &[Direction]) -> Vec<Vec<f64>> {
    if directions.is_empty() {
        return Vec::new();
    }
    let residuals: Vec<&[f64]> = directions.iter().map(|d| d.residual.as_slice()).collect();
    let mut out = problem.f.adjoint_block(&residuals);
    for (p, direction) in out.iter_mut().zip(directions) {
        direction.inside.iter().for_each(|&i| p[i] = 0.0);
        p[direction.own.0] = direction.own.1;
    }
    out
}
