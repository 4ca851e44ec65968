//! Products of columns of codes, a byte each, with a residual of two bytes a value: what a partial pass computes.
//!
//! Every number is whole, so a sum has the same bits in any order and on any machine. Processors multiply such numbers in
//! pairs: three instructions for 32 codes, half of what single precision takes. The compiler does not find them by itself.

use pulp::{Arch, NullaryFnOnce};

use super::streams::{GROUP, for_each_part, places, prefetch_ahead};

/// Codes that are multiplied at a time, a cache line of them. Columns and residuals are multiples of it, with zeros at the end.
pub(crate) const CODES: usize = 64;
/// Numbers that are multiplied at once on the widest machines.
const WIDTH: usize = 32;
/// Bytes of codes in one task.
const TASK_BYTES: usize = 1 << 19;

/// The largest size that values of a residual may have, so that no sum of such a length overflows: each of
/// `WIDTH / 2` sums takes `length / (WIDTH / 2)` products with codes of at most 128.
pub(crate) fn largest_factor(length: usize) -> i16 {
    let products = length.div_ceil(WIDTH / 2).max(1);
    i16::try_from(i32::MAX as usize / 128 / products).unwrap_or(i16::MAX).max(1)
}

/// out\[j\] = Σᵢ codes\[i + j·r.len()\]·r\[i\], where codes are bytes with a sign.
///
/// One read of the codes; parallel over blocks of columns.
///
/// # Panics
/// If `codes` does not hold `r.len()` rows of `out.len()` columns, or `r.len()` is no multiple of [`CODES`].
pub(crate) fn code_products(codes: &[u8], r: &[i16], out: &mut [f64]) {
    assert!(r.len().is_multiple_of(CODES) && codes.len() == r.len() * out.len(), "codes are of another shape");
    for_each_part(&mut [out], (TASK_BYTES / r.len().max(1)).max(GROUP), &|first, outs| {
        let codes = &codes[first * r.len()..];
        let out = &mut *outs[0];
        match Arch::new() {
            #[cfg(target_arch = "x86_64")]
            Arch::V4(simd) => simd.vectorize(Products { simd, codes, r, out }),
            #[cfg(target_arch = "x86_64")]
            Arch::V3(simd) => simd.vectorize(Products { simd, codes, r, out }),
            _ => Products { simd: OneByOne, codes, r, out }.call(),
        }
    });
}

/// Sums of products of pairs.
trait Pairs: Copy {
    /// The sums of `WIDTH / 2` pairs.
    type Sums: Copy;
    fn none(self) -> Self::Sums;
    fn add(self, sums: Self::Sums, codes: &[u8; WIDTH], r: &[i16; WIDTH]) -> Self::Sums;
    fn total(self, sums: Self::Sums) -> i64;
}

/// A machine of which nothing else is known.
#[derive(Clone, Copy)]
struct OneByOne;

impl Pairs for OneByOne {
    type Sums = [i32; WIDTH / 2];

    #[inline(always)]
    fn none(self) -> Self::Sums {
        [0; WIDTH / 2]
    }
    #[inline(always)]
    fn add(self, mut sums: Self::Sums, codes: &[u8; WIDTH], r: &[i16; WIDTH]) -> Self::Sums {
        for l in 0..WIDTH {
            sums[l % (WIDTH / 2)] += i32::from(codes[l].cast_signed()) * i32::from(r[l]);
        }
        sums
    }
    #[inline(always)]
    fn total(self, sums: Self::Sums) -> i64 {
        sums.iter().map(|&sum| i64::from(sum)).sum()
    }
}

#[cfg(target_arch = "x86_64")]
impl Pairs for pulp::x86::V4 {
    type Sums = pulp::i32x16;

    #[inline(always)]
    fn none(self) -> Self::Sums {
        self.splat_i32x16(0)
    }
    #[inline(always)]
    fn add(self, sums: Self::Sums, codes: &[u8; WIDTH], r: &[i16; WIDTH]) -> Self::Sums {
        let pairs = self
            .multiply_wrapping_add_adjacent_i16x32(self.convert_i8x32_to_i16x32(pulp::cast(*codes)), pulp::cast(*r));
        pulp::cast(self.avx512f._mm512_add_epi32(pulp::cast(sums), pulp::cast(pairs)))
    }
    #[inline(always)]
    fn total(self, sums: Self::Sums) -> i64 {
        OneByOne.total(pulp::cast(sums))
    }
}

#[cfg(target_arch = "x86_64")]
impl Pairs for pulp::x86::V3 {
    type Sums = [pulp::i32x8; 2];

    #[inline(always)]
    fn none(self) -> Self::Sums {
        [self.splat_i32x8(0); 2]
    }
    #[inline(always)]
    fn add(self, sums: Self::Sums, codes: &[u8; WIDTH], r: &[i16; WIDTH]) -> Self::Sums {
        let (codes, r): ([[u8; WIDTH / 2]; 2], [[i16; WIDTH / 2]; 2]) = (pulp::cast(*codes), pulp::cast(*r));
        let mut sums = sums;
        for half in 0..2 {
            let pairs = self.multiply_wrapping_add_adjacent_i16x16(
                self.convert_i8x16_to_i16x16(pulp::cast(codes[half])),
                pulp::cast(r[half]),
            );
            sums[half] = pulp::cast(self.avx2._mm256_add_epi32(pulp::cast(sums[half]), pulp::cast(pairs)));
        }
        sums
    }
    #[inline(always)]
    fn total(self, sums: Self::Sums) -> i64 {
        OneByOne.total(pulp::cast(sums))
    }
}

/// The leading columns of `codes`, as many as `out` is long.
struct Products<'a, P> {
    simd: P,
    codes: &'a [u8],
    r: &'a [i16],
    out: &'a mut [f64],
}

impl<P: Pairs> Products<'_, P> {
    /// A group of columns, from `first` in steps of `stride`.
    #[inline(always)]
    fn group(&mut self, first: usize, stride: usize) {
        const C: usize = GROUP;
        let (r, places): (_, [usize; C]) = (self.r.as_chunks::<CODES>().0, places(first, stride, self.out.len()));
        let mut columns: [&[[u8; CODES]]; C] = [&[]; C];
        for c in 0..C {
            columns[c] = &self.codes[places[c] * self.r.len()..].as_chunks().0[..r.len()];
        }
        let mut sums = [self.simd.none(); C];
        for b in 0..r.len() {
            let r = r[b].as_chunks::<WIDTH>().0;
            for c in 0..C {
                prefetch_ahead(columns[c].as_ptr().wrapping_add(b));
                let codes = columns[c][b].as_chunks::<WIDTH>().0;
                for half in 0..CODES / WIDTH {
                    sums[c] = self.simd.add(sums[c], &codes[half], &r[half]);
                }
            }
        }
        for c in 0..C {
            self.out[places[c]] = self.simd.total(sums[c]) as f64;
        }
    }
}

impl<P: Pairs> NullaryFnOnce for Products<'_, P> {
    type Output = ();

    #[inline(always)]
    fn call(mut self) {
        // Streams as in the kernels of the whole data.
        let stride = self.out.len() / GROUP;
        for first in 0..stride {
            self.group(first, stride);
        }
        if stride * GROUP < self.out.len() {
            self.group(stride * GROUP, 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The products that every machine must have, from the largest numbers and from some in between.
    #[test]
    fn products_are_exact_on_every_machine() {
        for (length, columns) in [(CODES, 1), (CODES, 21), (3 * CODES, 8), (12 * CODES, 3000), (4096 * CODES, 2)] {
            let most = i32::from(largest_factor(length));
            let value = |i: usize| match i % 5 {
                0 => most,
                1 => -most,
                _ => ((i * 7919) as i32 % (2 * most + 1)) - most,
            };
            let r: Vec<i16> = (0..length).map(|i| value(i) as i16).collect();
            // The first column is as large as any sum can be.
            let sign = |i: usize| if r[i] < 0 { 128_u8 } else { 127 };
            let code = |i: usize, j: usize| if j == 0 { sign(i) } else { ((i * 31 + j * 17) % 256) as u8 };
            let codes: Vec<u8> = (0..length * columns).map(|at| code(at % length, at / length)).collect();
            let mut out = vec![f64::NAN; columns];
            code_products(&codes, &r, &mut out);
            for (j, found) in out.iter().enumerate() {
                let column = &codes[j * length..][..length];
                let exact: i64 = column.iter().zip(&r).map(|(&c, &r)| i64::from(c.cast_signed()) * i64::from(r)).sum();
                assert_eq!(*found, exact as f64, "{length} x {columns}, column {j}");
            }
            let mut plain = vec![f64::NAN; columns];
            Products { simd: OneByOne, codes: &codes, r: &r, out: &mut plain }.call();
            assert_eq!(plain, out);
            #[cfg(target_arch = "x86_64")]
            if let Some(simd) = pulp::x86::V3::try_new() {
                plain.fill(f64::NAN);
                simd.vectorize(Products { simd, codes: &codes, r: &r, out: &mut plain });
                assert_eq!(plain, out);
            }
        }
    }
}
