//! What a text table does not say of itself: its delimiter, and whether its first line is a header.

use csv::ByteRecord;

use super::cell::{Cell, cell};
use super::text::{Cut, reader, squeezed};
use super::{date, number, pivot};

/// The delimiters that are tried. Of equal ones the first wins.
const DELIMITERS: [u8; 4] = *b",;\t|";
/// The records that are looked at.
const RECORDS: usize = 100;
/// The bytes after which no more are.
const BYTES: usize = 1 << 18;

/// How well a delimiter cuts the first records, compared from the first figure to the last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Agreement {
    /// The records that have equally many fields, and more than one.
    records: usize,
    /// Of a thousand fields below the first record, those that hold a number, a date or nothing.
    readable: usize,
    fields: usize,
}

impl Agreement {
    fn of(records: &[ByteRecord]) -> Self {
        let with = |n: usize| records.iter().filter(|r| r.len() == n).count();
        let most = records.iter().map(ByteRecord::len).filter(|&n| n > 1).map(|n| (with(n), n)).max();
        let Some((agreeing, fields)) = most else { return Self::default() };
        let cells = || records.iter().skip(1).filter(|r| r.len() == fields).flatten();
        let readable = cells().filter(|field| Kind::of(field) != Kind::Text).count();
        Self { records: agreeing, readable: 1000 * readable / cells().count().max(1), fields }
    }
}

/// The delimiter that cuts most of the first records into equally many fields; of several the one whose fields can be
/// read best, then the one that gives most. A comma where none cuts anything.
pub(crate) fn delimiter(text: &[u8]) -> u8 {
    best_delimiter(text, None).0
}

/// The same for a table, which may also be cut by runs of blanks: `b' '`. They are taken only where nothing else cuts
/// every record, since words have blanks too; then they must, and a column of numbers must come out.
pub(super) fn table_delimiter(text: &[u8], comment: Option<u8>) -> u8 {
    let (best, agreement) = best_delimiter(text, comment);
    if agreement.records > 0 && agreement.records == first_records(text, Cut { delimiter: best, comment }).len() {
        return best;
    }
    let start = text.get(..BYTES).unwrap_or(text);
    let last_end = start.iter().rposition(|&b| b == b'\n').filter(|_| start.len() < text.len());
    let whole_lines = start.get(..last_end.unwrap_or(start.len())).unwrap_or(start);
    let records = first_records(&squeezed(whole_lines), Cut { delimiter: b'\t', comment });
    let blanks = Agreement::of(&records);
    let is_numeric = |column: usize| {
        let mut kinds = records.iter().skip(1).filter_map(|r| r.get(column)).map(Kind::of);
        records.len() > 1 && kinds.all(|kind| kind != Kind::Text)
    };
    let cuts_all = !records.is_empty() && blanks.records == records.len();
    if cuts_all && (0..blanks.fields).any(is_numeric) { b' ' } else { best }
}

fn best_delimiter(text: &[u8], comment: Option<u8>) -> (u8, Agreement) {
    let mut best = (b',', Agreement::default());
    for delimiter in DELIMITERS {
        let found = Agreement::of(&first_records(text, Cut { delimiter, comment }));
        if found > best.1 {
            best = (delimiter, found);
        }
    }
    best
}

/// What a field holds, however it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Number,
    Date,
    Missing,
    Text,
}

impl Kind {
    fn of(field: &[u8]) -> Self {
        match cell(field.trim_ascii()) {
            Cell::Number(_) => Self::Number,
            Cell::Missing => Self::Missing,
            Cell::Text => {
                let text = String::from_utf8_lossy(field);
                match (number::written(text.trim()), date::written(&text)) {
                    (Some(_), _) => Self::Number,
                    (None, Some(_)) => Self::Date,
                    (None, None) => Self::Text,
                }
            }
        }
    }
}

/// Whether the first record is a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Vote {
    Yes,
    No,
    /// Nothing below the first record tells; whether that one is text.
    Open {
        is_text: bool,
    },
}

/// Whether the first record is a header. Each column in which the others are numbers has a vote: text above them
/// says yes, a number no. The same goes for dates. The whole numbers above a pivot are names.
pub(super) fn header(text: &[u8], cut: Cut) -> Vote {
    let records = first_records(text, cut);
    let Some((first, others)) = records.split_first() else { return Vote::Open { is_text: false } };
    if pivot::names_columns(first, others) {
        return Vote::Yes;
    }
    let tops: Vec<Kind> = first.iter().map(Kind::of).collect();
    let (mut yes, mut no) = (0, 0);
    for (column, &top) in tops.iter().enumerate() {
        let mut below = others.iter().filter_map(|r| r.get(column)).map(Kind::of).filter(|&kind| kind != Kind::Missing);
        let Some(kind @ (Kind::Number | Kind::Date)) = below.next() else { continue };
        if top != Kind::Missing && below.all(|other| other == kind) {
            *(if top == kind { &mut no } else { &mut yes }) += 1;
        }
    }
    match yes + no {
        0 => Vote::Open {
            is_text: tops.contains(&Kind::Text) && !tops.iter().any(|k| matches!(k, Kind::Number | Kind::Date)),
        },
        _ if yes > no => Vote::Yes,
        _ => Vote::No,
    }
}

/// The first records, as far as they can be read: three, and more while they are short.
pub(super) fn first_records(text: &[u8], cut: Cut) -> Vec<ByteRecord> {
    let mut seen = 0;
    let records = reader(text, cut).into_byte_records().take(RECORDS).map_while(Result::ok);
    let short = records.enumerate().take_while(|(i, record)| {
        seen += record.as_slice().len();
        *i < 3 || seen < BYTES
    });
    short.map(|(_, record)| record).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delimiter_is_found() {
        for (text, expected) in [
            ("a,b\n1,2\n", b','),
            ("a;b\n1,5;2\n3,5;4,5\n", b';'),
            ("1,5;2,5;3,5\n3,5;4,5;5,5\n", b';'),
            ("a\tb c, d\n1\t2\n", b'\t'),
            ("a|b|c\n1|2|3\n", b'|'),
            ("1,234|5,678\n2,345|6,789\n", b'|'),
            ("\"a,b\";c;d\n\"1,2\";3;4\n", b';'),
            ("a,b;c\n1,2\n3,4\n5;6\n", b','),
            ("y\n1\n2\n", b','),
            ("", b','),
        ] {
            assert_eq!(delimiter(text.as_bytes()) as char, expected as char, "{text}");
            assert_eq!(table_delimiter(text.as_bytes(), None) as char, expected as char, "{text}");
        }
    }

    #[test]
    fn blanks_separate_where_nothing_else_does() {
        for (text, expected) in [
            ("a b\n1 2\n3 4\n", b' '),
            ("  a   b\n  1   2\n 10  20\n", b' '),
            ("name \t size\n\"big one\"   3\nsmall 1\n", b' '),
            ("a b\n1,5 2,5\n3,5 4,5\n", b' '),
            ("chr1 100 x\nchr2 200 y\n", b' '),
            // words have blanks, too
            ("first name,home town\nAnna B,New York\nBob C,Los Angeles\n", b','),
            ("town\nNew York\nLos Angeles\n", b','),
            ("two words\nNew York\nLos Angeles\n", b','),
            ("a,b c\n1,2\n", b','),
            ("price\n1 234\n5 678\n12\n", b','),
        ] {
            assert_eq!(table_delimiter(text.as_bytes(), None) as char, expected as char, "{text}");
        }
    }

    #[test]
    fn a_header_is_found() {
        let text = Vote::Open { is_text: true };
        for (table, expected) in [
            ("a,b\n1,2\n", Vote::Yes),
            ("1,2\n3,4\n", Vote::No),
            (",b\n0,2\n1,3\n", Vote::Yes),
            ("colour,size\nred,big\nblue,small\n", text),
            ("NA,2\n3,4\n", Vote::No),
            ("red,1\nblue,2\n", Vote::No),
            ("name,value\nx,1\ny,2\n", Vote::Yes),
            ("a,b\n", text),
            ("1,2\n", Vote::Open { is_text: false }),
            ("id,1999,y\n1,2.5,3\n", Vote::Yes),
            // numbers and dates in other ways of writing are none either
            ("2024-01-01,$5\n2024-01-02,$6\n", Vote::No),
            ("day,price\n2024-01-01,$5\n2024-01-02,$6\n", Vote::Yes),
            ("id,2024-01-01,2024-01-02\n1,2,3\n2,4,5\n", Vote::Yes),
            ("01/31/2024,\"1,234\"\n02/01/2024,\"2,345\"\n", Vote::No),
        ] {
            assert_eq!(header(table.as_bytes(), Cut::by(b',')), expected, "{table}");
        }
    }
}
