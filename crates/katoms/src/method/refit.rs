//! Refits ("debiasing"): the minimum of f over the support of a point.
//!
//! One Newton method serves every loss and structure; for least squares its first step is exact.
//! The Newton system is solved by Cholesky on the support's columns, or by conjugate gradients
//! where the support is large or columns are not to be had one by one.

use rayon::prelude::*;

use super::smooth::Smooth;
use crate::linalg::{Matrix, SymmetricSystem};
use crate::loss::{Curvature, Loss};
use crate::objective::{ColumnCache, Evaluated, Objective};
use crate::operator::{LinearOperator, SupportOf};
use crate::space::{Covector, Point, Subspace};

/// Supports up to this dimension are refitted by Cholesky, O(m·d²); larger ones by conjugate
/// gradients, O(m·d) an iteration.
const DIRECT_LIMIT: usize = 512;
/// Newton steps for a loss that is not quadratic. On separable classes f has no minimum; then
/// this bounds how far the coefficients run.
const NEWTON_STEPS: usize = 30;
/// A Newton step that predicts less than this share of f(start) is the last one.
const DECREMENT: f64 = 1e-14;
/// The same where models are only compared. Newton's method has twice as many digits after its last step as before it.
const COMPARED: f64 = 1e-8;
/// Entries of columns below which a second thread costs more than it brings.
const PARALLEL_WORK: usize = 1 << 17;
/// A refit is given up where so many times what a Newton step predicts would not do. For a quadratic once is exact; the
/// prediction of another loss errs, but less so the nearer the minimum.
const TRUST: f64 = 8.0;
/// Below this share of f a difference of its values says nothing.
const ROUNDING: f64 = 1e-13;
const CG_ITERATIONS: usize = 300;
const CG_TOLERANCE: f64 = 1e-13;

/// When to minimise f over the support of the iterate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refit {
    /// Not at all.
    Never,
    /// Once, when the run ends.
    AtEnd,
    /// In every iteration, before the momentum.
    EveryIteration,
}

/// The minimum of f over a support, from a point in it. Touches only the support's columns.
///
/// # Panics
/// When the point or the support lives in another space than f.
pub fn refit_on<A: LinearOperator, L: Loss>(
    f: &Objective<A, L>,
    start: Evaluated<A::Point>,
    t: &SupportOf<A>,
) -> Evaluated<A::Point> {
    refit(f, start, t).point
}

/// The same for a comparison: f is right to some ten digits, and the refit is given up where the minimum is not going to be
/// below a value; what is reached by then is above it.
pub(crate) fn refit_below<P: Point, G: Covector<P>>(
    f: &dyn Smooth<P, G>,
    start: Evaluated<P>,
    t: &P::Support,
    below: f64,
) -> Evaluated<P> {
    let worth = |here: f64, predicted: f64| here - TRUST * predicted <= below;
    newton(f, start, t, &Newton { steps: enough_steps(f), decrement: COMPARED, worth: &worth }).point
}

fn enough_steps<P: Point, G: Covector<P>>(f: &dyn Smooth<P, G>) -> usize {
    // For a quadratic the second step is iterative refinement: it wins back what forming the
    // normal equations lost.
    if f.loss().is_quadratic() { 2 } else { NEWTON_STEPS }
}

/// What a refit reached.
pub(super) struct Refitted<P> {
    pub point: Evaluated<P>,
    /// Whether it is the minimum. If not, another refit goes on from there.
    pub settled: bool,
}

/// The minimum of f over a support, and whether it is.
pub(super) fn refit<P: Point, G: Covector<P>>(
    f: &dyn Smooth<P, G>,
    start: Evaluated<P>,
    t: &P::Support,
) -> Refitted<P> {
    newton_steps(f, start, t, enough_steps(f))
}

/// At most `steps` Newton steps over a support. Touches only its columns.
pub(super) fn newton_steps<P: Point, G: Covector<P>>(
    f: &dyn Smooth<P, G>,
    start: Evaluated<P>,
    t: &P::Support,
    steps: usize,
) -> Refitted<P> {
    newton(f, start, t, &Newton { steps, decrement: DECREMENT, worth: &|_, _| true })
}

/// When Newton's method ends: after so many steps, where a step predicts less than this share of f, or where value and
/// predicted decrease are not worth it.
struct Newton<'a> {
    steps: usize,
    decrement: f64,
    worth: &'a dyn Fn(f64, f64) -> bool,
}

/// Newton's method with a line search.
fn newton<P: Point, G: Covector<P>>(
    f: &dyn Smooth<P, G>,
    start: Evaluated<P>,
    t: &P::Support,
    how: &Newton<'_>,
) -> Refitted<P> {
    if t.dimension() == 0 {
        return Refitted { point: start, settled: true };
    }
    f.fetch(t);
    if !f.has_cheap_columns() || t.dimension() > DIRECT_LIMIT {
        return descents(f, start, how, &mut |x| conjugate_gradients(f, x, t));
    }
    let mut system = DirectSystem { columns: None, system: None };
    let reached = descents(f, start, how, &mut |x| system.step(f, x, t));
    if let Some(Copies::Kept(kept)) = system.columns {
        f.keep_columns(kept);
    }
    reached
}

/// The steps −(∇²f)⁻¹∇f on the support, each with the decrease that it predicts, as far as they descend.
fn descents<P: Point, G: Covector<P>>(
    f: &dyn Smooth<P, G>,
    mut point: Evaluated<P>,
    how: &Newton<'_>,
    step: &mut dyn FnMut(&Evaluated<P>) -> (P, f64),
) -> Refitted<P> {
    let mut here = f.value(&point);
    let enough = how.decrement * (here - f.lower_bound());
    for _ in 0..how.steps {
        let (direction, predicted) = step(&point);
        if !(predicted > 0.0) {
            return Refitted { point, settled: true };
        }
        if !(how.worth)(here, predicted) {
            return Refitted { point, settled: false };
        }
        // What the last step brings is lost in the rounding of f, and is much for the point all the same. On a quadratic
        // the step before has done it.
        let last = predicted <= enough && !f.loss().is_quadratic();
        let unseen = if last { DECREMENT * (here - f.lower_bound()) } else { 0.0 };
        let d = f.at(direction);
        let Some(next) = descent(f, &point, &d, here + unseen) else {
            return Refitted { point, settled: true };
        };
        (point, here) = next;
        if predicted <= enough {
            return Refitted { point, settled: true };
        }
    }
    Refitted { point, settled: false }
}

/// x + t·d for a t at which f is not higher, and f there. A Newton step, t = 1, is taken where it does not raise f. Where it
/// does, it was meant for a curvature that ends on the way: along d no prediction changes by more than δ = max |(Ad)ᵢ|, and
/// ln(1 + δ)/δ lowers every loss whose third derivative is below its second (Bach, "Self-concordant analysis for logistic
/// regression", 2010). From there t doubles as long as that pays.
fn descent<P: Point, G: Covector<P>>(
    f: &dyn Smooth<P, G>,
    x: &Evaluated<P>,
    d: &Evaluated<P>,
    here: f64,
) -> Option<(Evaluated<P>, f64)> {
    let at = |t: f64| {
        let next = Evaluated::combine(1.0, x, t, d);
        let there = f.value(&next);
        (next, there)
    };
    let whole = at(1.0);
    if whole.1 <= here {
        return Some(whole);
    }
    let delta = d.image().iter().fold(0.0_f64, |most, z| most.max(z.abs()));
    // A short step that raises f does so by rounding alone, and on a quadratic every step does.
    let safe = if delta > 1.0 && !f.loss().is_quadratic() { delta.ln_1p() / delta } else { 0.5 };
    let first = (0..30).map(|halvings| safe * 0.5_f64.powi(halvings)).find_map(|t| {
        let next = at(t);
        (next.1 <= here).then_some((t, next))
    });
    let (mut t, mut best) = first?;
    while 2.0 * t <= 0.5 {
        let next = at(2.0 * t);
        if !(best.1 - next.1 > ROUNDING * here.abs()) {
            break;
        }
        (t, best) = (2.0 * t, next);
    }
    Some(best)
}

/// The Newton system of a support, factorised once where it does not change, and copies of the columns, where the
/// operator has no quicker products of its own.
struct DirectSystem<S> {
    columns: Option<Copies<S>>,
    system: Option<SymmetricSystem>,
}

/// Copies of a support's columns.
enum Copies<S> {
    /// Of this refit alone.
    Own(Matrix),
    /// Of this refit and the next.
    Kept(ColumnCache<S>),
}

impl<S> DirectSystem<S> {
    fn step<P: Point<Support = S>, G: Covector<P>>(&mut self, f: &dyn Smooth<P, G>, x: &Evaluated<P>, t: &S) -> (P, f64)
    where
        S: Subspace<P>,
    {
        if self.system.is_none() || !f.loss().is_quadratic() {
            self.system = Some(SymmetricSystem::new(&self.ridged_gram(f, x, t)));
        }
        let gradient = match &self.columns {
            Some(columns) => ridged_gradient(f, x, t, columns),
            None => t.coordinates(&f.gradient_on(x, t)),
        };
        let step = self.system.as_ref().map_or_else(Vec::new, |system| system.solve(&gradient));
        let predicted = 0.5 * crate::linalg::dot(&gradient, &step);
        let step: Vec<f64> = step.iter().map(|v| -v).collect();
        (t.point(&step), predicted)
    }

    fn ridged_gram<P: Point<Support = S>, G: Covector<P>>(
        &mut self,
        f: &dyn Smooth<P, G>,
        x: &Evaluated<P>,
        t: &S,
    ) -> Matrix
    where
        S: Subspace<P>,
    {
        let h = f.curvature(x);
        let mut gram = match f.products(&h, t, t) {
            Some(products) => products,
            None => match self.columns.get_or_insert_with(|| copies(f, &h, t)) {
                Copies::Kept(kept) => kept.gram().clone(),
                Copies::Own(columns) => weighted_gram(columns, &h),
            },
        };
        (0..t.dimension()).for_each(|i| gram.column_mut(i)[i] += f.ridge_on_basis(t, i));
        gram
    }
}

fn copies<P: Point, G: Covector<P>>(f: &dyn Smooth<P, G>, h: &Curvature, t: &P::Support) -> Copies<P::Support> {
    // With other curvatures, or weights, products change or are not symmetric to the last bit.
    if f.loss().is_quadratic() && h.is_identity() {
        let kept = ColumnCache::of(t, f.n_outputs(), f.take_columns(), &|x: &P| f.uncounted_image(x));
        if let Some((kept, new)) = kept {
            f.count_columns(new);
            return Copies::Kept(kept);
        }
    }
    let (rows, dimension) = (f.n_outputs(), t.dimension());
    let mut columns = vec![0.0; rows * dimension];
    let one = |(i, column): (usize, &mut [f64])| column.copy_from_slice(f.at(t.basis(i)).image());
    // An operator without outputs has no columns to copy.
    if rows * dimension < PARALLEL_WORK {
        columns.chunks_mut(rows.max(1)).enumerate().for_each(one);
    } else {
        columns.par_chunks_mut(rows).with_min_len(8).enumerate().for_each(one);
    }
    Copies::Own(Matrix::from_columns(rows, dimension, columns))
}

fn ridged_gradient<P: Point, G: Covector<P>>(
    f: &dyn Smooth<P, G>,
    x: &Evaluated<P>,
    t: &P::Support,
    columns: &Copies<P::Support>,
) -> Vec<f64> {
    let r = f.residual(x);
    let mut gradient = match columns {
        Copies::Kept(kept) => kept.pulled_back(&r),
        Copies::Own(columns) => columns.transposed_times(&Matrix::from_columns(r.len(), 1, r)).data().to_vec(),
    };
    for (i, (g, c)) in gradient.iter_mut().zip(t.coordinates(x.point())).enumerate() {
        *g += f.ridge_on_basis(t, i) * c;
    }
    gradient
}

fn weighted_gram(columns: &Matrix, h: &Curvature) -> Matrix {
    if h.is_identity() {
        return columns.symmetric_product(columns);
    }
    if let Some(gram) = gram_by_outputs(columns, h) {
        return gram;
    }
    let mut weighted = columns.clone();
    for j in 0..weighted.columns() {
        weighted.column_mut(j).copy_from_slice(&h.times(columns.column(j)));
    }
    weighted.symmetric_product(columns)
}

/// The same block by block, where only the outputs of one row depend on each other and each column belongs to one output: on
/// the rows of the others it is zero. `None` where it is not so, or where there is one output.
fn gram_by_outputs(columns: &Matrix, h: &Curvature) -> Option<Matrix> {
    let rows = h.of_outputs(0, 0)?.len();
    if rows == 0 || rows == columns.rows() {
        return None;
    }
    let mut members = vec![Vec::new(); columns.rows() / rows];
    for j in 0..columns.columns() {
        let is_there = |part: &[f64]| part.iter().any(|v| *v != 0.0);
        let mut outputs = (0..members.len()).filter(|c| is_there(&columns.column(j)[c * rows..][..rows]));
        let own = outputs.next().unwrap_or(0);
        if outputs.next().is_some() {
            return None;
        }
        members[own].push(j);
    }
    let of_output = |c: usize| -> Vec<f64> {
        members[c].iter().flat_map(|&j| &columns.column(j)[c * rows..][..rows]).copied().collect()
    };
    let mut gram = Matrix::zeros(columns.columns(), columns.columns());
    for (b, own) in members.iter().enumerate() {
        let right = Matrix::from_columns(rows, own.len(), of_output(b));
        for (c, others) in members[..=b].iter().enumerate() {
            let (h, mut left) = (h.of_outputs(c, b)?, of_output(c));
            left.chunks_mut(rows).for_each(|left| left.iter_mut().zip(h).for_each(|(v, h)| *v *= h));
            let block = Matrix::from_columns(rows, others.len(), left).transposed_times(&right);
            for (y, &j) in own.iter().enumerate() {
                for (x, &i) in others.iter().enumerate() {
                    gram.column_mut(j)[i] = block.at(x, y);
                    gram.column_mut(i)[j] = block.at(x, y);
                }
            }
        }
    }
    Some(gram)
}

/// The Newton step by conjugate gradients: two products with the support's columns an iteration.
fn conjugate_gradients<P: Point, G: Covector<P>>(f: &dyn Smooth<P, G>, x: &Evaluated<P>, t: &P::Support) -> (P, f64) {
    let h = f.curvature(x);
    let gradient = f.gradient_on(x, t);
    let mut step = P::zero(gradient.domain());
    let mut residual = P::combine(-1.0, &gradient, 0.0, &gradient);
    let mut direction = residual.clone();
    let mut square = residual.norm().powi(2);
    let enough = square * CG_TOLERANCE * CG_TOLERANCE;
    for _ in 0..CG_ITERATIONS.min(2 * t.dimension()) {
        if !(square > enough) {
            break;
        }
        let d = f.at(direction);
        let curved = f.hessian_times(&h, &d, t);
        let curvature = d.point().dot(&curved);
        if !(curvature > 0.0) {
            break;
        }
        let a = square / curvature;
        step = P::combine(1.0, &step, a, d.point());
        residual = P::combine(1.0, &residual, -a, &curved);
        let next = residual.norm().powi(2);
        direction = P::combine(1.0, &residual, next / square, d.point());
        square = next;
    }
    let predicted = -0.5 * gradient.dot(&step);
    (step, predicted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::{LeastSquares, Logistic, Multinomial};
    use crate::operator::{Csc, Dense, PerOutput, WithIntercept};
    use crate::simulate;
    use crate::space::{IndexSet, SparseVec};

    /// What is given up is above the bar, and so is its minimum; what is not is the minimum.
    #[test]
    fn a_refit_is_given_up_only_where_its_minimum_is_above_the_bar() {
        let (m, n) = (80, 30);
        let x: Vec<f64> = simulate::gaussian(m, n, 3).iter().map(|v| v * (m as f64).sqrt()).collect();
        let y: Vec<f64> =
            (0..m).map(|i| f64::from(u8::from(2.0 * x[i] - x[m + i] + 0.5 * x[7 * m + i] > 0.2))).collect();
        let noisy: Vec<f64> = y.iter().enumerate().map(|(i, y)| if i % 9 == 0 { 1.0 - y } else { *y }).collect();
        let f = Objective::new(Dense::column_major(&x, m, n).unwrap(), Logistic::new(noisy).unwrap()).unwrap();
        let mut given_up = 0;
        for j in 2..n {
            for base in [vec![0, j], vec![0, 1, j], vec![j]] {
                let t = IndexSet::new(n, base);
                let least = f.value(&refit_on(&f, f.at(SparseVec::zero(n)), &t));
                for bar in [0.8 * least, 0.99 * least, 1.001 * least, 1.2 * least] {
                    let reached = f.value(&refit_below(&f, f.at(SparseVec::zero(n)), &t, bar));
                    let settled = reached <= least * (1.0 + 1e-9);
                    assert!(settled || (reached > bar && least > bar), "{j} {bar} {reached} {least}");
                    given_up += usize::from(!settled);
                }
            }
        }
        assert!(given_up > 20, "{given_up}");
    }

    /// Block by block the products are those of whole columns; one column of two outputs is left to these.
    #[test]
    fn columns_of_several_outputs_have_the_same_products_block_by_block() {
        let (m, n, q) = (20, 4, 3);
        let x = simulate::gaussian(m, n, 1);
        let a = PerOutput::new(Dense::column_major(&x, m, n).unwrap(), q).unwrap();
        let labels: Vec<usize> = (0..m).map(|i| i * i % 4).collect();
        let f = Objective::new(WithIntercept::new(a), Multinomial::new(labels, 4).unwrap()).unwrap();
        let dim = f.operator().domain();
        let h = f.curvature(&f.at(SparseVec::new(dim, vec![1, 6, 8], vec![2.0, -1.0, 3.0]).unwrap()));
        let t = IndexSet::new(dim, vec![1, 3, 5, 8, 9, 12, 14]);
        let image = |x: SparseVec| f.at(x).image().to_vec();
        let mut data: Vec<f64> = (0..t.indices().len()).flat_map(|i| image(t.basis(i))).collect();
        let columns = Matrix::from_columns(m * q, t.indices().len(), data.clone());
        let gram = gram_by_outputs(&columns, &h).unwrap();
        for i in 0..gram.columns() {
            let curved = h.times(columns.column(i));
            for j in 0..gram.columns() {
                assert!((gram.at(i, j) - crate::linalg::dot(&curved, columns.column(j))).abs() < 1e-13);
                assert_eq!(gram.at(i, j), gram.at(j, i));
            }
        }
        data[m] = 1.0;
        assert!(gram_by_outputs(&Matrix::from_columns(m * q, t.indices().len(), data), &h).is_none());
    }

    /// Every tenth entry of a Gaussian design, dense and sparse.
    fn rare(m: usize, n: usize) -> (Vec<f64>, Csc<'static, f64, u32>) {
        let all = simulate::gaussian(m, n, 5);
        let (mut dense, mut starts, mut indices, mut values) = (vec![0.0; m * n], vec![0], Vec::new(), Vec::new());
        for j in 0..n {
            for i in (j % 10..m).step_by(10) {
                dense[j * m + i] = all[j * m + i] * (m as f64).sqrt();
                indices.push(i as u32);
                values.push(dense[j * m + i]);
            }
            starts.push(values.len());
        }
        (dense, Csc::new(m, n, starts, indices, values).unwrap())
    }

    #[test]
    fn a_sparse_refit_is_the_dense_one() {
        let (m, n) = (200, 12);
        let (x, sparse) = rare(m, n);
        let clean: Vec<f64> = (0..m).map(|i| 1.0 + 2.0 * x[i] - x[m + i] + x[7 * m + i]).collect();
        let y = simulate::noisy(&clean, 0.3, 1);
        let labels = simulate::labels(&clean, 2);
        let t = IndexSet::new(n + 1, vec![0, 1, 4, 7, n]);
        let zero = || SparseVec::zero(n + 1);
        let (left, right) = (WithIntercept::new(&sparse), WithIntercept::new(Dense::column_major(&x, m, n).unwrap()));
        assert!(left.products(&vec![1.0; m], &t, &t).is_some());
        let refitted = |one: SparseVec, other: SparseVec| {
            assert!(one.distance(&other) < 1e-10 * other.norm(), "{one:?} {other:?}");
            assert!(other.norm() > 1.0);
        };
        for ridge in [0.0, 0.5] {
            let f = Objective::new(&left, LeastSquares::new(y.clone()).unwrap()).unwrap().ridge(ridge).unwrap();
            let g = Objective::new(&right, LeastSquares::new(y.clone()).unwrap()).unwrap().ridge(ridge).unwrap();
            refitted(refit_on(&f, f.at(zero()), &t).into_point(), refit_on(&g, g.at(zero()), &t).into_point());
            let f = Objective::new(&left, Logistic::new(labels.clone()).unwrap()).unwrap().ridge(ridge).unwrap();
            let g = Objective::new(&right, Logistic::new(labels.clone()).unwrap()).unwrap().ridge(ridge).unwrap();
            refitted(refit_on(&f, f.at(zero()), &t).into_point(), refit_on(&g, g.at(zero()), &t).into_point());
        }
    }

    /// Where the start is sure of the wrong class the curvature is next to nothing, and a Newton step goes far too far.
    #[test]
    fn a_start_that_is_sure_of_the_wrong_class_finds_the_minimum() {
        let (m, n) = (120, 3);
        let x: Vec<f64> = simulate::gaussian(m, n, 8).iter().map(|v| v * (m as f64).sqrt()).collect();
        let odds: Vec<f64> = (0..m).map(|i| x[i] - 0.5 * x[m + i]).collect();
        let loss = Logistic::new(simulate::labels(&odds, 3)).unwrap();
        let f = Objective::new(Dense::column_major(&x, m, n).unwrap(), loss).unwrap();
        let t = IndexSet::new(n, (0..n).collect());
        let least = refit_on(&f, f.at(SparseVec::zero(n)), &t).into_point();
        for far in [3.0, 10.0, 40.0] {
            let wrong = SparseVec::full(&[-far, far, far]);
            let reached = refit(&f, f.at(wrong), &t);
            assert!(reached.settled, "{far}");
            assert!(reached.point.point().distance(&least) < 1e-6, "{far}: {:?}", reached.point.point());
        }
    }
}
