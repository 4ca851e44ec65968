//! The working set: atoms whose columns are at hand, and the quadratic of f over them.
//!
//! A whole column of the Gram matrix costs a pass over the data; over the working set it costs a few hundred products. Atoms
//! and coordinates have numbers of their own here, in the order in which they came. What is always in comes first.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use super::bounds::Bounds;
use super::heredity::Heredity;
use super::pricing::expansion;
use super::problem::Problem;
use super::quadratic::{Quadratic, Terms};
use super::responses::{Responses, interleaved};
use crate::linalg::{dot, kernels};
use crate::loss::Curvature;
use crate::objective::Evaluated;
use crate::set::Atoms;
use crate::space::{IndexSet, SparseVec};

/// Stands in the list of atoms where a coordinate that is always in has its place.
const NO_ATOM: usize = usize::MAX;

/// Some atoms of a problem, with copies of their columns.
#[derive(Debug, Clone)]
pub(crate) struct WorkingSet {
    rows: usize,
    dim: usize,
    /// The coordinates, and the place of each among them.
    coordinates: Vec<usize>,
    places: BTreeMap<usize, usize>,
    /// Their columns, one after the other.
    columns: Arc<Vec<f64>>,
    ridges: Vec<f64>,
    /// The atoms by their number outside, and the place of each.
    numbers: Vec<usize>,
    listed: BTreeMap<usize, usize>,
    members: Vec<Vec<usize>>,
    shared: bool,
    /// Where there are several responses: coordinates are then columns, and each is kept once.
    responses: Option<Responses>,
    /// Bounds on all coordinates of the problem, and on those here.
    bounds: Option<(Bounds, Bounds)>,
    /// The same by their numbers here.
    pub atoms: Atoms,
    pub kept: IndexSet,
}

impl WorkingSet {
    /// What is always in, and no atom yet.
    pub fn new(f: &dyn Problem, kept: &IndexSet, shared: bool) -> Self {
        Self::of_responses(f, kept, shared, None)
    }

    /// The same for several responses, by columns.
    pub fn of_responses(f: &dyn Problem, kept: &IndexSet, shared: bool, responses: Option<&Responses>) -> Self {
        let count = kept.indices().len();
        let mut set = Self {
            rows: f.rows() / responses.map_or(1, Responses::count),
            dim: f.dim(),
            coordinates: Vec::new(),
            places: BTreeMap::new(),
            columns: Arc::default(),
            ridges: Vec::new(),
            // A place among the atoms for each of them: so that single coordinates have the numbers of their atoms.
            numbers: vec![NO_ATOM; count],
            listed: BTreeMap::new(),
            members: vec![Vec::new(); count],
            shared,
            responses: responses.cloned(),
            bounds: None,
            atoms: Atoms::coordinates(0),
            kept: IndexSet::new(0, Vec::new()),
        };
        set.append(f, kept.indices());
        set.renumber(count);
        set
    }

    /// The same columns under another ridge.
    pub fn under(&self, f: &dyn Problem) -> Self {
        Self { ridges: self.coordinates.iter().map(|&j| self.ridge_at(f, j)).collect(), ..self.clone() }
    }

    /// The same within bounds on the coordinates of the problem.
    pub fn within(mut self, bounds: Option<&Bounds>) -> Self {
        self.bounds = bounds.map(|bounds| (bounds.clone(), bounds.of(&self.coordinates)));
        self
    }

    /// Atoms join the set, those of the smallest coordinates first. How many are new.
    pub fn add(&mut self, f: &dyn Problem, atoms: &Atoms, some: impl IntoIterator<Item = usize>) -> usize {
        let fits = |atom: &usize| !self.listed.contains_key(atom) && !atoms.members(*atom).is_empty();
        let new: BTreeSet<usize> = some.into_iter().filter(fits).collect();
        let fresh = new.iter().flat_map(|&atom| atoms.members(atom)).filter(|j| !self.places.contains_key(j));
        let fresh: BTreeSet<usize> = fresh.copied().collect();
        self.append(f, &fresh.into_iter().collect::<Vec<usize>>());
        let mut ordered: Vec<usize> = new.into_iter().collect();
        ordered.sort_by_key(|&atom| self.places.get(&atoms.members(atom)[0]));
        for &atom in &ordered {
            self.listed.insert(atom, self.numbers.len());
            self.numbers.push(atom);
            self.members.push(atoms.members(atom).iter().filter_map(|j| self.places.get(j).copied()).collect());
        }
        let kept = self.kept.indices().len();
        self.renumber(kept);
        ordered.len()
    }

    fn renumber(&mut self, kept: usize) {
        self.atoms = Atoms::groups(&self.members, self.shared);
        self.kept = IndexSet::new(self.coordinates.len(), (0..kept).collect());
    }

    fn append(&mut self, f: &dyn Problem, fresh: &[usize]) {
        Arc::make_mut(&mut self.columns).extend(match &self.responses {
            Some(responses) => responses.copies(f, fresh),
            None => f.columns(fresh),
        });
        for &j in fresh {
            self.places.insert(j, self.coordinates.len());
            self.coordinates.push(j);
            self.ridges.push(self.ridge_at(f, j));
        }
        if let Some((all, here)) = &mut self.bounds {
            *here = all.of(&self.coordinates);
        }
    }

    fn ridge_at(&self, f: &dyn Problem, j: usize) -> f64 {
        f.ridge_at(self.responses.as_ref().map_or(j, |responses| responses.coordinates_of(j)[0]))
    }

    /// The number of coordinates.
    pub fn len(&self) -> usize {
        self.coordinates.len()
    }

    /// The number of atoms.
    pub fn count(&self) -> usize {
        self.listed.len()
    }

    /// The numbers here of atoms outside; those that are not in the set are left out.
    pub fn places_of(&self, atoms: &[usize]) -> Vec<usize> {
        atoms.iter().filter_map(|atom| self.listed.get(atom).copied()).collect()
    }

    /// The numbers outside of atoms here, rising.
    pub fn numbers_of(&self, places: &[usize]) -> Vec<usize> {
        let mut numbers: Vec<usize> = places.iter().map(|&place| self.numbers[place]).collect();
        numbers.sort_unstable();
        numbers
    }

    /// What the atoms here need beside them, by their places.
    pub fn heredity(&self, whole: &Heredity) -> Heredity {
        whole.of_places(&self.numbers, |atom| self.listed.get(&atom).copied())
    }

    /// Whether an atom is in the set.
    pub fn contains(&self, atom: usize) -> bool {
        self.listed.contains_key(&atom)
    }

    /// A point of the set in the space of f.
    pub fn outside(&self, x: &SparseVec) -> SparseVec {
        let coordinate = |i: usize| match &self.responses {
            Some(responses) => responses.coordinates_of(self.coordinates[i / responses.count()])[i % responses.count()],
            None => self.coordinates[i],
        };
        let mut entries: Vec<(usize, f64)> = x.entries().map(|(i, v)| (coordinate(i), v)).collect();
        entries.sort_by_key(|e| e.0);
        let (indices, values) = entries.into_iter().unzip();
        SparseVec::sorted(self.dim, indices, values)
    }

    fn column(&self, place: usize) -> &[f64] {
        &self.columns[place * self.rows..][..self.rows]
    }

    /// The products of the columns from `first` on with r.
    fn products(&self, first: usize, rs: &[&[f64]]) -> Vec<Vec<f64>> {
        let mut products = vec![vec![0.0; self.len() - first]; rs.len()];
        let mut outs: Vec<&mut [f64]> = products.iter_mut().map(Vec::as_mut_slice).collect();
        kernels::adjoint_columns_block(&self.columns[first * self.rows..], rs, &mut outs);
        products
    }
}

/// The quadratic of f around a point over a working set: f itself for least squares, the Newton model for other losses.
#[derive(Debug)]
pub(crate) struct Local {
    /// The second derivatives of the loss.
    curvature: Curvature,
    /// What b is the pull-back of, response by response.
    pushed: Vec<f64>,
    terms: Terms,
    /// Columns of G that were asked for.
    columns: Vec<OnceLock<Vec<f64>>>,
    blocks: Vec<OnceLock<Vec<f64>>>,
}

impl Local {
    /// Around x. `least` bounds the curvatures from below: predictions on which the loss is nearly flat may move far.
    pub fn around(f: &dyn Problem, set: &WorkingSet, x: &Evaluated<SparseVec>, least: f64) -> Self {
        let whole = f.curvature(x).at_least(least);
        let (pushed, constant) = expansion(f, x, &whole);
        let curvature = match &set.responses {
            Some(responses) => responses.curvature(&whole),
            None => whole,
        };
        let terms = Terms { linear: Vec::new(), diagonal: Vec::new(), constant };
        let mut local = Self { curvature, pushed, terms, columns: Vec::new(), blocks: Vec::new() };
        local.grow(set);
        local
    }

    /// Follows the set, which has grown.
    pub fn grow(&mut self, set: &WorkingSet) {
        let first = self.terms.diagonal.len();
        if first < set.len() {
            let pushed: Vec<&[f64]> = self.pushed.chunks(set.rows.max(1)).collect();
            self.terms.linear.extend(interleaved(&set.products(first, &pushed)));
            for place in first..set.len() {
                let curved = self.curved(set, place);
                self.terms.diagonal.push(dot(&curved, set.column(place)) + set.ridges[place]);
            }
            let known: Vec<usize> = (0..first).filter(|&j| self.columns[j].get().is_some()).collect();
            for some in known.chunks(32) {
                let curved: Vec<Vec<f64>> = some.iter().map(|&j| self.curved(set, j)).collect();
                let views: Vec<&[f64]> = curved.iter().map(Vec::as_slice).collect();
                for (&j, rest) in some.iter().zip(set.products(first, &views)) {
                    if let Some(column) = self.columns[j].get_mut() {
                        column.extend(rest);
                    }
                }
            }
            self.columns.resize_with(set.len(), OnceLock::new);
        }
        self.blocks.resize_with(set.members.len(), OnceLock::new);
    }

    fn curved(&self, set: &WorkingSet, place: usize) -> Vec<f64> {
        self.curvature.times(set.column(place))
    }

    /// The quadratic on the set that it was made for.
    pub fn on<'a>(&'a self, set: &'a WorkingSet) -> LocalModel<'a> {
        LocalModel { set, local: self }
    }
}

/// A [`Local`] and its set.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LocalModel<'a> {
    pub set: &'a WorkingSet,
    local: &'a Local,
}

impl Quadratic for LocalModel<'_> {
    fn terms(&self) -> &Terms {
        &self.local.terms
    }
    fn bounds(&self) -> Option<&Bounds> {
        self.set.bounds.as_ref().map(|(_, here)| here)
    }
    fn column(&self, j: usize) -> &[f64] {
        let cell = &self.local.columns[j];
        if cell.get().is_none() {
            self.prepare(&[j]);
        }
        cell.get().map_or(&[], Vec::as_slice)
    }
    fn prepare(&self, places: &[usize]) {
        let missing: Vec<usize> = places.iter().copied().filter(|&j| self.local.columns[j].get().is_none()).collect();
        for some in missing.chunks(32) {
            let curved: Vec<Vec<f64>> = some.iter().map(|&j| self.local.curved(self.set, j)).collect();
            let views: Vec<&[f64]> = curved.iter().map(Vec::as_slice).collect();
            for (&j, mut column) in some.iter().zip(self.set.products(0, &views)) {
                column[j] = self.local.terms.diagonal[j];
                // Another thread may have been quicker, with the same numbers.
                let _ = self.local.columns[j].set(column);
            }
        }
    }
    fn block(&self, atom: usize, members: &[usize]) -> Vec<f64> {
        if let [j] = members {
            return vec![self.local.terms.diagonal[*j]];
        }
        let compute = || {
            let mut block = vec![0.0; members.len() * members.len()];
            for (b, &j) in members.iter().enumerate() {
                let curved = self.local.curved(self.set, j);
                for (a, &i) in members.iter().enumerate() {
                    let ridge = if a == b { self.set.ridges[i] } else { 0.0 };
                    block[b * members.len() + a] = dot(&curved, self.set.column(i)) + ridge;
                }
            }
            block
        };
        let cell = &self.local.blocks[atom];
        if cell.get().is_none() {
            let _ = cell.set(compute());
        }
        cell.get().cloned().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::{LeastSquares, Logistic};
    use crate::objective::Objective;
    use crate::operator::Dense;
    use crate::simulate::{gaussian, labels};
    use crate::space::Point;

    /// Every entry of the quadratic on a set against its definition.
    fn check(f: &dyn Problem, x: &Evaluated<SparseVec>, q: &LocalModel<'_>, design: &[f64], ridge: f64) {
        let (rows, h, r) = (f.rows(), f.curvature(x).bound().to_vec(), f.residual(x));
        let column = |place: usize| &design[q.set.coordinates[place] * rows..][..rows];
        for j in 0..q.dim() {
            let pushed = |i: usize| column(j)[i] * (h[i] * x.image()[i] - r[i]);
            let linear: f64 = (0..rows).map(pushed).sum();
            assert!((q.linear()[j] - linear).abs() < 1e-10 * (1.0 + linear.abs()));
            for i in 0..q.dim() {
                let entry: f64 = (0..rows).map(|row| column(i)[row] * h[row] * column(j)[row]).sum();
                let entry = entry + if i == j { ridge } else { 0.0 };
                assert!((q.column(j)[i] - entry).abs() < 1e-10 * (1.0 + entry.abs()), "({i}, {j})");
            }
            assert_eq!(q.column(j)[j], q.diagonal()[j]);
        }
    }

    #[test]
    fn a_set_that_grows_has_the_quadratic_of_its_atoms() {
        let (rows, n) = (30, 20);
        let design = gaussian(rows, n, 1);
        let atoms = Atoms::groups(&[vec![3], vec![7, 2], vec![11], vec![19, 0, 5], vec![4]], false);
        let kept = IndexSet::new(n, vec![9]);
        let x = SparseVec::new(n, vec![2, 9], vec![0.5, -1.0]).unwrap();
        let y = gaussian(rows, 1, 2);
        let a = || Dense::column_major(&design, rows, n).unwrap();
        let squares = Objective::new(a(), LeastSquares::new(y.clone()).unwrap()).unwrap().ridge(0.3).unwrap();
        let classes = Objective::new(a(), Logistic::new(labels(&y, 3)).unwrap()).unwrap().ridge(0.3).unwrap();
        let problems: [&dyn Problem; 2] = [&squares, &classes];
        for f in problems {
            let x = f.at(x.clone());
            let mut set = WorkingSet::new(f, &kept, false);
            assert_eq!(set.add(f, &atoms, [1, 4]), 2);
            let mut local = Local::around(f, &set, &x, 0.0);
            local.on(&set).column(2);
            assert_eq!((set.add(f, &atoms, [1, 3, 0]), set.add(f, &atoms, [3])), (2, 0));
            local.grow(&set);
            check(f, &x, &local.on(&set), &design, 0.3);
            assert_eq!((set.count(), set.len(), set.places_of(&[2]).len()), (4, 8, 0));
            let places = set.places_of(&[3, 1]);
            assert_eq!(set.numbers_of(&places), [1, 3]);
            let q = local.on(&set);
            for &place in &places {
                let members = set.atoms.members(place).to_vec();
                let block = q.block(place, &members);
                for (b, &j) in members.iter().enumerate() {
                    for (a, &i) in members.iter().enumerate() {
                        assert!((block[b * members.len() + a] - q.column(j)[i]).abs() < 1e-10);
                    }
                }
            }
        }
    }

    #[test]
    fn the_quadratic_of_least_squares_is_f_around_any_point() {
        let (rows, n) = (25, 6);
        let design = gaussian(rows, n, 4);
        let a = Dense::column_major(&design, rows, n).unwrap();
        let f = Objective::new(a, LeastSquares::new(gaussian(rows, 1, 5)).unwrap()).unwrap().ridge(0.7).unwrap();
        let f: &dyn Problem = &f;
        let mut set = WorkingSet::new(f, &IndexSet::new(n, Vec::new()), false);
        set.add(f, &Atoms::coordinates(n), 0..n);
        let elsewhere = f.at(SparseVec::new(n, vec![1, 4], vec![3.0, -2.0]).unwrap());
        let around = |x: &Evaluated<SparseVec>| Local::around(f, &set, x, 0.0);
        let (here, there) = (around(&f.at(SparseVec::zero(n))), around(&elsewhere));
        assert!((here.terms.constant - there.terms.constant).abs() < 1e-10 * here.terms.constant);
        assert!(here.terms.linear.iter().zip(&there.terms.linear).all(|(a, b)| (a - b).abs() < 1e-9));
        assert!((here.terms.constant - f.value(&f.at(SparseVec::zero(n)))).abs() < 1e-12 * here.terms.constant);
    }
}
