//! A copy of its coordinates for each group: overlapping groups become disjoint ones, and nothing is copied.
//!
//! Jacob, Obozinski and Vert, "Group Lasso with overlap and graph Lasso" (2009); Obozinski, Jacob and Vert, "Group
//! Lasso with overlaps: the latent group Lasso approach" (2011). There x = Σ v_G, each v_G lives on its group,
//! and Σ w_G‖v_G‖₂ is paid. The support of x is then a union of groups, where the plain sum Σ w_G‖x_G‖₂ would leave a
//! complement of one.

use std::borrow::Cow;

use super::{LinearOperator, Parts, SampledRows, passes_through_base};
use crate::error::Error;
use crate::set::check_members;
use crate::space::{IndexSet, SparseVec};

/// \[A_{G₁} A_{G₂} …\], whose coordinates are the members of the groups, group after group. A column that belongs
/// to several groups is read once. A coordinate in no group has no copy and stays zero.
///
/// ```
/// use std::ops::ControlFlow;
/// use katoms::driver::{Options, solve};
/// use katoms::{Objective, loss::LeastSquares, method::Fista, operator::*, penalty::GroupLasso};
/// let identity = [1.0, 0.0, 0.0,  0.0, 1.0, 0.0,  0.0, 0.0, 1.0];
/// let copies = LatentCopies::new(Dense::column_major(&identity, 3, 3)?, vec![vec![0, 1], vec![1, 2]])?;
/// assert_eq!(copies.groups(), [[0, 1], [2, 3]]);
/// let penalty = GroupLasso::new(0.1, copies.domain(), copies.groups())?;
/// let f = Objective::new(&copies, LeastSquares::new(vec![1.0, 1.0, 0.0])?)?;
/// let outcome = solve(&f, &penalty, &Fista::default(), Options::default(), |_, _| ControlFlow::Continue(()))?;
/// let x = copies.collapse(&outcome.point);
/// assert_eq!(x.indices(), [0, 1]);
/// # Ok::<(), katoms::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct LatentCopies<A> {
    inner: A,
    /// The inner coordinate of each copy.
    origins: Vec<usize>,
    /// Where the copies of each group start; the end comes last.
    starts: Vec<usize>,
}

impl<A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>> LatentCopies<A> {
    /// Groups given by their members; an index may belong to many groups or to none.
    ///
    /// # Errors
    /// When a group is empty, or an index is outside or stands twice in one group.
    pub fn new(inner: A, mut members: Vec<Vec<usize>>) -> Result<Self, Error> {
        check_members(inner.domain(), &mut members)?;
        let mut starts = vec![0];
        starts.extend(members.iter().scan(0, |end, group| {
            *end += group.len();
            Some(*end)
        }));
        Ok(Self { inner, origins: members.concat(), starts })
    }

    /// The copies of each group: disjoint groups of this operator's coordinates.
    pub fn groups(&self) -> Vec<Vec<usize>> {
        self.starts.windows(2).map(|w| (w[0]..w[1]).collect()).collect()
    }

    /// The inner coordinate that each copy stands for.
    pub fn origins(&self) -> &[usize] {
        &self.origins
    }

    /// x = Σ v_G, a point of the inner operator. A coordinate is stored where one of its copies is.
    ///
    /// # Panics
    /// When v has another length than there are copies.
    pub fn collapse(&self, v: &SparseVec) -> SparseVec {
        assert_eq!(v.dim(), self.origins.len(), "the point has another length than there are copies");
        let mut entries: Vec<(usize, f64)> = v.entries().map(|(copy, v)| (self.origins[copy], v)).collect();
        entries.sort_by_key(|e| e.0); // stable: the copies of a coordinate are added in the groups' order
        entries.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
        let (indices, values) = entries.into_iter().unzip();
        SparseVec::sorted(self.inner.domain(), indices, values)
    }

    /// Each copy reads its coordinate.
    fn spread(&self, g: &[f64]) -> Vec<f64> {
        self.origins.iter().map(|&j| g[j]).collect()
    }

    /// The inner coordinates' centres, where all copies of a coordinate agree on it.
    fn common(&self, centres: &[f64]) -> Option<Vec<f64>> {
        let mut common = vec![0.0; self.inner.domain()];
        self.origins.iter().zip(centres).for_each(|(&j, &c)| common[j] = c);
        (self.spread(&common) == centres).then_some(common)
    }
}

impl<A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>> LinearOperator for LatentCopies<A> {
    type Point = SparseVec;
    type Covector = Vec<f64>;
    passes_through_base!();
    fn sampled_rows(&self) -> Option<SampledRows> {
        self.inner.sampled_rows()
    }

    fn domain(&self) -> usize {
        self.origins.len()
    }
    fn n_outputs(&self) -> usize {
        self.inner.n_outputs()
    }
    fn new_covector(&self) -> Vec<f64> {
        vec![0.0; self.domain()]
    }
    fn apply(&self, x: &SparseVec, out: &mut [f64]) {
        self.inner.apply(&self.collapse(x), out);
    }
    fn apply_covector(&self, g: &Vec<f64>, out: &mut [f64]) {
        let mut sums = self.inner.new_covector();
        self.origins.iter().zip(g).for_each(|(&j, g)| sums[j] += g);
        self.inner.apply_covector(&sums, out);
    }
    fn adjoint_on(&self, r: &[f64], t: &IndexSet) -> SparseVec {
        let read = t.indices().iter().map(|&copy| self.origins[copy]).collect();
        let g = self.inner.adjoint_on(r, &IndexSet::new(self.inner.domain(), read));
        let values = t.indices().iter().map(|&copy| g.value_at(self.origins[copy])).collect();
        SparseVec::sorted(self.domain(), t.indices().to_vec(), values)
    }
    fn adjoint_parts(&self, parts: &Parts, rs: &[&[f64]], out: &mut [Vec<Vec<f64>>]) {
        self.inner.adjoint_parts(parts, rs, out);
        out.iter_mut().flatten().for_each(|g| *g = self.spread(g));
    }
    /// `None` as well where two copies of a coordinate have different centres: one read cannot serve both.
    fn squared_norms(&self, weights: &[&[f64]], centres: Option<&[f64]>) -> Option<Vec<Vec<f64>>> {
        let squared_norms = match centres {
            None => self.inner.squared_norms(weights, None)?,
            Some(centres) => self.inner.squared_norms(weights, Some(&self.common(centres)?))?,
        };
        Some(squared_norms.iter().map(|squared_norms| self.spread(squared_norms)).collect())
    }
    fn before_pass<'r>(&self, r: &'r [f64]) -> Cow<'r, [f64]> {
        self.inner.before_pass(r)
    }
    fn after_pass(&self, r: &[f64], g: &mut Vec<f64>) {
        self.inner.after_pass(r, g);
        *g = self.spread(g);
    }
}
