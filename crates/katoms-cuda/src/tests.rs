use std::sync::Arc;

use half::{bf16, f16};
use katoms::linalg::{Matrix, dot, norm};
use katoms::loss::{AnyLoss, Cox, LeastSquares, Logistic};
use katoms::operator::{
    ColumnMoments, Csc, Dense, Device, Entries, FirstRead, Layout, LinearOperator, OnDevice, Parts,
};
use katoms::select::Preparation;
use katoms::set::{KSparse, Rank};
use katoms::space::{IndexSet, LowRank, Point, SparseVec};
use katoms::{Error, Fit, Objective, Outcome, simulate};

use crate::held::Held;
use crate::machine::{Machine, Numbers};
use crate::twin::Twin;
use crate::{Cuda, Lie, check_shape, entries};

const ALL: [Numbers; 6] = [Numbers::F64, Numbers::F32, Numbers::F16, Numbers::BF16, Numbers::U8, Numbers::I8];

/// A matrix in memory, and the numbers that it stores, column after column.
fn matrix(numbers: Numbers, by_rows: bool, rows: usize, columns: usize) -> (Vec<u8>, Vec<f64>) {
    let values = simulate::gaussian(rows, columns, 7);
    let mut stored = vec![0.0; rows * columns];
    let mut bytes = Vec::new();
    for at in 0..rows * columns {
        let (row, column) = if by_rows { (at / columns, at % columns) } else { (at % rows, at / rows) };
        let value = values[column * rows + row] * (rows as f64).sqrt() + (column % 3) as f64;
        let whole = (20.0 * value).round();
        stored[column * rows + row] = match numbers {
            Numbers::F64 => value,
            Numbers::F32 => f64::from(value as f32),
            Numbers::F16 => f16::from_f64(value).to_f64(),
            Numbers::BF16 => bf16::from_f64(value).to_f64(),
            Numbers::U8 => whole.clamp(0.0, 255.0),
            Numbers::I8 => whole.clamp(-128.0, 127.0),
        };
        match numbers {
            Numbers::F64 => bytes.extend(value.to_le_bytes()),
            Numbers::F32 => bytes.extend((value as f32).to_le_bytes()),
            Numbers::F16 => bytes.extend(f16::from_f64(value).to_le_bytes()),
            Numbers::BF16 => bytes.extend(bf16::from_f64(value).to_le_bytes()),
            Numbers::U8 => bytes.push(whole.clamp(0.0, 255.0) as u8),
            Numbers::I8 => bytes.push((whole.clamp(-128.0, 127.0) as i8) as u8),
        }
    }
    (bytes, stored)
}

fn held<M: Machine + 'static>(machine: &Arc<M>, bytes: &[u8], lie: Lie) -> Arc<dyn Device> {
    Arc::new(Held::copied(Arc::clone(machine), bytes, lie).unwrap())
}

#[track_caller]
fn assert_near(found: &[f64], expected: &[f64], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let apart: Vec<f64> = found.iter().zip(expected).map(|(a, b)| a - b).collect();
    assert!(norm(&apart) <= 1e-11 * norm(expected).max(1e-300), "{what}: {} of {}", norm(&apart), norm(expected));
}

/// Everything that a device does, beside the same design on the host.
fn keeps_its_contract<M: Machine + 'static>(machine: &Arc<M>, shapes: &[(usize, usize)]) {
    for numbers in ALL {
        for by_rows in [false, true] {
            for &(rows, columns) in shapes {
                let what = format!("{rows} x {columns} {numbers:?}, by rows: {by_rows}");
                let (bytes, stored) = matrix(numbers, by_rows, rows, columns);
                let lie = Lie { numbers, by_rows, shape: (rows, columns) };
                let a = OnDevice::new(held(machine, &bytes, lie), None).unwrap();
                let b = Dense::column_major(&stored, rows, columns).unwrap();
                same_as(&a, &b, &what);
            }
        }
    }
}

/// The same for columns of which few entries are stored, one of them in two parts and none in order.
fn keeps_its_contract_where_few_are_stored<M: Machine + 'static>(machine: &Arc<M>, shapes: &[(usize, usize)]) {
    for &(rows, columns) in shapes {
        let mut stored = simulate::gaussian(rows, columns, 8);
        let (mut starts, mut indices, mut values) = (vec![0_usize], Vec::new(), Vec::new());
        for (j, column) in stored.chunks_mut(rows).enumerate() {
            column.iter_mut().enumerate().for_each(|(i, v)| *v = if (7 * i + j) % 5 < 2 && j != 1 { *v } else { 0.0 });
            for (i, v) in column.iter().enumerate().rev().filter(|(_, v)| **v != 0.0) {
                let parts = if i == 2 { vec![0.5 * v, 0.5 * v] } else { vec![*v] };
                indices.extend(parts.iter().map(|_| i as u32));
                values.extend(parts);
            }
            starts.push(values.len());
        }
        let matrix = Csc::new(rows, columns, starts, indices, values).unwrap();
        let (starts, indices, values) = matrix.in_order();
        let device = Held::sparse(Arc::clone(machine), rows, (&starts, &indices, &values)).unwrap();
        let a = OnDevice::new(Arc::new(device), None).unwrap();
        let b = Dense::column_major(&stored, rows, columns).unwrap();
        same_as(&a, &b, &format!("{rows} x {columns}, sparse"));
        assert_eq!(a.sampled_rows(), None);
    }
}

fn same_as(a: &OnDevice, b: &Dense<'_, f64>, what: &str) {
    let (rows, columns) = (b.rows(), b.columns());
    for count in [1, 3, 9, 33] {
        let rs = simulate::gaussian(rows, count, 3);
        let rs: Vec<&[f64]> = rs.chunks(rows).collect();
        let [mut found, mut expected] = [(); 2].map(|()| vec![Vec::new(); count]);
        a.adjoint_block(&rs, &mut found);
        b.adjoint_block(&rs, &mut expected);
        for (q, r) in rs.iter().enumerate() {
            assert_near(&found[q], &expected[q], what);
            let mut alone = Vec::new();
            a.adjoint(r, &mut alone);
            assert_eq!(alone, found[q], "{what}: one vector has the bits of many");
        }
        let some = IndexSet::new(columns, (0..columns).step_by(3).collect());
        for (found, expected) in a.adjoint_block_on(&rs, &some).iter().zip(b.adjoint_block_on(&rs, &some)) {
            assert_near(found.values(), expected.values(), what);
        }
    }
    let weights: Vec<f64> = (0..rows).map(|i| (i % 4) as f64).collect();
    let weights = if rows > 1 { weights } else { vec![1.0] };
    let (found, expected) = (a.moments(&weights), b.moments(&weights));
    assert_near(&found.means, &expected.means, what);
    assert_near(&found.variances, &expected.variances, what);
    let centres = expected.means;
    for centres in [None, Some(&centres[..])] {
        let found = a.squared_norms(&[&weights, &vec![1.0; rows]], centres).unwrap();
        let expected = b.squared_norms(&[&weights, &vec![1.0; rows]], centres).unwrap();
        found.iter().zip(expected).for_each(|(found, expected)| assert_near(found, &expected, what));
    }
    let some = |count: usize| IndexSet::new(columns, (0..columns).step_by(columns / count + 1).collect());
    let (left, right) = (some(90), some(70));
    for h in [&weights, &vec![1.0; rows]] {
        let products = a.products(h, &left, &right).unwrap();
        for (at, &j) in right.indices().iter().enumerate() {
            let mut column = vec![0.0; rows];
            b.apply(&SparseVec::new(columns, vec![j], vec![1.0]).unwrap(), &mut column);
            column.iter_mut().zip(h.iter()).for_each(|(v, h)| *v *= h);
            assert_near(products.column(at), b.adjoint_on(&column, &left).values(), what);
        }
    }
    let [mut found, mut expected] = [(); 2].map(|()| vec![f64::NAN; rows * left.indices().len()]);
    a.copy_columns(&left, &mut found);
    b.copy_columns(&left, &mut expected);
    assert_eq!(found, expected, "{what}: columns");
    for x in [SparseVec::zero(columns), SparseVec::full(&simulate::gaussian(columns, 1, 5))] {
        let [mut found, mut expected] = [(); 2].map(|()| vec![f64::NAN; rows]);
        a.apply(&x, &mut found);
        b.apply(&x, &mut expected);
        assert_near(&found, &expected, what);
    }
    if rows > 2 {
        let parts = Parts::new((0..rows).map(|i| i % 3).collect(), 3).unwrap();
        let r = simulate::gaussian(rows, 1, 9);
        let [mut found, mut expected] = [(); 2].map(|()| vec![vec![Vec::new(); 3]]);
        a.adjoint_parts(&parts, &[&r], &mut found);
        b.adjoint_parts(&parts, &[&r], &mut expected);
        found[0].iter().zip(&expected[0]).for_each(|(found, expected)| assert_near(found, expected, what));
    }
}

/// Shapes around the tiles of the kernels, and of no rows to share, of two parts and of many columns.
const SMALL: [(usize, usize); 5] = [(1, 1), (7, 40), (64, 33), (131, 300), (1100, 70)];
const LARGE: [(usize, usize); 3] = [(2000, 3001), (517, 70_001), (40_000, 37)];

/// A sample of the rows is that of the host, to the bit.
fn samples_as_the_host<M: Machine + 'static>(machine: &Arc<M>, rows: usize, columns: usize) {
    for by_rows in [false, true] {
        let (bytes, stored) = matrix(Numbers::F32, by_rows, rows, columns);
        let stored: Vec<f32> = stored.iter().map(|&v| v as f32).collect();
        let lie = Lie { numbers: Numbers::F32, by_rows, shape: (rows, columns) };
        let loss = LeastSquares::new(simulate::gaussian(rows, 1, 4)).unwrap();
        let first = FirstRead::of(&loss, false);
        let a = OnDevice::new(held(machine, &bytes, lie), Some(&first)).unwrap();
        let b = Dense::with_layout(&stored, rows, columns, Layout::ColumnMajor, Some(&first)).unwrap();
        let which = a.sampled_rows().expect("a sample");
        assert_eq!(Some(which), b.sampled_rows());
        let masked = |seed| -> Vec<f64> {
            let r = simulate::gaussian(rows, 1, seed);
            r.iter().enumerate().map(|(i, r)| if which.contains(i) { *r } else { 0.0 }).collect()
        };
        let rs = [masked(1), masked(2)];
        let rs: Vec<&[f64]> = rs.iter().map(Vec::as_slice).collect();
        let [mut found, mut expected] = [(); 2].map(|()| vec![Vec::new(); 2]);
        a.adjoint_sampled_block(&rs, &mut found);
        b.adjoint_sampled_block(&rs, &mut expected);
        for (found, expected) in found.iter().zip(&expected) {
            // The centres are means, which differ by rounding; a code may be the next one then.
            let apart: Vec<f64> = found.iter().zip(expected).map(|(a, b)| a - b).collect();
            assert!(norm(&apart) < 1e-3 * norm(expected), "{} of {}", norm(&apart), norm(expected));
        }
    }
}

fn reads_first_what_a_fit_asks<M: Machine + 'static>(machine: &Arc<M>) {
    let (rows, columns) = (90, 50);
    let (bytes, stored) = matrix(Numbers::F64, false, rows, columns);
    let lie = Lie { numbers: Numbers::F64, by_rows: false, shape: (rows, columns) };
    let loss = LeastSquares::new(simulate::gaussian(rows, 1, 4)).unwrap();
    let first = FirstRead::of(&loss, true);
    let a = OnDevice::new(held(machine, &bytes, lie), Some(&first)).unwrap();
    let b = Dense::column_major(&stored, rows, columns).unwrap();
    assert!(a.knows_squared_norms(&vec![1.0; rows]));
    let (found, expected) = (a.moments(&vec![1.0; rows]), b.moments(&vec![1.0; rows]));
    assert_near(&found.variances, &expected.variances, "variances");
    // Sums under the weights of the first read are known with the means; with another vector beside them the device is asked.
    let weights: Vec<f64> = (0..rows).map(|i| 0.5 + (i % 7) as f64).collect();
    let (t, other) = (IndexSet::new(columns, vec![3, 4, 17, 49]), simulate::gaussian(rows, 1, 5));
    for weighted in [false, true] {
        let loss = if weighted { loss.clone().weighted(weights.clone()).unwrap() } else { loss.clone() };
        let a = OnDevice::new(held(machine, &bytes, lie), Some(&FirstRead::of(&loss, true))).unwrap();
        for rs in [vec![&weights[..]], vec![&[1.0; 90][..]; 2], vec![&weights[..], &other]] {
            let (found, expected) = (a.adjoint_block_on(&rs, &t), b.adjoint_block_on(&rs, &t));
            for (found, expected) in found.iter().zip(&expected) {
                assert_near(found.values(), expected.values(), "sums of columns");
            }
        }
    }
    let wrong = FirstRead::of(&LeastSquares::new(vec![1.0; 3]).unwrap(), false);
    assert!(matches!(OnDevice::new(held(machine, &bytes, lie), Some(&wrong)), Err(Error::Length { .. })));
}

fn finds_what_is_not_finite<M: Machine + 'static>(machine: &Arc<M>) {
    for by_rows in [false, true] {
        let (rows, columns) = (33, 21);
        let lie = Lie { numbers: Numbers::F32, by_rows, shape: (rows, columns) };
        for value in [f32::NAN, f32::INFINITY] {
            let (mut bytes, _) = matrix(Numbers::F32, by_rows, rows, columns);
            let at = if by_rows { 30 * columns + 17 } else { 17 * rows + 30 };
            bytes[4 * at..][..4].copy_from_slice(&value.to_le_bytes());
            let told = OnDevice::new(held(machine, &bytes, lie), None).unwrap_err();
            assert!(matches!(told, Error::NotFinite { row: 30, column: 17, .. }), "{told}");
        }
        // Numbers whose squares no double precision holds.
        let lie = Lie { numbers: Numbers::F64, ..lie };
        let (mut bytes, _) = matrix(Numbers::F64, by_rows, rows, columns);
        let at = if by_rows { 30 * columns + 17 } else { 17 * rows + 30 };
        bytes[8 * at..][..8].copy_from_slice(&1e200_f64.to_le_bytes());
        let a = OnDevice::new(held(machine, &bytes, lie), None).unwrap();
        assert_eq!(a.extremes().iter().map(|e| (e.column, e.size)).collect::<Vec<_>>(), [(17, 1e200)]);
    }
}

fn fit<A>(design: &A, loss: &AnyLoss, preparation: &Preparation, k: usize) -> Outcome<SparseVec>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>> + ColumnMoments,
{
    let f = preparation.objective(design, loss, (0..design.n_outputs()).collect()).unwrap();
    let set = preparation.set(&KSparse::new(k, design.domain()).unwrap(), f.loss()).unwrap();
    Fit::new(&f, &set).run().unwrap()
}

/// Fits and searches with all products from the device, beside those with copies of the columns.
fn fits_as_the_host<M: Machine + 'static>(machine: &Arc<M>) {
    let (rows, columns, k) = (120, 300, 6);
    let (bytes, stored) = matrix(Numbers::F32, false, rows, columns);
    let lie = Lie { numbers: Numbers::F32, by_rows: false, shape: (rows, columns) };
    let stored: Vec<f32> = stored.iter().map(|&v| v as f32).collect();
    let b = Dense::column_major(&stored, rows, columns).unwrap();
    let mut y = vec![0.0; rows];
    b.apply(&simulate::sparse_signal(columns, k, 2), &mut y);
    let y = simulate::noisy(&y, norm(&y) / (rows as f64).sqrt(), 5);
    let classes: Vec<f64> = y.iter().map(|v| f64::from(u8::from(*v > 0.0))).collect();
    let events = y.iter().map(|v| (v.exp(), *v < 0.5)).unzip();
    let (times, seen): (Vec<f64>, Vec<bool>) = events;
    let least_squares = LeastSquares::new(y).unwrap();
    let losses =
        [AnyLoss::from(least_squares), Logistic::new(classes).unwrap().into(), Cox::new(times, seen).unwrap().into()];
    for loss in &losses {
        let preparation = Preparation { intercept: !matches!(loss, AnyLoss::Cox(_)), ..Preparation::default() };
        let a = OnDevice::new(held(machine, &bytes, lie), None).unwrap();
        let [on_device, on_host] = [fit(&a, loss, &preparation, k), fit(&b, loss, &preparation, k)];
        assert_eq!(on_device.point.indices(), on_host.point.indices());
        assert_near(on_device.point.values(), on_host.point.values(), "coefficients");
        let f = preparation.objective(&a, loss, (0..rows).collect()).unwrap();
        assert!(f.operator().gives_all_products());
        assert!(a.failure().is_none());
    }
}

/// Places of a matrix in any order, one of them twice, or by rows.
fn seen(shape: (usize, usize), observed: usize, by_rows: bool) -> Entries {
    let mut places: Vec<(usize, usize)> =
        (0..observed).map(|e| (e * 7919 % 10_007 % shape.0, e * 104_729 % 10_009 % shape.1)).collect();
    if by_rows {
        places.sort_unstable();
    }
    let (rows, columns): (Vec<_>, Vec<_>) = places.into_iter().unzip();
    Entries::new(shape, &rows, &columns).unwrap()
}

fn held_entries<M: Machine + 'static>(machine: &Arc<M>, seen: &Entries) -> Entries {
    seen.clone().on(Arc::new(entries::Entries::new(Arc::clone(machine), seen.pattern()).unwrap()))
}

/// The products with observed entries, and a completion, beside those of the host.
fn completes_as_the_host<M: Machine + 'static>(machine: &Arc<M>, shape: (usize, usize), observed: usize) {
    let matrix = |rows, columns, seed| {
        let values = simulate::gaussian(rows, columns, seed).iter().map(|v| v * (rows as f64).sqrt()).collect();
        Matrix::from_columns(rows, columns, values)
    };
    for by_rows in [false, true] {
        let host = seen(shape, observed, by_rows);
        let device = held_entries(machine, &host);
        let (a, b) = (host.pattern(), device.pattern());
        assert_eq!(a, b);
        let values = simulate::gaussian(observed, 1, 3);
        for width in [1, 3, 8, 19] {
            let (left, right) = (matrix(shape.0, width, 1), matrix(shape.1, width, 2));
            let [mut on_host, mut on_device] = [(); 2].map(|()| vec![0.0; observed]);
            a.gather(&left, &right, &mut on_host);
            b.gather(&left, &right, &mut on_device);
            assert_near(&on_device, &on_host, "gather");
            assert_near(b.times(&values, &right).data(), a.times(&values, &right).data(), "times");
            assert_near(b.transposed_times(&values, &left).data(), a.transposed_times(&values, &left).data(), "Gᵀ·b");
        }
        let truth = LowRank::from_factors(&matrix(shape.0, 2, 5), &matrix(shape.1, 2, 6)).unwrap();
        let mut target = vec![0.0; observed];
        host.apply(&truth, &mut target);
        let completed = |entries: &Entries| {
            let f = Objective::new(entries, LeastSquares::new(target.clone()).unwrap()).unwrap();
            katoms::fit(&f, &Rank::new(2, shape).unwrap()).unwrap()
        };
        let [here, there] = [completed(&host), completed(&device)];
        assert_eq!((here.status, here.iterations), (there.status, there.iterations));
        assert!(there.point.distance(&here.point) < 1e-9 * here.point.norm());
        assert!(device.failure().is_none());
    }
}

#[test]
fn entries_without_memory_say_so_and_end_what_is_asked_of_them() {
    let host = seen((30, 20), 300, false);
    let refused = entries::Entries::new(Arc::new(Twin { limit: Some(100) }), host.pattern());
    assert!(refused.unwrap_err().to_string().contains("are needed"));
    // Enough for the places, and not for what comes after.
    let device = held_entries(&Arc::new(Twin { limit: Some(2500) }), &host);
    let b = Matrix::from_columns(20, 17, simulate::gaussian(20, 17, 1));
    assert!(device.failure().is_none());
    assert!(device.pattern().times(&[1.0; 300], &b).data().iter().all(|v| v.is_nan()));
    assert!(device.failure().unwrap().to_string().contains("are needed"));
    let mut out = vec![0.0; 300];
    device.pattern().gather(&Matrix::zeros(30, 1), &Matrix::zeros(20, 1), &mut out);
    assert!(out.iter().all(|v| v.is_nan()), "and later ones as well");
}

#[test]
fn a_shape_that_kernels_cannot_count_is_refused() {
    let most = i32::MAX as usize;
    assert!(check_shape((most, most)).is_ok());
    for shape in [(most + 1, 1), (1, most + 1)] {
        let told = check_shape(shape).unwrap_err().to_string();
        assert!(told.contains("2147483648") && told.contains("fit on the CPU"), "{told}");
    }
}

#[test]
fn the_twin_keeps_the_contract() {
    completes_as_the_host(&Arc::new(Twin::default()), (60, 45), 1500);
    keeps_its_contract(&Arc::new(Twin::default()), &SMALL);
    keeps_its_contract_where_few_are_stored(&Arc::new(Twin::default()), &SMALL);
    samples_as_the_host(&Arc::new(Twin::default()), 400, 21_000);
    reads_first_what_a_fit_asks(&Arc::new(Twin::default()));
    fits_as_the_host(&Arc::new(Twin::default()));
    finds_what_is_not_finite(&Arc::new(Twin::default()));
}

#[test]
fn a_device_without_memory_says_so_and_ends_what_is_asked_of_it() {
    let (bytes, _) = matrix(Numbers::F64, false, 40, 30);
    let lie = Lie { numbers: Numbers::F64, by_rows: false, shape: (40, 30) };
    let small = Arc::new(Twin { limit: Some(1000) });
    let told = Held::copied(small, &bytes, lie).map(|_| ()).unwrap_err();
    assert!(told.to_string().contains("9600 are needed"), "{told}");

    // Enough for the design, and not for what comes after.
    let enough = Arc::new(Twin { limit: Some(12_000) });
    let a = OnDevice::new(held(&enough, &bytes, lie), None).unwrap();
    assert!(a.failure().is_none());
    let r = vec![1.0; 40];
    let mut out = vec![Vec::new(); 64];
    a.adjoint_block(&vec![&r[..]; 64], &mut out);
    assert!(out.iter().flatten().all(|v| v.is_nan()));
    assert!(a.failure().is_some());
    assert!(a.adjoint_on(&r, &IndexSet::new(30, vec![1])).values()[0].is_nan(), "and later ones as well");
}

#[test]
fn without_a_driver_it_is_said_and_nothing_panics() {
    let opened = Cuda::open(0);
    match crate::probe() {
        Ok(()) => assert!(opened.is_ok()),
        Err(error) => {
            assert_eq!(opened.unwrap_err(), error);
            assert!(error.to_string().contains("CPU"), "{error}");
        }
    }
}

#[test]
#[ignore = "needs an NVIDIA card: make test-gpu"]
fn a_card_keeps_the_contract() {
    let cuda = Cuda::open(0).unwrap();
    completes_as_the_host(&cuda, (60, 45), 1500);
    completes_as_the_host(&cuda, (3000, 1700), 400_000);
    keeps_its_contract(&cuda, &SMALL);
    keeps_its_contract(&cuda, &LARGE);
    keeps_its_contract_where_few_are_stored(&cuda, &SMALL);
    keeps_its_contract_where_few_are_stored(&cuda, &LARGE);
    samples_as_the_host(&cuda, 400, 21_000);
    samples_as_the_host(&cuda, 3001, 20_011);
    reads_first_what_a_fit_asks(&cuda);
    fits_as_the_host(&cuda);
    finds_what_is_not_finite(&cuda);
    assert!(Cuda::open(99).unwrap_err().to_string().contains("cuda:99"));
    let lie = Lie { numbers: Numbers::U8, by_rows: false, shape: (1 << 20, 1 << 22) };
    let told = cuda.reserve(lie.shape.0 * lie.shape.1).unwrap_err().to_string();
    assert!(told.contains("4398.0 GB more are needed"), "{told}");
}

#[test]
#[ignore = "needs an NVIDIA card: make test-gpu"]
fn a_card_gives_the_same_bits_again() {
    let cuda = Cuda::open(0).unwrap();
    let (rows, columns) = (3000, 9000);
    let (bytes, _) = matrix(Numbers::F32, false, rows, columns);
    let lie = Lie { numbers: Numbers::F32, by_rows: false, shape: (rows, columns) };
    let some = IndexSet::new(columns, (0..columns).step_by(11).collect());
    let all = |_: usize| {
        let a = OnDevice::new(held(&cuda, &bytes, lie), None).unwrap();
        let r = simulate::gaussian(rows, 1, 1);
        let mut g = Vec::new();
        a.adjoint(&r, &mut g);
        let products = a.products(&vec![1.0; rows], &some, &some).unwrap();
        assert!(dot(&g, &g) > 0.0);
        (g, products, a.moments(&vec![1.0; rows]))
    };
    let first = all(0);
    (1..5).for_each(|run| assert_eq!(all(run), first));
}
