//! A fit with its design on a graphics card, beside the same fit on the host.
//!
//! `cargo run --release -p katoms-bench --bin device [rows columns k snr [f32|f16|i8 [card|cv]]]` (7500 200000 500 5 unless told)
//! `cargo run --release -p katoms-bench --bin device rows columns rank snr entries [card]`
//!
//! A Gaussian design with k planted entries; a signal-to-noise ratio (of variances) of 0 stands for no noise. With `card`
//! the fit on the host is left out; with `cv` sizes up to 2k are compared by five folds, twenty of them. Everything runs
//! several times, and the best time counts. With `entries` a matrix of that rank is completed of which one entry in forty was
//! seen.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use katoms::linalg::Matrix;
use katoms::loss::LeastSquares;
use katoms::operator::{
    ColumnMoments, Dense, Device, Entries, FirstRead, Layout, LinearOperator, Moments, OnDevice, Sample,
    SampledResidual, f16,
};
use katoms::select::{CrossValidation, Folds, Preparation, cross_validate};
use katoms::set::{KSparse, Rank};
use katoms::space::{LowRank, Point, SparseVec};
use katoms::{Error, Fit, Objective, Outcome, linalg, simulate};
use katoms_bench::reading::{Stored, name_of};
use katoms_cuda::{Cuda, Lie, Numbers, copied};
use rayon::prelude::*;

const REPEATS: usize = 5;

fn main() -> Result<(), Error> {
    let usage = "rows columns k snr [f32|f16|i8 [card|cv] | entries [card]]";
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let (numbers, words) = asked.split_at(asked.len().min(4));
    let numbers: Vec<usize> = numbers.iter().map(|x| x.parse().expect(usage)).collect();
    let (m, n, k, snr) = if let [m, n, k, snr] = numbers[..] { (m, n, k, snr) } else { (7500, 200_000, 500, 5) };
    let problem = (m, n, k, snr as f64);
    let what = words.get(1).map(String::as_str);
    match words.first().map(String::as_str) {
        None | Some("f32") => run(&stored::<f32>(m, n, 1.0), Numbers::F32, problem, what),
        Some("f16") => run(&stored::<f16>(m, n, 1.0), Numbers::F16, problem, what),
        Some("entries") => completed(problem, what),
        Some("i8") => run(&stored::<i8>(m, n, (m as f32).sqrt()), Numbers::I8, problem, what),
        Some(other) => panic!("{other} is none of {usage}"),
    }
}

/// Gaussian columns times a factor, some at a time: so large a design may have no room in single precision.
fn stored<T: Stored>(m: usize, n: usize, factor: f32) -> Vec<T> {
    let (mut all, each) = (Vec::with_capacity(m * n), (1 << 28) / m.max(1) + 1);
    let mut some = vec![0.0_f32; m * each.min(n)];
    for first in (0..n).step_by(each) {
        let some = &mut some[..m * each.min(n - first)];
        simulate::gaussian_columns_f32(some, m, first, 0);
        all.par_extend(some.par_iter().map(|&v| T::of(factor * v)));
    }
    all
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
    fn columns(&self, columns: &[usize], out: &mut [f64]) -> Result<(), Error> {
        self.asked("columns", columns.len(), || self.device.columns(columns, out))
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
    what: Option<&str>,
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

    let host = || Dense::with_layout(x, m, n, Layout::ColumnMajor, Some(&first));
    let on_host = |what: Option<&str>| -> Result<Done, Error> {
        let (seconds, done) = best(2, || Done::of(&host()?, &loss, &preparation, k, what));
        done.inspect(|done| done.told("on the host", seconds, &truth))
    };
    let cuda = match Cuda::open(0) {
        Ok(cuda) => cuda,
        Err(error) => {
            println!("{error}");
            return on_host(what).map(|_| ());
        }
    };
    let (seconds, device) = best(1, || copied(&cuda, bytes, Lie { numbers, by_rows: false, shape: (m, n) }));
    let device = device?;
    println!("{device:?}: copied in {seconds:.2} s");
    passes(&cuda, &device, x, numbers)?;
    let timed = Arc::new(Timed { device, spent: Mutex::default() });
    let on_card = || {
        let design = OnDevice::new(Arc::clone(&timed) as Arc<dyn Device>, Some(&first))?;
        Done::of(&design, &loss, &preparation, k, what)
    };
    on_card()?;
    timed.told("the first");
    let (seconds, done) = best(REPEATS, on_card);
    let done = done?;
    timed.told(&format!("{REPEATS} of them"));
    done.told("on the card", seconds, &truth);
    if what != Some("card") {
        done.compared(&on_host(what)?);
    }
    Ok(())
}

/// How long passes take. Half of the rows have the same copies: what they take less is the kernel's.
fn passes<T: Stored>(cuda: &Arc<Cuda>, device: &Arc<dyn Device>, x: &[T], numbers: Numbers) -> Result<(), Error> {
    let (m, n) = device.shape();
    let seconds = |device: &Arc<dyn Device>, rows: usize, count: usize| {
        let rs = simulate::gaussian(rows, count, 1);
        let rs: Vec<&[f64]> = rs.chunks(rows).collect();
        let mut out = vec![vec![0.0; n]; count];
        best(4 * REPEATS, || device.adjoint(&rs, &mut out)).0
    };
    for count in [1, 8, 9, 32, 64] {
        let seconds = seconds(device, m, count);
        let speed = size_of_val(x) as f64 / seconds / 1e12;
        println!(
            "  a pass with {count:2} residuals {:7.3} ms, {speed:.2} TB/s with the copies to and fro",
            1e3 * seconds
        );
    }
    if size_of_val(x) < 1 << 35 {
        let rows = m / 2;
        let some: Vec<T> = x.chunks(m).flat_map(|column| &column[..rows]).copied().collect();
        let half = copied(cuda, bytes_of(&some), Lie { numbers, by_rows: false, shape: (rows, n) })?;
        let apart = seconds(device, m, 1) - seconds(&half, rows, 1);
        println!("  the kernel alone reads {:.2} TB/s", ((m - rows) * n * size_of::<T>()) as f64 / apart / 1e12);
    }
    Ok(())
}

/// What came of a fit, or of a comparison of sizes.
enum Done {
    Fitted(Box<Outcome<SparseVec>>),
    Validated { atoms: usize, errors: Vec<f64> },
}

impl Done {
    fn of<A>(
        design: &A,
        loss: &LeastSquares,
        preparation: &Preparation,
        k: usize,
        what: Option<&str>,
    ) -> Result<Self, Error>
    where
        A: LinearOperator<Point = SparseVec, Covector = Vec<f64>> + ColumnMoments,
    {
        if what != Some("cv") {
            return Ok(Self::Fitted(Box::new(fitted(design, loss, preparation, k)?)));
        }
        let options = CrossValidation::new((1..=20).map(|i| (i * k).div_ceil(10)));
        let folds = Folds::random(loss.target().len(), 5, 0)?;
        let all = cross_validate(design, loss, &KSparse::new(k, design.domain())?, &folds, &options)?;
        Ok(Self::Validated { atoms: all.min().atoms, errors: all.scores.iter().map(|score| score.mean).collect() })
    }

    fn told(&self, where_: &str, seconds: f64, truth: &SparseVec) {
        print!("{where_:12} {:9.2} ms; ", 1e3 * seconds);
        match self {
            Self::Fitted(outcome) => {
                let found = outcome.point.indices().iter().filter(|j| truth.indices().contains(j)).count();
                let Outcome { passes, reads, columns, objective, .. } = &**outcome;
                let count = truth.indices().len();
                println!(
                    "{passes} passes, {reads:.2} reads, {columns} columns; {found} of {count} found, f {objective:.6e}"
                );
            }
            Self::Validated { atoms, .. } => println!("{atoms} atoms are best"),
        }
    }

    fn compared(&self, other: &Self) {
        let apart = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| ((a - b) / b).abs()).fold(0.0, f64::max);
        match (self, other) {
            (Self::Fitted(one), Self::Fitted(other)) => println!(
                "the same support: {}; coefficients apart by at most {:.1e} of themselves",
                one.point.indices() == other.point.indices(),
                apart(one.point.values(), other.point.values())
            ),
            (Self::Validated { atoms, errors }, Self::Validated { atoms: others, errors: other }) => println!(
                "the same size: {}; errors apart by at most {:.1e} of themselves",
                atoms == others,
                apart(errors, other)
            ),
            _ => unreachable!("both were asked the same"),
        }
    }
}

/// A completion with the products of the entries on the card, beside that on the host.
fn completed((m, n, rank, snr): (usize, usize, usize, f64), what: Option<&str>) -> Result<(), Error> {
    let (left, right) = simulate::low_rank_factors(m, n, rank, 0);
    let truth = LowRank::from_factors(&left, &right)?;
    let (rows, columns) = simulate::observed_places(m, n, 1.0 / 40.0, 0);
    let seen = Entries::new((m, n), &rows, &columns)?;
    println!("{} entries of {m} x {n}, rank {rank}, SNR {snr}", rows.len());
    let mut y = vec![0.0; rows.len()];
    seen.apply(&truth, &mut y);
    if snr > 0.0 {
        let deviation = linalg::norm(&y) / (snr * y.len() as f64).sqrt();
        y = simulate::noisy(&y, deviation, 0);
    }
    let fit = |seen: &Entries| {
        let f = Objective::new(seen, LeastSquares::new(y.clone())?)?;
        katoms::fit(&f, &Rank::new(rank, (m, n))?)
    };
    let told = |where_: &str, (seconds, outcome): (f64, Result<Outcome<LowRank>, Error>)| {
        let outcome = outcome?;
        let apart = outcome.point.distance(&truth) / truth.norm();
        let Outcome { status, iterations, objective, .. } = &outcome;
        println!(
            "{where_:12} {seconds:8.3} s; {iterations} moves, {status:?}, f {objective:.6e}, {apart:.1e} from the truth"
        );
        Ok::<_, Error>(outcome.point)
    };
    let on_card = match Cuda::open(0) {
        Ok(cuda) => {
            let (seconds, device) = best(1, || katoms_cuda::entries(&cuda, seen.pattern()));
            println!("places copied in {seconds:.2} s");
            let there = seen.clone().on(device?);
            Some(told("on the card", best(3, || fit(&there)))?)
        }
        Err(error) => {
            println!("{error}");
            None
        }
    };
    if on_card.is_some() && what == Some("card") {
        return Ok(());
    }
    let on_host = told("on the host", best(1, || fit(&seen)))?;
    if let Some(on_card) = on_card {
        println!("apart by {:.1e} of the norm", on_card.distance(&on_host) / on_host.norm());
    }
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
