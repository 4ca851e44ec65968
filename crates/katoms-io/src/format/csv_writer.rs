//! Columns as comma-separated text.

use std::collections::TryReserveError;
use std::fmt::Write;

use crate::table::{Column, Values};

/// The text of these columns, names first. Numbers have the fewest digits that read back as the same number; a
/// missing value is an empty cell.
pub fn write_csv(columns: &[Column]) -> Vec<u8> {
    let mut text = String::new();
    push_row(&mut text, columns.iter().map(|column| quoted(&column.name)));
    let rows = columns.iter().map(|column| column.values.len()).max().unwrap_or(0);
    for row in 0..rows {
        push_row(&mut text, columns.iter().map(|column| cell(&column.values, row)));
    }
    text.into_bytes()
}

/// A text table that grows line by line.
#[derive(Debug, Default)]
pub struct CsvText(String);

impl CsvText {
    /// Adds a line of cells, made by [`CsvText::number`] and [`CsvText::word`].
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn push(&mut self, cells: impl ExactSizeIterator<Item = String>) -> Result<(), TryReserveError> {
        let mut line = String::new();
        push_row(&mut line, cells);
        self.0.try_reserve(line.len())?;
        self.0.push_str(&line);
        Ok(())
    }

    /// The cell of a number: the fewest digits that read back as the same one.
    pub fn number(value: f64) -> String {
        shortest(value)
    }

    /// The cell of a word, in quotes where it would be taken for something else.
    pub fn word(word: &str) -> String {
        quoted(word)
    }

    /// The whole text.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0.into_bytes()
    }
}

fn push_row(text: &mut String, cells: impl ExactSizeIterator<Item = String>) {
    let is_single = cells.len() == 1;
    for (place, cell) in cells.enumerate() {
        if place > 0 {
            text.push(',');
        }
        // a line of nothing would be no row
        text.push_str(if is_single && cell.is_empty() { "\"\"" } else { &cell });
    }
    text.push('\n');
}

fn cell(values: &Values, row: usize) -> String {
    match values {
        Values::Numbers(numbers) => numbers.get(row).map_or_else(String::new, |&v| shortest(v)),
        words => words.word(row).map_or_else(String::new, quoted),
    }
}

/// The fewest digits that read back as this number, with an exponent where that is shorter to read.
fn shortest(value: f64) -> String {
    let mut text = String::new();
    let size = value.abs();
    // writing to a string cannot fail
    let _ = match value {
        v if v.is_nan() => Ok(()),
        v if size != 0.0 && size.is_finite() && !(1e-5..1e16).contains(&size) => write!(text, "{v:e}"),
        v => write!(text, "{v}"),
    };
    text
}

/// A word, in quotes where it would be taken for something else.
fn quoted(word: &str) -> String {
    let is_plain = !word.contains([',', '"', '\n', '\r', ';', '\t']) && word.trim() == word && !word.is_empty();
    if is_plain { word.into() } else { format!("\"{}\"", word.replace('"', "\"\"")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(columns: &[Column]) -> String {
        String::from_utf8(write_csv(columns)).unwrap()
    }

    #[test]
    fn names_and_words_are_quoted_where_needed_and_what_is_missing_is_empty() {
        let words = Values::Words { levels: vec!["a,b".into(), "plain".into()], codes: vec![Some(1), None, Some(0)] };
        let columns = [
            Column { name: "a \"b\"".into(), values: Values::Numbers(vec![1.0, f64::NAN, -0.1]) },
            Column { name: "kind".into(), values: words },
        ];
        assert_eq!(text_of(&columns), "\"a \"\"b\"\"\",kind\n1,plain\n,\n-0.1,\"a,b\"\n");
    }

    #[test]
    fn numbers_read_back_as_the_same_bits() {
        let numbers = [0.1, 1.0 / 3.0, 1e300, -5e-324, f64::MAX, 1e16, 123456789.0, 0.0, -0.0, 1e-5, f64::INFINITY];
        for number in numbers {
            assert_eq!(shortest(number).parse::<f64>().unwrap().to_bits(), number.to_bits(), "{number}");
        }
        assert_eq!([shortest(1e300), shortest(2.5e-7), shortest(1e15)], ["1e300", "2.5e-7", "1000000000000000"]);
    }

    #[test]
    fn a_single_column_keeps_a_row_for_each_missing_value() {
        let column = Column { name: "y".into(), values: Values::Numbers(vec![f64::NAN, 2.0]) };
        assert_eq!(text_of(&[column]), "y\n\"\"\n2\n");
    }
}
