//! At most k disjoint groups of coordinates.

use super::k_sparse::strongest;
use super::{Atoms, ConstraintSet, CoordinateSet, Exchange, Expand, Guarantee, Structure};
use crate::error::{Error, check_length, check_range, check_values};
use crate::linalg::top_k;
use crate::space::{IndexSet, Point, SparseVec};

/// {x : the nonzeros of x lie in at most k of the groups}.
///
/// Groups are ranked by squared norm × weight. Coordinates in no group are never selected.
///
/// ```
/// use katoms::set::{ConstraintSet, Groups};
/// use katoms::space::SparseVec;
/// let set = Groups::from_labels(1, &["a", "b", "a", "b"])?;
/// let x = set.project(SparseVec::from_dense(&[2.0, 2.5, 2.0, 0.0]));
/// assert_eq!(x.to_dense(), [2.0, 0.0, 2.0, 0.0]);
/// # Ok::<(), katoms::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Groups {
    k: usize,
    dim: usize,
    members: Vec<Vec<usize>>,
    /// The group of each coordinate.
    group_of: Vec<Option<usize>>,
    weights: Vec<f64>,
}

impl Groups {
    /// Groups given by their members, in any order and of any sizes.
    ///
    /// # Errors
    /// When a group is empty, an index is outside or stands twice, or k is out of range.
    pub fn new(k: usize, dim: usize, mut members: Vec<Vec<usize>>) -> Result<Self, Error> {
        check_members(dim, &mut members)?;
        let group_of = group_of_each(dim, &members)?;
        check_range("k", k, 1, members.len())?;
        let weights = vec![1.0; members.len()];
        Ok(Self { k, dim, members, group_of, weights })
    }

    /// Groups given by the label of each coordinate. They are numbered in the order in which
    /// their labels first appear.
    ///
    /// # Errors
    /// When there are no labels or k is out of range.
    pub fn from_labels<T: Ord>(k: usize, labels: &[T]) -> Result<Self, Error> {
        let mut number = std::collections::BTreeMap::new();
        let mut members: Vec<Vec<usize>> = Vec::new();
        for (index, label) in labels.iter().enumerate() {
            let group = *number.entry(label).or_insert_with(|| {
                members.push(Vec::new());
                members.len() - 1
            });
            members[group].push(index);
        }
        Self::new(k, labels.len(), members)
    }

    /// The same groups, ranked by squared norm × weight: 1/size makes large groups earn their size.
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

    /// Weight × squared norm of each group in some entries.
    fn scores(&self, entries: impl Iterator<Item = (usize, f64)>) -> Vec<f64> {
        let mut scores = vec![0.0; self.members.len()];
        for (i, v) in entries {
            if let Some(group) = self.group_of[i] {
                scores[group] += v * v;
            }
        }
        scores.iter_mut().zip(&self.weights).for_each(|(s, w)| *s *= w);
        scores
    }

    /// Which groups a support touches.
    fn touched(&self, u: &IndexSet) -> Vec<bool> {
        let mut touched = vec![false; self.members.len()];
        u.indices().iter().filter_map(|&i| self.group_of[i]).for_each(|g| touched[g] = true);
        touched
    }

    /// The `count` groups with the largest scores in g among those that `admitted` allows, the largest
    /// first. O(n).
    fn strongest(&self, g: &[f64], count: usize, admitted: impl Fn(usize) -> bool) -> Vec<usize> {
        let mut scores = self.scores(g.iter().copied().enumerate());
        (0..scores.len()).filter(|&group| !admitted(group)).for_each(|group| scores[group] = f64::NEG_INFINITY);
        let mut best = strongest(&scores, count);
        best.retain(|&group| scores[group] > 0.0);
        best
    }

    fn indices_of(&self, groups: &[usize]) -> IndexSet {
        IndexSet::new(self.dim, groups.iter().flat_map(|&g| self.members[g].iter().copied()).collect())
    }
}

/// The group of each coordinate, where groups share none.
pub(crate) fn group_of_each(dim: usize, members: &[Vec<usize>]) -> Result<Vec<Option<usize>>, Error> {
    let mut group_of = vec![None; dim];
    for (group, indices) in members.iter().enumerate() {
        for &index in indices {
            if let Some(first) = group_of[index].replace(group) {
                return Err(Error::SharedIndex { index, first, second: group });
            }
        }
    }
    Ok(group_of)
}

/// Sorts each group and refuses what cannot be one.
pub(crate) fn check_members(dim: usize, members: &mut [Vec<usize>]) -> Result<(), Error> {
    if dim == 0 || members.is_empty() {
        return Err(Error::Empty { what: "the list of groups" });
    }
    for (group, indices) in members.iter_mut().enumerate() {
        indices.sort_unstable();
        if indices.is_empty() {
            return Err(Error::EmptyGroup { group });
        }
        if let Some(&index) = indices.iter().find(|&&i| i >= dim) {
            return Err(Error::GroupIndex { group, index, bound: dim });
        }
        if let Some(w) = indices.windows(2).find(|w| w[0] == w[1]) {
            return Err(Error::RepeatedInGroup { group, index: w[0] });
        }
    }
    Ok(())
}

pub(super) fn check_group_weights(weights: &[f64], groups: usize) -> Result<(), Error> {
    check_length("group weights", weights.len(), groups, "one for each group")?;
    let positive = |w: f64| w.is_finite() && w > 0.0;
    check_values("group weights", weights, "every weight must be finite and above 0", positive)
}

/// w_min/w_max.
pub(super) fn weight_ratio(weights: &[f64]) -> f64 {
    let (least, most) = weights.iter().fold((f64::INFINITY, 0.0_f64), |(a, b), &w| (a.min(w), b.max(w)));
    least / most
}

impl ConstraintSet for Groups {
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
    /// O(stored entries + number of groups).
    fn project(&self, v: SparseVec) -> SparseVec {
        let mut kept = vec![false; self.members.len()];
        let touched = self.touched(&v.support());
        let mut scores = self.scores(v.entries());
        scores.iter_mut().zip(touched).filter(|(_, t)| !t).for_each(|(s, _)| *s = f64::NEG_INFINITY);
        for group in top_k(&scores, self.k) {
            kept[group] = scores[group] >= 0.0;
        }
        let inside = |&p: &usize| self.group_of[v.indices()[p]].is_some_and(|g| kept[g]);
        v.keep(&(0..v.indices().len()).filter(inside).collect::<Vec<_>>())
    }
    /// Exact without weights. With weights the kept weighted squared norm is the largest, so the kept squared norm is
    /// at least w_min/w_max of the largest.
    fn guarantee(&self) -> Guarantee {
        match weight_ratio(&self.weights) {
            1.0 => Guarantee::Exact,
            ratio => Guarantee::Energy(ratio),
        }
    }
}

impl Expand<Vec<f64>> for Groups {
    /// O(n).
    fn expand(&self, g: &Vec<f64>, u: &IndexSet) -> IndexSet {
        // A group that u holds in part competes with the rest of it: a warm start may need it.
        let mut rest = g.clone();
        u.indices().iter().for_each(|&i| rest[i] = 0.0);
        self.indices_of(&self.strongest(&rest, self.k, |_| true)).union(u)
    }
}

impl Exchange<Vec<f64>> for Groups {
    fn removals(&self, x: &SparseVec, count: usize) -> Vec<IndexSet> {
        let support = x.support();
        let touched = self.touched(&support);
        let inside: Vec<usize> = (0..touched.len()).filter(|&group| touched[group]).collect();
        if inside.len() < self.k {
            return vec![support];
        }
        let squared_norms = self.scores(x.entries());
        let losses: Vec<f64> = inside.iter().map(|&group| -squared_norms[group]).collect();
        let without = |p: usize| support.without(&self.indices_of(&[inside[p]]));
        strongest(&losses, count).into_iter().map(without).collect()
    }
    fn additions(&self, x: &SparseVec, g: &Vec<f64>, count: usize) -> Vec<IndexSet> {
        let support = x.support();
        let touched = self.touched(&support);
        let best = self.strongest(g, count, |group| !touched[group]);
        best.into_iter().map(|group| support.union(&self.indices_of(&[group]))).collect()
    }
}

impl CoordinateSet for Groups {
    fn candidates(&self) -> Atoms {
        Atoms::groups(&self.members, false)
    }
    fn chosen(&self, x: &SparseVec) -> Vec<usize> {
        let touched = self.touched(&x.support());
        (0..touched.len()).filter(|&group| touched[group]).collect()
    }
    fn embedded(&self, dim: usize) -> Self {
        let mut set = self.clone();
        set.dim = dim.max(self.dim);
        set.group_of.resize(set.dim, None);
        set
    }
}
