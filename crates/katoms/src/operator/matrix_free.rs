//! An operator given by two closures.

use std::fmt;
use std::sync::Arc;

use super::moments::corrected;
use super::{ColumnMoments, LinearOperator, Moments, is_its_own_base};
use crate::error::{Error, check_range};
use crate::linalg::times_power_of_two;
use crate::space::{Covector, IndexSet, SparseVec};

type Product = Arc<dyn Fn(&[f64], &mut [f64]) + Send + Sync>;

/// A·x and Aᵀ·r as functions of dense vectors: a fast transform, a simulation, a remote machine.
///
/// ```
/// use katoms::operator::{LinearOperator, MatrixFree};
/// // running sums of three numbers, and their adjoint
/// let sums = MatrixFree::new(
///     (3, 3),
///     |x, out| { let mut s = 0.0; for i in 0..3 { s += x[i]; out[i] = s; } },
///     |r, out| { let mut s = 0.0; for i in (0..3).rev() { s += r[i]; out[i] = s; } },
/// )?;
/// let mut g = sums.new_covector();
/// sums.adjoint(&[1.0, 1.0, 1.0], &mut g);
/// assert_eq!(g, [3.0, 2.0, 1.0]);
/// # Ok::<(), katoms::Error>(())
/// ```
#[derive(Clone)]
pub struct MatrixFree {
    rows: usize,
    columns: usize,
    forward: Product,
    backward: Product,
}

impl MatrixFree {
    /// An operator of the shape (outputs, inputs). `forward(x, out)` writes A·x, `backward(r, out)`
    /// writes Aᵀ·r; each fills all of `out`.
    ///
    /// # Errors
    /// When the shape is empty.
    pub fn new(
        (rows, columns): (usize, usize),
        forward: impl Fn(&[f64], &mut [f64]) + Send + Sync + 'static,
        backward: impl Fn(&[f64], &mut [f64]) + Send + Sync + 'static,
    ) -> Result<Self, Error> {
        check_range("the number of outputs", rows, 1, usize::MAX)?;
        check_range("the number of inputs", columns, 1, usize::MAX)?;
        Ok(Self { rows, columns, forward: Arc::new(forward), backward: Arc::new(backward) })
    }

    /// The operator whose column j is 2^`exponents[j]` times what it is.
    pub(super) fn scaled(&self, exponents: &[i32]) -> Self {
        let exponents: Arc<[i32]> = exponents.into();
        let scale = |exponents: &[i32], values: &mut [f64]| {
            values.iter_mut().zip(exponents).for_each(|(v, &e)| *v = times_power_of_two(*v, e));
        };
        let (forward, backward) = (self.forward.clone(), self.backward.clone());
        let (before, after) = (exponents.clone(), exponents);
        let forward = move |x: &[f64], out: &mut [f64]| {
            let mut x = x.to_vec();
            scale(&before, &mut x);
            forward(&x, out);
        };
        let backward = move |r: &[f64], out: &mut [f64]| {
            backward(r, out);
            scale(&after, out);
        };
        Self { rows: self.rows, columns: self.columns, forward: Arc::new(forward), backward: Arc::new(backward) }
    }
}

impl fmt::Debug for MatrixFree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MatrixFree({}x{})", self.rows, self.columns)
    }
}

impl LinearOperator for MatrixFree {
    type Point = SparseVec;
    type Covector = Vec<f64>;
    is_its_own_base!();

    fn domain(&self) -> usize {
        self.columns
    }
    fn n_outputs(&self) -> usize {
        self.rows
    }
    fn new_covector(&self) -> Vec<f64> {
        vec![0.0; self.columns]
    }
    /// One call of the forward closure, whatever x is.
    fn apply(&self, x: &SparseVec, out: &mut [f64]) {
        (self.forward)(&x.to_dense(), out);
    }
    fn apply_covector(&self, g: &Vec<f64>, out: &mut [f64]) {
        self.apply(&SparseVec::full(g), out);
    }
    fn adjoint(&self, r: &[f64], out: &mut Vec<f64>) {
        out.resize(self.columns, 0.0);
        (self.backward)(r, out);
    }
    /// One call of the backward closure, whatever `t` is.
    fn adjoint_on(&self, r: &[f64], t: &IndexSet) -> SparseVec {
        let mut g = self.new_covector();
        (self.backward)(r, &mut g);
        g.on(t)
    }
    fn has_cheap_columns(&self) -> bool {
        false
    }
}

/// One call of the forward closure for each column.
impl ColumnMoments for MatrixFree {
    fn moments(&self, weights: &[f64]) -> Moments {
        let total: f64 = weights.iter().sum();
        let (mut unit, mut column) = (vec![0.0; self.columns], vec![0.0; self.rows]);
        let mut moments = Moments { means: Vec::new(), variances: Vec::new() };
        for j in 0..self.columns {
            unit[j] = 1.0;
            (self.forward)(&unit, &mut column);
            unit[j] = 0.0;
            let average =
                |f: &dyn Fn(f64) -> f64| weights.iter().zip(&column).map(|(w, v)| w * f(*v)).sum::<f64>() / total;
            let mean = average(&|v| v);
            let (mean, variance) = corrected(mean, average(&|v| v - mean), average(&|v| (v - mean).powi(2)));
            moments.means.push(mean);
            moments.variances.push(variance);
        }
        moments
    }
}
