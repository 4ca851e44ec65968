//! k atoms of which some come only beside others: the best answer.

use super::bounded::watched;
use crate::driver::{Options, Outcome, Run, check};
use crate::error::Error;
use crate::loss::Loss;
use crate::method::{Method, Move, Progress};
use crate::objective::{Evaluated, Objective};
use crate::operator::LinearOperator;
use crate::search::{Effort, GoOn, Heredity, Observer, Problem, Search, explore_with_heredity, null_model};
use crate::set::CoordinateSet;
use crate::space::{IndexSet, Point, SparseVec};

/// The best model of k atoms that heredity allows, from a start where there is one: of the start, what it allows.
///
/// # Errors
/// When set, parents, start and operator do not fit together, an option makes no sense, or the design has no columns to be
/// had one by one.
pub(crate) fn search_with_heredity<A, L, S>(
    f: &Objective<A, L>,
    set: &S,
    (heredity, start, options): (&Heredity, Option<SparseVec>, Options),
    effort: Effort,
    observer: &mut Observer<'_, SparseVec>,
    go_on: &mut GoOn<'_>,
) -> Result<Outcome<SparseVec>, Error>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
    S: CoordinateSet,
{
    let start = start.unwrap_or_else(|| SparseVec::zero(set.domain()));
    check(f, set, &options, &start)?;
    let mut explore = explore_with_heredity(f, set, heredity)?;
    let method = Begin { heredity };
    let run = Run::starting_at(f, set, &method, options, start)?;
    watched(run, explore.as_mut(), &Search { effort, ..Search::default() }, observer, go_on)
}

/// Where the search begins: the minimum over the atoms of a start that heredity allows.
struct Begin<'a> {
    heredity: &'a Heredity,
}

impl<A, L, S> Method<A, L, S> for Begin<'_>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
    S: CoordinateSet,
{
    type State = Evaluated<SparseVec>;

    fn start(&self, f: &Objective<A, L>, set: &S, x0: SparseVec) -> Result<Self::State, Error> {
        let (x0, atoms, kept) = (set.project(x0), set.candidates(), set.kept());
        let chosen = self.heredity.allowed_part(&set.chosen(&x0));
        if chosen.is_empty() {
            return Ok(null_model(f, &kept, None));
        }
        let members = chosen.iter().flat_map(|&atom| atoms.members(atom));
        let support = IndexSet::new(set.domain(), members.chain(kept.indices()).copied().collect());
        Ok(Problem::refit(f, Objective::at(f, x0.on(&support)), &support))
    }

    fn query<'s>(&self, state: &'s Self::State) -> &'s Evaluated<SparseVec> {
        state
    }

    fn iterate<'s>(&self, state: &'s Self::State) -> &'s Evaluated<SparseVec> {
        state
    }

    fn advance(&self, f: &Objective<A, L>, _: &S, state: &mut Self::State, _: &Vec<f64>) -> Progress {
        Progress::still(f.value(state), Move::Fixed)
    }
}
