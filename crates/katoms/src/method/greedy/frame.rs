//! The chosen columns, and the way to the minimum of f over them.
//!
//! In the metric of the curvatures h, with the ridge as one more row for each coordinate,
//!
//! | | code | |
//! |---|---|---|
//! | φ̃_j = (√h·φ_j, √λ·e_j) | [`Frame::enter`] | a column |
//! | e = (−∇ℓ/√h, −√λ·x) | [`Frame::step`] | the residual: −∇f(x) = Φ̃ᵀe |
//! | x + R⁻¹·Qᵀe | [`Frame::step`] | the minimum over the chosen coordinates |
//!
//! The step starts from the residual of the point as it is. So it also removes what rounding the steps
//! before it left, and no error builds up.

use serde::{Deserialize, Serialize};

use super::factor::Factor;
use crate::linalg::{dot, solve_symmetric};
use crate::method::smooth::OnVectors;
use crate::objective::Evaluated;
use crate::space::{IndexSet, SparseVec, Subspace};

/// A direction that came to the span of the chosen columns, or left it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Direction {
    /// √h·q: its products with all columns are one pass away.
    pub residual: Vec<f64>,
    /// 1 when it came, −1 when it left.
    pub sign: f64,
    /// The coordinate that brought it or took it away, and their product.
    pub own: (usize, f64),
    /// The other coordinates inside: they are orthogonal to it.
    pub inside: Vec<usize>,
    /// qᵀe when it came: the residual lost share·q.
    pub share: f64,
}

/// The chosen columns in the metric of some curvatures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Frame {
    /// √h.
    roots: Vec<f64>,
    factor: Factor,
    /// The coordinates, in the order of the factor.
    inside: Vec<usize>,
    /// Chosen coordinates that depend on those inside: their coefficients stay where they are.
    pub waiting: Vec<usize>,
}

impl Frame {
    pub fn new(f: &OnVectors<'_>, x: &Evaluated<SparseVec>) -> Self {
        let roots: Vec<f64> = f.curvature(x).bound().iter().map(|h| h.sqrt()).collect();
        let factor = Factor::new(roots.len());
        Self { roots, factor, inside: Vec::new(), waiting: Vec::new() }
    }

    /// The frame of a point's support, from scratch, and its directions. O(m·k²).
    pub fn around(f: &OnVectors<'_>, x: &Evaluated<SparseVec>) -> (Self, Vec<Direction>) {
        let mut frame = Self::new(f, x);
        let directions = x.point().indices().iter().filter_map(|&j| frame.enter(f, j)).collect();
        (frame, directions)
    }

    /// Lets a coordinate in; one that depends on those inside waits. Touches its column.
    pub fn enter(&mut self, f: &OnVectors<'_>, j: usize) -> Option<Direction> {
        let unit = IndexSet::new(f.domain(), vec![j]);
        let top: Vec<f64> = f.at(unit.basis(0)).image().iter().zip(&self.roots).map(|(a, h)| a * h).collect();
        let Some(distance) = self.factor.add(&top, f.ridge_on_basis(&unit, 0).sqrt()) else {
            self.waiting.push(j);
            return None;
        };
        let residual = self.weighted(self.factor.direction(self.inside.len()));
        let inside = self.inside.clone();
        self.inside.push(j);
        Some(Direction { residual, sign: 1.0, own: (j, distance), inside, share: 0.0 })
    }

    pub fn leave(&mut self, j: usize) -> Option<Direction> {
        let place = self.inside.iter().position(|&i| i == j)?;
        let (direction, distance) = self.factor.remove(place);
        self.inside.remove(place);
        let residual = self.weighted(&direction);
        Some(Direction { residual, sign: -1.0, own: (j, distance), inside: self.inside.clone(), share: 0.0 })
    }

    fn weighted(&self, q: &[f64]) -> Vec<f64> {
        q.iter().zip(&self.roots).map(|(q, h)| q * h).collect()
    }

    /// R⁻¹·Qᵀe: the way from x to the minimum over the coordinates inside, and e's part along the last
    /// direction.
    pub fn step(&self, f: &OnVectors<'_>, x: &Evaluated<SparseVec>) -> (SparseVec, f64) {
        let part = |(r, h): (f64, &f64)| if *h > 0.0 { -r / h } else { 0.0 };
        let top: Vec<f64> = f.residual(x).into_iter().zip(&self.roots).map(part).collect();
        let dim = f.domain();
        let root = |j: usize| f.ridge_on_basis(&IndexSet::new(dim, vec![j]), 0).sqrt();
        let tail: Vec<f64> = self.inside.iter().map(|&j| -root(j) * x.point().value_at(j)).collect();
        let along = self.factor.along(&top, &tail);
        let mut entries: Vec<(usize, f64)> =
            self.inside.iter().copied().zip(self.factor.coefficients(&along)).collect();
        entries.sort_by_key(|e| e.0);
        let (indices, values) = entries.into_iter().unzip();
        (SparseVec::sorted(dim, indices, values), along.last().copied().unwrap_or(0.0))
    }

    /// ½·x_Jᵀ·((XᵀX)⁻¹_JJ)⁻¹·x_J: what the coordinates J of x are worth.
    pub fn removal_cost(&self, coordinates: &[usize], x: &SparseVec) -> f64 {
        let places: Vec<usize> = (0..self.inside.len()).filter(|&p| coordinates.contains(&self.inside[p])).collect();
        if places.is_empty() {
            return 0.0;
        }
        let values: Vec<f64> = places.iter().map(|&p| x.value_at(self.inside[p])).collect();
        let pull = solve_symmetric(&self.factor.inverse_gram(&places), &values);
        0.5 * dot(&values, &pull)
    }
}
