//! Whole jobs, with every choice made at run time.

mod budget;
mod completion;
mod recovery;
mod watch;

pub use completion::{
    Centring, Clip, Completed, CompletedMatrix, Completion, Effects, Observed, Rule, Trial, complete,
};
pub use recovery::{Recovered, Recovery, recover};
pub use watch::{Answer, Phase, Progress, Unwatched, Watch};
