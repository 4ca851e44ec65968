//! Models of many sizes on a quadratic, each improved by its neighbours.

use std::collections::BTreeMap;

use super::local_search::{IMPROVES, LocalSearch, Model, ROUNDING, Work};
use super::tableau::Tableau;

/// Models of rising sizes: up from the smallest, and back from the largest.
pub(crate) struct SizePath<'a> {
    pub search: LocalSearch<'a>,
    tableau: Tableau<'a>,
    pub models: BTreeMap<usize, Model>,
    /// The sizes that are still to come, the next one last.
    left: Vec<usize>,
}

impl<'a> SizePath<'a> {
    /// Some models may be there already.
    pub fn new(search: LocalSearch<'a>, models: BTreeMap<usize, Model>, sizes: &[usize]) -> Self {
        let left = sizes.iter().chain(sizes.iter().rev().skip(1)).rev().copied().collect();
        Self { search, tableau: search.tableau(&[]), models, left }
    }

    /// The same without the way back.
    pub fn upwards(search: LocalSearch<'a>, sizes: &[usize]) -> Self {
        let left = sizes.iter().rev().copied().collect();
        Self { search, tableau: search.tableau(&[]), models: BTreeMap::new(), left }
    }

    /// On to the next size; false when there is none.
    pub fn step(&mut self, work: &mut Work) -> bool {
        let Some(size) = self.left.pop() else { return false };
        self.search.resize(&mut self.tableau, size, work);
        self.search.exchange(&mut self.tableau, work);
        let here = LocalSearch::model(&self.tableau);
        // Below this, differences are rounding: of perfect fits the first stays.
        let floored = |model: &Model| model.objective.max(ROUNDING * self.search.q.constant().abs());
        match self.models.get(&size) {
            Some(there) if !(floored(&here) < floored(there) * (1.0 - IMPROVES)) => {
                // Another way has led to one as good: on from there.
                if there.chosen != here.chosen {
                    self.tableau = self.search.tableau(&there.chosen);
                }
            }
            _ => {
                self.models.insert(size, here);
            }
        }
        true
    }
}

/// Keeps a model where it is the best of its size.
pub(crate) fn offer(models: &mut BTreeMap<usize, Model>, size: usize, model: Model) {
    if models.get(&size).is_none_or(|other| model.objective < other.objective) {
        models.insert(size, model);
    }
}
