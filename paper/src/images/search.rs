//! Matrices of rank k with the search of the paper's Algorithm 1.

use katoms::Error;
use katoms::linalg::{Matrix, Multiply, truncated_svd};
use katoms::set::{ConstraintSet, Exchange, Expand, Rank, Structure};
use katoms::space::{LowRank, MatrixCovector, Span, TangentSpace};

/// {X : rank X ≤ k}. A step moves along the tangent space at the extrapolated point and the k leading singular pairs of
/// the gradient outside of it, as line 1 of Algorithm 1 has it. The pairs are found by so many rounds of randomised
/// subspace iteration; [`RankSearch::LeadingPairs`](katoms::set::RankSearch) finds them to rounding, which costs many
/// times as much and brings nothing: measured, less exact pairs lead down faster.
#[derive(Debug, Clone)]
pub struct PaperRank {
    rank: Rank,
    rounds: usize,
}

impl PaperRank {
    /// The same matrices, searched as in the paper.
    pub fn new(rank: Rank, rounds: usize) -> Self {
        Self { rank, rounds }
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

impl ConstraintSet for PaperRank {
    type Point = LowRank;

    fn domain(&self) -> (usize, usize) {
        self.rank.domain()
    }
    fn atoms(&self) -> usize {
        self.rank.atoms()
    }
    fn with_atoms(&self, k: usize) -> Result<Self, Error> {
        Ok(Self { rank: self.rank.with_atoms(k)?, ..self.clone() })
    }
    fn structure(&self) -> Structure {
        self.rank.structure()
    }
    fn project(&self, v: LowRank) -> LowRank {
        self.rank.project(v)
    }
}

impl Expand<MatrixCovector> for PaperRank {
    fn expand(&self, g: &MatrixCovector, u: &Span) -> TangentSpace {
        let (rows, columns) = self.domain();
        let taken = u.left().columns().max(u.right().columns());
        let count = self.atoms().min(rows.min(columns).saturating_sub(taken));
        if count == 0 {
            return u.tangent(usize::MAX);
        }
        let pairs = truncated_svd(&Outside { g, u }, count, 0.0, self.rounds);
        u.extended(&pairs.left, &pairs.right).tangent(usize::MAX)
    }
}

impl Exchange<MatrixCovector> for PaperRank {
    fn removals(&self, x: &LowRank, count: usize) -> Vec<Span> {
        Exchange::<MatrixCovector>::removals(&self.rank, x, count)
    }
    fn additions(&self, x: &LowRank, g: &MatrixCovector, count: usize) -> Vec<Span> {
        self.rank.additions(x, g, count)
    }
}

#[cfg(test)]
mod tests {
    use katoms::operator::{Entries, LinearOperator};
    use katoms::set::RankSearch;
    use katoms::simulate;
    use katoms::space::{Covector, Point};

    use super::*;

    /// With many rounds the pairs are exact, and so is the search.
    #[test]
    fn many_rounds_are_the_exact_search() {
        let shape = (14, 11);
        let (rows, columns) = simulate::observed_places(shape.0, shape.1, 0.6, 3);
        let seen = Entries::new(shape, &rows, &columns).unwrap();
        let residual = simulate::normals(rows.len(), &mut simulate::generator(3, 0));
        let mut g = seen.new_covector();
        seen.adjoint(&residual, &mut g);
        let (left, right) = simulate::low_rank_factors(shape.0, shape.1, 2, 1);
        let u = LowRank::from_factors(&left, &right).unwrap().support();
        let rank = Rank::new(2, shape).unwrap();
        let exact = g.on(&rank.clone().searching(RankSearch::LeadingPairs).expand(&g, &u));
        let ours = g.on(&PaperRank::new(rank.clone(), 400).expand(&g, &u));
        assert!(ours.distance(&exact) < 1e-6 * exact.norm(), "{} {}", ours.distance(&exact), exact.norm());
        // What is found lies outside of the tangent space at U.
        let inside = g.on(&rank.expand(&g, &u));
        assert!(ours.norm() > 1.05 * inside.norm());
        // A full space has no outside.
        let (left, right) = simulate::low_rank_factors(shape.0, shape.1, 11, 1);
        let full = LowRank::from_factors(&left, &right).unwrap().support();
        let all = g.on(&PaperRank::new(rank, 2).expand(&g, &full));
        assert!((all.norm() - katoms::linalg::norm(&residual)).abs() < 1e-10 * all.norm());
    }
}
