//! k atoms within bounds: against all supports, against patience, and against the answer without bounds.

use std::ops::ControlFlow;

use crate::planted::{Design, Planted, choices, image, k_sparse, least, objective, of_atoms, squares};
use katoms::loss::{AnyLoss, Logistic, Loss, Split};
use katoms::operator::{Dense, subsampled_dct};
use katoms::select::{Bounds, CrossValidation, Folds, Preparation, cross_validate};
use katoms::set::{Always, AnyAtoms, ConstraintSet, CoordinateSet};
use katoms::space::{IndexSet, SparseVec, Subspace};
use katoms::{Error, Fit, Objective, Options, Outcome, Status, Stop, fit, simulate};

fn search(f: &Objective<impl Design, impl Loss>, set: &impl CoordinateSet, bounds: &Bounds) -> Outcome<SparseVec> {
    Fit::new(f, set).bounds(bounds.clone()).run().unwrap()
}

/// The minimum over some coordinates within the bounds, by coordinate descent with much patience: each step has the
/// largest curvature that there can be, and stays within the bounds.
fn patient(f: &Objective<impl Design, impl Loss>, coordinates: &[usize], bounds: &Bounds) -> f64 {
    let t = IndexSet::new(f.operator().domain(), coordinates.to_vec());
    let units: Vec<_> = (0..t.dimension()).map(|i| f.at(t.basis(i))).collect();
    let zero = f.at(t.point(&vec![0.0; t.dimension()]));
    let curvatures: Vec<f64> = units
        .iter()
        .map(|unit| {
            let squared_norm: f64 = unit.image().iter().map(|v| v * v).sum();
            f.loss().curvature_bound() * squared_norm + f.ridge_weight()
        })
        .collect();
    let mut x = zero;
    for _ in 0..3000 {
        let mut moved = 0.0_f64;
        for (p, unit) in units.iter().enumerate().filter(|(p, _)| curvatures[*p] > 0.0) {
            let (j, v) = (t.indices()[p], x.point().value_at(t.indices()[p]));
            let step = bounds.clamped(j, v - f.slope(&x, unit) / curvatures[p]) - v;
            moved = moved.max(step.abs() * curvatures[p].sqrt());
            x = katoms::Evaluated::combine(1.0, &x, step, unit);
        }
        if moved < 1e-13 {
            break;
        }
    }
    f.value(&x)
}

/// The best of all choices of k atoms.
fn truth(f: &Objective<impl Design, impl Loss>, set: &impl CoordinateSet, bounds: &Bounds) -> f64 {
    let atoms = set.candidates();
    let open: Vec<usize> = (0..atoms.len()).filter(|&atom| !atoms.members(atom).is_empty()).collect();
    let value =
        |chosen: Vec<usize>| patient(f, &of_atoms(set, &chosen.iter().map(|&at| open[at]).collect::<Vec<_>>()), bounds);
    least(choices(open.len(), set.atoms()).into_iter().map(value))
}

/// Whether no slope within the bounds is left on the stored coordinates.
fn is_stationary(f: &Objective<impl Design, impl Loss>, x: &SparseVec, bounds: &Bounds) -> bool {
    let x = f.at(x.clone());
    let (t, null) = (
        IndexSet::new(x.point().dim(), x.point().indices().to_vec()),
        f.at(SparseVec::from_dense(&vec![0.0; x.point().dim()])),
    );
    let g = f.gradient_on(&x, &t);
    let h = f.curvature(&x);
    t.indices().iter().enumerate().all(|(p, &j)| {
        let unit = f.at(t.basis(p));
        let curvature = f.hessian_times(&h, &unit, &t).value_at(j);
        let (v, slope) = (x.point().value_at(j), g.value_at(j));
        let moved = bounds.clamped(j, v - slope / curvature) - v;
        moved.abs() * curvature.sqrt() < 1e-8 * (2.0 * f.value(&null)).sqrt()
    })
}

/// Correlated columns, a target in which some coefficients are negative, and labels.
struct Small {
    problem: Planted,
    losses: [AnyLoss; 2],
}

impl Small {
    fn new(rows: usize, columns: usize, seed: u64) -> Self {
        let mut problem = Planted::correlated((rows, columns, 4), 0.6, 0.0, seed);
        let labels = simulate::labels(&problem.target, seed);
        problem.target = simulate::noisy(&problem.target, 1.0, seed);
        let losses = [problem.loss().into(), Logistic::new(labels).unwrap().into()];
        Self { problem, losses }
    }

    fn design(&self) -> Dense<'_, f64> {
        self.problem.operator()
    }
}

/// Nothing negative; a narrow box that binds; and a box for some.
fn several_bounds(dim: usize) -> Vec<Bounds> {
    let mixed = |j: usize| [(0.0, f64::INFINITY), (f64::NEG_INFINITY, 0.0), (-0.1, 0.3), (0.0, 0.0)][j % 4];
    let (lower, upper): (Vec<f64>, Vec<f64>) = (0..dim).map(mixed).unzip();
    vec![
        Bounds::nonnegative(dim).unwrap(),
        Bounds::new(vec![-0.2; dim], vec![0.25; dim]).unwrap(),
        Bounds::new(lower, upper).unwrap(),
    ]
}

/// The search finds what trying every choice finds, within the bounds, and says so.
fn is_solved(f: &Objective<impl Design, impl Loss>, set: &impl CoordinateSet, bounds: &Bounds) -> Outcome<SparseVec> {
    let (outcome, right) = (search(f, set, bounds), truth(f, set, bounds));
    assert!((outcome.objective - right).abs() < 1e-9 * right, "{} {right}: {bounds:?}", outcome.objective);
    assert!(bounds.contain(&outcome.point) && is_stationary(f, &outcome.point, bounds), "{bounds:?}");
    assert!(set.chosen(&outcome.point).len() <= set.atoms());
    outcome
}

#[test]
fn small_problems_are_solved_as_by_trying_every_support() {
    for seed in 0..2 {
        let small = Small::new(30, 8, seed);
        for loss in &small.losses {
            let f = objective(small.design(), loss.clone()).ridge(0.5).unwrap();
            for (bounds, k) in several_bounds(8).iter().flat_map(|bounds| [(bounds, 1), (bounds, 3)]) {
                let outcome = is_solved(&f, &k_sparse(k, 8), bounds);
                assert_eq!((outcome.status, outcome.iterations), (Status::Converged, outcome.trace.len()));
                let (quality, count) = (outcome.quality.unwrap(), outcome.point.indices().len());
                assert!(quality.exhaustive && !quality.improvable() && quality.stationarity <= 1e-9, "{quality:?}");
                assert_eq!(quality.exchanges_compared, count * (8 - count));
            }
        }
    }
}

/// Groups, shared coordinates, an intercept, an atom that is always in, weights, a ridge.
#[test]
fn every_structure_is_solved_as_by_trying_every_choice() {
    let disjoint = vec![vec![0, 1], vec![2, 3, 4], vec![5], vec![6, 7]];
    let shared = vec![vec![0, 1, 2], vec![2, 3, 4], vec![4, 5], vec![6, 7, 0]];
    let weights: Vec<f64> = (0..30).map(|i| [1.0, 0.5, 2.0, 0.0][i % 4]).collect();
    let preparation = Preparation { ridge: 0.3, ..Preparation::default() };
    for (seed, groups) in [(10, &disjoint), (10, &shared), (11, &disjoint), (11, &shared)] {
        let small = Small::new(30, 8, seed);
        let design = small.design();
        let set = Always::new(AnyAtoms::groups(2, 8, groups.clone()).unwrap(), vec![3]).unwrap();
        let set = preparation.set(&set, &small.losses[0]).unwrap();
        for loss in &small.losses {
            let loss: AnyLoss = match loss {
                AnyLoss::Squares(squares) => squares.clone().weighted(weights.clone()).unwrap().into(),
                AnyLoss::Logistic(logistic) => logistic.clone().weighted(weights.clone()).unwrap().into(),
                other => other.clone(),
            };
            let f = preparation.objective(&design, &loss, (0..30).collect()).unwrap();
            for bounds in several_bounds(8) {
                is_solved(&f, &set, &f.operator().scaled_bounds(&bounds).unwrap());
            }
        }
    }
}

#[test]
fn a_planted_signal_of_one_sign_is_found() {
    let (rows, columns) = (80, 200);
    let x = simulate::gaussian(rows, columns, 5);
    let places = [3, 50, 77, 120, 121, 190];
    let truth = SparseVec::new(columns, places.to_vec(), vec![1.0, 2.0, 0.7, 1.5, 1.1, 0.9]).unwrap();
    let design = Dense::column_major(&x, rows, columns).unwrap();
    let clean = image(&design, &truth);
    let (bounds, set) = (Bounds::nonnegative(columns).unwrap(), k_sparse(6, columns));
    let f = objective(&design, squares(simulate::noisy(&clean, 0.1, 5)));
    let outcome = search(&f, &set, &bounds);
    assert_eq!(outcome.point.indices(), places);
    assert!(outcome.point.values().iter().all(|v| *v > 0.0) && outcome.status == Status::Converged);
    // Bounds that do not bind change nothing.
    let free = fit(&f, &set).unwrap();
    assert!((free.objective - outcome.objective).abs() < 1e-9 * free.objective);
    let wide = Bounds::new(vec![-1e6; columns], vec![1e6; columns]).unwrap();
    let wide = search(&f, &set, &wide);
    assert!((free.objective - wide.objective).abs() < 1e-9 * free.objective);
    // A perfect fit is an end.
    let f = objective(&design, squares(clean));
    let outcome = search(&f, &set, &bounds);
    assert_eq!((outcome.status, outcome.point.indices()), (Status::Converged, &places[..]));
}

/// Where every correlation is negative, nothing is chosen; and a box of no width keeps a column out.
#[test]
fn what_the_bounds_forbid_is_not_chosen() {
    let x = simulate::gaussian(40, 6, 2);
    let design = Dense::column_major(&x, 40, 6).unwrap();
    let y: Vec<f64> = x[..40].iter().map(|v| -3.0 * v).collect();
    let f = objective(&design, squares(y));
    let out = Bounds::new(vec![0.0; 6], vec![0.0; 6]).unwrap();
    let outcome = search(&f, &k_sparse(3, 6), &out);
    assert_eq!((outcome.point.indices().len(), outcome.status), (0, Status::Converged));
    let mut upper = vec![f64::INFINITY; 6];
    upper[0] = 0.0;
    let lower = vec![f64::NEG_INFINITY; 6];
    let mut closed = lower.clone();
    closed[0] = 0.0;
    let without = search(&f, &k_sparse(2, 6), &Bounds::new(closed, upper).unwrap());
    assert!(!without.point.indices().contains(&0) && without.objective > 1.0);
}

/// Scaling the target and the columns scales the answer.
#[test]
fn units_change_nothing() {
    let small = Small::new(40, 12, 3);
    let x = &small.problem.design;
    let y = simulate::noisy(&x[..40], 1.0, 4);
    let unit = |j: usize| 10_f64.powi((j % 5) as i32 - 2);
    let copy: Vec<f64> = x.iter().enumerate().map(|(at, v)| v * unit(at / 40)).collect();
    let far: Vec<f64> = y.iter().map(|v| 1e6 * v).collect();
    let set = k_sparse(4, 12);
    let f = objective(small.design(), squares(y));
    let g = objective(Dense::column_major(&copy, 40, 12).unwrap(), squares(far));
    let bounds = Bounds::new(vec![-0.1; 12], vec![0.2; 12]).unwrap();
    let other: (Vec<f64>, Vec<f64>) = (0..12).map(|j| (-0.1 * 1e6 / unit(j), 0.2 * 1e6 / unit(j))).unzip();
    let (x, z) = (search(&f, &set, &bounds), search(&g, &set, &Bounds::new(other.0, other.1).unwrap()));
    assert_eq!(x.point.indices(), z.point.indices());
    assert!((x.objective - 1e-12 * z.objective).abs() < 1e-9 * x.objective);
}

#[test]
fn the_path_falls_and_each_size_is_a_search() {
    let small = Small::new(40, 10, 7);
    let design = small.design();
    let preparation = Preparation::default();
    let set = preparation.set(&k_sparse(1, 10), &small.losses[0]).unwrap();
    for loss in &small.losses {
        let f = preparation.objective(&design, loss, (0..40).collect()).unwrap();
        let bounds = f.operator().scaled_bounds(&Bounds::nonnegative(10).unwrap()).unwrap();
        let path = Fit::new(&f, &set).bounds(bounds.clone()).path([1, 2, 3, 6, 10]).unwrap();
        assert!(path.complete && path.passes > 0 && path.samples == 40 && path.candidates == 10);
        assert!(path.models.windows(2).all(|w| w[1].objective <= w[0].objective));
        for model in &path.models {
            let alone = search(&f, &set.with_atoms(model.atoms).unwrap(), &bounds);
            assert!((model.objective - alone.objective).abs() < 1e-8 * alone.objective, "{}", model.atoms);
            assert_eq!(model.status, Status::Converged);
            assert!(bounds.contain(&model.point));
        }
        // The full path ends at the minimum over all columns.
        let last = &path.models[4];
        let right = patient(&f, &(0..11).collect::<Vec<_>>(), &bounds);
        assert!((last.objective - right).abs() < 1e-8 * right);
        let mut heard = Vec::new();
        let poll = |done| {
            heard.push(done);
            if done < 2 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let stopped = Fit::new(&f, &set).bounds(bounds).poll(poll).path([1, 2, 3]).unwrap();
        assert_eq!((stopped.models.len(), stopped.complete), (2, false));
        assert!(heard.is_sorted() && heard.contains(&2));
    }
}

/// A search that is stopped gives what it has, and says that it was stopped.
#[test]
fn a_search_heeds_the_observer_and_the_caps() {
    let small = Small::new(40, 12, 8);
    let design = small.design();
    let set = k_sparse(6, 12);
    let f = objective(&design, small.losses[0].clone());
    let fit = || Fit::new(&f, &set).bounds(Bounds::nonnegative(12).unwrap());
    let stopped = fit().observe(|_, _| ControlFlow::Break(())).run().unwrap();
    assert_eq!((stopped.status, stopped.iterations, stopped.point.indices().len()), (Status::Stopped, 1, 1));
    let at_once = fit().poll(|_| ControlFlow::Break(())).run().unwrap();
    assert_eq!((at_once.status, at_once.point.indices().len()), (Status::Stopped, 0));
    let options = Options { stop: Stop { iterations: 2, ..Stop::default() }, ..Options::default() };
    let capped = fit().options(options).run().unwrap();
    assert_eq!((capped.status, capped.iterations), (Status::IterationCap, 2));
    assert!(!capped.quality.unwrap().exhaustive);
}

#[test]
fn a_start_at_the_answer_stays_there() {
    let small = Small::new(40, 12, 9);
    let design = small.design();
    let set = k_sparse(3, 12);
    let f = objective(&design, small.losses[0].clone());
    let fit = || Fit::new(&f, &set).bounds(Bounds::nonnegative(12).unwrap());
    let first = fit().run().unwrap();
    let second = fit().start(first.point.clone()).run().unwrap();
    assert_eq!(first.point.indices(), second.point.indices());
    assert_eq!(second.attempts.len(), 2);
    assert_eq!(second.attempts[0].exchanges, 0);
    // A start outside of the bounds, and with too many atoms, is brought in.
    let outside = fit().start(SparseVec::full(&[-5.0; 12])).run().unwrap();
    assert!(outside.objective <= first.objective * (1.0 + 1e-12));
}

#[test]
fn folds_are_fits_on_their_own_rows() {
    let small = Small::new(36, 8, 11);
    let design = small.design();
    let folds = Folds::random(36, 3, 1).unwrap();
    let bounds = Bounds::new(vec![0.0; 8], vec![0.8; 8]).unwrap();
    let set = k_sparse(1, 8);
    for loss in &small.losses {
        let options =
            CrossValidation { ridges: vec![0.0, 1.0], bounds: Some(bounds.clone()), ..CrossValidation::new([1, 2, 4]) };
        let validated = cross_validate(&design, loss, &set, &folds, &options).unwrap();
        assert!(validated.complete && validated.passes > 0);
        assert_eq!((validated.scores.len(), validated.models.len()), (6, 6));
        assert!(validated.models.iter().all(|model| bounds.contain(&model.coefficients)));
        for score in &validated.scores {
            for fold in 0..3 {
                let (rows, held_out) = (folds.training(fold), folds.held_out(fold));
                let share = rows.len() as f64 / 36.0;
                let preparation = Preparation { ridge: score.choice.ridge * share, ..Preparation::default() };
                let f = preparation.objective(&design, loss, rows).unwrap();
                let set = preparation.set(&set.with_atoms(score.choice.atoms).unwrap(), loss).unwrap();
                let x = search(&f, &set, &f.operator().scaled_bounds(&bounds).unwrap()).point;
                let (coefficients, constants) = f.operator().to_original(&x);
                let all = image(&design, &coefficients);
                let predicted: Vec<f64> = held_out.iter().map(|&i| all[i] + constants[0]).collect();
                let right = loss.subset(&held_out).unwrap().value(&predicted) / held_out.len() as f64;
                assert!((score.folds[fold] - right).abs() < 1e-7 * right, "{:?} {fold}", score.choice);
            }
        }
        let mut asked = 0;
        let mut poll = |done| {
            asked = done;
            ControlFlow::Break(())
        };
        let stopped = options.poll(&mut poll).run(&design, loss, &set, &folds).unwrap();
        assert_eq!((stopped.complete, stopped.scores.len(), asked), (false, 1, 1));
        assert_eq!(stopped.scores[0].folds.len(), 3);
    }
}

#[test]
fn bounds_that_do_not_fit_are_named() {
    let small = Small::new(30, 8, 1);
    let design = small.design();
    let f = objective(&design, small.losses[0].clone());
    let set = k_sparse(2, 8);
    let bounded = |count: usize| Fit::new(&f, &set).bounds(Bounds::nonnegative(count).unwrap());
    let error = bounded(7).run().unwrap_err().to_string();
    assert!(error.contains("the list of bounds has length 7, but 8 is needed"), "{error}");
    let error = bounded(8).start(SparseVec::full(&[1.0; 3])).run().unwrap_err().to_string();
    assert!(error.contains("3"), "{error}");
    let options = CrossValidation {
        shrinkages: vec![4.0],
        bounds: Some(Bounds::nonnegative(8).unwrap()),
        ..CrossValidation::new([1])
    };
    let folds = Folds::random(30, 3, 1).unwrap();
    let error = cross_validate(&design, &small.losses[0], &set, &folds, &options).unwrap_err();
    assert_eq!(error.to_string(), "option shrinkage is 4; it must be 0 alone, where there are bounds");
    // Columns that are not to be had one by one.
    let dct = subsampled_dct(32, (0..16).collect()).unwrap();
    let f = objective(dct, squares(vec![1.0; 16]));
    let set = k_sparse(2, 32);
    let error = Fit::new(&f, &set).bounds(Bounds::nonnegative(32).unwrap()).run();
    assert!(matches!(error, Err(Error::Unsuitable { .. })), "{error:?}");
}
