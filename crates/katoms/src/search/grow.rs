//! A model within bounds that grows atom by atom: orthogonal matching pursuit that looks at slopes which the bounds leave.

use serde::{Deserialize, Serialize};

use super::bounds::Bounds;
use super::problem::Problem;
use super::within::{Within, lasting};
use crate::error::Error;
use crate::loss::Loss;
use crate::method::{Method, Move, Progress};
use crate::objective::{Evaluated, Objective};
use crate::operator::LinearOperator;
use crate::set::CoordinateSet;
use crate::space::{IndexSet, Point, SparseVec};

/// One pass for each atom, and one at the start for the norms of the columns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Grow<'a> {
    pub bounds: &'a Bounds,
}

/// The minimum within the bounds over some atoms.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Grown {
    chosen: Vec<usize>,
    x: Evaluated<SparseVec>,
    /// The second derivatives of f at the start.
    second: Vec<f64>,
}

impl Grow<'_> {
    /// The minimum over some atoms, from what x has there, without those that the bounds bring to 0.
    fn minimum<S: CoordinateSet>(
        &self,
        f: &dyn Problem,
        set: &S,
        chosen: Vec<usize>,
        x: &SparseVec,
    ) -> (Vec<usize>, Evaluated<SparseVec>) {
        let (atoms, kept) = (set.candidates(), set.kept());
        let support = |chosen: &[usize]| {
            let members = chosen.iter().flat_map(|&atom| atoms.members(atom));
            IndexSet::new(f.dim(), members.chain(kept.indices()).copied().collect())
        };
        let x = Within::new(f, self.bounds, &support(&chosen)).minimum(x, f64::INFINITY);
        let chosen = lasting(&atoms, &kept, chosen, x.point());
        let x = f.at(x.point().on(&support(&chosen)));
        (chosen, x)
    }
}

impl<A, L, S> Method<A, L, S> for Grow<'_>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
    S: CoordinateSet,
{
    type State = Grown;

    fn start(&self, f: &Objective<A, L>, set: &S, x0: SparseVec) -> Result<Grown, Error> {
        let x0 = set.project(x0);
        let (chosen, x) = self.minimum(f, set, set.chosen(&x0), &x0);
        let second = f.second_derivatives(f.curvature(&x).bound()).unwrap_or_default();
        Ok(Grown { chosen, x, second })
    }

    fn query<'s>(&self, state: &'s Grown) -> &'s Evaluated<SparseVec> {
        &state.x
    }

    fn iterate<'s>(&self, state: &'s Grown) -> &'s Evaluated<SparseVec> {
        &state.x
    }

    fn advance(&self, f: &Objective<A, L>, set: &S, state: &mut Grown, g: &Vec<f64>) -> Progress {
        let here = f.value(&state.x);
        let mut outside = g.clone();
        state.x.point().indices().iter().for_each(|&j| outside[j] = 0.0);
        let gains = self.bounds.falls(&set.candidates(), &outside, &state.second);
        let best = (0..gains.len()).reduce(|best, atom| if gains[atom] > gains[best] { atom } else { best });
        let best = best.filter(|&atom| gains[atom] > 0.0 && state.chosen.len() < set.atoms());
        let Some(best) = best else { return Progress::still(here, Move::Fixed) };
        let (chosen, x) = self.minimum(f, set, [&state.chosen[..], &[best]].concat(), state.x.point());
        let there = f.value(&x);
        if !(there < here) {
            return Progress::still(here, Move::Fixed);
        }
        let before = std::mem::replace(&mut state.x, x);
        state.chosen = chosen;
        let kind = if state.chosen.len() < set.atoms() { Move::Grown } else { Move::Completed };
        Progress { kind, ..Progress::moved(there, state.x.point(), before.point()) }
    }
}
