//! How far an experiment is, told to whoever watches, who may stop it.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::Error;

/// Hears (pieces done, pieces in all, what is done now).
type Tell<'a> = dyn Fn(usize, usize, &str) -> ControlFlow<()> + Sync + 'a;

/// Counts the pieces of an experiment; may be shared by threads.
pub struct Progress<'a> {
    tell: &'a Tell<'a>,
    done: AtomicUsize,
    of: AtomicUsize,
}

impl<'a> Progress<'a> {
    /// Told to this closure.
    pub fn new(tell: &'a Tell<'a>) -> Self {
        Self { tell, done: AtomicUsize::new(0), of: AtomicUsize::new(0) }
    }

    /// Told to nobody.
    pub fn unwatched() -> Progress<'static> {
        Progress::new(&|_, _, _| ControlFlow::Continue(()))
    }

    /// How many pieces there will be. Called once, when that is known.
    pub(crate) fn expect(&self, pieces: usize) {
        self.of.store(pieces, Ordering::Relaxed);
    }

    /// One more piece is done.
    pub(crate) fn done(&self, what: &str) -> Result<(), Error> {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        self.say(done, what)
    }

    /// What is being done now, within a piece: as often as one likes.
    pub(crate) fn at(&self, what: &str) -> Result<(), Error> {
        self.say(self.done.load(Ordering::Relaxed), what)
    }

    fn say(&self, done: usize, what: &str) -> Result<(), Error> {
        match (self.tell)(done, self.of.load(Ordering::Relaxed), what) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Stopped),
        }
    }
}
