//! The search for the best answer: what it costs, and how it is stopped and resumed.

use std::ops::ControlFlow;

use crate::planted::{Planted, defaults, finish, k_sparse, least, objective, solved, squares};
use katoms::driver::{Event, Options, Run};
use katoms::method::{AcceleratedIht, Momentum, Move, Refit};
use katoms::operator::{Counted, Csc, Dense};
use katoms::search::{Effort, Search};
use katoms::set::Groups;
use katoms::space::{Point, SparseVec};
use katoms::{Error, Fit, Outcome, Status, Stop, fit, simulate};

fn searched(problem: &Planted, how: Search, stop: Stop) -> Result<Outcome<SparseVec>, Error> {
    let set = problem.set();
    let options = Options { stop, ..Options::for_set(&set) };
    let f = problem.least_squares();
    let outcome = Fit::new(&f, &set).options(options).search(how).run()?;
    assert_eq!(f.cost().passes, outcome.passes, "every pass is told");
    Ok(outcome)
}

#[test]
fn quick_is_one_run_and_no_statement() {
    let problem = Planted::hard(1);
    let quick = searched(&problem, Search::quick(), Stop::default()).unwrap();
    let solved = solved(&problem.least_squares(), &problem.set(), &defaults());
    assert_eq!((quick.attempts.len(), quick.quality.clone()), (1, None));
    assert_eq!((&quick.point, quick.status, quick.iterations), (&solved.point, solved.status, solved.iterations));
    assert_eq!(quick.passes + 1, solved.passes, "without the one of the statement, whose gradient the run has left");
}

#[test]
fn hard_problems_are_won_by_moves_that_never_raise_the_objective() {
    let (mut won, mut exchanged) = (0, 0);
    for seed in 0..12 {
        let problem = Planted::hard(seed);
        let outcome = fit(&problem.least_squares(), &problem.set()).unwrap();
        let stuck = outcome.objective < outcome.attempts[0].objective * (1.0 - 1e-6);
        assert!(!stuck || outcome.attempts.len() > 1);
        won += usize::from(stuck);
        let quality = outcome.quality.unwrap();
        assert!(quality.exhaustive && !quality.improvable());
        let falls = |w: &[Event]| w[1].objective <= w[0].objective * (1.0 + 1e-12);
        assert!(outcome.trace.windows(2).all(falls), "seed {seed}");
        assert!(outcome.trace.iter().enumerate().all(|(i, event)| event.iteration == i + 1));
        assert!(outcome.trace.is_sorted_by_key(|event| (event.passes, event.columns)));
        let moves = outcome.trace.iter().filter(|event| event.kind == Move::Exchanged);
        let made: usize = moves.map(|event| event.entered).sum();
        assert_eq!(made, outcome.attempts.iter().map(|attempt| attempt.exchanges).sum::<usize>());
        exchanged += made;
        if let Some(last) = outcome.trace.last() {
            assert!((outcome.objective / last.objective - 1.0).abs() < 1e-12);
        }
    }
    assert!(won > 0 && exchanged > 0);
}

#[test]
fn known_noise_ends_the_search_early() {
    let mut earlier = 0;
    for seed in 0..8 {
        let problem = Planted::hard(seed);
        let f = problem.least_squares();
        let with = |noise| searched(&problem, Search { noise, ..Search::default() }, Stop::default()).unwrap();
        let whole = with(None);
        // a standard deviation at which the first run is good enough
        let content = with(Some((2.1 * f.value(&f.at(SparseVec::zero(60))) / 40.0).sqrt()));
        assert_eq!((content.attempts.len(), content.attempts[0].exchanges), (1, 0));
        let nothing = with(Some(0.0));
        assert_eq!((&nothing.attempts, &nothing.point), (&whole.attempts, &whole.point));
        earlier += usize::from(whole.attempts.len() > 1);
    }
    assert!(earlier > 0);
}

#[test]
fn bad_options_are_refused() {
    let problem = Planted::hard(0);
    let refused = |how: Search, stop: Stop| searched(&problem, how, stop).unwrap_err();
    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        let effort = Search { effort: Effort::Times(bad), ..Search::default() };
        assert!(matches!(refused(effort, Stop::default()), Error::Option { name: "effort", .. }));
        let noise = Search { noise: Some(bad), ..Search::default() };
        assert!(matches!(refused(noise, Stop::default()), Error::Option { name: "noise", .. }));
    }
    for dim in [59, 61] {
        let error = fit(&problem.least_squares(), &k_sparse(8, dim)).unwrap_err();
        assert_eq!(error, Error::Domain { operator: "60".into(), set: dim.to_string() });
    }
    let passes = Stop { passes: Some(0), ..Stop::default() };
    assert!(matches!(refused(Search::default(), passes), Error::OutOfRange { .. }));
}

#[test]
fn an_easy_problem_pays_nothing() {
    for seed in 0..3 {
        let problem = Planted::new(80, 200, 6, 0.0, seed);
        let counted = Counted::new(problem.operator());
        let (f, set) = (objective(&counted, problem.loss()), problem.set());
        let solved = solved(&f, &set, &defaults());
        assert_eq!(counted.take().passes, solved.passes);
        let outcome = fit(&f, &set).unwrap();
        assert_eq!(outcome.attempts.len(), 1);
        assert_eq!(outcome.passes, outcome.iterations, "the run's alone: a perfect fit needs no statement");
        assert_eq!(counted.take().passes, outcome.passes);
        assert_eq!((outcome.status, outcome.point), (Status::Converged, solved.point));
    }
}

#[test]
fn every_pass_and_column_is_counted() {
    for seed in 0..3 {
        let problem = Planted::hard(seed);
        let counted = Counted::new(problem.operator());
        let f = objective(&counted, problem.loss()).ridge(0.1).unwrap();
        let outcome = fit(&f, &problem.set()).unwrap();
        assert_eq!(counted.take().passes, outcome.passes);
        let set = Groups::new(4, 60, (0..20).map(|g| vec![g, 20 + g, 40 + g]).collect()).unwrap();
        let outcome = fit(&f, &set).unwrap();
        let counts = counted.take();
        assert_eq!((counts.passes, counts.columns), (outcome.passes, outcome.columns));
    }
    // a sparse design: every twentieth entry of a column
    let (m, n) = (200, 60);
    let values = simulate::gaussian(m, n, 3);
    let places = || (0..n).flat_map(|j| (j % 20..m).step_by(20).map(move |i| (i, j)));
    let stored: Vec<f64> = places().map(|(i, j)| values[j * m + i]).collect();
    let starts: Vec<usize> = (0..=n).map(|j| j * m / 20).collect();
    let indices: Vec<u32> = places().map(|(i, _)| i as u32).collect();
    let counted = Counted::new(Csc::new(m, n, starts, indices, stored).unwrap());
    let f = objective(&counted, squares(simulate::gaussian(m, 1, 4)));
    let outcome = fit(&f, &k_sparse(4, n)).unwrap();
    let counts = counted.take();
    assert_eq!((counts.passes, counts.columns), (outcome.passes, outcome.columns));
}

#[test]
fn an_observer_stops_the_search_at_any_move() {
    let mut later = 0;
    for seed in 0..3 {
        let problem = Planted::hard(seed);
        let (f, set) = (problem.least_squares(), problem.set());
        let whole = fit(&f, &set).unwrap();
        later += usize::from(whole.attempts.len() > 1);
        for last in 1..=whole.trace.len() {
            let mut seen = Vec::new();
            let observer = |event: &Event, x: &SparseVec| {
                assert!(x.indices().len() <= 8);
                assert!((f.value(&f.at(x.clone())) / event.objective - 1.0).abs() < 1e-12);
                seen.push(event.objective);
                if seen.len() == last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            let outcome = Fit::new(&f, &set).observe(observer).run().unwrap();
            assert_eq!(seen.len(), last, "a stopped search tells of no more moves");
            assert_eq!((outcome.status, outcome.iterations), (Status::Stopped, last));
            assert!(outcome.point.indices().len() <= 8);
            assert!((outcome.objective / least(seen) - 1.0).abs() < 1e-12, "seed {seed}, move {last}");
            assert!(outcome.quality.is_some());
        }
    }
    assert!(later > 0);
}

/// A search from a run that was moved by hand, saved and resumed is the search itself: point, trace, passes. The columns
/// that the last refit had kept are copied once more.
#[test]
fn a_search_goes_on_from_a_run_wherever_that_stands() {
    for (seed, steps) in [(0, 0), (1, 1), (2, 2), (3, 100)] {
        let problem = Planted::hard(seed);
        let (again, later) = (problem.least_squares(), problem.least_squares());
        let (set, method) = (problem.set(), defaults());
        let whole = fit(&problem.least_squares(), &set).unwrap();
        let mut run = Run::new(&again, &set, &method, Options::for_set(&set)).unwrap();
        for _ in 0..steps {
            if !run.is_done() {
                run.step();
            }
        }
        let run = Run::resume(&later, &set, &method, Options::for_set(&set), &run.save().unwrap()).unwrap();
        let resumed = Fit::new(&later, &set).run_from(run).unwrap();
        assert_eq!(resumed.point, whole.point);
        assert_eq!((resumed.status, &resumed.quality), (whole.status, &whole.quality));
        assert_eq!(resumed.passes, whole.passes, "after {steps} steps");
        let once_more = resumed.columns - whole.columns;
        assert!(once_more <= if steps == 0 { 0 } else { 8 }, "{once_more} columns after {steps} steps");
        let moves = |outcome: &Outcome<SparseVec>| -> Vec<(usize, f64, usize)> {
            outcome.trace.iter().map(|e| (e.iteration, e.objective, e.passes)).collect()
        };
        assert_eq!(moves(&resumed), moves(&whole));
    }
}

/// A run that was stopped by hand is the answer; a wish to stop is heard between two exchanges.
#[test]
fn a_search_stops_within_its_exchanges_and_after_a_stopped_run() {
    let (set, method) = (k_sparse(8, 60), defaults());
    let mut cut = 0;
    for seed in 0..6 {
        let problem = Planted::hard(seed);
        let f = problem.least_squares();
        let mut run = Run::new(&f, &set, &method, Options::for_set(&set)).unwrap();
        run.step();
        run.stop();
        let outcome = Fit::new(&f, &set).run_from(run).unwrap();
        assert_eq!((outcome.status, outcome.trace.len(), outcome.attempts.len()), (Status::Stopped, 1, 1));
        let whole = fit(&problem.least_squares(), &set).unwrap();
        let stopped = Fit::new(&problem.least_squares(), &set).poll(|_| ControlFlow::Break(())).run().unwrap();
        if whole.attempts.len() > 1 {
            assert_eq!(stopped.status, Status::Stopped);
            assert!(stopped.objective > whole.objective);
            cut += 1;
        }
    }
    assert!(cut > 0);
}

#[test]
fn caps_hold_over_the_whole_search() {
    let (mut capped, mut excess) = (0, 0);
    for seed in 0..4 {
        let problem = Planted::hard(seed);
        let with = |stop| searched(&problem, Search { quality: false, ..Search::default() }, stop).unwrap();
        let whole = with(Stop::default());
        for most in 1..=whole.passes + 1 {
            let outcome = with(Stop { passes: Some(most), ..Stop::default() });
            assert!(outcome.point.indices().len() <= 8);
            assert!(matches!(outcome.status, Status::PassCap | Status::Converged));
            if outcome.status == Status::Converged {
                assert_eq!(outcome.point, whole.point, "all that there was to do");
            } else {
                capped += 1;
                assert!(outcome.passes >= most);
            }
            excess = excess.max(outcome.passes.saturating_sub(most));
        }
        for most in 1..=whole.iterations + 1 {
            let outcome = with(Stop { iterations: most, ..Stop::default() });
            assert!(outcome.iterations <= most + 1, "{} {most}", outcome.iterations);
            assert!(matches!(outcome.status, Status::IterationCap | Status::Converged));
        }
        let outcome = with(Stop { seconds: Some(1e-12), ..Stop::default() });
        assert_eq!((outcome.status, outcome.iterations), (Status::TimeLimit, 1));
    }
    assert!(capped > 0 && excess <= 8, "{capped} {excess}");
}

#[test]
fn what_has_not_converged_is_told() {
    let problem = Planted::new(60, 100, 5, 0.3, 1);
    let (f, set) = (problem.least_squares(), problem.set());
    let slow = AcceleratedIht { momentum: Momentum::ClosedForm, refit: Refit::Never, ..defaults() };
    let options = || Options { stop: Stop { iterations: 2, ..Stop::default() }, ..Options::for_set(&set) };
    let mut plain = Run::new(&f, &set, &slow, options()).unwrap();
    finish(&mut plain);
    let (plain, outcome) = (plain.outcome(), Fit::new(&f, &set).method(slow).options(options()).run().unwrap());
    assert_eq!((&outcome.point, outcome.status), (&plain.point, Status::IterationCap));
    let (found, expected) = (outcome.quality.unwrap().stationarity, plain.quality.unwrap().stationarity);
    assert!(expected > 1e-3 && (found / expected - 1.0).abs() < 1e-6, "{found} {expected}");
}

/// One column has nowhere to go.
#[test]
fn a_design_of_one_column_is_fitted() {
    let f = objective(Dense::column_major(&[1.0, 2.0, 3.0], 3, 1).unwrap(), squares(vec![1.0, 0.0, 2.0]));
    let outcome = fit(&f, &k_sparse(1, 1)).unwrap();
    assert_eq!((outcome.status, outcome.point.indices()), (Status::Converged, &[0][..]));
}
