//! The model without features: the best constants.

use super::{Curvature, Loss};
use crate::linalg::{Matrix, dot, solve_symmetric};

/// Steps of Newton's method at most.
const STEPS: usize = 100;
/// Halvings of a step.
const HALVINGS: i32 = 40;
/// A share of the loss that is no more than some roundings of its terms.
const NEAR: f64 = 1e-10;

/// The constant prediction of the least loss, of one with a single output for each row: Newton's steps on one number, and halves of an interval that holds it where
/// these do not shrink. Exact at once for squares.
pub fn best_constant(loss: &impl Loss) -> f64 {
    let rows = loss.n_outputs();
    let (mut constant, mut slope, mut curvature) = (0.0, vec![0.0; rows], vec![0.0; rows]);
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
    let (mut last, mut reach) = (f64::INFINITY, 0.5);
    for _ in 0..200 {
        let predictions = vec![constant; rows];
        loss.gradient(&predictions, &mut slope);
        loss.curvature(&predictions, &mut curvature);
        let slope = slope.iter().sum::<f64>();
        if slope > 0.0 {
            high = constant;
        } else {
            low = constant;
        }
        let mut step = slope / curvature.iter().sum::<f64>();
        let shrinks = 2.0 * step.abs() <= last && low <= constant - step && constant - step <= high;
        if slope == 0.0 || slope.is_nan() {
            break;
        }
        if !shrinks && low.is_finite() && high.is_finite() {
            step = constant - (low + 0.5 * (high - low));
        } else if !step.is_finite() {
            // Flat here: further and further.
            reach *= 2.0;
            step = reach * slope.signum();
        }
        constant -= step;
        last = step.abs();
        if last <= f64::EPSILON * constant.abs() {
            break;
        }
    }
    constant
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
