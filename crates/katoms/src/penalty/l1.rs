//! λ·Σ wⱼ|xⱼ|: the Lasso's.

use super::Penalty;
use crate::error::{Error, check_length, check_option, check_values};
use crate::space::{IndexSet, SparseVec};

/// λ·Σ wⱼ|xⱼ|. Weights are 1 unless given; a weight of 0 sets a coordinate free.
///
/// ```
/// use katoms::penalty::{L1, Penalty};
/// use katoms::space::SparseVec;
/// let penalty = L1::new(2.0, 3)?;
/// let x = SparseVec::from_dense(&[3.0, 0.0, -1.0]);
/// assert_eq!(penalty.value(&x), 8.0);
/// // each coordinate of x − g goes towards zero by λ
/// assert_eq!(penalty.step(&x, &vec![0.0, -5.0, 0.5], 1.0).to_dense(), [1.0, 3.0, 0.0]);
/// assert_eq!(penalty.polar(&vec![0.0, -5.0, 0.5]), 2.5);
/// # Ok::<(), katoms::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct L1 {
    lambda: f64,
    dim: usize,
    weights: Option<Vec<f64>>,
}

impl L1 {
    /// The same price for every coordinate below `dim`.
    ///
    /// # Errors
    /// When λ is not above 0 and finite, or there are no coordinates.
    pub fn new(lambda: f64, dim: usize) -> Result<Self, Error> {
        check_option("lambda", lambda, "it must be finite and above 0", |v| v.is_finite() && v > 0.0)?;
        if dim == 0 {
            return Err(Error::Empty { what: "the space" });
        }
        Ok(Self { lambda, dim, weights: None })
    }

    /// λ·wⱼ for coordinate j; 0 sets it free, as an intercept should be.
    ///
    /// # Errors
    /// When their number is wrong, or one is negative or not finite.
    pub fn weighted(self, weights: Vec<f64>) -> Result<Self, Error> {
        check_length("penalty weights", weights.len(), self.dim, "one for each coordinate")?;
        let right = "every weight must be finite and at least 0";
        check_values("penalty weights", &weights, right, |w| w.is_finite() && w >= 0.0)?;
        Ok(Self { weights: Some(weights), ..self })
    }

    /// The same weights with another λ.
    ///
    /// # Errors
    /// When λ is not above 0 and finite.
    pub fn with_lambda(&self, lambda: f64) -> Result<Self, Error> {
        Ok(Self { weights: self.weights.clone(), ..Self::new(lambda, self.dim)? })
    }

    /// λ.
    pub fn lambda(&self) -> f64 {
        self.lambda
    }

    /// λ·wⱼ: what |xⱼ| costs.
    pub fn price(&self, j: usize) -> f64 {
        self.lambda * self.weights.as_ref().map_or(1.0, |w| w[j])
    }
}

/// size/price; 0 for what is free.
pub(super) fn share_of_price(size: f64, price: f64) -> f64 {
    if price == 0.0 { 0.0 } else { size / price }
}

/// v, brought towards zero by t.
pub(crate) fn soft_threshold(v: f64, t: f64) -> f64 {
    if v.abs() <= t { 0.0 } else { v - t.copysign(v) }
}

impl Penalty<Vec<f64>> for L1 {
    type Point = SparseVec;

    fn domain(&self) -> usize {
        self.dim
    }
    fn atoms(&self) -> usize {
        self.dim
    }
    fn value(&self, x: &SparseVec) -> f64 {
        x.entries().map(|(j, v)| self.price(j) * v.abs()).sum()
    }
    /// O(n).
    fn step(&self, x: &SparseVec, g: &Vec<f64>, mu: f64) -> SparseVec {
        let mut v: Vec<f64> = g.iter().map(|g| -mu * g).collect();
        x.entries().for_each(|(j, x)| v[j] += x);
        v.iter_mut().enumerate().for_each(|(j, v)| *v = soft_threshold(*v, mu * self.price(j)));
        SparseVec::from_dense(&v)
    }
    /// max |gⱼ|/(λwⱼ). O(n).
    fn polar(&self, g: &Vec<f64>) -> f64 {
        let share = |(j, g): (usize, &f64)| share_of_price(g.abs(), self.price(j));
        g.iter().enumerate().map(share).fold(0.0, f64::max)
    }
    /// The coordinates of weight 0. O(n).
    fn free(&self) -> Option<IndexSet> {
        let weights = self.weights.as_ref()?;
        let free: Vec<usize> = (0..self.dim).filter(|&j| weights[j] == 0.0).collect();
        (!free.is_empty()).then(|| IndexSet::new(self.dim, free))
    }
}
