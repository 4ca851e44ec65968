//! Ctrl-C and callbacks: what Python hears of a job, and what it may say.

use std::time::{Duration, Instant};

use katoms::driver::Event;
use katoms_estimate::{Answer, Phase, Progress, Watch};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// How often a job without a callback looks for Ctrl-C: often enough for a finger, rarely enough to cost nothing.
const LOOK: Duration = Duration::from_millis(30);

/// Watches a job for Python.
pub struct Listener {
    callback: Option<Py<PyAny>>,
    looked: Instant,
    raised: Option<PyErr>,
}

impl Listener {
    /// One that calls this with a dictionary after every move. A true answer ends the job.
    pub fn new(callback: Option<Py<PyAny>>) -> Self {
        Self { callback, looked: Instant::now(), raised: None }
    }

    /// What ended the job from outside: Ctrl-C, or an error of the callback.
    pub fn raised(self) -> Option<PyErr> {
        self.raised
    }

    /// Looks for signals, and tells the callback.
    fn hear(&mut self, fill: impl FnOnce(&Bound<'_, PyDict>) -> PyResult<()>) -> Answer {
        if self.raised.is_some() {
            return Answer::Stop;
        }
        if self.callback.is_none() && self.looked.elapsed() < LOOK {
            return Answer::GoOn;
        }
        self.looked = Instant::now();
        let answered = Python::attach(|py| {
            py.check_signals()?;
            let Some(callback) = &self.callback else { return Ok(false) };
            let told = PyDict::new(py);
            fill(&told)?;
            if told.is_empty() {
                return Ok(false);
            }
            callback.bind(py).call1((told,))?.is_truthy()
        });
        match answered {
            Ok(false) => Answer::GoOn,
            Ok(true) => Answer::Stop,
            Err(error) => {
                self.raised = Some(error);
                Answer::Stop
            }
        }
    }
}

impl Watch for Listener {
    fn tell(&mut self, progress: &Progress<'_>) -> Answer {
        self.hear(|told| {
            let (phase, atoms) = match progress.phase {
                Phase::Trial { atoms, .. } => ("trial", atoms),
                Phase::Final { atoms } => ("final", atoms),
                _ => ("other", progress.event.atoms),
            };
            told.set_item("phase", phase)?;
            told.set_item("support_size", atoms)?;
            moved(told, progress.event)
        })
    }

    fn counted(&mut self, done: usize) -> Answer {
        self.hear(|told| {
            told.set_item("phase", "sizes")?;
            told.set_item("done", done)
        })
    }

    fn goes_on(&mut self) -> Answer {
        self.hear(|_| Ok(()))
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
    told.set_item("seconds", event.seconds)
}
