//! The experiments of "IHT dies hard: Provable convergence for accelerated Iterative Hard Thresholding" (Khanna,
//! Kyrillidis), one file each, and one beyond it.
//!
//! The data's way: a config (`paper/NAME.toml`) → [`run`] → a [`Section`]: figures, tables, verdicts and every number.
//! Nothing here draws or prints; the program does, from the section alone, and a saved section can be drawn again.
//!
//! ```
//! use katoms_paper::{Experiment, Progress, Request, Scale, run};
//!
//! let request = Request { scale: Scale::Small, ..Request::default() };
//! let section = run(Experiment::Counter, &request, &Progress::unwatched())?;
//! assert!((section.numbers["norm at x1"] - 1.1328).abs() < 5e-5);
//! # Ok::<(), katoms_paper::Error>(())
//! ```

mod config;
mod contestant;
mod correlated;
mod counter;
mod error;
mod expected;
pub mod figure;
mod iid;
mod images;
mod momentum;
mod phase;
mod progress;
mod race;
mod scores;
mod section;
mod tumour;

use std::path::PathBuf;
use std::time::Instant;

use serde::{Deserialize, Serialize};

pub use config::template;
pub use contestant::Contestant;
pub use error::Error;
pub use expected::{Band, Miss, expected, misses};
pub use progress::Progress;
pub use section::{Agreement, Section, Table, Verdict};

/// An experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Experiment {
    /// f − f* for many τ on a toy.
    Momentum,
    /// Independent Gaussian columns, no noise.
    Iid,
    /// Correlated columns, noise.
    Correlated,
    /// Where momentum raises the residual.
    Counter,
    /// Groups of genes, two classes.
    Tumour,
    /// Pictures with most of their pixels missing.
    Images,
    /// Where each method recovers; beyond the paper.
    Phase,
}

impl Experiment {
    /// All, in the order of the report.
    pub const ALL: [Self; 7] =
        [Self::Momentum, Self::Iid, Self::Correlated, Self::Counter, Self::Tumour, Self::Images, Self::Phase];

    /// Its name on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Momentum => "momentum",
            Self::Iid => "iid",
            Self::Correlated => "correlated",
            Self::Counter => "counter",
            Self::Tumour => "tumour",
            Self::Images => "images",
            Self::Phase => "phase",
        }
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|e| e.name() == name)
    }

    /// What it is about, in a line.
    pub fn about(self) -> &'static str {
        match self {
            Self::Momentum => "a toy problem: which momentum converges, ripples, diverges",
            Self::Iid => "a wide Gaussian design without noise: passes and seconds to the planted vector",
            Self::Correlated => "neighbouring columns alike, with noise: support, prediction and fit by sparsity",
            Self::Counter => "the example in which every positive momentum raises the residual",
            Self::Tumour => "two classes of tumours, overlapping groups of genes: error, seconds, passes",
            Self::Images => "pictures of rank 60 from 35 % of their pixels",
            Self::Phase => "beyond the paper: where each method recovers, as maps",
        }
    }
}

/// How large an experiment is run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Seconds: what the tests hold against `expected.json`.
    Small,
    /// Up to about a minute on two cores.
    #[default]
    Default,
    /// The paper's size where the default is smaller, or more draws.
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
    /// How large.
    pub scale: Scale,
    /// The text of another config than the built-in one.
    pub config: Option<String>,
    /// Real cohorts for `tumour`, in place of a simulated one.
    pub data: Vec<PathBuf>,
    /// Pictures for `images`, in place of a drawn one.
    pub images: Vec<PathBuf>,
}

/// Runs an experiment.
///
/// # Errors
/// When the config or the data cannot be used, or the run was stopped.
pub fn run(experiment: Experiment, request: &Request, progress: &Progress<'_>) -> Result<Section, Error> {
    let clock = Instant::now();
    let mut section = match experiment {
        Experiment::Momentum => momentum::run(request, progress),
        Experiment::Iid => iid::run(request, progress),
        Experiment::Correlated => correlated::run(request, progress),
        Experiment::Counter => counter::run(request, progress),
        Experiment::Tumour => tumour::run(request, progress),
        Experiment::Images => images::run(request, progress),
        Experiment::Phase => phase::run(request, progress),
    }?;
    section.experiment = experiment;
    section.scale = request.scale;
    // What is not a number is absent: a file could not hold it, and a band would miss it.
    section.numbers.retain(|_, value| value.is_finite());
    section.threads = rayon::current_num_threads();
    section.seconds = clock.elapsed().as_secs_f64();
    Ok(section)
}
