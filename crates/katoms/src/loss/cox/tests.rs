use super::*;
use crate::loss::Curvature;
use crate::loss::contract;

const TIMES: [f64; 9] = [5.0, 2.0, 3.0, 3.0, 8.0, 3.0, 7.0, 2.0, 9.0];
const EVENTS: [bool; 9] = [true, true, false, true, true, true, false, true, false];
const ENTRIES: [f64; 9] = [0.0, 1.0, 2.0, 0.0, 4.0, 2.5, 0.0, 0.0, 3.0];
const STRATA: [usize; 9] = [0, 1, 0, 0, 1, 0, 1, 1, usize::MAX];
const WEIGHTS: [f64; 9] = [1.0, 2.0, 0.5, 1.0, 0.0, 3.0, 1.0, 0.7, 1.0];

fn all(ties: Ties) -> [Cox; 5] {
    let plain = Cox::new(TIMES, EVENTS).unwrap().ties(ties);
    [
        plain.clone(),
        plain.clone().entries(ENTRIES).unwrap(),
        plain.clone().strata(STRATA).unwrap(),
        plain.clone().weighted(WEIGHTS).unwrap(),
        plain.entries(ENTRIES).unwrap().strata(STRATA).unwrap().weighted(WEIGHTS).unwrap().offset([0.3; 9]).unwrap(),
    ]
}

#[test]
fn keeps_the_contract() {
    [Ties::Breslow, Ties::Efron].into_iter().flat_map(all).for_each(|loss| contract::check(&loss));
}

/// The sums of the definition, risk set by risk set.
#[test]
fn the_value_is_the_partial_likelihood() {
    let z: Vec<f64> = (0..9).map(|i| (f64::from(i) * 0.7).sin() * 2.0).collect();
    for ties in [Ties::Breslow, Ties::Efron] {
        let loss = Cox::new(TIMES, EVENTS).unwrap().ties(ties);
        let (mut value, mut sure) = (0.0, 0.0);
        for now in [2.0, 3.0, 5.0, 8.0] {
            let dead: Vec<usize> = (0..9).filter(|&i| TIMES[i] == now && EVENTS[i]).collect();
            let sum = |rows: &[usize]| rows.iter().map(|&i| z[i].exp()).sum::<f64>();
            let at_risk = sum(&(0..9).filter(|&i| TIMES[i] >= now).collect::<Vec<_>>());
            for l in 0..dead.len() {
                let gone = if ties == Ties::Efron { l as f64 / dead.len() as f64 } else { 0.0 };
                value += (at_risk - gone * sum(&dead)).ln() - z[dead[l]];
                sure += (dead.len() as f64 * (1.0 - gone)).ln();
            }
        }
        assert!((loss.value(&z) - (value - sure)).abs() < 1e-12);
    }
}

#[test]
fn strata_entries_and_subsets_are_losses_of_their_rows() {
    let z: Vec<f64> = (0..9).map(|i| (f64::from(i) * 0.7).sin() * 2.0).collect();
    for ties in [Ties::Breslow, Ties::Efron] {
        let [plain, late, stratified, weighted, _] = all(ties);
        let of = |stratum: usize| (0..9).filter(|&i| STRATA[i] == stratum).collect::<Vec<usize>>();
        let part =
            |rows: &[usize]| plain.subset(rows).unwrap().value(&rows.iter().map(|&i| z[i]).collect::<Vec<f64>>());
        assert!((stratified.value(&z) - part(&of(0)) - part(&of(1))).abs() < 1e-12);
        // who enters at 4 and dies at 8 is not at risk at 2 and 3
        assert!(late.value(&z) < plain.value(&z));
        let without: Vec<usize> = (0..9).filter(|&i| WEIGHTS[i] > 0.0).collect();
        let rest: Vec<f64> = without.iter().map(|&i| z[i]).collect();
        assert!((weighted.value(&z) - weighted.subset(&without).unwrap().value(&rest)).abs() < 1e-12);
        assert_eq!((plain.observations(), plain.classes().unwrap().len()), (6, 9));
    }
}

/// A row of weight 2 is that row twice, for Breslow's ties.
#[test]
fn whole_weights_are_counts() {
    let z = [0.3, -0.2, 1.0, 0.5];
    let loss = Cox::new([1.0, 2.0, 3.0, 4.0], [true, false, true, true]).unwrap().ties(Ties::Breslow);
    let weighted = loss.clone().weighted([1.0, 1.0, 2.0, 1.0]).unwrap();
    let twice = loss.subset(&[0, 1, 2, 2, 3]).unwrap();
    assert!((weighted.value(&z) - twice.value(&[0.3, -0.2, 1.0, 1.0, 0.5])).abs() < 1e-12);
    assert_eq!(weighted.observations(), 4);
}

#[test]
fn hazards_far_apart_are_numbers() {
    let loss = Cox::new(TIMES, EVENTS).unwrap();
    for far in [1e2, 1e3, 1e5] {
        let z: Vec<f64> = (0..9).map(|i| if i % 2 == 0 { far } else { -far }).collect();
        let (mut r, mut h) = (vec![0.0; 9], vec![0.0; 9]);
        loss.gradient(&z, &mut r);
        loss.curvature(&z, &mut h);
        let curved = Curvature::new(vec![0.0; z.len()], loss.hessian(&z)).times(&z);
        assert!(loss.value(&z).is_finite() && r.iter().chain(&h).chain(&curved).all(|v| v.is_finite()), "{far}");
    }
}

#[test]
fn what_is_no_survival_is_named() {
    let told = |loss: Result<Cox, Error>, words: &str| {
        let error = loss.unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    };
    told(Cox::new([1.0, 0.0], [true, true]), "finite and above 0");
    told(Cox::new([1.0, -2.0], [true, true]), "finite and above 0");
    told(Cox::new([1.0, 2.0], [true]), "one for each time");
    told(Cox::new([1.0, 2.0], [false, false]), "must have an event");
    let loss = Cox::new([1.0, 2.0], [true, false]).unwrap();
    told(loss.clone().entries([0.0, 2.0]), "before the time of its row");
    told(loss.clone().strata([0]), "one for each time");
    told(loss.clone().weighted([0.0, 1.0]), "must have an event");
    told(loss.subset(&[1]), "must have an event");
    assert!(loss.separates(&[1.0, 0.0]) && !loss.separates(&[0.0, 1.0]));
}
