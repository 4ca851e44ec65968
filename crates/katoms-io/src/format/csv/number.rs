//! Numbers as people write them: 1,234.50 or 1.234,50, $5, 5 €, 12 %, (1,234), 10:30.

use super::date;

/// Blanks within and around numbers: space, no-break space, narrow no-break space, thin space, figure space.
const BLANKS: [char; 5] = [' ', '\u{a0}', '\u{202f}', '\u{2009}', '\u{2007}'];
/// Codes of ISO 4217 in use.
const CURRENCIES: &str = "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN \
    BZD CAD CDF CHF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ \
    GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL \
    LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN \
    PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD \
    TWD TZS UAH UGX USD UYU UZS VES VND VUV WST XAF XCD XOF XPF YER ZAR ZMW ZWG";

/// The decimal marks: a point, a comma.
const MARKS: [char; 2] = ['.', ','];

/// A cell that is a number, with what is written around it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct WrittenNumber {
    /// Its value with a decimal point, and with a decimal comma; `None` where it cannot be read so.
    pub(super) values: [Option<f64>; 2],
    /// Whether it is what every program writes: digits, a point, an exponent.
    pub(super) is_plain: bool,
    pub(super) currency: Option<String>,
    pub(super) is_percent: bool,
    pub(super) in_parentheses: bool,
    /// Whether it is a time, in hours.
    pub(super) is_time: bool,
    /// Whether its digits are grouped: with a decimal point, and with a decimal comma.
    pub(super) has_groups: [bool; 2],
}

/// What a cell holds, if it is a number.
pub(super) fn written(cell: &str) -> Option<WrittenNumber> {
    let plain = fast_float2::parse::<f64, _>(cell).ok().filter(|number| !number.is_nan());
    let mut around = Around::default();
    let body = around.taken_off(cell);
    let sign = if around.is_negative || around.in_parentheses { -1.0 } else { 1.0 };
    let read = MARKS.map(|mark| value(body, mark).map(|number| sign * number));
    let hours = date::hours(cell);
    let is_time = hours.is_some();
    let values = match plain {
        Some(number) if number.is_infinite() => [plain; 2],
        plain => [plain.or(read[0]).or(hours), read[1].or(hours)],
    };
    let is_separator = |c: char| !c.is_ascii_alphanumeric() && !"+-".contains(c);
    values.iter().any(Option::is_some).then(|| WrittenNumber {
        values,
        is_plain: plain.is_some(),
        currency: around.currency.map(Into::into),
        is_percent: around.is_percent,
        in_parentheses: around.in_parentheses,
        is_time,
        has_groups: MARKS.map(|mark| !is_time && whole(body, mark).contains(is_separator)),
    })
}

/// What is written around the digits.
#[derive(Debug, Default)]
struct Around<'c> {
    is_negative: bool,
    has_sign: bool,
    in_parentheses: bool,
    currency: Option<&'c str>,
    is_percent: bool,
}

impl<'c> Around<'c> {
    /// The digits; each mark around them may be there once.
    fn taken_off(&mut self, cell: &'c str) -> &'c str {
        let mut rest = trimmed(cell);
        while let Some(shorter) = self.shortened(rest) {
            rest = trimmed(shorter);
        }
        rest
    }

    /// The rest without one mark, where there is one at either end.
    fn shortened(&mut self, rest: &'c str) -> Option<&'c str> {
        if !self.has_sign {
            if let Some(inner) = rest.strip_prefix('(').and_then(|r| r.strip_suffix(')')) {
                (self.has_sign, self.in_parentheses) = (true, true);
                return Some(inner);
            }
            if let Some(behind) = rest.strip_prefix(['-', '\u{2212}', '+']) {
                (self.has_sign, self.is_negative) = (true, !rest.starts_with('+'));
                return Some(behind);
            }
            // 1.234,56- is an amount; 2- may be a mark
            if let Some(before) = rest.strip_suffix('-').filter(|before| before.contains(['.', ','])) {
                (self.has_sign, self.is_negative) = (true, true);
                return Some(before);
            }
        }
        if !self.is_percent
            && let Some(before) = rest.strip_suffix('%')
        {
            self.is_percent = true;
            return Some(before);
        }
        if self.currency.is_none()
            && let Some((currency, other)) = currency_before(rest).or_else(|| currency_behind(rest))
        {
            self.currency = Some(currency);
            return Some(other);
        }
        None
    }
}

fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || BLANKS.contains(&c))
}

fn is_currency_sign(c: char) -> bool {
    matches!(c, '$' | '£' | '¥' | '\u{20a0}'..='\u{20cf}')
}

fn is_currency_code(word: &str) -> bool {
    word.len() == 3 && CURRENCIES.split(' ').any(|code| code == word)
}

/// `$`, `US$` or `USD` at the front, and what follows.
fn currency_before(rest: &str) -> Option<(&str, &str)> {
    let letters = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_uppercase()).len();
    let sign = rest.get(letters..)?.chars().next().filter(|&c| is_currency_sign(c) && letters <= 2);
    let length = match sign {
        Some(sign) => letters + sign.len_utf8(),
        None if is_currency_code(&rest[..letters]) => letters,
        None => return None,
    };
    rest.split_at_checked(length)
}

/// The same at the end, and what comes before it.
fn currency_behind(rest: &str) -> Option<(&str, &str)> {
    let last = rest.chars().next_back()?;
    let before = rest.trim_end_matches(|c: char| c.is_ascii_uppercase()).len();
    let at = if is_currency_sign(last) {
        rest.len() - last.len_utf8()
    } else if is_currency_code(&rest[before..]) {
        before
    } else {
        return None;
    };
    rest.split_at_checked(at).map(|(other, currency)| (currency, other))
}

/// What stands before the decimal mark.
fn whole(body: &str, mark: char) -> &str {
    body.split_once(mark).map_or(body, |(whole, _)| whole)
}

/// The value of digits with this decimal mark; the other mark, blanks and apostrophes may group them.
fn value(body: &str, mark: char) -> Option<f64> {
    let (mantissa, exponent) = match body.find(['e', 'E']) {
        Some(at) => (&body[..at], &body[at + 1..]),
        None => (body, ""),
    };
    let (whole, decimals) = mantissa.split_once(mark).unwrap_or((mantissa, ""));
    let is_digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let ends_in_mark = mantissa.ends_with(mark);
    if mantissa.is_empty() || ends_in_mark || !is_digits(decimals) {
        return None;
    }
    let power = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    if body.len() > mantissa.len() && (power.is_empty() || !is_digits(power)) {
        return None;
    }
    let whole = if is_digits(whole) { whole.to_owned() } else { ungrouped(whole, mark)? };
    let exponent = if exponent.is_empty() { "0" } else { exponent };
    fast_float2::parse(format!("{whole}.{decimals}e{exponent}")).ok()
}

/// Digits without what groups them: by threes, or as in India by twos before the last three.
fn ungrouped(whole: &str, mark: char) -> Option<String> {
    let separator = whole.chars().find(|c| !c.is_ascii_digit())?;
    let is_separator = (separator != mark && ".,".contains(separator))
        || separator == '\''
        || separator == '’'
        || BLANKS.contains(&separator);
    let groups: Vec<&str> = whole.split(separator).collect();
    let (first, last, between) = match groups.as_slice() {
        [first, between @ .., last] => (first, last, between),
        _ => return None,
    };
    let by = |length: usize| first.len() <= length && between.iter().all(|group| group.len() == length);
    let is_grouped = last.len() == 3 && !first.is_empty() && (by(3) || by(2)) && !first.starts_with('0');
    let is_digits = groups.iter().all(|group| group.bytes().all(|b| b.is_ascii_digit()));
    (is_separator && is_grouped && is_digits).then(|| groups.concat())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn values(cell: &str) -> [Option<f64>; 2] {
        written(cell).map_or([None; 2], |written| written.values)
    }

    /// Cells, and what they are with a decimal point and with a decimal comma.
    #[test]
    fn cells_as_people_write_them() {
        for (cell, point, comma) in [
            ("5", Some(5.0), Some(5.0)),
            ("1.5", Some(1.5), None),
            ("1,5", None, Some(1.5)),
            ("0,123", None, Some(0.123)),
            ("0.123", Some(0.123), None),
            ("1,234", Some(1234.0), Some(1.234)),
            ("1.234", Some(1.234), Some(1234.0)),
            ("1234,567", None, Some(1234.567)),
            ("1,23", None, Some(1.23)),
            ("01,234", None, Some(1.234)),
            ("1,234,567", Some(1_234_567.0), None),
            ("1.234.567", None, Some(1_234_567.0)),
            ("1,234,567.89", Some(1_234_567.89), None),
            ("1.234.567,89", None, Some(1_234_567.89)),
            ("1 234 567,89", None, Some(1_234_567.89)),
            ("1\u{a0}234\u{a0}567", Some(1_234_567.0), Some(1_234_567.0)),
            ("1\u{202f}234,5", None, Some(1234.5)),
            ("1'234'567", Some(1_234_567.0), Some(1_234_567.0)),
            ("1’234.5", Some(1234.5), None),
            ("12,34,567", Some(1_234_567.0), None),
            (".5", Some(0.5), None),
            (",5", None, Some(0.5)),
            ("-1,5", None, Some(-1.5)),
            ("\u{2212}1,5", None, Some(-1.5)),
            ("+1,5", None, Some(1.5)),
            ("1,5e3", None, Some(1500.0)),
            ("1.5E-3", Some(0.0015), None),
            ("$1,234.50", Some(1234.5), None),
            ("-$5", Some(-5.0), Some(-5.0)),
            ("$-5", Some(-5.0), Some(-5.0)),
            ("US$ 5", Some(5.0), Some(5.0)),
            ("($1,234)", Some(-1234.0), Some(-1.234)),
            ("$(1,234)", Some(-1234.0), Some(-1.234)),
            ("(12)", Some(-12.0), Some(-12.0)),
            ("5 €", Some(5.0), Some(5.0)),
            ("1.234,56 €", None, Some(1234.56)),
            ("-1.234,56\u{a0}EUR", None, Some(-1234.56)),
            ("1.234,56-", None, Some(-1234.56)),
            ("CHF 1'234.50", Some(1234.5), None),
            ("₹12,34,567", Some(1_234_567.0), None),
            ("12%", Some(12.0), Some(12.0)),
            ("12,5 %", None, Some(12.5)),
            ("-3.5\u{202f}%", Some(-3.5), None),
            ("inf", Some(f64::INFINITY), Some(f64::INFINITY)),
            ("7.", Some(7.0), None),
            ("10:30", Some(10.5), Some(10.5)),
            ("1:30:36", Some(1.51), Some(1.51)),
            ("100:15", Some(100.25), Some(100.25)),
            ("9:45 pm", Some(21.75), Some(21.75)),
        ] {
            assert_eq!(values(cell), [point, comma], "{cell}");
        }
    }

    #[test]
    fn cells_that_are_no_numbers() {
        let cells = "|x|3o|$|%|EUR|()|12,3456,789|1,,234|1,234,56|1.2.3|1-2|2-|1 2|1 234 56|5 kg|XYZ 5|5$ 6$|\
                     $5 €|5 % %|--5|(-5)|1e|1e5e5|e5|+|10:3|10:60|10:30:5|1:20:300|10:30 XM|13:00 PM|10:30Z|\
                     :30|2024-01-31|31.01.2024|1'23|1,234'567|1 234.567,8|nan|1, 234|(5|5)|A$B|1_000|1,234,|\
                     7,";
        for cell in cells.split('|') {
            assert_eq!(values(cell), [None; 2], "{cell}");
        }
    }

    #[test]
    fn what_is_around_a_number_is_known() {
        let found = written("(€ 1.234,50)").unwrap();
        assert_eq!(
            (found.currency.as_deref(), found.in_parentheses, found.has_groups),
            (Some("€"), true, [false, true])
        );
        let found = written("12 %").unwrap();
        assert!(found.is_percent && !found.is_plain && found.has_groups == [false; 2]);
        assert_eq!(written("US$5").unwrap().currency.as_deref(), Some("US$"));
        assert_eq!(written("5 SEK").unwrap().currency.as_deref(), Some("SEK"));
        assert!(written("1e5").unwrap().is_plain);
        for (cell, groups) in [("1e+5", [false; 2]), ("1234.5", [false, true]), ("1,234.5", [true, false])] {
            assert_eq!(written(cell).unwrap().has_groups, groups, "{cell}");
        }
    }

    /// How a number is written.
    #[derive(Debug, Clone)]
    struct Style {
        mark: char,
        separator: Option<char>,
        before: &'static str,
        behind: &'static str,
        in_parentheses: bool,
    }

    fn grouped(digits: &str, separator: char) -> String {
        let places = digits.len();
        let one = |(at, digit): (usize, char)| {
            let mark = (at > 0 && (places - at).is_multiple_of(3)).then_some(separator);
            mark.into_iter().chain([digit]).collect::<String>()
        };
        digits.chars().enumerate().map(one).collect()
    }

    impl Style {
        fn write(&self, number: f64, decimals: usize) -> String {
            let text = format!("{:.decimals$}", number.abs());
            let (whole, rest) = text.split_once('.').unwrap_or((&text, ""));
            let whole = self.separator.map_or(whole.to_owned(), |separator| grouped(whole, separator));
            let rest = if rest.is_empty() { String::new() } else { format!("{}{rest}", self.mark) };
            let body = format!("{}{whole}{rest}{}", self.before, self.behind);
            match (number < 0.0, self.in_parentheses) {
                (false, _) => body,
                (true, true) => format!("({body})"),
                (true, false) => format!("-{body}"),
            }
        }
    }

    fn styles() -> impl Strategy<Value = Style> {
        let separators: Vec<_> = ",. '’\u{a0}\u{202f}".chars().map(Some).chain([None]).collect();
        let separators = prop::sample::select(separators);
        let before = prop::sample::select(vec!["", "$", "€ ", "£", "CHF ", "US$"]);
        let behind = prop::sample::select(vec!["", " €", "\u{a0}EUR", " %", "%"]);
        (prop::bool::ANY, separators, before, behind, prop::bool::ANY).prop_map(
            |(is_comma, separator, before, behind, in_parentheses)| {
                let mark = if is_comma { ',' } else { '.' };
                let behind = if before.is_empty() || behind.contains('%') { behind } else { "" };
                Style { mark, separator: separator.filter(|&s| s != mark), before, behind, in_parentheses }
            },
        )
    }

    proptest! {
        /// A number in any of these ways of writing is read as that number.
        #[test]
        fn a_written_number_is_read_back(number in -1e9..1e9_f64, decimals in 0..9_usize, style in styles()) {
            let cell = style.write(number, decimals);
            let truth: f64 = format!("{number:.decimals$}").parse().unwrap();
            let found = values(&cell)[usize::from(style.mark == ',')];
            prop_assert_eq!(found, Some(truth), "{}", cell);
        }

        /// Nothing that a cell can hold ends the program.
        #[test]
        fn any_text_is_a_number_or_none(text in "\\PC*", digits in "[0-9.,' $€%()eE+-]{0,12}") {
            _ = written(&text);
            _ = written(&digits);
        }
    }
}
