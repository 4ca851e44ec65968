//! The paths over k of all training sets, within a list of atoms that they share.
//!
//! A move on all n coordinates takes O(n·k), and every path makes hundreds of them. Few atoms are ever worth one. So the
//! paths grow within a list: at first the atoms that promise most by themselves in any training set. Then one pass looks
//! at some models of every path, and atoms outside of the list that promise more than the path has found from there on
//! join it. The paths that grow at last compare every exchange within the list, and none with others: a training set's
//! models are judged on held-out rows, and the one that is chosen is looked at again, among all atoms.

use super::listing::Listing;
use super::trainings::{Training, Trainings};
use crate::linalg::parallel;
use crate::linalg::top_k;
use crate::loss::Loss;
use crate::operator::LinearOperator;
use crate::search::{GoOn, LocalSearch, Model, SizePath, Work};
use crate::set::Atoms;
use crate::space::{IndexSet, SparseVec};

/// The first list has so many atoms for each of the largest model, and some more.
const WIDTH: usize = 4;
const MORE: usize = 128;
/// Where that is not this part of all atoms, all of them are listed.
const SHARE: usize = 4;
/// Models of each path that are looked at in one pass.
const LOOKS: usize = 4;
/// Atoms that join the list at most for a model, beside two for each that the path lets in up to the next look.
const JOIN: usize = 8;
/// Rounds in which paths grow, with a look at them between two.
const ROUNDS: usize = 3;
/// Sizes that a path grows by before it is asked whether to go on.
const STRIDE: usize = 4;
/// Numbers that the columns of a list, and their products, may take: 2 GiB each.
const MOST: usize = 1 << 28;

/// Where the paths of training sets grow.
pub(super) struct TrainingPaths<'t, 'g, 'a, A, L> {
    trainings: Trainings<'g, 'a, A, L>,
    atoms: &'t Atoms,
    kept: &'t IndexSet,
    sizes: &'t [usize],
    /// Rounds that have ended, and how many there are at most.
    ended: usize,
    rounds: usize,
}

/// A model of a training set.
#[derive(Debug, Clone)]
pub(super) struct Grown {
    pub point: SparseVec,
    pub objective: f64,
}

/// The models of every training set, by the numbers of a list.
pub(super) struct Paths {
    pub models: Vec<Vec<Grown>>,
    pub list: Listing,
    /// The quadratic of every training set among the list.
    pub among: Vec<Training>,
    /// Whether nobody has stopped the work.
    pub complete: bool,
}

/// The number of atoms in the first list for models of these rising sizes.
pub(super) fn first_list(atoms: &Atoms, sizes: &[usize]) -> usize {
    let some = WIDTH * sizes.last().copied().unwrap_or(0) + MORE;
    if some * SHARE > atoms.len() { atoms.len() } else { some }
}

/// Whether a list can be held that becomes twice as long as the first: its columns of so many rows, and their products for
/// so many training sets.
pub(super) fn affordable(atoms: &Atoms, kept: &IndexSet, sizes: &[usize], (rows, trainings): (usize, usize)) -> bool {
    let coordinates = (2 * first_list(atoms, sizes) * atoms.widest()).min(kept.dim());
    let products = coordinates.saturating_mul(coordinates).saturating_mul(2 * trainings);
    products.max(coordinates.saturating_mul(rows)) <= MOST
}

impl<'t, 'g, 'a, A, L> TrainingPaths<'t, 'g, 'a, A, L>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
{
    /// Models of these rising sizes.
    pub fn new(trainings: Trainings<'g, 'a, A, L>, atoms: &'t Atoms, kept: &'t IndexSet, sizes: &'t [usize]) -> Self {
        let rounds = if first_list(atoms, sizes) < atoms.len() { ROUNDS } else { 1 };
        Self { trainings, atoms, kept, sizes, ended: 0, rounds }
    }

    /// The path of every training set. `go_on` hears how many sizes are done in all of them, of the rounds together; after
    /// a break the last round that was through remains, or of the first what is done: at least one size.
    pub fn grow(mut self, go_on: &mut GoOn<'_>) -> Paths {
        let scores = parallel::map(self.trainings.count(), &|which| self.scores(which, self.trainings.linear(which)));
        let scores = scores.into_iter().reduce(larger).unwrap_or_default();
        let mut fresh = self.coordinates(top_k(&scores, first_list(self.atoms, self.sizes)));
        fresh.extend(self.kept.indices());
        self.trainings.list(&fresh);
        let mut last: Option<Paths> = None;
        while self.ended + 1 < self.rounds && !fresh.is_empty() {
            let paths = self.grown(true, go_on);
            if !paths.complete {
                return stopped(paths, last);
            }
            self.ended += 1;
            fresh = self.missed(&paths);
            self.trainings.list(&fresh);
            last = Some(paths);
        }
        self.ended = self.rounds - 1;
        let paths = self.grown(false, go_on);
        if paths.complete { paths } else { stopped(paths, last) }
    }

    /// The coordinates of some atoms.
    fn coordinates(&self, atoms: Vec<usize>) -> Vec<usize> {
        atoms.into_iter().flat_map(|atom| self.atoms.members(atom).iter().copied()).collect()
    }

    /// Whether an atom has a coordinate that is not listed, for each of them.
    fn unlisted(&self) -> Vec<bool> {
        let mut listed = vec![false; self.kept.dim()];
        self.trainings.listed().iter().for_each(|&j| listed[j] = true);
        (0..self.atoms.len()).map(|atom| !self.atoms.members(atom).iter().all(|&j| listed[j])).collect()
    }

    /// How much f falls by a step along each atom, as far as its coordinates tell one by one.
    fn scores(&self, which: usize, slopes: &[f64]) -> Vec<f64> {
        let diagonal = self.trainings.diagonal(which);
        let fall = |&j: &usize| if diagonal[j] > 0.0 { 0.5 * slopes[j] * slopes[j] / diagonal[j] } else { 0.0 };
        (0..self.atoms.len()).map(|atom| self.atoms.members(atom).iter().map(fall).sum()).collect()
    }

    /// Every path within the list; of scouts the way up alone.
    fn grown(&self, scouts: bool, go_on: &mut GoOn<'_>) -> Paths {
        let list = Listing::new(self.atoms, self.kept, self.trainings.listed().to_vec());
        let among: Vec<Training> = parallel::map(self.trainings.count(), &|q| self.trainings.among(q));
        let begin = |q| {
            let search = LocalSearch { q, atoms: &list.atoms, kept: &list.kept, widest: usize::MAX };
            let sizes = self.sizes;
            if scouts { SizePath::upwards(search, sizes) } else { SizePath::new(search, Default::default(), sizes) }
        };
        let mut paths: Vec<(SizePath<'_>, bool)> = parallel::map(among.len(), &|at| (begin(&among[at]), true));
        let least = |paths: &[(SizePath<'_>, bool)]| paths.iter().map(|one| one.0.models.len()).min().unwrap_or(0);
        let mut complete = true;
        while complete && paths.iter().any(|(_, more)| *more) {
            parallel::each_mut(&mut paths, &|_, (path, more)| {
                for _ in 0..STRIDE {
                    *more = *more && path.step(&mut Work::new(f64::INFINITY));
                }
            });
            let done = (self.ended * self.sizes.len() + least(&paths)) / self.rounds;
            complete = go_on(done).is_continue();
        }
        let done = least(&paths);
        let told = |at: usize| {
            let path = &paths[at].0;
            let search = path.search;
            let model = |model: &Model| Grown { point: search.point(model), objective: model.objective };
            path.models.values().take(done).map(model).collect()
        };
        let models = parallel::map(paths.len(), &told);
        Paths { models, list, among, complete }
    }

    /// The coordinates of atoms outside of the list that promise more than a path has found: one pass.
    fn missed(&mut self, paths: &Paths) -> Vec<usize> {
        let looks = looks(self.sizes.len());
        let dim = self.kept.dim();
        let outside = |model: &Grown| paths.list.outside(&model.point, dim);
        let points = paths.models.iter().enumerate();
        let points: Vec<(usize, SparseVec)> =
            points.flat_map(|(q, path)| looks.iter().map(move |&at| (q, outside(&path[at])))).collect();
        let slopes = self.trainings.slopes(&points);
        let unlisted = self.unlisted();
        let fresh = parallel::map(paths.models.len() * (1 + looks.len()), &|at| {
            let (q, look) = (at / (1 + looks.len()), (at % (1 + looks.len())).checked_sub(1));
            let slopes = look.map_or(self.trainings.linear(q), |look| &slopes[q * looks.len() + look]);
            let from = look.map(|look| looks[look]);
            let (least, atoms) = self.found(&paths.models[q], self.trainings.constant(q), from, &looks);
            let mut scores = self.scores(q, slopes);
            scores.iter_mut().zip(&unlisted).for_each(|(score, &new)| *score = if new { *score } else { 0.0 });
            let best = top_k(&scores, 2 * atoms + JOIN);
            best.into_iter().filter(|&atom| scores[atom] > least).collect::<Vec<_>>()
        });
        self.coordinates(fresh.concat())
    }

    /// The least that an atom brings to a path between a look, or the beginning, and the next; and the number of atoms.
    /// From the last model on, what its last atoms have brought.
    fn found(&self, path: &[Grown], null: f64, from: Option<usize>, looks: &[usize]) -> (f64, usize) {
        let next = looks.iter().copied().find(|&at| from.is_none_or(|from| at > from));
        let (first, last) = match next {
            Some(next) => (from.map_or(0, |from| from + 1), next),
            None => (path.len() - 1, path.len() - 1),
        };
        let before = |at: usize| match at.checked_sub(1) {
            Some(before) => (self.sizes[before], path[before].objective),
            None => (0, null),
        };
        let fall = |at: usize| (before(at).1 - path[at].objective) / (self.sizes[at] - before(at).0) as f64;
        ((first..=last).map(fall).fold(f64::INFINITY, f64::min).max(0.0), self.sizes[last] - before(first).0)
    }
}

/// What remains of paths that somebody has stopped: the last ones that were through, where there are any.
fn stopped(now: Paths, last: Option<Paths>) -> Paths {
    Paths { complete: false, ..last.unwrap_or(now) }
}

/// The larger of two, one by one.
pub(super) fn larger(mut a: Vec<f64>, b: Vec<f64>) -> Vec<f64> {
    a.iter_mut().zip(b).for_each(|(a, b)| *a = a.max(b));
    a
}

/// The places among so many models at which a path is looked at: a few, the last among them.
pub(super) fn looks(models: usize) -> Vec<usize> {
    let mut looks: Vec<usize> = (1..=LOOKS).map(|look| (models * look).div_ceil(LOOKS) - 1).collect();
    looks.dedup();
    looks
}
