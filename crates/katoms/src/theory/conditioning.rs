//! Restricted curvature α₃ₖ, β₃ₖ and what follows from it alone: κ, ξ, the step, the noise gain
//! and the range of the momentum.

use super::error::magnitude;
use super::{Contraction, TheoryError};

/// φ = (1+√5)/2, the golden ratio.
const GOLDEN: f64 = 1.618_033_988_749_895;

/// Restricted curvature: α‖x‖² ≤ ‖Φx‖² ≤ β‖x‖² for every x of at most 3k atoms.
///
/// ```
/// use katoms::theory::Conditioning;
///
/// // The paper's toy.
/// let toy = Conditioning::new(0.64, 1.78)?;
/// assert!((toy.kappa() - 2.78125).abs() < 1e-12);
/// assert!((toy.xi() - 0.942).abs() < 1e-3);
/// # Ok::<(), katoms::theory::TheoryError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conditioning {
    alpha: f64,
    beta: f64,
}

impl Conditioning {
    /// Checks 0 < α ≤ β < ∞.
    ///
    /// ```
    /// use katoms::theory::Conditioning;
    ///
    /// assert!(Conditioning::new(0.5, 0.5).is_ok());
    /// assert!(Conditioning::new(0.0, 1.0).is_err());
    /// ```
    pub fn new(alpha: f64, beta: f64) -> Result<Self, TheoryError> {
        // A NaN fails the comparisons, so it is refused too.
        if alpha > 0.0 && alpha <= beta && beta.is_finite() {
            Ok(Self { alpha, beta })
        } else {
            Err(TheoryError::Curvature { alpha, beta })
        }
    }

    /// α, the least curvature.
    ///
    /// ```
    /// # use katoms::theory::Conditioning;
    /// assert_eq!(Conditioning::new(0.5, 2.0)?.alpha(), 0.5);
    /// # Ok::<(), katoms::theory::TheoryError>(())
    /// ```
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// β, the greatest curvature.
    ///
    /// ```
    /// # use katoms::theory::Conditioning;
    /// assert_eq!(Conditioning::new(0.5, 2.0)?.beta(), 2.0);
    /// # Ok::<(), katoms::theory::TheoryError>(())
    /// ```
    pub fn beta(&self) -> f64 {
        self.beta
    }

    /// κ = β/α ≥ 1.
    ///
    /// ```
    /// # use katoms::theory::Conditioning;
    /// assert_eq!(Conditioning::new(0.5, 2.0)?.kappa(), 4.0);
    /// # Ok::<(), katoms::theory::TheoryError>(())
    /// ```
    pub fn kappa(&self) -> f64 {
        self.beta / self.alpha
    }

    /// ξ = 2(κ−1)/(κ+1), in \[0, 2\]: twice the factor by which one gradient step contracts.
    ///
    /// ```
    /// # use katoms::theory::Conditioning;
    /// assert_eq!(Conditioning::new(1.0, 3.0)?.xi(), 1.0);
    /// # Ok::<(), katoms::theory::TheoryError>(())
    /// ```
    pub fn xi(&self) -> f64 {
        // From the difference, not from κ: β − α is exact where they are close.
        (self.beta - self.alpha) / self.half_sum()
    }

    /// μ = 2/(α+β), the fixed step of the theory: it minimises ‖I − μΦᵀΦ‖ on 3k atoms.
    ///
    /// ```
    /// # use katoms::theory::Conditioning;
    /// assert_eq!(Conditioning::new(1.0, 3.0)?.step(), 0.5);
    /// # Ok::<(), katoms::theory::TheoryError>(())
    /// ```
    pub fn step(&self) -> f64 {
        1.0 / self.half_sum()
    }

    /// (α+β)/2, halved first so that it cannot overflow.
    fn half_sum(&self) -> f64 {
        0.5 * self.alpha + 0.5 * self.beta
    }

    /// What one step adds to the error per unit of ‖ε‖: 4√β₂ₖ/(α₃ₖ+β₃ₖ).
    ///
    /// The paper has 2 for 4. From ‖x₊ − x*‖² ≤ 2⟨x₊ − x*, ū − x*⟩, the noise enters as
    /// 2⟨x₊ − x*, μΦᵀε⟩ ≤ 2μ‖Φ(x₊ − x*)‖‖ε‖ ≤ 2μ√β₂ₖ‖x₊ − x*‖‖ε‖, as x₊ − x* has at most 2k
    /// atoms. Divide by ‖x₊ − x*‖: the gain is 2μ√β₂ₖ, and μ is itself 2/(α₃ₖ+β₃ₖ). The proof
    /// has 2μ one line earlier and loses one of the two factors when it puts μ in.
    /// The printed bound fails: Φ = I₂, k = 1, x* = e₁, ε = (−0.5, 0.501) give α = β = 1 and
    /// x₁ = (0, 0.501), at distance 1.12 from x*, where it allows ‖ε‖ = 0.71.
    ///
    /// ```
    /// # use katoms::theory::Conditioning;
    /// assert_eq!(Conditioning::new(1.0, 1.0)?.noise_gain(1.0)?, 2.0);
    /// # Ok::<(), katoms::theory::TheoryError>(())
    /// ```
    pub fn noise_gain(&self, beta_2k: f64) -> Result<f64, TheoryError> {
        Ok(2.0 * self.step() * magnitude("beta_2k", beta_2k)?.sqrt())
    }

    /// The published range of the momentum, |τ| < (1 − φ√ξ)/(φ√ξ), as (lower, upper).
    ///
    /// `None` where it is empty: unless ξ < 1/φ² ≈ 0.382. All reals where ξ = 0.
    /// Sufficient only; see [`exact_momentum`](Self::exact_momentum).
    ///
    /// ```
    /// # use katoms::theory::Conditioning;
    /// assert!(Conditioning::new(1.0, 1.4)?.published_momentum().is_some());
    /// assert!(Conditioning::new(1.0, 1.5)?.published_momentum().is_none());
    /// # Ok::<(), katoms::theory::TheoryError>(())
    /// ```
    pub fn published_momentum(&self) -> Option<(f64, f64)> {
        let radius_at_zero = GOLDEN * self.xi().sqrt();
        let half_width = (1.0 - radius_at_zero) / radius_at_zero;
        (radius_at_zero < 1.0).then_some((-half_width, half_width))
    }

    /// The open range of τ in which the spectral radius is below one, as (lower, upper):
    /// −(1+1/ξ)/2 < τ < (1/ξ−1)/2, the solution of ξ(|1+τ| + |τ|) < 1.
    ///
    /// `None` where it is empty: from ξ ≥ 1 (κ ≥ 3) on. All reals where ξ = 0.
    ///
    /// ```
    /// # use katoms::theory::Conditioning;
    /// let (lower, upper) = Conditioning::new(0.6, 1.0)?.exact_momentum().expect("xi = 1/2");
    /// assert!((lower + 1.5).abs() < 1e-12 && (upper - 0.5).abs() < 1e-12);
    /// # Ok::<(), katoms::theory::TheoryError>(())
    /// ```
    pub fn exact_momentum(&self) -> Option<(f64, f64)> {
        let xi = self.xi();
        let ends = (-(1.0 + xi) / (2.0 * xi), (1.0 - xi) / (2.0 * xi));
        (xi < 1.0).then_some(ends)
    }

    /// The contraction at momentum τ, which must be finite.
    ///
    /// ```
    /// # use katoms::theory::Conditioning;
    /// let contraction = Conditioning::new(1.0, 3.0)?.contraction(0.5)?;
    /// assert_eq!(contraction.matrix(), [[1.5, 0.5], [1.0, 0.0]]);
    /// # Ok::<(), katoms::theory::TheoryError>(())
    /// ```
    pub fn contraction(&self, tau: f64) -> Result<Contraction, TheoryError> {
        Contraction::new(self.xi(), tau)
    }
}
