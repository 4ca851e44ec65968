//! `correlated`: to be written.

use crate::{Error, Experiment, Progress, Request, Section};

/// Runs it.
pub(crate) fn run(_request: &Request, _progress: &Progress<'_>) -> Result<Section, Error> {
    Ok(Section::new(Experiment::Correlated, "correlated"))
}
