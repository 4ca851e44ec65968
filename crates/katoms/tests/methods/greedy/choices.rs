//! Which atoms they choose: against scikit-learn, brute force and each other.

use katoms::driver::{Options, Run};
use katoms::linalg::{self, Matrix, top_k};
use katoms::loss::LeastSquares;
use katoms::method::{Foba, ForwardRegression, Omp};
use katoms::operator::Dense;
use katoms::set::KSparse;
use katoms::{Objective, Status, simulate};

use super::{Catalogue, Explicit, all, overlapping, run, supports};

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
    for line in include_str!("../../fixtures/omp.txt").lines() {
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
