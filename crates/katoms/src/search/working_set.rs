//! The working set: atoms whose columns are at hand, and the quadratic of f over them.
//!
//! A whole column of the Gram matrix costs a pass over the data; over the working set it costs a few hundred products. Atoms
//! and coordinates have numbers of their own here, in the order in which they came. What is always in comes first.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, OnceLock};

use super::bounds::Bounds;
use super::heredity::Heredity;
use super::pricing::expansion;
use super::problem::Problem;
use super::quadratic::{Quadratic, Terms};
use super::responses::{Responses, interleaved};
use crate::linalg::{ColumnBuffer, dot, kernels, parallel};
use crate::loss::Curvature;
use crate::objective::Evaluated;
use crate::set::Atoms;
use crate::space::{IndexSet, SparseVec};

/// Stands in the list of atoms where a coordinate that is always in has its place.
const NO_ATOM: usize = usize::MAX;

/// Some atoms of a problem, with copies of their columns where the problem does not give all their products by itself.
#[derive(Debug, Clone)]
pub(crate) struct WorkingSet {
    /// The rows of one output, and how many outputs have coefficients of their own on the same columns.
    rows: usize,
    outputs: usize,
    dim: usize,
    /// The coordinates, and the place of each among them.
    coordinates: Vec<usize>,
    places: BTreeMap<usize, usize>,
    /// Columns, one after the other, and the place of each among them. All outputs share them: on the rows of the others
    /// that of a coordinate is zero.
    columns: Arc<ColumnBuffer>,
    copies: bool,
    kept_columns: BTreeMap<usize, usize>,
    /// The place of the column of each coordinate, and its output.
    owns: Vec<(usize, usize)>,
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
        // Of several responses each column is a coordinate, which has no output of its own.
        let outputs = if responses.is_some() { 1 } else { f.outputs() };
        let mut set = Self {
            rows: f.rows() / responses.map_or(outputs, Responses::count),
            outputs,
            dim: f.dim(),
            coordinates: Vec::new(),
            places: BTreeMap::new(),
            columns: Arc::default(),
            copies: responses.is_some() || outputs > 1 || !f.gives_all_products(),
            kept_columns: BTreeMap::new(),
            owns: Vec::new(),
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

    /// Brings the columns of atoms near that will join the set, one after the other.
    pub fn fetch<'i>(&self, f: &dyn Problem, atoms: &Atoms, some: impl IntoIterator<Item = &'i usize>) {
        let members = some.into_iter().flat_map(|&atom| atoms.members(atom)).filter(|j| !self.places.contains_key(j));
        let own = |&j: &usize| match &self.responses {
            Some(responses) => responses.coordinates_of(j)[0],
            None => j,
        };
        let wanted: Vec<usize> = members.map(own).collect();
        if self.copies && !wanted.is_empty() {
            f.fetch(&wanted);
        }
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
        let mut wanted = Vec::new();
        for &j in fresh {
            let (column, output) = if self.responses.is_some() { (j, 0) } else { f.column_of(j) };
            let next = self.kept_columns.len();
            let place = *self.kept_columns.entry(column).or_insert(next);
            if place == next {
                wanted.push((j, output));
            }
            self.owns.push((place, output));
            self.places.insert(j, self.coordinates.len());
            self.coordinates.push(j);
            self.ridges.push(self.ridge_at(f, j));
        }
        let coordinates: Vec<usize> = wanted.iter().map(|&(j, _)| j).collect();
        let columns = Arc::make_mut(&mut self.columns);
        match &self.responses {
            Some(responses) => {
                let copies = responses.copies(f, &coordinates);
                columns.append(self.rows, coordinates.len(), &|at, column| {
                    column.copy_from_slice(&copies[at * self.rows..][..self.rows]);
                });
            }
            None if !self.copies => {}
            None if self.outputs == 1 => f.append_columns(&coordinates, columns),
            None => {
                let whole = f.columns(&coordinates);
                columns.append(self.rows, wanted.len(), &|at, column| {
                    column.copy_from_slice(&whole[at * f.rows() + wanted[at].1 * self.rows..][..self.rows]);
                });
            }
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

    /// Columns of G that are computed together: as many as their columns stay in fast memory, or all in one call.
    fn at_once(&self) -> usize {
        if self.copies { 32 } else { usize::MAX }
    }

    /// The column of a coordinate, on the rows of its output.
    fn column(&self, place: usize) -> &[f64] {
        &self.columns.data()[self.owns[place].0 * self.rows..][..self.rows]
    }

    /// The same on all rows.
    fn whole_column(&self, place: usize) -> Cow<'_, [f64]> {
        if self.outputs == 1 {
            return Cow::Borrowed(self.column(place));
        }
        let mut whole = vec![0.0; self.rows * self.outputs];
        whole[self.owns[place].1 * self.rows..][..self.rows].copy_from_slice(self.column(place));
        Cow::Owned(whole)
    }

    /// The product of a coordinate's column with r.
    fn product(&self, place: usize, r: &[f64]) -> f64 {
        dot(self.column(place), &r[self.owns[place].1 * self.rows..][..self.rows])
    }

    /// The products of the columns from `first` on with each r.
    fn products(&self, first: usize, rs: &[&[f64]]) -> Vec<Vec<f64>> {
        let new = &self.owns[first..];
        let from = new.iter().map(|own| own.0).min().unwrap_or(self.kept_columns.len());
        let part = |at: usize| &rs[at / self.outputs][at % self.outputs * self.rows..][..self.rows];
        let parts: Vec<&[f64]> = (0..rs.len() * self.outputs).map(part).collect();
        let mut products = vec![vec![0.0; self.kept_columns.len() - from]; parts.len()];
        let mut outs: Vec<&mut [f64]> = products.iter_mut().map(Vec::as_mut_slice).collect();
        kernels::adjoint_columns_block(&self.columns.data()[from * self.rows..], &parts, &mut outs);
        if self.outputs == 1 {
            return products;
        }
        let own = |products: &[Vec<f64>]| new.iter().map(|&(place, output)| products[output][place - from]).collect();
        products.chunks(self.outputs).map(own).collect()
    }
}

/// Columns whose squares one task computes, or whose products with each other are asked for to have them.
const SQUARED: usize = 128;

/// The quadratic of f around a point over a working set: f itself for least squares, the Newton model for other losses.
pub(crate) struct Local<'f> {
    f: &'f dyn Problem,
    /// The second derivatives of the loss.
    curvature: Curvature,
    /// What b is the pull-back of, response by response.
    pushed: Vec<f64>,
    terms: Terms,
    /// Columns of G that were asked for.
    columns: Vec<OnceLock<Vec<f64>>>,
    blocks: Vec<OnceLock<Vec<f64>>>,
}

impl fmt::Debug for Local<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Local").field("terms", &self.terms).finish_non_exhaustive()
    }
}

impl<'f> Local<'f> {
    /// Around x. `least` bounds the curvatures from below: predictions on which the loss is nearly flat may move far.
    pub fn around(f: &'f dyn Problem, set: &WorkingSet, x: &Evaluated<SparseVec>, least: f64) -> Self {
        let whole = f.curvature(x).at_least(least);
        let (pushed, constant) = expansion(f, x, &whole);
        let curvature = match &set.responses {
            Some(responses) => responses.curvature(&whole),
            None => whole,
        };
        let terms = Terms { linear: Vec::new(), diagonal: Vec::new(), constant };
        let mut local = Self { f, curvature, pushed, terms, columns: Vec::new(), blocks: Vec::new() };
        local.grow(set);
        local
    }

    /// Follows the set, which has grown.
    pub fn grow(&mut self, set: &WorkingSet) {
        let first = self.terms.diagonal.len();
        if first < set.len() {
            let pushed: Vec<&[f64]> = self.pushed.chunks((set.rows * set.outputs).max(1)).collect();
            let linear = if set.copies {
                set.products(first, &pushed)
            } else {
                self.f.pulled_back(&pushed, &set.coordinates[first..])
            };
            self.terms.linear.extend(interleaved(&linear));
            let squares: Vec<f64> = if set.copies {
                let mut squares = vec![0.0; set.len() - first];
                parallel::chunks_mut(&mut squares, SQUARED, &|chunk, squares| {
                    let places = first + chunk * SQUARED..;
                    squares.iter_mut().zip(places).for_each(|(own, j)| *own = self.entries(set, j, &[j])[0]);
                });
                squares
            } else {
                let some = set.coordinates[first..].chunks(SQUARED);
                let diagonal =
                    |some: &[usize]| self.given(some, some).into_iter().enumerate().map(|(at, column)| column[at]);
                some.flat_map(diagonal).collect()
            };
            self.terms.diagonal.extend(squares.iter().zip(&set.ridges[first..]).map(|(square, ridge)| square + ridge));
            let known: Vec<usize> = (0..first).filter(|&j| self.columns[j].get().is_some()).collect();
            for some in known.chunks(set.at_once()) {
                for (&j, rest) in some.iter().zip(self.products(set, first, some)) {
                    if let Some(column) = self.columns[j].get_mut() {
                        column.extend(rest);
                    }
                }
            }
            self.columns.resize_with(set.len(), OnceLock::new);
        }
        self.blocks.resize_with(set.members.len(), OnceLock::new);
    }

    /// The rows of G from `first` on in some of its columns, without the ridge.
    fn products(&self, set: &WorkingSet, first: usize, some: &[usize]) -> Vec<Vec<f64>> {
        if set.copies {
            let plain = self.curvature.is_identity();
            let curved: Vec<Cow<'_, [f64]>> = parallel::map(some.len(), &|at| match plain {
                true => set.whole_column(some[at]),
                false => Cow::Owned(self.curved(set, some[at])),
            });
            let views: Vec<&[f64]> = curved.iter().map(AsRef::as_ref).collect();
            return set.products(first, &views);
        }
        let right: Vec<usize> = some.iter().map(|&place| set.coordinates[place]).collect();
        self.given(&set.coordinates[first..], &right)
    }

    /// Products that the problem gives by itself, for each on the right those with all on the left.
    fn given(&self, left: &[usize], right: &[usize]) -> Vec<Vec<f64>> {
        let none = || vec![vec![f64::NAN; left.len()]; right.len()];
        self.f.products(&self.curvature, left, right).unwrap_or_else(none)
    }

    fn curved(&self, set: &WorkingSet, place: usize) -> Vec<f64> {
        self.curvature.times(&set.whole_column(place))
    }

    /// Entries of a column of G, without the ridge.
    fn entries(&self, set: &WorkingSet, place: usize, others: &[usize]) -> Vec<f64> {
        let output = |place: usize| set.owns[place].1;
        if !set.copies {
            let left: Vec<usize> = others.iter().map(|&other| set.coordinates[other]).collect();
            return self.given(&left, &[set.coordinates[place]]).concat();
        }
        if set.outputs == 1 || self.curvature.of_outputs(output(place), output(place)).is_none() {
            let curved = self.curved(set, place);
            return others.iter().map(|&other| set.product(other, &curved)).collect();
        }
        let entry = |&other: &usize| {
            let h = self.curvature.of_outputs(output(place), output(other)).unwrap_or_default();
            let curved: Vec<f64> = h.iter().zip(set.column(place)).map(|(h, v)| h * v).collect();
            dot(&curved, set.column(other))
        };
        others.iter().map(entry).collect()
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
    local: &'a Local<'a>,
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
        for some in missing.chunks(self.set.at_once()) {
            for (&j, mut column) in some.iter().zip(self.local.products(self.set, 0, some)) {
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
                block[b * members.len() + b] = self.local.terms.diagonal[j];
                for (a, entry) in self.local.entries(self.set, j, &members[..b]).into_iter().enumerate() {
                    block[b * members.len() + a] = entry;
                    block[a * members.len() + b] = entry;
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
mod tests;
