//! The nuclear norm: its proximal step, Soft-Impute, and its path.

use std::sync::Arc;

use katoms::driver::Options;
use katoms::linalg::{Matrix, Multiply};
use katoms::method::{NuclearPath, SoftImpute, soft_impute_path};
use katoms::operator::LinearOperator;
use katoms::penalty::{Nuclear, Penalty};
use katoms::space::{Entrywise, LowRank, MatrixCovector, Pattern, Point};
use katoms::{Error, Status, Stop, simulate};

use super::low_rank::{Seen, dense, low_rank};
use crate::runs::{refused, run, to_gap};

fn random(rows: usize, columns: usize, stream: u64) -> Matrix {
    Matrix::from_columns(rows, columns, simulate::normals(rows * columns, &mut simulate::generator(17, stream)))
}

fn soft_thresholded(m: &Matrix, by: f64) -> Matrix {
    let (mut u, values, v) = m.svd().unwrap();
    u.scale_columns(&values.iter().map(|s| (s - by).max(0.0)).collect::<Vec<_>>());
    u.times_transposed(&v)
}

#[test]
fn the_step_is_the_soft_thresholded_svd() {
    for (stream, (p, q)) in [(12, 9), (9, 12), (90, 70), (1, 6), (6, 1)].into_iter().enumerate() {
        let (m, x) = (random(p, q, stream as u64), low_rank(&random(p, q, 90 + stream as u64)).truncated(2));
        let places = || (0..q).flat_map(|j| (0..p).map(move |i| (i, j)));
        let (rows, columns): (Vec<usize>, Vec<usize>) = places().unzip();
        let pattern = Arc::new(Pattern::new((p, q), &rows, &columns).unwrap());
        let gradients = [
            MatrixCovector::new(Entrywise::Dense(m.clone())),
            MatrixCovector::new(Entrywise::Observed { pattern, values: m.data().to_vec() }),
        ];
        let largest = m.svd().unwrap().1[0];
        for g in &gradients {
            for (share, mu) in [(0.01, 1.0), (0.3, 0.5), (0.7, 1.0), (0.95, 2.0), (9.0, 1.0)] {
                let penalty = Nuclear::new(share * largest, (p, q)).unwrap();
                let expected = soft_thresholded(&dense(&x).plus(-mu, &m), mu * share * largest);
                let found = penalty.step(&x, g, mu);
                let error = dense(&found).plus(-1.0, &expected).norm();
                assert!(error < 1e-7 * largest, "{p} x {q}, {share}: {error}");
                let nuclear: f64 = expected.svd().unwrap().1.iter().sum();
                assert!((penalty.value(&found) - share * largest * nuclear).abs() < 1e-7 * largest * largest);
            }
            let penalty = Nuclear::new(0.5, (p, q)).unwrap();
            assert!((penalty.polar(g) * 0.5 / largest - 1.0).abs() < 1e-8);
        }
    }
    let zero = MatrixCovector::new(Entrywise::Dense(Matrix::zeros(4, 3)));
    let penalty = Nuclear::new(0.5, (4, 3)).unwrap();
    assert_eq!(penalty.step(&LowRank::zero((4, 3)), &zero, 1.0), LowRank::zero((4, 3)));
    assert_eq!(penalty.polar(&zero), 0.0);
}

/// A noisy matrix of rank 3, and the share of λ_max that is asked for.
fn noisy(seed: u64) -> Seen {
    let mut seen = Seen::gaussian(30, 24, 3, 0.6, seed);
    seen.values = simulate::noisy(&seen.values, 0.3, seed);
    seen
}

fn gradient(seen: &Seen, x: &LowRank) -> MatrixCovector {
    let f = seen.squares();
    let mut g = f.operator().new_covector();
    f.gradient(&f.at(x.clone()), &mut g);
    g
}

fn penalty(seen: &Seen, share: f64) -> Nuclear {
    let zero = LowRank::zero(seen.truth.domain());
    Nuclear::new(share * Nuclear::largest_lambda(&gradient(seen, &zero)), zero.domain()).unwrap()
}

#[test]
fn soft_impute_falls_to_the_minimum_and_proves_it() {
    for seed in 0..3 {
        let seen = noisy(seed);
        let (f, penalty) = (seen.squares(), penalty(&seen, 0.1));
        let outcome = run(&f, &penalty, &SoftImpute::default(), to_gap(1e-9, 3000));
        assert_eq!(outcome.status, Status::Converged);
        // Lanczos' round before the run reads the data twice.
        assert_eq!(outcome.passes, outcome.iterations + 2);
        assert!(outcome.trace.windows(2).all(|w| w[1].objective <= w[0].objective * (1.0 + 1e-13)));
        // The minimum: ‖G‖₂ ≤ λ, and on the spans of X the gradient is −λ·(the singular vectors).
        let (g, lambda) = (gradient(&seen, &outcome.point), penalty.lambda());
        assert!(penalty.polar(&g) < 1.0 + 1e-4, "{}", penalty.polar(&g));
        let (u, _, v) = outcome.point.core().svd().unwrap();
        let (u, v) = (outcome.point.left().times(&u), outcome.point.right().times(&v));
        let aligned = u.transposed_times(&g.times(&v));
        let expected = Matrix::from_fn(u.columns(), v.columns(), |i, j| if i == j { -lambda } else { 0.0 });
        assert!(aligned.plus(-1.0, &expected).norm() < 1e-3 * expected.norm());
        // Every gap on the way was true.
        let least = outcome.objective - outcome.trace.last().unwrap().gap.unwrap();
        for event in &outcome.trace {
            assert!(event.objective - outcome.objective <= event.gap.unwrap() + 1e-12 * event.objective);
            assert!(event.objective - event.gap.unwrap() <= least + 1e-9 * least.abs());
        }
    }
}

#[test]
fn the_same_minimum_for_any_curvature_and_zero_beyond_the_largest_lambda() {
    let seen = noisy(4);
    let f = seen.squares();
    let small = penalty(&seen, 0.3);
    let reference = run(&f, &small, &SoftImpute::default(), to_gap(1e-9, 3000));
    // Too long a step is noticed, too short a one only costs.
    for curvature in [0.1, 4.0] {
        let other = run(&f, &small, &SoftImpute { curvature: Some(curvature) }, to_gap(1e-9, 3000));
        assert_eq!(other.passes, other.iterations);
        assert!((other.objective / reference.objective - 1.0).abs() < 1e-7);
        assert!(other.point.distance(&reference.point) < 1e-3 * reference.point.norm());
    }
    let outcome = run(&f, &penalty(&seen, 1.001), &SoftImpute::default(), Options::default());
    assert_eq!((outcome.status, outcome.iterations, outcome.point.norm()), (Status::Converged, 1, 0.0));
    let zero = Seen { values: vec![0.0; seen.values.len()], ..seen };
    let outcome = run(&zero.squares(), &small, &SoftImpute::default(), Options::default());
    assert_eq!((outcome.status, outcome.point.norm()), (Status::Converged, 0.0));
}

#[test]
fn a_path_is_its_fits_and_a_refit_takes_the_bias_off() {
    let seen = noisy(6);
    let f = seen.squares();
    let stop = Stop { gap: 1e-6, iterations: 3000, ..Stop::default() };
    let path = soft_impute_path(&f, &SoftImpute::default(), &NuclearPath { count: 6, least: 0.05, stop }).unwrap();
    assert_eq!(path.len(), 6);
    for (i, fit) in path.iter().enumerate() {
        let single = Nuclear::new(fit.lambda, (30, 24)).unwrap();
        let alone = run(&f, &single, &SoftImpute::default(), to_gap(1e-7, 3000));
        assert_eq!(fit.outcome.status, Status::Converged);
        assert!((fit.outcome.objective / alone.objective - 1.0).abs() < 1e-4, "{i}");
        let refitted = f.at(fit.refitted(&f));
        assert!(f.value(&refitted) <= f.value(&f.at(fit.outcome.point.clone())));
        assert!(i == 0 || path[i - 1].lambda > fit.lambda);
    }
    // Where three pairs are left, they are the planted ones, and shrinking them was the error.
    let three = path.iter().rfind(|fit| fit.outcome.point.rank_bound() == 3).unwrap();
    let (before, after) = (seen.error(&three.outcome.point), seen.error(&three.refitted(&f)));
    assert!(after < 0.8 * before, "{before} {after}");
    let zero = Seen { values: vec![0.0; seen.values.len()], ..seen };
    assert!(soft_impute_path(&zero.squares(), &SoftImpute::default(), &NuclearPath::default()).unwrap().is_empty());
}

#[test]
fn options_that_make_no_sense_are_named() {
    let seen = noisy(0);
    let (f, right) = (seen.squares(), penalty(&seen, 0.5));
    let named = |error: Option<Error>, name: &str| {
        assert!(error.is_some_and(|e| e.to_string().contains(name)), "{name}");
    };
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        refused(&f, &right, &SoftImpute { curvature: Some(bad) }, "curvature");
        named(Nuclear::new(bad, (3, 3)).err(), "lambda");
        named(right.with_lambda(bad).err(), "lambda");
    }
    named(Nuclear::new(1.0, (0, 3)).err(), "the matrix");
    let path = |path: NuclearPath| soft_impute_path(&f, &SoftImpute::default(), &path).err();
    named(path(NuclearPath { count: 0, ..NuclearPath::default() }), "lambdas");
    named(path(NuclearPath { least: 1.0, ..NuclearPath::default() }), "least");
}
