//! Kernels, small dense matrices, truncated SVDs. A sum is taken in an order that does not depend on the number of threads.

mod bytes;
mod column_buffer;
mod dense;
mod freed_memory;
pub mod kernels;
mod leading_pair;
pub mod parallel;
mod power_of_two;
mod singular_pairs;
mod top_k;
mod truncated_svd;

pub(crate) use bytes::Bytes;
pub(crate) use column_buffer::ColumnBuffer;
pub(crate) use dense::{Cholesky, SymmetricSystem, View, add_product, extended, sound_cholesky};
pub use dense::{Matrix, inverse_symmetric, solve_symmetric};
pub(crate) use freed_memory::keep_freed_memory;
pub use leading_pair::{SingularPair, leading_pair};
pub use power_of_two::{exponent_of_two, times_power_of_two};
pub use singular_pairs::{Wanted, singular_pairs, spectral_norm};
pub use top_k::top_k;
pub(crate) use top_k::top_k_of;
pub use truncated_svd::{Multiply, TruncatedSvd, truncated_svd};

/// Σ a_i·b_i, in eight interleaved sums; of long vectors part by part.
///
/// # Panics
/// When one is longer than the other.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len(), "vectors of different lengths");
    parallel::sum(a.len(), &|some| kernels::dot(&a[some.clone()], &b[some]))
}

/// The Euclidean norm, safe against overflow and underflow.
pub fn norm(a: &[f64]) -> f64 {
    let square = dot(a, a);
    if square.is_normal() && square < 1e300 && square > 1e-300 {
        return square.sqrt();
    }
    let largest = a.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    if largest == 0.0 || !largest.is_finite() {
        return largest;
    }
    largest * a.iter().map(|v| (v / largest).powi(2)).sum::<f64>().sqrt()
}

/// a·x + b·y, entry by entry.
pub fn combine(a: f64, x: &[f64], b: f64, y: &[f64]) -> Vec<f64> {
    parallel::filled(x.len().min(y.len()), &|first, out| {
        out.iter_mut().zip(x[first..].iter().zip(&y[first..])).for_each(|(out, (x, y))| *out = a * x + b * y);
    })
}
