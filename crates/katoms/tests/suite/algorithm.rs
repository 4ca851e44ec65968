//! Algorithm 1: equivalences iterate by iterate, planted recoveries, cost.

use std::ops::ControlFlow;

use crate::planted::{Completion, Planted, defaults, solved};
use katoms::driver::{Options, Run, Stages, solve};
use katoms::linalg::{Matrix, top_k};
use katoms::loss::LeastSquares;
use katoms::method::{AcceleratedIht, Momentum, Refit, Safeguard, Step, largest_curvature, refit_on};
use katoms::operator::{Counted, Dense, Entries, LinearOperator, MatrixMap, WithIntercept};
use katoms::set::{Always, ConstraintSet, Groups, KSparse, OverlappingGroups, Rank};
use katoms::space::{IndexSet, LowRank, Point, SparseVec, Subspace};
use katoms::{Error, Objective, Status, Stop, fit, simulate};

/// The iterates of a run, at most `count`.
fn iterates<S, M>(f: &Objective<&Dense<'_, f64>, LeastSquares>, set: &S, method: &M, count: usize) -> Vec<SparseVec>
where
    S: katoms::set::Expand<Vec<f64>, Point = SparseVec> + katoms::set::Exchange<Vec<f64>>,
    M: for<'a, 'b> katoms::method::Method<&'a Dense<'b, f64>, LeastSquares, S>,
{
    let mut run = Run::new(f, set, method, Options::for_set(set)).unwrap();
    let mut seen = Vec::new();
    while !run.is_done() && seen.len() < count {
        run.step();
        seen.push(run.iterate().clone());
    }
    seen
}

#[test]
fn without_momentum_and_refit_it_is_plain_iht() {
    let problem = Planted::new(40, 60, 4, 0.05, 3);
    let (a, k) = (problem.operator(), 4);
    let f = problem.squares(&a);
    let mu = 0.3;
    let found = iterates(&f, &KSparse::new(k, 60).unwrap(), &AcceleratedIht::plain(Step::Fixed(mu)), 30);

    // the textbook's iteration on dense vectors: x ← H_k(x + μ·Aᵀ(b − A·x))
    let design = Matrix::from_columns(40, 60, problem.design.clone());
    let mut x = Matrix::zeros(60, 1);
    let b = Matrix::from_columns(40, 1, problem.target.clone());
    for step in &found {
        let residual = b.plus(-1.0, &design.times(&x));
        let moved = x.plus(mu, &design.transposed_times(&residual));
        let magnitudes: Vec<f64> = moved.data().iter().map(|v| v.abs()).collect();
        x = Matrix::zeros(60, 1);
        for i in top_k(&magnitudes, k) {
            x.column_mut(0)[i] = moved.at(i, 0);
        }
        let difference = Matrix::from_columns(60, 1, step.to_dense()).plus(-1.0, &x).norm();
        assert!(difference <= 1e-12 * x.norm().max(1.0), "{difference:e}");
    }
    assert!(found.len() > 5);
}

#[test]
fn svp_is_plain_iht_on_matrices() -> Result<(), Error> {
    // T is the tangent space at U and k leading pairs of the gradient. With 2k columns in all that is
    // the whole space, and a step is the textbook's X ← Π_k(X − μ·∇f(X)).
    let (p, q, k) = (6, 4, 2);
    let (left, right) = simulate::low_rank_factors(p, q, k, 1);
    let truth = LowRank::from_factors(&left, &right)?;
    let (rows, columns) = simulate::observed_places(p, q, 0.8, 1);
    let seen = Entries::new((p, q), &rows, &columns)?;
    let mut b = vec![0.0; rows.len()];
    seen.apply(&truth, &mut b);
    let f = Objective::new(&seen, LeastSquares::new(b.clone())?)?;
    let set = Rank::new(k, (p, q))?.searching(katoms::set::RankSearch::LeadingPairs);
    let method = AcceleratedIht::plain(Step::Fixed(1.0));
    let mut run = Run::new(&f, &set, &method, Options { stages: Stages::direct(), ..Options::for_set(&set) })?;

    let mut x = Matrix::zeros(p, q);
    for _ in 0..12 {
        run.step();
        for (e, (&i, &j)) in rows.iter().zip(&columns).enumerate() {
            x.column_mut(j)[i] = b[e];
        }
        let (mut u, s, v) = x.svd().expect("finite");
        u.scale_columns(&s);
        x = u.leading_columns(k).times_transposed(&v.leading_columns(k));
        let found = run.iterate();
        let dense = found.left().times(found.core()).times_transposed(found.right());
        assert!(dense.plus(-1.0, &x).norm() <= 1e-6 * x.norm(), "{:e}", dense.plus(-1.0, &x).norm());
    }
    Ok(())
}

#[test]
fn singleton_groups_and_disjoint_overlaps_walk_the_same_path() {
    let problem = Planted::new(50, 80, 5, 0.1, 1);
    let a = problem.operator();
    let f = problem.squares(&a);
    let singles: Vec<Vec<usize>> = (0..80).map(|i| vec![i]).collect();
    let method = AcceleratedIht { momentum: Momentum::ClosedForm, refit: Refit::Never, ..defaults() };
    let sparse = iterates(&f, &KSparse::new(5, 80).unwrap(), &method, 50);
    let groups = iterates(&f, &Groups::new(5, 80, singles.clone()).unwrap(), &method, 50);
    let overlapping = iterates(&f, &OverlappingGroups::new(5, 80, singles).unwrap(), &method, 50);
    assert!(sparse.len() > 3);
    assert_eq!(sparse, groups);
    assert_eq!(sparse, overlapping);
}

#[test]
fn the_largest_curvature_is_the_largest_squared_singular_value() {
    for (rows, columns) in [(80, 400), (50, 20), (1, 7), (9, 1)] {
        let design = simulate::gaussian(rows, columns, 3);
        let a = Dense::column_major(&design, rows, columns).unwrap();
        let f = Objective::new(&a, LeastSquares::new(vec![1.0; rows]).unwrap()).unwrap().ridge(0.5).unwrap();
        let (_, values, _) = Matrix::from_columns(rows, columns, design.clone()).svd().unwrap();
        let expected = values[0] * values[0] + 0.5;
        let found = largest_curvature(&f);
        assert!((found / expected - 1.0).abs() < 1e-5, "{rows} x {columns}: {found} {expected}");
    }
    let zeros = Dense::column_major(vec![0.0; 6], 2, 3).unwrap();
    let f = Objective::new(&zeros, LeastSquares::new(vec![1.0; 2]).unwrap()).unwrap();
    assert_eq!(largest_curvature(&f), 0.0);
    let method = AcceleratedIht::plain(Step::InverseLipschitz);
    let set = KSparse::new(1, 3).unwrap();
    let outcome = solved(&f, &set, &method);
    assert!(outcome.point.values().iter().all(|v| *v == 0.0));
}

#[test]
fn every_rule_recovers_the_planted_vector() {
    let problem = Planted::new(120, 200, 6, 0.0, 5);
    let (f, set) = (problem.least_squares(), problem.set());
    let recovers = |method: AcceleratedIht| {
        let outcome = solved(&f, &set, &method);
        let error = outcome.point.distance(&problem.truth);
        let bound = if method.refit == Refit::Never { 1e-4 } else { 1e-12 };
        assert!(error < bound && outcome.status == Status::Converged, "{method:?}: {error:e}");
    };
    let plain = AcceleratedIht {
        step: Step::LineSearch,
        momentum: Momentum::ClosedForm,
        refit: Refit::Never,
        safeguard: Safeguard::Descent,
    };
    let sum = Step::TwoOverSum { alpha: 0.4, beta: 2.0 };
    for step in [Step::Fixed(0.5), Step::InverseLipschitz, sum, Step::LineSearch, Step::Backtracking] {
        for refit in [Refit::Never, Refit::AtEnd, Refit::EveryIteration] {
            recovers(AcceleratedIht { step, refit, ..plain });
        }
    }
    let constant = [Momentum::Constant(0.0), Momentum::Constant(0.25)];
    for momentum in constant.into_iter().chain([Momentum::ClosedForm, Momentum::Monotone(0.25), Momentum::Nesterov]) {
        for safeguard in [Safeguard::Off, Safeguard::Descent] {
            recovers(AcceleratedIht { momentum, safeguard, ..plain });
        }
    }
}

#[test]
fn the_closed_form_is_the_best_extrapolation() {
    let problem = Planted::new(60, 100, 5, 0.2, 2);
    let (f, set) = (problem.least_squares(), problem.set());
    let method = AcceleratedIht { momentum: Momentum::ClosedForm, refit: Refit::Never, ..defaults() };
    let mut run = Run::new(&f, &set, &method, Options::for_set(&set)).unwrap();
    let (mut x, mut compared) = (run.iterate().clone(), 0);
    while !run.is_done() {
        let event = run.step();
        let next = run.iterate().clone();
        let value = |tau: f64| f.value(&f.at(SparseVec::combine(1.0 + tau, &next, -tau, &x)));
        let best = value(event.momentum);
        if event.change > 1e-4 {
            compared += 1;
            for shift in [-0.1, -0.01, 0.01, 0.1] {
                assert!(best <= value(event.momentum + shift), "tau {} {shift}", event.momentum);
            }
        }
        x = next;
    }
    assert!(compared > 2);
}

#[test]
fn a_monotone_rule_skips_the_momentum_that_would_hurt() {
    // The paper's 2 × 3 counterexample moves from −1.7338·e₁ to 1.5415·e₁: any τ > 0 overshoots more.
    let f_design = [0.3870, 0.3816];
    let a = Dense::column_major(&f_design[..], 2, 1).unwrap();
    let b: Vec<f64> = f_design.iter().map(|v| v * 1.2).collect();
    let f = Objective::new(&a, LeastSquares::new(b).unwrap()).unwrap();
    let set = KSparse::new(1, 1).unwrap();
    let step = Step::Fixed(1.8 / f_design.iter().map(|v| v * v).sum::<f64>());
    let rule = |momentum| AcceleratedIht { step, momentum, refit: Refit::Never, safeguard: Safeguard::Off };
    let tau = |method: &AcceleratedIht| {
        let mut run = Run::new(&f, &set, method, Options::for_set(&set)).unwrap();
        run.step().momentum
    };
    assert_eq!(tau(&rule(Momentum::Constant(0.25))), 0.25);
    assert_eq!(tau(&rule(Momentum::Monotone(0.25))), 0.0, "the step overshot; going further raises f");
    assert!(tau(&rule(Momentum::ClosedForm)) < 0.0, "the best extrapolation goes back");
}

#[test]
fn an_iteration_touches_at_most_3k_columns_and_makes_one_pass() {
    let problem = Planted::new(80, 300, 7, 0.1, 11);
    let counted = Counted::new(problem.operator());
    for (momentum, refit) in [
        (Momentum::Constant(0.0), Refit::EveryIteration),
        (Momentum::ClosedForm, Refit::Never),
        (Momentum::Constant(0.25), Refit::EveryIteration),
    ] {
        let f = Objective::new(&counted, LeastSquares::new(problem.target.clone()).unwrap()).unwrap();
        let set = KSparse::new(7, 300).unwrap();
        let method = AcceleratedIht { momentum, refit, ..defaults() };
        let mut run = Run::new(&f, &set, &method, Options::for_set(&set)).unwrap();
        counted.take();
        while !run.is_done() {
            let event = run.step();
            let counts = counted.take();
            assert_eq!(counts.passes, 1);
            assert!(counts.distinct.len() <= 3 * 7, "{} different columns", counts.distinct.len());
            assert_eq!(event.passes, event.iteration);
        }
    }
}

#[test]
fn a_refit_is_the_minimum_on_its_support() {
    let problem = Planted::new(60, 30, 8, 0.5, 4);
    let a = problem.operator();
    let weights: Vec<f64> = (0..60).map(|i| 0.5 + (i % 3) as f64).collect();
    let support = IndexSet::new(30, vec![1, 4, 9, 20]);
    let loss = LeastSquares::new(problem.target.clone()).unwrap().weighted(weights.clone()).unwrap();
    let f = Objective::new(&a, loss).unwrap().ridge(0.3).unwrap();
    let x = refit_on(&f, f.at(support.point(&[0.0; 4])), &support);
    assert!(f.gradient_on(&x, &support).norm() < 1e-12);

    let f = Objective::new(&a, problem.signs().weighted(weights).unwrap()).unwrap().ridge(0.1).unwrap();
    let x = refit_on(&f, f.at(support.point(&[0.0; 4])), &support);
    assert!(f.gradient_on(&x, &support).norm() < 1e-9);
}

#[test]
fn conjugate_gradients_and_cholesky_agree() {
    // 600 atoms are beyond the direct limit, 400 are below it; a matrix-free operator always uses CG.
    let (m, n) = (900, 1000);
    let problem = Planted::new(m, n, 30, 0.3, 8);
    let a = problem.operator();
    let data = Matrix::from_columns(m, n, problem.design.clone());
    let backward = data.clone();
    let column = |v: &[f64]| Matrix::from_columns(v.len(), 1, v.to_vec());
    let free = katoms::operator::MatrixFree::new(
        (m, n),
        move |x, out| out.copy_from_slice(data.times(&column(x)).data()),
        move |r, out| out.copy_from_slice(backward.transposed_times(&column(r)).data()),
    )
    .unwrap();
    let (f, g) =
        (problem.squares(&a), Objective::new(&free, LeastSquares::new(problem.target.clone()).unwrap()).unwrap());
    for size in [400, 600] {
        let t = IndexSet::new(n, (0..size).collect());
        let start = t.point(&vec![0.0; size]);
        let direct = refit_on(&f, f.at(start.clone()), &t);
        let by_cg = refit_on(&g, g.at(start), &t);
        assert!(direct.point().distance(by_cg.point()) <= 1e-8 * direct.point().norm());
        assert!(f.gradient_on(&direct, &t).norm() <= 1e-9 * direct.point().norm());
    }
}

#[test]
fn an_intercept_is_fitted_and_not_counted() {
    let problem = Planted::new(80, 40, 3, 0.0, 9);
    let target: Vec<f64> = problem.target.iter().map(|v| v + 5.0).collect();
    let dense = problem.operator();
    let a = WithIntercept::new(&dense);
    let set = Always::new(KSparse::new(3, 41).unwrap(), vec![a.index()]).unwrap();
    let f = Objective::new(&a, LeastSquares::new(target).unwrap()).unwrap();
    let outcome = fit(&f, &set).unwrap();
    let (coefficients, intercept) = a.split(&outcome.point);
    assert!((intercept - 5.0).abs() < 1e-10);
    assert!(coefficients.distance(&problem.truth) < 1e-10);

    // The ridge shrinks the coefficients and leaves the intercept alone.
    let free = IndexSet::new(41, vec![a.index()]);
    let target = vec![5.0; 80];
    let f = Objective::new(&a, LeastSquares::new(target).unwrap()).unwrap().ridge(10.0).unwrap().free_of_ridge(free);
    let outcome = fit(&f, &set).unwrap();
    assert!((a.split(&outcome.point).1 - 5.0).abs() < 1e-10);
}

#[test]
fn groups_and_overlapping_groups_are_recovered() {
    let (m, n) = (120, 200);
    let problem = Planted::new(m, n, 1, 0.0, 13);
    let a = problem.operator();
    // interleaved groups: group g holds g, g + 40, g + 80, …
    let members: Vec<Vec<usize>> = (0..40).map(|g| (0..5).map(|i| g + 40 * (4 - i)).collect()).collect();
    let planted: Vec<usize> = [3, 17, 30].iter().flat_map(|&g: &usize| members[g].clone()).collect();
    let truth = IndexSet::new(n, planted).point(&simulate::normals(15, &mut simulate::generator(1, 0)));
    let mut b = vec![0.0; m];
    a.apply(&truth, &mut b);
    let f = Objective::new(&a, LeastSquares::new(b).unwrap()).unwrap();
    let by_groups = fit(&f, &Groups::new(3, n, members.clone()).unwrap()).unwrap();
    assert!(by_groups.point.distance(&truth) < 1e-10);
    let mut overlapping = members;
    (0..40).for_each(|g| overlapping.push(vec![g, g + 41, g + 80]));
    let by_cover = fit(&f, &OverlappingGroups::new(3, n, overlapping).unwrap()).unwrap();
    assert!(by_cover.point.distance(&truth) < 1e-10);
}

#[test]
fn a_matrix_is_recovered_from_random_projections() -> Result<(), Error> {
    let (p, q, k, m) = (12, 10, 2, 110);
    let (left, right) = simulate::low_rank_factors(p, q, k, 6);
    let truth = LowRank::from_factors(&left, &right)?;
    let design = simulate::gaussian(m, p * q, 6);
    let map = MatrixMap::new(Dense::column_major(&design, m, p * q)?, (p, q))?;
    let mut b = vec![0.0; m];
    map.apply(&truth, &mut b);
    let f = Objective::new(&map, LeastSquares::new(b)?)?;
    for refit in [Refit::Never, Refit::EveryIteration] {
        let set = Rank::new(k, (p, q))?;
        let method = AcceleratedIht { refit, ..AcceleratedIht::for_structure(set.structure()) };
        let outcome = solved(&f, &set, &method);
        let error = outcome.point.distance(&truth) / truth.norm();
        assert!(error < 1e-4, "{refit:?}: {:?} {error:e} after {}", outcome.status, outcome.iterations);
    }
    Ok(())
}

/// min ½‖X − M‖² + ½‖X‖² has X = M/2.
#[test]
fn a_ridge_on_a_matrix_shrinks_it() {
    let problem = Completion::new((20, 15), 2, 1.0, 0.0, 2);
    let (f, set) = (problem.objective().ridge(1.0).unwrap(), Rank::new(2, (20, 15)).unwrap());
    let options = Options { stop: Stop { tolerance: 1e-10, ..Stop::default() }, ..Options::for_set(&set) };
    let method = AcceleratedIht::for_structure(set.structure());
    let outcome = solve(&f, &set, &method, options, |_, _| ControlFlow::Continue(())).unwrap();
    let half = LowRank::combine(0.5, &problem.truth, 0.0, &problem.truth);
    assert!(outcome.point.distance(&half) <= 1e-7 * half.norm(), "{:e}", outcome.point.distance(&half));
}
