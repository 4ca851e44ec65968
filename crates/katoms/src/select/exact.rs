//! Coordinates and groups of them: every exchange compared, through the quadratic of f.
//!
//! For least squares the quadratic is f itself; its columns are kept from start to start, so that a
//! second start costs few passes. For other losses it is the picture around a point: the exchanges
//! that look best in it are tried on f, see `picture`.

use std::ops::ControlFlow;
use std::sync::OnceLock;

use super::certificate::{Certify, certify};
use super::excerpt::Excerpt;
use super::gram::{Gram, affordable, diagonal, listable};
use super::growth::{Growth, Opinions};
use super::ladder::Way;
use super::neighbourhood::{GoOn, Neighbourhood, Polished, Searchable, quick_quality};
use super::phase_transition::{Sign, phase_transition_k};
use super::quadratic::{Brings, Quadratic};
use super::short_gram::ShortGram;
use super::swaps::{IMPROVES, Polish, ROUNDING};
use super::sweep::Sweep;
use super::tableau::{Missing, Swap, Swaps, Tableau};
use crate::driver::{Certificate, NearTie, Quality, stationarity};
use crate::linalg::top_k;
use crate::loss::Loss;
use crate::method::refit_on;
use crate::objective::{Evaluated, Objective};
use crate::operator::LinearOperator;
use crate::set::{Atoms, CoordinateSet};
use crate::space::{IndexSet, Point, SparseVec, Subspace};

/// Multiplications up to which growing a model atom by atom is a small matter.
pub(super) const GROWTH: f64 = 4e9;
/// Columns times squared coordinates up to which other starts take milliseconds.
const SMALL: f64 = 1e7;
/// Multiplications for k columns of G above which models of other sizes, whose columns are new, take longer than that.
const DEAR: f64 = 1e8;
/// Columns times squared coordinates up to which models of so many sizes are a small matter.
const NEARBY: f64 = 2e7;
/// And entries of the design up to which they are where every exchange has to be tried.
const PICTURED: f64 = 4e6;
/// Multiplications for k columns of G above which exchanges are compared within a short list of atoms.
const LARGE: f64 = 4e8;
/// Stages in which a model grows to k.
const STAGES: usize = 10;
/// Two models are nearly tied when their deviances differ by less: the one is at least 1/e as likely.
pub(super) const NEAR: f64 = 2.0;
const MOST_TIES: usize = 20;
/// A point this near to the minimum over its atoms, relative to its norm, is that minimum.
const SETTLED: f64 = 1e-9;

/// Every exchange of an atom inside for one outside.
pub(super) struct Exact<'a, A: LinearOperator, L, S> {
    pub(super) f: &'a Objective<A, L>,
    pub(super) set: &'a S,
    pub(super) atoms: Atoms,
    pub(super) kept: IndexSet,
    /// The quadratic of a quadratic loss.
    pub(super) gram: Option<Gram<'a, A, L>>,
    /// Of that, the atoms whose columns are known.
    pub(super) excerpt: Option<Excerpt>,
    /// The memory of the tableau before.
    pub(super) spare: Option<Sweep>,
    /// Whether the model that was polished last stands out.
    pub(super) clear: bool,
    /// The same for a short list of atoms, on a large problem.
    pub(super) short: Option<ShortGram<'a, A, L>>,
    /// Multiplications above which a problem is large.
    pub(super) large: f64,
    /// The curvature along each coordinate, of a quadratic loss.
    energies: OnceLock<Option<Vec<f64>>>,
    /// A bound on the curvature along each coordinate, for other losses.
    pub(super) bounds: OnceLock<Vec<f64>>,
    /// Whether other starts follow.
    pub(super) starts_follow: bool,
    /// The best model along the Lasso, for other losses.
    pub(super) along: OnceLock<Option<Evaluated<SparseVec>>>,
}

impl<'a, A, L, S> Exact<'a, A, L, S>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
    S: CoordinateSet,
{
    pub fn new(f: &'a Objective<A, L>, set: &'a S) -> Self {
        let (energies, bounds, along) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        let (atoms, kept, large) = (set.candidates(), set.kept(), LARGE);
        Self {
            f,
            set,
            atoms,
            kept,
            gram: None,
            clear: false,
            excerpt: None,
            spare: None,
            short: None,
            large,
            energies,
            bounds,
            starts_follow: false,
            along,
        }
    }

    /// The quadratic, with the columns of these coordinates.
    pub(super) fn gram(&mut self, coordinates: &[usize]) -> Option<Gram<'a, A, L>> {
        if let Some(mut gram) = self.gram.take() {
            gram.bring(coordinates);
            return Some(gram);
        }
        let zero = self.f.at(SparseVec::zero(self.f.operator().domain()));
        Gram::around(self.f, &zero, coordinates)
    }

    /// The coordinates of atoms.
    pub(super) fn coordinates(&self, atoms: &[usize]) -> Vec<usize> {
        atoms.iter().flat_map(|&atom| self.atoms.members(atom).iter().copied()).collect()
    }

    /// The largest number of coordinates that k atoms can have.
    pub(super) fn most_coordinates(&self, k: usize) -> usize {
        if self.atoms.widest() <= 1 {
            return self.kept.indices().len() + k.min(self.candidates());
        }
        let sizes: Vec<f64> = (0..self.atoms.len()).map(|atom| self.atoms.members(atom).len() as f64).collect();
        let largest = top_k(&sizes, k).into_iter().map(|atom| sizes[atom]).sum::<f64>();
        self.kept.indices().len() + largest as usize
    }

    /// The point of some atoms on f itself.
    pub(super) fn refitted(&self, point: SparseVec) -> Evaluated<SparseVec> {
        let support = point.support();
        refit_on(self.f, self.f.at(point), &support)
    }

    /// The minimum over some coordinates.
    pub(super) fn fitted(&self, support: &IndexSet) -> Evaluated<SparseVec> {
        self.refitted(support.point(&vec![0.0; support.dimension()]))
    }

    /// f(0), above its lower bound.
    fn null(&self) -> f64 {
        self.f.value(&self.f.at(SparseVec::zero(self.f.operator().domain()))) - self.f.lower_bound()
    }

    pub(super) fn is_perfect(&self, x: &Evaluated<SparseVec>) -> bool {
        let here = self.f.value(x) - self.f.lower_bound();
        here.is_finite() && here <= self.f.perfect() * self.null().max(here)
    }

    /// The statement about x, whose exchanges were compared in a tableau.
    pub(super) fn quality(&self, set: &S, x: &Evaluated<SparseVec>, slopes: &[f64], swaps: &Swaps) -> Quality {
        let here = self.f.value(x);
        let lower = self.f.lower_bound();
        let best = swaps.best.first().map_or(0.0, |swap| swap.gain);
        let gains = best > (IMPROVES * (here - lower)).max(ROUNDING * self.null());
        let gradient = slopes.iter().map(|slope| -slope).collect();
        // What is left of the slopes at a perfect fit is rounding.
        let perfect = self.is_perfect(x);
        let stationarity = if perfect { 0.0 } else { stationarity(self.f, set, x, &gradient) };
        let deviance = |value: f64| self.f.loss().deviance(value);
        let tie = |swap: &Swap| {
            let rise = (-swap.gain).max(0.0);
            NearTie { inside: swap.out, outside: swap.into, rise }
        };
        let loss = self.f.loss().value(x.image());
        let near = |tie: &NearTie| deviance(loss + tie.rise) - deviance(loss) < NEAR;
        Quality {
            exchange_gain: if gains { best } else { 0.0 },
            exchanges_compared: swaps.compared,
            exhaustive: swaps.exhaustive,
            perfect,
            near_ties: swaps.best.iter().map(tie).filter(near).take(MOST_TIES).collect(),
            ..Quality::stationary(stationarity)
        }
    }

    /// Exchanges on the quadratic, which is f.
    fn polish_quadratic(
        &mut self,
        x: &Evaluated<SparseVec>,
        most: usize,
        go_on: &mut GoOn<'_>,
    ) -> Option<Polished<SparseVec>> {
        let chosen = self.set.chosen(x.point());
        let mut known = self.coordinates(&chosen);
        known.extend(self.kept.indices());
        let mut gram = self.gram(&known)?;
        let mut tableau = Tableau::new(&gram, &self.atoms, &self.kept, &chosen);
        let mut polish = Polish::new(&self.atoms, &self.kept, self.set.atoms()).at_most(most);
        let mut swaps = polish.settle(&mut gram, &mut tableau, go_on);
        let made = polish.made;
        self.clear = made == 0 && tableau.stands_out(&swaps);
        let here = self.f.value(x);
        if made > 0 || tableau.chosen().len() > chosen.len() {
            let next = self.refitted(tableau.point());
            // An atom that fills a place and brings nothing is no exchange.
            let least = if made > 0 { 0.0 } else { IMPROVES * (here - self.f.lower_bound()) };
            if here - self.f.value(&next) > least {
                let quality = self.quality(self.set, &next, &tableau.slopes(), &swaps);
                self.gram = Some(gram);
                return Some(Polished { x: next, exchanges: made.max(1), quality });
            }
        }
        // Groups that overlap may be covered by others than those that x was made of: then the tableau
        // is about another point.
        let held = IndexSet::new(self.kept.dim(), known);
        let covered = x.point().entries().all(|(j, v)| v == 0.0 || held.contains(j));
        let quality = (made == 0 && covered).then(|| {
            let mut slopes = tableau.slopes();
            if x.point().distance(&tableau.point()) > SETTLED * x.point().norm() {
                // x is not the minimum over its atoms: the statement is about x all the same.
                slopes = gram.slopes_at(x.point().entries());
                let above = (here - tableau.objective()).max(0.0);
                swaps.best.iter_mut().for_each(|swap| swap.gain += above);
            }
            self.quality(self.set, x, &slopes, &swaps)
        });
        self.gram = Some(gram);
        Some(Polished { x: x.clone(), exchanges: 0, quality: quality? })
    }

    /// Whether the columns of G of so many coordinates cost too much to be had for every problem.
    pub(super) fn is_large(&self, coordinates: usize) -> bool {
        self.multiplications(coordinates) > self.large
    }

    /// What the columns of G of so many coordinates cost.
    fn multiplications(&self, coordinates: usize) -> f64 {
        let a = self.f.operator();
        a.n_outputs() as f64 * a.domain() as f64 * coordinates as f64
    }

    /// The second derivative of a quadratic f along each coordinate: one pass, the first time.
    pub(super) fn energies(&self) -> Option<&[f64]> {
        let energies = self.energies.get_or_init(|| {
            let zero = self.f.at(SparseVec::zero(self.f.operator().domain()));
            diagonal(self.f, &self.f.curvatures(&zero))
        });
        energies.as_deref()
    }

    fn grown(&mut self, sizes: &[usize], opinions: Opinions, go_on: &mut GoOn<'_>) -> Option<Vec<Polished<SparseVec>>> {
        let coordinates = self.most_coordinates(*sizes.last()?);
        let work = self.f.operator().domain() as f64 * (coordinates as f64).powi(2);
        let a = self.f.operator();
        if !self.f.loss().is_quadratic() || work > GROWTH || !affordable(a, 2 * coordinates) {
            return None;
        }
        let kept = self.kept.clone();
        let mut gram = self.gram(kept.indices())?;
        let mut growth = Growth::new(&gram, &self.atoms, &self.kept, sizes.to_vec(), opinions);
        loop {
            match growth.step(&gram) {
                Ok(more) if more && go_on(growth.models.len()).is_continue() => {}
                Ok(_) => break,
                Err(Missing(atoms)) => gram.bring(&self.coordinates(&atoms)),
            }
        }
        let models = growth.models.iter().zip(sizes).map(|(model, &size)| {
            let set = self.set.with_atoms(size).ok()?;
            let x = self.refitted(model.point.clone());
            let quality = self.quality(&set, &x, &model.slopes, &model.swaps);
            Some(Polished { x, exchanges: growth.exchanged, quality })
        });
        let models = models.collect();
        self.gram = Some(gram);
        models
    }

    fn polished(&mut self, x: Evaluated<SparseVec>, most: usize, go_on: &mut GoOn<'_>) -> Polished<SparseVec> {
        let coordinates = x.point().support_size().max(self.most_coordinates(self.set.atoms()));
        let (a, large) = (self.f.operator(), self.is_large(coordinates));
        let possible = if large { listable(a, coordinates) } else { affordable(a, coordinates) };
        let compared = match (self.f.loss().is_quadratic(), large) {
            _ if !possible || self.is_perfect(&x) => None,
            (true, true) => self.polish_listed(&x, most, go_on),
            (true, false) => self.polish_quadratic(&x, most, go_on),
            (false, true) => Some(self.polish_listed_picture(&x, most, go_on)),
            (false, false) => self.polish_picture(self.set, &x, most, go_on),
        };
        compared.unwrap_or_else(|| {
            let quality = quick_quality(self.f, self.set, &x);
            Polished { x, exchanges: 0, quality }
        })
    }
}

impl<A, L, S> Searchable<A, L> for S
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
    S: CoordinateSet,
{
    fn neighbourhood<'a>(&'a self, f: &'a Objective<A, L>) -> Box<dyn Neighbourhood<SparseVec> + 'a> {
        Box::new(Exact::new(f, self))
    }
}

impl<A, L, S> Neighbourhood<SparseVec> for Exact<'_, A, L, S>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
    S: CoordinateSet,
{
    fn is_small(&self) -> bool {
        let coordinates = self.most_coordinates(self.set.atoms());
        let work = self.f.operator().domain() as f64 * (coordinates as f64).powi(2);
        self.f.loss().is_quadratic() && affordable(self.f.operator(), coordinates) && work <= SMALL
    }

    fn has_dear_columns(&self) -> bool {
        self.multiplications(self.most_coordinates(self.set.atoms())) > DEAR
    }

    fn affords_starts(&self) -> bool {
        self.is_small() || self.is_tried()
    }

    fn expect_starts(&mut self) {
        self.starts_follow = true;
    }

    fn stands_out(&self) -> bool {
        self.clear
    }

    fn is_hard(&self) -> bool {
        let (rows, columns) = (self.f.operator().n_outputs(), self.f.operator().domain());
        let coordinates = self.most_coordinates(self.set.atoms());
        phase_transition_k(rows, columns, Sign::Any).is_ok_and(|most| 2 * coordinates > most)
    }

    fn null(&self) -> Evaluated<SparseVec> {
        let kept = self.set.kept();
        refit_on(self.f, self.f.at(kept.point(&vec![0.0; kept.dimension()])), &kept)
    }

    fn parameters(&self, x: &SparseVec) -> usize {
        x.support_size()
    }

    fn candidates(&self) -> usize {
        self.atoms.len() - self.atoms.empty().len()
    }

    fn polish(&mut self, x: Evaluated<SparseVec>, go_on: &mut GoOn<'_>) -> Polished<SparseVec> {
        self.polished(x, usize::MAX, go_on)
    }

    fn judge(&mut self, x: &Evaluated<SparseVec>) -> Quality {
        self.polished(x.clone(), 0, &mut |_| ControlFlow::Continue(())).quality
    }

    fn certify(&mut self, x: &Evaluated<SparseVec>) -> Option<Certificate> {
        certify(self.f, self.set, x, Certify::default()).ok().flatten()
    }

    fn grow(&mut self, sizes: &[usize], back: bool, go_on: &mut GoOn<'_>) -> Option<Vec<Polished<SparseVec>>> {
        self.grown(sizes, if back { Opinions::OmpAndBack } else { Opinions::Omp }, go_on)
    }

    fn grow_to_k(&mut self, go_on: &mut GoOn<'_>) -> Option<Polished<SparseVec>> {
        let k = self.set.atoms();
        let mut sizes: Vec<usize> = (1..=STAGES).map(|stage| (k * stage).div_ceil(STAGES)).collect();
        sizes.dedup();
        if self.is_tried() {
            return self.grown_picture(&sizes, go_on);
        }
        self.grown(&sizes, Opinions::None, go_on)?.pop()
    }

    fn reach(&self) -> usize {
        let coordinates = self.most_coordinates(self.set.atoms()) as f64;
        let reach = (NEARBY / (self.f.operator().domain() as f64 * coordinates.powi(2))) as usize;
        if self.f.loss().is_quadratic() {
            return reach;
        }
        let entries = self.f.operator().n_outputs() as f64 * self.f.operator().domain() as f64;
        if entries <= PICTURED { reach.min(2) } else { 0 }
    }

    fn lead_nowhere(&mut self, ways: &[Way<'_, Evaluated<SparseVec>>], go_on: &mut GoOn<'_>) -> Vec<bool> {
        self.nowhere_among_known(ways, go_on).unwrap_or_else(|| vec![false; ways.len()])
    }

    fn by_way_of(
        &mut self,
        x: &Evaluated<SparseVec>,
        sizes: &[usize],
        below: f64,
        go_on: &mut GoOn<'_>,
    ) -> Option<Polished<SparseVec>> {
        self.routed(x, sizes, below, go_on)
    }

    fn lasso(&mut self, go_on: &mut GoOn<'_>) -> Option<SparseVec> {
        if !self.f.loss().is_quadratic() {
            return self.along_the_path(go_on).map(|x| x.point().clone());
        }
        let k = self.set.atoms();
        let support = self.lasso_models(&[k], go_on)?.pop()??;
        Some(self.fitted(&support).into_point())
    }

    fn along_the_lasso(
        &mut self,
        sizes: &[usize],
        there: &[Option<&Evaluated<SparseVec>>],
        go_on: &mut GoOn<'_>,
    ) -> Vec<Option<Evaluated<SparseVec>>> {
        let supports = self.lasso_models(sizes, go_on).unwrap_or_default();
        let supports = self.among_known(sizes, there, supports, go_on);
        supports.into_iter().map(|support| support.map(|support| self.fitted(&support))).collect()
    }
}
