//! The whole path of the Lasso: minimise f(x) + λ·Σ wⱼ|xⱼ| for falling λ, each with a duality gap.
//!
//! Friedman, Hastie, Tibshirani, "Regularization paths for generalized linear models via coordinate
//! descent" (2010): a geometric grid from λ_max, above which everything penalised is zero, with warm starts.
//!
//! One working set serves all λ. On it a minimum costs no pass, so several λ ahead are solved on it, and one
//! pass brings the gradients of all of them. Where the gap proves enough, a point is done. Where it does
//! not, the gradient says which coordinates the working set lacks; they come in, and so do those that would
//! be lacking a few λ further on if gradients stayed as they are. After a pass that proved all of its
//! points, the next one looks at twice as many.
//!
//! With least squares and no more columns than rows the working set is everything from the start. Then the Gram
//! matrix proves the gaps, and λ_max is the only pass.

use std::ops::ControlFlow;

use super::{Lasso, Proven, Restricted, Standpoint};
use crate::driver::{Status, check_domain};
use crate::error::{Error, check_option, check_range, check_values};
use crate::loss::Loss;
use crate::method::duality::lower_bound;
use crate::method::smooth::OnVectors;
use crate::objective::{Evaluated, Objective};
use crate::operator::LinearOperator;
use crate::penalty::{L1, Penalty};
use crate::space::{Point, SparseVec};

/// The most points that share a pass.
const SHARED: usize = 8;
/// The working set takes in what would be lacking this many λ further on. More would mean fewer passes, and
/// a larger working set.
const LOOK: usize = 2;
/// Of the λ that are not done, so many say what they lack: the later ones lack too much.
const HEARD: usize = 2;
/// Coordinates that join the working set in one go: as many at least, and at most half as many as there are.
const FEW: usize = 10;
/// With no more columns than rows, and no more than this, every coordinate is in the working set from the
/// start: its Gram matrix is all that the path needs.
const SMALL: usize = 2000;
/// Below this share of f at zero, what the free coordinates leave is rounding.
const NOTHING_LEFT: f64 = 1e-24;
/// A restricted problem that is not solved exactly is solved to this share of the gap that is asked for.
const ACCURACY: f64 = 0.1;

/// Which λ, and how well each is solved.
#[derive(Debug, Clone, PartialEq)]
pub struct LassoPathOptions {
    /// How many λ, where they are not given. Default 100, as in glmnet and scikit-learn.
    pub count: usize,
    /// The last λ as a share of λ_max, where they are not given. Default 1e-3, as in scikit-learn.
    pub smallest: f64,
    /// The λ, falling, in place of a grid.
    pub lambdas: Option<Vec<f64>>,
    /// A point is done when its objective is proven to be this close to the minimum, relative to f where
    /// everything penalised is zero. Default 1e-6. scikit-learn's `tol` is half of it.
    pub gap: f64,
    /// The most passes for one λ. Default 100.
    pub passes: usize,
}

impl Default for LassoPathOptions {
    fn default() -> Self {
        Self { count: 100, smallest: 1e-3, lambdas: None, gap: 1e-6, passes: 100 }
    }
}

impl LassoPathOptions {
    fn check(&self) -> Result<(), Error> {
        check_range("the number of λ", self.count, 1, usize::MAX)?;
        check_option("smallest", self.smallest, "it must lie between 0 and 1", |s| s > 0.0 && s < 1.0)?;
        check_option("gap", self.gap, "it must be at least 0 and below 1", |v| (0.0..1.0).contains(&v))?;
        check_range("the cap on passes", self.passes, 1, usize::MAX)?;
        let Some(lambdas) = &self.lambdas else { return Ok(()) };
        if lambdas.is_empty() {
            return Err(Error::Empty { what: "the list of λ" });
        }
        check_values("list of λ", lambdas, "every λ must be finite and above 0", |v| v.is_finite() && v > 0.0)?;
        match (1..lambdas.len()).find(|&i| lambdas[i] >= lambdas[i - 1]) {
            Some(index) => {
                Err(Error::Value { what: "list of λ", index, value: lambdas[index], right: "λ must fall" })
            }
            None => Ok(()),
        }
    }

    fn grid(&self, largest: f64) -> Vec<f64> {
        let steps = (self.count.max(2) - 1) as f64;
        let lambda = |i: usize| largest * self.smallest.powf(i as f64 / steps);
        self.lambdas.clone().unwrap_or_else(|| (0..self.count).map(lambda).collect())
    }
}

/// The minimum at one λ.
#[derive(Debug, Clone, PartialEq)]
pub struct LassoPoint {
    /// The weight of the penalty.
    pub lambda: f64,
    /// The point: its nonzeros and the free coordinates.
    pub point: SparseVec,
    /// f and the penalty, there.
    pub objective: f64,
    /// How far the objective is from its minimum at most.
    pub gap: f64,
    /// [`Status::Converged`] where the gap is as small as was asked for. [`Status::Stalled`] where rounding is in the
    /// way, [`Status::PassCap`] where the passes did not suffice.
    pub status: Status,
    /// The passes that looked at this λ; one may look at several. 0 where the Gram matrix of all columns did.
    pub passes: usize,
}

/// Minima for falling λ.
#[derive(Debug, Clone)]
pub struct LassoPath {
    /// One for each λ, falling.
    pub points: Vec<LassoPoint>,
    /// The smallest λ at which everything penalised is zero.
    pub lambda_max: f64,
    /// Whether all λ are there: not when the observer stopped the work.
    pub complete: bool,
    /// Full passes over the data in all.
    pub passes: usize,
    /// Columns touched outside of passes.
    pub columns: usize,
}

/// The path of f under the weights of `penalty`, whose own λ plays no part. The observer hears of each
/// point, λ falling, and may stop the work: what is there then remains.
///
/// Where free coordinates explain everything, the path is the one point of λ = 0.
///
/// # Errors
/// When an option makes no sense, the penalty and the operator live in different spaces, the operator has
/// no cheap columns or the loss does not know its conjugate.
///
/// Columns of variance 1, and an intercept that pays nothing:
///
/// ```
/// use katoms::operator::{Dense, Standardized, WithIntercept};
/// use katoms::method::{LassoPathOptions, lasso_path};
/// use katoms::{Objective, Status, loss::LeastSquares, penalty::L1, simulate};
/// use std::ops::ControlFlow;
/// let design = simulate::gaussian(50, 30, 1);
/// let y: Vec<f64> = (0..50).map(|i| 5.0 + 3.0 * design[i] - 2.0 * design[50 + i]).collect();
/// let y = simulate::noisy(&y, 0.01, 1);
/// let standardized = Standardized::fit(Dense::column_major(&design, 50, 30)?, &[1.0; 50])?;
/// let operator = WithIntercept::new(&standardized);
/// let f = Objective::new(&operator, LeastSquares::new(y)?)?;
/// let mut weights = vec![1.0; 31];
/// weights[operator.index()] = 0.0;
/// let penalty = L1::new(1.0, 31)?.weighted(weights)?;
/// let options = LassoPathOptions { smallest: 0.05, ..LassoPathOptions::default() };
/// let path = lasso_path(&f, &penalty, &options, |_| ControlFlow::Continue(()))?;
/// assert!(path.points.iter().all(|point| point.status == Status::Converged));
/// // the last model, on the scale of the data
/// let (x, intercept) = operator.split(&path.points[99].point);
/// let (x, constant) = standardized.to_original(&x);
/// assert_eq!(x.indices(), [0, 1]);
/// assert!((intercept + constant - 5.0).abs() < 0.1);
/// # Ok::<(), katoms::Error>(())
/// ```
pub fn lasso_path<A, L>(
    f: &Objective<A, L>,
    penalty: &L1,
    options: &LassoPathOptions,
    mut go_on: impl FnMut(&LassoPoint) -> ControlFlow<()>,
) -> Result<LassoPath, Error>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
{
    check_domain(f, penalty)?;
    path_of(f, penalty, options, &mut go_on)
}

fn path_of(
    f: &OnVectors<'_>,
    penalty: &L1,
    options: &LassoPathOptions,
    go_on: &mut dyn FnMut(&LassoPoint) -> ControlFlow<()>,
) -> Result<LassoPath, Error> {
    options.check()?;
    Lasso::default().check(f)?;
    let before = f.cost();
    let mut walk = Walk::new(f, penalty, options)?;
    while walk.told < walk.lambdas.len() {
        // Entering the thread pool once is cheap; once for each product it is not.
        rayon::scope(|_| {
            if !walk.prove_next() {
                walk.round();
            }
        });
        if walk.tell(go_on).is_break() {
            break;
        }
    }
    let complete = walk.told == walk.lambdas.len();
    let points: Vec<LassoPoint> = walk.points.into_iter().take(walk.told).flatten().collect();
    let (lambda_max, cost) = (walk.largest, f.cost());
    let (passes, columns) = (cost.passes - before.passes, cost.columns - before.columns);
    Ok(LassoPath { points, lambda_max, complete, passes, columns })
}

/// A point whose gap is known.
struct Judged {
    x: Evaluated<SparseVec>,
    gradient: Vec<f64>,
    objective: f64,
    gap: f64,
}

/// A path on its way.
struct Walk<'a> {
    f: &'a OnVectors<'a>,
    options: &'a LassoPathOptions,
    /// One for each λ.
    penalties: Vec<L1>,
    lambdas: Vec<f64>,
    /// λ_max.
    largest: f64,
    /// The gap that is asked for.
    enough: f64,
    restricted: Restricted,
    /// One for each λ, where it is done.
    points: Vec<Option<LassoPoint>>,
    /// How often each λ was looked at.
    looks: Vec<usize>,
    /// The gap of each λ at the last look.
    gaps: Vec<f64>,
    /// How many of the points the observer has heard of.
    told: usize,
    /// How many λ the next pass looks at.
    ahead: usize,
}

impl<'a> Walk<'a> {
    /// The free coordinates fitted and λ_max known: one pass.
    fn new(f: &'a OnVectors<'a>, penalty: &L1, options: &'a LassoPathOptions) -> Result<Self, Error> {
        let zero = SparseVec::zero(penalty.domain());
        let before = f.value(&f.at(zero.clone())) - f.lower_bound();
        let mut restricted = Restricted::new(f, penalty, zero);
        if restricted.size() > 0 {
            restricted.minimize(f, penalty, 0.0);
        }
        let gradient = f.gradient(restricted.x());
        let left = f.value(restricted.x()) - f.lower_bound();
        let largest = penalty.polar(&gradient) * penalty.lambda();
        let nothing = largest == 0.0 || left <= NOTHING_LEFT * before;
        let largest = if nothing { 0.0 } else { largest };
        let lambdas = if nothing { vec![0.0] } else { options.grid(largest) };
        let penalties = if nothing {
            vec![penalty.clone()]
        } else {
            lambdas.iter().map(|&lambda| penalty.with_lambda(lambda)).collect::<Result<_, _>>()?
        };
        let (points, looks) = (vec![None; lambdas.len()], vec![0; lambdas.len()]);
        let gaps = vec![f64::INFINITY; lambdas.len()];
        let enough = options.gap * left;
        let mut walk = Self {
            f,
            options,
            penalties,
            lambdas,
            largest,
            enough,
            restricted,
            points,
            looks,
            gaps,
            told: 0,
            ahead: 1,
        };
        walk.start(&gradient);
        Ok(walk)
    }

    /// Where nothing moves yet the pass that found λ_max is all that is needed.
    fn start(&mut self, gradient: &[f64]) {
        let gradient = gradient.to_vec();
        let null = self.restricted.x().clone();
        for i in 0..self.lambdas.len() {
            if self.lambdas[i] < self.largest {
                break;
            }
            let mut judged = self.judge(i, null.clone(), gradient.clone());
            if self.largest == 0.0 {
                judged.gap = 0.0; // f itself is at its minimum, whatever is paid on top
            }
            let status = if judged.gap <= self.enough { Status::Converged } else { Status::Stalled };
            self.looks[i] = 1;
            self.points[i] = Some(self.done(i, judged, status));
        }
        let n = gradient.len();
        if self.f.loss().is_quadratic() && n <= self.f.n_outputs().min(SMALL) {
            let all: Vec<usize> = (0..n).collect();
            return self.restricted.admit(self.f, &self.penalties[0], &all);
        }
        self.look_ahead(0, &gradient);
    }

    /// The next point, where the Gram matrix alone can prove it; whether it can.
    fn prove_next(&mut self) -> bool {
        let Some(i) = (self.told..self.lambdas.len()).find(|&i| self.points[i].is_none()) else { return true };
        let Some(Proven { point, objective, gap }) = self.restricted.proven(self.f, &self.penalties[i]) else {
            return false;
        };
        if gap <= self.enough {
            let (lambda, status, passes) = (self.lambdas[i], Status::Converged, self.looks[i]);
            self.points[i] = Some(LassoPoint { lambda, point, objective, gap, status, passes });
        }
        gap <= self.enough
    }

    /// Some λ ahead solved on the working set, one pass for all of them, and what it says.
    fn round(&mut self) {
        let open = (self.told..self.lambdas.len()).filter(|&i| self.points[i].is_none());
        let block: Vec<usize> = open.take(self.ahead).collect();
        let Some(&last) = block.last() else { return };
        let mut stands: Vec<Standpoint> = Vec::with_capacity(block.len());
        for &i in &block {
            self.restricted.minimize(self.f, &self.penalties[i], ACCURACY * self.enough);
            stands.push(self.restricted.standpoint());
        }
        let xs: Vec<Evaluated<SparseVec>> = stands.iter().map(|stand| stand.x().clone()).collect();
        let gradients = self.f.gradients(&xs);
        let judged: Vec<Judged> = block.iter().zip(xs).zip(gradients).map(|((&i, x), g)| self.judge(i, x, g)).collect();
        let furthest = judged.last().map(|judged| judged.gradient.clone()).unwrap_or_default();
        let mut first_open = None;
        let mut lacking = Vec::new();
        let mut failed = 0;
        for (at, (&i, judged)) in block.iter().zip(judged).enumerate() {
            self.looks[i] += 1;
            let missing = self.missing(i, &judged);
            match self.status(i, &judged, &missing) {
                Some(status) => self.points[i] = Some(self.done(i, judged, status)),
                None => {
                    self.gaps[i] = judged.gap;
                    first_open.get_or_insert(at);
                    failed += 1;
                    if failed <= HEARD {
                        lacking.extend(missing);
                    }
                }
            }
        }
        self.adapt(&block);
        // The standpoint at the first λ that is not done is where the next round begins.
        if let Some(at) = first_open {
            self.restricted.return_to(stands.swap_remove(at));
        }
        lacking.sort_unstable();
        lacking.dedup();
        self.restricted.admit(self.f, &self.penalties[last], &lacking);
        self.look_ahead(last, &furthest);
    }

    /// What the working set lacks at λ number i.
    fn missing(&self, i: usize, judged: &Judged) -> Vec<usize> {
        if judged.gap <= self.enough {
            return Vec::new();
        }
        let most = FEW.max(judged.x.point().support_size() / 2);
        self.restricted.violators(&self.penalties[i], &judged.gradient, most)
    }

    /// Takes in what would be lacking at the last λ of the next round, if the gradient stayed as it was at
    /// λ number i.
    fn look_ahead(&mut self, i: usize, gradient: &[f64]) {
        let open = (0..self.lambdas.len()).filter(|&i| self.points[i].is_none());
        let Some(end) = open.take(self.ahead.min(LOOK)).last() else { return };
        let most = FEW.max(self.restricted.size() / 2);
        let coming = self.restricted.exceeding(&self.penalties[end], gradient, 1.0, most);
        self.restricted.admit(self.f, &self.penalties[i], &coming);
    }

    fn judge(&self, i: usize, x: Evaluated<SparseVec>, gradient: Vec<f64>) -> Judged {
        let penalty = &self.penalties[i];
        let objective = self.f.value(&x) + penalty.value(x.point());
        let bound = lower_bound(self.f, penalty, &x, &gradient).unwrap_or(f64::NEG_INFINITY);
        Judged { gap: (objective - bound).max(0.0), x, gradient, objective }
    }

    /// How λ number i ended, if it did.
    fn status(&self, i: usize, judged: &Judged, missing: &[usize]) -> Option<Status> {
        if judged.gap <= self.enough {
            Some(Status::Converged)
        } else if missing.is_empty() && judged.gap >= 0.5 * self.gaps[i] {
            Some(Status::Stalled)
        } else if self.looks[i] >= self.options.passes {
            Some(Status::PassCap)
        } else {
            None
        }
    }

    fn done(&self, i: usize, judged: Judged, status: Status) -> LassoPoint {
        let Judged { x, objective, gap, .. } = judged;
        LassoPoint { lambda: self.lambdas[i], point: x.into_point(), objective, gap, status, passes: self.looks[i] }
    }

    /// More λ in the next pass where all of these are done, fewer where most are not.
    fn adapt(&mut self, block: &[usize]) {
        let done = block.iter().filter(|&&i| self.points[i].is_some()).count();
        if done == block.len() {
            self.ahead = (2 * self.ahead).min(SHARED);
        } else if 2 * done < block.len() {
            self.ahead = (self.ahead / 2).max(1);
        }
    }

    /// Tells the observer of what is done.
    fn tell(&mut self, go_on: &mut dyn FnMut(&LassoPoint) -> ControlFlow<()>) -> ControlFlow<()> {
        while let Some(Some(point)) = self.points.get(self.told) {
            self.told += 1;
            go_on(point)?;
        }
        ControlFlow::Continue(())
    }
}
