//! Hard thresholding on sets of k atoms: a step along the gradient, the projection Π_k, and what each
//! author adds to it.
//!
//! | type | what it adds to x⁺ = Π_k(x − μ∇f(x)) |
//! |---|---|
//! | [`NormalisedIht`] | a step size that keeps f falling; line searches through earlier iterates, or before the step |
//! | [`EcmeDore`] | decorrelated rows, and two line searches through earlier iterates |
//! | [`Cgiht`] | conjugate directions while the support holds |
//! | [`HardThresholdingPursuit`] | a refit on the new support |
//! | [`Cosamp`], [`SubspacePursuit`] | a refit on a larger support before the projection |
//! | [`MatrixAlps`] | for matrices: a step over the span of twice the rank, memory or a second step |

mod cgiht;
mod cosamp;
mod ecme;
mod frame;
mod matrix_alps;
mod normalised;
mod pursuit;
mod walk;

pub use cgiht::{Cgiht, CgihtState, SupportRestart};
pub use cosamp::{Cosamp, RestrictedEstimate, SubspacePursuit, SubspaceState};
pub use ecme::{EcmeDore, EcmeState};
pub use frame::Frame;
pub use matrix_alps::{AlpsState, AlpsVersion, MatrixAlps};
pub use normalised::{Acceleration, NihtState, NormalisedIht};
pub use pursuit::{HardThresholdingPursuit, PursuitState};
pub use walk::Walk;
