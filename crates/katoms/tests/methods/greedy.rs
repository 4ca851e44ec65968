//! Greedy methods: against brute force, scikit-learn and each other; cost, edges, checkpoints.

use katoms::driver::{Options, Run, lockstep};
use katoms::linalg::{self, Matrix, solve_symmetric, top_k};
use katoms::loss::{LeastSquares, Logistic};
use katoms::method::{Foba, ForwardRegression, Method, Move, Oblivious, Omp};
use katoms::operator::{Dense, LinearOperator, subsampled_dct};
use katoms::set::{Always, CoordinateSet, KSparse, OverlappingGroups};
use katoms::space::{IndexSet, Point, SparseVec};
use katoms::{Error, Objective, Outcome, Status, simulate};

use crate::planted::Planted;

type Design<'a> = Dense<'a, f64>;
type Squares<'a> = Objective<&'a Design<'a>, LeastSquares>;
/// Groups that may overlap, and coordinates that are always kept.
type Kept = Always<OverlappingGroups>;

fn run<'a, S, M>(f: &Squares<'a>, set: &S, method: &M) -> Outcome<SparseVec>
where
    S: CoordinateSet,
    M: Method<&'a Design<'a>, LeastSquares, S>,
{
    let mut run = Run::new(f, set, method, Options::for_set(set)).unwrap();
    while !run.is_done() {
        run.step();
    }
    run.outcome_unchecked()
}

/// Every method's outcome.
fn all<'a, S: CoordinateSet>(f: &Squares<'a>, set: &S) -> Vec<(&'static str, Outcome<SparseVec>)> {
    vec![
        ("omp", run(f, set, &Omp)),
        ("forward", run(f, set, &ForwardRegression)),
        ("foba", run(f, set, &Foba::default())),
        ("oblivious", run(f, set, &Oblivious)),
    ]
}

/// The supports of the queries of a method, move by move.
fn supports<'a, S, M>(f: &Squares<'a>, set: &S, method: &M) -> Vec<Vec<usize>>
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
struct Explicit {
    design: Matrix,
    y: Vec<f64>,
    weights: Vec<f64>,
    ridge: f64,
    free: Vec<usize>,
}

impl Explicit {
    /// Correlated columns of mixed norms, a target of noise.
    fn new(seed: u64, rows: usize, columns: usize) -> Self {
        let mut design = Matrix::from_columns(rows, columns, simulate::autoregressive(rows, columns, 0.6, seed));
        design.scale_columns(&(0..columns).map(|j| 1.0 + (j % 3) as f64).collect::<Vec<_>>());
        let y = simulate::normals(rows, &mut simulate::generator(seed, 9));
        Self { design, y, weights: vec![1.0; rows], ridge: 0.0, free: Vec::new() }
    }

    /// The same with sample weights, one of them 0, and a ridge that leaves coordinate 0 alone.
    fn weighted(self, ridge: f64) -> Self {
        let weights = (0..self.y.len()).map(|i| (i % 4) as f64 * 0.5).collect();
        Self { weights, ridge, free: vec![0], ..self }
    }

    fn operator(&self) -> Design<'_> {
        Dense::column_major(self.design.data(), self.design.rows(), self.design.columns()).unwrap()
    }

    fn objective<'a>(&self, a: &'a Design<'a>) -> Squares<'a> {
        let loss = LeastSquares::new(self.y.clone()).unwrap().weighted(self.weights.clone()).unwrap();
        let f = Objective::new(a, loss).unwrap().ridge(self.ridge).unwrap();
        f.free_of_ridge(IndexSet::new(self.design.columns(), self.free.clone()))
    }

    fn product(&self, a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).zip(&self.weights).map(|((a, b), w)| a * b * w).sum()
    }

    fn ridge_at(&self, j: usize) -> f64 {
        if self.free.contains(&j) { 0.0 } else { self.ridge }
    }

    /// The minimum over some coordinates, and f there: the normal equations from scratch.
    fn minimum(&self, support: &[usize]) -> (Vec<f64>, f64) {
        let column = |p: usize| self.design.column(support[p]);
        let gram = Matrix::from_fn(support.len(), support.len(), |a, b| {
            self.product(column(a), column(b)) + if a == b { self.ridge_at(support[a]) } else { 0.0 }
        });
        let right: Vec<f64> = (0..support.len()).map(|p| self.product(column(p), &self.y)).collect();
        let x = if support.is_empty() { Vec::new() } else { solve_symmetric(&gram, &right) };
        (x.clone(), 0.5 * self.product(&self.y, &self.y) - 0.5 * linalg::dot(&right, &x))
    }

    fn value(&self, support: &[usize]) -> f64 {
        self.minimum(support).1
    }

    /// The answer against the minimum over its support.
    fn check(&self, found: &Outcome<SparseVec>) {
        let (x, value) = self.minimum(found.point.indices());
        let apart = linalg::norm(&linalg::combine(1.0, found.point.values(), -1.0, &x));
        assert!(apart <= 1e-10 * linalg::norm(&x), "{apart:e}");
        assert!((found.objective - value).abs() <= 1e-10 * self.value(&[]));
    }
}

/// Groups with kept coordinates: what brute force needs to know of a [`Kept`].
struct Catalogue {
    groups: Vec<Vec<usize>>,
    kept: Vec<usize>,
}

impl Catalogue {
    fn singles(columns: usize) -> Self {
        Self { groups: (0..columns).map(|j| vec![j]).collect(), kept: Vec::new() }
    }

    fn set(&self, k: usize, columns: usize) -> Kept {
        Always::new(OverlappingGroups::new(k, columns, self.groups.clone()).unwrap(), self.kept.clone()).unwrap()
    }

    fn support(&self, chosen: &[usize]) -> Vec<usize> {
        let mut all = self.kept.clone();
        all.extend(chosen.iter().flat_map(|&group| self.groups[group].iter().copied()));
        all.sort_unstable();
        all.dedup();
        all
    }

    fn value(&self, problem: &Explicit, chosen: &[usize]) -> f64 {
        problem.value(&self.support(chosen))
    }

    /// The group whose addition leaves f lowest.
    fn best(&self, problem: &Explicit, chosen: &[usize]) -> usize {
        let free = (0..self.groups.len()).filter(|g| !chosen.contains(g));
        let value = |g: &usize| self.value(problem, &[chosen, &[*g]].concat());
        free.min_by(|a, b| value(a).total_cmp(&value(b))).expect("atoms are left")
    }
}

/// Groups of two and three that overlap, and a kept coordinate that some of them hold.
fn overlapping() -> Catalogue {
    let groups = (0..8).map(|g| vec![2 * g, 2 * g + 1, (5 * g + 6) % 18]).collect::<Vec<_>>();
    let groups = groups.into_iter().map(|mut g: Vec<usize>| {
        g.sort_unstable();
        g.dedup();
        g
    });
    Catalogue { groups: groups.collect(), kept: vec![0] }
}

#[test]
fn planted_vectors_are_found_at_any_scale() {
    for seed in 0..4 {
        let mut problem = Planted::new(100, 300, 6, 0.0, seed);
        let truth = problem.truth.clone();
        for round in 0..2 {
            let a = problem.operator();
            let f = problem.squares(&a);
            for (name, found) in all(&f, &KSparse::new(6, 300).unwrap()) {
                assert!(name == "oblivious" || found.point.indices() == truth.indices(), "{name}, seed {seed}");
                assert_eq!(found.status, Status::Converged, "{name}");
                assert!(found.iterations <= 12 && found.passes <= 14, "{name}: {}", found.passes);
                assert!(name == "oblivious" || found.objective < 1e-20 * f.value(&f.at(SparseVec::zero(300))));
            }
            // once more in other units
            for (j, column) in problem.design.chunks_mut(100).enumerate() {
                let unit = [1e6, 1.0, 1e-6][(j + round) % 3];
                column.iter_mut().for_each(|v| *v *= unit);
            }
            problem.target.iter_mut().for_each(|v| *v *= 1e6);
        }
    }
}

#[test]
fn the_scale_of_columns_and_target_decides_nothing() {
    let plain = Explicit::new(3, 40, 60);
    let mut scaled = Explicit::new(3, 40, 60);
    scaled.design.scale_columns(&(0..60).map(|j| [1e-6, 1.0, 1e6][j % 3]).collect::<Vec<_>>());
    scaled.y.iter_mut().for_each(|v| *v *= 1e6);
    let (a, b) = (plain.operator(), scaled.operator());
    let (f, g) = (plain.objective(&a), scaled.objective(&b));
    let set = KSparse::new(10, 60).unwrap();
    for ((name, one), (_, other)) in all(&f, &set).into_iter().zip(all(&g, &set)) {
        assert_eq!(one.point.indices(), other.point.indices(), "{name}");
        assert_eq!((one.point.indices().len(), one.passes), (10, other.passes), "{name}");
        assert!((other.objective / one.objective / 1e12 - 1.0).abs() < 1e-9, "{name}");
    }
}

/// The generator of `fixtures/omp.py`.
fn nearly_normal(seed: u64, count: usize) -> Vec<f64> {
    let mut state = seed;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / 2.0_f64.powi(53) - 0.5
    };
    (0..count).map(|_| (0..12).fold(0.0, |sum, _| sum + uniform())).collect()
}

#[test]
fn omp_chooses_as_scikit_learn_does() {
    let numbers = |text: &str| text.split_whitespace().map(|v| v.parse().unwrap()).collect::<Vec<f64>>();
    for line in include_str!("../fixtures/omp.txt").lines() {
        let parts: Vec<Vec<f64>> = line.split(';').map(numbers).collect();
        let [seed, rows, columns, correlation, k] = parts[0][..] else { panic!("{line}") };
        let (rows, columns, k) = (rows as usize, columns as usize, k as usize);
        let mut design = nearly_normal(seed as u64, rows * columns + rows);
        let mut y: Vec<f64> = design.split_off(rows * columns).iter().map(|v| 0.1 * v).collect();
        for at in rows..design.len() {
            design[at] = correlation * design[at - rows] + (1.0 - correlation * correlation).sqrt() * design[at];
        }
        for column in design.chunks_mut(rows) {
            let norm = linalg::norm(column);
            column.iter_mut().for_each(|v| *v /= norm);
        }
        for i in 0..k / 2 {
            let weight = (1.0 + 0.3 * i as f64) * if i % 2 == 0 { 1.0 } else { -1.0 };
            linalg::kernels::axpy(weight, &design[((7 * i + 3) % columns) * rows..][..rows], &mut y);
        }
        let support: Vec<usize> = parts[1].iter().map(|&j| j as usize).collect();
        for unequal in [false, true] {
            // columns of any norm: the support is that of the unit ones
            let unit = |j: usize| if unequal { [1.0, 100.0, 0.01][j % 3] } else { 1.0 };
            let scaled: Vec<f64> = design.iter().enumerate().map(|(at, v)| unit(at / rows) * v).collect();
            let a = Dense::column_major(scaled, rows, columns).unwrap();
            let f = Objective::new(&a, LeastSquares::new(y.clone()).unwrap()).unwrap();
            let found = run(&f, &KSparse::new(k, columns).unwrap(), &Omp);
            assert_eq!(found.point.indices(), support, "{line}");
            for ((j, v), expected) in found.point.entries().zip(&parts[2]) {
                assert!((v * unit(j) - expected).abs() < 1e-9 * (1.0 + expected.abs()), "{line}");
            }
        }
    }
}

#[test]
fn omp_takes_the_most_correlated_column() {
    let problem = Explicit::new(2, 25, 20).weighted(0.2);
    let a = problem.operator();
    let f = problem.objective(&a);
    let mut support: Vec<usize> = Vec::new();
    for found in supports(&f, &KSparse::new(8, 20).unwrap(), &Omp) {
        let (x, _) = problem.minimum(&support);
        let mut residual = problem.y.clone();
        for (&j, v) in support.iter().zip(&x) {
            linalg::kernels::axpy(-v, problem.design.column(j), &mut residual);
        }
        let score = |j: usize| {
            let column = problem.design.column(j);
            problem.product(column, &residual).abs() / (problem.product(column, column) + problem.ridge_at(j)).sqrt()
        };
        let scores: Vec<f64> = (0..20).map(|j| if support.contains(&j) { 0.0 } else { score(j) }).collect();
        support.extend(top_k(&scores, 1));
        support.sort_unstable();
        assert_eq!(found, support);
    }
    assert_eq!(support.len(), 8);
}

#[test]
fn forward_regression_is_the_greedy_of_brute_force() {
    for seed in 0..6 {
        let problem = Explicit::new(seed, 24, 18);
        let problem = if seed % 2 == 0 { problem } else { problem.weighted(0.3) };
        let a = problem.operator();
        let f = problem.objective(&a);
        for catalogue in [Catalogue::singles(18), overlapping()] {
            let k = catalogue.groups.len().min(7);
            let set = catalogue.set(k, 18);
            let mut chosen = Vec::new();
            for found in supports(&f, &set, &ForwardRegression) {
                chosen.push(catalogue.best(&problem, &chosen));
                assert_eq!(found, catalogue.support(&chosen), "seed {seed}");
            }
            assert_eq!(chosen.len(), k);
            problem.check(&run(&f, &set, &ForwardRegression));
        }
    }
}

/// Zhang's loop by brute force, with a look at every atom that stays.
#[test]
fn foba_keeps_no_cheap_atom() {
    let mut removals = 0;
    for seed in 0..8 {
        let problem = Explicit::new(seed, 20, 18);
        let problem = if seed % 2 == 0 { problem } else { problem.weighted(0.1) };
        let a = problem.operator();
        let f = problem.objective(&a);
        for (catalogue, k) in [(Catalogue::singles(18), 5), (overlapping(), 3)] {
            let set = catalogue.set(k, 18);
            let (mut chosen, mut gains, mut best) = (Vec::new(), Vec::new(), f64::INFINITY);
            for found in supports(&f, &set, &Foba::default()) {
                let before = catalogue.value(&problem, &chosen);
                chosen.push(catalogue.best(&problem, &chosen));
                gains.push(before - catalogue.value(&problem, &chosen));
                loop {
                    let here = catalogue.value(&problem, &chosen);
                    let without = |p: usize| [&chosen[..p], &chosen[p + 1..]].concat();
                    let cost = |p: usize| catalogue.value(&problem, &without(p)) - here;
                    let least = (0..chosen.len()).min_by(|&p, &q| cost(p).total_cmp(&cost(q))).expect("an atom");
                    if cost(least) > 0.5 * gains[gains.len() - 1] {
                        break;
                    }
                    (chosen, removals) = (without(least), removals + 1);
                    gains.pop();
                }
                if chosen.len() <= k {
                    best = best.min(catalogue.value(&problem, &chosen));
                }
                assert_eq!(found, catalogue.support(&chosen), "seed {seed}");
            }
            assert_eq!(chosen.len(), 2 * k, "seed {seed}");
            let found = run(&f, &set, &Foba::default());
            problem.check(&found);
            assert!((found.objective - best).abs() < 1e-10 * problem.value(&[]), "seed {seed}");
        }
    }
    assert!(removals > 0, "nothing was ever removed");
}

#[test]
fn foba_stops_at_its_threshold_and_at_its_most() {
    let problem = Explicit::new(5, 30, 40);
    let a = problem.operator();
    let f = problem.objective(&a);
    let set = KSparse::new(12, 40).unwrap();
    let threshold = 0.03;
    let found = run(&f, &set, &Foba { threshold, ..Foba::default() });
    let next = (0..40).map(|j| {
        let mut more = found.point.indices().to_vec();
        more.push(j);
        more.sort_unstable();
        more.dedup();
        found.objective - problem.value(&more)
    });
    assert!(next.fold(0.0, f64::max) <= threshold * problem.value(&[]));
    assert!((1..12).contains(&found.point.indices().len()) && found.status == Status::Converged);
    let seen = supports(&f, &set, &Foba { most: Some(12), ..Foba::default() });
    assert_eq!(seen.iter().map(Vec::len).max(), Some(12));
    for bad in [
        Foba { threshold: -0.1, ..Foba::default() },
        Foba { threshold: f64::NAN, ..Foba::default() },
        Foba { share: 1.0, ..Foba::default() },
        Foba { most: Some(11), ..Foba::default() },
    ] {
        assert!(Run::new(&f, &set, &bad, Options::for_set(&set)).is_err(), "{bad:?}");
    }
}

#[test]
fn on_an_orthonormal_design_all_choose_the_largest() {
    for seed in 0..3 {
        let design = Matrix::from_columns(12, 12, simulate::gaussian(12, 12, seed)).orthonormalized();
        let problem = Explicit { design, ..Explicit::new(seed, 12, 12) };
        let a = problem.operator();
        let f = problem.objective(&a);
        let sizes: Vec<f64> = (0..12).map(|j| linalg::dot(problem.design.column(j), &problem.y).abs()).collect();
        for k in [1, 4, 12] {
            for (name, found) in all(&f, &KSparse::new(k, 12).unwrap()) {
                assert_eq!(found.point.indices(), top_k(&sizes, k), "{name}, seed {seed}, k {k}");
            }
        }
    }
}

#[test]
fn singleton_groups_are_coordinates() {
    let problem = Explicit::new(7, 30, 40).weighted(0.05);
    let a = problem.operator();
    let f = problem.objective(&a);
    let (plain, groups) = (KSparse::new(6, 40).unwrap(), Catalogue::singles(40).set(6, 40));
    for ((name, one), (_, other)) in all(&f, &plain).into_iter().zip(all(&f, &groups)) {
        assert_eq!(one.point, other.point, "{name}");
        assert_eq!(one.passes, other.passes, "{name}");
        problem.check(&one);
    }
}

#[test]
fn one_pass_for_each_atom() {
    let problem = Explicit::new(1, 60, 80);
    let a = problem.operator();
    let f = problem.objective(&a);
    let outcomes = all(&f, &KSparse::new(9, 80).unwrap());
    let passes: Vec<usize> = outcomes.iter().map(|o| o.1.passes).collect();
    // one for the norms; FoBa goes up to 18 atoms, and pays one more after each move that removed some
    assert_eq!((passes[0], passes[1], passes[3]), (10, 10, 2));
    assert_eq!(outcomes.iter().map(|o| o.1.iterations).collect::<Vec<_>>()[..2], [9, 9]);
    let moves = supports(&f, &KSparse::new(9, 80).unwrap(), &Foba::default());
    let shrunk = moves.windows(2).filter(|w| w[1].len() <= w[0].len()).count();
    assert_eq!(passes[2], 1 + moves.len() + shrunk);
    let (omp, forward) = (&outcomes[0].1, &outcomes[1].1);
    assert!(omp.columns <= (1..=9).sum::<usize>() + 9, "{}", omp.columns);
    assert_eq!(omp.columns, forward.columns);
}

/// A target that the first atom explains nearly: differences of gradients hold no products any more.
#[test]
fn forward_regression_sees_to_the_last_digits() {
    let mut problem = Explicit::new(4, 30, 25);
    let noise = problem.y.clone();
    problem.y = problem.design.column(11).iter().zip(&noise).map(|(v, e)| 1e6 * v + 0.1 * e).collect();
    let a = problem.operator();
    let f = problem.objective(&a);
    let (set, catalogue) = (KSparse::new(6, 25).unwrap(), Catalogue::singles(25));
    // judged on the noise alone, where brute force has all its digits
    let rest = Explicit { y: noise, ..Explicit::new(4, 30, 25) };
    let mut chosen = vec![11];
    for found in &supports(&f, &set, &ForwardRegression)[1..] {
        chosen.push(catalogue.best(&rest, &chosen));
        assert_eq!(found, &catalogue.support(&chosen));
    }
    let found = run(&f, &set, &ForwardRegression);
    assert!(found.passes > 7 && found.passes <= 12, "{}", found.passes);
}

#[test]
fn edges_are_no_trouble() {
    let mut problem = Explicit::new(4, 20, 10);
    let twin = problem.design.column(0).to_vec();
    problem.design.column_mut(3).copy_from_slice(&twin);
    problem.design.column_mut(5).fill(0.0);
    let a = problem.operator();
    let f = problem.objective(&a);
    for (name, found) in all(&f, &KSparse::new(10, 10).unwrap()) {
        assert_eq!(found.status, Status::Converged, "{name}");
        // 8 of the columns are independent; the twin that comes second brings nothing
        assert!(name == "oblivious" || found.point.indices().len() == 8, "{name}: {:?}", found.point);
        assert!(found.point.values().iter().all(|v| v.abs() < 1e3), "{name}");
        assert!((found.objective - problem.value(&[0, 1, 2, 4, 6, 7, 8, 9])).abs() < 1e-12, "{name}");
    }
    for (name, found) in all(&f, &overlapping_twins()) {
        assert!(found.point.values().iter().all(|v| v.abs() < 1e3), "{name}");
        assert!(found.objective <= problem.value(&[0]) + 1e-12, "{name}");
    }
    let nothing = Explicit { y: vec![0.0; 20], ..Explicit::new(4, 20, 10) };
    let b = nothing.operator();
    for (name, found) in all(&nothing.objective(&b), &KSparse::new(4, 10).unwrap()) {
        assert_eq!((found.status, found.objective), (Status::Converged, 0.0), "{name}");
        assert!(found.point.values().iter().all(|v| *v == 0.0), "{name}");
    }
}

/// Groups of which one holds a column and its twin, and one nothing but a zero column.
fn overlapping_twins() -> Kept {
    Catalogue { groups: vec![vec![0, 3], vec![5], vec![3, 4, 6], vec![7, 8]], kept: vec![] }.set(3, 10)
}

#[test]
fn a_start_with_atoms_is_a_model_to_grow_from() -> Result<(), Error> {
    let problem = Explicit::new(6, 30, 20).weighted(0.1);
    let a = problem.operator();
    let f = problem.objective(&a);
    let set = KSparse::new(5, 20)?;
    let x0 = SparseVec::new(20, vec![3, 16], vec![1.0, -5.0])?;
    let mut run = Run::starting_at(&f, &set, &ForwardRegression, Options::for_set(&set), x0)?;
    while !run.is_done() {
        run.step();
    }
    let (found, catalogue) = (run.outcome_unchecked(), Catalogue::singles(20));
    let mut chosen = vec![3, 16];
    while chosen.len() < 5 {
        chosen.push(catalogue.best(&problem, &chosen));
    }
    assert_eq!(found.point.indices(), catalogue.support(&chosen));
    problem.check(&found);
    Ok(())
}

/// Saved after three moves and resumed: the same answer, bit by bit.
fn resumes<'a, M: Method<&'a Design<'a>, LeastSquares, KSparse>>(f: &Squares<'a>, set: &KSparse, method: &M) {
    let whole = run(f, set, method);
    let mut start = Run::new(f, set, method, Options::for_set(set)).unwrap();
    for _ in 0..3 {
        start.step();
    }
    let mut resumed = Run::resume(f, set, method, Options::for_set(set), &start.save().unwrap()).unwrap();
    while !resumed.is_done() {
        resumed.step();
    }
    let resumed = resumed.outcome_unchecked();
    assert_eq!((resumed.point, resumed.passes), (whole.point, whole.passes));
}

#[test]
fn runs_resume_and_go_in_lockstep() -> Result<(), Error> {
    let problem = Explicit::new(8, 40, 50);
    let a = problem.operator();
    let (f, other) =
        (problem.objective(&a), Explicit { y: problem.design.column(3).to_vec(), ..Explicit::new(9, 40, 50) });
    let set = KSparse::new(7, 50)?;
    resumes(&f, &set, &Omp);
    resumes(&f, &set, &ForwardRegression);
    resumes(&f, &set, &Foba::default());

    let g = other.objective(&a);
    let mut runs = [&f, &g].map(|f| Run::new(f, &set, &ForwardRegression, Options::for_set(&set)).unwrap());
    lockstep(&mut runs)?;
    for (together, f) in runs.into_iter().zip([&f, &g]) {
        let (together, alone) = (together.outcome_unchecked(), run(f, &set, &ForwardRegression));
        assert_eq!((together.point, together.passes), (alone.point, alone.passes));
    }
    Ok(())
}

#[test]
fn other_losses_are_refitted_by_newton() -> Result<(), Error> {
    for seed in 0..3 {
        let problem = Planted::new(300, 60, 3, 0.0, seed);
        let z: Vec<f64> = problem.target.iter().map(|v| 60.0 * v).collect();
        let a = problem.operator();
        let f = Objective::new(&a, Logistic::new(simulate::labels(&z, seed))?)?;
        let most_passes = [4, 9, 30, 2];
        for ((name, found), most) in logistic(&f, &KSparse::new(3, 60)?).into_iter().zip(most_passes) {
            let x = f.at(found.point.clone());
            let slope = f.gradient_on(&x, &found.point.support()).norm();
            assert!(slope < 1e-5 * f.value(&x), "{name}, seed {seed}: {slope:e}");
            assert_eq!((found.status, found.point.indices().len()), (Status::Converged, 3), "{name}");
            assert!(found.passes <= most, "{name}: {}", found.passes);
        }
    }
    Ok(())
}

/// ½·cᵀ(H_JJ − H_JS·H_SS⁻¹·H_SJ)⁻¹c of the coordinates J at a model with the support S.
fn second_order_gain(f: &Objective<&Design<'_>, Logistic>, design: &Matrix, x: &SparseVec, group: &[usize]) -> f64 {
    let (at, inside) = (f.at(x.clone()), x.indices());
    let free: Vec<usize> = group.iter().copied().filter(|j| !inside.contains(j)).collect();
    let h = f.curvatures(&at);
    let entry = |i: usize, j: usize| {
        let curved: Vec<f64> = design.column(j).iter().zip(&h).map(|(v, h)| v * h).collect();
        linalg::dot(design.column(i), &curved) + if i == j { f.ridge_weight() } else { 0.0 }
    };
    let block =
        |left: &[usize], right: &[usize]| Matrix::from_fn(left.len(), right.len(), |a, b| entry(left[a], right[b]));
    let (own, across) = (block(inside, inside), block(inside, &free));
    let seen = (0..free.len()).flat_map(|b| solve_symmetric(&own, across.column(b))).collect();
    let seen = Matrix::from_columns(inside.len(), free.len(), seen);
    let room = block(&free, &free).plus(-1.0, &across.transposed_times(&seen));
    let slopes = f.gradient_on(&at, &IndexSet::new(x.dim(), free)).values().to_vec();
    0.5 * linalg::dot(&slopes, &solve_symmetric(&room, &slopes))
}

#[test]
fn forward_regression_makes_score_tests() -> Result<(), Error> {
    let mut problem = Explicit::new(2, 120, 18);
    problem.design.column_mut(0).fill(1.0); // kept: an intercept
    let z: Vec<f64> = (0..120).map(|i| 1.0 + 9.0 * problem.design.at(i, 5) - 9.0 * problem.design.at(i, 9)).collect();
    let a = problem.operator();
    let f = Objective::new(&a, Logistic::new(simulate::labels(&z, 2))?)?.ridge(0.01)?;
    let (catalogue, k) = (overlapping(), 4);
    let set = catalogue.set(k, 18);
    let mut state = ForwardRegression.start(&f, &set, SparseVec::zero(18))?;
    let mut chosen = Vec::new();
    for _ in 0..k {
        let x = Method::<&Design<'_>, Logistic, Kept>::query(&ForwardRegression, &state).clone();
        let free = (0..catalogue.groups.len()).filter(|g| !chosen.contains(g));
        let gain = |g: &usize| second_order_gain(&f, &problem.design, x.point(), &catalogue.groups[*g]);
        chosen.push(free.max_by(|a, b| gain(a).total_cmp(&gain(b))).expect("atoms are left"));
        let mut g = a.new_covector();
        f.gradient(&x, &mut g);
        ForwardRegression.advance(&f, &set, &mut state, &g);
        let now = Method::<&Design<'_>, Logistic, Kept>::query(&ForwardRegression, &state);
        assert_eq!(now.point().indices(), catalogue.support(&chosen));
    }
    Ok(())
}

/// A transform gives no norms: OMP does without, forward regression looks at each column.
#[test]
fn operators_without_norms_serve_too() -> Result<(), Error> {
    let dct = subsampled_dct(128, (0..60).map(|i| (37 * i) % 128).collect())?;
    let truth = simulate::sparse_signal(128, 4, 1);
    let mut y = vec![0.0; 60];
    dct.apply(&truth, &mut y);
    let f = Objective::new(&dct, LeastSquares::new(y)?)?;
    let set = KSparse::new(4, 128)?;
    let mut omp = Run::new(&f, &set, &Omp, Options::for_set(&set))?;
    while !omp.is_done() {
        omp.step();
    }
    let found = omp.outcome_unchecked();
    assert_eq!((found.point.indices(), found.passes), (truth.indices(), 4));
    let mut forward = Run::new(&f, &set, &ForwardRegression, Options::for_set(&set))?;
    while !forward.is_done() {
        forward.step();
    }
    let found = forward.outcome_unchecked();
    assert_eq!((found.point.indices(), found.passes), (truth.indices(), 4));
    Ok(())
}

fn logistic<'a>(f: &Objective<&'a Design<'a>, Logistic>, set: &KSparse) -> Vec<(&'static str, Outcome<SparseVec>)> {
    fn go<'a, M>(f: &Objective<&'a Design<'a>, Logistic>, set: &KSparse, method: &M) -> Outcome<SparseVec>
    where
        M: Method<&'a Design<'a>, Logistic, KSparse>,
    {
        let mut run = Run::new(f, set, method, Options::for_set(set)).unwrap();
        while !run.is_done() {
            run.step();
        }
        run.outcome_unchecked()
    }
    vec![
        ("omp", go(f, set, &Omp)),
        ("forward", go(f, set, &ForwardRegression)),
        ("foba", go(f, set, &Foba::default())),
        ("oblivious", go(f, set, &Oblivious)),
    ]
}
