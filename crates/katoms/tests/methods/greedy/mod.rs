//! Greedy methods. What their tests share: runs of all of them, and small problems solved by brute force.

mod choices;
mod conduct;
mod losses;

use katoms::driver::Options;
use katoms::linalg::{self, Matrix, solve_symmetric};
use katoms::loss::LeastSquares;
use katoms::method::{Foba, ForwardRegression, Method, Move, Oblivious, Omp};
use katoms::operator::{Dense, LinearOperator};
use katoms::set::{Always, CoordinateSet, OverlappingGroups};
use katoms::space::{IndexSet, Point, SparseVec};
use katoms::{Objective, Outcome, simulate};

pub type Design<'a> = Dense<'a, f64>;
pub type Squares<'a> = Objective<&'a Design<'a>, LeastSquares>;
/// Groups that may overlap, and coordinates that are always kept.
pub type Kept = Always<OverlappingGroups>;

pub fn run<'a, S, M>(f: &Squares<'a>, set: &S, method: &M) -> Outcome<SparseVec>
where
    S: CoordinateSet,
    M: Method<&'a Design<'a>, LeastSquares, S>,
{
    crate::runs::run(f, set, method, Options::for_set(set))
}

/// Every method's outcome.
pub fn all<'a, S: CoordinateSet>(f: &Squares<'a>, set: &S) -> Vec<(&'static str, Outcome<SparseVec>)> {
    vec![
        ("omp", run(f, set, &Omp)),
        ("forward", run(f, set, &ForwardRegression)),
        ("foba", run(f, set, &Foba::default())),
        ("oblivious", run(f, set, &Oblivious)),
    ]
}

/// The supports of the queries of a method, move by move.
pub fn supports<'a, S, M>(f: &Squares<'a>, set: &S, method: &M) -> Vec<Vec<usize>>
where
    S: CoordinateSet,
    M: Method<&'a Design<'a>, LeastSquares, S>,
{
    let mut state = method.start(f, set, SparseVec::zero(set.domain())).unwrap();
    let mut seen = Vec::new();
    loop {
        let mut g = f.operator().new_covector();
        f.gradient(method.query(&state), &mut g);
        if method.advance(f, set, &mut state, &g).kind == Move::Fixed {
            return seen;
        }
        seen.push(method.query(&state).point().indices().to_vec());
    }
}

/// A small explicit problem, with everything that least squares may have.
pub struct Explicit {
    pub design: Matrix,
    pub y: Vec<f64>,
    pub weights: Vec<f64>,
    pub ridge: f64,
    pub free: Vec<usize>,
}

impl Explicit {
    /// Correlated columns of mixed norms, a target of noise.
    pub fn new(seed: u64, rows: usize, columns: usize) -> Self {
        let mut design = Matrix::from_columns(rows, columns, simulate::autoregressive(rows, columns, 0.6, seed));
        design.scale_columns(&(0..columns).map(|j| 1.0 + (j % 3) as f64).collect::<Vec<_>>());
        let y = simulate::normals(rows, &mut simulate::generator(seed, 9));
        Self { design, y, weights: vec![1.0; rows], ridge: 0.0, free: Vec::new() }
    }

    /// The same with sample weights, one of them 0, and a ridge that leaves coordinate 0 alone.
    pub fn weighted(self, ridge: f64) -> Self {
        let weights = (0..self.y.len()).map(|i| (i % 4) as f64 * 0.5).collect();
        Self { weights, ridge, free: vec![0], ..self }
    }

    pub fn operator(&self) -> Design<'_> {
        Dense::column_major(self.design.data(), self.design.rows(), self.design.columns()).unwrap()
    }

    pub fn objective<'a>(&self, a: &'a Design<'a>) -> Squares<'a> {
        let loss = LeastSquares::new(self.y.clone()).unwrap().weighted(self.weights.clone()).unwrap();
        let f = Objective::new(a, loss).unwrap().ridge(self.ridge).unwrap();
        f.free_of_ridge(IndexSet::new(self.design.columns(), self.free.clone()))
    }

    pub fn product(&self, a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).zip(&self.weights).map(|((a, b), w)| a * b * w).sum()
    }

    pub fn ridge_at(&self, j: usize) -> f64 {
        if self.free.contains(&j) { 0.0 } else { self.ridge }
    }

    /// The minimum over some coordinates, and f there: the normal equations from scratch.
    pub fn minimum(&self, support: &[usize]) -> (Vec<f64>, f64) {
        let column = |p: usize| self.design.column(support[p]);
        let gram = Matrix::from_fn(support.len(), support.len(), |a, b| {
            self.product(column(a), column(b)) + if a == b { self.ridge_at(support[a]) } else { 0.0 }
        });
        let right: Vec<f64> = (0..support.len()).map(|p| self.product(column(p), &self.y)).collect();
        let x = if support.is_empty() { Vec::new() } else { solve_symmetric(&gram, &right) };
        (x.clone(), 0.5 * self.product(&self.y, &self.y) - 0.5 * linalg::dot(&right, &x))
    }

    pub fn value(&self, support: &[usize]) -> f64 {
        self.minimum(support).1
    }

    /// The answer against the minimum over its support.
    pub fn check(&self, found: &Outcome<SparseVec>) {
        let (x, value) = self.minimum(found.point.indices());
        let apart = linalg::norm(&linalg::combine(1.0, found.point.values(), -1.0, &x));
        assert!(apart <= 1e-10 * linalg::norm(&x), "{apart:e}");
        assert!((found.objective - value).abs() <= 1e-10 * self.value(&[]));
    }
}

/// Groups with kept coordinates: what brute force needs to know of a [`Kept`].
pub struct Catalogue {
    pub groups: Vec<Vec<usize>>,
    pub kept: Vec<usize>,
}

impl Catalogue {
    pub fn singles(columns: usize) -> Self {
        Self { groups: (0..columns).map(|j| vec![j]).collect(), kept: Vec::new() }
    }

    pub fn set(&self, k: usize, columns: usize) -> Kept {
        Always::new(OverlappingGroups::new(k, columns, self.groups.clone()).unwrap(), self.kept.clone()).unwrap()
    }

    pub fn support(&self, chosen: &[usize]) -> Vec<usize> {
        let mut all = self.kept.clone();
        all.extend(chosen.iter().flat_map(|&group| self.groups[group].iter().copied()));
        all.sort_unstable();
        all.dedup();
        all
    }

    pub fn value(&self, problem: &Explicit, chosen: &[usize]) -> f64 {
        problem.value(&self.support(chosen))
    }

    /// The group whose addition leaves f lowest.
    pub fn best(&self, problem: &Explicit, chosen: &[usize]) -> usize {
        let free = (0..self.groups.len()).filter(|g| !chosen.contains(g));
        let value = |g: &usize| self.value(problem, &[chosen, &[*g]].concat());
        free.min_by(|a, b| value(a).total_cmp(&value(b))).expect("atoms are left")
    }
}

/// Groups of two and three that overlap, and a kept coordinate that some of them hold.
pub fn overlapping() -> Catalogue {
    let groups = (0..8).map(|g| vec![2 * g, 2 * g + 1, (5 * g + 6) % 18]).collect::<Vec<_>>();
    let groups = groups.into_iter().map(|mut g: Vec<usize>| {
        g.sort_unstable();
        g.dedup();
        g
    });
    Catalogue { groups: groups.collect(), kept: vec![0] }
}
