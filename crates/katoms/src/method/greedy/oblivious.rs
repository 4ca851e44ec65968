//! The k atoms that bring most on their own.
//!
//! minimise f(x) subject to x being made of at most k atoms.
//!
//! The *oblivious* choice of Das and Kempe, "Submodular meets spectral: Greedy algorithms for subset
//! selection, sparse approximation and dictionary selection" (2011); in statistics marginal screening: Fan
//! and Lv, "Sure independence screening for ultrahigh dimensional feature space" (2008).
//!
//! | paper | code | |
//! |---|---|---|
//! | f({i}) = (xᵢᵀz)² | `gains` | what an atom brings on its own |
//! | S | `chosen` | the k atoms that bring most |
//!
//! The papers take columns of norm 1 and judge each from the empty model. Here an atom is judged by
//! ½·c_Jᵀ(Φ_JᵀΦ_J)⁻¹c_J, c = −∇f, from the model of what is always kept: for a loss other than squares that
//! is the score statistic. Then f is minimised over the chosen atoms.

use super::GreedyState;
use super::model::{Model, Problem};
use crate::error::Error;
use crate::linalg::top_k;
use crate::loss::Loss;
use crate::method::{Method, Move, Progress, refit_on};
use crate::objective::{Evaluated, Objective};
use crate::operator::LinearOperator;
use crate::set::CoordinateSet;
use crate::space::{SparseVec, Subspace};

/// The k atoms that bring most on their own: a single move, one pass, and one at the start for the norms
/// of the columns (for groups also each column once). The refit touches the chosen columns.
///
/// ```
/// use std::ops::ControlFlow;
/// use katoms::driver::{Options, solve};
/// use katoms::{Objective, loss::LeastSquares, method::Oblivious, operator::Dense, set::KSparse};
/// let design = Dense::column_major(&[1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0], 3, 3)?;
/// let f = Objective::new(&design, LeastSquares::new(vec![3.0, 1.0, 2.5])?)?;
/// let set = KSparse::new(2, 3)?;
/// let outcome = solve(&f, &set, &Oblivious, Options::for_set(&set), |_, _| ControlFlow::Continue(()))?;
/// assert_eq!(outcome.point.indices(), [0, 1]); // the third atom would have brought more beside the second
/// assert_eq!(outcome.iterations, 1);
/// # Ok::<(), katoms::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Oblivious;

impl<A, L, S> Method<A, L, S> for Oblivious
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
    S: CoordinateSet,
{
    type State = GreedyState;

    fn start(&self, f: &Objective<A, L>, set: &S, x0: SparseVec) -> Result<GreedyState, Error> {
        Ok(GreedyState::start(f, set, x0))
    }

    fn query<'s>(&self, state: &'s GreedyState) -> &'s Evaluated<SparseVec> {
        &state.model.x
    }

    fn iterate<'s>(&self, state: &'s GreedyState) -> &'s Evaluated<SparseVec> {
        &state.model.x
    }

    fn advance(&self, f: &Objective<A, L>, set: &S, state: &mut GreedyState, g: &Vec<f64>) -> Progress {
        let problem = Problem::new(f, set);
        let mut gains = state.rooms.gains(&problem, g, &state.model);
        state.model.chosen.iter().for_each(|&atom| gains[atom] = f64::NEG_INFINITY);
        let room = problem.k.saturating_sub(state.model.chosen.len());
        let best = top_k(&gains, room).into_iter().filter(|&atom| gains[atom] > state.rooms.least());
        let chosen: Vec<usize> = state.model.chosen.iter().copied().chain(best).collect();
        if chosen.len() == state.model.chosen.len() {
            return Progress::still(state.model.objective, Move::Fixed);
        }
        let support = problem.support(&chosen);
        let start = f.at(support.point(&support.coordinates(state.model.x.point())));
        let x_next = refit_on(f, start, &support);
        let objective = f.value(&x_next);
        let progress =
            Progress { kind: Move::Completed, ..Progress::moved(objective, x_next.point(), state.model.x.point()) };
        state.model = Model::given(x_next, objective, chosen);
        progress
    }
}
