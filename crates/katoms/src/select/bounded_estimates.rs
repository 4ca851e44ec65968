//! Which moves of a search within bounds are worth a refit.

use rayon::prelude::*;

use super::bounded_moves::{Base, Model, Moves, Tried};
use crate::linalg::kernels::axpy;
use crate::linalg::{Matrix, inverse_symmetric, top_k};
use crate::loss::Loss;
use crate::objective::Evaluated;
use crate::operator::LinearOperator;
use crate::search::{Everything, Quadratic};
use crate::space::SparseVec;

/// Multiplications that estimates may take before they leave the other coordinates where they are.
const ESTIMATES: f64 = 2e9;
/// A column of which less than this share is new, beside the free ones, brings nothing.
const DEPENDENT: f64 = 1e-11;
/// Where the quadratic is a picture: the weakest atoms inside, each of which is tried for so many others.
const WEAKEST: usize = 4;
const STRONGEST: usize = 3;

/// How the free coordinates of a model give way to a step along each column.
pub(super) struct Beside {
    free: Vec<usize>,
    /// G_FF⁻¹·G_F, row after row.
    ways: Vec<Vec<f64>>,
    /// The diagonal of G_FF⁻¹.
    spread: Vec<f64>,
    /// The curvature along each column while they give way.
    new: Vec<f64>,
}

impl Beside {
    /// The curvature along column j while the free coordinates give way, all but those at some places: exact without
    /// one of them. 0 where nothing of the column is new.
    fn new_without(&self, j: usize, leaving: &[usize], all: f64) -> f64 {
        let back: f64 = leaving.iter().map(|&a| self.ways[a][j].powi(2) / self.spread[a]).sum();
        let new = self.new[j] + back;
        if new > DEPENDENT * all { new.min(all) } else { 0.0 }
    }
}

impl<'a, A, L> Moves<'a, A, L>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
{
    /// What each atom outside leads to from a base, as far as its best step tells: the `most` promising ones, and how
    /// many may help at all. Those whose slopes point out of their bounds do not, where the quadratic is f: no refit with
    /// them improves the base.
    pub fn estimates(&self, gram: &Everything<'a>, base: &Base, beside: &Beside, most: usize) -> (Vec<Tried>, usize) {
        let leaves = |&a: &usize| !base.coordinates.contains(beside.free[a]);
        let leaving: Vec<usize> = (0..beside.free.len()).filter(leaves).collect();
        let open = |atom: &usize| !base.chosen.contains(atom) && base.out != Some(*atom);
        let estimate = |into: usize| {
            let members = self.atoms.members(into);
            let inwards = |&&j: &&usize| {
                !base.coordinates.contains(j) && self.bounds.gain(j, base.slopes[j], gram.diagonal()[j]) > 0.0
            };
            let gain = |&j: &usize| {
                let bend = beside.new_without(j, &leaving, gram.diagonal()[j]);
                // A slope that points inwards is a gain, however small.
                self.bounds.gain(j, base.slopes[j], bend).max(f64::MIN_POSITIVE)
            };
            let gain: f64 = members.iter().filter(inwards).map(gain).sum();
            let useful = gain > 0.0 || (!self.f.loss().is_quadratic() && !members.is_empty());
            let (out, value) = (base.out, base.value - gain);
            useful.then_some(Tried { out, into, value })
        };
        let mut all: Vec<Tried> = (0..self.atoms.len()).filter(open).filter_map(estimate).collect();
        let useful = all.len();
        all.sort_by(|a, b| a.value.total_cmp(&b.value));
        all.truncate(most);
        (all, useful)
    }

    /// What is new in each column beside the free coordinates of a model.
    pub fn beside(&self, gram: &Everything<'a>, model: &Model) -> Beside {
        let inside = |&(j, v): &(usize, f64)| self.bounds.lower()[j] < v && v < self.bounds.upper()[j];
        let free: Vec<usize> = model.x.point().entries().filter(inside).map(|(j, _)| j).collect();
        let columns: Option<Vec<&[f64]>> = free.iter().map(|&j| gram.known(j)).collect();
        let work = self.kept.dim() as f64 * (free.len() as f64).powi(2);
        let nothing = Beside { free: Vec::new(), ways: Vec::new(), spread: Vec::new(), new: gram.diagonal().to_vec() };
        let Some(columns) = columns.filter(|_| work <= ESTIMATES) else { return nothing };
        let block = Matrix::from_fn(free.len(), free.len(), |a, b| columns[b][free[a]]);
        let Some(inverse) = inverse_symmetric(&block, DEPENDENT) else { return nothing };
        let way = |a: usize| {
            let mut way = vec![0.0; self.kept.dim()];
            columns.iter().zip(inverse.column(a)).for_each(|(column, &share)| axpy(share, column, &mut way));
            way
        };
        let ways: Vec<Vec<f64>> = (0..free.len()).into_par_iter().map(way).collect();
        let mut new = gram.diagonal().to_vec();
        for (way, column) in ways.iter().zip(&columns) {
            new.iter_mut().zip(way).zip(*column).for_each(|((new, way), entry)| *new -= way * entry);
        }
        Beside { spread: (0..free.len()).map(|a| inverse.at(a, a)).collect(), free, ways, new }
    }

    /// Moves that lower f itself by much at least, whatever its curvature: a step along a coordinate with the largest
    /// one that there can be.
    pub fn safe_moves(&mut self, model: &Model, bases: &[Base]) -> Vec<Tried> {
        let costs: Vec<f64> = bases.iter().map(|base| -base.value).collect();
        let weakest: Vec<&Base> = top_k(&costs, WEAKEST.min(bases.len())).into_iter().map(|at| &bases[at]).collect();
        let refit = |base: &&Base| self.refit.minimise(&base.x, &base.coordinates).x;
        let less: Vec<Evaluated<SparseVec>> = weakest.iter().map(refit).collect();
        let gradients = self.f.gradients(&less);
        let steepest = self.steepest.take().unwrap_or_else(|| self.largest_curvatures());
        let mut moves = Vec::new();
        for ((base, g), less) in weakest.iter().zip(&gradients).zip(&less) {
            let fall = |&j: &usize| self.bounds.gain(j, -g[j], steepest.get(j).copied().unwrap_or(0.0));
            let new = |j: &&usize| !base.coordinates.contains(**j);
            let of_atom = |atom: usize| match model.chosen.contains(&atom) {
                true => 0.0,
                false => self.atoms.members(atom).iter().filter(new).map(fall).sum(),
            };
            let falls: Vec<f64> = (0..self.atoms.len()).map(of_atom).collect();
            let value = self.f.value(less);
            let best = top_k(&falls, STRONGEST.min(falls.len())).into_iter().filter(|&atom| falls[atom] > 0.0);
            moves.extend(best.map(|into| Tried { out: base.out, into, value: value - falls[into] }));
        }
        self.steepest = Some(steepest);
        moves
    }

    /// The curvature of a coordinate is nowhere above the loss's bound times its energy.
    fn largest_curvatures(&self) -> Vec<f64> {
        let ones = vec![1.0; self.f.operator().n_outputs()];
        let energies = self.f.operator().energies(&[&ones], None).and_then(|mut all| all.pop()).unwrap_or_default();
        self.f.count_pass();
        let (curvature, ridge) = (self.f.loss().curvature_bound(), self.f.ridge_weight());
        energies.into_iter().map(|energy| curvature * energy + ridge).collect()
    }
}
