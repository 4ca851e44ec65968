//! The bound on ‖x_T − x*‖, and how many iterations it asks for.
//!
//! Since x₀ = u₀ = 0, set x₋₁ = 0 as well: then u₀ = x₀ + τ(x₀ − x₋₁) holds, and the recursion
//! starts at y(0) = (‖x*‖, ‖x*‖). It unfolds to y(T) ≤ Aᵀy(0) + (Σ_{i<T} Aⁱ)e₁·noise, every term
//! non-negative. (The first step could be bounded a little better, by ξ‖x*‖ in place of q‖x*‖,
//! as u₀ is exactly 0.)

use super::contraction::product;
use super::error::magnitude;
use super::{Contraction, TheoryError};

/// Counts beyond this are not exact in f64, and no run lasts that long.
const MOST_ITERATIONS: u64 = 1 << 53;

/// A bound on ‖x_T − x*‖ for every T.
///
/// ```
/// use katoms::theory::Contraction;
///
/// let bound = Contraction::new(0.4, 0.25)?.bound(1.0, 0.01)?;
/// assert!(bound.after(10) < bound.after(5));
/// assert!(bound.after(1000) <= bound.floor().expect("it converges") * (1.0 + 1e-12));
/// # Ok::<(), katoms::theory::TheoryError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ErrorBound {
    contraction: Contraction,
    signal_norm: f64,
    noise: f64,
}

impl ErrorBound {
    /// Checks that both magnitudes are finite and not negative.
    pub(super) fn new(contraction: Contraction, signal_norm: f64, noise: f64) -> Result<Self, TheoryError> {
        Ok(Self { contraction, signal_norm: magnitude("signal_norm", signal_norm)?, noise: magnitude("noise", noise)? })
    }

    /// The recursion itself after T = `steps` steps, in closed form; valid whether or not it
    /// converges, and +∞ where it overflows. O(log T).
    ///
    /// ```
    /// # use katoms::theory::Contraction;
    /// // τ = 0: the error halves, and each step adds 1.
    /// let bound = Contraction::new(0.5, 0.0)?.bound(8.0, 1.0)?;
    /// assert_eq!([0, 1, 2].map(|t| bound.after(t)), [8.0, 5.0, 3.5]);
    /// # Ok::<(), katoms::theory::TheoryError>(())
    /// ```
    pub fn after(&self, steps: u64) -> f64 {
        let [[from_first, from_second], _] = self.contraction.power(steps);
        let signal = product(from_first + from_second, self.signal_norm);
        signal + product(self.noise_sum(steps), self.noise)
    }

    /// e₁ᵀ(Σ_{i<T} Aⁱ)e₁ for any radius. O(log T).
    ///
    /// By doubling, v₂ₘ = vₘ + Aᵐvₘ and vₘ₊₁ = e₁ + Avₘ: sums of non-negative terms only, where
    /// (I − A)⁻¹(I − Aᵀ) would divide 0 by 0 as q → 1.
    fn noise_sum(&self, steps: u64) -> f64 {
        let add = |power: [[f64; 2]; 2], v: [f64; 2], start: [f64; 2]| {
            [0, 1].map(|r| start[r] + product(power[r][0], v[0]) + product(power[r][1], v[1]))
        };
        let (mut sum, mut terms) = ([0.0; 2], 0);
        for bit in (0..u64::BITS - steps.leading_zeros()).rev() {
            sum = add(self.contraction.power(terms), sum, sum);
            terms *= 2;
            if steps >> bit & 1 == 1 {
                sum = add(self.contraction.matrix(), sum, [1.0, 0.0]);
                terms += 1;
            }
        }
        sum[0]
    }

    /// The limit of the bound, noise/(1 − q); `None` unless the radius is below one.
    ///
    /// ```
    /// # use katoms::theory::Contraction;
    /// assert_eq!(Contraction::new(0.5, 0.0)?.bound(8.0, 1.0)?.floor(), Some(2.0));
    /// assert_eq!(Contraction::new(1.5, 0.0)?.bound(8.0, 1.0)?.floor(), None);
    /// # Ok::<(), katoms::theory::TheoryError>(())
    /// ```
    pub fn floor(&self) -> Option<f64> {
        let left = 1.0 - self.contraction.row_sum();
        self.contraction.converges().then(|| self.noise / left)
    }

    /// The least T with [`after`](Self::after)(T) ≤ ζ. O(log² T).
    ///
    /// `None` where the radius is one or more, where ζ is not above the [`floor`](Self::floor)
    /// (the bound tends to it without meeting it, but for ξ = 0), or past 2⁵³ steps.
    ///
    /// ```
    /// # use katoms::theory::Contraction;
    /// let bound = Contraction::new(0.5, 0.0)?.bound(1.0, 0.0)?;
    /// assert_eq!(bound.iterations_to(0.125), Some(3));
    /// # Ok::<(), katoms::theory::TheoryError>(())
    /// ```
    pub fn iterations_to(&self, zeta: f64) -> Option<u64> {
        let floor = self.floor()?;
        if self.signal_norm <= zeta {
            return Some(0);
        }
        let met = self.contraction.xi() == 0.0 && zeta == floor;
        if !(zeta > floor || met) {
            return None;
        }
        // ‖x*‖ > ζ ≥ floor, so y(1) < y(0), and by induction on the recursion y never rises:
        // gallop to the first power of two that is enough, then bisect.
        let (mut short, mut enough) = (0, 1);
        while self.after(enough) > zeta {
            (short, enough) = (enough, 2 * enough);
            if enough > MOST_ITERATIONS {
                return None;
            }
        }
        while enough - short > 1 {
            let middle = short + (enough - short) / 2;
            if self.after(middle) > zeta {
                short = middle;
            } else {
                enough = middle;
            }
        }
        Some(enough)
    }

    /// The paper's looser closed form after T = `steps` steps, with q for its ξ(1+2τ):
    /// 2λ₁ᵀ/(|λ₁|−|λ₂|)·(1+q)(‖x*‖ + noise/(1−q)) + noise/(1−q).
    ///
    /// `None` where the radius is one or more, or the gap |λ₁| − |λ₂| = ξ|1+τ| is zero.
    ///
    /// ```
    /// # use katoms::theory::Contraction;
    /// let bound = Contraction::new(0.5, 0.0)?.bound(1.0, 0.0)?;
    /// assert_eq!(bound.published_after(3), Some(0.75)); // the recursion has 0.125
    /// # Ok::<(), katoms::theory::TheoryError>(())
    /// ```
    pub fn published_after(&self, steps: u64) -> Option<f64> {
        let decay = self.contraction.spectral_radius().powf(steps as f64);
        Some(product(decay, self.published_scale()?) + self.floor()?)
    }

    /// The T from which the paper's closed form is at most ζ, with the sign put right:
    /// ⌈log(2(1+q)(‖x*‖ + floor)/((ζ − floor)(|λ₁|−|λ₂|)))/log(1/λ₁)⌉, floor = noise/(1−q).
    ///
    /// `None` as for [`published_after`](Self::published_after), for ζ not above the floor,
    /// or past 2⁵³ steps. Exact to the rounding of the logarithms.
    ///
    /// ```
    /// # use katoms::theory::Contraction;
    /// let bound = Contraction::new(0.5, 0.0)?.bound(1.0, 0.0)?;
    /// assert_eq!(bound.published_iterations_to(0.2), Some(5)); // the recursion needs 3
    /// # Ok::<(), katoms::theory::TheoryError>(())
    /// ```
    pub fn published_iterations_to(&self, zeta: f64) -> Option<u64> {
        let room = zeta - self.floor()?;
        // Written so that a NaN ζ is refused as well.
        if room.partial_cmp(&0.0) != Some(std::cmp::Ordering::Greater) {
            return None;
        }
        let needed = self.published_scale()?.ln() - room.ln();
        let steps = (needed / -self.contraction.spectral_radius().ln()).ceil();
        (steps <= MOST_ITERATIONS as f64).then_some(steps.max(0.0) as u64)
    }

    /// 2(1+q)(‖x*‖ + floor)/(|λ₁|−|λ₂|), what the closed form multiplies λ₁ᵀ by.
    fn published_scale(&self) -> Option<f64> {
        let (gap, q) = (self.contraction.trace(), self.contraction.row_sum());
        let start = self.signal_norm + self.floor()?;
        (gap > 0.0).then(|| 2.0 * (1.0 + q) * start / gap)
    }
}
