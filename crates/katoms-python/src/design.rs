//! What Python calls a matrix, as a design. Dense arrays of either order and the arrays of a sparse matrix are borrowed.

use katoms::operator::{AnyDesign, Csc, Dense, MatrixFree};
use numpy::{Element, PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::error::{KatomsError, raised};
use crate::job::Ended;

/// A matrix as the Python side hands it over.
#[derive(FromPyObject)]
pub enum Matrix<'py> {
    /// An array in single precision, contiguous in either order.
    Single(PyReadonlyArray2<'py, f32>),
    /// An array in double precision, contiguous in either order.
    Double(PyReadonlyArray2<'py, f64>),
    /// Compressed sparse columns.
    Columns(Columns<'py>),
    /// Functions in place of a matrix.
    Operator(Operator),
}

/// SciPy's arrays of a CSC matrix: shape, `indptr`, `indices`, `data`.
#[derive(FromPyObject)]
pub struct Columns<'py>(
    (usize, usize),
    PyReadonlyArray1<'py, usize>,
    PyReadonlyArray1<'py, u32>,
    PyReadonlyArray1<'py, f64>,
);

/// A shape, a function for A·x and one for Aᵀ·r.
#[derive(FromPyObject)]
pub struct Operator((usize, usize), Py<PyAny>, Py<PyAny>);

impl Matrix<'_> {
    /// The design. What the functions of an operator raise is kept in `ended`.
    pub fn design(&self, ended: &Ended) -> PyResult<AnyDesign<'_>> {
        match self {
            Self::Single(array) => dense(array).map(AnyDesign::from),
            Self::Double(array) => dense(array).map(AnyDesign::from),
            Self::Columns(Columns(shape, starts, indices, values)) => {
                Csc::new(shape.0, shape.1, starts.as_slice()?, indices.as_slice()?, values.as_slice()?)
                    .map(AnyDesign::from)
                    .map_err(raised)
            }
            Self::Operator(Operator(shape, forward, backward)) => {
                let (forward, backward) = (product(forward, ended), product(backward, ended));
                MatrixFree::new(*shape, forward, backward).map(AnyDesign::from).map_err(raised)
            }
        }
    }
}

fn dense<'a, T>(array: &'a PyReadonlyArray2<'_, T>) -> PyResult<Dense<'a, T>>
where
    T: Element + katoms::linalg::kernels::Real,
{
    let (rows, columns) = (array.shape()[0], array.shape()[1]);
    let data = array.as_slice()?;
    // A matrix of one row or column has both orders.
    let made = if array.is_c_contiguous() {
        Dense::row_major(data, rows, columns)
    } else {
        Dense::column_major(data, rows, columns)
    };
    made.map_err(raised)
}

/// A product that Python computes. Where it fails the error is kept, and this and all later results are NaN, which ends
/// the fit.
fn product(function: &Py<PyAny>, ended: &Ended) -> impl Fn(&[f64], &mut [f64]) + Send + Sync + 'static {
    let (function, ended) = (Python::attach(|py| function.clone_ref(py)), ended.clone());
    move |x, out| {
        if ended.is_ended() {
            out.fill(f64::NAN);
            return;
        }
        let done = Python::attach(|py| {
            let answer = function.bind(py).call1((PyArray1::from_slice(py, x),))?;
            let answer: PyReadonlyArray1<'_, f64> = answer.extract()?;
            let answer = answer.as_slice()?;
            if answer.len() != out.len() {
                let (found, expected) = (answer.len(), out.len());
                let message = format!("a product with the operator has length {found}; {expected} is needed");
                return Err(KatomsError::new_err(message));
            }
            out.copy_from_slice(answer);
            Ok(())
        });
        if let Err(error) = done {
            ended.keep(error);
            out.fill(f64::NAN);
        }
    }
}
