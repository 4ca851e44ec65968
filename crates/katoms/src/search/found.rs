//! What a search by least squares has found.

use super::local_search::{IMPROVES, ROUNDING};
use super::quadratic::Quadratic;
use super::swap::{Swap, Swaps};
use super::tableau::Tableau;
use super::working_set::{Local, WorkingSet};
use crate::space::SparseVec;

/// The best model that was found.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    /// Its atoms, rising.
    pub chosen: Vec<usize>,
    pub point: SparseVec,
    /// −∇f there.
    pub slopes: Vec<f64>,
    /// The best exchange of each of its atoms.
    pub swaps: Swaps,
    /// What an exchange has to gain to be an improvement.
    pub least: f64,
    /// Whether every atom matters far more than any other would.
    pub clear: bool,
    /// The number of all models, where this one is proven to be the best of them.
    pub proven: Option<f64>,
}

impl Found {
    /// What a tableau says.
    pub fn of(q: &dyn Quadratic, tableau: &Tableau<'_>, point: SparseVec, slopes: Vec<f64>) -> Self {
        let swaps = tableau.substitutes();
        let clear = tableau.stands_out(&swaps);
        let least = (IMPROVES * tableau.objective()).max(ROUNDING * q.constant());
        Self { chosen: sorted(tableau.chosen()), point, slopes, swaps, least, clear, proven: None }
    }

    /// Whether an exchange improves the model.
    pub fn improves(&self) -> bool {
        self.swaps.best.first().is_some_and(|swap| swap.gain > self.least)
    }
}

/// All exchanges of a model for atoms of a working set.
pub(super) fn compared_within(set: &WorkingSet, local: &Local<'_>, chosen: &[usize]) -> Found {
    let q = local.on(set);
    found_within(set, &q, &Tableau::new(&q, &set.atoms, &set.kept, &set.places_of(chosen)))
}

/// The same of the model of a tableau.
pub(super) fn found_within(set: &WorkingSet, q: &dyn Quadratic, tableau: &Tableau<'_>) -> Found {
    let slopes = set.outside(&SparseVec::full(&tableau.slopes())).to_dense();
    let found = Found::of(q, tableau, set.outside(&tableau.point()), slopes);
    let number = |place: usize| set.numbers_of(&[place])[0];
    let outside = |swap: &Swap| Swap { out: number(swap.out), into: number(swap.into), gain: swap.gain };
    let best = found.swaps.best.iter().map(outside).collect();
    Found { chosen: set.numbers_of(&found.chosen), swaps: Swaps { best, ..found.swaps }, ..found }
}

/// The same numbers, rising.
pub(super) fn sorted(list: &[usize]) -> Vec<usize> {
    let mut list = list.to_vec();
    list.sort_unstable();
    list
}
