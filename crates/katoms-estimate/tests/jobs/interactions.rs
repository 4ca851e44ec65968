//! Products of features that come into a model beside their factors.

use katoms::loss::{AnyLoss, LeastSquares, Logistic, Poisson};
use katoms::operator::{AnyDesign, Dense, LinearOperator};
use katoms::select::{Criterion, Folds, Preparation};
use katoms::set::{AnyAtoms, KSparse};
use katoms::simulate;
use katoms_estimate::{Features, FitOptions, Heredity, Product, Unwatched};

const ROWS: usize = 150;
const COLUMNS: usize = 80;

/// Columns of variance 1 about a mean of 2.
fn data(seed: u64) -> Vec<f64> {
    simulate::gaussian(ROWS, COLUMNS, seed).iter().map(|v| 2.0 + v * (ROWS as f64).sqrt()).collect()
}

fn centred(x: &[f64], j: usize, i: usize) -> f64 {
    x[j * ROWS + i] - 2.0
}

/// x₃ − x₇ + 1.5·x₃·x₁₁, about the means of the columns: x₁₁ does nothing by itself.
fn signal(x: &[f64]) -> Vec<f64> {
    (0..ROWS).map(|i| centred(x, 3, i) - centred(x, 7, i) + 1.5 * centred(x, 3, i) * centred(x, 11, i)).collect()
}

fn features<'a>(design: &'a AnyDesign<'a>, loss: impl Into<AnyLoss>) -> Features<'a> {
    let atoms = AnyAtoms::Coordinates(KSparse::new(1, COLUMNS).unwrap());
    Features::new(design, loss.into(), atoms, vec![], Preparation::default()).unwrap()
}

fn pair(i: usize, j: usize) -> Product {
    Product { factors: vec![[i, j]] }
}

#[test]
fn planted_products_are_found_with_their_factors() {
    let x = data(1);
    let design: AnyDesign<'_> = Dense::column_major(&x, ROWS, COLUMNS).unwrap().into();
    let y = simulate::noisy(&signal(&x), 0.5, 1);
    let losses: [AnyLoss; 3] = [
        LeastSquares::new(y.clone()).unwrap().into(),
        Logistic::new(simulate::labels(&signal(&x).iter().map(|v| 3.0 * v).collect::<Vec<_>>(), 2)).unwrap().into(),
        Poisson::new(signal(&x).iter().map(|v| v.exp().round().min(1e6)).collect::<Vec<_>>()).unwrap().into(),
    ];
    for loss in losses {
        let all = features(&design, loss.clone());
        let found =
            all.with_interactions(Heredity::Strong).unwrap().fit(4, &FitOptions::default(), &mut Unwatched).unwrap();
        assert_eq!(found.products, [pair(3, 11)]);
        let coefficients = found.found.coefficients();
        assert_eq!(coefficients.indices(), [3, 7, 11, COLUMNS]);
        assert_eq!(found.found.chosen, [3, 7, 11, COLUMNS]);
        assert!(!found.found.outcome.quality.as_ref().unwrap().improvable());
        // the fit of exactly these columns
        let extended = Product::beside(&found.products, design.clone()).unwrap();
        assert_eq!(extended.domain(), COLUMNS + 1);
        let atoms = |groups: &[Vec<usize>]| AnyAtoms::groups(1, COLUMNS + 1, groups.to_vec()).unwrap();
        let own: Vec<Vec<usize>> = coefficients.indices().iter().map(|&j| vec![j]).collect();
        let of_these = |atoms| Features::new(&extended, loss.clone(), atoms, vec![], Preparation::default()).unwrap();
        let estimate = of_these(atoms(&own)).fit(4, &FitOptions::default(), &mut Unwatched).unwrap();
        for (j, v) in coefficients.entries() {
            assert!((estimate.coefficients().value_at(j) - v).abs() < 1e-6 * v.abs(), "{j}");
        }
        let every: Vec<Vec<usize>> = (0..=COLUMNS).map(|j| vec![j]).collect();
        let wide = of_these(atoms(&every)).with_products(&found.products, Heredity::Strong).unwrap();
        // with three terms the product needs both factors, unless one is enough
        let three = wide.fit(3, &FitOptions::default(), &mut Unwatched).unwrap();
        let chosen = three.coefficients().indices();
        assert!(!chosen.contains(&COLUMNS) || (chosen.contains(&3) && chosen.contains(&11)), "{chosen:?}");
    }
}

#[test]
fn one_factor_is_enough_for_weak_heredity() {
    let x = data(2);
    let design: AnyDesign<'_> = Dense::column_major(&x, ROWS, COLUMNS).unwrap().into();
    // as products of raw columns have it: x₃ + x₃·x₁₁
    let y: Vec<f64> = (0..ROWS).map(|i| x[3 * ROWS + i] * (1.0 + x[11 * ROWS + i])).collect();
    let all = features(&design, LeastSquares::new(simulate::noisy(&y, 0.3, 1)).unwrap());
    let found = all.with_interactions(Heredity::Weak).unwrap();
    let found = found.fit(2, &FitOptions::default(), &mut Unwatched).unwrap();
    assert_eq!(found.products, [pair(3, 11)]);
    assert_eq!(found.found.coefficients().indices(), [3, COLUMNS]);
}

#[test]
fn paths_and_cross_validation_choose_the_planted_size() {
    let x = data(3);
    let design: AnyDesign<'_> = Dense::column_major(&x, ROWS, COLUMNS).unwrap().into();
    let all = features(&design, LeastSquares::new(simulate::noisy(&signal(&x), 0.5, 4)).unwrap());
    let crossed = all.with_interactions(Heredity::Strong).unwrap();
    assert_eq!(crossed.candidates(), COLUMNS + COLUMNS * (COLUMNS - 1) / 2);
    let path = crossed.path(Some(&[0, 1, 2, 3, 4, 5, 6]), Criterion::EBIC, &mut Unwatched).unwrap();
    assert_eq!(path.found.best[2], 4);
    assert!(path.found.models.windows(2).all(|pair| pair[1].objective <= pair[0].objective * (1.0 + 1e-9)));
    let model = &path.found.models[4];
    let place = path.products.iter().position(|product| *product == pair(3, 11)).unwrap();
    assert_eq!(model.coefficients.indices(), [3, 7, 11, COLUMNS + place]);
    assert_eq!(model.chosen, [3, 7, 11, COLUMNS + place]);
    let folds = Folds::random(ROWS, 4, 0).unwrap();
    let found = crossed.cross_validate(Some(&[1, 2, 3, 4, 5]), Some(&[0.0]), &folds, &mut Unwatched).unwrap();
    let (validated, products) = (found.found, found.products);
    assert!(validated.complete && validated.sizes() == [1, 2, 3, 4, 5]);
    assert_eq!(validated.one_se().atoms, 4);
    let fitted = validated.model(validated.one_se()).unwrap();
    let place = products.iter().position(|product| *product == pair(3, 11)).unwrap();
    assert_eq!(fitted.coefficients.indices(), [3, 7, 11, COLUMNS + place]);
    // a fold's score is the loss of its model on the rows that it has not seen
    let extended = Product::beside(&products, design.clone()).unwrap();
    let score = validated.score(validated.one_se()).unwrap();
    for (fold, model) in score.models.iter().enumerate() {
        let mut predicted = vec![0.0; ROWS];
        extended.apply(&model.coefficients, &mut predicted);
        let y = simulate::noisy(&signal(&x), 0.5, 4);
        let rows = folds.held_out(fold);
        let square = |row: &usize| (y[*row] - predicted[*row] - model.intercepts[0]).powi(2);
        let mean = 0.5 * rows.iter().map(square).sum::<f64>() / rows.len() as f64;
        assert!((mean - score.folds[fold]).abs() < 1e-9 * mean);
    }
}

#[test]
fn products_of_groups_are_groups() {
    let x = data(4);
    let design: AnyDesign<'_> = Dense::column_major(&x, ROWS, COLUMNS).unwrap().into();
    // groups of two; column 79 always in
    let members: Vec<Vec<usize>> = (0..39).map(|g| vec![2 * g, 2 * g + 1]).collect();
    let y: Vec<f64> = (0..ROWS)
        .map(|i| {
            let (a, b) = (centred(&x, 4, i), centred(&x, 5, i));
            2.0 * a + b + centred(&x, 79, i) * (a - 2.0 * b)
        })
        .collect();
    let loss: AnyLoss = LeastSquares::new(simulate::noisy(&y, 0.2, 1)).unwrap().into();
    let atoms = AnyAtoms::groups(1, COLUMNS, members).unwrap();
    let all = Features::new(&design, loss, atoms, vec![79], Preparation::default()).unwrap();
    let found =
        all.with_interactions(Heredity::Strong).unwrap().fit(2, &FitOptions::default(), &mut Unwatched).unwrap();
    assert_eq!(found.products, [Product { factors: vec![[4, 79], [5, 79]] }]);
    assert_eq!(found.found.coefficients().indices(), [4, 5, 79, COLUMNS, COLUMNS + 1]);
}

#[test]
fn what_does_not_go_with_interactions_is_refused() {
    let x = data(5);
    let design: AnyDesign<'_> = Dense::column_major(&x, ROWS, COLUMNS).unwrap().into();
    let all = features(&design, LeastSquares::new(signal(&x)).unwrap());
    let bounds = katoms::select::Bounds::nonnegative(COLUMNS).unwrap();
    let error = all.clone().with_bounds(bounds).unwrap().with_interactions(Heredity::Weak).unwrap_err();
    assert!(error.to_string().contains("leave the bounds out"), "{error}");
    let crossed = all.with_interactions(Heredity::Weak).unwrap();
    let how = FitOptions { method: Some("omp".into()), ..FitOptions::default() };
    assert!(crossed.fit(2, &how, &mut Unwatched).unwrap_err().to_string().contains("leave the method"));
    let error = crossed.fit(10_000, &FitOptions::default(), &mut Unwatched).unwrap_err();
    assert!(error.to_string().contains("10000"), "{error}");
}
