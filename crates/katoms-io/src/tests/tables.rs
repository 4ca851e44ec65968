use super::{given, written};
use crate::{
    Column, ColumnFormat, DateFormat, MaxUnpacked, ReadOptions, Source, Table, Values, read_bytes, write_parquet,
};

fn table(source: Source) -> Table {
    match source {
        Source::Table(table) => table,
        other => panic!("no table: {other:?}"),
    }
}

fn words(levels: &[&str], codes: &[Option<u32>]) -> Values {
    Values::Words { levels: levels.iter().map(|&word| word.into()).collect(), codes: codes.to_vec() }
}

/// Compares columns; missing numbers are equal.
fn assert_same(found: &[Column], truth: &[(&str, Values)], name: &str) {
    assert_eq!(found.len(), truth.len(), "{name}");
    for (found, truth) in found.iter().zip(truth) {
        assert_eq!(found.name, truth.0, "{name}");
        match (&found.values, &truth.1) {
            (Values::Numbers(a), Values::Numbers(b)) => {
                let bits =
                    |v: &[f64]| v.iter().map(|v| if v.is_nan() { None } else { Some(v.to_bits()) }).collect::<Vec<_>>();
                assert_eq!(bits(a), bits(b), "{name}, {}", found.name);
            }
            (a, b) => assert_eq!(a, b, "{name}, {}", found.name),
        }
    }
}

#[test]
fn tables_of_pyarrow_and_polars_are_read() {
    let truth = [
        ("x", Values::Numbers(vec![1.5, f64::NAN, -3.0])),
        ("n", Values::Numbers(vec![1.0, 2.0, f64::NAN])),
        ("yes", Values::Numbers(vec![1.0, 0.0, 1.0])),
        ("word", words(&["a", "b"], &[Some(1), None, Some(0)])),
        ("kind", words(&["u", "v"], &[Some(0), Some(1), Some(0)])),
        ("day", Values::Numbers(vec![0.0, f64::NAN, (19754.0 + 12.5 / 24.0) - 19753.0])),
    ];
    let some: Vec<(&str, Values)> = [0, 1, 3, 5].map(|i| truth[i].clone()).to_vec();
    for name in [
        "pyarrow.parquet",
        "polars.parquet",
        "lz4.feather",
        "stream.arrow",
        "polars.arrow",
        "delta.parquet",
        "gzip.parquet",
    ] {
        let table = table(given(name).unwrap());
        assert_eq!(table.rows, 3, "{name}");
        assert_same(&table.columns, if table.columns.len() == 4 { &some } else { &truth }, name);
        let format = DateFormat { origin: "2024-01-31".parse().unwrap(), order: None };
        assert_eq!(table.formats, [("day".to_owned(), ColumnFormat::Dates(format))].into(), "{name}");
    }
}

/// Numbers of every size, decimals, dates and times of every unit; also as older programs write them.
#[test]
fn every_type_is_read() {
    let number = |first: f64| Values::Numbers(vec![first, f64::NAN]);
    for name in ["types.feather", "types.parquet", "types_old.parquet"] {
        for Column { name: column, values } in table(given(name).unwrap()).columns {
            let truth = match column.as_str() {
                "i8" | "u32" | "u64" | "f32" => number(3.0),
                "f16" => number(1.5),
                "d9" | "d18" | "d38" => number(-1.25),
                "nothing" => number(f64::NAN),
                "date" => number(0.0),
                "t_s" => number(3.0 / 86_400.0),
                "t_ms" => number(3.0 / 86_400e3),
                "t_us" => number(3.0 / 86_400e6),
                "t_ns" => number(3.0 / 86_400e9),
                _ => words(&["a word of more than twelve letters"], &[Some(0), None]),
            };
            assert_same(&[Column { name: column.clone(), values }], &[(&column, truth)], name);
        }
    }
}

#[test]
fn columns_are_written_and_read_back() {
    let columns = [
        ("prediction", Values::Numbers(vec![0.1, f64::NAN, 1e300, -0.0])),
        ("class", words(&["no", "yes"], &[Some(1), Some(0), None, Some(1)])),
        ("nothing", words(&[], &[None; 4])),
    ];
    let given: Vec<Column> = columns.iter().map(|(n, v)| Column { name: n.to_string(), values: v.clone() }).collect();
    let back = table(written("a.parquet", &write_parquet(&given).unwrap()).unwrap());
    assert_same(&back.columns, &columns, "own");
    let uneven = [given[0].clone(), Column { name: "short".into(), values: Values::Numbers(vec![1.0]) }];
    assert!(write_parquet(&uneven).unwrap_err().to_string().starts_with("the columns cannot be written as Parquet"));
}

#[test]
fn what_is_neither_numbers_nor_words_is_refused_by_name() {
    for (name, what) in [
        ("lists.parquet", "column 1 (x): the column holds lists"),
        ("spans.parquet", "column 1 (span): the column holds spans of time"),
    ] {
        let said = given(name).unwrap_err().to_string();
        assert!(said.contains(&format!("{name}, {what}, neither numbers nor words: leave it out")), "{said}");
    }
}

/// What the error says of a table that may unpack to so many bytes.
fn too_large(name: &str, bytes: &[u8], limit: u64) -> String {
    let options = ReadOptions { max_unpacked: MaxUnpacked(limit), ..ReadOptions::default() };
    read_bytes(std::path::Path::new(name), bytes, &options).unwrap_err().to_string()
}

#[test]
fn tables_that_unpack_to_more_than_the_limit_are_refused() {
    let zeros = Column { name: "zeros".into(), values: Values::Numbers(vec![0.0; 1 << 17]) };
    let bytes = write_parquet(&[zeros]).unwrap();
    assert!(bytes.len() < 10_000);
    let said = too_large("zeros.parquet", &bytes, 1_000_000);
    assert!(said.starts_with("zeros.parquet: it unpacks to ") && said.contains("--max-unpacked"), "{said}");
    for name in ["lz4.feather", "polars.arrow", "gzip.parquet"] {
        let bytes = std::fs::read(super::fixture(name)).unwrap();
        let said = too_large(name, &bytes, 20);
        assert!(said.starts_with(name) && said.contains("--max-unpacked"), "{said}");
    }
}
