//! The relaxation behind a [certificate](super::certify), solved on a working set of atoms by accelerated proximal steps,
//! which touch only the columns of that set.

use std::ops::Range;

use crate::linalg::{combine, dot, norm, top_k};
use crate::loss::Loss;
use crate::method::refit_on;
use crate::objective::{Evaluated, Objective};
use crate::operator::LinearOperator;
use crate::set::{Atoms, CoordinateSet};
use crate::space::{IndexSet, Point, SparseVec, Subspace};

/// Relative differences as small as this are rounding.
pub(super) const ROUNDING: f64 = 1e-9;
/// The atoms that may enter the working set after a pass, in multiples of k. Or as many as it has.
const ENTER: usize = 4;
/// Proximal steps between two passes, and the relative length of a step that is the last one.
const STEPS: usize = 100;
const LAST_STEP: f64 = 1e-7;

/// The convex problem whose minimum is the largest D.
pub(super) struct Relaxation<'a, A: LinearOperator<Point = SparseVec>, L> {
    pub f: &'a Objective<A, L>,
    pub atoms: Atoms,
    pub k: usize,
    /// Always selected, or free of the ridge: minimised over exactly, whatever the others are.
    settled: IndexSet,
    /// Those of them that the ridge holds.
    pub ridged: IndexSet,
    /// The columns that are free of the ridge.
    pub free: Vec<Vec<f64>>,
    /// What the curvature never exceeds; where it has no bound, what it is at the model.
    curvatures: Vec<f64>,
}

/// What each atom of the working set contributes, one after the other, and their sum.
#[derive(Clone)]
pub(super) struct Iterate {
    parts: Vec<f64>,
    pub at: Evaluated<SparseVec>,
}

impl Iterate {
    fn combine(a: f64, x: &Self, b: f64, y: &Self) -> Self {
        let parts = combine(a, &x.parts, b, &y.parts);
        Self { parts, at: Evaluated::combine(a, &x.at, b, &y.at) }
    }
}

impl<'a, A, L> Relaxation<'a, A, L>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
{
    pub fn new<S: CoordinateSet>(f: &'a Objective<A, L>, set: &S, x: &Evaluated<SparseVec>) -> Self {
        let (kept, mut atoms) = (set.kept(), set.candidates());
        let free = f.unridged().cloned().unwrap_or_else(|| IndexSet::new(set.domain(), Vec::new()));
        if free.without(&kept).dimension() > 0 {
            atoms = atoms.without(&free);
        }
        let (settled, ridged) = (kept.union(&free), kept.without(&free));
        let free = (0..free.dimension()).map(|i| f.at(free.basis(i)).image().to_vec()).collect();
        let mut curvatures = f.curvature(x).bound().to_vec();
        if !f.loss().is_quadratic() {
            curvatures.fill(f.loss().curvature_scale(x.image()));
        }
        Self { f, atoms, k: set.atoms(), settled, ridged, free, curvatures }
    }

    /// The atoms of x and what each of them contributes. What two of them share belongs to the first.
    pub fn start(&self, chosen: &[usize], x: &SparseVec) -> (Working, Iterate) {
        let mut working = Working::new(x.dim());
        self.fetch(chosen);
        working.add(&self.atoms, chosen, |members| self.scale(members));
        let mut left = x.on(&working.support).to_dense();
        let members = chosen.iter().flat_map(|&atom| self.atoms.members(atom));
        let parts: Vec<f64> = members.map(|&j| std::mem::take(&mut left[j])).collect();
        let point = SparseVec::combine(1.0, &working.point(&parts), 1.0, &x.on(&self.settled));
        let at = self.settle(self.f.at(point));
        (working, Iterate { parts, at })
    }

    /// Adds the strongest of the atoms whose squared norm exceeds the k-th largest inside: at the minimum of the relaxation none
    /// does.
    pub fn enter(&self, working: &mut Working, iterate: &mut Iterate, squared_norms: &[f64]) {
        let inside: Vec<f64> = working.atoms.iter().map(|&atom| squared_norms[atom]).collect();
        let strong = top_k(&inside, self.k);
        let full = strong.len() == self.k;
        let threshold = if full { strong.iter().fold(f64::INFINITY, |m, &i| m.min(inside[i])) } else { 0.0 };
        let mut outside = squared_norms.to_vec();
        working.atoms.iter().for_each(|&atom| outside[atom] = 0.0);
        let mut entering = top_k(&outside, (ENTER * self.k).max(working.atoms.len()));
        entering.retain(|&atom| outside[atom] > threshold * (1.0 + ROUNDING));
        self.fetch(&entering);
        working.add(&self.atoms, &entering, |members| self.scale(members));
        iterate.parts.resize(working.places.len(), 0.0);
    }

    /// Brings the columns of atoms near, and of what is always there.
    fn fetch(&self, atoms: &[usize]) {
        let members = atoms.iter().flat_map(|&atom| self.atoms.members(atom)).chain(self.settled.indices());
        self.f.fetch(&IndexSet::new(self.settled.dim(), members.copied().collect()));
    }

    /// The minimum over what is always selected or free of the ridge.
    fn settle(&self, x: Evaluated<SparseVec>) -> Evaluated<SparseVec> {
        if self.settled.dimension() == 0 { x } else { refit_on(self.f, x, &self.settled) }
    }

    /// The steepest of some coordinates; 1 where columns are not to be had one by one.
    fn scale(&self, members: &[usize]) -> f64 {
        if !self.f.operator().has_cheap_columns() {
            return 1.0;
        }
        let curvature = |&j: &usize| {
            let column = self.f.at(SparseVec::sorted(self.settled.dim(), vec![j], vec![1.0]));
            column.image().iter().zip(&self.curvatures).map(|(a, h)| h * a * a).sum::<f64>()
        };
        let steepest = members.iter().map(curvature).fold(0.0, f64::max);
        if steepest > 0.0 { steepest } else { 1.0 }
    }

    /// Accelerated proximal steps on the working set, with the momentum dropped where it points uphill.
    /// Also the value reached: no D lies above the relaxation, so none lies above it.
    pub fn descend(&self, working: &Working, start: Iterate, steepness: &mut f64) -> (Iterate, f64) {
        let (mut x, mut ahead, mut inertia, mut penalty) = (start.clone(), start, 1.0_f64, f64::INFINITY);
        for _ in 0..STEPS {
            let g = self.f.pulled_back_on(&self.f.residual(&ahead.at), &working.support);
            let next;
            (next, penalty) = self.step(working, &ahead, g.values(), steepness);
            let step = combine(1.0, &next.parts, -1.0, &ahead.parts);
            let progress = combine(1.0, &next.parts, -1.0, &x.parts);
            if working.inner(&step, &progress) < 0.0 {
                inertia = 1.0;
            }
            let heavier = 0.5 * (1.0 + (1.0 + 4.0 * inertia * inertia).sqrt());
            let momentum = (inertia - 1.0) / heavier;
            let last = working.inner(&step, &step) <= LAST_STEP.powi(2) * working.inner(&next.parts, &next.parts);
            ahead = Iterate::combine(1.0 + momentum, &next, -momentum, &x);
            (x, inertia) = (next, heavier);
            if last {
                break;
            }
            ahead.at = self.settle(ahead.at);
        }
        x.at = self.settle(x.at);
        let kept = x.at.point().on(&self.ridged).norm().powi(2);
        let value = self.f.loss().value(x.at.image()) + 0.5 * self.f.ridge_weight() * kept + penalty;
        (x, value)
    }

    /// One proximal step from `ahead`, where `g` is the gradient of the loss on the working set, and the
    /// penalty after it. The steepness rises until the step's quadratic model lies above the loss.
    fn step(&self, working: &Working, ahead: &Iterate, g: &[f64], steepness: &mut f64) -> (Iterate, f64) {
        loop {
            let target = ahead.parts.iter().zip(&working.places).zip(&working.weights);
            let target: Vec<f64> = target.map(|((x, &place), scale)| x - g[place] / (*steepness * scale)).collect();
            let (parts, penalty) = working.shrink(target, *steepness, self.f.ridge_weight(), self.k);
            let d = combine(1.0, &parts, -1.0, &ahead.parts);
            let along = self.f.at(working.point(&d));
            let curvature = self.curvature_along(&ahead.at, &along);
            let model = working.inner(&d, &d);
            let steep = curvature > *steepness * model * (1.0 + ROUNDING);
            if !steep || *steepness > f64::MAX.sqrt() {
                return (Iterate { parts, at: Evaluated::combine(1.0, &ahead.at, 1.0, &along) }, penalty);
            }
            *steepness = (1.5 * *steepness).max(curvature / model);
        }
    }

    /// What the curvature of the loss along d never exceeds; where it has no bound, twice how far the loss at x + d is above
    /// its tangent at x.
    fn curvature_along(&self, x: &Evaluated<SparseVec>, d: &Evaluated<SparseVec>) -> f64 {
        let loss = self.f.loss();
        if loss.curvature_bound() < f64::INFINITY {
            return d.image().iter().zip(&self.curvatures).map(|(z, h)| h * z * z).sum();
        }
        let there = combine(1.0, x.image(), 1.0, d.image());
        2.0 * (loss.value(&there) - loss.value(x.image()) - dot(&self.f.residual(x), d.image()))
    }
}

/// The atoms that the relaxation is solved on.
pub(super) struct Working {
    atoms: Vec<usize>,
    /// The parts of each atom, and the curvature along its steepest coordinate: steps do not depend on units.
    ranges: Vec<Range<usize>>,
    scales: Vec<f64>,
    /// The same curvature for each part.
    weights: Vec<f64>,
    support: IndexSet,
    /// The place of each part in the support.
    places: Vec<usize>,
}

impl Working {
    fn new(dim: usize) -> Self {
        let support = IndexSet::new(dim, Vec::new());
        let (atoms, ranges, scales, weights, places) = Default::default();
        Self { atoms, ranges, scales, weights, support, places }
    }

    /// Adds atoms behind those that are there.
    fn add(&mut self, all: &Atoms, some: &[usize], scale: impl Fn(&[usize]) -> f64) {
        for &atom in some {
            let (members, start) = (all.members(atom), self.weights.len());
            let scale = scale(members);
            self.scales.push(scale);
            self.ranges.push(start..start + members.len());
            self.weights.resize(start + members.len(), scale);
        }
        self.atoms.extend(some);
        let members: Vec<usize> = self.atoms.iter().flat_map(|&atom| all.members(atom)).copied().collect();
        self.support = IndexSet::new(self.support.dim(), members.clone());
        let place = |j: &usize| self.support.indices().partition_point(|i| i < j);
        self.places = members.iter().map(place).collect();
    }

    /// The sum of the parts.
    fn point(&self, parts: &[f64]) -> SparseVec {
        let mut values = vec![0.0; self.support.dimension()];
        self.places.iter().zip(parts).for_each(|(&place, part)| values[place] += part);
        self.support.point(&values)
    }

    /// ⟨a, b⟩, each atom in its own units.
    fn inner(&self, a: &[f64], b: &[f64]) -> f64 {
        self.weights.iter().zip(a).zip(b).map(|((weight, a), b)| weight * a * b).sum()
    }

    /// The minimum of Σ (½·steepness·scale·‖v_g − target_g‖² + ½λ‖v_g‖²/z_g) over v and z, and its
    /// penalty ½λ·Σ‖v_g‖²/z_g. With t_g = λ/(steepness·scale), v_g = target_g·z_g/(z_g + t_g), and
    /// ‖target_g‖/(z_g + t_g) is the same, 1/τ, for every z_g between 0 and 1.
    fn shrink(&self, mut target: Vec<f64>, steepness: f64, lambda: f64, k: usize) -> (Vec<f64>, f64) {
        let norms: Vec<f64> = self.ranges.iter().map(|range| norm(&target[range.clone()])).collect();
        let t: Vec<f64> = self.scales.iter().map(|scale| lambda / (steepness * scale)).collect();
        let tau = rate(&norms, &t, k);
        let mut penalty = 0.0;
        for ((range, &norm), &t) in self.ranges.iter().zip(&norms).zip(&t) {
            let z = if norm == 0.0 { 0.0 } else { (norm * tau - t).clamp(0.0, 1.0) };
            target[range.clone()].iter_mut().for_each(|v| *v *= z / (z + t));
            penalty += 0.5 * lambda * z * (norm / (z + t)).powi(2);
        }
        (target, penalty)
    }
}

/// The τ at which the shares z = norm·τ − t, between 0 and 1, add up to k; +∞ where each atom can have all of its own. The sum
/// rises with τ in straight pieces, which begin and end where a share leaves 0 or reaches 1.
fn rate(norms: &[f64], t: &[f64], k: usize) -> f64 {
    let positive: Vec<(f64, f64)> =
        norms.iter().copied().zip(t.iter().copied()).filter(|(norm, _)| *norm > 0.0).collect();
    if positive.len() <= k {
        return f64::INFINITY;
    }
    let ends = |&(norm, t): &(f64, f64)| [(t / norm, norm), ((1.0 + t) / norm, -norm)];
    let mut turns: Vec<(f64, f64)> = positive.iter().flat_map(ends).collect();
    turns.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut tau, mut sum, mut slope) = (0.0, 0.0, 0.0);
    for (at, change) in turns {
        let next = sum + slope * (at - tau);
        if next > k as f64 {
            return tau + (k as f64 - sum) / slope;
        }
        (tau, sum, slope) = (at, next, slope + change);
    }
    tau
}
