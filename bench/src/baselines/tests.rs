use katoms::linalg::{self, Matrix, top_k};
use katoms::simulate;

use super::greedy::Chosen;
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
fn all(data: &Data<'_>, k: usize) -> Vec<(&'static str, Option<Model>)> {
    let of = |path: Vec<Model>| at_most(&path, k).cloned();
    vec![
        ("omp", of(omp(data, k))),
        ("forward", of(forward_regression(data, k))),
        ("foba", of(foba(data, 2 * k, 0.5))),
        ("cosamp", Some(cosamp(data, k))),
        ("subspace", Some(subspace_pursuit(data, k))),
        ("htp", Some(htp(data, k))),
        ("oblivious", Some(oblivious(data, k))),
    ]
}

#[test]
fn on_an_orthonormal_design_all_choose_the_largest() -> Result<(), Error> {
    for seed in 0..5 {
        let q = Matrix::from_columns(12, 12, simulate::gaussian(12, 12, seed)).orthonormalized();
        let y = simulate::normals(12, &mut simulate::generator(seed, 9));
        let data = Data::new(q.data(), 12, 12, &y)?;
        let sizes: Vec<f64> = data.adjoint(&y).iter().map(|v| v.abs()).collect();
        for k in [1, 4, 7] {
            for (name, model) in all(&data, k) {
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
        for (name, model) in all(&data, 4) {
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
    for path in [omp(&data, 15), forward_regression(&data, 15)] {
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
fn omp_takes_the_most_correlated_column() -> Result<(), Error> {
    let (design, y) = small(2, 25, 20);
    let data = Data::new(&design, 25, 20, &y)?;
    let mut support: Vec<usize> = Vec::new();
    for model in omp(&data, 8) {
        let (_, residual) = data.refit(support.clone(), 0);
        let scores = data.normalised(&data.adjoint(&residual));
        support.extend(top_k(&scores, 1));
        support.sort_unstable();
        assert_eq!(model.support, support);
    }
    Ok(())
}

#[test]
fn forward_regression_is_the_greedy_of_brute_force() -> Result<(), Error> {
    for seed in 0..5 {
        let (design, y) = small(seed, 20, 15);
        let data = Data::new(&design, 20, 15, &y)?;
        let mut support: Vec<usize> = Vec::new();
        for model in forward_regression(&data, 8) {
            let free = (0..15).filter(|j| !support.contains(j));
            let grown = free.map(|j| {
                let mut next = [support.clone(), vec![j]].concat();
                next.sort_unstable();
                data.refit(next, 0).0
            });
            let best = grown.min_by(|a, b| a.objective.total_cmp(&b.objective)).expect("atoms are left");
            assert_eq!(model.support, best.support, "seed {seed}");
            support = best.support;
        }
    }
    Ok(())
}

#[test]
fn removals_keep_the_fit_exact() -> Result<(), Error> {
    let (design, y) = small(3, 30, 20);
    let data = Data::new(&design, 30, 20, &y)?;
    let mut chosen = Chosen::new(&data);
    (0..12).for_each(|j| assert!(chosen.add(j)));
    for place in [0, 10, 3, 4, 7] {
        let before = chosen.model();
        let cost = chosen.costs()[place];
        chosen.remove(place);
        let after = chosen.model();
        let (fresh, _) = data.refit(after.support.clone(), 0);
        assert_eq!(after.support.len() + 1, before.support.len());
        assert!((after.objective - fresh.objective).abs() < 1e-12 * data.zero_objective());
        assert!((after.objective - before.objective - cost).abs() < 1e-12 * data.zero_objective());
        assert!(linalg::norm(&linalg::combine(1.0, &after.coefficients, -1.0, &fresh.coefficients)) < 1e-10);
        assert!(chosen.add(14) && chosen.costs().len() == before.support.len());
        chosen.remove(before.support.len() - 1);
    }
    Ok(())
}

#[test]
fn foba_takes_back_what_became_useless() -> Result<(), Error> {
    let mut better = 0;
    for seed in 0..20 {
        let (design, y) = small(seed, 30, 40);
        let data = Data::new(&design, 30, 40, &y)?;
        let (both, alone) = (foba(&data, 12, 0.5), forward_regression(&data, 12));
        // Up to the first removal the two agree; from there on FoBa is judged size by size.
        assert_eq!(both[0], alone[0], "seed {seed}");
        better += both.iter().zip(&alone).filter(|(b, a)| b.objective < a.objective * (1.0 - 1e-9)).count();
        assert!(both.iter().enumerate().all(|(k, m)| m.support.len() == k + 1));
    }
    assert!(better > 0, "no removal ever helped");
    Ok(())
}

/// Zhang's loop by brute force, which checks that no atom stays whose removal costs at most half of the
/// gain of its level.
#[test]
fn foba_keeps_no_cheap_atom() -> Result<(), Error> {
    for seed in 0..10 {
        let (design, y) = small(seed, 20, 25);
        let data = Data::new(&design, 20, 25, &y)?;
        let fitted = |s: &[usize]| data.refit(s.to_vec(), 0).0;
        let (mut support, mut gains, mut best) = (Vec::<usize>::new(), Vec::new(), vec![f64::INFINITY; 10]);
        let by_objective = |a: &Model, b: &Model| a.objective.total_cmp(&b.objective);
        while support.len() < 10 {
            let now = fitted(&support).objective;
            let grown = (0..25).filter(|j| !support.contains(j)).map(|j| {
                let mut next = [support.clone(), vec![j]].concat();
                next.sort_unstable();
                fitted(&next)
            });
            let model = grown.min_by(by_objective).expect("atoms are left");
            gains.push(now - model.objective);
            best[model.support.len() - 1] = model.objective.min(best[model.support.len() - 1]);
            support = model.support;
            while support.len() > 1 {
                let now = fitted(&support).objective;
                let without = |p: usize| fitted(&[&support[..p], &support[p + 1..]].concat());
                let model = (0..support.len()).map(without).min_by(by_objective).expect("atoms are there");
                if model.objective - now > 0.5 * gains[gains.len() - 1] {
                    break;
                }
                gains.pop();
                best[model.support.len() - 1] = model.objective.min(best[model.support.len() - 1]);
                support = model.support;
            }
        }
        let found = foba(&data, 10, 0.5);
        for (k, (model, best)) in found.iter().zip(best).enumerate() {
            assert!((model.objective - best).abs() < 1e-10, "seed {seed}, k {}: {} {best}", k + 1, model.objective);
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
    for path in [omp(&data, 10), forward_regression(&data, 10), foba(&data, 10, 0.5)] {
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
