//! λ·‖X‖_*: the sum of the singular values.

use super::Penalty;
use crate::error::{Error, check_option};
use crate::linalg::{Matrix, Multiply, Wanted, singular_pairs, spectral_norm};
use crate::space::{LowRank, MatrixCovector};

/// The residual of a singular pair, as a share of the largest value. The proximal map does not expand, so
/// the step is this exact, whatever the gaps between the values are.
const ACCURACY: f64 = 1e-9;

/// λ·‖X‖_*, the convex relative of a bound on the rank.
///
/// Its polar is a largest singular value, computed iteratively to about nine digits: gaps that rest on it mean nothing
/// below 1e-9.
///
/// ```
/// use katoms::linalg::Matrix;
/// use katoms::penalty::{Nuclear, Penalty};
/// use katoms::space::{Entrywise, LowRank, MatrixCovector, Point};
/// let penalty = Nuclear::new(1.0, (3, 2))?;
/// let g = MatrixCovector::new(Entrywise::Dense(Matrix::from_fn(3, 2, |i, j| if i == j { -3.0 + i as f64 } else { 0.0 })));
/// let x = penalty.step(&LowRank::zero((3, 2)), &g, 1.0);     // singular values 3 and 2, less 1
/// assert!((penalty.value(&x) - 3.0).abs() < 1e-9);
/// assert!((penalty.polar(&g) - 3.0).abs() < 1e-8);
/// # Ok::<(), katoms::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Nuclear {
    lambda: f64,
    shape: (usize, usize),
}

impl Nuclear {
    /// The penalty on matrices of this shape.
    ///
    /// # Errors
    /// When λ is not above 0 and finite, or the matrix is empty.
    pub fn new(lambda: f64, shape: (usize, usize)) -> Result<Self, Error> {
        check_option("lambda", lambda, "it must be finite and above 0", |v| v.is_finite() && v > 0.0)?;
        if shape.0 == 0 || shape.1 == 0 {
            return Err(Error::Empty { what: "the matrix" });
        }
        Ok(Self { lambda, shape })
    }

    /// The same space with another λ.
    ///
    /// # Errors
    /// When λ is not above 0 and finite.
    pub fn with_lambda(&self, lambda: f64) -> Result<Self, Error> {
        Self::new(lambda, self.shape)
    }

    /// λ.
    pub fn lambda(&self) -> f64 {
        self.lambda
    }

    /// The least λ for which zero is the answer, where g = ∇f(0): its largest singular value.
    pub fn largest_lambda(g: &MatrixCovector) -> f64 {
        spectral_norm(g)
    }
}

/// X − μ·G, by its products alone.
struct Shifted<'a> {
    x: &'a LowRank,
    g: &'a MatrixCovector,
    mu: f64,
}

impl Multiply for Shifted<'_> {
    fn shape(&self) -> (usize, usize) {
        self.g.shape()
    }
    fn times(&self, b: &Matrix) -> Matrix {
        self.x.times(b).plus(-self.mu, &self.g.times(b))
    }
    fn transposed_times(&self, b: &Matrix) -> Matrix {
        self.x.transposed_times(b).plus(-self.mu, &self.g.transposed_times(b))
    }
}

impl Penalty<MatrixCovector> for Nuclear {
    type Point = LowRank;

    fn domain(&self) -> (usize, usize) {
        self.shape
    }
    fn atoms(&self) -> usize {
        self.shape.0.min(self.shape.1)
    }
    /// O(rank³).
    fn value(&self, x: &LowRank) -> f64 {
        self.lambda * x.singular_values().iter().sum::<f64>()
    }
    /// The singular values of X − μG above μλ, each less μλ. The search for them starts at the rows of
    /// X, so that near the minimum it is a few products with G.
    fn step(&self, x: &LowRank, g: &MatrixCovector, mu: f64) -> LowRank {
        let price = mu * self.lambda;
        let pairs = singular_pairs(&Shifted { x, g, mu }, Wanted::Above(price), x.right(), ACCURACY);
        let values = &pairs.values;
        let diagonal = |i: usize, j: usize| if i == j { values[i] - price } else { 0.0 };
        let core = Matrix::from_fn(values.len(), values.len(), diagonal);
        LowRank::from_bases(pairs.left, core, pairs.right)
    }
    /// ‖G‖₂/λ.
    fn polar(&self, g: &MatrixCovector) -> f64 {
        spectral_norm(g) / self.lambda
    }
}
