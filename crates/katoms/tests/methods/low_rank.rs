//! Matrices of rank k: Riemannian conjugate gradients and bi-factored gradient descent.

use katoms::driver::{Event, Options, Run, Stages};
use katoms::linalg::Matrix;
use katoms::loss::{LeastSquares, Logistic};
use katoms::method::{AcceleratedIht, Bfgd, FactorStep, Method, RankMethod, RiemannianCg, Step};
use katoms::operator::{Dense, Entries, LinearOperator, MatrixMap};
use katoms::set::Rank;
use katoms::space::{LowRank, Point};
use katoms::{Objective, Status, Stop, simulate};

use crate::runs::{capped, refused, run};

/// A matrix, seen at some places.
pub struct Seen {
    pub truth: LowRank,
    pub entries: Entries,
    pub values: Vec<f64>,
}

impl Seen {
    pub fn of(truth: LowRank, share: f64, seed: u64) -> Self {
        let (p, q) = truth.domain();
        let (rows, columns) = simulate::observed_places(p, q, share, seed);
        Self::at(truth, &rows, &columns)
    }

    pub fn at(truth: LowRank, rows: &[usize], columns: &[usize]) -> Self {
        let entries = Entries::new(truth.domain(), rows, columns).unwrap();
        let mut values = vec![0.0; rows.len()];
        entries.apply(&truth, &mut values);
        Self { truth, entries, values }
    }

    pub fn gaussian(p: usize, q: usize, rank: usize, share: f64, seed: u64) -> Self {
        let (left, right) = simulate::low_rank_factors(p, q, rank, seed);
        Self::of(LowRank::from_factors(&left, &right).unwrap(), share, seed)
    }

    pub fn squares(&self) -> Objective<&Entries, LeastSquares> {
        Objective::new(&self.entries, LeastSquares::new(self.values.clone()).unwrap()).unwrap()
    }

    pub fn error(&self, x: &LowRank) -> f64 {
        x.distance(&self.truth) / self.truth.norm()
    }

    /// The same with all values multiplied.
    pub fn scaled(&self, by: f64) -> Self {
        let truth = LowRank::combine(by, &self.truth, 0.0, &self.truth);
        let values = self.values.iter().map(|v| by * v).collect();
        Self { truth, values, entries: self.entries.clone() }
    }
}

pub fn dense(x: &LowRank) -> Matrix {
    x.left().times(x.core()).times_transposed(x.right())
}

pub fn low_rank(m: &Matrix) -> LowRank {
    let identity = Matrix::from_fn(m.columns(), m.columns(), |i, j| if i == j { 1.0 } else { 0.0 });
    LowRank::from_factors(m, &identity).unwrap()
}

pub fn falls(trace: &[Event]) -> bool {
    trace.windows(2).all(|w| w[1].objective <= w[0].objective)
}

fn recovers(method: &RankMethod, cap: usize, tolerance: f64) {
    for seed in 0..4 {
        let seen = Seen::gaussian(60, 80, 3, 0.4, seed);
        let (f, set) = (seen.squares(), Rank::new(3, (60, 80)).unwrap());
        for stages in [Stages::direct(), Stages::growing(3)] {
            let outcome = run(&f, &set, method, capped(cap, stages));
            assert_eq!(outcome.status, Status::Converged, "seed {seed}: {} iterations", outcome.iterations);
            assert!(seen.error(&outcome.point) < tolerance, "seed {seed}: {}", seen.error(&outcome.point));
            assert_eq!(outcome.passes, outcome.iterations, "one pass an iteration");
            assert!(falls(&outcome.trace));
            assert!(outcome.point.rank_bound() <= 3);
        }
    }
}

#[test]
fn planted_completions_are_recovered() {
    recovers(&RankMethod::RiemannianCg(RiemannianCg::default()), 60, 1e-5);
    recovers(&RankMethod::Bfgd(Bfgd::default()), 200, 1e-4);
    recovers(&RankMethod::Bfgd(Bfgd { balance: 0.25, ..Bfgd::default() }), 200, 1e-4);
}

/// Singular values that fall by decades: the weak ones are lost in what was not seen, unless the strong
/// ones come first.
#[test]
fn growing_in_stages_recovers_what_a_direct_run_does_not() {
    let (mut solved, mut direct) = (0, 0);
    for seed in 0..3 {
        let (left, right) = simulate::low_rank_factors(70, 60, 8, seed);
        let (mut u, v) = (left.orthonormalized(), right.orthonormalized());
        u.scale_columns(&(0..8).map(|i| 0.3_f64.powi(i)).collect::<Vec<_>>());
        let seen = Seen::of(LowRank::from_factors(&u, &v).unwrap(), 0.4, seed);
        let (f, set) = (seen.squares(), Rank::new(8, (70, 60)).unwrap());
        let reached = |stages: Stages| {
            let stop = Stop { iterations: 60, tolerance: 1e-9, ..Stop::default() };
            seen.error(&run(&f, &set, &RiemannianCg::default(), Options { stop, stages, ..Options::default() }).point)
        };
        let stages = Stages { before: vec![1, 2, 3, 4, 5, 6, 7], ..Stages::growing(8) };
        solved += usize::from(reached(stages) < 1e-5);
        direct += usize::from(reached(Stages::direct()) < 1e-5);
    }
    assert_eq!((solved, direct), (3, 0));
}

#[test]
fn the_first_move_is_steepest_descent_and_stays_it_without_conjugacy() {
    let seen = Seen::gaussian(30, 25, 2, 0.5, 1);
    let (f, set) = (seen.squares(), Rank::new(2, (30, 25)).unwrap());
    let conjugate = RiemannianCg::default();
    let (descent, iht) =
        (RiemannianCg { least_cosine: 1.0, ..RiemannianCg::default() }, AcceleratedIht::plain(Step::LineSearch));
    let direct = || capped(100, Stages::direct());
    let mut runs = (
        Run::new(&f, &set, &conjugate, direct()).unwrap(),
        Run::new(&f, &set, &descent, direct()).unwrap(),
        Run::new(&f, &set, &iht, direct()).unwrap(),
    );
    for iteration in 0..8 {
        runs.0.step();
        runs.1.step();
        runs.2.step();
        let apart = |x: &LowRank| x.distance(runs.2.iterate()) / x.norm();
        assert!(apart(runs.1.iterate()) < 1e-9);
        assert_eq!(apart(runs.0.iterate()) < 1e-9, iteration == 0, "{}", apart(runs.0.iterate()));
    }
}

#[test]
fn directions_are_tangent_and_descend() {
    let seen = Seen::gaussian(25, 20, 3, 0.6, 2);
    let (f, set) = (seen.squares(), Rank::new(3, (25, 20)).unwrap());
    let method = RiemannianCg::default();
    let mut state = Method::<&Entries, LeastSquares, Rank>::start(&method, &f, &set, LowRank::zero((25, 20))).unwrap();
    let mut g = f.operator().new_covector();
    let mut conjugate = 0;
    for iteration in 0..12 {
        let x = Method::<&Entries, LeastSquares, Rank>::iterate(&method, &state).clone();
        f.gradient(&x, &mut g);
        method.advance(&f, &set, &mut state, &g);
        let (xi, eta) = state.last_move().unwrap();
        assert!(xi.dot(eta) < 0.0);
        conjugate += usize::from(LowRank::combine(1.0, xi, 1.0, eta).norm() > 1e-6 * xi.norm());
        if iteration == 0 {
            continue; // the tangent space is that of the filled up point
        }
        let (u, v, m) = (x.point().left(), x.point().right(), dense(eta));
        let m = m.plus(-1.0, &u.times(&u.transposed_times(&m)));
        let outside = m.plus(-1.0, &m.times(v).times_transposed(v));
        assert!(outside.norm() < 1e-11 * eta.norm(), "{}", outside.norm());
    }
    assert!(conjugate >= 8, "{conjugate} of 12 directions are not the gradient's");
}

/// Bi-factored gradient descent on dense matrices.
struct Twin {
    u: Matrix,
    v: Matrix,
    target: Matrix,
    mask: Matrix,
    first: f64,
}

impl Twin {
    fn new(seen: &Seen, x0: &LowRank, k: usize) -> Self {
        let (p, q) = seen.truth.domain();
        let (mut mask, mut target) = (Matrix::zeros(p, q), Matrix::zeros(p, q));
        for (&(i, j), value) in seen.entries.pattern().places().iter().zip(&seen.values) {
            mask.column_mut(j as usize)[i as usize] = 1.0;
            target.column_mut(j as usize)[i as usize] = *value;
        }
        let (u, values, v) = dense(x0).svd().unwrap();
        let roots: Vec<f64> = values[..k].iter().map(|s| s.sqrt()).collect();
        let (mut u, mut v) = (u.leading_columns(k), v.leading_columns(k));
        u.scale_columns(&roots);
        v.scale_columns(&roots);
        Self { u, v, target, mask, first: 2.0 * values[0] }
    }

    fn x(&self) -> Matrix {
        self.u.times_transposed(&self.v)
    }

    fn gradient(&self) -> Matrix {
        let x = self.x();
        Matrix::from_fn(x.rows(), x.columns(), |i, j| self.mask.at(i, j) * (x.at(i, j) - self.target.at(i, j)))
    }

    fn value(&self) -> f64 {
        0.5 * self.gradient().norm().powi(2)
    }

    fn moved(&self, eta: f64, omega: f64) -> Self {
        let (g, d) = (self.gradient(), self.u.transposed_times(&self.u).plus(-1.0, &self.v.transposed_times(&self.v)));
        let (gu, gv) = (
            g.times(&self.v).plus(omega, &self.u.times(&d)),
            g.transposed_times(&self.u).plus(-omega, &self.v.times(&d)),
        );
        let (target, mask) = (self.target.clone(), self.mask.clone());
        Self { u: self.u.plus(-eta, &gu), v: self.v.plus(-eta, &gv), target, mask, first: self.first }
    }

    /// The paper's steps, for L = 1.
    fn step(&self, omega: f64) -> f64 {
        if omega > 0.0 {
            return 1.0 / (12.0 * self.first);
        }
        let gram = self.u.transposed_times(&self.u).plus(1.0, &self.v.transposed_times(&self.v));
        1.0 / (15.0 * gram.svd().unwrap().1[0] + 3.0 * self.gradient().svd().unwrap().1[0])
    }
}

#[test]
fn factors_move_as_the_dense_formula_says() {
    let seen = Seen::gaussian(12, 9, 2, 0.7, 3);
    let x0 = Seen::gaussian(12, 9, 2, 1.0, 8).truth;
    let (f, set) = (seen.squares(), Rank::new(2, (12, 9)).unwrap());
    for omega in [0.0, 0.25] {
        let method = Bfgd { step: FactorStep::Theory, balance: omega };
        let mut run = Run::starting_at(&f, &set, &method, capped(100, Stages::direct()), x0.clone()).unwrap();
        let mut twin = Twin::new(&seen, &x0, 2);
        for _ in 0..10 {
            let step = run.step().step;
            assert!((step / twin.step(omega) - 1.0).abs() < 1e-7, "{step} {}", twin.step(omega));
            twin = twin.moved(step, omega);
            assert!(dense(run.iterate()).plus(-1.0, &twin.x()).norm() < 1e-10 * twin.x().norm());
        }
    }
}

#[test]
fn the_line_search_ends_at_the_bottom() {
    let seen = Seen::gaussian(12, 9, 2, 0.7, 4);
    let x0 = Seen::gaussian(12, 9, 2, 1.0, 9).truth;
    let (f, set) = (seen.squares(), Rank::new(2, (12, 9)).unwrap());
    let method = Bfgd::default();
    let mut run = Run::starting_at(&f, &set, &method, capped(100, Stages::direct()), x0.clone()).unwrap();
    let mut twin = Twin::new(&seen, &x0, 2);
    for _ in 0..10 {
        let event = run.step();
        let (here, there) = (twin.value(), twin.moved(event.step, 0.0));
        assert!((there.value() - event.objective).abs() < 1e-10 * here);
        for other in [0.98, 1.02] {
            assert!(twin.moved(other * event.step, 0.0).value() > there.value());
        }
        twin = there;
    }
}

/// Everything seen: the answer is the truncated SVD.
#[test]
fn a_matrix_seen_in_full_is_approximated_best() {
    let normal = Matrix::from_columns(9, 7, simulate::normals(63, &mut simulate::generator(5, 0)));
    let seen = Seen::of(low_rank(&normal), 1.1, 0);
    let f = seen.squares();
    let methods = ["riemannian-cg", "bfgd"].map(|name| RankMethod::named(name).unwrap());
    for (k, method) in [1, 2, 7].into_iter().flat_map(|k| methods.iter().map(move |method| (k, method))) {
        let set = Rank::new(k, (9, 7)).unwrap();
        let stop = Stop { iterations: 3000, tolerance: 1e-9, ..Stop::default() };
        let outcome = run(&f, &set, method, Options { stop, ..Options::default() });
        assert_eq!(outcome.status, Status::Converged);
        assert!(outcome.point.distance(&seen.truth.truncated(k)) < 1e-6 * seen.truth.norm(), "k = {k}");
    }
}

#[test]
fn general_maps_and_other_losses() {
    // 300 measurements of a 12 × 10 matrix of rank 2
    let truth = Seen::gaussian(12, 10, 2, 1.0, 6).truth;
    let design = simulate::gaussian(100, 120, 6);
    let map = MatrixMap::new(Dense::column_major(&design, 100, 120).unwrap(), (12, 10)).unwrap();
    let mut target = vec![0.0; 100];
    map.apply(&truth, &mut target);
    let f = Objective::new(&map, LeastSquares::new(target).unwrap()).unwrap();
    let set = Rank::new(2, (12, 10)).unwrap();
    let cg = run(&f, &set, &RiemannianCg::default(), capped(100, Stages::growing(2)));
    let factored = run(&f, &set, &Bfgd::default(), capped(300, Stages::growing(2)));
    for outcome in [cg, factored] {
        assert_eq!(outcome.status, Status::Converged);
        assert!(outcome.point.distance(&truth) < 1e-4 * truth.norm());
    }
    // signs of a matrix of rank 1, with a ridge
    let seen = Seen::gaussian(20, 15, 1, 0.8, 3);
    let labels = seen.values.iter().map(|v| f64::from(u8::from(*v > 0.0))).collect::<Vec<_>>();
    let f = Objective::new(&seen.entries, Logistic::new(labels).unwrap()).unwrap().ridge(0.05).unwrap();
    let set = Rank::new(1, (20, 15)).unwrap();
    let cg = run(&f, &set, &RiemannianCg::default(), capped(300, Stages::direct()));
    let factored = run(&f, &set, &Bfgd::default(), capped(300, Stages::direct()));
    for outcome in [&cg, &factored] {
        assert_eq!(outcome.status, Status::Converged);
        assert!(falls(&outcome.trace));
    }
    assert!((cg.objective / factored.objective - 1.0).abs() < 1e-6);
}

#[test]
fn options_that_make_no_sense_are_named() {
    let seen = Seen::gaussian(6, 5, 1, 0.9, 0);
    let (f, set) = (seen.squares(), Rank::new(1, (6, 5)).unwrap());
    for bad in [0.0, 1.5, f64::NAN] {
        refused(&f, &set, &RiemannianCg { least_cosine: bad, ..RiemannianCg::default() }, "least_cosine");
        refused(&f, &set, &RiemannianCg { decrease: bad, ..RiemannianCg::default() }, "decrease");
    }
    for bad in [-0.1, f64::INFINITY] {
        refused(&f, &set, &Bfgd { balance: bad, ..Bfgd::default() }, "balance");
    }
}
