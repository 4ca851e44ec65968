//! Genotypes: how often each individual has an allele, 2 bits each, as PLINK stores them.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::dense::{self, PARALLEL_WORK};
use super::first_read::{FirstRead, Known};
use super::parts::part_major;
use super::{ColumnMoments, LinearOperator, Moments, Parts, SampledRows, is_its_own_base};
use crate::error::{Error, check_length, check_values};
use crate::linalg::Matrix;
use crate::linalg::kernels::{self, IN_BYTE, Meaning, Packed, Residuals};
use crate::linalg::parallel;
use crate::space::{IndexSet, SparseVec};

/// Bytes of codes that stay in L2 while they are looked at for several ends.
const CACHED: usize = 1 << 18;
/// Bytes of decoded columns that stay there while a kernel reads them, and how many blocks of them are one task.
const DECODED: usize = 1 << 18;
const BLOCKS: usize = 8;
/// Columns that the kernels read side by side.
const TOGETHER: usize = 8;
/// Rows that are added up at a time where columns are: they stay in L1 with their sums.
const ROWS: usize = 1024;
/// Columns of the sample that a thread copies at least.
const SHARE: usize = 1 << 10;

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
    /// A copy of the codes of some rows, made when it is first asked for.
    sample: OnceLock<Arc<Vec<u8>>>,
    /// What the first read told.
    known: Option<Known>,
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
    /// As [`Genotypes::new`], or when there is not one number from 0 to 2 for each column.
    pub fn with_missing(
        codes: impl Into<Cow<'a, [u8]>>,
        rows: usize,
        columns: usize,
        missing: &[f64],
    ) -> Result<Self, Error> {
        let what = "list of numbers for missing genotypes";
        check_length(what, missing.len(), columns, "one for each column")?;
        check_values(what, missing, "it must lie between 0 and 2", |v| (0.0..=2.0).contains(&v))?;
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
        let of_column = |j: usize| match GenotypeCounts::of(&codes[j * length..][..length], rows) {
            GenotypeCounts { missing: 0, .. } => 0.0,
            counts => missing(j, counts),
        };
        let mut means = vec![0.0; columns];
        parallel::chunks_mut(&mut means, SHARE, &|chunk, means| {
            means.iter_mut().enumerate().for_each(|(j, mean)| *mean = of_column(chunk * SHARE + j));
        });
        Ok(Self { codes, rows, columns, missing: means, sample: OnceLock::new(), known: None })
    }

    /// The same after one read that tells what a fit asks first.
    ///
    /// # Errors
    /// When the first read is for another number of rows.
    pub fn read_for(mut self, first: &FirstRead) -> Result<Self, Error> {
        check_length("target", first.rows(), self.rows, "one value for each row of the design")?;
        let (weights, residual) = first.vectors();
        let (total, weights) = (weights.iter().sum(), Residuals::new(&[weights]));
        let residual = Residuals::new(&[residual]);
        let survey = |at: usize, [means, variances, products]: [&mut [f64]; 3]| {
            self.survey(at, &weights, total, [means, variances]);
            self.sums(at, |j| self.meaning(j), &residual, &mut [products]);
        };
        self.known = Some(Known::surveyed(self.columns, self.width(), first, survey));
        Ok(self)
    }

    fn packed(&self) -> Packed<'_> {
        Packed { bytes: &self.codes, rows: self.rows }
    }

    /// What the codes of a column stand for.
    fn meaning(&self, j: usize) -> Meaning {
        [2.0, self.missing[j], 1.0, 0.0]
    }

    /// Columns that stay in the cache.
    fn width(&self) -> usize {
        (CACHED / self.rows.div_ceil(IN_BYTE)).next_multiple_of(TOGETHER).max(TOGETHER)
    }

    /// Sums over some columns from `first` on, as many as each of `outs` is long, where codes stand for `meaning(j)`.
    fn sums(
        &self,
        first: usize,
        meaning: impl Fn(usize) -> Meaning + Sync,
        residuals: &Residuals,
        outs: &mut [&mut [f64]],
    ) {
        let (length, count) = (self.rows.div_ceil(IN_BYTE), outs.first().map_or(0, |out| out.len()));
        let packed = Packed { bytes: &self.codes[first * length..(first + count) * length], rows: self.rows };
        kernels::genotype_sums(packed, None, &|j| meaning(first + j), residuals, outs);
    }

    /// Means and variances of some columns from `first` on, by deviations from a pilot, as of other designs.
    fn survey(&self, first: usize, weights: &Residuals, total: f64, [means, variances]: [&mut [f64]; 2]) {
        let first_value = |j: usize| self.meaning(j)[usize::from(self.packed().column(j)[0] & 3)];
        let pilots: Vec<f64> = (first..first + means.len()).map(first_value).collect();
        let deviations = |j: usize, pilot: f64| self.meaning(j).map(|x| x - pilot);
        let squares = |j: usize, pilot: f64| deviations(j, pilot).map(|d| d * d);
        self.sums(first, |j| deviations(j, pilots[j - first]), weights, &mut [&mut *means]);
        self.sums(first, |j| squares(j, pilots[j - first]), weights, &mut [&mut *variances]);
        for (at, pilot) in pilots.into_iter().enumerate() {
            let (mean, variance) = (&mut means[at], &mut variances[at]);
            let mut far;
            (*mean, *variance, far) = kernels::mean_and_variance(pilot, *mean, *variance, total);
            for _ in 1..kernels::READS {
                if far {
                    let (pilot, mut again) = (*mean, [[0.0], [0.0]]);
                    let [deviation, square] = &mut again;
                    self.sums(first + at, |j| deviations(j, pilot), weights, &mut [deviation]);
                    self.sums(first + at, |j| squares(j, pilot), weights, &mut [square]);
                    (*mean, *variance, far) = kernels::mean_and_variance(pilot, again[0][0], again[1][0], total);
                }
            }
        }
    }

    /// The bytes of the sampled rows, column after column: in the columns themselves they are too far apart to be read quickly.
    fn sampled(&self, rows: SampledRows) -> Vec<u8> {
        let bytes: Vec<Range<usize>> = rows.runs().map(|run| run.start / IN_BYTE..run.end.div_ceil(IN_BYTE)).collect();
        let length: usize = bytes.iter().map(ExactSizeIterator::len).sum();
        let (mut sample, packed) = (vec![0; length * self.columns], self.packed());
        parallel::chunks_mut(&mut sample, length * SHARE, &|chunk, out| {
            for (at, out) in out.chunks_mut(length).enumerate() {
                let column = packed.column(chunk * SHARE + at);
                let picked = bytes.iter().flat_map(|run| &column[run.clone()]);
                out.iter_mut().zip(picked).for_each(|(out, &byte)| *out = byte);
            }
        });
        sample
    }

    /// Copies of some columns. O(m) for each, parallel.
    fn gathered(&self, columns: &[usize]) -> Matrix {
        let (mut data, packed) = (vec![0.0; self.rows * columns.len()], self.packed());
        let copy = |at: usize, out: &mut [f64]| {
            let j = columns[at];
            kernels::decode_genotypes(packed.column(j), self.missing[j], out);
        };
        if data.len() < PARALLEL_WORK {
            data.chunks_mut(self.rows).enumerate().for_each(|(at, out)| copy(at, out));
        } else {
            parallel::chunks_mut(&mut data, self.rows, &copy);
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
        let task = |task: usize, out: &mut [f64]| {
            let mut decoded = [0.0; ROWS];
            let decoded = &mut decoded[..out.len()];
            for (j, value) in x.entries() {
                let column = &packed.column(j)[task * ROWS / IN_BYTE..];
                kernels::decode_genotypes(&column[..out.len().div_ceil(IN_BYTE)], self.missing[j], decoded);
                kernels::axpy(value, decoded, out);
            }
        };
        if self.rows * x.indices().len() < PARALLEL_WORK {
            out.chunks_mut(ROWS).enumerate().for_each(|(at, out)| task(at, out));
        } else {
            parallel::chunks_mut(out, ROWS, &task);
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
        self.sums(0, |j| self.meaning(j), &Residuals::new(&[r]), &mut [out]);
    }
    fn sampled_rows(&self) -> Option<SampledRows> {
        dense::sampled_rows::<u8>(self.rows, self.columns)
    }
    fn adjoint_sampled(&self, r: &[f64], out: &mut Vec<f64>) {
        let Some(sampled) = self.sampled_rows() else { return self.adjoint(r, out) };
        out.resize(self.columns, 0.0);
        let codes = self.sample.get_or_init(|| Arc::new(self.sampled(sampled)));
        // r as the sample has its rows; what fills up the bytes of a run counts nothing.
        let mut kept = Vec::new();
        for run in sampled.runs() {
            kept.extend_from_slice(&r[run]);
            kept.resize(kept.len().next_multiple_of(IN_BYTE), -0.0);
        }
        let packed = Packed { bytes: codes, rows: kept.len() };
        kernels::genotype_sums(packed, None, &|j| self.meaning(j), &Residuals::new(&[&kept]), &mut [out]);
    }
    fn adjoint_block(&self, rs: &[&[f64]], out: &mut [Vec<f64>]) {
        out.iter_mut().for_each(|g| g.resize(self.columns, 0.0));
        let mut out: Vec<&mut [f64]> = out.iter_mut().map(Vec::as_mut_slice).collect();
        self.sums(0, |j| self.meaning(j), &Residuals::new(rs), &mut out);
    }
    /// Some columns at a time are decoded: their rows are brought together by parts.
    fn adjoint_parts(&self, parts: &Parts, rs: &[&[f64]], out: &mut [Vec<Vec<f64>>]) {
        let mut out = part_major(out, parts.count(), self.columns);
        if out.is_empty() {
            return;
        }
        let packed = self.packed();
        let width = (DECODED / (size_of::<f64>() * self.rows)).next_multiple_of(TOGETHER).max(TOGETHER);
        kernels::for_each_part(&mut out, BLOCKS * width, &|first, outs| {
            let (mut decoded, count) = (vec![0.0; width * self.rows], outs[0].len());
            for at in (0..count).step_by(width) {
                let block = at..count.min(at + width);
                let decoded = &mut decoded[..block.len() * self.rows];
                for (j, out) in block.clone().zip(decoded.chunks_mut(self.rows)) {
                    kernels::decode_genotypes(packed.column(first + j), self.missing[first + j], out);
                }
                let mut outs: Vec<&mut [f64]> = outs.iter_mut().map(|out| &mut out[block.clone()]).collect();
                kernels::adjoint_columns_parts(decoded, parts.sorted(), rs, &mut outs);
            }
        });
    }
    fn squared_norms(&self, weights: &[&[f64]], centres: Option<&[f64]>) -> Option<Vec<Vec<f64>>> {
        if let Some(squared_norms) = self.known.as_ref().and_then(|known| known.squared_norms(weights, centres)) {
            return Some(squared_norms);
        }
        let squares = |j: usize| {
            let centre = centres.map_or(0.0, |centres| centres[j]);
            self.meaning(j).map(|x| (x - centre) * (x - centre))
        };
        let mut squared_norms = vec![self.new_covector(); weights.len()];
        let mut out: Vec<&mut [f64]> = squared_norms.iter_mut().map(Vec::as_mut_slice).collect();
        self.sums(0, squares, &Residuals::new(weights), &mut out);
        Some(squared_norms)
    }
    fn knows_squared_norms(&self, weights: &[f64]) -> bool {
        self.known.as_ref().is_some_and(|known| known.moments(weights).is_some())
    }
    fn adjoint_block_on(&self, rs: &[&[f64]], t: &IndexSet) -> Vec<SparseVec> {
        dense::gathered_products(rs, t, self.rows, &|some| self.gathered(some))
    }
    fn adjoint_on(&self, r: &[f64], t: &IndexSet) -> SparseVec {
        let (picked, mut values) = (t.indices(), vec![0.0; t.indices().len()]);
        let meaning = |j| self.meaning(j);
        kernels::genotype_sums(self.packed(), Some(picked), &meaning, &Residuals::new(&[r]), &mut [&mut values]);
        SparseVec::sorted(t.dim(), picked.to_vec(), values)
    }
}

impl ColumnMoments for Genotypes<'_> {
    fn moments(&self, weights: &[f64]) -> Moments {
        if let Some(moments) = self.known.as_ref().and_then(|known| known.moments(weights)) {
            return moments.clone();
        }
        let (mut means, mut variances) = (self.new_covector(), self.new_covector());
        let (total, weights) = (weights.iter().sum(), Residuals::new(&[weights]));
        kernels::for_each_part(&mut [&mut means, &mut variances], self.width(), &|first, outs| {
            let [means, variances] = outs else { return };
            self.survey(first, &weights, total, [means, variances]);
        });
        Moments { means, variances }
    }
}
