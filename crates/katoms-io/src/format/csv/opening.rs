//! Where the table of a text begins and how it is cut: skipped lines, comments, delimiter, header.

use std::borrow::Cow;
use std::path::Path;

use super::cell;
use super::sniff;
use super::text::{Cut, Header, Text, squeezed};
use crate::error::{Error, bad};
use crate::names::counted;
use crate::source::ReadOptions;

/// What starts a comment above the header, where nothing else is said.
const COMMENT: u8 = b'#';

/// The text of a table, ready to be read, and what a person should know.
pub(super) fn open<'t>(
    path: &'t Path,
    bytes: &'t [u8],
    options: &ReadOptions,
) -> Result<(Text<'t>, Vec<String>), Error> {
    let sign = char::from(options.comment.unwrap_or(COMMENT));
    let (told, start) = separator_line(bytes);
    let above = Above::new(bytes, start, sign as u8);
    let table = bytes.get(above.end..).unwrap_or_default();
    if table.trim_ascii().is_empty() {
        return Err(bad(path, nothing_left(&above, sign)));
    }
    let comment = options.comment;
    let delimiter = options.delimiter.or(told).unwrap_or_else(|| sniff::table_delimiter(table, comment));
    let (cut, table, last) = match delimiter {
        b' ' => (Cut { delimiter: b'\t', comment }, Cow::Owned(squeezed(table)), Cow::Owned(squeezed(above.last))),
        _ => (Cut { delimiter, comment }, Cow::Borrowed(table), Cow::Borrowed(above.last)),
    };
    let header = header(&table, last, cut, options.header);
    let skipped = above.comments - usize::from(matches!(header, Header::Above(_)));
    let mut notes = Vec::new();
    if skipped > 0 {
        notes.push(format!(
            "{} above the table skipped: comments, which start with \"{sign}\"",
            counted(skipped, "line")
        ));
    }
    if matches!(header, Header::Above(_)) {
        notes.push(format!("the columns are named by the line above them, which starts with \"{sign}\""));
    }
    let lines_before = bytes.iter().take(above.end).filter(|&&b| b == b'\n').count() as u64;
    Ok((Text { path, bytes: table, lines_before, cut, header }, notes))
}

/// Blank lines in place of some, so that the others keep their numbers.
pub(super) fn without_lines(bytes: &[u8], is_skipped: impl Fn(u64) -> bool) -> Vec<u8> {
    let mut rest = Vec::with_capacity(bytes.len());
    for (line, number) in bytes.split_inclusive(|&b| b == b'\n').zip(1..) {
        let end = if line.ends_with(b"\n") { &b"\n"[..] } else { &[] };
        rest.extend_from_slice(if is_skipped(number) { end } else { line });
    }
    rest
}

/// `sep=;` in the first line is what spreadsheets tell each other: the delimiter, and where the rest starts.
fn separator_line(bytes: &[u8]) -> (Option<u8>, usize) {
    let line = bytes.split_inclusive(|&b| b == b'\n').next().unwrap_or_default();
    match line.trim_ascii_end() {
        [b's' | b'S', b'e' | b'E', b'p' | b'P', b'=', delimiter] => (Some(*delimiter), line.len()),
        _ => (None, 0),
    }
}

/// The lines above a table that are comments.
struct Above<'t> {
    comments: usize,
    /// The last of them, without what starts it.
    last: &'t [u8],
    /// Where the table starts.
    end: usize,
}

impl<'t> Above<'t> {
    fn new(bytes: &'t [u8], start: usize, sign: u8) -> Self {
        let mut above = Self { comments: 0, last: &[], end: start };
        for line in bytes.get(start..).unwrap_or_default().split_inclusive(|&b| b == b'\n') {
            let text = line.trim_ascii();
            // #N/A is a value that is missing
            let first_cell = text.split(|b| b",;\t| ".contains(b)).next().unwrap_or_default();
            match text {
                [] => {}
                [first, ..] if *first == sign && !cell::is_missing(first_cell) => {
                    above.comments += 1;
                    let signs = text.iter().take_while(|&&b| b == sign).count();
                    above.last = text.get(signs..).unwrap_or_default().trim_ascii();
                }
                _ => break,
            }
            above.end += line.len();
        }
        above
    }
}

fn nothing_left(above: &Above<'_>, sign: char) -> String {
    match above.comments {
        0 => "the file is empty; a table needs at least one row".into(),
        n => format!(
            "{}, and every one starts with \"{sign}\", as comments do; if these are data, say what starts a comment, \
             such as --comment %",
            counted(n, "line")
        ),
    }
}

/// Where the names are. A comment right above the table has them if it has as many fields as the first line, and that
/// one is no header itself: `#chrom pos`.
fn header<'t>(table: &[u8], above: Cow<'t, [u8]>, cut: Cut, said: Option<bool>) -> Header<'t> {
    let found = sniff::header(table, cut);
    let fields = |bytes: &[u8]| sniff::first_records(bytes, cut).first().map_or(0, csv::ByteRecord::len);
    let names_above = !above.is_empty() && fields(&above) > 1 && fields(&above) == fields(table);
    match (said, found) {
        (Some(false), _) => Header::None,
        (_, sniff::Vote::No) if names_above => Header::Above(above),
        (None, sniff::Vote::Open { .. }) if names_above => Header::Above(above),
        (Some(true), _) | (None, sniff::Vote::Yes | sniff::Vote::Open { is_text: true }) => Header::First,
        (None, sniff::Vote::No | sniff::Vote::Open { is_text: false }) => Header::None,
    }
}

/// Refuses what is no text at all.
pub(super) fn check_text(path: &Path, bytes: &[u8]) -> Result<(), Error> {
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
    // `contains` text_columns at many bytes at once
    if bytes.contains(&0)
        && let Some(at) = bytes.iter().position(|&b| b == 0)
    {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipped_lines_leave_the_numbers_of_the_others() {
        assert_eq!(without_lines(b"a\r\nb\nc", |line| line == 1 || line == 3), b"\nb\n");
    }
}
