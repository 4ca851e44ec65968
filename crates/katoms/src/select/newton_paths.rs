//! The paths over k of all training sets under all ridges, for losses that are not quadratic.
//!
//! All paths grow within one working set of atoms. From one size to the next the Newton model of f around a model proposes
//! atoms, and these are refitted on f. At first the working set has the atoms that promise most by themselves. Then passes
//! that all paths share look at some models of each, and what promises most from there joins the set.

use super::training_paths::{first_list, larger, looks};
use crate::linalg::parallel;
use crate::linalg::top_k;
use crate::objective::Evaluated;
use crate::search::{FLAT, GoOn, Local, LocalSearch, Problem, Work, WorkingSet, falls, null_model};
use crate::set::Atoms;
use crate::space::{IndexSet, Point, SparseVec};

/// Passes in which atoms join the working set.
const ROUNDS: usize = 2;
/// The part of the working set that joins it in one of them.
const JOIN: usize = 4;
/// Newton models for each size of a path at most.
const MODELS: usize = 2;

/// One pass over the data for residuals of training sets, by their numbers.
pub(super) type Pass<'a> = dyn Fn(&[(usize, Vec<f64>)]) -> Vec<Vec<f64>> + Sync + 'a;

/// What the paths are about.
pub(super) struct NewtonPaths<'a> {
    /// f of each training set under each ridge.
    pub trainings: Vec<Vec<&'a dyn Problem>>,
    pub atoms: &'a Atoms,
    pub kept: &'a IndexSet,
    pub sizes: &'a [usize],
    /// What the second derivatives along the coordinates are proportional to.
    pub spreads: &'a [f64],
    pub pass: &'a Pass<'a>,
}

/// Models by training set and ridge, and by size.
pub(super) struct Grown {
    pub models: Vec<Vec<SparseVec>>,
    pub passes: usize,
    pub complete: bool,
}

/// A path on its way.
struct Step<'a> {
    training: usize,
    f: &'a dyn Problem,
    set: WorkingSet,
    /// The atoms of the model, rising.
    chosen: Vec<usize>,
    x: Evaluated<SparseVec>,
    /// The models of the sizes that are done.
    models: Vec<(Vec<usize>, Evaluated<SparseVec>)>,
}

impl NewtonPaths<'_> {
    /// The models of all sizes. `go_on` hears how many are done in all paths; after a break these remain: at least one.
    pub fn grow(&self, go_on: &mut GoOn<'_>) -> Grown {
        let null = |at: usize| null_model(self.trainings[at][0], self.kept, None);
        let nulls: Vec<Evaluated<SparseVec>> = parallel::map(self.trainings.len(), &null);
        let residuals: Vec<(usize, Vec<f64>)> =
            nulls.iter().enumerate().map(|(at, x)| (at, self.trainings[at][0].residual(x))).collect();
        let mut passes = 1;
        let mut listed = top_k(&self.promises(&residuals), first_list(self.atoms, self.sizes));
        let mut sets: Vec<WorkingSet> = self.trainings.iter().map(|t| self.working_set(t[0], &listed)).collect();
        let some: Vec<usize> = looks(self.sizes.len()).into_iter().map(|at| self.sizes[at]).collect();
        let mut complete = true;
        while passes <= ROUNDS && listed.len() < self.atoms.len() {
            let mut residuals = Vec::new();
            let mut paths = self.begun(&sets, &nulls);
            for &size in &some {
                parallel::each_mut(&mut paths, &|_, path| path.step(self, size, 1));
                residuals.extend(paths.iter().map(|path| (path.training, path.f.residual(&path.x))));
            }
            complete = go_on(0).is_continue();
            if !complete {
                break;
            }
            let mut promises = self.promises(&residuals);
            listed.iter().for_each(|&atom| promises[atom] = 0.0);
            let new = top_k(&promises, listed.len() / JOIN);
            listed.extend(&new);
            for (set, training) in sets.iter_mut().zip(&self.trainings) {
                set.add(training[0], self.atoms, new.iter().copied());
            }
            passes += 1;
        }
        let mut paths = self.begun(&sets, &nulls);
        for (done, &size) in self.sizes.iter().enumerate() {
            if done > 0 && (!complete || go_on(done).is_break()) {
                complete = false;
                break;
            }
            parallel::each_mut(&mut paths, &|_, path| {
                path.step(self, size, MODELS);
                path.models.push((path.chosen.clone(), path.x.clone()));
            });
            self.share(&mut paths, done);
        }
        // And back: larger models tell what smaller ones lack.
        let done = paths.first().map_or(0, |path| path.models.len());
        for at in (0..done.saturating_sub(1)).rev() {
            if !complete || go_on(done).is_break() {
                complete = false;
                break;
            }
            parallel::each_mut(&mut paths, &|_, path| path.back(self, at));
            self.share(&mut paths, at);
        }
        let points = |path: Step<'_>| path.models.into_iter().map(|(_, x)| x.into_point()).collect();
        Grown { models: paths.into_iter().map(points).collect(), passes, complete }
    }

    /// Under each ridge the atoms of the other ridges are tried.
    fn share(&self, paths: &mut [Step<'_>], at: usize) {
        let chosen: Vec<(usize, Vec<usize>)> =
            paths.iter().map(|path| (path.training, path.models[at].0.clone())).collect();
        parallel::each_mut(paths, &|_, path| {
            for (training, chosen) in &chosen {
                if *training == path.training && *chosen != path.chosen {
                    let x = path.refitted(self, chosen);
                    if path.f.value(&x) < path.f.value(&path.x) {
                        (path.chosen, path.x) = (chosen.clone(), x);
                        path.models[at] = (path.chosen.clone(), path.x.clone());
                    }
                }
            }
        });
    }

    /// How much atoms promise to any of some models, each compared with the best one there: one pass.
    fn promises(&self, residuals: &[(usize, Vec<f64>)]) -> Vec<f64> {
        let gradients = (self.pass)(residuals);
        let shares = |at: usize| -> Vec<f64> {
            let falls = falls(self.atoms, &gradients[at], self.spreads);
            let most = falls.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
            falls.into_iter().map(|fall| fall / most).collect()
        };
        let shares = parallel::map(gradients.len(), &shares);
        shares.into_iter().fold(vec![0.0; self.atoms.len()], larger)
    }

    fn working_set(&self, f: &dyn Problem, listed: &[usize]) -> WorkingSet {
        let mut set = WorkingSet::new(f, self.kept, self.atoms.shared());
        set.add(f, self.atoms, listed.iter().copied());
        set
    }

    /// Every path at the model without atoms.
    fn begun<'s>(&'s self, sets: &[WorkingSet], nulls: &[Evaluated<SparseVec>]) -> Vec<Step<'s>> {
        let of = |(training, t): (usize, &Vec<&'s dyn Problem>)| {
            let null = &nulls[training];
            let one = |&f| Step {
                training,
                f,
                set: sets[training].under(f),
                chosen: Vec::new(),
                x: null.clone(),
                models: Vec::new(),
            };
            t.iter().map(one).collect::<Vec<_>>()
        };
        self.trainings.iter().enumerate().flat_map(of).collect()
    }
}

impl Step<'_> {
    /// On to a size, by at most so many Newton models.
    fn step(&mut self, paths: &NewtonPaths<'_>, size: usize, models: usize) {
        for _ in 0..models {
            // Where the classes are separated, no further atom is needed.
            if self.f.is_separated_by(&self.x) {
                return;
            }
            let chosen = self.proposed(&self.set, size);
            if chosen == self.chosen {
                return;
            }
            let x = self.refitted(paths, &chosen);
            let grown = chosen.len() > self.chosen.len();
            if !grown && !(self.f.value(&x) < self.f.value(&self.x)) {
                return;
            }
            let exchanged = self.chosen.iter().any(|atom| chosen.binary_search(atom).is_err());
            (self.chosen, self.x) = (chosen, x);
            // What has grown alone is looked at again on the way to the next size.
            if !exchanged {
                return;
            }
        }
    }

    /// The atoms that the Newton model within a working set prefers, rising.
    fn proposed(&self, set: &WorkingSet, size: usize) -> Vec<usize> {
        let local = Local::around(self.f, set, &self.x, FLAT * self.f.curvature_scale(&self.x));
        let q = local.on(set);
        let search = LocalSearch { q: &q, atoms: &set.atoms, kept: &set.kept, widest: usize::MAX };
        set.numbers_of(&search.from(&set.places_of(&self.chosen), size, &mut Work::new(f64::INFINITY)).chosen)
    }

    /// The minimum of f over some atoms.
    fn refitted(&self, paths: &NewtonPaths<'_>, chosen: &[usize]) -> Evaluated<SparseVec> {
        let members = chosen.iter().flat_map(|&atom| paths.atoms.members(atom).iter().copied());
        let all = members.chain(paths.kept.indices().iter().copied()).collect();
        let support = IndexSet::new(self.f.dim(), all);
        self.f.refit(self.f.at(self.x.point().on(&support)), &support)
    }

    /// Back to a size that is done: what is left of the larger model without its weakest atoms, where that is better than
    /// the model that is there.
    fn back(&mut self, paths: &NewtonPaths<'_>, at: usize) {
        let (size, there) = (paths.sizes[at], &self.models[at]);
        // Where the classes are separated, coefficients tell nothing of smaller models.
        if !self.f.is_separated_by(&self.x) {
            let chosen = self.proposed(&paths.working_set(self.f, &self.chosen), size);
            if chosen != there.0 {
                let x = self.refitted(paths, &chosen);
                if self.f.value(&x) < self.f.value(&there.1) {
                    (self.chosen, self.x) = (chosen, x);
                    self.step(paths, size, MODELS);
                    self.models[at] = (self.chosen.clone(), self.x.clone());
                    return;
                }
            }
        }
        (self.chosen, self.x) = there.clone();
    }
}
