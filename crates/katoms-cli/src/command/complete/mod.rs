//! `katoms complete`: a matrix or picture with missing entries.

mod grid;
mod page;

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use katoms::method::RankMethod;
use katoms::{Status, Stop};
use katoms_estimate::{Centring, Completed, Completion, Observed, Rule, complete};
use serde_json::json;

use crate::Ended;
use crate::checkpoint::{self, Job};
use crate::outputs;
use crate::sizes::Sizes;
use crate::told::{Told, aligned, count, number};
use crate::watch::{self, Companion};
use crate::words;
use crate::work::{CheckpointArgs, WorkArgs};
use grid::{Grid, Kind};

/// `katoms complete`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  katoms complete ratings.csv --rank 1..8 --out completed.csv       person,film,rating: the rank is chosen
  katoms complete holes.png --rank 20 --out whole.png               transparent pixels are filled
  katoms complete photo.png --observed 0.35 --rank 30 --report r.html   hide 65 % and see
  katoms complete table.csv --rank 2 --out filled.csv               empty cells are filled
  katoms complete ratings.mtx --rank 10 --factors factors.json

A tenth of the entries is held out to choose the rank, a ridge and whether rows and columns have a level of their own;
then all of them are fitted.
Ctrl-C ends with the best so far. With --checkpoint, the same command goes on where it was.")]
pub struct CompleteArgs {
    /// Row, column, value (CSV, Parquet, MatrixMarket); a table or matrix with empty cells (CSV, Parquet, NPY); a
    /// picture (PNG, JPEG)
    #[arg(value_name = "DATA")]
    data: PathBuf,
    /// The rank, or ranks of which one is chosen: 10, 2..40, 5,10,20
    #[arg(long, short, value_name = "RANKS")]
    rank: Sizes,
    /// What a table holds [default: entries where it has three full columns, cells otherwise]
    #[arg(long = "as", value_enum, value_name = "KIND", help_heading = "Data")]
    kind: Option<Kind>,
    /// A picture of the same size, whose transparent pixels, or black ones where none is transparent, are missing in
    /// the first
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    mask: Option<PathBuf>,
    /// Keep this share of what is there, at random, and compare with the rest
    #[arg(long, value_name = "SHARE", value_parser = share, help_heading = "Data")]
    observed: Option<f64>,
    /// λ of ½λ‖X‖², or several to choose from [default: chosen from 1, 0.3, 0.1, 0.03, 0]
    #[arg(long, value_name = "LIST", value_delimiter = ',', allow_negative_numbers = true, help_heading = "Model")]
    ridge: Vec<f64>,
    /// The method (katoms methods --for rank) [default: riemannian-cg]
    #[arg(long, value_name = "NAME", help_heading = "Model")]
    method: Option<String>,
    /// The share of the entries that is held out to choose
    #[arg(long, value_name = "SHARE", default_value_t = 0.1, value_parser = share, help_heading = "Model")]
    held_out: f64,
    /// Take the smallest rank within one standard error of the best
    #[arg(long, help_heading = "Model")]
    one_se: bool,
    /// What is hidden or held out is drawn with this
    #[arg(long, default_value_t = 0, help_heading = "Model")]
    seed: u64,
    /// Write what was completed here: a picture as PNG, otherwise CSV or NPY by the name's ending
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    out: Option<PathBuf>,
    /// Write the factors here, as JSON: small where the matrix is large
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    factors: Option<PathBuf>,
    /// Write a report here: one HTML file that needs no network
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    report: Option<PathBuf>,
    #[command(flatten)]
    work: WorkArgs,
    #[command(flatten)]
    checkpoint: CheckpointArgs,
}

/// A number above 0 and below 1.
fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value < 1.0 => Ok(value),
        _ => Err(format!("`{text}` must lie between 0 and 1, such as 0.35")),
    }
}

impl CompleteArgs {
    pub(super) fn run(&self, told: &Told) -> Result<Ended> {
        watch::listen(watch::BEST_SO_FAR);
        let files = [&self.out, &self.factors, &self.report, &self.checkpoint.checkpoint];
        let outputs = files.map(|path| path.as_deref());
        outputs::check(&[Some(self.data.as_path()), self.mask.as_deref()], &outputs)?;
        outputs::check_ending(self.out.as_deref(), &["png", "csv", "npy"])?;
        let mut checkpoint = self.checkpoint.open()?;
        let source = katoms_io::read(&self.data, &katoms_io::ReadOptions::default())?;
        let grid = Grid::new(source, &self.data, self.kind)?;
        let grid = match &self.mask {
            Some(mask) => grid.masked(mask)?,
            None => grid,
        };
        let grid = match self.observed {
            Some(share) => grid.hiding(share, self.seed)?,
            None => grid,
        };
        let observed = grid.observed()?;
        let grid = grid.noting(observed.repeated());
        grid.notes.iter().for_each(|note| told.say(format!("note: {note}")));
        let how = self.how(&grid)?;
        let (p, q) = observed.shape();
        if let Some(&rank) = self.rank.0.iter().find(|&&rank| rank > p.min(q)) {
            bail!("--rank has {rank}, but a {p} × {q} matrix has at most rank {}", p.min(q));
        }
        let pieces = (how.ranks.len() * how.ridges.len() > 1).then_some(how.ranks.len() * how.ridges.len() + 1);
        let companion = Companion::new(told, "completing", pieces, self.work.time_limit);
        let job = || Self::job(&observed);
        let (mut completed, cut) = checkpoint.run(told, &self.data, job, companion, |state, companion| {
            complete(&observed, &how, state.as_deref(), companion)
        })?;
        completed.status = cut.status(completed.status);
        self.deliver(&grid, &completed, told)?;
        // A choice that was cut short stays so: the checkpoint has only the last fit, and that is done.
        let done = completed.status == Status::Converged;
        checkpoint.forget(done);
        Ok(self.work.ended(done))
    }

    /// What a checkpoint of this completion belongs to; what was asked for is in the state.
    fn job(observed: &Observed) -> Job {
        let places = |indices: &[usize]| indices.iter().map(|&i| i as f64).collect::<Vec<f64>>();
        let parts = [&places(observed.rows())[..], &places(observed.columns()), observed.values()];
        let (rows, columns) = observed.shape();
        let (command, checksum) = ("complete".into(), checkpoint::checksum(&parts));
        Job { command, rows, columns, checksum, options: Vec::new() }
    }

    fn how(&self, grid: &Grid) -> Result<Completion> {
        let ranks = self.rank.0.iter().copied();
        let mut how = if grid.is_sparse() { Completion::ratings(ranks) } else { Completion::new(ranks) };
        if !self.ridge.is_empty() {
            how.ridges.clone_from(&self.ridge);
        }
        if let Some(name) = &self.method {
            how.method = RankMethod::named(name)?;
        }
        how.tied = grid.channels().max(1);
        how.held_out = self.held_out;
        how.rule = if self.one_se { Rule::OneStandardError } else { Rule::Least };
        how.seed = self.seed;
        how.stop = Stop { seconds: self.work.time_limit, ..Stop::default() };
        Ok(how)
    }

    /// Tells, saves, reports.
    fn deliver(&self, grid: &Grid, completed: &Completed, told: &Told) -> Result<()> {
        told.say(text(grid, completed));
        shortfall(completed).into_iter().for_each(|words| told.warn(words));
        if let Some(path) = &self.out {
            katoms_io::save(path, &grid.completed_file(path, &completed.matrix)?)?;
            told.say(format!("completed -> {}", path.display()));
        }
        if let Some(path) = &self.factors {
            katoms_io::save(path, grid.factors(completed)?.as_bytes())?;
            told.say(format!("factors -> {}", path.display()));
        }
        if let Some(path) = &self.report {
            katoms_io::save(path, page::report(grid, completed, &self.data, told)?.to_html().as_bytes())?;
            told.say(format!("report -> {}", path.display()));
        }
        if self.work.json {
            told.print_json(&summary(grid, completed))?;
        }
        Ok(())
    }
}

/// What the answer falls short of, if anything.
fn shortfall(completed: &Completed) -> Option<String> {
    if completed.status != Status::Converged {
        return Some(format!("{}: this is the best so far", words::status(completed.status)));
    }
    let (tried, most) = (completed.trials.len(), completed.most_trials);
    (!completed.complete).then(|| format!("the choice was cut short: {tried} of at most {most} were tried"))
}

fn summary(grid: &Grid, completed: &Completed) -> serde_json::Value {
    let trials: Vec<_> = completed
        .trials
        .iter()
        .map(
            |t| json!({ "rank": t.rank, "ridge": t.ridge, "held_out_rmse": t.held_out_rmse, "seen_rmse": t.seen_rmse }),
        )
        .collect();
    let hidden = grid.hidden_error(&completed.matrix);
    json!({
        "rank": completed.rank, "ridge": completed.ridge, "shape": grid.shape(), "seen": grid.seen(),
        "seen_rmse": completed.seen_rmse, "held_out_rmse": completed.held_out_rmse, "trials": trials,
        "hidden_rmse": hidden.map(|error| error.rmse), "psnr": hidden.and_then(|error| error.psnr),
        "singular_values": completed.matrix.singular_values, "status": words::status_name(completed.status),
        "complete": completed.complete, "iterations": completed.iterations, "passes": completed.passes,
        "seconds": completed.seconds,
    })
}

/// What a person reads on the terminal.
fn text(grid: &Grid, completed: &Completed) -> String {
    let mut text = format!("\n{}\n", grid.title(completed.rank));
    if !completed.trials.is_empty() {
        let row = |trial: &katoms_estimate::Trial| {
            let chosen = (trial.rank, trial.ridge, trial.centring)
                == (completed.rank, completed.ridge, completed.matrix.effects.centring);
            vec![
                trial.rank.to_string(),
                number(trial.ridge),
                if trial.centring == Centring::None { "no".into() } else { "yes".into() },
                number(trial.held_out_rmse),
                number(trial.seen_rmse),
                if chosen { "chosen".into() } else { String::new() },
            ]
        };
        let rows: Vec<Vec<String>> = completed.trials.iter().map(row).collect();
        text += &format!("\n{}", aligned(&["rank", "ridge", "levels", "held-out error", "seen error", ""], &rows));
    }
    text += &format!("\nroot mean squared error on what was seen: {}\n", number(completed.seen_rmse));
    if let Some(error) = completed.held_out_rmse {
        text += &format!("on entries that were held out to choose: {}\n", number(error));
    }
    if let Some(error) = grid.hidden_error(&completed.matrix) {
        let psnr = error.psnr.map_or(String::new(), |psnr| format!(", {psnr:.1} dB over the whole picture"));
        text += &format!("on what was hidden: {}{psnr}\n", number(error.rmse));
    }
    let passes = count(completed.passes, "pass", "passes");
    text + &format!("{}: {passes}, {:.2} s\n", words::status(completed.status), completed.seconds)
}
