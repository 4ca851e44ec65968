//! Freed memory that stays at hand for the next vectors.

use std::hint::black_box;
use std::sync::Once;

/// A block that is just within the largest by whose size glibc learns.
const LARGEST: usize = (32 << 20) - (1 << 14);

/// glibc gives memory back to the system where more is free at the end of its heap than twice the largest block that was
/// freed before. The vectors of every move then come as new pages, which the system clears one by one: that was more than
/// a quarter of a noiseless fit with a design on a card. Once a block of 32 MB was freed, 64 MB stay with the process. Nothing is written, so
/// it takes no memory, and other allocators do as they do.
pub(crate) fn keep_freed_memory() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| drop(black_box(Vec::<u8>::with_capacity(LARGEST))));
}

#[cfg(all(test, target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
mod tests {
    use super::*;

    /// The pages that the system has brought to this thread.
    fn faults() -> u64 {
        let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
        let behind_the_name = stat.rsplit(')').next().unwrap();
        behind_the_name.split_whitespace().nth(7).unwrap().parse().unwrap()
    }

    #[test]
    fn vectors_that_come_again_need_no_new_pages() {
        keep_freed_memory();
        let before = faults();
        for round in 0..50 {
            let vectors: Vec<Vec<f64>> = (0..3).map(|_| vec![f64::from(round) + 1.0; 1 << 19]).collect();
            black_box(&vectors);
        }
        let pages = 50 * 3 * (8 << 19) / 4096;
        assert!(faults() - before < pages / 10, "{} of {pages}", faults() - before);
    }
}
