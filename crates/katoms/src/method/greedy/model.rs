//! A model of some atoms, always at the minimum of f over them.
//!
//! For a quadratic loss the minimum follows a factorisation of the chosen columns that is updated as atoms
//! come and go. In the metric of the curvatures h, with the ridge as one more row for each coordinate,
//!
//! | | code | |
//! |---|---|---|
//! | φ̃_j = (√h·φ_j, √λ·e_j) | [`Frame::enter`] | a column |
//! | e = (−∇ℓ/√h, −√λ·x) | [`Frame::step`] | the residual: −∇f(x) = Φ̃ᵀe |
//! | x + R⁻¹·Qᵀe | [`Frame::step`] | the minimum over the chosen coordinates |
//!
//! The step starts from the residual of the point as it is. So it also removes what rounding the steps
//! before it left, and no error builds up. Other losses are refitted by Newton's method from the warm point.

use serde::{Deserialize, Serialize};

use super::factor::Factor;
use crate::linalg::solve_symmetric;
use crate::loss::Loss;
use crate::method::{Move, Progress, refit_on};
use crate::objective::{Evaluated, Objective};
use crate::operator::LinearOperator;
use crate::set::{Atoms, CoordinateSet};
use crate::space::{IndexSet, Point, SparseVec, Subspace};

/// What is minimised, and over which atoms.
pub(super) struct Problem<'a, A: LinearOperator, L> {
    pub f: &'a Objective<A, L>,
    pub atoms: Atoms,
    kept: IndexSet,
    /// The most atoms of an answer.
    pub k: usize,
}

impl<'a, A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>, L: Loss> Problem<'a, A, L> {
    pub fn new(f: &'a Objective<A, L>, set: &impl CoordinateSet) -> Self {
        Self { f, atoms: set.candidates(), kept: set.kept(), k: set.atoms() }
    }

    /// f(0) above its lower bound: the size of what is fitted, and so of its rounding.
    pub fn scale(&self) -> f64 {
        self.f.value(&self.f.at(SparseVec::zero(self.f.operator().domain()))) - self.f.lower_bound()
    }

    /// The coordinates of some atoms, and what is always kept.
    pub fn support(&self, chosen: &[usize]) -> IndexSet {
        let members = chosen.iter().flat_map(|&atom| self.atoms.members(atom).iter().copied());
        IndexSet::new(self.kept.dim(), self.kept.indices().iter().copied().chain(members).collect())
    }
}

/// The minimum of f over some atoms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Model {
    pub x: Evaluated<SparseVec>,
    pub objective: f64,
    /// In the order of their coming.
    pub chosen: Vec<usize>,
    /// For a quadratic loss.
    frame: Option<Frame>,
}

/// A direction that came to the span of the chosen columns, or left it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Direction {
    /// √h·q: its products with all columns are one pass away.
    pub residual: Vec<f64>,
    /// 1 when it came, −1 when it left.
    pub sign: f64,
    /// The coordinate that brought it or took it away, and their product.
    pub own: (usize, f64),
    /// The other coordinates inside: they are orthogonal to it.
    pub inside: Vec<usize>,
    /// qᵀe when it came: the residual lost share·q.
    pub share: f64,
}

impl Model {
    /// The minimum over the atoms of a point, and the directions of its coordinates.
    pub fn start<A, L>(problem: &Problem<'_, A, L>, chosen: Vec<usize>) -> (Self, Vec<Direction>)
    where
        A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
        L: Loss,
    {
        let f = problem.f;
        let support = problem.support(&chosen);
        let x = f.at(support.point(&vec![0.0; support.dimension()]));
        let objective = f.value(&x);
        let mut model = Self { x, objective, chosen, frame: None };
        let mut directions = Vec::new();
        if f.loss().is_quadratic() {
            let mut frame = Frame::new(f, &model.x);
            directions = support.indices().iter().filter_map(|&j| frame.enter(f, j)).collect();
            model.frame = Some(frame);
        }
        model.settle(problem, &mut []);
        (model, directions)
    }

    /// A model that was fitted elsewhere and does not grow.
    pub fn given(x: Evaluated<SparseVec>, objective: f64, chosen: Vec<usize>) -> Self {
        Self { x, objective, chosen, frame: None }
    }

    /// What an addition did; the last one when all k atoms are there.
    pub fn progress<A: LinearOperator, L>(&self, problem: &Problem<'_, A, L>, before: &SparseVec) -> Progress {
        let kind = if self.chosen.len() >= problem.k { Move::Completed } else { Move::Grown };
        Progress { kind, ..Progress::moved(self.objective, self.x.point(), before) }
    }

    /// Which coordinates belong to it.
    pub fn held<A: LinearOperator, L>(&self, problem: &Problem<'_, A, L>) -> Vec<bool> {
        let mut held = vec![false; problem.kept.dim()];
        let members = self.chosen.iter().flat_map(|&atom| problem.atoms.members(atom));
        problem.kept.indices().iter().chain(members).for_each(|&j| held[j] = true);
        held
    }

    /// Lets in the atom of the largest gain, the first of equal ones. `None` when no gain is above `least`
    /// or no atom brings anything new.
    pub fn grow<A, L>(&mut self, problem: &Problem<'_, A, L>, mut gains: Vec<f64>, least: f64) -> Option<Vec<Direction>>
    where
        A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
        L: Loss,
    {
        self.chosen.iter().for_each(|&atom| gains[atom] = f64::NEG_INFINITY);
        loop {
            let atom = (0..gains.len()).reduce(|best, atom| if gains[atom] > gains[best] { atom } else { best })?;
            if !(gains[atom] > least) {
                return None;
            }
            if let Some(directions) = self.enter(problem, atom) {
                return Some(directions);
            }
            gains[atom] = f64::NEG_INFINITY;
        }
    }

    /// Lets an atom in; `None`, with nothing changed, when all of its coordinates depend on those inside.
    fn enter<A, L>(&mut self, problem: &Problem<'_, A, L>, atom: usize) -> Option<Vec<Direction>>
    where
        A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
        L: Loss,
    {
        let held = self.held(problem);
        let mut directions = Vec::new();
        if let Some(frame) = &mut self.frame {
            let waiting = frame.waiting.len();
            let free = problem.atoms.members(atom).iter().filter(|&&j| !held[j]);
            directions = free.filter_map(|&j| frame.enter(problem.f, j)).collect();
            if directions.is_empty() {
                frame.waiting.truncate(waiting);
                return None;
            }
        }
        self.chosen.push(atom);
        self.settle(problem, &mut directions);
        Some(directions)
    }

    /// Takes an atom out, with the coordinates that no other chosen atom holds: the directions that left,
    /// and those of coordinates that depended on them.
    pub fn leave<A, L>(&mut self, problem: &Problem<'_, A, L>, atom: usize) -> Vec<Direction>
    where
        A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
        L: Loss,
    {
        self.chosen.retain(|&other| other != atom);
        let held = self.held(problem);
        let mut directions = Vec::new();
        if let Some(frame) = &mut self.frame {
            let alone: Vec<usize> = problem.atoms.members(atom).iter().copied().filter(|&j| !held[j]).collect();
            frame.waiting.retain(|j| !alone.contains(j));
            directions.extend(alone.iter().filter_map(|&j| frame.leave(j)));
            let waiting = std::mem::take(&mut frame.waiting);
            directions.extend(waiting.into_iter().filter_map(|j| frame.enter(problem.f, j)));
        }
        self.settle(problem, &mut directions);
        directions
    }

    /// Moves to the minimum over the atoms. The last of the new directions learns its share.
    fn settle<A, L>(&mut self, problem: &Problem<'_, A, L>, directions: &mut [Direction])
    where
        A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
        L: Loss,
    {
        let f = problem.f;
        let support = problem.support(&self.chosen);
        let start = support.point(&support.coordinates(self.x.point()));
        let frame = match &self.frame {
            Some(frame) => frame,
            None => {
                self.x = refit_on(f, f.at(start), &support);
                self.objective = f.value(&self.x);
                return;
            }
        };
        // A coordinate that came has the coefficient 0: the image is still right. After one has left it is not.
        if !self.x.point().indices().iter().all(|&j| support.contains(j)) {
            self.x = f.at(start.clone());
        }
        let (step, share) = frame.step(f, &self.x);
        if let Some(last) = directions.last_mut() {
            last.share = share;
        }
        self.x = f.at(SparseVec::combine(1.0, &start, 1.0, &step));
        self.objective = f.value(&self.x);
    }

    /// How much f rises when each chosen atom goes, in their order: exact for a quadratic loss where no
    /// coordinate waits, the second-order picture for others.
    pub fn removal_costs<A, L>(&self, problem: &Problem<'_, A, L>) -> Vec<f64>
    where
        A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
        L: Loss,
    {
        let fresh;
        let frame = match &self.frame {
            Some(frame) => frame,
            None => {
                fresh = Frame::around(problem.f, &self.x).0;
                &fresh
            }
        };
        let mut holders = vec![0_u32; problem.kept.dim()];
        problem.kept.indices().iter().for_each(|&j| holders[j] = 2);
        self.chosen.iter().flat_map(|&atom| problem.atoms.members(atom)).for_each(|&j| holders[j] += 1);
        let cost = |&atom: &usize| {
            let alone = problem.atoms.members(atom).iter().filter(|&&j| holders[j] == 1);
            frame.removal_cost(&alone.copied().collect::<Vec<_>>(), self.x.point())
        };
        self.chosen.iter().map(cost).collect()
    }
}

/// The chosen columns in the metric of some curvatures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Frame {
    /// √h.
    roots: Vec<f64>,
    factor: Factor,
    /// The coordinates, in the order of the factor.
    inside: Vec<usize>,
    /// Chosen coordinates that depend on those inside: their coefficients stay where they are.
    waiting: Vec<usize>,
}

impl Frame {
    fn new<A: LinearOperator, L: Loss>(f: &Objective<A, L>, x: &Evaluated<A::Point>) -> Self {
        let roots: Vec<f64> = f.curvatures(x).iter().map(|h| h.sqrt()).collect();
        let factor = Factor::new(roots.len());
        Self { roots, factor, inside: Vec::new(), waiting: Vec::new() }
    }

    /// The frame of a point's support, from scratch, and its directions. O(m·k²).
    pub fn around<A, L>(f: &Objective<A, L>, x: &Evaluated<SparseVec>) -> (Self, Vec<Direction>)
    where
        A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
        L: Loss,
    {
        let mut frame = Self::new(f, x);
        let directions = x.point().indices().iter().filter_map(|&j| frame.enter(f, j)).collect();
        (frame, directions)
    }

    /// Lets a coordinate in; one that depends on those inside waits. Touches its column.
    fn enter<A, L>(&mut self, f: &Objective<A, L>, j: usize) -> Option<Direction>
    where
        A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
        L: Loss,
    {
        let unit = IndexSet::new(f.operator().domain(), vec![j]);
        let top: Vec<f64> = f.at(unit.basis(0)).image().iter().zip(&self.roots).map(|(a, h)| a * h).collect();
        let Some(distance) = self.factor.add(&top, f.ridge_on_basis(&unit, 0).sqrt()) else {
            self.waiting.push(j);
            return None;
        };
        let residual = self.weighted(self.factor.direction(self.inside.len()));
        let inside = self.inside.clone();
        self.inside.push(j);
        Some(Direction { residual, sign: 1.0, own: (j, distance), inside, share: 0.0 })
    }

    fn leave(&mut self, j: usize) -> Option<Direction> {
        let place = self.inside.iter().position(|&i| i == j)?;
        let (direction, distance) = self.factor.remove(place);
        self.inside.remove(place);
        let residual = self.weighted(&direction);
        Some(Direction { residual, sign: -1.0, own: (j, distance), inside: self.inside.clone(), share: 0.0 })
    }

    fn weighted(&self, q: &[f64]) -> Vec<f64> {
        q.iter().zip(&self.roots).map(|(q, h)| q * h).collect()
    }

    /// R⁻¹·Qᵀe: the way from x to the minimum over the coordinates inside, and e's part along the last
    /// direction.
    fn step<A, L>(&self, f: &Objective<A, L>, x: &Evaluated<SparseVec>) -> (SparseVec, f64)
    where
        A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
        L: Loss,
    {
        let part = |(r, h): (f64, &f64)| if *h > 0.0 { -r / h } else { 0.0 };
        let top: Vec<f64> = f.residual(x).into_iter().zip(&self.roots).map(part).collect();
        let dim = f.operator().domain();
        let root = |j: usize| f.ridge_on_basis(&IndexSet::new(dim, vec![j]), 0).sqrt();
        let tail: Vec<f64> = self.inside.iter().map(|&j| -root(j) * x.point().value_at(j)).collect();
        let along = self.factor.along(&top, &tail);
        let mut entries: Vec<(usize, f64)> =
            self.inside.iter().copied().zip(self.factor.coefficients(&along)).collect();
        entries.sort_by_key(|e| e.0);
        let (indices, values) = entries.into_iter().unzip();
        (SparseVec::sorted(dim, indices, values), along.last().copied().unwrap_or(0.0))
    }

    /// ½·x_Jᵀ·((XᵀX)⁻¹_JJ)⁻¹·x_J: what the coordinates J of x are worth.
    fn removal_cost(&self, coordinates: &[usize], x: &SparseVec) -> f64 {
        let places: Vec<usize> = (0..self.inside.len()).filter(|&p| coordinates.contains(&self.inside[p])).collect();
        if places.is_empty() {
            return 0.0;
        }
        let values: Vec<f64> = places.iter().map(|&p| x.value_at(self.inside[p])).collect();
        let pull = solve_symmetric(&self.factor.inverse_gram(&places), &values);
        0.5 * crate::linalg::dot(&values, &pull)
    }
}
