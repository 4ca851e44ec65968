//! Numbers and dates as spreadsheets, banks and laboratories write them, and what a table says where it cannot tell.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::column_format::{ColumnFormat, DateFormat, DateOrder, Decimal, NumberFormat};

/// A table of one column, where a semicolon cuts: cells below each other.
fn column(cells: &[&str]) -> Result<Table, Error> {
    column_by(cells, &ReadOptions::default())
}

fn column_by(cells: &[&str], options: &ReadOptions) -> Result<Table, Error> {
    let rows: String = cells.iter().map(|cell| format!("{cell};1\n")).collect();
    read_by(format!("v;w\n{rows}").as_bytes(), options)
}

fn number_format(table: &Table) -> NumberFormat {
    match table.formats.get("v") {
        Some(ColumnFormat::Numbers(format)) => format.clone(),
        other => panic!("{other:?}"),
    }
}

fn date_format(table: &Table) -> DateFormat {
    match table.formats.get("v") {
        Some(ColumnFormat::Dates(format)) => format.clone(),
        other => panic!("{other:?}"),
    }
}

/// Cells of a column, its numbers, and what is said of it.
#[test]
fn columns_of_numbers() {
    for (cells, expected, told) in [
        (&["1,234,567.89", "5"][..], &[1_234_567.89, 5.0][..], "thousands separators left out"),
        (&["1.234.567,89", "5"], &[1_234_567.89, 5.0], "decimal comma, thousands separators left out"),
        (&["1 234 567,89", "5"], &[1_234_567.89, 5.0], "decimal comma, thousands separators left out"),
        (&["1\u{a0}234", "5"], &[1234.0, 5.0], "thousands separators left out"),
        (&["1'234'567", "5"], &[1_234_567.0, 5.0], "thousands separators left out"),
        (&["1,5", "1,234", "7"], &[1.5, 1.234, 7.0], "decimal comma"),
        (&["0,123", "1,234"], &[0.123, 1.234], "decimal comma"),
        (&["1.5", "1,234"], &[1.5, 1234.0], "thousands separators left out"),
        (&["$1,234.50", "$7"], &[1234.5, 7.0], "\"$\" and thousands separators left out"),
        (&["$5", "7"], &[5.0, 7.0], "\"$\" left out"),
        (&["5 €", "7,25 €"], &[5.0, 7.25], "decimal comma, \"€\" left out"),
        (&["CHF 5.50", "CHF 1'000"], &[5.5, 1000.0], "\"CHF\" and thousands separators left out"),
        (&["(1,234.00)", "12"], &[-1234.0, 12.0], "thousands separators left out, (12) is -12"),
        (&["12 %", "3.5%", "0"], &[12.0, 3.5, 0.0], "12 % is 12"),
        (&["\u{2212}3,5", "4"], &[-3.5, 4.0], "decimal comma"),
        (&["1,5E+02", "2"], &[150.0, 2.0], "decimal comma"),
        (&["10:30", "0:45:36", "26:00"], &[10.5, 0.76, 26.0], "10:30 is 10.5"),
        (&["5:30 PM", "12:15 am"], &[17.5, 0.25], "10:30 is 10.5"),
        (&["5 €", "EUR 7"], &[5.0, 7.0], "\"€\" left out"),
    ] {
        let table = column(cells).unwrap_or_else(|error| panic!("{cells:?}: {error}"));
        assert_eq!(numbers(&table, 0), expected, "{cells:?}");
        assert_eq!(ColumnFormat::Numbers(number_format(&table)).described(), told, "{cells:?}");
    }
}

/// Cells of a column, the days since the first, that day, and the order.
#[test]
fn columns_of_dates() {
    let (dmy, mdy) = (Some(DateOrder::Dmy), Some(DateOrder::Mdy));
    for (cells, expected, origin, order) in [
        (&["2024-01-31", "2024-01-01"][..], &[30.0, 0.0][..], "2024-01-01", None),
        (&["31.01.2024", "1.2.2024"], &[0.0, 1.0], "2024-01-31", None),
        (&["2024/02/28", "2024/03/01"], &[0.0, 2.0], "2024-02-28", None),
        (&["01/31/2024", "02/01/2024"], &[0.0, 1.0], "2024-01-31", mdy),
        (&["31/01/2024", "01/02/2024"], &[0.0, 1.0], "2024-01-31", dmy),
        (&["2024-01-31T12:00:00Z", "2024-01-30T18:00:00Z"], &[1.5, 0.75], "2024-01-30", None),
        (&["1/31/2024 6:00 AM", "1/31/2024 6:00 PM"], &[0.25, 0.75], "2024-01-31", mdy),
        (&["2024-01-31", "2024-02-01 12:00"], &[0.0, 1.5], "2024-01-31", None),
        (&["31-Dec-1999", "01-Mar-2000"], &[0.0, 61.0], "1999-12-31", None),
        (&["05/05/2024", "06/06/2024"], &[0.0, 32.0], "2024-05-05", None),
    ] {
        let table = column(cells).unwrap_or_else(|error| panic!("{cells:?}: {error}"));
        assert_eq!(numbers(&table, 0), expected, "{cells:?}");
        assert_eq!(date_format(&table), DateFormat { origin: origin.parse().unwrap(), order }, "{cells:?}");
    }
}

#[test]
fn missing_cells_among_numbers_and_dates() {
    let table = column(&["$5", "-", "#DIV/0!", "n.a.", "$7"]).unwrap();
    assert_eq!(numbers(&table, 0).iter().filter(|v| v.is_nan()).count(), 3);
    let table = column(&["2024-01-31", "", "–", "None", "2024-02-01"]).unwrap();
    assert_eq!(numbers(&table, 0).iter().filter(|v| v.is_nan()).count(), 3);
    // among words a dash is a word
    assert_eq!(words(&column(&["yes", "-", "no", "NA"]).unwrap(), 0), [Some("yes"), Some("-"), Some("no"), None]);
}

#[test]
fn named_missing_values() {
    let options = ReadOptions { na_values: vec!["-9,Don't know".into()], ..ReadOptions::default() };
    let table = read_by(b"age,town\n30,Ulm\n-9,Don't know\nDon't know,Bonn\n-9.0,Ulm\n", &options).unwrap();
    assert_eq!(numbers(&table, 0)[0], 30.0);
    assert!(numbers(&table, 0)[1..].iter().all(|v| v.is_nan()));
    assert_eq!(words(&table, 1), [Some("Ulm"), None, Some("Bonn"), Some("Ulm")]);
    assert_eq!(table.notes, ["\"-9\", \"-9,Don't know\", \"Don't know\" read as missing: age (3), town (1)"]);
    let table = read_by(b"age\n30\n31\n", &options).unwrap();
    assert!(table.notes[0].starts_with("no cell holds \"-9\""), "{:?}", table.notes);
}

/// Where nothing decides, the table asks.
#[test]
fn what_may_be_either_is_asked() {
    let asked = |cells: &[&str]| column(cells).unwrap_err().to_string();
    assert_eq!(
        asked(&["12", "1,234"]),
        "d.csv, line 3, column 1 (v): \"1,234\" may be 1234 or 1.234, and no cell decides; say --decimal . or --decimal \
         , for the decimal mark"
    );
    assert_eq!(
        asked(&["01/02/2024", "03/04/2024"]),
        "d.csv, line 2, column 1 (v): \"01/02/2024\" may be 2024-02-01 or 2024-01-02, and no cell decides; say \
         --date-order dmy or --date-order mdy"
    );
    let by = |cells: &[&str], options: ReadOptions| numbers(&column_by(cells, &options).unwrap(), 0).to_vec();
    let decimal = |decimal| ReadOptions { decimal: Some(decimal), ..ReadOptions::default() };
    assert_eq!(by(&["12", "1,234"], decimal(Decimal::Comma)), [12.0, 1.234]);
    assert_eq!(by(&["12", "1,234"], decimal(Decimal::Point)), [12.0, 1234.0]);
    let order = |order| ReadOptions { date_order: Some(order), ..ReadOptions::default() };
    assert_eq!(by(&["01/02/2024", "03/04/2024"], order(DateOrder::Dmy)), [0.0, 62.0]);
    assert_eq!(by(&["01/02/2024", "03/04/2024"], order(DateOrder::Mdy)), [0.0, 62.0]);
    // 950 is no thousand, so 1.234 may be one
    assert_eq!(
        asked(&["950", "1.234"]),
        "d.csv, line 3, column 1 (v): \"1.234\" may be 1.234 or 1234, and no cell decides; say --decimal . or --decimal \
         , for the decimal mark"
    );
    assert_eq!(by(&["950", "1.234"], decimal(Decimal::Comma)), [950.0, 1234.0]);
    for cells in [["950", "1.5"], ["1950", "1.234"], ["950", "0.123"], ["0", "1.234"], ["950.000", "1.234"]] {
        let plain: Vec<f64> = cells.iter().map(|cell| cell.parse().unwrap()).collect();
        assert_eq!(numbers(&column(&cells).unwrap(), 0), plain, "{cells:?}");
    }
    assert_eq!(numbers(&read(b"v,w\n950,1\n1.234,2\n").unwrap(), 0), [950.0, 1.234]);
    // where commas separate fields they group digits
    assert_eq!(numbers(&read(b"v,w\n\"1,234\",1\n5,2\n").unwrap(), 0), [1234.0, 5.0]);
}

/// The rest of the file decides what a column leaves open; also whether 1.234 is a thousand.
#[test]
fn other_columns_decide() {
    let table = read(b"a;b;c\n1,234;0,5;1.234\n2,345;1,5;12.000\n").unwrap();
    assert_eq!((numbers(&table, 0), numbers(&table, 2)), (&[1.234, 2.345][..], &[1234.0, 12000.0][..]));
    let table = read(b"a;b\n1,234;0.5\n2,345;1.5\n").unwrap();
    assert_eq!(numbers(&table, 0), [1234.0, 2345.0]);
    let table = read(b"a;b\n1/2/2024;31/1/2024\n3/4/2024;5/6/2024\n").unwrap();
    assert_eq!(numbers(&table, 0), [0.0, 62.0]);
    // columns that contradict each other decide nothing
    let message = problem(b"a;b;c\n1,234;0,5;0.5\n2,345;1,5;1.5\n");
    assert!(message.starts_with("d.csv, line 2, column 1 (a): \"1,234\" may be 1234 or 1.234"), "{message}");
    // plain numbers are what they always are
    assert_eq!(numbers(&read(b"a;b\n1.234;x\n2.345;y\n").unwrap(), 0), [1.234, 2.345]);
}

/// How a model has read a column decides where the cells do not.
#[test]
fn a_model_decides() {
    let comma = ColumnFormat::Numbers(NumberFormat { decimal: Decimal::Comma, ..NumberFormat::default() });
    let order = Some(DateOrder::Mdy);
    let dates = ColumnFormat::Dates(DateFormat { origin: "2020-01-01".parse().unwrap(), order });
    let by = |format: &ColumnFormat, cells: &[&str]| {
        let formats = [("v".to_owned(), format.clone())].into();
        numbers(&column_by(cells, &ReadOptions { formats, ..ReadOptions::default() }).unwrap(), 0).to_vec()
    };
    assert_eq!(by(&comma, &["1,234", "5"]), [1.234, 5.0]);
    assert_eq!(by(&comma, &["1.234", "5"]), [1234.0, 5.0]);
    assert_eq!(by(&comma, &["1.5", "5"]), [1.5, 5.0]);
    // other columns of the file come first, and where commas separate fields a point is no separator of thousands
    let formats: BTreeMap<String, ColumnFormat> = [("v".to_owned(), comma)].into();
    let read_as = |text: &[u8]| {
        let options = ReadOptions { formats: formats.clone(), ..ReadOptions::default() };
        numbers(&read_by(text, &options).unwrap(), 0).to_vec()
    };
    assert_eq!(read_as(b"v;w\n1.234;0.5\n5;1\n"), [1.234, 5.0]);
    assert_eq!(read_as(b"v,w\n1.234,1\n5,2\n"), [1.234, 5.0]);
    assert_eq!(read_as(b"v,w\n\"1,234\",1\n5,2\n"), [1.234, 5.0]);
    // a model of plain numbers says that 1.234 is no thousand
    let plain = ColumnFormat::Numbers(NumberFormat::default());
    assert_eq!(by(&plain, &["1.234", "950"]), [1.234, 950.0]);
    assert_eq!(by(&dates, &["01/02/2024", "01/05/2024"]), [0.0, 3.0]);
    assert_eq!(by(&dates, &["31/01/2024", "01/02/2024"]), [0.0, 1.0]);
}

#[test]
fn cells_that_do_not_go_together() {
    let asked = |cells: &[&str]| column(cells).unwrap_err().to_string();
    assert_eq!(
        asked(&["12 %", "13 %", "0.14"]),
        "d.csv, line 4, column 1 (v): \"0.14\" lacks a percent sign; 2 numbers with one and 1 without: write all \
         cells alike, such as 12 %"
    );
    assert_eq!(
        asked(&["10:30", "11:00", "12"]),
        "d.csv, line 4, column 1 (v): \"12\" lacks a colon; 2 numbers with one and 1 without: write all cells alike, \
         such as 10:30"
    );
    assert_eq!(
        asked(&["$5", "$7", "€6"]),
        "d.csv, line 4, column 1 (v): \"€6\" is in another currency than others, which are in \"$\"; convert them to one"
    );
    assert_eq!(
        asked(&["1,5", "2,5", "3.5"]),
        "d.csv, line 4, column 1 (v): \"3.5\" among 2 numbers with a decimal comma; correct it, or say --na-values 3.5 \
         (missing) or --categorical v (categories)"
    );
    assert!(asked(&["31/01/2024", "30/01/2024", "01/31/2024"]).contains("among 2 dates with the day first;"));
    assert!(asked(&["2024-01-31", "2024-02-01", "2024-02-30"]).contains("\"2024-02-30\" among 2 dates;"));
    assert!(asked(&["2024-01-31T10:00Z", "2024-02-01T10:00Z", "2024-02-01T10:00"]).contains(
        "line 4, column 1 (v): \"2024-02-01T10:00\" lacks an offset from UTC; 2 times with one and 1 without"
    ));
    let comma = ReadOptions { decimal: Some(Decimal::Comma), ..ReadOptions::default() };
    let message = column_by(&["1,5", "2,5", "3.5"], &comma).unwrap_err().to_string();
    assert!(message.contains("\"3.5\" among 2 numbers with a decimal comma, as was said;"), "{message}");
}

#[test]
fn comments_and_the_header_below_them() {
    let table = read(b"# made by hand\n#\n\na,b\n1,2\n").unwrap();
    assert_eq!((names(&table), table.lines.as_deref()), (vec!["a", "b"], Some(&[5][..])));
    assert_eq!(table.notes, ["2 lines above the table skipped: comments, which start with \"#\""]);
    // names in a comment, as in genetics and as NumPy writes them
    for text in ["#chrom pos\nchr1 100\nchr2 200\n", "# chrom\tpos\nchr1\t100\nchr2\t200\n"] {
        let table = read(text.as_bytes()).unwrap();
        assert_eq!(names(&table), ["chrom", "pos"], "{text}");
        assert_eq!(numbers(&table, 1), [100.0, 200.0], "{text}");
        assert_eq!(table.notes, ["the columns are named by the line above them, which starts with \"#\""]);
    }
    // a comment of as many fields above a header is a comment
    assert_eq!(names(&read(b"# by me, today\na,b\n1,2\n").unwrap()), ["a", "b"]);
    // a missing value is none
    assert_eq!(read(b"#N/A,2\n3,4\n").unwrap().rows, 2);
    let percent = ReadOptions { comment: Some(b'%'), ..ReadOptions::default() };
    let table = read_by(b"% x\na,b\n1,2\n% y\n\n3,4\n", &percent).unwrap();
    assert_eq!((numbers(&table, 0), table.lines.as_deref()), (&[1.0, 3.0][..], Some(&[3, 6][..])));
    assert!(problem(b"#a,b\n#1,2\n").contains("2 lines, and every one starts with \"#\", as comments do"));
}

#[test]
fn blanks_and_other_separators() {
    let table = read(b"  name    size\n\"big one\"  3\n small     1\n").unwrap();
    assert_eq!((names(&table), words(&table, 0)), (vec!["name", "size"], vec![Some("big one"), Some("small")]));
    assert_eq!(table.lines.as_deref(), Some(&[2, 3][..]));
    let blanks = ReadOptions { delimiter: Some(b' '), ..ReadOptions::default() };
    assert_eq!(words(&read_by(b"a b\nx  y\nz\tw\n", &blanks).unwrap(), 1), [Some("y"), Some("w")]);
    let table = read(b"sep=;\na;b\n1,5;2\n").unwrap();
    assert_eq!((names(&table), numbers(&table, 0)), (vec!["a", "b"], &[1.5][..]));
}

#[test]
fn skipped_lines() {
    let options = ReadOptions { skip_lines: vec![1..=2, 4..=4, 7..=7], ..ReadOptions::default() };
    let table = read_by(b"Bank of X\nAccount;1\na;b\nEUR;%\n1;2\n3;4\nTotal;6\n", &options).unwrap();
    assert_eq!((names(&table), numbers(&table, 1)), (vec!["a", "b"], &[2.0, 4.0][..]));
    assert_eq!(table.lines.as_deref(), Some(&[5, 6][..]));
}

#[test]
fn what_stands_above_a_table() {
    let message = problem(b"Account;DE1\nPeriod;2024\n\nday;text;amount\n1.1.2024;a;1,5\n2.1.2024;b;2,5\n");
    assert!(
        message.contains("line 4: 3 fields found, 2 expected")
            && message.ends_with("if the table begins in line 4, leave out what is above it (--skip-lines 1-3)"),
        "{message}"
    );
}

#[test]
fn a_row_of_units() {
    let message = problem(b"time,temp,site\ns,\xc2\xb0C,\n1,20,a\n2,21,b\n3,22,a\n");
    assert_eq!(
        message,
        "d.csv, line 2: \"s\", \"°C\" where the lines below have numbers: most likely units, a second line of the \
         header; leave it out (--skip-lines 2)"
    );
}

#[test]
fn a_row_of_totals() {
    let leave_out = "most likely a line of totals, not data; leave it out (--skip-lines 5)";
    for text in ["id,x\n1,10\n2,20\n3,30\nTotal,60\n", "name,x\nann,10\nbob,20\nann,30\nTotal:,60\n"] {
        assert!(problem(text.as_bytes()).ends_with(leave_out), "{}", problem(text.as_bytes()));
    }
    let table = read(b"name,x\nann,10\nbob,20\nann,30\nTotal,61\n").unwrap();
    assert!(table.notes[0].contains("the last line has \"Total\" in it"), "{:?}", table.notes);
    assert!(read(b"kind,x\nTotal,10\npart,20\nTotal,30\n").unwrap().notes.is_empty());
}

#[test]
fn what_spreadsheets_leave_at_the_ends() {
    let table = read(b"a,b,,\n1,2,,\n3,,,\n,,,\n,,,\n").unwrap();
    assert_eq!((names(&table), table.rows), (vec!["a", "b"], 2));
    assert_eq!(table.notes, ["2 columns at the end without a name and without values left out"]);
    // a row without values in the middle stays, and so does a column with a name
    let table = read(b"a,b,c\n1,2,\n,,\n3,4,\n").unwrap();
    assert_eq!((names(&table), table.rows), (vec!["a", "b", "c"], 3));
}

/// One message has all that is wrong.
#[test]
fn all_problems_in_one_message() {
    let text = "age;rate;day;price\n30;1 %;01/02/2024;$1\n3o;2 %;03/04/2024;$2\n40;3;05/06/2024;€3\n41;4 %\n50;5 %;07/08/2024;$5\n";
    let message = problem(text.as_bytes());
    let expected = [
        "d.csv has 5 problems:",
        "- line 5: 2 fields found, 4 expected",
        "- line 3, column 1 (age): \"3o\" among 3 numbers",
        "- line 4, column 2 (rate): \"3\" lacks a percent sign",
        "- line 2, column 3 (day): \"01/02/2024\" may be",
        "- line 4, column 4 (price): \"€3\" is in another currency",
    ];
    let lines: Vec<&str> = message.lines().collect();
    assert_eq!(lines.len(), expected.len(), "{message}");
    assert!(lines.iter().zip(expected).all(|(line, start)| line.starts_with(start)), "{message}");
}

/// How a column is spoilt, and what is then said.
const SPOILS: [(&str, &str); 4] =
    [("x7", "among"), ("5 %", "percent sign"), ("£3", "another currency"), ("2024-02-31", "among")];

proptest! {
    /// Of a file with so many spoilt columns each is told, with its line; without them nothing is wrong.
    #[test]
    fn every_problem_is_told(spoilt in prop::collection::btree_map(0..10_usize, (0..20_usize, 0..4_usize), 0..=10)) {
        let cell = |row: usize, column: usize| match column % 3 {
            0 => format!("{}", row * 7 % 13 + column),
            1 => format!("${}", row + 1),
            _ => format!("2024-01-{:02}", row + 1),
        };
        let of_kind = |column: usize, spoil: usize| match column % 3 {
            0 if spoil == 2 => SPOILS[0],
            2 if spoil != 3 => SPOILS[0],
            _ => SPOILS[spoil],
        };
        let line = |row: usize| {
            let one = |column: usize| match spoilt.get(&column) {
                Some(&(at, spoil)) if at == row => of_kind(column, spoil).0.to_owned(),
                _ => cell(row, column),
            };
            (0..10).map(one).collect::<Vec<_>>().join(";") + "\n"
        };
        let head = (0..10).map(|j| format!("c{j}")).collect::<Vec<_>>().join(";");
        let text = format!("{head}\n{}", (0..20).map(line).collect::<String>());
        let table = read_table(Path::new("d.csv"), &mut text.as_bytes(), &ReadOptions::default()).unwrap();
        let units = spoilt.values().filter(|(row, _)| *row == 0).count();
        prop_assume!(units < 2);
        prop_assert_eq!(table.problems.len(), spoilt.len(), "{:?}", table.problems);
        for (problem, (&column, &(row, spoil))) in table.problems.iter().zip(&spoilt) {
            let (_, said) = of_kind(column, spoil);
            prop_assert_eq!(&problem.place, &format!("line {}, column {} (c{column})", row + 2, column + 1));
            prop_assert!(problem.problem.contains(said), "{:?}", problem);
        }
    }

    /// Cells of one way of writing give the numbers that were written, whatever the column is asked to be.
    #[test]
    fn a_written_column_is_read_back(
        numbers_written in prop::collection::vec(-1e7..1e7_f64, 1..30),
        style in 0..6_usize,
        decimals in 1..4_usize,
    ) {
        let (mark, groups, before, behind) = [
            (",", ".", "", " €"), (".", ",", "$", ""), (",", " ", "", ""), (".", "'", "CHF ", ""), (",", "", "", " %"), (".", "", "", ""),
        ][style];
        let write = |v: f64| {
            let text = format!("{:.decimals$}", v.abs());
            let (whole, rest) = text.split_once('.').unwrap();
            let places = whole.len();
            let whole: String = whole.chars().enumerate().map(|(at, c)| {
                if at > 0 && (places - at).is_multiple_of(3) { format!("{groups}{c}") } else { c.to_string() }
            }).collect();
            let sign = if text.parse::<f64>().unwrap() * v.signum() < 0.0 { "-" } else { "" };
            format!("{sign}{before}{whole}{mark}{rest}{behind}")
        };
        let truth: Vec<f64> = numbers_written.iter().map(|v| format!("{v:.decimals$}").parse().unwrap()).collect();
        let cells: Vec<String> = numbers_written.iter().map(|&v| write(v)).collect();
        let decimal = if mark == "," { Decimal::Comma } else { Decimal::Point };
        let text: String = cells.iter().map(|cell| format!("{cell};1\n")).collect();
        let text = format!("v;w\n{text}");
        let given = ReadOptions { decimal: Some(decimal), header: Some(true), delimiter: Some(b';'), ..ReadOptions::default() };
        let table = read_by(text.as_bytes(), &given).unwrap();
        prop_assert_eq!(numbers(&table, 0), &truth);
        // without being told, it is the same or a question
        match read_by(text.as_bytes(), &ReadOptions { decimal: None, ..given }) {
            Ok(table) => prop_assert_eq!(numbers(&table, 0), &truth),
            Err(error) => prop_assert!(error.to_string().contains("--decimal"), "{}", error),
        }
    }
}
