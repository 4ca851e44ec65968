//! Least squares where the Gram columns of a model cost more than many passes: pricing by residuals.
//!
//! All k·n exchanges need k columns of the Gram matrix, 2·m·n·k multiplications, where a gradient takes 2·m·n. Few atoms are
//! ever worth an exchange, and a pass tells which: those with the steepest slopes, and, since a substitute shows only when
//! its atom is gone, those with the steepest slopes without one of the weakest atoms. Within the working set every exchange
//! is compared; when none improves f, a pass at the new point looks for others.

use std::collections::BTreeSet;
use std::iter::successors;

use super::explore::GoOn;
use super::found::{Found, found_within};
use super::local_search::{LocalSearch, Work};
use super::pricing::Everything;
use super::quadratic::Quadratic;
use super::responses::Responses;
use super::squares::{Squares, coordinates};
use super::swap::Swaps;
use super::tableau::Tableau;
use super::working_set::{Local, LocalModel, WorkingSet};
use crate::linalg::{parallel, top_k};
use crate::objective::Evaluated;
use crate::space::{IndexSet, Point, SparseVec};

/// Atoms that join the set with each gradient, as a multiple of those in the model.
const WIDTH: usize = 2;
/// The weakest atoms whose substitutes are looked for in one pass, and how many are listed for each.
const WEAKEST: usize = 8;
const SUBSTITUTES: usize = 8;
/// An atom that costs more than so many times what any other would bring has no substitute, unless that is its twin.
const STRONG: f64 = 16.0;
/// By a sample of the rows so many times as many are named, and their slopes compared.
const LIKELY: usize = 8;
const ROUNDS: usize = 30;

impl Squares<'_, '_> {
    /// The best model of k atoms that exchanges from x find; none is made where `moves` is false.
    pub(crate) fn best_by_residuals(
        &self,
        k: usize,
        start: &[usize],
        x: &Evaluated<SparseVec>,
        moves: bool,
        go_on: &mut GoOn<'_>,
    ) -> Option<Found> {
        let f = self.f;
        let everything = Everything::of_responses(f, self.atoms, self.responses)?;
        let mut set = self.working_set();
        let mut local = Local::around(f, &set, &f.at(SparseVec::zero(f.dim())), 0.0);
        let (mut here, mut chosen, mut model) = (x.clone(), start.to_vec(), None);
        let mut explored = BTreeSet::new();
        for round in 0.. {
            let gradient = f.gradient(&here);
            let steepest = everything.steepest_outside(self.atoms, &gradient, &chosen, WIDTH * k.max(1));
            set.fetch(f, self.atoms, chosen.iter().chain(&steepest));
            set.add(f, self.atoms, chosen.iter().copied());
            set.add(f, self.atoms, steepest);
            local.grow(&set);
            let wider;
            let q = local.on(&set);
            let mut tableau = match model.take() {
                Some(model) => Tableau::attached(model, &q, &set.atoms),
                None => Tableau::new(&q, &set.atoms, &set.kept, &set.places_of(&chosen)),
            };
            let stops = !moves || round == ROUNDS || go_on(round).is_break();
            if stops || !exchange_all(&within(&q, &set), &mut tableau, k) {
                let without = if stops { Vec::new() } else { weakened(&set, &q, &tableau) };
                let fresh = without.into_iter().filter(|(atom, _)| explored.insert(*atom)).map(|(_, x)| f.at(x));
                let points: Vec<Evaluated<SparseVec>> = fresh.collect();
                let steepest = |g: &[f64], count: usize| everything.steepest_outside(self.atoms, g, &chosen, count);
                let none = IndexSet::new(f.dim(), Vec::new());
                let members = |some: &[usize]| {
                    let members = coordinates(self.atoms, &none, some.iter());
                    let all = |responses: &Responses| {
                        members.iter().flat_map(|&j| responses.coordinates_of(j)).copied().collect()
                    };
                    IndexSet::new(f.dim(), self.responses.map_or(members.clone(), all))
                };
                let likely = |g: &[f64]| members(&steepest(g, LIKELY * SUBSTITUTES));
                let gradients =
                    if points.is_empty() { Vec::new() } else { f.gradients_near(&here, &gradient, &points, &likely) };
                let substitutes = parallel::map(gradients.len(), &|at| steepest(&gradients[at], SUBSTITUTES));
                let detached = tableau.detached();
                let new = set.add(f, self.atoms, substitutes.into_iter().flatten());
                local.grow(&set);
                wider = local.on(&set);
                tableau = Tableau::attached(detached, &wider, &set.atoms);
                if new == 0 || !exchange_all(&within(&wider, &set), &mut tableau, k) {
                    // No exchange within the set improves the model.
                    let found = found_within(&set, &wider, &tableau);
                    let swaps = Swaps { exhaustive: false, ..found.swaps };
                    return Some(Found { slopes: gradient.iter().map(|g| -g).collect(), swaps, ..found });
                }
            }
            (chosen, here) = (set.numbers_of(tableau.chosen()), f.at(set.outside(&tableau.point())));
            model = Some(tableau.detached());
        }
        None
    }
}

/// Moves on the quadratic over a set.
fn within<'a>(q: &'a LocalModel<'_>, set: &'a WorkingSet) -> LocalSearch<'a> {
    LocalSearch { q, atoms: &set.atoms, kept: &set.kept, widest: usize::MAX }
}

/// Exchanges within the set, of many atoms at once and then of one after the other. Whether the model is a better one; if
/// not, it is the one that it was.
fn exchange_all<'a>(search: &LocalSearch<'a>, tableau: &mut Tableau<'a>, k: usize) -> bool {
    let (before, start, mut work) = (tableau.objective(), tableau.chosen().to_vec(), Work::new(f64::INFINITY));
    search.resize(tableau, k, &mut work);
    exchange_batches(search, tableau);
    search.exchange(tableau, &mut work);
    let better = tableau.objective() < before - search.least(before);
    if !better && tableau.chosen() != start {
        *tableau = search.tableau(&start);
    }
    better
}

/// Exchanges half of the atoms at once, a quarter, …: the least useful for those that promise most, where that improves the
/// model. Enough of a large one is then right for single exchanges to end soon.
fn exchange_batches<'a>(search: &LocalSearch<'a>, tableau: &mut Tableau<'a>) {
    let LocalSearch { q, kept, .. } = *search;
    let (mut batch, mut improves) = (tableau.chosen().len() / 2, false);
    while batch > 1 {
        let (costs, gains) = (tableau.removal_costs(), tableau.entry_gains());
        let useful = gains.iter().filter(|gain| **gain > 0.0).count();
        // After a batch that improved the model another of its size often does; after one that did not, smaller ones often do
        // not either, and are tried side by side. The largest that improves it counts, whatever the number of threads.
        let at_once = if improves { 1 } else { rayon::current_num_threads() };
        let sizes = successors(Some(batch), |batch| Some(batch / 2)).take_while(|batch| *batch > 1);
        let sizes: Vec<usize> = sizes.filter(|batch| *batch <= useful).take(at_once).collect();
        let exchanged = |&batch: &usize| {
            let stay = top_k(&costs, costs.len() - batch).into_iter().map(|place| tableau.chosen()[place]);
            stay.chain(top_k(&gains, batch)).collect()
        };
        let models: Vec<Vec<usize>> = sizes.iter().map(exchanged).collect();
        let most = tableau.objective() - search.least(tableau.objective());
        let found = tableau.move_below(q, kept, &models, most);
        improves = found.is_some();
        batch = found.map_or_else(|| sizes.last().map_or(0, |batch| batch / 2), |at| sizes[at]);
    }
}

/// The weakest atoms, the weakest first, and the minimum without each of them.
fn weakened(set: &WorkingSet, q: &dyn Quadratic, tableau: &Tableau<'_>) -> Vec<(usize, SparseVec)> {
    let most = tableau.entry_gains().into_iter().fold(0.0, f64::max);
    let weak = tableau.weakest(WEAKEST).into_iter().filter(|&atom| tableau.leaving(atom).cost <= STRONG * most);
    weak.map(|atom| (set.numbers_of(&[atom])[0], set.outside(&tableau.point_without(q, atom)))).collect()
}
