//! The same columns for each of several outputs: many responses, or many classes.

use std::borrow::Cow;

use super::{LinearOperator, adjoint_many_outputs};
use crate::error::{Error, check_range};
use crate::space::{IndexSet, SparseVec};

/// An operator with coefficients of their own for each of q outputs: the q predictions of a row are the products of the row
/// with q vectors of coefficients, which stand one after the other, as the predictions do. One pass serves all outputs.
/// Coordinate c·n + j is column j of output c. Views of rows and columns belong inside,
/// [`WithIntercept`](super::WithIntercept) outside.
///
/// ```
/// use katoms::operator::{Dense, LinearOperator, PerOutput};
/// use katoms::space::SparseVec;
/// let design = Dense::column_major(&[1.0, 2.0, 3.0, 4.0], 2, 2)?;
/// let both = PerOutput::new(design, 2)?;
/// // the first output takes the first column, the second one the second
/// let (x, mut predictions) = (SparseVec::new(4, vec![0, 3], vec![1.0, 1.0])?, [0.0; 4]);
/// both.apply(&x, &mut predictions);
/// assert_eq!(predictions, [1.0, 2.0, 3.0, 4.0]);
/// # Ok::<(), katoms::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct PerOutput<A> {
    inner: A,
    outputs: usize,
}

impl<A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>> PerOutput<A> {
    /// For this many outputs.
    ///
    /// # Errors
    /// When there are none.
    pub fn new(inner: A, outputs: usize) -> Result<Self, Error> {
        check_range("the number of outputs", outputs, 1, usize::MAX)?;
        Ok(Self { inner, outputs })
    }

    /// What all outputs look at.
    pub fn inner(&self) -> &A {
        &self.inner
    }

    /// The coordinates of each column: one for each output.
    pub fn groups(&self) -> Vec<Vec<usize>> {
        let n = self.inner.domain();
        (0..n).map(|j| (0..self.outputs).map(|c| c * n + j).collect()).collect()
    }

    /// What each output sees of residuals.
    fn parts<'r>(&self, rs: &[&'r [f64]]) -> Vec<&'r [f64]> {
        let m = self.inner.n_outputs();
        rs.iter().flat_map(|r| (0..self.outputs).map(move |c| &r[c * m..][..m])).collect()
    }

    /// The columns of a support, over all outputs.
    fn columns(&self, t: &IndexSet) -> IndexSet {
        let n = self.inner.domain();
        IndexSet::new(n, t.indices().iter().map(|j| j % n).collect())
    }
}

/// The coefficients that output c has for n columns.
pub(crate) fn of_output(x: &SparseVec, c: usize, n: usize) -> SparseVec {
    let [first, end] = [c * n, (c + 1) * n].map(|end| x.indices().partition_point(|&j| j < end));
    let indices = x.indices()[first..end].iter().map(|j| j - c * n).collect();
    SparseVec::sorted(n, indices, x.values()[first..end].to_vec())
}

impl<A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>> LinearOperator for PerOutput<A> {
    type Point = SparseVec;
    type Covector = Vec<f64>;
    type Base = A::Base;

    fn base(&self) -> &A::Base {
        self.inner.base()
    }

    fn domain(&self) -> usize {
        self.inner.domain() * self.outputs
    }
    fn n_outputs(&self) -> usize {
        self.inner.n_outputs() * self.outputs
    }
    fn new_covector(&self) -> Vec<f64> {
        vec![0.0; self.domain()]
    }
    fn apply(&self, x: &SparseVec, out: &mut [f64]) {
        let (n, m) = (self.inner.domain(), self.inner.n_outputs());
        for (c, out) in (0..self.outputs).zip(out.chunks_mut(m.max(1))) {
            self.inner.apply(&of_output(x, c, n), out);
        }
    }
    fn adjoint(&self, r: &[f64], out: &mut Vec<f64>) {
        self.adjoint_block(&[r], std::slice::from_mut(out));
    }
    fn adjoint_block(&self, rs: &[&[f64]], out: &mut [Vec<f64>]) {
        adjoint_many_outputs(&vec![self; rs.len()], rs, out);
    }
    fn before_pass<'r>(&self, r: &'r [f64]) -> Cow<'r, [f64]> {
        // Of one output: several have several residuals.
        self.inner.before_pass(r)
    }
    fn after_pass(&self, r: &[f64], g: &mut Vec<f64>) {
        self.inner.after_pass(r, g);
    }
    fn residuals_of_pass<'r>(&self, r: &'r [f64]) -> Vec<Cow<'r, [f64]>> {
        self.parts(&[r]).into_iter().map(|r| self.inner.before_pass(r)).collect()
    }
    fn joined_after_pass(&self, r: &[f64], parts: Vec<Vec<f64>>) -> Vec<f64> {
        let own = self.parts(&[r]).into_iter().zip(parts);
        let pulled = own.map(|(r, mut g)| {
            self.inner.after_pass(r, &mut g);
            g
        });
        pulled.collect::<Vec<_>>().concat()
    }
    fn fetch(&self, t: &IndexSet) {
        self.inner.fetch(&self.columns(t));
    }
    fn adjoint_on(&self, r: &[f64], t: &IndexSet) -> SparseVec {
        self.adjoint_block_on(&[r], t).swap_remove(0)
    }
    fn adjoint_block_on(&self, rs: &[&[f64]], t: &IndexSet) -> Vec<SparseVec> {
        let n = self.inner.domain();
        let pulled = self.inner.adjoint_block_on(&self.parts(rs), &self.columns(t));
        let of = |pulled: &[SparseVec]| {
            let values = t.indices().iter().map(|&j| pulled[j / n].value_at(j % n)).collect();
            SparseVec::sorted(n * self.outputs, t.indices().to_vec(), values)
        };
        pulled.chunks(self.outputs).map(of).collect()
    }
    fn squared_norms(&self, weights: &[&[f64]], centres: Option<&[f64]>) -> Option<Vec<Vec<f64>>> {
        let Some(centres) = centres else {
            let squares = self.inner.squared_norms(&self.parts(weights), None)?;
            return Some(squares.chunks(self.outputs).map(<[Vec<f64>]>::concat).collect());
        };
        let mut all = vec![Vec::new(); weights.len()];
        for (c, centres) in centres.chunks(self.inner.domain().max(1)).enumerate() {
            let own: Vec<&[f64]> = self.parts(weights).into_iter().skip(c).step_by(self.outputs).collect();
            let squares = self.inner.squared_norms(&own, Some(centres))?;
            for (((all, squares), weights), own) in all.iter_mut().zip(squares).zip(weights).zip(own) {
                // On the rows of other outputs a column is zero.
                let others = weights.iter().sum::<f64>() - own.iter().sum::<f64>();
                all.extend(squares.iter().zip(centres).map(|(square, centre)| square + others * centre * centre));
            }
        }
        Some(all)
    }
    fn apply_covector(&self, g: &Vec<f64>, out: &mut [f64]) {
        let (n, m) = (self.inner.domain().max(1), self.inner.n_outputs().max(1));
        for (g, out) in g.chunks(n).zip(out.chunks_mut(m)) {
            self.inner.apply_covector(&g.to_vec(), out);
        }
    }
    fn outputs(&self) -> usize {
        self.outputs
    }
    fn column_of(&self, j: usize) -> (usize, usize) {
        (j % self.inner.domain(), j / self.inner.domain())
    }
    fn has_cheap_columns(&self) -> bool {
        self.inner.has_cheap_columns()
    }
}
