//! What a search asks of a structure: better points than a point, and how good a point is.

use std::ops::ControlFlow;

use super::Effort;
use crate::driver::{Certificate, Event, Quality};
use crate::loss::Loss;
use crate::objective::{Evaluated, Objective};
use crate::operator::LinearOperator;
use crate::set::{Exchange, Expand};
use crate::space::Point;

/// The best point that a search has found.
#[derive(Debug, Clone)]
pub struct Improved<P> {
    /// The point and its image.
    pub x: Evaluated<P>,
    /// Its atoms that the point before it did not have.
    pub exchanges: usize,
    /// How good the point is.
    pub quality: Quality,
}

/// Asked after each step of long work, with what is done so far.
pub type GoOn<'a> = dyn FnMut(usize) -> ControlFlow<()> + 'a;
/// Hears of every move and may stop the work. One type for all: a search is compiled once, whoever observes it.
pub(crate) type Observer<'a, P> = dyn FnMut(&Event, &P) -> ControlFlow<()> + 'a;

/// The points of a structure around which a search looks for better ones.
pub trait Explore<P: Point> {
    /// The best point with k atoms that a search from x finds. When `go_on` breaks, the best so far.
    fn improve(&mut self, x: Evaluated<P>, k: usize, effort: Effort, go_on: &mut GoOn<'_>) -> Improved<P>;
    /// How good a point is among those with k atoms.
    fn judge(&mut self, x: &Evaluated<P>, k: usize) -> Quality;
    /// How far f(x) is at most from the best, where that can be proven. Costs a few passes.
    fn certify(&mut self, x: &Evaluated<P>) -> Option<Certificate>;
    /// The model without atoms: the minimum of f over what is always in.
    fn null(&self) -> Evaluated<P>;
    /// The fitted numbers of a point.
    fn parameters(&self, x: &P) -> usize;
    /// The number of atoms to choose from.
    fn candidates(&self) -> usize;
    /// Models of these rising sizes, each improved by its neighbours, from passes that all sizes share; `None` where that
    /// cannot be had. When `go_on` breaks, those that are there.
    fn sizes(&mut self, sizes: &[usize], go_on: &mut GoOn<'_>) -> Option<Vec<Improved<P>>>;
    /// Whether a fit of k atoms is so small a matter that a path makes one for each size.
    fn is_small(&self, k: usize) -> bool;
}

/// Sets that can be searched.
pub trait Searchable<A: LinearOperator, L: Loss>:
    Expand<A::Covector, Point = A::Point> + Exchange<A::Covector>
{
    /// The points of this set under f.
    fn explore<'a>(&'a self, f: &'a Objective<A, L>) -> Box<dyn Explore<A::Point> + 'a>;
}

/// The quality as far as a gradient and a few exchanges tell it: two passes, none where the fit is perfect.
pub(super) fn quick_quality<A, L, S>(f: &Objective<A, L>, set: &S, x: &Evaluated<A::Point>) -> Quality
where
    A: LinearOperator,
    L: Loss,
    S: Expand<A::Covector, Point = A::Point> + Exchange<A::Covector>,
{
    Quality::without_a_pass(f, x).unwrap_or_else(|| {
        let mut g = f.operator().new_covector();
        f.gradient(x, &mut g);
        Quality::of(f, set, x, &g)
    })
}
