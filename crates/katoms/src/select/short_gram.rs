//! The quadratic of an objective over a short list of atoms: for problems whose whole Gram columns cost too much.
//!
//! A whole column of G costs m·n multiplications, and a move on all n rows O(n·k). Over a list of a few times k atoms
//! both are a small share of a pass. Atoms and coordinates have numbers of their own here, in the order in which they
//! came; the list can grow, and what is known stays.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use super::Quadratic;
use super::quadratic::Brings;
use super::tableau::{Swap, Swaps};
use crate::linalg::{Matrix, dot};
use crate::loss::Loss;
use crate::objective::{Evaluated, Objective};
use crate::operator::LinearOperator;
use crate::set::Atoms;
use crate::space::{IndexSet, SparseVec, Subspace};

/// Columns of the design that are multiplied together: so many, or fewer where they are long, but at least some.
const BLOCK: usize = 64;
const BLOCK_ENTRIES: usize = 1 << 21;
const LEAST_BLOCK: usize = 8;
/// The number of a kept coordinate's place among the atoms: it can not be chosen.
const NO_ATOM: usize = usize::MAX;

/// G, b and f(0) of f around a point, for the listed atoms alone.
pub(super) struct ShortGram<'a, A: LinearOperator, L> {
    f: &'a Objective<A, L>,
    curvatures: Vec<f64>,
    /// −∇ℓ of the quadratic at 0, row by row: what b is the pull-back of.
    pushed: Vec<f64>,
    constant: f64,
    /// The coordinates of the list, and where each of them stands in it.
    coordinates: Vec<usize>,
    places: BTreeMap<usize, usize>,
    kept: Vec<usize>,
    /// The atoms of the list, by their number outside, and their coordinates, by their place here.
    numbers: Vec<usize>,
    members: Vec<Vec<usize>>,
    listed: BTreeMap<usize, usize>,
    shared: bool,
    /// Atoms whose substitutes were looked for.
    explored: BTreeSet<usize>,
    linear: Vec<f64>,
    diagonal: Vec<f64>,
    columns: BTreeMap<usize, Vec<f64>>,
}

impl<'a, A, L> ShortGram<'a, A, L>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
{
    /// The picture around x, with what is kept and no atom yet. For a quadratic loss it is the same around every x.
    pub fn around(f: &'a Objective<A, L>, x: &Evaluated<SparseVec>, kept: &IndexSet, shared: bool) -> Self {
        let curvatures = f.curvatures(x);
        let constant = f.value(x) - f.slope(x, x) + 0.5 * f.bend(x, x);
        let mut pushed = f.residual(x);
        for ((r, h), z) in pushed.iter_mut().zip(&curvatures).zip(x.image()) {
            *r = h * z - *r;
        }
        let (coordinates, places, linear, diagonal) = (Vec::new(), BTreeMap::new(), Vec::new(), Vec::new());
        let (numbers, members, listed, columns) = (Vec::new(), Vec::new(), BTreeMap::new(), BTreeMap::new());
        let places_of_kept = (0..kept.dimension()).collect();
        let mut gram = Self {
            f,
            curvatures,
            pushed,
            constant,
            coordinates,
            places,
            kept: places_of_kept,
            numbers,
            members,
            listed,
            shared,
            explored: BTreeSet::new(),
            linear,
            diagonal,
            columns,
        };
        // A place among the atoms for each of them: so that single coordinates keep the numbers of their atoms.
        gram.numbers = vec![NO_ATOM; kept.dimension()];
        gram.members = vec![Vec::new(); kept.dimension()];
        gram.append(kept.indices());
        gram
    }

    /// Atoms join the list. No pass: O(m) for each of their coordinates and each known column.
    pub fn add(&mut self, atoms: &Atoms, some: impl IntoIterator<Item = usize>) {
        let new: BTreeSet<usize> = some.into_iter().filter(|atom| !self.listed.contains_key(atom)).collect();
        let mut new: Vec<usize> = new.into_iter().collect();
        new.sort_by_key(|&atom| atoms.members(atom).first());
        let fresh = new.iter().flat_map(|&atom| atoms.members(atom)).filter(|j| !self.places.contains_key(j));
        let fresh: BTreeSet<usize> = fresh.copied().collect();
        self.append(&fresh.into_iter().collect::<Vec<usize>>());
        for atom in new {
            self.listed.insert(atom, self.numbers.len());
            self.numbers.push(atom);
            self.members.push(atoms.members(atom).iter().filter_map(|j| self.places.get(j).copied()).collect());
        }
    }

    /// The atoms of the list, by their numbers here.
    pub fn atoms(&self) -> Atoms {
        Atoms::groups(&self.members, self.shared)
    }

    /// What is kept, by its numbers here.
    pub fn kept(&self) -> IndexSet {
        IndexSet::new(self.coordinates.len(), self.kept.clone())
    }

    /// The numbers here of listed atoms.
    pub fn places_of(&self, atoms: &[usize]) -> Vec<usize> {
        atoms.iter().filter_map(|atom| self.listed.get(atom).copied()).collect()
    }

    /// The number of an atom outside.
    pub fn number_of(&self, place: usize) -> usize {
        self.numbers[place]
    }

    /// Notes that the substitutes of an atom are looked for. Whether they were not yet.
    pub fn explore(&mut self, atom: usize) -> bool {
        self.explored.insert(atom)
    }

    /// A point of the list in the space of f.
    pub fn outside(&self, x: &SparseVec) -> SparseVec {
        let mut entries: Vec<(usize, f64)> = x.entries().map(|(i, v)| (self.coordinates[i], v)).collect();
        entries.sort_by_key(|e| e.0);
        let (indices, values) = entries.into_iter().unzip();
        SparseVec::sorted(self.f.operator().domain(), indices, values)
    }

    /// Exchanges by the numbers of their atoms outside. Those of a list are not all that there are.
    pub fn swaps_outside(&self, swaps: Swaps) -> Swaps {
        let outside = |swap: Swap| Swap { out: self.numbers[swap.out], into: self.numbers[swap.into], gain: swap.gain };
        Swaps { best: swaps.best.into_iter().map(outside).collect(), exhaustive: false, ..swaps }
    }

    /// Coordinates of f that are not in the list join it.
    fn append(&mut self, fresh: &[usize]) {
        let set = self.outside_set(fresh.iter().copied());
        for &j in fresh {
            self.places.insert(j, self.coordinates.len());
            self.coordinates.push(j);
        }
        self.linear.extend(self.f.pulled_back_on(&self.pushed, &set).values());
        let energies: Vec<Vec<f64>> = fresh.chunks(BLOCK).map(|some| self.energies(some)).collect();
        self.diagonal.extend(energies.concat());
        let known: Vec<usize> = self.columns.keys().copied().collect();
        for some in known.chunks(self.block_size()) {
            let rows = self.products(some, &set);
            for (i, row) in some.iter().zip(rows) {
                if let Some(column) = self.columns.get_mut(i) {
                    column.extend(row.values());
                }
            }
        }
    }

    fn block_size(&self) -> usize {
        (BLOCK_ENTRIES / self.pushed.len().max(1)).clamp(LEAST_BLOCK, BLOCK)
    }

    /// The entries of some columns of G at some coordinates of f, without the ridge.
    fn products(&self, columns: &[usize], rows: &IndexSet) -> Vec<SparseVec> {
        let set = self.outside_set(columns.iter().map(|&i| self.coordinates[i]));
        if let Some(products) = self.f.products(&self.curvatures, rows, &set) {
            let place = |i: usize| set.indices().partition_point(|&j| j < self.coordinates[i]);
            let column = |&i: &usize| rows.point(products.column(place(i)));
            return columns.iter().map(column).collect();
        }
        let curved: Vec<Vec<f64>> = columns.par_iter().map(|&i| self.curved(self.coordinates[i])).collect();
        let curved: Vec<&[f64]> = curved.iter().map(Vec::as_slice).collect();
        self.f.pulled_back_block_on(&curved, rows)
    }

    fn outside_set(&self, coordinates: impl Iterator<Item = usize>) -> IndexSet {
        IndexSet::new(self.f.operator().domain(), coordinates.collect())
    }

    fn image(&self, j: usize) -> Evaluated<SparseVec> {
        self.f.at(IndexSet::new(self.f.operator().domain(), vec![j]).basis(0))
    }

    /// The curvatures times column j of the design.
    fn curved(&self, j: usize) -> Vec<f64> {
        self.image(j).image().iter().zip(&self.curvatures).map(|(a, h)| a * h).collect()
    }

    /// The diagonal entries of G at some coordinates, rising.
    fn energies(&self, some: &[usize]) -> Vec<f64> {
        let set = self.outside_set(some.iter().copied());
        match self.f.products(&self.curvatures, &set, &set) {
            Some(block) => some.iter().enumerate().map(|(i, &j)| block.at(i, i) + self.ridge_at(j)).collect(),
            None => some.par_iter().map(|&j| dot(&self.curved(j), self.image(j).image()) + self.ridge_at(j)).collect(),
        }
    }

    fn ridge_at(&self, j: usize) -> f64 {
        self.f.ridge_on_basis(&IndexSet::new(self.f.operator().domain(), vec![j]), 0)
    }
}

impl<A, L> Quadratic for ShortGram<'_, A, L>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
{
    fn dim(&self) -> usize {
        self.coordinates.len()
    }
    fn linear(&self) -> &[f64] {
        &self.linear
    }
    fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }
    fn constant(&self) -> f64 {
        self.constant
    }
    fn column(&self, j: usize) -> Option<&[f64]> {
        self.columns.get(&j).map(Vec::as_slice)
    }
    fn knows(&self, j: usize) -> bool {
        self.columns.contains_key(&j)
    }
    fn block(&self, places: &[usize]) -> Vec<f64> {
        if let [i] = places {
            return vec![self.diagonal[*i]];
        }
        let unknown: Vec<usize> = places.iter().copied().filter(|i| !self.columns.contains_key(i)).collect();
        let rows = self.outside_set(unknown.iter().map(|&i| self.coordinates[i]));
        let fresh =
            unknown.chunks(self.block_size()).flat_map(|some| some.iter().copied().zip(self.products(some, &rows)));
        let fresh: BTreeMap<usize, SparseVec> = fresh.collect();
        let columns: Vec<Option<&Vec<f64>>> = places.iter().map(|i| self.columns.get(i)).collect();
        let fresh: Vec<Option<&SparseVec>> = places.iter().map(|i| fresh.get(i)).collect();
        let entry = |a: usize, b: usize| match (columns[b], columns[a]) {
            (Some(column), _) => column[places[a]],
            (None, Some(row)) => row[places[b]],
            (None, None) if a == b => self.diagonal[places[b]],
            (None, None) => fresh[b].map_or(0.0, |column| column.value_at(self.coordinates[places[a]])),
        };
        Matrix::from_fn(places.len(), places.len(), entry).into_data()
    }
}

impl<A, L> Brings for ShortGram<'_, A, L>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
{
    /// No pass: O(m·dim) for each of them.
    fn bring(&mut self, places: &[usize]) {
        let unknown: BTreeSet<usize> = places.iter().copied().filter(|i| !self.columns.contains_key(i)).collect();
        let unknown: Vec<usize> = unknown.into_iter().collect();
        let all = self.outside_set(self.coordinates.iter().copied());
        for some in unknown.chunks(self.block_size()) {
            let products = self.products(some, &all);
            for (&i, product) in some.iter().zip(products) {
                let mut column = vec![0.0; self.coordinates.len()];
                self.places.values().zip(product.values()).for_each(|(&place, v)| column[place] = *v);
                column[i] += self.ridge_at(self.coordinates[i]);
                self.columns.insert(i, column);
            }
        }
    }
}
