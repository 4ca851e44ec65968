//! Tables as people write them, and the messages where they went wrong.

mod messy;

use super::*;
use crate::table::Values;

/// A table without problems.
fn read_by(text: &[u8], options: &ReadOptions) -> Result<Table, Error> {
    let table = read_table(Path::new("d.csv"), &mut &text[..], options)?;
    match table.problems.as_slice() {
        [] => Ok(table),
        problems => Err(Error::Problems { path: "d.csv".into(), problems: problems.to_vec() }),
    }
}

fn read(text: &[u8]) -> Result<Table, Error> {
    read_by(text, &ReadOptions::default())
}

fn problem(text: &[u8]) -> String {
    read(text).unwrap_err().to_string()
}

fn numbers(table: &Table, column: usize) -> &[f64] {
    match &table.columns[column].values {
        Values::Numbers(numbers) => numbers,
        Values::Words { .. } => panic!("words"),
    }
}

fn words(table: &Table, column: usize) -> Vec<Option<&str>> {
    match &table.columns[column].values {
        Values::Numbers(_) => panic!("numbers"),
        Values::Words { levels, codes } => {
            assert!(levels.is_sorted());
            codes.iter().map(|c| c.map(|c| levels[c as usize].as_str())).collect()
        }
    }
}

fn names(table: &Table) -> Vec<&str> {
    table.columns.iter().map(|c| c.name.as_str()).collect()
}

#[test]
fn numbers_in_every_spelling() {
    let table = read(b"a, b ,c\r\n 1 ,+5,1e-3\r\n-2.5,1E3,.5\r\n0,-0.0,7.\r\n").unwrap();
    assert_eq!(names(&table), ["a", "b", "c"]);
    assert_eq!((table.rows, table.lines.as_deref()), (3, Some(&[2, 3, 4][..])));
    assert_eq!(numbers(&table, 0), [1.0, -2.5, 0.0]);
    assert_eq!(numbers(&table, 1), [5.0, 1e3, 0.0]);
    assert_eq!(numbers(&table, 2), [1e-3, 0.5, 7.0]);
}

#[test]
fn every_number_is_the_nearest_one() {
    let text = "x\n0.1\n1.7976931348623157e308\n5e-324\n123456789012345678\n2.2250738585072011e-308\n";
    let expected: Vec<f64> = text.lines().skip(1).map(|l| l.parse().unwrap()).collect();
    assert_eq!(numbers(&read(text.as_bytes()).unwrap(), 0), expected);
}

#[test]
fn missing_cells_in_every_spelling() {
    let table =
        read(b"a,b\n1,x\n,\nNA,na\nN/A,n/a\nNaN,nan\nnull,NULL\n#N/A,#REF!\n?,?\n-,-\n.,.\nNone,None\n2,x\n").unwrap();
    let a = numbers(&table, 0);
    assert_eq!((a[0], a[11]), (1.0, 2.0));
    assert!(a[1..11].iter().all(|v| v.is_nan()), "{a:?}");
    // among words the last three may be words
    let b = words(&table, 1);
    assert!(b[1..8].iter().all(Option::is_none), "{b:?}");
    assert_eq!(b[8..], [Some("-"), Some("."), Some("None"), Some("x")]);
}

#[test]
fn quotation_marks_byte_order_marks_and_blank_lines() {
    let text = "\u{feff}\"a\",\"the \"\"b\"\"\"\n1,\"x, y\"\n\n2,\"two\nlines\"\r\n\r\n3,z\n";
    let table = read(text.as_bytes()).unwrap();
    assert_eq!(names(&table), ["a", "the \"b\""]);
    assert_eq!(words(&table, 1), [Some("x, y"), Some("two\nlines"), Some("z")]);
    assert_eq!(table.lines.as_deref(), Some(&[2, 4, 7][..]));
}

#[test]
fn other_delimiters_and_no_header() {
    for delimiter in [",", ";", "\t", "|"] {
        let table = read("1,2,x\n3,4,y\n5,6,x\n".replace(',', delimiter).as_bytes()).unwrap();
        assert_eq!(names(&table), ["x1", "x2", "x3"]);
        assert_eq!(numbers(&table, 1), [2.0, 4.0, 6.0]);
        assert_eq!(table.lines.as_deref(), Some(&[1, 2, 3][..]));
    }
}

#[test]
fn delimiter_and_header_as_told() {
    let options = ReadOptions { delimiter: Some(b'|'), header: Some(false), ..ReadOptions::default() };
    let table = read_table(Path::new("d"), &mut &b"a,b|c\nd|e\n"[..], &options).unwrap();
    assert_eq!(words(&table, 0), [Some("a,b"), Some("d")]);
}

#[test]
fn levels_are_told_apart_as_they_are_written() {
    let options = ReadOptions { categorical: vec!["zip".into(), "2".into()], ..ReadOptions::default() };
    let table = read_table(Path::new("d"), &mut &b"zip,n\n01,1\n1,2\n01,NA\n"[..], &options).unwrap();
    assert_eq!(words(&table, 0), [Some("01"), Some("1"), Some("01")]);
    assert_eq!(words(&table, 1), [Some("1"), Some("2"), None]);
}

#[test]
fn a_word_among_numbers_is_an_error_that_names_the_place() {
    assert_eq!(
        problem(b"id,age\n1,30\n2,3o\n3,41\n"),
        "d.csv, line 3, column 2 (age): \"3o\" among 2 numbers; correct it, or say --na-values 3o (missing) or \
         --categorical age (categories)"
    );
    // of few different numbers one cell in ten may be a slip; more are categories, of many numbers they are none
    let many = |texts: usize, different: usize| {
        let cells = (0..100).map(|i| if i < texts { "w\n".to_owned() } else { format!("{}\n", i % different) });
        format!("x\n{}", cells.collect::<String>())
    };
    let message = problem(many(10, 5).as_bytes());
    assert!(message.starts_with("d.csv, line 2, column 1 (x): \"w\" (10 times) among 90 numbers;"), "{message}");
    assert_eq!(words(&read(many(11, 12).as_bytes()).unwrap(), 0)[0], Some("w"));
    assert!(problem(many(49, 13).as_bytes()).contains("\"w\" (49 times) among 51 numbers"));
    assert!(problem(many(80, 13).as_bytes()).contains("\"w\" (80 times) among 20 numbers"));
    let different: String = (0..60).map(|i| if i < 20 { format!("{i}\n") } else { format!("w{i}\n") }).collect();
    assert_eq!(words(&read(format!("x\n{different}").as_bytes()).unwrap(), 0)[20], Some("w20"));
}

#[test]
fn columns_that_nobody_uses_raise_no_error() {
    let text = b"id,age\n1,30\n2,3o\n3,41\n";
    for options in [
        ReadOptions { drop: vec!["age".into()], ..ReadOptions::default() },
        ReadOptions { categorical: vec!["age".into()], ..ReadOptions::default() },
    ] {
        let is_word = |v: &Values| matches!(v, Values::Words { levels, .. } if *levels == ["30", "3o", "41"]);
        let table = read_by(&text[..], &options).unwrap();
        assert_eq!(is_word(&table.columns[1].values), options.drop.is_empty());
    }
}

#[test]
fn ragged_rows() {
    assert_eq!(
        problem(b"a,b\n1,2\n\n3,4,5\n"),
        "d.csv, line 4: 3 fields found, 2 expected, as in the header; if the rows start with a name of their own, the \
         header needs a name for that column"
    );
    assert_eq!(
        problem(b"1,2\r\n3\r\n5,6\r\n"),
        "d.csv, line 2: 1 field found, 2 expected, as in the first line; text for a missing or surplus delimiter, or \
         for one that wants quotation marks around it; a line that is no data can be left out (--skip-lines)"
    );
    let message = problem(b"a,b\n1,2\n3\n4,5\n6,7\n8\n9,1\n2,3\n4,5,6\n");
    assert!(
        message.starts_with(
            "d.csv, line 3: 1 field found, 2 expected, as in the header, and another number in lines 6, 9;"
        ),
        "{message}"
    );
    // what is empty behind the last field counts for nothing
    assert_eq!(numbers(&read(b"a,b\n1,2,\n3,4,,\n5,6\n").unwrap(), 1), [2.0, 4.0, 6.0]);
}

#[test]
fn files_that_hold_no_table() {
    assert_eq!(problem(b""), "d.csv: the file is empty; a table needs at least one row");
    assert_eq!(problem(b"\xEF\xBB\xBF \n\n"), "d.csv: the file is empty; a table needs at least one row");
    assert_eq!(problem(b"a,b\n"), "d.csv: there is a header and no row below it; a table needs at least one row");
    assert_eq!(problem(b"\xFF\xFEa\0"), "d.csv: the text is UTF-16; save it as UTF-8");
    assert!(problem(b"a,b\n1,\0\n").starts_with("d.csv, line 2: a zero byte"));
    assert_eq!(
        problem(b"a,b\n1,2\n3,caf\xE9\n"),
        "d.csv, line 3: byte 0xE9 is not UTF-8; save the file as UTF-8 (iconv -f latin1 -t utf-8)"
    );
}

#[test]
fn columns_of_one_name_are_renamed() {
    let table = read(b"price,b,price,price_2,price\n1,2,3,4,5\n").unwrap();
    assert_eq!(names(&table), ["price", "b", "price_3", "price_2", "price_4"]);
    assert_eq!(
        table.notes,
        ["columns of the same name were renamed: the \"price\" of column 3 is price_3, the \"price\" of column 5 is \
          price_4"]
    );
    // a name that is not there is a number, which may be taken
    assert_eq!(names(&read(b",b\n1,2\n").unwrap()), ["x1", "b"]);
    assert_eq!(names(&read(b"x2,\n1,2\n").unwrap()), ["x2", "x2_2"]);
}

#[test]
fn infinity_is_a_number_until_it_is_used() {
    assert_eq!(numbers(&read(b"a\ninf\n-Infinity\n1\n").unwrap(), 0), [f64::INFINITY, f64::NEG_INFINITY, 1.0]);
}

#[test]
fn a_wide_table_is_read_cell_by_cell() {
    let (rows, columns) = (7, 3000);
    let value = |i: usize, j: usize| (i * columns + j) as f64 * 0.37 - 5.0;
    let row = |i: usize| (0..columns).map(|j| value(i, j).to_string()).collect::<Vec<_>>().join("\t");
    let text = (0..rows).map(|i| row(i) + "\n").collect::<String>();
    let table = read(text.as_bytes()).unwrap();
    for j in 0..columns {
        assert_eq!(numbers(&table, j), (0..rows).map(|i| value(i, j)).collect::<Vec<_>>());
    }
}

#[test]
fn a_quotation_mark_that_nothing_closes() {
    assert_eq!(
        problem(b"a,b\n1,x\n2,\"y\n3,z\n4,x\n"),
        "d.csv, line 3: a quotation mark opens a field and none closes it"
    );
    assert_eq!(words(&read(b"a,b\n1,x\n2,\"y\n\"\n").unwrap(), 1), [Some("x"), Some("y")]);
    assert_eq!(words(&read(b"a,b\n1,5\" pipe\n2,y\n").unwrap(), 1), [Some("5\" pipe"), Some("y")]);
}

#[test]
fn damage_is_an_error_or_another_table_never_a_panic() {
    let text = "\u{feff}a,b,\"c d\"\r\n1,x,\"u, v\"\r\n-2.5,,\"w \"\"q\"\"\"\r\n\r\n1e5,NA,z\r\n".as_bytes();
    for cut in 0..text.len() {
        _ = read(&text[..cut]);
        for byte in [0, b'\n', b'\r', b'"', b',', b';', b'\t', b'9', b'x', 0xFF] {
            let mut damaged = text.to_vec();
            damaged[cut] = byte;
            if let Ok(table) = read(&damaged) {
                assert_eq!(table.lines.as_ref().map(Vec::len), Some(table.rows));
                for column in &table.columns {
                    let n = match &column.values {
                        Values::Numbers(numbers) => numbers.len(),
                        Values::Words { levels, codes } => {
                            assert!(codes.iter().flatten().all(|&c| (c as usize) < levels.len()));
                            codes.len()
                        }
                    };
                    assert_eq!(n, table.rows);
                }
                let ask =
                    crate::Ask { target: Some("1".into()), missing: crate::Missing::Mean, ..crate::Ask::default() };
                _ = crate::Dataset::new(crate::Source::Table(table), &ask).map(|data| data.design().map(|_| ()));
            }
        }
    }
}
