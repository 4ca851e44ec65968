//! The first read of a text table: plain numbers, and what in a column is none.

use super::cell::{Cell, Named, cell};
use super::text::{Text, fits};
use crate::error::Error;
use crate::names::counted;
use crate::problem::Problem;

/// The lines of wrong length that a message names.
const NAMED: usize = 5;

/// The plain numbers of a column, and what in it is none.
#[derive(Debug, Default)]
pub(super) struct Cells {
    /// NaN where there is no number.
    pub(super) numbers: Vec<f64>,
    pub(super) missing: usize,
    /// The missing ones that a person named.
    pub(super) named: usize,
    pub(super) texts: usize,
}

impl Cells {
    fn push(&mut self, field: &[u8], named: &Named) {
        let trimmed = field.trim_ascii();
        let found = if named.has(trimmed) {
            self.named += 1;
            Cell::Missing
        } else {
            cell(trimmed)
        };
        self.numbers.push(match found {
            Cell::Number(number) => number,
            Cell::Missing => {
                self.missing += 1;
                f64::NAN
            }
            Cell::Text => {
                self.texts += 1;
                f64::NAN
            }
        });
    }
}

/// What a first read gives.
#[derive(Debug, Default)]
pub(super) struct Plain {
    pub(super) columns: Vec<Cells>,
    /// The line of each row.
    pub(super) lines: Vec<u64>,
    /// The lines of rows that have too few or too many fields, and how many fields.
    pub(super) ragged: Vec<(u64, usize)>,
    /// The rows at the end without any value, which are left out.
    pub(super) empty_rows: usize,
}

impl Plain {
    /// Reads every row of so many columns.
    ///
    pub(super) fn read(text: &Text<'_>, columns: usize, named: &Named) -> Result<Self, Error> {
        let mut plain = Self { columns: (0..columns).map(|_| Cells::default()).collect(), ..Self::default() };
        let (mut rows, mut ends_in_line) = (text.rows()?, false);
        while let Some(record) = rows.next()? {
            ends_in_line = record.iter().next_back().is_some_and(|field| field.contains(&b'\n'));
            if !fits(record, columns) {
                let fields = record.len();
                plain.ragged.push((rows.line(), fields));
                continue;
            }
            let is_empty = |field: &[u8]| field.trim_ascii().is_empty();
            let is_empty_row = columns > 1 && record.get(0).is_some_and(is_empty) && record.iter().all(is_empty);
            plain.empty_rows = if is_empty_row { plain.empty_rows + 1 } else { 0 };
            for (field, column) in record.iter().zip(&mut plain.columns) {
                column.push(field, named);
            }
            plain.lines.push(rows.line());
        }
        // what nothing closes runs to the end of the file
        if ends_in_line && !text.bytes.trim_ascii_end().ends_with(b"\"") {
            let last = plain.lines.last().copied().max(plain.ragged.last().map(|(line, _)| *line));
            let place = last.map(|l| format!(", line {l}")).unwrap_or_default();
            return Err(text.error(place, "a quotation mark opens a field and none closes it".into()));
        }
        plain.leave_out_empty_rows();
        plain.check_rows(text, columns)?;
        Ok(plain)
    }

    fn leave_out_empty_rows(&mut self) {
        let rows = self.lines.len() - self.empty_rows;
        self.lines.truncate(rows);
        for column in &mut self.columns {
            let gone = column.numbers.len() - rows;
            column.numbers.truncate(rows);
            column.missing -= gone;
        }
    }

    /// Refuses a text of which hardly a row is like the first.
    fn check_rows(&self, text: &Text<'_>, columns: usize) -> Result<(), Error> {
        if self.ragged.len() > self.lines.len()
            && let Some(Problem { place, problem, .. }) = self.ragged_problem(text, columns)
        {
            return Err(text.error(format!(", {place}"), problem));
        }
        if self.lines.is_empty() {
            let problem = "there is a header and no row below it; a table needs at least one row".into();
            return Err(text.error(String::new(), problem));
        }
        Ok(())
    }

    /// What is wrong with rows of another length than the first.
    pub(super) fn ragged_problem(&self, text: &Text<'_>, columns: usize) -> Option<Problem> {
        let &(line, fields) = self.ragged.first()?;
        let first = if text.has_names() { "the header" } else { "the first line" };
        let mut problem = format!("{} found, {columns} expected, as in {first}", counted(fields, "field"));
        let others: Vec<String> = self.ragged.iter().skip(1).take(NAMED).map(|(line, _)| line.to_string()).collect();
        let more = self.ragged.len().saturating_sub(1 + NAMED);
        if !others.is_empty() {
            let lines = if others.len() + more == 1 { "line" } else { "lines" };
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            problem += &format!(", and another number in {lines} {}{more}", others.join(", "));
        }
        let agree = self.ragged.iter().all(|&(_, other)| other == fields);
        let is_most = self.ragged.len() > self.lines.len();
        let has_row_names = text.has_names() && fields == columns + 1 && agree && (!is_most || self.lines.is_empty());
        if has_row_names {
            problem += "; if the rows start with a name of their own, the header needs a name for that column";
        }
        if is_most && agree && line > 1 {
            let above = if line == 2 { "1".to_owned() } else { format!("1-{}", line - 1) };
            problem +=
                &format!("; if the table begins in line {line}, leave out what is above it (--skip-lines {above})");
        } else if !has_row_names {
            problem += "; text for a missing or surplus delimiter, or for one that wants quotation marks around it; a \
                        line that is no data can be left out (--skip-lines)";
        }
        Some(Problem { column: None, place: format!("line {line}"), problem })
    }
}
