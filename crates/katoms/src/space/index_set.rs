//! A set of features: the coordinate subspace that a sparse vector lives in.

use serde::{Deserialize, Serialize};

use super::{SparseVec, Subspace};

/// Indices in rising order, each once, out of `0..dim`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexSet {
    dim: usize,
    indices: Vec<usize>,
}

impl IndexSet {
    /// The set of these indices; order and repetitions do not matter.
    ///
    /// # Panics
    /// When an index is not below `dim`.
    pub fn new(dim: usize, mut indices: Vec<usize>) -> Self {
        indices.sort_unstable();
        indices.dedup();
        assert!(indices.last().is_none_or(|&i| i < dim), "an index is outside 0..{dim}");
        Self { dim, indices }
    }

    /// The size of the space.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// The indices, rising.
    pub fn indices(&self) -> &[usize] {
        &self.indices
    }

    /// Whether `index` is in the set. O(log n).
    pub fn contains(&self, index: usize) -> bool {
        self.indices.binary_search(&index).is_ok()
    }

    /// The set of the marked indices.
    pub(crate) fn marked(marks: &[bool]) -> Self {
        let indices = marks.iter().enumerate().filter(|(_, marked)| **marked).map(|(i, _)| i).collect();
        Self { dim: marks.len(), indices }
    }

    /// self ∪ other. O(|self| + |other|).
    pub fn union(&self, other: &Self) -> Self {
        let (mut a, mut b) = (self.indices.as_slice(), other.indices.as_slice());
        let mut indices = Vec::with_capacity(a.len() + b.len());
        while let (Some(&i), Some(&j)) = (a.first(), b.first()) {
            indices.push(i.min(j));
            a = &a[usize::from(i <= j)..];
            b = &b[usize::from(j <= i)..];
        }
        indices.extend_from_slice(a);
        indices.extend_from_slice(b);
        Self { dim: self.dim, indices }
    }

    /// self \ other.
    pub fn without(&self, other: &Self) -> Self {
        let indices = self.indices.iter().copied().filter(|&i| !other.contains(i)).collect();
        Self { dim: self.dim, indices }
    }
}

impl Subspace<SparseVec> for IndexSet {
    fn dimension(&self) -> usize {
        self.indices.len()
    }
    fn basis(&self, i: usize) -> SparseVec {
        SparseVec::sorted(self.dim, vec![self.indices[i]], vec![1.0])
    }
    fn point(&self, coordinates: &[f64]) -> SparseVec {
        SparseVec::sorted(self.dim, self.indices.clone(), coordinates.to_vec())
    }
    fn coordinates(&self, x: &SparseVec) -> Vec<f64> {
        self.indices.iter().map(|&i| x.value_at(i)).collect()
    }
    fn entered_since(&self, before: &Self) -> usize {
        self.without(before).indices.len()
    }
    fn places_in(&self, other: &Self) -> Option<Vec<Option<usize>>> {
        Some(self.indices.iter().map(|i| other.indices.binary_search(i).ok()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_union_is_what_either_holds() {
        for (a, b) in [(0b0, 0b0), (0b1011, 0b0), (0b0, 0b110), (0b1011, 0b1110), (0b1, 0b10000), (0b11111, 0b11111)] {
            let set = |bits: usize| IndexSet::new(5, (0..5).filter(|i| bits >> i & 1 == 1).collect());
            assert_eq!(set(a).union(&set(b)), set(a | b));
            let marks: Vec<bool> = (0..5).map(|i| a >> i & 1 == 1).collect();
            assert_eq!(IndexSet::marked(&marks), set(a));
        }
    }
}
