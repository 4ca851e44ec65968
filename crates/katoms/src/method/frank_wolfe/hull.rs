//! The atoms that an iterate is made of, steps between them, and the minimum of f over their hull.
//!
//! The fully corrective steps are those of Lacoste-Julien and Jaggi (2015), Algorithms 3 and 4, with another solver of the
//! small problem min f(Σ wᵢ·atomᵢ) over the simplex: Newton's method, whose quadratic model is minimised by an active-set
//! method. For least squares one step is exact. Only the images of the atoms are touched: no pass, no column.

use serde::{Deserialize, Serialize};

use super::simplex;
use crate::error::{Error, check_option};
use crate::linalg::{Matrix, dot};
use crate::method::smooth::Smooth;
use crate::objective::Evaluated;
use crate::space::{Covector, Point};

/// Newton steps of a correction. For a quadratic the first is exact, and the next iteration's wins back what rounding took.
const NEWTON_STEPS: usize = 20;
/// Newton and bisection steps of a line search, for a loss that is not quadratic.
const LINE_STEPS: usize = 60;
/// A slope this small, relative to the one at the start, is the minimum.
const FLAT: f64 = 1e-12;
/// Differences of f below this share are rounding. A step along a slope of −gap lowers f by about gap²/C: at
/// a relative gap of 1e-8 that no longer shows in f, though the gap still falls.
const ROUNDING: f64 = 1e-14;

/// Whether f is minimised over the hull of the atoms after a step.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Correction {
    /// It is not.
    #[default]
    Never,
    /// In every iteration.
    Full {
        /// Until the gap within the hull is at most this share of the gap within the set. For least squares
        /// the minimum is exact in any case.
        tolerance: f64,
    },
}

impl Correction {
    /// In every iteration, to a hundredth of the gap within the set.
    pub fn full() -> Self {
        Self::Full { tolerance: 0.01 }
    }

    pub(super) fn check(self) -> Result<(), Error> {
        let Self::Full { tolerance } = self else { return Ok(()) };
        let share = |v: f64| (0.0..1.0).contains(&v);
        check_option("the tolerance of the correction", tolerance, "it must be at least 0 and below 1", share)
    }
}

/// Where a step goes, in terms of the places of atoms.
#[derive(Debug, Clone, Copy)]
pub(super) enum Direction {
    /// s − x.
    Toward(usize),
    /// x − v.
    Away(usize),
    /// s − v.
    Pairwise { from: usize, to: usize },
}

/// Σ weight·atom, where the weights are not negative and sum to 1. Equal atoms are one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "P: Point")]
pub(super) struct Hull<P> {
    pub atoms: Vec<Evaluated<P>>,
    pub weights: Vec<f64>,
    /// ⟨atom i, ∇²f·atom j⟩ for j ≤ i, of as many atoms as were asked for: where the loss is quadratic.
    gram: Vec<Vec<f64>>,
}

impl<P: Point> Hull<P> {
    pub fn new(terms: Vec<(f64, Evaluated<P>)>) -> Self {
        let (weights, atoms) = terms.into_iter().unzip();
        Self { atoms, weights, gram: Vec::new() }
    }

    /// The atom that is this point. O(atoms).
    pub fn find(&self, point: &P) -> Option<usize> {
        self.atoms.iter().position(|atom| atom.point() == point)
    }

    /// The place of an atom, which comes in with weight 0 if it is new.
    pub fn admit(&mut self, atom: Evaluated<P>) -> usize {
        self.find(atom.point()).unwrap_or_else(|| {
            self.atoms.push(atom);
            self.weights.push(0.0);
            self.atoms.len() - 1
        })
    }

    /// Σ weight·atom with its image. O(m·atoms); no column is read.
    pub fn combined(&self, domain: P::Domain, weights: &[f64]) -> Evaluated<P> {
        let outputs = self.atoms.first().map_or(0, |atom| atom.image().len());
        Evaluated::sum(domain, weights, &self.atoms, outputs)
    }

    /// Drops the atoms of weight 0.
    pub fn drop_zeros(&mut self) {
        let kept: Vec<bool> = self.weights.iter().map(|w| *w > 0.0).collect();
        if kept.iter().all(|k| *k) {
            return;
        }
        retain(&mut self.atoms, &kept);
        retain(&mut self.weights, &kept);
        retain(&mut self.gram, &kept);
        self.gram.iter_mut().for_each(|row| retain(row, &kept));
    }

    /// The way from x.
    pub fn vector(&self, x: &Evaluated<P>, direction: Direction) -> Evaluated<P> {
        let atom = |i: usize| &self.atoms[i];
        match direction {
            Direction::Toward(s) => Evaluated::combine(-1.0, x, 1.0, atom(s)),
            Direction::Away(v) => Evaluated::combine(1.0, x, -1.0, atom(v)),
            Direction::Pairwise { from, to } => Evaluated::combine(-1.0, atom(from), 1.0, atom(to)),
        }
    }

    /// γ_max: the longest step that leaves no weight negative.
    pub fn longest(&self, direction: Direction) -> f64 {
        match direction {
            Direction::Toward(_) => 1.0,
            Direction::Away(v) => self.weights[v] / (1.0 - self.weights[v]),
            Direction::Pairwise { from, .. } => self.weights[from],
        }
    }

    /// The weights after a step of length γ. One of length γ_max drops an atom, but a step to s drops all others, none
    /// in particular.
    pub fn shift(&mut self, direction: Direction, gamma: f64) {
        let whole = gamma >= self.longest(direction);
        let mut weights = self.weights.clone();
        let dropped = match direction {
            Direction::Toward(s) => {
                weights.iter_mut().for_each(|w| *w *= 1.0 - gamma);
                weights[s] += gamma;
                None
            }
            Direction::Away(v) => {
                weights.iter_mut().for_each(|w| *w *= 1.0 + gamma);
                weights[v] -= gamma;
                Some(v)
            }
            Direction::Pairwise { from, to } => {
                weights[from] -= gamma;
                weights[to] += gamma;
                Some(from)
            }
        };
        if let Some(v) = dropped.filter(|_| whole) {
            weights[v] = 0.0;
        }
        self.weights = normalised(weights);
    }

    /// The Hessian of w ↦ f(Σ wᵢ·atomᵢ) at x. Where the loss is quadratic only the rows of new atoms are
    /// computed, O(m·atoms) each; otherwise all of them.
    fn hessian<G: Covector<P>>(&mut self, f: &dyn Smooth<P, G>, x: &Evaluated<P>) -> Matrix {
        if !f.loss().is_quadratic() {
            self.gram.clear();
        }
        let h = f.curvature(x);
        for i in self.gram.len()..self.atoms.len() {
            self.gram.push(f.curvatures_along(&h, &self.atoms[i], &self.atoms[..=i]));
        }
        Matrix::from_fn(self.atoms.len(), self.atoms.len(), |i, j| self.gram[i.max(j)][i.min(j)])
    }

    /// Moves the weights to the minimum over the hull, until the gap there is at most `enough`, and gives the
    /// point. O(m·atoms + atoms³) a step for least squares; O(m·atoms²) otherwise.
    pub fn correct<G: Covector<P>>(&mut self, f: &dyn Smooth<P, G>, enough: f64) -> Evaluated<P> {
        let domain = f.domain();
        let mut x = self.combined(domain, &self.weights);
        let mut here = f.value(&x);
        for _ in 0..if f.loss().is_quadratic() { 1 } else { NEWTON_STEPS } {
            let slopes = f.slopes(&x, &self.atoms);
            let least = slopes.iter().fold(f64::INFINITY, |m, s| m.min(*s));
            if !(dot(&slopes, &self.weights) - least > enough) {
                break;
            }
            let q = self.hessian(f, &x);
            let mut weights = normalised(simplex::minimizer(&q, &slopes, &self.weights));
            let mut next = self.combined(domain, &weights);
            if !descends(f.value(&next), here) {
                let gamma = step_along(f, &x, &Evaluated::combine(-1.0, &x, 1.0, &next), 1.0);
                let between = weights.iter().zip(&self.weights).map(|(v, w)| w + gamma * (v - w));
                weights = normalised(between.collect());
                next = self.combined(domain, &weights);
            }
            let there = f.value(&next);
            if !descends(there, here) {
                break;
            }
            self.weights = weights;
            (x, here) = (next, there);
        }
        x
    }
}

/// Weights that sum to 1 again; those that are only rounding become 0.
fn normalised(mut weights: Vec<f64>) -> Vec<f64> {
    weights.iter_mut().filter(|w| !(**w > f64::EPSILON)).for_each(|w| *w = 0.0);
    let total: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|w| *w /= total);
    weights
}

/// The items whose mark is true. There may be fewer items than marks.
fn retain<T>(items: &mut Vec<T>, kept: &[bool]) {
    let mut marks = kept.iter();
    items.retain(|_| marks.next().is_some_and(|k| *k));
}

/// Whether f did not rise from `before` to `now`, up to rounding.
pub(super) fn descends(now: f64, before: f64) -> bool {
    now <= before + ROUNDING * before.abs()
}

/// argmin over γ in [0, most] of f(x + γ·d); 0 where f does not fall along d. A formula for least squares,
/// otherwise Newton's method within a bracket that is halved where Newton leaves it. O(m) a step.
pub(super) fn step_along<P: Point, G: Covector<P>>(
    f: &dyn Smooth<P, G>,
    x: &Evaluated<P>,
    d: &Evaluated<P>,
    most: f64,
) -> f64 {
    let start = f.slope(x, d);
    if !(start < 0.0) {
        return 0.0;
    }
    if f.loss().is_quadratic() {
        let curvature = f.curvature_along(x, d);
        return if curvature > 0.0 { (-start / curvature).min(most) } else { most };
    }
    let at = |gamma: f64| Evaluated::combine(1.0, x, gamma, d);
    if f.slope(&at(most), d) <= 0.0 {
        return most;
    }
    let (mut low, mut high, mut gamma) = (0.0, most, 0.0);
    let (mut here, mut slope) = (x.clone(), start);
    for _ in 0..LINE_STEPS {
        let newton = gamma - slope / f.curvature_along(&here, d);
        gamma = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
        here = at(gamma);
        slope = f.slope(&here, d);
        if slope.abs() <= FLAT * start.abs() || high - low <= f64::EPSILON * high {
            break;
        }
        if slope < 0.0 {
            low = gamma;
        } else {
            high = gamma;
        }
    }
    gamma
}
