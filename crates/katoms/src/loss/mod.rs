//! Losses: one per file. A loss sees predictions, never features.

mod least_squares;
mod logistic;
mod weights;

use std::fmt::Debug;

pub use least_squares::LeastSquares;
pub use logistic::Logistic;

/// ℓ(z) = Σ wᵢ·ℓᵢ(zᵢ), convex and smooth, on a vector of predictions. Every method is O(m).
pub trait Loss: Debug + Sync {
    /// The number of predictions it wants.
    fn n_outputs(&self) -> usize;
    /// ℓ(z).
    fn value(&self, z: &[f64]) -> f64;
    /// r = ∇ℓ(z).
    fn gradient(&self, z: &[f64], r: &mut [f64]);
    /// h = the diagonal of ∇²ℓ(z): step sizes and Newton refits.
    fn curvature(&self, z: &[f64], h: &mut [f64]);
    /// The largest entry that `curvature` can have anywhere.
    fn curvature_bound(&self) -> f64;
    /// Whether the curvature is the same everywhere, so that a Newton step is exact.
    fn is_quadratic(&self) -> bool;
    /// A number that ℓ never goes below.
    fn lower_bound(&self) -> f64 {
        0.0
    }
    /// ℓ*(a) = sup over z of aᵀz − ℓ(z), +∞ where there is no largest: what a proof of optimality needs.
    /// `None` where it is not known.
    fn conjugate(&self, a: &[f64]) -> Option<f64> {
        let _ = a;
        None
    }
}

impl<L: Loss> Loss for &L {
    fn n_outputs(&self) -> usize {
        (**self).n_outputs()
    }
    fn value(&self, z: &[f64]) -> f64 {
        (**self).value(z)
    }
    fn gradient(&self, z: &[f64], r: &mut [f64]) {
        (**self).gradient(z, r);
    }
    fn curvature(&self, z: &[f64], h: &mut [f64]) {
        (**self).curvature(z, h);
    }
    fn curvature_bound(&self) -> f64 {
        (**self).curvature_bound()
    }
    fn is_quadratic(&self) -> bool {
        (**self).is_quadratic()
    }
    fn lower_bound(&self) -> f64 {
        (**self).lower_bound()
    }
    fn conjugate(&self, a: &[f64]) -> Option<f64> {
        (**self).conjugate(a)
    }
}

#[cfg(test)]
pub(crate) mod contract {
    //! What every loss must satisfy.
    use super::Loss;

    /// Gradient and curvature against central differences, finiteness far out, and the conjugate.
    pub fn check(loss: &impl Loss) {
        let m = loss.n_outputs();
        let z: Vec<f64> = (0..m).map(|i| (i as f64 * 0.7).sin() * 2.0).collect();
        let (mut r, mut h) = (vec![0.0; m], vec![0.0; m]);
        loss.gradient(&z, &mut r);
        loss.curvature(&z, &mut h);
        for i in 0..m {
            let shifted = |d: f64| {
                let mut z = z.clone();
                z[i] += d;
                z
            };
            let slope = (loss.value(&shifted(1e-5)) - loss.value(&shifted(-1e-5))) / 2e-5;
            assert!((slope - r[i]).abs() < 1e-6 * (1.0 + r[i].abs()), "slope {i}: {slope} {}", r[i]);
            let (mut up, mut down) = (vec![0.0; m], vec![0.0; m]);
            loss.gradient(&shifted(1e-5), &mut up);
            loss.gradient(&shifted(-1e-5), &mut down);
            let bend = (up[i] - down[i]) / 2e-5;
            assert!((bend - h[i]).abs() < 1e-6 * (1.0 + h[i]), "curvature {i}: {bend} {}", h[i]);
            assert!(h[i] <= loss.curvature_bound() * (1.0 + 1e-15));
        }
        for far in [-1e3, 1e3] {
            let z = vec![far; m];
            loss.gradient(&z, &mut r);
            loss.curvature(&z, &mut h);
            assert!(loss.value(&z).is_finite() && loss.value(&z) >= loss.lower_bound());
            assert!(r.iter().chain(&h).all(|v| v.is_finite()));
        }
        check_conjugate(loss, &z);
    }

    /// aᵀz ≤ ℓ(z) + ℓ*(a), with equality at a = ∇ℓ(z) and nowhere far from it.
    fn check_conjugate(loss: &impl Loss, z: &[f64]) {
        let gradient = |z: &[f64]| {
            let mut r = vec![0.0; z.len()];
            loss.gradient(z, &mut r);
            r
        };
        let a = gradient(z);
        let Some(conjugate) = loss.conjugate(&a) else { return };
        for scale in [-3.0, 0.0, 0.5, 1.0, 40.0] {
            let other: Vec<f64> = z.iter().map(|v| scale * v).collect();
            let slack = loss.value(&other) + conjugate - crate::linalg::dot(&a, &other);
            let size = 1.0 + conjugate.abs() + loss.value(&other);
            assert!(slack >= -1e-12 * size, "{scale}: {slack}");
            assert!((slack < 1e-12 * size) == (scale == 1.0), "{scale}: {slack}");
        }
    }
}
