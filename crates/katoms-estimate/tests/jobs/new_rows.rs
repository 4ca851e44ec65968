//! Rows that come after the fit.

use katoms::Stop;
use katoms::linalg::{dot, norm};
use katoms_estimate::{Centring, Clip, CompletedMatrix, Completion, Observed, RowModel, Unwatched, complete};

use crate::completion::{Whole, completed};

fn row_of(seen: &Observed, row: usize) -> (Vec<usize>, Vec<f64>) {
    let here = (0..seen.values().len()).filter(|&e| seen.rows()[e] == row);
    here.map(|e| (seen.columns()[e], seen.values()[e])).unzip()
}

fn farthest(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn a_row_of_the_fit_gives_what_it_has_there() {
    let stop = Stop { tolerance: 1e-10, ..Stop::default() };
    for (centring, ridge) in [(Centring::Effects, 0.3), (Centring::Mean, 0.1), (Centring::None, 0.0)] {
        let seen = Whole::stars((40, 30), 31).seen(0.5, 31);
        let how = Completion { centring, ridges: vec![ridge], stop, settled: 0.0, ..Completion::new([2]) };
        let matrix = completed(&seen, &how).matrix;
        assert_eq!(matrix.row_model, RowModel::Ridge(ridge));
        for row in 0..40 {
            let (columns, values) = row_of(&seen, row);
            let off = farthest(&matrix.complete_row(&columns, &values).unwrap(), &matrix.row(row).unwrap());
            assert!(off < 1e-5, "{centring:?}, row {row}: {off}");
        }
    }
}

#[test]
fn rows_of_the_same_matrix_are_found() {
    let whole = Whole::low_rank((60, 20), 3, 32);
    let first: Vec<usize> = (0..40 * 20).filter(|e| e % 3 != 0).collect();
    let (rows, columns): (Vec<usize>, Vec<usize>) = first.iter().map(|e| (e / 20, e % 20)).unzip();
    let values: Vec<f64> = first.iter().map(|&e| whole.values[e]).collect();
    let seen = Observed::new((40, 20), &rows, &columns, &values).unwrap();
    let stop = Stop { tolerance: 1e-9, ..Stop::default() };
    let matrix = completed(&seen, &Completion { stop, settled: 0.0, ..Completion::exact(3) }).matrix;
    for row in 40..60 {
        let known: Vec<usize> = (row % 4..20).step_by(4).collect();
        let values: Vec<f64> = known.iter().map(|&j| whole.at(row, j)).collect();
        let off = farthest(&matrix.complete_row(&known, &values).unwrap(), &whole.values[row * 20..][..20]);
        assert!(off < 1e-5, "row {row}: {off}");
    }
}

fn matrix_under(ridge: f64) -> CompletedMatrix {
    let seen = Whole::low_rank((30, 12), 4, 33).seen(0.9, 33);
    let how = Completion { clip: Clip::Off, ..Completion::exact(4) };
    let mut matrix = completed(&seen, &how).matrix;
    matrix.row_model = RowModel::Ridge(ridge);
    matrix
}

/// Fewer values than the rank: many rows explain them, and the smallest is the limit of a falling ridge.
#[test]
fn few_values_give_the_smallest_row() {
    let (columns, values) = ([3, 7], [1.0, -2.0]);
    let row = matrix_under(0.0).complete_row(&columns, &values).unwrap();
    assert!((row[3] - 1.0).abs() < 1e-9 && (row[7] + 2.0).abs() < 1e-9);
    let limit = matrix_under(1e-10).complete_row(&columns, &values).unwrap();
    assert!(farthest(&row, &limit) < 1e-6 * norm(&row));
    let shrunk = matrix_under(1.0).complete_row(&columns, &values).unwrap();
    assert!(norm(&shrunk) < 0.9 * norm(&row));
}

/// The gradient of ½‖left − V·w‖² + ½λ‖w‖² is zero, for few and for many values.
#[test]
fn a_row_is_stationary() {
    let matrix = matrix_under(0.2);
    for count in [1, 3, 4, 9, 12] {
        let columns: Vec<usize> = (0..count).collect();
        let values: Vec<f64> = columns.iter().map(|&j| (j as f64).sin() + 0.5).collect();
        let row = matrix.complete_row(&columns, &values).unwrap();
        for a in 0..4 {
            let right: Vec<f64> = (0..12).map(|j| matrix.right.at(j, a)).collect();
            let left: Vec<f64> = columns.iter().map(|&j| values[j] - row[j]).collect();
            // the right factors are orthonormal: w = rowᵀ·right
            let slope = dot(&right[..count], &left) - 0.2 * dot(&row, &right);
            assert!(slope.abs() < 1e-10, "{count} values: {slope}");
        }
    }
}

#[test]
fn a_row_without_values_has_what_an_empty_row_has() {
    let places: Vec<usize> = (0..20).filter(|e| e / 5 != 2).collect();
    let (rows, columns): (Vec<usize>, Vec<usize>) = places.iter().map(|e| (e / 5, e % 5)).unzip();
    let values: Vec<f64> = places.iter().map(|e| (e / 5 + 1) as f64 * (e % 5 + 1) as f64).collect();
    let seen = Observed::new((4, 6), &rows, &columns, &values).unwrap();
    let ratings = Completion { ridges: vec![0.1], ..Completion::ratings([1]) };
    for how in [Completion::exact(1), ratings] {
        let matrix = completed(&seen, &how).matrix;
        assert_eq!(matrix.complete_row(&[], &[]).unwrap(), matrix.row(2).unwrap());
        let last = matrix.complete_row(&[0, 1], &[1.0, 2.0]).unwrap()[5];
        assert!(how.centring == Centring::Effects || last == matrix.row(0).unwrap()[5], "nobody saw column 5");
    }
}

#[test]
fn repeated_columns_count_once_and_bad_ones_are_named() {
    let matrix = matrix_under(0.1);
    let once = matrix.complete_row(&[2, 5], &[1.0, 3.0]).unwrap();
    assert_eq!(matrix.complete_row(&[5, 2, 5], &[2.0, 1.0, 4.0]).unwrap(), once);
    let told = |columns: &[usize], values: &[f64]| matrix.complete_row(columns, values).unwrap_err().to_string();
    assert!(told(&[12], &[1.0]).contains("the column index at position 0 is 12, but there are only 12"));
    assert!(told(&[1, 2], &[1.0]).contains("has length 2, but 1 is needed"));
    assert!(told(&[1], &[f64::NAN]).contains("holds NaN at position 0"));
}

#[test]
fn where_nothing_can_be_held_out_the_simplest_is_left() {
    let row = Observed::new((1, 4), &[0; 3], &[0, 1, 3], &[1.0, 2.0, 4.0]).unwrap();
    let how = Completion::new(Completion::ranks_for(&row));
    assert!(complete(&row, &how, None, &mut Unwatched).is_err());
    let found = completed(&row, &how.simplest());
    assert_eq!((found.rank, found.ridge, found.centring), (1, 1.0, Centring::Effects));
    assert!(found.trials.is_empty());
}
