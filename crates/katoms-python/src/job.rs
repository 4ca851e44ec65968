//! A long job: without the interpreter's lock, on some threads, heard by Python, ended by Ctrl-C.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::{panic, thread};

use katoms::{Error, Stop};
use pyo3::prelude::*;

use crate::error::raised;
use crate::listener::{LOOK, Listener};
use crate::pool::on_threads;

/// How the work is done.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Work {
    max_iter: usize,
    tol: f64,
    n_jobs: Option<usize>,
    callback: Option<Py<PyAny>>,
    /// What atoms are called where the quality is put into words.
    pub names: Vec<String>,
}

impl Work {
    /// When a run ends.
    pub fn stop(&self) -> Stop {
        Stop { iterations: self.max_iter, tolerance: self.tol, ..Stop::default() }
    }
}

/// What ended a job from outside: Ctrl-C, an error of the callback or of a function that stands for a matrix.
#[derive(Clone, Default)]
pub struct Ended(Arc<Mutex<Option<PyErr>>>);

impl Ended {
    /// The first error, if there was one.
    pub fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
    /// Keeps an error, unless there is one already.
    pub fn keep(&self, error: PyErr) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }
    /// Whether there was one.
    pub fn is_ended(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
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
    let threads = work.n_jobs;
    let done = py.detach(|| {
        // A callback that fits is on a thread of the pool already; waiting for another one could wait for itself.
        if rayon::current_thread_index().is_some() {
            return on_threads(threads, || job(&mut listener));
        }
        attended(ended, || on_threads(threads, || job(&mut listener)))
    })?;
    match (done, ended.take()) {
        (Ok(answer), ended) => Ok((answer, ended)),
        (Err(_), Some(ended)) => Err(ended),
        (Err(error), None) => Err(raised(error)),
    }
}

/// Does the work on another thread, and looks for Ctrl-C on this one: Python tells only its main thread of signals.
fn attended<T: Send>(ended: &Ended, work: impl FnOnce() -> T + Send) -> T {
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
        }
        worker.join().unwrap_or_else(|panicked| panic::resume_unwind(panicked))
    })
}
