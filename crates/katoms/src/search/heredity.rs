//! Atoms that come into a model only beside others, as products of features beside their factors; and the local search
//! among the models that this allows.
//!
//! A product may matter where none of its factors does by itself. So an atom comes in together with what it needs, and what
//! an atom leaves behind without it leaves as well.

use rand::{Rng, RngExt};

use super::kicks::{Round, UPHILL, weakest_more_often};
use super::local_search::{FEW, IMPROVES, LocalSearch, Model, Work, enrol};
use super::swap::Swap;
use super::tableau::Tableau;
use crate::error::{Error, check_indices};
use crate::linalg::{parallel, top_k};
use crate::simulate::generator;

/// The stream of a seed that these kicks are drawn from.
const STREAM: u64 = 9;
/// Atoms whose gain together with what they need is computed exactly, of those that promise most.
const JOINT: usize = 8;
/// A model grows to so many times its size, and a few more, before it is pruned back.
const OVERSHOOT: usize = 2;

/// What atoms need beside them in a model.
///
/// ```
/// use katoms::{Fit, Objective, loss::LeastSquares, operator::Dense, search::Heredity, set::KSparse, simulate};
/// // five features, and the products of the first with each of the others
/// let (m, features) = (60, 5);
/// let mut x = simulate::gaussian(m, features, 1);
/// for j in 1..features {
///     x.extend((0..m).map(|i| x[i] * x[j * m + i]).collect::<Vec<_>>());
/// }
/// let y: Vec<f64> = (0..m).map(|i| 2.0 * x[i] - 3.0 * x[6 * m + i]).collect(); // the first, and its product with the third
///
/// let f = Objective::new(Dense::column_major(&x, m, 9)?, LeastSquares::new(y)?)?;
/// let mut parents = vec![Vec::new(); 9];
/// (1..features).for_each(|j| parents[features + j - 1] = vec![0, j]);
/// let heredity = Heredity::strong(parents)?;
/// let outcome = Fit::new(&f, &KSparse::new(3, 9)?).heredity(heredity).run()?;
/// assert_eq!(outcome.point.indices(), [0, 2, 6]); // with both factors of the product
/// # Ok::<(), katoms::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heredity {
    parents: Vec<Vec<usize>>,
    strong: bool,
}

impl Heredity {
    /// An atom may be in a model if all of its parents are. There is a list of parents for each atom, by number; an empty
    /// one asks for nothing.
    ///
    /// # Errors
    /// When a parent is no atom, or has parents itself.
    pub fn strong(parents: Vec<Vec<usize>>) -> Result<Self, Error> {
        Self::new(parents, true)
    }

    /// The same where one parent is enough.
    ///
    /// # Errors
    /// As [`Heredity::strong`].
    pub fn weak(parents: Vec<Vec<usize>>) -> Result<Self, Error> {
        Self::new(parents, false)
    }

    fn new(parents: Vec<Vec<usize>>, strong: bool) -> Result<Self, Error> {
        for of_one in &parents {
            check_indices("list of parents", of_one, parents.len())?;
            if of_one.iter().any(|&parent| !parents[parent].is_empty()) {
                let needs = "parents that have no parents: give products of features, not products of products";
                return Err(Error::Unsuitable { method: "heredity", needs });
            }
        }
        Ok(Self { parents, strong })
    }

    /// The number of atoms.
    pub fn len(&self) -> usize {
        self.parents.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.parents.is_empty()
    }

    /// Whether each of these atoms has what it needs among them.
    pub fn allows(&self, chosen: &[usize]) -> bool {
        chosen.iter().all(|&atom| self.admits(atom, chosen))
    }

    /// Whether an atom has what it needs among these.
    pub(super) fn admits(&self, atom: usize, chosen: &[usize]) -> bool {
        let parents = self.parents(atom);
        let is_in = |parent: &usize| chosen.contains(parent);
        parents.is_empty() || if self.strong { parents.iter().all(is_in) } else { parents.iter().any(is_in) }
    }

    /// The parents of an atom.
    pub(super) fn parents(&self, atom: usize) -> &[usize] {
        self.parents.get(atom).map_or(&[], Vec::as_slice)
    }

    /// These atoms without those that do not have what they need.
    pub(crate) fn allowed_part(&self, chosen: &[usize]) -> Vec<usize> {
        chosen.iter().copied().filter(|&atom| self.admits(atom, chosen)).collect()
    }

    /// The atoms that may come into a model in exchange for one of it, for each of them one after the other.
    pub(super) fn exchanges<'s>(&'s self, chosen: &'s [usize]) -> impl Iterator<Item = usize> + 's {
        chosen.iter().flat_map(move |&out| {
            let rest: Vec<usize> = chosen.iter().copied().filter(|&atom| atom != out).collect();
            let allowed = move |into: &usize| !chosen.contains(into) && self.allows(&[&rest[..], &[*into]].concat());
            (0..self.len()).filter(allowed)
        })
    }

    /// An atom of a model, and those that cannot stay without it.
    fn with_dependents(&self, out: usize, chosen: &[usize]) -> Vec<usize> {
        let rest: Vec<usize> = chosen.iter().copied().filter(|&atom| atom != out).collect();
        let orphan = |atom: &usize| !self.admits(*atom, &rest);
        [out].into_iter().chain(rest.iter().copied().filter(orphan)).collect()
    }

    /// What an atom can come in with, itself included: of the least numbers of atoms.
    fn ways_in(&self, atom: usize, chosen: &[usize]) -> Vec<Vec<usize>> {
        let missing = self.parents(atom).iter().filter(|parent| !chosen.contains(parent));
        match (self.admits(atom, chosen), self.strong) {
            (true, _) => vec![vec![atom]],
            (false, true) => vec![missing.copied().chain([atom]).collect()],
            (false, false) => missing.map(|&parent| vec![parent, atom]).collect(),
        }
    }

    /// The same for the atoms of a working set, by their places there. What is in no atom's place needs nothing.
    pub(super) fn of_places(&self, numbers: &[usize], place: impl Fn(usize) -> Option<usize>) -> Self {
        // A parent outside of the set cannot come in: it stands for itself as a place that is never chosen.
        let outside = numbers.len();
        let of =
            |number: &usize| self.parents(*number).iter().map(|&parent| place(parent).unwrap_or(outside)).collect();
        Self { parents: numbers.iter().map(of).collect(), strong: self.strong }
    }
}

/// Atoms that come in together, and how much each of them brings.
type Way = (f64, Vec<usize>);

/// A local search among the models that heredity allows.
#[derive(Clone, Copy)]
pub(super) struct Hereditary<'a, 'h> {
    pub search: LocalSearch<'a>,
    pub heredity: &'h Heredity,
}

impl<'a> Hereditary<'a, '_> {
    /// The model of at most so many atoms from some that are allowed, polished.
    pub fn from(&self, chosen: &[usize], size: usize, work: &mut Work) -> Model {
        let mut tableau = self.search.tableau(chosen);
        self.prune(&mut tableau, size, work);
        self.grow(&mut tableau, size, &[], None, work);
        self.polish(&mut tableau, size, work);
        LocalSearch::model(&tableau)
    }

    /// Other good models: from a larger one pruned back, and by kicks.
    pub fn vary(&self, elites: &mut Vec<Model>, size: usize, round: Round, work: &mut Work) {
        let Some(best) = elites.first() else { return };
        let mut tableau = self.search.tableau(&best.chosen);
        self.grow(&mut tableau, (OVERSHOOT * size + 2).min(self.search.widest), &[], None, work);
        self.prune(&mut tableau, size, work);
        self.polish(&mut tableau, size, work);
        enrol(elites, LocalSearch::model(&tableau));
        let share = Work::new((work.most - work.done).max(0.0) / (round.chains + 1) as f64);
        let one = |chain: usize| {
            let mut own = share;
            let mut rng = generator(round.seed, STREAM + 16 * chain as u64);
            (self.chain(&elites[chain % elites.len()], size, round.kicks, &mut rng, &mut own), own.done)
        };
        for (model, done) in parallel::map(round.chains, &one) {
            work.done += done;
            enrol(elites, model);
        }
    }

    /// The allowed exchanges of one atom for another, the best first.
    pub fn exchanges(&self, tableau: &Tableau<'a>, count: usize) -> Vec<Swap> {
        let of = |&out: &usize| {
            let gains = self.exchange_gains(tableau, out);
            let best = if gains.is_empty() { Vec::new() } else { top_k(&gains, count) };
            let swap = move |into: usize| Swap { out, into, gain: gains[into] };
            best.into_iter().map(swap).filter(|swap| swap.gain > f64::NEG_INFINITY).collect::<Vec<_>>()
        };
        let mut swaps: Vec<Swap> = tableau.chosen().iter().flat_map(of).collect();
        swaps.sort_by(|a, b| b.gain.total_cmp(&a.gain));
        swaps.truncate(count);
        swaps
    }

    /// What each atom would bring in exchange for one of the model; −∞ where that is not allowed.
    fn exchange_gains(&self, tableau: &Tableau<'a>, out: usize) -> Vec<f64> {
        let rest: Vec<usize> = tableau.chosen().iter().copied().filter(|&atom| atom != out).collect();
        // What needs the atom that leaves may have another parent in the one that comes.
        let orphans: Vec<usize> = rest.iter().copied().filter(|&atom| !self.heredity.admits(atom, &rest)).collect();
        let keeps =
            |into: usize| orphans.iter().all(|&atom| self.heredity.admits(atom, &[&rest[..], &[into]].concat()));
        let mut gains = tableau.exchange_gains(out);
        for (into, gain) in gains.iter_mut().enumerate() {
            if *gain > f64::NEG_INFINITY && !(self.heredity.admits(into, &rest) && keeps(into)) {
                *gain = f64::NEG_INFINITY;
            }
        }
        gains
    }

    /// Takes out what matters least among the atoms that no other needs, until there are no more than `size`.
    fn prune(&self, tableau: &mut Tableau<'a>, size: usize, work: &mut Work) {
        while tableau.chosen().len() > size {
            let chosen = tableau.chosen().to_vec();
            let weak = tableau.weakest(chosen.len());
            let Some(out) = weak.into_iter().find(|&out| self.heredity.with_dependents(out, &chosen).len() == 1) else {
                return;
            };
            tableau.remove(self.search.q, out);
            self.search.count(tableau, work);
        }
    }

    /// Lets in what brings most for each atom that it takes, but first none of those that just left, until there are
    /// `size` or nothing fits. By chance it is now and then one of the best few.
    fn grow(
        &self,
        tableau: &mut Tableau<'a>,
        size: usize,
        left: &[usize],
        mut surprise: Option<&mut dyn FnMut() -> Option<usize>>,
        work: &mut Work,
    ) {
        while tableau.chosen().len() < size && !self.search.is_perfect(tableau.objective()) {
            let room = size - tableau.chosen().len();
            let place = surprise.as_mut().and_then(|draw| draw()).unwrap_or(0);
            let mut ways = self.best_ways(tableau, room, left, work);
            if ways.is_empty() {
                return;
            }
            for atom in ways.swap_remove(place.min(ways.len() - 1)) {
                tableau.choose(self.search.q, atom);
            }
        }
    }

    /// The best few ways in, the best first: single atoms, and atoms with what they need.
    fn best_ways(&self, tableau: &Tableau<'a>, room: usize, left: &[usize], work: &mut Work) -> Vec<Vec<usize>> {
        let chosen = tableau.chosen();
        let gains = tableau.entry_gains();
        self.search.count(tableau, work);
        let open = |atom: &usize| gains[*atom] > f64::NEG_INFINITY && !left.contains(atom);
        let (mut single, mut joint): (Vec<Way>, Vec<Way>) = (Vec::new(), Vec::new());
        for atom in (0..gains.len()).filter(open) {
            for way in self.heredity.ways_in(atom, chosen) {
                if way.len() > room || !way.iter().all(|atom| gains.get(*atom).is_some() && open(atom)) {
                    continue;
                }
                let promised = way.iter().map(|&atom| gains[atom]).sum::<f64>() / way.len() as f64;
                if way.len() == 1 { single.push((promised, way)) } else { joint.push((promised, way)) }
            }
        }
        let keep_best = |ways: &mut Vec<Way>, count: usize| {
            ways.sort_by(|a, b| b.0.total_cmp(&a.0));
            ways.truncate(count);
        };
        keep_best(&mut single, FEW);
        // Factors that promise nothing by themselves hide what a product promises: those look at the product alone.
        let mut by_product: Vec<Way> = joint.clone();
        by_product.iter_mut().for_each(|(promised, way)| *promised = way.last().map_or(0.0, |&atom| gains[atom]));
        keep_best(&mut by_product, JOINT);
        keep_best(&mut joint, JOINT);
        joint.extend(by_product);
        joint.sort_by(|a, b| a.1.cmp(&b.1));
        joint.dedup_by(|a, b| a.1 == b.1);
        let exact = |at: usize| {
            let (_, way) = &joint[at];
            let mut with = tableau.clone();
            way.iter().for_each(|&atom| with.choose(self.search.q, atom));
            ((tableau.objective() - with.objective()) / way.len() as f64, way.clone())
        };
        let joined: Vec<Way> = parallel::map(joint.len(), &exact);
        joint.iter().for_each(|_| self.search.count(tableau, work));
        single.extend(joined);
        keep_best(&mut single, FEW);
        single.into_iter().map(|(_, way)| way).collect()
    }

    /// Exchanges single atoms, then atoms with what needs them for whatever takes their places, until nothing improves the
    /// model.
    fn polish(&self, tableau: &mut Tableau<'a>, size: usize, work: &mut Work) {
        for _ in 0..100 + 20 * size {
            let here = tableau.objective();
            if self.search.is_perfect(here) || work.is_spent() {
                return;
            }
            let best = self.exchanges(tableau, 1).first().copied();
            self.search.count(tableau, work);
            if let Some(swap) = best.filter(|swap| swap.gain > self.search.least(here)) {
                tableau.swap(self.search.q, swap);
                continue;
            }
            let chosen = tableau.chosen().to_vec();
            let mut leaving: Vec<Vec<usize>> =
                chosen.iter().map(|&out| self.heredity.with_dependents(out, &chosen)).collect();
            if chosen.len() < size {
                leaving.push(Vec::new());
            }
            let one = |at: usize| {
                let mut own = Work::new(f64::INFINITY);
                let mut next = tableau.clone();
                leaving[at].iter().for_each(|&atom| next.remove(self.search.q, atom));
                self.grow(&mut next, size, &leaving[at], None, &mut own);
                (next, own.done)
            };
            let mut better: Option<Tableau<'a>> = None;
            for (next, done) in parallel::map(leaving.len(), &one) {
                work.done += done;
                let least = better.as_ref().map_or(here - self.search.least(here), Tableau::objective);
                if next.objective() < least {
                    better = Some(next);
                }
            }
            match better {
                Some(next) => *tableau = next,
                None => return,
            }
        }
    }

    /// Kicks from a model on: some atoms leave with what needs them, others come, exchanges polish.
    fn chain(&self, start: &Model, size: usize, kicks: usize, rng: &mut impl Rng, work: &mut Work) -> Model {
        let mut best = start.clone();
        let mut here = self.search.tableau(&start.chosen);
        for _ in 0..kicks {
            if work.is_spent() || self.search.is_perfect(best.objective) || here.chosen().is_empty() {
                break;
            }
            let mut next = here.clone();
            let mut left = Vec::new();
            for out in weakest_more_often(&next, size, rng) {
                let chosen = next.chosen().to_vec();
                if chosen.contains(&out) {
                    let leaving = self.heredity.with_dependents(out, &chosen);
                    leaving.iter().for_each(|&atom| next.remove(self.search.q, atom));
                    left.extend(leaving);
                }
            }
            let mut draw = || (rng.random::<f64>() < super::kicks::SURPRISE).then(|| rng.random_range(0..FEW));
            self.grow(&mut next, size, &left, Some(&mut draw), work);
            self.grow(&mut next, size, &[], None, work);
            self.polish(&mut next, size, work);
            let objective = next.objective();
            if objective < best.objective * (1.0 - IMPROVES) {
                best = LocalSearch::model(&next);
            }
            if objective < here.objective() * (1.0 + UPHILL) {
                here = next;
            }
        }
        best
    }
}
