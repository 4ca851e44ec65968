//! Partial passes: fewer reads, and an end that a full pass has proven.

use crate::planted::{Design, defaults, finish, image, k_sparse, objective, squares};
use katoms::driver::{Options, Partial, Run, Status, stationarity};
use katoms::linalg::kernels::Real;
use katoms::operator::{Counted, Dense, LinearOperator, f16};
use katoms::select::Preparation;
use katoms::space::SparseVec;
use katoms::{Outcome, fit, simulate};

const ROWS: usize = 512;
const COLUMNS: usize = 16_384;
const ATOMS: usize = 12;

fn design(seed: u64) -> Vec<f32> {
    let mut x = vec![0.0; ROWS * COLUMNS];
    simulate::gaussian_columns_f32(&mut x, ROWS, 0, seed);
    x
}

fn target(x: &[f32], truth: &SparseVec) -> Vec<f64> {
    image(&Dense::column_major(x, ROWS, COLUMNS).unwrap(), truth)
}

fn run(a: impl Design, y: &[f64], partial: Partial) -> Outcome<SparseVec> {
    let (f, set, method) = (objective(a, squares(y)), k_sparse(ATOMS, COLUMNS), defaults());
    let mut run = Run::new(&f, &set, &method, Options { partial, ..Options::for_set(&set) }).unwrap();
    finish(&mut run);
    run.outcome_unchecked()
}

/// A design of fewer bytes is sampled as well, and an answer is that to the numbers that are stored.
#[test]
fn planted_atoms_are_found_among_small_numbers() {
    fn found<T: Real>(x: &[f32], narrow: impl Fn(f32) -> T) {
        let x: Vec<T> = x.iter().map(|&v| narrow(v)).collect();
        let truth = simulate::sparse_signal(COLUMNS, ATOMS, 0);
        let a = Dense::column_major(&x, ROWS, COLUMNS).unwrap();
        let outcome = run(&a, &image(&a, &truth), Partial::WhereItPays);
        assert_eq!((outcome.point.indices(), outcome.passes), (truth.indices(), 1));
        let away = truth.values().iter().zip(outcome.point.values()).map(|(a, b)| (a - b).abs());
        assert!(away.fold(0.0, f64::max) < 1e-9);
    }
    let x = design(0);
    found(&x, f16::from_f32);
    found(&x, |v| (700.0 * v).round() as i8);
}

#[test]
fn planted_atoms_are_found_in_fewer_reads() {
    for seed in 0..2 {
        let x = design(seed);
        let truth = simulate::sparse_signal(COLUMNS, ATOMS, seed);
        let y = target(&x, &truth);
        let columns = Counted::new(Dense::column_major(&x, ROWS, COLUMNS).unwrap());
        let partial = run(&columns, &y, Partial::WhereItPays);
        let counts = columns.take();
        let full = run(&columns, &y, Partial::Never);
        assert_eq!(columns.take().rows, 0);
        assert_eq!((partial.point.indices(), full.point.indices()), (truth.indices(), truth.indices()), "seed {seed}");
        assert_eq!((counts.passes, partial.passes), (1, 1), "a perfect fit needs no other proof");
        // What was read is what is told, but for the making of the sample, which is told once for each run.
        let sampled = columns.sampled_rows().unwrap();
        let told = partial.reads - (sampled.count() + counts.rows) as f64 / ROWS as f64;
        assert!((told - 1.0).abs() < 1e-12, "{told}");
        assert!(partial.reads < 2.0 && partial.reads < full.reads, "{} for {}", partial.reads, full.reads);
    }
}

/// Both orders, and the views of an estimator above them, give the same answer.
#[test]
fn rows_and_views_take_part() {
    let x = design(5);
    let truth = simulate::sparse_signal(COLUMNS, ATOMS, 5);
    let y: Vec<f64> = target(&x, &truth).iter().map(|y| y + 100.0).collect();
    let by_rows: Vec<f32> = (0..ROWS * COLUMNS).map(|at| x[at % COLUMNS * ROWS + at / COLUMNS] + 1000.0).collect();
    let shifted: Vec<f32> = x.iter().map(|v| v + 1000.0).collect();
    for a in [Dense::column_major(&shifted, ROWS, COLUMNS).unwrap(), Dense::row_major(&by_rows, ROWS, COLUMNS).unwrap()]
    {
        let preparation = Preparation::default();
        let f = preparation.objective(&a, &squares(y.clone()), (0..ROWS).collect()).unwrap();
        assert!(f.operator().sampled_rows().is_some());
        let outcome = fit(&f, &preparation.set(&k_sparse(ATOMS, COLUMNS), f.loss()).unwrap()).unwrap();
        let (found, _) = f.operator().to_original(&outcome.point);
        assert_eq!(found.indices(), truth.indices());
        assert!(outcome.reads > outcome.passes as f64, "partial passes were made");
    }
    let some = Preparation::default();
    let a = Dense::column_major(&x, ROWS, COLUMNS).unwrap();
    let f = some.objective(&a, &squares(y), (1..ROWS).collect()).unwrap();
    assert!(f.operator().sampled_rows().is_none(), "a sample of all rows is none of some of them");
}

/// The planted columns are zero in all rows of the sample: it cannot name them.
#[test]
fn a_sample_that_misleads_costs_passes_and_no_atom() {
    let mut x = design(7);
    let truth = simulate::sparse_signal(COLUMNS, ATOMS, 7);
    let sampled = Dense::column_major(&x, ROWS, COLUMNS).unwrap().sampled_rows().unwrap();
    for &j in truth.indices() {
        for i in (0..ROWS).filter(|&i| sampled.contains(i)) {
            x[j * ROWS + i] = 0.0;
        }
    }
    let y = target(&x, &truth);
    let a = Dense::column_major(&x, ROWS, COLUMNS).unwrap();
    let outcome = run(&a, &y, Partial::WhereItPays);
    assert_eq!(outcome.point.indices(), truth.indices());
    assert_eq!(outcome.status, Status::Converged);
}

/// With noise a run ends at a point from which no step of the exact method leads on.
#[test]
fn the_end_is_a_fixed_point() {
    for seed in 10..12 {
        let x = design(seed);
        let y = simulate::noisy(&target(&x, &simulate::sparse_signal(COLUMNS, ATOMS, seed)), 0.03, seed);
        let a = Dense::column_major(&x, ROWS, COLUMNS).unwrap();
        let outcome = run(&a, &y, Partial::WhereItPays);
        let f = objective(&a, squares(y.clone()));
        let at = f.at(outcome.point.clone());
        let mut g = a.new_covector();
        f.gradient(&at, &mut g);
        assert_eq!(outcome.status, Status::Converged);
        let moved = stationarity(&f, &k_sparse(ATOMS, COLUMNS), &at, &g);
        assert!(moved < 1e-12, "seed {seed}: {moved}");
        assert!(outcome.passes >= 2, "the first pass, and the proof");
    }
}

#[test]
fn a_resumed_run_makes_the_same_moves() {
    let x = design(20);
    let y = simulate::noisy(&target(&x, &simulate::sparse_signal(COLUMNS, ATOMS, 20)), 0.03, 20);
    let a = Dense::column_major(&x, ROWS, COLUMNS).unwrap();
    let whole = run(&a, &y, Partial::WhereItPays);
    let (f, set, method) = (objective(&a, squares(y)), k_sparse(ATOMS, COLUMNS), defaults());
    let options = || Options::for_set(&set);
    let mut bytes = Run::new(&f, &set, &method, options()).unwrap().save().unwrap();
    loop {
        let mut run = Run::resume(&f, &set, &method, options(), &bytes).unwrap();
        if run.is_done() {
            let outcome = run.outcome_unchecked();
            assert_eq!((outcome.point, outcome.iterations), (whole.point, whole.iterations));
            return;
        }
        run.step();
        bytes = run.save().unwrap();
    }
}
