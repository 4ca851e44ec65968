//! Two designs side by side: the columns of one, then those of the other.

use super::{ColumnMoments, ColumnSize, LinearOperator, Moments, Parts, SampledRows, is_its_own_base};
use crate::error::{Error, check_length};
use crate::space::{IndexSet, SparseVec};

/// \[A, B\]: a large design, and a few columns of another storage behind it. Copies nothing.
///
/// ```
/// use katoms::operator::{Beside, Dense, Genotypes, LinearOperator};
/// let variants = Genotypes::new(vec![0b11_10_00], 3, 1)?; // 2, 1 and no copies
/// let ages = Dense::column_major(vec![40.0, 50.0, 60.0], 3, 1)?;
/// let mut g = Vec::new();
/// Beside::new(variants, ages)?.adjoint(&[1.0, 1.0, 0.0], &mut g);
/// assert_eq!(g, [3.0, 90.0]);
/// # Ok::<(), katoms::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Beside<A, B> {
    left: A,
    right: B,
    /// Columns whose squares leave the range of double precision.
    extremes: Vec<ColumnSize>,
}

impl<A, B> Beside<A, B>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    B: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
{
    /// The columns of `left`, then those of `right`.
    ///
    /// # Errors
    /// When they differ in their rows.
    pub fn new(left: A, right: B) -> Result<Self, Error> {
        check_length("design on the right", right.n_outputs(), left.n_outputs(), "one row for each of the left one's")?;
        let moved = |extreme: &ColumnSize| ColumnSize { column: left.domain() + extreme.column, ..*extreme };
        let extremes = left.extremes().iter().copied().chain(right.extremes().iter().map(moved)).collect();
        Ok(Self { left, right, extremes })
    }

    /// The places of a list that belong to the left, and those of the right counted from its first column.
    fn split(&self, indices: &[usize]) -> [IndexSet; 2] {
        let columns = self.left.domain();
        let (left, right) = indices.split_at(indices.partition_point(|&j| j < columns));
        let right = right.iter().map(|j| j - columns).collect();
        [IndexSet::new(columns, left.to_vec()), IndexSet::new(self.right.domain(), right)]
    }

    /// One point of the two designs' points.
    fn joined(&self, left: &SparseVec, right: &SparseVec) -> SparseVec {
        let columns = self.left.domain();
        let indices = left.indices().iter().copied().chain(right.indices().iter().map(|j| j + columns)).collect();
        SparseVec::sorted(self.domain(), indices, [left.values(), right.values()].concat())
    }
}

impl<A, B> LinearOperator for Beside<A, B>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    B: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
{
    type Point = SparseVec;
    type Covector = Vec<f64>;
    is_its_own_base!();

    fn domain(&self) -> usize {
        self.left.domain() + self.right.domain()
    }
    fn n_outputs(&self) -> usize {
        self.left.n_outputs()
    }
    fn new_covector(&self) -> Vec<f64> {
        vec![0.0; self.domain()]
    }
    fn apply(&self, x: &SparseVec, out: &mut [f64]) {
        let [left, right] = self.split(x.indices());
        let (of_left, of_right) = x.values().split_at(left.indices().len());
        self.left.apply(&SparseVec::sorted(left.dim(), left.indices().to_vec(), of_left.to_vec()), out);
        let mut more = vec![0.0; out.len()];
        self.right.apply(&SparseVec::sorted(right.dim(), right.indices().to_vec(), of_right.to_vec()), &mut more);
        out.iter_mut().zip(more).for_each(|(out, more)| *out += more);
    }
    fn apply_covector(&self, g: &Vec<f64>, out: &mut [f64]) {
        self.apply(&SparseVec::full(g), out);
    }
    fn adjoint(&self, r: &[f64], out: &mut Vec<f64>) {
        let mut right = self.right.new_covector();
        self.left.adjoint(r, out);
        self.right.adjoint(r, &mut right);
        out.extend(right);
    }
    fn fetch(&self, t: &IndexSet) {
        let [left, right] = self.split(t.indices());
        self.left.fetch(&left);
        self.right.fetch(&right);
    }
    fn adjoint_on(&self, r: &[f64], t: &IndexSet) -> SparseVec {
        let [left, right] = self.split(t.indices());
        self.joined(&self.left.adjoint_on(r, &left), &self.right.adjoint_on(r, &right))
    }
    fn adjoint_block_on(&self, rs: &[&[f64]], t: &IndexSet) -> Vec<SparseVec> {
        let [left, right] = self.split(t.indices());
        let both = self.left.adjoint_block_on(rs, &left).into_iter().zip(self.right.adjoint_block_on(rs, &right));
        both.map(|(left, right)| self.joined(&left, &right)).collect()
    }
    fn adjoint_block(&self, rs: &[&[f64]], out: &mut [Vec<f64>]) {
        let mut right = vec![self.right.new_covector(); rs.len()];
        self.left.adjoint_block(rs, out);
        self.right.adjoint_block(rs, &mut right);
        out.iter_mut().zip(right).for_each(|(out, right)| out.extend(right));
    }
    fn adjoint_parts(&self, parts: &Parts, rs: &[&[f64]], out: &mut [Vec<Vec<f64>>]) {
        let mut right = vec![Vec::new(); rs.len()];
        self.left.adjoint_parts(parts, rs, out);
        self.right.adjoint_parts(parts, rs, &mut right);
        let pairs = out.iter_mut().flatten().zip(right.into_iter().flatten());
        pairs.for_each(|(out, right)| out.extend(right));
    }
    fn squared_norms(&self, weights: &[&[f64]], centres: Option<&[f64]>) -> Option<Vec<Vec<f64>>> {
        let (left, right) = centres.map(|centres| centres.split_at(self.left.domain())).unzip();
        let mut squared_norms = self.left.squared_norms(weights, left)?;
        let more = self.right.squared_norms(weights, right)?;
        squared_norms.iter_mut().zip(more).for_each(|(squared_norms, more)| squared_norms.extend(more));
        Some(squared_norms)
    }
    fn knows_squared_norms(&self, weights: &[f64]) -> bool {
        // Those of the few columns on the right cost nothing beside the others.
        self.left.knows_squared_norms(weights)
    }
    fn has_cheap_columns(&self) -> bool {
        self.left.has_cheap_columns() && self.right.has_cheap_columns()
    }
    fn rounding(&self) -> f64 {
        self.left.rounding().max(self.right.rounding())
    }
    fn extremes(&self) -> &[ColumnSize] {
        &self.extremes
    }
    fn sampled_rows(&self) -> Option<SampledRows> {
        self.left.sampled_rows()
    }
    fn adjoint_sampled(&self, r: &[f64], out: &mut Vec<f64>) {
        let mut right = self.right.new_covector();
        self.left.adjoint_sampled(r, out);
        self.right.adjoint(r, &mut right);
        out.extend(right);
    }
}

impl<A: ColumnMoments, B: ColumnMoments> ColumnMoments for Beside<A, B> {
    fn moments(&self, weights: &[f64]) -> Moments {
        let Moments { mut means, mut variances } = self.left.moments(weights);
        let right = self.right.moments(weights);
        means.extend(right.means);
        variances.extend(right.variances);
        Moments { means, variances }
    }
}
