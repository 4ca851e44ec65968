//! Partial passes against full ones: the same answers for fewer reads?
//!
//! `cargo run --release -p katoms-bench --bin partial [seeds [rows columns k]]` (50 seeds of 750 x 12000, k = 40)
//!
//! Five families of designs, with and without noise (a signal-to-noise ratio of 5, of variances). For each seed the same
//! problem is solved by full passes alone and with partial ones, by a single run and by a search with exchanges. Reads
//! are full passes, partial ones by their share of the rows, and the columns that were read outside of either by their
//! share of the columns; they are exact. Seconds are this machine's.

use std::time::Instant;

use katoms::driver::{Options, Partial, Run};
use katoms::loss::LeastSquares;
use katoms::method::AcceleratedIht;
use katoms::operator::{Dense, LinearOperator};
use katoms::search::Search;
use katoms::set::{ConstraintSet, KSparse};
use katoms::space::SparseVec;
use katoms::{Error, Fit, Objective, Outcome, linalg, simulate};
use katoms_bench::families::{FAMILIES, Family};

/// A signal-to-noise ratio of variances.
const SNR: f64 = 5.0;
/// Objectives that differ by less than this share are the same.
const SAME: f64 = 1e-9;

fn main() -> Result<(), Error> {
    let asked: Vec<usize> = std::env::args().skip(1).map(|x| x.parse().expect("a number")).collect();
    let seeds = asked.first().copied().unwrap_or(50) as u64;
    let (m, n, k) = if let [_, m, n, k] = asked[..] { (m, n, k) } else { (750, 12_000, 40) };
    println!(
        "{m} x {n}, k = {k}, {seeds} seeds; reads: median [most]; differs: f with partial passes over f with full ones"
    );
    println!(
        "{:13} {:5} {:6} {:>12} {:>14} {:>8} {:>6} {:>6} {:>6} {:>18} {:>9}",
        "family", "noise", "way", "full", "partial", "the same", "lower", "higher", "truth", "mean, worst", "time"
    );
    for family in FAMILIES {
        for noisy in [false, true] {
            let mut tables = [Vec::new(), Vec::new()];
            for seed in 0..seeds {
                let problem = Problem::draw(family, (m, n, k), noisy, seed)?;
                for (table, exchanges) in tables.iter_mut().zip([false, true]) {
                    table.push(problem.compare(exchanges)?);
                }
            }
            for (table, way) in tables.iter().zip(["run", "search"]) {
                print_row(family.name(), noisy, way, table);
            }
        }
    }
    Ok(())
}

/// A planted problem.
struct Problem {
    design: Vec<f32>,
    truth: SparseVec,
    target: Vec<f64>,
}

/// How the two ways ended.
struct Compared {
    full: f64,
    partial: f64,
    same: bool,
    /// f with partial passes over f with full ones.
    ratio: f64,
    truth: [bool; 2],
    seconds: [f64; 2],
}

impl Problem {
    fn draw(family: Family, (m, n, k): (usize, usize, usize), noisy: bool, seed: u64) -> Result<Self, Error> {
        let design = family.design(m, n, seed);
        let truth = simulate::sparse_signal(n, k, seed);
        let mut target = vec![0.0; m];
        Dense::column_major(&design, m, n)?.apply(&truth, &mut target);
        if noisy {
            let deviation = linalg::norm(&target) / (SNR * m as f64).sqrt();
            target = simulate::noisy(&target, deviation, seed);
        }
        Ok(Self { design, truth, target })
    }

    fn compare(&self, exchanges: bool) -> Result<Compared, Error> {
        let [full, partial] = [self.solve(exchanges, false)?, self.solve(exchanges, true)?];
        let zero = 0.5 * linalg::dot(&self.target, &self.target);
        let floor = 1e-18 * zero;
        let (a, b) = (full.0.objective.max(floor), partial.0.objective.max(floor));
        let found = |outcome: &Outcome<SparseVec>| outcome.point.indices() == self.truth.indices();
        Ok(Compared {
            full: self.reads(&full.0),
            partial: self.reads(&partial.0),
            same: full.0.point.indices() == partial.0.point.indices() && (a - b).abs() <= SAME * a,
            ratio: b / a,
            truth: [found(&full.0), found(&partial.0)],
            seconds: [full.1, partial.1],
        })
    }

    fn reads(&self, outcome: &Outcome<SparseVec>) -> f64 {
        outcome.reads + outcome.columns as f64 / self.truth.dim() as f64
    }

    fn solve(&self, exchanges: bool, partial: bool) -> Result<(Outcome<SparseVec>, f64), Error> {
        let n = self.truth.dim();
        let design = Dense::column_major(&self.design, self.target.len(), n)?;
        let f = Objective::new(&design, LeastSquares::new(self.target.clone())?)?;
        let set = KSparse::new(self.truth.indices().len(), n)?;
        let method = AcceleratedIht::for_structure(set.structure());
        let mut options = Options::for_set(&set);
        if !partial {
            options.partial = Partial::Never;
        }
        let clock = Instant::now();
        let outcome = if exchanges {
            let how = Search { quality: false, ..Search::default() };
            Fit::new(&f, &set).options(options).search(how).run()?
        } else {
            let mut run = Run::new(&f, &set, &method, options)?;
            while !run.is_done() {
                run.step();
            }
            run.outcome_unchecked()
        };
        Ok((outcome, clock.elapsed().as_secs_f64()))
    }
}

fn print_row(family: &str, noisy: bool, way: &str, table: &[Compared]) {
    let sorted = |value: fn(&Compared) -> f64| {
        let mut values: Vec<f64> = table.iter().map(value).collect();
        values.sort_by(f64::total_cmp);
        values
    };
    let (full, partial) = (sorted(|c| c.full), sorted(|c| c.partial));
    let count = |test: fn(&Compared) -> bool| table.iter().filter(|c| test(c)).count();
    let (same, higher) = (count(|c| c.same), count(|c| !c.same && c.ratio > 1.0));
    let lower = table.len() - same - higher;
    let ratios = sorted(|c| c.ratio);
    let mean = (ratios.iter().map(|r| r.ln()).sum::<f64>() / ratios.len() as f64).exp();
    let worst = ratios[ratios.len() - 1];
    let truth = format!("{}/{}", count(|c| c.truth[1]), count(|c| c.truth[0]));
    let time = |at: usize| table.iter().map(|c| c.seconds[at]).sum::<f64>();
    println!(
        "{family:13} {:5} {way:6} {:5.1} [{:4.1}] {:6.2} [{:4.1}] {same:8} {lower:6} {higher:6} {truth:>6} {mean:9.3} {worst:9.3e} {:9.2}",
        if noisy { "SNR 5" } else { "none" },
        full[full.len() / 2],
        full[full.len() - 1],
        partial[partial.len() / 2],
        partial[partial.len() - 1],
        time(1) / time(0),
    );
}
