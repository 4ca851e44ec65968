//! A long job: without the interpreter's lock, on some threads, heard by Python, ended by Ctrl-C.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::{panic, thread};

use katoms::{Error, Stop};
use pyo3::prelude::*;

use crate::ended::Ended;
use crate::error::raised;
use crate::listener::{LOOK, Listener};
use crate::pool::pool;

/// How the work is done.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Work {
    max_iter: usize,
    tol: f64,
    /// The seconds that are left.
    seconds: Option<f64>,
    n_jobs: Option<usize>,
    callback: Option<Py<PyAny>>,
    /// What atoms are called where the quality is put into words.
    pub names: Vec<String>,
}

impl Work {
    /// When a run ends.
    pub fn stop(&self) -> Stop {
        Stop { iterations: self.max_iter, tolerance: self.tol, seconds: self.seconds, ..Stop::default() }
    }
}

/// Does a job without the interpreter's lock, on as many threads as asked for. What it gives comes with what ended it
/// from outside, if anything did.
pub fn worked<T: Send>(
    py: Python<'_>,
    work: &Work,
    ended: &Ended,
    job: impl FnOnce(&mut Listener) -> Result<T, Error> + Send,
) -> PyResult<(T, Option<PyErr>)> {
    let mut listener = Listener::new(work.callback.as_ref().map(|callback| callback.clone_ref(py)), ended.clone());
    work.seconds.into_iter().for_each(|seconds| ended.end_in(seconds));
    let (pool, waiting) = (pool(work.n_jobs)?, listener.clone());
    let done = py.detach(|| match pool {
        // A callback that fits is on a thread of a pool already; waiting for another one could wait for itself.
        None => job(&mut listener),
        Some(pool) => attended(ended, &waiting, || pool.install(|| job(&mut listener))),
    });
    match (done, ended.take()) {
        (Ok(answer), ended) => Ok((answer, ended)),
        (Err(_), Some(ended)) => Err(ended),
        (Err(error), None) => Err(raised(error)),
    }
}

/// Does the work on another thread. This one looks for Ctrl-C, since Python tells only its main thread of signals, and
/// calls back where the work has not done so for a while.
fn attended<T: Send>(ended: &Ended, listener: &Listener, work: impl FnOnce() -> T + Send) -> T {
    let (done, heard) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let worker = scope.spawn(move || {
            let answer = work();
            drop(done);
            answer
        });
        while heard.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
            if let Err(error) = Python::attach(|py| py.check_signals()) {
                ended.keep(error);
            }
            listener.remind();
        }
        worker.join().unwrap_or_else(|panicked| panic::resume_unwind(panicked))
    })
}
