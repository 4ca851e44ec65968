//! Panics that become errors: of code that meets damaged data in this way.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many calls of [`contained`] are at work. Their panics may be on any thread of the pool.
static AT_WORK: AtomicUsize = AtomicUsize::new(0);

/// What `work` gives, or the message of its panic, which is not printed. What it was working on is not to be used then.
///
/// # Errors
/// When `work` panics.
pub fn contained<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let print = take_hook();
        set_hook(Box::new(move |panic| {
            if AT_WORK.load(Ordering::SeqCst) == 0 {
                print(panic);
            }
        }));
    });
    AT_WORK.fetch_add(1, Ordering::SeqCst);
    let outcome = catch_unwind(AssertUnwindSafe(work));
    AT_WORK.fetch_sub(1, Ordering::SeqCst);
    outcome.map_err(|panic| message(&*panic))
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a panic without a message").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_on_any_thread_becomes_its_message() {
        assert_eq!(contained(|| 7), Ok(7));
        let (mut left, zero) = (0, std::hint::black_box(0));
        let outcome = contained(|| rayon::join(|| left = 1 / zero, || ()));
        assert_eq!(outcome.unwrap_err(), "attempt to divide by zero");
        assert_eq!(contained(|| -> i32 { panic!("of {zero}") }).unwrap_err(), "of 0");
    }
}
