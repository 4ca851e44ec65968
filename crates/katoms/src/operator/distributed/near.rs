//! Copies of columns that the driver keeps: those of the model, and of what may come into it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::linalg::{kernels, parallel};

/// Bytes of columns that are kept; those that came first leave first.
const MOST: usize = 1 << 28;
/// Rows that one thread adds up at a time: they stay in its cache.
const ROWS: usize = 2048;

/// A column.
#[derive(Debug)]
pub(super) enum Column {
    Single(Vec<f32>),
    Double(Vec<f64>),
}

impl Column {
    fn bytes(&self) -> usize {
        match self {
            Self::Single(values) => size_of_val(values.as_slice()),
            Self::Double(values) => size_of_val(values.as_slice()),
        }
    }

    /// The product with r: the bits that a column of a dense design gives.
    pub fn dot(&self, r: &[f64]) -> f64 {
        match self {
            Self::Single(values) => kernels::dot(values, r),
            Self::Double(values) => kernels::dot(values, r),
        }
    }

    fn add_to(&self, first: usize, factor: f64, out: &mut [f64]) {
        match self {
            Self::Single(values) => kernels::axpy(factor, &values[first..][..out.len()], out),
            Self::Double(values) => kernels::axpy(factor, &values[first..][..out.len()], out),
        }
    }
}

/// out = Σ factor·column, column after column.
pub(super) fn add_up(columns: &[(f64, Arc<Column>)], out: &mut [f64]) {
    parallel::chunks_mut(out, ROWS, &|chunk, out| {
        out.fill(0.0);
        columns.iter().for_each(|(factor, column)| column.add_to(chunk * ROWS, *factor, out));
    });
}

/// The columns by their numbers.
#[derive(Debug, Default)]
pub(super) struct Near(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    columns: BTreeMap<usize, Arc<Column>>,
    /// In the order in which they came.
    order: VecDeque<usize>,
    bytes: usize,
}

impl Near {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A column, if it is here.
    pub fn get(&self, j: usize) -> Option<Arc<Column>> {
        self.kept().columns.get(&j).cloned()
    }

    /// All of these; `None` where one is not here.
    pub fn all(&self, which: &[usize]) -> Option<Vec<Arc<Column>>> {
        let kept = self.kept();
        which.iter().map(|j| kept.columns.get(j).cloned()).collect()
    }

    /// Those that are not here.
    pub fn missing(&self, which: &[usize]) -> Vec<usize> {
        let kept = self.kept();
        which.iter().copied().filter(|j| !kept.columns.contains_key(j)).collect()
    }

    /// Keeps columns. What leaves for them is none of `wanted`.
    pub fn keep(&self, new: Vec<(usize, Column)>, wanted: &[usize]) {
        let mut kept = self.kept();
        for (j, column) in new {
            kept.bytes += column.bytes();
            if let Some(before) = kept.columns.insert(j, Arc::new(column)) {
                kept.bytes -= before.bytes();
            } else {
                kept.order.push_back(j);
            }
        }
        for _ in 0..kept.order.len() {
            if kept.bytes <= MOST {
                break;
            }
            let Some(oldest) = kept.order.pop_front() else { break };
            if wanted.binary_search(&oldest).is_ok() {
                kept.order.push_back(oldest);
            } else if let Some(column) = kept.columns.remove(&oldest) {
                kept.bytes -= column.bytes();
            }
        }
    }
}
