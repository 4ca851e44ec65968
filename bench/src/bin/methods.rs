//! Every method of the table side by side:
//!
//! `cargo run --release -p katoms-bench --bin methods [FILE.svg]`
//!
//! prints the passes after which the relative objective gap of each stays below 1e-3, 1e-6 and 1e-9, and draws
//! the gaps into FILE (`target/methods.svg` unless told).
//!
//! `cargo run --release -p katoms-bench --bin methods completion`
//!
//! prints the iterations of the methods for matrices on the completion problems of `heart`: a Gaussian product
//! of rank 30, and a photograph of rank 60 where the real data are there.

use std::error::Error;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use katoms::driver::{Stages, solve};
use katoms::method::RankMethod;
use katoms::set::Rank;
use katoms::space::Point;
use katoms::{Options, Stop};
use katoms_bench::problems::Completion;
use katoms_bench::{curves, curves_figure, data_folder, grey_picture, psnr};

/// What the methods for a given rank may need at most.
const ITERATIONS: usize = 300;
const MATRICES: [&str; 5] = ["accelerated-iht", "riemannian-cg", "cgiht", "dore", "bfgd"];

type Told = Result<(), Box<dyn Error>>;

fn main() -> Told {
    match std::env::args().nth(1).as_deref() {
        Some("completion") => completion(),
        Some(file) => figure(Path::new(file)),
        None => figure(&PathBuf::from("target/methods.svg")),
    }
}

fn figure(path: &Path) -> Told {
    let panels = curves::panels()?;
    for panel in &panels {
        println!("\n{:32}{:>8}{:>8}{:>8}   passes to this gap", panel.title, "1e-3", "1e-6", "1e-9");
        for curve in &panel.curves {
            let to = |gap| curve.passes_to(gap).map_or("-".into(), |passes| passes.to_string());
            println!("{:32}{:>8}{:>8}{:>8}", curve.name, to(1e-3), to(1e-6), to(1e-9));
        }
    }
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    curves_figure::draw(&panels, path)?;
    println!("\n{}", path.display());
    Ok(())
}

fn completion() -> Told {
    println!("rank 30, 256 x 384, 35 % seen: iterations to a relative error of 1e-4, and to the end");
    let problem = Completion::gaussian(0)?;
    for (how, stages) in [("direct", Stages::direct()), ("staged", Stages::growing(30))] {
        for name in MATRICES {
            let (reached, all, error) = followed(&problem, 30, name, stages.clone())?;
            let reached = reached.map_or("-".into(), |at| at.to_string());
            println!("{how} {name:18}{reached:>6}{all:>6}   error {:.1e}", error / problem.truth.norm());
        }
    }
    let Some(folder) = data_folder() else { return Ok(()) };
    let picture = grey_picture(&folder.join("kodim05.png"))?;
    println!("the photograph, rank 60, 35 % seen, staged: iterations, and dB at the end");
    let problem = Completion::picture(&picture, 60, 0)?;
    for name in MATRICES {
        let (_, all, error) = followed(&problem, 60, name, Stages::growing(60))?;
        println!("{name:18}{all:>6}   {:.1} dB", psnr(error * error, picture.rows() * picture.columns()));
    }
    Ok(())
}

/// The iteration that came within 1e-4 of the truth, all iterations, and the distance at the end.
fn followed(
    problem: &Completion,
    rank: usize,
    name: &str,
    stages: Stages,
) -> Result<(Option<usize>, usize, f64), katoms::Error> {
    let set = Rank::new(rank, problem.truth.domain())?;
    let stop = Stop { iterations: ITERATIONS, ..Stop::default() };
    let options = Options { stop, stages, ..Options::default() };
    let mut reached = None;
    let outcome = solve(&problem.squares()?, &set, &RankMethod::named(name)?, options, |event, x| {
        if reached.is_none() && x.distance(&problem.truth) <= 1e-4 * problem.truth.norm() {
            reached = Some(event.iteration);
        }
        ControlFlow::Continue(())
    })?;
    Ok((reached, outcome.iterations, outcome.point.distance(&problem.truth)))
}
