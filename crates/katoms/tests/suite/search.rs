//! The search for the best answer: what it finds, what it says about it, what it costs.

use std::ops::ControlFlow;

use crate::planted::{Planted, defaults};
use katoms::driver::{Event, NearTie, Options, Run, Start, solve};
use katoms::loss::{LeastSquares, Loss};
use katoms::method::{AcceleratedIht, Momentum, Move, Refit, refit_on};
use katoms::operator::{Counted, Csc, Dense, Entries, LinearOperator, WithIntercept, subsampled_dct};
use katoms::search::{Effort, Search};
use katoms::set::{Always, ConstraintSet, CoordinateSet, Groups, KSparse, OverlappingGroups, Rank};
use katoms::space::{IndexSet, LowRank, Point, SparseVec, Subspace};
use katoms::{Error, Fit, Objective, Outcome, Status, Stop, fit, simulate};

/// A design whose neighbouring columns have this correlation, and a noisy planted target.
pub fn correlated(rows: usize, dim: usize, k: usize, correlation: f64, noise: f64, seed: u64) -> Planted {
    let design = simulate::autoregressive(rows, dim, correlation, seed);
    let truth = simulate::sparse_signal(dim, k, seed);
    let mut clean = vec![0.0; rows];
    Dense::column_major(&design, rows, dim).unwrap().apply(&truth, &mut clean);
    let deviation = noise * katoms::linalg::norm(&clean) / (rows as f64).sqrt();
    let target = simulate::noisy(&clean, deviation, seed);
    Planted { rows, design, truth, target }
}

/// A problem on which the first start is often stuck.
fn hard(seed: u64) -> Planted {
    correlated(40, 60, 8, 0.9, 0.5, seed)
}

pub fn thorough() -> Search {
    Search::default()
}

pub fn searched<A, L, S>(f: &Objective<A, L>, set: &S, how: &Search, stop: Stop) -> Result<Outcome<A::Point>, Error>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
    S: CoordinateSet,
{
    let options = Options { stop, ..Options::for_set(set) };
    Fit::new(f, set).method(defaults()).options(options).search(how.clone()).run()
}

/// The minimum of f over some coordinates.
pub fn value_on<A, L>(f: &Objective<A, L>, coordinates: Vec<usize>) -> f64
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
{
    let t = IndexSet::new(f.operator().domain(), coordinates);
    f.value(&refit_on(f, f.at(t.point(&vec![0.0; t.dimension()])), &t))
}

/// The coordinates of some atoms and of what is kept.
fn of_atoms(set: &impl CoordinateSet, chosen: &[usize]) -> Vec<usize> {
    let atoms = set.candidates();
    let members = chosen.iter().flat_map(|&a| atoms.members(a).to_vec());
    members.chain(set.kept().indices().iter().copied()).collect()
}

/// f after every exchange of one chosen atom for another.
pub fn after_exchanges<A, L, S>(f: &Objective<A, L>, set: &S, chosen: &[usize]) -> Vec<f64>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
    S: CoordinateSet,
{
    let atoms = set.candidates();
    let outside: Vec<usize> =
        (0..atoms.len()).filter(|a| !chosen.contains(a) && !atoms.members(*a).is_empty()).collect();
    let one = |out: usize, into: usize| {
        let next: Vec<usize> = chosen.iter().map(|&a| if a == out { into } else { a }).collect();
        value_on(f, of_atoms(set, &next))
    };
    chosen.iter().flat_map(|&out| outside.iter().map(move |&into| (out, into))).map(|(o, i)| one(o, i)).collect()
}

pub fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

/// Every choice of k numbers below n.
fn choices(n: usize, k: usize) -> Vec<Vec<usize>> {
    if k == 0 {
        return vec![Vec::new()];
    }
    let with = |last: usize| choices(last, k - 1).into_iter().map(move |c| [c, vec![last]].concat());
    (k - 1..n).flat_map(with).collect()
}

#[test]
fn no_exchange_improves_the_answer_and_most_answers_are_the_best() {
    let (n, k) = (14, 3);
    for correlation in [0.0, 0.8] {
        let mut best = 0;
        for seed in 0..40 {
            let problem = correlated(20, n, k, correlation, 1.0, seed);
            let a = problem.operator();
            let (f, set) = (problem.squares(&a), KSparse::new(k, n).unwrap());
            let outcome = fit(&f, &set).unwrap();
            assert_eq!(outcome.point.indices().len(), k);
            let quality = outcome.quality.unwrap();
            assert!(quality.exhaustive && !quality.improvable(), "{quality:?}");
            assert_eq!(quality.exchanges_compared, k * (n - k));
            let neighbour = least(&after_exchanges(&f, &set, outcome.point.indices()));
            assert!(neighbour >= outcome.objective * (1.0 - 1e-8), "seed {seed}: {neighbour} {}", outcome.objective);
            let all: Vec<f64> = choices(n, k).into_iter().map(|c| value_on(&f, c)).collect();
            best += usize::from(outcome.objective <= least(&all) * (1.0 + 1e-9));
        }
        println!("the best of all in {best} of 40 draws at correlation {correlation}");
        assert!(best >= 34, "{best} of 40 at correlation {correlation}");
    }
}

/// The gain that an unpolished search reports against brute force; whether there was one.
fn the_gain_is_exact<A, L, S>(f: &Objective<A, L>, set: &S) -> bool
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
    S: CoordinateSet,
{
    let how = Search { quality: true, ..Search::quick() };
    let outcome = searched(f, set, &how, Stop::default()).unwrap();
    let quality = outcome.quality.unwrap();
    let chosen = set.chosen(&outcome.point);
    let values = after_exchanges(f, set, &chosen);
    assert!(quality.exhaustive);
    assert_eq!((outcome.attempts.len(), outcome.attempts[0].exchanges), (1, 0));
    assert_eq!((quality.exchanges_compared, chosen.len()), (values.len(), set.atoms()));
    let gain = (outcome.objective - least(&values)).max(0.0);
    let found = quality.exchange_gain;
    assert!((found - gain).abs() <= 1e-9 * outcome.objective, "{found} {gain}");
    gain > 1e-9 * outcome.objective
}

#[test]
fn the_gain_of_the_best_exchange_is_exact() {
    let (rows, n) = (24, 14);
    let weights: Vec<f64> = (0..rows).map(|i| [0.0, 0.5, 1.0, 3.0][i % 4]).collect();
    let sizes = vec![vec![0], vec![1, 2], vec![3, 9], vec![4, 5, 6], vec![7], vec![8, 10, 11], vec![12, 13]];
    let mut stuck = [0; 6];
    for seed in 0..25 {
        let problem = correlated(rows, n, 4, 0.8, 1.0, seed);
        let a = problem.operator();
        let (f, set) = (problem.squares(&a), KSparse::new(4, n).unwrap());
        let loss = LeastSquares::new(problem.target.clone()).unwrap();
        let weighted = Objective::new(&a, loss.weighted(weights.clone()).unwrap()).unwrap();
        let kept = Always::new(set.clone(), vec![2, 7]).unwrap();
        let shifted: Vec<f64> = problem.target.iter().map(|y| y + 30.0).collect();
        let with_intercept = Objective::new(WithIntercept::new(&a), LeastSquares::new(shifted).unwrap()).unwrap();
        let with_intercept = with_intercept.ridge(0.2).unwrap().free_of_ridge(IndexSet::new(n + 1, vec![n]));
        let groups = Groups::new(3, n, sizes.clone()).unwrap();
        let checks = [
            the_gain_is_exact(&f, &set),
            the_gain_is_exact(&problem.squares(&a).ridge(0.3).unwrap(), &set),
            the_gain_is_exact(&weighted, &set),
            the_gain_is_exact(&f, &kept),
            the_gain_is_exact(&with_intercept, &Always::intercept(&set)),
            the_gain_is_exact(&weighted, &groups),
        ];
        stuck.iter_mut().zip(checks).for_each(|(s, c)| *s += usize::from(c));
    }
    assert!(stuck.iter().all(|&s| s > 0), "no draw was hard enough to test anything: {stuck:?}");
}

#[test]
fn quick_is_one_run_and_no_statement() {
    let problem = hard(1);
    let a = problem.operator();
    let (f, set) = (problem.squares(&a), KSparse::new(8, 60).unwrap());
    let quick = searched(&f, &set, &Search::quick(), Stop::default()).unwrap();
    let go = |_: &Event, _: &SparseVec| ControlFlow::Continue(());
    let solved = solve(&f, &set, &defaults(), Options::for_set(&set), go).unwrap();
    assert_eq!((quick.attempts.len(), quick.quality.clone()), (1, None));
    assert_eq!((&quick.point, quick.status, quick.iterations), (&solved.point, solved.status, solved.iterations));
    assert_eq!(quick.passes + 1, solved.passes, "without the one of the statement, whose gradient the run has left");
}

#[test]
fn a_hard_problem_is_won_by_the_search() {
    let mut won = 0;
    for seed in 0..30 {
        let problem = hard(seed);
        let a = problem.operator();
        let (f, set) = (problem.squares(&a), KSparse::new(8, 60).unwrap());
        let outcome = fit(&f, &set).unwrap();
        let first = outcome.attempts[0];
        let stuck = outcome.objective < first.objective * (1.0 - 1e-6);
        assert!(!stuck || outcome.attempts.len() > 1);
        won += usize::from(stuck);
        let quality = outcome.quality.unwrap();
        assert!(quality.exhaustive && !quality.improvable());
    }
    println!("the search won {won} of 30");
    assert!(won > 0);
}

#[test]
fn known_noise_ends_the_search_early() {
    let mut earlier = 0;
    for seed in 0..20 {
        let problem = hard(seed);
        let a = problem.operator();
        let (f, set) = (problem.squares(&a), KSparse::new(8, 60).unwrap());
        let whole = searched(&f, &set, &thorough(), Stop::default()).unwrap();
        // a standard deviation at which the first run is good enough
        let how = Search { noise: Some((2.1 * f.value(&f.at(SparseVec::zero(60))) / 40.0).sqrt()), ..thorough() };
        let content = searched(&f, &set, &how, Stop::default()).unwrap();
        assert_eq!((content.attempts.len(), content.attempts[0].exchanges), (1, 0));
        let nothing = searched(&f, &set, &Search { noise: Some(0.0), ..thorough() }, Stop::default()).unwrap();
        assert_eq!((&nothing.attempts, &nothing.point), (&whole.attempts, &whole.point));
        earlier += usize::from(whole.attempts.len() > 1);
    }
    assert!(earlier > 0);
}

#[test]
fn bad_options_are_refused() {
    let problem = hard(0);
    let a = problem.operator();
    let (f, set) = (problem.squares(&a), KSparse::new(8, 60).unwrap());
    let refused = |how: &Search, stop: Stop| searched(&f, &set, how, stop).unwrap_err();
    for times in [-1.0, f64::NAN, f64::INFINITY] {
        let how = Search { effort: Effort::Times(times), ..thorough() };
        assert!(matches!(refused(&how, Stop::default()), Error::Option { name: "effort", .. }));
    }
    for noise in [-1.0, f64::NAN, f64::INFINITY] {
        let how = Search { noise: Some(noise), ..thorough() };
        assert!(matches!(refused(&how, Stop::default()), Error::Option { name: "noise", .. }));
    }
    for dim in [59, 61] {
        let other = KSparse::new(8, dim).unwrap();
        let error = searched(&f, &other, &thorough(), Stop::default()).unwrap_err();
        assert_eq!(error, Error::Domain { operator: "60".into(), set: dim.to_string() });
    }
    let passes = Stop { passes: Some(0), ..Stop::default() };
    assert!(matches!(refused(&thorough(), passes), Error::OutOfRange { .. }));
}

#[test]
fn an_easy_problem_pays_nothing() {
    for seed in 0..5 {
        let problem = Planted::new(80, 200, 6, 0.0, seed);
        let counted = Counted::new(problem.operator());
        let f = Objective::new(&counted, LeastSquares::new(problem.target.clone()).unwrap()).unwrap();
        let set = KSparse::new(6, 200).unwrap();
        let go = |_: &Event, _: &SparseVec| ControlFlow::Continue(());
        let solved = solve(&f, &set, &defaults(), Options::for_set(&set), go).unwrap();
        assert_eq!(counted.take().passes, solved.passes);
        let outcome = fit(&f, &set).unwrap();
        assert_eq!(outcome.attempts.len(), 1);
        assert_eq!(outcome.passes, outcome.iterations, "the run's alone: a perfect fit needs no statement");
        assert_eq!(counted.take().passes, outcome.passes);
        assert_eq!((outcome.status, outcome.point), (Status::Converged, solved.point));
    }
}

#[test]
fn every_pass_is_counted() {
    for seed in 0..5 {
        let problem = hard(seed);
        let counted = Counted::new(problem.operator());
        let loss = LeastSquares::new(problem.target.clone()).unwrap();
        let f = Objective::new(&counted, loss).unwrap().ridge(0.1).unwrap();
        let outcome = fit(&f, &KSparse::new(8, 60).unwrap()).unwrap();
        assert_eq!(counted.take().passes, outcome.passes);
        let set = Groups::new(4, 60, (0..20).map(|g| vec![g, 20 + g, 40 + g]).collect()).unwrap();
        let outcome = fit(&f, &set).unwrap();
        let counts = counted.take();
        assert_eq!((counts.passes, counts.columns), (outcome.passes, outcome.columns));
    }
}

#[test]
fn columns_of_a_sparse_design_are_counted_too() {
    let (m, n, k) = (200, 60, 4);
    let values = simulate::gaussian(m, n, 3);
    let (mut starts, mut indices, mut stored) = (vec![0_usize], Vec::<u32>::new(), Vec::new());
    for j in 0..n {
        for i in (j % 20..m).step_by(20) {
            indices.push(i as u32);
            stored.push(values[j * m + i]);
        }
        starts.push(stored.len());
    }
    let counted = Counted::new(Csc::new(m, n, starts, indices, stored).unwrap());
    let loss = LeastSquares::new(simulate::gaussian(m, 1, 4)).unwrap();
    let f = Objective::new(&counted, loss).unwrap();
    let outcome = fit(&f, &KSparse::new(k, n).unwrap()).unwrap();
    let counts = counted.take();
    assert_eq!((counts.passes, counts.columns), (outcome.passes, outcome.columns));
}

#[test]
fn the_objective_never_rises() {
    let mut exchanged = 0;
    for seed in 0..20 {
        let problem = hard(seed);
        let a = problem.operator();
        let (f, set) = (problem.squares(&a), KSparse::new(8, 60).unwrap());
        let outcome = searched(&f, &set, &thorough(), Stop::default()).unwrap();
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
    assert!(exchanged > 0);
}

#[test]
fn an_observer_stops_the_search_at_any_move() {
    let mut later = 0;
    for seed in 0..4 {
        let problem = hard(seed);
        let a = problem.operator();
        let (f, set) = (problem.squares(&a), KSparse::new(8, 60).unwrap());
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
            assert!((outcome.objective / least(&seen) - 1.0).abs() < 1e-12, "seed {seed}, move {last}");
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
        let problem = hard(seed);
        let a = problem.operator();
        let (f, again) = (problem.squares(&a), problem.squares(&a));
        let set = KSparse::new(8, 60).unwrap();
        let whole = searched(&f, &set, &thorough(), Stop::default()).unwrap();
        let method = defaults();
        let mut run = Run::new(&again, &set, &method, Options::for_set(&set)).unwrap();
        (0..steps).for_each(|_| {
            if !run.is_done() {
                run.step();
            }
        });
        let state = run.save().unwrap();
        drop(run);
        let later = problem.squares(&a);
        let run = Run::resume(&later, &set, &method, Options::for_set(&set), &state).unwrap();
        let resumed = Fit::new(&later, &set).run_from(run).unwrap();
        assert_eq!(resumed.point, whole.point);
        assert_eq!((resumed.status, &resumed.quality), (whole.status, &whole.quality));
        assert_eq!(resumed.passes, whole.passes, "after {steps} steps");
        let (once_more, k) = (resumed.columns - whole.columns, 8);
        assert!(once_more <= if steps == 0 { 0 } else { k }, "{once_more} columns after {steps} steps");
        let moves = |outcome: &Outcome<SparseVec>| -> Vec<(usize, f64, usize)> {
            outcome.trace.iter().map(|e| (e.iteration, e.objective, e.passes)).collect()
        };
        assert_eq!(moves(&resumed), moves(&whole));
    }
}

/// A run that was stopped by hand is not gone on with: what it has is the answer.
#[test]
fn a_stopped_run_ends_the_search() {
    let problem = hard(0);
    let a = problem.operator();
    let f = problem.squares(&a);
    let (set, method) = (KSparse::new(8, 60).unwrap(), defaults());
    let mut run = Run::new(&f, &set, &method, Options::for_set(&set)).unwrap();
    run.step();
    run.stop();
    let outcome = Fit::new(&f, &set).run_from(run).unwrap();
    assert_eq!((outcome.status, outcome.trace.len(), outcome.attempts.len()), (Status::Stopped, 1, 1));
}

#[test]
fn caps_hold_over_the_whole_search() {
    let (mut capped, mut excess) = (0, 0);
    for seed in 0..10 {
        let problem = hard(seed);
        let a = problem.operator();
        let set = KSparse::new(8, 60).unwrap();
        let how = Search { quality: false, ..thorough() };
        let whole = searched(&problem.squares(&a), &set, &how, Stop::default()).unwrap();
        for most in 1..=whole.passes + 1 {
            let f = problem.squares(&a);
            let outcome = searched(&f, &set, &how, Stop { passes: Some(most), ..Stop::default() }).unwrap();
            assert_eq!(f.cost().passes, outcome.passes);
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
            let stop = Stop { iterations: most, ..Stop::default() };
            let outcome = searched(&problem.squares(&a), &set, &how, stop).unwrap();
            assert!(outcome.iterations <= most + 1, "{} {most}", outcome.iterations);
            assert!(matches!(outcome.status, Status::IterationCap | Status::Converged));
        }
        let stop = Stop { seconds: Some(1e-12), ..Stop::default() };
        let outcome = searched(&problem.squares(&a), &set, &how, stop).unwrap();
        assert_eq!((outcome.status, outcome.iterations), (Status::TimeLimit, 1));
    }
    println!("caps: {capped} searches were capped, at most {excess} passes over the cap");
    assert!(capped > 0 && excess <= 8, "{capped} {excess}");
}

/// A wish to stop is heard between two exchanges, not only after all of them.
#[test]
fn a_search_stops_within_its_exchanges() {
    let set = KSparse::new(8, 60).unwrap();
    let mut cut = 0;
    for seed in 0..6 {
        let problem = hard(seed);
        let a = problem.operator();
        let (f, again) = (problem.squares(&a), problem.squares(&a));
        let whole = Fit::new(&f, &set).run().unwrap();
        let stopped = Fit::new(&again, &set).poll(|_| ControlFlow::Break(())).run().unwrap();
        if whole.attempts.len() > 1 {
            assert_eq!(stopped.status, Status::Stopped);
            assert!(stopped.objective > whole.objective);
            cut += 1;
        }
    }
    assert!(cut > 0);
}

#[test]
fn planted_groups_are_found_where_a_plain_run_fails() {
    let members: Vec<Vec<usize>> = (0..30).map(|g| (3 * g..3 * g + 3).collect()).collect();
    let set = Groups::new(4, 90, members.clone()).unwrap();
    let (mut rescued, mut lost) = (0, 0);
    for seed in 0..30 {
        let design = simulate::autoregressive(36, 90, 0.9, seed);
        let a = Dense::column_major(&design, 36, 90).unwrap();
        let chosen = simulate::sparse_signal(30, 4, seed);
        let planted: Vec<usize> = chosen.indices().iter().flat_map(|&g| members[g].clone()).collect();
        let values = simulate::normals(12, &mut simulate::generator(seed, 9));
        let mut y = vec![0.0; 36];
        a.apply(&SparseVec::new(90, planted.clone(), values).unwrap(), &mut y);
        let f = Objective::new(&a, LeastSquares::new(simulate::noisy(&y, 0.01, seed)).unwrap()).unwrap();
        let go = |_: &Event, _: &SparseVec| ControlFlow::Continue(());
        let plain = solve(&f, &set, &defaults(), Options::for_set(&set), go).unwrap();
        let outcome = fit(&f, &set).unwrap();
        assert!(outcome.objective <= plain.objective * (1.0 + 1e-12));
        assert_eq!(outcome.point.support(), IndexSet::new(90, of_atoms(&set, &set.chosen(&outcome.point))));
        assert_eq!(set.chosen(&outcome.point).len(), 4);
        rescued += usize::from(plain.point.indices() != planted && outcome.point.indices() == planted);
        lost += usize::from(outcome.point.indices() != planted);
    }
    println!("groups: {rescued} of 30 rescued, {lost} lost");
    assert!(rescued > 0 && lost <= 3, "{rescued} {lost}");
}

#[test]
fn overlapping_groups_are_searched_and_never_worse_than_a_plain_run() {
    let members: Vec<Vec<usize>> = (0..28).map(|g| (2 * g..2 * g + 4).collect()).collect();
    let set = OverlappingGroups::new(4, 58, members.clone()).unwrap();
    let go = |_: &Event, _: &SparseVec| ControlFlow::Continue(());
    let mut better = 0;
    for seed in 0..40 {
        let design = simulate::autoregressive(40, 58, 0.8, seed);
        let a = Dense::column_major(&design, 40, 58).unwrap();
        let chosen = simulate::sparse_signal(28, 4, seed);
        let mut planted: Vec<usize> = chosen.indices().iter().flat_map(|&g| members[g].clone()).collect();
        planted.sort_unstable();
        planted.dedup();
        let values = simulate::normals(planted.len(), &mut simulate::generator(seed, 9));
        let mut y = vec![0.0; 40];
        a.apply(&SparseVec::new(58, planted, values).unwrap(), &mut y);
        let f = Objective::new(&a, LeastSquares::new(simulate::noisy(&y, 0.1, seed)).unwrap()).unwrap();
        let plain = solve(&f, &set, &defaults(), Options::for_set(&set), go).unwrap();
        let outcome = fit(&f, &set).unwrap();
        let falls = |w: &[Event]| w[1].objective <= w[0].objective * (1.0 + 1e-12);
        assert!(outcome.trace.windows(2).all(falls), "seed {seed}");
        assert!(outcome.objective <= plain.objective * (1.0 + 1e-9), "seed {seed}");
        better += usize::from(outcome.objective < plain.objective * (1.0 - 1e-6));
        // a union of at most four groups: some choice of four covers it
        let support = outcome.point.support();
        let inside: Vec<usize> = (0..28).filter(|&g| members[g].iter().all(|&j| support.contains(j))).collect();
        let covers = |c: Vec<usize>| {
            let all = c.iter().flat_map(|&at| members[inside[at]].clone()).collect();
            IndexSet::new(58, all) == support
        };
        let most = inside.len().min(4);
        assert!((0..=most).any(|count| choices(inside.len(), count).into_iter().any(covers)), "seed {seed}");
    }
    assert!(better > 0);
}

/// Five windows of three in a row, of which three make up the answer. They are covered by two as soon as
/// the outer ones have more energy; there is room for another one then.
#[test]
fn room_that_a_cover_leaves_is_used() {
    let windows: Vec<Vec<usize>> = (0..6).map(|g| (g..g + 3).collect()).collect();
    let set = OverlappingGroups::new(3, 8, windows).unwrap();
    let mut design = vec![0.0; 64];
    (0..8).for_each(|j| design[9 * j] = 1.0);
    let a = Dense::column_major(&design, 8, 8).unwrap();
    for seed in 0..50 {
        let y = simulate::normals(8, &mut simulate::generator(seed, 0));
        let f = Objective::new(&a, LeastSquares::new(y.clone()).unwrap()).unwrap();
        let outcome = fit(&f, &set).unwrap();
        let chosen = set.chosen(&outcome.point);
        let more = (0..6).map(|g| value_on(&f, of_atoms(&set, &[chosen.clone(), vec![g]].concat())));
        let more = least(&more.collect::<Vec<_>>());
        assert!(chosen.len() == 3 || more >= outcome.objective * (1.0 - 1e-9), "seed {seed}: room for {more}");
    }
}

/// Atoms are numbered by their group, not by their coordinate.
#[test]
fn groups_of_one_coordinate_each_are_k_sparse_vectors() {
    let direct = thorough();
    let order: Vec<usize> = (0..60).map(|j| (7 * j + 3) % 60).collect();
    for seed in 0..10 {
        let problem = hard(seed);
        let a = problem.operator();
        let f = problem.squares(&a);
        let plain = searched(&f, &KSparse::new(8, 60).unwrap(), &direct, Stop::default()).unwrap();
        let singles = Groups::new(8, 60, order.iter().map(|&j| vec![j]).collect()).unwrap();
        let outcome = searched(&f, &singles, &direct, Stop::default()).unwrap();
        assert_eq!(outcome.point.indices(), plain.point.indices(), "seed {seed}");
        assert!(the_gain_is_exact(&f, &singles) || plain.attempts.len() == 1);
        // Some coordinates belong to no group.
        let some: Vec<Vec<usize>> = order.iter().filter(|&&j| j % 3 != 0).map(|&j| vec![j]).collect();
        let (groups, overlapping) =
            (Groups::new(8, 60, some.clone()).unwrap(), OverlappingGroups::new(8, 60, some).unwrap());
        the_gain_is_exact(&f, &groups);
        let outcome = searched(&f, &groups, &direct, Stop::default()).unwrap();
        assert!(outcome.point.indices().iter().all(|j| j % 3 != 0));
        assert_eq!(
            searched(&f, &overlapping, &direct, Stop::default()).unwrap().point.indices(),
            outcome.point.indices()
        );
    }
}

#[test]
fn without_columns_it_is_a_plain_run() {
    let (rows, dim) = (60, 128);
    let a = subsampled_dct(dim, (0..rows).map(|i| (i * 37) % dim).collect()).unwrap();
    let mut y = vec![0.0; rows];
    a.apply(&simulate::sparse_signal(dim, 4, 0), &mut y);
    let f = Objective::new(&a, LeastSquares::new(simulate::noisy(&y, 0.02, 0)).unwrap()).unwrap();
    let set = KSparse::new(4, dim).unwrap();
    let go = |_: &Event, _: &SparseVec| ControlFlow::Continue(());
    let plain = solve(&f, &set, &defaults(), Options::for_set(&set), go).unwrap();
    let outcome = fit(&f, &set).unwrap();
    assert_eq!((&outcome.point, outcome.attempts.len(), outcome.passes), (&plain.point, 1, plain.passes));
    let quality = outcome.quality.unwrap();
    assert!(!quality.exhaustive && quality.exchanges_compared > 0 && quality.certificate.is_none());
}

#[test]
fn matrices_are_fitted_by_a_plain_run() -> Result<(), Error> {
    let (left, right) = simulate::low_rank_factors(30, 25, 3, 1);
    let truth = LowRank::from_factors(&left, &right)?;
    let (rows, columns) = simulate::observed_places(30, 25, 0.6, 1);
    let seen = Entries::new((30, 25), &rows, &columns)?;
    let mut b = vec![0.0; rows.len()];
    seen.apply(&truth, &mut b);
    let f = Objective::new(&seen, LeastSquares::new(simulate::noisy(&b, 0.1, 1))?)?;
    let set = Rank::new(3, (30, 25))?;
    let method = AcceleratedIht::for_structure(set.structure());
    let plain = solve(&f, &set, &method, Options::for_set(&set), |_, _| ControlFlow::Continue(()))?;
    let outcome = fit(&f, &set)?;
    assert_eq!((outcome.objective, outcome.attempts.len()), (plain.objective, 1));
    let quality = outcome.quality.unwrap();
    assert!(!quality.exhaustive && quality.near_ties.is_empty() && quality.certificate.is_none());
    Ok(())
}

#[test]
fn a_duplicated_column_is_a_near_tie_and_a_clear_answer_has_none() {
    for seed in 0..10 {
        let mut problem = Planted::new(60, 20, 3, 0.1, seed);
        let clear = {
            let a = problem.operator();
            let f = problem.squares(&a);
            fit(&f, &KSparse::new(3, 20).unwrap()).unwrap()
        };
        let weakest = clear.point.values().iter().fold(f64::INFINITY, |m, v| m.min(v.abs()));
        assert!(weakest < 0.2 || clear.quality.unwrap().near_ties.is_empty(), "seed {seed}");
        let twin = clear.point.indices()[1];
        let copy = (0..20).find(|j| !clear.point.indices().contains(j)).unwrap();
        let column = problem.design[60 * twin..60 * twin + 60].to_vec();
        problem.design[60 * copy..60 * copy + 60].copy_from_slice(&column);
        let a = problem.operator();
        let outcome = fit(&problem.squares(&a), &KSparse::new(3, 20).unwrap()).unwrap();
        let one_of = |tie: &&NearTie| [(twin, copy), (copy, twin)].contains(&(tie.inside, tie.outside));
        let quality = outcome.quality.unwrap();
        let tie = quality.near_ties.iter().find(one_of).expect("the twins are told");
        assert!(tie.rise <= 1e-12 * outcome.objective, "{tie:?}");
        assert!(quality.near_ties.is_sorted_by(|a, b| a.rise <= b.rise));
    }
}

#[test]
fn a_certificate_comes_with_a_ridge_and_ends_the_search_where_it_proves_enough() {
    let (mut sooner, set) = (0, KSparse::new(8, 60).unwrap());
    for seed in 0..20 {
        let problem = hard(seed);
        let a = problem.operator();
        let without = fit(&problem.squares(&a), &set).unwrap();
        assert_eq!(without.quality.unwrap().certificate, None);
        for ridge in [1e-3, 0.1, 1.0] {
            let outcome = fit(&problem.squares(&a).ridge(ridge).unwrap(), &set).unwrap();
            let proof = outcome.quality.unwrap().certificate.unwrap();
            assert!((0.0..=1.0).contains(&proof.gap) && proof.lower_bound <= outcome.objective, "{proof:?}");
        }
        let outcome = fit(&problem.squares(&a).ridge(1e4).unwrap(), &set).unwrap();
        assert!(outcome.quality.unwrap().certificate.unwrap().gap <= 1e-6);
        assert_eq!(outcome.attempts.len(), 1);
        sooner += usize::from(without.attempts.len() > 1);
    }
    assert!(sooner > 0);
}

/// What a search found and how.
fn summary(design: Vec<f64>, target: Vec<f64>) -> (Vec<usize>, Vec<(Start, usize, Status)>) {
    let (rows, dim) = (target.len(), design.len() / target.len());
    let a = Dense::column_major(design, rows, dim).unwrap();
    let f = Objective::new(&a, LeastSquares::new(target).unwrap()).unwrap();
    let outcome = fit(&f, &KSparse::new(8, dim).unwrap()).unwrap();
    let attempts = outcome.attempts.iter().map(|attempt| (attempt.start, attempt.exchanges, attempt.status));
    (outcome.point.indices().to_vec(), attempts.collect())
}

#[test]
fn scaling_the_data_changes_nothing() {
    for seed in 0..10 {
        let problem = hard(seed);
        let scaled = |values: &[f64], scale: f64| values.iter().map(|v| v * scale).collect::<Vec<f64>>();
        let plain = summary(problem.design.clone(), problem.target.clone());
        for scale in [1e6, 1e-6] {
            assert_eq!(summary(scaled(&problem.design, scale), problem.target.clone()), plain, "seed {seed}");
            assert_eq!(summary(problem.design.clone(), scaled(&problem.target, scale)), plain, "seed {seed}");
        }
    }
}

#[test]
fn the_unit_of_a_column_decides_little() {
    let (mut same, mut draws) = (0, 0);
    for seed in 0..10 {
        let problem = correlated(60, 40, 8, 0.5, 0.1, seed);
        let (plain, _) = summary(problem.design.clone(), problem.target.clone());
        let outside = (0..40).find(|j| !plain.contains(j)).unwrap();
        for (column, scale) in [(plain[3], 1e6), (outside, 1e6), (plain[3], 1e-6), (outside, 1e-6)] {
            let mut design = problem.design.clone();
            design[60 * column..60 * (column + 1)].iter_mut().for_each(|v| *v *= scale);
            same += usize::from(summary(design, problem.target.clone()).0 == plain);
            draws += 1;
        }
    }
    println!("one column in another unit: the same support in {same} of {draws}");
    assert!(20 * same >= 19 * draws, "{same} of {draws}");
}

#[test]
fn the_same_bits_at_one_and_two_threads() {
    let problem = correlated(300, 2500, 20, 0.9, 0.5, 2);
    let members: Vec<Vec<usize>> = (0..500).map(|g| (5 * g..5 * g + 5).collect()).collect();
    let once = |threads: usize| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
            let a = problem.operator();
            let f = problem.squares(&a);
            let sparse = fit(&f, &KSparse::new(20, 2500).unwrap()).unwrap();
            let groups = fit(&f, &Groups::new(5, 2500, members.clone()).unwrap()).unwrap();
            let quality = sparse.quality.unwrap();
            (sparse.point, sparse.objective.to_bits(), quality.near_ties, groups.point, groups.objective.to_bits())
        })
    };
    assert_eq!(once(1), once(2));
}

#[test]
fn twins_inside_make_room_for_another() {
    let mut both = 0;
    for seed in 0..40 {
        // The strongest column is there twice or thrice: a first step takes every copy.
        let mut problem = correlated(30, 12, 3, 0.3, 0.5, seed);
        let strongest = problem.truth.indices()[0];
        let column = problem.design[30 * strongest..30 * (strongest + 1)].to_vec();
        for copy in [(strongest + 4) % 12, (strongest + 7) % 12] {
            problem.design[30 * copy..30 * (copy + 1)].copy_from_slice(&column);
        }
        let a = problem.operator();
        let (f, set) = (problem.squares(&a), KSparse::new(3, 12).unwrap());
        for how in [thorough(), Search { quality: true, ..Search::quick() }] {
            let outcome = searched(&f, &set, &how, Stop::default()).unwrap();
            let quality = outcome.quality.unwrap();
            let values = after_exchanges(&f, &set, outcome.point.indices());
            let gain = (outcome.objective - least(&values)).max(0.0);
            let twins =
                outcome.point.indices().iter().filter(|&&j| [0, 4, 7].contains(&((j + 12 - strongest) % 12))).count();
            both += usize::from(twins > 1);
            let found = quality.exchange_gain;
            assert!((found - gain).abs() <= 1e-9 * outcome.objective, "seed {seed}: {found} {gain}");
            assert!(how.effort == Effort::Quick || gain <= 1e-8 * outcome.objective, "seed {seed}");
        }
    }
    assert!(both > 0, "no draw took two copies");
}

#[test]
fn what_has_not_converged_is_told() {
    let problem = Planted::new(60, 100, 5, 0.3, 1);
    let a = problem.operator();
    let (f, set) = (problem.squares(&a), KSparse::new(5, 100).unwrap());
    let slow = AcceleratedIht { momentum: Momentum::ClosedForm, refit: Refit::Never, ..defaults() };
    let options = || Options { stop: Stop { iterations: 2, ..Stop::default() }, ..Options::for_set(&set) };
    let go = |_: &Event, _: &SparseVec| ControlFlow::Continue(());
    let plain = solve(&f, &set, &slow, options(), go).unwrap();
    let outcome = Fit::new(&f, &set).method(slow).options(options()).observe(go).run().unwrap();
    assert_eq!((&outcome.point, outcome.status), (&plain.point, Status::IterationCap));
    let (found, expected) = (outcome.quality.unwrap().stationarity, plain.quality.unwrap().stationarity);
    assert!(expected > 1e-3 && (found / expected - 1.0).abs() < 1e-6, "{found} {expected}");
}

#[test]
fn degenerate_input_gives_an_answer() {
    let (rows, n) = (8, 12);
    let plain = simulate::gaussian(rows, n, 1);
    let y = simulate::normals(rows, &mut simulate::generator(1, 7));
    let mut twins = plain.clone();
    let mut hollow = plain.clone();
    let mut low_rank = plain.clone();
    for j in 0..n {
        let source = plain[rows * (j % 3)..rows * (j % 3) + rows].to_vec();
        if j % 2 == 0 {
            hollow[rows * j..rows * (j + 1)].fill(0.0);
            twins[rows * j..rows * (j + 1)].copy_from_slice(&source);
        }
        low_rank[rows * j..rows * (j + 1)].copy_from_slice(&source);
    }
    let designs = [plain, twins, hollow, low_rank, vec![0.0; rows * n], vec![1.0; rows * n]];
    let targets = [y, vec![3.0; rows], vec![0.0; rows]];
    for (d, design) in designs.iter().enumerate() {
        let a = Dense::column_major(design, rows, n).unwrap();
        for (t, target) in targets.iter().enumerate() {
            for (k, ridge) in [1, 3, 7, 8, 9, 12].into_iter().flat_map(|k| [(k, 0.0), (k, 0.1)]) {
                let loss = LeastSquares::new(target.clone()).unwrap();
                let f = Objective::new(&a, loss).unwrap().ridge(ridge).unwrap();
                let null = f.value(&f.at(SparseVec::zero(n)));
                let check = |outcome: Outcome<SparseVec>, most: usize| {
                    let what = format!("design {d}, target {t}, k {k}, ridge {ridge}: {outcome:?}");
                    assert!(outcome.point.indices().len() <= most, "{what}");
                    assert!(outcome.objective >= 0.0 && outcome.objective <= null * (1.0 + 1e-12), "{what}");
                    assert!(outcome.point.values().iter().all(|v| v.is_finite()), "{what}");
                    let quality = outcome.quality.unwrap();
                    assert!(quality.stationarity < 1e-5 && quality.exchange_gain >= 0.0, "{quality:?} {what}");
                };
                let set = KSparse::new(k, n).unwrap();
                check(fit(&f, &set).unwrap(), k);
                let quick = Search { quality: true, ..Search::quick() };
                check(searched(&f, &set, &quick, Stop::default()).unwrap(), k);
                check(fit(&f, &Always::new(set, vec![0, 1]).unwrap()).unwrap(), k + 2);
                let groups = Groups::new(k.min(6), n, (0..6).map(|g| vec![g, g + 6]).collect()).unwrap();
                check(fit(&f, &groups).unwrap(), 2 * k);
            }
        }
    }
}
