//! The figures of the heart, each section from one command:
//!
//! `cargo run --release -p katoms-bench --bin heart [wide|variants|completion|stages|picture|classes|correlated]`
//!
//! Without a name all sections run. Passes and iterations are exact; seconds are this machine's.

use std::ops::ControlFlow;
use std::path::Path;

use katoms::driver::{Event, Run, Stages, solve};
use katoms::linalg::Matrix;
use katoms::method::{AcceleratedIht, Momentum, Refit, Safeguard, Step, refit_on};
use katoms::set::{ConstraintSet, Exchange, Expand, KSparse, Rank};
use katoms::space::{LowRank, MatrixCovector, Point};
use katoms::{Error, Options, Outcome, Status, Stop, fit};
use katoms_bench::full_svd::FullSvd;
use katoms_bench::problems::{self, Completion};
use katoms_bench::{data_folder, grey_picture, psnr};

type Section = (&'static str, fn() -> Result<(), Error>);

const SECTIONS: [Section; 7] = [
    ("wide", wide),
    ("variants", variants),
    ("completion", completion),
    ("stages", stages),
    ("picture", picture),
    ("classes", classes),
    ("correlated", correlated),
];

fn main() -> Result<(), Error> {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    if let Some(unknown) = asked.iter().find(|a| SECTIONS.iter().all(|s| s.0 != a.as_str())) {
        let names: Vec<&str> = SECTIONS.iter().map(|s| s.0).collect();
        eprintln!("there is no section {unknown}; the sections are {}", names.join(", "));
        std::process::exit(2);
    }
    for (name, section) in SECTIONS {
        if asked.is_empty() || asked.iter().any(|a| a == name) {
            println!("\n== {name}");
            section()?;
        }
    }
    Ok(())
}

/// Passes and error of the defaults on the wide problem, k exact and overshot.
fn wide() -> Result<(), Error> {
    println!(
        "750 x 20000 f32, 50 planted, noiseless, defaults, 20 seeds; reads of the data, that of the quality statement included"
    );
    for k in [50, 244] {
        let (mut reads, mut worst) = (Vec::new(), 0.0_f64);
        for seed in 0..20 {
            let problem = problems::wide(seed)?;
            let outcome = fit(&problem.squares()?, &KSparse::new(k, problem.truth.dim())?)?;
            reads.push(outcome.reads);
            worst = worst.max(outcome.point.distance(&problem.truth));
        }
        reads.sort_by(f64::total_cmp);
        println!(
            "k = {k:3}: {:.1} to {:.1} reads; largest relative error {worst:.1e}",
            reads[0],
            reads[reads.len() - 1]
        );
    }
    Ok(())
}

/// Six variants of Algorithm 1 as the paper and our trials have them: no safeguard, stop at 1e-6.
fn variants() -> Result<(), Error> {
    let variant = |step, momentum, refit| AcceleratedIht { step, momentum, refit, safeguard: Safeguard::Off };
    let (still, quarter) = (Momentum::Constant(0.0), Momentum::Constant(0.25));
    let six = [
        ("IHT, 1/lambda_max", variant(Step::InverseLipschitz, still, Refit::Never)),
        ("AccIHT 1/4, 1/lambda_max", variant(Step::InverseLipschitz, quarter, Refit::Never)),
        ("IHT, line search", variant(Step::LineSearch, still, Refit::Never)),
        ("AccIHT 1/4, line search", variant(Step::LineSearch, quarter, Refit::Never)),
        ("AccIHT closed form, line search", variant(Step::LineSearch, Momentum::ClosedForm, Refit::Never)),
        ("AccIHT, line search, debiased", variant(Step::LineSearch, Momentum::ClosedForm, Refit::EveryIteration)),
    ];
    let draws = match std::env::var_os("KATOMS_DRAW") {
        Some(folder) => match problems::stored(Path::new(&folder)) {
            Ok(draw) => vec![draw],
            Err(message) => {
                eprintln!("skipped: {message}");
                return Ok(());
            }
        },
        None => (0..10).map(problems::wide).collect::<Result<_, _>>()?,
    };
    println!("iterations (cap 1000) and relative errors, {} draw(s): median [least, most]", draws.len());
    for k in [50, 244] {
        for (name, method) in &six {
            let (mut iterations, mut errors) = (Vec::new(), Vec::new());
            for problem in &draws {
                let f = problem.squares()?;
                let set = KSparse::new(k, problem.truth.dim())?;
                // The trials stopped on the relative change alone.
                let stop = Stop { perfect: Some(0.0), ..Stop::default() };
                let mut run = Run::new(&f, &set, method, Options { stop, ..Options::for_set(&set) })?;
                while !run.is_done() {
                    run.step();
                }
                iterations.push(run.trace().len() as f64);
                errors.push(run.iterate().distance(&problem.truth));
            }
            let (i, e) = (spread(&mut iterations), spread(&mut errors));
            println!("k = {k:3}  {name:32} {:5} [{}, {}]   {:.1e} [{:.1e}, {:.1e}]", i.1, i.0, i.2, e.1, e.0, e.2);
        }
    }
    Ok(())
}

fn spread(values: &mut [f64]) -> (f64, f64, f64) {
    values.sort_by(f64::total_cmp);
    (values[0], values[values.len() / 2], values[values.len() - 1])
}

/// Iterations of the defaults to a relative error of 1e-4.
fn completion() -> Result<(), Error> {
    println!("rank 30, 256 x 384, 35 % seen, defaults: iterations to a relative error of 1e-4");
    for seed in 0..5 {
        let problem = Completion::gaussian(seed)?;
        let (reached, outcome) = followed(&problem, Rank::new(30, (256, 384))?, |error, norm| error <= 1e-4 * norm)?;
        let error = outcome.point.distance(&problem.truth) / problem.truth.norm();
        let reached = reached.map(|e| e.iteration);
        println!("seed {seed}: {reached:?}; ended {:?} after {} at {error:.1e}", outcome.status, outcome.iterations);
    }
    Ok(())
}

/// A run with the defaults, and the first move whose distance from the truth passes a test.
fn followed<S>(problem: &Completion, set: S, near: impl Fn(f64, f64) -> bool) -> Result<Followed, Error>
where
    S: Expand<MatrixCovector, Point = LowRank> + Exchange<MatrixCovector>,
{
    let stages = Stages::for_set(&set);
    staged(problem, set, stages, near)
}

type Followed = (Option<Event>, Outcome<LowRank>);

fn staged<S>(problem: &Completion, set: S, stages: Stages, near: impl Fn(f64, f64) -> bool) -> Result<Followed, Error>
where
    S: Expand<MatrixCovector, Point = LowRank> + Exchange<MatrixCovector>,
{
    let f = problem.squares()?;
    let method = AcceleratedIht::for_structure(set.structure());
    let mut reached = None;
    let stop = Stop { iterations: 200, ..Stop::default() };
    let outcome = solve(&f, &set, &method, Options { stop, stages, ..Options::default() }, |event, x| {
        if reached.is_none() && near(x.distance(&problem.truth), problem.truth.norm()) {
            reached = Some(*event);
        }
        ControlFlow::Continue(())
    })?;
    Ok((reached, outcome))
}

/// Why matrices grow in stages of four: iterations with other ways to grow.
fn stages() -> Result<(), Error> {
    let by = |factor: f64, k: usize| {
        let parts = (1..).map(|i| (k as f64 / factor.powi(i)).round() as usize).take_while(|&j| j > 0);
        let mut before: Vec<usize> = parts.filter(|&j| j < k).collect();
        before.reverse();
        before.dedup();
        Stages { before, ..Stages::growing(k) }
    };
    let ways = |k: usize| [("direct", Stages::direct()), ("by two", by(2.0, k)), ("by four", Stages::growing(k))];
    println!("rank 30, 256 x 384, 35 % seen: iterations to a relative error of 1e-4");
    let problem = Completion::gaussian(0)?;
    for (name, stages) in ways(30) {
        let near = |error: f64, norm: f64| error <= 1e-4 * norm;
        let (reached, _) = staged(&problem, Rank::new(30, (256, 384))?, stages, near)?;
        println!("{name:8} {:?}", reached.map(|e| e.iteration));
    }
    let Some(picture) = photograph() else { return Ok(()) };
    println!("kodim05 at rank 60, 35 % seen: PSNR after at most 200 iterations");
    let problem = Completion::picture(&picture, 60, 0)?;
    for (name, stages) in ways(60) {
        let (_, outcome) = staged(&problem, Rank::new(60, (picture.rows(), picture.columns()))?, stages, |_, _| false)?;
        let quality = psnr(outcome.point.distance(&problem.truth).powi(2), picture.rows() * picture.columns());
        println!("{name:8} {quality:.1} dB, {:?} after {}", outcome.status, outcome.iterations);
    }
    Ok(())
}

fn photograph() -> Option<Matrix> {
    match grey_picture(&data_folder()?.join("kodim05.png")) {
        Ok(picture) => Some(picture),
        Err(message) => {
            eprintln!("skipped: {message}");
            None
        }
    }
}

/// A real picture, against the same method with full SVDs.
fn picture() -> Result<(), Error> {
    let Some(picture) = photograph() else { return Ok(()) };
    let shape = (picture.rows(), picture.columns());
    let pixels = shape.0 * shape.1;
    let problem = Completion::picture(&picture, 60, 0)?;
    println!("kodim05 in grey, {} x {}, reduced to rank 60, 35 % of the pixels seen, defaults", shape.0, shape.1);
    let to_60_db = |error: f64, _: f64| psnr(error * error, pixels) >= 60.0;
    let tell = |name: &str, (reached, outcome): (Option<Event>, Outcome<LowRank>)| {
        let quality = psnr(outcome.point.distance(&problem.truth).powi(2), pixels);
        let (at, after) = reached.map_or(("never".to_string(), f64::NAN), |e| (e.iteration.to_string(), e.seconds));
        let (status, iterations, seconds) = (outcome.status, outcome.iterations, outcome.seconds);
        println!(
            "{name:10} 60 dB: iteration {at}, {after:.2} s; {status:?} after {iterations} at {quality:.1} dB, {seconds:.2} s"
        );
        (after, seconds)
    };
    for _ in 0..3 {
        let ours = tell("ours", followed(&problem, Rank::new(60, shape)?, to_60_db)?);
        let dense = tell("full SVDs", followed(&problem, FullSvd(Rank::new(60, shape)?), to_60_db)?);
        println!("ratio      {:.1} to 60 dB, {:.1} to the end", dense.0 / ours.0, dense.1 / ours.1);
    }
    Ok(())
}

/// Gradients and objective of the defaults for two classes.
fn classes() -> Result<(), Error> {
    println!("logistic, 1000 x 3000, AR(1) 0.4, k = 20, defaults: gradients, and objective over the oracle's");
    for seed in 0..10 {
        let problem = problems::classes(seed)?;
        let f = problem.logistic()?;
        let outcome = fit(&f, &KSparse::new(20, 3000)?)?;
        let oracle = f.value(&refit_on(&f, f.at(problem.truth.clone()), &problem.truth.support()));
        println!("seed {seed}: {} gradients, {:.8}, {:?}", outcome.passes, outcome.objective / oracle, outcome.status);
    }
    Ok(())
}

/// How runs end on the paper's correlated design.
fn correlated() -> Result<(), Error> {
    println!("AR(1) 0.4, 400 x 200, SNR 10, 50 seeds, k = 5, 10, ..., 40: how the runs end");
    for (name, safeguard) in [("defaults", Safeguard::Descent), ("without the safeguard", Safeguard::Off)] {
        let (mut runs, mut unfinished, mut most, mut improvable) = (0, 0, 0, 0);
        for seed in 0..50 {
            let problem = problems::correlated(seed)?;
            let f = problem.squares()?;
            for k in (5..=40).step_by(5) {
                let set = KSparse::new(k, 200)?;
                let method = AcceleratedIht { safeguard, ..AcceleratedIht::for_structure(set.structure()) };
                let outcome = solve(&f, &set, &method, Options::for_set(&set), |_, _| ControlFlow::Continue(()))?;
                runs += 1;
                unfinished += usize::from(outcome.status != Status::Converged);
                improvable += usize::from(outcome.quality.is_some_and(|q| q.improvable()));
                most = most.max(outcome.iterations);
            }
        }
        println!(
            "{name:22} {runs} runs, {unfinished} not converged, at most {most} iterations, {improvable} improvable by an exchange"
        );
    }
    Ok(())
}
