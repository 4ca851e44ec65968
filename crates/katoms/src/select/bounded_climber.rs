//! A model within bounds that grows from size to size, each polished by exchanges.

use std::ops::ControlFlow;

use super::Bounds;
use super::bounded_moves::{Compared, Model, Moves, Tried};
use super::bounded_refit::SETTLED;
use super::path;
use crate::driver::{Attempt, NearTie, Quality, Start, Status};
use crate::error::{Error, check_length};
use crate::loss::Loss;
use crate::method::Move;
use crate::objective::Objective;
use crate::operator::LinearOperator;
use crate::set::CoordinateSet;
use crate::space::{Point, SparseVec};

/// Two models are nearly tied when their deviances differ by less: the one is at least 1/e as likely.
const NEAR: f64 = 2.0;
const MOST_TIES: usize = 20;

/// What a climb has reached.
#[derive(Debug, Clone)]
pub(super) struct Reached {
    pub model: Model,
    /// The exchanges that do not improve it; `None` where it was stopped before they were compared, or the fit is perfect.
    compared: Option<Compared>,
    /// Exchanges made on the way.
    exchanges: usize,
    /// Whether it was not stopped.
    pub whole: bool,
}

/// Hears of every move, and is asked before each.
type Hear<'h> = dyn FnMut(Option<(Move, &Model)>) -> ControlFlow<()> + 'h;

/// A model that grows from size to size.
pub(super) struct Climber<'a, A: LinearOperator, L> {
    moves: Moves<'a, A, L>,
    model: Model,
    /// Sizes, and the atoms and the points that a climb there begins with as well.
    rivals: Vec<(usize, Vec<usize>, SparseVec)>,
}

impl<'a, A, L> Climber<'a, A, L>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
{
    /// From no atom; `set` has as many as there will be.
    ///
    /// # Errors
    /// When the bounds live in another space than the operator, or its columns are not to be had one by one.
    pub fn new<S: CoordinateSet>(f: &'a Objective<A, L>, set: &S, bounds: &'a Bounds) -> Result<Self, Error> {
        check_length("the list of bounds", bounds.dim(), f.operator().domain(), "one pair for each coordinate")?;
        let moves = Moves::new(f, set, bounds)?;
        let model = moves.model(Vec::new(), &SparseVec::zero(f.operator().domain()));
        Ok(Self { moves, model, rivals: Vec::new() })
    }

    /// Goes back to no atom.
    pub fn begin(&mut self) {
        self.model = self.moves.model(Vec::new(), &SparseVec::zero(self.moves.kept.dim()));
    }

    /// Begins with the atoms of x that the set would choose.
    pub fn begin_at<S: CoordinateSet>(&mut self, set: &S, x: &SparseVec) {
        let x = set.project(x.clone());
        self.model = self.moves.model(set.chosen(&x), &x);
    }

    /// Another beginning of the climb to a size, such as the answer without bounds: the better end counts.
    pub fn rival<S: CoordinateSet>(&mut self, size: usize, set: &S, x: SparseVec) {
        self.rivals.push((size, set.chosen(&x), x));
    }

    /// Grows to this size and exchanges atoms until no exchange that was compared lowers f.
    pub fn climb(&mut self, size: usize, hear: &mut Hear<'_>) -> Reached {
        let mut best = self.polished(size, hear);
        let rivals: Vec<_> = self.rivals.iter().filter(|rival| rival.0 == size).cloned().collect();
        for (_, chosen, x) in rivals {
            if !best.whole || chosen == best.model.chosen || self.is_perfect(&best.model) {
                continue;
            }
            self.model = self.moves.model(chosen, &x);
            let other = self.polished(size, hear);
            let (whole, exchanges) = (other.whole, best.exchanges + other.exchanges);
            let better = if other.model.value < best.model.value { other } else { best };
            best = Reached { whole, exchanges, ..better };
        }
        self.model = best.model.clone();
        best
    }

    fn polished(&mut self, size: usize, hear: &mut Hear<'_>) -> Reached {
        let (mut compared, mut exchanges) = (None, 0);
        let mut whole = true;
        while !self.is_perfect(&self.model) {
            if hear(None).is_break() {
                whole = false;
                break;
            }
            let more = if self.model.chosen.len() < size { self.moves.grown(&self.model) } else { None };
            let (kind, next) = match more {
                Some(next) => (Move::Grown, next),
                None => {
                    let mut found = self.moves.exchanged(&self.model);
                    let Some(next) = found.best.take() else {
                        compared = Some(found);
                        break;
                    };
                    exchanges += 1;
                    (Move::Exchanged, next)
                }
            };
            self.model = next;
            if hear(Some((kind, &self.model))).is_break() {
                whole = false;
                break;
            }
        }
        Reached { model: self.model.clone(), compared, exchanges, whole }
    }

    fn is_perfect(&self, model: &Model) -> bool {
        model.value - self.moves.f.lower_bound() <= self.moves.f.perfect() * self.moves.refit.null
    }

    /// Converged where nothing within the bounds is left to gain on the atoms.
    pub fn status(&self, reached: &Reached) -> Status {
        let Moves { f, bounds, .. } = &self.moves;
        let Model { x, residual, .. } = &reached.model;
        match reached.whole {
            false => Status::Stopped,
            true if bounds.let_grow(x.point()) && f.is_separated_by(x) => Status::Separated,
            true if *residual <= SETTLED => Status::Converged,
            true => Status::Stalled,
        }
    }

    pub fn attempt(&self, start: Start, reached: &Reached) -> Attempt {
        let (objective, exchanges) = (reached.model.value, reached.exchanges);
        Attempt { start, objective, exchanges, status: self.status(reached) }
    }

    /// The number of atoms to choose from.
    pub fn candidates(&self) -> usize {
        (0..self.moves.atoms.len()).filter(|&atom| !self.moves.atoms.members(atom).is_empty()).count()
    }

    pub fn quality(&self, reached: &Reached) -> Quality {
        let Reached { model, compared, .. } = reached;
        let stationary = Quality::stationary(model.residual);
        let Some(Compared { tried, compared, exhaustive, .. }) = compared else { return stationary };
        let loss = self.moves.f.loss();
        let value = loss.value(model.x.image());
        let tie = |one: &Tried| {
            let rise = (one.value - model.value).max(0.0);
            one.out.map(|inside| NearTie { inside, outside: one.into, rise })
        };
        let near = |tie: &NearTie| loss.deviance(value + tie.rise) - loss.deviance(value) < NEAR;
        let near_ties = tried.iter().filter_map(tie).filter(near).take(MOST_TIES).collect();
        Quality { exchanges_compared: *compared, exhaustive: *exhaustive, near_ties, ..stationary }
    }

    /// The model as a path tells it.
    pub fn told(&self, reached: &Reached, atoms: usize) -> path::Model<SparseVec> {
        let f = self.moves.f;
        let x = &reached.model.x;
        let loss = f.loss().value(x.image());
        let floor = f.lower_bound() + f.perfect() * self.moves.refit.null;
        let kept = &self.moves.kept;
        path::Model {
            atoms,
            // What a bound holds at 0 was not fitted.
            parameters: x.point().entries().filter(|&(j, v)| v != 0.0 || kept.contains(j)).count(),
            point: x.point().clone(),
            objective: reached.model.value,
            loss,
            deviance: f.loss().deviance(loss.max(floor)),
            status: self.status(reached),
            quality: self.quality(reached),
        }
    }
}
