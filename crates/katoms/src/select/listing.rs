//! Some of the atoms of a set, with numbers of their own: what works on a few of many columns.

use std::collections::BTreeMap;

use crate::set::Atoms;
use crate::space::{IndexSet, SparseVec};

/// The atoms all of whose coordinates are listed.
#[derive(Debug, Clone)]
pub(super) struct Listing {
    /// The coordinates by their numbers outside.
    pub coordinates: Vec<usize>,
    /// Their coordinates, by their places here.
    pub atoms: Atoms,
    /// What is kept, by its places here.
    pub kept: IndexSet,
}

impl Listing {
    /// The coordinates in their order here; what is kept is among them.
    pub fn new(atoms: &Atoms, kept: &IndexSet, coordinates: Vec<usize>) -> Self {
        let standing: BTreeMap<usize, usize> = coordinates.iter().copied().zip(0..).collect();
        let place = |j: &usize| standing.get(j).copied();
        let listed = |atom: &usize| atoms.members(*atom).iter().all(|j| place(j).is_some());
        let single = |atom: usize| atoms.members(atom).iter().all(|&j| j == atom);
        // Where an atom has the number of its coordinate, so it has here: what is kept has one without a coordinate.
        let numbers: Vec<usize> = match atoms.len() == kept.dim() && (0..atoms.len()).all(single) {
            true => coordinates.clone(),
            false => (0..atoms.len()).filter(listed).collect(),
        };
        let members: Vec<Vec<usize>> =
            numbers.iter().map(|&atom| atoms.members(atom).iter().filter_map(place).collect()).collect();
        let kept = IndexSet::new(coordinates.len(), kept.indices().iter().filter_map(place).collect());
        let atoms = Atoms::groups(&members, atoms.shared());
        Self { coordinates, atoms, kept }
    }

    /// A point in the space outside, which has so many coordinates.
    pub fn outside(&self, x: &SparseVec, dim: usize) -> SparseVec {
        let mut entries: Vec<(usize, f64)> = x.entries().map(|(place, v)| (self.coordinates[place], v)).collect();
        entries.sort_by_key(|entry| entry.0);
        let (indices, values) = entries.into_iter().unzip();
        SparseVec::sorted(dim, indices, values)
    }
}
