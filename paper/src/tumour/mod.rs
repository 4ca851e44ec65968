//! `tumour`: two classes of tumours by overlapping groups of genes, with the paper's cross-validation.
//!
//! The paper has one split. Here there are many, so that a difference can be held against chance: each with a
//! cross-validation of its own on the training part, and a timed run with the chosen setting.

mod cohort;
mod contest;
mod lead;
mod published;
mod report;
mod sample;
mod settings;
mod simulated;
mod split;
mod summary;
mod verdicts;
mod yardstick;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use rayon::ThreadPoolBuilder;
use serde_json::json;

use crate::{Contestant, Error, Experiment, Progress, Request, Section};
use cohort::Cohort;
use contest::{Arena, Contest, PIECES};
use settings::Config;
use split::Split;
use summary::Summary;

/// Runs it.
pub fn run(request: &Request, progress: &Progress) -> Result<Section, Error> {
    let config: Config = Experiment::Tumour.settings(request)?;
    config.check()?;
    let cohorts = if request.data.is_empty() {
        vec![config.simulated.cohort(config.seed)]
    } else {
        request.data.iter().map(|path| Cohort::read(path)).collect::<Result<_, _>>()?
    };
    progress.expect(cohorts.len() * config.splits * PIECES);
    let names: Vec<&str> = cohorts.iter().map(|cohort| cohort.name.as_str()).collect();
    let mut section = Section::new(Experiment::Tumour, format!("Tumours by groups of genes: {}", names.join(", ")));
    let (mut records, mut leads) = (Vec::new(), Vec::new());
    for (number, cohort) in cohorts.iter().enumerate() {
        let contests = contests(cohort, &config, progress)?;
        let summary = Summary::new(&contests, cohort.tumours());
        let name = if number == 0 { "tumour".into() } else { format!("tumour-{}", number + 1) };
        section.figures.push(report::figure(name, cohort, &contests, &summary, config.accuracy));
        section.tables.push(report::results(cohort, &summary));
        section.tables.push(report::comparisons(cohort, &summary));
        let label = if cohorts.len() > 1 { format!("{}: ", cohort.name) } else { String::new() };
        section.verdicts.extend(verdicts::verdicts(cohort, &summary, config.momentum, &label));
        section.setup.extend(setup(cohort, &contests));
        leads.push(lead::lead(cohort, &summary));
        if number == 0 {
            numbers(&mut section, &summary);
        }
        records.push(json!({ "cohort": cohort.name, "summary": summary, "splits": contests }));
    }
    section.lead = leads.join(" ");
    section.setup.extend(common_setup(&config));
    section.notes = notes(&config, cohorts.iter().any(|cohort| cohort.simulated));
    section.record = json!(records);
    Ok(section)
}

/// All splits of a cohort. Each is the work of one thread, so that seconds of runs side by side can be compared.
fn contests(cohort: &Cohort, config: &Config, progress: &Progress) -> Result<Vec<Contest>, Error> {
    let next = AtomicUsize::new(0);
    let found: Mutex<Vec<(usize, Result<Contest, Error>)>> = Mutex::new(Vec::new());
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= config.splits {
                break;
            }
            let contest = Split::new(cohort, config, number)
                .and_then(|split| Arena::new(cohort, config, &split, progress)?.contest());
            if contest.is_err() {
                next.store(config.splits, Ordering::Relaxed);
            }
            found.lock().unwrap_or_else(PoisonError::into_inner).push((number, contest));
        }
    };
    // A pool of its own keeps a thread from doing another split's work while it waits for its own.
    let threads = rayon::current_num_threads().min(config.splits);
    let pools = (0..threads).map(|_| ThreadPoolBuilder::new().num_threads(1).build());
    let pools = pools.collect::<Result<Vec<_>, _>>().map_err(|e| Error::msg(format!("no threads to work on: {e}")))?;
    thread::scope(|scope| pools.iter().for_each(|pool| drop(scope.spawn(|| pool.install(work)))));
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.sort_by_key(|(number, _)| *number);
    found.into_iter().map(|(_, contest)| contest).collect()
}

/// What a cohort is.
fn setup(cohort: &Cohort, contests: &[Contest]) -> Vec<(String, String)> {
    let tested = contests.first().and_then(|c| c.trials.first()).map_or(0, |trial| trial.tested);
    let members: usize = cohort.groups.iter().map(Vec::len).sum();
    let (all, kept) = (cohort.genes_in_all, cohort.genes.len());
    vec![(
        if cohort.simulated { "Cohort (simulated)".into() } else { format!("Cohort {}", cohort.name) },
        format!(
            "{} tumours ({} of the smaller class) × {all} genes; {} groups hold {kept} of them in {members} memberships, a \
             gene is in {:.1} groups on average; {} tumours to train on, {tested} to test{}",
            cohort.tumours(),
            cohort.positives(),
            cohort.groups.len(),
            members as f64 / kept as f64,
            cohort.tumours() - tested,
            if cohort.simulated {
                ". For scale: in a measured cohort of the paper's study 637 groups hold about 3,500 genes in about 15,100 \
                 memberships"
            } else {
                ""
            },
        ),
    )]
}

/// What was run on all cohorts.
fn common_setup(config: &Config) -> Vec<(String, String)> {
    let listed = |values: &[f64]| values.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let groups: Vec<f64> = config.groups.iter().map(|&k| k as f64).collect();
    vec![
        ("Splits".into(), format!("{}, at random, classes in proportion; {} folds", config.splits, config.folds)),
        ("Ridge".into(), listed(&config.ridges)),
        ("Groups (IHT)".into(), listed(&groups)),
        ("Radius of the ℓ1 ball (Frank–Wolfe)".into(), listed(&config.radii)),
        ("IHT, AccIHT".into(), format!("step 1/λ_max, τ = 0 and {}, greedy projection, no refit", config.momentum)),
    ]
}

/// Choices that the paper leaves open.
fn notes(config: &Config, simulated: bool) -> Vec<String> {
    let mut notes = vec![
        format!(
            "Columns are standardised by the rows that are fitted alone. {} A free intercept would be a coordinate that the \
             ball constrains and the groups do not.",
            if config.intercept {
                "The log-odds of the classes among these rows are added to every prediction, for all methods alike."
            } else {
                "There is no intercept."
            },
        ),
        "Genes in no group are left out for all methods: those that choose groups cannot use them.".into(),
        "The step is 1/λ_max of the Hessian's bound, which for the logistic loss is a quarter of λ_max(ΦᵀΦ), plus the ridge; \
         read as 1/λ_max(ΦᵀΦ), IHT and AccIHT would take four times the iterations. Its passes and seconds are counted."
            .into(),
        format!(
            "Converged: f is, for good, within {:e} of its descent from f(0) to where it was heading. There are two \
             yardsticks: for Frank–Wolfe the minimum over the ball, proven by projected gradients off the clock; for those \
             on groups the minimum over the genes that the run ended with, by Newton's method, which asks less.",
            config.accuracy
        ),
        format!(
            "Fits of the cross-validation end after {} iterations or at a relative change of {:e}, and are chained from large \
             ridges to small ones. Small ridges so have more iterations behind them, a bias towards them. Timed runs start \
             at zero and end after {} iterations or at {:e}. The fewest errors win, then the likelihood.",
            config.tuning.iterations, config.tuning.tolerance, config.timed.iterations, config.timed.tolerance
        ),
        "The Frank–Wolfe methods share one cross-validation, by pairwise steps: they have the same minimum.".into(),
        format!(
            "{} runs with the setting that AccIHT chose; it refits by Newton's method after each step, which reads the \
             chosen genes once more, not all: seconds tell what that costs.",
            Contestant::Katoms.label()
        ),
    ];
    if simulated {
        notes.push(
            "The simulated signal was set, in the built-in config, to give an AUC like that of a measured cohort: the errors \
             here follow from that choice and are no evidence on tumours."
                .into(),
        );
    }
    notes
}

/// What does not depend on the machine.
fn numbers(section: &mut Section, summary: &Summary) {
    // Where nobody converged there is no ratio.
    let mut put = |name: &str, value: f64| {
        if value.is_finite() {
            section.numbers.insert(name.into(), value);
        }
    };
    put("error of guessing", summary.guess);
    let field = [("IHT", Contestant::Iht), ("AccIHT", Contestant::AccIht), ("katoms", Contestant::Katoms)];
    for (name, who) in field {
        if let Some(standing) = summary.of(who) {
            put(&format!("AUC of {name}"), standing.auc.mean);
            put(&format!("share of {name} that converged"), standing.converged as f64 / standing.error.of as f64);
        }
    }
    if let Some(standing) = summary.of(Contestant::Iht) {
        put("error of IHT", standing.error.mean);
    }
    if let Some(standing) = summary.of(Contestant::PairwiseFrankWolfe) {
        put("AUC of pairwise Frank-Wolfe", standing.auc.mean);
    }
    if let Some(standing) = summary.of(Contestant::Katoms) {
        put("passes of katoms", standing.passes.mean);
    }
    if let Some(pair) = summary.pair(Contestant::Iht, Contestant::AccIht, true) {
        put("iterations of IHT / AccIHT in one setting", pair.iterations);
    }
    // No ratio to Frank–Wolfe: the last digit of a sum decides which of its settings is chosen, and that the passes.
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scale;

    /// The small scale on two splits, with changes.
    fn quick(changes: &[(&str, &str)]) -> Result<Section, Error> {
        let mut text = Experiment::Tumour.template().replace("splits = 4", "splits = 2");
        for (from, to) in changes {
            assert!(text.contains(from), "{from}");
            text = text.replace(from, to);
        }
        let request = Request { scale: Scale::Small, config: Some(text), ..Request::default() };
        run(&request, &Progress::hidden())
    }

    #[test]
    fn a_simulated_cohort_says_so_everywhere() {
        let section = quick(&[]).unwrap();
        assert!(section.title.contains("simulated") && section.lead.contains("Simulated"));
        assert!(section.figures.iter().all(|f| f.title.contains("Simulated") && f.caption.contains("Simulated")));
        assert!(section.tables.iter().all(|table| table.title.contains("Simulated")));
        assert!(section.setup.iter().any(|(label, _)| label.contains("simulated")));
        assert_eq!(section.tables[0].rows.len(), summary::FIELD.len() + 1);
        assert!(section.tables.iter().all(|t| t.rows.iter().all(|row| row.len() == t.headings.len())));
        assert_eq!(section.verdicts.len(), 5);
    }

    #[test]
    fn without_momentum_the_accelerated_method_is_the_plain_one() {
        let section = quick(&[("momentum = 0.25", "momentum = 0.0")]).unwrap();
        assert_eq!(section.numbers["iterations of IHT / AccIHT in one setting"], 1.0);
        assert_eq!(section.numbers["AUC of IHT"], section.numbers["AUC of AccIHT"]);
    }

    #[test]
    fn threads_change_no_number() {
        let on = |threads| {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| quick(&[]).unwrap().numbers)
        };
        assert_eq!(on(1), on(3));
    }

    #[test]
    fn impossible_settings_are_named() {
        for (from, to, name) in [
            ("training = 0.4", "training = 1.4", "training"),
            ("folds = 5", "folds = 1", "folds"),
            ("accuracy = 1e-2", "accuracy = 0", "accuracy"),
            ("radii = [1, 10]", "radii = [10, 1]", "radii"),
            ("groups = [2, 5, 10]", "groups = [0]", "groups"),
            ("ridges = [0.1, 10]", "ridges = [0]", "ridges"),
            ("splits = 2", "splits = 100000000", "splits"),
            ("radii = [1, 10]", "radii = [1e300]", "radii"),
            ("iterations = 1500", "iterations = 9000000000000000000", "timed"),
            ("tumours = 120", "tumours = 9000000000000000000", "simulated.tumours"),
            ("genes = 400", "genes = 9000000000000000000", "simulated.genes"),
            ("positives = 40", "positives = 9223372036854775807", "simulated.positives"),
            ("groups = 40", "groups = 1000000000000", "simulated.groups"),
        ] {
            let error = quick(&[(from, to)]).unwrap_err().to_string();
            assert!(error.contains(&format!("`{name}`")), "{error}");
        }
    }

    #[test]
    fn whoever_watches_may_stop_it() {
        let request = Request { scale: Scale::Small, ..Request::default() };
        assert!(run(&request, &Progress::stopped()).unwrap_err().is::<crate::Stopped>());
    }
}
