//! Some of the atoms of a set, with numbers of their own: what works on a few of many columns.

use crate::set::Atoms;
use crate::space::IndexSet;

/// The atoms all of whose coordinates are listed.
#[derive(Debug, Clone)]
pub(super) struct Listing {
    /// The coordinates by their numbers outside, rising.
    pub coordinates: Vec<usize>,
    /// The atoms by their numbers outside, rising.
    numbers: Vec<usize>,
    /// Their coordinates, by their places here.
    pub atoms: Atoms,
    /// What is kept, by its places here.
    pub kept: IndexSet,
}

impl Listing {
    /// The listed coordinates rise, and what is kept is among them.
    pub fn new(atoms: &Atoms, kept: &IndexSet, coordinates: Vec<usize>) -> Self {
        let place = |j: &usize| coordinates.binary_search(j).ok();
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
        Self { atoms: Atoms::groups(&members, atoms.shared()), numbers, kept, coordinates }
    }

    /// The places here of listed atoms.
    pub fn places_of(&self, atoms: &[usize]) -> Vec<usize> {
        atoms.iter().filter_map(|atom| self.numbers.binary_search(atom).ok()).collect()
    }

    /// The numbers outside of atoms.
    pub fn numbers_of(&self, places: &[usize]) -> Vec<usize> {
        places.iter().map(|&place| self.numbers[place]).collect()
    }
}
