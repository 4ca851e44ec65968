//! Matrices of rank at most k, against dense singular value decompositions.

use std::sync::Arc;

use katoms::Error;
use katoms::linalg::{Matrix, norm};
use katoms::set::{ConstraintSet, Exchange, Expand, Guarantee, Rank, RankSearch};
use katoms::simulate::{generator, normals};
use katoms::space::{Covector, Entrywise, LowRank, MatrixCovector, Pattern, Point, Span};

fn random(rows: usize, columns: usize, stream: u64) -> Matrix {
    Matrix::from_columns(rows, columns, normals(rows * columns, &mut generator(41, stream)))
}

fn identity(size: usize) -> Matrix {
    Matrix::from_fn(size, size, |i, j| if i == j { 1.0 } else { 0.0 })
}

/// A matrix whose singular values are halved from one to the next.
fn halving(rows: usize, columns: usize, stream: u64) -> Matrix {
    let (mut u, _, v) = random(rows, columns, stream).svd().unwrap();
    let values: Vec<f64> = (0..u.columns() as i32).map(|i| 0.5_f64.powi(i)).collect();
    u.scale_columns(&values);
    u.times_transposed(&v)
}

fn dense(x: &LowRank) -> Matrix {
    x.left().times(x.core()).times_transposed(x.right())
}

/// The best approximation of rank k, from all singular values.
fn best(m: &Matrix, k: usize) -> Matrix {
    let (u, values, v) = m.svd().unwrap();
    let mut u = u.leading_columns(k);
    u.scale_columns(&values[..k]);
    u.times_transposed(&v.leading_columns(k))
}

fn low_rank(m: &Matrix) -> LowRank {
    LowRank::from_factors(m, &identity(m.columns())).unwrap()
}

fn gradient(m: &Matrix) -> MatrixCovector {
    MatrixCovector::new(Entrywise::Dense(m.clone()))
}

/// The same matrix, as a pattern in which everything is observed.
fn observed(m: &Matrix) -> MatrixCovector {
    let places = || (0..m.columns()).flat_map(|j| (0..m.rows()).map(move |i| (i, j)));
    let (rows, columns): (Vec<usize>, Vec<usize>) = places().unzip();
    let pattern = Arc::new(Pattern::new((m.rows(), m.columns()), &rows, &columns).unwrap());
    MatrixCovector::new(Entrywise::Observed { pattern, values: m.data().to_vec() })
}

#[track_caller]
fn assert_close(a: &Matrix, b: &Matrix, tolerance: f64) {
    let error = a.plus(-1.0, b).norm();
    assert!(error <= tolerance * b.norm().max(f64::MIN_POSITIVE), "{error} of {}", b.norm());
}

#[track_caller]
fn assert_orthonormal(basis: &Matrix) {
    let gram = basis.transposed_times(basis);
    assert!(gram.plus(-1.0, &identity(basis.columns())).norm() < 1e-12);
}

/// (I − UUᵀ)·M·(I − VVᵀ), formed.
fn outside(m: &Matrix, u: &Matrix, v: &Matrix) -> Matrix {
    let m = m.plus(-1.0, &u.times(&u.transposed_times(m)));
    m.plus(-1.0, &m.times(v).times_transposed(v))
}

/// Whether the span holds left·rightᵀ, to a relative tolerance.
#[track_caller]
fn assert_holds(span: &Span, left: &Matrix, right: &Matrix, tolerance: f64) {
    for (basis, directions) in [(span.left(), left), (span.right(), right)] {
        assert_close(&basis.times(&basis.transposed_times(directions)), directions, tolerance);
    }
}

#[test]
fn the_projection_is_the_truncated_svd() {
    for (stream, (p, n)) in [(7, 5), (5, 7), (6, 6), (1, 4), (9, 1)].into_iter().enumerate() {
        let m = random(p, n, stream as u64);
        for k in 1..=p.min(n) {
            let set = Rank::new(k, (p, n)).unwrap();
            assert_eq!(set.guarantee(), Guarantee::Exact);
            let x = set.project(low_rank(&m));
            assert_close(&dense(&x), &best(&m, k), 1e-12);
            assert!(x.rank_bound() <= k);
            let values = dense(&x).svd().unwrap().1;
            assert!(norm(&values[k..]) < 1e-13 * values[0], "{values:?}");
            assert_orthonormal(x.left());
            assert_orthonormal(x.right());
            let again = set.project(x.clone());
            assert!(again.distance(&x) < 1e-13 * x.norm());
            assert!(again.rank_bound() <= k);
        }
    }
}

#[test]
fn a_point_with_fewer_atoms_is_left_alone() {
    let set = Rank::new(3, (6, 5)).unwrap();
    let x = LowRank::from_factors(&random(6, 1, 0), &random(5, 1, 1)).unwrap();
    let y = set.project(x.clone());
    assert!(y.distance(&x) < 1e-14 * x.norm());
    assert_eq!(y.rank_bound(), 1);
    let zero = set.project(LowRank::zero((6, 5)));
    assert_eq!((zero.norm(), zero.rank_bound(), zero.domain()), (0.0, 0, (6, 5)));
    // Directions without weight are no atoms.
    let nothing = LowRank::combine(0.0, &x, 1.0, &LowRank::combine(1.0, &x, -1.0, &x));
    assert_eq!(set.project(nothing).rank_bound(), 0);
}

#[test]
fn another_k_keeps_shape_and_search() {
    let set = Rank::new(4, (6, 5)).unwrap().searching(RankSearch::LeadingPairs);
    let smaller = Rank::new(2, (6, 5)).unwrap().searching(RankSearch::LeadingPairs);
    assert_eq!(set.with_atoms(2), Ok(smaller.clone()));
    assert_ne!(smaller, Rank::new(2, (6, 5)).unwrap());
    assert_eq!((smaller.atoms(), smaller.domain()), (2, (6, 5)));
}

#[test]
fn a_rank_above_the_smaller_side_is_refused() {
    let rank = |value, max| Error::OutOfRange { what: "the rank", value, min: 1, max };
    assert_eq!(Rank::new(0, (5, 4)), Err(rank(0, 4)));
    assert_eq!(Rank::new(5, (5, 4)), Err(rank(5, 4)));
    assert_eq!(Rank::new(5, (4, 5)), Err(rank(5, 4)));
    assert_eq!(Rank::new(4, (4, 9)).unwrap().with_atoms(5), Err(rank(5, 4)));
    for shape in [(0, 3), (3, 0)] {
        assert_eq!(Rank::new(1, shape), Err(Error::Empty { what: "the matrix" }));
    }
}

#[test]
fn the_search_at_zero_finds_the_leading_pairs() {
    for (p, n, k) in [(40, 30, 3), (30, 40, 1), (6, 5, 2), (6, 5, 5), (60, 50, 10)] {
        let m = halving(p, n, 7);
        for search in [RankSearch::Tangent, RankSearch::LeadingPairs] {
            let set = Rank::new(k, (p, n)).unwrap().searching(search);
            for g in [gradient(&m), observed(&m)] {
                let t = set.expand(&g, &LowRank::zero((p, n)).support());
                assert_eq!((t.left().columns(), t.right().columns()), (k, k));
                assert_orthonormal(&t.left());
                assert_orthonormal(&t.right());
                // For exact pairs the tangent projection is the truncated SVD itself.
                assert_close(&dense(&g.on(&t)), &best(&m, k), 1e-3);
            }
        }
    }
}

#[test]
fn at_full_rank_the_tangent_space_is_that_of_the_point() {
    let (x, g) = (low_rank(&halving(12, 9, 1)).truncated(3), gradient(&random(12, 9, 2)));
    let set = Rank::new(3, (12, 9)).unwrap();
    let t = set.expand(&g, &x.support());
    assert_eq!((&t.left(), &t.right()), (x.left(), x.right()));
    assert_close(&dense(&gradient(&dense(&x)).on(&t)), &dense(&x), 1e-13);
}

#[test]
fn leading_pairs_join_the_spaces_of_the_point() {
    let (x, m) = (low_rank(&halving(30, 25, 1)).truncated(2), halving(30, 25, 2));
    let set = Rank::new(2, (30, 25)).unwrap().searching(RankSearch::LeadingPairs);
    let t = set.expand(&gradient(&m), &x.support());
    assert_eq!((t.left().columns(), t.right().columns()), (4, 4));
    assert_orthonormal(&t.left());
    assert_orthonormal(&t.right());
    assert_eq!((&t.left().leading_columns(2), &t.right().leading_columns(2)), (x.left(), x.right()));
    let rest = outside(&m, x.left(), x.right());
    let (l, r) = (t.left().block(0, 2, 30, 2), t.right().block(0, 2, 25, 2));
    let found = l.times(&l.transposed_times(&rest).times(&r)).times_transposed(&r);
    assert_close(&found, &best(&rest, 2), 1e-3);
}

#[test]
fn a_point_with_room_is_filled_up() {
    let x = LowRank::from_factors(&random(12, 1, 0), &random(9, 1, 1)).unwrap();
    let set = Rank::new(3, (12, 9)).unwrap();
    let m = random(12, 9, 2);
    let t = set.expand(&gradient(&m), &x.support());
    assert_eq!((t.left().columns(), t.right().columns()), (3, 3));
    assert_close(&dense(&gradient(&dense(&x)).on(&t)), &dense(&x), 1e-13);
    // No room in the space itself: k more pairs would not fit.
    let full = low_rank(&random(12, 9, 3)).truncated(8);
    let wide = Rank::new(8, (12, 9)).unwrap().searching(RankSearch::LeadingPairs);
    let t = wide.expand(&gradient(&m), &full.support());
    assert_eq!((t.left().columns(), t.right().columns()), (9, 9));
}

#[test]
fn an_exchange_trades_the_weakest_pair_for_the_leading_one_outside() {
    let m = halving(14, 11, 5);
    for k in [1, 3, 10] {
        let x = low_rank(&halving(14, 11, 4)).truncated(k);
        let set = Rank::new(k, (14, 11)).unwrap();
        let removed = set.removals(&x, 4);
        let [less] = &removed[..] else { panic!("{} proposals", removed.len()) };
        assert_eq!(less.left().columns(), k - 1);
        let kept = x.truncated(k - 1);
        assert_holds(less, kept.left(), kept.right(), 1e-12);
        let added = set.additions(&x.on(less), &gradient(&m), 4);
        let [span] = &added[..] else { panic!("{} proposals", added.len()) };
        assert_eq!((span.left().columns(), span.right().columns()), (k, k));
        assert_orthonormal(span.left());
        assert_orthonormal(span.right());
        assert_holds(span, kept.left(), kept.right(), 1e-12);
        let (u, _, v) = outside(&m, kept.left(), kept.right()).svd().unwrap();
        assert_holds(span, &u.leading_columns(1), &v.leading_columns(1), 1e-2);
    }
}

#[test]
fn an_exchange_adds_where_there_is_room_and_ends_where_there_is_none() {
    let m = random(8, 6, 6);
    let x = low_rank(&m).truncated(2);
    let set = Rank::new(4, (8, 6)).unwrap();
    assert_eq!(set.removals(&x, 1), [x.support()]);
    let proposals = set.additions(&x, &gradient(&random(8, 6, 9)), 1);
    assert_eq!(proposals.len(), 1);
    assert_eq!((proposals[0].left().columns(), proposals[0].right().columns()), (3, 3));
    assert_holds(&proposals[0], x.left(), x.right(), 1e-12);
    // Every direction is in use: nothing is outside.
    let whole = low_rank(&m);
    assert!(Rank::new(6, (8, 6)).unwrap().additions(&whole, &gradient(&m), 1).is_empty());
}

#[test]
fn a_gradient_that_is_not_finite_brings_no_directions() {
    let set = Rank::new(2, (5, 4)).unwrap();
    let g = gradient(&Matrix::from_fn(5, 4, |i, _| if i == 2 { f64::NAN } else { 1.0 }));
    let t = set.expand(&g, &LowRank::zero((5, 4)).support());
    assert_eq!((t.left().columns(), t.right().columns()), (0, 0));
}
