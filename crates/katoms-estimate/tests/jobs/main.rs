//! Whole jobs on planted data.

mod completion;
mod feature_tables;
mod features;
mod forged;
mod interactions;
mod new_rows;
mod per_group;
mod range;
mod recovery;
mod responses;

use katoms_estimate::{Answer, Progress, Watch};

struct Interrupt {
    /// The move, counted from 1.
    at: usize,
    state: Vec<u8>,
}

impl Interrupt {
    fn at(at: usize) -> Self {
        Self { at, state: Vec::new() }
    }
}

impl Watch for Interrupt {
    fn tell(&mut self, progress: &Progress<'_>) -> Answer {
        if progress.can_save && progress.event.iteration == self.at { Answer::SaveAndStop } else { Answer::GoOn }
    }
    fn keep(&mut self, state: &[u8]) {
        self.state = state.to_vec();
    }
}
