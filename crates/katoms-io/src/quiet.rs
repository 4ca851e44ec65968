//! Panics of other crates that become errors, and say nothing.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// Whether a panic of this thread is about to become an error.
    static CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// What `work` gives; `None` where it panics, of which nobody is told. What it was working on is not to be used then.
pub(crate) fn catch<T>(work: impl FnOnce() -> T) -> Option<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let told = take_hook();
        set_hook(Box::new(move |panic| {
            if !CAUGHT.get() {
                told(panic);
            }
        }));
    });
    let before = CAUGHT.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(work));
    CAUGHT.set(before);
    outcome.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_nothing_and_later_ones_are_told_again() {
        assert_eq!(catch(|| 7), Some(7));
        assert_eq!(catch(|| -> i32 { panic!("not to be seen") }), None);
        assert!(!CAUGHT.get());
    }
}
