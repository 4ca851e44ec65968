//! Features that predict a target: ranges of sizes, starts, bounds.

use katoms::loss::{AnyLoss, LeastSquares, Logistic};
use katoms::operator::{AnyDesign, Dense, LinearOperator};
use katoms::select::{Bounds, Folds, Preparation};
use katoms::set::{AnyAtoms, KSparse};
use katoms::simulate::{autoregressive, labels, noisy, sparse_signal};
use katoms::space::SparseVec;
use katoms::{Error, Status};
use katoms_estimate::{Answer, Features, How, Progress, Unwatched};

const ROWS: usize = 60;
const COLUMNS: usize = 20;

/// Correlated columns in uneven units, some of them far from 0.
fn columns() -> Vec<f64> {
    let mut data = autoregressive(ROWS, COLUMNS, 0.5, 3);
    for (j, column) in data.chunks_mut(ROWS).enumerate() {
        column.iter_mut().for_each(|v| *v = (*v + 2.0) * 10_f64.powi((j % 3) as i32 - 1));
    }
    data
}

/// A linear function of five columns, five above 0.
fn clean(design: &AnyDesign<'_>) -> Vec<f64> {
    let signal = sparse_signal(COLUMNS, 5, 3).map(|j, v| v / 10_f64.powi((j % 3) as i32 - 1));
    let mut z = vec![0.0; ROWS];
    design.apply(&signal, &mut z);
    z.iter().map(|z| z + 5.0).collect()
}

fn losses(design: &AnyDesign<'_>) -> [AnyLoss; 2] {
    let clean = clean(design);
    let middle = clean.iter().sum::<f64>() / ROWS as f64;
    let centred: Vec<f64> = clean.iter().map(|z| z - middle).collect();
    [LeastSquares::new(noisy(&clean, 1.0, 3)).unwrap().into(), Logistic::new(labels(&centred, 3)).unwrap().into()]
}

fn dense(data: &[f64], rows: usize) -> AnyDesign<'_> {
    Dense::column_major(data, rows, data.len() / rows).unwrap().into()
}

fn features<'a>(design: &'a AnyDesign<'a>, loss: AnyLoss, preparation: Preparation) -> Features<'a> {
    let atoms = AnyAtoms::Coordinates(KSparse::new(1, design.domain()).unwrap());
    Features::new(design, loss, atoms, Vec::new(), preparation).unwrap()
}

#[test]
fn a_range_of_sizes_counts_observations() {
    let data = columns();
    let design = dense(&data, ROWS);
    let sizes = |loss: LeastSquares| features(&design, loss.into(), Preparation::default()).default_sizes();
    let plain = LeastSquares::new(noisy(&clean(&design), 1.0, 3)).unwrap();
    // 60/(ln ln 60 · ln 20) = 14.2 for 60 rows of 20 columns
    assert_eq!(sizes(plain.clone()), (1..=14).collect::<Vec<_>>());
    // what the weights count; precisions count rows
    let halves: Vec<f64> = (0..ROWS).map(|i| (i % 2) as f64).collect();
    assert_eq!(sizes(plain.clone().weighted(halves).unwrap()), (1..=8).collect::<Vec<_>>());
    let (counts, precise) = (vec![3.0; ROWS], vec![0.01; ROWS]);
    assert_eq!(sizes(plain.clone().weighted(counts).unwrap()).len(), 20);
    assert_eq!(sizes(plain.weighted(precise).unwrap()).len(), 14);
    let few = dense(&data[..2 * COLUMNS], 2);
    let loss = LeastSquares::new(vec![1.0, 2.0]).unwrap();
    assert_eq!(features(&few, loss.into(), Preparation::default()).default_sizes(), [1]);
}

/// From its own answer a fit has nowhere to go.
#[test]
fn a_start_at_the_answer_is_the_answer() {
    let data = columns();
    let design = dense(&data, ROWS);
    for loss in losses(&design) {
        for intercept in [true, false] {
            let features = features(&design, loss.clone(), Preparation { intercept, ..Preparation::default() });
            let cold = features.fit(5, &How::default(), &mut Unwatched).unwrap();
            let start = Some((cold.coefficients.clone(), cold.intercept));
            let warm = features.fit(5, &How { start, ..How::default() }, &mut Unwatched).unwrap();
            assert_eq!(warm.coefficients.indices(), cold.coefficients.indices());
            assert!((warm.objective - cold.objective).abs() <= 1e-9 * cold.objective);
            assert!(warm.iterations <= cold.iterations, "{} {}", warm.iterations, cold.iterations);
        }
    }
}

#[test]
fn starts_that_do_not_fit_are_named() {
    let data = columns();
    let design = dense(&data, ROWS);
    let [squares, _] = losses(&design);
    let features = features(&design, squares, Preparation::default());
    let told = |how: How| features.fit(3, &how, &mut Unwatched).unwrap_err().to_string();
    let short = How { start: Some((SparseVec::full(&[1.0, 2.0]), 0.0)), ..How::default() };
    assert_eq!(told(short), "start has length 2, but 20 is needed (one coefficient for each column of the design)");
    let endless = How { start: Some((SparseVec::full(&[1.0; COLUMNS]), f64::INFINITY)), ..How::default() };
    assert!(told(endless).contains("intercept of the start is inf; it must be finite"));
    let both = How { start: Some((SparseVec::full(&[1.0; COLUMNS]), 0.0)), resume: Some(vec![1]), ..How::default() };
    assert!(told(both).contains("leave out either the start or the saved state"));
}

/// Bounds are in the units of the data, whatever the fit does to the columns.
#[test]
fn every_coefficient_lies_within_its_bounds() {
    let data = columns();
    let design = dense(&data, ROWS);
    let folds = Folds::random(ROWS, 4, 1).unwrap();
    let upper: Vec<f64> = (0..COLUMNS).map(|j| 0.3 / 10_f64.powi((j % 3) as i32 - 1)).collect();
    let bounds = Bounds::new(upper.iter().map(|v| -v).collect::<Vec<_>>(), upper.clone()).unwrap();
    for loss in losses(&design) {
        let mut objectives = Vec::new();
        for (standardize, intercept) in [(true, true), (false, true), (true, false)] {
            let preparation = Preparation { standardize, intercept, ridge: 0.0 };
            let free = features(&design, loss.clone(), preparation);
            let boxed = features(&design, loss.clone(), preparation).with_bounds(bounds.clone()).unwrap();
            let (there, here) = (
                free.fit(4, &How::default(), &mut Unwatched).unwrap(),
                boxed.fit(4, &How::default(), &mut Unwatched).unwrap(),
            );
            assert!(bounds.contain(&here.coefficients) && !bounds.contain(&there.coefficients));
            assert!(here.coefficients.entries().any(|(j, v)| v.abs() == upper[j]), "{:?}", here.coefficients);
            assert!(here.objective > there.objective && here.status == Status::Converged);
            assert!(here.chosen.len() <= 4 && here.quality.is_some());
            assert!((here.loss - here.objective).abs() < 1e-9 * here.loss);
            objectives.push(here.objective);
            let trail = boxed.path(&[1, 2, 4], &mut Unwatched).unwrap();
            assert!(trail.complete && trail.models.iter().all(|model| bounds.contain(&model.coefficients)));
            assert!((trail.models[2].objective - here.objective).abs() < 1e-6 * here.objective);
            let validated = boxed.cross_validate(&[1, 4], &[0.0], &folds, &mut Unwatched).unwrap();
            assert!(validated.complete && validated.models.iter().all(|model| bounds.contain(&model.coefficients)));
            assert!((validated.models[1].loss - here.loss).abs() < 1e-6 * here.loss);
        }
        // Without a ridge, units decide nothing.
        assert!((objectives[0] - objectives[1]).abs() < 1e-8 * objectives[0], "{objectives:?}");
    }
}

#[test]
fn bounds_that_are_wide_change_nothing() {
    let data = columns();
    let design = dense(&data, ROWS);
    let wide = Bounds::new(vec![-1e9; COLUMNS], vec![1e9; COLUMNS]).unwrap();
    for loss in losses(&design) {
        let preparation = Preparation { ridge: 0.5, ..Preparation::default() };
        let free = features(&design, loss.clone(), preparation).fit(4, &How::default(), &mut Unwatched).unwrap();
        let boxed = features(&design, loss, preparation).with_bounds(wide.clone()).unwrap();
        let boxed = boxed.fit(4, &How::default(), &mut Unwatched).unwrap();
        assert!((free.objective - boxed.objective).abs() < 1e-8 * free.objective);
        assert_eq!(free.chosen, boxed.chosen);
    }
}

#[test]
fn what_does_not_go_with_bounds_is_named() {
    let data = columns();
    let design = dense(&data, ROWS);
    let [squares, _] = losses(&design);
    let make = || features(&design, squares.clone(), Preparation::default());
    let error = make().with_bounds(Bounds::nonnegative(3).unwrap()).unwrap_err();
    assert!(error.to_string().contains("has length 3, but 20 is needed"), "{error}");
    let boxed = make().with_bounds(Bounds::nonnegative(COLUMNS).unwrap()).unwrap();
    let told = |how: How| boxed.fit(3, &how, &mut Unwatched).unwrap_err().to_string();
    assert!(told(How { method: Some("omp".into()), ..How::default() }).contains("leave the method out"));
    assert!(told(How { resume: Some(vec![1]), ..How::default() }).contains("leave it out, or the bounds"));
    assert!(matches!(boxed.stability(3, 4, 0), Err(Error::Unsuitable { .. })));
    // A start goes with bounds, and so does a watch that has seen enough.
    let free = make().fit(3, &How::default(), &mut Unwatched).unwrap();
    let start = How { start: Some((free.coefficients, free.intercept)), ..How::default() };
    let cold = boxed.fit(3, &How::default(), &mut Unwatched).unwrap();
    let warm = boxed.fit(3, &start, &mut Unwatched).unwrap();
    assert!(warm.objective <= cold.objective * (1.0 + 1e-12));
    let stopped = boxed.fit(3, &How::default(), &mut |_: &Progress<'_>| Answer::Stop).unwrap();
    assert_eq!((stopped.status, stopped.iterations), (Status::Stopped, 1));
}
