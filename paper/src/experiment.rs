//! The experiments by name, and their settings: `paper/NAME.toml`. What stands at the top of a config holds at the default
//! scale; `[small]` and `[full]` change it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Error, Result, anyhow};
use clap::ValueEnum;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use toml::Value;

use crate::section::Band;
use crate::{Progress, Section, correlated, counter, iid, images, momentum, phase, tumour};

/// An experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Experiment {
    Momentum,
    Iid,
    Correlated,
    Counter,
    Tumour,
    Images,
    Phase,
}

type Runner = fn(&Request, &Progress) -> Result<Section>;

impl Experiment {
    /// All, in the order of the report.
    pub const ALL: [Self; 7] =
        [Self::Momentum, Self::Iid, Self::Correlated, Self::Counter, Self::Tumour, Self::Images, Self::Phase];

    /// Its name, what it is about, its config, and what runs it.
    #[rustfmt::skip]
    fn row(self) -> (&'static str, &'static str, &'static str, Runner) {
        match self {
            Self::Momentum => (
                "momentum", "a toy problem: which momentum converges, ripples, diverges",
                include_str!("../momentum.toml"), momentum::run,
            ),
            Self::Iid => (
                "iid", "a wide Gaussian design without noise: passes and seconds to the planted vector",
                include_str!("../iid.toml"), iid::run,
            ),
            Self::Correlated => (
                "correlated", "neighbouring columns alike, with noise: support, prediction and fit by sparsity",
                include_str!("../correlated.toml"), correlated::run,
            ),
            Self::Counter => (
                "counter", "the example in which every positive momentum raises the residual",
                include_str!("../counter.toml"), counter::run,
            ),
            Self::Tumour => (
                "tumour", "two classes of tumours, overlapping groups of genes: error, seconds, passes",
                include_str!("../tumour.toml"), tumour::run,
            ),
            Self::Images => (
                "images", "pictures of rank 60 from 35 % of their pixels",
                include_str!("../images.toml"), images::run,
            ),
            Self::Phase => (
                "phase", "beyond the paper: where each method recovers, as maps",
                include_str!("../phase.toml"), phase::run,
            ),
        }
    }

    /// Its name on the command line and in files.
    pub fn name(self) -> &'static str {
        self.row().0
    }

    /// What it is about, in a line.
    pub fn about(self) -> &'static str {
        self.row().1
    }

    /// Its built-in config, to be changed and given back.
    pub fn template(self) -> &'static str {
        self.row().2
    }

    pub fn run(self, request: &Request, progress: &Progress) -> Result<Section> {
        let clock = Instant::now();
        let mut section = (self.row().3)(request, progress)?;
        section.scale = request.scale;
        section.threads = rayon::current_num_threads();
        section.seconds = clock.elapsed().as_secs_f64();
        Ok(section)
    }

    /// The settings for a request: the given config or the built-in one, at the request's scale.
    pub fn settings<C: DeserializeOwned>(self, request: &Request) -> Result<C> {
        let text = request.config.as_deref().unwrap_or_else(|| self.template());
        let mut table: toml::Table = text.parse().map_err(|e: toml::de::Error| self.bad_config(&e.to_string()))?;
        for scale in [Scale::Small, Scale::Full] {
            let Some(changes) = table.remove(scale.name()) else { continue };
            let Value::Table(changes) = changes else {
                return Err(self.bad_config(&format!("`{}` must be a table, as in [{0}]", scale.name())));
            };
            if scale == request.scale {
                table.extend(changes);
            }
        }
        self.check_limits(&table)?;
        table.try_into().map_err(|e: toml::de::Error| self.bad_config(e.message()))
    }

    /// Refuses a number of a config that lies outside of its limits: `paper/limits.toml`.
    fn check_limits(self, table: &toml::Table) -> Result<()> {
        let mut limits: BTreeMap<String, BTreeMap<String, [f64; 2]>> = toml::from_str(include_str!("../limits.toml"))?;
        for (key, [low, high]) in limits.remove(self.name()).unwrap_or_default() {
            let mut parts = key.split('.');
            let first = parts.next().and_then(|part| table.get(part));
            let values = numbers(parts.fold(first, |value, part| value?.get(part)));
            if let Some(value) = values.iter().find(|v| !(low..=high).contains(v)) {
                return Err(self.bad_config(&format!("`{key}` must lie from {low:?} to {high:?}, not {value:?}")));
            }
        }
        Ok(())
    }

    /// What is wrong with a config.
    pub fn bad_config(self, why: &str) -> Error {
        let name = self.name();
        anyhow!("the config of {name}: {why}; `katoms-paper {name} --print-config` shows a whole one")
    }

    /// Refuses a config that breaks one of these rules: what must hold, and what to say where it does not.
    pub fn check<S: AsRef<str>>(self, rules: impl IntoIterator<Item = (bool, S)>) -> Result<()> {
        let broken = rules.into_iter().find(|(holds, _)| !holds);
        broken.map_or(Ok(()), |(_, why)| Err(self.bad_config(why.as_ref())))
    }

    /// The bands of its numbers at the small scale, by name.
    pub fn bands(self) -> Result<BTreeMap<String, Band>> {
        let mut all: BTreeMap<String, _> = serde_json::from_str(include_str!("../expected.json"))?;
        Ok(all.remove(self.name()).unwrap_or_default())
    }
}

/// The numbers of a value; none where it is of another kind, which its reader will say.
fn numbers(value: Option<&Value>) -> Vec<f64> {
    match value {
        Some(Value::Integer(number)) => vec![*number as f64],
        Some(Value::Float(number)) => vec![*number],
        Some(Value::Array(values)) => values.iter().flat_map(|value| numbers(Some(value))).collect(),
        _ => Vec::new(),
    }
}

/// How large an experiment is run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    Small,
    #[default]
    Default,
    Full,
}

impl Scale {
    /// Its name in configs and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Small => "small",
            Self::Default => "default",
            Self::Full => "full",
        }
    }
}

/// What is asked for.
#[derive(Debug, Clone, Default)]
pub struct Request {
    pub scale: Scale,
    /// The text of another config than the built-in one.
    pub config: Option<String>,
    /// Real cohorts for `tumour`, in place of a simulated one.
    pub data: Vec<PathBuf>,
    /// Pictures for `images`, in place of a drawn one.
    pub images: Vec<PathBuf>,
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::section::misses;

    /// A request at the small scale with these lines in place of those with the same keys.
    pub fn changed(experiment: Experiment, lines: &[&str]) -> Request {
        let key = |line: &str| line.split(" =").next().map(str::to_owned);
        let kept = |line: &&str| !lines.iter().any(|change| key(change) == key(line));
        let (top, scales) = experiment.template().split_once("[small]").unwrap();
        let small: Vec<&str> = lines.iter().copied().chain(scales.lines().filter(kept)).collect();
        let config = Some(format!("{top}[small]\n{}\n", small.join("\n")));
        Request { scale: Scale::Small, config, ..Request::default() }
    }

    /// What is wrong with a config is named, and what would be right.
    #[test]
    fn impossible_settings_are_refused() {
        use Experiment::{Correlated, Counter, Iid, Images, Momentum, Phase, Tumour};
        let huge = "9000000000000000000";
        // The simulated cohort with another value.
        let cohort = |key: &str, value: &str| {
            let table = "tumours = 90, positives = 40, genes = 400, grouped = 200, groups = 40, median_size = 8, \
                         largest_size = 40, planted = 3, noise = 0.5";
            let change = |pair: &str| match pair.split_once(" = ") {
                Some((name, _)) if name == key => format!("{key} = {value}"),
                _ => pair.to_owned(),
            };
            format!("simulated = {{ {} }}", table.split(", ").map(change).collect::<Vec<_>>().join(", "))
        };
        let huge_lasso = format!("lasso = {{ smallest = 1e-4, count = {huge} }}");
        for (experiment, line, hint) in [
            (Counter, "tau = { from = 0.0, to = 1.0, steps = 100001 }", "`tau.steps`"),
            (Counter, "x2 = -1.7338", "must differ"),
            (Counter, "constant = nan", "`constant`"),
            (Counter, "target = [1.0, 0.3870, -0.1514]", "each row"),
            (Correlated, "draws = 1", "from 2"),
            (Correlated, "rows = 801", "even"),
            (Correlated, "correlation = 1.0", "`correlation`"),
            (Correlated, "snr = -1.0", "`snr`"),
            (Correlated, "levels = [10, 30]", "among them"),
            (Correlated, "levels = [20, 200]", "1 to 199"),
            (Correlated, "momentum = 9.0", "from 0.0 to 1.0"),
            (Iid, "k = 0", "`k` must"),
            (Iid, "k = 751", "`k` must"),
            (Iid, "overshot = 7", "`overshot`"),
            (Iid, "columns = 30", "`overshot`"),
            (Iid, "levels = [1e-3, 1e-2]", "`levels`"),
            (Iid, "levels = []", "`levels`"),
            (Iid, "radius = nan", "`radius`"),
            (Iid, "floor = 0.0", "`floor`"),
            (Iid, "iterations = 0", "`iterations`"),
            (Iid, "rowz = 3", "`rowz`"),
            (Images, "rank = 0", "`rank`"),
            (Images, "rank = 600", "`drawn`"),
            (Images, "seen = 0.0", "`seen`"),
            (Images, "momentum = inf", "`momentum`"),
            (Images, "path = { lambdas = 7, least = 1.0, iterations = 6 }", "`path.least`"),
            (Images, "drawn = { rows = 5000, columns = 768 }", "`drawn.rows`"),
            (Momentum, "columns = 100", "to 24.0"),
            (Momentum, "k = 4", "a third"),
            (Momentum, "middle = [0.25]", "plain IHT"),
            (Momentum, "within = { alpha = 1.9, beta = 1.785 }", "alpha < beta"),
            (Momentum, "toys = 999999999", "`toys`"),
            (Phase, "density = { from = 0.0, to = 0.9, steps = 4 }", "`density.from`"),
            (Phase, "undersampling = { from = 0.1, to = 1.0, steps = 3 }", "`undersampling.to`"),
            (Phase, &format!("undersampling = {{ from = 0.1, to = 0.9, steps = {huge} }}"), "`undersampling.steps`"),
            (Phase, "columns = 5", "`columns`"),
            (Phase, &format!("columns = {huge}"), "`columns`"),
            (Phase, &format!("draws = {huge}"), "`draws`"),
            (Phase, &format!("iterations = {huge}"), "`iterations`"),
            (Phase, &huge_lasso, "`lasso.count`"),
            (Phase, "recovered = nan", "`recovered`"),
            (Tumour, "training = 1.4", "`training`"),
            (Tumour, "folds = 1", "`folds`"),
            (Tumour, "accuracy = 0", "`accuracy`"),
            (Tumour, "radii = [10, 1]", "`radii`"),
            (Tumour, "groups = [0]", "`groups`"),
            (Tumour, "ridges = [0]", "`ridges`"),
            (Tumour, "splits = 100000000", "`splits`"),
            (Tumour, &format!("timed = {{ iterations = {huge}, tolerance = 1e-4 }}"), "`timed.iterations`"),
            (Tumour, &cohort("tumours", huge), "`simulated.tumours`"),
            (Tumour, &cohort("genes", huge), "`simulated.genes`"),
            (Tumour, &cohort("positives", "50"), "`simulated.positives`"),
            (Tumour, &cohort("grouped", "401"), "`simulated.grouped`"),
            (Tumour, &cohort("largest_size", "201"), "`simulated.largest_size`"),
            (Tumour, &cohort("planted", "41"), "`simulated.planted`"),
            (Tumour, &cohort("noise", "nan"), "`simulated.noise`"),
        ] {
            let error = experiment.run(&changed(experiment, &[line]), &Progress::hidden()).expect_err(line).to_string();
            assert!(error.contains(hint), "{line}: {error}");
        }
    }

    /// Each experiment can be stopped.
    #[test]
    fn an_interrupt_ends_an_experiment() {
        let small = Request { scale: Scale::Small, ..Request::default() };
        for experiment in Experiment::ALL {
            let error = experiment.run(&small, &Progress::stopped()).expect_err("stopped");
            assert!(error.is::<crate::Stopped>(), "{experiment:?}: {error}");
        }
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Two {
        rows: usize,
        seed: u64,
    }

    fn two(config: &str, scale: Scale) -> Result<Two> {
        Experiment::Iid.settings(&Request { config: Some(config.into()), scale, ..Request::default() })
    }

    #[test]
    fn a_scale_changes_what_it_names() -> Result<()> {
        let config = "rows = 10\nseed = 1\n[small]\nrows = 3\n[full]\nrows = 1000\n";
        for (scale, rows) in [(Scale::Small, 3), (Scale::Default, 10), (Scale::Full, 1000)] {
            let two = two(config, scale)?;
            assert_eq!((two.rows, two.seed), (rows, 1));
        }
        Ok(())
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (config, name) in [
            ("rows = 10\nseed = 1\nrow = 3", "`row`"),
            ("rows = -1\nseed = 1", "iid"),
            ("rows = 10", "`seed`"),
            ("rows = ", "line 1"),
            ("rows = 10\nseed = 1\nsmall = 3", "[small]"),
        ] {
            let why = two(config, Scale::Default).unwrap_err().to_string();
            assert!(why.contains(name), "{why}");
        }
    }

    fn small_on(threads: usize, experiment: Experiment) -> Section {
        let small = || experiment.run(&Request { scale: Scale::Small, ..Request::default() }, &Progress::hidden());
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(small).unwrap()
    }

    /// An experiment at the small scale: the numbers are in their bands.
    fn holds(experiment: Experiment) {
        let section = small_on(3, experiment);
        let bands = experiment.bands().unwrap();
        assert!(!bands.is_empty(), "{experiment:?} has no bands");
        assert_eq!(misses(&section, &bands), [], "{experiment:?}");
        assert!(section.figures.iter().all(|f| !f.caption.is_empty() && !f.panels.is_empty()), "{experiment:?}");
        assert_eq!(section.figures.first().map(|f| f.name.as_str()), Some(experiment.name()));
        let again: Section = serde_json::from_str(&serde_json::to_string(&section).unwrap()).unwrap();
        assert_eq!(again, section, "{experiment:?}: saved and read again");
    }

    #[test]
    fn the_number_of_threads_changes_no_number() {
        for experiment in [Experiment::Counter, Experiment::Phase] {
            assert_eq!(small_on(1, experiment).numbers, small_on(2, experiment).numbers, "{experiment:?}");
        }
    }

    #[test]
    #[ignore = "takes a minute; `make test-long` runs it"]
    fn the_number_of_threads_changes_no_number_of_any_experiment() {
        for experiment in Experiment::ALL {
            assert_eq!(small_on(1, experiment).numbers, small_on(3, experiment).numbers, "{experiment:?}");
        }
    }

    macro_rules! each_is_as_expected {
        ($($(#[$attribute:meta])* $name:ident: $experiment:ident),*) => {
            $(#[test] $(#[$attribute])* fn $name() { holds(Experiment::$experiment) })*
        };
    }

    // One test each, so that they run side by side.
    each_is_as_expected!(
        momentum: Momentum, counter: Counter, images: Images, phase: Phase,
        #[ignore = "takes long; `make test-long` runs it"]
        iid: Iid,
        #[ignore = "takes long; `make test-long` runs it"]
        correlated: Correlated,
        #[ignore = "takes long; `make test-long` runs it"]
        tumour: Tumour
    );
}
