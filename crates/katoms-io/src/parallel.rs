//! Work that threads share.

use std::sync::OnceLock;

use rayon::prelude::*;

/// Does the work of each place below `count`.
pub(crate) fn each(count: usize, work: &(dyn Fn(usize) + Sync)) {
    (0..count).into_par_iter().for_each(work);
}

/// What the work of each place below `count` gives, in their order.
pub(crate) fn gather<T: Send + Sync>(count: usize, work: &(dyn Fn(usize) -> T + Sync)) -> Vec<T> {
    let cells: Vec<OnceLock<T>> = (0..count).map(|_| OnceLock::new()).collect();
    each(count, &|place| drop(cells[place].set(work(place))));
    cells.into_iter().filter_map(OnceLock::into_inner).collect()
}
