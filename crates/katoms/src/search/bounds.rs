//! Bounds on coefficients: lower ≤ x ≤ upper, where 0 is always allowed.

use crate::error::{Error, check_length, check_values};
use crate::set::Atoms;
use crate::space::SparseVec;

/// A lower and an upper bound for each coefficient. A coefficient that is not chosen is 0, so 0 lies within all of them.
///
/// ```
/// use katoms::select::Bounds;
/// let bounds = Bounds::new(vec![0.0, -1.0], vec![f64::INFINITY, 2.0])?;
/// assert_eq!((bounds.clamped(0, -3.0), bounds.clamped(1, 3.0)), (0.0, 2.0));
/// let error = Bounds::new(vec![0.5], vec![1.0]).unwrap_err();
/// assert!(error.to_string().contains("lower bounds holds 0.5 at position 0"), "{error}");
/// # Ok::<(), katoms::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Bounds {
    lower: Vec<f64>,
    upper: Vec<f64>,
}

impl Bounds {
    /// These bounds, one of each for every coefficient; −∞ and ∞ are none.
    ///
    /// # Errors
    /// When there is none, there are not as many upper as lower ones, or some do not have 0 between them.
    pub fn new(lower: impl Into<Vec<f64>>, upper: impl Into<Vec<f64>>) -> Result<Self, Error> {
        let (lower, upper) = (lower.into(), upper.into());
        if lower.is_empty() {
            return Err(Error::Empty { what: "the list of lower bounds" });
        }
        check_length("the list of upper bounds", upper.len(), lower.len(), "one for each lower bound")?;
        let right = "every lower bound must be at most 0, since a feature that is not chosen has the coefficient 0";
        check_values("list of lower bounds", &lower, right, |v| v <= 0.0)?;
        let right = "every upper bound must be at least 0, since a feature that is not chosen has the coefficient 0";
        check_values("list of upper bounds", &upper, right, |v| v >= 0.0)?;
        Ok(Self { lower, upper })
    }

    /// No coefficient below 0.
    ///
    /// # Errors
    /// When there is no coefficient.
    pub fn nonnegative(coefficients: usize) -> Result<Self, Error> {
        Self::new(vec![0.0; coefficients], vec![f64::INFINITY; coefficients])
    }

    /// No bounds at all.
    pub(crate) fn none(coefficients: usize) -> Self {
        Self { lower: vec![f64::NEG_INFINITY; coefficients], upper: vec![f64::INFINITY; coefficients] }
    }

    /// The number of coefficients.
    pub fn dim(&self) -> usize {
        self.lower.len()
    }

    /// The lower bounds.
    pub fn lower(&self) -> &[f64] {
        &self.lower
    }

    /// The upper bounds.
    pub fn upper(&self) -> &[f64] {
        &self.upper
    }

    /// The value within the bounds of coefficient j that is nearest to `value`.
    pub fn clamped(&self, j: usize, value: f64) -> f64 {
        value.max(self.lower[j]).min(self.upper[j])
    }

    /// The nearest vector within the bounds. What is stored stays stored.
    pub fn nearest(&self, x: &SparseVec) -> SparseVec {
        x.map(|j, v| self.clamped(j, v))
    }

    /// Whether every coefficient lies within its bounds.
    pub fn contain(&self, x: &SparseVec) -> bool {
        x.entries().all(|(j, v)| (self.lower[j]..=self.upper[j]).contains(&v))
    }

    /// The bounds of some coefficients alone.
    pub(crate) fn of(&self, which: &[usize]) -> Self {
        let some = |bounds: &[f64]| which.iter().map(|&j| bounds[j]).collect();
        Self { lower: some(&self.lower), upper: some(&self.upper) }
    }

    /// The same bounds for steps from a point within them.
    pub(crate) fn around(&self, x: &[f64]) -> Self {
        let rest = |bounds: &[f64]| bounds.iter().zip(x).map(|(bound, v)| bound - v).collect();
        Self { lower: rest(&self.lower), upper: rest(&self.upper) }
    }

    /// Whether no bound keeps x from growing: t·x lies within the bounds for every t ≥ 0.
    pub(crate) fn let_grow(&self, x: &SparseVec) -> bool {
        x.entries().all(|(j, v)| v == 0.0 || (if v > 0.0 { self.upper[j] } else { self.lower[j] }).is_infinite())
    }

    /// The same bounds for coefficients in other units, each `scales` times as large, in a space whose coordinates
    /// behind are unbounded: an intercept is.
    pub(crate) fn scaled(&self, scales: &[f64], dim: usize) -> Self {
        let times = |bounds: &[f64], none: f64| {
            let scaled = bounds.iter().zip(scales).map(|(bound, scale)| bound * scale);
            scaled.chain(std::iter::repeat_n(none, dim.saturating_sub(bounds.len()))).collect()
        };
        Self { lower: times(&self.lower, f64::NEG_INFINITY), upper: times(&self.upper, f64::INFINITY) }
    }

    /// The largest decrease of −slope·t + ½·curvature·t² over the t that a coefficient at 0 may take.
    pub(crate) fn gain(&self, j: usize, slope: f64, curvature: f64) -> f64 {
        if !(curvature > 0.0) {
            return 0.0;
        }
        let t = self.clamped(j, slope / curvature);
        (slope * t - 0.5 * curvature * t * t).max(0.0)
    }

    /// How much f falls at most by a step along each atom from where it is 0, for this gradient and these second
    /// derivatives.
    pub(crate) fn falls(&self, atoms: &Atoms, gradient: &[f64], second: &[f64]) -> Vec<f64> {
        let fall = |&j: &usize| self.gain(j, -gradient[j], second[j]);
        (0..atoms.len()).map(|atom| atoms.members(atom).iter().map(fall).sum()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_without_zero_between_them_are_named() {
        let told = |lower: &[f64], upper: &[f64]| Bounds::new(lower, upper).unwrap_err().to_string();
        assert!(told(&[0.0, 1.0], &[1.0, 2.0]).contains("lower bounds holds 1 at position 1 (counted from 0)"));
        assert!(told(&[0.0, f64::NAN], &[1.0, 2.0]).contains("holds NaN at position 1"));
        assert!(told(&[-2.0], &[-1.0]).contains("every upper bound must be at least 0"));
        assert!(told(&[0.0], &[1.0, 2.0]).contains("has length 2, but 1 is needed"));
        assert!(told(&[], &[]).contains("empty"));
        assert!(Bounds::new(vec![0.0, f64::NEG_INFINITY], vec![0.0, f64::INFINITY]).is_ok());
    }

    #[test]
    fn other_units_and_an_intercept_behind() {
        let bounds = Bounds::new(vec![-1.0, 0.0], vec![2.0, f64::INFINITY]).unwrap().scaled(&[10.0, 5.0], 3);
        let right = Bounds::new(vec![-10.0, 0.0, f64::NEG_INFINITY], vec![20.0, f64::INFINITY, f64::INFINITY]).unwrap();
        assert_eq!(bounds, right);
    }

    #[test]
    fn a_gain_is_the_best_that_the_bounds_allow() {
        let bounds = Bounds::new(vec![-1.0], vec![0.5]).unwrap();
        for (slope, curvature) in [(1.0, 4.0), (8.0, 4.0), (-3.0, 4.0), (-8.0, 4.0)] {
            let steps = (0..=1500).map(|i| -1.0 + f64::from(i) * 1e-3);
            let best = steps.map(|t| slope * t - 0.5 * curvature * t * t).fold(0.0, f64::max);
            assert!((bounds.gain(0, slope, curvature) - best).abs() < 1e-5, "{slope}");
        }
    }
}
