//! More atoms than wanted: the support that CoSaMP and its kin optimise over before they prune.

use crate::objective::Evaluated;
use crate::operator::LinearOperator;
use crate::set::Expand;
use crate::space::{IndexSet, Point, SparseVec};

/// The support of x and the `count` atoms that are strongest in g, those of x among them; as many as there are.
pub(super) fn candidates<A, S>(set: &S, x: &Evaluated<SparseVec>, g: &A::Covector, count: usize) -> IndexSet
where
    A: LinearOperator<Point = SparseVec>,
    S: Expand<A::Covector, Point = SparseVec>,
{
    let nothing = SparseVec::zero(x.point().domain()).support();
    let wider = (set.atoms()..=count).rev().find_map(|atoms| set.with_atoms(atoms).ok());
    let strongest = wider.map_or_else(|| set.expand(g, &nothing), |wider| wider.expand(g, &nothing));
    strongest.union(&x.point().support())
}
