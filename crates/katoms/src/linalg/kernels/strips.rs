//! Φᵀr of a column-major design for several residuals, or for several parts of the rows.
//!
//! A strip of eight columns is copied into L1, then multiplied by every residual.

use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};

use super::Real;
use super::columns::{LANES, adjoint_columns, sum_lanes, task_width};
use super::streams::{GROUP, STRIP, Strip, for_each_part, parts_shape, places, shape};
use super::tiles::multiply;
use crate::linalg::parallel;

/// Rows whose parts are picked out one after the other: they stay in L2 until the last part.
pub(super) const CHUNK: usize = 2048;
/// Bytes of residuals that stay in L2 while all rows of a group are read.
const NEAR: usize = 1 << 19;
/// Values of residuals below which a second thread costs more than it brings.
const PARALLEL_WORK: usize = 1 << 15;
/// Groups that are multiplied by a piece of the residuals while it is in L2.
const BESIDE: usize = 4;

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
pub(crate) fn squared_norms_columns<T: Real>(data: &[T], weights: &[&[f64]], centres: &[f64], outs: &mut [&mut [f64]]) {
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
    fn length(&self) -> usize {
        self.rows.as_ref().map_or_else(|picked| picked.len(), ExactSizeIterator::len)
    }

    /// Its rows, filled up to whole lanes.
    fn padded(&self) -> usize {
        self.length().next_multiple_of(LANES)
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
    values: Vec<f64>,
    /// The first value: a vector never lies across two cache lines.
    start: usize,
}

impl<'a> Residuals<'a> {
    fn new(pieces: Vec<Piece<'a>>, rs: &[&[f64]]) -> Self {
        let length = rs.len() * pieces.iter().map(Piece::padded).sum::<usize>();
        let mut values = vec![0.0; length + LANES - 1];
        let start = values.as_ptr().align_offset(LANES * size_of::<f64>()).min(LANES - 1);
        let (mut rest, mut places) = (&mut values[start..], Vec::with_capacity(pieces.len()));
        for piece in &pieces {
            let (own, after) = rest.split_at_mut(rs.len() * piece.padded());
            places.push((piece, own));
            rest = after;
        }
        let fill = |piece: &Piece<'_>, own: &mut [f64]| {
            for (r, filled) in rs.iter().zip(own.chunks_mut(piece.padded())) {
                // What fills up is −0: times a zero of the design and added, it leaves any sum as it is, bit for bit.
                filled[piece.length()..].fill(-0.0);
                match &piece.rows {
                    Ok(range) => filled[..range.len()].copy_from_slice(&r[range.clone()]),
                    Err(picked) => filled.iter_mut().zip(*picked).for_each(|(x, &i)| *x = r[i]),
                }
            }
        };
        if length < PARALLEL_WORK {
            places.iter_mut().for_each(|(piece, own)| fill(piece, own));
        } else {
            parallel::each_mut(&mut places, &|_, (piece, own)| fill(piece, own));
        }
        Self { pieces, count: rs.len(), values, start }
    }

    fn lanes(&self) -> &[f64] {
        &self.values[self.start..]
    }
}

fn run<T: Real>(data: &[T], residuals: &Residuals<'_>, centres: Option<&[f64]>, outs: &mut [&mut [f64]]) {
    let arch = Arch::new();
    let rows = data.len() / outs[0].len().max(1);
    for_each_part(outs, task_width::<T>(rows), &|first, outs| {
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
    /// The groups of columns that begin at `firsts`, their columns `stride` apart, against every residual.
    #[inline(always)]
    fn groups<S: Simd>(&mut self, simd: S, work: &mut Work, firsts: Range<usize>, stride: usize) {
        let (count, results) = (self.residuals.count, self.outs.len());
        work.sums.fill([[0.0; LANES]; GROUP]);
        let mut rest = self.residuals.lanes();
        let mut next = self.rows.min(CHUNK);
        for piece in &self.residuals.pieces {
            let (rs, after) = rest.split_at(count * piece.padded());
            for first in firsts.clone() {
                self.load::<S>(work, piece, next, (first, stride));
                let sums = (first - firsts.start) * results + piece.part * count;
                multiply(simd, &work.strip, rs, &mut work.sums[sums..sums + count]);
            }
            rest = after;
            next += piece.length();
        }
        for (first, sums) in firsts.zip(work.sums.chunks(results)) {
            let places: [usize; GROUP] = places(first, stride, self.outs[0].len());
            for (sums, out) in sums.iter().zip(&mut *self.outs) {
                for c in 0..GROUP {
                    out[places[c]] = sum_lanes(sums[c]);
                }
            }
        }
    }

    /// Fills the strip with the rows of a piece.
    #[inline(always)]
    fn load<S: Simd>(&self, work: &mut Work, piece: &Piece<'_>, next: usize, (first, stride): (usize, usize)) {
        let places: [usize; GROUP] = places(first, stride, self.outs[0].len());
        let mut columns: [&[T]; GROUP] = [&[]; GROUP];
        for c in 0..GROUP {
            columns[c] = &self.data[places[c] * self.rows..][..self.rows];
        }
        let length = piece.length();
        match &piece.rows {
            Ok(range) => work.strip.load::<S, T>(&columns, range.start),
            Err(picked) => work.strip.gather(&columns, picked, next),
        }
        for c in 0..GROUP {
            if let Some(centres) = self.centres {
                let centre = centres[places[c]];
                for x in &mut work.strip.0[c][..length] {
                    *x = (*x - centre) * (*x - centre);
                }
            }
            work.strip.0[c][length..piece.padded()].fill(0.0);
        }
    }
}

/// What a group of columns is copied to, and its sums.
struct Work {
    strip: Strip<GROUP>,
    sums: Vec<[[f64; LANES]; GROUP]>,
}

impl Work {
    #[inline(always)]
    fn new(sums: usize) -> Self {
        Self { strip: Strip::new(), sums: vec![[[0.0; LANES]; GROUP]; sums] }
    }
}

impl<T: Real> WithSimd for Strips<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        // Streams as in `Columns`.
        let columns = self.outs[0].len();
        let stride = columns / GROUP;
        let results = self.outs.len();
        // Residuals that L2 does not hold are read once for several groups.
        let beside = if size_of_val(self.residuals.lanes()) <= NEAR { 1 } else { BESIDE.min(stride.max(1)) };
        let mut work = Work::new(beside * results);
        for first in (0..stride).step_by(beside) {
            self.groups::<S>(simd, &mut work, first..stride.min(first + beside), stride);
        }
        let last = stride * GROUP;
        if last < columns {
            self.groups::<S>(simd, &mut work, last..last + 1, 1);
        }
    }
}
