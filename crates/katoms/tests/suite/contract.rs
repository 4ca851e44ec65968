//! The contract of a linear operator, checked against the explicit matrix that it stands for.

use std::ops::Range;
use std::sync::LazyLock;

use katoms::linalg::{Matrix, Multiply, dot, norm};
use katoms::operator::{ColumnMoments, Csc, Dense, LinearOperator, Moments, Parts, SparseIndex, adjoint_many};
use katoms::simulate::{generator, low_rank_factors, normals, sparse_signal};
use katoms::space::{Covector, Entrywise, LowRank, MatrixCovector, Point, SparseVec};
use proptest::collection::vec;
use proptest::prelude::Strategy;

/// What the contract needs of a space: samples, and everything written out.
pub trait Space: Point {
    type Gradient: Covector<Self>;
    fn sample(domain: Self::Domain, seed: u64) -> Self;
    /// The search space at a point, which holds the point.
    fn search(&self) -> Self::Search;
    fn flat(&self) -> Vec<f64>;
    fn gradient_domain(g: &Self::Gradient) -> Self::Domain;
    fn flat_gradient(g: &Self::Gradient) -> Vec<f64>;
    fn of_gradient(g: &Self::Gradient) -> Self;
    /// The stored numbers, bit by bit.
    fn bits(g: &Self::Gradient) -> Vec<u64>;
}

impl Space for SparseVec {
    type Gradient = Vec<f64>;
    fn sample(domain: usize, seed: u64) -> Self {
        sparse_signal(domain, 1 + domain / 2, seed)
    }
    fn search(&self) -> Self::Search {
        self.support()
    }
    fn flat(&self) -> Vec<f64> {
        self.to_dense()
    }
    fn gradient_domain(g: &Vec<f64>) -> usize {
        g.len()
    }
    fn flat_gradient(g: &Vec<f64>) -> Vec<f64> {
        g.clone()
    }
    fn of_gradient(g: &Vec<f64>) -> Self {
        Self::full(g)
    }
    fn bits(g: &Vec<f64>) -> Vec<u64> {
        g.iter().map(|v| v.to_bits()).collect()
    }
}

impl Space for LowRank {
    type Gradient = MatrixCovector;
    fn sample((rows, columns): (usize, usize), seed: u64) -> Self {
        let (left, right) = low_rank_factors(rows, columns, 2.min(rows).min(columns), seed);
        Self::from_factors(&left, &right).unwrap()
    }
    fn search(&self) -> Self::Search {
        self.support().tangent(usize::MAX)
    }
    fn flat(&self) -> Vec<f64> {
        self.left().times(self.core()).times_transposed(self.right()).data().to_vec()
    }
    fn gradient_domain(g: &MatrixCovector) -> (usize, usize) {
        g.shape()
    }
    fn flat_gradient(g: &MatrixCovector) -> Vec<f64> {
        g.times(&identity(g.shape().1)).data().to_vec()
    }
    fn of_gradient(g: &MatrixCovector) -> Self {
        let unit = identity(g.shape().1);
        Self::from_factors(&g.times(&unit), &unit).unwrap()
    }
    fn bits(g: &MatrixCovector) -> Vec<u64> {
        let stored = match g.entries() {
            Entrywise::Observed { values, .. } => values,
            Entrywise::Dense(m) => m.data(),
        };
        stored.iter().map(|v| v.to_bits()).collect()
    }
}

/// The whole contract, for the operator and for a reference to it. Row i of `truth` is what
/// output i takes of the flattened point.
pub fn holds<P: Space>(a: &impl LinearOperator<Point = P, Covector = P::Gradient>, truth: &Matrix) {
    holds_among_terms(a, truth, truth.norm());
}

/// The same for an operator that computes with terms of this norm, of which `truth` is what is left.
pub fn holds_among_terms<P, A>(a: &A, truth: &Matrix, terms: f64)
where
    P: Space,
    A: LinearOperator<Point = P, Covector = P::Gradient>,
{
    a_shared_pass_is_one_by_one(a);
    check(&Erased(a), truth, 1.0 + terms);
    check(&Erased(&a), truth, 1.0 + terms);
}

/// A shared pass of equal views has the bits of single passes.
fn a_shared_pass_is_one_by_one<P: Space>(a: &impl LinearOperator<Point = P, Covector = P::Gradient>) {
    let rs: Vec<Vec<f64>> = (0..3).map(|q| residual(a.n_outputs(), 10 + q)).collect();
    let rs: Vec<&[f64]> = rs.iter().map(Vec::as_slice).collect();
    let mut shared = vec![a.new_covector(); rs.len()];
    adjoint_many(&vec![a; rs.len()], &rs, &mut shared);
    for (r, shared) in rs.iter().zip(&shared) {
        assert_eq!(P::bits(shared), P::bits(&adjoint(a, r)));
    }
}

use erased::Erased;

mod erased {
    use super::{LinearOperator, Parts, Space};

    /// An operator without its type, so that the contract is compiled once for each space and not once for each
    /// view of a view.
    pub struct Erased<'a, P: Space>(pub &'a dyn Products<P>);

    /// Forwards the products of an operator to an object, and from the object to an operator.
    macro_rules! erased {
        ($(fn $name:ident(&self $(, $argument:ident: $type:ty)*) $(-> $result:ty)?;)*) => {
            pub trait Products<P: Space>: Sync {
                $(fn $name(&self $(, $argument: $type)*) $(-> $result)?;)*
            }
            impl<P: Space, A: LinearOperator<Point = P, Covector = P::Gradient>> Products<P> for A {
                $(fn $name(&self $(, $argument: $type)*) $(-> $result)? {
                    LinearOperator::$name(self $(, $argument)*)
                })*
            }
            impl<P: Space> LinearOperator for Erased<'_, P> {
                type Point = P;
                type Covector = P::Gradient;
                type Base = Self;
                fn base(&self) -> &Self {
                    self
                }
                $(fn $name(&self $(, $argument: $type)*) $(-> $result)? {
                    self.0.$name($($argument),*)
                })*
            }
        };
    }

    erased! {
        fn domain(&self) -> P::Domain;
        fn n_outputs(&self) -> usize;
        fn new_covector(&self) -> P::Gradient;
        fn apply(&self, x: &P, out: &mut [f64]);
        fn adjoint(&self, r: &[f64], out: &mut P::Gradient);
        fn adjoint_on(&self, r: &[f64], t: &P::Support) -> P;
        fn adjoint_block(&self, rs: &[&[f64]], out: &mut [P::Gradient]);
        fn adjoint_parts(&self, parts: &Parts, rs: &[&[f64]], out: &mut [Vec<P::Gradient>]);
        fn squared_norms(&self, weights: &[&[f64]], centres: Option<&[f64]>) -> Option<Vec<Vec<f64>>>;
        fn apply_covector(&self, g: &P::Gradient, out: &mut [f64]);
        fn has_cheap_columns(&self) -> bool;
    }
}

fn check<P: Space>(a: &Erased<'_, P>, truth: &Matrix, size: f64) {
    has_the_shape_of(a, truth);
    multiplies_as(a, truth, size);
    restrictions_are_those_of_the_adjoint(a, size);
    a_block_is_one_by_one(a);
    covectors_are_multiplied_as_points(a, size);
    parts_are_masked_residuals(a, truth, size);
    squared_norms_are_sums_of_squares(a, truth, size);
}

fn has_the_shape_of<P: Space>(a: &Erased<'_, P>, truth: &Matrix) {
    assert_eq!(a.n_outputs(), truth.rows());
    let zero = a.new_covector();
    assert_eq!(P::gradient_domain(&zero), a.domain());
    assert_eq!(P::flat_gradient(&zero), vec![0.0; truth.columns()]);
}

/// A·x, Aᵀ·r, linearity, and outputs that are overwritten whatever they held.
fn multiplies_as<P: Space>(a: &Erased<'_, P>, truth: &Matrix, size: f64) {
    let (x, y) = (P::sample(a.domain(), 1), P::sample(a.domain(), 2));
    let (ax, ay) = (apply(a, &x), apply(a, &y));
    near(&ax, &times(truth, &x.flat()), size * x.norm());
    assert_eq!(apply(a, &P::zero(a.domain())), vec![0.0; a.n_outputs()]);
    let combined = apply(a, &P::combine(2.0, &x, -3.0, &y));
    let expected: Vec<f64> = ax.iter().zip(&ay).map(|(ax, ay)| 2.0 * ax - 3.0 * ay).collect();
    near(&combined, &expected, size * (x.norm() + y.norm()));

    let r = residual(a.n_outputs(), 3);
    let g = adjoint(a, &r);
    near(&P::flat_gradient(&g), &times(&truth.transposed(), &r), size * norm(&r));
    let mut stale = adjoint(a, &residual(a.n_outputs(), 4));
    stale.add(0.5, &x);
    a.adjoint(&r, &mut stale);
    assert_eq!(P::flat_gradient(&stale), P::flat_gradient(&g), "what was there before shows");
}

/// ⟨A·x, r⟩ = ⟨x, Aᵀ·r⟩ through either restriction, `adjoint_on` = `adjoint` then `on`, and its block is one by one.
fn restrictions_are_those_of_the_adjoint<P: Space>(a: &Erased<'_, P>, size: f64) {
    let (x, r) = (P::sample(a.domain(), 5), residual(a.n_outputs(), 6));
    let scale = size * norm(&r);
    let g = adjoint(a, &r);
    let (on_support, on_search) = (a.adjoint_on(&r, &x.support()), g.on(&x.search()));
    let product = dot(&apply(a, &x), &r);
    near(&[x.dot(&on_support), x.dot(&on_search)], &[product; 2], scale * x.norm());

    for t in [x.support(), P::sample(a.domain(), 7).support(), P::of_gradient(&g).support()] {
        let (found, expected) = (a.adjoint_on(&r, &t), P::of_gradient(&g).on(&t));
        near(&found.flat(), &expected.flat(), scale);
        assert_eq!(found.domain(), a.domain());
        let other = residual(a.n_outputs(), 8);
        let block = a.adjoint_block_on(&[&r, &other], &t);
        near(&block[0].flat(), &found.flat(), scale);
        near(&block[1].flat(), &a.adjoint_on(&other, &t).flat(), size * norm(&other));
    }
    let nothing = a.adjoint_on(&r, &P::zero(a.domain()).support());
    assert_eq!(nothing.norm(), 0.0);
}

/// A block has the bits of single passes.
fn a_block_is_one_by_one<P: Space>(a: &Erased<'_, P>) {
    for count in [0, 1, 2, 5] {
        let rs: Vec<Vec<f64>> = (0..count).map(|q| residual(a.n_outputs(), 10 + q)).collect();
        let rs: Vec<&[f64]> = rs.iter().map(Vec::as_slice).collect();
        let single: Vec<_> = rs.iter().map(|r| P::bits(&adjoint(a, r))).collect();
        let mut block = vec![a.new_covector(); rs.len()];
        a.adjoint_block(&rs, &mut block);
        assert_eq!(block.iter().map(P::bits).collect::<Vec<_>>(), single);
    }
}

/// `apply_covector` is `apply` of the same numbers, so that A·Aᵀ is symmetric and psd.
fn covectors_are_multiplied_as_points<P: Space>(a: &Erased<'_, P>, size: f64) {
    let (r, s) = (residual(a.n_outputs(), 8), residual(a.n_outputs(), 9));
    let scale = size.powi(2) * norm(&r) * (norm(&s) + norm(&r));
    let (mut g, h) = (adjoint(a, &r), adjoint(a, &s));
    let (aatr, aats) = (apply_covector(a, &g), apply_covector(a, &h));
    near(&aatr, &apply(a, &P::of_gradient(&g)), scale);
    near(&[dot(&s, &aatr)], &[dot(&r, &aats)], scale);
    near(&[dot(&r, &aatr)], &[norm(&P::flat_gradient(&g)).powi(2)], scale);
    // A ridge adds a multiple of the point to a gradient.
    let x = P::sample(a.domain(), 11);
    g.add(-2.0, &x);
    let expected: Vec<f64> = aatr.iter().zip(apply(a, &x)).map(|(g, x)| g - 2.0 * x).collect();
    near(&apply_covector(a, &g), &expected, scale + size * x.norm());
}

/// Every part's adjoint is that of the residual on its rows alone, and together they are the whole.
/// Neither the threads nor what was there before show.
fn parts_are_masked_residuals<P: Space>(a: &Erased<'_, P>, truth: &Matrix, size: f64) {
    let (rows, transposed) = (a.n_outputs(), truth.transposed());
    let of = |parts: &Parts, rs: &[&[f64]]| {
        let mut out = vec![Vec::new(); rs.len()];
        a.adjoint_parts(parts, rs, &mut out);
        out
    };
    for residuals in [0, 1, 6] {
        let rs: Vec<Vec<f64>> = (0..residuals).map(|q| residual(rows, 12 + q)).collect();
        let rs: Vec<&[f64]> = rs.iter().map(Vec::as_slice).collect();
        let mut block = vec![a.new_covector(); rs.len()];
        a.adjoint_block(&rs, &mut block);
        for (parts, whole) in of(&Parts::whole(rows), &rs).iter().zip(&block) {
            assert_eq!(parts.iter().map(P::bits).collect::<Vec<_>>(), [P::bits(whole)]);
        }
        for count in [2, 3, 7] {
            // Uneven parts, and rows of a part that do not follow each other.
            let labels = |i: usize| if i < count { count - 1 - i } else { i * i % (count + 2) % count };
            let Ok(parts) = Parts::new((0..rows).map(labels).collect(), count) else { continue };
            let mut found = vec![vec![adjoint(a, &residual(rows, 4)); count + 1]; rs.len()];
            a.adjoint_parts(&parts, &rs, &mut found);
            for ((r, found), whole) in rs.iter().zip(&found).zip(&block) {
                let scale = size * norm(r);
                assert_eq!(found.len(), count);
                let mut sum = vec![0.0; truth.columns()];
                for (p, g) in found.iter().enumerate() {
                    let masked: Vec<f64> = (0..rows).map(|i| if labels(i) == p { r[i] } else { 0.0 }).collect();
                    let flat = P::flat_gradient(g);
                    near(&flat, &times(&transposed, &masked), scale);
                    sum.iter_mut().zip(flat).for_each(|(sum, g)| *sum += g);
                }
                near(&sum, &P::flat_gradient(whole), scale);
            }
            let bits = |out: Vec<Vec<P::Gradient>>| out.concat().iter().map(P::bits).collect::<Vec<_>>();
            let on = |threads| in_pool(threads, || bits(of(&parts, &rs)));
            assert_eq!(on(1), bits(found));
            assert_eq!(on(3), on(1));
        }
    }
}

/// Σ w·(a − c)², where there is an answer, is that of the matrix; one read for all weightings gives
/// each its own bits.
fn squared_norms_are_sums_of_squares<P: Space>(a: &Erased<'_, P>, truth: &Matrix, size: f64) {
    let mut weights: Vec<Vec<f64>> =
        (0..5).map(|q| residual(a.n_outputs(), 20 + q).iter().map(|w| w.abs()).collect()).collect();
    weights[1].fill(1.0);
    weights[2].iter_mut().step_by(2).for_each(|w| *w = 0.0);
    weights[3].fill(0.0);
    let weights: Vec<&[f64]> = weights.iter().map(Vec::as_slice).collect();
    let centres = residual(truth.columns(), 30);
    assert!(a.has_cheap_columns() || a.squared_norms(&weights, None).is_none());
    for centres in [None, Some(&centres[..])] {
        let Some(found) = a.squared_norms(&weights, centres) else { continue };
        assert_eq!(found.len(), weights.len());
        for (found, w) in found.iter().zip(&weights) {
            let expected = naive_squared_norms(truth, w, centres);
            near(found, &expected, (size + centres.map_or(0.0, norm)).powi(2) * (1.0 + norm(w)));
            assert_eq!(a.squared_norms(&[w], centres).unwrap()[0], *found);
        }
        assert_eq!(in_pool(1, || a.squared_norms(&weights, centres)).unwrap(), found);
        assert_eq!(in_pool(3, || a.squared_norms(&weights, centres)).unwrap(), found);
        assert_eq!(a.squared_norms(&[], centres).unwrap(), Vec::<Vec<f64>>::new());
    }
}

pub fn naive_squared_norms(truth: &Matrix, w: &[f64], centres: Option<&[f64]>) -> Vec<f64> {
    let one = |j: usize| {
        let centre = centres.map_or(0.0, |c| c[j]);
        truth.column(j).iter().zip(w).map(|(v, w)| w * (v - centre).powi(2)).sum()
    };
    (0..truth.columns()).map(one).collect()
}

/// The same computation on this many threads. The pools are kept: there are many computations.
pub fn in_pool<R: Send>(threads: usize, f: impl FnOnce() -> R + Send) -> R {
    static POOLS: LazyLock<[rayon::ThreadPool; 4]> = LazyLock::new(|| {
        std::array::from_fn(|n| rayon::ThreadPoolBuilder::new().num_threads(n.max(1)).build().unwrap())
    });
    POOLS[threads].install(f)
}

pub use crate::planted::image as apply;

pub fn adjoint<A: LinearOperator>(a: &A, r: &[f64]) -> A::Covector {
    let mut g = a.new_covector();
    a.adjoint(r, &mut g);
    g
}

fn apply_covector<A: LinearOperator>(a: &A, g: &A::Covector) -> Vec<f64> {
    let mut out = vec![f64::NAN; a.n_outputs()];
    a.apply_covector(g, &mut out);
    out
}

/// Every number within rounding of a computation with terms up to `scale`.
#[track_caller]
pub fn near(found: &[f64], expected: &[f64], scale: f64) {
    assert_eq!(found.len(), expected.len());
    for (i, (f, e)) in found.iter().zip(expected).enumerate() {
        assert!((f - e).abs() <= 1e-12 * scale, "{f} instead of {e} at {i} (scale {scale})");
    }
}

pub fn residual(length: usize, seed: u64) -> Vec<f64> {
    normals(length, &mut generator(seed, 9))
}

pub fn random_matrix(rows: usize, columns: usize, seed: u64) -> Matrix {
    Matrix::from_columns(rows, columns, normals(rows * columns, &mut generator(seed, 8)))
}

/// The three arrays of compressed columns.
pub fn compressed<I: SparseIndex, P: SparseIndex>(m: &Matrix) -> (Vec<P>, Vec<I>, Vec<f64>) {
    let (mut starts, mut indices, mut values) = (vec![P::from_usize(0)], Vec::new(), Vec::new());
    for j in 0..m.columns() {
        for (i, &v) in m.column(j).iter().enumerate().filter(|e| *e.1 != 0.0) {
            indices.push(I::from_usize(i));
            values.push(v);
        }
        starts.push(P::from_usize(values.len()));
    }
    (starts, indices, values)
}

pub fn csc(m: &Matrix) -> Csc<'static, f64, u32> {
    let (starts, indices, values) = compressed::<u32, usize>(m);
    Csc::new(m.rows(), m.columns(), starts, indices, values).unwrap()
}

pub fn dense(m: &Matrix) -> Dense<'_, f64> {
    Dense::column_major(m.data(), m.rows(), m.columns()).unwrap()
}

/// A matrix with entries in (−10, 10), of every small shape.
pub fn any_matrix(sizes: Range<usize>) -> impl Strategy<Value = Matrix> {
    use proptest::prelude::*;
    (sizes.clone(), sizes).prop_flat_map(|(rows, columns)| {
        vec(-10.0..10.0, rows * columns).prop_map(move |data| Matrix::from_columns(rows, columns, data))
    })
}

fn times(m: &Matrix, x: &[f64]) -> Vec<f64> {
    let row = |i| (0..m.columns()).map(|j| m.at(i, j) * x[j]).sum();
    (0..m.rows()).map(row).collect()
}

fn identity(size: usize) -> Matrix {
    Matrix::from_fn(size, size, |i, j| f64::from(u8::from(i == j)))
}

/// The moments are the textbook's, in a plain loop.
pub fn moments_are_naive(a: &impl ColumnMoments, truth: &Matrix, weights: &[f64]) {
    let (found, expected) = (a.moments(weights), naive_moments(truth, weights));
    let size = 1.0 + truth.norm();
    near(&found.means, &expected.means, size);
    near(&found.variances, &expected.variances, size * size);
}

pub fn naive_moments(truth: &Matrix, weights: &[f64]) -> Moments {
    let total: f64 = weights.iter().sum();
    let average = |j: usize, f: &dyn Fn(f64) -> f64| {
        truth.column(j).iter().zip(weights).map(|(v, w)| w * f(*v)).sum::<f64>() / total
    };
    let means: Vec<f64> = (0..truth.columns()).map(|j| average(j, &|v| v)).collect();
    let variances = (0..truth.columns()).map(|j| average(j, &|v| (v - means[j]).powi(2))).collect();
    Moments { means, variances }
}
