//! Models in which products of features come only beside their factors.

use katoms::loss::{Logistic, Loss};
use katoms::search::Heredity;
use katoms::select::Preparation;
use katoms::set::{Groups, KSparse};
use katoms::simulate::{gaussian, labels, noisy};
use katoms::{Error, Fit, Objective, loss::LeastSquares, operator::Dense};

/// Features of variance 1, and behind them their products two by two, column after column; and the factors of each column.
fn with_products(rows: usize, features: usize, seed: u64) -> (Vec<f64>, Vec<Vec<usize>>) {
    let mut data: Vec<f64> = gaussian(rows, features, seed).iter().map(|v| v * (rows as f64).sqrt()).collect();
    let mut parents = vec![Vec::new(); features];
    for a in 0..features {
        for b in a + 1..features {
            data.extend((0..rows).map(|i| data[a * rows + i] * data[b * rows + i]).collect::<Vec<_>>());
            parents.push(vec![a, b]);
        }
    }
    (data, parents)
}

/// All ways to choose k of n.
fn subsets(n: usize, k: usize) -> Vec<Vec<usize>> {
    if k == 0 {
        return vec![Vec::new()];
    }
    let with = |last: usize| subsets(last, k - 1).into_iter().map(move |rest| [rest, vec![last]].concat());
    (k - 1..n).flat_map(with).collect()
}

fn value<L: Loss + Clone>(data: &[f64], rows: usize, chosen: &[usize], loss: &L) -> f64 {
    let columns: Vec<f64> = chosen.iter().flat_map(|&j| data[j * rows..][..rows].to_vec()).collect();
    let f = Objective::new(Dense::column_major(&columns, rows, chosen.len()).unwrap(), loss.clone()).unwrap();
    Fit::new(&f, &KSparse::new(chosen.len(), chosen.len()).unwrap()).run().unwrap().objective
}

#[test]
fn the_best_allowed_model_of_few_features_is_found() {
    let (rows, features, k) = (40, 5, 4);
    for seed in 0..6 {
        let (data, parents) = with_products(rows, features, seed);
        let n = parents.len();
        let signal: Vec<f64> = (0..rows).map(|i| data[i] + 2.0 * data[6 * rows + i] - data[11 * rows + i]).collect();
        let loss = LeastSquares::new(noisy(&signal, 1.0, seed)).unwrap();
        let f = Objective::new(Dense::column_major(&data, rows, n).unwrap(), loss.clone()).unwrap();
        for heredity in [Heredity::strong(parents.clone()).unwrap(), Heredity::weak(parents.clone()).unwrap()] {
            let allowed = subsets(n, k).into_iter().filter(|chosen| heredity.allows(chosen));
            let best = allowed.map(|chosen| value(&data, rows, &chosen, &loss)).fold(f64::INFINITY, f64::min);
            let found = Fit::new(&f, &KSparse::new(k, n).unwrap()).heredity(heredity.clone()).run().unwrap();
            assert!(heredity.allows(found.point.indices()));
            assert!(found.objective <= best * (1.0 + 1e-9), "{} above {best}, seed {seed}", found.objective);
            let quality = found.quality.unwrap();
            assert!(!quality.improvable() && quality.stationarity < 1e-6, "{quality:?}");
        }
    }
}

#[test]
fn a_product_is_found_whose_factors_do_nothing_by_themselves() {
    let (rows, features) = (120, 20);
    let (data, parents) = with_products(rows, features, 3);
    let n = parents.len();
    let product = (0..n).find(|&j| parents[j] == [7, 12]).unwrap();
    let signal: Vec<f64> = (0..rows).map(|i| 3.0 * data[product * rows + i]).collect();
    let design = Dense::column_major(&data, rows, n).unwrap();
    let squares = Objective::new(&design, LeastSquares::new(noisy(&signal, 0.5, 3)).unwrap()).unwrap();
    let classes = Objective::new(&design, Logistic::new(labels(&noisy(&signal, 0.5, 3), 1)).unwrap()).unwrap();
    let classes = classes.ridge(0.1).unwrap();
    let (three, strong) = (KSparse::new(3, n).unwrap(), Heredity::strong(parents.clone()).unwrap());
    let two = KSparse::new(2, n).unwrap();
    assert_eq!(Fit::new(&squares, &three).heredity(strong.clone()).run().unwrap().point.indices(), [7, 12, product]);
    assert_eq!(Fit::new(&classes, &three).heredity(strong).run().unwrap().point.indices(), [7, 12, product]);
    let weak = Fit::new(&squares, &two).heredity(Heredity::weak(parents).unwrap()).run().unwrap();
    assert!(weak.point.indices() == [7, product] || weak.point.indices() == [12, product], "{:?}", weak.point);
}

#[test]
fn groups_bring_the_groups_that_they_need() {
    let (rows, n) = (80, 9);
    let (mut data, _) = with_products(rows, 4, 5);
    data.truncate(n * rows);
    // two features, a pair, and the products of the first feature with those of the pair
    let groups = Groups::new(3, n, vec![vec![0], vec![1], vec![2, 3], vec![5, 6]]).unwrap();
    let signal: Vec<f64> = (0..rows).map(|i| 2.0 * data[5 * rows + i] - 2.0 * data[6 * rows + i]).collect();
    let loss = LeastSquares::new(noisy(&signal, 0.1, 1)).unwrap();
    let (design, preparation) = (Dense::column_major(&data, rows, n).unwrap(), Preparation::default());
    let f = preparation.objective(&design, &loss, (0..rows).collect()).unwrap();
    let set = preparation.set(&groups, &loss).unwrap();
    let heredity = Heredity::strong(vec![vec![], vec![], vec![], vec![0, 2]]).unwrap();
    let found = Fit::new(&f, &set).heredity(heredity).run().unwrap();
    assert_eq!(found.point.indices(), [0, 2, 3, 5, 6, 9]);
}

#[test]
fn parents_that_make_no_sense_are_refused() {
    let refused = |parents: &[&[usize]]| Heredity::strong(parents.iter().map(|of| of.to_vec()).collect()).unwrap_err();
    assert!(matches!(refused(&[&[], &[2]]), Error::Index { .. }));
    assert!(matches!(refused(&[&[], &[0], &[1]]), Error::Unsuitable { .. }));
    let f =
        Objective::new(Dense::column_major(vec![1.0, 2.0], 2, 1).unwrap(), LeastSquares::new(vec![1.0, 2.0]).unwrap());
    let heredity = Heredity::weak(vec![vec![]; 2]).unwrap();
    let error = Fit::new(&f.unwrap(), &KSparse::new(1, 1).unwrap()).heredity(heredity).run().unwrap_err();
    assert!(matches!(error, Error::Length { .. }), "{error}");
}
