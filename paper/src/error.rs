//! Why an experiment could not be run.

use thiserror::Error as ThisError;

/// What went wrong, where, and what would be right.
#[derive(Debug, ThisError)]
#[non_exhaustive]
pub enum Error {
    /// A config that cannot be read.
    #[error("the config of {experiment}: {why}; `katoms paper {experiment} --print-config` shows a whole one")]
    Config {
        /// Whose config.
        experiment: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// Data that the experiment cannot use.
    #[error("{what}")]
    Data {
        /// What is wrong with which file, and what would be right.
        what: String,
    },
    /// A file that cannot be read.
    #[error(transparent)]
    File(#[from] katoms_io::Error),
    /// A problem that the library refuses.
    #[error(transparent)]
    Katoms(#[from] katoms::Error),
    /// Ended before its time by whoever watches.
    #[error("stopped before its end")]
    Stopped,
}

impl Error {
    /// Data that cannot be used.
    pub(crate) fn data(what: impl Into<String>) -> Self {
        Self::Data { what: what.into() }
    }
}
