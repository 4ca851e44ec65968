//! How fast this machine reads its memory: the ceiling of every pass.

use std::hint::black_box;
use std::time::Instant;

use katoms::linalg::kernels::Real;
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

/// Streams that a thread reads side by side.
pub const STREAMS: usize = 8;
const LANES: usize = 16;
const REPEATS: usize = 5;

/// What a plain read needs of a number type.
pub trait Stored: Real + std::ops::AddAssign + Default + From<f32> {}
impl Stored for f32 {}
impl Stored for f64 {}

/// One read of a piece: eight streams side by side, a vector of sums for each.
struct Read<'a, T>(&'a [T]);

impl<T: Stored> WithSimd for Read<'_, T> {
    type Output = [[T; LANES]; STREAMS];

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Self::Output {
        let blocks = self.0.as_chunks::<LANES>().0;
        let length = blocks.len() / STREAMS;
        let streams: [&[[T; LANES]]; STREAMS] = std::array::from_fn(|s| &blocks[s * length..][..length]);
        let mut sums = [[T::default(); LANES]; STREAMS];
        for b in 0..length {
            for (sum, stream) in sums.iter_mut().zip(&streams) {
                for (sum, &x) in sum.iter_mut().zip(&stream[b]) {
                    *sum += x;
                }
            }
        }
        sums
    }
}

/// A plain read on all threads, `length` values at a time: an eighth of them is a stream.
pub fn read<T: Stored>(data: &[T], length: usize) {
    let arch = Arch::new();
    data.par_chunks(length).for_each(|piece| {
        black_box(arch.dispatch(Read(piece)));
    });
}

/// Seconds of the fastest of some plain reads.
pub fn seconds_of_a_read<T: Stored>(data: &[T]) -> f64 {
    let lengths = [1 << 16, data.len().div_ceil(rayon::current_num_threads()).max(1)];
    let one = |length: usize| {
        let clock = Instant::now();
        read(data, length);
        clock.elapsed().as_secs_f64()
    };
    (0..REPEATS).flat_map(|_| lengths.map(one)).fold(f64::INFINITY, f64::min)
}
