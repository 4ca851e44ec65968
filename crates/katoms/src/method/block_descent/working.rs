//! Some groups with their columns: block coordinate descent over them, and its extrapolation.

use std::ops::Range;

use crate::linalg::kernels::axpy;
use crate::linalg::{Matrix, dot, solve_symmetric};
use crate::loss::Loss;
use crate::method::smooth::OnVectors;
use crate::objective::Evaluated;
use crate::penalty::{GroupLasso, Penalty, shrink};
use crate::space::{IndexSet, SparseVec, Subspace};

/// Epochs that an extrapolation looks at: skglm's M.
const MEMORY: usize = 5;
/// What is added to the Gram matrix of the moves, as a share of its trace: late moves are nearly parallel.
const REGULAR: f64 = 1e-12;

/// A group that may move.
pub(super) struct Chosen {
    pub members: Vec<usize>,
    pub price: f64,
}

/// Its place among the columns.
struct Block {
    place: Range<usize>,
    price: f64,
    lipschitz: f64,
}

/// The chosen groups, where they stand, and what an epoch needs.
pub(super) struct Working {
    dim: usize,
    indices: Vec<usize>,
    columns: Matrix,
    blocks: Vec<Block>,
    ridge: Vec<f64>,
    x: Vec<f64>,
    /// A·x, and ∇ℓ there.
    image: Vec<f64>,
    residual: Vec<f64>,
    /// The curvature of ℓ, where it is the same everywhere.
    curvature: Option<Vec<f64>>,
    /// The last epochs' ends.
    memory: Vec<Vec<f64>>,
}

impl Working {
    /// Reads each column once. The nonzeros of x lie in the chosen groups.
    pub fn new(f: &OnVectors<'_>, x: &Evaluated<SparseVec>, chosen: Vec<Chosen>) -> Self {
        let dim = f.domain();
        let indices: Vec<usize> = chosen.iter().flat_map(|c| c.members.iter().copied()).collect();
        let mut columns = Matrix::zeros(f.n_outputs(), indices.len());
        let mut ridge = Vec::with_capacity(indices.len());
        for (i, &j) in indices.iter().enumerate() {
            let one = IndexSet::new(dim, vec![j]);
            columns.column_mut(i).copy_from_slice(f.at(one.basis(0)).image());
            ridge.push(f.ridge_on_basis(&one, 0));
        }
        let curvature = f.loss().is_quadratic().then(|| f.curvature(x).bound().to_vec());
        let bound = [f.loss().curvature_bound()];
        let weights = curvature.as_deref().unwrap_or(&bound);
        let mut end = 0;
        let block = |c: &Chosen| {
            let place = end..end + c.members.len();
            end = place.end;
            let most = ridge[place.clone()].iter().fold(0.0_f64, |m, r| m.max(*r));
            let lipschitz = largest_eigenvalue(&columns, place.clone(), weights) + most;
            Block { place, price: c.price, lipschitz }
        };
        let blocks = chosen.iter().map(block).collect();
        let coordinates = indices.iter().map(|&j| x.point().value_at(j)).collect();
        let (image, residual, memory) = (x.image().to_vec(), f.residual(x), Vec::new());
        Self { dim, indices, columns, blocks, ridge, x: coordinates, image, residual, curvature, memory }
    }

    /// Every group once, and now and then an extrapolation. Says whether anything moved.
    pub fn epoch(&mut self, f: &OnVectors<'_>, penalty: &GroupLasso) -> bool {
        let mut moved = false;
        for at in 0..self.blocks.len() {
            moved |= self.block_step(f.loss(), at);
        }
        self.memory.push(self.x.clone());
        if self.memory.len() > MEMORY {
            self.extrapolate(f, penalty);
            self.memory.clear();
            self.memory.push(self.x.clone());
        }
        moved
    }

    /// x_G ← BST(x_G − ∇_G f/L, price/L).
    fn block_step(&mut self, loss: &dyn Loss, at: usize) -> bool {
        let Block { place, price, lipschitz } = &self.blocks[at];
        let mut part: Vec<f64> = self.x[place.clone()].to_vec();
        if *lipschitz > 0.0 {
            let slope = |i: usize| dot(self.columns.column(i), &self.residual) + self.ridge[i] * self.x[i];
            part.iter_mut().zip(place.clone()).for_each(|(v, i)| *v -= slope(i) / lipschitz);
            shrink(&mut part, price / lipschitz);
        } else if *price > 0.0 {
            part.fill(0.0); // columns of zeros: they only pay
        }
        let mut moved = false;
        for (i, v) in place.clone().zip(part) {
            let by = v - self.x[i];
            if by != 0.0 {
                self.x[i] = v;
                moved = true;
                self.shift(i, by);
            }
        }
        if moved && self.curvature.is_none() {
            loss.gradient(&self.image, &mut self.residual);
        }
        moved
    }

    /// The image, and the residual where it is linear, after column i gets this much more.
    fn shift(&mut self, i: usize, by: f64) {
        let column = self.columns.column(i);
        axpy(by, column, &mut self.image);
        if let Some(curvature) = &self.curvature {
            let rows = self.residual.iter_mut().zip(curvature).zip(column);
            rows.for_each(|((r, h), a)| *r += h * by * a);
        }
    }

    /// Anderson's extrapolation: the affine combination of the last ends whose moves cancel best, if F is lower
    /// there.
    fn extrapolate(&mut self, f: &OnVectors<'_>, penalty: &GroupLasso) {
        let moves: Vec<Vec<f64>> =
            self.memory.windows(2).map(|w| w[1].iter().zip(&w[0]).map(|(b, a)| b - a).collect()).collect();
        let trace: f64 = moves.iter().map(|m| dot(m, m)).sum();
        let gram = Matrix::from_fn(MEMORY, MEMORY, |i, j| {
            dot(&moves[i], &moves[j]) + if i == j { REGULAR * trace } else { 0.0 }
        });
        let weights = solve_symmetric(&gram, &[1.0; MEMORY]);
        let total: f64 = weights.iter().sum();
        let mut mixed = vec![0.0; self.x.len()];
        for (weight, end) in weights.iter().zip(&self.memory[1..]) {
            axpy(weight / total, end, &mut mixed);
        }
        if mixed.iter().any(|v| !v.is_finite()) {
            return;
        }
        let image = self.times(&mixed);
        let value = |x: &[f64], image: &[f64]| {
            let ridge: f64 = x.iter().zip(&self.ridge).map(|(x, r)| 0.5 * r * x * x).sum();
            f.loss().value(image) + ridge + penalty.value(&self.as_point(x))
        };
        if value(&mixed, &image) < value(&self.x, &self.image) {
            f.loss().gradient(&image, &mut self.residual);
            (self.x, self.image) = (mixed, image);
        }
    }

    fn times(&self, x: &[f64]) -> Vec<f64> {
        let mut image = vec![0.0; self.columns.rows()];
        let nonzero = x.iter().enumerate().filter(|(_, x)| **x != 0.0);
        nonzero.for_each(|(i, x)| axpy(*x, self.columns.column(i), &mut image));
        image
    }

    fn as_point(&self, x: &[f64]) -> SparseVec {
        let mut dense = vec![0.0; self.dim];
        self.indices.iter().zip(x).for_each(|(&j, &x)| dense[j] = x);
        SparseVec::from_dense(&dense)
    }

    /// Where the groups stand.
    pub fn point(&self) -> SparseVec {
        self.as_point(&self.x)
    }

    /// Puts them there, with an image that was multiplied out afresh.
    pub fn stand_at(&mut self, f: &OnVectors<'_>, x: &Evaluated<SparseVec>) {
        self.x = self.indices.iter().map(|&j| x.point().value_at(j)).collect();
        self.image = x.image().to_vec();
        self.residual = f.residual(x);
    }

    /// ∇f on the chosen groups, zero elsewhere: what a gradient is on the working set alone.
    pub fn gradient(&self) -> Vec<f64> {
        let mut g = vec![0.0; self.dim];
        for (i, &j) in self.indices.iter().enumerate() {
            g[j] = dot(self.columns.column(i), &self.residual) + self.ridge[i] * self.x[i];
        }
        g
    }
}

/// λ_max of A_Gᵀ·diag(w)·A_G; a single weight is every row's.
fn largest_eigenvalue(columns: &Matrix, place: Range<usize>, weights: &[f64]) -> f64 {
    let weighted = |j: usize| -> Vec<f64> {
        columns.column(place.start + j).iter().zip(weights.iter().cycle()).map(|(a, w)| w * a).collect()
    };
    let size = place.len();
    let mut gram = Matrix::zeros(size, size);
    for j in 0..size {
        let weighted = weighted(j);
        (0..size).for_each(|i| gram.column_mut(j)[i] = dot(columns.column(place.start + i), &weighted));
    }
    if size == 1 {
        return gram.at(0, 0);
    }
    gram.symmetric_eigen().map_or(f64::NAN, |(values, _)| values[0].max(0.0))
}
