//! A model of some atoms within bounds, on a quadratic: what a [`Tableau`](super::tableau::Tableau) is without them.
//!
//! The minimum over the atoms within the bounds is looked for whenever they change. What an atom outside would bring is
//! estimated: its own best step within its bounds, while the coordinates inside that are not at a bound give way. An
//! exchange is estimated likewise from the minimum without the atom that leaves, and the most promising ones are
//! computed.

use std::sync::OnceLock;

use super::bounds::Bounds;
use super::box_minimum::BoxQuadratic;
use super::quadratic::Quadratic;
use super::swap::{Swap, Swaps};
use super::sweep::DEPENDENT;
use crate::linalg::kernels::axpy;
use crate::linalg::parallel;
use crate::linalg::{Matrix, inverse_symmetric, top_k};
use crate::set::Atoms;
use crate::space::{IndexSet, SparseVec, Subspace};

/// Exchanges that are computed: the most promising ones, and where none of them is an improvement, more that promise one.
const FEW: usize = 6;
const MORE: usize = 24;

/// A model of some atoms.
#[derive(Clone)]
pub(super) struct Boxed<'a> {
    q: &'a dyn Quadratic,
    bounds: &'a Bounds,
    atoms: &'a Atoms,
    kept: IndexSet,
    chosen: Vec<usize>,
    here: Minimum,
    /// −∇f there.
    slopes: Vec<f64>,
    beside: OnceLock<Beside>,
    /// The minimum without each of the atoms.
    less: OnceLock<Vec<Less>>,
}

/// A model without one of its atoms.
#[derive(Debug, Clone)]
struct Less {
    minimum: Minimum,
    /// −∇f there.
    slopes: Vec<f64>,
}

/// The minimum over some coordinates.
#[derive(Debug, Clone)]
struct Minimum {
    support: IndexSet,
    x: SparseVec,
    value: f64,
}

/// How the free coordinates give way to a step along another one.
#[derive(Debug, Clone)]
struct Beside {
    free: Vec<usize>,
    /// G_F·G_FF⁻¹, a column for each.
    ways: Matrix,
    /// G_FF⁻¹.
    inverse: Matrix,
    /// The curvature along each coordinate that is left.
    schur: Vec<f64>,
}

impl<'a> Boxed<'a> {
    /// `None` where there are no bounds.
    pub fn new(q: &'a dyn Quadratic, atoms: &'a Atoms, kept: &IndexSet, chosen: &[usize]) -> Option<Self> {
        let here = Minimum { support: kept.clone(), x: kept.point(&vec![0.0; kept.dimension()]), value: 0.0 };
        let (beside, less) = (OnceLock::new(), OnceLock::new());
        let (bounds, kept, slopes) = (q.bounds()?, kept.clone(), Vec::new());
        let mut boxed = Self { q, bounds, atoms, kept, chosen: Vec::new(), here, slopes, beside, less };
        boxed.choose(chosen);
        Some(boxed)
    }

    /// The minimum over other atoms.
    pub fn choose(&mut self, chosen: &[usize]) {
        let support = self.coordinates(chosen);
        self.q.prepare(support.indices());
        (self.chosen, self.here) = (chosen.to_vec(), self.minimum(support, &self.here.x));
        self.slopes = self.q.linear().to_vec();
        self.here.x.entries().for_each(|(j, v)| axpy(-v, self.q.column(j), &mut self.slopes));
        (self.beside, self.less) = (OnceLock::new(), OnceLock::new());
    }

    pub fn objective(&self) -> f64 {
        self.here.value
    }

    pub fn point(&self) -> SparseVec {
        self.here.x.clone()
    }

    /// The minimum without one of the atoms.
    pub fn point_without(&self, atom: usize) -> SparseVec {
        let place = self.chosen.iter().position(|&other| other == atom);
        place.map_or_else(|| self.point(), |place| self.less()[place].minimum.x.clone())
    }

    /// How much f rises without each of the atoms, as far as its coordinates one by one tell.
    pub fn removal_costs(&self) -> Vec<f64> {
        let beside = self.beside();
        let cost = |&j: &usize| match (beside.free.iter().position(|&free| free == j), self.here.x.value_at(j)) {
            (Some(a), v) => 0.5 * v * v / beside.inverse.at(a, a),
            (None, v) => v * self.slopes[j] + 0.5 * v * v * beside.schur[j],
        };
        self.chosen.iter().map(|&atom| self.atoms.members(atom).iter().map(cost).sum()).collect()
    }

    /// How much f falls with one more atom, for each, as far as a step along its coordinates tells; −∞ for those inside.
    pub fn entry_gains(&self) -> Vec<f64> {
        self.gains(&self.here, &self.slopes, self.beside(), 0.0)
    }

    /// The exchanges that promise most, the best first.
    pub fn exchanges(&self, count: usize) -> Vec<Swap> {
        self.estimated(self.beside(), 0.0, count)
    }

    /// The exchanges of single coordinates that may lower f; no other does. `None` where that cannot be told.
    ///
    /// With a coordinate at t beside a minimum, f is there at least −slope·t + ½·Schur complement·t² above it, where Schur complement is the
    /// curvature that all others leave: the slopes of these point out of their bounds.
    pub fn doubtful(&self) -> Option<Vec<Swap>> {
        let beside = self.giving_way(self.here.support.indices().to_vec())?;
        let mut all = self.estimated(&beside, f64::INFINITY, self.atoms.len() * self.chosen.len());
        all.retain(|swap| swap.gain > 0.0);
        (self.atoms.widest() <= 1).then_some(all)
    }

    fn estimated(&self, beside: &Beside, dependent: f64, count: usize) -> Vec<Swap> {
        let less = self.less();
        let estimated = |at: usize| {
            let (out, less) = (self.chosen[at], &less[at]);
            let gains = self.gains(&less.minimum, &less.slopes, beside, dependent);
            let best = top_k(&gains, count.min(gains.len())).into_iter().filter(|&into| gains[into] > 0.0);
            let cost = less.minimum.value - self.here.value;
            best.map(|into| Swap { out, into, gain: gains[into] - cost }).collect::<Vec<Swap>>()
        };
        let mut all = parallel::map(self.chosen.len(), &estimated).concat();
        all.sort_by(|a, b| b.gain.total_cmp(&a.gain));
        all.truncate(count);
        all
    }

    /// The exchanges that lower f most of those that promise most, the best first.
    pub fn substitutes(&self) -> Swaps {
        let promising = self.exchanges(FEW + MORE);
        let (few, more) = promising.split_at(FEW.min(promising.len()));
        let computed = |some: &[Swap]| parallel::map(some.len(), &|at| self.computed(some[at]));
        let mut best = computed(few);
        if best.iter().all(|swap| !(swap.gain > 0.0)) {
            best.extend(computed(&more[..more.partition_point(|swap| swap.gain > 0.0)]));
        }
        best.sort_by(|a, b| b.gain.total_cmp(&a.gain));
        Swaps { compared: best.len(), best, exhaustive: false }
    }

    fn computed(&self, swap: Swap) -> Swap {
        let stay = self.chosen.iter().copied().filter(|&atom| atom != swap.out);
        let after: Vec<usize> = stay.chain([swap.into]).collect();
        let after = self.minimum(self.coordinates(&after), &self.here.x);
        Swap { gain: self.here.value - after.value, ..swap }
    }

    fn coordinates(&self, chosen: &[usize]) -> IndexSet {
        let members = chosen.iter().flat_map(|&atom| self.atoms.members(atom));
        IndexSet::new(self.q.dim(), members.chain(self.kept.indices()).copied().collect())
    }

    /// The minimum over some coordinates, from a point. Of those outside no column is asked for.
    fn minimum(&self, support: IndexSet, start: &SparseVec) -> Minimum {
        let at = support.indices();
        let known: Vec<Option<&[f64]>> =
            at.iter().map(|&j| self.here.support.contains(j).then(|| self.q.column(j))).collect();
        let entry = |a: usize, b: usize| match (known[a], known[b]) {
            _ if a == b => self.q.diagonal()[at[a]],
            (_, Some(column)) => column[at[a]],
            (Some(column), None) => column[at[b]],
            (None, None) => self.q.column(at[a])[at[b]],
        };
        let gram = Matrix::from_fn(at.len(), at.len(), entry);
        let linear = at.iter().map(|&j| self.q.linear()[j]).collect();
        let quadratic = BoxQuadratic { gram, linear, bounds: self.bounds.of(at) };
        let x = quadratic.minimise(&support.coordinates(start));
        Minimum { value: self.q.constant() + quadratic.value(&x), x: support.point(&x), support }
    }

    fn less(&self) -> &[Less] {
        self.less.get_or_init(|| parallel::map(self.chosen.len(), &|at| self.without(self.chosen[at])))
    }

    fn without(&self, out: usize) -> Less {
        let others: Vec<usize> = self.chosen.iter().copied().filter(|&atom| atom != out).collect();
        let minimum = self.minimum(self.coordinates(&others), &self.here.x);
        let mut slopes = self.slopes.clone();
        for (j, v) in self.here.x.entries() {
            axpy(v - minimum.x.value_at(j), self.q.column(j), &mut slopes);
        }
        Less { minimum, slopes }
    }

    /// What each atom outside would bring to a minimum where −∇f is known; this, where nothing of a column is new.
    fn gains(&self, from: &Minimum, slopes: &[f64], beside: &Beside, dependent: f64) -> Vec<f64> {
        let diagonal = self.q.diagonal();
        let mut schur = beside.schur.clone();
        for (a, _) in beside.free.iter().enumerate().filter(|(_, free)| !from.support.contains(**free)) {
            let share = 1.0 / beside.inverse.at(a, a);
            schur.iter_mut().zip(beside.ways.column(a)).for_each(|(schur, way)| *schur += share * way * way);
        }
        let mut falls = vec![0.0; schur.len()];
        for (j, fall) in falls.iter_mut().enumerate() {
            *fall = match schur[j] > DEPENDENT * diagonal[j] {
                true => self.bounds.gain(j, slopes[j], schur[j].min(diagonal[j])),
                false if diagonal[j] > 0.0 => dependent,
                false => 0.0,
            };
        }
        from.support.indices().iter().for_each(|&j| falls[j] = 0.0);
        let of_atom = |atom: usize| match self.atoms.members(atom) {
            [] => f64::NEG_INFINITY,
            &[j] => falls[j],
            members => members.iter().map(|&j| falls[j]).sum(),
        };
        let mut gains: Vec<f64> = (0..self.atoms.len()).map(of_atom).collect();
        self.chosen.iter().for_each(|&atom| gains[atom] = f64::NEG_INFINITY);
        gains
    }

    fn beside(&self) -> &Beside {
        let inside = |&(j, v): &(usize, f64)| self.bounds.lower()[j] < v && v < self.bounds.upper()[j];
        let free = || self.here.x.entries().filter(inside).map(|(j, _)| j).collect();
        let alone = || Beside {
            free: Vec::new(),
            ways: Matrix::zeros(self.q.dim(), 0),
            inverse: Matrix::zeros(0, 0),
            schur: self.q.diagonal().to_vec(),
        };
        self.beside.get_or_init(|| self.giving_way(free()).unwrap_or_else(alone))
    }

    /// `None` where the columns are dependent.
    fn giving_way(&self, free: Vec<usize>) -> Option<Beside> {
        let block = Matrix::from_fn(free.len(), free.len(), |a, b| self.q.column(free[b])[free[a]]);
        let inverse = inverse_symmetric(&block, DEPENDENT)?;
        let mut schur = self.q.diagonal().to_vec();
        let columns = free.iter().flat_map(|&j| self.q.column(j)).copied().collect();
        let columns = Matrix::from_columns(schur.len(), free.len(), columns);
        let ways = columns.times(&inverse);
        for (way, entry) in ways.data().chunks(schur.len().max(1)).zip(columns.data().chunks(schur.len().max(1))) {
            schur.iter_mut().zip(way).zip(entry).for_each(|((schur, way), entry)| *schur -= way * entry);
        }
        Some(Beside { free, ways, inverse, schur })
    }
}

impl std::fmt::Debug for Boxed<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Boxed").field("chosen", &self.chosen).field("here", &self.here).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
