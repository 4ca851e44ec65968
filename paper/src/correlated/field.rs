//! Who takes part, and how each is run.

use std::ops::ControlFlow;

use katoms::driver::{Event, Options, Outcome, Stages, solve};
use katoms::loss::LeastSquares;
use katoms::method::{
    AcceleratedIht, Foba, ForwardRegression, LassoPath, LassoPathOptions, Method, Momentum, Oblivious, Omp, Refit,
    Safeguard, Step, lasso_path, refit_on,
};
use katoms::operator::Dense;
use katoms::penalty::L1;
use katoms::search::{Search, search};
use katoms::set::{ConstraintSet, KSparse};
use katoms::space::{Point, SparseVec};
use katoms::{Objective, Stop};

use super::Config;
use super::draw::{Draw, Scores};
use crate::{Contestant, Error, Progress};

/// One who takes part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entrant {
    pub contestant: Contestant,
    /// The Lasso's atoms with least-squares values in place of its own.
    pub refitted: bool,
}

impl Entrant {
    const fn of(contestant: Contestant) -> Self {
        Self { contestant, refitted: false }
    }

    /// What a table says.
    pub fn label(self) -> String {
        let refitted = if self.refitted { ", refitted" } else { "" };
        format!("{}{refitted}", self.contestant.label())
    }

    /// Whether the paper compares AccIHT with it.
    pub fn in_paper(self) -> bool {
        let theirs = [Contestant::Lasso, Contestant::Oblivious, Contestant::Forward, Contestant::Foba];
        theirs.contains(&self.contestant) && !self.refitted
    }
}

/// All of them: the paper's, then the others, then ours.
pub(super) const FIELD: [Entrant; 11] = [
    Entrant::of(Contestant::AccIht),
    Entrant::of(Contestant::Lasso),
    Entrant::of(Contestant::Oblivious),
    Entrant::of(Contestant::Forward),
    Entrant::of(Contestant::Foba),
    Entrant { contestant: Contestant::Lasso, refitted: true },
    Entrant::of(Contestant::Omp),
    Entrant::of(Contestant::Iht),
    Entrant::of(Contestant::Katoms),
    Entrant::of(Contestant::Staged),
    Entrant::of(Contestant::Search),
];

type Squares<'a> = Objective<Dense<'a, f64>, LeastSquares>;

/// Every model of one draw: by level, then in the order of [`FIELD`].
pub(super) fn fit_all(config: &Config, seed: u64, progress: &Progress) -> Result<Vec<Vec<Scores>>, Error> {
    let draw = Draw::new(config, seed)?;
    let f = draw.objective()?;
    let options = LassoPathOptions { count: config.penalties, ..LassoPathOptions::default() };
    let path = lasso_path(&f, &L1::new(1.0, config.columns)?, &options, |_| ControlFlow::Continue(()))?;
    let fitter = Fitter { config, draw: &draw, f: &f, path: &path, progress };
    config.levels.iter().map(|&k| FIELD.iter().map(|&entrant| fitter.fit(entrant, k)).collect()).collect()
}

/// What the fits of one draw share.
struct Fitter<'a> {
    config: &'a Config,
    draw: &'a Draw,
    f: &'a Squares<'a>,
    path: &'a LassoPath,
    progress: &'a Progress,
}

impl Fitter<'_> {
    fn fit(&self, entrant: Entrant, k: usize) -> Result<Scores, Error> {
        let set = KSparse::new(k, self.config.columns)?;
        let direct = Options { stop: Stop::default(), ..Options::default() };
        let ours = AcceleratedIht::for_structure(set.structure());
        match entrant.contestant {
            Contestant::AccIht => self.paper(&set, self.config.momentum),
            Contestant::Iht => self.paper(&set, 0.0),
            Contestant::Lasso => self.lasso(k, entrant.refitted),
            Contestant::Oblivious => self.solve(&set, &Oblivious, direct),
            Contestant::Forward => self.solve(&set, &ForwardRegression, direct),
            // It may grow as far as the data go, and takes atoms back from there.
            Contestant::Foba => {
                let most = Some((self.config.rows / 2).min(self.config.columns).max(k));
                self.solve(&set, &Foba { most, ..Foba::default() }, direct)
            }
            Contestant::Omp => self.solve(&set, &Omp, direct),
            Contestant::Staged => self.solve(&set, &ours, Options { stages: Stages::growing(k), ..direct }),
            Contestant::Search => {
                let how = Search::default();
                self.heard(|observer| search(self.f, &set, &ours, Options::for_set(&set), &how, observer))
            }
            _ => self.solve(&set, &ours, direct),
        }
    }

    /// Algorithm 1 as the paper sets it: constant τ, nothing else. Its step, 1/λ_max, the paper names for its other
    /// experiment with sparse vectors.
    fn paper(&self, set: &KSparse, tau: f64) -> Result<Scores, Error> {
        let method = AcceleratedIht {
            step: Step::InverseLipschitz,
            momentum: Momentum::Constant(tau),
            refit: Refit::Never,
            safeguard: Safeguard::Off,
        };
        let stop = Stop { tolerance: self.config.tolerance, iterations: self.config.iterations, ..Stop::default() };
        self.solve(set, &method, Options { stop, ..Options::default() })
    }

    fn solve<M>(&self, set: &KSparse, method: &M, options: Options) -> Result<Scores, Error>
    where
        M: for<'a> Method<Dense<'a, f64>, LeastSquares, KSparse>,
    {
        self.heard(|observer| solve(self.f, set, method, options, observer))
    }

    /// Runs a fit whose observer hears when somebody wants to stop.
    fn heard<F>(&self, fit: F) -> Result<Scores, Error>
    where
        F: FnOnce(&mut dyn FnMut(&Event, &SparseVec) -> ControlFlow<()>) -> Result<Outcome<SparseVec>, katoms::Error>,
    {
        let mut stopped = Ok(());
        let outcome = fit(&mut |_, _| {
            stopped = self.progress.at("draws");
            if stopped.is_err() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        stopped?;
        Ok(self.draw.scores(&outcome.point, outcome.passes))
    }

    /// The least penalty of the path that leaves at most k atoms, with the Lasso's own values or refitted.
    fn lasso(&self, k: usize, refitted: bool) -> Result<Scores, Error> {
        let sparse = self.path.points.iter().rfind(|p| p.point.indices().len() <= k);
        let point =
            sparse.map_or_else(|| SparseVec::new(self.config.columns, vec![], vec![]), |p| Ok(p.point.clone()))?;
        let point = if refitted {
            let support = point.support();
            refit_on(self.f, self.f.at(point), &support).point().clone()
        } else {
            point
        };
        Ok(self.draw.scores(&point, self.path.passes))
    }
}
