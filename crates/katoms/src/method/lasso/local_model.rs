//! f around a point as a quadratic, and its Gram matrix on a working set, from the columns of the working set.

use super::working::{Member, Working};
use crate::linalg::dot;
use crate::loss::Curvature;
use crate::method::smooth::OnVectors;
use crate::objective::Evaluated;
use crate::penalty::{L1, Penalty};
use crate::space::{IndexSet, SparseVec};

/// Coordinates whose columns are held at one time.
const HELD: usize = 64;

/// f around a point, on predictions: ½·zᵀHz − pᵀz up to a constant. Exact where the loss is quadratic.
pub(super) struct LocalModel {
    /// H: the curvature.
    curvature: Curvature,
    /// p = H·Ax − ∇ℓ(Ax).
    pushed: Vec<f64>,
}

impl LocalModel {
    /// With curvatures of at least `least`: where a loss is nearly flat, the model would have no minimum.
    pub(super) fn around(f: &OnVectors<'_>, x: &Evaluated<SparseVec>, least: f64) -> Self {
        let curvature = f.curvature(x).at_least(least);
        let pushed = curvature.times(x.image()).iter().zip(f.residual(x)).map(|(z, r)| z - r).collect();
        Self { curvature, pushed }
    }

    fn curved(&self, column: &[f64]) -> Vec<f64> {
        self.curvature.times(column)
    }
}

/// Makes coordinates members; those whose column is zero stay out. No pass.
pub(super) fn bring(f: &OnVectors<'_>, model: &LocalModel, penalty: &L1, new: &[usize], working: &mut Working) {
    let n = penalty.domain();
    for some in new.chunks(HELD) {
        let all = IndexSet::new(n, working.members().iter().chain(some).copied().collect());
        let Columns { products, linear } = Columns::of(f, model, some, &all);
        let place = |j: &usize| all.indices().binary_search(j).unwrap_or(usize::MAX);
        let square = |at: usize| {
            let ridge = f.ridge_on_basis(&IndexSet::new(n, vec![some[at]]), 0);
            products[at][place(&some[at])] + ridge
        };
        let usable: Vec<usize> = (0..some.len()).filter(|&at| square(at) > 0.0 && square(at).is_finite()).collect();
        let mut places: Vec<usize> = working.members().iter().map(place).collect();
        places.extend(usable.iter().map(|&at| place(&some[at])));
        let before = working.members().len();
        let crosses: Vec<Vec<f64>> = usable
            .iter()
            .enumerate()
            .map(|(i, &at)| places[..before + i].iter().map(|&p| products[at][p]).collect())
            .collect();
        let members: Vec<Member<'_>> = usable
            .iter()
            .zip(&crosses)
            .map(|(&at, cross)| Member {
                coordinate: some[at],
                cross,
                square: square(at),
                linear: linear[at],
                price: penalty.price(some[at]) / penalty.lambda(),
            })
            .collect();
        working.admit(&members);
    }
}

/// What a quadratic says about some coordinates.
struct Columns {
    /// For each of them the products of its column with those of all members.
    products: Vec<Vec<f64>>,
    /// And with p.
    linear: Vec<f64>,
}

impl Columns {
    fn of(f: &OnVectors<'_>, model: &LocalModel, some: &[usize], all: &IndexSet) -> Self {
        let set = IndexSet::new(all.dim(), some.to_vec());
        if let Some(products) = f.products(&model.curvature, all, &set) {
            let pulled = f.pulled_back_on(&model.pushed, &set);
            let place = |j: &usize| set.indices().partition_point(|other| other < j);
            return Self {
                products: some.iter().map(|j| products.column(place(j)).to_vec()).collect(),
                linear: some.iter().map(|&j| pulled.value_at(j)).collect(),
            };
        }
        let columns: Vec<Evaluated<SparseVec>> =
            some.iter().map(|&j| f.at(SparseVec::sorted(all.dim(), vec![j], vec![1.0]))).collect();
        let curved: Vec<Vec<f64>> = columns.iter().map(|column| model.curved(column.image())).collect();
        let rs: Vec<&[f64]> = curved.iter().map(Vec::as_slice).collect();
        Self {
            products: f.pulled_back_block_on(&rs, all).iter().map(|product| product.values().to_vec()).collect(),
            linear: columns.iter().map(|column| dot(column.image(), &model.pushed)).collect(),
        }
    }
}

/// The point of a working set.
pub(super) fn point(dim: usize, working: &Working) -> SparseVec {
    let mut entries: Vec<(usize, f64)> = working.entries().collect();
    entries.sort_unstable_by_key(|e| e.0);
    let (indices, values) = entries.into_iter().unzip();
    SparseVec::sorted(dim, indices, values)
}
