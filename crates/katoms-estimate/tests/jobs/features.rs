//! Features that predict a target: ranges of sizes, starts, bounds.

use katoms::loss::{AnyLoss, LeastSquares, Logistic, Loss, Split};
use katoms::operator::{AnyDesign, Dense, LinearOperator};
use katoms::select::{Bounds, Criterion, Folds, Preparation};
use katoms::set::{AnyAtoms, KSparse};
use katoms::simulate::{autoregressive, generator, labels, noisy, normals, sparse_signal};
use katoms::space::SparseVec;
use katoms::{Error, Status};
use katoms_estimate::{Answer, Edge, Features, FitOptions, Progress, Unwatched, Watch};

const ROWS: usize = 60;
const COLUMNS: usize = 20;

/// Correlated columns in uneven units, some of them far from 0.
fn columns() -> Vec<f64> {
    let mut data = autoregressive(ROWS, COLUMNS, 0.5, 3);
    for (j, column) in data.chunks_mut(ROWS).enumerate() {
        column.iter_mut().for_each(|v| *v = (*v + 2.0) * 10_f64.powi((j % 3) as i32 - 1));
    }
    data
}

/// A linear function of five columns, five above 0.
fn clean(design: &AnyDesign<'_>) -> Vec<f64> {
    let signal = sparse_signal(COLUMNS, 5, 3).map(|j, v| v / 10_f64.powi((j % 3) as i32 - 1));
    let mut z = vec![0.0; ROWS];
    design.apply(&signal, &mut z);
    z.iter().map(|z| z + 5.0).collect()
}

fn losses(design: &AnyDesign<'_>) -> [AnyLoss; 2] {
    let clean = clean(design);
    let middle = clean.iter().sum::<f64>() / ROWS as f64;
    let centred: Vec<f64> = clean.iter().map(|z| z - middle).collect();
    [LeastSquares::new(noisy(&clean, 1.0, 3)).unwrap().into(), Logistic::new(labels(&centred, 3)).unwrap().into()]
}

fn dense(data: &[f64], rows: usize) -> AnyDesign<'_> {
    Dense::column_major(data, rows, data.len() / rows).unwrap().into()
}

fn features<'a>(design: &'a AnyDesign<'a>, loss: AnyLoss, preparation: Preparation) -> Features<'a> {
    let atoms = AnyAtoms::Coordinates(KSparse::new(1, design.domain()).unwrap());
    Features::new(design, loss, atoms, Vec::new(), preparation).unwrap()
}

#[test]
fn what_a_criterion_can_be_trusted_with_counts_observations() {
    let data = columns();
    let design = dense(&data, ROWS);
    let trusted = |loss: LeastSquares| features(&design, loss.into(), Preparation::default()).trusted_size();
    let plain = LeastSquares::new(noisy(&clean(&design), 1.0, 3)).unwrap();
    // 60/(ln ln 60 · ln 20) = 14.2 for 60 rows of 20 columns
    assert_eq!(trusted(plain.clone()), 14);
    // what the weights count; precisions count rows
    let halves: Vec<f64> = (0..ROWS).map(|i| (i % 2) as f64).collect();
    assert_eq!(trusted(plain.clone().weighted(halves).unwrap()), 8);
    let (counts, precise) = (vec![3.0; ROWS], vec![0.01; ROWS]);
    assert_eq!(trusted(plain.clone().weighted(counts).unwrap()), 20);
    assert_eq!(trusted(plain.weighted(precise).unwrap()), 14);
    let few = dense(&data[..2 * COLUMNS], 2);
    let loss = LeastSquares::new(vec![1.0, 2.0]).unwrap();
    assert_eq!(features(&few, loss.into(), Preparation::default()).trusted_size(), 1);
}

/// Independent columns of variance 1, and these multiples of the first of them with noise of this deviation.
fn summed(rows: usize, columns: usize, weights: &[f64], deviation: f64, seed: u64) -> (Vec<f64>, LeastSquares) {
    let data = normals(rows * columns, &mut generator(seed, 0));
    let clean: Vec<f64> =
        (0..rows).map(|i| weights.iter().enumerate().map(|(j, w)| w * data[j * rows + i]).sum()).collect();
    (data, LeastSquares::new(noisy(&clean, deviation, seed)).unwrap())
}

/// Without sizes a criterion begins with no feature, goes on where it prefers larger models, and ends where it cannot be
/// trusted; rows held out go on while they are predicted better.
#[test]
fn a_range_that_nobody_gave_goes_on_while_it_pays() {
    // 1000/(ln ln 1000 · ln 300) = 90
    let (data, loss) = summed(1000, 300, &[1.0; 40], 1.0, 1);
    let design = dense(&data, 1000);
    let wide = features(&design, loss.into(), Preparation::default());
    let path = wide.path(None, Criterion::EBIC, &mut Unwatched).unwrap();
    let sizes = path.sizes();
    assert_eq!((path.best[2], sizes[0], sizes[sizes.len() - 1], wide.trusted_size()), (40, 0, 60, 90));
    assert!(sizes.contains(&40) && !sizes.contains(&41), "{sizes:?}");
    // where the first range will do, there is no other
    let (data, loss) = summed(1000, 300, &[1.0; 5], 1.0, 1);
    let design = dense(&data, 1000);
    let few = features(&design, loss.into(), Preparation::default());
    let mut expected = Expected(Vec::new());
    let path = few.path(None, Criterion::EBIC, &mut expected).unwrap();
    assert_eq!((path.best[2], path.sizes()), (5, (0..=30).collect::<Vec<_>>()));
    assert_eq!(expected.0, [31]);
    // 12 features that matter less and less in 50 rows: a criterion can be trusted with 6
    let weights: Vec<f64> = (0..12).map(|j| 5.0 * 0.7_f64.powi(j)).collect();
    let (data, loss) = summed(50, 200, &weights, 0.02, 3);
    let design = dense(&data, 50);
    let short = features(&design, loss.into(), Preparation::default());
    let path = short.path(None, Criterion::EBIC, &mut Unwatched).unwrap();
    assert_eq!((path.sizes().len(), path.best[2]), (7, 6));
    assert_eq!(short.edge_of_criterion(&path.sizes(), 6), Some(Edge { tried: 6, further: 12, trusted: Some(6) }));
    let folds = Folds::random(50, 5, 0).unwrap();
    let validated = short.cross_validate(None, Some(&[0.0]), &folds, &mut Unwatched).unwrap();
    let sizes: Vec<usize> = validated.scores.iter().map(|score| score.choice.atoms).collect();
    let (min, last) = (validated.min().atoms, sizes[sizes.len() - 1]);
    assert!(sizes[0] == 0 && last > 6 && last <= 38 && (4 * min <= 3 * last || last == 38), "{min} {sizes:?}");
    assert!((8..=16).contains(&min), "{min}");
}

struct Expected(Vec<usize>);

impl Watch for Expected {
    fn tell(&mut self, _: &Progress<'_>) -> Answer {
        Answer::GoOn
    }
    fn expect(&mut self, pieces: usize) {
        self.0.push(pieces);
    }
}

#[test]
fn a_choice_at_the_edge_is_found() {
    let (data, loss) = summed(60, 20, &[1.0; 3], 1.0, 1);
    let design = dense(&data, 60);
    let features = features(&design, loss.into(), Preparation::default());
    let edge = |tried, further, trusted| Some(Edge { tried, further, trusted });
    assert_eq!(features.edge(&[0, 1, 2, 3], 3), edge(3, 6, None));
    assert_eq!(features.edge(&[0, 1, 2, 3], 2), None);
    assert_eq!(features.edge(&[3], 3), None, "there was no choice");
    assert_eq!(features.edge(&(0..=20).collect::<Vec<_>>(), 20), None, "there are no more");
    assert_eq!(features.edge(&[0, 12], 12), edge(12, 20, None));
    assert_eq!(features.edge_of_criterion(&[0, 12], 12), edge(12, 14, None));
    assert_eq!(features.edge_of_criterion(&[0, 14], 14), edge(14, 20, Some(14)));
}

#[test]
fn no_feature_is_a_choice_too() {
    for (rows, columns) in [(100, 50), (200, 300)] {
        let mut chosen = Vec::new();
        for seed in 0..10 {
            let (data, loss) = summed(rows, columns, &[], 1.0, seed);
            let design = dense(&data, rows);
            let features = features(&design, loss.into(), Preparation::default());
            let path = features.path(None, Criterion::EBIC, &mut Unwatched).unwrap();
            assert!(path.models[0].atoms == 0 && (path.models[0].loss / path.null_loss - 1.0).abs() < 1e-12);
            chosen.push(path.best[2]);
        }
        assert!(chosen.iter().filter(|&&k| k > 0).count() <= 1, "{chosen:?}");
    }
    let data = columns();
    let design = dense(&data, ROWS);
    for loss in losses(&design) {
        let atoms = AnyAtoms::Coordinates(KSparse::new(1, COLUMNS).unwrap());
        let always = Features::new(&design, loss.clone(), atoms, vec![2, 7], Preparation::default()).unwrap();
        let none = always.fit(0, &FitOptions::default(), &mut Unwatched).unwrap();
        assert_eq!((none.coefficients().indices(), none.chosen.len()), (&[2, 7][..], 0));
        assert_eq!((none.outcome.status, none.outcome.quality.is_none()), (Status::Converged, true));
        let one = always.fit(1, &FitOptions::default(), &mut Unwatched).unwrap();
        assert!(one.outcome.objective < none.outcome.objective && none.outcome.objective < none.null_loss);
        let named = FitOptions { method: Some("omp".into()), ..FitOptions::default() };
        assert_eq!(always.fit(0, &named, &mut Unwatched).unwrap().coefficients(), none.coefficients());
        let resumed = FitOptions { resume: Some(vec![1]), ..FitOptions::default() };
        assert!(always.fit(0, &resumed, &mut Unwatched).unwrap_err().to_string().contains("leave the state out"));
        let bounds = Bounds::new(vec![0.0; COLUMNS], vec![1e-3; COLUMNS]).unwrap();
        let boxed = always.with_bounds(bounds.clone()).unwrap().fit(0, &FitOptions::default(), &mut Unwatched).unwrap();
        assert!(bounds.contain(boxed.coefficients()) && boxed.outcome.objective > none.outcome.objective);
        // a path that was not asked for it has it beside the others
        let plain = features(&design, loss, Preparation::default());
        let path = plain.path(Some(&[1, 2]), Criterion::EBIC, &mut Unwatched).unwrap();
        assert_eq!((path.sizes(), path.null.atoms), (vec![1, 2], 0));
        assert!(path.best.iter().all(|&k| k > 0) && (path.null.loss - path.null_loss).abs() < 1e-9 * path.null_loss);
    }
}

/// What is said of a cross-validation: the models of its folds come from a faster search than a fit, which finds better
/// ones of the same rows here and there, and never a worse one.
#[test]
fn a_fit_may_be_better_than_the_model_of_a_fold() {
    let (mut better, mut worse, mut all) = (0, 0, 0);
    for seed in 0..6 {
        let (rows, columns) = (60, 80);
        let data = autoregressive(rows, columns, 0.9, seed);
        let whole = dense(&data, rows);
        let mut clean = vec![0.0; rows];
        whole.apply(&sparse_signal(columns, 8, seed), &mut clean);
        let labels = Logistic::new(labels(&clean, seed)).unwrap();
        let target = noisy(&clean, 0.5, seed);
        let folds = Folds::random(rows, 4, seed).unwrap();
        for loss in [AnyLoss::from(LeastSquares::new(target).unwrap()), labels.into()] {
            let preparation = Preparation { ridge: 0.5, ..Preparation::default() };
            let job = features(&whole, loss.clone(), preparation);
            let validated = job.cross_validate(Some(&[4, 8]), Some(&[0.5]), &folds, &mut Unwatched).unwrap();
            for (fold, score) in (0..4).flat_map(|fold| validated.scores.iter().map(move |score| (fold, score))) {
                let training = folds.training(fold);
                let part: Vec<f64> = data.chunks(rows).flat_map(|column| training.iter().map(|&i| column[i])).collect();
                let design = dense(&part, training.len());
                let share = Preparation { ridge: 0.5 * training.len() as f64 / rows as f64, ..preparation };
                let rest = features(&design, loss.subset(&training).unwrap(), share);
                let fitted = rest.fit(score.choice.atoms, &FitOptions::default(), &mut Unwatched).unwrap();
                let model = &score.models[fold];
                let start = Some((model.coefficients.clone(), model.intercepts.clone()));
                // what the fold has, refitted: one run from there, which may not leave it for a worse one
                let kept = FitOptions { method: Some("accelerated-iht".into()), start, ..FitOptions::default() };
                let kept = rest.fit(score.choice.atoms, &kept, &mut Unwatched).unwrap();
                better += usize::from(fitted.outcome.objective < kept.outcome.objective * (1.0 - 1e-6));
                worse += usize::from(fitted.outcome.objective > kept.outcome.objective * (1.0 + 1e-6));
                all += 1;
            }
        }
    }
    println!("of {all} models of folds a fit is better than {better}, and worse than {worse}");
    assert!(better > 0 && worse <= better / 4, "{better} {worse} {all}");
}

#[test]
fn a_start_at_the_answer_is_the_answer() {
    let data = columns();
    let design = dense(&data, ROWS);
    for loss in losses(&design) {
        for intercept in [true, false] {
            let features = features(&design, loss.clone(), Preparation { intercept, ..Preparation::default() });
            let cold = features.fit(5, &FitOptions::default(), &mut Unwatched).unwrap();
            let start = Some((cold.coefficients().clone(), cold.intercepts.clone()));
            let warm = features.fit(5, &FitOptions { start, ..FitOptions::default() }, &mut Unwatched).unwrap();
            assert_eq!(warm.coefficients().indices(), cold.coefficients().indices());
            assert!((warm.outcome.objective - cold.outcome.objective).abs() <= 1e-9 * cold.outcome.objective);
            assert!(
                warm.outcome.iterations <= cold.outcome.iterations,
                "{} {}",
                warm.outcome.iterations,
                cold.outcome.iterations
            );
        }
    }
}

#[test]
fn starts_that_do_not_fit_are_named() {
    let data = columns();
    let design = dense(&data, ROWS);
    let [squares, _] = losses(&design);
    let features = features(&design, squares, Preparation::default());
    let told = |how: FitOptions| features.fit(3, &how, &mut Unwatched).unwrap_err().to_string();
    let short = FitOptions { start: Some((SparseVec::full(&[1.0, 2.0]), vec![0.0])), ..FitOptions::default() };
    assert_eq!(told(short), "start has length 2, but 20 is needed (one coefficient for each column of the design)");
    let endless =
        FitOptions { start: Some((SparseVec::full(&[1.0; COLUMNS]), vec![f64::INFINITY])), ..FitOptions::default() };
    assert!(told(endless).contains("intercept of the start is inf; it must be finite"));
    let both = FitOptions {
        start: Some((SparseVec::full(&[1.0; COLUMNS]), vec![0.0])),
        resume: Some(vec![1]),
        ..FitOptions::default()
    };
    assert!(told(both).contains("leave out either the start or the saved state"));
}

/// Bounds are in the units of the data, whatever the fit does to the columns.
#[test]
fn every_coefficient_lies_within_its_bounds() {
    let data = columns();
    let design = dense(&data, ROWS);
    let folds = Folds::random(ROWS, 4, 1).unwrap();
    let upper: Vec<f64> = (0..COLUMNS).map(|j| 0.3 / 10_f64.powi((j % 3) as i32 - 1)).collect();
    let bounds = Bounds::new(upper.iter().map(|v| -v).collect::<Vec<_>>(), upper.clone()).unwrap();
    for loss in losses(&design) {
        let mut objectives = Vec::new();
        for (standardize, intercept) in [(true, true), (false, true), (true, false)] {
            let preparation = Preparation { standardize, intercept, ridge: 0.0 };
            let free = features(&design, loss.clone(), preparation);
            let boxed = features(&design, loss.clone(), preparation).with_bounds(bounds.clone()).unwrap();
            let (there, here) = (
                free.fit(4, &FitOptions::default(), &mut Unwatched).unwrap(),
                boxed.fit(4, &FitOptions::default(), &mut Unwatched).unwrap(),
            );
            assert!(bounds.contain(here.coefficients()) && !bounds.contain(there.coefficients()));
            assert!(here.coefficients().entries().any(|(j, v)| v.abs() == upper[j]), "{:?}", here.coefficients());
            assert!(here.outcome.objective > there.outcome.objective && here.outcome.status == Status::Converged);
            assert!(here.chosen.len() <= 4 && here.outcome.quality.is_some());
            assert!((here.loss - here.outcome.objective).abs() < 1e-9 * here.loss);
            objectives.push(here.outcome.objective);
            let path = boxed.path(Some(&[1, 2, 4]), Criterion::EBIC, &mut Unwatched).unwrap();
            assert!(path.complete && path.models.iter().all(|model| bounds.contain(&model.coefficients)));
            assert!((path.models[2].objective - here.outcome.objective).abs() < 1e-6 * here.outcome.objective);
            let validated = boxed.cross_validate(Some(&[1, 4]), Some(&[0.0]), &folds, &mut Unwatched).unwrap();
            assert!(validated.complete && validated.models.iter().all(|model| bounds.contain(&model.coefficients)));
            assert!((validated.models[1].loss - here.loss).abs() < 1e-6 * here.loss);
        }
        // Without a ridge, units decide nothing.
        assert!((objectives[0] - objectives[1]).abs() < 1e-8 * objectives[0], "{objectives:?}");
    }
}

#[test]
fn bounds_that_are_wide_change_nothing() {
    let data = columns();
    let design = dense(&data, ROWS);
    let wide = Bounds::new(vec![-1e9; COLUMNS], vec![1e9; COLUMNS]).unwrap();
    for loss in losses(&design) {
        let preparation = Preparation { ridge: 0.5, ..Preparation::default() };
        let free = features(&design, loss.clone(), preparation).fit(4, &FitOptions::default(), &mut Unwatched).unwrap();
        let boxed = features(&design, loss, preparation).with_bounds(wide.clone()).unwrap();
        let boxed = boxed.fit(4, &FitOptions::default(), &mut Unwatched).unwrap();
        assert!((free.outcome.objective - boxed.outcome.objective).abs() < 1e-8 * free.outcome.objective);
        assert_eq!(free.chosen, boxed.chosen);
    }
}

#[test]
fn what_does_not_go_with_bounds_is_named() {
    let data = columns();
    let design = dense(&data, ROWS);
    let [squares, _] = losses(&design);
    let make = || features(&design, squares.clone(), Preparation::default());
    let error = make().with_bounds(Bounds::nonnegative(3).unwrap()).unwrap_err();
    assert!(error.to_string().contains("has length 3, but 20 is needed"), "{error}");
    let boxed = make().with_bounds(Bounds::nonnegative(COLUMNS).unwrap()).unwrap();
    let told = |how: FitOptions| boxed.fit(3, &how, &mut Unwatched).unwrap_err().to_string();
    assert!(told(FitOptions { method: Some("omp".into()), ..FitOptions::default() }).contains("leave the method out"));
    assert!(
        told(FitOptions { resume: Some(vec![1]), ..FitOptions::default() }).contains("leave it out, or the bounds")
    );
    assert!(matches!(boxed.stability(3, 4, 0), Err(Error::Unsuitable { .. })));
    // A start goes with bounds, and so does a watch that has seen enough.
    let free = make().fit(3, &FitOptions::default(), &mut Unwatched).unwrap();
    let start =
        FitOptions { start: Some((free.coefficients().clone(), free.intercepts.clone())), ..FitOptions::default() };
    let cold = boxed.fit(3, &FitOptions::default(), &mut Unwatched).unwrap();
    let warm = boxed.fit(3, &start, &mut Unwatched).unwrap();
    assert!(warm.outcome.objective <= cold.outcome.objective * (1.0 + 1e-12));
    let stopped = boxed.fit(3, &FitOptions::default(), &mut |_: &Progress<'_>| Answer::Stop).unwrap();
    assert_eq!((stopped.outcome.status, stopped.outcome.iterations), (Status::Stopped, 1));
}

#[test]
fn a_column_that_does_not_vary_predicts_nothing_beside_an_intercept() {
    let (rows, mut data) = (ROWS, columns());
    data[..rows].fill(3.7);
    let design = dense(&data, rows);
    let every = design.domain();
    for loss in losses(&design) {
        for standardize in [true, false] {
            let prepared =
                |intercept| features(&design, loss.clone(), Preparation { standardize, intercept, ridge: 0.1 });
            let with_intercept = prepared(true);
            let found = with_intercept.fit(every, &FitOptions::default(), &mut Unwatched).unwrap();
            assert!(!found.chosen.contains(&0) && found.coefficients().value_at(0) == 0.0, "{:?}", found.chosen);
            let value = loss.value(&with_intercept.predictions(found.coefficients(), &found.intercepts));
            assert!((value - found.loss).abs() <= 1e-12 * found.loss, "{value} {}", found.loss);
            let path = with_intercept.path(Some(&[every]), Criterion::Bic, &mut Unwatched).unwrap();
            assert_eq!(path.models[0].chosen, found.chosen);
            let without = prepared(false).fit(every, &FitOptions::default(), &mut Unwatched).unwrap();
            assert!(without.chosen.contains(&0), "without an intercept it stands for one");
        }
    }
}

/// The Lasso, FISTA and Frank–Wolfe by name: the penalty, or the radius, is that of at most k features unless it is given.
#[test]
fn convex_methods_run_once_by_their_names() {
    let data = columns();
    let design = dense(&data, ROWS);
    let named = |name: &str| FitOptions { method: Some(name.into()), ..FitOptions::default() };
    for loss in losses(&design) {
        let features = features(&design, loss, Preparation::default());
        let search = features.fit(4, &FitOptions::default(), &mut Unwatched).unwrap();
        let lasso = features.fit(4, &named("lasso"), &mut Unwatched).unwrap();
        assert!((3..=4).contains(&lasso.chosen.len()) && lasso.outcome.status == Status::Converged);
        assert!(lasso.loss > search.loss && lasso.loss < lasso.null_loss, "shrunken, and not refitted");
        assert!(
            lasso.outcome.quality.is_none()
                && lasso.outcome.trace.last().unwrap().gap.unwrap() <= 1e-6 * lasso.null_loss
        );
        let fista = features.fit(4, &named("fista"), &mut Unwatched).unwrap();
        assert!((fista.outcome.objective / lasso.outcome.objective - 1.0).abs() < 1e-4);
        // A small penalty lets more in, whatever k is.
        let more = features.fit(4, &FitOptions { penalty: Some(1e-3), ..named("lasso") }, &mut Unwatched).unwrap();
        assert!(more.chosen.len() > 4 && more.loss < lasso.loss);
    }
    let [squares, _] = losses(&design);
    let told =
        |features: &Features<'_>, how: &FitOptions| features.fit(4, how, &mut Unwatched).unwrap_err().to_string();
    let with = features(&design, squares.clone(), Preparation::default());
    assert!(told(&with, &named("frank-wolfe")).contains("leave the intercept out"));
    assert!(told(&with, &FitOptions { penalty: Some(1.0), ..named("omp") }).contains("goes with lasso"));
    assert!(told(&with, &FitOptions { penalty: Some(-1.0), ..named("lasso") }).contains("lambda is -1"));
    let without = features(&design, squares, Preparation { intercept: false, ..Preparation::default() });
    let lasso = without.fit(4, &named("lasso"), &mut Unwatched).unwrap();
    let bounded = without.fit(4, &named("pairwise-frank-wolfe"), &mut Unwatched).unwrap();
    assert!((bounded.loss / lasso.loss - 1.0).abs() < 1e-3, "{} {}", bounded.loss, lasso.loss);
    let narrow = without.fit(4, &FitOptions { radius: Some(1e-3), ..named("frank-wolfe") }, &mut Unwatched).unwrap();
    assert!(narrow.loss > bounded.loss);
}
