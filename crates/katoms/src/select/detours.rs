//! Models by way of other sizes: what exchanges of single atoms cannot reach.
//!
//! A model that no exchange improves may be two atoms away from a better one, with every step between them uphill.
//! One atom more or fewer makes another landscape: exchanges go on there, and the way back leads elsewhere.

use super::Quadratic;
use super::exact::{Exact, GROWTH};
use super::excerpt::Excerpt;
use super::gram::affordable;
use super::ladder::{Climb, Ladder, Way};
use super::neighbourhood::{GoOn, Neighbourhood, Polished};
use super::quadratic::Brings;
use super::swaps::{IMPROVES, Polish};
use super::tableau::{Swaps, Tableau};
use crate::loss::Loss;
use crate::objective::{Evaluated, Objective};
use crate::operator::LinearOperator;
use crate::set::{Atoms, CoordinateSet};
use crate::space::{IndexSet, Point, SparseVec};

/// How many atoms more or fewer a detour goes by.
const FARTHEST: usize = 2;
/// How many sizes below and above a roundabout way goes by at most.
const BELOW: usize = 10;
const ABOVE: usize = 3;

/// What a point has to be below to be better than x.
pub(super) fn better_than<A: LinearOperator, L: Loss>(f: &Objective<A, L>, x: &Evaluated<A::Point>) -> f64 {
    let here = f.value(x);
    here - IMPROVES * (here - f.lower_bound())
}

/// Models among all atoms: the rungs of a [`Ladder`] that are told.
pub(super) struct Whole<'a, 'h, A: LinearOperator, L> {
    pub f: &'a Objective<A, L>,
    pub hood: &'h mut dyn Neighbourhood<A::Point>,
}

impl<A: LinearOperator, L: Loss> Climb for Whole<'_, '_, A, L> {
    type Model = Polished<A::Point>;
    type Start = Evaluated<A::Point>;

    fn value(&self, model: &Polished<A::Point>) -> f64 {
        self.f.value(&model.x)
    }
    fn start(model: &Polished<A::Point>) -> &Evaluated<A::Point> {
        &model.x
    }
    fn better_than(&self, model: &Polished<A::Point>) -> f64 {
        better_than(self.f, &model.x)
    }
    fn go(&mut self, way: &Way<'_, Evaluated<A::Point>>, go_on: &mut GoOn<'_>) -> Option<Polished<A::Point>> {
        self.hood.by_way_of(way.from, &[way.size], way.below, go_on)
    }
    fn lead_nowhere(&mut self, ways: &[Way<'_, Evaluated<A::Point>>], go_on: &mut GoOn<'_>) -> Vec<bool> {
        self.hood.lead_nowhere(ways, go_on)
    }
}

impl<A: LinearOperator, L: Loss> Ladder<Whole<'_, '_, A, L>> {
    /// Hears what the path of the Lasso has to say of each size.
    pub fn hear_the_lasso(&mut self, go_on: &mut GoOn<'_>) {
        let there: Vec<_> = self.rungs.iter().map(|rung| rung.as_ref().map(|model| &model.x)).collect();
        let points = self.climb.hood.along_the_lasso(&self.sizes, &there, go_on);
        self.hear(&points, go_on);
    }
}

/// A better model of as many atoms, by way of a larger and of a smaller one: the better of the two. Where neither is
/// better than x, by sizes farther away.
pub(super) fn detour<A: LinearOperator, L: Loss>(
    f: &Objective<A, L>,
    hood: &mut dyn Neighbourhood<A::Point>,
    x: &Evaluated<A::Point>,
    atoms: usize,
    go_on: &mut GoOn<'_>,
) -> Option<Polished<A::Point>> {
    // Where sizes around are a large matter, the nearest ones have to do.
    (1..=FARTHEST.min(hood.reach().max(1))).find_map(|far| {
        let mut best: Option<Polished<A::Point>> = None;
        for sizes in [upwards(atoms, far), downwards(atoms, far)].into_iter().flatten() {
            let below = better_than(f, best.as_ref().map_or(x, |best| &best.x));
            best = hood.by_way_of(x, &sizes, below, go_on).or(best);
        }
        best
    })
}

/// A better model of as many atoms, from models of all sizes around: grown from nothing where that can be had, from x
/// where not, and each improved by its neighbours.
pub(super) fn roundabout<A: LinearOperator, L: Loss>(
    f: &Objective<A, L>,
    hood: &mut dyn Neighbourhood<A::Point>,
    x: &Evaluated<A::Point>,
    atoms: usize,
    go_on: &mut GoOn<'_>,
) -> Option<Polished<A::Point>> {
    let reach = hood.reach();
    let (least, most) = (atoms.saturating_sub(reach.min(BELOW)).max(1), atoms + reach.min(ABOVE));
    let sizes: Vec<usize> = (least..=hood.candidates().min(most)).collect();
    let at = sizes.iter().position(|&size| size == atoms)?;
    let grown = hood.grow(&sizes, hood.is_small(), go_on).unwrap_or_default();
    let mut rungs: Vec<_> = grown.into_iter().map(Some).collect();
    rungs.resize_with(sizes.len(), || None);
    let here = Polished { x: x.clone(), exchanges: 0, quality: hood.judge(x) };
    let mut ladder = Ladder::new(Whole { f, hood }, sizes, rungs);
    ladder.offer(at, here);
    ladder.hear_the_lasso(go_on);
    ladder.settle(go_on);
    let below = better_than(f, x);
    let found = ladder.rungs.swap_remove(at).filter(|found| f.value(&found.x) < below)?;
    Some(Polished { exchanges: found.exchanges.max(1), ..found })
}

/// k + 1, …, k + far, …, k + 1, k.
fn upwards(k: usize, far: usize) -> Option<Vec<usize>> {
    Some((k + 1..k + far).chain((k..=k + far).rev()).collect())
}

/// k − 1, …, k − far, …, k − 1, k; `None` where no atom would be left.
fn downwards(k: usize, far: usize) -> Option<Vec<usize>> {
    let smallest = k.checked_sub(far).filter(|&size| size > 0)?;
    Some((smallest + 1..k).rev().chain(smallest..=k).collect())
}

impl<A, L, S> Exact<'_, A, L, S>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
    S: CoordinateSet,
{
    /// From x through these sizes, polished at each; `None` where that is too much work or ends no lower than `below`.
    pub(super) fn routed(
        &mut self,
        x: &Evaluated<SparseVec>,
        sizes: &[usize],
        below: f64,
        go_on: &mut GoOn<'_>,
    ) -> Option<Polished<SparseVec>> {
        let sets = sizes.iter().map(|&size| self.set.with_atoms(size).ok()).collect::<Option<Vec<S>>>()?;
        let most = self.set.atoms().max(*sizes.iter().max()?);
        let coordinates = x.point().support_size().max(self.most_coordinates(most));
        let work = self.f.operator().domain() as f64 * (coordinates as f64).powi(2);
        let tried = !self.f.loss().is_quadratic() && self.reach() == 0;
        let large = self.f.loss().is_quadratic() && self.is_large(self.most_coordinates(self.set.atoms()));
        let too_much = !large && (work > GROWTH || !affordable(self.f.operator(), 2 * coordinates));
        if tried || too_much || self.is_perfect(x) {
            return None;
        }
        let widest = self.set.with_atoms(most).ok()?;
        let chosen = widest.chosen(x.point());
        let end = if large {
            self.route_listed(&chosen, sizes, below, go_on)
        } else if self.f.loss().is_quadratic() {
            self.route_quadratic(&chosen, &sets, below, go_on)
        } else {
            self.route_picture(x, &widest, &sets, go_on)
        };
        let end = end.filter(|end| self.f.value(&end.x) < below)?;
        let entered = self.set.chosen(end.x.point()).iter().filter(|atom| !chosen.contains(atom)).count();
        Some(Polished { exchanges: entered.max(1), ..end })
    }

    /// Ways that lead nowhere among the atoms whose columns are known; see [`Exact::route_quadratic`].
    pub(super) fn nowhere_among_known(
        &mut self,
        ways: &[Way<'_, Evaluated<SparseVec>>],
        go_on: &mut GoOn<'_>,
    ) -> Option<Vec<bool>> {
        let most = ways.iter().map(|way| way.size).max()?.max(self.set.atoms());
        let widest = self.set.with_atoms(most).ok()?;
        let listed = self.is_large(self.most_coordinates(self.set.atoms()));
        let gram = self.gram.as_ref().filter(|_| !listed && !self.is_small())?;
        let known = |chosen: &[usize]| self.coordinates(chosen).iter().all(|&j| gram.knows(j));
        let starts: Vec<Vec<usize>> = ways.iter().map(|way| widest.chosen(way.from.point())).collect();
        if !starts.iter().all(|chosen| known(chosen)) {
            return None;
        }
        self.excerpt = Excerpt::renewed(self.excerpt.take(), gram, &self.atoms, &self.kept);
        let excerpt = self.excerpt.as_mut().filter(|excerpt| excerpt.offers(most))?;
        let way = |(way, from): (&Way<'_, _>, _)| Way { size: way.size, from, below: way.below };
        let ways: Vec<Way<'_, Vec<usize>>> = ways.iter().zip(&starts).map(way).collect();
        Some(excerpt.lead_nowhere(&ways, go_on))
    }

    /// On the quadratic, which is f.
    fn route_quadratic(
        &mut self,
        chosen: &[usize],
        sets: &[S],
        below: f64,
        go_on: &mut GoOn<'_>,
    ) -> Option<Polished<SparseVec>> {
        let mut known = self.coordinates(chosen);
        known.extend(self.kept.indices());
        let mut gram = self.gram(&known)?;
        let most = sets.iter().map(S::atoms).max()?.max(chosen.len());
        // A small problem can pay for ways among all atoms, which lead farther.
        if !self.is_small() {
            self.excerpt = Excerpt::renewed(self.excerpt.take(), &gram, &self.atoms, &self.kept);
        }
        let sizes: Vec<usize> = sets.iter().map(S::atoms).collect();
        let (chosen, sizes) = match self.excerpt.as_mut().filter(|excerpt| excerpt.offers(most)) {
            // Where the way leads among known atoms, exchanges with all others begin.
            Some(excerpt) => match excerpt.routed(chosen, &sizes, below, go_on) {
                Some(end) => (end.chosen, &sizes[sizes.len() - 1..]),
                None => {
                    self.gram = Some(gram);
                    return None;
                }
            },
            None => (chosen.to_vec(), sizes.as_slice()),
        };
        let mut tableau = Tableau::reusing(self.spare.take(), &gram, &self.atoms, &self.kept, &chosen);
        let swaps = route(&mut gram, &mut tableau, (&self.atoms, &self.kept), sizes, go_on);
        self.gram = Some(gram);
        let (found, slopes, point) = (tableau.objective(), tableau.slopes(), tableau.point());
        self.spare = Some(tableau.into_sweep());
        let (set, swaps) = (sets.last()?, swaps.filter(|_| found < below)?);
        let x = self.refitted(point);
        let quality = self.quality(set, &x, &slopes, &swaps);
        Some(Polished { x, exchanges: 0, quality })
    }
}

/// From a model through these sizes, polished at each: the exchanges that remain at the last one.
pub(super) fn route<'t>(
    q: &mut impl Brings,
    tableau: &mut Tableau<'t>,
    (atoms, kept): (&'t Atoms, &'t IndexSet),
    sizes: &[usize],
    go_on: &mut GoOn<'_>,
) -> Option<Swaps> {
    let mut swaps = None;
    for &size in sizes {
        shrink(tableau, q, size);
        swaps = Some(Polish::single(atoms, kept, size).settle(q, tableau, go_on));
    }
    swaps
}

/// Takes out the atoms that matter least, one by one.
pub(super) fn shrink(tableau: &mut Tableau<'_>, q: &impl Quadratic, size: usize) {
    while tableau.chosen().len() > size {
        let costs = tableau.removal_costs();
        let cheapest = (0..costs.len()).reduce(|a, b| if costs[b] < costs[a] { b } else { a });
        let Some(cheapest) = cheapest else { return };
        tableau.remove(q, tableau.chosen()[cheapest]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_go_size_by_size_there_and_back() {
        assert_eq!(upwards(5, 1), Some(vec![6, 5]));
        assert_eq!(upwards(5, 2), Some(vec![6, 7, 6, 5]));
        assert_eq!(downwards(5, 1), Some(vec![4, 5]));
        assert_eq!(downwards(5, 2), Some(vec![4, 3, 4, 5]));
        assert_eq!((downwards(1, 1), downwards(2, 2)), (None, None));
    }
}
