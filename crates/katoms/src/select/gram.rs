//! The quadratic of an objective: exact for least squares, the second-order picture around a point for
//! other losses.

use std::collections::BTreeMap;

use super::Quadratic;
use super::quadratic::Brings;
use crate::linalg::Matrix;
use crate::loss::Loss;
use crate::objective::{Evaluated, Objective};
use crate::operator::{LinearOperator, adjoint_many};
use crate::space::{IndexSet, SparseVec, Subspace};

/// Numbers that the known columns and what is computed from them may take: 1 GiB each.
const MOST: usize = 1 << 27;
/// A support beyond this is refitted by conjugate gradients; a square of it is no small matrix.
const LARGE: usize = 1000;

/// G, b and f(0) of f around a point.
pub(super) struct Gram<'a, A: LinearOperator, L> {
    f: &'a Objective<A, L>,
    curvatures: Vec<f64>,
    linear: Vec<f64>,
    diagonal: Vec<f64>,
    constant: f64,
    columns: BTreeMap<usize, Vec<f64>>,
}

/// Whether the quadratic picture of a model with this many coordinates can be had over a list of others.
pub(super) fn listable<A: LinearOperator<Point = SparseVec>>(a: &A, coordinates: usize) -> bool {
    a.has_cheap_columns() && coordinates <= LARGE
}

/// Whether the quadratic picture of a model with this many coordinates can be had over all others.
pub(super) fn affordable<A: LinearOperator<Point = SparseVec>>(a: &A, coordinates: usize) -> bool {
    listable(a, coordinates) && coordinates.saturating_mul(a.domain()) <= MOST
}

impl<'a, A, L> Gram<'a, A, L>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
{
    /// The picture around x, with these columns of G: two passes. For a quadratic loss it is the same
    /// around every x. `None` where columns are not cheap.
    pub fn around(f: &'a Objective<A, L>, x: &Evaluated<SparseVec>, columns: &[usize]) -> Option<Self> {
        let curvatures = f.curvatures(x);
        let constant = f.value(x) - f.slope(x, x) + 0.5 * f.bend(x, x);
        let mut pushed = f.residual(x);
        for ((r, h), z) in pushed.iter_mut().zip(&curvatures).zip(x.image()) {
            *r = h * z - *r;
        }
        let diagonal = diagonal(f, &curvatures)?;

        let mut gram = Self { f, curvatures, linear: Vec::new(), diagonal, constant, columns: BTreeMap::new() };
        gram.linear = gram.pass(Some(pushed), columns)?;
        Some(gram)
    }

    /// The coordinates whose columns are known, rising.
    pub fn known_coordinates(&self) -> Vec<usize> {
        self.columns.keys().copied().collect()
    }

    /// Forgets the columns of all other coordinates, where there are so many that they take much room.
    pub fn keep_some(&mut self, coordinates: &IndexSet) {
        if self.columns.len().saturating_mul(self.dim()) > MOST {
            self.columns.retain(|&j, _| coordinates.contains(j));
        }
    }

    /// One pass for the columns that are not known, and for another residual.
    fn pass(&mut self, residual: Option<Vec<f64>>, columns: &[usize]) -> Option<Vec<f64>> {
        let wanted = IndexSet::new(self.dim(), columns.to_vec());
        let wanted: Vec<usize> = wanted.indices().iter().copied().filter(|j| !self.columns.contains_key(j)).collect();
        let extra = usize::from(residual.is_some());
        let residuals: Vec<Vec<f64>> = residual.into_iter().chain(wanted.iter().map(|&j| self.curved(j))).collect();
        if residuals.is_empty() {
            return None;
        }
        let views: Vec<&[f64]> = residuals.iter().map(Vec::as_slice).collect();
        let mut out: Vec<Vec<f64>> = views.iter().map(|_| self.f.operator().new_covector()).collect();
        adjoint_many(&vec![self.f.operator(); views.len()], &views, &mut out);
        self.f.count_pass();
        for (&j, mut column) in wanted.iter().zip(out.split_off(extra)) {
            column[j] += self.ridge_at(j);
            self.columns.insert(j, column);
        }
        out.pop()
    }

    /// The curvatures times column j of the design.
    fn curved(&self, j: usize) -> Vec<f64> {
        let unit = IndexSet::new(self.dim(), vec![j]).basis(0);
        self.f.at(unit).image().iter().zip(&self.curvatures).map(|(a, h)| a * h).collect()
    }

    fn ridge_at(&self, j: usize) -> f64 {
        self.f.ridge_on_basis(&IndexSet::new(self.dim(), vec![j]), 0)
    }
}

/// Σ hᵢ·aᵢⱼ² + ridge for every column: one pass. `None` where columns are not cheap.
pub(super) fn diagonal<A, L>(f: &Objective<A, L>, h: &[f64]) -> Option<Vec<f64>>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
{
    let mut diagonal = f.operator().energies(&[h], None)?.pop()?;
    if !f.operator().base().knows_energies(h) {
        f.count_pass();
    }
    f.add_ridge(&SparseVec::full(&vec![1.0; diagonal.len()]), &mut diagonal);
    Some(diagonal)
}

impl<A, L> Quadratic for Gram<'_, A, L>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
{
    fn dim(&self) -> usize {
        self.f.operator().domain()
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
    fn block(&self, coordinates: &[usize]) -> Vec<f64> {
        if let [j] = coordinates {
            return vec![self.diagonal[*j]];
        }
        let unknown = coordinates.iter().filter(|j| !self.columns.contains_key(j));
        let fresh: BTreeMap<usize, SparseVec> = {
            let all = IndexSet::new(self.dim(), coordinates.to_vec());
            unknown.map(|&j| (j, self.f.pulled_back_on(&self.curved(j), &all))).collect()
        };
        // Looked up once for each coordinate, not once for each entry.
        let columns: Vec<Option<&Vec<f64>>> = coordinates.iter().map(|j| self.columns.get(j)).collect();
        let fresh: Vec<Option<&SparseVec>> = coordinates.iter().map(|j| fresh.get(j)).collect();
        let entry = |a: usize, b: usize| match (columns[b], columns[a]) {
            (Some(column), _) => column[coordinates[a]],
            (None, Some(row)) => row[coordinates[b]],
            (None, None) if a == b => self.diagonal[coordinates[b]],
            (None, None) => fresh[b].map_or(0.0, |column| column.value_at(coordinates[a])),
        };
        Matrix::from_fn(coordinates.len(), coordinates.len(), entry).into_data()
    }
}

impl<A, L> Brings for Gram<'_, A, L>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
{
    /// One pass, if any of them is not known yet.
    fn bring(&mut self, columns: &[usize]) {
        self.pass(None, columns);
    }
}
