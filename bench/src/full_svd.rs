//! The rank constraint as a textbook has it: every projection is a full SVD of the dense matrix. The SVD
//! runs on one thread, as all of faer's do here; `RAYON_NUM_THREADS=1` compares both on one.

use katoms::Error;
use katoms::set::{ConstraintSet, Exchange, Expand, Rank, Structure};
use katoms::space::{LowRank, MatrixCovector, Span, TangentSpace};

/// [`Rank`] with dense projections: what ours is measured against.
#[derive(Debug, Clone)]
pub struct FullSvd(pub Rank);

impl ConstraintSet for FullSvd {
    type Point = LowRank;

    fn domain(&self) -> (usize, usize) {
        self.0.domain()
    }
    fn atoms(&self) -> usize {
        self.0.atoms()
    }
    fn with_atoms(&self, k: usize) -> Result<Self, Error> {
        self.0.with_atoms(k).map(Self)
    }
    fn structure(&self) -> Structure {
        self.0.structure()
    }
    fn project(&self, v: LowRank) -> LowRank {
        let dense = v.left().times(v.core()).times_transposed(v.right());
        let Some((mut left, values, right)) = dense.svd() else { return v };
        let k = self.atoms().min(values.len());
        left.scale_columns(&values);
        LowRank::from_factors(&left.leading_columns(k), &right.leading_columns(k)).unwrap_or(v)
    }
}

impl Expand<MatrixCovector> for FullSvd {
    fn expand(&self, g: &MatrixCovector, u: &Span) -> TangentSpace {
        self.0.expand(g, u)
    }
}

impl Exchange<MatrixCovector> for FullSvd {
    fn removals(&self, x: &LowRank, count: usize) -> Vec<Span> {
        self.0.removals(x, count)
    }
    fn additions(&self, x: &LowRank, g: &MatrixCovector, count: usize) -> Vec<Span> {
        self.0.additions(x, g, count)
    }
}
