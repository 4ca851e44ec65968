//! One target for each reader, chosen by the environment variable `TARGET`: whatever the bytes, an answer or an error,
//! within the limits on memory and time that libFuzzer is given.
//!
//! `make fuzz` runs all of them in turn, `make fuzz-replay` reads every input that is kept once. Where `SEEDS` names a
//! folder, saved states to start from are written to it.

#![no_main]

mod saved;

use std::path::Path;
use std::sync::LazyLock;

use katoms_io::groups::groups_of;
use katoms_io::{
    Ask, Column, Dataset, Feature, MaxUnpacked, Missing, Model, ReadOptions, Source, Table, UnknownMembers, Values,
    read_bytes,
};
use libfuzzer_sys::fuzz_target;

/// A target by its name.
type Target = (&'static str, fn(&[u8]));

const TARGETS: &[Target] = &[
    ("csv", |bytes| read("a.csv", bytes)),
    ("tsv", |bytes| read("a.tsv", bytes)),
    ("npy", |bytes| read("a.npy", bytes)),
    ("npz", |bytes| read("a.npz", bytes)),
    ("mtx", |bytes| read("a.mtx", bytes)),
    ("svm", |bytes| read("a.svm", bytes)),
    ("png", |bytes| read("a.png", bytes)),
    ("jpg", |bytes| read("a.jpg", bytes)),
    ("parquet", |bytes| read("a.parquet", bytes)),
    ("arrow", |bytes| read("a.arrow", bytes)),
    ("gz", |bytes| read("a.csv.gz", bytes)),
    ("zst", |bytes| read("a.csv.zst", bytes)),
    // a name that tells nothing: the bytes alone say what it is
    ("any", |bytes| read("a", bytes)),
    ("plink", plink),
    ("gmt", |bytes| groups("a.gmt", bytes)),
    ("groups_csv", |bytes| groups("a.csv", bytes)),
    ("groups_json", |bytes| groups("a.json", bytes)),
    ("model", model),
    ("checkpoint", saved::of_features),
    ("completion", saved::of_completion),
];

static CHOSEN: LazyLock<fn(&[u8])> = LazyLock::new(|| {
    let name = std::env::var("TARGET").unwrap_or_default();
    let known: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
    if let Some(folder) = std::env::var_os("SEEDS") {
        saved::seed(Path::new(&folder));
    }
    let found = TARGETS.iter().find(|(target, _)| *target == name);
    found.unwrap_or_else(|| panic!("TARGET is `{name}`; it must be one of {known:?}")).1
});

fuzz_target!(|bytes: &[u8]| CHOSEN(bytes));

/// Reads a file, and makes of it what a fit would.
fn read(name: &str, bytes: &[u8]) {
    let path = Path::new(name);
    let options = ReadOptions { max_unpacked: MaxUnpacked(32 << 20), ..ReadOptions::default() };
    let Ok(source) = read_bytes(path, bytes, &options) else { return };
    let target = match &source {
        Source::Table(table) => table.columns.last().map(|column| column.name.clone()),
        Source::Array(_) => Some("1".into()),
        _ => None,
    };
    let _ = Dataset::new(source, &Ask { path: path.into(), target, missing: Missing::Mean, ..Ask::default() });
}

/// What separates the three files of PLINK within an input.
const BETWEEN: &[u8] = b"\n====\n";

/// Three files that are read together: .fam, .bim and .bed, one behind the other.
fn plink(bytes: &[u8]) {
    let next = |bytes: &[u8]| bytes.windows(BETWEEN.len()).position(|part| part == BETWEEN).unwrap_or(bytes.len());
    let (fam, rest) = bytes.split_at(next(bytes));
    let rest = rest.get(BETWEEN.len()..).unwrap_or_default();
    let (bim, bed) = rest.split_at(next(rest));
    let bed = bed.get(BETWEEN.len()..).unwrap_or_default();
    let base = std::env::temp_dir().join(format!("katoms-fuzz-{}", std::process::id()));
    for (ending, bytes) in [("fam", fam), ("bim", bim), ("bed", bed)] {
        std::fs::write(base.with_extension(ending), bytes).expect("temporary files can be written");
    }
    let path = base.with_extension("bed");
    let Ok(source) = katoms_io::read(&path, &ReadOptions::default()) else { return };
    let _ = Dataset::new(source, &Ask { path, missing: Missing::Mean, ..Ask::default() });
}

fn groups(name: &str, bytes: &[u8]) {
    let feature = |name: &str| Feature { name: name.into(), column: name.into(), level: None };
    let _ = groups_of(Path::new(name), bytes, &["a", "b", "c"].map(feature), UnknownMembers::Skip);
}

/// A model is read, written, read again, and predicts.
fn model(bytes: &[u8]) {
    let path = Path::new("m.json");
    let Ok(model) = Model::from_json(path, bytes) else { return };
    let text = model.to_json().expect("what was read can be written");
    let again = Model::from_json(path, text.as_bytes()).expect("what was written can be read");
    assert_eq!(again, model);
    let named = |name: &str, values| Column { name: name.into(), values };
    let words = Values::Words { levels: vec!["u".into(), "v".into()], codes: vec![Some(0), None, Some(1)] };
    let columns = vec![named("a", Values::Numbers(vec![1.0, 2.0, f64::NAN])), named("b", words)];
    let ask = Ask { path: path.into(), ..Ask::default() };
    if let Ok(data) = model.dataset(Source::Table(Table::new(columns, 3)), &ask) {
        let _ = model.probability(&data);
        let _ = model.predict(&data);
    }
}
