//! Genotypes: how often each individual has an allele, 2 bits each, as PLINK stores them.

use std::borrow::Cow;

use rayon::prelude::*;

use super::dense::{self, PARALLEL_WORK};
use super::first_read::{FirstRead, Known};
use super::parts::part_major;
use super::{ColumnMoments, LinearOperator, Moments, Parts, SampledRows, is_its_own_base};
use crate::error::{Error, check_length, check_values};
use crate::linalg::Matrix;
use crate::linalg::kernels::{self, IN_BYTE, Packed, RunsOfRows};
use crate::space::{IndexSet, SparseVec};

/// Bytes of decoded columns that stay in L2 while a kernel reads them.
const DECODED: usize = 1 << 18;
/// Columns that are decoded together at least: as many as the kernels read side by side.
const TOGETHER: usize = 8;
/// Rows that are added up at a time where columns are: they stay in L1 with their sums.
const ROWS: usize = 1024;

/// A design of genotypes: 0, 1 or 2 copies of an allele, in 2 bits. A missing one counts as the mean of its column.
///
/// Each column has whole bytes, the first individual in the lowest bits: the body of a .bed file of PLINK in its usual
/// (variant-major) order. Code 0 is two copies of the first allele (A1 of the .bim file), 2 is one copy, 3 is none, and 1 is
/// missing. Borrowed bytes are not copied, and codes become numbers as they are read: a pass reads a quarter of what bytes
/// take.
///
/// ```
/// use katoms::operator::{Genotypes, LinearOperator};
/// // one variant of five individuals: 2, 1, 0, unknown; 1
/// let a = Genotypes::new(&[0b01_11_10_00, 0b10][..], 5, 1)?;
/// let mut g = a.new_covector();
/// a.adjoint(&[1.0, 10.0, 100.0, 1000.0, 10_000.0], &mut g);
/// assert_eq!(g, [2.0 + 10.0 + 0.0 + 1000.0 + 10_000.0]);
/// # Ok::<(), katoms::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Genotypes<'a> {
    codes: Cow<'a, [u8]>,
    rows: usize,
    columns: usize,
    /// What a missing genotype of each column counts as; 0 where none is missing.
    missing: Vec<f64>,
    /// What the first read told.
    known: Option<Known>,
}

/// Columns as numbers: of a byte where none is missing.
enum Decoded {
    Bytes(Vec<i8>),
    Doubles(Vec<f64>),
}

/// What is done with decoded columns, whatever they are.
macro_rules! on_decoded {
    ($decoded:expr, $x:ident => $what:expr) => {
        match &$decoded {
            Decoded::Bytes($x) => $what,
            Decoded::Doubles($x) => $what,
        }
    };
}
impl<'a> Genotypes<'a> {
    /// A design in which a missing genotype is the mean of the others of its column, or 0 where there are none.
    /// One read of the codes.
    ///
    /// # Errors
    /// When it is empty, or there are not ⌈rows/4⌉ bytes for each column.
    pub fn new(codes: impl Into<Cow<'a, [u8]>>, rows: usize, columns: usize) -> Result<Self, Error> {
        Self::counting(codes.into(), rows, columns, |_, counts| counts.mean())
    }

    /// A design in which a missing genotype of each column is this number. One read of the codes.
    ///
    /// # Errors
    /// As [`Genotypes::new`], or when there is not one finite number, 0 or more, for each column.
    pub fn with_missing(
        codes: impl Into<Cow<'a, [u8]>>,
        rows: usize,
        columns: usize,
        missing: &[f64],
    ) -> Result<Self, Error> {
        let what = "list of numbers for missing genotypes";
        check_length(what, missing.len(), columns, "one for each column")?;
        check_values(what, missing, "it must be finite and not negative", |v| v.is_finite() && v >= 0.0)?;
        Self::counting(codes.into(), rows, columns, |j, _| missing[j])
    }

    /// `missing(j, counts)` is what a missing genotype of column j is.
    fn counting(
        codes: Cow<'a, [u8]>,
        rows: usize,
        columns: usize,
        missing: impl Fn(usize, GenotypeCounts) -> f64 + Sync,
    ) -> Result<Self, Error> {
        if rows == 0 || columns == 0 {
            return Err(Error::Empty { what: "the design matrix" });
        }
        let length = rows.div_ceil(IN_BYTE);
        let expected = length.saturating_mul(columns);
        check_length("list of packed genotypes", codes.len(), expected, "a byte for four rows of each column")?;
        let of_column = |(j, column): (usize, &[u8])| match GenotypeCounts::of(column, rows) {
            GenotypeCounts { missing: 0, .. } => 0.0,
            counts => missing(j, counts),
        };
        let missing = codes.par_chunks(length).enumerate().map(of_column).collect();
        Ok(Self { codes, rows, columns, missing, known: None })
    }

    /// The same after one read that tells what a fit asks first.
    ///
    /// # Errors
    /// When the first read is for another number of rows.
    pub fn read_for(mut self, first: &FirstRead) -> Result<Self, Error> {
        check_length("target", first.rows(), self.rows, "one value for each row of the design")?;
        let survey = |at: usize, weights: &[f64], residual: &[f64], outs: [&mut [f64]; 3]| {
            on_decoded!(self.decoded(at, outs[0].len()), x => kernels::survey_columns(x, weights, residual, outs));
        };
        self.known = Some(Known::surveyed(self.columns, self.width(), first, survey));
        Ok(self)
    }

    fn packed(&self) -> Packed<'_> {
        Packed { bytes: &self.codes, rows: self.rows, missing: &self.missing }
    }

    /// Columns that are decoded together.
    fn width(&self) -> usize {
        (DECODED / (size_of::<f64>() * self.rows)).next_multiple_of(TOGETHER).max(TOGETHER)
    }

    /// Some columns that follow each other.
    fn decoded(&self, first: usize, count: usize) -> Decoded {
        let (packed, columns) = (self.packed(), first..first + count);
        if self.missing[columns.clone()].iter().all(|&v| v == 0.0) {
            let mut bytes = vec![0; count * self.rows];
            for (j, out) in columns.zip(bytes.chunks_mut(self.rows)) {
                kernels::decode_bytes(packed.column(j), out);
            }
            return Decoded::Bytes(bytes);
        }
        let mut doubles = vec![0.0; count * self.rows];
        for (j, out) in columns.zip(doubles.chunks_mut(self.rows)) {
            kernels::decode_doubles(packed.column(j), self.missing[j], out);
        }
        Decoded::Doubles(doubles)
    }

    /// Calls `task(columns, first, parts)` for some columns after the other, decoded: `parts[q]` is `outs[q][first..]`, as
    /// far as they go.
    fn for_each_decoded(&self, outs: &mut [&mut [f64]], task: impl Fn(Decoded, usize, &mut [&mut [f64]]) + Sync) {
        if !outs.is_empty() {
            kernels::for_each_part(outs, self.width(), |first, outs| {
                task(self.decoded(first, outs[0].len()), first, outs);
            });
        }
    }

    /// Copies of some columns. O(m) for each, parallel.
    fn gathered(&self, columns: &[usize]) -> Matrix {
        let (mut data, packed) = (vec![0.0; self.rows * columns.len()], self.packed());
        let copy = |(&j, out): (&usize, &mut [f64])| kernels::decode_doubles(packed.column(j), self.missing[j], out);
        if data.len() < PARALLEL_WORK {
            columns.iter().zip(data.chunks_mut(self.rows)).for_each(copy);
        } else {
            columns.par_iter().zip(data.par_chunks_mut(self.rows)).for_each(copy);
        }
        Matrix::from_columns(self.rows, columns.len(), data)
    }
}

/// How many individuals have each genotype of a variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GenotypeCounts {
    /// With no, one and two copies of the first allele.
    pub copies: [usize; 3],
    /// Unknown.
    pub missing: usize,
}

impl GenotypeCounts {
    /// Of the first `rows` individuals of a column of [`Genotypes`]. O(m).
    ///
    /// # Panics
    /// If the column has fewer.
    pub fn of(column: &[u8], rows: usize) -> Self {
        assert!(rows <= column.len() * IN_BYTE, "{rows} genotypes in {} bytes", column.len());
        let [two, missing, one, none] = kernels::count_codes(column, rows);
        Self { copies: [none, one, two], missing }
    }

    /// The mean number of copies; 0 where all are missing.
    pub fn mean(&self) -> f64 {
        let [none, one, two] = self.copies;
        (one + 2 * two) as f64 / (none + one + two).max(1) as f64
    }

    /// Whether all that are known are the same.
    pub fn is_constant(&self) -> bool {
        self.copies.iter().filter(|&&n| n > 0).count() < 2
    }
}

impl LinearOperator for Genotypes<'_> {
    type Point = SparseVec;
    type Covector = Vec<f64>;
    is_its_own_base!();

    fn domain(&self) -> usize {
        self.columns
    }
    fn n_outputs(&self) -> usize {
        self.rows
    }
    fn new_covector(&self) -> Vec<f64> {
        vec![0.0; self.columns]
    }
    fn apply(&self, x: &SparseVec, out: &mut [f64]) {
        out.fill(0.0);
        let packed = self.packed();
        let task = |(task, out): (usize, &mut [f64])| {
            let mut decoded = [0.0; ROWS];
            let decoded = &mut decoded[..out.len()];
            for (j, value) in x.entries() {
                let column = &packed.column(j)[task * ROWS / IN_BYTE..];
                kernels::decode_doubles(&column[..out.len().div_ceil(IN_BYTE)], self.missing[j], decoded);
                kernels::axpy(value, decoded, out);
            }
        };
        if self.rows * x.indices().len() < PARALLEL_WORK {
            out.chunks_mut(ROWS).enumerate().for_each(task);
        } else {
            out.par_chunks_mut(ROWS).enumerate().for_each(task);
        }
    }
    fn apply_covector(&self, g: &Vec<f64>, out: &mut [f64]) {
        self.apply(&SparseVec::full(g), out);
    }
    fn adjoint(&self, r: &[f64], out: &mut Vec<f64>) {
        out.resize(self.columns, 0.0);
        if let Some(pass) = self.known.as_ref().and_then(|known| known.pass(r)) {
            return out.copy_from_slice(pass);
        }
        kernels::adjoint_genotypes(self.packed(), None, &RunsOfRows::new(std::iter::once(0..self.rows), r), out);
    }
    fn sampled_rows(&self) -> Option<SampledRows> {
        dense::sampled_rows::<u8>(self.rows, self.columns)
    }
    /// The rows are read where they are: a copy of them would have as many bytes as all of the codes.
    fn adjoint_sampled(&self, r: &[f64], out: &mut Vec<f64>) {
        match self.sampled_rows() {
            Some(sampled) => {
                out.resize(self.columns, 0.0);
                kernels::adjoint_genotypes(self.packed(), None, &RunsOfRows::new(sampled.runs(), r), out);
            }
            None => self.adjoint(r, out),
        }
    }
    fn adjoint_block(&self, rs: &[&[f64]], out: &mut [Vec<f64>]) {
        if let ([r], [out]) = (rs, &mut *out) {
            let runs = RunsOfRows::new(std::iter::once(0..self.rows), r);
            out.resize(self.columns, 0.0);
            return kernels::adjoint_genotypes(self.packed(), None, &runs, out);
        }
        out.iter_mut().for_each(|g| g.resize(self.columns, 0.0));
        let mut out: Vec<&mut [f64]> = out.iter_mut().map(Vec::as_mut_slice).collect();
        self.for_each_decoded(&mut out, |columns, _, outs| {
            on_decoded!(columns, x => kernels::adjoint_columns_block(x, rs, outs));
        });
    }
    fn adjoint_parts(&self, parts: &Parts, rs: &[&[f64]], out: &mut [Vec<Vec<f64>>]) {
        let mut out = part_major(out, parts.count(), self.columns);
        self.for_each_decoded(&mut out, |columns, _, outs| {
            on_decoded!(columns, x => kernels::adjoint_columns_parts(x, parts.sorted(), rs, outs));
        });
    }
    fn energies(&self, weights: &[&[f64]], centres: Option<&[f64]>) -> Option<Vec<Vec<f64>>> {
        if let Some(energies) = self.known.as_ref().and_then(|known| known.energies(weights, centres)) {
            return Some(energies);
        }
        let centres = centres.map_or_else(|| Cow::Owned(self.new_covector()), Cow::Borrowed);
        let mut energies = vec![self.new_covector(); weights.len()];
        let mut out: Vec<&mut [f64]> = energies.iter_mut().map(Vec::as_mut_slice).collect();
        self.for_each_decoded(&mut out, |columns, first, outs| {
            let centres = &centres[first..][..outs[0].len()];
            on_decoded!(columns, x => kernels::energies_columns(x, weights, centres, outs));
        });
        Some(energies)
    }
    fn knows_energies(&self, weights: &[f64]) -> bool {
        self.known.as_ref().is_some_and(|known| known.moments(weights).is_some())
    }
    fn adjoint_block_on(&self, rs: &[&[f64]], t: &IndexSet) -> Vec<SparseVec> {
        dense::gathered_products(rs, t, self.rows, |some| self.gathered(some))
    }
    fn adjoint_on(&self, r: &[f64], t: &IndexSet) -> SparseVec {
        let (picked, mut values) = (t.indices(), vec![0.0; t.indices().len()]);
        let runs = RunsOfRows::new(std::iter::once(0..self.rows), r);
        kernels::adjoint_genotypes(self.packed(), Some(picked), &runs, &mut values);
        SparseVec::sorted(t.dim(), picked.to_vec(), values)
    }
}

impl ColumnMoments for Genotypes<'_> {
    fn moments(&self, weights: &[f64]) -> Moments {
        if let Some(moments) = self.known.as_ref().and_then(|known| known.moments(weights)) {
            return moments.clone();
        }
        let (mut means, mut variances) = (self.new_covector(), self.new_covector());
        self.for_each_decoded(&mut [&mut means, &mut variances], |columns, _, outs| {
            let [means, variances] = outs else { return };
            on_decoded!(columns, x => kernels::moments_columns(x, weights, means, variances));
        });
        Moments { means, variances }
    }
}
