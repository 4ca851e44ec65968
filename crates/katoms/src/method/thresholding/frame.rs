//! (ΦΦᵀ)⁻¹ times a vector, in three ways.
//!
//! - *General*: by conjugate residuals, two passes a round, for any operator and any number of rows. Where ΦΦᵀ is
//!   singular that gives the pseudo-inverse. On a Gaussian design of 200 × 1000 a solve to 1e-8 takes about 22 rounds.
//! - *Factored*: ΦΦᵀ is formed before the run and inverted: about a pass for each of the m rows, O(m²) numbers in the
//!   state, O(m³) time. No pass after that: for a few hundred rows it is cheaper by far.
//! - *Tight*: ΦΦᵀ = c·I, as for rows of an orthonormal transform and for observed entries. Nothing is to be solved.

use serde::{Deserialize, Serialize};

use crate::error::{Error, check_option};
use crate::linalg::{self, Matrix, inverse_symmetric};
use crate::method::smooth::Smooth;
use crate::space::{Covector, Point};

/// Rounds of one solve at most.
const ROUNDS: usize = 500;
/// Rows that share a pass while ΦΦᵀ is formed.
const BLOCK: usize = 64;
/// A row with less than this share outside of the others is dependent.
const DEPENDENT: f64 = 1e-12;
/// How far ΦΦᵀ·v may be from a multiple of v on a tight frame.
const TIGHT: f64 = 1e-8;

/// What is known of ΦΦᵀ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Frame {
    /// Nothing: it is inverted by conjugate residuals to this relative residual.
    General {
        /// The relative residual that ends a solve.
        tolerance: f64,
    },
    /// Nothing, but its rows are few: it is formed and inverted once.
    Factored,
    /// It is a multiple of the identity. Tested with one vector, at the cost of two passes.
    Tight,
}

impl Frame {
    /// Checks the option and prepares what is computed once.
    pub(super) fn inverse<P: Point, G: Covector<P>>(&self, f: &dyn Smooth<P, G>) -> Result<Inverse, Error> {
        let refused = |method, needs| Err(Error::Unsuitable { method, needs });
        match *self {
            Self::General { tolerance } => {
                check_option("tolerance", tolerance, "it must lie between 0 and 1", |t| t > 0.0 && t < 1.0)?;
                Ok(Inverse::Solved(tolerance))
            }
            Self::Factored => match inverse_symmetric(&gram(f), DEPENDENT) {
                Some(inverse) => Ok(Inverse::Formed(inverse)),
                None => refused("a factored frame", "independent rows; Frame::General serves every design"),
            },
            Self::Tight => match frame_bound(f) {
                Some(c) => Ok(Inverse::Scale(1.0 / c)),
                None => refused(
                    "a tight frame",
                    "rows that are orthogonal and of one norm; Frame::General serves every design",
                ),
            },
        }
    }
}

/// (ΦΦᵀ)⁻¹, as far as it is known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum Inverse {
    /// To be found for each vector, to this relative residual.
    Solved(f64),
    Formed(Matrix),
    /// 1/c.
    Scale(f64),
}

impl Inverse {
    pub(super) fn times<P: Point, G: Covector<P>>(&self, f: &dyn Smooth<P, G>, r: &[f64]) -> Vec<f64> {
        match self {
            Self::Solved(tolerance) => conjugate_residuals(f, r, *tolerance),
            Self::Formed(inverse) => inverse.times(&Matrix::from_columns(r.len(), 1, r.to_vec())).data().to_vec(),
            Self::Scale(scale) => r.iter().map(|r| r * scale).collect(),
        }
    }
}

/// w with ΦΦᵀ·w ≈ r, by conjugate residuals: the least residual over the Krylov spaces. Two passes a round.
fn conjugate_residuals<P: Point, G: Covector<P>>(f: &dyn Smooth<P, G>, r: &[f64], tolerance: f64) -> Vec<f64> {
    let mut w = vec![0.0; r.len()];
    let mut rest = r.to_vec();
    let enough = tolerance * linalg::norm(r);
    if !(enough > 0.0) {
        return w;
    }
    let mut image = f.gram_times(&rest);
    let (mut p, mut of_p) = (rest.clone(), image.clone());
    let mut square = linalg::dot(&rest, &image);
    let nothing = tolerance * tolerance * square;
    for _ in 0..ROUNDS {
        let curvature = linalg::dot(&of_p, &of_p);
        if !(square > nothing && curvature > 0.0) {
            break;
        }
        let a = square / curvature;
        w = linalg::combine(1.0, &w, a, &p);
        rest = linalg::combine(1.0, &rest, -a, &of_p);
        if linalg::norm(&rest) <= enough {
            break;
        }
        image = f.gram_times(&rest);
        let next = linalg::dot(&rest, &image);
        p = linalg::combine(1.0, &rest, next / square, &p);
        of_p = linalg::combine(1.0, &image, next / square, &of_p);
        square = next;
    }
    w
}

/// ΦΦᵀ. A pass for each row, and one for each block of them.
fn gram<P: Point, G: Covector<P>>(f: &dyn Smooth<P, G>) -> Matrix {
    let m = f.n_outputs();
    let mut gram = Matrix::zeros(m, m);
    for first in (0..m).step_by(BLOCK) {
        let unit = |i: usize| (0..m).map(|j| f64::from(u8::from(i == j))).collect::<Vec<f64>>();
        let units: Vec<Vec<f64>> = (first..m.min(first + BLOCK)).map(unit).collect();
        let rows = f.adjoint_block(&units.iter().map(Vec::as_slice).collect::<Vec<_>>());
        for (i, row) in rows.iter().enumerate() {
            gram.column_mut(first + i).copy_from_slice(&f.apply_covector(row));
        }
    }
    gram
}

/// c where ΦΦᵀ·v = c·v for some v without symmetry. Two passes.
fn frame_bound<P: Point, G: Covector<P>>(f: &dyn Smooth<P, G>) -> Option<f64> {
    let v: Vec<f64> = (0..f.n_outputs()).map(|i| 1.0 + (i as f64 * 0.754_877).fract()).collect();
    let image = f.gram_times(&v);
    let scale = linalg::dot(&v, &image) / linalg::dot(&v, &v);
    let off = linalg::norm(&linalg::combine(1.0, &image, -scale, &v));
    (scale > 0.0 && off <= TIGHT * scale * linalg::norm(&v)).then_some(scale)
}
