//! Φᵀr against the speed of the memory: how much of what this machine can read at best do the
//! kernels of `katoms::linalg::kernels` reach?
//!
//! The ceiling is a plain sum over the same memory, eight streams a thread. Ceiling and kernel take
//! turns, so that a neighbour's load slows both: the ratios count, not the GB/s. "best" is the best
//! time of either, "median" the median over the turns. The kernels ask for their data ahead of
//! use, the plain sum does not: they may pass 100 %.
//!
//! Products with several residuals are measured against the products of square matrices, one on each
//! thread, of faer. The kernels multiply and add in `f64`, and so reach half of the peak of `f32` at best.
//!
//! `cargo run --release -p katoms-bench --bin adjoint [rows columns]` (3000 80000 unless told; 2 GB)

use std::hint::black_box;
use std::time::Instant;

use faer::linalg::matmul::matmul;
use faer::traits::ComplexField;
use faer::{Accum, Mat, Par};
use katoms::linalg::kernels;
use katoms::operator::f16;
use katoms_bench::reading::{STREAMS, Stored, name_of, read};
use rayon::prelude::*;

const REPETITIONS: usize = 15;
/// Numbers of residuals, and of how many columns they are multiplied by one.
const RESIDUALS: [usize; 3] = [8, 64, 200];
const SOME_COLUMNS: usize = 16;
/// Rows and columns of the matrices whose product is the peak.
const SQUARE: usize = 1024;

fn seconds(f: impl FnOnce()) -> f64 {
    let start = Instant::now();
    f();
    start.elapsed().as_secs_f64()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn best(times: &[f64]) -> f64 {
    times.iter().copied().fold(f64::INFINITY, f64::min)
}

/// Numbers that look like noise.
fn noise(i: usize) -> f64 {
    (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as f64 / 1e7 - 0.8
}

/// Kernels and ceilings in turn, then one line of the table for each.
fn measure<T: Stored>(rows: usize, columns: usize, peaks: [f64; 2]) {
    let mut data = vec![T::of(0.0); rows * columns];
    data.par_iter_mut().enumerate().for_each(|(i, x)| *x = T::of(noise(i) as f32));
    let mut out = vec![0.0; columns];
    type Kernel<T> = fn(&[T], &[f64], &mut [f64]);
    let layouts: [(&str, Kernel<T>); 2] = [("columns", kernels::adjoint_columns), ("rows", kernels::adjoint_rows)];
    let r: Vec<f64> = (0..rows).map(noise).collect();
    let mut times = vec![Vec::new(); layouts.len()];
    let mut reads = vec![Vec::new(); layouts.len()];
    for _ in 0..REPETITIONS {
        for (k, (_, kernel)) in layouts.iter().enumerate() {
            // Streams as long as a column, and as long as can be: whichever is faster.
            let short = seconds(|| read(&data, STREAMS * rows));
            let long = seconds(|| read(&data, data.len().div_ceil(rayon::current_num_threads())));
            reads[k].push(short.min(long));
            times[k].push(seconds(|| kernel(&data, &r, &mut out)));
        }
    }
    let gigabytes = size_of_val(data.as_slice()) as f64 / 1e9;
    let ceiling = best(&reads.concat());
    println!("{:4} {:26} {:8.1}", name_of::<T>(), "read ceiling", gigabytes / ceiling);
    for (((name, _), times), reads) in layouts.iter().zip(&times).zip(&reads) {
        let ratios = times.iter().zip(reads).map(|(time, read)| 100.0 * read / time).collect();
        println!(
            "{:4} {name:26} {:8.1} {:9.0} % {:9.0} %",
            name_of::<T>(),
            gigabytes / best(times),
            100.0 * ceiling / best(times),
            median(ratios),
        );
    }
    measure_blocks(&data[..rows * columns.div_ceil(SOME_COLUMNS)], rows, peaks);
}

/// Several residuals at once, on some of the columns.
fn measure_blocks<T: Stored>(data: &[T], rows: usize, peaks: [f64; 2]) {
    let columns = data.len() / rows;
    type Kernel<T> = fn(&[T], &[&[f64]], &mut [&mut [f64]]);
    let layouts: [(&str, Kernel<T>); 2] =
        [("columns", kernels::adjoint_columns_block), ("rows", kernels::adjoint_rows_block)];
    for count in RESIDUALS {
        let rs: Vec<Vec<f64>> = (0..count).map(|q| (0..rows).map(|i| noise(i + q * rows)).collect()).collect();
        let rs: Vec<&[f64]> = rs.iter().map(Vec::as_slice).collect();
        let mut outs = vec![vec![0.0; columns]; count];
        let mut outs: Vec<&mut [f64]> = outs.iter_mut().map(Vec::as_mut_slice).collect();
        for (layout, kernel) in layouts {
            let times: Vec<f64> = (0..REPETITIONS).map(|_| seconds(|| kernel(data, &rs, &mut outs))).collect();
            let speed = 2.0 * (data.len() * count) as f64 / best(&times) / 1e9;
            let name = format!("{layout}, {count} residuals");
            let [single, double] = peaks.map(|peak| 100.0 * speed / peak);
            println!("{:4} {name:26} {speed:8.0} GFlop/s, {single:.0} % of f32, {double:.0} % of f64", name_of::<T>());
        }
    }
}

/// GFlop/s of products of square matrices, one on each thread.
fn product_peak<T: Stored + ComplexField>() -> f64 {
    let a = Mat::from_fn(SQUARE, SQUARE, |i, j| T::of(noise(i + j * SQUARE) as f32));
    let product = || {
        rayon::broadcast(|_| {
            let mut out = Mat::<T>::zeros(SQUARE, SQUARE);
            matmul(out.as_mut(), Accum::Replace, a.as_ref(), a.as_ref(), T::of(1.0), Par::Seq);
            black_box(out);
        });
    };
    let times: Vec<f64> = (0..REPETITIONS).map(|_| seconds(product)).collect();
    let operations = 2.0 * (SQUARE * SQUARE * SQUARE * rayon::current_num_threads()) as f64;
    let speed = operations / best(&times) / 1e9;
    println!("{:4} {:26} {speed:8.0} GFlop/s", name_of::<T>(), "matrix products");
    speed
}

fn main() {
    let sizes: Vec<usize> = std::env::args().skip(1).map(|x| x.parse().expect("rows columns")).collect();
    let (rows, columns) = match sizes[..] {
        [rows, columns] => (rows, columns),
        _ => (3000, 80_000),
    };
    println!("Φᵀr, {rows} x {columns}, {} threads", rayon::current_num_threads());
    let peaks = [product_peak::<f32>(), product_peak::<f64>()];
    println!("{:31} {:>8} {:>11} {:>11}", "", "GB/s", "best", "median");
    measure::<f32>(rows, columns, peaks);
    measure::<f64>(rows, columns, peaks);
    measure::<f16>(rows, columns, peaks);
    measure::<i8>(rows, columns, peaks);
}
