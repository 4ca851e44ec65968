//! A cell by itself: a plain number, missing, or text.

use crate::names::listed;
use crate::problem::quoted;

/// What is missing in any column.
const MISSING: [&str; 5] = ["NA", "N/A", "<NA>", "NaN", "null"];
/// What a spreadsheet writes where it could not calculate, and where there was nothing.
const SPREADSHEET_ERRORS: [&str; 7] = ["#N/A", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!"];
/// What is missing in a column of numbers or dates besides. Among words each of these may be one of its own.
const MISSING_NUMBERS: [&str; 10] = ["None", "n.a.", "-", "--", "---", "–", "—", ".", "..", "..."];

/// What a cell holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Cell {
    Number(f64),
    Missing,
    Text,
}

/// What a cell without blanks around it holds.
pub(super) fn cell(trimmed: &[u8]) -> Cell {
    // what is missing must come first: "nan" reads as a number, too
    if is_missing_number(trimmed) {
        return Cell::Missing;
    }
    match fast_float2::parse::<f64, _>(trimmed) {
        Ok(number) if number.is_nan() => Cell::Missing,
        Ok(number) => Cell::Number(number),
        Err(_) => Cell::Text,
    }
}

/// Whether a cell is missing, whatever the others of its column hold.
pub(super) fn is_missing(trimmed: &[u8]) -> bool {
    match trimmed {
        b"" | b"?" => true,
        [b'#', ..] => SPREADSHEET_ERRORS.into_iter().any(|word| trimmed == word.as_bytes()),
        _ => trimmed.len() <= 4 && is_spelled(trimmed, &MISSING),
    }
}

/// Whether a cell is missing in a column of numbers or dates.
pub(super) fn is_missing_number(trimmed: &[u8]) -> bool {
    match trimmed {
        // most cells are numbers, and those that start like one need no comparison
        [b'0'..=b'9', ..] => false,
        [b'-' | b'+' | b'.', b'0'..=b'9', ..] => false,
        _ => is_missing(trimmed) || (trimmed.len() <= 4 && is_spelled(trimmed, &MISSING_NUMBERS)),
    }
}

fn is_spelled(trimmed: &[u8], words: &[&str]) -> bool {
    words.iter().any(|word| trimmed.eq_ignore_ascii_case(word.as_bytes()))
}

/// The missing values that a person names.
#[derive(Debug, Default)]
pub(super) struct Named {
    words: Vec<String>,
    /// Those that are numbers: -9 is -9.0, too.
    numbers: Vec<f64>,
}

impl Named {
    /// Each is a list that commas separate, and also one value that may have commas in it.
    pub(super) fn new<'g>(given: impl IntoIterator<Item = &'g String>) -> Self {
        let parts = given.into_iter().flat_map(|list| std::iter::once(list.as_str()).chain(list.split(',')));
        let mut words: Vec<String> = parts.map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect();
        words.sort_unstable();
        words.dedup();
        let numbers = words.iter().filter_map(|word| fast_float2::parse(word).ok()).collect();
        Self { words, numbers }
    }

    /// `"-9", "unknown"`.
    pub(super) fn listed(&self) -> String {
        let quoted: Vec<String> = self.words.iter().map(|word| quoted(word)).collect();
        listed(quoted.iter().map(String::as_str))
    }

    /// Whether a cell is one of them.
    pub(super) fn has(&self, trimmed: &[u8]) -> bool {
        !self.words.is_empty()
            && (self.words.iter().any(|word| word.as_bytes() == trimmed)
                || fast_float2::parse(trimmed).is_ok_and(|number| self.numbers.contains(&number)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_cells_in_every_spelling() {
        let everywhere = ["", "NA", "na", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "null", "NULL", "?", "#DIV/0!"];
        let in_numbers = ["None", "none", "-", "--", "---", "–", "—", ".", "..", "...", "n.a.", "N.A."];
        for word in everywhere {
            assert!(is_missing(word.as_bytes()) && is_missing_number(word.as_bytes()), "{word}");
        }
        for word in in_numbers {
            assert!(!is_missing(word.as_bytes()) && is_missing_number(word.as_bytes()), "{word}");
            assert_eq!(cell(word.as_bytes()), Cell::Missing, "{word}");
        }
        for word in ["0", "-1", ".5", "+3", "1e5", "inf", "-inf"] {
            assert!(matches!(cell(word.as_bytes()), Cell::Number(_)), "{word}");
        }
        for word in ["nil", "Nathan", "#1", "#chrom", "----", "unknown", "-x", "NA NA"] {
            assert_eq!(cell(word.as_bytes()), Cell::Text, "{word}");
        }
    }

    #[test]
    fn named_missing_values() {
        let named = Named::new(&["-9,unknown".into(), " no, thanks ".into()]);
        for word in ["-9", "-9.0", "unknown", "no, thanks", "no", "thanks"] {
            assert!(named.has(word.as_bytes()), "{word}");
        }
        for word in ["9", "-99", "Unknown", ""] {
            assert!(!named.has(word.as_bytes()), "{word}");
        }
        assert!(!Named::new(&[]).has(b"-9"));
    }
}
