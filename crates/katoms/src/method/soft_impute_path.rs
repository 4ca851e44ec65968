//! The path of the nuclear norm: one λ after the other, each warm-started from the one before.

use super::{SoftImpute, largest_curvature, refit_on};
use crate::driver::{Options, Outcome, Run, Stop};
use crate::error::{Error, check_option, check_range};
use crate::loss::Loss;
use crate::objective::Objective;
use crate::operator::LinearOperator;
use crate::penalty::Nuclear;
use crate::space::{LowRank, MatrixCovector, Point};

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
