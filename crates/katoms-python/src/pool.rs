//! Threads for the work.

use std::process;
use std::sync::{Arc, Mutex};

use katoms::Error;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::raised;
use crate::listener::is_calling;

/// The pool that was used last: its process, its threads.
static LAST: Mutex<Option<(u32, usize, Arc<ThreadPool>)>> = Mutex::new(None);

/// The cores that this process may use.
#[pyfunction]
pub fn cores() -> usize {
    katoms_estimate::cores()
}

/// The threads that the environment allows.
#[pyfunction]
pub fn threads() -> usize {
    katoms_estimate::threads()
}

/// Does the work on this many threads, as [`pool`] says.
pub fn on_threads<T: Send>(threads: Option<usize>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    Ok(match pool(threads)? {
        Some(pool) => pool.install(work),
        None => work(),
    })
}

/// The pool for work that this thread asks for: of so many threads, or without a number, of as many as
/// [`katoms_estimate::threads`] says. `None` on a thread of a pool, such as that of a callback: the work stays there.
pub fn pool(threads: Option<usize>) -> PyResult<Option<Arc<ThreadPool>>> {
    if rayon::current_thread_index().is_some() {
        return Ok(None);
    }
    let threads = threads.unwrap_or_else(katoms_estimate::threads);
    // All threads of the last pool may be waiting for the callback that this is.
    let pool = if is_calling() { Arc::new(built(threads)?) } else { kept(threads)? };
    Ok(Some(pool))
}

/// A pool that nothing else uses.
pub fn own(threads: Option<usize>) -> PyResult<ThreadPool> {
    built(threads.unwrap_or_else(katoms_estimate::threads))
}

fn built(threads: usize) -> PyResult<ThreadPool> {
    ThreadPoolBuilder::new().num_threads(threads).build().map_err(|_| {
        let right = "the system gives no more threads; ask for fewer";
        raised(Error::Option { name: "n_jobs", value: threads as f64, right })
    })
}

/// A process that was forked has the memory of its parent's pool but none of its threads: it gets a pool of its own.
fn kept(threads: usize) -> PyResult<Arc<ThreadPool>> {
    let mut last = LAST.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some((process, count, pool)) = last.as_ref()
        && (*process, *count) == (process::id(), threads)
    {
        return Ok(Arc::clone(pool));
    }
    let pool = Arc::new(built(threads)?);
    let before = last.replace((process::id(), threads, Arc::clone(&pool)));
    if before.as_ref().is_some_and(|(process, ..)| *process != process::id()) {
        // Dropping the parent's pool would wait for threads that are not here.
        std::mem::forget(before);
    }
    Ok(pool)
}
