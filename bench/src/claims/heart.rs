//! What the heart must reach: the claims, as tests. Passes and iterations are exact, so these hold on
//! any machine. The figures themselves: `cargo run --release -p katoms-bench --bin heart`.

use std::ops::ControlFlow;
use std::path::Path;

use crate::problems::{self, Completion, Sparse};
use crate::{data_folder, grey_picture, psnr};
use katoms::driver::{Run, solve};
use katoms::method::{AcceleratedIht, Momentum, Refit, Safeguard, Step, refit_on};
use katoms::set::{ConstraintSet, KSparse, Rank};
use katoms::space::Point;
use katoms::{Error, Options, Status, Stop, fit};

#[test]
fn wide_problem_needs_few_passes() -> Result<(), Error> {
    for seed in 0..20 {
        let problem = problems::wide(seed)?;
        let f = problem.squares()?;
        for (k, most) in [(50, 2.0), (244, 2.0)] {
            let outcome = fit(&f, &KSparse::new(k, problem.truth.dim())?)?;
            let error = outcome.point.distance(&problem.truth) / problem.truth.norm();
            assert_eq!(outcome.status, Status::Converged, "seed {seed}, k {k}");
            assert!(outcome.reads <= most, "seed {seed}, k {k}: {} reads", outcome.reads);
            assert!(error <= 1e-6, "seed {seed}, k {k}: error {error:e}");
        }
    }
    Ok(())
}

/// Iterations and error of a method that stops on the relative change alone.
fn walked(problem: &Sparse<f32>, k: usize, method: &AcceleratedIht) -> Result<(usize, f64), Error> {
    let f = problem.squares()?;
    let set = KSparse::new(k, problem.truth.dim())?;
    let stop = Stop { perfect: Some(0.0), ..Stop::default() };
    let mut run = Run::new(&f, &set, method, Options { stop, ..Options::for_set(&set) })?;
    while !run.is_done() {
        run.step();
    }
    Ok((run.trace().len(), run.iterate().distance(&problem.truth)))
}

/// The median over five draws lies within 20 % of the figure of a single draw with another generator.
fn assert_near(name: &str, k: usize, momentum: Momentum, refit: Refit, expected: (f64, f64)) -> Result<(), Error> {
    let method = AcceleratedIht { step: Step::LineSearch, momentum, refit, safeguard: Safeguard::Off };
    let one = |seed| walked(&problems::wide(seed)?, k, &method);
    let mut runs = (0..5).map(one).collect::<Result<Vec<_>, _>>()?;
    runs.sort_by_key(|r| r.0);
    let (iterations, error) = (runs[2].0 as f64, runs[2].1);
    let (published, published_error) = expected;
    assert!((iterations / published - 1.0).abs() <= 0.2, "{name}: {iterations} iterations, expected {published}");
    assert!(error <= 10.0 * published_error, "{name}: error {error:e}, expected {published_error:e}");
    Ok(())
}

#[test]
fn line_search_variants_need_the_known_iterations() -> Result<(), Error> {
    let (still, quarter) = (Momentum::Constant(0.0), Momentum::Constant(0.25));
    assert_near("IHT", 50, still, Refit::Never, (41.0, 1.8e-6))?;
    assert_near("AccIHT 1/4", 50, quarter, Refit::Never, (29.0, 1.1e-6))?;
    assert_near("AccIHT closed form", 50, Momentum::ClosedForm, Refit::Never, (24.0, 1.0e-6))?;
    assert_near("AccIHT debiased", 50, Momentum::ClosedForm, Refit::EveryIteration, (6.0, 3.9e-8))?;
    assert_near("AccIHT closed form", 244, Momentum::ClosedForm, Refit::Never, (103.0, 3.7e-6))?;
    assert_near("AccIHT debiased", 244, Momentum::ClosedForm, Refit::EveryIteration, (6.0, 6.4e-8))
}

/// On the draw of the first trials every variant needs the iterations that it needed there. (On other
/// draws the slow variants scatter too widely to say anything: 500 to 900 in place of 737.)
#[test]
#[ignore = "long: thousands of passes, on a draw that `make test-long` makes with NumPy"]
fn the_first_draw_needs_the_known_iterations() -> Result<(), Box<dyn std::error::Error>> {
    let Some(folder) = std::env::var_os("KATOMS_DRAW") else {
        eprintln!("skipped: KATOMS_DRAW names no folder; bench/numpy_draw.py writes it");
        return Ok(());
    };
    let problem = problems::stored(Path::new(&folder))?;
    let (still, quarter) = (Momentum::Constant(0.0), Momentum::Constant(0.25));
    let known = [
        (Step::InverseLipschitz, still, Refit::Never, [(992.0, 5.9e-2), (1000.0, 2.4e-1)]),
        (Step::InverseLipschitz, quarter, Refit::Never, [(756.0, 5.9e-2), (1000.0, 1.8e-1)]),
        (Step::LineSearch, still, Refit::Never, [(41.0, 1.8e-6), (993.0, 1.1e-4)]),
        (Step::LineSearch, quarter, Refit::Never, [(29.0, 1.1e-6), (737.0, 7.6e-5)]),
        (Step::LineSearch, Momentum::ClosedForm, Refit::Never, [(24.0, 1.0e-6), (103.0, 3.7e-6)]),
        (Step::LineSearch, Momentum::ClosedForm, Refit::EveryIteration, [(6.0, 3.9e-8), (6.0, 6.4e-8)]),
    ];
    for (step, momentum, refit, cells) in known {
        for (k, (iterations, error)) in [50, 244].into_iter().zip(cells) {
            let method = AcceleratedIht { step, momentum, refit, safeguard: Safeguard::Off };
            let (found, found_error) = walked(&problem, k, &method)?;
            assert!((found as f64 / iterations - 1.0).abs() <= 0.2, "{method:?}, k {k}: {found}, known {iterations}");
            assert!(found_error <= 3.0 * error, "{method:?}, k {k}: error {found_error:e}, known {error:e}");
        }
    }
    Ok(())
}

#[test]
fn completion_needs_at_most_sixty_iterations() -> Result<(), Error> {
    for seed in 0..3 {
        let problem = Completion::gaussian(seed)?;
        let f = problem.squares()?;
        let set = Rank::new(30, (256, 384))?;
        let method = AcceleratedIht::for_structure(set.structure());
        let outcome = solve(&f, &set, &method, Options::for_set(&set), |event, x| {
            let near = x.distance(&problem.truth) <= 1e-4 * problem.truth.norm();
            if near || event.iteration > 60 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        let error = outcome.point.distance(&problem.truth) / problem.truth.norm();
        assert!(error <= 1e-4, "seed {seed}: error {error:e} after {} iterations", outcome.iterations);
        assert!(outcome.iterations <= 60, "seed {seed}: {} iterations", outcome.iterations);
    }
    Ok(())
}

#[test]
fn a_real_picture_is_recovered() -> Result<(), Error> {
    let Some(folder) = data_folder() else { return Ok(()) };
    let picture = grey_picture(&folder.join("kodim05.png")).expect("the data folder holds kodim05.png");
    let shape = (picture.rows(), picture.columns());
    let problem = Completion::picture(&picture, 60, 0)?;
    let f = problem.squares()?;
    let set = Rank::new(60, shape)?;
    let method = AcceleratedIht::for_structure(set.structure());
    let decibels = |error: f64| psnr(error * error, shape.0 * shape.1);
    let outcome = solve(&f, &set, &method, Options::for_set(&set), |event, x| {
        let enough = decibels(x.distance(&problem.truth)) >= 60.0;
        if enough || event.iteration >= 200 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    let reached = decibels(outcome.point.distance(&problem.truth));
    assert!(reached >= 60.0, "{reached} dB after {} iterations", outcome.iterations);
    Ok(())
}

#[test]
fn classes_need_few_gradients_and_match_the_oracle() -> Result<(), Error> {
    for seed in 0..10 {
        let problem = problems::classes(seed)?;
        let f = problem.logistic()?;
        let outcome = fit(&f, &KSparse::new(20, problem.truth.dim())?)?;
        let oracle = f.value(&refit_on(&f, f.at(problem.truth.clone()), &problem.truth.support()));
        assert!(outcome.passes <= 8, "seed {seed}: {} gradients", outcome.passes);
        assert!(outcome.objective <= oracle * (1.0 + 1e-9), "seed {seed}: {} > {oracle}", outcome.objective);
    }
    Ok(())
}

#[test]
fn no_default_run_on_the_correlated_design_ends_at_the_cap() -> Result<(), Error> {
    for seed in 0..50 {
        let problem = problems::correlated(seed)?;
        let f = problem.squares()?;
        for k in (5..=40).step_by(5) {
            let outcome = fit(&f, &KSparse::new(k, problem.truth.dim())?)?;
            let quality = outcome.quality.expect("fit states the quality");
            assert_eq!(outcome.status, Status::Converged, "seed {seed}, k {k}");
            assert!(quality.stationarity <= 1e-6, "seed {seed}, k {k}: {quality:?}");
        }
    }
    Ok(())
}
