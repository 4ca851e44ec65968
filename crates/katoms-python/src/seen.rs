//! The entries of a matrix that were seen: an array with NaN where nothing was, or places and values.

use katoms::Error;
use katoms::linalg::kernels::Real;
use katoms_estimate::Observed;
use numpy::{Element, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::error::raised;

/// Entries as the Python side hands them over.
#[derive(FromPyObject)]
pub enum Seen<'py> {
    /// An array in single precision; NaN is what was not seen.
    Single(PyReadonlyArray2<'py, f32>),
    /// The same in double precision.
    Double(PyReadonlyArray2<'py, f64>),
    /// Places and values.
    Listed(Listed<'py>),
}

/// Shape, rows, columns, values.
#[derive(FromPyObject)]
pub struct Listed<'py>(
    (usize, usize),
    PyReadonlyArray1<'py, usize>,
    PyReadonlyArray1<'py, usize>,
    PyReadonlyArray1<'py, f64>,
);

/// Shape, rows, columns and values, in the order of the input.
type Places = ((usize, usize), Vec<usize>, Vec<usize>, Vec<f64>);

impl Seen<'_> {
    /// What was seen, each place once. At least one entry is needed.
    pub fn observed(&self) -> PyResult<Observed> {
        let (shape, rows, columns, values) = self.places()?;
        Observed::new(shape, &rows, &columns, &values).map_err(raised)
    }

    /// The shape, and what was seen if anything was.
    pub fn if_any(&self) -> PyResult<((usize, usize), Option<Observed>)> {
        let (shape, rows, columns, values) = self.places()?;
        if rows.is_empty() && columns.is_empty() && values.is_empty() {
            return Ok((shape, None));
        }
        let observed = Observed::new(shape, &rows, &columns, &values).map_err(raised)?;
        Ok((shape, Some(observed)))
    }

    fn places(&self) -> PyResult<Places> {
        match self {
            Self::Single(array) => present(array).map_err(raised),
            Self::Double(array) => present(array).map_err(raised),
            Self::Listed(Listed(shape, rows, columns, values)) => {
                Ok((*shape, rows.as_slice()?.to_vec(), columns.as_slice()?.to_vec(), values.as_slice()?.to_vec()))
            }
        }
    }
}

/// All entries that are not NaN, row by row.
fn present<T: Element + Real>(array: &PyReadonlyArray2<'_, T>) -> Result<Places, Error> {
    let shape = (array.shape()[0], array.shape()[1]);
    let (mut rows, mut columns, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for ((row, column), &value) in array.as_array().indexed_iter() {
        let value: f64 = value.to_f64();
        if value.is_infinite() {
            return Err(Error::NotFinite { what: "matrix", row, column, value });
        }
        if !value.is_nan() {
            rows.push(row);
            columns.push(column);
            values.push(value);
        }
    }
    Ok((shape, rows, columns, values))
}
