//! A dense or sparse design in the memory of a device, such as a graphics card.
//!
//! The device multiplies; residuals go to it, gradients, columns and products of listed columns come back. Views, methods
//! and searches are those of any other design. As much as a caller knows beforehand goes into one call: a round trip costs
//! more than many sums.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::dense::sampled_rows_of;
use super::first_read::Known;
use super::magnitude::{doubtful, extremes};
use super::row_sample::whole_numbers;
use super::{ColumnMoments, ColumnSize, FirstRead, LinearOperator, Moments, Parts, SampledRows, is_its_own_base};
use crate::error::{Error, check_length};
use crate::linalg::Matrix;
use crate::linalg::kernels;
use crate::linalg::parallel;
use crate::space::{IndexSet, SparseVec};

/// What a device does with a design that it holds. Vectors have one value for each row or column of it; sums are in double
/// precision, and the same call gives the same bits.
pub trait Device: Send + Sync + fmt::Debug {
    /// (rows, columns).
    fn shape(&self) -> (usize, usize);
    /// The relative rounding of the stored values.
    fn rounding(&self) -> f64;
    /// The bytes of a stored value where all are stored; `None` where zeros are not.
    fn bytes(&self) -> Option<usize>;
    /// Moments under these weights, and Aᵀ·r.
    ///
    /// # Errors
    /// When the device fails; so do those below.
    fn survey(&self, weights: &[f64], r: &[f64]) -> Result<(Moments, Vec<f64>), Error>;
    /// Aᵀ·r for every r.
    ///
    /// # Errors
    /// When the device fails.
    fn adjoint(&self, rs: &[&[f64]], out: &mut [Vec<f64>]) -> Result<(), Error>;
    /// Σᵢ wᵢ·(aᵢⱼ − cⱼ)² for every column and each weighting.
    ///
    /// # Errors
    /// When the device fails.
    fn squared_norms(&self, weights: &[&[f64]], centres: Option<&[f64]>) -> Result<Vec<Vec<f64>>, Error>;
    /// Makes a copy of some rows in one byte a value, as distances from these centres.
    ///
    /// # Errors
    /// When there is no room for it.
    fn sample(&self, rows: Sample, centres: &[f64]) -> Result<(), Error>;
    /// The products of that copy with whole numbers, one for each of its rows: `units` times steps and products, and
    /// `totals` times the centres.
    ///
    /// # Errors
    /// When the device fails.
    fn adjoint_sampled(&self, residuals: &[SampledResidual], out: &mut [Vec<f64>]) -> Result<(), Error>;
    /// Aᵀ·r on listed columns, for every r.
    ///
    /// # Errors
    /// When the device fails.
    fn adjoint_on(&self, rs: &[&[f64]], columns: &[usize]) -> Result<Vec<Vec<f64>>, Error>;
    /// A_leftᵀ·diag(h)·A_right.
    ///
    /// # Errors
    /// When the device fails.
    fn products(&self, h: &[f64], left: &[usize], right: &[usize]) -> Result<Matrix, Error>;
    /// Copies of the listed columns, one after the other.
    ///
    /// # Errors
    /// When the device fails.
    fn columns(&self, columns: &[usize], out: &mut [f64]) -> Result<(), Error>;
    /// out = Σ of the listed columns, each times its value.
    ///
    /// # Errors
    /// When the device fails.
    fn apply(&self, columns: &[usize], values: &[f64], out: &mut [f64]) -> Result<(), Error>;
}

/// Which rows a coarse copy has: `block` of them, then a gap, every `every` blocks; `count` in all, and zeros up to `length`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// Rows that follow each other.
    pub block: usize,
    /// One block in so many is in it.
    pub every: usize,
    /// The rows in it.
    pub count: usize,
    /// The codes of a column.
    pub length: usize,
}

/// A residual on the rows of a coarse copy, in whole numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct SampledResidual {
    /// One for each row.
    pub whole: Vec<i16>,
    /// What one is worth.
    pub unit: f64,
    /// The sum of the residual.
    pub total: f64,
}

/// A design that a [`Device`] holds.
///
/// A call that fails makes this and all later results NaN, which ends a fit; [`OnDevice::failure`] tells why.
#[derive(Clone)]
pub struct OnDevice(Arc<Inner>);

struct Inner {
    device: Arc<dyn Device>,
    shape: (usize, usize),
    sampled: Option<(SampledRows, Sample)>,
    known: Option<Known>,
    extremes: Vec<ColumnSize>,
    failure: Mutex<Option<Error>>,
}

impl fmt::Debug for OnDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OnDevice({:?})", self.0.device)
    }
}

impl OnDevice {
    /// The design that a device holds. Reads it once: for what is not finite, and with a [`FirstRead`] for what the fit asks
    /// first.
    ///
    /// # Errors
    /// When it is empty, holds what is not finite, the first read is for another number of rows, or the device fails.
    pub fn new(device: Arc<dyn Device>, first: Option<&FirstRead>) -> Result<Self, Error> {
        let shape = device.shape();
        if shape.0 == 0 || shape.1 == 0 {
            return Err(Error::Empty { what: "the design matrix" });
        }
        if let Some(first) = first {
            check_length("target", first.rows(), shape.0, "one value for each row of the design")?;
        }
        let (ones, zeros) = (vec![1.0; shape.0], vec![0.0; shape.0]);
        let (weights, residual) = first.map_or((&ones[..], &zeros[..]), FirstRead::vectors);
        // Without weights moments say nothing.
        let weights = if weights.iter().sum::<f64>() > 0.0 { weights } else { &ones };
        let (moments, pass) = device.survey(weights, residual)?;
        let mut inner =
            Inner { device, shape, sampled: None, known: None, extremes: Vec::new(), failure: Mutex::default() };
        inner.look_at(&moments)?;
        let width = first.map_or(shape.1, |first| first.all_columns(shape.1));
        let sampled = inner.device.bytes().and_then(|bytes| sampled_rows_of(shape.0, width, bytes));
        if let Some(rows) = sampled {
            let sample = rows.sample();
            inner.device.sample(sample, &moments.means)?;
            inner.sampled = Some((rows, sample));
        }
        let asked = first.filter(|first| first.vectors().0 == weights);
        inner.known = asked.map(|first| Known::told(first, moments, pass));
        Ok(Self(Arc::new(inner)))
    }

    /// Why a call has failed, where one has.
    pub fn failure(&self) -> Option<Error> {
        self.0.failure().clone()
    }

    /// The largest magnitude in each column.
    pub(super) fn sizes(&self) -> Vec<f64> {
        let all: Vec<usize> = (0..self.0.shape.1).collect();
        self.0.done(|inner| inner.sizes_of(&all)).unwrap_or_else(|| vec![f64::NAN; self.0.shape.1])
    }
}

impl Inner {
    fn failure(&self) -> MutexGuard<'_, Option<Error>> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a call gives; nothing where one has failed.
    fn done<T>(&self, call: impl FnOnce(&Self) -> Result<T, Error>) -> Option<T> {
        if self.failure().is_some() {
            return None;
        }
        call(self).map_err(|error| *self.failure() = Some(error)).ok()
    }

    /// Columns whose moments are not finite, or leave the range of double precision: their values decide.
    fn look_at(&mut self, moments: &Moments) -> Result<(), Error> {
        let rows = self.shape.0;
        let mut doubtful = doubtful(moments);
        // In single precision and below, squares of small numbers are still numbers.
        if self.device.rounding() > f64::EPSILON {
            doubtful.retain(|&j| !moments.means[j].is_finite() || !moments.variances[j].is_finite());
        }
        for &j in &doubtful {
            let mut column = vec![0.0; rows];
            self.device.apply(&[j], &[1.0], &mut column)?;
            if let Some(row) = column.iter().position(|v| !v.is_finite()) {
                return Err(Error::NotFinite { what: "design matrix", row, column: j, value: column[row] });
            }
        }
        let sizes = self.sizes_of(&doubtful)?;
        self.extremes = extremes(doubtful.into_iter().zip(sizes));
        Ok(())
    }

    fn sizes_of(&self, columns: &[usize]) -> Result<Vec<f64>, Error> {
        let size = |&j: &usize| {
            let mut column = vec![0.0; self.shape.0];
            self.device.apply(&[j], &[1.0], &mut column)?;
            Ok(kernels::largest(&column))
        };
        columns.iter().map(size).collect()
    }
}

impl LinearOperator for OnDevice {
    type Point = SparseVec;
    type Covector = Vec<f64>;
    is_its_own_base!();

    fn domain(&self) -> usize {
        self.0.shape.1
    }
    fn n_outputs(&self) -> usize {
        self.0.shape.0
    }
    fn new_covector(&self) -> Vec<f64> {
        vec![0.0; self.domain()]
    }
    fn apply(&self, x: &SparseVec, out: &mut [f64]) {
        let done = self.0.done(|inner| inner.device.apply(x.indices(), x.values(), out));
        if done.is_none() {
            out.fill(f64::NAN);
        }
    }
    fn copy_columns(&self, t: &IndexSet, out: &mut [f64]) {
        if self.0.done(|inner| inner.device.columns(t.indices(), out)).is_none() {
            out.fill(f64::NAN);
        }
    }
    fn apply_covector(&self, g: &Vec<f64>, out: &mut [f64]) {
        self.apply(&SparseVec::full(g), out);
    }
    fn adjoint(&self, r: &[f64], out: &mut Vec<f64>) {
        if let Some(pass) = self.0.known.as_ref().and_then(|known| known.pass(r)) {
            out.clear();
            return out.extend_from_slice(pass);
        }
        self.adjoint_block(&[r], std::slice::from_mut(out));
    }
    fn adjoint_block(&self, rs: &[&[f64]], out: &mut [Vec<f64>]) {
        parallel::each_mut(out, &|_, g| g.resize(self.domain(), 0.0));
        if self.0.done(|inner| inner.device.adjoint(rs, out)).is_none() {
            out.iter_mut().for_each(|g| g.fill(f64::NAN));
        }
    }
    fn adjoint_parts(&self, parts: &Parts, rs: &[&[f64]], out: &mut [Vec<Vec<f64>>]) {
        let masked = |at: usize| {
            let (r, part) = (rs[at / parts.count()], at % parts.count());
            let mut masked = vec![0.0; r.len()];
            parts.rows(part).iter().for_each(|&row| masked[row] = r[row]);
            masked
        };
        let masked = parallel::map(rs.len() * parts.count(), &masked);
        let views: Vec<&[f64]> = masked.iter().map(Vec::as_slice).collect();
        let mut all = vec![Vec::new(); views.len()];
        self.adjoint_block(&views, &mut all);
        let mut all = all.into_iter();
        out.iter_mut().for_each(|out| *out = all.by_ref().take(parts.count()).collect());
    }
    fn adjoint_on(&self, r: &[f64], t: &IndexSet) -> SparseVec {
        self.adjoint_block_on(&[r], t).swap_remove(0)
    }
    fn adjoint_block_on(&self, rs: &[&[f64]], t: &IndexSet) -> Vec<SparseVec> {
        let all = match self.0.known.as_ref().and_then(|known| known.sums(rs)) {
            Some(sum) => vec![t.indices().iter().map(|&j| sum(j)).collect(); rs.len()],
            None => {
                let done = self.0.done(|inner| inner.device.adjoint_on(rs, t.indices()));
                done.unwrap_or_else(|| vec![vec![f64::NAN; t.indices().len()]; rs.len()])
            }
        };
        all.into_iter().map(|values| SparseVec::sorted(t.dim(), t.indices().to_vec(), values)).collect()
    }
    fn products(&self, h: &[f64], left: &IndexSet, right: &IndexSet) -> Option<Matrix> {
        let done = self.0.done(|inner| inner.device.products(h, left.indices(), right.indices()));
        let (rows, columns) = (left.indices().len(), right.indices().len());
        Some(done.unwrap_or_else(|| Matrix::from_fn(rows, columns, |_, _| f64::NAN)))
    }
    fn gives_all_products(&self) -> bool {
        true
    }
    fn squared_norms(&self, weights: &[&[f64]], centres: Option<&[f64]>) -> Option<Vec<Vec<f64>>> {
        if let Some(squared_norms) = self.0.known.as_ref().and_then(|known| known.squared_norms(weights, centres)) {
            return Some(squared_norms);
        }
        let done = self.0.done(|inner| inner.device.squared_norms(weights, centres));
        Some(done.unwrap_or_else(|| vec![vec![f64::NAN; self.domain()]; weights.len()]))
    }
    fn knows_squared_norms(&self, weights: &[f64]) -> bool {
        self.0.known.as_ref().is_some_and(|known| known.moments(weights).is_some())
    }
    fn sampled_rows(&self) -> Option<SampledRows> {
        self.0.sampled.map(|(rows, _)| rows)
    }
    fn adjoint_sampled(&self, r: &[f64], out: &mut Vec<f64>) {
        self.adjoint_sampled_block(&[r], std::slice::from_mut(out));
    }
    fn adjoint_sampled_block(&self, rs: &[&[f64]], out: &mut [Vec<f64>]) {
        let Some((rows, sample)) = self.0.sampled else { return self.adjoint_block(rs, out) };
        parallel::each_mut(out, &|_, g| g.resize(self.domain(), 0.0));
        let residuals = parallel::map(rs.len(), &|at| {
            let (whole, unit, total) = whole_numbers(rows, sample.length, rs[at]);
            SampledResidual { whole, unit, total }
        });
        if self.0.done(|inner| inner.device.adjoint_sampled(&residuals, out)).is_none() {
            out.iter_mut().for_each(|g| g.fill(f64::NAN));
        }
    }
    fn rounding(&self) -> f64 {
        self.0.device.rounding()
    }
    fn extremes(&self) -> &[ColumnSize] {
        &self.0.extremes
    }
}

impl ColumnMoments for OnDevice {
    fn moments(&self, weights: &[f64]) -> Moments {
        if let Some(moments) = self.0.known.as_ref().and_then(|known| known.moments(weights)) {
            return moments.clone();
        }
        let zeros = vec![0.0; self.n_outputs()];
        let nothing = || vec![f64::NAN; self.domain()];
        let done = self.0.done(|inner| inner.device.survey(weights, &zeros));
        done.map_or_else(|| Moments { means: nothing(), variances: nothing() }, |(moments, _)| moments)
    }
}
