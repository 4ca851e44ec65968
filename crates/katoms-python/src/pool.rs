//! Threads for the work.

use std::process;
use std::sync::{Arc, Mutex};

use katoms::Error;
use pyo3::PyResult;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::raised;

/// The pool of all cores, and the process that it belongs to.
static ALL_CORES: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// Does the work on this many threads; without a number, on all cores. On a thread of a pool, such as that of a
/// callback, it stays there.
pub fn on_threads<T: Send>(threads: Option<usize>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    if rayon::current_thread_index().is_some() {
        return Ok(work());
    }
    let pool = match threads {
        Some(count) => Arc::new(built(count)?),
        None => all_cores()?,
    };
    Ok(pool.install(work))
}

fn built(threads: usize) -> PyResult<ThreadPool> {
    ThreadPoolBuilder::new().num_threads(threads).build().map_err(|_| {
        let right = "the system gives no more threads; ask for fewer";
        raised(Error::Option { name: "n_jobs", value: threads as f64, right })
    })
}

/// A process that was forked has the memory of its parent's pool but none of its threads: it gets a pool of its own.
fn all_cores() -> PyResult<Arc<ThreadPool>> {
    let mut kept = ALL_CORES.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some((process, pool)) = kept.as_ref()
        && *process == process::id()
    {
        return Ok(Arc::clone(pool));
    }
    let pool = Arc::new(built(0)?);
    // Dropping the parent's pool would wait for threads that are not here.
    std::mem::forget(kept.replace((process::id(), Arc::clone(&pool))));
    Ok(pool)
}
