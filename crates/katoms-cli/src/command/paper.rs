//! `katoms paper`: the paper's experiments, from a config to a report.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, bail};
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, ValueEnum};
use katoms_estimate::{Answer, Watch};
use katoms_paper::{Experiment, Progress, Request, Scale, Section, Verdict};

use crate::Ended;
use crate::paper;
use crate::told::{Told, aligned, count, number};
use crate::watch::{self, Companion};

/// Pixels for each unit of a figure: sharp in print.
const PIXELS: f32 = 2.0;
const REPORT: &str = "report.html";

/// `katoms paper`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  katoms paper counter                       the smallest: a table, and counter.svg, .png and .json in paper-report
  katoms paper all                           every experiment; then open paper-report/report.html
  katoms paper iid --scale full              the paper's own size: 6 GB of data
  katoms paper images --image photo.png      on a picture of yours
  katoms paper iid --print-config > my.toml  the settings, to be changed
  katoms paper iid --config my.toml          and run

Each run adds its section to report.html in the folder. What the paper claims, what we measured, and why they differ
where they do: docs/paper.md.")]
pub struct PaperArgs {
    /// Which experiments
    #[arg(required = true, value_name = "NAME", value_parser = names())]
    names: Vec<String>,
    /// How large: small takes seconds, default at most a minute each, full is the paper's size
    #[arg(long, value_enum, default_value_t = Size::Default)]
    scale: Size,
    /// The folder for report.html, figures and numbers; created where it is missing
    #[arg(long, value_name = "FOLDER", default_value = "paper-report", help_heading = "Output")]
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
}

/// The names that can be asked for, each with what it is about.
fn names() -> PossibleValuesParser {
    let one = |e: Experiment| PossibleValue::new(e.name()).help(e.about());
    let all = PossibleValue::new("all").help("every one of them");
    PossibleValuesParser::new(Experiment::ALL.map(one).into_iter().chain([all]))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Size {
    Small,
    Default,
    Full,
}

impl From<Size> for Scale {
    fn from(size: Size) -> Self {
        match size {
            Size::Small => Self::Small,
            Size::Default => Self::Default,
            Size::Full => Self::Full,
        }
    }
}

impl PaperArgs {
    pub(super) fn run(&self, told: &Told) -> Result<Ended> {
        let asked = |e: &Experiment| self.names.iter().any(|name| name == e.name() || name == "all");
        let wanted: Vec<Experiment> = Experiment::ALL.into_iter().filter(asked).collect();
        if self.print_config {
            return wanted.iter().try_for_each(|e| told.print(katoms_paper::template(*e))).map(|()| Ended::Done);
        }
        self.check_arguments(&wanted)?;
        let request = self.request()?;
        let is_new = !self.out.exists();
        std::fs::create_dir_all(&self.out).with_context(|| {
            format!("{}: the folder cannot be created; name another with --out", self.out.display())
        })?;
        watch::listen();
        let ended = self.run_all(&wanted, &request, told);
        if is_new {
            // It goes only where nothing was written to it.
            let _ = std::fs::remove_dir(&self.out);
        }
        ended
    }

    fn run_all(&self, wanted: &[Experiment], request: &Request, told: &Told) -> Result<Ended> {
        let mut all_inside = true;
        for (at, &experiment) in wanted.iter().enumerate() {
            let companion = Mutex::new(Companion::new(told, experiment.name(), Some(1), None));
            let tell = |done, of, what: &str| said(&companion, done, of, what);
            let result = katoms_paper::run(experiment, request, &Progress::new(&tell));
            companion.into_inner().unwrap_or_else(PoisonError::into_inner).finish(told);
            match result {
                Ok(section) => {
                    self.write(&section)?;
                    told.print(&in_words(&section))?;
                    all_inside &= !self.check || inside(&section, told)?;
                }
                Err(katoms_paper::Error::Stopped) => {
                    let left: Vec<&str> = wanted[at..].iter().map(|e| e.name()).collect();
                    told.warn(format!("stopped; `katoms paper {}` does what is left", left.join(" ")));
                    return Ok(Ended::Short);
                }
                Err(error) => return Err(error.into()),
            }
        }
        told.say(format!("written to {}; open {}", self.out.display(), self.out.join(REPORT).display()));
        Ok(if all_inside { Ended::Done } else { Ended::Short })
    }

    fn check_arguments(&self, wanted: &[Experiment]) -> Result<()> {
        if self.config.is_some() && wanted.len() != 1 {
            bail!("--config holds the settings of one experiment; name one, not {}", wanted.len());
        }
        if self.check && (self.scale != Size::Small || self.config.is_some()) {
            bail!("--check knows what to expect of the built-in settings at --scale small");
        }
        for (given, flag, user) in
            [(&self.data, "--data", Experiment::Tumour), (&self.image, "--image", Experiment::Images)]
        {
            if !given.is_empty() && !wanted.contains(&user) {
                bail!("{flag} is for the experiment {}, which was not asked for", user.name());
            }
        }
        Ok(())
    }

    fn request(&self) -> Result<Request> {
        let read = |path: &PathBuf| {
            std::fs::read_to_string(path).with_context(|| format!("{}: the config cannot be read", path.display()))
        };
        let config = self.config.as_ref().map(read).transpose()?;
        Ok(Request { scale: self.scale.into(), config, data: self.data.clone(), images: self.image.clone() })
    }

    /// The section's numbers and figures, and the report with all sections in the folder.
    fn write(&self, section: &Section) -> Result<()> {
        for figure in &section.figures {
            let svg = paper::draw(figure);
            let file = |ending: &str| self.out.join(format!("{}.{ending}", figure.name));
            katoms_io::save(&file("png"), &paper::png(&svg, PIXELS)?)?;
            katoms_io::save(&file("svg"), svg.as_bytes())?;
        }
        let numbers = serde_json::to_vec(section)?;
        katoms_io::save(&self.numbers(section.experiment), &numbers)?;
        let sections = Experiment::ALL.into_iter().filter_map(|e| read_section(&self.numbers(e)).transpose());
        let sections = sections.collect::<Result<Vec<Section>>>()?;
        Ok(katoms_io::save(&self.out.join(REPORT), paper::page(&sections).as_bytes())?)
    }

    fn numbers(&self, experiment: Experiment) -> PathBuf {
        self.out.join(format!("{}.json", experiment.name()))
    }
}

/// A section that was written before.
fn read_section(path: &Path) -> Result<Option<Section>> {
    let Ok(bytes) = std::fs::read(path) else { return Ok(None) };
    let what = || format!("{}: not a section of this version; remove it, or name another folder", path.display());
    serde_json::from_slice(&bytes).map(Some).with_context(what)
}

/// Passes what an experiment says on to the bar.
fn said(companion: &Mutex<Companion>, done: usize, of: usize, what: &str) -> ControlFlow<()> {
    let Ok(mut companion) = companion.lock() else { return ControlFlow::Break(()) };
    companion.piece(of, what);
    match companion.counted(done) {
        Answer::Stop | Answer::SaveAndStop => ControlFlow::Break(()),
        Answer::GoOn | Answer::Save => ControlFlow::Continue(()),
    }
}

/// The section as a terminal shows it.
fn in_words(section: &Section) -> String {
    let mut text = format!("{}: {}\n\n{}\n", section.experiment.name(), section.title, section.lead);
    for table in &section.tables {
        let headings: Vec<&str> = table.headings.iter().map(String::as_str).collect();
        text += &format!("\n{}\n{}", table.title, aligned(&headings, &table.rows));
    }
    if !section.verdicts.is_empty() {
        text += "\nBeside the paper\n";
    }
    for Verdict { claim, published, measured, agreement, .. } in &section.verdicts {
        text += &format!("- {claim}: {}\n    paper: {published}\n    here:  {measured}\n", agreement.word());
    }
    text + &format!("\n{} seconds on {}\n\n", number(section.seconds), count(section.threads, "thread", "threads"))
}

/// Whether all numbers lie in their bands; tells those that do not.
fn inside(section: &Section, told: &Told) -> Result<bool> {
    let bands = katoms_paper::expected()?.remove(section.experiment.name()).unwrap_or_else(BTreeMap::new);
    let misses = katoms_paper::misses(section, &bands);
    for miss in &misses {
        let value = miss.value.map_or_else(|| "absent".to_owned(), number);
        let band = miss.band.map_or_else(
            || "a band for it is missing in paper/expected.json".to_owned(),
            |b| format!("expected from {} to {}", number(b.low), number(b.high)),
        );
        told.warn(format!("{}: {} is {value}; {band}", section.experiment.name(), miss.name));
    }
    Ok(misses.is_empty())
}
