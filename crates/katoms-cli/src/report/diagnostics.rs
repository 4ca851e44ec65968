//! How well predictions match the truth.
//!
//! Each function takes the truth, the predictions and the weights of the rows, row by row. Empty weights mean that
//! all rows weigh the same. Where there is nothing to compute (lengths differ, a value is not finite, no row weighs
//! anything, one class only), the answer is `None`.

use serde::Serialize;

/// A receiver operating characteristic.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Roc {
    /// From (0, 0) to (1, 1), one point per distinct probability.
    pub points: Vec<RocPoint>,
    /// The area below: the chance that a positive row has a higher probability than a negative one, where a tie
    /// counts a half.
    pub auc: f64,
}

/// What a threshold does.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RocPoint {
    /// The share of negative rows at or above the threshold.
    pub false_positives: f64,
    /// The share of positive rows at or above the threshold.
    pub true_positives: f64,
    /// The threshold; infinite at the first point.
    pub threshold: f64,
}

/// The rows of one range of probabilities.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bin {
    /// Probabilities from here
    pub lower: f64,
    /// to here, which belongs to the next bin unless it is 1.
    pub upper: f64,
    /// The number of rows.
    pub count: usize,
    /// The mean of the probabilities.
    pub predicted: f64,
    /// The share of positive rows.
    pub observed: f64,
}

/// A tenth of the rows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Tenth {
    /// The number of rows.
    pub count: usize,
    /// The mean of the predictions.
    pub predicted: f64,
    /// The mean of what was observed.
    pub observed: f64,
    /// The standard error of that.
    pub error: f64,
}

/// Rows by what they are and what is said of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Confusion {
    /// Positive rows at or above the threshold.
    pub true_positives: usize,
    /// Negative rows at or above the threshold.
    pub false_positives: usize,
    /// Negative rows below the threshold.
    pub true_negatives: usize,
    /// Positive rows below the threshold.
    pub false_negatives: usize,
}

impl Confusion {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.true_positives + self.false_positives + self.true_negatives + self.false_negatives
    }

    /// The share of rows that are called what they are.
    pub fn accuracy(&self) -> Option<f64> {
        share(self.true_positives + self.true_negatives, self.rows())
    }

    /// The share of positive rows that are found.
    pub fn sensitivity(&self) -> Option<f64> {
        share(self.true_positives, self.true_positives + self.false_negatives)
    }

    /// The share of negative rows that are left alone.
    pub fn specificity(&self) -> Option<f64> {
        share(self.true_negatives, self.true_negatives + self.false_positives)
    }

    /// The share of rows called positive that are.
    pub fn precision(&self) -> Option<f64> {
        share(self.true_positives, self.true_positives + self.false_positives)
    }

    /// The accuracy of always naming the larger class.
    pub fn baseline(&self) -> Option<f64> {
        let positives = self.true_positives + self.false_negatives;
        share(positives.max(self.rows() - positives), self.rows())
    }
}

/// What is left after prediction: observed − predicted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Residuals {
    /// The root of the mean square.
    pub root_mean_square: f64,
    /// The mean of the absolute values.
    pub mean_absolute_error: f64,
    /// Minimum, lower quartile, median, upper quartile, maximum; of the rows, whatever they weigh.
    pub quantiles: [f64; 5],
}

/// The ROC of probabilities against labels. O(n log n).
pub fn roc(labels: &[bool], probabilities: &[f64], weights: &[f64]) -> Option<Roc> {
    let weight = Weights::new(weights, probabilities, labels.len())?;
    let total = |positive| weight.sum((0..labels.len()).filter(|&i| labels[i] == positive));
    let (positives, negatives) = (total(true), total(false));
    if !(positives > 0.0 && negatives > 0.0) {
        return None;
    }
    let mut order: Vec<usize> = (0..labels.len()).collect();
    order.sort_by(|&a, &b| probabilities[b].total_cmp(&probabilities[a]));
    let mut points = vec![RocPoint { false_positives: 0.0, true_positives: 0.0, threshold: f64::INFINITY }];
    let (mut above, mut below) = (0.0, 0.0);
    // Rows of equal probability enter together, so a tie is a slanted edge.
    for tied in order.chunk_by(|&a, &b| probabilities[a] == probabilities[b]) {
        let hits = weight.sum(tied.iter().copied().filter(|&i| labels[i]));
        let misses = weight.sum(tied.iter().copied().filter(|&i| !labels[i]));
        above += hits;
        below += misses;
        points.push(RocPoint {
            false_positives: below / negatives,
            true_positives: above / positives,
            threshold: probabilities[tied[0]],
        });
    }
    let auc = katoms_estimate::auc(labels, probabilities, (!weights.is_empty()).then_some(weights))?;
    Some(Roc { points, auc })
}

/// Ten ranges of probability of equal width; those without rows are left out. O(n).
pub fn calibration(labels: &[bool], probabilities: &[f64], weights: &[f64]) -> Option<Vec<Bin>> {
    let weight = Weights::new(weights, probabilities, labels.len())?;
    let mut bins: [Vec<usize>; 10] = Default::default();
    for (i, &p) in probabilities.iter().enumerate() {
        // The cast saturates.
        bins[((p * 10.0) as usize).min(9)].push(i);
    }
    let one = |(place, rows): (usize, &Vec<usize>)| {
        let total = weight.sum(rows.iter().copied());
        (total > 0.0).then(|| Bin {
            lower: place as f64 / 10.0,
            upper: (place + 1) as f64 / 10.0,
            count: rows.len(),
            predicted: rows.iter().map(|&i| weight.of(i) * probabilities[i]).sum::<f64>() / total,
            observed: weight.sum(rows.iter().copied().filter(|&i| labels[i])) / total,
        })
    };
    Some(bins.iter().enumerate().filter_map(one).collect())
}

/// Counts of rows at a threshold; a row at the threshold is called positive. O(n).
pub fn confusion(labels: &[bool], probabilities: &[f64], threshold: f64) -> Option<Confusion> {
    Weights::new(&[], probabilities, labels.len())?;
    let mut counts = Confusion::default();
    for (&label, &p) in labels.iter().zip(probabilities) {
        let cell = match (label, p >= threshold) {
            (true, true) => &mut counts.true_positives,
            (false, true) => &mut counts.false_positives,
            (false, false) => &mut counts.true_negatives,
            (true, false) => &mut counts.false_negatives,
        };
        *cell += 1;
    }
    Some(counts)
}

/// 1 − (what is left) / (what the mean leaves). `None` also where all observations are the same. O(n).
pub fn r_squared(observed: &[f64], predicted: &[f64], weights: &[f64]) -> Option<f64> {
    let weight = Weights::new(weights, predicted, observed.len())?;
    let rows = 0..observed.len();
    let mean = rows.clone().map(|i| weight.of(i) * observed[i]).sum::<f64>() / weight.sum(rows.clone());
    let squares = |fitted: &dyn Fn(usize) -> f64| {
        rows.clone().map(|i| weight.of(i) * (observed[i] - fitted(i)).powi(2)).sum::<f64>()
    };
    let (left, total) = (squares(&|i| predicted[i]), squares(&|_| mean));
    (total > 0.0 && left.is_finite() && total.is_finite()).then(|| 1.0 - left / total)
}

/// The weighted share of rows that are below their prediction. O(n).
pub fn share_below(observed: &[f64], predicted: &[f64], weights: &[f64]) -> Option<f64> {
    let weight = Weights::new(weights, predicted, observed.len())?;
    let rows = 0..observed.len();
    Some(weight.sum(rows.clone().filter(|&i| observed[i] <= predicted[i])) / weight.sum(rows))
}

/// Ten groups of rows of about the same number, by rising predictions, with the mean of what is predicted and of what was
/// observed. Rows of equal predictions may be in two. O(n log n).
pub fn tenths(observed: &[f64], predicted: &[f64], weights: &[f64]) -> Option<Vec<Tenth>> {
    let weight = Weights::new(weights, predicted, observed.len())?;
    let mut order: Vec<usize> = (0..observed.len()).collect();
    order.sort_by(|&a, &b| predicted[a].total_cmp(&predicted[b]));
    let one = |rows: &[usize]| {
        let total = weight.sum(rows.iter().copied());
        let mean = |of: &[f64]| rows.iter().map(|&i| weight.of(i) * of[i]).sum::<f64>() / total;
        let (predicted, observed_mean) = (mean(predicted), mean(observed));
        let square: f64 =
            rows.iter().map(|&i| weight.of(i) * (observed[i] - observed_mean).powi(2)).sum::<f64>() / total;
        let error = (square / rows.len() as f64).sqrt();
        (total > 0.0).then_some(Tenth { count: rows.len(), predicted, observed: observed_mean, error })
    };
    let ends: Vec<usize> = (0..=10).map(|tenth| tenth * order.len() / 10).collect();
    Some(ends.windows(2).filter(|end| end[0] < end[1]).filter_map(|end| one(&order[end[0]..end[1]])).collect())
}

/// The share of rows without an event until each time of one (Kaplan and Meier), from (0, 1) on. O(n log n).
pub fn kaplan_meier(times: &[f64], events: &[bool], weights: &[f64]) -> Option<Vec<(f64, f64)>> {
    let weight = Weights::new(weights, times, events.len())?;
    let mut order: Vec<usize> = (0..times.len()).collect();
    order.sort_by(|&a, &b| times[a].total_cmp(&times[b]));
    let (mut at_risk, mut share) = (weight.sum(0..times.len()), 1.0);
    let mut curve = vec![(0.0, 1.0)];
    for tied in order.chunk_by(|&a, &b| times[a] == times[b]) {
        let gone = weight.sum(tied.iter().copied().filter(|&i| events[i]));
        if gone > 0.0 {
            share *= 1.0 - gone / at_risk;
            curve.push((times[tied[0]], share));
        }
        at_risk -= weight.sum(tied.iter().copied());
    }
    let last = order.last().map_or(0.0, |&i| times[i]);
    curve.push((last, share));
    Some(curve)
}

/// A summary of observed − predicted. O(n log n).
pub fn residuals(observed: &[f64], predicted: &[f64], weights: &[f64]) -> Option<Residuals> {
    let weight = Weights::new(weights, predicted, observed.len())?;
    let left: Vec<f64> = observed.iter().zip(predicted).map(|(o, p)| o - p).collect();
    if left.iter().any(|r| !r.is_finite()) {
        return None;
    }
    let total = weight.sum(0..left.len());
    let mean = |f: fn(f64) -> f64| left.iter().enumerate().map(|(i, &r)| weight.of(i) * f(r)).sum::<f64>() / total;
    let (square, magnitude) = (mean(|r| r * r), mean(f64::abs));
    let mut sorted = left;
    sorted.sort_by(f64::total_cmp);
    let quantiles = [0.0, 0.25, 0.5, 0.75, 1.0].map(|q| quantile(&sorted, q));
    Some(Residuals { root_mean_square: square.sqrt(), mean_absolute_error: magnitude, quantiles })
}

fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    below + (above - below) * place.fract()
}

fn share(part: usize, of: usize) -> Option<f64> {
    (of > 0).then(|| part as f64 / of as f64)
}

struct Weights<'a>(&'a [f64]);

impl<'a> Weights<'a> {
    fn new(weights: &'a [f64], predictions: &[f64], rows: usize) -> Option<Self> {
        let fit = rows > 0 && predictions.len() == rows && (weights.is_empty() || weights.len() == rows);
        let sound = predictions.iter().all(|p| p.is_finite()) && weights.iter().all(|&w| w >= 0.0 && w.is_finite());
        let this = Self(weights);
        (fit && sound && this.sum(0..rows) > 0.0).then_some(this)
    }

    fn of(&self, row: usize) -> f64 {
        self.0.get(row).copied().unwrap_or(1.0)
    }

    fn sum(&self, rows: impl Iterator<Item = usize>) -> f64 {
        rows.map(|i| self.of(i)).sum()
    }
}

#[cfg(test)]
mod tests;
