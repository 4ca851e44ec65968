//! The side of a worker: blocks that it multiplies until nobody asks any more.

use std::collections::BTreeMap;

use katoms::Error;
use katoms::operator::{AnyDesign, Blocks, FirstRead, Worker};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::design::{Matrix, View};
use crate::ended::Ended;
use crate::pool::own;

/// Messages, and which block is told which of them.
type Asked = (Vec<PyBackedBytes>, Vec<(usize, usize)>);

struct Held<'a>(BTreeMap<usize, View<'a>>);

impl Blocks for Held<'_> {
    fn design(&self, block: usize, first: Option<&FirstRead>) -> Result<AnyDesign<'_>, Error> {
        let missing = || Error::Workers { message: format!("block {block} is not here") };
        self.0.get(&block).cloned().ok_or_else(missing)?.design(first)
    }
}

/// Answers for some blocks, by their numbers. `exchange(replies)` hands over the replies to the last messages, None at first,
/// and gives the next ones; None ends the work.
#[pyfunction]
pub fn serve(
    py: Python<'_>,
    blocks: Vec<(usize, Matrix<'_>)>,
    exchange: Bound<'_, PyAny>,
    n_jobs: Option<usize>,
) -> PyResult<()> {
    let ended = Ended::default();
    let views = blocks.iter().map(|(block, matrix)| Ok((*block, matrix.view(&ended)?)));
    let held = Held(views.collect::<PyResult<_>>()?);
    let mut worker = Worker::new(&held);
    // A fit in this process waits for these replies on a thread of the pool that fits share.
    let threads = own(n_jobs)?;
    let mut replies: Option<Vec<Vec<u8>>> = None;
    loop {
        let told =
            replies.take().map(|replies| replies.iter().map(|reply| PyBytes::new(py, reply)).collect::<Vec<_>>());
        let asked: Option<Asked> = exchange.call1((told,))?.extract()?;
        let Some((messages, tasks)) = asked else { return Ok(()) };
        replies = Some(py.detach(|| threads.install(|| worker.reply(&messages, &tasks))));
    }
}
