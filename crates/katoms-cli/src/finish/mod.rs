//! The end of `fit`, `path` and `cv`: a model is told, saved, reported.

mod model;
mod page;

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use katoms::Status;
use katoms::loss::Logistic;
use katoms::select::{Preparation, Selected, Validated};
use katoms_estimate::{Estimate, Features, Trail};
use serde_json::{Value, json};

use crate::Ended;
use crate::data::{Loaded, LossChoice};
use crate::report::diagnostics;
use crate::told::{Told, aligned, number};
use crate::words;
use crate::work::WorkArgs;

/// Coefficients that are told on the terminal.
const LISTED: usize = 30;
/// With a report, half-samples are looked at unasked where the design has at most so many entries.
const SMALL: usize = 20_000_000;
/// Pairs of half-samples then.
const PAIRS: usize = 25;
/// The most that are drawn: a share of 2000 half-samples is known to about one per cent, and all of them are fitted at
/// once, in memory.
const MOST_PAIRS: usize = 1000;

/// The number of pairs of half-samples that was asked for.
///
/// # Errors
/// When it is none, or too large.
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

/// A model and all that is known about it.
pub struct Finished<'a> {
    /// The data.
    pub loaded: &'a Loaded,
    /// The problem.
    pub features: &'a Features<'a>,
    /// The model.
    pub estimate: Estimate,
    /// The number of atoms that were asked for.
    pub k: usize,
    /// What chose k, where it was not given.
    pub chosen_by: Option<String>,
    /// The ridge.
    pub ridge: f64,
    /// The method that was asked for.
    pub method: Option<&'a str>,
    /// How columns were made ready.
    pub preparation: Preparation,
    /// How often half-samples chose each atom.
    pub halves: Option<Selected>,
    /// The path, and the criterion that chose along it.
    pub path: Option<(&'a Trail, &'static str)>,
    /// The cross-validation.
    pub validated: Option<&'a Validated>,
    /// What else goes into the JSON.
    pub extra: Option<(&'static str, Value)>,
}

impl<'a> Finished<'a> {
    /// A model, with nothing else known.
    pub fn new(loaded: &'a Loaded, features: &'a Features<'a>, estimate: Estimate, k: usize) -> Self {
        Self {
            loaded,
            features,
            estimate,
            k,
            chosen_by: None,
            ridge: 0.0,
            method: None,
            preparation: Preparation::default(),
            halves: None,
            path: None,
            validated: None,
            extra: None,
        }
    }

    /// Whether the model is what was asked for, not what was there when the work was cut short.
    pub fn is_converged(&self) -> bool {
        self.estimate.status == Status::Converged
    }

    /// Draws half-samples: where asked to, and for a report of data that is not large.
    pub fn look_at_halves(&mut self, pairs: Option<usize>, seed: u64, reporting: bool, told: &Told) {
        let entries = self.loaded.dataset.rows.len() * self.loaded.dataset.features.len();
        let unasked = reporting && self.is_converged();
        let pairs = match pairs {
            None if unasked && entries > SMALL => {
                told.say("the report has no half-samples: they take long here; --stability asks for them");
                None
            }
            None => unasked.then_some(PAIRS),
            asked => asked,
        };
        // Too few rows for halves is no reason to lose the model.
        match pairs.map(|pairs| self.features.stability(self.k, pairs, seed)) {
            Some(Ok(halves)) => self.halves = Some(halves),
            Some(Err(error)) => told.warn(format!("no half-samples: {error}")),
            None => {}
        }
    }

    /// The share of the null loss that the model explains; nothing where there is none.
    pub fn explained(&self) -> Option<f64> {
        let share = 1.0 - self.estimate.loss / self.estimate.null_loss;
        share.is_finite().then_some(share)
    }

    /// R² about the mean of the target.
    fn r_squared(&self) -> Option<f64> {
        let target = self.loaded.dataset.target.as_ref()?;
        let weights = self.loaded.dataset.weights.as_deref().unwrap_or(&[]);
        diagnostics::r_squared(&target.values, &self.predictions(), weights)
    }

    /// The linear predictions on the rows of the fit.
    pub fn predictions(&self) -> Vec<f64> {
        self.features.predictions(&self.estimate.coefficients, self.estimate.intercept)
    }

    /// The probabilities of class 1 on the rows of the fit.
    pub fn probabilities(&self) -> Vec<f64> {
        self.predictions().into_iter().map(Logistic::probability).collect()
    }

    /// How well the model fits, in a few words.
    pub fn fit_in_words(&self) -> String {
        let all = match self.loaded.loss {
            LossChoice::Squares => self.r_squared().map(|share| format!("R² {share:.4}")),
            LossChoice::Logistic => {
                let explained =
                    self.explained().map(|share| format!("{:.1} % of the deviance explained", 100.0 * share));
                let auc = self.auc().map(|auc| format!("AUC {auc:.4}"));
                Some(auc.into_iter().chain(explained).collect::<Vec<_>>().join(", "))
            }
        };
        format!("{} on the rows of the fit", all.unwrap_or_else(|| "no R²".into()))
    }

    fn auc(&self) -> Option<f64> {
        let labels: Vec<bool> = self.loaded.dataset.target.as_ref()?.values.iter().map(|&y| y == 1.0).collect();
        let weights = self.loaded.dataset.weights.as_deref().unwrap_or(&[]);
        diagnostics::auc(&labels, &self.probabilities(), weights)
    }

    /// What is known about the quality, a sentence each.
    pub fn quality_in_words(&self) -> Vec<String> {
        let name = |atom: usize| self.loaded.atom(atom).to_owned();
        let quality = self.estimate.quality.as_ref();
        quality.map_or_else(Vec::new, |quality| words::quality(quality, &self.estimate.attempts, name))
    }

    /// `10 of 500 features predict price`.
    pub fn title(&self) -> String {
        let (chosen, all) = (self.estimate.chosen.len(), self.features.candidates());
        let target = self.loaded.dataset.target.as_ref().map_or("the target", |target| target.name.as_str());
        let verb = if chosen == 1 { "predicts" } else { "predict" };
        format!("{chosen} of {all} {} {verb} {target}", self.loaded.atoms_are())
    }

    /// Tells, saves, reports.
    pub fn deliver(&self, output: &OutputArgs, told: &Told) -> Result<Ended> {
        told.say(self.text());
        if !self.is_converged() {
            told.warn(format!("{}: this is the best model so far", words::status(self.estimate.status)));
        }
        if self.estimate.separates {
            told.warn("these features tell the classes apart without an error: larger coefficients always fit better, so theirs mean little; --ridge 1 keeps them finite");
        }
        if let Some(path) = &output.out {
            katoms_io::save(path, self.model(told)?.to_json()?.as_bytes())?;
            told.say(format!("model -> {}", path.display()));
        }
        if let Some(path) = &output.report {
            katoms_io::save(path, self.report(told).to_html().as_bytes())?;
            told.say(format!("report -> {}", path.display()));
        }
        if output.work.json {
            let mut all = json!({ "model": self.model(told)?, "run": self.run(), "notes": self.loaded.dataset.notes });
            if let (Some(all), Some((name, extra))) = (all.as_object_mut(), &self.extra) {
                all.insert((*name).into(), extra.clone());
            }
            told.print_json(&all)?;
        }
        Ok(output.work.ended(self.is_converged()))
    }

    /// What the work cost and how it ended, for machines.
    fn run(&self) -> Value {
        let Estimate { status, iterations, passes, reads, columns, seconds, loss, null_loss, attempts, .. } =
            &self.estimate;
        let starts: Vec<_> = attempts
            .iter()
            .map(|a| json!({ "start": format!("{:?}", a.start).to_lowercase(), "objective": a.objective, "exchanges": a.exchanges }))
            .collect();
        json!({
            "status": words::status_name(*status), "iterations": iterations, "passes": passes, "reads": reads,
            "columns": columns, "seconds": seconds, "loss": loss, "null_loss": null_loss, "explained": self.explained(),
            "starts": starts, "auc": (self.loaded.loss == LossChoice::Logistic).then(|| self.auc()).flatten(),
        })
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

    /// The group that brought a feature in, where there are groups.
    fn group_of(&self, feature: usize) -> Option<String> {
        let dataset = &self.loaded.dataset;
        if dataset.always.contains(&feature) {
            return Some("(always in)".into());
        }
        dataset.groups.as_ref().and(self.atom_of(feature)).map(|atom| self.loaded.atom(atom).to_owned())
    }

    /// What a person reads on the terminal.
    fn text(&self) -> String {
        let dataset = &self.loaded.dataset;
        let shown = &self.estimate.coefficients;
        let groups = dataset.groups.as_deref();
        let row = |(j, value): (usize, f64)| {
            let mut cells =
                vec![dataset.features[j].name.clone(), number(value), number(self.estimate.standardized.value_at(j))];
            cells.extend(groups.map(|_| self.group_of(j).unwrap_or_default()));
            let often = |halves: &Selected| {
                self.atom_of(j).map_or(String::new(), |atom| format!("{:.0} %", 100.0 * halves.frequencies[atom]))
            };
            cells.extend(self.halves.as_ref().map(often));
            cells
        };
        let mut order: Vec<(usize, f64)> = shown.entries().collect();
        let size = |j: usize| self.estimate.standardized.value_at(j).abs();
        order.sort_by(|a, b| size(b.0).total_cmp(&size(a.0)).then(a.0.cmp(&b.0)));
        let mut headings = vec!["feature", "coefficient", "standardised"];
        headings.extend(groups.map(|_| "group"));
        headings.extend(self.halves.as_ref().map(|_| "of halves"));
        let rows: Vec<Vec<String>> = order.iter().copied().take(LISTED).map(row).collect();
        let mut text = format!("\n{}\n\n{}", self.title(), aligned(&headings, &rows));
        if order.len() > LISTED {
            text += &format!("  … and {} more\n", order.len() - LISTED);
        }
        if self.preparation.intercept {
            text += &format!("  (intercept)  {}\n", number(self.estimate.intercept));
        }
        let Estimate { passes, reads, seconds, status, .. } = &self.estimate;
        text += &format!("\n{}\n", self.fit_in_words());
        text += &format!("{}: {}, {seconds:.2} s\n", words::status(*status), words::reads(*passes, *reads));
        self.quality_in_words().iter().fold(text, |text, line| text + &format!("- {line}\n"))
    }
}
