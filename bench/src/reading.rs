//! How fast this machine reads its memory: the ceiling of every pass.

use std::hint::black_box;
use std::time::Instant;

use bytemuck::Pod;
use katoms::linalg::kernels::Real;
use katoms::operator::f16;
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

/// Streams that a thread reads side by side.
pub const STREAMS: usize = 8;
/// Words that are read at a time: two cache lines.
const LANES: usize = 16;
const REPEATS: usize = 5;

/// A number type whose designs are measured.
pub trait Stored: Real + Pod {
    /// A normal number as this type has it, in some unit.
    fn of(x: f32) -> Self;
}

/// The name of a number type, without where it is from.
pub fn name_of<T>() -> &'static str {
    std::any::type_name::<T>().rsplit("::").next().unwrap_or_default()
}

macro_rules! stored {
    ($($T:ty: $x:ident => $of:expr),*) => {$(
        impl Stored for $T {
            fn of($x: f32) -> Self {
                $of
            }
        }
    )*};
}
stored!(f64: x => x.into(), f32: x => x, f16: x => f16::from_f32(x), i8: x => (32.0 * x).round() as i8);

/// One read of a piece: eight streams side by side, a vector of sums for each. What the bytes mean does not matter.
struct Read<'a>(&'a [u64]);

impl WithSimd for Read<'_> {
    type Output = [[u64; LANES]; STREAMS];

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Self::Output {
        let blocks = self.0.as_chunks::<LANES>().0;
        let length = blocks.len() / STREAMS;
        let streams: [&[[u64; LANES]]; STREAMS] = std::array::from_fn(|s| &blocks[s * length..][..length]);
        let mut sums = [[0_u64; LANES]; STREAMS];
        for b in 0..length {
            for (sum, stream) in sums.iter_mut().zip(&streams) {
                for (sum, &x) in sum.iter_mut().zip(&stream[b]) {
                    *sum = sum.wrapping_add(x);
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
        black_box(arch.dispatch(Read(bytemuck::pod_align_to(piece).1)));
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
