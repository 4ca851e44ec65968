//! `katoms recover`: a sparse signal from few measurements.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use katoms::method::AtomMethod;
use katoms::operator::{AnyDesign, LinearOperator, subsampled_dct};
use katoms::{Status, Stop};
use katoms_estimate::{Recovered, Recovery, recover};
use katoms_io::{Ask, Column, Dataset, ReadOptions, Source, Values};
use serde_json::json;

use crate::Ended;
use crate::checkpoint::{self, Job};
use crate::outputs;
use crate::reading::FormatArgs;
use crate::terminal::{Terminal, aligned, count, number};
use crate::watch::{self, Monitor};
use crate::words;
use crate::work::{CheckpointArgs, WorkArgs};

/// Entries that are listed on the terminal.
const LISTED: usize = 20;

/// `katoms recover`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  katoms recover --matrix phi.npy --measurements b.npy -k 50 --out x.npy
  katoms recover --operator dct --rows rows.npy --length 4096 --measurements b.npy -k 50 --out x.npy

The cosine transform is orthonormal (DCT-II); --rows has the numbers of the measured coefficients, counted from 0.
How large may k be? katoms k-hint --rows m --columns n.")]
pub struct RecoverArgs {
    /// The measurement matrix: NPY, NPZ, CSV, MatrixMarket, …
    #[arg(long, value_name = "FILE", required_unless_present = "operator", conflicts_with = "operator")]
    matrix: Option<PathBuf>,
    /// A transform in place of a matrix
    #[arg(long, value_enum, requires_all = ["rows", "length"])]
    operator: Option<Operator>,
    /// Which rows of the transform were measured, counted from 0
    #[arg(long, value_name = "FILE")]
    rows: Option<PathBuf>,
    /// The length of the signal
    #[arg(long, value_name = "N")]
    length: Option<usize>,
    /// What was measured: one number for each row
    #[arg(long, short = 'b', value_name = "FILE")]
    measurements: PathBuf,
    /// The number of entries of the signal that are not 0
    #[arg(short, value_name = "K")]
    k: usize,
    /// A single run of this method (katoms methods --for atoms)
    #[arg(long, value_name = "NAME", help_heading = "Model")]
    method: Option<String>,
    /// The standard deviation of the noise, if it is known: the search ends when no more than that is left
    #[arg(long, value_name = "SIGMA", help_heading = "Model")]
    noise: Option<f64>,
    /// Write the signal here: NPY (all of it) or CSV (index, value), by the name's ending
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    out: Option<PathBuf>,
    #[command(flatten)]
    format: FormatArgs,
    #[command(flatten)]
    work: WorkArgs,
    #[command(flatten)]
    checkpoint: CheckpointArgs,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Operator {
    /// The orthonormal cosine transform
    Dct,
}

impl RecoverArgs {
    pub(super) fn run(&self, terminal: &Terminal) -> Result<Ended> {
        watch::listen();
        let inputs = [self.matrix.as_deref(), self.rows.as_deref(), Some(self.measurements.as_path())];
        outputs::check(&inputs, &[self.out.as_deref(), self.checkpoint.path()])?;
        outputs::check_ending(self.out.as_deref(), &["npy", "csv"])?;
        let mut checkpoint = self.checkpoint.open()?;
        let options = self.vector_options()?;
        let b = vector(&self.measurements, &options)?;
        let dataset = self.matrix.as_deref().map(|path| self.matrix(path)).transpose()?;
        let design = match (&dataset, &self.rows, self.length) {
            (Some(dataset), ..) => dataset.design()?,
            (None, Some(rows), Some(length)) => transform(&vector(rows, &options)?, rows, length)?,
            _ => bail!("give --matrix FILE, or --operator dct with --rows FILE and --length N"),
        };
        let (m, n) = (design.n_outputs(), design.domain());
        if b.len() != m {
            let name = self.measurements.display();
            bail!("{name} has {}, but there are {m} rows to measure with", count(b.len(), "number", "numbers"));
        }
        if self.k == 0 || self.k > n {
            bail!("-k is {}, but the signal has {n} places; k must lie between 1 and {n}", self.k);
        }
        let method = self.method.as_deref().map(AtomMethod::named).transpose()?;
        // A single run is stopped by its monitor, which saves it first.
        let seconds = self.work.time_limit.filter(|_| method.is_none());
        let stop = Stop { seconds, ..Stop::default() };
        let how = Recovery { method, noise: self.noise, stop, ..Recovery::new(self.k) };
        let monitor = Monitor::new(terminal, "recovering", None, self.work.time_limit);
        let job = || self.job(dataset.as_ref(), &b, (m, n));
        let (mut recovered, cut) = checkpoint.run(terminal, &self.measurements, job, monitor, |state, monitor| {
            recover(&design, &b, &how, state.as_deref(), monitor)
        })?;
        recovered.status = cut.status(recovered.status);
        self.deliver(&recovered, n, terminal)?;
        let done = recovered.status == Status::Converged && recovered.complete;
        checkpoint.forget(done);
        Ok(self.work.ended(done))
    }

    fn job(&self, matrix: Option<&Dataset>, b: &[f64], (rows, columns): (usize, usize)) -> Job {
        let measured =
            self.rows.as_deref().and_then(|rows| vector(rows, &self.vector_options().ok()?).ok()).unwrap_or_default();
        let operator = match matrix {
            Some(matrix) => matrix.fingerprint().checksum,
            None => checkpoint::checksum(&[&measured]),
        };
        let options = [
            ("k", self.k.to_string()),
            ("--method", self.method.clone().unwrap_or_else(|| "the search".into())),
            ("--noise", self.noise.map_or_else(|| "not given".into(), |noise| noise.to_string())),
            ("--operator", self.operator.map_or_else(|| "none".into(), |kind| format!("{kind:?}").to_lowercase())),
        ];
        Job {
            command: "recover".into(),
            rows,
            columns,
            checksum: format!("{operator}{}", checkpoint::checksum(&[b])),
            options: options.map(|(name, value)| (name.to_owned(), value)).into(),
        }
    }

    /// How vectors are read: by the format of the matrix, whose columns are not theirs.
    fn vector_options(&self) -> Result<ReadOptions> {
        Ok(ReadOptions { drop: Vec::new(), categorical: Vec::new(), ..self.format.options() })
    }

    /// A file that holds a matrix; every column of it is one, but for those that are left out.
    fn matrix(&self, path: &Path) -> Result<Dataset> {
        let source = katoms_io::read(path, &self.format.options())?;
        let FormatArgs { drop, categorical, .. } = &self.format;
        let (drop, categorical) = (drop.clone(), categorical.clone());
        Ok(Dataset::new(source, &Ask { path: path.into(), drop, categorical, ..Ask::default() })?)
    }

    fn deliver(&self, recovered: &Recovered, n: usize, terminal: &Terminal) -> Result<()> {
        terminal.say(text(recovered, n));
        if recovered.status != Status::Converged {
            terminal.warn(format!("{}: this is the best signal so far", words::status(recovered.status)));
        }
        if recovered.is_beyond_transition(self.k) {
            terminal.warn(format!(
                "k = {} is more than the {} that so many measurements carry: another signal may explain them as well",
                self.k, recovered.most_entries
            ));
        }
        if let Some(path) = &self.out {
            katoms_io::save(path, &signal_file(path, recovered)?)?;
            terminal.say(format!("signal -> {}", path.display()));
        }
        if self.work.json {
            let signal: Vec<_> = recovered.x.entries().map(|(i, v)| json!({ "index": i, "value": v })).collect();
            terminal.print_json(&json!({
                "length": n, "k": self.k, "signal": signal, "residual": recovered.residual_norm,
                "relative_residual": recovered.relative_residual, "most_entries": recovered.most_entries,
                "status": words::status_name(recovered.status), "iterations": recovered.iterations,
                "passes": recovered.passes, "seconds": recovered.seconds,
            }))?;
        }
        Ok(())
    }
}

fn vector(path: &Path, options: &ReadOptions) -> Result<Vec<f64>> {
    let source = katoms_io::read(path, options)?;
    match source {
        Source::Array(array) if array.columns == 1 || array.rows == 1 => Ok(array.numbers.to_f64()),
        Source::Table(table) if table.columns.len() == 1 => match &table.columns[0].values {
            Values::Numbers(values) => Ok(values.clone()),
            Values::Words { .. } => bail!("{}: a vector of numbers is needed, and these are words", path.display()),
        },
        Source::Arrays { arrays, .. } if arrays.len() == 1 && arrays[0].1.columns == 1 => {
            Ok(arrays[0].1.numbers.to_f64())
        }
        _ => bail!("{}: a vector is needed: an NPY vector, or a table of one column", path.display()),
    }
}

fn transform(numbers: &[f64], rows: &Path, length: usize) -> Result<AnyDesign<'static>> {
    if let Some(at) = numbers.iter().position(|&v| v.fract() != 0.0 || v < 0.0 || v >= length as f64) {
        bail!(
            "{}: entry {} is {}; a row of a transform of length {length} is a whole number from 0 to {}",
            rows.display(),
            at + 1,
            numbers[at],
            length.saturating_sub(1)
        );
    }
    Ok(subsampled_dct(length, numbers.iter().map(|&v| v as usize).collect())?.into())
}

fn signal_file(path: &Path, recovered: &Recovered) -> Result<Vec<u8>> {
    match path.extension().and_then(|e| e.to_str()) {
        Some("npy") => Ok(katoms_io::write_npy(&katoms_io::Array::vector(recovered.x.to_dense()))),
        Some("csv") => {
            let column = |name: &str, values| Column { name: name.into(), values: Values::Numbers(values) };
            let indices = recovered.x.indices().iter().map(|&i| i as f64).collect();
            Ok(katoms_io::write_csv(&[column("index", indices), column("value", recovered.x.values().to_vec())]))
        }
        _ => bail!("{}: choose a name that ends in .npy or .csv", path.display()),
    }
}

fn text(recovered: &Recovered, n: usize) -> String {
    let mut entries: Vec<(usize, f64)> = recovered.x.entries().collect();
    entries.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()).then(a.0.cmp(&b.0)));
    let row = |&(i, value): &(usize, f64)| vec![i.to_string(), number(value)];
    let rows: Vec<Vec<String>> = entries.iter().take(LISTED).map(row).collect();
    let mut text = format!("\n{} of {n} entries are not 0\n\n{}", entries.len(), aligned(&["index", "value"], &rows));
    if entries.len() > LISTED {
        text += &format!("  … and {} more\n", entries.len() - LISTED);
    }
    let passes = count(recovered.passes, "pass", "passes");
    text += &format!("\nresidual: {} of the measurements' length\n", number(recovered.relative_residual));
    text += &format!("{}: {passes}, {:.2} s\n", words::status(recovered.status), recovered.seconds);
    let name = |i: usize| i.to_string();
    let quality = recovered.quality.as_ref().map(|q| words::quality(q, &recovered.attempts, name));
    quality.unwrap_or_default().iter().fold(text, |text, line| text + &format!("- {line}\n"))
}
