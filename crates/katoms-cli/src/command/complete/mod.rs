//! `katoms complete`: a matrix or picture with missing entries.

mod grid;
mod page;

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use katoms::method::RankMethod;
use katoms::{Status, Stop};
use katoms_estimate::{Centring, Columns, Completed, Completion, Observed, RowPrior, Rule, Trial, complete};
use katoms_io::Source;
use serde_json::json;

use crate::Ended;
use crate::card::{self, Place};
use crate::checkpoint::{self, Job};
use crate::outputs;
use crate::reading::FormatArgs;
use crate::sizes::Sizes;
use crate::terminal::{Terminal, aligned, count, number};
use crate::watch::{self, Monitor};
use crate::words;
use crate::work::{CheckpointArgs, WorkArgs};
use grid::{Colour, Grid, Kind, Meant};

/// How far a channel of a painted hole may be off in a JPEG, of 255: saved at quality 75, magenta on a photograph is off
/// by up to 40 inside a hole, and by more at its rim where colours are stored at half the resolution.
const JPEG_TOLERANCE: u8 = 40;

/// What is said of a table whose columns are not scaled.
const LIKE_RATINGS: &str = "most cells are empty and few values differ, so this is taken for ratings, all in one unit; if \
    its columns are features, say --scale";

/// `katoms complete`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  katoms complete table.csv --out filled.csv                        empty cells are filled, the rank is chosen
  katoms complete ratings.csv --rank 1..8 --out completed.csv       person,film,rating: an entry on each line
  katoms complete log.csv --as entries --row 1 --column 3 --value 4 --factors factors.json
  katoms complete holes.png --rank 20 --out whole.png               transparent pixels are filled
  katoms complete scan.png --hole-colour '#ff00ff' --rank 20 --out whole.png
  katoms complete photo.png --observed 0.35 --rank 30 --report r.html   hide 65 % and see
  katoms complete ratings.mtx --rank 10 --factors factors.json

The columns of a table are features, each in a unit of its own: they are scaled, a factor analysis of rank k finds the
noise of each, and no cell is filled outside of what was seen of its column. Entries and pixels are all of one kind; a
ridge, and whether rows and columns have effects of their own, are chosen instead.
A tenth of the entries is held out to choose; then all of them are fitted.
Ctrl-C ends with the best so far. With --checkpoint, the same command goes on where it was.")]
pub struct CompleteArgs {
    /// Row, column, value (CSV, Parquet, MatrixMarket); a table or matrix with empty cells (CSV, Parquet, NPY); a
    /// picture (PNG, JPEG)
    #[arg(value_name = "DATA")]
    data: PathBuf,
    /// The rank, or ranks of which one is chosen: 10, 2..40, 5,10,20
    /// [default: chosen from all that the entries can carry, up to 30]
    #[arg(long, short, value_name = "RANKS")]
    rank: Option<Sizes>,
    /// What a table holds [default: found by the names of the columns, or by what is in them; asked for if in doubt]
    #[arg(long = "as", value_enum, value_name = "KIND", help_heading = "Data")]
    kind: Option<Kind>,
    /// Of entries, the column with their rows; of a table, the column that names its rows
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    row: Option<String>,
    /// Of entries, the column with their columns
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    column: Option<String>,
    /// Of entries, the column with their values
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    value: Option<String>,
    #[command(flatten)]
    format: FormatArgs,
    /// A picture of the same size, whose transparent pixels, or black ones where none is transparent, are missing in
    /// the first
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    mask: Option<PathBuf>,
    /// Pixels of this colour are missing: '#ff00ff', black, white, magenta, …
    #[arg(long, value_name = "COLOUR", alias = "hole-color", help_heading = "Data")]
    hole_colour: Option<Colour>,
    /// How far a channel of such a pixel may be off, of 255 [default: 0, for a JPEG 40]
    #[arg(long, value_name = "STEPS", requires = "hole_colour", help_heading = "Data")]
    hole_tolerance: Option<u8>,
    /// Keep this share of what is there, at random, and compare with the rest
    #[arg(long, value_name = "SHARE", value_parser = share, help_heading = "Data")]
    observed: Option<f64>,
    /// Bring columns to standard deviation 1 and give each a noise of its own, also those of entries [default: for a
    /// table, unless --ridge or --method is given]
    #[arg(long, conflicts_with_all = ["ridge", "method", "no_scale"], help_heading = "Model")]
    scale: bool,
    /// Take all columns to be in one unit, as ratings are
    #[arg(long, help_heading = "Model")]
    no_scale: bool,
    /// λ of ½λ‖X‖², or several to choose from [default: chosen from 1, 0.3, 0.1, 0.03, 0]
    #[arg(long, value_name = "LIST", value_delimiter = ',', allow_negative_numbers = true, help_heading = "Model")]
    ridge: Vec<f64>,
    /// The method (katoms methods --for rank) [default: riemannian-cg]
    #[arg(long, value_name = "NAME", help_heading = "Model")]
    method: Option<String>,
    /// Where the products of the entries are computed: cpu, cuda (an NVIDIA card), or cuda:1 for the second; for entries and
    /// matrices in one unit
    #[arg(long, value_name = "DEVICE", default_value = "cpu", value_parser = Place::named, hide_default_value = true, help_heading = "Model")]
    device: Place,
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
    pub(super) fn run(&self, terminal: &Terminal) -> Result<Ended> {
        watch::listen();
        let files = [&self.out, &self.factors, &self.report, &self.checkpoint.checkpoint];
        let outputs = files.map(|path| path.as_deref());
        outputs::check(&[Some(self.data.as_path()), self.mask.as_deref()], &outputs)?;
        outputs::check_ending(self.out.as_deref(), &["png", "csv", "npy"])?;
        let card = card::open(self.device)?;
        let mut checkpoint = self.checkpoint.open()?;
        let grid = self.grid()?;
        let observed = grid.observed()?;
        let grid = grid.noting(observed.repeated());
        grid.notes.iter().for_each(|note| terminal.say(format!("note: {note}")));
        self.out.as_deref().map_or(Ok(()), |path| grid.check_room(path))?;
        let how = self.how(&grid, &observed)?;
        if grid.is_table() && how.columns == Columns::Alike && !self.tells_scale() {
            terminal.say(format!("note: {LIKE_RATINGS}"));
        }
        let observed = match card {
            Some(_) if how.columns == Columns::Features => {
                bail!(
                    "--device {} completes what is all in one unit, and these columns are features, each in a unit of its \
                     own; give --no-scale, or leave --device out",
                    self.device
                )
            }
            Some(cuda) => observed.on(move |pattern| katoms_cuda::entries(&cuda, pattern)),
            None => observed,
        };
        let tried = how.ranks.len() * if how.columns == Columns::Features { 1 } else { how.ridges.len() };
        let pieces = (tried > 1).then_some(tried + 1);
        let monitor = Monitor::new(terminal, "completing", pieces, self.work.time_limit);
        let job = || Self::job(&observed);
        let (mut completed, cut) = checkpoint.run(terminal, &self.data, job, monitor, |state, monitor| {
            match complete(&observed, &how, state.as_deref(), monitor) {
                // too few entries to hold some of them out
                Err(katoms::Error::FewRows { .. }) => complete(&observed, &how.simplest(), None, monitor),
                done => done,
            }
        })?;
        if how.has_choice() && completed.trials.is_empty() && completed.refitted {
            terminal.warn(format!(
                "there are too few entries to hold some of them out and choose on them: rank {} is taken; --rank tells \
                 another one",
                completed.rank
            ));
        }
        completed.status = cut.status(completed.status);
        self.deliver(&grid, &completed, terminal)?;
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

    fn grid(&self) -> Result<Grid> {
        let source = match katoms_io::read(&self.data, &self.format.options())? {
            Source::Table(table) => Source::Table(table.without(&self.format.drop, &self.data)?),
            _ if !self.format.drop.is_empty() => {
                bail!("--drop leaves out columns of a table; {} holds something else", self.data.display())
            }
            source => source,
        };
        let is_header_told = self.format.header || self.format.no_header;
        let columns = [&self.row, &self.column, &self.value].map(|name| name.as_deref());
        let mut grid = Grid::new(source, &self.data, &Meant { kind: self.kind, columns, is_header_told })?;
        if let Some(mask) = &self.mask {
            grid = grid.masked(mask)?;
        }
        if let Some(colour) = self.hole_colour {
            let ending = self.data.extension().and_then(|e| e.to_str()).unwrap_or_default().to_lowercase();
            let is_jpeg = ["jpg", "jpeg"].contains(&ending.as_str());
            let tolerance = self.hole_tolerance.unwrap_or(if is_jpeg { JPEG_TOLERANCE } else { 0 });
            grid = grid.without_colour(colour, tolerance)?;
            if is_jpeg {
                grid.notes.push(format!(
                    "a JPEG smears paint into the pixels beside it; if a rim of {colour} is left, raise --hole-tolerance \
                     (it is {tolerance}), or give a --mask"
                ));
            }
        }
        match self.observed {
            Some(share) => grid.hiding(share, self.seed),
            None => grid.check_missing(&self.data).map(|()| grid),
        }
    }

    /// Whether it was told if columns are scaled: a ridge or a method is for columns that are not.
    fn tells_scale(&self) -> bool {
        self.scale || self.no_scale || self.method.is_some() || !self.ridge.is_empty()
    }

    fn how(&self, grid: &Grid, observed: &Observed) -> Result<Completion> {
        if self.scale && grid.is_picture() {
            bail!("--scale goes with a table or with entries: the columns of a picture are all of one kind");
        }
        let is_scaled = self.scale || (grid.is_table() && !self.tells_scale() && !observed.looks_like_ratings());
        let (p, q) = observed.shape();
        let ranks: Vec<usize> = match &self.rank {
            Some(Sizes(ranks)) => ranks.clone(),
            None if is_scaled => Completion::feature_ranks((p, q)).collect(),
            None => Completion::ranks_for(observed).collect(),
        };
        if let Some(rank) = ranks.iter().find(|&&rank| rank > p.min(q)) {
            bail!("--rank has {rank}, but a {p} × {q} matrix has at most rank {}", p.min(q));
        }
        let mut how = match (is_scaled, grid.is_sparse()) {
            (true, _) => Completion::features(ranks),
            (false, true) => Completion::ratings(ranks),
            (false, false) => Completion::new(ranks),
        };
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

    fn deliver(&self, grid: &Grid, completed: &Completed, terminal: &Terminal) -> Result<()> {
        terminal.say(text(grid, completed));
        shortfall(completed).into_iter().for_each(|words| terminal.warn(words));
        if let Some(path) = &self.out {
            katoms_io::save(path, &grid.completed_file(path, &completed.matrix)?)?;
            terminal.say(format!("completed -> {}", path.display()));
        }
        if let Some(path) = &self.factors {
            katoms_io::save(path, grid.factors(completed)?.as_bytes())?;
            terminal.say(format!("factors -> {}", path.display()));
        }
        if let Some(path) = &self.report {
            katoms_io::save(path, page::report(grid, completed, &self.data, terminal)?.to_html().as_bytes())?;
            terminal.say(format!("report -> {}", path.display()));
        }
        if self.work.json {
            terminal.print_json(&summary(grid, completed))?;
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
    let trial = |t: &Trial| {
        json!({ "rank": t.rank, "ridge": t.ridge, "row_prior": t.row_prior.name(), "held_out_rmse": t.held_out_rmse,
            "seen_rmse": t.seen_rmse })
    };
    let trials: Vec<_> = completed.trials.iter().map(trial).collect();
    let hidden = grid.hidden_error(&completed.matrix);
    json!({
        "rank": completed.rank, "ridge": completed.ridge, "row_prior": completed.row_prior.name(),
        "scaled": is_scaled(completed), "shape": grid.shape(), "seen": grid.seen(),
        "seen_rmse": completed.seen_rmse, "held_out_rmse": completed.held_out_rmse, "trials": trials,
        "hidden_rmse": hidden.map(|error| error.rmse), "psnr": hidden.and_then(|error| error.psnr),
        "singular_values": completed.matrix.singular_values, "status": words::status_name(completed.status),
        "complete": completed.complete, "iterations": completed.iterations, "passes": completed.passes,
        "seconds": completed.seconds,
    })
}

fn text(grid: &Grid, completed: &Completed) -> String {
    let mut text = format!("\n{}\n", grid.title(completed.rank));
    if !completed.trials.is_empty() {
        text += &format!("\n{}", tried(completed));
    }
    if completed.rank == 0 {
        text += "\nno rank does better than the means of the columns, and these fill the cells\n";
    }
    let unit = if is_scaled(completed) { ", in standard deviations of the columns" } else { "" };
    text += &format!("\nroot mean squared error on what was seen{unit}: {}\n", number(completed.seen_rmse));
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

fn tried(completed: &Completed) -> String {
    let heads: &[&str] = match is_scaled(completed) {
        true => &["rank", "rows like", "held-out error", "seen error", ""],
        false => &["rank", "ridge", "effects", "held-out error", "seen error", ""],
    };
    let row = |trial: &Trial| {
        let choice = (trial.rank, trial.ridge, trial.centring, trial.row_prior);
        let chosen = choice == (completed.rank, completed.ridge, completed.centring, completed.row_prior);
        let mut cells = vec![trial.rank.to_string()];
        match trial.row_prior {
            RowPrior::Ridge | RowPrior::Chosen => {
                cells.push(number(trial.ridge));
                cells.push(if trial.centring == Centring::None { "no".into() } else { "yes".into() });
            }
            RowPrior::Normal => cells.push("the average".into()),
            RowPrior::Rows => cells.push("other rows".into()),
        }
        let is_chosen = if chosen { "chosen" } else { "" };
        cells.extend([number(trial.held_out_rmse), number(trial.seen_rmse), is_chosen.into()]);
        cells
    };
    aligned(heads, &completed.trials.iter().map(row).collect::<Vec<_>>())
}

fn is_scaled(completed: &Completed) -> bool {
    completed.centring == Centring::Columns
}
