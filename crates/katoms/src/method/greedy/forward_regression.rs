//! Forward regression, also known as orthogonal least squares or forward stepwise selection.
//!
//! minimise f(x) subject to x being made of at most k atoms.
//!
//! Das and Kempe, "Submodular meets spectral: Greedy algorithms for subset selection, sparse
//! approximation and dictionary selection" (2011); as orthogonal least squares: Chen, Billings and Luo,
//! "Orthogonal least squares methods and their application to non-linear system identification" (1989).
//!
//! | paper | code | |
//! |---|---|---|
//! | S_i | `model.chosen` | the atoms so far |
//! | R²(S ∪ {j}) − R²(S) | `gains`, up to the factor ‖z‖²/2 | (φ_jᵀr)²/‖P⊥φ_j‖² |
//! | Res(x_j, S) | P⊥φ_j | what the chosen columns leave of another |
//!
//! Where we differ: the squared norms ‖P⊥φ_j‖² are updated, with no pass of their own wherever two
//! successive gradients hold what they need. A group J is judged by
//! ½·c_Jᵀ(Φ_JᵀP⊥Φ_J)⁻¹c_J, c = −∇f, which is exact too. For losses that are not quadratic the gain is the
//! second-order one around the current model (a score test); the refit is exact.

use serde::{Deserialize, Serialize};

use super::model::Problem;
use super::residualised::Residualised;
use crate::error::Error;
use crate::loss::Loss;
use crate::method::{Method, Move, Progress};
use crate::objective::{Evaluated, Objective};
use crate::operator::LinearOperator;
use crate::set::CoordinateSet;
use crate::space::SparseVec;

/// Forward regression: the atom whose addition lowers f most, k times.
///
/// For least squares on single coordinates one pass for each atom, and one at the start for the norms of
/// the columns (column by column where an operator does not give them); one more for each atom that
/// changes f by less than 1e-10 of f(0), and one if something is always kept. For groups two passes for
/// each atom, and each column once at the start. For other losses three passes for each atom. A move
/// touches each chosen column once.
///
/// ```
/// use std::ops::ControlFlow;
/// use katoms::driver::{Options, solve};
/// use katoms::{Objective, loss::LeastSquares, method::{ForwardRegression, Omp}, operator::Dense, set::KSparse};
/// // after the first column, the third explains what is left exactly; the second correlates more with it
/// let design = Dense::column_major(&[1.0, 0.0, 0.0, 0.0, 0.8, 0.6, 0.8, 0.6, 0.0], 3, 3)?;
/// let f = Objective::new(&design, LeastSquares::new(vec![4.0, 1.0, 0.0])?)?;
/// let set = KSparse::new(2, 3)?;
/// let go_on = |_: &_, _: &_| ControlFlow::Continue(());
/// let forward = solve(&f, &set, &ForwardRegression, Options::for_set(&set), go_on)?;
/// let pursuit = solve(&f, &set, &Omp, Options::for_set(&set), go_on)?;
/// assert!(forward.objective < pursuit.objective);
/// # Ok::<(), katoms::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ForwardRegression;

/// Where [`ForwardRegression`] stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ForwardState(Residualised);

impl<A, L, S> Method<A, L, S> for ForwardRegression
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
    S: CoordinateSet,
{
    type State = ForwardState;

    fn start(&self, f: &Objective<A, L>, set: &S, x0: SparseVec) -> Result<ForwardState, Error> {
        let chosen = set.chosen(&set.project(x0));
        Ok(ForwardState(Residualised::start(&Problem::new(f, set), chosen)))
    }

    fn query<'s>(&self, state: &'s ForwardState) -> &'s Evaluated<SparseVec> {
        &state.0.model.x
    }

    fn iterate<'s>(&self, state: &'s ForwardState) -> &'s Evaluated<SparseVec> {
        &state.0.model.x
    }

    fn advance(&self, f: &Objective<A, L>, set: &S, state: &mut ForwardState, g: &Vec<f64>) -> Progress {
        let (problem, now) = (Problem::new(f, set), &mut state.0);
        if now.model.chosen.len() >= problem.k {
            return Progress::still(now.model.objective, Move::Fixed);
        }
        let before = now.model.x.point().clone();
        let gains = now.gains(&problem, g); //       2: R²(S_i ∪ {j}) − R²(S_i) for every j
        if !now.grow(&problem, gains) {
            //           2: S_{i+1} = S_i ∪ {the j of the largest}
            return Progress::still(now.model.objective, Move::Fixed);
        }
        now.model.progress(&problem, &before)
    }
}
