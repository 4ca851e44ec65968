//! Workers of a design in blocks that are processes on this machine: this program, started again for some of the files.
//!
//! | part | what |
//! |---|---|
//! | here | which worker holds which files, and round trips to all of them |
//! | `process` | a worker as the driver sees it: started, asked, and started again where it is lost |
//! | `held` | the side of the worker: its files, until nobody asks any more |
//! | `frames` | what goes through the pipes between them |

mod frames;
mod held;
mod process;

use std::ffi::OsString;
use std::fmt;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use anyhow::{Result, anyhow, bail};
use katoms::Error;
use katoms::operator::{READ, Workers};

use self::frames::Request;
pub use self::frames::Shape;
pub use self::held::{Matrix, serve};
use self::process::Process;

/// How workers are started.
#[derive(Debug, Clone)]
pub struct Start {
    /// The program, and the arguments before those that say what to hold.
    pub command: Vec<OsString>,
    pub max_unpacked: String,
    /// Of each worker.
    pub threads: usize,
}

/// Some files in a few words.
pub fn named(files: &[PathBuf]) -> String {
    match files {
        [file] => file.display().to_string(),
        [first, .., last] => format!("{} to {} ({} files)", first.display(), last.display(), files.len()),
        [] => String::new(),
    }
}

/// Why workers are asked no more, from then on.
pub type Failure = Arc<OnceLock<String>>;

/// Worker processes, each of which holds a run of the files.
pub struct Processes {
    inner: Mutex<Inner>,
    failure: Failure,
}

struct Inner {
    workers: Vec<Process>,
    /// The messages with which blocks were read last, and which block was told which of them.
    read: (Vec<Vec<u8>>, Vec<(usize, usize)>),
    round_trips: usize,
}

/// What the work with them was.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Account {
    pub workers: usize,
    pub round_trips: usize,
    pub bytes_sent: u64,
    pub bytes_received: u64,
    /// How often a worker was lost, and started again.
    pub losses: usize,
}

impl fmt::Debug for Processes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Processes({:?})", self.account())
    }
}

impl Processes {
    /// So many workers, or where there are fewer files one for each; and what the files hold.
    pub fn start(files: &[PathBuf], workers: usize, start: Start) -> Result<(Self, Vec<Shape>)> {
        if start.command.is_empty() {
            bail!("this program does not know how it was started, so it cannot start workers; fit one file instead");
        }
        let bytes: Vec<u64> = files.iter().map(|file| std::fs::metadata(file).map_or(0, |file| file.len())).collect();
        let start = Arc::new(start);
        let one = |run: Range<usize>| Process::new(Arc::clone(&start), run.clone(), &files[run]);
        let mut workers: Vec<Process> = dealt(&bytes, workers).into_iter().map(one).collect();
        // They open their files side by side.
        workers.iter_mut().for_each(Process::start);
        let mut shapes = Vec::with_capacity(files.len());
        for worker in &mut workers {
            shapes.extend(worker.open().map_err(|problem| anyhow!(problem))?);
        }
        let inner = Inner { workers, read: Default::default(), round_trips: 0 };
        Ok((Self { inner: Mutex::new(inner), failure: Failure::default() }, shapes))
    }

    pub fn failure(&self) -> &Failure {
        &self.failure
    }

    pub fn account(&self) -> Account {
        let inner = self.inner();
        let mut account =
            Account { workers: inner.workers.len(), round_trips: inner.round_trips, ..Account::default() };
        for worker in &inner.workers {
            account.bytes_sent += worker.bytes_sent;
            account.bytes_received += worker.bytes_received;
            account.losses += worker.losses;
        }
        account
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Workers for Processes {
    fn ask(&self, what: &str, messages: &[Vec<u8>], tasks: &[(usize, usize)]) -> Result<Vec<Vec<u8>>, Error> {
        let mut inner = self.inner();
        let failed = |why: &String| Error::Workers { message: why.clone() };
        if let Some(why) = self.failure.get() {
            return Err(failed(why));
        }
        inner.round_trips += 1;
        if what == READ {
            inner.read = Default::default();
        }
        let replies = inner.asked(messages, tasks).map_err(|why| failed(self.failure.get_or_init(|| why)))?;
        if what == READ {
            inner.read = (messages.to_vec(), tasks.to_vec());
        }
        Ok(replies)
    }
}

impl Inner {
    /// The replies in the order of the tasks. Nobody waits for somebody who waits: a worker reads all of a request before
    /// it replies, and all requests are written before a reply is read.
    fn asked(&mut self, messages: &[Vec<u8>], tasks: &[(usize, usize)]) -> Result<Vec<Vec<u8>>, String> {
        let Self { workers, read, .. } = self;
        let requests: Vec<Request<'_>> =
            workers.iter().map(|worker| Request::of(messages, tasks, worker.blocks())).collect();
        workers.iter_mut().zip(&requests).for_each(|(worker, request)| worker.tell(request));
        let mut replies = vec![Vec::new(); tasks.len()];
        for (worker, request) in workers.iter_mut().zip(&requests) {
            let before = Request::of(&read.0, &read.1, worker.blocks());
            let own = worker.hear(request, &before)?;
            let places = (0..tasks.len()).filter(|&at| worker.blocks().contains(&tasks[at].0));
            places.zip(own).for_each(|(at, reply)| replies[at] = reply);
        }
        Ok(replies)
    }
}

/// Runs of files, one for each worker, about as many bytes in each: a file goes where its middle lies.
fn dealt(bytes: &[u64], workers: usize) -> Vec<Range<usize>> {
    let (files, workers) = (bytes.len(), workers.clamp(1, bytes.len().max(1)));
    let total = u128::from(bytes.iter().sum::<u64>());
    let mut end = 0;
    let middles: Vec<u128> = bytes
        .iter()
        .map(|&own| {
            end += 2 * u128::from(own);
            end - u128::from(own)
        })
        .collect();
    let mut runs = Vec::with_capacity(workers);
    let mut first = 0;
    for worker in 1..=workers {
        let share = 2 * total * worker as u128 / workers as u128;
        let next = if worker == workers { files } else { middles.partition_point(|&middle| middle < share) };
        // Nobody goes without a file.
        let next = next.clamp(first + 1, files - (workers - worker));
        runs.push(first..next);
        first = next;
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_dealt_in_runs_of_about_as_many_bytes() {
        assert_eq!(dealt(&[5, 5, 5, 5], 2), [0..2, 2..4]);
        assert_eq!(dealt(&[9, 1, 1, 1], 2), [0..1, 1..4]);
        assert_eq!(dealt(&[1, 1, 1, 9], 2), [0..3, 3..4]);
        assert_eq!(dealt(&[0, 0, 0], 2), [0..1, 1..3]);
        assert_eq!(dealt(&[100, 1, 1], 3), [0..1, 1..2, 2..3]);
        assert_eq!(dealt(&[7, 7], 4), [0..1, 1..2]);
        assert_eq!(dealt(&[4; 10], 3), [0..3, 3..7, 7..10]);
    }
}
