//! Dense matrices that are small beside the data: products, factorisations, spectra. Their sums have an order that does not
//! depend on the number of threads.

mod cholesky;
mod matrix;
mod orthonormal;
mod product;
mod qr;
mod solve;
mod spectrum;

pub(crate) use cholesky::Cholesky;
pub use matrix::Matrix;
pub(crate) use orthonormal::extended;
pub(crate) use product::{View, add_product};
pub(crate) use solve::{SymmetricSystem, sound_cholesky};
pub use solve::{inverse_symmetric, solve_symmetric};
