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

    /// Runs it.
    pub fn run(self, request: &Request, progress: &Progress) -> Result<Section> {
        let clock = Instant::now();
        let mut section = (self.row().3)(request, progress)?;
        section.scale = request.scale;
        // What is not a number is absent: a file could not hold it, and a band would miss it.
        section.numbers.retain(|_, value| value.is_finite());
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
        table.try_into().map_err(|e: toml::de::Error| self.bad_config(e.message()))
    }

    /// What is wrong with a config.
    pub fn bad_config(self, why: &str) -> Error {
        let name = self.name();
        anyhow!("the config of {name}: {why}; `katoms-paper {name} --print-config` shows a whole one")
    }

    /// The bands of its numbers at the small scale, by name.
    pub fn bands(self) -> Result<BTreeMap<String, Band>> {
        let mut all: BTreeMap<String, _> = serde_json::from_str(include_str!("../expected.json"))?;
        Ok(all.remove(self.name()).unwrap_or_default())
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
mod tests {
    use super::*;
    use crate::section::misses;

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

    /// An experiment at the small scale, on one thread and on three: the numbers are the same, and in their bands.
    fn holds(experiment: Experiment) {
        let small = || experiment.run(&Request { scale: Scale::Small, ..Request::default() }, &Progress::hidden());
        let on = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(small);
        let (alone, together) = (on(1).unwrap(), on(3).unwrap());
        assert_eq!(alone.numbers, together.numbers, "{experiment:?}: threads change the numbers");
        let bands = experiment.bands().unwrap();
        assert!(!bands.is_empty(), "{experiment:?} has no bands");
        assert_eq!(misses(&alone, &bands), [], "{experiment:?}");
        assert!(alone.figures.iter().all(|f| !f.caption.is_empty() && !f.panels.is_empty()), "{experiment:?}");
        assert_eq!(alone.figures.first().map(|f| f.name.as_str()), Some(experiment.name()));
        let again: Section = serde_json::from_str(&serde_json::to_string(&alone).unwrap()).unwrap();
        assert_eq!(again, alone, "{experiment:?}: saved and read again");
    }

    macro_rules! each_is_as_expected {
        ($($name:ident: $experiment:ident),*) => {
            $(#[test] fn $name() { holds(Experiment::$experiment) })*
        };
    }

    // One test each, so that they run side by side.
    each_is_as_expected!(
        momentum: Momentum, iid: Iid, correlated: Correlated, counter: Counter, tumour: Tumour, images: Images, phase: Phase
    );
}
