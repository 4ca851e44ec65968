//! One problem of `phase`, and what each method makes of it.

use std::ops::ControlFlow;

use anyhow::Result;
use katoms::driver::{Options, Run, Stages, Stop};
use katoms::loss::LeastSquares;
use katoms::method::{
    AcceleratedIht, Cosamp, LassoPathOptions, Method, Omp, Step, largest_curvature, lasso_path, refit_on,
};
use katoms::operator::{Dense, LinearOperator};
use katoms::penalty::L1;
use katoms::search::Search;
use katoms::set::{ConstraintSet, KSparse};
use katoms::space::{Point, SparseVec};
use katoms::{Fit, Objective, simulate};

use super::Config;
use crate::race::published;
use crate::{Contestant, Progress};

/// How close a point of the Lasso is to its minimum, relative to f(0): below what the smallest λ weighs.
const LASSO_GAP: f64 = 1e-8;

/// Who takes part, in the order of the maps.
pub const METHODS: [Contestant; 8] = [
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
#[derive(Debug, Clone, Copy)]
pub struct Trial {
    pub recovered: bool,
    pub passes: usize,
}

/// A problem, and the rules of all runs on it.
struct Problem<'a> {
    f: Objective<Dense<'static, f64>, LeastSquares>,
    set: KSparse,
    config: &'a Config,
    /// λ_max(ΦᵀΦ).
    largest: f64,
}

/// All methods on one draw of a size (rows, k).
pub fn trial(config: &Config, (rows, k): (usize, usize), seed: u64, progress: &Progress) -> Result<Vec<Trial>> {
    let columns = config.columns;
    let design = Dense::column_major(simulate::gaussian(rows, columns, seed), rows, columns)?;
    let truth = simulate::sparse_signal(columns, k, seed);
    let mut target = vec![0.0; rows];
    design.apply(&truth, &mut target);
    let f = Objective::new(design, LeastSquares::new(target)?)?;
    // Once for both runs that need it; its passes are counted for each.
    let largest = largest_curvature(&f);
    let prepared = f.cost().passes;
    let problem = Problem { f, set: KSparse::new(k, columns)?, config, largest };
    let one = |contestant| {
        progress.at("problems")?;
        let before = problem.f.cost().passes;
        let x = problem.answer(contestant)?;
        let recovered = x.distance(&truth) <= config.recovered * truth.norm();
        let is_published = matches!(contestant, Contestant::Iht | Contestant::AccIht);
        let prepared = if is_published { prepared } else { 0 };
        Ok(Trial { recovered, passes: problem.f.cost().passes - before + prepared })
    };
    METHODS.into_iter().map(one).collect()
}

impl Problem<'_> {
    fn answer(&self, contestant: Contestant) -> Result<SparseVec> {
        let (ours, direct) = (AcceleratedIht::for_structure(self.set.structure()), Stages::direct());
        let theirs = |tau| published(Step::Fixed(1.0 / self.largest), tau);
        match contestant {
            Contestant::Iht => self.run(&theirs(0.0), direct),
            Contestant::AccIht => self.run(&theirs(self.config.momentum), direct),
            Contestant::Staged => self.run(&ours, Stages::growing(self.set.atoms())),
            Contestant::Search => {
                let how = Search { quality: false, ..Search::default() };
                let fit = Fit::new(&self.f, &self.set).method(ours).options(self.options(direct));
                Ok(fit.search(how).run()?.point)
            }
            Contestant::Omp => self.run(&Omp, direct),
            Contestant::Cosamp => self.run(&Cosamp::default(), direct),
            Contestant::Lasso => self.lasso(),
            _ => self.run(&ours, direct),
        }
    }

    fn options(&self, stages: Stages) -> Options {
        let stop = Stop { iterations: self.config.iterations, ..Stop::default() };
        Options { stop, stages, ..Options::default() }
    }

    /// One run, without the passes of a statement of quality.
    fn run<M>(&self, method: &M, stages: Stages) -> Result<SparseVec>
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
    fn lasso(&self) -> Result<SparseVec> {
        let super::Descent { smallest, count } = self.config.lasso;
        let options = LassoPathOptions { count, smallest, gap: LASSO_GAP, ..LassoPathOptions::default() };
        let penalty = L1::new(1.0, self.config.columns)?;
        let path = lasso_path(&self.f, &penalty, &options, |_| ControlFlow::Continue(()))?;
        let last = path.points.last().map_or_else(|| SparseVec::zero(self.config.columns), |p| p.point.clone());
        let largest = self.set.project(last);
        let support = largest.support();
        Ok(refit_on(&self.f, self.f.at(largest), &support).into_point())
    }
}
