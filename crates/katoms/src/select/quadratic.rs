//! f(x) = ½·xᵀGx − bᵀx + f(0): all that least squares needs to know about the data.
//!
//! A column of G costs a pass over the data (many columns share one); once it is known, no move along
//! it reads the data again.

use rayon::prelude::*;

use crate::linalg::kernels::axpy;

/// Rows that are updated by one task: they stay in the first cache.
const ROWS: usize = 1024;

/// A quadratic function of which some columns of G are known.
pub trait Quadratic: Sync {
    /// The number of coordinates.
    fn dim(&self) -> usize;
    /// b = −∇f(0).
    fn linear(&self) -> &[f64];
    /// The diagonal of G, the ridge included.
    fn diagonal(&self) -> &[f64];
    /// f(0).
    fn constant(&self) -> f64;
    /// Column j of G, the ridge included, where it is known.
    fn column(&self, j: usize) -> Option<&[f64]>;
    /// The entry (i, j) of G, where column j is known.
    fn entry(&self, i: usize, j: usize) -> Option<f64> {
        self.column(j).map(|column| column[i])
    }
    /// Whether column j of G is known.
    fn knows(&self, j: usize) -> bool;
    /// The block of G at these coordinates, column after column, whether its columns are known or not.
    fn block(&self, coordinates: &[usize]) -> Vec<f64>;
    /// −∇f = b − G·x where x has these entries, whose columns are known. O(n) for each, rows in parallel.
    fn slopes_at(&self, entries: impl Iterator<Item = (usize, f64)>) -> Vec<f64>
    where
        Self: Sized,
    {
        let columns: Vec<(f64, &[f64])> = entries.filter_map(|(j, x)| Some((x, self.column(j)?))).collect();
        let mut slopes = self.linear().to_vec();
        slopes.par_chunks_mut(ROWS).enumerate().for_each(|(at, slopes)| {
            for (x, column) in &columns {
                axpy(-x, &column[at * ROWS..][..slopes.len()], slopes);
            }
        });
        slopes
    }
}

/// A quadratic whose columns can be brought.
pub(super) trait Brings: Quadratic {
    /// Makes these columns known.
    fn bring(&mut self, columns: &[usize]);
}

#[cfg(test)]
pub(super) mod explicit {
    //! A quadratic that is written out, for tests.
    use super::Quadratic;
    use crate::linalg::{Matrix, dot};

    /// ½‖y − Φx‖² + ½·ridge·‖x‖², of which the columns of `known` are known.
    pub struct Explicit {
        pub gram: Matrix,
        pub linear: Vec<f64>,
        pub diagonal: Vec<f64>,
        pub constant: f64,
        pub known: Vec<bool>,
        pub passes: usize,
    }

    impl Explicit {
        pub fn new(design: &Matrix, y: &[f64], ridge: f64) -> Self {
            let n = design.columns();
            let product = design.transposed_times(design);
            let gram = Matrix::from_fn(n, n, |i, j| product.at(i, j) + if i == j { ridge } else { 0.0 });
            let linear = (0..n).map(|j| dot(design.column(j), y)).collect();
            let diagonal = (0..n).map(|j| gram.at(j, j)).collect();
            Self { gram, linear, diagonal, constant: 0.5 * dot(y, y), known: vec![true; n], passes: 0 }
        }

        /// The same, with no column known.
        pub fn unknown(design: &Matrix, y: &[f64]) -> Self {
            Self { known: vec![false; design.columns()], ..Self::new(design, y, 0.0) }
        }

        /// Makes columns known, as a pass would.
        pub fn fetch(&mut self, columns: &[usize]) {
            self.passes += 1;
            columns.iter().for_each(|&j| self.known[j] = true);
        }
    }

    impl Quadratic for Explicit {
        fn dim(&self) -> usize {
            self.linear.len()
        }
        fn linear(&self) -> &[f64] {
            &self.linear
        }
        fn diagonal(&self) -> &[f64] {
            &self.diagonal
        }
        fn constant(&self) -> f64 {
            self.constant
        }
        fn column(&self, j: usize) -> Option<&[f64]> {
            self.known[j].then(|| self.gram.column(j))
        }
        fn knows(&self, j: usize) -> bool {
            self.known[j]
        }
        fn block(&self, c: &[usize]) -> Vec<f64> {
            Matrix::from_fn(c.len(), c.len(), |a, b| self.gram.at(c[a], c[b])).data().to_vec()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::explicit::Explicit;
    use super::*;
    use crate::linalg::Matrix;
    use crate::simulate::gaussian;

    #[test]
    fn slopes_are_those_of_the_definition_in_every_part_of_the_rows() {
        let n = ROWS + 3;
        let q = Explicit::new(&Matrix::from_columns(5, n, gaussian(5, n, 1)), &gaussian(5, 1, 2), 0.25);
        let x = [(2, 1.5), (n - 1, -0.5), (ROWS, 2.0)];
        let slopes = q.slopes_at(x.into_iter());
        for i in [0, 2, 700, ROWS - 1, ROWS, n - 1] {
            let product: f64 = x.iter().map(|&(j, v)| q.gram.at(i, j) * v).sum();
            assert!((slopes[i] - (q.linear[i] - product)).abs() < 1e-12, "{i}");
        }
        assert_eq!(q.slopes_at(std::iter::empty()), q.linear);
    }
}
