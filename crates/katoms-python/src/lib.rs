//! The thin crate under the Python package `katoms`: arrays in, answers out. No formula stands here.
//!
//! | room | what |
//! |---|---|
//! | `design` | arrays, sparse matrices and operators become designs, without a copy |
//! | `device` | the same of matrices on graphics cards, whoever has them there |
//! | `features`, `validation`, `prediction` | a model, a path; sizes on rows held out; predictions |
//! | `separate` | several responses that share no features |
//! | `serve` | the side of a worker of a distributed design |
//! | `completion`, `recovery` | the other two jobs |
//! | `seen`, `completed_matrix` | entries of a matrix in, predictions out |
//! | `model_file` | model files, the program's own |
//! | `plink` | files of genotypes |
//! | `job` | a long job: without the interpreter's lock, ended by Ctrl-C |
//! | `listener` | callbacks |
//! | `pool` | threads |
//! | `answer` | what an outcome looks like in Python |
//! | `error` | errors as exceptions, in the words of the Python package |

mod answer;
mod completed_matrix;
mod completion;
mod design;
mod device;
mod ended;
mod error;
mod features;
mod job;
mod listener;
mod model_file;
mod plink;
mod pool;
mod prediction;
mod recovery;
mod response;
mod seen;
mod separate;
mod serve;
mod theory;
mod validation;

use std::ffi::OsString;

use pyo3::prelude::*;

/// What the package `katoms` calls.
#[pymodule]
fn _katoms(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    device::register(module)?;
    features::register(module)?;
    separate::register(module)?;
    validation::register(module)?;
    prediction::register(module)?;
    completion::register(module)?;
    recovery::register(module)?;
    theory::register(module)?;
    plink::register(module)?;
    model_file::register(module)?;
    module.add_function(wrap_pyfunction!(pool::cores, module)?)?;
    module.add_function(wrap_pyfunction!(pool::threads, module)?)?;
    module.add_function(wrap_pyfunction!(serve::serve, module)?)?;
    module.add_function(wrap_pyfunction!(main, module)?)
}

/// Runs the program with these arguments, the first of which is its name; `worker` are the words that start its command
/// `worker`, where it may have any. Its exit code.
#[pyfunction]
#[pyo3(signature = (arguments, worker = Vec::new()))]
fn main(py: Python<'_>, arguments: Vec<OsString>, worker: Vec<OsString>) -> u8 {
    py.detach(|| katoms_cli::run_with(arguments, worker))
}
