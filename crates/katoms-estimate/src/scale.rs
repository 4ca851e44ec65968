//! Parameters of a loss that are estimated together with a model: the dispersion of counts, and from where on residuals are
//! large.

use katoms::Error;
use katoms::loss::{AnyLoss, Split};

/// Huber's δ in robust standard deviations: 95 % of the efficiency of least squares under normal noise.
const HUBER: f64 = 1.345;
/// The least spread of residuals that is told from none, in spreads of the response.
const LEAST: f64 = 1e-9;
/// The median of the magnitude of a standard normal number.
const NORMAL_MEDIAN: f64 = 0.674_489_750_196_081_7;

/// The median of the deviations from the median, as a standard deviation of normal numbers; where more than half are the same,
/// their standard deviation, and 1 where all are.
pub(crate) fn robust_deviation(values: &[f64], weights: Option<&[f64]>) -> f64 {
    let middle = median(values, weights);
    about(values.iter().map(|v| v - middle).collect(), weights)
}

/// The same of deviations from 0.
fn about(deviations: Vec<f64>, weights: Option<&[f64]>) -> f64 {
    let sizes: Vec<f64> = deviations.iter().map(|v| v.abs()).collect();
    let found = median(&sizes, weights) / NORMAL_MEDIAN;
    if found > 0.0 && found.is_finite() {
        return found;
    }
    let largest = sizes.iter().copied().fold(0.0, f64::max);
    if largest == 0.0 {
        return 1.0;
    }
    let square = sizes.iter().map(|v| (v / largest).powi(2)).sum::<f64>() / sizes.len() as f64;
    largest * square.sqrt()
}

pub(crate) fn huber_delta(values: &[f64], weights: Option<&[f64]>) -> f64 {
    HUBER * robust_deviation(values, weights)
}

/// The weighted median: half of the weight lies on either side.
fn median(values: &[f64], weights: Option<&[f64]>) -> f64 {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
    let total: f64 = order.iter().map(|&i| weight(i)).sum();
    let mut below = 0.0;
    for (at, &i) in order.iter().enumerate() {
        below += weight(i);
        if below > 0.5 * total {
            return values[i];
        }
        if below == 0.5 * total {
            return 0.5 * (values[i] + order.get(at + 1).map_or(values[i], |&next| values[next]));
        }
    }
    0.0
}

/// The parameter of a loss that can be estimated.
pub(crate) fn parameter(loss: &AnyLoss) -> Option<f64> {
    match loss {
        AnyLoss::NegativeBinomial(loss) => Some(loss.dispersion()),
        AnyLoss::Huber(loss) => Some(loss.delta()),
        _ => None,
    }
}

/// The same loss with its parameter estimated at these linear predictions.
pub(crate) fn estimated_at(loss: &AnyLoss, predictions: &[f64]) -> Result<AnyLoss, Error> {
    Ok(match loss {
        AnyLoss::NegativeBinomial(counts) => counts.with_dispersion(counts.likeliest_dispersion(predictions))?.into(),
        AnyLoss::Huber(huber) => {
            let known = |i: usize| huber.known().map_or(0.0, |offset| offset[i]);
            let residual = |(i, (y, z)): (usize, (&f64, &f64))| y - z - known(i);
            let residuals = huber.target().iter().zip(predictions).enumerate().map(residual).collect();
            // Of a perfect fit, rounding is left.
            let least = LEAST * robust_deviation(huber.target(), huber.weights());
            huber.with_delta(HUBER * about(residuals, huber.weights()).max(least))?.into()
        }
        other => other.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_deviations() {
        assert_eq!(median(&[3.0, 1.0, 2.0], None), 2.0);
        assert_eq!(median(&[3.0, 1.0, 2.0, 10.0], None), 2.5);
        assert_eq!(median(&[3.0, 1.0, 2.0], Some(&[5.0, 1.0, 1.0])), 3.0);
        assert_eq!(robust_deviation(&[4.0; 3], None), 1.0);
        assert_eq!(robust_deviation(&[0.0, 0.0, 0.0, 0.0, 2.0], None), (4.0_f64 / 5.0).sqrt());
        let even: Vec<f64> = (-500..=500).map(f64::from).collect();
        assert!((robust_deviation(&even, None) - 250.0 / NORMAL_MEDIAN).abs() < 1.0);
    }
}
