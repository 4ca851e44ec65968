//! f(x) = ½·xᵀGx − bᵀx + f(0): all that least squares needs to know about the data.
//!
//! A column of G costs a pass over the data (many columns share one); once it is known, no move along
//! it reads the data again.

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
