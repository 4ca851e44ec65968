//! FISTA and TwIST: the minimum, the duality gap, restarts, monotony, cost, edges.

use std::ops::ControlFlow;

use katoms::driver::{Event, Options, solve};
use katoms::loss::{LeastSquares, Logistic, Loss};
use katoms::method::{Fista, Method, Move, ProximalStep, Restart, Safeguard, Twist};
use katoms::operator::{Dense, LinearOperator, WithIntercept};
use katoms::penalty::{L1, Penalty};
use katoms::space::{Point, SparseVec};
use katoms::{Objective, Outcome, Status, simulate};

use crate::planted::Planted;
use crate::runs::{refused, to_gap};

/// A run to a gap, with every move.
fn run<A, L>(
    f: &Objective<A, L>,
    penalty: &L1,
    method: &impl Method<A, L, L1>,
    options: Options,
) -> (Outcome<SparseVec>, Vec<Event>)
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
{
    let mut events = Vec::new();
    let outcome = solve(f, penalty, method, options, |event, _| {
        events.push(*event);
        ControlFlow::Continue(())
    });
    (outcome.unwrap(), events)
}

/// The Lasso by plain cyclic coordinate descent, in the textbook's words: column-major design, no tricks.
fn naive_lasso(design: &[f64], y: &[f64], prices: &[f64]) -> Vec<f64> {
    let columns: Vec<&[f64]> = design.chunks(y.len()).collect();
    let (mut x, mut r) = (vec![0.0; columns.len()], y.to_vec());
    for _ in 0..20_000 {
        let mut moved = 0.0_f64;
        for (j, a) in columns.iter().enumerate() {
            let square: f64 = a.iter().map(|a| a * a).sum();
            let rho = a.iter().zip(&r).map(|(a, r)| a * r).sum::<f64>() + square * x[j];
            let new = rho.signum() * (rho.abs() - prices[j]).max(0.0) / square;
            r.iter_mut().zip(*a).for_each(|(r, a)| *r += (x[j] - new) * a);
            moved = moved.max((new - x[j]).abs());
            x[j] = new;
        }
        if moved < 1e-15 {
            break;
        }
    }
    x
}

/// λ as a share of the least λ for which zero is the answer.
fn lasso<L: Loss>(f: &Objective<&Dense<'_, f64>, L>, share: f64) -> L1 {
    let mut g = f.operator().new_covector();
    f.gradient(&f.at(SparseVec::from_dense(&vec![0.0; f.operator().domain()])), &mut g);
    let largest = L1::new(1.0, g.len()).unwrap().polar(&g);
    L1::new(share * largest, g.len()).unwrap()
}

fn value<A: LinearOperator<Point = SparseVec>, L: Loss>(f: &Objective<A, L>, penalty: &L1, x: SparseVec) -> f64 {
    let x = f.at(x);
    f.value(&x) + penalty.value(x.point())
}

/// The subgradient condition of the Lasso, as a share of λ.
fn kkt<L: Loss>(f: &Objective<&Dense<'_, f64>, L>, penalty: &L1, x: &SparseVec) -> f64 {
    let mut g = f.operator().new_covector();
    f.gradient(&f.at(x.clone()), &mut g);
    let one = |(j, g): (usize, &f64)| match x.value_at(j) {
        0.0 => (g.abs() - penalty.price(j)).max(0.0),
        v => (g + penalty.price(j) * v.signum()).abs(),
    };
    g.iter().enumerate().map(one).fold(0.0, f64::max) / penalty.lambda()
}

/// Neighbouring columns correlated at 0.95: ill-conditioned.
fn correlated(rows: usize, columns: usize, seed: u64) -> Planted {
    let design = simulate::autoregressive(rows, columns, 0.95, seed);
    let truth = simulate::sparse_signal(columns, 8, seed);
    let mut clean = vec![0.0; rows];
    Dense::column_major(&design, rows, columns).unwrap().apply(&truth, &mut clean);
    let target = simulate::noisy(&clean, 0.02, seed);
    Planted { rows, design, truth, target }
}

fn every_method_finds_the_minimum(problem: &Planted, share: f64, cap: usize) {
    let a = problem.operator();
    let f = problem.squares(&a);
    let penalty = lasso(&f, share);
    let naive = naive_lasso(&problem.design, &problem.target, &vec![penalty.lambda(); a.domain()]);
    let least = value(&f, &penalty, SparseVec::from_dense(&naive));
    let start = f.value(&f.at(SparseVec::from_dense(&vec![0.0; a.domain()])));
    let check = |(outcome, events): (Outcome<SparseVec>, Vec<Event>)| {
        assert_eq!(outcome.status, Status::Converged, "after {} iterations", outcome.iterations);
        assert!(outcome.objective - least <= 1e-11 * start, "{} above {least}", outcome.objective - least);
        assert!(kkt(&f, &penalty, &outcome.point) < 1e-4);
        for event in &events {
            let (gap, error) = (event.gap.unwrap(), event.objective - least);
            assert!(gap >= error - 1e-13 * start, "the gap {gap} does not bound the error {error}");
        }
        assert_eq!(outcome.passes, outcome.iterations + 1, "one pass an iteration, one for the quality");
    };
    let options = || to_gap(1e-11, cap);
    for restart in [Restart::Gradient, Restart::Objective] {
        check(run(&f, &penalty, &Fista { restart, ..Fista::default() }, options()));
    }
    check(run(&f, &penalty, &Twist { lambda_1: 1e-3, ..Twist::default() }, options()));
}

#[test]
fn fista_and_twist_reach_the_minimum_of_coordinate_descent() {
    for seed in 1..=3 {
        every_method_finds_the_minimum(&Planted::new(80, 200, 6, 0.1, seed), 0.1, 600);
    }
    every_method_finds_the_minimum(&correlated(120, 80, 4), 0.01, 2000);
}

#[test]
fn a_known_lipschitz_constant_gives_the_same_minimum() {
    let problem = Planted::new(60, 120, 5, 0.1, 5);
    let a = problem.operator();
    let f = problem.squares(&a);
    let penalty = lasso(&f, 0.1);
    let by_default = run(&f, &penalty, &Fista::default(), to_gap(1e-12, 1000)).0;
    let step = ProximalStep::InverseLipschitz;
    let twist = Twist { lambda_1: 1e-2, step, safeguard: Safeguard::Off };
    let outcomes = [
        run(&f, &penalty, &Fista { step, ..Fista::default() }, to_gap(1e-12, 2000)).0,
        run(&f, &penalty, &twist, to_gap(1e-12, 2000)).0,
    ];
    for outcome in outcomes {
        assert_eq!(outcome.status, Status::Converged);
        assert!(outcome.point.distance(&by_default.point) < 1e-5);
        assert!(outcome.iterations > by_default.iterations, "a step of 1/λ_max is no longer than a tested one");
        assert!(outcome.passes > outcome.iterations + 10, "Lanczos has its price");
    }
}

#[test]
fn restarts_pay_on_an_ill_conditioned_problem() {
    let problem = correlated(120, 80, 6);
    let a = problem.operator();
    let f = problem.squares(&a);
    let penalty = lasso(&f, 0.003);
    let iterations = |restart| {
        let outcome = run(&f, &penalty, &Fista { restart, ..Fista::default() }, to_gap(1e-10, 5000)).0;
        (outcome.iterations, outcome.status)
    };
    let (never, _) = iterations(Restart::Never);
    for restart in [Restart::Gradient, Restart::Objective] {
        let (with, status) = iterations(restart);
        assert_eq!(status, Status::Converged);
        assert!(2 * with < never, "{with} with {restart:?}, {never} without");
    }
}

#[test]
fn the_monotone_twist_never_rises_and_the_plain_one_does() {
    let problem = correlated(120, 80, 7);
    let a = problem.operator();
    let f = problem.squares(&a);
    let penalty = lasso(&f, 0.01);
    let rises = |safeguard| {
        let method = Twist { safeguard, ..Twist::default() };
        let events = run(&f, &penalty, &method, to_gap(1e-9, 3000)).1;
        events.windows(2).filter(|w| w[1].objective > w[0].objective * (1.0 + 1e-13)).count()
    };
    assert_eq!(rises(Safeguard::Descent), 0);
    assert!(rises(Safeguard::Off) > 0);
}

/// Two-step iterations take about the root of the iterations of plain IST, which is TwIST with α = β = 1.
#[test]
fn two_steps_beat_one() {
    let problem = correlated(120, 80, 8);
    let a = problem.operator();
    let f = problem.squares(&a);
    let penalty = lasso(&f, 0.01);
    let iterations = |lambda_1| {
        let outcome = run(&f, &penalty, &Twist { lambda_1, ..Twist::default() }, to_gap(1e-8, 50_000)).0;
        assert_eq!(outcome.status, Status::Converged);
        outcome.iterations
    };
    assert!(3 * iterations(1e-3) < iterations(1.0));
}

fn logistic(problem: &Planted) -> Logistic {
    let scaled: Vec<f64> = problem.target.iter().map(|z| 20.0 * z + 1.0).collect();
    Logistic::new(simulate::labels(&scaled, 9)).unwrap()
}

#[test]
fn logistic_losses_meet_the_optimality_conditions() {
    let problem = Planted::new(100, 60, 5, 0.0, 9);
    let a = problem.operator();
    let f = Objective::new(&a, logistic(&problem)).unwrap();
    let penalty = lasso(&f, 0.1);
    let fista = run(&f, &penalty, &Fista::default(), to_gap(1e-12, 2000)).0;
    let twist = run(&f, &penalty, &Twist::default(), to_gap(1e-12, 2000)).0;
    for outcome in [&fista, &twist] {
        assert_eq!(outcome.status, Status::Converged, "{}", outcome.iterations);
        assert!(kkt(&f, &penalty, &outcome.point) < 1e-4);
        assert_eq!(outcome.passes, outcome.iterations + 1);
    }
    assert!(fista.point.distance(&twist.point) < 1e-4 * fista.point.norm());
}

/// An intercept pays nothing: both losses, against a design that is centred by hand, or by its gradient.
#[test]
fn an_intercept_is_minimised_out() {
    let problem = Planted::new(80, 40, 5, 0.1, 10);
    let a = problem.operator();
    let with = WithIntercept::new(&a);
    let mut weights = vec![1.0; 41];
    weights[40] = 0.0;
    let shifted: Vec<f64> = problem.target.iter().map(|y| y + 5.0).collect();
    let f = Objective::new(&with, LeastSquares::new(shifted.clone()).unwrap()).unwrap();
    let penalty = L1::new(0.05, 41).unwrap().weighted(weights.clone()).unwrap();
    let mut prices = vec![0.05; 41];
    prices[40] = 0.0;
    let ones = [problem.design.clone(), vec![1.0; 80]].concat();
    let naive = SparseVec::from_dense(&naive_lasso(&ones, &shifted, &prices));
    // TwIST ends where its last gradient was, and that serves the statement of quality; FISTA's was at an extrapolation.
    for (outcome, more) in [
        (run(&f, &penalty, &Fista::default(), to_gap(1e-12, 500)).0, 1),
        (run(&f, &penalty, &Twist { lambda_1: 1e-2, ..Twist::default() }, to_gap(1e-12, 500)).0, 0),
    ] {
        assert_eq!(outcome.status, Status::Converged);
        assert!(outcome.point.distance(&naive) < 1e-5);
        assert_eq!(outcome.passes, outcome.iterations + more);
    }
    let f = Objective::new(&with, logistic(&problem)).unwrap();
    let penalty = L1::new(0.3, 41).unwrap().weighted(weights).unwrap();
    let outcome = run(&f, &penalty, &Fista::default(), to_gap(1e-12, 1000)).0;
    assert_eq!(outcome.status, Status::Converged);
    let gap = outcome.quality.unwrap().certificate.unwrap().gap;
    assert!(gap < 1e-9, "{gap}");
}

#[test]
fn the_minimum_is_a_fixed_point_and_zero_is_found_at_once() {
    let problem = Planted::new(40, 60, 4, 0.1, 13);
    let a = problem.operator();
    let f = problem.squares(&a);
    let penalty = lasso(&f, 1.0 + 1e-9);
    for kind in [
        run(&f, &penalty, &Fista::default(), to_gap(0.0, 10)).1[0].kind,
        run(&f, &penalty, &Twist::default(), to_gap(0.0, 10)).1[0].kind,
    ] {
        assert_eq!(kind, Move::Fixed);
    }
}

#[test]
fn a_fixed_step_that_is_too_long_is_no_convergence() {
    let problem = Planted::new(40, 60, 4, 0.1, 14);
    let a = problem.operator();
    let f = problem.squares(&a);
    let penalty = lasso(&f, 0.1);
    let step = ProximalStep::Fixed(10.0);
    let fista = run(&f, &penalty, &Fista { step, restart: Restart::Never }, to_gap(1e-9, 500)).0;
    assert_eq!(fista.status, Status::Diverged);
    let twist = run(&f, &penalty, &Twist { step, ..Twist::default() }, to_gap(1e-9, 500)).0;
    assert_eq!(twist.status, Status::Stalled);
}

#[test]
fn options_that_make_no_sense_are_named() {
    let problem = Planted::new(20, 30, 2, 0.0, 15);
    let a = problem.operator();
    let f = problem.squares(&a);
    let penalty = L1::new(0.1, 30).unwrap();
    for mu in [0.0, -1.0, f64::INFINITY] {
        refused(&f, &penalty, &Fista { step: ProximalStep::Fixed(mu), ..Fista::default() }, "option step");
    }
    for lambda_1 in [0.0, 1.5] {
        refused(&f, &penalty, &Twist { lambda_1, ..Twist::default() }, "option lambda_1");
    }
}
