//! The paper's bounds, and how many atoms data can carry.

use katoms::method::table::{self, Problem};
use katoms::select::{Sign, phase_transition_k as transition};
use katoms::theory::Conditioning;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{invalid, raised};

/// Adds the functions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(theory, module)?)?;
    module.add_function(wrap_pyfunction!(phase_transition_k, module)?)?;
    module.add_function(wrap_pyfunction!(methods, module)?)
}

/// A momentum, the curvature over 3k atoms, the norms of signal and noise, and the error to be reached.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Setting {
    alpha: f64,
    beta: f64,
    tau: f64,
    signal: f64,
    noise: f64,
    beta_2k: Option<f64>,
    accuracy: f64,
}

/// What the theory says of a setting.
#[pyfunction]
fn theory<'py>(py: Python<'py>, setting: Setting) -> PyResult<Bound<'py, PyDict>> {
    let Setting { alpha, beta, tau, signal, noise, beta_2k, accuracy } = setting;
    let curvature = Conditioning::new(alpha, beta).map_err(invalid)?;
    let contraction = curvature.contraction(tau).map_err(invalid)?;
    let floor = curvature.noise_gain(beta_2k.unwrap_or(beta)).map_err(invalid)? * noise;
    let bound = contraction.bound(signal, floor).map_err(invalid)?;
    let told = PyDict::new(py);
    told.set_item("kappa", curvature.kappa())?;
    told.set_item("xi", curvature.xi())?;
    told.set_item("step", curvature.step())?;
    told.set_item("momentum", curvature.exact_momentum())?;
    told.set_item("momentum_published", curvature.published_momentum())?;
    told.set_item("radius", contraction.spectral_radius())?;
    told.set_item("converges", contraction.converges())?;
    told.set_item("floor", bound.floor())?;
    told.set_item("iterations", bound.iterations_to(accuracy))?;
    told.set_item("iterations_published", bound.published_iterations_to(accuracy))?;
    Ok(told)
}

/// The most atoms that a Gaussian design of this shape carries.
#[pyfunction]
fn phase_transition_k(rows: usize, columns: usize, positive: bool) -> PyResult<usize> {
    let sign = if positive { Sign::Nonnegative } else { Sign::Any };
    transition(rows, columns, sign).map_err(raised)
}

/// (name, the problems that it solves, when to choose it) of every method.
#[pyfunction]
fn methods() -> Vec<(&'static str, Vec<&'static str>, &'static str)> {
    let one = |entry: &table::Entry| (entry.name, entry.problems().map(Problem::words).collect(), entry.when);
    table::entries().iter().map(one).collect()
}
