//! Balls: projections against their conditions of optimality, oracles against every vertex.

use katoms::Error;
use katoms::linalg::Matrix;
use katoms::set::{GroupBall, L1Ball, LinearMinimize, NuclearBall};
use katoms::simulate::{generator, normals};
use katoms::space::{Entrywise, LowRank, MatrixCovector, Point, SparseVec};

fn random(dim: usize, seed: u64) -> Vec<f64> {
    normals(dim, &mut generator(seed, 7))
}

fn overlapping() -> GroupBall {
    let members = vec![vec![0, 1, 2], vec![2, 3], vec![3, 4, 5, 0], vec![6], vec![6, 7, 8]];
    GroupBall::new(1.5, 10, members).unwrap().weighted(vec![1.0, 0.8, 1.5, 0.7, 1.2]).unwrap()
}

fn disjoint() -> GroupBall {
    GroupBall::from_labels(1.5, &["a", "b", "a", "c", "b", "b", "c", "d", "a"]).unwrap().weighted_by_size()
}

/// p is the nearest point of a convex set when ⟨v − p, s − p⟩ ≤ 0 for every s of it: the largest is that of
/// the vertex that the oracle finds against v − p.
#[track_caller]
fn is_nearest<S: LinearMinimize<Vec<f64>, Point = SparseVec>>(set: &S, v: &[f64], p: &SparseVec) {
    let away: Vec<f64> = v.iter().zip(p.to_dense()).map(|(v, p)| p - v).collect();
    let s = set.argmin(&away);
    let most = -SparseVec::combine(1.0, &s, -1.0, p).dot(&SparseVec::full(&away));
    assert!(most <= 1e-12 * (1.0 + p.norm() * v.len() as f64), "{most:e}");
}

/// The weights of a decomposition are a convex combination that gives the point.
#[track_caller]
fn decomposes<G, S: LinearMinimize<G>>(set: &S, x: S::Point, expected: &S::Point) {
    let terms = set.decompose(x);
    assert!(terms.iter().all(|t| t.0 > 0.0));
    assert!((terms.iter().map(|t| t.0).sum::<f64>() - 1.0).abs() < 1e-13);
    let refs: Vec<(f64, &S::Point)> = terms.iter().map(|(w, p)| (*w, p)).collect();
    let sum = S::Point::sum(set.domain(), &refs);
    assert!(sum.distance(expected) <= 1e-12 * (1.0 + expected.norm()), "{:e}", sum.distance(expected));
}

#[test]
fn the_l1_projection_is_the_nearest_point() {
    for seed in 0..20 {
        let v: Vec<f64> = random(12, seed).iter().map(|v| v * (1 + seed % 4) as f64).collect();
        let ball = L1Ball::new(2.0, 12).unwrap();
        let p = ball.project(SparseVec::full(&v));
        assert!(ball.norm(&p) <= 2.0 * (1.0 + 1e-14));
        is_nearest(&ball, &v, &p);
        assert!(ball.project(p.clone()).distance(&p) < 1e-14);
        decomposes(&ball, SparseVec::full(&v), &p);
    }
    let inside = SparseVec::from_dense(&[0.1, -0.2, 0.0]);
    assert_eq!(L1Ball::new(1.0, 3).unwrap().project(inside.clone()), inside);
}

#[test]
fn the_group_projection_is_the_nearest_point_where_groups_are_disjoint() {
    for seed in 0..20 {
        let v = random(9, seed);
        let ball = disjoint();
        let p = ball.project(&SparseVec::full(&v));
        assert!(ball.norm(&p) <= ball.radius() * (1.0 + 1e-13));
        is_nearest(&ball, &v, &p);
        decomposes(&ball, SparseVec::full(&v), &p);
    }
}

/// Ω(x) is the largest ⟨a, x⟩ over max_G ‖a_G‖/w_G ≤ 1. A decomposition bounds it from above; a vector a that
/// agrees with it bounds it from below.
#[test]
fn the_latent_norm_meets_its_dual_bound() {
    let ball = overlapping();
    for seed in 0..20 {
        let mut v = random(10, seed);
        v[9] = 0.0; // in no group
        let x = SparseVec::full(&v);
        let upper = ball.norm(&x);
        // a feasible decomposition by hand: each coordinate to its first group
        let first: f64 = [(1.0, vec![0, 1, 2]), (0.8, vec![3]), (1.5, vec![4, 5]), (0.7, vec![6]), (1.2, vec![7, 8])]
            .iter()
            .map(|(w, g): &(f64, Vec<usize>)| w * g.iter().map(|&i| v[i] * v[i]).sum::<f64>().sqrt())
            .sum();
        assert!(upper <= first * (1.0 + 1e-12));
        assert!(upper >= dual_bound(&ball, &v, upper) * (1.0 - 1e-12));
        assert!(upper <= dual_bound(&ball, &v, upper) * (1.0 + 1e-4), "{upper} {}", dual_bound(&ball, &v, upper));
    }
}

/// a = xᵢ/Σ_{G∋i} η_G with the η of the decomposition, scaled to be feasible.
fn dual_bound(ball: &GroupBall, v: &[f64], norm: f64) -> f64 {
    let large = GroupBall::new(2.0 * norm, 10, ball.members().to_vec()).unwrap();
    let large = large.weighted(vec![1.0, 0.8, 1.5, 0.7, 1.2]).unwrap();
    // the parts' directions: x restricted to where any part of the decomposition has an entry
    let parts: Vec<SparseVec> = large
        .decompose(SparseVec::full(v))
        .into_iter()
        .filter(|(_, p)| p.norm() > 0.0)
        .map(|(w, p)| SparseVec::combine(w, &p, 0.0, &p))
        .collect();
    let mut a = [0.0; 10];
    for part in &parts {
        // on a group that is used, a_G = w_G·v_G/‖v_G‖; shared coordinates agree at the optimum
        let group = ball.members().iter().position(|g| part.indices().iter().all(|i| g.contains(i))).unwrap();
        let weight = [1.0, 0.8, 1.5, 0.7, 1.2][group];
        part.entries().filter(|e| e.1.abs() > 1e-6 * norm).for_each(|(i, u)| a[i] = weight * u / part.norm());
    }
    let s = ball.argmin(&a.to_vec());
    let size = -s.dot(&SparseVec::full(&a)) / ball.radius();
    a.iter().zip(v).map(|(a, v)| a * v).sum::<f64>() / size
}

#[test]
fn a_point_of_overlapping_groups_is_scaled_into_the_ball() {
    let ball = overlapping();
    for seed in 0..10 {
        let v = random(10, seed);
        let p = ball.project(&SparseVec::full(&v));
        assert!(ball.norm(&p) <= ball.radius() * (1.0 + 1e-9), "{}", ball.norm(&p));
        assert_eq!(p.value_at(9), 0.0, "a coordinate in no group");
        decomposes(&ball, SparseVec::full(&v), &p);
        let half = SparseVec::combine(0.5, &p, 0.0, &p);
        assert!(ball.project(&half).distance(&half) < 1e-14, "a point inside stays");
    }
}

#[test]
fn no_vertex_is_better_than_the_oracles() {
    for seed in 0..20 {
        let g = random(10, seed);
        let covector = SparseVec::full(&g);
        let ball = L1Ball::new(3.0, 10).unwrap();
        let best = ball.argmin(&g).dot(&covector);
        let most = g.iter().fold(0.0_f64, |m, g| m.max(g.abs()));
        assert!((best + 3.0 * most).abs() < 1e-14);
        let ball = overlapping();
        let best = ball.argmin(&g).dot(&covector);
        for other in 0..50 {
            // any point of the ball: a random one, scaled in
            let p = ball.project(&SparseVec::full(&random(10, 1000 + other)));
            assert!(best <= p.dot(&covector) + 1e-12);
        }
        assert!((ball.norm(&ball.argmin(&g)) - ball.radius()).abs() < 1e-9);
    }
    assert_eq!(L1Ball::new(1.0, 3).unwrap().argmin(&vec![-2.0, 2.0, 1.0]).to_dense(), [1.0, 0.0, 0.0], "a tie");
    assert_eq!(L1Ball::new(1.0, 2).unwrap().argmin(&vec![0.0, 0.0]).norm(), 1.0, "a gradient of zeros");
    assert!((overlapping().argmin(&vec![0.0; 10]).norm() - 1.5).abs() < 1e-15);
}

#[test]
fn the_nuclear_ball_agrees_with_dense_singular_values() -> Result<(), Error> {
    for seed in 0..5 {
        let m = Matrix::from_columns(7, 5, random(35, seed));
        let (u, values, v) = m.svd().unwrap();
        let ball = NuclearBall::new(2.0, (7, 5))?;
        let s = ball.argmin(&MatrixCovector::new(Entrywise::Dense(m.clone())));
        let x = LowRank::from_factors(&m, &Matrix::from_fn(5, 5, |i, j| f64::from(u8::from(i == j))))?;
        assert!((s.dot(&x) + 2.0 * values[0]).abs() < 1e-10 * values[0], "{} {}", s.dot(&x), values[0]);

        // singular values, shrunk by the ℓ1 ball's own projection
        let shrunk = L1Ball::new(2.0, 5)?.project(SparseVec::full(&values)).to_dense();
        let mut scaled = u.clone();
        scaled.scale_columns(&shrunk);
        let p = ball.project(&x);
        let dense = p.left().times(p.core()).times_transposed(p.right());
        assert!(dense.plus(-1.0, &scaled.times_transposed(&v)).norm() < 1e-12);
        assert!((ball.norm(&p) - 2.0).abs() < 1e-12);
        decomposes(&ball, x, &p);
    }
    Ok(())
}

#[test]
fn bad_balls_are_named() {
    let error = L1Ball::new(-1.0, 4).unwrap_err();
    assert_eq!(error.to_string(), "option radius is -1; it must be finite and above 0");
    assert!(L1Ball::new(f64::NAN, 4).is_err() && L1Ball::new(1.0, 0).is_err());
    assert!(NuclearBall::new(f64::INFINITY, (2, 2)).is_err() && NuclearBall::new(1.0, (0, 2)).is_err());
    assert!(GroupBall::new(0.0, 3, vec![vec![0]]).is_err());
    assert_eq!(GroupBall::new(1.0, 3, vec![vec![0], vec![]]).unwrap_err(), Error::EmptyGroup { group: 1 });
    assert!(GroupBall::new(1.0, 3, vec![vec![3]]).is_err());
    assert!(GroupBall::new(1.0, 3, vec![vec![0]]).unwrap().weighted(vec![0.0]).is_err());
}
