//! How many threads a job has where nobody says.

use std::env;
use std::thread::available_parallelism;

/// What limits threads, the first that is set: Rayon's own variable, and the one that people set for all libraries, as
/// joblib does in its workers.
const LIMITS: [&str; 2] = ["RAYON_NUM_THREADS", "OMP_NUM_THREADS"];

/// What limits the cores that a process counts: joblib's variable.
const CORES: &str = "LOKY_MAX_CPU_COUNT";

/// The cores that this process may use: those that the system gives it, or fewer where `LOKY_MAX_CPU_COUNT` says so.
pub fn cores() -> usize {
    let given = available_parallelism().map_or(1, |cores| cores.get());
    limit(CORES).map_or(given, |most| most.min(given))
}

/// The threads of a job: `RAYON_NUM_THREADS` or `OMP_NUM_THREADS` where one of them is a number above 0, else
/// [`cores`]. Of a list, such as OpenMP has for nested regions, the first counts.
pub fn threads() -> usize {
    LIMITS.into_iter().find_map(limit).unwrap_or_else(cores)
}

/// The number above 0 that a variable holds.
fn limit(name: &str) -> Option<usize> {
    env::var(name).ok()?.split(',').next()?.trim().parse().ok().filter(|&limit| limit > 0)
}
