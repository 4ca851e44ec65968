//! Least squares where the Gram columns of a model cost more than many passes: pricing by residuals.
//!
//! All k·n exchanges need k columns of the Gram matrix, 2·m·n·k multiplications, where a gradient takes 2·m·n. Few atoms are
//! ever worth an exchange, and a pass tells which: those with the steepest slopes, and, since a substitute shows only when
//! its atom is gone, those with the steepest slopes without one of the weakest atoms. Within the working set every exchange
//! is compared; when none improves f, a pass at the new point looks for others.

use std::collections::BTreeSet;

use rayon::prelude::*;

use super::explore::GoOn;
use super::local_search::{LocalSearch, Work};
use super::pricing::Everything;
use super::squares::{Found, Squares};
use super::tableau::Tableau;
use super::working_set::{Local, WorkingSet};
use crate::linalg::top_k;
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
        let everything = Everything::new(f, self.atoms)?;
        let mut set = WorkingSet::new(f, self.kept, self.atoms.shared());
        let mut local = Local::around(f, &set, &f.at(SparseVec::zero(f.dim())), 0.0);
        let (mut here, mut chosen) = (x.clone(), start.to_vec());
        let mut explored = BTreeSet::new();
        for round in 0.. {
            let gradient = f.gradient(&here);
            set.add(f, self.atoms, chosen.iter().copied());
            set.add(f, self.atoms, everything.steepest_outside(self.atoms, &gradient, &chosen, WIDTH * k.max(1)));
            local.grow(&set);
            let stops = !moves || round == ROUNDS || go_on(round).is_break();
            let mut next = exchanged(&set, &local, &chosen, k, !stops);
            if next.is_none() && !stops {
                let without = weakened(&set, &local, &chosen);
                let fresh = without.into_iter().filter(|(atom, _)| explored.insert(*atom)).map(|(_, x)| f.at(x));
                let points: Vec<Evaluated<SparseVec>> = fresh.collect();
                let steepest = |g: &[f64], count: usize| everything.steepest_outside(self.atoms, g, &chosen, count);
                let likely = |g: &[f64]| self.coordinates(&steepest(g, LIKELY * SUBSTITUTES));
                let gradients =
                    if points.is_empty() { Vec::new() } else { f.gradients_near(&here, &gradient, &points, &likely) };
                let substitutes: Vec<Vec<usize>> = gradients.par_iter().map(|g| steepest(g, SUBSTITUTES)).collect();
                if set.add(f, self.atoms, substitutes.into_iter().flatten()) > 0 {
                    local.grow(&set);
                    next = exchanged(&set, &local, &chosen, k, true);
                }
            }
            match next {
                Some((better, point)) => (chosen, here) = (better, f.at(point)),
                None => return Some(listed(&set, &local, &chosen, &gradient)),
            }
        }
        None
    }

    /// The coordinates of some atoms.
    fn coordinates(&self, atoms: &[usize]) -> IndexSet {
        let members = atoms.iter().flat_map(|&atom| self.atoms.members(atom).iter().copied());
        IndexSet::new(self.f.dim(), members.collect())
    }
}

/// Exchanges within the set: the atoms and the minimum over them, where there is something better.
fn exchanged(
    set: &WorkingSet,
    local: &Local,
    chosen: &[usize],
    k: usize,
    moves: bool,
) -> Option<(Vec<usize>, SparseVec)> {
    if !moves {
        return None;
    }
    let q = local.on(set);
    let search = LocalSearch { q: &q, atoms: &set.atoms, kept: &set.kept, widest: usize::MAX };
    let mut work = Work::new(f64::INFINITY);
    let places = set.places_of(chosen);
    let mut tableau = search.tableau(&places);
    let before = tableau.objective();
    search.resize(&mut tableau, k, &mut work);
    search.exchange_batches(&mut tableau, &mut work);
    search.exchange(&mut tableau, &mut work);
    let better = tableau.objective() < before - search.least(before);
    better.then(|| (set.numbers_of(tableau.chosen()), set.outside(&tableau.point())))
}

/// The weakest atoms, the weakest first, and the minimum without each of them.
fn weakened(set: &WorkingSet, local: &Local, chosen: &[usize]) -> Vec<(usize, SparseVec)> {
    let q = local.on(set);
    let tableau = Tableau::new(&q, &set.atoms, &set.kept, &set.places_of(chosen));
    let costs: Vec<f64> = tableau.removal_costs().into_iter().map(|cost| -cost).collect();
    if costs.is_empty() {
        return Vec::new();
    }
    let most = tableau.entry_gains().into_iter().fold(0.0, f64::max);
    let mut weak = top_k(&costs, WEAKEST);
    weak.retain(|&place| -costs[place] <= STRONG * most);
    weak.sort_by(|&a, &b| costs[b].total_cmp(&costs[a]));
    let without = |place: usize| {
        let atom = tableau.chosen()[place];
        (set.numbers_of(&[atom])[0], set.outside(&tableau.point_without(&q, atom)))
    };
    weak.into_iter().map(without).collect()
}

/// What is said of a model that no exchange within the set improves.
fn listed(set: &WorkingSet, local: &Local, chosen: &[usize], gradient: &[f64]) -> Found {
    let found = super::squares::compared_within(set, local, chosen);
    let swaps = super::tableau::Swaps { exhaustive: false, ..found.swaps };
    Found { slopes: gradient.iter().map(|g| -g).collect(), swaps, ..found }
}
