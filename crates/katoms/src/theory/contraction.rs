//! The 2×2 matrix A that carries the error bound from one iteration to the next.
//!
//! With t = ξ|1+τ| and d = ξ|τ|, A = [[t, d], [1, 0]]: trace t, determinant −d. Its powers are
//! Aⁱ = [[sᵢ₊₁, d·sᵢ], [sᵢ, d·sᵢ₋₁]], where sᵢ = (λ₁ⁱ − λ₂ⁱ)/(λ₁ − λ₂) is the Lucas sequence
//! s₀ = 0, s₁ = 1, sᵢ₊₁ = t·sᵢ + d·sᵢ₋₁. This is Williams's Aⁱ = sᵢA − λ₁λ₂sᵢ₋₁I, and no
//! term of it is negative.

use super::{ErrorBound, TheoryError};

/// A = \[\[ξ|1+τ|, ξ|τ|\], \[1, 0\]\]: (‖x₊ − x*‖, ‖x − x*‖) ≤ A·(‖x − x*‖, ‖x₋ − x*‖) + noise.
///
/// ```
/// use katoms::theory::Contraction;
///
/// let contraction = Contraction::new(0.4, 0.25)?;
/// assert!(contraction.converges() && contraction.spectral_radius() < 1.0);
/// # Ok::<(), katoms::theory::TheoryError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contraction {
    xi: f64,
    tau: f64,
}

impl Contraction {
    /// Checks 0 ≤ ξ ≤ 2 and that τ is finite.
    ///
    /// ```
    /// # use katoms::theory::Contraction;
    /// assert!(Contraction::new(0.5, -1.0).is_ok());
    /// assert!(Contraction::new(2.5, 0.0).is_err());
    /// ```
    pub fn new(xi: f64, tau: f64) -> Result<Self, TheoryError> {
        if !(0.0..=2.0).contains(&xi) {
            return Err(TheoryError::Xi { xi });
        }
        if !tau.is_finite() {
            return Err(TheoryError::Momentum { tau });
        }
        Ok(Self { xi, tau })
    }

    /// ξ.
    ///
    /// ```
    /// # use katoms::theory::Contraction;
    /// assert_eq!(Contraction::new(0.5, 0.25)?.xi(), 0.5);
    /// # Ok::<(), katoms::theory::TheoryError>(())
    /// ```
    pub fn xi(&self) -> f64 {
        self.xi
    }

    /// τ, the momentum.
    ///
    /// ```
    /// # use katoms::theory::Contraction;
    /// assert_eq!(Contraction::new(0.5, 0.25)?.tau(), 0.25);
    /// # Ok::<(), katoms::theory::TheoryError>(())
    /// ```
    pub fn tau(&self) -> f64 {
        self.tau
    }

    /// t = ξ|1+τ|, the trace; also the gap |λ₁| − |λ₂|, since λ₂ ≤ 0.
    pub(super) fn trace(&self) -> f64 {
        self.xi * (1.0 + self.tau).abs()
    }

    /// d = ξ|τ|, minus the determinant.
    pub(super) fn coupling(&self) -> f64 {
        self.xi * self.tau.abs()
    }

    /// q = ξ(|1+τ| + |τ|), the sum of A's first row.
    ///
    /// ```
    /// # use katoms::theory::Contraction;
    /// assert_eq!(Contraction::new(0.5, 0.25)?.row_sum(), 0.75);
    /// # Ok::<(), katoms::theory::TheoryError>(())
    /// ```
    pub fn row_sum(&self) -> f64 {
        self.trace() + self.coupling()
    }

    /// Whether q < 1, which is to say that the spectral radius is below one.
    ///
    /// ```
    /// # use katoms::theory::Contraction;
    /// assert!(Contraction::new(0.5, 0.4)?.converges());
    /// assert!(!Contraction::new(0.5, 0.6)?.converges());
    /// # Ok::<(), katoms::theory::TheoryError>(())
    /// ```
    pub fn converges(&self) -> bool {
        self.row_sum() < 1.0
    }

    /// A, by rows.
    ///
    /// ```
    /// # use katoms::theory::Contraction;
    /// assert_eq!(Contraction::new(0.5, 1.0)?.matrix(), [[1.0, 0.5], [1.0, 0.0]]);
    /// # Ok::<(), katoms::theory::TheoryError>(())
    /// ```
    pub fn matrix(&self) -> [[f64; 2]; 2] {
        [[self.trace(), self.coupling()], [1.0, 0.0]]
    }

    /// (λ₁, λ₂), the roots of λ² − tλ − d: real, λ₁ ≥ |λ₂|, λ₂ ≤ 0. Both are 0 where ξ = 0,
    /// and this is the only double root.
    ///
    /// ```
    /// # use katoms::theory::Contraction;
    /// let (first, second) = Contraction::new(0.5, -1.0)?.eigenvalues();
    /// assert!((first - 0.5_f64.sqrt()).abs() < 1e-15 && (second + first).abs() < 1e-15);
    /// # Ok::<(), katoms::theory::TheoryError>(())
    /// ```
    pub fn eigenvalues(&self) -> (f64, f64) {
        let (t, d) = (self.trace(), self.coupling());
        let first = 0.5 * t + 0.5 * t.hypot(2.0 * d.sqrt());
        // By the product of the roots: (t − √(t²+4d))/2 would cancel for small d.
        let second = if first > 0.0 { -d / first } else { 0.0 };
        (first, second)
    }

    /// max |λ| = λ₁. For ξ < 1 it is least, and equal to ξ, at τ = 0.
    ///
    /// ```
    /// # use katoms::theory::Contraction;
    /// assert_eq!(Contraction::new(0.5, 0.0)?.spectral_radius(), 0.5);
    /// # Ok::<(), katoms::theory::TheoryError>(())
    /// ```
    pub fn spectral_radius(&self) -> f64 {
        self.eigenvalues().0
    }

    /// sᵢ = (λ₁ⁱ − λ₂ⁱ)/(λ₁ − λ₂), or its limit i·λⁱ⁻¹ at the double root λ = 0.
    pub(super) fn lucas(&self, i: u64) -> f64 {
        let (first, _) = self.eigenvalues();
        if i < 2 || first == 0.0 {
            return if i == 1 { 1.0 } else { 0.0 };
        }
        // sᵢ = λ₁ⁱ⁻¹(1 − (−r)ⁱ)/(1 + r), with r = |λ₂|/λ₁ = 1 − t/λ₁. For even i the difference
        // 1 − rⁱ cancels as r → 1 (t → 0), hence the logarithm of r from t itself.
        let log_ratio = (-(self.trace() / first).min(1.0)).ln_1p();
        let decay = i as f64 * log_ratio;
        let difference = if i.is_multiple_of(2) { -decay.exp_m1() } else { 1.0 + decay.exp() };
        product(first.powf((i - 1) as f64), difference) / (1.0 + log_ratio.exp())
    }

    /// Aⁱ in closed form; +∞ in an entry that overflows. O(1).
    ///
    /// ```
    /// # use katoms::theory::Contraction;
    /// let contraction = Contraction::new(0.5, 1.0)?;
    /// assert_eq!(contraction.power(0), [[1.0, 0.0], [0.0, 1.0]]);
    /// let square = contraction.power(2);
    /// assert!((square[0][0] - 1.5).abs() < 1e-14 && (square[1][1] - 0.5).abs() < 1e-14);
    /// # Ok::<(), katoms::theory::TheoryError>(())
    /// ```
    pub fn power(&self, i: u64) -> [[f64; 2]; 2] {
        if i == 0 {
            return [[1.0, 0.0], [0.0, 1.0]];
        }
        let d = self.coupling();
        let (before, here, after) = (self.lucas(i - 1), self.lucas(i), self.lucas(i + 1));
        [[after, product(d, here)], [here, product(d, before)]]
    }

    /// The bound that starts at ‖x*‖ = `signal_norm` and gains `noise` at each step.
    ///
    /// `noise` is [`noise_gain`](super::Conditioning::noise_gain) times ‖ε‖; 0 without noise.
    ///
    /// ```
    /// # use katoms::theory::Contraction;
    /// let bound = Contraction::new(0.5, 0.0)?.bound(1.0, 0.0)?;
    /// assert_eq!(bound.after(3), 0.125);
    /// # Ok::<(), katoms::theory::TheoryError>(())
    /// ```
    pub fn bound(&self, signal_norm: f64, noise: f64) -> Result<ErrorBound, TheoryError> {
        ErrorBound::new(*self, signal_norm, noise)
    }
}

/// a·b, with 0·∞ = 0: a zero here is an exact one, an infinity an overflow.
pub(super) fn product(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 { 0.0 } else { a * b }
}
