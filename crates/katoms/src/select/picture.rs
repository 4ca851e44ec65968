//! Losses that are not quadratic: the quadratic around a point is a picture of f there. What looks best in it is tried on f.

use rayon::prelude::*;

use super::exact::{Exact, NEAR};
use super::gram::Gram;
use super::neighbourhood::{GoOn, Neighbourhood, Polished};
use super::swaps::IMPROVES;
use super::tableau::{Swap, Swaps, Tableau};
use crate::linalg::top_k;
use crate::loss::Loss;
use crate::method::{refit_below, refit_on, refit_towards};
use crate::objective::Evaluated;
use crate::operator::LinearOperator;
use crate::set::CoordinateSet;
use crate::space::{IndexSet, Point, SparseVec};

/// Exchanges that look best in the picture and are tried, and how many of them may bring in the same atom.
const TRIED: usize = 5;
const PARTNERS: usize = 2;
/// And the weakest atoms inside, each of which is tried for so many that promise most without it.
const WEAKEST: usize = 6;
const STRONGEST: usize = 3;
/// And for so many more that promise most by the curvature there.
const CURVED: usize = 12;
/// Newton steps after which those that improve f are told from the others, and how many of them are refitted to their end.
const FIRST_STEPS: usize = 3;
const FINISHED: usize = 6;

/// An exchange, or one more atom, on f itself.
struct Trial {
    out: Option<usize>,
    into: usize,
    x: Evaluated<SparseVec>,
    value: f64,
}

impl<A, L, S> Exact<'_, A, L, S>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
    S: CoordinateSet,
{
    /// Whether the problem is so small that ways to a model are tried as they are on a small quadratic.
    pub(super) fn is_tried(&self) -> bool {
        !self.f.loss().is_quadratic() && self.reach() > 0
    }

    /// From no atom through these rising sizes, polished at each.
    pub(super) fn grown_picture(&mut self, sizes: &[usize], go_on: &mut GoOn<'_>) -> Option<Polished<SparseVec>> {
        let sets = sizes.iter().map(|&size| self.set.with_atoms(size).ok()).collect::<Option<Vec<S>>>()?;
        let widest = self.set;
        self.route_picture(&self.fitted(&self.kept), widest, &sets, go_on)
    }

    /// Exchanges that look good around x, tried on f.
    pub(super) fn polish_picture(
        &mut self,
        set: &S,
        x: &Evaluated<SparseVec>,
        most: usize,
        go_on: &mut GoOn<'_>,
    ) -> Option<Polished<SparseVec>> {
        let (mut x, mut exchanges) = (x.clone(), 0);
        loop {
            let chosen = set.chosen(x.point());
            let mut known = self.coordinates(&chosen);
            known.extend(self.kept.indices());
            let gram = Gram::around(self.f, &x, &known)?;
            let tableau = Tableau::new(&gram, &self.atoms, &self.kept, &chosen);
            let left = if go_on(exchanges).is_break() { 0 } else { most - exchanges };
            let trials = self.trials(&x, &tableau, set.atoms(), left == 0);
            let here = self.f.value(&x);
            let best = trials.iter().min_by(|a, b| a.value.total_cmp(&b.value));
            let better = best.filter(|trial| trial.value < self.enough(here));
            match better {
                Some(trial) if left > 0 => {
                    x = self.refitted_to(&trial.x, &chosen, trial.out, Some(trial.into));
                    exchanges += 1;
                    // It was stuck: perhaps it is better to go on from elsewhere.
                    if exchanges == 1 && set.atoms() == self.set.atoms() && !self.starts_follow {
                        let other = self.along_the_path(go_on).filter(|other| self.f.value(other) < self.f.value(&x));
                        x = other.cloned().unwrap_or(x);
                    }
                }
                _ => {
                    let swap = |t: &Trial| t.out.map(|out| Swap { out, into: t.into, gain: here - t.value });
                    let mut best: Vec<Swap> = trials.iter().filter_map(swap).collect();
                    best.sort_by(|a, b| b.gain.total_cmp(&a.gain));
                    let all = tableau.substitutes();
                    let exhaustive = all.exhaustive && best.len() >= all.compared;
                    let swaps = Swaps { compared: best.len(), best, exhaustive };
                    let quality = self.quality(set, &x, &tableau.slopes(), &swaps);
                    self.clear = exchanges == 0;
                    return Some(Polished { x, exchanges, quality });
                }
            }
        }
    }

    /// Exchanges and, where there is room, one more atom, each refitted on f. Three ways to find them, since each
    /// can be fooled. The quadratic picture knows how atoms stand in for each other, but promises the moon for a
    /// rare column on which the fit is already sure. How much f falls at least by a step along a coordinate is
    /// never too much, but knows nothing of what the others would do, and little of columns of very different scales:
    /// for these the curvature without the atom that leaves tells more.
    ///
    /// A few Newton steps tell which of them improve f. Where some do, the best of these are refitted to their end and
    /// the others left out, unless all are asked for.
    fn trials(&self, x: &Evaluated<SparseVec>, tableau: &Tableau<'_>, most: usize, all: bool) -> Vec<Trial> {
        let chosen = tableau.chosen().to_vec();
        let mut moves: Vec<(Option<usize>, usize)> = Vec::new();
        for swap in tableau.substitutes().best {
            let seen = moves.iter().filter(|m| m.1 == swap.into).count();
            if seen < PARTNERS && moves.len() < TRIED {
                moves.push((Some(swap.out), swap.into));
            }
        }
        if chosen.len() < most {
            let gains = tableau.entry_gains();
            moves.extend(top_k(&gains, 1).into_iter().filter(|&atom| gains[atom] > 0.0).map(|atom| (None, atom)));
        }
        let costs: Vec<f64> = tableau.removal_costs().into_iter().map(|cost| -cost).collect();
        let outs: Vec<usize> = if costs.is_empty() { Vec::new() } else { top_k(&costs, WEAKEST) };
        let outs: Vec<usize> = outs.into_iter().map(|place| chosen[place]).collect();
        let without: Vec<_> = outs.par_iter().map(|&out| self.refitted_to(x, &chosen, Some(out), None)).collect();
        if !without.is_empty() {
            let gradients = self.f.gradients(&without);
            let curvatures = self.curvatures(&without);
            for (place, (&out, g)) in outs.iter().zip(&gradients).enumerate() {
                let least = self.falls(g, self.bounds(), &chosen);
                let likely = curvatures.get(place).map_or_else(Vec::new, |h| self.falls(g, h, &chosen));
                for (falls, count) in [(least, STRONGEST), (likely, CURVED)] {
                    let into = top_k(&falls, count).into_iter().filter(|&atom| falls[atom] > 0.0);
                    moves.extend(into.map(|atom| (Some(out), atom)));
                }
            }
        }
        moves.sort_unstable();
        moves.dedup();
        // What is not even a near tie need not be refitted to its end.
        let here = self.f.value(x);
        let below = here + NEAR;
        let begun = |(out, into): (Option<usize>, usize)| {
            let support = self.support_of(&chosen, out, Some(into));
            let start = match outs.iter().position(|&other| Some(other) == out) {
                // The minimum without the atom is known: the way from there is short.
                Some(place) => without[place].clone(),
                None => self.f.at(x.point().on(&support)),
            };
            let next = refit_towards(self.f, start, &support, below, FIRST_STEPS);
            Trial { out, into, value: self.f.value(&next), x: next }
        };
        let mut trials: Vec<Trial> = moves.into_par_iter().map(begun).collect();
        if !all && trials.iter().any(|trial| trial.value < self.enough(here)) {
            trials.sort_by(|a, b| a.value.total_cmp(&b.value));
            trials.truncate(FINISHED);
        }
        let finished = |trial: Trial| {
            let support = self.support_of(&chosen, trial.out, Some(trial.into));
            let x = refit_below(self.f, trial.x, &support, below);
            Trial { value: self.f.value(&x), x, ..trial }
        };
        trials.into_par_iter().map(finished).collect()
    }

    /// What is below this is better than `here`.
    pub(super) fn enough(&self, here: f64) -> f64 {
        here - IMPROVES * (here - self.f.lower_bound())
    }

    /// The minimum over the chosen atoms without one and with another.
    pub(super) fn refitted_to(
        &self,
        x: &Evaluated<SparseVec>,
        chosen: &[usize],
        out: Option<usize>,
        into: Option<usize>,
    ) -> Evaluated<SparseVec> {
        let support = self.support_of(chosen, out, into);
        refit_on(self.f, self.f.at(x.point().on(&support)), &support)
    }

    /// The coordinates of the chosen atoms without one and with another, and of what is kept.
    fn support_of(&self, chosen: &[usize], out: Option<usize>, into: Option<usize>) -> IndexSet {
        let atoms: Vec<usize> = chosen.iter().copied().filter(|&atom| Some(atom) != out).chain(into).collect();
        let mut all = self.coordinates(&atoms);
        all.extend(self.kept.indices());
        IndexSet::new(self.kept.dim(), all)
    }

    /// From x through these sizes, polished at each.
    pub(super) fn route_picture(
        &mut self,
        x: &Evaluated<SparseVec>,
        widest: &S,
        sets: &[S],
        go_on: &mut GoOn<'_>,
    ) -> Option<Polished<SparseVec>> {
        let (mut end, mut exchanges): (Option<Polished<SparseVec>>, usize) = (None, 0);
        for set in sets {
            let mut from = end.as_ref().map_or(x, |end| &end.x).clone();
            while widest.chosen(from.point()).len() > set.atoms() {
                from = self.without_the_weakest(&from, &widest.chosen(from.point()))?;
            }
            let polished = self.polish_picture(set, &from, usize::MAX, go_on)?;
            exchanges += polished.exchanges;
            end = Some(Polished { exchanges, ..polished });
        }
        end
    }

    /// x without one of its atoms: of those that matter least around x, the one without which f is least.
    fn without_the_weakest(&self, x: &Evaluated<SparseVec>, chosen: &[usize]) -> Option<Evaluated<SparseVec>> {
        let mut known = self.coordinates(chosen);
        known.extend(self.kept.indices());
        let gram = Gram::around(self.f, x, &known)?;
        let costs = Tableau::new(&gram, &self.atoms, &self.kept, chosen).removal_costs();
        let costs: Vec<f64> = costs.into_iter().map(|cost| -cost).collect();
        let outs = top_k(&costs, WEAKEST).into_iter().map(|place| chosen[place]);
        let without = outs.map(|out| self.refitted_to(x, chosen, Some(out), None));
        without.min_by(|a, b| self.f.value(a).total_cmp(&self.f.value(b)))
    }

    /// A bound on the second derivative of f along each coordinate, wherever it is: the loss's bound times the energy.
    pub(super) fn bounds(&self) -> &[f64] {
        self.bounds.get_or_init(|| {
            let ones = vec![1.0; self.f.operator().n_outputs()];
            let energies = self.f.operator().energies(&[&ones], None).and_then(|mut e| e.pop());
            self.f.count_pass();
            let (curvature, ridge) = (self.f.loss().curvature_bound(), self.f.ridge_weight());
            energies.unwrap_or_default().into_iter().map(|energy| curvature * energy + ridge).collect()
        })
    }

    /// The second derivatives of f along each coordinate at some points: one pass.
    fn curvatures(&self, points: &[Evaluated<SparseVec>]) -> Vec<Vec<f64>> {
        let weights: Vec<Vec<f64>> = points.iter().map(|x| self.f.curvatures(x)).collect();
        let views: Vec<&[f64]> = weights.iter().map(Vec::as_slice).collect();
        let mut energies = self.f.operator().energies(&views, None).unwrap_or_default();
        self.f.count_pass();
        energies.iter_mut().flatten().for_each(|energy| *energy += self.f.ridge_weight());
        energies
    }

    /// How much f falls by a step along each atom outside: Σ g²/(2h) over its coordinates. Where h is a bound and the
    /// atom a single coordinate, f falls at least so much.
    pub(super) fn falls(&self, g: &[f64], curvatures: &[f64], chosen: &[usize]) -> Vec<f64> {
        // Coordinate by coordinate first: a loop without a branch, whatever the atoms are.
        let mut alone: Vec<f64> =
            g.iter().zip(curvatures).map(|(g, h)| if *h > 0.0 { 0.5 * g * g / h } else { 0.0 }).collect();
        alone.resize(self.f.operator().domain(), 0.0);
        let plain = self.atoms.leading_coordinates();
        let others: Vec<f64> =
            (plain..self.atoms.len()).map(|atom| self.atoms.members(atom).iter().map(|&j| alone[j]).sum()).collect();
        let mut falls = alone;
        falls.truncate(plain);
        falls.extend(others);
        chosen.iter().for_each(|&atom| falls[atom] = 0.0);
        falls
    }
}
