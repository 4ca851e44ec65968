//! Progress of a job, and how its caller saves or stops it.

use std::ops::ControlFlow;

use katoms::driver::Event;

/// Where a job stands after a move.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Progress<'a> {
    /// What the fit is for, in a few words.
    pub phase: Phase,
    /// Fits that are done. The one that moves is not.
    pub done: usize,
    /// Fits that there will be at most.
    pub of: usize,
    /// The move.
    pub event: &'a Event,
    /// Whether this was the fit's last move.
    pub ended: bool,
    /// Whether the fit can be saved now.
    pub can_save: bool,
}

/// What a fit is for.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Phase {
    /// To judge a choice on what was held out.
    Trial {
        /// The number of atoms.
        atoms: usize,
        /// The ridge.
        ridge: f64,
    },
    /// The answer itself.
    Final {
        /// The number of atoms.
        atoms: usize,
    },
}

/// What to do after a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Go on.
    GoOn,
    /// Hand over the state as bytes, where the fit can be saved, and go on.
    Save,
    /// End with the best answer so far.
    Stop,
    /// Both.
    SaveAndStop,
}

impl Answer {
    pub(crate) fn saves(self) -> bool {
        matches!(self, Self::Save | Self::SaveAndStop)
    }
    pub(crate) fn stops(self) -> bool {
        matches!(self, Self::Stop | Self::SaveAndStop)
    }
    pub(crate) fn flow(self) -> ControlFlow<()> {
        if self.stops() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Whoever watches a job. Its time is off the clock of the fits.
///
/// A closure from [`Progress`] to [`Answer`] is one that keeps no saved states.
pub trait Watch {
    /// Called after each move.
    fn tell(&mut self, progress: &Progress<'_>) -> Answer;
    /// Called with the number of pieces of the job, and again where it grows.
    fn expect(&mut self, pieces: usize) {
        let _ = pieces;
    }
    /// Hears that so many of the pieces that a job is made of are done: sizes of a path, fits of a validation.
    fn counted(&mut self, done: usize) -> Answer {
        let _ = done;
        Answer::GoOn
    }
    /// Asked within long moves, between two exchanges of atoms: only whether to stop counts.
    fn goes_on(&mut self) -> Answer {
        Answer::GoOn
    }
    /// Called with the saved state that was asked for; a job resumes from these bytes.
    fn keep(&mut self, state: &[u8]) {
        let _ = state;
    }
}

impl<F: FnMut(&Progress<'_>) -> Answer> Watch for F {
    fn tell(&mut self, progress: &Progress<'_>) -> Answer {
        self(progress)
    }
}

/// Nobody: the job runs to its end.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn tell(&mut self, _: &Progress<'_>) -> Answer {
        Answer::GoOn
    }
}

/// Somebody who is not asked for saved states, and remembers that the work was stopped.
pub(crate) struct Unsaved<'w> {
    watch: &'w mut dyn Watch,
    pub stopped: bool,
}

impl<'w> Unsaved<'w> {
    pub fn new(watch: &'w mut dyn Watch) -> Self {
        Self { watch, stopped: false }
    }

    fn heard(&mut self, answer: Answer) -> Answer {
        self.stopped |= answer.stops();
        if self.stopped { Answer::Stop } else { Answer::GoOn }
    }
}

impl Watch for Unsaved<'_> {
    fn tell(&mut self, progress: &Progress<'_>) -> Answer {
        let answer = self.watch.tell(&Progress { can_save: false, ..*progress });
        self.heard(answer)
    }
    fn expect(&mut self, pieces: usize) {
        self.watch.expect(pieces);
    }
    fn counted(&mut self, done: usize) -> Answer {
        let answer = self.watch.counted(done);
        self.heard(answer)
    }
    fn goes_on(&mut self) -> Answer {
        let answer = self.watch.goes_on();
        self.heard(answer)
    }
}
