//! A checkpoint: a file that says in words whose it is, and holds the saved state of a fit.
//!
//! | part | |
//! |---|---|
//! | first line | `katoms checkpoint` |
//! | second line | JSON: the format, the version of katoms, and the [`Job`] |
//! | the rest | the state, which has a checksum of its own |

use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use katoms::Error;
use serde::{Deserialize, Serialize};

use crate::terminal::Terminal;
use crate::watch::{Cut, Monitor};

const FIRST_LINE: &str = "katoms checkpoint\n";
/// What the states of the library begin with, which files held alone before they had words.
const BARE_STATE: &[u8] = b"katoms\0";
/// Goes up whenever the lines change their meaning.
const FORMAT: u32 = 1;
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The second line is shorter.
const LONGEST_LINE: u64 = 1 << 20;

/// What a state belongs to: a command, its data, and the options on which the answer depends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    pub command: String,
    pub rows: usize,
    pub columns: usize,
    pub checksum: String,
    pub options: Vec<(String, String)>,
}

impl Job {
    fn difference(&self, now: &Self) -> Option<String> {
        if self.command != now.command {
            return Some(format!("it was saved by `katoms {}`, and this is `katoms {}`", self.command, now.command));
        }
        if (self.rows, self.columns) != (now.rows, now.columns) {
            return Some(format!(
                "it was saved for other data, of {} rows and {} columns, and these have {} rows and {} columns",
                self.rows, self.columns, now.rows, now.columns
            ));
        }
        let name = |(name, _): &(String, String)| name.clone();
        let value = |job: &Self, name: &str| {
            let found = job.options.iter().find(|option| option.0 == name);
            found.map_or_else(|| "not given".to_owned(), |option| option.1.clone())
        };
        let mut names: Vec<String> = self.options.iter().chain(&now.options).map(name).collect();
        names.dedup();
        let mut told: Vec<String> = Vec::new();
        for name in names {
            let (then, now) = (value(self, &name), value(now, &name));
            let words = format!("{name} was {then} and is {now}");
            if then != now && !told.contains(&words) {
                told.push(words);
            }
        }
        if !told.is_empty() {
            return Some(format!("it was saved with other options: {}", told.join(", ")));
        }
        let other = "it was saved for other data: they have as many rows and columns, and other values";
        (self.checksum != now.checksum).then(|| other.to_owned())
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct Head {
    format: u32,
    katoms: String,
    job: serde_json::Value,
}

/// What was found in the file: a job and its state.
#[derive(Debug)]
struct Saved {
    job: Job,
    state: Vec<u8>,
}

#[derive(Debug)]
pub struct Checkpoint {
    path: Option<PathBuf>,
    every: f64,
    saved: Option<Saved>,
}

impl Checkpoint {
    /// Looks at the file, before any work: one that is no checkpoint is never written to.
    pub fn open(path: Option<&Path>, every: f64) -> Result<Self> {
        let saved = path.map(read).transpose()?.flatten();
        Ok(Self { path: path.map(Path::to_owned), every, saved })
    }

    pub fn run<T>(
        &mut self,
        terminal: &Terminal,
        data: &Path,
        job: impl FnOnce() -> Job,
        monitor: Monitor,
        work: impl FnOnce(Option<Vec<u8>>, &mut Monitor) -> Result<T, Error>,
    ) -> Result<(T, Cut)> {
        let on_data = |error: Error| anyhow!("{}: {error}", data.display());
        let Some(path) = &self.path else {
            let mut monitor = monitor;
            let result = work(None, &mut monitor);
            let cut = monitor.finish(terminal);
            return Ok((result.map_err(on_data)?, cut));
        };
        let job = job();
        let state = match self.saved.take() {
            None => None,
            Some(saved) => match saved.job.difference(&job) {
                Some(why) => return Err(refused(path, &why)),
                None => Some(saved.state),
            },
        };
        if state.is_some() {
            terminal.say("going on from the checkpoint");
        }
        let mut monitor = monitor.saving_to(path, head(&job)?, self.every);
        let result = work(state, &mut monitor);
        let cut = monitor.finish(terminal);
        match result {
            Ok(result) => Ok((result, cut)),
            Err(Error::Checkpoint { reason }) => Err(refused(path, &reason)),
            Err(error) => Err(on_data(error)),
        }
    }

    /// Removes the state of a job that is done; one that was cut short is kept, and the same command goes on from it.
    pub fn forget(&self, is_done: bool) {
        if let Some(path) = self.path.as_ref().filter(|_| is_done) {
            // It may never have been written.
            let _ = std::fs::remove_file(path);
        }
    }
}

fn head(job: &Job) -> Result<Vec<u8>> {
    let head = Head { format: FORMAT, katoms: VERSION.into(), job: serde_json::to_value(job)? };
    Ok(format!("{FIRST_LINE}{}\n", serde_json::to_string(&head)?).into_bytes())
}

fn refused(path: &Path, why: &str) -> anyhow::Error {
    let path = path.display();
    anyhow!("{path}: this checkpoint cannot be used: {why}; delete {path} to begin anew, or name another file")
}

/// The checkpoint in a file; nothing where there is no such file yet, or it is empty.
fn read(path: &Path) -> Result<Option<Saved>> {
    let cannot = || format!("the checkpoint {} cannot be read", path.display());
    let file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        file => file.with_context(cannot)?,
    };
    if !file.metadata().with_context(cannot)?.is_file() {
        bail!("{}: this is not a file that a checkpoint could be saved in; name another one", path.display());
    }
    let mut file = BufReader::new(file);
    let mut first = Vec::new();
    file.by_ref().take(FIRST_LINE.len() as u64).read_to_end(&mut first).with_context(cannot)?;
    if first.is_empty() {
        return Ok(None);
    }
    if first.starts_with(BARE_STATE) {
        return Err(refused(path, &format!("it was saved by an earlier katoms, and this is katoms {VERSION}")));
    }
    if first != FIRST_LINE.as_bytes() {
        bail!("{}: this is not a checkpoint of katoms, so it is left as it is; name another file", path.display());
    }
    let mut line = String::new();
    let damaged = |_| refused(path, "it is damaged: its second line does not say what it belongs to");
    file.by_ref().take(LONGEST_LINE).read_line(&mut line).map_err(|_| ()).map_err(damaged)?;
    let head: Head = serde_json::from_str(&line).map_err(|_| ()).map_err(damaged)?;
    if head.format != FORMAT {
        let why = format!("it was saved by katoms {}, and katoms {VERSION} has another format", head.katoms);
        return Err(refused(path, &why));
    }
    let job = serde_json::from_value(head.job).map_err(|_| ()).map_err(damaged)?;
    let mut state = Vec::new();
    file.read_to_end(&mut state).with_context(cannot)?;
    Ok(Some(Saved { job, state }))
}

/// A checksum of numbers, for data that have none: FNV-1a, as 16 hexadecimal digits.
pub fn checksum(parts: &[&[f64]]) -> String {
    let bytes = parts.iter().flat_map(|part| part.iter().flat_map(|v| v.to_bits().to_le_bytes()));
    let sum = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    format!("{sum:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job() -> Job {
        let options = [("k", "30"), ("method", "iht")].map(|(name, value)| (name.into(), value.into()));
        Job { command: "fit".into(), rows: 300, columns: 20, checksum: "ab".into(), options: options.into() }
    }

    #[test]
    fn every_difference_is_told() {
        let told = |other: Job| job().difference(&other).unwrap_or_default();
        assert_eq!(told(job()), "");
        let other = Job { command: "recover".into(), ..job() };
        assert_eq!(told(other), "it was saved by `katoms fit`, and this is `katoms recover`");
        assert!(told(Job { rows: 20, ..job() }).contains("of 300 rows and 20 columns, and these have 20 rows"));
        assert!(told(Job { checksum: "cd".into(), ..job() }).contains("as many rows and columns, and other values"));
        let mut more = job();
        more.options[0].1 = "20".into();
        more.options.push(("ridge".into(), "0.5".into()));
        let words = "it was saved with other options: k was 30 and is 20, ridge was not given and is 0.5";
        assert_eq!(told(more), words);
        let mut turned = job();
        turned.options.reverse();
        assert_eq!(told(turned), "");
    }
}
