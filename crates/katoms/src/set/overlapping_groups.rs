//! At most k groups that may share coordinates.
//!
//! The nearest point is NP-hard to find (it is maximum coverage). The greedy projection of Jain,
//! Rao and Dhillon (2016) takes k times the group with the largest squared norm that is left, and keeps
//! at least 1 − 1/e of the best possible squared norm.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::groups::{check_group_weights, check_members, weight_ratio};
use super::k_sparse::strongest;
use super::{Atoms, ConstraintSet, CoordinateSet, Exchange, Expand, Guarantee, Structure};
use crate::error::{Error, check_range};
use crate::space::{IndexSet, Point, SparseVec};

/// {x : the nonzeros of x lie in the union of at most k of the groups}.
///
/// ```
/// use katoms::set::{ConstraintSet, OverlappingGroups};
/// use katoms::space::SparseVec;
/// let set = OverlappingGroups::new(1, 4, vec![vec![0, 1, 2], vec![2, 3]])?;
/// let x = set.project(SparseVec::from_dense(&[1.0, 1.0, 2.0, 2.0]));
/// assert_eq!(x.to_dense(), [0.0, 0.0, 2.0, 2.0]);
/// # Ok::<(), katoms::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct OverlappingGroups {
    k: usize,
    dim: usize,
    members: Vec<Vec<usize>>,
    weights: Vec<f64>,
}

/// A group with the squared norm it had when it was last looked at. Energies only fall, so a group whose
/// fresh squared norm still tops the heap is the best one: most groups are never looked at again.
struct Candidate {
    score: f64,
    group: usize,
    looked_at: usize,
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then(other.group.cmp(&self.group))
    }
}
impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Candidate {}

impl OverlappingGroups {
    /// Groups given by their members; an index may belong to many groups or to none.
    ///
    /// # Errors
    /// When a group is empty, an index is outside or stands twice in one group, or k is out of range.
    pub fn new(k: usize, dim: usize, mut members: Vec<Vec<usize>>) -> Result<Self, Error> {
        check_members(dim, &mut members)?;
        check_range("k", k, 1, members.len())?;
        let weights = vec![1.0; members.len()];
        Ok(Self { k, dim, members, weights })
    }

    /// The same groups, ranked by squared norm × weight.
    ///
    /// # Errors
    /// When their number is wrong or one is not positive and finite.
    pub fn weighted(self, weights: Vec<f64>) -> Result<Self, Error> {
        check_group_weights(&weights, self.members.len())?;
        Ok(Self { weights, ..self })
    }

    /// The members of each group, rising.
    pub fn members(&self) -> &[Vec<usize>] {
        &self.members
    }

    /// The groups of the greedy cover of `squared norm`, in the order in which they were taken, at most
    /// `count`. `squared norm` loses what was covered. Near-linear in the total group size.
    pub fn greedy_cover(&self, squared_norm: &mut [f64], count: usize) -> Vec<usize> {
        let fresh = |group| Candidate { score: self.score(squared_norm, group), group, looked_at: 0 };
        let mut heap: BinaryHeap<Candidate> = (0..self.members.len()).map(fresh).collect();
        let mut taken = Vec::new();
        while let Some(best) = heap.pop() {
            if taken.len() == count || best.score <= 0.0 {
                break;
            }
            if best.looked_at < taken.len() {
                let score = self.score(squared_norm, best.group);
                heap.push(Candidate { score, looked_at: taken.len(), ..best });
                continue;
            }
            self.members[best.group].iter().for_each(|&i| squared_norm[i] = 0.0);
            taken.push(best.group);
        }
        taken
    }

    /// Weight × squared norm of a group.
    fn score(&self, squared_norm: &[f64], group: usize) -> f64 {
        self.weights[group] * self.members[group].iter().map(|&i| squared_norm[i]).sum::<f64>()
    }

    fn dense_energy(&self, entries: impl Iterator<Item = (usize, f64)>) -> Vec<f64> {
        let mut squared_norm = vec![0.0; self.dim];
        entries.for_each(|(i, v)| squared_norm[i] = v * v);
        squared_norm
    }

    /// Marked, not sorted: the squared norms that led to the groups are as long already.
    fn indices_of(&self, groups: &[usize]) -> IndexSet {
        let mut marks = vec![false; self.dim];
        groups.iter().flat_map(|&g| &self.members[g]).for_each(|&i| marks[i] = true);
        IndexSet::marked(&marks)
    }
}

impl ConstraintSet for OverlappingGroups {
    type Point = SparseVec;

    fn domain(&self) -> usize {
        self.dim
    }
    fn atoms(&self) -> usize {
        self.k
    }
    fn with_atoms(&self, k: usize) -> Result<Self, Error> {
        check_range("k", k, 1, self.members.len())?;
        Ok(Self { k, ..self.clone() })
    }
    fn structure(&self) -> Structure {
        Structure::Coordinates
    }
    fn project(&self, v: SparseVec) -> SparseVec {
        let cover = self.greedy_cover(&mut self.dense_energy(v.entries()), self.k);
        let kept = self.indices_of(&cover);
        v.on(&kept)
    }
    /// 1 − 1/e without weights. With weights a greedy choice gains at least w_min/w_max = c of the best
    /// one's squared norm, which leaves 1 − exp(−c).
    fn guarantee(&self) -> Guarantee {
        Guarantee::Energy(1.0 - (-weight_ratio(&self.weights)).exp())
    }
}

impl Expand<Vec<f64>> for OverlappingGroups {
    fn expand(&self, g: &Vec<f64>, u: &IndexSet) -> IndexSet {
        let mut squared_norm = self.dense_energy(g.iter().copied().enumerate());
        u.indices().iter().for_each(|&i| squared_norm[i] = 0.0);
        let cover = self.greedy_cover(&mut squared_norm, self.k);
        self.indices_of(&cover).union(u)
    }
}

impl Exchange<Vec<f64>> for OverlappingGroups {
    fn removals(&self, x: &SparseVec, count: usize) -> Vec<IndexSet> {
        let cover = self.greedy_cover(&mut self.dense_energy(x.entries()), self.k);
        // Stored zeros outside of the cover are no group's: kept, they would be atoms beyond k.
        let support = x.on(&self.indices_of(&cover)).support();
        if cover.len() < self.k {
            return vec![support];
        }
        // What leaves with a group are the coordinates that no other chosen group holds.
        let own = |&group: &usize| {
            let others: Vec<usize> = cover.iter().copied().filter(|&other| other != group).collect();
            support.without(&self.indices_of(&others))
        };
        let alone: Vec<IndexSet> = cover.iter().map(own).collect();
        let squared_norm = |out: &IndexSet| out.indices().iter().map(|&i| x.value_at(i).powi(2)).sum::<f64>();
        let losses: Vec<f64> = alone.iter().zip(&cover).map(|(out, &g)| -self.weights[g] * squared_norm(out)).collect();
        strongest(&losses, count).into_iter().map(|p| support.without(&alone[p])).collect()
    }
    fn additions(&self, x: &SparseVec, g: &Vec<f64>, count: usize) -> Vec<IndexSet> {
        let support = x.support();
        let mut squared_norm = self.dense_energy(g.iter().copied().enumerate());
        support.indices().iter().for_each(|&i| squared_norm[i] = 0.0);
        let scores: Vec<f64> = (0..self.members.len()).map(|group| self.score(&squared_norm, group)).collect();
        let best = strongest(&scores, count).into_iter().filter(|&group| scores[group] > 0.0);
        best.map(|group| support.union(&self.indices_of(&[group]))).collect()
    }
}

impl CoordinateSet for OverlappingGroups {
    fn candidates(&self) -> Atoms {
        Atoms::groups(&self.members, true)
    }
    /// A greedy cover of the point's entries.
    fn chosen(&self, x: &SparseVec) -> Vec<usize> {
        let mut cover = self.greedy_cover(&mut self.dense_energy(x.entries()), self.k);
        cover.sort_unstable();
        cover
    }
    fn embedded(&self, dim: usize) -> Self {
        Self { dim: dim.max(self.dim), ..self.clone() }
    }
}
