//! Moves on a quadratic over the working set: adding, dropping and exchanging atoms in closed form. They read no data.
//!
//! Work is counted in entries of the tableau, so that a budget ends it at the same place everywhere.

use super::partners::Partners;
use super::quadratic::Quadratic;
use super::tableau::Tableau;
use crate::linalg::top_k;
use crate::set::Atoms;
use crate::space::{IndexSet, SparseVec};

/// Atoms of which one is let in by chance.
pub(super) const FEW: usize = 4;
/// An exchange improves when it lowers the objective by more than this share.
pub(crate) const IMPROVES: f64 = 1e-9;
/// Below this share of the objective at 0 what a quadratic says is rounding.
pub(crate) const ROUNDING: f64 = 1e-13;
/// Good models that stand side by side.
pub(crate) const ELITES: usize = 6;
/// A model grows to so many times its size before it is pruned back.
const OVERSHOOT: usize = 2;

/// Some atoms and the minimum over them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Model {
    /// Rising.
    pub chosen: Vec<usize>,
    pub objective: f64,
}

/// Work that may be done, and that is done.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Work {
    pub done: f64,
    pub most: f64,
}

impl Work {
    pub fn new(most: f64) -> Self {
        Self { done: 0.0, most }
    }

    pub fn is_spent(&self) -> bool {
        self.done >= self.most
    }
}

/// A quadratic and the atoms that it is about.
#[derive(Clone, Copy)]
pub(crate) struct LocalSearch<'a> {
    pub q: &'a dyn Quadratic,
    pub atoms: &'a Atoms,
    pub kept: &'a IndexSet,
    /// The most coordinates of a model: beyond, every model fits perfectly.
    pub widest: usize,
}

impl<'a> LocalSearch<'a> {
    pub fn tableau(&self, chosen: &[usize]) -> Tableau<'a> {
        Tableau::new(self.q, self.atoms, self.kept, chosen)
    }

    /// The minimum over the atoms of a model.
    pub fn point(&self, model: &Model) -> SparseVec {
        Tableau::minimum(self.q, self.atoms, self.kept, &model.chosen)
    }

    pub fn model(tableau: &Tableau<'_>) -> Model {
        let mut chosen = tableau.chosen().to_vec();
        chosen.sort_unstable();
        Model { chosen, objective: tableau.objective() }
    }

    /// Whether nothing but rounding is left.
    pub fn is_perfect(&self, objective: f64) -> bool {
        objective <= ROUNDING * self.q.constant().abs()
    }

    pub(super) fn count(&self, tableau: &Tableau<'_>, work: &mut Work) {
        work.done += (self.q.dim() * (tableau.chosen().len() + self.kept.indices().len() + 1)) as f64;
    }

    /// Exchanges atoms until no exchange improves the model.
    pub fn exchange(&self, tableau: &mut Tableau<'a>, work: &mut Work) {
        for _ in 0..100 + 20 * tableau.chosen().len() {
            let best = tableau.substitutes().best.first().copied();
            self.count(tableau, work);
            let here = tableau.objective();
            let better = best.filter(|swap| swap.gain > self.least(here) && !self.is_perfect(here));
            let Some(better) = better else { return };
            tableau.swap(self.q, better);
            self.count(tableau, work);
        }
    }

    /// What a move has to gain to be an improvement.
    pub fn least(&self, objective: f64) -> f64 {
        (IMPROVES * objective.abs()).max(ROUNDING * self.q.constant().abs())
    }

    /// Lets in the atom that lowers the objective most, or one of the best few, but none of those that just left. Whether
    /// there was one.
    pub fn add(&self, tableau: &mut Tableau<'a>, left: &[usize], surprise: Option<usize>, work: &mut Work) -> bool {
        let mut gains = tableau.entry_gains();
        self.count(tableau, work);
        left.iter().for_each(|&atom| gains[atom] = f64::NEG_INFINITY);
        let best = match surprise {
            Some(place) => top_k(&gains, FEW).get(place).copied().filter(|&atom| gains[atom] > 0.0),
            None => None,
        };
        let first = || (0..gains.len()).reduce(|a, b| if gains[b] > gains[a] { b } else { a });
        let Some(best) = best.or_else(first).filter(|&best| gains[best] > f64::NEG_INFINITY) else { return false };
        tableau.choose(self.q, best);
        true
    }

    /// Adds or drops atoms until there are `size`, as far as there are any.
    pub fn resize(&self, tableau: &mut Tableau<'a>, size: usize, work: &mut Work) {
        while tableau.chosen().len() > size {
            tableau.weakest(1).into_iter().for_each(|atom| tableau.remove(self.q, atom));
            self.count(tableau, work);
        }
        while tableau.chosen().len() < size {
            // Where nothing is left that would bring something, what brings nothing fills the place.
            let idle = self.is_perfect(tableau.objective()) || !self.add(tableau, &[], None, work);
            if idle && !self.fill(tableau) {
                return;
            }
        }
    }

    /// Lets in the first atom outside that is not all zeros. Whether there was one.
    fn fill(&self, tableau: &mut Tableau<'a>) -> bool {
        let varies = |atom: &usize| self.atoms.members(*atom).iter().any(|&j| self.q.diagonal()[j] > 0.0);
        let outside = |atom: &usize| varies(atom) && !tableau.chosen().contains(atom);
        let first = (0..self.atoms.len()).find(outside);
        first.into_iter().for_each(|atom| tableau.choose(self.q, atom));
        first.is_some()
    }

    /// The model of a size from some atoms, exchanged.
    pub fn from(&self, chosen: &[usize], size: usize, work: &mut Work) -> Model {
        Self::model(&self.settled(self.tableau(chosen), size, work))
    }

    /// The same from a tableau.
    pub fn settled(&self, mut tableau: Tableau<'a>, size: usize, work: &mut Work) -> Tableau<'a> {
        self.resize(&mut tableau, size, work);
        self.exchange(&mut tableau, work);
        tableau
    }

    /// From a model to a larger one and back. With partners, atoms come in two by two where a pair brings more than two
    /// single ones: the difference of nearly equal columns may tell what neither of them does.
    pub fn overshoot(&self, model: &Model, partners: Option<&Partners>, work: &mut Work) -> Model {
        self.overshoot_from(self.tableau(&model.chosen), partners, work)
    }

    /// The same from a tableau.
    pub fn overshoot_from(&self, mut tableau: Tableau<'a>, partners: Option<&Partners>, work: &mut Work) -> Model {
        let size = tableau.chosen().len();
        let most = (OVERSHOOT * size + 2).min(self.widest);
        while let Some(partners) = partners.filter(|_| tableau.chosen().len() + 2 <= most) {
            let gains = tableau.entry_gains();
            let single = gains.iter().copied().fold(0.0, f64::max);
            self.count(&tableau, work);
            match partners.best(self.q, &tableau).filter(|pair| pair.2 > 2.0 * single) {
                Some((a, b, _)) => [a, b].into_iter().for_each(|atom| tableau.choose(self.q, atom)),
                None if !self.add(&mut tableau, &[], None, work) => break,
                None => {}
            }
        }
        self.resize(&mut tableau, most, work);
        self.resize(&mut tableau, size, work);
        self.exchange(&mut tableau, work);
        Self::model(&tableau)
    }
}

/// Keeps a model where it is one of the best, which are sorted.
pub(crate) fn enrol(elites: &mut Vec<Model>, model: Model) {
    if elites.iter().any(|other| other.chosen == model.chosen) {
        return;
    }
    let at = elites.partition_point(|other| other.objective <= model.objective);
    elites.insert(at, model);
    elites.truncate(ELITES);
}
