//! Least squares: the loop of working set, local search and pricing. The quadratic over the working set is f itself.

use std::collections::BTreeMap;

use super::Effort;
use super::enumerate::{Proven, best_subset, is_refused};
use super::explore::GoOn;
use super::local_search::{IMPROVES, LocalSearch, Model, Partners, ROUNDING, Round, Work, enrol, offer};
use super::pricing::Everything;
use super::problem::Problem;
use super::quadratic::Quadratic;
use super::tableau::{Swap, Swaps, Tableau};
use super::working_set::{Local, WorkingSet};
use crate::linalg::top_k;
use crate::set::Atoms;
use crate::space::{IndexSet, Point, SparseVec};

/// Multiplications for the Gram columns of a model up to which kicks and unions cost no more than passes do.
pub(crate) const SMALL: f64 = 6e7;
/// The same, up to which all exchanges are compared.
pub(crate) const COMPARED: f64 = 4e8;
/// Atoms up to which the working set is everything.
pub(super) const ALL: usize = 512;
/// The first working set: so many atoms, or so many for each of the model. Without kicks, few suffice.
const SCREENED: usize = 200;
const SCREENED_EACH: usize = 8;
const LISTED_EACH: usize = 2;
/// Atoms that join with each model that is priced: these, and so many halves of k.
const ENTERING: usize = 20;
const ENTERING_HALVES: usize = 3;
/// Good models that are priced together.
pub(super) const PRICED: usize = 4;
const ROUNDS: usize = 12;
/// Rounds without a better model after which a search ends.
pub(super) const PATIENCE: usize = 2;
/// Kicks in a chain, chains in the first round, unions in each.
const KICKS: f64 = 25.0;
const CHAINS: f64 = 6.0;
const UNIONS: f64 = 12.0;
/// Entries of tableaux that one round may compute, times the effort.
const WORK: f64 = 4e7;
/// Columns up to which pairs of nearly equal ones are looked for.
const PAIRED: usize = 600;
/// Evaluations that an enumeration of all models may take; of two and three coordinates, these.
const ENUMERATED: f64 = 2e7;
const ENUMERATED_FEW: f64 = 3e8;
/// Coordinates up to which models of at most so many are enumerated, and what their Gram matrix may cost.
const FEW: usize = 3;
const FEW_OF: usize = 1024;
const GRAM: f64 = 1e9;

/// A least-squares problem over atoms.
pub(crate) struct Squares<'f, 'a> {
    pub f: &'f dyn Problem,
    pub atoms: &'a Atoms,
    pub kept: &'a IndexSet,
    pub(super) everything: Option<Everything<'f>>,
}

/// The best model that was found.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    /// Its atoms, rising.
    pub chosen: Vec<usize>,
    pub point: SparseVec,
    /// −∇f there.
    pub slopes: Vec<f64>,
    /// The best exchange of each of its atoms.
    pub swaps: Swaps,
    /// What an exchange has to gain to be an improvement.
    pub least: f64,
    /// Whether every atom matters far more than any other would.
    pub clear: bool,
    /// The number of all models, where this one is proven to be the best of them.
    pub proven: Option<f64>,
}

impl Found {
    /// What a tableau says.
    fn of(q: &dyn Quadratic, tableau: &Tableau<'_>, point: SparseVec, slopes: Vec<f64>) -> Self {
        let swaps = tableau.substitutes();
        let clear = tableau.stands_out(&swaps);
        let least = (IMPROVES * tableau.objective()).max(ROUNDING * q.constant());
        Self { chosen: sorted(tableau.chosen()), point, slopes, swaps, least, clear, proven: None }
    }

    /// Whether an exchange improves the model.
    pub fn improves(&self) -> bool {
        self.swaps.best.first().is_some_and(|swap| swap.gain > self.least)
    }
}

/// A model of atoms by their numbers outside of the working set.
type Support = (Vec<usize>, f64);

/// A search on its way.
struct State {
    set: WorkingSet,
    local: Local,
    k: usize,
    widest: usize,
    /// Some of the best models of k atoms, the best first.
    elites: Vec<Support>,
    /// The best model of each size.
    sizes: BTreeMap<usize, Support>,
}

impl<'f, 'a> Squares<'f, 'a> {
    /// What an earlier search has read may be given.
    pub fn new(f: &'f dyn Problem, atoms: &'a Atoms, kept: &'a IndexSet, everything: Option<Everything<'f>>) -> Self {
        Self { f, atoms, kept, everything }
    }

    /// The best model of k atoms that a search from some atoms finds; `None` where the design has no single columns.
    pub fn best(&mut self, k: usize, start: &[usize], effort: Effort, go_on: &mut GoOn<'_>) -> Option<Found> {
        let (all, small) = (self.is_whole(k, effort), self.is_small(k, effort));
        let mut state = self.begin(k, start, all, small)?;
        state.enrol_from(start);
        let mut found = self.first(&mut state, start, all);
        let easy = found.as_ref().is_some_and(|found| found.clear && found.chosen == sorted(start));
        let (mut stale, patience) = (0, if small { PATIENCE + effort.extra() } else { 0 });
        for round in 0..if easy { 0 } else { ROUNDS } {
            let before = state.elites.first()?.1;
            if small {
                state.vary(round, effort, go_on);
            }
            if all {
                break;
            }
            let (priced, entering) = self.price(&state, if small { PRICED } else { 1 })?;
            let settled = !priced.improves();
            found = Some(priced);
            stale = if state.elites.first()?.1 < before * (1.0 - IMPROVES) { 0 } else { stale + 1 };
            let new = state.set.add(self.f, self.atoms, entering);
            if new == 0 || (settled && stale >= patience) || go_on(round).is_break() {
                break;
            }
            state.local.grow(&state.set);
            state.exchange();
        }
        match all {
            true => Some(state.proven(effort)),
            false => found,
        }
    }

    /// What is said of the model of some atoms, without a search. `None` where not all exchanges can be compared.
    pub fn judge(&mut self, chosen: &[usize]) -> Option<Found> {
        let affordable = self.multiplications(chosen.len()) <= COMPARED;
        affordable.then(|| self.compared(chosen)).flatten().map(|(found, _)| found)
    }

    /// What the Gram columns of a model of k atoms cost.
    pub fn multiplications(&self, k: usize) -> f64 {
        multiplications(self.f, self.atoms, self.kept, k)
    }

    /// Whether kicks and unions cost no more than the passes do.
    pub fn is_small(&self, k: usize, effort: Effort) -> bool {
        self.multiplications(k) <= SMALL * effort.times().max(1.0)
    }

    /// Whether the working set is everything from the beginning.
    fn is_whole(&self, k: usize, effort: Effort) -> bool {
        let (n, rows) = (self.f.dim(), self.f.rows() as f64);
        let few = k <= FEW && n <= FEW_OF && self.atoms.widest() <= 1 && rows * (n as f64).powi(2) <= GRAM;
        (n <= ALL && self.is_small(k, effort)) || few
    }

    /// The first working set: what the method has found, and what promises most.
    fn begin(&mut self, k: usize, start: &[usize], all: bool, small: bool) -> Option<State> {
        let f = self.f;
        if self.everything.is_none() {
            self.everything = Some(Everything::new(f, self.atoms)?);
        }
        let mut set = WorkingSet::new(f, self.kept, self.atoms.shared());
        set.add(f, self.atoms, start.iter().copied());
        let zero = f.at(SparseVec::zero(f.dim()));
        let screened = if all {
            (0..self.atoms.len()).collect()
        } else {
            self.everything.as_ref()?.steepest(self.atoms, &f.null_gradient(self.kept), screened(k, small))
        };
        set.add(f, self.atoms, screened);
        let local = Local::around(f, &set, &zero, 0.0);
        // Models with as many coordinates as there are rows fit perfectly.
        let rows = f.rows().saturating_sub(2 + self.kept.indices().len()) / self.atoms.widest().max(1);
        let widest = rows.min(set.count().saturating_sub(1)).max(k);
        Some(State { set, local, k, widest, elites: Vec::new(), sizes: BTreeMap::new() })
    }

    /// What is said of the start where no exchange within the set improves it, and it stands out clearly: it may be the
    /// answer.
    fn first(&mut self, state: &mut State, start: &[usize], all: bool) -> Option<Found> {
        let here = state.compared();
        if here.chosen != sorted(start) || !here.clear || all {
            return Some(here).filter(|_| all);
        }
        let (found, entering) = self.price(state, 1)?;
        state.set.add(self.f, self.atoms, entering);
        state.local.grow(&state.set);
        Some(found)
    }

    /// One pass for the best few models, and for the best one of an atom less: what is said of the best, and the atoms that
    /// should join the set.
    fn price(&mut self, state: &State, count: usize) -> Option<(Found, Vec<usize>)> {
        let models: Vec<Vec<usize>> = state.elites.iter().take(count).map(|elite| elite.0.clone()).collect();
        let smaller = state.sizes.get(&(state.k - 1)).map(|model| model.0.clone()).unwrap_or_default();
        let all = models.iter().flatten().chain(&smaller).flat_map(|&atom| self.atoms.members(atom));
        let coordinates: Vec<usize> = all.chain(self.kept.indices()).copied().collect();
        let everything = self.everything.as_mut()?;
        everything.bring(&coordinates);
        let (mut best, mut entering) = (None, Vec::new());
        let mut join = |gains: Vec<f64>| {
            let outside = |(atom, gain): (usize, f64)| if state.set.contains(atom) { f64::NEG_INFINITY } else { gain };
            let gains: Vec<f64> = gains.into_iter().enumerate().map(outside).collect();
            let top = top_k(&gains, ENTERING + ENTERING_HALVES * state.k / 2);
            entering.extend(top.into_iter().filter(|&atom| gains[atom] > f64::NEG_INFINITY));
        };
        if !smaller.is_empty() {
            join(Tableau::new(&*everything, self.atoms, self.kept, &smaller).entry_gains());
        }
        for model in &models {
            let (found, arrivals) = self.compared(model)?;
            join(arrivals);
            best.get_or_insert(found);
        }
        Some((best?, entering))
    }

    /// All exchanges of a model: what is said of it, and how much the best exchange for each atom outside lowers f.
    fn compared(&mut self, chosen: &[usize]) -> Option<(Found, Vec<f64>)> {
        if self.everything.is_none() {
            self.everything = Some(Everything::new(self.f, self.atoms)?);
        }
        let everything = self.everything.as_mut()?;
        let coordinates = chosen.iter().flat_map(|&atom| self.atoms.members(atom)).chain(self.kept.indices());
        everything.bring(&coordinates.copied().collect::<Vec<usize>>());
        let tableau = Tableau::new(everything, self.atoms, self.kept, chosen);
        let found = Found::of(everything, &tableau, tableau.point(), tableau.slopes());
        Some((found, tableau.arrivals()))
    }
}

impl State {
    fn local_search(
        &self,
        work: impl FnOnce(&LocalSearch<'_>) -> (Vec<Model>, BTreeMap<usize, Model>),
    ) -> (Vec<Support>, BTreeMap<usize, Support>) {
        let q = self.local.on(&self.set);
        let search = LocalSearch { q: &q, atoms: &self.set.atoms, kept: &self.set.kept, widest: self.widest };
        let (elites, sizes) = work(&search);
        let outside = |model: Model| (self.set.numbers_of(&model.chosen), model.objective);
        (
            elites.into_iter().map(outside).collect(),
            sizes.into_iter().map(|(size, model)| (size, outside(model))).collect(),
        )
    }

    fn inside(&self, (chosen, objective): &Support) -> Model {
        Model { chosen: sorted(&self.set.places_of(chosen)), objective: *objective }
    }

    fn models(&self) -> (Vec<Model>, BTreeMap<usize, Model>) {
        let elites = self.elites.iter().map(|elite| self.inside(elite)).collect();
        (elites, self.sizes.iter().map(|(&size, model)| (size, self.inside(model))).collect())
    }

    /// A first model of k atoms from some, exchanged within the set.
    fn enrol_from(&mut self, start: &[usize]) {
        let (mut elites, mut sizes) = self.models();
        (self.elites, self.sizes) = self.local_search(|search| {
            let model = search.from(&self.set.places_of(start), self.k, &mut Work::new(f64::INFINITY));
            offer(&mut sizes, self.k, model.clone());
            enrol(&mut elites, model);
            (elites, sizes)
        });
    }

    /// Exchanges the best model within the set, which has grown.
    fn exchange(&mut self) {
        if let Some((chosen, _)) = self.elites.first().cloned() {
            self.enrol_from(&chosen);
        }
    }

    /// One round of models of neighbouring sizes, kicks and unions.
    fn vary(&mut self, round: usize, effort: Effort, go_on: &mut GoOn<'_>) {
        let (mut elites, mut sizes) = self.models();
        let (k, root) = (self.k, effort.times().max(1.0).sqrt());
        (self.elites, self.sizes) = self.local_search(|search| {
            let mut work = Work::new(WORK * effort.times());
            // On groups a pair is no matter of two columns.
            let pairs = round == 0 && search.q.dim() <= PAIRED && search.atoms.widest() <= 1;
            let partners = pairs.then(|| Partners::new(search.q, search.atoms));
            let ladder: Vec<usize> = (1..=(k + (k / 2).max(3)).min(search.widest)).collect();
            search.sizes(&mut sizes, &ladder, &mut work, go_on);
            if let Some(model) = sizes.get(&k) {
                enrol(&mut elites, model.clone());
                enrol(&mut elites, search.overshoot(model, partners.as_ref(), &mut work));
            }
            let chains = CHAINS * root;
            let how = Round {
                seed: round as u64,
                chains: if round == 0 { chains as usize } else { (chains / 3.0) as usize },
                kicks: (KICKS * root) as usize,
                unions: (UNIONS * root) as usize,
            };
            search.vary(&mut elites, how, &mut work);
            if let Some(best) = elites.first() {
                offer(&mut sizes, k, best.clone());
            }
            (elites, sizes)
        });
    }

    /// All exchanges of the best model for atoms of the set.
    fn compared(&self) -> Found {
        self.compared_at(self.elites.first().map_or(&[], |elite| &elite.0))
    }

    fn compared_at(&self, chosen: &[usize]) -> Found {
        compared_within(&self.set, &self.local, chosen)
    }

    /// The best of all models, where looking at all of them takes little; otherwise the best that was found.
    fn proven(&mut self, effort: Effort) -> Found {
        let Some(proven) = self.enumerated(effort) else { return self.compared() };
        if proven.objective < self.elites.first().map_or(f64::INFINITY, |elite| elite.1) * (1.0 - IMPROVES) {
            self.enrol_from(&proven.support);
        }
        Found { proven: Some(proven.subsets), ..self.compared() }
    }

    /// The best of all models of k coordinates of the set, where that takes little.
    fn enumerated(&self, effort: Effort) -> Option<Proven> {
        if self.set.atoms.widest() > 1 || effort == Effort::Quick {
            return None;
        }
        let q = self.local.on(&self.set);
        let n = q.dim();
        let few = self.k <= FEW && n <= FEW_OF + self.set.kept.indices().len();
        let budget = if few { ENUMERATED_FEW } else { ENUMERATED } * effort.times().max(1.0);
        if is_refused(n, self.k, budget) {
            return None;
        }
        let start = self.set.places_of(&self.elites.first()?.0);
        let Proven { support, objective, subsets } = best_subset(&q, &self.set.kept, self.k, Some(&start), budget)?;
        Some(Proven { support: self.set.numbers_of(&support), objective, subsets })
    }
}

/// All exchanges of a model for atoms of a working set.
pub(super) fn compared_within(set: &WorkingSet, local: &Local, chosen: &[usize]) -> Found {
    let q = local.on(set);
    let tableau = Tableau::new(&q, &set.atoms, &set.kept, &set.places_of(chosen));
    let slopes = set.outside(&SparseVec::full(&tableau.slopes())).to_dense();
    let found = Found::of(&q, &tableau, set.outside(&tableau.point()), slopes);
    let number = |place: usize| set.numbers_of(&[place])[0];
    let outside = |swap: &Swap| Swap { out: number(swap.out), into: number(swap.into), gain: swap.gain };
    let best = found.swaps.best.iter().map(outside).collect();
    Found { chosen: set.numbers_of(&found.chosen), swaps: Swaps { best, ..found.swaps }, ..found }
}

/// What the Gram columns of a model of k atoms cost.
pub(super) fn multiplications(f: &dyn Problem, atoms: &Atoms, kept: &IndexSet, k: usize) -> f64 {
    let coordinates = atoms.widest().max(1) * k + kept.indices().len();
    f.rows() as f64 * f.dim() as f64 * coordinates as f64
}

/// The number of atoms that the first working set takes by what they promise themselves.
pub(super) fn screened(k: usize, small: bool) -> usize {
    if small { SCREENED.max(SCREENED_EACH * k) } else { LISTED_EACH * k }
}

fn sorted(list: &[usize]) -> Vec<usize> {
    let mut list = list.to_vec();
    list.sort_unstable();
    list
}
