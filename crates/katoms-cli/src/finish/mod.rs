//! The end of `fit`, `path` and `cv`: a model is printed, saved and reported.

mod family;
mod measures;
mod model;
mod page;
mod title;

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use katoms::select::{Preparation, Score, Selected, Validated};
use katoms::space::SparseVec;
use katoms::{Outcome, Status, Stop};
use katoms_estimate::{Estimate, Features, FitOptions, PathModels};
use serde_json::{Value, json};

use crate::Ended;
use crate::data::{DataArgs, Loaded, ModelArgs};
use crate::judged::{Judged, Told};
use crate::terminal::{Terminal, aligned, number};
use crate::watch::{self, Cut, Monitor};
use crate::words;
use crate::work::WorkArgs;

/// Coefficients that are listed on the terminal.
const LISTED: usize = 30;
/// With a report, half-samples are looked at unasked where the design has at most so many entries.
const SMALL: usize = 20_000_000;
/// Pairs of half-samples then.
const PAIRS: usize = 25;
/// The most that are drawn: a share of 2000 half-samples is known to about one per cent, and all of them are fitted at
/// once, in memory.
const MOST_PAIRS: usize = 1000;

pub fn pairs(text: &str) -> Result<usize, String> {
    let pairs = text.parse().ok().filter(|pairs| (1..=MOST_PAIRS).contains(pairs));
    pairs.ok_or_else(|| format!("it must be a whole number from 1 to {MOST_PAIRS}; 25 to 100 tell enough"))
}

/// Where results go, and when the work ends.
#[derive(Debug, Args)]
pub struct OutputArgs {
    /// Save the model here, as JSON
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub out: Option<PathBuf>,
    /// Write a report here: one HTML file that needs no network
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub report: Option<PathBuf>,
    #[command(flatten)]
    pub work: WorkArgs,
}

/// What `fit`, `path` and `cv` share.
#[derive(Debug, Args)]
pub struct ModelCommand {
    #[command(flatten)]
    pub data: DataArgs,
    #[command(flatten)]
    pub model: ModelArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

impl ModelCommand {
    /// Before anything is read: Ctrl-C, and whether all outputs can be written.
    pub fn begin(&self, checkpoint: Option<&Path>) -> Result<()> {
        watch::listen();
        self.data.check_outputs(&[self.output.out.as_deref(), self.output.report.as_deref(), checkpoint])
    }

    /// Reads the data; `folds` names the column of folds.
    pub fn load(&self, folds: Option<&str>, terminal: &Terminal) -> Result<Loaded> {
        let loaded = self.data.load(&self.model, folds, terminal)?;
        loaded.target()?;
        Ok(loaded)
    }

    /// Watches the work on data, and ends it where these can no longer be had.
    pub fn monitor(&self, loaded: &Loaded, terminal: &Terminal, (name, pieces): (&str, Option<usize>)) -> Monitor {
        let monitor = Monitor::new(terminal, name, pieces, self.output.work.time_limit);
        monitor.until(loaded.are_lost())
    }

    pub fn ended(&self, delivered: Ended, is_sure: bool) -> Ended {
        if is_sure { delivered } else { self.output.work.ended(false) }
    }
}

/// Fits the size that was chosen, from the model that was chosen, in the time that is left to the whole job.
pub fn fit_chosen(
    (loaded, features): (&Loaded, &Features<'_>),
    (k, start): (usize, Option<(SparseVec, Vec<f64>)>),
    mut monitor: Monitor,
    terminal: &Terminal,
) -> Result<(Estimate, Cut)> {
    let stop = Stop { seconds: monitor.seconds_left(), ..Stop::default() };
    let fitted = features.fit(k, &FitOptions { start, stop, ..FitOptions::default() }, &mut monitor);
    let cut = monitor.finish(terminal);
    let mut estimate = fitted.map_err(|error| loaded.error(error))?;
    estimate.outcome.status = cut.status(estimate.outcome.status);
    Ok((best_so_far(loaded, estimate)?, cut))
}

/// A fit's answer, where its data could be had to the end; else the best so far, if it is whole.
pub fn best_so_far(loaded: &Loaded, mut estimate: Estimate) -> Result<Estimate> {
    if let Some(failed) = loaded.failed() {
        return Err(failed);
    }
    let Some(lost) = loaded.lost() else { return Ok(estimate) };
    let vectors = [estimate.coefficients().values(), estimate.standardized.values(), &estimate.intercepts];
    if !estimate.loss.is_finite() || vectors.concat().iter().any(|value| !value.is_finite()) {
        return Err(lost);
    }
    (estimate.outcome.status, estimate.outcome.quality) = (Status::Stopped, None);
    Ok(estimate)
}

#[derive(Debug)]
pub struct Choosing<'a> {
    pub validated: &'a Validated,
    pub score: &'a Score,
    /// What the score is called.
    pub told: Told,
    /// Rows with the predictions of models that have not seen them.
    pub held_out: Judged,
    /// How often folds were drawn.
    pub repeats: usize,
}

/// What is known of targets that have features of their own.
#[derive(Debug)]
pub struct Separate {
    /// The size of each.
    pub sizes: Vec<usize>,
    /// How good their models are, in sentences.
    pub quality: Vec<String>,
}

pub struct Finished<'a> {
    pub loaded: &'a Loaded,
    pub features: &'a Features<'a>,
    pub estimate: Estimate,
    pub k: usize,
    /// What chose k, where it was not given.
    pub chosen_by: Option<String>,
    pub method: Option<&'a str>,
    pub preparation: Preparation,
    pub stability: Option<Selected>,
    pub path: Option<(&'a PathModels, &'static str)>,
    pub validated: Option<Choosing<'a>>,
    /// Where targets have features of their own.
    pub separate: Option<Separate>,
    /// Rows with the predictions of models that have not seen them, where these are of several choices.
    pub held_out: Option<Judged>,
    pub edge: Option<String>,
    pub extra: Option<(&'static str, Value)>,
}

impl<'a> Finished<'a> {
    pub fn new(
        loaded: &'a Loaded,
        features: &'a Features<'a>,
        estimate: Estimate,
        (k, preparation): (usize, Preparation),
    ) -> Self {
        Self {
            loaded,
            features,
            estimate,
            k,
            chosen_by: None,
            method: None,
            preparation,
            stability: None,
            path: None,
            validated: None,
            separate: None,
            held_out: None,
            edge: None,
            extra: None,
        }
    }

    pub fn is_converged(&self) -> bool {
        self.estimate.outcome.status == Status::Converged
    }

    /// Whether the work is done, not cut short: larger coefficients that always fit better have no best.
    pub fn is_finished(&self) -> bool {
        self.is_converged() || self.estimate.outcome.status == Status::Separated
    }

    /// Draws half-samples: where asked to, and for a report of data that is not large.
    pub fn find_selection_frequencies(
        &mut self,
        pairs: Option<usize>,
        seed: u64,
        output: &OutputArgs,
        terminal: &Terminal,
    ) {
        if self.loaded.lost().is_some() {
            return;
        }
        if self.separate.is_some() {
            if pairs.is_some() {
                terminal.warn("no selection frequencies: they are of features that the targets share");
            }
            return;
        }
        let entries = self.loaded.dataset.rows.len() * self.loaded.dataset.features.len();
        let unasked = output.report.is_some() && self.is_finished() && self.k > 0 && self.loaded.interactions.is_none();
        let pairs = match pairs {
            None if unasked && entries > SMALL => {
                terminal.say("the report has no selection frequencies: they take long here; --stability asks for them");
                None
            }
            None => unasked.then_some(PAIRS),
            asked => asked.filter(|_| self.k > 0),
        };
        // Too few rows for half-samples is no reason to lose the model.
        match pairs.map(|pairs| self.features.stability(self.k, pairs, seed)) {
            Some(_) if self.loaded.lost().is_some() => {}
            Some(Ok(stability)) => self.stability = Some(stability),
            Some(Err(error)) => terminal.warn(format!("no selection frequencies: {error}")),
            None => {}
        }
    }

    /// The share of the null loss that the model explains; nothing where there is none.
    pub fn explained(&self) -> Option<f64> {
        let share = 1.0 - self.estimate.loss / self.estimate.null_loss;
        share.is_finite().then_some(share)
    }

    pub fn quality_in_words(&self) -> Vec<String> {
        if let Some(separate) = &self.separate {
            return separate.quality.clone();
        }
        let name = |atom: usize| self.loaded.atom(atom).to_owned();
        let quality = self.estimate.outcome.quality.as_ref();
        quality.map_or_else(Vec::new, |quality| words::quality(quality, &self.estimate.outcome.attempts, name))
    }

    /// Says, saves and reports the model: also one that was cut short, as workers were lost, which is an error then.
    pub fn deliver(&self, output: &OutputArgs, terminal: &Terminal) -> Result<Ended> {
        terminal.say(self.text());
        self.warnings().iter().for_each(|warning| terminal.warn(warning));
        if let Some(path) = &output.out {
            katoms_io::save(path, self.model(terminal)?.to_json()?.as_bytes())?;
            terminal.say(format!("model -> {}", path.display()));
        }
        if let Some(path) = &output.report {
            katoms_io::save(path, self.report(terminal).to_html().as_bytes())?;
            terminal.say(format!("report -> {}", path.display()));
        }
        if output.work.json {
            let mut all = json!({
                "model": self.model(terminal)?, "run": self.run(), "notes": self.loaded.dataset.notes,
                "warnings": self.all_warnings(),
            });
            if let (Some(all), Some((name, extra))) = (all.as_object_mut(), &self.extra) {
                all.insert((*name).into(), extra.clone());
            }
            terminal.print_json(&all)?;
        }
        self.loaded.whole(Ok(output.work.ended(self.is_converged())))
    }

    /// What a person must know about the model before all else.
    fn warnings(&self) -> Vec<String> {
        let ended = match self.estimate.outcome.status {
            Status::Converged => None,
            Status::Separated => Some(self.separated()),
            status => Some(format!("{}: this is the best model so far", words::status(status))),
        };
        ended.into_iter().chain(self.edge.clone()).collect()
    }

    /// The same with those that were told as the data were read.
    fn all_warnings(&self) -> Vec<String> {
        self.warnings().into_iter().chain(self.loaded.dataset.warnings.clone()).collect()
    }

    fn run(&self) -> Value {
        let Estimate { outcome, loss, null_loss, .. } = &self.estimate;
        let Outcome { status, iterations, passes, reads, columns, seconds, attempts, .. } = outcome;
        let starts: Vec<_> = attempts
            .iter()
            .map(|a| json!({ "start": format!("{:?}", a.start).to_lowercase(), "objective": a.objective, "exchanges": a.exchanges }))
            .collect();
        let [held_out, fitted] = self.scores();
        let mut run = json!({
            "status": words::status_name(*status), "iterations": iterations, "passes": passes, "reads": reads,
            "columns": columns, "seconds": seconds, "loss": loss, "null_loss": null_loss, "explained": self.explained(),
            "starts": starts, "on_the_rows_of_the_fit": fitted, "on_rows_held_out": held_out,
        });
        if let (Some(run), Some(blocks)) = (run.as_object_mut(), &self.loaded.blocks) {
            run.insert("workers".into(), blocks.json());
        }
        run
    }

    /// The atom that brought a feature in; none for what is always in.
    fn atom_of(&self, feature: usize) -> Option<usize> {
        let dataset = &self.loaded.dataset;
        if dataset.always.contains(&feature) {
            return None;
        }
        match &dataset.groups {
            Some(groups) => self.estimate.chosen.iter().copied().find(|&a| groups[a].members.contains(&feature)),
            None => Some(feature),
        }
    }

    fn group_of(&self, feature: usize) -> Option<String> {
        let dataset = &self.loaded.dataset;
        if dataset.always.contains(&feature) {
            return Some("(always in)".into());
        }
        dataset.groups.as_ref().and(self.atom_of(feature)).map(|atom| self.loaded.atom(atom).to_owned())
    }

    /// Coefficients, those of the features with the largest effects first; of several outputs, those of a feature together.
    fn by_size(&self) -> Vec<(usize, f64)> {
        let (columns, outputs) = (self.loaded.dataset.features.len(), self.estimate.intercepts.len());
        let size = |at: usize| {
            let of_outputs = (0..outputs).map(|output| output * columns + at % columns);
            of_outputs.map(|at| self.estimate.standardized.value_at(at).abs()).fold(0.0, f64::max)
        };
        let mut order: Vec<(usize, f64)> = self.estimate.coefficients().entries().collect();
        order.sort_by(|a, b| {
            size(b.0).total_cmp(&size(a.0)).then((a.0 % columns).cmp(&(b.0 % columns))).then(a.0.cmp(&b.0))
        });
        order
    }

    fn text(&self) -> String {
        let dataset = &self.loaded.dataset;
        let groups = dataset.groups.as_deref();
        let (ratio, outputs) = (family::ratio(self.loaded.loss), self.outputs());
        let columns = dataset.features.len();
        let row = |(at, value): (usize, f64)| {
            let j = at % columns;
            let mut cells = vec![dataset.features[j].name.clone()];
            cells.extend(outputs.get(at / columns).cloned());
            cells.push(number(value));
            cells.extend(ratio.map(|_| number(value.exp())));
            cells.push(number(self.estimate.standardized.value_at(at)));
            cells.extend(groups.map(|_| self.group_of(j).unwrap_or_default()));
            let often = |stability: &Selected| {
                self.atom_of(j).map_or(String::new(), |atom| format!("{:.0} %", 100.0 * stability.frequencies[atom]))
            };
            cells.extend(self.stability.as_ref().map(often));
            cells
        };
        let order = self.by_size();
        let mut headings = vec!["feature"];
        headings.extend((!outputs.is_empty()).then_some(if self.responses().is_empty() { "class" } else { "target" }));
        headings.push("coefficient");
        headings.extend(ratio);
        headings.push("standardised");
        headings.extend(groups.map(|_| "group"));
        headings.extend(self.stability.as_ref().map(|_| "selection frequency"));
        let rows: Vec<Vec<String>> = order.iter().copied().take(LISTED).map(row).collect();
        let mut text = format!("\n{}\n\n", self.title());
        if !rows.is_empty() {
            text += &aligned(&headings, &rows);
        }
        if order.len() > LISTED {
            text += &format!("  … and {} more\n", order.len() - LISTED);
        }
        text += &self.constants();
        text += &self.sizes_of_targets().map(|sizes| format!("  (k)  {sizes}\n")).unwrap_or_default();
        let Outcome { passes, reads, seconds, status, .. } = &self.estimate.outcome;
        text += &self.coefficients_are().map(|line| format!("\n{line}\n")).unwrap_or_default();
        text += &format!("\n{}\n", self.fit_in_words());
        text += &self.method.map_or(String::new(), |method| format!("{}\n", words::single_run(method)));
        text += &format!("{}: {}, {seconds:.2} s\n", words::status(*status), words::reads(*passes, *reads));
        text += &self.loaded.blocks.as_ref().map_or(String::new(), |blocks| format!("{}\n", blocks.in_words()));
        self.quality_in_words().iter().fold(text, |text, line| text + &format!("- {line}\n"))
    }
}
