//! Where a Frank–Wolfe method stands, and what all of them do with it.

use serde::{Deserialize, Serialize};

use super::Correction;
use super::active_set::{ActiveSet, normalised};
use super::correction::correct;
use super::line_search::{descends, step_along};
use crate::loss::Loss;
use crate::method::{Move, Progress};
use crate::objective::{Evaluated, Objective};
use crate::operator::LinearOperator;
use crate::set::LinearMinimize;
use crate::space::Point;

/// The iterate, the atoms it is made of, and what is proven.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "P: Point")]
pub struct FrankWolfeState<P> {
    pub(super) x: Evaluated<P>,
    pub(super) objective: f64,
    /// Moves so far.
    pub(super) t: usize,
    pub(super) active: ActiveSet<P>,
    /// The largest number that f is known not to go below on the set.
    lower_bound: f64,
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

impl Direction {
    fn vector<P: Point>(self, x: &Evaluated<P>, active: &ActiveSet<P>) -> Evaluated<P> {
        let atom = |i: usize| &active.atoms[i];
        match self {
            Self::Toward(s) => Evaluated::combine(-1.0, x, 1.0, atom(s)),
            Self::Away(v) => Evaluated::combine(1.0, x, -1.0, atom(v)),
            Self::Pairwise { from, to } => Evaluated::combine(-1.0, atom(from), 1.0, atom(to)),
        }
    }

    /// γ_max: the longest step that leaves no weight negative.
    fn longest(self, weights: &[f64]) -> f64 {
        match self {
            Self::Toward(_) => 1.0,
            Self::Away(v) => weights[v] / (1.0 - weights[v]),
            Self::Pairwise { from, .. } => weights[from],
        }
    }

    /// The weights after a step of length γ.
    fn shift(self, gamma: f64, weights: &mut [f64]) {
        match self {
            Self::Toward(s) => {
                weights.iter_mut().for_each(|w| *w *= 1.0 - gamma);
                weights[s] += gamma;
            }
            Self::Away(v) => {
                weights.iter_mut().for_each(|w| *w *= 1.0 + gamma);
                weights[v] -= gamma;
            }
            Self::Pairwise { from, to } => {
                weights[from] -= gamma;
                weights[to] += gamma;
            }
        }
    }

    /// The atom that a step of length γ_max drops. A step to s drops all others, none in particular.
    fn dropped(self) -> Option<usize> {
        match self {
            Self::Toward(_) => None,
            Self::Away(v) | Self::Pairwise { from: v, .. } => Some(v),
        }
    }
}

impl<P: Point> FrankWolfeState<P> {
    /// The weights and the atoms that make up the iterate; none where the method does not keep them.
    pub fn atoms(&self) -> impl Iterator<Item = (f64, &P)> {
        self.active.weights.iter().copied().zip(self.active.atoms.iter().map(Evaluated::point))
    }

    /// The best lower bound so far on f over the set.
    pub fn lower_bound(&self) -> f64 {
        self.lower_bound
    }

    /// At x0, which is brought into the set, as a combination of atoms. Touches only their columns.
    pub(super) fn new<A, L, S>(f: &Objective<A, L>, set: &S, x0: P) -> Self
    where
        A: LinearOperator<Point = P>,
        L: Loss,
        S: LinearMinimize<A::Covector, Point = P>,
    {
        let terms = set.decompose(x0).into_iter().map(|(weight, atom)| (weight, f.at(atom))).collect();
        let active = ActiveSet::new(terms);
        let x = active.combined(f.operator().domain(), &active.weights);
        let objective = f.value(&x);
        Self { x, objective, t: 0, active, lower_bound: f.lower_bound() }
    }

    /// The oracle's vertex with its image. One column for each entry of the vertex, none where it is known.
    pub(super) fn vertex<A, L, S>(&self, f: &Objective<A, L>, set: &S, g: &A::Covector) -> Evaluated<P>
    where
        A: LinearOperator<Point = P>,
        L: Loss,
        S: LinearMinimize<A::Covector, Point = P>,
    {
        let s = set.argmin(g);
        self.active.find(&s).map_or_else(|| f.at(s), |i| self.active.atoms[i].clone())
    }

    /// v, the atom of the iterate with the largest ⟨∇f(x), v⟩, and ⟨∇f(x), v − x⟩. O(m·atoms).
    pub(super) fn worst_atom<A, L>(&self, f: &Objective<A, L>) -> (usize, f64)
    where
        A: LinearOperator<Point = P>,
        L: Loss,
    {
        let slopes = f.slopes(&self.x, &self.active.atoms);
        let worst = (0..slopes.len()).max_by(|&a, &b| slopes[a].total_cmp(&slopes[b]).then(b.cmp(&a))).unwrap_or(0);
        let here: f64 = slopes.iter().zip(&self.active.weights).map(|(s, w)| s * w).sum();
        (worst, slopes[worst] - here)
    }

    /// Keeps the iterate alone.
    pub(super) fn forget_atoms(&mut self) {
        self.active = ActiveSet::empty();
    }

    /// Books the gap at x: f does not go below f(x) − gap.
    pub(super) fn prove(&mut self, gap: f64) {
        self.lower_bound = self.lower_bound.max(self.objective - gap.max(0.0));
    }

    /// How far f(x) is at most from the minimum. Below the rounding of f nothing is proven.
    fn proven(&self) -> Option<f64> {
        Some((self.objective - self.lower_bound).max(f64::EPSILON * self.objective.abs()))
    }

    /// No vertex is better than x, to first order: x is optimal. Nothing is known where the gap is not a number.
    pub(super) fn without_slope(&mut self, gap: f64) -> Progress {
        if gap.is_nan() {
            return Progress { change: f64::NAN, ..Progress::still(self.objective, Move::Stalled) };
        }
        self.prove(gap);
        Progress { gap: self.proven(), ..Progress::still(self.objective, Move::Fixed) }
    }

    /// The line search along a direction, the correction, and the move. `gap` is the one at x.
    pub(super) fn follow<A, L>(
        &mut self,
        f: &Objective<A, L>,
        direction: Direction,
        correction: Correction,
        gap: f64,
    ) -> Progress
    where
        A: LinearOperator<Point = P>,
        L: Loss,
    {
        let longest = direction.longest(&self.active.weights);
        let gamma = step_along(f, &self.x, &direction.vector(&self.x, &self.active), longest);
        self.step(f, direction, gamma, correction, gap)
    }

    /// A step of length γ. One of length 0 or one that raises f is taken back.
    pub(super) fn step<A, L>(
        &mut self,
        f: &Objective<A, L>,
        direction: Direction,
        gamma: f64,
        correction: Correction,
        gap: f64,
    ) -> Progress
    where
        A: LinearOperator<Point = P>,
        L: Loss,
    {
        let before = self.active.weights.clone();
        let drops = direction.dropped().filter(|_| gamma >= direction.longest(&before));
        let mut weights = before.clone();
        direction.shift(gamma, &mut weights);
        if let Some(v) = drops {
            weights[v] = 0.0;
        }
        self.active.weights = normalised(weights);
        let next = match correction {
            Correction::Never => self.active.combined(f.operator().domain(), &self.active.weights),
            Correction::Full { tolerance } => correct(f, &mut self.active, tolerance * gap),
        };
        let progress = self.arrive(f, next, gamma);
        if progress.kind == Move::Stalled {
            self.active.weights = before;
        }
        self.active.drop_zeros();
        progress
    }

    /// The move to the next iterate, or none where the step has no length or raises f.
    pub(super) fn arrive<A, L>(&mut self, f: &Objective<A, L>, next: Evaluated<P>, step: f64) -> Progress
    where
        A: LinearOperator<Point = P>,
        L: Loss,
    {
        let objective = f.value(&next);
        if !(step > 0.0) || !descends(objective, self.objective) {
            let change = Progress::moved(objective, next.point(), self.x.point()).change;
            return Progress { gap: self.proven(), change, step, ..Progress::still(self.objective, Move::Stalled) };
        }
        self.move_to(next, objective, step)
    }

    /// The move to the next iterate.
    pub(super) fn move_to(&mut self, next: Evaluated<P>, objective: f64, step: f64) -> Progress {
        let moved = Progress::moved(objective, next.point(), self.x.point());
        (self.x, self.objective) = (next, objective);
        self.t += 1;
        Progress { gap: self.proven(), step, ..moved }
    }
}
