//! Exchanging atoms until no exchange lowers f: batches first, single swaps last.

use std::ops::ControlFlow;

use super::neighbourhood::GoOn;
use super::quadratic::Brings;
use super::sweep::DEPENDENT;
use super::tableau::{Missing, Swaps, Tableau};
use super::{Quadratic, tableau::Swap};
use crate::linalg::{Matrix, dot, solve_symmetric, top_k};
use crate::set::Atoms;
use crate::space::IndexSet;

/// An exchange improves when it lowers f by more than this share.
pub(super) const IMPROVES: f64 = 1e-9;
/// Below this share of f(0) what a quadratic says about f is rounding.
pub(super) const ROUNDING: f64 = 1e-13;
/// Atoms whose columns are asked for together: more save passes, but bring columns that nobody needs.
pub(super) const TOGETHER: usize = 12;

/// Fills a tableau up to its size and exchanges its atoms. Can be called again after the missing
/// columns were brought.
#[derive(Debug, Clone)]
pub(super) struct Polish<'a> {
    atoms: &'a Atoms,
    kept: &'a IndexSet,
    size: usize,
    /// The size of the next batch; 1 for single swaps.
    batch: usize,
    /// Exchanges made.
    pub made: usize,
    most: usize,
}

impl<'a> Polish<'a> {
    /// Single swaps: enough for a model that comes from a neighbouring size.
    pub fn single(atoms: &'a Atoms, kept: &'a IndexSet, size: usize) -> Self {
        Self { atoms, kept, size, batch: 1, made: 0, most: 100 + 20 * size }
    }

    /// Batches of half of the atoms, a quarter, …, then single swaps: for a model from anywhere.
    pub fn new(atoms: &'a Atoms, kept: &'a IndexSet, size: usize) -> Self {
        Self { batch: size / 2, ..Self::single(atoms, kept, size) }
    }

    /// The same with a cap on the exchanges; none at all leaves the tableau as it is.
    pub fn at_most(self, most: usize) -> Self {
        let batch = if most == 0 { 0 } else { self.batch };
        let size = if most == 0 { 0 } else { self.size };
        Self { most: self.most.min(most), batch, size, ..self }
    }

    /// Goes on until no exchange improves f, or a column is missing. The swaps that remain tell how
    /// good the end is.
    pub fn advance(&mut self, q: &impl Quadratic, tableau: &mut Tableau<'a>) -> Result<Swaps, Missing> {
        self.advance_while(q, tableau, &mut |_| ControlFlow::Continue(()))
    }

    /// The same, bringing the columns that are missing.
    pub fn settle(&mut self, q: &mut impl Brings, tableau: &mut Tableau<'a>, go_on: &mut GoOn<'_>) -> Swaps {
        loop {
            match self.advance_while(q, tableau, go_on) {
                Ok(swaps) => return swaps,
                Err(Missing(atoms)) => q.bring(&coordinates(self.atoms, self.kept, &atoms)),
            }
        }
    }

    /// The same, asking before each exchange whether to go on. After a break none is made.
    pub fn advance_while(
        &mut self,
        q: &impl Quadratic,
        tableau: &mut Tableau<'a>,
        go_on: &mut GoOn<'_>,
    ) -> Result<Swaps, Missing> {
        self.fill(q, tableau)?;
        while self.batch > 1 && tableau.objective() > ROUNDING * q.constant() {
            self.heed(go_on);
            match self.better_batch(q, tableau) {
                Some(chosen) => {
                    let unknown = self.unknown(q, &chosen);
                    if !unknown.is_empty() {
                        return Err(Missing(unknown));
                    }
                    let next = Tableau::new(q, self.atoms, self.kept, &chosen);
                    if next.objective() < tableau.objective() && self.made < self.most {
                        *tableau = next;
                        self.made += 1;
                    } else {
                        self.batch /= 2;
                    }
                }
                None => self.batch /= 2,
            }
        }
        loop {
            self.heed(go_on);
            let swaps = tableau.substitutes();
            let here = tableau.objective();
            let improves = |swap: &&Swap| swap.gain > IMPROVES * here;
            let perfect = here <= ROUNDING * q.constant();
            let Some(&best) = swaps.best.first().filter(improves).filter(|_| !perfect && self.made < self.most) else {
                return Ok(swaps);
            };
            tableau.swap(q, best).map_err(|_| {
                let others = swaps.best.iter().filter(improves).map(|swap| swap.into);
                self.wanted(q, tableau, best.into, others)
            })?;
            self.made += 1;
        }
    }

    /// Makes no more exchanges once it is told to stop.
    fn heed(&mut self, go_on: &mut GoOn<'_>) {
        if go_on(self.made).is_break() {
            (self.batch, self.most) = (0, self.made);
        }
    }

    /// Lets the best atoms in, one by one.
    fn fill(&self, q: &impl Quadratic, tableau: &mut Tableau<'a>) -> Result<(), Missing> {
        while tableau.chosen().len() < self.size {
            let gains = tableau.entry_gains();
            let open = |atom: &usize| !self.atoms.members(*atom).is_empty() && !tableau.chosen().contains(atom);
            let best = (0..gains.len()).reduce(|a, b| if gains[b] > gains[a] { b } else { a });
            // Where nothing is left that would bring something, what brings nothing fills the place.
            let best = best.filter(|&best| gains[best] > f64::NEG_INFINITY).or_else(|| (0..gains.len()).find(open));
            let Some(best) = best else { return Ok(()) };
            tableau.choose(q, best).map_err(|_| self.wanted(q, tableau, best, std::iter::empty()))?;
        }
        Ok(())
    }

    /// The atoms with the `batch` least useful ones exchanged for as many that promise most, if that
    /// lowers f.
    fn better_batch(&self, q: &impl Quadratic, tableau: &Tableau<'a>) -> Option<Vec<usize>> {
        let chosen = tableau.chosen();
        let kept: Vec<f64> = tableau.removal_costs();
        let stay = top_k(&kept, chosen.len().saturating_sub(self.batch));
        let gains = tableau.entry_gains();
        let come = top_k(&gains, self.batch).into_iter().filter(|&atom| gains[atom] > 0.0);
        let next: Vec<usize> = stay.into_iter().map(|p| chosen[p]).chain(come).collect();
        if next.len() < chosen.len() {
            return None;
        }
        let coordinates = coordinates(self.atoms, self.kept, &next);
        let better = minimum(q, &coordinates) < tableau.objective() * (1.0 - IMPROVES);
        better.then_some(next)
    }

    fn unknown(&self, q: &impl Quadratic, chosen: &[usize]) -> Vec<usize> {
        let known = |&&atom: &&usize| self.atoms.members(atom).iter().all(|&j| q.knows(j));
        chosen.iter().filter(|atom| !known(atom)).copied().collect()
    }

    /// An atom whose column is missing, and others that are likely to be needed soon.
    fn wanted(
        &self,
        q: &impl Quadratic,
        tableau: &Tableau<'_>,
        first: usize,
        others: impl Iterator<Item = usize>,
    ) -> Missing {
        let mut gains = tableau.entry_gains();
        for (atom, gain) in gains.iter_mut().enumerate() {
            if *gain > f64::NEG_INFINITY && self.atoms.members(atom).iter().all(|&j| q.knows(j)) {
                *gain = f64::NEG_INFINITY;
            }
        }
        let mut list = vec![first];
        let likely = top_k(&gains, TOGETHER).into_iter().filter(|&atom| gains[atom] > 0.0);
        for atom in others.chain(likely) {
            if list.len() < TOGETHER && !list.contains(&atom) {
                list.push(atom);
            }
        }
        Missing(list)
    }
}

/// The coordinates of some atoms and of what is kept.
pub(super) fn coordinates(atoms: &Atoms, kept: &IndexSet, chosen: &[usize]) -> Vec<usize> {
    let members = chosen.iter().flat_map(|&atom| atoms.members(atom).iter().copied());
    IndexSet::new(kept.dim(), kept.indices().iter().copied().chain(members).collect()).indices().to_vec()
}

/// The minimum of the quadratic over some coordinates. O(d³), and no pass.
pub(super) fn minimum(q: &impl Quadratic, coordinates: &[usize]) -> f64 {
    let d = coordinates.len();
    let right: Vec<f64> = coordinates.iter().map(|&j| q.linear()[j]).collect();
    let x = solve_symmetric(&Matrix::from_columns(d, d, q.block(coordinates)), &right);
    q.constant() - 0.5 * dot(&right, &x)
}

/// The minima over no coordinate, the first one, the first two, and so on. O(d³) for all of them: a coordinate more is a
/// row more of one Cholesky factor.
pub(super) fn minima(q: &impl Quadratic, coordinates: &[usize]) -> Vec<f64> {
    let block = Matrix::from_columns(coordinates.len(), coordinates.len(), q.block(coordinates));
    let (mut factor, mut places): (Vec<Vec<f64>>, Vec<usize>) = (Vec::new(), Vec::new());
    // What the coordinates so far tell of b, and of f.
    let (mut told, mut values) = (Vec::new(), vec![q.constant()]);
    for (place, &j) in coordinates.iter().enumerate() {
        let mut row: Vec<f64> = Vec::with_capacity(factor.len() + 1);
        for (above, &other) in factor.iter().zip(&places) {
            row.push((block.at(other, place) - dot(&above[..row.len()], &row)) / above[row.len()]);
        }
        let (energy, slope) = (block.at(place, place), q.linear()[j] - dot(&row, &told));
        let room = energy - dot(&row, &row);
        // What depends on those before it brings nothing.
        let falls = if room > DEPENDENT * energy {
            row.push(room.sqrt());
            factor.push(row);
            places.push(place);
            told.push(slope / room.sqrt());
            0.5 * slope * slope / room
        } else {
            0.0
        };
        values.push(values[place] - falls);
    }
    values
}

#[cfg(test)]
mod tests {
    use super::super::quadratic::explicit::Explicit;
    use super::*;
    use crate::simulate::gaussian;

    #[test]
    fn the_minima_of_a_rising_list_are_those_of_each_part_alone() {
        // The fourth column is the second one twice, the sixth is zero, and the last has other units.
        let mut data = gaussian(20, 9, 3);
        data.copy_within(20..40, 60);
        data[60..80].iter_mut().for_each(|x| *x *= 2.0);
        data[100..120].fill(0.0);
        data[160..].iter_mut().for_each(|x| *x *= 1e6);
        let a = Matrix::from_columns(20, 9, data);
        let q = Explicit::new(&a, &gaussian(20, 1, 4), 0.0);
        let order = [7, 1, 3, 0, 5, 8, 2];
        let together = minima(&q, &order);
        assert_eq!((together.len(), together[0]), (8, q.constant()));
        for (count, value) in together.iter().enumerate().skip(1) {
            let alone = minimum(&q, &order[..count]);
            assert!((value - alone).abs() < 1e-12 * q.constant(), "{count}: {value} {alone}");
        }
    }
}
