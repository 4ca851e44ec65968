//! Growing a model atom by atom, each size polished by exchanges: the path over k of a quadratic.

use super::Quadratic;
use super::detours::shrink;
use super::pursuit::Pursuit;
use super::swaps::{IMPROVES, Polish};
use super::tableau::{Missing, Swaps, Tableau};
use crate::set::Atoms;
use crate::space::{IndexSet, SparseVec};

/// The best model of one size so far.
#[derive(Debug, Clone)]
pub(super) struct Grown {
    pub point: SparseVec,
    chosen: Vec<usize>,
    /// −∇f at the point.
    pub slopes: Vec<f64>,
    pub objective: f64,
    pub swaps: Swaps,
}

/// Who is heard when every size has its model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opinions {
    /// Nobody: for those who want the last size alone.
    None,
    /// OMP: for those who hear of other models of each size, and look at the way back then.
    Omp,
    /// OMP, and the way back from the largest model to the smallest.
    OmpAndBack,
}

/// A model that grows through some sizes. It stops where a column of G is missing and goes on
/// when it was brought.
#[derive(Debug, Clone)]
pub(super) struct Growth<'a> {
    atoms: &'a Atoms,
    kept: &'a IndexSet,
    tableau: Tableau<'a>,
    polish: Option<Polish<'a>>,
    sizes: Vec<usize>,
    /// One for each size that was reached.
    pub models: Vec<Grown>,
    /// Exchanges made.
    pub exchanged: usize,
    /// A model that grows by the correlation with the residual, as OMP's does, and how many sizes it has seen.
    second: Option<(Pursuit, usize)>,
    /// How many sizes the way back has seen; all of them where it is not gone.
    back: usize,
    /// How many sizes the second way up has seen.
    up: usize,
}

impl<'a> Growth<'a> {
    /// From no atom through the rising `sizes`. The columns of what is kept are known.
    pub fn new(
        q: &impl Quadratic,
        atoms: &'a Atoms,
        kept: &'a IndexSet,
        sizes: Vec<usize>,
        opinions: Opinions,
    ) -> Self {
        let tableau = Tableau::new(q, atoms, kept, &[]);
        // Groups have no correlation of their own.
        let asked = opinions != Opinions::None && !tableau.is_grouped();
        let second = asked.then(|| (Pursuit::new(q, kept), 0));
        let back = if opinions == Opinions::OmpAndBack { 1 } else { sizes.len() };
        Self { atoms, kept, tableau, polish: None, sizes, models: Vec::new(), exchanged: 0, second, back, up: 0 }
    }

    /// Goes on to the next size; false when every size has its model.
    pub fn step(&mut self, q: &impl Quadratic) -> Result<bool, Missing> {
        if let Some(&size) = self.sizes.get(self.models.len()) {
            let swaps = self.polished(q, size)?;
            let model = self.model(swaps);
            self.models.push(model);
            return Ok(true);
        }
        if let Some((other, seen)) = self.second.take() {
            return self.hear(q, other, seen);
        }
        // The way back: a larger model without its least useful atoms may beat the smaller one.
        let Some(at) = self.sizes.len().checked_sub(self.back + 1) else { return self.climb(q) };
        shrink(&mut self.tableau, q, self.sizes[at]);
        let swaps = self.polished(q, self.sizes[at])?;
        if self.tableau.objective() < self.models[at].objective {
            self.models[at] = self.model(swaps);
        }
        self.back += 1;
        Ok(true)
    }

    fn model(&self, swaps: Swaps) -> Grown {
        let (point, objective) = (self.tableau.point(), self.tableau.objective());
        Grown { point, chosen: self.tableau.chosen().to_vec(), slopes: self.tableau.slopes(), objective, swaps }
    }

    /// A second opinion: the model that takes in the atom most correlated with the residual, instead of the
    /// one that lowers f most. Where it is better at a size, it is polished and taken. So no model is worse
    /// than OMP's.
    fn hear(&mut self, q: &impl Quadratic, mut other: Pursuit, seen: usize) -> Result<bool, Missing> {
        let Some(&size) = self.sizes.get(seen) else {
            // The way back begins at the largest model, whoever found it.
            if let Some(largest) = self.models.last().filter(|_| self.back < self.sizes.len()) {
                self.tableau = Tableau::new(q, self.atoms, self.kept, &largest.chosen);
            }
            return Ok(true);
        };
        let grown = other.grow(q, self.atoms, size);
        let better = other.objective < self.models[seen].objective * (1.0 - IMPROVES);
        let swaps = grown.and_then(|()| {
            if better && self.polish.is_none() {
                self.tableau = Tableau::new(q, self.atoms, self.kept, other.chosen());
            }
            if better { self.polished(q, size).map(Some) } else { Ok(None) }
        });
        self.second = Some((other, seen + usize::from(swaps.is_ok())));
        swaps?.into_iter().for_each(|swaps| self.models[seen] = self.model(swaps));
        Ok(true)
    }

    /// Up again: where the way back has found a model that beats a larger one, the larger one grows from
    /// it. False when every pair was looked at.
    fn climb(&mut self, q: &impl Quadratic) -> Result<bool, Missing> {
        let Some(&size) = self.sizes.get(self.up + 1) else { return Ok(false) };
        let (smaller, larger) = (&self.models[self.up], &self.models[self.up + 1]);
        if smaller.objective < larger.objective {
            if self.polish.is_none() {
                self.tableau = Tableau::new(q, self.atoms, self.kept, &smaller.chosen);
            }
            let swaps = self.polished(q, size)?;
            if self.tableau.objective() < self.models[self.up + 1].objective {
                self.models[self.up + 1] = self.model(swaps);
            }
        }
        self.up += 1;
        Ok(true)
    }

    fn polished(&mut self, q: &impl Quadratic, size: usize) -> Result<Swaps, Missing> {
        let polish = self.polish.get_or_insert_with(|| Polish::single(self.atoms, self.kept, size));
        let swaps = polish.advance(q, &mut self.tableau)?;
        self.exchanged += polish.made;
        self.polish = None;
        Ok(swaps)
    }
}
