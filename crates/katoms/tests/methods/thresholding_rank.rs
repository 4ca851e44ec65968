//! Hard thresholding of matrices: completions, and what is known to be the same.

use katoms::driver::{Options, Run, Stages};
use katoms::linalg::Matrix;
use katoms::loss::LeastSquares;
use katoms::method::{
    AcceleratedIht, AlpsVersion, Cgiht, DoubleOverrelaxation, EcmeDore, FastIht, Frame, HardThresholdingPursuit,
    MatrixAlps, Method, Momentum, NormalisedIht, Refit, Safeguard, Step,
};
use katoms::operator::{Entries, LinearOperator};
use katoms::set::{Rank, RankSearch};
use katoms::space::{LowRank, Point};
use katoms::{Objective, Outcome, Status, simulate};

const SHAPE: (usize, usize) = (30, 24);

/// The observed entries of a matrix of rank 2.
struct Completion {
    truth: LowRank,
    seen: Entries,
    values: Vec<f64>,
}

impl Completion {
    fn new(share: f64, seed: u64) -> Self {
        let (left, right) = simulate::low_rank_factors(SHAPE.0, SHAPE.1, 2, seed);
        let truth = LowRank::from_factors(&left, &right).unwrap();
        let (rows, columns) = simulate::observed_places(SHAPE.0, SHAPE.1, share, seed);
        let seen = Entries::new(SHAPE, &rows, &columns).unwrap();
        let mut values = vec![0.0; rows.len()];
        seen.apply(&truth, &mut values);
        Self { truth, seen, values }
    }

    fn objective(&self) -> Objective<&Entries, LeastSquares> {
        Objective::new(&self.seen, LeastSquares::new(self.values.clone()).unwrap()).unwrap()
    }
}

fn rank() -> Rank {
    Rank::new(2, SHAPE).unwrap()
}

fn direct() -> Options {
    Options { stages: Stages::direct(), ..Options::for_set(&rank()) }
}

fn run<M>(f: &Objective<&Entries, LeastSquares>, set: &Rank, method: &M, options: Options) -> Outcome<LowRank>
where
    M: for<'a> Method<&'a Entries, LeastSquares, Rank>,
{
    let mut run = Run::new(f, set, method, options).unwrap();
    while !run.is_done() {
        run.step();
    }
    run.outcome_unchecked()
}

#[test]
fn a_matrix_of_rank_two_is_completed() {
    for seed in 1..3 {
        let problem = Completion::new(0.6, seed);
        let (f, set) = (problem.objective(), rank());
        macro_rules! completes {
            ($name:expr, $method:expr, $passes:expr) => {
                // Odd seeds at once, even ones in stages.
                let options = if seed % 2 == 1 { direct() } else { Options::for_set(&set) };
                let outcome = run(&f, &set, &$method, options);
                let error = outcome.point.distance(&problem.truth) / problem.truth.norm();
                assert!(error < 1e-4, "{} seed {seed}: {error:e} after {}", $name, outcome.iterations);
                assert_eq!(outcome.status, Status::Converged, "{} seed {seed}", $name);
                assert!(outcome.point.rank_bound() <= 2);
                assert_eq!(outcome.passes, $passes * outcome.iterations, "{}", $name);
            };
        }
        completes!("NIHT", NormalisedIht::default(), 1);
        completes!("DORE", DoubleOverrelaxation::default(), 1);
        completes!("FIHT", FastIht::default(), 1);
        completes!("CGIHT", Cgiht::default(), 1);
        completes!("CGIHT restarted", Cgiht::restarted(), 1);
        completes!("HTP", HardThresholdingPursuit::normalised(), 1);
        completes!("ALPS I", MatrixAlps { version: AlpsVersion::One }, 2);
        completes!("ALPS II", MatrixAlps { version: AlpsVersion::Two }, 1);
        completes!("SVP", AcceleratedIht::svp(Step::LineSearch), 1);
    }
}

#[test]
fn conjugate_directions_need_fewer_passes_than_the_steps_they_are_made_of() {
    let (mut plain, mut conjugate, mut over) = (0, 0, 0);
    for seed in 1..4 {
        let problem = Completion::new(0.45, seed);
        let (f, set) = (problem.objective(), rank());
        plain += run(&f, &set, &NormalisedIht::default(), direct()).passes;
        conjugate += run(&f, &set, &Cgiht::default(), direct()).passes;
        over += run(&f, &set, &DoubleOverrelaxation::default(), direct()).passes;
    }
    assert!(3 * conjugate < 2 * plain, "{conjugate} {plain}");
    assert!(3 * over < 2 * plain, "{over} {plain}");
}

#[test]
fn alps_two_is_accelerated_iht_on_its_search() {
    let problem = Completion::new(0.6, 4);
    let f = problem.objective();
    let iht = AcceleratedIht {
        step: Step::LineSearch,
        momentum: Momentum::ClosedForm,
        refit: Refit::Never,
        safeguard: Safeguard::Off,
    };
    let (set, paper) = (rank(), rank().searching(RankSearch::LeadingPairs));
    let alps = MatrixAlps::default();
    let mut found = Run::new(&f, &set, &alps, direct()).unwrap();
    let mut expected = Run::new(&f, &paper, &iht, direct()).unwrap();
    let mut compared = 0;
    while !found.is_done() && compared < 12 {
        let (a, b) = (found.step(), expected.step());
        assert_eq!((a.step, a.momentum), (b.step, b.momentum));
        if a.objective == b.objective {
            assert_eq!(found.iterate(), expected.iterate());
            compared += 1;
        }
    }
    assert!(compared > 5);
}

#[test]
fn alps_one_steps_along_the_column_space() {
    // The second half of an iteration, in dense matrices: W − ξ·U·Uᵀ∇f(W) has the column space of W.
    let problem = Completion::new(0.6, 5);
    let (f, set) = (problem.objective(), rank().searching(RankSearch::LeadingPairs));
    let dense = |x: &LowRank| x.left().times(x.core()).times_transposed(x.right());
    let plain = AcceleratedIht::plain(Step::LineSearch);
    let mut first = Run::new(&f, &set, &plain, direct()).unwrap();
    first.step();
    let w = first.iterate().clone();
    let mut g = Matrix::zeros(SHAPE.0, SHAPE.1);
    let image = f.at(w.clone());
    let (rows, columns) = simulate::observed_places(SHAPE.0, SHAPE.1, 0.6, 5);
    for (e, r) in f.residual(&image).iter().enumerate() {
        g.column_mut(columns[e])[rows[e]] = *r;
    }
    let along = w.left().times(&w.left().transposed_times(&g));
    let seen: f64 = rows.iter().zip(&columns).map(|(&i, &j)| along.at(i, j).powi(2)).sum();
    let expected = dense(&w).plus(-along.norm().powi(2) / seen, &along);
    let alps = MatrixAlps { version: AlpsVersion::One };
    let mut run = Run::new(&f, &set, &alps, direct()).unwrap();
    run.step();
    let error = dense(run.iterate()).plus(-1.0, &expected).norm();
    assert!(error < 1e-9 * expected.norm(), "{error:e}");
}

#[test]
fn observed_entries_are_a_tight_frame() {
    let problem = Completion::new(0.6, 6);
    let (f, set) = (problem.objective(), rank());
    let outcome = run(&f, &set, &EcmeDore { frame: Frame::Tight }, direct());
    assert_eq!((outcome.status, outcome.passes), (Status::Converged, outcome.iterations + 2));
    assert!(outcome.point.distance(&problem.truth) < 1e-4 * problem.truth.norm());
}

#[test]
fn matrix_runs_resume_and_survive_zeros() {
    let problem = Completion::new(0.6, 7);
    let (f, set) = (problem.objective(), rank());
    let nothing = Objective::new(&problem.seen, LeastSquares::new(vec![0.0; problem.values.len()]).unwrap()).unwrap();
    macro_rules! resumes {
        ($name:expr, $method:expr) => {
            let method = $method;
            let whole = run(&f, &set, &method, direct());
            let mut first = Run::new(&f, &set, &method, direct()).unwrap();
            first.step();
            first.step();
            let bytes = first.save().unwrap();
            let mut second = Run::resume(&f, &set, &method, direct(), &bytes).unwrap();
            while !second.is_done() {
                second.step();
            }
            assert_eq!(second.outcome_unchecked().point, whole.point, "{}", $name);
            let zero = run(&nothing, &set, &method, direct());
            assert_eq!((zero.status, zero.point.norm()), (Status::Converged, 0.0), "{}", $name);
        };
    }
    resumes!("CGIHT", Cgiht::default());
    resumes!("ALPS I", MatrixAlps { version: AlpsVersion::One });
    resumes!("ALPS II", MatrixAlps { version: AlpsVersion::Two });
}
