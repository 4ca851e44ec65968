//! One draw of `correlated`: a design whose neighbouring columns are alike, in two halves, and what each method makes of it.

use std::ops::ControlFlow;

use anyhow::Result;
use katoms::driver::{Options, Stages, Stop, solve};
use katoms::linalg;
use katoms::loss::LeastSquares;
use katoms::method::{
    AcceleratedIht, Foba, ForwardRegression, LassoPath, LassoPathOptions, Method, Oblivious, Omp, Step, lasso_path,
    refit_on,
};
use katoms::operator::{Dense, LinearOperator};
use katoms::penalty::L1;
use katoms::set::{ConstraintSet, KSparse};
use katoms::space::{Point, SparseVec};
use katoms::{Fit, Objective, simulate};

use super::Config;
use crate::race::published;
use crate::{Contestant, Progress, scores};

/// The three measures of a model, of which more is better, and the passes that its fit took.
pub type Scores = [f64; 4];

/// What the measures are, and what they are about.
pub const MEASURES: [(&str, &str); 3] =
    [("support AUC", "The support"), ("test R²", "The prediction"), ("training log-likelihood", "The fit")];

/// Who takes part: the paper's, then the others, then ours. The second Lasso has least-squares values in place of its own.
pub const FIELD: [Contestant; 11] = [
    Contestant::AccIht,
    Contestant::Lasso,
    Contestant::Oblivious,
    Contestant::Forward,
    Contestant::Foba,
    Contestant::Lasso,
    Contestant::Omp,
    Contestant::Iht,
    Contestant::Katoms,
    Contestant::Staged,
    Contestant::Search,
];
/// The place of the refitted Lasso.
pub const REFITTED: usize = 5;
/// The places of those with whom the paper compares.
pub const RIVALS: [usize; 4] = [1, 2, 3, 4];

/// What a table says.
pub fn label(place: usize) -> String {
    format!("{}{}", FIELD[place].label(), if place == REFITTED { ", refitted" } else { "" })
}

/// Half of the rows, column-major, with its target.
struct Half {
    design: Vec<f64>,
    target: Vec<f64>,
}

/// A planted problem.
struct Draw {
    train: Half,
    test: Half,
    truth: SparseVec,
}

impl Draw {
    /// The draw of a seed. Rows are independent, so the first and the last half are as good as a random split.
    fn new(config: &Config, seed: u64) -> Result<Self> {
        let (all, rows) = (config.rows, config.rows / 2);
        let whole = simulate::autoregressive(all, config.columns, config.correlation, seed);
        let truth = simulate::sparse_signal(config.columns, config.k, seed);
        let half = |from: usize| -> Result<Half> {
            let design: Vec<f64> = whole.chunks(all).flat_map(|column| column[from..from + rows].to_vec()).collect();
            let mut target = vec![0.0; rows];
            Dense::column_major(&design, rows, config.columns)?.apply(&truth, &mut target);
            Ok(Half { design, target })
        };
        let (mut train, mut test) = (half(0)?, half(rows)?);
        let deviation = linalg::norm(&train.target) / (config.snr * rows as f64).sqrt();
        let mut target = simulate::noisy(&[train.target, test.target].concat(), deviation, seed);
        test.target = target.split_off(rows);
        train.target = target;
        Ok(Self { train, test, truth })
    }

    fn scores(&self, found: &SparseVec, passes: usize) -> Scores {
        let Self { train, test, truth } = self;
        [
            scores::support_auc(found, truth),
            scores::r_squared(&test.design, &test.target, found),
            scores::log_likelihood(&train.design, &train.target, found),
            passes as f64,
        ]
    }
}

/// Every model of one draw: by level, then in the order of [`FIELD`].
pub fn fit_all(config: &Config, seed: u64, progress: &Progress) -> Result<Vec<Vec<Scores>>> {
    let draw = Draw::new(config, seed)?;
    let design = Dense::column_major(&draw.train.design, draw.train.target.len(), config.columns)?;
    let f = Objective::new(design, LeastSquares::new(draw.train.target.clone())?)?;
    let options = LassoPathOptions { count: config.penalties, ..LassoPathOptions::default() };
    let path = lasso_path(&f, &L1::new(1.0, config.columns)?, &options, |_| ControlFlow::Continue(()))?;
    let fitter = Fitter { config, draw: &draw, f: &f, path: &path, progress };
    config.levels.iter().map(|&k| (0..FIELD.len()).map(|place| fitter.fit(place, k)).collect()).collect()
}

/// What the fits of one draw share.
struct Fitter<'a> {
    config: &'a Config,
    draw: &'a Draw,
    f: &'a Objective<Dense<'a, f64>, LeastSquares>,
    path: &'a LassoPath,
    progress: &'a Progress,
}

impl Fitter<'_> {
    fn fit(&self, place: usize, k: usize) -> Result<Scores> {
        let config = self.config;
        let set = KSparse::new(k, config.columns)?;
        let ours = AcceleratedIht::for_structure(set.structure());
        let direct = Options::default();
        // The step 1/λ_max, which the paper names for its other experiment with sparse vectors.
        let theirs = |tau| published(Step::InverseLipschitz, tau);
        let stop = Stop { tolerance: config.tolerance, iterations: config.iterations, ..Stop::default() };
        let capped = Options { stop, ..Options::default() };
        match FIELD[place] {
            Contestant::AccIht => self.solve(&set, &theirs(config.momentum), capped),
            Contestant::Iht => self.solve(&set, &theirs(0.0), capped),
            Contestant::Lasso => self.lasso(k, place),
            Contestant::Oblivious => self.solve(&set, &Oblivious, direct),
            Contestant::Forward => self.solve(&set, &ForwardRegression, direct),
            // It may grow as far as the data go, and takes atoms back from there.
            Contestant::Foba => {
                let most = Some((config.rows / 2).min(config.columns).max(k));
                self.solve(&set, &Foba { most, ..Foba::default() }, direct)
            }
            Contestant::Omp => self.solve(&set, &Omp, direct),
            Contestant::Staged => self.solve(&set, &ours, Options { stages: Stages::growing(k), ..direct }),
            Contestant::Search => {
                let outcome =
                    self.progress.watch("draws", |look| Fit::new(self.f, &set).method(ours).observe(look).run())?;
                Ok(self.draw.scores(&outcome.point, outcome.passes))
            }
            _ => self.solve(&set, &ours, direct),
        }
    }

    fn solve<M>(&self, set: &KSparse, method: &M, options: Options) -> Result<Scores>
    where
        M: for<'a> Method<Dense<'a, f64>, LeastSquares, KSparse>,
    {
        let outcome = self.progress.watch("draws", |look| solve(self.f, set, method, options, look))?;
        Ok(self.draw.scores(&outcome.point, outcome.passes))
    }

    /// The least penalty of the path that leaves at most k atoms, with the Lasso's own values or refitted.
    fn lasso(&self, k: usize, place: usize) -> Result<Scores> {
        let sparse = self.path.points.iter().rfind(|p| p.point.indices().len() <= k);
        let mut point = sparse.map_or_else(|| SparseVec::zero(self.config.columns), |p| p.point.clone());
        if place == REFITTED {
            let support = point.support();
            point = refit_on(self.f, self.f.at(point), &support).into_point();
        }
        Ok(self.draw.scores(&point, self.path.passes))
    }
}
