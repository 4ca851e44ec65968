//! Constraint sets: one per file. A set knows points and covectors, never operators or data.

mod always;
mod coordinates;
mod groups;
mod k_sparse;
mod overlapping_groups;
mod rank;

use std::fmt::Debug;

use crate::error::Error;
use crate::space::Point;

pub use always::Always;
pub use coordinates::{Atoms, CoordinateSet};
pub use groups::Groups;
pub(crate) use groups::{check_members, group_of_each};
pub use k_sparse::KSparse;
pub use overlapping_groups::OverlappingGroups;
pub use rank::{Rank, RankSearch};

/// How good a projection is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Guarantee {
    /// The nearest point of the set.
    Exact,
    /// A point that keeps at least this share of the best possible energy.
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
pub trait ConstraintSet: Clone + Debug + Send + Sync {
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
