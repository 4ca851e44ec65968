//! A least-squares search on its way: the good models within the working set, and how others come from them.

use std::collections::BTreeMap;

use super::Effort;
use super::enumerate::{Proven, best_subset};
use super::explore::GoOn;
use super::found::{Found, compared_within};
use super::kicks::Round;
use super::local_search::{IMPROVES, LocalSearch, Model, Work, enrol};
use super::partners::Partners;
use super::quadratic::Quadratic;
use super::size_path::{SizePath, offer};
use super::working_set::{Local, WorkingSet};

/// Atoms up to which the working set is everything.
pub(super) const ALL: usize = 512;
/// The atoms of models that are enumerated also for more columns.
pub(super) const FEW: usize = 3;
/// Kicks in a chain, and chains in the first round.
const KICKS: f64 = 25.0;
const CHAINS: f64 = 6.0;
/// Entries of tableaux that one round may compute, times the effort.
const WORK: f64 = 4e7;
/// Evaluations that an enumeration of all models may take, times the effort; of models of few atoms, these.
const ENUMERATED: f64 = 1e7;
const ENUMERATED_FEW: f64 = 3e8;

/// A search on its way. Its models are of atoms by their places in the working set.
pub(super) struct State<'f> {
    pub set: WorkingSet,
    pub local: Local<'f>,
    pub k: usize,
    pub widest: usize,
    /// Some of the best models of k atoms, the best first.
    pub elites: Vec<Model>,
    /// The best model of each size.
    pub sizes: BTreeMap<usize, Model>,
}

impl State<'_> {
    /// The model of k atoms from some places, exchanged within the set, joins the others.
    pub fn enrol_from(&mut self, places: &[usize]) {
        let Self { set, local, k, widest, elites, sizes } = self;
        let q = local.on(set);
        let search = LocalSearch { q: &q, atoms: &set.atoms, kept: &set.kept, widest: *widest };
        let model = search.from(places, *k, &mut Work::new(f64::INFINITY));
        offer(sizes, *k, model.clone());
        enrol(elites, model);
    }

    /// One round of models of neighbouring sizes, and kicks.
    pub fn vary(&mut self, round: usize, effort: Effort, go_on: &mut GoOn<'_>) {
        let Self { set, local, k, widest, elites, sizes } = self;
        let q = local.on(set);
        let search = LocalSearch { q: &q, atoms: &set.atoms, kept: &set.kept, widest: *widest };
        let (k, mut work) = (*k, Work::new(WORK * effort.times()));
        let ladder: Vec<usize> = (1..=(k + (k / 2).max(3)).min(search.widest)).collect();
        let mut path = SizePath::new(search, std::mem::take(sizes), &ladder);
        while !work.is_spent() && path.step(&mut work) && go_on(path.models.len()).is_continue() {}
        *sizes = path.models;
        if let Some(model) = sizes.get(&k) {
            // On groups a pair is no matter of two columns.
            let single = search.atoms.widest() <= 1 && search.q.responses() == 1;
            let pairs = round == 0 && search.q.dim() <= ALL && single;
            let partners = pairs.then(|| Partners::new(search.q, search.atoms));
            enrol(elites, model.clone());
            enrol(elites, search.overshoot(model, partners.as_ref(), &mut work));
        }
        let root = effort.times().max(1.0).sqrt();
        let chains = CHAINS * root;
        let how = Round {
            seed: round as u64,
            chains: if round == 0 { chains as usize } else { (chains / 3.0) as usize },
            kicks: (KICKS * root) as usize,
        };
        search.vary(elites, how, &mut work);
        if let Some(best) = elites.first() {
            offer(sizes, k, best.clone());
        }
    }

    /// All exchanges of the best model for atoms of the set.
    pub fn compared(&self) -> Found {
        let chosen = self.elites.first().map_or(&[][..], |elite| &elite.chosen);
        compared_within(&self.set, &self.local, &self.set.numbers_of(chosen))
    }

    /// The best of all models, where looking at all of them takes little; otherwise the best that was found.
    pub fn proven(&mut self, effort: Effort) -> Found {
        let Some(proven) = self.enumerated(effort) else { return self.compared() };
        if proven.objective < self.elites.first().map_or(f64::INFINITY, |elite| elite.objective) * (1.0 - IMPROVES) {
            self.enrol_from(&proven.support);
        }
        Found { proven: Some(proven.subsets), ..self.compared() }
    }

    /// The best of all models of k coordinates of the set, where that takes little.
    fn enumerated(&self, effort: Effort) -> Option<Proven> {
        let budget = if self.k <= FEW { ENUMERATED_FEW } else { ENUMERATED } * effort.times().max(1.0);
        let q = self.local.on(&self.set);
        let best = &self.elites.first().filter(|_| self.set.atoms.widest() <= 1 && q.responses() == 1)?.chosen;
        best_subset(&q, &self.set.kept, self.k, best, budget)
    }
}
