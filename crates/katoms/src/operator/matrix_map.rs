//! A general linear map of a matrix: affine rank minimisation.

use super::{LinearOperator, add_low_rank_part, is_its_own_base};
use crate::error::{Error, check_length};
use crate::linalg::Matrix;
use crate::space::{Entrywise, LowRank, MatrixCovector, Point, Span, SparseVec};

/// X ↦ A·vec(X), where vec stacks the columns of X and A is any operator on vectors: a dense
/// matrix whose row i is the i-th measurement, a sparse one, or a matrix-free one.
///
/// The point stays factored: one column of X at a time is multiplied out. Both products read
/// all of A, as a map of a dense matrix must.
#[derive(Debug, Clone)]
pub struct MatrixMap<A> {
    operator: A,
    shape: (usize, usize),
}

impl<A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>> MatrixMap<A> {
    /// The map of matrices of this shape.
    ///
    /// # Errors
    /// When the operator does not have rows·columns columns.
    pub fn new(operator: A, shape: (usize, usize)) -> Result<Self, Error> {
        let entries = shape.0.saturating_mul(shape.1);
        check_length("operator", operator.domain(), entries, "one column for each matrix entry")?;
        Ok(Self { operator, shape })
    }

    fn dense_adjoint(&self, r: &[f64]) -> Matrix {
        let mut g = self.operator.new_covector();
        self.operator.adjoint(r, &mut g);
        Matrix::from_columns(self.shape.0, self.shape.1, g)
    }
}

impl<A> LinearOperator for MatrixMap<A>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
{
    type Point = LowRank;
    type Covector = MatrixCovector;
    is_its_own_base!();

    fn domain(&self) -> (usize, usize) {
        self.shape
    }
    fn n_outputs(&self) -> usize {
        self.operator.n_outputs()
    }
    fn new_covector(&self) -> MatrixCovector {
        MatrixCovector::new(Entrywise::Dense(Matrix::zeros(self.shape.0, self.shape.1)))
    }
    /// A full read of the map.
    fn apply(&self, x: &LowRank, out: &mut [f64]) {
        out.fill(0.0);
        if x.norm() == 0.0 {
            return;
        }
        let (rows, columns) = self.shape;
        let left = x.left().times(x.core());
        let right = x.right().transposed();
        let mut part = vec![0.0; out.len()];
        for j in 0..columns {
            let weights = Matrix::from_columns(right.rows(), 1, right.column(j).to_vec());
            let column = left.times(&weights);
            let indices = (j * rows..(j + 1) * rows).collect();
            let column = SparseVec::sorted(rows * columns, indices, column.data().to_vec());
            self.operator.apply(&column, &mut part);
            out.iter_mut().zip(&part).for_each(|(o, p)| *o += p);
        }
    }
    fn apply_covector(&self, g: &MatrixCovector, out: &mut [f64]) {
        if let Entrywise::Dense(m) = g.entries() {
            self.operator.apply_covector(&m.data().to_vec(), out);
        }
        add_low_rank_part(self, g, out);
    }
    fn adjoint(&self, r: &[f64], out: &mut MatrixCovector) {
        *out.entries_mut() = Entrywise::Dense(self.dense_adjoint(r));
    }
    /// A full read of the map.
    fn adjoint_on(&self, r: &[f64], t: &Span) -> LowRank {
        let core = t.left().transposed_times(&self.dense_adjoint(r).times(t.right()));
        LowRank::from_bases(t.left().clone(), core, t.right().clone())
    }
    fn has_cheap_columns(&self) -> bool {
        false
    }
}
