//! Callbacks: what Python hears of a job, and what it may say.

use std::time::Duration;

use katoms::driver::Event;
use katoms_estimate::{Answer, Phase, Progress, Watch};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::job::Ended;

/// How often a job looks for Ctrl-C: often enough for a finger, rarely enough to cost nothing.
pub const LOOK: Duration = Duration::from_millis(30);

/// Watches a job for Python.
pub struct Listener {
    callback: Option<Py<PyAny>>,
    ended: Ended,
}

impl Listener {
    /// One that calls this with a dictionary after every move. A true answer ends the job, and so does what is kept in
    /// `ended`.
    pub fn new(callback: Option<Py<PyAny>>, ended: Ended) -> Self {
        Self { callback, ended }
    }

    /// Tells the callback, unless the job has been ended.
    fn hear(&mut self, fill: impl FnOnce(&Bound<'_, PyDict>) -> PyResult<()>) -> Answer {
        if self.ended.is_ended() {
            return Answer::Stop;
        }
        let Some(callback) = &self.callback else { return Answer::GoOn };
        let answered = Python::attach(|py| {
            let told = PyDict::new(py);
            fill(&told)?;
            callback.bind(py).call1((told,))?.is_truthy()
        });
        match answered {
            Ok(false) => Answer::GoOn,
            Ok(true) => Answer::Stop,
            Err(error) => {
                self.ended.keep(error);
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
        if self.ended.is_ended() { Answer::Stop } else { Answer::GoOn }
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
