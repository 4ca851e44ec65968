use katoms::linalg::{self, Matrix, top_k};
use katoms::simulate;

use super::*;

/// A design with columns of mixed norms and a noisy target.
fn small(seed: u64, rows: usize, columns: usize) -> (Vec<f64>, Vec<f64>) {
    let mut design = simulate::autoregressive(rows, columns, 0.6, seed);
    for (j, column) in design.chunks_mut(rows).enumerate() {
        column.iter_mut().for_each(|v| *v *= 1.0 + (j % 3) as f64);
    }
    (design, simulate::normals(rows, &mut simulate::generator(seed, 9)))
}

/// A Gaussian design, a planted vector, its image.
fn planted(seed: u64, k: usize) -> Result<(Vec<f64>, SparseVec, Vec<f64>), Error> {
    let (rows, columns) = (60, 100);
    let design = simulate::gaussian(rows, columns, seed);
    let truth = simulate::sparse_signal(columns, k, seed).map(|_, v| v.signum());
    let mut y = vec![0.0; rows];
    truth.entries().for_each(|(j, v)| kernels::axpy(v, &design[j * rows..][..rows], &mut y));
    Ok((design, truth, y))
}

/// Every method's model of at most k atoms.
fn all(data: &Data<'_>, k: usize) -> Result<Vec<(&'static str, Option<Model>)>, Error> {
    let of = |path: Vec<Model>| at_most(&path, k).cloned();
    Ok(vec![
        ("omp", of(omp(data, k)?)),
        ("forward", of(forward_regression(data, k)?)),
        ("foba", Some(foba(data, k, 2 * k)?)),
        ("cosamp", Some(cosamp(data, k))),
        ("subspace", Some(subspace_pursuit(data, k))),
        ("htp", Some(htp(data, k))),
        ("oblivious", Some(oblivious(data, k))),
    ])
}

#[test]
fn on_an_orthonormal_design_all_choose_the_largest() -> Result<(), Error> {
    for seed in 0..5 {
        let q = Matrix::from_columns(12, 12, simulate::gaussian(12, 12, seed)).orthonormalized();
        let y = simulate::normals(12, &mut simulate::generator(seed, 9));
        let data = Data::new(q.data(), 12, 12, &y)?;
        let sizes: Vec<f64> = data.adjoint(&y).iter().map(|v| v.abs()).collect();
        for k in [1, 4, 7] {
            for (name, model) in all(&data, k)? {
                assert_eq!(model.map(|m| m.support), Some(top_k(&sizes, k)), "{name}, seed {seed}, k {k}");
            }
        }
    }
    Ok(())
}

#[test]
fn an_easy_planted_vector_is_found() -> Result<(), Error> {
    for seed in 0..10 {
        let (design, truth, y) = planted(seed, 4)?;
        let data = Data::new(&design, 60, 100, &y)?;
        for (name, model) in all(&data, 4)? {
            let found = model.map(|m| m.vector(100)).transpose()?;
            let error =
                found.map_or(f64::NAN, |x| linalg::norm(&linalg::combine(1.0, &x.to_dense(), -1.0, &truth.to_dense())));
            assert!(name == "oblivious" || error < 1e-10, "{name}, seed {seed}: {error:e}");
        }
    }
    Ok(())
}

#[test]
fn paths_are_nested_and_fitted() -> Result<(), Error> {
    let (design, y) = small(1, 40, 30);
    let data = Data::new(&design, 40, 30, &y)?;
    for path in [omp(&data, 15)?, forward_regression(&data, 15)?] {
        assert_eq!(path.len(), 15);
        for (before, after) in path.iter().zip(&path[1..]) {
            assert!(before.support.iter().all(|j| after.support.contains(j)));
            assert!(after.objective <= before.objective);
        }
        for (k, model) in path.iter().enumerate() {
            let (fresh, _) = data.refit(model.support.clone(), 0);
            assert_eq!((model.support.len(), model.passes), (k + 1, k + 1));
            assert!((model.objective - fresh.objective).abs() < 1e-12 * data.zero_objective());
            let apart = linalg::combine(1.0, &model.coefficients, -1.0, &fresh.coefficients);
            assert!(linalg::norm(&apart) < 1e-10 * linalg::norm(&fresh.coefficients), "k {k}");
        }
    }
    Ok(())
}

#[test]
fn duplicates_and_zeros_are_no_trouble() -> Result<(), Error> {
    let (mut design, y) = small(4, 20, 10);
    design.copy_within(0..20, 60);
    design[100..120].fill(0.0);
    let data = Data::new(&design, 20, 10, &y)?;
    for path in [omp(&data, 10)?, forward_regression(&data, 10)?, vec![foba(&data, 10, 10)?]] {
        let last = path.last().expect("a path");
        assert_eq!(last.support.len(), 8, "{last:?}");
        assert!(last.coefficients.iter().all(|c| c.abs() < 1e3));
    }
    for model in [cosamp(&data, 4), subspace_pursuit(&data, 4), htp(&data, 4), oblivious(&data, 4)] {
        assert!(model.objective.is_finite() && model.objective <= data.zero_objective());
    }
    Ok(())
}

#[test]
fn more_candidates_than_rows_are_no_trouble() -> Result<(), Error> {
    let (design, _, y) = planted(0, 25)?;
    let data = Data::new(&design, 60, 100, &y)?;
    let model = cosamp(&data, 25);
    assert!(model.support.len() == 25 && model.objective.is_finite());
    Ok(())
}

#[test]
fn bad_input_is_told() {
    assert!(Data::new(&[], 0, 0, &[]).is_err());
    assert!(Data::new(&[1.0], 1, 1, &[]).is_err());
    assert!(Data::new(&[f64::NAN], 1, 1, &[1.0]).is_err());
    assert!(Data::new(&[1.0], 1, 1, &[f64::INFINITY]).is_err());
}
