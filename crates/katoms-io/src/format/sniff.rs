//! What a text table does not say of itself: its delimiter, and whether its first line is a header.

use csv::ByteRecord;

use super::csv::{Cell, cell, reader};
use super::pivot;

/// The delimiters that are tried. Of equal ones the first wins.
const DELIMITERS: [u8; 4] = *b",;\t|";
/// The records that are looked at.
const RECORDS: usize = 100;
/// The bytes after which no more are.
const BYTES: usize = 1 << 18;

/// The delimiter that cuts most of the first records into equally many fields, of several the one that gives most
/// fields. A comma where none cuts anything.
pub(crate) fn delimiter(text: &[u8]) -> u8 {
    let agreement = |delimiter: u8| {
        let lengths: Vec<usize> = first_records(text, delimiter).iter().map(ByteRecord::len).collect();
        let with = |n: usize| lengths.iter().filter(|&&l| l == n).count();
        lengths.iter().filter(|&&n| n > 1).map(|&n| (with(n), n)).max()
    };
    let mut best = (None, b',');
    for delimiter in DELIMITERS {
        let found = agreement(delimiter);
        if found > best.0 {
            best = (found, delimiter);
        }
    }
    best.1
}

/// Whether the first record is a header. Each column in which the others are numbers has a vote: text above them
/// says yes, a number no. Where no column has one, text is a header.
pub(super) fn header(text: &[u8], delimiter: u8) -> bool {
    let records = first_records(text, delimiter);
    let Some((first, others)) = records.split_first() else { return false };
    if pivot::names_columns(first, others) {
        return true;
    }
    let kinds = |column: usize| others.iter().filter_map(move |r| r.get(column)).map(cell);
    let (mut yes, mut no, mut text_above) = (0, 0, false);
    for (column, top) in first.iter().enumerate() {
        let top = cell(top);
        text_above |= matches!(top, Cell::Text);
        let has_number = kinds(column).any(|c| matches!(c, Cell::Number(_)));
        let texts = kinds(column).filter(|c| matches!(c, Cell::Text)).count();
        if has_number && texts == 0 {
            match top {
                Cell::Text => yes += 1,
                Cell::Number(_) => no += 1,
                Cell::Missing => {}
            }
        }
    }
    if yes + no > 0 { yes > no } else { text_above && !first.iter().any(|c| matches!(cell(c), Cell::Number(_))) }
}

/// The first records, as far as they can be read: three, and more while they are short.
fn first_records(text: &[u8], delimiter: u8) -> Vec<ByteRecord> {
    let mut seen = 0;
    let records = reader(text, delimiter).into_byte_records().take(RECORDS).map_while(Result::ok);
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
            ("a\tb c, d\n1\t2\n", b'\t'),
            ("a|b|c\n1|2|3\n", b'|'),
            ("\"a,b\";c;d\n\"1,2\";3;4\n", b';'),
            ("a,b;c\n1,2\n3,4\n5;6\n", b','),
            ("y\n1\n2\n", b','),
            ("", b','),
        ] {
            assert_eq!(delimiter(text.as_bytes()) as char, expected as char, "{text}");
        }
    }

    #[test]
    fn a_header_is_found() {
        for (text, expected) in [
            ("a,b\n1,2\n", true),
            ("1,2\n3,4\n", false),
            (",b\n0,2\n1,3\n", true),
            ("colour,size\nred,big\nblue,small\n", true),
            ("NA,2\n3,4\n", false),
            ("red,1\nblue,2\n", false),
            ("name,value\nx,1\ny,2\n", true),
            ("a,b\n", true),
            ("1,2\n", false),
            ("id,1999,y\n1,2.5,3\n", true),
        ] {
            assert_eq!(header(text.as_bytes(), b','), expected, "{text}");
        }
    }
}
