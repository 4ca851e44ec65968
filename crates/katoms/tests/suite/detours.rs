//! Designs on which exchanges of single atoms are stuck.

use crate::planted::{Planted, defaults};
use katoms::driver::Options;
use katoms::loss::{LeastSquares, Logistic, Loss};
use katoms::method::refit_on;
use katoms::operator::{Dense, LinearOperator};
use katoms::search::Search;
use katoms::set::{CoordinateSet, Groups, KSparse};
use katoms::space::{IndexSet, SparseVec, Subspace};
use katoms::{Fit, Objective, Outcome, Status, Stop, fit, simulate};

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

fn searched<A, L, S>(f: &Objective<A, L>, set: &S, how: &Search, stop: Stop) -> Outcome<SparseVec>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
    S: CoordinateSet,
{
    let options = Options { stop, ..Options::for_set(set) };
    Fit::new(f, set).method(defaults()).options(options).search(how.clone()).run().unwrap()
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
fn the_best_of_all_is_found_and_proven() {
    let (n, k, draws) = (18, 5, 30);
    for seed in 0..draws {
        let problem = walks(100, n, seed);
        let a = problem.operator();
        let (f, set) = (problem.squares(&a), KSparse::new(k, n).unwrap());
        let best = choices(n, k).into_iter().map(|c| value_on(&f, c)).fold(f64::INFINITY, f64::min);
        let found = fit(&f, &set).unwrap();
        let quality = found.quality.unwrap();
        assert!(found.objective <= best * (1.0 + 1e-9) && !quality.improvable(), "seed {seed}");
        assert_eq!(quality.proven, Some(8568.0));
    }
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
        let path = Fit::new(&f, &KSparse::new(1, 80).unwrap()).path(1..=10).unwrap();
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
fn classes_and_groups_are_never_worse_than_a_run_alone() {
    let members: Vec<Vec<usize>> = (0..20).map(|g| vec![g, 20 + g, 40 + g]).collect();
    let (mut better, mut grouped) = (0, 0);
    for seed in 0..8 {
        let problem = walks(100, 60, seed);
        let a = problem.operator();
        let middle = problem.target.iter().sum::<f64>() / 100.0;
        let classes: Vec<f64> = problem.target.iter().map(|y| f64::from(u8::from(*y > middle))).collect();
        let f = Objective::new(&a, Logistic::new(classes).unwrap()).unwrap().ridge(0.5).unwrap();
        let set = KSparse::new(4, 60).unwrap();
        let (found, stuck) = (fit(&f, &set).unwrap(), searched(&f, &set, &Search::quick(), Stop::default()));
        assert!(found.objective <= stuck.objective && found.point.indices().len() <= 4);
        better += usize::from(found.objective < stuck.objective * (1.0 - 1e-9));
        let path = Fit::new(&f, &set).path(1..=5).unwrap();
        assert!(path.models.is_sorted_by(|a, b| b.objective <= a.objective * (1.0 + 1e-9)), "seed {seed}");
        let (g, groups) = (problem.squares(&a), Groups::new(3, 60, members.clone()).unwrap());
        let (found, stuck) = (fit(&g, &groups).unwrap(), searched(&g, &groups, &Search::quick(), Stop::default()));
        assert!(found.objective <= stuck.objective);
        assert_eq!((groups.chosen(&found.point).len(), found.point.indices().len()), (3, 9));
        grouped += usize::from(found.objective < stuck.objective * (1.0 - 1e-9));
    }
    println!("the search was better for {better} of 8 classes, {grouped} of 8 groups");
    assert!(better + grouped > 0);
}

#[test]
fn dense_designs_of_one_column_have_nowhere_to_go() {
    let a = Dense::column_major(&[1.0, 2.0, 3.0], 3, 1).unwrap();
    let f = Objective::new(&a, LeastSquares::new(vec![1.0, 0.0, 2.0]).unwrap()).unwrap();
    let outcome = fit(&f, &KSparse::new(1, 1).unwrap()).unwrap();
    assert_eq!((outcome.status, outcome.point.indices()), (Status::Converged, &[0][..]));
}

#[test]
fn the_best_pair_of_few_rows_and_many_columns_is_found_and_proven() {
    for seed in 0..6 {
        let (rows, n) = (14, 300);
        let design = simulate::gaussian(rows, n, seed);
        let a = Dense::column_major(&design, rows, n).unwrap();
        let f = Objective::new(&a, LeastSquares::new(simulate::gaussian(rows, 1, seed + 50)).unwrap()).unwrap();
        let best = choices(n, 2).into_iter().map(|pair| value_on(&f, pair)).fold(f64::INFINITY, f64::min);
        let found = fit(&f, &KSparse::new(2, n).unwrap()).unwrap();
        assert!(found.objective <= best * (1.0 + 1e-9), "seed {seed}: {} {best}", found.objective);
        assert_eq!(found.quality.unwrap().proven, Some(44_850.0));
    }
}

/// More atoms than the working set begins with are looked at by pricing, and a path has the fit of each size.
#[test]
fn a_path_is_never_worse_than_a_fit_beyond_the_first_working_set() {
    for seed in 0..2 {
        let problem = walks(40, 900, seed);
        let a = problem.operator();
        let f = problem.squares(&a);
        let path = Fit::new(&f, &KSparse::new(1, 900).unwrap()).path([2, 4, 7]).unwrap();
        for model in &path.models {
            let alone = fit(&f, &KSparse::new(model.atoms, 900).unwrap()).unwrap();
            assert!(model.objective <= alone.objective * (1.0 + 1e-9), "seed {seed}, {} atoms", model.atoms);
            let quality = &model.quality;
            assert!(quality.exhaustive && !quality.improvable() || quality.proven.is_some(), "{quality:?}");
        }
    }
}
