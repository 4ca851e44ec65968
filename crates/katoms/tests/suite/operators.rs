//! The operators that hold data: contract, equivalences, bad input.

use crate::contract::{
    compressed, csc, dense, holds, in_pool, moments_are_naive, naive_squared_norms, near, random_matrix, residual,
};
use crate::planted::Design;
use katoms::Error;
use katoms::linalg::Matrix;
use katoms::linalg::kernels::Real;
use katoms::operator::{
    AnyDesign, Beside, Csc, Dense, Entries, Layout, LinearOperator, MatrixFree, MatrixMap, Parts, SparseIndex, f16,
    subsampled_dct,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// Around the eight lanes and groups of the kernels, and more columns than one thread takes.
const SHAPES: [(usize, usize); 7] = [(1, 1), (1, 7), (6, 1), (9, 5), (16, 8), (23, 41), (5, 600)];

fn row_major(m: &Matrix) -> Vec<f64> {
    m.transposed().data().to_vec()
}

fn narrow(data: &[f64]) -> Vec<f32> {
    data.iter().map(|&v| v as f32).collect()
}

/// A design in each storage and order whose numbers are those of `m` times 40, as far as it has them.
fn in_every_storage(m: &Matrix) -> Vec<(AnyDesign<'static>, Matrix)> {
    fn both<T: Real>(m: &Matrix, narrow: impl Fn(f64) -> T) -> [(AnyDesign<'static>, Matrix); 2]
    where
        AnyDesign<'static>: From<Dense<'static, T>>,
    {
        let (rows, columns) = (m.rows(), m.columns());
        let stored = |data: &[f64]| -> Vec<T> { data.iter().map(|v| narrow(40.0 * v)).collect() };
        let held = Matrix::from_fn(rows, columns, |i, j| narrow(40.0 * m.at(i, j)).to_f64());
        let by_columns = Dense::column_major(stored(m.data()), rows, columns).unwrap();
        let by_rows = Dense::row_major(stored(&row_major(m)), rows, columns).unwrap();
        [(by_columns.into(), held.clone()), (by_rows.into(), held)]
    }
    let floats = [both(m, |v| v), both(m, |v| v as f32), both(m, f16::from_f64)];
    let whole = [both(m, |v| v as i8), both(m, |v| v as u8)];
    floats.into_iter().chain(whole).flatten().collect()
}

/// The matrix that is stored when `m` is narrowed.
fn rounded(m: &Matrix) -> Matrix {
    Matrix::from_fn(m.rows(), m.columns(), |i, j| f64::from(m.at(i, j) as f32))
}

/// About half of the entries, so that some lines are empty and some full.
fn random_sparse(rows: usize, columns: usize) -> Matrix {
    let m = random_matrix(rows, columns, 1);
    Matrix::from_fn(rows, columns, |i, j| if m.at(i, j).abs() > 0.7 { m.at(i, j) } else { 0.0 })
}

fn matrix_free(m: &Matrix) -> MatrixFree {
    let (forward, backward) = (m.clone(), m.transposed());
    let product = |m: &Matrix, x: &[f64], out: &mut [f64]| {
        out.copy_from_slice(m.times(&Matrix::from_columns(x.len(), 1, x.to_vec())).data());
    };
    let shape = (m.rows(), m.columns());
    MatrixFree::new(shape, move |x, out| product(&forward, x, out), move |r, out| product(&backward, r, out)).unwrap()
}

/// The map of a flattened matrix to its entries.
fn selection((rows, columns): (usize, usize), places: &[(usize, usize)]) -> Matrix {
    Matrix::from_fn(places.len(), rows * columns, |e, at| f64::from(u8::from(places[e] == (at % rows, at / rows))))
}

fn entries(shape: (usize, usize), places: &[(usize, usize)]) -> Result<Entries, Error> {
    let (rows, columns): (Vec<usize>, Vec<usize>) = places.iter().copied().unzip();
    Entries::new(shape, &rows, &columns)
}

#[test]
fn a_design_chosen_at_run_time_keeps_the_contract() {
    for (rows, columns) in SHAPES {
        let m = random_matrix(rows, columns, 3);
        in_every_storage(&m).iter().for_each(|(design, held)| holds(design, held));
        let starts: Vec<usize> = (0..=columns).map(|j| j * rows).collect();
        let indices: Vec<u32> = (0..columns).flat_map(|_| 0..rows as u32).collect();
        holds(&AnyDesign::from(Csc::new(rows, columns, starts, indices, m.data()).unwrap()), &m);
        let free = AnyDesign::from(matrix_free(&m));
        assert!(!free.has_cheap_columns());
        holds(&free, &m);
        moments_are_naive(&free, &m, &vec![0.5; rows]);
    }
}

/// Enough rows that products on a few columns run on several threads.
#[test]
fn tall_dense_designs_keep_the_contract() {
    let m = random_matrix(66_003, 3, 2);
    let m = Matrix::from_fn(m.rows(), m.columns(), |i, j| m.at(i, j) / (m.rows() as f64).sqrt());
    holds(&dense(&m), &m);
    holds(&Dense::row_major(row_major(&m), m.rows(), m.columns()).unwrap(), &m);
}

#[test]
fn designs_side_by_side_keep_the_contract() {
    for (rows, columns) in SHAPES {
        let m = random_sparse(rows, columns + 3);
        let left = Matrix::from_fn(rows, columns, |i, j| m.at(i, j));
        let right = Matrix::from_fn(rows, 3, |i, j| m.at(i, columns + j));
        let beside = Beside::new(csc(&left), dense(&right)).unwrap();
        holds(&beside, &m);
        moments_are_naive(&beside, &m, &vec![0.5; rows]);
        let other = Dense::column_major(vec![0.0; rows + 1], rows + 1, 1).unwrap();
        let error = Beside::new(csc(&left), other).unwrap_err().to_string();
        assert!(error.contains("one row for each"), "{error}");
    }
}

#[test]
fn a_dense_design_says_what_it_is() {
    let a = Dense::row_major(vec![0.0_f32; 6], 2, 3).unwrap();
    assert_eq!((a.rows(), a.columns(), a.layout()), (2, 3, Layout::RowMajor));
    assert!(a.has_cheap_columns());
    assert_eq!(a.squared_norms(&[&[1.0, 2.0]], None), Some(vec![vec![0.0; 3]]));
}

fn compressed_columns_keep_the_contract<I: SparseIndex, P: SparseIndex>() {
    for (rows, columns) in SHAPES {
        let m = random_sparse(rows, columns);
        let (starts, indices, values) = compressed::<I, P>(&m);
        let borrowed = Csc::new(rows, columns, &starts, &indices, &values).unwrap();
        assert_eq!(borrowed.stored(), values.len());
        holds(&borrowed, &m);
        let single = Csc::new(rows, columns, starts.clone(), indices.clone(), narrow(&values)).unwrap();
        holds(&single, &rounded(&m));
        let (starts, indices, values) = compressed::<I, P>(&m.transposed());
        holds(&Csc::from_rows(rows, columns, &starts, &indices, &values).unwrap(), &m);
    }
}

#[test]
fn sparse_designs_keep_the_contract_whatever_the_indices() {
    compressed_columns_keep_the_contract::<u32, usize>();
    compressed_columns_keep_the_contract::<i32, i32>();
    compressed_columns_keep_the_contract::<i64, i64>();
    compressed_columns_keep_the_contract::<usize, u64>();
}

/// Row `row` of the orthonormal DCT-II, by its formula.
fn cosines(n: usize, rows: &[usize]) -> Matrix {
    let scale = |row: usize| if row == 0 { 1.0 / n as f64 } else { 2.0 / n as f64 }.sqrt();
    let angle = |row: usize, i: usize| std::f64::consts::PI * row as f64 * (i as f64 + 0.5) / n as f64;
    Matrix::from_fn(rows.len(), n, |e, i| scale(rows[e]) * angle(rows[e], i).cos())
}

#[test]
fn matrix_maps_keep_the_contract() {
    for (rows, columns) in [(1, 1), (4, 3), (2, 7)] {
        let m = random_matrix(9, rows * columns, 4);
        let dense = dense(&m);
        holds(&MatrixMap::new(&dense, (rows, columns)).unwrap(), &m);
        holds(&MatrixMap::new(matrix_free(&m), (rows, columns)).unwrap(), &m);
        let m = random_sparse(9, rows * columns);
        holds(&MatrixMap::new(csc(&m), (rows, columns)).unwrap(), &m);
    }
}

#[test]
fn moments_agree_in_every_storage() {
    let m = random_sparse(25, 300);
    let mut uneven: Vec<f64> = residual(25, 7).iter().map(|w| w.abs()).collect();
    uneven[3..9].fill(0.0);
    for weights in [vec![1.0; 25], uneven] {
        moments_are_naive(&dense(&m), &m, &weights);
        moments_are_naive(&Dense::row_major(row_major(&m), 25, 300).unwrap(), &m, &weights);
        moments_are_naive(&Dense::row_major(narrow(&row_major(&m)), 25, 300).unwrap(), &rounded(&m), &weights);
        moments_are_naive(&csc(&m), &m, &weights);
    }
}

/// Far from zero, Σ w·a² − c²·Σ w would have lost every digit.
#[test]
fn squared_norms_about_a_centre_do_not_cancel() {
    let m = random_matrix(25, 30, 6);
    let far = Matrix::from_fn(25, 30, |i, j| 1e8 + m.at(i, j));
    let weights: Vec<f64> = residual(25, 7).iter().map(|w| w.abs()).collect();
    let centres = [1e8; 30];
    let expected = naive_squared_norms(&far, &weights, Some(&centres));
    let squared_norms = [
        dense(&far).squared_norms(&[&weights], Some(&centres)),
        Dense::row_major(row_major(&far), 25, 30).unwrap().squared_norms(&[&weights], Some(&centres)),
        csc(&far).squared_norms(&[&weights], Some(&centres)),
    ];
    for found in squared_norms {
        near(&found.unwrap()[0], &expected, 30.0);
    }
}

/// Many rows, parts of all sizes, several tasks: more than a chunk of a kernel takes at a time.
#[test]
fn many_rows_in_parts_and_many_columns_in_tasks() {
    let (rows, columns, count) = (5003, 130, 6);
    let m = random_matrix(rows, columns, 8);
    let labels: Vec<usize> = (0..rows).map(|i| if i < 3000 { i % 4 } else { (i * i + i / 7) % count }).collect();
    let parts = Parts::new(labels.clone(), count).unwrap();
    let rs: Vec<Vec<f64>> = (0..9).map(|q| residual(rows, 40 + q)).collect();
    let rs: Vec<&[f64]> = rs.iter().map(Vec::as_slice).collect();
    let check = |a: &(dyn ByParts + Sync), m: &Matrix| {
        let of = |threads| in_pool(threads, || a.by_parts(&parts, &rs));
        let found = of(2);
        assert_eq!(found, of(1));
        assert_eq!(found[..1], a.by_parts(&parts, &rs[..1]), "the other residuals show");
        for (r, found) in rs.iter().zip(&found) {
            for (p, g) in found.iter().enumerate() {
                for (j, g) in g.iter().enumerate() {
                    let expected: f64 = parts.rows(p).iter().map(|&i| m.at(i, j) * r[i]).sum();
                    assert!((g - expected).abs() < 1e-10, "{p}, {j}: {g} instead of {expected}");
                }
            }
        }
    };
    check(&dense(&m), &m);
    check(&Dense::row_major(row_major(&m), rows, columns).unwrap(), &m);
    check(&Dense::column_major(narrow(m.data()), rows, columns).unwrap(), &rounded(&m));
    check(&csc(&m), &m);
}

trait ByParts {
    fn by_parts(&self, parts: &Parts, rs: &[&[f64]]) -> Vec<Vec<Vec<f64>>>;
}

impl<A: Design> ByParts for A {
    fn by_parts(&self, parts: &Parts, rs: &[&[f64]]) -> Vec<Vec<Vec<f64>>> {
        let mut out = vec![Vec::new(); rs.len()];
        self.adjoint_parts(parts, rs, &mut out);
        out
    }
}

#[test]
fn parts_say_what_they_are_and_refuse_bad_labels() {
    let parts = Parts::new(vec![2, 0, 1, 0, 2], 3).unwrap();
    assert_eq!((parts.count(), parts.labels()), (3, &[2, 0, 1, 0, 2][..]));
    assert_eq!([parts.rows(0), parts.rows(1), parts.rows(2)], [&[1, 3][..], &[2], &[0, 4]]);
    assert_eq!(Parts::whole(3), Parts::new(vec![0; 3], 1).unwrap());
    let refused = |labels: &[usize], count, expected| {
        assert_eq!(Parts::new(labels.to_vec(), count).unwrap_err(), expected);
    };
    refused(&[], 1, Error::Empty { what: "the list of part labels" });
    let range = |value| Error::OutOfRange { what: "the number of parts", value, min: 1, max: 2 };
    refused(&[0, 0], 0, range(0));
    refused(&[0, 1], 3, range(3));
    refused(&[0, 2], 2, Error::Index { what: "part label", position: 1, index: 2, bound: 2 });
    let right = "every part needs at least one row";
    let what = "list of the parts' numbers of rows";
    refused(&[2, 0, 2], 3, Error::Value { what, index: 1, value: 0.0, right });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Entries in any order, some of them repeated, which add up.
    #[test]
    fn repeated_sparse_entries_add_up(
        (rows, columns) in (1..12_usize, 1..12_usize),
        places in vec((0..100_usize, 0..100_usize, -10.0..10.0), 0..40),
    ) {
        let places: Vec<_> = places.into_iter().map(|(i, j, v)| (i % rows, j % columns, v)).collect();
        let mut m = Matrix::zeros(rows, columns);
        places.iter().for_each(|&(i, j, v)| m.column_mut(j)[i] += v);
        let by = |lines: usize, line: &dyn Fn(&(usize, usize, f64)) -> usize| {
            let mut sorted = places.clone();
            sorted.sort_by_key(|e| line(e));
            let starts: Vec<usize> = (0..=lines).map(|l| sorted.partition_point(|e| line(e) < l)).collect();
            (starts, sorted)
        };
        let (starts, sorted) = by(columns, &|e| e.1);
        let (indices, values): (Vec<usize>, Vec<f64>) = sorted.iter().map(|e| (e.0, e.2)).unzip();
        let from_columns = Csc::new(rows, columns, starts, indices, values).unwrap();
        let (starts, sorted) = by(rows, &|e| e.0);
        let (indices, values): (Vec<usize>, Vec<f64>) = sorted.iter().map(|e| (e.1, e.2)).unzip();
        let from_rows = Csc::from_rows(rows, columns, &starts, &indices, &values).unwrap();
        let weights: Vec<f64> = (0..rows).map(|i| 1.0 + (i % 3) as f64).collect();
        for a in [from_columns, from_rows] {
            holds(&a, &m);
            moments_are_naive(&a, &m, &weights);
        }
    }

    #[test]
    fn any_observed_places_keep_the_contract(
        shape in (1..12_usize, 1..12_usize),
        places in vec((0..100_usize, 0..100_usize), 1..30),
    ) {
        let places: Vec<_> = places.into_iter().map(|(i, j)| (i % shape.0, j % shape.1)).collect();
        holds(&entries(shape, &places).unwrap(), &selection(shape, &places));
    }

    #[test]
    fn any_dct_rows_keep_the_contract(n in 1..40_usize, rows in vec(0..100_usize, 1..12)) {
        let rows: Vec<usize> = rows.into_iter().map(|i| i % n).collect();
        holds(&subsampled_dct(n, rows.clone()).unwrap(), &cosines(n, &rows));
    }
}
