//! Multiplication by powers of two, which rounds nothing unless the result leaves the range of normal numbers.

/// The exponents of the normal numbers.
const LEAST: i32 = f64::MIN_EXP - 1;
const MOST: i32 = f64::MAX_EXP - 1;

/// v·2^exponent: exact wherever the result is a normal number or v is 0.
///
/// ```
/// use katoms::linalg::times_power_of_two;
/// assert_eq!(times_power_of_two(-3.0, 4), -48.0);
/// assert_eq!(times_power_of_two(f64::MIN_POSITIVE, 2045), 2_f64.powi(1023));
/// assert_eq!(times_power_of_two(1.0, 1024), f64::INFINITY);
/// ```
pub fn times_power_of_two(v: f64, exponent: i32) -> f64 {
    let (mut v, mut left) = (v, exponent.clamp(-4 * MOST, 4 * MOST));
    while left != 0 {
        let step = left.clamp(LEAST, MOST);
        v *= f64::from_bits(((step + MOST) as u64) << (f64::MANTISSA_DIGITS - 1));
        left -= step;
    }
    v
}

/// The e with 2^e ≤ |v| < 2^(e + 1); `None` of 0, NaN and ∞.
///
/// ```
/// use katoms::linalg::exponent_of_two;
/// assert_eq!((exponent_of_two(-6.0), exponent_of_two(0.5)), (Some(2), Some(-1)));
/// assert_eq!((exponent_of_two(5e-324), exponent_of_two(0.0)), (Some(-1074), None));
/// ```
pub fn exponent_of_two(v: f64) -> Option<i32> {
    if v == 0.0 || !v.is_finite() {
        return None;
    }
    if v.is_subnormal() {
        return exponent_of_two(times_power_of_two(v, 64)).map(|e| e - 64);
    }
    Some(((v.to_bits() << 1) >> f64::MANTISSA_DIGITS) as i32 - MOST)
}
