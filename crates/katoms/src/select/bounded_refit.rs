//! The minimum of f over a support within bounds: Newton's method, whose steps are minima of quadratics in a box.

use super::Bounds;
use super::box_minimum::BoxQuadratic;
use crate::linalg::Matrix;
use crate::loss::Loss;
use crate::objective::{Evaluated, Objective};
use crate::operator::LinearOperator;
use crate::space::{IndexSet, Point, SparseVec, Subspace};

/// A residual below this is none: what is left to gain is its square, as a share of f(0).
pub(super) const SETTLED: f64 = 1e-9;
/// Below this residual a step lowers f by less than its rounding.
const NEAR: f64 = 1e-6;
/// Where a refit aims.
const AIM: f64 = 1e-12;
/// Newton steps: for a quadratic the later ones win back what forming the normal equations lost. On separable classes
/// f has no minimum, and this bounds how far the coefficients run.
const QUADRATIC_STEPS: usize = 3;
const STEPS: usize = 60;
const HALVINGS: i32 = 30;

/// Refits within bounds.
#[derive(Debug)]
pub(super) struct BoundedRefit<'a, A: LinearOperator, L> {
    f: &'a Objective<A, L>,
    bounds: &'a Bounds,
    /// f(0), above its lower bound.
    pub null: f64,
}

/// A point within the bounds, and how far it is from the minimum over its support.
#[derive(Debug, Clone)]
pub(super) struct Refitted {
    pub x: Evaluated<SparseVec>,
    /// How far the coordinate steps that are left would move the predictions, as a share of √(2f(0)). 0 where the
    /// conditions of Karush, Kuhn and Tucker hold, and where the fit is perfect.
    pub residual: f64,
}

/// f to second order around a point, on a support.
struct Local {
    gradient: Vec<f64>,
    hessian: Matrix,
}

impl<'a, A, L> BoundedRefit<'a, A, L>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
{
    pub fn new(f: &'a Objective<A, L>, bounds: &'a Bounds) -> Self {
        let null = f.value(&f.at(SparseVec::zero(f.operator().domain()))) - f.lower_bound();
        Self { f, bounds, null }
    }

    /// The minimum over the support t, from what x has there. Touches only the columns of t, d times for a step.
    pub fn minimise(&self, x: &SparseVec, t: &IndexSet) -> Refitted {
        let start: Vec<f64> = t.indices().iter().map(|&j| self.bounds.clamped(j, x.value_at(j))).collect();
        let mut x = self.f.at(t.point(&start));
        let mut here = self.f.value(&x);
        let quadratic = self.f.loss().is_quadratic();
        let mut residual = f64::INFINITY;
        for step in 0.. {
            if t.dimension() == 0 || here - self.f.lower_bound() <= self.f.perfect() * self.null {
                return Refitted { x, residual: 0.0 };
            }
            let local = self.around(&x, t);
            residual = self.residual(&x, t, &local);
            if residual <= AIM || step == if quadratic { QUADRATIC_STEPS } else { STEPS } {
                break;
            }
            let target = self.f.at(self.newton(&x, t, &local));
            let there = self.f.value(&target);
            if there < here {
                (x, here) = (target, there);
            } else if residual <= NEAR {
                // f is flat to the last bit here, and only its gradient still tells the better point.
                if !(self.residual(&target, t, &self.around(&target, t)) < 0.5 * residual) {
                    break;
                }
                (x, here) = (target, there);
            } else {
                let Some((next, there)) = self.first_descent(&x, target.point(), here) else { break };
                (x, here) = (next, there);
            }
        }
        Refitted { x, residual }
    }

    fn around(&self, x: &Evaluated<SparseVec>, t: &IndexSet) -> Local {
        let gradient = self.f.gradient_on(x, t).values().to_vec();
        let h = self.f.curvatures(x);
        let d = t.dimension();
        let columns = (0..d).flat_map(|i| self.f.hessian_times(&h, &self.f.at(t.basis(i)), t).values().to_vec());
        Local { gradient, hessian: Matrix::from_columns(d, d, columns.collect()) }
    }

    fn residual(&self, x: &Evaluated<SparseVec>, t: &IndexSet, local: &Local) -> f64 {
        let moved = |(p, &j): (usize, &usize)| {
            let (v, bend) = (x.point().value_at(j), local.hessian.at(p, p));
            let step = if bend > 0.0 { self.bounds.clamped(j, v - local.gradient[p] / bend) - v } else { 0.0 };
            step.abs() * bend.sqrt()
        };
        let most = t.indices().iter().enumerate().map(moved).fold(0.0, f64::max);
        if most > 0.0 { most / (2.0 * self.null).sqrt().max(f64::MIN_POSITIVE) } else { 0.0 }
    }

    /// The minimum of the local quadratic within the bounds. It is looked for as a step, which has all its digits where
    /// it is small.
    fn newton(&self, x: &Evaluated<SparseVec>, t: &IndexSet, local: &Local) -> SparseVec {
        let values = t.coordinates(x.point());
        let rest = |bounds: &[f64]| t.indices().iter().zip(&values).map(|(&j, v)| bounds[j] - v).collect::<Vec<f64>>();
        let quadratic = BoxQuadratic {
            gram: local.hessian.clone(),
            linear: local.gradient.iter().map(|g| -g).collect(),
            lower: rest(self.bounds.lower()),
            upper: rest(self.bounds.upper()),
        };
        let step = quadratic.minimise(&vec![0.0; values.len()]);
        let moved = |(p, &j): (usize, &usize)| match step[p] {
            // A bound that is met is met to the last bit.
            d if d >= quadratic.upper[p] => self.bounds.upper()[j],
            d if d <= quadratic.lower[p] => self.bounds.lower()[j],
            d => self.bounds.clamped(j, values[p] + d),
        };
        t.point(&t.indices().iter().enumerate().map(moved).collect::<Vec<_>>())
    }

    /// Half of the way to the target, a quarter, …: the first point that lowers f.
    fn first_descent(
        &self,
        x: &Evaluated<SparseVec>,
        target: &SparseVec,
        here: f64,
    ) -> Option<(Evaluated<SparseVec>, f64)> {
        (1..=HALVINGS).find_map(|halvings| {
            let share = 0.5_f64.powi(halvings);
            let next = self.bounds.nearest(&SparseVec::combine(1.0 - share, x.point(), share, target));
            let next = self.f.at(next);
            let there = self.f.value(&next);
            (there < here).then_some((next, there))
        })
    }
}
