//! Runs and searches that report their progress, and that their caller may save or stop.

use std::cell::RefCell;

use katoms::Error;
use katoms::Fit;
use katoms::driver::{Constraint, Event, Outcome, Run};
use katoms::loss::Loss;
use katoms::method::Method;
use katoms::operator::LinearOperator;
use katoms::search::{Search, Searchable};

use crate::watch::{Phase, Progress, Watch};

/// The place of a run in its job.
#[derive(Clone, Copy)]
pub(crate) struct Part {
    pub phase: Phase,
    pub done: usize,
    pub of: usize,
    pub can_save: bool,
}

/// Steps a run to its end. The watch is told of every move, and may save and stop.
pub(crate) fn drive<A, L, S, M>(run: &mut Run<'_, A, L, S, M>, part: Part, watch: &mut dyn Watch) -> Result<(), Error>
where
    A: LinearOperator,
    L: Loss,
    S: Constraint<A, L>,
    M: Method<A, L, S>,
{
    let Part { phase, done, of, can_save } = part;
    while !run.is_done() {
        let event = run.step();
        let answer = watch.tell(&Progress { phase, done, of, event: &event, ended: run.is_done(), can_save });
        if can_save && answer.saves() {
            watch.keep(&run.save()?);
        }
        if answer.stops() {
            run.stop();
        }
    }
    Ok(())
}

/// Goes on from a run, which alone can be saved. The watch hears every move and is asked within long ones.
pub(crate) fn searched<A, L, S, M>(
    run: Run<'_, A, L, S, M>,
    how: &Search,
    phase: Phase,
    watch: &mut dyn Watch,
) -> Result<Outcome<A::Point>, Error>
where
    A: LinearOperator,
    L: Loss,
    S: Searchable<A, L>,
    M: Method<A, L, S>,
{
    let watch = RefCell::new(watch);
    let (f, set) = (run.objective_function(), run.set());
    let tell = |event: &Event, _: &A::Point| {
        let progress = Progress { phase, done: 0, of: 1, event, ended: false, can_save: false };
        watch.borrow_mut().tell(&progress).flow()
    };
    let poll = |_| watch.borrow_mut().goes_on().flow();
    Fit::new(f, set).search(how.clone()).observe(tell).poll(poll).run_from(run)
}
