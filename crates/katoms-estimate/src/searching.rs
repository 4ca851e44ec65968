//! A search under the eyes of a watch.

use std::cell::RefCell;

use katoms::Error;
use katoms::driver::{Outcome, Run};
use katoms::loss::Loss;
use katoms::method::Method;
use katoms::operator::LinearOperator;
use katoms::search::{Search, Searchable, search_from};

use crate::watch::{Phase, Progress, Watch};

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
    search_from(
        run,
        how,
        |event, _| {
            let progress = Progress { phase, done: 0, of: 1, event, ended: false, can_save: false };
            watch.borrow_mut().tell(&progress).flow()
        },
        &mut |_| watch.borrow_mut().goes_on().flow(),
    )
}
