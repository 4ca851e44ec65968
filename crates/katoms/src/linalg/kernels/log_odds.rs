//! What a logistic loss takes of every row: the probability of the wrong label, and its logarithm.
//!
//! A library's `exp` and `ln_1p` are calls for one number, and a refit makes two of them for every row and step. Here they
//! are polynomials on eight rows at a time, a few units in the last place away, and the same bits on all machines with a
//! fused multiply-add. What is below 10⁻³⁰⁷ is 0.

use std::f64::consts::{LN_2, LOG2_E, SQRT_2};

use pulp::{Arch, Simd, WithSimd};

use super::columns::{LANES, sum_lanes};
use super::streams::fma;

/// Eight rows.
type Rows = [f64; LANES];

/// Added to a number, it leaves the nearest whole one in the last bits.
const SHIFT: f64 = 6_755_399_441_055_744.0; // 1.5·2⁵²
/// ln 2 in two parts: whole multiples of the first are exact.
const LN_2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
/// Below, exp would leave the normal numbers.
const LEAST: f64 = -707.0;
/// 1/i!, from i = 13 down to 0: on |r| ≤ ½·ln 2 the next term is below 10⁻¹⁷.
const FACTORIALS: [f64; 14] = {
    let (mut inverse, mut factorial, mut i) = ([1.0; 14], 1.0, 1);
    while i < 14 {
        factorial *= i as f64;
        inverse[13 - i] = 1.0 / factorial;
        i += 1;
    }
    inverse
};
/// 1/(2j + 1), from j = 11 down to 1: the series of atanh on |s| ≤ 3 − 2√2.
const ODD: [f64; 11] = {
    let (mut inverse, mut j) = ([0.0; 11], 1);
    while j < 12 {
        inverse[11 - j] = 1.0 / (2 * j + 1) as f64;
        j += 1;
    }
    inverse
};

/// Σ wᵢ·log(1 + exp tᵢ), where tᵢ = (1 − 2yᵢ)·zᵢ says how wrong zᵢ is about label yᵢ. Without weights they are ones.
pub(crate) fn log_loss(z: &[f64], labels: &[f64], weights: Option<&[f64]>) -> f64 {
    Arch::new().dispatch(Value { z, labels, weights })
}

/// outᵢ = (1 − 2yᵢ)·p(tᵢ), the slopes of the log-loss, with p the probability of a 1.
pub(crate) fn log_loss_slopes(z: &[f64], labels: &[f64], out: &mut [f64]) {
    Arch::new().dispatch(Slopes { z, labels, out });
}

/// outᵢ = p(zᵢ)·p(−zᵢ), its second derivatives.
pub(crate) fn log_loss_curvatures(z: &[f64], out: &mut [f64]) {
    Arch::new().dispatch(Curvatures { z, out });
}

struct Value<'a> {
    z: &'a [f64],
    labels: &'a [f64],
    weights: Option<&'a [f64]>,
}

impl WithSimd for Value<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> f64 {
        let mut sums = [0.0; LANES];
        for first in (0..self.z.len()).step_by(LANES) {
            let t = wrongness(rows(self.z, first), rows(self.labels, first));
            let logs = log_of_one_plus::<S>(exp_of_minus::<S>(t));
            let weights = match self.weights {
                Some(weights) => rows(weights, first),
                None => rows(&[1.0; LANES][..LANES.min(self.z.len() - first)], 0),
            };
            for l in 0..LANES {
                let loss = if t[l] > 0.0 { t[l] + logs[l] } else { logs[l] };
                sums[l] = fma::<S>(weights[l], loss, sums[l]);
            }
        }
        sum_lanes(sums)
    }
}

struct Slopes<'a> {
    z: &'a [f64],
    labels: &'a [f64],
    out: &'a mut [f64],
}

impl WithSimd for Slopes<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (block, out) in self.out.chunks_mut(LANES).enumerate() {
            let labels = rows(self.labels, block * LANES);
            let t = wrongness(rows(self.z, block * LANES), labels);
            let e = exp_of_minus::<S>(t);
            let mut slopes = [0.0; LANES];
            for l in 0..LANES {
                let probability = if t[l] >= 0.0 { 1.0 } else { e[l] } / (1.0 + e[l]);
                slopes[l] = (1.0 - 2.0 * labels[l]) * probability;
            }
            out.copy_from_slice(&slopes[..out.len()]);
        }
    }
}

struct Curvatures<'a> {
    z: &'a [f64],
    out: &'a mut [f64],
}

impl WithSimd for Curvatures<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (block, out) in self.out.chunks_mut(LANES).enumerate() {
            let e = exp_of_minus::<S>(rows(self.z, block * LANES));
            let mut curvatures = [0.0; LANES];
            for l in 0..LANES {
                curvatures[l] = e[l] / ((1.0 + e[l]) * (1.0 + e[l]));
            }
            out.copy_from_slice(&curvatures[..out.len()]);
        }
    }
}

/// Eight numbers from `first` on, zeros after the last.
#[inline(always)]
fn rows(all: &[f64], first: usize) -> Rows {
    if let Some(rows) = all[first..].first_chunk() {
        return *rows;
    }
    let mut rows = [0.0; LANES];
    rows[..all.len() - first].copy_from_slice(&all[first..]);
    rows
}

#[inline(always)]
fn wrongness(z: Rows, labels: Rows) -> Rows {
    let mut t = [0.0; LANES];
    for l in 0..LANES {
        t[l] = (1.0 - 2.0 * labels[l]) * z[l];
    }
    t
}

/// exp(−|t|): −|t| = k·ln 2 + r, and 2ᵏ is a matter of bits.
#[inline(always)]
fn exp_of_minus<S: Simd>(mut t: Rows) -> Rows {
    let (mut shifted, mut r, mut e) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
    for l in 0..LANES {
        t[l] = -t[l].abs();
        shifted[l] = fma::<S>(t[l], LOG2_E, SHIFT);
        let k = shifted[l] - SHIFT;
        r[l] = fma::<S>(k, -LN_2_LOW, fma::<S>(k, -LN_2_HIGH, t[l]));
    }
    let series = polynomial::<S, 14>(r, &FACTORIALS);
    for l in 0..LANES {
        let power = f64::from_bits((shifted[l].to_bits() << 52).wrapping_add(1.0_f64.to_bits()));
        e[l] = if t[l] < LEAST { 0.0 } else { series[l] * power };
    }
    e
}

/// log(1 + e) for 0 ≤ e ≤ 1: 2·atanh(s) with s = f/(2 + f), where 1 + f is 1 + e, or half of it above √2.
#[inline(always)]
fn log_of_one_plus<S: Simd>(e: Rows) -> Rows {
    let (mut s, mut squares, mut logs) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
    for l in 0..LANES {
        let f = if e[l] > SQRT_2 - 1.0 { 0.5 * (e[l] - 1.0) } else { e[l] };
        s[l] = f / (2.0 + f);
        squares[l] = s[l] * s[l];
    }
    let series = polynomial::<S, 11>(squares, &ODD);
    for l in 0..LANES {
        let log = fma::<S>(2.0 * s[l] * squares[l], series[l], 2.0 * s[l]);
        logs[l] = log + if e[l] > SQRT_2 - 1.0 { LN_2 } else { 0.0 };
    }
    logs
}

/// The polynomial with these coefficients, the highest first, step by step for all rows: so the loops become vectors.
#[inline(always)]
fn polynomial<S: Simd, const N: usize>(x: Rows, coefficients: &[f64; N]) -> Rows {
    let mut sums = [0.0; LANES];
    for i in 0..N {
        for l in 0..LANES {
            sums[l] = fma::<S>(sums[l], x[l], coefficients[i]);
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One by one, with the functions of the library.
    fn twin(z: f64, label: f64) -> [f64; 3] {
        let t = if label == 1.0 { -z } else { z };
        let e = (-t.abs()).exp();
        let wrong = if t >= 0.0 { 1.0 / (1.0 + e) } else { e / (1.0 + e) };
        [t.max(0.0) + e.ln_1p(), if label == 1.0 { -wrong } else { wrong }, e / (1.0 + e) / (1.0 + e)]
    }

    fn ours(z: f64, label: f64) -> [f64; 3] {
        let (mut slope, mut curvature) = ([0.0], [0.0]);
        log_loss_slopes(&[z], &[label], &mut slope);
        log_loss_curvatures(&[z], &mut curvature);
        [log_loss(&[z], &[label], None), slope[0], curvature[0]]
    }

    #[test]
    fn every_number_is_that_of_the_library() {
        let fine = (-80_000..=80_000).map(|i| f64::from(i) * 0.008_765_432_1);
        let near = (0..2000).flat_map(|i| [1.0, -1.0].map(|sign| sign * 0.97_f64.powi(i)));
        for z in fine.chain(near).chain([0.0, -0.0, 706.9, -706.9]) {
            for label in [0.0, 1.0] {
                let far = z.abs() > 706.9;
                for (ours, twin) in ours(z, label).into_iter().zip(twin(z, label)) {
                    let close = (ours - twin).abs() <= 1e-15 * twin.abs() || (far && (ours - twin).abs() < 1e-306);
                    assert!(close, "{z} {label}: {ours:e} {twin:e}");
                }
            }
        }
    }

    #[test]
    fn far_out_it_is_exact_and_what_is_no_number_stays_none() {
        assert_eq!(ours(1e300, 1.0), [0.0, 0.0, 0.0]);
        assert_eq!(ours(-1e300, 1.0), [1e300, -1.0, 0.0]);
        assert_eq!(ours(f64::INFINITY, 0.0), [f64::INFINITY, 1.0, 0.0]);
        assert_eq!(ours(f64::NEG_INFINITY, 0.0), [0.0, 0.0, 0.0]);
        assert!(ours(f64::NAN, 0.0).iter().all(|v| v.is_nan()));
    }

    /// Rows that do not fill a vector, and weights.
    #[test]
    fn every_length_is_the_sum_of_its_rows() {
        let all: Vec<f64> = (0..19).map(|i| f64::from(i) * 0.7 - 5.0).collect();
        let labels: Vec<f64> = (0..19).map(|i| f64::from(i % 2)).collect();
        for rows in 0..=19 {
            let (z, labels, weights) = (&all[..rows], &labels[..rows], &all[..rows]);
            let (mut slopes, mut curvatures) = (vec![0.0; rows], vec![0.0; rows]);
            log_loss_slopes(z, labels, &mut slopes);
            log_loss_curvatures(z, &mut curvatures);
            let each: Vec<[f64; 3]> = z.iter().zip(labels).map(|(&z, &y)| ours(z, y)).collect();
            let (mut sum, mut weighted) = (0.0, 0.0);
            for (i, one) in each.iter().enumerate() {
                assert_eq!([slopes[i], curvatures[i]], one[1..]);
                sum += one[0];
                weighted += weights[i] * one[0];
            }
            assert!((log_loss(z, labels, None) - sum).abs() < 1e-13);
            assert!((log_loss(z, labels, Some(weights)) - weighted).abs() < 1e-13);
        }
    }
}
