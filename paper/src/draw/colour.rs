//! Colours by lightness, strength and hue as the eye has them (Ottosson's Oklab), and the two scales made from them.

/// The hues of the scales, in degrees.
const BLUE: f64 = 255.0;
const ORANGE: f64 = 47.0;

/// From −1 (blue) over 0 (nearly black) to 1 (orange). Dark enough throughout to be seen on white.
pub(super) fn diverging(value: f64) -> String {
    let value = if value.is_nan() { 0.0 } else { value.clamp(-1.0, 1.0) };
    let hue = if value < 0.0 { BLUE } else { ORANGE };
    let far = value.abs();
    hex(0.24 + 0.44 * far, 0.02 + 0.15 * far, hue)
}

/// From 0 (pale) to 1 (full): one hue, and lightness that falls evenly.
pub(super) fn rising(share: f64) -> String {
    let share = share.clamp(0.0, 1.0);
    // Strongest past the middle: what is very light or dark cannot be strong.
    let chroma = 0.012 + 0.125 * (2.45 * share).sin();
    hex(0.965 - 0.64 * share, chroma, BLUE)
}

/// A colour as #rrggbb; what a screen cannot show is cut off.
fn hex(lightness: f64, chroma: f64, hue: f64) -> String {
    let (a, b) = (chroma * hue.to_radians().cos(), chroma * hue.to_radians().sin());
    let l = (lightness + 0.396_337_777_4 * a + 0.215_803_757_3 * b).powi(3);
    let m = (lightness - 0.105_561_345_8 * a - 0.063_854_172_8 * b).powi(3);
    let s = (lightness - 0.089_484_177_5 * a - 1.291_485_548_0 * b).powi(3);
    let light = [
        4.076_741_662_1 * l - 3.307_711_591_3 * m + 0.230_969_929_2 * s,
        -1.268_438_004_6 * l + 2.609_757_401_1 * m - 0.341_319_396_5 * s,
        -0.004_196_086_3 * l - 0.703_418_614_7 * m + 1.707_614_701_0 * s,
    ];
    let encoded = |v: f64| if v <= 0.003_130_8 { 12.92 * v } else { 1.055 * v.powf(1.0 / 2.4) - 0.055 };
    let [r, g, b] = light.map(|v| (encoded(v).clamp(0.0, 1.0) * 255.0).round() as u8);
    format!("#{r:02x}{g:02x}{b:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// WCAG's relative luminance.
    fn luminance(colour: &str) -> f64 {
        let part = |at: usize| f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
        let light = |v: f64| if v <= 0.04045 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) };
        0.2126 * light(part(1)) + 0.7152 * light(part(3)) + 0.0722 * light(part(5))
    }

    #[test]
    fn white_black_and_grey_are_what_they_are() {
        assert_eq!([hex(1.0, 0.0, 0.0), hex(0.0, 0.0, 0.0)], ["#ffffff", "#000000"]);
        let grey = hex(0.6, 0.0, 120.0);
        assert_eq!((&grey[1..3], &grey[3..5]), (&grey[3..5], &grey[5..7]));
    }

    #[test]
    fn lines_of_every_value_are_seen_on_white() {
        for step in -20..=20 {
            let colour = diverging(f64::from(step) / 20.0);
            let contrast = 1.05 / (luminance(&colour) + 0.05);
            assert!(contrast > 2.5, "{step}: {colour} has {contrast:.2}");
        }
        assert_ne!(diverging(-1.0), diverging(1.0));
        assert_eq!(diverging(f64::NAN), diverging(0.0));
    }

    #[test]
    fn a_fuller_value_is_darker() {
        let light: Vec<f64> = (0..=20).map(|i| luminance(&rising(f64::from(i) / 20.0))).collect();
        assert!(light.windows(2).all(|w| w[1] < w[0]), "{light:?}");
        assert!(light[0] > 0.85 && light[20] < 0.06, "{light:?}");
    }
}
