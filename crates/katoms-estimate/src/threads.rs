//! How many threads a job has where nobody says.

use std::env;
use std::thread::available_parallelism;

/// What limits threads, the first that is set: Rayon's own variable, and the one that people set for all libraries, as
/// joblib does in its workers.
const LIMITS: [&str; 2] = ["RAYON_NUM_THREADS", "OMP_NUM_THREADS"];

/// The cores that this process may use.
pub fn cores() -> usize {
    available_parallelism().map_or(1, |cores| cores.get())
}

/// The threads of a job: `RAYON_NUM_THREADS` or `OMP_NUM_THREADS` where one of them is a number above 0, else
/// [`cores`]. Of a list, such as OpenMP has for nested regions, the first counts.
pub fn threads() -> usize {
    let limit = |name: &&str| env::var(name).ok().and_then(|text| limit(&text));
    LIMITS.iter().find_map(limit).unwrap_or_else(cores)
}

fn limit(text: &str) -> Option<usize> {
    text.split(',').next()?.trim().parse().ok().filter(|&threads| threads > 0)
}
