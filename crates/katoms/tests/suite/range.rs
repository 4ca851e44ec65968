//! Numbers near the ends of the range of double precision: the library computes with them, or refuses them; an answer that
//! says that it converged is right.

use katoms::linalg::times_power_of_two as power;
use katoms::loss::{LeastSquares, Logistic};
use katoms::operator::{AnyDesign, Csc, Dense, FirstRead, Layout, LinearOperator, MatrixFree, Standardized};
use katoms::select::{CrossValidation, Folds, Preparation, cross_validate};
use katoms::set::KSparse;
use katoms::simulate::{gaussian, generator, noisy, normals};
use katoms::space::SparseVec;
use katoms::{Error, Objective, Status, fit};

const ROWS: usize = 30;
const COLUMNS: usize = 7;

fn times(values: &[f64], e: i32) -> Vec<f64> {
    values.iter().map(|&v| power(v, e)).collect()
}

/// A design, and a target of two of its columns.
fn planted(seed: u64) -> (Vec<f64>, Vec<f64>) {
    let x: Vec<f64> = gaussian(ROWS, COLUMNS, seed).iter().map(|v| 3.0 * v).collect();
    let clean: Vec<f64> = (0..ROWS).map(|i| 2.0 * x[i] - 3.0 * x[4 * ROWS + i]).collect();
    (x, noisy(&clean, 0.1, seed))
}

fn exponents(seed: u64) -> impl Iterator<Item = i32> {
    let draws = normals(12, &mut generator(seed, 40));
    draws.into_iter().map(|v| (v * 400.0) as i32).filter(|e| e.abs() <= 1000).chain([-1000, 1000, -201, 201])
}

#[test]
fn a_fit_that_converged_is_right_whatever_the_units() {
    let set = KSparse::new(2, COLUMNS).unwrap();
    let mut refused = 0;
    for seed in 0..20 {
        let (x, y) = planted(seed);
        let answer = |x: &[f64], y: &[f64]| {
            let f = Objective::new(Dense::column_major(x, ROWS, COLUMNS)?, LeastSquares::new(y)?)?;
            fit(&f, &set)
        };
        let plain = answer(&x, &y).unwrap();
        assert_eq!((plain.point.indices(), plain.status), (&[0, 4][..], Status::Converged));
        for (of_x, of_y) in exponents(seed).flat_map(|e| [(e, 0), (0, e), (e, -e), (-e, e / 2)]) {
            match answer(&times(&x, of_x), &times(&y, of_y)) {
                Ok(found) if found.status == Status::Converged => {
                    let right = plain.point.map(|_, v| power(v, of_y - of_x));
                    assert_eq!(found.point, right, "columns times 2^{of_x}, target times 2^{of_y}");
                }
                Ok(found) => assert_eq!(found.status, Status::Diverged, "2^{of_x}, 2^{of_y}"),
                Err(error) => {
                    refused += 1;
                    assert!(matches!(error, Error::Magnitude { .. }), "{error}");
                    assert!(of_x.abs() > 190 || of_y.abs() > 400, "2^{of_x}, 2^{of_y}: {error}");
                }
            }
        }
    }
    assert!(refused > 100, "{refused}");
}

#[test]
fn columns_whose_squares_are_no_numbers_are_named() {
    let (x, y) = planted(1);
    let loss = LeastSquares::new(y.clone()).unwrap();
    for (e, size) in [(-900, 'e'), (-400, 'e'), (400, 'e'), (900, 'e')] {
        let mut x = x.clone();
        x[4 * ROWS..5 * ROWS].iter_mut().for_each(|v| *v = power(*v, e));
        let by_rows: Vec<f64> = (0..x.len()).map(|at| x[at % COLUMNS * ROWS + at / COLUMNS]).collect();
        let starts: Vec<usize> = (0..=COLUMNS).map(|j| j * ROWS).collect();
        let indices: Vec<u32> = (0..x.len()).map(|at| (at % ROWS) as u32).collect();
        let first = FirstRead::of(&loss, true);
        let designs: [AnyDesign<'_>; 5] = [
            Dense::column_major(&x, ROWS, COLUMNS).unwrap().into(),
            Dense::row_major(&by_rows, ROWS, COLUMNS).unwrap().into(),
            Csc::new(ROWS, COLUMNS, starts, indices, x.clone()).unwrap().into(),
            Dense::with_layout(&x, ROWS, COLUMNS, Layout::ColumnMajor, Some(&first)).unwrap().into(),
            Dense::with_layout(&by_rows, ROWS, COLUMNS, Layout::RowMajor, Some(&first)).unwrap().into(),
        ];
        for design in &designs {
            assert_eq!(design.extremes().iter().map(|c| c.column).collect::<Vec<_>>(), [4]);
            let told = [
                Objective::new(design, loss.clone()).map(|_| ()).unwrap_err(),
                Preparation::default().objective(design, &loss, (0..ROWS).collect()).map(|_| ()).unwrap_err(),
                Standardized::fit(design, &[1.0; ROWS]).map(|_| ()).unwrap_err(),
                cross_validate(
                    design,
                    &loss,
                    &KSparse::new(1, COLUMNS).unwrap(),
                    &Folds::random(ROWS, 3, 1).unwrap(),
                    &CrossValidation::new(1..=2),
                )
                .map(|_| ())
                .unwrap_err(),
            ];
            for error in told {
                let said = error.to_string();
                assert!(said.starts_with("column 4 of the design (counted from 0)") && said.contains(size), "{said}");
                assert!(said.contains("multiply the column by a power of two"), "{said}");
            }
        }
        // Powers of two that are taken off give the design back.
        let exponents: Vec<i32> = (0..COLUMNS).map(|j| if j == 4 { -e } else { 0 }).collect();
        for design in &designs {
            let moderate = design.scaled(&exponents, &first).unwrap();
            assert!(moderate.extremes().is_empty());
            let (mut one, mut other) = (vec![0.0; COLUMNS], vec![0.0; COLUMNS]);
            moderate.adjoint(&y, &mut one);
            design.adjoint(&y, &mut other);
            other[4] = power(other[4], -e);
            assert_eq!(one, other);
        }
    }
}

/// A column of zeros, a constant one, and one whose small numbers stand beside others are as good as any.
#[test]
fn columns_of_zeros_are_moderate() {
    let (mut x, y) = planted(2);
    x[ROWS..2 * ROWS].fill(0.0);
    x[2 * ROWS..3 * ROWS].fill(1e-3);
    x[3 * ROWS + 5] = 1e-300;
    let loss = LeastSquares::new(y).unwrap();
    let first = FirstRead::of(&loss, true);
    for first in [None, Some(&first)] {
        let design = Dense::with_layout(&x, ROWS, COLUMNS, Layout::ColumnMajor, first).unwrap();
        assert!(design.extremes().is_empty());
        let preparation = Preparation::default();
        let f = preparation.objective(&design, &loss, (0..ROWS).collect()).unwrap();
        let found = fit(&f, &preparation.set(&KSparse::new(2, COLUMNS).unwrap(), f.loss()).unwrap()).unwrap();
        assert_eq!(f.operator().to_original(&found.point).0.indices(), [0, 4]);
    }
}

/// What rows without a weight hold counts for nothing; what the rows of a sample hold must be squared.
#[test]
fn samples_are_judged_by_their_own_rows() {
    let (mut x, y) = planted(3);
    // Column 1 is 0 but for one row, column 5 next to nothing in half of the rows.
    x[ROWS..2 * ROWS].fill(0.0);
    x[ROWS + 3] = 1.0;
    x[5 * ROWS..5 * ROWS + ROWS / 2].iter_mut().for_each(|v| *v *= 1e-180);
    let design = Dense::column_major(&x, ROWS, COLUMNS).unwrap();
    assert!(design.extremes().is_empty());
    let weights: Vec<f64> = (0..ROWS).map(|i| if i == 3 { 0.0 } else { 1.0 }).collect();
    let loss = LeastSquares::new(y).unwrap();
    let preparation = Preparation::default();
    let weighted = loss.clone().weighted(weights).unwrap();
    assert!(preparation.objective(&design, &weighted, (0..ROWS).collect()).is_ok());
    let error = preparation.objective(&design, &loss, (0..ROWS / 2).collect()).map(|_| ()).unwrap_err();
    assert!(error.to_string().starts_with("column 5 of the design"), "{error}");
    assert!(preparation.objective(&design, &loss, (ROWS / 2..ROWS).collect()).is_ok());
}

#[test]
fn losses_whose_squares_are_no_numbers_are_refused() {
    let (x, y) = planted(4);
    let design = Dense::column_major(&x, ROWS, COLUMNS).unwrap();
    for e in [-1000, -600, 600, 1000] {
        let error = Objective::new(&design, LeastSquares::new(times(&y, e)).unwrap()).map(|_| ()).unwrap_err();
        assert!(error.to_string().contains("multiply the target or the weights"), "{error}");
    }
    let labels: Vec<f64> = y.iter().map(|&v| f64::from(u8::from(v > 0.0))).collect();
    for weight in [1e-300, 1e303] {
        let loss = Logistic::new(labels.clone()).unwrap().weighted(vec![weight; ROWS]).unwrap();
        let error = Objective::new(&design, loss).map(|_| ()).unwrap_err();
        assert!(error.to_string().contains("multiply the target or the weights"), "{error}");
    }
    // nothing to explain is no reason
    assert!(Objective::new(&design, LeastSquares::new(vec![0.0; ROWS]).unwrap()).is_ok());
}

/// An operator without a matrix tells nothing of its columns before it is asked.
#[test]
fn moments_that_are_no_numbers_are_refused_without_a_matrix_too() {
    let (x, _) = planted(5);
    for (e, refused) in [(0, false), (-400, true), (700, true)] {
        let data = times(&x, e);
        let (forward, backward) = (data.clone(), data);
        let operator = MatrixFree::new(
            (ROWS, COLUMNS),
            move |x, out| {
                let a = Dense::column_major(&forward, ROWS, COLUMNS).unwrap();
                a.apply(&SparseVec::full(x), out);
            },
            move |r, out| {
                let a = Dense::column_major(&backward, ROWS, COLUMNS).unwrap();
                let mut g = a.new_covector();
                a.adjoint(r, &mut g);
                out.copy_from_slice(&g);
            },
        )
        .unwrap();
        let fitted = Standardized::fit(&operator, &[1.0; ROWS]);
        assert_eq!(fitted.is_err(), refused, "2^{e}");
    }
}
