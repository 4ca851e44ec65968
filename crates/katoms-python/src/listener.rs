//! Callbacks: what Python hears of a job, and what it may say.
//!
//! The thread of the work calls after every move. Moves may take long, so the thread that waits for the work
//! [calls as well](Listener::remind), with what was told last: no two calls are further apart than a tenth of a second.

use std::cell::Cell;
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use katoms::driver::Event;
use katoms_estimate::{Answer, Phase, Progress, Watch};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::ended::Ended;

/// How often a job looks for Ctrl-C: often enough for a finger, rarely enough to cost nothing.
pub const LOOK: Duration = Duration::from_millis(20);
/// How old a call is when it is repeated. With the time between two looks this leaves room below a tenth of a second.
const OLD: Duration = Duration::from_millis(60);

thread_local! {
    /// Whether this thread is within a callback.
    static CALLING: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is within a callback, which a thread of the work may be waiting for.
pub fn is_calling() -> bool {
    CALLING.get()
}

/// Watches a job for Python. Its clones are the same listener.
#[derive(Clone)]
pub struct Listener {
    callback: Option<Arc<Py<PyAny>>>,
    ended: Ended,
    last: Arc<Mutex<Last>>,
}

/// What was told last.
struct Last {
    told: Told,
    /// When it was new.
    since: Instant,
    /// When it was told, or told again.
    at: Instant,
}

/// What there is to tell.
#[derive(Clone, Copy)]
enum Told {
    /// Nothing yet: the data are read.
    Reading,
    /// A move of a fit: what the fit is for, its atoms, and the move.
    Moved(&'static str, usize, Event),
    /// So many sizes of a path, or fits of a validation, are done.
    Done(usize),
}

impl Listener {
    /// One that calls this with a dictionary. A true answer ends the job, and so does what is kept in `ended`.
    pub fn new(callback: Option<Py<PyAny>>, ended: Ended) -> Self {
        let now = Instant::now();
        let last = Last { told: Told::Reading, since: now, at: now };
        Self { callback: callback.map(Arc::new), ended, last: Arc::new(Mutex::new(last)) }
    }

    /// Tells the callback, unless it or an error has ended the job.
    fn hear(&self, told: Told) -> Answer {
        if self.callback.is_some() && !self.ended.is_stopped() {
            // Locked before the interpreter is, here and below: neither thread waits for the other.
            let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
            (last.told, last.since) = (told, Instant::now());
            self.call(&mut last);
        }
        self.answer()
    }

    /// Tells again what was told last, where that was a while ago and no call is under way.
    pub fn remind(&self) {
        if self.callback.is_none() || self.ended.is_stopped() {
            return;
        }
        let mut last = match self.last.try_lock() {
            Ok(last) => last,
            Err(TryLockError::Poisoned(last)) => last.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        if last.at.elapsed() >= OLD {
            self.call(&mut last);
        }
    }

    fn call(&self, last: &mut Last) {
        let Some(callback) = &self.callback else { return };
        let was_calling = CALLING.replace(true);
        let answered = Python::attach(|py| {
            let words = PyDict::new(py);
            last.told.fill(&words, last.since.elapsed().as_secs_f64())?;
            callback.bind(py).call1((words,))?.is_truthy()
        });
        CALLING.set(was_calling);
        last.at = Instant::now();
        match answered {
            Ok(false) => {}
            Ok(true) => self.ended.stop(),
            Err(error) => self.ended.keep(error),
        }
    }

    fn answer(&self) -> Answer {
        if self.ended.is_ended() { Answer::Stop } else { Answer::GoOn }
    }
}

impl Told {
    /// The dictionary; `later` seconds have passed since it was new. Before the first move it has the keys of both kinds.
    fn fill(&self, words: &Bound<'_, PyDict>, later: f64) -> PyResult<()> {
        match self {
            Self::Reading => {
                words.set_item("phase", "reading")?;
                for name in ["support_size", "iteration", "atoms", "entered", "passes", "done"] {
                    words.set_item(name, 0)?;
                }
                for name in ["objective", "change", "step", "momentum"] {
                    words.set_item(name, f64::NAN)?;
                }
                words.set_item("reads", 0.0)?;
                words.set_item("seconds", later)
            }
            Self::Moved(phase, atoms, event) => {
                words.set_item("phase", phase)?;
                words.set_item("support_size", atoms)?;
                moved(words, event)?;
                words.set_item("seconds", event.seconds + later)
            }
            Self::Done(done) => {
                words.set_item("phase", "sizes")?;
                words.set_item("done", done)
            }
        }
    }
}

impl Watch for Listener {
    fn tell(&mut self, progress: &Progress<'_>) -> Answer {
        let (phase, atoms) = match progress.phase {
            Phase::Trial { atoms, .. } => ("trial", atoms),
            Phase::Final { atoms } => ("final", atoms),
            _ => ("other", progress.event.atoms),
        };
        self.hear(Told::Moved(phase, atoms, *progress.event))
    }

    fn counted(&mut self, done: usize) -> Answer {
        self.hear(Told::Done(done))
    }

    fn goes_on(&mut self) -> Answer {
        self.answer()
    }
}

/// The numbers of one move.
pub fn moved(told: &Bound<'_, PyDict>, event: &Event) -> PyResult<()> {
    told.set_item("iteration", event.iteration)?;
    told.set_item("atoms", event.atoms)?;
    told.set_item("objective", event.objective)?;
    told.set_item("change", event.change)?;
    told.set_item("entered", event.entered)?;
    told.set_item("step", event.step)?;
    told.set_item("momentum", event.momentum)?;
    told.set_item("passes", event.passes)?;
    told.set_item("reads", event.reads)?;
    told.set_item("seconds", event.seconds)
}
