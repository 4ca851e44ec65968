//! Matrices whose singular values sum to at most λ.

use super::{LinearMinimize, ball_threshold, check_radius, filled_with_zero};
use crate::error::Error;
use crate::linalg::{Matrix, leading_pair};
use crate::space::{LowRank, MatrixCovector, Point};

/// The leading pair is sought until its residual is this share of σ₁. A Frank–Wolfe gap is as accurate as λ·σ₁,
/// and the error of σ₁ is of the order of this squared.
const TOLERANCE: f64 = 1e-6;
const STEPS: usize = 500;

/// {X : ‖X‖_* ≤ λ}. Its vertices are λ·u·vᵀ for unit vectors u and v.
///
/// The oracle is iterative: its singular value, and with it a gap or a certificate, is accurate to about twelve
/// digits of λ·σ₁, not proven to the last.
///
/// ```
/// use katoms::linalg::Matrix;
/// use katoms::set::NuclearBall;
/// use katoms::space::LowRank;
/// let ball = NuclearBall::new(1.0, (3, 2))?;
/// let ones = |rows| Matrix::from_fn(rows, 1, |_, _| 1.0);
/// let x = ball.project(&LowRank::from_factors(&ones(3), &ones(2))?);
/// assert!((ball.norm(&x) - 1.0).abs() < 1e-12);
/// # Ok::<(), katoms::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct NuclearBall {
    radius: f64,
    shape: (usize, usize),
}

impl NuclearBall {
    /// Matrices of this shape with ‖X‖_* ≤ `radius`.
    ///
    /// # Errors
    /// When the radius is not positive and finite, or the shape is empty.
    pub fn new(radius: f64, shape: (usize, usize)) -> Result<Self, Error> {
        if shape.0 == 0 || shape.1 == 0 {
            return Err(Error::Empty { what: "the matrix" });
        }
        check_radius(radius)?;
        Ok(Self { radius, shape })
    }

    /// λ.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// (rows, columns).
    pub fn shape(&self) -> (usize, usize) {
        self.shape
    }

    /// ‖X‖_*. O(rank³).
    pub fn norm(&self, x: &LowRank) -> f64 {
        x.singular_values().iter().sum()
    }

    /// The nearest point of the ball: singular values shrink by one threshold. What falls to 0 is not
    /// stored. O((p+q)·rank² + rank³).
    pub fn project(&self, x: &LowRank) -> LowRank {
        let terms = self.pairs(x);
        let terms: Vec<(f64, &LowRank)> = terms.iter().map(|(s, pair)| (*s, pair)).collect();
        LowRank::sum(self.shape, &terms)
    }

    /// The singular values of the projection that are not 0, each with its u·vᵀ.
    fn pairs(&self, x: &LowRank) -> Vec<(f64, LowRank)> {
        let Some((u, values, v)) = x.core().svd() else { return Vec::new() };
        let theta = ball_threshold(&values, |_| 1.0, self.radius);
        let (left, right) = (x.left().times(&u), x.right().times(&v));
        let least = f64::EPSILON * values.first().unwrap_or(&0.0);
        let kept = values.iter().enumerate().map(|(i, s)| (i, s - theta)).filter(|(_, s)| *s > least);
        kept.map(|(i, s)| (s, self.pair(left.column(i), right.column(i), 1.0))).collect()
    }

    /// size·u·vᵀ.
    fn pair(&self, u: &[f64], v: &[f64], size: f64) -> LowRank {
        let column = |v: &[f64]| Matrix::from_columns(v.len(), 1, v.to_vec());
        LowRank::from_bases(column(u), Matrix::from_columns(1, 1, vec![size]), column(v))
    }
}

impl LinearMinimize<MatrixCovector> for NuclearBall {
    type Point = LowRank;

    fn domain(&self) -> (usize, usize) {
        self.shape
    }
    /// The leading singular pair of the gradient, by products with single vectors. Zero where a product is
    /// not finite.
    fn argmin(&self, g: &MatrixCovector) -> LowRank {
        let Some(pair) = leading_pair(g, TOLERANCE, STEPS) else { return LowRank::zero(self.shape) };
        self.pair(&pair.left, &pair.right, -self.radius)
    }
    /// One vertex for each singular pair of the projection.
    fn decompose(&self, x: LowRank) -> Vec<(f64, LowRank)> {
        let vertex = |(s, pair): (f64, LowRank)| (s / self.radius, LowRank::combine(self.radius, &pair, 0.0, &pair));
        filled_with_zero(self.pairs(&x).into_iter().map(vertex).collect(), LowRank::zero(self.shape))
    }
}
