//! A fit with its design on a graphics card, beside the same fit on the host.
//!
//! `cargo run --release -p katoms-bench --bin device [rows columns k snr [f32|f16|i8 [card]]]` (7500 200000 500 5 unless told)
//!
//! A Gaussian design with k planted entries; a signal-to-noise ratio (of variances) of 0 stands for no noise. With `card`
//! the fit on the host is left out. Every fit runs several times, and the best time counts.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use katoms::linalg::Matrix;
use katoms::loss::LeastSquares;
use katoms::operator::{
    ColumnMoments, Dense, Device, FirstRead, Layout, LinearOperator, Moments, OnDevice, Sample, SampledResidual, f16,
};
use katoms::select::Preparation;
use katoms::set::KSparse;
use katoms::space::SparseVec;
use katoms::{Error, Fit, Outcome, linalg, simulate};
use katoms_bench::reading::{Stored, name_of};
use katoms_cuda::{Cuda, Lie, Numbers, copied};

const REPEATS: usize = 5;

fn main() -> Result<(), Error> {
    let usage = "rows columns k snr [f32|f16|i8 [card]]";
    let mut asked: Vec<String> = std::env::args().skip(1).collect();
    let card = asked.last().is_some_and(|last| last == "card");
    if card {
        asked.pop();
    }
    let stored = if asked.len() == 5 { asked.pop() } else { None };
    let asked: Vec<usize> = asked.iter().map(|x| x.parse().expect(usage)).collect();
    let (m, n, k, snr) = if let [m, n, k, snr] = asked[..] { (m, n, k, snr) } else { (7500, 200_000, 500, 5) };
    let mut x = vec![0.0_f32; m * n];
    simulate::gaussian_columns_f32(&mut x, m, 0, 0);
    let problem = (m, n, k, snr as f64);
    match stored.as_deref() {
        None | Some("f32") => run(&x, Numbers::F32, problem, card),
        Some("f16") => run(&as_stored::<f16>(x, 1.0), Numbers::F16, problem, card),
        Some("i8") => run(&as_stored::<i8>(x, (m as f32).sqrt()), Numbers::I8, problem, card),
        Some(other) => panic!("{other} is none of {usage}"),
    }
}

fn as_stored<T: Stored>(x: Vec<f32>, factor: f32) -> Vec<T> {
    x.into_iter().map(|v| T::of(factor * v)).collect()
}

fn bytes_of<T: Stored>(x: &[T]) -> &[u8] {
    // SAFETY: numbers have no bytes that are not set.
    unsafe { std::slice::from_raw_parts(x.as_ptr().cast(), size_of_val(x)) }
}

/// A device, and how often and how long it was asked what.
struct Timed {
    device: Arc<dyn Device>,
    spent: Mutex<BTreeMap<&'static str, (usize, usize, f64)>>,
}

impl fmt::Debug for Timed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.device.fmt(f)
    }
}

impl Timed {
    fn asked<T>(&self, what: &'static str, count: usize, call: impl FnOnce() -> T) -> T {
        let clock = Instant::now();
        let done = call();
        let mut spent = self.spent.lock().expect("nobody panics while it is held");
        let entry = spent.entry(what).or_default();
        *entry = (entry.0 + 1, entry.1 + count, entry.2 + clock.elapsed().as_secs_f64());
        done
    }

    fn told(&self, label: &str) {
        let spent = std::mem::take(&mut *self.spent.lock().expect("nobody panics while it is held"));
        let all: f64 = spent.values().map(|(.., seconds)| seconds).sum();
        println!("  {label}: {:.2} ms on the device", 1e3 * all);
        for (what, (calls, count, seconds)) in spent {
            println!("    {what:12} {calls:4} calls, {count:6} vectors or columns, {:8.3} ms", 1e3 * seconds);
        }
    }
}

impl Device for Timed {
    fn shape(&self) -> (usize, usize) {
        self.device.shape()
    }
    fn rounding(&self) -> f64 {
        self.device.rounding()
    }
    fn bytes(&self) -> Option<usize> {
        self.device.bytes()
    }
    fn survey(&self, weights: &[f64], r: &[f64]) -> Result<(Moments, Vec<f64>), Error> {
        self.asked("survey", 1, || self.device.survey(weights, r))
    }
    fn adjoint(&self, rs: &[&[f64]], out: &mut [Vec<f64>]) -> Result<(), Error> {
        self.asked("pass", rs.len(), || self.device.adjoint(rs, out))
    }
    fn squared_norms(&self, weights: &[&[f64]], centres: Option<&[f64]>) -> Result<Vec<Vec<f64>>, Error> {
        self.asked("squared norms", weights.len(), || self.device.squared_norms(weights, centres))
    }
    fn sample(&self, rows: Sample, centres: &[f64]) -> Result<(), Error> {
        self.asked("sample", 1, || self.device.sample(rows, centres))
    }
    fn adjoint_sampled(&self, residuals: &[SampledResidual], out: &mut [Vec<f64>]) -> Result<(), Error> {
        self.asked("partial pass", residuals.len(), || self.device.adjoint_sampled(residuals, out))
    }
    fn adjoint_on(&self, rs: &[&[f64]], columns: &[usize]) -> Result<Vec<Vec<f64>>, Error> {
        self.asked("listed", columns.len(), || self.device.adjoint_on(rs, columns))
    }
    fn products(&self, h: &[f64], left: &[usize], right: &[usize]) -> Result<Matrix, Error> {
        self.asked("Gram", left.len() + right.len(), || self.device.products(h, left, right))
    }
    fn apply(&self, columns: &[usize], values: &[f64], out: &mut [f64]) -> Result<(), Error> {
        self.asked("apply", columns.len(), || self.device.apply(columns, values, out))
    }
}

fn best<T>(repeats: usize, mut call: impl FnMut() -> T) -> (f64, T) {
    let mut timed = || {
        let clock = Instant::now();
        let done = call();
        (clock.elapsed().as_secs_f64(), done)
    };
    let mut all: Vec<(f64, T)> = (0..repeats).map(|_| timed()).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all.swap_remove(0)
}

fn run<T: Stored>(
    x: &[T],
    numbers: Numbers,
    (m, n, k, snr): (usize, usize, usize, f64),
    card: bool,
) -> Result<(), Error> {
    let bytes = bytes_of(x);
    println!("{m} x {n} {} ({:.1} GB), k = {k}, SNR {snr}", name_of::<T>(), bytes.len() as f64 / 1e9);
    let truth = simulate::sparse_signal(n, k, 0);
    let mut y = vec![0.0; m];
    Dense::column_major(x, m, n)?.apply(&truth, &mut y);
    if snr > 0.0 {
        let deviation = linalg::norm(&y) / (snr * m as f64).sqrt();
        y = simulate::noisy(&y, deviation, 0);
    }
    let loss = LeastSquares::new(y)?;
    let preparation = Preparation::default();
    let first = FirstRead::of(&loss, preparation.intercept);

    let cuda = Cuda::open(0)?;
    let (seconds, device) = best(1, || copied(&cuda, bytes, Lie { numbers, by_rows: false, shape: (m, n) }));
    let device = device?;
    println!("{device:?}: copied in {seconds:.2} s");
    for count in [1, 8, 9, 32, 64] {
        let rs = simulate::gaussian(m, count, 1);
        let rs: Vec<&[f64]> = rs.chunks(m).collect();
        let mut out = vec![vec![0.0; n]; count];
        let (seconds, _) = best(REPEATS, || device.adjoint(&rs, &mut out));
        let speed = bytes.len() as f64 / seconds / 1e12;
        println!(
            "  a pass with {count:2} residuals {:7.3} ms, {speed:.2} TB/s with the copies to and fro",
            1e3 * seconds
        );
    }
    // Half of the rows have the same copies: what they take less is the kernel's.
    let half = |count: usize| -> Result<f64, Error> {
        let rows = m / 2;
        let some: Vec<T> = x.chunks(m).flat_map(|column| &column[..rows]).copied().collect();
        let device = copied(&cuda, bytes_of(&some), Lie { numbers, by_rows: false, shape: (rows, n) })?;
        let rs = simulate::gaussian(rows, count, 1);
        let rs: Vec<&[f64]> = rs.chunks(rows).collect();
        let mut out = vec![vec![0.0; n]; count];
        Ok(best(4 * REPEATS, || device.adjoint(&rs, &mut out)).0)
    };
    let rs = simulate::gaussian(m, 1, 1);
    let mut out = vec![vec![0.0; n]; 1];
    let seconds = best(4 * REPEATS, || device.adjoint(&[&rs], &mut out)).0 - half(1)?;
    println!("  the kernel alone reads {:.2} TB/s", (m - m / 2) as f64 * (n * size_of::<T>()) as f64 / seconds / 1e12);
    let timed = Arc::new(Timed { device, spent: Mutex::default() });
    let fit = |design: &dyn Fn() -> Result<OnDevice, Error>| -> Result<Outcome<SparseVec>, Error> {
        let design = design()?;
        fitted(&design, &loss, &preparation, k)
    };
    let design = || OnDevice::new(Arc::clone(&timed) as Arc<dyn Device>, Some(&first));
    fit(&design)?;
    timed.told("the first fit");
    let (seconds, on_card) = best(REPEATS, || fit(&design));
    let on_card = on_card?;
    timed.told(&format!("{REPEATS} fits"));
    told("on the card", seconds, &on_card, &truth);
    if card {
        return Ok(());
    }
    let (seconds, on_host) = best(2, || {
        let design = Dense::with_layout(x, m, n, Layout::ColumnMajor, Some(&first))?;
        fitted(&design, &loss, &preparation, k)
    });
    let on_host = on_host?;
    told("on the host", seconds, &on_host, &truth);
    let same = on_card.point.indices() == on_host.point.indices();
    let apart = on_card.point.values().iter().zip(on_host.point.values()).map(|(a, b)| ((a - b) / b).abs());
    println!("the same support: {same}; coefficients apart by at most {:.1e} of themselves", apart.fold(0.0, f64::max));
    Ok(())
}

fn fitted<A>(design: &A, loss: &LeastSquares, preparation: &Preparation, k: usize) -> Result<Outcome<SparseVec>, Error>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>> + ColumnMoments,
{
    let f = preparation.objective(design, loss, (0..loss.target().len()).collect())?;
    let set = preparation.set(&KSparse::new(k, design.domain())?, f.loss())?;
    Fit::new(&f, &set).run()
}

fn told(what: &str, seconds: f64, outcome: &Outcome<SparseVec>, truth: &SparseVec) {
    let found = outcome.point.indices().iter().filter(|j| truth.indices().contains(j)).count();
    println!(
        "{what:12} {:9.2} ms; {} passes, {:.2} reads, {} columns; {found} of {} found, f {:.6e}",
        1e3 * seconds,
        outcome.passes,
        outcome.reads,
        outcome.columns,
        truth.indices().len(),
        outcome.objective
    );
}
