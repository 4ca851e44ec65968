//! A planted problem that the test files share.
#![allow(dead_code, reason = "each test file uses its own part")]

use katoms::Objective;
use katoms::loss::LeastSquares;
use katoms::method::AcceleratedIht;
use katoms::operator::{Dense, LinearOperator};
use katoms::set::Structure;
use katoms::simulate;
use katoms::space::SparseVec;

/// A Gaussian design, a sparse vector, and the vector's noisy image.
pub struct Planted {
    pub rows: usize,
    pub design: Vec<f64>,
    pub truth: SparseVec,
    pub target: Vec<f64>,
}

impl Planted {
    /// `noise` is its norm relative to the signal's.
    pub fn new(rows: usize, columns: usize, k: usize, noise: f64, seed: u64) -> Self {
        let design = simulate::gaussian(rows, columns, seed);
        let truth = simulate::sparse_signal(columns, k, seed);
        let mut clean = vec![0.0; rows];
        Dense::column_major(&design, rows, columns).unwrap().apply(&truth, &mut clean);
        let deviation = noise * katoms::linalg::norm(&clean) / (rows as f64).sqrt();
        let target = simulate::noisy(&clean, deviation, seed);
        Self { rows, design, truth, target }
    }

    pub fn operator(&self) -> Dense<'_, f64> {
        Dense::column_major(&self.design, self.rows, self.truth.dim()).unwrap()
    }

    pub fn squares<'a>(&self, a: &'a Dense<'a, f64>) -> Objective<&'a Dense<'a, f64>, LeastSquares> {
        Objective::new(a, LeastSquares::new(self.target.clone()).unwrap()).unwrap()
    }
}

/// The defaults for coordinates.
pub fn defaults() -> AcceleratedIht {
    AcceleratedIht::for_structure(Structure::Coordinates)
}
