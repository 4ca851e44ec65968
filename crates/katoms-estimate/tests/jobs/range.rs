//! Numbers near the ends of the range of double precision: a power of two in the target, in a column or in the weights
//! changes the units of an answer and nothing else, or is refused by name.

use katoms::loss::{AnyLoss, Split};
use katoms::operator::{AnyDesign, Csc, Dense, Layout, LinearOperator};
use katoms::select::{Bounds, Criterion, Folds, Preparation};
use katoms::set::{AnyAtoms, KSparse};
use katoms::simulate::{gaussian, generator, labels, noisy, normals, sparse_signal};
use katoms::space::SparseVec;
use katoms::{Error, Status};
use katoms_estimate::{
    Answer, Completion, Estimate, Features, FitOptions, NumberLoss, Observed, Progress, Recovery, Response, Unwatched,
    Values, complete, r_squared, recover,
};

const ROWS: usize = 40;
const COLUMNS: usize = 8;

/// v·2^e, in two steps where one factor would leave the range.
fn power(v: f64, e: i32) -> f64 {
    let half = e / 2;
    v * 2_f64.powi(half) * 2_f64.powi(e - half)
}

fn times(values: &[f64], e: i32) -> Vec<f64> {
    values.iter().map(|&v| power(v, e)).collect()
}

/// Exponents of two from −996 to 996, which is 1e-300 to 1e300; the ends among them.
fn exponents(seed: u64) -> Vec<i32> {
    let draws = normals(6, &mut generator(seed, 40));
    let drawn = draws.iter().map(|v| (v * 500.0) as i32).filter(|e| e.abs() <= 996);
    drawn.chain([-996, 996, -565, 665, -101, 101]).collect()
}

#[derive(Clone)]
struct Data {
    design: Vec<f64>,
    target: Vec<f64>,
    weights: Option<Vec<f64>>,
    logistic: bool,
    preparation: Preparation,
}

impl Data {
    fn new(seed: u64) -> Self {
        let design: Vec<f64> = gaussian(ROWS, COLUMNS, seed).iter().map(|v| v + 0.5).collect();
        let signal = sparse_signal(COLUMNS, 3, seed);
        let mut clean = vec![0.0; ROWS];
        dense(&design).apply(&signal, &mut clean);
        let target = noisy(&clean, 0.3, seed).iter().map(|v| v + 2.0).collect();
        Self { design, target, weights: None, logistic: false, preparation: Preparation::default() }
    }

    fn classes(seed: u64) -> Self {
        let plain = Self::new(seed);
        let centred: Vec<f64> = plain.target.iter().map(|v| 0.5 * (v - 2.0)).collect();
        Self { target: labels(&centred, seed), logistic: true, ..plain }
    }

    fn with_target(&self, e: i32) -> Self {
        Self { target: times(&self.target, e), ..self.clone() }
    }

    fn with_column(&self, j: usize, e: i32) -> Self {
        let mut data = self.clone();
        data.design[j * ROWS..(j + 1) * ROWS].iter_mut().for_each(|v| *v = power(*v, e));
        data
    }

    fn with_weights(&self, e: i32) -> Self {
        let weights = (0..ROWS).map(|i| power([1.0, 0.7, 2.5, 0.3][i % 4], e)).collect();
        Self { weights: Some(weights), ..self.clone() }
    }

    fn with(&self, preparation: Preparation) -> Self {
        Self { preparation, ..self.clone() }
    }

    fn loss(&self) -> AnyLoss {
        let values = match self.logistic {
            true => {
                let labels = self.target.iter().map(|&label| label as usize).collect();
                Values::Classes { labels, count: 2, ordered: false }
            }
            false => Values::Numbers(NumberLoss::Squares, self.target.clone()),
        };
        let response = Response { values, weights: self.weights.clone(), offset: None };
        response.loss().unwrap().loss().clone()
    }

    fn on<T>(&self, job: impl FnOnce(Features<'_>) -> Result<T, Error>) -> Result<T, Error> {
        let design = dense(&self.design);
        let atoms = AnyAtoms::Coordinates(KSparse::new(1, COLUMNS).unwrap());
        job(Features::new(&design, self.loss(), atoms, Vec::new(), self.preparation)?)
    }

    fn fit(&self, k: usize) -> Result<Estimate, Error> {
        self.on(|features| features.fit(k, &FitOptions::default(), &mut Unwatched))
    }
}

fn dense(data: &[f64]) -> AnyDesign<'_> {
    Dense::column_major(data, ROWS, data.len() / ROWS).unwrap().into()
}

/// Whether two models are the same bit for bit, where the units of the target are 2^target times as large, those of
/// column j 2^column(j) times, and the loss weighs 2^weights times as much.
fn check(found: &Estimate, plain: &Estimate, target: i32, column: impl Fn(usize) -> i32, weights: i32) {
    assert_eq!((found.outcome.status, &found.chosen), (plain.outcome.status, &plain.chosen));
    assert_eq!(*found.coefficients(), plain.coefficients().map(|j, v| power(v, target - column(j))));
    assert_eq!(found.standardized, plain.standardized.map(|_, v| power(v, target)));
    assert_eq!(found.intercept(), power(plain.intercept(), target));
    let squares = |v: f64| power(v, 2 * target + weights);
    assert_eq!((found.outcome.objective, found.loss), (squares(plain.outcome.objective), squares(plain.loss)));
    assert_eq!(found.null_loss, squares(plain.null_loss));
    assert_eq!(found.outcome.iterations, plain.outcome.iterations);
    for (a, b) in found.outcome.trace.iter().zip(&plain.outcome.trace) {
        assert_eq!((a.objective, a.change, a.kind), (squares(b.objective), b.change, b.kind));
    }
    for (a, b) in found.outcome.attempts.iter().zip(&plain.outcome.attempts) {
        assert_eq!((a.objective, a.start), (squares(b.objective), b.start));
    }
    let (here, there) = (found.outcome.quality.as_ref().unwrap(), plain.outcome.quality.as_ref().unwrap());
    assert_eq!((here.stationarity, here.exhaustive), (there.stationarity, there.exhaustive));
    assert_eq!(here.exchange_gain, squares(there.exchange_gain));
    let rise = |q: &katoms::driver::Quality| q.near_ties.iter().map(|tie| tie.rise).collect::<Vec<_>>();
    // How near a tie is depends on what weights of classes count.
    let ties = rise(there).into_iter().map(squares).collect::<Vec<_>>();
    assert!(weights != 0 || rise(here) == ties, "{here:?} {there:?}");
    match (here.certificate, there.certificate) {
        (None, None) => {}
        (Some(a), Some(b)) => assert_eq!((a.lower_bound, a.gap), (squares(b.lower_bound), b.gap)),
        (a, b) => panic!("{a:?} {b:?}"),
    }
}

fn refused_or<T>(result: Result<T, Error>, words: &str) -> Option<T> {
    match result {
        Ok(found) => Some(found),
        Err(error) => {
            let said = error.to_string();
            assert!(said.contains(words), "`{words}` is not in: {said}");
            None
        }
    }
}

/// Kinds of problems: both losses, with and without an intercept, a ridge, weights.
fn kinds(seed: u64) -> Vec<Data> {
    let plain = Data::new(seed);
    let ridged = plain.with(Preparation { ridge: 0.7, ..Preparation::default() });
    let through_zero = plain.with(Preparation { intercept: false, ..Preparation::default() });
    vec![plain.clone(), ridged, through_zero, plain.with_weights(0), Data::classes(seed)]
}

#[test]
fn a_power_of_two_in_the_target_is_a_change_of_units() {
    for seed in 0..6 {
        for kind in kinds(seed).into_iter().filter(|kind| !kind.logistic) {
            for preparation in [kind.preparation, Preparation { standardize: false, ..kind.preparation }] {
                let kind = kind.with(preparation);
                let plain = kind.fit(3).unwrap();
                assert_eq!(plain.outcome.status, Status::Converged);
                for e in exponents(seed) {
                    let found = refused_or(kind.with_target(e).fit(3), "the target");
                    assert!(found.is_some() || !(-440..=490).contains(&e), "2^{e} was refused");
                    if let Some(found) = found {
                        check(&found, &plain, e, |_| 0, 0);
                    }
                }
            }
        }
    }
}

#[test]
fn a_power_of_two_in_a_column_is_a_change_of_units() {
    for seed in 0..6 {
        for kind in kinds(seed) {
            let plain = kind.fit(3).unwrap();
            for (at, e) in exponents(seed).into_iter().enumerate() {
                // A chosen column as often as another one.
                let j = if at % 2 == 0 { plain.chosen[at % 3] } else { (seed as usize + at) % COLUMNS };
                let found = kind.with_column(j, e).fit(3).unwrap();
                check(&found, &plain, 0, |i| if i == j { e } else { 0 }, 0);
            }
        }
    }
}

#[test]
fn a_power_of_two_in_the_weights_is_a_change_of_units() {
    for seed in 0..4 {
        for kind in kinds(seed) {
            let plain = kind.with_weights(0).fit(3).unwrap();
            // Even ones: a root of a weight is taken on the way.
            for e in exponents(seed).into_iter().map(|e| e / 2 * 2) {
                let ridge = power(kind.preparation.ridge, e);
                let data = kind.with_weights(e).with(Preparation { ridge, ..kind.preparation });
                let found = refused_or(data.fit(3), "sample weights");
                assert!(found.is_some() || !(-900..=990).contains(&e), "2^{e} was refused");
                if let Some(found) = found {
                    check(&found, &plain, 0, |_| 0, e);
                }
            }
        }
    }
}

#[test]
fn all_units_may_change_at_once_in_every_storage() {
    let plain = Data::new(9).with_weights(0);
    let known = plain.fit(3).unwrap();
    let exponent = |j: usize| [600, 0, -700, 301, 0, -340, 0, 900][j];
    let mut scaled = plain.with_target(210).with_weights(-334);
    for j in 0..COLUMNS {
        scaled = scaled.with_column(j, exponent(j));
    }
    let by_rows: Vec<f64> = (0..ROWS * COLUMNS).map(|at| scaled.design[at % COLUMNS * ROWS + at / COLUMNS]).collect();
    let starts: Vec<usize> = (0..=COLUMNS).map(|j| j * ROWS).collect();
    let indices: Vec<u32> = (0..ROWS * COLUMNS).map(|at| (at % ROWS) as u32).collect();
    let first = katoms::operator::FirstRead::of(&scaled.loss(), true);
    let designs: [AnyDesign<'_>; 4] = [
        dense(&scaled.design),
        Dense::row_major(&by_rows, ROWS, COLUMNS).unwrap().into(),
        Csc::new(ROWS, COLUMNS, starts, indices, scaled.design.clone()).unwrap().into(),
        Dense::with_layout(&scaled.design, ROWS, COLUMNS, Layout::ColumnMajor, Some(&first)).unwrap().into(),
    ];
    for (storage, design) in designs.iter().enumerate() {
        let atoms = AnyAtoms::Coordinates(KSparse::new(1, COLUMNS).unwrap());
        let features = Features::new(design, scaled.loss(), atoms, Vec::new(), scaled.preparation).unwrap();
        let found = features.fit(3, &FitOptions::default(), &mut Unwatched).unwrap();
        if storage == 0 {
            check(&found, &known, 210, exponent, -334);
        }
        assert_eq!(found.chosen, known.chosen);
        for (j, v) in found.coefficients().entries() {
            let right = power(known.coefficients().value_at(j), 210 - exponent(j));
            assert!((v / right - 1.0).abs() < 1e-12, "storage {storage}, column {j}: {v} for {right}");
        }
        let halves = features.stability(3, 4, 1).unwrap();
        let usual = plain.on(|features| features.stability(3, 4, 1)).unwrap();
        assert_eq!((halves.frequencies, halves.converged), (usual.frequencies, usual.converged), "{storage}");
    }
}

#[test]
fn paths_and_validations_change_their_units_alone() {
    let folds = Folds::random(ROWS, 4, 1).unwrap();
    let (sizes, ridges) = ([1, 2, 4], [0.0, 0.7]);
    let exponent = |j: usize| if j == 2 { -600 } else { 0 };
    for (kind, target, weights) in [(Data::new(3), 330, -300), (Data::new(4), -260, 250), (Data::classes(3), 0, 310)] {
        let weighted = kind.with_weights(0);
        let scaled = kind.with_target(target).with_column(2, exponent(2)).with_weights(weights);
        let squares = |v: f64| power(v, 2 * target + weights);
        let (one, other) = (
            weighted.on(|features| features.path(Some(&sizes), Criterion::Bic, &mut Unwatched)).unwrap(),
            scaled.on(|features| features.path(Some(&sizes), Criterion::Bic, &mut Unwatched)).unwrap(),
        );
        assert_eq!(other.null_loss, squares(one.null_loss));
        if !kind.logistic {
            // Weights that are no counts have no unit; the likelihood of classes counts them.
            assert_eq!(one.best, other.best);
        }
        for (a, b) in one.models.iter().zip(&other.models) {
            assert_eq!((&a.chosen, a.status), (&b.chosen, b.status));
            assert_eq!((b.objective, b.loss), (squares(a.objective), squares(a.loss)));
            assert_eq!(b.coefficients, a.coefficients.map(|j, v| power(v, target - exponent(j))));
            assert_eq!(b.intercepts[0], power(a.intercepts[0], target));
            assert_eq!(b.standardized, a.standardized.map(|_, v| power(v, target)));
            let bic = if kind.logistic {
                2.0 * b.loss + (a.criteria[1] - 2.0 * a.loss)
            } else {
                a.criteria[1] + ROWS as f64 * f64::from(2 * target + weights) * 2_f64.ln()
            };
            assert!((b.criteria[1] - bic).abs() <= 1e-9 * bic.abs(), "{} {bic}", b.criteria[1]);
        }
        let validated = |data: &Data, weights: i32| {
            let ridges = ridges.map(|ridge| power(ridge, weights));
            data.on(|features| features.cross_validate(Some(&sizes), Some(&ridges), &folds, &mut Unwatched)).unwrap()
        };
        let (one, other) = (validated(&weighted, 0), validated(&scaled, weights));
        for (a, b) in one.scores.iter().chain([&one.null]).zip(other.scores.iter().chain([&other.null])) {
            let mean = |v: f64| power(v, 2 * target);
            assert_eq!((b.mean, b.error), (mean(a.mean), mean(a.error)));
            assert_eq!(b.folds, a.folds.iter().map(|&v| mean(v)).collect::<Vec<_>>());
            assert_eq!((b.choice.atoms, b.choice.ridge), (a.choice.atoms, power(a.choice.ridge, weights)));
            for (a, b) in a.models.iter().zip(&b.models) {
                assert_eq!(b.coefficients, a.coefficients.map(|j, v| power(v, target - exponent(j))));
                assert_eq!(b.intercepts[0], power(a.intercepts[0], target));
            }
        }
        for (a, b) in one.models.iter().zip(&other.models) {
            assert_eq!(b.coefficients, a.coefficients.map(|j, v| power(v, target - exponent(j))));
            assert_eq!((b.intercepts[0], b.loss), (power(a.intercepts[0], target), squares(a.loss)));
        }
        assert_eq!(other.min().atoms, one.min().atoms);
        assert!(other.model(other.min()).is_some());
    }
}

#[test]
fn bounds_and_starts_are_in_the_units_of_the_data() {
    let plain = Data::new(5);
    let exponent = |j: usize| if j.is_multiple_of(2) { 500 } else { -500 };
    let mut scaled = plain.with_target(-400);
    for j in 0..COLUMNS {
        scaled = scaled.with_column(j, exponent(j));
    }
    let bound = |e: &dyn Fn(usize) -> i32| {
        let upper: Vec<f64> = (0..COLUMNS).map(|j| power(0.6, e(j))).collect();
        Bounds::new(upper.iter().map(|v| -v).collect::<Vec<_>>(), upper).unwrap()
    };
    let boxed = |data: &Data, bounds: &Bounds| {
        data.on(|f| f.with_bounds(bounds.clone())?.fit(3, &FitOptions::default(), &mut Unwatched)).unwrap()
    };
    let bounds = bound(&|j| -400 - exponent(j));
    let (one, other) = (boxed(&plain, &bound(&|_| 0)), boxed(&scaled, &bounds));
    check(&other, &one, -400, exponent, 0);
    assert!(
        bounds.contain(other.coefficients()) && other.coefficients().entries().any(|(j, v)| v == bounds.upper()[j])
    );
    let warm = |data: &Data, start: &Estimate| {
        let start = Some((start.coefficients().clone(), start.intercepts.clone()));
        data.on(|f| f.fit(3, &FitOptions { start, ..FitOptions::default() }, &mut Unwatched)).unwrap()
    };
    let (cold, far) = (plain.fit(3).unwrap(), scaled.fit(3).unwrap());
    check(&warm(&scaled, &far), &warm(&plain, &cold), -400, exponent, 0);
}

/// A first read for a loss whose weights or slopes overflow tells nothing, and is not taken for an answer.
#[test]
fn what_a_first_read_cannot_tell_is_looked_at_again() {
    for (of_target, of_weights) in [(60, 980), (-60, 1019)] {
        let plain = Data::new(4).with_weights(0);
        let mut scaled = Data::new(4).with_target(of_target).with_weights(of_weights);
        // It begins with a number of moderate size.
        scaled.design[2 * ROWS + 1..3 * ROWS].iter_mut().for_each(|v| *v = power(*v, 600));
        let mut same = plain.clone();
        same.design[2 * ROWS] = 0.0;
        let first = katoms::operator::FirstRead::of(&scaled.loss(), true);
        let design: AnyDesign<'_> =
            Dense::with_layout(&scaled.design, ROWS, COLUMNS, Layout::ColumnMajor, Some(&first)).unwrap().into();
        assert_eq!(design.extremes().iter().map(|c| c.column).collect::<Vec<_>>(), [2]);
        let atoms = AnyAtoms::Coordinates(KSparse::new(1, COLUMNS).unwrap());
        let found = Features::new(&design, scaled.loss(), atoms, Vec::new(), Preparation::default())
            .and_then(|features| features.fit(3, &FitOptions::default(), &mut Unwatched));
        let Some(found) = refused_or(found, "sample weights") else { continue };
        let right = same.fit(3).unwrap();
        assert_eq!((&found.chosen, found.outcome.status), (&right.chosen, right.outcome.status));
        for (j, v) in found.coefficients().entries() {
            let right = power(right.coefficients().value_at(j), of_target - if j == 2 { 600 } else { 0 });
            assert!((v / right - 1.0).abs() < 1e-9, "column {j}: {v} for {right}");
        }
    }
}

#[test]
fn groups_and_what_is_always_in_change_their_units_alone() {
    let (plain, scaled) = (Data::new(3), Data::new(3).with_target(-300).with_column(1, 700).with_column(6, -500));
    let exponent = |j: usize| [(1, 700), (6, -500)].iter().find(|c| c.0 == j).map_or(0, |c| c.1);
    let found = |data: &Data| {
        let design = dense(&data.design);
        let atoms = AnyAtoms::groups(1, COLUMNS, vec![vec![0, 1], vec![2, 3], vec![4, 6], vec![7]]).unwrap();
        let features = Features::new(&design, data.loss(), atoms, vec![5], data.preparation).unwrap();
        features.fit(2, &FitOptions::default(), &mut Unwatched).unwrap()
    };
    check(&found(&scaled), &found(&plain), -300, exponent, 0);
}

#[test]
fn progress_and_saved_states_are_those_of_the_data() {
    let (plain, scaled) = (Data::new(6), Data::new(6).with_target(400));
    let heard = |data: &Data| {
        let mut all = Vec::new();
        let mut watch = |progress: &Progress<'_>| {
            all.push(progress.event.objective);
            Answer::GoOn
        };
        data.on(|features| features.fit(3, &FitOptions::default(), &mut watch)).unwrap();
        all
    };
    let objectives = heard(&plain);
    assert!(!objectives.is_empty());
    assert_eq!(heard(&scaled), times(&objectives, 800));
    let mut interrupt = crate::Interrupt::at(1);
    scaled.on(|features| features.fit(3, &FitOptions::default(), &mut interrupt)).unwrap();
    let how = FitOptions { resume: Some(interrupt.state), ..FitOptions::default() };
    let resumed = scaled.on(|features| features.fit(3, &how, &mut Unwatched)).unwrap();
    assert_eq!(resumed.coefficients(), scaled.fit(3).unwrap().coefficients());
}

/// Columns as they are, without standardising: all of them may change together, one alone cannot.
#[test]
fn columns_that_are_not_standardised_change_together_or_are_refused() {
    let preparation = Preparation { standardize: false, intercept: false, ridge: 0.0 };
    let kind = Data::new(7).with(preparation);
    let ridged = |data: &Data, ridge: f64| data.with(Preparation { ridge, ..preparation }).fit(3).unwrap();
    let plain = kind.fit(3).unwrap();
    for e in [-800, -300, 300, 800] {
        let all = (0..COLUMNS).fold(kind.clone(), |data, j| data.with_column(j, e));
        check(&all.fit(3).unwrap(), &plain, 0, |_| e, 0);
        let said = kind.with_column(4, e).fit(3).unwrap_err().to_string();
        assert!(said.contains("column 4") && said.contains("standardise"), "{said}");
        // A ridge is in the units of the columns.
        if e.abs() <= 400 {
            check(&ridged(&all, power(2.0, 2 * e)), &ridged(&kind, 2.0), 0, |_| e, 0);
        }
        // An intercept has a unit of its own.
        let intercept = Preparation { intercept: true, ..preparation };
        let (one, other) = (kind.with(intercept).fit(3).unwrap(), all.with(intercept).fit(3).unwrap());
        assert_eq!((&other.chosen, other.outcome.status), (&one.chosen, Status::Converged));
        assert!((other.outcome.objective / one.outcome.objective - 1.0).abs() < 1e-12);
        for (j, v) in other.coefficients().entries() {
            assert!((v / power(one.coefficients().value_at(j), -e) - 1.0).abs() < 1e-12);
        }
    }
}

#[test]
fn what_no_number_can_hold_is_refused_by_name() {
    let plain = Data::new(8);
    let chosen = plain.fit(3).unwrap().chosen[0];
    let told = |data: &Data| data.fit(3).unwrap_err().to_string();
    // a coefficient of 1e400, and one of 1e-400
    let said = told(&plain.with_target(450).with_column(chosen, -900));
    assert!(said.contains(&format!("column {chosen}")) && said.contains("coefficient"), "{said}");
    let said = told(&plain.with_target(-430).with_column(chosen, 950));
    assert!(said.contains(&format!("column {chosen}")) && said.contains("coefficient"), "{said}");
    // squares that no number holds
    for e in [600, -600] {
        let said = told(&plain.with_target(e));
        assert!(said.contains("the target") && said.contains("multiply it by 1e"), "{said}");
    }
    let said = told(&plain.with_weights(-1020));
    assert!(said.contains("sample weights") && said.contains("multiply"), "{said}");
    // a weight that is nothing beside another one
    let mut uneven = plain.with_weights(0);
    uneven.weights = Some((0..ROWS).map(|i| if i == 3 { 1e-320 } else { 1e-10 }).collect());
    assert!(uneven.loss().weights().is_some());
    let said = told(&uneven);
    assert!(said.contains("sample weights") && said.contains("position 3"), "{said}");
    let said = told(&plain.with_weights(-880).with(Preparation { ridge: 1e300, ..Preparation::default() }));
    assert!(said.contains("ridge"), "{said}");
}

#[test]
fn ridges_at_the_ends_of_the_range_are_exact() {
    let plain = Data::new(2);
    let free = plain.fit(3).unwrap();
    for ridge in [1e-300, 1e-100] {
        let found = plain.with(Preparation { ridge, ..Preparation::default() }).fit(3).unwrap();
        assert_eq!((found.coefficients(), found.outcome.status), (free.coefficients(), free.outcome.status));
    }
    let strong = |ridge: f64| plain.with(Preparation { ridge, ..Preparation::default() }).fit(3).unwrap();
    let (one, other) = (strong(1e100), strong(1e200));
    assert_eq!((one.outcome.status, other.outcome.status), (Status::Converged, Status::Converged));
    assert_eq!(one.chosen, other.chosen);
    for (j, v) in one.coefficients().entries() {
        assert!((other.coefficients().value_at(j) / v * 1e100 - 1.0).abs() < 1e-9);
    }
}

#[test]
fn signals_are_recovered_in_any_unit() {
    let design: Vec<f64> = gaussian(30, 60, 3);
    let truth = sparse_signal(60, 5, 3);
    let matrix = |e: i32| -> AnyDesign<'static> { Dense::column_major(times(&design, e), 30, 60).unwrap().into() };
    let mut b = vec![0.0; 30];
    matrix(0).apply(&truth, &mut b);
    let b = noisy(&b, 0.01, 3);
    for method in [None, Some("accelerated-iht"), Some("omp"), Some("cosamp")] {
        let method = method.map(|name| katoms::method::AtomMethod::named(name).unwrap());
        let how = |noise: Option<f64>| Recovery { method: method.clone(), noise, ..Recovery::new(5) };
        let plain = recover(&matrix(0), &b, &how(Some(0.01)), None, &mut Unwatched).unwrap();
        for (e, m) in [(400, 0), (-400, 0), (0, 600), (0, -600), (300, -500), (-200, 700), (990, 0), (-990, 0)] {
            let noise = Some(power(0.01, e));
            let found = recover(&matrix(m), &times(&b, e), &how(noise), None, &mut Unwatched);
            let found = refused_or(found, "measurements");
            assert!(found.is_some() || e.abs() > 480, "2^{e}, 2^{m} was refused");
            let Some(found) = found else { continue };
            assert_eq!((found.x, found.status), (plain.x.map(|_, v| power(v, e - m)), plain.status));
            assert_eq!(found.residual_norm, power(plain.residual_norm, e));
            assert_eq!(found.relative_residual, plain.relative_residual);
        }
    }
    let tiny = recover(&matrix(-900), &times(&b, 300), &Recovery::new(5), None, &mut Unwatched).unwrap_err();
    assert!(tiny.to_string().contains("entry"), "{tiny}");
}

#[test]
fn operators_without_a_matrix_are_scaled() {
    use katoms::operator::{MatrixFree, subsampled_dct};
    let rows: Vec<usize> = (0..64).map(|i| (i * 37) % 256).collect();
    let transform = subsampled_dct(256, rows).unwrap();
    let truth = sparse_signal(256, 8, 1);
    let mut b = vec![0.0; 64];
    transform.apply(&truth, &mut b);
    let scaled = |e: i32| -> AnyDesign<'static> {
        let (forward, backward) = (transform.clone(), transform.clone());
        MatrixFree::new(
            (64, 256),
            move |x, out| {
                forward.apply(&SparseVec::full(x), out);
                out.iter_mut().for_each(|v| *v = power(*v, e));
            },
            move |r, out| {
                let mut g = backward.new_covector();
                backward.adjoint(r, &mut g);
                out.iter_mut().zip(g).for_each(|(out, v)| *out = power(v, e));
            },
        )
        .unwrap()
        .into()
    };
    for method in [None, Some("accelerated-iht")] {
        let method = method.map(|name| katoms::method::AtomMethod::named(name).unwrap());
        let how = Recovery { method, ..Recovery::new(8) };
        let plain = recover(&scaled(0), &b, &how, None, &mut Unwatched).unwrap();
        assert_eq!(plain.status, Status::Converged);
        for e in [-700, -300, 300, 700] {
            let found = recover(&scaled(e), &b, &how, None, &mut Unwatched).unwrap();
            assert_eq!((found.x, found.status), (plain.x.map(|_, v| power(v, -e)), plain.status));
        }
    }
}

#[test]
fn matrices_are_completed_in_any_unit() {
    let whole = crate::completion::Whole::stars((24, 15), 3);
    let seen = whole.seen(0.7, 4);
    let scaled = |e: i32| Observed::new(seen.shape(), seen.rows(), seen.columns(), &times(seen.values(), e)).unwrap();
    for how in [Completion::new([1, 2, 3]), Completion::exact(2)] {
        let plain = complete(&seen, &how, None, &mut Unwatched).unwrap();
        for e in [-990, -440, -200, 200, 480, 990] {
            let found = refused_or(complete(&scaled(e), &how, None, &mut Unwatched), "observed values");
            assert!(found.is_some() || e.abs() > 490, "2^{e} was refused");
            let Some(found) = found else { continue };
            assert_eq!((found.rank, found.ridge, found.status), (plain.rank, plain.ridge, plain.status));
            assert_eq!(found.matrix.to_dense().unwrap(), times(&plain.matrix.to_dense().unwrap(), e));
            assert_eq!(found.seen_rmse, power(plain.seen_rmse, e));
            assert_eq!(found.held_out_rmse, plain.held_out_rmse.map(|v| power(v, e)));
            let row = |of: &katoms_estimate::CompletedMatrix, e: i32| of.complete_row(&[1, 4], &times(&[2.0, 5.0], e));
            assert_eq!(row(&found.matrix, e).unwrap(), times(&row(&plain.matrix, 0).unwrap(), e));
            for (a, b) in found.trials.iter().zip(&plain.trials) {
                assert_eq!((a.rank, a.ridge), (b.rank, b.ridge));
                assert_eq!(
                    (a.held_out_mse, a.standard_error),
                    (power(b.held_out_mse, 2 * e), power(b.standard_error, 2 * e))
                );
            }
        }
        // the largest numbers that there are
        let most = Observed::new((2, 2), &[0, 0, 1], &[0, 1, 0], &[0.5e308, -0.5e308, 1e308]).unwrap();
        let said = complete(&most, &Completion::exact(1), None, &mut Unwatched).unwrap_err().to_string();
        assert!(said.contains("observed values") && said.contains("1.0e308"), "{said}");
    }
}

#[test]
fn shares_of_variance_have_no_unit() {
    let data = Data::new(1);
    let found = data.fit(2).unwrap();
    let predicted = data.on(|features| Ok(features.predictions(found.coefficients(), &found.intercepts))).unwrap();
    let plain = r_squared(&data.target, &predicted, None);
    for e in [-990, 990] {
        assert_eq!(r_squared(&times(&data.target, e), &times(&predicted, e), None), plain);
        let weights = vec![power(1.0, e); ROWS];
        assert_eq!(r_squared(&data.target, &predicted, Some(&weights)), plain);
    }
}
