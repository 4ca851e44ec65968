//! Atoms that are always selected and do not count.

use super::{Atoms, ConstraintSet, CoordinateSet, Exchange, Expand, Guarantee, Structure};
use crate::error::{Error, check_indices};
use crate::linalg::parallel;
use crate::space::{IndexSet, Point, SparseVec, Subspace};

/// The inner set on all coordinates but the given ones, which are free. An intercept is one.
///
/// ```
/// use katoms::set::{Always, ConstraintSet, KSparse};
/// use katoms::space::SparseVec;
/// let set = Always::new(KSparse::new(1, 4)?, vec![3])?;
/// let x = set.project(SparseVec::from_dense(&[1.0, -2.0, 0.0, 0.1]));
/// assert_eq!(x.to_dense(), [0.0, -2.0, 0.0, 0.1]);
/// # Ok::<(), katoms::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Always<S> {
    inner: S,
    kept: IndexSet,
}

impl<S: ConstraintSet<Point = SparseVec>> Always<S> {
    /// A set in which these coordinates are always selected.
    ///
    /// # Errors
    /// When a coordinate is outside, or no other is left.
    pub fn new(inner: S, always: Vec<usize>) -> Result<Self, Error> {
        check_indices("always-selected index", &always, inner.domain())?;
        let kept = IndexSet::new(inner.domain(), always);
        if inner.domain() == kept.indices().len() {
            return Err(Error::Empty { what: "the list of atoms that are not always selected" });
        }
        Ok(Self { inner, kept })
    }

    /// A vector split into what is free and what the inner set constrains.
    fn split(&self, v: &SparseVec) -> (SparseVec, SparseVec) {
        (v.on(&self.kept), v.on(&v.support().without(&self.kept)))
    }

    /// The gradient without what is always selected: the inner set must not choose it.
    fn without_kept(&self, g: &[f64]) -> Vec<f64> {
        let mut g = parallel::copied(g);
        self.kept.indices().iter().for_each(|&i| g[i] = 0.0);
        g
    }
}

impl<S: CoordinateSet> Always<S> {
    /// The set with one more coordinate behind its own, which is always selected: the set that goes
    /// with [`WithIntercept`](crate::operator::WithIntercept).
    pub fn intercept(inner: &S) -> Self {
        Self::intercepts(inner, 1)
    }

    /// The same with so many coordinates behind its own, one for each output.
    pub fn intercepts(inner: &S, outputs: usize) -> Self {
        let (at, end) = (inner.domain(), inner.domain() + outputs);
        Self { inner: inner.embedded(end), kept: IndexSet::new(end, (at..end).collect()) }
    }
}

impl<S: ConstraintSet<Point = SparseVec>> ConstraintSet for Always<S> {
    type Point = SparseVec;

    fn domain(&self) -> usize {
        self.inner.domain()
    }
    fn atoms(&self) -> usize {
        self.inner.atoms()
    }
    fn with_atoms(&self, k: usize) -> Result<Self, Error> {
        Ok(Self { inner: self.inner.with_atoms(k)?, kept: self.kept.clone() })
    }
    fn structure(&self) -> Structure {
        self.inner.structure()
    }
    /// What is always selected is in the support, also where v has nothing there.
    fn project(&self, v: SparseVec) -> SparseVec {
        let (_, counted) = self.split(&v);
        let free = self.kept.point(&self.kept.coordinates(&v));
        SparseVec::combine(1.0, &self.inner.project(counted), 1.0, &free)
    }
    fn guarantee(&self) -> Guarantee {
        self.inner.guarantee()
    }
}

impl<S: Expand<Vec<f64>, Point = SparseVec>> Expand<Vec<f64>> for Always<S> {
    fn expand(&self, g: &Vec<f64>, u: &IndexSet) -> IndexSet {
        let counted = u.without(&self.kept);
        self.inner.expand(&self.without_kept(g), &counted).union(&self.kept)
    }
}

impl<S: Exchange<Vec<f64>, Point = SparseVec>> Exchange<Vec<f64>> for Always<S> {
    fn removals(&self, x: &SparseVec, count: usize) -> Vec<IndexSet> {
        let (_, counted) = self.split(x);
        self.inner.removals(&counted, count).iter().map(|t| t.union(&self.kept)).collect()
    }
    fn additions(&self, x: &SparseVec, g: &Vec<f64>, count: usize) -> Vec<IndexSet> {
        let (_, counted) = self.split(x);
        let proposals = self.inner.additions(&counted, &self.without_kept(g), count);
        proposals.iter().map(|t| t.union(&self.kept)).collect()
    }
}

impl<S: CoordinateSet> CoordinateSet for Always<S> {
    fn candidates(&self) -> Atoms {
        self.inner.candidates().without(&self.kept)
    }
    fn kept(&self) -> IndexSet {
        self.inner.kept().union(&self.kept)
    }
    fn chosen(&self, x: &SparseVec) -> Vec<usize> {
        self.inner.chosen(&self.split(x).1)
    }
    fn embedded(&self, dim: usize) -> Self {
        let dim = dim.max(self.domain());
        Self { inner: self.inner.embedded(dim), kept: IndexSet::new(dim, self.kept.indices().to_vec()) }
    }
}
