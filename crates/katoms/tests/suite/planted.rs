//! Planted problems, and answers by brute force, that the test files share.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::ops::ControlFlow;

use katoms::driver::{Constraint, Options, Run, solve};
use katoms::linalg::norm;
use katoms::loss::{LeastSquares, Logistic, Loss};
use katoms::method::{AcceleratedIht, Method, refit_on};
use katoms::operator::{Dense, Entries, LinearOperator};
use katoms::set::{ConstraintSet, CoordinateSet, KSparse, Structure};
use katoms::space::{IndexSet, LowRank, SparseVec, Subspace};
use katoms::{Objective, Outcome, simulate};

/// An operator on sparse vectors.
pub trait Design: LinearOperator<Point = SparseVec, Covector = Vec<f64>> {}
impl<A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>> Design for A {}

/// A design, a sparse vector, and the vector's noisy image.
pub struct Planted {
    pub rows: usize,
    pub design: Vec<f64>,
    pub truth: SparseVec,
    pub target: Vec<f64>,
}

impl Planted {
    /// A Gaussian design. `noise` is its norm relative to the signal's.
    pub fn new(rows: usize, columns: usize, k: usize, noise: f64, seed: u64) -> Self {
        let truth = simulate::sparse_signal(columns, k, seed);
        Self::with_truth(simulate::gaussian(rows, columns, seed), truth, noise, seed)
    }

    /// Neighbouring columns have this correlation.
    pub fn correlated(shape: (usize, usize, usize), correlation: f64, noise: f64, seed: u64) -> Self {
        let (rows, columns, k) = shape;
        let truth = simulate::sparse_signal(columns, k, seed);
        Self::with_truth(simulate::autoregressive(rows, columns, correlation, seed), truth, noise, seed)
    }

    /// A problem on which the first start is often stuck.
    pub fn hard(seed: u64) -> Self {
        Self::correlated((40, 60, 8), 0.9, 0.5, seed)
    }

    pub fn with_truth(design: Vec<f64>, truth: SparseVec, noise: f64, seed: u64) -> Self {
        let rows = design.len() / truth.dim();
        let clean = image(&Dense::column_major(&design, rows, truth.dim()).unwrap(), &truth);
        let deviation = noise * norm(&clean) / (rows as f64).sqrt();
        let target = simulate::noisy(&clean, deviation, seed);
        Self { rows, design, truth, target }
    }

    /// Columns that are random walks, and a target that walks as well: many columns stand in for each other.
    pub fn walks(rows: usize, columns: usize, seed: u64) -> Self {
        let walk = |steps: &[f64]| -> Vec<f64> {
            let at = steps.iter().scan(0.0, |at, step| {
                *at += step;
                Some(*at)
            });
            at.collect()
        };
        let design = simulate::gaussian(rows, columns, seed).chunks(rows).flat_map(walk).collect();
        let target = walk(&simulate::gaussian(rows, 1, seed + 1000));
        Self { rows, design, truth: simulate::sparse_signal(columns, 1, seed), target }
    }

    pub fn operator(&self) -> Dense<'_, f64> {
        Dense::column_major(&self.design, self.rows, self.truth.dim()).unwrap()
    }

    pub fn squares<'a>(&self, a: &'a Dense<'a, f64>) -> Objective<&'a Dense<'a, f64>, LeastSquares> {
        objective(a, self.loss())
    }

    pub fn loss(&self) -> LeastSquares {
        squares(self.target.clone())
    }

    /// Least squares on the design.
    pub fn least_squares(&self) -> Objective<Dense<'_, f64>, LeastSquares> {
        objective(self.operator(), self.loss())
    }

    /// Whether the target is above 0.
    pub fn signs(&self) -> Logistic {
        Logistic::new(labels(&self.target, 0.0)).unwrap()
    }

    /// As many atoms as are planted.
    pub fn set(&self) -> KSparse {
        k_sparse(self.truth.indices().len(), self.truth.dim())
    }

    pub fn column_mut(&mut self, j: usize) -> &mut [f64] {
        &mut self.design[j * self.rows..(j + 1) * self.rows]
    }

    /// Makes a column equal to another.
    pub fn duplicate(&mut self, from: usize, to: usize) {
        let column = self.column_mut(from).to_vec();
        self.column_mut(to).copy_from_slice(&column);
    }
}

/// Some entries of a matrix of low rank.
pub struct Completion {
    pub seen: Entries,
    pub truth: LowRank,
    pub target: Vec<f64>,
}

impl Completion {
    /// `noise` is the standard deviation of an entry's.
    pub fn new(shape: (usize, usize), rank: usize, share: f64, noise: f64, seed: u64) -> Self {
        let (left, right) = simulate::low_rank_factors(shape.0, shape.1, rank, seed);
        let truth = LowRank::from_factors(&left, &right).unwrap();
        let (rows, columns) = simulate::observed_places(shape.0, shape.1, share, seed);
        let seen = Entries::new(shape, &rows, &columns).unwrap();
        let target = simulate::noisy(&image(&seen, &truth), noise, seed);
        Self { seen, truth, target }
    }

    pub fn objective(&self) -> Objective<&Entries, LeastSquares> {
        objective(&self.seen, squares(self.target.clone()))
    }
}

/// The defaults for coordinates.
pub fn defaults() -> AcceleratedIht {
    AcceleratedIht::for_structure(Structure::Coordinates)
}

pub fn k_sparse(k: usize, dim: usize) -> KSparse {
    KSparse::new(k, dim).unwrap()
}

pub fn squares(target: impl Into<Vec<f64>>) -> LeastSquares {
    LeastSquares::new(target).unwrap()
}

/// 1 where a value is above this one, else 0.
pub fn labels(values: &[f64], above: f64) -> Vec<f64> {
    values.iter().map(|&v| f64::from(u8::from(v > above))).collect()
}

pub fn objective<A: LinearOperator, L: Loss>(operator: A, loss: L) -> Objective<A, L> {
    Objective::new(operator, loss).unwrap()
}

pub fn image<A: LinearOperator>(a: &A, x: &A::Point) -> Vec<f64> {
    let mut out = vec![f64::NAN; a.n_outputs()];
    a.apply(x, &mut out);
    out
}

pub fn finish<A, L, S, M>(run: &mut Run<'_, A, L, S, M>)
where
    A: LinearOperator,
    L: Loss,
    S: Constraint<A, L>,
    M: Method<A, L, S>,
{
    while !run.is_done() {
        run.step();
    }
}

/// A run by itself: no search around it.
pub fn solved<A, L, S, M>(f: &Objective<A, L>, set: &S, method: &M) -> Outcome<A::Point>
where
    A: LinearOperator,
    L: Loss,
    S: Constraint<A, L> + ConstraintSet,
    M: Method<A, L, S>,
{
    solve(f, set, method, Options::for_set(set), |_, _| ControlFlow::Continue(())).unwrap()
}

/// The minimum of f over some coordinates.
pub fn value_on(f: &Objective<impl Design, impl Loss>, coordinates: &[usize]) -> f64 {
    let t = IndexSet::new(f.operator().domain(), coordinates.to_vec());
    f.value(&refit_on(f, f.at(t.point(&vec![0.0; t.dimension()])), &t))
}

/// Every choice of k numbers below n.
pub fn choices(n: usize, k: usize) -> Vec<Vec<usize>> {
    if k == 0 {
        return vec![Vec::new()];
    }
    let with = |last: usize| choices(last, k - 1).into_iter().map(move |c| [c, vec![last]].concat());
    (k - 1..n).flat_map(with).collect()
}

pub fn least(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().fold(f64::INFINITY, f64::min)
}

/// The minimum of f over every choice of k coordinates.
pub fn best_subset(f: &Objective<impl Design, impl Loss>, k: usize) -> f64 {
    least(choices(f.operator().domain(), k).iter().map(|chosen| value_on(f, chosen)))
}

/// The coordinates of some atoms and of what is kept.
pub fn of_atoms(set: &impl CoordinateSet, chosen: &[usize]) -> Vec<usize> {
    let atoms = set.candidates();
    let members = chosen.iter().flat_map(|&a| atoms.members(a).to_vec());
    members.chain(set.kept().indices().iter().copied()).collect()
}

/// f after every exchange of one chosen atom for another.
pub fn after_exchanges(f: &Objective<impl Design, impl Loss>, set: &impl CoordinateSet, chosen: &[usize]) -> Vec<f64> {
    let atoms = set.candidates();
    let outside: Vec<usize> =
        (0..atoms.len()).filter(|a| !chosen.contains(a) && !atoms.members(*a).is_empty()).collect();
    let one = |out: usize, into: usize| {
        let next: Vec<usize> = chosen.iter().map(|&a| if a == out { into } else { a }).collect();
        value_on(f, &of_atoms(set, &next))
    };
    chosen.iter().flat_map(|&out| outside.iter().map(move |&into| (out, into))).map(|(o, i)| one(o, i)).collect()
}
