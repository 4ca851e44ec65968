//! ∇²ℓ at some predictions.

use std::fmt;

use crate::linalg::dot;

/// d ↦ ∇²ℓ·d.
pub type HessianProduct = Box<dyn Fn(&[f64]) -> Vec<f64> + Send + Sync>;

/// ∇²ℓ at some predictions: a diagonal; or, where predictions depend on each other, a product, and a diagonal that it is
/// nowhere above.
pub struct Curvature {
    diagonal: Vec<f64>,
    /// The product, and what was added to the diagonal since.
    product: Option<(HessianProduct, Vec<f64>)>,
}

impl Curvature {
    /// The Hessian is the product where there is one, and `diagonal` is a bound on it; else it is the diagonal.
    pub fn new(diagonal: Vec<f64>, product: Option<HessianProduct>) -> Self {
        let product = product.map(|product| (product, vec![0.0; diagonal.len()]));
        Self { diagonal, product }
    }

    /// A diagonal matrix that the Hessian is nowhere above: itself where it is diagonal.
    pub fn bound(&self) -> &[f64] {
        &self.diagonal
    }

    /// The Hessian, where it is diagonal.
    pub fn as_diagonal(&self) -> Option<&[f64]> {
        self.product.is_none().then_some(&self.diagonal)
    }

    /// The same with so much added to the diagonal that each entry of its bound is at least this.
    pub fn at_least(mut self, least: f64) -> Self {
        for (i, h) in self.diagonal.iter_mut().enumerate() {
            if let Some((_, added)) = &mut self.product {
                added[i] += (least - *h).max(0.0);
            }
            *h = h.max(least);
        }
        self
    }

    /// ∇²ℓ·d. O(m).
    pub fn times(&self, d: &[f64]) -> Vec<f64> {
        match &self.product {
            None => self.diagonal.iter().zip(d).map(|(h, d)| h * d).collect(),
            Some((product, added)) => {
                product(d).into_iter().zip(added.iter().zip(d)).map(|(v, (a, d))| v + a * d).collect()
            }
        }
    }

    /// ⟨c, ∇²ℓ·d⟩. O(m).
    pub fn between(&self, c: &[f64], d: &[f64]) -> f64 {
        match &self.product {
            None => self.diagonal.iter().zip(c).zip(d).map(|((h, c), d)| h * c * d).sum(),
            Some(_) => dot(c, &self.times(d)),
        }
    }
}

impl fmt::Debug for Curvature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let diagonal = self.product.is_none();
        f.debug_struct("Curvature").field("bound", &self.diagonal).field("is_diagonal", &diagonal).finish()
    }
}

impl From<Vec<f64>> for Curvature {
    fn from(diagonal: Vec<f64>) -> Self {
        Self::new(diagonal, None)
    }
}
