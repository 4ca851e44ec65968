//! A penalised objective, restricted to a working set of coordinates: its minimum without a pass.

use serde::{Deserialize, Serialize};

use super::local_model::{LocalModel, bring, point};
use super::newton;
use super::working::{Place, SLACK, Working};
use crate::method::smooth::OnVectors;
use crate::objective::Evaluated;
use crate::penalty::{L1, Penalty};
use crate::space::{Point, SparseVec};

/// Sums of numbers of this size are known up to this share of it.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// The working set W, and the best point found on it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Restricted {
    members: Vec<usize>,
    /// Whether a coordinate need not be looked at any more: a member, or a column of zeros.
    inside: Vec<bool>,
    /// The Gram matrix on W, where the loss is quadratic.
    kept: Option<Working>,
    x: Evaluated<SparseVec>,
}

/// A point with its objective, and how far that is from the minimum at most.
pub(crate) struct Proven {
    pub(crate) point: SparseVec,
    pub(crate) objective: f64,
    pub(crate) gap: f64,
}

/// Where the search for the minimum on W stands.
#[derive(Debug, Clone)]
pub(crate) struct Standpoint {
    x: Evaluated<SparseVec>,
    place: Option<Place>,
}

impl Standpoint {
    /// The point.
    pub(crate) fn x(&self) -> &Evaluated<SparseVec> {
        &self.x
    }
}

impl Restricted {
    /// W is what is free and the support of x0, and the point is x0. Touches the columns of W.
    pub(crate) fn new(f: &OnVectors<'_>, penalty: &L1, x0: SparseVec) -> Self {
        let n = penalty.domain();
        let first: Vec<usize> = (0..n).filter(|&j| penalty.price(j) == 0.0 || x0.value_at(j) != 0.0).collect();
        let kept = f.loss().is_quadratic().then(Working::default);
        let mut new = Self { members: Vec::new(), inside: vec![false; n], kept, x: f.at(x0) };
        new.admit(f, penalty, &first);
        if let Some(working) = &mut new.kept {
            working.go_to(|j| new.x.point().value_at(j));
        }
        new
    }

    /// The point.
    pub(crate) fn x(&self) -> &Evaluated<SparseVec> {
        &self.x
    }

    /// The size of W.
    pub(crate) fn size(&self) -> usize {
        self.members.len()
    }

    /// Where it stands.
    pub(crate) fn standpoint(&self) -> Standpoint {
        Standpoint { x: self.x.clone(), place: self.kept.as_ref().map(Working::place) }
    }

    /// Goes back to where it stood; W stays.
    pub(crate) fn return_to(&mut self, standpoint: Standpoint) {
        self.x = standpoint.x;
        if let (Some(working), Some(place)) = (&mut self.kept, standpoint.place) {
            working.return_to(place);
        }
    }

    /// Takes coordinates into W. Touches their columns and those of W once for every [`HELD`] of them.
    pub(crate) fn admit(&mut self, f: &OnVectors<'_>, penalty: &L1, coordinates: &[usize]) {
        let new: Vec<usize> = coordinates.iter().copied().filter(|&j| !self.inside[j]).collect();
        new.iter().for_each(|&j| self.inside[j] = true);
        if let Some(working) = &mut self.kept {
            bring(f, &LocalModel::around(f, &self.x, 0.0), penalty, &new, working);
        }
        self.members.extend(new);
    }

    /// The minimum over W, where the loss is quadratic; otherwise a point within about `accuracy` of it.
    pub(crate) fn minimize(&mut self, f: &OnVectors<'_>, penalty: &L1, accuracy: f64) {
        match &mut self.kept {
            Some(working) => {
                working.minimize(penalty.lambda());
                self.x = f.at(point(penalty.domain(), working));
            }
            None => self.x = newton::minimize(f, penalty, &self.members, &self.x, accuracy),
        }
    }

    /// The minimum over W with its objective and its gap, where W is everything and the loss is quadratic:
    /// then the Gram matrix is all there is to know, and no row is touched. `None` elsewhere.
    ///
    /// With r = ∇ℓ(Ax) and c = f(0), Fenchel's bound at s·r is
    /// c − ½s²·xᵀGx − s(1 − s)·bᵀx − (1 − s)²·(c − min ℓ).
    pub(crate) fn proven(&mut self, f: &OnVectors<'_>, penalty: &L1) -> Option<Proven> {
        let working = self.kept.as_mut().filter(|_| self.inside.iter().all(|inside| *inside))?;
        working.minimize(penalty.lambda());
        let n = penalty.domain();
        let mut gradient = vec![0.0; n];
        working.gradient().for_each(|(j, g)| gradient[j] = g);
        let s = 1.0 / penalty.polar(&gradient).max(1.0);
        let (square, linear) = working.forms();
        let constant = f.value(&f.at(SparseVec::zero(n)));
        let point = point(n, working);
        let objective = constant + 0.5 * square - linear + penalty.value(&point);
        let left = (1.0 - s).powi(2) * (constant - f.lower_bound());
        let bound = constant - 0.5 * s * s * square - s * (1.0 - s) * linear - left;
        // All digits above the residual cancel: with a free intercept and a target far from zero, nearly all.
        let rounding = ROUNDING * (constant.abs() + square.abs() + linear.abs());
        Some(Proven { point, objective, gap: (objective - bound).max(0.0) + rounding })
    }

    /// At most so many coordinates outside of W whose gradient exceeds this share of their price, the
    /// strongest first. O(n).
    pub(crate) fn exceeding(&self, penalty: &L1, g: &[f64], share: f64, most: usize) -> Vec<usize> {
        let strength = |j: usize| g[j].abs() / penalty.price(j);
        let outside = (0..g.len()).filter(|&j| !self.inside[j] && strength(j) > share);
        let mut exceeding: Vec<(f64, usize)> = outside.map(|j| (strength(j), j)).collect();
        exceeding.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        exceeding.truncate(most);
        exceeding.into_iter().map(|(_, j)| j).collect()
    }

    /// Those whose price does not hold them at zero.
    pub(crate) fn violators(&self, penalty: &L1, g: &[f64], most: usize) -> Vec<usize> {
        self.exceeding(penalty, g, 1.0 + SLACK, most)
    }
}
