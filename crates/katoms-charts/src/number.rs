//! Numbers as people read them.

/// Four significant digits: for most tables.
pub fn short(value: f64) -> String {
    significant(value, 4)
}

/// Six significant digits: for what may be copied out.
pub fn long(value: f64) -> String {
    significant(value, 6)
}

/// A share in percent: "97 %", "97.3 %" where the tenth says something.
pub fn percent(share: f64) -> String {
    if !share.is_finite() {
        return "–".into();
    }
    let tenths = (share * 1000.0).round() / 10.0;
    if tenths.abs() > 1e6 {
        return format!("{} %", short(share.signum() * (share.abs() * 100.0).min(f64::MAX)));
    }
    if tenths.fract() == 0.0 { format!("{tenths:.0} %") } else { format!("{tenths:.1} %") }
}

/// A whole number with its thousands apart: "1,234,567".
pub fn whole(count: usize) -> String {
    grouped(&count.to_string())
}

/// "1 row", "2 rows".
pub fn counted(count: usize, noun: &str) -> String {
    format!("{} {noun}{}", whole(count), if count == 1 { "" } else { "s" })
}

/// With so many significant digits; in scientific form where it would be long.
fn significant(value: f64, digits: i32) -> String {
    if value == 0.0 {
        return "0".into();
    }
    if !value.is_finite() {
        return "–".into();
    }
    let precision = usize::try_from(digits - 1).unwrap_or(0);
    // Rounding first: 9.9999 is 10.00 with four digits.
    let scientific = format!("{value:.precision$e}");
    let exponent: i32 = scientific.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    if (-4..7).contains(&exponent) {
        fixed(value, usize::try_from(digits - 1 - exponent).unwrap_or(0))
    } else {
        scientific
    }
}

/// With so many decimals, thousands apart.
pub fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let (sign, digits) = text.strip_prefix('-').map_or(("", text.as_str()), |rest| ("-", rest));
    let (integer, fraction) = digits.split_once('.').map_or((digits, None), |(i, f)| (i, Some(f)));
    let fraction = fraction.map(|f| format!(".{f}")).unwrap_or_default();
    // "-0.00" is 0.00.
    let sign = if digits.bytes().all(|b| matches!(b, b'0' | b'.')) { "" } else { sign };
    format!("{sign}{}{fraction}", grouped(integer))
}

fn grouped(digits: &str) -> String {
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        let cases = [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1.000"),
            (-12.3456, "-12.35"),
            (9.99996, "10.00"),
            (1234.5, "1,234"),
            (123456.7, "123,457"),
            (1.5e7, "1.500e7"),
            (0.000123456, "0.0001235"),
            (1.23456e-5, "1.235e-5"),
            (f64::NAN, "–"),
        ];
        for (value, text) in cases {
            assert_eq!(short(value), text, "{value}");
        }
        assert_eq!(long(-0.123456789), "-0.123457");
        assert_eq!(fixed(-0.001, 2), "0.00");
    }

    #[test]
    fn shares_and_counts_read_well() {
        assert_eq!([percent(0.97), percent(0.9731), percent(1.0)], ["97 %", "97.3 %", "100 %"]);
        assert_eq!([counted(1, "row"), counted(1_234_567, "row")], ["1 row", "1,234,567 rows"]);
    }
}
