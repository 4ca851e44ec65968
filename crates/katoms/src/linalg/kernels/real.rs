//! The number types that designs are stored in.

use half::f16;
use pulp::Simd;

use super::streams::STEP;

/// A number type that designs are stored in.
///
/// Each of its values is a number in double precision, exactly, and all arithmetic is done there: a type is a matter of
/// memory, never of the answer to what is stored.
pub trait Real: Copy + Default + Send + Sync + PartialEq + std::fmt::Debug + 'static {
    /// The relative rounding that values are taken to have suffered. Single precision is what many numbers are cut to.
    /// What is stored in less is taken as it is: a thousandth would be too much to call nothing.
    const ROUNDING: f64 = f64::EPSILON;
    /// Whether there are no others than finite values.
    const ALWAYS_FINITE: bool = false;
    /// The same number, exactly. O(1).
    fn to_f64(self) -> f64;
    /// The nearest number in single precision. O(1).
    fn to_f32(self) -> f32;
    /// The values themselves where they are stored in double precision: squares of other numbers are always in its range.
    #[doc(hidden)]
    fn as_doubles(values: &[Self]) -> Option<&[f64]> {
        let _ = values;
        None
    }
    /// Neither NaN nor infinite. O(1).
    #[inline(always)]
    fn finite(self) -> bool {
        Self::ALWAYS_FINITE || self.to_f64().is_finite()
    }
    /// Each of some numbers in double precision: what the kernels read at a time.
    #[doc(hidden)]
    #[inline(always)]
    fn doubles<S: Simd>(step: &[Self; STEP]) -> [f64; STEP] {
        let mut wide = [0.0; STEP];
        for l in 0..STEP {
            wide[l] = step[l].to_f64();
        }
        wide
    }
    /// Each of some numbers in single precision.
    #[doc(hidden)]
    #[inline(always)]
    fn singles<S: Simd>(step: &[Self; STEP]) -> [f32; STEP] {
        let mut single = [0.0; STEP];
        for l in 0..STEP {
            single[l] = step[l].to_f32();
        }
        single
    }
}

impl Real for f64 {
    fn as_doubles(values: &[Self]) -> Option<&[f64]> {
        Some(values)
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }
    #[inline(always)]
    fn to_f32(self) -> f32 {
        self as f32
    }
}

impl Real for f32 {
    const ROUNDING: f64 = f32::EPSILON as f64;

    #[inline(always)]
    fn to_f64(self) -> f64 {
        self.into()
    }
    #[inline(always)]
    fn to_f32(self) -> f32 {
        self
    }
}

impl Real for f16 {
    #[inline(always)]
    fn to_f64(self) -> f64 {
        widened(self).into()
    }
    #[inline(always)]
    fn to_f32(self) -> f32 {
        widened(self)
    }
    #[inline(always)]
    fn doubles<S: Simd>(step: &[Self; STEP]) -> [f64; STEP] {
        Real::doubles::<S>(&Self::singles::<S>(step))
    }
    #[inline(always)]
    fn singles<S: Simd>(step: &[Self; STEP]) -> [f32; STEP] {
        #[cfg(target_arch = "x86_64")]
        if size_of::<S::f32s>() == 64 {
            use std::arch::x86_64::{__m256i, __m512, _mm512_cvtph_ps};
            // SAFETY: both are sixteen numbers without a place that must not be read, and vectors of 64 bytes mean that the
            // instruction is there: it belongs to the same set.
            return unsafe {
                let halves: __m256i = std::mem::transmute_copy(step);
                std::mem::transmute::<__m512, [f32; STEP]>(_mm512_cvtph_ps(halves))
            };
        }
        let mut single = [0.0; STEP];
        for l in 0..STEP {
            single[l] = widened(step[l]);
        }
        single
    }
}

/// Whole numbers of one byte.
macro_rules! whole {
    ($T:ty) => {
        impl Real for $T {
            const ALWAYS_FINITE: bool = true;

            #[inline(always)]
            fn to_f64(self) -> f64 {
                self.into()
            }
            #[inline(always)]
            fn to_f32(self) -> f32 {
                self.into()
            }
        }
    };
}
whole!(i8);
whole!(u8);

/// The same number in single precision. No branch and no call, as `half` has them: a loop over this becomes vectors.
#[inline(always)]
fn widened(x: f16) -> f32 {
    /// What exponents of single precision are larger by: 127 − 15.
    const LARGER: f32 = f32::from_bits((127 + 112) << 23);
    /// From here on, where single precision has it, the exponent says infinite or NaN.
    const NOT_FINITE: u32 = 31 << 23;
    let bits = u32::from(x.to_bits());
    let (sign, magnitude) = ((bits & 0x8000) << 16, (bits & 0x7fff) << 13);
    let not_finite = if magnitude >= NOT_FINITE { f32::INFINITY.to_bits() } else { 0 };
    f32::from_bits((f32::from_bits(magnitude) * LARGER).to_bits() | not_finite | sign)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_is_the_number_that_half_says() {
        for bits in 0..=u16::MAX {
            let x = f16::from_bits(bits);
            let (ours, theirs) = (Real::to_f64(x), x.to_f64());
            assert!(
                ours.to_bits() == theirs.to_bits() || (ours.is_nan() && theirs.is_nan()),
                "{bits:#x}: {ours}, not {theirs}"
            );
            assert_eq!(x.finite(), x.is_finite(), "{bits:#x}");
        }
    }

    #[test]
    fn bytes_are_whole_numbers() {
        for byte in 0..=u8::MAX {
            let signed = byte as i8;
            assert_eq!((byte.to_f64(), signed.to_f64()), (f64::from(byte), f64::from(signed)));
            assert_eq!((Real::to_f32(byte), Real::to_f32(signed)), (f32::from(byte), f32::from(signed)));
            assert!(byte.finite() && signed.finite());
        }
    }
}
