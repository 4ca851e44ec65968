//! Reading and writing, by files: those of other programs (`fixtures/make.py`), our own, and damaged ones.

mod bad_files;
mod compressed;
mod damage;
mod numbers;
mod pictures;
mod plink;
mod saving;
mod sparse;
mod tables;

use std::path::{Path, PathBuf};

use crate::{Error, Feature, ReadOptions, Source, read};

/// A file that another program wrote.
fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)
}

/// What a file of another program holds.
fn given(name: &str) -> Result<Source, Error> {
    read(&fixture(name), &ReadOptions::default())
}

/// What a file of this name and these bytes holds.
fn written(name: &str, bytes: &[u8]) -> Result<Source, Error> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    read(&path, &ReadOptions::default())
}

/// What the error says, after the path.
fn complaint(name: &str, bytes: &[u8]) -> String {
    let said = written(name, bytes).unwrap_err().to_string();
    let at = said.find(name).unwrap_or_else(|| panic!("the file is not named: {said}"));
    said[at + name.len()..].to_string()
}

/// A feature: a column, or `column=level`.
pub(crate) fn feature(name: &str) -> Feature {
    let (column, level) = name.split_once('=').map_or((name, None), |(c, l)| (c, Some(l.to_owned())));
    Feature { name: name.into(), column: column.into(), level, factors: Vec::new() }
}

/// The table of a text.
pub(crate) fn csv(text: &str, options: &ReadOptions) -> Source {
    let table = crate::format::csv::read_table(Path::new("d.csv"), &mut text.as_bytes(), options);
    Source::Table(table.unwrap())
}
