//! How good a point is: stationary? improvable by one exchange?

use crate::loss::Loss;
use crate::method::refit_on;
use crate::objective::{Evaluated, Objective};
use crate::operator::{LinearOperator, SupportOf};
use crate::set::{Exchange, Expand};
use crate::space::{Covector, Point};

/// A step counts as taken when f falls by this share of ‖x⁺ − x‖²/(2μ).
const SUFFICIENT: f64 = 0.01;
/// Differences of f below this share are rounding.
const ROUNDING: f64 = 1e-14;
const HALVINGS: usize = 40;
/// Weak atoms inside × strong atoms outside that are tried, and the same for large supports.
const TRIED: usize = 3;
const TRIED_LARGE: usize = 1;
const LARGE: usize = 1000;
/// An exchange improves when it lowers f by more than this share.
const IMPROVES: f64 = 1e-9;

/// A statement about a point.
#[derive(Debug, Clone, PartialEq)]
pub struct Quality {
    /// How far the longest descending IHT step from the point moves, relative to its norm.
    /// 0 at a fixed point, which every optimal point is. Within bounds: how far the steps along single coordinates of
    /// the model that the bounds leave would move the predictions, relative to √(2f(0)).
    pub stationarity: f64,
    /// How much the best of the compared exchanges of one atom lowers f; 0 when none does.
    pub exchange_gain: f64,
    /// The number of exchanges that were compared.
    pub exchanges_compared: usize,
    /// Whether these are all that there are. If not, they are the most promising ones, and what was not
    /// compared may still improve the fit.
    pub exhaustive: bool,
    /// Exchanges that would leave the fit nearly as likely, the nearest first: atoms that the data
    /// hardly prefer to another.
    pub near_ties: Vec<NearTie>,
    /// Whether the fit is perfect up to rounding, so that no exchange could improve it.
    pub perfect: bool,
    /// The number of all models of so many atoms, where all were looked at, or ruled out by a bound: none is better.
    pub proven: Option<f64>,
    /// How far f is at most from the best possible, where that can be proven.
    pub certificate: Option<Certificate>,
}

/// An atom of the answer and one that could stand in its place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NearTie {
    /// The number of the atom inside: a coordinate, or a group.
    pub inside: usize,
    /// The number of its substitute.
    pub outside: usize,
    /// How much f rises by the exchange; 0 where it falls.
    pub rise: f64,
}

/// What no point of the set can beat.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Certificate {
    /// A number that f does not go below on the set.
    pub lower_bound: f64,
    /// (f(x) − lower bound)/f(x): no point of the set is better than x by more than this share. 0 proves
    /// that x is the best; below 0, x is not in the set.
    pub gap: f64,
    /// The passes over the data that were made.
    pub passes: usize,
}

impl Quality {
    /// Whether exchanging one atom (of those compared) for another improves the fit.
    pub fn improvable(&self) -> bool {
        self.exchange_gain > 0.0
    }

    /// What is known about a point of this stationarity before any exchange was looked at.
    pub(crate) fn stationary(stationarity: f64) -> Self {
        Self {
            stationarity,
            exchange_gain: 0.0,
            exchanges_compared: 0,
            exhaustive: false,
            near_ties: Vec::new(),
            perfect: false,
            proven: None,
            certificate: None,
        }
    }

    /// What is known without a pass: nothing is left to gain where the fit is perfect, and what a gradient says there is
    /// rounding.
    pub(crate) fn without_a_pass<A: LinearOperator, L: Loss>(
        f: &Objective<A, L>,
        x: &Evaluated<A::Point>,
    ) -> Option<Self> {
        let here = f.value(x);
        let most = f.value(&f.at(A::Point::zero(x.point().domain()))).max(here) - f.lower_bound();
        (most.is_finite() && here - f.lower_bound() <= f.perfect() * most)
            .then(|| Self { perfect: true, ..Self::stationary(0.0) })
    }

    /// The quality of x, where g = ∇f(x), from the most promising exchanges alone: a pass. It serves every structure.
    pub(crate) fn of<A, L, S>(f: &Objective<A, L>, set: &S, x: &Evaluated<A::Point>, g: &A::Covector) -> Self
    where
        A: LinearOperator,
        L: Loss,
        S: Expand<A::Covector, Point = A::Point> + Exchange<A::Covector>,
    {
        if let Some(quality) = Self::without_a_pass(f, x) {
            return quality;
        }
        let here = f.value(x);
        let neighbours = neighbours(f, set, x);
        let exchanges_compared = neighbours.len();
        let best = neighbours.into_iter().fold(here, f64::min);
        let gain = here - best;
        let exchange_gain = if gain > IMPROVES * (here - f.lower_bound()) { gain } else { 0.0 };
        Self { exchange_gain, exchanges_compared, ..Self::stationary(stationarity(f, set, x, g)) }
    }
}

/// f after the most promising exchanges of one atom: each of the weakest atoms is taken out, what is
/// left is refitted, and the strongest atoms of the gradients *there* are tried in its place. A
/// substitute for an atom shows only when the atom is gone. One pass for all these gradients.
fn neighbours<A, L, S>(f: &Objective<A, L>, set: &S, x: &Evaluated<A::Point>) -> Vec<f64>
where
    A: LinearOperator,
    L: Loss,
    S: Exchange<A::Covector, Point = A::Point>,
{
    let count = if x.point().support_size() > LARGE { TRIED_LARGE } else { TRIED };
    let refitted = |t: &SupportOf<A>, start: &A::Point| refit_on(f, f.at(start.on(t)), t);
    let without: Vec<_> = set.removals(x.point(), count).iter().map(|t| refitted(t, x.point())).collect();
    let gradients = f.gradients(&without);
    let support = x.point().support();
    let mut values = Vec::new();
    for (less, g) in without.iter().zip(&gradients) {
        // One more than wanted: the atom that was taken out is usually the strongest.
        let others = set.additions(less.point(), g, count + 1).into_iter().filter(|t| *t != support);
        values.extend(others.take(count).map(|t| f.value(&refitted(&t, less.point()))));
    }
    values
}

/// ‖x − Π_k(x − μ∇_T f(x))‖ / ‖x‖ at the first μ of the line search's step and its halves that
/// lowers f enough. For steps below 1/β every move does, so the search ends; at a point where no
/// such step moves, the residual is 0: that is the L-stationarity of Beck and Eldar. NaN where no step
/// could be judged.
pub fn stationarity<A, L, S>(f: &Objective<A, L>, set: &S, x: &Evaluated<A::Point>, g: &A::Covector) -> f64
where
    A: LinearOperator,
    L: Loss,
    S: Expand<A::Covector, Point = A::Point>,
{
    let t = set.expand(g, &x.point().support());
    let g_t = f.at(g.on(&t));
    if g_t.point().norm() == 0.0 {
        return 0.0;
    }
    let mut mu = crate::method::line_search(f, x, &g_t);
    let here = f.value(x);
    let rounding = ROUNDING * (here - f.lower_bound());
    for _ in 0..HALVINGS {
        let next = f.at(set.project(A::Point::combine(1.0, x.point(), -mu, g_t.point())));
        let moved = next.point().distance(x.point());
        if moved == 0.0 && mu > 0.0 {
            return 0.0;
        }
        if here - f.value(&next) >= SUFFICIENT * moved * moved / (2.0 * mu) - rounding {
            return moved / x.point().norm().max(next.point().norm());
        }
        mu *= 0.5;
    }
    f64::NAN
}
