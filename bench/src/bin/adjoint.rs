//! Φᵀr against the speed of the memory: how much of what this machine can read at best do the
//! kernels of `katoms::linalg::kernels` reach?
//!
//! The ceiling is a plain sum over the same memory, eight streams a thread. Ceiling and kernel take
//! turns, so that a neighbour's load slows both: the ratios count, not the GB/s. "best" is the best
//! time of either, "median" the median over the turns. The kernels ask for their data ahead of
//! use, the plain sum does not: they may pass 100 %. With 8 residuals the GB/s are those of the
//! one read that all of them share.
//!
//! `cargo run --release -p katoms-bench --bin adjoint [rows columns]` (3000 80000 unless told; 2 GB)

use std::any::type_name;
use std::hint::black_box;
use std::time::Instant;

use katoms::linalg::kernels::{self, Real};
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

const REPETITIONS: usize = 15;
const RESIDUALS: usize = 8;
const STREAMS: usize = 8;
const LANES: usize = 16;

/// What the ceiling needs of a number type.
trait Stored: Real + std::ops::AddAssign + Default + From<f32> {}
impl Stored for f32 {}
impl Stored for f64 {}

/// One read of a piece: eight streams side by side, a vector of sums for each.
struct Read<'a, T>(&'a [T]);

impl<T: Stored> WithSimd for Read<'_, T> {
    type Output = [[T; LANES]; STREAMS];

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Self::Output {
        let blocks = self.0.as_chunks::<LANES>().0;
        let length = blocks.len() / STREAMS;
        let streams: [&[[T; LANES]]; STREAMS] = std::array::from_fn(|s| &blocks[s * length..][..length]);
        let mut sums = [[T::default(); LANES]; STREAMS];
        for b in 0..length {
            for (sum, stream) in sums.iter_mut().zip(&streams) {
                for (sum, &x) in sum.iter_mut().zip(&stream[b]) {
                    *sum += x;
                }
            }
        }
        sums
    }
}

/// The plain read in parallel, `length` values at a time: an eighth of them is a stream.
fn read<T: Stored>(data: &[T], length: usize) {
    let arch = Arch::new();
    data.par_chunks(length).for_each(|piece| {
        black_box(arch.dispatch(Read(piece)));
    });
}

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

/// Kernels and ceilings in turn, then one line of the table for each.
fn measure<T: Stored>(rows: usize, columns: usize) {
    let noise = |i: usize| (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as f64 / 1e7 - 0.8;
    let mut data = vec![T::default(); rows * columns];
    data.par_iter_mut().enumerate().for_each(|(i, x)| *x = T::from(noise(i) as f32));
    let rs: Vec<Vec<f64>> = (0..RESIDUALS).map(|q| (0..rows).map(|i| noise(i + q * rows)).collect()).collect();
    let rs: Vec<&[f64]> = rs.iter().map(Vec::as_slice).collect();
    let mut outs = vec![vec![0.0; columns]; RESIDUALS];
    let mut outs: Vec<&mut [f64]> = outs.iter_mut().map(Vec::as_mut_slice).collect();

    let names = ["columns", "rows", "columns, 8 residuals", "rows, 8 residuals"];
    let mut times = vec![Vec::new(); names.len()];
    let mut reads = vec![Vec::new(); names.len()];
    for _ in 0..REPETITIONS {
        for kernel in 0..names.len() {
            // Streams as long as a column, and as long as can be: whichever is faster.
            let short = seconds(|| read(&data, STREAMS * rows));
            let long = seconds(|| read(&data, data.len().div_ceil(rayon::current_num_threads())));
            reads[kernel].push(short.min(long));
            times[kernel].push(seconds(|| match kernel {
                0 => kernels::adjoint_columns(&data, rs[0], outs[0]),
                1 => kernels::adjoint_rows(&data, rs[0], outs[0]),
                2 => kernels::adjoint_columns_block(&data, &rs, &mut outs),
                _ => kernels::adjoint_rows_block(&data, &rs, &mut outs),
            }));
        }
    }
    let gigabytes = size_of_val(data.as_slice()) as f64 / 1e9;
    let ceiling = best(&reads.concat());
    println!("{:4} {:22} {:8.1}", type_name::<T>(), "read ceiling", gigabytes / ceiling);
    for ((name, times), reads) in names.iter().zip(&times).zip(&reads) {
        let ratios = times.iter().zip(reads).map(|(time, read)| 100.0 * read / time).collect();
        println!(
            "{:4} {name:22} {:8.1} {:9.0} % {:9.0} %",
            type_name::<T>(),
            gigabytes / best(times),
            100.0 * ceiling / best(times),
            median(ratios),
        );
    }
}

fn main() {
    let sizes: Vec<usize> = std::env::args().skip(1).map(|x| x.parse().expect("rows columns")).collect();
    let (rows, columns) = match sizes[..] {
        [rows, columns] => (rows, columns),
        _ => (3000, 80_000),
    };
    println!("Φᵀr, {rows} x {columns}, {} threads", rayon::current_num_threads());
    println!("{:27} {:>8} {:>11} {:>11}", "", "GB/s", "best", "median");
    measure::<f32>(rows, columns);
    measure::<f64>(rows, columns);
}
