//! The k largest magnitudes, with ties broken the same way every time.

use std::cmp::Ordering;

/// The positions of the `k` largest scores, in rising order. O(n) on average.
///
/// Ties go to the smaller position; NaN ranks below everything. Fewer than `k` scores are all
/// returned.
pub fn top_k(scores: &[f64], k: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    if k < order.len() {
        if k > 0 {
            order.select_nth_unstable_by(k - 1, |&a, &b| before(scores, a, b));
        }
        order.truncate(k);
        order.sort_unstable();
    }
    order
}

fn before(scores: &[f64], a: usize, b: usize) -> Ordering {
    let rank = |i: usize| if scores[i].is_nan() { f64::NEG_INFINITY } else { scores[i] };
    rank(b).total_cmp(&rank(a)).then(a.cmp(&b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ties_go_to_the_smaller_position() {
        assert_eq!(top_k(&[1.0, 2.0, 2.0, 2.0], 2), [1, 2]);
        assert_eq!(top_k(&[1.0; 5], 3), [0, 1, 2]);
    }

    #[test]
    fn edges() {
        assert_eq!(top_k(&[], 3), [0usize; 0]);
        assert_eq!(top_k(&[3.0, 1.0], 0), [0usize; 0]);
        assert_eq!(top_k(&[3.0, 1.0], 9), [0, 1]);
        assert_eq!(top_k(&[f64::NAN, 0.0, 1.0], 2), [1, 2]);
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
