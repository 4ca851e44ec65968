//! Designs on which exchanges of single atoms are stuck.

use crate::planted::{Planted, best_subset, k_sparse, labels, objective, squares, value_on};
use katoms::loss::Logistic;
use katoms::operator::Dense;
use katoms::search::Search;
use katoms::set::{CoordinateSet, Groups};
use katoms::{Fit, Status, fit, simulate};

#[test]
fn the_best_of_all_is_found_and_proven() {
    for seed in 0..4 {
        let f = Planted::walks(100, 16, seed);
        let f = f.least_squares();
        let (found, best) = (fit(&f, &k_sparse(5, 16)).unwrap(), best_subset(&f, 5));
        let quality = found.quality.unwrap();
        assert!(found.objective <= best * (1.0 + 1e-9) && !quality.improvable(), "seed {seed}");
        assert_eq!(quality.proven, Some(4368.0));
    }
    // few rows and many columns
    for seed in 0..2 {
        let a = Dense::column_major(simulate::gaussian(14, 120, seed), 14, 120).unwrap();
        let f = objective(a, squares(simulate::gaussian(14, 1, seed + 50)));
        let (found, best) = (fit(&f, &k_sparse(2, 120)).unwrap(), best_subset(&f, 2));
        assert!(found.objective <= best * (1.0 + 1e-9), "seed {seed}: {} {best}", found.objective);
        assert_eq!(found.quality.unwrap().proven, Some(7140.0));
    }
}

#[test]
fn larger_fits_are_never_worse() {
    for seed in 0..4 {
        let problem = Planted::walks(100, 80, seed);
        let f = problem.least_squares();
        let fits: Vec<f64> = (1..=10).map(|k| fit(&f, &k_sparse(k, 80)).unwrap().objective).collect();
        assert!(fits.is_sorted_by(|a, b| *b <= a * (1.0 + 1e-9)), "seed {seed}: {fits:?}");
        let path = Fit::new(&f, &k_sparse(1, 80)).path(1..=10).unwrap();
        assert!(path.models.is_sorted_by(|a, b| b.objective <= a.objective * (1.0 + 1e-12)), "seed {seed}");
        for model in &path.models {
            assert!((value_on(&f, model.point.indices()) / model.objective - 1.0).abs() < 1e-8);
            assert!(model.quality.exhaustive && !model.quality.improvable());
            assert_eq!((model.point.indices().len(), model.status), (model.atoms, Status::Converged));
        }
    }
}

#[test]
fn classes_and_groups_are_never_worse_than_a_run_alone() {
    let groups = Groups::new(3, 60, (0..20).map(|g| vec![g, 20 + g, 40 + g]).collect()).unwrap();
    let mut better = 0;
    for seed in 0..5 {
        let problem = Planted::walks(100, 60, seed);
        let classes = labels(&problem.target, problem.target.iter().sum::<f64>() / 100.0);
        let f = objective(problem.operator(), Logistic::new(classes).unwrap()).ridge(0.5).unwrap();
        let (g, set) = (problem.least_squares(), k_sparse(4, 60));
        let path = Fit::new(&f, &set).path(1..=5).unwrap();
        assert!(path.models.is_sorted_by(|a, b| b.objective <= a.objective * (1.0 + 1e-9)), "seed {seed}");
        let (by_class, by_group) = (fit(&f, &set).unwrap(), fit(&g, &groups).unwrap());
        assert!(by_class.point.indices().len() <= 4);
        assert_eq!((groups.chosen(&by_group.point).len(), by_group.point.indices().len()), (3, 9));
        let stuck = [
            Fit::new(&f, &set).search(Search::quick()).run().unwrap().objective,
            Fit::new(&g, &groups).search(Search::quick()).run().unwrap().objective,
        ];
        for (found, stuck) in [by_class.objective, by_group.objective].into_iter().zip(stuck) {
            assert!(found <= stuck, "seed {seed}: {found} {stuck}");
            better += usize::from(found < stuck * (1.0 - 1e-9));
        }
    }
    assert!(better > 0);
}

/// More atoms than the working set begins with are looked at by pricing, and a path has the fit of each size.
#[test]
fn a_path_is_never_worse_than_a_fit_beyond_the_first_working_set() {
    for seed in 0..2 {
        let problem = Planted::walks(40, 900, seed);
        let f = problem.least_squares();
        for model in &Fit::new(&f, &k_sparse(1, 900)).path([2, 4, 7]).unwrap().models {
            let alone = fit(&f, &k_sparse(model.atoms, 900)).unwrap();
            assert!(model.objective <= alone.objective * (1.0 + 1e-9), "seed {seed}, {} atoms", model.atoms);
            let quality = &model.quality;
            assert!(quality.exhaustive && !quality.improvable() || quality.proven.is_some(), "{quality:?}");
        }
    }
}
