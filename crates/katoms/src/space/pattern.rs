//! Which entries of a matrix are observed, ordered for products from either side.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::{Error, check_indices, check_length, check_range};
use crate::linalg::Matrix;
use crate::linalg::kernels::{self, PaddedRows};
use crate::linalg::parallel;

/// Observed entries whose products one thread takes on at a time.
const CHUNK: usize = 4096;

/// From this share of observed entries on, strips of the whole matrix are multiplied: more arithmetic,
/// but in dense products, which run several times faster than picked rows.
const DENSE_SHARE: f64 = 0.1;
/// Rows or columns of a strip. A strip is all of the whole matrix that ever stands in memory.
const STRIP: usize = 128;

/// The places of the observed entries of a matrix, in the order in which they were given, with
/// an index by row and one by column.
#[derive(Debug, Clone)]
pub struct Pattern {
    shape: (usize, usize),
    places: Vec<(u32, u32)>,
    by_row: Index,
    by_column: Index,
    device: Option<Arc<Attached>>,
}

impl PartialEq for Pattern {
    /// Whoever multiplies.
    fn eq(&self, other: &Self) -> bool {
        (self.shape, &self.places) == (other.shape, &other.places)
    }
}

/// What a device does with the observed places of a matrix, which it holds: sums in double precision, and the same call
/// gives the same bits.
pub trait DeviceEntries: Send + Sync + fmt::Debug {
    /// [`Pattern::gather`].
    ///
    /// # Errors
    /// When the device fails.
    fn gather(&self, left: &Matrix, right: &Matrix, out: &mut [f64]) -> Result<(), Error>;
    /// [`Pattern::times`], or [`Pattern::transposed_times`].
    ///
    /// # Errors
    /// When the device fails.
    fn times(&self, values: &[f64], b: &Matrix, transposed: bool) -> Result<Matrix, Error>;
}

/// A device, and why a call has failed, where one has.
#[derive(Debug)]
struct Attached {
    device: Arc<dyn DeviceEntries>,
    failure: Mutex<Option<Error>>,
}

impl Attached {
    fn failure(&self) -> MutexGuard<'_, Option<Error>> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a call gives; nothing where one has failed.
    fn done<T>(&self, call: impl FnOnce(&dyn DeviceEntries) -> Result<T, Error>) -> Option<T> {
        if self.failure().is_some() {
            return None;
        }
        call(&*self.device).map_err(|error| *self.failure() = Some(error)).ok()
    }
}

/// For each line (row or column): the positions across it, and which observation stands there.
#[derive(Debug, Clone, PartialEq)]
struct Index {
    starts: Vec<usize>,
    across: Vec<u32>,
    slots: Vec<u32>,
}

impl Pattern {
    /// The pattern of the entries (`rows[e]`, `columns[e]`). An entry may be observed repeatedly.
    ///
    /// # Errors
    /// When lengths disagree, an index is outside or nothing is observed.
    pub fn new(shape: (usize, usize), rows: &[usize], columns: &[usize]) -> Result<Self, Error> {
        let most = u32::MAX as usize;
        check_range("the number of rows", shape.0, 1, most)?;
        check_range("the number of columns", shape.1, 1, most)?;
        check_range("the number of observed entries", rows.len(), 1, most)?;
        check_length("columns", columns.len(), rows.len(), "one for each observed entry, as rows")?;
        check_indices("row index", rows, shape.0)?;
        check_indices("column index", columns, shape.1)?;
        let places: Vec<(u32, u32)> = rows.iter().zip(columns).map(|(&i, &j)| (i as u32, j as u32)).collect();
        let by_row = Index::new(shape.0, places.iter().copied());
        let by_column = Index::new(shape.1, places.iter().map(|&(i, j)| (j, i)));
        Ok(Self { shape, places, by_row, by_column, device: None })
    }

    /// The same, whose products a device computes. A call that fails makes this and all later results NaN, which ends a
    /// fit; [`Pattern::failure`] tells why.
    #[must_use]
    pub fn on(self, device: Arc<dyn DeviceEntries>) -> Self {
        Self { device: Some(Arc::new(Attached { device, failure: Mutex::default() })), ..self }
    }

    /// Why a call of the device has failed, where one has.
    pub fn failure(&self) -> Option<Error> {
        self.device.as_ref()?.failure().clone()
    }

    /// For each row, or each column where `across`: where its observations begin, the positions across it, and which
    /// observation stands there.
    pub fn lines(&self, across: bool) -> (&[usize], &[u32], &[u32]) {
        let index = if across { &self.by_column } else { &self.by_row };
        (&index.starts, &index.across, &index.slots)
    }

    /// (rows, columns) of the whole matrix.
    pub fn shape(&self) -> (usize, usize) {
        self.shape
    }

    /// The number of observed entries.
    pub fn observed(&self) -> usize {
        self.places.len()
    }

    /// The (row, column) of each observed entry, in the given order.
    pub fn places(&self) -> &[(u32, u32)] {
        &self.places
    }

    /// `out[e]` = (left·rightᵀ) at the e-th observed place. O(observed·rank).
    pub fn gather(&self, left: &Matrix, right: &Matrix, out: &mut [f64]) {
        if let Some(attached) = &self.device {
            if attached.done(|device| device.gather(left, right, out)).is_none() {
                out.fill(f64::NAN);
            }
            return;
        }
        if self.is_dense() {
            return self.by_row.gather_strips(left, right, out);
        }
        let (left, right) = (PaddedRows::new(left), PaddedRows::new(right));
        parallel::chunks_mut(out, CHUNK, &|chunk, out| {
            kernels::dots(&left, &right, &self.places[chunk * CHUNK..][..out.len()], out);
        });
    }

    /// out[e] = the entry of G at the e-th place: the sum of `values` over the observations there.
    pub(crate) fn sum_repeated(&self, values: &[f64], out: &mut [f64]) {
        let mut sums = std::collections::HashMap::with_capacity(values.len());
        for (place, value) in self.places.iter().zip(values) {
            *sums.entry(place).or_insert(0.0) += value;
        }
        out.iter_mut().zip(&self.places).for_each(|(o, place)| *o = sums[place]);
    }

    /// G·b, where G holds `values` at the observed places. O(observed·columns of b).
    pub fn times(&self, values: &[f64], b: &Matrix) -> Matrix {
        self.product(false, values, b)
    }

    /// Gᵀ·b.
    pub fn transposed_times(&self, values: &[f64], b: &Matrix) -> Matrix {
        self.product(true, values, b)
    }

    /// The product along rows or columns, by the way that suits its width.
    fn product(&self, transposed: bool, values: &[f64], b: &Matrix) -> Matrix {
        let lines = if transposed { &self.by_column } else { &self.by_row };
        if let Some(attached) = &self.device {
            let done = attached.done(|device| device.times(values, b, transposed));
            return done.unwrap_or_else(|| Matrix::from_fn(lines.lines(), b.columns(), |_, _| f64::NAN));
        }
        match b.columns() {
            1 => lines.times_vector(values, b.column(0)),
            _ if self.is_dense() => lines.times_strips(values, b),
            _ => lines.times(values, b),
        }
    }

    fn is_dense(&self) -> bool {
        self.observed() as f64 >= DENSE_SHARE * self.shape.0 as f64 * self.shape.1 as f64
    }
}

impl Index {
    fn new(lines: usize, places: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut starts = vec![0; lines + 1];
        places.clone().for_each(|(line, _)| starts[line as usize + 1] += 1);
        (0..lines).for_each(|line| starts[line + 1] += starts[line]);
        let mut next = starts.clone();
        let (mut across, mut slots) = (vec![0; starts[lines]], vec![0; starts[lines]]);
        for (slot, (line, other)) in places.enumerate() {
            let at = &mut next[line as usize];
            (across[*at], slots[*at]) = (other, slot as u32);
            *at += 1;
        }
        Self { starts, across, slots }
    }

    fn lines(&self) -> usize {
        self.starts.len() - 1
    }

    /// The entries of a strip of lines, as a range.
    fn strip(&self, first: usize) -> std::ops::Range<usize> {
        self.starts[first]..self.starts[(first + STRIP).min(self.lines())]
    }

    /// [`Pattern::gather`] by dense products of strips.
    fn gather_strips(&self, left: &Matrix, right: &Matrix, out: &mut [f64]) {
        let mut in_order = vec![0.0; self.slots.len()];
        let firsts: Vec<usize> = (0..self.lines()).step_by(STRIP).collect();
        let mut parts = Vec::with_capacity(firsts.len());
        let mut tail = in_order.as_mut_slice();
        for &first in &firsts {
            let (part, others) = tail.split_at_mut(self.strip(first).len());
            parts.push(part);
            tail = others;
        }
        parallel::each_mut(&mut parts, &|at, part| {
            let first = firsts[at];
            let lines = STRIP.min(self.lines() - first);
            let strip = right.times_transposed(&left.block(first, 0, lines, left.columns()));
            let start = self.starts[first];
            for line in 0..lines {
                let column = strip.column(line);
                for e in self.starts[first + line]..self.starts[first + line + 1] {
                    part[e - start] = column[self.across[e] as usize];
                }
            }
        });
        in_order.iter().zip(&self.slots).for_each(|(value, &slot)| out[slot as usize] = *value);
    }

    /// [`Index::times`] by dense products of strips.
    fn times_strips(&self, values: &[f64], b: &Matrix) -> Matrix {
        let width = b.columns();
        if width == 0 {
            return Matrix::zeros(self.lines(), 0);
        }
        let mut out = vec![0.0; self.lines() * width];
        parallel::chunks_mut(&mut out, STRIP * width, &|strip, out| {
            let first = strip * STRIP;
            let mut dense = Matrix::zeros(b.rows(), out.len() / width);
            for line in 0..dense.columns() {
                let column = dense.column_mut(line);
                for e in self.starts[first + line]..self.starts[first + line + 1] {
                    column[self.across[e] as usize] += values[self.slots[e] as usize];
                }
            }
            out.copy_from_slice(b.transposed_times(&dense).data());
        });
        Matrix::from_columns(width, self.lines(), out).transposed()
    }

    /// [`Index::times`] with a single column, which is not worth a strip.
    fn times_vector(&self, values: &[f64], b: &[f64]) -> Matrix {
        let term = |e: usize| values[self.slots[e] as usize] * b[self.across[e] as usize];
        let mut out = vec![0.0; self.lines()];
        parallel::chunks_mut(&mut out, STRIP, &|chunk, out| {
            for (at, out) in out.iter_mut().enumerate() {
                let line = chunk * STRIP + at;
                *out = (self.starts[line]..self.starts[line + 1]).map(term).sum();
            }
        });
        Matrix::from_columns(self.lines(), 1, out)
    }

    /// Each line's combination of the rows of `b`, one line after the other: a thread owns a line,
    /// so the order of the sums is fixed.
    fn times(&self, values: &[f64], b: &Matrix) -> Matrix {
        let lines = self.starts.len() - 1;
        let rows = PaddedRows::new(b);
        let mut out = PaddedRows::zeros(lines, b.columns());
        out.fill(&|line, out| {
            let entries = self.starts[line]..self.starts[line + 1];
            let terms: Vec<(u32, f64)> = entries.map(|e| (self.across[e], values[self.slots[e] as usize])).collect();
            kernels::add_rows(&rows, &terms, out);
        });
        out.matrix(b.columns())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_agree_with_a_dense_matrix() {
        let (rows, columns) = ([3, 0, 2, 0, 3], [1, 2, 0, 0, 1]);
        let values = [1.0, 2.0, 3.0, 4.0, 5.0];
        let pattern = Pattern::new((4, 3), &rows, &columns).unwrap();
        let mut dense = Matrix::zeros(4, 3);
        for e in 0..5 {
            dense.column_mut(columns[e])[rows[e]] += values[e];
        }
        let (b, c) =
            (Matrix::from_fn(3, 2, |i, j| (i + 3 * j) as f64), Matrix::from_fn(4, 2, |i, j| (i * j) as f64 - 1.0));
        assert_eq!(pattern.times(&values, &b), dense.times(&b));
        assert_eq!(pattern.transposed_times(&values, &c), dense.transposed_times(&c));
        let (b, c) = (b.leading_columns(1), c.leading_columns(1));
        assert_eq!(pattern.times(&values, &b), dense.times(&b));
        assert_eq!(pattern.transposed_times(&values, &c), dense.transposed_times(&c));
    }

    #[test]
    fn gather_reads_the_product() {
        let (l, r) = (Matrix::from_fn(4, 11, |i, j| (i + j) as f64), Matrix::from_fn(3, 11, |i, j| (i * j) as f64));
        let pattern = Pattern::new((4, 3), &[3, 0], &[1, 2]).unwrap();
        let product = l.times_transposed(&r);
        let mut out = [0.0; 2];
        pattern.gather(&l, &r, &mut out);
        assert_eq!(out, [product.at(3, 1), product.at(0, 2)]);
    }

    #[test]
    fn bits_do_not_depend_on_the_threads() {
        let (rows, columns): (Vec<_>, Vec<_>) = (0..3 * CHUNK).map(|e| (e * 7 % 101, e * 11 % 97)).unzip();
        let pattern = Pattern::new((101, 97), &rows, &columns).unwrap();
        let l = Matrix::from_fn(101, 13, |i, j| ((i + 5 * j) as f64).sin());
        let r = Matrix::from_fn(97, 13, |i, j| ((3 * i + j) as f64).cos());
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut out = vec![0.0; pattern.observed()];
                pattern.gather(&l, &r, &mut out);
                let (times, transposed) = (pattern.times(&out, &r), pattern.transposed_times(&out, &l));
                (out, times, transposed)
            })
        };
        assert_eq!(on(1), on(2));
    }
}
