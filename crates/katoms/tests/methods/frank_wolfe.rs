//! Frank–Wolfe methods: gaps, rates, weights, and the optimum against projected gradients.

use std::ops::ControlFlow;

use katoms::driver::{Constraint, Event, Options, Run, Stages, frank_wolfe_gap, solve};
use katoms::linalg::Matrix;
use katoms::loss::{LeastSquares, Logistic, Loss};
use katoms::method::{Correction, FrankWolfe, FrankWolfeRule, FrankWolfeState, Method, largest_curvature};
use katoms::operator::{Dense, Entries, LinearOperator};
use katoms::set::{GroupBall, L1Ball, LinearMinimize, NuclearBall};
use katoms::space::{LowRank, Point, SparseVec};
use katoms::{Error, Objective, Outcome, Status, Stop, simulate};

use crate::planted::Planted;
use crate::runs::to_gap;

type Design<'a> = &'a Dense<'a, f64>;

fn run<A, L, S, M>(f: &Objective<A, L>, set: &S, method: &M, options: Options) -> Outcome<A::Point>
where
    A: LinearOperator,
    L: Loss,
    S: Constraint<A, L>,
    M: Method<A, L, S>,
{
    solve(f, set, method, options, |_, _| ControlFlow::Continue(())).unwrap()
}

/// The minimum over a set by projected gradient steps of 1/β: a twin that shares nothing but the projection.
fn optimum<L: Loss>(f: &Objective<Design<'_>, L>, project: impl Fn(SparseVec) -> SparseVec) -> f64 {
    let mu = 1.0 / largest_curvature(f);
    let mut x = SparseVec::zero(f.operator().domain());
    let mut g = f.operator().new_covector();
    for _ in 0..20_000 {
        f.gradient(&f.at(x.clone()), &mut g);
        x = project(SparseVec::combine(1.0, &x, -mu, &SparseVec::full(&g)));
    }
    f.value(&f.at(x))
}

/// The three rules, each with and without correction.
fn methods() -> Vec<FrankWolfe> {
    let rules = [FrankWolfe::default(), FrankWolfe::away(), FrankWolfe::pairwise()];
    let both = |correction| rules.map(|plain| FrankWolfe { correction, ..plain });
    [both(Correction::Never), both(Correction::full())].concat()
}

/// How many times larger a gap the plain method is given, which creeps.
fn slack(method: &FrankWolfe) -> f64 {
    if *method == FrankWolfe::default() { 100.0 } else { 1.0 }
}

/// Every reported gap is at least the true error, the error falls, and the iterates are in the ball.
fn gaps_hold<L: Loss>(f: &Objective<Design<'_>, L>, ball: &L1Ball, best: f64) {
    let scale = f.value(&f.at(SparseVec::zero(ball.dim())));
    for method in methods() {
        let loose = slack(&method);
        let mut last = scale;
        let outcome = solve(f, ball, &method, to_gap(1e-5 * loose, 3000), |event: &Event, x: &SparseVec| {
            let error = event.objective - best;
            assert!(event.gap.unwrap() >= error - 1e-9 * scale, "{method:?}: {event:?} {error:e}");
            assert!(event.objective <= last * (1.0 + 1e-14));
            assert!(ball.norm(x) <= ball.radius() * (1.0 + 1e-12));
            last = event.objective;
            ControlFlow::Continue(())
        })
        .unwrap();
        assert_eq!(outcome.status, Status::Converged, "{method:?} after {}", outcome.iterations);
        assert!(outcome.objective - best <= 1.001e-5 * loose * scale);
        let certificate = outcome.quality.unwrap().certificate.unwrap();
        assert!(certificate.lower_bound <= best + 1e-9 * scale && certificate.gap <= 1e-2 * loose, "{certificate:?}");
        // One pass an iteration, and one for the quality unless the run has ended with it.
        assert!((0..=1).contains(&(outcome.passes - outcome.iterations)), "{method:?}: {} passes", outcome.passes);
    }
}

#[test]
fn a_gap_bounds_the_error_for_least_squares() {
    let problem = Planted::new(60, 40, 6, 0.3, 1);
    let a = problem.operator();
    let f = problem.squares(&a);
    let ball = L1Ball::new(1.2, 40).unwrap();
    gaps_hold(&f, &ball, optimum(&f, |v| ball.project(v)));
}

#[test]
fn a_gap_bounds_the_error_for_a_logistic_loss_with_a_ridge() {
    let problem = Planted::new(80, 30, 4, 0.1, 2);
    let a = problem.operator();
    let labels: Vec<f64> = problem.target.iter().map(|v| f64::from(u8::from(*v > 0.0))).collect();
    let f = Objective::new(&a, Logistic::new(labels).unwrap()).unwrap().ridge(0.01).unwrap();
    let ball = L1Ball::new(5.0, 30).unwrap();
    gaps_hold(&f, &ball, optimum(&f, |v| ball.project(v)));
}

#[test]
fn the_plain_methods_gap_falls_like_one_over_t() {
    let problem = Planted::new(50, 80, 8, 0.2, 3);
    let a = problem.operator();
    let f = problem.squares(&a);
    let ball = L1Ball::new(1.5, 80).unwrap();
    let best = optimum(&f, |v| ball.project(v));
    // C_f ≤ β·diam², and the ball's diameter is 2λ
    let curvature = largest_curvature(&f) * (2.0 * ball.radius()).powi(2);
    for rule in [FrankWolfeRule::Plain, FrankWolfeRule::Diminishing] {
        let method = FrankWolfe { rule, ..FrankWolfe::default() };
        let mut least = f64::INFINITY;
        let outcome = solve(&f, &ball, &method, to_gap(0.0, 400), |event: &Event, _: &SparseVec| {
            let bound = 2.0 * curvature / (event.iteration as f64 + 2.0);
            least = least.min(event.gap.unwrap());
            assert!(event.objective - best <= bound, "{event:?}");
            assert!(least <= 27.0 / 8.0 * bound, "{event:?}");
            ControlFlow::Continue(())
        })
        .unwrap();
        assert_eq!((outcome.status, outcome.iterations), (Status::IterationCap, 400));
    }
}

#[test]
fn away_and_pairwise_steps_converge_linearly_where_the_plain_method_creeps() {
    for seed in 0..3 {
        let problem = Planted::new(120, 60, 10, 0.3, seed);
        let a = problem.operator();
        let f = problem.squares(&a);
        // the optimum lies on a face of many vertices
        let ball = L1Ball::new(1.5, 60).unwrap();
        let options = to_gap(1e-10, 1500);
        let plain = run(&f, &ball, &FrankWolfe::default(), options.clone());
        let away = run(&f, &ball, &FrankWolfe::away(), options.clone());
        let pairwise = run(&f, &ball, &FrankWolfe::pairwise(), options);
        assert_eq!(plain.status, Status::IterationCap, "seed {seed}");
        let gap = |outcome: &Outcome<SparseVec>| outcome.trace.last().unwrap().gap.unwrap();
        assert!(gap(&plain) > 1e-6 * f.value(&f.at(SparseVec::zero(60))), "{:e}", gap(&plain));
        for outcome in [away, pairwise] {
            assert_eq!(outcome.status, Status::Converged, "seed {seed}: {:e}", gap(&outcome));
            assert!(outcome.iterations < 700, "seed {seed}: {}", outcome.iterations);
        }
    }
}

fn states<S>(
    f: &Objective<Design<'_>, LeastSquares>,
    set: &S,
    method: &FrankWolfe,
    moves: usize,
) -> Vec<FrankWolfeState<SparseVec>>
where
    S: LinearMinimize<Vec<f64>, Point = SparseVec>,
    FrankWolfe: for<'a, 'b> Method<&'a Dense<'b, f64>, LeastSquares, S, State = FrankWolfeState<SparseVec>>,
{
    let mut state = method.start(f, set, SparseVec::zero(set.domain())).unwrap();
    let mut seen = Vec::new();
    for _ in 0..moves {
        let mut g = f.operator().new_covector();
        f.gradient(method.query(&state), &mut g);
        method.advance(f, set, &mut state, &g);
        seen.push(state.clone());
    }
    seen
}

#[test]
fn the_weights_are_a_convex_combination_that_gives_the_iterate() {
    let problem = Planted::new(60, 40, 6, 0.3, 4);
    let a = problem.operator();
    let f = problem.squares(&a);
    let ball = GroupBall::new(1.2, 40, (0..20).map(|i| vec![i, i + 10, (i + 25) % 40]).collect()).unwrap();
    for method in methods() {
        for state in states(&f, &ball, &method, 40) {
            let terms: Vec<(f64, &SparseVec)> = state.atoms().collect();
            if terms.is_empty() {
                continue; // the plain method keeps no atoms
            }
            assert!(terms.iter().all(|t| t.0 > 0.0));
            assert!((terms.iter().map(|t| t.0).sum::<f64>() - 1.0).abs() < 1e-12);
            for (i, term) in terms.iter().enumerate() {
                assert!(terms[..i].iter().all(|other| other.1 != term.1), "equal atoms are one");
                assert!(ball.norm(term.1) <= ball.radius() * (1.0 + 1e-9));
            }
            let x = Method::<Design<'_>, LeastSquares, GroupBall>::iterate(&method, &state);
            assert!(SparseVec::sum(40, &terms).distance(x.point()) < 1e-13);
            let afresh = f.at(x.point().clone());
            assert!(afresh.image().iter().zip(x.image()).all(|(a, b)| (a - b).abs() < 1e-12));
        }
    }
}

#[test]
fn corrected_steps_never_need_more_iterations_than_plain_ones() {
    for seed in 0..3 {
        let problem = Planted::new(60, 100, 6, 0.2, seed);
        let a = problem.operator();
        let f = problem.squares(&a);
        let ball = L1Ball::new(1.3, 100).unwrap();
        let options = to_gap(1e-6, 600);
        let plain = run(&f, &ball, &FrankWolfe::default(), options.clone());
        let corrected = FrankWolfe { correction: Correction::full(), ..FrankWolfe::default() };
        let corrected = run(&f, &ball, &corrected, options.clone());
        let pairwise =
            run(&f, &ball, &FrankWolfe { correction: Correction::full(), ..FrankWolfe::pairwise() }, options);
        for outcome in [&corrected, &pairwise] {
            assert_eq!(outcome.status, Status::Converged, "seed {seed}");
            assert!(outcome.iterations < 100 && outcome.iterations < plain.iterations, "{}", outcome.iterations);
        }
        for (corrected, plain) in corrected.trace.iter().zip(plain.trace.iter()) {
            assert!(corrected.objective <= plain.objective * (1.0 + 1e-12), "{corrected:?} {plain:?}");
        }
    }
}

#[test]
fn a_planted_vector_on_the_surface_is_recovered() {
    for seed in 0..5 {
        let problem = Planted::new(100, 300, 5, 0.0, seed);
        let a = problem.operator();
        let f = problem.squares(&a);
        let radius = problem.truth.values().iter().map(|v| v.abs()).sum();
        let ball = L1Ball::new(radius, 300).unwrap();
        let options = to_gap(1e-12, 2000);
        for outcome in [
            run(&f, &ball, &FrankWolfe::away(), options.clone()),
            run(&f, &ball, &FrankWolfe::pairwise(), options.clone()),
            run(&f, &ball, &FrankWolfe { correction: Correction::full(), ..FrankWolfe::default() }, options.clone()),
        ] {
            assert_eq!(outcome.status, Status::Converged, "seed {seed} after {}", outcome.iterations);
            assert!(outcome.point.distance(&problem.truth) < 1e-4, "{:e}", outcome.point.distance(&problem.truth));
        }
    }
}

#[test]
fn an_iteration_reads_at_most_one_column_of_the_l1_ball() {
    let problem = Planted::new(50, 120, 6, 0.2, 5);
    let a = problem.operator();
    let f = problem.squares(&a);
    let ball = L1Ball::new(1.2, 120).unwrap();
    for method in methods() {
        let outcome = run(&f, &ball, &method, to_gap(1e-4, 200));
        let counts: Vec<(usize, usize)> = outcome.trace.iter().map(|e| (e.passes, e.columns)).collect();
        assert!(counts.windows(2).all(|w| w[1].0 == w[0].0 + 1 && w[1].1 <= w[0].1 + 1), "{method:?}: {counts:?}");
        assert_eq!(counts[0].0, 1);
    }
}

#[test]
fn singleton_groups_are_the_l1_ball() {
    let problem = Planted::new(50, 40, 6, 0.2, 6);
    let a = problem.operator();
    let f = problem.squares(&a);
    let l1 = L1Ball::new(1.2, 40).unwrap();
    let groups = GroupBall::new(1.2, 40, (0..40).map(|i| vec![i]).collect()).unwrap();
    for method in methods() {
        let (one, other) = (run(&f, &l1, &method, to_gap(1e-6, 60)), run(&f, &groups, &method, to_gap(1e-6, 60)));
        assert_eq!((one.point, one.iterations), (other.point, other.iterations), "{method:?}");
    }
}

#[test]
fn disjoint_groups_reach_the_optimum_of_projected_gradients() {
    let problem = Planted::new(80, 60, 6, 0.2, 7);
    let a = problem.operator();
    let f = problem.squares(&a);
    let labels: Vec<usize> = (0..60).map(|i| i % 15).collect();
    let ball = GroupBall::from_labels(2.0, &labels).unwrap().weighted_by_size();
    let best = optimum(&f, |v| ball.project(&v));
    let scale = f.value(&f.at(SparseVec::zero(60)));
    for method in methods() {
        // without correction the rate of round faces is 1/t
        let loose = if method.correction == Correction::Never { 100.0 } else { 1.0 };
        let outcome = run(&f, &ball, &method, to_gap(1e-5 * loose, 4000));
        assert_eq!(outcome.status, Status::Converged, "{method:?}");
        let error = outcome.objective - best;
        assert!((-1e-9..1.001e-5 * loose * scale).contains(&error), "{method:?}: {error:e}");
    }
}

#[test]
fn overlapping_groups_are_disjoint_groups_of_copied_columns() {
    let (m, n) = (60, 30);
    let problem = Planted::new(m, n, 6, 0.2, 8);
    let a = problem.operator();
    let labels: Vec<f64> = problem.target.iter().map(|v| f64::from(u8::from(*v > 0.0))).collect();
    let f = Objective::new(&a, Logistic::new(labels.clone()).unwrap()).unwrap();
    let members: Vec<Vec<usize>> = (0..10).map(|g| (0..5).map(|i| (3 * g + i) % n).collect()).collect();
    let ball = GroupBall::new(4.0, n, members.clone()).unwrap();
    // Obozinski, Jacob and Vert: a copy of each column for each of its groups
    let copied: Vec<f64> =
        members.iter().flatten().flat_map(|&i| problem.design[i * m..(i + 1) * m].to_vec()).collect();
    let wide = Dense::column_major(&copied, m, 50).unwrap();
    let g = Objective::new(&wide, Logistic::new(labels).unwrap()).unwrap();
    let copies = GroupBall::new(4.0, 50, (0..10).map(|g| (5 * g..5 * g + 5).collect()).collect()).unwrap();
    let best = optimum(&g, |v| copies.project(&v));
    for method in methods() {
        let outcome = run(&f, &ball, &method, to_gap(1e-4, 4000));
        assert_eq!(outcome.status, Status::Converged, "{method:?}");
        let error = outcome.objective - best;
        assert!((-1e-8..1e-4 * 60.0).contains(&error), "{method:?}: {error:e}");
        assert!(ball.norm(&outcome.point) <= 4.0 * (1.0 + 1e-9));
    }
}

/// Entries of a noisy matrix of rank 2, and the shape.
fn completion(seed: u64) -> (Entries, Vec<f64>, (usize, usize)) {
    let shape = (9, 7);
    let (left, right) = simulate::low_rank_factors(shape.0, shape.1, 2, seed);
    let (rows, columns) = simulate::observed_places(shape.0, shape.1, 0.7, seed);
    let seen = Entries::new(shape, &rows, &columns).unwrap();
    let mut clean = vec![0.0; rows.len()];
    seen.apply(&LowRank::from_factors(&left, &right).unwrap(), &mut clean);
    (seen, simulate::noisy(&clean, 0.3, seed), shape)
}

#[test]
fn completion_reaches_the_optimum_of_the_convex_problem() -> Result<(), Error> {
    for seed in 0..3 {
        let (seen, b, shape) = completion(seed);
        let f = Objective::new(&seen, LeastSquares::new(b.clone())?)?;
        let ball = NuclearBall::new(8.0, shape)?;
        // a dense twin: X ← Π(X − (X − B on the observed entries)), all singular values
        let mut x = LowRank::zero(shape);
        let mut image = vec![0.0; b.len()];
        for _ in 0..3000 {
            seen.apply(&x, &mut image);
            let mut dense = x.left().times(x.core()).times_transposed(x.right());
            for (e, &(i, j)) in seen.pattern().places().iter().enumerate() {
                dense.column_mut(j as usize)[i as usize] -= image[e] - b[e];
            }
            let identity = Matrix::from_fn(shape.1, shape.1, |i, j| f64::from(u8::from(i == j)));
            x = ball.project(&LowRank::from_factors(&dense, &identity)?);
        }
        let best = f.value(&f.at(x));
        let scale = f.value(&f.at(LowRank::zero(shape)));
        for method in methods() {
            let loose = if method.correction == Correction::Never { 100.0 } else { 1.0 };
            let mut rank = 0;
            let outcome = solve(&f, &ball, &method, to_gap(1e-5 * loose, 3000), |event: &Event, x: &LowRank| {
                assert!(event.gap.unwrap() >= event.objective - best - 1e-8 * scale, "{method:?} {event:?}");
                assert!(ball.norm(x) <= 8.0 * (1.0 + 1e-10));
                assert!(x.rank_bound() <= rank + 1, "one direction an iteration");
                rank = x.rank_bound();
                ControlFlow::Continue(())
            })?;
            assert_eq!(outcome.status, Status::Converged, "{method:?} seed {seed} after {}", outcome.iterations);
            let error = (outcome.objective - best) / scale;
            assert!((-1e-9..1.001e-5 * loose).contains(&error), "{method:?}: {error:e}");
        }
    }
    Ok(())
}

#[test]
fn a_ridge_and_a_start_in_the_ball_work_on_matrices() -> Result<(), Error> {
    let (seen, b, shape) = completion(5);
    let f = Objective::new(&seen, LeastSquares::new(b)?)?.ridge(0.1)?;
    let ball = NuclearBall::new(6.0, shape)?;
    let method = FrankWolfe { correction: Correction::full(), ..FrankWolfe::pairwise() };
    let from_zero = run(&f, &ball, &method, to_gap(1e-7, 2000));
    assert_eq!(from_zero.status, Status::Converged);
    let (left, right) = simulate::low_rank_factors(shape.0, shape.1, 3, 9);
    let x0 = LowRank::from_factors(&left, &right)?;
    let mut warm = Run::starting_at(&f, &ball, &method, to_gap(1e-7, 2000), x0)?;
    while !warm.is_done() {
        warm.step();
        assert!(ball.norm(warm.iterate()) <= 6.0 * (1.0 + 1e-10));
    }
    let warm = warm.outcome();
    assert!((warm.objective - from_zero.objective).abs() <= 1e-5 * from_zero.objective);
    Ok(())
}

#[test]
fn a_start_outside_is_projected_and_the_optimum_stays() {
    let problem = Planted::new(60, 40, 6, 0.3, 9);
    let a = problem.operator();
    let f = problem.squares(&a);
    let ball = L1Ball::new(1.0, 40).unwrap();
    let x0 = SparseVec::full(&simulate::normals(40, &mut simulate::generator(3, 3)));
    for method in methods() {
        let start = Run::starting_at(&f, &ball, &method, to_gap(1e-6, 2000), x0.clone()).unwrap();
        assert!(start.iterate().distance(&ball.project(x0.clone())) < 1e-13);
    }
    let method = FrankWolfe { correction: Correction::full(), ..FrankWolfe::pairwise() };
    let best = run(&f, &ball, &method, to_gap(1e-12, 500));
    let mut again = Run::starting_at(&f, &ball, &method, to_gap(1e-10, 500), best.point.clone()).unwrap();
    again.step();
    assert!(again.is_done() && again.outcome().status == Status::Converged);
}

#[test]
fn scaling_the_problem_changes_nothing() {
    let problem = Planted::new(60, 40, 6, 0.3, 10);
    let a = problem.operator();
    let f = problem.squares(&a);
    let ball = L1Ball::new(1.0, 40).unwrap();
    for power in [-20, 20] {
        let factor = 2.0_f64.powi(power);
        let target: Vec<f64> = problem.target.iter().map(|v| factor * v).collect();
        let g = Objective::new(&a, LeastSquares::new(target).unwrap()).unwrap();
        let scaled = L1Ball::new(factor, 40).unwrap();
        for method in methods() {
            let (one, other) =
                (run(&f, &ball, &method, to_gap(1e-6, 300)), run(&g, &scaled, &method, to_gap(1e-6, 300)));
            assert_eq!(one.iterations, other.iterations, "{method:?}");
            let expected = SparseVec::combine(factor, &one.point, 0.0, &one.point);
            assert!(other.point.distance(&expected) <= 1e-9 * factor, "{method:?}");
        }
    }
}

#[test]
fn bad_options_and_stages_are_refused() {
    let problem = Planted::new(20, 10, 2, 0.0, 12);
    let a = problem.operator();
    let f = problem.squares(&a);
    let ball = L1Ball::new(1.0, 10).unwrap();
    for tolerance in [-0.1, 1.0, f64::NAN] {
        let method = FrankWolfe { correction: Correction::Full { tolerance }, ..FrankWolfe::default() };
        assert!(Run::new(&f, &ball, &method, Options::default()).is_err(), "{tolerance}");
    }
    let stages = Stages { before: vec![2], ..Stages::growing(8) };
    let error = Run::new(&f, &ball, &FrankWolfe::default(), Options { stages, ..Options::default() }).err().unwrap();
    assert!(error.to_string().contains("an l1 ball does not count atoms"), "{error}");
    let wrong = L1Ball::new(1.0, 9).unwrap();
    assert!(Run::new(&f, &wrong, &FrankWolfe::default(), Options::default()).is_err());
}

#[test]
fn the_stationarity_rule_is_the_relative_gap() {
    let problem = Planted::new(50, 60, 5, 0.2, 14);
    let a = problem.operator();
    let f = problem.squares(&a);
    let ball = L1Ball::new(1.2, 60).unwrap();
    let stop = Stop { stationarity: Some(1e-3), gap: 0.0, ..Stop::default() };
    let outcome = run(&f, &ball, &FrankWolfe::away(), Options { stop, ..Options::default() });
    assert_eq!(outcome.status, Status::Converged);
    let x = f.at(outcome.point);
    let mut g = f.operator().new_covector();
    f.gradient(&x, &mut g);
    let share = frank_wolfe_gap(&f, &ball, &x, &g) / f.value(&f.at(SparseVec::zero(60)));
    let told = outcome.quality.unwrap().stationarity;
    assert!(share <= 1e-3 && (share / told - 1.0).abs() < 1e-9, "{share:e} {told:e}");
}
