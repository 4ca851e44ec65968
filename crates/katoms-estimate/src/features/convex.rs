//! A penalty or a bound on the ℓ1 norm in place of k, by a method of that kind: what a search for k features is compared
//! with. The method runs once, and its coefficients are told as they are: brought towards zero. The norm knows no groups: each
//! column pays for itself, and a group is in where one of its columns is.

use std::ops::ControlFlow;

use katoms::driver::{Constraint, Options, Run, Stop};
use katoms::loss::{AnyLoss, Loss};
use katoms::method::{FrankWolfe, L1Method, LassoPathOptions, LassoPoint, Method, lasso_path};
use katoms::operator::{AnyDesign, LinearOperator};
use katoms::penalty::L1;
use katoms::search::Effort;
use katoms::select::Sample;
use katoms::set::{Always, AnyAtoms, ConstraintSet, CoordinateSet, L1Ball};
use katoms::space::SparseVec;
use katoms::{Error, Outcome};

use super::{Estimate, Features, FitOptions, RESUMED_ELSEWHERE, RUNS_ONCE, Ready};
use crate::running::{Part, drive};
use crate::watch::{Phase, Watch};

/// Steps between two λ of a path that is looked at more closely.
const CLOSER: i32 = 50;

/// A method that knows no k.
pub(super) enum Convex {
    Penalised(L1Method),
    Bounded(FrankWolfe),
}

impl Convex {
    /// The method of this name, where it is of this kind.
    pub fn named(name: &str) -> Option<Self> {
        let penalised = L1Method::named(name).ok().map(Self::Penalised);
        penalised.or_else(|| FrankWolfe::named(name).ok().map(Self::Bounded))
    }
}

impl Features<'_> {
    /// The model of a convex method: at the penalty or the radius that was given, or else at the least penalty of the Lasso's
    /// path at which at most k features are in.
    pub(super) fn fit_convex(
        &self,
        k: usize,
        method: &Convex,
        how: &FitOptions,
        watch: &mut dyn Watch,
    ) -> Result<Estimate, Error> {
        if how.effort != Effort::Default {
            return Err(RUNS_ONCE);
        }
        let f = self.objective()?;
        let set = self.preparation.set(&self.atoms.with_atoms(k)?, &self.loss)?;
        let kept = set.kept();
        let outcome = match method {
            Convex::Penalised(method) => {
                let lambda = match how.penalty {
                    Some(lambda) => self.units.scaled_penalty(lambda),
                    None => lasso_of(&f, &set, k)?.0,
                };
                self.solved(&f, &penalty_of(&f, &set, lambda)?, method, (k, how), watch)?
            }
            Convex::Bounded(_) if !kept.indices().is_empty() => {
                let needs = "every coefficient in its ball: no intercept and no features that are always in; centre the \
                             data and leave the intercept out";
                return Err(Error::Unsuitable { method: "Frank-Wolfe", needs });
            }
            Convex::Bounded(method) => {
                let radius = match how.radius {
                    Some(radius) => self.units.scaled_radius(radius),
                    None => lasso_of(&f, &set, k)?.1,
                };
                self.solved(&f, &L1Ball::new(radius, f.operator().domain())?, method, (k, how), watch)?
            }
        };
        self.estimate(&f, &set, outcome)
    }

    fn solved<'s, S, M>(
        &'s self,
        f: &Ready<'s>,
        subject: &S,
        method: &M,
        (k, how): (usize, &FitOptions),
        watch: &mut dyn Watch,
    ) -> Result<Outcome<SparseVec>, Error>
    where
        S: Constraint<Sample<'s, AnyDesign<'s>>, AnyLoss>,
        M: Method<Sample<'s, AnyDesign<'s>>, AnyLoss, S>,
    {
        let options = Options { stop: Stop { seconds: None, ..how.stop }, ..Options::default() };
        let mut run = match (&how.resume, self.start(f, how)?) {
            (Some(_), Some(_)) => return Err(RESUMED_ELSEWHERE),
            (Some(bytes), None) => Run::resume(f, subject, method, options, bytes)?,
            (None, Some(start)) => Run::starting_at(f, subject, method, options, start)?,
            (None, None) => Run::new(f, subject, method, options)?,
        };
        let part = Part { phase: Phase::Final { atoms: k }, done: 0, of: 1, can_save: true };
        drive(&mut run, part, watch)?;
        // What is said of the quality of models of k atoms would be wrong here.
        Ok(run.outcome_unchecked())
    }
}

/// λ·Σ|xⱼ|, free of charge where a coefficient is always in.
fn penalty_of(f: &Ready<'_>, set: &Always<AnyAtoms>, lambda: f64) -> Result<L1, Error> {
    let (n, kept) = (f.operator().domain(), set.kept());
    L1::new(lambda, n)?.weighted((0..n).map(|j| if kept.contains(j) { 0.0 } else { 1.0 }).collect())
}

/// The least λ of the Lasso's path at which at most k features are in, and the ℓ1 norm of its point. Where that leaves a place
/// open, the path is looked at more closely between this λ and the next.
fn lasso_of(f: &Ready<'_>, set: &Always<AnyAtoms>, k: usize) -> Result<(f64, f64), Error> {
    if f.loss().conjugate(&vec![0.0; f.loss().n_outputs()]).is_none() {
        let needs = "a loss whose duality gap is known, which that of survival times, of classes in an order, or of one's own \
                     is not; leave the method out: the search for k features serves every loss";
        return Err(Error::Unsuitable { method: "the penalty at which the Lasso has k features", needs });
    }
    let unit = penalty_of(f, set, 1.0)?;
    let count = |point: &LassoPoint| set.chosen(&point.point).len();
    let size = |x: &SparseVec| x.entries().filter(|e| unit.price(e.0) > 0.0).map(|e| e.1.abs()).sum::<f64>();
    let (mut options, mut found) = (LassoPathOptions::default(), (1.0, 1.0)); // any will do where nothing is to be explained
    for _ in 0..2 {
        let path = lasso_path(f, &unit, &options, |point| match count(point) > k {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        })?;
        let Some(last) = path.points.iter().rposition(|point| count(point) <= k && point.lambda > 0.0) else { break };
        let point = &path.points[last];
        found = (point.lambda, size(&point.point).max(f64::MIN_POSITIVE));
        let Some(next) = path.points.get(last + 1).filter(|_| count(point) < k) else { break };
        let between = |i: i32| point.lambda * (next.lambda / point.lambda).powf(f64::from(i) / f64::from(CLOSER));
        options.lambdas = Some((1..CLOSER).map(between).collect());
    }
    Ok(found)
}
