//! Designs that cannot be: each is refused with the place and the value.

use std::fmt::Debug;

use katoms::Error;
use katoms::operator::{Csc, Dense, Entries, MatrixFree, MatrixMap, subsampled_dct};

#[track_caller]
fn refused<T: Debug>(result: Result<T, Error>, expected: Error) {
    assert_eq!(result.unwrap_err(), expected);
}

/// The same for a value that may be NaN, which equals nothing.
#[track_caller]
fn not_finite<T: Debug>(result: Result<T, Error>, place: (usize, usize), expected: f64) {
    match result.unwrap_err() {
        Error::NotFinite { what: "design matrix", row, column, value } => {
            assert_eq!((row, column), place);
            assert_eq!(value.is_nan(), expected.is_nan());
            assert!(value.is_nan() || value == expected);
        }
        other => panic!("{other:?}"),
    }
}

const BAD: [f64; 3] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
const EMPTY: Error = Error::Empty { what: "the design matrix" };

fn length(what: &'static str, found: usize, expected: usize, why: &'static str) -> Error {
    Error::Length { what, found, expected, why }
}

fn index(what: &'static str, position: usize, index: usize, bound: usize) -> Error {
    Error::Index { what, position, index, bound }
}

fn none(what: &'static str, max: usize) -> Error {
    Error::OutOfRange { what, value: 0, min: 1, max }
}

#[test]
fn a_dense_value_that_is_not_finite_is_located() {
    for bad in BAD {
        for at in 0..12 {
            let mut data = vec![1.0; 12];
            data[at] = bad;
            not_finite(Dense::column_major(&data, 4, 3), (at % 4, at / 4), bad);
            not_finite(Dense::row_major(&data, 4, 3), (at / 3, at % 3), bad);
            let data: Vec<f32> = data.iter().map(|&v| v as f32).collect();
            not_finite(Dense::column_major(&data, 4, 3), (at % 4, at / 4), bad);
            not_finite(Dense::row_major(&data, 4, 3), (at / 3, at % 3), bad);
        }
    }
}

#[test]
fn a_dense_design_needs_its_entries() {
    let data = [1.0; 6];
    let why = "rows times columns";
    refused(Dense::column_major(&data, 2, 4), length("design matrix", 6, 8, why));
    refused(Dense::row_major(&data, 5, 1), length("design matrix", 6, 5, why));
    refused(Dense::row_major(&data, usize::MAX, 2), length("design matrix", 6, usize::MAX, why));
    refused(Dense::<f64>::column_major(vec![], 0, 3), EMPTY);
    refused(Dense::<f32>::row_major(vec![], 3, 0), EMPTY);
}

/// [[1, 0, 4], [0, 0, 5], [2, 0, 6], [3, 0, 0]]: the second column is empty.
const STARTS: [usize; 4] = [0, 3, 3, 6];
const INDICES: [u32; 6] = [0, 2, 3, 0, 1, 2];
const VALUES: [f64; 6] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];

fn columns<const S: usize>(starts: [i64; S]) -> Result<Csc<'static, f64, u32, i64>, Error> {
    Csc::new(4, 3, starts.to_vec(), INDICES.to_vec(), VALUES.to_vec())
}

fn rows<const S: usize>(starts: [i64; S]) -> Result<Csc<'static, f64, u32>, Error> {
    Csc::from_rows(3, 4, &starts, &INDICES, &VALUES)
}

#[test]
fn a_sparse_value_that_is_not_finite_is_located() {
    let lines = [0, 0, 0, 2, 2, 2];
    for bad in BAD {
        for at in 0..6 {
            let mut values = VALUES;
            values[at] = bad;
            let across = INDICES[at] as usize;
            not_finite(Csc::new(4, 3, &STARTS[..], &INDICES[..], &values[..]), (across, lines[at]), bad);
            not_finite(Csc::from_rows(3, 4, &STARTS, &INDICES, &values), (lines[at], across), bad);
        }
    }
}

#[test]
fn compressed_arrays_must_agree() {
    let why = "one for each line, and the end";
    refused(columns([0, 3, 6]), length("starts", 3, 4, why));
    refused(rows([0, 3, 3, 6, 6]), length("starts", 5, 4, why));
    let too_few = &INDICES[..5];
    refused(Csc::new(4, 3, &STARTS[..], too_few, &VALUES[..]), length("indices", 5, 6, "one for each value"));
    refused(Csc::from_rows(3, 4, &STARTS, too_few, &VALUES), length("indices", 5, 6, "one for each value"));
    let last = |value| Error::OutOfRange { what: "the last start", value, min: 6, max: 6 };
    refused(columns([0, 3, 3, 5]), last(5));
    refused(rows([0, 3, 3, 7]), last(7));
    let huge = length("starts", 4, usize::MAX, why);
    refused(Csc::new(4, usize::MAX, &STARTS[..], &INDICES[..], &VALUES[..]), huge);
}

#[test]
fn starts_begin_at_zero_and_do_not_fall() {
    let malformed = |what, position, right| Error::Compressed { what, position, right };
    for first in [1, -1] {
        refused(columns([first, 3, 3, 6]), malformed("columns", 0, "the first start must be 0"));
        refused(rows([first, 3, 3, 6]), malformed("rows", 0, "the first start must be 0"));
    }
    refused(columns([0, 3, 2, 6]), malformed("columns", 2, "starts must not fall"));
    refused(rows([0, 7, 7, 6]), malformed("rows", 3, "starts must not fall"));
    // A negative start is beyond every other.
    refused(columns([0, -1, 3, 6]), malformed("columns", 2, "starts must not fall"));
}

#[test]
fn sparse_indices_point_inside() {
    refused(Csc::new(3, 3, &STARTS[..], &INDICES[..], &VALUES[..]), index("row index", 2, 3, 3));
    refused(Csc::from_rows(3, 3, &STARTS, &INDICES, &VALUES), index("column index", 2, 3, 3));
    let negative = [0_i32, 2, 3, 0, -1, 2];
    refused(Csc::new(4, 3, &STARTS[..], &negative[..], &VALUES[..]), index("row index", 4, usize::MAX, 4));
    refused(Csc::from_rows(3, 4, &STARTS, &negative, &VALUES), index("column index", 4, usize::MAX, 4));
    let negative = negative.map(i64::from);
    refused(Csc::new(4, 3, &STARTS[..], &negative[..], &VALUES[..]), index("row index", 4, usize::MAX, 4));
}

#[test]
fn a_sparse_design_is_not_empty() {
    refused(Csc::<f64, u32>::new(0, 1, vec![0, 0], vec![], vec![]), EMPTY);
    refused(Csc::<f64, u32>::new(1, 0, vec![0], vec![], vec![]), EMPTY);
    refused(Csc::<f64, u32>::from_rows::<usize>(0, 1, &[0], &[], &[]), EMPTY);
    refused(Csc::<f64, u32>::from_rows(1, 0, &[0, 0], &[], &[]), EMPTY);
    // Without stored entries it is zero, which is a design.
    assert_eq!(Csc::<f64, u32>::new(2, 1, vec![0, 0], vec![], vec![]).unwrap().stored(), 0);
}

#[test]
fn matrix_free_operators_have_a_shape() {
    let make = |shape| MatrixFree::new(shape, |_, _| (), |_, _| ());
    refused(make((0, 2)), none("the number of outputs", usize::MAX));
    refused(make((2, 0)), none("the number of inputs", usize::MAX));
}

#[test]
fn dct_rows_are_below_its_length() {
    refused(subsampled_dct(0, vec![0]), none("the length of the transform", usize::MAX));
    refused(subsampled_dct(4, vec![]), none("the number of DCT rows", usize::MAX));
    refused(subsampled_dct(4, vec![0, 3, 9, 4]), index("DCT row", 2, 9, 4));
}

#[test]
fn observed_entries_lie_inside() {
    let most = u32::MAX as usize;
    refused(Entries::new((0, 3), &[0], &[0]), none("the number of rows", most));
    refused(Entries::new((3, 0), &[0], &[0]), none("the number of columns", most));
    refused(Entries::new((3, 4), &[], &[]), none("the number of observed entries", most));
    let rows = Error::OutOfRange { what: "the number of rows", value: most + 1, min: 1, max: most };
    refused(Entries::new((most + 1, 4), &[0], &[0]), rows);
    refused(Entries::new((3, 4), &[0, 1], &[0]), length("columns", 1, 2, "one for each observed entry, as rows"));
    refused(Entries::new((3, 4), &[2, 3], &[3, 0]), index("row index", 1, 3, 3));
    refused(Entries::new((3, 4), &[2, 2, 0], &[3, 0, 4]), index("column index", 2, 4, 4));
}

#[test]
fn a_matrix_map_has_a_column_for_each_entry() {
    let a = Dense::column_major(vec![1.0; 12], 2, 6).unwrap();
    let why = "one column for each matrix entry";
    refused(MatrixMap::new(&a, (2, 4)), length("operator", 6, 8, why));
    refused(MatrixMap::new(&a, (0, 6)), length("operator", 6, 0, why));
    refused(MatrixMap::new(&a, (usize::MAX, 2)), length("operator", 6, usize::MAX, why));
    assert!(MatrixMap::new(&a, (6, 1)).is_ok());
}
