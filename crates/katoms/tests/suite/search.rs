//! The search for the best answer: what it finds, and what it says about it.

use crate::contract::in_pool;
use crate::planted::{
    Completion, Design, Planted, after_exchanges, best_subset, choices, defaults, image, k_sparse, least, objective,
    of_atoms, solved, squares, value_on,
};
use katoms::driver::{Event, NearTie, Start};
use katoms::loss::{LeastSquares, Loss};
use katoms::method::{AcceleratedIht, Move, refit_on};
use katoms::operator::{Dense, LinearOperator, WithIntercept, subsampled_dct};
use katoms::search::{Effort, Search};
use katoms::select::Preparation;
use katoms::set::{Always, ConstraintSet, CoordinateSet, Groups, KSparse, OverlappingGroups, Rank};
use katoms::space::{IndexSet, Point, SparseVec};
use katoms::{Fit, Objective, Outcome, Status, fit, simulate};

/// One run, and a statement of its quality.
fn judged(f: &Objective<impl Design, impl Loss>, set: &impl CoordinateSet) -> Outcome<SparseVec> {
    Fit::new(f, set).search(Search { quality: true, ..Search::quick() }).run().unwrap()
}

#[test]
fn no_exchange_improves_the_answer_and_most_answers_are_the_best() {
    let (n, k, draws) = (14, 3, 20);
    for correlation in [0.0, 0.8] {
        let mut best = 0;
        for seed in 0..draws {
            let problem = Planted::correlated((20, n, k), correlation, 1.0, seed);
            let (f, set) = (problem.least_squares(), problem.set());
            let outcome = fit(&f, &set).unwrap();
            assert_eq!(outcome.point.indices().len(), k);
            let quality = outcome.quality.unwrap();
            assert!(quality.exhaustive && !quality.improvable(), "{quality:?}");
            assert_eq!(quality.exchanges_compared, k * (n - k));
            let neighbour = least(after_exchanges(&f, &set, outcome.point.indices()));
            assert!(neighbour >= outcome.objective * (1.0 - 1e-8), "seed {seed}: {neighbour} {}", outcome.objective);
            best += usize::from(outcome.objective <= best_subset(&f, k) * (1.0 + 1e-9));
        }
        assert!(best >= 17, "{best} of {draws} at correlation {correlation}");
    }
}

/// The gain that a run without exchanges reports against brute force; whether there was one.
fn the_gain_is_exact(f: &Objective<impl Design, impl Loss>, set: &impl CoordinateSet) -> bool {
    let outcome = judged(f, set);
    let quality = outcome.quality.unwrap();
    let chosen = set.chosen(&outcome.point);
    let values = after_exchanges(f, set, &chosen);
    assert!(quality.exhaustive);
    assert_eq!((outcome.attempts.len(), outcome.attempts[0].exchanges), (1, 0));
    assert_eq!((quality.exchanges_compared, chosen.len()), (values.len(), set.atoms()));
    let gain = (outcome.objective - least(values)).max(0.0);
    let found = quality.exchange_gain;
    assert!((found - gain).abs() <= 1e-9 * outcome.objective, "{found} {gain}");
    gain > 1e-9 * outcome.objective
}

#[test]
fn the_gain_of_the_best_exchange_is_exact() {
    let (rows, n) = (24, 14);
    let weights: Vec<f64> = (0..rows).map(|i| [0.0, 0.5, 1.0, 3.0][i % 4]).collect();
    let sizes = vec![vec![0], vec![1, 2], vec![3, 9], vec![4, 5, 6], vec![7], vec![8, 10, 11], vec![12, 13]];
    let groups = Groups::new(3, n, sizes).unwrap();
    let mut stuck = [0; 6];
    for seed in 0..12 {
        let problem = Planted::correlated((rows, n, 4), 0.8, 1.0, seed);
        let (f, set) = (problem.least_squares(), problem.set());
        let weighted = objective(problem.operator(), problem.loss().weighted(weights.clone()).unwrap());
        let kept = Always::new(set.clone(), vec![2, 7]).unwrap();
        let shifted: Vec<f64> = problem.target.iter().map(|y| y + 30.0).collect();
        let with_intercept = objective(WithIntercept::new(problem.operator()), squares(shifted));
        let with_intercept = with_intercept.ridge(0.2).unwrap().free_of_ridge(IndexSet::new(n + 1, vec![n]));
        let checks = [
            the_gain_is_exact(&f, &set),
            the_gain_is_exact(&problem.least_squares().ridge(0.3).unwrap(), &set),
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
fn planted_groups_are_found_where_a_plain_run_fails() {
    let members: Vec<Vec<usize>> = (0..30).map(|g| (3 * g..3 * g + 3).collect()).collect();
    let set = Groups::new(4, 90, members.clone()).unwrap();
    let (mut rescued, mut lost) = (0, 0);
    for seed in 0..20 {
        let (f, planted) = with_planted_groups(&members, (36, 90), (0.9, 0.01), seed);
        let (plain, outcome) = (solved(&f, &set, &defaults()), fit(&f, &set).unwrap());
        assert!(outcome.objective <= plain.objective * (1.0 + 1e-12));
        assert_eq!(outcome.point.support(), IndexSet::new(90, of_atoms(&set, &set.chosen(&outcome.point))));
        assert_eq!(set.chosen(&outcome.point).len(), 4);
        rescued += usize::from(plain.point.support() != planted && outcome.point.support() == planted);
        lost += usize::from(outcome.point.support() != planted);
    }
    assert!(rescued > 0 && lost <= 2, "{rescued} {lost}");
}

/// Four of the groups, in correlated columns, with noise of this deviation.
fn with_planted_groups(
    members: &[Vec<usize>],
    (rows, dim): (usize, usize),
    (correlation, deviation): (f64, f64),
    seed: u64,
) -> (Objective<Dense<'static, f64>, LeastSquares>, IndexSet) {
    let a = Dense::column_major(simulate::autoregressive(rows, dim, correlation, seed), rows, dim).unwrap();
    let chosen = simulate::sparse_signal(members.len(), 4, seed);
    let planted = IndexSet::new(dim, chosen.indices().iter().flat_map(|&g| members[g].clone()).collect());
    let values = simulate::normals(planted.indices().len(), &mut simulate::generator(seed, 9));
    let y = image(&a, &SparseVec::new(dim, planted.indices().to_vec(), values).unwrap());
    (objective(a, squares(simulate::noisy(&y, deviation, seed))), planted)
}

#[test]
fn overlapping_groups_are_searched_and_never_worse_than_a_plain_run() {
    let members: Vec<Vec<usize>> = (0..28).map(|g| (2 * g..2 * g + 4).collect()).collect();
    let set = OverlappingGroups::new(4, 58, members.clone()).unwrap();
    let mut better = 0;
    for seed in 0..15 {
        let (f, _) = with_planted_groups(&members, (40, 58), (0.8, 0.1), seed);
        let (plain, outcome) = (solved(&f, &set, &defaults()), fit(&f, &set).unwrap());
        let falls = |w: &[Event]| w[1].objective <= w[0].objective * (1.0 + 1e-12);
        assert!(outcome.trace.windows(2).all(falls), "seed {seed}");
        assert!(outcome.objective <= plain.objective * (1.0 + 1e-9), "seed {seed}");
        better += usize::from(outcome.objective < plain.objective * (1.0 - 1e-6));
        // a union of at most four groups
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

/// Three windows of three in a row are covered by two as soon as the outer ones have more squared norm: another fits then.
#[test]
fn room_that_a_cover_leaves_is_used() {
    let set = OverlappingGroups::new(3, 8, (0..6).map(|g| (g..g + 3).collect()).collect()).unwrap();
    let mut design = vec![0.0; 64];
    (0..8).for_each(|j| design[9 * j] = 1.0);
    let a = Dense::column_major(&design, 8, 8).unwrap();
    for seed in 0..25 {
        let f = objective(&a, squares(simulate::normals(8, &mut simulate::generator(seed, 0))));
        let outcome = fit(&f, &set).unwrap();
        let chosen = set.chosen(&outcome.point);
        let more = least((0..6).map(|g| value_on(&f, &of_atoms(&set, &[chosen.clone(), vec![g]].concat()))));
        assert!(chosen.len() == 3 || more >= outcome.objective * (1.0 - 1e-9), "seed {seed}: room for {more}");
    }
}

/// Atoms are numbered by their group, not by their coordinate.
#[test]
fn groups_of_one_coordinate_each_are_k_sparse_vectors() {
    let order: Vec<usize> = (0..60).map(|j| (7 * j + 3) % 60).collect();
    for seed in 0..5 {
        let problem = Planted::hard(seed);
        let f = problem.least_squares();
        let plain = fit(&f, &problem.set()).unwrap();
        let singles = Groups::new(8, 60, order.iter().map(|&j| vec![j]).collect()).unwrap();
        assert_eq!(fit(&f, &singles).unwrap().point.indices(), plain.point.indices(), "seed {seed}");
        assert!(the_gain_is_exact(&f, &singles) || plain.attempts.len() == 1);
        // Some coordinates belong to no group.
        let some: Vec<Vec<usize>> = order.iter().filter(|&&j| j % 3 != 0).map(|&j| vec![j]).collect();
        let groups = Groups::new(8, 60, some.clone()).unwrap();
        the_gain_is_exact(&f, &groups);
        let outcome = fit(&f, &groups).unwrap();
        assert!(outcome.point.indices().iter().all(|j| j % 3 != 0));
        let overlapping = OverlappingGroups::new(8, 60, some).unwrap();
        assert_eq!(fit(&f, &overlapping).unwrap().point.indices(), outcome.point.indices());
    }
}

#[test]
fn without_columns_it_is_a_plain_run() {
    let (rows, dim) = (60, 128);
    let a = subsampled_dct(dim, (0..rows).map(|i| (i * 37) % dim).collect()).unwrap();
    let y = image(&a, &simulate::sparse_signal(dim, 4, 0));
    let (f, set) = (objective(&a, squares(simulate::noisy(&y, 0.02, 0))), k_sparse(4, dim));
    let (plain, outcome) = (solved(&f, &set, &defaults()), fit(&f, &set).unwrap());
    assert_eq!((&outcome.point, outcome.attempts.len(), outcome.passes), (&plain.point, 1, plain.passes));
    let quality = outcome.quality.unwrap();
    assert!(!quality.exhaustive && quality.exchanges_compared > 0 && quality.certificate.is_none());
    // so are matrices
    let problem = Completion::new((30, 25), 3, 0.6, 0.1, 1);
    let (f, set) = (problem.objective(), Rank::new(3, (30, 25)).unwrap());
    let plain = solved(&f, &set, &AcceleratedIht::for_structure(set.structure()));
    let outcome = fit(&f, &set).unwrap();
    assert_eq!((outcome.objective, outcome.attempts.len()), (plain.objective, 1));
    let quality = outcome.quality.unwrap();
    assert!(!quality.exhaustive && quality.near_ties.is_empty() && quality.certificate.is_none());
}

#[test]
fn a_duplicated_column_is_a_near_tie_and_a_clear_answer_has_none() {
    for seed in 0..10 {
        let mut problem = Planted::new(60, 20, 3, 0.1, seed);
        let clear = fit(&problem.least_squares(), &problem.set()).unwrap();
        let weakest = least(clear.point.values().iter().map(|v| v.abs()));
        assert!(weakest < 0.2 || clear.quality.unwrap().near_ties.is_empty(), "seed {seed}");
        let twin = clear.point.indices()[1];
        let copy = (0..20).find(|j| !clear.point.indices().contains(j)).unwrap();
        problem.duplicate(twin, copy);
        let outcome = fit(&problem.least_squares(), &problem.set()).unwrap();
        let one_of = |tie: &&NearTie| [(twin, copy), (copy, twin)].contains(&(tie.inside, tie.outside));
        let quality = outcome.quality.unwrap();
        let tie = quality.near_ties.iter().find(one_of).expect("the twins are told");
        assert!(tie.rise <= 1e-12 * outcome.objective, "{tie:?}");
        assert!(quality.near_ties.is_sorted_by(|a, b| a.rise <= b.rise));
    }
}

#[test]
fn a_certificate_comes_with_a_ridge_and_ends_the_search_where_it_proves_enough() {
    let (mut sooner, set) = (0, k_sparse(8, 60));
    for seed in 0..8 {
        let problem = Planted::hard(seed);
        let without = fit(&problem.least_squares(), &set).unwrap();
        assert_eq!(without.quality.unwrap().certificate, None);
        for ridge in [1e-3, 0.1, 1.0] {
            let outcome = fit(&problem.least_squares().ridge(ridge).unwrap(), &set).unwrap();
            let proof = outcome.quality.unwrap().certificate.unwrap();
            assert!((0.0..=1.0).contains(&proof.gap) && proof.lower_bound <= outcome.objective, "{proof:?}");
        }
        let outcome = fit(&problem.least_squares().ridge(1e4).unwrap(), &set).unwrap();
        assert!(outcome.quality.unwrap().certificate.unwrap().gap <= 1e-6);
        assert_eq!(outcome.attempts.len(), 1);
        sooner += usize::from(without.attempts.len() > 1);
    }
    assert!(sooner > 0);
}

/// What a search found and how.
fn summary(design: Vec<f64>, target: Vec<f64>) -> (Vec<usize>, Vec<(Start, usize, Status)>) {
    let (rows, dim) = (target.len(), design.len() / target.len());
    let f = objective(Dense::column_major(design, rows, dim).unwrap(), squares(target));
    let outcome = fit(&f, &k_sparse(8, dim)).unwrap();
    let attempts = outcome.attempts.iter().map(|attempt| (attempt.start, attempt.exchanges, attempt.status));
    (outcome.point.indices().to_vec(), attempts.collect())
}

#[test]
fn scaling_the_data_changes_nothing() {
    for seed in 0..5 {
        let problem = Planted::hard(seed);
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
    let mut same = 0;
    for seed in 0..10 {
        let problem = Planted::correlated((60, 40, 8), 0.5, 0.1, seed);
        let (plain, _) = summary(problem.design.clone(), problem.target.clone());
        let outside = (0..40).find(|j| !plain.contains(j)).unwrap();
        for (column, scale) in [(plain[3], 1e6), (outside, 1e6), (plain[3], 1e-6), (outside, 1e-6)] {
            let mut design = problem.design.clone();
            design[60 * column..60 * (column + 1)].iter_mut().for_each(|v| *v *= scale);
            same += usize::from(summary(design, problem.target.clone()).0 == plain);
        }
    }
    assert!(same >= 38, "the same support in {same} of 40");
}

#[test]
fn the_same_bits_at_one_and_two_threads() {
    let problem = Planted::correlated((300, 2500, 20), 0.9, 0.5, 2);
    let groups = Groups::new(5, 2500, (0..500).map(|g| (5 * g..5 * g + 5).collect()).collect()).unwrap();
    let once = |threads: usize| {
        in_pool(threads, || {
            let f = problem.least_squares();
            let (sparse, grouped) = (fit(&f, &problem.set()).unwrap(), fit(&f, &groups).unwrap());
            let bits = [sparse.objective.to_bits(), grouped.objective.to_bits()];
            (sparse.point, sparse.quality.unwrap().near_ties, grouped.point, bits)
        })
    };
    assert_eq!(once(1), once(2));
}

/// The strongest column is there three times: a first step takes every copy.
#[test]
fn twins_inside_make_room_for_another() {
    let mut both = 0;
    for seed in 0..20 {
        let mut problem = Planted::correlated((30, 12, 3), 0.3, 0.5, seed);
        let strongest = problem.truth.indices()[0];
        [4, 7].iter().for_each(|by| problem.duplicate(strongest, (strongest + by) % 12));
        let (f, set) = (problem.least_squares(), problem.set());
        for (outcome, effort) in [(fit(&f, &set).unwrap(), Effort::default()), (judged(&f, &set), Effort::Quick)] {
            let support = outcome.point.indices();
            let gain = (outcome.objective - least(after_exchanges(&f, &set, support))).max(0.0);
            let is_twin = |j: &&usize| [0, 4, 7].contains(&((*j + 12 - strongest) % 12));
            both += usize::from(support.iter().filter(is_twin).count() > 1);
            let found = outcome.quality.unwrap().exchange_gain;
            assert!((found - gain).abs() <= 1e-9 * outcome.objective, "seed {seed}: {found} {gain}");
            assert!(effort == Effort::Quick || gain <= 1e-8 * outcome.objective, "seed {seed}");
        }
    }
    assert!(both > 0, "no draw took two copies");
}

#[test]
fn degenerate_input_gives_an_answer() {
    let (rows, n) = (8, 12);
    let plain = simulate::gaussian(rows, n, 1);
    let y = simulate::normals(rows, &mut simulate::generator(1, 7));
    let (mut twins, mut hollow, mut low_rank) = (plain.clone(), plain.clone(), plain.clone());
    for j in 0..n {
        let (source, column) = (&plain[rows * (j % 3)..rows * (j % 3 + 1)], rows * j..rows * (j + 1));
        low_rank[column.clone()].copy_from_slice(source);
        if j % 2 == 0 {
            twins[column.clone()].copy_from_slice(source);
            hollow[column].fill(0.0);
        }
    }
    let designs = [plain, twins, hollow, low_rank, vec![0.0; rows * n], vec![1.0; rows * n]];
    let targets = [y, vec![3.0; rows], vec![0.0; rows]];
    for (d, design) in designs.iter().enumerate() {
        let a = Dense::column_major(design, rows, n).unwrap();
        for (t, target) in targets.iter().enumerate() {
            for (k, ridge) in [1, 3, 7, 8, 9, 12].into_iter().flat_map(|k| [(k, 0.0), (k, 0.1)]) {
                let f = objective(&a, squares(target.clone())).ridge(ridge).unwrap();
                let null = f.value(&f.at(SparseVec::zero(n)));
                let check = |outcome: Outcome<SparseVec>, most: usize| {
                    let what = format!("design {d}, target {t}, k {k}, ridge {ridge}: {outcome:?}");
                    assert!(outcome.point.indices().len() <= most, "{what}");
                    assert!(outcome.objective >= 0.0 && outcome.objective <= null * (1.0 + 1e-12), "{what}");
                    assert!(outcome.point.values().iter().all(|v| v.is_finite()), "{what}");
                    let quality = outcome.quality.unwrap();
                    assert!(quality.stationarity < 1e-5 && quality.exchange_gain >= 0.0, "{quality:?} {what}");
                };
                let set = k_sparse(k, n);
                check(fit(&f, &set).unwrap(), k);
                check(judged(&f, &set), k);
                check(fit(&f, &Always::new(set, vec![0, 1]).unwrap()).unwrap(), k + 2);
                let groups = Groups::new(k.min(6), n, (0..6).map(|g| vec![g, g + 6]).collect()).unwrap();
                check(fit(&f, &groups).unwrap(), 2 * k);
            }
        }
    }
}

/// Where the work of a search is shared among threads: moves, refits and sums are the same at any number of them.
#[test]
fn a_large_search_has_the_same_bits_at_any_number_of_threads() {
    let (m, n, k) = (500, 4200, 200);
    let x = simulate::gaussian_f32(m, n, 1);
    let truth = simulate::sparse_signal(n, k, 2);
    let design = Dense::column_major(&x, m, n).unwrap();
    let mut y = vec![0.0; m];
    design.apply(&truth, &mut y);
    let loss = LeastSquares::new(simulate::noisy(&y, 0.3 * katoms::linalg::norm(&y) / (m as f64).sqrt(), 3)).unwrap();
    let preparation = Preparation::default();
    let set = preparation.set(&KSparse::new(k, n).unwrap(), &loss).unwrap();
    let search = |threads| {
        let f = preparation.objective(&design, &loss, (0..m).collect()).unwrap();
        let outcome = in_pool(threads, || fit(&f, &set)).unwrap();
        assert!(outcome.trace.iter().any(|event| event.kind == Move::Exchanged), "the search found something better");
        (outcome.point, outcome.quality)
    };
    assert_eq!(search(1), search(3));
}

/// A large search moves from model to model without beginning anew. Where it ends is the minimum over the atoms that it has
/// chosen all the same: also where columns nearly repeat each other, and rounding would gather.
#[test]
fn a_large_search_ends_at_the_minimum_over_its_atoms() {
    let (m, n, k) = (600, 4200, 170);
    let mut x = simulate::autoregressive(m, n, 0.9, 1);
    let noise = simulate::gaussian(m, n / 2, 2);
    for pair in 0..n / 2 {
        let (left, right) = x[2 * pair * m..][..2 * m].split_at_mut(m);
        let near = left.iter().zip(&noise[pair * m..][..m]);
        right.iter_mut().zip(near).for_each(|(own, (left, noise))| *own = left + 3e-3 * noise);
    }
    let design = Dense::column_major(&x, m, n).unwrap();
    let mut y = vec![0.0; m];
    design.apply(&simulate::sparse_signal(n, k, 3), &mut y);
    let y = simulate::noisy(&y, 0.3 * katoms::linalg::norm(&y) / (m as f64).sqrt(), 4);
    let (loss, preparation) = (LeastSquares::new(y).unwrap(), Preparation::default());
    let set = preparation.set(&KSparse::new(k, n).unwrap(), &loss).unwrap();
    let f = preparation.objective(&design, &loss, (0..m).collect()).unwrap();
    let outcome = fit(&f, &set).unwrap();
    assert!(outcome.trace.iter().any(|event| event.kind == Move::Exchanged), "the search found something better");
    let least = refit_on(&f, f.at(SparseVec::zero(n + 1)), &outcome.point.support());
    assert!((outcome.objective / f.value(&least) - 1.0).abs() < 1e-11, "{} {}", outcome.objective, f.value(&least));
    assert!(outcome.point.distance(least.point()) < 1e-6 * least.point().norm());
}
