//! Sets whose atoms are coordinates or groups of them: what a search over atoms must know.

use super::{Exchange, Expand};
use crate::space::{IndexSet, SparseVec};

/// Every atom of a set as a list of coordinates. Atom `i` of a k-sparse set is coordinate `i`, atom
/// `i` of groups is group `i`. An atom without coordinates cannot be chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Atoms {
    starts: Vec<usize>,
    members: Vec<usize>,
    shared: bool,
    /// The coordinates of the largest one.
    widest: usize,
    /// Those without coordinates.
    empty: Vec<usize>,
}

impl Atoms {
    fn new(starts: Vec<usize>, members: Vec<usize>, shared: bool) -> Self {
        let sizes = || starts.windows(2).map(|ends| ends[1] - ends[0]);
        let empty = sizes().enumerate().filter(|(_, size)| *size == 0).map(|(atom, _)| atom).collect();
        Self { widest: sizes().max().unwrap_or(0), empty, starts, members, shared }
    }

    /// Each coordinate below `dim` is an atom.
    pub fn coordinates(dim: usize) -> Self {
        let (starts, members) = ((0..=dim).collect(), (0..dim).collect());
        Self { starts, members, shared: false, widest: dim.min(1), empty: Vec::new() }
    }

    /// Atoms given by their coordinates; `shared` says whether some coordinate belongs to two.
    pub fn groups(members: &[Vec<usize>], shared: bool) -> Self {
        let mut starts = vec![0];
        starts.extend(members.iter().scan(0, |end, group| {
            *end += group.len();
            Some(*end)
        }));
        Self::new(starts, members.concat(), shared)
    }

    /// The same atoms without some of their coordinates.
    #[must_use]
    pub fn without(self, left_out: &IndexSet) -> Self {
        let least = left_out.indices().first().copied().unwrap_or(usize::MAX);
        // Atoms up to the first that may lose a coordinate stay as they are.
        let Some(first) = self.members.iter().position(|&i| i >= least) else { return self };
        let (same, shared) = (self.starts[1..].partition_point(|&end| end <= first), self.shared);
        let (mut starts, mut members) = (self.starts, self.members);
        let (ends, tail) = (starts.split_off(same + 1), members.split_off(starts[same]));
        let (kept, mut begin) = (members.len(), members.len());
        for end in ends {
            members.extend(tail[begin - kept..end - kept].iter().filter(|&&i| !left_out.contains(i)));
            starts.push(members.len());
            begin = end;
        }
        Self::new(starts, members, shared)
    }

    /// The number of atoms.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The coordinates of an atom.
    pub fn members(&self, atom: usize) -> &[usize] {
        &self.members[self.starts[atom]..self.starts[atom + 1]]
    }

    /// How many of the first atoms are each the coordinate of its number: all of a k-sparse set.
    pub fn leading_coordinates(&self) -> usize {
        let plain = |(i, (&member, &end)): (usize, (&usize, &usize))| member == i && end == i + 1;
        self.members.iter().zip(&self.starts[1..]).enumerate().take_while(|&each| plain(each)).count()
    }

    /// The coordinates of the largest atom.
    pub fn widest(&self) -> usize {
        self.widest
    }

    /// The atoms without coordinates, rising: those that cannot be chosen.
    pub fn empty(&self) -> &[usize] {
        &self.empty
    }

    /// Whether some coordinate belongs to two atoms.
    pub fn shared(&self) -> bool {
        self.shared
    }
}

/// A set whose atoms are coordinates or groups of them.
pub trait CoordinateSet: Expand<Vec<f64>, Point = SparseVec> + Exchange<Vec<f64>> {
    /// Every atom, without the coordinates that are [kept](CoordinateSet::kept).
    fn candidates(&self) -> Atoms;
    /// The coordinates that every point has and that count for nothing.
    fn kept(&self) -> IndexSet {
        IndexSet::new(self.domain(), Vec::new())
    }
    /// The atoms that a point is made of, rising.
    fn chosen(&self, x: &SparseVec) -> Vec<usize>;
    /// The same atoms in a space with more coordinates behind, which belong to none of them: room for
    /// an intercept.
    #[must_use]
    fn embedded(&self, dim: usize) -> Self;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn atoms_that_are_their_own_coordinates_are_counted() {
        let all = Atoms::coordinates(4);
        let without = |left_out: usize| all.clone().without(&IndexSet::new(4, vec![left_out]));
        assert_eq!([&all, &without(3), &without(2), &without(0)].map(Atoms::leading_coordinates), [4, 3, 2, 0]);
        let groups = |members: &[&[usize]]| {
            Atoms::groups(&members.iter().map(|group| group.to_vec()).collect::<Vec<_>>(), false).leading_coordinates()
        };
        assert_eq!(groups(&[&[0], &[1], &[2, 3]]), 2);
        assert_eq!(groups(&[&[1], &[0]]), 0);
        assert_eq!(groups(&[&[0], &[], &[1]]), 1);
        assert_eq!(groups(&[]), 0);
    }
}
