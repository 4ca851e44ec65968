//! Any set of k coordinates or groups, chosen at run time.

use super::{
    Always, Atoms, ConstraintSet, CoordinateSet, Exchange, Expand, Groups, Guarantee, KSparse, OverlappingGroups,
    Structure,
};
use crate::error::Error;
use crate::space::{IndexSet, SparseVec};

/// Coordinates, groups of them, or groups that share some: known only at run time.
///
/// ```
/// use katoms::set::{AnyAtoms, ConstraintSet};
/// let pairs = AnyAtoms::groups(1, 4, vec![vec![0, 1], vec![2, 3]])?;
/// let sharing = AnyAtoms::groups(1, 4, vec![vec![0, 1], vec![1, 2, 3]])?;
/// assert!(matches!(pairs, AnyAtoms::Groups(_)) && matches!(sharing, AnyAtoms::Overlapping(_)));
/// # Ok::<(), katoms::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum AnyAtoms {
    /// k coordinates.
    Coordinates(KSparse),
    /// k groups that share nothing.
    Groups(Groups),
    /// k groups that may share coordinates.
    Overlapping(OverlappingGroups),
    /// The same beside coordinates that are always selected.
    Always(Box<Always<AnyAtoms>>),
}

impl AnyAtoms {
    /// k groups of coordinates below `dim`, whether they share some or not.
    ///
    /// # Errors
    /// When a group is empty, an index is outside or stands twice in a group, or k is out of range.
    pub fn groups(k: usize, dim: usize, members: Vec<Vec<usize>>) -> Result<Self, Error> {
        match Groups::new(k, dim, members.clone()) {
            Err(Error::SharedIndex { .. }) => OverlappingGroups::new(k, dim, members).map(Self::Overlapping),
            disjoint => disjoint.map(Self::Groups),
        }
    }

    /// The same atoms for several outputs, whose coordinates stand one output after the other: an atom has those of all.
    ///
    /// # Errors
    /// When there is no output.
    pub fn for_outputs(&self, outputs: usize) -> Result<Self, Error> {
        if outputs == 1 {
            return Ok(self.clone());
        }
        let (n, atoms) = (self.domain(), self.candidates());
        let shared =
            |atom: usize| (0..outputs).flat_map(|c| atoms.members(atom).iter().map(move |j| c * n + j)).collect();
        Self::groups(self.atoms(), n * outputs, (0..atoms.len()).map(shared).collect())
    }

    /// The same with these coordinates always selected and not counted.
    ///
    /// # Errors
    /// When a coordinate is outside, or no other is left.
    pub fn always(self, coordinates: Vec<usize>) -> Result<Self, Error> {
        if coordinates.is_empty() {
            return Ok(self);
        }
        Ok(Self::Always(Box::new(Always::new(self, coordinates)?)))
    }
}

/// A call on the set that it is.
macro_rules! on_set {
    ($any:expr, $set:ident => $call:expr) => {
        match $any {
            AnyAtoms::Coordinates($set) => $call,
            AnyAtoms::Groups($set) => $call,
            AnyAtoms::Overlapping($set) => $call,
            AnyAtoms::Always($set) => $call,
        }
    };
}

impl ConstraintSet for AnyAtoms {
    type Point = SparseVec;

    fn domain(&self) -> usize {
        on_set!(self, set => set.domain())
    }
    fn atoms(&self) -> usize {
        on_set!(self, set => set.atoms())
    }
    fn with_atoms(&self, k: usize) -> Result<Self, Error> {
        Ok(match self {
            Self::Coordinates(set) => Self::Coordinates(set.with_atoms(k)?),
            Self::Groups(set) => Self::Groups(set.with_atoms(k)?),
            Self::Overlapping(set) => Self::Overlapping(set.with_atoms(k)?),
            Self::Always(set) => Self::Always(Box::new(set.with_atoms(k)?)),
        })
    }
    fn structure(&self) -> Structure {
        on_set!(self, set => set.structure())
    }
    fn project(&self, v: SparseVec) -> SparseVec {
        on_set!(self, set => set.project(v))
    }
    fn guarantee(&self) -> Guarantee {
        on_set!(self, set => set.guarantee())
    }
}

impl Expand<Vec<f64>> for AnyAtoms {
    fn expand(&self, g: &Vec<f64>, u: &IndexSet) -> IndexSet {
        on_set!(self, set => set.expand(g, u))
    }
}

impl Exchange<Vec<f64>> for AnyAtoms {
    fn removals(&self, x: &SparseVec, count: usize) -> Vec<IndexSet> {
        on_set!(self, set => set.removals(x, count))
    }
    fn additions(&self, x: &SparseVec, g: &Vec<f64>, count: usize) -> Vec<IndexSet> {
        on_set!(self, set => set.additions(x, g, count))
    }
}

impl CoordinateSet for AnyAtoms {
    fn candidates(&self) -> Atoms {
        on_set!(self, set => set.candidates())
    }
    fn kept(&self) -> IndexSet {
        on_set!(self, set => set.kept())
    }
    fn chosen(&self, x: &SparseVec) -> Vec<usize> {
        on_set!(self, set => set.chosen(x))
    }
    fn embedded(&self, dim: usize) -> Self {
        match self {
            Self::Coordinates(set) => Self::Coordinates(set.embedded(dim)),
            Self::Groups(set) => Self::Groups(set.embedded(dim)),
            Self::Overlapping(set) => Self::Overlapping(set.embedded(dim)),
            Self::Always(set) => Self::Always(Box::new(set.embedded(dim))),
        }
    }
}
