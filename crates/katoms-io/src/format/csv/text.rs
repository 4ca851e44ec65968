//! A text and how it is cut into records.

use std::borrow::Cow;
use std::collections::HashSet;
use std::path::Path;

use csv::{ByteRecord, ReaderBuilder};

use crate::error::{Error, bad_at};
use crate::names::listed;

/// How records are cut.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cut {
    pub(crate) delimiter: u8,
    /// What starts a line that counts for nothing.
    pub(crate) comment: Option<u8>,
}

impl Cut {
    /// By this delimiter, without comments.
    pub(crate) fn by(delimiter: u8) -> Self {
        Self { delimiter, comment: None }
    }
}

/// Where the names of the columns are.
#[derive(Debug)]
pub(super) enum Header<'t> {
    None,
    /// In the first record.
    First,
    /// In a comment above it.
    Above(Cow<'t, [u8]>),
}

/// A text and how it is cut.
pub(super) struct Text<'t> {
    pub(super) path: &'t Path,
    pub(super) bytes: Cow<'t, [u8]>,
    /// The lines of the file before these bytes.
    pub(super) lines_before: u64,
    pub(super) cut: Cut,
    pub(super) header: Header<'t>,
}

/// The names of the columns.
#[derive(Debug, Default)]
pub(super) struct Headings {
    pub(super) names: Vec<String>,
    /// Which are in the file, and were not made up.
    pub(super) is_given: Vec<bool>,
    /// Which were changed, since another column has the same.
    pub(super) note: Option<String>,
}

/// A reader of records of any length.
pub(crate) fn reader(bytes: &[u8], cut: Cut) -> csv::Reader<&[u8]> {
    let mut builder = ReaderBuilder::new();
    builder.delimiter(cut.delimiter).comment(cut.comment).has_headers(false).flexible(true).from_reader(bytes)
}

/// The line that a record starts at. The reader's own count stops before the line ends and comments that it skips.
pub(crate) fn line_of(bytes: &[u8], record: &ByteRecord, comment: Option<u8>) -> u64 {
    let Some(position) = record.position() else { return 1 };
    let start = usize::try_from(position.byte()).unwrap_or(usize::MAX);
    let (mut line, mut rest) = (position.line(), bytes.get(start..).unwrap_or_default());
    while let Some((&first, behind)) = rest.split_first() {
        rest = match first {
            b'\n' => {
                line += 1;
                behind
            }
            b'\r' => behind,
            _ if Some(first) == comment => {
                let end = rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
                rest.get(end..).unwrap_or_default()
            }
            _ => break,
        };
    }
    line
}

impl Text<'_> {
    pub(super) fn has_names(&self) -> bool {
        !matches!(self.header, Header::None)
    }

    pub(super) fn error(&self, place: String, problem: String) -> Error {
        bad_at(self.path, place, problem)
    }

    /// The rows: what follows the header.
    pub(super) fn rows(&self) -> Result<Rows<'_>, Error> {
        let mut rows = Rows { text: self, reader: reader(&self.bytes, self.cut), record: ByteRecord::new() };
        if matches!(self.header, Header::First) {
            rows.next()?;
        }
        Ok(rows)
    }

    /// The names of the columns: those of the header, or x1, x2, …, each made the only one of its kind.
    pub(super) fn headings(&self) -> Result<Headings, Error> {
        let bytes: &[u8] = match &self.header {
            Header::Above(bytes) => bytes,
            Header::First | Header::None => &self.bytes,
        };
        let mut record = ByteRecord::new();
        let read = reader(bytes, self.cut).read_byte_record(&mut record);
        read.map_err(|error| self.error(String::new(), error.to_string()))?;
        let mut headings = Headings::default();
        for (i, field) in record.iter().enumerate() {
            let name = String::from_utf8_lossy(field).trim().to_owned();
            let is_given = self.has_names() && !name.is_empty();
            headings.names.push(if is_given { name } else { format!("x{}", i + 1) });
            headings.is_given.push(is_given);
        }
        headings.make_unique();
        Ok(headings)
    }
}

impl Headings {
    /// `price`, `price_2`, `price_3` for columns that have one name.
    fn make_unique(&mut self) {
        let mut taken: HashSet<String> = self.names.iter().cloned().collect();
        if taken.len() == self.names.len() {
            return;
        }
        let (mut seen, mut changed) = (HashSet::new(), Vec::new());
        for (i, name) in self.names.iter_mut().enumerate() {
            if seen.insert(name.clone()) {
                continue;
            }
            let mut other = (2_usize..).map(|n| format!("{name}_{n}")).filter(|other| !taken.contains(other));
            let other = other.next().unwrap_or_else(|| format!("x{}", i + 1));
            changed.push(format!("the \"{name}\" of column {} is {other}", i + 1));
            taken.insert(other.clone());
            *name = other;
        }
        let list = listed(changed.iter().map(String::as_str));
        self.note = Some(format!("columns of the same name were renamed: {list}"));
    }
}

/// Rows, one after the other.
pub(super) struct Rows<'t> {
    text: &'t Text<'t>,
    reader: csv::Reader<&'t [u8]>,
    record: ByteRecord,
}

impl Rows<'_> {
    /// The next row; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<&ByteRecord>, Error> {
        match self.reader.read_byte_record(&mut self.record) {
            Ok(more) => Ok(more.then_some(&self.record)),
            Err(error) => Err(self.text.error(String::new(), error.to_string())),
        }
    }

    /// The line that the row starts at.
    pub(super) fn line(&self) -> u64 {
        self.text.lines_before + line_of(&self.text.bytes, &self.record, self.text.cut.comment)
    }
}

/// Whether a row has so many fields. Empty ones behind the last count for nothing.
pub(super) fn fits(record: &ByteRecord, columns: usize) -> bool {
    record.len() == columns
        || (record.len() > columns && record.iter().skip(columns).all(|f| f.trim_ascii().is_empty()))
}

/// Runs of blanks become a tab each; those at the ends of lines go, those in quotation marks stay.
pub(super) fn squeezed(bytes: &[u8]) -> Vec<u8> {
    let mut rest = Vec::with_capacity(bytes.len());
    let (mut is_quoted, mut is_line_start, mut is_after_blank) = (false, true, false);
    for &byte in bytes {
        match byte {
            b'"' if is_quoted => is_quoted = false,
            _ if is_quoted => {}
            b' ' | b'\t' => {
                is_after_blank = true;
                continue;
            }
            b'\r' | b'\n' => (is_line_start, is_after_blank) = (true, false),
            _ => {
                if is_after_blank && !is_line_start {
                    rest.push(b'\t');
                }
                // a quotation mark that follows another is one of the text: `"a ""b"""`
                let opens = is_after_blank || is_line_start || rest.last() == Some(&b'"');
                is_quoted = byte == b'"' && opens;
                (is_line_start, is_after_blank) = (false, false);
            }
        }
        rest.push(byte);
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_are_squeezed_outside_of_quotation_marks() {
        for (text, expected) in [
            ("a  b\n1 \t 2\n", "a\tb\n1\t2\n"),
            ("  a b  \r\n 1 2 \r\n", "a\tb\r\n1\t2\r\n"),
            ("\"a  b\" c\n", "\"a  b\"\tc\n"),
            ("\"a \"\"b  c\"\" d\" e", "\"a \"\"b  c\"\" d\"\te"),
            ("5\"  pipe  x\n1 2", "5\"\tpipe\tx\n1\t2"),
            ("", ""),
        ] {
            assert_eq!(String::from_utf8(squeezed(text.as_bytes())).unwrap(), expected, "{text}");
        }
    }
}
