//! The driver: stop rules, observers, stages, lockstep, checkpoints, quality.

use std::ops::ControlFlow;

use crate::contract::in_pool;
use crate::planted::{
    Completion, Planted, after_exchanges, defaults, finish, k_sparse, least, objective, solved, squares,
};
use katoms::driver::{Event, Options, Run, Stages, lockstep, solve};
use katoms::loss::{LeastSquares, Loss};
use katoms::method::{AcceleratedIht, Momentum, Move, Refit, Safeguard, Step};
use katoms::operator::{Counted, Dense, Rows, Standardized};
use katoms::set::{ConstraintSet, KSparse, Rank};
use katoms::space::{Point, SparseVec};
use katoms::{Error, Objective, Outcome, Status, Stop, fit};

fn slow() -> AcceleratedIht {
    AcceleratedIht { momentum: Momentum::ClosedForm, refit: Refit::Never, ..defaults() }
}

fn ended(problem: &Planted, method: &AcceleratedIht, stop: Stop) -> Outcome<SparseVec> {
    let set = problem.set();
    let options = Options { stop, ..Options::for_set(&set) };
    solve(&problem.least_squares(), &set, method, options, |_, _| ControlFlow::Continue(())).unwrap()
}

#[test]
fn each_stop_rule_ends_the_run_and_says_so() {
    let problem = Planted::new(60, 100, 5, 0.3, 1);
    let stop = Stop::default();
    let converged = ended(&problem, &slow(), stop);
    assert_eq!(converged.status, Status::Converged);
    assert!(converged.trace.last().unwrap().change <= 1e-6);

    let capped = ended(&problem, &slow(), Stop { iterations: 3, ..stop });
    assert_eq!((capped.status, capped.iterations), (Status::IterationCap, 3));
    let passes = ended(&problem, &slow(), Stop { passes: Some(2), ..stop });
    assert_eq!((passes.status, passes.iterations, passes.passes), (Status::PassCap, 2, 4), "and two for the quality");
    let hurried = ended(&problem, &slow(), Stop { seconds: Some(1e-12), ..stop });
    assert_eq!((hurried.status, hurried.iterations), (Status::TimeLimit, 1));

    let loose = ended(&problem, &slow(), Stop { stationarity: Some(1e-2), ..stop });
    assert_eq!(loose.status, Status::Converged);
    assert!(loose.iterations < converged.iterations);
    assert!(loose.quality.unwrap().stationarity <= 1e-2);
}

#[test]
fn a_perfect_fit_ends_the_run_without_another_pass() {
    let problem = Planted::new(80, 100, 5, 0.0, 1);
    let eager = ended(&problem, &defaults(), Stop::default());
    let patient = ended(&problem, &defaults(), Stop { perfect: Some(0.0), ..Stop::default() });
    assert_eq!(eager.point, patient.point);
    assert_eq!(eager.iterations + 1, patient.iterations);
    assert_eq!(patient.trace.last().unwrap().kind, Move::Fixed);
}

#[test]
fn a_step_that_is_too_long_diverges_and_never_looks_like_success() {
    let problem = Planted::new(60, 100, 5, 0.1, 2);
    let outcome = ended(&problem, &AcceleratedIht::plain(Step::Fixed(50.0)), Stop::default());
    assert_eq!(outcome.status, Status::Diverged);
    let safe = AcceleratedIht { safeguard: Safeguard::Descent, ..AcceleratedIht::plain(Step::Fixed(50.0)) };
    assert_eq!(ended(&problem, &safe, Stop::default()).status, Status::Converged);
}

#[test]
fn an_observer_sees_every_move_and_may_stop() {
    let problem = Planted::new(60, 100, 5, 0.3, 1);
    let (f, set) = (problem.least_squares(), problem.set());
    let mut seen = Vec::new();
    let outcome = solve(&f, &set, &slow(), Options::for_set(&set), |event, x| {
        assert!(x.indices().len() <= 5);
        seen.push(*event);
        if seen.len() == 4 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })
    .unwrap();
    assert_eq!(outcome.status, Status::Stopped);
    assert_eq!(outcome.trace, seen);
    for (i, event) in seen.iter().enumerate() {
        assert_eq!((event.iteration, event.passes, event.atoms), (i + 1, i + 1, 5));
        assert!(event.step > 0.0 && event.columns > 0 && event.seconds > 0.0);
    }
    assert!(seen.windows(2).all(|w| w[1].objective < w[0].objective && w[1].columns > w[0].columns));
    assert_eq!(seen[0].entered, 5);
}

#[test]
fn a_refit_at_the_end_comes_also_when_the_observer_stops() {
    let problem = Planted::new(60, 100, 5, 0.3, 1);
    let (f, set) = (problem.least_squares(), problem.set());
    let method = AcceleratedIht { refit: Refit::AtEnd, ..slow() };
    let outcome = solve(&f, &set, &method, Options::for_set(&set), |_, _| ControlFlow::Break(())).unwrap();
    assert_eq!((outcome.status, outcome.iterations), (Status::Stopped, 1));
    let support = outcome.point.support();
    assert!(f.gradient_on(&f.at(outcome.point), &support).norm() < 1e-12);
}

#[test]
fn a_loss_at_odds_with_its_gradient_stalls_and_is_no_success() {
    /// Least squares that claims the opposite gradient.
    #[derive(Debug)]
    struct Lying(LeastSquares);
    impl Loss for Lying {
        fn n_outputs(&self) -> usize {
            self.0.n_outputs()
        }
        fn value(&self, z: &[f64]) -> f64 {
            self.0.value(z)
        }
        fn gradient(&self, z: &[f64], r: &mut [f64]) {
            self.0.gradient(z, r);
            r.iter_mut().for_each(|r| *r = -*r);
        }
        fn curvature(&self, z: &[f64], h: &mut [f64]) {
            self.0.curvature(z, h);
        }
        fn curvature_bound(&self) -> f64 {
            1.0
        }
        fn is_quadratic(&self) -> bool {
            true
        }
    }
    let problem = Planted::new(60, 100, 5, 0.3, 1);
    let f = objective(problem.operator(), Lying(problem.loss()));
    let method = AcceleratedIht { momentum: Momentum::Constant(0.0), ..slow() };
    assert_eq!(solved(&f, &problem.set(), &method).status, Status::Stalled);
}

#[test]
fn stages_serve_vectors_too() {
    let problem = Planted::new(150, 400, 20, 0.0, 3);
    let (f, set) = (problem.least_squares(), problem.set());
    let options = Options { stages: Stages::growing(20), ..Options::for_set(&set) };
    let outcome = solve(&f, &set, &defaults(), options, |_, x| {
        assert!(x.indices().len() <= 20);
        ControlFlow::Continue(())
    })
    .unwrap();
    let atoms: Vec<usize> = outcome.trace.iter().map(|e| e.atoms).collect();
    assert!(atoms.is_sorted() && atoms[0] == 1 && atoms.contains(&5) && atoms.last() == Some(&20), "{atoms:?}");
    assert!(outcome.point.distance(&problem.truth) < 1e-10);
}

/// Folds over one counted operator: each fit has its own rows and its own standardisation.
#[test]
fn fits_in_lockstep_make_the_same_moves_as_alone_and_share_each_pass() {
    let (m, n) = (90, 150);
    let problem = Planted::new(m, n, 6, 0.2, 4);
    let counted = Counted::new(problem.operator());
    let folds: Vec<Vec<usize>> = (0..3).map(|fold| (0..m).filter(|i| i % 3 != fold).collect()).collect();
    let dense = problem.operator();
    let view = |rows: &Vec<usize>| {
        let alone = Standardized::fit(Rows::new(&dense, rows.clone()).unwrap(), &[1.0; 60]).unwrap();
        let (centres, scales) = (alone.centres().to_vec(), alone.scales().to_vec());
        let shared = Standardized::new(Rows::new(&counted, rows.clone()).unwrap(), centres, scales).unwrap();
        (alone, shared, squares(rows.iter().map(|&i| problem.target[i]).collect::<Vec<_>>()))
    };
    let views: Vec<_> = folds.iter().map(view).collect();
    let sets: Vec<KSparse> = [3, 6].iter().map(|&k| k_sparse(k, n)).collect();
    let objectives: Vec<_> = views
        .iter()
        .flat_map(|(_, shared, loss)| sets.iter().map(move |_| Objective::new(shared, loss).unwrap()))
        .collect();
    let method = slow();
    let mut runs: Vec<_> = objectives
        .iter()
        .enumerate()
        .map(|(i, f)| Run::new(f, &sets[i % 2], &method, Options::for_set(&sets[i % 2])).unwrap())
        .collect();
    counted.take();
    lockstep(&mut runs).unwrap();
    let longest = runs.iter().map(|run| run.trace().len()).max().unwrap();
    assert_eq!(counted.take().passes, longest, "one pass a round, whatever the number of fits");

    for (i, run) in runs.iter().enumerate() {
        let f = Objective::new(&views[i / 2].0, &views[i / 2].2).unwrap();
        let mut alone = Run::new(&f, &sets[i % 2], &method, Options::for_set(&sets[i % 2])).unwrap();
        finish(&mut alone);
        assert_eq!(alone.iterate(), run.iterate(), "fit {i}");
        assert_eq!(alone.trace().len(), run.trace().len());
        let objectives = |run: &[Event]| run.iter().map(|e| e.objective).collect::<Vec<_>>();
        assert_eq!(objectives(alone.trace()), objectives(run.trace()));
        assert!(run.is_done());
    }
}

#[test]
fn lockstep_refuses_fits_on_different_data() {
    let (one, two) = (Planted::new(30, 40, 2, 0.1, 1), Planted::new(30, 40, 2, 0.1, 2));
    let (a, b) = (one.operator(), two.operator());
    let (f, g) = (one.squares(&a), two.squares(&b));
    let (set, method) = (one.set(), slow());
    let mut runs = [&f, &g].map(|f| Run::new(f, &set, &method, Options::for_set(&set)).unwrap());
    assert_eq!(lockstep(&mut runs).unwrap_err(), Error::Lockstep { fit: 1 });
    let mut runs = [&f, &f].map(|f| Run::new(f, &set, &method, Options::for_set(&set)).unwrap());
    assert_eq!(lockstep(&mut runs).unwrap_err(), Error::SharedObjective { fit: 1 });
}

#[test]
fn a_resumed_run_makes_the_moves_of_an_uninterrupted_one() {
    let problem = Planted::new(60, 100, 5, 0.3, 6);
    let (f, set) = (problem.least_squares(), problem.set());
    let method = AcceleratedIht { momentum: Momentum::Nesterov, ..slow() };
    let options = || Options { stages: Stages::growing(5), ..Options::for_set(&set) };
    let mut whole = Run::new(&f, &set, &method, options()).unwrap();
    let mut saved = Vec::new();
    while !whole.is_done() {
        saved.push(whole.save().unwrap());
        whole.step();
    }
    assert!(saved.len() > 5);
    for (moves, bytes) in saved.iter().enumerate() {
        let mut resumed = Run::resume(&f, &set, &method, options(), bytes).unwrap();
        assert_eq!(resumed.trace().len(), moves);
        finish(&mut resumed);
        assert_eq!(resumed.iterate(), whole.iterate());
        let key =
            |run: &Run<_, _, _, _>| run.trace().iter().map(|e| (e.objective, e.passes, e.atoms)).collect::<Vec<_>>();
        assert_eq!(key(&resumed), key(&whole));
    }
    // A run that was capped goes on when it is resumed with a larger cap.
    let mut capped =
        Run::new(&f, &set, &method, Options { stop: Stop { iterations: 2, ..Stop::default() }, ..options() }).unwrap();
    finish(&mut capped);
    let mut more = Run::resume(&f, &set, &method, options(), &capped.save().unwrap()).unwrap();
    finish(&mut more);
    assert_eq!(more.outcome().point, whole.outcome().point);
}

#[test]
fn matrices_can_be_saved_too() {
    let problem = Completion::new((20, 25), 3, 0.6, 0.0, 1);
    let (f, set) = (problem.objective(), Rank::new(3, (20, 25)).unwrap());
    let method = AcceleratedIht::for_structure(set.structure());
    let mut whole = Run::new(&f, &set, &method, Options::for_set(&set)).unwrap();
    for _ in 0..7 {
        whole.step();
    }
    let mut resumed = Run::resume(&f, &set, &method, Options::for_set(&set), &whole.save().unwrap()).unwrap();
    for _ in 0..5 {
        whole.step();
        resumed.step();
    }
    assert_eq!(whole.iterate(), resumed.iterate());
}

#[test]
fn a_saved_state_of_another_problem_is_refused() {
    let problem = Planted::new(60, 100, 5, 0.3, 6);
    let (f, set) = (problem.least_squares(), problem.set());
    let method = slow();
    let mut run = Run::new(&f, &set, &method, Options::for_set(&set)).unwrap();
    run.step();
    let bytes = run.save().unwrap();
    let reason = |f: &Objective<_, _>, set: &KSparse, bytes: &[u8]| {
        let resumed = Run::resume(f, set, &method, Options::for_set(set), bytes);
        resumed.err().map(|e| e.to_string()).unwrap_or_default()
    };
    assert_eq!(reason(&f, &set, &bytes), "");
    assert!(reason(&f, &k_sparse(6, 100), &bytes).contains("saved for k = 5, and now k is 6"));
    let mut target = problem.target.clone();
    target[0] += 1.0;
    let other = objective(problem.operator(), squares(target));
    assert!(reason(&other, &set, &bytes).contains("other data: the objective at the saved point"));
    let mut design = problem.design.clone();
    design.iter_mut().for_each(|v| *v *= 1.5);
    let other = objective(Dense::column_major(design, 60, 100).unwrap(), problem.loss());
    assert!(reason(&other, &set, &bytes).contains("other data: the objective"), "another design is told");
    let fewer = objective(Dense::column_major(&problem.design[..60 * 40], 60, 40).unwrap(), problem.loss());
    let said = reason(&fewer, &k_sparse(5, 40), &bytes);
    assert!(said.contains("other data, of 60 rows and 100 columns; now there are 60 and 40"), "{said}");
    for at in 0..bytes.len() {
        assert!(reason(&f, &set, &bytes[..at]).contains("damaged"), "cut at {at}");
        let mut flipped = bytes.clone();
        flipped[at] ^= 0x10;
        assert!(reason(&f, &set, &flipped).contains("damaged"), "flipped at {at}");
    }
    assert!(reason(&f, &set, b"not a saved state at all").contains("no saved state"));
}

/// The statement agrees with trying all exchanges on a small problem.
#[test]
fn quality_tells_a_stuck_point_from_a_good_one() {
    let mut stuck = 0;
    for seed in 0..15 {
        let problem = Planted::new(20, 12, 3, 1.0, seed);
        let outcome = ended(&problem, &defaults(), Stop::default());
        let quality = outcome.quality.unwrap();
        let best = least(after_exchanges(&problem.least_squares(), &problem.set(), outcome.point.indices()));
        let gain = (outcome.objective - best).max(0.0);
        assert!(quality.exchange_gain <= gain * (1.0 + 1e-9) + 1e-12, "seed {seed}: more than there is");
        assert_eq!((quality.exchanges_compared, quality.exhaustive), (9, false));
        assert!(quality.stationarity < 1e-9);
        if gain > 1e-9 * outcome.objective {
            stuck += 1;
            assert!(quality.improvable(), "seed {seed}: an exchange gains {gain}, the statement saw none");
        }
    }
    assert!(stuck > 0, "no draw was hard enough to test anything");
}

#[test]
fn bad_options_are_refused_before_the_run() {
    let problem = Planted::new(10, 20, 2, 0.0, 1);
    let (f, set) = (problem.least_squares(), problem.set());
    let (good, d) = (Options::for_set(&set), Stop::default());
    let refused = |method: AcceleratedIht, options: Options| {
        Run::new(&f, &set, &method, options).err().map(|e| e.to_string()).unwrap_or_default()
    };
    assert_eq!(refused(defaults(), good.clone()), "");
    let mut stops = vec![
        (Stop { iterations: 0, ..d }, "iterations"),
        (Stop { passes: Some(0), ..d }, "passes"),
        (Stop { seconds: Some(0.0), ..d }, "seconds"),
    ];
    for bad in [f64::NAN, -1.0, 1.0] {
        stops.push((Stop { tolerance: bad, ..d }, "tolerance"));
        stops.push((Stop { stationarity: Some(bad), ..d }, "stationarity"));
        stops.push((Stop { perfect: Some(bad), ..d }, "perfect"));
    }
    for (stop, name) in stops {
        assert!(refused(defaults(), Options { stop, ..good.clone() }).contains(name), "{name}");
    }
    for before in [0, 2] {
        let stages = Stages { before: vec![before], ..Stages::growing(2) };
        assert!(
            refused(defaults(), Options { stages, ..good.clone() }).contains(&format!("atoms of a stage is {before}"))
        );
    }
    let methods = [
        (AcceleratedIht::plain(Step::Fixed(0.0)), "step is 0"),
        (AcceleratedIht::plain(Step::Fixed(f64::INFINITY)), "step"),
        (AcceleratedIht::plain(Step::TwoOverSum { alpha: -1.0, beta: 1.0 }), "alpha"),
        (AcceleratedIht { momentum: Momentum::Constant(f64::NAN), ..defaults() }, "momentum"),
    ];
    for (method, name) in methods {
        assert!(refused(method, good.clone()).contains(name), "{name}");
    }
    assert!([-1.0, f64::NAN].into_iter().all(|ridge| problem.least_squares().ridge(ridge).is_err()));
    let other = k_sparse(2, 21);
    let error = Run::new(&f, &other, &defaults(), Options::for_set(&other)).err().unwrap();
    assert_eq!(error, Error::Domain { operator: "20".into(), set: "21".into() });
    assert!(Run::starting_at(&f, &set, &defaults(), Options::for_set(&set), SparseVec::zero(7)).is_err());
    assert!(Objective::new(problem.operator(), squares(vec![1.0; 9])).is_err());
}

#[test]
fn a_warm_start_is_projected_and_used() {
    let problem = Planted::new(60, 100, 5, 0.1, 8);
    let (f, set) = (problem.least_squares(), problem.set());
    let cold = fit(&f, &set).unwrap();
    let method = defaults();
    let warm = Run::starting_at(&f, &set, &method, Options::for_set(&set), cold.point.clone()).unwrap();
    assert!(warm.iterate().distance(&cold.point) <= 1e-12 * cold.point.norm());
    // A start on the right support with wrong values is optimised, not taken for an answer.
    let half = cold.point.map(|_, v| 0.5 * v);
    for safeguard in [Safeguard::Off, Safeguard::Descent] {
        let method = AcceleratedIht { safeguard, ..defaults() };
        let mut run = Run::starting_at(&f, &set, &method, Options::for_set(&set), half.clone()).unwrap();
        finish(&mut run);
        assert!(run.iterate().distance(&cold.point) <= 1e-12 * cold.point.norm(), "{safeguard:?}");
    }
    let long = SparseVec::full(&vec![1.0; 100]);
    let run = Run::starting_at(&f, &set, &method, Options::for_set(&set), long).unwrap();
    assert_eq!(run.iterate().indices().len(), 5);
}

#[test]
fn the_same_bits_at_one_and_two_threads() {
    let (problem, matrix) = (Planted::new(700, 3000, 40, 0.2, 9), Completion::new((90, 70), 4, 0.4, 0.0, 2));
    let once = |threads: usize| {
        in_pool(threads, || {
            let sparse = fit(&problem.least_squares(), &problem.set()).unwrap();
            let low = fit(&matrix.objective(), &Rank::new(4, (90, 70)).unwrap()).unwrap();
            (sparse.point, sparse.objective.to_bits(), low.point, low.objective.to_bits())
        })
    };
    assert_eq!(once(1), once(2));
}

#[test]
fn scaling_the_data_changes_no_support_and_no_iteration_count() {
    let problem = Planted::new(120, 400, 10, 0.3, 10);
    let methods = [defaults(), slow(), AcceleratedIht { refit: Refit::AtEnd, ..slow() }];
    for method in methods {
        let run = |x_scale: f64, y_scale: f64| {
            let design: Vec<f64> = problem.design.iter().map(|v| v * x_scale).collect();
            let target: Vec<f64> = problem.target.iter().map(|v| v * y_scale).collect();
            let f = objective(Dense::column_major(design, 120, 400).unwrap(), squares(target));
            let outcome = solved(&f, &k_sparse(12, 400), &method);
            let improvable = outcome.quality.unwrap().improvable();
            (outcome.point.indices().to_vec(), outcome.iterations, outcome.status, improvable)
        };
        let plain = run(1.0, 1.0);
        for scale in [1e6, 1e-6] {
            assert_eq!(run(1.0, scale), plain, "y times {scale}");
            assert_eq!(run(scale, 1.0), plain, "X times {scale}");
        }
    }
}
