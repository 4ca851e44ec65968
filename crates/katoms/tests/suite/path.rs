//! The path over k: one model for each size, from shared columns or from run to run.

use std::ops::ControlFlow;

use crate::planted::{
    Completion, Design, Planted, after_exchanges, image, k_sparse, labels, least, objective, squares, value_on,
};
use katoms::loss::{AnyLoss, Logistic, Loss, Split};
use katoms::operator::{Counted, Rows, WithIntercept, subsampled_dct};
use katoms::select::{Bounds, Criterion, Path, Preparation};
use katoms::set::{Always, CoordinateSet, Groups, OverlappingGroups, Rank};
use katoms::space::{Point, SparseVec};
use katoms::{Error, Fit, Objective, Status, fit, simulate};

const ALL: [Criterion; 4] = [Criterion::Aic, Criterion::Bic, Criterion::EBIC, Criterion::Gic];

fn whole<A, L>(f: &Objective<A, L>, set: &impl CoordinateSet, sizes: impl IntoIterator<Item = usize>) -> Path<SparseVec>
where
    A: Design,
    L: Loss,
{
    Fit::new(f, set).path(sizes).unwrap()
}

/// f after forward regression: each size takes in the coordinate that lowers f most.
fn forward(f: &Objective<impl Design, impl Loss>, most: usize) -> Vec<f64> {
    let (mut chosen, mut values) = (Vec::new(), Vec::new());
    for _ in 0..most {
        let outside = (0..f.operator().domain()).filter(|j| !chosen.contains(j));
        let tried = outside.map(|j| (value_on(f, &[chosen.clone(), vec![j]].concat()), j));
        let (value, j) = tried.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
        chosen.push(j);
        values.push(value);
    }
    values
}

#[test]
fn every_model_has_its_size_and_no_exchange_improves_it() {
    let (mut models, mut as_good) = (0, 0);
    for (seed, correlation) in (0..6).flat_map(|seed| [(seed, 0.0), (seed, 0.8)]) {
        let problem = Planted::correlated((30, 18, 4), correlation, 0.7, seed);
        let f = problem.least_squares();
        let path = whole(&f, &problem.set(), 1..=8);
        assert!(path.complete);
        assert_eq!((path.models.len(), path.samples, path.candidates), (8, 30, 18));
        for ((model, k), forward) in path.models.iter().zip(1..).zip(forward(&f, 8)) {
            let support = model.point.indices();
            assert_eq!((model.atoms, model.parameters, support.len()), (k, k, k));
            assert!((value_on(&f, support) / model.objective - 1.0).abs() < 1e-9);
            assert!(model.objective <= forward * (1.0 + 1e-9), "seed {seed}, k {k}");
            let neighbour = least(after_exchanges(&f, &problem.set(), support));
            assert!(neighbour >= model.objective * (1.0 - 1e-8), "seed {seed}, k {k}: {neighbour} {}", model.objective);
            assert!(model.quality.exhaustive && !model.quality.improvable());
            assert_eq!(model.quality.exchanges_compared, k * (18 - k));
            assert_eq!((model.status, model.loss), (Status::Converged, model.objective));
            assert_eq!(model.deviance, f.loss().deviance(model.loss));
            let alone = fit(&f, &k_sparse(k, 18)).unwrap();
            models += 1;
            as_good += usize::from(model.objective <= alone.objective * (1.0 + 1e-9));
        }
        assert!(path.models.is_sorted_by(|a, b| b.objective <= a.objective));
        assert!(path.model(3).is_some_and(|model| model.atoms == 3) && path.model(9).is_none());
    }
    assert!(20 * as_good >= 19 * models, "{as_good} of {models}");
}

/// Ways by other sizes begin among the few atoms whose columns are known, and end among all.
#[test]
fn no_exchange_improves_a_model_of_a_wide_path() {
    let problem = Planted::correlated((150, 4500, 20), 0.8, 0.7, 1);
    let f = problem.least_squares();
    let path = whole(&f, &k_sparse(1, 4500), 44..=48);
    assert!(path.models.is_sorted_by(|a, b| b.objective <= a.objective));
    for model in &path.models {
        let (support, k) = (model.point.indices(), model.atoms);
        assert_eq!(support.len(), k);
        assert!((value_on(&f, support) / model.objective - 1.0).abs() < 1e-9);
        assert!(model.quality.exhaustive && !model.quality.improvable(), "{k}");
        assert_eq!(model.quality.exchanges_compared, k * (4500 - k));
    }
}

#[test]
fn larger_models_never_fit_worse() {
    for seed in 0..8 {
        let problem = Planted::hard(seed);
        let f = problem.least_squares();
        for sizes in [(1..=20).collect::<Vec<_>>(), vec![2, 5, 9], vec![3, 4, 15]] {
            let path = whole(&f, &k_sparse(1, 60), sizes.clone());
            assert_eq!(path.models.iter().map(|model| model.atoms).collect::<Vec<_>>(), sizes);
            assert!(path.models.iter().all(|model| model.point.indices().len() == model.atoms));
            assert!(path.models.is_sorted_by(|a, b| b.objective <= a.objective * (1.0 + 1e-12)), "seed {seed}");
        }
    }
}

#[test]
fn criteria_find_the_planted_size() {
    let mut found = 0;
    for seed in 0..10 {
        let problem = Planted::new(120, 60, 4, 0.3, seed);
        let path = whole(&problem.least_squares(), &k_sparse(1, 60), 1..=12);
        let best = path.best(Criterion::EBIC, None).unwrap();
        let strong = problem.truth.values().iter().all(|v| v.abs() > 0.15);
        found += usize::from(best.point.indices() == problem.truth.indices() || !strong);
        for criterion in ALL {
            let [own, more] = [None, Some(6000)].map(|candidates| path.criterion(criterion, candidates).unwrap());
            let changed = own.iter().zip(&more).all(|(a, b)| a < b);
            assert_eq!(changed, matches!(criterion, Criterion::Ebic { .. } | Criterion::Gic), "{criterion:?}");
            assert!(changed || own == more);
            let least = least(own.iter().copied());
            let at = own.iter().position(|v| *v == least).unwrap();
            assert_eq!(path.best(criterion, None).unwrap().atoms, path.models[at].atoms);
            assert!(path.best(criterion, Some(6000)).unwrap().atoms <= path.models[at].atoms);
        }
        assert!(path.criterion(Criterion::EBIC, Some(11)).is_err(), "fewer candidates than atoms");
        assert!(path.best(Criterion::Ebic { gamma: 2.0 }, None).is_err());
    }
    assert!(found >= 9, "{found}");
}

/// Two paths whose criteria agree, with this number of samples.
fn agree(one: &Path<SparseVec>, other: &Path<SparseVec>, samples: usize) {
    assert_eq!((one.samples, other.samples), (samples, samples));
    for criterion in ALL {
        let [here, there] = [one, other].map(|path| path.criterion(criterion, None).unwrap());
        for (here, there) in here.iter().zip(&there) {
            assert!((here - there).abs() < 1e-8 * (1.0 + there.abs()), "{criterion:?}: {here} {there}");
        }
        let [here, there] = [one, other].map(|path| path.best(criterion, None).unwrap().atoms);
        assert_eq!(here, there, "{criterion:?}");
    }
}

/// Whole weights are counts: every criterion says of a weighted problem what it says of the repeated rows. A row
/// without weight is no sample.
#[test]
fn whole_weights_are_repeated_rows() {
    let problem = Planted::correlated((50, 12, 4), 0.5, 0.7, 8);
    let weights: Vec<f64> = (0..50).map(|i| ((i * 7) % 4) as f64).collect();
    let repeated: Vec<usize> = (0..50).flat_map(|i| vec![i; weights[i] as usize]).collect();
    let (design, middle) = (problem.operator(), problem.target.iter().sum::<f64>() / 50.0);
    let logistic = Logistic::new(labels(&problem.target, middle)).unwrap();
    let pairs: [[AnyLoss; 2]; 2] = [
        [problem.loss().weighted(weights.clone()).unwrap().into(), problem.loss().subset(&repeated).unwrap().into()],
        [logistic.clone().weighted(weights).unwrap().into(), logistic.subset(&repeated).unwrap().into()],
    ];
    let preparation = Preparation::default();
    let set = preparation.set(&k_sparse(1, 12), &logistic).unwrap();
    let all = Rows::new(&design, repeated.clone()).unwrap();
    for [weighted, rows] in &pairs {
        let f = preparation.objective(&design, weighted, (0..50).collect()).unwrap();
        let g = preparation.objective(&all, rows, (0..repeated.len()).collect()).unwrap();
        agree(&whole(&f, &set, 1..=8), &whole(&g, &set, 1..=8), repeated.len());
    }
}

#[test]
fn bad_sizes_are_named() {
    let problem = Planted::new(20, 10, 2, 0.1, 1);
    let (f, set) = (problem.least_squares(), k_sparse(1, 10));
    let refused = |sizes: &[usize]| Fit::new(&f, &set).path(sizes.to_vec()).unwrap_err();
    assert_eq!(refused(&[]), Error::Empty { what: "the list of sizes" });
    for sizes in [&[0, 0][..], &[2, 2], &[3, 1], &[3, 0], &[1, 11], &[0, 11], &[11]] {
        assert!(matches!(refused(sizes), Error::OutOfRange { .. }), "{sizes:?}");
    }
    let error = Fit::new(&f, &k_sparse(1, 11)).path([1, 2]).unwrap_err();
    assert_eq!(error, Error::Domain { operator: "10".into(), set: "11".into() });
    assert!(whole(&f, &set, 0..=10).complete, "every size there is");
}

/// What is always in and nothing else, under every criterion's eyes; the other sizes are as they are without it.
#[test]
fn a_path_may_begin_without_atoms() {
    let problem = Planted::correlated((60, 30, 4), 0.5, 0.5, 2);
    let a = problem.operator();
    let shifted = squares(problem.target.iter().map(|y| y + 7.0).collect::<Vec<_>>());
    for loss in [AnyLoss::from(shifted), problem.signs().into()] {
        for always in [vec![], vec![3, 8]] {
            let prepared = Preparation::default();
            let f = prepared.objective(&a, &loss, (0..60).collect()).unwrap();
            let set = prepared.set(&Always::new(k_sparse(1, 30), always.clone()).unwrap(), f.loss()).unwrap();
            let (with, without) = (whole(&f, &set, 0..=4), whole(&f, &set, 1..=4));
            let null = &with.models[0];
            let kept = [always, vec![30]].concat();
            assert_eq!((null.atoms, null.parameters, null.status), (0, kept.len(), Status::Converged));
            assert_eq!(null.point.indices(), kept);
            assert!((null.objective - value_on(&f, &kept)).abs() < 1e-12 * null.objective);
            for criterion in ALL {
                assert_eq!(with.criterion(criterion, None).unwrap()[1..], without.criterion(criterion, None).unwrap());
            }
            assert_eq!(whole(&f, &set, [0]).models[0].point, null.point);
            let bounds = f.operator().scaled_bounds(&Bounds::nonnegative(30).unwrap()).unwrap();
            let bounded = Fit::new(&f, &set).bounds(bounds.clone()).path([0, 1, 2]).unwrap();
            assert_eq!(bounded.models.iter().map(|m| m.atoms).collect::<Vec<_>>(), [0, 1, 2]);
            assert!(bounded.models[0].objective >= null.objective * (1.0 - 1e-12));
            assert!(bounds.contain(&bounded.models[0].point) && bounded.models[0].status == Status::Converged);
            let mut heard = Vec::new();
            let poll = |done| {
                heard.push(done);
                ControlFlow::Continue(())
            };
            Fit::new(&f, &set).poll(poll).path(0..=4).unwrap();
            assert_eq!(heard.last(), Some(&5), "{heard:?}");
        }
    }
}

#[test]
fn the_observer_stops_a_path_and_keeps_what_is_there() {
    let problem = Planted::hard(3);
    let (f, set) = (problem.least_squares(), k_sparse(1, 60));
    let g = objective(problem.operator(), problem.signs()).ridge(0.1).unwrap();
    for last in 1..=6 {
        let stop_at = |heard: &mut Vec<usize>, count: usize| {
            heard.push(count);
            if heard.len() == last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let (mut grown, mut stepped) = (Vec::new(), Vec::new());
        let paths = [
            Fit::new(&f, &set).poll(|count| stop_at(&mut grown, count)).path(1..=6).unwrap(),
            Fit::new(&g, &set).poll(|count| stop_at(&mut stepped, count)).path(1..=6).unwrap(),
        ];
        assert_eq!((&grown, &stepped), (&(1..=last).collect(), &(1..=last).collect()));
        for path in paths {
            assert_eq!((path.models.len(), path.complete), (last, last == 6));
            assert!(path.models.iter().zip(1..).all(|(m, k)| m.point.indices().len() == k && m.objective.is_finite()));
        }
    }
}

#[test]
fn classes_have_a_path_too() {
    let (mut models, mut as_good) = (0, 0);
    for seed in 0..6 {
        let problem = Planted::correlated((80, 20, 4), 0.5, 0.1, seed);
        let odds: Vec<f64> = problem.target.iter().map(|z| 25.0 * z).collect();
        let loss = Logistic::new(simulate::labels(&odds, seed)).unwrap();
        let f = objective(problem.operator(), loss).ridge(0.02).unwrap();
        let path = whole(&f, &k_sparse(1, 20), 1..=6);
        assert!(path.complete && path.models.is_sorted_by(|a, b| b.objective <= a.objective * (1.0 + 1e-12)));
        for (model, k) in path.models.iter().zip(1..) {
            assert_eq!((model.atoms, model.point.indices().len()), (k, k));
            assert!(model.loss < model.objective, "the ridge is no part of the loss");
            assert_eq!(model.deviance, 2.0 * model.loss);
            let alone = fit(&f, &k_sparse(k, 20)).unwrap();
            models += 1;
            as_good += usize::from(model.objective <= alone.objective * (1.0 + 1e-6));
        }
    }
    assert!(10 * as_good >= 8 * models, "{as_good} of {models}");
}

#[test]
fn groups_have_a_path_too() {
    let members: Vec<Vec<usize>> =
        vec![vec![0], vec![1, 2], vec![3, 4, 5], vec![6], vec![7, 8], vec![9, 10, 11], vec![12, 13], vec![14]];
    for seed in 0..4 {
        let problem = Planted::correlated((40, 15, 5), 0.7, 0.5, seed);
        let f = problem.least_squares();
        let set = Groups::new(1, 15, members.clone()).unwrap();
        let path = whole(&f, &set, 1..=6);
        assert_eq!((path.complete, path.candidates), (true, 8));
        assert!(path.models.is_sorted_by(|a, b| b.objective <= a.objective));
        for (model, k) in path.models.iter().zip(1..) {
            let chosen = set.chosen(&model.point);
            let all: Vec<usize> = chosen.iter().flat_map(|&g| members[g].clone()).collect();
            assert_eq!((chosen.len(), model.parameters, model.point.indices()), (k, all.len(), &all[..]));
            let neighbour = least(after_exchanges(&f, &set, &chosen));
            assert!(neighbour >= model.objective * (1.0 - 1e-8), "seed {seed}, k {k}");
        }
        // Windows that overlap.
        let windows = OverlappingGroups::new(1, 15, (0..13).map(|g| (g..g + 3).collect()).collect()).unwrap();
        let path = whole(&f, &windows, [1, 2, 4]);
        assert!(path.complete && path.models.is_sorted_by(|a, b| b.objective <= a.objective));
        assert!(path.models.iter().all(|model| model.parameters <= 3 * model.atoms));
    }
}

#[test]
fn matrices_have_a_path_too() {
    let problem = Completion::new((20, 15), 3, 0.8, 0.1, 1);
    let path = Fit::new(&problem.objective(), &Rank::new(1, (20, 15)).unwrap()).path(1..=5).unwrap();
    assert_eq!((path.complete, path.candidates, path.samples), (true, 15, problem.target.len()));
    assert!(path.models.is_sorted_by(|a, b| b.objective < a.objective));
    for (model, rank) in path.models.iter().zip(1..) {
        assert_eq!((model.atoms, model.parameters), (rank, rank * (35 - rank)));
        assert!(!model.quality.exhaustive);
    }
    assert_eq!(path.best(Criterion::Bic, None).unwrap().atoms, 3);
}

#[test]
fn what_is_kept_is_in_every_model_and_does_not_count() {
    for seed in 0..3 {
        let problem = Planted::correlated((40, 20, 4), 0.7, 0.5, seed);
        let shifted: Vec<f64> = problem.target.iter().map(|y| y + 20.0).collect();
        let f = objective(WithIntercept::new(problem.operator()), squares(shifted));
        let inner = Always::new(k_sparse(1, 20), vec![3, 11]).unwrap();
        let path = whole(&f, &Always::intercept(&inner), 1..=5);
        assert_eq!(path.candidates, 18);
        for (model, k) in path.models.iter().zip(1..) {
            assert_eq!((model.atoms, model.parameters, model.point.indices().len()), (k, k + 3, k + 3));
            assert!([3, 11, 20].iter().all(|j| model.point.indices().contains(j)));
            assert!((value_on(&f, model.point.indices()) / model.objective - 1.0).abs() < 1e-9);
            assert_eq!(model.quality.exchanges_compared, k * (18 - k));
        }
        let classes = objective(problem.operator(), problem.signs()).ridge(0.1).unwrap();
        for path in [whole(&problem.least_squares(), &inner, [2, 3]), whole(&classes, &inner, [2, 3])] {
            assert!(path.models.iter().all(|m| m.point.value_at(3) != 0.0 && m.point.value_at(11) != 0.0));
            assert!(path.models.iter().all(|m| m.point.indices().len() == m.atoms + 2));
        }
    }
}

#[test]
fn every_pass_of_a_path_is_counted_and_sizes_share_them() {
    let problem = Planted::correlated((60, 200, 8), 0.5, 0.5, 1);
    let counted = Counted::new(problem.operator());
    let path = whole(&objective(&counted, problem.loss()), &k_sparse(1, 200), 1..=20);
    assert_eq!((counted.take().passes, path.complete), (path.passes, true));
    assert!(path.passes < 20, "{}", path.passes);
    let path = whole(&objective(&counted, problem.signs()).ridge(0.1).unwrap(), &k_sparse(1, 200), 1..=3);
    assert_eq!(counted.take().passes, path.passes);
}

#[test]
fn a_perfect_fit_inside_a_path_stays_finite() {
    for seed in 0..3 {
        let problem = Planted::new(60, 40, 3, 0.0, seed);
        let path = whole(&problem.least_squares(), &k_sparse(1, 40), 1..=8);
        assert!(path.models.iter().all(|m| m.objective.is_finite() && m.deviance.is_finite()));
        // Beyond the planted three no atom matters.
        assert!(path.models[..3].iter().all(|m| m.point.indices().len() == m.atoms));
        assert!(path.models.iter().all(|m| m.point.indices().len() <= m.atoms));
        for criterion in ALL {
            let best = path.best(criterion, None).unwrap();
            assert_eq!(best.point.indices(), problem.truth.indices(), "seed {seed} {criterion:?}");
        }
    }
}

#[test]
fn a_path_beyond_the_rank_of_the_design_stays_finite() {
    let mut problem = Planted::correlated((10, 14, 3), 0.5, 0.5, 1);
    problem.duplicate(0, 5);
    problem.column_mut(8).fill(0.0);
    for ridge in [0.0, 0.1] {
        let path = whole(&problem.least_squares().ridge(ridge).unwrap(), &k_sparse(1, 14), 1..=14);
        assert!(path.complete);
        for model in &path.models {
            assert!(model.objective.is_finite() && model.deviance.is_finite() && model.point.norm().is_finite());
            assert!(model.point.indices().len() <= model.atoms);
        }
        let slack = 1e-20 * path.models[0].objective;
        assert!(path.models.is_sorted_by(|a, b| b.objective <= a.objective + slack), "ridge {ridge}");
    }
}

#[test]
fn without_columns_a_path_goes_from_run_to_run() {
    let (rows, dim) = (60, 128);
    let a = subsampled_dct(dim, (0..rows).map(|i| (i * 37) % dim).collect()).unwrap();
    let truth = simulate::sparse_signal(dim, 3, 0);
    let f = objective(&a, squares(simulate::noisy(&image(&a, &truth), 0.01, 0)));
    let path = whole(&f, &k_sparse(1, dim), 1..=6);
    assert!(path.complete && path.models.is_sorted_by(|a, b| b.objective <= a.objective));
    assert_eq!(path.model(3).unwrap().point.indices(), truth.indices());
    assert!(path.models.iter().all(|model| !model.quality.exhaustive));
}
