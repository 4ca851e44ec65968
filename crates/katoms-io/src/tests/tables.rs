use std::path::Path;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{fixture, given, written};
use crate::format::parquet::{read_arrow, read_parquet};
use crate::{Column, ColumnFormat, DateFormat, Source, Table, Values, write_parquet};

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
    for name in ["pyarrow.parquet", "polars.parquet", "lz4.feather", "stream.arrow", "polars.arrow"] {
        let table = table(given(name).unwrap());
        assert_eq!(table.rows, 3, "{name}");
        assert_same(&table.columns, &truth, name);
        let format = DateFormat { origin: "2024-01-31".parse().unwrap(), order: None };
        assert_eq!(table.formats, [("day".to_owned(), ColumnFormat::Dates(format))].into(), "{name}");
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
fn a_column_of_lists_is_refused_by_name() {
    let said = given("lists.parquet").unwrap_err().to_string();
    assert!(
        said.contains("lists.parquet, column 1 (x): the column holds ") && said.contains("neither numbers nor words"),
        "{said}"
    );
}

#[test]
fn tables_cut_off_anywhere_are_refused_by_name() {
    for (name, reader) in [
        ("pyarrow.parquet", read_parquet as fn(&Path, Vec<u8>) -> _),
        ("polars.parquet", read_parquet),
        ("lz4.feather", read_arrow),
        ("polars.arrow", read_arrow),
    ] {
        let bytes = std::fs::read(fixture(name)).unwrap();
        for length in 0..bytes.len() {
            let said = reader(Path::new(name), bytes[..length].to_vec()).unwrap_err().to_string();
            assert!(said.starts_with(name) && said.contains("ends too early or is damaged"), "{said}");
        }
    }
}

// Not with compressed Arrow: its reader takes a damaged length for the memory to ask for, and what follows is no panic.
#[test]
fn damaged_tables_never_panic() {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    for name in ["pyarrow.parquet", "polars.parquet", "stream.arrow"] {
        let bytes = std::fs::read(fixture(name)).unwrap();
        for _ in 0..1500 {
            let mut damaged = bytes.clone();
            let place = random.random_range(0..damaged.len());
            damaged[place] = random.random();
            let reader = if name.ends_with("parquet") { read_parquet } else { read_arrow };
            let _ = reader(Path::new(name), damaged);
        }
    }
}
