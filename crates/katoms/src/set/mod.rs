//! Constraint sets: one per file. A set knows points and covectors, never operators or data.

mod always;
mod any;
mod coordinates;
mod group_ball;
mod groups;
mod k_sparse;
mod l1_ball;
mod nuclear_ball;
mod overlapping_groups;
mod rank;

use std::fmt::Debug;

use crate::error::{Error, check_option};
use crate::space::Point;

pub use always::Always;
pub use any::AnyAtoms;
pub use coordinates::{Atoms, CoordinateSet};
pub use group_ball::GroupBall;
pub use groups::Groups;
pub(crate) use groups::{check_members, group_of_each};
pub use k_sparse::KSparse;
pub use l1_ball::L1Ball;
pub use nuclear_ball::NuclearBall;
pub use overlapping_groups::OverlappingGroups;
pub use rank::{Rank, RankSearch};

/// How good a projection is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Guarantee {
    /// The nearest point of the set.
    Exact,
    /// A point that keeps at least this share of the best possible squared norm.
    Energy(f64),
}

/// What kind of atoms a set counts; defaults of a method depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Structure {
    /// Coordinates, or groups of them.
    Coordinates,
    /// Rank-one matrices.
    RankOne,
}

/// Points made of at most k atoms.
pub trait ConstraintSet: Clone + Debug + Send + Sync + 'static {
    /// The points.
    type Point: Point;
    /// The space the set lives in.
    fn domain(&self) -> <Self::Point as Point>::Domain;
    /// k.
    fn atoms(&self) -> usize;
    /// The same structure with another k.
    ///
    /// # Errors
    /// When k is out of range.
    fn with_atoms(&self, k: usize) -> Result<Self, Error>;
    /// The kind of its atoms.
    fn structure(&self) -> Structure;
    /// Π_k(v): a near point with at most k atoms.
    fn project(&self, v: Self::Point) -> Self::Point;
    /// How good `project` is.
    fn guarantee(&self) -> Guarantee {
        Guarantee::Exact
    }
}

/// Line 1 of Algorithm 1: where a step may move.
pub trait Expand<G>: ConstraintSet {
    /// T = supp Π_k(g restricted to the complement of U) ∪ U.
    fn expand(&self, g: &G, u: &<Self::Point as Point>::Support) -> <Self::Point as Point>::Search;
}

/// One atom out, one atom in: the way to a point's neighbours.
pub trait Exchange<G>: ConstraintSet {
    /// The supports of x without one of its `count` weakest atoms, the weakest first. A point with room
    /// for another atom need not give one up: it gives its own support.
    fn removals(&self, x: &Self::Point, count: usize) -> Vec<<Self::Point as Point>::Support>;
    /// The supports of x with one more atom: each of the `count` strongest in g outside of x, the
    /// strongest first.
    fn additions(&self, x: &Self::Point, g: &G, count: usize) -> Vec<<Self::Point as Point>::Support>;
}

/// A convex set that is known by its vertices: what Frank–Wolfe methods need. It contains zero.
pub trait LinearMinimize<G>: Debug + Send + Sync + 'static {
    /// The points.
    type Point: Point;
    /// The space the set lives in.
    fn domain(&self) -> <Self::Point as Point>::Domain;
    /// The oracle: a vertex at which ⟨g, ·⟩ is least over the set. Ties go to the smaller index.
    fn argmin(&self, g: &G) -> Self::Point;
    /// x as Σ weight·atom, where the weights are not negative and sum to 1, and an atom is a vertex or
    /// zero. A point outside is first brought into the set.
    fn decompose(&self, x: Self::Point) -> Vec<(f64, Self::Point)>;
}

/// The terms of a convex combination, with zero for what their weights leave of 1.
fn filled_with_zero<P: Point>(mut terms: Vec<(f64, P)>, zero: P) -> Vec<(f64, P)> {
    terms.retain(|t| t.0 > f64::EPSILON);
    let total: f64 = terms.iter().map(|t| t.0).sum();
    // A point on the surface has no share of zero, only rounding.
    if total < 1.0 - 1e-14 {
        terms.push((1.0 - total, zero));
    } else {
        terms.iter_mut().for_each(|t| t.0 /= total);
    }
    terms
}

fn check_radius(radius: f64) -> Result<(), Error> {
    check_option("radius", radius, "it must be finite and above 0", |v| v.is_finite() && v > 0.0)
}

/// θ for which Σ wᵢ·max(tᵢ − θ·wᵢ, 0) = radius: the threshold of a projection onto a weighted ball, after
/// Duchi, Shalev-Shwartz, Singer and Chandra (2008). 0 where Σ wᵢ·tᵢ is within it. The tᵢ are not
/// negative. O(n·log n).
fn ball_threshold(t: &[f64], w: impl Fn(usize) -> f64, radius: f64) -> f64 {
    if t.iter().enumerate().map(|(i, t)| w(i) * t).sum::<f64>() <= radius {
        return 0.0;
    }
    let mut order: Vec<usize> = (0..t.len()).collect();
    order.sort_by(|&a, &b| (t[b] / w(b)).total_cmp(&(t[a] / w(a))));
    let (mut above, mut squares, mut theta) = (-radius, 0.0, 0.0);
    for i in order {
        if squares > 0.0 && t[i] <= theta * w(i) {
            break;
        }
        above += w(i) * t[i];
        squares += w(i) * w(i);
        theta = above / squares;
    }
    theta.max(0.0)
}
