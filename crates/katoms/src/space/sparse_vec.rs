//! A vector with few stored entries.

use serde::{Deserialize, Serialize};

use super::{Covector, IndexSet, Point};
use crate::error::{Error, check_indices, check_length, check_values};
use crate::linalg;
use crate::linalg::kernels::axpy;
use crate::linalg::parallel;

/// Entries that one task adds up.
const CHUNK: usize = 1 << 14;

/// A vector of length `dim` that stores some entries, in rising order of their index.
///
/// A stored entry may be zero: the support is what was *selected*, not what happens to be
/// nonzero.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SparseVec {
    dim: usize,
    indices: Vec<usize>,
    values: Vec<f64>,
}

impl SparseVec {
    /// A vector from its entries, given in any order.
    ///
    /// # Errors
    /// When lengths disagree, an index is outside or repeated, or a value is not finite.
    ///
    /// ```
    /// use katoms::space::SparseVec;
    /// let x = SparseVec::new(5, vec![3, 0], vec![2.0, -1.0])?;
    /// assert_eq!(x.to_dense(), [-1.0, 0.0, 0.0, 2.0, 0.0]);
    /// # Ok::<(), katoms::Error>(())
    /// ```
    pub fn new(dim: usize, indices: Vec<usize>, values: Vec<f64>) -> Result<Self, Error> {
        check_length("values", values.len(), indices.len(), "one for each index")?;
        check_indices("index", &indices, dim)?;
        check_values("values", &values, "every value must be finite", f64::is_finite)?;
        let mut entries: Vec<(usize, f64)> = indices.into_iter().zip(values).collect();
        entries.sort_by_key(|e| e.0);
        if let Some(w) = entries.windows(2).find(|w| w[0].0 == w[1].0) {
            return Err(Error::RepeatedIndex { index: w[0].0 });
        }
        let (indices, values) = entries.into_iter().unzip();
        Ok(Self { dim, indices, values })
    }

    /// A vector whose indices are known to be in order, each below `dim`.
    pub(crate) fn sorted(dim: usize, indices: Vec<usize>, values: Vec<f64>) -> Self {
        debug_assert!(indices.windows(2).all(|w| w[0] < w[1]));
        debug_assert_eq!(indices.len(), values.len());
        Self { dim, indices, values }
    }

    /// The stored entries that are not zero, of a dense vector.
    pub fn from_dense(values: &[f64]) -> Self {
        let kept = values.iter().enumerate().filter(|(_, v)| **v != 0.0);
        let (indices, kept) = kept.map(|(i, v)| (i, *v)).unzip();
        Self { dim: values.len(), indices, values: kept }
    }

    /// Every entry of a dense vector, zeros included.
    pub fn full(values: &[f64]) -> Self {
        Self { dim: values.len(), indices: (0..values.len()).collect(), values: values.to_vec() }
    }

    /// All entries, zeros included. O(dim).
    pub fn to_dense(&self) -> Vec<f64> {
        let mut out = vec![0.0; self.dim];
        for (i, v) in self.entries() {
            out[i] = v;
        }
        out
    }

    /// The length of the vector.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// The stored indices, rising.
    pub fn indices(&self) -> &[usize] {
        &self.indices
    }

    /// The stored values, in the order of the indices.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The stored (index, value) pairs.
    pub fn entries(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.indices.iter().copied().zip(self.values.iter().copied())
    }

    /// One entry, 0 where nothing is stored. O(log stored).
    pub fn value_at(&self, index: usize) -> f64 {
        self.indices.binary_search(&index).map_or(0.0, |p| self.values[p])
    }

    /// The same entries with the values `f(index, value)`.
    pub fn map(&self, f: impl Fn(usize, f64) -> f64) -> Self {
        let values = self.entries().map(|(i, v)| f(i, v)).collect();
        Self { values, ..self.clone() }
    }

    /// The stored entries at the positions `kept` (rising) of the stored list.
    pub(crate) fn keep(&self, kept: &[usize]) -> Self {
        let indices = kept.iter().map(|&p| self.indices[p]).collect();
        let values = kept.iter().map(|&p| self.values[p]).collect();
        Self::sorted(self.dim, indices, values)
    }
}

impl Point for SparseVec {
    type Domain = usize;
    type Support = IndexSet;
    type Search = IndexSet;

    fn zero(dim: usize) -> Self {
        Self { dim, indices: Vec::new(), values: Vec::new() }
    }
    fn domain(&self) -> usize {
        self.dim
    }
    fn support(&self) -> IndexSet {
        IndexSet::new(self.dim, self.indices.clone())
    }
    fn support_size(&self) -> usize {
        self.indices.len()
    }
    fn combine(a: f64, x: &Self, b: f64, y: &Self) -> Self {
        if b == 0.0 {
            return x.map(|_, v| a * v);
        }
        if a == 0.0 {
            return y.map(|_, v| b * v);
        }
        let mut out = Self::zero(x.dim);
        let (mut left, mut right) = (x.entries().peekable(), y.entries().peekable());
        loop {
            let (index, value) = match (left.peek().copied(), right.peek().copied()) {
                (None, None) => return out,
                (Some((i, v)), None) => (i, a * v),
                (None, Some((j, w))) => (j, b * w),
                (Some((i, v)), Some((j, w))) => match i.cmp(&j) {
                    std::cmp::Ordering::Less => (i, a * v),
                    std::cmp::Ordering::Greater => (j, b * w),
                    std::cmp::Ordering::Equal => (i, a * v + b * w),
                },
            };
            left.next_if(|e| e.0 == index);
            right.next_if(|e| e.0 == index);
            out.indices.push(index);
            out.values.push(value);
        }
    }
    /// O(stored entries of all terms, sorted).
    fn sum(dim: usize, terms: &[(f64, &Self)]) -> Self {
        let kept = terms.iter().filter(|(a, _)| *a != 0.0);
        let mut entries: Vec<(usize, f64)> =
            kept.flat_map(|&(a, x)| x.entries().map(move |(i, v)| (i, a * v))).collect();
        // Stable: equal indices are added in the order of the terms.
        entries.sort_by_key(|e| e.0);
        let mut out = Self::zero(dim);
        for (index, value) in entries {
            match (out.indices.last(), out.values.last_mut()) {
                (Some(&last), Some(total)) if last == index => *total += value,
                _ => {
                    out.indices.push(index);
                    out.values.push(value);
                }
            }
        }
        out
    }
    fn dot(&self, other: &Self) -> f64 {
        self.entries().map(|(i, v)| v * other.value_at(i)).sum()
    }
    fn norm(&self) -> f64 {
        linalg::norm(&self.values)
    }
    fn on(&self, t: &IndexSet) -> Self {
        let kept: Vec<usize> = (0..self.indices.len()).filter(|&p| t.contains(self.indices[p])).collect();
        self.keep(&kept)
    }
}

impl Covector<SparseVec> for Vec<f64> {
    fn on(&self, t: &IndexSet) -> SparseVec {
        let values = t.indices().iter().map(|&i| self[i]).collect();
        SparseVec::sorted(t.dim(), t.indices().to_vec(), values)
    }
    fn add(&mut self, a: f64, x: &SparseVec) {
        for (i, v) in x.entries() {
            self[i] += a * v;
        }
    }
    fn add_covector(&mut self, a: f64, other: &Self) {
        parallel::chunks_mut(self, CHUNK, &|chunk, own| axpy(a, &other[chunk * CHUNK..][..own.len()], own));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn combine_is_a_sum_and_a_zero_coefficient_drops_the_atoms() {
        let x = SparseVec::new(6, vec![1, 4], vec![1.0, 2.0]).unwrap();
        let y = SparseVec::new(6, vec![0, 4, 5], vec![3.0, 1.0, -1.0]).unwrap();
        let z = SparseVec::combine(2.0, &x, -1.0, &y);
        assert_eq!(z.to_dense(), [-3.0, 2.0, 0.0, 0.0, 3.0, 1.0]);
        assert_eq!(SparseVec::combine(1.0, &x, 0.0, &y), x);
        let sum = SparseVec::sum(6, &[(2.0, &x), (-1.0, &y)]);
        assert_eq!(sum, z);
        assert_eq!(SparseVec::sum(6, &[(1.0, &x), (0.0, &y)]), x);
        assert_eq!(SparseVec::sum(6, &[]), SparseVec::zero(6));
        assert_eq!(x.dot(&y), 2.0);
        assert_eq!(x.distance(&y), (9.0_f64 + 1.0 + 1.0 + 1.0).sqrt());
    }

    #[test]
    fn bad_entries_are_named() {
        let outside = SparseVec::new(3, vec![1, 3], vec![0.0, 1.0]).unwrap_err();
        assert_eq!(outside, Error::Index { what: "index", position: 1, index: 3, bound: 3 });
        assert!(SparseVec::new(3, vec![1, 1], vec![0.0, 1.0]).is_err());
        assert!(SparseVec::new(3, vec![1], vec![f64::NAN]).is_err());
    }
}
