//! Pricing: a pass over the data that looks at all atoms outside of the working set.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use super::bounds::Bounds;
use super::problem::Problem;
use super::quadratic::{Quadratic, Terms};
use super::responses::{Responses, interleaved};
use crate::linalg::{dot, parallel, top_k};
use crate::loss::Curvature;
use crate::objective::Evaluated;
use crate::set::Atoms;
use crate::space::{IndexSet, Point, SparseVec};

/// Numbers that the known columns of G may take: 1 GiB.
const MOST: usize = 1 << 27;
/// Atoms that one task looks at.
const SHARED: usize = 1 << 13;

/// The quadratic of f around a point over all coordinates, of which some columns are known. For least squares it is f.
pub(crate) struct Everything<'a> {
    f: &'a dyn Problem,
    curvature: Curvature,
    /// What b is the pull-back of, response by response.
    pushed: Vec<f64>,
    terms: Terms,
    columns: BTreeMap<usize, Vec<f64>>,
    blocks: Vec<OnceLock<Vec<f64>>>,
    bounds: Option<&'a Bounds>,
    /// Where there are several responses: coordinates are then columns.
    responses: Option<Responses>,
}

impl<'a> Everything<'a> {
    /// Of a quadratic f; `None` where columns are not cheap.
    pub fn new(f: &'a dyn Problem, atoms: &Atoms) -> Option<Self> {
        Self::of_responses(f, atoms, None)
    }

    /// The same for several responses, by columns.
    pub fn of_responses(f: &'a dyn Problem, atoms: &Atoms, responses: Option<&Responses>) -> Option<Self> {
        let x = f.at(SparseVec::zero(f.dim()));
        let whole = f.curvature(&x);
        let (pushed, constant) = expansion(f, &x, &whole);
        let curvature = match responses {
            Some(responses) => responses.curvature(&whole),
            None => whole,
        };
        let diagonal = match responses {
            Some(responses) => responses.second_derivatives(f, curvature.bound())?,
            None => f.second_derivatives(curvature.bound())?,
        };
        let mut blocks = Vec::new();
        blocks.resize_with(atoms.len(), OnceLock::new);
        let terms = Terms { linear: Vec::new(), diagonal, constant };
        let (columns, responses) = (BTreeMap::new(), responses.cloned());
        Some(Self { f, curvature, pushed, terms, columns, blocks, bounds: None, responses })
    }

    /// The same within bounds.
    pub fn within(self, bounds: &'a Bounds) -> Self {
        Self { bounds: Some(bounds), ..self }
    }

    /// The atoms along which f falls most where its gradient is this, each by itself.
    pub fn steepest(&self, atoms: &Atoms, gradient: &[f64], count: usize) -> Vec<usize> {
        self.steepest_outside(atoms, gradient, &[], count)
    }

    /// The same without those that are chosen.
    pub fn steepest_outside(&self, atoms: &Atoms, gradient: &[f64], chosen: &[usize], count: usize) -> Vec<usize> {
        let mut falls = match &self.responses {
            Some(responses) => responses.falls(atoms, gradient, &self.terms.diagonal),
            None => falls(atoms, gradient, &self.terms.diagonal),
        };
        chosen.iter().for_each(|&atom| falls[atom] = 0.0);
        top_k(&falls, count).into_iter().filter(|&atom| falls[atom] > 0.0).collect()
    }

    /// A point of f from what a tableau says of coordinates.
    pub fn point(&self, x: SparseVec) -> SparseVec {
        match &self.responses {
            Some(responses) => responses.point(&x),
            None => x,
        }
    }

    /// Makes columns known: one pass, if any of them is not.
    pub fn bring(&mut self, coordinates: &[usize]) {
        let dim = self.dim();
        if (self.columns.len() + coordinates.len()).saturating_mul(dim) > MOST {
            let asked = IndexSet::new(dim, coordinates.to_vec());
            self.columns.retain(|&j, _| asked.contains(j));
        }
        let mut wanted: Vec<usize> = coordinates.iter().copied().filter(|j| !self.columns.contains_key(j)).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let mut residuals: Vec<Vec<f64>> = Vec::with_capacity(wanted.len() + 1);
        let rows = self.curvature.bound().len().max(1);
        let copies = match &self.responses {
            Some(responses) => responses.copies(self.f, &wanted),
            None => self.f.columns(&wanted),
        };
        for column in copies.chunks(rows).take(wanted.len()) {
            residuals.push(self.curvature.times(column));
        }
        let first = self.terms.linear.is_empty();
        if first {
            residuals.extend(self.pushed.chunks(rows).map(<[f64]>::to_vec));
        }
        if residuals.is_empty() {
            return;
        }
        let views: Vec<&[f64]> = residuals.iter().map(Vec::as_slice).collect();
        let mut products = match &self.responses {
            Some(responses) => responses.pass(self.f, &views),
            None => self.f.pass(&views),
        };
        if first {
            self.terms.linear = interleaved(&products.split_off(wanted.len()));
        }
        for (j, mut column) in wanted.into_iter().zip(products) {
            column[j] = self.terms.diagonal[j];
            self.columns.insert(j, column);
        }
    }
}

impl Quadratic for Everything<'_> {
    fn terms(&self) -> &Terms {
        &self.terms
    }
    fn bounds(&self) -> Option<&Bounds> {
        self.bounds
    }
    fn column(&self, j: usize) -> &[f64] {
        self.columns.get(&j).map_or(&[], Vec::as_slice)
    }
    fn prepare_blocks(&self, atoms: &Atoms) {
        let unknown = |atom: &usize| atoms.members(*atom).len() > 1 && self.blocks[*atom].get().is_none();
        let members: Vec<usize> =
            (0..atoms.len()).filter(unknown).flat_map(|atom| atoms.members(atom)).copied().collect();
        if !members.is_empty() {
            self.f.fetch(&members);
        }
    }
    fn block(&self, atom: usize, members: &[usize]) -> Vec<f64> {
        if let [j] = members {
            return vec![self.terms.diagonal[*j]];
        }
        let compute = || {
            let columns = self.f.columns(members);
            let rows = self.f.rows().max(1);
            let column = |a: usize| &columns[a * rows..][..rows];
            let mut block = vec![0.0; members.len() * members.len()];
            for b in 0..members.len() {
                let curved = self.curvature.times(column(b));
                for a in 0..members.len() {
                    let entry = if a == b { self.terms.diagonal[members[a]] } else { dot(&curved, column(a)) };
                    block[b * members.len() + a] = entry;
                }
            }
            block
        };
        let cell = &self.blocks[atom];
        if cell.get().is_none() {
            let _ = cell.set(compute());
        }
        cell.get().cloned().unwrap_or_default()
    }
}

/// What b is the pull-back of, and f at 0 without the ridge, of the quadratic around x with this curvature.
pub(super) fn expansion(f: &dyn Problem, x: &Evaluated<SparseVec>, h: &Curvature) -> (Vec<f64>, f64) {
    let residual = f.residual(x);
    let pushed = h.times(x.image()).iter().zip(&residual).map(|(z, r)| z - r).collect();
    // f(x') = ℓ(z) + ∇ℓᵀ(z' − z) + ½(z' − z)ᵀH(z' − z) + ½λ‖x'‖², at x' = 0.
    (pushed, f.loss(x) - dot(&residual, x.image()) + 0.5 * h.between(x.image(), x.image()))
}

/// How much f falls by a step along each atom: Σ g²/(2h) over its coordinates, where h are second derivatives.
pub(crate) fn falls(atoms: &Atoms, gradient: &[f64], second: &[f64]) -> Vec<f64> {
    let fall = |j: usize| if second[j] > 0.0 { 0.5 * gradient[j] * gradient[j] / second[j] } else { 0.0 };
    let mut falls = vec![0.0; atoms.len()];
    parallel::chunks_mut(&mut falls, SHARED, &|chunk, falls| {
        let own = falls.iter_mut().zip(chunk * SHARED..);
        own.for_each(|(own, atom)| *own = atoms.members(atom).iter().map(|&j| fall(j)).sum());
    });
    falls
}
