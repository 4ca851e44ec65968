//! The data of `iid`: the design, drawn block by block, the planted vector, and the design's largest eigenvalue.

use std::sync::atomic::{AtomicBool, Ordering};

use katoms::Objective;
use katoms::loss::LeastSquares;
use katoms::method::largest_curvature;
use katoms::operator::{Dense, LinearOperator};
use katoms::simulate;
use katoms::space::{IndexSet, SparseVec};

use super::Config;
use crate::race::{Preparation, prepare};
use crate::{Error, Progress};

/// Entries that are drawn between two words with whoever watches: a fraction of a second.
const BLOCK: usize = 1 << 24;

/// The design of the experiment.
pub(super) type Design = Dense<'static, f32>;
/// f(x) = ½‖b − Φx‖².
pub(super) type Squares = Objective<Design, LeastSquares>;

/// A planted problem without noise.
pub(super) struct Problem {
    pub f: Squares,
    /// x*.
    pub truth: SparseVec,
    /// f(0): what there is to gain, as f(x*) = 0.
    pub start: f64,
}

impl Problem {
    /// Draws it. The design is held once, in f32.
    pub fn draw(config: &Config, progress: &Progress) -> Result<Self, Error> {
        let &Config { rows, columns, k, seed, .. } = config;
        let design = Dense::column_major(drawn(rows, columns, seed, progress)?, rows, columns)?;
        let truth = simulate::sparse_signal(columns, k, seed);
        let mut target = vec![0.0; rows];
        design.apply(&truth, &mut target);
        let f = Objective::new(design, LeastSquares::new(target)?)?;
        let start = f.value(&f.at(SparseVec::new(columns, Vec::new(), Vec::new())?));
        Ok(Self { f, truth, start })
    }

    /// The share of the planted entries that x has too.
    pub fn share_found(&self, x: &SparseVec) -> f64 {
        let found = self.truth.indices().iter().filter(|&&i| x.value_at(i) != 0.0).count();
        found as f64 / self.truth.indices().len() as f64
    }
}

/// The entries of the design.
fn drawn(rows: usize, columns: usize, seed: u64, progress: &Progress) -> Result<Vec<f32>, Error> {
    let mut data: Vec<f32> = Vec::new();
    let room = rows.checked_mul(columns).and_then(|entries| data.try_reserve_exact(entries).ok());
    if room.is_none() {
        let gigabytes = 4.0 * rows as f64 * columns as f64 / 1e9;
        let why = format!(
            "a design of {rows} × {columns} takes {gigabytes:.1} GB of memory, which cannot be had; fewer `rows` or \
             `columns` take less"
        );
        return Err(crate::Experiment::Iid.bad_config(&why));
    }
    let block = (BLOCK / rows).max(1);
    for first in (0..columns).step_by(block) {
        progress.at("drawing the design")?;
        let from = data.len();
        data.resize(from + rows * block.min(columns - first), 0.0);
        simulate::gaussian_columns_f32(&mut data[from..], rows, first, seed);
    }
    Ok(data)
}

/// λ_max(ΦᵀΦ), and what it cost.
pub(super) fn largest_eigenvalue(f: &Squares, progress: &Progress) -> Result<(f64, Preparation), Error> {
    let target = vec![0.0; f.operator().rows()];
    let watched = Watched { design: f.operator(), progress, stopped: AtomicBool::new(false) };
    let watched = Objective::new(watched, LeastSquares::new(target)?)?;
    let (largest, preparation) = prepare(&watched, || largest_curvature(&watched));
    if watched.operator().stopped.load(Ordering::Relaxed) {
        return Err(crate::Stopped.into());
    }
    Ok((largest, preparation))
}

/// A design that says each pass. Once it has been stopped its products are zero, which ends a Lanczos iteration.
struct Watched<'a> {
    design: &'a Design,
    progress: &'a Progress,
    stopped: AtomicBool,
}

impl Watched<'_> {
    /// Whether to go on.
    fn goes_on(&self) -> bool {
        if self.progress.at("the largest eigenvalue").is_err() {
            self.stopped.store(true, Ordering::Relaxed);
        }
        !self.stopped.load(Ordering::Relaxed)
    }
}

impl LinearOperator for Watched<'_> {
    type Point = SparseVec;
    type Covector = Vec<f64>;
    type Base = Design;

    fn domain(&self) -> usize {
        self.design.domain()
    }
    fn n_outputs(&self) -> usize {
        self.design.n_outputs()
    }
    fn new_covector(&self) -> Vec<f64> {
        self.design.new_covector()
    }
    fn apply(&self, x: &SparseVec, out: &mut [f64]) {
        if self.goes_on() { self.design.apply(x, out) } else { out.fill(0.0) }
    }
    fn apply_covector(&self, g: &Vec<f64>, out: &mut [f64]) {
        if self.goes_on() { self.design.apply_covector(g, out) } else { out.fill(0.0) }
    }
    fn adjoint(&self, r: &[f64], out: &mut Vec<f64>) {
        if self.goes_on() { self.design.adjoint(r, out) } else { out.fill(0.0) }
    }
    fn adjoint_on(&self, r: &[f64], t: &IndexSet) -> SparseVec {
        self.design.adjoint_on(r, t)
    }
    fn base(&self) -> &Design {
        self.design
    }
}

#[cfg(test)]
mod tests {

    use super::*;

    fn config() -> Config {
        Config {
            rows: 60,
            columns: 300,
            k: 4,
            overshot: 20,
            iterations: 50,
            ..crate::Experiment::Iid.settings(&crate::Request::default()).unwrap()
        }
    }

    #[test]
    fn the_eigenvalue_is_that_of_the_gram_matrix() {
        let problem = Problem::draw(&config(), &Progress::hidden()).unwrap();
        let (largest, cost) = largest_eigenvalue(&problem.f, &Progress::hidden()).unwrap();
        assert!((largest - largest_curvature(&problem.f)).abs() < 1e-12 * largest);
        assert_eq!(cost.passes, problem.f.cost().passes);
        // ‖Φᵀv‖² ≤ λ_max‖v‖² for any v, here for the target.
        let target = problem.f.at(problem.truth.clone()).image().to_vec();
        let mut g = problem.f.operator().new_covector();
        problem.f.operator().adjoint(&target, &mut g);
        let square = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>();
        assert!(square(&g) <= largest * square(&target));
    }

    #[test]
    fn a_stop_is_heard_within_the_eigenvalue() {
        let problem = Problem::draw(&config(), &Progress::hidden()).unwrap();
        let ended = largest_eigenvalue(&problem.f, &Progress::stopped());
        assert!(ended.unwrap_err().is::<crate::Stopped>());
    }

    #[test]
    fn a_design_that_does_not_fit_is_refused() {
        let config = Config { rows: usize::MAX / 8, columns: 1000, ..config() };
        let why = Problem::draw(&config, &Progress::hidden()).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(why.contains("GB of memory"), "{why}");
    }

    #[test]
    fn the_planted_vector_has_no_residual() {
        let problem = Problem::draw(&config(), &Progress::hidden()).unwrap();
        let at = problem.f.at(problem.truth.clone());
        assert!(problem.f.value(&at) < 1e-28 && problem.start > 0.1);
        assert_eq!(problem.share_found(&problem.truth), 1.0);
    }
}
