//! Losses that are not quadratic, and bounds: the local search proposes models on the Newton model of f around a good one,
//! and those that lower f itself are accepted.

use std::collections::BTreeMap;

use super::Effort;
use super::bounds::Bounds;
use super::explore::GoOn;
use super::heredity::{Hereditary, Heredity};
use super::local_search::{ELITES, IMPROVES, LocalSearch, Work};
use super::pricing::falls;
use super::problem::Problem;
use super::squares::{PATIENCE, PRICED, SMALL, multiplications, screened};
use super::state::ALL;
use super::swap::{Swap, Swaps};
use super::within::null_model;
use super::within::{Within, lasting};
use super::working_set::{Local, WorkingSet};
use crate::linalg::parallel;
use crate::linalg::top_k;
use crate::objective::Evaluated;
use crate::set::Atoms;
use crate::space::{IndexSet, Point, SparseVec};

/// Good models that the local search begins at.
const EXPANDED: usize = 2;
/// Atoms that join for a residual, and for one of a model without a weak atom.
const ENTERING: usize = 10;
const SUBSTITUTES: usize = 8;
const ROUNDS: usize = 15;
/// What is not even a near tie need not be refitted to its end: the deviance may rise by this.
const NEAR: f64 = 2.0;

/// A model, refitted on f.
#[derive(Debug, Clone)]
pub(crate) struct Fitted {
    /// Its atoms, rising.
    pub chosen: Vec<usize>,
    pub x: Evaluated<SparseVec>,
    pub value: f64,
}

/// The best model, and what is known of it.
pub(crate) struct Accepted {
    pub best: Fitted,
    /// −∇f there.
    pub slopes: Vec<f64>,
    /// The exchanges that were tried on f.
    pub swaps: Swaps,
}

/// A problem over atoms whose loss is not quadratic, or whose coefficients have bounds.
pub(crate) struct Accept<'a> {
    pub f: &'a dyn Problem,
    pub atoms: &'a Atoms,
    pub kept: &'a IndexSet,
    pub(super) bounds: Option<&'a Bounds>,
    /// What atoms need beside them in a model.
    pub(super) heredity: Option<&'a Heredity>,
    /// The largest second derivative along each coordinate to reckon with.
    second: Vec<f64>,
    pub(super) set: WorkingSet,
    /// The quadratic of a quadratic loss.
    pub(super) local: Option<Local<'a>>,
    pub(super) elites: Vec<Fitted>,
    /// Supports that were refitted, and what f is there.
    known: BTreeMap<Vec<usize>, f64>,
    /// The exchanges of the best model that were tried, and what f is there.
    tried: BTreeMap<(usize, usize), f64>,
    /// Whether all others are known to be worse.
    pub(super) exhaustive: bool,
}

impl<'a> Accept<'a> {
    /// `None` where the design has no single columns.
    pub fn new(f: &'a dyn Problem, atoms: &'a Atoms, kept: &'a IndexSet, bounds: Option<&'a Bounds>) -> Option<Self> {
        let bound = f.curvature_scale(&f.at(SparseVec::zero(f.dim())));
        let ones = vec![1.0; f.rows()];
        let second = f.second_derivatives(&ones)?.into_iter().map(|h| bound * h).collect();
        let set = WorkingSet::new(f, kept, atoms.shared()).within(bounds);
        let (local, elites, known, tried) = (None, Vec::new(), BTreeMap::new(), BTreeMap::new());
        Some(Self {
            f,
            atoms,
            kept,
            bounds,
            heredity: None,
            second,
            set,
            local,
            elites,
            known,
            tried,
            exhaustive: false,
        })
    }

    /// The same among the models that heredity allows.
    pub fn with_heredity(self, heredity: Option<&'a Heredity>) -> Self {
        Self { heredity, ..self }
    }

    /// The best model of k atoms that a search from one, and from some other atoms, finds.
    pub fn best(
        mut self,
        k: usize,
        start: Fitted,
        rivals: Vec<Vec<usize>>,
        effort: Effort,
        go_on: &mut GoOn<'_>,
    ) -> Option<Accepted> {
        let few = multiplications(self.f, self.atoms, self.kept, k) <= SMALL * effort.times().max(1.0);
        let small = few || self.heredity.is_some();
        self.begin(k, start, small);
        let (mut stale, mut slopes) = (0, None);
        self.accept(&self.elites.first()?.clone(), rivals, Vec::new());
        for round in 0..ROUNDS {
            let before = self.elites.first()?.clone();
            // Around every model a quadratic loss has the same quadratic.
            let expanded = if small && !self.f.is_quadratic() { EXPANDED } else { 1 };
            let mut weakened = Vec::new();
            for place in 0..expanded.min(self.elites.len()) {
                let from = self.elites[place].clone();
                let proposal = self.propose(k, &from, small.then_some(effort), round);
                weakened.extend(proposal.weakened);
                self.accept(&from, proposal.supports, proposal.exchanges);
            }
            let best = self.elites.first()?.clone();
            let better = best.value < self.enough(before.value);
            stale = if better { 0 } else { stale + 1 };
            let patience = if small { PATIENCE + effort.extra() } else { 1 };
            if self.is_separated_by(&best.x) || go_on(round).is_break() {
                break;
            }
            let new = self.price(k, &weakened, &mut slopes);
            if stale >= patience || (new == 0 && !better) {
                break;
            }
        }
        while self.bounds.is_some() && go_on(ROUNDS).is_continue() && self.compare_all(k) {}
        Some(self.finish(slopes))
    }

    /// What is said of a model, without a search.
    pub fn judge(mut self, k: usize, x: Fitted) -> Option<Accepted> {
        self.begin(k, x.clone(), false);
        let gradient = self.f.gradient(&x.x);
        self.join(&gradient, ENTERING + 2 * k);
        let proposal = self.propose(k, &x, None, 0);
        let mut judged = self;
        judged.accept(&x, Vec::new(), proposal.exchanges);
        judged.elites = vec![x];
        let slopes = Some((judged.elites[0].chosen.clone(), gradient.iter().map(|g| -g).collect()));
        Some(judged.finish(slopes))
    }

    /// What is below this is better than `here`.
    fn enough(&self, here: f64) -> f64 {
        here - IMPROVES * (here - self.f.lower_bound())
    }

    /// Whether no finite point is the best on the atoms of x.
    fn is_separated_by(&self, x: &Evaluated<SparseVec>) -> bool {
        self.bounds.is_none_or(|bounds| bounds.let_grow(x.point())) && self.f.is_separated_by(x)
    }

    /// The minimum over a support, given up where it is not going to be below a value.
    fn refit(&self, x: Evaluated<SparseVec>, support: &IndexSet, below: Option<f64>) -> Evaluated<SparseVec> {
        match (self.bounds, below) {
            (Some(bounds), _) => {
                Within::new(self.f, bounds, support).minimum(x.point(), below.unwrap_or(f64::INFINITY))
            }
            (None, Some(below)) => self.f.refit_below(x, support, below),
            (None, None) => self.f.refit(x, support),
        }
    }

    /// The first working set and the first models.
    fn begin(&mut self, k: usize, start: Fitted, small: bool) {
        self.set.add(self.f, self.atoms, start.chosen.iter().copied());
        let null = null_model(self.f, self.kept, self.bounds);
        let gradient = match self.bounds {
            Some(_) => self.f.pass(&[&self.f.residual(&null)]).swap_remove(0),
            None => self.f.null_gradient(self.kept),
        };
        if self.heredity.is_some() && self.atoms.len() <= ALL {
            self.set.add(self.f, self.atoms, 0..self.atoms.len());
        }
        self.join(&gradient, screened(k, small));
        self.known.insert(start.chosen.clone(), start.value);
        self.elites = vec![start.clone()];
        if small {
            // A model that grows from nothing on the Newton model there.
            let local = Local::around(self.f, &self.set, &null, 0.0);
            let q = local.on(&self.set);
            let search = LocalSearch { q: &q, atoms: &self.set.atoms, kept: &self.set.kept, widest: k };
            let (heredity, mut work) = (self.heredity_here(), Work::new(f64::INFINITY));
            let grown = match &heredity {
                Some(heredity) => Hereditary { search, heredity }.from(&[], k, &mut work),
                None => search.from(&[], k, &mut work),
            };
            let chosen = self.set.numbers_of(&grown.chosen);
            self.accept(&Fitted { chosen: Vec::new(), value: self.f.value(&null), x: null }, vec![chosen], Vec::new());
        }
    }

    /// The steepest atoms join the set. How many are new.
    fn join(&mut self, gradient: &[f64], count: usize) -> usize {
        let joining = self.joining(gradient, count);
        self.set.add(self.f, self.atoms, joining)
    }

    /// The steepest atoms, and what they need.
    fn joining(&self, gradient: &[f64], count: usize) -> Vec<usize> {
        let mut falls = match self.bounds {
            Some(bounds) => bounds.falls(self.atoms, gradient, &self.second),
            None => falls(self.atoms, gradient, &self.second),
        };
        if self.bounds.is_some() {
            // Those at a bound keep their slopes, and would fill the places of others.
            (0..falls.len()).filter(|&atom| self.set.contains(atom)).for_each(|atom| falls[atom] = 0.0);
        }
        let steepest = top_k(&falls, count).into_iter().filter(|&atom| falls[atom] > 0.0);
        let needed = |atom: usize| self.heredity.map_or(&[][..], |heredity| heredity.parents(atom)).iter().copied();
        steepest.flat_map(|atom| needed(atom).chain([atom])).collect()
    }

    /// What the atoms of the working set need, by their places there.
    pub(super) fn heredity_here(&self) -> Option<Heredity> {
        self.heredity.map(|heredity| self.set.heredity(heredity))
    }

    /// Refits models and single exchanges of one on f, and keeps the best.
    pub(super) fn accept(&mut self, from: &Fitted, supports: Vec<Vec<usize>>, exchanges: Vec<Swap>) {
        let exchanged = |swap: &Swap| {
            let mut chosen: Vec<usize> = from.chosen.iter().copied().filter(|&atom| atom != swap.out).collect();
            chosen.push(swap.into);
            chosen.sort_unstable();
            (chosen, Some((swap.out, swap.into)))
        };
        let all = exchanges.iter().map(exchanged).chain(supports.into_iter().map(|chosen| (chosen, None)));
        let (mut fresh, mut found) = (Vec::new(), Vec::new());
        for (chosen, swap) in all {
            match self.known.get(&chosen) {
                Some(&value) => found.extend(swap.filter(|_| self.bounds.is_some()).map(|swap| (swap, value))),
                None => {
                    self.known.insert(chosen.clone(), f64::INFINITY);
                    fresh.push((chosen, swap));
                }
            }
        }
        let least = self.elites.first().map_or(f64::INFINITY, |best| best.value);
        let refit = |at: usize| {
            let (chosen, swap): (Vec<usize>, Option<(usize, usize)>) = fresh[at].clone();
            let support = self.support(&chosen);
            let start = self.f.at(from.x.point().on(&support));
            let x = self.refit(start, &support, Some(least + NEAR));
            (Fitted { value: self.f.value(&x), chosen, x }, swap)
        };
        let refitted: Vec<(Fitted, Option<(usize, usize)>)> = parallel::map(fresh.len(), &refit);
        let first = self.elites.first().map(|best| best.chosen.clone());
        for (fitted, swap) in refitted {
            found.extend(swap.map(|swap| (swap, fitted.value)));
            self.known.insert(fitted.chosen.clone(), fitted.value);
            let at = self.elites.partition_point(|other| other.value <= fitted.value);
            self.elites.insert(at, fitted);
            self.elites.truncate(ELITES);
        }
        let best = self.elites.first().map(|best| &best.chosen);
        if best != first.as_ref() {
            self.tried.clear();
        } else if best == Some(&from.chosen) {
            self.tried.extend(found);
        }
    }

    pub(super) fn support(&self, chosen: &[usize]) -> IndexSet {
        let members = chosen.iter().flat_map(|&atom| self.atoms.members(atom).iter().copied());
        IndexSet::new(self.f.dim(), members.chain(self.kept.indices().iter().copied()).collect())
    }

    /// One pass with the residuals of the best models, and of models without weak atoms: how many atoms are new.
    fn price(&mut self, k: usize, weakened: &[SparseVec], slopes: &mut Option<(Vec<usize>, Vec<f64>)>) -> usize {
        let models = self.elites.iter().take(PRICED);
        let mut residuals: Vec<Vec<f64>> = models.map(|model| self.f.residual(&model.x)).collect();
        let own = residuals.len();
        residuals.extend(weakened.iter().map(|x| self.f.residual(&self.f.at(x.clone()))));
        let views: Vec<&[f64]> = residuals.iter().map(Vec::as_slice).collect();
        let gradients = self.f.pass(&views);
        if let Some((best, gradient)) = self.elites.first().zip(gradients.first()) {
            let mut down: Vec<f64> = gradient.iter().map(|g| -g).collect();
            best.x.point().entries().for_each(|(j, v)| down[j] -= self.f.ridge_at(j) * v);
            *slopes = Some((best.chosen.clone(), down));
        }
        let count = |place: usize| if place < own { ENTERING + 2 * k } else { SUBSTITUTES };
        let joining: Vec<Vec<usize>> =
            gradients.iter().enumerate().map(|(place, gradient)| self.joining(gradient, count(place))).collect();
        self.set.fetch(self.f, self.atoms, joining.iter().flatten());
        gradients.iter().enumerate().map(|(place, gradient)| self.join(gradient, count(place))).sum()
    }

    /// The best model, refitted to its end, with what is known of it.
    fn finish(self, slopes: Option<(Vec<usize>, Vec<f64>)>) -> Accepted {
        let mut best = self.elites[0].clone();
        let support = self.support(&best.chosen);
        best.x = self.refit(best.x, &support, None);
        best.value = self.f.value(&best.x);
        let known = slopes.filter(|(chosen, _)| *chosen == best.chosen).map(|(_, slopes)| slopes);
        let slopes = known.unwrap_or_else(|| self.f.gradient(&best.x).iter().map(|g| -g).collect());
        if self.bounds.is_some() {
            best.chosen = lasting(self.atoms, self.kept, best.chosen, best.x.point());
            best.x = self.f.at(best.x.point().on(&self.support(&best.chosen)));
        }
        let tried = self.tried.iter().filter(|((out, _), _)| best.chosen.contains(out));
        let mut swaps: Vec<Swap> =
            tried.map(|(&(out, into), value)| Swap { out, into, gain: best.value - value }).collect();
        swaps.sort_by(|a, b| b.gain.total_cmp(&a.gain));
        let outside = self.atoms.len() - self.atoms.empty().len() - best.chosen.len();
        let all = match self.heredity {
            Some(heredity) => {
                heredity.exchanges(&best.chosen).filter(|&into| !self.atoms.members(into).is_empty()).count()
            }
            None => best.chosen.len() * outside,
        };
        let exhaustive = self.exhaustive || swaps.len() >= all;
        let compared = if exhaustive { all } else { swaps.len() };
        Accepted { best, slopes, swaps: Swaps { compared, best: swaps, exhaustive } }
    }
}
