//! The k largest magnitudes, with ties broken the same way every time.

use std::ops::Range;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

use super::parallel;

/// Candidates that are gathered before the weaker ones are thrown out, as a multiple of k, and at least.
const GATHERED: usize = 4;
const LEAST: usize = 256;
/// Scores that one task ranks, that are computed at a time, and that are compared with the bar at once.
const SHARE: usize = 1 << 14;
const FILLED: usize = 256;
const CHUNK: usize = 16;

/// The positions of the `k` largest scores, in rising order. O(n): one scan, in which few scores pass the bar.
///
/// Ties go to the smaller position; NaN ranks below everything. Fewer than `k` scores are all
/// returned.
pub fn top_k(scores: &[f64], k: usize) -> Vec<usize> {
    top_k_of(scores.len(), k, &|first, out| out.copy_from_slice(&scores[first..][..out.len()]))
}

/// The same of `count` scores that are computed while they are ranked: `fill(first, out)` tells those from `first` on.
/// Parallel.
pub(crate) fn top_k_of(count: usize, k: usize, fill: &(dyn Fn(usize, &mut [f64]) + Sync)) -> Vec<usize> {
    if k >= count || k == 0 {
        return (0..k.min(count)).collect();
    }
    let bar = AtomicI64::new(i64::MIN);
    let part = |at: usize| best_of(at * SHARE..count.min((at + 1) * SHARE), k, fill, &bar);
    let mut best = parallel::map(count.div_ceil(SHARE), &part).concat();
    keep(&mut best, k);
    let mut positions: Vec<usize> = best.into_iter().map(|(_, position)| position).collect();
    positions.sort_unstable();
    positions
}

/// Ranks and positions of scores of a part among which its k best are, as far as they may be among the k best of all:
/// none of these is below the bar, the rank of the k-th best that any task has seen.
fn best_of(
    part: Range<usize>,
    k: usize,
    fill: &(dyn Fn(usize, &mut [f64]) + Sync),
    bar: &AtomicI64,
) -> Vec<(i64, usize)> {
    let most = (GATHERED * k).max(LEAST);
    let mut best: Vec<(i64, usize)> = Vec::with_capacity((most + CHUNK).min(part.len()));
    let mut scores = [0.0; FILLED];
    // Who comes later in this part has to be above its k-th best; who is as good as one of another part may come first.
    let mut own = i64::MIN;
    for first in part.clone().step_by(FILLED) {
        let scores = &mut scores[..FILLED.min(part.end - first)];
        fill(first, scores);
        own = own.max(bar.load(Relaxed).saturating_sub(1));
        for (chunk, some) in scores.chunks(CHUNK).enumerate() {
            if some.iter().any(|&score| rank(score) > own) {
                let ranks = some.iter().map(|&score| rank(score)).zip(first + chunk * CHUNK..);
                best.extend(ranks.filter(|(rank, _)| *rank > own));
                if best.len() >= most {
                    own = keep(&mut best, k);
                    bar.fetch_max(own, Relaxed);
                }
            }
        }
    }
    best
}

/// Throws out all but the k best: the rank of the last of them.
fn keep(best: &mut Vec<(i64, usize)>, k: usize) -> i64 {
    if best.len() > k {
        best.select_nth_unstable_by(k - 1, |a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        best.truncate(k);
    }
    best.iter().map(|(rank, _)| *rank).min().unwrap_or(i64::MIN)
}

/// An integer that rises with the score, as `total_cmp` has it, and is above the least one; that of −∞ for NaN.
#[inline]
fn rank(score: f64) -> i64 {
    let bits = if score.is_nan() { f64::NEG_INFINITY } else { score }.to_bits() as i64;
    bits ^ (((bits >> 63) as u64) >> 1) as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn edges() {
        assert_eq!(top_k(&[], 3), [0usize; 0]);
        assert_eq!(top_k(&[3.0, 1.0], 0), [0usize; 0]);
        assert_eq!(top_k(&[3.0, 1.0], 9), [0, 1]);
        assert_eq!(top_k(&[f64::NAN, 0.0, 1.0], 2), [1, 2]);
    }

    #[test]
    fn many_scores_are_ranked_as_by_sorting() {
        for (n, k) in [(5000, 3), (5000, 300), (1000, 999), (257, 64), (70_000, 50), (70_000, 20_000)] {
            let scores: Vec<f64> = (0..n)
                .map(|i: usize| match (i * 7919) % 1009 {
                    0 => f64::NAN,
                    1 => f64::NEG_INFINITY,
                    2 => -0.0,
                    3 => 0.0,
                    hash => (hash as f64 - 500.0).powi(3),
                })
                .collect();
            let of = |i: usize| if scores[i].is_nan() { f64::NEG_INFINITY } else { scores[i] };
            let mut sorted: Vec<usize> = (0..n).collect();
            sorted.sort_by(|&a, &b| of(b).total_cmp(&of(a)).then(a.cmp(&b)));
            sorted.truncate(k);
            sorted.sort_unstable();
            assert_eq!(top_k(&scores, k), sorted, "{n} {k}");
        }
    }

    proptest! {
        #[test]
        fn agrees_with_sorting(scores in prop::collection::vec(0u8..6, 0..40), k in 0usize..45) {
            let scores: Vec<f64> = scores.into_iter().map(f64::from).collect();
            let mut sorted: Vec<usize> = (0..scores.len()).collect();
            sorted.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]).then(a.cmp(&b)));
            sorted.truncate(k);
            sorted.sort_unstable();
            prop_assert_eq!(top_k(&scores, k), sorted);
        }
    }
}
