//! Models of many sizes from passes that all of them share, for least squares.
//!
//! The models grow within a working set: at first the atoms that promise most by themselves. A pass looks at a few of them,
//! and what promises most from there joins the set; the last one looks at all of them.

use super::explore::GoOn;
use super::found::{Found, compared_within};
use super::local_search::{LocalSearch, Model, Work};
use super::pricing::Everything;
use super::size_path::SizePath;
use super::squares::Squares;
use super::state::ALL;
use super::swap::Swaps;
use super::working_set::{Local, WorkingSet};
use crate::space::{Point, SparseVec};

/// The first working set has so many atoms for each of the largest model, and some more.
const WIDTH: usize = 4;
const MORE: usize = 128;
/// Models that are looked at in one pass, and how often.
const LOOKS: usize = 4;
const ROUNDS: usize = 2;
/// Atoms that join for a model, beside one for each of its own.
const JOIN: usize = 20;

impl Squares<'_, '_> {
    /// Models of these rising sizes; `None` where the design has no single columns. When `go_on` breaks, those that are
    /// there.
    pub fn sizes(&mut self, sizes: &[usize], go_on: &mut GoOn<'_>) -> Option<Vec<Found>> {
        let (f, most) = (self.f, *sizes.last()?);
        let everything = Everything::of_responses(f, self.atoms, self.responses)?;
        let mut set = self.working_set();
        let zero = f.at(SparseVec::zero(f.dim()));
        let all = self.atoms.len() <= ALL.max(WIDTH * most + MORE);
        let first = if all {
            (0..self.atoms.len()).collect()
        } else {
            everything.steepest(self.atoms, &f.null_gradient(self.kept), WIDTH * most + MORE)
        };
        set.add(f, self.atoms, first);
        let mut local = Local::around(f, &set, &zero, 0.0);
        for _ in 0..if all { 0 } else { ROUNDS } {
            let models = grown(&set, &local, sizes, false, go_on);
            let looks: Vec<&Model> = looks(models.len()).into_iter().map(|at| &models[at]).collect();
            let entering = self.entering(&everything, (&set, &local), &looks);
            let new = set.add(f, self.atoms, entering.into_iter().flat_map(|(steepest, _)| steepest));
            local.grow(&set);
            if new == 0 {
                break;
            }
        }
        let models = grown(&set, &local, sizes, true, go_on);
        let slopes: Vec<Vec<f64>> = match all {
            true => Vec::new(),
            false => {
                let all: Vec<&Model> = models.iter().collect();
                self.entering(&everything, (&set, &local), &all).into_iter().map(|(_, slopes)| slopes).collect()
            }
        };
        let told = |(at, model): (usize, &Model)| {
            let found = compared_within(&set, &local, &set.numbers_of(&model.chosen));
            let swaps = Swaps { exhaustive: all && found.swaps.exhaustive, ..found.swaps };
            Found { slopes: slopes.get(at).cloned().unwrap_or(found.slopes), swaps, ..found }
        };
        Some(models.iter().enumerate().map(told).collect())
    }

    /// One pass for some models: the steepest atoms outside, and −∇f.
    fn entering(
        &self,
        everything: &Everything<'_>,
        (set, local): (&WorkingSet, &Local<'_>),
        models: &[&Model],
    ) -> Vec<(Vec<usize>, Vec<f64>)> {
        let q = local.on(set);
        let search = LocalSearch { q: &q, atoms: &set.atoms, kept: &set.kept, widest: usize::MAX };
        let points: Vec<SparseVec> = models.iter().map(|model| set.outside(&search.point(model))).collect();
        let residuals: Vec<Vec<f64>> = points.iter().map(|x| self.f.residual(&self.f.at(x.clone()))).collect();
        let views: Vec<&[f64]> = residuals.iter().map(Vec::as_slice).collect();
        let mut gradients = self.f.pass(&views);
        let one = |((gradient, point), model): ((&mut Vec<f64>, &SparseVec), &&Model)| {
            point.entries().for_each(|(j, v)| gradient[j] += self.f.ridge_at(j) * v);
            let chosen = set.numbers_of(&model.chosen);
            let steepest = everything.steepest_outside(self.atoms, gradient, &chosen, chosen.len() + JOIN);
            (steepest, gradient.iter().map(|g| -g).collect())
        };
        gradients.iter_mut().zip(&points).zip(models).map(one).collect()
    }
}

/// The models of some sizes within a set, with the way back where that is wanted.
fn grown(set: &WorkingSet, local: &Local<'_>, sizes: &[usize], back: bool, go_on: &mut GoOn<'_>) -> Vec<Model> {
    let q = local.on(set);
    let search = LocalSearch { q: &q, atoms: &set.atoms, kept: &set.kept, widest: usize::MAX };
    let mut path =
        if back { SizePath::new(search, Default::default(), sizes) } else { SizePath::upwards(search, sizes) };
    let mut work = Work::new(f64::INFINITY);
    while path.step(&mut work) && go_on(path.models.len()).is_continue() {}
    path.models.into_values().collect()
}

/// The places among so many models at which a path is looked at: a few, the last among them.
fn looks(models: usize) -> Vec<usize> {
    let mut looks: Vec<usize> = (1..=LOOKS).map(|look| (models * look).div_ceil(LOOKS) - 1).collect();
    looks.dedup();
    looks
}
