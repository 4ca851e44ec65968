//! One more column, of ones; for many outputs one for each.

use std::borrow::Cow;

use super::{LinearOperator, Parts, SampledRows, passes_through_base};
use crate::linalg::{Matrix, parallel};
use crate::space::{IndexSet, SparseVec};

/// [A 1]: the last coordinate is the intercept. Combine it with
/// [`Always`](crate::set::Always), which selects it without counting it. Of an operator with several
/// [outputs](LinearOperator::outputs) the last coordinates are their intercepts, one for each.
#[derive(Debug, Clone)]
pub struct WithIntercept<A> {
    inner: A,
}

impl<A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>> WithIntercept<A> {
    /// The operator with a column of ones behind its own.
    pub fn new(inner: A) -> Self {
        Self { inner }
    }

    /// The index of the column of ones, the first of them where there are several.
    pub fn index(&self) -> usize {
        self.inner.domain()
    }

    /// A fitted point without its intercept, and the intercept: the first of them where there are several.
    pub fn split(&self, x: &SparseVec) -> (SparseVec, f64) {
        (self.inner_part(x), x.value_at(self.index()))
    }

    /// The intercept of each output.
    pub fn intercepts(&self, x: &SparseVec) -> Vec<f64> {
        (self.index()..self.domain()).map(|j| x.value_at(j)).collect()
    }

    /// The rows of each output.
    fn of_outputs<'r>(&self, r: &'r [f64]) -> impl Iterator<Item = &'r [f64]> {
        r.chunks((r.len() / self.inner.outputs()).max(1))
    }

    fn inner_part(&self, x: &SparseVec) -> SparseVec {
        let (indices, values) = x.entries().filter(|e| e.0 < self.index()).unzip();
        SparseVec::sorted(self.index(), indices, values)
    }

    /// What of a support lies in the inner operator's space.
    fn inside(&self, t: &IndexSet) -> IndexSet {
        IndexSet::new(self.index(), t.indices().iter().copied().filter(|&j| j < self.index()).collect())
    }

    /// The gradient of r on t, from that on what is inside.
    fn with_total(&self, r: &[f64], g: SparseVec, t: &IndexSet) -> SparseVec {
        let (mut indices, mut values) = (g.indices().to_vec(), g.values().to_vec());
        for (c, r) in self.of_outputs(r).enumerate().filter(|(c, _)| t.contains(self.index() + c)) {
            indices.push(self.index() + c);
            values.push(r.iter().sum());
        }
        SparseVec::sorted(self.domain(), indices, values)
    }
}

impl<A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>> LinearOperator for WithIntercept<A> {
    type Point = SparseVec;
    type Covector = Vec<f64>;
    passes_through_base!();
    fn sampled_rows(&self) -> Option<SampledRows> {
        self.inner.sampled_rows()
    }

    fn domain(&self) -> usize {
        self.inner.domain() + self.inner.outputs()
    }
    fn n_outputs(&self) -> usize {
        self.inner.n_outputs()
    }
    fn column_of(&self, j: usize) -> (usize, usize) {
        match j.checked_sub(self.index()) {
            Some(output) => (self.index() / self.inner.outputs(), output),
            None => self.inner.column_of(j),
        }
    }
    fn new_covector(&self) -> Vec<f64> {
        vec![0.0; self.domain()]
    }
    fn apply(&self, x: &SparseVec, out: &mut [f64]) {
        self.inner.apply(&self.inner_part(x), out);
        let rows = (out.len() / self.inner.outputs()).max(1);
        for (out, intercept) in out.chunks_mut(rows).zip(self.intercepts(x)) {
            out.iter_mut().for_each(|o| *o += intercept);
        }
    }
    fn apply_covector(&self, g: &Vec<f64>, out: &mut [f64]) {
        self.apply(&SparseVec::full(g), out);
    }
    fn fetch(&self, t: &IndexSet) {
        self.inner.fetch(&self.inside(t));
    }
    fn adjoint_on(&self, r: &[f64], t: &IndexSet) -> SparseVec {
        self.with_total(r, self.inner.adjoint_on(r, &self.inside(t)), t)
    }
    fn adjoint_block_on(&self, rs: &[&[f64]], t: &IndexSet) -> Vec<SparseVec> {
        let inner = self.inner.adjoint_block_on(rs, &self.inside(t));
        rs.iter().zip(inner).map(|(r, g)| self.with_total(r, g, t)).collect()
    }
    fn gives_all_products(&self) -> bool {
        self.inner.gives_all_products() && self.inner.outputs() == 1
    }
    /// The inner ones, and sums for the column of ones.
    fn products(&self, h: &[f64], left: &IndexSet, right: &IndexSet) -> Option<Matrix> {
        if self.inner.outputs() > 1 {
            return None;
        }
        let (inner_left, inner_right) = (self.inside(left), self.inside(right));
        let inner = self.inner.products(h, &inner_left, &inner_right)?;
        let on_left = self.adjoint_on(h, left);
        let on_right = if left == right { on_left.clone() } else { self.adjoint_on(h, right) };
        let (rows, columns) = (inner_left.indices().len(), inner_right.indices().len());
        let height = on_left.values().len();
        let mut all = Matrix::zeros(on_left.values().len(), on_right.values().len());
        parallel::columns_mut(all.data_mut(), height, &|b, column| {
            let (above, last) = column.split_at_mut(rows);
            above.copy_from_slice(if b < columns { inner.column(b) } else { &on_left.values()[..rows] });
            last.fill(on_right.values()[b]);
        });
        Some(all)
    }
    fn adjoint_parts(&self, parts: &Parts, rs: &[&[f64]], out: &mut [Vec<Vec<f64>>]) {
        self.inner.adjoint_parts(parts, rs, out);
        for (r, out) in rs.iter().zip(out) {
            if self.inner.outputs() == 1 {
                out.iter_mut().enumerate().for_each(|(p, g)| g.push(parts.total(p, r)));
                continue;
            }
            let mut first = 0;
            for r in self.of_outputs(r) {
                let mut totals = vec![0.0; out.len()];
                r.iter().zip(&parts.labels()[first..]).for_each(|(r, &p)| totals[p] += r);
                out.iter_mut().zip(totals).for_each(|(g, total)| g.push(total));
                first += r.len();
            }
        }
    }
    fn squared_norms(&self, weights: &[&[f64]], centres: Option<&[f64]>) -> Option<Vec<Vec<f64>>> {
        let mut squared_norms = self.inner.squared_norms(weights, centres.map(|c| &c[..self.index()]))?;
        for (squared_norms, w) in squared_norms.iter_mut().zip(weights) {
            let total: f64 = w.iter().sum();
            for (c, own) in self.of_outputs(w).enumerate() {
                let (centre, own) = (centres.map_or(0.0, |all| all[self.index() + c]), own.iter().sum::<f64>());
                squared_norms.push(own * (1.0 - centre).powi(2) + (total - own) * centre * centre);
            }
        }
        Some(squared_norms)
    }
    fn before_pass<'r>(&self, r: &'r [f64]) -> Cow<'r, [f64]> {
        self.inner.before_pass(r)
    }
    fn residuals_of_pass<'r>(&self, r: &'r [f64]) -> Vec<Cow<'r, [f64]>> {
        self.inner.residuals_of_pass(r)
    }
    fn joined_after_pass(&self, r: &[f64], parts: Vec<Vec<f64>>) -> Vec<f64> {
        let mut g = self.inner.joined_after_pass(r, parts);
        g.extend(self.of_outputs(r).map(|r| r.iter().sum::<f64>()));
        g
    }
    fn after_pass(&self, r: &[f64], g: &mut Vec<f64>) {
        g.truncate(self.index());
        self.inner.after_pass(r, g);
        g.extend(self.of_outputs(r).map(|r| r.iter().sum::<f64>()));
    }
}
