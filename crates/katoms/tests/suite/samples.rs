//! Prepared samples: copies without the copy, and fits that know nothing of the other rows.

use crate::contract::{apply, dense, holds, naive_moments, near, random_matrix};
use katoms::Error;
use katoms::linalg::Matrix;
use katoms::loss::LeastSquares;
use katoms::operator::LinearOperator;
use katoms::select::Preparation;
use katoms::set::{ConstraintSet, CoordinateSet, Groups, KSparse};
use katoms::space::SparseVec;
use katoms::{fit, simulate};

const PICKED: [usize; 7] = [4, 0, 8, 4, 5, 1, 0];

fn target(rows: usize) -> LeastSquares {
    LeastSquares::new(simulate::normals(rows, &mut simulate::generator(1, 9))).unwrap()
}

/// What a sample stands for, written out.
fn copy(m: &Matrix, rows: &[usize], weights: &[f64], preparation: &Preparation) -> Matrix {
    let picked = Matrix::from_fn(rows.len(), m.columns(), |i, j| m.at(rows[i], j));
    let moments = naive_moments(&picked, weights);
    let scaled = |i, j| match (preparation.standardize, preparation.intercept) {
        (true, true) => (picked.at(i, j) - moments.means[j]) / moments.variances[j].sqrt(),
        (true, false) => picked.at(i, j) / (moments.means[j].powi(2) + moments.variances[j]).sqrt(),
        (false, _) => picked.at(i, j),
    };
    let columns = m.columns() + usize::from(preparation.intercept);
    Matrix::from_fn(rows.len(), columns, |i, j| if j < m.columns() { scaled(i, j) } else { 1.0 })
}

fn preparations() -> impl Iterator<Item = Preparation> {
    let choices = [(true, true), (true, false), (false, true), (false, false)];
    choices.into_iter().map(|(standardize, intercept)| Preparation { standardize, intercept, ridge: 0.25 })
}

#[test]
fn every_sample_is_its_copy() {
    let m = random_matrix(9, 6, 1);
    let design = dense(&m);
    let weights = vec![0.5, 2.0, 1.0, 1.0, 3.0, 0.0, 1.0, 1.0, 0.25];
    let picked: Vec<f64> = PICKED.iter().map(|&i| weights[i]).collect();
    for preparation in preparations() {
        let f = preparation.objective(&design, &target(9), PICKED.to_vec()).unwrap();
        holds(f.operator(), &copy(&m, &PICKED, &[1.0; 7], &preparation));
        let loss = target(9).weighted(weights.clone()).unwrap();
        let f = preparation.objective(&design, &loss, PICKED.to_vec()).unwrap();
        holds(f.operator(), &copy(&m, &PICKED, &picked, &preparation));
        assert_eq!(f.ridge_weight(), 0.25);
    }
}

#[test]
fn a_point_in_the_units_of_the_design_predicts_the_same_and_comes_back() {
    let m = random_matrix(9, 6, 2);
    let design = dense(&m);
    for preparation in preparations() {
        let f = preparation.objective(&design, &target(9), PICKED.to_vec()).unwrap();
        let x = simulate::sparse_signal(f.operator().domain(), 5, 3);
        let (coefficients, constants) = f.operator().to_original(&x);
        assert_eq!(coefficients.dim(), 6);
        let all = apply(&design, &coefficients);
        let predictions: Vec<f64> = PICKED.iter().map(|&i| all[i] + constants[0]).collect();
        near(&predictions, &apply(f.operator(), &x), 10.0);
        let back = f.operator().from_original(&coefficients, &constants).unwrap();
        near(&back.to_dense(), &x.to_dense(), 10.0);
        let error = f.operator().from_original(&SparseVec::full(&[1.0; 4]), &[0.0]).unwrap_err();
        let told = "start has length 4, but 6 is needed (one coefficient for each column of the design)";
        assert_eq!(error.to_string(), told);
        assert!(f.operator().from_original(&coefficients, &[f64::NAN]).unwrap_err().to_string().contains("finite"));
    }
}

#[test]
fn sets_keep_the_numbers_of_their_atoms() {
    let k_sparse = KSparse::new(2, 6).unwrap();
    let groups = Groups::new(1, 6, vec![vec![0, 5], vec![2, 3]]).unwrap();
    for preparation in preparations() {
        let dim = 6 + usize::from(preparation.intercept);
        let set = preparation.set(&k_sparse, &target(9)).unwrap();
        assert_eq!((set.domain(), set.atoms()), (dim, 2));
        let mut x = simulate::sparse_signal(dim, dim, 1).to_dense();
        x[2] = 7.0;
        x[5] = -8.0;
        let projected = set.project(SparseVec::full(&x));
        assert_eq!(set.chosen(&projected), [2, 5]);
        assert_eq!(projected.indices().len(), 2 + usize::from(preparation.intercept));
        let set = preparation.set(&groups, &target(9)).unwrap();
        assert_eq!(set.chosen(&set.project(SparseVec::full(&x))), [0]);
    }
}

/// The ridge shrinks what is standardised, never the intercept: units and origins change nothing.
#[test]
fn units_and_origins_change_nothing() {
    let m = random_matrix(30, 5, 4);
    let moved = Matrix::from_fn(30, 5, |i, j| 10_f64.powi(j as i32) * m.at(i, j) + 5.0);
    let y = simulate::normals(30, &mut simulate::generator(2, 9));
    let mean = y[..20].iter().sum::<f64>() / 20.0;
    let far: Vec<f64> = y.iter().map(|v| v + 1000.0).collect();
    let preparation = Preparation { ridge: 3.0, ..Preparation::default() };
    let rows: Vec<usize> = (0..20).collect();
    let set = preparation.set(&KSparse::new(2, 5).unwrap(), &target(30)).unwrap();
    let (here, there) = (dense(&m), dense(&moved));
    let f = preparation.objective(&here, &LeastSquares::new(y).unwrap(), rows.clone()).unwrap();
    let g = preparation.objective(&there, &LeastSquares::new(far).unwrap(), rows).unwrap();
    let (x, z) = (fit(&f, &set).unwrap().point, fit(&g, &set).unwrap().point);
    assert_eq!(x.indices(), z.indices());
    assert_eq!(x.indices().len(), 3);
    for &j in &x.indices()[..2] {
        assert!((x.value_at(j) - z.value_at(j)).abs() < 1e-9);
    }
    assert!((z.value_at(5) - x.value_at(5) - 1000.0).abs() < 1e-9);
    // With centred columns the free intercept is the mean, whatever the ridge.
    assert!((x.value_at(5) - mean).abs() < 1e-9);
}

/// Without an intercept nothing is centred: a row of zeros has the prediction 0, and units change nothing.
#[test]
fn without_an_intercept_columns_are_scaled_about_zero() {
    let m = random_matrix(30, 6, 4);
    // far from zero, in other units; the last column is zero throughout
    let moved =
        |unit: f64| Matrix::from_fn(30, 6, |i, j| if j == 5 { 0.0 } else { unit.powi(j as i32) * (m.at(i, j) + 3.0) });
    let y: Vec<f64> = (0..30).map(|i| 2.0 * m.at(i, 1) - m.at(i, 3) + 1.0).collect();
    let preparation = Preparation { ridge: 2.0, intercept: false, ..Preparation::default() };
    let set = preparation.set(&KSparse::new(2, 6).unwrap(), &target(30)).unwrap();
    let mut fits = Vec::new();
    for unit in [1.0, 10.0] {
        let copy = moved(unit);
        let design = dense(&copy);
        let f = preparation.objective(&design, &LeastSquares::new(y.clone()).unwrap(), (0..30).collect()).unwrap();
        assert_eq!(f.operator().to_original(&f.at(SparseVec::full(&[1.0; 6])).into_point()).1, [0.0]);
        let outcome = fit(&f, &set).unwrap();
        let (coefficients, constants) = f.operator().to_original(&outcome.point);
        assert_eq!(constants[0].to_bits(), 0.0_f64.to_bits());
        assert_eq!(coefficients.value_at(5), 0.0);
        fits.push((coefficients.map(|j, v| v * unit.powi(j as i32)), outcome.objective));
    }
    assert_eq!(fits[0].0.indices(), fits[1].0.indices());
    near(fits[0].0.values(), fits[1].0.values(), 1e4);
    assert!((fits[0].1 - fits[1].1).abs() < 1e-10 * fits[0].1);
}

#[test]
fn samples_that_cannot_be_are_named() {
    let m = random_matrix(9, 6, 6);
    let design = dense(&m);
    let (ready, loss) = (Preparation::default(), target(9));
    let error = ready.objective(&design, &target(8), vec![0, 1]).unwrap_err();
    assert!(matches!(error, Error::Length { what: "target", found: 8, expected: 9, .. }));
    let error = ready.objective(&design, &loss, vec![0, 9]).unwrap_err();
    assert_eq!(error, Error::Index { what: "row", position: 1, index: 9, bound: 9 });
    assert!(ready.objective(&design, &loss, vec![]).is_err());
    let error = Preparation { ridge: f64::NAN, ..ready }.objective(&design, &loss, vec![0, 1]).unwrap_err();
    assert!(matches!(error, Error::Option { name: "ridge", .. }));
    let mut weights = vec![0.0; 9];
    weights[8] = 1.0;
    let error = ready.objective(&design, &loss.weighted(weights).unwrap(), vec![2, 3]).unwrap_err();
    assert!(matches!(error, Error::Value { what: "list of sample weights", index: 2, .. }));
}
