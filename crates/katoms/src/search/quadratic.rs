//! f(x) = ½·xᵀGx − bᵀx + f(0), of which any column of G can be had.

use super::bounds::Bounds;
use crate::set::Atoms;

/// What is known of a quadratic beside the columns of G.
#[derive(Debug)]
pub(crate) struct Terms {
    /// b = −∇f(0); of several responses those of each coordinate one after the other.
    pub linear: Vec<f64>,
    /// The diagonal of G, the ridge included.
    pub diagonal: Vec<f64>,
    /// f(0).
    pub constant: f64,
}

/// A quadratic function, and the bounds within which it is minimised where there are some.
pub(crate) trait Quadratic: Sync {
    /// b, the diagonal of G, and f(0).
    fn terms(&self) -> &Terms;
    /// The number of coordinates.
    fn dim(&self) -> usize {
        self.terms().diagonal.len()
    }
    /// How many responses share G: each has a b and an x of its own.
    fn responses(&self) -> usize {
        (self.linear().len() / self.dim().max(1)).max(1)
    }
    /// b = −∇f(0); of several responses those of each coordinate one after the other.
    fn linear(&self) -> &[f64] {
        &self.terms().linear
    }
    /// The diagonal of G, the ridge included.
    fn diagonal(&self) -> &[f64] {
        &self.terms().diagonal
    }
    /// f(0).
    fn constant(&self) -> f64 {
        self.terms().constant
    }
    /// Column j of G, the ridge included. Computed when it is first asked for.
    fn column(&self, j: usize) -> &[f64];
    /// Bounds on the coordinates.
    fn bounds(&self) -> Option<&Bounds> {
        None
    }
    /// Computes columns that will be needed, together.
    fn prepare(&self, _: &[usize]) {}
    /// Makes ready for the blocks of all atoms.
    fn prepare_blocks(&self, _: &Atoms) {}
    /// The block of G at the coordinates of an atom, column after column.
    fn block(&self, atom: usize, members: &[usize]) -> Vec<f64>;
}

#[cfg(test)]
pub(crate) mod explicit {
    //! A quadratic that is written out, for tests.
    use super::{Quadratic, Terms};
    use crate::linalg::{Matrix, dot, solve_symmetric};

    /// ½‖y − Φx‖² + ½·ridge·‖x‖².
    pub(crate) struct Explicit {
        pub gram: Matrix,
        terms: Terms,
    }

    impl Explicit {
        /// Of several responses, one after the other in y.
        pub fn new(design: &Matrix, y: &[f64], ridge: f64) -> Self {
            let n = design.columns();
            let product = design.transposed_times(design);
            let gram = Matrix::from_fn(n, n, |i, j| product.at(i, j) + if i == j { ridge } else { 0.0 });
            let pushed = |j: usize| y.chunks(design.rows()).map(move |y| dot(design.column(j), y));
            let linear = (0..n).flat_map(pushed).collect();
            let diagonal = (0..n).map(|j| gram.at(j, j)).collect();
            Self { gram, terms: Terms { linear, diagonal, constant: 0.5 * dot(y, y) } }
        }
    }

    /// The minimum over some coordinates, from scratch.
    pub(crate) fn minimum(q: &Explicit, at: &[usize]) -> f64 {
        let right: Vec<f64> = at.iter().map(|&j| q.linear()[j]).collect();
        let gram = Matrix::from_fn(at.len(), at.len(), |a, b| q.gram.at(at[a], at[b]));
        q.constant() - 0.5 * dot(&right, &solve_symmetric(&gram, &right))
    }

    impl Quadratic for Explicit {
        fn terms(&self) -> &Terms {
            &self.terms
        }
        fn column(&self, j: usize) -> &[f64] {
            self.gram.column(j)
        }
        fn block(&self, _: usize, members: &[usize]) -> Vec<f64> {
            members.iter().flat_map(|&b| members.iter().map(move |&a| self.gram.at(a, b))).collect()
        }
    }
}
