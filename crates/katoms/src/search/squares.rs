//! Least squares: the loop of working set, local search and pricing. The quadratic over the working set is f itself.

use std::collections::BTreeMap;

use super::Effort;
use super::explore::GoOn;
use super::found::{Found, sorted};
use super::local_search::{IMPROVES, Model};
use super::pricing::Everything;
use super::problem::Problem;
use super::responses::Responses;
use super::state::{ALL, FEW, State};
use super::tableau::Tableau;
use super::working_set::{Local, WorkingSet};
use crate::linalg::top_k;
use crate::set::Atoms;
use crate::space::{IndexSet, Point, SparseVec};

/// Multiplications for the Gram columns of a model up to which kicks cost no more than passes do.
pub(crate) const SMALL: f64 = 6e7;
/// The same, up to which all exchanges are compared.
pub(crate) const COMPARED: f64 = 4e8;
/// The first working set: so many atoms, or so many for each of the model. Without kicks, few suffice.
const SCREENED: usize = 200;
const SCREENED_EACH: usize = 8;
const LISTED_EACH: usize = 2;
/// Atoms that join with each model that is priced: these, and so many halves of k.
const ENTERING: usize = 20;
const ENTERING_HALVES: usize = 3;
/// Good models that are priced together.
pub(super) const PRICED: usize = 4;
/// Rounds with kicks; then others only while an exchange improves the model, up to so many.
const ROUNDS: usize = 8;
const MOST: usize = 40;
/// Rounds without a better model after which a search ends.
pub(super) const PATIENCE: usize = 2;
/// What the Gram matrix of more than [`ALL`] columns may cost where models of [`FEW`] atoms are enumerated.
const GRAM: f64 = 1e9;

/// A least-squares problem over atoms.
pub(crate) struct Squares<'f, 'a> {
    pub f: &'f dyn Problem,
    pub atoms: &'a Atoms,
    pub kept: &'a IndexSet,
    /// Where there are several responses: atoms and what is always in are then columns.
    pub(super) responses: Option<&'a Responses>,
    pub(super) everything: Option<Everything<'f>>,
}

impl<'f, 'a> Squares<'f, 'a> {
    /// What an earlier search has read may be given.
    pub fn new(f: &'f dyn Problem, atoms: &'a Atoms, kept: &'a IndexSet, everything: Option<Everything<'f>>) -> Self {
        Self { f, atoms, kept, responses: None, everything }
    }

    /// The same for several responses, by columns.
    pub fn of_responses(self, responses: Option<&'a Responses>) -> Self {
        Self { responses, ..self }
    }

    /// A working set of what is always in.
    pub(super) fn working_set(&self) -> WorkingSet {
        WorkingSet::of_responses(self.f, self.kept, self.atoms.shared(), self.responses)
    }

    /// The best model of k atoms that a search from some atoms finds; `None` where the design has no single columns.
    pub fn best(&mut self, k: usize, start: &[usize], effort: Effort, go_on: &mut GoOn<'_>) -> Option<Found> {
        let (whole, small) = (self.is_whole(k, effort), self.is_small(k, effort));
        let mut state = self.begin(k, start, whole, small)?;
        let here = state.compared();
        // Every atom of the start may matter far more than any other would: then it is the answer.
        let easy = here.clear && here.chosen == sorted(start);
        if whole {
            if small && !easy {
                state.vary(0, effort, go_on);
            }
            return Some(state.proven(effort));
        }
        if easy {
            let (found, entering) = self.price(&state, 1)?;
            if found.clear {
                return Some(found);
            }
            state.set.add(self.f, self.atoms, entering);
            state.local.grow(&state.set);
        }
        let (mut stale, patience) = (0, if small { PATIENCE + effort.extra() } else { 0 });
        for round in 0.. {
            let before = state.elites.first()?.objective;
            if small && round < ROUNDS {
                state.vary(round, effort, go_on);
            }
            let (found, entering) = self.price(&state, if small { PRICED } else { 1 })?;
            stale = if state.elites.first()?.objective < before * (1.0 - IMPROVES) { 0 } else { stale + 1 };
            let new = state.set.add(self.f, self.atoms, entering);
            let settled = new == 0 || (!found.improves() && (stale >= patience || round + 1 >= ROUNDS));
            if settled || round + 1 == MOST || go_on(round).is_break() {
                return Some(found);
            }
            state.local.grow(&state.set);
            state.enrol_from(&state.elites.first()?.chosen.clone());
        }
        None
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

    /// Whether kicks cost no more than the passes do.
    pub fn is_small(&self, k: usize, effort: Effort) -> bool {
        self.multiplications(k) <= SMALL * effort.times().max(1.0)
    }

    /// Whether the working set is everything from the beginning.
    fn is_whole(&self, k: usize, effort: Effort) -> bool {
        let (n, rows) = (self.kept.dim(), self.f.rows() as f64);
        let single = self.atoms.widest() <= 1 && self.responses.is_none();
        let few = k <= FEW && n <= 2 * ALL && single && rows * (n as f64).powi(2) <= GRAM;
        (n <= ALL && self.is_small(k, effort)) || few
    }

    /// The first working set: the start, and what promises most; and the first model from there.
    fn begin(&mut self, k: usize, start: &[usize], whole: bool, small: bool) -> Option<State<'f>> {
        let f = self.f;
        let (atoms, kept, responses) = (self.atoms, self.kept, self.responses.map_or(1, Responses::count));
        let always = self.responses.map_or_else(|| kept.clone(), |responses| responses.coordinates(kept));
        let mut set = self.working_set();
        let everything = self.everything()?;
        let promising = match whole {
            true => (0..atoms.len()).collect(),
            false => everything.steepest(atoms, &f.null_gradient(&always), screened(k, small)),
        };
        set.fetch(f, atoms, start.iter().chain(&promising));
        set.add(f, atoms, start.iter().copied());
        set.add(f, atoms, promising);
        let local = Local::around(f, &set, &f.at(SparseVec::zero(f.dim())), 0.0);
        // Models with as many coordinates as there are rows fit perfectly.
        let rows = (f.rows() / responses).saturating_sub(2 + kept.indices().len()) / atoms.widest().max(1);
        let widest = rows.min(set.count().saturating_sub(1)).max(k);
        let mut state = State { set, local, k, widest, elites: Vec::new(), sizes: BTreeMap::new() };
        state.enrol_from(&state.set.places_of(start));
        Some(state)
    }

    /// The quadratic over all atoms, of which columns become known as they are asked for.
    fn everything(&mut self) -> Option<&mut Everything<'f>> {
        if self.everything.is_none() {
            self.everything = Some(Everything::of_responses(self.f, self.atoms, self.responses)?);
        }
        self.everything.as_mut()
    }

    /// One pass for the best few models, and for the best one of an atom less: what is said of the best, and the atoms that
    /// should join the set.
    fn price(&mut self, state: &State<'_>, count: usize) -> Option<(Found, Vec<usize>)> {
        let outside = |model: &Model| state.set.numbers_of(&model.chosen);
        let models: Vec<Vec<usize>> = state.elites.iter().take(count).map(outside).collect();
        let smaller = state.sizes.get(&(state.k - 1)).map(outside).unwrap_or_default();
        let (atoms, kept) = (self.atoms, self.kept);
        self.everything()?.bring(&coordinates(atoms, kept, models.iter().flatten().chain(&smaller)));
        let (mut best, mut entering) = (None, Vec::new());
        let mut join = |mut gains: Vec<f64>| {
            (0..gains.len()).filter(|&atom| state.set.contains(atom)).for_each(|atom| gains[atom] = f64::NEG_INFINITY);
            let top = top_k(&gains, ENTERING + ENTERING_HALVES * state.k / 2);
            entering.extend(top.into_iter().filter(|&atom| gains[atom] > f64::NEG_INFINITY));
        };
        if !smaller.is_empty() {
            join(Tableau::new(self.everything()?, atoms, kept, &smaller).entry_gains());
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
        let (atoms, kept) = (self.atoms, self.kept);
        let everything = self.everything()?;
        everything.bring(&coordinates(atoms, kept, chosen.iter()));
        let tableau = Tableau::new(everything, atoms, kept, chosen);
        let slopes = everything.point(SparseVec::full(&tableau.slopes())).to_dense();
        let found = Found::of(everything, &tableau, everything.point(tableau.point()), slopes);
        Some((found, tableau.arrivals()))
    }
}

/// The coordinates of some atoms and what is always in.
pub(super) fn coordinates<'a>(atoms: &Atoms, kept: &IndexSet, some: impl Iterator<Item = &'a usize>) -> Vec<usize> {
    some.flat_map(|&atom| atoms.members(atom)).chain(kept.indices()).copied().collect()
}

/// What the Gram columns of a model of k atoms cost.
pub(super) fn multiplications(f: &dyn Problem, atoms: &Atoms, kept: &IndexSet, k: usize) -> f64 {
    let coordinates = atoms.widest().max(1) * k + kept.indices().len();
    f.products_of_column() * coordinates as f64
}

/// The number of atoms that the first working set takes by what they promise themselves.
pub(super) fn screened(k: usize, small: bool) -> usize {
    if small { SCREENED.max(SCREENED_EACH * k) } else { LISTED_EACH * k }
}
