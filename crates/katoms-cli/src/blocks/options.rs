//! Arguments about data in several files.

use anyhow::{Result, bail};
use katoms_estimate::threads;
use katoms_io::{Ask, Missing};

use super::Blocks;
use crate::data::DataArgs;
use crate::terminal::Terminal;
use crate::workers::Start;

impl DataArgs {
    /// The blocks that the data are, where workers hold them: several files, or one with `--workers`.
    pub fn blocks(&self, ask: &Ask, terminal: &Terminal) -> Result<Option<Blocks>> {
        if self.data.len() == 1 && self.workers.is_none() {
            return Ok(None);
        }
        if let Some(option) = self.unsuitable(ask) {
            bail!(
                "{option} does not go with files that workers hold, of which all columns are features as they are; leave it \
                 out, or fit one file without --workers"
            );
        }
        let workers = self.workers.unwrap_or_else(threads).min(self.data.len());
        let start = Start {
            command: terminal.worker.clone(),
            max_unpacked: self.reading.format.max_unpacked.to_string(),
            threads: (threads() / workers.max(1)).max(1),
        };
        Blocks::open(&self.data, ask, workers, start).map(Some)
    }

    /// An option for which columns would have to be here.
    fn unsuitable(&self, ask: &Ask) -> Option<&'static str> {
        let (rows, reading) = (&ask.rows, &self.reading);
        let given = [
            ("--weights", self.weights.is_some()),
            ("--interactions", self.interactions.is_some()),
            ("--missing", reading.missing.is_some_and(|missing| missing != Missing::Refuse)),
            ("--covariates", reading.covariates.is_some()),
            ("--drop", !reading.format.drop.is_empty()),
            ("--categorical", !reading.format.categorical.is_empty()),
            ("--event", rows.event.is_some()),
            ("--strata", rows.strata.is_some()),
            ("--entry", rows.entry.is_some()),
            ("--offset", rows.offset.is_some()),
            ("--exposure", rows.exposure.is_some()),
            ("--fold-column", ask.folds.is_some()),
        ];
        given.into_iter().find(|(_, is_given)| *is_given).map(|(option, _)| option)
    }
}
