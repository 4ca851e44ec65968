//! Every family of targets: planted features are found, by a loss that keeps the right count of passes.

use katoms::driver::{Options, Run};
use katoms::loss::{
    AnyLoss, Cox, Gamma, Huber, LeastSquares, Loss, Multinomial, NegativeBinomial, Ordinal, Poisson, Quantile,
};
use katoms::method::{AcceleratedIht, Greedy, Step};
use katoms::operator::{Dense, LinearOperator, PerOutput, WithIntercept};
use katoms::select::{Criterion, CrossValidation, Folds, Preparation, cross_validate};
use katoms::set::{Groups, KSparse};
use katoms::{Fit, Objective, simulate};
use rand_distr::{Distribution, Gamma as GammaDraw, Poisson as PoissonDraw, StudentT};

use crate::contract::holds;
use crate::planted::defaults;

const ROWS: usize = 300;
const COLUMNS: usize = 600;
const PLANTED: [usize; 5] = [3, 90, 210, 333, 580];

/// A design of standard deviations 1, and predictions from the planted columns.
fn planted(seed: u64) -> (Vec<f64>, Vec<f64>) {
    let x: Vec<f64> = simulate::gaussian(ROWS, COLUMNS, seed).iter().map(|v| v * (ROWS as f64).sqrt()).collect();
    let sign = |j: usize| if j.is_multiple_of(2) { 0.7 } else { -0.7 };
    let one = |i: usize| PLANTED.iter().enumerate().map(|(j, &column)| sign(j) * x[column * ROWS + i]).sum();
    let z = (0..ROWS).map(one).collect();
    (x, z)
}

fn amount(mean: f64, shape: f64, rng: &mut impl rand::Rng) -> f64 {
    GammaDraw::new(shape, mean / shape).unwrap().sample(rng).max(1e-9)
}

/// A target of each family, drawn around these predictions.
fn targets(z: &[f64], seed: u64) -> Vec<(&'static str, AnyLoss)> {
    let mut rng = simulate::generator(seed, 7);
    let counts: Vec<f64> = z.iter().map(|z| PoissonDraw::new((z + 1.0).exp()).unwrap().sample(&mut rng)).collect();
    let amounts: Vec<f64> = z.iter().map(|z| amount((z + 1.0).exp(), 2.0, &mut rng)).collect();
    let spread: Vec<f64> = amounts.iter().map(|mean| PoissonDraw::new(*mean).unwrap().sample(&mut rng)).collect();
    let heavy: Vec<f64> = z.iter().map(|z| z + 0.3 * StudentT::new(1.5).unwrap().sample(&mut rng)).collect();
    let times: Vec<f64> = z.iter().map(|z| (100.0 * amount((-z).exp(), 1.0, &mut rng)).ceil()).collect();
    let ends: Vec<f64> = (0..ROWS).map(|_| amount(300.0, 1.0, &mut rng).ceil()).collect();
    let seen: Vec<f64> = times.iter().zip(&ends).map(|(time, end)| time.min(*end)).collect();
    let events: Vec<bool> = times.iter().zip(&ends).map(|(time, end)| time <= end).collect();
    let levels: Vec<usize> = heavy.iter().map(|v| [-1.5, 0.0, 1.5].iter().filter(|level| v > level).count()).collect();
    vec![
        ("Poisson", Poisson::new(counts).unwrap().into()),
        ("gamma", Gamma::new(amounts).unwrap().into()),
        ("negative binomial", NegativeBinomial::new(spread, 0.5).unwrap().into()),
        ("Huber", Huber::new(heavy.clone(), 0.5).unwrap().into()),
        ("quantile", Quantile::new(heavy, 0.5, 0.1).unwrap().into()),
        ("Cox", Cox::new(seen, events).unwrap().into()),
        ("ordinal", Ordinal::new(levels, 4).unwrap().into()),
    ]
}

#[test]
fn planted_features_are_found_in_every_family() {
    for seed in 0..2 {
        let (x, z) = planted(seed);
        let design = Dense::column_major(&x, ROWS, COLUMNS).unwrap();
        for (family, loss) in targets(&z, seed) {
            let model = Preparation::default().fit(&design, &loss, &KSparse::new(5, COLUMNS).unwrap()).unwrap();
            assert_eq!(model.coefficients.indices(), PLANTED, "{family}, seed {seed}");
            assert_eq!(model.intercept() == 0.0, loss.ignores_constants(), "{family}");
            let quality = model.outcome.quality.unwrap();
            assert!(!quality.improvable() && quality.stationarity < 1e-6, "{family}, seed {seed}: {quality:?}");
        }
    }
}

/// Classes and responses share their features, and every pass serves all of them.
#[test]
fn outputs_share_features_and_passes() {
    let (x, _) = planted(3);
    let design = Dense::column_major(&x, ROWS, COLUMNS).unwrap();
    let score = |i: usize, c: usize| {
        let term = |(j, &column): (usize, &usize)| ((j * 7 + c * 5) % 11) as f64 / 5.0 * x[column * ROWS + i];
        PLANTED.iter().enumerate().map(term).sum::<f64>()
    };
    let labels: Vec<usize> =
        (0..ROWS).map(|i| (0..4).max_by(|&a, &b| score(i, a).total_cmp(&score(i, b))).unwrap()).collect();
    let responses: Vec<f64> = (0..3).flat_map(|c| (0..ROWS).map(move |i| (c, i))).map(|(c, i)| score(i, c)).collect();
    let losses: [AnyLoss; 2] = [
        Multinomial::new(labels, 4).unwrap().into(),
        LeastSquares::new(simulate::noisy(&responses, 1.0, 3)).unwrap().into(),
    ];
    for loss in losses {
        let operator = PerOutput::new(&design, 3).unwrap();
        let groups = Groups::new(5, operator.domain(), operator.groups()).unwrap();
        let f = Objective::new(operator, loss).unwrap().ridge(1.0).unwrap();
        let outcome = Fit::new(&f, &groups).run().unwrap();
        let chosen: Vec<usize> = outcome.point.indices().iter().take(5).copied().collect();
        assert_eq!(chosen, PLANTED);
        assert_eq!(outcome.point.indices().len(), 15);
        assert!(outcome.passes < 30, "{}", outcome.passes);
    }
}

#[test]
fn one_matrix_for_many_outputs_keeps_the_contract() {
    let inner = katoms::linalg::Matrix::from_fn(7, 4, |i, j| ((3 * i + 5 * j) as f64).sin());
    let truth =
        katoms::linalg::Matrix::from_fn(21, 12, |i, j| if i / 7 == j / 4 { inner.at(i % 7, j % 4) } else { 0.0 });
    let operator = PerOutput::new(Dense::column_major(inner.data(), 7, 4).unwrap(), 3).unwrap();
    holds(&operator, &truth);
    let with = katoms::linalg::Matrix::from_fn(21, 15, |i, j| match j.checked_sub(12) {
        None => truth.at(i, j),
        Some(c) => f64::from(u8::from(i / 7 == c)),
    });
    holds(&WithIntercept::new(&operator), &with);
    assert_eq!(operator.groups()[1], [1, 5, 9]);
    assert!(PerOutput::new(Dense::column_major(inner.data(), 7, 4).unwrap(), 0).is_err());
}

/// The model of the least held-out loss has all planted features, and EBIC those alone.
#[test]
fn sizes_are_validated_in_every_family() {
    let (x, z) = planted(1);
    let design = Dense::column_major(&x, ROWS, COLUMNS).unwrap();
    for (family, loss) in targets(&z, 1) {
        let set = KSparse::new(1, COLUMNS).unwrap();
        let folds = Folds::random(ROWS, 4, 0).unwrap();
        let validated = cross_validate(&design, &loss, &set, &folds, &CrossValidation::new(3..=7)).unwrap();
        let best = validated.model(validated.min()).unwrap();
        assert!(PLANTED.iter().all(|j| best.coefficients.indices().contains(j)), "{family}: {best:?}");
        assert_eq!(best.intercept() == 0.0, loss.ignores_constants(), "{family}");
        let preparation = Preparation::default().suited_to(&loss);
        let f = preparation.objective(&design, &loss, (0..ROWS).collect()).unwrap();
        let path = Fit::new(&f, &preparation.set(&set, &loss).unwrap()).path(3..=7).unwrap();
        assert_eq!(path.best(Criterion::EBIC, None).unwrap().atoms, 5, "{family}");
    }
}

/// Methods that need a diagonal Hessian, or a bound on it, say so.
#[test]
fn methods_refuse_losses_that_they_do_not_suit() {
    let (x, z) = planted(2);
    let design = Dense::column_major(&x, ROWS, COLUMNS).unwrap();
    let set = KSparse::new(2, COLUMNS).unwrap();
    for (family, loss) in targets(&z, 2) {
        let (coupled, unbounded) = (loss.hessian(&z).is_some(), loss.curvature_bound() == f64::INFINITY);
        assert_eq!(coupled, ["Cox", "ordinal"].contains(&family));
        assert_eq!(unbounded, ["Poisson", "gamma"].contains(&family));
        let f = Objective::new(&design, loss).unwrap();
        let greedy = Run::new(&f, &set, &Greedy::Omp, Options::default()).err().map(|error| error.to_string());
        assert_eq!(greedy.is_some_and(|error| error.contains("sum over its predictions")), coupled, "{family}");
        let short = AcceleratedIht { step: Step::InverseLipschitz, ..defaults() };
        let refused = Run::new(&f, &set, &short, Options::default()).err().map(|error| error.to_string());
        assert_eq!(refused.is_some_and(|error| error.contains("has a bound")), unbounded, "{family}");
    }
}
