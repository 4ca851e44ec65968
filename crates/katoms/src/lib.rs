//! Models made of exactly *k atoms* — k features, k groups, a matrix of rank k — in a handful of
//! passes over the data:
//!
//! > minimise f(x) subject to ‖x‖₀,𝒜 ≤ k
//!
//! where f is convex and smooth and 𝒜 is a set of atoms: coordinates, groups of them (which may
//! overlap), or rank-one matrices. At its heart is accelerated iterative hard thresholding
//! ([Algorithm 1](method::AcceleratedIht) of "IHT dies hard", Khanna and Kyrillidis).
//!
//! ```
//! use katoms::{Objective, fit, loss::LeastSquares, operator::Dense, set::KSparse};
//!
//! // 4 observations of 3 features, column after column
//! let x = [1.0, 2.0, 3.0, 4.0,   1.0, -1.0, 1.0, -1.0,   0.0, 1.0, 1.0, 0.0];
//! let y = vec![2.0, 4.0, 6.0, 8.0];
//! let f = Objective::new(Dense::column_major(&x, 4, 3)?, LeastSquares::new(y)?)?;
//! let outcome = fit(&f, &KSparse::new(1, 3)?)?;
//! assert_eq!(outcome.point.indices(), [0]);
//! assert!((outcome.point.value_at(0) - 2.0).abs() < 1e-12);
//! # Ok::<(), katoms::Error>(())
//! ```
//!
//! Data runs downhill: [`linalg`] ← [`space`] ← [`operator`], [`set`], [`penalty`]; [`loss`]; [`Objective`] ←
//! [`method`], [`driver`] ← [`select`]. The only expensive thing is a full pass over the data,
//! [`operator::LinearOperator::adjoint`]; everything else touches a few columns.

mod contained;
pub mod driver;
mod error;
mod fit;
pub mod linalg;
pub mod loss;
pub mod method;
mod objective;
pub mod operator;
pub mod penalty;
pub mod search;
pub mod select;
pub mod set;
pub mod simulate;
pub mod space;
pub mod theory;

pub use contained::contained;
pub use driver::{Options, Outcome, Status, Stop};
pub use error::Error;
pub use fit::{Fit, LinearModel};
pub use objective::{Cost, Evaluated, Objective};

use loss::Loss;
use operator::LinearOperator;
use search::Searchable;

/// [`Fit::run`] with every default: accelerated IHT, and a search on a working set from its end, as far as the problem needs
/// it.
///
/// # Errors
/// When the objective and the set live in different spaces.
pub fn fit<A, L, S>(f: &Objective<A, L>, set: &S) -> Result<Outcome<A::Point>, Error>
where
    A: LinearOperator,
    L: Loss,
    S: Searchable<A, L>,
{
    Fit::new(f, set).run()
}

/// The Rust blocks of the written pages are tests.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../../README.md")]
    struct Readme;
    #[doc = include_str!("../../../CONTRIBUTING.md")]
    struct Contributing;
    #[doc = include_str!("../../../docs/guide.md")]
    struct Guide;
    #[doc = include_str!("../../../docs/methods.md")]
    struct Methods;
    #[doc = include_str!("../../../docs/theory.md")]
    struct Theory;
}
