//! Models and exchanges to try on f, where the loss is not quadratic or coefficients have bounds.

use super::Effort;
use super::accept::{Accept, Fitted};
use super::boxed::Boxed;
use super::heredity::Hereditary;
use super::kicks::Round;
use super::local_search::{LocalSearch, Model, Work, enrol};
use super::pricing::Everything;
use super::squares::{COMPARED, multiplications};
use super::swap::Swap;
use super::tableau::Tableau;
use super::working_set::Local;
use crate::space::SparseVec;

/// The least curvature of the Newton model, as a share of the largest possible: predictions that are nearly sure may move.
pub(crate) const FLAT: f64 = 4e-5;
/// Single exchanges that promise most and are tried on f: by the Newton model, and by the largest possible curvature.
const TRIED: usize = 12;
const TRIED_SURELY: usize = 6;
/// Kicks in a chain, and chains.
const KICKS: f64 = 12.0;
const CHAINS: f64 = 2.0;
/// Entries of tableaux that the search on one Newton model may compute, times the effort.
const WORK: f64 = 4e7;
/// Multiplications that the refits of all exchanges may take, the Newton steps of one, and what it costs beside them.
const REFITS: f64 = 2e7;
const NEWTON: f64 = 6.0;
const OVERHEAD: f64 = 3e3;

/// What the Newton model around a model tells.
pub(super) struct Proposal {
    pub supports: Vec<Vec<usize>>,
    pub exchanges: Vec<Swap>,
    /// The model without one of its weak atoms.
    pub weakened: Vec<SparseVec>,
}

impl Accept<'_> {
    /// Models that the Newton model around one prefers, and the exchanges of its atoms that promise most.
    pub fn propose(&mut self, k: usize, from: &Fitted, effort: Option<Effort>, round: usize) -> Proposal {
        let (bound, quadratic, known) = (self.f.curvature_scale(&from.x), self.f.is_quadratic(), self.local.take());
        let set = &self.set;
        let least = if quadratic { 0.0 } else { FLAT * bound };
        let mut local = known.unwrap_or_else(|| Local::around(self.f, set, &from.x, least));
        local.grow(set);
        let q = local.on(set);
        let widest = self.f.rows().saturating_sub(3) / self.atoms.widest().max(1);
        let widest = widest.min(set.count().saturating_sub(1)).max(k);
        let search = LocalSearch { q: &q, atoms: &set.atoms, kept: &set.kept, widest };
        let mut work = Work::new(effort.map_or(f64::INFINITY, |effort| WORK * effort.times()));
        let places = set.places_of(&from.chosen);
        let heredity = self.heredity_here();
        let hereditary = heredity.as_ref().map(|heredity| Hereditary { search, heredity });
        let tableau = search.tableau(&places);
        let mut exchanges = match &hereditary {
            Some(hereditary) => hereditary.exchanges(&tableau, TRIED),
            None => tableau.exchanges(TRIED),
        };
        let weak = tableau.weakest((k / 3).max(3));
        let weakened = weak.into_iter().map(|atom| set.outside(&tableau.point_without(&q, atom))).collect();
        let mut pool = Vec::new();
        match (&hereditary, effort) {
            (None, _) => {
                let settled = search.settled(tableau, k, &mut work);
                pool.push(LocalSearch::model(&settled));
                if let Some(effort) = effort {
                    self.vary(&search, &mut pool, settled, (effort, round), &mut work);
                }
            }
            (Some(hereditary), effort) => {
                pool.push(hereditary.from(&places, k, &mut work));
                if let Some(how) = effort.and_then(|effort| self.kicks(effort, round)) {
                    self.enrol_elites(&search, &mut pool);
                    hereditary.vary(&mut pool, k, how, &mut work);
                }
            }
        }
        if effort.is_some() && !quadratic && heredity.is_none() {
            let surely = Local::around(self.f, set, &from.x, bound);
            let q = surely.on(set);
            let search = LocalSearch { q: &q, ..search };
            exchanges.extend(search.tableau(&places).exchanges(TRIED_SURELY));
        }
        let number = |place: usize| set.numbers_of(&[place])[0];
        let proposal = Proposal {
            supports: pool.iter().map(|model| set.numbers_of(&model.chosen)).collect(),
            exchanges: exchanges
                .iter()
                .map(|s| Swap { out: number(s.out), into: number(s.into), gain: s.gain })
                .collect(),
            weakened,
        };
        self.local = quadratic.then_some(local);
        proposal
    }

    /// A larger model pruned back, and kicks.
    fn vary<'t>(
        &self,
        search: &LocalSearch<'t>,
        pool: &mut Vec<Model>,
        settled: Tableau<'t>,
        (effort, round): (Effort, usize),
        work: &mut Work,
    ) {
        enrol(pool, search.overshoot_from(settled, None, work));
        if let Some(how) = self.kicks(effort, round) {
            self.enrol_elites(search, pool);
            search.vary(pool, how, work);
        }
    }

    /// How many chains of kicks fit into the work of a round; `None` where there is room for none.
    fn kicks(&self, effort: Effort, round: usize) -> Option<Round> {
        let (root, outputs) = (effort.times().max(1.0).sqrt(), self.f.outputs() as f64);
        // The tableau of q outputs has q times the rows and q times the columns: so many fewer chains fit in.
        let chains = (CHAINS * root / outputs.powi(2)) as usize;
        (chains > 0).then_some(Round { seed: round as u64, chains, kicks: (KICKS * root) as usize })
    }

    /// The best models so far, as the Newton model sees them.
    fn enrol_elites(&self, search: &LocalSearch<'_>, pool: &mut Vec<Model>) {
        for elite in &self.elites {
            let mut chosen = self.set.places_of(&elite.chosen);
            chosen.sort_unstable();
            let objective = search.tableau(&chosen).objective();
            enrol(pool, Model { chosen, objective });
        }
    }

    /// Tries all exchanges of the best model that may be better, where that takes little. Whether one is.
    pub fn compare_all(&mut self, k: usize) -> bool {
        let Some(best) = self.elites.first().cloned() else { return false };
        let outside = |atom: &usize| !best.chosen.contains(atom) && !self.atoms.members(*atom).is_empty();
        let outside: Vec<usize> = (0..self.atoms.len()).filter(outside).collect();
        let of = |out: usize| outside.iter().map(move |&into| Swap { out, into, gain: 0.0 });
        let few = self.f.is_quadratic() && multiplications(self.f, self.atoms, self.kept, k) <= COMPARED;
        let doubtful = few.then(|| self.doubtful(&best.chosen)).flatten();
        let swaps = doubtful.unwrap_or_else(|| best.chosen.iter().flat_map(|&out| of(out)).collect());
        let d = self.support(&best.chosen).indices().len() as f64;
        let work = NEWTON * self.f.rows() as f64 * d * (d + 1.0) + OVERHEAD;
        if swaps.len() as f64 * work > REFITS {
            return false;
        }
        self.accept(&best, Vec::new(), swaps);
        self.exhaustive = self.elites.first().is_some_and(|next| next.chosen == best.chosen);
        !self.exhaustive
    }

    /// The exchanges of a model that may be better, for a quadratic loss. One pass.
    fn doubtful(&self, chosen: &[usize]) -> Option<Vec<Swap>> {
        let mut everything = Everything::new(self.f, self.atoms)?.within(self.bounds?);
        everything.bring(self.support(chosen).indices());
        Boxed::new(&everything, self.atoms, self.kept, chosen)?.doubtful()
    }
}
