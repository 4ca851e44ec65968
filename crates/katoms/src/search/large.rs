//! Least squares where the Gram columns of a model cost more than many passes: pricing by residuals.
//!
//! All k·n exchanges need k columns of the Gram matrix, 2·m·n·k multiplications, where a gradient takes 2·m·n. Few atoms are
//! ever worth an exchange, and a pass tells which: those with the steepest slopes, and, since a substitute shows only when
//! its atom is gone, those with the steepest slopes without one of the weakest atoms. Within the working set every exchange
//! is compared; when none improves f, a pass at the new point looks for others.

use std::collections::BTreeSet;

use super::explore::GoOn;
use super::found::{Found, compared_within};
use super::local_search::{LocalSearch, Work};
use super::pricing::Everything;
use super::responses::Responses;
use super::squares::{Squares, coordinates};
use super::swap::Swaps;
use super::tableau::Tableau;
use super::working_set::{Local, WorkingSet};
use crate::linalg::parallel;
use crate::linalg::{Matrix, SymmetricSystem, dot, top_k};
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
        let (mut here, mut chosen) = (x.clone(), start.to_vec());
        let mut explored = BTreeSet::new();
        for round in 0.. {
            let gradient = f.gradient(&here);
            let steepest = everything.steepest_outside(self.atoms, &gradient, &chosen, WIDTH * k.max(1));
            set.fetch(f, self.atoms, chosen.iter().chain(&steepest));
            set.add(f, self.atoms, chosen.iter().copied());
            set.add(f, self.atoms, steepest);
            local.grow(&set);
            let stops = !moves || round == ROUNDS || go_on(round).is_break();
            let mut next = if stops { None } else { exchanged(&set, &local, &chosen, k) };
            if next.is_none() && !stops {
                let without = weakened(&set, &local, &chosen);
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
                if set.add(f, self.atoms, substitutes.into_iter().flatten()) > 0 {
                    local.grow(&set);
                    next = exchanged(&set, &local, &chosen, k);
                }
            }
            let Some((better, point)) = next else {
                // No exchange within the set improves the model.
                let found = compared_within(&set, &local, &chosen);
                let swaps = Swaps { exhaustive: false, ..found.swaps };
                return Some(Found { slopes: gradient.iter().map(|g| -g).collect(), swaps, ..found });
            };
            (chosen, here) = (better, f.at(point));
        }
        None
    }
}

/// Exchanges within the set: the atoms and the minimum over them, where there is something better.
fn exchanged(set: &WorkingSet, local: &Local<'_>, chosen: &[usize], k: usize) -> Option<(Vec<usize>, SparseVec)> {
    let q = local.on(set);
    let search = LocalSearch { q: &q, atoms: &set.atoms, kept: &set.kept, widest: usize::MAX };
    let mut work = Work::new(f64::INFINITY);
    let mut tableau = search.tableau(&set.places_of(chosen));
    let before = tableau.objective();
    search.resize(&mut tableau, k, &mut work);
    exchange_batches(&search, &mut tableau);
    search.exchange(&mut tableau, &mut work);
    let better = tableau.objective() < before - search.least(before);
    better.then(|| (set.numbers_of(tableau.chosen()), set.outside(&tableau.point())))
}

/// Exchanges half of the atoms at once, a quarter, …: the least useful for those that promise most, where that improves the
/// model. Enough of a large one is then right for single exchanges to end soon.
fn exchange_batches<'a>(search: &LocalSearch<'a>, tableau: &mut Tableau<'a>) {
    let mut batch = tableau.chosen().len() / 2;
    while batch > 1 {
        let (costs, gains) = (tableau.removal_costs(), tableau.entry_gains());
        let stay = top_k(&costs, costs.len() - batch).into_iter().map(|place| tableau.chosen()[place]);
        let come = top_k(&gains, batch).into_iter().filter(|&atom| gains[atom] > 0.0);
        let next: Vec<usize> = stay.chain(come).collect();
        let here = tableau.objective();
        if next.len() == costs.len() && minimum(search, &next) < here - search.least(here) {
            *tableau = search.tableau(&next);
        } else {
            batch /= 2;
        }
    }
}

/// The minimum over some atoms. O(d³).
fn minimum(search: &LocalSearch<'_>, chosen: &[usize]) -> f64 {
    let (q, mut at) = (search.q, coordinates(search.atoms, search.kept, chosen.iter()));
    at.sort_unstable();
    at.dedup();
    q.prepare(&at);
    let gram = Matrix::from_fn(at.len(), at.len(), |a, b| q.column(at[b])[at[a]]);
    let (system, responses) = (SymmetricSystem::new(&gram), q.responses());
    let fall = |response: usize| {
        let right: Vec<f64> = at.iter().map(|&j| q.linear()[j * responses + response]).collect();
        0.5 * dot(&right, &system.solve(&right))
    };
    (0..responses).fold(q.constant(), |here, response| here - fall(response))
}

/// The weakest atoms, the weakest first, and the minimum without each of them.
fn weakened(set: &WorkingSet, local: &Local<'_>, chosen: &[usize]) -> Vec<(usize, SparseVec)> {
    let q = local.on(set);
    let tableau = Tableau::new(&q, &set.atoms, &set.kept, &set.places_of(chosen));
    let most = tableau.entry_gains().into_iter().fold(0.0, f64::max);
    let weak = tableau.weakest(WEAKEST).into_iter().filter(|&atom| tableau.leaving(atom).cost <= STRONG * most);
    weak.map(|atom| (set.numbers_of(&[atom])[0], set.outside(&tableau.point_without(&q, atom)))).collect()
}
