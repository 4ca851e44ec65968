//! Who looks on while a job runs, and may end it.

use std::ops::ControlFlow;

use katoms::driver::Event;

/// Hears how the work goes on. Every answer may end it: what is there then remains.
pub trait Watch {
    /// A fit has moved.
    fn moved(&mut self, event: &Event) -> ControlFlow<()> {
        let _ = event;
        ControlFlow::Continue(())
    }
    /// So many of the pieces that the job is made of are done: sizes of a path, fits of a validation.
    fn counted(&mut self, done: usize) -> ControlFlow<()> {
        let _ = done;
        ControlFlow::Continue(())
    }
    /// Whether the state of the running fit should be saved now. Asked after every move.
    fn wants_state(&mut self) -> bool {
        false
    }
    /// The state that was wanted: with these bytes the same job goes on from here.
    fn state(&mut self, bytes: &[u8]) {
        let _ = bytes;
    }
}

/// Nobody.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Watch for Silent {}
