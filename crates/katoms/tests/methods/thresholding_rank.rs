//! Hard thresholding of matrices: completions, and what is known to be the same.

use katoms::driver::{Options, Run, Stages};
use katoms::linalg::Matrix;
use katoms::method::{
    AcceleratedIht, AlpsVersion, Cgiht, EcmeDore, Frame, HardThresholdingPursuit, MatrixAlps, Momentum, NormalisedIht,
    Refit, Safeguard, Step,
};
use katoms::set::{Rank, RankSearch};
use katoms::space::Point;
use katoms::{Status, simulate};

use crate::low_rank::{Seen, dense};
use crate::runs::run;

const SHAPE: (usize, usize) = (30, 24);

fn rank() -> Rank {
    Rank::new(2, SHAPE).unwrap()
}

fn direct() -> Options {
    Options { stages: Stages::direct(), ..Options::for_set(&rank()) }
}

fn completion(share: f64, seed: u64) -> Seen {
    Seen::gaussian(SHAPE.0, SHAPE.1, 2, share, seed)
}

#[test]
fn conjugate_directions_need_fewer_passes_than_the_steps_they_are_made_of() {
    let (mut plain, mut conjugate, mut over) = (0, 0, 0);
    for seed in 1..4 {
        let problem = completion(0.45, seed);
        let (f, set) = (problem.squares(), rank());
        plain += run(&f, &set, &NormalisedIht::default(), direct()).passes;
        conjugate += run(&f, &set, &Cgiht::default(), direct()).passes;
        over += run(&f, &set, &NormalisedIht::overrelaxed(), direct()).passes;
    }
    assert!(3 * conjugate < 2 * plain, "{conjugate} {plain}");
    assert!(3 * over < 2 * plain, "{over} {plain}");
}

#[test]
fn alps_two_is_accelerated_iht_on_its_search() {
    let problem = completion(0.6, 4);
    let f = problem.squares();
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
    let problem = completion(0.6, 5);
    let (f, set) = (problem.squares(), rank().searching(RankSearch::LeadingPairs));
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
fn a_pursuit_completes_and_observed_entries_are_a_tight_frame() {
    let problem = completion(0.6, 6);
    let (f, set) = (problem.squares(), rank());
    let pursuit = run(&f, &set, &HardThresholdingPursuit::normalised(), direct());
    assert!(pursuit.status == Status::Converged && problem.error(&pursuit.point) < 1e-4);
    let outcome = run(&f, &set, &EcmeDore { frame: Frame::Tight }, direct());
    assert_eq!((outcome.status, outcome.passes), (Status::Converged, outcome.iterations + 2));
    assert!(outcome.point.distance(&problem.truth) < 1e-4 * problem.truth.norm());
}
