//! Text tables: CSV, TSV and the like.
//!
//! A column of which every cell is a number or missing holds numbers; any other holds words. A few words among many
//! numbers are a slip of somebody's hand, and an error. A cell is missing when it is empty or one of `NA`, `N/A`,
//! `NaN`, `null`, `None` (in either case), `?` and `.`. Blank lines count for nothing.
//!
//! The text is in memory and read at most twice: once for the numbers, which go straight to their columns, and once
//! more for the words, where there are any.

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;

use csv::{ByteRecord, ReaderBuilder};

use super::sniff;
use super::words::Words;
use crate::error::Error;
use crate::names::{Names, counted};
use crate::source::ReadOptions;
use crate::table::{Column, Table, Values};

/// Of the cells of a column of numbers, one in this many may be a slip. A single one always may.
const SLIPS: usize = 10;

/// The table that a text holds.
///
/// # Errors
/// When it is no table, or something in it is most likely not meant; the error names the place.
pub(crate) fn read_table(path: &Path, mut text: impl Read, options: &ReadOptions) -> Result<Table, Error> {
    let mut bytes = Vec::new();
    text.read_to_end(&mut bytes).map_err(|error| Error::System { path: path.into(), what: "cannot be read", error })?;
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes);
    check_text(path, bytes)?;
    let delimiter = options.delimiter.unwrap_or_else(|| sniff::delimiter(bytes));
    let header = options.header.unwrap_or_else(|| sniff::header(bytes, delimiter));
    let text = Text { path, bytes, delimiter, header };
    let names = text.names()?;
    let (numbers, lines) = text.numbers(&names)?;
    let columns = text.columns(&names, numbers, options)?;
    Ok(Table { columns, rows: lines.len(), lines: Some(lines), has_names: header })
}

/// What a cell holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Cell {
    Number(f64),
    Missing,
    Text,
}

/// What a cell holds; spaces around it count for nothing.
pub(super) fn cell(bytes: &[u8]) -> Cell {
    let bytes = bytes.trim_ascii();
    // what is missing must come first: "nan" reads as a number, too
    if is_missing(bytes) {
        return Cell::Missing;
    }
    match fast_float2::parse::<f64, _>(bytes) {
        Ok(number) if number.is_nan() => Cell::Missing,
        Ok(number) => Cell::Number(number),
        Err(_) => Cell::Text,
    }
}

pub(super) fn is_missing(trimmed: &[u8]) -> bool {
    let spelled = |word: &str| trimmed.eq_ignore_ascii_case(word.as_bytes());
    match trimmed {
        b"" | b"?" | b"." => true,
        // most cells are numbers, and those that start like one need no comparison
        [b'0'..=b'9' | b'-' | b'+' | b'.', ..] => false,
        _ => trimmed.len() <= 4 && ["NA", "N/A", "NaN", "null", "None"].into_iter().any(spelled),
    }
}

/// A reader of records of any length.
pub(crate) fn reader(bytes: &[u8], delimiter: u8) -> csv::Reader<&[u8]> {
    ReaderBuilder::new().delimiter(delimiter).has_headers(false).flexible(true).from_reader(bytes)
}

/// The line that a record starts at. The reader's own count stops before the line ends that it skips.
pub(crate) fn line_of(bytes: &[u8], record: &ByteRecord) -> u64 {
    let Some(position) = record.position() else { return 1 };
    let start = usize::try_from(position.byte()).unwrap_or(usize::MAX);
    let rest = bytes.get(start..).unwrap_or_default();
    let skipped = rest.iter().take_while(|b| matches!(b, b'\r' | b'\n')).filter(|&&b| b == b'\n').count();
    position.line() + skipped as u64
}

/// Refuses what is no text at all.
fn check_text(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let refuse = |line: Option<usize>, problem: String| {
        let place = line.map(|l| format!(", line {l}")).unwrap_or_default();
        Err(Error::Content { path: path.into(), place, problem })
    };
    let line_of = |at: usize| 1 + bytes.iter().take(at).filter(|&&b| b == b'\n').count();
    if bytes.trim_ascii().is_empty() {
        return refuse(None, "the file is empty; a table needs at least one row".into());
    }
    if bytes.starts_with(b"\xFF\xFE") || bytes.starts_with(b"\xFE\xFF") {
        return refuse(None, "the text is UTF-16; save it as UTF-8".into());
    }
    if let Some(at) = bytes.iter().position(|&b| b == 0) {
        return refuse(Some(line_of(at)), "a zero byte, so this is no text; a table is CSV or TSV in UTF-8".into());
    }
    match std::str::from_utf8(bytes) {
        Ok(_) => Ok(()),
        Err(error) => {
            let at = error.valid_up_to();
            let byte = bytes.get(at).copied().unwrap_or_default();
            let problem = format!("byte 0x{byte:02X} is not UTF-8; save the file as UTF-8 (iconv -f latin1 -t utf-8)");
            refuse(Some(line_of(at)), problem)
        }
    }
}

/// A text and how it is cut.
struct Text<'t> {
    path: &'t Path,
    bytes: &'t [u8],
    delimiter: u8,
    header: bool,
}

/// The numbers of a column, and what in it is none.
#[derive(Default)]
struct Cells {
    /// NaN where there is no number.
    numbers: Vec<f64>,
    missing: usize,
    texts: usize,
    /// Line and value of the first cell that is text.
    first_text: Option<(u64, String)>,
}

impl Text<'_> {
    fn error(&self, place: String, problem: String) -> Error {
        Error::Content { path: self.path.into(), place, problem }
    }

    fn reader(&self) -> csv::Reader<&[u8]> {
        reader(self.bytes, self.delimiter)
    }

    /// Reads the next record; `None` at the end.
    fn next(&self, reader: &mut csv::Reader<&[u8]>, record: &mut ByteRecord) -> Result<Option<()>, Error> {
        match reader.read_byte_record(record) {
            Ok(more) => Ok(more.then_some(())),
            Err(error) => Err(self.error(String::new(), error.to_string())),
        }
    }

    fn line(&self, record: &ByteRecord) -> u64 {
        line_of(self.bytes, record)
    }

    /// The names of the columns: those of the header, or x1, x2, ….
    fn names(&self) -> Result<Vec<String>, Error> {
        let mut record = ByteRecord::new();
        self.next(&mut self.reader(), &mut record)?;
        let named = |(i, field): (usize, &[u8])| {
            let name = String::from_utf8_lossy(field).trim().to_owned();
            if self.header && !name.is_empty() { name } else { format!("x{}", i + 1) }
        };
        let names: Vec<String> = record.iter().enumerate().map(named).collect();
        let mut first = HashMap::new();
        for (i, name) in names.iter().enumerate() {
            if let Some(before) = first.insert(name, i) {
                let (a, b) = (before + 1, i + 1);
                let place = format!(", line {}, column {b} ({name})", self.line(&record));
                let problem = format!("column {a} has the same name; give each column one of its own");
                return Err(self.error(place, problem));
            }
        }
        Ok(names)
    }

    /// A record of the wrong length.
    fn ragged(&self, record: &ByteRecord, expected: usize) -> Error {
        let found = record.len();
        let first = if self.header { "the header" } else { "the first line" };
        let mut problem = format!("{} found, {expected} expected, as in {first}", counted(found, "field"));
        if self.header && found == expected + 1 {
            problem += "; if the rows start with a name of their own, the header needs a name for that column";
        } else {
            problem += "; look for a missing or surplus delimiter, or for one that wants quotation marks around it";
        }
        self.error(format!(", line {}", self.line(record)), problem)
    }

    /// The numbers of every column, and the line of each row.
    fn numbers(&self, names: &[String]) -> Result<(Vec<Cells>, Vec<u64>), Error> {
        let mut columns: Vec<Cells> = names.iter().map(|_| Cells::default()).collect();
        let (mut lines, mut ends_in_line) = (Vec::new(), false);
        let (mut reader, mut record) = (self.reader(), ByteRecord::new());
        if self.header {
            self.next(&mut reader, &mut record)?;
        }
        while self.next(&mut reader, &mut record)?.is_some() {
            if record.len() != names.len() {
                return Err(self.ragged(&record, names.len()));
            }
            let line = self.line(&record);
            lines.push(line);
            ends_in_line = record.iter().next_back().is_some_and(|field| field.contains(&b'\n'));
            for (field, column) in record.iter().zip(&mut columns) {
                column.push(field, line);
            }
        }
        // what nothing closes runs to the end of the file
        if ends_in_line && !self.bytes.trim_ascii_end().ends_with(b"\"") {
            let place = lines.last().map(|l| format!(", line {l}")).unwrap_or_default();
            return Err(self.error(place, "a quotation mark opens a field and none closes it".into()));
        }
        if lines.is_empty() {
            let problem = "there is a header and no row below it; a table needs at least one row".into();
            return Err(self.error(String::new(), problem));
        }
        Ok((columns, lines))
    }

    /// The columns: numbers where all cells are, words elsewhere.
    fn columns(&self, names: &[String], cells: Vec<Cells>, options: &ReadOptions) -> Result<Vec<Column>, Error> {
        let known = Names::new(names.iter().map(String::as_str));
        let marked = |wanted: &[String]| {
            let mut marks = vec![false; names.len()];
            wanted.iter().filter_map(|w| known.find(w)).filter_map(|i| marks.get_mut(i).map(|m| *m = true)).count();
            marks
        };
        let (categorical, dropped) = (marked(&options.categorical), marked(&options.drop));
        let mut wordy = Vec::new();
        for (i, ((cells, &is_category), &is_dropped)) in cells.iter().zip(&categorical).zip(&dropped).enumerate() {
            if !is_category && !is_dropped {
                self.check_slips(i, names, cells)?;
            }
            wordy.push(is_category || cells.texts > 0);
        }
        let mut words = self.words(&wordy)?.into_iter();
        let values = cells.into_iter().zip(&wordy).map(|(cells, &is_wordy)| match is_wordy.then(|| words.next()) {
            Some(Some(words)) => words.into_values(),
            _ => Values::Numbers(cells.numbers),
        });
        Ok(names.iter().zip(values).map(|(name, values)| Column { name: name.clone(), values }).collect())
    }

    /// Refuses a column of numbers in which a few cells are text.
    fn check_slips(&self, column: usize, names: &[String], cells: &Cells) -> Result<(), Error> {
        let Some((line, value)) = &cells.first_text else { return Ok(()) };
        let name = names.get(column).map_or("", String::as_str);
        let place = format!(", line {line}, column {} ({name})", column + 1);
        let present = cells.numbers.len() - cells.missing;
        let slips = cells.texts <= (present / SLIPS).max(1) && present - cells.texts >= 2;
        let has_comma = |b: &str| matches!(cell(b.replacen(',', ".", 1).as_bytes()), Cell::Number(_));
        let problem = if slips {
            let among = counted(present - cells.texts, "number");
            format!(
                "\"{value}\" among {among}; correct it, or leave the column out (--drop {name}), or say that it holds \
                 categories (--categorical {name})"
            )
        } else if self.delimiter != b',' && has_comma(value) {
            format!(
                "\"{value}\" has a decimal comma; write a point, or leave the column out (--drop {name}), or say that \
                 it holds categories (--categorical {name})"
            )
        } else {
            return Ok(());
        };
        Err(self.error(place, problem))
    }

    /// The words of the marked columns: a second read, where there are any.
    fn words(&self, marked: &[bool]) -> Result<Vec<Words>, Error> {
        let mut columns: Vec<Words> = marked.iter().filter(|m| **m).map(|_| Words::default()).collect();
        if columns.is_empty() {
            return Ok(columns);
        }
        let (mut reader, mut record) = (self.reader(), ByteRecord::new());
        if self.header {
            self.next(&mut reader, &mut record)?;
        }
        let places: Vec<usize> = marked.iter().enumerate().filter(|(_, m)| **m).map(|(i, _)| i).collect();
        while self.next(&mut reader, &mut record)?.is_some() {
            for (&place, column) in places.iter().zip(&mut columns) {
                column.push(record.get(place).unwrap_or_default());
            }
        }
        Ok(columns)
    }
}

impl Cells {
    fn push(&mut self, field: &[u8], line: u64) {
        self.numbers.push(match cell(field) {
            Cell::Number(number) => number,
            Cell::Missing => {
                self.missing += 1;
                f64::NAN
            }
            Cell::Text => {
                self.texts += 1;
                self.first_text.get_or_insert_with(|| (line, String::from_utf8_lossy(field).trim().into()));
                f64::NAN
            }
        });
    }
}

#[cfg(test)]
mod tests;
