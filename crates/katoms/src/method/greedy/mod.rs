//! Greedy methods: a model that grows atom by atom, on sets of coordinates or groups.
//!
//! minimise f(x) subject to x being made of at most k atoms.
//!
//! | method | chooses the atom that | takes atoms back |
//! |---|---|---|
//! | [`Greedy::Oblivious`] | brings most on its own; all k at once | no |
//! | [`Greedy::Omp`] | brings most while the other coefficients stay | no |
//! | [`Greedy::ForwardRegression`] | brings most after a refit | no |
//! | [`Foba`] | brings most after a refit | those that have become cheap |
//!
//! Each model is the minimum of f over its atoms. What is brought is measured in f, so the scale of a
//! column or of the target decides nothing, and weights of groups play no part. What a set always keeps (an
//! intercept) is in the model from the start and is not counted; the ridge counts as one more row for
//! each coordinate. A start with atoms is a model to grow from.
//!
//! A run ends with the status `Converged` when the method's own rule ends it: all k atoms are there, or
//! no other atom lowers f.
//!
//! | paper | code | |
//! |---|---|---|
//! | r_t | `-f.residual(x)` | the residual |
//! | ⟨r_t, φ_j⟩ | `-g[j]` | from the gradient that the driver brings: the one pass |
//! | Λ_t, S_i | `model.chosen` | the atoms so far |
//! | x_t | `model.x` | the minimum over them |
//! | f({i}), R²(S ∪ {j}) − R²(S) | `gains` | what an atom brings, as a fall of f |
//! | Res(x_j, S) | P⊥φ_j | what the chosen columns leave of another |
//!
//! The papers take columns of norm 1 and groups of orthonormal columns. Here any will do: an atom J is judged by
//! ½·c_Jᵀ(Φ_JᵀΦ_J)⁻¹c_J, c = −∇f, which for one column is ½(φ_jᵀr/‖φ_j‖)²; forward regression by
//! ½·c_Jᵀ(Φ_JᵀP⊥Φ_J)⁻¹c_J, which is exact for least squares. For a loss that is not quadratic the norms are those in the
//! curvature at the start (oblivious, OMP; the score statistic) or at the current model; the refit is exact. Oblivious
//! choices are made from the model of what is always kept, where the papers have the empty model.

mod factor;
mod foba;
mod frame;
mod model;
mod schur;
mod state;

use self::model::{Model, Problem};
use super::refit::refit;
use super::smooth::{Algorithm, CoordinateAtoms, OnVectors};
use super::{Move, Progress};
use crate::error::Error;
use crate::linalg::top_k;
use crate::objective::Evaluated;
use crate::space::{SparseVec, Subspace};

pub use foba::{Foba, FobaState};
pub use state::GreedyState;

/// A column whose squared distance from the chosen ones is this share of its squared norm is one of them.
const DEPENDENT: f64 = 1e-9;
/// An atom that is predicted to bring less than this share of f(0) brings rounding.
const ROUNDING: f64 = 1e-24;
/// The same where f is minimised by Newton's method, which stops before.
const ROUNDING_OF_NEWTON: f64 = 1e-13;

/// Atoms come and stay.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Greedy {
    /// The k atoms that bring most on their own, the *oblivious* choice of Das and Kempe, "Submodular meets spectral: Greedy
    /// algorithms for subset selection, sparse approximation and dictionary selection" (2011); in statistics marginal
    /// screening: Fan and Lv, "Sure independence screening for ultrahigh dimensional feature space" (2008).
    ///
    /// A single move, one pass, and one at the start for the norms of the columns (for groups also each column once).
    Oblivious,
    /// Orthogonal matching pursuit: Pati, Rezaiifar and Krishnaprasad, "Orthogonal matching pursuit: Recursive function
    /// approximation with applications to wavelet decomposition" (1993); Tropp, "Greed is good: Algorithmic results for
    /// sparse approximation" (2004). Groups: Swirszcz, Abe and Lozano, "Grouped orthogonal matching pursuit for variable
    /// selection and prediction" (2009); losses other than squares: Lozano, Swirszcz and Abe, "Group orthogonal matching
    /// pursuit for logistic regression" (2011).
    ///
    /// One pass for each atom, and one at the start for the norms of the columns (for groups also each column once); where
    /// an operator does not give them, every column counts as one of norm 1. A move touches each chosen column once.
    Omp,
    /// Forward regression, also known as orthogonal least squares or forward stepwise selection: Das and Kempe (2011); Chen,
    /// Billings and Luo, "Orthogonal least squares methods and their application to non-linear system identification" (1989).
    ///
    /// For least squares on single coordinates one pass for each atom, and one at the start for the norms of the columns
    /// (column by column where an operator does not give them): the squared norms ‖P⊥φ_j‖² are updated from two successive
    /// gradients. One pass more for each atom that changes f by less than 1e-10 of f(0), and one if something is always
    /// kept. For groups two passes for each atom, and each column once at the start. For other losses three passes for each
    /// atom. A move touches each chosen column once.
    ForwardRegression,
}

impl Greedy {
    /// All k atoms at once.
    fn choose_all(problem: &Problem<'_>, state: &mut GreedyState, g: &[f64]) -> Progress {
        let (f, model) = (problem.f, &mut state.model);
        let mut gains = state.schur.gains(problem, g, model);
        model.chosen.iter().for_each(|&atom| gains[atom] = f64::NEG_INFINITY);
        let wanted = problem.k.saturating_sub(model.chosen.len());
        let best = top_k(&gains, wanted).into_iter().filter(|&atom| gains[atom] > state.schur.least());
        let chosen: Vec<usize> = model.chosen.iter().copied().chain(best).collect();
        if chosen.len() == model.chosen.len() {
            return Progress::still(model.objective, Move::Fixed);
        }
        let support = problem.support(&chosen);
        let start = f.at(support.point(&support.coordinates(model.x.point())));
        let x_next = refit(f, start, &support).point;
        let objective = f.value(&x_next);
        let moved = Progress::moved(objective, x_next.point(), model.x.point());
        *model = Model::given(x_next, objective, chosen);
        Progress { kind: Move::Completed, ..moved }
    }
}

impl Algorithm<SparseVec, Vec<f64>> for Greedy {
    type State = GreedyState;
    type Subject = dyn CoordinateAtoms;

    fn start(&self, f: &OnVectors<'_>, set: &Self::Subject, x0: SparseVec) -> Result<GreedyState, Error> {
        let (problem, chosen) = (Problem::new(f, set), set.chosen(&set.project(x0)));
        problem.check()?;
        Ok(match self {
            Self::Oblivious | Self::Omp => GreedyState::with_norms(&problem, chosen),
            Self::ForwardRegression => GreedyState::residualised(&problem, chosen),
        })
    }

    fn query<'s>(&self, state: &'s GreedyState) -> &'s Evaluated<SparseVec> {
        &state.model.x
    }

    fn advance(&self, f: &OnVectors<'_>, set: &Self::Subject, state: &mut GreedyState, g: &Vec<f64>) -> Progress {
        let problem = Problem::new(f, set);
        if *self == Self::Oblivious {
            return Self::choose_all(&problem, state, g);
        }
        if state.model.chosen.len() >= problem.k {
            return Progress::still(state.model.objective, Move::Fixed); //       t = m
        }
        let before = state.model.x.point().clone();
        let grown = if *self == Self::ForwardRegression {
            let gains = state.gains(&problem, g); //                             R²(S_i ∪ {j}) − R²(S_i) for every j
            state.grow(&problem, gains)
        } else {
            let gains = state.schur.gains(&problem, g, &state.model); //         |⟨r_{t−1}, φ_j⟩| for every j
            state.model.grow(&problem, gains, state.schur.least()).is_some()
        };
        if !grown {
            return Progress::still(state.model.objective, Move::Fixed);
        }
        state.model.progress(&problem, &before) //                               Λ_t = Λ_{t−1} ∪ {the best}, x_t, r_t
    }

    fn label(&self) -> &'static str {
        match self {
            Self::Oblivious => "Oblivious",
            Self::Omp => "Omp",
            Self::ForwardRegression => "ForwardRegression",
        }
    }
}
