//! The atoms that an iterate is made of, with their weights and images.

use serde::{Deserialize, Serialize};

use crate::linalg::Matrix;
use crate::loss::Loss;
use crate::objective::{Evaluated, Objective};
use crate::operator::LinearOperator;
use crate::space::Point;

/// Σ weight·atom, where the weights are not negative and sum to 1. Equal atoms are one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "P: Point")]
pub(super) struct ActiveSet<P> {
    pub(super) atoms: Vec<Evaluated<P>>,
    pub(super) weights: Vec<f64>,
    /// ⟨atom i, ∇²f·atom j⟩ for j ≤ i, of as many atoms as were asked for: where the loss is quadratic.
    gram: Vec<Vec<f64>>,
}

impl<P: Point> ActiveSet<P> {
    /// No atoms: none are kept.
    pub(super) fn empty() -> Self {
        Self { atoms: Vec::new(), weights: Vec::new(), gram: Vec::new() }
    }

    pub(super) fn new(terms: Vec<(f64, Evaluated<P>)>) -> Self {
        let (weights, atoms) = terms.into_iter().unzip();
        Self { atoms, weights, gram: Vec::new() }
    }

    /// The atom that is this point. O(atoms).
    pub(super) fn find(&self, point: &P) -> Option<usize> {
        self.atoms.iter().position(|atom| atom.point() == point)
    }

    /// The place of an atom, which comes in with weight 0 if it is new.
    pub(super) fn admit(&mut self, atom: Evaluated<P>) -> usize {
        self.find(atom.point()).unwrap_or_else(|| {
            self.atoms.push(atom);
            self.weights.push(0.0);
            self.atoms.len() - 1
        })
    }

    /// Σ weight·atom with its image. O(m·atoms); no column is read.
    pub(super) fn combined(&self, domain: P::Domain, weights: &[f64]) -> Evaluated<P> {
        let outputs = self.atoms.first().map_or(0, |atom| atom.image().len());
        Evaluated::sum(domain, weights, &self.atoms, outputs)
    }

    /// Drops the atoms of weight 0.
    pub(super) fn drop_zeros(&mut self) {
        let kept: Vec<bool> = self.weights.iter().map(|w| *w > 0.0).collect();
        if kept.iter().all(|k| *k) {
            return;
        }
        retain(&mut self.atoms, &kept);
        retain(&mut self.weights, &kept);
        retain(&mut self.gram, &kept);
        self.gram.iter_mut().for_each(|row| retain(row, &kept));
    }

    /// The Hessian of w ↦ f(Σ wᵢ·atomᵢ) at x. Where the loss is quadratic only the rows of new atoms are
    /// computed, O(m·atoms) each; otherwise all of them.
    pub(super) fn hessian<A, L>(&mut self, f: &Objective<A, L>, x: &Evaluated<P>) -> Matrix
    where
        A: LinearOperator<Point = P>,
        L: Loss,
    {
        if !f.loss().is_quadratic() {
            self.gram.clear();
        }
        let h = f.curvatures(x);
        for i in self.gram.len()..self.atoms.len() {
            self.gram.push(f.bends(&h, &self.atoms[i], &self.atoms[..=i]));
        }
        Matrix::from_fn(self.atoms.len(), self.atoms.len(), |i, j| self.gram[i.max(j)][i.min(j)])
    }
}

/// Weights that sum to 1 again; those that are only rounding become 0.
pub(super) fn normalised(mut weights: Vec<f64>) -> Vec<f64> {
    weights.iter_mut().filter(|w| !(**w > f64::EPSILON)).for_each(|w| *w = 0.0);
    let total: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|w| *w /= total);
    weights
}

/// The items whose mark is true. There may be fewer items than marks.
fn retain<T>(items: &mut Vec<T>, kept: &[bool]) {
    let mut marks = kept.iter();
    items.retain(|_| marks.next().is_some_and(|k| *k));
}
