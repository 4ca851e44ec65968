//! A quadratic over the atoms whose columns are known: a place to look around in for little.
//!
//! A move on all n coordinates takes O(n·k), and most ways by other sizes lead nowhere. Atoms that were ever worth a
//! column are a small share of all; among them the same way costs as small a share, and what it leads to tells whether
//! it is worth going among all.

use std::ops::ControlFlow;

use rayon::prelude::*;

use super::Quadratic;
use super::detours::shrink;
use super::gram::Gram;
use super::ladder::{Climb, Way};
use super::listing::Listing;
use super::neighbourhood::GoOn;
use super::swaps::{IMPROVES, Polish};
use super::tableau::Tableau;
use crate::loss::Loss;
use crate::operator::LinearOperator;
use crate::set::Atoms;
use crate::space::{IndexSet, SparseVec};

/// An excerpt has at most this part of all coordinates; a larger one would save too little.
const SHARE: usize = 4;
/// And at least so many times those that a model has; in a smaller one there is nothing to choose from.
const CHOICE: usize = 2;

/// Ways that are gone between two questions whether to go on.
const SIDE_BY_SIDE: usize = 16;

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

    /// What is known now, where that is a small part of the whole: the last excerpt, and the columns that came since.
    pub fn renewed<A, L>(last: Option<Self>, gram: &Gram<'_, A, L>, atoms: &Atoms, kept: &IndexSet) -> Option<Self>
    where
        A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
        L: Loss,
    {
        let known = gram.known_coordinates();
        if known.len() * SHARE > gram.dim() {
            return None;
        }
        let last = last.filter(|last| last.list.coordinates.iter().all(|&j| gram.knows(j)));
        let (mut coordinates, mut columns) = match last {
            Some(last) if last.columns.len() == known.len() => return Some(last),
            Some(last) => (last.list.coordinates, last.columns),
            None => (Vec::new(), Vec::new()),
        };
        let fresh = IndexSet::new(gram.dim(), known).without(&IndexSet::new(gram.dim(), coordinates.clone()));
        coordinates.extend(fresh.indices());
        let picked = |all: &[f64]| coordinates.iter().map(|&j| all[j]).collect::<Vec<f64>>();
        let new: Vec<Vec<f64>> = fresh.indices().iter().filter_map(|&j| gram.column(j).map(picked)).collect();
        // G is symmetric: what the columns lack stands in the new ones.
        columns.iter_mut().enumerate().for_each(|(place, column)| column.extend(new.iter().map(|new| new[place])));
        columns.extend(new);
        let (linear, diagonal) = (picked(gram.linear()), picked(gram.diagonal()));
        let list = Listing::new(atoms, kept, coordinates);
        Some(Self { list, linear, diagonal, columns, constant: gram.constant() })
    }

    /// Whether there is a choice of models of so many atoms.
    pub fn offers(&self, size: usize) -> bool {
        self.list.atoms.len() >= size * CHOICE
    }

    /// From these atoms through some sizes, polished at each: the end, if f is below `below` there.
    pub fn routed(&self, chosen: &[usize], sizes: &[usize], below: f64, go_on: &mut GoOn<'_>) -> Option<Listed> {
        let Listing { atoms, kept, .. } = &self.list;
        let mut tableau = Tableau::new(self, atoms, kept, &self.list.places_of(chosen));
        for &size in sizes {
            shrink(&mut tableau, self, size);
            Polish::single(atoms, kept, size).advance_while(self, &mut tableau, go_on).ok()?;
        }
        let objective = tableau.objective();
        (objective < below).then(|| Listed { chosen: self.list.numbers_of(tableau.chosen()), objective })
    }
}

/// A model among the atoms of an excerpt.
pub(super) struct Listed {
    /// Its atoms, by their numbers outside.
    pub chosen: Vec<usize>,
    /// f there.
    pub objective: f64,
}

impl Climb for Excerpt {
    type Model = Listed;
    type Start = Vec<usize>;

    fn value(&self, model: &Listed) -> f64 {
        model.objective
    }
    fn start(model: &Listed) -> &Vec<usize> {
        &model.chosen
    }
    fn better_than(&self, model: &Listed) -> f64 {
        model.objective * (1.0 - IMPROVES)
    }
    fn go(&mut self, way: &Way<'_, Vec<usize>>, go_on: &mut GoOn<'_>) -> Option<Listed> {
        self.routed(way.from, &[way.size], way.below, go_on)
    }
    /// Side by side: on so few columns a single way keeps one thread busy.
    fn go_each(&mut self, ways: &[Way<'_, Vec<usize>>], go_on: &mut GoOn<'_>) -> Vec<Option<Listed>> {
        let one = |way: &Way<'_, Vec<usize>>| {
            self.routed(way.from, &[way.size], way.below, &mut |_| ControlFlow::Continue(()))
        };
        let some = |ways: &[Way<'_, Vec<usize>>]| -> Vec<Option<Listed>> {
            if go_on(0).is_break() { ways.iter().map(|_| None).collect() } else { ways.par_iter().map(one).collect() }
        };
        ways.chunks(SIDE_BY_SIDE).flat_map(some).collect()
    }
    fn lead_nowhere(&mut self, ways: &[Way<'_, Vec<usize>>], go_on: &mut GoOn<'_>) -> Vec<bool> {
        self.go_each(ways, go_on).iter().map(Option::is_none).collect()
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

#[cfg(test)]
mod tests {
    use super::super::quadratic::Brings;
    use super::*;
    use crate::loss::LeastSquares;
    use crate::objective::Objective;
    use crate::operator::Dense;
    use crate::simulate::{gaussian, noisy};
    use crate::space::Point;

    /// A problem of 90 columns, what is kept in it, and its atoms.
    fn problem(design: &[f64]) -> (Objective<Dense<'_, f64>, LeastSquares>, IndexSet, Atoms) {
        let y: Vec<f64> = (0..40).map(|i| design[i] + design[200 + i] - 2.0 * design[400 + i]).collect();
        let a = Dense::column_major(design, 40, 90).unwrap();
        let kept = IndexSet::new(90, vec![33]);
        let atoms = Atoms::coordinates(90).without(&kept);
        (Objective::new(a, LeastSquares::new(noisy(&y, 0.5, 3)).unwrap()).unwrap(), kept, atoms)
    }

    #[test]
    fn it_grows_into_what_it_would_be_anew() {
        let design = gaussian(40, 90, 3);
        let (f, kept, atoms) = problem(&design);
        let zero = f.at(SparseVec::zero(90));
        let mut gram = Gram::around(&f, &zero, &[33, 0, 5, 70]).unwrap();
        let mut excerpt = Excerpt::renewed(None, &gram, &atoms, &kept);
        gram.bring(&[2, 89]);
        excerpt = Excerpt::renewed(excerpt, &gram, &atoms, &kept);
        gram.bring(&[10, 71, 72]);
        let grown = Excerpt::renewed(excerpt, &gram, &atoms, &kept).unwrap();
        let anew = Excerpt::renewed(None, &gram, &atoms, &kept).unwrap();
        assert_eq!((grown.dim(), anew.dim()), (9, 9));
        let place = |excerpt: &Excerpt, j: usize| excerpt.list.coordinates.iter().position(|&i| i == j).unwrap();
        for &i in &anew.list.coordinates {
            let (here, there) = (place(&grown, i), place(&anew, i));
            assert_eq!((grown.linear[here], grown.diagonal[here]), (anew.linear[there], anew.diagonal[there]));
            for &j in &anew.list.coordinates {
                let expected = anew.columns[place(&anew, j)][there];
                let rounding = 1e-12 * (anew.diagonal[there] * anew.diagonal[place(&anew, j)]).sqrt();
                assert!((grown.columns[place(&grown, j)][here] - expected).abs() <= rounding, "({i}, {j})");
            }
        }
        // More than a quarter of all columns is no excerpt.
        gram.bring(&(0..23).collect::<Vec<_>>());
        assert!(Excerpt::renewed(Some(grown), &gram, &atoms, &kept).is_none());
    }

    #[test]
    fn ways_side_by_side_lead_where_each_leads_alone() {
        let design = gaussian(40, 90, 3);
        let (f, kept, atoms) = problem(&design);
        let zero = f.at(SparseVec::zero(90));
        let gram = Gram::around(&f, &zero, &[33, 0, 5, 10, 15, 20, 25, 30, 70, 71, 80, 81, 82]).unwrap();
        let mut excerpt = Excerpt::renewed(None, &gram, &atoms, &kept).unwrap();
        let starts: Vec<Vec<usize>> = (0..40).map(|i| vec![[0, 5, 15, 20][i % 4], [70, 71, 80][i % 3]]).collect();
        let way = |(i, from)| Way { size: 1 + i % 4, from, below: [f64::INFINITY, 0.0][i % 2] };
        let ways: Vec<_> = starts.iter().enumerate().map(way).collect();
        let mut go_on = |_| ControlFlow::Continue(());
        let together = excerpt.go_each(&ways, &mut go_on);
        let nowhere: Vec<bool> = together.iter().map(Option::is_none).collect();
        assert_eq!(excerpt.lead_nowhere(&ways, &mut go_on), nowhere);
        let (mut some, mut none) = (0, 0);
        for (way, end) in ways.iter().zip(together) {
            let alone = excerpt.go(way, &mut go_on);
            *(if end.is_some() { &mut some } else { &mut none }) += 1;
            let told = |listed: Listed| (listed.chosen, listed.objective);
            assert_eq!(end.map(told), alone.map(told));
        }
        assert!(some > 0 && none > 0);
        let stopped = excerpt.go_each(&ways, &mut |_| ControlFlow::Break(()));
        assert!(stopped.len() == ways.len() && stopped.iter().all(Option::is_none));
    }
}
