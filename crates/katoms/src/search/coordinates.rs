//! Coordinates and groups of them: the search over atoms, and what is said of its answer.

use std::ops::ControlFlow;

use super::Effort;
use super::accept::{Accept, Fitted};
use super::bounds::Bounds;
use super::certificate::{Certify, certify};
use super::explore::{Explore, GoOn, Improved, Searchable, quick_quality};
use super::found::Found;
use super::heredity::Heredity;
use super::local_search::{IMPROVES, ROUNDING};
use super::pricing::Everything;
use super::problem::Problem;
use super::responses::Responses;
use super::squares::{COMPARED, Squares};
use super::swap::{Swap, Swaps};
use super::within::Within;
use super::within::null_model;
use crate::driver::{Certificate, NearTie, Quality, stationarity};
use crate::error::{Error, check_length};
use crate::linalg::top_k;
use crate::loss::Loss;
use crate::objective::{Evaluated, Objective};
use crate::operator::LinearOperator;
use crate::set::{Atoms, CoordinateSet};
use crate::space::{IndexSet, Point, SparseVec};

/// A support beyond this is no matter of small matrices.
const LARGE: usize = 1000;
/// A point this near to the minimum over its atoms, relative to its norm, is that minimum.
const SETTLED: f64 = 1e-9;
/// Two models are nearly tied when their deviances differ by less: the one is at least 1/e as likely.
const NEAR: f64 = 2.0;
const MOST_TIES: usize = 20;

impl<A, L, S> Searchable<A, L> for S
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
    S: CoordinateSet,
{
    fn explore<'a>(&'a self, f: &'a Objective<A, L>) -> Box<dyn Explore<SparseVec> + 'a> {
        Box::new(Coordinates::new(f, self))
    }
}

/// The points of a set whose coefficients have bounds.
///
/// # Errors
/// When the bounds live in another space than the operator, its columns are not to be had one by one, or a model has too
/// many coordinates.
pub(crate) fn explore_within<'a, A, L, S>(
    f: &'a Objective<A, L>,
    set: &'a S,
    bounds: &'a Bounds,
) -> Result<Box<dyn Explore<SparseVec> + 'a>, Error>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
    S: CoordinateSet,
{
    check_length("the list of bounds", bounds.dim(), f.operator().domain(), "one pair for each coordinate")?;
    let explore = Coordinates { bounds: Some(bounds), ..Coordinates::one_by_one(f, set, None) };
    if explore.has_small_models() {
        return Ok(Box::new(explore));
    }
    let needs = "a dense or sparse design, and at most 1000 coordinates in a model: ask for fewer atoms, or leave the \
                 bounds out";
    Err(Error::Unsuitable { method: "a fit within bounds", needs })
}

/// The points of a set whose atoms need others beside them.
///
/// # Errors
/// When there is not one list of parents for each atom, the columns of the operator are not to be had one by one, or a model
/// has too many coordinates.
pub(crate) fn explore_with_heredity<'a, A, L, S>(
    f: &'a Objective<A, L>,
    set: &'a S,
    heredity: &'a Heredity,
) -> Result<Box<dyn Explore<SparseVec> + 'a>, Error>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
    S: CoordinateSet,
{
    let atoms = set.candidates();
    // Coordinates behind those of the set, an intercept among them, are no atoms.
    let count = (0..atoms.len()).rfind(|&atom| !atoms.members(atom).is_empty()).map_or(0, |last| last + 1);
    if heredity.len() < count || heredity.len() > atoms.len() {
        check_length("the lists of parents", heredity.len(), count, "one for each atom")?;
    }
    // Atoms keep their numbers, by which parents are named.
    let explore = Coordinates { heredity: Some(heredity), ..Coordinates::of_atoms(f, set, atoms) };
    if explore.has_small_models() {
        return Ok(Box::new(explore));
    }
    let needs = "a dense or sparse design, and at most 1000 coordinates in a model: ask for fewer atoms";
    Err(Error::Unsuitable { method: "a fit with heredity", needs })
}

/// The points of a set of coordinates.
struct Coordinates<'a, A: LinearOperator, L, S> {
    f: &'a Objective<A, L>,
    set: &'a S,
    atoms: Atoms,
    kept: IndexSet,
    /// Where every atom is one coordinate, atoms are numbered here by their coordinates: the numbers of the set.
    numbers: Option<Vec<usize>>,
    bounds: Option<&'a Bounds>,
    heredity: Option<&'a Heredity>,
    /// Where there are several responses: atoms and what is kept are then columns.
    responses: Option<Responses>,
    /// The quadratic of a quadratic loss over all coordinates: what one search has read is there for the next.
    everything: Option<Everything<'a>>,
}

impl<'a, A, L, S> Coordinates<'a, A, L, S>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
    S: CoordinateSet,
{
    fn new(f: &'a Objective<A, L>, set: &'a S) -> Self {
        let several = f.operator().outputs() > 1;
        Self::one_by_one(f, set, several.then(|| Responses::of(f, &set.candidates(), &set.kept())).flatten())
    }

    /// By coordinates, or by columns where there are responses.
    fn one_by_one(f: &'a Objective<A, L>, set: &'a S, responses: Option<Responses>) -> Self {
        let (given, kept) = match &responses {
            Some(responses) => (responses.atoms(&set.candidates()), responses.kept(&set.kept())),
            None => (set.candidates(), set.kept()),
        };
        let n = kept.dim();
        let plain = given.len() == n && (0..n).all(|atom| given.members(atom).iter().all(|&j| j == atom));
        let (atoms, numbers) = if given.widest() <= 1 && !given.shared() && !plain {
            let (mut members, mut of) = (vec![Vec::new(); n], vec![usize::MAX; n]);
            for atom in 0..given.len() {
                for &j in given.members(atom) {
                    members[j].push(j);
                    of[j] = atom;
                }
            }
            (Atoms::groups(&members, false), Some(of))
        } else {
            (given, None)
        };
        Self { numbers, kept, responses, ..Self::of_atoms(f, set, atoms) }
    }

    /// By these atoms.
    fn of_atoms(f: &'a Objective<A, L>, set: &'a S, atoms: Atoms) -> Self {
        let kept = set.kept();
        Self { f, set, atoms, kept, numbers: None, bounds: None, heredity: None, responses: None, everything: None }
    }

    /// Whether the largest models are a matter of small matrices.
    fn has_small_models(&self) -> bool {
        let sizes: Vec<f64> = (0..self.atoms.len()).map(|atom| self.atoms.members(atom).len() as f64).collect();
        let largest: f64 = top_k(&sizes, self.set.atoms().min(sizes.len())).into_iter().map(|atom| sizes[atom]).sum();
        self.f.operator().has_cheap_columns() && self.kept.indices().len() + largest as usize <= LARGE
    }

    /// Whether a quadratic loss can be searched as it is.
    fn is_free(&self) -> bool {
        self.bounds.is_none() && self.heredity.is_none()
    }

    /// The atoms of x by their numbers here, rising.
    fn chosen(&self, set: &S, x: &SparseVec) -> Vec<usize> {
        let chosen = set.chosen(x);
        if self.numbers.is_none() {
            return chosen;
        }
        let atoms = set.candidates();
        let mut coordinates: Vec<usize> = chosen.iter().flat_map(|&atom| atoms.members(atom).iter().copied()).collect();
        if let Some(responses) = &self.responses {
            return responses.columns_of(&coordinates);
        }
        coordinates.sort_unstable();
        coordinates
    }

    /// The number in the set of an atom here.
    fn number(&self, atom: usize) -> usize {
        self.numbers.as_ref().map_or(atom, |numbers| numbers[atom])
    }

    /// Whether models of k atoms can be searched for.
    fn is_searchable(&self, k: usize) -> bool {
        let coordinates = self.atoms.widest().max(1).saturating_mul(k) + self.kept.indices().len();
        self.f.operator().has_cheap_columns() && coordinates <= LARGE
    }

    /// f(0), above its lower bound.
    fn zero_gap(&self) -> f64 {
        self.f.value(&self.f.at(SparseVec::zero(self.f.operator().domain()))) - self.f.lower_bound()
    }

    fn is_perfect(&self, x: &Evaluated<SparseVec>) -> bool {
        let here = self.f.value(x) - self.f.lower_bound();
        here.is_finite() && here <= self.f.perfect() * self.zero_gap().max(here)
    }

    /// The minimum over the support of a point.
    fn refitted(&self, point: SparseVec) -> Evaluated<SparseVec> {
        let support = point.support();
        Problem::refit(self.f, self.f.at(point), &support)
    }

    /// The better one of x and of what a search on a quadratic has found.
    fn squares(&mut self, set: &S, x: Evaluated<SparseVec>, asked: Asked<'_, '_>) -> Option<Improved<SparseVec>> {
        let (k, chosen) = (set.atoms(), self.chosen(set, x.point()));
        let squares = Squares::new(self.f, &self.atoms, &self.kept, self.everything.take());
        let mut squares = squares.of_responses(self.responses.as_ref());
        let found = match (squares.multiplications(k) <= COMPARED, asked.effort) {
            (true, Effort::Quick) => squares.judge(&chosen),
            (true, effort) => squares.best(k, &chosen, effort, asked.go_on),
            (false, effort) => squares.best_by_residuals(k, &chosen, &x, effort != Effort::Quick, asked.go_on),
        };
        self.everything = squares.everything;
        let found = found?;
        let next = self.refitted(found.point.clone());
        let (here, there) = (self.f.value(&x), self.f.value(&next));
        let moved = asked.effort != Effort::Quick && here - there > IMPROVES * (here - self.f.lower_bound());
        if moved {
            let exchanges = found.chosen.iter().filter(|atom| !chosen.contains(atom)).count();
            let quality = self.quality(set, &next, &found.slopes, found.swaps, found.proven);
            return Some(Improved { x: next, exchanges: exchanges.max(1), quality });
        }
        // Groups that overlap may be covered by others than those that x was made of: then it is about another point.
        (found.chosen == chosen).then(|| {
            let settled = x.point().distance(next.point()) <= SETTLED * x.point().norm();
            let slopes = if settled { found.slopes } else { negative(&Problem::gradient(self.f, &x)) };
            let quality = self.quality(set, &x, &slopes, found.swaps.above(here - there), found.proven);
            Improved { x, exchanges: 0, quality }
        })
    }

    /// The same for other losses, and within bounds.
    fn others(&self, set: &S, x: Evaluated<SparseVec>, asked: Asked<'_, '_>) -> Option<Improved<SparseVec>> {
        let (k, chosen) = (set.atoms(), self.chosen(set, x.point()));
        let accept = Accept::new(self.f, &self.atoms, &self.kept, self.bounds)?.with_heredity(self.heredity);
        let rivals = match (self.bounds, asked.effort) {
            (None, _) | (_, Effort::Quick) => Vec::new(),
            // Where bounds do not bind, the answer without them is the answer.
            (Some(_), effort) => {
                let free = self.refitted(x.point().clone());
                let free = Self::new(self.f, self.set).improve(free, k, effort, asked.go_on);
                vec![self.chosen(set, free.x.point())]
            }
        };
        let start = Fitted { chosen: chosen.clone(), value: self.f.value(&x), x };
        let found = match asked.effort {
            Effort::Quick => accept.judge(k, start),
            effort => accept.best(k, start, rivals, effort, asked.go_on),
        }?;
        let exchanges = found.best.chosen.iter().filter(|atom| !chosen.contains(atom)).count();
        let quality = self.quality(set, &found.best.x, &found.slopes, found.swaps, None);
        Some(Improved { x: found.best.x, exchanges, quality })
    }

    /// The statement about x, whose exchanges were compared.
    fn quality(&self, set: &S, x: &Evaluated<SparseVec>, slopes: &[f64], swaps: Swaps, proven: Option<f64>) -> Quality {
        let here = self.f.value(x);
        let best = swaps.best.first().map_or(0.0, |swap| swap.gain);
        let gains = best > (IMPROVES * (here - self.f.lower_bound())).max(ROUNDING * self.zero_gap());
        let gradient = slopes.iter().map(|slope| -slope).collect();
        // What is left of the slopes at a perfect fit is rounding.
        let perfect = self.is_perfect(x);
        let stationarity = match self.bounds {
            _ if perfect => 0.0,
            Some(bounds) => Within::new(self.f, bounds, &x.point().support()).residual(x),
            // A step from the point would leave the models that heredity allows.
            None if self.heredity.is_some() => {
                Within::new(self.f, &Bounds::none(x.point().dim()), &x.point().support()).residual(x)
            }
            None => stationarity(self.f, set, x, &gradient),
        };
        let deviance = |value: f64| self.f.loss().deviance(value);
        let tie = |swap: &Swap| NearTie {
            inside: self.number(swap.out),
            outside: self.number(swap.into),
            rise: (-swap.gain).max(0.0),
        };
        let loss = self.f.loss().value(x.image());
        let near = |tie: &NearTie| deviance(loss + tie.rise) - deviance(loss) < NEAR;
        Quality {
            exchange_gain: if gains { best } else { 0.0 },
            exchanges_compared: swaps.compared,
            exhaustive: swaps.exhaustive,
            perfect,
            near_ties: swaps.best.iter().map(tie).filter(near).take(MOST_TIES).collect(),
            proven: proven.filter(|_| !gains),
            ..Quality::stationary(stationarity)
        }
    }

    fn searched(&mut self, x: Evaluated<SparseVec>, k: usize, mut asked: Asked<'_, '_>) -> Improved<SparseVec> {
        let set = self.set.with_atoms(k).unwrap_or_else(|_| self.set.clone());
        if asked.effort != Effort::Quick && (asked.go_on)(0).is_break() {
            asked.effort = Effort::Quick;
        }
        // Within bounds that was asked before.
        let searchable = !self.is_free() || self.is_searchable(x.point().support_size().max(k));
        let possible = searchable && !self.is_perfect(&x);
        let found = match (possible, self.f.loss().is_quadratic() && self.is_free()) {
            (false, _) => None,
            (true, true) => self.squares(&set, x.clone(), asked),
            (true, false) => self.others(&set, x.clone(), asked),
        };
        found.unwrap_or_else(|| {
            let quality = match self.is_free() {
                true => quick_quality(self.f, &set, &x),
                false => self.quality(&set, &x, &[], Swaps { best: Vec::new(), compared: 0, exhaustive: false }, None),
            };
            Improved { x, exchanges: 0, quality }
        })
    }
}

/// How a search is asked for.
struct Asked<'g, 'h> {
    effort: Effort,
    go_on: &'g mut GoOn<'h>,
}

fn negative(values: &[f64]) -> Vec<f64> {
    values.iter().map(|v| -v).collect()
}

impl<A, L, S> Explore<SparseVec> for Coordinates<'_, A, L, S>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
    S: CoordinateSet,
{
    fn improve(
        &mut self,
        x: Evaluated<SparseVec>,
        k: usize,
        effort: Effort,
        go_on: &mut GoOn<'_>,
    ) -> Improved<SparseVec> {
        self.searched(x, k, Asked { effort, go_on })
    }
    fn judge(&mut self, x: &Evaluated<SparseVec>, k: usize) -> Quality {
        let asked = Asked { effort: Effort::Quick, go_on: &mut |_| ControlFlow::Continue(()) };
        self.searched(x.clone(), k, asked).quality
    }
    fn certify(&mut self, x: &Evaluated<SparseVec>) -> Option<Certificate> {
        if !self.is_free() {
            return None;
        }
        certify(self.f, self.set, x, Certify::default()).ok().flatten()
    }
    fn null(&self) -> Evaluated<SparseVec> {
        null_model(self.f, &self.set.kept(), self.bounds)
    }
    fn parameters(&self, x: &SparseVec) -> usize {
        // What a bound holds at 0 was not fitted.
        let fitted = |&(j, v): &(usize, f64)| self.bounds.is_none() || v != 0.0 || self.kept.contains(j);
        x.entries().filter(fitted).count()
    }
    fn candidates(&self) -> usize {
        self.atoms.len() - self.atoms.empty().len()
    }
    fn sizes(&mut self, sizes: &[usize], go_on: &mut GoOn<'_>) -> Option<Vec<Improved<SparseVec>>> {
        if !self.is_free() || !self.f.loss().is_quadratic() || !self.is_searchable(*sizes.last()?) {
            return None;
        }
        let mut squares = Squares::new(self.f, &self.atoms, &self.kept, None).of_responses(self.responses.as_ref());
        let found = squares.sizes(sizes, go_on)?;
        let improved = |(found, &size): (Found, &usize)| {
            let set = self.set.with_atoms(size).ok()?;
            let x = self.refitted(found.point);
            let quality = self.quality(&set, &x, &found.slopes, found.swaps, None);
            Some(Improved { x, exchanges: 0, quality })
        };
        found.into_iter().zip(sizes).map(improved).collect()
    }
    fn is_small(&self, k: usize) -> bool {
        Squares::new(self.f, &self.atoms, &self.kept, None).is_small(k, Effort::Default)
    }
}
