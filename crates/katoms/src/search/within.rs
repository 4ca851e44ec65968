//! The minimum of f over a support within bounds: Newton's method, whose steps are minima of quadratics in a box.

use super::bounds::Bounds;
use super::box_minimum::BoxQuadratic;
use super::problem::{Problem, free_null_model};
use crate::linalg::{Matrix, dot};
use crate::objective::Evaluated;
use crate::set::Atoms;
use crate::space::{IndexSet, Point, SparseVec, Subspace};

/// A residual below this is none: what is left to gain is its square, as a share of f(0).
pub(crate) const SETTLED: f64 = 1e-9;
/// Below this residual a step lowers f by less than its rounding.
const NEAR: f64 = 1e-6;
/// Where a refit aims.
const AIM: f64 = 1e-12;
/// Newton steps. On separable classes f has no minimum, and this bounds how far the coefficients run.
const STEPS: usize = 60;
const HALVINGS: i32 = 30;
/// A minimum is not going to be below what so many times the decrease of the next step leads to.
const HOPED: f64 = 4.0;

/// f on a support within bounds.
pub(crate) struct Within<'a> {
    f: &'a dyn Problem,
    bounds: &'a Bounds,
    support: &'a IndexSet,
    columns: Matrix,
    ridges: Vec<f64>,
    /// √(2f(0)), above the lower bound: the size of what is fitted.
    size: f64,
}

/// f to second order around a point.
struct Local {
    quadratic: BoxQuadratic,
    /// How far the coordinate steps that are left would move the predictions, as a share of the size of what is fitted.
    residual: f64,
}

impl<'a> Within<'a> {
    /// Reads the columns of the support.
    pub fn new(f: &'a dyn Problem, bounds: &'a Bounds, support: &'a IndexSet) -> Self {
        let columns = Matrix::from_columns(f.rows(), support.dimension(), f.columns(support.indices()));
        let ridges = support.indices().iter().map(|&j| f.ridge_at(j)).collect();
        let null = f.value(&f.at(SparseVec::zero(f.dim()))) - f.lower_bound();
        Self { f, bounds, support, columns, ridges, size: (2.0 * null).sqrt().max(f64::MIN_POSITIVE) }
    }

    /// The minimum, from what x has on the support; given up where it is not going to be below a value.
    pub fn minimum(&self, x: &SparseVec, below: f64) -> Evaluated<SparseVec> {
        let mut x = self.f.at(self.bounds.nearest(&self.support.point(&self.support.coordinates(x))));
        let (mut here, mut local) = (self.f.value(&x), self.around(&x));
        for _ in 0..STEPS {
            if local.residual <= AIM {
                break;
            }
            let step = local.quadratic.minimise(&vec![0.0; self.ridges.len()]);
            let hopeless = here + HOPED * local.quadratic.value(&step) > below;
            let target = self.f.at(self.moved(x.point(), &step, &local.quadratic.bounds));
            let there = self.f.value(&target);
            let next = match there < here {
                true => Some((target, there)),
                // f is flat to the last bit, and only its gradient still tells the better point.
                false if local.residual <= NEAR => Some((target, there)),
                false => self.first_descent(&x, target.point(), here),
            };
            let Some((next, there)) = next else { break };
            let beyond = self.around(&next);
            if local.residual <= NEAR && !(beyond.residual < 0.5 * local.residual) {
                break;
            }
            (x, here, local) = (next, there, beyond);
            if hopeless {
                break;
            }
        }
        x
    }

    /// How far the coordinate steps that are left would move the predictions, as a share of √(2f(0)). 0 where the
    /// conditions of Karush, Kuhn and Tucker hold.
    pub fn residual(&self, x: &Evaluated<SparseVec>) -> f64 {
        self.around(x).residual
    }

    fn around(&self, x: &Evaluated<SparseVec>) -> Local {
        let (d, r, h) = (self.ridges.len(), self.f.residual(x), self.f.curvature(x));
        let values = self.support.coordinates(x.point());
        let slope = |p: usize| -dot(self.columns.column(p), &r) - self.ridges[p] * values[p];
        let linear: Vec<f64> = (0..d).map(slope).collect();
        let mut curved = self.columns.clone();
        (0..d).for_each(|p| curved.column_mut(p).copy_from_slice(&h.times(self.columns.column(p))));
        let product = curved.transposed_times(&self.columns);
        let gram = Matrix::from_fn(d, d, |a, b| product.at(a, b) + if a == b { self.ridges[a] } else { 0.0 });
        // A step has all its digits where it is small.
        let bounds = self.bounds.of(self.support.indices()).around(&values);
        let moved = |p: usize| {
            let curvature = gram.at(p, p);
            if curvature > 0.0 { bounds.clamped(p, linear[p] / curvature).abs() * curvature.sqrt() } else { 0.0 }
        };
        let residual = (0..d).map(moved).fold(0.0, f64::max) / self.size;
        Local { quadratic: BoxQuadratic { gram, linear, bounds }, residual }
    }

    /// The point after a step. A bound that is met is met to the last bit.
    fn moved(&self, x: &SparseVec, step: &[f64], rest: &Bounds) -> SparseVec {
        let value = |(p, &j): (usize, &usize)| match step[p] {
            d if d >= rest.upper()[p] => self.bounds.upper()[j],
            d if d <= rest.lower()[p] => self.bounds.lower()[j],
            d => self.bounds.clamped(j, x.value_at(j) + d),
        };
        self.support.point(&self.support.indices().iter().enumerate().map(value).collect::<Vec<_>>())
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
            let next = SparseVec::combine(1.0 - share, x.point(), share, target);
            let next = self.f.at(self.bounds.nearest(&next));
            let there = self.f.value(&next);
            (there < here).then_some((next, there))
        })
    }
}

/// Those of some atoms of which a coefficient is not 0, and that are not made up of the others.
pub(crate) fn lasting(atoms: &Atoms, kept: &IndexSet, mut chosen: Vec<usize>, x: &SparseVec) -> Vec<usize> {
    for place in (0..chosen.len()).rev() {
        let others = || chosen.iter().enumerate().filter(|(other, _)| *other != place).map(|(_, &atom)| atom);
        let held = |j: usize| kept.contains(j) || others().any(|atom| atoms.members(atom).contains(&j));
        if atoms.members(chosen[place]).iter().all(|&j| x.value_at(j) == 0.0 || held(j)) {
            chosen.remove(place);
        }
    }
    chosen
}

/// The point without atoms: the minimum over what is always in, within bounds where there are some.
pub(crate) fn null_model(f: &dyn Problem, kept: &IndexSet, bounds: Option<&Bounds>) -> Evaluated<SparseVec> {
    match bounds {
        Some(bounds) => Within::new(f, bounds, kept).minimum(&SparseVec::zero(f.dim()), f64::INFINITY),
        None => free_null_model(f, kept),
    }
}
