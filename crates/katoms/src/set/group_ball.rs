//! The atomic ball of groups, which may overlap.

use super::groups::{check_group_weights, check_members};
use super::{LinearMinimize, ball_threshold, check_radius, filled_with_zero};
use crate::error::Error;
use crate::linalg::norm;
use crate::space::{Point, SparseVec};

/// Rounds of the latent norm, and the relative decrease that ends them.
const ROUNDS: usize = 2000;
const TOLERANCE: f64 = 1e-13;

/// {x : Ω(x) ≤ λ}, where Ω(x) = min Σ_G w_G·‖v_G‖₂ over all x = Σ_G v_G with v_G zero outside of G: the
/// latent group norm of Obozinski, Jacob and Vert, "Group Lasso with Overlaps: the Latent Group Lasso
/// approach" (2011). For disjoint groups it is the group Lasso's norm. The vertices are λ/w_G·u for unit
/// vectors u on one group. Coordinates in no group are 0.
///
/// ```
/// use katoms::set::{GroupBall, LinearMinimize};
/// let ball = GroupBall::new(10.0, 4, vec![vec![0, 1, 2], vec![2, 3]])?;
/// let s = ball.argmin(&vec![0.0, 0.0, 3.0, -4.0]);
/// assert_eq!(s.to_dense(), [0.0, 0.0, -6.0, 8.0]);
/// assert!((ball.norm(&s) - 10.0).abs() < 1e-12);
/// # Ok::<(), katoms::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct GroupBall {
    radius: f64,
    dim: usize,
    members: Vec<Vec<usize>>,
    /// The groups of each coordinate.
    groups_of: Vec<Vec<usize>>,
    weights: Vec<f64>,
}

impl GroupBall {
    /// Groups given by their members; an index may belong to many groups or to none. All weights are 1.
    ///
    /// # Errors
    /// When the radius is not positive and finite, a group is empty, or an index is outside or stands twice
    /// in one group.
    pub fn new(radius: f64, dim: usize, mut members: Vec<Vec<usize>>) -> Result<Self, Error> {
        check_members(dim, &mut members)?;
        check_radius(radius)?;
        let mut groups_of = vec![Vec::new(); dim];
        for (group, indices) in members.iter().enumerate() {
            indices.iter().for_each(|&i| groups_of[i].push(group));
        }
        let weights = vec![1.0; members.len()];
        Ok(Self { radius, dim, members, groups_of, weights })
    }

    /// Disjoint groups given by the label of each coordinate. They are numbered in the order in which
    /// their labels first appear.
    ///
    /// # Errors
    /// When there are no labels or the radius is not positive and finite.
    pub fn from_labels<T: Ord>(radius: f64, labels: &[T]) -> Result<Self, Error> {
        let groups = super::Groups::from_labels(1, labels)?;
        Self::new(radius, labels.len(), groups.members().to_vec())
    }

    /// The same groups with these w_G.
    ///
    /// # Errors
    /// When their number is wrong or one is not positive and finite.
    pub fn weighted(self, weights: Vec<f64>) -> Result<Self, Error> {
        check_group_weights(&weights, self.members.len())?;
        Ok(Self { weights, ..self })
    }

    /// The same groups with w_G = √|G|: large groups pay for their size.
    pub fn weighted_by_size(self) -> Self {
        let weights = self.members.iter().map(|g| (g.len() as f64).sqrt()).collect();
        Self { weights, ..self }
    }

    /// λ.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// The length of the vectors.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// The members of each group, rising.
    pub fn members(&self) -> &[Vec<usize>] {
        &self.members
    }

    /// Whether no two groups share a coordinate.
    pub fn is_disjoint(&self) -> bool {
        self.groups_of.iter().all(|groups| groups.len() <= 1)
    }

    /// Ω of what x has in the groups. Exact for disjoint groups. Otherwise never too small, and too large by
    /// rounding where the iteration settles. O(total size of the groups) a round.
    pub fn norm(&self, x: &SparseVec) -> f64 {
        self.sizes(&self.latent(x)).iter().sum()
    }

    /// The nearest point of the ball where the groups are disjoint. Where they overlap: x scaled into the
    /// ball, which is not the nearest. What lies in no group is left out.
    pub fn project(&self, x: &SparseVec) -> SparseVec {
        let parts = self.inside(x);
        let terms: Vec<(f64, &SparseVec)> = parts.iter().map(|(_, part)| (1.0, part)).collect();
        SparseVec::sum(self.dim, &terms)
    }

    /// The v_G that are not zero of a point of the ball: the projection's, or the scaled point's.
    fn inside(&self, x: &SparseVec) -> Vec<(usize, SparseVec)> {
        let latent = self.latent(x);
        let sizes = self.sizes(&latent);
        let total: f64 = sizes.iter().sum();
        let norms: Vec<f64> = sizes.iter().zip(&latent).map(|(s, (group, _))| s / self.weights[*group]).collect();
        let weight = |p: usize| self.weights[latent[p].0];
        let theta = if self.is_disjoint() { ball_threshold(&norms, weight, self.radius) } else { 0.0 };
        let share = |p: usize| match () {
            () if total <= self.radius => 1.0,
            () if theta > 0.0 => (1.0 - theta * weight(p) / norms[p]).max(0.0),
            () => self.radius / total,
        };
        let scaled = |(p, (group, part)): (usize, &(usize, SparseVec))| {
            Some((*group, SparseVec::combine(share(p), part, 0.0, part))).filter(|_| share(p) > 0.0)
        };
        latent.iter().enumerate().filter_map(scaled).collect()
    }

    /// w_G·‖v_G‖.
    fn sizes(&self, latent: &[(usize, SparseVec)]) -> Vec<f64> {
        latent.iter().map(|(group, part)| self.weights[*group] * part.norm()).collect()
    }

    /// x = Σ_G v_G with the least Σ w_G·‖v_G‖: the groups with their v_G, those of zeros left out.
    ///
    /// 2Ω(x) = min over η ≥ 0 of Σᵢ xᵢ²/Σ_{G∋i} η_G + Σ_G w_G²·η_G. The two minimisations in turn, over the
    /// parts v_G = x·η_G/Σ η on G and over η_G = ‖v_G‖/w_G, never raise the norm.
    fn latent(&self, x: &SparseVec) -> Vec<(usize, SparseVec)> {
        let entries: Vec<(usize, f64)> =
            x.entries().filter(|&(i, v)| v != 0.0 && !self.groups_of[i].is_empty()).collect();
        let mut eta = vec![1.0; self.members.len()];
        let mut before = f64::INFINITY;
        for _ in 0..if self.is_disjoint() { 1 } else { ROUNDS } {
            let norms = self.part_norms(&entries, &eta);
            let total: f64 = norms.iter().zip(&self.weights).map(|(n, w)| n * w).sum();
            eta = norms.iter().zip(&self.weights).map(|(n, w)| n / w).collect();
            if !(before - total > TOLERANCE * total) {
                break;
            }
            before = total;
        }
        let mut parts = vec![(Vec::new(), Vec::new()); self.members.len()];
        for &(i, v) in &entries {
            let total: f64 = self.groups_of[i].iter().map(|&g| eta[g]).sum();
            for &g in self.groups_of[i].iter().filter(|&&g| eta[g] > 0.0) {
                parts[g].0.push(i);
                parts[g].1.push(v * (eta[g] / total));
            }
        }
        let filled = parts.into_iter().enumerate().filter(|(_, (indices, _))| !indices.is_empty());
        filled.map(|(g, (indices, values))| (g, SparseVec::sorted(self.dim, indices, values))).collect()
    }

    /// ‖v_G‖ of the parts that η makes.
    fn part_norms(&self, entries: &[(usize, f64)], eta: &[f64]) -> Vec<f64> {
        // Relative to the largest entry: squares neither overflow nor vanish.
        let largest = entries.iter().fold(0.0_f64, |m, e| m.max(e.1.abs()));
        let mut squares = vec![0.0; eta.len()];
        for &(i, v) in entries {
            let total: f64 = self.groups_of[i].iter().map(|&g| eta[g]).sum();
            self.groups_of[i].iter().for_each(|&g| squares[g] += (v / largest * (eta[g] / total)).powi(2));
        }
        squares.into_iter().map(|s| largest * s.sqrt()).collect()
    }
}

impl LinearMinimize<Vec<f64>> for GroupBall {
    type Point = SparseVec;

    fn domain(&self) -> usize {
        self.dim
    }
    /// −λ/w_G·g_G/‖g_G‖ for the group with the largest ‖g_G‖/w_G. O(total size of the groups).
    fn argmin(&self, g: &Vec<f64>) -> SparseVec {
        let on = |group: usize| self.members[group].iter().map(|&i| g[i]).collect::<Vec<f64>>();
        let (mut best, mut score) = (0, 0.0);
        for group in 0..self.members.len() {
            let new = norm(&on(group)) / self.weights[group];
            if new > score {
                (best, score) = (group, new);
            }
        }
        let mut values = on(best);
        let size = norm(&values);
        let length = self.radius / self.weights[best];
        if size > 0.0 {
            values.iter_mut().for_each(|v| *v = -length * (*v / size));
        } else {
            values[0] = length;
        }
        SparseVec::sorted(self.dim, self.members[best].clone(), values)
    }
    /// One vertex for each group of a latent decomposition.
    fn decompose(&self, x: SparseVec) -> Vec<(f64, SparseVec)> {
        let vertex = |(group, part): (usize, SparseVec)| {
            let size = self.weights[group] * part.norm();
            (size / self.radius, SparseVec::combine(self.radius / size, &part, 0.0, &part))
        };
        filled_with_zero(self.inside(&x).into_iter().map(vertex).collect(), SparseVec::zero(self.dim))
    }
}
