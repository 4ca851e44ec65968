//! Tables whose columns are features, each in a unit of its own.

use katoms::linalg::Matrix;
use katoms::simulate::{generator, normals, observed_places};
use katoms::{Error, Status};
use katoms_estimate::{
    Answer, Bounds, Centring, Clip, Completed, Completion, Observed, Progress, RowModel, RowPrior, Unwatched, complete,
};

use crate::Interrupt;
use crate::completion::{Whole, completed};

fn units(rows: usize, columns: usize, seed: u64) -> Whole {
    let plain = Whole::low_rank((rows, columns), 2, seed).noisy(0.4, seed);
    let unit = |j: usize| 10_f64.powi(j as i32 - 2);
    let values = plain.values.iter().enumerate().map(|(at, v)| unit(at % columns) * (v + 20.0)).collect();
    Whole { shape: (rows, columns), values }
}

fn noise(rows: usize, columns: usize, seed: u64) -> Whole {
    Whole { shape: (rows, columns), values: normals(rows * columns, &mut generator(seed, 30)) }
}

fn of_columns(whole: &Whole) -> Vec<(f64, f64)> {
    let (n, q) = whole.shape;
    let moments = |j: usize| {
        let mean = (0..n).map(|i| whole.at(i, j)).sum::<f64>() / n as f64;
        (mean, ((0..n).map(|i| (whole.at(i, j) - mean).powi(2)).sum::<f64>() / n as f64).sqrt())
    };
    (0..q).map(moments).collect()
}

/// The root of the mean squared error on what was not seen, in standard deviations of the columns.
fn hidden_error(whole: &Whole, seen: &Observed, predicted: &[f64]) -> f64 {
    let (moments, q) = (of_columns(whole), whole.shape.1);
    let known: std::collections::HashSet<(usize, usize)> =
        seen.rows().iter().zip(seen.columns()).map(|(&i, &j)| (i, j)).collect();
    let places = (0..predicted.len()).filter(|at| !known.contains(&(at / q, at % q)));
    let squares: Vec<f64> = places.map(|at| ((predicted[at] - whole.values[at]) / moments[at % q].1).powi(2)).collect();
    (squares.iter().sum::<f64>() / squares.len() as f64).sqrt()
}

fn filled(seen: &Observed) -> Completed {
    completed(seen, &Completion::features(Completion::feature_ranks(seen.shape())))
}

#[test]
fn columns_of_any_unit_are_met_and_no_cell_leaves_the_range_of_its_column() {
    for seed in 0..3 {
        let whole = units(80, 8, seed);
        let seen = whole.seen(0.75, seed);
        let found = filled(&seen);
        let dense = found.matrix.to_dense().unwrap();
        let error = hidden_error(&whole, &seen, &dense);
        assert!(error < 0.7, "{error}");
        // what was held out foretells what was hidden
        assert!((found.held_out_rmse.unwrap() - error).abs() < 0.2, "{error} {:?}", found.held_out_rmse);
        assert_eq!((found.centring, found.status), (Centring::Columns, Status::Converged));
        let Bounds::Columns(bounds) = &found.matrix.bounds else { panic!("{:?}", found.matrix.bounds) };
        for (at, value) in dense.iter().enumerate() {
            let values = seen.columns().iter().zip(seen.values()).filter(|(j, _)| **j == at % 8).map(|(_, v)| *v);
            let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
            assert_eq!(bounds[at % 8], (low, high));
            assert!((low..=high).contains(value), "{value} of column {} outside {low} to {high}", at % 8);
        }
    }
}

#[test]
fn units_change_nothing() {
    let whole = units(60, 6, 4);
    let other = Whole {
        shape: whole.shape,
        values: whole.values.iter().enumerate().map(|(at, v)| 1000.0 - 4.0 * v * (at % 6 + 1) as f64).collect(),
    };
    let (one, two) = (filled(&whole.seen(0.7, 4)), filled(&other.seen(0.7, 4)));
    assert_eq!((one.rank, one.row_prior), (two.rank, two.row_prior));
    let (dense, turned) = (one.matrix.to_dense().unwrap(), two.matrix.to_dense().unwrap());
    let spreads = of_columns(&other);
    for (at, (a, b)) in dense.iter().zip(&turned).enumerate() {
        let expected = 1000.0 - 4.0 * a * (at % 6 + 1) as f64;
        assert!((expected - b).abs() < 1e-6 * spreads[at % 6].1, "{expected} {b}");
    }
}

#[test]
fn noise_is_filled_with_means() {
    for seed in 0..3 {
        let whole = noise(150, 8, seed);
        let seen = whole.seen(0.8, seed);
        let found = filled(&seen);
        let (_, q) = whole.shape;
        let mean = |j: usize| {
            let of: Vec<f64> =
                seen.columns().iter().zip(seen.values()).filter(|(c, _)| **c == j).map(|(_, v)| *v).collect();
            of.iter().sum::<f64>() / of.len() as f64
        };
        let means: Vec<f64> = (0..whole.values.len()).map(|at| mean(at % q)).collect();
        let by_means = hidden_error(&whole, &seen, &means);
        let error = hidden_error(&whole, &seen, &found.matrix.to_dense().unwrap());
        assert!(error < 1.02 * by_means, "{error} {by_means}");
        if found.rank == 0 {
            assert!(found.matrix.singular_values.is_empty());
            found.matrix.to_dense().unwrap().iter().zip(&means).for_each(|(a, b)| assert!((a - b).abs() < 1e-9));
        }
    }
}

#[test]
fn an_exact_rank_is_found() {
    let whole = Whole::low_rank((60, 40), 2, 7);
    let seen = whole.seen(0.6, 7);
    // What was not seen of a column may lie outside of what was.
    let how = Completion::features(Completion::feature_ranks(seen.shape()));
    let found = completed(&seen, &Completion { clip: Clip::Off, ..how });
    assert_eq!(found.rank, 2, "{:?}", found.trials);
    let error = hidden_error(&whole, &seen, &found.matrix.to_dense().unwrap());
    assert!(error < 0.02, "{error}");
}

/// Rows in two kinds that lie apart: other rows tell more than the average.
#[test]
fn rows_in_kinds_are_drawn_to_their_kind() {
    let (n, q) = (120, 6);
    let scatter = noise(n, q, 2);
    // a row of the first kind has 0, of the second 4, of the third 4 and −4 by turns
    let centre = |at: usize| match at / q % 3 {
        0 => 0.0,
        2 if (at % q).is_multiple_of(2) => -4.0,
        _ => 4.0,
    };
    let values = scatter.values.iter().enumerate().map(|(at, v)| centre(at) + 0.5 * v).collect();
    let whole = Whole { shape: (n, q), values };
    let seen = whole.seen(0.7, 2);
    let found = filled(&seen);
    assert_eq!(found.row_prior, RowPrior::Rows, "{:?}", found.trials);
    let normal = Completion { row_prior: RowPrior::Normal, ..Completion::features([found.rank]) };
    let normal = completed(&seen, &normal);
    let error = |found: &Completed| hidden_error(&whole, &seen, &found.matrix.to_dense().unwrap());
    assert!(error(&found) < 0.95 * error(&normal), "{} {}", error(&found), error(&normal));
}

/// A row of the table that comes again gets what it has there; one without values gets the columns' means.
#[test]
fn rows_that_come_later() {
    for prior in [RowPrior::Normal, RowPrior::Rows] {
        let whole = units(70, 6, 9);
        let seen = whole.seen(0.7, 9);
        let found = completed(&seen, &Completion { row_prior: prior, ..Completion::features([2]) });
        for row in 0..70 {
            let of: Vec<usize> = (0..seen.rows().len()).filter(|&e| seen.rows()[e] == row).collect();
            let columns: Vec<usize> = of.iter().map(|&e| seen.columns()[e]).collect();
            let values: Vec<f64> = of.iter().map(|&e| seen.values()[e]).collect();
            let again = found.matrix.complete_row(&columns, &values).unwrap();
            for (j, (a, b)) in again.iter().zip(found.matrix.row(row).unwrap()).enumerate() {
                assert!((a - b).abs() < 1e-7 * found.matrix.scales[j], "{prior:?}, row {row}: {a} {b}");
            }
        }
        let empty = found.matrix.complete_row(&[], &[]).unwrap();
        let levels: Vec<f64> = found.matrix.effects.columns.clone();
        assert_eq!(empty, levels);
    }
}

fn gaussian(mut s: Vec<Vec<f64>>, mut r: Vec<f64>) -> (f64, f64) {
    let (n, mut log_det, mut quadratic) = (r.len(), 0.0, 0.0);
    for k in 0..n {
        let pivot = s[k].clone();
        log_det += pivot[k].ln();
        quadratic += r[k] * r[k] / pivot[k];
        for i in k + 1..n {
            let factor = s[i][k] / pivot[k];
            s[i].iter_mut().zip(&pivot).for_each(|(entry, above)| *entry -= factor * above);
            r[i] -= factor * r[k];
        }
    }
    (log_det, quadratic)
}

/// What is minimised is minus the log-likelihood of what was seen, and the noise's prior, computed here from the
/// covariance of every row; and no move raises it.
#[test]
fn the_objective_is_the_likelihood_and_falls() {
    let whole = units(40, 5, 3);
    for share in [0.35, 0.8] {
        let seen = whole.seen(share, 3);
        let found = completed(&seen, &Completion { row_prior: RowPrior::Normal, ..Completion::features([2]) });
        let RowModel::Factors(model) = &found.matrix.row_model else { panic!("no factors") };
        let scales = &found.matrix.scales;
        let mut total: f64 = model.noise.iter().map(|noise| noise.ln() + 1.0 / noise).sum();
        for row in 0..40 {
            let of: Vec<usize> = (0..seen.rows().len()).filter(|&e| seen.rows()[e] == row).collect();
            let j = |a: usize| seen.columns()[of[a]];
            let loadings = |a: usize, b: usize, f: usize| model.loadings.at(j(a), f) * model.loadings.at(j(b), f);
            let noise = |a: usize, b: usize| if a == b { model.noise[j(a)] } else { 0.0 };
            let entry = |a: usize, b: usize| loadings(a, b, 0) + loadings(a, b, 1) + noise(a, b);
            let s = (0..of.len()).map(|a| (0..of.len()).map(|b| entry(a, b)).collect()).collect();
            let level = |a: usize| (seen.values()[of[a]] - found.matrix.effects.columns[j(a)]) / scales[j(a)];
            let (log_det, quadratic) = gaussian(s, (0..of.len()).map(level).collect());
            total += 0.5 * (log_det + quadratic);
        }
        let objective = found.trace.last().unwrap().objective;
        assert!((objective - total / seen.values().len() as f64).abs() < 1e-9, "{objective} {total}");
        for pair in found.trace.windows(2) {
            assert!(pair[1].objective <= pair[0].objective + 1e-12, "{} {}", pair[0].objective, pair[1].objective);
        }
    }
}

#[test]
fn the_left_and_right_factors_are_orthonormal() {
    let found = completed(&units(50, 6, 5).seen(0.7, 5), &Completion::features([3]));
    for m in [&found.matrix.left, &found.matrix.right] {
        let gram: Matrix = m.transposed_times(m);
        for i in 0..3 {
            for j in 0..3 {
                assert!((gram.at(i, j) - f64::from(u8::from(i == j))).abs() < 1e-10);
            }
        }
    }
    assert!(found.matrix.singular_values.is_sorted_by(|a, b| a >= b));
}

#[test]
fn the_number_of_threads_changes_nothing() {
    // more rows than a block of sums has
    let seen = units(2500, 4, 6).seen(0.7, 6);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| completed(&seen, &Completion::features(0..=2)).matrix)
    };
    assert_eq!(on(1), on(3));
}

#[test]
fn an_interrupted_fit_goes_on_by_the_same_moves() {
    let seen = units(60, 6, 8).seen(0.7, 8);
    let how = Completion::features(0..=4);
    let whole = completed(&seen, &how);
    assert!(whole.iterations > 6);
    let mut interrupt = Interrupt::at(4);
    let cut = complete(&seen, &how, None, &mut interrupt).unwrap();
    assert!((cut.status, cut.complete, cut.iterations) == (Status::Stopped, false, 4));
    let resumed = complete(&seen, &how, Some(&interrupt.state), &mut Unwatched).unwrap();
    assert_eq!((resumed.matrix, resumed.rank, resumed.iterations), (whole.matrix, whole.rank, whole.iterations));
    let other = units(60, 6, 80).seen(0.7, 8);
    let refused = |seen: &Observed, how: &Completion, state: &[u8]| {
        complete(seen, how, Some(state), &mut Unwatched).unwrap_err().to_string()
    };
    assert!(refused(&other, &how, &interrupt.state).contains("other data"));
    let alike = refused(&seen, &Completion::new(1..=4), &interrupt.state);
    assert!(alike.contains("Features"), "{alike}");
    for at in [5, interrupt.state.len() / 2, interrupt.state.len() - 3] {
        let mut damaged = interrupt.state.clone();
        damaged[at] ^= 0x55;
        assert!(matches!(complete(&seen, &how, Some(&damaged), &mut Unwatched), Err(Error::Checkpoint { .. })));
    }
}

#[test]
fn a_choice_that_is_stopped_has_the_best_so_far() {
    let seen = units(60, 6, 8).seen(0.7, 8);
    let mut told = 0;
    let mut stop = |_: &Progress<'_>| {
        told += 1;
        if told > 40 { Answer::Stop } else { Answer::GoOn }
    };
    let found = complete(&seen, &Completion::features(0..=6), None, &mut stop).unwrap();
    assert!((found.status, found.complete, found.refitted) == (Status::Stopped, false, false));
    assert_eq!(found.matrix.shape(), (60, 6));
    assert!(found.matrix.to_dense().unwrap().iter().all(|v| v.is_finite()));
}

#[test]
fn constant_duplicate_and_binary_columns() {
    let base = noise(60, 3, 12);
    let row = |i: usize| {
        let [a, b, c] = [0, 1, 2].map(|j| base.at(i, j));
        [a, b, a + 1e-3 * c, 7.0, f64::from(u8::from(a > 0.0)), 1e9 + c]
    };
    let whole = Whole { shape: (60, 6), values: (0..60).flat_map(row).collect() };
    let seen = whole.seen(0.8, 12);
    let found = filled(&seen);
    let dense = found.matrix.to_dense().unwrap();
    assert!(dense.iter().enumerate().filter(|(at, _)| at % 6 == 3).all(|(_, v)| *v == 7.0));
    let twin = |i: usize| (dense[6 * i] - whole.at(i, 0)).abs();
    let (rows, columns) = observed_places(60, 6, 0.8, 12);
    let has = |i: usize, j: usize| rows.iter().zip(&columns).any(|place| place == (&i, &j));
    let guessed: Vec<f64> = (0..60).filter(|&i| !has(i, 0) && has(i, 2)).map(twin).collect();
    assert!(guessed.len() > 4 && guessed.iter().all(|off| *off < 0.2), "{guessed:?}");
}

#[test]
fn what_cannot_be_filled_is_named() {
    let seen = Observed::new((3, 3), &[0, 1, 2, 2], &[0, 0, 0, 2], &[1.0, 2.0, 3.0, 4.0]).unwrap();
    let error = complete(&seen, &Completion::features([1]), None, &mut Unwatched).unwrap_err();
    assert_eq!(error, Error::EmptyColumn { column: 1 });
    assert!(error.to_string().contains("column 1 (counted from 0) has no value at all"), "{error}");
    let one = Observed::new((1, 2), &[0, 0], &[0, 1], &[3.0, 4.0]).unwrap();
    let how = Completion::features(0..=1);
    assert!(matches!(complete(&one, &how, None, &mut Unwatched), Err(Error::FewRows { .. })));
    let simple = completed(&one, &how.simplest());
    assert_eq!(simple.matrix.to_dense().unwrap(), [3.0, 4.0]);
}

#[test]
fn given_bounds_hold_for_all_columns() {
    let seen = units(60, 4, 1).seen(0.6, 1);
    let how = Completion { clip: Clip::Range(0.0, 30.0), ..Completion::features([2]) };
    let found = completed(&seen, &how);
    assert_eq!(found.matrix.bounds, Bounds::All(0.0, 30.0));
    assert!(found.matrix.to_dense().unwrap().iter().all(|v| (0.0..=30.0).contains(v)));
}

#[test]
fn ratings_are_told_from_features() {
    let stars = Whole::stars((60, 40), 3);
    assert!(stars.seen(0.3, 3).looks_like_ratings());
    assert!(!stars.seen(0.7, 3).looks_like_ratings());
    assert!(!units(40, 8, 3).seen(0.3, 3).looks_like_ratings());
    let binary =
        Whole { shape: (60, 40), values: stars.values.iter().map(|v| f64::from(u8::from(*v > 3.0))).collect() };
    assert!(!binary.seen(0.3, 3).looks_like_ratings());
}

#[test]
fn a_matrix_that_does_not_fit_is_an_error() {
    let error = katoms_estimate::reserved(usize::MAX / 4, 3).unwrap_err();
    assert!(matches!(&error, Error::Memory { .. }) && error.to_string().contains("factors"), "{error}");
    // 8 exabytes
    assert!(katoms_estimate::reserved(1 << 30, 1 << 30).is_err());
}
