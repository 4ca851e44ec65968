//! Cross-validation: classes beside fits one by one, shared passes, stops, and what is degenerate.

use std::borrow::Cow;
use std::cell::Cell;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::contract::in_pool;
use crate::cross_validation::{Data, PREPARATIONS, near, options};
use crate::planted::{Design, defaults, finish, image, k_sparse};
use katoms::Fit;
use katoms::driver::{Options, Run};
use katoms::loss::{Logistic, Split};
use katoms::method::{AcceleratedIht, refit_on};
use katoms::operator::{ColumnMoments, Counted, Dense, LinearOperator, Moments, Parts};
use katoms::select::{Choice, CrossValidation, Folds, Preparation, Stability, Validated, cross_validate, stability};
use katoms::set::{Always, ConstraintSet, CoordinateSet, Groups};
use katoms::space::{IndexSet, Point, SparseVec};

fn equal_groups(dim: usize, size: usize) -> Groups {
    Groups::new(1, dim, (0..dim / size).map(|g| (g * size..(g + 1) * size).collect()).collect()).unwrap()
}

/// What is validated: a loss with its weights, atoms, folds.
struct Case<'a, L, S> {
    loss: &'a L,
    weights: &'a [f64],
    set: &'a S,
    folds: &'a Folds,
    options: CrossValidation,
}

impl<L: Split, S: CoordinateSet> Case<'_, L, S> {
    fn validated(&self, design: &(impl Design + ColumnMoments)) -> Validated {
        cross_validate(design, self.loss, self.set, self.folds, &self.options).unwrap()
    }

    fn preparation(&self, rows: &[usize], ridge: f64) -> Preparation {
        let share = rows.iter().map(|&i| self.weights[i]).sum::<f64>() / self.weights.iter().sum::<f64>();
        Preparation { standardize: self.options.standardize, intercept: self.options.intercept, ridge: ridge * share }
    }

    /// A run on some rows: coefficients, intercept, passes.
    fn one_fit(
        &self,
        design: &(impl Design + ColumnMoments),
        rows: &[usize],
        choice: Choice,
    ) -> (SparseVec, f64, usize) {
        let preparation = self.preparation(rows, choice.ridge);
        let f = preparation.objective(design, self.loss, rows.to_vec()).unwrap();
        let set = preparation.set(&self.set.with_atoms(choice.atoms).unwrap(), self.loss).unwrap();
        let method = AcceleratedIht::for_structure(set.structure());
        let mut run = Run::new(&f, &set, &method, Options::for_set(&set)).unwrap();
        finish(&mut run);
        let outcome = run.outcome_unchecked();
        let (coefficients, intercepts) = f.operator().to_original(&outcome.point);
        (coefficients, intercepts[0], outcome.passes)
    }

    /// Every fold, ridge and size by a fit of its own: held-out losses and whole models.
    fn is_one_by_one(&self, design: &(impl Design + ColumnMoments)) {
        let validated = self.validated(design);
        let all: Vec<usize> = (0..design.n_outputs()).collect();
        for (score, model) in validated.scores.iter().zip(&validated.models) {
            for fold in 0..self.folds.count() {
                let held_out = self.folds.held_out(fold);
                let (coefficients, intercept, _) = self.one_fit(design, &self.folds.training(fold), score.choice);
                let out = image(design, &coefficients);
                let predicted: Vec<f64> = held_out.iter().map(|&i| out[i] + intercept).collect();
                let weight: f64 = held_out.iter().map(|&i| self.weights[i]).sum();
                let expected = self.loss.subset(&held_out).unwrap().value(&predicted) / weight;
                near(score.folds[fold], expected, 1e-9, &format!("{:?}, fold {fold}", score.choice));
            }
            let (coefficients, intercept, _) = self.one_fit(design, &all, score.choice);
            assert_eq!(model.coefficients.indices(), coefficients.indices());
            let pairs = model.coefficients.values().iter().zip(coefficients.values());
            pairs.for_each(|(found, expected)| near(*found, *expected, 1e-8, "coefficient"));
            assert!((model.intercept() - intercept).abs() < 1e-8 * (1.0 + intercept.abs()));
        }
    }

    /// The objective of every fold's model, which is a minimum over its atoms, beside that of a run.
    fn values_beside_runs(&self, design: &(impl Design + ColumnMoments)) -> Vec<(f64, f64)> {
        let mut values = Vec::new();
        for score in &self.validated(design).scores {
            for (fold, model) in score.models.iter().enumerate() {
                let rows = self.folds.training(fold);
                let preparation = self.preparation(&rows, score.choice.ridge);
                let f = preparation.objective(design, self.loss, rows.clone()).unwrap();
                let value = |coefficients: &SparseVec, intercept: f64| {
                    let x = f.operator().from_original(coefficients, &[intercept]).unwrap();
                    (f.value(&f.at(x.clone())), x)
                };
                let (here, x) = value(&model.coefficients, model.intercept());
                let support = x.support();
                let minimum = f.value(&refit_on(&f, f.at(x), &support));
                assert!(here < minimum * (1.0 + 1e-9), "{here} {minimum}");
                let (coefficients, intercept, _) = self.one_fit(design, &rows, score.choice);
                values.push((here, value(&coefficients, intercept).0));
            }
        }
        values
    }
}

#[test]
fn classes_are_validated_as_by_fits_one_by_one() {
    let data = Data::new(70, 12, 13).weighted();
    let folds = &Folds::random(70, 3, 13).unwrap();
    let loss = data.classes(13);
    let weighted = loss.clone().weighted(data.weights.clone()).unwrap();
    let whole = Watched::without_columns(&data);
    for (standardize, intercept) in PREPARATIONS {
        let options = CrossValidation { standardize, intercept, ..options([1, 3], &[0.2, 2.0]) };
        let set = &k_sparse(1, 12);
        Case { loss: &loss, weights: &[1.0; 70], set, folds, options: options.clone() }.is_one_by_one(&whole);
        let set = &equal_groups(12, 2);
        Case { loss: &weighted, weights: &data.weights, set, folds, options }.is_one_by_one(&whole);
    }
}

/// Where single columns can be had, classes are validated within a working set: by models that are minima over their
/// atoms, and no worse than those of runs.
#[test]
fn models_of_classes_are_no_worse_than_those_of_runs() {
    let (mut better, mut worse) = (0, 0);
    for seed in 0..2 {
        let data = Data::new(70, 40, seed).weighted();
        let (loss, weights) = (&data.classes(seed).weighted(data.weights.clone()).unwrap(), &data.weights[..]);
        let folds = &Folds::random(70, 3, seed).unwrap();
        for (standardize, intercept) in PREPARATIONS {
            let options = CrossValidation { standardize, intercept, ..options([1, 3, 6], &[0.2, 2.0]) };
            let (set, groups) = (&k_sparse(1, 40), &equal_groups(40, 2));
            let atoms = Case { loss, weights, set, folds, options: options.clone() };
            let groups = Case { loss, weights, set: groups, folds, options };
            for (here, run) in
                [atoms.values_beside_runs(&data.dense()), groups.values_beside_runs(&data.dense())].concat()
            {
                assert!(here < 1.05 * run, "{here} beside {run}");
                better += usize::from(here < run * (1.0 - 1e-6));
                worse += usize::from(here > run * (1.0 + 1e-6));
            }
        }
    }
    assert!(better > 4 * worse, "{better} {worse}");
}

/// Counts every read of the data, those for moments included.
struct Watched<'a> {
    counted: Counted<Dense<'a, f64>>,
    data: Dense<'a, f64>,
    moments: AtomicUsize,
    cheap: bool,
}

impl<'a> Watched<'a> {
    fn new(data: &'a Data) -> Self {
        Self { counted: Counted::new(data.dense()), data: data.dense(), moments: AtomicUsize::new(0), cheap: true }
    }

    /// As an operator that knows no single columns.
    fn without_columns(data: &'a Data) -> Self {
        Self { cheap: false, ..Self::new(data) }
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
    fn squared_norms(&self, weights: &[&[f64]], centres: Option<&[f64]>) -> Option<Vec<Vec<f64>>> {
        if self.cheap { self.counted.squared_norms(weights, centres) } else { None }
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

/// The model without atoms is there where nobody asked for it, is the same where somebody did, and reads no more than
/// what is always in.
#[test]
fn the_model_without_atoms_is_always_there() {
    let data = Data::new(44, 15, 4).weighted();
    let folds = Folds::random(44, 4, 4).unwrap();
    let (plain, kept) = (k_sparse(1, 15), Always::new(k_sparse(1, 15), vec![0, 4]).unwrap());
    let design = Watched::new(&data);
    let alone = cross_validate(&design, &data.loss(), &plain, &folds, &CrossValidation::new([0])).unwrap();
    assert_eq!((design.reads(), alone.passes, alone.complete), (0, 0, true));
    assert_eq!((alone.min().atoms, &alone.scores[0]), (0, &alone.null));
    let [without, with] = [vec![1, 2], vec![0, 1, 2]]
        .map(|sizes| cross_validate(&data.dense(), &data.loss(), &kept, &folds, &CrossValidation::new(sizes)).unwrap());
    assert_eq!(without.null, with.scores[0]);
    assert_eq!(without.scores, with.scores[1..]);
    assert_eq!(with.models[0].coefficients.indices(), [0, 4]);
    assert!(with.null.mean < alone.null.mean);
}

#[test]
fn every_pass_serves_all_folds_and_ridges() {
    let data = Data::new(80, 60, 14);
    let design = Watched::new(&data);
    let (folds, set) = (Folds::random(80, 5, 14).unwrap(), k_sparse(1, 60));
    let options = options(1..=10, &[0.0, 0.5, 5.0]);
    let mut apart = 0;
    for &ridge in &options.ridges {
        for fold in 0..5 {
            let preparation = Preparation { ridge: ridge * 0.8, ..Preparation::default() };
            let f = preparation.objective(&design, &data.loss(), folds.training(fold)).unwrap();
            Fit::new(&f, &preparation.set(&set, f.loss()).unwrap()).path(1..=10).unwrap();
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
    let loss = &data.classes(15);
    let folds = &Folds::stratified(loss.classes().unwrap(), 4, 15).unwrap();
    let options = options([1, 2, 4], &[0.1, 1.0]);
    let case = Case { loss, weights: &[1.0; 70], set: &k_sparse(1, 30), folds, options };
    for design in [Watched::new(&data), Watched::without_columns(&data)] {
        let validated = case.validated(&design);
        let reads = design.reads();
        assert_eq!(validated.passes, reads);
        if design.cheap {
            // All samples standardised from four reads, and one looks at all atoms.
            assert_eq!(reads, 5);
            continue;
        }
        let sides: Vec<Vec<usize>> = (0..4).map(|fold| folds.training(fold)).chain([(0..70).collect()]).collect();
        let fits = sides.iter().flat_map(|rows| validated.scores.iter().map(move |score| (rows, score.choice)));
        let passes: Vec<usize> = fits.map(|(rows, choice)| case.one_fit(&design, rows, choice).2).collect();
        let longest = passes.iter().copied().max().unwrap();
        assert_eq!(reads, longest + 2 * sides.len(), "{passes:?}");
        assert!(longest > passes.iter().copied().min().unwrap());
    }
}

/// Fifty half-samples, and not a hundred reads before their fits begin.
#[test]
fn half_samples_are_standardised_from_four_reads() {
    let data = Data::new(80, 30, 22);
    let of = |design: Watched<'_>, standardize: bool| {
        let options = Stability { standardize, ..Stability::default() };
        let selected = stability(&design, &data.loss(), &k_sparse(3, 30), &defaults(), &options).unwrap();
        assert_eq!(selected.samples, 50);
        design.reads() - selected.passes
    };
    assert_eq!((of(Watched::new(&data), true), of(Watched::new(&data), false)), (4, 0));
    assert!(of(Watched::without_columns(&data), true) >= 100);
}

/// A poll that stops at its n-th call, and the number of calls.
fn stop_after(rounds: &Cell<usize>, most: usize) -> impl FnMut(usize) -> ControlFlow<()> {
    rounds.set(0);
    move |_| {
        rounds.set(rounds.get() + 1);
        if rounds.get() == most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

#[test]
fn a_validation_that_is_stopped_keeps_the_sizes_that_it_has() {
    let data = Data::new(60, 12, 3);
    let (folds, set, rounds) = (Folds::random(60, 4, 0).unwrap(), k_sparse(1, 12), Cell::new(0));
    let (options, loss) = (CrossValidation::new(1..=10), data.classes(1));
    let stopped = options.poll(&mut stop_after(&rounds, 1)).run(&data.dense(), &data.loss(), &set, &folds).unwrap();
    assert!(!stopped.complete && (1..10).contains(&stopped.scores.len()), "{}", stopped.scores.len());
    assert_eq!((stopped.models.len(), stopped.scores[0].folds.len()), (stopped.scores.len(), 4));
    // the same for classes
    let stopped = options.poll(&mut stop_after(&rounds, 2)).run(&data.dense(), &loss, &set, &folds).unwrap();
    assert_eq!((stopped.complete, stopped.scores.len(), rounds.get()), (false, 2, 2));
    assert!(stopped.scores.iter().all(|score| score.mean.is_finite()));
    // and where runs of a method do the work: sizes of which not all have ended are left out
    let whole = Watched::without_columns(&data);
    let scores = [1, 2, usize::MAX].map(|most| {
        let found = options.poll(&mut stop_after(&rounds, most)).run(&whole, &loss, &set, &folds).unwrap();
        assert_eq!(found.complete, most == usize::MAX);
        found.scores.len()
    });
    assert!(scores[0] == 1 && scores[1] < 10 && scores[2] == 10, "{scores:?}");
}

/// The last round may be stopped: the models of the one before remain.
#[test]
fn a_wide_validation_that_is_stopped_late_has_every_size() {
    let data = Data::new(60, 1500, 3);
    let (folds, options) = (Folds::random(60, 4, 0).unwrap(), CrossValidation::new(1..=10));
    let stopped_at = |last: usize| {
        let mut poll = |done| if done < last { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
        let stopped = options.poll(&mut poll).run(&data.dense(), &data.loss(), &k_sparse(1, 1500), &folds).unwrap();
        assert!(!stopped.complete && stopped.scores.len() == stopped.models.len());
        stopped.scores.len()
    };
    assert_eq!((stopped_at(4), stopped_at(8)), (10, 10));
    assert!((1..10).contains(&stopped_at(1)));
}

fn all_finite(validated: &Validated) {
    for score in &validated.scores {
        assert!(score.folds.iter().chain([&score.mean, &score.error]).all(|v| v.is_finite()), "{score:?}");
    }
    let values = validated.models.iter().flat_map(|m| m.coefficients.values().iter().chain(&m.intercepts));
    assert!(values.into_iter().all(|v| v.is_finite()));
}

/// The model takes what it can, by atoms, by groups and by runs; also where classes can be told apart.
#[test]
fn more_atoms_than_rows_leave_every_score_finite() {
    let (set, groups) = (k_sparse(1, 20), equal_groups(20, 2));
    for (rows, count) in [(9, 3), (9, 9), (6, 2), (2, 2), (3, 3)] {
        let data = Data::new(rows, 20, 19);
        let folds = Folds::random(rows, count, 19).unwrap();
        for (standardize, intercept) in PREPARATIONS {
            let options = CrossValidation { standardize, intercept, ..options([1, 5, 9], &[0.0, 0.1]) };
            let validated = [
                cross_validate(&data.dense(), &data.loss(), &set, &folds, &options),
                cross_validate(&data.dense(), &data.loss(), &groups, &folds, &options),
                cross_validate(&Watched::without_columns(&data), &data.loss(), &set, &folds, &options),
            ];
            for validated in validated.map(Result::unwrap) {
                assert!(validated.models.len() == 6 && validated.scores.iter().all(|s| s.folds.len() == count));
                all_finite(&validated);
            }
        }
    }
    let data = Data::new(12, 20, 20);
    let loss = Logistic::new((0..12).map(|i| f64::from(u8::from(i % 2 == 0))).collect::<Vec<_>>()).unwrap();
    let folds = Folds::stratified(loss.classes().unwrap(), 3, 20).unwrap();
    for (standardize, intercept) in PREPARATIONS {
        let options = CrossValidation { standardize, intercept, ..options([1, 12], &[0.0, 0.1]) };
        all_finite(&cross_validate(&data.dense(), &loss, &set, &folds, &options).unwrap());
    }
}

#[test]
fn threads_do_not_show_and_neither_does_another_run() {
    let data = Data::new(60, 40, 21);
    let (folds, set, groups) = (Folds::random(60, 4, 21).unwrap(), k_sparse(1, 40), equal_groups(40, 4));
    let options = options(1..=5, &[0.1, 1.0]);
    let all = |threads| {
        in_pool(threads, || {
            [
                cross_validate(&data.dense(), &data.loss(), &set, &folds, &options),
                cross_validate(&data.dense(), &data.loss(), &groups, &folds, &options),
                cross_validate(&data.dense(), &data.classes(21), &set, &folds, &options),
            ]
            .map(|validated| validated.map(|v| format!("{:?}", (v.scores, v.models, v.passes))))
        })
    };
    let one = all(1);
    assert_eq!(one, all(2));
    assert_eq!(one, all(1));
}
