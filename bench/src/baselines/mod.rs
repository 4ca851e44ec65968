//! What others would run: greedy and iterative methods for k-sparse least squares, the library's own or
//! each written as well as its authors would.
//!
//! All work on an explicit design. Columns count by their direction: every correlation is divided by
//! the norm of its column.

mod greedy;
mod pursuit;
#[cfg(test)]
mod tests;

pub use greedy::{foba, forward_regression, omp};
pub use pursuit::{cosamp, htp, oblivious, subspace_pursuit};

use katoms::Error;
use katoms::linalg::{self, Matrix, kernels, solve_symmetric};
use katoms::space::SparseVec;

/// Below this share of ½‖y‖² an objective counts as zero.
const PERFECT: f64 = 1e-24;

/// A column-major design with a target.
pub struct Data<'a> {
    design: &'a [f64],
    rows: usize,
    y: &'a [f64],
    norms: Vec<f64>,
}

impl<'a> Data<'a> {
    /// A design of `rows` × `columns` values, column by column, and its target.
    ///
    /// # Errors
    /// When lengths disagree, nothing is there, or a value is not finite.
    pub fn new(design: &'a [f64], rows: usize, columns: usize, y: &'a [f64]) -> Result<Self, Error> {
        if rows == 0 || columns == 0 {
            return Err(Error::Empty { what: "design" });
        }
        let length = |what, found, expected, why| match found == expected {
            true => Ok(()),
            false => Err(Error::Length { what, found, expected, why }),
        };
        length("design", design.len(), rows * columns, "rows times columns")?;
        length("target", y.len(), rows, "one value for each row")?;
        if let Some(at) = kernels::first_not_finite(design) {
            return Err(Error::NotFinite { what: "design", row: at % rows, column: at / rows, value: design[at] });
        }
        if let Some(index) = kernels::first_not_finite(y) {
            return Err(Error::Value { what: "target", index, value: y[index], right: "every value must be finite" });
        }
        Ok(Self { design, rows, y, norms: design.chunks(rows).map(linalg::norm).collect() })
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.norms.len()
    }

    fn column(&self, j: usize) -> &'a [f64] {
        &self.design[j * self.rows..][..self.rows]
    }

    /// Φᵀr: one pass.
    fn adjoint(&self, r: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.columns()];
        kernels::adjoint_columns(self.design, r, &mut out);
        out
    }

    /// |φ_jᵀr| / ‖φ_j‖ from φ_jᵀr; 0 for a zero column.
    fn normalised(&self, correlations: &[f64]) -> Vec<f64> {
        let share = |(c, norm): (&f64, &f64)| if *norm > 0.0 { c.abs() / norm } else { 0.0 };
        correlations.iter().zip(&self.norms).map(share).collect()
    }

    fn zero_objective(&self) -> f64 {
        0.5 * linalg::dot(self.y, self.y)
    }

    /// Least squares on these columns, in rising order; of several answers the one of least norm.
    fn refit(&self, support: Vec<usize>, passes: usize) -> (Model, Vec<f64>) {
        let (rows, k) = (self.rows, support.len());
        let mut kept = Vec::with_capacity(rows * k);
        support.iter().for_each(|&j| kept.extend_from_slice(self.column(j)));
        let kept = Matrix::from_columns(rows, k, kept);
        let coefficients = if k <= rows {
            let right: Vec<f64> = (0..k).map(|l| linalg::dot(kept.column(l), self.y)).collect();
            solve_symmetric(&kept.transposed_times(&kept), &right)
        } else {
            let dual = solve_symmetric(&kept.times_transposed(&kept), self.y);
            (0..k).map(|l| linalg::dot(kept.column(l), &dual)).collect()
        };
        let mut residual = self.y.to_vec();
        for (l, c) in coefficients.iter().enumerate() {
            kernels::axpy(-c, kept.column(l), &mut residual);
        }
        let objective = 0.5 * linalg::dot(&residual, &residual);
        (Model { support, coefficients, objective, passes }, residual)
    }
}

/// A model of some atoms, fitted by least squares.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// The chosen columns, rising.
    pub support: Vec<usize>,
    /// Their coefficients.
    pub coefficients: Vec<f64>,
    /// ½‖y − Xβ‖².
    pub objective: f64,
    /// Products Φᵀr that the method had taken when it reached this model.
    pub passes: usize,
}

impl Model {
    /// The coefficients as a vector of this length.
    ///
    /// # Errors
    /// When the support does not fit into it.
    pub fn vector(&self, dim: usize) -> Result<SparseVec, Error> {
        SparseVec::new(dim, self.support.clone(), self.coefficients.clone())
    }
}

/// The model of a path with at most k atoms that fits best. A path of [`omp`] or [`forward_regression`]
/// ends early where the fit is perfect.
pub fn at_most(path: &[Model], k: usize) -> Option<&Model> {
    let small = path.iter().filter(|m| m.support.len() <= k);
    small.min_by(|a, b| a.objective.total_cmp(&b.objective))
}
