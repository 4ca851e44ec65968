//! Cross-validation: the same as fold by fold by hand, and nothing of a held-out row in its model.

use std::ops::ControlFlow;

use crate::contract::csc;
use crate::planted::{Design, Planted, k_sparse, squares};
use katoms::linalg::Matrix;
use katoms::loss::{LeastSquares, Logistic};
use katoms::operator::{ColumnMoments, Dense};
use katoms::select::{Choice, CrossValidation, Fitted, Folds, Score, Validated, cross_validate, plain_path};
use katoms::set::{Always, CoordinateSet, Groups};
use katoms::simulate::{generator, normals};
use katoms::space::SparseVec;
use katoms::{Error, Objective, simulate};

pub const PREPARATIONS: [(bool, bool); 4] = [(true, true), (true, false), (false, true), (false, false)];

/// Some observations.
#[derive(Clone)]
pub struct Data {
    pub x: Matrix,
    pub y: Vec<f64>,
    pub weights: Vec<f64>,
}

impl Data {
    /// Correlated columns of different units, far from 0, and a few that matter.
    pub fn new(rows: usize, columns: usize, seed: u64) -> Self {
        Self::with_noise(rows, columns, seed, 0.8)
    }

    pub fn with_noise(rows: usize, columns: usize, seed: u64, deviation: f64) -> Self {
        let plain = simulate::autoregressive(rows, columns, 0.5, seed);
        let unit = |j: usize| 10_f64.powi(j as i32 % 3 - 1);
        let x = Matrix::from_fn(rows, columns, |i, j| unit(j) * (plain[j * rows + i] + 3.0));
        let noise = normals(rows, &mut generator(seed, 3));
        let clean = |i: usize| 5.0 + 2.0 * plain[i] - 1.5 * plain[4 * rows + i] + plain[7 * rows + i];
        let y = (0..rows).map(|i| clean(i) + deviation * noise[i]).collect();
        Self { x, y, weights: vec![1.0; rows] }
    }

    /// Uneven weights; a few rows weigh nothing.
    pub fn weighted(mut self) -> Self {
        self.weights.iter_mut().enumerate().for_each(|(i, w)| *w = [1.0, 0.5, 2.0, 3.0, 0.0, 0.25, 1.5][i % 7]);
        self
    }

    fn map(&self, entry: impl Fn(usize, usize, f64) -> f64) -> Self {
        let x = Matrix::from_fn(self.rows(), self.x.columns(), |i, j| entry(i, j, self.x.at(i, j)));
        Self { x, ..self.clone() }
    }

    pub fn rows(&self) -> usize {
        self.y.len()
    }

    pub fn dense(&self) -> Dense<'_, f64> {
        Dense::column_major(self.x.data(), self.rows(), self.x.columns()).unwrap()
    }

    pub fn loss(&self) -> LeastSquares {
        let loss = squares(self.y.clone());
        if self.weights.iter().all(|&w| w == 1.0) { loss } else { loss.weighted(self.weights.clone()).unwrap() }
    }

    /// Labels of a planted logistic model.
    pub fn classes(&self, seed: u64) -> Logistic {
        let mean = self.y.iter().sum::<f64>() / self.rows() as f64;
        let odds: Vec<f64> = self.y.iter().map(|y| 1.2 * (y - mean) - 0.5).collect();
        Logistic::new(simulate::labels(&odds, seed)).unwrap()
    }

    fn pick(&self, rows: &[usize]) -> Self {
        let x = Matrix::from_fn(rows.len(), self.x.columns(), |i, j| self.x.at(rows[i], j));
        let of = |all: &[f64]| rows.iter().map(|&i| all[i]).collect();
        Self { x, y: of(&self.y), weights: of(&self.weights) }
    }

    pub fn weight(&self) -> f64 {
        self.weights.iter().sum()
    }

    /// A weighted mean, from where the values are, so that nothing is lost far from 0.
    fn mean(&self, v: &[f64]) -> f64 {
        v[0] + v.iter().zip(&self.weights).map(|(v1, w)| w * (v1 - v[0])).sum::<f64>() / self.weight()
    }

    /// Half the mean squared error.
    fn error(&self, (coefficients, intercept): &(SparseVec, f64)) -> f64 {
        let square = |i: usize| {
            let z: f64 = coefficients.entries().map(|(j, v)| v * self.x.at(i, j)).sum::<f64>() + intercept;
            self.weights[i] * (self.y[i] - z).powi(2)
        };
        0.5 * (0..self.rows()).map(square).sum::<f64>() / self.weight()
    }

    /// The path of these rows by a copy that is centred and scaled: coefficients and intercepts.
    fn by_hand(&self, set: &impl CoordinateSet, options: &CrossValidation, ridge: f64) -> Vec<(SparseVec, f64)> {
        let mean = |v: &[f64]| if options.intercept { self.mean(v) } else { 0.0 };
        let columns = self.x.columns();
        let means: Vec<f64> = (0..columns).map(|j| mean(self.x.column(j))).collect();
        let scale = |j: usize| {
            let squares: Vec<f64> = self.x.column(j).iter().map(|v| (v - means[j]).powi(2)).collect();
            if options.standardize { self.mean(&squares).sqrt() } else { 1.0 }
        };
        // A column that does not vary is never chosen.
        let scales: Vec<f64> = (0..columns).map(scale).map(|s| if s == 0.0 { f64::MAX } else { s }).collect();
        let target = mean(&self.y);
        let copy = self.map(|_, j, v| (v - means[j]) / scales[j]);
        let loss = squares(self.y.iter().map(|y| y - target).collect::<Vec<_>>());
        let f = Objective::new(copy.dense(), loss.weighted(self.weights.clone()).unwrap()).unwrap();
        let f = f.ridge(ridge).unwrap();
        let path = plain_path(&f, set, &options.sizes, &mut |_| ControlFlow::Continue(())).unwrap();
        let model = |point: &SparseVec| {
            let coefficients = point.map(|j, v| v / scales[j]);
            let shift: f64 = coefficients.entries().map(|(j, v)| v * means[j]).sum();
            (coefficients, target - shift)
        };
        path.models.iter().map(|m| model(&m.point)).collect()
    }
}

#[track_caller]
pub fn near(found: f64, expected: f64, relative: f64, what: &str) {
    assert!((found - expected).abs() <= relative * expected.abs(), "{found:e} instead of {expected:e}: {what}");
}

pub fn options(sizes: impl IntoIterator<Item = usize>, ridges: &[f64]) -> CrossValidation {
    CrossValidation { ridges: ridges.to_vec(), ..CrossValidation::new(sizes) }
}

/// What is validated, apart from how the design is stored.
struct Case<'a, S> {
    data: &'a Data,
    set: &'a S,
    folds: &'a Folds,
    options: CrossValidation,
}

impl<S: CoordinateSet> Case<'_, S> {
    /// In every preparation, held-out losses, coefficients and intercepts are those of copies, fold by fold.
    fn is_by_hand(&mut self, design: &(impl Design + ColumnMoments)) {
        for (standardize, intercept) in PREPARATIONS {
            self.options = CrossValidation { standardize, intercept, ..self.options.clone() };
            let validated = self.validated(design);
            (0..self.folds.count()).for_each(|fold| self.fold_is_by_hand(&validated, fold, 1e-8));
            self.models_are_by_hand(&validated);
        }
    }

    fn validated(&self, design: &(impl Design + ColumnMoments)) -> Validated {
        let validated = cross_validate(design, &self.data.loss(), self.set, self.folds, &self.options).unwrap();
        assert_eq!(validated.scores.len(), self.options.sizes.len() * self.options.ridges.len());
        assert_eq!(validated.models.len(), validated.scores.len());
        validated
    }

    /// A ridge acts in the share of the training rows.
    fn fold_is_by_hand(&self, validated: &Validated, fold: usize, relative: f64) {
        let training = self.data.pick(&self.folds.training(fold));
        let held_out = self.data.pick(&self.folds.held_out(fold));
        for (&ridge, scores) in self.options.ridges.iter().zip(validated.scores.chunks(self.options.sizes.len())) {
            let models = training.by_hand(self.set, &self.options, ridge * training.weight() / self.data.weight());
            for (score, model) in scores.iter().zip(models) {
                let what = format!("{:?}, fold {fold}, {:?}", score.choice, self.options);
                near(score.folds[fold], held_out.error(&model), relative, &what);
            }
        }
    }

    fn models_are_by_hand(&self, validated: &Validated) {
        let choices = self.options.ridges.iter().flat_map(|&r| self.options.sizes.iter().map(move |&k| choice(k, r)));
        let whole = self.options.ridges.iter().flat_map(|&ridge| self.data.by_hand(self.set, &self.options, ridge));
        let (count, data) = (self.folds.count() as f64, self.data);
        for ((score, model), (choice, by_hand)) in
            validated.scores.iter().zip(&validated.models).zip(choices.zip(whole))
        {
            let (coefficients, intercept) = &by_hand;
            assert_eq!((score.choice, model.choice), (choice, choice));
            assert_eq!(model.coefficients.indices(), coefficients.indices());
            for (j, v) in coefficients.entries() {
                near(model.coefficients.value_at(j), v, 1e-8, &format!("coefficient {j}, {choice:?}"));
            }
            let largest = |j: usize| data.x.column(j).iter().fold(0.0_f64, |m, v| v.abs().max(m));
            let size: f64 = coefficients.entries().map(|(j, v)| v.abs() * largest(j)).sum();
            let off = (model.intercept() - intercept).abs();
            assert!(off <= 1e-8 * (1.0 + intercept.abs() + size), "intercept {} {intercept}", model.intercept());
            near(model.loss, data.weight() * data.error(&by_hand), 1e-8, "loss on all rows");
            let mean = score.folds.iter().sum::<f64>() / count;
            near(score.mean, mean, 1e-14, "mean");
            let square: f64 = score.folds.iter().map(|v| (v - mean).powi(2)).sum();
            near(score.error, (square / (count * (count - 1.0))).sqrt(), 1e-12, "error");
        }
    }
}

pub fn choice(atoms: usize, ridge: f64) -> Choice {
    Choice { atoms, ridge, shrinkage: 0.0 }
}

#[test]
fn every_preparation_is_fold_by_fold_by_hand() {
    let (plain, weighted) = (Data::new(47, 18, 1), Data::new(49, 18, 2).weighted());
    let set = k_sparse(1, 18);
    let folds = Folds::random(47, 5, 1).unwrap();
    Case { data: &plain, set: &set, folds: &folds, options: options(0..=6, &[0.0]) }.is_by_hand(&plain.dense());
    let folds = Folds::random(49, 4, 2).unwrap();
    let data = &weighted;
    Case { data, set: &set, folds: &folds, options: options([0, 1, 2, 5], &[0.0, 0.3, 20.0]) }
        .is_by_hand(&data.dense());
    // Uneven groups; the last columns belong to none.
    let members = vec![vec![0, 1], vec![2, 3, 5], vec![4], vec![6, 7], vec![8, 9], vec![10, 11, 12], vec![13]];
    let set = Groups::new(1, 18, members).unwrap();
    Case { data, set: &set, folds: &folds, options: options(0..=4, &[0.0, 2.0]) }.is_by_hand(&data.dense());
    let set = Always::new(k_sparse(1, 18), vec![3, 11]).unwrap();
    let mut case = Case { data, set: &set, folds: &folds, options: options(0..=4, &[0.0, 1.0]) };
    case.is_by_hand(&data.dense());
    for model in case.validated(&data.dense()).models {
        let indices = model.coefficients.indices();
        assert!(indices.len() == model.choice.atoms + 2 && indices.contains(&3) && indices.contains(&11));
    }
}

#[test]
fn every_kind_of_design_is_by_hand() {
    // Numbers that single precision holds, and zeros that a sparse matrix does not store.
    let data = Data::new(40, 12, 5).map(|_, _, v| if v < 0.25 { 0.0 } else { f64::from(v as f32) });
    let (folds, set) = (Folds::random(40, 4, 5).unwrap(), k_sparse(1, 12));
    let singles: Vec<f32> = data.x.data().iter().map(|&v| v as f32).collect();
    let transposed = data.x.transposed();
    let mut case = Case { data: &data, set: &set, folds: &folds, options: options(1..=4, &[0.5]) };
    case.is_by_hand(&Dense::column_major(&singles, 40, 12).unwrap());
    case.is_by_hand(&Dense::row_major(transposed.data(), 40, 12).unwrap());
    case.is_by_hand(&csc(&data.x));
}

/// Stratified folds, folds of one's own, one row at a time, and two folds.
#[test]
fn every_kind_of_fold_is_by_hand() {
    let (data, set) = (Data::new(24, 8, 16), k_sparse(1, 8));
    let labels = (0..24).map(|i| if i < 3 { 77 } else { 5 * (i % 4) }).collect();
    let sides: Vec<f64> = data.y.iter().map(|y| f64::from(u8::from(*y > 6.0))).collect();
    let all = [
        Folds::given(labels),
        Folds::stratified(&sides, 4, 1),
        Folds::given((0..24).collect()),
        Folds::random(24, 2, 1),
    ];
    for folds in all.map(Result::unwrap) {
        let options = options(1..=3, &[0.0, 1.0]);
        Case { data: &data, set: &set, folds: &folds, options }.is_by_hand(&data.dense());
    }
}

/// A copy of the training rows cannot know the others: if the scores are those of copies also when one
/// fold is beyond all measure, it reaches no model that leaves it out.
#[test]
fn wild_rows_do_not_reach_the_model_that_leaves_them_out() {
    let (folds, set) = (Folds::random(50, 5, 6).unwrap(), k_sparse(1, 14));
    for wild in [0, 3] {
        let factor = |i: usize| if folds.labels()[i] == wild { 1e6 } else { 1.0 };
        let mut data = Data::new(50, 14, 6).map(|i, _, v| factor(i) * v);
        data.y.iter_mut().enumerate().for_each(|(i, y)| *y *= -factor(i));
        for (standardize, intercept) in PREPARATIONS {
            let options = CrossValidation { standardize, intercept, ..options(1..=4, &[0.0, 1.0]) };
            let case = Case { data: &data, set: &set, folds: &folds, options };
            case.fold_is_by_hand(&case.validated(&data.dense()), wild, 1e-8);
        }
    }
}

/// A column that varies in one fold alone: the model that leaves this fold out must not live on the
/// rounding that centring leaves of it.
#[test]
fn a_column_that_is_constant_in_one_training_set_is_not_selected_there() {
    let set = k_sparse(1, 10);
    for (seed, value) in [(9, 0.0), (10, 0.1), (11, 1e3 / 3.0), (12, -1e5 / 7.0)] {
        for count in [2, 5] {
            let folds = Folds::random(45, count, seed).unwrap();
            let data = Data::new(45, 10, seed).weighted().map(|i, j, v| match (j, folds.labels()[i] == 1) {
                (2, false) => value,
                (2, true) => value + 1.0 + i as f64,
                _ => v,
            });
            for standardize in [true, false] {
                let options = CrossValidation { standardize, ..options(1..=4, &[0.0, 1.0]) };
                let case = Case { data: &data, set: &set, folds: &folds, options };
                let validated = case.validated(&data.dense());
                case.fold_is_by_hand(&validated, 1, 1e-7);
                for score in &validated.scores {
                    assert_eq!(score.models[1].coefficients.value_at(2), 0.0);
                    assert!(score.folds.iter().all(|v| v.is_finite()) && score.error.is_finite());
                }
            }
        }
    }
}

/// Every row is predicted once, by a model that has not seen it: the losses are those predictions'.
#[test]
fn held_out_predictions_have_the_losses_that_are_told() {
    let data = Data::new(47, 20, 1).weighted();
    let (folds, set, design) = (Folds::random(47, 5, 1).unwrap(), k_sparse(1, 20), data.dense());
    let validated = cross_validate(&design, &data.loss(), &set, &folds, &options([0, 2, 5], &[0.0, 3.0])).unwrap();
    for score in &validated.scores {
        let predicted = score.held_out(&design, &folds);
        let mut rows: Vec<usize> = predicted.iter().map(|p| p.0).collect();
        rows.sort_unstable();
        assert_eq!(rows, (0..47).collect::<Vec<_>>());
        for fold in 0..5 {
            let inside: Vec<&(usize, Vec<f64>)> = predicted.iter().filter(|p| folds.labels()[p.0] == fold).collect();
            let weight: f64 = inside.iter().map(|p| data.weights[p.0]).sum();
            let square: f64 = inside.iter().map(|p| data.weights[p.0] * (data.y[p.0] - p.1[0]).powi(2)).sum();
            near(score.folds[fold], 0.5 * square / weight, 1e-12, "held out");
        }
    }
    // classes, too: by the runs of the method
    let labels = crate::planted::labels(&data.y, 5.0);
    let folds = Folds::stratified(&labels, 5, 0).unwrap();
    let loss = Logistic::new(labels.clone()).unwrap();
    let validated = cross_validate(&design, &loss, &set, &folds, &CrossValidation::new(0..=2)).unwrap();
    for score in &validated.scores {
        let of = |(row, z): &(usize, Vec<f64>)| (1.0 + (if labels[*row] == 1.0 { -z[0] } else { z[0] }).exp()).ln();
        let all: f64 = score.held_out(&design, &folds).iter().map(of).sum::<f64>() / 47.0;
        let sizes = (0..5).map(|fold| folds.held_out(fold).len() as f64 / 47.0);
        near(all, score.folds.iter().zip(sizes).map(|(loss, share)| loss * share).sum(), 1e-10, "classes");
    }
    assert_eq!(validated.null, validated.scores[0]);
    let ones: f64 = labels.iter().sum();
    near(validated.models[0].intercept(), (ones / (47.0 - ones)).ln(), 1e-12, "log-odds of the larger class");
}

#[test]
fn columns_far_from_zero_do_not_spoil_the_answer() {
    // The shift is a power of two, and so is the last digit of the noise: the sums are exact.
    let (digit, noise) = (2_f64.powi(-28), simulate::gaussian(60, 12, 8));
    let plain = Data::new(60, 12, 8).map(|i, j, _| (noise[j * 60 + i] / digit).round() * digit);
    let far = plain.map(|_, _, v| v + 1_048_576.0);
    let target = Data { y: plain.y.iter().map(|y| y + 1e7).collect(), ..plain.clone() };
    let (folds, set) = (Folds::random(60, 5, 8).unwrap(), k_sparse(1, 12));
    for (standardize, there) in [(true, &far), (false, &far), (true, &target)] {
        let options = CrossValidation { standardize, ..options(1..=6, &[0.0, 1.0]) };
        let [here, there] =
            [&plain, there].map(|data| cross_validate(&data.dense(), &data.loss(), &set, &folds, &options).unwrap());
        for (a, b) in here.scores.iter().zip(&there.scores) {
            a.folds.iter().zip(&b.folds).for_each(|(a, b)| near(*b, *a, 1e-7, "far from zero"));
        }
        for (a, b) in here.models.iter().zip(&there.models) {
            assert_eq!(a.coefficients.indices(), b.coefficients.indices());
            let pairs = a.coefficients.values().iter().zip(b.coefficients.values());
            pairs.for_each(|(a, b)| near(*b, *a, 1e-7, "far from zero"));
        }
    }
}

/// For a fixed model of least squares the row left out has the residual r/(1 − h): no fit needed.
#[test]
fn one_row_at_a_time_is_the_hat_matrix() {
    let data = Data::new(15, 8, 17);
    let data = Data { x: Matrix::from_columns(15, 1, data.x.column(4).to_vec()), ..data };
    let folds = Folds::given((0..15).collect()).unwrap();
    let options = CrossValidation::new([1]);
    let validated = cross_validate(&data.dense(), &data.loss(), &k_sparse(1, 1), &folds, &options).unwrap();
    let (x, mean) = (data.x.column(0), data.mean(data.x.column(0)));
    let spread: f64 = x.iter().map(|v| (v - mean).powi(2)).sum();
    let model = &validated.models[0];
    for (i, &x) in x.iter().enumerate() {
        let leverage = 1.0 / 15.0 + (x - mean).powi(2) / spread;
        let residual = data.y[i] - model.intercept() - model.coefficients.value_at(0) * x;
        near(validated.scores[0].folds[i], 0.5 * (residual / (1.0 - leverage)).powi(2), 1e-9, "left out");
    }
}

/// The planted support at one standard error for every seed, and a minimum near the planted number.
#[test]
fn planted_atoms_are_found_at_about_their_number() {
    for seed in 0..10 {
        let truth = simulate::sparse_signal(80, 5, seed).map(|_, v| v.signum());
        let problem = Planted::with_truth(simulate::gaussian(120, 80, seed), truth, 0.3, seed);
        let folds = Folds::random(120, 5, seed).unwrap();
        let options = CrossValidation::new(1..=15);
        let validated =
            cross_validate(&problem.operator(), &problem.loss(), &k_sparse(1, 80), &folds, &options).unwrap();
        let (min, one_se) = (validated.min(), validated.one_se());
        assert!(one_se.atoms <= min.atoms && (5..=8).contains(&min.atoms), "seed {seed}: {min:?}");
        let found = &validated.model(one_se).unwrap().coefficients;
        assert_eq!(found.indices(), problem.truth.indices(), "seed {seed}");
    }
}

/// In a wide design the paths of training sets grow within a list of atoms; by hand, among all. Beyond the atoms that
/// matter, and where none does, many are about as good, and a list has not the best of them.
#[test]
fn a_wide_design_loses_little_within_a_list() {
    for (seed, deviation) in [(0, 0.05), (1, 0.05), (0, 0.8)] {
        let data = Data::with_noise(90, 2000, seed, deviation);
        let (folds, set) = (Folds::random(90, 5, seed).unwrap(), k_sparse(1, 2000));
        let options = CrossValidation::new(1..=12);
        let validated = cross_validate(&data.dense(), &data.loss(), &set, &folds, &options).unwrap();
        assert!(validated.passes <= 4, "{}", validated.passes);
        let planted = deviation < 0.1;
        for (model, by_hand) in validated.models.iter().zip(data.by_hand(&set, &options, 0.0)) {
            let (here, among_all) = (model.loss, 90.0 * data.error(&by_hand));
            let most = if planted && model.choice.atoms <= 3 { 1.0 + 1e-9 } else { 1.1 };
            assert!(here < most * among_all, "seed {seed}, k = {}: {here} {among_all}", model.choice.atoms);
        }
        if !planted {
            continue;
        }
        assert_eq!(validated.models[2].coefficients.indices(), [0, 4, 7], "seed {seed}");
        let options = CrossValidation::new(1..=3);
        for fold in 0..5 {
            let held_out = data.pick(&folds.held_out(fold));
            let models = data.pick(&folds.training(fold)).by_hand(&set, &options, 0.0);
            for (score, model) in validated.scores.iter().zip(&models) {
                near(score.folds[fold], held_out.error(model), 1e-9, "a fold of a wide design");
            }
        }
    }
}

#[test]
fn the_least_score_and_the_smallest_within_an_error_of_it_are_found() {
    let nan = f64::NAN;
    // (atoms, ridge, mean, error) of each score; the least; the smallest within one error
    let table = [
        // within the error of the best, not within its own
        (
            vec![(1, 0.0, 5.0, 0.1), (2, 0.0, 3.1, 2.0), (4, 0.0, 2.9, 0.2), (8, 0.0, 2.8, 0.15), (9, 0.0, 3.0, 0.01)],
            choice(8, 0.0),
            choice(4, 0.0),
        ),
        // ties go to the fewer atoms, also when these come with a later ridge
        (vec![(2, 0.0, 2.0, 0.0), (3, 0.0, 1.0, 0.0), (5, 0.0, 1.0, 0.0)], choice(3, 0.0), choice(3, 0.0)),
        (vec![(5, 0.0, 1.0, 0.0), (3, 2.0, 1.0, 0.0), (5, 2.0, 1.0, 0.0)], choice(3, 2.0), choice(3, 2.0)),
        // one error is allowed under the ridge of the best
        (
            vec![(1, 0.0, 1.04, 0.5), (2, 0.0, 1.03, 0.5), (1, 3.0, 1.3, 0.5), (2, 3.0, 1.05, 0.5), (3, 3.0, 1.0, 0.1)],
            choice(3, 3.0),
            choice(2, 3.0),
        ),
        // what is no number is never the best
        (vec![(1, 0.0, nan, nan), (2, 0.0, 2.0, 0.0), (3, 0.0, nan, nan)], choice(2, 0.0), choice(2, 0.0)),
    ];
    for (rows, least, smallest) in table {
        let score = |&(atoms, ridge, mean, error): &(usize, f64, f64, f64)| Score {
            choice: choice(atoms, ridge),
            folds: vec![mean - error, mean + error],
            mean,
            error,
            models: vec![],
        };
        let fitted = |&(atoms, ridge, ..): &(usize, f64, f64, f64)| Fitted {
            coefficients: SparseVec::new(20, vec![atoms], vec![1.0]).unwrap(),
            intercepts: vec![0.0],
            choice: choice(atoms, ridge),
            loss: 1.0,
        };
        let (scores, models) = (rows.iter().map(score).collect(), rows.iter().map(fitted).collect());
        let null = score(&(0, 0.0, 9.0, 1.0));
        let found = Validated { scores, null, models, complete: true, passes: 0, seconds: 0.0 };
        assert_eq!((found.min(), found.one_se()), (least, smallest), "{rows:?}");
        assert_eq!(found.model(smallest).unwrap().coefficients.indices(), [smallest.atoms]);
        assert!(found.model(choice(7, 0.0)).is_none() && found.model(choice(4, 1.0)).is_none());
    }
}

#[test]
fn what_makes_no_sense_is_named() {
    let data = Data::new(20, 8, 18);
    let (design, loss, set) = (data.dense(), data.loss(), k_sparse(1, 8));
    let folds = Folds::random(20, 4, 0).unwrap();
    let refused = |options: CrossValidation| cross_validate(&design, &loss, &set, &folds, &options).unwrap_err();
    assert_eq!(refused(CrossValidation::new([])), Error::Empty { what: "the list of sizes" });
    for falling in [vec![0, 0], vec![2, 2], vec![3, 1]] {
        let error = refused(CrossValidation::new(falling));
        assert!(matches!(error, Error::OutOfRange { what: "a size of the path", .. }), "{error}");
    }
    let error = refused(CrossValidation::new([1, 9]));
    assert!(matches!(error, Error::OutOfRange { value: 9, max: 8, .. }), "{error}");
    assert_eq!(refused(options([1], &[])), Error::Empty { what: "the list of ridges" });
    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(refused(options([1], &[0.0, bad])), Error::Option { name: "ridge", .. }));
    }
    let fine = CrossValidation::new([1, 2]);
    let short = Folds::random(19, 4, 0).unwrap();
    let error = cross_validate(&design, &loss, &set, &short, &fine).unwrap_err();
    assert!(matches!(error, Error::Length { what: "folds", found: 19, expected: 20, .. }), "{error}");
    let error = cross_validate(&design, &loss, &k_sparse(1, 9), &folds, &fine).unwrap_err();
    assert!(matches!(error, Error::Length { found: 9, expected: 8, .. }), "{error}");
    let high = Dense::column_major(&data.x.data()[..19 * 8], 19, 8).unwrap();
    let error = cross_validate(&high, &loss, &set, &folds, &fine).unwrap_err();
    assert!(matches!(error, Error::Length { what: "target", found: 20, expected: 19, .. }), "{error}");
    // A fold that weighs nothing has no score.
    let weights: Vec<f64> = folds.labels().iter().map(|&fold| f64::from(u8::from(fold != 2))).collect();
    let error = cross_validate(&design, &loss.clone().weighted(weights).unwrap(), &set, &folds, &fine).unwrap_err();
    assert!(matches!(error, Error::Value { what: "list of sample weights", .. }), "{error}");
}
