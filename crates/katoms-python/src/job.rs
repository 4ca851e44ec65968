//! A long job: without the interpreter's lock, on some threads, heard by Python, ended by Ctrl-C.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use std::{panic, thread};

use katoms::{Error, Status, Stop};
use pyo3::prelude::*;

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

/// What ended a job from outside: Ctrl-C, the clock, a word of the callback, an error of the callback or of a function
/// that stands for a matrix.
#[derive(Clone, Default)]
pub struct Ended(Arc<Cause>);

#[derive(Default)]
struct Cause {
    error: Mutex<Option<PyErr>>,
    deadline: OnceLock<Instant>,
    is_stopped: AtomicBool,
    is_late: AtomicBool,
}

impl Ended {
    /// The first error, if there was one.
    pub fn take(&self) -> Option<PyErr> {
        self.0.error.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
    /// Keeps an error, unless there is one already.
    pub fn keep(&self, error: PyErr) {
        self.stop();
        self.0.error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }
    /// Whether there was an error.
    pub fn has_failed(&self) -> bool {
        self.0.error.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }
    /// Ends the job, without an error.
    pub fn stop(&self) {
        self.0.is_stopped.store(true, Ordering::SeqCst);
    }
    /// Whether a word from outside has ended it.
    pub fn is_stopped(&self) -> bool {
        self.0.is_stopped.load(Ordering::SeqCst)
    }
    /// Whether there was anything. The clock does not count once something else has ended the job.
    pub fn is_ended(&self) -> bool {
        if self.is_stopped() {
            return true;
        }
        let is_late = self.0.deadline.get().is_some_and(|&deadline| Instant::now() >= deadline);
        self.0.is_late.fetch_or(is_late, Ordering::SeqCst) || is_late
    }
    /// What cut the job short, if anything did: the clock, or a word from outside.
    pub fn cut(&self) -> Option<Status> {
        match (self.0.is_late.load(Ordering::SeqCst), self.is_stopped()) {
            (true, _) => Some(Status::TimeLimit),
            (false, true) => Some(Status::Stopped),
            (false, false) => None,
        }
    }
    /// What a job says of its end, and the clock where that was it.
    pub fn status(&self, status: Status) -> Status {
        if status == Status::Stopped { self.cut().unwrap_or(status) } else { status }
    }
    /// Ends the job in so many seconds.
    fn end_in(&self, seconds: f64) {
        // What is too long for the clock is no limit.
        let deadline = Duration::try_from_secs_f64(seconds).ok().and_then(|left| Instant::now().checked_add(left));
        deadline.map(|deadline| self.0.deadline.set(deadline));
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
