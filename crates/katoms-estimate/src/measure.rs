//! How well predictions agree with what was seen.

use katoms::linalg::{exponent_of_two, times_power_of_two};

/// R² = 1 − Σw(y − ŷ)² / Σw(y − ȳ)²: 1 is perfect, 0 is what the mean does. Where y does not vary: 1 if it is met
/// exactly, else 0. Without weights rows weigh the same.
///
/// ```
/// use katoms_estimate::r_squared;
/// assert_eq!(r_squared(&[1.0, 2.0, 3.0], &[1.0, 2.0, 3.0], None), 1.0);
/// assert_eq!(r_squared(&[1.0, 2.0, 3.0], &[2.0, 2.0, 2.0], None), 0.0);
/// ```
pub fn r_squared(target: &[f64], predicted: &[f64], weights: Option<&[f64]>) -> f64 {
    // In units in which squares are numbers: the share has none.
    let (unit, scale) = (largest_exponent(target), weights.map_or(0, largest_exponent));
    let scaled = |values: &[f64]| values.iter().map(|&v| times_power_of_two(v, -unit)).collect::<Vec<f64>>();
    let (target, predicted) = (scaled(target), scaled(predicted));
    let weight = |i: usize| weights.map_or(1.0, |weights| times_power_of_two(weights[i], -scale));
    let total: f64 = (0..target.len()).map(weight).sum();
    let mean = target.iter().enumerate().map(|(i, y)| weight(i) * y).sum::<f64>() / total;
    let missed: f64 = target.iter().zip(&predicted).enumerate().map(|(i, (y, p))| weight(i) * (y - p).powi(2)).sum();
    let spread: f64 = target.iter().enumerate().map(|(i, y)| weight(i) * (y - mean).powi(2)).sum();
    match (missed == 0.0, spread == 0.0) {
        (true, _) => 1.0,
        (false, true) => 0.0,
        (false, false) => 1.0 - missed / spread,
    }
}

/// The exponent of two of the largest magnitude; 0 where there is none.
fn largest_exponent(values: &[f64]) -> i32 {
    exponent_of_two(values.iter().fold(0.0, |most: f64, v| most.max(v.abs()))).unwrap_or(0)
}

/// ln p of the class whose log-odds are z, without losing digits at either end.
///
/// ```
/// use katoms_estimate::log_probability;
/// assert!((log_probability(0.0) - 0.5_f64.ln()).abs() < 1e-15);
/// assert_eq!((log_probability(-1000.0), log_probability(1000.0)), (-1000.0, 0.0));
/// ```
pub fn log_probability(z: f64) -> f64 {
    z.min(0.0) - (-z.abs()).exp().ln_1p()
}

/// The weighted share of rows that are right.
///
/// ```
/// use katoms_estimate::accuracy;
/// assert_eq!(accuracy([true, false, true, true], Some(&[1.0, 2.0, 1.0, 0.0])), 0.5);
/// ```
pub fn accuracy(right: impl IntoIterator<Item = bool>, weights: Option<&[f64]>) -> f64 {
    let (mut hit, mut total) = (0.0, 0.0);
    for (i, right) in right.into_iter().enumerate() {
        let weight = weights.map_or(1.0, |weights| weights[i]);
        total += weight;
        hit += if right { weight } else { 0.0 };
    }
    hit / total
}
