//! Pulling the weak atoms of a chosen model towards zero.
//!
//! More atoms than there are fit noise, and least squares on the chosen support believes it. One step of
//! the adaptive ridge,
//!
//! > x(c) = argmin over the support of f(x) + ½·c·σ̂²·Σ (x_j/x̂_j)²,
//!
//! multiplies a coefficient by about t²/(t² + c), where t is its size in standard errors: strong atoms keep
//! theirs, atoms that chance has chosen lose most of it, and none becomes zero, so that their order still
//! tells. c is for cross-validation to choose, with the support chosen anew in each training set.

use crate::linalg::{Matrix, solve_symmetric};
use crate::search::Quadratic;
use crate::space::{IndexSet, SparseVec};

/// x(c) for the minimum x̂ of q on its support, whose columns are known. What is `free` is not pulled.
/// `variance` is σ̂².
pub(super) fn shrunk(q: &dyn Quadratic, x: &SparseVec, free: &IndexSet, variance: f64, c: f64) -> SparseVec {
    let at = x.indices();
    let pull = |a: usize| {
        let value = x.values()[a];
        if free.contains(at[a]) { 0.0 } else { c * variance / (value * value) }
    };
    let gram = Matrix::from_fn(at.len(), at.len(), |a, b| {
        let entry = q.column(at[b])[at[a]];
        // A coefficient of 0 stays there.
        if a == b { entry + pull(a).min(f64::MAX / 4.0) } else { entry }
    });
    let right: Vec<f64> = at.iter().map(|&j| q.linear()[j]).collect();
    SparseVec::sorted(x.dim(), at.to_vec(), solve_symmetric(&gram, &right))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::quadratic::explicit::Explicit;
    use crate::search::tableau::Tableau;
    use crate::set::Atoms;
    use crate::simulate;

    #[test]
    fn orthogonal_atoms_lose_what_their_standard_errors_say() {
        let design = Matrix::from_fn(4, 4, |i, j| if i == j { 2.0 } else { 0.0 });
        let q = Explicit::new(&design, &[8.0, 2.0, -4.0, 1.0], 0.0);
        let x = SparseVec::new(4, vec![0, 1, 2], vec![4.0, 1.0, -2.0]).unwrap();
        let free = IndexSet::new(4, vec![2]);
        let (variance, c) = (0.5, 3.0);
        let pulled = shrunk(&q, &x, &free, variance, c);
        for (j, v) in x.entries().filter(|e| e.0 != 2) {
            let t2 = v * v * 4.0 / variance;
            assert!((pulled.value_at(j) - v * t2 / (t2 + c)).abs() < 1e-12);
        }
        assert!((pulled.value_at(2) + 2.0).abs() < 1e-12, "what is free stays");
        assert!(
            shrunk(&q, &x, &free, variance, 0.0).values().iter().zip(x.values()).all(|(a, b)| (a - b).abs() < 1e-12)
        );
    }

    #[test]
    fn a_coefficient_of_zero_stays_there() {
        let design = Matrix::from_columns(20, 3, simulate::gaussian(20, 3, 1));
        let q = Explicit::new(&design, &simulate::gaussian(20, 1, 2), 0.0);
        let (atoms, none) = (Atoms::coordinates(3), IndexSet::new(3, Vec::new()));
        let mut x = Tableau::new(&q, &atoms, &none, &[0, 1]).point();
        x = SparseVec::new(3, vec![0, 1, 2], vec![x.value_at(0), x.value_at(1), 0.0]).unwrap();
        let pulled = shrunk(&q, &x, &none, 0.1, 2.0);
        assert_eq!(pulled.indices(), [0, 1, 2]);
        assert!(pulled.value_at(2).abs() < 1e-12 && pulled.values().iter().all(|v| v.is_finite()));
        assert!((0..2).all(|j| pulled.value_at(j).abs() < x.value_at(j).abs()));
    }
}
