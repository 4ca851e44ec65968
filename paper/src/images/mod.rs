//! `images`: pictures of rank 60 from 35 % of their pixels.
//!
//! A picture's singular values fall by decades. From zero at the full rank, every method first spends its directions on
//! what the missing pixels look like; with the rank grown in stages, the strong directions stand before the weak ones
//! are sought, and the picture comes back exactly.

mod picture;
mod report;
mod runs;
mod search;

use anyhow::Result;
use serde::Deserialize;

use crate::{Experiment, Progress, Request, Section};
use picture::Grey;
use report::Contested;
use runs::{PIECES, Problem, contest};

/// `paper/images.toml` says what each is.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    seed: u64,
    rank: usize,
    seen: f64,
    momentum: f64,
    rounds: usize,
    iterations: usize,
    light_iterations: usize,
    most_iterations: usize,
    perfect: f64,
    path: Path,
    drawn: Size,
}

/// How λ falls: how many values, the last as a share of the one that makes all zero, the most iterations for each.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Path {
    lambdas: usize,
    least: f64,
    iterations: usize,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Size {
    rows: usize,
    columns: usize,
}

impl Config {
    fn check(&self) -> Result<()> {
        let rank = self.rank;
        let why = format!("`drawn` must have at least {rank} rows and columns, as many as `rank` says");
        Experiment::Images.check([(self.drawn.rows.min(self.drawn.columns) >= rank, why)])
    }
}

pub fn run(request: &Request, progress: &Progress) -> Result<Section> {
    let config: Config = Experiment::Images.settings(request)?;
    config.check()?;
    let pictures = match request.images.as_slice() {
        [] => vec![Grey::drawn(config.drawn.rows, config.drawn.columns)],
        paths => paths.iter().map(|path| Grey::read(path, config.rank)).collect::<Result<_>>()?,
    };
    progress.expect(PIECES * pictures.len());
    let one = |picture| {
        let problem = Problem::new(picture, &config)?;
        progress.done(&problem.picture.name)?;
        let finished = contest(&problem, &config, progress)?;
        Ok(Contested { problem, finished })
    };
    let contested = pictures.into_iter().map(one).collect::<Result<Vec<_>>>()?;
    report::section(&config, &contested)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Agreement;
    use crate::experiment::tests::changed;

    fn small(lines: &[&str]) -> Section {
        run(&changed(Experiment::Images, lines), &Progress::hidden()).unwrap()
    }

    /// Growing the rank recovers the picture; the paper's way, from zero at the full rank, does not within its cap.
    #[test]
    fn stages_recover_the_picture() {
        let section = small(&[]);
        assert!(section.numbers["staged PSNR"] > 74.0 && section.numbers["Riemannian CG PSNR"] > 74.0);
        assert!(section.numbers["AccIHT PSNR"] < section.numbers["staged PSNR"]);
        let panels: Vec<usize> = section.figures.iter().map(|f| f.panels.len()).collect();
        assert_eq!((panels, section.tables[0].rows.len()), (vec![2, 3 + PIECES - 1], PIECES - 1));
        assert!(section.verdicts.iter().all(|v| v.agreement != Agreement::Open), "{:?}", section.verdicts);
        // A drawn picture is never taken for a photograph.
        for said in [&section.lead, &section.figures[1].title, &section.tables[0].title] {
            assert!(said.contains("drawn"), "{said}");
        }
    }

    #[test]
    fn a_run_that_diverges_is_said_to() {
        let section = small(&["momentum = 1e200"]);
        let row = &section.tables[0].rows[0];
        assert_eq!((row[0].as_str(), row[1].as_str()), ("AccIHT (paper)", "diverged"));
        assert!(section.figures[1].panels[3].title.ends_with("diverged"), "{}", section.figures[1].panels[3].title);
        assert!(section.verdicts.iter().all(|v| v.measured.contains("diverged") && v.agreement == Agreement::Open));
        // It is saved and read again.
        let saved = serde_json::to_string(&section).unwrap();
        assert!(serde_json::from_str::<Section>(&saved).is_ok());
    }
}
