//! Soft-Impute: Algorithm 1 of Mazumder, Hastie and Tibshirani, "Spectral regularization algorithms for
//! learning large incomplete matrices" (Journal of Machine Learning Research, 2010).
//!
//! minimise ½‖P_Ω(Y) − P_Ω(X)‖² + λ‖X‖_*, and more generally f(X) + λ‖X‖_*.
//!
//! | paper | code | |
//! |---|---|---|
//! | Z_old, Z_new | `x`, `x_next` | iterates of low rank |
//! | P_Ω(Y) + P_Ω^⊥(Z_old) | x − ∇f(x) | what is seen, filled in with the iterate |
//! | S_λ | `penalty.step` | the SVD with its singular values brought towards zero by λ |
//!
//! Filling in and thresholding is a proximal step of length 1: where each entry was seen once with a
//! weight of at most 1, f has no curvature above 1. For other operators, weights and losses the step is
//! 1/L, with L the largest curvature; an L that turns out too small is doubled. So the objective falls
//! in every iteration, which is the paper's Lemma 2. It is within O(1/t) of its minimum after t
//! iterations (Theorem 2).
//!
//! We add to the paper a proof of how far the minimum is at most: the best of the lower bounds
//! that the gradients gave so far.

use serde::{Deserialize, Serialize};

use super::proximal::stalled;
use super::smooth::{Algorithm, OnMatrices};
use super::step::{check_bounded, curvature_bound};
use super::{Move, Progress, duality, largest_curvature, refit_on};
use crate::driver::{Options, Outcome, Run, Stop};
use crate::error::{Error, check_option, check_range};
use crate::loss::Loss;
use crate::objective::{Evaluated, Objective};
use crate::operator::LinearOperator;
use crate::penalty::{Nuclear, Penalty};
use crate::space::{LowRank, MatrixCovector, Point};

/// Doublings of L before a step is given up.
const DOUBLINGS: usize = 40;
/// Differences of the objective below this share are rounding.
const ROUNDING: f64 = 1e-14;
/// So are moves below this share of the iterate: the singular vectors are no better known.
const STILL: f64 = 1e-12;

/// Soft-Impute. One pass an iteration; the rest is a truncated SVD of "low rank + gradient" that starts
/// at the iterate, and the largest singular value of the gradient for the gap.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SoftImpute {
    /// L, the largest curvature of f, where it is known. Default: measured before the run by Lanczos'
    /// iteration, which for observed entries is one round of two passes.
    pub curvature: Option<f64>,
}

/// Where Soft-Impute stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SoftImputeState {
    x: Evaluated<LowRank>,
    objective: f64,
    curvature: f64,
    /// The best lower bound so far, where the loss gives one.
    bound: Option<f64>,
}

impl Algorithm<LowRank, MatrixCovector> for SoftImpute {
    type State = SoftImputeState;
    type Subject = Nuclear;

    fn start(&self, f: &OnMatrices<'_>, penalty: &Nuclear, x0: LowRank) -> Result<Self::State, Error> {
        if let Some(curvature) = self.curvature {
            check_option("curvature", curvature, "it must be finite and above 0", |v| v.is_finite() && v > 0.0)?;
        }
        if self.curvature.is_none() {
            check_bounded(f.loss(), "Soft-Impute")?;
        }
        let curvature = self.curvature.unwrap_or_else(|| curvature_bound(f));
        let x = f.at(x0);
        let objective = f.value(&x) + penalty.value(x.point());
        // Without curvature f is constant: any step will do.
        let curvature = if curvature > 0.0 { curvature } else { 1.0 };
        Ok(SoftImputeState { x, objective, curvature, bound: None })
    }

    fn query<'s>(&self, state: &'s Self::State) -> &'s Evaluated<LowRank> {
        &state.x
    }

    fn advance(&self, f: &OnMatrices<'_>, penalty: &Nuclear, state: &mut Self::State, g: &MatrixCovector) -> Progress {
        if let Some(bound) = duality::lower_bound(f, penalty, &state.x, g) {
            state.bound = Some(state.bound.map_or(bound, |best| best.max(bound)));
        }
        for _ in 0..DOUBLINGS {
            let step = 1.0 / state.curvature;
            let x_next = f.at(penalty.step(state.x.point(), g, step)); //           2(a)i: Z_new = S_λ(filled in)
            let objective = f.value(&x_next) + penalty.value(x_next.point());
            let gap = state.bound.map(|bound| (objective.min(state.objective) - bound).max(0.0));
            if x_next == state.x {
                return Progress { gap, step, ..Progress::still(objective, Move::Fixed) };
            }
            let moved = Progress::moved(objective, x_next.point(), state.x.point());
            if moved.change <= STILL {
                return Progress { gap, step, change: moved.change, ..Progress::still(state.objective, Move::Stalled) };
            }
            // The gap goes on falling when the objective, which is flat at its minimum, no longer can.
            let rounding = ROUNDING * (state.objective - f.lower_bound()).abs();
            if objective <= state.objective + rounding || !objective.is_finite() {
                (state.x, state.objective) = (x_next, objective); //                2(a)iii
                return Progress { gap, step, ..moved };
            }
            state.curvature *= 2.0;
        }
        let gap = state.bound.map(|bound| (state.objective - bound).max(0.0));
        stalled(state.objective, gap, 1.0 / state.curvature)
    }
}

/// Which λ, and when each is done.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NuclearPath {
    /// How many values of λ, falling in equal ratios from just below the one that makes all zero.
    /// Default 20.
    pub count: usize,
    /// The last λ, as a share of that one. Default 0.01.
    pub least: f64,
    /// When each fit ends.
    pub stop: Stop,
}

impl Default for NuclearPath {
    fn default() -> Self {
        Self { count: 20, least: 0.01, stop: Stop::default() }
    }
}

/// One fit of a path.
#[derive(Debug, Clone)]
pub struct NuclearFit {
    /// λ.
    pub lambda: f64,
    /// The answer, with what it cost.
    pub outcome: Outcome<LowRank>,
}

impl NuclearFit {
    /// The minimum of f over the rows and columns that the answer spans: its singular values are no longer
    /// brought towards zero. Touches only its columns.
    pub fn refitted<A, L>(&self, f: &Objective<A, L>) -> LowRank
    where
        A: LinearOperator<Point = LowRank, Covector = MatrixCovector>,
        L: Loss,
    {
        let support = self.outcome.point.support();
        refit_on(f, f.at(self.outcome.point.clone()), &support).into_point()
    }
}

/// [`SoftImpute`] along a path: λ falls from the largest singular value of ∇f(0), and each fit starts
/// at the answer before. The curvature of f is measured once.
///
/// ```
/// use katoms::method::{NuclearPath, soft_impute_path};
/// use katoms::{Objective, loss::LeastSquares, method::SoftImpute, operator::Entries};
/// let (rows, columns) = ([0, 0, 1, 1, 2], [0, 1, 0, 1, 0]);
/// let seen = Entries::new((3, 2), &rows, &columns)?;
/// let f = Objective::new(&seen, LeastSquares::new(vec![1.0, 2.0, 2.0, 4.0, 3.0])?)?;
/// let path = soft_impute_path(&f, &SoftImpute::default(), &NuclearPath { count: 5, ..NuclearPath::default() })?;
/// assert_eq!(path.len(), 5);
/// assert!((path[4].outcome.point.entry(1, 1) - 4.0).abs() < 0.2);
/// # Ok::<(), katoms::Error>(())
/// ```
///
/// It is empty where zero is the minimum of f. The passes that found λ_max and the step are the first fit's.
///
/// # Errors
/// When an option makes no sense.
pub fn soft_impute_path<A, L>(
    f: &Objective<A, L>,
    method: &SoftImpute,
    path: &NuclearPath,
) -> Result<Vec<NuclearFit>, Error>
where
    A: LinearOperator<Point = LowRank, Covector = MatrixCovector>,
    L: Loss,
{
    check_range("the number of lambdas", path.count, 1, usize::MAX)?;
    check_option("least", path.least, "it must be above 0 and below 1", |v| v > 0.0 && v < 1.0)?;
    let shape = f.operator().domain();
    let before = f.cost().passes;
    let mut point = LowRank::zero(shape);
    let mut g = f.operator().new_covector();
    f.gradient(&f.at(point.clone()), &mut g);
    let largest = Nuclear::largest_lambda(&g);
    if !(largest > 0.0) {
        // Zero is the minimum of f: no λ changes that.
        return Ok(Vec::new());
    }
    let measured = || Some(largest_curvature(f)).filter(|l| *l > 0.0);
    let method = SoftImpute { curvature: method.curvature.or_else(measured) };
    let mut set_up = f.cost().passes - before;
    let mut fits = Vec::with_capacity(path.count);
    for i in 1..=path.count {
        let lambda = largest * path.least.powf(i as f64 / path.count as f64);
        let penalty = Nuclear::new(lambda, shape)?;
        let options = Options { stop: path.stop, ..Options::default() };
        let mut run = Run::starting_at(f, &penalty, &method, options, point)?;
        while !run.is_done() {
            run.step();
        }
        let mut outcome = run.outcome_unchecked();
        outcome.passes += std::mem::take(&mut set_up);
        point = outcome.point.clone();
        fits.push(NuclearFit { lambda, outcome });
    }
    Ok(fits)
}
