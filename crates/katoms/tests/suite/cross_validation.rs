//! Cross-validation: the same as fold by fold by hand, and nothing of a held-out row in its model.

use std::borrow::Cow;
use std::cell::Cell;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::planted::defaults;
use katoms::driver::{Options, Run};
use katoms::linalg::Matrix;
use katoms::loss::{LeastSquares, Logistic, Split};
use katoms::method::{AcceleratedIht, refit_on};
use katoms::operator::{ColumnMoments, Counted, Csc, Dense, LinearOperator, Moments, Parts};
use katoms::select::{
    Choice, CrossValidation, Fitted, Folds, Preparation, Score, Stability, Validated, cross_validate, plain_path,
    stability,
};
use katoms::set::{Always, ConstraintSet, CoordinateSet, Groups, KSparse};
use katoms::simulate::{generator, normals};
use katoms::space::{IndexSet, SparseVec};
use katoms::{Error, Fit, Objective, simulate};

/// Some observations.
#[derive(Clone)]
struct Data {
    x: Matrix,
    y: Vec<f64>,
    weights: Vec<f64>,
}

impl Data {
    /// Correlated columns of different units, far from 0, and a few that matter.
    fn new(rows: usize, columns: usize, seed: u64) -> Self {
        Self::with_noise(rows, columns, seed, 0.8)
    }

    fn with_noise(rows: usize, columns: usize, seed: u64, deviation: f64) -> Self {
        let plain = simulate::autoregressive(rows, columns, 0.5, seed);
        let unit = |j: usize| 10_f64.powi(j as i32 % 3 - 1);
        let x = Matrix::from_fn(rows, columns, |i, j| unit(j) * (plain[j * rows + i] + 3.0));
        let noise = normals(rows, &mut generator(seed, 3));
        let clean = |i: usize| 5.0 + 2.0 * plain[i] - 1.5 * plain[4 * rows + i] + plain[7 * rows + i];
        let y = (0..rows).map(|i| clean(i) + deviation * noise[i]).collect();
        Self { x, y, weights: vec![1.0; rows] }
    }

    /// Uneven weights; a few rows weigh nothing.
    fn weighted(mut self) -> Self {
        self.weights.iter_mut().enumerate().for_each(|(i, w)| *w = [1.0, 0.5, 2.0, 3.0, 0.0, 0.25, 1.5][i % 7]);
        self
    }

    fn rows(&self) -> usize {
        self.y.len()
    }

    fn columns(&self) -> usize {
        self.x.columns()
    }

    fn dense(&self) -> Dense<'_, f64> {
        Dense::column_major(self.x.data(), self.rows(), self.columns()).unwrap()
    }

    fn loss(&self) -> LeastSquares {
        let loss = LeastSquares::new(self.y.clone()).unwrap();
        if self.weights.iter().all(|&w| w == 1.0) { loss } else { loss.weighted(self.weights.clone()).unwrap() }
    }

    fn pick(&self, rows: &[usize]) -> Self {
        let x = Matrix::from_fn(rows.len(), self.columns(), |i, j| self.x.at(rows[i], j));
        let of = |all: &[f64]| rows.iter().map(|&i| all[i]).collect();
        Self { x, y: of(&self.y), weights: of(&self.weights) }
    }

    fn weight(&self) -> f64 {
        self.weights.iter().sum()
    }

    /// A weighted mean, from where the values are, so that nothing is lost far from 0.
    fn mean(&self, v: &[f64]) -> f64 {
        v[0] + v.iter().zip(&self.weights).map(|(v1, w)| w * (v1 - v[0])).sum::<f64>() / self.weight()
    }

    /// Half the mean squared error.
    fn error(&self, coefficients: &SparseVec, intercept: f64) -> f64 {
        let square = |i: usize| {
            let z: f64 = coefficients.entries().map(|(j, v)| v * self.x.at(i, j)).sum::<f64>() + intercept;
            self.weights[i] * (self.y[i] - z).powi(2)
        };
        0.5 * (0..self.rows()).map(square).sum::<f64>() / self.weight()
    }

    /// The path of these rows by a copy that is centred and scaled: coefficients and intercepts.
    fn by_hand<S: CoordinateSet>(&self, set: &S, options: &CrossValidation, ridge: f64) -> Vec<(SparseVec, f64)> {
        let means: Vec<f64> =
            (0..self.columns()).map(|j| if options.intercept { self.mean(self.x.column(j)) } else { 0.0 }).collect();
        let scale = |j: usize| {
            let squares: Vec<f64> = self.x.column(j).iter().map(|v| (v - means[j]).powi(2)).collect();
            if options.standardize { self.mean(&squares).sqrt() } else { 1.0 }
        };
        // What does not vary is nobody's choice.
        let scales: Vec<f64> = (0..self.columns()).map(|j| if scale(j) == 0.0 { f64::MAX } else { scale(j) }).collect();
        let target = if options.intercept { self.mean(&self.y) } else { 0.0 };
        let copy = Matrix::from_fn(self.rows(), self.columns(), |i, j| (self.x.at(i, j) - means[j]) / scales[j]);
        let copy = Dense::column_major(copy.data(), self.rows(), self.columns()).unwrap();
        let loss = LeastSquares::new(self.y.iter().map(|y| y - target).collect::<Vec<_>>()).unwrap();
        let f = Objective::new(copy, loss.weighted(self.weights.clone()).unwrap()).unwrap().ridge(ridge).unwrap();
        let path = plain_path(&f, set, &options.sizes, &mut |_| ControlFlow::Continue(())).unwrap();
        let model = |point: &SparseVec| {
            let coefficients = point.map(|j, v| v / scales[j]);
            let shift: f64 = coefficients.entries().map(|(j, v)| v * means[j]).sum();
            (coefficients, target - shift)
        };
        path.models.iter().map(|m| model(&m.point)).collect()
    }
}

fn sparse(m: &Matrix) -> Csc<'static, f64, u32> {
    let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for j in 0..m.columns() {
        for (i, &v) in m.column(j).iter().enumerate().filter(|(_, v)| **v != 0.0) {
            indices.push(i as u32);
            values.push(v);
        }
        starts.push(values.len());
    }
    Csc::new(m.rows(), m.columns(), starts, indices, values).unwrap()
}

fn preparations() -> [(bool, bool); 4] {
    [(true, true), (true, false), (false, true), (false, false)]
}

fn near(found: f64, expected: f64, relative: f64, what: &str) {
    assert!((found - expected).abs() <= relative * expected.abs(), "{found:e} instead of {expected:e}: {what}");
}

/// Held-out losses, coefficients and intercepts are those of copies, fold by fold.
fn is_by_hand<A, S>(design: &A, data: &Data, set: &S, folds: &Folds, options: &CrossValidation)
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>> + ColumnMoments,
    S: CoordinateSet,
{
    let validated = cross_validate(design, &data.loss(), set, folds, options).unwrap();
    let sizes = options.sizes.len();
    assert_eq!(validated.scores.len(), sizes * options.ridges.len());
    assert_eq!(validated.models.len(), validated.scores.len());
    for (r, &ridge) in options.ridges.iter().enumerate() {
        let scores = &validated.scores[r * sizes..][..sizes];
        for fold in 0..folds.count() {
            let (training, held_out) = (data.pick(&folds.training(fold)), data.pick(&folds.held_out(fold)));
            let share = ridge * training.weight() / data.weight();
            let models = training.by_hand(set, options, share);
            for (score, (coefficients, intercept)) in scores.iter().zip(models) {
                let what = format!("{:?}, fold {fold}, {options:?}", score.choice);
                near(score.folds[fold], held_out.error(&coefficients, intercept), 1e-8, &what);
            }
        }
        let whole = data.by_hand(set, options, ridge);
        let models = &validated.models[r * sizes..][..sizes];
        for ((score, model), ((coefficients, intercept), &atoms)) in
            scores.iter().zip(models).zip(whole.iter().zip(&options.sizes))
        {
            assert_eq!((score.choice, model.choice), (choice(atoms, ridge), choice(atoms, ridge)));
            assert_eq!(model.coefficients.indices(), coefficients.indices());
            for (j, v) in coefficients.entries() {
                near(model.coefficients.value_at(j), v, 1e-8, &format!("coefficient {j}, {:?}", score.choice));
            }
            let size: f64 = coefficients.entries().map(|(j, v)| v.abs() * data.x.norm_of(j)).sum();
            let off = (model.intercept - intercept).abs();
            assert!(off <= 1e-8 * (1.0 + intercept.abs() + size), "intercept {} {intercept}", model.intercept);
            near(model.loss, data.weight() * data.error(coefficients, *intercept), 1e-8, "loss on all rows");
            let mean = score.folds.iter().sum::<f64>() / folds.count() as f64;
            near(score.mean, mean, 1e-14, "mean");
            let square: f64 = score.folds.iter().map(|v| (v - mean).powi(2)).sum();
            let count = folds.count() as f64;
            near(score.error, (square / (count * (count - 1.0))).sqrt(), 1e-12, "error");
        }
    }
}

/// The largest entry of a column.
trait NormOf {
    fn norm_of(&self, j: usize) -> f64;
}
impl NormOf for Matrix {
    fn norm_of(&self, j: usize) -> f64 {
        self.column(j).iter().fold(0.0, |m, v| v.abs().max(m))
    }
}

fn options(sizes: impl IntoIterator<Item = usize>, standardize: bool, intercept: bool) -> CrossValidation {
    CrossValidation { standardize, intercept, ..CrossValidation::new(sizes) }
}

fn choice(atoms: usize, ridge: f64) -> Choice {
    Choice { atoms, ridge, shrinkage: 0.0 }
}

#[test]
fn every_preparation_is_fold_by_fold_by_hand() {
    let data = Data::new(47, 20, 1);
    let folds = Folds::random(47, 5, 1).unwrap();
    let set = KSparse::new(1, 20).unwrap();
    for (standardize, intercept) in preparations() {
        is_by_hand(&data.dense(), &data, &set, &folds, &options(0..=6, standardize, intercept));
    }
}

/// The ridge acts on each training set's own scale, and in its share.
#[test]
fn ridges_and_weights_are_by_hand_in_every_preparation() {
    let data = Data::new(49, 18, 2).weighted();
    let folds = Folds::random(49, 4, 2).unwrap();
    let set = KSparse::new(1, 18).unwrap();
    for (standardize, intercept) in preparations() {
        let options = CrossValidation { ridges: vec![0.0, 0.3, 20.0], ..options([0, 1, 2, 5], standardize, intercept) };
        is_by_hand(&data.dense(), &data, &set, &folds, &options);
    }
}

#[test]
fn groups_are_by_hand() {
    let data = Data::new(50, 16, 3).weighted();
    let folds = Folds::random(50, 4, 3).unwrap();
    // Uneven groups; the last two columns belong to none.
    let members = vec![vec![0, 1], vec![2, 3, 5], vec![4], vec![6, 7], vec![8, 9], vec![10, 11, 12], vec![13]];
    let set = Groups::new(1, 16, members).unwrap();
    for (standardize, intercept) in preparations() {
        let options = CrossValidation { ridges: vec![0.0, 2.0], ..options(0..=4, standardize, intercept) };
        is_by_hand(&data.dense(), &data, &set, &folds, &options);
    }
}

#[test]
fn what_a_set_always_keeps_is_by_hand() {
    let data = Data::new(44, 15, 4);
    let folds = Folds::random(44, 4, 4).unwrap();
    let set = Always::new(KSparse::new(1, 15).unwrap(), vec![3, 11]).unwrap();
    for (standardize, intercept) in preparations() {
        let options = CrossValidation { ridges: vec![0.0, 1.0], ..options(0..=4, standardize, intercept) };
        is_by_hand(&data.dense(), &data, &set, &folds, &options);
    }
    let validated = cross_validate(&data.dense(), &data.loss(), &set, &folds, &CrossValidation::new([2])).unwrap();
    let indices = validated.models[0].coefficients.indices();
    assert!(indices.len() == 4 && indices.contains(&3) && indices.contains(&11), "{indices:?}");
}

/// Without atoms there is nothing to look for: the model without them is there where nobody asked for it, is the same
/// where somebody did, and reads no more than what is always in.
#[test]
fn the_model_without_atoms_is_always_there() {
    let data = Data::new(44, 15, 4).weighted();
    let folds = Folds::random(44, 4, 4).unwrap();
    let (plain, kept) = (KSparse::new(1, 15).unwrap(), Always::new(KSparse::new(1, 15).unwrap(), vec![0, 4]).unwrap());
    let design = Watched::new(&data);
    let alone = cross_validate(&design, &data.loss(), &plain, &folds, &CrossValidation::new([0])).unwrap();
    assert_eq!((design.reads(), alone.passes, alone.complete), (0, 0, true));
    assert_eq!((alone.min().atoms, &alone.scores[0]), (0, &alone.null));
    assert!((alone.models[0].intercept - data.mean(&data.y)).abs() < 1e-12);
    for fold in 0..4 {
        let (training, held_out) = (data.pick(&folds.training(fold)), data.pick(&folds.held_out(fold)));
        let constant = training.mean(&training.y);
        near(alone.null.folds[fold], held_out.error(&SparseVec::from_dense(&[0.0; 15]), constant), 1e-12, "a mean");
    }
    let (without, with) = ([1, 2], [0, 1, 2]);
    let of = |sizes: &[usize]| {
        let options = CrossValidation::new(sizes.to_vec());
        cross_validate(&data.dense(), &data.loss(), &kept, &folds, &options).unwrap()
    };
    let (without, with) = (of(&without), of(&with));
    assert_eq!(without.null, with.scores[0]);
    assert_eq!(without.scores, with.scores[1..]);
    assert_eq!(with.models[0].coefficients.indices(), [0, 4]);
    assert!(with.null.mean < alone.null.mean);
}

/// Every row is predicted once, by a model that has not seen it: the losses are those predictions'.
#[test]
fn held_out_predictions_have_the_losses_that_are_told() {
    let data = Data::new(47, 20, 1).weighted();
    let folds = Folds::random(47, 5, 1).unwrap();
    let design = data.dense();
    let options = CrossValidation { ridges: vec![0.0, 3.0], ..CrossValidation::new([0, 2, 5]) };
    let set = KSparse::new(1, 20).unwrap();
    let validated = cross_validate(&design, &data.loss(), &set, &folds, &options).unwrap();
    for score in &validated.scores {
        let predicted = score.held_out(&design, &folds);
        let mut rows: Vec<usize> = predicted.iter().map(|p| p.0).collect();
        rows.sort_unstable();
        assert_eq!(rows, (0..47).collect::<Vec<_>>());
        for fold in 0..5 {
            let inside: Vec<&(usize, f64)> = predicted.iter().filter(|p| folds.labels()[p.0] == fold).collect();
            let weight: f64 = inside.iter().map(|p| data.weights[p.0]).sum();
            let square: f64 = inside.iter().map(|p| data.weights[p.0] * (data.y[p.0] - p.1).powi(2)).sum();
            near(score.folds[fold], 0.5 * square / weight, 1e-12, "held out");
        }
    }
    // classes, too: by the runs of the method
    let labels: Vec<f64> = data.y.iter().map(|&y| f64::from(u8::from(y > 5.0))).collect();
    let loss = Logistic::new(labels.clone()).unwrap();
    let folds = Folds::stratified(&labels, 5, 0).unwrap();
    let validated = cross_validate(&design, &loss, &set, &folds, &CrossValidation::new(0..=2)).unwrap();
    for score in &validated.scores {
        let predicted = score.held_out(&design, &folds);
        let of = |&(row, z): &(usize, f64)| (1.0 + (if labels[row] == 1.0 { -z } else { z }).exp()).ln();
        let all: f64 = predicted.iter().map(of).sum::<f64>() / 47.0;
        let sizes = (0..5).map(|fold| folds.held_out(fold).len() as f64 / 47.0);
        near(all, score.folds.iter().zip(sizes).map(|(loss, share)| loss * share).sum(), 1e-10, "classes");
    }
    assert_eq!(validated.null, validated.scores[0]);
    let constant = (labels.iter().sum::<f64>() / (47.0 - labels.iter().sum::<f64>())).ln();
    near(validated.models[0].intercept, constant, 1e-12, "log-odds of the larger class");
}

#[test]
fn every_kind_of_design_is_by_hand() {
    let mut data = Data::new(40, 12, 5);
    // Numbers that single precision holds, and zeros that a sparse matrix does not store.
    let rounded = |v: f64| if v < 0.25 { 0.0 } else { f64::from(v as f32) };
    data.x = Matrix::from_fn(40, 12, |i, j| rounded(data.x.at(i, j)));
    let folds = Folds::random(40, 4, 5).unwrap();
    let set = KSparse::new(1, 12).unwrap();
    let singles: Vec<f32> = data.x.data().iter().map(|&v| v as f32).collect();
    let transposed = data.x.transposed();
    for (standardize, intercept) in preparations() {
        let options = CrossValidation { ridges: vec![0.5], ..options(1..=4, standardize, intercept) };
        is_by_hand(&Dense::column_major(&singles, 40, 12).unwrap(), &data, &set, &folds, &options);
        is_by_hand(&Dense::row_major(transposed.data(), 40, 12).unwrap(), &data, &set, &folds, &options);
        is_by_hand(&sparse(&data.x), &data, &set, &folds, &options);
    }
}

/// A copy of the training rows cannot know the others: if the scores are those of copies also when one
/// fold is beyond all measure, it reaches no model that leaves it out.
#[test]
fn wild_rows_do_not_reach_the_model_that_leaves_them_out() {
    let folds = Folds::random(50, 5, 6).unwrap();
    let set = KSparse::new(1, 14).unwrap();
    for wild in 0..5 {
        let mut data = Data::new(50, 14, 6);
        let factor = |i: usize| if folds.labels()[i] == wild { 1e6 } else { 1.0 };
        let x = Matrix::from_fn(50, 14, |i, j| factor(i) * data.x.at(i, j));
        data.y.iter_mut().enumerate().for_each(|(i, y)| *y *= -factor(i));
        data.x = x;
        for (standardize, intercept) in preparations() {
            let options = CrossValidation { ridges: vec![0.0, 1.0], ..options(1..=4, standardize, intercept) };
            let validated = cross_validate(&data.dense(), &data.loss(), &set, &folds, &options).unwrap();
            let (training, held_out) = (data.pick(&folds.training(wild)), data.pick(&folds.held_out(wild)));
            for (r, ridge) in [0.0, 1.0].into_iter().enumerate() {
                let models = training.by_hand(&set, &options, ridge * 40.0 / 50.0);
                for (score, (coefficients, intercept)) in validated.scores[r * 4..].iter().zip(models) {
                    let what = format!("{:?}, fold {wild}, {options:?}", score.choice);
                    near(score.folds[wild], held_out.error(&coefficients, intercept), 1e-8, &what);
                }
            }
        }
    }
}

/// ŷ of a held-out row, from how the score answers when its y moves: the same wherever it moves.
#[test]
fn a_held_out_target_does_not_move_its_own_prediction() {
    let data = Data::new(30, 10, 7);
    let folds = Folds::random(30, 3, 7).unwrap();
    let set = KSparse::new(1, 10).unwrap();
    let row = folds.held_out(1)[4];
    let scores = |shift: f64| {
        let mut data = data.clone();
        data.y[row] += shift;
        cross_validate(&data.dense(), &data.loss(), &set, &folds, &CrossValidation::new(1..=4)).unwrap().scores
    };
    let here = scores(0.0);
    for shift in [1.0, -3.0, 1e3] {
        for (moved, here) in scores(shift).iter().zip(&here) {
            // ½(y + s − ŷ)² − ½(y − ŷ)² = ½s² + s·(y − ŷ)
            let count = folds.held_out(1).len() as f64;
            let predicted = data.y[row] - (count * (moved.folds[1] - here.folds[1]) - 0.5 * shift * shift) / shift;
            let at_one = scores(0.5).iter().find(|s| s.choice == here.choice).unwrap().folds[1];
            let expected = data.y[row] - (count * (at_one - here.folds[1]) - 0.125) / 0.5;
            assert!((predicted - expected).abs() < 1e-8, "{predicted} {expected} at {shift}");
            assert!(moved.folds[0] != here.folds[0], "the other folds learn from the row");
        }
    }
}

#[test]
fn columns_far_from_zero_do_not_spoil_the_answer() {
    let plain = Data { x: Matrix::from_columns(60, 12, simulate::gaussian(60, 12, 8)), ..Data::new(60, 12, 8) };
    // The shift is a power of two, and so is the last digit of the noise: the sums are exact.
    let digit = 2_f64.powi(-28);
    let round = |v: f64| (v / digit).round() * digit;
    let plain = Data { x: Matrix::from_fn(60, 12, |i, j| round(plain.x.at(i, j))), ..plain };
    let far = Data { x: Matrix::from_fn(60, 12, |i, j| plain.x.at(i, j) + 1_048_576.0), ..plain.clone() };
    let folds = Folds::random(60, 5, 8).unwrap();
    let set = KSparse::new(1, 12).unwrap();
    for standardize in [true, false] {
        let options = CrossValidation { ridges: vec![0.0, 1.0], ..options(1..=6, standardize, true) };
        let here = cross_validate(&plain.dense(), &plain.loss(), &set, &folds, &options).unwrap();
        let there = cross_validate(&far.dense(), &far.loss(), &set, &folds, &options).unwrap();
        for (a, b) in here.scores.iter().zip(&there.scores) {
            a.folds.iter().zip(&b.folds).for_each(|(a, b)| near(*b, *a, 1e-7, "far from zero"));
        }
        for (a, b) in here.models.iter().zip(&there.models) {
            assert_eq!(a.coefficients.indices(), b.coefficients.indices());
            let pairs = a.coefficients.values().iter().zip(b.coefficients.values());
            pairs.for_each(|(a, b)| near(*b, *a, 1e-7, "far from zero"));
        }
    }
    let target = Data { y: plain.y.iter().map(|y| y + 1e7).collect(), ..plain.clone() };
    let here = cross_validate(&plain.dense(), &plain.loss(), &set, &folds, &CrossValidation::new(1..=6)).unwrap();
    let there = cross_validate(&target.dense(), &target.loss(), &set, &folds, &CrossValidation::new(1..=6)).unwrap();
    for (a, b) in here.scores.iter().zip(&there.scores) {
        a.folds.iter().zip(&b.folds).for_each(|(a, b)| near(*b, *a, 1e-7, "a target far from zero"));
    }
}

/// A column that varies in one fold alone: the model that leaves this fold out must not live on the
/// rounding that centring leaves of it.
#[test]
fn a_column_that_is_constant_in_one_training_set_is_not_selected_there() {
    for (seed, value) in [(9, 0.0), (10, 0.1), (11, 1e3 / 3.0), (12, -1e5 / 7.0)] {
        let mut data = Data::new(45, 10, seed).weighted();
        for count in [2, 3, 5] {
            let folds = Folds::random(45, count, seed).unwrap();
            let varies = |i: usize| folds.labels()[i] == 1;
            data.x = Matrix::from_fn(45, 10, |i, j| match (j, varies(i)) {
                (2, false) => value,
                (2, true) => value + 1.0 + i as f64,
                _ => data.x.at(i, j),
            });
            let set = KSparse::new(1, 10).unwrap();
            for (standardize, intercept) in [(true, true), (false, true)] {
                let options = CrossValidation { ridges: vec![0.0, 1.0], ..options(1..=4, standardize, intercept) };
                let validated = cross_validate(&data.dense(), &data.loss(), &set, &folds, &options).unwrap();
                let (training, held_out) = (data.pick(&folds.training(1)), data.pick(&folds.held_out(1)));
                for (r, ridge) in [0.0, 1.0].into_iter().enumerate() {
                    let share = ridge * training.weight() / data.weight();
                    let models = training.by_hand(&set, &options, share);
                    for (score, (coefficients, intercept)) in validated.scores[r * 4..].iter().zip(models) {
                        assert_eq!(coefficients.value_at(2), 0.0);
                        assert!(score.folds.iter().all(|v| v.is_finite()) && score.error.is_finite());
                        let what = format!("{:?} {options:?} {value} {count}", score.choice);
                        near(score.folds[1], held_out.error(&coefficients, intercept), 1e-7, &what);
                    }
                }
            }
        }
    }
}

/// Labels of a planted logistic model.
fn classes(data: &Data, seed: u64) -> Logistic {
    let mean = data.y.iter().sum::<f64>() / data.rows() as f64;
    let odds: Vec<f64> = data.y.iter().map(|y| 1.2 * (y - mean) - 0.5).collect();
    Logistic::new(simulate::labels(&odds, seed)).unwrap()
}

/// A fit of some rows by the library's own preparation: coefficients, intercept, passes.
fn one_fit<A, L, S>(
    design: &A,
    loss: &L,
    set: &S,
    rows: Vec<usize>,
    (preparation, k): (Preparation, usize),
) -> (SparseVec, f64, usize)
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>> + ColumnMoments,
    L: Split,
    S: CoordinateSet,
{
    let f = preparation.objective(design, loss, rows).unwrap();
    let set = preparation.set(&set.with_atoms(k).unwrap()).unwrap();
    let method = AcceleratedIht::for_structure(set.structure());
    let mut run = Run::new(&f, &set, &method, Options::for_set(&set)).unwrap();
    while !run.is_done() {
        run.step();
    }
    let outcome = run.outcome_unchecked();
    let (coefficients, intercept) = f.operator().to_original(&outcome.point);
    (coefficients, intercept, outcome.passes)
}

/// Every fold, ridge and size by a fit of its own: held-out losses and whole models, with this precision.
fn is_one_by_one<A, L, S>(
    design: &A,
    (loss, weights): (&L, &[f64]),
    set: &S,
    folds: &Folds,
    options: &CrossValidation,
    relative: f64,
) where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>> + ColumnMoments,
    L: Split,
    S: CoordinateSet,
{
    let validated = cross_validate(design, loss, set, folds, options).unwrap();
    let of = |rows: &[usize]| rows.iter().map(|&i| weights[i]).sum::<f64>();
    let all: Vec<usize> = (0..design.n_outputs()).collect();
    for (score, model) in validated.scores.iter().zip(&validated.models) {
        let Choice { atoms, ridge, .. } = score.choice;
        let prepared = |rows: &[usize]| {
            let ridge = ridge * of(rows) / of(&all);
            (Preparation { standardize: options.standardize, intercept: options.intercept, ridge }, atoms)
        };
        for fold in 0..folds.count() {
            let (training, held_out) = (folds.training(fold), folds.held_out(fold));
            let (coefficients, intercept, _) = one_fit(design, loss, set, training.clone(), prepared(&training));
            let mut out = vec![0.0; design.n_outputs()];
            design.apply(&coefficients, &mut out);
            let predicted: Vec<f64> = held_out.iter().map(|&i| out[i] + intercept).collect();
            let expected = loss.subset(&held_out).unwrap().value(&predicted) / of(&held_out);
            near(score.folds[fold], expected, relative, &format!("{:?}, fold {fold}, {options:?}", score.choice));
        }
        let (coefficients, intercept, _) = one_fit(design, loss, set, all.clone(), prepared(&all));
        assert_eq!(model.coefficients.indices(), coefficients.indices());
        let pairs = model.coefficients.values().iter().zip(coefficients.values());
        pairs.for_each(|(found, expected)| near(*found, *expected, 10.0 * relative, "coefficient"));
        assert!((model.intercept - intercept).abs() < 10.0 * relative * (1.0 + intercept.abs()));
    }
}

#[test]
fn classes_are_validated_as_by_fits_one_by_one() {
    let data = Data::new(70, 12, 13).weighted();
    let folds = Folds::random(70, 3, 13).unwrap();
    let set = KSparse::new(1, 12).unwrap();
    let groups = Groups::of_equal_size(1, 12, 2);
    for (standardize, intercept) in preparations() {
        let options = CrossValidation { ridges: vec![0.2, 2.0], ..options([1, 3], standardize, intercept) };
        let loss = classes(&data, 13);
        let weighted = loss.clone().weighted(data.weights.clone()).unwrap();
        let whole = Watched::without_columns(&data);
        is_one_by_one(&whole, (&loss, &[1.0; 70]), &set, &folds, &options, 1e-9);
        is_one_by_one(&whole, (&weighted, &data.weights), &set, &folds, &options, 1e-9);
        is_one_by_one(&whole, (&weighted, &data.weights), &groups, &folds, &options, 1e-9);
    }
}

/// Where single columns can be had, classes are validated within a working set: by models that are minima over their
/// atoms, and no worse than those of runs.
#[test]
fn models_of_classes_are_no_worse_than_those_of_runs() {
    let groups = Groups::of_equal_size(1, 40, 2);
    let set = KSparse::new(1, 40).unwrap();
    let (mut better, mut worse) = (0, 0);
    for seed in 0..4 {
        let data = Data::new(70, 40, seed).weighted();
        let loss = classes(&data, seed).weighted(data.weights.clone()).unwrap();
        let folds = Folds::random(70, 3, seed).unwrap();
        for (standardize, intercept) in preparations() {
            let options = CrossValidation { ridges: vec![0.2, 2.0], ..options([1, 3, 6], standardize, intercept) };
            for values in [
                values_beside_runs(&data, &loss, &set, &folds, &options),
                values_beside_runs(&data, &loss, &groups, &folds, &options),
            ] {
                for (here, run) in values {
                    assert!(here < 1.05 * run, "{here} beside {run}, {options:?}");
                    better += usize::from(here < run * (1.0 - 1e-6));
                    worse += usize::from(here > run * (1.0 + 1e-6));
                }
            }
        }
    }
    assert!(better > 4 * worse, "{better} {worse}");
}

/// The objective of every fold's model beside that of a run.
fn values_beside_runs<S: CoordinateSet>(
    data: &Data,
    loss: &Logistic,
    set: &S,
    folds: &Folds,
    options: &CrossValidation,
) -> Vec<(f64, f64)> {
    let design = data.dense();
    let validated = cross_validate(&design, loss, set, folds, options).unwrap();
    let of = |rows: &[usize]| rows.iter().map(|&i| data.weights[i]).sum::<f64>();
    let all: f64 = data.weights.iter().sum();
    let mut values = Vec::new();
    for score in &validated.scores {
        for (fold, model) in score.models.iter().enumerate() {
            let rows = folds.training(fold);
            let ridge = score.choice.ridge * of(&rows) / all;
            let preparation = Preparation { standardize: options.standardize, intercept: options.intercept, ridge };
            let f = preparation.objective(&design, loss, rows.clone()).unwrap();
            let value = |coefficients: &SparseVec, intercept: f64| {
                let x = f.operator().from_original(coefficients, intercept).unwrap();
                (f.value(&f.at(x.clone())), x)
            };
            let (here, x) = value(&model.coefficients, model.intercept);
            let support = IndexSet::new(x.dim(), x.indices().to_vec());
            let minimum = f.value(&refit_on(&f, f.at(x), &support));
            assert!(here < minimum * (1.0 + 1e-9), "{here} {minimum}");
            let (coefficients, intercept, _) = one_fit(&design, loss, set, rows, (preparation, score.choice.atoms));
            values.push((here, value(&coefficients, intercept).0));
        }
    }
    values
}

trait EqualGroups {
    fn of_equal_size(k: usize, dim: usize, size: usize) -> Groups;
}
impl EqualGroups for Groups {
    fn of_equal_size(k: usize, dim: usize, size: usize) -> Groups {
        let members = (0..dim / size).map(|g| (g * size..(g + 1) * size).collect()).collect();
        Groups::new(k, dim, members).unwrap()
    }
}

/// Counts every read of the data, those for moments included.
struct Watched<'a> {
    counted: Counted<Dense<'a, f64>>,
    data: Dense<'a, f64>,
    moments: AtomicUsize,
    cheap: bool,
    energies: bool,
}

impl<'a> Watched<'a> {
    fn new(data: &'a Data) -> Self {
        let (counted, moments) = (Counted::new(data.dense()), AtomicUsize::new(0));
        Self { counted, data: data.dense(), moments, cheap: true, energies: true }
    }

    /// As an operator that knows no single columns.
    fn without_columns(data: &'a Data) -> Self {
        Self { cheap: false, energies: false, ..Self::new(data) }
    }

    /// Reads since the last call.
    fn reads(&self) -> usize {
        self.counted.take().passes + self.moments.swap(0, Ordering::Relaxed)
    }
}

impl ColumnMoments for Watched<'_> {
    fn moments(&self, weights: &[f64]) -> Moments {
        self.moments.fetch_add(2, Ordering::Relaxed);
        self.data.moments(weights)
    }
}

impl<'a> LinearOperator for Watched<'a> {
    type Point = SparseVec;
    type Covector = Vec<f64>;
    type Base = Counted<Dense<'a, f64>>;

    fn domain(&self) -> usize {
        self.counted.domain()
    }
    fn n_outputs(&self) -> usize {
        self.counted.n_outputs()
    }
    fn new_covector(&self) -> Vec<f64> {
        self.counted.new_covector()
    }
    fn apply(&self, x: &SparseVec, out: &mut [f64]) {
        self.counted.apply(x, out);
    }
    fn adjoint(&self, r: &[f64], out: &mut Vec<f64>) {
        self.counted.adjoint(r, out);
    }
    fn adjoint_on(&self, r: &[f64], t: &IndexSet) -> SparseVec {
        self.counted.adjoint_on(r, t)
    }
    fn adjoint_block(&self, rs: &[&[f64]], out: &mut [Vec<f64>]) {
        self.counted.adjoint_block(rs, out);
    }
    fn adjoint_parts(&self, parts: &Parts, rs: &[&[f64]], out: &mut [Vec<Vec<f64>>]) {
        self.counted.adjoint_parts(parts, rs, out);
    }
    fn energies(&self, weights: &[&[f64]], centres: Option<&[f64]>) -> Option<Vec<Vec<f64>>> {
        if self.energies { self.counted.energies(weights, centres) } else { None }
    }
    fn apply_covector(&self, g: &Vec<f64>, out: &mut [f64]) {
        self.counted.apply_covector(g, out);
    }
    fn has_cheap_columns(&self) -> bool {
        self.cheap
    }
    fn base(&self) -> &Self::Base {
        &self.counted
    }
    fn before_pass<'r>(&self, r: &'r [f64]) -> Cow<'r, [f64]> {
        Cow::Borrowed(r)
    }
}

#[test]
fn every_pass_serves_all_folds_and_ridges() {
    let data = Data::new(80, 60, 14);
    let design = Watched::new(&data);
    let folds = Folds::random(80, 5, 14).unwrap();
    let set = KSparse::new(1, 60).unwrap();
    let ridges = vec![0.0, 0.5, 5.0];
    let sizes = 1..=10;
    let options = CrossValidation { ridges: ridges.clone(), ..CrossValidation::new(sizes.clone()) };
    let mut apart = 0;
    for &ridge in &ridges {
        for fold in 0..5 {
            let preparation = Preparation { ridge: ridge * 0.8, ..Preparation::default() };
            let f = preparation.objective(&design, &data.loss(), folds.training(fold)).unwrap();
            let set = preparation.set(&set).unwrap();
            Fit::new(&f, &set).path(sizes.clone()).unwrap();
            apart += design.reads();
        }
    }
    let validated = cross_validate(&design, &data.loss(), &set, &folds, &options).unwrap();
    let together = design.reads();
    assert_eq!(validated.passes, together);
    assert!(3 * together < apart, "{together} instead of {apart}");
}

#[test]
fn classes_share_their_passes() {
    let data = Data::new(70, 30, 15);
    let loss = classes(&data, 15);
    let folds = Folds::stratified(loss.classes().unwrap(), 4, 15).unwrap();
    let set = KSparse::new(1, 30).unwrap();
    let options = CrossValidation { ridges: vec![0.1, 1.0], ..CrossValidation::new([1, 2, 4]) };
    for design in [Watched::new(&data), Watched::without_columns(&data)] {
        let sides: Vec<Vec<usize>> = (0..4).map(|fold| folds.training(fold)).chain([(0..70).collect()]).collect();
        let mut passes = Vec::new();
        for rows in &sides {
            for &ridge in &options.ridges {
                for &k in &options.sizes {
                    let ridge = ridge * rows.len() as f64 / 70.0;
                    let preparation = Preparation { ridge, ..Preparation::default() };
                    passes.push(one_fit(&design, &loss, &set, rows.clone(), (preparation, k)).2);
                }
            }
        }
        design.reads();
        let validated = cross_validate(&design, &loss, &set, &folds, &options).unwrap();
        let (longest, reads) = (passes.iter().copied().max().unwrap(), design.reads());
        assert_eq!(validated.passes, reads);
        if design.cheap {
            // All samples standardised from four reads, and one looks at all atoms.
            assert_eq!(reads, 5);
        } else {
            assert_eq!(reads, longest + 2 * sides.len(), "{passes:?}");
        }
        assert!(longest > passes.iter().copied().min().unwrap());
    }
}

/// Fifty half-samples, and not a hundred reads before their fits begin.
#[test]
fn half_samples_are_standardised_from_four_reads() {
    let data = Data::new(80, 30, 22);
    let set = KSparse::new(3, 30).unwrap();
    let method = defaults();
    let options = Stability::default();
    let design = Watched::new(&data);
    let selected = stability(&design, &data.loss(), &set, &method, &options).unwrap();
    assert_eq!((selected.samples, design.reads()), (50, selected.passes + 4));
    let design = Watched::without_columns(&data);
    let selected = stability(&design, &data.loss(), &set, &method, &options).unwrap();
    assert!(design.reads() >= selected.passes + 100);
    let plain = Stability { standardize: false, ..options };
    let design = Watched::new(&data);
    let selected = stability(&design, &data.loss(), &set, &method, &plain).unwrap();
    assert_eq!(design.reads(), selected.passes);
}

fn score(atoms: usize, ridge: f64, mean: f64, error: f64) -> Score {
    Score { choice: choice(atoms, ridge), folds: vec![mean - error, mean + error], mean, error, models: vec![] }
}

fn validated(scores: Vec<Score>) -> Validated {
    let fitted = |score: &Score| Fitted {
        coefficients: SparseVec::new(20, vec![score.choice.atoms], vec![1.0]).unwrap(),
        intercept: 0.0,
        choice: score.choice,
        loss: 1.0,
    };
    let models = scores.iter().map(fitted).collect();
    Validated { scores, null: score(0, 0.0, 9.0, 1.0), models, complete: true, passes: 0, seconds: 0.0 }
}

#[test]
fn the_least_score_and_the_smallest_within_an_error_of_it_are_found() {
    let found = validated(vec![
        score(1, 0.0, 5.0, 0.1),
        score(2, 0.0, 3.1, 2.0),
        score(4, 0.0, 2.9, 0.2),
        score(8, 0.0, 2.8, 0.15),
        score(9, 0.0, 3.0, 0.01),
    ]);
    assert_eq!(found.min(), choice(8, 0.0));
    // Within the error of the best, not within its own.
    assert_eq!(found.one_se(), choice(4, 0.0));
    assert_eq!(found.model(found.one_se()).unwrap().coefficients.indices(), [4]);
    assert!(found.model(choice(3, 0.0)).is_none());
    assert!(found.model(choice(4, 1.0)).is_none());
}

#[test]
fn ties_go_to_the_fewer_atoms() {
    let found = validated(vec![score(2, 0.0, 2.0, 0.0), score(3, 0.0, 1.0, 0.0), score(5, 0.0, 1.0, 0.0)]);
    assert_eq!((found.min().atoms, found.one_se().atoms), (3, 3));
    // Also when the fewer atoms come with a later ridge.
    let found = validated(vec![score(5, 0.0, 1.0, 0.0), score(3, 2.0, 1.0, 0.0), score(5, 2.0, 1.0, 0.0)]);
    assert_eq!(found.min(), choice(3, 2.0));
}

#[test]
fn one_error_is_allowed_under_the_ridge_of_the_best() {
    let found = validated(vec![
        score(1, 0.0, 1.04, 0.5),
        score(2, 0.0, 1.03, 0.5),
        score(1, 3.0, 1.3, 0.5),
        score(2, 3.0, 1.05, 0.5),
        score(3, 3.0, 1.0, 0.1),
    ]);
    assert_eq!(found.min(), choice(3, 3.0));
    assert_eq!(found.one_se(), choice(2, 3.0));
}

#[test]
fn a_score_that_is_no_number_is_never_the_best() {
    let nan = f64::NAN;
    let found = validated(vec![score(1, 0.0, nan, nan), score(2, 0.0, 2.0, 0.0), score(3, 0.0, nan, nan)]);
    assert_eq!((found.min().atoms, found.one_se().atoms), (2, 2));
}

/// Stratified folds, folds of one's own, one row at a time, and two folds.
#[test]
fn every_kind_of_fold_is_by_hand() {
    let data = Data::new(24, 8, 16);
    let set = KSparse::new(1, 8).unwrap();
    let labels = (0..24).map(|i| if i < 3 { 77 } else { 5 * (i % 4) }).collect();
    let sides: Vec<f64> = data.y.iter().map(|y| f64::from(u8::from(*y > 6.0))).collect();
    let all = [
        Folds::given(labels).unwrap(),
        Folds::stratified(&sides, 4, 1).unwrap(),
        Folds::given((0..24).collect()).unwrap(),
        Folds::random(24, 24, 1).unwrap(),
        Folds::random(24, 2, 1).unwrap(),
    ];
    for folds in all {
        for (standardize, intercept) in preparations() {
            let options = CrossValidation { ridges: vec![0.0, 1.0], ..options(1..=3, standardize, intercept) };
            is_by_hand(&data.dense(), &data, &set, &folds, &options);
        }
    }
}

/// For a fixed model of least squares the row left out has the residual r/(1 − h): no fit needed.
#[test]
fn one_row_at_a_time_is_the_hat_matrix() {
    let data = Data::new(15, 8, 17);
    let data = Data { x: Matrix::from_columns(15, 1, data.x.column(4).to_vec()), ..data };
    let set = KSparse::new(1, 1).unwrap();
    let folds = Folds::given((0..15).collect()).unwrap();
    let validated = cross_validate(&data.dense(), &data.loss(), &set, &folds, &CrossValidation::new([1])).unwrap();
    let (x, mean) = (data.x.column(0), data.mean(data.x.column(0)));
    let spread: f64 = x.iter().map(|v| (v - mean).powi(2)).sum();
    let model = &validated.models[0];
    for (i, &x) in x.iter().enumerate() {
        let leverage = 1.0 / 15.0 + (x - mean).powi(2) / spread;
        let residual = data.y[i] - model.intercept - model.coefficients.value_at(0) * x;
        near(validated.scores[0].folds[i], 0.5 * (residual / (1.0 - leverage)).powi(2), 1e-9, "left out");
    }
}

/// The planted support at one standard error for every seed, and a minimum near the planted number: 5 for
/// eight of them, 6 and 8 for the others.
#[test]
fn planted_atoms_are_found_at_about_their_number() {
    let mut minima = Vec::new();
    for seed in 0..10 {
        let design = simulate::gaussian(120, 80, seed);
        let design = Dense::column_major(&design, 120, 80).unwrap();
        let truth = simulate::sparse_signal(80, 5, seed).map(|_, v| v.signum());
        let mut clean = vec![0.0; 120];
        design.apply(&truth, &mut clean);
        let deviation = 0.3 * katoms::linalg::norm(&clean) / 120_f64.sqrt();
        let loss = LeastSquares::new(simulate::noisy(&clean, deviation, seed)).unwrap();
        let folds = Folds::random(120, 5, seed).unwrap();
        let set = KSparse::new(1, 80).unwrap();
        let validated = cross_validate(&design, &loss, &set, &folds, &CrossValidation::new(1..=15)).unwrap();
        let (min, one_se) = (validated.min(), validated.one_se());
        assert!(one_se.atoms <= min.atoms);
        assert_eq!(validated.model(one_se).unwrap().coefficients.indices(), truth.indices(), "seed {seed}");
        minima.push(min.atoms);
    }
    assert!(minima.iter().all(|k| (5..=8).contains(k)), "{minima:?}");
}

#[test]
fn what_makes_no_sense_is_named() {
    let data = Data::new(20, 8, 18);
    let (design, loss, set) = (data.dense(), data.loss(), KSparse::new(1, 8).unwrap());
    let folds = Folds::random(20, 4, 0).unwrap();
    let refused = |options: CrossValidation| cross_validate(&design, &loss, &set, &folds, &options).unwrap_err();
    assert_eq!(refused(CrossValidation::new([])), Error::Empty { what: "the list of sizes" });
    for falling in [vec![0, 0], vec![2, 2], vec![3, 1]] {
        let error = refused(CrossValidation::new(falling));
        assert!(matches!(error, Error::OutOfRange { what: "a size of the path", .. }), "{error}");
    }
    let error = refused(CrossValidation::new([1, 9]));
    assert!(matches!(error, Error::OutOfRange { value: 9, max: 8, .. }), "{error}");
    let ridges = |ridges: Vec<f64>| refused(CrossValidation { ridges, ..CrossValidation::new([1]) });
    assert_eq!(ridges(vec![]), Error::Empty { what: "the list of ridges" });
    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(ridges(vec![0.0, bad]), Error::Option { name: "ridge", .. }));
    }
    let fine = CrossValidation::new([1, 2]);
    let short = Folds::random(19, 4, 0).unwrap();
    let error = cross_validate(&design, &loss, &set, &short, &fine).unwrap_err();
    assert!(matches!(error, Error::Length { what: "folds", found: 19, expected: 20, .. }), "{error}");
    let error = cross_validate(&design, &loss, &KSparse::new(1, 9).unwrap(), &folds, &fine).unwrap_err();
    assert!(matches!(error, Error::Length { found: 9, expected: 8, .. }), "{error}");
    let high = Dense::column_major(&data.x.data()[..19 * 8], 19, 8).unwrap();
    let error = cross_validate(&high, &loss, &set, &folds, &fine).unwrap_err();
    assert!(matches!(error, Error::Length { what: "target", found: 20, expected: 19, .. }), "{error}");
    // A fold that weighs nothing has no score.
    let weights: Vec<f64> = folds.labels().iter().map(|&fold| f64::from(u8::from(fold != 2))).collect();
    let nothing = loss.clone().weighted(weights).unwrap();
    let error = cross_validate(&design, &nothing, &set, &folds, &fine).unwrap_err();
    assert!(matches!(error, Error::Value { what: "list of sample weights", .. }), "{error}");
}

/// More atoms than a training set has rows: the model takes what it can, and nothing is NaN.
/// What is judged before a stop is what would have been judged anyway, or a path not yet improved from above.
#[test]
fn a_validation_that_is_stopped_keeps_the_sizes_that_it_has() {
    let data = Data::new(60, 12, 3);
    let folds = Folds::random(60, 4, 0).unwrap();
    let options = CrossValidation::new(1..=10);
    let (design, set) = (data.dense(), KSparse::new(1, 12).unwrap());
    let whole = cross_validate(&design, &data.loss(), &set, &folds, &options).unwrap();
    assert!(whole.complete && whole.scores.len() == 10 && whole.models.len() == 10);
    let mut heard = Vec::new();
    let mut poll = |done| {
        heard.push(done);
        ControlFlow::Break(())
    };
    let stopped = options.poll(&mut poll).run(&design, &data.loss(), &set, &folds).unwrap();
    assert_eq!(heard.len(), 1);
    assert_eq!((stopped.complete, stopped.scores.len(), stopped.models.len()), (false, heard[0], heard[0]));
    assert!(heard[0] >= 1 && heard[0] < 10, "{heard:?}");
    assert_eq!(stopped.scores[0].folds.len(), 4);
    // the same for classes
    let loss = classes(&data, 1);
    let rounds = Cell::new(0);
    let stop_after = |most: usize| {
        rounds.set(0);
        let rounds = &rounds;
        move |_| {
            rounds.set(rounds.get() + 1);
            if rounds.get() == most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        }
    };
    let stopped = options.poll(&mut stop_after(2)).run(&design, &loss, &set, &folds).unwrap();
    assert_eq!((stopped.complete, stopped.scores.len(), rounds.get()), (false, 2, 2));
    assert!(stopped.scores.iter().all(|score| score.mean.is_finite()));
    // and where runs of a method do the work: sizes of which not all have ended are left out
    let whole = Watched::without_columns(&data);
    let mut scores = Vec::new();
    for most in [1, 2, usize::MAX] {
        let found = options.poll(&mut stop_after(most)).run(&whole, &loss, &set, &folds).unwrap();
        assert_eq!(found.complete, most == usize::MAX);
        scores.push(found.scores.len());
    }
    assert!(scores[0] == 1 && scores[1] < 10 && scores[2] == 10, "{scores:?}");
}

/// In a wide design the paths of training sets grow within a list of atoms; by hand, among all. Beyond the atoms that
/// matter, and where none does, many are about as good, and a list has not the best of them.
#[test]
fn a_wide_design_loses_little_within_a_list() {
    for (seed, deviation) in [(0, 0.05), (1, 0.05), (2, 0.05), (0, 0.8), (1, 0.8)] {
        let data = Data::with_noise(90, 2000, seed, deviation);
        let folds = Folds::random(90, 5, seed).unwrap();
        let (design, set) = (data.dense(), KSparse::new(1, 2000).unwrap());
        let options = CrossValidation::new(1..=12);
        let validated = cross_validate(&design, &data.loss(), &set, &folds, &options).unwrap();
        assert!(validated.passes <= 4, "{}", validated.passes);
        let planted = deviation < 0.1;
        for (model, (coefficients, intercept)) in validated.models.iter().zip(data.by_hand(&set, &options, 0.0)) {
            let (here, among_all) = (model.loss, 90.0 * data.error(&coefficients, intercept));
            let exact = planted && model.choice.atoms <= 3;
            let most = if exact { 1.0 + 1e-9 } else { 1.1 };
            assert!(here < most * among_all, "seed {seed}, k = {}: {here} {among_all}", model.choice.atoms);
        }
        if !planted {
            continue;
        }
        assert_eq!(validated.models[2].coefficients.indices(), [0, 4, 7], "seed {seed}");
        let by_hand = |fold: usize| data.pick(&folds.training(fold)).by_hand(&set, &options, 0.0);
        let paths: Vec<_> = (0..5).map(by_hand).collect();
        for (at, score) in validated.scores.iter().enumerate().take(3) {
            let error = |(fold, path): (usize, &Vec<(SparseVec, f64)>)| {
                data.pick(&folds.held_out(fold)).error(&path[at].0, path[at].1)
            };
            let among_all = paths.iter().enumerate().map(error).sum::<f64>() / 5.0;
            near(score.mean, among_all, 1e-9, "a mean over folds");
        }
    }
}

/// The last round may be stopped: the models of the one before remain.
#[test]
fn a_wide_validation_that_is_stopped_late_has_every_size() {
    let data = Data::new(60, 1500, 3);
    let (folds, options) = (Folds::random(60, 4, 0).unwrap(), CrossValidation::new(1..=10));
    let (design, set) = (data.dense(), KSparse::new(1, 1500).unwrap());
    let stopped_at = |last: usize| {
        let mut poll = |done| if done < last { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
        let stopped = options.poll(&mut poll).run(&design, &data.loss(), &set, &folds).unwrap();
        assert!(!stopped.complete && stopped.scores.len() == stopped.models.len());
        stopped.scores.len()
    };
    assert_eq!((stopped_at(4), stopped_at(8)), (10, 10));
    assert!((1..10).contains(&stopped_at(1)));
}

#[test]
fn more_atoms_than_rows_leave_every_score_finite() {
    for (rows, count) in [(9, 3), (9, 9), (6, 2), (2, 2), (3, 3)] {
        let data = Data::new(rows, 20, 19);
        let folds = Folds::random(rows, count, 19).unwrap();
        let (set, groups) = (KSparse::new(1, 20).unwrap(), Groups::of_equal_size(1, 20, 2));
        for (standardize, intercept) in preparations() {
            let options = CrossValidation { ridges: vec![0.0, 0.1], ..options([1, 5, 9], standardize, intercept) };
            let by_atoms = cross_validate(&data.dense(), &data.loss(), &set, &folds, &options).unwrap();
            let by_groups = cross_validate(&data.dense(), &data.loss(), &groups, &folds, &options).unwrap();
            let slowly = Watched::without_columns(&data);
            let by_runs = cross_validate(&slowly, &data.loss(), &set, &folds, &options).unwrap();
            for validated in [by_atoms, by_groups, by_runs] {
                assert_eq!(validated.models.len(), 6);
                for score in &validated.scores {
                    let finite = score.folds.iter().chain([&score.mean, &score.error]).all(|v| v.is_finite());
                    assert!(finite && score.folds.len() == count, "{score:?} {options:?}");
                }
                let values = validated.models.iter().flat_map(|m| m.coefficients.values());
                assert!(values.chain(validated.models.iter().map(|m| &m.intercept)).all(|v| v.is_finite()));
            }
        }
    }
}

#[test]
fn classes_that_can_be_told_apart_leave_every_score_finite() {
    let data = Data::new(12, 20, 20);
    let loss = Logistic::new((0..12).map(|i| f64::from(u8::from(i % 2 == 0))).collect::<Vec<_>>()).unwrap();
    let folds = Folds::stratified(loss.classes().unwrap(), 3, 20).unwrap();
    let set = KSparse::new(1, 20).unwrap();
    for (standardize, intercept) in preparations() {
        let options = CrossValidation { ridges: vec![0.0, 0.1], ..options([1, 12], standardize, intercept) };
        let validated = cross_validate(&data.dense(), &loss, &set, &folds, &options).unwrap();
        assert!(validated.scores.iter().all(|s| s.folds.iter().all(|v| v.is_finite()) && s.error.is_finite()));
    }
}

fn in_pool<R: Send>(threads: usize, f: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(f)
}

#[test]
fn threads_do_not_show_and_neither_does_another_run() {
    let data = Data::new(60, 40, 21);
    let (loss, labels) = (data.loss(), classes(&data, 21));
    let folds = Folds::random(60, 4, 21).unwrap();
    let (set, groups) = (KSparse::new(1, 40).unwrap(), Groups::of_equal_size(1, 40, 4));
    let options = CrossValidation { ridges: vec![0.1, 1.0], ..CrossValidation::new(1..=5) };
    let bits = |v: Validated| {
        let scores =
            v.scores.iter().flat_map(|s| s.folds.iter().chain([&s.mean, &s.error]).copied().collect::<Vec<_>>());
        let models = v.models.iter().flat_map(|m| m.coefficients.values().iter().chain([&m.intercept]).copied());
        (scores.chain(models).map(f64::to_bits).collect::<Vec<_>>(), v.passes)
    };
    let all = |threads| {
        in_pool(threads, || {
            [
                bits(cross_validate(&data.dense(), &loss, &set, &folds, &options).unwrap()),
                bits(cross_validate(&data.dense(), &loss, &groups, &folds, &options).unwrap()),
                bits(cross_validate(&data.dense(), &labels, &set, &folds, &options).unwrap()),
            ]
        })
    };
    let one = all(1);
    assert_eq!(one, all(2));
    assert_eq!(one, all(1));
}
