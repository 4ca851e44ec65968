//! The one full pass over a dense design, Φᵀr, at the speed of the memory.
//!
//! Storage is `f32` or `f64`; every product and every sum is taken in `f64`.
//!
//! The bits of a result depend on its column and its residual alone, never on the number of
//! threads, the neighbouring columns or the other residuals of a block:
//!
//! - column-major, row i is added to lane i mod 8 of its column, in the order of the rows, and
//!   the eight lanes are added in a fixed order;
//! - row-major, the rows are added one by one, in order.
//!
//! Lanes are part of the definition, not of the machine: all machines with a fused multiply-add
//! give the same bits, whatever their vector width. The loops are plain Rust over `[f64; 8]`,
//! compiled for each instruction set by [`pulp::Arch::dispatch`].

// Loops over indices run along several arrays at once, and their lengths are constants.
#![allow(clippy::needless_range_loop)]

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

/// Partial sums of a column: one AVX-512 register of `f64`, or two of AVX2.
const LANES: usize = 8;
/// Values of a column, or of a row, that are read at a time: one cache line of `f32`, two of `f64`.
const STEP: usize = 2 * LANES;
/// Columns, or rows of a row-major design, read at once: one stream of memory each.
const GROUP: usize = 8;
/// Bytes between the value in use and the one asked for.
const AHEAD: usize = 1024;
const CACHE_LINE: usize = 64;
/// Values of each stream that several residuals share: `GROUP` times as many stay in L1.
const STRIP: usize = 256;
/// Columns of a row-major design in one task, at most: their sums stay in L2.
const ROW_TASK: usize = 4096;
/// Bytes of a column-major design, or of values to check, in one task.
const TASK_BYTES: usize = 1 << 21;

/// A number type that designs are stored in.
pub trait Real: Copy + Send + Sync + PartialEq + std::fmt::Debug + 'static {
    /// The same number, exactly. O(1).
    fn to_f64(self) -> f64;
    /// Neither NaN nor infinite. O(1).
    fn finite(self) -> bool;
}

macro_rules! real {
    ($T:ty) => {
        impl Real for $T {
            #[inline(always)]
            fn to_f64(self) -> f64 {
                self.into()
            }
            #[inline(always)]
            fn finite(self) -> bool {
                self.is_finite()
            }
        }
    };
}
real!(f32);
real!(f64);

/// Σᵢ column\[i\]·r\[i\]: the same bits as the column's entry of [`adjoint_columns`].
///
/// O(m), on the calling thread.
///
/// # Panics
/// If the lengths differ.
pub fn dot<T: Real>(column: &[T], r: &[f64]) -> f64 {
    let mut out = [0.0];
    adjoint_columns(column, r, &mut out); // one task: no threads
    out[0]
}

/// out\[i\] += a·column\[i\]. O(m), on the calling thread.
///
/// # Panics
/// If the lengths differ.
pub fn axpy<T: Real>(a: f64, column: &[T], out: &mut [f64]) {
    assert_eq!(column.len(), out.len(), "column and out differ");
    Arch::new().dispatch(Axpy { a, column, out });
}

/// Φᵀr of a column-major design: out\[j\] = Σᵢ data\[i + j·rows\]·r\[i\].
///
/// O(mn), one read of the data; parallel over blocks of columns.
///
/// # Panics
/// If `data` does not hold `r.len()` rows of `out.len()` columns.
pub fn adjoint_columns<T: Real>(data: &[T], r: &[f64], out: &mut [f64]) {
    adjoint_columns_block(data, &[r], &mut [out]);
}

/// [`adjoint_columns`] for several residuals: `outs[q]` has the bits of `rs[q]` alone.
///
/// O(mnq) for q residuals, but one read of the data from memory; parallel over blocks of columns.
///
/// # Panics
/// As [`adjoint_columns`], for each pair; or if `rs` and `outs` differ in length.
pub fn adjoint_columns_block<T: Real>(data: &[T], rs: &[&[f64]], outs: &mut [&mut [f64]]) {
    let Some((rows, _)) = shape(data, rs, outs) else {
        return;
    };
    let arch = Arch::new();
    let bytes = rows.max(1) * size_of::<T>();
    let width = (TASK_BYTES / bytes).next_multiple_of(GROUP).max(GROUP);
    for_each_part(outs, width, |first, outs| {
        let data = &data[first * rows..];
        arch.dispatch(Columns { data, rs, outs });
    });
}

/// Φᵀr of a row-major design: out\[j\] = Σᵢ data\[i·columns + j\]·r\[i\].
///
/// O(mn), one read of the data; parallel over blocks of columns, so that the order of each sum is
/// fixed.
///
/// # Panics
/// If `data` does not hold `r.len()` rows of `out.len()` columns.
pub fn adjoint_rows<T: Real>(data: &[T], r: &[f64], out: &mut [f64]) {
    adjoint_rows_block(data, &[r], &mut [out]);
}

/// [`adjoint_rows`] for several residuals: `outs[q]` has the bits of `rs[q]` alone.
///
/// O(mnq) for q residuals, but one read of the data from memory; parallel over blocks of columns.
///
/// # Panics
/// As [`adjoint_rows`], for each pair; or if `rs` and `outs` differ in length.
pub fn adjoint_rows_block<T: Real>(data: &[T], rs: &[&[f64]], outs: &mut [&mut [f64]]) {
    let Some((_, columns)) = shape(data, rs, outs) else {
        return;
    };
    let arch = Arch::new();
    // Equal tasks, four or a multiple: wide ones read faster, but a last small one leaves threads idle.
    let tasks = columns.div_ceil(ROW_TASK).next_multiple_of(4).max(4);
    let width = columns.div_ceil(tasks).next_multiple_of(STEP).max(STRIP);
    for_each_part(outs, width, |first, outs| {
        let data = data.get(first..).unwrap_or(&[]); // no rows, no data
        arch.dispatch(Rows { data, columns, rs, outs });
    });
}

/// The position of the first value that is NaN or infinite.
///
/// O(mn), one read of the data, or less if there is such a value; parallel.
pub fn first_not_finite<T: Real>(data: &[T]) -> Option<usize> {
    let arch = Arch::new();
    let length = TASK_BYTES / size_of::<T>();
    let finite = |part: &[T]| arch.dispatch(AllFinite(part));
    let part = if data.len() <= length { 0 } else { data.par_chunks(length).position_first(|part| !finite(part))? };
    let start = part * length;
    let within = data[start..].iter().position(|x| !x.finite())?;
    Some(start + within)
}

/// Rows and columns, or `None` if there is no residual.
fn shape<T>(data: &[T], rs: &[&[f64]], outs: &[&mut [f64]]) -> Option<(usize, usize)> {
    assert_eq!(rs.len(), outs.len(), "as many results as residuals");
    let (rows, columns) = (rs.first()?.len(), outs.first()?.len());
    assert!(rs.iter().all(|r| r.len() == rows), "residuals differ");
    assert!(outs.iter().all(|y| y.len() == columns), "results differ");
    let size = rows * columns;
    assert_eq!(data.len(), size, "not {rows} rows of {columns} columns");
    Some((rows, columns))
}

/// Calls `task(first, parts)` for every `width` columns, in parallel: `parts[q]` is
/// `outs[q][first..]`, at most `width` of it.
fn for_each_part<F>(outs: &mut [&mut [f64]], width: usize, task: F)
where
    F: Fn(usize, &mut [&mut [f64]]) + Sync,
{
    let columns = outs[0].len();
    if columns <= width {
        return task(0, outs);
    }
    let mut parts: Vec<Vec<&mut [f64]>> = Vec::new();
    parts.resize_with(columns.div_ceil(width), || Vec::with_capacity(outs.len()));
    for out in outs {
        for (part, piece) in parts.iter_mut().zip(out.chunks_mut(width)) {
            part.push(piece);
        }
    }
    parts.par_iter_mut().enumerate().for_each(|(p, part)| task(p * width, part));
}

/// a·b + c, in one rounding where the instruction set can: AVX2 and wider, and NEON. Without the
/// instruction, `mul_add` would be a slow call.
#[inline(always)]
fn fma<S: Simd>(a: f64, b: f64, c: f64) -> f64 {
    if size_of::<S::f64s>() >= 32 || cfg!(target_arch = "aarch64") { a.mul_add(b, c) } else { a * b + c }
}

/// The sum of a column from its partial sums, in halves.
#[inline(always)]
fn sum_lanes(l: [f64; LANES]) -> f64 {
    ((l[0] + l[4]) + (l[2] + l[6])) + ((l[1] + l[5]) + (l[3] + l[7]))
}

/// Asks for the cache lines that are [`AHEAD`] bytes after those of `*block`: the hardware does so
/// by itself only within a page. Worth an eighth of the speed
/// for `f32`.
#[inline(always)]
fn prefetch<T>(block: *const [T; STEP]) {
    #[cfg(target_arch = "x86_64")]
    for line in 0..size_of::<[T; STEP]>() / CACHE_LINE {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let address = block.cast::<i8>().wrapping_add(AHEAD + line * CACHE_LINE);
        // SAFETY: a hint, not an access: it takes any address, mapped or not.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address) };
    }
}

/// The first `steps` whole blocks of each: lengths that the compiler knows to be equal leave no
/// bounds checks in the loops.
#[inline(always)]
fn blocks<'a, T, const C: usize>(streams: &[&'a [T]; C], steps: usize) -> [&'a [[T; STEP]]; C] {
    let mut blocks: [&[[T; STEP]]; C] = [&[]; C];
    for c in 0..C {
        blocks[c] = &streams[c].as_chunks().0[..steps];
    }
    blocks
}

/// Adds the whole blocks of rows to the lanes of each column. `FAR`: the columns are in memory.
#[inline(always)]
fn add_blocks<S: Simd, T: Real, const C: usize, const FAR: bool>(
    mut sums: [[f64; LANES]; C],
    columns: &[&[T]; C],
    r: &[f64],
) -> [[f64; LANES]; C] {
    let r = r.as_chunks::<STEP>().0;
    let x = blocks(columns, r.len());
    for (b, &r) in r.iter().enumerate() {
        for c in 0..C {
            if FAR {
                prefetch(x[c].as_ptr().wrapping_add(b));
            }
            for half in [0, LANES] {
                for l in 0..LANES {
                    sums[c][l] = fma::<S>(x[c][b][half + l].to_f64(), r[half + l], sums[c][l]);
                }
            }
        }
    }
    sums
}

/// Adds rows to the lanes of each column, the first of them to lane 0.
#[inline(always)]
fn add_rows<S: Simd, T: Real, const C: usize, const FAR: bool>(
    sums: [[f64; LANES]; C],
    columns: &[&[T]; C],
    r: &[f64],
) -> [[f64; LANES]; C] {
    let mut sums = add_blocks::<S, T, C, FAR>(sums, columns, r);
    let r = r.as_chunks::<STEP>().1;
    for (sums, column) in sums.iter_mut().zip(columns) {
        let x = column.as_chunks::<STEP>().1;
        for (x, r) in x.chunks(LANES).zip(r.chunks(LANES)) {
            for ((sum, &x), &r) in sums.iter_mut().zip(x).zip(r) {
                *sum = fma::<S>(x.to_f64(), r, *sum);
            }
        }
    }
    sums
}

/// Copies of short streams, in `f64`: converted once for all residuals.
#[repr(align(64))]
struct Strip<const C: usize>([[f64; STRIP]; C]);

impl Strip<GROUP> {
    /// Room for a whole group, and for one stream that is left over.
    #[inline(always)]
    fn both() -> (Self, Strip<1>) {
        (Self([[0.0; STRIP]; GROUP]), Strip([[0.0; STRIP]]))
    }
}

impl<const C: usize> Strip<C> {
    /// The streams from `start`, at most [`STRIP`] values of each.
    #[inline(always)]
    fn load<T: Real>(&mut self, streams: &[&[T]; C], start: usize) -> [&[f64]; C] {
        let length = STRIP.min(streams[0].len() - start);
        let mut from = *streams;
        for c in 0..C {
            from[c] = &streams[c][start..][..length];
        }
        let x = blocks(&from, length / STEP);
        for b in 0..length / STEP {
            for c in 0..C {
                prefetch(x[c].as_ptr().wrapping_add(b));
                for l in 0..STEP {
                    self.0[c][b * STEP + l] = x[c][b][l].to_f64();
                }
            }
        }
        for c in 0..C {
            for i in length - length % STEP..length {
                self.0[c][i] = from[c][i].to_f64();
            }
        }
        self.0.each_ref().map(|stream| &stream[..length])
    }
}

struct Axpy<'a, T> {
    a: f64,
    column: &'a [T],
    out: &'a mut [f64],
}

impl<T: Real> WithSimd for Axpy<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (y, &x) in self.out.iter_mut().zip(self.column) {
            *y = fma::<S>(self.a, x.to_f64(), *y);
        }
    }
}

struct AllFinite<'a, T>(&'a [T]);

impl<T: Real> WithSimd for AllFinite<'_, T> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> bool {
        self.0.iter().fold(true, |all, x| all & x.finite())
    }
}

/// The leading columns of column-major `data`, as many as each of `outs` is long.
struct Columns<'a, 'b, T> {
    data: &'a [T],
    rs: &'a [&'a [f64]],
    outs: &'a mut [&'b mut [f64]],
}

impl<T: Real> Columns<'_, '_, T> {
    /// `C` columns, from `first` in steps of `stride`, against every residual.
    #[inline(always)]
    fn group<S: Simd, const C: usize>(&mut self, strip: &mut Strip<C>, first: usize, stride: usize) {
        let rows = self.rs[0].len();
        let mut columns: [&[T]; C] = [&[]; C];
        for c in 0..C {
            columns[c] = &self.data[(first + c * stride) * rows..][..rows];
        }
        let zero = [[0.0; LANES]; C];
        if let ([r], [out]) = (self.rs, &mut *self.outs) {
            let sums = add_rows::<S, T, C, true>(zero, &columns, r);
            for c in 0..C {
                out[first + c * stride] = sum_lanes(sums[c]);
            }
            return;
        }
        let mut sums = vec![zero; self.rs.len()];
        for start in (0..rows).step_by(STRIP) {
            let columns = strip.load(&columns, start);
            for (sums, r) in sums.iter_mut().zip(self.rs) {
                let r = &r[start..][..columns[0].len()];
                *sums = add_rows::<S, f64, C, false>(*sums, &columns, r);
            }
        }
        for (sums, out) in sums.iter().zip(&mut *self.outs) {
            for c in 0..C {
                out[first + c * stride] = sum_lanes(sums[c]);
            }
        }
    }
}

impl<T: Real> WithSimd for Columns<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, _: S) {
        // Column c of a group is `stride` columns after the one before it, and the next group is
        // the next column of each: eight streams that do not end with their columns.
        let columns = self.outs[0].len();
        let stride = columns / GROUP;
        let (mut strip, mut single) = Strip::both();
        for first in 0..stride {
            self.group::<S, GROUP>(&mut strip, first, stride);
        }
        for first in stride * GROUP..columns {
            self.group::<S, 1>(&mut single, first, 1);
        }
    }
}

/// out += Σ over the rows: row·r, row after row. The rows are in cache.
#[inline(always)]
fn add_near<S: Simd, T: Real, const R: usize>(rows: &[&[T]; R], r: &[f64; R], out: &mut [f64]) {
    let mut x = *rows;
    for s in 0..R {
        x[s] = &rows[s][..out.len()];
    }
    for (j, sum) in out.iter_mut().enumerate() {
        for s in 0..R {
            *sum = fma::<S>(x[s][j].to_f64(), r[s], *sum);
        }
    }
}

/// [`add_near`], the rows in memory.
#[inline(always)]
fn add_far<S: Simd, T: Real, const R: usize>(rows: &[&[T]; R], r: &[f64; R], out: &mut [f64]) {
    let (sums, rest) = out.as_chunks_mut::<STEP>();
    let x = blocks(rows, sums.len());
    for (b, sums) in sums.iter_mut().enumerate() {
        let mut sum = *sums; // in registers: a prefetch counts as a write to any memory
        for s in 0..R {
            prefetch(x[s].as_ptr().wrapping_add(b));
            for l in 0..STEP {
                sum[l] = fma::<S>(x[s][b][l].to_f64(), r[s], sum[l]);
            }
        }
        *sums = sum;
    }
    let ends = rows.map(|row| row.as_chunks::<STEP>().1);
    add_near::<S, T, R>(&ends, r, rest);
}

/// The leading columns of row-major `data`, as many as each of `outs` is long; its rows are
/// `columns` apart.
struct Rows<'a, 'b, T> {
    data: &'a [T],
    columns: usize,
    rs: &'a [&'a [f64]],
    outs: &'a mut [&'b mut [f64]],
}

impl<T: Real> Rows<'_, '_, T> {
    /// Adds `R` rows, from row `i`, to every result.
    #[inline(always)]
    fn group<S: Simd, const R: usize>(&mut self, strip: &mut Strip<R>, i: usize) {
        let width = self.outs[0].len();
        let mut rows: [&[T]; R] = [&[]; R];
        for s in 0..R {
            rows[s] = &self.data[(i + s) * self.columns..][..width];
        }
        let at = |r: &[f64]| -> [f64; R] { std::array::from_fn(|s| r[i + s]) };
        if let ([r], [out]) = (self.rs, &mut *self.outs) {
            return add_far::<S, T, R>(&rows, &at(r), out);
        }
        for start in (0..width).step_by(STRIP) {
            let rows = strip.load(&rows, start);
            for (r, out) in self.rs.iter().zip(&mut *self.outs) {
                let out = &mut out[start..][..rows[0].len()];
                add_near::<S, f64, R>(&rows, &at(r), out);
            }
        }
    }
}

impl<T: Real> WithSimd for Rows<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, _: S) {
        self.outs.iter_mut().for_each(|out| out.fill(0.0));
        let rows = self.rs[0].len();
        let grouped = rows - rows % GROUP;
        let (mut strip, mut single) = Strip::both();
        for i in (0..grouped).step_by(GROUP) {
            self.group::<S, GROUP>(&mut strip, i);
        }
        for i in grouped..rows {
            self.group::<S, 1>(&mut single, i);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of both signs in [-1, 1), the same ones every time.
    fn numbers(length: usize, seed: u64) -> Vec<f64> {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        };
        (0..length).map(|_| next()).collect()
    }

    fn narrow(x: &[f64]) -> Vec<f32> {
        x.iter().map(|&x| x as f32).collect()
    }

    fn bits(x: &[f64]) -> Vec<u64> {
        x.iter().map(|x| x.to_bits()).collect()
    }

    type Adjoint<T> = fn(&[T], &[f64], &mut [f64]);
    type Block<T> = fn(&[T], &[&[f64]], &mut [&mut [f64]]);

    fn call<T: Real>(adjoint: Adjoint<T>, data: &[T], r: &[f64], columns: usize) -> Vec<f64> {
        let mut out = vec![f64::NAN; columns]; // overwritten, not added to
        adjoint(data, r, &mut out);
        out
    }

    fn in_pool<R: Send>(threads: usize, f: impl FnOnce() -> R + Send) -> R {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(f)
    }

    /// Row counts around the lanes, the step and the strip; column counts around the group.
    fn shapes() -> Vec<(usize, usize)> {
        let rows = (0..70).chain([255, 256, 257, 600]);
        let columns = [0, 1, 7, 8, 9, 63, 64, 65];
        let mut shapes: Vec<_> = rows.flat_map(|m| columns.iter().map(move |&n| (m, n))).collect();
        // Several tasks: of rows by their width, of columns by their bytes.
        shapes.extend([(1, 1000), (23, 1000), (3, 2 * ROW_TASK + 37), (1001, 1037)]);
        shapes
    }

    fn near_naive<T: Real>(data: &[T], m: usize, n: usize) {
        let r = numbers(m, 2);
        let by_columns = call(adjoint_columns, data, &r, n);
        let by_rows = call(adjoint_rows, data, &r, n);
        for j in 0..n {
            let check = |got: f64, at: &dyn Fn(usize) -> usize| {
                let (mut sum, mut scale) = (0.0, 0.0);
                for i in 0..m {
                    let product = data[at(i)].to_f64() * r[i];
                    sum += product;
                    scale += product.abs();
                }
                assert!((got - sum).abs() <= 1e-12 * scale, "{m} x {n}, {j}: {got}, not {sum}");
            };
            check(by_columns[j], &|i| i + j * m);
            check(by_rows[j], &|i| i * n + j);
        }
    }

    #[test]
    fn adjoints_are_near_a_naive_loop() {
        for (m, n) in shapes() {
            let data = numbers(m * n, 1);
            near_naive(&data, m, n);
            near_naive(&narrow(&data), m, n);
        }
    }

    fn dots_match<T: Real>(data: &[T], m: usize, n: usize) {
        let r = numbers(m, 2);
        let out = call(adjoint_columns, data, &r, n);
        let dots: Vec<f64> = (0..n).map(|j| dot(&data[j * m..][..m], &r)).collect();
        assert_eq!(bits(&dots), bits(&out), "{m} x {n}");
    }

    #[test]
    fn dot_has_the_bits_of_the_adjoint() {
        for (m, n) in shapes() {
            let data = numbers(m * n, 3);
            dots_match(&data, m, n);
            dots_match(&narrow(&data), m, n);
        }
    }

    fn block_matches<T: Real>(one: Adjoint<T>, block: Block<T>, data: &[T], m: usize, n: usize) {
        for count in [0, 1, 2, 3, 5, 8] {
            let rs: Vec<Vec<f64>> = (0..count).map(|q| numbers(m, 4 + q)).collect();
            let rs: Vec<&[f64]> = rs.iter().map(Vec::as_slice).collect();
            let mut outs = vec![vec![f64::NAN; n]; rs.len()];
            let mut views: Vec<&mut [f64]> = outs.iter_mut().map(Vec::as_mut_slice).collect();
            block(data, &rs, &mut views);
            for (r, out) in rs.iter().zip(&outs) {
                assert_eq!(bits(out), bits(&call(one, data, r, n)), "{m} x {n}, {count} residuals");
            }
        }
    }

    #[test]
    fn block_has_the_bits_of_one_by_one() {
        for (m, n) in shapes() {
            let data = numbers(m * n, 5);
            block_matches(adjoint_columns, adjoint_columns_block, &data, m, n);
            block_matches(adjoint_rows, adjoint_rows_block, &data, m, n);
            let data = narrow(&data);
            block_matches(adjoint_columns, adjoint_columns_block, &data, m, n);
            block_matches(adjoint_rows, adjoint_rows_block, &data, m, n);
        }
    }

    #[test]
    fn bits_do_not_depend_on_the_threads() {
        for (m, n) in [(37, 2 * ROW_TASK + 37), (1001, 1037)] {
            let data = numbers(m * n, 6);
            let r = numbers(m, 7);
            for adjoint in [adjoint_columns, adjoint_rows] {
                let one = in_pool(1, || call(adjoint, &data, &r, n));
                let two = in_pool(2, || call(adjoint, &data, &r, n));
                assert_eq!(bits(&one), bits(&two), "{m} x {n}");
            }
        }
    }

    #[test]
    fn without_vector_instructions_the_sums_are_near() {
        let (m, n) = (75, 19);
        let (data, r) = (numbers(m * n, 10), numbers(m, 11));
        let mut by_columns = vec![0.0; n];
        let (rs, outs) = (&[&r[..]], &mut [&mut by_columns[..]]);
        pulp::Scalar::new().vectorize(Columns { data: &data, rs, outs });
        let mut by_rows = vec![0.0; n];
        let outs = &mut [&mut by_rows[..]];
        pulp::Scalar::new().vectorize(Rows { data: &data, columns: n, rs, outs });
        let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-13);
        assert!(near(&by_columns, &call(adjoint_columns, &data, &r, n)));
        assert!(near(&by_rows, &call(adjoint_rows, &data, &r, n)));
    }

    #[test]
    fn single_precision_is_widened_before_the_product() {
        // In f32 the 1e-12 would be lost.
        let x = [1.0 + f32::EPSILON, -1.0];
        assert_eq!(dot(&x, &[1.0 + 1e-12, 1.0]), f64::from(x[0]) * (1.0 + 1e-12) - 1.0);
    }

    #[test]
    fn axpy_adds_the_scaled_column() {
        for m in 0..70 {
            let x = narrow(&numbers(m, 8));
            let y = numbers(m, 9);
            let mut out = y.clone();
            axpy(0.7, &x, &mut out);
            for i in 0..m {
                let exact = y[i] + 0.7 * f64::from(x[i]);
                assert!((out[i] - exact).abs() <= 1e-15, "{m}, {i}");
            }
        }
    }

    #[test]
    fn first_not_finite_is_the_first() {
        for length in [0, 1, 7, 8, 9, 65, 1000] {
            let mut data = vec![f64::MAX; length];
            assert_eq!(first_not_finite(&data), None);
            // From the end on: those after the first do not count.
            for i in (0..length).rev() {
                data[i] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY][i % 3];
                assert_eq!(first_not_finite(&data), Some(i));
            }
        }
    }

    #[test]
    fn first_not_finite_looks_into_every_task() {
        let task = TASK_BYTES / size_of::<f32>();
        let mut data = vec![-0.5f32; 3 * task + 5];
        assert_eq!(first_not_finite(&data), None);
        let positions = [3 * task + 4, 3 * task, 3 * task - 1, task + 9, task, task - 1, 0];
        for (k, i) in positions.into_iter().enumerate() {
            data[i] = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY][k % 3];
            assert_eq!(first_not_finite(&data), Some(i));
        }
    }

    #[test]
    #[should_panic(expected = "not 3 rows of 2 columns")]
    fn wrong_shape_panics() {
        adjoint_columns(&[0.0; 5], &[0.0; 3], &mut [0.0; 2]);
    }
}
