//! What both layouts share: tasks, and several streams of memory read side by side.

use pulp::Simd;

use super::Real;
use crate::linalg::parallel;

/// Values of a stream that are read at a time: one cache line of `f32`, two of `f64`, a part of one of smaller numbers.
pub(super) const STEP: usize = 16;
/// Columns, or rows of a row-major design, read at once: one stream of memory each.
pub(super) const GROUP: usize = 8;
/// Values of each stream that several residuals share: `GROUP` times as many stay in L1.
pub(super) const STRIP: usize = 256;
/// Bytes between the value in use and the one asked for.
const AHEAD: usize = 1024;
const CACHE_LINE: usize = 64;

/// Rows and columns, or `None` if there is no residual.
pub(super) fn shape<T>(data: &[T], rs: &[&[f64]], outs: &[&mut [f64]]) -> Option<(usize, usize)> {
    assert_eq!(rs.len(), outs.len(), "as many results as residuals");
    let (rows, columns) = (rs.first()?.len(), outs.first()?.len());
    assert!(rs.iter().all(|r| r.len() == rows), "residuals differ");
    assert!(outs.iter().all(|y| y.len() == columns), "results differ");
    let size = rows * columns;
    assert_eq!(data.len(), size, "not {rows} rows of {columns} columns");
    Some((rows, columns))
}

/// [`shape`] where there are `rs.len()` results for each part of the rows: part p is
/// `order[starts[p]..starts[p + 1]]`.
pub(super) fn parts_shape<T>(
    data: &[T],
    (order, starts): (&[usize], &[usize]),
    rs: &[&[f64]],
    outs: &[&mut [f64]],
) -> Option<(usize, usize)> {
    assert_eq!(outs.len(), rs.len() * starts.len().saturating_sub(1), "as many results as residuals and parts");
    let shape = shape(data, rs, outs.get(..rs.len())?)?;
    assert!(outs.iter().all(|y| y.len() == shape.1), "results differ");
    assert_eq!(order.len(), shape.0, "parts of other rows");
    Some(shape)
}

/// Calls `task(first, parts)` for every `width` columns, in parallel: `parts[q]` is
/// `outs[q][first..]`, at most `width` of it.
pub(crate) fn for_each_part(outs: &mut [&mut [f64]], width: usize, task: &(dyn Fn(usize, &mut [&mut [f64]]) + Sync)) {
    let columns = outs[0].len();
    if columns <= width {
        return task(0, outs);
    }
    let mut parts: Vec<Vec<&mut [f64]>> = Vec::new();
    parts.resize_with(columns.div_ceil(width), || Vec::with_capacity(outs.len()));
    for out in outs {
        for (part, piece) in parts.iter_mut().zip(out.chunks_mut(width)) {
            part.push(piece);
        }
    }
    parallel::each_mut(&mut parts, &|p, part| task(p * width, part));
}

/// The places of a group: `first`, and each `stride` after the one before. What would lie behind the last of `count` is the
/// last again, so that an incomplete group is computed as a whole one.
#[inline(always)]
pub(super) fn places<const C: usize>(first: usize, stride: usize, count: usize) -> [usize; C] {
    let mut places = [0; C];
    for c in 0..C {
        places[c] = (first + c * stride).min(count - 1);
    }
    places
}

/// a·b + c, in one rounding where the instruction set can: AVX2 and wider, and NEON. Without the
/// instruction, `mul_add` would be a slow call.
#[inline(always)]
pub(super) fn fma<S: Simd>(a: f64, b: f64, c: f64) -> f64 {
    if size_of::<S::f64s>() >= 32 || cfg!(target_arch = "aarch64") { a.mul_add(b, c) } else { a * b + c }
}

/// Asks for the cache lines that are [`AHEAD`] bytes after those of `*block`: the hardware does so
/// by itself only within a page. Worth an eighth of the speed for `f32`.
#[inline(always)]
pub(super) fn prefetch<T>(block: *const [T; STEP]) {
    for line in 0..size_of::<[T; STEP]>().div_ceil(CACHE_LINE) {
        prefetch_ahead(block.cast::<u8>().wrapping_add(line * CACHE_LINE));
    }
}

/// Asks for the cache line that is [`AHEAD`] bytes after `*value`.
#[inline(always)]
pub(super) fn prefetch_ahead<T>(value: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint, not an access: it takes any address, mapped or not.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(value.cast::<i8>().wrapping_add(AHEAD)) };
    }
}

/// Asks for the cache lines of `*step`, into L2: where they leap, many are on their way at once.
#[inline(always)]
pub(super) fn prefetch_step<T>(step: *const [T; STEP]) {
    for line in 0..size_of::<[T; STEP]>().div_ceil(CACHE_LINE) {
        prefetch_line(step.cast::<u8>().wrapping_add(line * CACHE_LINE));
    }
}

/// Asks for the cache line of `*value`, into L2.
#[inline(always)]
pub(super) fn prefetch_line<T>(value: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        // SAFETY: a hint, as above.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(value.cast()) };
    }
}

/// The first `steps` whole blocks of each: lengths that the compiler knows to be equal leave no
/// bounds checks in the loops.
#[inline(always)]
pub(super) fn blocks<'a, T, const C: usize>(streams: &[&'a [T]; C], steps: usize) -> [&'a [[T; STEP]]; C] {
    let mut blocks: [&[[T; STEP]]; C] = [&[]; C];
    for c in 0..C {
        blocks[c] = &streams[c].as_chunks().0[..steps];
    }
    blocks
}

/// Copies of short streams, in `f64`: converted once for all residuals.
#[repr(align(64))]
pub(super) struct Strip<const C: usize>(pub(super) [[f64; STRIP]; C]);

impl<const C: usize> Strip<C> {
    #[inline(always)]
    pub(super) fn new() -> Self {
        Self([[0.0; STRIP]; C])
    }

    /// Loads the streams from `start`, at most [`STRIP`] values of each.
    #[inline(always)]
    pub(super) fn load<S: Simd, T: Real>(&mut self, streams: &[&[T]; C], start: usize) {
        let length = STRIP.min(streams[0].len() - start);
        let mut from = *streams;
        for c in 0..C {
            from[c] = &streams[c][start..][..length];
        }
        let x = blocks(&from, length / STEP);
        for b in 0..length / STEP {
            for c in 0..C {
                prefetch(x[c].as_ptr().wrapping_add(b));
                self.0[c][b * STEP..][..STEP].copy_from_slice(&T::doubles::<S>(&x[c][b]));
            }
        }
        for c in 0..C {
            for i in length - length % STEP..length {
                self.0[c][i] = from[c][i].to_f64();
            }
        }
    }

    /// Loads the given places of each stream, at most [`STRIP`] of them. Asks for as many values from
    /// `next` on, where the streams go on: the hardware does not foresee places that leap.
    #[inline(always)]
    pub(super) fn gather<T: Real>(&mut self, streams: &[&[T]; C], places: &[usize], next: usize) {
        for c in 0..C {
            for (b, (x, places)) in self.0[c].chunks_mut(STEP).zip(places.chunks(STEP)).enumerate() {
                prefetch::<T>(streams[c].as_ptr().wrapping_add(next + b * STEP).cast());
                for (x, &place) in x.iter_mut().zip(places) {
                    *x = streams[c][place].to_f64();
                }
            }
        }
    }
}
