//! A model of some atoms, always at the minimum of f over them.
//!
//! For a quadratic loss the minimum follows a factorisation of the chosen columns, the [`Frame`], that is
//! updated as atoms come and go. Other losses are refitted by Newton's method from the warm point.

use serde::{Deserialize, Serialize};

use super::frame::{Direction, Frame};
use crate::error::Error;
use crate::method::refit::refit;
use crate::method::smooth::{CoordinateAtoms, OnVectors};
use crate::method::{Move, Progress};
use crate::objective::Evaluated;
use crate::set::Atoms;
use crate::space::{IndexSet, Point, SparseVec, Subspace};

/// What is minimised, and over which atoms.
pub(super) struct Problem<'a> {
    pub f: &'a OnVectors<'a>,
    pub atoms: Atoms,
    always_in: IndexSet,
    /// The most atoms of an answer.
    pub k: usize,
}

impl<'a> Problem<'a> {
    pub fn new(f: &'a OnVectors<'a>, set: &dyn CoordinateAtoms) -> Self {
        Self { f, atoms: set.candidates(), always_in: set.always_in(), k: set.atoms() }
    }

    /// Refuses a loss whose predictions depend on each other: gains are computed row by row.
    pub fn check(&self) -> Result<(), Error> {
        match self.f.curvature(&self.f.at(SparseVec::zero(self.f.domain()))).as_diagonal() {
            Some(_) => Ok(()),
            None => Err(Error::Unsuitable {
                method: "a greedy method",
                needs: "a loss that is a sum over its predictions; the search serves every loss",
            }),
        }
    }

    /// f(0) above its lower bound: the size of what is fitted, and so of its rounding.
    pub fn scale(&self) -> f64 {
        self.f.value(&self.f.at(SparseVec::zero(self.f.domain()))) - self.f.lower_bound()
    }

    /// The coordinates of some atoms, and what is always kept.
    pub fn support(&self, chosen: &[usize]) -> IndexSet {
        let members = chosen.iter().flat_map(|&atom| self.atoms.members(atom).iter().copied());
        IndexSet::new(self.always_in.dim(), self.always_in.indices().iter().copied().chain(members).collect())
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

impl Model {
    /// The minimum over the atoms of a point, and the directions of its coordinates.
    pub fn start(problem: &Problem<'_>, chosen: Vec<usize>) -> (Self, Vec<Direction>) {
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
    pub fn progress(&self, problem: &Problem<'_>, before: &SparseVec) -> Progress {
        let kind = if self.chosen.len() >= problem.k { Move::Completed } else { Move::Grown };
        Progress { kind, ..Progress::moved(self.objective, self.x.point(), before) }
    }

    /// Which coordinates belong to it.
    pub fn held(&self, problem: &Problem<'_>) -> Vec<bool> {
        let mut held = vec![false; problem.always_in.dim()];
        let members = self.chosen.iter().flat_map(|&atom| problem.atoms.members(atom));
        problem.always_in.indices().iter().chain(members).for_each(|&j| held[j] = true);
        held
    }

    /// Lets in the atom of the largest gain, the first of equal ones. `None` when no gain is above `least`
    /// or no atom brings anything new.
    pub fn grow(&mut self, problem: &Problem<'_>, mut gains: Vec<f64>, least: f64) -> Option<Vec<Direction>> {
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
    fn enter(&mut self, problem: &Problem<'_>, atom: usize) -> Option<Vec<Direction>> {
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
    pub fn leave(&mut self, problem: &Problem<'_>, atom: usize) -> Vec<Direction> {
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
    fn settle(&mut self, problem: &Problem<'_>, directions: &mut [Direction]) {
        let f = problem.f;
        let support = problem.support(&self.chosen);
        let start = support.point(&support.coordinates(self.x.point()));
        let frame = match &self.frame {
            Some(frame) => frame,
            None => {
                self.x = refit(f, f.at(start), &support).point;
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
    /// coordinate waits, that of the local quadratic model for others.
    pub fn removal_costs(&self, problem: &Problem<'_>) -> Vec<f64> {
        let fresh;
        let frame = match &self.frame {
            Some(frame) => frame,
            None => {
                fresh = Frame::around(problem.f, &self.x).0;
                &fresh
            }
        };
        let mut holders = vec![0_u32; problem.always_in.dim()];
        problem.always_in.indices().iter().for_each(|&j| holders[j] = 2);
        self.chosen.iter().flat_map(|&atom| problem.atoms.members(atom)).for_each(|&j| holders[j] += 1);
        let cost = |&atom: &usize| {
            let alone = problem.atoms.members(atom).iter().filter(|&&j| holders[j] == 1);
            frame.removal_cost(&alone.copied().collect::<Vec<_>>(), self.x.point())
        };
        self.chosen.iter().map(cost).collect()
    }
}
