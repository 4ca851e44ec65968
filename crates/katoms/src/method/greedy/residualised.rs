//! A model with what the chosen columns leave of every other one: exact gains.
//!
//! | | code | |
//! |---|---|---|
//! | q | `pending` | a direction that came to the chosen columns' span, or left it |
//! | Φᵀq | `products` | |
//! | ‖P⊥φ_j‖² | `rooms` | falls by (φ_jᵀq)² when q comes, rises by it when q goes |
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
use super::rooms::Rooms;
use crate::loss::Loss;
use crate::operator::{LinearOperator, adjoint_many};
use crate::space::SparseVec;

/// (qᵀe)² above this share of ‖e‖² at x = 0 leaves enough digits to a difference of gradients.
const TELLING: f64 = 1e-10;

/// A model and the room of every atom outside.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Residualised {
    pub model: Model,
    rooms: Rooms,
    /// What the rooms do not know yet.
    pending: Vec<Direction>,
    /// ∇f before the last move; empty before the first.
    gradient: Vec<f64>,
}

impl Residualised {
    /// The minimum over these atoms. One pass; one more at the first move if there are atoms or something is kept.
    pub fn start<A, L>(problem: &Problem<'_, A, L>, chosen: Vec<usize>) -> Self
    where
        A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
        L: Loss,
    {
        let (model, pending) = Model::start(problem, chosen);
        let rooms = Rooms::exact(problem, &problem.f.curvatures(&model.x));
        Self { model, rooms, pending, gradient: Vec::new() }
    }

    /// How much f falls by each atom, where g = ∇f at the model; −∞ for what cannot come.
    pub fn gains<A, L>(&mut self, problem: &Problem<'_, A, L>, g: &[f64]) -> Vec<f64>
    where
        A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
        L: Loss,
    {
        self.catch_up(problem, g);
        self.rooms.gains(problem, g, &self.model)
    }

    /// Lets in the atom of the largest gain; false when none brings anything.
    pub fn grow<A, L>(&mut self, problem: &Problem<'_, A, L>, gains: Vec<f64>) -> bool
    where
        A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
        L: Loss,
    {
        let came = self.model.grow(problem, gains, self.rooms.least());
        came.map(|directions| self.pending.extend(directions)).is_some()
    }

    /// Takes an atom out.
    pub fn leave<A, L>(&mut self, problem: &Problem<'_, A, L>, atom: usize)
    where
        A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
        L: Loss,
    {
        self.pending.extend(self.model.leave(problem, atom));
    }

    /// Tells the rooms what came and went.
    fn catch_up<A, L>(&mut self, problem: &Problem<'_, A, L>, g: &[f64])
    where
        A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
        L: Loss,
    {
        let f = problem.f;
        let mut pending = std::mem::take(&mut self.pending);
        if !f.loss().is_quadratic() && !self.gradient.is_empty() {
            self.rooms = Rooms::exact(problem, &f.curvatures(&self.model.x));
        }
        if !f.loss().is_quadratic() {
            pending = Frame::around(f, &self.model.x).1;
        }
        let all = match pending.as_slice() {
            [one] if self.is_telling(problem, one) => {
                vec![self.gradient.iter().zip(g).map(|(before, after)| (after - before) / one.share).collect()]
            }
            _ => products(problem, &pending),
        };
        for (direction, p) in pending.iter().zip(&all) {
            self.rooms.update(&problem.atoms, p, direction.sign);
        }
        self.gradient = g.to_vec();
    }

    fn is_telling<A, L>(&self, problem: &Problem<'_, A, L>, direction: &Direction) -> bool
    where
        A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
        L: Loss,
    {
        let known = problem.f.loss().is_quadratic() && !self.gradient.is_empty();
        known && direction.share.powi(2) > 2.0 * TELLING * problem.scale()
    }
}

/// Φᵀq of each direction, in one pass. A coordinate inside is orthogonal to it; that the product of the
/// tops alone says otherwise is the ridge.
fn products<A, L>(problem: &Problem<'_, A, L>, directions: &[Direction]) -> Vec<Vec<f64>>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
{
    if directions.is_empty() {
        return Vec::new();
    }
    let operator = problem.f.operator();
    let residuals: Vec<&[f64]> = directions.iter().map(|d| d.residual.as_slice()).collect();
    let mut out: Vec<Vec<f64>> = directions.iter().map(|_| operator.new_covector()).collect();
    adjoint_many(&vec![operator; residuals.len()], &residuals, &mut out);
    problem.f.count_pass();
    for (p, direction) in out.iter_mut().zip(directions) {
        direction.inside.iter().for_each(|&i| p[i] = 0.0);
        p[direction.own.0] = direction.own.1;
    }
    out
}
