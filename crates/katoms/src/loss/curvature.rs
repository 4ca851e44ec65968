//! ∇²ℓ at some predictions.

use std::fmt;

use crate::linalg::{dot, parallel};

/// d ↦ ∇²ℓ·d.
pub type HessianProduct = Box<dyn Fn(&[f64]) -> Vec<f64> + Send + Sync>;

/// ∇²ℓ where it is not diagonal.
pub enum Hessian {
    /// As a product.
    Product(HessianProduct),
    /// Where only the outputs of one row depend on each other: for every pair of outputs the second derivatives of all
    /// rows. Those of the first output with each come first, then those of the second.
    ByRows(Vec<f64>),
}

/// ∇²ℓ at some predictions: a diagonal; or, where predictions depend on each other, a Hessian, and a diagonal that it is
/// nowhere above.
pub struct Curvature {
    diagonal: Vec<f64>,
    /// Whether it is the identity.
    identity: bool,
    /// What is not diagonal, and what was added to a product's diagonal since.
    hessian: Option<(Hessian, Vec<f64>)>,
}

impl Curvature {
    /// ∇²ℓ is the Hessian where there is one, and `diagonal` is a bound on it; else it is the diagonal.
    pub fn new(diagonal: Vec<f64>, hessian: Option<Hessian>) -> Self {
        let hessian = hessian.map(|hessian| {
            let added = if matches!(hessian, Hessian::Product(_)) { vec![0.0; diagonal.len()] } else { Vec::new() };
            (hessian, added)
        });
        let ones = |some: std::ops::Range<usize>| f64::from(u8::from(diagonal[some].iter().any(|&h| h != 1.0)));
        let identity = hessian.is_none() && parallel::sum(diagonal.len(), &ones) == 0.0;
        Self { diagonal, identity, hessian }
    }

    /// Whether ∇²ℓ is the identity.
    pub(crate) fn is_identity(&self) -> bool {
        self.identity
    }

    /// A diagonal matrix that the Hessian is nowhere above: itself where it is diagonal.
    pub fn bound(&self) -> &[f64] {
        &self.diagonal
    }

    /// The Hessian, where it is diagonal.
    pub fn as_diagonal(&self) -> Option<&[f64]> {
        self.hessian.is_none().then_some(&self.diagonal)
    }

    /// The second derivatives of all rows by the outputs c and b; `None` where more than the outputs of one row depend on
    /// each other. A diagonal is that of a single output.
    pub(crate) fn of_outputs(&self, c: usize, b: usize) -> Option<&[f64]> {
        match &self.hessian {
            None => (c == 0 && b == 0).then_some(&self.diagonal),
            Some((Hessian::Product(_), _)) => None,
            Some((Hessian::ByRows(blocks), _)) => {
                let outputs = blocks.len() / self.diagonal.len().max(1);
                let rows = self.diagonal.len() / outputs.max(1);
                Some(&blocks[(c * outputs + b) * rows..][..rows])
            }
        }
    }

    /// The same with so much added to the diagonal that each entry of its bound is at least this.
    pub fn at_least(mut self, least: f64) -> Self {
        let length = self.diagonal.len();
        self.identity &= !(least > 1.0);
        for (i, h) in self.diagonal.iter_mut().enumerate() {
            let missing = (least - *h).max(0.0);
            match &mut self.hessian {
                None => {}
                Some((Hessian::Product(_), added)) => added[i] += missing,
                Some((Hessian::ByRows(blocks), _)) => {
                    let outputs = blocks.len() / length;
                    let rows = length / outputs;
                    blocks[i / rows * (outputs + 1) * rows + i % rows] += missing;
                }
            }
            *h = h.max(least);
        }
        self
    }

    /// ∇²ℓ·d. O(m).
    pub fn times(&self, d: &[f64]) -> Vec<f64> {
        match &self.hessian {
            None => parallel::filled(d.len(), &|first, out| {
                let pairs = self.diagonal[first..].iter().zip(&d[first..]);
                out.iter_mut().zip(pairs).for_each(|(out, (h, d))| *out = h * d);
            }),
            Some((Hessian::Product(product), added)) => {
                product(d).into_iter().zip(added.iter().zip(d)).map(|(v, (a, d))| v + a * d).collect()
            }
            Some((Hessian::ByRows(blocks), _)) => {
                let rows = (d.len() * d.len() / blocks.len().max(1)).max(1);
                let mut out = vec![0.0; d.len()];
                // The column of a single output is zero on the rows of all others.
                for (c, d) in d.chunks(rows).enumerate().filter(|(_, d)| d.iter().any(|&d| d != 0.0)) {
                    let blocks = blocks[c * out.len()..].chunks(rows);
                    for (out, h) in out.chunks_mut(rows).zip(blocks) {
                        out.iter_mut().zip(h).zip(d).for_each(|((out, h), d)| *out += h * d);
                    }
                }
                out
            }
        }
    }

    /// ⟨c, ∇²ℓ·d⟩. O(m).
    pub fn between(&self, c: &[f64], d: &[f64]) -> f64 {
        match &self.hessian {
            None => parallel::sum(d.len(), &|some| {
                let h = &self.diagonal[some.clone()];
                h.iter().zip(&c[some.clone()]).zip(&d[some]).map(|((h, c), d)| h * c * d).sum()
            }),
            Some(_) => dot(c, &self.times(d)),
        }
    }
}

impl fmt::Debug for Curvature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let diagonal = self.hessian.is_none();
        f.debug_struct("Curvature").field("bound", &self.diagonal).field("is_diagonal", &diagonal).finish()
    }
}

impl From<Vec<f64>> for Curvature {
    fn from(diagonal: Vec<f64>) -> Self {
        Self::new(diagonal, None)
    }
}
