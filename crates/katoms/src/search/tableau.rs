//! Atoms on a [`Sweep`]: which one to let in, which one to take out, which two to exchange.
//!
//! Everything is exact for the quadratic. After atom a has left, the slope and the room of an atom J
//! outside are ρ_J + T·Γ⁻¹·x_a and R_J + T·Γ⁻¹·Tᵀ, where Γ is a's block of G_SS⁻¹, T is J's rows of a's
//! columns of B, and R_J is the residual covariance of J's coordinates (for one coordinate, its room).
//! So all k·(n − k) exchanges are compared without trying one.

use pulp::bytemuck::cast_slice;
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::boxed::Boxed;
use super::quadratic::Quadratic;
use super::sweep::{Strip, Sweep};
use crate::linalg::{Matrix, solve_symmetric, top_k};
use crate::set::Atoms;
use crate::space::{IndexSet, SparseVec};

/// Multiplications that the comparison of all exchanges of groups may cost; above, the groups that
/// would bring most on top are compared.
const AFFORDABLE: f64 = 4e9;
const SHORTLIST: usize = 32;
/// How many times more than any other atom those of a model that stands out matter.
const CLEAR: f64 = 8.0;
/// Atoms inside whose substitutes are looked for one after the other.
const SHARED: usize = 16;
/// Groups are compared in parallel from this many on.
const PARALLEL_GROUPS: usize = 64;

/// One atom out, one in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Swap {
    pub out: usize,
    pub into: usize,
    /// How much f falls; negative where it rises.
    pub gain: f64,
}

/// The best substitute of each atom inside, and how they were found.
#[derive(Debug, Clone)]
pub(crate) struct Swaps {
    /// The best first.
    pub best: Vec<Swap>,
    /// The number of exchanges that were compared.
    pub compared: usize,
    /// Whether these are all that there are, and compared exactly.
    pub exhaustive: bool,
}

impl Swaps {
    /// The same from a point that is above the minimum over its atoms.
    pub fn above(mut self, rise: f64) -> Self {
        self.best.iter_mut().for_each(|swap| swap.gain += rise.max(0.0));
        self
    }
}

/// A model of some atoms.
#[derive(Debug, Clone)]
pub(crate) struct Tableau<'a> {
    atoms: &'a Atoms,
    chosen: Vec<usize>,
    /// How many of the chosen atoms a coordinate belongs to.
    held: Vec<u32>,
    /// Coordinates of chosen atoms that depend on the others.
    waiting: Vec<usize>,
    sweep: Sweep,
    /// The residual covariances of the coordinates of each group.
    blocks: Option<Blocks>,
    /// The same model within bounds, which then answers.
    boxed: Option<Boxed<'a>>,
}

/// A square matrix for each atom, one after the other.
#[derive(Debug, Clone)]
struct Blocks {
    starts: Vec<usize>,
    values: Vec<f64>,
}

impl<'a> Tableau<'a> {
    /// The model of these atoms and of what is always in.
    pub fn new(q: &'a dyn Quadratic, atoms: &'a Atoms, kept: &IndexSet, chosen: &[usize]) -> Self {
        let boxed = Boxed::new(q, atoms, kept, chosen);
        let mut held = vec![0; q.dim()];
        let mut coordinates: Vec<usize> = Vec::new();
        let members = chosen.iter().flat_map(|&atom| atoms.members(atom));
        for &j in kept.indices().iter().chain(members) {
            if held[j] == 0 {
                coordinates.push(j);
            }
            held[j] += 1;
        }
        if boxed.is_some() {
            coordinates.clear();
        }
        let sweep = Sweep::at(q, &coordinates);
        let waiting = coordinates.iter().copied().filter(|&j| sweep.position(j).is_none()).collect();
        let mut tableau = Self { atoms, chosen: chosen.to_vec(), held, waiting, sweep, blocks: None, boxed };
        // Coordinates need no blocks, but only where each atom has the number of its coordinate.
        let plain = |atom: usize| atoms.members(atom).iter().all(|&j| j == atom);
        if tableau.boxed.is_none() && (atoms.len() != q.dim() || !(0..atoms.len()).all(plain)) {
            tableau.blocks = Some(tableau.residual_blocks(q));
        }
        tableau
    }

    /// G_JJ − B_J·G_SS·B_Jᵀ for every atom J: what S leaves of the block. O(Σ|J|²·|S|).
    fn residual_blocks(&self, q: &dyn Quadratic) -> Blocks {
        let columns: Vec<&[f64]> = self.sweep.inside().iter().map(|&j| q.column(j)).collect();
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
        let blocks: Vec<Vec<f64>> = (0..self.atoms.len()).into_par_iter().map(one).collect();
        let mut starts = vec![0];
        starts.extend(blocks.iter().scan(0, |end, block| {
            *end += block.len();
            Some(*end)
        }));
        Blocks { starts, values: blocks.concat() }
    }

    /// The atoms, in the order in which they came.
    pub fn chosen(&self) -> &[usize] {
        &self.chosen
    }

    /// f at the minimum over these atoms.
    pub fn objective(&self) -> f64 {
        self.boxed.as_ref().map_or_else(|| self.sweep.objective(), Boxed::objective)
    }

    /// The minimum over these atoms.
    pub fn point(&self) -> SparseVec {
        if let Some(boxed) = &self.boxed {
            return boxed.point();
        }
        let mut entries: Vec<(usize, f64)> =
            self.sweep.inside().iter().copied().zip(self.sweep.values().iter().copied()).collect();
        entries.extend(self.waiting.iter().map(|&j| (j, 0.0)));
        in_order(self.held.len(), entries)
    }

    /// The minimum without one of them: x − (G_SS⁻¹)_a·Γ⁻¹·x_a. O(|S|), where removing the atom takes O(n·|S|).
    pub fn point_without(&self, q: &dyn Quadratic, atom: usize) -> SparseVec {
        if let Some(boxed) = &self.boxed {
            return boxed.point_without(atom);
        }
        if !self.waiting.is_empty() {
            // What depends on its coordinates would come in.
            let mut without = self.clone();
            without.remove(q, atom);
            return without.point();
        }
        let Leaving { positions, pull, .. } = self.leaving(atom);
        let gone =
            |p: usize| positions.iter().zip(&pull).map(|(&a, pull)| self.sweep.inverse(p, a) * pull).sum::<f64>();
        let inside = self.sweep.inside().iter().zip(self.sweep.values()).enumerate();
        let left = inside.filter(|(p, _)| !positions.contains(p)).map(|(p, (&j, value))| (j, value - gone(p)));
        in_order(self.held.len(), left.collect())
    }

    /// −∇f at the minimum.
    pub fn slopes(&self) -> Vec<f64> {
        self.sweep.strips().iter().flat_map(|strip| strip.slopes.iter().copied()).collect()
    }

    fn is_chosen(&self, atom: usize) -> bool {
        self.chosen.contains(&atom)
    }

    /// Lets an atom in.
    pub fn choose(&mut self, q: &dyn Quadratic, atom: usize) {
        self.chosen.push(atom);
        if let Some(boxed) = &mut self.boxed {
            return boxed.choose(&self.chosen);
        }
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
            if let Some(position) = self.sweep.position(j) {
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
        let Some(blocks) = &mut self.blocks else { return };
        for atom in 0..self.atoms.len() {
            let members = self.atoms.members(atom);
            let block = &mut blocks.values[blocks.starts[atom]..blocks.starts[atom + 1]];
            for (column, &j) in block.chunks_mut(members.len().max(1)).zip(members) {
                if v[j] != 0.0 {
                    column.iter_mut().zip(members).for_each(|(r, &i)| *r += weight * v[j] * v[i]);
                }
            }
        }
    }

    /// Exchanges two atoms.
    pub fn swap(&mut self, q: &dyn Quadratic, swap: Swap) {
        self.remove(q, swap.out);
        self.choose(q, swap.into);
    }

    /// How much f falls when one more atom comes in, for each atom; −∞ where it cannot.
    pub fn entry_gains(&self) -> Vec<f64> {
        if let Some(boxed) = &self.boxed {
            return boxed.entry_gains();
        }
        if self.blocks.is_some() {
            let gain = |atom: usize| {
                let members = self.free_members(atom);
                if self.is_chosen(atom) || members.is_empty() {
                    return f64::NEG_INFINITY;
                }
                self.quadratic_gain(atom, &members, None)
            };
            return (0..self.atoms.len()).into_par_iter().with_min_len(PARALLEL_GROUPS).map(gain).collect();
        }
        let mut gains = vec![f64::NEG_INFINITY; self.atoms.len()];
        for strip in self.sweep.strips() {
            for (i, ((slope, room), floor)) in strip.slopes.iter().zip(&strip.room).zip(&strip.floor).enumerate() {
                if room > floor && !self.atoms.members(strip.first + i).is_empty() {
                    gains[strip.first + i] = 0.5 * slope * slope / room;
                }
            }
        }
        gains
    }

    /// The coordinates that an atom would bring, by their place in it.
    fn free_members(&self, atom: usize) -> Vec<usize> {
        let members = self.atoms.members(atom);
        (0..members.len()).filter(|&a| self.held[members[a]] == 0).collect()
    }

    /// ½·ρᵀR⁻¹ρ of an atom's free coordinates, after another atom has left or as things are.
    fn quadratic_gain(&self, atom: usize, free: &[usize], without: Option<&Leaving>) -> f64 {
        let Some(blocks) = &self.blocks else { return f64::NEG_INFINITY };
        let members = self.atoms.members(atom);
        if let [alone] = free {
            let room = blocks.values[blocks.starts[atom] + alone * (members.len() + 1)];
            return self.single_gain(members[*alone], room, without);
        }
        let block = &blocks.values[blocks.starts[atom]..blocks.starts[atom + 1]];
        let mut slopes: Vec<f64> = free.iter().map(|&a| self.sweep.slope(members[a])).collect();
        let mut room = Matrix::from_fn(free.len(), free.len(), |a, b| block[free[b] * members.len() + free[a]]);
        if let Some(leaving) = without {
            let seen = Matrix::from_fn(free.len(), leaving.positions.len(), |a, p| {
                self.sweep.regression(members[free[a]], leaving.positions[p])
            });
            let shift = seen.times(&Matrix::from_columns(leaving.pull.len(), 1, leaving.pull.clone()));
            slopes.iter_mut().zip(shift.data()).for_each(|(s, d)| *s += d);
            room = room.plus(1.0, &seen.times(&leaving.precision).times_transposed(&seen));
        }
        let step = solve_symmetric(&room, &slopes);
        0.5 * crate::linalg::dot(&slopes, &step)
    }

    /// The same for one coordinate.
    fn single_gain(&self, j: usize, mut room: f64, without: Option<&Leaving>) -> f64 {
        let mut slope = self.sweep.slope(j);
        if let Some(leaving) = without {
            let seen = |p: usize| self.sweep.regression(j, leaving.positions[p]);
            for (p, pull) in leaving.pull.iter().enumerate() {
                slope += seen(p) * pull;
                room +=
                    (0..leaving.positions.len()).map(|q| seen(p) * leaving.precision.at(p, q) * seen(q)).sum::<f64>();
            }
        }
        if room > self.sweep.floor(j) { 0.5 * slope * slope / room } else { 0.0 }
    }

    /// Γ⁻¹, Γ⁻¹·x_a and the cost of taking an atom out.
    fn leaving(&self, atom: usize) -> Leaving {
        let alone = self.atoms.members(atom).iter().filter(|&&j| self.held[j] == 1);
        let positions: Vec<usize> = alone.filter_map(|&j| self.sweep.position(j)).collect();
        let corner =
            Matrix::from_fn(positions.len(), positions.len(), |a, b| self.sweep.inverse(positions[a], positions[b]));
        let precision = match corner.data() {
            [alone] if *alone > 0.0 => Matrix::from_columns(1, 1, vec![1.0 / alone]),
            _ => crate::linalg::inverse_symmetric(&corner, 0.0)
                .unwrap_or_else(|| Matrix::zeros(positions.len(), positions.len())),
        };
        let values: Vec<f64> = positions.iter().map(|&p| self.sweep.values()[p]).collect();
        let pull = precision.times(&Matrix::from_columns(values.len(), 1, values.clone())).into_data();
        let cost = 0.5 * crate::linalg::dot(&values, &pull);
        Leaving { positions, precision, pull, cost }
    }

    /// How much f rises when each chosen atom is taken out, in the order of `chosen`.
    pub fn removal_costs(&self) -> Vec<f64> {
        if let Some(boxed) = &self.boxed {
            return boxed.removal_costs();
        }
        self.chosen.iter().map(|&atom| self.leaving(atom).cost).collect()
    }

    /// Whether every chosen atom matters by far more than any other would, and no exchange makes up for half of it.
    pub fn stands_out(&self, swaps: &Swaps) -> bool {
        let most = self.entry_gains().into_iter().fold(0.0, f64::max);
        let costs = self.removal_costs();
        let cost =
            |swap: &Swap| self.chosen.iter().zip(&costs).find(|(atom, _)| **atom == swap.out).map_or(0.0, |c| *c.1);
        costs.iter().all(|cost| *cost > CLEAR * most) && swaps.best.iter().all(|swap| -swap.gain > 0.5 * cost(swap))
    }

    /// The best substitute of every chosen atom. O(n·k) for coordinates.
    pub fn substitutes(&self) -> Swaps {
        if let Some(boxed) = &self.boxed {
            return boxed.substitutes();
        }
        let mut swaps = if self.blocks.is_some() { self.group_substitutes() } else { self.coordinate_substitutes() };
        swaps.best.sort_by(|a, b| b.gain.total_cmp(&a.gain));
        swaps
    }

    fn coordinate_substitutes(&self) -> Swaps {
        let leaving: Vec<(usize, usize)> = self
            .chosen
            .iter()
            .filter_map(|&atom| Some((atom, self.sweep.position(*self.atoms.members(atom).first()?)?)))
            .collect();
        let arch = Arch::new();
        let one = |strip: &Strip, open: &[f64], &(out, position): &(usize, usize)| {
            let (value, corner) = (self.sweep.values()[position], self.sweep.inverse(position, position));
            let (pull, spread, cost) = (value / corner, 1.0 / corner, 0.5 * value * value / corner);
            let (at, gain) =
                arch.dispatch(Substitute { strip, open, seen: strip.regression(position), pull, spread })?;
            Some(Swap { out, into: strip.first + at, gain: gain - cost })
        };
        // Strip by strip: what all positions share stays in the first cache.
        let of_strip = |strip: &Strip| {
            let open = self.open(strip);
            let best: Vec<Option<Swap>> =
                leaving.par_iter().with_min_len(SHARED).map(|leaving| one(strip, &open, leaving)).collect();
            (best, open.iter().filter(|open| **open > 0.0).count())
        };
        let strips: Vec<(Vec<Option<Swap>>, usize)> = self.sweep.strips().par_iter().map(of_strip).collect();
        let best = (0..leaving.len()).filter_map(|at| {
            let of_all = strips.iter().filter_map(|(best, _)| best[at]);
            of_all.reduce(|a, b| if b.gain > a.gain { b } else { a })
        });
        let best = best.chain(self.idle_substitutes()).collect();
        let outside: usize = strips.iter().map(|(_, open)| open).sum();
        Swaps { best, compared: self.chosen.len() * outside, exhaustive: true }
    }

    /// An atom that depends on the others leaves for nothing: its best substitute is the best entry.
    fn idle_substitutes(&self) -> Vec<Swap> {
        let idle = |atom: &usize| self.atoms.members(*atom).iter().any(|j| self.waiting.contains(j));
        let idle: Vec<usize> = self.chosen.iter().copied().filter(idle).collect();
        if idle.is_empty() {
            return Vec::new();
        }
        let gains = self.entry_gains();
        let outside = (0..gains.len()).filter(|&atom| self.held[atom] == 0 && gains[atom] > 0.0);
        let best = outside.reduce(|a, b| if gains[b] > gains[a] { b } else { a });
        best.map_or_else(Vec::new, |into| idle.iter().map(|&out| Swap { out, into, gain: gains[into] }).collect())
    }

    /// 1/floor of the coordinates of a strip, and 0 for what cannot come in. Coordinates inside have no room but from
    /// their own leaving; they must not come back as it.
    fn open(&self, strip: &Strip) -> Vec<f64> {
        let held = &self.held[strip.first..][..strip.len()];
        let open = |(floor, held): (&f64, &u32)| if *floor > 0.0 && *held == 0 { 1.0 / floor } else { 0.0 };
        let mut open: Vec<f64> = strip.floor.iter().zip(held).map(open).collect();
        let empty = self.atoms.empty().iter().filter_map(|j| j.checked_sub(strip.first));
        empty.filter(|&i| i < strip.len()).for_each(|i| open[i] = 0.0);
        open
    }

    fn group_substitutes(&self) -> Swaps {
        let outside: Vec<usize> = (0..self.atoms.len())
            .filter(|&atom| !self.is_chosen(atom) && !self.free_members(atom).is_empty())
            .collect();
        let work = |atom: &usize| (self.atoms.members(*atom).len() as f64 + 4.0).powi(3);
        let total = outside.iter().map(work).sum::<f64>() * self.chosen.len() as f64;
        let affordable = total <= AFFORDABLE;
        let candidates = if affordable { outside } else { self.shortlist(&outside) };
        let one = |&out: &usize| {
            let leaving = self.leaving(out);
            let tried = candidates.iter().map(|&into| {
                let free = self.free_members(into);
                Swap { out, into, gain: self.quadratic_gain(into, &free, Some(&leaving)) - leaving.cost }
            });
            tried.max_by(|a, b| a.gain.total_cmp(&b.gain))
        };
        let best = self.chosen.par_iter().filter_map(one).collect();
        // With shared coordinates an atom may bring back some that its partner takes away: then the
        // exchange is at least as good as it looks here.
        let exhaustive = affordable && !self.atoms.shared();
        Swaps { best, compared: self.chosen.len() * candidates.len(), exhaustive }
    }

    /// How much f falls when two coordinates outside come in together; `None` where they cannot. Of single coordinates. O(k).
    pub fn pair_gain(&self, q: &dyn Quadratic, j: usize, l: usize) -> Option<f64> {
        if self.held[j] > 0 || self.held[l] > 0 || !self.sweep.admits(j) {
            return None;
        }
        let column = q.column(l);
        let inside = self.sweep.inside().iter().enumerate();
        let shared = column[j] - inside.map(|(p, &i)| self.sweep.regression(j, p) * column[i]).sum::<f64>();
        let (first, second) = (self.sweep.room(j), self.sweep.room(l) - shared * shared / self.sweep.room(j));
        let slope = self.sweep.slope(l) - shared * self.sweep.slope(j) / first;
        let room = second > self.sweep.floor(l);
        room.then(|| 0.5 * self.sweep.slope(j).powi(2) / first + 0.5 * slope * slope / second)
    }

    /// The chosen atoms that matter least, the least first.
    pub fn weakest(&self, count: usize) -> Vec<usize> {
        let costs: Vec<f64> = self.removal_costs().into_iter().map(|cost| -cost).collect();
        let mut weak = if costs.is_empty() { Vec::new() } else { top_k(&costs, count) };
        weak.sort_by(|&a, &b| costs[b].total_cmp(&costs[a]));
        weak.into_iter().map(|place| self.chosen[place]).collect()
    }

    /// The exchanges that lower f most, the best first. O(n·k).
    pub fn exchanges(&self, count: usize) -> Vec<Swap> {
        if let Some(boxed) = &self.boxed {
            return boxed.exchanges(count);
        }
        let n = self.atoms.len();
        let mut gains = vec![f64::NEG_INFINITY; self.chosen.len() * n];
        for (&out, gains) in self.chosen.iter().zip(gains.chunks_mut(n.max(1))) {
            self.arrivals_for(out, gains);
        }
        let mut top = if gains.is_empty() { Vec::new() } else { top_k(&gains, count) };
        top.retain(|&at| gains[at] > f64::NEG_INFINITY);
        top.sort_by(|&a, &b| gains[b].total_cmp(&gains[a]));
        top.into_iter().map(|at| Swap { out: self.chosen[at / n], into: at % n, gain: gains[at] }).collect()
    }

    /// For every atom outside how much the best exchange for it lowers f; −∞ where it cannot come in. O(n·k).
    pub fn arrivals(&self) -> Vec<f64> {
        let mut best = vec![f64::NEG_INFINITY; self.atoms.len()];
        self.chosen.iter().for_each(|&out| self.arrivals_for(out, &mut best));
        best
    }

    /// The same where one atom leaves; what is there already stays where it is more.
    fn arrivals_for(&self, out: usize, best: &mut [f64]) {
        let leaving = self.leaving(out);
        if self.blocks.is_some() {
            best.par_iter_mut().enumerate().with_min_len(PARALLEL_GROUPS).for_each(|(atom, best)| {
                let free = self.free_members(atom);
                if !self.is_chosen(atom) && !free.is_empty() {
                    *best = best.max(self.quadratic_gain(atom, &free, Some(&leaving)) - leaving.cost);
                }
            });
        } else if let [position] = leaving.positions[..] {
            self.single_arrivals(position, &leaving, best);
        }
    }

    /// The same for coordinates and one that leaves.
    fn single_arrivals(&self, position: usize, leaving: &Leaving, best: &mut [f64]) {
        let (pull, spread) = (leaving.pull[0], leaving.precision.at(0, 0));
        for strip in self.sweep.strips() {
            let open = self.open(strip);
            let seen = strip.regression(position);
            let best = &mut best[strip.first..][..strip.len()];
            for (i, best) in best.iter_mut().enumerate() {
                let slope = strip.slopes[i] + pull * seen[i];
                let room = strip.room[i] + seen[i] * seen[i] * spread;
                if room * open[i] > 1.0 {
                    *best = best.max(0.5 * slope * slope / room - leaving.cost);
                }
            }
        }
    }

    fn shortlist(&self, outside: &[usize]) -> Vec<usize> {
        let gains = self.entry_gains();
        let scores: Vec<f64> = outside.iter().map(|&atom| gains[atom]).collect();
        top_k(&scores, SHORTLIST).into_iter().map(|p| outside[p]).collect()
    }
}

/// The coordinate of a strip that brings most when one inside has left, and how much: the largest of ½·slope²/room.
/// Fractions are compared by products, which take a tenth of the time; over the floor, so that none of them is out of
/// range whatever the units of a column.
struct Substitute<'s> {
    strip: &'s Strip,
    open: &'s [f64],
    seen: &'s [f64],
    pull: f64,
    spread: f64,
}

impl WithSimd for Substitute<'_> {
    type Output = Option<(usize, f64)>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
        let (slopes, _) = S::as_simd_f64s(&self.strip.slopes);
        let (room, _) = S::as_simd_f64s(&self.strip.room);
        let (open, _) = S::as_simd_f64s(self.open);
        let (seen, _) = S::as_simd_f64s(self.seen);
        let (one, pull, spread) = (simd.splat_f64s(1.0), simd.splat_f64s(self.pull), simd.splat_f64s(self.spread));
        // For each lane the best fraction so far, and the block that it is from.
        let (mut best, mut over, mut from) = (simd.splat_f64s(0.0), one, simd.splat_f64s(-1.0));
        for (block, (((&slope, &room), &open), &seen)) in slopes.iter().zip(room).zip(open).zip(seen).enumerate() {
            let slope = simd.add_f64s(slope, simd.mul_f64s(pull, seen));
            let top = simd.mul_f64s(simd.mul_f64s(slope, slope), open);
            let room = simd.add_f64s(room, simd.mul_f64s(simd.mul_f64s(seen, seen), spread));
            let bottom = simd.mul_f64s(room, open);
            let higher = simd.greater_than_f64s(simd.mul_f64s(top, over), simd.mul_f64s(best, bottom));
            let better = simd.and_m64s(simd.greater_than_f64s(bottom, one), higher);
            best = simd.select_f64s(better, top, best);
            over = simd.select_f64s(better, bottom, over);
            from = simd.select_f64s(better, simd.splat_f64s(block as f64), from);
        }
        let of = |lanes: S::f64s, lane: usize| cast_slice::<S::f64s, f64>(&[lanes])[lane];
        let whole = (0..S::F64_LANES).filter(|&lane| of(from, lane) >= 0.0).map(|lane| {
            let block = of(from, lane) as usize;
            (block * S::F64_LANES + lane, 0.5 * of(best, lane) / of(over, lane))
        });
        let rest = (slopes.len() * S::F64_LANES..self.seen.len()).filter_map(|i| {
            let (slope, open) = (self.strip.slopes[i] + self.pull * self.seen[i], self.open[i]);
            let bottom = (self.strip.room[i] + self.seen[i] * self.seen[i] * self.spread) * open;
            (bottom > 1.0).then(|| (i, 0.5 * (slope * slope * open) / bottom))
        });
        whole.chain(rest).reduce(|a, b| if b.1 > a.1 || (b.1 == a.1 && b.0 < a.0) { b } else { a })
    }
}

/// The point with these entries, no two of the same coordinate.
fn in_order(dim: usize, mut entries: Vec<(usize, f64)>) -> SparseVec {
    entries.sort_by_key(|e| e.0);
    let (indices, values) = entries.into_iter().unzip();
    SparseVec::sorted(dim, indices, values)
}

/// An atom about to leave.
struct Leaving {
    positions: Vec<usize>,
    precision: Matrix,
    pull: Vec<f64>,
    cost: f64,
}

#[cfg(test)]
mod tests;
