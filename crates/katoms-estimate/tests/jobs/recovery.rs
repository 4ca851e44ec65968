//! Compressed sensing.

use katoms::method::AtomMethod;
use katoms::operator::{AnyDesign, Dense, LinearOperator, subsampled_dct};
use katoms::select::{Sign, phase_transition_k};
use katoms::simulate::{gaussian, generator, noisy, normals, sparse_signal};
use katoms::space::{Point, SparseVec};
use katoms::{Status, Stop};
use katoms_estimate::{Answer, Places, Progress, Recovered, Recovery, Unwatched, recover};

use crate::Interrupt;

fn measured(design: &AnyDesign<'_>, x: &SparseVec) -> Vec<f64> {
    let mut b = vec![0.0; design.n_outputs()];
    design.apply(x, &mut b);
    b
}

fn dense(rows: usize, columns: usize, seed: u64) -> AnyDesign<'static> {
    Dense::column_major(gaussian(rows, columns, seed), rows, columns).unwrap().into()
}

/// `rows` random rows of a cosine transform.
fn transform(rows: usize, length: usize, seed: u64) -> AnyDesign<'static> {
    let draws = normals(length, &mut generator(seed, 30));
    let mut order: Vec<usize> = (0..length).collect();
    order.sort_by(|&a, &b| draws[a].total_cmp(&draws[b]));
    subsampled_dct(length, order[..rows].to_vec()).unwrap().into()
}

fn recovered(design: &AnyDesign<'_>, b: &[f64], how: &Recovery) -> Recovered {
    recover(design, b, how, None, &mut Unwatched).unwrap()
}

#[test]
fn a_planted_signal_is_found_from_a_matrix() {
    for seed in 0..4 {
        let (design, truth) = (dense(60, 200, seed), sparse_signal(200, 14, seed));
        let b = measured(&design, &truth);
        let found = recovered(&design, &b, &Recovery::new(14));
        assert!(found.x.distance(&truth) < 1e-8, "{seed}: {}", found.x.distance(&truth));
        assert!(found.relative_residual < 1e-8 && found.complete && !found.is_beyond_transition(14));
    }
}

/// Written out, so that entries can be exchanged. The transition of this shape is at 34.
#[test]
fn a_planted_signal_is_found_from_a_transform() {
    for seed in 0..4 {
        let (design, truth) = (transform(128, 512, seed), sparse_signal(512, 30, seed));
        let found = recovered(&design, &measured(&design, &truth), &Recovery::new(30));
        assert_eq!(found.most_entries, 34);
        assert!(found.x.distance(&truth) < 1e-8, "{seed}: {}", found.x.distance(&truth));
    }
}

/// Too large to be written out. Signs of one size are the hardest; the transition of this shape is at 168.
#[test]
fn a_long_signal_is_found_without_a_matrix() {
    let (length, rows, k) = (16_384, 1025, 140);
    for (seed, signs) in [(0, false), (1, true)] {
        let (design, truth) = (transform(rows, length, seed), sparse_signal(length, k, seed));
        let truth = if signs { truth.map(|_, v| v.signum()) } else { truth };
        let found = recovered(&design, &measured(&design, &truth), &Recovery::new(k));
        let error = found.x.distance(&truth) / truth.norm();
        assert!(error < 1e-5, "{seed}: {error} {:?}, {} iterations", found.status, found.iterations);
        assert_eq!(found.most_entries, 168);
    }
}

/// \[R, −S; S, R\] of a complex Gaussian matrix R + i·S, column after column.
fn complex(rows: usize, columns: usize, seed: u64) -> AnyDesign<'static> {
    let (real, imaginary) = (gaussian(rows, columns, seed), gaussian(rows, columns, seed + 100));
    let halves = |top: &[f64], bottom: &[f64], sign: f64| -> Vec<f64> {
        let columns = top.chunks(rows).zip(bottom.chunks(rows));
        columns.flat_map(|(t, b)| t.iter().map(move |v| sign * v).chain(b.iter().copied())).collect()
    };
    let data = [halves(&real, &imaginary, 1.0), halves(&imaginary, &real, -1.0)].concat();
    Dense::column_major(data, 2 * rows, 2 * columns).unwrap().into()
}

/// 14 entries, each with both of its parts: 28 numbers, which as real entries would be too many for k = 14.
#[test]
fn complex_entries_are_found_and_count_once() {
    for seed in 0..4 {
        let (design, real) = (complex(60, 200, seed), sparse_signal(200, 14, seed));
        let places = real.indices().iter().flat_map(|&j| [j, j + 200]).collect();
        let parts = real.entries().flat_map(|(j, v)| [v, 0.5 - (j % 3) as f64]).collect();
        let truth = SparseVec::new(400, places, parts).unwrap();
        let b = measured(&design, &truth);
        let found = recovered(&design, &b, &Recovery { entries: Places::Complex, ..Recovery::new(14) });
        assert!(found.x.distance(&truth) < 1e-8, "{seed}: {}", found.x.distance(&truth));
        assert_eq!(Ok(found.most_entries), phase_transition_k(60, 200, Sign::Complex));
        assert!(recovered(&design, &b, &Recovery::new(14)).relative_residual > 0.01);
    }
}

#[test]
fn noise_that_is_known_ends_the_search() {
    let (design, truth) = (dense(80, 200, 5), sparse_signal(200, 10, 5));
    let b = noisy(&measured(&design, &truth), 0.01, 5);
    let found = recovered(&design, &b, &Recovery { noise: Some(0.012), ..Recovery::new(10) });
    assert!(found.residual_norm <= 0.012 * 80.0_f64.sqrt());
    assert!(found.x.distance(&truth) < 0.1, "{}", found.x.distance(&truth));
    assert_eq!(found.attempts.len(), 1);
}

#[test]
fn too_many_entries_are_told() {
    let design = dense(20, 100, 6);
    let b = measured(&design, &sparse_signal(100, 12, 6));
    let found = recovered(&design, &b, &Recovery::new(12));
    assert_eq!(found.most_entries, 5);
    assert!(found.is_beyond_transition(12) && !found.is_beyond_transition(5));
}

#[test]
fn a_named_method_goes_on_where_it_was_stopped() {
    let (design, truth) = (transform(100, 400, 7), sparse_signal(400, 15, 7));
    let b = measured(&design, &truth);
    for name in ["dore", "normalised-iht", "omp"] {
        let how = Recovery { method: Some(AtomMethod::named(name).unwrap()), ..Recovery::new(15) };
        let whole = recovered(&design, &b, &how);
        let mut interrupt = Interrupt::at(3);
        let stopped = recover(&design, &b, &how, None, &mut interrupt).unwrap();
        assert!(!stopped.complete && stopped.status == Status::Stopped && stopped.iterations == 3, "{name}");
        let resumed = recover(&design, &b, &how, Some(&interrupt.state), &mut Unwatched).unwrap();
        assert_eq!((resumed.x, resumed.iterations), (whole.x.clone(), whole.iterations), "{name}");
        assert!(whole.x.distance(&truth) < 1e-4, "{name}");
        let error = recover(&design, &b, &Recovery::new(15), Some(&interrupt.state), &mut Unwatched).unwrap_err();
        assert!(error.to_string().contains("now the method is AcceleratedIht"), "{error}");
    }
}

#[test]
fn a_search_goes_on_where_it_was_stopped() {
    for (design, k) in [(dense(60, 200, 12), 24), (transform(60, 200, 12), 20)] {
        let b = measured(&design, &sparse_signal(200, k, 12));
        let whole = recovered(&design, &b, &Recovery::new(k));
        let mut interrupt = Interrupt::at(2);
        assert!(!recover(&design, &b, &Recovery::new(k), None, &mut interrupt).unwrap().complete);
        let resumed = recover(&design, &b, &Recovery::new(k), Some(&interrupt.state), &mut Unwatched).unwrap();
        assert_eq!((resumed.x, resumed.iterations), (whole.x, whole.iterations));
    }
}

#[test]
fn a_stop_gives_the_best_so_far() {
    let (design, truth) = (dense(60, 200, 8), sparse_signal(200, 30, 8));
    let b = measured(&design, &truth);
    let mut stop = |_: &Progress<'_>| Answer::Stop;
    let found = recover(&design, &b, &Recovery::new(30), None, &mut stop).unwrap();
    assert!(!found.complete && found.status == Status::Stopped && found.relative_residual < 1.0);
    let stop = Stop { seconds: Some(1e-9), ..Stop::default() };
    let found = recovered(&design, &b, &Recovery { stop, ..Recovery::new(30) });
    assert_eq!((found.status, found.complete), (Status::TimeLimit, false));
}

#[test]
fn the_same_input_gives_the_same_bits() {
    let (design, truth) = (transform(64, 256, 9), sparse_signal(256, 20, 9));
    let b = measured(&design, &truth);
    assert_eq!(recovered(&design, &b, &Recovery::new(20)).x, recovered(&design, &b, &Recovery::new(20)).x);
}

#[test]
fn nothing_measured_is_nothing_found() {
    let found = recovered(&dense(10, 20, 10), &[0.0; 10], &Recovery::new(2));
    assert_eq!((found.x.norm(), found.residual_norm, found.relative_residual), (0.0, 0.0, 0.0));
}

#[test]
fn bad_input_is_named() {
    let design = dense(10, 20, 11);
    let told = |b: &[f64], how: &Recovery| recover(&design, b, how, None, &mut Unwatched).unwrap_err().to_string();
    assert_eq!(told(&[1.0; 10], &Recovery::new(0)), "k is 0; it must lie between 1 and 20");
    assert_eq!(told(&[1.0; 10], &Recovery::new(21)), "k is 21; it must lie between 1 and 20");
    assert!(told(&[1.0; 9], &Recovery::new(2)).contains("has length 9, but 10 is needed"));
    let mut b = [1.0; 10];
    b[3] = f64::NAN;
    assert!(told(&b, &Recovery::new(2)).contains("holds NaN at position 3"));
    assert!(told(&[], &Recovery::new(2)).contains("is empty"));
    let stop = Stop { seconds: Some(0.0), ..Stop::default() };
    assert!(told(&[1.0; 10], &Recovery { stop, ..Recovery::new(2) }).contains("option seconds is 0"));
    let noise = Some(-1.0);
    assert!(told(&[1.0; 10], &Recovery { noise, ..Recovery::new(2) }).contains("option noise is -1"));
}
