//! Matrices of rank k: singular pairs cannot be listed, so a few exchanges are tried.

use super::neighbourhood::{GoOn, Neighbourhood, Polished, Searchable, quick_quality};
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
    fn neighbourhood<'a>(&'a self, f: &'a Objective<A, L>) -> Box<dyn Neighbourhood<LowRank> + 'a> {
        Box::new(Tried { f, set: self })
    }
}

/// None of the exchanges is made: a refit on the new support would move every pair.
struct Tried<'a, A: LinearOperator, L> {
    f: &'a Objective<A, L>,
    set: &'a Rank,
}

impl<A, L> Neighbourhood<LowRank> for Tried<'_, A, L>
where
    A: LinearOperator<Point = LowRank, Covector = MatrixCovector>,
    L: Loss,
{
    fn is_small(&self) -> bool {
        false
    }
    fn is_hard(&self) -> bool {
        true
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
    fn polish(&mut self, x: Evaluated<LowRank>, _: &mut GoOn<'_>) -> Polished<LowRank> {
        let quality = self.judge(&x);
        Polished { x, exchanges: 0, quality }
    }
    fn judge(&mut self, x: &Evaluated<LowRank>) -> Quality {
        quick_quality(self.f, self.set, x)
    }
    fn certify(&mut self, _: &Evaluated<LowRank>) -> Option<Certificate> {
        None
    }
    fn grow(&mut self, _: &[usize], _: bool, _: &mut GoOn<'_>) -> Option<Vec<Polished<LowRank>>> {
        None
    }
    fn grow_to_k(&mut self, _: &mut GoOn<'_>) -> Option<Polished<LowRank>> {
        None
    }
    fn lasso(&mut self, _: &mut GoOn<'_>) -> Option<LowRank> {
        None
    }
}
