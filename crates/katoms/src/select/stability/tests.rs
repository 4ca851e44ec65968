use proptest::prelude::*;

use super::*;
use crate::loss::{LeastSquares, Logistic};
use crate::method::AcceleratedIht;
use crate::operator::Dense;
use crate::set::{Groups, KSparse, Structure};
use crate::simulate;

const ROWS: usize = 161;
const COLUMNS: usize = 40;

fn method() -> AcceleratedIht {
    AcceleratedIht::for_structure(Structure::Coordinates)
}

/// Columns of different units and far from 0.
fn uneven(seed: u64) -> Vec<f64> {
    let mut data = simulate::normals(ROWS * COLUMNS, &mut generator(seed, 0));
    for (j, column) in data.chunks_mut(ROWS).enumerate() {
        let unit = 10_f64.powi(j as i32 % 5 - 2);
        column.iter_mut().for_each(|v| *v = unit * (*v + 3.0));
    }
    data
}

fn dense(data: &[f64]) -> Dense<'_, f64> {
    Dense::column_major(data, ROWS, COLUMNS).unwrap()
}

/// Predictions in which each atom has about the strength 1, whatever its unit.
fn clean(design: &impl LinearOperator<Point = SparseVec>, atoms: &[usize]) -> Vec<f64> {
    let values = atoms.iter().map(|&j| 10_f64.powi(2 - j as i32 % 5)).collect();
    let mut out = vec![0.0; ROWS];
    design.apply(&SparseVec::new(COLUMNS, atoms.to_vec(), values).unwrap(), &mut out);
    out
}

fn noisy_target(design: &impl LinearOperator<Point = SparseVec>, atoms: &[usize], noise: f64) -> LeastSquares {
    let y = simulate::noisy(&clean(design, atoms), noise, 1);
    LeastSquares::new(y.into_iter().map(|v| v - 50.0).collect::<Vec<_>>()).unwrap()
}

/// The atoms of each fit and its passes, one fit after the other.
fn one_by_one<A, L, S>(design: &A, loss: &L, set: &S, options: &Stability) -> (Vec<Vec<usize>>, Vec<usize>)
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>> + ColumnMoments,
    L: Split,
    S: CoordinateSet,
{
    let (preparation, method) = (options.preparation(), method());
    let prepared = preparation.set(set, loss).unwrap();
    let fit = |half| {
        let f = preparation.objective(design, loss, half).unwrap();
        let mut run = Run::new(&f, &prepared, &method, Options::for_set(&prepared)).unwrap();
        while !run.is_done() {
            run.step();
        }
        let outcome = run.outcome_unchecked();
        (prepared.chosen(&outcome.point), outcome.passes)
    };
    options.halves(loss).unwrap().into_iter().map(fit).unzip()
}

fn frequencies(chosen: &[Vec<usize>], atoms: usize) -> Vec<f64> {
    let times = |atom| chosen.iter().filter(|fit| fit.contains(&atom)).count();
    (0..atoms).map(|atom| times(atom) as f64 / chosen.len() as f64).collect()
}

#[test]
fn planted_atoms_are_chosen_every_time_and_others_seldom() {
    let data = uneven(0);
    let (design, planted) = (dense(&data), [4, 11, 22]);
    let loss = noisy_target(&design, &planted, 0.5);
    let set = KSparse::new(5, COLUMNS).unwrap();
    let selected = stability(&design, &loss, &set, &method(), &Stability::default()).unwrap();
    assert_eq!((selected.samples, selected.converged), (50, 50));
    assert_eq!((selected.atoms, selected.choices), (5, COLUMNS));
    assert_eq!(selected.above(0.95), planted);
    assert_eq!(selected.above(0.6), planted, "{:?}", selected.frequencies);
    let total: f64 = selected.frequencies.iter().sum();
    assert!((total - 5.0).abs() < 1e-12, "five atoms in each fit: {total}");
    for frequency in &selected.frequencies {
        let times = frequency * 50.0;
        assert!((times - times.round()).abs() < 1e-12, "{frequency}");
    }
    assert_eq!(selected.expected_false(1.0).unwrap(), 25.0 / 40.0);
}

/// Without its own centres and scales a sample would choose by unit.
#[test]
fn every_preparation_is_the_same_fits_one_by_one() {
    let data = uneven(1);
    let design = dense(&data);
    let loss = noisy_target(&design, &[4, 11, 22], 2.0);
    let set = KSparse::new(4, COLUMNS).unwrap();
    let mut seen = Vec::new();
    for (standardize, intercept) in [(true, true), (true, false), (false, true), (false, false)] {
        let options = Stability { pairs: 6, seed: 3, standardize, intercept, ridge: 0.5, ..Stability::default() };
        let selected = stability(&design, &loss, &set, &method(), &options).unwrap();
        let (chosen, passes) = one_by_one(&design, &loss, &set, &options);
        assert_eq!(selected.frequencies, frequencies(&chosen, COLUMNS));
        assert_eq!(selected.passes, passes.into_iter().max().unwrap());
        seen.push(selected.frequencies);
    }
    assert_ne!(seen[0], seen[2], "the units are uneven");
}

#[test]
fn groups_are_chosen_as_groups() {
    let data = uneven(3);
    let design = dense(&data);
    let loss = noisy_target(&design, &[8, 9, 10, 11, 32, 33], 0.5);
    // The last two columns belong to none.
    let members: Vec<Vec<usize>> = (0..19).map(|g| vec![2 * g, 2 * g + 1]).collect();
    let set = Groups::new(3, COLUMNS, members).unwrap();
    let options = Stability { pairs: 10, ..Stability::default() };
    let selected = stability(&design, &loss, &set, &method(), &options).unwrap();
    assert_eq!((selected.frequencies.len(), selected.choices), (19, 19));
    assert_eq!(selected.above(0.9), [4, 5, 16]);
    assert_eq!(selected.frequencies, frequencies(&one_by_one(&design, &loss, &set, &options).0, 19));
}

#[test]
fn what_a_set_always_keeps_is_nobodys_choice() {
    let data = uneven(4);
    let design = dense(&data);
    let loss = noisy_target(&design, &[4, 11, 22], 0.5);
    let set = Always::new(KSparse::new(2, COLUMNS).unwrap(), vec![11]).unwrap();
    let options = Stability { pairs: 5, ..Stability::default() };
    let selected = stability(&design, &loss, &set, &method(), &options).unwrap();
    assert_eq!(selected.above(0.9), [4, 22]);
    assert_eq!((selected.frequencies[11], selected.choices), (0.0, COLUMNS - 1));
}

#[test]
fn classes_are_told_apart_with_an_intercept() {
    let data = uneven(5);
    let design = dense(&data);
    let odds: Vec<f64> = clean(&design, &[4, 22]).iter().map(|z| 2.5 * (z - 6.0) - 1.5).collect();
    let loss = Logistic::new(simulate::labels(&odds, 5)).unwrap();
    let ones = loss.classes().unwrap().iter().filter(|&&y| y == 1.0).count();
    assert!((20..70).contains(&ones), "the classes are uneven: {ones}");
    let set = KSparse::new(2, COLUMNS).unwrap();
    let options = Stability { pairs: 10, ridge: 0.1, ..Stability::default() };
    let selected = stability(&design, &loss, &set, &method(), &options).unwrap();
    assert_eq!(selected.above(0.9), [4, 22], "{:?}", selected.frequencies);
    assert_eq!(selected.frequencies, frequencies(&one_by_one(&design, &loss, &set, &options).0, COLUMNS));
}

#[test]
fn a_seed_names_the_half_samples() {
    let data = uneven(6);
    let design = dense(&data);
    let loss = noisy_target(&design, &[4, 11, 22], 3.0);
    let set = KSparse::new(6, COLUMNS).unwrap();
    let run = |seed| {
        let options = Stability { pairs: 4, seed, ..Stability::default() };
        stability(&design, &loss, &set, &method(), &options).unwrap()
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1).frequencies, run(2).frequencies);
    let halves = |pairs, seed| Stability { pairs, seed, ..Stability::default() }.halves(&loss).unwrap();
    assert_eq!(halves(2, 1), halves(4, 1)[..4], "more pairs keep the first ones");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn pairs_share_no_row_and_classes_are_halved(zeros in 2..20_usize, ones in 2..20_usize, seed: u64) {
        let labels: Vec<f64> = (0..zeros + ones).map(|i| f64::from(u8::from(i >= zeros))).collect();
        let options = Stability { pairs: 3, seed, ..Stability::default() };
        let plain = options.halves(&LeastSquares::new(labels.clone()).unwrap()).unwrap();
        let halved = options.halves(&Logistic::new(labels).unwrap()).unwrap();
        prop_assert_eq!((plain.len(), halved.len()), (6, 6));
        for pair in plain.chunks(2).chain(halved.chunks(2)) {
            prop_assert!(pair.iter().all(|half| half.len() == (zeros + ones) / 2));
            prop_assert!(pair.iter().all(|half| half.windows(2).all(|w| w[0] < w[1])));
            prop_assert!(pair[0].iter().all(|row| !pair[1].contains(row)));
        }
        for half in halved {
            let lows = half.iter().filter(|&&row| row < zeros).count();
            prop_assert!(lows >= 1 && lows < half.len());
            // One row off where a size is odd.
            prop_assert!((2 * lows).abs_diff(zeros) <= 2, "{lows} of {zeros}");
        }
    }
}

#[test]
fn what_makes_no_sense_is_named() {
    let data = uneven(7);
    let design = dense(&data);
    let loss = noisy_target(&design, &[4], 0.5);
    let set = KSparse::new(2, COLUMNS).unwrap();
    let refused = |options: Stability| stability(&design, &loss, &set, &method(), &options).unwrap_err().to_string();
    let pairs = refused(Stability { pairs: 0, ..Stability::default() });
    assert_eq!(pairs, "option pairs is 0; at least one pair of half-samples is needed");
    let ridge = refused(Stability { ridge: -1.0, ..Stability::default() });
    assert_eq!(ridge, "option ridge is -1; it must be finite and at least 0");
    let stop = Stop { iterations: 0, ..Stop::default() };
    assert!(refused(Stability { stop, ..Stability::default() }).starts_with("the cap on iterations is 0"));

    let options = Stability::default();
    let other = KSparse::new(2, COLUMNS + 1).unwrap();
    let domain = Error::Domain { operator: "40".to_string(), set: "41".to_string() };
    assert_eq!(stability(&design, &loss, &other, &method(), &options).unwrap_err(), domain);
    let short = LeastSquares::new(vec![1.0; ROWS - 1]).unwrap();
    let error = stability(&design, &short, &set, &method(), &options).unwrap_err();
    assert!(matches!(error, Error::Length { found: 160, expected: 161, .. }), "{error}");
    let mut labels = vec![0.0; ROWS];
    labels[7] = 1.0;
    let error = stability(&design, &Logistic::new(labels).unwrap(), &set, &method(), &options).unwrap_err();
    assert_eq!(error, Error::LonelyClass { class: 1.0, row: 7 });
}

#[test]
fn half_samples_need_a_row_for_each_coefficient() {
    let data = uneven(8);
    let few = |rows: usize, k, intercept| {
        let design = Dense::column_major(&data[..rows * COLUMNS], rows, COLUMNS).unwrap();
        let loss = LeastSquares::new(simulate::normals(rows, &mut generator(8, 1))).unwrap();
        let options = Stability { pairs: 2, intercept, ..Stability::default() };
        stability(&design, &loss, &KSparse::new(k, COLUMNS).unwrap(), &method(), &options)
    };
    assert!(few(21, 9, true).is_ok() && few(21, 10, false).is_ok());
    let message = "a half-sample has 10 rows, but at least 11 are needed: \
                   one for each coefficient of a fit; ask for fewer atoms or give more data";
    assert_eq!(few(21, 10, true).unwrap_err().to_string(), message);
    assert!(few(21, 11, false).is_err() && few(3, 1, false).is_err() && few(1, 1, false).is_err());
}

#[test]
fn a_threshold_of_one_half_says_nothing() {
    let (frequencies, samples, converged, passes) = (vec![0.6, 0.5], 10, 10, 3);
    let selected = Selected { frequencies, samples, converged, passes, atoms: 1, choices: 2 };
    assert_eq!((selected.above(0.6), selected.above(0.5)), (vec![0], vec![0, 1]));
    for threshold in [0.5, 1.1, f64::NAN] {
        let error = selected.expected_false(threshold).unwrap_err();
        assert!(matches!(error, Error::Option { name: "threshold", .. }));
    }
    assert_eq!(selected.expected_false(0.75).unwrap(), 1.0);
}
