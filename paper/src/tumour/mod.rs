//! `tumour`: two classes of tumours by overlapping groups of genes, with the paper's cross-validation.
//!
//! The paper has one split. Here there are many, so that a difference can be held against chance: each with a
//! cross-validation of its own on the training part, and a timed run with the chosen setting.

mod cohort;
mod contest;
mod report;
mod sample;
mod summary;
mod verdicts;
mod yardstick;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use anyhow::{Context, Result};
use katoms::driver::{Options, Stop};
use rayon::ThreadPoolBuilder;
use serde::Deserialize;
use serde_json::json;

use crate::{Experiment, Progress, Request, Section};
use cohort::{Cohort, Simulation};
use contest::{Arena, Contest, PIECES, Split};
use summary::Summary;

/// The most iterations of all splits' timed runs: each leaves a mark.
const MOST_MARKS: usize = 4_000_000;

/// `paper/tumour.toml` says what each is.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    seed: u64,
    splits: usize,
    training: f64,
    folds: usize,
    ridges: Vec<f64>,
    groups: Vec<usize>,
    radii: Vec<f64>,
    momentum: f64,
    intercept: bool,
    accuracy: f64,
    tuning: Effort,
    timed: Effort,
    simulated: Simulation,
}

/// At most so many iterations, less where ‖x⁺ − x‖ ≤ tolerance·‖x⁺‖. Frank–Wolfe ends by its duality gap, a share of f(0):
/// the tolerance in the cross-validation, a tenth of the accuracy in timed runs.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct Effort {
    iterations: usize,
    tolerance: f64,
}

impl Effort {
    fn options(self, gap: f64) -> Options {
        let Self { iterations, tolerance } = self;
        Options { stop: Stop { tolerance, gap, iterations, ..Stop::default() }, ..Options::default() }
    }
}

impl Config {
    /// For a fit of the cross-validation.
    fn tuning_options(&self) -> Options {
        self.tuning.options(self.tuning.tolerance)
    }

    /// For a timed run. A gap of a tenth of the accuracy tells where the accuracy was reached.
    fn timed_options(&self) -> Options {
        self.timed.options(0.1 * self.accuracy)
    }

    fn check(&self) -> Result<()> {
        let most = MOST_MARKS / self.splits;
        let full = !self.ridges.is_empty() && !self.groups.is_empty() && !self.radii.is_empty();
        let rules = [
            (full, "`ridges`, `groups` and `radii` must each hold a number".into()),
            (self.groups.is_sorted() && self.radii.is_sorted(), "`groups` and `radii` must rise".into()),
            (
                self.timed.iterations.max(self.tuning.iterations) <= most,
                format!("`tuning` and `timed` may have {most} iterations for so many splits: {MOST_MARKS} in all"),
            ),
        ];
        Experiment::Tumour.check(rules.into_iter().chain(self.simulated.rules()))
    }
}

pub fn run(request: &Request, progress: &Progress) -> Result<Section> {
    let config: Config = Experiment::Tumour.settings(request)?;
    config.check()?;
    let cohorts = if request.data.is_empty() {
        vec![config.simulated.cohort(config.seed)]
    } else {
        request.data.iter().map(|path| Cohort::read(path)).collect::<Result<_>>()?
    };
    progress.expect(cohorts.len() * config.splits * PIECES);
    let mut section = Section::new(Experiment::Tumour)?;
    let (mut records, mut leads) = (Vec::new(), Vec::new());
    for (number, cohort) in cohorts.iter().enumerate() {
        let contests = contests(cohort, &config, progress)?;
        let summary = Summary::new(&contests, cohort.tumours());
        let ending = if number == 0 { String::new() } else { format!("-{}", number + 1) };
        section.draw(&ending, 3, report::panels(&contests, &summary))?;
        section.figures[number].title = format!("{}: {}", cohort.title(), section.figures[number].title);
        section.tables.extend(report::tables(cohort, &summary));
        section.judge(verdicts::verdicts(&summary).context("a method is missing")?)?;
        if cohorts.len() > 1 {
            let last = section.verdicts.len() - 5;
            section.verdicts[last..].iter_mut().for_each(|v| v.claim = format!("{}: {}", cohort.name, v.claim));
        }
        section.setup.push(report::set_up(cohort, &summary));
        leads.push(report::lead(cohort, &summary));
        if number == 0 {
            section.count(report::numbers(&summary));
        }
        records.push(json!({ "cohort": cohort.name, "summary": summary, "splits": contests }));
    }
    section.lead = leads.join(" ");
    report::common(&mut section, &config);
    section.record = json!(records);
    Ok(section)
}

/// All splits of a cohort. Each is the work of one thread, so that seconds of runs side by side can be compared.
fn contests(cohort: &Cohort, config: &Config, progress: &Progress) -> Result<Vec<Contest>> {
    let next = AtomicUsize::new(0);
    let found: Mutex<Vec<(usize, Result<Contest>)>> = Mutex::new(Vec::new());
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= config.splits {
                break;
            }
            let contest = Split::new(cohort, config, number)
                .and_then(|split| Arena { cohort, config, split: &split, progress }.contest());
            if contest.is_err() {
                next.store(config.splits, Ordering::Relaxed);
            }
            found.lock().unwrap_or_else(PoisonError::into_inner).push((number, contest));
        }
    };
    // A pool of its own keeps a thread from doing another split's work while it waits for its own.
    let threads = rayon::current_num_threads().min(config.splits);
    let pools = (0..threads).map(|_| ThreadPoolBuilder::new().num_threads(1).build());
    let pools = pools.collect::<Result<Vec<_>, _>>().context("no threads to work on")?;
    thread::scope(|scope| pools.iter().for_each(|pool| drop(scope.spawn(|| pool.install(work)))));
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.sort_by_key(|(number, _)| *number);
    found.into_iter().map(|(_, contest)| contest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::tests::changed;

    /// The small scale on two splits, with changes.
    fn quick(lines: &[&str]) -> Section {
        let request = changed(Experiment::Tumour, &[&["splits = 2"], lines].concat());
        run(&request, &Progress::hidden()).unwrap()
    }

    #[test]
    fn a_simulated_cohort_says_so_everywhere() {
        let section = quick(&[]);
        assert!(section.lead.contains("Simulated") && section.figures.iter().all(|f| f.title.contains("Simulated")));
        assert!(section.tables.iter().all(|table| table.title.contains("Simulated")));
        assert!(section.setup.iter().any(|(label, _)| label.contains("simulated")));
        assert!(section.tables.iter().all(|t| t.rows.iter().all(|row| row.len() == t.headings.len())));
        assert_eq!(section.verdicts.len(), 5);
    }

    #[test]
    fn without_momentum_the_accelerated_method_is_the_plain_one() {
        let section = quick(&["momentum = 0.0"]);
        assert_eq!(section.numbers["iterations of IHT / AccIHT in one setting"], 1.0);
        assert_eq!(section.numbers["AUC of IHT"], section.numbers["AUC of AccIHT"]);
    }
}
