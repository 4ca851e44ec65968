//! Orthogonal matching pursuit.
//!
//! minimise f(x) subject to x being made of at most k atoms.
//!
//! Pati, Rezaiifar and Krishnaprasad, "Orthogonal matching pursuit: Recursive function approximation with
//! applications to wavelet decomposition" (1993); Tropp, "Greed is good: Algorithmic results for sparse
//! approximation" (2004), whose steps are numbered here. Groups: Swirszcz, Abe and Lozano, "Grouped
//! orthogonal matching pursuit for variable selection and prediction" (2009); losses other than squares:
//! Lozano, Swirszcz and Abe, "Group orthogonal matching pursuit for logistic regression" (2011).
//!
//! | paper | code | |
//! |---|---|---|
//! | r_t | `-f.residual(x)` | the residual |
//! | ⟨r_t, φ_j⟩ | `-g[j]` | from the gradient that the driver brings: the one pass |
//! | λ_t | the largest of `gains` | the atom that comes |
//! | Λ_t | `model.chosen` | the atoms so far |
//! | x_t | `model.x` | the minimum over them |
//!
//! The papers take columns of norm 1 and groups of orthonormal columns. Here any will do: an atom is judged
//! by ½·c_Jᵀ(Φ_JᵀΦ_J)⁻¹c_J, c = −∇f, which for one column is ½(φ_jᵀr/‖φ_j‖)². For a loss that is not
//! quadratic the norms are those in the curvature at the start. Where an operator does not give norms
//! (`energies`), every column counts as one of norm 1.

use serde::{Deserialize, Serialize};

use super::model::{Model, Problem};
use super::rooms::Rooms;
use crate::error::Error;
use crate::loss::Loss;
use crate::method::{Method, Move, Progress};
use crate::objective::{Evaluated, Objective};
use crate::operator::LinearOperator;
use crate::set::CoordinateSet;
use crate::space::SparseVec;

/// Orthogonal matching pursuit. One pass for each atom, and one at the start for the norms of the columns
/// (for groups also each column once). A move touches each chosen column once.
///
/// ```
/// use std::ops::ControlFlow;
/// use katoms::driver::{Options, solve};
/// use katoms::{Objective, Status, loss::LeastSquares, method::Omp, operator::Dense, set::KSparse};
/// // the second column is long, but the first points where y does
/// let design = Dense::column_major(&[1.0, 0.0, 0.0, 7.0, 7.0, 0.0, 0.0, 0.0, 1.0], 3, 3)?;
/// let f = Objective::new(&design, LeastSquares::new(vec![3.0, 0.0, 1.0])?)?;
/// let set = KSparse::new(2, 3)?;
/// let outcome = solve(&f, &set, &Omp, Options::for_set(&set), |_, _| ControlFlow::Continue(()))?;
/// assert_eq!(outcome.point.to_dense(), [3.0, 0.0, 1.0]);
/// assert_eq!(outcome.status, Status::Converged);
/// # Ok::<(), katoms::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Omp;

/// Where [`Omp`] or [`Oblivious`](super::Oblivious) stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GreedyState {
    pub(super) model: Model,
    pub(super) rooms: Rooms,
}

impl GreedyState {
    /// The atoms of a start, and the norms of the columns there.
    pub(super) fn start<A, L, S>(f: &Objective<A, L>, set: &S, x0: SparseVec) -> Self
    where
        A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
        L: Loss,
        S: CoordinateSet,
    {
        let problem = Problem::new(f, set);
        let (model, _) = Model::start(&problem, set.chosen(&set.project(x0)));
        let rooms = Rooms::measured(&problem, &f.curvatures(&model.x));
        Self { model, rooms }
    }
}

impl<A, L, S> Method<A, L, S> for Omp
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
        let (problem, model) = (Problem::new(f, set), &mut state.model);
        if model.chosen.len() >= problem.k {
            return Progress::still(model.objective, Move::Fixed); //            6: t = m
        }
        let before = model.x.point().clone();
        let gains = state.rooms.gains(&problem, g, model); //                   2: |⟨r_{t−1}, φ_j⟩| for every j
        if model.grow(&problem, gains, state.rooms.least()).is_none() {
            //      3–5: Λ_t = Λ_{t−1} ∪ {λ_t}, x_t, r_t
            return Progress::still(model.objective, Move::Fixed);
        }
        model.progress(&problem, &before)
    }
}
