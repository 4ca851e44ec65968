//! A signal of k entries from few measurements.

use katoms::method::AtomMethod;
use katoms_estimate::{Places, Recovered, Recovery};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::answer;
use crate::design::Matrix;
use crate::ended::Ended;
use crate::error::raised;
use crate::job::{self, Work};

/// Adds the function to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(recover, module)?)
}

/// What is wanted. Without a size, what the shape of A carries.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Sought {
    support_size: Option<usize>,
    noise: Option<f64>,
    method: Option<String>,
    /// Whether entries are complex: A and b are then in real numbers, as [`Places::Complex`] says.
    complex: bool,
}

/// Recovers x of k entries from b = A·x.
#[pyfunction]
fn recover<'py>(
    py: Python<'py>,
    design: Matrix<'py>,
    b: PyReadonlyArray1<'py, f64>,
    sought: Sought,
    work: Work,
) -> PyResult<Bound<'py, PyDict>> {
    let ended = Ended::default();
    let (view, b) = (design.view(&ended)?, b.as_slice()?);
    let entries = if sought.complex { Places::Complex } else { Places::Real };
    let k = match sought.support_size {
        Some(k) => k,
        None => entries.most_entries(view.shape()).map_err(raised)?,
    };
    let method = sought.method.as_deref().map(AtomMethod::named).transpose().map_err(raised)?;
    let how = Recovery { method, noise: sought.noise, stop: work.stop(), entries, ..Recovery::new(k) };
    let (found, error) = job::worked(py, &work, &ended, |listener| {
        katoms_estimate::recover(&view.design(None)?, b, &how, None, listener)
    })?;
    let told = outcome(py, &found, &work)?;
    told.set_item("support_size", k)?;
    told.set_item("beyond", found.is_beyond_transition(k))?;
    told.set_item("status", answer::status(ended.status(found.status)))?;
    told.set_item("ended_by", error)?;
    Ok(told)
}

fn outcome<'py>(py: Python<'py>, found: &Recovered, work: &Work) -> PyResult<Bound<'py, PyDict>> {
    let told = PyDict::new(py);
    told.set_item("x", answer::dense(py, &found.x))?;
    told.set_item("support", answer::indices(py, found.x.indices()))?;
    told.set_item("residual_norm", found.residual_norm)?;
    told.set_item("relative_residual", found.relative_residual)?;
    told.set_item("most_entries", found.most_entries)?;
    told.set_item("iterations", found.iterations)?;
    told.set_item("passes", found.passes)?;
    told.set_item("seconds", found.seconds)?;
    let quality = found.quality.as_ref();
    let quality = quality.map(|quality| answer::quality(py, quality, &found.attempts, &work.names, "")).transpose()?;
    told.set_item("quality", quality)?;
    told.set_item("trace", answer::trace(py, &found.trace)?)?;
    Ok(told)
}
