//! What a search over atoms asks of an objective. The search is compiled once, behind this trait: a call costs a pass over
//! the data, or a few columns of it.

use crate::driver::Reference;
use crate::linalg::{ColumnBuffer, parallel};
use crate::loss::{Curvature, Loss};
use crate::method::{refit_below, refit_on};
use crate::objective::{Evaluated, Objective};
use crate::operator::LinearOperator;
use crate::space::{IndexSet, Point, SparseVec, Subspace};

/// An objective over coordinates.
pub(crate) trait Problem: Sync {
    /// The rows of the design.
    fn rows(&self) -> usize;
    /// Its columns.
    fn dim(&self) -> usize;
    /// How many outputs have coefficients of their own on the same columns.
    fn outputs(&self) -> usize;
    /// The column and the output that a coordinate belongs to.
    fn column_of(&self, j: usize) -> (usize, usize);
    /// The multiplications for the products of one column with all of them.
    fn products_of_column(&self) -> f64;
    /// A number that f never goes below.
    fn lower_bound(&self) -> f64;
    /// Whether f is quadratic.
    fn is_quadratic(&self) -> bool;
    /// The largest second derivative of the loss to reckon with at x.
    fn curvature_scale(&self, x: &Evaluated<SparseVec>) -> f64;
    /// x with its image.
    fn at(&self, x: SparseVec) -> Evaluated<SparseVec>;
    /// f(x).
    fn value(&self, x: &Evaluated<SparseVec>) -> f64;
    /// The loss at x, without the ridge.
    fn loss(&self, x: &Evaluated<SparseVec>) -> f64;
    /// Whether x separates two classes, so that no finite point is the best.
    fn is_separated_by(&self, x: &Evaluated<SparseVec>) -> bool;
    /// The minimum of f over a support, from a point in it.
    fn refit(&self, x: Evaluated<SparseVec>, support: &IndexSet) -> Evaluated<SparseVec>;
    /// The same for a comparison: given up where the minimum is not going to be below a value.
    fn refit_below(&self, x: Evaluated<SparseVec>, support: &IndexSet, below: f64) -> Evaluated<SparseVec>;
    /// The gradient of the loss with respect to the predictions.
    fn residual(&self, x: &Evaluated<SparseVec>) -> Vec<f64>;
    /// The second derivatives of the loss with respect to the predictions.
    fn curvature(&self, x: &Evaluated<SparseVec>) -> Curvature;
    /// The ridge on a coordinate.
    fn ridge_at(&self, j: usize) -> f64;
    /// Brings columns near, where they are far away: all that will be asked for next, in one round trip.
    fn fetch(&self, which: &[usize]);
    /// Copies of some columns, one after the other.
    fn columns(&self, which: &[usize]) -> Vec<f64>;
    /// The same, behind copies of others.
    fn append_columns(&self, which: &[usize], columns: &mut ColumnBuffer);
    /// Whether [`Problem::products`] are to be had without copies of the columns.
    fn gives_all_products(&self) -> bool;
    /// The products of some columns with each of some others under a diagonal curvature, the ridge left out.
    fn products(&self, h: &Curvature, left: &[usize], right: &[usize]) -> Option<Vec<Vec<f64>>>;
    /// The products of some columns with some vectors.
    fn pulled_back(&self, rs: &[&[f64]], which: &[usize]) -> Vec<Vec<f64>>;
    /// The products of all columns with some vectors: one pass.
    fn pass(&self, rs: &[&[f64]]) -> Vec<Vec<f64>>;
    /// ∇f(x): one pass, or none where a run has ended with it.
    fn gradient(&self, x: &Evaluated<SparseVec>) -> Vec<f64>;
    /// The gradient of the loss at the model without atoms: no pass where a run has begun there.
    fn null_gradient(&self, kept: &IndexSet) -> Vec<f64>;
    /// The second derivative of f along every coordinate where the loss has the diagonal h: at most one pass.
    fn second_derivatives(&self, h: &[f64]) -> Option<Vec<f64>>;
    /// The gradients at points near one whose gradient is known: right on the atoms that `likely` names from an estimate, and
    /// 0 elsewhere, where rows can be sampled; otherwise everywhere, by one pass.
    fn gradients_near(
        &self,
        here: &Evaluated<SparseVec>,
        gradient: &[f64],
        points: &[Evaluated<SparseVec>],
        likely: &(dyn Fn(&[f64]) -> IndexSet + Sync),
    ) -> Vec<Vec<f64>>;
}

impl<A, L> Problem for Objective<A, L>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
{
    fn rows(&self) -> usize {
        self.operator().n_outputs()
    }
    fn dim(&self) -> usize {
        self.operator().domain()
    }
    fn outputs(&self) -> usize {
        self.operator().outputs()
    }
    fn column_of(&self, j: usize) -> (usize, usize) {
        self.operator().column_of(j)
    }
    fn products_of_column(&self) -> f64 {
        // A column of one output is zero where those of others are not.
        self.rows() as f64 * self.dim() as f64 / (self.operator().outputs() as f64).powi(2)
    }
    fn lower_bound(&self) -> f64 {
        Objective::lower_bound(self)
    }
    fn is_quadratic(&self) -> bool {
        self.loss().is_quadratic()
    }
    fn curvature_scale(&self, x: &Evaluated<SparseVec>) -> f64 {
        self.loss().curvature_scale(x.image())
    }
    fn at(&self, x: SparseVec) -> Evaluated<SparseVec> {
        Objective::at(self, x)
    }
    fn value(&self, x: &Evaluated<SparseVec>) -> f64 {
        Objective::value(self, x)
    }
    fn loss(&self, x: &Evaluated<SparseVec>) -> f64 {
        Objective::loss(self).value(x.image())
    }
    fn is_separated_by(&self, x: &Evaluated<SparseVec>) -> bool {
        Objective::is_separated_by(self, x)
    }
    fn refit(&self, x: Evaluated<SparseVec>, support: &IndexSet) -> Evaluated<SparseVec> {
        refit_on(self, x, support)
    }
    fn refit_below(&self, x: Evaluated<SparseVec>, support: &IndexSet, below: f64) -> Evaluated<SparseVec> {
        refit_below(self, x, support, below)
    }
    fn residual(&self, x: &Evaluated<SparseVec>) -> Vec<f64> {
        Objective::residual(self, x)
    }
    fn curvature(&self, x: &Evaluated<SparseVec>) -> Curvature {
        Objective::curvature(self, x)
    }
    fn ridge_at(&self, j: usize) -> f64 {
        self.ridge_on_basis(&IndexSet::new(self.operator().domain(), vec![j]), 0)
    }
    fn fetch(&self, which: &[usize]) {
        Objective::fetch(self, &IndexSet::new(self.operator().domain(), which.to_vec()));
    }
    fn columns(&self, which: &[usize]) -> Vec<f64> {
        let mut columns = ColumnBuffer::default();
        self.append_columns(which, &mut columns);
        columns.into_data()
    }
    fn append_columns(&self, which: &[usize], columns: &mut ColumnBuffer) {
        Problem::fetch(self, which);
        columns.append(self.operator().n_outputs(), which.len(), &|at, column| {
            self.operator().apply(&IndexSet::new(self.operator().domain(), vec![which[at]]).basis(0), column);
        });
        self.count_columns(which.len());
    }
    fn gives_all_products(&self) -> bool {
        let diagonal = || self.loss().hessian(&vec![0.0; self.operator().n_outputs()]).is_none();
        self.operator().gives_all_products() && diagonal()
    }
    fn products(&self, h: &Curvature, left: &[usize], right: &[usize]) -> Option<Vec<Vec<f64>>> {
        let set = |some: &[usize]| IndexSet::new(self.operator().domain(), some.to_vec());
        let places = |t: &IndexSet, some: &[usize]| -> Vec<usize> {
            some.iter().map(|&j| t.indices().partition_point(|&i| i < j)).collect()
        };
        let (rising_left, rising_right) = (set(left), set(right));
        let products = Objective::products(self, h, &rising_left, &rising_right)?;
        let (rows, columns) = (places(&rising_left, left), places(&rising_right, right));
        Some(parallel::map(right.len(), &|b| {
            let column = products.column(columns[b]);
            rows.iter().map(|&row| column[row]).collect()
        }))
    }
    fn pulled_back(&self, rs: &[&[f64]], which: &[usize]) -> Vec<Vec<f64>> {
        let t = IndexSet::new(self.operator().domain(), which.to_vec());
        let all = self.pulled_back_block_on(rs, &t);
        all.iter().map(|g| which.iter().map(|&j| g.value_at(j)).collect()).collect()
    }
    fn pass(&self, rs: &[&[f64]]) -> Vec<Vec<f64>> {
        let mut out: Vec<Vec<f64>> = rs.iter().map(|_| self.operator().new_covector()).collect();
        self.operator().adjoint_block(rs, &mut out);
        self.count_pass();
        out
    }
    fn gradient(&self, x: &Evaluated<SparseVec>) -> Vec<f64> {
        let mut g = self.operator().new_covector();
        Objective::gradient(self, x, &mut g);
        g
    }
    fn null_gradient(&self, kept: &IndexSet) -> Vec<f64> {
        let residual = Objective::residual(self, &free_null_model(self, kept));
        self.first_pass(&residual).unwrap_or_else(|| Problem::pass(self, &[&residual]).swap_remove(0))
    }
    fn second_derivatives(&self, h: &[f64]) -> Option<Vec<f64>> {
        let mut diagonal = self.operator().squared_norms(&[h], None)?.pop()?;
        if !self.operator().base().knows_squared_norms(h) {
            self.count_pass();
        }
        self.add_ridge(&SparseVec::full(&vec![1.0; diagonal.len()]), &mut diagonal);
        Some(diagonal)
    }
    fn gradients_near(
        &self,
        here: &Evaluated<SparseVec>,
        gradient: &[f64],
        points: &[Evaluated<SparseVec>],
        likely: &(dyn Fn(&[f64]) -> IndexSet + Sync),
    ) -> Vec<Vec<f64>> {
        let Some(sampled) = self.operator().sampled_rows() else { return self.gradients(points) };
        let reference = Reference::new(Objective::residual(self, here), gradient.to_vec());
        let estimates = reference.estimates(self, points, sampled);
        let named = parallel::map(points.len(), &|at| likely(&estimates[at]));
        // One look at all that is named serves every point.
        let all = named.iter().fold(IndexSet::new(self.operator().domain(), Vec::new()), |all, own| all.union(own));
        let near = |(own, g): (&IndexSet, SparseVec)| {
            let mut gradient = vec![0.0; self.operator().domain()];
            g.on(own).entries().for_each(|(j, g)| gradient[j] = g);
            gradient
        };
        named.iter().zip(self.gradients_on(points, &all)).map(near).collect()
    }
}

/// The minimum over what is always in.
pub(super) fn free_null_model(f: &dyn Problem, kept: &IndexSet) -> Evaluated<SparseVec> {
    let start = if kept.dimension() == 0 { SparseVec::zero(f.dim()) } else { kept.point(&vec![0.0; kept.dimension()]) };
    f.refit(f.at(start), kept)
}
