//! Matrices of rank at most k.

use super::{ConstraintSet, Exchange, Expand, Structure};
use crate::error::{Error, check_range};
use crate::linalg::{Matrix, Multiply, truncated_svd};
use crate::space::{LowRank, MatrixCovector, Point, Span, TangentSpace};

/// Directions that fill up the rank need not be exact: the steps that follow turn them.
const FILLING: Accuracy = Accuracy { tolerance: 1e-3, rounds: 8 };
/// The paper's search asks for the leading pairs themselves.
const LEADING: Accuracy = Accuracy { tolerance: 1e-12, rounds: 300 };

#[derive(Clone, Copy)]
struct Accuracy {
    tolerance: f64,
    rounds: usize,
}

/// How many new directions line 1 of Algorithm 1 brings in when the rank is already full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RankSearch {
    /// None: a step moves along the tangent space alone, which turns the spaces by itself.
    #[default]
    Tangent,
    /// k, as the paper has it: the leading singular pairs of the gradient outside.
    LeadingPairs,
}

/// {X : rank X ≤ k}.
///
/// ```
/// use katoms::set::{ConstraintSet, Rank};
/// assert_eq!(Rank::new(3, (5, 4))?.atoms(), 3);
/// assert!(Rank::new(5, (5, 4)).is_err());
/// # Ok::<(), katoms::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rank {
    k: usize,
    shape: (usize, usize),
    search: RankSearch,
}

impl Rank {
    /// Matrices of this shape and of rank at most `k`.
    ///
    /// # Errors
    /// When k is 0 or above the smaller side.
    pub fn new(k: usize, shape: (usize, usize)) -> Result<Self, Error> {
        if shape.0 == 0 || shape.1 == 0 {
            return Err(Error::Empty { what: "the matrix" });
        }
        check_range("the rank", k, 1, shape.0.min(shape.1))?;
        Ok(Self { k, shape, search: RankSearch::default() })
    }

    /// The same set with another search space.
    pub fn searching(self, search: RankSearch) -> Self {
        Self { search, ..self }
    }
}

/// (I − UUᵀ)·G·(I − VVᵀ), by its products alone.
struct Outside<'a> {
    g: &'a MatrixCovector,
    u: &'a Span,
}

fn reject(basis: &Matrix, b: &Matrix) -> Matrix {
    b.plus(-1.0, &basis.times(&basis.transposed_times(b)))
}

impl Multiply for Outside<'_> {
    fn shape(&self) -> (usize, usize) {
        self.g.shape()
    }
    fn times(&self, b: &Matrix) -> Matrix {
        reject(self.u.left(), &self.g.times(&reject(self.u.right(), b)))
    }
    fn transposed_times(&self, b: &Matrix) -> Matrix {
        reject(self.u.right(), &self.g.transposed_times(&reject(self.u.left(), b)))
    }
}

impl Rank {
    /// The span of `u` and of the `count` leading singular pairs of the gradient outside of it.
    fn with_leading_pairs(&self, g: &MatrixCovector, u: &Span, count: usize, accuracy: Accuracy) -> Span {
        let taken = u.left().columns().max(u.right().columns());
        let count = count.min(self.shape.0.min(self.shape.1).saturating_sub(taken));
        if count == 0 {
            return u.clone();
        }
        let pairs = truncated_svd(&Outside { g, u }, count, accuracy.tolerance, accuracy.rounds);
        u.extended(&pairs.left, &pairs.right)
    }
}

impl ConstraintSet for Rank {
    type Point = LowRank;

    fn domain(&self) -> (usize, usize) {
        self.shape
    }
    fn atoms(&self) -> usize {
        self.k
    }
    fn with_atoms(&self, k: usize) -> Result<Self, Error> {
        Ok(Self::new(k, self.shape)?.searching(self.search))
    }
    fn structure(&self) -> Structure {
        Structure::RankOne
    }
    /// A small SVD of the core.
    fn project(&self, v: LowRank) -> LowRank {
        v.truncated(self.k)
    }
}

impl Expand<MatrixCovector> for Rank {
    /// The tangent space at the iterate, whose directions lead in U: measured against the tangent
    /// space at all of U, it needs about as many steps of half the cost. The iterate is first filled
    /// up with the leading singular pairs of the gradient outside of it, as many as k leaves free: at
    /// the start all of them, after a stage of growth the new ones.
    fn expand(&self, g: &MatrixCovector, u: &Span) -> TangentSpace {
        match self.search {
            RankSearch::Tangent => {
                let free = self.k.saturating_sub(u.left().columns());
                self.with_leading_pairs(g, u, free, FILLING).tangent(self.k)
            }
            RankSearch::LeadingPairs => self.with_leading_pairs(g, u, self.k, LEADING).tangent(usize::MAX),
        }
    }
}

impl Exchange<MatrixCovector> for Rank {
    /// Without the weakest singular pair: one proposal.
    fn removals(&self, x: &LowRank, _: usize) -> Vec<Span> {
        let kept = if x.rank_bound() < self.k { x.support() } else { x.truncated(self.k - 1).support() };
        vec![kept]
    }
    /// With the gradient's leading pair outside: one proposal, none where no direction is left.
    fn additions(&self, x: &LowRank, g: &MatrixCovector, _: usize) -> Vec<Span> {
        let support = x.support();
        let with = self.with_leading_pairs(g, &support, 1, FILLING);
        let grew = |now: &Matrix, before: &Matrix| now.columns() > before.columns();
        let both = grew(with.left(), support.left()) && grew(with.right(), support.right());
        if both { vec![with] } else { Vec::new() }
    }
}
