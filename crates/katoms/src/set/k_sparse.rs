//! At most k nonzero entries.

use super::{Atoms, ConstraintSet, CoordinateSet, Exchange, Expand, Structure};
use crate::error::{Error, check_range};
use crate::linalg::{top_k, top_k_of};
use crate::space::{IndexSet, Point, SparseVec};

/// {x : ‖x‖₀ ≤ k}.
///
/// ```
/// use katoms::set::{ConstraintSet, KSparse};
/// use katoms::space::SparseVec;
/// let set = KSparse::new(2, 4)?;
/// let x = set.project(SparseVec::from_dense(&[1.0, -3.0, 0.0, 2.0]));
/// assert_eq!(x.to_dense(), [0.0, -3.0, 0.0, 2.0]);
/// assert_eq!(KSparse::new(0, 4).unwrap_err().to_string(), "k is 0; it must lie between 1 and 4");
/// # Ok::<(), katoms::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KSparse {
    k: usize,
    dim: usize,
}

impl KSparse {
    /// Vectors of length `dim` with at most `k` entries.
    ///
    /// # Errors
    /// When k is 0 or above `dim`.
    pub fn new(k: usize, dim: usize) -> Result<Self, Error> {
        if dim == 0 {
            return Err(Error::Empty { what: "the space" });
        }
        check_range("k", k, 1, dim)?;
        Ok(Self { k, dim })
    }
}

impl ConstraintSet for KSparse {
    type Point = SparseVec;

    fn domain(&self) -> usize {
        self.dim
    }
    fn atoms(&self) -> usize {
        self.k
    }
    fn with_atoms(&self, k: usize) -> Result<Self, Error> {
        Self::new(k, self.dim)
    }
    fn structure(&self) -> Structure {
        Structure::Coordinates
    }
    /// O(stored entries).
    fn project(&self, v: SparseVec) -> SparseVec {
        if v.indices().len() <= self.k {
            return v;
        }
        let magnitudes: Vec<f64> = v.values().iter().map(|v| v.abs()).collect();
        v.keep(&top_k(&magnitudes, self.k))
    }
}

impl Expand<Vec<f64>> for KSparse {
    /// O(n).
    fn expand(&self, g: &Vec<f64>, u: &IndexSet) -> IndexSet {
        IndexSet::new(self.dim, strongest_outside(g, u, self.k)).union(u)
    }
}

impl Exchange<Vec<f64>> for KSparse {
    fn removals(&self, x: &SparseVec, count: usize) -> Vec<IndexSet> {
        let support = x.support();
        if x.indices().len() < self.k {
            return vec![support];
        }
        let losses: Vec<f64> = x.values().iter().map(|v| -v.abs()).collect();
        let without = |p: usize| support.without(&IndexSet::new(self.dim, vec![x.indices()[p]]));
        strongest(&losses, count).into_iter().map(without).collect()
    }
    fn additions(&self, x: &SparseVec, g: &Vec<f64>, count: usize) -> Vec<IndexSet> {
        let support = x.support();
        let with = |j: usize| support.union(&IndexSet::new(self.dim, vec![j]));
        strongest_outside(g, &support, count).into_iter().map(with).collect()
    }
}

impl CoordinateSet for KSparse {
    fn candidates(&self) -> Atoms {
        Atoms::coordinates(self.dim)
    }
    fn chosen(&self, x: &SparseVec) -> Vec<usize> {
        x.indices().to_vec()
    }
    fn embedded(&self, dim: usize) -> Self {
        Self { dim: dim.max(self.dim), ..self.clone() }
    }
}

/// The `count` coordinates outside `u` with the largest |g|, the largest first. O(n).
fn strongest_outside(g: &[f64], u: &IndexSet, count: usize) -> Vec<usize> {
    let fill = |first: usize, out: &mut [f64]| {
        out.iter_mut().zip(&g[first..]).for_each(|(score, v)| *score = v.abs());
        let before = |end: usize| u.indices().partition_point(|&i| i < end);
        let inside = &u.indices()[before(first)..before(first + out.len())];
        inside.iter().for_each(|&i| out[i - first] = f64::NEG_INFINITY);
    };
    let mut best = top_k_of(g.len(), count, &fill);
    best.retain(|&i| g[i].abs() > 0.0 && !u.contains(i));
    best.sort_by(|&a, &b| g[b].abs().total_cmp(&g[a].abs()));
    best
}

/// The positions of the `count` largest scores, the largest first. O(n + count·log count).
pub(super) fn strongest(scores: &[f64], count: usize) -> Vec<usize> {
    let mut best = top_k(scores, count);
    best.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    best
}
