//! Exchanges on a large problem: within a short list of atoms, which is renewed until that brings nothing.
//!
//! All k·n exchanges need k columns of G, 2·m·n·k multiplications, where a gradient takes 2·m·n. Few atoms are ever
//! worth an exchange, and a pass tells which: those with the steepest slopes, and, since a substitute shows only when
//! its atom is gone, those with the steepest slopes without one of the weakest atoms. Within the list every
//! exchange is compared; when none improves f, a pass at the new point renews it.

use rayon::prelude::*;

use super::detours::route;
use super::exact::Exact;
use super::neighbourhood::{GoOn, Polished};
use super::quadratic::Brings;
use super::short_gram::ShortGram;
use super::swaps::{IMPROVES, Polish, coordinates};
use super::tableau::{Swaps, Tableau};
use crate::driver::Reference;
use crate::linalg::top_k;
use crate::loss::Loss;
use crate::objective::Evaluated;
use crate::operator::{LinearOperator, SampledRows};
use crate::set::CoordinateSet;
use crate::space::{IndexSet, Point, SparseVec};

/// Atoms that join the list with each gradient, as a multiple of those in the model.
const WIDTH: usize = 2;
/// The weakest atoms whose substitutes are looked for in one pass, and how many are listed for each.
const WEAKEST: usize = 8;
/// An atom that costs more than so many times what any other would bring has no substitute, unless that is its twin.
const STRONG: f64 = 16.0;
const SUBSTITUTES: usize = 8;
/// By a partial pass so many times as many are named, and their slopes compared.
const LIKELY: usize = 8;
/// Rounds of exchanges, each with a pass or two.
const ROUNDS: usize = 30;

/// What exchanges within the list have led to, in the numbers of f.
pub(super) struct Exchanged {
    /// The minimum of the quadratic over its atoms.
    pub point: SparseVec,
    objective: f64,
    pub made: usize,
    /// Whether there are more atoms than before.
    pub filled: bool,
    pub swaps: Swaps,
    /// The weakest atoms and the minima without each of them, where nothing else has come of it.
    pub without: Vec<(usize, SparseVec)>,
}

impl<'a, A, L, S> Exact<'a, A, L, S>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
    S: CoordinateSet,
{
    /// Exchanges on the quadratic, which is f, among the atoms that promise most.
    pub(super) fn polish_listed(
        &mut self,
        x: &Evaluated<SparseVec>,
        most: usize,
        go_on: &mut GoOn<'_>,
    ) -> Option<Polished<SparseVec>> {
        let mut list = self.short_list()?;
        let (mut here, mut exchanges, mut stopped) = (x.clone(), 0, false);
        let mut gradient = self.f.operator().new_covector();
        for round in 0.. {
            self.f.gradient(&here, &mut gradient);
            let chosen = self.set.chosen(here.point());
            list.add(&self.atoms, chosen.iter().copied());
            let steepest = self.steepest(&gradient, &chosen, WIDTH * self.set.atoms().max(1));
            list.add(&self.atoms, steepest);
            let left = if stopped || round == ROUNDS { 0 } else { most - exchanges };
            let mut watched = |made: usize| {
                let wish = go_on(exchanges + made);
                stopped |= wish.is_break();
                wish
            };
            let mut next = self.exchanged(&mut list, &chosen, left, &mut watched);
            if next.made == 0 && !next.filled {
                next = match self.list_substitutes(&mut list, &chosen, (&here, &gradient), &next.without) {
                    true => self.exchanged(&mut list, &chosen, left, &mut watched),
                    false => next,
                };
            }
            let value = self.f.value(&here);
            if next.made > 0 || next.filled {
                let there = self.f.at(next.point.clone());
                // An atom that fills a place and brings nothing is no exchange.
                let least = if next.made > 0 { 0.0 } else { IMPROVES * (value - self.f.lower_bound()) };
                if value - self.f.value(&there) > least {
                    (here, exchanges) = (there, exchanges + next.made.max(1));
                    continue;
                }
            }
            let quality = self.listed_quality(&here, &gradient, next);
            self.short = Some(list);
            if exchanges > 0 {
                here = self.refitted(here.into_point());
            }
            return Some(Polished { x: here, exchanges, quality: quality? });
        }
        None
    }

    /// From some atoms through these sizes, polished at each, within the list of earlier exchanges; `None` where there
    /// is no such list, or where that ends no lower than `below`.
    pub(super) fn route_listed(
        &mut self,
        chosen: &[usize],
        sizes: &[usize],
        below: f64,
        go_on: &mut GoOn<'_>,
    ) -> Option<Polished<SparseVec>> {
        let mut list = self.short.take()?;
        list.add(&self.atoms, chosen.iter().copied());
        let (atoms, kept, chosen) = (list.atoms(), list.kept(), list.places_of(chosen));
        list.bring(&coordinates(&atoms, &kept, &chosen));
        let mut tableau = Tableau::new(&list, &atoms, &kept, &chosen);
        route(&mut list, &mut tableau, (&atoms, &kept), sizes, go_on);
        let better = (tableau.objective() < below).then(|| list.outside(&tableau.point()));
        self.short = Some(list);
        let x = self.refitted(better?);
        self.polish_listed(&x, usize::MAX, go_on)
    }

    /// The list of earlier exchanges, or one without an atom.
    fn short_list(&mut self) -> Option<ShortGram<'a, A, L>> {
        if let Some(list) = self.short.take() {
            return Some(list);
        }
        self.energies()?;
        let zero = self.f.at(SparseVec::zero(self.f.operator().domain()));
        Some(ShortGram::around(self.f, &zero, &self.kept, self.atoms.shared()))
    }

    /// The atoms outside along which f falls most, each by itself.
    pub(super) fn steepest(&self, gradient: &[f64], chosen: &[usize], count: usize) -> Vec<usize> {
        let quadratic = self.f.loss().is_quadratic();
        let curvatures = if quadratic { self.energies().unwrap_or_default() } else { self.bounds() };
        let falls = self.falls(gradient, curvatures, chosen);
        top_k(&falls, count).into_iter().filter(|&atom| falls[atom] > 0.0).collect()
    }

    /// The best substitutes of some atoms join the list: one pass for those whose substitutes were never looked for, or
    /// a partial one for each. Whether there were any.
    fn list_substitutes(
        &self,
        list: &mut ShortGram<'a, A, L>,
        chosen: &[usize],
        (here, gradient): (&Evaluated<SparseVec>, &[f64]),
        without: &[(usize, SparseVec)],
    ) -> bool {
        let fresh = without.iter().filter(|(atom, _)| list.explore(*atom));
        let points: Vec<Evaluated<SparseVec>> = fresh.map(|(_, x)| self.f.at(x.clone())).collect();
        if points.is_empty() {
            return false;
        }
        let gradients = match self.f.operator().sampled_rows() {
            Some(sampled) => {
                let reference = Reference::new(self.f.residual(here), gradient.to_vec());
                points.par_iter().map(|x| self.on_likely(x, chosen, &reference, sampled)).collect()
            }
            None => self.f.gradients(&points),
        };
        let substitutes: Vec<_> = gradients.par_iter().map(|g| self.steepest(g, chosen, SUBSTITUTES)).collect();
        substitutes.into_iter().for_each(|atoms| list.add(&self.atoms, atoms));
        true
    }

    /// The gradient at x on the atoms that promise most by a partial pass, and 0 elsewhere.
    fn on_likely(
        &self,
        x: &Evaluated<SparseVec>,
        chosen: &[usize],
        reference: &Reference<Vec<f64>>,
        sampled: SampledRows,
    ) -> Vec<f64> {
        let estimate = reference.estimate(self.f, x, sampled);
        let likely = self.coordinates(&self.steepest(&estimate, chosen, LIKELY * SUBSTITUTES));
        let likely = IndexSet::new(self.f.operator().domain(), likely);
        let mut gradient = vec![0.0; estimate.len()];
        self.f.gradient_on(x, &likely).entries().for_each(|(j, g)| gradient[j] = g);
        gradient
    }

    /// Exchanges within the list, until none improves f.
    pub(super) fn exchanged(
        &self,
        list: &mut ShortGram<'a, A, L>,
        chosen: &[usize],
        most: usize,
        go_on: &mut GoOn<'_>,
    ) -> Exchanged {
        let (atoms, kept, chosen) = (list.atoms(), list.kept(), list.places_of(chosen));
        list.bring(&coordinates(&atoms, &kept, &chosen));
        let mut tableau = Tableau::new(list, &atoms, &kept, &chosen);
        let mut polish = Polish::new(&atoms, &kept, self.set.atoms()).at_most(most);
        let swaps = polish.settle(list, &mut tableau, go_on);
        let filled = tableau.chosen().len() > chosen.len();
        let moved = filled || polish.made > 0;
        Exchanged {
            point: list.outside(&tableau.point()),
            objective: tableau.objective(),
            made: polish.made,
            filled,
            swaps: list.swaps_outside(swaps),
            without: if moved { Vec::new() } else { weakened(list, &tableau) },
        }
    }

    /// The statement about x, which no exchange within the list has improved. `None` where the list was about another
    /// point: groups that overlap may be covered by others than those that x was made of.
    fn listed_quality(
        &self,
        x: &Evaluated<SparseVec>,
        gradient: &[f64],
        compared: Exchanged,
    ) -> Option<crate::driver::Quality> {
        let held = compared.point.support();
        let covered = x.point().entries().all(|(j, v)| v == 0.0 || held.contains(j));
        if !covered || compared.made > 0 {
            return None;
        }
        let mut swaps = compared.swaps;
        let above = (self.f.value(x) - compared.objective).max(0.0);
        swaps.best.iter_mut().for_each(|swap| swap.gain += above);
        let slopes: Vec<f64> = gradient.iter().map(|g| -g).collect();
        Some(self.quality(self.set, x, &slopes, &swaps))
    }
}

/// The weakest atoms, the weakest first, and the minimum without each of them.
fn weakened<A, L>(list: &ShortGram<'_, A, L>, tableau: &Tableau<'_>) -> Vec<(usize, SparseVec)>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
{
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
        (list.number_of(atom), list.outside(&tableau.point_without(list, atom)))
    };
    weak.into_iter().map(without).collect()
}

#[cfg(test)]
mod tests;
