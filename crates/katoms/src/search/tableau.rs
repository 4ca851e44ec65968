//! A model of some atoms on a [`Sweep`]: atoms come in and leave. What others would bring is told in `exchanges`.

use super::boxed::Boxed;
use super::quadratic::Quadratic;
use super::swap::Swap;
use super::sweep::{Strip, Sweep};
use crate::linalg::parallel;
use crate::linalg::{Matrix, dot, inverse_symmetric, top_k};
use crate::set::Atoms;
use crate::space::{IndexSet, SparseVec};

/// A model of some atoms.
#[derive(Debug, Clone)]
pub(crate) struct Tableau<'a> {
    pub(super) atoms: &'a Atoms,
    pub(super) chosen: Vec<usize>,
    /// How many of the chosen atoms a coordinate belongs to.
    pub(super) held: Vec<u32>,
    /// Coordinates of chosen atoms that depend on the others.
    waiting: Vec<usize>,
    pub(super) sweep: Sweep,
    /// The residual covariances of the coordinates of each atom, column after column. Single coordinates need none.
    pub(super) blocks: Option<Vec<Vec<f64>>>,
    /// The same model within bounds, which then answers.
    pub(super) boxed: Option<Boxed<'a>>,
}

/// A model without its quadratic.
#[derive(Debug)]
pub(crate) struct Detached {
    chosen: Vec<usize>,
    held: Vec<u32>,
    waiting: Vec<usize>,
    sweep: Sweep,
}

/// An atom about to leave: its positions in S, Γ⁻¹, Γ⁻¹·x_a and how much f rises. Or none. Where there are several
/// responses, an atom has one position, and x_a is a number for each of them.
#[derive(Default)]
pub(super) struct Leaving {
    pub positions: Vec<usize>,
    pub precision: Vec<f64>,
    pub pull: Vec<f64>,
    pub cost: f64,
}

impl<'a> Tableau<'a> {
    /// The model of these atoms and of what is always in.
    pub fn new(q: &'a dyn Quadratic, atoms: &'a Atoms, kept: &IndexSet, chosen: &[usize]) -> Self {
        let boxed = Boxed::new(q, atoms, kept, chosen);
        let (held, mut coordinates) = held(q, atoms, kept, chosen);
        if boxed.is_some() {
            coordinates.clear();
        }
        let sweep = Sweep::at(q, &coordinates);
        let waiting = coordinates.iter().copied().filter(|&j| sweep.position[j].is_none()).collect();
        let mut tableau = Self { atoms, chosen: chosen.to_vec(), held, waiting, sweep, blocks: None, boxed };
        tableau.take_blocks(q);
        tableau
    }

    /// Becomes the first of some models in which coordinates do not depend on each other and f is below `most`, and tells
    /// which; where there are no bounds. They are tried side by side: the first is to name all coordinates of the others whose
    /// columns may not be at hand.
    pub fn move_below(
        &mut self,
        q: &dyn Quadratic,
        kept: &IndexSet,
        models: &[Vec<usize>],
        most: f64,
    ) -> Option<usize> {
        let mut all: Vec<(Vec<u32>, Vec<usize>)> =
            models.iter().map(|chosen| held(q, self.atoms, kept, chosen)).collect();
        q.prepare(&all.first()?.1);
        let moves = parallel::map(all.len(), &|at| self.sweep.toward(q, &all[at].1, most));
        let (at, moved) = moves.into_iter().enumerate().find_map(|(at, moved)| Some((at, moved?)))?;
        self.sweep.follow(q, moved);
        (self.chosen, self.held) = (models[at].clone(), all.swap_remove(at).0);
        self.waiting.clear();
        self.take_blocks(q);
        Some(at)
    }

    /// The minimum over these atoms and what is always in, and nothing else.
    pub fn minimum(q: &'a dyn Quadratic, atoms: &'a Atoms, kept: &IndexSet, chosen: &[usize]) -> SparseVec {
        let (held, coordinates) = held(q, atoms, kept, chosen);
        let alone = if q.bounds().is_none() { Sweep::minimum(q, &coordinates, f64::INFINITY) } else { None };
        let Some(sweep) = alone else { return Self::new(q, atoms, kept, chosen).point() };
        let (chosen, waiting) = (chosen.to_vec(), Vec::new());
        Self { atoms, chosen, held, waiting, sweep, blocks: None, boxed: None }.point()
    }

    /// The model alone, while its quadratic and its atoms become more.
    pub fn detached(self) -> Detached {
        Detached { chosen: self.chosen, held: self.held, waiting: self.waiting, sweep: self.sweep }
    }

    /// A model on a quadratic and atoms that have become more: without bounds.
    pub fn attached(model: Detached, q: &'a dyn Quadratic, atoms: &'a Atoms) -> Self {
        let Detached { chosen, mut held, waiting, sweep } = model;
        held.resize(q.dim(), 0);
        let mut tableau = Self { atoms, chosen, held, waiting, sweep, blocks: None, boxed: None };
        tableau.sweep.complete(q);
        tableau.take_blocks(q);
        tableau
    }

    /// Coordinates need no blocks, but only where each atom has the number of its coordinate.
    fn take_blocks(&mut self, q: &dyn Quadratic) {
        let atoms = self.atoms;
        let plain = |atom: usize| atoms.members(atom).iter().all(|&j| j == atom);
        if self.boxed.is_none() && (atoms.len() != q.dim() || !(0..atoms.len()).all(plain)) {
            self.blocks = Some(self.residual_blocks(q));
        }
    }

    /// G_JJ − B_J·G_SS·B_Jᵀ for every atom J: what S leaves of the block. O(Σ|J|²·|S|).
    fn residual_blocks(&self, q: &dyn Quadratic) -> Vec<Vec<f64>> {
        q.prepare_blocks(self.atoms);
        let columns: Vec<&[f64]> = self.sweep.inside.iter().map(|&j| q.column(j)).collect();
        let one = |atom: usize| {
            let members = self.atoms.members(atom);
            let mut block = q.block(atom, members);
            for (b, &j) in members.iter().enumerate() {
                for (p, column) in columns.iter().enumerate() {
                    let seen = self.sweep.regression(j, p);
                    for (a, &i) in members.iter().enumerate() {
                        block[b * members.len() + a] -= seen * column[i];
                    }
                }
            }
            block
        };
        parallel::map(self.atoms.len(), &one)
    }

    /// The atoms, in the order in which they came.
    pub fn chosen(&self) -> &[usize] {
        &self.chosen
    }

    /// f at the minimum over these atoms.
    pub fn objective(&self) -> f64 {
        self.boxed.as_ref().map_or(self.sweep.objective, Boxed::objective)
    }

    /// The minimum over these atoms; of several responses the values of each coordinate one after the other.
    pub fn point(&self) -> SparseVec {
        if let Some(boxed) = &self.boxed {
            return boxed.point();
        }
        let responses = self.sweep.responses;
        let values = self.sweep.inside.iter().zip(self.sweep.values.chunks(responses));
        let zeros = vec![0.0; responses];
        self.point_of(values.chain(self.waiting.iter().map(|j| (j, &zeros[..]))))
    }

    /// The point with these values of coordinates, and zeros elsewhere.
    fn point_of<'v>(&self, values: impl Iterator<Item = (&'v usize, &'v [f64])>) -> SparseVec {
        let responses = self.sweep.responses;
        let of = |(j, own): (&usize, &'v [f64])| {
            let first = j * responses;
            own.iter().enumerate().map(move |(response, value)| (first + response, *value))
        };
        let mut entries: Vec<(usize, f64)> = values.flat_map(of).collect();
        entries.sort_by_key(|e| e.0);
        let (indices, values) = entries.into_iter().unzip();
        SparseVec::sorted(self.held.len() * responses, indices, values)
    }

    /// The minimum without one of them. O(k²).
    pub fn point_without(&self, q: &dyn Quadratic, atom: usize) -> SparseVec {
        if let Some(boxed) = &self.boxed {
            return boxed.point_without(atom);
        }
        if !self.waiting.is_empty() {
            let mut without = self.clone();
            without.remove(q, atom);
            return without.point();
        }
        let leaving = self.leaving(atom);
        let (responses, mut values) = (self.sweep.responses, self.sweep.values.clone());
        for (values, row) in values.chunks_mut(responses).zip(&self.sweep.inverse) {
            for (&p, pull) in leaving.positions.iter().zip(leaving.pull.chunks(responses)) {
                values.iter_mut().zip(pull).for_each(|(value, pull)| *value -= row[p] * pull);
            }
        }
        let inside = self.sweep.inside.iter().zip(values.chunks(responses)).enumerate();
        self.point_of(inside.filter(|(p, _)| !leaving.positions.contains(p)).map(|(_, entry)| entry))
    }

    /// −∇f at the minimum, in the same order.
    pub fn slopes(&self) -> Vec<f64> {
        let own = |strip: &'_ Strip| {
            (0..strip.len()).flat_map(|i| strip.slopes[i..].iter().step_by(strip.len())).copied().collect::<Vec<_>>()
        };
        self.sweep.strips.iter().flat_map(own).collect()
    }

    /// Lets an atom in.
    pub fn choose(&mut self, q: &dyn Quadratic, atom: usize) {
        self.chosen.push(atom);
        if let Some(boxed) = &mut self.boxed {
            return boxed.choose(&self.chosen);
        }
        q.prepare(self.atoms.members(atom));
        for &j in self.atoms.members(atom) {
            self.held[j] += 1;
            if self.held[j] == 1 && !self.enter(q, j) {
                self.waiting.push(j);
            }
        }
    }

    /// Takes an atom out, with the coordinates that no other chosen atom holds.
    pub fn remove(&mut self, q: &dyn Quadratic, atom: usize) {
        self.chosen.retain(|&other| other != atom);
        if let Some(boxed) = &mut self.boxed {
            return boxed.choose(&self.chosen);
        }
        for &j in self.atoms.members(atom) {
            self.held[j] -= 1;
            if self.held[j] > 0 {
                continue;
            }
            self.waiting.retain(|&other| other != j);
            if let Some(position) = self.sweep.position[j] {
                let (seen, corner) = self.sweep.leave(position);
                self.update_blocks(&seen, 1.0 / corner);
            }
        }
        // What depended on the coordinates that left may be independent now.
        let waiting = std::mem::take(&mut self.waiting);
        self.waiting = waiting.into_iter().filter(|&j| !self.enter(q, j)).collect();
    }

    fn enter(&mut self, q: &dyn Quadratic, j: usize) -> bool {
        let entered = self.sweep.enter(q, j);
        if let Some((residual, pivot)) = &entered {
            self.update_blocks(residual, -1.0 / pivot);
        }
        entered.is_some()
    }

    /// R_J += weight·v_J·v_Jᵀ for every atom.
    fn update_blocks(&mut self, v: &[f64], weight: f64) {
        for (atom, block) in self.blocks.iter_mut().flatten().enumerate() {
            let members = self.atoms.members(atom);
            for (column, &j) in block.chunks_mut(members.len().max(1)).zip(members) {
                if v[j] != 0.0 {
                    column.iter_mut().zip(members).for_each(|(r, &i)| *r += weight * v[j] * v[i]);
                }
            }
        }
    }

    /// Exchanges two atoms.
    pub fn swap(&mut self, q: &dyn Quadratic, swap: Swap) {
        let plain = self.blocks.is_none() && self.boxed.is_none() && self.waiting.is_empty();
        if let (&[out], &[into]) = (self.atoms.members(swap.out), self.atoms.members(swap.into))
            && plain
            && self.sweep.is_large()
            && self.sweep.swap(q, out, into).is_some()
        {
            self.chosen.retain(|&other| other != swap.out);
            self.chosen.push(swap.into);
            (self.held[out], self.held[into]) = (0, 1);
            return;
        }
        self.remove(q, swap.out);
        self.choose(q, swap.into);
    }

    /// An atom with the coordinates that no other chosen atom holds.
    pub(super) fn leaving(&self, atom: usize) -> Leaving {
        let alone = self.atoms.members(atom).iter().filter(|&&j| self.held[j] == 1);
        let positions: Vec<usize> = alone.filter_map(|&j| self.sweep.position[j]).collect();
        let values: Vec<f64> = positions.iter().flat_map(|&p| self.sweep.values_at(p)).copied().collect();
        let m = positions.len();
        let precision = if let [p] = positions[..] {
            vec![1.0 / self.sweep.inverse[p][p]]
        } else {
            let corner = Matrix::from_fn(m, m, |a, b| self.sweep.inverse[positions[a]][positions[b]]);
            inverse_symmetric(&corner, 0.0).map_or_else(|| vec![0.0; m * m], Matrix::into_data)
        };
        let pull: Vec<f64> = match positions[..] {
            [_] => values.iter().map(|value| precision[0] * value).collect(),
            _ => precision.chunks(m.max(1)).map(|row| dot(row, &values)).collect(),
        };
        let cost = 0.5 * dot(&values, &pull);
        Leaving { positions, precision, pull, cost }
    }

    /// How much f rises when each chosen atom is taken out, in the order of `chosen`.
    pub fn removal_costs(&self) -> Vec<f64> {
        if let Some(boxed) = &self.boxed {
            return boxed.removal_costs();
        }
        self.chosen.iter().map(|&atom| self.leaving(atom).cost).collect()
    }

    /// The chosen atoms that matter least, the least first.
    pub fn weakest(&self, count: usize) -> Vec<usize> {
        let costs: Vec<f64> = self.removal_costs().into_iter().map(|cost| -cost).collect();
        let mut weak = if costs.is_empty() { Vec::new() } else { top_k(&costs, count) };
        weak.sort_by(|&a, &b| costs[b].total_cmp(&costs[a]));
        weak.into_iter().map(|place| self.chosen[place]).collect()
    }
}

/// How many of some atoms, and of what is always in, each coordinate belongs to, and those that belong to any.
fn held(q: &dyn Quadratic, atoms: &Atoms, kept: &IndexSet, chosen: &[usize]) -> (Vec<u32>, Vec<usize>) {
    let (mut held, mut coordinates) = (vec![0; q.dim()], Vec::new());
    let members = chosen.iter().flat_map(|&atom| atoms.members(atom));
    for &j in kept.indices().iter().chain(members) {
        if held[j] == 0 {
            coordinates.push(j);
        }
        held[j] += 1;
    }
    (held, coordinates)
}

#[cfg(test)]
mod tests;
