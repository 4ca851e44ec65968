//! Refits ("debiasing"): the minimum of f over the support of a point.
//!
//! One Newton method serves every loss and structure; for least squares its first step is exact.
//! The Newton system is solved by Cholesky on the support's columns, or by conjugate gradients
//! where the support is large or columns are not to be had one by one.

use rayon::prelude::*;

use crate::linalg::{Matrix, solve_symmetric};
use crate::loss::Loss;
use crate::objective::{Evaluated, Objective};
use crate::operator::{LinearOperator, SupportOf};
use crate::space::{Point, Subspace};

/// Supports up to this dimension are refitted by Cholesky, O(m·d²); larger ones by conjugate
/// gradients, O(m·d) an iteration.
const DIRECT_LIMIT: usize = 512;
/// Newton steps for a loss that is not quadratic. On separable classes f has no minimum; then
/// this bounds how far the coefficients run.
const NEWTON_STEPS: usize = 30;
/// A Newton step that promises less than this share of f(start) is the last one.
const DECREMENT: f64 = 1e-14;
/// Entries of columns below which a second thread costs more than it brings.
const PARALLEL_WORK: usize = 1 << 17;
/// A refit is given up where so many times what a Newton step promises would not do. For a quadratic once is exact; the
/// promise of another loss errs, but less so the nearer the minimum.
const TRUST: f64 = 8.0;
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

/// The same, given up where the minimum is not going to be below a value: what is reached by then is above it.
pub(crate) fn refit_below<A: LinearOperator, L: Loss>(
    f: &Objective<A, L>,
    start: Evaluated<A::Point>,
    t: &SupportOf<A>,
    below: f64,
) -> Evaluated<A::Point> {
    let steps = if f.loss().is_quadratic() { 2 } else { NEWTON_STEPS };
    newton_steps_while(f, start, t, steps, |here, promise| here - TRUST * promise <= below).point
}

/// What a refit reached.
pub(super) struct Refitted<P> {
    pub point: Evaluated<P>,
    /// Whether it is the minimum. If not, another refit goes on from there.
    pub settled: bool,
}

pub(super) fn refit<A: LinearOperator, L: Loss>(
    f: &Objective<A, L>,
    start: Evaluated<A::Point>,
    t: &SupportOf<A>,
) -> Refitted<A::Point> {
    // For a quadratic the second step is iterative refinement: it wins back what forming the
    // normal equations lost.
    newton_steps(f, start, t, if f.loss().is_quadratic() { 2 } else { NEWTON_STEPS })
}

/// At most `steps` Newton steps over a support. Touches only its columns.
pub(super) fn newton_steps<A: LinearOperator, L: Loss>(
    f: &Objective<A, L>,
    start: Evaluated<A::Point>,
    t: &SupportOf<A>,
    steps: usize,
) -> Refitted<A::Point> {
    newton_steps_while(f, start, t, steps, |_, _| true)
}

/// The same, as long as value and promise are worth it.
fn newton_steps_while<A: LinearOperator, L: Loss>(
    f: &Objective<A, L>,
    start: Evaluated<A::Point>,
    t: &SupportOf<A>,
    steps: usize,
    worth: impl Fn(f64, f64) -> bool,
) -> Refitted<A::Point> {
    if t.dimension() == 0 {
        return Refitted { point: start, settled: true };
    }
    if f.operator().has_cheap_columns() && t.dimension() <= DIRECT_LIMIT {
        let mut system = DirectSystem::new(f, t);
        newton(f, start, steps, worth, |x| system.step(f, x, t))
    } else {
        newton(f, start, steps, worth, |x| conjugate_gradients(f, x, t))
    }
}

/// Newton's method with halving: `step` gives −(∇²f)⁻¹∇f on the support, and the decrease that
/// it promises.
fn newton<A: LinearOperator, L: Loss>(
    f: &Objective<A, L>,
    mut point: Evaluated<A::Point>,
    steps: usize,
    worth: impl Fn(f64, f64) -> bool,
    mut step: impl FnMut(&Evaluated<A::Point>) -> (A::Point, f64),
) -> Refitted<A::Point> {
    let mut here = f.value(&point);
    let enough = DECREMENT * (here - f.lower_bound());
    for _ in 0..steps {
        let (direction, promise) = step(&point);
        if !(promise > 0.0) {
            return Refitted { point, settled: true };
        }
        if !worth(here, promise) {
            return Refitted { point, settled: false };
        }
        let d = f.at(direction);
        let Some((next, there)) = first_descent(f, &point, &d, here) else {
            return Refitted { point, settled: true };
        };
        (point, here) = (next, there);
        if promise <= enough {
            return Refitted { point, settled: true };
        }
    }
    Refitted { point, settled: false }
}

/// x + d, x + d/2, …: the first that does not raise f.
fn first_descent<A: LinearOperator, L: Loss>(
    f: &Objective<A, L>,
    x: &Evaluated<A::Point>,
    d: &Evaluated<A::Point>,
    here: f64,
) -> Option<(Evaluated<A::Point>, f64)> {
    (0..30).find_map(|halvings| {
        let next = Evaluated::combine(1.0, x, 0.5_f64.powi(halvings), d);
        let there = f.value(&next);
        (there <= here).then_some((next, there))
    })
}

/// The support's columns, and the Gram matrix where it does not change.
struct DirectSystem {
    columns: Matrix,
    ridge: Vec<f64>,
    gram: Option<Matrix>,
}

impl DirectSystem {
    fn new<A: LinearOperator, L: Loss>(f: &Objective<A, L>, t: &SupportOf<A>) -> Self {
        let (rows, dimension) = (f.operator().n_outputs(), t.dimension());
        let mut columns = vec![0.0; rows * dimension];
        let one = |(i, column): (usize, &mut [f64])| column.copy_from_slice(f.at(t.basis(i)).image());
        // An operator without outputs has no columns to copy.
        if rows * dimension < PARALLEL_WORK {
            columns.chunks_mut(rows.max(1)).enumerate().for_each(one);
        } else {
            columns.par_chunks_mut(rows).with_min_len(8).enumerate().for_each(one);
        }
        let columns = Matrix::from_columns(rows, dimension, columns);
        let ridge = (0..t.dimension()).map(|i| f.ridge_on_basis(t, i)).collect();
        Self { columns, ridge, gram: None }
    }

    fn step<A: LinearOperator, L: Loss>(
        &mut self,
        f: &Objective<A, L>,
        x: &Evaluated<A::Point>,
        t: &SupportOf<A>,
    ) -> (A::Point, f64) {
        let residual = f.residual(x);
        let residual = Matrix::from_columns(residual.len(), 1, residual);
        let mut gradient = self.columns.transposed_times(&residual).data().to_vec();
        let coordinates = t.coordinates(x.point());
        for ((g, ridge), c) in gradient.iter_mut().zip(&self.ridge).zip(coordinates) {
            *g += ridge * c;
        }
        if self.gram.is_none() || !f.loss().is_quadratic() {
            self.gram = Some(self.weighted_gram(&f.curvatures(x)));
        }
        let step = self.gram.as_ref().map_or_else(Vec::new, |gram| solve_symmetric(gram, &gradient));
        let promise = 0.5 * crate::linalg::dot(&gradient, &step);
        let step: Vec<f64> = step.iter().map(|v| -v).collect();
        (t.point(&step), promise)
    }

    fn weighted_gram(&self, h: &[f64]) -> Matrix {
        let mut gram = if h.iter().all(|&h| h == 1.0) {
            self.columns.symmetric_product(&self.columns)
        } else {
            let mut weighted = self.columns.clone();
            for j in 0..weighted.columns() {
                weighted.column_mut(j).iter_mut().zip(h).for_each(|(v, h)| *v *= h);
            }
            weighted.symmetric_product(&self.columns)
        };
        for (i, ridge) in self.ridge.iter().enumerate() {
            gram.column_mut(i)[i] += ridge;
        }
        gram
    }
}

/// The Newton step by conjugate gradients: two products with the support's columns an iteration.
fn conjugate_gradients<A: LinearOperator, L: Loss>(
    f: &Objective<A, L>,
    x: &Evaluated<A::Point>,
    t: &SupportOf<A>,
) -> (A::Point, f64) {
    let h = f.curvatures(x);
    let gradient = f.gradient_on(x, t);
    let mut step = A::Point::zero(gradient.domain());
    let mut residual = A::Point::combine(-1.0, &gradient, 0.0, &gradient);
    let mut direction = residual.clone();
    let mut square = residual.norm().powi(2);
    let enough = square * CG_TOLERANCE * CG_TOLERANCE;
    for _ in 0..CG_ITERATIONS.min(2 * t.dimension()) {
        if !(square > enough) {
            break;
        }
        let d = f.at(direction);
        let curved = f.hessian_times(&h, &d, t);
        let bend = d.point().dot(&curved);
        if !(bend > 0.0) {
            break;
        }
        let a = square / bend;
        step = A::Point::combine(1.0, &step, a, d.point());
        residual = A::Point::combine(1.0, &residual, -a, &curved);
        let next = residual.norm().powi(2);
        direction = A::Point::combine(1.0, &residual, next / square, d.point());
        square = next;
    }
    let promise = -0.5 * gradient.dot(&step);
    (step, promise)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::Logistic;
    use crate::operator::Dense;
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
}
