//! Vectors whose absolute values sum to at most λ.

use super::{LinearMinimize, ball_threshold, check_radius, filled_with_zero};
use crate::error::Error;
use crate::space::{Point, SparseVec};

/// {x : ‖x‖₁ ≤ λ}. Its vertices are ±λ·eᵢ. Every coordinate is constrained: an intercept is not left free.
///
/// ```
/// use katoms::set::{L1Ball, LinearMinimize};
/// use katoms::space::SparseVec;
/// let ball = L1Ball::new(2.0, 3)?;
/// assert_eq!(ball.argmin(&vec![1.0, -3.0, 3.0]).to_dense(), [0.0, 2.0, 0.0]);
/// let x = ball.project(SparseVec::from_dense(&[3.0, -1.0, 0.5]));
/// assert_eq!(x.to_dense(), [2.0, 0.0, 0.0]);
/// assert!(L1Ball::new(0.0, 3).is_err());
/// # Ok::<(), katoms::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct L1Ball {
    radius: f64,
    dim: usize,
}

impl L1Ball {
    /// Vectors of length `dim` with ‖x‖₁ ≤ `radius`.
    ///
    /// # Errors
    /// When the radius is not positive and finite, or the space is empty.
    pub fn new(radius: f64, dim: usize) -> Result<Self, Error> {
        if dim == 0 {
            return Err(Error::Empty { what: "the space" });
        }
        check_radius(radius)?;
        Ok(Self { radius, dim })
    }

    /// λ.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// The length of the vectors.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// ‖x‖₁.
    pub fn norm(&self, x: &SparseVec) -> f64 {
        x.values().iter().map(|v| v.abs()).sum()
    }

    /// The nearest point of the ball: entries shrink by one threshold. What falls to 0 is not stored.
    /// O(stored·log stored).
    pub fn project(&self, v: SparseVec) -> SparseVec {
        let sizes: Vec<f64> = v.values().iter().map(|v| v.abs()).collect();
        let theta = ball_threshold(&sizes, |_| 1.0, self.radius);
        if theta == 0.0 {
            return v;
        }
        let kept: Vec<usize> = (0..sizes.len()).filter(|&p| sizes[p] > theta).collect();
        v.keep(&kept).map(|_, v| v - theta.copysign(v))
    }

    /// λ·sign·eᵢ.
    fn vertex(&self, i: usize, sign: f64) -> SparseVec {
        SparseVec::sorted(self.dim, vec![i], vec![self.radius.copysign(sign)])
    }
}

impl LinearMinimize<Vec<f64>> for L1Ball {
    type Point = SparseVec;

    fn domain(&self) -> usize {
        self.dim
    }
    /// O(n).
    fn argmin(&self, g: &Vec<f64>) -> SparseVec {
        let mut best = 0;
        for (i, v) in g.iter().enumerate() {
            if v.abs() > g[best].abs() {
                best = i;
            }
        }
        self.vertex(best, -g[best])
    }
    /// One vertex for each entry of the projection.
    fn decompose(&self, x: SparseVec) -> Vec<(f64, SparseVec)> {
        let terms = self.project(x).entries().map(|(i, v)| (v.abs() / self.radius, self.vertex(i, v))).collect();
        filled_with_zero(terms, SparseVec::zero(self.dim))
    }
}
