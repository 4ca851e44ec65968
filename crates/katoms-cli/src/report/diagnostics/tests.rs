use super::*;

/// The same numbers on every machine, in 0..limit.
fn stream(mut state: u64) -> impl FnMut(u64) -> u64 {
    move |limit| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % limit
    }
}

fn auc(labels: &[bool], probabilities: &[f64], weights: &[f64]) -> Option<f64> {
    roc(labels, probabilities, weights).map(|roc| roc.auc)
}

fn naive_auc(labels: &[bool], probabilities: &[f64], weights: &[f64]) -> f64 {
    let (mut won, mut pairs) = (0.0, 0.0);
    for i in (0..labels.len()).filter(|&i| labels[i]) {
        for j in (0..labels.len()).filter(|&j| !labels[j]) {
            let weight = weights[i] * weights[j];
            pairs += weight;
            won += weight
                * match probabilities[i].total_cmp(&probabilities[j]) {
                    std::cmp::Ordering::Greater => 1.0,
                    std::cmp::Ordering::Equal => 0.5,
                    std::cmp::Ordering::Less => 0.0,
                };
        }
    }
    won / pairs
}

#[test]
fn a_roc_by_hand() {
    // Thresholds 0.9 (+), 0.6 (+ and −), 0.2 (−): two steps and a slanted edge between them.
    let roc = roc(&[true, false, true, false], &[0.9, 0.6, 0.6, 0.2], &[]).unwrap();
    let corners: Vec<_> = roc.points.iter().map(|p| (p.false_positives, p.true_positives)).collect();
    assert_eq!(corners, [(0.0, 0.0), (0.0, 0.5), (0.5, 1.0), (1.0, 1.0)]);
    let thresholds: Vec<_> = roc.points.iter().map(|p| p.threshold).collect();
    assert_eq!(thresholds, [f64::INFINITY, 0.9, 0.6, 0.2]);
    assert_eq!(roc.auc, 0.875);
}

#[test]
fn the_area_is_the_share_of_pairs_in_order() {
    let mut next = stream(1);
    for n in [2, 3, 10, 157] {
        // Few distinct probabilities, so that ties abound.
        let probabilities: Vec<f64> = (0..n).map(|_| next(7) as f64 / 7.0).collect();
        let labels: Vec<bool> = (0..n).map(|i| i == 0 || (i > 1 && next(3) == 0)).collect();
        let ones = vec![1.0; n];
        let weights: Vec<f64> = (0..n).map(|i| if i < 2 { 1.0 } else { next(4) as f64 }).collect();
        let plain = auc(&labels, &probabilities, &[]).unwrap();
        assert!((plain - naive_auc(&labels, &probabilities, &ones)).abs() < 1e-12, "{n}");
        let weighted = auc(&labels, &probabilities, &weights).unwrap();
        assert!((weighted - naive_auc(&labels, &probabilities, &weights)).abs() < 1e-12, "{n}");
    }
}

#[test]
fn a_weight_of_two_is_a_row_twice() {
    let (labels, probabilities) = ([true, false, true, false, true], [0.8, 0.7, 0.35, 0.31, 0.1]);
    let twice = ([true, false, false, true, false, true], [0.8, 0.7, 0.7, 0.35, 0.31, 0.1]);
    let weights = [1.0, 2.0, 1.0, 1.0, 1.0];
    assert_eq!(auc(&labels, &probabilities, &weights), auc(&twice.0, &twice.1, &[]));
    let weighted = calibration(&labels, &probabilities, &weights).unwrap();
    for (bin, other) in weighted.iter().zip(calibration(&twice.0, &twice.1, &[]).unwrap()) {
        assert!((bin.predicted - other.predicted).abs() < 1e-15 && bin.observed == other.observed);
    }
}

#[test]
fn what_cannot_be_computed_is_none() {
    assert_eq!(auc(&[true, true], &[0.1, 0.2], &[]), None);
    assert_eq!(auc(&[], &[], &[]), None);
    assert_eq!(auc(&[true, false], &[0.1], &[]), None);
    assert_eq!(auc(&[true, false], &[0.1, f64::NAN], &[]), None);
    assert_eq!(auc(&[true, false], &[0.1, 0.2], &[1.0]), None);
    assert_eq!(auc(&[true, false], &[0.1, 0.2], &[1.0, 0.0]), None);
    assert_eq!(auc(&[true, false], &[0.1, 0.2], &[1.0, -1.0]), None);
    assert_eq!(r_squared(&[3.0, 3.0], &[3.0, 2.0], &[]), None);
    assert_eq!(r_squared(&[f64::NAN, 3.0], &[3.0, 2.0], &[]), None);
    assert_eq!(residuals(&[f64::NAN, 3.0], &[3.0, 2.0], &[]), None);
    assert_eq!(calibration(&[true], &[0.5, 0.5], &[]), None);
    assert_eq!(confusion(&[true], &[f64::INFINITY], 0.5), None);
}

#[test]
fn calibration_by_hand() {
    // 0.1 starts the second bin; 1 belongs to the last.
    let bins = calibration(&[false, true, true, true], &[0.05, 0.1, 0.12, 1.0], &[]).unwrap();
    let expected = [(0.0, 1, 0.05, 0.0), (0.1, 2, 0.11, 1.0), (0.9, 1, 1.0, 1.0)];
    assert_eq!(bins.len(), expected.len());
    for (bin, (lower, count, predicted, observed)) in bins.iter().zip(expected) {
        assert_eq!((bin.lower, bin.count, bin.observed), (lower, count, observed));
        assert!((bin.predicted - predicted).abs() < 1e-15);
    }
}

#[test]
fn a_confusion_by_hand() {
    let counts = confusion(&[true, true, true, false, false], &[0.9, 0.5, 0.4, 0.6, 0.1], 0.5).unwrap();
    let expected = Confusion { true_positives: 2, false_positives: 1, true_negatives: 1, false_negatives: 1 };
    assert_eq!(counts, expected);
    assert_eq!((counts.rows(), counts.accuracy(), counts.baseline()), (5, Some(0.6), Some(0.6)));
    assert_eq!((counts.sensitivity(), counts.specificity()), (Some(2.0 / 3.0), Some(0.5)));
    assert_eq!(counts.precision(), Some(2.0 / 3.0));
    assert_eq!(Confusion::default().accuracy(), None);
}

#[test]
fn r_squared_by_hand() {
    // Squares about the mean 2.5: 5. Left: 0.25 · 4.
    let (observed, predicted) = ([1.0, 2.0, 3.0, 4.0], [1.5, 1.5, 3.5, 3.5]);
    assert!((r_squared(&observed, &predicted, &[]).unwrap() - 0.8).abs() < 1e-15);
    // Only the first two rows count: the mean is 1.5, about it 0.5, left 0.5.
    assert!(r_squared(&observed, &predicted, &[1.0, 1.0, 0.0, 0.0]).unwrap().abs() < 1e-15);
}

#[test]
fn residuals_by_hand() {
    let left = residuals(&[1.0, 2.0, 3.0, 8.0], &[1.0, 3.0, 1.0, 4.0], &[]).unwrap();
    // 0, −1, 2, 4.
    assert_eq!(left.mean_absolute_error, 1.75);
    assert!((left.root_mean_square - 5.25_f64.sqrt()).abs() < 1e-15);
    assert_eq!(left.quantiles, [-1.0, -0.25, 1.0, 2.5, 4.0]);
}

#[test]
fn tenths_have_the_means_of_their_rows() {
    let predicted: Vec<f64> = (0..25).map(|i| f64::from(i % 5)).collect();
    let observed: Vec<f64> = predicted.iter().map(|p| 2.0 * p).collect();
    let found = tenths(&observed, &predicted, &[]).unwrap();
    assert_eq!((found.len(), found.iter().map(|t| t.count).sum::<usize>()), (10, 25));
    assert!(found.iter().all(|t| (t.observed - 2.0 * t.predicted).abs() < 1e-12));
    assert!(found.is_sorted_by(|a, b| a.predicted <= b.predicted) && found[0].error == 0.0);
    assert_eq!(tenths(&[1.0, 2.0], &[1.0, 1.0], &[]).unwrap().len(), 2);
    assert_eq!(share_below(&[1.0, 2.0, 3.0], &[2.0, 2.0, 2.0], &[1.0, 1.0, 2.0]), Some(0.5));
}

/// The example of Kaplan and Meier's estimate in textbooks: 6-MP, the first times of Freireich's trial.
#[test]
fn kaplan_meier_is_that_of_textbooks() {
    let times = [6.0, 6.0, 6.0, 6.0, 7.0, 9.0, 10.0, 10.0, 11.0, 13.0, 16.0];
    let events = [true, true, true, false, true, false, true, false, false, true, true];
    // The other ten of 21 were seen for longer.
    let (times, events): (Vec<f64>, Vec<bool>) =
        times.into_iter().zip(events).chain((17..27).map(|t| (f64::from(t), false))).unzip();
    let curve = kaplan_meier(&times, &events, &[]).unwrap();
    let expected = [(0.0, 1.0), (6.0, 0.857), (7.0, 0.807), (10.0, 0.753), (13.0, 0.690), (16.0, 0.627), (26.0, 0.627)];
    assert_eq!(curve.len(), expected.len());
    for (found, right) in curve.iter().zip(expected) {
        assert!(found.0 == right.0 && (found.1 - right.1).abs() < 6e-4, "{found:?} {right:?}");
    }
    let twice = kaplan_meier(&times, &events, &[2.0; 21]).unwrap();
    assert!(twice.iter().zip(&curve).all(|(a, b)| (a.1 - b.1).abs() < 1e-14));
}
