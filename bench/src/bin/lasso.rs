//! The path of the Lasso beside scikit-learn's, on the same data and the same λ.
//!
//! ```text
//! cargo run --release -p katoms-bench --bin lasso draws target/lasso    writes the data
//! python bench/peers/lasso_path.py target/lasso                         times scikit-learn
//! cargo run --release -p katoms-bench --bin lasso target/lasso          times katoms, prints the table
//! ```
//!
//! `RAYON_NUM_THREADS` and `OPENBLAS_NUM_THREADS` say how many threads each may have. A time is the best of three.

use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

use katoms::linalg::norm;
use katoms::loss::LeastSquares;
use katoms::method::{LassoPath, LassoPathOptions, lasso_path};
use katoms::operator::{Dense, LinearOperator};
use katoms::penalty::L1;
use katoms::{Objective, Status, simulate};

/// A design of the examples of scikit-learn and celer.
struct Problem {
    name: &'static str,
    rows: usize,
    columns: usize,
    planted: usize,
    correlation: f64,
}

const PROBLEMS: [Problem; 5] = [
    Problem { name: "wide", rows: 100, columns: 10000, planted: 10, correlation: 0.0 },
    Problem { name: "large", rows: 500, columns: 5000, planted: 100, correlation: 0.5 },
    Problem { name: "medium", rows: 1000, columns: 2000, planted: 100, correlation: 0.6 },
    Problem { name: "correlated", rows: 200, columns: 1000, planted: 20, correlation: 0.9 },
    Problem { name: "tall", rows: 2000, columns: 500, planted: 50, correlation: 0.5 },
];
/// The noise, relative to the signal.
const NOISE: f64 = 0.2;
/// The last λ as a share of λ_max, as in scikit-learn's `eps`, and its `tol`.
const SETTINGS: [(&str, &str); 4] = [("1e-2", "1e-4"), ("1e-2", "1e-6"), ("1e-3", "1e-4"), ("1e-3", "1e-6")];
const REPEATS: usize = 3;

type Told<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Told<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["draws", folder] => PROBLEMS.iter().try_for_each(|problem| draw(problem, Path::new(folder))),
        [folder] => compare(Path::new(folder)),
        _ => Err("usage: lasso draws FOLDER, or lasso FOLDER".into()),
    }
}

fn file(folder: &Path, problem: &Problem, what: &str) -> PathBuf {
    folder.join(format!("{}_{what}.f64", problem.name))
}

fn draw(problem: &Problem, folder: &Path) -> Told<()> {
    let Problem { rows, columns, planted, correlation, .. } = *problem;
    let design = simulate::autoregressive(rows, columns, correlation, 0);
    let signal = simulate::sparse_signal(columns, planted, 0).map(|_, v| v.signum());
    let mut y = vec![0.0; rows];
    Dense::column_major(&design, rows, columns)?.apply(&signal, &mut y);
    let y = simulate::noisy(&y, NOISE * norm(&y) / (rows as f64).sqrt(), 0);
    let bytes = |values: &[f64]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    fs::create_dir_all(folder)?;
    fs::write(file(folder, problem, "design"), bytes(&design))?;
    fs::write(file(folder, problem, "target"), bytes(&y))?;
    fs::write(folder.join(format!("{}.txt", problem.name)), format!("{rows} {columns}\n"))?;
    Ok(())
}

fn read(path: &Path) -> Told<Vec<f64>> {
    let bytes = fs::read(path).map_err(|e| format!("{}: {e}; write it with `lasso draws`", path.display()))?;
    Ok(bytes.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().expect("eight bytes"))).collect())
}

/// (seconds, largest gap) of the peer, by problem and setting.
fn peer(folder: &Path) -> Told<BTreeMap<String, (f64, f64)>> {
    let mut told = BTreeMap::new();
    let Ok(table) = fs::read_to_string(folder.join("sklearn.csv")) else { return Ok(told) };
    for line in table.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        told.insert(cells[..3].join(","), (cells[3].parse()?, cells[4].parse()?));
    }
    Ok(told)
}

fn compare(folder: &Path) -> Told<()> {
    let peer = peer(folder)?;
    println!("threads: {}; gaps are the largest of the path, as shares of ‖y‖²", rayon::current_num_threads());
    println!(
        "problem      rows  columns   eps   tol   katoms s      gap  passes  columns  nonzeros  sklearn s      gap  ratio"
    );
    for problem in &PROBLEMS {
        let (rows, columns) = (problem.rows, problem.columns);
        let design = read(&file(folder, problem, "design"))?;
        let y = read(&file(folder, problem, "target"))?;
        let f = Objective::new(Dense::column_major(&design, rows, columns)?, LeastSquares::new(y.clone())?)?;
        for (eps, tol) in SETTINGS {
            // scikit-learn's tolerance is one on ½‖y − Xβ‖² + …, relative to ‖y‖²
            let gap = 2.0 * tol.parse::<f64>()?;
            let options = LassoPathOptions { smallest: eps.parse()?, gap, ..LassoPathOptions::default() };
            let (path, seconds) = timed(&f, &options)?;
            let proven = path.points.iter().map(|p| p.gap).fold(0.0, f64::max) / norm(&y).powi(2);
            let nonzeros = path.points.last().map_or(0, |p| p.point.indices().len());
            let unproven = path.points.iter().filter(|p| p.status != Status::Converged).count();
            print!("{:<11} {rows:>5} {columns:>8}  {eps}  {tol} {seconds:>10.3} {proven:>8.1e}", problem.name);
            print!(" {:>7} {:>8} {nonzeros:>9}", path.passes, path.columns);
            if let Some((theirs, gap)) = peer.get(&format!("{},{eps},{tol}", problem.name)) {
                print!(" {theirs:>10.3} {gap:>8.1e} {:>6.1}", theirs / seconds);
            }
            println!("{}", if unproven > 0 { format!("  {unproven} points without proof") } else { String::new() });
        }
    }
    Ok(())
}

fn timed(f: &Objective<Dense<'_, f64>, LeastSquares>, options: &LassoPathOptions) -> Told<(LassoPath, f64)> {
    let penalty = L1::new(1.0, f.operator().domain())?;
    let mut best = f64::INFINITY;
    let mut answer = None;
    for _ in 0..REPEATS {
        let clock = Instant::now();
        answer = Some(lasso_path(f, &penalty, options, |_| ControlFlow::Continue(()))?);
        best = best.min(clock.elapsed().as_secs_f64());
    }
    Ok((answer.ok_or("no path")?, best))
}
