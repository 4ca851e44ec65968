//! `images`: pictures of rank 60 from 35 % of their pixels.
//!
//! A picture's singular values fall by decades. From zero at the full rank, every method first spends its directions on
//! what the missing pixels look like; with the rank grown in stages, the strong directions stand before the weak ones
//! are sought, and the picture comes back exactly.

mod claims;
mod contest;
mod figures;
mod picture;
mod search;
mod telling;
#[cfg(test)]
mod tests;

use serde::Deserialize;

use crate::{Error, Experiment, Progress, Request, Section};
use contest::{PIECES, Problem, contest};
use picture::Grey;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    seed: u64,
    rank: usize,
    /// The share of pixels that is seen.
    seen: f64,
    /// τ of the paper's AccIHT.
    momentum: f64,
    /// Rounds of subspace iteration for the leading pairs of the paper's search.
    rounds: usize,
    /// The most iterations of the paper's AccIHT and IHT.
    iterations: usize,
    /// The most iterations of the methods whose iterations cost less.
    light_iterations: usize,
    /// The most iterations of those that recover the picture.
    most_iterations: usize,
    /// A run ends when f is this share of f(0).
    perfect: f64,
    /// Of Soft-Impute.
    path: Path,
    /// The size of the picture that is drawn where none is given.
    drawn: Size,
}

/// How λ falls.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Path {
    /// How many values.
    lambdas: usize,
    /// The last, as a share of the one that makes all zero.
    least: f64,
    /// The most iterations for each.
    iterations: usize,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Size {
    rows: usize,
    columns: usize,
}

impl Config {
    fn check(&self) -> Result<(), Error> {
        let counts = [
            ("rank", self.rank),
            ("rounds", self.rounds),
            ("iterations", self.iterations),
            ("light_iterations", self.light_iterations),
            ("most_iterations", self.most_iterations),
            ("path.lambdas", self.path.lambdas),
            ("path.iterations", self.path.iterations),
        ];
        let none = counts.iter().find(|(_, count)| *count == 0).map(|(name, _)| *name);
        let shares = [("seen", self.seen, 1.0), ("perfect", self.perfect, 0.5), ("path.least", self.path.least, 0.99)];
        let odd = shares.iter().find(|(_, v, most)| !(*v > 0.0 && v <= most));
        let why = match (none, odd) {
            (Some(name), _) => format!("`{name}` must be at least 1"),
            (_, Some((name, value, most))) => format!("`{name}` must be above 0 and at most {most}, not {value}"),
            _ if !self.momentum.is_finite() => "`momentum` must be finite".into(),
            _ if self.drawn.rows.min(self.drawn.columns) < self.rank => {
                format!("`drawn` must have at least {} rows and columns, as many as `rank` says", self.rank)
            }
            _ if self.drawn.rows.max(self.drawn.columns) > 2048 => "`drawn` has at most 2048 rows and columns".into(),
            _ => return Ok(()),
        };
        Err(Experiment::Images.bad_config(&why))
    }
}

/// Runs it.
pub fn run(request: &Request, progress: &Progress) -> Result<Section, Error> {
    let config: Config = Experiment::Images.settings(request)?;
    config.check()?;
    let pictures = match request.images.as_slice() {
        [] => vec![Grey::drawn(config.drawn.rows, config.drawn.columns)],
        paths => paths.iter().map(|path| Grey::read(path, config.rank)).collect::<Result<_, _>>()?,
    };
    progress.expect(PIECES * pictures.len());
    let mut told = Vec::with_capacity(pictures.len());
    for picture in named_apart(pictures) {
        let problem = Problem::new(picture, &config)?;
        progress.done(&problem.picture.name)?;
        let finished = contest(&problem, &config, progress)?;
        told.push((problem, finished));
    }
    telling::section(&config, &told)
}

/// The pictures with names that tell them apart.
fn named_apart(pictures: Vec<Grey>) -> Vec<Grey> {
    let names = told_apart(pictures.iter().map(|picture| picture.name.clone()));
    names.into_iter().zip(pictures).map(|(name, picture)| Grey { name, ..picture }).collect()
}

/// The names, with a number behind each that is taken already. Upper and lower case are the same, as they are to some
/// file systems.
fn told_apart(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut apart: Vec<String> = Vec::new();
    for name in names {
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        let free = |candidate: &String| !apart.iter().any(|taken| taken.eq_ignore_ascii_case(candidate));
        let chosen = std::iter::once(name.clone()).chain(numbered).find(free);
        apart.push(chosen.unwrap_or(name));
    }
    apart
}
