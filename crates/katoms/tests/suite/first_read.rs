//! One read that answers what a fit asks first: the same answers as reads of their own, and nothing hidden by it.

use katoms::driver::{Options, Run};
use katoms::loss::{LeastSquares, Logistic, Loss, Split};
use katoms::method::AcceleratedIht;
use katoms::operator::{ColumnMoments, Counted, Dense, FirstRead, Layout, LinearOperator};
use katoms::select::Preparation;
use katoms::set::{ConstraintSet, KSparse};
use katoms::{Objective, fit, simulate};

const LAYOUTS: [Layout; 2] = [Layout::ColumnMajor, Layout::RowMajor];

/// Numbers of which every fifth column is far from 0.
fn numbers(rows: usize, columns: usize) -> Vec<f64> {
    let mut x = simulate::gaussian(rows, columns, 4);
    x.iter_mut().step_by(5).for_each(|v| *v += 30.0);
    x
}

fn targets(rows: usize) -> (LeastSquares, Logistic) {
    let weights: Vec<f64> = (0..rows).map(|i| (i % 3) as f64).collect();
    let squares = LeastSquares::new((0..rows).map(|i| 50.0 + (i as f64).sin()).collect::<Vec<_>>()).unwrap();
    let classes = Logistic::new((0..rows).map(|i| (i % 4 / 3) as f64).collect::<Vec<_>>()).unwrap();
    (squares.weighted(weights.clone()).unwrap(), classes.weighted(weights).unwrap())
}

fn answers_agree(loss: &impl Split, intercept: bool, layout: Layout) {
    let (rows, columns) = (83, 47);
    let x = numbers(rows, columns);
    let first = FirstRead::of(loss, intercept);
    let known = Dense::with_layout(&x, rows, columns, layout, Some(&first)).unwrap();
    let plain = Dense::with_layout(&x, rows, columns, layout, None).unwrap();
    let weights = loss.weights().unwrap();
    assert_eq!(known.moments(weights), plain.moments(weights));
    let other = vec![1.0; rows];
    assert_eq!(known.moments(&other), plain.moments(&other));

    // The residual of the model without atoms, as a run comes to it.
    let preparation = Preparation { standardize: false, intercept, ridge: 0.0 };
    for residual in {
        let f = preparation.objective(&plain, loss, (0..rows).collect()).unwrap();
        let set = preparation.set(&KSparse::new(3, columns).unwrap(), loss).unwrap();
        let method = AcceleratedIht::for_structure(set.structure());
        let run = Run::new(&f, &set, &method, Options::for_set(&set)).unwrap();
        [f.residual(&f.at(run.iterate().clone())), simulate::gaussian(rows, 1, 9)]
    } {
        let (mut g, mut expected) = (known.new_covector(), plain.new_covector());
        known.adjoint(&residual, &mut g);
        plain.adjoint(&residual, &mut expected);
        for (g, expected) in g.iter().zip(&expected) {
            assert!((g - expected).abs() <= 1e-10 * (1.0 + expected.abs()), "{g} {expected}");
        }
        let mut block = [plain.new_covector()];
        known.adjoint_block(&[&residual], &mut block);
        assert_eq!(block, [g]);
    }
    assert!(
        known.knows_squared_norms(weights) && !known.knows_squared_norms(&other) && !plain.knows_squared_norms(weights)
    );
    let centres: Vec<f64> = (0..columns).map(|j| j as f64 * 0.1).collect();
    for (weights, centres) in [(weights, None), (weights, Some(&centres[..])), (&other[..], None)] {
        let [found, expected] = [&known, &plain].map(|a| a.squared_norms(&[weights], centres).unwrap().pop().unwrap());
        for (found, expected) in found.iter().zip(&expected) {
            assert!((found - expected).abs() <= 1e-12 * expected, "{found} {expected}");
        }
    }
}

#[test]
fn it_answers_as_reads_of_their_own_do() {
    let (squares, classes) = targets(83);
    for layout in LAYOUTS {
        for intercept in [true, false] {
            answers_agree(&squares, intercept, layout);
            answers_agree(&classes, intercept, layout);
        }
    }
}

/// Views ask for blocks of passes. A pass that is known is not made again for them: a residual that differs by rounding
/// gets the same answer.
#[test]
fn a_block_of_one_pass_is_what_is_known() {
    let (rows, columns) = (83, 47);
    let x = numbers(rows, columns);
    let loss = LeastSquares::new((0..rows).map(|i| (i as f64).sin()).collect::<Vec<_>>()).unwrap();
    let passes = |first: Option<&FirstRead>| {
        let a = Dense::with_layout(&x, rows, columns, Layout::ColumnMajor, first).unwrap();
        let mut residual = vec![0.0; rows];
        loss.gradient(&vec![0.0; rows], &mut residual);
        [0.0, f64::EPSILON].map(|rounding| {
            residual.iter_mut().for_each(|r| *r += rounding);
            let mut g = [a.new_covector()];
            a.adjoint_block(&[&residual], &mut g);
            g
        })
    };
    let [exact, rounded] = passes(Some(&FirstRead::of(&loss, false)));
    assert_eq!(exact, rounded);
    let [exact, rounded] = passes(None);
    assert_ne!(exact, rounded);
}

#[test]
fn what_is_not_finite_is_found_where_it_is() {
    let loss = LeastSquares::new(vec![1.0; 40]).unwrap();
    let first = FirstRead::of(&loss, true);
    for layout in LAYOUTS {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for at in [0, 17, 40 * 30 - 1] {
                let mut x = numbers(40, 30);
                x[at] = bad;
                let found = Dense::with_layout(&x, 40, 30, layout, Some(&first)).unwrap_err();
                let expected = Dense::with_layout(&x, 40, 30, layout, None).unwrap_err();
                assert_eq!(found.to_string(), expected.to_string());
            }
        }
        // Finite, but not when squared.
        let mut x = numbers(40, 30);
        x[3] = 1e300;
        assert!(Dense::with_layout(&x, 40, 30, layout, Some(&first)).is_ok());
        let error = Dense::with_layout(&x[..39 * 30], 39, 30, layout, Some(&first)).unwrap_err();
        assert!(error.to_string().contains("one value for each row"), "{error}");
    }
}

/// The pass with which a run has proven its end is not made again by the statement of quality after it.
#[test]
fn the_last_pass_of_a_run_serves_what_comes_after() {
    let x = simulate::gaussian(60, 200, 1);
    let y = simulate::noisy(&x[..60], 0.5, 1);
    let set = KSparse::new(2, 200).unwrap();
    let method = AcceleratedIht::for_structure(set.structure());
    let a = Counted::new(Dense::column_major(&x, 60, 200).unwrap());
    let f = Objective::new(&a, LeastSquares::new(y).unwrap()).unwrap();
    let mut run = Run::new(&f, &set, &method, Options::for_set(&set)).unwrap();
    while !run.is_done() {
        run.step();
    }
    assert!(a.take().passes > 1, "the run itself");
    assert!(run.outcome().quality.is_some());
    assert_eq!(a.take().passes, 1, "exchanges were tried, and the gradient was known");
}

/// A target that single precision has rounded is explained as well as the data can tell: no pass proves what is left.
#[test]
fn rounding_of_the_data_is_no_residual() {
    let (rows, columns) = (100, 400);
    let x: Vec<f32> = simulate::gaussian(rows, columns, 2).iter().map(|&v| v as f32).collect();
    let y: Vec<f64> = (0..rows).map(|i| f64::from(x[i] - 2.0 * x[7 * rows + i])).collect();
    let f = Objective::new(Dense::column_major(&x, rows, columns).unwrap(), LeastSquares::new(y).unwrap()).unwrap();
    let set = KSparse::new(2, columns).unwrap();
    let outcome = fit(&f, &set).unwrap();
    assert_eq!((outcome.point.indices(), outcome.passes), (&[0, 7][..], outcome.iterations));
    assert_eq!(outcome.quality.map(|q| q.stationarity), Some(0.0));
}
