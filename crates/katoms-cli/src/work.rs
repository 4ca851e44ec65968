//! Arguments of whatever takes long: when it ends, and where it goes on.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use clap::Args;
use katoms::Error;

use crate::Ended;
use crate::told::Told;
use crate::watch::{self, Companion, Cut};

/// When the work ends, and how that is told.
#[derive(Debug, Args)]
pub struct WorkArgs {
    /// Print the result as JSON on standard output
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// End after so many seconds, with the best so far
    #[arg(long, value_name = "SECONDS", value_parser = positive, help_heading = "Output")]
    pub time_limit: Option<f64>,
    /// Exit with 1 where the work did not converge
    #[arg(long, help_heading = "Output")]
    pub strict: bool,
}

/// A number above 0.
fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value.is_finite() => Ok(value),
        _ => Err(format!("`{text}` must be a number above 0")),
    }
}

impl WorkArgs {
    /// How a command ends whose work is done, or not.
    pub fn ended(&self, is_done: bool) -> Ended {
        if self.strict && !is_done { Ended::Short } else { Ended::Done }
    }
}

/// Where a job that was cut short goes on.
#[derive(Debug, Args)]
pub struct CheckpointArgs {
    /// Save the state here now and then; go on from it where it exists
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub checkpoint: Option<PathBuf>,
}

impl CheckpointArgs {
    /// The file.
    pub fn path(&self) -> Option<&Path> {
        self.checkpoint.as_deref()
    }

    /// Runs a job on this data from the saved state, where there is one, and saves it on its way.
    ///
    /// # Errors
    /// As the job; a state that does not belong to it is told with what to do about it.
    pub fn run<T>(
        &self,
        told: &Told,
        data: &Path,
        companion: Companion,
        job: impl FnOnce(Option<Vec<u8>>, &mut Companion) -> Result<T, Error>,
    ) -> Result<(T, Cut)> {
        let state = watch::saved_state(self.path())?;
        if state.is_some() {
            told.say("going on from the checkpoint");
        }
        let mut companion = companion.saving_to(self.path());
        let result = job(state, &mut companion);
        let cut = companion.finish(told);
        match (result, self.path()) {
            (Ok(result), _) => Ok((result, cut)),
            (Err(error @ Error::Checkpoint { .. }), Some(path)) => {
                let path = path.display();
                Err(anyhow!("{path}: {error}; delete {path} to begin anew, or name another file"))
            }
            (Err(error), _) => Err(anyhow!("{}: {error}", data.display())),
        }
    }

    /// Removes the state of a job that is done; one that was cut short is kept, and the same command goes on from it.
    pub fn forget(&self, is_done: bool) {
        if let Some(path) = self.path().filter(|_| is_done) {
            // It may never have been written.
            let _ = std::fs::remove_file(path);
        }
    }
}
