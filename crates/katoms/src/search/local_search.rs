//! The search on a quadratic over the working set: adding, dropping and exchanging atoms in closed form. It reads no data.
//!
//! Models of neighbouring sizes improve each other, some good models stand side by side, kicks lead from one to another,
//! and unions of two are pruned back. Work is counted in entries of the tableau, so that a budget ends it at the same place
//! everywhere.

use rand::{Rng, RngExt};
use rayon::prelude::*;

use super::partners::Partners;
use super::quadratic::Quadratic;
pub(crate) use super::size_path::SizePath;
use super::tableau::{Swaps, Tableau};
use crate::linalg::{Matrix, dot, solve_symmetric, top_k};
use crate::set::Atoms;
use crate::simulate::generator;
use crate::space::{IndexSet, SparseVec};

/// An exchange improves when it lowers the objective by more than this share.
pub(crate) const IMPROVES: f64 = 1e-9;
/// Below this share of the objective at 0 what a quadratic says is rounding.
pub(crate) const ROUNDING: f64 = 1e-13;
/// The stream of a seed that kicks are drawn from: none that folds, half-samples or planted problems use.
const STREAM: u64 = 8;
/// A kick may lead to a model that is worse by this share, and the chain goes on from there.
const UPHILL: f64 = 0.3;
/// How often the atom that a kick lets in is not the best but one of the best few, and of how many.
const SURPRISE: f64 = 0.3;
const FEW: usize = 4;
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
        self.tableau(&model.chosen).point()
    }

    pub fn model(tableau: &Tableau<'_>) -> Model {
        let mut chosen = tableau.chosen().to_vec();
        chosen.sort_unstable();
        Model { chosen, objective: tableau.objective() }
    }

    /// Whether nothing but rounding is left.
    fn is_perfect(&self, objective: f64) -> bool {
        objective <= ROUNDING * self.q.constant().abs()
    }

    fn count(&self, tableau: &Tableau<'_>, work: &mut Work) {
        work.done += (self.q.dim() * (tableau.chosen().len() + self.kept.indices().len() + 1)) as f64;
    }

    /// Exchanges atoms until no exchange improves the model: the exchanges that were compared last.
    pub fn exchange(&self, tableau: &mut Tableau<'a>, work: &mut Work) -> Swaps {
        let most = 100 + 20 * tableau.chosen().len();
        for made in 0.. {
            let swaps = tableau.substitutes();
            self.count(tableau, work);
            let here = tableau.objective();
            let better = swaps.best.first().filter(|swap| swap.gain > self.least(here));
            match better.copied() {
                Some(best) if made < most && !self.is_perfect(here) => {
                    tableau.swap(self.q, best);
                    self.count(tableau, work);
                }
                _ => return swaps,
            }
        }
        tableau.substitutes()
    }

    /// What a move has to gain to be an improvement.
    pub fn least(&self, objective: f64) -> f64 {
        (IMPROVES * objective.abs()).max(ROUNDING * self.q.constant().abs())
    }

    /// Exchanges half of the atoms at once, a quarter, …: the least useful for those that promise most, where that improves
    /// the model. Enough of a large one is then right for single exchanges to end soon.
    pub fn exchange_batches(&self, tableau: &mut Tableau<'a>, work: &mut Work) {
        let mut batch = tableau.chosen().len() / 2;
        while batch > 1 {
            let costs = tableau.removal_costs();
            let gains = tableau.entry_gains();
            let stay = top_k(&costs, costs.len() - batch).into_iter().map(|place| tableau.chosen()[place]);
            let come = top_k(&gains, batch).into_iter().filter(|&atom| gains[atom] > 0.0);
            let next: Vec<usize> = stay.chain(come).collect();
            let here = tableau.objective();
            let better = next.len() == costs.len() && self.minimum(&next) < here - self.least(here);
            if better {
                *tableau = self.tableau(&next);
                work.done += (self.q.dim() * next.len()) as f64;
            }
            batch = if better { batch } else { batch / 2 };
        }
    }

    /// The minimum over some atoms. O(d³).
    fn minimum(&self, chosen: &[usize]) -> f64 {
        let members = chosen.iter().flat_map(|&atom| self.atoms.members(atom).iter().copied());
        let all = IndexSet::new(self.q.dim(), self.kept.indices().iter().copied().chain(members).collect());
        let at = all.indices();
        self.q.prepare(at);
        let gram = Matrix::from_fn(at.len(), at.len(), |a, b| self.q.column(at[b])[at[a]]);
        let right: Vec<f64> = at.iter().map(|&j| self.q.linear()[j]).collect();
        self.q.constant() - 0.5 * dot(&right, &solve_symmetric(&gram, &right))
    }

    /// Lets in the atom that lowers the objective most, or one of the best few, but none of those that just left. Whether
    /// there was one.
    fn add(&self, tableau: &mut Tableau<'a>, left: &[usize], surprise: Option<usize>, work: &mut Work) -> bool {
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

    /// Takes out the atom that matters least.
    fn drop(&self, tableau: &mut Tableau<'a>, work: &mut Work) {
        let costs = tableau.removal_costs();
        let least = (0..costs.len()).reduce(|a, b| if costs[b] < costs[a] { b } else { a });
        if let Some(atom) = least.map(|place| tableau.chosen()[place]) {
            tableau.remove(self.q, atom);
            self.count(tableau, work);
        }
    }

    /// Adds or drops atoms until there are `size`, as far as there are any.
    pub fn resize(&self, tableau: &mut Tableau<'a>, size: usize, work: &mut Work) {
        while tableau.chosen().len() > size {
            self.drop(tableau, work);
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
        let mut tableau = self.tableau(chosen);
        self.resize(&mut tableau, size, work);
        self.exchange(&mut tableau, work);
        Self::model(&tableau)
    }

    /// From a model to a larger one and back. With partners, atoms come in two by two where a pair brings more than two
    /// single ones: the difference of nearly equal columns may tell what neither of them does.
    pub fn overshoot(&self, model: &Model, partners: Option<&Partners>, work: &mut Work) -> Model {
        let size = model.chosen.len();
        let mut tableau = self.tableau(&model.chosen);
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

    /// The union of two models, pruned back.
    fn union(&self, a: &Model, b: &Model, size: usize, work: &mut Work) -> Model {
        let mut both: Vec<usize> = a.chosen.iter().chain(&b.chosen).copied().collect();
        both.sort_unstable();
        both.dedup();
        if both.len() > self.widest {
            return a.clone();
        }
        self.from(&both, size, work)
    }

    /// Kicks from a model on: some atoms leave, weak ones more often, others come, exchanges polish.
    fn chain(&self, start: &Model, kicks: usize, rng: &mut impl Rng, work: &mut Work) -> Model {
        let size = start.chosen.len();
        let mut best = start.clone();
        let mut here = self.tableau(&start.chosen);
        for _ in 0..kicks {
            if work.is_spent() || self.is_perfect(best.objective) {
                break;
            }
            let mut next = here.clone();
            let left = self.leaving(&next, size, rng);
            left.iter().for_each(|&atom| next.remove(self.q, atom));
            work.done += left.len() as f64 * (self.q.dim() * size) as f64;
            while next.chosen().len() < size {
                let surprise = (rng.random::<f64>() < SURPRISE).then(|| rng.random_range(0..FEW));
                if !self.add(&mut next, &left, surprise, work) {
                    break;
                }
            }
            if next.chosen().len() < size {
                break;
            }
            self.exchange(&mut next, work);
            let objective = next.objective();
            if objective < best.objective * (1.0 - IMPROVES) {
                best = Self::model(&next);
            }
            if objective < here.objective() * (1.0 + UPHILL) {
                here = next;
            }
        }
        best
    }

    /// Atoms that a kick takes out.
    fn leaving(&self, tableau: &Tableau<'_>, size: usize, rng: &mut impl Rng) -> Vec<usize> {
        let costs = tableau.removal_costs();
        let most = costs.iter().fold(0.0_f64, |a, &b| a.max(b)).max(f64::MIN_POSITIVE);
        let mut weights: Vec<f64> = costs.iter().map(|cost| 1.0 / (cost / most + 0.05)).collect();
        let count = rng.random_range(1..=(size / 3).max(2)).min(size.saturating_sub(1).max(1));
        let mut left = Vec::with_capacity(count);
        for _ in 0..count {
            let mut at = rng.random::<f64>() * weights.iter().sum::<f64>();
            let place = weights.iter().position(|w| {
                at -= w;
                at < 0.0 && *w > 0.0
            });
            let Some(place) = place.or_else(|| weights.iter().rposition(|w| *w > 0.0)) else { break };
            weights[place] = 0.0;
            left.push(tableau.chosen()[place]);
        }
        left
    }

    /// Several chains of kicks from the best models, side by side, then unions of two of the models that are there.
    pub fn vary(&self, elites: &mut Vec<Model>, round: Round, work: &mut Work) {
        let Some(size) = elites.first().map(|model| model.chosen.len()) else { return };
        let share = Work::new((work.most - work.done).max(0.0) / (round.chains + 1) as f64);
        let chains: Vec<usize> = (0..round.chains).collect();
        together(elites, work, share, &chains, |elites, &chain, own| {
            let mut rng = generator(round.seed, STREAM + 16 * chain as u64);
            self.chain(&elites[chain % elites.len()], round.kicks, &mut rng, own)
        });
        let mut rng = generator(round.seed, STREAM + 8);
        let mut draw = || (rng.random_range(0..elites.len()), rng.random_range(0..elites.len()));
        let pairs: Vec<(usize, usize)> = (0..round.unions).map(|_| draw()).filter(|(a, b)| a != b).collect();
        if !work.is_spent() {
            together(elites, work, share, &pairs, |elites, &(a, b), own| self.union(&elites[a], &elites[b], size, own));
        }
    }
}

/// Models from tasks side by side, each with its share of the work, join the good ones.
fn together<T: Sync>(
    elites: &mut Vec<Model>,
    work: &mut Work,
    share: Work,
    tasks: &[T],
    one: impl Fn(&[Model], &T, &mut Work) -> Model + Sync,
) {
    let one = |task: &T| {
        let mut own = share;
        (one(elites, task, &mut own), own.done)
    };
    let found: Vec<(Model, f64)> = tasks.par_iter().map(one).collect();
    for (model, done) in found {
        work.done += done;
        enrol(elites, model);
    }
}

/// How much is varied in one round.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Round {
    pub seed: u64,
    pub chains: usize,
    pub kicks: usize,
    pub unions: usize,
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
