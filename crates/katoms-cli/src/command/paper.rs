//! `katoms paper`: the paper's experiments, from a config to a report.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, bail};
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, ValueEnum};
use katoms_estimate::{Answer, Watch};
use katoms_paper::{Experiment, Progress, Request, Scale, Section, Verdict};

use crate::paper;
use crate::told::{Told, aligned, count, number, quoted};
use crate::watch::{self, Companion};
use crate::{Ended, is_closed_pipe};

/// Pixels for each unit of a figure: sharp in print.
const PIXELS: f32 = 2.0;
const REPORT: &str = "report.html";

/// `katoms paper`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  katoms paper counter                       the smallest, into paper-report
  katoms paper all                           every experiment; then open paper-report/report.html
  katoms paper iid --scale full              the paper's own size: 6 GB of data
  katoms paper images --image photo.png      on a picture of yours
  katoms paper iid --print-config > my.toml  the settings, to be changed
  katoms paper iid --config my.toml          and run

Each run writes NAME.json, figures as .svg and .png, and adds its section to report.html in the folder.")]
pub struct PaperArgs {
    /// Which experiments
    #[arg(required = true, value_name = "NAME", value_parser = names())]
    names: Vec<String>,
    /// How large: small takes seconds, default up to about a minute each, full is the paper's size
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
            let [experiment] = wanted[..] else {
                bail!("--print-config prints the settings of one experiment; name one")
            };
            return told.print(katoms_paper::template(experiment)).map(|()| Ended::Done);
        }
        self.check_arguments(&wanted)?;
        let request = self.request()?;
        self.check_folder()?;
        let is_new = !self.out.exists();
        std::fs::create_dir_all(&self.out).with_context(|| {
            format!("{}: the folder cannot be created; name another with --out", self.out.display())
        })?;
        watch::listen("stopping; the experiment that runs is dropped, those before it are kept");
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
                    let section = Section { command: told.command.clone(), ..section };
                    self.write(&section)?;
                    // Whoever closed the pipe has read enough; the report is still wanted.
                    told.show(&in_words(&section)).or_else(|e| if is_closed_pipe(&e) { Ok(()) } else { Err(e) })?;
                    all_inside &= !self.check || inside(&section, told)?;
                }
                Err(katoms_paper::Error::Stopped) => {
                    told.warn(format!("stopped; `{}` does what is left", self.again(&wanted[at..])));
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
            bail!("--check holds the built-in settings against what is expected at --scale small; ask for that scale");
        }
        if self.check && !(self.data.is_empty() && self.image.is_empty()) {
            bail!("--check knows what to expect without --data and --image only");
        }
        if let Some(path) = self.data.iter().chain(&self.image).find(|path| !path.is_file()) {
            bail!("{}: there is no such file", path.display());
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

    /// Whether the folder can take the report: what cannot be read or must not be overwritten should not cost the work.
    fn check_folder(&self) -> Result<()> {
        if self.out.exists() && !self.out.is_dir() {
            bail!("{}: this is a file; name a folder with --out", self.out.display());
        }
        let report = self.out.join(REPORT);
        let is_ours = |page: Vec<u8>| String::from_utf8_lossy(&page).contains(paper::MARK);
        if std::fs::read(&report).is_ok_and(|page| !is_ours(page)) {
            bail!(
                "{}: this is no report of `katoms paper`, and would be overwritten; name another folder",
                report.display()
            );
        }
        self.sections().map(|_| ())
    }

    /// The command that runs these experiments as this one would have.
    fn again(&self, left: &[Experiment]) -> String {
        let mut words: Vec<String> = ["katoms", "paper"].map(String::from).into();
        words.extend(left.iter().map(|e| e.name().to_owned()));
        if self.scale != Size::Default {
            words.extend(["--scale".into(), Scale::from(self.scale).name().into()]);
        }
        let mut path = |flag: &str, path: &Path| words.extend([flag.into(), quoted(&path.to_string_lossy())]);
        path("--out", &self.out);
        self.config.iter().for_each(|config| path("--config", config));
        if left.contains(&Experiment::Tumour) {
            self.data.iter().for_each(|data| path("--data", data));
        }
        if left.contains(&Experiment::Images) {
            self.image.iter().for_each(|image| path("--image", image));
        }
        if self.check {
            words.push("--check".into());
        }
        words.join(" ")
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
        Ok(katoms_io::save(&self.out.join(REPORT), paper::page(&self.sections()?).as_bytes())?)
    }

    /// All sections in the folder, in the order of the paper.
    fn sections(&self) -> Result<Vec<Section>> {
        Experiment::ALL.into_iter().filter_map(|e| read_section(&self.numbers(e)).transpose()).collect()
    }

    fn numbers(&self, experiment: Experiment) -> PathBuf {
        self.out.join(format!("{}.json", experiment.name()))
    }
}

/// A section that was written before.
fn read_section(path: &Path) -> Result<Option<Section>> {
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
        Err(error) => return Err(error).with_context(|| format!("{}: cannot be read", path.display())),
    };
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
    text + &format!("\n{:.1} seconds on {}\n\n", section.seconds, count(section.threads, "thread", "threads"))
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
    if misses.is_empty() {
        let numbers = count(bands.len(), "number lies in its band", "numbers lie in their bands");
        told.say(format!("{}: {numbers}", section.experiment.name()));
    }
    Ok(misses.is_empty())
}
