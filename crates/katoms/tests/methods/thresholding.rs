//! Hard thresholding of vectors: recoveries, equivalences with naive twins, cost.

use katoms::driver::{Options, Run};
use katoms::linalg::{Matrix, norm, solve_symmetric, top_k};
use katoms::loss::LeastSquares;
use katoms::method::{
    AcceleratedIht, AtomMethod, Cgiht, Cosamp, EcmeDore, Frame, HardThresholdingPursuit, Method, Momentum,
    NormalisedIht, Refit, Safeguard, Step, SubspacePursuit, SupportRestart,
};
use katoms::operator::{Dense, LinearOperator, subsampled_dct};
use katoms::set::{Exchange, Expand, Groups, KSparse, OverlappingGroups};
use katoms::space::{Point, SparseVec};
use katoms::{Objective, Outcome, Status, Stop, simulate};

use crate::planted::Planted;
use crate::runs;

type Squares<'a> = Objective<&'a Dense<'a, f64>, LeastSquares>;

/// A run to its end, without the statement of quality.
fn run<A, S, M>(f: &Objective<A, LeastSquares>, set: &S, method: &M) -> Outcome<SparseVec>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    S: Expand<Vec<f64>, Point = SparseVec> + Exchange<Vec<f64>>,
    M: Method<A, LeastSquares, S>,
{
    runs::run(f, set, method, Options::for_set(set))
}

/// The answers after each move, at most `count`.
fn iterates<S, M>(f: &Squares<'_>, set: &S, method: &M, count: usize) -> Vec<SparseVec>
where
    S: Expand<Vec<f64>, Point = SparseVec> + Exchange<Vec<f64>>,
    M: for<'a> Method<&'a Dense<'a, f64>, LeastSquares, S>,
{
    let mut run = Run::new(f, set, method, Options::for_set(set)).unwrap();
    let mut seen = Vec::new();
    while !run.is_done() && seen.len() < count {
        run.step();
        seen.push(run.iterate().clone());
    }
    seen
}

#[test]
fn safeguarded_methods_never_raise_the_objective() {
    let (rows, columns) = (80, 200);
    let design = simulate::autoregressive(rows, columns, 0.9, 3);
    let a = Dense::column_major(&design, rows, columns).unwrap();
    let mut clean = vec![0.0; rows];
    a.apply(&simulate::sparse_signal(columns, 8, 3), &mut clean);
    let f = Objective::new(&a, LeastSquares::new(simulate::noisy(&clean, 0.02, 3)).unwrap()).unwrap();
    let set = KSparse::new(8, columns).unwrap();
    let mut total = 0;
    for name in ["normalised-iht", "dore", "fast-iht", "cgiht", "cgiht-restarted", "subspace-pursuit"] {
        let outcome = run(&f, &set, &AtomMethod::named(name).unwrap());
        let values: Vec<f64> = outcome.trace.iter().map(|e| e.objective).collect();
        assert!(values.windows(2).all(|w| w[1] <= w[0]), "{name}: {values:?}");
        total += values.len();
    }
    assert!(total > 40, "{total} moves");
}

/// Dense vectors and matrices: the naive twins' world.
struct Naive {
    design: Matrix,
    target: Matrix,
}

impl Naive {
    fn new(problem: &Planted) -> Self {
        let design = Matrix::from_columns(problem.rows, problem.truth.dim(), problem.design.clone());
        Self { design, target: Matrix::from_columns(problem.rows, 1, problem.target.clone()) }
    }

    fn residual(&self, x: &[f64]) -> Matrix {
        self.target.plus(-1.0, &self.design.times(&Matrix::from_columns(x.len(), 1, x.to_vec())))
    }

    fn correlations(&self, x: &[f64]) -> Vec<f64> {
        self.design.transposed_times(&self.residual(x)).data().to_vec()
    }

    fn image_square(&self, x: &[f64]) -> f64 {
        self.design.times(&Matrix::from_columns(x.len(), 1, x.to_vec())).norm().powi(2)
    }

    fn least_squares(&self, support: &[usize]) -> Vec<f64> {
        let rows = self.design.rows();
        let columns = support.iter().flat_map(|&j| self.design.column(j).to_vec()).collect();
        let columns = Matrix::from_columns(rows, support.len(), columns);
        let solution =
            solve_symmetric(&columns.transposed_times(&columns), columns.transposed_times(&self.target).data());
        let mut x = vec![0.0; self.design.columns()];
        support.iter().zip(solution).for_each(|(&j, v)| x[j] = v);
        x
    }
}

fn largest(v: &[f64], k: usize) -> Vec<usize> {
    top_k(&v.iter().map(|v| v.abs()).collect::<Vec<_>>(), k)
}

fn kept(v: &[f64], support: &[usize]) -> Vec<f64> {
    (0..v.len()).map(|i| if support.contains(&i) { v[i] } else { 0.0 }).collect()
}

#[track_caller]
fn assert_near(found: &SparseVec, x: &[f64], at: usize) {
    let difference: Vec<f64> = found.to_dense().iter().zip(x).map(|(a, b)| a - b).collect();
    assert!(norm(&difference) <= 1e-9 * norm(x).max(1e-300), "iteration {at}: {:e}", norm(&difference));
}

#[test]
fn normalised_iht_is_the_papers_algorithm() {
    let (k, c, kappa) = (6, 0.01, 2.0);
    let mut shrunk = 0;
    for seed in [3, 4, 5] {
        let problem = Planted::new(40, 120, k, 0.1, seed);
        let a = problem.operator();
        let naive = Naive::new(&problem);
        let found = iterates(&problem.squares(&a), &KSparse::new(k, 120).unwrap(), &NormalisedIht::default(), 25);
        let mut x = vec![0.0; 120];
        let mut gamma = largest(&naive.correlations(&x), k);
        for (at, step) in found.iter().enumerate() {
            let g = naive.correlations(&x);
            let g_gamma = kept(&g, &gamma);
            let mut mu = norm(&g_gamma).powi(2) / naive.image_square(&g_gamma);
            loop {
                let moved: Vec<f64> = x.iter().zip(&g).map(|(x, g)| x + mu * g).collect();
                let support = largest(&moved, k);
                let next = kept(&moved, &support);
                let d: Vec<f64> = next.iter().zip(&x).map(|(a, b)| a - b).collect();
                let omega = (1.0 - c) * norm(&d).powi(2) / naive.image_square(&d);
                if support == gamma || mu <= omega {
                    (x, gamma) = (next, support);
                    break;
                }
                mu /= kappa * (1.0 - c);
                shrunk += 1;
            }
            assert_near(step, &x, at);
        }
        assert!(found.len() > 10);
    }
    assert!(shrunk > 0, "the test of the step never bites");
}

#[test]
fn cosamp_is_the_papers_algorithm() {
    let k = 5;
    let problem = Planted::new(60, 150, k, 0.2, 2);
    let a = problem.operator();
    let (f, set, naive) = (problem.squares(&a), KSparse::new(k, 150).unwrap(), Naive::new(&problem));
    for refit in [Refit::Never, Refit::EveryIteration] {
        let found = iterates(&f, &set, &Cosamp { refit, ..Cosamp::default() }, 12);
        let (mut x, mut support, mut best) = (vec![0.0; 150], Vec::new(), (f64::INFINITY, vec![0.0; 150]));
        for (at, step) in found.iter().enumerate() {
            let mut merged = [largest(&naive.correlations(&x), 2 * k), support].concat();
            merged.sort_unstable();
            merged.dedup();
            let b = naive.least_squares(&merged);
            support = largest(&b, k);
            x = if refit == Refit::Never { kept(&b, &support) } else { naive.least_squares(&support) };
            let value = naive.residual(&x).norm();
            if value < best.0 {
                best = (value, x.clone());
            }
            assert_near(step, &best.1, at);
        }
        assert!(found.len() > 2);
    }
}

#[test]
fn subspace_pursuit_is_the_papers_algorithm() {
    let k = 8;
    let problem = Planted::new(60, 200, k, 0.1, 5);
    let a = problem.operator();
    let (f, naive) = (problem.squares(&a), Naive::new(&problem));
    let found = iterates(&f, &KSparse::new(k, 200).unwrap(), &SubspacePursuit, 30);
    let mut support = Vec::new();
    let mut x = vec![0.0; 200];
    for (at, step) in found.iter().enumerate() {
        let mut merged = [largest(&naive.correlations(&x), k), support.clone()].concat();
        merged.sort_unstable();
        merged.dedup();
        let chosen = largest(&naive.least_squares(&merged), k);
        let next = naive.least_squares(&chosen);
        if naive.residual(&next).norm() < naive.residual(&x).norm() * (1.0 - 1e-12) {
            (x, support) = (next, chosen);
        }
        assert_near(step, &x, at);
    }
    assert!(found.len() > 2);
}

#[test]
fn pursuits_are_accelerated_iht_with_a_refit_and_no_momentum() {
    let problem = Planted::new(60, 150, 8, 0.1, 6);
    let a = problem.operator();
    let (f, set) = (problem.squares(&a), KSparse::new(8, 150).unwrap());
    for step in [Step::Fixed(1.0), Step::Fixed(0.3), Step::LineSearch] {
        let momentum = Momentum::Constant(0.0);
        let iht = AcceleratedIht { step, momentum, refit: Refit::EveryIteration, safeguard: Safeguard::Off };
        let raw = iterates(&f, &set, &iht, 15);
        let found = iterates(&f, &set, &HardThresholdingPursuit { step, refit: Refit::EveryIteration }, 15);
        let mut best: Option<&SparseVec> = None;
        let value = |x: &SparseVec| f.value(&f.at(x.clone()));
        for (found, raw) in found.iter().zip(&raw) {
            best = best.filter(|b| value(b) <= value(raw)).or(Some(raw));
            assert_eq!(Some(found), best, "{step:?}");
        }
        assert!(found.len() > 2, "{step:?}");
    }
}

#[test]
fn a_pursuit_that_cycles_stalls_with_the_best_point_it_saw() {
    // Columns of norm about 3: a step of 1 is far too long.
    let mut stalled = 0;
    for seed in 0..6 {
        let mut problem = Planted::new(40, 100, 6, 0.3, seed);
        problem.design.iter_mut().for_each(|v| *v *= 3.0);
        let a = problem.operator();
        let f = problem.squares(&a);
        let outcome = run(&f, &KSparse::new(6, 100).unwrap(), &HardThresholdingPursuit::default());
        assert!(outcome.iterations < 200, "a cycle is noticed");
        let lowest = outcome.trace.iter().map(|e| e.objective).fold(f64::INFINITY, f64::min);
        assert_eq!(outcome.objective, lowest);
        stalled += usize::from(outcome.status == Status::Stalled);
    }
    assert!(stalled > 0);
}

#[test]
fn over_relaxation_is_never_behind_the_step_it_starts_from() {
    let problem = Planted::new(60, 200, 8, 0.1, 7);
    let a = problem.operator();
    let (f, set) = (problem.squares(&a), KSparse::new(8, 200).unwrap());
    let (method, base) = (NormalisedIht::overrelaxed(), NormalisedIht::default());
    let mut run = Run::new(&f, &set, &method, Options::for_set(&set)).unwrap();
    let (mut ahead, mut moves) = (0, 0);
    while !run.is_done() && moves < 30 {
        let mut plain = Run::starting_at(&f, &set, &base, Options::for_set(&set), run.iterate().clone()).unwrap();
        let (over, plain) = (run.step().objective, plain.step().objective);
        assert!(over <= plain, "{over} {plain}");
        ahead += usize::from(over < plain);
        moves += 1;
    }
    assert!(ahead > 2, "{ahead} of {moves}");
}

#[test]
fn conjugate_directions_end_after_as_many_steps_as_there_are_columns() {
    // All atoms are chosen: CGIHT is the conjugate gradient method.
    let n = 12;
    let problem = Planted::new(40, n, 5, 0.5, 8);
    let a = problem.operator();
    let f = problem.squares(&a);
    let set = KSparse::new(n, n).unwrap();
    let optimum = Naive::new(&problem).least_squares(&(0..n).collect::<Vec<_>>());
    let stop = Stop { tolerance: 0.0, iterations: n, ..Stop::default() };
    let options = Options { stop, ..Options::for_set(&set) };
    for restart in [SupportRestart::Never, SupportRestart::OnChange] {
        let method = Cgiht { restart, ..Cgiht::default() };
        let mut run = Run::new(&f, &set, &method, options.clone()).unwrap();
        let sizes: Vec<f64> = (0..n).map_while(|_| (!run.is_done()).then(|| run.step().change)).collect();
        assert_near(run.iterate(), &optimum, n);
        assert!(sizes[n - 3] > 1e-9, "not before: {sizes:?}");
    }
}

/// Passes until the residual is below 1e-6 of the target, by Algorithm 1 of CGIHT with full directions.
fn passes_with_full_directions(naive: &Naive, k: usize) -> usize {
    let n = naive.design.columns();
    let mut x = vec![0.0; n];
    let (mut p, mut support) = (vec![0.0; n], largest(&naive.correlations(&x), k));
    let image = |v: &[f64]| naive.design.times(&Matrix::from_columns(n, 1, v.to_vec())).data().to_vec();
    for passes in 1..200 {
        let r = naive.correlations(&x);
        let (of_r, of_p) = (image(&kept(&r, &support)), image(&kept(&p, &support)));
        let curvature = katoms::linalg::dot(&of_p, &of_p);
        let beta = if curvature > 0.0 { -katoms::linalg::dot(&of_r, &of_p) / curvature } else { 0.0 };
        p = r.iter().zip(&p).map(|(r, p)| r + beta * p).collect();
        let on_support = kept(&p, &support);
        let alpha = katoms::linalg::dot(&kept(&r, &support), &on_support) / naive.image_square(&on_support);
        let w: Vec<f64> = x.iter().zip(&p).map(|(x, p)| x + alpha * p).collect();
        support = largest(&w, k);
        x = kept(&w, &support);
        if naive.residual(&x).norm() <= 1e-6 * naive.target.norm() {
            return passes;
        }
    }
    200
}

#[test]
fn conjugate_directions_that_are_kept_in_part_do_as_well_as_full_ones() {
    let k = 10;
    let (mut ours, mut full, mut plain) = (0, 0, 0);
    for seed in 1..6 {
        let problem = Planted::new(80, 240, k, 0.0, seed);
        let a = problem.operator();
        let (f, set) = (problem.squares(&a), KSparse::new(k, 240).unwrap());
        let enough = 0.5 * (1e-6 * norm(&problem.target)).powi(2);
        let passes = |outcome: Outcome<SparseVec>| {
            1 + outcome.trace.iter().position(|e| e.objective <= enough).unwrap_or(outcome.iterations)
        };
        ours += passes(run(&f, &set, &Cgiht::default()));
        plain += passes(run(&f, &set, &NormalisedIht::default()));
        full += passes_with_full_directions(&Naive::new(&problem), k);
    }
    assert!(10 * ours <= 11 * full, "{ours} {full}");
    assert!(5 * ours < 4 * plain, "{ours} {plain}");
}

#[test]
fn fast_iht_extrapolates_to_the_best_point_of_the_line() {
    let problem = Planted::new(60, 150, 6, 0.2, 2);
    let a = problem.operator();
    let (f, set, method) = (problem.squares(&a), KSparse::new(6, 150).unwrap(), NormalisedIht::fast());
    let mut run = Run::new(&f, &set, &method, Options::for_set(&set)).unwrap();
    let (mut x, mut compared) = (run.iterate().clone(), 0);
    while !run.is_done() {
        let event = run.step();
        let next = run.iterate().clone();
        let value = |tau: f64| f.value(&f.at(SparseVec::combine(1.0 + tau, &next, -tau, &x)));
        if event.change > 1e-3 {
            compared += 1;
            assert!([-0.1, 0.1].iter().all(|shift| value(event.momentum) <= value(event.momentum + shift)));
        }
        x = next;
    }
    assert!(compared > 2);
}

#[test]
fn first_steps_without_a_past_are_those_of_normalised_iht() {
    let problem = Planted::new(60, 200, 8, 0.1, 9);
    let a = problem.operator();
    let (f, set) = (problem.squares(&a), KSparse::new(8, 200).unwrap());
    let plain = iterates(&f, &set, &NormalisedIht::default(), 1);
    assert_eq!(plain, iterates(&f, &set, &Cgiht::default(), 1));
    assert_eq!(plain, iterates(&f, &set, &Cgiht::restarted(), 1));
    assert_eq!(plain, iterates(&f, &set, &NormalisedIht::fast(), 1));
}

#[test]
fn ecme_is_the_papers_algorithm() {
    let k = 6;
    let problem = Planted::new(40, 120, k, 0.1, 4);
    let a = problem.operator();
    let naive = Naive::new(&problem);
    let gram = naive.design.times_transposed(&naive.design);
    let weighted = |x: &[f64]| solve_symmetric(&gram, naive.residual(x).data());
    let square = |x: &[f64]| katoms::linalg::dot(naive.residual(x).data(), &weighted(x));
    let line = |a: &[f64], b: &[f64], t: f64| -> Vec<f64> { a.iter().zip(b).map(|(a, b)| a + t * (a - b)).collect() };
    // the best point on the line from b through a, by the values at three points of a parabola
    let best_on_line = |a: &[f64], b: &[f64]| {
        let (low, mid, high) = (square(&line(a, b, -1.0)), square(a), square(&line(a, b, 1.0)));
        let (slope, curvature) = (0.5 * (high - low), high - 2.0 * mid + low);
        line(a, b, if curvature > 0.0 { -slope / curvature } else { 0.0 })
    };
    let method = EcmeDore { frame: Frame::General { tolerance: 1e-12 } };
    let found = iterates(&problem.squares(&a), &KSparse::new(k, 120).unwrap(), &method, 12);
    let (mut x, mut before) = (vec![0.0; 120], vec![0.0; 120]);
    for (at, step) in found.iter().enumerate() {
        let w = weighted(&x);
        let moved = naive.design.transposed_times(&Matrix::from_columns(40, 1, w));
        let moved: Vec<f64> = x.iter().zip(moved.data()).map(|(x, d)| x + d).collect();
        let bar = kept(&moved, &largest(&moved, k));
        let z = best_on_line(&best_on_line(&bar, &x), &before);
        let tilde = kept(&z, &largest(&z, k));
        let next = if square(&tilde) < square(&bar) { tilde } else { bar };
        before = std::mem::replace(&mut x, next);
        assert!(square(&x) <= square(&before) * (1.0 + 1e-9), "what ECME minimises falls");
        let difference: Vec<f64> = step.to_dense().iter().zip(&x).map(|(a, b)| a - b).collect();
        assert!(norm(&difference) <= 1e-6 * norm(&x), "iteration {at}: {:e}", norm(&difference));
    }
    assert!(found.len() > 5);
}

#[test]
fn ecme_on_a_tight_frame_needs_no_solve() {
    let (n, k) = (256, 8);
    let rows: Vec<usize> = (0..96).map(|i| (i * 83 + 7) % n).collect();
    let a = subsampled_dct(n, rows).unwrap();
    let truth = simulate::sparse_signal(n, k, 2);
    let mut y = vec![0.0; 96];
    a.apply(&truth, &mut y);
    let f = Objective::new(&a, LeastSquares::new(y).unwrap()).unwrap();
    let set = KSparse::new(k, n).unwrap();
    let tight = run(&f, &set, &EcmeDore { frame: Frame::Tight });
    let general = run(&f, &set, &EcmeDore::default());
    assert!(tight.point.distance(&truth) < 1e-5, "{:e}", tight.point.distance(&truth));
    assert_eq!((tight.status, general.status), (Status::Converged, Status::Converged));
    assert_eq!(tight.iterations, general.iterations);
    assert!(tight.point.distance(&general.point) < 1e-8);
    assert_eq!(tight.passes, 2 + tight.iterations);
    // start: one solve of one round; then the driver's pass, the direction and two solves
    assert_eq!(general.passes, 2 + 6 * general.iterations);

    let problem = Planted::new(30, 80, 3, 0.0, 1);
    let gaussian = problem.operator();
    let f = problem.squares(&gaussian);
    let set = KSparse::new(3, 80).unwrap();
    let error = Run::new(&f, &set, &EcmeDore { frame: Frame::Tight }, Options::for_set(&set)).err().unwrap();
    assert!(error.to_string().contains("rows that are orthogonal"), "{error}");
    let outcome = run(&f, &set, &EcmeDore::default());
    assert!(outcome.status == Status::Converged && outcome.point.distance(&problem.truth) < 1e-5);
    let factored = run(&f, &set, &EcmeDore { frame: Frame::Factored });
    assert!(factored.point.distance(&outcome.point) < 1e-6);
    // 30 rows in one block, a product for each; then the driver's pass and the direction
    assert_eq!(factored.passes, 31 + 2 * factored.iterations);
}

#[test]
fn bad_options_are_named() {
    let problem = Planted::new(20, 30, 2, 0.0, 1);
    let a = problem.operator();
    let f = problem.squares(&a);
    let set = KSparse::new(2, 30).unwrap();
    let base = |c| NormalisedIht { c, ..NormalisedIht::default() };
    let pursuit = |step| AtomMethod::HardThresholdingPursuit(HardThresholdingPursuit { step, refit: Refit::Never });
    for (method, words) in [
        (AtomMethod::NormalisedIht(base(1.0)), "option c is 1"),
        (AtomMethod::NormalisedIht(base(0.5)), "option kappa is 2"),
        (AtomMethod::NormalisedIht(NormalisedIht { c: f64::NAN, ..NormalisedIht::overrelaxed() }), "option c is NaN"),
        (AtomMethod::Cgiht(Cgiht { base: base(f64::NAN), ..Cgiht::default() }), "option c"),
        (pursuit(Step::Fixed(0.0)), "option step is 0"),
        (pursuit(Step::Fixed(-1.0)), "option step is -1"),
        (AtomMethod::EcmeDore(EcmeDore { frame: Frame::General { tolerance: 0.0 } }), "option tolerance is 0"),
    ] {
        runs::refused(&f, &set, &method, words);
    }
    let f = problem.squares(&a).ridge(0.1).unwrap();
    runs::refused(&f, &set, &EcmeDore::default(), "least squares without a ridge");
}

#[test]
fn groups_are_recovered_and_singletons_walk_the_path_of_coordinates() {
    let (groups, size, k) = (60, 4, 4);
    let n = groups * size;
    let members: Vec<Vec<usize>> = (0..groups).map(|g| (0..size).map(|i| g + i * groups).collect()).collect();
    let set = Groups::new(k, n, members.clone()).unwrap();
    let overlapping = OverlappingGroups::new(k, n, members.clone()).unwrap();
    let singles: Vec<Vec<usize>> = (0..n).map(|i| vec![i]).collect();
    let (single, sparse) = (Groups::new(k, n, singles).unwrap(), KSparse::new(k, n).unwrap());
    for seed in 1..3 {
        let mut problem = Planted::new(90, n, 1, 0.0, seed);
        let chosen: Vec<usize> = (0..k).flat_map(|j| members[(7 * j + seed as usize) % groups].clone()).collect();
        let values = simulate::normals(chosen.len(), &mut simulate::generator(seed, 9));
        problem.truth = SparseVec::new(n, chosen, values).unwrap();
        let a = Dense::column_major(&problem.design, 90, n).unwrap();
        a.apply(&problem.truth, &mut problem.target);
        let f = problem.squares(&a);
        for name in ["normalised-iht", "dore", "fast-iht", "cgiht", "htp", "cosamp"] {
            let method = AtomMethod::named(name).unwrap();
            let outcome = run(&f, &set, &method);
            let error = outcome.point.distance(&problem.truth) / problem.truth.norm();
            assert!(error < 1e-4 && outcome.status == Status::Converged, "{name} {error:e}");
            assert_eq!(iterates(&f, &single, &method, 9), iterates(&f, &sparse, &method, 9), "{name}");
        }
        for outcome in [
            run(&f, &overlapping, &NormalisedIht::default()),
            run(&f, &overlapping, &Cgiht::default()),
            run(&f, &overlapping, &HardThresholdingPursuit::normalised()),
        ] {
            assert!(outcome.point.distance(&problem.truth) < 1e-4 * problem.truth.norm());
            assert_eq!(outcome.status, Status::Converged);
        }
    }
}

#[test]
fn a_diverging_step_is_called_so() {
    let problem = Planted::new(40, 80, 4, 0.1, 2);
    let a = problem.operator();
    let f = problem.squares(&a);
    let method = HardThresholdingPursuit { step: Step::Fixed(1e3), refit: Refit::Never };
    let outcome = run(&f, &KSparse::new(4, 80).unwrap(), &method);
    assert_eq!(outcome.status, Status::Diverged);
    assert!(outcome.objective.is_finite());
}

#[test]
fn cosamp_as_published_settles_in_noise_where_the_refitted_one_is_better() {
    let problem = Planted::new(100, 300, 10, 0.1, 1);
    let a = problem.operator();
    let (f, set) = (problem.squares(&a), KSparse::new(10, 300).unwrap());
    let (published, refitted) = (run(&f, &set, &Cosamp::published()), run(&f, &set, &Cosamp::default()));
    assert_eq!(refitted.status, Status::Converged);
    assert!(refitted.objective < published.objective);
    // The answer is the best point of the walk, whatever the walk ends with.
    let lowest = published.trace.iter().map(|e| e.objective).fold(f64::INFINITY, f64::min);
    assert_eq!(published.objective, lowest);
    let at_end = run(&f, &set, &Cosamp { refit: Refit::AtEnd, ..Cosamp::default() });
    assert!(at_end.objective < published.objective && at_end.iterations == published.iterations);
}
