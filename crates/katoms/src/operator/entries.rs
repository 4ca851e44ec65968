//! The observed entries of a matrix: completion.

use std::sync::Arc;

use super::{LinearOperator, add_low_rank_part, is_its_own_base};
use crate::error::Error;
use crate::linalg::{Matrix, parallel};
use crate::space::{DeviceEntries, Entrywise, LowRank, MatrixCovector, Pattern, Span};

/// X ↦ its entries at the observed places. Memory: O(observed), never rows × columns.
///
/// ```
/// use katoms::operator::{Entries, LinearOperator};
/// let seen = Entries::new((3, 4), &[0, 2, 1], &[3, 0, 1])?;      // (row, column) of each
/// assert_eq!(seen.n_outputs(), 3);
/// # Ok::<(), katoms::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Entries {
    pattern: Arc<Pattern>,
}

impl Entries {
    /// The entries (`rows[e]`, `columns[e]`) of a matrix of the given shape, in any order.
    ///
    /// # Errors
    /// When lengths disagree, an index is outside or nothing is observed.
    pub fn new(shape: (usize, usize), rows: &[usize], columns: &[usize]) -> Result<Self, Error> {
        Ok(Self { pattern: Arc::new(Pattern::new(shape, rows, columns)?) })
    }

    /// The same, whose products a device computes: [`Pattern::on`].
    #[must_use]
    pub fn on(self, device: Arc<dyn DeviceEntries>) -> Self {
        Self { pattern: Arc::new(Arc::unwrap_or_clone(self.pattern).on(device)) }
    }

    /// Why a call of the device has failed, where one has.
    pub fn failure(&self) -> Option<Error> {
        self.pattern.failure()
    }

    /// The observed places.
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }
}

impl LinearOperator for Entries {
    type Point = LowRank;
    type Covector = MatrixCovector;
    is_its_own_base!();

    fn domain(&self) -> (usize, usize) {
        self.pattern.shape()
    }
    fn n_outputs(&self) -> usize {
        self.pattern.observed()
    }
    fn new_covector(&self) -> MatrixCovector {
        let values = vec![0.0; self.n_outputs()];
        MatrixCovector::new(Entrywise::Observed { pattern: Arc::clone(&self.pattern), values })
    }
    /// O(observed·rank).
    fn apply(&self, x: &LowRank, out: &mut [f64]) {
        self.pattern.gather(&x.left().times(x.core()), x.right(), out);
    }
    fn apply_covector(&self, g: &MatrixCovector, out: &mut [f64]) {
        if let Entrywise::Observed { values, .. } = g.entries() {
            self.pattern.sum_repeated(values, out);
        }
        add_low_rank_part(self, g, out);
    }
    /// O(observed): the residual is the gradient.
    fn adjoint(&self, r: &[f64], out: &mut MatrixCovector) {
        match out.entries_mut() {
            Entrywise::Observed { pattern, values } if Arc::ptr_eq(pattern, &self.pattern) => {
                parallel::fill_parts(values, &|first, out| out.copy_from_slice(&r[first..][..out.len()]));
            }
            other => {
                let values = parallel::copied(r);
                *other = Entrywise::Observed { pattern: Arc::clone(&self.pattern), values };
            }
        }
    }
    fn adjoint_on(&self, r: &[f64], t: &Span) -> LowRank {
        let core: Matrix = t.left().transposed_times(&self.pattern.times(r, t.right()));
        LowRank::from_bases(t.left().clone(), core, t.right().clone())
    }
    fn has_cheap_columns(&self) -> bool {
        false
    }
}
