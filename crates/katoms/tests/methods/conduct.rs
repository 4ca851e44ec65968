//! What every method must do: find what was planted, go on from a saved state, mind no scale, survive bad data.

use std::ops::ControlFlow;

use katoms::driver::{Options, Run, Stages, solve};
use katoms::loss::{LeastSquares, Logistic};
use katoms::method::table::{self, Problem};
use katoms::method::{
    AlpsVersion, AtomMethod, Bfgd, BlockDescent, Correction, Cosamp, FactorStep, Fista, FrankWolfe,
    HardThresholdingPursuit, L1Method, Lasso, MatrixAlps, RankMethod, Refit, RestrictedEstimate, SoftImpute,
};
use katoms::operator::{Dense, LinearOperator};
use katoms::penalty::{GroupLasso, L1, Nuclear};
use katoms::set::{Groups, KSparse, L1Ball, Rank};
use katoms::space::{LowRank, Point, SparseVec};
use katoms::{Objective, Status, simulate};

use crate::low_rank::Seen;
use crate::planted::Planted;
use crate::runs::{capped, finished, goes_on, run, to_gap};

fn names(problem: Problem) -> impl Iterator<Item = &'static str> {
    table::entries().iter().filter(move |e| e.solves(problem)).map(|e| e.name)
}

/// Every method for k atoms, by name, and those of other options.
pub fn atom_methods() -> Vec<(&'static str, AtomMethod)> {
    let by_name = names(Problem::Atoms).map(|name| (name, AtomMethod::named(name).unwrap()));
    let pursuit = AtomMethod::HardThresholdingPursuit;
    let cosamp = |estimate| AtomMethod::Cosamp(Cosamp { estimate, ..Cosamp::default() });
    by_name
        .chain([
            ("htp of step 1", pursuit(HardThresholdingPursuit::default())),
            ("fgrahtp", pursuit(HardThresholdingPursuit::fast())),
            ("grasp, newton", cosamp(RestrictedEstimate::Newton)),
            ("grasp, gradient", cosamp(RestrictedEstimate::Gradient)),
        ])
        .collect()
}

/// Every method for rank k, by name, and those of other options.
pub fn rank_methods() -> Vec<(&'static str, RankMethod)> {
    let by_name = names(Problem::Rank).map(|name| (name, RankMethod::named(name).unwrap()));
    by_name
        .chain([
            ("matrix alps I", RankMethod::MatrixAlps(MatrixAlps { version: AlpsVersion::One })),
            ("balanced bfgd", RankMethod::Bfgd(Bfgd { step: FactorStep::LineSearch, balance: 0.25 })),
        ])
        .collect()
}

const GREEDY: [&str; 4] = ["oblivious", "omp", "forward-regression", "foba"];

#[test]
fn planted_atoms_are_found() {
    for seed in 1..4 {
        let problem = Planted::new(100, 300, 8, 0.0, seed);
        let a = problem.operator();
        let set = KSparse::new(8, 300).unwrap();
        for (name, method) in atom_methods() {
            let f = problem.squares(&a);
            let outcome = solve(&f, &set, &method, Options::for_set(&set), |_, _| ControlFlow::Continue(())).unwrap();
            assert_eq!(outcome.status, Status::Converged, "{name}, seed {seed}");
            assert_eq!(outcome.passes, f.cost().passes, "{name}");
            // Marginal scores alone do not tell correlated columns apart; the others recover.
            let error = outcome.point.distance(&problem.truth) / problem.truth.norm();
            assert!(error < 1e-4 || name == "oblivious", "{name}, seed {seed}: {error:e}");
            assert!(outcome.iterations <= 100, "{name}, seed {seed}: {}", outcome.iterations);
            if name != "ecme-dore" && !GREEDY.contains(&name) {
                let f = problem.squares(&a);
                let outcome = run(&f, &set, &method, Options::for_set(&set));
                assert_eq!(outcome.passes, outcome.iterations, "{name}: one pass an iteration");
            }
        }
    }
}

#[test]
fn planted_groups_are_found() {
    let labels: Vec<usize> = (0..200).map(|j| j / 4).collect();
    let mut problem = Planted::new(120, 200, 1, 0.0, 4);
    let values: Vec<f64> =
        (0..200).map(|j| if [3, 17, 40].contains(&(j / 4)) { 1.0 + (j % 4) as f64 } else { 0.0 }).collect();
    problem.target = (0..120).map(|i| (0..200).map(|j| problem.design[j * 120 + i] * values[j]).sum()).collect();
    let a = problem.operator();
    let set = Groups::from_labels(3, &labels).unwrap();
    for (name, method) in atom_methods() {
        let outcome = run(&problem.squares(&a), &set, &method, Options::for_set(&set));
        let found = outcome.point.to_dense();
        let error = values.iter().zip(&found).map(|(v, w)| (v - w).abs()).fold(0.0, f64::max);
        assert!(error < 1e-3, "{name}: {error:e}");
    }
}

#[test]
fn a_matrix_is_completed() {
    for seed in 1..3 {
        let seen = Seen::gaussian(30, 24, 2, 0.6, seed);
        let (f, set) = (seen.squares(), Rank::new(2, (30, 24)).unwrap());
        for (name, method) in rank_methods() {
            // Odd seeds at once, even ones in stages.
            let stages = if seed % 2 == 1 { Stages::direct() } else { Stages::growing(2) };
            let outcome = run(&f, &set, &method, Options { stages, ..Options::for_set(&set) });
            let error = seen.error(&outcome.point);
            assert!(error < 1e-3, "{name}, seed {seed}: {error:e} ({:?})", outcome.status);
            assert_eq!(outcome.status, Status::Converged, "{name}, seed {seed}");
            assert!(outcome.point.rank_bound() <= 2);
            let passes = if name == "matrix alps I" { 2 } else { 1 };
            assert_eq!(outcome.passes, passes * outcome.iterations, "{name}");
        }
    }
}

#[test]
fn runs_go_on_from_a_saved_state_and_beside_others() {
    let problem = Planted::new(60, 100, 5, 0.3, 6);
    let a = problem.operator();
    let other = simulate::noisy(&problem.target, 0.01, 5);
    let other = Objective::new(&a, LeastSquares::new(other).unwrap()).unwrap();
    let f = problem.squares(&a);
    let both = [&f, &other];
    let set = KSparse::new(5, 100).unwrap();
    for (_, method) in atom_methods() {
        goes_on(both, &set, &method, &Options::for_set(&set));
    }
    let (penalty, ball) = (L1::new(0.05, 100).unwrap(), L1Ball::new(1.2, 100).unwrap());
    for name in ["lasso", "fista", "twist"] {
        goes_on(both, &penalty, &L1Method::named(name).unwrap(), &to_gap(1e-10, 500));
    }
    goes_on(both, &penalty, &Lasso { first: 2, growth: 1, ..Lasso::default() }, &to_gap(1e-10, 500));
    for name in ["frank-wolfe", "away-frank-wolfe", "pairwise-frank-wolfe"] {
        let plain = FrankWolfe::named(name).unwrap();
        goes_on(both, &ball, &plain, &to_gap(1e-6, 80));
        goes_on(both, &ball, &FrankWolfe { correction: Correction::full(), ..plain }, &to_gap(1e-6, 80));
    }
    let groups = GroupLasso::new(0.1, 100, (0..25).map(|g| (4 * g..4 * g + 4).collect()).collect()).unwrap();
    goes_on(both, &groups, &BlockDescent { first: 2, ..BlockDescent::default() }, &to_gap(1e-12, 50));

    let (seen, twice) = (Seen::gaussian(30, 25, 3, 0.6, 7), Seen::gaussian(30, 25, 3, 0.6, 7).scaled(2.0));
    let (f, g, set) = (
        seen.squares(),
        Objective::new(&seen.entries, LeastSquares::new(twice.values).unwrap()).unwrap(),
        Rank::new(3, (30, 25)).unwrap(),
    );
    for (_, method) in rank_methods() {
        goes_on([&f, &g], &set, &method, &capped(40, Stages::growing(3)));
    }
    goes_on([&f, &g], &Nuclear::new(0.5, (30, 25)).unwrap(), &SoftImpute::default(), &to_gap(1e-7, 300));
}

#[test]
fn a_state_of_another_method_or_penalty_is_refused() {
    let problem = Planted::new(60, 100, 5, 0.3, 6);
    let a = problem.operator();
    let f = problem.squares(&a);
    let set = KSparse::new(5, 100).unwrap();
    let other = AtomMethod::named("subspace-pursuit").unwrap();
    for (name, method) in atom_methods() {
        let mut run = Run::new(&f, &set, &method, Options::for_set(&set)).unwrap();
        run.step();
        let refused = Run::resume(&f, &set, &other, Options::for_set(&set), &run.save().unwrap()).err();
        let told = refused.is_some_and(|e| e.to_string().contains("saved by the method"));
        assert_eq!(told, name != "subspace-pursuit", "{name}");
    }
    let (method, then, now) = (Fista::default(), L1::new(0.1, 100).unwrap(), L1::new(0.2, 100).unwrap());
    let mut run = Run::new(&f, &then, &method, Options::default()).unwrap();
    run.step();
    let bytes = run.save().unwrap();
    assert!(Run::resume(&f, &then, &method, Options::default(), &bytes).is_ok());
    let error = Run::resume(&f, &now, &method, Options::default(), &bytes).err().map(|e| e.to_string());
    assert!(error.is_some_and(|e| e.contains("other groups, or another set or penalty")));
}

#[test]
fn scales_change_no_answer() {
    let problem = Planted::new(60, 150, 6, 0.1, 3);
    let scaled = |design: f64, target: f64| Planted {
        rows: 60,
        design: problem.design.iter().map(|v| v * design).collect(),
        truth: problem.truth.clone(),
        target: problem.target.iter().map(|v| v * target).collect(),
    };
    let a = problem.operator();
    let f = problem.squares(&a);
    let set = KSparse::new(6, 150).unwrap();
    for (design, target) in [(1.0, 1e6), (1.0, 1e-6), (1e6, 1.0), (1e-6, 1e6)] {
        let other = scaled(design, target);
        let b = other.operator();
        let g = other.squares(&b);
        // A step of 1 is for columns of norm 1.
        for (name, method) in atom_methods().into_iter().filter(|(name, _)| *name != "htp of step 1") {
            let plain = run(&f, &set, &method, Options::for_set(&set));
            let other = run(&g, &set, &method, Options::for_set(&set));
            assert_eq!(plain.status, other.status, "{name} {design} {target}");
            assert_eq!(plain.point.indices(), other.point.indices(), "{name} {design} {target}");
        }
        for name in ["lasso", "fista", "twist"] {
            let (method, by) = (L1Method::named(name).unwrap(), target / design);
            let plain = run(&f, &L1::new(0.05, 150).unwrap(), &method, to_gap(1e-10, 2000));
            let penalty = L1::new(0.05 * design * target, 150).unwrap();
            let other = run(&g, &penalty, &method, to_gap(1e-10, 2000));
            assert_eq!((plain.status, other.status), (Status::Converged, Status::Converged), "{name}");
            assert!(SparseVec::combine(by, &plain.point, -1.0, &other.point).norm() < 1e-4 * by, "{name}");
        }
    }
    let seen = Seen::gaussian(30, 25, 2, 0.5, 1);
    let set = Rank::new(2, (30, 25)).unwrap();
    for (name, method) in rank_methods() {
        let [plain, large] =
            [1.0, 1e6].map(|by| run(&seen.scaled(by).squares(), &set, &method, capped(300, Stages::growing(2))));
        assert_eq!((plain.status, plain.iterations), (large.status, large.iterations), "{name}");
        let apart = LowRank::combine(1e6, &plain.point, -1.0, &large.point).norm();
        assert!(apart < 1e-6 * large.point.norm(), "{name}: {apart:e}");
    }
}

#[test]
fn degenerate_data_bring_neither_nan_nor_panic() {
    let full = Planted::new(20, 12, 3, 0.3, 1);
    let doubled: Vec<f64> = full.design.iter().chain(&full.design).copied().collect();
    let mut gaps = full.design.clone();
    gaps[..3 * 20].fill(0.0);
    let cases: Vec<(&str, Vec<f64>, Vec<f64>, usize)> = vec![
        ("zero target", full.design.clone(), vec![0.0; 20], 3),
        ("zero design", vec![0.0; 20 * 12], full.target.clone(), 3),
        ("zero columns", gaps, full.target.clone(), 4),
        ("every column", full.design.clone(), full.target.clone(), 12),
        ("twins", doubled, full.target.clone(), 4),
        ("one row", full.design[..12].to_vec(), vec![1.5], 2),
    ];
    for (case, design, target, k) in cases {
        let (rows, columns) = (target.len(), design.len() / target.len());
        let a = Dense::column_major(&design, rows, columns).unwrap();
        let f = Objective::new(&a, LeastSquares::new(target).unwrap()).unwrap();
        let set = KSparse::new(k, columns).unwrap();
        let at_zero = f.value(&f.at(SparseVec::zero(columns)));
        for (name, method) in atom_methods() {
            let outcome = run(&f, &set, &method, Options::for_set(&set));
            assert!(outcome.point.values().iter().all(|v| v.is_finite()), "{name} {case}");
            assert!(outcome.objective <= at_zero || name == "ecme-dore", "{name} {case}: {}", outcome.objective);
            assert_ne!(outcome.status, Status::Diverged, "{name} {case}");
        }
        let penalty = L1::new(0.5, columns).unwrap();
        for name in ["lasso", "fista", "twist"] {
            let method = L1Method::named(name).unwrap();
            let x0 = SparseVec::from_dense(&vec![1.0; columns]);
            let warm = finished(Run::starting_at(&f, &penalty, &method, to_gap(1e-9, 5000), x0).unwrap());
            for outcome in [run(&f, &penalty, &method, to_gap(1e-9, 5000)), warm] {
                assert_eq!(outcome.status, Status::Converged, "{name} {case}");
                assert!(outcome.point.values().iter().all(|v| v.is_finite()), "{name} {case}");
            }
        }
        for radius in [1e-3, 1.0, 1e3] {
            let ball = L1Ball::new(radius, columns).unwrap();
            for name in ["frank-wolfe", "away-frank-wolfe", "pairwise-frank-wolfe"] {
                let outcome = run(&f, &ball, &FrankWolfe::named(name).unwrap(), to_gap(1e-6, 200));
                assert!(outcome.point.values().iter().all(|v| v.is_finite()), "{name} {case} {radius}");
                assert!(!matches!(outcome.status, Status::Stalled | Status::Diverged), "{name} {case} {radius}");
            }
        }
    }
}

/// An empty row, an empty column, a zero target, the largest rank: finite ends, nothing invented.
#[test]
fn degenerate_matrices_end_well() {
    let truth = Seen::gaussian(8, 6, 1, 1.0, 2).truth;
    let places = || (0..8).flat_map(|i| (0..6).map(move |j| (i, j))).filter(|&(i, j)| i != 3 && j != 5);
    let (rows, columns): (Vec<usize>, Vec<usize>) = places().unzip();
    let seen = Seen::at(truth, &rows, &columns);
    let zero = Seen { values: vec![0.0; rows.len()], ..seen.scaled(1.0) };
    for (name, method) in rank_methods() {
        for k in [1, 6] {
            let set = Rank::new(k, (8, 6)).unwrap();
            let outcome = run(&seen.squares(), &set, &method, capped(300, Stages::direct()));
            assert_eq!(outcome.status, Status::Converged, "{name} {k}");
            assert!(outcome.objective < 1e-6, "{name} {k}: {}", outcome.objective);
            let size = (0..6).map(|j| outcome.point.entry(3, j).abs()).fold(0.0, f64::max);
            // Of full rank nothing is determined there; conjugate directions of the past leave something.
            assert!(size < 1e-9 || (k == 6 && name.starts_with("cgiht")), "{name} {k}: the empty row holds {size}");
        }
        let outcome = run(&zero.squares(), &Rank::new(2, (8, 6)).unwrap(), &method, capped(10, Stages::growing(2)));
        assert_eq!((outcome.status, outcome.point.norm()), (Status::Converged, 0.0), "{name}");
    }
}

#[test]
fn a_flat_start_is_no_convergence() {
    // So far on the wrong side that the logistic loss has no curvature left: every step has length zero.
    let labels: Vec<f64> = (0..40).map(|i| f64::from(i % 2 == 0)).collect();
    let design: Vec<f64> = (0..40).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
    let a = Dense::column_major(&design, 40, 1).unwrap();
    let f = Objective::new(&a, Logistic::new(labels).unwrap()).unwrap();
    let set = KSparse::new(1, 1).unwrap();
    for name in ["accelerated-iht", "iht", "normalised-iht", "dore", "cgiht", "fast-iht", "htp", "grahtp"] {
        let method = AtomMethod::named(name).unwrap();
        let x0 = SparseVec::from_dense(&[-1e4]);
        let outcome = finished(Run::starting_at(&f, &set, &method, Options::for_set(&set), x0).unwrap());
        assert!(outcome.status != Status::Converged || outcome.objective < 1.0, "{name}: {}", outcome.objective);
    }
}

#[test]
fn a_planted_logistic_support_is_found() {
    for seed in 1..4 {
        let (rows, columns, k) = (400, 60, 3);
        let design = simulate::gaussian(rows, columns, seed);
        let a = Dense::column_major(&design, rows, columns).unwrap();
        let truth = SparseVec::new(columns, vec![4, 17, 31], vec![50.0, -60.0, 45.0]).unwrap();
        let mut z = vec![0.0; rows];
        a.apply(&truth, &mut z);
        let f = Objective::new(&a, Logistic::new(simulate::labels(&z, seed)).unwrap()).unwrap();
        let set = KSparse::new(k, columns).unwrap();
        let names = ["grasp", "grasp, newton", "grahtp", "fgrahtp", "normalised-iht", "dore", "fast-iht", "cgiht"];
        for (name, method) in atom_methods().into_iter().filter(|(name, _)| names.contains(name)) {
            let outcome = run(&f, &set, &method, Options::for_set(&set));
            assert_eq!(outcome.point.indices(), truth.indices(), "{name} seed {seed}");
            assert_eq!(outcome.status, Status::Converged, "{name} seed {seed}");
            assert!(outcome.iterations < 200, "{name} seed {seed}: {}", outcome.iterations);
        }
    }
}

#[test]
fn the_answer_after_stages_has_k_atoms() {
    let problem = Planted::new(80, 200, 8, 0.0, 4);
    let a = problem.operator();
    let (f, set) = (problem.squares(&a), KSparse::new(8, 200).unwrap());
    let options = Options { stages: Stages::growing(8), ..Options::for_set(&set) };
    for name in ["htp", "cosamp", "accelerated-iht"] {
        let outcome = run(&f, &set, &AtomMethod::named(name).unwrap(), options.clone());
        assert!(outcome.point.distance(&problem.truth) < 1e-10, "{name}: {:?}", outcome.status);
    }
    let at_end = AtomMethod::Cosamp(Cosamp { refit: Refit::AtEnd, ..Cosamp::default() });
    let outcome = run(&f, &set, &at_end, options);
    assert!(outcome.point.distance(&problem.truth) < 1e-10, "{:?}", outcome.status);
}
