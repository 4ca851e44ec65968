//! How far an experiment is, on a terminal, and whether Ctrl-C was pressed.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};
use katoms::driver::{Event, Outcome};

/// Whether Ctrl-C was pressed. A signal has no other place to go.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Listens to Ctrl-C: once ends the work after its step, twice at once.
pub fn listen() {
    // A system without signals leaves Ctrl-C as it was.
    let _ = ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
        let words = "stopping; the experiment that runs is dropped, those before it are kept";
        let _ = writeln!(io::stderr(), "\nkatoms-paper: {words}; press Ctrl-C again to end at once");
    });
}

/// Ended before its time by Ctrl-C.
#[derive(Debug, thiserror::Error)]
#[error("stopped before its end")]
pub struct Stopped;

/// Counts the pieces of an experiment; may be shared by threads.
pub struct Progress {
    bar: ProgressBar,
    interrupted: &'static AtomicBool,
}

impl Progress {
    /// With a bar on the terminal, where there is one.
    pub fn shown(name: &str) -> Self {
        let bar = ProgressBar::new(1).with_prefix(name.to_owned());
        let shape = "{prefix} [{bar:30}] {pos}/{len}  {msg}  {elapsed}, {eta} left";
        let bar = match ProgressStyle::with_template(shape) {
            Ok(style) => bar.with_style(style.progress_chars("=> ")),
            Err(_) => bar,
        };
        Self { bar, interrupted: &INTERRUPTED }
    }

    /// Shown to nobody.
    pub fn hidden() -> Self {
        Self { bar: ProgressBar::hidden(), interrupted: &INTERRUPTED }
    }

    /// Interrupted from the start.
    #[cfg(test)]
    pub fn stopped() -> Self {
        static YES: AtomicBool = AtomicBool::new(true);
        Self { bar: ProgressBar::hidden(), interrupted: &YES }
    }

    /// How many pieces there will be.
    pub fn expect(&self, pieces: usize) {
        self.bar.set_length(pieces as u64);
    }

    /// One more piece is done.
    pub fn done(&self, what: &str) -> Result<()> {
        self.bar.inc(1);
        self.at(what)
    }

    /// What is being done now, within a piece: as often as one likes.
    pub fn at(&self, what: &str) -> Result<()> {
        self.bar.set_message(what.to_owned());
        if self.interrupted.load(Ordering::SeqCst) { Err(Stopped.into()) } else { Ok(()) }
    }

    /// Runs a fit whose observer hears an interrupt.
    pub fn watch<P>(
        &self,
        what: &str,
        fit: impl FnOnce(&mut dyn FnMut(&Event, &P) -> ControlFlow<()>) -> Result<Outcome<P>, katoms::Error>,
    ) -> Result<Outcome<P>> {
        let outcome = fit(&mut |_, _| match self.at(what) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        })?;
        self.at(what).map(|()| outcome)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
