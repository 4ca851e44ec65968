//! What a search asks of a structure: better points near a point, and how good a point is.

use std::ops::ControlFlow;

use super::ladder::Way;
use crate::driver::{Certificate, Event, Quality};
use crate::loss::Loss;
use crate::objective::{Evaluated, Objective};
use crate::operator::LinearOperator;
use crate::set::{Exchange, Expand};
use crate::space::Point;

/// A point that exchanges have improved as far as they could.
#[derive(Debug, Clone)]
pub struct Polished<P> {
    /// The point and its image.
    pub x: Evaluated<P>,
    /// Exchanges that lowered f.
    pub exchanges: usize,
    /// How good the point is.
    pub quality: Quality,
}

/// Asked after each step of long work, with what is done so far.
pub type GoOn<'a> = dyn FnMut(usize) -> ControlFlow<()> + 'a;
/// Hears of every move and may stop the work. One type for all: a search is compiled once, whoever observes it.
pub(super) type Observer<'a, P> = dyn FnMut(&Event, &P) -> ControlFlow<()> + 'a;

/// Where a search looks for better points.
pub trait Neighbourhood<P: Point> {
    /// Exchanges atoms while that lowers f, and says how good the end is. `go_on` hears the number of exchanges
    /// before each; when it breaks, none follows.
    fn polish(&mut self, x: Evaluated<P>, go_on: &mut GoOn<'_>) -> Polished<P>;
    /// Whether the problem is so small that other starts take milliseconds.
    fn is_small(&self) -> bool;
    /// Whether it is small, but for the columns that models of other atoms would need.
    fn has_dear_columns(&self) -> bool {
        false
    }
    /// Whether starts after the first are a small matter, though perhaps not of milliseconds.
    fn affords_starts(&self) -> bool {
        self.is_small()
    }
    /// Says that other starts follow: one that is stuck need not be left for another.
    fn expect_starts(&mut self) {}
    /// Whether the problem is hard, as far as its shape tells.
    fn is_hard(&self) -> bool;
    /// Whether the model that was polished last stands out so clearly that other starts would lead nowhere else.
    fn stands_out(&self) -> bool {
        false
    }
    /// The model without atoms: the minimum of f over what is always in.
    fn null(&self) -> Evaluated<P>;
    /// The fitted numbers of a point.
    fn parameters(&self, x: &P) -> usize;
    /// The number of atoms to choose from.
    fn candidates(&self) -> usize;
    /// How good a point is.
    fn judge(&mut self, x: &Evaluated<P>) -> Quality;
    /// How far f(x) is at most from the best, where that can be proven. Costs a few passes.
    fn certify(&mut self, x: &Evaluated<P>) -> Option<Certificate>;
    /// Models of these rising sizes, grown from nothing and polished; `None` where that cannot be had. With the way
    /// `back`, smaller ones from larger ones too: for those to whom the Lasso does not tell of others.
    /// `go_on` hears the number of models after each step; when it breaks, those that are there remain.
    fn grow(&mut self, sizes: &[usize], back: bool, go_on: &mut GoOn<'_>) -> Option<Vec<Polished<P>>>;
    /// The model of k atoms, grown in a few stages and polished in each; `None` where that cannot be had.
    /// When `go_on` breaks, what has grown so far.
    fn grow_to_k(&mut self, go_on: &mut GoOn<'_>) -> Option<Polished<P>>;
    /// How many sizes above and below k can be looked at for little; none where models have no other size.
    fn reach(&self) -> usize {
        0
    }
    /// For each of these rising sizes the best point along the path of the Lasso, which only the largest need follow to
    /// its end; nothing where there is no such path. Where it can be had for little, what these points and those that
    /// are `there` make of each other takes their place.
    fn along_the_lasso(
        &mut self,
        _sizes: &[usize],
        _there: &[Option<&Evaluated<P>>],
        _go_on: &mut GoOn<'_>,
    ) -> Vec<Option<Evaluated<P>>> {
        Vec::new()
    }
    /// From x through these numbers of atoms, one after the other: the atoms that matter least leave, those that bring
    /// most come in, and exchanges polish each size. `None` where that cannot be had, or where its end is not below
    /// `below`. When `go_on` breaks, no exchange follows.
    fn by_way_of(
        &mut self,
        _x: &Evaluated<P>,
        _sizes: &[usize],
        _below: f64,
        _go_on: &mut GoOn<'_>,
    ) -> Option<Polished<P>> {
        None
    }
    /// Whether each of some ways is known to lead nowhere, where that can be found out side by side for little.
    fn lead_nowhere(&mut self, ways: &[Way<'_, Evaluated<P>>], _go_on: &mut GoOn<'_>) -> Vec<bool> {
        vec![false; ways.len()]
    }
    /// The best point with k atoms along the path of the Lasso; `None` where there is none. When `go_on` breaks, the
    /// best so far.
    fn lasso(&mut self, go_on: &mut GoOn<'_>) -> Option<P>;
}

/// Sets that can be searched.
pub trait Searchable<A: LinearOperator, L>: Expand<A::Covector, Point = A::Point> + Exchange<A::Covector> {
    /// The neighbourhood of this set's points under f.
    fn neighbourhood<'a>(&'a self, f: &'a Objective<A, L>) -> Box<dyn Neighbourhood<A::Point> + 'a>;
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
