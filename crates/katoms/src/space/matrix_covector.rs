//! The gradient of a function of a matrix: entries, plus possibly a multiple of a point.

use std::sync::Arc;

use super::{Covector, LowRank, Pattern, TangentSpace};
use crate::linalg::{Matrix, Multiply};

/// The entries of a gradient.
#[derive(Debug, Clone, PartialEq)]
pub enum Entrywise {
    /// Values at the observed places, zero elsewhere.
    Observed {
        /// The places.
        pattern: Arc<Pattern>,
        /// The values there, in the pattern's order.
        values: Vec<f64>,
    },
    /// Every entry: the adjoint of a general linear map.
    Dense(Matrix),
}

/// A gradient known by its products with thin matrices. The low-rank part comes from a ridge.
#[derive(Debug, Clone)]
pub struct MatrixCovector {
    entries: Entrywise,
    low_rank: Option<LowRank>,
}

impl MatrixCovector {
    /// A gradient with these entries.
    pub fn new(entries: Entrywise) -> Self {
        Self { entries, low_rank: None }
    }

    /// The entries, to be overwritten by a new pass; forgets the low-rank part.
    pub fn entries_mut(&mut self) -> &mut Entrywise {
        self.low_rank = None;
        &mut self.entries
    }

    /// The entries.
    pub fn entries(&self) -> &Entrywise {
        &self.entries
    }

    /// The part that a ridge has added.
    pub(crate) fn low_rank(&self) -> Option<&LowRank> {
        self.low_rank.as_ref()
    }
}

impl Multiply for MatrixCovector {
    fn shape(&self) -> (usize, usize) {
        match &self.entries {
            Entrywise::Observed { pattern, .. } => pattern.shape(),
            Entrywise::Dense(m) => m.shape(),
        }
    }
    fn times(&self, b: &Matrix) -> Matrix {
        let product = match &self.entries {
            Entrywise::Observed { pattern, values } => pattern.times(values, b),
            Entrywise::Dense(m) => m.times(b),
        };
        match &self.low_rank {
            Some(x) => product.plus(1.0, &x.times(b)),
            None => product,
        }
    }
    fn transposed_times(&self, b: &Matrix) -> Matrix {
        let product = match &self.entries {
            Entrywise::Observed { pattern, values } => pattern.transposed_times(values, b),
            Entrywise::Dense(m) => m.transposed_times(b),
        };
        match &self.low_rank {
            Some(x) => product.plus(1.0, &x.transposed_times(b)),
            None => product,
        }
    }
}

impl Covector<LowRank> for MatrixCovector {
    fn on(&self, t: &TangentSpace) -> LowRank {
        let (mv, mtu) = rayon::join(|| self.times(&t.right()), || self.transposed_times(&t.left()));
        t.project(&mv, &mtu)
    }
    fn add(&mut self, a: f64, x: &LowRank) {
        use super::Point;
        self.low_rank = Some(match &self.low_rank {
            Some(y) => LowRank::combine(1.0, y, a, x),
            None => LowRank::combine(a, x, 0.0, x),
        });
    }
    fn add_covector(&mut self, a: f64, other: &Self) {
        let add = |to: &mut [f64], from: &[f64]| to.iter_mut().zip(from).for_each(|(v, w)| *v += a * w);
        match (&mut self.entries, &other.entries) {
            (Entrywise::Observed { values, .. }, Entrywise::Observed { values: more, .. }) => add(values, more),
            (Entrywise::Dense(entries), Entrywise::Dense(more)) => *entries = entries.plus(a, more),
            _ => unreachable!("the covectors of an operator are all of one kind"),
        }
        if let Some(x) = &other.low_rank {
            self.add(a, x);
        }
    }
}
