//! How well predictions agree with what was seen.

use katoms::linalg::{exponent_of_two, times_power_of_two};
use katoms::loss::{AnyLoss, Loss, Quantile, Split, best_constants};

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

/// D²: the share of the loss of the best constant that these linear predictions explain; of a quantile, of the pinball loss as
/// it is, not smoothed. Where a constant has no loss: 1 if the predictions have none either, else 0.
pub fn explained(loss: &AnyLoss, linear: &[f64]) -> f64 {
    let (here, null) = match loss {
        AnyLoss::Quantile(quantile) => (pinball(quantile, |i| linear[i]), least_pinball(quantile)),
        other => {
            let constants = best_constants(other);
            let null = constants.into_iter().flat_map(|constant| vec![constant; other.n_rows()]);
            (other.value(linear), other.value(&null.collect::<Vec<f64>>()))
        }
    };
    match null > 0.0 {
        true => 1.0 - here / null,
        false => f64::from(u8::from(here <= 0.0)),
    }
}

fn pinball(loss: &Quantile, predicted: impl Fn(usize) -> f64) -> f64 {
    let (weights, quantile) = (loss.weights(), loss.quantile());
    let one = |(i, y): (usize, &f64)| {
        let residual = y - predicted(i) - loss.known().map_or(0.0, |known| known[i]);
        weights.map_or(1.0, |weights| weights[i]) * (quantile * residual).max((quantile - 1.0) * residual)
    };
    loss.target().iter().enumerate().map(one).sum()
}

/// The pinball loss of the best constant, a value of the target: that at which the weight below reaches the quantile.
fn least_pinball(loss: &Quantile) -> f64 {
    let known = |i: usize| loss.known().map_or(0.0, |known| known[i]);
    let target: Vec<f64> = loss.target().iter().enumerate().map(|(i, y)| y - known(i)).collect();
    let weight = |i: usize| loss.weights().map_or(1.0, |weights| weights[i]);
    let mut order: Vec<usize> = (0..target.len()).collect();
    order.sort_by(|&a, &b| target[a].total_cmp(&target[b]));
    let needed = loss.quantile() * (0..target.len()).map(weight).sum::<f64>();
    let mut below = 0.0;
    let reached = order.iter().find(|&&i| {
        below += weight(i);
        below >= needed
    });
    let constant = reached.or(order.last()).map_or(0.0, |&i| target[i]);
    pinball(loss, |_| constant)
}

/// Harrell's C: of the pairs of rows of which one is known to have had its event first, the share in which it has the larger
/// risk; equal risks count half. Pairs weigh as much as both rows. `None` where there are no such pairs.
///
/// ```
/// use katoms_estimate::concordance;
/// let (times, events) = ([1.0, 2.0, 3.0, 4.0], [true, false, true, true]);
/// assert_eq!(concordance(&times, &events, &[4.0, 3.0, 2.0, 1.0], None), Some(1.0));
/// assert_eq!(concordance(&times, &events, &[0.0; 4], None), Some(0.5));
/// ```
pub fn concordance(times: &[f64], events: &[bool], risks: &[f64], weights: Option<&[f64]>) -> Option<f64> {
    let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
    let mut levels: Vec<f64> = risks.to_vec();
    levels.sort_by(f64::total_cmp);
    levels.dedup();
    let level = |i: usize| levels.partition_point(|&v| v < risks[i]);
    // From the last time back: what was seen longer than a row, by its risk. At the same time events come before the others.
    let mut order: Vec<usize> = (0..times.len()).collect();
    order.sort_by(|&a, &b| times[b].total_cmp(&times[a]).then(events[a].cmp(&events[b])));
    let mut later = Totals::new(levels.len());
    let (mut agree, mut all) = (0.0, 0.0);
    for group in order.chunk_by(|&a, &b| times[a] == times[b] && events[a] && events[b]) {
        for &i in group.iter().filter(|&&i| events[i]) {
            let (below, upto) = (later.below(level(i)), later.below(level(i) + 1));
            agree += weight(i) * 0.5 * (below + upto);
            all += weight(i) * later.below(levels.len());
        }
        group.iter().for_each(|&i| later.add(level(i), weight(i)));
    }
    (all > 0.0).then(|| agree / all)
}

/// Sums of what lies below a place (Fenwick).
struct Totals(Vec<f64>);

impl Totals {
    fn new(places: usize) -> Self {
        Self(vec![0.0; places + 1])
    }

    fn add(&mut self, place: usize, value: f64) {
        let mut at = place + 1;
        while at < self.0.len() {
            self.0[at] += value;
            at += at & at.wrapping_neg();
        }
    }

    fn below(&self, place: usize) -> f64 {
        let (mut at, mut sum) = (place, 0.0);
        while at > 0 {
            sum += self.0[at];
            at -= at & at.wrapping_neg();
        }
        sum
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

#[cfg(test)]
mod tests {
    use super::*;
    use katoms::loss::Poisson;

    /// By its definition, pair by pair.
    #[test]
    fn concordance_counts_pairs() {
        let times = [3.0, 1.0, 2.0, 2.0, 5.0, 2.0, 4.0, 1.0];
        let events = [true, true, false, true, true, true, false, false];
        let risks = [0.3, 0.9, 0.5, 0.5, 0.1, 0.7, 0.9, 0.2];
        let weights = [1.0, 2.0, 1.0, 0.5, 1.0, 3.0, 1.0, 1.0];
        let (mut agree, mut all) = (0.0, 0.0);
        for i in (0..8).filter(|&i| events[i]) {
            for j in (0..8).filter(|&j| times[j] > times[i] || (times[j] == times[i] && !events[j])) {
                let pair = weights[i] * weights[j];
                all += pair;
                agree += pair
                    * if risks[i] > risks[j] {
                        1.0
                    } else if risks[i] == risks[j] {
                        0.5
                    } else {
                        0.0
                    };
            }
        }
        let found = concordance(&times, &events, &risks, Some(&weights)).unwrap();
        assert!((found - agree / all).abs() < 1e-14, "{found}");
        assert_eq!(concordance(&[1.0, 2.0], &[false, false], &[0.0, 1.0], None), None);
    }

    #[test]
    fn explained_is_one_at_the_target_and_zero_at_a_constant() {
        let counts = vec![1.0, 4.0, 2.0];
        let loss = AnyLoss::from(Poisson::new(counts.clone()).unwrap());
        let logs: Vec<f64> = counts.iter().map(|v: &f64| v.ln()).collect();
        assert!((explained(&loss, &logs) - 1.0).abs() < 1e-12);
        assert!(explained(&loss, &[(7.0_f64 / 3.0).ln(); 3]).abs() < 1e-12);
        let quantile = AnyLoss::from(Quantile::new(vec![1.0, 2.0, 3.0, 10.0], 0.5, 0.1).unwrap());
        assert_eq!((explained(&quantile, &[1.0, 2.0, 3.0, 10.0]), explained(&quantile, &[2.0; 4])), (1.0, 0.0));
        let offset = Quantile::new(vec![11.0, 2.0, 3.0, 10.0], 0.5, 0.1).unwrap().offset(vec![10.0, 0.0, 0.0, 0.0]);
        let offset = AnyLoss::from(offset.unwrap());
        assert_eq!((explained(&offset, &[1.0, 2.0, 3.0, 10.0]), explained(&offset, &[2.0; 4])), (1.0, 0.0));
    }
}
