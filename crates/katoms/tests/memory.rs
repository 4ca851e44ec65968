//! Completion never allocates rows × columns: an allocator that watches says so.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use katoms::loss::LeastSquares;
use katoms::operator::{Entries, LinearOperator};
use katoms::set::Rank;
use katoms::space::{LowRank, Point};
use katoms::{Error, Objective, Status, fit, simulate};
use rand::RngExt;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

struct Watching;

// SAFETY: every call is passed on to the system's allocator unchanged; only counters are added.
unsafe impl GlobalAlloc for Watching {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = LIVE.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(live, Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Watching = Watching;

#[test]
fn completion_needs_memory_for_factors_and_observations_only() -> Result<(), Error> {
    let (rows, columns, rank, observed) = (6000, 8000, 2, 400_000);
    let (left, right) = simulate::low_rank_factors(rows, columns, rank, 0);
    let truth = LowRank::from_factors(&left, &right)?;
    // 400,000 places of a matrix with 48 million entries
    let mut rng = simulate::generator(0, 9);
    let place = |_| (rng.random_range(0..rows), rng.random_range(0..columns));
    let (i, j): (Vec<usize>, Vec<usize>) = (0..observed).map(place).unzip();
    let seen = Entries::new((rows, columns), &i, &j)?;
    let mut values = vec![0.0; observed];
    seen.apply(&truth, &mut values);
    let f = Objective::new(&seen, LeastSquares::new(values)?)?;

    let before = LIVE.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let outcome = fit(&f, &Rank::new(rank, (rows, columns))?)?;
    let used = PEAK.load(Ordering::Relaxed) - before;

    assert_eq!(outcome.status, Status::Converged);
    assert!(outcome.point.distance(&truth) <= 1e-3 * truth.norm());
    let factors = (rows + columns) * (4 * rank + 8) * 8;
    let linear = factors + observed * 8;
    assert!(used < 12 * linear, "{used} bytes at the peak, {linear} for one set of factors and observations");
    assert!(used < rows * columns * 8 / 5, "{used} bytes: as if a dense matrix was there");
    Ok(())
}
