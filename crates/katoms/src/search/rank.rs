//! Matrices of rank k: singular pairs cannot be listed, so a few exchanges are tried, and none is made: a refit on the new
//! support would move every pair.

use super::Effort;
use super::explore::{Explore, GoOn, Improved, Searchable, quick_quality};
use crate::driver::{Certificate, Quality};
use crate::loss::Loss;
use crate::objective::{Evaluated, Objective};
use crate::operator::LinearOperator;
use crate::set::{ConstraintSet, Rank};
use crate::space::{LowRank, MatrixCovector, Point};

impl<A, L> Searchable<A, L> for Rank
where
    A: LinearOperator<Point = LowRank, Covector = MatrixCovector>,
    L: Loss,
{
    fn explore<'a>(&'a self, f: &'a Objective<A, L>) -> Box<dyn Explore<LowRank> + 'a> {
        Box::new(Matrices { f, set: self })
    }
}

struct Matrices<'a, A: LinearOperator, L> {
    f: &'a Objective<A, L>,
    set: &'a Rank,
}

impl<A, L> Explore<LowRank> for Matrices<'_, A, L>
where
    A: LinearOperator<Point = LowRank, Covector = MatrixCovector>,
    L: Loss,
{
    fn improve(&mut self, x: Evaluated<LowRank>, k: usize, _: Effort, _: &mut GoOn<'_>) -> Improved<LowRank> {
        let quality = self.judge(&x, k);
        Improved { x, exchanges: 0, quality }
    }
    fn judge(&mut self, x: &Evaluated<LowRank>, k: usize) -> Quality {
        let set = self.set.with_atoms(k);
        quick_quality(self.f, set.as_ref().unwrap_or(self.set), x)
    }
    fn certify(&mut self, _: &Evaluated<LowRank>) -> Option<Certificate> {
        None
    }
    fn null(&self) -> Evaluated<LowRank> {
        self.f.at(LowRank::zero(self.set.domain()))
    }
    /// r·(p + q − r) for a p × q matrix of rank r.
    fn parameters(&self, x: &LowRank) -> usize {
        let ((p, q), r) = (x.domain(), x.rank_bound());
        r * (p + q).saturating_sub(r)
    }
    fn candidates(&self) -> usize {
        let (p, q) = self.set.domain();
        p.min(q)
    }
    fn sizes(&mut self, _: &[usize], _: &mut GoOn<'_>) -> Option<Vec<Improved<LowRank>>> {
        None
    }
    fn is_small(&self, _: usize) -> bool {
        false
    }
}
