//! Data in several files, which worker processes hold: how the files fit together, and the design that they are.

mod cut;
mod options;
mod target;

use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Result, anyhow, bail};
use katoms::Error;
use katoms::operator::{AnyDesign, Distributed, FirstRead, Grid};
use katoms_io::{Ask, Fingerprint, Source, Sparse};
use serde_json::{Value, json};

use self::cut::Cut;
use crate::checkpoint;
use crate::terminal::count;
use crate::workers::{Failure, Processes, Start, named};

/// A design in files, and the workers that hold them.
#[derive(Debug)]
pub struct Blocks {
    files: Vec<PathBuf>,
    grid: Grid,
    workers: Arc<Processes>,
    /// The design as it was read last, and for what.
    read: Mutex<Option<(Option<FirstRead>, Distributed)>>,
}

impl Blocks {
    /// Lets workers open the files, and finds out how these fit together and to the target.
    pub fn open(files: &[PathBuf], ask: &Ask, workers: usize, start: Start) -> Result<Self> {
        let Some(target) = &ask.target_file else {
            let asked = ask.target.as_deref().map_or(String::new(), |name| format!(", and {name} names no file"));
            bail!(
                "{}: the target of files that workers hold is a file of its own, with a value for each row: --target \
                 y.npy{asked}",
                named(files)
            );
        };
        let rows = target::rows(target, ask.target.as_deref())?;
        let (processes, shapes) = Processes::start(files, workers, start)?;
        let Cut { rows, columns } = Cut::new(files, &shapes, (target, rows))?;
        let grid = Grid::new(&rows, &columns).map_err(|error| anyhow!("{}: {error}", named(files)))?;
        Ok(Self { files: files.to_vec(), grid, workers: Arc::new(processes), read: Mutex::default() })
    }

    /// A matrix of their shape without entries: what needs no more than names and places of columns.
    pub fn outline(&self) -> Source {
        let (rows, columns) = (self.grid.n_rows(), self.grid.n_columns());
        let (starts, indices, values) = (vec![0; columns + 1], Vec::new(), Vec::new());
        Source::Sparse(Sparse { rows, columns, starts, indices, values, labels: None })
    }

    /// The design; workers read it, where it was not read for the same before.
    pub fn design(&self, first: Option<FirstRead>) -> Result<AnyDesign<'static>> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, design)) = read.as_ref().filter(|(before, _)| *before == first) {
            return Ok(design.clone().into());
        }
        let design = Distributed::new(self.grid.clone(), Arc::<Processes>::clone(&self.workers), first.as_ref());
        let design = design.map_err(|error| self.placed(error))?;
        *read = Some((first, design.clone()));
        Ok(design.into())
    }

    /// An error with the place in its file.
    fn placed(&self, error: Error) -> anyhow::Error {
        let has = |range: &Range<usize>, at: usize| range.contains(&at);
        match error {
            Error::NotFinite { row, column, value, .. } => {
                let mut blocks = (0..self.files.len()).map(|block| (block, self.grid.ranges(block)));
                match blocks.find(|(_, (rows, columns))| has(rows, row) && has(columns, column)) {
                    Some((block, (rows, columns))) => anyhow!(
                        "{}, row {}, column {}: {value} is not a finite number; correct it, or fill in what is missing before \
                         the fit",
                        self.files[block].display(),
                        row - rows.start + 1,
                        column - columns.start + 1
                    ),
                    None => anyhow!(error),
                }
            }
            error => anyhow!(error),
        }
    }

    /// The workers' files by name and size, with what else a fit depends on.
    pub fn fingerprint(&self, others: Fingerprint) -> Fingerprint {
        let mut said = others.checksum.clone();
        for file in &self.files {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            let bytes = std::fs::metadata(file).map_or(0, |file| file.len());
            said += &format!("\n{bytes} {name}");
        }
        let numbers: Vec<f64> = said.bytes().map(f64::from).collect();
        Fingerprint { checksum: checkpoint::checksum(&[&numbers]), ..others }
    }

    pub fn failure(&self) -> &Failure {
        self.workers.failure()
    }

    /// Why nothing more can be computed, where that is so.
    pub fn lost(&self) -> Option<anyhow::Error> {
        self.failure().get().map(|why| anyhow!("{why}"))
    }

    /// `2 workers, 8 blocks: 23 round trips, 41 MB sent and received`.
    pub fn in_words(&self) -> String {
        let account = self.workers.account();
        let lost = match account.losses {
            0 => String::new(),
            losses => format!("; {} lost, and started again", count(losses, "worker was", "workers were")),
        };
        format!(
            "{}, {}: {}, {} sent and received{lost}",
            count(account.workers, "worker", "workers"),
            count(self.files.len(), "block", "blocks"),
            count(account.round_trips, "round trip", "round trips"),
            bytes_in_words(account.bytes_sent + account.bytes_received)
        )
    }

    pub fn json(&self) -> Value {
        let account = self.workers.account();
        json!({
            "workers": account.workers, "blocks": self.files.len(), "round_trips": account.round_trips,
            "bytes_sent": account.bytes_sent, "bytes_received": account.bytes_received, "losses": account.losses,
        })
    }
}

fn bytes_in_words(bytes: u64) -> String {
    let units = [(1_000_000_000_000, "TB"), (1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    match units.into_iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) if bytes < 10 * unit => format!("{:.1} {name}", bytes as f64 / unit as f64),
        Some((unit, name)) => format!("{:.0} {name}", bytes as f64 / unit as f64),
        None => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_told_in_two_digits_or_more() {
        let told = [0, 999, 1000, 23_456, 1_500_000, 41_000_000, 9_960_000_000].map(bytes_in_words);
        assert_eq!(told, ["0 bytes", "999 bytes", "1.0 kB", "23 kB", "1.5 MB", "41 MB", "10.0 GB"]);
    }
}
