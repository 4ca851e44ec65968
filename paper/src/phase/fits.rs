//! One problem of `phase`, and what each method makes of it.

use std::ops::ControlFlow;

use katoms::driver::{Options, Run, Stages, Stop};
use katoms::loss::LeastSquares;
use katoms::method::{
    AcceleratedIht, Cosamp, LassoPathOptions, Method, Momentum, Omp, Refit, Safeguard, Step, largest_curvature,
    lasso_path, refit_on,
};
use katoms::operator::Dense;
use katoms::penalty::L1;
use katoms::search::{Search, search};
use katoms::set::{ConstraintSet, KSparse};
use katoms::space::{Point, SparseVec};
use katoms::{Objective, simulate};

use super::Config;
use crate::{Contestant, Error, Progress};

/// How close a point of the Lasso is to its minimum, relative to f(0): below what the smallest λ weighs.
const LASSO_GAP: f64 = 1e-8;

/// Who takes part, in the order of the maps.
pub(super) const METHODS: [Contestant; 8] = [
    Contestant::Iht,
    Contestant::AccIht,
    Contestant::Katoms,
    Contestant::Staged,
    Contestant::Search,
    Contestant::Omp,
    Contestant::Cosamp,
    Contestant::Lasso,
];

/// What came of a fit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Trial {
    pub recovered: bool,
    pub passes: usize,
}

type Squares = Objective<Dense<'static, f64>, LeastSquares>;

/// A problem, and the rules of all runs on it.
struct Problem<'a> {
    f: Squares,
    set: KSparse,
    config: &'a Config,
    /// λ_max(ΦᵀΦ).
    largest: f64,
}

/// All methods on one draw of a size (rows, k).
pub(super) fn trial(
    config: &Config,
    (rows, k): (usize, usize),
    seed: u64,
    progress: &Progress,
) -> Result<[Trial; METHODS.len()], Error> {
    let columns = config.columns;
    let design = Dense::column_major(simulate::gaussian(rows, columns, seed), rows, columns)?;
    let truth = simulate::sparse_signal(columns, k, seed);
    let mut target = vec![0.0; rows];
    katoms::operator::LinearOperator::apply(&design, &truth, &mut target);
    let f = Objective::new(design, LeastSquares::new(target)?)?;
    // Once for both runs that need it; its passes are counted for each.
    let largest = largest_curvature(&f);
    let prepared = f.cost().passes;
    let problem = Problem { f, set: KSparse::new(k, columns)?, config, largest };
    let mut trials = [Trial { recovered: false, passes: 0 }; METHODS.len()];
    for (trial, contestant) in trials.iter_mut().zip(METHODS) {
        progress.at("problems")?;
        let before = problem.f.cost().passes;
        let x = problem.answer(contestant)?;
        let recovered = x.distance(&truth) <= config.recovered * truth.norm();
        let prepared = if is_published(contestant) { prepared } else { 0 };
        *trial = Trial { recovered, passes: problem.f.cost().passes - before + prepared };
    }
    Ok(trials)
}

/// Whether a method runs as the paper sets it, with the step 1/λ_max.
fn is_published(contestant: Contestant) -> bool {
    matches!(contestant, Contestant::Iht | Contestant::AccIht)
}

impl Problem<'_> {
    /// The answer of a method.
    fn answer(&self, contestant: Contestant) -> Result<SparseVec, Error> {
        let ours = AcceleratedIht::for_structure(self.set.structure());
        match contestant {
            Contestant::Iht => self.run(&self.published(0.0), Stages::direct()),
            Contestant::AccIht => self.run(&self.published(self.config.momentum), Stages::direct()),
            Contestant::Staged => self.run(&ours, Stages::growing(self.set.atoms())),
            Contestant::Search => {
                let how = Search { quality: false, ..Search::default() };
                let options = self.options(Stages::direct());
                Ok(search(&self.f, &self.set, &ours, options, &how, |_, _| ControlFlow::Continue(()))?.point)
            }
            Contestant::Omp => self.run(&Omp, Stages::direct()),
            Contestant::Cosamp => self.run(&Cosamp::default(), Stages::direct()),
            Contestant::Lasso => self.lasso(),
            _ => self.run(&ours, Stages::direct()),
        }
    }

    /// Algorithm 1 as the paper sets it.
    fn published(&self, tau: f64) -> AcceleratedIht {
        AcceleratedIht {
            step: Step::Fixed(1.0 / self.largest),
            momentum: Momentum::Constant(tau),
            refit: Refit::Never,
            safeguard: Safeguard::Off,
        }
    }

    fn options(&self, stages: Stages) -> Options {
        let stop = Stop { iterations: self.config.iterations, ..Stop::default() };
        Options { stop, stages, ..Options::default() }
    }

    /// One run, without the passes of a statement of quality.
    fn run<M>(&self, method: &M, stages: Stages) -> Result<SparseVec, Error>
    where
        M: Method<Dense<'static, f64>, LeastSquares, KSparse>,
    {
        let mut run = Run::new(&self.f, &self.set, method, self.options(stages))?;
        while !run.is_done() {
            run.step();
        }
        Ok(run.outcome_unchecked().point)
    }

    /// The k largest entries at the end of the Lasso's path, refitted.
    fn lasso(&self) -> Result<SparseVec, Error> {
        let penalty = L1::new(1.0, self.config.columns)?;
        let options = LassoPathOptions {
            count: self.config.lasso.count,
            smallest: self.config.lasso.smallest,
            gap: LASSO_GAP,
            ..LassoPathOptions::default()
        };
        let path = lasso_path(&self.f, &penalty, &options, |_| ControlFlow::Continue(()))?;
        let zero = || SparseVec::zero(self.config.columns);
        let last = path.points.last().map_or_else(zero, |p| p.point.clone());
        let largest = self.set.project(last);
        let support = largest.support();
        Ok(refit_on(&self.f, self.f.at(largest), &support).into_point())
    }
}
