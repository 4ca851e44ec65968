//! Φᵀr of a column-major design for several residuals, or for several parts of the rows.
//!
//! A strip of eight columns is copied into L1, then multiplied by every residual. Tiles of four columns
//! and four residuals, which load less, were 1.1 to 1.2 times as fast: too little for a second loop.

use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};

use super::Real;
use super::columns::{LANES, adjoint_columns, sum_lanes, task_width};
use super::streams::{GROUP, STRIP, Strip, fma, for_each_part, parts_shape, shape};

/// Rows whose parts are picked out one after the other: they stay in L2 until the last part.
pub(super) const CHUNK: usize = 2048;

/// [`adjoint_columns`] for several residuals: `outs[q]` has the bits of `rs[q]` alone.
///
/// O(mnq) for q residuals, but one read of the data from memory; parallel over blocks of columns.
///
/// # Panics
/// As [`adjoint_columns`], for each pair; or if `rs` and `outs` differ in length.
pub fn adjoint_columns_block<T: Real>(data: &[T], rs: &[&[f64]], outs: &mut [&mut [f64]]) {
    if let ([r], [out]) = (rs, &mut *outs) {
        return adjoint_columns(data, r, out);
    }
    let Some((rows, _)) = shape(data, rs, outs) else { return };
    run(data, &Residuals::new(whole(rows), rs), None, outs);
}

/// [`adjoint_columns_block`] part by part: `outs[p·rs.len() + q]` is that of the rows
/// `order[starts[p]..starts[p + 1]]`, which rise, and of `rs[q]`.
///
/// O(mnq), as without parts: the rows of each part are brought together once for all residuals.
pub(crate) fn adjoint_columns_parts<T: Real>(
    data: &[T],
    (order, starts): (&[usize], &[usize]),
    rs: &[&[f64]],
    outs: &mut [&mut [f64]],
) {
    let Some((rows, _)) = parts_shape(data, (order, starts), rs, outs) else { return };
    if starts.len() == 2 {
        return adjoint_columns_block(data, rs, outs);
    }
    run(data, &Residuals::new(by_part(rows, order, starts), rs), None, outs);
}

/// `outs[q][j]` = Σᵢ weights\[q\]\[i\]·(data\[i + j·rows\] − centres\[j\])², column-major.
///
/// O(mnq), one read of the data; parallel over blocks of columns.
pub(crate) fn energies_columns<T: Real>(data: &[T], weights: &[&[f64]], centres: &[f64], outs: &mut [&mut [f64]]) {
    let Some((rows, columns)) = shape(data, weights, outs) else { return };
    assert_eq!(centres.len(), columns, "a centre for each column");
    run(data, &Residuals::new(whole(rows), weights), Some(centres), outs);
}

/// At most [`STRIP`] rows of one part.
struct Piece<'a> {
    part: usize,
    /// The rows as they follow each other, or those picked.
    rows: Result<Range<usize>, &'a [usize]>,
}

impl Piece<'_> {
    fn blocks(&self) -> usize {
        self.rows.as_ref().map_or_else(|picked| picked.len(), ExactSizeIterator::len).div_ceil(LANES)
    }
}

/// All rows, in order.
fn whole(rows: usize) -> Vec<Piece<'static>> {
    let piece = |start: usize| Piece { part: 0, rows: Ok(start..rows.min(start + STRIP)) };
    (0..rows).step_by(STRIP).map(piece).collect()
}

/// Chunk after chunk of the rows, and in each part after part.
fn by_part<'a>(rows: usize, order: &'a [usize], starts: &[usize]) -> Vec<Piece<'a>> {
    let mut pieces = Vec::new();
    for chunk in (0..rows).step_by(CHUNK) {
        for (part, range) in starts.windows(2).enumerate() {
            let all = &order[range[0]..range[1]];
            let picked = &all[all.partition_point(|&i| i < chunk)..all.partition_point(|&i| i < chunk + CHUNK)];
            pieces.extend(picked.chunks(STRIP).map(|picked| Piece { part, rows: Err(picked) }));
        }
    }
    pieces
}

/// The residuals in the order in which the pieces meet them, each piece filled up to whole lanes.
struct Residuals<'a> {
    pieces: Vec<Piece<'a>>,
    count: usize,
    blocks: Vec<[f64; LANES]>,
}

impl<'a> Residuals<'a> {
    fn new(pieces: Vec<Piece<'a>>, rs: &[&[f64]]) -> Self {
        let mut blocks = Vec::with_capacity(rs.len() * pieces.iter().map(Piece::blocks).sum::<usize>());
        for piece in &pieces {
            for r in rs {
                match &piece.rows {
                    Ok(range) => fill(&mut blocks, r[range.clone()].iter().copied()),
                    Err(picked) => fill(&mut blocks, picked.iter().map(|&i| r[i])),
                }
            }
        }
        Self { pieces, count: rs.len(), blocks }
    }
}

/// Appends the values. What fills up is −0: times a zero of the design and added, it leaves any
/// sum as it is, bit for bit.
fn fill(blocks: &mut Vec<[f64; LANES]>, values: impl ExactSizeIterator<Item = f64>) {
    let first = blocks.len();
    blocks.resize(first + values.len().div_ceil(LANES), [-0.0; LANES]);
    for (k, value) in values.enumerate() {
        blocks[first + k / LANES][k % LANES] = value;
    }
}

fn run<T: Real>(data: &[T], residuals: &Residuals<'_>, centres: Option<&[f64]>, outs: &mut [&mut [f64]]) {
    let arch = Arch::new();
    let rows = data.len() / outs[0].len().max(1);
    for_each_part(outs, task_width::<T>(rows), |first, outs| {
        let data = &data[first * rows..];
        let centres = centres.map(|c| &c[first..]);
        arch.dispatch(Strips { data, rows, residuals, centres, outs });
    });
}

/// The leading columns of column-major `data`, as many as each of `outs` is long.
struct Strips<'a, 'b, T> {
    data: &'a [T],
    rows: usize,
    residuals: &'a Residuals<'a>,
    /// Squared distances from these instead of the values.
    centres: Option<&'a [f64]>,
    outs: &'a mut [&'b mut [f64]],
}

impl<T: Real> Strips<'_, '_, T> {
    /// `C` columns, from `first` in steps of `stride`, against every residual.
    #[inline(always)]
    fn group<S: Simd, const C: usize>(&mut self, work: &mut Work<C>, first: usize, stride: usize) {
        let mut columns: [&[T]; C] = [&[]; C];
        for c in 0..C {
            columns[c] = &self.data[(first + c * stride) * self.rows..][..self.rows];
        }
        let count = self.residuals.count;
        work.sums.fill([[0.0; LANES]; C]);
        let mut rest = self.residuals.blocks.as_slice();
        let mut next = self.rows.min(CHUNK);
        for piece in &self.residuals.pieces {
            let length = match &piece.rows {
                Ok(range) => work.strip.load(&columns, range.start),
                Err(picked) => {
                    work.strip.gather(&columns, picked, next);
                    picked.len()
                }
            };
            for c in 0..C {
                if let Some(centres) = self.centres {
                    let centre = centres[first + c * stride];
                    for x in &mut work.strip.0[c][..length] {
                        *x = (*x - centre) * (*x - centre);
                    }
                }
                work.strip.0[c][length..length.next_multiple_of(LANES)].fill(0.0);
            }
            next += length;
            let (rs, after) = rest.split_at(count * piece.blocks());
            rest = after;
            multiply::<S, C>(&work.strip, rs, &mut work.sums[piece.part * count..][..count]);
        }
        for (sums, out) in work.sums.iter().zip(&mut *self.outs) {
            for c in 0..C {
                out[first + c * stride] = sum_lanes(sums[c]);
            }
        }
    }
}

/// What a group of columns is copied to, and its sums.
struct Work<const C: usize> {
    strip: Strip<C>,
    sums: Vec<[[f64; LANES]; C]>,
}

impl<const C: usize> Work<C> {
    #[inline(always)]
    fn new(results: usize) -> Self {
        Self { strip: Strip::new(), sums: vec![[[0.0; LANES]; C]; results] }
    }
}

impl<T: Real> WithSimd for Strips<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, _: S) {
        // Streams as in `Columns`.
        let columns = self.outs[0].len();
        let stride = columns / GROUP;
        let (mut work, mut single) = (Work::new(self.outs.len()), Work::new(self.outs.len()));
        for first in 0..stride {
            self.group::<S, GROUP>(&mut work, first, stride);
        }
        for first in stride * GROUP..columns {
            self.group::<S, 1>(&mut single, first, 1);
        }
    }
}

/// Adds the products of a strip with every residual to the sums.
#[inline(always)]
fn multiply<S: Simd, const C: usize>(strip: &Strip<C>, rs: &[[f64; LANES]], sums: &mut [[[f64; LANES]; C]]) {
    let blocks = rs.len() / sums.len();
    for q in 0..sums.len() {
        sums[q] = one::<S, C>(strip, &rs[q * blocks..][..blocks], sums[q]);
    }
}

/// Adds the products of a strip with one residual.
#[inline(always)]
fn one<S: Simd, const C: usize>(
    strip: &Strip<C>,
    r: &[[f64; LANES]],
    mut sums: [[f64; LANES]; C],
) -> [[f64; LANES]; C] {
    let mut x: [&[[f64; LANES]]; C] = [&[]; C];
    for c in 0..C {
        x[c] = &strip.0[c].as_chunks().0[..r.len()];
    }
    for (b, r) in r.iter().enumerate() {
        for c in 0..C {
            for l in 0..LANES {
                sums[c][l] = fma::<S>(x[c][b][l], r[l], sums[c][l]);
            }
        }
    }
    sums
}
