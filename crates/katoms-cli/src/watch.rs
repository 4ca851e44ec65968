//! Progress, Ctrl-C, time limits and checkpoints: all that happens beside the work.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use katoms::Status;
use katoms::driver::{Event, Stop};
use katoms_estimate::{Answer, Phase, Progress, Watch};

use crate::terminal::{Terminal, number};
use crate::words;

/// How often Ctrl-C was pressed. A signal has no other place to go.
static INTERRUPTS: AtomicUsize = AtomicUsize::new(0);
/// Whether a fit has begun: before that there is nothing to end with.
static WORKING: AtomicBool = AtomicBool::new(false);
/// What takes less shows no bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// Listens to Ctrl-C: once ends the work cleanly, twice at once.
pub fn listen() {
    // A second call in the same process, or a system without signals, leaves Ctrl-C as it was.
    let _ = ctrlc::set_handler(|| {
        if INTERRUPTS.fetch_add(1, Ordering::SeqCst) > 0 || !WORKING.load(Ordering::SeqCst) {
            std::process::exit(130);
        }
        let _ = writeln!(io::stderr(), "\nkatoms: ending with the best so far; press Ctrl-C again to end at once");
    });
}

pub struct Monitor {
    bar: ProgressBar,
    started: Instant,
    limit: Option<f64>,
    /// Whether the data can no longer be read. What is computed without them is nothing to keep.
    lost: Box<dyn Fn() -> bool>,
    shows: bool,
    /// The relative change at the first move: the way to the tolerance is measured from here.
    first_change: Option<f64>,
    tolerance: f64,
    checkpoint: Option<Checkpoint>,
    stopped: bool,
    late: bool,
}

#[derive(Debug, Clone, Copy)]
pub struct Cut {
    pub stopped: bool,
    late: bool,
}

impl Cut {
    pub fn status(self, status: Status) -> Status {
        if self.late && status == Status::Stopped { Status::TimeLimit } else { status }
    }
}

struct Checkpoint {
    path: PathBuf,
    head: Vec<u8>,
    every: f64,
    last: Instant,
    failed: Option<katoms_io::Error>,
}

impl Monitor {
    /// For a job of this name, made of `pieces` where they can be counted.
    pub fn new(terminal: &Terminal, name: &str, pieces: Option<usize>, limit: Option<f64>) -> Self {
        WORKING.store(true, Ordering::SeqCst);
        Self {
            bar: bar(name, pieces),
            started: Instant::now(),
            limit,
            lost: Box::new(|| false),
            shows: terminal.shows_progress(),
            first_change: None,
            tolerance: Stop::default().tolerance,
            checkpoint: None,
            stopped: false,
            late: false,
        }
    }

    /// The next part of the same job: the clock runs on, and what was stopped stays stopped.
    pub fn next(self, name: &str) -> Self {
        self.bar.finish_and_clear();
        Self { bar: bar(name, None), first_change: None, ..self }
    }

    pub fn seconds_left(&self) -> Option<f64> {
        self.limit.map(|limit| (limit - self.started.elapsed().as_secs_f64()).max(f64::MIN_POSITIVE))
    }

    /// The same, ending and saving nothing more once data are lost.
    pub fn until(self, lost: impl Fn() -> bool + 'static) -> Self {
        Self { lost: Box::new(lost), ..self }
    }

    /// The same, saving states to this file after this head, whenever so many seconds have passed.
    pub fn saving_to(self, path: &Path, head: Vec<u8>, every: f64) -> Self {
        let checkpoint = Checkpoint { path: path.into(), head, every, last: Instant::now(), failed: None };
        Self { checkpoint: Some(checkpoint), ..self }
    }

    fn show(&mut self) {
        if self.shows && self.bar.is_hidden() && self.started.elapsed() > PATIENCE {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            self.bar.enable_steady_tick(Duration::from_millis(200));
        }
    }

    /// Whether the work goes on, and whether its state is saved: now and then, at its end, and before it is stopped.
    fn verdict(&mut self, ended: bool) -> Answer {
        self.late |= self.limit.is_some_and(|limit| self.started.elapsed().as_secs_f64() > limit);
        if (self.lost)() {
            self.stopped = true;
            return Answer::Stop;
        }
        self.stopped |= self.late || INTERRUPTS.load(Ordering::SeqCst) > 0;
        let due =
            |c: &Checkpoint| c.failed.is_none() && (ended || self.stopped || c.last.elapsed().as_secs_f64() > c.every);
        match (self.checkpoint.as_ref().is_some_and(due), self.stopped) {
            (true, true) => Answer::SaveAndStop,
            (true, false) => Answer::Save,
            (false, true) => Answer::Stop,
            (false, false) => Answer::GoOn,
        }
    }

    /// About how many seconds a fit still takes, if its change goes on to fall as it did.
    fn estimated_seconds(&mut self, event: &Event) -> Option<f64> {
        let first = *self.first_change.get_or_insert(event.change);
        let (way, gone) = ((first / self.tolerance).ln(), (first / event.change).ln());
        let share = gone / way;
        (share.is_finite() && share > 0.05 && share <= 1.0).then(|| event.seconds * (1.0 - share) / share)
    }

    /// The end of the job: the bar goes, and a state that could not be saved is told. It is no reason to lose the
    /// result.
    pub fn finish(self, terminal: &Terminal) -> Cut {
        self.bar.finish_and_clear();
        if let Some(error) = self.checkpoint.and_then(|checkpoint| checkpoint.failed) {
            terminal.warn(format!("the checkpoint could not be saved: {error}"));
        }
        Cut { stopped: self.stopped, late: self.late }
    }
}

/// A bar for so many pieces, or a spinner; it is not shown yet.
fn bar(name: &str, pieces: Option<usize>) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(pieces.map(|n| n as u64), ProgressDrawTarget::hidden());
    let shape = match pieces {
        Some(_) => "{prefix} [{bar:30}] {pos}/{len}  {msg}  {elapsed}, {eta} left",
        None => "{prefix} {spinner} {msg}  {elapsed}",
    };
    if let Ok(style) = ProgressStyle::with_template(shape) {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.set_prefix(name.to_owned());
    bar
}

impl Watch for Monitor {
    fn tell(&mut self, progress: &Progress<'_>) -> Answer {
        self.show();
        let event = progress.event;
        let what = match progress.phase {
            Phase::Trial { atoms, ridge } => format!("trying {atoms} (ridge {ridge}), "),
            _ => String::new(),
        };
        let left = self.estimated_seconds(event).map_or(String::new(), |s| format!("  about {s:.0} s left"));
        let (objective, reads) = (number(event.objective), words::reads(event.passes, event.reads));
        self.bar.set_message(format!("{what}objective {objective}, {reads}, step {}{left}", event.iteration));
        if progress.of > 1 {
            self.bar.set_length(progress.of as u64);
            self.bar.set_position(progress.done as u64);
        }
        if progress.ended {
            self.first_change = None;
        }
        self.verdict(progress.ended)
    }

    fn goes_on(&mut self) -> Answer {
        self.show();
        self.verdict(false)
    }

    fn expect(&mut self, pieces: usize) {
        self.bar.set_length(pieces as u64);
    }

    fn counted(&mut self, done: usize) -> Answer {
        self.show();
        self.bar.set_position(done as u64);
        self.verdict(false)
    }

    fn keep(&mut self, state: &[u8]) {
        if let Some(checkpoint) = &mut self.checkpoint {
            let bytes = [&checkpoint.head, state].concat();
            checkpoint.failed = katoms_io::save(&checkpoint.path, &bytes).err();
            checkpoint.last = Instant::now();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_saved_of_what_was_computed_without_the_data() {
        let terminal = Terminal::new(true, &[]);
        let saving = || Monitor::new(&terminal, "fitting", None, None).saving_to("state.katoms".as_ref(), vec![], 0.0);
        assert_eq!(saving().verdict(true), Answer::Save);
        assert_eq!(saving().until(|| true).verdict(true), Answer::Stop);
    }
}
