//! The products of a strip of columns with many residuals: tiles of columns and residuals whose sums stay in registers.
//!
//! A vector holds rows of one column, never several columns, so that each sum keeps its eight lanes and their order.

use pulp::Simd;

use super::columns::LANES;
use super::streams::{GROUP, STRIP, Strip};

/// Columns of a tile.
const WIDE: usize = 4;

/// `sums[q][c]` += the products of column c of the strip with residual q, lane by lane. `rs` holds the residuals one
/// after the other, each of them filled up to whole lanes.
#[inline(always)]
pub(super) fn multiply<S: Simd>(simd: S, strip: &Strip<GROUP>, rs: &[f64], sums: &mut [[[f64; LANES]; GROUP]]) {
    let count = sums.len();
    let rows = rs.len() / count.max(1);
    let mut q = 0;
    // 32 registers hold 24 sums, four columns and a residual; 16 hold eight sums.
    if size_of::<S::f64s>() * 8 == 512 {
        while q + 6 <= count {
            beside::<S, 6>(simd, strip, &rs[q * rows..][..6 * rows], &mut sums[q..q + 6]);
            q += 6;
        }
    }
    while q + 2 <= count {
        beside::<S, 2>(simd, strip, &rs[q * rows..][..2 * rows], &mut sums[q..q + 2]);
        q += 2;
    }
    if q < count {
        beside::<S, 1>(simd, strip, &rs[q * rows..][..rows], &mut sums[q..q + 1]);
    }
}

/// `Q` residuals with every column of the strip.
#[inline(always)]
fn beside<S: Simd, const Q: usize>(simd: S, strip: &Strip<GROUP>, rs: &[f64], sums: &mut [[[f64; LANES]; GROUP]]) {
    for first in (0..GROUP).step_by(WIDE) {
        tile::<S, Q>(simd, strip, rs, sums, first);
    }
}

/// `Q` residuals with the [`WIDE`] columns from `first` on.
#[inline(always)]
fn tile<S: Simd, const Q: usize>(
    simd: S,
    strip: &Strip<GROUP>,
    rs: &[f64],
    sums: &mut [[[f64; LANES]; GROUP]],
    first: usize,
) {
    let rows = rs.len() / Q;
    // Vectors that the lanes take; each holds the lanes of every `parts`-th vector of a stream.
    let parts = (LANES * size_of::<f64>() / size_of::<S::f64s>()).max(1);
    let vectors = rows * size_of::<f64>() / size_of::<S::f64s>();
    let mut x: [&[S::f64s]; WIDE] = [&[]; WIDE];
    let mut r: [&[S::f64s]; Q] = [&[]; Q];
    for c in 0..WIDE {
        x[c] = &S::as_simd_f64s(&strip.0[first + c][..STRIP]).0[..vectors];
    }
    for q in 0..Q {
        r[q] = &S::as_simd_f64s(&rs[q * rows..][..rows]).0[..vectors];
    }
    for part in 0..parts {
        let mut tile = [[simd.splat_f64s(0.0); WIDE]; Q];
        for q in 0..Q {
            for c in 0..WIDE {
                tile[q][c] = S::as_simd_f64s(&sums[q][first + c]).0[part];
            }
        }
        let mut v = part;
        while v < vectors {
            let mut column = [simd.splat_f64s(0.0); WIDE];
            for c in 0..WIDE {
                column[c] = x[c][v];
            }
            for q in 0..Q {
                let residual = r[q][v];
                for c in 0..WIDE {
                    tile[q][c] = fused(simd, column[c], residual, tile[q][c]);
                }
            }
            v += parts;
        }
        for q in 0..Q {
            for c in 0..WIDE {
                S::as_mut_simd_f64s(&mut sums[q][first + c]).0[part] = tile[q][c];
            }
        }
    }
}

/// a·b + c as [`super::streams::fma`] has it, of vectors.
#[inline(always)]
pub(crate) fn fused<S: Simd>(simd: S, a: S::f64s, b: S::f64s, c: S::f64s) -> S::f64s {
    if size_of::<S::f64s>() >= 32 || cfg!(target_arch = "aarch64") {
        simd.mul_add_f64s(a, b, c)
    } else {
        simd.add_f64s(simd.mul_f64s(a, b), c)
    }
}
