//! How many atoms m measurements of n columns can carry: the weak threshold of Donoho and Tanner.
//!
//! Let A be an m × n Gaussian design, b = A·x without noise, δ = m/n. As n grows with δ and k/m held
//! fixed, ℓ₁ minimisation finds nearly every x of k entries when k/m is below ρ(δ), and misses nearly
//! every one when it is above (Donoho and Tanner 2009). In the form of Donoho, Maleki and Montanari (2009),
//!
//! > ρ(δ) = max_z \[1 − (c/δ)·h(z)\] / \[1 + z² − c·h(z)\], h(z) = (1+z²)·Φ(−z) − z·φ(z)
//!
//! with φ and Φ of the normal law, c = 2 where the entries have any sign and c = 1 where they are known
//! to be nonnegative and that is used. The derivative of the quotient vanishes where
//! (1−δ)/δ = z·(1/c − Φ(−z))/φ(z); the right side rises from 0 to ∞, so there is one such z, and the
//! maximum is ρ = 1 − z·Φ(−z)/φ(z). That is what is computed: no table, nothing to search.
//!
//! Where entries and measurements are complex, the noise that is thresholded is complex too (Maleki, Anitori, Yang and
//! Baraniuk 2013): c·h(z) becomes e^(−z²) − √π·z·erfc(z), of a normal law of variance 1 on the plane. The derivative
//! vanishes where δ·(2z + √π·erfc(z)) = 2z·e^(−z²) + √π·(1−z²)·erfc(z), and there ρ is √π·erfc(z) as a share of that
//! right side.
//!
//! # Where we depart from the printed text
//!
//! "IHT dies hard" (Khanna and Kyrillidis) uses k̂ = 2441 at n = 200,000, m = 7,500. That does not
//! follow from this threshold: δ = 0.0375 gives ρ = 0.14318, so that ρ·m is 1074 to the nearest integer;
//! for nonnegative signals ρ = 0.17288, and it is 1297.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

use crate::error::{Error, check_option};

/// z stays below this for every δ that is accepted, and φ(z) is above the least f64.
const LARGEST_Z: f64 = 38.0;

/// Enough halvings of \[0, [`LARGEST_Z`]\] for any z that can be told from 0.
const HALVINGS: usize = 128;

/// What is known of the signs of the entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// Nothing: c = 2.
    Any,
    /// None is negative, and the method uses that: c = 1.
    Nonnegative,
    /// They are complex numbers, and so are the measurements.
    Complex,
}

impl Sign {
    /// Whether the quotient of this δ still rises at z. Multiplied out: neither 1/δ nor 1/φ can overflow.
    fn rises(self, delta: f64, z: f64) -> bool {
        // 1/c − Φ(−z), without the cancellation at small z
        let inner = 0.5 * libm::erf(z * FRAC_1_SQRT_2);
        match self {
            Self::Any => delta * z * inner < (1.0 - delta) * density(z),
            Self::Nonnegative => delta * z * (0.5 + inner) < (1.0 - delta) * density(z),
            Self::Complex => delta * (2.0 * z + tail_of_plane(z)) < slope_of_plane(z),
        }
    }

    /// ρ, from the z at which the quotient is largest.
    fn largest(self, z: f64) -> f64 {
        match self {
            Self::Any | Self::Nonnegative => 1.0 - z * 0.5 * libm::erfc(z * FRAC_1_SQRT_2) / density(z),
            Self::Complex => tail_of_plane(z) / slope_of_plane(z),
        }
    }
}

/// √π·erfc(z).
fn tail_of_plane(z: f64) -> f64 {
    PI.sqrt() * libm::erfc(z)
}

/// 2z·e^(−z²) + √π·(1−z²)·erfc(z).
fn slope_of_plane(z: f64) -> f64 {
    2.0 * z * (-z * z).exp() + (1.0 - z * z) * tail_of_plane(z)
}

/// ρ(δ), the largest k/m at δ = m/n. It rises from 0 to ρ(1) = 1.
///
/// # Errors
/// When δ is not between 1e-300 and 1. From δ = 1 on there is nothing to ask: every signal is found.
///
/// ```
/// use katoms::select::{Sign, weak_threshold};
/// assert!((weak_threshold(0.1, Sign::Any)? - 0.18943).abs() < 5e-6);
/// assert!((weak_threshold(0.5, Sign::Any)? - 0.38569).abs() < 5e-6);
/// # Ok::<(), katoms::Error>(())
/// ```
pub fn weak_threshold(delta: f64, sign: Sign) -> Result<f64, Error> {
    check_option("delta", delta, "rows/columns must lie between 1e-300 and 1", |d| (1e-300..=1.0).contains(&d))?;
    Ok(sign.largest(maximiser(delta, sign)))
}

/// The rule k̂ = ρ(m/n)·m, to the nearest integer: where a path over k may end.
///
/// At least 1, as no model has fewer; where ρ·m is below 1, the data promise nothing. With m ≥ n rows
/// least squares alone finds every signal, so that k̂ = n. The rule looks at the shape, not at the data:
/// noise and correlated columns leave room for fewer.
///
/// # Errors
/// When there are no rows or no columns.
///
/// ```
/// use katoms::select::{Sign, phase_transition_k};
/// assert_eq!(phase_transition_k(7_500, 200_000, Sign::Any)?, 1074);
/// assert_eq!(phase_transition_k(7_500, 200_000, Sign::Nonnegative)?, 1297);
/// # Ok::<(), katoms::Error>(())
/// ```
pub fn phase_transition_k(rows: usize, columns: usize, sign: Sign) -> Result<usize, Error> {
    if rows == 0 || columns == 0 {
        return Err(Error::Empty { what: if rows == 0 { "the list of rows" } else { "the list of columns" } });
    }
    if rows >= columns {
        return Ok(columns);
    }
    let rho = weak_threshold(rows as f64 / columns as f64, sign)?;
    Ok(((rho * rows as f64).round() as usize).clamp(1, rows))
}

/// The z at which the quotient is largest, by bisection of a function that rises.
fn maximiser(delta: f64, sign: Sign) -> f64 {
    let (mut low, mut high) = (0.0, LARGEST_Z);
    for _ in 0..HALVINGS {
        let z = 0.5 * (low + high);
        if sign.rises(delta, z) {
            low = z;
        } else {
            high = z;
        }
    }
    high
}

/// φ(z).
fn density(z: f64) -> f64 {
    (-0.5 * z * z).exp() / (2.0 * PI).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIGNS: [Sign; 2] = [Sign::Any, Sign::Nonnegative];

    fn factor(sign: Sign) -> f64 {
        match sign {
            Sign::Any => 2.0,
            Sign::Nonnegative => 1.0,
            Sign::Complex => unreachable!("its h is another"),
        }
    }

    fn tail(z: f64) -> f64 {
        0.5 * libm::erfc(z * FRAC_1_SQRT_2)
    }

    /// The quotient that ρ is the maximum of.
    fn quotient(delta: f64, sign: Sign, z: f64) -> f64 {
        let ch = factor(sign) * ((1.0 + z * z) * tail(z) - z * density(z));
        (1.0 - ch / delta) / (1.0 + z * z - ch)
    }

    /// ρ from arithmetic in 40 digits or more.
    #[test]
    fn the_threshold_has_its_known_values() {
        let known = [
            (1e-300, 0.000_726_285_117_825_892_9, 0.000_727_016_580_436_535_8),
            (1e-6, 0.037_307_820_833_918_356, 0.039_268_784_811_649_755),
            (0.0375, 0.143_180_636_932_678_96, 0.172_878_930_973_214_66),
            (0.1, 0.189_429_367_759_673_6, 0.240_975_896_186_354_45),
            (0.5, 0.385_689_666_181_480_9, 0.558_227_691_314_179_5),
            (0.9, 0.678_169_378_134_499_5, 0.902_657_232_687_374_7),
            (1.0 - 2f64.powi(-20), 0.998_777_013_115_303, 0.999_999_046_325_932_1),
            (1.0, 1.0, 1.0),
        ];
        for (delta, signed, nonnegative) in known {
            for (sign, exact) in [(Sign::Any, signed), (Sign::Nonnegative, nonnegative)] {
                let rho = weak_threshold(delta, sign).unwrap();
                // 1 − z·Φ(−z)/φ(z) loses z⁴ units in the last place, and z² is about 2·ln(1/δ)
                let allowed = 4.0 * f64::EPSILON * (1.0 + maximiser(delta, sign).powi(4));
                assert!((rho / exact - 1.0).abs() <= allowed, "{sign:?} {delta}: {rho} {exact}");
            }
        }
        let rounded = [0.0375, 0.1, 0.5].map(|d| format!("{:.5}", weak_threshold(d, Sign::Any).unwrap()));
        assert_eq!(rounded, ["0.14318", "0.18943", "0.38569"]);
        assert_eq!(format!("{:.5}", weak_threshold(0.0375, Sign::Nonnegative).unwrap()), "0.17288");
    }

    /// The definition, by brute force: no z does better, and one on a fine grid does as well.
    #[test]
    fn it_is_the_maximum_of_the_quotient() {
        for sign in SIGNS {
            for delta in [1e-6, 1e-4, 0.0375, 0.3, 0.7, 0.95] {
                let rho = weak_threshold(delta, sign).unwrap();
                let on_grid = |i: u32| quotient(delta, sign, f64::from(i) * 1e-4);
                let best = (0..80_000).map(on_grid).fold(f64::NEG_INFINITY, f64::max);
                // 1/δ multiplies the rounding of h
                assert!(best <= rho + 1e-15 / delta, "{sign:?} {delta}: {best} {rho}");
                assert!(best >= rho - 1e-6, "{sign:?} {delta}: {best} {rho}");
            }
        }
    }

    /// What a threshold leaves of noise on the plane, by its definition: the mean of (|w| − z)² where |w| > z, for
    /// w of density 2|w|·e^(−|w|²) by its length.
    fn left_on_the_plane(z: f64) -> f64 {
        let step = 1e-3;
        let at = |i: u32| z + step * (f64::from(i) + 0.5);
        (0..10_000).map(|i| (at(i) - z).powi(2) * 2.0 * at(i) * (-at(i) * at(i)).exp() * step).sum()
    }

    /// The definition again, by brute force, with nothing worked out by hand.
    #[test]
    fn for_complex_entries_it_is_the_maximum_of_their_quotient() {
        for delta in [0.01, 0.0375, 0.3, 0.7, 0.95] {
            let rho = weak_threshold(delta, Sign::Complex).unwrap();
            let quotient = |z: f64| {
                let left = left_on_the_plane(z);
                (1.0 - left / delta) / (1.0 + z * z - left)
            };
            let best = (0..400).map(|i| quotient(f64::from(i) * 0.01)).fold(f64::NEG_INFINITY, f64::max);
            assert!((best - rho).abs() < 1e-3 * rho, "{delta}: {best} {rho}");
            assert!(rho > weak_threshold(delta, Sign::Any).unwrap(), "a complex number tells more than a real one");
        }
        assert_eq!(weak_threshold(1.0, Sign::Complex), Ok(1.0));
        assert!(weak_threshold(1e-300, Sign::Complex).is_ok_and(|rho| rho > 0.0 && rho < 0.01));
        assert_eq!(phase_transition_k(50, 50, Sign::Complex), Ok(50));
    }

    #[test]
    fn it_rises_and_signs_help() {
        let grid: Vec<f64> = (0..=600).map(|i| 10f64.powf(f64::from(i) * 0.01 - 6.0).min(1.0)).collect();
        for pair in grid.windows(2) {
            for sign in SIGNS {
                assert!(weak_threshold(pair[0], sign).unwrap() < weak_threshold(pair[1], sign).unwrap());
            }
            let [signed, nonnegative] = SIGNS.map(|s| weak_threshold(pair[0], s).unwrap());
            assert!(0.0 < signed && signed < nonnegative && nonnegative < 1.0);
        }
    }

    #[test]
    fn a_ratio_outside_its_range_is_named() {
        for delta in [0.0, -0.5, 1.0 + 1e-15, 1e-301, f64::INFINITY] {
            let right = "rows/columns must lie between 1e-300 and 1";
            assert_eq!(weak_threshold(delta, Sign::Any), Err(Error::Option { name: "delta", value: delta, right }));
        }
        assert!(weak_threshold(f64::NAN, Sign::Any).is_err());
    }

    #[test]
    fn k_at_the_edges() {
        for sign in SIGNS {
            let k = |rows, columns| phase_transition_k(rows, columns, sign).unwrap();
            // a square or tall design leaves nothing to choose
            assert_eq!((k(1, 1), k(50, 50), k(51, 50), k(usize::MAX, 3)), (1, 50, 50, 3));
            // never 0, and no more than there are rows
            assert_eq!((k(1, 1_000_000), k(1, usize::MAX), k(1, 2)), (1, 1, 1));
            assert!((1..=99).contains(&k(99, 100)));
            assert!((2..2000).all(|rows| k(rows - 1, 2000) <= k(rows, 2000)));
            let (none, empty) = ("the list of rows", "the list of columns");
            assert_eq!(phase_transition_k(0, 5, sign), Err(Error::Empty { what: none }));
            assert_eq!(phase_transition_k(5, 0, sign), Err(Error::Empty { what: empty }));
        }
    }

    /// Both products have a fraction above one half: the nearest integer is the one above.
    #[test]
    fn k_of_the_large_design() {
        let product = |sign| 7500.0 * weak_threshold(0.0375, sign).unwrap();
        assert_eq!(SIGNS.map(|s| format!("{:.2}", product(s))), ["1073.85", "1296.59"]);
        assert_eq!(SIGNS.map(|s| phase_transition_k(7_500, 200_000, s).unwrap()), [1074, 1297]);
    }
}
