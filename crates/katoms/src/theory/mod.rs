//! The convergence theory of accelerated iterative hard thresholding, as a calculator.
//!
//! Problem: minimise ½‖b − Φx‖² over ‖x‖₀ ≤ k, with b = Φx* + ε, by
//! x₊ = Π_k(u − μ∇f(u)), u₊ = x₊ + τ(x₊ − x), from x = u = 0.
//! Reference: R. Khanna, A. Kyrillidis, *IHT dies hard: Provable convergence for accelerated
//! Iterative Hard Thresholding*.
//!
//! | paper | code | meaning |
//! |---|---|---|
//! | α_s, β_s | [`restricted_curvature`] | extreme eigenvalues of Φ_SᵀΦ_S over all supports S of size s |
//! | α₃ₖ, β₃ₖ, κ, ξ | [`Conditioning`] | κ = β/α, ξ = 2(κ−1)/(κ+1) |
//! | A, λ₁, λ₂, Aⁱ | [`Contraction`] | A = \[\[ξ\|1+τ\|, ξ\|τ\|\], \[1, 0\]\] |
//! | y(T), ζ | [`ErrorBound`] | bound on ‖x_T − x*‖, and the T at which it meets ζ |
//!
//! ```
//! use katoms::theory::Conditioning;
//!
//! let curvature = Conditioning::new(0.8, 1.2)?;
//! let contraction = curvature.contraction(0.25)?;
//! let noise = curvature.noise_gain(1.1)? * 1e-3; // ‖ε‖ = 1e-3
//! let bound = contraction.bound(1.0, noise)?; // ‖x*‖ = 1
//! let steps = bound.iterations_to(0.01).expect("the radius is below one");
//! assert!(bound.after(steps) <= 0.01 && bound.after(steps - 1) > 0.01);
//! # Ok::<(), katoms::theory::TheoryError>(())
//! ```
//!
//! # Where we depart from the printed text
//!
//! Write t = ξ|1+τ|, d = ξ|τ|, q = t + d, so that A = \[\[t, d\], \[1, 0\]\]. All of it was
//! checked by hand, and most of it is a test of this module.
//!
//! 1. **The published momentum range is nearly always empty.** |τ| < (1 − φ√ξ)/(φ√ξ) needs
//!    ξ < 1/φ² ≈ 0.382, that is κ < 1.472. Exactly: p(λ) = λ² − tλ − d has the roots
//!    λ₂ ≤ 0 ≤ λ₁ with |λ₂| ≤ λ₁, and λ₁ < 1 ⇔ p(1) = 1 − q > 0. So the radius is below one
//!    iff ξ(|1+τ| + |τ|) < 1, that is −(1+1/ξ)/2 < τ < (1/ξ−1)/2, for ξ < 1 (κ < 3).
//! 2. **The iteration count has the wrong sign.** λ₁ᵀ ≤ c gives T ≥ log(1/c)/log(1/λ₁); the
//!    printed denominator log λ₁ is negative.
//! 3. **The noise term is 4√β₂ₖ/(α₃ₖ+β₃ₖ)·‖ε‖, not 2√β₂ₖ/(α₃ₖ+β₃ₖ)·‖ε‖**: see
//!    [`Conditioning::noise_gain`].
//! 4. **The toy's ξ.** Its caption has ξ = 1 − α/β ≈ 0.94 for α ≈ 0.64, β ≈ 1.78. That
//!    expression is 0.64; 0.94 is 2(κ−1)/(κ+1), for which the published range is empty. The
//!    caption also speaks of supports of size k, where the lemma is about 3k; and over all pairs
//!    of columns none of 2,000 Gaussian 6×10 matrices has κ₂ below 5 (a test draws them),
//!    against the caption's 2.8. So its numbers may be those of a single support.
//! 5. **Φx* written as Φ_T x\***, as if supp x* lay inside the search set T_i. It need not. For
//!    k-sparse vectors and disjoint groups the lemma holds all the same: T_i contains supp u_i
//!    and the k largest atoms of the gradient outside it, so Π_k of the restricted step is Π_k
//!    of the full step u − μ∇f(u). Then ‖x₊ − x*‖² ≤ 2⟨x₊ − x*, (I − μΦᵀΦ)(u − x*) + μΦᵀε⟩;
//!    split u − x* = (1+τ)(x − x*) − τ(x₋ − x*), and each of the two products lives on a
//!    support of size 3k, where |⟨v, (I − μΦᵀΦ)w⟩| ≤ (β₃ₖ−α₃ₖ)/(β₃ₖ+α₃ₖ)·‖v‖‖w‖. For low rank
//!    and overlapping groups this argument is not available.
//! 6. **Negative momentum.** The printed (I − A)⁻¹ and the bounds after it have ξ(1+2τ) where
//!    q = ξ(|1+τ| + |τ|) belongs; they agree only for τ ≥ 0. At ξ = ½, τ = −½ the printed noise
//!    floor is half the true limit of the recursion. (One vector there has a slip besides: the
//!    second entry of (I − A)⁻¹(A + I)e₁ is 2/(1−q).)
//! 7. **A gap that may vanish.** The closed bound divides by |λ₁| − |λ₂| = t, zero at τ = −1,
//!    though λ₁ − λ₂ = √(t² + 4d) is what the power formula has. (The lemma on the eigenvalues
//!    prints ξ²(1+τ) under the root where ξ²(1+τ)² belongs.)
//! 8. **No gain from momentum in this bound.** p(ξ) is −ξτ(1+ξ) for τ > 0, −ξ|τ|(1−ξ) for
//!    −1 ≤ τ ≤ 0 and ξ(2ξ − |τ|(1+ξ)) for τ < −1: negative whenever τ ≠ 0 and 0 < ξ < 1, so
//!    that λ₁ > ξ there. The radius is least at τ = 0, plain IHT; what momentum gains in
//!    practice, this theory does not explain.
//! 9. **The step 1/λ_max(ΦᵀΦ) is too short.** For Gaussian Φ with columns of norm about one,
//!    λ_max ≈ (1+√(n/m))² = 38 at (m, n) = (7500, 200000), while a typical support of size
//!    3k = 1500 has eigenvalues in (1 ± √0.2)² = \[0.31, 2.09\]: 1/β is 18 times longer, and
//!    2/(α+β) 32 times.

mod bound;
mod conditioning;
mod contraction;
mod error;
mod restricted;
#[cfg(test)]
mod tests;

pub use bound::ErrorBound;
pub use conditioning::Conditioning;
pub use contraction::Contraction;
pub use error::TheoryError;
pub use restricted::{RestrictedCurvature, restricted_curvature};
