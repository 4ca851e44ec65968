//! The moves of a search within bounds: one more atom, or one atom for another.
//!
//! Every atom inside is taken out in turn and the rest refitted. What each atom outside would then bring is estimated
//! from a quadratic of which the columns inside are known: its own best step within its bounds, while the free
//! coordinates give way. The most promising moves are refitted. For least squares the quadratic is f, and a refit in it
//! reads no data. For other losses it is the picture around the point, and a move is refitted on f; since the picture can
//! be fooled, moves that lower f by much at least are tried as well.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::Bounds;
use super::bounded_refit::{BoundedRefit, Refitted};
use super::box_minimum::BoxQuadratic;
use crate::error::Error;
use crate::linalg::{Matrix, top_k};
use crate::loss::Loss;
use crate::objective::{Evaluated, Objective};
use crate::operator::LinearOperator;
use crate::search::{Everything, IMPROVES, Quadratic, ROUNDING};
use crate::set::{Atoms, CoordinateSet};
use crate::space::{IndexSet, Point, SparseVec, Subspace};

/// Multiplications that the refits of one round may take, and how many refits there are at least and at most: first the
/// few most promising ones, and where none improves f, all of them.
const WORK: f64 = 2e7;
const FEW: usize = 32;
const LEAST: usize = 8;
const MOST: usize = 20_000;
/// Coordinates that a model may have, and numbers that their columns may take: 1 GiB.
const LARGE: usize = 1000;
const NUMBERS: usize = 1 << 27;
/// Systems that a refit in a quadratic is likely to solve, Newton steps of one on f, and what either costs beside them.
const SOLVES: f64 = 3.0;
const NEWTON: f64 = 6.0;
const OVERHEAD: f64 = 3e3;

/// The minimum within the bounds over some atoms.
#[derive(Debug, Clone)]
pub(super) struct Model {
    /// Rising; atoms of which nothing is left are not among them.
    pub chosen: Vec<usize>,
    pub x: Evaluated<SparseVec>,
    pub value: f64,
    /// How far it is from that minimum.
    pub residual: f64,
}

/// An atom in, for one that goes where one does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Tried {
    pub out: Option<usize>,
    pub into: usize,
    /// f after it; before it is refitted, an estimate.
    pub value: f64,
}

/// What the moves of one kind from a model lead to.
#[derive(Debug, Clone)]
pub(super) struct Compared {
    /// The best of them, where it improves f.
    pub best: Option<Model>,
    /// Those that were refitted, the best first.
    pub tried: Vec<Tried>,
    /// These, and those that cannot improve f.
    pub compared: usize,
    /// Whether that is all of them.
    pub exhaustive: bool,
}

/// Where moves are looked for.
pub(super) struct Moves<'a, A: LinearOperator, L> {
    pub f: &'a Objective<A, L>,
    pub atoms: Atoms,
    pub kept: IndexSet,
    pub bounds: &'a Bounds,
    pub refit: BoundedRefit<'a, A, L>,
    /// The quadratic of a quadratic loss, and the blocks of its groups.
    gram: Option<Everything<'a>>,
    blocks: BTreeMap<usize, Vec<f64>>,
    /// A bound on the curvature along each coordinate, for other losses.
    pub steepest: Option<Vec<f64>>,
}

/// A model without one atom, as the quadratic sees it.
pub(super) struct Base {
    pub out: Option<usize>,
    pub chosen: Vec<usize>,
    pub coordinates: IndexSet,
    pub x: SparseVec,
    pub value: f64,
    /// −∇f there.
    pub slopes: Vec<f64>,
}

impl<'a, A, L> Moves<'a, A, L>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
{
    /// The moves of models of at most k atoms.
    ///
    /// # Errors
    /// When the design has no columns to be had one by one, or a model has too many coordinates.
    pub fn new<S: CoordinateSet>(f: &'a Objective<A, L>, set: &S, bounds: &'a Bounds) -> Result<Self, Error> {
        let (atoms, kept) = (set.candidates(), set.kept());
        let sizes: Vec<f64> = (0..atoms.len()).map(|atom| atoms.members(atom).len() as f64).collect();
        let largest: f64 = top_k(&sizes, set.atoms()).into_iter().map(|atom| sizes[atom]).sum();
        let coordinates = kept.indices().len() + largest as usize;
        let affordable = coordinates <= LARGE && coordinates.saturating_mul(f.operator().domain()) <= NUMBERS;
        if !affordable || !f.operator().has_cheap_columns() {
            let needs = "a dense or sparse design, and at most 1000 coordinates in a model (fewer, where the design has more \
                         than 134000 columns): ask for fewer atoms, or leave the bounds out";
            return Err(Error::Unsuitable { method: "a fit within bounds", needs });
        }
        let refit = BoundedRefit::new(f, bounds);
        Ok(Self { f, atoms, kept, bounds, refit, gram: None, blocks: BTreeMap::new(), steepest: None })
    }

    /// The minimum over some atoms, from what x has there.
    pub fn model(&self, chosen: Vec<usize>, x: &SparseVec) -> Model {
        let Refitted { x, residual } = self.refit.minimise(x, &self.coordinates(&chosen));
        let value = self.f.value(&x);
        self.pruned(Model { chosen, x, value, residual })
    }

    /// The coordinates of some atoms, and those that are always in.
    pub fn coordinates(&self, chosen: &[usize]) -> IndexSet {
        let members = chosen.iter().flat_map(|&atom| self.atoms.members(atom).iter().copied());
        IndexSet::new(self.kept.dim(), self.kept.indices().iter().copied().chain(members).collect())
    }

    /// The same model without the atoms that the bounds have brought to 0: they make room for others.
    fn pruned(&self, model: Model) -> Model {
        let Model { mut chosen, x, value, residual } = model;
        let before = chosen.len();
        let mut place = 0;
        while let Some(&atom) = chosen.get(place) {
            let others: Vec<usize> = chosen.iter().copied().filter(|&other| other != atom).collect();
            let rest = self.coordinates(&others);
            let idle = |&j: &usize| rest.contains(j) || x.point().value_at(j) == 0.0;
            if self.atoms.members(atom).iter().all(idle) {
                chosen = others;
            } else {
                place += 1;
            }
        }
        chosen.sort_unstable();
        let x = if chosen.len() == before { x } else { self.f.at(x.point().on(&self.coordinates(&chosen))) };
        Model { chosen, x, value, residual }
    }

    /// What counts as an improvement on a value.
    fn threshold(&self, value: f64) -> f64 {
        (IMPROVES * (value - self.f.lower_bound())).max(ROUNDING * self.refit.null)
    }

    /// One more atom: the best that is found, where it improves f.
    pub fn grown(&mut self, model: &Model) -> Option<Model> {
        self.compare(model, &[None]).best
    }

    /// One atom for another.
    pub fn exchanged(&mut self, model: &Model) -> Compared {
        let outs: Vec<Option<usize>> = model.chosen.iter().copied().map(Some).collect();
        self.compare(model, &outs)
    }

    /// The moves that take out one of these atoms, or none.
    fn compare(&mut self, model: &Model, outs: &[Option<usize>]) -> Compared {
        let none = Compared { best: None, tried: Vec::new(), compared: 0, exhaustive: false };
        if outs.is_empty() {
            return Compared { exhaustive: true, ..none };
        }
        let inside = self.coordinates(&model.chosen);
        let Some(gram) = self.picture(model, &inside) else { return none };
        let bases: Vec<Base> = outs.par_iter().map(|&out| self.base(&gram, model, out)).collect();
        let (beside, refits) = (self.beside(&gram, model), self.affordable_refits(inside.dimension() + 1));
        let estimates: Vec<(Vec<Tried>, usize)> =
            bases.par_iter().map(|base| self.estimates(&gram, base, &beside, refits)).collect();
        let useful: usize = estimates.iter().map(|(_, useful)| useful).sum();
        let mut moves: Vec<Tried> = estimates.into_iter().flat_map(|(moves, _)| moves).collect();
        let all = self.outside(&model.chosen) * outs.len();
        moves.sort_by(|a, b| a.value.total_cmp(&b.value));
        if !self.f.loss().is_quadratic() {
            let safe = self.safe_moves(model, &bases);
            put_first(safe, &mut moves);
        }
        let most = refits.min(moves.len());
        let few = most.min(FEW);
        let (mut tried, mut best) = self.try_all(&gram, &bases, model, &moves[..few]);
        if !self.improves(best.as_ref(), model) {
            let (more, other) = self.try_all(&gram, &bases, model, &moves[few..most]);
            tried.extend(more);
            best = [best, other].into_iter().flatten().min_by(|a, b| a.value.total_cmp(&b.value));
        }
        let best = best.filter(|best| self.improves(Some(best), model));
        tried.sort_by(|a, b| a.value.total_cmp(&b.value));
        // What is not useful cannot improve f.
        let compared = tried.len() + (all - useful);
        let exhaustive = compared == all;
        self.gram = self.f.loss().is_quadratic().then_some(gram);
        Compared { best, tried, compared, exhaustive }
    }

    fn improves(&self, next: Option<&Model>, model: &Model) -> bool {
        next.is_some_and(|next| next.value < model.value - self.threshold(model.value))
    }

    /// The quadratic around a model, with the columns of its coordinates.
    fn picture(&mut self, model: &Model, inside: &IndexSet) -> Option<Everything<'a>> {
        match self.gram.take() {
            Some(mut gram) => {
                gram.bring(inside.indices());
                Some(gram)
            }
            None => {
                let mut gram = Everything::around(self.f, &self.atoms, &model.x)?;
                gram.bring(inside.indices());
                Some(gram)
            }
        }
    }

    /// How many atoms can come in.
    fn outside(&self, chosen: &[usize]) -> usize {
        (0..self.atoms.len()).filter(|atom| !self.atoms.members(*atom).is_empty() && !chosen.contains(atom)).count()
    }

    /// Refits that one round may take, each of so many coordinates.
    fn affordable_refits(&self, coordinates: usize) -> usize {
        let d = coordinates as f64;
        let one = match self.f.loss().is_quadratic() {
            true => SOLVES * d.powi(3),
            false => NEWTON * self.f.operator().n_outputs() as f64 * d * (d + 1.0),
        };
        ((WORK / (one + OVERHEAD)) as usize).clamp(LEAST, MOST)
    }

    /// The quadratic over some coordinates within their bounds. An atom from outside has its own block.
    fn within(&self, gram: &Everything<'a>, t: &IndexSet, into: Option<usize>) -> BoxQuadratic {
        let own = |i: usize, j: usize| {
            let atom = into?;
            let members = self.atoms.members(atom);
            let (a, b) = (members.iter().position(|&m| m == i)?, members.iter().position(|&m| m == j)?);
            self.blocks.get(&atom).map(|block| block[a + b * members.len()])
        };
        let entry = |i: usize, j: usize| match gram
            .known(j)
            .map(|column| column[i])
            .or_else(|| gram.known(i).map(|column| column[j]))
        {
            Some(value) => value,
            None if i == j => gram.diagonal()[i],
            None => own(i, j).unwrap_or(0.0),
        };
        let at = |values: &[f64]| t.indices().iter().map(|&j| values[j]).collect::<Vec<f64>>();
        let d = t.dimension();
        BoxQuadratic {
            gram: Matrix::from_fn(d, d, |a, b| entry(t.indices()[a], t.indices()[b])),
            linear: at(gram.linear()),
            lower: at(self.bounds.lower()),
            upper: at(self.bounds.upper()),
        }
    }

    /// The quadratic's minimum without an atom.
    fn base(&self, gram: &Everything<'a>, model: &Model, out: Option<usize>) -> Base {
        let chosen: Vec<usize> = model.chosen.iter().copied().filter(|&atom| Some(atom) != out).collect();
        let coordinates = self.coordinates(&chosen);
        let (x, value) = self.minimum(gram, &coordinates, None, model.x.point());
        let slopes = gram.slopes_at(x.entries());
        Base { out, chosen, coordinates, x, value, slopes }
    }

    fn minimum(&self, gram: &Everything<'a>, t: &IndexSet, into: Option<usize>, start: &SparseVec) -> (SparseVec, f64) {
        let quadratic = self.within(gram, t, into);
        let found = quadratic.minimise(&t.coordinates(start));
        let value = gram.constant() + quadratic.value(&found);
        (t.point(&found), value)
    }

    /// Refits after each of the moves, and the model of the best one.
    fn try_all(
        &mut self,
        gram: &Everything<'a>,
        bases: &[Base],
        model: &Model,
        moves: &[Tried],
    ) -> (Vec<Tried>, Option<Model>) {
        let base = |one: &Tried| bases.iter().find(|base| base.out == one.out);
        if !self.f.loss().is_quadratic() {
            let models: Vec<(Tried, Model)> =
                moves.iter().filter_map(|one| Some((*one, self.model(after(model, *one), &base(one)?.x)))).collect();
            let tried = models.iter().map(|(one, next)| Tried { value: next.value, ..*one }).collect();
            let best = models.into_iter().map(|(_, next)| next).min_by(|a, b| a.value.total_cmp(&b.value));
            return (tried, best);
        }
        for one in moves.iter().filter(|one| self.atoms.members(one.into).len() > 1) {
            self.blocks.entry(one.into).or_insert_with(|| gram.block(one.into, self.atoms.members(one.into)));
        }
        let refit = |one: &Tried| {
            let t = self.coordinates(&after(model, *one));
            let (x, value) = self.minimum(gram, &t, Some(one.into), &base(one)?.x);
            Some((Tried { value, ..*one }, x))
        };
        let all: Vec<(Tried, SparseVec)> = moves.par_iter().filter_map(refit).collect();
        let best = all.iter().min_by(|a, b| a.0.value.total_cmp(&b.0.value));
        let best = best.map(|(one, x)| self.model(after(model, *one), x));
        (all.into_iter().map(|(one, _)| one).collect(), best)
    }
}

/// The same moves, with these in front; each once.
fn put_first(first: Vec<Tried>, moves: &mut Vec<Tried>) {
    let same = |a: &Tried, b: &Tried| (a.out, a.into) == (b.out, b.into);
    moves.retain(|one| !first.iter().any(|other| same(one, other)));
    moves.splice(0..0, first);
}

/// The atoms of a model after a move.
fn after(model: &Model, one: Tried) -> Vec<usize> {
    let mut chosen: Vec<usize> = model.chosen.iter().copied().filter(|&atom| Some(atom) != one.out).collect();
    chosen.push(one.into);
    chosen.sort_unstable();
    chosen
}
