//! The group Lasso, with and without overlap: answers of others, singletons, recovery, cost, edges.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use katoms::driver::{Constraint, Event, Options, Run, solve};
use katoms::loss::{LeastSquares, Logistic, Loss};
use katoms::method::{BlockDescent, Fista, Method};
use katoms::operator::{Dense, LatentCopies, LinearOperator};
use katoms::penalty::{GroupLasso, L1, Penalty};
use katoms::space::{Point, SparseVec};
use katoms::{Error, Objective, Outcome, Status, simulate};

use crate::planted::Planted;
use crate::runs::{finished, to_gap};

type Squares<'a> = Objective<&'a Dense<'a, f64>, LeastSquares>;

fn run<A, L, P, M>(f: &Objective<A, L>, penalty: &P, method: &M, options: Options) -> (Outcome<SparseVec>, Vec<Event>)
where
    A: LinearOperator<Point = SparseVec>,
    L: Loss,
    P: Constraint<A, L>,
    M: Method<A, L, P>,
{
    let mut events = Vec::new();
    let outcome = solve(f, penalty, method, options, |event, _| {
        events.push(*event);
        ControlFlow::Continue(())
    });
    (outcome.unwrap(), events)
}

/// Every line of the fixture: a name and its numbers.
fn fixture() -> Vec<(&'static str, Vec<f64>)> {
    let line = |line: &'static str| {
        let mut words = line.split(' ');
        (words.next().unwrap(), words.map(|word| word.parse().unwrap()).collect())
    };
    include_str!("../fixtures/group_lasso.txt").lines().map(line).collect()
}

/// The fixture's: uneven, out of order.
fn fixture_groups() -> Vec<Vec<usize>> {
    [&[3, 0, 7][..], &[1, 2], &[4, 20, 11, 5], &[6], &[8, 9, 10, 12, 13], &[14, 15], &[23, 16, 17, 22], &[18, 19, 21]]
        .map(<[usize]>::to_vec)
        .to_vec()
}

fn agrees(found: &SparseVec, expected: &[f64], whose: &str) {
    let distance = found.distance(&SparseVec::from_dense(expected));
    assert!(distance < 1e-6, "{distance} from {whose}'s answer");
}

#[test]
fn the_answers_are_those_of_independent_programs() {
    let lines = fixture();
    let numbers = |name: &str| lines.iter().find(|l| l.0 == name).unwrap().1.clone();
    let design = numbers("design");
    let a = Dense::column_major(&design, 30, 24).unwrap();
    let squares: Squares<'_> = Objective::new(&a, LeastSquares::new(numbers("target")).unwrap()).unwrap();
    let logistic = Objective::new(&a, Logistic::new(numbers("labels")).unwrap()).unwrap();
    let overlapping: Vec<Vec<usize>> = (0..19).step_by(3).map(|start| (start..start + 6).collect()).collect();
    let copies = LatentCopies::new(&a, overlapping).unwrap();
    let latent = Objective::new(&copies, LeastSquares::new(numbers("target")).unwrap()).unwrap();
    let (fista, descent) = (Fista::default(), BlockDescent::default());
    let exact = || to_gap(1e-14, 20_000);
    for pair in lines.windows(2).filter(|pair| pair[0].0 == "lambda") {
        let (lambda, (name, expected)) = (pair[0].1[0], &pair[1]);
        let plain = GroupLasso::new(lambda, 24, fixture_groups()).unwrap();
        match *name {
            "squares" => {
                agrees(&run(&squares, &plain, &fista, exact()).0.point, expected, "celer");
                agrees(&run(&squares, &plain, &descent, exact()).0.point, expected, "celer");
            }
            "logistic" => {
                agrees(&run(&logistic, &plain, &fista, exact()).0.point, expected, "numpy");
                agrees(&run(&logistic, &plain, &descent, exact()).0.point, expected, "numpy");
            }
            _ => {
                let penalty = GroupLasso::new(lambda, copies.domain(), copies.groups()).unwrap();
                let v = run(&latent, &penalty, &descent, exact()).0.point;
                agrees(&copies.collapse(&v), expected, "celer");
            }
        }
    }
}

fn lambda_max<A, L>(f: &Objective<A, L>, unit: &GroupLasso) -> f64
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
{
    let mut g = f.operator().new_covector();
    f.gradient(&f.at(SparseVec::zero(f.operator().domain())), &mut g);
    unit.polar(&g)
}

fn singletons(dim: usize) -> Vec<Vec<usize>> {
    (0..dim).map(|j| vec![j]).collect()
}

#[test]
fn groups_of_one_are_the_lasso_bit_by_bit() {
    let problem = Planted::new(50, 90, 4, 0.1, 1);
    let a = problem.operator();
    let f = problem.squares(&a);
    let lambda = 0.1 * lambda_max(&f, &GroupLasso::new(1.0, 90, singletons(90)).unwrap());
    let lasso = run(&f, &L1::new(lambda, 90).unwrap(), &Fista::default(), to_gap(1e-10, 500));
    let groups = GroupLasso::new(lambda, 90, singletons(90)).unwrap();
    let grouped = run(&f, &groups, &Fista::default(), to_gap(1e-10, 500));
    assert_eq!(lasso.0.point, grouped.0.point);
    let objectives = |events: &[Event]| events.iter().map(|e| (e.objective, e.gap)).collect::<Vec<_>>();
    assert_eq!(objectives(&lasso.1), objectives(&grouped.1));
}

/// Four members each; four of the groups carry the signal.
fn planted_groups(rows: usize, groups: usize, seed: u64) -> (Planted, Vec<Vec<usize>>, BTreeSet<usize>) {
    let members: Vec<Vec<usize>> = (0..groups).map(|g| (4 * g..4 * g + 4).collect()).collect();
    let chosen: BTreeSet<usize> = simulate::sparse_signal(groups, 4, seed).indices().iter().copied().collect();
    let inside: Vec<usize> = chosen.iter().flat_map(|&g| members[g].clone()).collect();
    let values: Vec<f64> = inside.iter().map(|j| if j % 3 == 0 { -1.0 } else { 1.0 }).collect();
    let truth = SparseVec::new(4 * groups, inside, values).unwrap();
    let design = simulate::gaussian(rows, 4 * groups, seed);
    let mut clean = vec![0.0; rows];
    Dense::column_major(&design, rows, 4 * groups).unwrap().apply(&truth, &mut clean);
    let target = simulate::noisy(&clean, 0.05, seed);
    (Planted { rows, design, truth, target }, members, chosen)
}

#[test]
fn block_descent_finds_fistas_minimum_in_few_passes() {
    for seed in 1..=3 {
        let (problem, members, chosen) = planted_groups(100, 75, seed);
        let a = problem.operator();
        let f = problem.squares(&a);
        let unit = GroupLasso::new(1.0, 300, members.clone()).unwrap();
        let penalty = unit.with_lambda(0.2 * lambda_max(&f, &unit)).unwrap();
        let fista = run(&f, &penalty, &Fista::default(), to_gap(1e-12, 1000)).0;
        let (descent, events) = run(&f, &penalty, &BlockDescent::default(), to_gap(1e-12, 25));
        assert_eq!((fista.status, descent.status), (Status::Converged, Status::Converged));
        assert!(fista.point.distance(&descent.point) < 1e-4 * fista.point.norm());
        for event in events {
            assert!(event.gap.unwrap() >= event.objective - fista.objective - 1e-12 * fista.objective);
        }
        assert_eq!(descent.passes, descent.iterations + 1);
        assert!(3 * descent.passes < fista.passes, "{} {}", descent.passes, fista.passes);
        assert!(descent.columns < 5 * 300, "{}", descent.columns);
        let found: BTreeSet<usize> = descent.point.indices().iter().map(|j| j / 4).collect();
        assert!(found.is_superset(&chosen), "{found:?} without some of {chosen:?}");
        assert!(found.iter().all(|g| members[*g].iter().all(|&j| descent.point.value_at(j) != 0.0)));
    }
}

#[test]
fn copies_of_disjoint_groups_are_the_groups() {
    let (problem, members, _) = planted_groups(60, 20, 4);
    let a = problem.operator();
    let f = problem.squares(&a);
    let copies = LatentCopies::new(&a, members.clone()).unwrap();
    let latent = Objective::new(&copies, LeastSquares::new(problem.target.clone()).unwrap()).unwrap();
    let penalty = GroupLasso::new(0.1, 80, members).unwrap();
    assert_eq!(penalty, GroupLasso::new(0.1, copies.domain(), copies.groups()).unwrap());
    let plain = run(&f, &penalty, &BlockDescent::default(), to_gap(1e-12, 50)).0;
    let collapsed = copies.collapse(&run(&latent, &penalty, &BlockDescent::default(), to_gap(1e-12, 50)).0.point);
    assert_eq!(collapsed, plain.point);
}

/// Windows of six that overlap by two; a signal on two neighbours and one apart.
#[test]
fn latent_groups_recover_a_union_of_overlapping_groups() {
    for seed in 1..=3 {
        let windows: Vec<Vec<usize>> = (0..25).map(|g| (4 * g..4 * g + 6).collect()).collect();
        let dim = 102;
        let union: BTreeSet<usize> = [3, 4, 15].iter().flat_map(|&g: &usize| windows[g].clone()).collect();
        let values = union.iter().map(|j| if j % 2 == 0 { 1.0 } else { -1.5 }).collect();
        let truth = SparseVec::new(dim, union.iter().copied().collect(), values).unwrap();
        let design = simulate::gaussian(70, dim, seed);
        let a = Dense::column_major(&design, 70, dim).unwrap();
        let mut target = vec![0.0; 70];
        a.apply(&truth, &mut target);
        let copies = LatentCopies::new(&a, windows.clone()).unwrap();
        let f = Objective::new(&copies, LeastSquares::new(target).unwrap()).unwrap();
        let unit = GroupLasso::new(1.0, copies.domain(), copies.groups()).unwrap();
        let penalty = unit.with_lambda(0.05 * lambda_max(&f, &unit)).unwrap();
        let outcome = run(&f, &penalty, &BlockDescent::default(), to_gap(1e-10, 50)).0;
        assert_eq!(outcome.status, Status::Converged);
        let x = copies.collapse(&outcome.point);
        let support: BTreeSet<usize> = x.indices().iter().copied().collect();
        let covered: BTreeSet<usize> =
            windows.iter().filter(|w| w.iter().all(|j| support.contains(j))).flatten().copied().collect();
        assert_eq!(covered, support, "the support is a union of groups");
        assert!(support.is_superset(&union));
        assert!(x.distance(&truth) < 0.2 * truth.norm(), "{}", x.distance(&truth) / truth.norm());
    }
}

#[test]
fn a_free_group_and_an_ungrouped_coordinate_pay_nothing() {
    let (problem, mut members, _) = planted_groups(60, 20, 5);
    members.pop();
    let a = problem.operator();
    let mut weights = vec![2.0; 19];
    weights[7] = 0.0;
    let penalty = GroupLasso::new(0.2, 80, members).unwrap().weighted(weights).unwrap();
    let free: Vec<usize> = (28..32).chain(76..80).collect();
    assert_eq!(penalty.free().unwrap().indices(), free);
    let labels: Vec<f64> = problem.target.iter().map(|y| f64::from(u8::from(*y > 0.0))).collect();
    let f = problem.squares(&a);
    check_free(&f, &penalty, &free);
    check_free(&Objective::new(&a, Logistic::new(labels).unwrap()).unwrap().ridge(0.1).unwrap(), &penalty, &free);
}

fn check_free<L: Loss>(f: &Objective<&Dense<'_, f64>, L>, penalty: &GroupLasso, free: &[usize]) {
    let fista = run(f, penalty, &Fista::default(), to_gap(1e-12, 2000)).0;
    let descent = run(f, penalty, &BlockDescent::default(), to_gap(1e-12, 50)).0;
    for outcome in [&fista, &descent] {
        assert_eq!(outcome.status, Status::Converged);
        let mut g = f.operator().new_covector();
        f.gradient(&f.at(outcome.point.clone()), &mut g);
        assert!(free.iter().all(|&j| g[j].abs() < 1e-8 && outcome.point.value_at(j) != 0.0));
        assert!(penalty.polar(&g) < 1.0 + 1e-4);
    }
    assert!(fista.point.distance(&descent.point) < 1e-4 * fista.point.norm());
}

#[test]
fn block_descent_does_not_mind_scales() {
    let (problem, members, _) = planted_groups(60, 20, 6);
    let answer = |y: f64, design: f64| {
        let scaled: Vec<f64> = problem.design.iter().map(|v| design * v).collect();
        let a = Dense::column_major(&scaled, 60, 80).unwrap();
        let target: Vec<f64> = problem.target.iter().map(|v| y * v).collect();
        let f: Squares<'_> = Objective::new(&a, LeastSquares::new(target).unwrap()).unwrap();
        let unit = GroupLasso::new(1.0, 80, members.clone()).unwrap();
        let penalty = unit.with_lambda(0.1 * lambda_max(&f, &unit)).unwrap();
        let outcome = run(&f, &penalty, &BlockDescent::default(), to_gap(1e-12, 50)).0;
        assert_eq!(outcome.status, Status::Converged);
        outcome.point.map(|_, v| v * design / y)
    };
    let plain = answer(1.0, 1.0);
    for (y, design) in [(1e6, 1.0), (1.0, 1e6), (1e-6, 1e3)] {
        assert!(answer(y, design).distance(&plain) < 1e-5 * plain.norm());
    }
}

#[test]
fn degenerate_groups_end_well() {
    // a group of zeros, two equal groups
    let design =
        [[0.0; 8], [1.0, 2.0, 0.0, -1.0, 0.5, 1.0, 0.0, 2.0], [1.0, 2.0, 0.0, -1.0, 0.5, 1.0, 0.0, 2.0]].concat();
    let (zeros, none) = (vec![0.0; 24], vec![0.0; 4]);
    let target = vec![1.0, 2.0, 3.0, 4.0];
    let penalty = GroupLasso::new(0.5, 6, vec![vec![0, 1], vec![2, 3], vec![4, 5]]).unwrap();
    for (design, target) in [(&design, &target), (&zeros, &target), (&design, &none)] {
        let a = Dense::column_major(design, 4, 6).unwrap();
        let f: Squares<'_> = Objective::new(&a, LeastSquares::new(target.clone()).unwrap()).unwrap();
        let method = BlockDescent::default();
        let x0 = SparseVec::from_dense(&[1.0, 0.0, -2.0, 3.0, 0.0, 0.0]);
        let warm = finished(Run::starting_at(&f, &penalty, &method, to_gap(1e-9, 50), x0).unwrap());
        let cold = run(&f, &penalty, &method, to_gap(1e-9, 50)).0;
        for outcome in [warm, cold] {
            assert_eq!(outcome.status, Status::Converged);
            assert!(outcome.point.values().iter().all(|v| v.is_finite()));
            assert_eq!((outcome.point.value_at(0), outcome.point.value_at(1)), (0.0, 0.0));
        }
    }
}

#[test]
fn groups_and_options_that_make_no_sense_are_named() {
    let shared = GroupLasso::new(1.0, 3, vec![vec![0, 1], vec![1, 2]]).unwrap_err();
    assert_eq!(shared, Error::SharedIndex { index: 1, first: 0, second: 1 });
    assert!(GroupLasso::new(0.0, 3, vec![vec![0]]).is_err());
    assert!(GroupLasso::new(1.0, 3, vec![vec![3]]).is_err());
    assert!(GroupLasso::new(1.0, 3, vec![vec![0]]).unwrap().weighted(vec![-1.0]).is_err());
    let design = [1.0, 0.0, 0.0, 1.0];
    let a = Dense::column_major(&design, 2, 2).unwrap();
    assert_eq!(LatentCopies::new(&a, vec![vec![0], vec![]]).unwrap_err(), Error::EmptyGroup { group: 1 });
    let f: Squares<'_> = Objective::new(&a, LeastSquares::new(vec![1.0, 2.0]).unwrap()).unwrap();
    let penalty = GroupLasso::new(1.0, 2, singletons(2)).unwrap();
    let bad = [
        BlockDescent { first: 0, ..BlockDescent::default() },
        BlockDescent { epochs: 0, ..BlockDescent::default() },
        BlockDescent { share: 0.0, ..BlockDescent::default() },
    ];
    for method in bad {
        assert!(Run::new(&f, &penalty, &method, Options::default()).is_err());
    }
}
