//! One large fit, part by part: what the flame graph in docs/ is drawn from.
//!
//! `cargo run --release -p katoms-bench --bin fit [rows columns k snr [f32|f64|f16|i8]]` (3000 80000 200 5 unless told)
//!
//! A Gaussian design with k planted entries; a signal-to-noise ratio (of variances) of 0 stands for no noise. Every part
//! runs three times, and the best time counts. The limit is what the reads of the fit would take at the speed at which
//! this machine reads the same memory, in the same run.

use std::time::Instant;

use katoms::loss::LeastSquares;
use katoms::operator::{Dense, FirstRead, Layout, LinearOperator, f16};
use katoms::search::Search;
use katoms::select::Preparation;
use katoms::set::KSparse;
use katoms::space::SparseVec;
use katoms::{Error, Fit, Outcome, linalg, simulate};
use katoms_bench::reading::{Stored, name_of, seconds_of_a_read};

const REPEATS: usize = 3;

fn main() -> Result<(), Error> {
    let usage = "rows columns k snr [f32|f64|f16|i8]";
    let mut asked: Vec<String> = std::env::args().skip(1).collect();
    let stored = if asked.len() == 5 { asked.pop() } else { None };
    let asked: Vec<usize> = asked.iter().map(|x| x.parse().expect(usage)).collect();
    let (m, n, k, snr) = if let [m, n, k, snr] = asked[..] { (m, n, k, snr) } else { (3000, 80_000, 200, 5) };
    let mut x = vec![0.0_f32; m * n];
    simulate::gaussian_columns_f32(&mut x, m, 0, 0);
    let size = (m, n, k);
    // Within the pool of threads: there a profile knows for whom a thread works.
    rayon::scope(|_| match stored.as_deref() {
        None | Some("f32") => run(&x, size, snr as f64),
        Some("f64") => run(&as_stored::<f64>(x, 1.0), size, snr as f64),
        Some("f16") => run(&as_stored::<f16>(x, 1.0), size, snr as f64),
        Some("i8") => run(&as_stored::<i8>(x, (m as f32).sqrt()), size, snr as f64), // a deviation of 1, in 32 steps
        Some(other) => panic!("{other} is none of {usage}"),
    })
}

/// The same numbers times a factor, in other storage.
fn as_stored<T: Stored>(x: Vec<f32>, factor: f32) -> Vec<T> {
    x.into_iter().map(|v| T::of(factor * v)).collect()
}

fn run<T: Stored>(x: &[T], (m, n, k): (usize, usize, usize), snr: f64) -> Result<(), Error> {
    let read = seconds_of_a_read(x);
    println!("{m} x {n} {}, k = {k}, SNR {snr}; a read of the data takes {:.1} ms", name_of::<T>(), 1e3 * read);
    let truth = simulate::sparse_signal(n, k, 0);
    let mut y = vec![0.0; m];
    Dense::column_major(x, m, n)?.apply(&truth, &mut y);
    if snr > 0.0 {
        let deviation = linalg::norm(&y) / (snr * m as f64).sqrt();
        y = simulate::noisy(&y, deviation, 0);
    }
    let mut best = [f64::INFINITY; 4];
    let mut last: Option<[Outcome<SparseVec>; 2]> = None;
    for _ in 0..REPEATS {
        let mut clock = Instant::now();
        let mut lap = |at: usize| {
            best[at] = best[at].min(clock.elapsed().as_secs_f64());
            clock = Instant::now();
        };
        let (loss, preparation) = (LeastSquares::new(y.clone())?, Preparation::default());
        let first = FirstRead::of(&loss, preparation.intercept);
        let design = Dense::with_layout(x, m, n, Layout::ColumnMajor, Some(&first))?;
        lap(0);
        let f = preparation.objective(&design, &loss, (0..m).collect())?;
        let set = preparation.set(&KSparse::new(k, n)?, f.loss())?;
        lap(1);
        let single = Fit::new(&f, &set).search(Search::quick()).run()?;
        lap(2);
        let searched = Fit::new(&f, &set).run()?;
        lap(3);
        last = Some([single, searched]);
    }
    let Some(outcomes) = last else { return Ok(()) };
    println!("{:32} {:8.1} ms", "the first read", 1e3 * best[0]);
    println!("{:32} {:8.1} ms", "standardised view", 1e3 * best[1]);
    for (name, outcome, time) in
        [("single run", &outcomes[0], best[2]), ("search, with its quality", &outcomes[1], best[3])]
    {
        let reads = outcome.reads + outcome.columns as f64 / n as f64;
        let whole = best[0] + best[1] + time; // its first pass is the first read
        let found = outcome.point.indices().iter().filter(|j| truth.indices().contains(j)).count();
        println!(
            "{name:32} {:8.1} ms; {} passes, {:.2} reads with columns; with the first read {:.1} ms, {:.2} of the limit; \
             {found} of {k} found, f {:.6e}",
            1e3 * time,
            outcome.passes,
            reads,
            1e3 * whole,
            whole / (reads * read),
            outcome.objective,
        );
        for event in &outcome.trace {
            println!(
                "    {:8.1} ms {:9} {:6.2} reads  f {:.6e}",
                1e3 * event.seconds,
                format!("{:?}", event.kind),
                event.reads,
                event.objective
            );
        }
    }
    Ok(())
}
