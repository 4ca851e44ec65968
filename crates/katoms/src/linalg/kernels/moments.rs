//! Weighted means and variances of the columns of a design, in one read; where wanted, with their products with a
//! residual from the same read.
//!
//! Deviations are taken from a pilot, the first value of the column: with their mean d and mean square q, the mean is
//! pilot + d and the variance q − d² (Chan, Golub and LeVeque 1983). A constant column has d = q = 0 exactly. Where d²
//! is so much of q that digits are lost, the column is read again with its mean as the pilot.

use pulp::{Arch, Simd, WithSimd};

use super::Real;
use super::columns::{LANES, add_last_rows, sum_lanes, task_width};
use super::streams::{GROUP, STEP, blocks, fma, for_each_part, places, prefetch, shape};

/// The largest d² over the variance: three digits of sixteen.
const FAR: f64 = 1e3;
/// How often a column is read at most. A pilot 10¹⁶ deviations away needs three.
pub(crate) const READS: usize = 3;

/// The means and variances of the columns of a column-major design, under weights whose sum is `total`.
///
/// O(mn), one read of the data, but more of columns that begin far from their mean; parallel over blocks of columns.
pub(crate) fn moments_columns<T: Real>(data: &[T], weights: &[f64], means: &mut [f64], variances: &mut [f64]) {
    let outs = &mut [means, variances];
    let Some((rows, _)) = shape(data, &[weights, weights], outs) else { return };
    let (arch, total) = (Arch::new(), weights.iter().sum());
    for_each_part(outs, task_width::<T>(rows), &|first, outs| {
        arch.dispatch(ByColumns { data: &data[first * rows..], weights, total, residual: None, outs });
    });
}

/// The means, the variances and the products with a residual, `outs`, of some columns of a column-major design: the bits
/// of [`moments_columns`] and of [`adjoint_columns`](super::adjoint_columns).
///
/// O(mn), one read of the columns, on the calling thread.
pub(crate) fn survey_columns<T: Real>(data: &[T], weights: &[f64], residual: &[f64], outs: [&mut [f64]; 3]) {
    let [means, variances, products] = outs;
    let outs = &mut [means, variances, products];
    if shape(data, &[weights, weights, residual], outs).is_some() {
        let total = weights.iter().sum();
        Arch::new().dispatch(ByColumns { data, weights, total, residual: Some(residual), outs });
    }
}

/// [`moments_columns`] of a row-major design.
///
/// O(mn), one read of the data, but more of blocks of columns in which one begins far from its mean; parallel over
/// blocks of columns.
pub(crate) fn moments_rows<T: Real>(data: &[T], weights: &[f64], means: &mut [f64], variances: &mut [f64]) {
    let outs = &mut [means, variances];
    let Some((_, columns)) = shape(data, &[weights, weights], outs) else { return };
    let (arch, total) = (Arch::new(), weights.iter().sum());
    for_each_part(outs, super::rows::task_width(columns), &|first, outs| {
        let data = data.get(first..).unwrap_or(&[]); // no rows, no data
        arch.dispatch(ByRows { data, columns, weights, total, outs });
    });
}

/// Mean and variance from the pilot and the sums of deviations and squared deviations; whether they are too inexact.
#[inline(always)]
pub(crate) fn mean_and_variance(pilot: f64, deviation: f64, square: f64, total: f64) -> (f64, f64, bool) {
    let (d, q) = (deviation / total, square / total);
    let variance = (q - d * d).max(0.0);
    (pilot + d, variance, d * d > FAR * variance)
}

/// The leading columns of column-major `data`, as many as each of `outs` is long.
struct ByColumns<'a, 'b, T> {
    data: &'a [T],
    weights: &'a [f64],
    total: f64,
    residual: Option<&'a [f64]>,
    /// Means and variances, and products where there is a residual.
    outs: &'a mut [&'b mut [f64]],
}

impl<T: Real> ByColumns<'_, '_, T> {
    /// A group of columns, from `first` in steps of `stride`.
    #[inline(always)]
    fn group<S: Simd>(&mut self, first: usize, stride: usize) {
        let (rows, places): (usize, [usize; GROUP]) = (self.weights.len(), places(first, stride, self.outs[0].len()));
        let mut columns: [&[T]; GROUP] = [&[]; GROUP];
        let mut pilots = [0.0; GROUP];
        for c in 0..GROUP {
            columns[c] = &self.data[places[c] * rows..][..rows];
            pilots[c] = columns[c].first().map_or(0.0, |x| x.to_f64());
        }
        let sums = match self.residual {
            Some(r) => add_deviations::<S, T, GROUP, true>(&columns, self.weights, &pilots, r),
            None => add_deviations::<S, T, GROUP, false>(&columns, self.weights, &pilots, self.weights),
        };
        for c in 0..GROUP {
            let (mut mean, mut variance, mut far) =
                mean_and_variance(pilots[c], sums[c].deviation, sums[c].square, self.total);
            for _ in 1..READS {
                if far {
                    let w = self.weights;
                    let [again] = add_deviations::<S, T, 1, false>(&[columns[c]], w, &[mean], w);
                    (mean, variance, far) = mean_and_variance(mean, again.deviation, again.square, self.total);
                }
            }
            self.outs[0][places[c]] = mean;
            self.outs[1][places[c]] = variance;
            if self.residual.is_some() {
                self.outs[2][places[c]] = sums[c].product;
            }
        }
    }
}

impl<T: Real> WithSimd for ByColumns<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, _: S) {
        // Streams as in `Columns`.
        let columns = self.outs[0].len();
        let stride = columns / GROUP;
        for first in 0..stride {
            self.group::<S>(first, stride);
        }
        if stride * GROUP < columns {
            self.group::<S>(stride * GROUP, 1);
        }
    }
}

/// What one loop over a column adds up.
#[derive(Clone, Copy, Default)]
struct Sums {
    /// Weighted deviations from the pilot.
    deviation: f64,
    /// Their weighted squares.
    square: f64,
    /// Products with the residual.
    product: f64,
}

/// The sums of each column; those of products where `PRODUCTS`, and `r` is not looked at elsewhere.
#[inline(always)]
fn add_deviations<S: Simd, T: Real, const C: usize, const PRODUCTS: bool>(
    columns: &[&[T]; C],
    weights: &[f64],
    pilots: &[f64; C],
    r: &[f64],
) -> [Sums; C] {
    let ((w, w_rest), (r, r_rest)) = (weights.as_chunks::<STEP>(), r.as_chunks::<STEP>());
    let x = blocks(columns, w.len());
    let r = &r[..w.len()];
    let (mut deviations, mut squares) = ([[0.0; LANES]; C], [[0.0; LANES]; C]);
    let mut products = [[0.0; LANES]; C];
    for b in 0..w.len() {
        for c in 0..C {
            prefetch(x[c].as_ptr().wrapping_add(b));
            let wide = T::doubles::<S>(&x[c][b]);
            for half in [0, LANES] {
                for l in 0..LANES {
                    let d = wide[half + l] - pilots[c];
                    let wd = w[b][half + l] * d;
                    deviations[c][l] += wd;
                    squares[c][l] = fma::<S>(wd, d, squares[c][l]);
                    if PRODUCTS {
                        products[c][l] = fma::<S>(wide[half + l], r[b][half + l], products[c][l]);
                    }
                }
            }
        }
    }
    if PRODUCTS {
        products = add_last_rows::<S, T, C>(products, columns, r_rest);
    }
    let mut sums = [Sums::default(); C];
    for c in 0..C {
        let (deviation, square) = (sum_lanes(deviations[c]), sum_lanes(squares[c]));
        sums[c] = Sums { deviation, square, product: if PRODUCTS { sum_lanes(products[c]) } else { 0.0 } };
        for (x, w) in columns[c].as_chunks::<STEP>().1.iter().zip(w_rest) {
            let d = x.to_f64() - pilots[c];
            sums[c].deviation += w * d;
            sums[c].square += w * d * d;
        }
    }
    sums
}

/// The leading columns of row-major `data`, as many as each of `outs` is long; its rows are `columns` apart.
struct ByRows<'a, 'b, T> {
    data: &'a [T],
    columns: usize,
    weights: &'a [f64],
    total: f64,
    /// Means and variances.
    outs: &'a mut [&'b mut [f64]],
}

impl<T: Real> WithSimd for ByRows<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, _: S) {
        let width = self.outs[0].len();
        let mut pilots: Vec<f64> = self.data.iter().take(width).map(|x| x.to_f64()).collect();
        pilots.resize(width, 0.0);
        for _ in 0..READS {
            self.outs.iter_mut().for_each(|out| out.fill(0.0));
            let grouped = self.weights.len() - self.weights.len() % GROUP;
            for i in (0..grouped).step_by(GROUP) {
                self.group::<S, GROUP>(&pilots, i);
            }
            for i in grouped..self.weights.len() {
                self.group::<S, 1>(&pilots, i);
            }
            let [means, variances] = &mut *self.outs else { return };
            let mut any_far = false;
            for ((pilot, mean), variance) in pilots.iter_mut().zip(means.iter_mut()).zip(variances.iter_mut()) {
                let far;
                (*mean, *variance, far) = mean_and_variance(*pilot, *mean, *variance, self.total);
                any_far |= far;
                *pilot = *mean;
            }
            if !any_far {
                return;
            }
        }
    }
}

impl<T: Real> ByRows<'_, '_, T> {
    /// Adds the deviations and squared deviations of `R` rows, from the `i`-th on.
    #[inline(always)]
    fn group<S: Simd, const R: usize>(&mut self, pilots: &[f64], i: usize) {
        let [deviations, squares] = &mut *self.outs else { return };
        let mut rows: [&[T]; R] = [&[]; R];
        let mut w = [0.0; R];
        for s in 0..R {
            rows[s] = &self.data[(i + s) * self.columns..][..pilots.len()];
            w[s] = self.weights[i + s];
        }
        let (pilots, last_pilots) = pilots.as_chunks::<STEP>();
        let (deviations, last_deviations) = deviations.as_chunks_mut::<STEP>();
        let (squares, last_squares) = squares.as_chunks_mut::<STEP>();
        let x = blocks(&rows, pilots.len());
        for (b, ((pilot, deviations), squares)) in pilots.iter().zip(deviations).zip(squares).enumerate() {
            let (mut deviation, mut square) = (*deviations, *squares); // in registers
            for s in 0..R {
                prefetch(x[s].as_ptr().wrapping_add(b));
                let x = T::doubles::<S>(&x[s][b]);
                for l in 0..STEP {
                    let d = x[l] - pilot[l];
                    let wd = w[s] * d;
                    deviation[l] += wd;
                    square[l] = fma::<S>(wd, d, square[l]);
                }
            }
            (*deviations, *squares) = (deviation, square);
        }
        for s in 0..R {
            let x = rows[s].as_chunks::<STEP>().1;
            for (((x, pilot), deviation), square) in
                x.iter().zip(last_pilots).zip(last_deviations.iter_mut()).zip(last_squares.iter_mut())
            {
                let d = x.to_f64() - pilot;
                *deviation += w[s] * d;
                *square += w[s] * d * d;
            }
        }
    }
}
