//! The path over k: one model for each size, from shared columns or from run to run.

use std::ops::ControlFlow;

use crate::planted::Planted;
use katoms::loss::{AnyLoss, LeastSquares, Logistic, Loss, Split};
use katoms::method::refit_on;
use katoms::operator::{Counted, Dense, Entries, LinearOperator, Rows, WithIntercept, subsampled_dct};
use katoms::select::{Bounds, Criterion, Path, Preparation};
use katoms::set::{Always, ConstraintSet, CoordinateSet, Groups, KSparse, OverlappingGroups, Rank};
use katoms::space::{IndexSet, LowRank, Point, SparseVec, Subspace};
use katoms::{Error, Fit, Objective, Status, fit, simulate};

const ALL: [Criterion; 4] = [Criterion::Aic, Criterion::Bic, Criterion::EBIC, Criterion::Gic];

fn correlated(rows: usize, dim: usize, k: usize, correlation: f64, noise: f64, seed: u64) -> Planted {
    let design = simulate::autoregressive(rows, dim, correlation, seed);
    let truth = simulate::sparse_signal(dim, k, seed);
    let mut clean = vec![0.0; rows];
    Dense::column_major(&design, rows, dim).unwrap().apply(&truth, &mut clean);
    let deviation = noise * katoms::linalg::norm(&clean) / (rows as f64).sqrt();
    let target = simulate::noisy(&clean, deviation, seed);
    Planted { rows, design, truth, target }
}

fn whole<A, L, S>(f: &Objective<A, L>, set: &S, sizes: impl IntoIterator<Item = usize>) -> Path<SparseVec>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
    S: CoordinateSet,
{
    Fit::new(f, set).path(sizes).unwrap()
}

/// The minimum of f over some coordinates.
fn value_on<A, L>(f: &Objective<A, L>, coordinates: &[usize]) -> f64
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
{
    let t = IndexSet::new(f.operator().domain(), coordinates.to_vec());
    f.value(&refit_on(f, f.at(t.point(&vec![0.0; t.dimension()])), &t))
}

fn least(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().fold(f64::INFINITY, f64::min)
}

/// f after forward regression: each size takes in the coordinate that lowers f most.
fn forward<A, L>(f: &Objective<A, L>, most: usize) -> Vec<f64>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
{
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

/// f after the best exchange of one coordinate for another.
fn best_exchange<A, L>(f: &Objective<A, L>, support: &[usize]) -> f64
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
{
    let dim = f.operator().domain();
    let pairs = (0..support.len()).flat_map(|at| (0..dim).map(move |into| (at, into)));
    let pairs = pairs.filter(|(_, into)| !support.contains(into));
    least(pairs.map(|(at, into)| {
        let mut next = support.to_vec();
        next[at] = into;
        value_on(f, &next)
    }))
}

#[test]
fn every_model_has_its_size_and_no_exchange_improves_it() {
    let (mut models, mut as_good, mut better) = (0, 0, 0);
    for (seed, correlation) in (0..12).flat_map(|seed| [(seed, 0.0), (seed, 0.8)]) {
        let problem = correlated(30, 18, 4, correlation, 0.7, seed);
        let a = problem.operator();
        let f = problem.squares(&a);
        let path = whole(&f, &KSparse::new(1, 18).unwrap(), 1..=8);
        assert!(path.complete);
        assert_eq!((path.models.len(), path.samples, path.candidates), (8, 30, 18));
        for ((model, k), forward) in path.models.iter().zip(1..).zip(forward(&f, 8)) {
            let support = model.point.indices();
            assert_eq!((model.atoms, model.parameters, support.len()), (k, k, k));
            assert!((value_on(&f, support) / model.objective - 1.0).abs() < 1e-9);
            assert!(model.objective <= forward * (1.0 + 1e-9), "seed {seed}, k {k}");
            let neighbour = best_exchange(&f, support);
            assert!(neighbour >= model.objective * (1.0 - 1e-8), "seed {seed}, k {k}: {neighbour} {}", model.objective);
            assert!(model.quality.exhaustive && !model.quality.improvable());
            assert_eq!(model.quality.exchanges_compared, k * (18 - k));
            assert_eq!((model.status, model.loss), (Status::Converged, model.objective));
            assert_eq!(model.deviance, f.loss().deviance(model.loss));
            let alone = fit(&f, &KSparse::new(k, 18).unwrap()).unwrap();
            models += 1;
            as_good += usize::from(model.objective <= alone.objective * (1.0 + 1e-9));
            better += usize::from(model.objective < alone.objective * (1.0 - 1e-9));
        }
        assert!(path.models.is_sorted_by(|a, b| b.objective <= a.objective));
        assert!(path.model(3).is_some_and(|model| model.atoms == 3) && path.model(9).is_none());
    }
    println!("path: as good as the fit in {as_good} of {models}, better in {better}");
    assert!(20 * as_good >= 19 * models, "{as_good} of {models}");
}

/// Ways by other sizes begin among the few atoms whose columns are known, and end among all.
#[test]
fn no_exchange_improves_a_model_of_a_wide_path() {
    let problem = correlated(150, 4500, 20, 0.8, 0.7, 1);
    let a = problem.operator();
    let f = problem.squares(&a);
    let path = whole(&f, &KSparse::new(1, 4500).unwrap(), 44..=48);
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
    let mut rises = 0;
    for seed in 0..20 {
        let problem = correlated(40, 60, 8, 0.9, 0.5, seed);
        let a = problem.operator();
        let f = problem.squares(&a);
        for sizes in [(1..=20).collect::<Vec<_>>(), vec![2, 5, 9], vec![3, 4, 15]] {
            let path = whole(&f, &KSparse::new(1, 60).unwrap(), sizes.clone());
            assert_eq!(path.models.iter().map(|model| model.atoms).collect::<Vec<_>>(), sizes);
            assert!(path.models.iter().all(|model| model.point.indices().len() == model.atoms));
            rises += path.models.windows(2).filter(|w| w[1].objective > w[0].objective * (1.0 + 1e-12)).count();
        }
    }
    assert_eq!(rises, 0);
}

#[test]
fn criteria_find_the_planted_size() {
    let mut found = 0;
    for seed in 0..10 {
        let problem = Planted::new(120, 60, 4, 0.3, seed);
        let a = problem.operator();
        let path = whole(&problem.squares(&a), &KSparse::new(1, 60).unwrap(), 1..=12);
        let best = path.best(Criterion::EBIC, None).unwrap();
        let strong = problem.truth.values().iter().all(|v| v.abs() > 0.15);
        found += usize::from(best.point.indices() == problem.truth.indices() || !strong);
        for criterion in ALL {
            let (own, more) =
                (path.criterion(criterion, None).unwrap(), path.criterion(criterion, Some(6000)).unwrap());
            let changed = own.iter().zip(&more).all(|(a, b)| a < b);
            assert_eq!(changed, matches!(criterion, Criterion::Ebic { .. } | Criterion::Gic), "{criterion:?}");
            assert!(changed || own == more);
            let least = least(own.iter().copied());
            let at = own.iter().position(|v| *v == least).unwrap();
            assert_eq!(path.best(criterion, None).unwrap().atoms, path.models[at].atoms);
            let charged = path.best(criterion, Some(6000)).unwrap().atoms;
            assert!(charged <= path.models[at].atoms);
        }
        assert!(path.criterion(Criterion::EBIC, Some(11)).is_err(), "fewer candidates than atoms");
        assert!(path.best(Criterion::Ebic { gamma: 2.0 }, None).is_err());
    }
    println!("EBIC: the planted model in {found} of 10");
    assert!(found >= 9, "{found}");
}

/// Whole weights are counts: every criterion says of a weighted problem what it says of the repeated rows.
#[test]
fn whole_weights_are_repeated_rows() {
    let problem = correlated(50, 12, 4, 0.5, 0.7, 8);
    let weights: Vec<f64> = (0..50).map(|i| ((i * 7) % 4) as f64).collect();
    let repeated: Vec<usize> = (0..50).flat_map(|i| vec![i; weights[i] as usize]).collect();
    let design = Dense::column_major(&problem.design, 50, 12).unwrap();
    let middle = problem.target.iter().sum::<f64>() / 50.0;
    let labels: Vec<f64> = problem.target.iter().map(|&y| f64::from(u8::from(y > middle))).collect();
    let squares = LeastSquares::new(problem.target.clone()).unwrap();
    let logistic = Logistic::new(labels).unwrap();
    let pairs: [[AnyLoss; 2]; 2] = [
        [squares.clone().weighted(weights.clone()).unwrap().into(), squares.subset(&repeated).unwrap().into()],
        [logistic.clone().weighted(weights).unwrap().into(), logistic.subset(&repeated).unwrap().into()],
    ];
    let preparation = Preparation::default();
    let set = preparation.set(&KSparse::new(1, 12).unwrap()).unwrap();
    for [weighted, rows] in &pairs {
        let f = preparation.objective(&design, weighted, (0..50).collect()).unwrap();
        let all = Rows::new(&design, repeated.clone()).unwrap();
        let g = preparation.objective(&all, rows, (0..repeated.len()).collect()).unwrap();
        let (f, g) = (whole(&f, &set, 1..=8), whole(&g, &set, 1..=8));
        assert_eq!((f.samples, g.samples), (repeated.len(), repeated.len()));
        for criterion in ALL {
            let (here, there) = (f.criterion(criterion, None).unwrap(), g.criterion(criterion, None).unwrap());
            for (here, there) in here.iter().zip(&there) {
                assert!((here - there).abs() < 1e-8 * (1.0 + there.abs()), "{criterion:?}: {here} {there}");
            }
            let best = |path: &Path<SparseVec>| path.best(criterion, None).unwrap().atoms;
            assert_eq!(best(&f), best(&g), "{criterion:?}");
        }
    }
}

#[test]
fn a_row_without_weight_is_no_sample() {
    let problem = Planted::new(50, 30, 3, 0.5, 2);
    let a = problem.operator();
    let rows: Vec<usize> = (0..50).filter(|i| i % 5 != 0).collect();
    let weights: Vec<f64> = (0..50).map(|i| f64::from(u8::from(i % 5 != 0))).collect();
    let loss = LeastSquares::new(problem.target.clone()).unwrap().weighted(weights).unwrap();
    let set = KSparse::new(1, 30).unwrap();
    let masked = whole(&Objective::new(&a, loss).unwrap(), &set, 1..=6);
    let target: Vec<f64> = rows.iter().map(|&i| problem.target[i]).collect();
    let fewer = Objective::new(Rows::new(&a, rows).unwrap(), LeastSquares::new(target).unwrap()).unwrap();
    let fewer = whole(&fewer, &set, 1..=6);
    assert_eq!((masked.samples, fewer.samples), (40, 40));
    for criterion in ALL {
        let values = [&masked, &fewer].map(|path| path.criterion(criterion, None).unwrap());
        assert!(values[0].iter().zip(&values[1]).all(|(a, b)| (a - b).abs() < 1e-8), "{criterion:?} {values:?}");
    }
}

#[test]
fn bad_sizes_are_named() {
    let problem = Planted::new(20, 10, 2, 0.1, 1);
    let a = problem.operator();
    let (f, set) = (problem.squares(&a), KSparse::new(1, 10).unwrap());
    let refused = |sizes: &[usize]| Fit::new(&f, &set).path(sizes.to_vec()).unwrap_err();
    assert_eq!(refused(&[]), Error::Empty { what: "the list of sizes" });
    for sizes in [&[0, 0][..], &[2, 2], &[3, 1], &[3, 0], &[1, 11], &[0, 11], &[11]] {
        assert!(matches!(refused(sizes), Error::OutOfRange { .. }), "{sizes:?}");
    }
    let other = KSparse::new(1, 11).unwrap();
    let error = Fit::new(&f, &other).path([1, 2]).unwrap_err();
    assert_eq!(error, Error::Domain { operator: "10".into(), set: "11".into() });
    assert!(whole(&f, &set, 0..=10).complete, "every size there is");
}

/// What is always in and nothing else, under every criterion's eyes; the other sizes are as they are without it.
#[test]
fn a_path_may_begin_without_atoms() {
    let problem = correlated(60, 30, 4, 0.5, 0.5, 2);
    let a = problem.operator();
    let squares = LeastSquares::new(problem.target.iter().map(|y| y + 7.0).collect::<Vec<_>>()).unwrap();
    let labels: Vec<f64> = problem.target.iter().map(|&y| f64::from(u8::from(y > 0.0))).collect();
    for loss in [AnyLoss::from(squares), Logistic::new(labels).unwrap().into()] {
        for always in [vec![], vec![3, 8]] {
            let prepared = Preparation::default();
            let f = prepared.objective(&a, &loss, (0..60).collect()).unwrap();
            let inner = Always::new(KSparse::new(1, 30).unwrap(), always.clone()).unwrap();
            let set = prepared.set(&inner).unwrap();
            let (with, without) = (whole(&f, &set, 0..=4), whole(&f, &set, 1..=4));
            let null = &with.models[0];
            let kept = [always.clone(), vec![30]].concat();
            assert_eq!((null.atoms, null.parameters, null.status), (0, kept.len(), Status::Converged));
            assert_eq!(null.point.indices(), kept);
            assert!((null.objective - value_on(&f, &kept)).abs() < 1e-12 * null.objective);
            for criterion in ALL {
                assert_eq!(with.criterion(criterion, None).unwrap()[1..], without.criterion(criterion, None).unwrap());
            }
            assert_eq!(whole(&f, &set, [0]).models[0].point, null.point);
            let bounds = Bounds::nonnegative(30).unwrap();
            let bounds = f.operator().scaled_bounds(&bounds).unwrap();
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
    let problem = correlated(40, 60, 8, 0.9, 0.5, 3);
    let a = problem.operator();
    let classes = Logistic::new(problem.target.iter().map(|y| f64::from(u8::from(*y > 0.0))).collect::<Vec<_>>());
    let (f, g) = (problem.squares(&a), Objective::new(&a, classes.unwrap()).unwrap().ridge(0.1).unwrap());
    let set = KSparse::new(1, 60).unwrap();
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
        let problem = correlated(80, 20, 4, 0.5, 0.1, seed);
        let a = problem.operator();
        let odds: Vec<f64> = problem.target.iter().map(|z| 25.0 * z).collect();
        let loss = Logistic::new(simulate::labels(&odds, seed)).unwrap();
        let f = Objective::new(&a, loss).unwrap().ridge(0.02).unwrap();
        let path = whole(&f, &KSparse::new(1, 20).unwrap(), 1..=6);
        assert!(path.complete && path.models.is_sorted_by(|a, b| b.objective <= a.objective * (1.0 + 1e-12)));
        for (model, k) in path.models.iter().zip(1..) {
            assert_eq!((model.atoms, model.point.indices().len()), (k, k));
            assert!(model.loss < model.objective, "the ridge is no part of the loss");
            assert_eq!(model.deviance, 2.0 * model.loss);
            let alone = fit(&f, &KSparse::new(k, 20).unwrap()).unwrap();
            models += 1;
            as_good += usize::from(model.objective <= alone.objective * (1.0 + 1e-6));
        }
    }
    println!("classes: as good as the fit in {as_good} of {models}");
    assert!(10 * as_good >= 8 * models, "{as_good} of {models}");
}

#[test]
fn groups_have_a_path_too() {
    let members: Vec<Vec<usize>> =
        vec![vec![0], vec![1, 2], vec![3, 4, 5], vec![6], vec![7, 8], vec![9, 10, 11], vec![12, 13], vec![14]];
    for seed in 0..8 {
        let problem = correlated(40, 15, 5, 0.7, 0.5, seed);
        let a = problem.operator();
        let f = problem.squares(&a);
        let set = Groups::new(1, 15, members.clone()).unwrap();
        let path = whole(&f, &set, 1..=6);
        assert_eq!((path.complete, path.candidates), (true, 8));
        assert!(path.models.is_sorted_by(|a, b| b.objective <= a.objective));
        for (model, k) in path.models.iter().zip(1..) {
            let chosen = set.chosen(&model.point);
            let of = |groups: &[usize]| groups.iter().flat_map(|&g| members[g].clone()).collect::<Vec<_>>();
            assert_eq!((chosen.len(), model.parameters), (k, of(&chosen).len()));
            assert_eq!(model.point.indices(), of(&chosen));
            let outside: Vec<usize> = (0..8).filter(|g| !chosen.contains(g)).collect();
            let neighbours = (0..k).flat_map(|at| outside.iter().map(move |&into| (at, into))).map(|(at, into)| {
                let mut next = chosen.clone();
                next[at] = into;
                value_on(&f, &of(&next))
            });
            assert!(least(neighbours) >= model.objective * (1.0 - 1e-8), "seed {seed}, k {k}");
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
    let (left, right) = simulate::low_rank_factors(20, 15, 3, 1);
    let truth = LowRank::from_factors(&left, &right).unwrap();
    let (rows, columns) = simulate::observed_places(20, 15, 0.8, 1);
    let seen = Entries::new((20, 15), &rows, &columns).unwrap();
    let mut b = vec![0.0; rows.len()];
    seen.apply(&truth, &mut b);
    let f = Objective::new(&seen, LeastSquares::new(simulate::noisy(&b, 0.1, 1)).unwrap()).unwrap();
    let path = Fit::new(&f, &Rank::new(1, (20, 15)).unwrap()).path(1..=5).unwrap();
    assert_eq!((path.complete, path.candidates, path.samples), (true, 15, rows.len()));
    assert!(path.models.is_sorted_by(|a, b| b.objective < a.objective));
    for (model, rank) in path.models.iter().zip(1..) {
        assert_eq!((model.atoms, model.parameters), (rank, rank * (35 - rank)));
        assert!(!model.quality.exhaustive);
    }
    assert_eq!(path.best(Criterion::Bic, None).unwrap().atoms, 3);
}

#[test]
fn what_is_kept_is_in_every_model_and_does_not_count() {
    for seed in 0..5 {
        let problem = correlated(40, 20, 4, 0.7, 0.5, seed);
        let a = problem.operator();
        let shifted: Vec<f64> = problem.target.iter().map(|y| y + 20.0).collect();
        let f = Objective::new(WithIntercept::new(&a), LeastSquares::new(shifted).unwrap()).unwrap();
        let inner = Always::new(KSparse::new(1, 20).unwrap(), vec![3, 11]).unwrap();
        let path = whole(&f, &Always::intercept(&inner), 1..=5);
        assert_eq!(path.candidates, 18);
        for (model, k) in path.models.iter().zip(1..) {
            assert_eq!((model.atoms, model.parameters, model.point.indices().len()), (k, k + 3, k + 3));
            assert!([3, 11, 20].iter().all(|j| model.point.indices().contains(j)));
            assert!((value_on(&f, model.point.indices()) / model.objective - 1.0).abs() < 1e-9);
            assert_eq!(model.quality.exchanges_compared, k * (18 - k));
        }
        let g = problem.squares(&a);
        let classes = problem.target.iter().map(|y| f64::from(u8::from(*y > 0.0))).collect::<Vec<_>>();
        let h = Objective::new(&a, Logistic::new(classes).unwrap()).unwrap().ridge(0.1).unwrap();
        for path in [whole(&g, &inner, [2, 3]), whole(&h, &inner, [2, 3])] {
            assert!(path.models.iter().all(|m| m.point.value_at(3) != 0.0 && m.point.value_at(11) != 0.0));
            assert!(path.models.iter().all(|m| m.point.indices().len() == m.atoms + 2));
        }
    }
}

#[test]
fn every_pass_of_a_path_is_counted_and_sizes_share_them() {
    let problem = correlated(60, 200, 8, 0.5, 0.5, 1);
    let counted = Counted::new(problem.operator());
    let f = Objective::new(&counted, LeastSquares::new(problem.target.clone()).unwrap()).unwrap();
    let path = whole(&f, &KSparse::new(1, 200).unwrap(), 1..=20);
    let counts = counted.take();
    assert_eq!((counts.passes, path.complete), (path.passes, true));
    println!("a path of twenty sizes takes {} passes", path.passes);
    assert!(path.passes < 20, "{}", path.passes);
    let loss = Logistic::new(problem.target.iter().map(|y| f64::from(u8::from(*y > 0.0))).collect::<Vec<_>>());
    let g = Objective::new(&counted, loss.unwrap()).unwrap().ridge(0.1).unwrap();
    let path = whole(&g, &KSparse::new(1, 200).unwrap(), 1..=3);
    assert_eq!(counted.take().passes, path.passes);
}

#[test]
fn a_perfect_fit_inside_a_path_stays_finite() {
    for seed in 0..5 {
        let problem = Planted::new(60, 40, 3, 0.0, seed);
        let a = problem.operator();
        let f = problem.squares(&a);
        let path = whole(&f, &KSparse::new(1, 40).unwrap(), 1..=8);
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
    let mut problem = correlated(10, 14, 3, 0.5, 0.5, 1);
    let column = problem.design[..10].to_vec();
    problem.design[50..60].copy_from_slice(&column);
    problem.design[80..90].fill(0.0);
    let a = problem.operator();
    for ridge in [0.0, 0.1] {
        let f = problem.squares(&a).ridge(ridge).unwrap();
        let path = whole(&f, &KSparse::new(1, 14).unwrap(), 1..=14);
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
    let mut y = vec![0.0; rows];
    let truth = simulate::sparse_signal(dim, 3, 0);
    a.apply(&truth, &mut y);
    let f = Objective::new(&a, LeastSquares::new(simulate::noisy(&y, 0.01, 0)).unwrap()).unwrap();
    let path = whole(&f, &KSparse::new(1, dim).unwrap(), 1..=6);
    assert!(path.complete && path.models.is_sorted_by(|a, b| b.objective <= a.objective));
    assert_eq!(path.model(3).unwrap().point.indices(), truth.indices());
    assert!(path.models.iter().all(|model| !model.quality.exhaustive));
    assert_eq!(KSparse::new(3, dim).unwrap().atoms(), path.models[2].atoms);
}
