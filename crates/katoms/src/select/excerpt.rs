//! A quadratic over the atoms whose columns are known: a place to look around in for little.
//!
//! A move on all n coordinates takes O(n·k), and most ways by other sizes lead nowhere. Atoms that were ever worth a
//! column are a small share of all; among them the same way costs as small a share, and what it leads to tells whether
//! it is worth going among all.

use super::Quadratic;
use super::detours::route;
use super::gram::Gram;
use super::listing::Listing;
use super::neighbourhood::GoOn;
use super::quadratic::Brings;
use super::tableau::Tableau;
use crate::loss::Loss;
use crate::operator::LinearOperator;
use crate::set::{Atoms, CoordinateSet};
use crate::space::{IndexSet, SparseVec};

/// An excerpt has at most this part of all coordinates; a larger one would save too little.
const SHARE: usize = 4;
/// And at least so many times those that a model has; in a smaller one there is nothing to choose from.
const CHOICE: usize = 2;

/// G, b and f(0) of a quadratic among the atoms whose columns are known.
pub(super) struct Excerpt {
    list: Listing,
    linear: Vec<f64>,
    diagonal: Vec<f64>,
    columns: Vec<Vec<f64>>,
    constant: f64,
}

impl Excerpt {
    /// The quadratic among the coordinates of a list, with the lower triangle of its G, row after row.
    pub fn new(
        list: Listing,
        linear: Vec<f64>,
        diagonal: Vec<f64>,
        mut triangle: Vec<Vec<f64>>,
        constant: f64,
    ) -> Self {
        for i in 0..triangle.len() {
            let (above, below) = triangle.split_at_mut(i + 1);
            above[i].extend(below.iter().map(|row| row[i]));
        }
        Self { list, linear, diagonal, columns: triangle, constant }
    }

    /// What is known now, where that is a small part of the whole.
    pub fn renewed<A, L>(last: Option<Self>, gram: &Gram<'_, A, L>, atoms: &Atoms, kept: &IndexSet) -> Option<Self>
    where
        A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
        L: Loss,
    {
        let coordinates = gram.known_coordinates();
        if last.as_ref().is_some_and(|last| last.list.coordinates == coordinates) {
            return last;
        }
        if coordinates.len() * SHARE > gram.dim() {
            return None;
        }
        let picked = |all: &[f64]| coordinates.iter().map(|&j| all[j]).collect::<Vec<f64>>();
        let (linear, diagonal) = (picked(gram.linear()), picked(gram.diagonal()));
        let columns = coordinates.iter().filter_map(|&j| gram.column(j).map(picked)).collect();
        let list = Listing::new(atoms, kept, coordinates);
        Some(Self { list, linear, diagonal, columns, constant: gram.constant() })
    }

    /// Whether there is a choice of models of so many atoms.
    pub fn offers(&self, size: usize) -> bool {
        self.list.atoms.len() >= size * CHOICE
    }

    /// From these atoms through some sizes, polished at each: the atoms at the end, if f is below `below` there.
    pub fn routed<S>(&mut self, chosen: &[usize], sets: &[S], below: f64, go_on: &mut GoOn<'_>) -> Option<Vec<usize>>
    where
        S: CoordinateSet,
    {
        let Listing { atoms, kept, .. } = self.list.clone();
        let mut tableau = Tableau::new(self, &atoms, &kept, &self.list.places_of(chosen));
        route(self, &mut tableau, (&atoms, &kept), sets, go_on);
        (tableau.objective() < below).then(|| self.list.numbers_of(tableau.chosen()))
    }
}

impl Quadratic for Excerpt {
    fn dim(&self) -> usize {
        self.linear.len()
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
        self.columns.get(j).map(Vec::as_slice)
    }
    fn knows(&self, j: usize) -> bool {
        j < self.columns.len()
    }
    fn block(&self, coordinates: &[usize]) -> Vec<f64> {
        coordinates.iter().flat_map(|&b| coordinates.iter().map(move |&a| self.columns[b][a])).collect()
    }
}

impl Brings for Excerpt {
    /// There is no other column.
    fn bring(&mut self, _: &[usize]) {}
}
