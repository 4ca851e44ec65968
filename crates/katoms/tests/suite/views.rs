//! The views of an operator: contract, equality with an explicit copy, shared passes, counts, bad input.

use std::fmt::Debug;

use crate::contract::{
    Space, adjoint, any_matrix, apply, dense, holds, holds_among_terms, moments_are_naive, naive_moments,
    naive_squared_norms, near, random_matrix, residual,
};
use crate::planted::Design;
use katoms::Error;
use katoms::linalg::Matrix;
use katoms::operator::{
    Counted, Counts, Csc, Dense, Entries, LatentCopies, LinearOperator, MatrixMap, Parts, RowWeights, Rows,
    Standardized, WithIntercept, adjoint_many,
};
use katoms::space::{IndexSet, SparseVec};
use proptest::collection::vec;
use proptest::prelude::*;

/// Every entry stored, the rows of each column from the last to the first.
fn backward_csc(m: &Matrix) -> Csc<'static, f64, u32> {
    let starts: Vec<usize> = (0..=m.columns()).map(|j| j * m.rows()).collect();
    let indices: Vec<u32> = (0..m.columns()).flat_map(|_| (0..m.rows() as u32).rev()).collect();
    let values: Vec<f64> = (0..m.columns()).flat_map(|j| m.column(j).iter().rev().copied()).collect();
    Csc::new(m.rows(), m.columns(), starts, indices, values).unwrap()
}

// The copies that the views save.

fn standardized(m: &Matrix, centres: &[f64], scales: &[f64]) -> Matrix {
    Matrix::from_fn(m.rows(), m.columns(), |i, j| (m.at(i, j) - centres[j]) / scales[j])
}

fn standardized_by_moments(m: &Matrix, weights: &[f64]) -> Matrix {
    let moments = naive_moments(m, weights);
    standardized(m, &moments.means, &scales(&moments.variances))
}

fn scales(variances: &[f64]) -> Vec<f64> {
    variances.iter().map(|v| if *v > 1e-24 { v.sqrt() } else { 1.0 }).collect()
}

/// The same before the means are taken away: the terms that the view computes with, which are large where a column
/// hardly varies.
fn before_centring(m: &Matrix, weights: &[f64]) -> Matrix {
    standardized(m, &vec![0.0; m.columns()], &scales(&naive_moments(m, weights).variances))
}

fn picked(m: &Matrix, rows: &[usize]) -> Matrix {
    Matrix::from_fn(rows.len(), m.columns(), |i, j| m.at(rows[i], j))
}

fn weighted(m: &Matrix, weights: &[f64]) -> Matrix {
    Matrix::from_fn(m.rows(), m.columns(), |i, j| weights[i] * m.at(i, j))
}

fn with_ones(m: &Matrix) -> Matrix {
    m.beside(&Matrix::from_fn(m.rows(), 1, |_, _| 1.0))
}

/// Columns of which a twentieth is stored; some have nothing.
fn rare(rows: usize, columns: usize) -> Matrix {
    let m = random_matrix(rows, columns, 5);
    Matrix::from_fn(rows, columns, |i, j| if (7 * i + 13 * j) % 20 == 0 && j % 6 != 5 { m.at(i, j) } else { 0.0 })
}

fn stored(m: &Matrix) -> Csc<'static, f64, u32> {
    let (mut starts, mut indices, mut values) = (vec![0_usize], Vec::new(), Vec::new());
    for j in 0..m.columns() {
        // each entry in two halves, the rows from the last to the first: equal ones add up
        for (i, &v) in m.column(j).iter().enumerate().rev().filter(|e| *e.1 != 0.0) {
            indices.extend([i as u32; 2]);
            values.extend([0.5 * v; 2]);
        }
        starts.push(values.len());
    }
    Csc::new(m.rows(), m.columns(), starts, indices, values).unwrap()
}

/// A_leftᵀ·diag(h)·A_right of the copy.
fn multiplies<A: LinearOperator<Point = SparseVec>>(a: &A, copy: &Matrix) {
    let n = copy.columns();
    let h: Vec<f64> = residual(copy.rows(), 3).iter().map(|v| v.abs()).collect();
    let some = |few: &[usize]| IndexSet::new(n, few.to_vec());
    let all: Vec<usize> = (0..n).collect();
    for (left, right) in [(some(&all), some(&all)), (some(&[0, 3, n - 1]), some(&[1, 3])), (some(&[]), some(&[2]))] {
        let found = a.products(&h, &left, &right).expect("few entries are stored");
        let entry = |l: usize, r: usize| (0..copy.rows()).map(|i| h[i] * copy.at(i, l) * copy.at(i, r)).sum::<f64>();
        let expected = Matrix::from_fn(left.indices().len(), right.indices().len(), |l, r| {
            entry(left.indices()[l], right.indices()[r])
        });
        assert_eq!((found.rows(), found.columns()), (expected.rows(), expected.columns()));
        near(found.data(), expected.data(), 1.0 + expected.norm());
    }
}

#[test]
fn products_of_sparse_columns_are_those_of_the_copy() {
    let m = rare(60, 24);
    let a = stored(&m);
    let (centres, scales) = (residual(24, 2), (0..24).map(|j| 0.5 + (j % 3) as f64).collect::<Vec<f64>>());
    multiplies(&a, &m);
    multiplies(&Counted::new(&a), &m);
    multiplies(&WithIntercept::new(&a), &with_ones(&m));
    multiplies(&RowWeights::new(&a, residual(60, 4)).unwrap(), &weighted(&m, &residual(60, 4)));
    multiplies(&Standardized::new(&a, centres.clone(), scales.clone()).unwrap(), &standardized(&m, &centres, &scales));
    let rows: Vec<usize> = (0..40).map(|i| (7 * i) % 60).chain([3, 3, 59]).collect();
    let chosen = Rows::new(&a, rows.clone()).unwrap();
    multiplies(&chosen, &picked(&m, &rows));
    let view = WithIntercept::new(Standardized::new(&chosen, centres.clone(), scales.clone()).unwrap());
    multiplies(&view, &with_ones(&standardized(&picked(&m, &rows), &centres, &scales)));
}

/// Where much is stored copies are quicker, and where a column lies far from 0 its products would cancel.
#[test]
fn products_are_left_to_copies_where_these_are_better() {
    let (full, m) = (random_matrix(30, 5, 1), rare(60, 24));
    let all = |n: usize| IndexSet::new(n, (0..n).collect());
    assert!(backward_csc(&full).products(&[1.0; 30], &all(5), &all(5)).is_none());
    assert!(dense(&full).products(&[1.0; 30], &all(5), &all(5)).is_none());
    let mut centres = vec![0.0; 24];
    centres[3] = 1e6;
    let far = Standardized::new(stored(&m), centres, vec![1.0; 24]).unwrap();
    assert!(far.products(&[1.0; 60], &all(24), &all(24)).is_none());
    let without = IndexSet::new(24, vec![0, 1, 2, 4]);
    assert!(far.products(&[1.0; 60], &without, &without).is_some());
}

const PICKED: [usize; 7] = [4, 0, 8, 4, 4, 1, 0];

#[test]
fn standardized_columns_are_a_copy_without_the_copy() {
    let m = random_matrix(9, 6, 1);
    let (centres, scales) = (residual(6, 2), vec![0.5, 2.0, 1.0, 3.0, 0.1, 7.0]);
    let view = Standardized::new(dense(&m), centres.clone(), scales.clone()).unwrap();
    assert_eq!((view.centres(), view.scales()), (&centres[..], &scales[..]));
    holds(&view, &standardized(&m, &centres, &scales));
    for weights in [vec![1.0; 9], vec![0.5, 0.0, 2.0, 1.0, 3.0, 0.0, 1.5, 0.25, 4.0]] {
        holds(&Standardized::fit(dense(&m), &weights).unwrap(), &standardized_by_moments(&m, &weights));
        holds(&Standardized::fit(backward_csc(&m), &weights).unwrap(), &standardized_by_moments(&m, &weights));
    }
}

/// A naive mean of many equal numbers is a little off, and the deviation must not be scaled up.
#[test]
fn a_constant_column_becomes_zero_however_long() {
    let rows = 20_001;
    let m = Matrix::from_fn(rows, 3, |i, j| [0.1, (i % 7) as f64, 1e6 / 3.0][j]);
    let by_rows = Dense::row_major(m.transposed().data().to_vec(), rows, 3).unwrap();
    let fractions: Vec<f64> = (0..rows).map(|i| 1.0 / (1 + i % 11) as f64).collect();
    for weights in [vec![1.0; rows], fractions] {
        constants_vanish(&Standardized::fit(dense(&m), &weights).unwrap());
        constants_vanish(&Standardized::fit(&by_rows, &weights).unwrap());
        constants_vanish(&Standardized::fit(backward_csc(&m), &weights).unwrap());
    }
}

fn constants_vanish(view: &Standardized<impl Design>) {
    assert_eq!((view.scales()[0], view.scales()[2]), (1.0, 1.0));
    assert!((view.scales()[1] - 2.0).abs() < 0.01);
    near(&apply(view, &SparseVec::new(3, vec![0], vec![1.0]).unwrap()), &vec![0.0; view.n_outputs()], 0.1);
    near(&apply(view, &SparseVec::new(3, vec![2], vec![1.0]).unwrap()), &vec![0.0; view.n_outputs()], 1e6 / 3.0);
}

#[test]
fn picked_rows_are_copied_rows() {
    let m = random_matrix(9, 6, 3);
    let view = Rows::new(dense(&m), PICKED.to_vec()).unwrap();
    assert_eq!(view.rows(), PICKED);
    let copy = picked(&m, &PICKED);
    holds(&view, &copy);
    let weights = [1.0, 0.0, 2.0, 0.5, 1.0, 3.0, 0.25];
    moments_are_naive(&view, &copy, &weights);
    moments_are_naive(&Rows::new(backward_csc(&m), PICKED.to_vec()).unwrap(), &copy, &weights);
    holds(&Standardized::fit(&view, &weights).unwrap(), &standardized_by_moments(&copy, &weights));
}

#[test]
fn row_weights_and_intercept_are_their_copies() {
    let m = random_matrix(9, 6, 4);
    let weights = [1.0, 0.0, -2.0, 0.5, 1.0, 3.0, 0.25, -0.0, 1e-3];
    holds(&RowWeights::new(dense(&m), weights.to_vec()).unwrap(), &weighted(&m, &weights));
    let view = WithIntercept::new(dense(&m));
    assert_eq!(view.index(), 6);
    holds(&view, &with_ones(&m));
    let x = SparseVec::new(7, vec![2, 6], vec![3.0, -4.0]).unwrap();
    assert_eq!(view.split(&x), (SparseVec::new(6, vec![2], vec![3.0]).unwrap(), -4.0));
    holds(&Counted::new(dense(&m)), &m);
}

#[test]
fn latent_copies_are_copied_columns() {
    let m = random_matrix(9, 6, 17);
    let groups = vec![vec![4, 0], vec![0, 3, 5], vec![3]];
    let origins = [0, 4, 0, 3, 5, 3];
    let copy = Matrix::from_fn(9, 6, |i, c| m.at(i, origins[c]));
    let base = Counted::new(dense(&m));
    let view = LatentCopies::new(&base, groups.clone()).unwrap();
    assert_eq!((view.origins(), view.groups()), (&origins[..], vec![vec![0, 1], vec![2, 3, 4], vec![5]]));
    holds(&view, &copy);
    let v = SparseVec::new(6, vec![0, 2, 4, 5], vec![1.0, 2.0, -1.0, 0.5]).unwrap();
    assert_eq!(view.collapse(&v).to_dense(), [3.0, 0.0, 0.0, 0.5, 0.0, -1.0]);
    base.take();
    apply(&view, &v);
    assert_eq!(base.take().columns, 3, "a column with two copies is read once");
    // copies that agree on a centre can be centred, others cannot
    assert!(view.squared_norms(&[&[1.0; 9]], Some(&[1.0, 2.0, 1.0, 3.0, 0.0, 3.0])).is_some());
    assert!(view.squared_norms(&[&[1.0; 9]], Some(&[1.0, 2.0, 1.5, 3.0, 0.0, 3.0])).is_none());
    let inside = Standardized::new(dense(&m), residual(6, 6), vec![0.5, 2.0, 1.0, 3.0, 0.2, 7.0]).unwrap();
    let inside_copy = standardized(&m, &residual(6, 6), &[0.5, 2.0, 1.0, 3.0, 0.2, 7.0]);
    let copy = Matrix::from_fn(9, 6, |i, c| inside_copy.at(i, origins[c]));
    holds(&WithIntercept::new(LatentCopies::new(&inside, groups).unwrap()), &with_ones(&copy));
}

/// The order of views matters: each must hand the residual on in its inner view's terms.
#[test]
fn nested_views_are_nested_copies() {
    let m = random_matrix(9, 6, 5);
    let (centres, scales) = (residual(7, 6), vec![0.5, 2.0, 1.0, 3.0, 0.2, 7.0, 4.0]);
    let (nine, seven) = (residual(9, 7), residual(7, 8));
    let a = dense(&m);
    let copy = picked(&m, &PICKED);

    let inside =
        Standardized::new(Rows::new(&a, PICKED.to_vec()).unwrap(), centres[..6].to_vec(), scales[..6].to_vec());
    let inside = inside.unwrap();
    let inside_copy = standardized(&copy, &centres[..6], &scales[..6]);
    holds(&inside, &inside_copy);
    holds(&WithIntercept::new(&inside), &with_ones(&inside_copy));
    holds(&RowWeights::new(&inside, seven.clone()).unwrap(), &weighted(&inside_copy, &seven));

    let outside = Rows::new(RowWeights::new(&a, nine.clone()).unwrap(), PICKED.to_vec()).unwrap();
    holds(&outside, &picked(&weighted(&m, &nine), &PICKED));
    let ones = WithIntercept::new(WithIntercept::new(&outside));
    holds(&ones, &with_ones(&with_ones(&picked(&weighted(&m, &nine), &PICKED))));
    let ones = RowWeights::new(WithIntercept::new(Rows::new(&a, PICKED.to_vec()).unwrap()), seven.clone()).unwrap();
    let ones_copy = weighted(&with_ones(&copy), &seven);
    holds(&ones, &ones_copy);
    let scaled = Standardized::new(&ones, centres.clone(), scales.clone()).unwrap();
    holds(&scaled, &standardized(&ones_copy, &centres, &scales));
    holds(&Counted::new(&scaled), &standardized(&ones_copy, &centres, &scales));
    holds(
        &Rows::new(&scaled, vec![6, 2, 6]).unwrap(),
        &picked(&standardized(&ones_copy, &centres, &scales), &[6, 2, 6]),
    );
    assert!(scaled.has_cheap_columns());
}

#[test]
fn views_of_maps_of_matrices_are_their_copies() {
    let m = random_matrix(9, 11, 9);
    let weights = residual(9, 10);
    let map = MatrixMap::new(WithIntercept::new(dense(&m)), (4, 3)).unwrap();
    let truth = with_ones(&m);
    holds(&map, &truth);
    holds(&Rows::new(&map, PICKED.to_vec()).unwrap(), &picked(&truth, &PICKED));
    let (rows, columns) = ([0, 3, 1, 0, 2, 2, 3, 1, 0], [0, 2, 1, 0, 0, 1, 1, 2, 2]);
    let seen = Entries::new((4, 3), &rows, &columns).unwrap();
    let truth = Matrix::from_fn(9, 12, |e, at| f64::from(u8::from((at % 4, at / 4) == (rows[e], columns[e]))));
    let view = Rows::new(RowWeights::new(&seen, weights.clone()).unwrap(), PICKED.to_vec()).unwrap();
    holds(&view, &picked(&weighted(&truth, &weights), &PICKED));
    assert!(!view.has_cheap_columns());
}

/// One pass for views of one base gives each view's own adjoint, bit for bit.
fn share_a_pass<P: Space>(views: &[&impl LinearOperator<Point = P, Covector = P::Gradient>]) {
    let rs: Vec<Vec<f64>> = views.iter().zip(20..).map(|(v, seed)| residual(v.n_outputs(), seed)).collect();
    let rs: Vec<&[f64]> = rs.iter().map(Vec::as_slice).collect();
    let mut shared: Vec<_> = views.iter().map(|v| v.new_covector()).collect();
    adjoint_many(views, &rs, &mut shared);
    for ((view, r), g) in views.iter().zip(rs).zip(shared) {
        assert_eq!(P::bits(&g), P::bits(&adjoint(*view, r)));
    }
}

#[test]
fn folds_share_their_passes() {
    let m = random_matrix(9, 6, 11);
    let a = Counted::new(dense(&m));
    let fold = |rows: &[usize], centre: f64| {
        let rows = RowWeights::new(Rows::new(&a, rows.to_vec()).unwrap(), vec![1.0 + centre; rows.len()]).unwrap();
        WithIntercept::new(Standardized::new(rows, vec![centre; 6], vec![2.0 - centre; 6]).unwrap())
    };
    let folds = [fold(&[0, 1, 2, 3], 0.5), fold(&[8, 7, 8], 0.25), fold(&PICKED, -1.0)];
    let folds: Vec<_> = folds.iter().collect();
    share_a_pass(&folds);
    assert_eq!(a.take().passes, 1 + folds.len(), "one together, then each alone");
    share_a_pass(&folds[..0]);
    assert_eq!(a.take(), Counts::default());

    let seen = Entries::new((4, 3), &[0, 3, 1, 3], &[0, 2, 1, 2]).unwrap();
    let halves = [Rows::new(&seen, vec![0, 2]).unwrap(), Rows::new(&seen, vec![3, 1, 1]).unwrap()];
    share_a_pass(&[&halves[0], &halves[1]]);
}

#[test]
fn passes_and_columns_are_counted() {
    let m = random_matrix(9, 6, 12);
    let a = Counted::new(dense(&m));
    let counts = |passes, columns, distinct: &[usize]| Counts {
        passes,
        rows: 0,
        columns,
        distinct: distinct.iter().copied().collect(),
    };
    assert_eq!(a.take(), counts(0, 0, &[]));
    let (x, r) = (SparseVec::new(6, vec![1, 4], vec![1.0, 0.0]).unwrap(), residual(9, 1));
    apply(&a, &x);
    assert_eq!(a.take(), counts(0, 2, &[1, 4]), "a stored zero is a column too");
    apply(&a, &x);
    a.adjoint_on(&r, &IndexSet::new(6, vec![5, 4, 0]));
    assert_eq!(a.take(), counts(0, 5, &[0, 1, 4, 5]));
    let g = adjoint(&a, &r);
    assert_eq!(a.take(), counts(1, 0, &[]));
    a.apply_covector(&g, &mut [0.0; 9]);
    assert_eq!(a.take(), counts(1, 0, &[]), "a full read");
    a.adjoint_block(&[&r, &r, &r], &mut vec![a.new_covector(); 3]);
    adjoint(&a, &r);
    assert_eq!(a.take(), counts(2, 0, &[]), "a block is one pass");
}

/// Blocks, parts and squared norms are one read of the data through any view.
#[test]
fn blocks_parts_and_squared_norms_are_one_pass() {
    let m = random_matrix(9, 6, 15);
    let base = Counted::new(dense(&m));
    let view = WithIntercept::new(RowWeights::new(&base, residual(9, 1)).unwrap());
    let standardized = WithIntercept::new(Standardized::new(&base, vec![0.5; 6], vec![2.0; 6]).unwrap());
    let some = Rows::new(&standardized, PICKED.to_vec()).unwrap();
    let (nine, seven) = (residual(9, 2), residual(7, 3));
    some.adjoint_block(&[&seven, &seven], &mut vec![some.new_covector(); 2]);
    assert_eq!(base.take().passes, 1);
    let mut out = vec![Vec::new(); 2];
    view.adjoint_parts(&Parts::new(vec![0, 1, 2, 0, 1, 2, 0, 1, 2], 3).unwrap(), &[&nine, &nine], &mut out);
    assert_eq!(base.take().passes, 1);
    // PICKED has row 4 three times: in one part, then in two.
    for labels in [[0, 1, 1, 0, 0, 1, 1], [0, 1, 1, 0, 1, 0, 0]] {
        some.adjoint_parts(&Parts::new(labels.to_vec(), 2).unwrap(), &[&seven, &seven], &mut out);
        assert_eq!(base.take().passes, 1);
    }
    let ones = [1.0; 9];
    assert!(view.squared_norms(&[&ones, &ones], None).is_some());
    assert_eq!(base.take().passes, 1);
    assert!(some.squared_norms(&[&ones[..7], &ones[..7]], Some(&[0.5; 7])).is_some());
    assert_eq!(base.take().passes, 1);
    assert!(view.squared_norms(&[&ones], Some(&[0.5; 7])).is_none(), "a centre under factors is no centre");
    assert_eq!(base.take(), Counts::default());
}

/// The view's own centre and one on top of it are both taken off before squaring.
#[test]
fn squared_norms_of_standardized_columns_do_not_cancel() {
    let m = random_matrix(9, 6, 16);
    let far = Matrix::from_fn(9, 6, |i, j| 1e8 + m.at(i, j));
    let exact = Matrix::from_fn(9, 6, |i, j| (far.at(i, j) - 1e8) / 2.0);
    let view = Standardized::new(dense(&far), vec![1e8; 6], vec![2.0; 6]).unwrap();
    let w = [0.5, 0.0, 2.0, 1.0, 3.0, 0.0, 1.5, 0.25, 4.0];
    near(&view.squared_norms(&[&w], None).unwrap()[0], &naive_squared_norms(&exact, &w, None), 10.0);
    let quarter = [0.25; 6]; // a half on the scale of the data, which stays exact there
    near(
        &view.squared_norms(&[&w], Some(&quarter)).unwrap()[0],
        &naive_squared_norms(&exact, &w, Some(&quarter)),
        10.0,
    );
}

#[test]
fn views_read_no_more_than_they_show() {
    let m = random_matrix(9, 6, 13);
    let a = Counted::new(dense(&m));
    let rows = Rows::new(&a, PICKED.to_vec()).unwrap();
    let view = WithIntercept::new(Standardized::new(rows, vec![1.0; 6], vec![2.0; 6]).unwrap());
    let (x, r) = (SparseVec::new(7, vec![3, 6], vec![1.0, 2.0]).unwrap(), residual(7, 1));
    apply(&view, &x);
    view.adjoint_on(&r, &IndexSet::new(7, vec![3, 5, 6]));
    let counts = a.take();
    assert_eq!((counts.passes, counts.columns), (0, 3), "the column of ones is not read");
    assert_eq!(counts.distinct.into_iter().collect::<Vec<_>>(), [3, 5]);
    adjoint(&view, &r);
    assert_eq!(a.take().passes, 1);
}

#[track_caller]
fn refused<T: Debug>(result: Result<T, Error>, expected: Error) {
    assert_eq!(result.unwrap_err(), expected);
}

#[test]
fn views_refuse_what_does_not_fit() {
    let m = random_matrix(9, 6, 14);
    let a = dense(&m);
    let length = |what, found, expected, why| Error::Length { what, found, expected, why };
    refused(Rows::new(&a, vec![]), Error::OutOfRange { what: "the number of rows", value: 0, min: 1, max: usize::MAX });
    refused(Rows::new(&a, vec![8, 9]), Error::Index { what: "row", position: 1, index: 9, bound: 9 });
    let inner = Rows::new(&a, PICKED.to_vec()).unwrap();
    refused(Rows::new(&inner, vec![0, 6, 7]), Error::Index { what: "row", position: 2, index: 7, bound: 7 });
    refused(RowWeights::new(&a, vec![1.0; 8]), length("row weights", 8, 9, "one for each row"));
    refused(Standardized::new(&a, vec![0.0; 7], vec![1.0; 6]), length("centres", 7, 6, "one for each column"));
    refused(Standardized::new(&a, vec![0.0; 6], vec![1.0; 5]), length("scales", 5, 6, "one for each column"));
    refused(Standardized::fit(&a, &[1.0; 10]), length("weights", 10, 9, "one for each row"));
    let zero = Error::Value { what: "weights", index: 0, value: 0.0, right: "at least one must be above 0" };
    refused(Standardized::fit(&a, &[0.0; 9]), zero);
    let with = |value: f64, length: usize| (0..length).map(|i| if i == 4 { value } else { 1.0 }).collect::<Vec<_>>();
    for value in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 0.0, -1.0, -1e-300] {
        let told = [
            ("row weights", RowWeights::new(&a, with(value, 9)).err(), "every weight must be finite"),
            ("centres", Standardized::new(&a, with(value, 6), vec![1.0; 6]).err(), "every centre must be finite"),
            (
                "scales",
                Standardized::new(&a, vec![1.0; 6], with(value, 6)).err(),
                "every scale must be finite and above 0",
            ),
            ("weights", Standardized::fit(&a, &with(value, 9)).err(), "every weight must be finite and at least 0"),
        ];
        for (name, error, should) in told {
            let fine =
                value.is_finite() && (name == "row weights" || name == "centres" || name == "weights" && value == 0.0);
            let Some(error) = error else {
                assert!(fine, "{name} {value}");
                continue;
            };
            // NaN equals nothing, so the value is compared by its bits
            assert!(
                matches!(error, Error::Value { what, index: 4, value: found, right }
                if what == name && right == should && found.to_bits() == value.to_bits()),
                "{error:?}"
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn any_fold_of_any_design_is_its_copy(
        m in any_matrix(1..12),
        rows in vec(0..100_usize, 1..12),
        weights in vec(0.1..3.0, 12),
    ) {
        let rows: Vec<usize> = rows.into_iter().map(|i| i % m.rows()).collect();
        let weights = &weights[..rows.len()];
        a_fold_is_its_copy(&m, &rows, weights);
    }
}

fn a_fold_is_its_copy(m: &Matrix, rows: &[usize], weights: &[f64]) {
    let copy = picked(m, rows);
    let by_rows = Dense::row_major(m.transposed().data().to_vec(), m.rows(), m.columns()).unwrap();
    let fold = Standardized::fit(Rows::new(by_rows, rows.to_vec()).unwrap(), weights).unwrap();
    let (fold_copy, terms) = (standardized_by_moments(&copy, weights), before_centring(&copy, weights));
    holds_among_terms(&WithIntercept::new(&fold), &with_ones(&fold_copy), with_ones(&terms).norm());
    let sparse = Standardized::fit(Rows::new(backward_csc(m), rows.to_vec()).unwrap(), weights).unwrap();
    holds_among_terms(&sparse, &fold_copy, terms.norm());
    let weighted_terms = weighted(&terms, weights).norm();
    holds_among_terms(
        &RowWeights::new(fold, weights.to_vec()).unwrap(),
        &weighted(&fold_copy, weights),
        weighted_terms,
    );
}

/// Two rows that hardly differ: their deviations are what is left of numbers a million times larger.
#[test]
fn a_fold_that_hardly_varies_is_its_copy() {
    let m = Matrix::from_columns(3, 2, vec![7.0, 7.00001, -3.0, 1.0, -2.0, 0.5]);
    a_fold_is_its_copy(&m, &[0, 1, 0], &[0.7, 2.9, 1.1]);
}
