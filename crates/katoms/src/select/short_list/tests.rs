//! The short list against the comparison of all exchanges, on problems where both can be had.

use std::ops::ControlFlow;

use super::super::neighbourhood::Neighbourhood;
use super::*;
use crate::loss::{LeastSquares, Logistic};
use crate::objective::Objective;
use crate::operator::{Dense, WithIntercept};
use crate::set::{Always, Groups, KSparse};
use crate::simulate;
use crate::space::IndexSet;

const ROWS: usize = 60;

fn design(dim: usize, correlation: f64, seed: u64) -> Vec<f64> {
    simulate::autoregressive(ROWS, dim, correlation, seed)
}

/// A planted signal of k atoms under noise.
fn target(design: &[f64], dim: usize, k: usize, seed: u64) -> Vec<f64> {
    let a = Dense::column_major(design, ROWS, dim).unwrap();
    let mut y = vec![0.0; ROWS];
    a.apply(&simulate::sparse_signal(dim, k, seed), &mut y);
    let deviation = crate::linalg::norm(&y) / (5.0 * ROWS as f64).sqrt();
    simulate::noisy(&y, deviation, seed)
}

/// The neighbourhood with the comparison of all exchanges, or with the short list.
fn neighbourhood<'a, A, L, S>(f: &'a Objective<A, L>, set: &'a S, listed: bool) -> Exact<'a, A, L, S>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
    S: CoordinateSet,
{
    let mut exact = Exact::new(f, set);
    exact.large = if listed { 0.0 } else { f64::INFINITY };
    exact
}

/// A poor point: the atoms along which f falls most at zero.
fn start<A, L, S>(f: &Objective<A, L>, set: &S) -> Evaluated<SparseVec>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
    S: CoordinateSet,
{
    let zero = f.at(SparseVec::zero(f.operator().domain()));
    let mut gradient = f.operator().new_covector();
    f.gradient(&zero, &mut gradient);
    let x = set.project(SparseVec::full(&gradient));
    let support = x.support();
    crate::method::refit_on(f, f.at(x), &support)
}

fn on(_: usize) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

#[test]
fn where_the_list_holds_every_atom_its_end_is_one_that_no_exchange_improves() {
    fn check<A, L, S>(f: &Objective<A, L>, set: &S)
    where
        A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
        L: Loss,
        S: CoordinateSet,
    {
        let x = start(f, set);
        let before = f.value(&x);
        let polished = neighbourhood(f, set, true).polish(x, &mut on);
        let after = f.value(&polished.x);
        assert!(after <= before && (polished.exchanges == 0) == (after == before), "{before} {after}");
        let full = neighbourhood(f, set, false).judge(&polished.x);
        assert!(full.exhaustive && !full.improvable() && full.stationarity < 1e-6, "{full:?}");
        assert!(!polished.quality.exhaustive && !polished.quality.improvable());
        assert!(polished.quality.exchanges_compared <= full.exchanges_compared);
        assert_eq!(polished.quality.near_ties.len(), full.near_ties.len());
    }
    let dim = 24;
    for seed in 0..10 {
        let data = design(dim, 0.7, seed);
        let y = target(&data, dim, 8, seed);
        let a = Dense::column_major(&data, ROWS, dim).unwrap();
        let loss = || LeastSquares::new(y.clone()).unwrap();
        check(&Objective::new(&a, loss()).unwrap(), &KSparse::new(8, dim).unwrap());
        let groups = (0..8).map(|g| (3 * g..3 * g + 3).collect()).collect();
        let groups = Groups::new(3, dim, groups).unwrap();
        check(&Objective::new(&a, loss()).unwrap().ridge(0.3).unwrap(), &groups);
        let with_intercept = WithIntercept::new(&a);
        let set = Always::intercept(&KSparse::new(8, dim).unwrap());
        let free = IndexSet::new(dim + 1, vec![dim]);
        let shifted = LeastSquares::new(y.iter().map(|v| v + 3.0).collect::<Vec<f64>>()).unwrap();
        check(&Objective::new(&with_intercept, shifted).unwrap().ridge(0.1).unwrap().free_of_ridge(free), &set);
    }
}

#[test]
fn a_list_of_few_atoms_ends_about_as_low_as_all_exchanges() {
    let (dim, k, seeds) = (600, 8, 20);
    for correlation in [0.0, 0.8] {
        let (mut listed, mut all, mut improvable) = (0.0, 0.0, 0);
        for seed in 0..seeds {
            let data = design(dim, correlation, seed);
            let y = target(&data, dim, k, seed);
            let f = Objective::new(Dense::column_major(&data, ROWS, dim).unwrap(), LeastSquares::new(y).unwrap());
            let (f, set) = (f.unwrap(), KSparse::new(k, dim).unwrap());
            let x = start(&f, &set);
            let short = neighbourhood(&f, &set, true).polish(x.clone(), &mut on);
            assert!(short.quality.exchanges_compared < k * (dim - k) / 2);
            let mut full = neighbourhood(&f, &set, false);
            listed += f.value(&short.x);
            all += f.value(&full.polish(x, &mut on).x);
            improvable += usize::from(full.judge(&short.x).improvable());
        }
        println!("correlation {correlation}: {} of all; {improvable} of {seeds} improvable", listed / all);
        assert!(listed < 1.03 * all && 10 * improvable <= seeds as usize, "{listed} {all} {improvable}");
    }
}

#[test]
fn small_problems_compare_every_exchange() {
    let dim = 200;
    let data = design(dim, 0.5, 1);
    let f = Objective::new(
        Dense::column_major(&data, ROWS, dim).unwrap(),
        LeastSquares::new(target(&data, dim, 5, 1)).unwrap(),
    )
    .unwrap();
    let set = KSparse::new(5, dim).unwrap();
    let x = start(&f, &set);
    let full = neighbourhood(&f, &set, false).polish(x.clone(), &mut on);
    let default = Exact::new(&f, &set).polish(x, &mut on);
    assert_eq!((default.x, default.exchanges, default.quality), (full.x, full.exchanges, full.quality.clone()));
    assert!(full.quality.exhaustive);
}

#[test]
fn a_wish_to_stop_is_heard_between_exchanges() {
    let dim = 600;
    let data = design(dim, 0.8, 3);
    let y = target(&data, dim, 8, 3);
    let a = Dense::column_major(&data, ROWS, dim).unwrap();
    let f = Objective::new(&a, LeastSquares::new(y.clone()).unwrap()).unwrap();
    let set = KSparse::new(8, dim).unwrap();
    let x = start(&f, &set);
    let all = neighbourhood(&f, &set, true).polish(x.clone(), &mut on).exchanges;
    assert!(all > 2, "{all}");
    for most in 0..all {
        let mut stop = |made: usize| if made >= most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        let polished = neighbourhood(&f, &set, true).polish(x.clone(), &mut stop);
        assert_eq!(polished.exchanges, most);
        assert!(most > 0 || polished.x == x);
        assert!(f.value(&polished.x) <= f.value(&x));
    }
    let classes: Vec<f64> = y.iter().map(|v| f64::from(*v > 0.0)).collect();
    let f = Objective::new(&a, Logistic::new(classes).unwrap()).unwrap().ridge(0.5).unwrap();
    let x = start(&f, &set);
    let polished = neighbourhood(&f, &set, true).polish(x.clone(), &mut |_| ControlFlow::Break(()));
    assert_eq!((polished.x, polished.exchanges), (x, 0));
}

#[test]
fn a_detour_within_the_list_is_never_worse() {
    let (dim, k) = (600, 8);
    let mut better = 0;
    for seed in 0..20 {
        let data = design(dim, 0.8, seed);
        let y = target(&data, dim, k, seed);
        let f = Objective::new(Dense::column_major(&data, ROWS, dim).unwrap(), LeastSquares::new(y).unwrap()).unwrap();
        let set = KSparse::new(k, dim).unwrap();
        let mut hood = neighbourhood(&f, &set, true);
        let polished = hood.polish(start(&f, &set), &mut on);
        let here = f.value(&polished.x);
        if let Some(next) = super::super::detours::detour(&f, &mut hood, &polished.x, k, &mut on) {
            assert!(f.value(&next.x) < here && next.x.point().support_size() == k && next.exchanges > 0);
            better += 1;
        }
    }
    println!("{better} of 20 improved by a detour");
    assert!(better > 0);
}

#[test]
fn classes_end_about_as_low_on_a_list() {
    let (dim, k) = (300, 5);
    let (mut listed, mut tried, mut begun) = (0.0, 0.0, 0.0);
    for seed in 0..10 {
        let data = design(dim, 0.6, seed);
        let classes: Vec<f64> = target(&data, dim, k, seed).iter().map(|v| f64::from(*v > 0.0)).collect();
        let a = Dense::column_major(&data, ROWS, dim).unwrap();
        let f = Objective::new(a, Logistic::new(classes).unwrap()).unwrap().ridge(0.5).unwrap();
        let set = KSparse::new(k, dim).unwrap();
        let x = start(&f, &set);
        let short = neighbourhood(&f, &set, true).polish(x.clone(), &mut on);
        assert!(!short.quality.exhaustive && !short.quality.improvable() && short.quality.stationarity < 1e-6);
        for tie in &short.quality.near_ties {
            let next = short.x.point().indices().iter().map(|&j| if j == tie.inside { tie.outside } else { j });
            let support = IndexSet::new(dim, next.collect());
            let there = crate::method::refit_on(&f, f.at(short.x.point().on(&support)), &support);
            assert!((f.value(&there) - f.value(&short.x) - tie.rise).abs() < 1e-6, "{tie:?}");
        }
        begun += f.value(&x);
        listed += f.value(&short.x);
        tried += f.value(&neighbourhood(&f, &set, false).polish(x, &mut on).x);
    }
    println!("begun {begun}, listed {listed}, tried {tried}");
    assert!(listed < begun && listed < 1.02 * tried, "{begun} {listed} {tried}");
}
