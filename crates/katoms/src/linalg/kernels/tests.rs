//! Contracts of the kernels: near a naive loop, and the same bits however they are called.

use super::columns::Columns;
use super::rows::{ROW_TASK, Rows};
use super::*;

/// Numbers of both signs in [-1, 1), the same ones every time.
fn numbers(length: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    (0..length).map(|_| next()).collect()
}

fn narrow(x: &[f64]) -> Vec<f32> {
    x.iter().map(|&x| x as f32).collect()
}

fn bits(x: &[f64]) -> Vec<u64> {
    x.iter().map(|x| x.to_bits()).collect()
}

type Adjoint<T> = fn(&[T], &[f64], &mut [f64]);
type Block<T> = fn(&[T], &[&[f64]], &mut [&mut [f64]]);

fn call<T: Real>(adjoint: Adjoint<T>, data: &[T], r: &[f64], columns: usize) -> Vec<f64> {
    let mut out = vec![f64::NAN; columns]; // overwritten, not added to
    adjoint(data, r, &mut out);
    out
}

fn call_block<T: Real>(block: Block<T>, data: &[T], rs: &[&[f64]], columns: usize) -> Vec<Vec<f64>> {
    let mut outs = vec![vec![f64::NAN; columns]; rs.len()];
    let mut views: Vec<&mut [f64]> = outs.iter_mut().map(Vec::as_mut_slice).collect();
    block(data, rs, &mut views);
    outs
}

fn in_pool<R: Send>(threads: usize, f: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(f)
}

/// Row counts around the lanes, the step and the strip; column counts around the group.
fn shapes() -> Vec<(usize, usize)> {
    let rows = (0..70).chain([255, 256, 257, 600]);
    let columns = [0, 1, 7, 8, 9, 63, 64, 65];
    let mut shapes: Vec<_> = rows.flat_map(|m| columns.iter().map(move |&n| (m, n))).collect();
    // Several tasks: of rows by their width, of columns by their bytes.
    shapes.extend([(1, 1000), (23, 1000), (3, 2 * ROW_TASK + 37), (1001, 1037)]);
    shapes
}

fn near_naive<T: Real>(data: &[T], m: usize, n: usize) {
    let r = numbers(m, 2);
    let by_columns = call(adjoint_columns, data, &r, n);
    let by_rows = call(adjoint_rows, data, &r, n);
    for j in 0..n {
        let check = |got: f64, at: &dyn Fn(usize) -> usize| {
            let (mut sum, mut scale) = (0.0, 0.0);
            for i in 0..m {
                let product = data[at(i)].to_f64() * r[i];
                sum += product;
                scale += product.abs();
            }
            assert!((got - sum).abs() <= 1e-12 * scale, "{m} x {n}, {j}: {got}, not {sum}");
        };
        check(by_columns[j], &|i| i + j * m);
        check(by_rows[j], &|i| i * n + j);
    }
}

#[test]
fn adjoints_are_near_a_naive_loop() {
    for (m, n) in shapes() {
        let data = numbers(m * n, 1);
        near_naive(&data, m, n);
        near_naive(&narrow(&data), m, n);
    }
}

fn dots_match<T: Real>(data: &[T], m: usize, n: usize) {
    let r = numbers(m, 2);
    let out = call(adjoint_columns, data, &r, n);
    let dots: Vec<f64> = (0..n).map(|j| dot(&data[j * m..][..m], &r)).collect();
    assert_eq!(bits(&dots), bits(&out), "{m} x {n}");
}

#[test]
fn dot_has_the_bits_of_the_adjoint() {
    for (m, n) in shapes() {
        let data = numbers(m * n, 3);
        dots_match(&data, m, n);
        dots_match(&narrow(&data), m, n);
    }
}

fn block_matches<T: Real>(one: Adjoint<T>, block: Block<T>, data: &[T], m: usize, n: usize) {
    for count in [0, 1, 2, 3, 5, 8, 12, 13] {
        let rs: Vec<Vec<f64>> = (0..count).map(|q| numbers(m, 4 + q)).collect();
        let rs: Vec<&[f64]> = rs.iter().map(Vec::as_slice).collect();
        for (r, out) in rs.iter().zip(&call_block(block, data, &rs, n)) {
            assert_eq!(bits(out), bits(&call(one, data, r, n)), "{m} x {n}, {count} residuals");
        }
    }
}

#[test]
fn block_has_the_bits_of_one_by_one() {
    for (m, n) in shapes() {
        let data = numbers(m * n, 5);
        block_matches(adjoint_columns, adjoint_columns_block, &data, m, n);
        block_matches(adjoint_rows, adjoint_rows_block, &data, m, n);
        let data = narrow(&data);
        block_matches(adjoint_columns, adjoint_columns_block, &data, m, n);
        block_matches(adjoint_rows, adjoint_rows_block, &data, m, n);
    }
}

fn threads_agree<T: Real>(data: &[T], m: usize, n: usize) {
    let rs: Vec<Vec<f64>> = (0..3).map(|q| numbers(m, 7 + q)).collect();
    let rs: Vec<&[f64]> = rs.iter().map(Vec::as_slice).collect();
    for adjoint in [adjoint_columns::<T>, adjoint_rows::<T>] {
        let on = |threads| in_pool(threads, || bits(&call(adjoint, data, rs[0], n)));
        assert_eq!(on(1), on(2), "{m} x {n}");
    }
    for block in [adjoint_columns_block::<T>, adjoint_rows_block::<T>] {
        let on = |threads| in_pool(threads, || bits(&call_block(block, data, &rs, n).concat()));
        assert_eq!(on(1), on(2), "{m} x {n}, {} residuals", rs.len());
    }
}

#[test]
fn bits_do_not_depend_on_the_threads() {
    for (m, n) in [(37, 2 * ROW_TASK + 37), (1001, 1037)] {
        let data = numbers(m * n, 6);
        threads_agree(&data, m, n);
        threads_agree(&narrow(&data), m, n);
    }
}

#[test]
fn without_vector_instructions_the_sums_are_near() {
    let (m, n) = (75, 19);
    let (data, r) = (numbers(m * n, 10), numbers(m, 11));
    let mut by_columns = vec![0.0; n];
    pulp::Scalar::new().vectorize(Columns { data: &data, r: &r, out: &mut by_columns });
    let mut by_rows = vec![0.0; n];
    let (rs, outs) = (&[&r[..]], &mut [&mut by_rows[..]]);
    pulp::Scalar::new().vectorize(Rows { data: &data, columns: n, picked: None, centres: None, rs, outs });
    let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-13);
    assert!(near(&by_columns, &call(adjoint_columns, &data, &r, n)));
    assert!(near(&by_rows, &call(adjoint_rows, &data, &r, n)));
}

#[test]
fn axpy_adds_the_scaled_column() {
    for m in 0..70 {
        let x = narrow(&numbers(m, 8));
        let y = numbers(m, 9);
        let mut out = y.clone();
        axpy(0.7, &x, &mut out);
        for i in 0..m {
            let exact = y[i] + 0.7 * f64::from(x[i]);
            assert!((out[i] - exact).abs() <= 1e-15, "{m}, {i}");
        }
    }
}

#[test]
fn first_not_finite_is_the_first() {
    for length in [0, 1, 7, 8, 9, 65, 1000] {
        let mut data = vec![f64::MAX; length];
        assert_eq!(first_not_finite(&data), None);
        // From the end on: those after the first do not count.
        for i in (0..length).rev() {
            data[i] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY][i % 3];
            assert_eq!(first_not_finite(&data), Some(i));
        }
    }
}

#[test]
fn first_not_finite_looks_into_every_task() {
    let task = TASK_BYTES / size_of::<f32>();
    let mut data = vec![-0.5f32; 3 * task + 5];
    assert_eq!(first_not_finite(&data), None);
    let positions = [3 * task + 4, 3 * task, 3 * task - 1, task + 9, task, task - 1, 0];
    for (k, i) in positions.into_iter().enumerate() {
        data[i] = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY][k % 3];
        assert_eq!(first_not_finite(&data), Some(i));
    }
}

#[test]
#[should_panic(expected = "not 3 rows of 2 columns")]
fn wrong_shape_panics() {
    adjoint_columns(&[0.0; 5], &[0.0; 3], &mut [0.0; 2]);
}

/// Mean and variance of a column, the mean found in careful passes before.
fn naive_moments(column: &[f64], weights: &[f64]) -> (f64, f64) {
    let total: f64 = weights.iter().sum();
    let centred =
        |mean: f64, power| column.iter().zip(weights).map(|(x, w)| w * (x - mean).powi(power)).sum::<f64>() / total;
    let mean = (0..4).fold(column[0], |mean, _| mean + centred(mean, 1));
    (mean, centred(mean, 2))
}

#[test]
fn moments_are_near_those_of_careful_passes() {
    for (m, n) in [(1, 1), (2, 9), (7, 65), (16, 8), (67, 4200), (1001, 300)] {
        let mut columns: Vec<Vec<f64>> = (0..n).map(|j| numbers(m, 20 + j as u64)).collect();
        for (j, column) in columns.iter_mut().enumerate() {
            match j % 5 {
                1 => column.iter_mut().for_each(|x| *x += 1e6),
                2 => column[0] = 1e9, // as far from the others as a pilot can be
                3 => column.fill(0.1),
                _ => {}
            }
        }
        let mut weights = numbers(m, 21);
        weights.iter_mut().for_each(|w| *w = w.abs() + 0.1);
        for zero in [m, 0] {
            weights.iter_mut().skip(zero).take(usize::from(m > 1)).for_each(|w| *w = 0.0);
            let by_rows: Vec<f64> = (0..m * n).map(|k| columns[k % n][k / n]).collect();
            type Kernel = fn(&[f64], &[f64], &mut [f64], &mut [f64]);
            let kernels: [(Kernel, &[f64]); 2] = [(moments_columns, &columns.concat()), (moments_rows, &by_rows)];
            for (kernel, data) in kernels {
                let (mut means, mut variances) = (vec![f64::NAN; n], vec![f64::NAN; n]);
                kernel(data, &weights, &mut means, &mut variances);
                for j in 0..n {
                    let (mean, variance) = naive_moments(&columns[j], &weights);
                    let spread = variance.sqrt() + 1e-7 * mean.abs();
                    assert!(
                        (means[j] - mean).abs() <= 1e-9 * spread + 1e-15 * mean.abs(),
                        "{m} x {n}, {j}: {} not {mean}",
                        means[j]
                    );
                    assert!((variances[j] - variance).abs() <= 1e-9 * spread * spread, "{m} x {n}, {j}");
                    assert!(j % 5 != 3 || variances[j] == 0.0, "a constant column varies by {}", variances[j]);
                }
            }
        }
    }
}

fn survey_matches<T: Real>(data: &[T], m: usize, n: usize) {
    let (r, w) = (numbers(m, 51), numbers(m, 52).iter().map(|w| w.abs() + 0.1).collect::<Vec<f64>>());
    let [mut means, mut variances, mut products] = [(); 3].map(|()| vec![f64::NAN; n]);
    survey_columns(data, &w, &r, [&mut means, &mut variances, &mut products]);
    let (mut alone, mut spread) = (vec![f64::NAN; n], vec![f64::NAN; n]);
    moments_columns(data, &w, &mut alone, &mut spread);
    assert_eq!(bits(&means), bits(&alone), "means, {m} x {n}");
    assert_eq!(bits(&variances), bits(&spread), "variances, {m} x {n}");
    assert_eq!(bits(&products), bits(&call(adjoint_columns, data, &r, n)), "products, {m} x {n}");
}

#[test]
fn a_survey_has_the_bits_of_its_parts() {
    for (m, n) in [(1, 1), (5, 9), (16, 40), (67, 41), (300, 70)] {
        let data = numbers(m * n, 50);
        survey_matches(&data, m, n);
        survey_matches(&narrow(&data), m, n);
    }
}

fn picked_match<T: Real>(data: &[T], m: usize, n: usize, picked: &[usize]) {
    let (r, values) = (numbers(m, 31), numbers(picked.len(), 32));
    let what = format!("{m} x {n}, {} picked", picked.len());
    let (mut columns, mut rows) = (vec![f64::NAN; picked.len()], vec![f64::NAN; picked.len()]);
    adjoint_picked_columns(data, &r, picked, &mut columns);
    adjoint_picked_rows(data, &r, (picked, n), &mut rows);
    let some = |all: Vec<f64>| -> Vec<f64> { picked.iter().map(|&j| all[j]).collect() };
    assert_eq!(bits(&columns), bits(&some(call(adjoint_columns, data, &r, n))), "adjoint by columns, {what}");
    assert_eq!(bits(&rows), bits(&some(call(adjoint_rows, data, &r, n))), "adjoint by rows, {what}");

    let mut expected = vec![0.0; m];
    picked.iter().zip(&values).for_each(|(&j, &v)| axpy(v, &data[j * m..][..m], &mut expected));
    let mut out = vec![f64::NAN; m];
    apply_columns(data, (picked, &values), &mut out);
    assert_eq!(bits(&out), bits(&expected), "apply by columns, {what}");
    apply_rows(data, n, (picked, &values), &mut out);
    for i in 0..m {
        let terms = || picked.iter().zip(&values).map(|(&j, v)| data[i * n + j].to_f64() * v);
        let near = 1e-14 * terms().map(f64::abs).sum::<f64>();
        assert!((out[i] - terms().sum::<f64>()).abs() <= near, "apply by rows, {what}");
    }
}

#[test]
fn picked_columns_have_the_bits_of_all() {
    for (m, n) in [(1, 1), (5, 9), (16, 40), (67, 41), (300, 700), (5000, 50)] {
        let data = numbers(m * n, 30);
        for step in [1, 3, n] {
            let picked: Vec<usize> = (0..n).step_by(step).collect();
            for threads in [1, 3] {
                in_pool(threads, || picked_match(&data, m, n, &picked));
                in_pool(threads, || picked_match(&narrow(&data), m, n, &picked));
            }
        }
        picked_match(&data, m, n, &[]);
    }
}

/// Every kernel that reads a design, on numbers that are stored in some way.
fn of_every_kernel<T: Real>(data: &[T], m: usize, n: usize) -> Vec<u64> {
    let rs: Vec<Vec<f64>> = (0..3).map(|q| numbers(m, 60 + q)).collect();
    let rs: Vec<&[f64]> = rs.iter().map(Vec::as_slice).collect();
    let (weights, centres) = (rs[0].iter().map(|w| w.abs()).collect::<Vec<f64>>(), numbers(n, 63));
    let (order, starts): (Vec<usize>, _) = ((0..m).map(|i| (i * 7) % m.max(1)).collect(), [0, m / 3, m]);
    let order = if m.is_multiple_of(7) { (0..m).collect() } else { order };
    let picked: Vec<usize> = (0..n).step_by(2).collect();
    let values = numbers(picked.len(), 64);
    let mut all = Vec::new();
    for adjoint in [adjoint_columns::<T>, adjoint_rows::<T>] {
        all.extend(call(adjoint, data, rs[0], n));
    }
    for block in [adjoint_columns_block::<T>, adjoint_rows_block::<T>] {
        all.extend(call_block(block, data, &rs, n).concat());
    }
    type Parts<T> = fn(&[T], (&[usize], &[usize]), &[&[f64]], &mut [&mut [f64]]);
    for parts in [adjoint_columns_parts::<T> as Parts<T>, adjoint_rows_parts::<T>] {
        let mut outs = vec![vec![f64::NAN; n]; 6];
        parts(data, (&order, &starts), &rs, &mut outs.iter_mut().map(Vec::as_mut_slice).collect::<Vec<_>>());
        all.extend(outs.concat());
    }
    for squared_norms in [squared_norms_columns::<T>, squared_norms_rows::<T>] {
        let mut out = vec![f64::NAN; n];
        squared_norms(data, &[&weights], &centres, &mut [&mut out]);
        all.extend(out);
    }
    for moments in [moments_columns::<T>, moments_rows::<T>] {
        let (mut means, mut variances) = (vec![f64::NAN; n], vec![f64::NAN; n]);
        moments(data, &weights, &mut means, &mut variances);
        all.extend(means.into_iter().chain(variances));
    }
    let mut sums = vec![f64::NAN; picked.len()];
    adjoint_picked_columns(data, rs[0], &picked, &mut sums);
    all.extend(&sums);
    adjoint_picked_rows(data, rs[0], (&picked, n), &mut sums);
    all.extend(&sums);
    let mut out = vec![f64::NAN; m];
    apply_columns(data, (&picked, &values), &mut out);
    all.extend(&out);
    apply_rows(data, n, (&picked, &values), &mut out);
    all.extend(&out);
    axpy(0.7, &data[..m], &mut out);
    all.extend(out);
    bits(&all)
}

fn storage_does_not_matter<T: Real>(data: &[T], m: usize, n: usize) {
    let wide: Vec<f64> = data.iter().map(|x| x.to_f64()).collect();
    assert!(of_every_kernel(data, m, n) == of_every_kernel(&wide, m, n), "{m} x {n}, {}", std::any::type_name::<T>());
}

#[test]
fn the_bits_do_not_depend_on_how_numbers_are_stored() {
    for (m, n) in [(1, 1), (5, 9), (16, 40), (67, 41), (300, 70), (1001, 130)] {
        let data = numbers(m * n, 65);
        storage_does_not_matter(&narrow(&data), m, n);
        storage_does_not_matter(&data.iter().map(|&x| half::f16::from_f64(x)).collect::<Vec<_>>(), m, n);
        storage_does_not_matter(&data.iter().map(|&x| (127.0 * x) as i8).collect::<Vec<_>>(), m, n);
        storage_does_not_matter(&data.iter().map(|&x| (255.0 * x.abs()) as u8).collect::<Vec<_>>(), m, n);
    }
}

/// With the vectors of the machine and with those that are narrower.
#[test]
fn halves_become_the_same_numbers_on_every_machine() {
    struct Widened<'a>(&'a [[half::f16; STEP]]);
    impl WithSimd for Widened<'_> {
        type Output = Vec<f64>;

        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) -> Vec<f64> {
            self.0.iter().flat_map(Real::doubles::<S>).collect()
        }
    }
    let halves: Vec<half::f16> = (0..=u16::MAX).map(half::f16::from_bits).collect();
    let blocks = halves.as_chunks().0;
    let theirs: Vec<f64> = halves.iter().map(|x| half::f16::to_f64(*x)).collect();
    let is_theirs = |ours: Vec<f64>| {
        ours.iter().zip(&theirs).all(|(a, b)| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()))
    };
    assert!(is_theirs(Arch::new().dispatch(Widened(blocks))));
    assert!(is_theirs(pulp::Scalar::new().vectorize(Widened(blocks))));
    #[cfg(target_arch = "x86_64")]
    if let Some(narrower) = pulp::x86::V3::try_new() {
        assert!(is_theirs(Simd::vectorize(narrower, Widened(blocks))));
    }
}
