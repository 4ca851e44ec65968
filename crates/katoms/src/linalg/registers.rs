//! The upper halves of the vector registers, cleared after faer has used them.
//!
//! faer's products are assembly (`private-gemm-x86`) that ends without a `vzeroupper`. As long as the upper halves are in
//! use, every SSE instruction has to keep them, and waits for the one before it: the logistic loss after a Gram matrix
//! was an order of magnitude slower. The functions that the compiler makes of our own kernels clear them.

/// What a call of faer gives, with the registers cleared after it.
pub(super) fn cleared<T>(work: impl FnOnce() -> T) -> T {
    let done = work();
    clear();
    done
}

#[cfg(target_arch = "x86_64")]
fn clear() {
    if std::arch::is_x86_feature_detected!("avx") {
        // SAFETY: the processor has AVX, as was just asked. The instruction clears what no calling convention keeps: a
        // compiled function never has live values in the upper halves when it calls another.
        unsafe { std::arch::x86_64::_mm256_zeroupper() };
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn clear() {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Matrix;

    /// Whatever was computed before and is used after keeps its bits.
    #[test]
    fn clearing_changes_no_number() {
        let a = Matrix::from_fn(40, 9, |i, j| ((i * 31 + j * 17) % 23) as f64 / 7.0 - 1.0);
        let before: Vec<f64> = a.data().iter().map(|v| v.exp()).collect();
        let plain = a.transposed_times(&a);
        let after = cleared(|| a.transposed_times(&a));
        assert_eq!(plain, after);
        assert_eq!(cleared(|| before.clone()), a.data().iter().map(|v| v.exp()).collect::<Vec<f64>>());
    }
}
