//! Dense matrices that are small beside the data: products, factorisations, spectra. Each runs on one thread, and its sums
//! have a fixed order.

mod cholesky;
mod matrix;
mod orthonormal;
mod product;
mod qr;
mod solve;
mod spectrum;

pub use matrix::Matrix;
pub(crate) use orthonormal::extended;
pub(crate) use solve::{SymmetricSystem, sound_cholesky};
pub use solve::{inverse_symmetric, solve_symmetric};
