//! The search where the loss is not quadratic: classes.

use std::ops::ControlFlow;

use crate::planted::{Planted, defaults};
use crate::search::{after_exchanges, correlated, least, value_on};
use katoms::driver::{Options, solve};
use katoms::loss::{Logistic, Split};
use katoms::method::{LassoPathOptions, lasso_path};
use katoms::penalty::L1;
use katoms::select::Bounds;
use katoms::set::{ConstraintSet, KSparse};
use katoms::space::{Point, SparseVec};
use katoms::{Fit, Objective, Status, fit, simulate};

/// Classes with the log-odds of a planted problem.
fn classes(problem: &Planted) -> Logistic {
    let scale = 3.0 * (problem.rows as f64).sqrt() / katoms::linalg::norm(&problem.target);
    let odds: Vec<f64> = problem.target.iter().map(|z| scale * z).collect();
    Logistic::new(simulate::labels(&odds, 7)).unwrap()
}

/// Where a model separates the classes completely, larger coefficients always fit better: no status says that this
/// converged. A ridge, or bounds, bring a minimum back.
#[test]
fn complete_separation_is_no_convergence() {
    let problem = Planted::new(60, 20, 2, 0.0, 3);
    let a = problem.operator();
    let labels: Vec<f64> = problem.target.iter().map(|&z| f64::from(u8::from(z > 0.0))).collect();
    let separable = || Objective::new(&a, Logistic::new(labels.clone()).unwrap()).unwrap();
    let set = KSparse::new(2, 20).unwrap();
    let status = |f: &Objective<_, Logistic>, k: usize| fit(f, &set.with_atoms(k).unwrap()).unwrap().status;
    assert_eq!((status(&separable(), 1), status(&separable(), 2)), (Status::Converged, Status::Separated));
    assert_eq!(status(&separable().ridge(0.1).unwrap(), 2), Status::Converged);
    let along: Vec<Status> =
        Fit::new(&separable(), &set).path(0..=3).unwrap().models.iter().map(|m| m.status).collect();
    assert_eq!(along, [Status::Converged, Status::Converged, Status::Separated, Status::Separated]);
    // within bounds that bind there is a minimum
    let within = |bounds: Bounds| Fit::new(&separable(), &set).bounds(bounds).run();
    assert_eq!(within(Bounds::new(vec![-1.0; 20], vec![1.0; 20]).unwrap()).unwrap().status, Status::Converged);
    let unbounded = Bounds::new(vec![f64::NEG_INFINITY; 20], vec![f64::INFINITY; 20]).unwrap();
    assert_eq!(within(unbounded).unwrap().status, Status::Separated);
}

#[test]
fn classes_are_searched_too() {
    let go = |_: &katoms::driver::Event, _: &SparseVec| ControlFlow::Continue(());
    let (mut better, mut missed) = (0, 0);
    for seed in 0..10 {
        let problem = correlated(80, 60, 5, 0.8, 0.1, seed);
        let a = problem.operator();
        let f = Objective::new(&a, classes(&problem)).unwrap().ridge(0.05).unwrap();
        let set = KSparse::new(5, 60).unwrap();
        let (found, plain) =
            (fit(&f, &set).unwrap(), solve(&f, &set, &defaults(), Options::for_set(&set), go).unwrap());
        assert!(found.objective <= plain.objective * (1.0 + 1e-12));
        assert!(!found.quality.unwrap().exhaustive);
        better += usize::from(found.objective < plain.objective * (1.0 - 1e-6));
    }
    for seed in 0..60 {
        let problem = correlated(40, 10, 2, 0.8, 0.3, seed);
        let a = problem.operator();
        let f = Objective::new(&a, classes(&problem)).unwrap().ridge(0.01).unwrap();
        let set = KSparse::new(2, 10).unwrap();
        let outcome = fit(&f, &set).unwrap();
        let neighbour = least(&after_exchanges(&f, &set, outcome.point.indices()));
        missed += usize::from(neighbour < outcome.objective * (1.0 - 1e-8));
    }
    println!("classes: better than a plain run in {better} of 10; {missed} of 60 missed an exchange");
    assert!(better > 0 && 10 * missed <= 60, "{better} {missed}");
}

/// Where the first answer can be improved, the best model along the Lasso is no better than the answer.
#[test]
fn classes_that_are_stuck_go_on_from_the_lasso() {
    let mut stuck = 0;
    for seed in 0..8 {
        let (m, n, k) = (120, 200, 8);
        let problem = correlated(m, n, k, 0.9, 0.1, seed);
        let a = problem.operator();
        let f = Objective::new(&a, classes(&problem)).unwrap();
        let outcome = fit(&f, &KSparse::new(k, n).unwrap()).unwrap();
        let mut least = f64::INFINITY;
        let options = LassoPathOptions { count: 30, smallest: 0.03, gap: 1e-2, ..LassoPathOptions::default() };
        let set = KSparse::new(k, n).unwrap();
        lasso_path(&f, &L1::new(1.0, n).unwrap(), &options, |point| {
            let support = set.project(point.point.clone()).support();
            least = least.min(value_on(&f, support.indices().to_vec()));
            if point.point.support_size() > 4 * k { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .unwrap();
        println!("{seed}: {:.4} along the Lasso, {:.4} found, {:?}", least, outcome.objective, outcome.attempts);
        if outcome.attempts.len() > 1 {
            stuck += 1;
            // The columns have about the same size, so both paths are nearly the same.
            assert!(outcome.objective <= least * (1.0 + 1e-6), "{seed}: {} {least}", outcome.objective);
        }
    }
    assert!(stuck >= 4, "{stuck}");
}

/// What is told of rivals was tried on f, a rare column that the quadratic picture overrates included; and none of
/// what was tried improves the answer.
#[test]
fn rivals_among_classes_are_as_near_as_they_are_said_to_be() {
    let mut told = 0;
    for seed in 0..6 {
        let mut problem = correlated(120, 30, 3, 0.6, 0.3, seed);
        let loss = classes(&problem);
        // two rows of one class: where the fit is sure of them, their curvature is next to nothing
        let rare = &mut problem.design[29 * 120..];
        rare.fill(0.0);
        let ones = loss.classes().unwrap().iter().enumerate().filter(|(_, class)| **class == 1.0).map(|(i, _)| i);
        ones.take(2).for_each(|i| rare[i] = 1.0);
        let a = problem.operator();
        let f = Objective::new(&a, loss).unwrap();
        let set = KSparse::new(4, 30).unwrap();
        let outcome = fit(&f, &set).unwrap();
        let quality = outcome.quality.unwrap();
        assert!(!quality.exhaustive && !quality.improvable() && quality.exchanges_compared < 4 * 26);
        for tie in &quality.near_ties {
            let next = outcome.point.indices().iter().map(|&j| if j == tie.inside { tie.outside } else { j }).collect();
            let rise = value_on(&f, next) - outcome.objective;
            assert!((rise - tie.rise).abs() < 1e-6 * (1.0 + outcome.objective), "{tie:?}: {rise}");
            told += 1;
        }
    }
    assert!(told > 0);
}

/// A path has the fit of each size, or a better one.
#[test]
fn a_path_of_classes_is_never_worse_than_a_fit() {
    let (k, n) = (8, 60);
    for seed in 0..8 {
        let problem = correlated(80, n, k, 0.8, 0.3, seed);
        let a = problem.operator();
        let f = Objective::new(&a, classes(&problem)).unwrap();
        let path = Fit::new(&f, &KSparse::new(k, n).unwrap()).path(1..=k).unwrap();
        for model in &path.models {
            let alone = fit(&f, &KSparse::new(model.atoms, n).unwrap()).unwrap();
            assert!(model.objective <= alone.objective * (1.0 + 1e-9) + 1e-9, "{seed}, {} atoms", model.atoms);
        }
    }
}
