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

/// Places and values of some entries, and the shape of the whole.
pub struct Places {
    pub shape: (usize, usize),
    pub rows: Vec<usize>,
    pub columns: Vec<usize>,
    pub values: Vec<f64>,
}

impl Seen<'_> {
    /// What was seen, each place once. At least one entry is needed.
    pub fn observed(&self) -> PyResult<Observed> {
        let Places { shape, rows, columns, values } = self.places()?;
        Observed::new(shape, &rows, &columns, &values).map_err(raised)
    }

    /// What was seen, in the order of the input.
    pub fn places(&self) -> PyResult<Places> {
        match self {
            Self::Single(array) => present(array).map_err(raised),
            Self::Double(array) => present(array).map_err(raised),
            Self::Listed(Listed(shape, rows, columns, values)) => Ok(Places {
                shape: *shape,
                rows: rows.as_slice()?.to_vec(),
                columns: columns.as_slice()?.to_vec(),
                values: values.as_slice()?.to_vec(),
            }),
        }
    }
}

/// All entries that are not NaN, row by row.
fn present<T: Element + Real>(array: &PyReadonlyArray2<'_, T>) -> Result<Places, Error> {
    let shape = (array.shape()[0], array.shape()[1]);
    let mut places = Places { shape, rows: Vec::new(), columns: Vec::new(), values: Vec::new() };
    for ((row, column), &value) in array.as_array().indexed_iter() {
        let value: f64 = value.to_f64();
        if value.is_infinite() {
            return Err(Error::NotFinite { what: "matrix", row, column, value });
        }
        if !value.is_nan() {
            places.rows.push(row);
            places.columns.push(column);
            places.values.push(value);
        }
    }
    Ok(places)
}
