//! Several outputs for each row, classes or responses: prepared, fitted, validated as a single one is, from shared passes.

use std::sync::LazyLock;

use katoms::linalg::Matrix;
use katoms::loss::{AnyLoss, LeastSquares, Loss, Multinomial, Split, best_constants};
use katoms::method::AcceleratedIht;
use katoms::operator::{Counted, Dense, LinearOperator, PerOutput};
use katoms::search::Effort;
use katoms::select::{Bounds, Criterion, CrossValidation, Folds, Preparation, Stability, cross_validate, stability};
use katoms::set::{Always, ConstraintSet, Groups, KSparse};
use katoms::space::SparseVec;
use katoms::{Error, Fit, LinearModel, simulate};

use crate::contract::{apply, dense, holds, naive_moments, near, random_matrix};

const ROWS: usize = 240;
const COLUMNS: usize = 90;
const PLANTED: [usize; 4] = [3, 30, 41, 77];

/// Columns in all units and far from zero, or of standard deviation 1; row by row the same standard scores.
fn columns(moved: bool) -> Vec<f64> {
    let x = simulate::gaussian(ROWS, COLUMNS, 5);
    let moved = |(at, v): (usize, &f64)| match (moved, at / ROWS % 5) {
        (true, unit) => 10_f64.powi(unit as i32 - 2) * (v * (ROWS as f64).sqrt() + 7.0),
        (false, _) => v * (ROWS as f64).sqrt(),
    };
    x.iter().enumerate().map(moved).collect()
}

/// What output c of four says of row i.
fn score(i: usize, c: usize) -> f64 {
    static X: LazyLock<Vec<f64>> = LazyLock::new(|| columns(false));
    let x = &X;
    let weight = |j: usize| ((j * 7 + c * 5 + j * c) % 11) as f64 / 5.0 - 1.0;
    PLANTED.iter().enumerate().map(|(j, &column)| weight(j) * x[column * ROWS + i]).sum::<f64>() + c as f64
}

fn classes() -> Multinomial {
    let noise = simulate::noisy(&[0.0; 4 * ROWS], 0.8, 9);
    let told = |i: usize, c: usize| 2.0 * score(i, c) + noise[c * ROWS + i];
    let best = |i: usize| (0..4).max_by(|&a, &b| told(i, a).total_cmp(&told(i, b))).unwrap();
    Multinomial::new((0..ROWS).map(best).collect::<Vec<_>>(), 4).unwrap()
}

fn responses() -> LeastSquares {
    let clean: Vec<f64> = (0..4 * ROWS).map(|at| score(at % ROWS, at / ROWS)).collect();
    LeastSquares::of_responses(simulate::noisy(&clean, 1.0, 4), 4).unwrap()
}

fn losses() -> [AnyLoss; 2] {
    [classes().into(), responses().into()]
}

/// k features that all outputs share.
fn shared(k: usize, n: usize, loss: &impl Loss) -> Groups {
    let q = loss.outputs_per_row();
    Groups::new(k, n * q, (0..n).map(|j| (0..q).map(|c| c * n + j).collect()).collect()).unwrap()
}

fn features(x: &SparseVec, n: usize, q: usize) -> Vec<usize> {
    let found: Vec<usize> = x.indices().iter().copied().filter(|&j| j < n).collect();
    let all: Vec<usize> = (0..q).flat_map(|c| found.iter().map(move |j| c * n + j)).collect();
    assert_eq!(x.indices(), all);
    found
}

fn predictions(design: &Dense<'_, f64>, model: &LinearModel) -> Vec<f64> {
    let outputs = PerOutput::new(design, model.intercepts.len()).unwrap();
    let constants = model.intercepts.iter().flat_map(|c| vec![*c; design.n_outputs()]);
    apply(&outputs, &model.coefficients).iter().zip(constants).map(|(z, c)| z + c).collect()
}

fn preparations() -> impl Iterator<Item = Preparation> {
    let choices = [(true, true), (true, false), (false, true), (false, false)];
    choices.into_iter().map(|(standardize, intercept)| Preparation { standardize, intercept, ridge: 0.25 })
}

#[test]
fn a_sample_of_several_outputs_is_its_copy_and_knows_the_units_of_the_design() {
    const PICKED: [usize; 7] = [4, 0, 8, 4, 5, 1, 0];
    let m = random_matrix(9, 5, 1);
    let (design, weights) = (dense(&m), vec![0.5, 2.0, 1.0, 1.0, 3.0, 0.0, 1.0, 1.0, 0.25]);
    let loss = LeastSquares::of_responses(random_matrix(27, 1, 2).data().to_vec(), 3).unwrap();
    let picked = Matrix::from_fn(7, 5, |i, j| m.at(PICKED[i], j));
    for preparation in preparations() {
        for loss in [loss.clone(), loss.clone().weighted(weights.clone()).unwrap()] {
            let own: Vec<f64> = PICKED.iter().map(|&i| loss.weights().map_or(1.0, |w| w[i])).collect();
            let moments = naive_moments(&picked, &own);
            let scaled = |i, j: usize| match (preparation.standardize, preparation.intercept) {
                (true, true) => (picked.at(i, j) - moments.means[j]) / moments.variances[j].sqrt(),
                (true, false) => picked.at(i, j) / (moments.means[j].powi(2) + moments.variances[j]).sqrt(),
                (false, _) => picked.at(i, j),
            };
            let dim = 15 + if preparation.intercept { 3 } else { 0 };
            let truth = Matrix::from_fn(21, dim, |i, j| match j.checked_sub(15) {
                None if i / 7 == j / 5 => scaled(i % 7, j % 5),
                Some(c) if i / 7 == c => 1.0,
                _ => 0.0,
            });
            let f = preparation.objective(&design, &loss, PICKED.to_vec()).unwrap();
            holds(f.operator(), &truth);

            let x = simulate::sparse_signal(dim, 9, 3);
            let (coefficients, constants) = f.operator().to_original(&x);
            let all = apply(&PerOutput::new(&design, 3).unwrap(), &coefficients);
            let predicted: Vec<f64> = (0..21).map(|at| all[at / 7 * 9 + PICKED[at % 7]] + constants[at / 7]).collect();
            near(&predicted, &apply(f.operator(), &x), 10.0);
            let back = f.operator().from_original(&coefficients, &constants).unwrap();
            near(&back.to_dense(), &x.to_dense(), 10.0);
            let error = f.operator().from_original(&coefficients, &constants[1..]).unwrap_err();
            assert_eq!(
                error.to_string(),
                "intercepts of the start has length 2, but 3 is needed (one for each output)"
            );

            // the ridge is on the coefficients alone
            let zero = f.value(&f.at(SparseVec::full(&vec![0.0; dim])));
            let free = SparseVec::full(&(0..dim).map(|j| f64::from(u8::from(j >= 15))).collect::<Vec<_>>());
            let at = f.at(free.clone());
            assert!((f.value(&at) - f.loss().value(at.image())).abs() < 1e-14 * zero);
        }
    }
}

/// Planted features are found whatever the units; the predictions of standardised columns do not depend on them.
#[test]
fn planted_features_are_found_and_units_and_origins_change_nothing() {
    let ridged = Preparation { ridge: 1.0, ..Preparation::default() };
    for loss in losses() {
        let fits = [false, true].map(|moved| {
            let x = columns(moved);
            let design = Dense::column_major(&x, ROWS, COLUMNS).unwrap();
            let model = ridged.fit(&design, &loss, &shared(4, COLUMNS, &loss)).unwrap();
            assert_eq!(features(&model.coefficients, COLUMNS, loss.outputs_per_row()), PLANTED);
            assert_eq!(model.intercepts.len(), loss.outputs_per_row());
            let quality = model.outcome.quality.as_ref().unwrap();
            assert!(!quality.improvable() && quality.stationarity < 1e-6, "{quality:?}");
            let predicted = predictions(&design, &model);
            let value = loss.value(&predicted);
            assert!(value < model.outcome.objective && value > 0.5 * model.outcome.objective);
            predicted
        });
        for (a, b) in fits[0].iter().zip(&fits[1]) {
            assert!((a - b).abs() < 1e-6, "{a} {b}");
        }
    }
}

/// Responses that share their features are fitted as each is by itself on them; a response that comes twice counts twice.
#[test]
fn responses_on_a_support_are_single_fits() {
    let x = columns(true);
    let design = Dense::column_major(&x, ROWS, COLUMNS).unwrap();
    let weights: Vec<f64> = (0..ROWS).map(|i| [1.0, 0.5, 2.0, 0.0][i % 4]).collect();
    let loss = responses().weighted(weights.clone()).unwrap();
    let model = Preparation::default().fit(&design, &loss, &shared(4, COLUMNS, &loss)).unwrap();
    let support = features(&model.coefficients, COLUMNS, 4);
    assert_eq!(support, PLANTED);
    let chosen: Vec<f64> = support.iter().flat_map(|&j| x[j * ROWS..][..ROWS].to_vec()).collect();
    let chosen = Dense::column_major(&chosen, ROWS, 4).unwrap();
    let all = predictions(&design, &model);
    for c in 0..4 {
        let y = loss.target()[c * ROWS..][..ROWS].to_vec();
        let alone = LeastSquares::new(y).unwrap().weighted(weights.clone()).unwrap();
        let alone = Preparation::default().fit(&chosen, &alone, &KSparse::new(4, 4).unwrap()).unwrap();
        for (z, expected) in all[c * ROWS..].iter().zip(predictions(&chosen, &alone)) {
            assert!((z - expected).abs() < 1e-9 * (1.0 + expected.abs()), "{z} {expected}");
        }
    }
    let y = &loss.target()[..ROWS];
    let fit = |responses: usize| {
        let loss = LeastSquares::of_responses(y.repeat(responses), responses).unwrap();
        Preparation::default().fit(&design, &loss, &shared(3, COLUMNS, &loss)).unwrap()
    };
    let single = Preparation::default()
        .fit(&design, &LeastSquares::new(y).unwrap(), &KSparse::new(3, COLUMNS).unwrap())
        .unwrap();
    let (one, twice) = (fit(1), fit(2));
    assert_eq!((&one.coefficients, &one.intercepts), (&single.coefficients, &single.intercepts));
    assert_eq!(one.intercept(), single.intercepts[0]);
    assert_eq!(features(&twice.coefficients, COLUMNS, 2), single.coefficients.indices());
    let off = twice.outcome.objective - 2.0 * single.outcome.objective;
    assert!(off.abs() < 1e-9 * single.outcome.objective);
}

/// An iteration reads the data once for all outputs.
#[test]
fn outputs_share_every_pass() {
    let x = columns(true);
    let design = Counted::new(Dense::column_major(&x, ROWS, COLUMNS).unwrap());
    let quick = |loss: &AnyLoss| {
        let preparation = Preparation::default();
        let f = preparation.objective(&design, loss, (0..ROWS).collect()).unwrap();
        design.take(); // the moments
        let set = preparation.set(&shared(4, COLUMNS, loss), loss).unwrap();
        let run = Fit::new(&f, &set).effort(Effort::Quick).run().unwrap();
        assert_eq!(design.take().passes, run.passes);
        assert!(run.passes <= run.trace.len() + 3, "{} passes, {} moves", run.passes, run.trace.len());
        let searched = Fit::new(&f, &set).run().unwrap();
        assert_eq!(design.take().passes, searched.passes);
        assert!(searched.passes < 30, "{}", searched.passes);
    };
    losses().iter().for_each(quick);
    // folds, sizes and outputs together
    let folds = Folds::random(ROWS, 4, 0).unwrap();
    for loss in losses() {
        let set = shared(1, COLUMNS, &loss);
        let validated = cross_validate(&design, &loss, &set, &folds, &CrossValidation::new(0..=6)).unwrap();
        let counted = design.take().passes;
        assert!(counted <= validated.passes + 1 && validated.passes <= 8, "{counted} {}", validated.passes);
    }
}

/// The planted number by held-out rows and by EBIC; the scores are those of the predictions that are told.
#[test]
fn sizes_are_validated() {
    let x = columns(true);
    let design = Dense::column_major(&x, ROWS, COLUMNS).unwrap();
    for loss in losses() {
        let (q, set) = (loss.outputs_per_row(), shared(1, COLUMNS, &loss));
        let folds = Folds::random(ROWS, 4, 0).unwrap();
        let options = CrossValidation { ridges: vec![1.0, 5.0], ..CrossValidation::new(0..=6) };
        let validated = cross_validate(&design, &loss, &set, &folds, &options).unwrap();
        let best = validated.model(validated.one_se()).unwrap();
        assert_eq!(features(&best.coefficients, COLUMNS, q), PLANTED);
        let null = validated.models.iter().find(|model| model.choice.atoms == 0).unwrap();
        assert_eq!(null.intercepts, best_constants(&loss));
        assert!(null.coefficients.indices().is_empty() && null.coefficients.dim() == q * COLUMNS);
        for score in &validated.scores {
            for (fold, &told) in score.folds.iter().enumerate() {
                let rows = folds.held_out(fold);
                let held_out = score.held_out(&design, &folds);
                let of = |c: usize| held_out.iter().filter(|(row, _)| rows.contains(row)).map(move |(_, z)| z[c]);
                let predicted: Vec<f64> = (0..q).flat_map(of).collect();
                let expected = loss.subset(&rows).unwrap().value(&predicted) / rows.len() as f64;
                assert!((told - expected).abs() < 1e-12 * expected, "{told} {expected}");
            }
        }
        let preparation = Preparation { ridge: 1.0, ..Preparation::default() };
        let f = preparation.objective(&design, &loss, (0..ROWS).collect()).unwrap();
        let path = Fit::new(&f, &preparation.set(&set, &loss).unwrap()).path(0..=6).unwrap();
        let best = path.best(Criterion::EBIC, None).unwrap();
        assert_eq!((best.atoms, best.parameters), (4, 5 * q));
    }
}

/// A fold's model is the fit to its rows alone, with every kind of preparation and with columns that are always in.
#[test]
fn folds_are_fits_of_their_own() {
    let x = columns(true);
    let design = Dense::column_major(&x[..30 * ROWS], ROWS, 30).unwrap();
    let folds = Folds::random(ROWS, 3, 1).unwrap();
    for (loss, (standardize, intercept)) in losses().iter().zip([(true, true), (false, false)]) {
        let q = loss.outputs_per_row();
        // one column for all outputs, and one for the first alone
        let kept: Vec<usize> = (0..q).map(|c| c * 30 + 4).chain([9]).collect();
        let set = Always::new(shared(1, 30, loss), kept).unwrap();
        let options = CrossValidation { standardize, intercept, ridges: vec![2.0], ..CrossValidation::new(0..=2) };
        let validated = cross_validate(&design, loss, &set, &folds, &options).unwrap();
        for score in &validated.scores {
            for (fold, model) in score.models.iter().enumerate() {
                let rows = folds.training(fold);
                let ridge = 2.0 * rows.len() as f64 / ROWS as f64;
                let preparation = Preparation { standardize, intercept, ridge };
                let f = preparation.objective(&design, loss, rows).unwrap();
                let set = preparation.set(&set, loss).unwrap();
                let path = Fit::new(&f, &set).path([score.choice.atoms]).unwrap();
                let x = f.operator().from_original(&model.coefficients, &model.intercepts).unwrap();
                let (found, expected) = (f.value(&f.at(x)), path.models[0].objective);
                assert!((found - expected).abs() < 1e-7 * expected, "{:?} {fold}: {found} {expected}", score.choice);
            }
        }
    }
}

#[test]
fn what_is_chosen_is_stable() {
    let x = columns(true);
    let design = Dense::column_major(&x, ROWS, COLUMNS).unwrap();
    for loss in losses() {
        let set = shared(4, COLUMNS, &loss);
        let method = AcceleratedIht::for_structure(set.structure());
        let options = Stability { pairs: 5, ridge: 1.0, ..Stability::default() };
        let selected = stability(&design, &loss, &set, &method, &options).unwrap();
        assert_eq!(selected.above(0.8), PLANTED, "{:?}", selected.frequencies);
    }
}

/// Bounds are in the units of the design, one pair for each column and output.
#[test]
fn bounds_hold_for_each_output() {
    let x = columns(true);
    let design = Dense::column_major(&x[..20 * ROWS], ROWS, 20).unwrap();
    let folds = Folds::random(ROWS, 3, 2).unwrap();
    for loss in losses() {
        let coordinates = 20 * loss.outputs_per_row();
        let bounds = Bounds::nonnegative(coordinates).unwrap();
        let set = shared(1, 20, &loss);
        let options = CrossValidation { bounds: Some(bounds.clone()), ..CrossValidation::new(0..=2) };
        let validated = cross_validate(&design, &loss, &set, &folds, &options).unwrap();
        for model in &validated.models {
            assert!(bounds.contain(&model.coefficients) && model.coefficients.dim() == coordinates);
        }
        assert!(
            validated.models[2].loss < validated.models[1].loss && validated.models[1].loss < validated.models[0].loss
        );
        let f = Preparation::default().objective(&design, &loss, (0..ROWS).collect()).unwrap();
        let error = f.operator().scaled_bounds(&Bounds::nonnegative(20).unwrap()).unwrap_err();
        assert!(matches!(error, Error::Length { found: 20, expected, .. } if expected == coordinates));
    }
}

#[test]
fn what_does_not_fit_together_is_named() {
    let x = columns(false);
    let design = Dense::column_major(&x, ROWS, COLUMNS).unwrap();
    let (loss, folds) = (responses(), Folds::random(ROWS, 4, 0).unwrap());
    let narrow = KSparse::new(2, COLUMNS).unwrap();
    assert!(matches!(Preparation::default().fit(&design, &loss, &narrow).unwrap_err(), Error::Domain { .. }));
    let options = CrossValidation::new(1..=3);
    let error = cross_validate(&design, &loss, &narrow, &folds, &options).unwrap_err();
    assert!(matches!(error, Error::Length { found: 90, expected: 360, .. }), "{error}");
    let method = AcceleratedIht::for_structure(narrow.structure());
    assert!(stability(&design, &loss, &narrow, &method, &Stability::default()).is_err());
    let flat = LeastSquares::new(loss.target().to_vec()).unwrap();
    let error = Preparation::default().objective(&design, &flat, vec![0, 1]).unwrap_err();
    assert!(matches!(error, Error::Length { what: "target", found: 960, expected: 240, .. }), "{error}");
    let shrunk = CrossValidation { shrinkages: vec![0.0, 4.0], ..options };
    let error = cross_validate(&design, &loss, &shared(1, COLUMNS, &loss), &folds, &shrunk).unwrap_err();
    assert!(error.to_string().contains("several responses"), "{error}");
}

/// Also where there are far more columns than rows.
#[test]
fn responses_of_a_wide_design_share_their_features() {
    let (rows, columns, outputs) = (100, 1500, 3);
    let x = simulate::gaussian(rows, columns, 3);
    let design = Dense::column_major(&x, rows, columns).unwrap();
    let planted = [7, 300, 1200];
    let value = |i: usize, c: usize| {
        planted.iter().enumerate().map(|(at, j)| ((at + c) % 3 + 1) as f64 * x[j * rows + i]).sum()
    };
    let y: Vec<f64> = (0..outputs).flat_map(|c| (0..rows).map(move |i| value(i, c))).collect();
    let y = simulate::noisy(&y, 0.05, 5);
    let loss = LeastSquares::of_responses(y, outputs).unwrap();
    let groups = PerOutput::new(&design, outputs).unwrap().groups();
    let model =
        Preparation::default().fit(&design, &loss, &Groups::new(3, columns * outputs, groups).unwrap()).unwrap();
    let found: std::collections::BTreeSet<usize> = model.coefficients.indices().iter().map(|j| j % columns).collect();
    assert_eq!(found.into_iter().collect::<Vec<_>>(), planted);
}
