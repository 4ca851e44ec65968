//! Arguments of whatever takes long: when it ends, and where it goes on.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;

use crate::Ended;
use crate::checkpoint::Checkpoint;

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
    /// Save it whenever so many seconds have passed
    #[arg(long, value_name = "SECONDS", value_parser = positive, default_value_t = 2.0, help_heading = "Output")]
    pub checkpoint_every: f64,
}

impl CheckpointArgs {
    pub fn path(&self) -> Option<&Path> {
        self.checkpoint.as_deref()
    }

    pub fn open(&self) -> Result<Checkpoint> {
        Checkpoint::open(self.path(), self.checkpoint_every)
    }
}
