//! The experiments of "IHT dies hard: Provable convergence for accelerated Iterative Hard Thresholding" (Khanna,
//! Kyrillidis), one module each, and one beyond it.
//!
//! The data's way: a config (`paper/NAME.toml`) → a run → a [`Section`]: figures, tables, verdicts and every number. What is
//! drawn comes from the section alone, so that a saved section can be drawn again.

mod contestant;
mod correlated;
mod counter;
mod draw;
mod experiment;
mod figure;
mod folder;
mod iid;
mod images;
mod momentum;
mod page;
mod phase;
mod progress;
mod race;
mod scores;
mod section;
mod tumour;

use std::io::{self, ErrorKind, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Parser;
use clap::builder::{PossibleValue, PossibleValuesParser};
use katoms_charts::number::short;
use katoms_charts::text::{aligned, count, quoted, visible};

use contestant::Contestant;
use experiment::{Experiment, Request, Scale};
use folder::Folder;
use progress::{Progress, Stopped};
use section::{Agreement, Section, Table, Verdict, misses};

/// The experiments of the paper "IHT dies hard": figures, tables, one report
#[derive(Debug, Parser)]
#[command(
    name = "katoms-paper",
    version,
    after_help = "Examples:
  katoms-paper counter                       the smallest, into paper-report
  katoms-paper all                           every experiment; then open paper-report/report.html
  katoms-paper iid --scale full              the paper's own size: 6 GB of data
  katoms-paper images --image photo.png      on a picture of yours
  katoms-paper iid --print-config > my.toml  the settings, to be changed
  katoms-paper iid --config my.toml          and run

Each run writes NAME.json, figures as .svg and .png, and adds its section to report.html in the folder.
Exit codes: 0 done; 1 interrupted, or with --check a number outside of its band; 2 an input that cannot be used."
)]
struct Args {
    /// Which experiments
    #[arg(required = true, value_name = "NAME", value_parser = names())]
    names: Vec<String>,
    /// How large: small takes seconds, default up to about a minute each, full is the paper's size
    #[arg(long, value_enum, default_value_t = Scale::Default)]
    scale: Scale,
    /// The folder for report.html, figures and numbers; created where it is missing
    #[arg(long, value_name = "FOLDER", default_value = "paper-report")]
    out: PathBuf,
    /// Settings in place of the built-in ones, for one experiment
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print the built-in settings and end
    #[arg(long, conflicts_with_all = ["config", "check", "data", "image"])]
    print_config: bool,
    /// Real cohorts for tumour (NPZ with X, y, group_id, group_col), in place of a simulated one
    #[arg(long, value_name = "FILE", num_args = 1..)]
    data: Vec<PathBuf>,
    /// Pictures for images (PNG or JPEG), in place of a drawn one
    #[arg(long, value_name = "FILE", num_args = 1..)]
    image: Vec<PathBuf>,
    /// Hold the numbers against the expected ones; exit with 1 where one lies outside of its band
    #[arg(long)]
    check: bool,
    /// Say nothing but results, errors and warnings
    #[arg(short, long)]
    quiet: bool,
}

/// The names that can be asked for, each with what it is about.
fn names() -> PossibleValuesParser {
    let one = |e: Experiment| PossibleValue::new(e.name()).help(e.about());
    let all = PossibleValue::new("all").help("every one of them");
    PossibleValuesParser::new(Experiment::ALL.map(one).into_iter().chain([all]))
}

fn main() -> ExitCode {
    match Args::parse().run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            warn(&format!("{error:#}"));
            ExitCode::from(2)
        }
    }
}

fn warn(line: &str) {
    // Nothing is left to do when even this cannot be written.
    let _ = writeln!(io::stderr(), "katoms-paper: {}", visible(line));
}

/// Prints to standard output. Whoever closed the pipe has read enough; the report is still wanted.
fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

impl Args {
    /// Whether all that was asked for is done, and in its bands.
    fn run(&self) -> Result<bool> {
        let asked = |e: &Experiment| self.names.iter().any(|name| name == e.name() || name == "all");
        let wanted: Vec<Experiment> = Experiment::ALL.into_iter().filter(asked).collect();
        if self.print_config {
            let [experiment] = wanted[..] else {
                bail!("--print-config prints the settings of one experiment; name one")
            };
            return print(experiment.template()).map(|()| true);
        }
        self.check_arguments(&wanted)?;
        let config = self.config.as_ref().map(std::fs::read_to_string).transpose().with_context(|| {
            let path = self.config.as_deref().unwrap_or(&self.out);
            format!("{}: the config cannot be read", path.display())
        })?;
        let request = Request { scale: self.scale, config, data: self.data.clone(), images: self.image.clone() };
        let folder = Folder::open(&self.out)?;
        progress::listen();
        self.run_all(&wanted, &request, &folder)
    }

    fn run_all(&self, wanted: &[Experiment], request: &Request, folder: &Folder) -> Result<bool> {
        let words = std::env::args().skip(1).map(|word| quoted(&word));
        let command = ["katoms-paper".to_owned()].into_iter().chain(words).collect::<Vec<_>>().join(" ");
        let mut all_inside = true;
        for (at, &experiment) in wanted.iter().enumerate() {
            let progress = if self.quiet { Progress::hidden() } else { Progress::shown(experiment.name()) };
            let section = match experiment.run(request, &progress) {
                Err(error) if error.is::<Stopped>() => {
                    warn(&format!("stopped; `{}` does what is left", self.again(&wanted[at..])));
                    return Ok(false);
                }
                result => Section { command: command.clone(), ..result? },
            };
            folder.write(&section)?;
            print(&visible(&in_words(&section)))?;
            all_inside &= !self.check || self.is_inside(&section)?;
        }
        self.say(&format!("written to {}; open {}", self.out.display(), folder.report().display()));
        Ok(all_inside)
    }

    /// A line for people.
    fn say(&self, line: &str) {
        if !self.quiet {
            let _ = writeln!(io::stderr(), "{}", visible(line));
        }
    }

    fn check_arguments(&self, wanted: &[Experiment]) -> Result<()> {
        if self.config.is_some() && wanted.len() != 1 {
            bail!("--config holds the settings of one experiment; name one, not {}", wanted.len());
        }
        if self.check && (self.scale != Scale::Small || self.config.is_some()) {
            bail!("--check holds the built-in settings against what is expected at --scale small; ask for that scale");
        }
        if self.check && !(self.data.is_empty() && self.image.is_empty()) {
            bail!("--check knows what to expect without --data and --image only");
        }
        if let Some(path) = self.data.iter().chain(&self.image).find(|path| !path.is_file()) {
            bail!("{}: there is no such file", path.display());
        }
        for (files, flag, user) in self.files() {
            if !files.is_empty() && !wanted.contains(&user) {
                bail!("{flag} is for the experiment {}, which was not asked for", user.name());
            }
        }
        Ok(())
    }

    /// The files that were given, and whom they are for.
    fn files(&self) -> [(&[PathBuf], &'static str, Experiment); 2] {
        [(&self.data, "--data", Experiment::Tumour), (&self.image, "--image", Experiment::Images)]
    }

    /// The command that runs these experiments as this one would have.
    fn again(&self, left: &[Experiment]) -> String {
        let mut words = vec!["katoms-paper".to_owned()];
        words.extend(left.iter().map(|e| e.name().to_owned()));
        if self.scale != Scale::Default {
            words.extend(["--scale".into(), self.scale.name().into()]);
        }
        let files = self.files().into_iter().filter(|(_, _, user)| left.contains(user));
        let files = files.flat_map(|(files, flag, _)| files.iter().map(move |file| (flag, file)));
        let config = self.config.iter().map(|config| ("--config", config));
        for (flag, path) in [("--out", &self.out)].into_iter().chain(config).chain(files) {
            words.extend([flag.into(), quoted(&path.to_string_lossy())]);
        }
        words.extend(self.check.then(|| "--check".into()));
        words.join(" ")
    }

    /// Whether all numbers lie in their bands; says which do not.
    fn is_inside(&self, section: &Section) -> Result<bool> {
        let (name, bands) = (section.experiment.name(), section.experiment.bands()?);
        let misses = misses(section, &bands);
        for miss in &misses {
            let value = miss.value.map_or_else(|| "absent".to_owned(), short);
            let band = miss.band.map_or_else(
                || "a band for it is missing in paper/expected.json".to_owned(),
                |b| format!("expected from {} to {}", short(b.low), short(b.high)),
            );
            warn(&format!("{name}: {} is {value}; {band}", miss.name));
        }
        if misses.is_empty() {
            self.say(&format!(
                "{name}: {}",
                count(bands.len(), "number lies in its band", "numbers lie in their bands")
            ));
        }
        Ok(misses.is_empty())
    }
}

/// The section as a terminal shows it.
fn in_words(section: &Section) -> String {
    let mut text = format!("{}: {}\n\n{}\n", section.experiment.name(), section.title, section.lead);
    for Table { title, headings, rows } in &section.tables {
        let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
        text += &format!("\n{title}\n{}", aligned(&headings, rows));
    }
    if !section.verdicts.is_empty() {
        text += "\nBeside the paper\n";
    }
    for Verdict { claim, published, measured, agreement, .. } in &section.verdicts {
        text += &format!("- {claim}: {}\n    paper: {published}\n    here:  {measured}\n", agreement.word());
    }
    text + &format!("\n{:.1} seconds on {}\n\n", section.seconds, count(section.threads, "thread", "threads"))
}
