//! By way of larger and smaller models: what exchanges of single atoms miss, and what it costs.

use std::ops::ControlFlow;

use crate::planted::{Planted, defaults};
use katoms::driver::{Event, Options, Start};
use katoms::loss::{LeastSquares, Logistic, Loss};
use katoms::method::{Move, refit_on};
use katoms::operator::{Counted, Dense, LinearOperator};
use katoms::select::{Search, path, search};
use katoms::set::{CoordinateSet, Groups, KSparse, Structure};
use katoms::space::{IndexSet, SparseVec, Subspace};
use katoms::{Objective, Outcome, Status, Stop, fit, simulate};

/// Columns that are random walks, and a target that walks as well: neighbours in time are alike, and many columns stand
/// in for each other.
fn walks(rows: usize, columns: usize, seed: u64) -> Planted {
    let walk = |steps: &[f64]| -> Vec<f64> {
        let at = steps.iter().scan(0.0, |at, step| {
            *at += step;
            Some(*at)
        });
        at.collect()
    };
    let design = simulate::gaussian(rows, columns, seed).chunks(rows).flat_map(walk).collect();
    let target = walk(&simulate::gaussian(rows, 1, seed + 1000));
    Planted { rows, design, truth: simulate::sparse_signal(columns, 1, seed), target }
}

/// Without detours.
fn direct() -> Search {
    let starts = vec![Start::Thresholded, Start::Grown, Start::Lasso];
    Search { starts, ..Search::for_structure(Structure::Coordinates) }
}

fn searched<A, L, S>(f: &Objective<A, L>, set: &S, how: &Search, stop: Stop) -> Outcome<SparseVec>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
    S: CoordinateSet,
{
    let options = Options { stop, ..Options::for_set(set) };
    search(f, set, &defaults(), options, how, |_, _| ControlFlow::Continue(())).unwrap()
}

fn value_on<A, L>(f: &Objective<A, L>, coordinates: Vec<usize>) -> f64
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
{
    let t = IndexSet::new(f.operator().domain(), coordinates);
    f.value(&refit_on(f, f.at(t.point(&vec![0.0; t.dimension()])), &t))
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
fn a_detour_finds_the_best_of_all_where_exchanges_do_not() {
    let (n, k, draws) = (18, 5, 30);
    let (mut with, mut without) = (0, 0);
    for seed in 0..draws {
        let problem = walks(100, n, seed);
        let a = problem.operator();
        let (f, set) = (problem.squares(&a), KSparse::new(k, n).unwrap());
        let best = choices(n, k).into_iter().map(|c| value_on(&f, c)).fold(f64::INFINITY, f64::min);
        let is_best = |outcome: &Outcome<SparseVec>| usize::from(outcome.objective <= best * (1.0 + 1e-9));
        let (found, stuck) = (fit(&f, &set).unwrap(), searched(&f, &set, &direct(), Stop::default()));
        assert!(found.objective <= stuck.objective && !found.quality.as_ref().unwrap().improvable());
        with += is_best(&found);
        without += is_best(&stuck);
    }
    println!("the best of all in {with} of {draws} draws, {without} without detours");
    assert!(with > without && 10 * with >= 9 * draws as usize, "{with} {without}");
}

#[test]
fn a_detour_is_told_where_it_was_better() {
    let mut better = 0;
    for seed in 0..10 {
        let problem = walks(100, 200, seed);
        let counted = Counted::new(problem.operator());
        let f = Objective::new(&counted, LeastSquares::new(problem.target.clone()).unwrap()).unwrap();
        let set = KSparse::new(5, 200).unwrap();
        let stuck = searched(&f, &set, &direct(), Stop::default());
        counted.take();
        let found = fit(&f, &set).unwrap();
        let counts = counted.take();
        assert_eq!((counts.passes, counts.columns), (found.passes, found.columns));
        let (last, before) = found.attempts.split_last().unwrap();
        if last.start == Start::Detour {
            assert_eq!((before, last.objective), (&stuck.attempts[..], found.objective));
            assert!(found.objective < stuck.objective * (1.0 - 1e-9) && last.exchanges > 0);
            let told: usize = found.trace.iter().filter(|e| e.kind == Move::Exchanged).map(|e| e.entered).sum();
            assert_eq!(told, found.attempts.iter().map(|attempt| attempt.exchanges).sum::<usize>());
            better += 1;
        } else {
            assert_eq!((&found.attempts, &found.point), (&stuck.attempts, &stuck.point));
        }
        assert!(found.attempts.iter().filter(|attempt| attempt.start == Start::Detour).count() <= 1);
    }
    println!("a detour was better in {better} of 10");
    assert!(better > 0);
}

#[test]
fn larger_fits_are_never_worse() {
    let mut rises = Vec::new();
    for seed in 0..6 {
        let problem = walks(100, 80, seed);
        let a = problem.operator();
        let f = problem.squares(&a);
        let fits: Vec<f64> = (1..=10).map(|k| fit(&f, &KSparse::new(k, 80).unwrap()).unwrap().objective).collect();
        rises.extend((1..10).filter(|&at| fits[at] > fits[at - 1] * (1.0 + 1e-9)).map(|at| (seed, at + 1)));
        let path = path(&f, &KSparse::new(1, 80).unwrap(), 1..=10, |_| ControlFlow::Continue(())).unwrap();
        assert!(path.models.is_sorted_by(|a, b| b.objective <= a.objective * (1.0 + 1e-12)), "seed {seed}");
        for model in &path.models {
            assert!((value_on(&f, model.point.indices().to_vec()) / model.objective - 1.0).abs() < 1e-8);
            assert!(model.quality.exhaustive && !model.quality.improvable());
            assert_eq!((model.point.indices().len(), model.status), (model.atoms, Status::Converged));
        }
    }
    assert!(rises.is_empty(), "{rises:?}");
}

#[test]
fn classes_and_groups_take_detours_too() {
    let members: Vec<Vec<usize>> = (0..20).map(|g| vec![g, 20 + g, 40 + g]).collect();
    let (mut better, mut grouped) = (0, 0);
    for seed in 0..8 {
        let problem = walks(100, 60, seed);
        let a = problem.operator();
        let middle = problem.target.iter().sum::<f64>() / 100.0;
        let classes: Vec<f64> = problem.target.iter().map(|y| f64::from(u8::from(*y > middle))).collect();
        let f = Objective::new(&a, Logistic::new(classes).unwrap()).unwrap().ridge(0.5).unwrap();
        let set = KSparse::new(4, 60).unwrap();
        let (found, stuck) = (fit(&f, &set).unwrap(), searched(&f, &set, &direct(), Stop::default()));
        assert!(found.objective <= stuck.objective && found.point.indices().len() <= 4);
        better += usize::from(found.objective < stuck.objective * (1.0 - 1e-9));
        let path = path(&f, &set, 1..=5, |_| ControlFlow::Continue(())).unwrap();
        assert!(path.models.is_sorted_by(|a, b| b.objective <= a.objective * (1.0 + 1e-9)), "seed {seed}");
        let (g, groups) = (problem.squares(&a), Groups::new(3, 60, members.clone()).unwrap());
        let (found, stuck) = (fit(&g, &groups).unwrap(), searched(&g, &groups, &direct(), Stop::default()));
        assert!(found.objective <= stuck.objective);
        assert_eq!((groups.chosen(&found.point).len(), found.point.indices().len()), (3, 9));
        grouped += usize::from(found.objective < stuck.objective * (1.0 - 1e-9));
    }
    println!("a detour was better for {better} of 8 classes, {grouped} of 8 groups");
    assert!(better + grouped > 0);
}

#[test]
fn a_detour_hears_caps_and_wishes() {
    let mut cut = 0;
    for seed in 0..4 {
        let problem = walks(100, 200, seed);
        let a = problem.operator();
        let (f, set) = (problem.squares(&a), KSparse::new(5, 200).unwrap());
        let (whole, stuck) = (fit(&f, &set).unwrap(), searched(&f, &set, &direct(), Stop::default()));
        for most in stuck.passes..=whole.passes {
            let how = Search { quality: false, ..Search::for_structure(Structure::Coordinates) };
            let capped = searched(&f, &set, &how, Stop { passes: Some(most), ..Stop::default() });
            assert!(matches!(capped.status, Status::PassCap | Status::Converged));
            let (costs, value) = ((capped.passes, whole.passes), (capped.objective, stuck.objective));
            assert!(costs.0 <= costs.1, "seed {seed}, cap {most}: {costs:?} passes, objectives {value:?}");
            cut += usize::from(capped.status == Status::PassCap);
        }
        let last = stuck.trace.len() + 1;
        let mut seen = 0;
        let stop = |_: &Event, _: &SparseVec| {
            seen += 1;
            if seen == last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let how = Search::for_structure(Structure::Coordinates);
        let stopped = search(&f, &set, &defaults(), Options::for_set(&set), &how, stop).unwrap();
        let expected = if whole.trace.len() >= last { Status::Stopped } else { whole.status };
        assert_eq!((stopped.status, stopped.iterations.min(last)), (expected, whole.trace.len().min(last)));
    }
    assert!(cut > 0);
}

#[test]
fn dense_designs_of_one_column_have_nowhere_to_go() {
    let a = Dense::column_major(&[1.0, 2.0, 3.0], 3, 1).unwrap();
    let f = Objective::new(&a, LeastSquares::new(vec![1.0, 0.0, 2.0]).unwrap()).unwrap();
    let outcome = fit(&f, &KSparse::new(1, 1).unwrap()).unwrap();
    assert_eq!((outcome.status, outcome.point.indices()), (Status::Converged, &[0][..]));
}
