//! The Lasso: scikit-learn's answers, optimality, gaps that hold, paths that share passes.

use std::ops::ControlFlow;

use katoms::driver::solve;
use katoms::linalg::norm;
use katoms::loss::{LeastSquares, Logistic, Loss};
use katoms::method::{Lasso, LassoPath, LassoPathOptions, lasso_path};
use katoms::operator::{Dense, LinearOperator, MatrixFree, WithIntercept};
use katoms::penalty::{L1, Penalty};
use katoms::space::{IndexSet, SparseVec};
use katoms::{Error, Objective, Outcome, Status, simulate};

use crate::planted::Planted;
use crate::runs::{refused, to_gap};

type Design = WithIntercept<Dense<'static, f64>>;

/// One answer of scikit-learn.
struct Model {
    lambda: f64,
    ridge: f64,
    /// The coefficients, the intercept behind them.
    x: Vec<f64>,
}

struct Fixture {
    rows: usize,
    columns: usize,
    design: Vec<f64>,
    target: Vec<f64>,
    models: Vec<Model>,
}

/// A problem of fixtures/lasso.txt, which fixtures/lasso.py writes.
fn fixture(name: &str) -> Fixture {
    let mut lines = include_str!("../fixtures/lasso.txt").lines().skip_while(|line| !line.starts_with(name));
    let numbers = |line: &str| -> Vec<f64> { line.split(' ').map(|v| v.parse().unwrap()).collect() };
    let shape: Vec<usize> = lines.next().unwrap().split(' ').skip(1).map(|v| v.parse().unwrap()).collect();
    let [rows, columns, count] = shape[..] else { panic!("{shape:?}") };
    let design = numbers(lines.next().unwrap());
    let target = numbers(lines.next().unwrap());
    let model = |line: &str| {
        let all = numbers(line);
        let x = all[3..].iter().chain([&all[2]]).copied().collect();
        Model { lambda: all[0], ridge: all[1], x }
    };
    let models = lines.take(count).map(model).collect();
    Fixture { rows, columns, design, target, models }
}

fn design(fixture: &Fixture) -> Design {
    WithIntercept::new(Dense::column_major(fixture.design.clone(), fixture.rows, fixture.columns).unwrap())
}

/// The last coordinate is free.
fn with_intercept(lambda: f64, dim: usize) -> L1 {
    let weights = (0..dim).map(|j| if j + 1 == dim { 0.0 } else { 1.0 }).collect();
    L1::new(lambda, dim).unwrap().weighted(weights).unwrap()
}

fn fit<A, L>(f: &Objective<A, L>, penalty: &L1, gap: f64) -> Outcome<SparseVec>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
{
    solve(f, penalty, &Lasso::default(), to_gap(gap, 1000), |_, _| ControlFlow::Continue(())).unwrap()
}

fn walk<A, L>(f: &Objective<A, L>, penalty: &L1, options: &LassoPathOptions) -> LassoPath
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
{
    lasso_path(f, penalty, options, |_| ControlFlow::Continue(())).unwrap()
}

fn assert_close(x: &SparseVec, expected: &[f64], tolerance: f64) {
    let error: Vec<f64> = x.to_dense().iter().zip(expected).map(|(a, b)| a - b).collect();
    assert!(norm(&error) <= tolerance * norm(expected), "off by {}", norm(&error) / norm(expected));
}

/// The conditions that hold at the minimum and nowhere else, as shares of the price.
fn assert_optimal<A, L>(f: &Objective<A, L>, penalty: &L1, x: &SparseVec, tolerance: f64)
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
{
    let mut g = f.operator().new_covector();
    f.gradient(&f.at(x.clone()), &mut g);
    for (j, g) in g.iter().enumerate() {
        let (price, value) = (penalty.price(j), x.value_at(j));
        let wrong = if value != 0.0 { (g + price * value.signum()).abs() } else { g.abs() - price };
        assert!(wrong <= tolerance * penalty.lambda(), "coordinate {j} at {value}: gradient {g}, price {price}");
    }
}

#[test]
fn squares_and_elastic_nets_are_scikit_learns() {
    for name in ["squares", "elastic"] {
        let fixture = fixture(name);
        let dim = fixture.columns + 1;
        for model in &fixture.models {
            // the fixture `squares` has no intercept: its column is held at zero by an enormous price
            let price = if name == "squares" { 1e9 } else { 0.0 };
            let weights = (0..dim).map(|j| if j + 1 == dim { price } else { 1.0 }).collect();
            let penalty = L1::new(model.lambda, dim).unwrap().weighted(weights).unwrap();
            let loss = LeastSquares::new(fixture.target.clone()).unwrap();
            let f = Objective::new(design(&fixture), loss).unwrap().ridge(model.ridge).unwrap();
            let f = f.free_of_ridge(IndexSet::new(dim, vec![dim - 1]));
            let outcome = fit(&f, &penalty, 1e-14);
            assert_close(&outcome.point, &model.x, 1e-6);
            assert!(outcome.quality.unwrap().certificate.unwrap().gap < 1e-9);
        }
    }
}

#[test]
fn logistic_fits_are_scikit_learns_alone_and_along_a_path() {
    let fixture = fixture("logistic");
    let dim = fixture.columns + 1;
    let f = Objective::new(design(&fixture), Logistic::new(fixture.target.clone()).unwrap()).unwrap();
    let lambdas: Vec<f64> = fixture.models.iter().map(|model| model.lambda).collect();
    let options = LassoPathOptions { lambdas: Some(lambdas), gap: 1e-12, ..LassoPathOptions::default() };
    let path = walk(&f, &with_intercept(1.0, dim), &options);
    for (model, point) in fixture.models.iter().zip(&path.points) {
        let outcome = fit(&f, &with_intercept(model.lambda, dim), 1e-12);
        assert_eq!((outcome.status, point.status), (Status::Converged, Status::Converged));
        assert_close(&outcome.point, &model.x, 1e-6);
        assert_close(&point.point, &model.x, 1e-6);
    }
}

#[test]
fn a_gap_is_never_smaller_than_the_error() {
    let problem = Planted::new(60, 200, 8, 0.3, 1);
    let a = problem.operator();
    let f = problem.squares(&a);
    let penalty = L1::new(0.02 * norm(&problem.target), 200).unwrap();
    let least = fit(&f, &penalty, 1e-14).objective;
    // small steps: many gaps
    let slow = Lasso { first: 1, growth: 1, ..Lasso::default() };
    let outcome = solve(&f, &penalty, &slow, to_gap(1e-12, 1000), |_, _| ControlFlow::Continue(())).unwrap();
    assert!(outcome.iterations > 3, "{}", outcome.iterations);
    for event in outcome.trace.iter() {
        assert!(event.gap.unwrap() >= event.objective - least - 1e-13 * least);
    }
    assert_eq!(outcome.status, Status::Converged);
    assert_optimal(&f, &penalty, &outcome.point, 1e-8);
}

#[test]
fn planted_atoms_are_found_in_few_passes() {
    for seed in 0..5 {
        let problem = Planted::new(100, 300, 5, 0.01, seed);
        let a = problem.operator();
        let f = problem.squares(&a);
        let outcome = fit(&f, &L1::new(0.02, 300).unwrap(), 1e-6);
        assert_eq!(outcome.status, Status::Converged);
        // One for each move; the last of them serves the statement of quality.
        assert!(outcome.passes <= 5, "{} passes", outcome.passes);
        assert_eq!(outcome.passes, outcome.iterations);
        let largest = problem.truth.entries().filter(|e| e.1.abs() > 0.1).map(|e| e.0);
        largest.for_each(|j| assert!(outcome.point.value_at(j) != 0.0));
    }
}

#[test]
fn nothing_enters_above_the_largest_lambda() {
    let problem = Planted::new(30, 80, 4, 0.1, 2);
    let a = problem.operator();
    let f = problem.squares(&a);
    let one = L1::new(1.0, 80).unwrap();
    let largest = walk(&f, &one, &LassoPathOptions { count: 1, ..LassoPathOptions::default() }).lambda_max;
    for (factor, empty) in [(2.0, true), (1.0, true), (0.999, false)] {
        let outcome = fit(&f, &one.with_lambda(factor * largest).unwrap(), 1e-6);
        assert_eq!((outcome.status, outcome.point.indices().is_empty()), (Status::Converged, empty));
    }
}

#[test]
fn a_path_is_made_of_single_fits() {
    let design = simulate::autoregressive(50, 120, 0.7, 3);
    let a = Dense::column_major(&design, 50, 120).unwrap();
    let y = simulate::noisy(&design[..50], 0.05, 3);
    let f = Objective::new(&a, LeastSquares::new(y).unwrap()).unwrap();
    let one = L1::new(1.0, 120).unwrap();
    let path = walk(&f, &one, &LassoPathOptions { count: 30, gap: 1e-12, ..LassoPathOptions::default() });
    assert!(path.complete && path.points.len() == 30);
    for point in &path.points {
        assert_eq!(point.status, Status::Converged, "{}", point.lambda);
        let penalty = one.with_lambda(point.lambda).unwrap();
        let alone = fit(&f, &penalty, 1e-12);
        assert!(
            (point.objective - alone.objective).abs() <= 1e-11 * f.value(&f.at(SparseVec::from_dense(&[0.0; 120])))
        );
        assert!((penalty.value(&point.point) - penalty.value(&alone.point)).abs() <= 1e-6 * alone.objective);
        assert_optimal(&f, &penalty, &point.point, 1e-7);
    }
}

#[test]
fn a_hundred_lambdas_share_passes() {
    let problem = Planted::new(100, 1000, 10, 0.2, 4);
    let a = problem.operator();
    let f = problem.squares(&a);
    let path = walk(&f, &L1::new(1.0, 1000).unwrap(), &LassoPathOptions::default());
    assert!(path.points.iter().all(|p| p.status == Status::Converged && p.gap <= 1e-6 * f.value(&f.at(zero(1000)))));
    assert!(path.passes <= 30, "{} passes", path.passes);
    assert!(path.points.iter().all(|p| p.passes <= 10));
}

#[test]
fn every_point_of_a_logistic_path_is_proven() {
    // more columns than rows: the labels can be told apart perfectly, and the end of the path nearly does
    let (rows, columns) = (60, 150);
    let data = simulate::autoregressive(rows, columns, 0.5, 10);
    let odds: Vec<f64> = (0..rows).map(|i| 1.0 + 20.0 * data[i] - 20.0 * data[7 * rows + i]).collect();
    let a = WithIntercept::new(Dense::column_major(data, rows, columns).unwrap());
    let f = Objective::new(a, Logistic::new(simulate::labels(&odds, 10)).unwrap()).unwrap();
    let options = LassoPathOptions { count: 40, smallest: 0.01, gap: 1e-8, ..LassoPathOptions::default() };
    let path = walk(&f, &with_intercept(1.0, columns + 1), &options);
    for point in &path.points {
        assert_eq!(point.status, Status::Converged, "{} {}", point.lambda, point.gap);
        assert_optimal(&f, &with_intercept(point.lambda, columns + 1), &point.point, 1e-4);
    }
    assert!(path.passes <= 60, "{} passes", path.passes);
    assert!(f.loss().value(f.at(path.points[39].point.clone()).image()) < 2.0);
}

#[test]
fn a_tall_design_is_read_once() {
    let fixture = fixture("elastic");
    let dim = fixture.columns + 1;
    let loss = LeastSquares::new(fixture.target.clone()).unwrap();
    let f = Objective::new(design(&fixture), loss).unwrap().ridge(0.7).unwrap();
    let f = f.free_of_ridge(IndexSet::new(dim, vec![dim - 1]));
    let options = LassoPathOptions { count: 20, gap: 1e-12, ..LassoPathOptions::default() };
    let path = walk(&f, &with_intercept(1.0, dim), &options);
    assert_eq!((path.passes, path.points.len()), (1, 20));
    for point in &path.points {
        // what the Gram matrix says, the rows say as well
        let penalty = with_intercept(point.lambda, dim);
        let x = f.at(point.point.clone());
        let objective = f.value(&x) + penalty.value(x.point());
        assert!((objective - point.objective).abs() <= 1e-13 * norm(&fixture.target).powi(2));
        let alone = fit(&f, &penalty, 1e-12);
        assert!(point.gap >= point.objective - alone.objective - 1e-13 * alone.objective);
        assert_eq!(point.status, Status::Converged);
        assert_close(&point.point, &alone.point.to_dense(), 1e-6);
        assert_optimal(&f, &penalty, &point.point, 1e-7);
    }
}

fn zero(dim: usize) -> SparseVec {
    SparseVec::from_dense(&vec![0.0; dim])
}

#[test]
fn scales_decide_nothing() {
    let problem = Planted::new(40, 60, 4, 0.2, 5);
    let fits = |row: f64, column: f64| {
        // every other column is scaled, and its price with it
        let scale = |j: usize| if j.is_multiple_of(2) { column } else { 1.0 };
        let design: Vec<f64> = problem.design.iter().enumerate().map(|(i, v)| v * scale(i / 40)).collect();
        let y: Vec<f64> = problem.target.iter().map(|v| v * row).collect();
        let f = Objective::new(Dense::column_major(design, 40, 60).unwrap(), LeastSquares::new(y).unwrap()).unwrap();
        let penalty = L1::new(0.05 * row, 60).unwrap().weighted((0..60).map(scale).collect()).unwrap();
        let outcome = fit(&f, &penalty, 1e-12);
        assert_eq!(outcome.status, Status::Converged);
        outcome.point.map(|j, v| v * scale(j) / row)
    };
    let plain = fits(1.0, 1.0);
    assert!(plain.indices().len() > 3);
    for (row, column) in [(1e6, 1.0), (1e-6, 1.0), (1.0, 1e6), (1.0, 1e-6)] {
        let scaled = fits(row, column);
        assert_eq!(scaled.indices(), plain.indices());
        assert_close(&scaled, &plain.to_dense(), 1e-8);
    }
}

#[test]
fn zeros_and_twins_do_no_harm() {
    let rows = 20;
    let one = simulate::gaussian(rows, 15, 6);
    // every column twice, the second time turned round, and two of zeros
    let turned = one.iter().map(|v| -v);
    let design: Vec<f64> = one.iter().copied().chain(turned).chain(vec![0.0; 2 * rows]).collect();
    let f = |y: Vec<f64>| {
        Objective::new(Dense::column_major(design.clone(), rows, 32).unwrap(), LeastSquares::new(y).unwrap()).unwrap()
    };
    let y = simulate::noisy(&one[..rows], 0.1, 6);
    let with_twins = f(y.clone());
    let path = walk(&with_twins, &L1::new(1.0, 32).unwrap(), &LassoPathOptions::default());
    let alone =
        Objective::new(Dense::column_major(one.clone(), rows, 15).unwrap(), LeastSquares::new(y).unwrap()).unwrap();
    let single = walk(&alone, &L1::new(1.0, 15).unwrap(), &LassoPathOptions::default());
    for (a, b) in path.points.iter().zip(&single.points) {
        assert_eq!((a.status, b.status), (Status::Converged, Status::Converged));
        assert!((a.objective - b.objective).abs() <= 2.0 * (a.gap + b.gap) + 1e-12 * b.objective);
    }
    // nothing to explain
    let nothing = walk(&f(vec![0.0; rows]), &L1::new(1.0, 32).unwrap(), &LassoPathOptions::default());
    assert_eq!((nothing.points.len(), nothing.lambda_max), (1, 0.0));
    let outcome = fit(&f(vec![0.0; rows]), &L1::new(1.0, 32).unwrap(), 1e-6);
    assert_eq!((outcome.status, outcome.objective), (Status::Converged, 0.0));
}

/// An intercept takes up what a target has in common. Where that is so much that the digits of a proof are gone,
/// nothing is called proven.
#[test]
fn a_target_far_from_zero_is_proven_or_not_said_to_be() {
    let problem = Planted::new(80, 20, 5, 0.3, 12);
    let penalty = with_intercept(1.0, 21);
    let options = LassoPathOptions { count: 20, smallest: 1e-2, ..LassoPathOptions::default() };
    let path = |offset: f64| {
        let target: Vec<f64> = problem.target.iter().map(|y| y + offset).collect();
        let a = WithIntercept::new(problem.operator());
        walk(&Objective::new(a, LeastSquares::new(target).unwrap()).unwrap(), &penalty, &options)
    };
    let near = path(0.0);
    for offset in [1e3, 1e5, 1e7, 1e9] {
        for (near, far) in near.points.iter().zip(&path(offset).points) {
            let error = (far.objective / near.objective - 1.0).abs();
            assert!(far.status != Status::Converged || error < 1e-4, "{offset:e}: {error:e}");
            assert!(far.status == Status::Converged || offset > 1e4, "{offset:e}");
        }
    }
}

/// A free column may be of any length.
#[test]
fn the_scale_of_a_free_column_decides_nothing() {
    for scale in [1e-9, 1e9] {
        let problem = Planted::new(60, 100, 5, 0.3, 13);
        let mut design = problem.design.clone();
        design[..60].iter_mut().for_each(|v| *v *= scale);
        let a = Dense::column_major(design, 60, 100).unwrap();
        let f = Objective::new(&a, LeastSquares::new(problem.target.clone()).unwrap()).unwrap();
        let weights = (0..100).map(|j| if j == 0 { 0.0 } else { 1.0 }).collect();
        let penalty = L1::new(1.0, 100).unwrap().weighted(weights).unwrap();
        let path = walk(&f, &penalty, &LassoPathOptions { count: 10, smallest: 0.05, ..LassoPathOptions::default() });
        assert!(path.points.iter().all(|p| p.status == Status::Converged), "{scale:e}");
        let lambda = path.points[9].lambda;
        let single = fit(&f, &penalty.with_lambda(lambda).unwrap(), 1e-8);
        assert_eq!(single.status, Status::Converged, "{scale:e}");
    }
}

#[test]
fn an_observer_ends_a_path() {
    let problem = Planted::new(30, 80, 4, 0.1, 8);
    let a = problem.operator();
    let f = problem.squares(&a);
    let penalty = L1::new(1.0, 80).unwrap();
    let mut heard = Vec::new();
    let path = lasso_path(&f, &penalty, &LassoPathOptions::default(), |point| {
        heard.push(point.lambda);
        if point.point.indices().len() >= 5 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let path = path.unwrap();
    assert!(!path.complete && path.points.len() < 100);
    assert!(path.points.iter().map(|p| p.lambda).eq(heard.iter().copied()));
    assert!(heard.windows(2).all(|w| w[1] < w[0]));
    // a gap that rounding does not allow is never called converged
    let impossible = LassoPathOptions { gap: 0.0, count: 5, smallest: 0.1, ..LassoPathOptions::default() };
    for point in walk(&f, &penalty, &impossible).points {
        assert!(point.gap == 0.0 || point.status != Status::Converged);
    }
}

#[test]
fn what_makes_no_sense_is_named() {
    let problem = Planted::new(10, 20, 2, 0.1, 9);
    let a = problem.operator();
    let f = problem.squares(&a);
    let penalty = L1::new(1.0, 20).unwrap();
    refused(&f, &penalty, &Lasso { first: 0, ..Lasso::default() }, "first size");
    refused(&f, &penalty, &Lasso { growth: 0, ..Lasso::default() }, "growth");
    refused(&f, &penalty, &Lasso { accuracy: 1.0, ..Lasso::default() }, "accuracy");
    let path =
        |options: LassoPathOptions| lasso_path(&f, &penalty, &options, |_| ControlFlow::Continue(())).unwrap_err();
    let defaults = LassoPathOptions::default;
    assert!(matches!(path(LassoPathOptions { count: 0, ..defaults() }), Error::OutOfRange { .. }));
    assert!(matches!(path(LassoPathOptions { smallest: 1.0, ..defaults() }), Error::Option { name: "smallest", .. }));
    assert!(matches!(path(LassoPathOptions { gap: -1.0, ..defaults() }), Error::Option { name: "gap", .. }));
    let rising = LassoPathOptions { lambdas: Some(vec![1.0, 2.0]), ..defaults() };
    assert!(matches!(path(rising), Error::Value { index: 1, .. }));
    assert!(matches!(path(LassoPathOptions { lambdas: Some(vec![]), ..defaults() }), Error::Empty { .. }));
    let free = MatrixFree::new((4, 4), |x, out| out.copy_from_slice(x), |r, out| out.copy_from_slice(r)).unwrap();
    let f = Objective::new(free, LeastSquares::new(vec![1.0; 4]).unwrap()).unwrap();
    refused(&f, &L1::new(1.0, 4).unwrap(), &Lasso::default(), "Fista");
}
