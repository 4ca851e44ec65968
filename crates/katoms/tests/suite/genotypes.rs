//! Genotypes of 2 bits, beside the same numbers in double precision: products to the last bit, squares up to rounding.

use crate::contract::{adjoint, apply, holds, in_pool, moments_are_naive, near, random_matrix, residual};
use katoms::linalg::Matrix;
use katoms::loss::LeastSquares;
use katoms::operator::{
    AnyDesign, Beside, ColumnMoments, Dense, FirstRead, GenotypeCounts, Genotypes, LinearOperator, Parts,
};
use katoms::select::Preparation;
use katoms::set::KSparse;
use katoms::simulate::{self, sparse_signal};
use katoms::space::{IndexSet, SparseVec};
use katoms::{Error, fit};

const SHAPES: [(usize, usize); 8] = [(1, 1), (1, 7), (6, 1), (9, 5), (32, 8), (33, 41), (71, 300), (5, 600)];

/// Bytes of codes, and the matrix of what they stand for, missing ones as the mean of their column. Every third column has
/// none; the bits behind the last individual are anything.
fn genotypes(rows: usize, columns: usize, seed: u64) -> (Vec<u8>, Matrix) {
    let noise = random_matrix(rows.div_ceil(4) * 4, columns, seed);
    let code = |i: usize, j: usize| match noise.at(i, j) {
        v if v < -0.6 => 0_u8,
        v if v < 0.6 => 2,
        v if v < 1.5 || j.is_multiple_of(3) => 3,
        _ => 1,
    };
    let byte =
        |at: usize| (0..4).map(|l| code(4 * (at % rows.div_ceil(4)) + l, at / rows.div_ceil(4)) << (2 * l)).sum();
    let codes = (0..rows.div_ceil(4) * columns).map(byte).collect();
    let copies = |i: usize, j: usize| [2.0, f64::NAN, 1.0, 0.0][usize::from(code(i, j))];
    let mean = |j: usize| {
        let known: Vec<f64> = (0..rows).map(|i| copies(i, j)).filter(|v| !v.is_nan()).collect();
        known.iter().sum::<f64>() / known.len().max(1) as f64
    };
    let means: Vec<f64> = (0..columns).map(mean).collect();
    let matrix = Matrix::from_fn(rows, columns, |i, j| Some(copies(i, j)).filter(|v| !v.is_nan()).unwrap_or(means[j]));
    (codes, matrix)
}

/// In the last shape a product takes several pieces of a column.
#[test]
fn genotypes_keep_the_contract() {
    for (rows, columns) in SHAPES.into_iter().chain([(5003, 9)]) {
        let (codes, m) = genotypes(rows, columns, 1);
        holds(&Genotypes::new(&codes, rows, columns).unwrap(), &m);
        holds(&AnyDesign::from(Genotypes::new(codes.clone(), rows, columns).unwrap()), &m);
        moments_are_naive(&Genotypes::new(&codes, rows, columns).unwrap(), &m, &vec![0.5; rows]);
    }
}

#[test]
fn they_have_the_bits_of_the_same_numbers() {
    for (rows, columns) in SHAPES.into_iter().chain([(2049, 130)]) {
        let (codes, m) = genotypes(rows, columns, 3);
        let packed = Genotypes::new(&codes, rows, columns).unwrap();
        let wide = Dense::column_major(m.data(), rows, columns).unwrap();
        let (x, r) = (sparse_signal(columns, 1 + columns / 3, 1), residual(rows, 2));
        let some = IndexSet::new(columns, x.indices().to_vec());
        assert_eq!(apply(&packed, &x), apply(&wide, &x));
        assert_eq!(adjoint(&packed, &r), adjoint(&wide, &r));
        assert_eq!(packed.adjoint_on(&r, &some), wide.adjoint_on(&r, &some));
        let weights: Vec<f64> = r.iter().map(|w| w.abs()).collect();
        squares_are_the_same(&packed, &wide, &weights);
        let rs = [&r[..], &weights, &r];
        assert_eq!(packed.adjoint_block_on(&rs, &some), wide.adjoint_block_on(&rs, &some));
        let Ok(parts) = Parts::new((0..rows).map(|i| i * i % 3 % 2).collect(), 2) else { continue };
        let (mut found, mut expected) = (vec![Vec::new(); 3], vec![Vec::new(); 3]);
        packed.adjoint_parts(&parts, &rs, &mut found);
        wide.adjoint_parts(&parts, &rs, &mut expected);
        assert_eq!(found, expected);
    }
}

/// Moments and squared norms: up to rounding, and to the last bit where all sums are of small whole numbers.
fn squares_are_the_same(packed: &Genotypes<'_>, wide: &Dense<'_, f64>, weights: &[f64]) {
    let equal = vec![1.0; weights.len()];
    for weights in [weights, &equal] {
        let (found, expected) = (packed.moments(weights), wide.moments(weights));
        near(&found.means, &expected.means, 10.0);
        near(&found.variances, &expected.variances, 10.0);
        let squared_norms =
            [packed.squared_norms(&[weights], None).unwrap(), wide.squared_norms(&[weights], None).unwrap()];
        near(&squared_norms[0][0], &squared_norms[1][0], 10.0 * weights.len() as f64);
    }
    let (found, expected) = (packed.moments(&equal), wide.moments(&equal));
    // the others have missing genotypes
    for j in (0..found.means.len()).step_by(3) {
        assert_eq!((found.means[j], found.variances[j]), (expected.means[j], expected.variances[j]), "column {j}");
    }
}

#[test]
fn the_first_read_answers_as_reads_of_their_own_do() {
    let (rows, columns) = (83, 147);
    let (codes, m) = genotypes(rows, columns, 4);
    let weights: Vec<f64> = (0..rows).map(|i| (i % 3) as f64).collect();
    let loss = LeastSquares::new(residual(rows, 5)).unwrap().weighted(weights.clone()).unwrap();
    let plain = Genotypes::new(&codes, rows, columns).unwrap();
    let known = plain.clone().read_for(&FirstRead::of(&loss, false)).unwrap();
    assert_eq!(known.moments(&weights), plain.moments(&weights));
    assert!(known.knows_squared_norms(&weights) && !known.knows_squared_norms(&vec![1.0; rows]));
    let at_zero: Vec<f64> = residual(rows, 5).iter().zip(&weights).map(|(y, w)| -w * y).collect();
    assert_eq!(adjoint(&known, &at_zero), adjoint(&plain, &at_zero));
    let wide = Dense::column_major(m.data(), rows, columns).unwrap();
    assert_eq!(adjoint(&known, &at_zero), adjoint(&wide, &at_zero));
    let error = plain.read_for(&FirstRead::of(&LeastSquares::new(vec![1.0; 84]).unwrap(), true)).unwrap_err();
    assert!(error.to_string().contains("one value for each row"), "{error}");
}

/// A design of variants as bytes and as codes of 2 bits: the same model, found in as many passes, on any number of threads.
#[test]
fn a_fit_is_that_of_bytes() {
    for (rows, columns) in [(200, 900), (1000, 8400)] {
        let (codes, m) = genotypes(rows, columns, 5);
        let bytes: Vec<i8> = m.data().iter().map(|v| v.round() as i8).collect();
        // Without missing ones: bytes have no means.
        let codes: Vec<u8> = codes.iter().map(|byte| byte | (byte & !(byte >> 1) & 0x55) << 1).collect();
        let zero = |at: usize| codes[at / rows * rows.div_ceil(4) + at % rows / 4] >> (2 * (at % rows % 4)) & 3 == 3;
        let bytes: Vec<i8> = bytes.iter().enumerate().map(|(at, &v)| if zero(at) { 0 } else { v }).collect();
        let packed = Genotypes::new(&codes, rows, columns).unwrap();
        let plain = Dense::column_major(&bytes, rows, columns).unwrap();
        assert_eq!(packed.sampled_rows(), plain.sampled_rows());
        assert_eq!(packed.sampled_rows().is_some(), rows == 1000);
        let truth = sparse_signal(columns, 12, 6);
        let loss = LeastSquares::new(simulate::noisy(&apply(&plain, &truth), 0.5, 7)).unwrap();
        let preparation = Preparation::default();
        let set = preparation.set(&KSparse::new(12, columns).unwrap(), &loss).unwrap();
        let all: Vec<usize> = (0..rows).collect();
        let expected = fit(&preparation.objective(&plain, &loss, all.clone()).unwrap(), &set).unwrap();
        let of = |threads| {
            in_pool(threads, || fit(&preparation.objective(&packed, &loss, all.clone()).unwrap(), &set).unwrap())
        };
        let found = of(3);
        assert_eq!((&found.point, found.objective.to_bits()), (&expected.point, expected.objective.to_bits()));
        assert_eq!((found.passes, found.reads), (expected.passes, expected.reads));
        assert_eq!(of(1).point, found.point);
    }
}

#[test]
fn a_partial_pass_is_the_pass_over_its_rows() {
    let (rows, columns) = (1003, 8400);
    let (codes, m) = genotypes(rows, columns, 8);
    let packed = Genotypes::new(&codes, rows, columns).unwrap();
    let sampled = packed.sampled_rows().unwrap();
    let r: Vec<f64> =
        residual(rows, 9).iter().enumerate().map(|(i, r)| if sampled.contains(i) { *r } else { 0.0 }).collect();
    let mut found = Vec::new();
    packed.adjoint_sampled(&r, &mut found);
    let wide = Dense::column_major(m.data(), rows, columns).unwrap();
    near(&found, &adjoint(&wide, &r), 1e3);
}

#[test]
fn variants_without_genotypes_or_without_a_second_allele_are_constant() {
    // all missing; all without a copy; all with two, but for one missing
    let design = Genotypes::new(vec![0b01_01_01_01, 0b01, 0xff, 0b11, 0b00_01_00_00, 0], 5, 3).unwrap();
    let moments = design.moments(&[1.0; 5]);
    assert_eq!((moments.means, moments.variances), (vec![0.0, 0.0, 2.0], vec![0.0; 3]));
    let counts = GenotypeCounts::of(&[0b00_01_00_00, 0b10], 5);
    assert_eq!(counts, GenotypeCounts { copies: [0, 1, 3], missing: 1 });
    assert_eq!((counts.mean(), counts.is_constant()), (1.75, false));
    assert!(GenotypeCounts::of(&[0b01_01_01_01], 3).is_constant());
}

#[test]
fn other_numbers_may_stand_for_missing_ones() {
    let design = Genotypes::with_missing(vec![0b01_11_10_00, 0b00_00_01_00], 4, 2, &[0.25, 1.5]).unwrap();
    assert_eq!(adjoint(&design, &[1.0, 10.0, 100.0, 1000.0]), [262.0, 2217.0]);
    let refused = |missing: &[f64]| Genotypes::with_missing(vec![0; 2], 4, 2, missing).unwrap_err().to_string();
    assert!(refused(&[1.0]).contains("one for each column"), "{}", refused(&[1.0]));
    for wrong in [f64::NAN, -0.5, 2.5] {
        assert!(refused(&[1.0, wrong]).contains("between 0 and 2"), "{}", refused(&[1.0, wrong]));
    }
}

#[test]
fn a_wrong_number_of_bytes_is_refused() {
    assert_eq!(Genotypes::new(vec![], 0, 3).unwrap_err(), Error::Empty { what: "the design matrix" });
    let error = Genotypes::new(vec![0; 5], 5, 3).unwrap_err().to_string();
    assert_eq!(error, "list of packed genotypes has length 5, but 6 is needed (a byte for four rows of each column)");
}

/// A column beside genotypes whose squares overflow is named, and a copy in which it is small has the same numbers.
#[test]
fn a_large_covariate_is_found_and_scaled() {
    let (codes, m) = genotypes(9, 5, 10);
    let large: Vec<f64> = residual(9, 11).iter().map(|v| v * 2.0_f64.powi(600)).collect();
    let covariates = Dense::column_major(large.clone(), 9, 1).unwrap();
    let design =
        AnyDesign::from(Beside::new(AnyDesign::from(Genotypes::new(codes, 9, 5).unwrap()), covariates).unwrap());
    assert_eq!(design.extremes().iter().map(|extreme| extreme.column).collect::<Vec<_>>(), [5]);
    let sizes = design.sizes().unwrap();
    assert_eq!(sizes[5], large.iter().fold(0.0_f64, |most, v| most.max(v.abs())));
    assert!(sizes[..5].iter().all(|&size| size <= 2.0));
    let first = FirstRead::of(&LeastSquares::new(residual(9, 12)).unwrap(), true);
    let scaled = design.scaled(&[0, 0, 0, 0, 0, -600], &first).unwrap();
    assert!(scaled.extremes().is_empty());
    for j in 0..6 {
        let mut column = vec![0.0; 9];
        scaled.apply(&SparseVec::new(6, vec![j], vec![1.0]).unwrap(), &mut column);
        let expected = |i: usize| if j < 5 { m.at(i, j) } else { large[i] * 2.0_f64.powi(-600) };
        assert_eq!(column, (0..9).map(expected).collect::<Vec<_>>());
    }
}
