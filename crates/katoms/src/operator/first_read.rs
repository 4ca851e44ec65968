//! What the first read of a design tells besides that all values are finite.
//!
//! A fit needs the moments of the columns, and its first gradient is the pass for the residual of the model without
//! atoms. Both are known before the design is read for the first time. So one read answers everything, while the columns
//! are in the cache: a fit of few reads would otherwise spend half of them before its first move.

use super::magnitude::doubtful;
use super::{Moments, RowSample, SampledRows};
use crate::linalg::kernels::{self, Real};
use crate::linalg::parallel;
use crate::loss::{Split, best_constants};

/// Bytes of columns that stay in a cache while they are looked at for several ends.
const CACHED: usize = 1 << 19;
/// What a residual loses to rounding, relative to the largest at zero.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// What a fit to a loss will ask of its design first.
///
/// ```
/// use katoms::loss::LeastSquares;
/// use katoms::operator::{Dense, FirstRead, Layout, LinearOperator};
/// let loss = LeastSquares::new(vec![3.0, 5.0])?;
/// let first = FirstRead::of(&loss, false);
/// let design = Dense::with_layout(vec![1.0, 2.0, 4.0, 0.0], 2, 2, Layout::ColumnMajor, Some(&first))?;
/// let mut g = design.new_covector();
/// design.adjoint(&[-3.0, -5.0], &mut g); // the residual at zero: its pass is known, and nothing is read
/// assert_eq!(g, [-13.0, -12.0]);
/// # Ok::<(), katoms::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct FirstRead {
    weights: Vec<f64>,
    residual: Vec<f64>,
    /// Residuals that differ by less are the same but for rounding.
    rounding: f64,
    /// The columns of the whole design, where what is read is a block of it.
    columns: Option<usize>,
}

impl FirstRead {
    /// The moments under the loss's weights, and the pass for the residual at zero, or at the best constant where there is
    /// an intercept; of several outputs for each row, that of the first.
    pub fn of(loss: &impl Split, intercept: bool) -> Self {
        let rows = loss.n_rows();
        let mut residual = vec![0.0; loss.n_outputs()];
        loss.gradient(&vec![0.0; residual.len()], &mut residual);
        let rounding = ROUNDING * residual.iter().fold(0.0, |most: f64, r| most.max(r.abs()));
        if intercept {
            let constants: Vec<f64> = best_constants(loss).into_iter().flat_map(|c| vec![c; rows]).collect();
            loss.gradient(&constants, &mut residual);
        }
        residual.truncate(rows);
        let weights = loss.weights().map_or_else(|| vec![1.0; rows], <[f64]>::to_vec);
        Self { weights, residual, rounding, columns: None }
    }

    /// For some rows of a block of a design that has so many columns.
    pub(super) fn of_block(weights: Vec<f64>, residual: Vec<f64>, rounding: f64, columns: usize) -> Self {
        Self { weights, residual, rounding, columns: Some(columns) }
    }

    pub(super) fn rounding(&self) -> f64 {
        self.rounding
    }

    /// The columns of the whole design, of which there are so many here.
    pub(super) fn all_columns(&self, here: usize) -> usize {
        self.columns.unwrap_or(here)
    }

    pub(super) fn rows(&self) -> usize {
        self.residual.len()
    }

    /// The weights and the residual.
    pub(super) fn vectors(&self) -> (&[f64], &[f64]) {
        (&self.weights, &self.residual)
    }
}

/// The answers.
#[derive(Debug, Clone)]
pub(super) struct Known {
    asked: FirstRead,
    moments: Moments,
    /// Aᵀ·residual.
    pass: Vec<f64>,
}

impl Known {
    /// From one read of a column-major design; with the sample of its rows, if there is one.
    pub fn of_columns<T: Real>(
        data: &[T],
        columns: usize,
        asked: &FirstRead,
        which: Option<SampledRows>,
    ) -> (Self, Option<RowSample>) {
        let rows = asked.rows();
        let width = (CACHED / (rows * size_of::<T>())).next_multiple_of(8).max(8);
        let [mut means, mut variances, mut pass] = [(); 3].map(|()| vec![0.0; columns]);
        let mut sample = which.map(|which| RowSample::unfilled(which, columns));
        let mut samples: Vec<_> = (0..columns.div_ceil(width)).map(|_| None).collect();
        if let Some(sample) = &mut sample {
            samples.iter_mut().zip(sample.parts(width)).for_each(|(place, part)| *place = Some(part));
        }
        let outs = means.chunks_mut(width).zip(variances.chunks_mut(width)).zip(pass.chunks_mut(width));
        let mut parts: Vec<_> = data.chunks(width * rows).zip(outs).zip(samples).collect();
        parallel::each_mut(&mut parts, &|_, ((data, ((means, variances), pass)), sample)| {
            kernels::survey_columns(data, &asked.weights, &asked.residual, [means, variances, pass]);
            if let Some(sample) = sample {
                sample.fill(data, means);
            }
        });
        (Self { asked: asked.clone(), moments: Moments { means, variances }, pass }, sample)
    }

    /// From one read of some columns after the other, so many at a time: `survey(first, outs)` fills in the means, the
    /// variances and the products of those from `first` on.
    pub fn surveyed(
        columns: usize,
        width: usize,
        asked: &FirstRead,
        survey: impl Fn(usize, [&mut [f64]; 3]) + Sync,
    ) -> Self {
        let [mut means, mut variances, mut pass] = [(); 3].map(|()| vec![0.0; columns]);
        kernels::for_each_part(&mut [&mut means, &mut variances, &mut pass], width, &|first, outs| {
            let [means, variances, pass] = outs else { return };
            survey(first, [means, variances, pass]);
        });
        Self { asked: asked.clone(), moments: Moments { means, variances }, pass }
    }

    /// As others have read it.
    pub fn told(asked: &FirstRead, moments: Moments, pass: Vec<f64>) -> Self {
        Self { asked: asked.clone(), moments, pass }
    }

    /// From two reads of a row-major design.
    pub fn of_rows<T: Real>(data: &[T], columns: usize, asked: &FirstRead) -> Self {
        let [mut means, mut variances, mut pass] = [(); 3].map(|()| vec![0.0; columns]);
        kernels::moments_rows(data, &asked.weights, &mut means, &mut variances);
        kernels::adjoint_rows(data, &asked.residual, &mut pass);
        Self { asked: asked.clone(), moments: Moments { means, variances }, pass }
    }

    /// Whether it proves that every value is finite: one that is not leaves its mark on the mean of its column. Finite
    /// values whose squares are not leave one as well.
    pub fn is_finite(&self) -> bool {
        self.moments.means.iter().chain(&self.moments.variances).all(|v| v.is_finite())
    }

    /// The columns that may hold numbers whose squares leave the range of double precision: all of them, where the weights
    /// add up to no number and moments say nothing.
    pub fn doubtful(&self) -> Vec<usize> {
        let total: f64 = self.asked.weights.iter().sum();
        if total.is_normal() { doubtful(&self.moments) } else { (0..self.pass.len()).collect() }
    }

    /// The moments under these weights, if they were asked for.
    pub fn moments(&self, weights: &[f64]) -> Option<&Moments> {
        (self.asked.weights == weights).then_some(&self.moments)
    }

    /// Σ w·(a − c)² for every column under each of these weightings, if they were asked for.
    pub fn squared_norms(&self, weights: &[&[f64]], centres: Option<&[f64]>) -> Option<Vec<Vec<f64>>> {
        weights.iter().try_for_each(|w| self.moments(w).map(|_| ()))?;
        let total: f64 = self.asked.weights.iter().sum();
        let Moments { means, variances } = &self.moments;
        let away = |j: usize| means[j] - centres.map_or(0.0, |centres| centres[j]);
        let squared_norms = (0..means.len()).map(|j| total * (variances[j] + away(j).powi(2))).collect();
        Some(vec![squared_norms; weights.len()])
    }

    /// The products of a column with each r, by its number; where they are asked for under the weights alone.
    pub fn sums(&self, rs: &[&[f64]]) -> Option<impl Fn(usize) -> f64> {
        let total: f64 = self.asked.weights.iter().sum();
        let known = !rs.is_empty() && total.is_normal() && rs.iter().all(|r| *r == self.asked.weights);
        known.then_some(move |j: usize| total * self.moments.means[j])
    }

    /// Aᵀ·r, if it was asked for, but for rounding.
    pub fn pass(&self, r: &[f64]) -> Option<&[f64]> {
        let FirstRead { residual, rounding, .. } = &self.asked;
        // A residual that overflowed is nobody's.
        let known = rounding.is_finite() && r.len() == residual.len();
        let same = known && r.iter().zip(residual).all(|(a, b)| (a - b).abs() <= *rounding);
        same.then_some(&self.pass)
    }
}
