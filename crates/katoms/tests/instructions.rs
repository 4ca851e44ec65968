//! How many instructions the hot paths take: a guard against a kernel that no longer vectorises, a loop that allocates,
//! a pass too many. Instructions are the same on a busy machine; times are not.
//!
//! Each job runs in a process of its own under callgrind, once with one round and once with three: half of the
//! difference is a round, whatever starting the program takes. Without valgrind the test is skipped with a message.
//! callgrind knows AVX2, not AVX-512: it counts what a machine with AVX2 would run. Limits are those of a release, about a
//! tenth above what was counted; a change that needs more says why here. Builds with debug assertions are counted and not
//! judged. `make test-long` runs it.

use std::process::{Command, exit};

use katoms::loss::LeastSquares;
use katoms::operator::{Dense, LinearOperator};
use katoms::search::Search;
use katoms::set::KSparse;
use katoms::{Fit, Objective, simulate};
use rayon::prelude::*;

/// Tells the process which job to run, and how often.
const JOB: &str = "KATOMS_COUNTED_JOB";
const ROUNDS: &str = "KATOMS_COUNTED_ROUNDS";

/// A job: its name, what is counted in units of, and the most instructions for one of them.
const JOBS: [(&str, usize, f64); 5] = [
    ("adjoint, columns, f32", ROWS * COLUMNS, 0.97),
    ("adjoint, columns, f64", ROWS * COLUMNS, 0.72),
    ("adjoint, rows, f32", ROWS * COLUMNS, 0.87),
    ("adjoint, 64 residuals", ROWS * COLUMNS * 64, 0.70),
    ("a fit of 16 atoms", ROWS * COLUMNS, 4.4),
];
const ROWS: usize = 1024;
const COLUMNS: usize = 2048;
const ATOMS: usize = 16;

fn main() {
    match std::env::var(JOB) {
        Ok(name) => {
            let rounds = std::env::var(ROUNDS).ok().and_then(|r| r.parse().ok()).unwrap_or(1);
            run(&name, rounds);
        }
        Err(_) => guard(),
    }
}

/// Compares all jobs with their limits.
fn guard() {
    let known = Command::new("valgrind").arg("--version").output();
    if !known.is_ok_and(|told| told.status.success()) {
        println!("instructions: skipped, since valgrind is not installed");
        return;
    }
    // A process of a job counts its own instructions alone: as many may run at a time as there are cores.
    let counts: Vec<_> =
        JOBS.par_iter().map(|&(name, ..)| rayon::join(|| counted(name, 1), || counted(name, 3))).collect();
    let mut exceeded = false;
    for ((name, units, limit), (one, three)) in JOBS.into_iter().zip(counts) {
        let Some((one, three)) = one.zip(three) else {
            println!("instructions: skipped, since callgrind does not run here");
            return;
        };
        let each = (three - one) / 2.0 / units as f64;
        let judged = !cfg!(debug_assertions);
        let verdict = if !judged {
            "not judged"
        } else if each <= limit {
            "ok"
        } else {
            "TOO MANY"
        };
        println!("instructions: {name:28} {each:8.3} a unit, at most {limit:6.2}: {verdict}");
        exceeded |= judged && each > limit;
    }
    if exceeded {
        exit(1);
    }
}

/// The instructions of a process that runs a job.
fn counted(name: &str, rounds: usize) -> Option<f64> {
    let told = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(std::env::current_exe().ok()?)
        .envs([(JOB, name), (ROUNDS, &rounds.to_string()), ("RAYON_NUM_THREADS", "1")])
        .output()
        .ok()?;
    let said = String::from_utf8_lossy(&told.stderr).into_owned();
    let line = said.lines().find(|line| line.contains("Collected :"))?;
    line.rsplit(' ').next()?.parse().ok()
}

/// A job, so many times.
fn run(name: &str, rounds: usize) {
    let single = simulate::gaussian_f32(ROWS, COLUMNS, 1);
    let double: Vec<f64> = single.iter().map(|&v| v.into()).collect();
    let residuals: Vec<Vec<f64>> = (0..64).map(|q| double[q * ROWS..(q + 1) * ROWS].to_vec()).collect();
    let columns = Dense::column_major(&single, ROWS, COLUMNS).unwrap();
    let wide = Dense::column_major(&double, ROWS, COLUMNS).unwrap();
    let rows = Dense::row_major(&single, ROWS, COLUMNS).unwrap();
    let mut out = columns.new_covector();
    let mut outs = vec![columns.new_covector(); 64];
    let views: Vec<&[f64]> = residuals.iter().map(Vec::as_slice).collect();
    let mut target = vec![0.0; ROWS];
    columns.apply(&simulate::sparse_signal(COLUMNS, ATOMS, 1), &mut target);
    let set = KSparse::new(ATOMS, COLUMNS).unwrap();
    for _ in 0..rounds {
        match name {
            "adjoint, columns, f32" => columns.adjoint(views[0], &mut out),
            "adjoint, columns, f64" => wide.adjoint(views[0], &mut out),
            "adjoint, rows, f32" => rows.adjoint(views[0], &mut out),
            "adjoint, 64 residuals" => columns.adjoint_block(&views, &mut outs),
            _ => {
                let f = Objective::new(&columns, LeastSquares::new(target.clone()).unwrap()).unwrap();
                Fit::new(&f, &set).search(Search::quick()).run().unwrap();
            }
        }
    }
    std::hint::black_box((out, outs));
}
