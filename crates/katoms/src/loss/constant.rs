//! The model without features: the best constants.

use super::{Curvature, Loss};
use crate::linalg::{Matrix, dot, solve_symmetric};

/// Steps of Newton's method at most.
const STEPS: usize = 100;
/// Constants tried at most where there is one output: doublings out of the range of double precision, and halvings back.
const SEARCHED: usize = 1200;
/// Halvings of a step.
const HALVINGS: i32 = 40;
/// A share of the loss that is no more than some roundings of its terms.
const NEAR: f64 = 1e-10;

/// The constant prediction of the least loss, of one with a single output for each row: Newton's steps on one number where
/// they shrink inside the interval that holds it, and else steps that double until there is one and then halve it. Exact
/// at once for squares.
pub fn best_constant(loss: &impl Loss) -> f64 {
    let rows = loss.n_outputs();
    let (mut slopes, mut curvatures) = (vec![0.0; rows], vec![0.0; rows]);
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
    let (mut constant, mut last, mut reach) = (0.0_f64, f64::INFINITY, 0.5);
    for _ in 0..SEARCHED {
        let predictions = vec![constant; rows];
        loss.gradient(&predictions, &mut slopes);
        loss.curvature(&predictions, &mut curvatures);
        let slope: f64 = slopes.iter().sum();
        // A slope that is no number is one of far too far out.
        let falls = if slope.is_nan() { constant < 0.0 } else { slope < 0.0 };
        if falls {
            low = constant;
        } else {
            high = constant;
        }
        let newton = constant - slope / curvatures.iter().sum::<f64>();
        let inside = newton.is_finite() && low <= newton && newton <= high;
        let shrinks = inside && 2.0 * (newton - constant).abs() <= last;
        // What the sum of so many slopes is off by.
        if slope.abs() <= f64::EPSILON * (rows as f64).sqrt() * slopes.iter().map(|s| s.abs()).sum::<f64>() {
            return if shrinks { newton } else { constant };
        }
        let next = if shrinks {
            newton
        } else if low.is_finite() && high.is_finite() {
            halve(low, high)
        } else {
            reach *= 2.0;
            constant + if falls { reach } else { -reach }
        };
        last = (next - constant).abs();
        if !next.is_finite() || last <= f64::EPSILON * next.abs() {
            break;
        }
        constant = next;
    }
    constant
}

/// What has as many numbers of double precision below it as above: no interval is halved more than 64 times, however far from
/// 0 or near it the number lies.
fn halve(low: f64, high: f64) -> f64 {
    let place = |v: f64| if v < 0.0 { -((-v).to_bits() as i64) } else { v.to_bits() as i64 };
    let middle = i64::midpoint(place(low), place(high));
    f64::from_bits(middle.unsigned_abs()).copysign(middle as f64)
}

/// The best constant for each [output](Loss::outputs_per_row) of a row: Newton's steps, each shortened until the loss falls.
/// Exact at once for squares.
pub fn best_constants(loss: &impl Loss) -> Vec<f64> {
    let (rows, outputs) = (loss.n_rows(), loss.outputs_per_row());
    if outputs == 1 {
        return vec![best_constant(loss)];
    }
    let spread = |constants: &[f64]| constants.iter().flat_map(|&c| vec![c; rows]).collect::<Vec<f64>>();
    let totals = |all: &[f64]| all.chunks(rows).map(|part| part.iter().sum()).collect::<Vec<f64>>();
    let mut constants = vec![0.0; outputs];
    for _ in 0..STEPS {
        let predictions = spread(&constants);
        let (mut slopes, mut bound) = (vec![0.0; predictions.len()], vec![0.0; predictions.len()]);
        loss.gradient(&predictions, &mut slopes);
        loss.curvature(&predictions, &mut bound);
        let hessian = Curvature::new(bound, loss.hessian(&predictions));
        let unit = |c: usize| spread(&(0..outputs).map(|b| f64::from(u8::from(b == c))).collect::<Vec<f64>>());
        let columns: Vec<f64> = (0..outputs).flat_map(|c| totals(&hessian.times(&unit(c)))).collect();
        let slopes = totals(&slopes);
        let step = solve_symmetric(&Matrix::from_columns(outputs, outputs, columns), &slopes);
        let value = loss.value(&predictions);
        let next = |t: f64| constants.iter().zip(&step).map(|(c, step)| c - t * step).collect::<Vec<f64>>();
        // So near the best, the loss is too much rounded to tell a step that helps.
        let near = dot(&slopes, &step) <= NEAR * value.abs();
        let falls = |next: &Vec<f64>| near || loss.value(&spread(next)) < value;
        let Some(better) = (0..HALVINGS).map(|times| next(0.5_f64.powi(times))).find(falls) else { break };
        let moved = better.iter().zip(&constants).fold(0.0, |most: f64, (a, b)| most.max((a - b).abs()));
        constants = better;
        if moved <= 4.0 * f64::EPSILON * constants.iter().fold(0.0, |most: f64, c| most.max(c.abs())) {
            break;
        }
    }
    constants
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::{Gamma, Huber, LeastSquares, Multinomial, Poisson, Quantile};

    /// The logarithm of the mean, also where Newton's first step goes far too far; the median but for the smoothing.
    #[test]
    fn the_best_constant_of_a_family_is_known() {
        for mean in [1e-6, 0.3, 5.0, 1e6, 1e12] {
            let counts = vec![0.5 * mean, 1.5 * mean, mean];
            let found = best_constant(&Poisson::new(counts.clone()).unwrap());
            assert!((found - mean.ln()).abs() < 1e-12 * (1.0 + mean.ln().abs()), "{mean}: {found}");
            let found = best_constant(&Gamma::new(counts).unwrap());
            assert!((found - mean.ln()).abs() < 1e-12 * (1.0 + mean.ln().abs()), "{mean}: {found}");
        }
        let far = Quantile::new(vec![1e3, 1e3 + 1.0, 1e3 + 2.0], 0.5, 0.01).unwrap();
        assert!((best_constant(&far) - 1001.0).abs() < 1e-9);
        let far = Huber::new(vec![1e3, 1e3 + 1.0, 1e6], 1.0).unwrap();
        assert!((best_constant(&far) - 1001.0).abs() < 1e-9, "{}", best_constant(&far));
        let offset = Poisson::new(vec![2.0, 4.0]).unwrap().offset(vec![0.0, 2.0_f64.ln()]).unwrap();
        assert!((best_constant(&offset) - 2.0_f64.ln()).abs() < 1e-14);
    }
    /// Where the curvature at 0 is next to nothing, or nothing at all, and in every unit.
    #[test]
    fn the_best_constant_is_found_however_far_from_zero() {
        let spread: Vec<f64> = (0..101).map(|i| f64::from(i) - 50.0).collect();
        for centre in [-1e9, -100.0, 70.0, 1e4, 1e12] {
            for unit in [1e-100, 1e-3, 1.0, 1e100] {
                for (quantile, smoothing) in [(0.5, 0.1), (0.9, 1.0), (0.1, 1e-4)] {
                    let target: Vec<f64> = spread.iter().map(|v| unit * (centre + v)).collect();
                    let found = best_constant(&Quantile::new(target, quantile, unit * smoothing).unwrap());
                    let off = (found / unit - centre - 100.0 * (quantile - 0.5)).abs();
                    assert!(off < 0.6 + 1e-15 * centre.abs(), "{centre} {unit} {quantile}: {off}");
                }
            }
        }
        for exponent in [-250.0, -200.0, 115.0, 250.0_f64] {
            let amounts: Vec<f64> = [0.5, 1.0, 1.5].iter().map(|v| v * exponent.exp()).collect();
            let found = best_constant(&Gamma::new(amounts).unwrap());
            assert!((found - exponent).abs() < 1e-12 * exponent.abs(), "{exponent}: {found}");
            let counts = Poisson::new(vec![0.0, 1.0, 2.0]).unwrap().offset(vec![exponent; 3]).unwrap();
            let found = best_constant(&counts);
            assert!((found + exponent).abs() < 1e-12 * exponent.abs(), "{exponent}: {found}");
        }
    }
    /// The means of responses, weighted; the logarithms of how often classes come, whatever comes least.
    #[test]
    fn many_outputs_have_a_constant_each() {
        let loss = LeastSquares::of_responses(vec![1.0, 2.0, 6.0, -1e9, 0.0, 1e9], 2).unwrap();
        let found = best_constants(&loss.weighted(vec![1.0, 1.0, 2.0]).unwrap());
        assert!((found[0] - 3.75).abs() < 1e-14 && (found[1] - 2.5e8).abs() < 1e-6, "{found:?}");
        for counts in [[3, 4, 5], [1, 50, 3], [1, 1, 10_000]] {
            let labels: Vec<usize> = counts.iter().enumerate().flat_map(|(c, &count)| vec![c; count]).collect();
            let total = labels.len() as f64;
            let found = Multinomial::probabilities(&best_constants(&Multinomial::new(labels, 3).unwrap()));
            let off = |(p, count): (&f64, usize)| (p * total / count as f64 - 1.0).abs();
            assert!(found.iter().zip(counts).all(|pair| off(pair) < 1e-10), "{counts:?} {found:?}");
        }
        // a class that never comes: as unlikely as double precision lets it be
        let found = best_constants(&Multinomial::new(vec![0, 0, 1], 3).unwrap());
        let p = Multinomial::probabilities(&found);
        assert!((p[0] - 2.0 / 3.0).abs() < 1e-9 && p[2] < 1e-9 && found.iter().all(|c| c.is_finite()), "{found:?}");
        let single = Poisson::new(vec![2.0, 4.0]).unwrap();
        assert_eq!(best_constants(&single), [best_constant(&single)]);
    }
}
