//! What ends a job from outside.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use katoms::Status;
use pyo3::prelude::*;

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
    pub fn end_in(&self, seconds: f64) {
        // What is too long for the clock is no limit.
        let deadline = Duration::try_from_secs_f64(seconds).ok().and_then(|left| Instant::now().checked_add(left));
        deadline.map(|deadline| self.0.deadline.set(deadline));
    }
}
