//! Models of k atoms along the path of the Lasso: its largest coefficients, without the penalty.
//!
//! A penalty lets atoms in one after the other with all others shrunk. Where atoms stand in for each other, as words do,
//! that leads elsewhere than thresholding.

use std::ops::ControlFlow;

use super::Quadratic;
use super::detours::better_than;
use super::exact::Exact;
use super::excerpt::{Excerpt, Listed};
use super::gram::{affordable, listable};
use super::ladder::Ladder;
use super::lasso::{Grid, LassoPath, Step};
use super::lasso_path::{LassoPathOptions, lasso_path};
use super::neighbourhood::{GoOn, Neighbourhood};
use super::quadratic::Brings;
use super::swaps::{coordinates, minima};
use crate::loss::Loss;
use crate::method::refit_on;
use crate::objective::Evaluated;
use crate::operator::LinearOperator;
use crate::penalty::L1;
use crate::set::CoordinateSet;
use crate::space::{IndexSet, Point, SparseVec, Subspace};

/// The Lasso is followed until it has this many times k atoms.
const ATOMS: usize = 4;
/// Of several sizes the one in the middle counts, and the largest so many times: what the path would tell of the largest
/// beyond that, at 1 to 50 atoms, is less than what another draw of the data does. A small problem can pay for it.
const ATOMS_AT_LEAST: usize = 2;
/// For a loss that is not quadratic: how many points, down to which share of the λ at which all is zero, and how near each
/// comes to its minimum, which is soon left anyway.
const POINTS: usize = 30;
const SMALLEST: f64 = 0.03;
const GAP: f64 = 1e-2;

impl<A, L, S> Exact<'_, A, L, S>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
    S: CoordinateSet,
{
    /// The best coordinates of each of these rising sizes along the path of the Lasso; `None` where there are none. When
    /// `go_on` breaks, the best so far.
    pub(super) fn lasso_models(&mut self, sizes: &[usize], go_on: &mut GoOn<'_>) -> Option<Vec<Option<IndexSet>>> {
        let k = *sizes.last()?;
        if self.atoms.widest() > 1 || !self.f.loss().is_quadratic() || !affordable(self.f.operator(), 4 * k) {
            return None;
        }
        let widest = self.set.with_atoms(k).ok()?;
        let kept = self.kept.clone();
        let counts = if self.is_small() { k } else { sizes[sizes.len() / 2] };
        let most = (ATOMS * counts).max(ATOMS_AT_LEAST * k) + kept.indices().len();
        let mut gram = self.gram(kept.indices())?;
        let mut path = LassoPath::new(&gram, self.kept.indices(), Grid::default()).ok()?;
        let mut best: Vec<(f64, Vec<usize>)> = vec![(f64::INFINITY, Vec::new()); sizes.len()];
        while go_on(0).is_continue() {
            match path.advance(&gram) {
                Step::Needs(columns) => gram.bring(&columns),
                Step::Point { x, .. } => {
                    if x.support_size() > most {
                        break;
                    }
                    let order = by_size(&widest.project(x.map(|j, v| v * gram.diagonal()[j].sqrt())), &kept);
                    let values = minima(&gram, &order);
                    for (size, best) in sizes.iter().zip(&mut best) {
                        let count = order.len().min(kept.indices().len() + size);
                        if values[count] < best.0 {
                            *best = (values[count], order[..count].to_vec());
                        }
                    }
                }
                Step::Done => break,
            }
        }
        self.gram = Some(gram);
        let told = |(value, support): (f64, Vec<usize>)| value.is_finite().then(|| IndexSet::new(kept.dim(), support));
        Some(best.into_iter().map(told).collect())
    }

    /// What models that are `there` and others make of each other among the atoms whose columns are known: for each size
    /// the coordinates of a better one. On a small problem the others as they are; ways among all atoms lead farther.
    pub(super) fn among_known(
        &mut self,
        sizes: &[usize],
        there: &[Option<&Evaluated<SparseVec>>],
        others: Vec<Option<IndexSet>>,
        go_on: &mut GoOn<'_>,
    ) -> Vec<Option<IndexSet>> {
        let Some((most, gram)) = sizes.last().copied().zip(self.gram.as_ref()).filter(|_| !self.is_small()) else {
            return others;
        };
        let excerpt = Excerpt::renewed(self.excerpt.take(), gram, &self.atoms, &self.kept);
        let (Some(excerpt), Ok(widest)) = (excerpt.filter(|excerpt| excerpt.offers(most)), self.set.with_atoms(most))
        else {
            return others;
        };
        let model = |x: &Evaluated<SparseVec>| Listed { chosen: widest.chosen(x.point()), objective: self.f.value(x) };
        let atoms = |s: &IndexSet| widest.chosen(&s.point(&vec![1.0; s.dimension()]));
        let rungs = there.iter().map(|x| x.map(model)).collect();
        let mut ladder = Ladder::new(excerpt, sizes.to_vec(), rungs);
        let others: Vec<_> = others.iter().map(|other| other.as_ref().map(atoms)).collect();
        ladder.hear(&others, go_on);
        ladder.settle(go_on);
        let better = ladder.rungs.into_iter().zip(there).map(|(rung, there)| {
            let below = there.map_or(f64::INFINITY, |x| better_than(self.f, x));
            let chosen = rung.filter(|rung| rung.objective < below)?.chosen;
            Some(IndexSet::new(self.kept.dim(), coordinates(&self.atoms, &self.kept, &chosen)))
        });
        let better = better.collect();
        self.excerpt = Some(ladder.climb);
        better
    }

    /// The best model of k atoms along the path of the Lasso, of a loss that is not quadratic; `None` where there is no
    /// such path. Found once. Every column counts by its own size: the penalty knows no units.
    pub(super) fn along_the_path(&self, go_on: &mut GoOn<'_>) -> Option<&Evaluated<SparseVec>> {
        self.along.get_or_init(|| self.walked(go_on)).as_ref()
    }

    fn walked(&self, go_on: &mut GoOn<'_>) -> Option<Evaluated<SparseVec>> {
        let (n, k) = (self.f.operator().domain(), self.set.atoms());
        let most = ATOMS * k + self.kept.indices().len();
        if self.atoms.widest() > 1 || !listable(self.f.operator(), most) {
            return None;
        }
        // A column of zeros has no size, and no slope either.
        let mut sizes: Vec<f64> = self.bounds().iter().map(|&b| if b > 0.0 { b.sqrt() } else { 1.0 }).collect();
        let scales = sizes.clone();
        self.kept.indices().iter().for_each(|&j| sizes[j] = 0.0);
        let penalty = L1::new(1.0, n).ok()?.weighted(sizes).ok()?;
        let options = LassoPathOptions { count: POINTS, smallest: SMALLEST, gap: GAP, ..LassoPathOptions::default() };
        let mut best: Option<(f64, Evaluated<SparseVec>)> = None;
        let mut seen: Option<IndexSet> = None;
        lasso_path(self.f, &penalty, &options, |point| {
            let projected = self.set.project(point.point.map(|j, v| v * scales[j]));
            let support = projected.support();
            if seen.as_ref() != Some(&support) {
                let x = refit_on(self.f, self.f.at(point.point.on(&support)), &support);
                let value = self.f.value(&x);
                if best.as_ref().is_none_or(|(least, _)| value < *least) {
                    best = Some((value, x));
                }
                seen = Some(support);
            }
            if point.point.support_size() > most { ControlFlow::Break(()) } else { go_on(0) }
        })
        .ok()?;
        best.map(|(_, x)| x)
    }
}

/// What is kept, then the coordinates of a point from its largest entry to its smallest: the models of all sizes, each
/// within the next.
fn by_size(x: &SparseVec, kept: &IndexSet) -> Vec<usize> {
    let mut entries: Vec<(usize, f64)> = x.indices().iter().copied().zip(x.values().iter().map(|v| v.abs())).collect();
    entries.retain(|&(j, _)| !kept.contains(j));
    entries.sort_by(|a, b| b.1.total_cmp(&a.1));
    kept.indices().iter().copied().chain(entries.into_iter().map(|(j, _)| j)).collect()
}
