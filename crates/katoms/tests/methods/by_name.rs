//! Every method that can be named: the same conduct of all.

use std::ops::ControlFlow;

use katoms::driver::{Run, lockstep, solve};
use katoms::loss::{LeastSquares, Logistic};
use katoms::method::catalogue::{self, Problem};
use katoms::method::{AtomMethod, Fista, RankMethod};
use katoms::operator::{Dense, Entries};
use katoms::penalty::L1;
use katoms::set::{Groups, KSparse, Rank};
use katoms::space::{LowRank, Point, SparseVec};
use katoms::{Objective, Options, Status, simulate};

use crate::planted::Planted;

fn names(problem: Problem) -> impl Iterator<Item = &'static str> {
    catalogue::entries().iter().filter(move |e| e.problems.contains(&problem)).map(|e| e.name)
}

#[test]
fn all_find_planted_atoms() {
    let problem = Planted::new(120, 200, 8, 0.0, 3);
    let a = problem.operator();
    let set = KSparse::new(8, 200).unwrap();
    for name in names(Problem::Atoms) {
        let f = problem.squares(&a);
        let method = AtomMethod::named(name).unwrap();
        let outcome = solve(&f, &set, &method, Options::for_set(&set), |_, _| ControlFlow::Continue(())).unwrap();
        assert_eq!(outcome.status, Status::Converged, "{name}");
        // Marginal scores alone do not tell correlated columns apart; the others recover.
        if name != "oblivious" {
            let error = outcome.point.distance(&problem.truth) / problem.truth.norm();
            assert!(error < 1e-4, "{name}: {error:e}");
        }
        assert_eq!(outcome.passes, f.cost().passes, "{name}");
    }
}

#[test]
fn all_find_planted_groups() {
    let labels: Vec<usize> = (0..200).map(|j| j / 4).collect();
    let mut problem = Planted::new(120, 200, 1, 0.0, 4);
    let values: Vec<f64> =
        (0..200).map(|j| if [3, 17, 40].contains(&(j / 4)) { 1.0 + (j % 4) as f64 } else { 0.0 }).collect();
    problem.target = (0..120).map(|i| (0..200).map(|j| problem.design[j * 120 + i] * values[j]).sum()).collect();
    let a = problem.operator();
    let set = Groups::from_labels(3, &labels).unwrap();
    for name in names(Problem::Atoms) {
        let f = problem.squares(&a);
        let method = AtomMethod::named(name).unwrap();
        let outcome = solve(&f, &set, &method, Options::for_set(&set), |_, _| ControlFlow::Continue(())).unwrap();
        let found = outcome.point.to_dense();
        let error = values.iter().zip(&found).map(|(v, w)| (v - w).abs()).fold(0.0, f64::max);
        assert!(error < 1e-3, "{name}: {error:e}");
    }
}

#[test]
fn all_complete_a_matrix() {
    let (left, right) = simulate::low_rank_factors(30, 24, 2, 1);
    let truth = LowRank::from_factors(&left, &right).unwrap();
    let (rows, columns) = simulate::observed_places(30, 24, 0.6, 1);
    let seen = Entries::new((30, 24), &rows, &columns).unwrap();
    let values: Vec<f64> = rows.iter().zip(&columns).map(|(&i, &j)| truth.entry(i, j)).collect();
    let set = Rank::new(2, (30, 24)).unwrap();
    for name in names(Problem::Rank) {
        let f = Objective::new(&seen, LeastSquares::new(values.clone()).unwrap()).unwrap();
        let method = RankMethod::named(name).unwrap();
        let outcome = solve(&f, &set, &method, Options::for_set(&set), |_, _| ControlFlow::Continue(())).unwrap();
        let error = outcome.point.distance(&truth) / truth.norm();
        assert!(error < 1e-3, "{name}: {error:e} ({:?})", outcome.status);
    }
}

#[test]
fn all_go_on_from_a_checkpoint_and_refuse_another_method_s() {
    let problem = Planted::new(60, 100, 5, 0.3, 6);
    let a = problem.operator();
    let f = problem.squares(&a);
    let set = KSparse::new(5, 100).unwrap();
    let other = AtomMethod::named("subspace-pursuit").unwrap();
    for name in names(Problem::Atoms) {
        let method = AtomMethod::named(name).unwrap();
        let whole = solve(&f, &set, &method, Options::for_set(&set), |_, _| ControlFlow::Continue(())).unwrap();
        let mut run = Run::new(&f, &set, &method, Options::for_set(&set)).unwrap();
        run.step();
        let bytes = run.save().unwrap();
        let mut resumed = Run::resume(&f, &set, &method, Options::for_set(&set), &bytes).unwrap();
        while !resumed.is_done() {
            resumed.step();
        }
        let resumed = resumed.outcome_unchecked();
        assert_eq!((resumed.point, resumed.status), (whole.point, whole.status), "{name}");
        let refused = Run::resume(&f, &set, &other, Options::for_set(&set), &bytes).err();
        let told = refused.is_some_and(|e| e.to_string().contains("saved by the method"));
        assert_eq!(told, name != "subspace-pursuit", "{name}");
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
        let mut run = Run::starting_at(&f, &set, &method, Options::for_set(&set), x0).unwrap();
        while !run.is_done() {
            run.step();
        }
        let outcome = run.outcome_unchecked();
        assert!(outcome.status != Status::Converged || outcome.objective < 1.0, "{name}: {}", outcome.objective);
    }
}

#[test]
fn a_state_saved_under_another_penalty_is_refused() {
    let problem = Planted::new(60, 100, 5, 0.3, 6);
    let a = problem.operator();
    let f = problem.squares(&a);
    let (method, then) = (Fista::default(), L1::new(0.1, 100).unwrap());
    let mut run = Run::new(&f, &then, &method, Options::default()).unwrap();
    run.step();
    let bytes = run.save().unwrap();
    assert!(Run::resume(&f, &then, &method, Options::default(), &bytes).is_ok());
    let now = L1::new(0.2, 100).unwrap();
    let error = Run::resume(&f, &now, &method, Options::default(), &bytes).err().map(|e| e.to_string());
    assert!(error.is_some_and(|e| e.contains("other groups, or another set or penalty")));
}

#[test]
fn all_give_in_lockstep_what_they_give_alone() {
    let (first, second) = (Planted::new(80, 120, 4, 0.2, 1), Planted::new(80, 120, 4, 0.2, 2));
    let a = first.operator();
    let set = KSparse::new(4, 120).unwrap();
    let targets = [first.target.clone(), second.target];
    let objectives = || targets.clone().map(|y| Objective::new(&a, LeastSquares::new(y).unwrap()).unwrap());
    for name in names(Problem::Atoms) {
        let method = AtomMethod::named(name).unwrap();
        let alone = objectives()
            .map(|f| solve(&f, &set, &method, Options::for_set(&set), |_, _| ControlFlow::Continue(())).unwrap().point);
        let together = objectives();
        let mut runs: Vec<_> =
            together.iter().map(|f| Run::new(f, &set, &method, Options::for_set(&set)).unwrap()).collect();
        lockstep(&mut runs).unwrap();
        for (run, alone) in runs.into_iter().zip(alone) {
            assert_eq!(run.outcome_unchecked().point, alone, "{name}");
        }
    }
}
