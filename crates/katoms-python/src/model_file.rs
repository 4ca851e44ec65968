//! Model files: the program's own, written and read.

use std::path::{Path, PathBuf};

use katoms_io::{Ask, Column, Missing, Model, Source, Table, Values};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::invalid;

/// Adds what there is to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ModelFile>()?;
    module.add_function(wrap_pyfunction!(save_model, module)?)
}

/// Writes the file of a model, whose fields are JSON already. It appears whole or not at all.
#[pyfunction]
fn save_model(path: PathBuf, text: &[u8]) -> PyResult<()> {
    let model = Model::from_json(&path, text).map_err(invalid)?;
    let text = model.with_schema().to_json().map_err(invalid)?;
    katoms_io::save(&path, text.as_bytes()).map_err(|error| PyOSError::new_err(error.to_string()))
}

/// A model that was read from a file.
#[pyclass(module = "katoms._katoms", frozen)]
pub struct ModelFile {
    model: Model,
    path: PathBuf,
    text: Vec<u8>,
}

/// The values of a column: numbers, or words, of which None is missing.
#[derive(FromPyObject)]
pub enum Given<'py> {
    /// Numbers; NaN is missing.
    Numbers(PyReadonlyArray1<'py, f64>),
    /// Words.
    Words(Vec<Option<String>>),
}

impl Given<'_> {
    fn values(&self) -> PyResult<Values> {
        let given = match self {
            Self::Numbers(numbers) => return Ok(Values::Numbers(numbers.as_slice()?.to_vec())),
            Self::Words(words) => words,
        };
        let mut levels: Vec<&String> = given.iter().flatten().collect();
        levels.sort_unstable();
        levels.dedup();
        let code = |word: &Option<String>| {
            word.as_ref().and_then(|word| levels.binary_search(&word).ok()).map(|code| code as u32)
        };
        let codes = given.iter().map(code).collect();
        Ok(Values::Words { levels: levels.into_iter().cloned().collect(), codes })
    }
}

#[pymethods]
impl ModelFile {
    /// From the bytes of a file; the path is for messages.
    #[new]
    fn new(path: PathBuf, text: &[u8]) -> PyResult<Self> {
        Ok(Self { model: Model::from_json(&path, text).map_err(invalid)?, path, text: text.to_vec() })
    }

    fn __getnewargs__<'py>(&self, py: Python<'py>) -> (&Path, Bound<'py, PyBytes>) {
        (&self.path, PyBytes::new(py, &self.text))
    }

    /// The linear predictions for these columns (of several outputs those of the first, then those of the second), the columns
    /// of the design one after the other, and what a person should know of them. Columns are found by the names that they have in the file.
    #[allow(clippy::type_complexity)] // what Python gets
    fn predict<'py>(
        &self,
        py: Python<'py>,
        columns: Vec<(String, Given<'py>)>,
        rows: usize,
    ) -> PyResult<(Bound<'py, PyArray1<f64>>, Bound<'py, PyArray2<f64>>, Vec<String>)> {
        let columns = columns.into_iter().map(|(name, given)| Ok(Column { name, values: given.values()? }));
        let columns = columns.collect::<PyResult<Vec<_>>>()?;
        let table = Table::new(columns, rows);
        let missing = if self.model.missing == Missing::Mean { Missing::Mean } else { Missing::Refuse };
        let ask = Ask { path: "X".into(), missing, ..Ask::default() };
        let data = self.model.dataset(Source::Table(table), &ask).map_err(invalid)?;
        let predicted = PyArray1::from_vec(py, self.model.predict(&data).map_err(invalid)?);
        let design = PyArray1::from_vec(py, self.model.design(&data)).reshape((self.model.coefficients.len(), rows))?;
        Ok((predicted, design, data.notes))
    }
}
