//! `katoms worker`: a worker process, which `--workers` starts. Nobody types it, so it is not among the commands of the help,
//! of the manual and of completions.

use std::path::PathBuf;

use anyhow::Result;
use clap::Parser;
use katoms_io::MaxUnpacked;

use crate::{Ended, workers};

/// The name of the command.
pub const NAME: &str = "worker";

/// `katoms worker`.
#[derive(Debug, Parser)]
#[command(name = "katoms worker")]
pub struct WorkerArgs {
    /// The number of the first block
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    first: usize,
    /// The most that compressed data may unpack to
    #[arg(long, value_name = "SIZE", default_value_t)]
    max_unpacked: MaxUnpacked,
    /// The blocks
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
}

impl WorkerArgs {
    pub(super) fn run(&self) -> Result<Ended> {
        workers::serve(self.first, &self.files, self.max_unpacked)?;
        Ok(Ended::Done)
    }
}
